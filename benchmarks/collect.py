"""Randomized collection beside its yardsticks: `python -m benchmarks.collect [--out DIR]`.

Times are ratios within one run: a reconstruction beside `numpy.histogram` of the same values, and perturbing answers
beside multi-freq-ldpy, where that package is installed (``pip install multi-freq-ldpy``, for this script alone).
Figures are reported, never asserted. With --out they are kept.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.collect import Noise, perturb, reconstruct
from sfumato.papers.experiment import describe_run, write_run
from sfumato.papers.markdown_tables import markdown_table, setting_line

_HEAD = ("what", "ours, s", "yardstick", "its time, s", "ratio", "aim", "note")
_VALUES, _ANSWERS, _CATEGORIES = 1_000_000, 100_000, 20


def _best(work: Callable[[], Any], times: int = 7) -> tuple[float, Any]:
    """Give the shortest of several times, and the result."""
    best, result = float("inf"), None
    for _ in range(times):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return best, result


def _numbers() -> Iterator[dict[str, Any]]:
    """A million values in 100 bins, 500 steps, beside one histogram; and the same with everything that is reported."""
    draw = np.random.default_rng(1)
    values = draw.normal(50, 15, _VALUES) + draw.normal(0, 20, _VALUES)
    entry = {"kind": "gaussian", "sigma": 20.0, "domain": [0, 100]}
    noise = Noise.read({"format": "sfumato-noise/1", "columns": {"x": entry}})
    table = pa.table({"x": values})
    yardstick, _ = _best(lambda: np.histogram(values, 100))
    steps, _ = _best(lambda: reconstruct(table, noise, "x", bins=100, iterations=500, intervals=False))
    whole, found = _best(lambda: reconstruct(table, noise, "x", bins=100), 3)
    what = f"reconstruct {_VALUES:,} values, 100 bins"
    histogram = "numpy.histogram"
    yield _line(f"{what}, 500 steps", steps, histogram, yardstick, 5, "")
    note = f"steps chosen on held-out reports ({found.iterations}), bootstrap intervals"
    yield _line(what, whole, histogram, yardstick, None, note)


def _answers() -> Iterator[dict[str, Any]]:
    """Randomized response of many answers and its maximum of the likelihood, beside multi-freq-ldpy."""
    if find_spec("multi_freq_ldpy") is None:
        print("multi-freq-ldpy is not installed: its lines are left out")
        return
    from multi_freq_ldpy.pure_frequency_oracles import GRR  # noqa: PLC0415 - where it is

    draw, epsilon = np.random.default_rng(2), 1.0
    shares = draw.dirichlet(np.ones(_CATEGORIES))
    codes = draw.choice(_CATEGORIES, _ANSWERS, p=shares)
    names = [f"v{place:02}" for place in range(_CATEGORIES)]
    keep = (np.exp(epsilon) - 1) / (np.exp(epsilon) + _CATEGORIES - 1)  # the same chances as theirs at this ε
    entry = {"kind": "response", "values": names, "keep": float(keep)}
    noise = Noise.read({"format": "sfumato-noise/1", "columns": {"x": entry}})
    table = pa.table({"x": pa.array(names).take(pa.array(codes))})
    GRR.GRR_Client(1, _CATEGORIES, epsilon)  # compiles
    peer, theirs = _best(lambda: [GRR.GRR_Client(code, _CATEGORIES, epsilon) for code in codes], 3)
    ours, perturbed = _best(lambda: perturb(table, noise))
    yield _line(f"perturb {_ANSWERS:,} answers of {_CATEGORIES}", ours, "multi-freq-ldpy GRR", peer, 2, "")
    reports = np.asarray(perturbed["x"].to_pylist(), dtype=object)
    seen = np.searchsorted(np.array(names, dtype=object), reports)
    peer, theirs = _best(lambda: GRR.GRR_Aggregator_IBU(seen, _CATEGORIES, epsilon, nb_iter=1_000_000), 1)
    ours, found = _best(lambda: reconstruct(perturbed, noise, "x", method="em", intervals=False), 3)
    apart = float(np.abs(found.shares - theirs).max())
    yield _line("recover them by em", ours, "multi-freq-ldpy IBU", peer, None, f"shares differ by at most {apart:.1e}")


def _line(*cells: Any) -> dict[str, Any]:
    what, ours, yardstick, peer, aim, note = cells
    figures = {"what": what, "ours": ours, "yardstick": yardstick, "peer": peer, "ratio": ours / peer}
    return figures | {"aim": aim, "note": note}


def main() -> None:
    """Measure, print, and keep where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    folder = parser.parse_args().out
    run = describe_run([*_numbers(), *_answers()], full=True)
    lines = [
        (
            c["what"],
            f"{c['ours']:.4f}",
            c["yardstick"],
            f"{c['peer']:.4f}",
            f"{c['ratio']:.2f}",
            str(c["aim"] or ""),
            c["note"],
        )
        for c in run["cases"]
    ]
    page = f"# Randomized collection\n\n{setting_line(run)}\n\n{markdown_table(_HEAD, lines)}\n"
    print(page)
    if folder is not None:
        write_run(folder, "collect", run, page)


if __name__ == "__main__":
    main()
