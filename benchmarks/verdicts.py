"""Our figures beside the targets: reported, never asserted, since a machine may be busy."""

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.case import Case, Target


def verdict(case: Case, figures: Mapping[str, Any]) -> str:
    """``met``, or by how much a target is missed; empty where there is none."""
    if figures["code"] != 0:
        return "stopped" if figures["code"] is None else f"failed ({figures['code']})"
    checks = list(_checks(case.target, figures))
    missed = [f"{value:.3g} > {limit:.3g} {unit}" for value, limit, unit in checks if value > limit]
    return "missed: " + ", ".join(missed) if missed else "met" if checks else ""


def wanted(target: Target) -> str:
    """The target in words."""
    words = {
        "seconds": "≤ {:.3g} s",
        "copies": "≤ {:g} × copy",
        "megabytes": "≤ {:g} MB",
        "search": "search ≤ {:.3g} s",
        "loss": "loss ≤ {:.3f}",
    }
    limits = {key: getattr(target, key) for key in words}
    return ", ".join(words[key].format(limit) for key, limit in limits.items() if limit is not None)


def _checks(target: Target, figures: Mapping[str, Any]) -> Iterator[tuple[float, float, str]]:
    """Each limit that is set: our value, the limit and the unit."""
    if target.seconds is not None:
        yield figures["seconds"], target.seconds, "s"
    if target.copies is not None and figures["copy"]:
        yield figures["seconds"] / figures["copy"], target.copies, "× copy"
    if target.megabytes is not None:
        yield figures["megabytes"], target.megabytes, "MB"
    if target.search is not None:
        yield figures["phases"]["search"], target.search, "s of search"
    if target.loss is not None:
        yield figures.get("published", figures["loss"]), target.loss, "loss"
