"""Three hospitals that publish together, apart, or as one: `python -m benchmarks.party_together [--out DIR]`.

The rows of Adult are dealt out to parties of 30,000, 15,000 and 222 rows. What the parties choose together by secure
sums is held against what one table with all rows gets, and against what each of them gets by itself. Figures are
reported, never asserted. The page and the figures are kept beside this file; elsewhere where --out says so.
"""

import argparse
import json
import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from sfumato.core.randomness import Randomness
from sfumato.datasets import adult_folder
from sfumato.errors import Infeasible
from sfumato.papers.experiment import describe_run, write_run
from sfumato.papers.markdown_tables import markdown_table, setting_line
from sfumato.party.anonymize_together import AnonymizeTask
from sfumato.party.local_parties import QueueChannel
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable
from sfumato.policy.section import Section
from sfumato.policy.toml_text import write_toml
from sfumato.release.pipeline import publish
from sfumato.utility.information_loss import measure

HERE = Path(__file__).parent
PARTIES = {"a": 30_000, "b": 15_000, "c": 222}
FILES = ("workclass", "education", "marital-status", "race", "sex", "native-country", "salary-class")
SENSITIVE = "occupation"
K = {"model": "k-anonymity", "k": 5}
CASES: tuple[tuple[str, float, tuple[Mapping[str, Any], ...]], ...] = (
    ("k = 5", 0.0, (K,)),
    ("k = 5", 0.02, (K,)),
    ("k = 5, distinct l = 3", 0.02, (K, {"model": "distinct-l-diversity", "column": SENSITIVE, "l": 3})),
    ("k = 5, entropy l = 3", 0.02, (K, {"model": "entropy-l-diversity", "column": SENSITIVE, "l": 3})),
    ("k = 5, recursive (3, 3)", 0.02, (K, {"model": "recursive-l-diversity", "column": SENSITIVE, "l": 3, "c": 3})),
    (
        "k = 5, t = 0.2",
        0.02,
        (K, {"model": "t-closeness", "column": SENSITIVE, "t": 0.2, "distance": "emd-equal"}),
    ),
)
_NOTES = """\
Eight quasi-identifiers, `occupation` sensitive; the rows in an order that was drawn once. Loss is the NCP over all
rows, a suppressed row counting 1. *Apart* is the average over all rows where each party anonymizes its own by the
same policy, and *of c alone* that of the 222 rows of the smallest party; where no generalization of its rows meets
the policy, it publishes nothing and loses 1. *Same* says whether the parties chose the levels, and suppressed as many
rows, as the search does for one table. A look is a secure sum at a node, of sizes or of values; *failing* ones are
those after which sizes alone rule the node out. MB are what the party that collects sends, which is the most that any
does. CPU seconds are of the slowest party, a process of its own, from the first message to the verified release, and
those of one table from the table in memory to its published rows."""


def policy(requirements: Sequence[Mapping[str, Any]], suppression: float, folder: Path) -> dict[str, Any]:
    """Make the policy of a case."""
    age = {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20], "domain": [0, 119]}}
    files = {name: {"role": "quasi", "hierarchy": str(folder / "hierarchies" / f"{name}.csv")} for name in FILES}
    sensitive = {"role": "sensitive", "hierarchy": str(folder / "hierarchies" / f"{SENSITIVE}.csv")}
    return {
        "columns": {"age": age, **files, SENSITIVE: sensitive},
        "privacy": [dict(requirement) for requirement in requirements],
        "algorithm": {"name": "optimal", "suppression": suppression},
    }


def read_tables(folder: Path) -> dict[str, Any]:
    """Deal the rows of Adult out to the parties, in an order that is drawn, and the same in every run."""
    table = pyarrow.csv.read_csv(folder / "adult.csv").select(["age", *FILES, SENSITIVE])
    table = table.take(pa.array(Randomness(1, "dealing").permutation(table.num_rows)))
    table = pa.table({name: table[name].cast(pa.string()) for name in table.column_names})
    tables, start = {}, 0
    for name, rows in PARTIES.items():
        tables[name] = table.slice(start, rows)
        start += rows
    return tables


def run_together(document: Mapping[str, Any], tables: Mapping[str, Any], folder: Path) -> dict[str, dict[str, Any]]:
    """Run each party in a process of its own; give what each found, with its seconds, bytes and rounds."""
    path = folder / "policy.toml"
    path.write_text(write_toml(dict(document)), encoding="utf-8")
    context, session = multiprocessing.get_context("fork"), os.urandom(32)
    queues: dict[tuple[str, str], Queue[bytes]] = {
        (one, other): context.Queue() for one in tables for other in tables if one != other
    }
    answers: Queue[tuple[str, dict[str, Any]]] = context.Queue()

    def play(name: str) -> None:
        task = AnonymizeTask.read(Section({"policy": str(path)}, "task"), tuple(tables), tuple(tables))
        prepared = task.direct(task.prepare(name, PartyTable(tables[name], name)), folder / name)
        others = [other for other in tables if other != name]
        channels = {
            other: QueueChannel(other, session, queues[name, other], queues[other, name])  # type: ignore[arg-type]
            for other in others
        }
        mine = PartySession(name, tuple(tables), channels, session)
        begin = time.process_time()
        with mine.until_end:
            result = task.run(mine, prepared)
        seconds = time.process_time() - begin
        answers.put((name, result | {"cpu": seconds, "bytes": mine.bytes_sent, "rounds": mine.rounds}))

    processes = [context.Process(target=play, args=(name,)) for name in tables]
    for process in processes:
        process.start()
    found = dict(answers.get(timeout=600) for _ in processes)
    for process in processes:
        process.join()
    return found


def run_alone(document: Mapping[str, Any], table: Any) -> tuple[float, int, Mapping[str, int] | None, float]:
    """Anonymize one table; give its loss, suppressed rows, levels and CPU seconds; all is lost where nothing passes."""
    begin = time.process_time()
    try:
        publication = publish(table, document)
    except Infeasible:
        return 1.0, table.num_rows, None, time.process_time() - begin
    seconds = time.process_time() - begin
    utility = measure(publication.encoded, publication.recoding)
    return utility.ncp, publication.suppressed, publication.recoding.levels, seconds


def cases(folder: Path) -> Iterator[dict[str, Any]]:
    """Compare together, one table and apart, for each requirement."""
    tables = read_tables(folder)
    whole = pa.concat_tables(tables.values())
    for name, suppression, requirements in CASES:
        document = policy(requirements, suppression, folder)
        with tempfile.TemporaryDirectory(prefix="sfumato-bench-") as place:
            parties = run_together(document, tables, Path(place))
            looks = json.loads(Path(place, "a", "private", "audit.json").read_text())["looks"]
        together = parties["a"]
        one, suppressed, levels, seconds = run_alone(document, whole)
        apart = {party: run_alone(document, table)[0] for party, table in tables.items()}
        yield {
            "requirement": name,
            "suppression": suppression,
            "loss_together": together["utility"]["ncp"],
            "loss_one_table": one,
            "same": together["levels"] == levels and together["suppressed"] == suppressed,
            "loss_apart": sum(apart[party] * rows for party, rows in PARTIES.items()) / whole.num_rows,
            "loss_of_smallest_alone": apart["c"],
            "nodes": together["nodes"],
            "looks": len(looks),
            "failing_looks": sum(look["ruled_out"] for look in looks),
            "megabytes": max(party["bytes"] for party in parties.values()) / 1e6,
            "rounds": max(party["rounds"] for party in parties.values()),
            "cpu": max(party["cpu"] for party in parties.values()),
            "cpu_one_table": seconds,
        }


def page(run: Mapping[str, Any]) -> str:
    """Write the page: losses, what was looked at, and what it cost."""
    head = (
        *("requirement", "dropped", "loss together", "one table", "same", "apart", "of c alone"),
        *("nodes", "looks", "failing", "MB", "rounds", "CPU s", "one table s"),
    )
    lines = [
        [
            case["requirement"],
            f"{case['suppression']:.0%}",
            *(f"{case[key]:.3f}" for key in ("loss_together", "loss_one_table")),
            "yes" if case["same"] else "**no**",
            *(f"{case[key]:.3f}" for key in ("loss_apart", "loss_of_smallest_alone")),
            *(f"{case[key]:,}" for key in ("nodes", "looks", "failing_looks")),
            f"{case['megabytes']:.1f}",
            f"{case['rounds']:,}",
            f"{case['cpu']:.2f}",
            f"{case['cpu_one_table']:.2f}",
        ]
        for case in run["cases"]
    ]
    rows = ", ".join(f"{rows:,}" for rows in PARTIES.values())
    title = f"# Anonymizing together: Adult among parties of {rows} rows"
    return "\n\n".join([title, setting_line(run), markdown_table(head, lines), _NOTES]) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare, print the page, and keep it."""
    parser = argparse.ArgumentParser(prog="benchmarks.party_together", description="Together, apart, or as one.")
    parser.add_argument("--out", type=Path, default=HERE, help="the folder for page and figures (benchmarks)")
    options = parser.parse_args(arguments)
    folder = adult_folder()
    if folder is None:
        parser.error("the rows of Adult are not at hand: make adult fetches them")
    run = describe_run(list(cases(folder)), full=True)
    print(write_run(options.out, "party-together", run, page(run)))


if __name__ == "__main__":
    main()
