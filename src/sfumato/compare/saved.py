"""The folder of a comparison: the page and its figures, and reading the lines back to choose among them later."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from sfumato.compare.comparison import Comparison
from sfumato.compare.files import check_folder, write_folder
from sfumato.compare.outcome import Outcome
from sfumato.compare.page import page
from sfumato.errors import InputError

NAMES = ("compare.html", "compare.json")


def check_out(folder: Path, *, force: bool) -> None:
    """Refuse a folder that holds something else, or a comparison unless told to replace it."""
    check_folder(folder, NAMES, force=force)


def save(found: Comparison, folder: Path, policy: Path, data: Path | None) -> None:
    """Write page and figures; with the policy's hash, so that a line is not chosen for another policy later."""
    content = found.as_json() | {"policy_sha256": _hash(policy), "data": None if data is None else str(data.resolve())}
    figures = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    write_folder(folder, {"compare.html": page(found), "compare.json": figures})


def line_of(folder: Path, number: int | None, policy: Path) -> tuple[Outcome, Path | None]:
    """A line of a comparison that was saved, and the table it was made of where that is not the policy's own."""
    content = _read(folder / "compare.json")
    try:
        if content["policy_sha256"] != _hash(policy):
            raise InputError(f"{policy} is not the policy of {folder}, or has changed since; compare again")
        data = None if content["data"] is None else Path(os.path.relpath(content["data"]))
        return _line(content, _suggested(content) if number is None else number), data
    except (KeyError, TypeError, AttributeError, IndexError):
        raise InputError(f"{folder / 'compare.json'} is not a comparison; name the folder that compare wrote") from None


def _line(content: dict[str, Any], number: int) -> Outcome:
    found = next((line for line in content["lines"] if line["line"] == number), None)
    if found is None:
        raise InputError(f"the comparison has no line {number}; it has {len(content['lines'])}")
    if "reason" in found:
        raise InputError(f"line {number} came to no release, so there is no policy to write: {found['reason']}")
    return Outcome(number, found["algorithm"], dict(found["settings"]), tuple(found.get("dropped", ())))


def _suggested(content: dict[str, Any]) -> int:
    fronts = content["fronts"]
    number = fronts[0]["lines"][0] if len(fronts) == 1 and len(fronts[0]["lines"]) == 1 else None
    number = fronts[0]["knee"] if len(fronts) == 1 and number is None else number
    if number is None:
        raise InputError("the comparison has no knee; choose a line with --choose N")
    return int(number)


def _read(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        raise InputError(f"{path} cannot be read as a comparison; name the folder that compare wrote") from None


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
