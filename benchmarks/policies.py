"""The policy file of a case."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.cases import Case
from benchmarks.data import source_of
from sfumato.datasets import adult_arx_folder, adult_arx_policy, adult_folder, adult_policy, synthetic_adult_policy


def write_policy(case: Case, source: Path, path: Path) -> Path:
    """Write it as TOML."""
    policy = _policy(case, source) | {"publish": {"format": case.format}}
    path.write_text("\n".join(f"{key} = {toml(value)}" for key, value in policy.items()), encoding="utf-8")
    return path


def toml(value: Any) -> str:
    """A value as TOML writes it on one line."""
    match value:
        case Mapping():
            return "{ " + ", ".join(f"{json.dumps(key)} = {toml(below)}" for key, below in value.items()) + " }"
        case list() | tuple():
            return "[" + ", ".join(map(toml, value)) + "]"
        case _:
            return json.dumps(value, ensure_ascii=False)


def _policy(case: Case, source: Path) -> dict[str, Any]:
    shared: dict[str, Any] = {"suppression": case.suppression, "also": case.also, "source": source}
    if source_of(source) == "synthetic":
        sensitive = "salary-class" if case.data == "adult" else case.sensitive
        return synthetic_adult_policy(**shared, sensitive=sensitive)
    if case.data == "adult":
        return adult_policy(_there(adult_folder()), **shared)
    return adult_arx_policy(_there(adult_arx_folder()), **shared, sensitive=case.sensitive)


def _there(folder: Path | None) -> Path:
    if folder is None:
        raise RuntimeError("the Adult table was at hand a moment ago and is not any more")
    return folder
