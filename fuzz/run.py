"""Run random cases for a time, and write down those of which the oracle says that something is wrong.

``python -m fuzz.run --seconds 600`` draws seeds from the clock and prints the first; ``--seed 7`` runs the case of one
seed; ``--case FOLDER`` runs a case that was written down.
"""

import argparse
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any, NoReturn

import pyarrow as pa

import sfumato
from fuzz.case import FILES, FuzzCase
from fuzz.commands import judge_commands
from fuzz.ledgers import judge_ledger
from fuzz.oracle import Finding, Oracle
from fuzz.policies import random_case
from fuzz.published import PublishedFiles
from fuzz.shrink import shrink
from fuzz.tampering import judge_tampering
from sfumato.errors import Infeasible, InputError, NotVerified
from sfumato.policy import Policy
from sfumato.release import Release, prepare
from sfumato.verifier import verify

_SFUMATO = Path(sfumato.__file__).parent

SLOW, STUCK = 60, 240
"""Seconds after which a case is reported as slow, and after which it is ended."""


def check_case(case: FuzzCase, folder: Path) -> tuple[str, list[Finding]]:
    """Run a case in an empty folder, and say how it ended and what is wrong; whatever is raised is a finding."""
    signal.signal(signal.SIGALRM, _end_case)
    signal.alarm(STUCK)
    try:
        return _judge_case(case, folder)
    except Exception as error:  # noqa: BLE001 - see above
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if Path(frame.filename).is_relative_to(_SFUMATO)]
        place = (ours or frames)[-1]
        where = f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}"
        return "crash", [Finding(f"{'crash' if ours else 'oracle'}, {where}", f"{error}")]
    finally:
        signal.alarm(0)


def _end_case(number: int, frame: FrameType | None) -> NoReturn:
    del number, frame
    raise TimeoutError(f"no result after {STUCK} s")


def _judge_case(case: FuzzCase, folder: Path) -> tuple[str, list[Finding]]:
    oracle = Oracle(case)
    case.write_inputs(folder)
    try:
        policy = Policy.read(case.document, folder=folder)
        release = prepare(case.data(folder), policy)
        release.save(folder / "release")
    except Infeasible as error:
        return "infeasible", [*oracle.judge_infeasible(str(error)), *_judge_commands(case, folder, "infeasible", 0)]
    except NotVerified as error:
        return "crash", [Finding("not verified", str(error))]
    except InputError as error:
        return "refused", [*oracle.judge_refusal(str(error)), *_judge_commands(case, folder, "refused", 0)]
    files = PublishedFiles(case, folder / "release" / "public")
    found = [*oracle.judge_release(files), *oracle.judge_private(folder / "release" / "private")]
    if not found and case.way not in FILES:
        found += _judge_frame(release, files)
    verdict = verify(folder / "release")
    if not verdict.satisfied:
        found.append(Finding("verify", f"{verdict.complaints}"))
    if not found and case.seed % 2:
        found += judge_tampering(case, folder / "release", folder / "tampered")
    if not found and case.seed % 3 == 0 and case.form != "anatomy":
        found += _judge_again(case, folder, policy, release)
    if not found:
        found += _judge_commands(case, folder, "release", release.rows)
    if not found and case.seed % 5 == 0:
        found += judge_ledger(case, folder)
    return "release", found


def _judge_commands(case: FuzzCase, folder: Path, outcome: str, rows: int) -> list[Finding]:
    """Commands import much and take their time: every fourth case is tried by them."""
    return [] if case.seed % 4 else judge_commands(case, folder, outcome, rows)


def _judge_again(case: FuzzCase, folder: Path, policy: Policy, release: Release) -> list[Finding]:
    """The same rows, in whichever order, give the same release, whatever is drawn; order and pseudonyms aside."""
    order = list(range(len(case.rows)))
    Random(case.seed).shuffle(order)
    other = replace(case.select(order), way=case.way if case.way not in FILES else "arrow")
    again = prepare(other.data(folder), policy.replace(seed=case.seed))
    hidden = {case.person, "class_id" + "_" * ("class_id" in case.columns) if case.form != "generalized" else None}
    if _count_rows(again, hidden) != _count_rows(release, hidden):
        return [Finding("another release the second time", "")]
    return []


def _count_rows(release: Release, hidden: set[str | None]) -> list[Counter[tuple[Any, ...]]]:
    """The rows of each published table, as texts, without some columns."""
    tables = [table.arrow for table in release.tables.values()]
    names = [[name for name in table.column_names if name not in hidden] for table in tables]
    texts = [
        [table.column(name).cast("string").to_pylist() for name in columns]
        for table, columns in zip(tables, names, strict=True)
    ]
    return [Counter(zip(*columns, strict=True)) for columns in texts]


def _judge_frame(release: Release, files: PublishedFiles) -> list[Finding]:
    """What a caller in Python gets is what the files say."""
    frames = {"table": release.table} if not release.policy.publish.split else {"nss": release.nss}
    for name, frame in frames.items():
        arrow = frame if isinstance(frame, pa.Table) else _to_arrow(frame)
        columns = [arrow.column(each).cast("string").to_pylist() for each in arrow.column_names]
        given = Counter(zip(*columns, strict=True))
        read = Counter(tuple(row[each] for each in arrow.column_names) for row in files.first)
        if given != read:
            return [Finding("the frame is not what the files say", name)]
    return []


def _to_arrow(frame: Any) -> Any:
    if hasattr(frame, "to_arrow_table"):
        return frame.to_arrow_table()
    return frame.to_arrow() if hasattr(frame, "to_arrow") else pa.Table.from_pandas(frame, preserve_index=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run cases; exit 1 where something is wrong."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="how long to go on")
    parser.add_argument("--seed", type=int, help="run the case of this seed alone")
    parser.add_argument("--start", type=int, help="the first seed, and those that follow it")
    parser.add_argument("--cases", type=int, default=10**9, help="how many cases at most")
    parser.add_argument("--case", type=Path, help="run a case that was written down")
    parser.add_argument("--out", type=Path, default=Path("fuzz-failures"), help="where failing cases are written")
    options = parser.parse_args(arguments)
    if options.case is not None:
        return _run_one(FuzzCase.read(options.case), options.out)
    if options.seed is not None:
        return _run_one(random_case(options.seed), options.out)
    first = time.time_ns() // 1000 % 10**9 if options.start is None else options.start
    print(f"seeds from {first} on")
    end, seed, outcomes, kinds = time.monotonic() + options.seconds, first, Counter[str](), Counter[str]()
    while time.monotonic() < end and seed < first + options.cases:
        started = time.monotonic()
        case = random_case(seed)
        outcome, found = _check_in_new_folder(case)
        outcomes[outcome] += 1
        seconds = time.monotonic() - started
        if seconds > SLOW:
            print(f"slow: seed {seed} took {seconds:.0f} s", flush=True)
        new = [finding.kind for finding in found if finding.kind not in kinds]
        kinds.update(finding.kind for finding in found)
        for finding in found:
            print(f"seed {seed}: {finding}"[:400], flush=True)
        if new:
            _write_down(case, new[0], options.out)
        seed += 1
    print(f"{seed - first} cases: {dict(outcomes)}")
    for kind, count in kinds.most_common():
        print(f"  {count} x {kind}")
    return 1 if kinds else 0


def _check_in_new_folder(case: FuzzCase) -> tuple[str, list[Finding]]:
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        return check_case(case, Path(name))


def _run_one(case: FuzzCase, out: Path) -> int:
    outcome, found = _check_in_new_folder(case)
    print(f"seed {case.seed}: {outcome}")
    for finding in found:
        print(f"  {finding}")
    if found:
        _write_down(case, found[0].kind, out)
    return 1 if found else 0


def _write_down(case: FuzzCase, kind: str, out: Path) -> None:
    """Write a failing case as it is and, beside it, as small as it gets while it fails in the same way."""

    def fails(smaller: FuzzCase) -> bool:
        try:
            _, found = _check_in_new_folder(smaller)
        except Exception:  # noqa: BLE001 - what the oracle cannot judge is no smaller case of the same
            return False
        return any(finding.kind == kind for finding in found)

    folder = out / str(case.seed)
    shutil.rmtree(folder, ignore_errors=True)
    case.write(folder / "whole")
    shrink(case, fails).write(folder / "small")
    print(f"  written to {folder}; repeat it with python -m fuzz.run --case {folder / 'small'}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
