"""What the attack believes, against running the algorithm on every table that there could have been."""

from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from sfumato.attack.minimality import THOROUGH, MinimalityEffort, minimality

from .conftest import Beliefs, Made, counted, dealt, made, same

SUPPRESS = {"role": "quasi", "hierarchy": "suppress"}
MASK = {"role": "quasi", "hierarchy": {"mask": "right"}}
HIV = {"model": "alpha-deassociation", "column": "illness", "alpha": 0.5, "values": ["HIV"]}
ANY = {"model": "alpha-deassociation", "column": "illness", "alpha": 0.6}
DISTINCT = {"model": "distinct-l-diversity", "column": "illness", "l": 2}
ENTROPY = {"model": "entropy-l-diversity", "column": "illness", "l": 1.8}
CLOSE = {"model": "t-closeness", "column": "illness", "t": 0.3, "distance": "variational"}
REFINED = {"model": "alpha-deassociation", "column": "illness", "alpha": 0.4, "refined": True}


def _paper(**search: Any) -> Made:
    """The example of Wong, Fu, Wang and Pei: two people of q1 and five of q2, and both HIV are of q1."""
    rows = {"q": ["q1"] * 2 + ["q2"] * 5, "illness": ["HIV", "HIV", "flu", "flu", "flu", "flu", "flu"]}
    return made(rows, {"q": SUPPRESS}, HIV, **search)


def _again(one: Made) -> Beliefs:
    """The posterior of somebody who runs the algorithm on every table with the published bags."""
    worlds = [world for world in dealt(one) if one.again(world).shown == one.shown]
    return counted(worlds, one.encoded.rows)


def _random(seed: int, model: dict[str, Any], **search: Any) -> Made:
    draw = np.random.default_rng(seed)
    table = {
        "zip": draw.choice(["10", "11", "20", "21"], 6).tolist(),
        "sex": draw.choice(["f", "m"], 6).tolist(),
        "illness": draw.permutation(["HIV", "HIV", "flu", "flu", "flu", "cold"]).tolist(),
    }
    return made(table, {"zip": MASK, "sex": {**SUPPRESS, "weight": 3}}, model, **search)


@pytest.mark.parametrize("name", ["optimal", "samarati", "incognito", "mondrian", "tds"])
def test_the_papers_example(name: str) -> None:
    """Both HIV can only be of the two people of q1: else the table would have been published as it was."""
    one = _paper(name=name)
    expected: Beliefs = [{"HIV": 1.0} if row < 2 else {"flu": 1.0} for row in range(7)]
    assert same(one.believed(), expected)
    found = minimality(one.encoded, one.recoding, one.policy).columns["illness"]
    assert (found.bound, found.largest_posterior) == (0.5, 1.0)
    assert found.largest_share == pytest.approx(2 / 7)
    assert (found.beyond_bound.rows, found.beyond_bound.right) == (2, 1.0)
    assert (found.blind, found.bag) == pytest.approx((5 / 7, 5 / 7))
    assert found.attack == 1.0


@pytest.mark.parametrize("name", ["optimal", "samarati", "incognito"])
@pytest.mark.parametrize(
    ("model", "seed"),
    [(HIV, 0), (HIV, 2), (ANY, 15), (DISTINCT, 8), (DISTINCT, 15), (ENTROPY, 24), (CLOSE, 11), (REFINED, 9)],
)
def test_all_nodes_are_the_algorithm_itself(name: str, model: dict[str, Any], seed: int) -> None:
    """On small tables the posterior is that of running the algorithm on every table that could have been."""
    one = _random(seed, model, name=name)
    found = minimality(one.encoded, one.recoding, one.policy)
    assert (found.basis, found.looked.misled) == ("all nodes", 0)
    assert found.looked.telling
    assert same(one.believed(), _again(one))


def test_classes_that_stand_and_fall_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one column, worlds of classes weighed by what may fail elsewhere give what worlds of the table give."""
    illness = ["HIV", "HIV", "flu", "flu", "flu", "flu", "HIV", "flu", "HIV", "flu", "flu", "flu"]
    rows = {"zip": ["10"] * 2 + ["11"] * 4 + ["20"] * 2 + ["21"] * 4, "illness": illness}
    one = made(rows, {"zip": MASK}, HIV, name="optimal")
    whole = one.believed()
    assert same(whole, _again(one))
    monkeypatch.setattr("sfumato.attack.minimality.possible_worlds.MAX_TABLE_WORLDS", 0)
    found = minimality(one.encoded, one.recoding, one.policy)
    assert (found.basis, found.looked.classes) == ("node", 2)
    assert same(one.believed(), whole)
    assert max(belief.get("HIV", 0.0) for belief in whole) > 0.5


@pytest.mark.parametrize(("seed", "k"), [(28, 1), (32, 2), (43, 2), (50, 1)])
def test_classes_of_a_local_algorithm(seed: int, k: int) -> None:
    """Each class by itself: the worlds in which no column could be parted one level lower, counted by hand."""
    draw = np.random.default_rng(seed)
    rows = {
        "zip": draw.choice(["100", "101", "110", "200", "211"], 14).tolist(),
        "sex": draw.choice(["f", "m"], 14).tolist(),
        "illness": draw.permutation(["HIV"] * 5 + ["flu"] * 6 + ["cold"] * 3).tolist(),
    }
    k_anonymity = {"model": "k-anonymity", "k": k}
    one = made(rows, {"zip": MASK, "sex": SUPPRESS}, [HIV, k_anonymity], name="mondrian", improve=False)
    owner = one.recoding.class_of.tolist()
    expected: Beliefs = [{} for _ in owner]
    for each in set(owner):
        members = [row for row, there in enumerate(owner) if there == each]
        fits = [world for world in dealt(one, only=each) if _tight(rows, members, world, k)]
        for row in members:
            expected[row] = counted(fits, len(owner))[row]
    assert same(one.believed(), expected)
    assert minimality(one.encoded, one.recoding, one.policy).looked.telling


def _tight(rows: Any, members: list[int], world: list[str | None], k: int) -> bool:
    """Whether each column that parts a class has a part that fails."""
    zips = [rows["zip"][row] for row in members]
    depth = next((i for i in range(3) if len({one[: i + 1] for one in zips}) > 1), 3)
    labels = [{row: rows["zip"][row][: depth + 1] for row in members}, {row: rows["sex"][row] for row in members}]
    return all(_fails(label, world, k) for label in labels if len(set(label.values())) > 1)


def _fails(label: dict[int, str], world: list[str | None], k: int) -> bool:
    parts = defaultdict(list)
    for row, text in label.items():
        parts[text].append(world[row])
    return any(len(part) < k or 2 * part.count("HIV") > len(part) for part in parts.values())


def test_suppressed_rows() -> None:
    """Where rows may go, what is finer failed or cost more: as often as running the algorithm says, as samples go."""
    rows = {"q": ["a"] * 3 + ["b"] * 6 + ["c"], "illness": ["HIV", "HIV"] + ["flu"] * 8}
    one = made(rows, {"q": SUPPRESS}, HIV, name="optimal", suppression=0.1)
    assert minimality(one.encoded, one.recoding, one.policy).basis == "nodes below"
    expected = _again(one)
    assert same(one.believed(MinimalityEffort(worlds=5000)), expected, 0.05)
    assert expected[0]["HIV"] > 0.6


def test_a_sample_comes_close(monkeypatch: pytest.MonkeyPatch) -> None:
    """Worlds that are drawn give what all of them give, nearly, and no more is vouched for than is true."""
    rows = {"q": ["a"] * 4 + ["b"] * 9, "illness": ["HIV"] * 3 + ["flu"] + ["HIV"] + ["flu"] * 8}
    one = made(rows, {"q": SUPPRESS}, HIV, name="mondrian", improve=False)
    exact = one.believed()
    true = minimality(one.encoded, one.recoding, one.policy, effort=THOROUGH).columns["illness"]
    monkeypatch.setattr("sfumato.attack.minimality.possible_worlds.MAX_CLASS_WORLDS", 0)
    sample = minimality(one.encoded, one.recoding, one.policy, effort=MinimalityEffort(worlds=4000))
    assert sample.looked.drawn == 1
    assert same(one.believed(MinimalityEffort(worlds=4000)), exact, 0.04)
    assert 0.5 < sample.columns["illness"].largest_posterior <= true.largest_posterior
    assert sample.columns["illness"].beyond_bound.rows == true.beyond_bound.rows == 4
