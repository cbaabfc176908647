"""Hierarchy files: what is read, what is refused, and how it says so."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sfumato.errors import HierarchyError, OutputError, PolicyError
from sfumato.hierarchy import File, Mask, Suppress, write

Filed = Callable[[str], File]

JOBS = "cook,service,*\nnurse,health,*\nporter,service,*\ndoctor,health,*\n"


def test_losses_and_ranks_are_those_of_the_file(filed: Filed) -> None:
    """Leaves that are not bound still count, and the order is that of the lines."""
    tree = filed(JOBS).bind(["doctor", "cook"], column="job")
    assert tree.loss[1].tolist() == [1 / 3, 1 / 3]
    assert tree.ranks is not None
    assert (tree.ranks.tolist(), tree.places) == ([3, 0], 4)


@pytest.mark.parametrize(
    "text",
    [
        JOBS.replace(",", ";"),
        JOBS.replace(",", "\t"),
        JOBS.replace("\n", "\r\n"),
        "\ufeff" + JOBS,
        JOBS.replace("cook", '"cook"').replace("\n", "\n\n"),
        JOBS.replace("*", "*,,"),
    ],
    ids=["semicolons", "tabs", "crlf", "bom", "quotes and blank lines", "empty cells after the root"],
)
def test_dialects(filed: Filed, text: str) -> None:
    """The files that editors and spreadsheets write all read as the same hierarchy."""
    assert filed(text).lines == filed(JOBS).lines


def test_separator_inside_of_labels(filed: Filed) -> None:
    """A comma in the labels of a file with semicolons is part of the label."""
    assert filed("a,b;c, d, e;*\n").lines == (("a,b", "c, d, e", "*"),)


def test_short_lines_repeat_their_last_label(filed: Filed) -> None:
    """A line with fewer levels is filled up below the root, and stays nested."""
    lines = filed("a,A,AA,*\nb,B,*\nc,*\nd,B,*").lines
    assert lines[1:] == (("b", "B", "B", "*"), ("c", "c", "c", "*"), ("d", "B", "B", "*"))


def test_same_text_at_two_levels(filed: Filed) -> None:
    """A label may be named as its own child or as a leaf elsewhere."""
    tree = filed("a,A,*\nA,A,*\nb,a,*").bind(["a", "A", "b"], column="x")
    assert tree.labels == (("a", "A", "b"), ("A", "a"), ("*",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,A,*\nx,B,*", "leaf 'x' has two parents, 'A' (line 1) and 'B' (line 2)"),
        ("a,G,X,*\nb,G,Y,*", "label 'G' at level 1 has two parents, 'X' (line 1) and 'Y' (line 2)"),
        ("a,G,*\nb,G,H,*", "label 'G' at level 1 has two parents, 'G' (line 1) and 'H' (line 2)"),
        ("x,A,B,*\nx,A,C,*", "label 'A' at level 1 has two parents"),
        ("a,A,*\nb,B\n", "line 2 ends in 'B' and not in the common root '*'"),
        ("a,All\nb,All", "line 1 ends in 'All' and not in the common root '*'; end every line in '*'"),
        ("level0,level1\na,*", "line 1 ends in 'level1' and not in the common root '*'"),
        ("a,*\n*", "line 2 has a root and no leaf"),
        ("a,,*", "line 1 has an empty label at level 1"),
        (
            "a,B,*\na,*,B,*",
            "line 2 has '*' in column 2 of 4, and '*' is the root; give it another name, or leave it out",
        ),
        ("b,B,*\n\na,*,*", "line 3 has '*' in column 2 of 3"),
        ("*,A,*", "line 1 has '*' in column 1 of 3"),
        (",*,*", "line 1 has '*' in column 2 of 3"),
        ("a," + "b," * 100 + "*", "line 1 has 101 levels, and a hierarchy has at most 100"),
        ("x" * 100_000 + ",A,*\n" + "x" * 100_000 + ",B,*", "leaf '" + "x" * 40 + "…' (100,000 characters) has two"),
        ("a," + "y" * 100_000, "line 1 ends in '" + "y" * 40 + "…' (100,000 characters) and not"),
        ("a" * 140_000 + ",*", "not a CSV file: line 1, field larger than field limit (131072)"),
        ("", "job.csv is empty"),
        (" \n".strip(" "), "job.csv is empty"),
        ('"a,*', "not a CSV file: line 1, unexpected end of data"),
        ("a,*\n\0", "job.csv is not a text file: byte 4 is NUL"),
    ],
)
def test_refusals(filed: Filed, text: str, message: str) -> None:
    """A file that is not functional and nested is refused with the place and the way out."""
    with pytest.raises(HierarchyError) as caught:
        filed(text)
    assert message in str(caught.value)
    assert "job.csv" in str(caught.value)


def test_not_utf_8(tmp_path: Path) -> None:
    """Another encoding is refused with the byte and the name of the file, not its path."""
    (tmp_path / "latin.csv").write_bytes("\ufeffKöchin,*".encode("utf-8-sig").replace("ö".encode(), b"\xf6"))
    with pytest.raises(HierarchyError, match=r"^latin.csv is not UTF-8 at byte 7; save it as UTF-8 text$"):
        File(tmp_path / "latin.csv")


def test_no_file(tmp_path: Path) -> None:
    """A missing file, a folder and a pipe are refused without waiting and without their path."""
    os.mkfifo(tmp_path / "pipe.csv")
    for path in (
        tmp_path / "gone.csv",
        tmp_path,
        tmp_path / "pipe.csv",
        tmp_path / ("x" * 999),
        tmp_path / "a\0b",
    ):
        with pytest.raises(PolicyError) as caught:
            File(path)
        assert str(tmp_path) not in str(caught.value)


def test_all_missing_values_are_listed(filed: Filed) -> None:
    """One error names the column, the file, every missing value up to 20 and the number of the rest."""
    values = ["cook", *(f"job {i}" for i in range(23))]
    with pytest.raises(HierarchyError) as caught:
        filed(JOBS).bind(values, column="work")
    message = str(caught.value)
    assert message.startswith("column 'work': not in job.csv: 'job 0', 'job 1',")
    assert message.endswith("'job 19' and 3 more; add a line for each to the file")


def test_a_leaf_listed_twice(filed: Filed) -> None:
    """A leaf listed twice in the same way counts once."""
    tree = filed("a,A,*\nb,A,*\na,A,*\nc,C,*").bind(["a"], column="x")
    assert (tree.places, tree.loss[1].tolist()) == (3, [0.5])


def test_null_stays_null(filed: Filed) -> None:
    """Without a line of its own NULL stays NULL up to the root, as one more leaf of the domain."""
    tree = filed(JOBS).bind(["cook", None], column="job")
    assert tree.labels == (("cook", None), ("service", None), ("*",))
    assert tree.loss[1].tolist() == [0.25, 0.0]
    assert tree.ranks is not None
    assert (tree.ranks.tolist(), tree.places) == ([0, 4], 5)


def test_null_has_a_line(filed: Filed) -> None:
    """A leaf that is a null text says what becomes of NULL, and is no leaf besides."""
    spec = filed(JOBS + "?,unknown,*\n,unknown,*\n")
    tree = spec.bind([None, "cook"], column="job", nulls=["", "?"])
    assert tree.labels[1] == ("unknown", "service")
    assert tree.places == 5


def test_null_line_that_repeats_it(filed: Filed) -> None:
    """NULL's line may leave it NULL for some levels, by name, by an empty cell or by being short."""
    for line in ("?,?,*", "?,*", ",,*", ",*"):
        tree = filed(JOBS + line).bind([None], column="job", nulls=["", "?"])
        assert tree.labels == ((None,), (None,), ("*",))


def test_null_with_two_lines(filed: Filed) -> None:
    """Two null texts that lead NULL to different parents are refused."""
    with pytest.raises(HierarchyError, match="NULL has two parents"):
        filed("?,A,*\nNA,B,*").bind([None], column="job", nulls=["?", "NA"])


def test_no_values(filed: Filed) -> None:
    """An empty column has the levels of its file all the same."""
    assert filed(JOBS).bind([], column="job").matrix.shape == (0, 3)


def test_formulas_are_text(filed: Filed) -> None:
    """A cell that would be a formula elsewhere is a label as any other."""
    assert filed("=1+1,@x,*").bind(["=1+1"], column="x").labels[1] == ("@x",)


def test_write_refuses_what_reads_differently(tmp_path: Path) -> None:
    """NULL and the empty text look alike in a file, so they are not written together."""
    with pytest.raises(HierarchyError, match="cannot tell NULL from the empty text"):
        write(Suppress().bind(["", None], column="x"), tmp_path / "x.csv")
    assert not list(tmp_path.iterdir())


def test_write_to_nowhere(tmp_path: Path) -> None:
    """A folder that is not there is the caller's to mend."""
    with pytest.raises(OutputError, match=r"^x.csv cannot be written"):
        write(Mask("right").bind(["a"], column="x"), tmp_path / "none" / "x.csv")
