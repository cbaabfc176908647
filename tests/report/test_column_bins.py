"""Bins of a column: few, round, complete, and the same whatever order values come in."""

import random
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

from sfumato.report.column_bins import MOST_BINS, Bins, bin_column, bin_numbers, bin_values


def _bins(values: Sequence[str | None]) -> tuple[Bins, dict[str | None, str]]:
    """The bins of a column given row by row, and the name of the bin of each value."""
    counts = Counter(values)
    found = bin_values(list(counts), np.array(list(counts.values())))
    return found, {value: found.names[place] for value, place in zip(counts, found.place.tolist(), strict=True)}


def _holds(name: str, number: float) -> bool:
    """Whether a number belongs to a bin, by the bin's name alone."""
    plain = name.replace(",", "")
    if found := re.fullmatch(r"below (-?[\d.]+)", plain):
        return number < float(found[1])
    if found := re.fullmatch(r"(-?[\d.]+) and more", plain):
        return number >= float(found[1])
    if found := re.fullmatch(r"above (-?[\d.]+)", plain):
        return number > float(found[1])
    if found := re.fullmatch(r"(-?[\d.]+)(?:–| to )(-?[\d.]+)", plain):
        low, high = float(found[1]), float(found[2])
        return low <= number <= high
    return number == float(plain)


@pytest.mark.parametrize("seed", range(40))
def test_whole_numbers_stand_where_the_name_says(seed: int) -> None:
    """Every whole number is in the bin whose name covers it, and in that bin only; there are few bins."""
    draw = random.Random(seed)
    low, wide = draw.choice([0, 17, -50, 1990, 10**6]), draw.choice([13, 40, 100, 5000, 10**7])
    values = [str(low + draw.randrange(wide)) for _ in range(300)] + ([None] if seed % 3 == 0 else [])
    found, named = _bins(values)
    assert len(found) <= MOST_BINS + 3
    names = [name for name in found.names if name != "missing"]
    for value, name in named.items():
        if value is None:
            assert name == "missing"
        elif len({*values}) > MOST_BINS:
            assert [one for one in names if _holds(one, float(value))] == [name]


@pytest.mark.parametrize("seed", range(20))
def test_broken_numbers_go_to_half_open_steps(seed: int) -> None:
    """A number lies from the lower end of its step on and below the upper one; steps follow each other."""
    draw = np.random.default_rng(seed)
    numbers = np.round(draw.normal(draw.integers(-5, 5), 10.0 ** draw.integers(-3, 4), 400), 6)
    found = bin_numbers(numbers, np.ones(400, dtype=np.int64))
    assert found.steps is not None
    edges = np.concatenate([[-np.inf], found.steps.edges, [np.inf]])
    first = 0 if found.names[0].startswith("below") else 1
    for number, place in zip(numbers.tolist(), found.place.tolist(), strict=True):
        assert edges[place + first] <= number < edges[place + first + 1]


def test_edges_are_what_is_written() -> None:
    """0.3 belongs to the step that begins with 0.3, though three times a tenth is a little more."""
    found, named = _bins([f"0.{digit}" for digit in range(10)] * 3 + [f"0.{digit}5" for digit in range(10)])
    assert "0.3 to 0.4" in found.names
    assert named["0.3"] == "0.3 to 0.4"


def test_few_values_stand_for_themselves() -> None:
    """Numbers in their order, words with the most frequent first, equal ones by their text, NULL last."""
    assert _bins(["10", "9", "9", None, "100"])[0].names == ("9", "10", "100", "missing")
    assert _bins(["b", "c", "a", "c", None])[0].names == ("c", "a", "b", "missing")


def test_many_words_are_cut() -> None:
    """The ten most frequent are shown and the others counted together; the order of rows is no matter."""
    draw = random.Random(1)
    values = [word for place in range(40) for word in [f"w{place:02}"] * (1 + place % 13)]
    found, named = _bins(values)
    counts = Counter(values)
    best = sorted(counts, key=lambda word: (-counts[word], word))[:10]
    assert found.names == (*best, "30 others")
    draw.shuffle(values)
    assert _bins(values)[0].names == found.names
    assert named["w00"] == "30 others"


def test_thousands_of_equal_words_are_not_picked_from() -> None:
    """Where too many values are as frequent as the tenth, only the more frequent ones are shown."""
    values = ["x"] * 5 + [f"name {place}" for place in range(3000)]
    assert _bins(values)[0].names == ("x", "3,000 others")
    assert _bins(values[5:])[0].names == ("3,000 others",)


def test_codes_are_no_numbers() -> None:
    """Postal codes with a nought in front are words, and so is a column with one word in it."""
    assert _bins([f"{place:05}" for place in range(90, 120)])[0].names[-1] == "20 others"
    assert _bins([*map(str, range(30)), "n/a"])[0].names[-1] == "21 others"


def test_dates_go_by_year() -> None:
    """Many dates are told by year, in steps where years are many, and by month where there is one year."""
    few = [f"{2019 + place % 3}-0{1 + place % 8}-11" for place in range(60)]
    assert _bins(few)[0].names == ("2019", "2020", "2021")
    many = [f"{1930 + place}-01-01" for place in range(80)]
    assert _bins(many)[0].names[:2] == ("1930–1939", "1940–1949")
    within = [f"2024-0{1 + place % 2}-{10 + place}" for place in range(20)]
    assert _bins([*within, None])[0].names == ("2024-01", "2024-02", "missing")


def test_one_number_for_nearly_all() -> None:
    """Where nearly every row has one number, the others are below or above it."""
    assert _bins(["0"] * 5000 + [str(place) for place in range(1, 15)])[0].names == ("0", "above 0")


@pytest.mark.parametrize(
    ("array", "names"),
    [
        (pa.array([None, None], pa.int64()), ("missing",)),
        (pa.array([True, False, True]), ("true", "false")),
        (pa.array([1.5, float("nan"), None]), ("1.5", "nan", "missing")),
        (pa.array(list(range(2000)), pa.int64()), None),
        (pa.array(["a", None, "a"]).dictionary_encode(), ("a", "missing")),
        (pa.chunked_array([["b"], ["a", "b"]]), ("b", "a")),
    ],
)
def test_arrow_columns(array: pa.Array, names: tuple[str, ...] | None) -> None:
    """Columns of any simple type have bins, and every row is in one."""
    found = bin_column(array)
    assert found is not None
    assert found.counts.sum() == len(array)
    assert len(found.bins.place.take(found.codes)) == len(array)
    assert names is None or found.bins.names == names


def test_lists_have_no_bins() -> None:
    """What cannot be told in a word is not told."""
    assert bin_column(pa.array([[1, 2], [3]])) is None


def test_values_that_are_not_to_be_named() -> None:
    """A value of suppressed rows only is counted and named by no bin, be it a word, a number or a date."""
    words = bin_values(["a", "SECRET", None], np.array([3, 9, 1]), named=np.array([True, False, True]))
    assert (words.names, words.place.tolist()) == (("a", "in suppressed rows only", "missing"), [0, 1, 2])
    texts = [*map(str, range(20, 50)), "777", "-5"]
    named = np.array([True] * 30 + [False] * 2)
    numbers = bin_values(texts, np.ones(32, dtype=np.int64), named=named)
    assert (numbers.names[0], numbers.names[-1]) == ("below 20", "50 and more")
    assert numbers.place.tolist()[-2:] == [len(numbers) - 1, 0]
    dates = [*(f"2024-01-{day}" for day in range(10, 30)), "2024-07-11"]
    months = bin_values(dates, np.ones(21, dtype=np.int64), named=np.array([True] * 20 + [False]))
    assert (months.names, months.place.tolist()[-1]) == (("2024-01", "in suppressed rows only"), 1)
    nothing = bin_values(["a", None], np.array([1, 1]), named=np.array([False, False]))
    assert nothing.names == ("in suppressed rows only", "missing")
