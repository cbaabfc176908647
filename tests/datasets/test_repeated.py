"""Tables with several rows per person."""

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.datasets import adult_folder, repeated, synthetic_adult
from sfumato.datasets.repeated import PersonGroups, person_groups

TABLE_6 = {
    1.2: (0.85, 0.1, 0.05, 48_000),
    1.4: (0.70, 0.2, 0.10, 56_000),
    1.6: (0.55, 0.3, 0.15, 64_000),
    1.8: (0.40, 0.4, 0.20, 72_000),
}


def by_person(table: Any) -> dict[int, list[dict[str, Any]]]:
    """The rows of each person, without the number."""
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in table.to_pylist():
        found[row.pop("id-number")].append(row)
    return found


@pytest.mark.parametrize(("rpi", "a", "b", "c", "rows"), [(rpi, *line) for rpi, line in TABLE_6.items()])
def test_table_6(rpi: float, a: float, b: float, c: float, rows: int) -> None:
    """40,000 people have the rows of the paper's Table 6, to the row."""
    table = repeated(synthetic_adult(), rpi)
    times = Counter(Counter(table["id-number"].to_pylist()).values())
    assert table.num_rows == rows
    assert times == {1: round(40_000 * a), 2: round(40_000 * b), 3: round(40_000 * c)}


def test_real_adult() -> None:
    """The real Adult gives the largest table of the paper as well."""
    import pyarrow.csv

    folder = adult_folder()
    if folder is None:
        pytest.skip("the real Adult rows are not here; `make adult` fetches them")
    table = repeated(pyarrow.csv.read_csv(folder / "adult.csv"), 1.8)
    assert table.num_rows == 72_000
    assert len(table["id-number"].unique()) == 40_000


def test_rows_of_a_person() -> None:
    """They are one row of the table, different in the sensitive value alone, and nobody has a value twice."""
    source = synthetic_adult(300)
    originals = Counter(tuple(row.items()) for row in source.to_pylist())
    people = by_person(repeated(source, 1.8))
    assert Counter(tuple(rows[0].items()) for rows in people.values()) == originals
    for rows in people.values():
        assert len({row["occupation"] for row in rows}) == len(rows)
        assert len({tuple(sorted((row | {"occupation": ""}).items())) for row in rows}) == 1


def test_numbers_of_people_say_nothing() -> None:
    """They do not follow the order of the source, nor how many rows a person has."""
    source = pa.table({"place": range(900), "occupation": [f"job {row % 7}" for row in range(900)]})
    people = by_person(repeated(source, 1.8))
    assert set(people) == set(range(1, 901))
    numbers = sorted(people)
    for figures in ([people[number][0]["place"] for number in numbers], [len(people[number]) for number in numbers]):
        assert abs(np.corrcoef(numbers, figures)[0, 1]) < 0.15


def test_further_values_come_as_in_the_table() -> None:
    """Second and third values are as frequent as in the table among those that a person does not have yet."""
    values = ["a"] * 6 + ["b"] * 3 + ["c"]
    source = pa.table({"job": values * 3_000})
    pairs = Counter(
        tuple(row["job"] for row in rows[:2])
        for rows in by_person(repeated(source, 2, sensitive="job")).values()
        if len(rows) > 1
    )
    shares = {"a": 6, "b": 3, "c": 1}
    for first, share in shares.items():
        drawn = {second: pairs[first, second] for second in shares}
        others = 10 - share
        assert drawn.pop(first) == 0
        for second, count in drawn.items():
            assert count / sum(drawn.values()) == pytest.approx(shares[second] / others, abs=0.03)


def test_three_values_suffice() -> None:
    """With three values a person of three rows has them all, NULL counting as one."""
    source = pa.table({"sex": ["f", "m"] * 60, "job": [None, "cook", "smith"] * 40})
    rows = by_person(repeated(source, 7 / 3, sensitive="job")).values()
    assert {len(mine) for mine in rows} == {2, 3}
    assert all({row["job"] for row in mine} == {None, "cook", "smith"} for mine in rows if len(mine) == 3)


def test_types_and_chunks() -> None:
    """Columns keep their types, and chunks with dictionaries of their own give what the plain table gives."""
    plain = pa.table({"age": [31, 62, 45], "occupation": ["cook", None, "smith"]})
    parts = [plain.slice(start, 1) for start in range(3)]
    coded = pa.concat_tables(part.set_column(1, "occupation", part["occupation"].dictionary_encode()) for part in parts)
    found = repeated(coded, 2)
    assert found.schema.field("occupation").type == coded.schema.field("occupation").type
    assert found.schema.field("age").type == pa.int64()
    assert found.to_pylist() == repeated(plain, 2).to_pylist()


def test_fewer_people_and_seeds() -> None:
    """So many people are chosen at random, each row of the table at most once, and a seed gives the same again."""
    source = pa.table({"row": range(1000), "occupation": [f"job {row % 9}" for row in range(1000)]})
    found = repeated(source, 1.4, people=200)
    assert found.num_rows == 280
    assert len(found["row"].unique()) == 200
    assert max(found["row"].to_pylist()) > 800
    assert repeated(source, 1.4, people=200).equals(found)
    assert not repeated(source, 1.4, people=200, seed=2).equals(found)


def test_one_row_each() -> None:
    """With one row per individual nothing is added, and no other value is needed."""
    source = pa.table({"occupation": ["cook"] * 5})
    assert repeated(source, 1).num_rows == 5
    assert repeated(source.slice(0, 0), 1.8).num_rows == 0


@pytest.mark.parametrize("people", range(1, 40))
def test_sizes_are_exact(people: int) -> None:
    """Rows are those of the rpi to the nearest, and nobody is lost, for few people too."""
    for rpi in np.linspace(1, 2.2, 13):
        found = person_groups(people, rpi)
        assert sum(found) == people
        assert found.a + 2 * found.b + 3 * found.c == round(people * rpi)
        assert min(found) >= 0


def test_limits_of_rpi() -> None:
    """At 7/3 nobody has one row; beyond that, or below one, the pattern has no answer and says so."""
    assert person_groups(300, 7 / 3) == PersonGroups(0, 200, 100)
    for rpi in (0.9, 2.4, 3.0):
        with pytest.raises(ValueError, match=rf"rpi must be from 1 to 7/3.*not {rpi:g}"):
            repeated(synthetic_adult(300), rpi)


def test_refused() -> None:
    """A column that is missing or has too few values, or one with the name of the numbers, is named."""
    two = pa.table({"job": ["cook", "clerk"] * 10})
    with pytest.raises(ValueError, match="no column occupation"):
        repeated(two, 1.2)
    with pytest.raises(ValueError, match="column job has 2 different values, and a person with 3 rows"):
        repeated(two, 1.8, sensitive="job")
    with pytest.raises(ValueError, match="a column id-number already"):
        repeated(two.append_column("id-number", pa.array(range(20))), 1.2, sensitive="job")
