"""Sets of several parties: `python -m benchmarks.party_sets [--items N] [--peers PYTHON] [--out DIR]`.

What each party of an intersection, a size and a union pays: seconds of its processor, bytes that it sends, its largest
memory. Parties are processes that are connected by sockets, without TLS. Beside SPU's KKRT, which reads and writes CSV
files, ours is measured from file to file as well; `--peers` is a Python in which `spu` is installed, for it is in no
environment of ours, and is left out without it. Seconds are of the processor, since machines are shared, and what
counts are ratios within one run. Figures are reported, never asserted.
"""

import argparse
import csv
import json
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.socket_parties import Part, measure_parties
from sfumato.papers.experiment import describe_run, write_run
from sfumato.papers.markdown_tables import markdown_table, setting_line
from sfumato.party.party_run import read_party_table
from sfumato.party.party_session import PartySession
from sfumato.party.private_intersection import IntersectionTask, intersect
from sfumato.party.secure_union import secure_union
from sfumato.party.set_cardinality import intersection_size, union_size

HERE = Path(__file__).parent
NAME = "party-sets"
ITEMS = 1_000_000


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the page and its figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--items", type=int, default=ITEMS, help="items of the largest sets (default: %(default)s)")
    parser.add_argument("--peers", help="a Python that has spu")
    parser.add_argument("--out", type=Path, default=HERE, help="the folder for the page and its figures")
    options = parser.parse_args(arguments)
    items: int = options.items
    cases = [
        _measure("intersection, dh", items // 10, _intersection_parts(items // 10, "dh")),
        _measure("intersection, kkrt", items // 10, _intersection_parts(items // 10, "kkrt")),
        _measure("intersection, kkrt", items, _intersection_parts(items, "kkrt")),
        _measure("intersection-size, three parties", items // 100, _size_parts(items // 100, intersection_size)),
        _measure("union-size, three parties", items // 100, _size_parts(items // 100, union_size)),
        _measure("union, three parties", items // 1000, _union_parts(items // 1000)),
    ]
    with tempfile.TemporaryDirectory() as folder:
        files = [_write_file(Path(folder) / f"{name}.csv", names) for name, names in _halves(items).items()]
        whole = {"items": items, "ours": _from_file_to_file(files, items)}
        if options.peers:
            whole["spu"] = _run_spu(options.peers, files)
    run = describe_run(cases, full=items == ITEMS) | {"files": whole}
    print(write_run(options.out, NAME, run, page(run)))


def _halves(items: int) -> dict[str, list[bytes]]:
    """Two sets of names, half of which both have."""
    return {name: [b"person-%d" % (start + n) for n in range(items)] for name, start in (("a", 0), ("b", items // 2))}


def _intersection_parts(items: int, method: str) -> dict[str, Part]:
    def part(mine: list[bytes]) -> Part:
        def play(session: PartySession) -> int:
            found = intersect(session, session.others[0], mine, step="t", method=method, most_items=items)
            return 0 if found is None else len(found)

        return play

    return {name: part(names) for name, names in _halves(items).items()}


def _size_parts(items: int, function: Callable[..., Any]) -> dict[str, Part]:
    def part(mine: list[bytes]) -> Part:
        return lambda session: function(session, mine, step="t", most_items=items)

    sets = _halves(items)
    return {name: part(names) for name, names in (sets | {"c": sets["b"]}).items()}


def _union_parts(items: int) -> dict[str, Part]:
    def part(mine: list[bytes]) -> Part:
        return lambda session: len(secure_union(session, mine, step="t", longest=78, most_items=items) or ())

    sets = _halves(items)
    return {name: part(names) for name, names in (sets | {"c": sets["b"]}).items()}


def _measure(what: str, items: int, parts: Mapping[str, Part]) -> dict[str, Any]:
    measured = measure_parties(parts)
    return {"what": what, "items": items} | _worst(list(measured.values()))


def _worst(measured: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The figures of the party that pays most, and what came out, which is the same at all."""
    results = {one["result"] for one in measured}
    if len(results) != 1:
        raise ValueError("parties disagree")
    return {
        key: max(one[key] for one in measured)
        for key in ("result", "cpu", "seconds", "bytes", "memory")
        if key in measured[0]
    }


def _write_file(path: Path, names: Sequence[bytes]) -> Path:
    path.write_bytes(b"id\n" + b"\n".join(names) + b"\n")
    return path


def _from_file_to_file(files: Sequence[Path], items: int) -> dict[str, Any]:
    """Run the task as `sfumato party run` does, between reading a CSV file and writing one."""
    task = IntersectionTask(("a", "b"), "id", method="kkrt", most_items=items)

    def part(path: Path) -> Part:
        def play(session: PartySession) -> int:
            found = task.run(session, task.prepare(session.me, read_party_table(path)))
            with path.with_suffix(".found").open("w", newline="") as file:
                csv.writer(file).writerows([name] for name in found)
            return len(found)

        return play

    return _worst(list(measure_parties({path.stem: part(path) for path in files}).values()))


def _run_spu(python: str, files: Sequence[Path]) -> dict[str, Any]:
    ports = [str(_free_port()) for _ in files]
    script = str(HERE / "spu_intersection.py")
    processes = [
        subprocess.Popen(
            [python, script, str(rank), *ports, str(path), f"{path}.spu"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for rank, path in enumerate(files)
    ]
    said = [process.communicate()[0] for process in processes]
    if any(process.returncode for process in processes):
        sys.exit("error: SPU's intersection failed; run benchmarks/spu_intersection.py by hand to see why")
    # it logs to standard output as well
    lines = [next(line for line in text.splitlines() if line.startswith('{"cpu"')) for text in said]
    found = [json.loads(line) for line in lines]
    return _worst(found) | {"version": found[0]["version"]}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


_ABOUT = (
    "Half of the items are common to all. `cpu s`, `MB sent` and `peak MB` are those of the party that pays most; the "
    "sets of names alone take a good part of the memory. Lists are padded to the number of items, which is the bound "
    "that is public."
)
_ABOUT_FILES = (
    "From a CSV file to a CSV file of what both have, by both: reading, writing, and for ours normalizing the names. "
    "`× SPU`: how many times its processor seconds we take."
)


def page(run: Mapping[str, Any]) -> str:
    """Write the page on a run."""
    lines = [
        (
            case["what"],
            f"{case['items']:,}",
            f"{case['result']:,}",
            f"{case['cpu']:.2f}",
            f"{case['bytes'] / 1e6:.1f}",
            f"{case['memory']:.0f}",
        )
        for case in run["cases"]
    ]
    whole = run["files"]
    ours, spu = whole["ours"], whole.get("spu")
    beside = [("sfumato", f"{whole['items']:,}", f"{ours['result']:,}", f"{ours['cpu']:.2f}", "")]
    if spu is not None:
        beside[0] = (*beside[0][:-1], f"{ours['cpu'] / spu['cpu']:.2f}")
        beside.append((f"SPU {spu['version']}", f"{whole['items']:,}", f"{spu['result']:,}", f"{spu['cpu']:.2f}", "1"))
    return "\n\n".join(
        [
            "# Sets of several parties",
            f"`python -m benchmarks.party_sets`. {setting_line(run)}",
            _ABOUT,
            markdown_table(("protocol", "items a party", "result", "cpu s", "MB sent", "peak MB"), lines),
            "Targets: 100,000 items by `dh` within 20 s.",
            "## Beside SPU's KKRT",
            _ABOUT_FILES,
            markdown_table(("program", "items a party", "result", "cpu s", "× SPU"), beside),
            "Target: a million items within 3 × SPU's.",
            "",
        ]
    )


if __name__ == "__main__":
    main()
