"""Both attacks on a release in memory, as the report has them: what the commands find on its files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sfumato.attack.known import SearchEffort, known, known_in_memory
from sfumato.attack.link import link, link_in_memory
from sfumato.datasets import hospital, hospital_policy
from sfumato.policy import Policy, load
from sfumato.reading.release_view import ReleaseView, view_recoding
from sfumato.release import Release, prepare

Rules = Callable[..., dict[str, Any]]

PEOPLE = 300


def view(release: Release) -> ReleaseView:
    """What the attacks see of a release in memory."""
    return view_recoding(release.encoded, release.recoding, release.policy)


def _policy(form: str) -> Policy:
    policy = load(hospital_policy())
    search: dict[str, Any] = {"algorithm": {"name": "mondrian"}}
    if form == "anatomy":
        privacy = [{"model": "distinct-l-diversity", "column": "illness", "l": 2}]
        search = {"algorithm": {"name": "anatomy"}, "publish": {"form": "anatomy"}, "privacy": privacy}
    return Policy.read(dict(policy.document) | search, folder=policy.folder)


@pytest.mark.parametrize("form", ["generalized", "anatomy"])
def test_link(form: str, tmp_path: Path) -> None:
    """All persons of the original looked up in memory: the figures of the command for persons known to be in it."""
    rows = hospital(PEOPLE)
    release = prepare(rows, _policy(form))
    folder = release.save(tmp_path / "release")
    quasi = list(release.encoded.names)
    inside = link_in_memory(release.encoded, release.recoding, view(release))
    outside = link(folder, rows, quasi)
    assert inside.in_release.average == pytest.approx(outside.in_release.average)
    assert inside.in_release.highest == outside.in_release.highest
    assert inside.columns.keys() == outside.columns.keys()
    for name, one in inside.columns.items():
        assert one.right == pytest.approx(outside.columns[name].right)
        assert one.in_release.certain == outside.columns[name].in_release.certain
    assert inside.results()[0].bound == outside.bound
    assert inside.everybody is None
    assert len(inside.results()) == 1 + len(inside.columns)


@pytest.mark.parametrize("form", ["generalized", "anatomy"])
def test_known(form: str, tmp_path: Path) -> None:
    """The same of known values, with the effort that the command takes."""
    rows = hospital(PEOPLE)
    release = prepare(rows, _policy(form))
    folder, effort = release.save(tmp_path / "release"), SearchEffort(targets=PEOPLE)
    inside = known_in_memory(release.encoded, release.recoding, view(release), effort=effort)
    outside = known(folder, rows, effort=effort)
    assert [one.label for one in inside.series] == [one.label for one in outside.series]
    for one, other in zip(inside.series, outside.series, strict=True):
        assert set(one.columns) == set(other.columns)
        pairs = list(zip(one.points, other.points, strict=True))
        assert [left.chance for left, _ in pairs] == pytest.approx([right.chance for _, right in pairs])
        assert [left.only for left, _ in pairs] == pytest.approx([right.only for _, right in pairs])
    quick = known_in_memory(release.encoded, release.recoding, view(release))
    assert quick.targets == 100
    assert quick.chart().count('class="line"') >= 2
    assert [one.success for one in quick.results()] == [one.points[-1].chance for one in quick.series]


def test_means(rules: Rules) -> None:
    """Means do not tell what they stand for: nothing is looked up by them, and that is said."""
    table = pa.table({"height": [str(100 + row) for row in range(12)], "illness": ["flu", "cold"] * 6})
    columns = {"height": {"role": "quasi", "hierarchy": {"ranges": True}}, "illness": "sensitive"}
    document = rules(columns, k=3, algorithm={"name": "mondrian"}, publish={"ranges": "means"})
    release = prepare(table, load(document))
    found = link_in_memory(release.encoded, release.recoding, view(release))
    assert found.in_release.average == found.in_release.baseline == 1 / 12
    assert any("was left out" in note for note in found.notes)
    by_values = known_in_memory(release.encoded, release.recoding, view(release))
    assert [one.columns for one in by_values.series] == [("illness",)]
    assert any("height" in note for note in by_values.notes)


def test_persons_who_were_left_out_are_not_looked_up(rules: Rules) -> None:
    """Whoever was suppressed is not in the release: everybody who is looked up matches something."""
    table = pa.table({"sex": ["f"] * 5 + ["m"] * 2, "illness": ["flu", "cold", "flu", "cold", "flu", "HIV", "flu"]})
    policy = rules(
        {"sex": "quasi", "illness": "sensitive"},
        k=3,
        suppression=0.4,
        algorithm={"name": "optimal", "suppression": 0.4},
    )
    release = prepare(table, load(policy))
    found = link_in_memory(release.encoded, release.recoding, view(release))
    assert found.people == found.matched_people == release.rows


def test_few_lines_and_many_are_counted_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether bags are opened line by line or multiplied as sparse matrices, the figures are the same."""
    release = prepare(hospital(300), hospital_policy())
    found = link_in_memory(release.encoded, release.recoding, view(release))
    monkeypatch.setattr("sfumato.attack.record_linkage._FEW", -1)
    again = link_in_memory(release.encoded, release.recoding, view(release))
    assert found.as_json() == again.as_json()
