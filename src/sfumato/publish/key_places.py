"""Where a key may not be: in the folder of a release, which is replaced, or given away."""

import os
from pathlib import Path


def lies_within(path: Path, folder: Path) -> bool:
    """Whether a file, or a link to it, is in a folder or below it; neither has to be there.

    >>> lies_within(Path("release/private/person.key"), Path("release")), lies_within(Path("k"), Path("release"))
    (True, False)
    """
    places = _real_path(path), _real_path(path.parent) / path.name  # the file, and a link to it
    return any(place.is_relative_to(_real_path(folder)) for place in places)


def _real_path(path: Path) -> Path:
    """Without links; unlike Path.resolve, this never raises on a loop of them."""
    return Path(os.path.realpath(path))
