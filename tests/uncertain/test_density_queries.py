"""Queries over densities: against chances that are worked out one by one, and the truth within two standard errors."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, truncnorm

import sfumato as sf
from sfumato.errors import DataError, InputError
from sfumato.queries import open_release


def _people(rows: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    age = rng.integers(18, 90, rows)
    days = pd.to_datetime("2023-01-01") + pd.to_timedelta(rng.integers(0, 700, rows), unit="D")
    return pd.DataFrame({"age": age, "pay": rng.normal(3000, 500, rows), "seen": days, "sex": ["f", "m"] * (rows // 2)})


def _release(folder: Path, frame: pd.DataFrame, k: int = 5, density: str = "gaussian", **columns: Any) -> Path:
    roles = {name: {"role": "plain" if name == "sex" else "quasi"} for name in frame} | columns
    rules = {
        "columns": roles,
        "privacy": [{"model": "expected-anonymity", "k": k}],
        "publish": {"form": "uncertain", "density": density},
    }
    return sf.anonymize(frame, rules).save(folder / "release")


def test_counts_sums_and_averages(tmp_path: Path) -> None:
    """A count is the sum of chances, with whole ages and bounds; a sum and an average are expected values."""
    folder = _release(tmp_path, _people(), age={"role": "quasi", "bounds": [18, 90]})
    table = pd.read_csv(folder / "public" / "uncertain.csv")
    with open_release(folder) as release:
        low, high = ((end - table["age"]) / table["age_spread"] for end in (17.5, 90.5))
        inside = truncnorm(low, high, table["age"], table["age_spread"])
        chances = np.asarray(inside.cdf(40.5)) - np.asarray(inside.cdf(29.5))
        counted = release.query("select count(*) where age between 30 and 40")[0].values["count(*)"]
        assert counted.estimate == pytest.approx(chances.sum(), rel=0.01)
        assert counted.spread == pytest.approx(np.sqrt((chances * (1 - chances)).sum()), rel=0.02)
        assert counted.standard_error is not None
        assert counted.spread is not None
        assert counted.standard_error >= counted.spread
        total = release.query("select sum(pay), avg(pay)")[0].values
        assert total["sum(pay)"].estimate == pytest.approx(table["pay"].sum(), rel=1e-6)
        assert total["avg(pay)"].estimate == pytest.approx(table["pay"].mean(), rel=1e-6)
        by_sex = {
            one.group["sex"]: one.values["count(*)"].estimate
            for one in release.query("select sex, count(*) where pay > 3000 group by sex")
        }
        over = norm.sf((3000 - table["pay"]) / table["pay_spread"])
        assert by_sex["f"] == pytest.approx(over[table["sex"] == "f"].sum(), rel=0.01)
        both = release.query("select count(*) where pay > 3000 and age >= 50")[0].values["count(*)"].estimate
        old = 1 - inside.cdf(49.5)
        assert both == pytest.approx((over * old).sum(), rel=0.02)


def test_boxes_and_dates(tmp_path: Path) -> None:
    """Boxes cover a range by their share of it, and dates compare as ISO texts by the day."""
    folder = _release(tmp_path, _people(), density="uniform")
    table = pd.read_csv(folder / "public" / "uncertain.csv", parse_dates=["seen"])
    off = (3000 - table["pay"]) / table["pay_spread"]
    chance = 1 - np.clip((off + 1) / 2, 0, 1)
    found = sf.query(folder, "select count(*) where pay > 3000")[0].values["count(*)"].estimate
    assert found == pytest.approx(chance.sum(), rel=0.01)
    noon = pd.Timestamp("2023-12-31 12:00")
    day = (noon - table["seen"]).dt.total_seconds() / 86_400
    share = 1 - np.clip((day / table["seen_spread"] + 1) / 2, 0, 1)
    found = sf.query(folder, "select count(*) where seen >= '2024-01-01'")[0].values["count(*)"].estimate
    assert found == pytest.approx(share.sum(), rel=0.01)


def test_what_cannot_be_asked(tmp_path: Path) -> None:
    """Spreads, groups of densities and the paper's estimate are sentences; so is a manifest that was changed."""
    folder = _release(tmp_path, _people())
    for text, words in (
        ("select count(*) where age_spread > 2", "ask of 'age'"),
        ("select age, count(*) group by age", "nothing to group by"),
    ):
        with pytest.raises(InputError, match=words):
            sf.query(folder, text)
    with pytest.raises(InputError, match="choose expected"):
        sf.query(folder, "select count(*)", estimate="paper")
    path = folder / "public" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["columns"][0]["density"] = "square"
    path.write_text(json.dumps(manifest))
    with pytest.raises(DataError, match="does not hold densities"):
        sf.query(folder, "select count(*) where age > 40")


def test_a_lump_that_a_narrow_condition_misses(tmp_path: Path) -> None:
    """Where most hold one value, a condition for that value has an error that holds it, and a sentence says so."""
    frame = _people()
    frame["gain"] = np.where(np.arange(300) % 5 > 0, 0, 100 + 7 * np.arange(300))
    folder = _release(tmp_path, frame[["age", "pay", "gain"]])
    for condition, true in (("gain between 0 and 0", 240), ("gain <= 0", 240), ("gain >= 0", 300)):
        found = sf.query(folder, f"select count(*) as n where {condition}")
        one = found[0].values["n"]
        assert abs(float(one.estimate or 0) - true) <= 2 * float(one.standard_error or 0)
        assert len(found.lumps) == 1
        assert "'gain'" in found.lumps[0]
        assert found.as_json()["lumps"] == list(found.lumps)
    assert not sf.query(folder, "select count(*), avg(gain) where pay > 3000").lumps


def test_records_told_as_they_are_do_not_hide_a_lump(tmp_path: Path) -> None:
    """Where most records are told as they are, the error is still of those that are densities and share the value."""
    frame = pd.DataFrame({"age": [27.0, 32.0, 37.0, 42.0] * 150, "pay": [3000.0] * 400 + [5000.0] * 200})
    frame.loc[400:, "pay"] += 40 * np.arange(200)  # nobody is like them, and they share their ages
    folder = _release(tmp_path, frame)
    one = sf.query(folder, "select count(*) as n where age = 27")[0].values["n"]
    estimate, error = float(one.estimate or 0), float(one.standard_error or 0)
    assert 100 <= estimate < 140  # half of a lump is not seen: without its error, ± is a few
    assert 150 - estimate <= 2 * error < 100
    sure = sf.query(folder, "select count(*) as n where pay <= 3000 and age > 0")[0].values["n"]
    assert float(sure.standard_error or 0) < 30


@pytest.mark.slow
@pytest.mark.parametrize("density", ["gaussian", "uniform"])
@pytest.mark.parametrize("table", ["smooth", "lumps"])
def test_two_standard_errors_hold_the_truth(tmp_path: Path, table: str, density: str) -> None:
    """Of random ranges of a real table most true counts and sums are within two errors, also where values are few."""
    if table == "smooth":
        datasets = pytest.importorskip("sklearn.datasets")
        frame = datasets.load_diabetes(as_frame=True, scaled=False).frame[["age", "bmi", "bp", "s1"]]
    else:
        datasets = pytest.importorskip("statsmodels.api").datasets
        frame = datasets.fair.load_pandas().data[["age", "yrs_married", "educ", "religious"]][:1000]
    rng, held = np.random.default_rng(3), []
    with open_release(_release(tmp_path, frame, density=density)) as release:
        for _ in range(40):
            first, second = rng.choice(list(frame), 2)
            low, high = np.sort(rng.choice(frame[first], 2))
            true = frame[frame[first].between(low, high)]
            if len(true) in range(10, len(frame) - 10):
                found = release.query(
                    f"select count(*) as n, sum({second}) as s where {first} between {low} and {high}"
                )
                for name, figure in (("n", len(true)), ("s", true[second].sum())):
                    one = found[0].values[name]
                    held.append(abs(float(one.estimate or 0) - figure) <= 2 * float(one.standard_error or 0))
    assert np.mean(held) >= (0.85 if table == "smooth" else 0.9)
