"""t-closeness against its definition, for each distance, and the salary example of its paper."""

import itertools
import math

import numpy as np
import pytest

from sfumato.core.arrays import FloatArray
from sfumato.core.classes import EquivalenceClasses, Histogram, SensitiveDomain
from sfumato.errors import PolicyError
from sfumato.models import Costs, TCloseness
from sfumato.models.distances import LineDistance, TreeDistance, bind_distance
from sfumato.models.earth_mover import TransportDistance, bind_earth_mover
from sfumato.testing import random_classes

SALARIES = ["03k", "04k", "05k", "06k", "08k", "11k", "07k", "09k", "10k"]  # the paper's, so that text sorts
SEEDS = range(8)


def shares(classes: EquivalenceClasses) -> tuple[FloatArray, FloatArray]:
    """The distributions of the classes, dense, and of the table."""
    lines = classes.sensitive["illness"]
    dense = np.zeros((len(classes), len(lines.domain.values)))
    dense[lines.class_of, lines.value] = lines.count / classes.sizes[lines.class_of]
    return dense, lines.domain.shares


def program(costs: FloatArray, classes: EquivalenceClasses) -> FloatArray:
    """The chapter's linear program, written down as it stands, one class after the other."""
    from scipy.optimize import linprog

    parts, whole = shares(classes)
    number = len(whole)
    balance = np.zeros((number, number, number))
    for i, j in itertools.product(range(number), repeat=2):
        balance[i, i, j] += 1
        balance[j, i, j] -= 1
    flat = balance.reshape(number, -1)
    return np.array([linprog(costs.ravel(), A_eq=flat, b_eq=part - whole).fun for part in parts])


def measured(name: str, classes: EquivalenceClasses) -> FloatArray:
    """The distances of all classes."""
    lines = classes.sensitive["illness"]
    return bind_distance(name, lines.domain).class_distances(lines, classes.sizes)


def classes_of(seed: int) -> EquivalenceClasses:
    """Random classes over six values, NULL among them."""
    return random_classes(np.random.default_rng(seed), values=("a", "b", "c", "d", "e", None))


@pytest.mark.parametrize("seed", SEEDS)
def test_variational_and_kl_are_their_definitions(seed: int) -> None:
    """Equations 20.13 and 20.14, term by term."""
    classes = classes_of(seed)
    parts, whole = shares(classes)
    half = np.abs(parts - whole).sum(axis=1) / 2
    relative = [sum(p * math.log(p / q) for p, q in zip(part, whole, strict=True) if p) for part in parts]
    assert measured("variational", classes) == pytest.approx(half)
    assert measured("emd-equal", classes) == pytest.approx(half)
    assert measured("kl", classes) == pytest.approx(relative)


@pytest.mark.parametrize("seed", SEEDS)
def test_ordered_is_its_definition_and_the_program(seed: int) -> None:
    """The sum of cumulative differences over all places is what the linear program finds."""
    classes = classes_of(seed)
    parts, whole = shares(classes)
    domain = classes.sensitive["illness"].domain
    assert domain.ranks is not None
    steps = np.zeros((len(classes), domain.places))
    steps[:, domain.ranks] = parts - whole
    work = np.abs(steps.cumsum(axis=1)).sum(axis=1) / (domain.places - 1)
    assert measured("emd-ordered", classes) == pytest.approx(work)
    costs = np.abs(domain.ranks[:, None] - domain.ranks) / (domain.places - 1)
    assert program(costs, classes) == pytest.approx(work)


@pytest.mark.parametrize("seed", SEEDS)
def test_hierarchical_closed_form_is_the_program(seed: int) -> None:
    """The average over levels is the least cost where a move costs the height of the common ancestor."""
    classes = classes_of(seed)
    ancestors = classes.sensitive["illness"].domain.ancestors
    assert ancestors is not None
    costs = (ancestors[:, None] != ancestors).sum(axis=2) / (ancestors.shape[1] - 1)
    assert measured("emd-hierarchical", classes) == pytest.approx(program(costs, classes))


def written(domain: SensitiveDomain, costs: FloatArray) -> Costs:
    """A matrix as costs of pairs, in both directions."""
    names = [value or "" for value in domain.values]
    places = itertools.permutations(range(len(names)), 2)
    return Costs({(names[i], names[j]): float(costs[i, j]) for i, j in places})


@pytest.mark.parametrize("seed", SEEDS)
def test_general_emd_is_the_program(seed: int) -> None:
    """Any costs, of both directions, with short cuts through third values."""
    classes = classes_of(seed)
    costs = np.random.default_rng(seed).integers(1, 9, size=(6, 6)).astype(np.float64)
    np.fill_diagonal(costs, 0)
    lines = classes.sensitive["illness"]
    way = bind_earth_mover(lines.domain, written(lines.domain, costs))
    assert isinstance(way, TransportDistance)
    assert way.class_distances(lines, classes.sizes) == pytest.approx(program(costs, classes), rel=0, abs=1e-10)
    assert (way.lower_bounds(lines, classes.sizes) <= way.class_distances(lines, classes.sizes) + 1e-12).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_general_emd_decides_by_bounds_as_it_would_by_programs(seed: int) -> None:
    """Passing and the farthest class do not depend on the order in which programs are solved."""
    classes = classes_of(seed)
    costs = np.random.default_rng(seed).integers(1, 9, size=(6, 6)).astype(np.float64)
    np.fill_diagonal(costs, 0)
    given = written(classes.sensitive["illness"].domain, costs)
    exact = program(costs, classes)
    for t in (0.5, 1.0, 1.5, 2.0):
        model = TCloseness("illness", t=t, distance="emd", costs=given)
        assert model.holds(classes).tolist() == (exact <= t + 1e-9).tolist()
        assert model.achieved(classes)["t"] == pytest.approx(exact.max())


def test_bounds_spare_programs() -> None:
    """A program's potentials show other classes to fail, and equal distributions share one program."""
    values = [["a"] * i + ["b"] for i in range(40, 60)] + [["a", "b"] * i for i in range(1, 9)]
    rows = [(i, value) for i, each in enumerate(values) for value in each] + [(99, v) for v in "bbbcccc" * 99]
    classes = EquivalenceClasses.of([i for i, _ in rows], illness=[value for _, value in rows])
    lines = classes.sensitive["illness"]
    way = TransportDistance(lines.domain, np.array([[0.0, 1, 2], [2, 0, 1], [1, 2, 0]]))
    assert not way.within(lines, classes.sizes, 0.6)[:20].any()
    assert len(way._solved) <= 3
    way.class_distances(lines, classes.sizes)
    assert len(way._solved) == 22


@pytest.mark.parametrize("seed", SEEDS)
def test_general_emd_knows_lines_and_trees(seed: int) -> None:
    """Costs that say so give the ordered, the hierarchical and the equal distance, without a program."""
    classes = classes_of(seed)
    lines = classes.sensitive["illness"]
    domain = lines.domain
    assert domain.ranks is not None
    assert domain.ancestors is not None
    heights = (domain.ancestors[:, None] != domain.ancestors).sum(axis=2) / 2
    tables = {
        "emd-ordered": (np.abs(domain.ranks[:, None] - domain.ranks) / (domain.places - 1), LineDistance),
        "emd-hierarchical": (heights, TreeDistance),
        "emd-equal": (1 - np.eye(6), TreeDistance),
    }
    for name, (costs, kind) in tables.items():
        way = bind_earth_mover(domain, written(domain, costs))
        assert isinstance(way, kind)
        assert way.class_distances(lines, classes.sizes) == pytest.approx(measured(name, classes))


@pytest.mark.parametrize("name", ["variational", "kl", "emd-ordered", "emd-hierarchical"])
def test_points_are_classes_of_one_value(name: str) -> None:
    """No class is farther than the farthest of its values."""
    classes = classes_of(3)
    lines = classes.sensitive["illness"]
    points = bind_distance(name, lines.domain).value_distances()
    assert len(points) == 6
    parts, _ = shares(classes)
    assert (measured(name, classes) <= parts @ points + 1e-12).all()


def test_salaries() -> None:
    """Of nine salaries, the three lowest are 0.375 away and three spread ones 0.167."""
    classes = EquivalenceClasses.of([0, 0, 0, 1, 1, 1, 2, 2, 2], salary=SALARIES)
    model = TCloseness("salary", t=0.167, distance="emd-ordered")
    work = bind_distance("emd-ordered", classes.sensitive["salary"].domain)
    found = work.class_distances(classes.sensitive["salary"], classes.sizes)
    assert found.round(3).tolist()[:2] == [0.375, 0.167]
    assert model.holds(classes).tolist()[:2] == [False, True]
    assert model.achieved(classes)["t"] == pytest.approx(0.375)


def test_half_hiv_is_diverse_but_not_close() -> None:
    """Half HIV has the highest entropy, and says much where one in a hundred has it."""
    classes = EquivalenceClasses.of([0] * 2 + [1] * 98, illness=["HIV"] + ["normal"] * 99)
    assert TCloseness("illness", t=0.1, distance="variational").holds(classes).tolist() == [False, True]


def test_one_place_and_one_value_are_at_no_distance() -> None:
    """A column of one value is never far from itself."""
    classes = EquivalenceClasses.of([0, 1], illness=["flu", "flu"])
    for name in ("variational", "kl", "emd-ordered"):
        assert TCloseness("illness", t=0, distance=name).holds(classes).all()
    assert TCloseness("illness", t=0, distance="emd", costs=Costs({})).doomed(classes).tolist() == [0, 0]


@pytest.mark.parametrize("name", ["emd-ordered", "emd-hierarchical"])
def test_needs_an_order_or_a_hierarchy(name: str) -> None:
    """A column without them is an error that names it."""
    bare = SensitiveDomain(("a",), np.array([1]))
    one = np.array([1])
    classes = EquivalenceClasses(one, {"illness": Histogram(np.array([0]), np.array([0]), one, bare)})
    with pytest.raises(PolicyError, match=r"distance emd-.* needs .*hierarchy.*illness"):
        TCloseness("illness", t=0.1, distance=name).holds(classes)


def test_hint() -> None:
    """The table as one class is at distance 0."""
    assert TCloseness("illness", t=0, distance="kl").hint(EquivalenceClasses.of([0], illness=["a"])) == (
        "t can be as low as 0"
    )


def test_no_classes() -> None:
    """Without classes nothing fails."""
    none = np.array([], dtype=np.int64)
    for name in ("variational", "kl", "emd-ordered", "emd-hierarchical", "emd"):
        domain = classes_of(0).sensitive["illness"].domain
        costs = written(domain, np.arange(36.0).reshape(6, 6)) if name == "emd" else None
        classes = EquivalenceClasses(none, {"illness": Histogram(none, none, none, domain)})
        model = TCloseness("illness", t=0.1, distance=name, costs=costs)
        assert model.holds(classes).tolist() == []
        assert model.doomed(classes).tolist() == []
        assert model.achieved(classes) == {"t": 0.0}
