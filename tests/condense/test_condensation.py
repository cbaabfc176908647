"""Condensation as a whole: groups of k, means, atoms that stay, statistics of k at least, and every odd table."""

import tracemalloc
from collections import Counter
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato import Infeasible, Policy, PolicyError
from sfumato.condense import condensation
from sfumato.condense.condensation import _pool_groups, group_neighbours
from sfumato.core.randomness import Randomness
from sfumato.release.drawn_release import DrawnRelease


def draw(columns: Any, k: int = 5, *, seed: int | None = 1, **options: Any) -> DrawnRelease:
    """Draw rows of a table; keys of [algorithm] by name, and rules of columns under `rules`."""
    rules = options.pop("rules", {})
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    policy = {
        "columns": {name: rules.get(name, {"role": "plain"}) for name in table.column_names},
        "privacy": [{"model": "k-anonymity", "k": k}],
        "algorithm": {"name": "condensation", **({} if seed is None else {"seed": seed}), **options},
        "publish": {"form": "synthetic"},
    }
    release: Any = sf.anonymize(table, policy)
    assert isinstance(release, DrawnRelease)
    return release


def trial(rows: int = 240) -> pa.Table:
    """Laboratory values of a trial: an arm, a visit, dates, atoms, missing values, categories."""
    rng = np.random.default_rng(7)
    arm = rng.choice(["active", "placebo"], rows)
    base = rng.normal(140, 4, rows)
    return pa.table(
        {
            "arm": arm,
            "visit": rng.integers(1, 4, rows),
            "sodium": np.round(base, 1),
            "potassium": np.round(4 + (base - 140) / 20 + rng.normal(0, 0.1, rows), 2),
            "taken": [date(2024, 1, 1) + timedelta(days=int(day)) for day in rng.integers(0, 300, rows)],
            "alt": pa.array(
                np.where(rng.random(rows) < 0.4, 0, rng.integers(5, 90, rows)), mask=rng.random(rows) < 0.1
            ),
            "sex": rng.choice(["f", "m"], rows),
        }
    )


def group_means(release: DrawnRelease, column: str) -> tuple[np.ndarray, np.ndarray]:
    """Means of a column by group, before and after."""
    condensed = release.publication.condensed
    before = np.array(release.source.arrow.column(column).to_pylist(), dtype=float)
    after = np.array(release.synthetic.column(column).to_pylist(), dtype=float)
    counts = np.bincount(condensed.members), np.bincount(condensed.group_of)
    sums = np.bincount(condensed.members, before), np.bincount(condensed.group_of, after)
    return sums[0] / counts[0], sums[1] / counts[1]


@pytest.mark.parametrize("clustering", ["mdav", "v-mdav", "mondrian"])
def test_groups_of_k_and_means_to_rounding(clustering: str) -> None:
    """Every group has k rows, as many are drawn for it, and its means are kept to half a step over its rows."""
    release = draw(trial(), 5, clustering=clustering)
    condensed = release.publication.condensed
    assert condensed.sizes.min() >= 5
    assert np.array_equal(np.bincount(condensed.members), np.bincount(condensed.group_of))
    for column, step in (("sodium", 0.1), ("potassium", 0.01)):
        before, after = group_means(release, column)
        assert np.abs(before - after).max() <= step / 2 / condensed.sizes.min() + 1e-9


def test_multiple_draws_so_many_for_each() -> None:
    """With multiple = 3 each group gives three rows for each of its own, with the same means and frequencies."""
    release = draw(trial(), 5, multiple=3)
    assert release.rows == 3 * 240
    assert np.array_equal(3 * release.publication.condensed.sizes, np.bincount(release.publication.condensed.group_of))
    before, after = group_means(release, "sodium")
    assert np.abs(before - after).max() < 0.02
    counts = Counter(release.synthetic.column("sex").to_pylist())
    assert counts == {value: 3 * number for value, number in Counter(trial().column("sex").to_pylist()).items()}


def test_types_and_frequencies_stay() -> None:
    """Columns keep their types, categories and atoms their frequencies, dates their calendar."""
    release, came = draw(trial(), 5), trial()
    drawn = release.synthetic
    assert drawn.schema.types == came.schema.types
    for column in ("arm", "sex", "visit"):
        assert Counter(drawn.column(column).to_pylist()) == Counter(came.column(column).to_pylist())
    zeros = [sum(value == 0 for value in table.column("alt").to_pylist()) for table in (came, drawn)]
    nulls = [table.column("alt").null_count for table in (came, drawn)]
    assert nulls[0] == nulls[1]
    assert zeros[0] <= zeros[1] <= zeros[0] + 3  # a drawn number may happen to be 0, too


def test_strata_are_kept_and_told() -> None:
    """Groups lie within the strata, whose counts are exact; the manifest's text says so."""
    release = draw(trial(), 5, strata=["arm", "visit"])
    pairs = [
        Counter(zip(table.column("arm").to_pylist(), table.column("visit").to_pylist(), strict=True))
        for table in (trial(), release.synthetic)
    ]
    assert pairs[0] == pairs[1]


def test_strata_that_are_too_small_are_infeasible() -> None:
    """A stratum with fewer than k rows is refused, with the k that would do and no value of it."""
    table = trial(30)
    with pytest.raises(Infeasible, match="strata of arm, visit: the smallest has") as found:
        draw(table, 10, strata=["arm", "visit"])
    assert found.value.nearest["k"] < 10
    assert "placebo" not in str(found.value)


def test_k_beyond_the_table_is_infeasible() -> None:
    """More than there are cannot be asked for."""
    with pytest.raises(Infeasible, match="k = 20 cannot be met: the table has 12 rows; lower k"):
        draw({"age": list(range(12))}, 20)


def test_persons_are_counted() -> None:
    """With an individual column, groups have k people; the column itself is not published."""
    rng = np.random.default_rng(1)
    table = pa.table({"who": rng.integers(0, 30, 200), "lab": rng.normal(size=200)})
    release = draw(table, 5, rules={"who": {"role": "individual"}})
    assert release.publication.condensed.persons.min() >= 5
    assert release.synthetic.column_names == ["lab"]


def neighbourhoods(release: DrawnRelease, amount: int, clustering: str = "mdav") -> np.ndarray:
    """The neighbourhood of each group of a release."""
    publication = release.publication
    return group_neighbours(publication.mixed, publication.condensed.members, amount, clustering)


@pytest.mark.parametrize("clustering", ["mdav", "v-mdav", "mondrian"])
def test_neighbours_keep_groups_means_and_frequencies(clustering: str) -> None:
    """Whatever spread rows have, each group keeps its size, its means to rounding, and its categories exactly."""
    release = draw(trial(), 5, clustering=clustering, neighbours=4)
    condensed = release.publication.condensed
    assert np.array_equal(condensed.members, draw(trial(), 5, clustering=clustering).publication.condensed.members)
    assert np.array_equal(np.bincount(condensed.members), np.bincount(condensed.group_of))
    for column, step in (("sodium", 0.1), ("potassium", 0.01)):
        before, after = group_means(release, column)
        assert np.abs(before - after).max() <= step / 2 / condensed.sizes.min() + 1e-9
    for column in ("arm", "visit", "sex"):
        held = [
            Counter(zip(group.tolist(), table.column(column).to_pylist(), strict=True))
            for group, table in ((condensed.members, release.source.arrow), (condensed.group_of, release.synthetic))
        ]
        assert held[0] == held[1]
    assert release.verdict.satisfied


def test_neighbours_share_the_covariances_of_all_their_rows() -> None:
    """Within each group, what is drawn has on average the covariances of the neighbourhood, found by numpy alone."""
    rng = np.random.default_rng(3)
    points = rng.normal(size=(60, 2)) @ np.array([[1.0, 0.8], [0.0, 0.6]])
    release = draw({"x": points[:, 0], "y": points[:, 1]}, 5, neighbours=3, multiple=400)
    condensed = release.publication.condensed
    around = neighbourhoods(release, 3)
    assert 3 <= np.bincount(around).min() <= np.bincount(around).max() <= 5
    drawn = np.column_stack([release.synthetic.column(name).to_numpy() for name in ("x", "y")])
    for group in range(len(around)):
        expected = np.cov(points[around[condensed.members] == around[group]].T, bias=True)
        found = np.cov(drawn[condensed.group_of == group].T, bias=True)
        assert np.abs(found - expected).max() < 0.1 * np.abs(expected).max()


def test_numbers_beside_atoms_have_the_spread_of_their_neighbourhood() -> None:
    """Rows with an atom lend a neighbourhood no spread, and take none of it away."""
    rng = np.random.default_rng(3)
    gain = np.where(np.arange(120) % 4 == 0, 0.0, rng.normal(50, 10, 120))
    rules = {"gain": {"role": "plain", "atoms": [0], "bounds": [-1000, 1000]}}
    release = draw({"gain": gain, "x": rng.normal(size=120)}, 6, neighbours=20, multiple=200, rules=rules)
    condensed = release.publication.condensed
    around = neighbourhoods(release, 20)
    assert not around.any()
    drawn = release.synthetic.column("gain").to_numpy()
    holders = np.bincount(condensed.members[gain != 0], minlength=len(around))
    full = np.flatnonzero(holders >= 6)
    assert len(full)
    for group in full:
        one = drawn[(condensed.group_of == group) & (drawn != 0)]
        assert one.std() == pytest.approx(gain[gain != 0].std(), rel=0.1)


def test_neighbours_are_of_one_stratum() -> None:
    """A neighbourhood mixes no strata; a stratum with fewer groups is one neighbourhood."""
    table = trial()
    release = draw(table, 5, strata=["arm"], neighbours=30)
    condensed, arms = release.publication.condensed, np.array(table.column("arm").to_pylist())
    around = neighbourhoods(release, 30)
    of_arm = [set(around[condensed.members[arms == arm]].tolist()) for arm in ("active", "placebo")]
    assert len(of_arm[0]) == len(of_arm[1]) == 1
    assert of_arm[0].isdisjoint(of_arm[1])
    far = pa.table({"arm": ["a"] * 20 + ["b"] * 20, "x": [*np.linspace(0, 1, 20), *np.linspace(1000, 1001, 20)]})
    drawn = draw(
        far, 5, strata=["arm"], neighbours=8, rules={"x": {"role": "plain", "bounds": [-5000, 5000]}}
    ).synthetic
    x = drawn.column("x").to_numpy()
    assert np.ptp(x[np.array(drawn.column("arm").to_pylist()) == "a"]) < 5


def test_neighbours_are_near_in_numbers_and_categories() -> None:
    """Groups come together whose means are near, and whose rows mostly have the same category."""
    town = np.repeat(["n", "s"], 40)
    x = np.tile(np.repeat([0.0, 10.0], 20), 2) + np.linspace(0, 1, 80)
    release = draw({"town": town, "x": x}, 5, neighbours=4)
    members = release.publication.condensed.members
    around = neighbourhoods(release, 4)[members]
    for each in np.split(around, 4):
        assert len(set(each.tolist())) == 1
    assert len(set(around.tolist())) == 4


def test_neighbours_need_no_table_of_all_categories(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is held at a time is a block, not a number for each row and value."""
    rng = np.random.default_rng(1)
    rows, values = 12_000, 400
    table = pa.table({"job": [f"job {code}" for code in rng.integers(0, values, rows)], "x": rng.normal(size=rows)})
    monkeypatch.setattr(condensation, "_BLOCK", 1 << 16)
    mixed = draw(table, 5, clustering="mondrian", neighbours=10).publication.mixed
    options = Policy.read(
        {
            "columns": {"x": {"role": "plain"}},
            "privacy": [{"model": "k-anonymity", "k": 5}],
            "algorithm": {"name": "condensation", "clustering": "mondrian", "neighbours": 10, "seed": 1},
            "publish": {"form": "synthetic"},
        }
    ).search
    tracemalloc.start()
    try:
        condensation.condense(mixed, 5, options, Randomness(1))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < rows * values * 8 / 3


def test_noise_adds_variance_and_keeps_means_and_frequencies() -> None:
    """Noise widens numbers by its square, and swaps categories without changing how many there are."""
    rng = np.random.default_rng(1)
    table = pa.table({"x": rng.normal(size=4000), "y": rng.normal(size=4000), "c": rng.choice(list("abc"), 4000)})
    plain, noisy = draw(table, 5), draw(table, 5, noise=0.5)
    variance = [np.var(np.array(release.synthetic.column("x"))) for release in (plain, noisy)]
    assert 1.15 < variance[1] / variance[0] < 1.35
    assert Counter(noisy.synthetic.column("c").to_pylist()) == Counter(table.column("c").to_pylist())
    before, after = group_means(noisy, "x")
    assert np.allclose(before, after)


def test_no_statistic_is_of_fewer_than_k() -> None:
    """Where one row of a group holds a number beside atoms, what is drawn is not that number but the pool's.

    Nine rows in ten have no gain. Whatever the groups are, no drawn gain is within a hair of the gain of one person
    alone, unless others share it.
    """
    rng = np.random.default_rng(3)
    gain = np.where(rng.random(600) < 0.06, np.round(rng.uniform(1e3, 9e4, 600), 2), 0.0)
    release = draw({"gain": gain, "age": rng.integers(20, 70, 600)}, 10)
    people = np.sort(gain[gain > 0])
    drawn = np.array(release.synthetic.column("gain").to_pylist())
    drawn = drawn[drawn > 0]
    nearest = np.abs(drawn[:, None] - people[None]).min(axis=1)
    assert (nearest < 0.05).mean() < 0.02
    assert abs(drawn.mean() / people.mean() - 1) < 0.05


def test_pools_have_k_numbers() -> None:
    """Groups with few numbers are put together until k have one; what is left joins the last pool of its stratum."""
    holders = np.array([2, 1, 9, 2, 2, 1, 0])
    strata = np.array([0, 0, 0, 0, 1, 1, 1])
    pools = _pool_groups(holders, np.array([5.0, 1, 0, 3, 4, 4, 0]), strata, 3)
    together = {pool: holders[pools == pool].sum() for pool in set(pools.tolist()) - {-1}}
    assert all(total >= 3 for total in together.values())
    assert (pools[2], pools[6]) == (2, -1)
    short = _pool_groups(np.array([1, 9]), np.array([1.0, 9]), np.array([0, 0]), 3)
    assert short.tolist() == [-1, 1]


def test_one_person_in_many_groups_is_one() -> None:
    """A person who alone holds a number, at every visit, is no pool of k: nothing is drawn from that number alone."""
    rng = np.random.default_rng(1)
    visits = [(who, visit) for visit in range(11) for who in range(20)]
    gains = [1_234_567 if who == 0 and visit < 10 else 1 + who if visit == 10 else 0 for who, visit in visits]
    table = pa.table(
        {
            "who": [f"P{who}" for who, _ in visits],
            "visit": [visit for _, visit in visits],
            "x": rng.normal(50, 10, len(visits)),
            "gain": gains,
        }
    )
    columns = {name: {"role": "individual" if name == "who" else "plain"} for name in table.column_names}
    rules = {
        "columns": columns,
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "algorithm": {"name": "condensation", "strata": ["visit"], "seed": 1},
        "publish": {"form": "synthetic"},
    }
    drawn = Counter(sf.anonymize(table, rules).synthetic["gain"].to_pylist())
    assert drawn[1_234_567] == 0
    assert max(drawn) > 1000  # they are drawn like the whole column, of which it is one


def test_dates_of_another_writing_are_warned_of_and_can_be_drawn() -> None:
    """A column of which nothing is told has a way out in the warning that works, of the role that it has."""
    days = [f"{1 + row % 28:02}.{1 + row % 12:02}.{1950 + row % 50}" for row in range(60)]
    table = {"day": days, "x": list(range(60))}
    plain = draw(table, 5, rules={"day": {"role": "plain"}})
    assert set(plain.synthetic.column("day").to_pylist()) == {"*"}
    [said] = [sentence for sentence in plain.warnings if "'day'" in sentence]
    assert 'give it role "quasi" and a hierarchy (one of dates, with their format' in said
    dated = {"role": "quasi", "hierarchy": {"dates": ["year"], "format": "%d.%m.%Y"}}
    drawn = draw(table, 5, rules={"day": dated})
    assert not [sentence for sentence in drawn.warnings if "'day'" in sentence]
    assert all(datetime.strptime(day, "%d.%m.%Y") for day in drawn.synthetic.column("day").to_pylist())  # noqa: DTZ007
    [said] = [sentence for sentence in draw(table, 5, rules={"day": {"role": "quasi"}}).warnings if "'day'" in sentence]
    assert "give it a hierarchy (one of dates" in said


def test_a_person_with_most_rows_is_warned_of() -> None:
    """Persons are counted and means are of rows, so that a group may be nearly one person's."""
    who = ["A"] * 30 + [f"P{row}" for row in range(20)]
    table = pa.table({"who": who, "x": np.random.default_rng(1).normal(0, 1, 50)})
    columns = {"who": {"role": "individual"}, "x": {"role": "plain"}}
    rules = {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 4}], "algorithm": {"name": "condensation"}}
    release = sf.anonymize(table, rules | {"publish": {"form": "synthetic"}})
    assert any("one person has more than half of the rows" in sentence for sentence in release.warnings)
    alone = sf.anonymize(table.slice(30), rules | {"publish": {"form": "synthetic"}})
    assert not any("more than half of the rows" in sentence for sentence in alone.warnings)


ODD: dict[str, Any] = {
    "one column": {"x": [1.5, 2.5, 3.5, 9.0, 4.0]},
    "constant": {"x": [3] * 9, "y": ["a"] * 9},
    "fewer rows than columns": {f"c{i}": [float(i * j % 7) for j in range(6)] for i in range(20)},
    "huge": {"x": [1e300, -1e300, 5e299, 1e298, 3e300, 0.0], "y": [1, 2, 3, 4, 5, 6]},
    "tiny": {"x": [1e-300, 3e-300, 2e-300, 5e-300, 4e-300, 6e-300]},
    "all missing": {"x": pa.nulls(7, pa.float64()), "y": list(range(7))},
    "mostly missing": {"x": [1.0] + [None] * 9, "y": list(range(10))},
    "booleans": {"x": [True, False, True, True, False, True], "y": [1, 2, 3, 4, 5, 6]},
    "odd names": {"a,b": [1, 2, 3, 4], "": ["x"] * 4, "SELECT": [1, 1, 2, 2], "=1+1": ["=1", "=1", "=1", "=1"]},
    "times": {"t": pa.array([3600, 7200, 60, 5], pa.time32("s")), "d": pa.array([1, 2, 3, 4], pa.duration("s"))},
    "moments": {"t": pa.array([10**15, 10**15 + 7, 2 * 10**15, 5], pa.timestamp("us", "Europe/Zurich"))},
    "decimals": {"x": pa.array([1, 2, 3, 4]).cast(pa.decimal128(21, 2))},
    "unsigned": {"x": pa.array([250, 251, 255, 1, 0], pa.uint8())},
    "exponents": {"x": ["1e5", "2.5e-3", "7", "3e2"]},
    "dictionary": {"x": pa.array(["a", "b", "a", "b"]).dictionary_encode(), "n": pa.array([1, 1, 2, 2])},
    "unique texts": {"x": ["a", "b", "c", "d", "e", "f"], "n": [1, 2, 3, 4, 5, 6]},
    "bounded above": {"x": pa.array([2**62, 2**62 + 5, -(2**62), 17])},
}


@pytest.mark.parametrize("name", ODD)
def test_odd_tables_work(name: str) -> None:
    """Constant, missing, huge and tiny values, odd types and names: rows are drawn, verified and of the same types."""
    table = pa.table(ODD[name])
    release = draw(table, 2)
    drawn = release.synthetic
    assert drawn.num_rows == table.num_rows
    if name not in {"unique texts", "dictionary"}:
        assert drawn.schema.types == table.schema.types
    assert release.verdict.satisfied


@pytest.mark.slow
@given(st.data())
@settings(max_examples=40, deadline=None)
def test_any_small_table_is_drawn_and_verified(data: st.DataObject) -> None:
    """Whatever a small table holds, what is drawn passes the verifier, under any clustering and option."""
    rows = data.draw(st.integers(2, 25))
    cells = {
        "n": st.one_of(st.none(), st.integers(-5, 5), st.just(0)),
        "f": st.one_of(st.none(), st.floats(-1e6, 1e6, allow_nan=False, width=32)),
        "c": st.one_of(st.none(), st.sampled_from(["a", "b", "", "*", "=x"])),
    }
    names = data.draw(st.lists(st.sampled_from(sorted(cells)), min_size=1, max_size=3, unique=True))
    types = {"n": pa.int64(), "f": pa.float64(), "c": pa.string()}
    table = pa.table({name: pa.array([data.draw(cells[name]) for _ in range(rows)], types[name]) for name in names})
    k = data.draw(st.integers(2, rows))
    clustering = data.draw(st.sampled_from(["mdav", "v-mdav", "mondrian"]))
    release = draw(
        table,
        k,
        clustering=clustering,
        multiple=data.draw(st.integers(1, 3)),
        neighbours=data.draw(st.sampled_from([1, 2, 5])),
        noise=data.draw(st.sampled_from([0.0, 0.3])),
    )
    assert release.publication.condensed.sizes.min() >= k
    for name in names:
        if types[name] == pa.string():
            shared = Counter(release.synthetic.column(name).to_pylist())
            assert min(shared.values()) >= k


def test_the_order_of_rows_changes_no_group() -> None:
    """Groups do not depend on the order in which rows came."""
    table = trial(120)
    order = np.random.default_rng(1).permutation(120)
    first, second = draw(table, 5), draw(table.take(pa.array(order)), 5)
    groups = [release.publication.condensed.members for release in (first, second)]
    sets = [
        {frozenset(np.flatnonzero(members == group).tolist()) for group in range(members.max() + 1)}
        for members in (groups[0], groups[1][np.argsort(order)])
    ]
    assert sets[0] == sets[1]


def test_two_draws_differ_and_a_seed_repeats() -> None:
    """Randomness is the operating system's unless a seed is given, which draws a warning."""
    table = trial(60)
    assert not draw(table, 5, seed=None).synthetic.equals(draw(table, 5, seed=None).synthetic)
    assert draw(table, 5).synthetic.equals(draw(table, 5).synthetic)
    assert any("a seed was used" in sentence for sentence in draw(table, 5).warnings)


GENERALIZED = {"columns": {"q": {"role": "quasi", "hierarchy": "suppress"}}}
POLICIES: dict[str, tuple[dict[str, Any], str]] = {
    "a model on values": (
        {"privacy": [{"model": "distinct-l-diversity", "column": "s", "l": 2}]},
        r"privacy\[0\].model: the form synthetic promises how many",
    ),
    "suppression": ({"algorithm": {"suppression": 0.1}}, "algorithm.suppression: no row is dropped"),
    "another algorithm": (
        {"algorithm": {"name": "mondrian"}},
        "algorithm.name: the form synthetic comes of condensation",
    ),
    "a metric": ({"algorithm": {"metric": "ncp"}}, "algorithm.metric: is not for the form synthetic"),
    "ranges": ({"publish": {"form": "synthetic", "ranges": "boxes"}}, "publish.ranges: is not for the form synthetic"),
    "no such stratum": ({"algorithm": {"strata": ["arms"]}}, "algorithm.strata: 'arms' is not one of"),
    "a stratum twice": ({"algorithm": {"strata": ["s", "s"]}}, "algorithm.strata: must name each column once"),
    "multiple of 0": ({"algorithm": {"multiple": 0}}, "algorithm.multiple: must be a whole number from 1"),
    "no neighbours": ({"algorithm": {"neighbours": 0}}, "algorithm.neighbours: must be a whole number from 1 to 100"),
    "too many neighbours": ({"algorithm": {"neighbours": 101}}, "algorithm.neighbours: must be a whole number from 1"),
    "neighbours elsewhere": (
        {"publish": {}, "algorithm": {"neighbours": 2}, **GENERALIZED},
        "algorithm.neighbours: is for condensation",
    ),
    "noise below 0": ({"algorithm": {"noise": -1}}, "algorithm.noise: must be a number from 0 to 10"),
    "the form alone": (
        {"publish": {}, "algorithm": {"name": "condensation"}, **GENERALIZED},
        'algorithm.name: condensation publishes rows that are nobody\'s; write .publish. form = "synthetic"',
    ),
    "multiple elsewhere": (
        {"publish": {}, "algorithm": {"multiple": 2}, **GENERALIZED},
        "algorithm.multiple: is for condensation",
    ),
    "bounds elsewhere": (
        {
            "publish": {},
            "columns": {"q": {"role": "quasi", "hierarchy": "suppress"}, "s": {"role": "plain", "bounds": [0, 1]}},
        },
        "columns.s.bounds: is for values that are drawn",
    ),
    "a level": (
        {"columns": {"q": {"role": "quasi", "hierarchy": {"intervals": [5]}, "least": 1}}},
        "columns.q.least: is about values that are told",
    ),
    "only identifiers": ({"columns": {"q": {"role": "identifier"}}}, "columns: no column is left to be drawn"),
    "bounds the wrong way": (
        {"columns": {"q": {"role": "plain", "bounds": [5, 1]}}},
        "columns.q.bounds: must be the lowest and the highest value",
    ),
}


@pytest.mark.parametrize("name", POLICIES)
def test_policies_that_mean_nothing_are_refused(name: str) -> None:
    """What is not about drawn rows, or is about nothing else, is an error that names its key."""
    changes, message = POLICIES[name]
    policy = {
        "columns": {"q": {"role": "quasi"}, "s": {"role": "sensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "publish": {"form": "synthetic"},
        **changes,
    }
    with pytest.raises(PolicyError, match=message):
        Policy.read(policy)
