"""The runs that are kept: a JSON list, and its latest full run as a page."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.tables import report


def keep(run: Mapping[str, Any], path: Path) -> Path:
    """Append the run to `path`, and write the page beside it; its path is returned."""
    path.parent.mkdir(parents=True, exist_ok=True)
    runs = [*(json.loads(path.read_text(encoding="utf-8")) if path.exists() else []), run]
    path.write_text(json.dumps(runs, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    latest = next((one for one in reversed(runs) if one["full"]), runs[-1])
    page = path.with_name("RESULTS.md")
    page.write_text(f"# Benchmarks\n\n{report(latest)}", encoding="utf-8")
    return page
