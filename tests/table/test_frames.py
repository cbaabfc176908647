"""Frames of other libraries: the same kind comes out, and what came in is not touched."""

import copy
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import DataError

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")

Rules = Callable[..., dict[str, Any]]


@pytest.fixture
def frame(people: Any) -> Any:
    """The people as a pandas frame."""
    return people.to_pandas()


def _release(frame: Any, rules: Rules, roles: dict[str, Any], **options: Any) -> sf.Release:
    return sf.anonymize(frame, rules(roles, **options))


def _indexes(frame: Any) -> dict[str, Any]:
    return {
        "shuffled": frame.sample(frac=1, random_state=1),
        "duplicate": frame.set_axis([0] * len(frame)),
        "multi-level": frame.set_axis(pandas.MultiIndex.from_product([range(4), range(10)])),
        "named": frame.set_index("zip", drop=False),
        "subclass": type("Mine", (pandas.DataFrame,), {})(frame),
    }


@pytest.mark.parametrize("index", ["shuffled", "duplicate", "multi-level", "named", "subclass"])
def test_an_index_changes_nothing(frame: Any, rules: Rules, roles: dict[str, Any], index: str) -> None:
    """Whatever index a pandas frame has, the release is that of the frame without one, and has a plain one."""
    expected = _release(frame, rules, roles).table
    found = _release(_indexes(frame)[index], rules, roles).table
    key = list(expected.columns)
    pandas.testing.assert_frame_equal(
        found.sort_values(key, ignore_index=True), expected.sort_values(key, ignore_index=True)
    )
    assert found.index.tolist() == list(range(40))


def _as(kind: str, people: Any) -> Any:
    if kind == "pandas":
        return people.to_pandas().set_axis([7] * 40)
    return {"polars": polars.from_arrow, "arrow": lambda table: table, "duckdb": duckdb.from_arrow}[kind](people)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "duckdb"])
def test_the_same_kind_comes_out(people: Any, rules: Rules, roles: dict[str, Any], kind: str, tmp_path: Path) -> None:
    """Names, types and places of the published columns are those that came in, and the release can be saved."""
    given = _as(kind, people)
    release = _release(given, rules, roles)
    assert type(release.table) is type(given)
    assert list(getattr(release.table, "column_names", None) or release.table.columns) == people.column_names[1:]
    assert sf.verify(release.save(tmp_path / "release")).satisfied


def test_whole_numbers_beside_missing_ones_stay_whole(rules: Rules) -> None:
    """A pandas column of objects gives its whole numbers back to the last digit, which no float could hold."""
    numbers = [2**53 + 1, None, 2**53 + 1, None]
    frame = pandas.DataFrame({"a": pandas.Series(numbers, dtype=object), "b": pandas.Series(numbers, dtype=object)})
    found = sf.anonymize(frame, rules({"a": "quasi", "b": "plain"})).table
    for name in "ab":
        assert sorted(found[name], key=str) == [2**53 + 1, 2**53 + 1, None, None]
        assert {type(cell) for cell in found[name]} == {int, type(None)}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["*", "^na.*$", "^.*$", 'quo"te', "a b", "class_id", "NULL"])
@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "duckdb"])
def test_a_column_is_called_what_it_is_called(kind: str, name: str, rules: Rules) -> None:
    """No name of a column is a pattern for others: an identifier stays out, and the column comes out by its name."""
    table = pa.table({"name": [f"CANARY{i}" for i in range(4)], name: ["x", "x", "y", "y"], "naming": [1, 2, 3, 4]})
    frame = table.to_pandas() if kind == "pandas" else _as(kind, table)
    found = sf.anonymize(frame, rules({"name": "identifier", name: "quasi", "naming": "plain"})).table
    assert list(getattr(found, "column_names", None) or found.columns) == [name, "naming"]
    assert "CANARY" not in str(found)


def test_pandas_types_are_kept(frame: Any, rules: Rules, roles: dict[str, Any]) -> None:
    """Categories, nullable integers, text, dates and zones come out as they came in; generalized ones as text."""
    given = frame.assign(
        illness=frame.illness.astype("category"),
        visits=pandas.array([None, *range(39)], "Int64"),
        text=frame.zip.astype("string"),
        old=frame.zip.astype(object),
        day=pandas.Timestamp("2020-01-01"),
        zoned=pandas.Timestamp("2020-01-01", tz="Europe/Zurich"),
        span=pandas.Timedelta(1, "D"),
        arrow=frame.visits.astype("int64[pyarrow]"),
    )
    plain = dict.fromkeys(["text", "old", "day", "zoned", "span", "arrow"], "plain")
    found = _release(given, rules, roles | plain, k=15).table
    same = ["illness", "visits", *plain]
    assert found.dtypes[same].to_dict() == given.dtypes[same].to_dict()
    assert {frozenset(found.sex), frozenset(found.zip)} & {frozenset({"*"})}
    assert sorted(found.visits.dropna()) == list(range(39))


def test_polars_types_are_kept(people: Any, rules: Rules, roles: dict[str, Any]) -> None:
    """Categories, enums, decimals, dates and missing values come out as they came in."""
    given = polars.from_arrow(people).with_columns(
        polars.col("illness").cast(polars.Categorical),
        enum=polars.col("illness").cast(polars.Enum(["flu", "ulcer", "HIV", "cold"])),
        decimal=polars.col("visits").cast(polars.Decimal(10, 2)),
        day=polars.lit("2020-01-01").str.to_date(),
        nothing=polars.lit(None),
    )
    plain = dict.fromkeys(["enum", "decimal", "day", "nothing"], "plain")
    found = _release(given, rules, roles | plain).table
    assert found.schema == given.drop("name").schema
    assert sorted(found["visits"]) == sorted(given["visits"])


def test_duckdb_relations_of_any_connection(people: Any, rules: Rules, roles: dict[str, Any]) -> None:
    """A relation of a connection of one's own, with names that need quotes, comes out as a relation."""
    connection = duckdb.connect()
    connection.register("people", people)
    relation = connection.sql('SELECT * RENAME (visits AS "a ""b"", c"), visits < 0 AS "select" FROM people')
    renamed = {name: role for name, role in roles.items() if name != "visits"} | {
        'a "b", c': "plain",
        "select": "plain",
    }
    found = _release(relation, rules, renamed).table
    assert found.columns == ["sex", "zip", "illness", 'a "b", c', "select"]
    assert [str(kind) for kind in found.types[-2:]] == ["BIGINT", "BOOLEAN"]


def test_categories_that_nobody_holds_do_not_survive(rules: Rules) -> None:
    """A category that only a suppressed row held, or none, is in no published column."""
    columns = {"q": ["a"] * 9 + ["b"], "s": ["x"] * 9 + ["CANARY"]}
    policy = rules({"q": "quasi", "s": "sensitive", "p": "plain"}, suppression=0.2)
    frame = pandas.DataFrame(columns)
    frame["p"] = frame["s"] = pandas.Categorical(frame.s, ["x", "CANARY", "UNUSED"])
    found = sf.anonymize(frame, policy).table
    assert [found[name].cat.categories.tolist() for name in "sp"] == [["x"], ["x"]]
    enums = polars.DataFrame(columns).with_columns(
        polars.col("s").cast(polars.Enum(["UNUSED", "CANARY", "x"])), p=polars.col("s").cast(polars.Categorical)
    )
    published = sf.anonymize(enums, policy).table
    assert published["s"].dtype == polars.Enum(["x"])
    assert published["p"].to_arrow().dictionary.to_pylist() == ["x"]


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_what_came_in_is_unchanged(people: Any, rules: Rules, roles: dict[str, Any], kind: str, tmp_path: Path) -> None:
    """After a release and its writing the caller's table is, to the last value, what it was."""
    given = _as(kind, people)
    before, policy = copy.deepcopy(given), rules(roles)
    policy_before = copy.deepcopy(policy)
    release = sf.anonymize(given, policy)
    table = release.table
    release.save(tmp_path / "release")
    if kind == "pandas":
        table.loc[:, "visits"] = 99
    same = before.identical(given) if hasattr(before, "identical") else before.equals(given)
    assert same
    assert policy == policy_before


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["SECRET", 1] * 20, "column 'illness' mixes types"),
        ([["SECRET"]] * 40, "column 'illness' holds list"),
        ([{"a": "SECRET"}] * 40, "column 'illness' holds struct"),
        ([b"SECRET"] * 40, "column 'illness' holds binary"),
        ([object()] * 40, "column 'illness' mixes types or holds objects"),
        ([2**70] * 40, "column 'illness' mixes types or holds objects"),
        ([1j] * 40, "column 'illness' mixes types or holds objects"),
        (["\ud800"] * 40, "column 'illness' mixes types or holds objects"),
    ],
    ids=["mixed", "lists", "dicts", "bytes", "objects", "huge", "complex", "surrogates"],
)
def test_columns_without_a_type(frame: Any, rules: Rules, roles: dict[str, Any], values: list[Any], words: str) -> None:
    """A column of Python objects with no common type is named, and nothing of it is quoted."""
    given = frame.assign(illness=pandas.Series(values, dtype=object))
    with pytest.raises(DataError, match=words) as caught:
        _release(given, rules, roles)
    assert "SECRET" not in str(caught.value)
    assert _release(given, rules, roles | {"illness": "identifier"}).rows == 40


def test_pandas_own_types_are_refused_by_name(frame: Any, rules: Rules, roles: dict[str, Any]) -> None:
    """Periods, intervals and sparse columns, which only pandas knows, are named."""
    for column in (pandas.period_range("2020", periods=40), pandas.interval_range(0, 40), [0] * 40):
        given = frame.assign(illness=pandas.arrays.SparseArray(column) if isinstance(column, list) else column)
        with pytest.raises(DataError, match="column 'illness'"):
            _release(given, rules, roles)


def test_things_that_are_no_tables(frame: Any, people: Any, rules: Rules, roles: dict[str, Any]) -> None:
    """What cannot be anonymized is said by its kind, and its content is not."""
    for thing in (frame.zip, polars.from_arrow(people).lazy(), people.to_pydict(), people.to_batches()[0], b"x", 1):
        with pytest.raises(DataError, match=f"a {type(thing).__name__} is not a table that can be anonymized"):
            _release(thing, rules, roles)


def test_columns_that_do_not_fit(frame: Any, rules: Rules, roles: dict[str, Any]) -> None:
    """Names that are no text, names that stand twice, missing and unlisted ones, and no rows are refused."""
    for given, words in [
        (frame.rename(columns={"zip": 5}), "column names must be text, not 5"),
        (pandas.concat([frame, frame[["zip"]]], axis=1), "stand twice in the table: 'zip'"),
        (frame.rename(columns={"zip": "zipp"}), "not in the table: 'zip'; did you mean zipp"),
        (frame.assign(more=1), "columns without a role: 'more'"),
        (frame[:0], "the table has no rows"),
    ]:
        with pytest.raises(DataError, match=words):
            _release(given, rules, roles)


def test_a_dictionary_of_arrow_holds_published_values_only(rules: Rules) -> None:
    """The dictionary of a plain Arrow column has no value that only a suppressed row held."""
    held = pa.array(["x"] * 9 + ["CANARY"]).dictionary_encode()
    policy = rules({"q": "quasi", "p": "plain"}, suppression=0.2)
    found = sf.anonymize(pa.table({"q": ["a"] * 9 + ["b"], "p": held}), policy).table
    assert found["p"].chunk(0).dictionary.to_pylist() == ["x"]


def test_null_in_a_dictionary_of_arrow_is_null(rules: Rules) -> None:
    """NULL in a column of categories is counted as NULL by Arrow when it comes out."""
    held = pa.array(["x", None]).dictionary_encode()
    policy = rules({"q": "quasi", "s": "sensitive"})
    found = sf.anonymize(pa.table({"q": ["a", "a"], "s": held}), policy).table
    assert found["s"].null_count == 1


def test_duckdb_types_are_kept(rules: Rules) -> None:
    """Types that Arrow does not have come out of a DuckDB relation as they went in."""
    relation = duckdb.sql("SELECT 'a' AS q, 1::HUGEINT AS p, 'x'::ENUM('x') AS s FROM range(3)")
    found = sf.anonymize(relation, rules({"q": "quasi", "p": "plain", "s": "sensitive"})).table
    assert [str(kind) for kind in found.types] == ["VARCHAR", "HUGEINT", "ENUM('x')"]


def test_plain_text_beyond_what_an_array_addresses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Text of more bytes than a text array can address is published all the same (the limit lowered for the test)."""
    monkeypatch.setattr("sfumato.publish.published_table._ADDRESSED", 10)
    rows = pa.table({"q": ["a", "a"], "note": ["a long remark", "=another one"]})
    policy = {
        "columns": {"q": {"role": "quasi", "hierarchy": "suppress"}, "note": {"role": "plain"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    release = sf.anonymize(rows, policy)
    assert sorted(release.table.column("note").to_pylist()) == ["=another one", "a long remark"]
    release.save(tmp_path / "out")
    assert "'=another one" in (tmp_path / "out" / "public" / "table.csv").read_text()


def _two(**columns: object) -> dict[str, Any]:
    roles = {name: {"role": "quasi", "hierarchy": "suppress"} for name in columns}
    return {"columns": roles, "privacy": [{"model": "k-anonymity", "k": 2}]}


def test_what_is_done_to_the_frame_later_does_not_show() -> None:
    """The table that is handed out is made of the verified cells, whatever happened to the caller's frame since."""
    frame = pandas.DataFrame({"sex": list("ffmm")})
    release = sf.anonymize(frame, _two(sex=1))
    frame["sex"] = ["SECRET1", "SECRET2", "m", "m"]
    assert sorted(release.table["sex"]) == list("ffmm")


@pytest.mark.parametrize(
    "values",
    [["f", "f", None, float("nan")], [Decimal("1.0"), Decimal("1.00"), Decimal(2), Decimal("2.0")]],
    ids=["missing", "decimals"],
)
def test_values_that_count_as_one_come_out_as_one(values: list[Any]) -> None:
    """Two spellings of one value would tell the rows of a class apart."""
    release = sf.anonymize(pandas.DataFrame({"x": pandas.Series(values, dtype=object)}), _two(x=1))
    assert release.privacy[0]["achieved"] == {"k": 2}
    assert len({repr(value) for value in release.table["x"]}) == 2


def test_an_arrow_dictionary_in_pandas_forgets_values_of_suppressed_rows() -> None:
    """No dictionary that travels with the frame holds a value that only a suppressed row had."""
    kind = pandas.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    frame = pandas.DataFrame({"x": pandas.Series(["f", "f", "m", "m", "CANARY"], dtype=kind)})
    release = sf.anonymize(frame, _two(x=1) | {"algorithm": {"suppression": 0.2}})
    assert release.suppressed == 1
    assert release.table["x"].dtype == kind
    assert "CANARY" not in str(pa.Table.from_pandas(release.table).column("x").chunk(0).dictionary)


def test_an_ordered_dictionary_keeps_its_order() -> None:
    """Of an ordered dictionary the values that are published stay in their order, in every role."""
    cells = pa.array(["high", "low", "mid", "low", "high", "mid", "never"]).dictionary_encode()
    known = pa.array(["low", "never", "mid", "high"])
    places = pa.array([known.to_pylist().index(value) for value in cells.to_pylist()], pa.int32())
    column = pa.DictionaryArray.from_arrays(places, known, ordered=True)
    rows = pa.table({"q": column, "s": column, "p": column})
    policy = {
        "columns": {
            "q": {"role": "quasi", "hierarchy": "suppress"},
            "s": {"role": "sensitive"},
            "p": {"role": "plain"},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "algorithm": {"name": "optimal", "suppression": 0.2},
    }
    release = sf.anonymize(rows, policy)
    assert release.levels == {"q": 0}
    for name in rows.column_names:
        published = release.table.column(name).chunk(0)
        assert published.type == column.type
        assert published.dictionary.to_pylist() == ["low", "mid", "high"]


def test_a_seed_is_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever uses a seed on the command line is told that it is not for publishing."""
    from sfumato.cli.main import _run

    (tmp_path / "raw.csv").write_text("q\na\na\n")
    (tmp_path / "policy.toml").write_text(
        '[data]\nsource = "raw.csv"\n[columns]\nq = { role = "quasi", hierarchy = "suppress" }\n'
        '[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
    )
    arguments = ["anonymize", str(tmp_path / "policy.toml"), "--out", str(tmp_path / "out"), "--json"]
    assert _run([*arguments, "--seed", "1"]) == 0
    assert capsys.readouterr().err.startswith("warning: a seed was used")


def test_a_date_that_never_comes_is_refused(rules: Rules, tmp_path: Path) -> None:
    """The infinity of a database has no text, so that it is refused with a way out, in a frame and in a file."""
    query = "select 20 as age, date 'infinity' as until"
    policy = rules({"age": "quasi", "until": "plain"})
    with pytest.raises(DataError, match=r"column 'until' holds dates beyond the years 1 to 9999.*nullif"):
        sf.anonymize(duckdb.sql(query), policy)
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute(f"create table visits as {query}")
    with pytest.raises(DataError, match="column 'until' holds dates beyond"):
        sf.anonymize(tmp_path / "a.duckdb", policy)
    ends = pa.table({"age": [20], "until": pa.array(["9999-12-31"]).cast(pa.date32())})
    assert sf.anonymize(ends, rules({"age": "quasi", "until": "plain"}, k=1)).table.num_rows == 1
