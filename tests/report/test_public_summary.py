"""The page for readers: made of what is published, the same for the same release, and known to the verifier."""

import ast
import csv
import hashlib
import inspect
import json
import re
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.reading.release_reader import read_manifest
from sfumato.release import prepare
from sfumato.report import public_summary as summary_page
from sfumato.report.public_summary import public_summary

Rules = Callable[..., dict[str, Any]]
Saves = Callable[..., Path]

COLUMN = "sfumato.publish.published_column"
ROLES = {"ssn": "identifier", "age": "quasi", "town": "quasi", "illness": "sensitive", "nights": "plain"}
SEARCH = {"name": "optimal", "suppression": 0.2}
FORMS: dict[str, dict[str, Any]] = {
    "full domain": {"algorithm": SEARCH},
    "local": {"algorithm": {"name": "mondrian"}},
    "tds": {"algorithm": {"name": "tds"}},
    "two tables": {"publish": {"form": "lossy-join"}},
    "parquet": {"algorithm": SEARCH, "publish": {"format": "parquet"}},
}


class _Text(HTMLParser):
    """The words of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.pieces: list[str] = []
        self.goes_on = False
        self.feed(html)
        self.close()
        assert self.open == []
        self.text = " ".join(" ".join(self.pieces).split())

    def handle_starttag(self, tag: str, _: Any) -> None:
        self.open.append(tag)

    def handle_startendtag(self, tag: str, _: Any) -> None:
        self.goes_on = tag == "wbr"  # a name that may be broken here, and is one word

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.goes_on:
            self.pieces[-1] += data
        elif "style" not in self.open:
            self.pieces.append(data)
        self.goes_on = False


def _rows(last: str = "CANARY") -> dict[str, list[Any]]:
    """Forty people, and one whom no class takes."""
    return {
        "ssn": [f"CANARYid{one}" for one in range(41)],
        "age": [str(20 + one % 4) for one in range(40)] + [f"9{last}"],
        "town": ["Bern", "Thun"] * 20 + [f"{last}town"],
        "illness": ["flu", "HIV", "gout", "flu", "cold"] * 8 + [f"{last}ill"],
        "nights": [*list(range(40)), 12345 if last == "CANARY" else 54321],
    }


def _text(folder: Path) -> str:
    return _Text((folder / "public" / "summary.html").read_text(encoding="utf-8")).text


@pytest.mark.parametrize("form", FORMS)
def test_a_release_has_a_page(rules: Rules, saves: Saves, form: str) -> None:
    """The manifest lists the page with its hash, the verifier and the readers of releases take it as it is."""
    rows = {name: cells[:40] for name, cells in _rows().items()}
    folder = saves(pa.table(rows), rules(ROLES, k=4, **FORMS[form]))
    public = folder / "public"
    listed = json.loads((public / "manifest.json").read_text())["summary"]
    assert listed == {
        "file": "summary.html",
        "sha256": hashlib.sha256((public / "summary.html").read_bytes()).hexdigest(),
    }
    assert sf.verify(folder).satisfied
    assert read_manifest(folder).tables
    text = _text(folder)
    parts = ("Promise and verdict", "What is published", "Class sizes", "Columns as published", "Data dictionary")
    places = [text.index(part) for part in (*parts, "How to read labels", "What it does not protect against")]
    assert places == sorted(places)
    assert not re.search(r"https?:|@import|url\(|<script", (public / "summary.html").read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_what_is_not_published_is_in_no_byte(rules: Rules, saves: Saves, kind: str) -> None:
    """Identifiers, dropped values, seeds, losses and the sizes of what was dropped are nowhere in public."""
    policy = rules(ROLES, k=4, algorithm=SEARCH | {"seed": 987654321}, publish={"format": kind})
    folder = saves(pa.table(_rows()), policy)
    audit = json.loads((folder / "private" / "audit.json").read_text())
    assert audit["suppressed"]["rows"] == 1
    for path in (folder / "public").iterdir():
        content = path.read_bytes()
        for secret in (b"CANARY", b"12345", b"987654321", b"ssn"):
            assert secret not in content
    text = _text(folder)
    assert "41" not in text.split()
    assert "ncp" not in text.lower()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_suppressed_row_changes_no_byte(rules: Rules, saves: Saves, kind: str) -> None:
    """Whatever stands in a row that is not published, the page is the same."""
    policy = rules(ROLES, k=4, algorithm=SEARCH, publish={"format": kind})
    first, second = (saves(pa.table(_rows(last)), policy) for last in ("CANARY", "OTHER"))
    assert (first / "public" / "summary.html").read_bytes() == (second / "public" / "summary.html").read_bytes()


@pytest.mark.parametrize("form", ["full domain", "two tables", "persons"])
def test_the_order_of_rows_is_no_matter(rules: Rules, saves: Saves, form: str) -> None:
    """Rows in another order, shuffled anew and under other pseudonyms and class numbers, give the same page."""
    rows = {name: cells[:40] for name, cells in _rows().items()}
    rows["ssn"] = [f"p{one // 3}" for one in range(40)]
    roles = ROLES | ({"ssn": {"role": "individual"}} if form == "persons" else {})
    policy = rules(roles, k=4, **(FORMS.get(form, {"algorithm": SEARCH})))
    turned = {name: cells[::-1] for name, cells in rows.items()}
    first, second = (saves(pa.table(table), policy) for table in (rows, turned))
    assert (first / "public" / "summary.html").read_bytes() == (second / "public" / "summary.html").read_bytes()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_anybody_can_count_it_again(rules: Rules, saves: Saves, kind: str) -> None:
    """Rows, classes, the smallest class and every bar follow from the public files alone."""
    folder = saves(pa.table(_rows()), rules(ROLES, k=4, algorithm=SEARCH, publish={"format": kind}))
    if kind == "csv":
        with (folder / "public" / "table.csv").open() as file:
            lines = list(csv.DictReader(file))
    else:
        lines = pq.read_table(folder / "public" / "table.parquet").to_pylist()
    text, classes = _text(folder), Counter((line["age"], line["town"]) for line in lines)
    assert f"{len(lines)} rows {len(classes)} classes {min(classes.values())} rows in the smallest class" in text
    for column in ("age", "town", "illness"):
        counts = Counter(line[column] for line in lines)
        bars = [f"{value} {100 * count / len(lines):.1f}%" for value, count in counts.items()]
        assert all(bar.replace("100.0%", "100%") in text for bar in bars)


def test_persons_are_counted_and_not_named(rules: Rules, saves: Saves) -> None:
    """With pseudonyms sizes are in people and rows per person are told, without a pseudonym."""
    rows = {"who": [f"p{one // 2}" for one in range(40)], "town": ["Bern", "Bern", "Thun", "Thun"] * 10}
    folder = saves(pa.table(rows), rules({"who": {"role": "individual"}, "town": "quasi"}, k=4))
    text = _text(folder)
    with (folder / "public" / "table.csv").open() as file:
        pseudonyms = {line["who"] for line in csv.DictReader(file)}
    assert "10 people in the smallest class" in text
    assert "People 20, each under a pseudonym" in text
    assert "who rows for each person 2 100%" in text
    assert not [one for one in pseudonyms if one in text]


def test_it_is_made_of_manifest_and_columns_alone() -> None:
    """Nothing else is handed in, and its modules import nothing that knows the original."""
    assert list(inspect.signature(public_summary).parameters) == ["manifest", "tables"]
    known = {"encode", "table", "policy", "recode", "split", "utility", "risk", "attack", "coding", "randomness"}
    folder = Path(str(summary_page.__file__)).parent
    for path in (folder / f"{name}.py" for name in ("public_summary", "column_bins", "threats")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith("sfumato."):
                assert node.module.split(".")[1] not in known
                assert node.module.split(".")[1] not in {"publish", "release"} or node.module == COLUMN


def test_a_changed_page_is_found(rules: Rules, saves: Saves) -> None:
    """A page that was changed, that nobody listed, or that is a link, is complained about; one that is gone is not."""
    folder = saves(pa.table(_rows()), rules(ROLES, k=4, algorithm=SEARCH))
    page = folder / "public" / "summary.html"
    content = page.read_text(encoding="utf-8")
    page.write_text(content + "<!-- -->", encoding="utf-8")
    complaint = "summary.html is not the file that was published: its SHA-256 differs from the manifest's"
    assert complaint in sf.verify(folder).problems
    page.unlink()
    assert sf.verify(folder).satisfied
    page.symlink_to(folder / "private" / "report.html")
    with pytest.raises(sf.NotVerified, match=r"summary\.html is a link to another place"):
        sf.verify(folder)


@pytest.mark.parametrize(
    ("listed", "words"),
    [
        (None, "summary.html does not belong to the release"),
        ({"file": "notes.txt", "sha256": "0"}, "no proper 'summary'"),
        ({"file": "../summary.html", "sha256": "0"}, "no proper 'summary'"),
        ("summary.html", "no proper 'summary'"),
    ],
)
def test_what_the_manifest_lists(rules: Rules, saves: Saves, listed: Any, words: str) -> None:
    """A page that the manifest does not list does not belong; it can list this one page and no other."""
    folder = saves(pa.table(_rows()), rules(ROLES, k=4, algorithm=SEARCH))
    path = folder / "public" / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["summary"]
    path.write_text(json.dumps(manifest | ({} if listed is None else {"summary": listed})))
    (folder / "private" / "audit.json").unlink()
    if listed is None:
        assert sf.verify(folder).problems == (words,)
        (folder / "public" / "summary.html").unlink()
        assert sf.verify(folder).satisfied  # as releases of earlier versions are
        return
    with pytest.raises(sf.NotVerified, match=words):
        sf.verify(folder)


def test_names_and_labels_are_escaped(rules: Rules, saves: Saves) -> None:
    """Columns and values may hold markup, and stay text."""
    evil = "<script>alert(1)</script>&\u202e"
    rows = {f"{evil}q": [evil, evil, "b", "b"], f"{evil}s": [evil, "x", None, "x"], f"{evil}p": [evil] * 4}
    folder = saves(pa.table(rows), rules({f"{evil}q": "quasi", f"{evil}s": "sensitive", f"{evil}p": "plain"}))
    assert "<script" not in (folder / "public" / "summary.html").read_text(encoding="utf-8")
    assert _text(folder).count(f"{evil}s") >= 2


def test_hundreds_of_columns(rules: Rules) -> None:
    """The page has an end: columns without a part of their own are named or counted, all in the dictionary's order."""
    rows = {f"c{one:03}": ["a", "b"] * 4 for one in range(230)}
    release = prepare(pa.table(rows), rules({"c000": "quasi"} | dict.fromkeys(list(rows)[1:], "plain")))
    entries = [{"name": name, "role": "quasi" if name == "c000" else "plain", "type": "string"} for name in rows]
    manifest = {
        "sfumato": "1",
        "published": "2024-01-01",
        "form": "generalized",
        "algorithm": "auto",
        "privacy": [],
        "promise": [],
        "protects": "",
        "rows": 8,
        "classes": 2,
        "suppression_limit": 0.0,
        "columns": entries,
        "files": {"table.csv": {}},
    }
    text = _Text(public_summary(manifest, {"table.csv": release.tables["table"].columns})).text
    assert "Not shown, so that the page has an end: c040 ," in text
    assert "30 columns more: see manifest.json." in text


ABOUT = {
    "title": "Visits <2024>",
    "publisher": "The ward & its office",
    "contact": "data@ward.example",
    "purpose": "For teaching",
}


def test_title_publisher_contact_and_purpose(rules: Rules, saves: Saves) -> None:
    """What the policy tells of a release stands in the manifest and, escaped, at the top of the page."""
    rows = {name: cells[:40] for name, cells in _rows().items()}
    folder = saves(pa.table(rows), rules(ROLES, k=4, publish=ABOUT))
    assert json.loads((folder / "public" / "manifest.json").read_text())["about"] == ABOUT
    text = _text(folder)
    assert text.startswith("Visits <2024> Visits <2024> Published 20")
    assert "by The ward & its office Purpose For teaching Contact data@ward.example" in text
    assert sf.verify(folder).satisfied
    without = saves(pa.table(rows), rules(ROLES, k=4))
    assert "about" not in json.loads((without / "public" / "manifest.json").read_text())
    assert _text(without).startswith("About this release About this release Published 20")


@pytest.mark.parametrize("key", ["title", "publisher", "contact", "purpose"])
def test_nothing_blank_is_told(rules: Rules, key: str) -> None:
    """A blank text, one of pages, and what is no text are refused by the name of their key."""
    for bad in (" ", "x" * 2001, 7):
        with pytest.raises(sf.PolicyError, match=f"publish.{key}: must be (a )?text"):
            prepare(pa.table(_rows()), rules(ROLES, publish={key: bad}))


@pytest.mark.parametrize("form", FORMS)
def test_the_page_speaks_of_what_the_release_has(rules: Rules, saves: Saves, form: str) -> None:
    """Without a column of persons there is no word of pseudonyms, and no key of the manifest stands in quotes."""
    rows = {name: cells[:40] for name, cells in _rows().items()}
    text = _text(saves(pa.table(rows), rules(ROLES, k=4, **FORMS[form])))
    assert "pseudonym" not in text
    assert "linked_k" not in text
    assert not re.search(r"['“‘](promise|previous|covers|protects)['”’]", text)
    persons = ROLES | {"ssn": "individual"}
    assert "pseudonym" in _text(saves(pa.table(rows), rules(persons, k=4, **FORMS[form])))
