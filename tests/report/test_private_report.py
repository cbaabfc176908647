"""The report as a page: whole, self-contained, escaped, and silent about identifiers."""

import re
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from sfumato.datasets import hospital, hospital_policy
from sfumato.release import Release, prepare

from .conftest import report

EVIL = '<script>alert("1")</script>&\u202e'
SECTIONS = (
    "Release report",
    "Promise and verdict",
    "The rows",
    "Risk, before and after",
    "What classes tell",
    "What it cost",
    "What it does not protect against",
)

Releases = Callable[..., Release]
Pages = Callable[[str], Any]


def test_all_parts_are_there_in_order(release: Releases, page: Pages) -> None:
    """A steward finds verdict, rows, risk, disclosure, cost and limits, in this order."""
    text = page(report(release())).text
    places = [text.index(title) for title in SECTIONS]
    assert places == sorted(places)


def test_every_tag_is_closed(release: Releases, page: Pages) -> None:
    """The page is well-formed: the parser ends with nothing open."""
    assert page(report(release(seed=1))).open == []


def test_needs_nothing_from_outside(release: Releases, page: Pages) -> None:
    """No address, no script, no source, no import: the file alone is the report."""
    html = report(release())
    assert not re.search(r"https?:|//\w|@import|url\(", html)
    found = page(html)
    assert not {"script", "link", "img", "iframe", "object", "embed"} & set(found.tags)
    assert not {"src", "href", "srcset", "data"} & {name for name, _ in found.attributes}
    assert not [name for name, _ in found.attributes if name.startswith("on")]


def test_browser_is_told_to_load_nothing(release: Releases) -> None:
    """A content security policy forbids all loading, should something slip through."""
    assert "default-src &#x27;none&#x27;" in report(release())


def test_names_and_values_are_escaped(page: Pages) -> None:
    """Column names, labels, sensitive values and keys of models may hold markup, and stay text."""
    rows = {f"{EVIL}q": ["a", "a", "b", "b"], f"{EVIL}s": [EVIL, EVIL, EVIL, None], f"{EVIL}p": [EVIL] * 4}
    columns = {
        f"{EVIL}q": {"role": "quasi", "hierarchy": "suppress"},
        f"{EVIL}s": {"role": "sensitive"},
        f"{EVIL}p": {"role": "plain"},
    }
    model = {"model": "alpha-deassociation", "alpha": 1.0, "column": f"{EVIL}s", "values": [EVIL]}
    html = report(prepare(pa.table(rows), {"columns": columns, "privacy": [model]}))
    found = page(html)
    assert "<script" not in html
    assert "script" not in found.tags
    assert found.text.count(f"{EVIL}s") >= 2


def test_identifiers_stay_out(release: Releases) -> None:
    """Values of identifiers appear in no byte of it, nor do values of quasi-identifiers and plain columns."""
    assert "Canary" not in report(release())


def test_says_anonymous_only_with_against(release: Releases, page: Pages) -> None:
    """The word anonymous never stands in a sentence that does not say against what."""
    sentences = re.split(r"[.:] ", page(report(release())).text)
    claims = [sentence for sentence in sentences if "anonymous" in sentence]
    assert claims
    assert all("against" in sentence for sentence in claims)


@pytest.mark.parametrize("seed", [None, 7])
def test_a_seed_is_warned_about(release: Releases, page: Pages, seed: int | None) -> None:
    """With a seed the report opens with a warning; without one there is none."""
    found = page(report(release(**({} if seed is None else {"seed": seed}))))
    assert ("aside" in found.tags) == (seed is not None)
    assert ("order of rows is repeatable" in found.text) == (seed is not None)


def test_demo_reports(page: Pages) -> None:
    """The built-in data set has a report with its plain column named among the limits."""
    text = page(report(prepare(hospital(400), hospital_policy()))).text
    assert "counted by no figure of risk here: nights ." in text
