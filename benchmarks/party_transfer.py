"""Oblivious transfers and what is made of them: `python -m benchmarks.party_transfer [--peers PYTHON] [--out DIR]`.

A million transfers, scalar products, distances and comparisons of two parties, each a process of its own; seconds are
of its processor, the 128 base transfers included, and the party that took more of them counts. Every result is compared
with that of plain computation. Yardsticks of the same run: the same in the clear by numpy, and AES-128 over the bytes
that were sent. `--peers` is a Python in which MPyC and numpy are installed, for they are in no environment of ours: it
shares the same numbers among three parties of which two must not collude, so it has less to do, and unpickles what
peers send. Figures are reported, never asserted.
"""

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.socket_parties import Part, measure_parties
from sfumato.papers.experiment import describe_run, write_run
from sfumato.papers.markdown_tables import markdown_table, setting_line
from sfumato.party.fixed_key_hash import AesStream
from sfumato.party.oblivious_transfer_extension import transfer_receiver, transfer_sender
from sfumato.party.scalar_product import share_by_paillier, share_by_transfers
from sfumato.party.secure_comparison import compare_shares, share_of_least
from sfumato.party.vector_distance import share_hamming_distance, share_squared_distance

HERE = Path(__file__).parent
NAME = "party-transfer"
BOTH = ("a", "b")
_LEAST_SECONDS = 0.001

_MPYC = """
import json, sys, time
import numpy as np
from mpyc.runtime import mpc
what, count, bits = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
kind = mpc.SecInt(80 if what == "product" else bits)
numbers = np.random.default_rng(mpc.pid).integers(0, 2 ** (bits - 1), count).astype(object)

async def main():
    await mpc.start()
    start = time.process_time()
    x, y = (mpc.input(kind.array(numbers), senders=sender) for sender in (0, 1))
    await mpc.output(x @ y if what == "product" else x < y)
    if mpc.pid == 0:
        print(json.dumps({"seconds": time.process_time() - start}), flush=True)
    await mpc.shutdown()

mpc.run(main())
"""


@dataclass(frozen=True)
class TransferCase:
    """Something to measure: the parts of both parties, what comes out in the clear, and goals where there are."""

    name: str
    parts: tuple[Part, Part]
    plain: Callable[[], Any] | None = None
    goal_seconds: float | None = None
    goal_bytes: float | None = None
    mpyc: tuple[str, int, int] | None = None


def transfer_cases(scale: float) -> list[TransferCase]:
    """List what is measured; `scale` 1 is the issue's sizes."""
    random = np.random.default_rng(1)

    def sized(count: int) -> int:
        return max(8, round(count * scale))

    def shown(count: int, rest: str) -> str:
        return f"{count:,} {rest}"

    transfers, binary, wide, few, compared = (sized(n) for n in (1 << 20, 1_000_000, 100_000, 1000, 10_000))
    choices = random.integers(0, 2, transfers) > 0
    bits = random.integers(0, 2, (2, binary))
    words = random.integers(-(2**31), 2**31, (2, wide))
    short = words[:, :few]
    numbers = random.integers(-(2**40), 2**40, (compared, 8))
    masks = random.integers(0, 2**64, numbers.shape, dtype=np.uint64)
    shares = (masks, numbers.view(np.uint64) - masks)

    def opened(share: Callable[..., Any], values: Any, **options: Any) -> tuple[Part, Part]:
        def part(peer: str, mine: Any) -> Part:
            return lambda session: share(session, peer, mine, step="t", **options).open_to(
                session, peer, BOTH, step="t"
            )

        return part("b", values[0]), part("a", values[1])

    def told(
        compare: Callable[..., Any], *arguments: Any, column: Any = slice(None), **options: Any
    ) -> tuple[Part, Part]:
        def part(peer: str, mine: Any) -> Part:
            return lambda session: int(compare(session, peer, mine[:, column], *arguments, step="t", **options).sum())

        return part("b", shares[0]), part("a", shares[1])

    return [
        TransferCase(
            shown(transfers, "random transfers"),
            (
                lambda session: len(transfer_sender(session, "b").make_keys(transfers, step="t")),
                lambda session: len(transfer_receiver(session, "a").make_keys(choices, step="t")),
            ),
            goal_seconds=1.5,
        ),
        TransferCase(
            "the 128 base transfers alone",
            (
                lambda session: transfer_sender(session, "b") is None,
                lambda session: transfer_receiver(session, "a") is None,
            ),
        ),
        TransferCase(
            shown(binary, "bits, scalar product"),
            opened(share_by_transfers, bits, bits=1),
            lambda: int(bits[0] @ bits[1]),
            2.0,
            30e6,
        ),
        TransferCase(
            shown(wide, "numbers of 32 bits, scalar product"),
            opened(share_by_transfers, words, bits=32),
            lambda: int(words[0].astype(object) @ words[1].astype(object)),
            5.0,
            mpyc=("product", wide, 32),
        ),
        TransferCase(
            shown(few, "numbers of 32 bits, scalar product by Paillier"),
            opened(share_by_paillier, short),
            lambda: int(short[0].astype(object) @ short[1].astype(object)),
        ),
        TransferCase(
            shown(wide, "numbers of 32 bits, squared distance"),
            opened(share_squared_distance, words, bits=32),
            lambda: int(((words[0] - words[1]).astype(object) ** 2).sum()),
        ),
        TransferCase(
            shown(wide, "numbers of 32 bits, Hamming distance"),
            opened(share_hamming_distance, words, bits=32),
            lambda: int((words[0] != words[1]).sum()),
        ),
        TransferCase(
            shown(compared, "shared numbers of 64 bits, with a threshold"),
            told(compare_shares, 5, column=0),
            lambda: int((numbers[:, 0] >= 5).sum()),
            mpyc=("compare", compared, 64),
        ),
        TransferCase(
            shown(compared, "rows of 8 shared numbers of 42 bits, the least"),
            told(share_of_least, bits=42),
            lambda: int(numbers.argmin(axis=1).sum()),
        ),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and keep a page and the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--scale", type=float, default=1.0, help="how much of the full sizes")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each, of which the least is kept")
    parser.add_argument("--peers", help="a Python that has MPyC and numpy")
    parser.add_argument("--out", type=Path, default=HERE)
    asked = parser.parse_args(arguments)
    cases = [_measure(case, asked.repeat, asked.peers) for case in transfer_cases(asked.scale)]
    run = describe_run(cases, full=asked.scale == 1)
    print(write_run(asked.out, NAME, run, page(run)))


def _measure(case: TransferCase, repeat: int, peers: str | None) -> dict[str, Any]:
    runs = [measure_parties(dict(zip(BOTH, case.parts, strict=True))) for _ in range(repeat)]
    best = min(runs, key=lambda run: max(run[name]["cpu"] for name in BOTH))
    sent = [best[name]["bytes"] for name in BOTH]
    found: dict[str, Any] = {
        "name": case.name,
        "seconds": [best[name]["cpu"] for name in BOTH],
        "wall": max(best[name]["seconds"] for name in BOTH),
        "sent": sent,
        "rounds": max(best[name]["rounds"] for name in BOTH),
        "peak": max(best[name]["memory"] for name in BOTH),
        "goal_seconds": case.goal_seconds,
        "goal_bytes": case.goal_bytes,
        "aes": _time(lambda: AesStream(bytes(16)).read(sum(sent))),
    }
    if case.plain is not None:
        found["plain"] = _time(case.plain)
        found["right"] = all(run[name]["result"] == case.plain() for run in runs for name in BOTH)
    if peers is not None and case.mpyc is not None:
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder, "compare_with_mpyc.py")
            script.write_text(_MPYC, encoding="utf-8")
            command = [peers, str(script), *map(str, case.mpyc), "-M3"]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
        found["mpyc"] = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))["seconds"]
    return found


def _time(work: Callable[[], Any]) -> float:
    seconds = []
    for _ in range(3):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


_ABOUT = (
    "`cpu s`: of the party that took more, the base transfers included; `MB`: what the one and the other sent; "
    "`× goal`: as part of the time and the bytes that were aimed at; `× AES`: times the seconds of AES-128 over as "
    "many bytes; `× in the clear`: times the seconds of numpy, with nothing hidden; `× MPyC`: times the seconds of a "
    "party of three, of which two must not collude, in MPyC."
)
_GOALS = (
    "Goals: 2²⁰ transfers in 1.5 s; the scalar product of a million bits in 2 s and 30 MB, of 100,000 numbers of 32 "
    "bits in 5 s."
)


def page(run: Mapping[str, Any]) -> str:
    """Write the page on a run."""
    rows = [
        (
            case["name"],
            f"{max(case['seconds']):.2f}",
            f"{case['wall']:.2f}",
            " + ".join(f"{part / 1e6:.1f}" for part in case["sent"]),
            f"{case['rounds']}",
            f"{case['peak']:.0f}",
            _part_of_goal(case),
            _ratio(case, "aes", 0),
            _ratio(case, "plain", 0),
            _ratio(case, "mpyc", 2),
            {None: "", True: "yes", False: "NO"}[case.get("right")],
        )
        for case in run["cases"]
    ]
    head = (
        *("what", "cpu s", "wall s", "MB", "rounds", "peak MB", "× goal", "× AES", "× in the clear", "× MPyC"),
        "right",
    )
    return "\n\n".join(
        [
            "# Oblivious transfers, scalar products, distances and comparisons of two parties",
            f"`python -m benchmarks.party_transfer --peers PYTHON`. {setting_line(run)}",
            _ABOUT,
            markdown_table(head, rows),
            _GOALS,
            "",
        ]
    )


def _part_of_goal(case: Mapping[str, Any]) -> str:
    parts = []
    if case["goal_seconds"] is not None:
        parts.append(f"{max(case['seconds']) / case['goal_seconds']:.2f}")
    if case["goal_bytes"] is not None:
        parts.append(f"{sum(case['sent']) / case['goal_bytes']:.2f} of the bytes")
    return ", ".join(parts)


def _ratio(case: Mapping[str, Any], name: str, digits: int) -> str:
    measured = case.get(name) or 0.0
    # a yardstick of less than a millisecond is no measure
    return f"{max(case['seconds']) / measured:,.{digits}f}" if measured >= _LEAST_SECONDS else ""


if __name__ == "__main__":
    main()
