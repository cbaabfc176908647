"""Files of baskets: what is read, what is refused, what is written, and what leaves only when it was counted again."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.rules.basket_files import read_baskets
from sfumato.verifier.hidden_rules import StatedHiding, StatedRule, verify_hidden_rules

ASKED: dict[str, Any] = {"min_support": 2, "min_confidence": 0.5}


def _write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_lines_are_read_whatever_editors_do_to_them(tmp_path: Path) -> None:
    """Tabs, several blanks, line ends of Windows, a byte order mark, items twice, and baskets without items."""
    path = _write(tmp_path, "odd.dat", "\ufeffb a\tc  a\r\n\r\n  \r\nzürich =1+1 \u00a0x\r\n10 9\r\na")
    assert list(read_baskets(path).baskets) == [
        (),
        (),
        ("9", "10"),
        ("=1+1", "zürich", "\u00a0x"),
        ("a",),
        ("a", "b", "c"),
    ]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.dat", b"", "is empty"),
        ("a.dat", b"a\n\xff\n", "line 2 is not UTF-8"),
        ("a.dat", b"a\0b\n", "NUL"),
        ("a.csv", b"", "is empty"),
        ("a.xyz", b"a,b\n1,2\n", "not read by this version"),
        ("a.csv", b"a,a=b\n1,2\n", "could make the same item"),
        ("a.csv", b"a,b\n", "no rows"),
    ],
)
def test_what_is_no_file_of_baskets_is_refused(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    """In a sentence, and without quoting what is in it."""
    with pytest.raises(sf.InputError, match=words):
        sf.rules.mine(_write(tmp_path, name, content), **ASKED)


def test_missing_files_and_folders_are_refused(tmp_path: Path) -> None:
    """As everywhere."""
    with pytest.raises(sf.InputError, match="does not exist"):
        sf.rules.mine(tmp_path / "nothing.dat", **ASKED)
    with pytest.raises(sf.InputError):
        sf.rules.mine(tmp_path, **ASKED)


def test_a_long_table_has_a_row_for_each_item(tmp_path: Path) -> None:
    """Transactions may be apart, items may repeat, and a row without an item is of a basket without that item."""
    path = _write(tmp_path, "long.csv", "id,what,price\n7,milk,1\n8,tea,2\n7,bread,3\n7,milk,1\n9,,\n")
    assert list(read_baskets(path, long="id,what").baskets) == [(), ("bread", "milk"), ("tea",)]
    frame = pa.table({"id": [1, 1, 2], "what": [5, 6, 5]})
    assert list(read_baskets(frame, long=("id", "what")).baskets) == [("5",), ("5", "6")]
    for long, words in (("id", "two columns"), ("id,id", "two columns"), ("id,whta", "did you mean what")):
        with pytest.raises(sf.InputError, match=words):
            read_baskets(path, long=long)
    with pytest.raises(sf.DataError, match=r"row 1 has no 'id'"):
        read_baskets(_write(tmp_path, "null.csv", "id,what\n,milk\n"), long="id,what")


def test_a_wide_table_has_an_item_in_each_cell(tmp_path: Path) -> None:
    """NULL is no item; numbers and dates are written as the library writes them, empty text is a value."""
    table = pa.table({"n": [1.0, 2.5, None], "t": ["", "x", None], "none": pa.nulls(3), "b": [True, None, False]})
    pq.write_table(table, tmp_path / "t.parquet")
    expected = [("b=false",), ("b=true", "n=1", "t="), ("n=2.5", "t=x")]
    assert list(read_baskets(tmp_path / "t.parquet").baskets) == expected
    assert list(read_baskets(table).baskets) == expected


def _hide(source: Any, sensitive: Any, path: Path, **more: Any) -> Any:
    result = sf.rules.hide(source, sensitive, **{**ASKED, **more})
    result.save(path)
    return result


def test_lines_come_out_sorted(tmp_path: Path) -> None:
    """Neither the order of lines nor that of items gets into the file: it is the same for every order."""
    lines = ["c a b", "b a", "", "a b", "2 10"]
    one = _write(tmp_path, "one.dat", "\n".join(lines) + "\n")
    other = _write(tmp_path, "other.dat", "\n".join(" ".join(line.split()[::-1]) for line in lines[::-1]) + "\n")
    for source in (one, other):
        _hide(source, [{"items": ["a", "b"]}], tmp_path / f"out-{source.name}")
    text = (tmp_path / "out-one.dat").read_text()
    assert text == (tmp_path / "out-other.dat").read_text()
    assert text.splitlines()[:2] == ["", "2 10"]
    assert text.count("\n") == 5


def test_transactions_of_a_long_table_get_new_numbers(tmp_path: Path) -> None:
    """Their own may lead to a customer; formulas are guarded, and read back without the guard by the verifier."""
    path = _write(
        tmp_path,
        "l.csv",
        "id,item\n" + "".join(f"C-{n},{i}\n" for n in range(4) for i in ("=1+1", "b, c")).replace("b, c", '"b, c"'),
    )
    result = _hide(path, [{"if": ["=1+1"], "then": ["b, c"]}], tmp_path / "out.csv", long="id,item")
    text = (tmp_path / "out.csv").read_text()
    assert "C-" not in text
    assert text.startswith("id,item\n1,")
    assert "'=1+1" in text
    assert result.effect.items_changed == 3


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_a_wide_table_comes_out_with_null_for_removed_cells(tmp_path: Path, name: str) -> None:
    """Types stay in Parquet; in CSV empty text and NULL stay apart; all other cells are as they were."""
    table = pa.table(
        {"age": [26, 26, 26, 30], "illness": ["HIV", "HIV", "", "flu, bad"], "x": ["=1", None, "=1", "=1"]}
    )
    result = _hide(table, [{"if": ["age=26"], "then": ["illness=HIV"]}], tmp_path / name)
    again = read_baskets(tmp_path / name).baskets if name.endswith("parquet") else None
    if again is not None:
        assert list(again) == list(result.baskets)
        assert pq.read_schema(tmp_path / name).field("age").type == pa.int64()
    else:
        text = (tmp_path / name).read_text()
        assert {'26,"",\'=1', '30,"flu, bad",\'=1'} < set(text.splitlines())
        assert text.count("HIV") + text.count("26") == 4  # of five, since one cell is gone
    assert isinstance(result.table, pa.Table)
    assert result.table.num_rows == 4


def test_a_share_is_kept_by_readers_who_skip_empty_baskets(tmp_path: Path) -> None:
    """Where half of the baskets is too many, taking items out of some leaves fewer to be half of."""
    path = _write(tmp_path, "e.dat", "a\n" * 8 + "b\n" * 2)
    for method in ("heuristic", "border", "exact"):
        out = tmp_path / f"{method}.dat"
        _hide(path, [{"items": ["a"]}], out, min_support="50%", method=method)
        left = out.read_text().splitlines()
        full = [line for line in left if line]
        assert len(left) == 10
        assert full.count("a") * 2 < len(full)


def test_the_form_that_came_in_goes_out(tmp_path: Path) -> None:
    """A name that belongs to another form is refused, as are files that exist, and folders that do not."""
    lines, wide = _write(tmp_path, "a.dat", "a b\na b\n"), _write(tmp_path, "a.csv", "x,y\n1,2\n1,2\n")
    result = sf.rules.hide(lines, [{"items": ["a", "b"]}], **ASKED)
    for name, words in (("o.csv", "name a .dat file"), ("a.dat", "exists already"), ("no/o.dat", "no folder")):
        with pytest.raises(sf.OutputError, match=words):
            result.save(tmp_path / name)
    with pytest.raises(sf.OutputError, match=r"\.csv or \.parquet"):
        sf.rules.hide(wide, [{"items": ["x=1", "y=2"]}], **ASKED).save(tmp_path / "o.dat")
    with pytest.raises(sf.OutputError, match=r"name a \.csv"):
        sf.rules.hide(wide, [{"items": ["2"]}], long="x,y", min_support=1, min_confidence=1).save(tmp_path / "o.dat")
    with pytest.raises(sf.OutputError, match="blank or a line end"):
        sf.rules.hide([["a b", "c"]] * 2, [{"items": ["c", "a b"]}], **ASKED).save(tmp_path / "o.dat")
    with pytest.raises(sf.InputError, match="only a wide table"):
        _ = result.table
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.dat"]


def test_a_file_in_which_a_rule_is_found_never_appears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hiding that hides nothing is stopped by the count in the written file, or in memory, and leaves nothing."""
    path = _write(tmp_path, "a.dat", "a b\na b\n")
    result = sf.rules.hide(path, [{"items": ["a", "b"]}], **ASKED)
    result.left.removed[:] = False
    with pytest.raises(sf.NotVerified, match="is found at the thresholds"):
        result.save(tmp_path / "o.dat")
    with pytest.raises(sf.NotVerified):
        result.verify()
    assert [found.name for found in tmp_path.iterdir()] == ["a.dat"]


def test_counts_that_differ_from_those_counted_on_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that leaves a basket out would hide rules, too; that is not what was worked out."""
    path = _write(tmp_path, "a.dat", "a b\na b\na b\n")
    monkeypatch.setattr("sfumato.rules.basket_files._write_text", lambda place, text: place.write_text("a b\n"))
    result = sf.rules.hide(path, [{"items": ["a", "b"]}], min_support=3, min_confidence=1)
    with pytest.raises(sf.NotVerified, match="not those that were counted on"):
        result.save(tmp_path / "o.dat")
    assert [found.name for found in tmp_path.iterdir()] == ["a.dat"]


@pytest.mark.parametrize(
    ("form", "name", "content", "columns"),
    [
        ("lines", "t.dat", "a=1 b=2\na=1 b=2\nb=2\n", ()),
        ("long", "t.csv", "t,i\n1,a=1\n1,b=2\n2,b=2\n2,a=1\n3,b=2\n", ("t", "i")),
        ("wide", "t.csv", "a,b\n1,2\n1,2\n,2\n", ()),
    ],
)
def test_the_verifier_counts_every_form(tmp_path: Path, form: str, name: str, content: str, columns: Any) -> None:
    """Exactly at the thresholds a rule is found, just above them it is not."""
    path = _write(tmp_path, name, content)
    rules = (StatedRule(frozenset({"b=2"}), frozenset({"a=1"})), StatedRule(frozenset(), frozenset({"a=1", "b=2"})))
    for support, confidence, hidden in (
        (3, Fraction(1), True),
        (2, Fraction(2, 3), False),
        (Fraction(2, 3), Fraction(2, 3), False),
        (Fraction(7, 10), Fraction(0), True),
    ):
        stated = StatedHiding(form, support, confidence, rules, columns)
        if hidden:
            assert [(count.whole, count.antecedent) for count in verify_hidden_rules(path, stated)] == [(2, 3), (2, 3)]
        else:
            with pytest.raises(sf.NotVerified, match="sensitive rule 1 is found"):
                verify_hidden_rules(path, stated)
    with pytest.raises(sf.NotVerified, match="sensitive rule 2"):  # the first is not confident, the second need not be
        verify_hidden_rules(path, StatedHiding(form, 2, Fraction(3, 4), rules, columns))


POLICY = {
    "columns": {
        "age": {"role": "quasi", "hierarchy": "suppress"},
        "zip": {"role": "quasi", "hierarchy": "suppress"},
        "illness": {"role": "sensitive"},
        "visits": {"role": "plain"},
    },
    "privacy": [{"model": "k-anonymity", "k": 2}],
}


def _patients() -> Any:
    """The chapter's example: who is 26 and lives in 10562 has HIV."""
    rows = [("26", "10562", "HIV", "1")] * 4 + [("26", "10562", "flu", "2")] + [("30", "10562", "flu", "2")] * 5
    rows += [("26", "10001", "flu", "1")] * 4
    return pa.table(dict(zip(("age", "zip", "illness", "visits"), map(list, zip(*rows, strict=True)), strict=True)))


def test_a_policy_flags_the_rules_from_quasi_identifiers_to_sensitive_values() -> None:
    """(age=26, zip=10562) ⇒ HIV is sensitive by itself, and a rule with the plain column is not."""
    found = sf.rules.mine(_patients(), min_support=3, min_confidence=0.75, from_policy=POLICY)
    flagged = {str(rule) for rule in found.rules if rule.sensitive}
    assert "age=26, zip=10562 ⇒ illness=HIV" in flagged
    assert all(rule.sensitive == ("illness" in rule.consequent[0]) for rule in found.rules if str(rule) in flagged)
    assert not any("visits" in text for text in flagged)
    assert any("visits" in str(rule) for rule in found.rules)
    assert {rule["sensitive"] for rule in found.as_json()["rules"]} == {True, False}
    assert "sensitive" in str(found)


@pytest.mark.parametrize("method", ["heuristic", "border", "exact"])
def test_hiding_by_a_policy_touches_sensitive_cells_alone(method: str) -> None:
    """So quasi-identifiers, and with them classes, stay as they were, and no such rule can appear anew."""
    asked: dict[str, Any] = {"min_support": 3, "min_confidence": 0.75, "from_policy": POLICY}
    result = sf.rules.hide(_patients(), method=method, **asked)
    assert result.effect.items_changed > 0
    again = sf.rules.mine(result.table, **asked)
    assert not any(rule.sensitive for rule in again.rules)
    before, after = _patients().to_pydict(), result.table.to_pydict()
    for name in ("age", "zip", "visits"):
        assert sorted(before[name]) == sorted(after[name])
    assert after["illness"].count(None) == result.effect.items_changed


def test_policies_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    """Baskets without columns, a table without the policy's columns, and two ways at once."""
    cases: list[tuple[Any, dict[str, Any], str]] = [
        ([["a"]], {}, "about the columns of a table"),
        (pa.table({"x": ["1"]}), {}, "no sensitive column of the policy"),
        (pa.table({"illness": ["flu"]}), {}, "no quasi-identifier of the policy"),
        (_patients(), {"long": "age,zip"}, "leave --long or --from-policy out"),
    ]
    for source, more, words in cases:
        with pytest.raises(sf.InputError, match=words):
            sf.rules.mine(source, from_policy=POLICY, **more, **ASKED)
    with pytest.raises(sf.InputError, match="say which rules"):
        sf.rules.hide(_patients(), [{"items": ["age=26"]}], from_policy=POLICY, **ASKED)


def test_a_release_is_mined_by_its_folder(saves: Any, tmp_path: Path) -> None:
    """Items are published labels."""
    policy = {**POLICY, "algorithm": {"name": "optimal"}}
    folder = saves(_patients(), policy)
    found = sf.rules.mine(folder, from_policy=policy, min_support=3, min_confidence=0.1)
    assert found.transactions == 14
    assert any(rule.sensitive for rule in found.rules)


def test_commands_print_json_with_the_promised_keys(runs: Any, tmp_path: Path) -> None:
    """`mine` and `hide`, with rules of a file; what is written can be mined again, and has no sensitive rule."""
    _write(tmp_path, "b.dat", "bread milk\n" * 6 + "milk\n" * 2 + "tea\n")
    _write(tmp_path, "rules.toml", '[[sensitive]]\nif = ["bread"]\nthen = ["milk"]\n')
    limits = ("--min-support", "2", "--min-confidence", "0.6")
    mined = runs("rules", "mine", "b.dat", *limits, "--json", "--out", "found.json")
    assert mined.code == 0
    content = json.loads(mined.out)
    assert content == json.loads((tmp_path / "found.json").read_text())
    assert (tmp_path / "found.json").stat().st_mode & 0o077 == 0
    assert list(content) == ["transactions", "itemsets", "rules"]
    assert {"items": ["bread", "milk"], "support": 6} in content["itemsets"]
    assert {"if", "then", "support", "confidence", "lift"} == set(content["rules"][0])
    for method in ("heuristic", "border", "exact"):
        done = runs(
            "rules",
            "hide",
            "b.dat",
            "--sensitive",
            "rules.toml",
            *limits,
            "--method",
            method,
            "--json",
            "--out",
            f"{method}.dat",
        )
        assert done.code == 0, done.err
        figures = json.loads(done.out)
        assert list(figures)[:4] == ["method", "hidden", "lost", "ghosts"]
        assert list(figures)[4:7] == ["items_changed", "transactions_changed", "dissimilarity"]
        assert list(figures)[7:9] == ["optimal", "bound"]
        assert figures["hidden"] == 1
        again = json.loads(runs("rules", "mine", f"{method}.dat", *limits, "--json").out)
        assert not any(rule["if"] == ["bread"] for rule in again["rules"])
    assert "⇒" in runs("rules", "mine", "b.dat", *limits).out
    assert "counted again" in runs("rules", "hide", "b.dat", "--sensitive", "rules.toml", *limits, "--out", "o.dat").out
    assert "mine" in runs("rules").out


def test_items_of_a_file_cannot_draw_on_the_terminal(runs: Any, tmp_path: Path) -> None:
    """They are shown without what moves a cursor."""
    _write(tmp_path, "b.dat", "bread \x1b[2Jmilk\n" * 6)
    shown = runs("rules", "mine", "b.dat", "--min-support", "2", "--min-confidence", "0.6").out
    assert "�[2Jmilk ⇒ bread" in shown
    assert "\x1b" not in shown


def test_commands_refuse_in_one_sentence(runs: Any, tmp_path: Path) -> None:
    """Exit code 2, and nothing left on disk."""
    _write(tmp_path, "b.dat", "a b\na b\n")
    _write(tmp_path, "bad.toml", "[[sensitive]\n")
    _write(tmp_path, "latin.toml", b'[[sensitive]]\nitems = ["\xe9"]\n')
    _write(tmp_path, "r.toml", '[[sensitive]]\nitems = ["a", "b"]\n')
    there = sorted(path.name for path in tmp_path.iterdir())
    limits = ("--min-support", "2", "--min-confidence", "0.6")
    hide = ("rules", "hide", "b.dat", "--out", "o.dat")
    for arguments, words in (
        ((*hide, *limits, "--sensitive", "bad.toml"), "is not TOML"),
        ((*hide, *limits, "--sensitive", "latin.toml"), "not UTF-8"),
        ((*hide, *limits, "--sensitive", "none.toml"), "does not exist"),
        ((*hide, *limits), "say which rules"),
        ((*hide, *limits, "--sensitive", "r.toml", "--method", "x"), "heuristic, border or exact"),
        ((*hide, "--min-support", "1.0", "--min-confidence", "1", "--sensitive", "r.toml"), "100% for all"),
        (("rules", "hide", "b.dat", "--out", "b.dat", *limits, "--sensitive", "r.toml"), "exists already"),
        (("rules", "mine", "b.dat", "--min-support", "2"), "min-confidence"),
        (("rules", "mine", "b.dat", *limits, "--out", "r.toml"), "exists already"),
    ):
        outcome = runs(*arguments)
        assert outcome.code == 2
        assert outcome.err.startswith("error: ")
        assert words in outcome.err
        assert outcome.err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == there


def test_baskets_without_any_item_are_baskets(tmp_path: Path) -> None:
    """Nothing is found in two empty lines, and nothing fails."""
    found = sf.rules.mine(_write(tmp_path, "blank.dat", "\n\n"), **ASKED)
    assert (found.transactions, found.itemsets, found.rules) == (2, [], [])
