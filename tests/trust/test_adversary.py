"""The adversary who knows the algorithm: lines 16, 18, 19 and 20 of what a data holder must be able to trust."""

import json
from html import unescape
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf

WONG = pa.table({"q": ["q1"] * 2 + ["q2"] * 5, "illness": ["HIV", "HIV", "flu", "flu", "cold", "cold", "none"]})
"""Two rows of q1 hold HIV: by themselves they break the bound, so that they are told together with the others."""

HALF = {
    "columns": {"q": {"role": "quasi", "hierarchy": "suppress"}, "illness": {"role": "sensitive"}},
    "privacy": [{"model": "alpha-deassociation", "column": "illness", "alpha": 0.5, "values": ["HIV"]}],
    "algorithm": {"name": "optimal"},
}


def attacks_of(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The attacks of an audit, by name."""
    told = json.loads((folder / "private" / "audit.json").read_text(encoding="utf-8"))["attacks"]
    return {one["attack"]: [other for other in told if other["attack"] == one["attack"]] for one in told}


def test_trust_16_what_the_algorithm_betrays_stands_beside_the_bound(tmp_path: Path) -> None:
    """The class holds HIV for 2 of 7; who knows why it was made is certain of two rows, and every account says so."""
    folder = sf.anonymize(WONG, HALF).save(tmp_path / "release")
    (told,) = attacks_of(folder)["minimality"]
    assert told["success"] == pytest.approx(4 / 7)  # both of q1, and two of the five
    assert told["baseline"] == pytest.approx(2 / 7)
    assert "the policy allows 50.0%" in told["says"][0]
    assert "surer than the bound of 2 rows (up to 100%), and right about 100% of them" in told["says"][1]
    page = unescape((folder / "private" / "report.html").read_text(encoding="utf-8"))
    assert told["says"][1] in page


@pytest.mark.parametrize("form", ["lossy-join", "anatomy"])
def test_trust_18_a_learner_is_tried_on_two_tables(form: str, tmp_path: Path) -> None:
    """Two tables come with the bound, the learner's success and a baseline; one generalized table has no learner."""
    models = [{"model": "distinct-l-diversity", "column": "illness", "l": 2}]
    table = pa.table({"q": [f"q{i % 4}" for i in range(40)], "illness": [f"i{i % 5}" for i in range(40)]})
    rules = HALF | {"privacy": models, "algorithm": {}}
    folder = sf.anonymize(table, rules | {"publish": {"form": form}}).save(tmp_path / "two")
    (told,) = attacks_of(folder)["definetti"]
    assert 0 <= told["baseline"] <= 1
    assert 0 <= told["success"] <= 1
    assert "definetti" not in attacks_of(sf.anonymize(table, rules).save(tmp_path / "one"))


def test_trust_19_every_report_shows_what_classes_disclose(tmp_path: Path) -> None:
    """Nobody asked about illness, and the report still has distinct and entropy l, share, distance and gain of it."""
    rules = HALF | {"privacy": [{"model": "k-anonymity", "k": 2}]}
    folder = sf.anonymize(WONG, rules).save(tmp_path / "release")
    told = attacks_of(folder)
    assert told["homogeneity"][0]["success"] == pytest.approx(4 / 7)  # both of q1, and two of the five
    assert told["homogeneity"][0]["baseline"] == pytest.approx(2 / 7)
    assert told["skewness"]
    page = (folder / "private" / "report.html").read_text(encoding="utf-8").lower()
    for word in ("different values", "entropy", "largest share", "distance", "gain"):
        assert word in page, word


def test_trust_20_no_page_says_anonymous_without_against_whom(tmp_path: Path) -> None:
    """Both pages say what remains, downcoding among it, and that anonymous is a word for something against someone."""
    folder = sf.anonymize(WONG, HALF).save(tmp_path / "release")
    for page in (folder / "private" / "report.html", folder / "public" / "summary.html"):
        text = page.read_text(encoding="utf-8")
        assert "does not protect against" in text
        assert "Downcoding" in text
        assert "adversary" in text
        assert text.count("anonymous") <= text.count("anonymous against") + 1
