"""What values show of themselves in a notebook and on a terminal: escaped, without script, without rows."""

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.datasets import hospital, hospital_policy

EVIL = '<script>alert("x")</script>'
ALLOWED = {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td"}


class Elements(HTMLParser):
    """The elements and attributes of a piece of HTML."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}


def _shown(table: Any, policy: Any, evil: str) -> dict[str, Any]:
    """All that shows itself, of a table whose names and values try to be HTML."""
    release = sf.anonymize(table, policy)
    return {
        "release": release,
        "policy": release.policy,
        "risk": sf.risk(table, quasi=[evil]),
        "prosecutor": release.risk,
        "utility": sf.utility(release),
        "losses": release.utility,
        "comparison": sf.compare(table, policy, algorithms=["optimal", "mondrian"], settings={"k": [2, 999]}),
        "link": sf.attack.link(release, table, [evil], name="who", most=9),
        "known": sf.attack.known(release),
        "homogeneity": sf.attack.homogeneity(release),
        "skewness": sf.attack.skewness(release),
        "minimality": sf.attack.minimality(release),
        "intersect": sf.attack.intersect([release, release], table),
        "attacks": release.attacks,
        "result": release.attacks.results[0],
        "proposal": sf.propose(table),
        "tree": sf.Tree.of({evil: "group"}),
    }


@pytest.fixture(scope="module")
def shown() -> dict[str, Any]:
    """Eight rows, whose columns and values are scripts; names of persons are canaries."""
    table = pa.table(
        {
            "who": [f"canary-{place}" for place in range(8)],
            EVIL: [f"{EVIL}{place % 2}" for place in range(8)],
            "illness": ["flu", EVIL] * 4,
        }
    )
    columns = {"who": sf.identifier(), EVIL: sf.quasi("suppress"), "illness": sf.sensitive()}
    return _shown(table, sf.Policy(columns=columns, privacy=[sf.KAnonymity(2)]), EVIL)


KINDS = [
    *("release", "policy", "risk", "prosecutor", "utility", "losses", "comparison", "link", "known", "homogeneity"),
    *("skewness", "minimality", "intersect", "attacks", "result", "proposal", "tree"),
]


@pytest.mark.parametrize("kind", KINDS)
def test_html_is_escaped_and_has_no_script(kind: str, shown: dict[str, Any]) -> None:
    """Whatever names and values are, there are tables and paragraphs, no handler, and nothing that is loaded."""
    page = shown[kind]._repr_html_()
    found = Elements(page)
    assert found.names <= ALLOWED
    assert found.attributes <= {"class", "scope"}
    assert "<script" not in page


@pytest.mark.parametrize("kind", KINDS)
def test_no_row_that_is_not_published_is_shown(kind: str, shown: dict[str, Any]) -> None:
    """Names of persons, which are never published, are in no text: not even those that an attack has found."""
    value = shown[kind]
    for text in (value._repr_html_(), repr(value), str(value)):
        assert "canary" not in text


@pytest.mark.parametrize("kind", KINDS)
def test_a_terminal_gets_readable_text(kind: str, shown: dict[str, Any]) -> None:
    """Neither `repr` nor `str` is the name of a class with an address, and no sign moves the cursor."""
    value = shown[kind]
    assert " object at 0x" not in repr(value) + str(value)
    assert all(sign.isprintable() or sign == "\n" for sign in repr(value) + str(value))


def test_a_release_shows_promise_cost_and_risk() -> None:
    """The promises with what holds, the loss of each column, and the highest chance; `repr` is one line."""
    release = sf.anonymize(hospital(200), hospital_policy())
    text = str(release)
    assert "k-anonymity" in text
    assert "yes" in text
    assert all(column.name in text for column in release.policy.quasi)
    assert "highest chance of a row being found" in text
    assert repr(release).count("\n") == 0
    assert "alpha-deassociation" in repr(release.policy)


def test_a_policy_shows_how_columns_are_generalized(tmp_path: Path) -> None:
    """Kinds as a file writes them, trees by their lines and functions by their name."""
    policy = sf.Policy(
        columns={
            "age": sf.quasi(intervals=[5]),
            "town": sf.quasi({"Bern": "CH", "Thun": "CH"}),
            "zip": sf.quasi(lambda code: [code[:1]]),
            "lab_*": sf.plain(),
        },
        privacy=[sf.KAnonymity(2)],
        algorithm={"suppression": 0.1},
    )
    text = str(policy)
    assert "{ intervals = [5] }" in text
    assert "2 lines" in text
    assert "the function <lambda>" in text
    assert "&lt;lambda&gt;" in policy._repr_html_()
    assert "at most 10.0% of the rows dropped" in text
