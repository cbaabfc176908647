"""Local recoding in parts beside one piece: `python -m benchmarks.recoding_parts [--rows N] [--only NAME] [--out DIR]`.

Adult-like rows under every privacy model, by `auto`: what is lost in one piece and in parts, the seconds that both
take, and how many parts there are. Then parts by one process and by two, which have to come to the same. Figures and
verdicts are reported, never asserted. A full run is kept beside this file; another only where --out says so.
"""

import argparse
import hashlib
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.cases import OCCUPATION, SALARY, M
from benchmarks.input_files import rows_to_enlarge
from sfumato.core.worker_processes import VARIABLE
from sfumato.datasets import adult_arx_folder, adult_arx_policy, enlarge, synthetic_adult_policy
from sfumato.encode import encode
from sfumato.papers.experiment import describe_run, write_run
from sfumato.papers.markdown_tables import markdown_table, setting_line
from sfumato.policy import Policy, load
from sfumato.recode.local.candidates import Candidate, Effort, find_candidates
from sfumato.recode.local.local_recoding import auto_candidates
from sfumato.recode.local.parts import recode_in_parts
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.start import choose_start, pose_problem
from sfumato.table import from_frame

HERE = Path(__file__).parent
PERSON, ROWS_PER_PERSON = "person", 2
LIMIT = 1.005
"""What the loss in parts may be, as a multiple of that in one piece."""


@dataclass(frozen=True)
class Asked:
    """What is asked of the classes: k and other models, the sensitive column, and the share that may be suppressed.

    Of so many rows; where there are `persons`, each has two of them.
    """

    also: tuple[Mapping[str, Any], ...] = ()
    k: int = 5
    sensitive: str | None = None
    suppression: float = 0.0
    persons: bool = False
    rows: int = 300_000


def _about(model: str, **keys: Any) -> Asked:
    """Ask for a model of the occupation, besides k = 5."""
    return Asked(({"model": model, "column": OCCUPATION, **keys},), sensitive=OCCUPATION)


def _about_persons(model: str, **keys: Any) -> Asked:
    """Ask for a model of persons who have several rows."""
    return Asked(({"model": model, **keys},), k=2, sensitive=OCCUPATION, persons=True)


CASES: dict[str, Asked] = {
    "k-anonymity, a million rows": Asked(k=10, rows=M),
    "k-anonymity": Asked(k=10),
    "k-anonymity, 2 % suppressed": Asked(suppression=0.02),
    "alpha-deassociation": _about("alpha-deassociation", alpha=0.3),
    "alpha-deassociation, refined": _about("alpha-deassociation", alpha=0.3, refined=True),
    "alpha-k-anonymity": _about("alpha-k-anonymity", k=10, alpha=0.3),
    "distinct-l-diversity": _about("distinct-l-diversity", l=4),
    "entropy-l-diversity": _about("entropy-l-diversity", l=4),
    "recursive-l-diversity": _about("recursive-l-diversity", c=2, l=3),
    "t-closeness, emd-equal": _about("t-closeness", t=0.3, distance="emd-equal"),
    "t-closeness, kl": _about("t-closeness", t=0.5, distance="kl"),
    "identity-k-anonymity": _about_persons("identity-k-anonymity", k=5),
    "identity-kl-diversity": _about_persons("identity-kl-diversity", k=5, l=3, column=OCCUPATION),
    "identity-alpha-beta": _about_persons("identity-alpha-beta", alpha=0.3, beta=0.4, column=OCCUPATION),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the cases, print the page, and keep it."""
    options = _options().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    chosen = [name for name in CASES if not options.only or any(word in name for word in options.only)]
    full = not options.only and not options.rows
    out = options.out or (HERE if full else None)
    measured: list[dict[str, Any]] = []
    for name in chosen:
        print(f"{name} …", end=" ", flush=True, file=sys.stderr)
        measured.append({"case": name} | measure(CASES[name], options.rows or CASES[name].rows))
        print(f"{measured[-1]['ratio']:.4f} × the loss", file=sys.stderr)
        run = describe_run(measured, full=full and len(measured) == len(CASES))
        text = page(run) if out is None else write_run(out, "parts", run, page(run))  # a run that is stopped is kept
    print(text)


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.recoding_parts", description="Parts beside one piece.")
    parser.add_argument("--rows", type=int, help="rows of the table (300,000, and a million once)")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="cases with this in their name")
    parser.add_argument("--out", type=Path, help="the folder for page and figures (benchmarks, of a full run)")
    return parser


def measure(asked: Asked, rows: int) -> dict[str, Any]:
    """Recode in one piece, and in parts by two processes and by one."""
    problem = pose(asked, rows)
    names, effort = auto_candidates(problem), Effort.of_table(problem, patient=True)
    finished: list[int] = []

    def in_parts() -> Candidate | None:
        return recode_in_parts(problem, names, effort, lambda done, _: finished.append(done))

    whole, one = _time(problem, lambda: find_candidates(problem, names, effort, "mdav")[0], processes=1)
    parted, two = _time(problem, in_parts, processes=2)
    count = len(finished)
    alone, same = _time(problem, in_parts, processes=1)
    return {
        "rows": problem.encoded.rows,
        "tuples": len(problem.counts),
        "parts": count,
        "whole": one,
        "two": two,
        "alone": same,
        "ratio": two["loss"] / one["loss"],
        "same": parted is not None and alone is not None and _digest(parted) == _digest(alone),
        "classes": [found.partition.groups for found in (whole, parted) if found],
    }


def pose(asked: Asked, rows: int) -> Problem:
    """Make the problem of Adult-like rows."""
    table = enlarge(rows_to_enlarge(), rows)
    settings: dict[str, Any] = {"k": asked.k, "suppression": asked.suppression, "also": asked.also}
    settings |= {"sensitive": asked.sensitive, "plain": SALARY}
    folder = adult_arx_folder()
    document = adult_arx_policy(folder, **settings) if folder else synthetic_adult_policy(**settings)
    if asked.persons:
        names = pa.array([f"p{row // ROWS_PER_PERSON}" for row in range(rows)])
        table = table.append_column(PERSON, names)
        document["columns"] = document["columns"] | {PERSON: {"role": "individual"}}
    policy: Policy = load(document | {"algorithm": {"suppression": asked.suppression, "seed": 1}})
    problem = choose_start(pose_problem(encode(from_frame(table, policy), policy).permitted, policy))
    if problem is None:
        raise RuntimeError("the requirements of a case cannot be met")
    return problem


def _time(
    problem: Problem, find: Callable[[], Candidate | None], *, processes: int
) -> tuple[Candidate | None, dict[str, float]]:
    """Find classes; say what they lose, and what they took by the clock and of processors."""
    os.environ[VARIABLE] = str(processes)
    start, before = time.perf_counter(), _processor_seconds()
    best = find()
    took = {"seconds": time.perf_counter() - start, "cpu": _processor_seconds() - before}
    loss = problem.cost(best.partition) / problem.encoded.rows if best else np.nan
    return best, took | {"loss": loss}


def _processor_seconds() -> float:
    """Add up what this process and its ended children took."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _digest(found: Candidate) -> str:
    lines = found.partition.combine_lines()
    return hashlib.sha256(b"".join(part.tobytes() for part in (lines.tuples, lines.rows, lines.group))).hexdigest()


_HEAD = (
    *("requirement", "rows", "parts", "loss in one piece", "in parts", "ratio", "≤ 1.005"),
    *("s", "s in parts", "cpu s", "cpu s in parts"),
)
_NOTES = """\
Adult-like rows (copies with two attributes redrawn), `auto`, k = 10 or 5; the salary class is published as it is, and
but for k-anonymity the occupation is sensitive. Persons have two rows each. The loss is NCP, suppressed rows
counting 1. Seconds are those of the search alone, in one piece and in parts by two processes, those of their start
included; the processor's seconds are of all processes. Wherever a result in parts is shown, one process came to the
same one as two did{same}."""


def page(run: Mapping[str, Any]) -> str:
    """Write the page."""
    lines = [_line(figures) for figures in run["cases"]]
    different = [figures["case"] for figures in run["cases"] if not figures["same"]]
    same = f", but for {', '.join(different)}" if different else ""
    notes = _NOTES.format(same=same)
    if run["full"] is False and any(figures["rows"] < CASES[figures["case"]].rows for figures in run["cases"]):
        notes += " Cases of fewer rows than the others were run apart from them (`--rows`), and put beside them here."
    left_out = [name for name in CASES if name not in {figures["case"] for figures in run["cases"]}]
    partial = [f"**Not all cases: {'; '.join(left_out)} were left out.**"] if left_out else []
    return (
        "\n\n".join(["# Local recoding in parts", setting_line(run), *partial, markdown_table(_HEAD, lines), notes])
        + "\n"
    )


def _line(figures: Mapping[str, Any]) -> list[str]:
    whole, two = figures["whole"], figures["two"]
    if not figures["parts"]:
        return [figures["case"], f"{figures['rows']:,}", "one piece", f"{whole['loss']:.4f}", *[""] * 7]
    return [
        *(figures["case"], f"{figures['rows']:,}", str(figures["parts"])),
        *(f"{whole['loss']:.4f}", f"{two['loss']:.4f}"),
        *(f"{figures['ratio']:.4f}", "holds" if figures["ratio"] <= LIMIT else "does not hold"),
        *(f"{took['seconds']:.1f}" for took in (whole, two)),
        *(f"{took['cpu']:.1f}" for took in (whole, two)),
    ]


if __name__ == "__main__":
    main()
