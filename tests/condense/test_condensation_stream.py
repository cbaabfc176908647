"""Streams as their users see them: what is kept and what is not, what is drawn, and what is refused."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.condense import condensation_stream
from sfumato.condense.condensation_stream import CondensationStream, draw_from_state, read_state
from sfumato.errors import DataError, Infeasible, InputError, OutputError, PolicyError, SfumatoError

POLICY: dict[str, Any] = {
    "columns": {
        "name": {"role": "identifier"},
        "age": {"role": "quasi", "bounds": [0, 120]},
        "born": {"role": "quasi", "kind": "date"},
        "job": {
            "role": "quasi",
            "hierarchy": {"lines": [["cook", "service", "*"], ["porter", "service", "*"], ["nurse", "health", "*"]]},
        },
        "pay": {"role": "sensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 5}],
    "publish": {"form": "synthetic"},
}


def _people(rows: int, seed: int = 1) -> pa.Table:
    draw = np.random.default_rng(seed)
    jobs = draw.choice(["cook", "porter", "nurse"], rows, p=[0.5, 0.3, 0.2])
    born = np.datetime64("1960-01-01") + draw.integers(0, 15_000, rows)
    return pa.table(
        {
            "name": [f"person {n}" for n in range(rows)],
            "age": draw.integers(18, 90, rows),
            "born": [str(day) for day in born],
            "job": jobs.tolist(),
            "pay": np.round(draw.lognormal(3, 1, rows) + 10 * (jobs == "nurse"), 2),
        }
    )


def _numbers(rows: int, width: int = 3, seed: int = 1) -> pa.Table:
    draw = np.random.default_rng(seed)
    values = (draw.normal(size=(rows, width)) @ draw.normal(size=(width, width))).round(3)
    return pa.table({f"x{number}": values[:, number] for number in range(width)})


def _csv(path: Path, table: pa.Table) -> Path:
    lines = [",".join(map(str, row.values())) for row in table.to_pylist()]
    path.write_text("\n".join([",".join(table.column_names), *lines]) + "\n")
    return path


@pytest.fixture(autouse=True)
def every_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the state after each batch."""
    monkeypatch.setattr(condensation_stream, "SECONDS_BETWEEN_STATES", 0)


def test_the_public_name() -> None:
    """Streams are at the top of the library."""
    assert sf.CondensationStream is CondensationStream


# ---------------------------------------------------------------------------------------------------------------------
# What is kept


def test_no_original_row_is_in_the_state(tmp_path: Path) -> None:
    """Planted values: neither as text nor as a float, at any place, of either byte order, times any power of two."""
    planted = {"x0": 123456.789, "x1": -98765.4321, "x2": 31415.92653}
    first, second = _numbers(200).to_pylist(), _numbers(300, seed=2).to_pylist()
    source = tmp_path / "s.csv"
    _csv(source, pa.Table.from_pylist([*first, planted, *second]))
    with CondensationStream(10, state=tmp_path / "state") as stream:
        stream.follow(source, batch=50)
    content = b"".join(path.read_bytes() for path in (tmp_path / "state").iterdir())
    for value in planted.values():
        for text in (str(value), repr(value), f"{value:.3f}"):
            assert text.encode() not in content
        for place, order in product(range(8), "<>"):
            numbers = np.frombuffer(content[place : len(content) - (len(content) - place) % 8], dtype=f"{order}f8")
            finite = np.abs(np.frexp(numbers[np.isfinite(numbers)])[0])
            assert np.abs(finite - abs(np.frexp(value)[0])).min() > 1e-12
    assert {path.name for path in (tmp_path / "state").iterdir()} == {"groups.state"}


def test_the_state_is_private(tmp_path: Path) -> None:
    """Nobody but its owner may read it."""
    with CondensationStream(5, state=tmp_path / "state") as stream:
        stream.add(_numbers(20))
        stream.draw()
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "state").iterdir()} == {0o600}


def test_identifiers_are_in_no_byte(tmp_path: Path) -> None:
    """What is left out is not even counted."""
    with CondensationStream(state=tmp_path / "state", policy=POLICY) as stream:
        stream.add(_people(50))
    assert b"person 7" not in (tmp_path / "state" / "groups.state").read_bytes()


def test_fewer_than_k_rows_leave_nothing(tmp_path: Path) -> None:
    """They wait in memory, and nothing of them is on the disk at any time."""
    with CondensationStream(10, state=tmp_path / "state") as stream:
        stream.add(_numbers(4))
        stream.add(_numbers(5))
        assert stream.figures().as_json() == {"rows": 0, "groups": 0, "smallest": 0, "largest": 0, "held": 9}
        with pytest.raises(Infeasible, match="9 rows so far"):
            stream.draw()
        assert not any((tmp_path / "state").iterdir())
    assert not (tmp_path / "state").exists()


def test_a_later_stream_goes_on_as_one_stream_would(tmp_path: Path) -> None:
    """State by state or in one process: the bytes are the same."""
    table = _numbers(500)
    whole = CondensationStream(6)
    for start in range(0, 500, 20):
        whole.add(table.slice(start, 20))
    for start in range(0, 500, 100):
        with CondensationStream(state=tmp_path / "state", k=6) as stream:
            for place in range(start, start + 100, 20):
                stream.add(table.slice(place, 20))
    assert read_state(tmp_path / "state")[1].to_bytes() == whole._state().to_bytes()


def test_a_stream_begins_with_a_table_at_rest(tmp_path: Path) -> None:
    """With each clustering, and rows of a stream after it."""
    table, more = _people(300), _people(100, seed=2)
    for clustering in ("mdav", "v-mdav", "mondrian"):
        with CondensationStream(state=tmp_path / clustering, policy=POLICY) as stream:
            stream.start(table, clustering=clustering)
            figures = stream.figures()
            assert (figures.rows, figures.smallest >= 5, figures.largest <= 9) == (300, True, True)
            stream.add(more)
            assert stream.figures().rows == 400
            with pytest.raises(InputError, match="has rows already"):
                stream.start(table)
    mean = np.mean(table["pay"].to_pylist() + more["pay"].to_pylist())
    drawn = draw_from_state(*read_state(tmp_path / "mdav"))
    assert np.mean(drawn["pay"].to_numpy()) == pytest.approx(mean, rel=0.05)


def test_a_file_at_rest_begins_a_state(tmp_path: Path) -> None:
    """It is known by its name afterwards; a table of fewer than k rows is infeasible."""
    source = _csv(tmp_path / "t.csv", _numbers(60))
    with CondensationStream(5, state=tmp_path / "state") as stream:
        stream.start(source)
        assert stream.streams["t.csv"].rows == 60
        with pytest.raises(InputError, match=r"all 60 rows of 't\.csv' already"):
            stream.follow(source)
    with CondensationStream(50) as stream, pytest.raises(Infeasible, match="the table has 20 rows"):
        stream.start(_numbers(20))


# ---------------------------------------------------------------------------------------------------------------------
# Where a stream goes on


def test_a_stream_is_resumed_where_it_stopped(tmp_path: Path) -> None:
    """Twice stopped and resumed, it has each row once and the bytes of one that was not."""
    table = _numbers(95)
    source, whole = _csv(tmp_path / "s.csv", table), CondensationStream(4)
    whole.follow(source, batch=10)
    acknowledged: list[int] = []

    class Stop(Exception):
        pass

    def stop(rows: int) -> None:
        acknowledged.append(rows)
        if rows in (20, 50):
            raise Stop

    for _ in range(2):
        with CondensationStream(4, state=tmp_path / "state") as stream, pytest.raises(Stop):
            stream.follow(source, batch=10, resume=True, acknowledge=stop)
    with CondensationStream(state=tmp_path / "state") as stream:
        with pytest.raises(InputError, match=r"50 rows of 's\.csv' already; go on after them with --resume"):
            stream.follow(source, batch=10)
        stream.follow(source, batch=10, resume=True, acknowledge=stop)
    assert acknowledged == [10, 20, 30, 40, 50, 60, 70, 80, 90, 95]
    assert read_state(tmp_path / "state")[1].to_bytes() == whole._state().to_bytes()


def test_a_file_that_grows_is_resumed_and_a_stream_can_be_counted_again(tmp_path: Path) -> None:
    """What was counted is skipped, unless it is to be counted again or under another name."""
    source = _csv(tmp_path / "s.csv", _numbers(40))
    with CondensationStream(4, state=tmp_path / "state") as stream:
        stream.follow(source)
        stream.follow(source, resume=True)
        assert stream.figures().rows == 40
        _csv(source, _numbers(47))
        stream.follow(source, resume=True)
        assert stream.figures().rows == 47
        stream.follow(source, again=True)
        assert stream.figures().rows == 94
        stream.follow(source, name="another")
        assert stream.figures().rows == 141
        _csv(source, _numbers(30))
        with pytest.raises(DataError, match="has 30 rows, and the state has 47 of it"):
            stream.follow(source, resume=True)


def test_while_rows_keep_coming_the_state_is_written_now_and_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first batch and all at the end; what came before a bad row is kept all the same."""
    monkeypatch.setattr(condensation_stream, "SECONDS_BETWEEN_STATES", 1000)
    source, acknowledged = _csv(tmp_path / "s.csv", _numbers(95)), list[int]()
    with CondensationStream(4, state=tmp_path / "state") as stream:
        stream.follow(source, batch=10, acknowledge=acknowledged.append)
    assert acknowledged == [10, 95]
    source.write_text(source.read_text() + "1,2,3\n" * 25 + "1,2,oops\n")
    sentence = "in line 122 does not hold a number; .* the 120 rows of the stream"
    with CondensationStream(4, state=tmp_path / "state") as stream, pytest.raises(DataError, match=sentence):
        stream.follow(source, batch=5, resume=True)
    assert read_state(tmp_path / "state")[1].rows == 120


def test_batches_before_a_bad_row_are_kept(tmp_path: Path) -> None:
    """The sentence says where, and how many rows are kept."""
    source = _csv(tmp_path / "s.csv", _numbers(40))
    lines = source.read_text().splitlines()
    lines[33] = "1,oops,3"
    source.write_text("\n".join(lines))
    sentence = r"column 'x1' in line 34 does not hold a number; .* the 30 rows of the"
    with CondensationStream(4, state=tmp_path / "state") as stream, pytest.raises(DataError, match=sentence):
        stream.follow(source, batch=10)
    assert read_state(tmp_path / "state")[1].rows == 30


def test_two_processes_cannot_add_to_one_state_but_anybody_may_draw(tmp_path: Path) -> None:
    """One lock for those who add; those who draw need none."""
    with CondensationStream(4, state=tmp_path / "state") as stream:
        stream.add(_numbers(20))
        with pytest.raises(OutputError, match="another process adds rows to the state"):
            CondensationStream(4, state=tmp_path / "state")
        assert draw_from_state(*read_state(tmp_path / "state")).num_rows == 20
    CondensationStream(4, state=tmp_path / "state").close()


def test_a_batch_that_could_not_be_kept_is_not_counted_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk leaves the batch before, and the stream takes no more."""
    with CondensationStream(4, state=tmp_path / "state") as stream:
        stream.add(_numbers(20))
        with monkeypatch.context() as patched:
            patched.setattr("os.fsync", _full_disk)
            with pytest.raises(OutputError, match="cannot be kept: No space left"):
                stream.add(_numbers(20))
        with pytest.raises(InputError, match="open it anew"):
            stream.add(_numbers(20))
    assert read_state(tmp_path / "state")[1].rows == 20
    assert {path.name for path in (tmp_path / "state").iterdir()} == {"groups.state"}


def _full_disk(descriptor: int) -> None:
    raise OSError(28, "No space left on device")


# ---------------------------------------------------------------------------------------------------------------------
# What is drawn


def test_the_first_draw_keeps_count_and_mean_and_two_draws_differ(tmp_path: Path) -> None:
    """To the rounding of the grid, with any multiple."""
    table = _numbers(500)
    with CondensationStream(10, state=tmp_path / "state") as stream:
        stream.add(table)
        one, other, many = stream.draw(), stream.draw(), stream.draw(multiple=3)
    assert one.num_rows == 500
    assert many.num_rows == 1500
    for name in table.column_names:
        assert one[name].to_pylist() != other[name].to_pylist()
        for drawn in (one, other, many):
            # a step of 0.001, and half of it over the rows of a group
            assert np.mean(drawn[name]) == pytest.approx(np.mean(table[name]), abs=1e-4)


def test_two_draws_with_a_row_between_cannot_be_subtracted(tmp_path: Path) -> None:
    """Two exact draws would tell the row that came between: the difference of their sums is it."""
    table, row = _numbers(500), pa.table({"x0": [3.0], "x1": [-2.0], "x2": [1.0]})
    with CondensationStream(10, state=tmp_path / "state") as stream:
        stream.add(table)
        before = stream.draw()
        stream.add(row)
        off = [np.sum(stream.draw()["x0"]) - np.sum(before["x0"]) - 3.0 for _ in range(20)]
    assert np.std(off) > 3
    assert np.abs(off).min() > 1e-3


def test_columns_keep_type_grid_and_bounds(tmp_path: Path) -> None:
    """Whole numbers, dates and categories, in Arrow and as text."""
    table = _people(400)
    with CondensationStream(state=tmp_path / "state", policy=POLICY) as stream:
        stream.add(table)
        drawn = stream.draw()
    assert drawn.column_names == ["age", "born", "job", "pay"]
    assert pa.types.is_int64(drawn["age"].type)
    assert pa.types.is_date32(drawn["born"].type)
    assert min(drawn["age"].to_pylist()) >= 0
    assert max(drawn["age"].to_pylist()) <= 120
    assert min(drawn["pay"].to_pylist()) >= 0
    assert set(drawn["job"].to_pylist()) == {"cook", "porter", "nurse"}
    for job in ("cook", "porter", "nurse"):
        held, got = (sum(one == job for one in frame["job"].to_pylist()) for frame in (table, drawn))
        assert got == pytest.approx(held, abs=20)
    text = draw_from_state(*read_state(tmp_path / "state"), text=True).to_pylist()[0]
    assert text["age"].isdigit()
    assert np.datetime64(text["born"]) > np.datetime64("1900-01-01")


def test_what_goes_together_stays_together() -> None:
    """The pay of nurses is higher, before and after."""
    table = _people(2000)
    stream = CondensationStream(policy=POLICY)
    stream.add(table)
    drawn = stream.draw()
    for frame in (table, drawn):
        jobs, pay = np.array(frame["job"].to_pylist()), np.array(frame["pay"].to_pylist())
        assert pay[jobs == "nurse"].mean() - pay[jobs != "nurse"].mean() == pytest.approx(10, abs=5)


def test_a_category_that_fewer_than_k_hold_is_told_by_its_hierarchy() -> None:
    """By the lowest label that k rows share, or not at all."""
    table = _people(100)
    jobs = ["cook"] * 3 + ["porter"] * 3 + ["nurse"] * 94
    stream = CondensationStream(policy=POLICY)
    stream.add(table.set_column(3, "job", pa.array(jobs)))
    assert set(stream.draw()["job"].to_pylist()) <= {"service", "nurse"}
    stream = CondensationStream(policy=POLICY)
    stream.add(table.set_column(3, "job", pa.array(["cook"] * 2 + [None] * 98)))
    assert set(stream.draw()["job"].to_pylist()) == {None}


def test_drawn_rows_follow_a_drift() -> None:
    """Rows that came last are there in their share."""
    draw, stream = np.random.default_rng(1), CondensationStream(20)
    for step in range(50):
        stream.add(pa.table({"x": draw.normal(step, 1, 100)}))
    drawn = np.array(stream.draw()["x"].to_pylist())
    assert (drawn > 40).mean() == pytest.approx(0.19, abs=0.04)
    assert np.quantile(drawn, [0.1, 0.5, 0.9]) == pytest.approx([4.5, 24.5, 44.5], abs=1.5)


@pytest.mark.parametrize(
    "values",
    [[7.0] * 40, [1e300 + n * 1e290 for n in range(40)], [1e9 + n / 100 for n in range(40)], [1e-300] * 40, [0.0] * 40],
    ids=["constant", "huge", "offset", "tiny", "zero"],
)
def test_odd_columns_come_out_as_they_went_in(values: list[float]) -> None:
    """Constant, huge, tiny, and far from 0: within their range, with their mean."""
    stream = CondensationStream(4)
    stream.add(pa.table({"x": values, "y": [float(n % 7) for n in range(40)]}))
    drawn = np.array(stream.draw()["x"].to_pylist())
    spread = max(values) - min(values) + 1e-12 * abs(values[0])
    assert drawn.min() >= min(values) - spread
    assert drawn.max() <= max(values) + spread
    assert np.mean(drawn / 64) == pytest.approx(np.mean(np.array(values) / 64), rel=1e-12)


def test_noise_and_multiple_come_from_the_policy(tmp_path: Path) -> None:
    """The state knows them, and the caller may say otherwise."""
    rules = POLICY | {"algorithm": {"name": "condensation", "multiple": 2, "noise": 0.5}}
    with CondensationStream(state=tmp_path / "state", policy=rules) as stream:
        stream.add(_people(60))
    folder, state = read_state(tmp_path / "state")
    assert draw_from_state(folder, state).num_rows == 120
    assert draw_from_state(folder, state, 1, 0.0).num_rows == 60
    with pytest.raises(InputError, match="at least 1 row"):
        draw_from_state(folder, state, 0)
    with pytest.raises(InputError, match="--noise is from 0 to 1"):
        draw_from_state(folder, state, 1, 7.0)


# ---------------------------------------------------------------------------------------------------------------------
# What is refused


def test_neighbours_are_for_rows_at_rest(tmp_path: Path) -> None:
    """A stream would have nothing to do with them, and says so before it makes a state."""
    rules = POLICY | {"algorithm": {"name": "condensation", "neighbours": 3}}
    with pytest.raises(PolicyError, match=r"algorithm.neighbours: is for rows at rest: .* leave it out"):
        CondensationStream(state=tmp_path / "state", policy=rules)
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ("x0,x1,x2\n1,2,\n", "column 'x2' in line 2 is empty"),
        ("x0,x1,x2\n1,2,3\n1,2,abc\n", "column 'x2' in line 3 does not hold a number"),
        ("x0,x1,x2\n1,2,nan\n", "column 'x2' in line 2 does not hold a number"),
        ("x0,x1,x2\n1,2,1e999\n", "column 'x2' in line 2 does not hold a number"),
        ("x0,x1,x2\n1,2,1e300\n", "column 'x2' in line 2 holds a number that is beyond all measure"),
        ("x0,x1\n1,2\n", "lacks the column 'x2' of the state"),
        ("x0,x1,x2,x3\n1,2,3,4\n", "has the column 'x3', which the state does not know"),
        ("x0,x1,x2,x2\n1,2,3,4\n", "has the column 'x2' twice"),
        ("x0,x1,x2\n1,2\n", "record 2 has 2 cells where the header has 3"),
        ("x0,x1,x2\n", "has no rows"),
        ("", "is empty"),
        ('x0,x1,x2\n"1,2,3\n', "cannot be read as CSV"),
    ],
)
def test_bad_rows_are_one_sentence_and_change_nothing(tmp_path: Path, rows: str, sentence: str) -> None:
    """It names line and column, quotes no cell, and the state stays as it was."""
    with CondensationStream(4, state=tmp_path / "state") as stream:
        stream.add(_numbers(20))
    before = (tmp_path / "state" / "groups.state").read_bytes()
    (tmp_path / "s.csv").write_text(rows)
    with CondensationStream(state=tmp_path / "state") as stream, pytest.raises(SfumatoError, match=sentence) as error:
        stream.follow(tmp_path / "s.csv")
    assert (tmp_path / "state" / "groups.state").read_bytes() == before
    assert "abc" not in str(error.value)


def test_columns_in_another_order_are_the_same(tmp_path: Path) -> None:
    """A header is a set of names."""
    table = _numbers(40)
    one, other = CondensationStream(4), CondensationStream(4)
    one.add(table.slice(0, 20))
    other.add(table.slice(0, 20))
    one.add(table.slice(20))
    other.add(table.slice(20).select(["x2", "x0", "x1"]))
    assert one._state().to_bytes() == other._state().to_bytes()


def test_a_first_line_of_numbers_is_no_header(tmp_path: Path) -> None:
    """A file without names is not read as one row fewer."""
    (tmp_path / "s.csv").write_text("1,2\n3,4\n")
    with CondensationStream(2) as stream, pytest.raises(DataError, match="holds numbers, where the names"):
        stream.follow(tmp_path / "s.csv")


def test_a_state_has_one_k_and_one_policy(tmp_path: Path) -> None:
    """What contradicts the state is refused; what is left out is known."""
    with CondensationStream(state=tmp_path / "state", policy=POLICY) as stream:
        stream.add(_people(20))
    with pytest.raises(InputError, match="the state has k = 5 and --k has k = 6"):
        CondensationStream(6, state=tmp_path / "state")
    other = json.loads(json.dumps(POLICY))
    other["columns"]["age"]["bounds"] = [0, 100]
    stream = CondensationStream(state=tmp_path / "state", policy=other)
    with stream, pytest.raises(InputError, match="declares 'age' in another way"):
        stream.add(_people(20))
    with CondensationStream(state=tmp_path / "state") as stream:
        stream.add(_people(20, seed=3))
        assert stream.figures().rows == 40
    with pytest.raises(InputError, match="say how many rows"):
        CondensationStream()
    with pytest.raises(InputError, match="k = 1 would keep rows"):
        CondensationStream(1)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"columns": {"age": {"role": "individual"}, "pay": {"role": "plain"}}}, "k counts rows in a stream"),
        ({"columns": {"job": {"role": "quasi", "kind": "category"}}}, "has to know the values of a category"),
        ({"columns": {"pay": {"role": "plain", "atoms": [0]}}}, "atoms take all rows of a group"),
        ({"columns": {"pay": {"role": "plain", "round": 5}}}, "a stream is not masked"),
        (
            {"columns": {"pay": {"role": "plain"}, "arm": {"role": "plain"}}, "algorithm": {"strata": ["arm"]}},
            "keep a state for each",
        ),
    ],
)
def test_what_a_stream_cannot_do_is_said(change: dict[str, Any], sentence: str) -> None:
    """Each with the key of the policy and a way out."""
    rules = POLICY | change
    stream = CondensationStream(policy=rules)
    with pytest.raises(PolicyError, match=sentence):
        stream.add(pa.table({name: [1] for name in rules["columns"]}))
    plain = {"columns": {"pay": {"role": "plain"}}, "privacy": POLICY["privacy"]}
    with pytest.raises(SfumatoError):
        CondensationStream(policy=plain).add(pa.table({"pay": [1]}))


@pytest.mark.parametrize(
    ("column", "value", "sentence"),
    [
        ("age", 130, "column 'age' in row 3 is out of its bounds"),
        ("job", "spy", "column 'job' in row 3 holds a value that its hierarchy does not list"),
        ("born", "1.2.1970", "column 'born' in row 3 does not hold a date"),
    ],
)
def test_declared_columns_are_held_to_it(column: str, value: Any, sentence: str) -> None:
    """Bounds, listed values and dates, by row, without the cell."""
    cells = _people(20)[column].to_pylist()
    cells[2] = value
    table = _people(20)
    changed = table.set_column(table.column_names.index(column), column, pa.array(cells))
    with pytest.raises(DataError, match=sentence) as error:
        CondensationStream(policy=POLICY).add(changed)
    assert "spy" not in str(error.value)


def test_a_damaged_state_is_one_sentence(tmp_path: Path) -> None:
    """Cut, longer, changed by a bit, or something else."""
    with CondensationStream(4, state=tmp_path / "state") as stream:
        stream.add(_numbers(40))
    file = tmp_path / "state" / "groups.state"
    whole = file.read_bytes()
    middle = len(whole) // 2
    flipped = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    for content in (b"", whole[:10], whole[:-9], whole + b"\0", flipped, b"x" * 500):
        file.write_bytes(content)
        with pytest.raises(InputError, match="is damaged, or of another version"):
            read_state(tmp_path / "state")
        with pytest.raises(InputError, match="is damaged, or of another version"):
            CondensationStream(4, state=tmp_path / "state")
    file.write_bytes(whole)
    assert read_state(tmp_path / "state")[1].rows == 40


def test_a_folder_with_other_things_is_no_state(tmp_path: Path) -> None:
    """Nothing is put beside what is not ours."""
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(InputError, match=r"holds thesis\.tex, which no state has"):
        CondensationStream(4, state=tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be kept: Not a directory"):
        CondensationStream(4, state=tmp_path / "file")
    with pytest.raises(InputError, match="there is no state in"):
        read_state(tmp_path / "nowhere")


def test_pandas_comes_in_and_goes_out() -> None:
    """The kind of frame that came last."""
    pandas = pytest.importorskip("pandas")
    stream = CondensationStream(4)
    stream.add(_numbers(30).to_pandas())
    assert isinstance(stream.draw(), pandas.DataFrame)
