"""Drawn rows beside their original, from the published file: how like it they are, and what is learned from them."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.errors import DataError
from sfumato.policy import Policy
from sfumato.reading.drawn_table import draw_again, published_kinds, read_drawn_cells, read_same_columns
from sfumato.split.two_tables import NAME_THE_ORIGINAL
from sfumato.utility.learned_classes import learn_classes
from sfumato.utility.likeness import Likeness, compare_values, measure_likeness


def compare_drawn_rows(public: Path, manifest: Mapping[str, Any], original: Any, *, policy: Policy) -> Likeness:
    """Measure how like its original a release of drawn rows is.

    The manifest was checked for form; `original` is a path or a frame. Columns are compared as the files have them. A
    classifier is tested on rows that had no part in what it learned from, so it learns from rows that are drawn anew,
    from half of the original (see `half_draw`).
    """
    kinds = published_kinds(manifest)
    table = read_same_columns(original, policy, list(kinds))
    published = read_drawn_cells(public, manifest, table)
    rows, multiple = len(next(iter(published.values()))), manifest.get("multiple", 1)
    if rows != table.rows * multiple:
        raise DataError(
            f"the release has {rows:,} rows, {multiple} for each, and the original {table.rows:,}; {NAME_THE_ORIGINAL}"
        )
    columns = [
        compare_values(name, table.arrow.column(name), published[name], kind, policy.columns[name])
        for name, kind in kinds.items()
    ]
    learned = learn_classes(*draw_again(table, policy))
    return replace(measure_likeness(columns), learned=learned.classes, unlearned=learned.reason)
