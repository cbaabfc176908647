"""Earlier releases as files: what can be read, and one sentence for what cannot."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from sfumato.errors import DataError, HierarchyError, PolicyError, SfumatoError
from sfumato.release import Release

Makes = Callable[..., Release]


def achieved(release: Release) -> Any:
    """What the first requirement reaches."""
    return release.privacy[0]["achieved"]["k"]


@pytest.mark.parametrize(
    ("content", "kind", "words"),
    [
        (None, DataError, "check the table of t2 under [[previous]]"),
        (b"", DataError, "t2.csv is empty"),
        (b"job,disease\n", DataError, "the table of t2: the table has no rows"),
        (b"job,job\nBanker,Clerk\n", DataError, "stand twice"),
        (b"job,disease\nBanker\n", DataError, "record 1 has 1 cells"),
        (b"job,disease\nBanker,\xff\n", DataError, "UTF-8"),
        (b"job,disease\nCook,HIV\nBanker,HIV\nNurse,HIV\n", HierarchyError, "'Cook', 'Nurse'"),
        (b"work,disease\nBanker,HIV\n", PolicyError, "t2 has no column 'job'"),
    ],
)
def test_what_cannot_be_read(
    content: bytes | None, kind: type[SfumatoError], words: str, makes: Makes, tmp_path: Path
) -> None:
    """Every way in which the file is wrong is one sentence that names it."""
    path = tmp_path / "t2.csv"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(kind) as caught:
        makes()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_is_not_a_table(makes: Makes, tmp_path: Path) -> None:
    """A release folder in place of its table is an error that says what to name."""
    with pytest.raises(DataError, match=r"is a folder; name the table of t2 in it, such as public/table.csv"):
        makes(previous=[{"name": "t2", "table": str(tmp_path)}])


def test_other_formats_are_refused(makes: Makes, tmp_path: Path) -> None:
    """A format that the verifier does not read is refused before anything is made."""
    (tmp_path / "t2.jsonl").write_text('{"job": "Banker"}\n')
    with pytest.raises(DataError, match="save the table of t2 as CSV or Parquet"):
        makes(previous=[{"name": "t2", "table": str(tmp_path / "t2.jsonl")}])


def test_generalized_labels_are_known(makes: Makes, tmp_path: Path) -> None:
    """An earlier release may hold labels of any level, and NULL as a value of its own."""
    (tmp_path / "t2.csv").write_text("job,disease\nOffice,Cancer\n*,HIV\nEngineer,\n")
    assert achieved(makes()) >= 2


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_separators_and_encodings(separator: str, makes: Makes, tmp_path: Path) -> None:
    """The separator is found, the encoding is the table's, and the verifier reads the file the same way."""
    text = "job,disease\nBanker,naïve\nClerk,HIV\nDriver,Cancer\nEngineer,HIV\n".replace(",", separator)
    (tmp_path / "t2.csv").write_bytes(text.encode("latin-1"))
    assert achieved(makes(data={"encoding": "latin-1"})) >= 2


def test_a_file_written_otherwise_than_the_table(document: dict[str, Any], makes: Makes, tmp_path: Path) -> None:
    """The policy says how an earlier file is read where that is not as the current table is."""
    (tmp_path / "t2.csv").write_bytes("job|disease\nBanker|Grippe\nna|\xfcbel\nClerk|HIV\n".encode("latin-1"))
    how = {"separator": "|", "null": ["na"], "encoding": "latin-1"}
    release = makes(previous=[document["previous"][0] | how])
    linked = release.publication.linked_releases
    assert linked is not None
    assert linked.earlier[0].coded("job").texts == ("Banker", "Clerk", None)
    assert linked.earlier[0].coded("disease").texts[-1] == "\xfcbel"
    assert release.save(tmp_path / "release").is_dir()
    with pytest.raises(PolicyError, match=r"previous\[0\].encoding: must be an encoding"):
        makes(previous=[document["previous"][0] | {"encoding": "klingon"}])


def test_parquet(makes: Makes, tmp_path: Path) -> None:
    """Parquet is read as CSV is, numbers and dates as the library prints them."""
    rows = pa.table({"job": ["Banker", "Clerk", "Driver", "Engineer"], "size": [1.5, 2.0, 3.0, None]})
    parquet.write_table(rows, tmp_path / "t2.parquet")
    entry = {"model": "xy-anonymity", "x": ["name", "job", "t2.job", "t2.size"], "y": ["$row"], "k": 2}
    release = makes(previous=[{"name": "t2", "table": str(tmp_path / "t2.parquet")}], privacy=[entry])
    assert achieved(release) >= 2


def test_a_release_of_our_own_is_read_by_its_manifest(document: dict[str, Any], makes: Makes, tmp_path: Path) -> None:
    """Cells and headers that carry the apostrophe against formulas mean what they meant."""
    (tmp_path / "old.csv").write_text("job,=x\nBanker,-a\nBanker,-a\nClerk,+b\nDriver,@c\nEngineer,?\n")
    columns = {"job": document["columns"]["job"], "=x": {"role": "sensitive"}}
    from sfumato import anonymize

    first = anonymize(tmp_path / "old.csv", {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 1}]})
    public = first.save(tmp_path / "first") / "public" / "table.csv"
    assert "'-a" in public.read_text()
    entry = {"model": "xy-linkability", "x": ["name", "job", "t2.job"], "y": ["t2.=x"], "k": 1.0, "values": ["-a"]}
    release = makes(previous=[{"name": "t2", "table": str(public)}], privacy=[entry])
    assert achieved(release) == 1.0


def test_shared_columns_stand_in_x_on_both_sides(makes: Makes) -> None:
    """One table may tell more of a shared column than the other, so both count or neither."""
    entry = {"model": "xy-anonymity", "x": ["name", "job"], "y": ["$row"], "k": 2}
    with pytest.raises(PolicyError, match=r"'job' is shared.*add 't2.job', or leave it out on all sides") as caught:
        makes(privacy=[entry])
    assert caught.value.key == "privacy[0].x"


def test_pseudonyms_under_a_key_tie_releases_together(document: dict[str, Any], makes: Makes, tmp_path: Path) -> None:
    """A column of persons under a key that an earlier release has, too, leaves nothing to hide."""
    (tmp_path / "person.key").write_text(bytes(range(32)).hex())
    (tmp_path / "t2.csv").write_text("name,job\nx,Banker\n")
    columns = document["columns"] | {"name": {"role": "individual", "key": str(tmp_path / "person.key")}}
    entry = {"model": "xy-anonymity", "x": ["job", "t2.job"], "y": ["$row"], "k": 2}
    with pytest.raises(PolicyError, match="has pseudonyms under a key, and t2 has a column of that name"):
        makes(columns=columns, privacy=[entry])
