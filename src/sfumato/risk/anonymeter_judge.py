"""Attack synthetic rows with anonymeter: ``python anonymeter_judge.py`` prints what came of them as JSON.

This file imports nothing of sfumato. It is run by path, by the Python that anonymeter is installed for, which need not
be ours: anonymeter asks for older versions of numpy and pyarrow than sfumato does. `risk.anonymeter_attacks` writes to
its standard input: a line of JSON that says what to do and how long each of three Parquet files is, and these files one
behind the other. They are rows that had a part in the synthetic ones, the synthetic ones, and rows that had no part.
Nothing of it is ever on disk, so that nothing is left there by whoever is killed.

Each attack gives how often it was right on rows that had a part (`attack`), on those that had none (`control`), and by
guessing (`baseline`). Its `risk` is the part of the first that the second does not explain, with an interval of 95%.
"""

import json
import logging
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any, BinaryIO


def judge(source: BinaryIO) -> dict[str, Any]:
    """Run the attacks that a request asks for, on the rows behind it."""
    import pyarrow as pa  # noqa: PLC0415 - this Python may have no anonymeter, and says so in `main`
    import pyarrow.parquet as pq  # noqa: PLC0415 - same

    request = json.loads(source.readline())
    frames = [pq.read_table(pa.BufferReader(source.read(size))).to_pandas() for size in request["sizes"]]
    return {"attacks": list(_attacks(frames, request))}


def _attacks(frames: list[Any], request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    import numpy as np  # noqa: PLC0415 - same
    from anonymeter.evaluators import (  # noqa: PLC0415 - where it is installed
        InferenceEvaluator,
        LinkabilityEvaluator,
        SinglingOutEvaluator,
    )

    own, drawn, hold_out = frames

    def outcome(title: str, columns: list[str], run: Callable[[], Any]) -> dict[str, Any]:
        np.random.seed(request["seed"])  # noqa: NPY002 - what anonymeter draws people from: the same for each attack
        return _outcome(title, columns, run)

    people = min(len(own), len(hold_out))
    count, everybody = min(request["attacks"], people), min(request["people"], people)
    names, both = list(own.columns), {"ori": own, "syn": drawn, "control": hold_out}
    single = {**both, "n_attacks": count, "seed": request["seed"], "max_attempts": request["attempts"]}
    width = min(request["columns"], len(names))
    yield outcome("singling out, one column", names, lambda: SinglingOutEvaluator(**single).evaluate(mode="univariate"))
    if width > 1:
        title = f"singling out, {width} columns"
        yield outcome(title, names, lambda: SinglingOutEvaluator(**single, n_cols=width).evaluate(mode="multivariate"))
    if len(request["known"]) > 1:
        known = request["known"]
        parts = (known[::2], known[1::2])
        link = {**both, "aux_cols": parts, "n_attacks": everybody, "n_neighbors": request["neighbours"]}
        yield outcome("linkability", known, lambda: LinkabilityEvaluator(**link).evaluate(n_jobs=1))
    for secret in request["secrets"]:
        others = [name for name in names if name != secret]
        if not others:
            continue
        infer = {**both, "aux_cols": others, "secret": secret, "n_attacks": everybody}
        infer["regression"] = bool(own[secret].dtype.kind in "if")

        def run(settings: dict[str, Any] = infer) -> Any:
            return InferenceEvaluator(**settings).evaluate(n_jobs=1)

        yield outcome("inference", [secret], run)


def _outcome(title: str, columns: list[str], run: Callable[[], Any]) -> dict[str, Any]:
    """Run one attack; an attack that does not apply to these rows says so in place of figures."""
    line: dict[str, Any] = {"attack": title, "columns": columns}
    try:
        results = run().results(confidence_level=0.95)
        risk = results.risk()
    except Exception as error:  # noqa: BLE001 - whatever another program raises is told
        return line | {"failed": f"{type(error).__name__}: {error}"[:200]}
    return line | {
        "risk": float(risk.value),
        "interval": [float(end) for end in risk.ci],
        "success": float(results.attack_rate.value),
        "control": float(results.control_rate.value),
        "baseline": float(results.baseline_rate.value),
        "attacks": int(results.n_attacks_ori),
    }


def main() -> None:
    """Judge what comes on standard input, or say that there is no anonymeter here."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    missing = find_spec("anonymeter") is None
    answer: dict[str, Any] = {"missing": "anonymeter"} if missing else judge(sys.stdin.buffer)
    sys.stdout.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
