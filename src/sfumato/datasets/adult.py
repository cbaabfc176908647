"""Where the real Adult table is, on a machine that has it; nothing is downloaded from here."""

import os
from collections.abc import Iterator
from pathlib import Path

_CHECKOUT = Path(__file__).parents[3]


def adult_folder() -> Path | None:
    """The folder with ``adult.csv`` (45,222 complete rows) and ``hierarchies/``, or None where it is not at hand.

    The variable SFUMATO_ADULT names it and then nothing else is tried. Without it: the shared data beside the
    project, then what ``make adult`` has made, both seen from where the program runs and from the checkout.

    >>> folder = adult_folder()
    >>> folder is None or (folder / "adult.csv").is_file()
    True
    """
    return next((folder for folder in _candidates() if _complete(folder)), None)


def adult_arx_folder() -> Path | None:
    """Its sibling ``adult-arx``: the 30,162 rows and the hierarchies that ARX ships, or None.

    >>> folder = adult_arx_folder()
    >>> folder is None or folder.name == "adult-arx"
    True
    """
    adult = adult_folder()
    folder = adult.with_name("adult-arx") if adult else None
    return folder if folder and (folder / "adult.csv").is_file() else None


def _candidates() -> Iterator[Path]:
    if named := os.environ.get("SFUMATO_ADULT"):
        yield Path(named).absolute()
        return
    roots = (Path.cwd(), _CHECKOUT)
    yield from (root.parent / "shared" / "data" / "adult" for root in roots)
    yield from (root / "benchmarks" / "data" / "adult" for root in roots)


def _complete(folder: Path) -> bool:
    return (folder / "adult.csv").is_file() and (folder / "hierarchies").is_dir()
