"""Small releases to report on, and a page taken apart."""

from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from typing import Any

import pyarrow as pa
import pytest

from sfumato.release import Release, prepare
from sfumato.report.private_report import private_report

Rows = Mapping[str, list[Any]]
Releases = Callable[..., Release]

PATIENTS: Rows = {
    "name": ["Canary Ann", "Canary Bob", "Canary Cid", "Canary Dan", "Canary Eve", "Canary Fay"],
    "age": ["30", "31", "32", "50", "51", "52"],
    "sex": ["f", "f", "m", "m", "m", "f"],
    "illness": ["flu", "HIV", "flu", "ulcer", "flu", "flu"],
    "nights": [1, 2, 3, 4, 5, 6],
}
COLUMNS: Mapping[str, Mapping[str, Any]] = {
    "name": {"role": "identifier"},
    "age": {"role": "quasi", "hierarchy": {"intervals": [20], "domain": [20, 59]}},
    "sex": {"role": "quasi", "hierarchy": "suppress"},
    "illness": {"role": "sensitive"},
    "nights": {"role": "plain"},
}
K3 = {"model": "k-anonymity", "k": 3}


@pytest.fixture
def release() -> Releases:
    """Makes a release of six patients, with changes to the table, the columns, the models or the search.

    It is a full-domain one unless another algorithm is named.
    """

    def make(
        *models: Mapping[str, Any],
        rows: Rows = PATIENTS,
        columns: Mapping[str, Any] = COLUMNS,
        **search: Any,
    ) -> Release:
        policy = {"columns": columns, "privacy": list(models) or [K3], "algorithm": {"name": "optimal", **search}}
        return prepare(pa.table(dict(rows)), policy)

    return make


def report(release: Release) -> str:
    """The private report on a release that is in memory."""
    return private_report(release.assessment, release.verdict, release.attacks)


class Page(HTMLParser):
    """A page as its tags, attributes and words; objects to tags that do not close."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.pieces: list[str] = []
        self.feed(html)
        self.close()

    @property
    def text(self) -> str:
        """All words, one space apart, without the style."""
        return " ".join(" ".join(self.pieces).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self._saw(tag, attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._saw(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.pieces.append(data)

    def _saw(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.extend(attrs)


@pytest.fixture
def page() -> Callable[[str], Page]:
    """Takes a page apart."""
    return Page
