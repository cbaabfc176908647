"""``sfumato audit`` on the command line: JSON, exit codes, and sentences."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Runs

TABLE = "age,dept,pay\n30,IT,5\n30,IT,6\n31,IT,7\n31,Law,-8\n31,Law,9\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Five people in a CSV file."""
    file = tmp_path / "people.csv"
    file.write_text(TABLE, encoding="utf-8")
    return file


def test_init_ask_history_update(table: Path, tmp_path: Path, runs: Runs) -> None:
    """The whole way, in JSON."""
    ledger = str(tmp_path / "audit.db")
    begun = runs("audit", "init", str(table), "--protect", "pay", "--on", "age,dept", "--ledger", ledger, "--json")
    assert json.loads(begun.out) == {
        "ledger": ledger,
        "warnings": [],
        "rows": 5,
        "cells": 3,
        "protected": [{"column": "pay", "bounds": None, "min_size": 2}],
    }
    asked = runs("audit", "ask", ledger, "select sum(pay) where dept = 'IT'", "--user", "ann", "--json")
    assert json.loads(asked.out) == {"answered": True, "columns": ["sum(pay)"], "rows": [[18]]}
    denied = runs("audit", "ask", ledger, "select sum(pay) where age = 30", "--json")
    assert denied.code == 1
    assert json.loads(denied.out)["answered"] is False
    assert runs("audit", "ask", ledger, "drop table people").code == 1
    assert runs("audit", "ask", ledger, "pragma x").err == ""
    table.write_text(TABLE.replace("30,IT,6\n", ""), encoding="utf-8")
    updated = runs("audit", "update", ledger, "--data", str(table), "--json")
    assert json.loads(updated.out) == {"ledger": ledger, "stayed": 4, "left": 1, "came": 0, "cells": 3}
    told = json.loads(runs("audit", "history", ledger, "--json").out)["entries"]
    assert [one["outcome"] for one in told] == ["answered", "denied", "refused", "refused", "updated"]
    assert "ann" in runs("audit", "history", ledger, "--user", "ann").out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--protect", "wage"], "people.csv has no column 'wage'"),
        (["--protect", "age"], "is named twice"),
        (["--protect", ","], "--protect names no column"),
        (["--interval", "0"], "--interval must be a number above 0"),
        (["--interval", "nan"], "--interval must be a number above 0"),
        (["--min-size", "0"], "min-size"),
        (["--bounds", "pay"], "not written as COLUMN=LOW..HIGH"),
        (["--bounds", "age=0.."], "not in --protect"),
        (["--bounds", "pay=9..1"], "the higher bound first"),
        (["--bounds", "pay=0.."], "beyond the bounds"),
        (["--figures", "median"], "--figures knows sum, max and min"),
        (["--key", "id"], "has no column 'id'"),
    ],
)
def test_what_is_wrong_with_a_ledger_is_said(
    options: list[str], words: str, table: Path, tmp_path: Path, runs: Runs
) -> None:
    """One sentence, exit code 2, and nothing on the disk."""
    ledger = tmp_path / "audit.db"
    given = {"--protect": "pay", "--on": "age,dept", "--ledger": str(ledger)} | dict([options])
    failed = runs("audit", "init", str(table), *(part for pair in given.items() for part in pair))
    assert failed.code == 2
    assert failed.err.startswith("error: ")
    assert words in failed.err
    assert failed.err.count("\n") == 1
    assert {file.name for file in tmp_path.iterdir()} == {"people.csv"}


def test_a_name_with_a_comma_is_written_in_quotation_marks(tmp_path: Path, runs: Runs) -> None:
    """As in a line of CSV; and without a key, an update warns of what it ends."""
    file, ledger = tmp_path / "ugly.csv", str(tmp_path / "audit.db")
    file.write_text('"dept, unit",pay\n"a ""b""",3\n"a ""b""",-4\n', encoding="utf-8")
    begun = runs("audit", "init", str(file), "--protect", "pay", "--on", '"dept, unit"', "--ledger", ledger)
    assert "2 rows in 1 cell" in begun.out
    assert "no --key" in begun.out
    assert runs("audit", "ask", ledger, "select sum(pay)").code == 0
    updated = runs("audit", "update", ledger, "--data", str(file))
    assert "of 'pay', which was answered about before, nothing more is answered" in updated.err
    assert runs("audit", "ask", ledger, "select sum(pay)").code == 1


def test_an_update_in_another_spelling_warns(tmp_path: Path, runs: Runs) -> None:
    """A text that is written otherwise is another value, and the same again where it is written as before."""
    file, ledger = tmp_path / "people.csv", str(tmp_path / "audit.db")
    lines = [(f"p{one}", "uv"[one % 2], ["flu", "none"][one % 3 == 0]) for one in range(12)]
    text = "\n".join(["name,dept,illness", *map(",".join, lines)]) + "\n"
    file.write_text(text, encoding="utf-8")
    options = ["--protect", "illness", "--on", "dept", "--key", "name"]
    assert runs("audit", "init", str(file), *options, "--ledger", ledger).code == 0
    file.write_text(text.replace("none", "None").replace("flu", "Flu"), encoding="utf-8")
    warned = runs("audit", "update", ledger, "--data", str(file)).err
    assert "of 12 rows that were there before, 12 have another value of 'illness'" in warned
    file.write_text(text, encoding="utf-8")
    assert runs("audit", "update", ledger, "--data", str(file)).err == ""


def test_columns_that_follow_from_others_are_named(tmp_path: Path, runs: Runs) -> None:
    """The sum of one over all and of the other over all but one are the one's value."""
    file = tmp_path / "people.csv"
    pays = [-5, 41, 17, 90, 66]
    lines = [f"{age},{pay},{pay * 0.91 + 3:.2f},{pay * pay}" for age, pay in zip(range(5), pays, strict=True)]
    file.write_text("\n".join(["age,pay,euro,square", *lines]) + "\n", encoding="utf-8")
    options = ["--protect", "pay,euro,square", "--on", "age", "--ledger", str(tmp_path / "audit.db"), "--json"]
    said = json.loads(runs("audit", "init", str(file), *options).out)["warnings"]
    assert [one for one in said if "follow" in one] == [
        one for one in said if "'euro' follow from those of 'pay'" in one
    ]
    assert len([one for one in said if "follow" in one]) == 1


def test_an_interval_that_cannot_be_kept_is_infeasible(table: Path, tmp_path: Path, runs: Runs) -> None:
    """The exit code is that of requirements that cannot be met."""
    options = ["--protect", "pay", "--on", "age", "--ledger", str(tmp_path / "audit.db")]
    failed = runs("audit", "init", str(table), *options, "--bounds", "pay=-10..", "--interval", "5")
    assert failed.code == 1
    assert "leave --interval out" in failed.err


def test_serve_needs_tokens_and_a_ledger(table: Path, tmp_path: Path, runs: Runs) -> None:
    """One sentence each."""
    tokens = tmp_path / "tokens.toml"
    tokens.write_text('ann = "a long random text"\n', encoding="utf-8")
    missing = runs("audit", "serve", str(tmp_path / "none.db"), "--tokens", str(tokens))
    assert (missing.code, "none.db does not exist" in missing.err) == (2, True)
    no_tokens = runs("audit", "serve", str(table), "--tokens", str(tmp_path / "none.toml"))
    assert (no_tokens.code, "none.toml does not exist" in no_tokens.err) == (2, True)


@pytest.mark.slow
def test_serve_answers_until_it_is_stopped(table: Path, tmp_path: Path, runs: Runs) -> None:
    """A process of its own, which ends well at a signal."""
    import urllib.request

    ledger, tokens = tmp_path / "audit.db", tmp_path / "tokens.toml"
    assert runs("audit", "init", str(table), "--protect", "pay", "--on", "dept", "--ledger", str(ledger)).code == 0
    tokens.write_text('ann = "a long random text"\n', encoding="utf-8")
    script = "from sfumato.cli import main; main()"
    command = [sys.executable, "-c", script, "audit", "serve", str(ledger), "--tokens", str(tokens), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout
        address = re.findall(r"http://\S+", server.stdout.readline())[0]
        request = urllib.request.Request(  # noqa: S310 - our own server
            f"{address}ask",
            b'{"sql": "select sum(pay)"}',
            {"Authorization": "Bearer a long random text", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as reply:  # noqa: S310 - our own server
            assert json.load(reply)["rows"] == [[19]]
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0
        said = server.stdout.read()
        assert "; 1 user has a token; Ctrl-C stops" in said
        assert "stopped" in said


def test_who_asks_cannot_draw_on_the_terminal(tmp_path: Path, runs: Runs) -> None:
    """Statements, users, names and values are shown without what moves a cursor: nobody hides what was asked."""
    table, ledger = tmp_path / "t.csv", str(tmp_path / "audit.db")
    table.write_text("g,x\n\x1b[2Ja,1\n\x1b[2Ja,-2\n", encoding="utf-8")
    runs("audit", "init", str(table), "--protect", "x", "--on", "g", "--ledger", ledger)
    shown = runs("audit", "ask", ledger, 'select g, count(*) as "\x1b[8mn" group by g').out
    assert "�[2Ja" in shown
    runs("audit", "ask", ledger, "select sum(x) /* \x1b[2J\r */", "--user", "\x1b[1Aeve")
    refused = runs("audit", "ask", ledger, "select \x1b[8m").out
    shown += refused + runs("audit", "history", ledger).out
    assert "eve" in shown
    assert "\x1b" not in shown
    assert "\r" not in shown
