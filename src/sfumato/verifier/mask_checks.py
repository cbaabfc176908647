"""Masked columns: that published values are within their bounds and on their steps, and what files cannot tell.

A manifest states the masks of a column as a list of methods. Rounding and coding leave traces that can be checked in
every cell; noise, rank swapping and post-randomization leave none, and it is said so. A quasi-identifier whose labels
are generalized has no values to look at.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

from sfumato.errors import listing, quote
from sfumato.verifier.duckdb_tables import TableView, read_pieces
from sfumato.verifier.release_files import JsonObject
from sfumato.verifier.sql import quote_text

_UNSEEN = ("noise", "rank swapping", "post-randomization")
"""Methods that leave no trace in a file."""


@dataclass(frozen=True)
class StatedMasks:
    """What the values of a column must be: multiples of a step, and between two bounds, numbers or ISO dates."""

    column: str
    step: float | None = None
    top: float | str | None = None
    bottom: float | str | None = None

    @classmethod
    def from_methods(cls, column: str, methods: Sequence[Mapping[str, Any]]) -> "StatedMasks":
        """Read it from the methods that a manifest states, which were checked for form.

        >>> StatedMasks.from_methods("pay", [{"method": "rounding", "step": 100}]).step
        100
        """
        stated = {method["method"]: method for method in methods}
        return cls(
            column,
            stated.get("rounding", {}).get("step"),
            stated.get("top coding", {}).get("top"),
            stated.get("bottom coding", {}).get("bottom"),
        )

    @property
    def is_checkable(self) -> bool:
        """Whether something of it can be seen in the published values."""
        return any(part is not None for part in (self.step, self.top, self.bottom))


def are_methods(value: Any) -> bool:
    """Tell whether the masks of a column are stated properly: methods that exist, with their parameters.

    >>> are_methods([{"method": "rounding", "step": 100}]), are_methods([{"method": "rounding", "step": 0}])
    (True, False)
    """
    if not isinstance(value, list) or not all(isinstance(method, dict) for method in value):
        return False
    names = [method.get("method") for method in value]
    return len(set(map(str, names))) == len(names) and all(map(_is_method, value))


def _is_method(method: JsonObject) -> bool:
    rest = {key: value for key, value in method.items() if key != "method"}
    match method.get("method"), rest:
        case "top coding", {"top": bound, **more} if not more:
            return _is_bound(bound)
        case "bottom coding", {"bottom": bound, **more} if not more:
            return _is_bound(bound)
        case "noise", {"share": share, "correlated": bool(), **more} if not more:
            return _is_number(share) and share > 0
        case "rank swapping", {"share": share, **more} if not more:
            return _is_number(share) and 0 < share <= 1
        case "post-randomization", {"keep": keep, "invariant": bool(), **more} if not more:
            return _is_number(keep) and 0 <= keep < 1
        case "rounding", {"step": step, **more} if not more:
            return _is_number(step) and step > 0
    return False


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_bound(value: Any) -> bool:
    if isinstance(value, str):
        try:
            return date.fromisoformat(value).isoformat() == value
        except ValueError:
            return False
    return _is_number(value)


def stated_masks(columns: Sequence[JsonObject]) -> tuple[StatedMasks, ...]:
    """Read the masks that can be checked, from the columns of a manifest."""
    masked = [column for column in columns if "masked" in column and not column.get("generalized")]
    every = (StatedMasks.from_methods(column["name"], column["masked"]) for column in masked)
    return tuple(masks for masks in every if masks.is_checkable)


def mask_problems(views: Sequence[TableView], masks: Sequence[StatedMasks]) -> list[str]:
    """Name columns with values that are no multiples of their step, or beyond their bounds."""
    problems = []
    for stated in masks:
        view = next((view for view in views if stated.column in view.columns), None)
        if view is None:
            continue  # that it is lacking is another problem
        for bound, sign, where in ((stated.top, ">", "above"), (stated.bottom, "<", "below")):
            wrong = 0 if bound is None else _count_beyond(view, stated.column, bound, sign)
            if wrong:
                values = "value" if wrong == 1 else "values"
                problems.append(f"column {quote(stated.column)} has {wrong:,} {values} {where} {bound}, or none at all")
        wrong = 0 if stated.step is None else _count_uneven(view, stated.column, stated.step)
        if wrong:
            values = "a value that is no multiple" if wrong == 1 else f"{wrong:,} values that are no multiples"
            problems.append(f"column {quote(stated.column)} has {values} of {stated.step:g}")
    return problems


def _count_beyond(view: TableView, column: str, bound: float | str, sign: str) -> int:
    """Count the cells that are beyond a bound, or no number or date at all; NaN is how some files write missing."""
    if isinstance(bound, str):
        kind, limit = "TIMESTAMP", f"TIMESTAMP {quote_text(bound)}"
    else:
        kind, limit = "DOUBLE", f"CAST({quote_text(repr(float(bound)))} AS DOUBLE)"
    # DuckDB leaves a cast alone to its CSV reader, which then stops at a cell that is no number.
    text = f"concat({view.column(column)})"
    cell = f"TRY_CAST({text} AS {kind})"
    view.read(
        f"CREATE OR REPLACE TABLE beyond AS SELECT count(*) AS n FROM {view.source} "
        f"WHERE {view.column(column)} IS NOT NULL AND lower({text}) <> 'nan' "
        f"AND ({cell} IS NULL OR {cell} {sign} {limit})"
    )
    ((wrong,),) = view.connection.execute("SELECT n FROM beyond").fetchall()
    return int(wrong)


def _count_uneven(view: TableView, column: str, step: float) -> int:
    """Count the cells that are no multiple of a step, by exact fractions of their digits."""
    cell = view.column(column)
    view.read(
        f"CREATE OR REPLACE TABLE uneven AS SELECT {cell} AS x, count(*) AS n FROM {view.source} "
        f"WHERE {cell} IS NOT NULL GROUP BY {cell}"
    )
    unit, wrong = Fraction(repr(step)), 0
    for piece in read_pieces(view.connection, "uneven"):
        texts, counts = view.texts(column, piece.column("x")), piece.column("n").to_pylist()
        wrong += sum(count for text, count in zip(texts, counts, strict=True) if not _is_multiple(text, unit))
    return wrong


def _is_multiple(text: str | None, unit: Fraction) -> bool:
    """Tell whether a cell is a multiple; NaN is how some files write missing."""
    try:
        return text is not None and (text.lower() == "nan" or (Fraction(text.strip()) / unit).denominator == 1)
    except (ValueError, ZeroDivisionError):
        return False


def mask_notes(columns: Sequence[JsonObject]) -> list[str]:
    """Say which masks nobody can check from published files."""
    unseen = [
        column["name"] for column in columns if any(method["method"] in _UNSEEN for method in column.get("masked", ()))
    ]
    generalized = [
        column["name"]
        for column in columns
        if column.get("generalized") and StatedMasks.from_methods(column["name"], column.get("masked", ())).is_checkable
    ]
    notes = []
    if unseen:
        notes.append(
            f"that values of {listing(unseen)} were masked by noise, swapping or drawing anew, as the manifest says, "
            "cannot be told from published values"
        )
    if generalized:
        notes.append(
            f"that values of {listing(generalized)} were coded or rounded cannot be told from generalized labels"
        )
    return notes


def drawn_mask_notes(columns: Sequence[JsonObject]) -> list[str]:
    """Say which columns were masked before rows were drawn from them, which nobody can see in what was drawn."""
    masked = [column["name"] for column in columns if column.get("masked")]
    if not masked:
        return []
    return [
        f"that {listing(masked)} were masked before rows were drawn, as the manifest says, cannot be told from these"
    ]


def differing_masks(columns: Sequence[JsonObject], asked: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """List published columns whose masks are not those that are asked for."""
    return [
        column["name"]
        for column in columns
        if column["role"] not in {"bound", "weight"} and column.get("masked", []) != list(asked.get(column["name"], ()))
    ]


def policy_methods(spec: Any) -> list[dict[str, Any]]:
    """Write the masks in a column of a policy file as the methods that a manifest states.

    >>> policy_methods({"role": "plain", "noise": 0.1, "top": 90})
    [{'method': 'top coding', 'top': 90}, {'method': 'noise', 'share': 0.1, 'correlated': True}]
    """
    if not isinstance(spec, Mapping):
        return []
    methods = [{"method": f"{key} coding", key: spec[key]} for key in ("top", "bottom") if spec.get(key) is not None]
    for key, method, first, second, default in (
        ("noise", "noise", "share", "correlated", True),
        ("swap", "rank swapping", "share", None, None),
        ("round", "rounding", "step", None, None),
        ("pram", "post-randomization", "keep", "invariant", False),
    ):
        value = spec.get(key)
        if value is None:
            continue
        given = value if isinstance(value, Mapping) else {first: value}
        stated = {"method": method, first: given.get(first)}
        methods.append(stated if second is None else {**stated, second: given.get(second, default)})
    return methods
