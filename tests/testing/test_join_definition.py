"""The join by definition, on examples small enough to count; and the random cases that are held against it."""

from collections import Counter
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

from sfumato.hierarchy import parse
from sfumato.testing.join_cases import JoinCase, JoinTables, random_join_case, random_taxonomy
from sfumato.testing.join_definition import (
    ROW,
    PlainJoin,
    PlainRelease,
    achieved,
    anonymity,
    holds,
    linkability,
    population_related,
)

SEX = {"m": ("m", "known", "*"), "f": ("f", "known", "*"), "known": ("known", "*"), None: (None, "*")}


def current(*sexes: str | None) -> PlainRelease:
    """A table of one column."""
    return PlainRelease("", [{"sex": sex} for sex in sexes])


def old(*sexes: str | None) -> PlainRelease:
    """An earlier one, with a test of its own for every record."""
    return PlainRelease("old", [{"sex": sex, "test": f"t{i}"} for i, sex in enumerate(sexes)])


def test_labels_match_on_one_path_only() -> None:
    """A label matches itself, those above and those below; siblings do not match, nor NULL anything but the root."""
    joined = PlainJoin([current("m", "known", None, "*"), old("m", "f", "known", None, "*")], {"sex": SEX})
    assert Counter(joined.lines) == Counter(
        [(0, 0), (0, 2), (0, 4), (1, 0), (1, 1), (1, 2), (1, 4), (2, 3), (2, 4), *((3, i) for i in range(5))]
    )


def test_without_a_taxonomy_a_label_stands_below_the_root() -> None:
    """Texts match themselves and the root."""
    assert PlainJoin([current("m", "*"), old("m", "f", "*", None)]).lines == [
        (0, 0),
        (0, 2),
        *((1, i) for i in range(4)),
    ]


def test_columns_that_are_apart_are_not_matched() -> None:
    """A shared column that takes no part in matching ties nothing together."""
    apart = PlainRelease("", [{"sex": "m"}], frozenset({"sex"}))
    assert PlainJoin([apart, old("f")]).lines == [(0, 0)]


@pytest.mark.parametrize(("sex", "test", "lines"), [("m", "t0", 0), ("known", "t0", 1), ("f", "t0", 1), ("m", "t1", 1)])
def test_a_rule_excludes_what_is_at_or_below_both_sides(sex: str, test: str, lines: int) -> None:
    """A record above what a rule says may still be another one, and matches."""
    earlier = PlainRelease("old", [{"test": test}])
    joined = PlainJoin([current(sex), earlier], {"sex": SEX}, [("sex=m", "old.test=t0")])
    assert len(joined.lines) == lines
    below = PlainJoin([current(sex), earlier], {"sex": SEX}, [("sex=known", "old.test=t0")])
    assert len(below.lines) == (test != "t0")


def test_three_tables_match_two_by_two() -> None:
    """Two earlier releases are matched with each other by what they share, and by rules between them."""
    older = PlainRelease("older", [{"test": "t0", "race": "r1"}, {"test": "*", "race": "r2"}])
    tables = [current("*"), old("m", "f"), older]
    assert PlainJoin(tables).lines == [(0, 0, 0), (0, 0, 1), (0, 1, 1)]
    assert PlainJoin(tables, {}, [("old.sex=m", "older.race=r2")]).lines == [(0, 0, 0), (0, 1, 1)]


def test_row_keys_tell_equal_records_apart() -> None:
    """Equal rows are different rows, in the current table and in the earlier one."""
    joined = PlainJoin([current("m", "m"), PlainRelease("old", [{"sex": "m"}] * 3)])
    keys = {(ROW,): 2, (f"old.{ROW}",): 3, (ROW, f"old.{ROW}"): 6, ("old.sex",): 1}
    assert {y: anonymity(joined, ["sex"], y)[("m",)] for y in keys} == keys
    assert linkability(joined, ["sex"], [f"old.{ROW}"])[("m",), (1,)] == Fraction(1, 3)


def test_null_is_a_value_like_others() -> None:
    """It is a value on X, and one on Y that is protected where all are."""
    joined = PlainJoin(
        [PlainRelease("", [{"job": None, "test": None}, {"job": "cook", "test": "HIV"}, {"job": None, "test": "flu"}])]
    )
    assert anonymity(joined, ["job"], ["test"]) == {(None,): 2, ("cook",): 1}
    rule = {"model": "xy-linkability", "x": ["job"], "y": ["test"], "k": 0.5}
    assert achieved(rule, joined) == 1
    assert achieved(rule | {"values": ["flu"]}, joined) == Fraction(1, 2)
    assert holds(rule | {"values": ["flu"]}, joined)


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ({"k": 0.3}, False),
        ({"k": 0.6}, True),
        ({"k": 0.09, "values": ["cold"]}, False),
        ({"k": 0.1, "values": ["cold"]}, True),
        ({"values": {"HIV": 0.3}}, False),
        ({"values": {"cold": 0.2}}, True),
        ({"k": 0.5, "values": {"cold": 0.2}}, False),
        ({"k": 0.6, "values": {"cold": 0.2}}, True),
    ],
)
def test_bounds_of_values(bounds: dict[str, object], expected: bool) -> None:
    """Three tenths of flu, six of HIV and one of a cold, compared exactly with what is said of each."""
    tests = ["flu"] * 3 + ["HIV"] * 6 + ["cold"]
    joined = PlainJoin([PlainRelease("", [{"job": "cook", "test": test} for test in tests])])
    assert holds({"model": "xy-linkability", "x": ["job"], "y": ["test"], **bounds}, joined) is expected


def test_values_of_several_columns() -> None:
    """A value on two columns is protected as a pair."""
    rows = [{"job": "cook", "test": test, "sex": sex} for test, sex in [("HIV", "m"), ("HIV", "m"), ("flu", "f")]]
    rule = {"model": "xy-linkability", "x": ["job"], "y": ["test", "sex"], "k": 0.5}
    joined = PlainJoin([PlainRelease("", rows)])
    assert not holds(rule | {"values": [["HIV", "m"]]}, joined)
    assert holds(rule | {"values": [["flu", "f"], ["HIV", "f"]]}, joined)


def test_an_empty_join_links_nothing() -> None:
    """Both models hold, and achieve nothing."""
    joined = PlainJoin([current("m"), old("f")])
    for rule in ({"model": "xy-anonymity", "k": 5}, {"model": "xy-linkability", "k": 0.1}):
        assert holds(rule | {"x": ["sex"], "y": ["old.test"]}, joined)
        assert achieved(rule | {"x": ["sex"], "y": ["old.test"]}, joined) == 0


def test_trees_are_those_that_policies_bind(tmp_path: Path) -> None:
    """The paths that random trees write out by hand are those of the hierarchies that they name."""
    kinds = set()
    for seed in range(150):
        tree = random_taxonomy(Random(seed), "q0")
        if not tree.levelled:
            continue
        lines = [",".join(label or "" for label in path) for path in tree.leaves.values()]
        (tmp_path / "q0.csv").write_text("\n".join(lines), encoding="utf-8")
        bound = parse(tree.hierarchy, folder=tmp_path, key="q0").bind(list(tree.leaves), column="q0")
        for codes, path in zip(bound.matrix.tolist(), tree.leaves.values(), strict=True):
            labels = [labels[code] for labels, code in zip(bound.labels, codes, strict=True)]
            assert list(dict.fromkeys(labels)) == list(dict.fromkeys(path))
        kinds.add(str(tree.hierarchy))
    assert len(kinds) >= 5


def test_cases_come_again_and_are_of_many_kinds(tmp_path: Path) -> None:
    """The same seed gives the same case; releases before, dangling records, rules and both models all occur."""
    seen: Counter[str] = Counter()
    for seed in range(60):
        case = random_join_case(seed)
        assert case == random_join_case(seed)
        assert case.policy(tmp_path).columns.keys() == case.columns.keys()
        seen.update(_features(case))
    assert {"0", "1", "2", "related", "dangling", "inconsistent", "values", "xy-anonymity", "xy-linkability"} <= set(
        seen
    )
    assert min(seen["feasible"], seen["infeasible"]) >= 10


def _features(case: JoinCase) -> list[str]:
    top = [dict(row) | dict.fromkeys(case.quasi, "*") for row in case.rows]
    found = [str(len(case.previous)), "related" if population_related(case.join(case.rows)) else "dangling"]
    found += ["feasible" if case.passes(top) else "infeasible"]
    found += [key for said in case.document.get("previous", []) for key in said]
    return found + [word for rule in case.requirements for word in (rule["model"], *rule)]


def test_x_has_a_shared_column_of_all_tables_that_y_does_not_ask_for() -> None:
    """As the paper asks, since one side may tell more than the other; unless Y has the other side."""
    for seed in range(60):
        case = random_join_case(seed)
        for rule in case.requirements:
            joined = rule.get("releases", list(case.previous))
            tables = JoinTables(case.columns, {name: case.previous[name] for name in joined}, [], [], {})
            names = {written.rpartition(".")[2] for written in rule["x"]}
            sides = {side for name in names for side in tables.sides(name)}
            assert set(rule["x"]) <= sides <= {*rule["x"], *rule["y"]}
            assert not set(rule["x"]) & set(rule["y"])
