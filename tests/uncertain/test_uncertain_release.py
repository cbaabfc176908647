"""A release of densities as a user meets it: folder, verifier, tampering, strata, missing values, messages."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from scipy.special import ndtr

import sfumato as sf
from sfumato.datasets import adult_folder
from sfumato.errors import DataError, Infeasible, InputError, NotVerified, PolicyError
from sfumato.uncertain.record_densities import count_expected
from sfumato.verifier.uncertain_rows import expected_fits

Runs = Callable[..., Any]

POLICY = """
[data]
source = "people.csv"
[columns]
name = { role = "identifier" }
age = { role = "quasi", bounds = [0, 120] }
pay = { role = "quasi", atoms = [0] }
seen = { role = "quasi" }
sex = { role = "quasi" }
illness = { role = "sensitive" }
[[privacy]]
model = "expected-anonymity"
k = 4
[algorithm]
strata = ["sex"]
[publish]
form = "uncertain"
title = "Blurred people"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a policy and a table of two hundred people."""
    rng = np.random.default_rng(5)
    lines = ["name,age,pay,seen,sex,illness"]
    for row in range(200):
        pay = 0 if row % 3 == 0 else round(float(rng.lognormal(8, 0.5)), 2)
        age = "" if row % 8 == 0 else rng.integers(18, 90)
        day = f"2024-{rng.integers(1, 13):02}-{rng.integers(1, 29):02}"
        lines.append(f"Secret{row},{age},{pay},{day},{'fm'[row % 2]},{rng.choice(['flu', 'cold'])}")
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "policy.toml").write_text(POLICY)
    return tmp_path


@pytest.fixture
def release(folder: Path, runs: Runs) -> Path:
    """The release that the command makes of them."""
    done = runs("anonymize", str(folder / "policy.toml"), "--out", str(folder / "release"), "--json")
    assert done.code == 0, done.err
    return folder / "release"


def test_the_folder(release: Path) -> None:
    """Public are densities, manifest and summary; private the account, the true values and the report."""
    assert {path.name for path in (release / "public").iterdir()} == {"manifest.json", "summary.html", "uncertain.csv"}
    assert {path.name for path in (release / "private").iterdir()} == {
        "audit.json",
        "report.html",
        "true_values.parquet",
    }
    assert all(path.stat().st_mode & 0o077 == 0 for path in (release / "private").iterdir())
    page = (release / "public" / "summary.html").read_text()
    assert "without these nobody can check it" in page
    assert "centres are counted" in page
    assert "sfumato verify does it again" not in page
    assert "Blurred people" in page
    assert "expected-anonymity" in page
    assert "k-anonymity</h3>" not in page
    for path in release.rglob("*"):
        assert path.is_dir() or b"Secret" not in path.read_bytes()


def test_what_is_published(release: Path) -> None:
    """Centres and spreads beside each other, dates as moments with spreads in days, the rest as it was."""
    table = pd.read_csv(release / "public" / "uncertain.csv")
    assert list(table) == ["age", "age_spread", "pay", "pay_spread", "seen", "seen_spread", "sex", "illness"]
    assert table["age"].isna().sum() == table["age_spread"].isna().sum() == 25
    atoms = table["pay_spread"] == 0
    assert atoms.sum() == 67
    assert (table.loc[atoms, "pay"] == 0).all()
    assert table["seen"].str.match(r"2\d{3}-\d\d-\d\d \d\d:").all()
    manifest = json.loads((release / "public" / "manifest.json").read_text())
    assert manifest["promise"] == [{"model": "expected-anonymity", "k": 4}]
    assert "not k-anonymity" in manifest["protects"]
    entry = next(one for one in manifest["columns"] if one["name"] == "pay")
    assert (entry["density"], entry["spread"], entry["exact"]) == ("gaussian", "pay_spread", [0.0])
    # one spread serves all columns of a record: multiples of the stated scales
    scale = {one["name"]: one["scale"] for one in manifest["columns"] if "scale" in one}
    whole = table[~atoms].dropna()
    assert np.allclose(whole["age_spread"] / scale["age"], whole["pay_spread"] / scale["pay"], rtol=1e-5)


def test_expected_anonymity_by_brute_force(release: Path) -> None:
    """From true values and published spreads alone, each record of each stratum has k."""
    table = pd.read_csv(release / "public" / "uncertain.csv")
    truth = pq.read_table(release / "private" / "true_values.parquet").to_pandas()
    spreads = table[["age_spread", "pay_spread", "seen_spread"]].to_numpy() * [1, 1, 86_400e6]
    for row in range(len(table)):
        same = (table["sex"] == table["sex"][row]).to_numpy(copy=True)
        chance = np.ones(len(table))
        squares = np.zeros(len(table))
        for place, spread in enumerate(spreads[row]):
            values = truth[f"v{place}"].to_numpy()
            if np.isnan(spread):
                same &= np.isnan(values)
            elif spread == 0:
                same &= values == values[row]
            else:
                same &= ~np.isnan(values) & ((values != 0) | (place != 1))
                squares += np.nan_to_num((values - values[row]) / spread) ** 2
        chance = np.where(squares > 0, ndtr(-np.sqrt(squares) / 2), 1.0)
        assert chance[same].sum() >= 4


def test_json_and_words(folder: Path, runs: Runs) -> None:
    """The keys of the contract with linkage and spreads; people read a table."""
    done = runs("anonymize", str(folder / "policy.toml"), "--out", str(folder / "other"), "--json")
    found = json.loads(done.out)
    assert (found["form"], found["density"], found["rows"], found["suppressed"]) == ("uncertain", "gaussian", 200, 0)
    assert found["privacy"][0]["achieved"]["k"] == 4  # and not the digits of a sum over true records
    linkage = found["risk"]["density_linkage"]
    assert 0 <= linkage["linked"] <= linkage["informed"] <= 1
    assert linkage["rank"] > 2
    assert found["utility"]["range_counts"]["asked"] == 100
    done = runs("anonymize", str(folder / "policy.toml"), "--out", str(folder / "more"))
    assert "records as gaussian densities" in done.out
    assert "matched with the own record" in done.out


def test_verify_needs_the_truth(release: Path, folder: Path, runs: Runs) -> None:
    """The folder verifies, its public part alone does not, a higher k fails, and k-anonymity cannot be checked."""
    assert runs("verify", str(release)).code == 0
    shutil.copytree(release / "public", folder / "alone" / "public")
    assert "name the whole folder" in runs("verify", str(folder / "alone")).sentence
    (folder / "more.toml").write_text(POLICY.replace("k = 4", "k = 20"))
    assert runs("verify", str(release), "--policy", str(folder / "more.toml")).code == 1


def _tamper(release: Path, change: Callable[[pd.DataFrame, pd.DataFrame], None]) -> list[str]:
    """Change the published table, with its hashes in both accounts, and tell what the verifier finds."""
    whole = {path: path.read_bytes() for path in release.rglob("*") if path.is_file()}
    path = release / "public" / "uncertain.csv"
    table = pd.read_csv(path)
    change(table, pq.read_table(release / "private" / "true_values.parquet").to_pandas())
    table.to_csv(path, index=False, lineterminator="\n")
    manifest = json.loads((release / "public" / "manifest.json").read_text())
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    manifest["files"]["uncertain.csv"] = {"sha256": digest, "bytes": path.stat().st_size}
    (release / "public" / "manifest.json").write_text(json.dumps(manifest))
    audit = json.loads((release / "private" / "audit.json").read_text())
    audit["manifest_sha256"] = hashlib.sha256((release / "public" / "manifest.json").read_bytes()).hexdigest()
    (release / "private" / "audit.json").write_text(json.dumps(audit))
    found = sf.verify(release)
    for file, content in whole.items():
        file.write_bytes(content)
    assert found.satisfied is False or found.complaints
    return list(found.complaints)


def test_changed_densities_are_found_out(release: Path) -> None:
    """Halved spreads, centres at the truth, beside it or in too narrow a circle, other scales and values are named."""
    assert sf.verify(release).satisfied

    def halve(table: pd.DataFrame, _: pd.DataFrame) -> None:
        for name in ("age_spread", "pay_spread", "seen_spread"):
            table[name] /= 2

    def at_truth(table: pd.DataFrame, truth: pd.DataFrame) -> None:
        row = table[table["pay_spread"] > 0].dropna().index[0]
        for place, name in enumerate(("age", "pay")):
            table.loc[row, name] = truth.loc[row, f"v{place}"]
        table.loc[row, "seen"] = str(pd.Timestamp(truth.loc[row, "v2"] * 1000))

    def nearer(table: pd.DataFrame, truth: pd.DataFrame) -> None:
        table["age"] = (table["age"] + 3 * truth["v0"]) / 4

    def beside(table: pd.DataFrame, _: pd.DataFrame) -> None:
        table["age"] += table["age_spread"]

    def one_column(table: pd.DataFrame, _: pd.DataFrame) -> None:
        table.loc[table["age_spread"] > 0, "age_spread"] *= 1.5

    def atom(table: pd.DataFrame, _: pd.DataFrame) -> None:
        table.loc[table["pay_spread"] == 0, "pay_spread"] = 5.0

    def missing(table: pd.DataFrame, _: pd.DataFrame) -> None:
        table.loc[table["age"].isna(), ["age", "age_spread"]] = 44.0

    faults: dict[Callable[..., None], str] = {
        halve: "expected anonymity below 4",
        at_truth: "at the truth",
        nearer: "not drawn from densities",
        beside: "not drawn from densities",
        one_column: "not the same multiple",
        atom: "told as they are",
        missing: "where none belongs",
    }
    for change, words in faults.items():
        assert any(words in complaint for complaint in _tamper(release, change)), words
    assert sf.verify(release).satisfied


def test_true_values_are_those_of_the_original(folder: Path) -> None:
    """When a release is made, evidence or plain values that are not those of the original are refused."""
    from sfumato.release.uncertain_release import verify_densities

    made: Any = sf.anonymize(None, folder / "policy.toml")
    order = made.publication.order
    order[[0, 1]] = order[[1, 0]]  # evidence follows, what is published does not
    with pytest.raises(NotVerified):
        verify_densities(made.publication)


def test_manifests_of_no_proper_form_are_sentences(release: Path) -> None:
    """A manifest that says nonsense of densities is refused in a sentence."""
    path = release / "public" / "manifest.json"
    good = path.read_text()
    for key, value in (("density", "square"), ("strata", ["other"]), ("strata", "sex")):
        path.write_text(json.dumps(json.loads(good) | {key: value}))
        with pytest.raises(NotVerified, match="what densities"):
            sf.verify(release)
    manifest = json.loads(good)
    manifest["columns"][0]["scale"] = "wide"
    path.write_text(json.dumps(manifest))
    with pytest.raises(NotVerified, match="column 'age' holds"):
        sf.verify(release)
    manifest = json.loads(good)
    manifest["columns"][1]["bound"] = "low"
    path.write_text(json.dumps(manifest))
    with pytest.raises(NotVerified, match="is a number of"):
        sf.verify(release)


def _frame(rows: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {"x": rng.normal(size=rows).round(3), "y": rng.integers(0, 9, rows), "t": ["a", "b"] * (rows // 2)}
    )


def _rules(k: int = 3, columns: Any = None, **more: Any) -> dict[str, Any]:
    roles = {"x": {"role": "quasi"}, "y": {"role": "quasi"}, "t": {"role": "plain"}}
    publish = {"form": "uncertain", **more.pop("publish", {})}
    privacy = [{"model": "expected-anonymity", "k": k}]
    return {"columns": roles | (columns or {}), "privacy": privacy, "publish": publish, **more}


@pytest.mark.parametrize("kind", ["csv.gz", "parquet"])
def test_other_formats_and_boxes(tmp_path: Path, kind: str) -> None:
    """Boxes, compressed or as Parquet, are verified from there and answer queries."""
    made = sf.anonymize(_frame(), _rules(publish={"format": kind, "density": "uniform"}))
    folder = made.save(tmp_path / "release")
    assert sf.verify(folder).satisfied
    assert sf.query(folder, "select count(*) where x > -50")[0].values["count(*)"].estimate == pytest.approx(120)


def test_frames_come_back_as_they_came() -> None:
    """A frame comes back as a frame, whose rows are in no order of the input."""
    made: Any = sf.anonymize(_frame(), _rules())
    assert isinstance(made.uncertain, pd.DataFrame)
    assert list(made.uncertain) == ["x", "x_spread", "y", "y_spread", "t"]
    assert made.uncertain["t"].tolist() != _frame()["t"].tolist()
    assert repr(made) == "<UncertainRelease of 120 records as gaussian densities>"
    with pytest.raises(InputError, match="has no table; it has uncertain"):
        made.table  # noqa: B018 - asks for what is not there
    with pytest.raises(InputError, match="has no synthetic; it has uncertain"):
        made.synthetic  # noqa: B018 - asks for what is not there


def test_one_spread_for_all() -> None:
    """With a common spread nothing is learned of a record by its own: both adversaries match as often."""
    made: Any = sf.anonymize(_frame(), _rules(publish={"spread": "common"}))
    assert made.uncertain["x_spread"].min() == made.uncertain["x_spread"].max()
    assert made.risk.informed == made.risk.linked
    own: Any = sf.anonymize(_frame(), _rules())
    assert own.uncertain["x_spread"].max() == made.uncertain["x_spread"].max()


def test_two_releases_differ() -> None:
    """Centres are drawn anew, spreads are the same."""
    first, second = (sf.anonymize(_frame(), _rules()).uncertain.sort_values(["x_spread", "t"]) for _ in range(2))
    assert sorted(first["x_spread"]) == sorted(second["x_spread"])
    assert set(first["x"]) != set(second["x"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"privacy": [{"model": "k-anonymity", "k": 3}]}, 'write model = "expected-anonymity"'),
        ({"privacy": [{"model": "expected-anonymity", "k": 1}]}, "2 or more"),
        (
            {
                "publish": {"form": "generalized"},
                "columns": {n: {"role": "quasi", "hierarchy": "suppress"} for n in "xy"},
            },
            '\\[publish\\] form = "uncertain"',
        ),
        (
            {"publish": {"form": "synthetic", "density": "uniform"}, "privacy": [{"model": "k-anonymity", "k": 2}]},
            "density",
        ),
        ({"algorithm": {"name": "mondrian"}}, "finds spreads by itself"),
        ({"algorithm": {"suppression": 0.1}}, "no row is dropped"),
        ({"algorithm": {"noise": 0.1}}, "not for the form uncertain"),
        ({"algorithm": {"strata": ["z"]}}, "not one of"),
        ({"algorithm": {"strata": ["x", "y"]}}, "no column is left"),
        ({"columns": {"x": {"role": "individual"}}}, "hide nobody"),
        ({"columns": {"x": {"role": "weight"}}}, "told exactly"),
        ({"columns": {"x": {"role": "quasi", "kind": "category"}}}, "strata"),
        ({"columns": {"t": {"role": "plain", "bounds": [0, 1]}}}, "published as it is"),
        ({"apply": {"promise": "alone"}}, "no labels"),
    ],
)
def test_policies_that_mean_nothing(change: dict[str, Any], words: str) -> None:
    """Each says what is wrong and what would do."""
    rules = _rules()
    rules["columns"] |= change.pop("columns", {})
    with pytest.raises(PolicyError, match=words):
        sf.Policy.read(rules | change)


def test_tables_that_will_not_do() -> None:
    """Categories, empty columns, times of day, values out of bounds and too few rows are sentences."""
    with pytest.raises(DataError, match=r"'t' holds categories.*strata"):
        sf.anonymize(_frame(), _rules(columns={"t": {"role": "quasi"}}))
    with pytest.raises(DataError, match="no value at all"):
        sf.anonymize(_frame().assign(x=None), _rules())
    with pytest.raises(DataError, match="outside of its bounds"):
        sf.anonymize(_frame(), _rules(columns={"y": {"role": "quasi", "bounds": [0, 3]}}))
    with pytest.raises(DataError, match="is to hold numbers"):
        sf.anonymize(_frame(), _rules(columns={"t": {"role": "quasi", "kind": "number"}}))
    with pytest.raises(Infeasible, match=r"the table has 8 rows.*density = .uniform"):
        sf.anonymize(_frame(8), _rules(k=6))
    with pytest.raises(Infeasible, match="lower k"):
        sf.anonymize(_frame(8), _rules(k=9, publish={"density": "uniform"}))
    sf.anonymize(_frame(8), _rules(k=6, publish={"density": "uniform"}))
    with pytest.raises(Infeasible, match="of 120 strata have too few rows"):
        sf.anonymize(_frame().assign(t=range(120)), _rules(algorithm={"strata": ["t"]}))


def test_numbers_at_the_edge() -> None:
    """Huge and tiny numbers, a constant column, equal rows and one column alone work."""
    rows = 60
    frame = pd.DataFrame({"x": np.linspace(1e-300, 1e300, rows), "y": 7, "t": "a"})
    made: Any = sf.anonymize(frame, _rules())
    assert (made.uncertain["y"] == 7).all()
    assert (made.uncertain["y_spread"] == 0).all()
    assert np.isfinite(made.uncertain["x"]).all()
    equal: Any = sf.anonymize(frame.assign(x=[1.5, 2.5] * 30), _rules())
    assert (equal.uncertain["x_spread"] == 0).all()
    assert sorted(set(equal.uncertain["x"])) == [1.5, 2.5]
    tiny: Any = sf.anonymize(frame.assign(x=np.arange(rows) * 1e-9), _rules())
    assert tiny.uncertain["x_spread"].max() < 1e-6


def test_masks_come_first() -> None:
    """What is masked is masked, and densities are around that."""
    made: Any = sf.anonymize(_frame(), _rules(columns={"x": {"role": "quasi", "round": 1}}))
    assert made.masked
    truth = made.publication.truth.column("v0").to_numpy()
    assert (truth == np.round(truth)).all()
    assert "Masked before anything else" in made.publication.protects


def test_other_commands_say_what_to_do(release: Path, folder: Path, runs: Runs) -> None:
    """Commands for classes and labels refuse in one sentence, and leave nothing behind."""
    original = str(folder / "people.csv")
    for command in (
        ("utility", str(release), "--original", original),
        ("risk", str(release)),
        ("compare", str(folder / "policy.toml"), "--set", "k=4,5", "--out", str(folder / "runs")),
        ("attack", "homogeneity", str(release)),
        ("apply", str(release), "--data", original, "--out", str(folder / "new")),
    ):
        done = runs(*command)
        assert done.code == 2, command
        assert "uncertain" in done.sentence, (command, done.sentence)
    done = runs("anonymize", str(folder / "policy.toml"), "--ledger", str(folder / "b"), "--out", str(folder / "x"))
    assert "leave --ledger out" in done.sentence


@pytest.mark.slow
def test_adult_in_part(adult_numbers: pd.DataFrame) -> None:
    """On a part of Adult all records have k, by the second implementation without stopping early."""
    rules = {"columns": {name: {"role": "quasi"} for name in adult_numbers}} | {
        "privacy": [{"model": "expected-anonymity", "k": 5}],
        "publish": {"form": "uncertain"},
    }
    made: Any = sf.anonymize(adult_numbers, rules)
    records, drawn = made.publication.records, made.publication.densities
    points = np.stack([column.scaled for column in records.columns], axis=1)
    reached = expected_fits(points, drawn.common, "gaussian", np.inf)
    assert reached.min() >= 5
    assert made.risk.rank > 3


@pytest.fixture
def adult_numbers() -> pd.DataFrame:
    """A thousand rows like those of Adult, numbers alone."""
    from sfumato.datasets.adult import synthetic_adult

    frame = synthetic_adult(1000, seed=1)
    table = frame if isinstance(frame, pd.DataFrame) else pd.DataFrame(frame.to_pydict())
    return table.select_dtypes("number")


@pytest.mark.adult
def test_real_adult_rows() -> None:
    """Of real rows of Adult, which share many values, each has k by brute force, in both kinds of density."""
    folder = adult_folder()
    if folder is None:
        pytest.skip("the rows of Adult are not at hand")
    names = ["age", "education-num", "capital-gain", "hours-per-week"]
    frame = pd.read_csv(folder / "adult.csv", usecols=names, nrows=700)[names]
    for density in ("gaussian", "uniform"):
        made: Any = sf.anonymize(
            frame,
            {
                "columns": {name: {"role": "quasi"} for name in names},
                "privacy": [{"model": "expected-anonymity", "k": 5}],
                "publish": {"form": "uncertain", "density": density},
            },
        )
        records, drawn = made.publication.records, made.publication.densities
        points = np.stack([column.scaled for column in records.columns], axis=1)
        assert count_expected(points, drawn.common, drawn.density).min() >= 5
        assert made.privacy[0]["achieved"] == {"k": 5.0}
