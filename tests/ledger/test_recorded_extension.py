"""Further rows and the ledger: what is out under the same labels is counted, all else is joined."""

from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import csv

from sfumato.errors import Infeasible, InputError
from sfumato.extend import open_base
from sfumato.ledger import Ledger, make_recorded_extension, make_recorded_release
from sfumato.policy import Policy, load
from sfumato.verifier import verify

pytestmark = pytest.mark.slow

COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "hierarchy": {"intervals": [20, 40]}},
    "town": {"role": "quasi", "hierarchy": "suppress"},
    "illness": {"role": "sensitive"},
}
PRIVACY = [{"model": "k-anonymity", "k": 3}, {"model": "distinct-l-diversity", "column": "illness", "l": 2}]


def rows(path: Path, number: int, seed: int, illnesses: str = "abcd") -> Path:
    """Made-up people in a file."""
    random = Random(seed)
    ages = [str(random.randint(0, 79)) for _ in range(number)]
    towns, ill = ([random.choice(values) for _ in range(number)] for values in ("xy", illnesses))
    csv.write_csv(pa.table({"age": ages, "town": towns, "illness": ill}), path)
    return path


def policy(tmp_path: Path, promise: str = "alone", privacy: Any = None, columns: Any = None) -> Policy:
    """A policy for these people."""
    return load(
        {
            "data": {"source": str(tmp_path / "old.csv")},
            "columns": columns or COLUMNS,
            "privacy": privacy or PRIVACY,
            "algorithm": {"name": "optimal"},
            "apply": {"suppression": 0.9, "promise": promise},
        }
    )


def publish(ledger: Ledger, rules: Policy, folder: Path) -> None:
    """Make a release, write and record it."""
    make_recorded_release(ledger, rules, population=None, name=folder.name).save(folder)


def extend(ledger: Ledger, base: Path, data: Path, folder: Path, **options: Any) -> Any:
    """Add rows to a release, write and record them."""
    made = make_recorded_extension(ledger, open_base(base), data, population=None, name=folder.name, **options)
    made.save(folder)
    return made


@pytest.fixture(autouse=True)
def old(tmp_path: Path) -> Path:
    """The rows of the first release."""
    return rows(tmp_path / "old.csv", 300, 1)


@pytest.mark.parametrize("promise", ["alone", "together"])
def test_siblings_are_counted(ledger: Ledger, tmp_path: Path, promise: str) -> None:
    """Two batches added to one release know of each other through the ledger, which vouches for all from its copies."""
    publish(ledger, policy(tmp_path, promise), tmp_path / "first")
    extend(ledger, tmp_path / "first", rows(tmp_path / "a.csv", 60, 2), tmp_path / "a")
    made = extend(ledger, tmp_path / "first", rows(tmp_path / "b.csv", 60, 3), tmp_path / "b")
    assert len(made.release.publication.extension.releases) == 2
    verdict = verify(tmp_path / "b")
    assert verdict.satisfied
    assert verdict.together is not None
    assert verdict.together.rows == sum(entry.rows for entry in ledger.entries())
    for name in ("first", "a"):
        (tmp_path / name).rename(tmp_path / f"moved-{name}")
    assert ledger.check().sound
    assert verify(tmp_path / "b").together is not None  # the copies of the ledger are where they were


def test_shares_of_three_tables(ledger: Ledger, tmp_path: Path) -> None:
    """Each of two batches keeps a share with the first release, and not both: the ledger counts both."""
    one = {"age": ["1"] * 10, "town": ["x"] * 10}
    csv.write_csv(pa.table({**one, "illness": ["flu"] * 9 + ["HIV"]}), tmp_path / "old.csv")
    privacy = [{"model": "alpha-deassociation", "column": "illness", "alpha": 0.4, "values": ["HIV"]}]
    publish(ledger, policy(tmp_path, "together", privacy), tmp_path / "first")
    batch = pa.table({"age": ["1"] * 4, "town": ["x"] * 4, "illness": ["HIV"] * 4})
    csv.write_csv(batch, tmp_path / "a.csv")
    csv.write_csv(batch.append_column("extra", pa.array(["1"] * 4)).drop(["extra"]), tmp_path / "b.csv")
    extend(ledger, tmp_path / "first", tmp_path / "a.csv", tmp_path / "a")
    (tmp_path / "b.csv").write_text((tmp_path / "b.csv").read_text() + "1,x,HIV\n")
    with pytest.raises(Infeasible, match=r"5 of 5 rows .* would break alpha-deassociation \(alpha = 0.4\) in the rows"):
        extend(ledger, tmp_path / "first", tmp_path / "b.csv", tmp_path / "b")


def test_a_release_that_is_not_recorded_is_added_first(ledger: Ledger, tmp_path: Path) -> None:
    """The ledger says what it does not know, and nothing is left behind."""
    other = Ledger.create(tmp_path / "other")
    publish(other, policy(tmp_path), tmp_path / "first")
    with pytest.raises(InputError, match=r"the ledger has no entry of .*first, which the rows are added to; record it"):
        extend(ledger, tmp_path / "first", rows(tmp_path / "a.csv", 60, 2), tmp_path / "a")
    assert ledger.entries() == ()
    assert not (tmp_path / "a").exists()


def test_other_releases_are_joined(ledger: Ledger, tmp_path: Path) -> None:
    """What is out about the same people under other labels is joined, and a promise that would break refuses."""
    publish(ledger, policy(tmp_path), tmp_path / "first")
    towns = {**COLUMNS, "age": {"role": "identifier"}}
    publish(ledger, policy(tmp_path, privacy=PRIVACY, columns=towns), tmp_path / "second")
    data = rows(tmp_path / "a.csv", 120, 2)
    made = make_recorded_extension(ledger, open_base(tmp_path / "first"), data, population=None, name="a")
    assert [rule.releases for rule in made.release.policy.linkage] == [("second",), ("second",)]
    made.save(tmp_path / "a")
    assert verify(tmp_path / "a").satisfied
    assert ledger.check().sound


def test_other_people_are_of_another_population(ledger: Ledger, tmp_path: Path) -> None:
    """Where the rows are said to be of other people, only what is out under their labels is looked at."""
    publish(ledger, policy(tmp_path), tmp_path / "first")
    publish(ledger, policy(tmp_path, columns={**COLUMNS, "age": {"role": "identifier"}}), tmp_path / "second")
    base, data = open_base(tmp_path / "first"), rows(tmp_path / "a.csv", 120, 2)
    made = make_recorded_extension(ledger, base, data, population="new ones", name="a")
    assert made.release.policy.linkage == ()
    made.save(tmp_path / "a")
    assert [entry.population for entry in ledger.entries()] == ["default", "default", "new ones"]
    lenient = open_base(tmp_path / "first", policy(tmp_path, "together"))
    with pytest.raises(InputError, match="and rows that keep its promise together with it are of the same"):
        make_recorded_extension(ledger, lenient, data, population="new ones", name="b")


def test_rows_that_hold_only_together_are_not_joined_by_themselves(ledger: Ledger, tmp_path: Path) -> None:
    """A later release is not asked to keep what a table never promised of itself, and a warning says so."""
    publish(ledger, policy(tmp_path, "together"), tmp_path / "first")
    extend(ledger, tmp_path / "first", rows(tmp_path / "a.csv", 12, 2), tmp_path / "a")
    assert not ledger.entries()[1].holds_alone
    made = make_recorded_release(ledger, policy(tmp_path), population=None, name="again")
    assert (
        "it has the same rows as release 1, 'first', so that it tells nothing that is not out already" in made.warnings
    )
    rows(tmp_path / "old.csv", 290, 9)
    towns = policy(tmp_path, columns={**COLUMNS, "age": {"role": "identifier"}})
    made = make_recorded_release(ledger, towns, population=None, name="third")
    assert any("release 2, 'a' keeps its promise only together with" in warning for warning in made.warnings)
