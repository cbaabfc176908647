"""The curse of dimensionality: figures by brute force, order, and how it is shown and kept."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sfumato.compare import dimensions
from sfumato.compare.dimensions_curse import cube_share
from sfumato.errors import InputError
from sfumato.policy import load
from sfumato.release import anonymize

Runs = Any


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Three quasi-identifiers, the least different first."""
    return {
        "columns": {
            "sex": {"role": "quasi", "hierarchy": "suppress"},
            "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
            "illness": {"role": "quasi", "hierarchy": "suppress"},
            "note": {"role": "identifier"},
        },
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "algorithm": {"name": "mondrian"},
    }


def test_raw_risk_by_counting(policy: dict[str, Any], visits: Any) -> None:
    """Uniques and risks of the raw table are what counting the rows over the first columns gives."""
    found = dimensions(policy, visits)
    rows = visits.to_pylist()
    assert [level.column for level in found.levels] == ["sex", "zip", "illness"]
    for level in found.levels:
        names = [each.column for each in found.levels[: level.number]]
        counts = Counter(tuple(row[name] for name in names) for row in rows)
        sizes = [counts[tuple(row[name] for name in names)] for row in rows]
        assert level.raw.uniques == sizes.count(1)
        assert level.raw.average == pytest.approx(sum(1 / size for size in sizes) / len(rows))
        assert level.raw.highest == 1 / min(sizes)


@pytest.mark.slow
def test_releases_are_those_with_the_other_columns_left_out(policy: dict[str, Any], visits: Any) -> None:
    """Loss and class size are those of a release whose other quasi-identifiers are not published."""
    found = dimensions(policy, visits, k=[3, 8])
    names = [level.column for level in found.levels]
    for level in found.levels:
        for reached in level.releases:
            columns = policy["columns"] | {name: {"role": "identifier"} for name in names[level.number :]}
            document = policy | {"columns": columns, "privacy": [{"model": "k-anonymity", "k": reached.k}]}
            release = anonymize(visits, load(document))
            assert reached.figures is not None
            assert reached.figures.ncp == pytest.approx(release.utility.ncp)
            assert reached.figures.average_class_size == release.utility.average_class_size
            assert reached.cube == pytest.approx(cube_share(reached.k or 0, 200, level.number))


def test_order_by_distinction(policy: dict[str, Any], visits: Any) -> None:
    """The column with the most different values comes first."""
    found = dimensions(policy, visits, order="distinction")
    assert [level.column for level in found.levels] == ["zip", "illness", "sex"]
    with pytest.raises(InputError, match="choose given or distinction"):
        dimensions(policy, visits, order="random")


def test_the_cube_holds_its_share_of_the_rows() -> None:
    """A cube over the share F of every range has k of n rows, in any number of dimensions, and F grows with it."""
    shares = [cube_share(5, 1000, number) for number in range(1, 20)]
    assert all(share**number == pytest.approx(5 / 1000) for number, share in enumerate(shares, start=1))
    assert shares == sorted(shares)
    assert cube_share(50, 10, 2) == 1.0


def test_what_cannot_be_met_is_a_line(policy: dict[str, Any], visits: Any) -> None:
    """A k that is too large has reasons in place of figures."""
    found = dimensions(policy, visits, k=[5, 300])
    assert all(level.releases[0].figures and not level.releases[1].figures for level in found.levels)
    assert "k can be at most 200" in found.levels[0].releases[1].reason


def test_command_table_page_and_drawing(runs: Runs, project: Path) -> None:
    """The command prints a table, writes a page or a drawing that is private, and one object with --json."""
    found = runs("dimensions", project, "--k", "2,5", "--out", "dim.html")
    assert (found.code, found.err) == (0, "")
    assert max(map(len, found.out.splitlines())) <= 80
    text = Path("dim.html").read_text()
    assert "do not publish it" in text
    assert text.count("<svg") == 3
    assert Path("dim.html").stat().st_mode & 0o077 == 0
    assert runs("dimensions", project, "--out", "dim.svg", "--algorithm", "mondrian").code == 0
    assert Path("dim.svg").read_text().startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    content = json.loads(runs("dimensions", project, "--json").out)
    assert [level["dimensions"] for level in content["levels"]] == [1, 2]
    assert content["levels"][0]["releases"][0]["cube"] == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--k", "two"], "write it as --k 2,5,10"),
        (["--k", "0"], "write it as --k 2,5,10"),
        (["--out", "dim.pdf"], "ends in .html or .svg"),
        (["--out", "there.html"], "exists already"),
        (["--order", "up"], "choose given or distinction"),
        (["--algorithm", "tdx"], "did you mean tds?"),
    ],
)
def test_refusals(runs: Runs, project: Path, options: list[str], says: str) -> None:
    """A wrong option is one sentence that names the way out, and writes nothing."""
    Path("there.html").write_text("mine")
    found = runs("dimensions", project, *options)
    assert found.code == 2
    assert says in found.sentence
    assert Path("there.html").read_text() == "mine"
    assert not Path("dim.pdf").exists()


def test_interrupted_it_keeps_the_columns_that_are_done(
    runs: Runs, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped at the second column, the first is shown and written, and the code is 130."""
    from sfumato.release import prepare

    calls = []

    def stopped(*arguments: Any, **options: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return prepare(*arguments, **options)

    monkeypatch.setattr("sfumato.compare.comparison.prepare", stopped)
    found = runs("dimensions", project, "--out", "dim.html")
    assert found.code == 130
    assert found.err == "error: stopped; 1 of 2 columns are shown, and kept in dim.html\n"
    assert "It was stopped" in Path("dim.html").read_text()
