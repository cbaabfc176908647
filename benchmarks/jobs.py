"""A case, run: the real command in a fresh process, from cold start to a verified release."""

import json
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.cases import SALARY, Case
from benchmarks.input_files import MAKE, input_file, source_of
from sfumato.datasets import adult_arx_folder, adult_arx_policy, adult_folder, adult_policy, synthetic_adult_policy
from sfumato.datasets.adult import AGE_HIERARCHY
from sfumato.papers.process_measurement import (
    COPY,
    SFUMATO,
    Measurement,
    measure_anonymize,
    measure_process,
    median_run,
)
from sfumato.policy.toml_text import write_toml

_SMALL, _WARM = 100_000, 1_000_000
"""The most rows of a case that is repeated, and of one that is run warm as well."""
_TWICE = (sys.executable, "-P", Path(__file__).with_name("second_run.py"))


@dataclass
class Bench:
    """Where inputs are kept, how often small cases are repeated, when to stop, and the yardsticks so far."""

    folder: Path
    repeat: int = 3
    timeout: float = 900
    warm: bool = True
    copies: dict[Path, float | None] = field(default_factory=dict)

    def run(self, case: Case) -> dict[str, Any]:
        """Measure a case; a word on the terminal says so while others are waited for."""
        print(f"{case.name} …", end=" ", flush=True, file=sys.stderr)
        figures = self._measure(case)
        print(f"{figures['seconds']:.2f} s" if figures["code"] == 0 else "failed", file=sys.stderr)
        return figures

    def _measure(self, case: Case) -> dict[str, Any]:
        times = self.repeat if case.rows <= _SMALL else 1
        if not case.data:
            return _figures(case, median_run(lambda: measure_process([*SFUMATO, "--help"]), times))
        source = self._input(case)
        with tempfile.TemporaryDirectory(prefix="sfumato-bench-") as work:
            policy = write_policy(case, source, Path(work, "policy.toml"))
            cold = median_run(lambda: measure_anonymize(policy, timeout=self.timeout), times)
            warm = None if cold.failed or case.rows > _WARM or not self.warm else self._warm(policy)
            lost = self._published_loss(case, source, policy) if not cold.failed else {}
        rest = {"source": source_of(source), "warm": warm, "copy": self._copy(source)}
        return _figures(case, cold) | lost | rest

    def _input(self, case: Case) -> Path:
        path = input_file(case.data, case.rows, case.format, self.folder)
        if not path.exists():
            made = measure_process([*MAKE, case.data, str(case.rows), path])
            if made.failed:
                raise RuntimeError(f"the input of {case.name} cannot be made: {made.errors}")
        return path

    def _published_loss(self, case: Case, source: Path, policy: Path) -> dict[str, float]:
        """Measure the loss of the published file by another command, for labels that are each class's own."""
        if not case.method.local or case.rows > _SMALL:
            return {}
        command: list[str | Path] = [*SFUMATO, "utility", policy.with_name("release"), "--original", source, "--json"]
        utility = measure_process(command, timeout=self.timeout)
        if utility.failed:
            print(f"  {case.name}: {utility.errors.strip()}", file=sys.stderr)
            return {}
        return {"published": float(json.loads(utility.output)["ncp"])}

    def _warm(self, policy: Path) -> float | None:
        with tempfile.TemporaryDirectory(dir=policy.parent) as folder:
            twice = measure_process([*_TWICE, policy, folder], timeout=self.timeout)
        return None if twice.failed else float(json.loads(twice.output)["second"])

    def _copy(self, source: Path) -> float | None:
        if source not in self.copies:
            with tempfile.TemporaryDirectory() as folder:
                command: list[str | Path] = [*COPY, source, Path(folder, source.name)]
                copy = median_run(lambda: measure_process(command), self.repeat)
            self.copies[source] = None if copy.failed else copy.seconds
        return self.copies[source]


def _figures(case: Case, measured: Measurement) -> dict[str, Any]:
    """Give the figures of a case as they are kept; one that failed says on the terminal why."""
    figures: dict[str, Any] = {"case": case.name, "rows": case.rows, "code": measured.code}
    if measured.failed:
        print(f"  {case.name}: {measured.errors.strip()}", file=sys.stderr)
        return figures
    figures |= {"seconds": measured.seconds, "cpu": measured.cpu, "megabytes": measured.megabytes}
    if case.data:
        summary = json.loads(measured.output)
        figures |= {"loss": summary["utility"]["ncp"], "phases": summary["seconds"]}
        figures |= {key: summary[key] for key in ("suppressed", "classes", "levels") if key in summary}
    return figures


def write_policy(case: Case, source: Path, path: Path) -> Path:
    """Write the policy of a case as TOML."""
    method = case.method
    settings: dict[str, Any] = {"k": method.k, "suppression": case.suppression, "also": case.also, "source": source}
    folder = adult_folder() if case.data == "adult" else adult_arx_folder()
    if source_of(source) == "synthetic":
        policy = synthetic_adult_policy(**settings, sensitive=SALARY if case.data == "adult" else case.sensitive)
    elif folder is None:
        raise RuntimeError("the Adult table was at hand a moment ago and is not any more")
    elif case.data == "adult":
        policy = adult_policy(folder, **settings)
    else:
        policy = adult_arx_policy(folder, **settings, sensitive=case.sensitive)
    columns = dict(policy["columns"])
    for role, name in (("plain", method.plain), ("identifier", method.left_out)):
        if name:
            columns[name] = {"role": role}
    if method.sets:
        for name in [name for name, column in columns.items() if column["role"] == "quasi"]:
            ranges = {"ranges": True, "domain": AGE_HIERARCHY["domain"]}
            columns[name] = {"role": "quasi", "hierarchy": ranges if name == "age" else "sets"}
    search = policy["algorithm"] | {"name": method.algorithm} | ({} if method.improve else {"improve": False})
    changed = {"columns": columns, "algorithm": search, "publish": {"format": case.format}}
    path.write_text(write_toml(policy | changed), encoding="utf-8")
    return path
