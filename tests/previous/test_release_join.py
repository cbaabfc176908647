"""Earlier releases are joined by what their labels have in common, and that is what comparing all of them finds."""

from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.encode import encode
from sfumato.policy import load
from sfumato.previous import join_history, link_releases
from sfumato.previous.release_join import GroupMatches
from sfumato.previous.taxonomy import Taxonomy
from sfumato.previous.xy_counts import AlikeCombinations, number_sets
from sfumato.table import from_frame


@pytest.mark.parametrize("seed", range(12))
def test_all_combinations_that_match_are_found(seed: int, tmp_path: Path) -> None:
    """Three releases with labels of all levels: the combinations are those that comparing all groups finds."""
    random = Random(seed)
    columns = {
        "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
        "sex": {"role": "quasi", "hierarchy": "suppress"},
        "job": {"role": "plain"},
    }
    labels = {"zip": ["11", "12", "21", "1*", "2*", "*"], "sex": ["f", "m", "*"], "job": ["a", "b"]}
    previous: list[dict[str, Any]] = []
    for number, shared in enumerate((("zip", "sex"), ("zip", "job"), ("sex", "zip", "job"))):
        lines = [",".join(random.choice(labels[name]) for name in shared) for _ in range(random.randint(1, 12))]
        (tmp_path / f"{number}.csv").write_text("\n".join([",".join(shared), *lines]) + "\n")
        previous.append({"name": f"p{number}", "table": str(tmp_path / f"{number}.csv")})
    if seed % 2:
        previous[2]["inconsistent"] = [["p0.sex=f", "p2.zip=21"]]
    x = ["zip", "sex", "job", "p0.zip", "p0.sex", "p1.zip", "p1.job", "p2.zip", "p2.sex", "p2.job"]
    rule = {"model": "xy-anonymity", "x": x, "y": ["$row"], "k": 1}
    policy = load({"columns": columns, "previous": previous, "privacy": [rule]})
    frame = pa.table({"zip": ["11", "12", "21"], "sex": ["f", "m", "f"], "job": ["a", "b", "b"]})
    linked = link_releases(encode(from_frame(frame, policy), policy), policy)
    history = join_history(linked)
    expected = []
    for combination in product(*(range(groups.groups) for groups in history.record_groups)):
        groups = history.record_groups
        consistent = all(
            linked.taxonomies[name].consistent(
                groups[i].labels[name][[combination[i]]], groups[j].labels[name][[combination[j]]]
            )[0]
            for j in range(3)
            for i in range(j)
            for name in groups[i].labels.keys() & groups[j].labels.keys()
        )
        zips, sexes = linked.taxonomies["zip"], linked.taxonomies["sex"]
        forbidden = (
            seed % 2
            and sexes.is_below(groups[0].labels["sex"][[combination[0]]], "f")[0]
            and zips.is_below(groups[2].labels["zip"][[combination[2]]], "21")[0]
        )
        if consistent and not forbidden:
            expected.append(combination)
    assert sorted(zip(*(each.tolist() for each in history.combinations), strict=True)) == expected


def test_paths_that_are_not_nested_are_known() -> None:
    """Where a label has another path by itself than on the path of a label below it, ancestors do not tell."""
    assert Taxonomy.from_paths([("a", "b", "*"), ("c", "b", "*")]).nested
    assert not Taxonomy.from_paths([("b", "x", "*"), ("a", "b", "*")]).nested


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=20))
def test_sets_have_one_number_where_they_are_equal(pairs: list[tuple[int, int]]) -> None:
    """Two owners have one number where they have the same members, and numbers are without gaps."""
    known = sorted(set(pairs))
    owner, member = (np.array([pair[i] for pair in known], dtype=np.int64) for i in range(2))
    number, sets = number_sets(owner, member, 6)
    members = [frozenset(value for whose, value in known if whose == each) for each in range(6)]
    assert all((number[i] == number[j]) == (members[i] == members[j]) for i in range(6) for j in range(6))
    assert sorted(set(number.tolist())) == list(range(sets))


def test_sums_of_hashes_alone_decide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where hashes tell nothing apart, members still do."""
    monkeypatch.setattr(
        "sfumato.previous.xy_counts.mix_bits", lambda numbers, _: np.ones(len(numbers), dtype=np.uint64)
    )
    number, _ = number_sets(np.array([0, 0, 1, 1, 2]), np.array([1, 2, 1, 3, 1]), 3)
    assert len(set(number.tolist())) == 3


def test_combinations_of_a_kind_match_the_same_groups() -> None:
    """Of four combinations, two match both groups; one matches none, and has no kind."""
    matches = GroupMatches.from_pairs(np.array([0, 0, 1, 1, 1]), np.array([0, 2, 0, 1, 2]), 2)
    alike = AlikeCombinations.from_matches(matches, 4)
    assert alike.kinds == 2
    assert alike.kind[0] == alike.kind[2] != alike.kind[1]
    assert alike.kind[3] == -1
    assert alike.incidence(2).toarray().sum() == 3
