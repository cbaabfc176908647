"""The masks of a policy applied to a table: types, missing values, order, and what is refused."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.errors import DataError
from sfumato.masking import MaskedTable, MaskingState, mask_table
from sfumato.masking.grid_numbers import read_grid_numbers
from sfumato.policy import Policy
from sfumato.release import anonymize
from sfumato.table import Table

Masks = Callable[..., MaskedTable]
METHODS: dict[str, dict[str, Any]] = {
    "top": {"top": 60, "bottom": 20},
    "noise": {"noise": 0.2},
    "independent": {"noise": {"share": 0.2, "correlated": False}},
    "swap": {"swap": 0.2},
    "pram": {"pram": 0.5},
    "invariant": {"pram": {"keep": 0.5, "invariant": True}},
    "round": {"round": 10},
    "most": {"top": 60, "bottom": 20, "noise": 0.2, "swap": 0.2, "round": 10},
    "swap and pram": {"swap": 0.2, "pram": 0.5, "round": 10},
}
TYPES = {
    "int16": pa.int16(),
    "uint8": pa.uint8(),
    "double": pa.float64(),
    "decimal": pa.decimal128(8, 2),
    "text": pa.string(),
    "large text": pa.large_string(),
}


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("method", METHODS)
def test_types_and_missing_values_stay(masks: Masks, kind: str, method: str) -> None:
    """Whatever the mask, a column keeps its type and its missing cells, and something changes."""
    values = [None if row % 7 == 0 else 10 + row * 13 % 80 for row in range(100)]
    cells = pa.array(values, pa.int64())
    cells = cells.cast(pa.string()).cast(TYPES[kind]) if kind == "decimal" else cells.cast(TYPES[kind])
    masked = masks(pa.table({"x": cells}), x=METHODS[method]).table.arrow["x"]
    assert masked.type == TYPES[kind]
    assert [one is None for one in masked.to_pylist()] == [one is None for one in values]
    assert masked.to_pylist() != cells.to_pylist()


@pytest.mark.parametrize("method", [name for name in METHODS if name not in {"swap", "most", "swap and pram"}])
def test_a_single_row_and_equal_rows(masks: Masks, method: str) -> None:
    """One row, or one value in all rows, is masked without complaint; noise has nothing to be a share of."""
    for values in ([50], [50] * 5, [None], [None, 50]):
        masked = masks(pa.table({"x": pa.array(values, pa.int64())}), x=METHODS[method]).table.arrow["x"]
        assert masked.to_pylist() == values


def test_swapping_keeps_every_value(masks: Masks, staff: Any) -> None:
    """The values of a column are the same as often, in other rows."""
    masked = masks(staff, pay={"swap": 0.1}, since={"swap": 0.1}).table.arrow
    for name in ("pay", "since"):
        assert Counter(masked[name].to_pylist()) == Counter(staff[name].to_pylist())
        assert masked[name].to_pylist() != staff[name].to_pylist()


def test_noise_moves_dates_by_days(masks: Masks, staff: Any) -> None:
    """A date stays a date, and its noise is a share of the standard deviation in days."""
    masked = masks(staff, since={"noise": 0.1})
    days = [np.array(table["since"].cast(pa.int32())) for table in (masked.table.arrow, staff)]
    wanted = masked.columns["since"].deviation
    assert wanted == pytest.approx(0.1 * days[1].std())
    assert (days[0] - days[1]).std() == pytest.approx(wanted, rel=0.1)


def test_dates_in_text_stay_text(masks: Masks) -> None:
    """ISO dates of a CSV are written as they were."""
    table = pa.table({"d": ["2020-01-01", "2020-06-30", "2019-02-03", None]})
    masked = masks(table, d={"noise": 0.5, "top": "2020-05-01"}).table.arrow["d"].to_pylist()
    assert masked[3] is None
    assert all(len(text) == 10 and "2018-01-01" < text <= "2020-05-01" for text in masked[:3])


def test_noise_never_leads_beyond_a_bound(masks: Masks, staff: Any) -> None:
    """Coding comes first and sets the size of the noise; what noise leads beyond is brought back."""
    masked = masks(staff, age={"top": 60, "bottom": 30, "noise": 0.5})
    ages = np.array(masked.table.arrow["age"])
    assert (ages.min(), ages.max()) == (30, 60)
    coded = np.clip(np.array(staff["age"]), 30, 60)
    assert masked.columns["age"].deviation == pytest.approx(0.5 * coded.std())


def test_noise_stays_within_the_domain_of_intervals() -> None:
    """A declared domain is what a value can be, so that noise makes nothing else of it."""
    entry = {"role": "quasi", "hierarchy": {"intervals": [5], "domain": [0, 20]}, "noise": 2}
    rules = Policy.read(
        {"columns": {"x": entry}, "privacy": [{"model": "k-anonymity", "k": 1}], "algorithm": {"seed": 1}}
    )
    masked = mask_table(Table(pa.table({"x": list(range(21)) * 10})), rules).table.arrow["x"].to_pylist()
    assert (min(masked), max(masked)) == (0, 20)


def test_rounding_comes_after_other_numbers(masks: Masks, staff: Any) -> None:
    """After noise and swapping, and of what is drawn anew, all are multiples within the bounds."""
    for entry in (
        {"noise": 0.3, "swap": 0.1, "round": 500, "top": 60_000},
        {"pram": 0.5, "round": 500, "bottom": 40_000},
    ):
        pay = np.array(masks(staff, pay=entry).table.arrow["pay"])
        assert (pay % 500 == 0).all()
        assert pay.max() <= entry.get("top", np.inf)
        assert pay.min() >= entry.get("bottom", 0)


def test_post_randomization_draws_values_of_the_column(masks: Masks, staff: Any) -> None:
    """No value comes in that was not there, and the account says among how many it was drawn."""
    masked = masks(staff, job={"pram": 0.5})
    assert set(masked.table.arrow["job"].to_pylist()) <= set(staff["job"].to_pylist())
    assert masked.columns["job"].values == 4
    assert masked.columns["job"].epsilon == pytest.approx(np.log(1 + 0.5 * 4 / 0.5))


def test_post_randomization_draws_among_rounded_values(masks: Masks) -> None:
    """Each multiple is drawn with the same chance, however many values are rounded to it, so that ε is what it says."""
    values = [*range(96, 105), 200] * 400
    masked = masks(pa.table({"x": pa.array(values)}), x={"round": 100, "pram": 0.0})
    assert (masked.columns["x"].values, masked.columns["x"].epsilon) == (2, 0.0)
    drawn = Counter(masked.table.arrow["x"].to_pylist())
    assert drawn[100] + drawn[200] == 4000
    assert drawn[200] == pytest.approx(2000, abs=200)  # six standard deviations


@pytest.mark.parametrize(
    ("texts", "bound"), [(["0001", "0020", "0300", "0004"], "20"), (["+1", "2.50", "3e2", "-4"], "20.0")]
)
def test_what_is_not_changed_is_spelled_as_it_was(masks: Masks, texts: list[str], bound: str) -> None:
    """Swapped values, and those between bounds, are the cells that came in; those at and beyond a bound look alike."""
    table = pa.table({"x": pa.array(texts * 5)})
    assert sorted(masks(table, x={"swap": 0.3}).table.arrow["x"].to_pylist()) == sorted(texts * 5)
    coded = masks(table, x={"top": 20}).table.arrow["x"].to_pylist()
    assert coded == [text if float(text) < 20 else bound for text in texts] * 5
    rounded = masks(table, x={"round": 20}).table.arrow["x"].to_pylist()
    assert len({cell for cell in rounded if float(cell) == 20}) <= 1


@pytest.mark.parametrize(
    "entry", [{"round": 5}, {"top": 10}, {"bottom": 3}, {"pram": 0.2}, {"noise": 0.5, "swap": 0.2}]
)
def test_what_is_no_number_stays_so_and_passes(rules: Any, entry: dict[str, Any]) -> None:
    """NaN is missing: it is not drawn for others, and the verifier takes it for neither uneven nor beyond a bound."""
    values = [float("nan") if row % 5 == 0 else row * 0.5 for row in range(40)]
    release = anonymize(
        pa.table({"q": ["a"] * 40, "x": values}),
        rules({"q": {"role": "quasi", "hierarchy": "suppress"}, "x": {"role": "plain"} | entry}),
    )
    assert np.isnan(release.table["x"].to_numpy()).sum() == 8
    assert release.masked.columns["x"].applied.cells == 32


def test_categories_of_rows_before_are_drawn_for_further_ones() -> None:
    """An ordered categorical of further rows gets the categories that it lacks, and no cell gets lost."""
    entries = {"q": {"role": "quasi", "hierarchy": "suppress"}, "x": {"role": "plain", "pram": 0.0}}
    rules = Policy(columns=entries, privacy=[{"model": "k-anonymity", "k": 1}])
    cells = pa.DictionaryArray.from_arrays(pa.array([0] * 300, pa.int8()), pa.array(["mid"]), ordered=True)
    further = Table(pa.table({"q": ["a"] * 300, "x": cells}))
    masked = mask_table(further, rules, like=MaskingState(None, {"x": {"low": 5, "high": 5}})).table.arrow["x"]
    assert masked.null_count == 0
    assert set(masked.to_pylist()) == {"low", "mid", "high"}


def test_categories_keep_their_order(masks: Masks) -> None:
    """An ordered categorical stays one, with its categories as they were."""
    cells = pa.DictionaryArray.from_arrays(
        pa.array([2, 0, 1, None], pa.int8()), pa.array(["c", "a", "b"]), ordered=True
    )
    masked = masks(pa.table({"x": cells}), x={"pram": 0.2}).table.arrow["x"].combine_chunks()
    assert masked.type == cells.type
    assert masked.dictionary.to_pylist() == ["c", "a", "b"]


def test_columns_without_masks_are_the_same_objects(masks: Masks, staff: Any) -> None:
    """What is not masked is not touched, and a table without masks is the table itself."""
    masked = masks(staff, job={"pram": 0.5})
    assert masked.table.arrow["pay"].equals(staff["pay"])
    assert masked.original.arrow["job"].equals(staff["job"])
    nothing = masks(staff)
    assert not nothing
    assert nothing.table is nothing.original


def test_fresh_draws_differ_and_a_seed_repeats_them(masks: Masks, staff: Any) -> None:
    """Without a seed nobody can mask in the same way again."""
    entry = {"pay": {"noise": 0.1}, "job": {"pram": 0.5}, "hours": {"swap": 0.1}}
    tables = [masks(staff, seed, **entry).table.arrow for seed in (None, None, 3, 3, 4)]
    for name in entry:
        cells = [table[name].to_pylist() for table in tables]
        assert cells[0] != cells[1]
        assert cells[2] == cells[3] != cells[4]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"noise": 0.1}, "column 'job' has noise, and 4 of its different values are neither numbers nor dates"),
        ({"swap": 0.1}, "column 'job' has swap, and 4 of its different values"),
        ({"round": 5}, "column 'job' has round, and 4 of its different values"),
        ({"bottom": 5}, "column 'job' has bottom, and 4 of its different values"),
    ],
)
def test_words_are_no_numbers(masks: Masks, staff: Any, entry: dict[str, Any], said: str) -> None:
    """What needs numbers says so, and names no value."""
    with pytest.raises(DataError, match=said) as caught:
        masks(staff, job=entry)
    assert not any(job in str(caught.value) for job in ("cook", "smith", "clerk", "nurse"))


def test_too_few_ranks_to_swap(masks: Masks) -> None:
    """Where the share of ranks is less than one, nothing would change places."""
    with pytest.raises(DataError, match=r"has 3 values, and swap = 0.1 of the ranks is less than one"):
        masks(pa.table({"x": [1, 2, 3]}), x={"swap": 0.1})


def test_one_further_row_is_hidden_as_well_as_many(masks: Masks, staff: Any) -> None:
    """Noise has the size that it had, and values are drawn among those before, though one row has no spread."""
    columns = {
        "pay": {"role": "plain", "noise": 0.5},
        "job": {"role": "plain", "pram": 0.0},
        "sex": {"role": "quasi", "hierarchy": "suppress"},
    }
    rules = Policy.read({"columns": columns, "privacy": [{"model": "k-anonymity", "k": 1}]})
    first = mask_table(Table(staff.select(["pay", "job", "sex"])), rules)
    again = MaskingState.from_json(first.state.as_json())
    assert again == first.state
    row = Table(pa.table({"pay": [50_000], "job": ["nurse"], "sex": ["f"]}))
    drawn = [mask_table(row, rules, like=again).table.arrow.to_pylist()[0] for _ in range(60)]
    spread = np.std([one["pay"] for one in drawn])
    assert spread == pytest.approx(first.columns["pay"].deviation, rel=0.4)
    assert {one["job"] for one in drawn} == {"cook", "smith", "clerk", "nurse"}


def test_a_state_that_is_none_is_refused() -> None:
    """An audit may have been changed."""
    for wrong in ({}, {"noise": 1, "drawn": {}}, {"noise": None, "drawn": {"a": {"values": ["x"], "rows": []}}}):
        with pytest.raises(DataError, match="does not say properly how columns were masked"):
            MaskingState.from_json(wrong)


def test_no_sum_of_floats_tells_of_a_value(masks: Masks) -> None:
    """Masked floats lie on the decimal grid of the column: none has digits that only a sum of floats has."""
    draw = np.random.default_rng(2)
    values = np.round(draw.normal(100, 30, 2000), 2)
    masked = masks(pa.table({"x": values}), x={"noise": 0.3}).table.arrow["x"]
    numbers = read_grid_numbers(masked, "x", "noise")
    assert numbers.decimals == 2
