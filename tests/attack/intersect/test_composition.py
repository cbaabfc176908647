"""Releases that keep what they promise, and people whom they expose together all the same."""

import json
import shutil
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import sfumato as sf
from sfumato.attack.intersect import intersect
from sfumato.datasets import hospital
from sfumato.datasets.adult import UNUSED_COLUMNS, adult_folder

pytestmark = pytest.mark.slow

Makes = Callable[..., Path]

QUASI = {
    "age": {"role": "quasi", "hierarchy": {"ranges": True, "domain": [0, 119]}},
    "sex": {"role": "quasi", "hierarchy": "suppress"},
    "zip": {"role": "quasi", "hierarchy": {"ranges": True, "domain": [4000, 4999]}},
    "job": {"role": "quasi", "hierarchy": "sets"},
}


def _policy(*, l: int = 2, **tables: Any) -> dict[str, Any]:  # noqa: E741 - the field's own name
    others = {name: {"role": "identifier"} for name in ("patient", "admitted", "nights")}
    return {
        "columns": {**QUASI, **others, "illness": {"role": "sensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 3}, {"model": "distinct-l-diversity", "l": l, "column": "illness"}],
        "algorithm": {"name": "mondrian", "improve": False, "seed": 1},
        **tables,
    }


@pytest.fixture(scope="module")
def makes(tmp_path_factory: pytest.TempPathFactory) -> Makes:
    """Makes releases in a folder of the module."""
    folder, number = tmp_path_factory.mktemp("releases"), count()

    def make(rows: Any, policy: Any) -> Path:
        return sf.anonymize(rows, policy).save(folder / str(next(number)))

    return make


@pytest.fixture(scope="module")
def patients() -> Any:
    """Three thousand patients."""
    return hospital(3000)


@pytest.fixture(scope="module")
def pair(makes: Makes, patients: Any) -> list[Path]:
    """Two releases of two thousand patients, of whom a thousand are in both."""
    return [makes(patients.slice(0, 2000), _policy()), makes(patients.slice(1000, 2000), _policy())]


def test_two_releases_expose_people_whom_none_does(pair: list[Path], patients: Any) -> None:
    """Two independent releases, 3-anonymous and 2-diverse, leave a quarter of their common people one illness."""
    both = patients.slice(1000, 1000)
    found = intersect(pair, both).columns["illness"]
    assert found.persons == 1000
    assert found.alone == (0, 0)
    assert found.contradicted == found.empty == found.apart == 0
    assert found.exposed == found.added == found.right == found.below
    assert found.exposed > 250
    assert found.smallest == 1
    assert sum(found.histogram.values()) == 1000
    assert found.histogram[1] == found.exposed
    assert found.share.largest == 1.0
    assert found.share.average is not None
    assert all(one is not None and one < found.share.average for one in found.share.alone)


def test_a_release_with_itself_adds_nothing(pair: list[Path], patients: Any) -> None:
    """The same release twice leaves what it leaves alone: nobody is exposed, and no class has fewer rows than k."""
    found = intersect([pair[0], pair[0]], patients.slice(0, 2000))
    assert (found.columns["illness"].exposed, found.columns["illness"].smallest) == (0, 2)
    assert found.rows.smallest is not None
    assert found.rows.smallest >= 3
    assert found.rows.below == 0


def test_rows_left_fall_below_k(pair: list[Path], patients: Any) -> None:
    """Of the rows that fit somebody few hold a value that is left: fewer than the k that each release keeps alone."""
    rows = intersect(pair, patients.slice(1000, 1000)).rows
    assert rows.smallest == 1
    assert rows.below is not None
    assert rows.below > 250
    assert rows.alone == (0, 0)


def test_people_who_are_in_one_release_only(pair: list[Path], patients: Any) -> None:
    """Who is not in both fits others' rows or none; their true value is often not left, and is never counted."""
    found = intersect(pair, patients.slice(0, 1000)).columns["illness"]
    assert found.contradicted is not None
    assert found.apart > 200
    assert found.contradicted > 200
    assert found.exposed < found.below
    assert found.exposed == found.right


def test_a_person_who_fits_no_row(pair: list[Path]) -> None:
    """Somebody of an age that no range has is in no release, and stands apart."""
    known = pa.table({"age": ["119", "30"], "sex": ["x", "f"], "job": ["nurse", "nurse"]})
    found = intersect(pair, known)
    assert [one.absent for one in found.releases] == [1, 1]
    figures = found.columns["illness"]
    assert (figures.persons, figures.apart, figures.right, figures.contradicted) == (1, 1, None, None)
    assert found.left["illness"][0] == -1
    assert found.left["illness"][1] > 0


def test_a_true_value_that_no_release_has(pair: list[Path], patients: Any) -> None:
    """A person whose illness nobody in the releases has is told as one whom they do not agree on."""
    changed = patients.slice(1000, 5).drop_columns(["illness"]).append_column("illness", [["plague"] * 5])
    found = intersect(pair, changed).columns["illness"]
    assert (found.contradicted, found.right, found.exposed) == (5, 0, 0)


def test_knowing_fewer_columns_leaves_more(pair: list[Path], patients: Any) -> None:
    """What is left to somebody of whom less is known is never less, person by person."""
    both = patients.slice(1000, 1000)
    everything, less = intersect(pair, both), intersect(pair, both.drop_columns(["zip"]))
    assert (less.left["illness"] >= everything.left["illness"]).all()
    assert less.columns["illness"].exposed < everything.columns["illness"].exposed
    assert less.releases[0].by == ("age", "sex", "job")


def test_three_releases_leave_less_than_two(pair: list[Path], makes: Makes, patients: Any) -> None:
    """Each further release takes away values, and none comes back."""
    both = patients.slice(1000, 1000)
    third = makes(both, _policy(l=3))
    two, three = intersect(pair, both).left["illness"], intersect([*pair, third], both).left["illness"]
    assert (three <= two).all()
    assert (three >= 1).all()
    assert three.sum() < two.sum()


def test_two_tables_together(makes: Makes, patients: Any) -> None:
    """Buckets of three illnesses, drawn twice, leave one illness to people whom each leaves three."""
    columns = {**_policy()["columns"], "age": {"role": "quasi", "hierarchy": "suppress"}}
    columns |= {name: {"role": "quasi", "hierarchy": "suppress"} for name in ("zip", "job")}
    search = [{"name": "anatomy", "seed": seed} for seed in (1, 2)]
    policies = [
        {
            "columns": columns,
            "privacy": [{"model": "distinct-l-diversity", "l": 3, "column": "illness"}],
            "publish": {"form": "anatomy"},
            "algorithm": one,
        }
        for one in search
    ]
    folders = [makes(patients, policy) for policy in policies]
    found = intersect(folders, patients).columns["illness"]
    assert found.alone == (0, 0)
    assert found.exposed == found.right == found.added
    assert found.exposed > 300
    assert found.contradicted == 0
    assert intersect(folders).columns["illness"].exposed > 300
    generalized = makes(patients, _policy(l=3))
    mixed = intersect([folders[0], generalized], patients).columns["illness"]
    assert (mixed.alone, mixed.contradicted) == ((0, 0), 0)
    assert mixed.exposed > 0


def test_the_public_part_is_enough(pair: list[Path], patients: Any, tmp_path: Path) -> None:
    """Without private files the manifest says which columns are quasi-identifiers; all else is as it was."""
    both = patients.slice(1000, 1000)
    bare = [shutil.copytree(folder / "public", tmp_path / folder.name) for folder in pair]
    found = intersect(bare, both)
    assert found.columns == intersect(pair, both).columns
    assert found.releases[0].k == 3


def test_means_are_left_out(makes: Makes, patients: Any) -> None:
    """Means do not tell what they stand for, so that persons are looked up without them, and that is told."""
    policy = _policy(publish={"ranges": "means"})
    pair = [makes(patients.slice(0, 2000), policy), makes(patients.slice(1000, 2000), policy)]
    found = intersect(pair, patients.slice(1000, 1000))
    assert found.releases[0].by == ("sex", "job")
    assert found.columns["illness"].contradicted == 0
    assert sum("was left out" in note for note in found.notes) == 4


@pytest.mark.slow
@pytest.mark.adult
def test_adult(makes: Makes) -> None:
    """Of two releases of Adult, 3-anonymous and 3-diverse, each alone exposes nobody; together they do."""
    folder = adult_folder()
    if folder is None:
        pytest.skip("the Adult rows are not at hand; set SFUMATO_ADULT to their folder")
    quasi = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country", "salary-class")
    columns: dict[str, Any] = {
        one: {"role": "quasi", "hierarchy": str(folder / "hierarchies" / f"{one}.csv")} for one in quasi
    }
    columns["age"]["hierarchy"] = {"intervals": [5, 10, 20], "domain": [17, 90]}
    columns |= {one: {"role": "identifier"} for one in UNUSED_COLUMNS} | {"occupation": {"role": "sensitive"}}
    privacy = [{"model": "k-anonymity", "k": 3}, {"model": "distinct-l-diversity", "l": 3, "column": "occupation"}]
    searches = [{"name": name, "improve": False, "seed": 1} for name in ("top-down", "mondrian")]
    data = {"null": ["?"]}
    pair = [
        makes(folder / "adult.csv", {"data": data, "columns": columns, "privacy": privacy, "algorithm": one})
        for one in searches
    ]
    found = intersect(pair, folder / "adult.csv").columns["occupation"]
    assert (found.persons, found.alone, found.contradicted) == (45222, (0, 0), 0)
    assert found.exposed == found.right == found.added
    assert found.exposed > 300


def test_nothing_of_single_persons_is_printed(pair: list[Path], patients: Any) -> None:
    """What goes to JSON are counts: it holds no line per person."""
    found = intersect(pair, patients.slice(1000, 1000))
    text = json.dumps(found.as_json())
    names = pc.cast(patients.column("patient"), pa.string()).to_pylist()
    assert not any(name in text for name in names[1000:1100])
    assert "left" not in found.as_json()
