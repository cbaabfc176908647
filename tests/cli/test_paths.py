"""Whatever a path on the command line, in a policy or in a folder leads to, a command says no at once, in a sentence.

The paths that commands take are found by walking the application, so that a new option has to be tried here as well.
"""

import json
import os
import shutil
import socket
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import sfumato as sf
from sfumato.auditor.query_ledger import AuditSettings, QueryLedger
from sfumato.cli.main import build_app
from sfumato.compare import compare
from sfumato.compare.comparison_folder import save_comparison
from sfumato.ledger import Ledger
from sfumato.party.party_keys import make_party_keys
from sfumato.release.key_folder import write_key_folder

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]

Runs = Callable[..., Any]

POLICY = """
[data]
source = "table.csv"

[columns]
zip = { role = "quasi", hierarchy = "zip.csv" }
sex = { role = "quasi", hierarchy = "suppress" }
illness = { role = "sensitive" }

[[privacy]]
model = "k-anonymity"
k = 2

[[privacy]]
model = "distinct-l-diversity"
column = "illness"
l = 2
"""
JOINED = (
    POLICY
    + """
[[previous]]
name = "old"
table = "old.csv"

[[privacy]]
model = "xy-anonymity"
x = ["zip", "old.zip", "sex"]
y = ["$row"]
k = 1
"""
)
COSTS = """
[[privacy]]
model = "t-closeness"
column = "illness"
t = 0.9
distance = "emd"
costs = "costs.csv"
"""
DRAWN = """
[data]
source = "numbers.csv"

[columns]
age = { role = "quasi" }
pay = { role = "sensitive" }

[[privacy]]
model = "k-anonymity"
k = 3

[algorithm]
name = "condensation"

[publish]
form = "synthetic"
"""
KEY = 'sex = { role = "individual", key = "person.key" }'

PATHS: dict[str, dict[str, list[str]]] = {
    "demo": {"out": ["--out", "new"]},
    "init": {"data": ["table.csv"], "out": ["--out", "new.toml"]},
    "anonymize": {
        "policy": ["policy.toml"],
        "data": ["--data", "table.csv"],
        "out": ["--out", "new"],
        "ledger": ["--ledger", "ledger"],
        "sign": ["--sign", "keys/private.pem"],
        "": ["--population", "patients"],
    },
    "apply": {
        "release": ["release"],
        "data": ["--data", "further.csv"],
        "policy": ["--policy", "policy.toml"],
        "out": ["--out", "new"],
        "ledger": ["--ledger", "ledger"],
        "sign": ["--sign", "keys/private.pem"],
        "": ["--population", "patients"],
    },
    "keys": {"out": ["--out", "new"]},
    "verify": {
        "folder": ["joined"],
        "base": ["--base", "release"],
        "part": ["--part", "release"],
        "policy": ["--policy", "joined.toml"],
        "previous": ["--previous", "old=old.csv"],
        "signed_by": ["--signed-by", "keys/public.pem"],
    },
    "risk": {
        "data": ["table.csv"],
        "policy": ["--policy", "policy.toml"],
        "population": ["--population", "table.csv"],
        "original": ["--original", "numbers.csv"],
        "anonymeter": ["--anonymeter", "judge"],
        "hold_out": ["--hold-out", "numbers.csv"],
        "_drawn": ["drawn", "--attacks"],
    },
    "chance": {},
    "query": {"release": ["release"], "": ["select count(*)"]},
    "utility": {
        "release": ["release"],
        "original": ["--original", "table.csv"],
        "policy": ["--policy", "policy.toml"],
    },
    "compare": {
        "policy": ["policy.toml"],
        "data": ["--data", "table.csv"],
        "out": ["--out", "new"],
        "write": ["--write", "new.toml"],
        "done": ["--from", "comparison"],
    },
    "dimensions": {"policy": ["policy.toml"], "data": ["--data", "table.csv"], "out": ["--out", "new.html"]},
    "reproduce": {"adult": ["--adult", "adult"], "out": ["--out", "new"], "": ["alpha-k", "--quick"]},
    "attack link": {
        "release": ["release"],
        "known": ["--known", "table.csv"],
        "policy": ["--policy", "policy.toml"],
        "": ["--on", "zip"],
    },
    "attack known": {
        "data": ["release"],
        "original": ["--original", "table.csv"],
        "policy": ["--policy", "policy.toml"],
        "plot": ["--plot", "new.svg"],
    },
    "attack intersect": {
        "releases": ["release", "release"],
        "known": ["--known", "table.csv"],
        "policy": ["--policy", "policy.toml"],
    },
    "attack definetti": {
        "release": ["split"],
        "original": ["--original", "table.csv"],
        "policy": ["--policy", "split.toml"],
    },
    "attack homogeneity": {"release": ["release"], "policy": ["--policy", "policy.toml"]},
    "attack skewness": {"release": ["release"], "policy": ["--policy", "policy.toml"]},
    "attack minimality": {
        "release": ["release"],
        "original": ["--original", "table.csv"],
        "policy": ["--policy", "policy.toml"],
    },
    "ledger init": {"folder": ["new"]},
    "ledger add": {
        "folder": ["ledger"],
        "release": ["joined"],
        "previous": ["--previous", "old=old.csv"],
        "": ["--population", "others"],
    },
    "ledger list": {"folder": ["ledger"]},
    "ledger check": {"folder": ["ledger"]},
    "collect perturb": {
        "data": ["table.csv"],
        "noise": ["--noise", "noise.json"],
        "out": ["--out", "new.csv"],
    },
    "collect reconstruct": {"file": ["table.csv"], "noise": ["--noise", "noise.json"], "": ["--column", "sex"]},
    "collect plan": {
        "noise": ["--noise", "noise.json"],
        "reports": ["--reports", "numbers.csv"],
        "prior": ["--prior", "prior.json"],
        "out": ["--out", "new.json"],
        "": ["--column", "vote", "--values", "a,b", "--epsilon", "1"],
    },
    "collect serve": {"form": ["form.toml"], "store": ["--store", "new.duckdb"], "": ["--port", "0"]},
    "condense": {
        "stream": ["numbers.csv"],
        "state": ["--state", "new"],
        "policy": ["--policy", "drawn.toml"],
        "out": ["--out", "new.csv"],
        "emit": ["--emit", "new.csv"],
        "": ["--k", "3"],
        "_kept": ["--state", "state"],
    },
    "rules mine": {
        "file": ["table.csv"],
        "from_policy": ["--from-policy", "policy.toml"],
        "out": ["--out", "new.json"],
        "": ["--min-support", "0.1", "--min-confidence", "0.5"],
    },
    "rules hide": {
        "file": ["table.csv"],
        "sensitive": ["--sensitive", "rules.toml"],
        "from_policy": ["--from-policy", "policy.toml"],
        "out": ["--out", "new.csv"],
        "": ["--min-support", "0.1", "--min-confidence", "0.5"],
    },
    "audit init": {
        "data": ["numbers.csv"],
        "ledger": ["--ledger", "new.db"],
        "": ["--protect", "pay", "--on", "age"],
    },
    "audit ask": {"ledger": ["asked.db"], "": ["select count(*)"]},
    "audit history": {"ledger": ["asked.db"]},
    "audit update": {"ledger": ["asked.db"], "data": ["--data", "numbers.csv"]},
    "audit serve": {"ledger": ["asked.db"], "tokens": ["--tokens", "tokens.toml"], "": ["--port", "0"]},
    "audit table": {"data": ["table.csv"], "out": ["--out", "new"], "": ["--rows", "zip", "--columns", "sex"]},
    "party keys": {"out": ["--out", "new"], "": ["--name", "c"]},
    "party run": {
        "consortium": ["sharing.toml"],
        "data": ["--data", "numbers.csv"],
        "key": ["--key", "a.key"],
        "out": ["--out", "new.json"],
        "": ["--as", "a"],
    },
    "party simulate": {
        "consortium": ["sharing.toml"],
        "data": ["--data", "a=numbers.csv"],
        "out": ["--out", "new"],
        "": ["--data", "b=numbers.csv"],
    },
    "schema": {},
    "serve": {"file": ["table.csv"], "": ["--no-browser"]},
}
"""For each command the paths it takes, as a call gives them that works, and what else such a call needs."""

TOGETHER: dict[str, dict[str, tuple[str, ...]]] = {
    "anonymize": {"out": ("policy", "data", "")},
    "apply": {"out": ("release", "data")},
    "verify": {
        "base": ("folder",),
        "part": ("folder",),
        "previous": ("folder", "policy", "signed_by"),
        "policy": ("folder", "previous", "signed_by"),
        "signed_by": ("folder", "policy", "previous"),
    },
    "risk": {
        "data": ("policy", "population"),
        "policy": ("data", "population"),
        "population": ("data", "policy"),
        "original": ("_drawn",),
        "anonymeter": ("_drawn", "original"),
        "hold_out": ("_drawn", "original"),
    },
    "condense": {
        "stream": ("state", ""),
        "state": ("stream", ""),
        "policy": ("stream", "state", ""),
        "out": ("stream", "state", ""),
        "emit": ("_kept",),
    },
    "rules hide": {
        "file": ("sensitive", "out", ""),
        "sensitive": ("file", "out", ""),
        "from_policy": ("file", "out", ""),
        "out": ("file", "sensitive", ""),
    },
    "collect plan": {"noise": (), "reports": ("noise",), "prior": ("noise",), "out": ("",)},
    "compare": {
        "done": ("policy", "write"),
        "write": ("policy", "done"),
        "policy": ("write", "done"),
        "data": ("policy", "out"),
        "out": ("policy", "data"),
    },
}
"""Which other parts a call has beside a path, where that is not all of them."""

WRITTEN = {"out", "write", "plot", "init folder", "init ledger", "store", "emit", "condense state"}
"""What is written: there, nothing and an empty folder may be what is asked for."""


def _make_pipe(path: Path) -> None:
    os.mkfifo(path)


def _make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(path.parent)  # the name of a socket must be short
        server.bind(path.name)
        os.chdir(here)


def _make_forbidden(path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("the superuser may read everything")
    path.touch(mode=0)


SPECIAL: dict[str, Callable[[Path], object]] = {
    "pipe": _make_pipe,
    "socket": _make_socket,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "folder": Path.mkdir,
    "missing": lambda path: None,
    "garbage": lambda path: path.write_bytes(bytes(range(255, -1, -1)) * 40),
    "forbidden": _make_forbidden,
}
"""What a path may lead to besides what is meant."""


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table, policies and releases of it, a ledger and a comparison."""
    folder = tmp_path_factory.mktemp("paths")
    rows = [f"{4350 + row % 4},{'fm'[row % 2]},{('flu', 'HIV', 'cold')[row % 3]}" for row in range(48)]
    (folder / "table.csv").write_text("\n".join(["zip,sex,illness", *rows, ""]))
    (folder / "further.csv").write_text("\n".join(["zip,sex,illness", *rows[:24], ""]))
    (folder / "old.csv").write_text("\n".join(["zip,town", *(f"{4350 + row % 4},Bern" for row in range(8)), ""]))
    (folder / "zip.csv").write_text("".join(f"{4350 + row},435*,*\n" for row in range(4)))
    (folder / "policy.toml").write_text(POLICY)
    (folder / "joined.toml").write_text(JOINED)
    (folder / "split.toml").write_text(POLICY + '[algorithm]\nname = "anatomy"\n[publish]\nform = "anatomy"\n')
    key = write_key_folder(folder / "keys").private
    for policy, release in (("policy", "release"), ("joined", "joined"), ("split", "split")):
        sf.anonymize(None, folder / f"{policy}.toml").save(folder / release, sign=key)
    Ledger.create(folder / "ledger")
    comparison = compare(folder / "policy.toml", algorithms=["optimal"])
    save_comparison(comparison, folder / "comparison", folder / "policy.toml", None)
    answers = {"kind": "response", "values": ["f", "m"], "keep": 0.5}
    columns = {"zip": {"kind": "plain"}, "sex": answers, "illness": {"kind": "plain"}}
    (folder / "noise.json").write_text(json.dumps({"format": "sfumato-noise/1", "columns": columns}))
    question = (
        'title = "t"\n[[question]]\nname = "sex"\ntext = "?"\nkind = "response"\nvalues = ["f", "m"]\nkeep = 0.5\n'
    )
    (folder / "form.toml").write_text(question)
    numbers = [f"{20 + row % 5 * 10},{1000 + 37 * row}" for row in range(60)]
    (folder / "numbers.csv").write_text("\n".join(["age,pay", *numbers, ""]))
    (folder / "drawn.toml").write_text(DRAWN)
    sf.anonymize(None, folder / "drawn.toml").save(folder / "drawn")
    with sf.CondensationStream(3, state=folder / "state") as stream:
        stream.follow(folder / "numbers.csv")
    (folder / "rules.toml").write_text('[[sensitive]]\nif = ["sex=f"]\nthen = ["illness=HIV"]\n')
    (folder / "tokens.toml").write_text('ann = "J2v0qk8bXw7m5nT1yR4c"\n')
    (folder / "tokens.toml").chmod(0o600)
    settings = AuditSettings(("pay",), ("age",))
    QueryLedger.create(folder / "asked.db", folder / "numbers.csv", settings).close()
    make_party_keys("a", folder)
    make_party_keys("b", folder)
    parties = [f'{{ name = "{name}", address = "127.0.0.1:1", certificate = "{name}.pem" }}' for name in "ab"]
    (folder / "sharing.toml").write_text(f'[consortium]\nparties = [{", ".join(parties)}]\n[task]\nkind = "sum"\n')
    (folder / "adult" / "hierarchies").mkdir(parents=True)
    shutil.copy(folder / "table.csv", folder / "adult" / "adult.csv")
    return folder


def _commands(command: Any, names: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield " ".join(names), command
    for name, part in getattr(command, "commands", {}).items():
        yield from _commands(part, (*names, name))


def _takes_path(name: str, kind: object) -> bool:
    # NAME=FILE, and what may be the URL of a database as well
    texts = {"previous", "data", "original", "hold_out", "stream"}
    return "Path" in str(kind) or name in texts or (name, kind) == ("known", str)


def _listing(folder: Path) -> dict[str, int]:
    return {str(path): path.lstat().st_mtime_ns for path in folder.rglob("*")}


def test_every_path_is_tried() -> None:
    """The paths that are tried below are all that the application takes, command by command."""
    found = {
        name: {part for part, kind in typing.get_type_hints(command.callback).items() if _takes_path(part, kind)}
        for name, command in _commands(typer.main.get_command(build_app()))
    }
    assert found == {name: set(filter(_is_path, parts)) for name, parts in PATHS.items()}


def _is_path(part: str) -> bool:
    """Tell a path from what else a call needs."""
    return part != "" and not part.startswith("_")


CASES = [
    (command, part, kind)
    for command, parts in PATHS.items()
    for part in parts
    for kind in SPECIAL
    if _is_path(part)
    and not ({part, f"{command.split()[-1]} {part}"} & WRITTEN and kind in {"missing", "folder"})
    and (part, kind) != ("plot", "garbage")  # a drawing is replaced
    and (command, kind) not in {("serve", "garbage"), ("serve", "folder")}  # the page says what is wrong with a table
]
NOT_VERIFIED = {
    ("verify", "folder", "folder"),
    ("verify", "previous", "garbage"),
    ("ledger add", "release", "folder"),
}
"""An empty folder is a release that lacks its files, and garbage is not the table that a promise was made with."""


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_paths_on_the_command_line(
    runs: Runs, tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch, case: tuple[str, str, str]
) -> None:
    """A pipe, a socket, a device, a folder, nothing, garbage: exit 2 and one sentence, and nothing is written."""
    command, part, kind = case
    *flags, given = PATHS[command][part]
    name, equals, file = given.rpartition("=")
    bad = tmp_path / f"bad{Path(file).suffix}"
    SPECIAL[kind](bad)
    others = TOGETHER.get(command, {}).get(part, tuple(PATHS[command]))
    words = [word for other in others if other != part for word in PATHS[command][other]]
    before = _listing(project), _listing(tmp_path)
    monkeypatch.chdir(project)
    # arguments stand before options, in their order
    paths = [*flags, f"{name}{equals}{bad}"]
    arguments = [*paths, *words] if not flags and next(iter(PATHS[command])) == part else [*words, *paths]
    outcome = runs(*command.split(), *arguments)
    assert outcome.sentence
    assert outcome.code == (1 if case in NOT_VERIFIED else 2)
    assert (_listing(project), _listing(tmp_path)) == before


INSIDE = {
    "source": ("table.csv", ["anonymize", "policy.toml", "--out", "new"]),
    "hierarchy": ("zip.csv", ["anonymize", "policy.toml", "--out", "new"]),
    "costs": ("costs.csv", ["anonymize", "costs.toml", "--out", "new"]),
    "key": ("person.key", ["anonymize", "key.toml", "--out", "new"]),
    "previous": ("old.csv", ["anonymize", "joined.toml", "--out", "new"]),
    "previous, verified": ("old.csv", ["verify", "joined", "--previous", "old=old.csv"]),
    "manifest beside previous": ("manifest.json", ["anonymize", "joined.toml", "--out", "new"]),
    "manifest, verified": ("release/public/manifest.json", ["verify", "release"]),
    "manifest, queried": ("release/public/manifest.json", ["query", "release", "select count(*)"]),
    "manifest, attacked": ("release/public/manifest.json", ["attack", "homogeneity", "release"]),
    "manifest, measured": ("release/public/manifest.json", ["utility", "release", "--original", "table.csv"]),
    "manifest, recorded": ("release/public/manifest.json", ["ledger", "add", "ledger", "release", "--population", "p"]),
    "manifest, replaced": (
        "release/public/manifest.json",
        ["anonymize", "policy.toml", "--out", "release", "--force"],
    ),
    "audit, verified": ("release/private/audit.json", ["verify", "release"]),
    "audit, measured": ("release/private/audit.json", ["utility", "release", "--original", "table.csv"]),
    "audit, attacked": (
        "release/private/audit.json",
        ["attack", "link", "release", "--known", "table.csv", "--on", "zip"],
    ),
    "table, verified": ("release/public/table.csv", ["verify", "release"]),
    "table, queried": ("release/public/table.csv", ["query", "release", "select count(*)"]),
    "table, attacked": ("release/public/table.csv", ["attack", "homogeneity", "release"]),
    "table, at risk": ("release/public/table.csv", ["risk", "release", "--policy", "policy.toml"]),
    "table, recorded": ("release/public/table.csv", ["ledger", "add", "ledger", "release", "--population", "p"]),
    "summary": ("release/public/summary.html", ["verify", "release"]),
    "database": ("ledger/ledger.sqlite", ["ledger", "list", "ledger"]),
    "figures": ("comparison/compare.json", ["compare", "policy.toml", "--from", "comparison", "--write", "new.toml"]),
    "adult": ("adult/adult.csv", ["reproduce", "alpha-k", "--adult", "adult", "--out", "new"]),
    "adult, in sequence": ("adult/adult.csv", ["reproduce", "sequential", "--adult", "adult", "--out", "new"]),
    "policy, replaced": ("policy.toml", ["init", "table.csv", "--out", "policy.toml", "--force"]),
}
"""Files that a policy names or that a folder holds, each with a command that reads it."""

UNNOTICED = {
    ("summary", "missing"),
    ("audit, verified", "missing"),
    ("manifest beside previous", "missing"),
    ("manifest beside previous", "garbage"),
    ("policy, replaced", "missing"),
}
"""What a release, or a table of somebody else's, may lack, and what is no manifest of ours."""


@pytest.mark.parametrize("kind", SPECIAL)
@pytest.mark.parametrize("case", INSIDE)
def test_files_that_others_name(
    runs: Runs, tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch, case: str, kind: str
) -> None:
    """The same of files that a policy names and of those in a folder: a sentence at once, or a verdict."""
    folder = tmp_path / "copy"
    shutil.copytree(project, folder)
    (folder / "costs.toml").write_text(POLICY + COSTS)
    (folder / "key.toml").write_text(POLICY.replace('sex = { role = "quasi", hierarchy = "suppress" }', KEY))
    file, arguments = INSIDE[case]
    (folder / file).unlink(missing_ok=True)
    SPECIAL[kind](folder / file)
    before = _listing(folder)
    monkeypatch.chdir(folder)
    outcome = runs(*arguments)
    assert "bug of sfumato" not in outcome.err
    if outcome.code == 0:  # what nobody has to read is passed over
        assert (case, kind) in UNNOTICED or case.startswith(("audit, attacked", "manifest beside"))
        return
    assert outcome.code in {1, 2}
    assert outcome.err.startswith("error: ") or "does not hold" in outcome.out
    assert _listing(folder) == before
