"""The command line on a case: what it prints and how it ends, whatever the case is."""

import contextlib
import io
import json
from pathlib import Path
from random import Random
from typing import Any

from fuzz.case import FILES, FuzzCase
from fuzz.oracle import Finding
from sfumato.cli import main
from sfumato.policy.toml_text import write_toml

_CODES = {"release": 0, "infeasible": 1, "refused": 2}


def judge_commands(case: FuzzCase, folder: Path, outcome: str, rows: int) -> list[Finding]:
    """Run ``anonymize`` on a case, and on its release of so many rows some of the commands that read one."""
    random, policy = Random(case.seed), folder / "policy.toml"
    policy.write_text(write_toml(case.document), encoding="utf-8")
    data = folder / f"table.{case.way if case.way in FILES else 'parquet'}"
    before = {path.name for path in folder.iterdir()}
    code, out, err = run_command("anonymize", policy, "--data", data, "--out", folder / "again", "--json")
    found = _judge_output(f"anonymize {case.way}", code, out, err)
    if case.way in FILES and code != _CODES[outcome]:
        found.append(Finding("anonymize ends otherwise", f"{outcome} in Python, and {code}: {err}"))
    if code and {path.name for path in folder.iterdir()} != before:
        found.append(
            Finding("anonymize leaves something behind", str({path.name for path in folder.iterdir()} - before))
        )
    if outcome != "release" or found:
        return found
    release, quasi = folder / "release", case.names("quasi")
    choices: list[tuple[Any, ...]] = [
        ("verify", release),
        ("verify", release / "public", *_previous(case, folder)),
        ("utility", release, "--original", data, "--policy", policy),
        ("risk", data, "--policy", policy),
        ("risk", release),
        ("query", release, "select count(*)"),
        ("query", release, f"select count(*) group by {_quoted(random.choice(list(case.columns)))}"),
        ("attack", "homogeneity", release),
        ("attack", "known", release, "--original", data),
        ("attack", "link", release, "--known", data, "--on", random.choice(quasi)),
        ("attack", "minimality", release, "--original", data),
        ("attack", "intersect", release, release, "--known", data),
    ]
    if case.form != "generalized":
        choices.append(("attack", "definetti", release, "--original", data))
    for command in random.sample(choices, 3):
        code, out, err = run_command(*command, "--json")
        name = " ".join(str(word) for word in command[:2]) if command[0] == "attack" else command[0]
        found += _judge_output(name, code, out, err)
        if command[0] == "verify" and code:
            found.append(Finding("verify ends otherwise", f"{code}: {out} {err}"))
        if command[0] == "query" and not code:  # groups of any column make up the whole
            counts = [answer["values"]["count(*)"]["estimate"] for answer in json.loads(out)["answers"]]
            if abs(sum(counts) - rows) > 1e-6 * rows:
                found.append(Finding("query counts otherwise", f"{rows} rows: {command[2]}: {out}"))
    return found


def _previous(case: FuzzCase, folder: Path) -> list[str]:
    releases = case.document.get("previous", [])
    return [word for one in releases for word in ("--previous", f"{one['name']}={folder / one['table']}")]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def run_command(*words: Any) -> tuple[int, str, str]:
    """Run a command in this process: its exit code, and what it printed."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main([str(word) for word in words])
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
    return code, out.getvalue(), err.getvalue()


def _judge_output(name: str, code: int, out: str, err: str) -> list[Finding]:
    """One JSON object, or one sentence; warnings are sentences, too."""
    if "bug of sfumato" in err or "see sfumato --help" in err or code not in {0, 1, 2}:
        return [Finding(f"{name}: {err.partition('(')[2].partition(')')[0]}", f"{code} {err}")]
    sentences = err.splitlines()
    if any(not line.startswith(("error: ", "warning: ")) for line in sentences):
        return [Finding(f"{name} prints something else", err)]
    if out:
        try:
            json.loads(out)
        except ValueError:
            return [Finding(f"{name} prints no JSON", out[:200])]
    elif code == 0 or not err.startswith("error: "):
        return [Finding(f"{name} says nothing", f"{code} {err}")]
    return []
