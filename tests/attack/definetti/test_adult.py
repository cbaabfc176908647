"""The real Adult rows: what the guide says of them."""

from pathlib import Path
from typing import Any

import pytest

from sfumato.attack.bound import bounds
from sfumato.attack.definetti import QUICK, DefinettiFigures, Original, definetti
from sfumato.datasets.adult import UNUSED_COLUMNS, adult_folder
from sfumato.encode import encode
from sfumato.policy import load
from sfumato.recode import recode
from sfumato.split import anatomy, lossy_join, tables_from_recoding
from sfumato.table import read_table

pytestmark = pytest.mark.adult

QUASI = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country", "salary-class")


@pytest.fixture(scope="module")
def rows() -> Path:
    """The folder with the table and its hierarchies."""
    folder = adult_folder()
    if folder is None:
        pytest.skip("the Adult rows are not at hand; set SFUMATO_ADULT to their folder")
    return folder


def _found(folder: Path, form: str, model: dict[str, Any], name: str) -> DefinettiFigures:
    columns: dict[str, Any] = {
        one: {"role": "quasi", "hierarchy": str(folder / "hierarchies" / f"{one}.csv")} for one in QUASI
    }
    columns["age"]["hierarchy"] = {"intervals": [5, 10, 20], "domain": [17, 90]}
    columns |= {one: {"role": "identifier"} for one in UNUSED_COLUMNS} | {"occupation": {"role": "sensitive"}}
    search = {"name": name, "seed": 1} | ({} if form == "anatomy" else {"improve": False})
    tables = {"columns": columns, "privacy": [{"column": "occupation", **model}], "publish": {"form": form}}
    policy = load({**tables, "algorithm": search})
    encoded = encode(read_table(folder / "adult.csv", policy), policy)
    recoding = anatomy(encoded, policy) if form == "anatomy" else lossy_join(encoded, recode(encoded, policy))
    split = tables_from_recoding(encoded, recoding)
    found = definetti(split, Original.of_encoded(encoded), bounds(policy, split), effort=QUICK)
    return found.columns["occupation"]


@pytest.mark.slow
def test_buckets_give_more_away_than_classes_of_people_who_are_alike(rows: Path) -> None:
    """Anatomy's buckets are guessed far above 1/l and above people outside; classes of a lossy join hardly so."""
    buckets = _found(rows, "anatomy", {"model": "distinct-l-diversity", "l": 3}, "anatomy")
    model = {"model": "alpha-k-anonymity", "k": 2, "alpha": 0.33}
    alike = _found(rows, "lossy-join", model, "top-down")
    assert buckets.bound == pytest.approx(1 / 3)
    assert buckets.outside is not None
    assert buckets.attack > 0.4 > buckets.outside
    assert alike.bound == 0.33
    assert alike.outside is not None
    assert 0.3 < alike.attack < 0.37
    assert alike.attack - alike.outside < buckets.attack - buckets.outside
