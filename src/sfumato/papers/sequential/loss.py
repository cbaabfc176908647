"""What a generalized T1 lost, by the paper's measure of distortion, and how the join with T2 counts keys."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.hierarchy.intervals import read_range
from sfumato.papers.sequential.sets import CONTINUOUS, SHARED

Path = tuple[str, ...]
Paths = Mapping[str, Path]
Sizes = Mapping[tuple[str, ...], int]


def climbed(labels: Any, paths: Paths) -> float:
    """How many levels the labels of a column stand above their leaves, added up.

    >>> paths = {"cook": ("cook", "service", "*"), "service": ("service", "*"), "*": ("*",)}
    >>> climbed(pa.chunked_array([["cook", "service", "service", "*"]]), paths)
    4.0
    """
    top = max(map(len, paths.values()))
    codes, texts = coded(labels)
    return float(np.array([top - len(paths[text]) for text in texts], dtype=np.float64)[codes].sum())


def widened(labels: Any, domain: tuple[int, int]) -> float:
    """Of what share of the full range the ranges of a column are, added up; a single number is no range.

    >>> widened(pa.chunked_array([["17-90", "*", "17-53", "30"]]), (17, 90))
    2.5
    """
    codes, texts = coded(labels)
    spans = [ends(text, domain) for text in texts]
    full = domain[1] + 1 - domain[0]
    parts = [0.0 if last - low == 1 else (last - low) / full for low, last in spans]
    return float(np.array(parts, dtype=np.float64)[codes].sum())


def ends(label: str, domain: tuple[int, int]) -> tuple[float, float]:
    """The whole numbers of a label: the first, and the one after the last.

    >>> ends("17-38", (17, 90)), ends("<20", (17, 90)), ends("*", (17, 90)), ends("30", (17, 90))
    ((17.0, 39.0), (17.0, 20.0), (17.0, 91.0), (30.0, 31.0))
    """
    found = read_range(label)
    high = found.high + 1 if found.closed else found.high
    return float(max(found.low, domain[0])), float(min(high, domain[1] + 1))


def coded(column: Any) -> tuple[NDArray[np.int64], list[str]]:
    """A column as codes and the texts that they stand for, in order, so that the order of rows changes nothing.

    >>> coded(pa.chunked_array([["b", "a", "b"]]))
    (array([1, 0, 1]), ['a', 'b'])
    """
    whole = column.combine_chunks().cast("string").dictionary_encode()
    texts = np.array(whole.dictionary.to_pylist(), dtype=object)
    order = np.argsort(texts)
    return np.argsort(order)[whole.indices.to_numpy()], texts[order].tolist()


def distortion(table: Any, columns: Sequence[str], paths: Mapping[str, Paths]) -> dict[str, float]:
    """Units of distortion a record, of categorical (`cat`) and continuous attributes (`cont`) apart."""
    cat = sum(climbed(table[name], paths[name]) for name in columns if name not in CONTINUOUS)
    cont = sum(widened(table[name], CONTINUOUS[name]) for name in columns if name in CONTINUOUS)
    return {"cat": cat / table.num_rows, "cont": cont / table.num_rows}


def groups(table: Any, columns: Sequence[str]) -> dict[tuple[str, ...], int]:
    """How many rows have each combination of labels.

    >>> groups(pa.table({"sex": ["f", "m", "f"]}), ["sex"])
    {('f',): 2, ('m',): 1}
    """
    texts = table.select(list(columns)).cast(pa.schema([pa.field(name, pa.string()) for name in columns]))
    found = texts.group_by(list(columns), use_threads=False).aggregate([([], "count_all")]).to_pydict()
    return dict(zip(zip(*(found[name] for name in columns), strict=True), found["count_all"], strict=True))


def short_of_keys(ours: Sizes, theirs: Sizes, paths: Mapping[str, Paths], *, k: int) -> tuple[int, int]:
    """How many x values of the join have fewer than `k` rows of T1, and how many there are.

    Both are groups with the shared columns first; a pair of them that matches is an x value, since X has all columns
    by which the join is made.
    """
    matches: dict[tuple[str, ...], int] = {}
    short = every = 0
    for labels, rows in ours.items():
        key = labels[: len(SHARED)]
        if key not in matches:
            matches[key] = sum(_consistent(key, other, paths) for other in theirs)
        every += matches[key]
        short += matches[key] if rows < k else 0
    return short, every


def _consistent(ours: tuple[str, ...], theirs: tuple[str, ...], paths: Mapping[str, Paths]) -> bool:
    """Whether each pair of shared labels is on one path to the root."""
    return all(
        one in paths[name].get(other, ()) or other in paths[name].get(one, ())
        for name, one, other in zip(SHARED, ours, theirs, strict=False)
    )
