"""Presets change roles, hierarchies and thresholds, and name their source."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow.csv import ConvertOptions, read_csv

from sfumato.errors import InputError
from sfumato.profile import PRESETS, Proposal, propose
from sfumato.profile.presets.limited import RESTRICTED

Runs = Callable[..., Any]
Writes = Callable[[str | bytes], Path]
TEXTS = ConvertOptions(column_types=dict.fromkeys(("dob", "zip", "age"), pa.string()))


def roles(proposal: Proposal) -> dict[str, str]:
    """The role of each column."""
    return {name: entry["role"] for name, entry in proposal.document["columns"].items()}


def models(proposal: Proposal) -> dict[str, dict[str, Any]]:
    """The requirements by model."""
    return {entry["model"]: entry for entry in proposal.document["privacy"]}


@pytest.mark.parametrize("name", PRESETS)
def test_each_preset_changes_the_policy_and_names_its_source(american: Path, name: str) -> None:
    """Every preset gives another document than none does, with its source and what it leaves open in comments."""
    plain, preset = propose(american), propose(american, name)
    assert preset.document != plain.document
    flat = " ".join(line.removeprefix("#").strip() for line in preset.text.splitlines())
    assert PRESETS[name].source in flat
    assert "What this policy does not do:" in flat


def test_safe_harbor(american: Path) -> None:
    """Places go; dates, ZIP codes and ages above 89 stay, told from the level on that the rule allows."""
    found = propose(american, "hipaa-safe-harbor")
    assert {name: roles(found)[name] for name in ("ssn", "city")} == dict.fromkeys(("ssn", "city"), "identifier")
    columns = found.document["columns"]
    assert {name: columns[name].get("least") for name in ("dob", "zip", "zip3", "age", "state")} == {
        "dob": 1,
        "zip": 1,
        "zip3": None,
        "age": 1,
        "state": None,
    }


def test_safe_harbor_is_kept_by_the_release(american: Path, runs: Runs) -> None:
    """From init to release: years, three digits, ages up to 89 and what stands above them, and nothing finer."""
    assert runs("init", american, "--preset", "hipaa-safe-harbor").code == 0
    policy = Path("policy.toml").read_text(encoding="utf-8")
    Path("policy.toml").write_text(policy.replace("k = 5", "k = 1").replace("alpha = 0.5", "alpha = 1"))
    assert runs("anonymize", "policy.toml", "--out", "release").code == 0
    rows = read_csv("release/public/table.csv", convert_options=TEXTS).to_pylist()
    assert len(rows) == 200
    for row in rows:
        assert re.fullmatch(rf"\d{{4}}|<{datetime.now(UTC).year - 89}", row["dob"])
        assert re.fullmatch(r"\d{3}", row["zip"])
        assert row["zip"] not in RESTRICTED
        assert re.fullmatch(r"[1-8]?\d|90\+", row["age"])
    assert {"<"} < {row["dob"][0] for row in rows}
    manifest = Path("release/public/manifest.json").read_text(encoding="utf-8")
    raw = read_csv(american, convert_options=TEXTS)
    assert not [text for name in ("dob", "zip") for text in raw[name].to_pylist() if f'"{text}"' in manifest]


def test_safe_harbor_restricts_prefixes(writes: Writes) -> None:
    """Three digits that stand for 20,000 people or fewer become 000; those that did already may stay as they are."""
    for code, least in (("036", 1), ("000", None)):
        rows = "".join(f"{['100', '606', code][row % 3]},{row % 2}\n" for row in range(30))
        found = propose(writes(f"zip,sex\n{rows}"), "hipaa-safe-harbor")
        assert found.document["columns"]["zip"].get("least") == least
        assert least is None or "036,000,000,*" in "".join(found.files.values())
    assert len(RESTRICTED) == 19


@pytest.mark.parametrize(
    ("column", "values", "expected"),
    [
        ("admitted", ["2020-01-05", "2021-02-03", "2021-02-04"], {"dates": ["month", "quarter", "year", "decade"]}),
        (
            "admitted",
            ["2020-01-05 10:00", "2021-02-03 11:30"],
            {"dates": ["day", "month", "quarter", "year", "decade"]},
        ),
        ("admitted", ["1930-01-05", "05.02.2021", "06.02.2021"], "file"),
        ("dob", ["1990-05", "1991-06", "1992-07"], {"dates": ["year", "decade"], "format": "%Y-%m"}),
        ("dob", ["5.1.90", "7.2.91", "8.3.35"], None),
        ("birth year", ["1930", "1950", "1990", "1991", "1992", "1993"], {"intervals": [1, 5, 10, 50]}),
        ("birth day", ["5", "7", "12", "30", "2", "1"], None),
        ("zip", ["1001", "10002", "60601"], None),
        ("zip", ["10001-1234", "036011234", "60601"], "file"),
        ("age", ["85-94", "20-30"], None),
        ("age", ["37.5", "93.2", "41"], {"intervals": [1, 5, 10, 20, 40]}),
    ],
)
def test_safe_harbor_by_kinds_of_values(writes: Writes, column: str, values: list[str], expected: Any) -> None:
    """What can be told to the year, to three digits or to 90 has a level to start at; what cannot is left out."""
    rows = "".join(f"{values[row % len(values)]},{'fm'[row % 2]}\n" for row in range(40))
    found = propose(writes(f"{column},sex\n{rows}"), "hipaa-safe-harbor").document["columns"][column]
    if expected is None:
        assert found == {"role": "identifier"}
        return
    assert found["role"] == "quasi"
    if expected == "file":
        assert found["least"] == 1
        return
    assert expected.items() <= found["hierarchy"].items()
    assert found["least"] == (expected["dates"].index("year") + 1 if "dates" in expected else 1)


def test_ema(american: Path, visits_file: Path) -> None:
    """A risk of 0.09 needs classes of 12, since 1/11 is more; of persons where a column names them."""
    assert models(propose(american, "ema-0070"))["k-anonymity"]["k"] == 12
    assert 1 / 12 <= 0.09 < 1 / 11
    assert models(propose(visits_file, "ema-0070"))["identity-k-anonymity"]["linked_k"] == 12


def test_cms(american: Path) -> None:
    """Cells of diagnoses count 11 as well: nothing is sensitive and nobody is dropped."""
    found = propose(american, "cms")
    assert roles(found)["diagnosis"] == "quasi"
    assert found.document["privacy"] == [{"model": "k-anonymity", "k": 11}]
    assert found.document["algorithm"]["suppression"] == 0


def test_statistics_office(american: Path, visits_file: Path) -> None:
    """Ten units, no value with more than 90 % of a class, no person with more than half of it."""
    found = models(propose(american, "statistics-office"))
    assert found["k-anonymity"]["k"] == 10
    assert found["alpha-deassociation"]["alpha"] == 0.9
    found = models(propose(visits_file, "statistics-office"))
    assert found["identity-alpha-beta"] == {
        "model": "identity-alpha-beta",
        "column": "illness",
        "alpha": 0.5,
        "beta": 0.9,
    }


def test_gdpr(american: Path) -> None:
    """Ethnic origin is a special category; bounds are tighter, and it is said that no number is in the law."""
    found = propose(american, "gdpr")
    assert roles(found)["race"] == "sensitive"
    assert models(found)["k-anonymity"]["k"] == 10
    assert "no number is in the law" in found.text


def test_unknown_preset(american: Path) -> None:
    """A name that is no preset is refused with the nearest one."""
    with pytest.raises(InputError, match="there is no preset 'hippa-safe-harbor'; did you mean hipaa-safe-harbor"):
        propose(american, "hippa-safe-harbor")
