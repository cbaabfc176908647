"""Consortium files: what they say, and what is refused with the key and the line."""

import re
from pathlib import Path

import pytest

from sfumato.errors import PolicyError
from sfumato.party.consortium import read_consortium
from sfumato.party.party_keys import make_party_keys


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the certificates of a and b, and with the key of a."""
    made = tmp_path_factory.mktemp("consortium")
    for name in "ab":
        make_party_keys(name, made)
    return made


PARTIES = """parties = [
  { name = "a", address = "a.example:7001", certificate = "a.pem" },
  { name = "b", address = "[::1]:7001", certificate = "b.pem" },
]
"""
WHOLE = f'[consortium]\nname = "two"\n{PARTIES}[task]\nkind = "sum"\n'


def test_a_file_is_read_with_its_certificates(folder: Path) -> None:
    """Parties keep their order, everybody gets the result unless the file says otherwise, and times have defaults."""
    (folder / "c.toml").write_text(WHOLE)
    found = read_consortium(folder / "c.toml")
    assert found.names == ("a", "b")
    assert [(party.host, party.port) for party in found.parties] == [("a.example", 7001), ("::1", 7001)]
    assert found.task.result_to == ("a", "b")
    assert (found.patience, found.wait, found.time_limit, found.runs_per_day) == (30, 120, 3600, 20)


def test_the_digest_is_over_file_and_certificates(folder: Path, tmp_path: Path) -> None:
    """A byte more in the file, or another certificate, is another digest; another folder is the same."""
    (folder / "c.toml").write_text(WHOLE)
    digest = read_consortium(folder / "c.toml").digest
    (folder / "d.toml").write_text(WHOLE + "\n")
    assert read_consortium(folder / "d.toml").digest != digest
    for name in ("a.pem", "b.pem", "c.toml"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    assert read_consortium(tmp_path / "c.toml").digest == digest
    (tmp_path / "b.pem").unlink()
    (tmp_path / "b.key").unlink(missing_ok=True)
    make_party_keys("b", tmp_path)
    assert read_consortium(tmp_path / "c.toml").digest != digest


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (
            'name = "two"',
            'name = "two"\npatiance = 3',
            "line 3: consortium.patiance: is not a key .* did you mean patience",
        ),
        ('name = "two"', "patience = 0", "line 2: consortium.patience: must be seconds from 1"),
        ('name = "two"', "runs_per_day = 0", "consortium.runs_per_day: must be a whole number of at least 1, not 0"),
        ('name = "b"', 'name = "a"', r"line 5: consortium.parties\[1\].name: is the name of another party as well: a"),
        ('name = "b"', 'name = "../b"', r"parties\[1\].name: must be letters"),
        ("[::1]:7001", "::1", r"parties\[1\].address: must be host:port"),
        ("[::1]:7001", "a.example:7001", r"parties\[1\].address: is that of party a as well"),
        ("b.pem", "a.pem", r"parties\[1\].certificate: is that of party a as well"),
        ("b.pem", "a.key", r"parties\[1\].certificate: .*a.key holds no certificate in PEM"),
        ("b.pem", "z.pem", r"parties\[1\].certificate: the certificate .*z.pem does not exist; ask the party for it"),
        ('kind = "sum"', 'kind = "summ"', "task.kind: must be .*, not 'summ'; did you mean sum"),
        ('kind = "sum"', "", "task.kind: is missing"),
        ("[task]", "[tusk]", "tusk: is not a key of a consortium file; did you mean task"),
        ('kind = "sum"', 'kind = "sum"\nresult_to = ["z"]', "task.result_to: there is no party 'z'; choose a or b"),
        ('kind = "sum"', 'kind = "sum"\nresult_to = []', "task.result_to: names nobody"),
        ('kind = "sum"', 'kind = "sum"\ncolum = "x"', "task.colum: is not a key .* did you mean columns"),
        ('kind = "sum"', 'kind = "sum"\ncolumns = []', "task.columns: must name at least one"),
        ('kind = "sum"', 'kind = "sum"\nvalues = ["x"]', "task.values: are those of a key"),
        ('kind = "sum"', 'kind = "sum"\nmost_items = 3', "task.most_items: bounds the values of a key"),
        ('kind = "sum"', 'kind = "sum"\nkey = "w"\ncolumns = ["w"]', "task.key: names a column that is added up"),
        ('kind = "sum"', 'kind = "sum"\ndecimals = 16', "task.decimals: must be at most 15, not 16"),
        (PARTIES, "", "consortium.parties: must be a list of parties"),
        ("[consortium]", "[consortium", "is not valid TOML"),
    ],
)
def test_what_means_nothing_is_refused(folder: Path, before: str, after: str, message: str) -> None:
    """An error names the file, the line and the key, and says what is expected."""
    assert before in WHOLE
    (folder / "bad.toml").write_text(WHOLE.replace(before, after, 1))
    with pytest.raises(PolicyError) as caught:
        read_consortium(folder / "bad.toml")
    assert re.search(message, str(caught.value)), str(caught.value)
    assert "bad.toml" in str(caught.value)


def test_a_file_that_is_none_is_refused(folder: Path) -> None:
    """What is missing, binary or no text is said in a sentence."""
    (folder / "binary.toml").write_bytes(b"\xff\xfe\0")
    for name, message in (("missing.toml", "does not exist"), ("binary.toml", "is not UTF-8"), (".", "is a folder")):
        with pytest.raises(PolicyError, match=message):
            read_consortium(folder / name)
