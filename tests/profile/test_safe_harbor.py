"""HIPAA Safe Harbor: what may be told only in coarser form has a level to start at, and is published from there on."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow.csv import ConvertOptions, read_csv

from sfumato.profile import propose
from sfumato.profile.safe_harbor import RESTRICTED_ZIP_CODES

Runs = Callable[..., Any]
Writes = Callable[[str | bytes], Path]
TEXTS = ConvertOptions(column_types=dict.fromkeys(("dob", "zip", "age"), pa.string()))


def test_safe_harbor(american: Path) -> None:
    """Places go; dates, ZIP codes and ages above 89 stay, told from the level on that the rule allows."""
    found = propose(american, "hipaa-safe-harbor")
    assert {name: found.document["columns"][name]["role"] for name in ("ssn", "city")} == dict.fromkeys(
        ("ssn", "city"), "identifier"
    )
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
        assert row["zip"] not in RESTRICTED_ZIP_CODES
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
    assert len(RESTRICTED_ZIP_CODES) == 19


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
