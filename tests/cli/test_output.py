"""What commands print: one JSON object for programs, tables for people, help at once."""

import contextlib
import json
import os
import pty
import shlex
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import csv

from sfumato.errors import InputError
from sfumato.ledger import Ledger
from sfumato.verifier import verify

Runs = Callable[..., Any]

COMMAND = [sys.executable, "-c", "from sfumato.cli import main; main()"]
POLICY = """
[data]
source = "people.csv"
[columns]
name = { role = "identifier" }
sex = { role = "quasi", hierarchy = "suppress" }
zip = { role = "quasi", hierarchy = { mask = "right" } }
illness = { role = "sensitive" }
visits = { role = "plain" }
[[privacy]]
model = "alpha-k-anonymity"
k = 4
alpha = 0.9
column = "illness"
[algorithm]
name = "optimal"
"""
ANONYMIZE = {
    *("release", "rows", "suppressed", "classes", "algorithm", "levels", "privacy", "utility", "seconds"),
    *("risk", "warnings"),  # more than the contract asks for
}
VERIFY = {"satisfied", "rows", "classes", "privacy", "problems"}


@pytest.fixture
def policy(tmp_path: Path, people: Any) -> Path:
    """A policy and its table, as files."""
    csv.write_csv(people, tmp_path / "people.csv")
    (tmp_path / "policy.toml").write_text(POLICY)
    return tmp_path / "policy.toml"


def test_anonymize_as_json(runs: Runs, policy: Path) -> None:
    """One JSON object and nothing else, with every key of the contract and figures that fit each other."""
    outcome = runs("anonymize", policy, "--json", "--out", "r é")
    found = json.loads(outcome.out)
    assert (outcome.code, outcome.err, outcome.out.count("\n")) == (0, "", 1)
    assert set(found) == ANONYMIZE
    assert found["release"] == "r é"
    assert (found["rows"], found["suppressed"], found["classes"]) == (40, 0, 4)
    assert set(found["levels"]) == {"sex", "zip"}
    assert found["privacy"] == [
        {
            "model": "alpha-k-anonymity",
            "required": {"k": 4, "alpha": 0.9, "column": "illness"},
            "achieved": {"alpha": pytest.approx(0.4), "k": 10},
            "satisfied": True,
        }
    ]
    assert {"distortion_ratio", "ncp", "discernibility", "average_class_size"} <= set(found["utility"])
    assert found["utility"]["average_class_size"] == 10
    seconds = found["seconds"]
    assert set(seconds) == {"read", "search", "recode", "verify", "write", "total"}
    assert seconds["total"] == pytest.approx(sum(seconds.values()) - seconds["total"], abs=1e-3)


def test_verify_as_json(runs: Runs, policy: Path, tmp_path: Path) -> None:
    """The verdict as one JSON object: exit 0 where the release holds, 1 where it does not or another is asked of it."""
    runs("anonymize", policy)
    outcome = runs("verify", "release", "--json")
    found = json.loads(outcome.out)
    assert (outcome.code, outcome.err, outcome.out.count("\n")) == (0, "", 1)
    assert set(found) == VERIFY
    assert (found["satisfied"], found["rows"], found["classes"], found["problems"]) == (True, 40, 4, [])
    stricter = tmp_path / "stricter.toml"
    stricter.write_text(POLICY.replace("k = 4", "k = 11"))
    outcome = runs("verify", "release", "--policy", stricter, "--json")
    assert outcome.code == 1
    assert json.loads(outcome.out)["privacy"][0]["satisfied"] is False


def test_verify_for_people(runs: Runs, policy: Path) -> None:
    """A release that was changed is told with the reason, and exit 1."""
    runs("anonymize", policy)
    assert "the release holds" in runs("verify", "release").out
    table = Path("release", "public", "table.csv")
    table.write_text(table.read_text().replace("flu", "fly", 1))
    outcome = runs("verify", "release")
    assert outcome.code == 1
    assert "SHA-256" in outcome.out
    assert "does not hold" in outcome.out


def test_anonymize_for_people(runs: Runs, policy: Path) -> None:
    """What was promised, what holds, what it cost and where it is; no progress bar in a pipe."""
    outcome = runs("anonymize", policy, "--out", "[red]:boom:")
    assert (outcome.code, outcome.err) == (0, "")
    for words in ("alpha-k-anonymity", "k = 10", "40 of 40", "[red]:boom:/public", "report.html"):
        assert words in outcome.out


def test_names_are_printed_as_they_are(runs: Runs, tmp_path: Path) -> None:
    """A column whose name looks like decoration is printed as it is."""
    (tmp_path / "t.csv").write_text("[/x]\na\na\n")
    (tmp_path / "p.toml").write_text(
        '[data]\nsource = "t.csv"\n[columns]\n"[/x]" = { role = "quasi", hierarchy = "suppress" }\n'
        '[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
    )
    outcome = runs("anonymize", "p.toml")
    assert outcome.code == 0
    assert "[/x]" in outcome.out


def test_risk(runs: Runs, policy: Path) -> None:
    """The risk of a raw table by a policy or by columns, for programs and for people."""
    by_columns = runs("risk", "people.csv", "--quasi", "sex, zip", "--json")
    expected = {"highest": 0.1, "average": 0.1, "uniques": 0, "unique_share": 0.0}
    assert json.loads(by_columns.out).items() >= expected.items()
    assert runs("risk", "people.csv", "--policy", policy, "--json").out == by_columns.out
    assert json.loads(runs("risk", "people.csv", "--quasi", "name", "--json").out)["uniques"] == 40
    assert "0.1000" in runs("risk", "people.csv", "--quasi", "sex,zip").out
    assert "did you mean zip?" in runs("risk", "people.csv", "--quasi", "zipp").sentence
    assert runs("risk", "people.csv", "--quasi", ",").code == 2


@pytest.mark.parametrize("command", [[], ["anonymize"], ["verify"], ["risk"], ["demo"], ["schema"]], ids=" ".join)
def test_help(runs: Runs, command: list[str]) -> None:
    """Every command explains itself."""
    outcome = runs(*command, "--help")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("Usage: sfumato")
    assert "--help" in outcome.out


def test_nothing_asked_for(runs: Runs) -> None:
    """Without a command there is help; --version says the version."""
    assert runs().out == runs("--help").out
    assert runs("--version").out.startswith("sfumato 0.")


def test_schema(runs: Runs) -> None:
    """The schema of the policy is one JSON object."""
    assert json.loads(runs("schema").out)["type"] == "object"


def test_demo(runs: Runs) -> None:
    """The demonstration ends with a release that holds."""
    outcome = runs("demo")
    assert (outcome.code, outcome.err) == (0, "")
    assert runs("verify", "demo-release").code == 0


def test_help_imports_nothing_heavy() -> None:
    """Asking for help loads none of the large libraries."""
    script = (
        "import sys; from sfumato.cli.main import _run; _run(['anonymize', '--help']); _run(['--help'])\n"
        "print([name for name in ('pyarrow', 'duckdb', 'numpy', 'scipy', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.slow
def test_no_progress_bar_in_a_pipe_and_one_on_a_terminal(policy: Path, tmp_path: Path) -> None:
    """Standard error of a whole run is empty in a pipe; on a terminal a bar comes and goes."""
    command = [*COMMAND, "anonymize", str(policy), "--out"]
    done = subprocess.run([*command, "a"], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stderr == ""
    master, terminal = pty.openpty()
    with subprocess.Popen([*command, "b"], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=terminal):
        os.close(terminal)
        shown = b""
        with contextlib.suppress(OSError):  # a terminal whose other end is closed
            while piece := os.read(master, 1 << 16):  # while it is written, since it takes a few kilobytes alone
                shown += piece
    assert b"searching" in shown
    os.close(master)


@pytest.mark.slow
def test_a_terminal_that_lacks_letters(policy: Path, tmp_path: Path) -> None:
    """An ASCII terminal is no reason to fail."""
    command = [*COMMAND, "anonymize", str(policy), "--out", "ré"]
    ascii_only = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(command, capture_output=True, check=False, cwd=tmp_path, env=ascii_only)
    assert (done.returncode, done.stderr) == (0, b"")


def test_whoever_reads_may_leave(policy: Path, tmp_path: Path) -> None:
    """A reader that closes the pipe early gets no traceback for it."""
    with subprocess.Popen(
        [*COMMAND, "schema"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()


def test_relative_paths_start_where_they_are_written(runs: Runs, tmp_path: Path, policy: Path) -> None:
    """The source of a policy is beside the policy; --data is where the command runs."""
    (tmp_path / "elsewhere").mkdir()
    os.chdir(tmp_path / "elsewhere")
    assert runs("anonymize", policy, "--out", "a").code == 0
    csv.write_csv(pa.csv.read_csv(tmp_path / "people.csv").slice(0, 20), "half.csv")
    assert json.loads(runs("anonymize", policy, "--data", "half.csv", "--out", "b", "--json").out)["rows"] == 20


OUTPUTS = {"reader gone": "| head -c 0", "full": "> /dev/full", "closed": ">&-", "all closed": ">&- 2>&-"}


@pytest.mark.slow
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("options", ["", "--json", "--ledger books", "--ledger books --json"])
def test_a_release_is_out_whoever_reads(
    policy: Path, tmp_path: Path, command_folder: Path, output: str, options: str
) -> None:
    """Where nobody can take what is printed, a release that is out is exit 0, recorded, and at most one warning."""
    sfumato = [str(command_folder / "sfumato")] if options else COMMAND  # where nothing is asked for, the real one
    Ledger.create(tmp_path / "books")
    for force in ("", " --force --name again" if "--ledger" in options else " --force"):
        command = f"anonymize {policy} --out release {options}{force}"
        done = _in_shell(f"{command} {OUTPUTS[output]}", tmp_path, sfumato)
        assert done.returncode == 0, done.stderr
        lost = "warning: the release is out, but what it came to could not be printed on standard output (No space"
        said = [line for line in done.stderr.splitlines() if "tells nothing that is not out already" not in line]
        assert [line.startswith(lost) for line in said] == ([True] if output == "full" else [])
        assert verify(tmp_path / "release").satisfied
    entries = Ledger.open(tmp_path / "books").entries()
    assert [entry.state for entry in entries] == (["published"] * 2 if "--ledger" in options else [])


@pytest.mark.slow
@pytest.mark.parametrize("output", OUTPUTS)
def test_exit_codes_whoever_reads(policy: Path, tmp_path: Path, command_folder: Path, output: str) -> None:
    """A demonstration is out all the same; a verdict keeps its exit code, unless the disk lost its words."""
    sfumato = [str(command_folder / "sfumato")]
    assert _in_shell(f"demo --out demo {OUTPUTS[output]}", tmp_path, sfumato).returncode == 0
    done = _in_shell(f"verify demo {OUTPUTS[output]}", tmp_path, sfumato)
    assert done.returncode == (2 if output == "full" else 0)
    assert done.stderr.count("\n") == (output == "full")
    (tmp_path / "demo" / "public" / "summary.html").write_text("changed")
    assert _in_shell(f"verify demo {OUTPUTS[output]}", tmp_path, sfumato).returncode == 1
    assert _in_shell(f"anonymize nothing.toml {OUTPUTS[output]}", tmp_path, sfumato).returncode == 2
    assert "is out" not in _in_shell("anonymize --help > /dev/full", tmp_path, sfumato).stderr
    assert policy.exists()


def _in_shell(command: str, folder: Path, sfumato: list[str]) -> "subprocess.CompletedProcess[str]":
    """Run the command in a shell that passes on its exit code, not that of whoever reads."""
    line = f"set -o pipefail; {shlex.join(sfumato)} {command}"
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, cwd=folder)


def test_a_stop_ends_one_command(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a process that runs several commands, one that was stopped has no part in what is said of the next."""
    monkeypatch.setattr(import_module("sfumato.cli.main"), "_stop_signals", [2])
    outcome = runs("risk", "nothere.csv", "--quasi", "age")
    assert outcome.code == 2
    assert outcome.sentence.startswith("nothere.csv does not exist; ")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("CANARY"), MemoryError(), InputError("a copy")])
def test_what_goes_wrong_when_the_release_is_out(
    runs: Runs, policy: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    """Whatever fails while a release is told of, the command says that it is out; who stopped it gets exit 130."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("sfumato.cli.anonymize.show_release", fail)
    outcome = runs("anonymize", policy)
    assert outcome.code == (130 if isinstance(error, KeyboardInterrupt) else 0)
    assert "the release is out" in outcome.err
    assert "CANARY" not in outcome.err
    assert outcome.err.count("\n") == 1
    assert runs("verify", "release").code == 0


def test_cells_that_are_published_as_they_came_are_exact(runs: Runs, tmp_path: Path) -> None:
    """A label of a group of one reads as its value does, and counts as exact; few exact cells are not called none."""
    (tmp_path / "tree.csv").write_text("Bern,Bern,*\nThun,Oberland,*\nSpiez,Oberland,*\n")
    (tmp_path / "t.csv").write_text("town\n" + "Bern\n" * 5 + "Thun\nSpiez\n" * 3)
    (tmp_path / "p.toml").write_text(
        '[data]\nsource = "t.csv"\n[columns]\ntown = { role = "quasi", hierarchy = "tree.csv" }\n'
        '[[privacy]]\nmodel = "k-anonymity"\nk = 4\n[algorithm]\nname = "tds"\n'
    )
    shown = runs("anonymize", "p.toml")
    assert (tmp_path / "release" / "public" / "table.csv").read_text().count("Bern") == 5
    assert "2 labels, 45.5% of cells exact" in shown.out


def test_one_label_for_all_rows_is_told_as_that(runs: Runs, tmp_path: Path) -> None:
    """A column of one label tells no rows apart, whatever share of a declared domain the label covers."""
    (tmp_path / "t.csv").write_text("year,sex\n" + "".join(f"{2000 + i},{'fm'[i % 2]}\n" for i in range(8)))
    (tmp_path / "p.toml").write_text(
        '[data]\nsource = "t.csv"\n[columns]\nsex = { role = "quasi", hierarchy = "suppress" }\n'
        'year = { role = "quasi", hierarchy = { ranges = true, domain = [1900, 2100] } }\n'
        '[[privacy]]\nmodel = "k-anonymity"\nk = 8\n[algorithm]\nname = "mondrian"\n[publish]\nranges = "boxes"\n'
    )
    shown = " ".join(runs("anonymize", "p.toml").out.replace("│", " ").split())
    assert "1 label, 0.0% of cells exact, the same for all rows, so that it tells none apart; it covers" in shown
    assert "1 labels" not in shown


def test_recursive_diversity_says_what_its_c_has_to_be(runs: Runs, tmp_path: Path) -> None:
    """Where a class has a top value as frequent as the tail, c = 1 fails, and is not shown as what holds."""
    (tmp_path / "t.csv").write_text("town,illness\nB,flu\nB,cold\nT,flu\nT,cold\n")
    policy = (
        '[data]\nsource = "t.csv"\n[columns]\ntown = { role = "quasi", hierarchy = "suppress" }\n'
        'illness = { role = "sensitive" }\n[[privacy]]\nmodel = "recursive-l-diversity"\ncolumn = "illness"\nl = 2\n'
    )
    (tmp_path / "p.toml").write_text(policy + "c = 2\n")
    shown = runs("anonymize", "p.toml")
    assert "any c above 1, l = 2" in shown.out
    assert "c = 1," not in shown.out
    for page in ("private/report.html", "public/summary.html"):
        assert "any c above 1, l = 2" in (tmp_path / "release" / page).read_text()
    (tmp_path / "p.toml").write_text(policy + "c = 1\n")
    assert "c must be above 1 with l = 2" in runs("anonymize", "p.toml", "--out", "other").sentence


def test_long_names_are_broken_between_words(runs: Runs, tmp_path: Path) -> None:
    """A long name stays whole, or goes on in the next line behind a sign that ends a word, in tables and in pages."""
    name, longer = "days_b_screening_arrest_first", "days_between_the_screening_and_the_first_arrest"
    (tmp_path / "t.csv").write_text(f"{name},{longer},sex\n" + "1,2,f\n" * 4)
    (tmp_path / "p.toml").write_text(
        '[data]\nsource = "t.csv"\n[columns]\nsex = { role = "quasi", hierarchy = "suppress" }\n'
        f'{name} = {{ role = "quasi", hierarchy = {{ intervals = [5, 10] }} }}\n'
        f'{longer} = {{ role = "quasi", hierarchy = {{ intervals = [5, 10] }} }}\n'
        '[[privacy]]\nmodel = "k-anonymity"\nk = 2\n[algorithm]\nname = "mondrian"\n'
    )
    shown = runs("anonymize", "p.toml").out
    assert f"  {name} " in shown
    assert "days_between_the_screening_" in shown
    assert "and_the_first_arrest" in shown
    lines = runs("utility", "release", "--original", "t.csv").out.splitlines()
    cells = [line.split("│")[1].strip() for line in lines if "│" in line]
    assert "".join(cells).startswith(name + longer)
    assert all(cell.endswith("_") for cell in cells[:2])
    page = (tmp_path / "release" / "private" / "report.html").read_text()
    assert "days_<wbr/>b_<wbr/>screening_<wbr/>arrest_<wbr/>first" in page


LONG_NAMES = ("days_b_screening_arrest_first", "days_between_the_screening_and_the_first_arrest")


@pytest.mark.parametrize(
    "command",
    [
        "utility r --original t.csv --queries 0",
        f'query r "select {", ".join(LONG_NAMES)}, count(*) group by 1, 2"',
        "risk t.csv --policy p.toml",
    ],
)
def test_tables_with_long_names_are_not_cut_off(runs: Runs, tmp_path: Path, command: str) -> None:
    """However long names are, a table has its right border within 80 characters, and each of its columns."""
    (tmp_path / "t.csv").write_text(",".join([*LONG_NAMES, "sex"]) + "\n" + "1,2,f\n" * 4)
    columns = "".join(f'{name} = {{ role = "quasi", hierarchy = {{ intervals = [5, 10] }} }}\n' for name in LONG_NAMES)
    (tmp_path / "p.toml").write_text(
        f'[data]\nsource = "t.csv"\n[columns]\n{columns}sex = {{ role = "plain" }}\n'
        '[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
    )
    assert runs("anonymize", "p.toml", "--out", "r").code == 0
    told = runs(*shlex.split(command))
    assert told.code == 0
    lines = [line for line in told.out.splitlines() if line and line[0] in "┏┃┡│└"]
    assert lines
    for line in lines:
        assert line[-1] in "┓┃┩│┘", told.out
        assert len(line) <= 80
