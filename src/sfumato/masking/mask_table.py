"""Mask the columns of a table as its policy says, before anything else looks at them.

The order is fixed: top and bottom coding, noise, rank swapping, rounding, post-randomization. Coding comes first, so
that an outlier does not set the size of everybody's noise; noise that leads beyond a bound is brought back to it.
Rounding comes after all that changes numbers, so that what is published are multiples, and post-randomization draws
among these: drawn before, values that are rounded to one would be drawn together more often than others. What follows
(encoding, models, recoding, measures, the verifier) sees masked values and no others; so what a model promises, it
promises of these.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import BoolArray
from sfumato.core.arrow import arrow_flags, arrow_texts
from sfumato.core.randomness import Randomness
from sfumato.errors import DataError, quote
from sfumato.hierarchy import Intervals, Ranges
from sfumato.masking.grid_numbers import GridNumbers, clip_steps, read_grid_numbers
from sfumato.masking.noise_addition import NoiseShape, add_noise
from sfumato.masking.post_randomization import TransitionChances
from sfumato.masking.rank_swapping import reach_of_share, swap_ranks
from sfumato.masking.rounding import round_numbers
from sfumato.masking.top_coding import code_extremes
from sfumato.page.wording import plural
from sfumato.policy import Column, Policy
from sfumato.policy.column_masks import ColumnMasks
from sfumato.table import Table


@dataclass(frozen=True)
class AppliedMasks:
    """What was done with a column: its masks, and what they came to with the values that it has.

    `cells` are those that are not missing. `deviation` is the standard deviation of the noise (of dates, in days),
    `reach` the ranks that values were swapped within, `values` how many different ones post-randomization draws among,
    and `epsilon` the log of its odds. They are figures of the true values, and stay with the data holder.
    """

    name: str
    masks: ColumnMasks
    cells: int
    deviation: float | None = None
    reach: int | None = None
    values: int | None = None
    epsilon: float | None = None


@dataclass(frozen=True)
class MaskingState:
    """What further rows need to be masked alike: the shape of the noise, and the values that are drawn among.

    `drawn` has, for each column with post-randomization, its values as texts and how many rows have each.
    """

    noise: NoiseShape | None = None
    drawn: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Give it for the private audit."""
        drawn = {name: {"values": list(rows), "rows": list(rows.values())} for name, rows in self.drawn.items()}
        return {"noise": None if self.noise is None else self.noise.as_json(), "drawn": drawn}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "MaskingState":
        """Read it from the private audit.

        >>> state = MaskingState(None, {"job": {"cook": 3}})
        >>> MaskingState.from_json(state.as_json()) == state
        True
        """
        try:
            noise = None if data["noise"] is None else NoiseShape.from_json(data["noise"])
            drawn = {
                str(name): {str(value): int(rows) for value, rows in zip(one["values"], one["rows"], strict=True)}
                for name, one in data["drawn"].items()
            }
        except (AttributeError, KeyError, TypeError, ValueError):
            raise DataError(
                "audit.json does not say properly how columns were masked; it was changed after it was written"
            ) from None
        return cls(noise, drawn)


@dataclass(frozen=True, eq=False, repr=False)
class MaskedTable:
    """A table whose columns are masked, the one that it was made of, and the account of what was done.

    `table` is what is published from; `original` has the true values. Where no column is masked they are the same.
    """

    table: Table
    original: Table
    columns: Mapping[str, AppliedMasks] = field(default_factory=dict)
    state: MaskingState = field(default_factory=MaskingState)

    def __bool__(self) -> bool:
        return bool(self.columns)

    def filter(self, rows: BoolArray) -> "MaskedTable":
        """Keep some rows, bool[rows]."""
        kept = arrow_flags(rows)
        table, original = (replace(one, arrow=one.arrow.filter(kept)) for one in (self.table, self.original))
        return replace(self, table=table, original=original)

    def without(self, names: Sequence[str]) -> "MaskedTable":
        """Leave columns out."""
        table, original = (
            replace(one, arrow=one.arrow.drop_columns(list(names))) for one in (self.table, self.original)
        )
        columns = {name: applied for name, applied in self.columns.items() if name not in names}
        return replace(self, table=table, original=original, columns=columns)


def mask_table(table: Table, policy: Policy, *, like: MaskingState | None = None, part: int = 0) -> MaskedTable:
    """Mask the columns of a table that the policy has masks for.

    `like` is how rows before were masked, where these are added to them: noise has the same size, and values are drawn
    among those before as well, so that a single row is hidden as well as many. With a seed each `part` has draws of its
    own. Raises `DataError` where a column does not hold what its mask needs.

    >>> rules = Policy(
    ...     columns={
    ...         "age": {"role": "quasi", "hierarchy": "suppress", "top": 90},
    ...         "pay": {"role": "plain", "round": 100},
    ...     },
    ...     privacy=[{"model": "k-anonymity", "k": 1}],
    ... )
    >>> masked = mask_table(Table(pa.table({"age": [93, 41], "pay": [1234, None]})), rules)
    >>> masked.table.arrow.to_pylist()
    [{'age': 90, 'pay': 1200}, {'age': 41, 'pay': None}]
    """
    columns = [column for column in policy.masked if column.name in table.arrow.column_names]
    if not columns:
        return MaskedTable(table, table)
    state, seed = like or MaskingState(), policy.search.seed
    arrow = table.arrow
    applied = {column.name: AppliedMasks(column.name, column.masks, _count_cells(arrow, column)) for column in columns}
    numbers = {column.name: _read_coded(table, column) for column in columns if _first_numeric_key(column.masks)}

    noisy = {column.name: column for column in columns if column.masks.noise is not None}
    shape = None
    if noisy:
        shares = {name: one.masks.noise.share for name, one in noisy.items() if one.masks.noise is not None}
        together = [name for name, one in noisy.items() if one.masks.noise is not None and one.masks.noise.correlated]
        shape = NoiseShape.of({name: numbers[name] for name in noisy}, shares, together)
        if state.noise is not None and set(state.noise.columns) == set(noisy):
            shape = state.noise.or_else(shape)
        drawn = shape.draw(table.rows, Randomness(seed, f"noise {part}"))
        for place, name in enumerate(shape.columns):
            size = shape.deviations[place]
            randomness = Randomness(seed, f"noise {part} {name}")
            steps = add_noise(numbers[name], drawn[name][numbers[name].there], size, randomness)
            low, high = _bounds(noisy[name], numbers[name])
            numbers[name] = numbers[name].with_row_steps(clip_steps(steps, low, high))
            applied[name] = replace(applied[name], deviation=size)

    drawn_values: dict[str, Mapping[str, int]] = {}
    for column in columns:
        name, masks = column.name, column.masks
        cells, done = arrow.column(name), applied[name]
        if masks.swap is not None:
            numbers[name], reach = _swap(numbers[name], masks.swap, Randomness(seed, f"swap {part} {name}"))
            done = replace(done, reach=reach)
        if masks.round is not None:
            numbers[name] = round_numbers(numbers[name], masks.round)
        if name in numbers:
            cells = numbers[name].write()
        if masks.pram is not None:
            known = state.drawn.get(name, {})
            randomness = Randomness(seed, f"pram {part} {name}")
            cells, drawn_values[name], chances = _randomize(cells, masks, known, randomness)
            done = replace(done, values=len(chances.drawn), epsilon=chances.epsilon)
        place = arrow.schema.get_field_index(name)
        arrow = arrow.set_column(place, arrow.schema.field(place).with_type(cells.type), cells)
        applied[name] = done
    return MaskedTable(replace(table, arrow=arrow), table, applied, MaskingState(shape, drawn_values))


def remask_table(table: Table, policy: Policy, *, first: bool = True) -> tuple[Table, frozenset[str]]:
    """Mask a table once more as for a release that is out, as far as that can be had, to compare the two.

    With a seed all masks come out as they did, if the release is the `first` of its rows and not an addition to one.
    Without, what is drawn is gone: those columns, which are returned as well, get the masks alone that draw nothing.

    >>> columns = {"age": {"role": "quasi", "hierarchy": "suppress", "top": 90, "swap": 0.5}}
    >>> rules = Policy(columns=columns, privacy=[{"model": "k-anonymity", "k": 1}])
    >>> again, drawn = remask_table(Table(pa.table({"age": [93, 41]})), rules)
    >>> again.arrow["age"].to_pylist(), drawn
    ([90, 41], frozenset({'age'}))
    """
    if policy.search.seed is not None and first:
        return mask_table(table, policy).table, frozenset()
    drawn = frozenset(column.name for column in policy.masked if column.masks.is_random)
    fixed = {
        name: replace(column, masks=replace(column.masks, noise=None, swap=None, pram=None))
        for name, column in policy.columns.items()
    }
    return mask_table(table, replace(policy, columns=MappingProxyType(fixed))).table, drawn


def _first_numeric_key(masks: ColumnMasks) -> str | None:
    """The first of a column's masks that needs numbers."""
    keys = ("top", "bottom", "noise", "swap", "round")
    return next((key for key in keys if getattr(masks, key) is not None), None)


def _count_cells(arrow: Any, column: Column) -> int:
    """Count the cells that are not missing; what is no number is missing, too."""
    cells = arrow.column(column.name)
    lacking = pc.sum(pc.is_nan(cells)).as_py() or 0 if pa.types.is_floating(cells.type) else 0
    return int(arrow.num_rows - cells.null_count - lacking)


def _read_coded(table: Table, column: Column) -> GridNumbers:
    """Read the numbers of a column, and code its extremes."""
    name, masks = column.name, column.masks
    key = _first_numeric_key(masks) or "noise"
    numbers = read_grid_numbers(table.arrow.column(name), name, key, table.type_of(name))
    return code_extremes(numbers, top=masks.top, bottom=masks.bottom)


def _bounds(column: Column, numbers: GridNumbers) -> tuple[int | None, int | None]:
    """The steps that noise may not lead beyond: those of top and bottom, or of the domain that a hierarchy declares."""
    masks, spec = column.masks, column.hierarchy
    if not len(numbers.steps):
        return None, None
    low = None if masks.bottom is None else numbers.steps_of(masks.bottom, "bottom")[1]
    high = None if masks.top is None else numbers.steps_of(masks.top, "top")[1]
    if isinstance(spec, Intervals | Ranges) and spec.domain is not None and not numbers.is_date:
        ends = [Fraction(str(end)) * 10**numbers.decimals for end in spec.domain]
        least, most = -(-ends[0].numerator // ends[0].denominator), ends[1].numerator // ends[1].denominator
        low, high = least if low is None else max(low, least), most if high is None else min(high, most)
    return low, high


def _swap(numbers: GridNumbers, share: float, randomness: Randomness) -> tuple[GridNumbers, int]:
    """Let values change places within a share of the ranks; also returns how many ranks that are."""
    there = numbers.there
    steps = numbers.steps[numbers.codes[there]]
    reach = reach_of_share(share, len(steps))
    if len(steps) and not reach:
        raise DataError(
            f"column {quote(numbers.name)} has {plural(len(steps), 'value')}, and swap = {share:g} of the ranks is "
            "less than one, so that none would change places; raise swap, or leave it out"
        )
    ranks = np.unique(steps, return_inverse=True)[1].reshape(-1)
    codes = numbers.codes.copy()
    codes[there] = codes[there][swap_ranks(ranks, reach, randomness)]
    return replace(numbers, codes=codes), reach


def _randomize(
    cells: Any, masks: ColumnMasks, known: Mapping[str, int], randomness: Randomness
) -> tuple[Any, dict[str, int], TransitionChances]:
    """Keep or draw anew the values of a column, and say among which values, how frequent each is, and how.

    `known` are the values of rows before, as texts, with their rows. What is drawn keeps the type of the column.
    """
    assert masks.pram is not None  # noqa: S101 - whoever calls has looked; this tells the type checker
    whole = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    kind = whole.type
    plain = plain_values(whole)
    lacking = pc.fill_null(pc.is_nan(plain), False) if pa.types.is_floating(plain.type) else None
    if lacking is not None:  # what is no number is missing, and stays as it is
        plain = pc.if_else(lacking, None, plain)
    encoded = plain.dictionary_encode()
    own = encoded.dictionary
    texts = own.cast(pa.string()).to_pylist()
    there = np.asarray(encoded.is_valid())
    codes = np.asarray(pc.fill_null(encoded.indices, 0)).astype(np.int64)[there]
    counts = np.bincount(codes, minlength=len(texts))
    rows = dict(zip(texts, counts.tolist(), strict=True))
    added = [text for text in known if text not in rows]
    values = own if not added else pa.concat_arrays([own, arrow_texts(added).cast(own.type)])
    total = {text: rows.get(text, 0) + known.get(text, 0) for text in [*texts, *added]}
    totals = np.array(list(total.values()), dtype=np.int64)
    # values are numbered in the order of their texts, so that what is drawn does not depend on that of the rows
    order = (
        np.argsort(np.array([*texts, *added], dtype=object), kind="stable") if total else np.zeros(0, dtype=np.int64)
    )
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    chances = TransitionChances.of(masks.pram.keep, totals[order], invariant=masks.pram.invariant)
    drawn = order[chances.draw(place[codes], randomness)] if len(codes) else codes
    indices = np.zeros(len(there), dtype=np.int64)
    indices[there] = drawn
    masked = values.take(pa.array(indices, mask=~there))
    if lacking is not None:
        masked = pc.if_else(lacking, plain_values(whole), masked)
    if pa.types.is_dictionary(kind):
        if kind.ordered:  # in the order that the categories had, and after them those of rows before
            new = values.filter(pc.invert(pc.is_in(values, whole.dictionary)))
            categories = pa.concat_arrays([whole.dictionary, new])
            places = pc.index_in(masked, categories).cast(kind.index_type)
            masked = pa.DictionaryArray.from_arrays(places, categories, ordered=True)
        else:
            masked = masked.dictionary_encode().cast(kind)
    return pa.chunked_array([masked]), total, chances


def plain_values(array: Any) -> Any:
    """The cells of a dictionary array as they are."""
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
