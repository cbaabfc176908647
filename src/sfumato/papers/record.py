"""Runs that are kept: figures as JSON, and the page that is written from them."""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from sfumato._version import __version__
from sfumato.errors import DataError

_DIGITS = 4


def described(cases: Sequence[Mapping[str, Any]], *, full: bool) -> dict[str, Any]:
    """A run with the day and the software and machine it ran on; nothing that names the machine."""
    return {
        **moment(full=full),
        "sfumato": __version__,
        "python": platform.python_version(),
        "duckdb": duckdb.__version__,
        "cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
        "cases": rounded(list(cases)),
    }


def moment(*, full: bool) -> dict[str, Any]:
    """When something was run, whether in full, and how busy the machine was."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "full": full,
        "load": round(os.getloadavg()[2], 1),  # of the last quarter of an hour: other people's work slows ours
    }


def rounded(value: Any) -> Any:
    """Floats with few digits, however deep: more are noise.

    >>> rounded({"loss": [0.123456, 2]})
    {'loss': [0.1235, 2]}
    """
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, list):
        return [rounded(one) for one in value]
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return value


def results_of(name: str) -> str:
    """The file with the figures of an experiment."""
    return f"results-{name}.json"


def page_of(name: str) -> str:
    """The page on an experiment."""
    return f"RESULTS-{name}.md"


def keep_experiment(out: Path, name: str, figures: Mapping[str, Any], written: str) -> str:
    """Write the figures of an experiment and the page on it into `out`, and give the page back."""
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(figures, indent=1, ensure_ascii=False) + "\n"
    (out / results_of(name)).write_text(text, encoding="utf-8")
    (out / page_of(name)).write_text(written, encoding="utf-8")
    return written


def kept(folder: Path, name: str) -> dict[str, Any] | None:
    """The figures of an experiment that are kept in a folder, or None."""
    path = folder / results_of(name)
    if not path.exists():
        return None
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        found["cases"], found["date"]
    except (OSError, ValueError, TypeError, KeyError):
        raise DataError(
            f"{path} does not hold the results of an experiment; move it away, or use another --out"
        ) from None
    return found
