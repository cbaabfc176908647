"""Releases whose table is several files: what is written, what all readers make of it, and what tampering comes to."""

import hashlib
import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import DataError, InputError, NotVerified, OutputError, PolicyError
from sfumato.ledger import Ledger
from sfumato.policy import load
from sfumato.publish.signing_key import SigningKey
from sfumato.publish.written_table import WrittenTable, gather_parts, stated_digest
from sfumato.table import column_names
from sfumato.table.files import file_digest

KINDS = ["csv", "csv.gz", "parquet"]
ROWS = 2500


def _policy(kind: str, **changes: Any) -> dict[str, Any]:
    return {
        "columns": {
            "age": {"role": "quasi", "hierarchy": {"intervals": [10, 20]}},
            "sex": {"role": "quasi", "hierarchy": "suppress"},
            "illness": {"role": "sensitive"},
            "note": {"role": "plain"},
        },
        "privacy": [{"model": "k-anonymity", "k": 3}, {"model": "distinct-l-diversity", "column": "illness", "l": 2}],
        "algorithm": {"name": "optimal", "suppression": 0.01},
        "publish": {"format": kind, "rows_per_file": 1000},
        **changes,
    }


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    """A table with cells that need quotes, that a spreadsheet would run, and that are missing."""
    draw = random.Random(3)
    return pd.DataFrame(
        {
            "age": [draw.randint(18, 80) for _ in range(ROWS)],
            "sex": [draw.choice("fm") for _ in range(ROWS)],
            "illness": [draw.choice(["flu", "HIV", "=cold", None]) for _ in range(ROWS)],
            "note": [draw.choice(["a,b", "", "-5", None, 'say "x"', "two\nlines"]) for _ in range(ROWS)],
        }
    )


@pytest.fixture(scope="module")
def written(people: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A release of each format."""
    folder = tmp_path_factory.mktemp("several")
    for kind in KINDS:
        sf.anonymize(people, _policy(kind)).save(folder / kind)
    return {kind: folder / kind for kind in KINDS}


@pytest.fixture
def release(written: dict[str, Path], tmp_path: Path) -> Callable[[str], Path]:
    """A copy of a release that may be changed."""

    def copy(kind: str) -> Path:
        return Path(shutil.copytree(written[kind], tmp_path / f"release-{kind}"))

    return copy


def _manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "public/manifest.json").read_text())
    return found


def _restate(folder: Path) -> None:
    """Give the manifest the hashes of the files as they are, and the audit that of the manifest."""
    public, manifest = folder / "public", _manifest(folder)
    manifest["files"] = {
        f"table/{path.name}": {"sha256": file_digest(path), "bytes": path.stat().st_size}
        for path in sorted((public / "table").iterdir())
    }
    (public / "manifest.json").write_text(json.dumps(manifest))
    audit = json.loads((folder / "private/audit.json").read_text())
    digest = hashlib.sha256((public / "manifest.json").read_bytes()).hexdigest()
    (folder / "private/audit.json").write_text(json.dumps(audit | {"manifest_sha256": digest}))


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_cut_into_files_and_the_manifest_states_each(kind: str, written: dict[str, Path]) -> None:
    """The table is a folder of numbered files, each with its hash; all but the last have so many rows."""
    manifest, folder = _manifest(written[kind]), written[kind] / "public/table"
    names = [f"part-{number:05}.{kind}" for number in range(3)]
    assert manifest["table"] == "table"
    assert sorted(path.name for path in folder.iterdir()) == names
    assert list(manifest["files"]) == [f"table/{name}" for name in names]
    assert all(manifest["files"][f"table/{name}"]["sha256"] == file_digest(folder / name) for name in names)
    assert stated_digest(manifest["files"], "table") == file_digest(folder)
    if kind == "parquet":
        assert [pq.read_metadata(folder / name).num_rows for name in names][:2] == [1000, 1000]
        assert {*pq.read_metadata(folder / names[0]).metadata} == {b"ARROW:schema"}
    else:
        rows = [pd.read_csv(folder / name) for name in names]
        assert [len(part) for part in rows][:2] == [1000, 1000]
        assert {tuple(part.columns) for part in rows} == {("age", "sex", "illness", "note")}


@pytest.mark.parametrize("kind", KINDS)
def test_the_verifier_and_all_readers_take_the_parts_as_one_table(
    kind: str, written: dict[str, Path], people: pd.DataFrame, tmp_path: Path
) -> None:
    """A release in one file of the same rows gives the same figures."""
    one = tmp_path / "one"
    policy = _policy(kind, publish={"format": kind})
    sf.anonymize(people, policy).save(one)
    several = written[kind]
    first, second = sf.verify(one), sf.verify(several)
    assert second.satisfied
    assert second.privacy == first.privacy
    question = "select sex, count(*), avg(age) where age > 30 group by sex"
    assert sf.query(several, question).as_json()["answers"] == sf.query(one, question).as_json()["answers"]
    assert sf.risk(several).as_json() == sf.risk(one).as_json()
    assert sf.utility(several, people).as_json()["ncp"] == sf.utility(one, people).as_json()["ncp"]
    known = people.head(40)[["age", "sex"]]
    for path in (several, several / "public/table"):
        linked = sf.attack.link(path, known, on=["age", "sex"]).as_json()
        assert linked["matched_records"] == sf.attack.link(one, known, on=["age", "sex"]).as_json()["matched_records"]
    assert sorted(column_names(several / "public/table", load(policy).source)) == ["age", "illness", "note", "sex"]
    assert file_digest(several / "public/table") != file_digest(next((one / "public").glob("table.*")))


def _remove(table: Path, kind: str) -> None:
    (table / f"part-00001.{kind}").unlink()


def _add(table: Path, kind: str) -> None:
    shutil.copy(table / f"part-00001.{kind}", table / f"part-00003.{kind}")


def _exchange(table: Path, kind: str) -> None:
    first, second = table / f"part-00000.{kind}", table / f"part-00001.{kind}"
    one, two = first.read_bytes(), second.read_bytes()
    first.write_bytes(two)
    second.write_bytes(one)


def _empty(table: Path, kind: str) -> None:
    (table / f"part-00001.{kind}").write_bytes(b"")


def _rename(table: Path, kind: str) -> None:
    (table / f"part-00001.{kind}").rename(table / f"host-7.{kind}")


def _truncate(table: Path, kind: str) -> None:
    path = table / f"part-00001.{kind}"
    path.write_bytes(path.read_bytes()[:-40])


def _link(table: Path, kind: str) -> None:
    path = table / f"part-00001.{kind}"
    path.rename(table.parent.parent / "elsewhere")
    path.symlink_to("../../elsewhere")


def _link_folder(table: Path, kind: str) -> None:
    assert (table / f"part-00001.{kind}").exists()
    table.rename(table.parent.parent / "elsewhere")
    table.symlink_to("../elsewhere")


TAMPERING: dict[Callable[[Path, str], None], str] = {
    _remove: "part-00001.* is missing from the release",
    _add: "part-00003.* does not belong to the release",
    _exchange: "part-00000.* is not the file that was published",
    _empty: "part-00001.* (is empty|is not the file|cannot be read)",
    _rename: "part-00001.* is missing from the release",
    _truncate: "part-00001.* (is not the file|cannot be read)",
    _link: "is a link to another place",
    _link_folder: "is a link to another place",
}


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("how", TAMPERING)
def test_tampering_with_parts_is_found(how: Callable[[Path, str], None], kind: str, release: Any) -> None:
    """Whatever was done to a part, the verifier names it."""
    folder = release(kind)
    how(folder / "public/table", kind)
    try:
        complaint = " ".join(sf.verify(folder).complaints)
    except NotVerified as error:
        complaint = str(error)
    assert re.search(TAMPERING[how], complaint), complaint
    if how not in {_exchange, _empty, _truncate}:
        with pytest.raises(DataError):
            sf.query(folder, "select count(*)")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_parts_of_other_columns_are_refused_even_with_their_hashes(kind: str, release: Any) -> None:
    """A part with its columns in another order, with one more, or of another type is no part of the table."""
    folder = release(kind)
    path = folder / "public/table" / f"part-00002.{kind}"
    frame = pd.read_csv(path, dtype=str) if kind == "csv" else pq.read_table(path).to_pandas()
    turned, wider = frame[["sex", "age", "illness", "note"]], frame.assign(more="1")
    typed = frame.assign(note=range(len(frame))) if kind == "parquet" else turned
    for changed in (turned, wider, typed):
        if kind == "csv":
            changed.to_csv(path, index=False)
        else:
            pq.write_table(pa.Table.from_pandas(changed, preserve_index=False), path)
        _restate(folder)
        with pytest.raises(NotVerified, match=r"part-00002\.\w+ has not the columns of part-00000"):
            sf.verify(folder)


def test_a_manifest_whose_parts_are_misnumbered_or_lead_elsewhere_is_refused(release: Any) -> None:
    """Names of parts are numbers from 0 on, of one format, in a folder of the release."""
    folder = release("csv")
    whole = _manifest(folder)
    entry = whole["files"]["table/part-00000.csv"]
    for files in (
        {"table/part-00001.csv": entry},
        {"table/part-00000.csv": entry, "table/part-00002.csv": entry},
        {"table/part-00000.csv": entry, "table/part-00001.parquet": entry},
        {"table/part-00000.csv": entry, "table/../../private/audit.json": entry},
        {"table/worker-3.csv": entry},
        {},
    ):
        (folder / "public/manifest.json").write_text(json.dumps(whole | {"files": files}))
        with pytest.raises(NotVerified, match=r"manifest.json (does not name the files|has no hash of its table)"):
            sf.verify(folder)
    (folder / "public/manifest.json").write_text(
        json.dumps(whole | {"files": whole["files"] | {"../part-00000.csv": entry}})
    )
    with pytest.raises(NotVerified, match="is not a file of the release"):
        sf.verify(folder)


def test_a_damaged_line_is_named_with_its_part(release: Any) -> None:
    """Of several files, the sentence names the one that cannot be read."""
    folder = release("csv")
    path = folder / "public/table/part-00001.csv"
    path.write_text(path.read_text() + "1,2,3,4,5,6\n")
    _restate(folder)
    with pytest.raises(NotVerified, match=r"part-00001.csv cannot be read: line \d+ has not as many cells"):
        sf.verify(folder)


def test_force_replaces_such_a_release_and_nothing_else(people: pd.DataFrame, release: Any, tmp_path: Path) -> None:
    """A stranger's file in the folder of the table stays."""
    folder = release("csv")
    made = sf.anonymize(people, _policy("csv", publish={}))
    (folder / "public/table/thesis.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"public/table/thesis.txt, which no release has"):
        made.save(folder, force=True)
    (folder / "public/table/thesis.txt").unlink()
    made.save(folder, force=True)
    assert not (folder / "public/table").exists()
    assert (folder / "public/table.csv").exists()
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]


@pytest.mark.parametrize("named", ["", "public/table"])
@pytest.mark.parametrize("kind", ["csv.gz", "parquet"])
def test_it_is_an_earlier_release_by_its_folder(
    kind: str, named: str, written: dict[str, Path], people: pd.DataFrame, tmp_path: Path
) -> None:
    """Records are matched with all parts, and the verifier asks for the same parts again."""
    before = written[kind] / named
    policy = _policy("csv") | {
        "previous": [{"name": "then", "table": str(before)}],
        "privacy": [
            {"model": "k-anonymity", "k": 3},
            {"model": "xy-anonymity", "x": ["sex", "then.sex"], "y": ["$row"], "k": 2},
        ],
        "algorithm": {"name": "tds"},
    }
    sf.anonymize(people[["age", "sex", "illness", "note"]], policy).save(tmp_path / "now")
    assert _manifest(tmp_path / "now")["previous"][0]["sha256"] == file_digest(written[kind] / "public/table")
    assert sf.verify(tmp_path / "now").satisfied
    moved = Path(shutil.copytree(written[kind], tmp_path / "moved"))
    assert sf.verify(tmp_path / "now", previous={"then": moved}).satisfied
    (moved / f"public/table/part-00002.{kind}").unlink()
    with pytest.raises(NotVerified, match="is not the earlier release 'then'"):
        sf.verify(tmp_path / "now", previous={"then": moved})


def test_further_rows_a_ledger_and_a_signature_take_it(people: pd.DataFrame, tmp_path: Path) -> None:
    """Rows are added to it, it is recorded with all its parts, and a key covers them."""
    key = SigningKey.generate()
    (tmp_path / "public.pem").write_bytes(key.public_pem)
    policy = _policy("csv", apply={"promise": "together", "suppression": 1.0})
    sf.anonymize(people, policy).save(tmp_path / "first", sign=key)
    assert sf.verify(tmp_path / "first", signed_by=tmp_path / "public.pem").satisfied
    sf.apply(tmp_path / "first", people.sample(1500, random_state=1)).save(tmp_path / "second")
    assert sf.verify(tmp_path / "second").satisfied
    ledger = Ledger.create(tmp_path / "ledger")
    ledger.add(tmp_path / "first", name="first", population="all")
    stored = list((tmp_path / "ledger").rglob("part-0000*.csv"))
    assert sorted(path.name for path in stored) == ["part-00000.csv", "part-00001.csv", "part-00002.csv"]
    assert not list(ledger.check().problems)
    stored[0].chmod(0o600)
    stored[0].write_text("changed")
    assert list(ledger.check().problems)


def test_parts_that_somebody_else_wrote_are_gathered(tmp_path: Path) -> None:
    """Names of an engine's files are gone, their order is kept, also where a part has the name of another."""
    folder = tmp_path / "table"
    folder.mkdir()
    parts = []
    for number, name in enumerate(["part-00001.csv", "part-00000.csv", "task-9-of-host"]):
        (folder / name).write_text(str(number))
        parts.append(WrittenTable(folder / name, file_digest(folder / name)))
    table = gather_parts(folder, parts, ".csv")
    assert [path.read_text() for path in sorted(folder.iterdir())] == ["0", "1", "2"]
    assert list(table.entries()) == [f"table/part-0000{number}.csv" for number in range(3)]
    assert table.sha256 == file_digest(folder)


def test_a_number_of_rows_that_means_nothing_is_refused() -> None:
    """The key is named."""
    for rows in (0, 999, "many", True, 1.5):
        with pytest.raises(PolicyError, match=r"publish\.rows_per_file"):
            load(_policy("csv", publish={"rows_per_file": rows}))


def test_two_tables_are_cut_as_well(people: pd.DataFrame, tmp_path: Path) -> None:
    """NSS and SS are folders then, and queries and the verifier join them."""
    policy = _policy("parquet", publish={"form": "lossy-join", "format": "parquet", "rows_per_file": 1000})
    sf.anonymize(people, policy | {"algorithm": {"name": "top-down"}}).save(tmp_path / "two")
    assert _manifest(tmp_path / "two")["nss"] == "nss"
    assert sf.verify(tmp_path / "two").satisfied
    assert sf.query(tmp_path / "two", "select count(*)")[0].values["count(*)"].estimate == ROWS
    with pytest.raises(InputError, match="not a release folder"):
        sf.verify(tmp_path / "two/public/nss/part-00000.parquet")
