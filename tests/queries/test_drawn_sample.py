"""Queries over drawn rows: plain sums, divided by the rows drawn for each, with the error of a sample."""

from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.errors import DataError, InputError
from sfumato.queries import open_release
from tests.conftest import Runs

POLICY: dict[str, Any] = {
    "columns": {
        "age": {"role": "quasi"},
        "sex": {"role": "quasi"},
        "seen": {"role": "quasi"},
        "pay": {"role": "sensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 4}],
    "algorithm": {"name": "condensation", "multiple": 2},
}


def _people(rows: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    age = rng.integers(18, 80, rows)
    pay = pd.Series(1000.0 + 20 * age + rng.normal(0, 200, rows)).round()
    pay[rng.random(rows) < 0.1] = np.nan
    seen = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 500, rows), unit="D")
    return pd.DataFrame({"age": age, "sex": rng.choice(["f", "m"], rows), "seen": seen, "pay": pay})


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two drawn rows for each of four hundred people, some without pay."""
    policy = POLICY | {"publish": {"form": "synthetic", "format": "parquet"}}
    return sf.anonymize(_people(), policy).save(tmp_path_factory.mktemp("drawn") / "release")


def test_sums_and_errors_are_those_of_the_rows(release: Path) -> None:
    """Counts, sums and averages are what pandas makes of the published rows, and errors those of the definition."""
    rows = pd.read_parquet(release / "public" / "synthetic.parquet")
    text = "select sex, count(*) as n, count(pay) as paid, sum(pay) as s, avg(pay) as a where age >= 30 group by sex"
    with open_release(release) as opened:
        answers = opened.query(text)
    assert [answer.group["sex"] for answer in answers] == ["f", "m"]
    for answer in answers:
        met = (rows["age"] >= 30) & (rows["sex"] == answer.group["sex"])
        pay, known = rows["pay"].where(met, 0.0).fillna(0.0).astype(float), (met & rows["pay"].notna()).astype(float)
        ratio = pay.sum() / known.sum()
        figures = {"n": met.astype(float), "paid": known, "s": pay}
        for name, each in figures.items():
            assert answer.values[name].estimate == pytest.approx(each.sum() / 2)
            error = sqrt((each**2).sum() / 2 - each.sum() ** 2 / len(rows) / 2)
            assert answer.values[name].standard_error == pytest.approx(error)
        average, off = answer.values["a"], pay - ratio * known
        assert average.estimate == pytest.approx(ratio)
        assert average.standard_error == pytest.approx(sqrt((off**2).sum() / 2) / (known.sum() / 2))


def test_the_truth_is_within_two_errors(release: Path) -> None:
    """Ranges of age, dates and groups of the original are counted within two standard errors, nine times in ten."""
    people, held = _people(), []
    with open_release(release) as opened:
        for low in range(18, 70, 4):
            true = people[people["age"].between(low, low + 10)]
            values = opened.query(f"select count(*) as n, avg(pay) as a where age between {low} and {low + 10}")[
                0
            ].values
            for one, truth in ((values["n"], len(true)), (values["a"], true["pay"].mean())):
                assert one.estimate is not None
                assert one.standard_error is not None
                held.append(abs(one.estimate - truth) <= 2 * one.standard_error)
        early = opened.query("select count(*) as n where seen < '2024-06-01'")[0].values["n"]
        nobody = opened.query("select count(*) as n, avg(pay) as a where age > 500")[0].values
    assert np.mean(held) >= 0.9
    assert early.estimate == pytest.approx((people["seen"] < "2024-06-01").sum(), abs=2 * (early.standard_error or 0))
    assert (nobody["n"].estimate, nobody["n"].standard_error, nobody["a"].estimate) == (0.0, 0.0, None)


def test_the_command_says_what_its_error_is(release: Path, runs: Runs) -> None:
    """The command answers from drawn rows, and says of which kind ± is; the paper's estimate has nothing to count."""
    shown = runs("query", release, "select count(*) where age > 40").out
    assert "± the standard error of a sample" in shown
    assert "two of them hold the truth" not in shown
    with open_release(release) as opened, pytest.raises(InputError, match="drawn rows have values"):
        opened.query("select count(*)", estimate="paper")


def test_a_changed_multiple_is_refused(release: Path, tmp_path: Path) -> None:
    """A manifest without a proper number of rows for each is not guessed at."""
    for name in ("synthetic.parquet", "manifest.json"):
        (tmp_path / name).write_bytes((release / "public" / name).read_bytes())
    manifest = tmp_path / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"multiple": 2', '"multiple": 0'))
    with pytest.raises(DataError, match="multiple"):
        sf.query(tmp_path, "select count(*)")
