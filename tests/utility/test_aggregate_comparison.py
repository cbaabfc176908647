"""Means, medians and modes beside their original: all figures where classes are formed again, bounds where not."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.errors import DataError, InputError
from sfumato.utility.aggregate_comparison import AggregateUtility


def _people(rows: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    days = pd.to_datetime("2023-01-01") + pd.to_timedelta(rng.integers(0, 700, rows), unit="D")
    people = pd.DataFrame(
        {"age": pd.array(rng.integers(18, 90, rows), dtype="Int64"), "pay": rng.normal(3000, 500, rows).round(2)}
    )
    people = people.assign(seen=days.strftime("%Y-%m-%d"), town=rng.choice(["Bern", "Thun", "Biel"], rows))
    people = people.assign(zip=rng.choice(["4350", "4351", "4412"], rows), ill=rng.choice(["flu", "cold", "HIV"], rows))
    people.loc[3, "age"] = None
    return people


def _policy(aggregate: str = "mean", **more: Any) -> dict[str, Any]:
    numbers: dict[str, Any] = {"age": {"ranges": True}, "pay": {"ranges": True}, "seen": {"dates": ["month", "year"]}}
    columns = {name: {"role": "quasi", "hierarchy": one, "aggregate": aggregate} for name, one in numbers.items()}
    columns |= {
        "town": {"role": "quasi", "hierarchy": "sets"},
        "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
    }
    return {
        "columns": columns | {"ill": {"role": "sensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 4}],
        "algorithm": {"name": "microaggregation"},
    } | more


def _measure(release: Any, original: Any = None, **settings: Any) -> AggregateUtility:
    found: Any = sf.utility(release, original, **settings)
    assert isinstance(found, AggregateUtility)
    return found


@pytest.mark.parametrize("aggregate", ["mean", "median", "mode"])
def test_classes_are_formed_again(tmp_path: Path, aggregate: str) -> None:
    """From the files and the original come the figures that were measured when the release was made."""
    people = _people()
    people.to_csv(tmp_path / "people.csv", index=False)
    release = sf.anonymize(tmp_path / "people.csv", _policy(aggregate))
    release.save(tmp_path / "out")
    found = _measure(tmp_path / "out", tmp_path / "people.csv")
    assert found.losses == release.utility == _measure(release).losses
    audit = json.loads((tmp_path / "out" / "private" / "audit.json").read_text())
    told = found.as_json()
    assert told["classes_formed_again"] is True
    assert json.loads(json.dumps({name: told[name] for name in audit["utility"]})) == audit["utility"]
    assert "exactly these" in found.display().as_text()
    pay = found.columns["pay"]
    published = pd.read_csv(tmp_path / "out" / "public" / "table.csv")["pay"]
    assert pay.mean == pytest.approx((people["pay"].mean(), published.mean()))
    assert pay.deviation == pytest.approx((people["pay"].std(ddof=0), published.std(ddof=0)))


def test_bounds_hold_where_classes_are_not_known(tmp_path: Path) -> None:
    """Without the classes it is said why, and what the files tell is no more than what is true."""
    people = _people()
    policy = _policy()
    policy["columns"]["pay"]["swap"] = 0.2
    release = sf.anonymize(people, policy)
    truth = release.utility
    release.save(tmp_path / "out")
    found = _measure(tmp_path / "out", people)
    assert found.losses is None
    assert "values of 'pay' were masked at random" in str(found.unknown)
    assert "private/audit.json" in found.display().as_text()
    told = found.as_json()
    assert "ncp" not in told
    assert (told["discernibility"], told["suppressed_rows"]) == (truth.discernibility, truth.suppressed_rows)
    assert told["average_class_size"] == pytest.approx(truth.average_class_size)
    assert found.labelled["zip"].ncp == pytest.approx(truth.attributes["zip"].ncp)
    assert truth.aggregation is not None
    for name in ("seen", "town"):
        true, bound = truth.aggregation.columns[name], found.columns[name]
        assert 0 < bound.changed_at_least <= true.changed + 1e-12
        if true.squared_error is not None:
            assert 0 < float(bound.squared_error_at_least or 0) <= true.squared_error


def test_another_table_is_not_taken_for_the_original(tmp_path: Path) -> None:
    """Classes that do not agree in labels, or in sensitive values alone, are not those of the release."""
    people = _people()
    sf.anonymize(people, _policy()).save(tmp_path / "out")
    for column in ("pay", "ill"):
        other = people.assign(**{column: people[column].to_numpy()[::-1]})
        found = _measure(tmp_path / "out", other)
        assert found.losses is None
        assert "another table" in str(found.unknown)
    with pytest.raises(DataError, match="name the table that this release was made from"):
        _measure(tmp_path / "out", people[:50])
    with pytest.raises(InputError, match=r"means, medians and modes do not tell of 'age'.*leave --queries"):
        _measure(tmp_path / "out", people, queries=10)


def test_means_of_other_algorithms_and_suppressed_rows() -> None:
    """Ranges published as means are measured in the same way, suppressed rows included."""
    people = _people()
    columns = {
        "age": {"role": "quasi", "hierarchy": {"ranges": True}},
        "town": {"role": "quasi", "hierarchy": "suppress"},
    }
    policy = {
        "columns": columns | {"ill": {"role": "sensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 8}],
        "algorithm": {"name": "mondrian", "suppression": 0.05},
        "publish": {"ranges": "means"},
    }
    release = sf.anonymize(people[["age", "town", "ill"]], policy)
    found = _measure(release)
    assert found.losses == release.utility
    assert found.columns["age"].aggregate == "means"
