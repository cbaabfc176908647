"""Microaggregation: groups of near rows, published as what is in their middle."""

import json
import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.cluster.mdav import mdav
from sfumato.cluster.mixed_points import MixedPoints
from sfumato.encode import encode
from sfumato.errors import DataError, Infeasible, InputError, PolicyError
from sfumato.policy import Policy, load
from sfumato.policy.options import CLUSTERINGS
from sfumato.recode.local.aggregate_axes import GridAxis, label_modes
from sfumato.recode.local.axes import AxisLabels, GroupMembers
from sfumato.recode.local.start import pose_problem
from sfumato.release import Release, prepare
from sfumato.table import from_frame

RANGES = {"role": "quasi", "hierarchy": {"ranges": True}}
PLAIN = {"role": "plain"}
MEAN = {"aggregate": "mean"}
TOP = {"hierarchy": {"intervals": [5], "top": 90}}


def rules(columns: Mapping[str, Any], k: int = 2, *more: dict[str, Any], **algorithm: Any) -> dict[str, Any]:
    """A policy for microaggregation."""
    return {
        "columns": {name: {"role": entry} if isinstance(entry, str) else entry for name, entry in columns.items()},
        "privacy": [{"model": "k-anonymity", "k": k}, *more],
        "algorithm": {"name": "microaggregation", **algorithm},
    }


def cells(release: Release, name: str) -> list[Any]:
    """The published cells of a column, in the order of the rows that they came from, which `row` tells."""
    rows = release.table.to_pylist()
    return [row[name] for row in sorted(rows, key=lambda row: int(row["row"]))]


def published(columns: Mapping[str, Any], entries: Mapping[str, Any], k: int = 2, **algorithm: Any) -> Release:
    """Release a table whose rows are numbered."""
    count = len(next(iter(columns.values())))
    table = pa.table({**columns, "row": list(range(count))})
    return sf.anonymize(table, rules({**entries, "row": "plain"}, k, **algorithm))


# What is published of a group


def test_the_middle_of_near_rows() -> None:
    """Two at a time, the farthest first: means of whole numbers are whole, halves go to the even one."""
    release = published({"age": [1, 9, 2, 10, 20, 21]}, {"age": RANGES})
    assert cells(release, "age") == [2, 10, 2, 10, 20, 20]
    assert release.table.schema.field("age").type == pa.int64()


@pytest.mark.parametrize(
    ("aggregate", "expected"),
    [("mean", [4, 4, 4, 4, 30, 30, 30]), ("median", [2, 2, 2, 2, 30, 30, 30]), ("mode", [1, 1, 1, 1, 30, 30, 30])],
)
def test_means_medians_and_modes(aggregate: str, expected: list[int]) -> None:
    """Of 1, 1, 3 and 10 the mean is 3.75, the median 2 and the mode 1."""
    release = published(
        {"age": [1, 1, 3, 10, 30, 30, 30]}, {"age": RANGES | {"aggregate": aggregate}}, 3, clustering="v-mdav"
    )
    assert sorted(cells(release, "age")) == sorted(expected)


def test_ancestors_of_a_tree() -> None:
    """Values with a tree are published by their lowest common ancestor, unless a mode is asked for."""
    jobs = {
        "role": "quasi",
        "hierarchy": {"lines": [["cook", "service", "*"], ["porter", "service", "*"], ["nurse", "care", "*"]]},
    }
    table = {"age": [1, 1, 1, 50, 50], "job": ["cook", "cook", "porter", "nurse", "nurse"]}
    assert cells(published(table, {"age": RANGES, "job": jobs}), "job") == ["service"] * 3 + ["nurse"] * 2
    assert (
        cells(published(table, {"age": RANGES, "job": jobs | {"aggregate": "mode"}}), "job")
        == ["cook"] * 3 + ["nurse"] * 2
    )


def test_of_equal_modes_the_more_frequent_in_the_table() -> None:
    """A value that only one row of the table has is not told where another one is as frequent in the class."""
    town = {"role": "quasi", "hierarchy": "sets"}
    table = {"age": [1, 2, 50, 51, 52], "town": ["Aarau", "Bern", "Bern", "Bern", "Chur"]}
    assert cells(published(table, {"age": RANGES | {"weight": 9}, "town": town}), "town") == ["Bern"] * 5


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        ("int64", ["1", "4", "100", "103"], ["2", "102"]),
        ("float64", ["1.25", "2.5", "100", "103"], ["1.88", "101.5"]),
        ("float64", ["1e300", "3e300", "-1e300", "-1e300"], ["2e300", "-1e300"]),
        ("decimal", ["1.10", "1.30", "9.00", "9.50"], ["1.20", "9.25"]),
        ("decimal", [f"{10**30}", f"{10**30 + 4}", "-7", "-7"], [f"{10**30 + 2}", "-7"]),
        ("string", ["1.50", "2.00", "9.00", "9.50"], ["1.75", "9.25"]),
        ("string", ["1.50", "2.50", "9.00", "9.00"], ["2.00", "9.00"]),
        ("string", ["1.5", "2", "9", "9.5"], ["1.8", "9.2"]),
        ("date32", ["2020-01-01", "2020-01-03", "2021-05-01", "2021-05-07"], ["2020-01-02", "2021-05-04"]),
        (
            "timestamp",
            ["2020-01-01 08:00", "2020-01-01 10:00", *["2021-01-01 08:00"] * 2],
            ["2020-01-01 09:00", "2021-01-01 08:00"],
        ),
        ("string", ["01.02.2020", "03.02.2020", "01.06.2021", "11.06.2021"], ["02.02.2020", "06.06.2021"]),
    ],
)
def test_types_and_grids(kind: str, values: list[str], expected: list[str]) -> None:
    """A mean has the type of its column and lies on its grid: whole, with so many decimals, a day, an hour."""
    types = {"decimal": pa.decimal128(38, 2), "timestamp": pa.timestamp("us"), "date32": pa.date32()}
    dates = {"dates": ["year"], **({"format": "%d.%m.%Y"} if values[0].count(".") == 2 else {})}
    dated = values[0].count(".") == 2 or values[0].count("-") == 2
    column = {"role": "quasi", "hierarchy": dates if dated else {"ranges": True}}
    true, told = (pa.array(texts).cast(types.get(kind) or getattr(pa, kind)()) for texts in (values, expected))
    release = published({"q": true}, {"q": column})
    assert release.table.schema.field("q").type == true.type
    first, second = told.to_pylist()
    assert cells(release, "q") == [first, first, second, second]


def test_numbers_with_missing_ones_are_a_star() -> None:
    """NULL is a value: alone it stays NULL, with numbers nothing is told, and the column is text then."""
    assert cells(published({"q": [None, None, 3, 5]}, {"q": RANGES}), "q") == [None, None, 4, 4]
    mixed = published({"q": [None, 1, 50, 51, 52]}, {"q": RANGES})
    assert cells(mixed, "q").count("*") >= 2
    assert mixed.table.schema.field("q").type == pa.string()
    assert (
        cells(published({"q": [None, None, None, "a", "a"]}, {"q": {"role": "quasi", "hierarchy": "sets"}}, 5), "q")
        == [None] * 5
    )


number = st.one_of(st.none(), st.integers(-5, 5), st.integers(-(10**18), 10**18))
word = st.one_of(st.none(), st.sampled_from(["a", "b", "", "*", "ü", "=1"]))
day = st.one_of(st.none(), st.dates(date(1, 1, 1), date(9999, 12, 31)))


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_table(data: st.DataObject) -> None:
    """Whatever the cells: classes of k rows at least, each with the aggregate of its own rows, or a no."""
    rows = data.draw(st.integers(1, 14))
    kinds = data.draw(st.lists(st.sampled_from(["number", "word", "day", "constant"]), min_size=1, max_size=3))
    columns, entries = dict[str, Any](), dict[str, Any]()
    for place, kind in enumerate(kinds):
        strategy = {"number": number, "word": word, "day": day, "constant": st.just(7)}[kind]
        drawn = data.draw(st.lists(strategy, min_size=rows, max_size=rows))
        types = {"number": pa.int64(), "word": pa.string(), "day": pa.date32(), "constant": pa.int64()}
        columns[f"q{place}"] = pa.array(drawn, types[kind])
        hierarchy = {"number": {"ranges": True}, "word": "suppress", "day": {"dates": ["month", "year"]}}.get(
            kind, {"intervals": [5]}
        )
        choices = [None, "mode"] if kind == "word" else [None, "mean", "median", "mode"]
        aggregate = data.draw(st.sampled_from(choices))
        entries[f"q{place}"] = {"role": "quasi", "hierarchy": hierarchy} | (
            {"aggregate": aggregate} if aggregate else {}
        )
    k = data.draw(st.integers(1, 6))
    clustering = data.draw(st.sampled_from(CLUSTERINGS))
    try:
        release = published(columns, entries, k, clustering=clustering)
    except Infeasible:
        assert k > rows
        return
    assert k <= rows
    classes: defaultdict[tuple[Any, ...], list[int]] = defaultdict(list)
    for row in release.table.to_pylist():
        classes[tuple(str(row[name]) for name in columns)].append(row["row"])
    assert min(map(len, classes.values())) >= k
    for name, entry in entries.items():
        told = cells(release, name)
        for members in classes.values():
            values = [columns[name][row].as_py() for row in members]
            default = "mode" if entry["hierarchy"] == "suppress" else "mean"
            _check_aggregate(entry.get("aggregate", default), told[members[0]], values)


def _check_aggregate(aggregate: str, told: Any, values: Sequence[Any]) -> None:
    if aggregate == "mode":
        assert Counter(map(str, values))[str(told)] == max(Counter(map(str, values)).values())
        return
    if None in values:
        assert told == (None if all(value is None for value in values) else "*")
        return
    first = date(1970, 1, 1)
    numbers = [(value - first).days if isinstance(value, date) else value for value in values]
    exact = (
        Fraction(sum(numbers), len(numbers))
        if aggregate == "mean"
        else Fraction(statistics.median(map(Fraction, numbers)))
    )
    rounded = round(exact)
    if isinstance(values[0], date):
        assert str(told) == str(first + timedelta(days=rounded))
    else:
        assert int(told) == rounded


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.integers(-4, 9), min_size=1, max_size=6), min_size=2, max_size=2),
    st.sampled_from(["mean", "median", "mode"]),
)
def test_groups_of_equal_labels_keep_it_together(groups: list[list[int]], aggregate: str) -> None:
    """Where two groups have the same mean, median or mode, so has their union: classes can be counted by labels."""
    values = sorted({value for group in groups for value in group})
    policy = load(rules({"q": RANGES | {"aggregate": aggregate}}, 1))
    frame = pa.table({"q": [value for group in groups for value in group]})
    axis = pose_problem(encode(from_frame(frame, policy), policy), policy).axes[0]
    assert isinstance(axis, GridAxis)
    code = {int(text or 0): place for place, text in enumerate(axis.attribute.column.texts)}
    assert sorted(code) == values

    def label(members: list[list[int]]) -> AxisLabels:
        leaf = np.array([code[value] for group in members for value in group])
        group = np.repeat(np.arange(len(members)), [len(group) for group in members])
        starts = np.cumsum([0, *map(len, members[:-1])])
        return axis.label_groups(axis.reduce(axis.single[leaf], starts), GroupMembers(leaf, np.ones_like(leaf), group))

    apart = label(groups)
    if len(apart.texts) == 1:
        assert label([[value for group in groups for value in group]]).texts == apart.texts


# Groups


def test_groups_are_those_of_the_clustering() -> None:
    """On numbers alone the classes are the groups of MDAV over columns in standard deviations."""
    draw = np.random.default_rng(3)
    numbers = {"a": draw.integers(0, 10_000, 200), "b": draw.integers(0, 90, 200)}
    release = published(numbers, {"a": RANGES, "b": RANGES}, 5)
    points = np.column_stack([(column - column.mean()) / column.std() for column in numbers.values()])
    expected = mdav(MixedPoints(points), 5)
    found = list(zip(cells(release, "a"), cells(release, "b"), strict=True))
    pairs = {(group, label) for group, label in zip(expected.tolist(), found, strict=True)}
    assert len(pairs) == len(set(expected.tolist())) == len({label for _, label in pairs})


def test_equal_rows_are_dealt_out_by_what_is_sensitive() -> None:
    """Sixty equal rows in groups of three, sorted by illness: no group is of one illness because of that."""
    illness = {"illness": ["flu"] * 20 + ["cold"] * 20 + ["HIV"] * 20}
    table = pa.table({"age": [30] * 60 + [70] * 60, **{name: values * 2 for name, values in illness.items()}})
    policy = rules(
        {"age": RANGES, "illness": "sensitive"}, 3, {"model": "distinct-l-diversity", "column": "illness", "l": 3}
    )
    release = sf.anonymize(table, policy)
    assert release.verdict.satisfied
    assert release.utility.ncp == 0


def test_weights_say_what_is_near() -> None:
    """A column of weight 0 has no part in who is near whom; what it is published as is another matter."""
    table = {"a": [1, 2, 50, 51], "b": [1, 90, 1, 90]}
    near = published(table, {"a": RANGES | {"weight": 1}, "b": RANGES | {"weight": 0}})
    assert cells(near, "a") == [2, 2, 50, 50]
    other = published(table, {"a": RANGES | {"weight": 0}, "b": RANGES | {"weight": 1}})
    assert cells(other, "b") == [1, 90, 1, 90]


def test_persons_are_counted() -> None:
    """Three rows of one person are no group of three."""
    table = pa.table({"who": ["a", "a", "a", "b", "c", "d", "e", "f"], "age": [20, 20, 20, 21, 22, 60, 61, 62]})
    for clustering in CLUSTERINGS:
        release = sf.anonymize(table, rules({"who": "individual", "age": RANGES}, 3, clustering=clustering))
        people: defaultdict[int, set[str]] = defaultdict(set)
        for row in release.table.to_pylist():
            people[row["age"]].add(row["who"])
        assert min(map(len, people.values())) >= 3


# Strata


def _visits(seed: int = 4) -> pa.Table:
    draw = Random(seed)
    return pa.table(
        {
            "arm": [draw.choice("AB") for _ in range(60)],
            "age": [draw.randint(18, 80) for _ in range(60)],
            "town": [draw.choice(["Bern", "Thun", "Chur"]) for _ in range(60)],
            "row": list(range(60)),
        }
    )


STRATA = {
    "arm": {"role": "quasi", "hierarchy": "suppress"},
    "age": RANGES,
    "town": {"role": "quasi", "hierarchy": "suppress", "aggregate": "ancestor"},
    "row": "plain",
}


@pytest.mark.parametrize("clustering", CLUSTERINGS)
def test_a_stratum_is_a_table_of_its_own(clustering: str) -> None:
    """Formed within a column, groups are those of each part of the table alone, and its values stay as they were."""
    table = _visits()
    whole = sf.anonymize(table, rules(STRATA, 4, strata=["arm"], clustering=clustering)).table.to_pylist()
    parts = []
    for arm in "AB":
        part = table.filter(pa.compute.equal(table["arm"], arm))
        parts += sf.anonymize(part, rules(STRATA, 4, clustering=clustering)).table.to_pylist()
    assert sorted(map(str, whole)) == sorted(map(str, parts))
    arms = dict(zip(table["row"].to_pylist(), table["arm"].to_pylist(), strict=True))
    assert all(row["arm"] == arms[row["row"]] for row in whole)


def test_a_stratum_that_is_too_small(tmp_path: Path) -> None:
    """It cannot be met, or its rows are dropped where so many may be."""
    table = pa.table(
        {"arm": ["A"] * 8 + ["B"] * 2, "age": list(range(10)), "town": ["Bern"] * 10, "row": list(range(10))}
    )
    with pytest.raises(
        Infeasible, match=r"in 1 of 2 strata of arm, .* k-anonymity \(k = 3\): .*leave a column out of strata"
    ):
        sf.anonymize(table, rules(STRATA, 3, strata=["arm"]))
    release = sf.anonymize(table, rules(STRATA, 3, strata=["arm"], suppression=0.2))
    assert (release.suppressed, set(release.table["arm"].to_pylist())) == (2, {"A"})
    manifest = json.loads((release.save(tmp_path / "release") / "public" / "manifest.json").read_text())
    assert next(one["labels"] for one in manifest["columns"] if one["name"] == "arm") == ["A"]


def test_a_stratum_loses_the_rows_of_a_value_that_is_too_frequent() -> None:
    """Within each stratum as few rows go as let its requirement hold."""
    table = pa.table(
        {
            "arm": ["A"] * 10 + ["B"] * 10,
            "age": list(range(20)),
            "illness": ["flu"] * 7 + ["cold"] * 3 + ["flu", "cold"] * 5,
        }
    )
    policy = rules(
        {"arm": STRATA["arm"], "age": RANGES, "illness": "sensitive"},
        2,
        {"model": "alpha-deassociation", "column": "illness", "alpha": 0.5},
        strata=["arm"],
        suppression=0.2,
    )
    release = sf.anonymize(table, policy)
    assert Counter(release.table["arm"].to_pylist()) == {"A": 6, "B": 10}


# What is refused


@pytest.mark.parametrize(
    ("change", "key", "words"),
    [
        ({"age": {"aggregate": "middle"}}, "columns.age.aggregate", "mean, median, mode or ancestor"),
        ({"age": {"aggregate": "ancestor"}}, "columns.age.aggregate", "ranges have no levels"),
        ({"town": {"aggregate": "ancestor"}}, "columns.town.aggregate", "sets have no levels"),
        ({"town": {"aggregate": "mean"}}, "columns.town.aggregate", "there is a mean of numbers and dates"),
        ({"job": {"aggregate": "median"}}, "columns.job.aggregate", "write mode or ancestor"),
        ({"job": {"aggregate": "mode", "least": 1}}, "columns.job.aggregate", "leave least out"),
        ({"born": TOP | {"aggregate": "mean"}}, "columns.born.aggregate", "top and bottom as keys of the column"),
        ({"visits": {"aggregate": "mode"}}, "columns.visits.aggregate", "only a quasi-identifier"),
        ({"algorithm": {"metric": "ncp"}}, "algorithm.metric", "goes by distances"),
        ({"algorithm": {"improve": True}}, "algorithm.improve", "goes by distances"),
        ({"algorithm": {"multiple": 2}}, "algorithm.multiple", "is for condensation"),
        ({"algorithm": {"clustering": "kmeans"}}, "algorithm.clustering", "mdav, v-mdav or mondrian"),
        ({"algorithm": {"strata": ["aged"]}}, "algorithm.strata", "did you mean age?"),
        ({"algorithm": {"strata": ["visits"]}}, "algorithm.strata", 'give it role = "quasi"'),
        ({"algorithm": {"strata": ["age", "age"]}}, "algorithm.strata", "each column once"),
        ({"age": {"aggregate": "median"}, "algorithm": {"strata": ["age"]}}, "columns.age.aggregate", "one of strata"),
        ({"publish": {"ranges": "means"}}, "publish.ranges", "microaggregation publishes numbers"),
        ({"publish": {"numeric": "bounds"}}, "publish.numeric", "numbers already"),
        ({"apply": {"promise": "together"}}, "apply", "the mean of a class is not that of further rows"),
        ({"algorithm": {"name": "tds"}, "age": MEAN}, "columns.age.aggregate", "and the algorithm is tds"),
        ({"algorithm": {"name": "mondrian", "clustering": "mdav"}}, "algorithm.clustering", "is for microaggregation"),
        ({"age": MEAN, "publish": {"form": "lossy-join"}}, "columns.age.aggregate", "publishes values as they are"),
    ],
)  # fmt: skip
def test_what_means_nothing_is_refused(change: dict[str, Any], key: str, words: str) -> None:
    """One sentence, with the key that it is about and a way out."""
    lines = {"lines": [["a", "x", "*"], ["b", "x", "*"]]}
    columns: dict[str, Any] = {
        "age": RANGES,
        "town": {"role": "quasi", "hierarchy": "sets"},
        "job": {"role": "quasi", "hierarchy": lines},
        "born": {"role": "quasi", "hierarchy": {"dates": ["year"]}},
        "visits": PLAIN,
        "illness": {"role": "sensitive"},
    }
    document = rules(columns)
    for name, keys in change.items():
        if name in columns:
            document["columns"][name] = columns[name] | keys
        else:
            document[name] = document.get(name, {}) | keys
    with pytest.raises(PolicyError) as caught:
        load(document)
    assert caught.value.key == key
    assert words in caught.value.message


def test_strata_do_not_go_with_linked_k() -> None:
    """Persons are brought together in one class, which may be of another stratum."""
    rule = {"model": "identity-k-anonymity", "k": 2, "linked_k": 2}
    document = rules({"who": "individual", "age": RANGES}, 2, rule, strata=["age"])
    with pytest.raises(PolicyError, match="linked_k brings the rows of a person into one class"):
        load(document)


def test_dates_that_are_written_in_several_ways() -> None:
    """Nobody knows how to write their mean; a mode is one of them."""
    born = {"role": "quasi", "hierarchy": {"dates": ["year"]}}
    texts = {"born": ["2020-01-01", "20200103", "2021-05-01", "2021-05-07"]}
    with pytest.raises(DataError, match="several ways"):
        published(texts, {"born": born})
    assert set(cells(published(texts, {"born": born | {"aggregate": "mode"}}), "born")) <= set(texts["born"])


def test_more_rows_are_asked_for_than_there_are() -> None:
    """K above the rows is infeasible, with what can be met; k of all rows is one class."""
    with pytest.raises(Infeasible) as caught:
        published({"age": [1, 2, 3]}, {"age": RANGES}, 4)
    assert caught.value.nearest == {"k": 3}
    assert set(cells(published({"age": [1, 2, 6]}, {"age": RANGES}, 3), "age")) == {3}


# What others make of it


def test_squared_error_is_that_of_the_published_numbers() -> None:
    """SSE / SST by its definition, from the published table; a cell that shows nothing is off as the mean is."""
    draw = Random(1)
    table: dict[str, list[Any]] = {
        "a": [draw.randint(0, 99) for _ in range(40)],
        "b": [draw.choice([None, 1.5, 2.5, 7.0]) for _ in range(40)],
    }
    entries = {"a": RANGES, "b": RANGES | {"aggregate": "median"}, "town": {"role": "quasi", "hierarchy": "sets"}}
    table["town"] = [draw.choice(["Bern", "Thun"]) for _ in range(40)]
    release = published(table, entries, 3)
    found = release.utility.aggregation
    assert found is not None
    shares = []
    for name in ("a", "b"):
        pairs = [(true, told) for true, told in zip(table[name], cells(release, name), strict=True) if true is not None]
        mean = statistics.fmean(true for true, _ in pairs)
        sse = sum((true - (mean if told in {"*", None} else float(told))) ** 2 for true, told in pairs)
        shares.append(sse / sum((true - mean) ** 2 for true, _ in pairs))
        assert found.columns[name].squared_error == pytest.approx(shares[-1])
    assert found.squared_error == pytest.approx(statistics.fmean(shares))
    changed = statistics.fmean(true != told for true, told in zip(table["town"], cells(release, "town"), strict=True))
    assert found.columns["town"].changed == pytest.approx(changed)
    assert found.columns["town"].squared_error is None
    assert release.utility.as_json()["aggregation"]["columns"]["b"]["aggregate"] == "median"


def test_losses_are_those_of_what_a_class_covers() -> None:
    """A mean of 1 and 4 among numbers from 1 to 11 loses 0.3, as the range would; a mode of two in four rows half."""
    release = published({"a": [1, 4, 11, 11]}, {"a": RANGES})
    assert release.utility.ncp == pytest.approx(0.15)
    town = {"role": "quasi", "hierarchy": "sets"}
    release = published({"t": ["x", "y", "z", "z"]}, {"t": town}, 4)
    assert release.utility.ncp == pytest.approx(0.5)
    assert release.utility.suppressed_cells == 0


def _saved(tmp_path: Path) -> Path:
    draw = Random(7)
    table = pa.table(
        {
            "age": [draw.randint(18, 90) for _ in range(80)],
            "born": [date(1990, 1, 1) + timedelta(days=draw.randint(0, 9000)) for _ in range(80)],
            "town": [draw.choice(["Bern", "Thun", "Chur"]) for _ in range(80)],
            "illness": [draw.choice(["flu", "cold"]) for _ in range(80)],
        }
    )
    entries = {
        "age": RANGES | {"aggregate": "median"},
        "born": {"role": "quasi", "hierarchy": {"dates": ["year"]}},
        "town": {"role": "quasi", "hierarchy": "suppress"},
        "illness": "sensitive",
    }
    return Path(sf.anonymize(table, rules(entries, 4)).save(tmp_path / "release"))


def test_files_say_what_aggregates_tell(tmp_path: Path) -> None:
    """The verifier passes the files; the manifest has a form for each column, and what it reveals."""
    folder = _saved(tmp_path)
    assert sf.verify(folder).satisfied
    manifest = json.loads((folder / "public" / "manifest.json").read_text())
    forms = {entry["name"]: entry.get("form") for entry in manifest["columns"]}
    assert forms == {"age": "medians", "born": "means", "town": "modes", "illness": None}
    assert {one["form"]: one["columns"] for one in manifest["chosen_labels"]} == {
        "means": ["born"],
        "medians": ["age"],
        "modes": ["town"],
    }
    page = (folder / "private" / "report.html").read_text()
    assert "means, medians, modes or lowest common ancestors of each class" in page
    assert all(one["reveals"] in page for one in manifest["chosen_labels"])
    assert "SSE / SST" in page
    summary = (folder / "public" / "summary.html").read_text()
    assert "is the median of its class" in summary
    assert "the most frequent one of its class" in summary


def test_a_query_says_what_aggregates_count_for(tmp_path: Path) -> None:
    """A condition on a mean is answered by the mean itself, and it is said that its error is not known."""
    answers = sf.query(_saved(tmp_path), "select count(*) where age > 40 and illness = 'flu'")
    assert len(answers.aggregated) == 1
    assert "'age' is published by medians of classes" in answers.aggregated[0]
    assert answers.as_json()["aggregated"] == list(answers.aggregated)
    assert not sf.query(_saved(tmp_path / "again"), "select count(*) where illness = 'flu'").aggregated


def test_ancestors_alone_are_labels_like_others(tmp_path: Path) -> None:
    """Where nothing but ancestors is published, losses are found from the files and further rows can be added."""
    entries = {
        "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}, "aggregate": "ancestor"},
        "row": "plain",
    }
    table = pa.table({"age": [draw % 60 for draw in range(0, 900, 7)], "row": list(range(129))})
    release = sf.anonymize(table, rules(entries, 4))
    assert release.utility.aggregation is None
    folder = release.save(tmp_path / "release")
    again = sf.utility(folder, original=table)
    assert again.losses.ncp == pytest.approx(release.utility.ncp)
    assert sf.verify(folder).satisfied


def test_masks_come_first() -> None:
    """What a mean is made of are the masked values: an extreme that is top coded is not in it."""
    table = {"age": [20, 22, 70, 999]}
    assert cells(published(table, {"age": RANGES | {"top": 80}}), "age") == [21, 21, 75, 75]


def test_the_strata_of_a_pattern() -> None:
    """A stratum may be a column that a pattern stands for."""
    document = rules({"q_*": RANGES, "row": "plain"}, 2, strata=["q_arm"])
    release = sf.anonymize(pa.table({"q_arm": [1, 1, 2, 2], "q_age": [1, 3, 5, 7], "row": [0, 1, 2, 3]}), document)
    assert cells(release, "q_age") == [2, 2, 6, 6]


def test_a_policy_in_code() -> None:
    """`sf.quasi` takes the key, and a release can be made of it."""
    policy = Policy(
        {"age": sf.quasi(ranges=True, aggregate="median")}, [sf.KAnonymity(2)], algorithm="microaggregation"
    )
    assert policy.aggregate("age") == "median"
    assert prepare(pa.table({"age": [1, 2, 3]}), policy).recoding.algorithm == "microaggregation"


def test_label_modes_counts_rows() -> None:
    """Lines of a partition stand for several rows."""
    policy = load(rules({"q": {"role": "quasi", "hierarchy": "sets"}}, 1))
    attribute = encode(from_frame(pa.table({"q": ["a", "a", "b", "b", "b"]}), policy), policy).quasi[0]
    members = GroupMembers(np.array([0, 1, 0, 1]), np.array([3, 1, 1, 1]), np.array([0, 0, 1, 1]))
    labels = label_modes(attribute, members, lambda leaf, other: (leaf != other).astype(np.float64))
    assert [labels.texts[code] for code in labels.codes.tolist()] == ["a", "b"]
    assert labels.loss.tolist() == [0.25, 0.5]


def test_records_are_not_matched_by_aggregates(tmp_path: Path) -> None:
    """A mean fits no value for certain: it ties no records of two releases, and where it would, that is refused."""
    draw = Random(2)
    ages = [draw.randint(20, 60) for _ in range(60)]
    table = pa.table({"age": ages, "sex": [draw.choice("fm") for _ in ages], "illness": ["flu", "cold"] * 30})
    bins = {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}}
    entries = {"age": bins, "sex": {"role": "quasi", "hierarchy": "suppress"}, "illness": "sensitive"}
    earlier = Path(sf.anonymize(table, rules(entries, 5)).save(tmp_path / "earlier")) / "public" / "table.csv"
    rule = {"model": "xy-anonymity", "x": ["sex"], "y": ["$row"], "k": 2}
    previous = {"previous": [{"name": "earlier", "table": str(earlier)}]}
    document = rules(entries, 5, rule) | {"algorithm": {"name": "tds"}} | previous
    with pytest.raises(InputError, match="'earlier' has means, medians or modes of classes in 'age', 'sex'"):
        sf.anonymize(table, document)
