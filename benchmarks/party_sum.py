"""Sums of ten parties' counters: `python -m benchmarks.party_sum [--counters N] [--peers PYTHON] [--out DIR]`.

What each party of a secure sum pays: seconds of its processor, bytes that it sends. Parties are processes, connected by
sockets without TLS, and by the TLS of `sfumato party run`. `--peers` is a Python in which MPyC is installed; it shares
vectors after Shamir, and holds a Python number for each, so that a tenth of the counters is enough for the comparison,
of which only the ratio counts. Seconds are of the processor, since machines are shared. Figures are reported, never
asserted.
"""

import argparse
import json
import multiprocessing
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.socket_parties import Part, measure_parties
from sfumato.papers.experiment import describe_run, write_run
from sfumato.papers.markdown_tables import markdown_table, setting_line
from sfumato.party.consortium import StandIn, read_consortium
from sfumato.party.party_keys import make_party_keys, parse_certificate
from sfumato.party.party_session import PartySession
from sfumato.party.secure_sum import secure_sum
from sfumato.party.tls_channel import PartyMesh

HERE = Path(__file__).parent
NAME = "party-sum"
COUNTERS, PARTIES = 1_000_000, 10


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the page and its figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--counters", type=int, default=COUNTERS, help="counters of a party (default: %(default)s)")
    parser.add_argument("--peers", help="a Python that has mpyc")
    parser.add_argument("--out", type=Path, default=HERE, help="the folder for the page and its figures")
    options = parser.parse_args(arguments)
    counters: int = options.counters
    cases = [
        {"what": "sockets", "counters": counters} | _worst(measure_parties(_parts(counters))),
        {"what": "TLS", "counters": counters} | _worst(measure_over_tls(_parts(counters))),
    ]
    run = describe_run(cases, full=counters == COUNTERS)
    if options.peers:
        fewer = counters // 10
        ours = {"what": "sockets", "counters": fewer} | _worst(measure_parties(_parts(fewer)))
        run["beside"] = {"counters": fewer, "ours": ours, "mpyc": _run_mpyc(options.peers, fewer)}
    print(write_run(options.out, NAME, run, page(run)))


def _parts(counters: int) -> dict[str, Part]:
    def play(session: PartySession) -> int:
        total = secure_sum(session, np.arange(counters, dtype=np.int64), step="t")
        return 0 if total is None else int(total[-1])

    return {f"p{place}": play for place in range(PARTIES)}


def measure_over_tls(parts: Mapping[str, Part]) -> dict[str, dict[str, Any]]:
    """Run each part in a process, connected as by `sfumato party run`; what a process pays includes TLS."""
    context = multiprocessing.get_context("fork")
    answers: Any = context.SimpleQueue()
    with tempfile.TemporaryDirectory() as name:
        folder, listening = Path(name), {}

        def stand_in(party: str) -> StandIn:
            listening[party] = socket.create_server(("127.0.0.1", 0))
            made = make_party_keys(party, folder)
            pem = parse_certificate(made.certificate.read_bytes(), party)
            return StandIn("127.0.0.1", listening[party].getsockname()[1], pem)

        names = ", ".join(f'{{ name = "{party}" }}' for party in parts)
        (folder / "c.toml").write_text(f'[consortium]\nparties = [{names}]\n[task]\nkind = "sum"\n')
        consortium = read_consortium(folder / "c.toml", stand_in)

        def play(me: str) -> None:
            party = consortium.party(me, "")
            mesh = PartyMesh(consortium, party, folder / f"{me}.key", None, listening[me])
            before, start, sent = time.process_time(), time.monotonic(), 0

            def work(session: PartySession) -> Any:
                nonlocal sent
                result = parts[me](session)
                sent = session.bytes_sent
                return result

            result = mesh.conduct(work)
            cpu, seconds = time.process_time() - before, time.monotonic() - start
            answers.put((me, {"result": result, "cpu": cpu, "seconds": seconds, "bytes": sent}))

        processes = [context.Process(target=play, args=(me,)) for me in parts]
        for process in processes:
            process.start()
        found = dict(answers.get() for _ in parts)
        for process in processes:
            process.join()
        for one in listening.values():
            one.close()
    return {me: found[me] for me in parts}


def _worst(measured: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The figures of the party that pays most, and of the middle one, beside the result, which is the same at all."""
    results = {one["result"] for one in measured.values()}
    if len(results) != 1:
        raise ValueError("parties disagree")
    seconds = sorted(one["cpu"] for one in measured.values())
    return {
        "result": results.pop(),
        "cpu": seconds[-1],
        "median": seconds[len(seconds) // 2],
        "bytes": max(one["bytes"] for one in measured.values()),
    }


def _run_mpyc(python: str, counters: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        command = [python, str(HERE / "mpyc_sum.py"), str(counters), f"-M{PARTIES}", "--output-file"]
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    lines = [line for line in ended.stdout.splitlines() if line.startswith('{"cpu"')]
    if not lines:
        sys.exit("error: MPyC's sum failed; run benchmarks/mpyc_sum.py by hand to see why")
    found: dict[str, Any] = json.loads(lines[0])
    return found


_ABOUT = (
    f"{PARTIES} parties. The first of them collects and pays most: it adds up the others' vectors and sends them the "
    "sum. `cpu s` is of that one, `median` of the party in the middle. Over TLS it is all that a run pays: handshakes, "
    "encryption, and the words that all are done."
)


def page(run: Mapping[str, Any]) -> str:
    """Write the page on a run."""
    lines = [
        (
            case["what"],
            f"{case['counters']:,}",
            f"{case['cpu']:.3f}",
            f"{case['median']:.3f}",
            f"{case['bytes'] / 1e6:.1f}",
        )
        for case in run["cases"]
    ]
    parts = [
        "# Sums of several parties",
        f"`python -m benchmarks.party_sum`. {setting_line(run)}",
        _ABOUT,
        markdown_table(("connected by", "counters a party", "cpu s", "median", "MB sent"), lines),
        "Target: a million counters among ten parties within 0.5 s.",
    ]
    beside = run.get("beside")
    if beside is not None:
        ours, other = beside["ours"], beside["mpyc"]
        parts += [
            "## Beside MPyC",
            "`× MPyC`: the share of its processor seconds that ours takes, of the party that pays most.",
            markdown_table(
                ("program", "counters a party", "cpu s", "× MPyC"),
                [
                    ("sfumato", f"{beside['counters']:,}", f"{ours['cpu']:.3f}", f"{ours['cpu'] / other['cpu']:.3f}"),
                    (f"MPyC {other['version']}", f"{beside['counters']:,}", f"{other['cpu']:.3f}", "1"),
                ],
            ),
            "Target: a fifth of MPyC's.",
        ]
    return "\n\n".join([*parts, ""])


if __name__ == "__main__":
    main()
