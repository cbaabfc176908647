"""A release that was changed after publication, with and without the tracks covered."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import InputError, NotVerified
from sfumato.verifier import RequestedPromise, Verdict, verify

KINDS = pytest.mark.parametrize("kind", ["csv", "parquet"])
Rows = list[dict[str, Any]]


def smallest(rows: Rows) -> Rows:
    """The rows of the smallest class."""
    found: dict[Any, Rows] = {}
    for row in rows:
        found.setdefault((row["sex"], row["zip"]), []).append(row)
    return min(found.values(), key=len)


def quasi_cell(rows: Rows) -> Rows:
    """One label that is in no dictionary."""
    rows[0]["zip"] = "999"
    return rows


def null_cell(rows: Rows) -> Rows:
    """One label gone."""
    rows[0]["zip"] = None
    return rows


def sensitive_cell(rows: Rows) -> Rows:
    """One value that the input did not have."""
    rows[0]["illness"] = "plague"
    return rows


def one_value(rows: Rows) -> Rows:
    """One class in which everybody has the flu."""
    for row in smallest(rows):
        row["illness"] = "flu"
    return rows


def moved_row(rows: Rows) -> Rows:
    """All but one row of a class moved to another, so that one is left alone."""
    some = smallest(rows)
    other = next(row for row in rows if (row["sex"], row["zip"]) != (some[0]["sex"], some[0]["zip"]))
    for row in some[1:]:
        row["sex"], row["zip"] = other["sex"], other["zip"]
    return rows


def deleted_row(rows: Rows) -> Rows:
    """A row less."""
    return rows[1:]


def doubled_row(rows: Rows) -> Rows:
    """A row more."""
    return [*rows, rows[0]]


def added_column(rows: Rows) -> Rows:
    """A column that nobody promised anything about."""
    return [{**row, "ssn": "1"} for row in rows]


def dropped_column(rows: Rows) -> Rows:
    """A plain column less."""
    return [{key: value for key, value in row.items() if key != "visits"} for row in rows]


def other_order(rows: Rows) -> Rows:
    """The columns in another order."""
    return [dict(reversed(row.items())) for row in rows]


COVERED: list[tuple[Callable[[Rows], Rows], str]] = [
    (quasi_cell, "the class sex = ., zip = 999 has 1 rows, fewer than 4"),
    (quasi_cell, "column 'zip' holds labels that the data dictionary does not have: '999'"),
    (null_cell, "zip = NULL has 1 rows"),
    (sensitive_cell, "t-closeness: the class .* holds a sensitive value that the input did not have"),
    (one_value, "distinct-l-diversity: the class .* has 1 different sensitive values, fewer than 2"),
    (moved_row, "k-anonymity: the class .* has 1 rows, fewer than 4"),
    (deleted_row, "the table has 199 rows where the manifest says 200"),
    (doubled_row, "the table has 201 rows where the audit leaves 200"),
    (added_column, "the table has columns that the manifest lacks: 'ssn'"),
    (dropped_column, "the table lacks columns that the manifest has: 'visits'"),
    (other_order, "the columns of the table do not stand as the manifest says"),
]


def complaints(verdict: Verdict) -> str:
    """All that is wrong; there must be something."""
    assert not verdict.satisfied
    return "\n".join(verdict.complaints)


def says(verdict: Verdict, pattern: str) -> bool:
    """Whether one of the complaints matches."""
    import re

    return re.search(pattern, complaints(verdict)) is not None


@KINDS
def test_an_untouched_release_holds(made: Any, kind: str) -> None:
    """The whole folder, and its public part alone."""
    release = made(kind=kind)
    assert verify(release.folder).complaints == ()
    assert verify(release.public).satisfied


@pytest.mark.slow
@KINDS
@pytest.mark.parametrize(("change", "complaint"), COVERED, ids=lambda value: getattr(value, "__name__", ""))
def test_a_changed_table_is_found_out_even_with_a_new_hash(
    made: Any, kind: str, change: Callable[[Rows], Rows], complaint: str
) -> None:
    """What breaks the promise or the counts shows in the table itself, and the class is named."""
    release = made(kind=kind)
    release.store(change(release.load()))
    assert says(verify(release.folder), "SHA-256")
    release.sign()
    assert not says(verify(release.folder), "SHA-256")
    assert says(verify(release.folder), complaint)


@KINDS
def test_other_row_order_is_the_same_table_with_another_hash(made: Any, kind: str) -> None:
    """Reordered rows keep every promise, so only the hash tells."""
    release = made(kind=kind)
    release.store(release.load()[::-1])
    verdict = verify(release.folder)
    assert "SHA-256" in complaints(verdict)
    assert all(finding.satisfied for finding in verdict.privacy)
    release.sign()
    assert verify(release.folder).satisfied


@KINDS
def test_one_flipped_byte_is_found_out(made: Any, kind: str) -> None:
    """A plain cell is under no promise; the hash covers it all the same."""
    release = made(kind=kind)
    rows = release.load()
    rows[0]["visits"] += 1
    release.store(rows)
    assert says(verify(release.folder), "SHA-256")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"rows": 7}, "where the manifest says 7"),
        ({"classes": 1}, "where the manifest says 1"),
        ({"promise": [{"model": "k-anonymity", "k": 2}]}, "does not promise what the policy in the audit asks for"),
        ({"privacy": []}, "does not state one figure for each"),
    ],
)
def test_a_changed_manifest_is_found_out(made: Any, change: dict[str, Any], complaint: str) -> None:
    """Numbers and promises are compared with the table and with the audit."""
    release = made()
    release.rewrite(**change)
    assert says(verify(release.folder), complaint)


def test_a_column_of_another_role_is_found_out(made: Any) -> None:
    """A quasi-identifier that is called plain would make classes look larger."""
    release = made()
    columns = release.manifest["columns"]
    columns[1]["role"] = "plain"
    release.rewrite(columns=columns)
    assert says(verify(release.folder), "does not give the columns the roles of the policy")


@pytest.mark.slow
@pytest.mark.parametrize("figure", [{"k": 400}, {"l": 1}, {}, "much", None])
def test_a_figure_that_was_made_up_is_found_out(made: Any, figure: Any) -> None:
    """The manifest's figures are those of the table, key by key."""
    release = made()
    stated = release.manifest["privacy"]
    stated[0]["achieved"] = figure
    release.rewrite(privacy=stated)
    assert says(verify(release.folder), "states of k-anonymity is not what the table holds")


def test_a_file_that_the_manifest_merely_lists_is_reported(made: Any) -> None:
    """Nothing belongs into the public folder but the manifest and the table, whatever hash is given for it."""
    release = made()
    (release.public / "raw.csv").write_text("name\n")
    known = {"sha256": hashlib.sha256(b"name\n").hexdigest(), "bytes": 5}
    release.rewrite(files=release.manifest["files"] | {"raw.csv": known})
    assert says(verify(release.folder), "raw.csv does not belong to the release")


@pytest.mark.parametrize("name", ["secret.csv", ".hidden", "folder"])
def test_an_extra_file_is_reported(made: Any, name: str) -> None:
    """What is not in the manifest does not belong into the public folder."""
    release = made()
    path: Path = release.public / name
    path.mkdir() if name == "folder" else path.write_text("x")
    assert f"{name} does not belong to the release" in verify(release.folder).complaints


def test_other_requirements_replace_the_promised_ones(made: Any) -> None:
    """A reader may ask for more or less than was promised."""
    release = made()
    assert verify(release.folder, asked=RequestedPromise([{"model": "k-anonymity", "k": 1}])).satisfied
    verdict = verify(release.folder, asked=RequestedPromise([{"model": "k-anonymity", "k": 150}]))
    assert verdict.privacy[0].required == {"k": 150}
    assert says(verdict, "fewer than 150")


def test_a_manifest_signed_anew_is_found_out_by_the_private_account(made: Any) -> None:
    """Whoever has only the public part cannot change a word of the manifest unseen, even where no promise breaks."""
    release = made()
    release.rewrite(published="1999-01-01")
    assert says(verify(release.folder), "manifest.json is not the file that was published")


def test_a_policy_with_other_roles_is_no_yardstick(made: Any) -> None:
    """A policy in which a plain column identifies people does not "hold" for a release made without that."""
    release = made()
    roles = {column["name"]: column["role"] for column in release.manifest["columns"]}
    plain = next(name for name, role in roles.items() if role == "plain")
    rules = release.manifest["promise"]
    assert verify(release.folder, asked=RequestedPromise(rules, roles)).satisfied
    with pytest.raises(InputError, match=f"other roles than the release has to '{plain}'"):
        verify(release.folder, asked=RequestedPromise(rules, roles | {plain: "quasi"}))


def test_more_suppressed_rows_than_allowed_are_found_out(made: Any) -> None:
    """The limit that the manifest states binds the rows that the audit says were suppressed."""
    release = made()
    audit = json.loads((release.folder / "private" / "audit.json").read_text())
    rows = audit["input"]["rows"]
    release.rewrite("private/audit.json", input={**audit["input"], "rows": rows + 50}, suppressed={"rows": 50})
    assert says(verify(release.folder), "50 rows were suppressed, more than the share of")


@pytest.mark.parametrize(
    "part", ["public", "private", "public/table.csv", "public/manifest.json", "private/audit.json"]
)
def test_a_part_that_is_a_link(people: Any, roles: dict[str, Any], rules: Any, saves: Any, part: str) -> None:
    """A release holds its parts and files itself: a link to another place is refused, even to the same content."""
    folder: Path = saves(people, rules(roles))
    (folder / part).rename(folder.parent / "elsewhere")
    (folder / part).symlink_to(folder.parent / "elsewhere")
    with pytest.raises(NotVerified, match=f"{Path(part).name} is a link to another place"):
        verify(folder)


def test_a_link_to_a_release(people: Any, roles: dict[str, Any], rules: Any, saves: Any) -> None:
    """A release may be named by a link to it, or to its public part."""
    folder: Path = saves(people, rules(roles))
    link = folder.parent / "link"
    for target in (folder, folder / "public"):
        link.symlink_to(target)
        assert verify(link).satisfied
        link.unlink()
