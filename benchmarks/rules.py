"""Mining and hiding rules beside others: `python -m benchmarks.rules [--baskets N] [--peers PYTHON] [--out DIR]`.

A hundred thousand baskets after the Quest generator (T10.I4): frequent itemsets beside PyFIM's Eclat, which is in C,
and the two fastest of mlxtend; ten pairs hidden by each method, at two supports; and the same baskets with one of 500
items among them. Each measurement has a process of its own, so that peaks of memory are its own. Seconds are of the
processor, since machines are shared, and what counts are ratios within one run. `--peers` is a Python in which pyfim
and mlxtend are installed, for they are in no environment of ours; without it they are left out. `--hiding` measures
hiding alone, beside the mining of the run that is kept. Figures are reported, never asserted.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.datasets import quest_baskets
from sfumato.papers.experiment import describe_moment, describe_run, read_run, write_run
from sfumato.papers.markdown_tables import markdown_table, setting_line

HERE = Path(__file__).parent
NAME = "rules"
SUPPORTS = ("0.01", "0.001")
PEERS = ("Eclat", "fpgrowth", "hmine")
HIDDEN_AT = ("0.01", "0.002")
METHODS = ("heuristic", "border", "exact")

_OURS = """
import json, resource, sys, time
from sfumato.rules.basket_files import read_baskets
from sfumato.rules.frequent_itemsets import mine_itemsets
from sfumato.rules.mining_thresholds import MiningThresholds
path, share = sys.argv[1:3]
start = time.process_time()
source = read_baskets(path)
read = time.process_time() - start
least = MiningThresholds.read(share, 1).least_count(len(source.baskets))
seconds = []
for _ in range(3):
    start = time.process_time()
    found = mine_itemsets(source.baskets, least)
    seconds.append(time.process_time() - start)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"itemsets": len(found), "seconds": min(seconds), "read": read, "peak": peak}))
"""
_ECLAT = """
import json, math, sys, time
import fim
baskets = [line.split() for line in open(sys.argv[1])]
least = math.ceil(round(float(sys.argv[2]) * len(baskets), 6))
seconds = []
for _ in range(3):
    start = time.process_time()
    found = fim.eclat(baskets, supp=-least, zmin=1)
    seconds.append(time.process_time() - start)
print(json.dumps({"itemsets": len(found), "seconds": min(seconds)}))
"""
_MLXTEND = """
import json, resource, sys, time, warnings
warnings.simplefilter("ignore")
import pandas as pd
from mlxtend.preprocessing import TransactionEncoder
from mlxtend import frequent_patterns
baskets = [line.split() for line in open(sys.argv[1])]
encoder = TransactionEncoder()
rows = pd.DataFrame(encoder.fit(baskets).transform(baskets), columns=encoder.columns_)
start = time.process_time()
found = getattr(frequent_patterns, sys.argv[3])(rows, min_support=float(sys.argv[2]))
seconds = time.process_time() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"itemsets": len(found), "seconds": seconds, "peak": peak}))
"""
_HIDE = """
import json, resource, sys, time
import numpy as np
from sfumato.rules.basket_files import read_baskets
from sfumato.rules.rule_hiding import hide, mine
path, share, method, limit = sys.argv[1:5]
source = read_baskets(path)
start = time.process_time()
found = mine(source, min_support=share, min_confidence=0.5)
mining = time.process_time() - start
pairs = [one for one in found.itemsets if len(one.items) == 2][:10]
sensitive = [{"items": list(one.items)} for one in pairs]
start, wall = time.process_time(), time.monotonic()
result = hide(source, sensitive, min_support=share, min_confidence=0.5, method=method, time_limit=float(limit))
seconds, wall = time.process_time() - start, time.monotonic() - wall
figures = result.as_json()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"mining": mining, "seconds": seconds, "wall": wall, "peak": peak, "pairs": len(pairs), **figures}))
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and keep a page and the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--baskets", type=int, default=100_000)
    parser.add_argument("--peers", help="a Python that has pyfim and mlxtend")
    parser.add_argument("--time-limit", type=float, default=120)
    parser.add_argument("--hiding", action="store_true", help="measure hiding alone")
    parser.add_argument("--out", type=Path, default=HERE)
    asked = parser.parse_args(arguments)
    kept = read_run(asked.out, NAME) if asked.hiding else None
    with tempfile.TemporaryDirectory() as folder:
        path, huge = Path(folder, "t10i4.dat"), Path(folder, "huge.dat")
        baskets = quest_baskets(asked.baskets, seed=1)
        lines = [" ".join(map(str, basket)) + "\n" for basket in baskets]
        path.write_text("".join(lines), encoding="utf-8")
        huge.write_text("".join([*lines, " ".join(map(str, range(500))) + "\n"]), encoding="utf-8")
        cases = [] if kept else [_measure_mining(path, huge, share, asked.peers) for share in SUPPORTS]
        hiding = [
            {"support": share, **_run(sys.executable, _HIDE, path, share, method, str(asked.time_limit))}
            for share in HIDDEN_AT
            for method in METHODS
        ]
    full = asked.baskets == 100_000
    run = kept or (describe_run(cases, full=full) | {"baskets": asked.baskets})
    run = {**run, "hiding": hiding, "hidden": describe_moment(full=full)}
    print(write_run(asked.out, NAME, run, page(run)))


def _measure_mining(path: Path, huge: Path, share: str, peers: str | None) -> dict[str, Any]:
    case: dict[str, Any] = {"support": share, "ours": _run(sys.executable, _OURS, path, share)}
    case["huge"] = _run(sys.executable, _OURS, huge, share)
    if peers is not None:
        case["eclat"] = _run(peers, _ECLAT, path, share)
        for name in ("fpgrowth", "hmine"):
            case[name] = _run(peers, _MLXTEND, path, share, name)
    return case


def _run(python: str, script: str, *arguments: object) -> dict[str, Any]:
    command = [python, "-c", script, *map(str, arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


_ABOUT_MINING = (
    "Seconds of the processor from baskets in memory to all frequent sets; below `×` and a name, how many times as "
    "long as that program we take. PyFIM's Eclat is in C, the others are of mlxtend. `× with 500 items`: the same with "
    "one basket of 500 items more."
)
_ABOUT_HIDING = (
    "`hide s` is all of it: mining, hiding, mining again for the effect, and counting by the verifier. `optimal`: no "
    "hiding loses fewer sets; `all proved`: and none that loses as few removes fewer items."
)


def page(run: Mapping[str, Any]) -> str:
    """Write the page on a run."""
    mining = [
        (
            f"{float(case['support']):.1%}",
            f"{case['ours']['itemsets']:,}",
            f"{case['ours']['seconds']:.2f}",
            f"{case['ours']['peak']:.0f}",
            f"{case['huge']['seconds'] / case['ours']['seconds']:.2f}",
            *(_ratio(case, name) for name in ("eclat", "fpgrowth", "hmine")),
        )
        for case in run["cases"]
    ]
    hiding = [
        (
            f"{float(case['support']):.1%}",
            case["method"],
            f"{case['mining']:.2f}",
            f"{case['seconds']:.2f}",
            f"{case['seconds'] / case['mining']:.1f}",
            f"{case['lost']:,}",
            f"{case['bound']:,}",
            f"{case['items_changed']:,}",
            "yes" if case["optimal"] else "no",
            {True: "exists", False: "proved not to exist", None: "unknown"}[case["lossless"]],
            "" if case["method"] != "exact" else "no" if case["timed_out"] else "yes",
            f"{case['peak']:.0f}",
        )
        for case in run["hiding"]
    ]
    head = ("support", "itemsets", "cpu s", "peak MB", "× with 500 items", *(f"× {n}" for n in PEERS))
    return "\n\n".join(
        [
            "# Mining and hiding rules",
            f"`python -m benchmarks.rules`: {run['baskets']:,} baskets of T10.I4, seed 1. {setting_line(run)}",
            "## Frequent itemsets",
            _ABOUT_MINING,
            markdown_table(head, mining),
            "Targets: at most mlxtend's fastest; 5 × Eclat at 1 %, 10 × at 0.1 %; below 300 MB.",
            "## Hiding the ten most frequent pairs",
            f"{_ABOUT_HIDING} Run of {run['hidden']['date']}, load {run['hidden']['load']}.",
            markdown_table(
                (
                    *("support", "method", "mine s", "hide s", "× mining", "lost", "bound", "items", "optimal"),
                    *("without loss", "all proved", "peak MB"),
                ),
                hiding,
            ),
            "Target: heuristic hiding within ten times mining.",
            "",
        ]
    )


def _ratio(case: Mapping[str, Any], name: str) -> str:
    if name not in case:
        return ""
    if case[name]["itemsets"] != case["ours"]["itemsets"]:
        return f"finds {case[name]['itemsets']:,}"
    return f"{case['ours']['seconds'] / case[name]['seconds']:.2f}"


if __name__ == "__main__":
    main()
