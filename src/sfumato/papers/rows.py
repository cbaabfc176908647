"""The rows that experiments run on: the real Adult table, or made-up ones where somebody asks for them."""

from dataclasses import dataclass
from pathlib import Path

from sfumato.datasets import adult_folder
from sfumato.errors import InputError

ADULT = 45_222
"""Complete rows of the Adult table."""


@dataclass(frozen=True)
class Rows:
    """The folder of the real table; without one, so many made-up rows."""

    folder: Path | None = None
    made_up: int = ADULT

    @property
    def source(self) -> str:
        """What results say of it: ``real`` or ``synthetic``."""
        return "real" if self.folder else "synthetic"


def real(named: Path | None = None) -> Rows:
    """The real rows in the folder that is named, or where they are found."""
    folder = adult_folder() if named is None else named
    if folder is None:
        raise InputError(
            "the Adult rows are not at hand; name their folder with --adult or SFUMATO_ADULT, get them with make adult "
            "in a checkout of sfumato, or run on made-up rows with --synthetic"
        )
    if not (folder / "adult.csv").is_file() or not (folder / "hierarchies").is_dir():
        raise InputError(f"{folder} has no adult.csv with a folder hierarchies beside it; make adult makes both")
    return Rows(folder)
