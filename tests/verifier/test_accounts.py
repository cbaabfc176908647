"""Accounts and tables that somebody wrote by hand: a sentence, never a traceback, never another file."""

import json
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import InputError, NotVerified
from sfumato.verifier import RequestedPromise, verify

JUNK: tuple[Any, ...] = (None, True, -1, 1.5, "x", [], {}, [[]], [None], {"a": 1}, [{"name": 1}], 10**400)
KEYS = ("table", "rows", "classes", "promise", "columns", "files", "csv", "privacy", "form", "suppression_limit")
RULES: tuple[dict[str, Any], ...] = (
    {},
    {"model": "magic"},
    {"model": ["k-anonymity"]},
    {"model": "k-anonymity"},
    {"model": "k-anonymity", "k": "1' OR '1'='1"},
    {"model": "k-anonymity", "k": 10**40},
    {"model": "k-anonymity", "k": True},
    {"model": "k-anonymity", "k": 4, "unless": "Tuesday"},
    {"model": "alpha-deassociation", "alpha": "0.5'); DROP TABLE classes; --", "column": "illness"},
    {"model": "alpha-deassociation", "alpha": float("nan"), "column": "illness"},
    {"model": "alpha-deassociation", "alpha": 0.5},
    {"model": "alpha-deassociation", "alpha": 0.5, "column": "illness", "values": [1]},
    {"model": "t-closeness", "column": "illness", "t": 0.5, "distance": "as the crow flies"},
    {"model": "distinct-l-diversity", "column": 5, "l": 2},
    {"model": "identity-k-anonymity", "k": 2},
)


def refusal(folder: Path) -> str:
    """Why a release is not verified, raised or reported; empty if it is."""
    try:
        return "; ".join(verify(folder).complaints)
    except NotVerified as error:
        return str(error)


@pytest.mark.slow
@pytest.mark.parametrize("key", KEYS)
def test_keys_that_are_missing_or_junk_are_a_sentence(made: Any, key: str) -> None:
    """Whatever a key holds, the release is not verified and the reason is one sentence."""
    release = made()
    whole = release.manifest
    for junk in JUNK:
        release.rewrite(**{key: junk})
        refused = refusal(release.folder)
        assert "\n" not in refused
        assert refused or key == "suppression_limit" or junk == whole[key]
    del whole[key]
    (release.public / "manifest.json").write_text(json.dumps(whole))
    if key not in {"csv", "privacy", "form", "suppression_limit"}:
        with pytest.raises(NotVerified, match=key):
            verify(release.folder)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_requirements_that_mean_nothing_are_a_sentence(made: Any, rule: dict[str, Any]) -> None:
    """In the manifest they show that it was changed; asked for, they are the caller's mistake."""
    release = made()
    with pytest.raises(InputError):
        verify(release.folder, asked=RequestedPromise([rule]))
    release.rewrite(promise=[rule])
    with pytest.raises(NotVerified, match=r"^manifest\.json: "):
        verify(release.folder)


def test_a_requirement_about_another_column_is_the_callers_mistake(made: Any) -> None:
    """A policy for another table does not fit."""
    release = made()
    with pytest.raises(InputError, match="columns that the release does not have: 'wealth'"):
        verify(release.folder, asked=RequestedPromise([{"model": "distinct-l-diversity", "column": "wealth", "l": 2}]))
    with pytest.raises(InputError, match="no requirement"):
        verify(release.folder, asked=RequestedPromise([]))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["../../secret.csv", "/etc/passwd", "..", "", ".", "a/b.csv", "a\\b.csv", "x\0.csv"])
def test_no_path_leads_out_of_the_folder(made: Any, name: str) -> None:
    """A table or file elsewhere is refused by its name."""
    release = made()
    release.rewrite(table=name, files={name: {"sha256": "0"}})
    with pytest.raises(NotVerified, match="which is not a file of the release"):
        verify(release.folder)
    release.rewrite(table="table.csv", files={name: {"sha256": "0"}, "table.csv": {"sha256": "0"}})
    with pytest.raises(NotVerified, match="which is not a file of the release"):
        verify(release.folder)


@pytest.mark.parametrize("file", ["table.csv", "manifest.json"])
def test_a_link_is_refused(made: Any, file: str) -> None:
    """A release holds its files itself, so that nobody is led elsewhere."""
    release = made()
    path, elsewhere = release.public / file, release.folder.parent / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    with pytest.raises(NotVerified, match="is a link to another place"):
        verify(release.folder)


@pytest.mark.parametrize("file", ["table.csv", "manifest.json"])
def test_a_missing_file_is_named(made: Any, file: str) -> None:
    """What is not there cannot be verified, nor can a folder of that name."""
    release = made()
    (release.public / file).unlink()
    with pytest.raises(NotVerified, match=f"{file} is missing from the release"):
        verify(release.folder)
    (release.public / file).mkdir()
    with pytest.raises(NotVerified, match=f"{file} is not a file"):
        verify(release.folder)


def test_a_folder_that_is_no_release_is_named(tmp_path: Path) -> None:
    """No folder is bad input; an empty one is a release without its manifest."""
    with pytest.raises(InputError, match="is not a release folder"):
        verify(tmp_path / "nowhere")
    with pytest.raises(NotVerified, match=r"manifest\.json is missing"):
        verify(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000, b'"text"'])
@pytest.mark.parametrize("account", ["public/manifest.json", "private/audit.json"])
def test_accounts_that_are_no_json_object_are_a_sentence(made: Any, account: str, content: bytes) -> None:
    """Not JSON, not an object, not even text."""
    release = made()
    (release.folder / account).write_bytes(content)
    with pytest.raises(NotVerified, match="JSON"):
        verify(release.folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    "needs",
    [
        [],
        {"illness": {}},
        {"illness": {"values": ["flu"], "totals": [], "ranks": None, "places": 0, "ancestors": None}},
        {"illness": {"values": ["flu"], "totals": ["many"], "ranks": None, "places": 0, "ancestors": None}},
        {"illness": {"values": [[]], "totals": [1], "ranks": None, "places": 0, "ancestors": None}},
        {"illness": {"values": ["flu"], "totals": [0], "ranks": None, "places": 0, "ancestors": None}},
        {"illness": {"values": ["flu"], "totals": [1], "ranks": [5], "places": 1, "ancestors": [[1], [2, 3]]}},
    ],
    ids=str,
)
def test_an_audit_that_describes_no_column_is_a_sentence(made: Any, needs: Any) -> None:
    """A distribution must be one."""
    release = made()
    release.rewrite("private/audit.json", needs=needs)
    with pytest.raises(NotVerified, match=r"audit\.json does not describe"):
        verify(release.folder)


@pytest.mark.parametrize("costs", [[], {"illness": 1}, {"illness": [["a", "b"]]}, {"illness": [["a", "b", "dear"]]}])
def test_an_audit_without_proper_costs_is_a_sentence(made: Any, costs: Any) -> None:
    """Costs are lines of two values and a number."""
    release = made()
    release.rewrite("private/audit.json", costs=costs)
    with pytest.raises(NotVerified, match=r"audit\.json does not list costs"):
        verify(release.folder)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.995])
def test_a_truncated_table_is_reported(made: Any, kind: str, share: float) -> None:
    """Cut anywhere, with the hash renewed: unreadable, or short of rows."""
    release = made(kind=kind)
    path = release.table
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    release.sign()
    assert refusal(release.folder)


@pytest.mark.parametrize("content", [b"sex,zip\nf,1\n", b"sex,sex,zip,illness,visits\n", b'"sex\n', b"\xff\xfe\n"])
def test_another_file_in_place_of_the_table_is_a_sentence(made: Any, content: bytes) -> None:
    """Columns that are lacking or doubled, quotes that never end, bytes that are no text."""
    release = made()
    (release.table).write_bytes(content)
    release.sign()
    with pytest.raises(NotVerified):
        verify(release.folder)


def test_a_table_without_rows_promises_nothing(made: Any) -> None:
    """An empty table meets every requirement; it is no release for all that."""
    release = made()
    (release.table).write_text("sex,zip,illness,visits\n")
    release.sign()
    assert "the table has no rows" in verify(release.folder).complaints
