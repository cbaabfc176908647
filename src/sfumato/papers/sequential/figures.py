"""Figures 1 to 8 of the sequential-release paper: which cases each of their lines is made of, averaged over k."""

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.papers.claims import Run
from sfumato.papers.plots import Line, Panel
from sfumato.papers.sequential.points import CLASSIFYING, DISTORTION, KA, LINK, ROW, XY
from sfumato.papers.sequential.runs import BASE, NO_JOIN, NO_Y

Chosen = Mapping[str, Any]
ERROR, CAT, CONT = "error", "cat", "cont"
PARTS = {
    "A": ("Figure 1", "Figure 2"),
    "B": ("Figure 3", "Figure 4"),
    "links-A": ("Figure 6",),
    "links-B": ("Figure 7",),
    "scale": ("Figure 5", "Figure 8"),
}
"""The parts of a run, and the figures that each is for: errors last."""
MEASURED = tuple(part for part in PARTS if part != "scale")
SCORED = ("XYE", "XYE(row)", "KAE")
"""Lines that depend on the score; the others are the same beside either."""


def values(run: Run, up: str, **chosen: Any) -> list[float]:
    """What was measured in the chosen cases, those left out that no release can meet.

    >>> case = {"data": "A", "method": "XY", "top": 3, "k": 40, "error": 0.2}
    >>> values({"cases": [case, case | {"k": 80, "error": 0.3}]}, "error", data="A", k=40)
    [0.2]
    """
    found = (one for one in run["cases"] if chosen.items() <= one.items())
    return [one[up] for one in found if up in one]


def mean(run: Run, up: str, **chosen: Any) -> float:
    """Their average; NaN where there are none."""
    found = values(run, up, **chosen)
    return sum(found) / len(found) if found else float("nan")


def tops(run: Run, data: str, method: str) -> list[int]:
    """The N of the TopN that were run."""
    return sorted({one["top"] for one in run["cases"] if (one["data"], one["method"]) == (data, method)})


def figures(run: Run, part: str) -> dict[str, list[Panel]]:
    """The figures of a part but the scale: errors by the paper's score, and beside them by the conditional one."""
    data, (*first, last) = part[-1], PARTS[part]
    across = "TopN", "error, %"
    lines = _anonymity if part == data else _linkability
    errors = [Panel(f"{last}, {score} score, Set {data}", *across, lines(run, data, score)) for score in CLASSIFYING]
    losses = {name: [Panel(f"{name}, Set {data}", "TopN", "units a record", _losses(run, data))] for name in first}
    return losses | {last: errors}


def _anonymity(run: Run, data: str, score: str) -> list[Line]:
    places = tops(run, data, XY)
    return [
        _flat("BLE", 100 * mean(run, ERROR, data=data, method=BASE), places),
        _line(run, "XYE", places, data=data, method=XY, score=score),
        _line(run, "XYE(row)", places, data=data, method=ROW, score=score),
        _flat("KAE", 100 * mean(run, ERROR, data=data, method=KA, score=score), places),
        _flat("RJE", 100 * mean(run, ERROR, data=data, method=NO_JOIN), places),
    ]


def _losses(run: Run, data: str) -> list[Line]:
    """KAD and XYD for Set A; how much lower XYD is than KAD for Set B, by type of attribute."""
    places = tops(run, data, XY)
    ours: dict[str, Any] = {"data": data, "method": XY, "score": DISTORTION}
    theirs: dict[str, Any] = {"data": data, "method": KA, "score": DISTORTION}
    if data == "A":
        whole = [mean(run, CAT, **ours, top=top) for top in places]
        return [_flat("KAD", mean(run, CAT, **theirs), places), Line("XYD", places, whole)]
    lines = ((f"KAD({up}) − XYD({up})", up) for up in (CAT, CONT))
    return [
        Line(label, places, [mean(run, up, **theirs) - mean(run, up, **ours, top=top) for top in places])
        for label, up in lines
    ]


def _linkability(run: Run, data: str, score: str) -> list[Line]:
    places = tops(run, data, LINK)
    return [
        _flat("BLE", 100 * mean(run, ERROR, data=data, method=BASE), places),
        _line(run, "XYE", places, data=data, method=LINK, score=score),
        _line(run, "RSE", places, data=data, method=NO_Y),
        _flat("RJE", 100 * mean(run, ERROR, data=data, method=NO_JOIN), places),
    ]


def _line(run: Run, label: str, places: Sequence[int], **chosen: Any) -> Line:
    """Errors in percent."""
    return Line(label, places, [100 * mean(run, ERROR, **chosen, top=top) for top in places])


def _flat(label: str, value: float, places: Sequence[int]) -> Line:
    """What does not depend on N."""
    return Line(label, places, [value] * len(places))
