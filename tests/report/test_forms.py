"""Every section for every form of release, on tables that are plain, empty of something, or ugly."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.attack.result import AttackResult
from sfumato.release import Release, prepare

from .conftest import report

Pages = Callable[[str], Any]

SECTIONS = (
    "Promise and verdict",
    "The rows",
    "Risk, before and after",
    "Three adversaries",
    "Share of rows by the size of their class",
    "What classes tell",
    "Columns, before and after",
    "What it cost",
    "Correlation, before and after",
    "Counts asked of the release",
    "What was suppressed, and why",
    "Attacks that were tried",
    "What it does not protect against",
)
AGES = {"intervals": [10, 20], "domain": [0, 99]}
K2 = {"model": "k-anonymity", "k": 2}
L2 = {"model": "distinct-l-diversity", "column": "illness", "l": 2}


def _rows(rows: int = 60) -> dict[str, list[Any]]:
    draw = np.random.default_rng(2)
    return {
        "person": [f"p{one // 2}" for one in range(rows)],
        "age": [None if one % 13 == 0 else str(one) for one in draw.integers(20, 80, rows).tolist()],
        "town": draw.choice(["Bern", "Thun", "Genf"], rows).tolist(),
        "illness": [None if one == 5 else str(one) for one in draw.integers(0, 6, rows).tolist()],
        "born": [f"19{40 + one % 50}-01-11" for one in range(rows)],
    }


def _columns(**roles: Any) -> dict[str, Any]:
    quasi = {"role": "quasi", "hierarchy": "suppress"}
    given = {"person": {"role": "identifier"}, "age": {"role": "quasi", "hierarchy": AGES}, "town": quasi}
    return {**given, "illness": {"role": "sensitive"}, "born": {"role": "plain"}, **roles}


CASES: dict[str, dict[str, Any]] = {
    "full domain": {"algorithm": {"name": "optimal", "suppression": 0.1}},
    "auto": {},
    "ranges": {
        "columns": _columns(age={"role": "quasi", "hierarchy": {"ranges": True}}),
        "algorithm": {"name": "mondrian"},
    },
    "means": {
        "columns": _columns(age={"role": "quasi", "hierarchy": {"ranges": True}}),
        "algorithm": {"name": "mondrian"},
        "publish": {"ranges": "means"},
    },
    "sets": {"columns": _columns(town={"role": "quasi", "hierarchy": "sets"}), "algorithm": {"name": "mondrian"}},
    "dates": {"columns": _columns(born={"role": "quasi", "hierarchy": {"dates": ["month", "year", "decade"]}})},
    "tds": {"algorithm": {"name": "tds"}},
    "two tables": {"publish": {"form": "lossy-join"}},
    "buckets": {"publish": {"form": "anatomy"}, "algorithm": {"suppression": 0.1}},
    "persons": {"columns": _columns(person={"role": "individual"})},
    "persons in two tables": {"columns": _columns(person={"role": "individual"}), "publish": {"form": "lossy-join"}},
    "no sensitive column": {"columns": _columns(illness={"role": "plain"}), "privacy": [K2]},
    "two sensitive columns": {"columns": _columns(born={"role": "sensitive"})},
    "apart": {"columns": _columns(born={"role": "sensitive"}), "publish": {"form": "lossy-join", "ss": "apart"}},
    "rows alone": {"privacy": [{"model": "k-anonymity", "k": 1}], "algorithm": {"name": "optimal"}},
    "one class": {"privacy": [{"model": "k-anonymity", "k": 60}]},
}


def _release(case: str) -> Release:
    policy = {"columns": _columns(), "privacy": [K2, L2], **CASES[case]}
    return prepare(pa.table(_rows()), policy)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_every_section_is_there_in_order(page: Pages, case: str) -> None:
    """A steward finds every part, whatever the form; the page is whole, loads nothing and holds no nan."""
    release = _release(case)
    html = report(release)
    found = page(html)
    places = [found.text.index(title) for title in SECTIONS]
    assert places == sorted(places)
    assert found.open == []
    assert not re.search(r"https?:|//\w|@import|url\(|<script", html)
    assert not {"src", "href", "srcset"} & {name for name, _ in found.attributes}
    assert not re.search(r"\bnan\b|\binf\b|None", found.text)
    assert not {"p0", "p1", "p29"} & {*found.text.split()}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_every_attack_stands_in_table_and_audit(page: Pages, case: str) -> None:
    """Each attack has a line with its figures, what it assumes and what it found; the audit has the same."""
    release = _release(case)
    text = page(report(release)).text
    tried = release.attacks.results
    names = list(dict.fromkeys(one.attack for one in tried))
    asked = ["homogeneity", "skewness", "minimality"] if release.encoded.sensitive else []
    learner = ["definetti"] if release.policy.publish.split else []
    assert names == ["link", "known", *asked, *learner, "intersect"]
    for one in tried:
        assert f"{one.attack} {one.counts} {_figures(one)}" in text
        assert one.assumes in text
        assert all(said in text for said in one.says)
    assert [AttackResult(**{**line, "says": tuple(line["says"])}) for line in release.attacks.as_json()] == list(tried)


def _figures(one: AttackResult) -> str:
    """The three cells of an attack's line."""
    if one.success is None:
        return "not tried"
    return " ".join(_share(share) for share in (one.success, one.baseline, one.bound))


def _share(share: float | None) -> str:
    if share is None:
        return "none"
    if share in {0.0, 1.0}:
        return f"{share:.0%}"
    return "<0.1%" if share < 0.001 else ">99.9%" if share > 0.999 else f"{share:.1%}"


def test_three_adversaries(page: Pages) -> None:
    """Prosecutor, journalist and marketer of a table counted by hand: classes of one and of two, all in one after."""
    rows = {"town": ["Bern", "Thun", "Thun"], "illness": ["a", "b", "c"]}
    columns = {"town": {"role": "quasi", "hierarchy": "suppress"}, "illness": {"role": "sensitive"}}
    policy = {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 3}], "algorithm": {"name": "optimal"}}
    text = page(report(prepare(pa.table(rows), policy))).text
    assert "Prosecutor highest chance for a person known to be in the table 100% 33.3%" in text
    assert "Journalist highest chance for anybody, by way of a register 100% 33.3%" in text
    assert "Marketer share of rows tied right, if all are tied to somebody 66.7% 33.3%" in text
    assert "At risk share of rows with a chance above 20.0% 100% 100%" in text


def test_minimality_stands_among_the_limits(page: Pages) -> None:
    """What who knows the algorithm gains is told beside the promised bound, or why it is not known."""
    model = {"model": "alpha-k-anonymity", "k": 2, "alpha": 0.6, "column": "illness"}
    policy = {"columns": _columns(), "privacy": [model], "algorithm": {"name": "optimal"}}
    release = prepare(pa.table(_rows()), policy)
    text = page(report(release)).text
    (found,) = release.attacks.minimality.columns.values()
    assert found.bound == 0.6
    if release.attacks.minimality.why is None:
        assert f"Measured of illness : {_share(found.largest_posterior)} at the surest" in text
        assert "and the promised bound is 60.0%;" in text
    else:
        assert f"How much could not be measured: {release.attacks.minimality.why}." in text


def test_no_attack_on_earlier_releases_is_made_up(page: Pages) -> None:
    """Where no earlier release is named, that it was not tried is said."""
    text = page(report(_release("auto"))).text
    assert "intersect persons exposed not tried" in text
    assert "Not tried: no earlier release is named." in text


def test_many_sensitive_columns_are_cut(page: Pages) -> None:
    """Of hundreds of sensitive columns the first are told; the audit has the attacks on all of them."""
    rows = {f"s{one:02}": ["a", "b", "c", "d"] * 3 for one in range(25)} | {"q": ["x", "y"] * 6}
    columns = {name: {"role": "sensitive"} for name in rows} | {"q": {"role": "quasi", "hierarchy": "suppress"}}
    release = prepare(pa.table(rows), {"columns": columns, "privacy": [K2]})
    text = page(report(release)).text
    assert "Not shown, so that the page has an end: s20 , s21 , s22 , s23 , s24 ." in text
    assert "further sensitive columns, in audit.json." in text
    assert sum(one["attack"] == "homogeneity" for one in release.attacks.as_json()) == 25
