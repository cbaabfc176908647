"""The runs that are kept: a JSON list, and its latest full run as a page."""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

import sfumato
from benchmarks.tables import report

_DIGITS = 4


def described(cases: Sequence[Mapping[str, Any]], *, full: bool) -> dict[str, Any]:
    """A run with the day and the software and machine it ran on; nothing that names the machine."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "full": full,
        "sfumato": sfumato.__version__,
        "python": platform.python_version(),
        "duckdb": duckdb.__version__,
        "cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
        "load": round(os.getloadavg()[2], 1),  # of the last quarter of an hour: other people's work slows ours
        "cases": _rounded(list(cases)),
    }


def keep(run: Mapping[str, Any], path: Path) -> Path:
    """Append the run to `path`, and write the page beside it; its path is returned."""
    path.parent.mkdir(parents=True, exist_ok=True)
    runs = [*(json.loads(path.read_text(encoding="utf-8")) if path.exists() else []), run]
    path.write_text(json.dumps(runs, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    latest = next((one for one in reversed(runs) if one["full"]), runs[-1])
    page = path.with_name("RESULTS.md")
    page.write_text(f"# Benchmarks\n\n{report(latest)}", encoding="utf-8")
    return page


def _rounded(value: Any) -> Any:
    """Floats with few digits, however deep: more are noise."""
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    return value


def keep_experiment(out: Path, name: str, figures: Mapping[str, Any], written: str) -> str:
    """Write the figures of an experiment and the page on it into `out`, and give the page back."""
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(figures, indent=1, ensure_ascii=False) + "\n"
    (out / f"results-{name}.json").write_text(text, encoding="utf-8")
    (out / f"RESULTS-{name}.md").write_text(written, encoding="utf-8")
    return written
