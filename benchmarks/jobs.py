"""A case, run: the real command in a fresh process, from cold start to a verified release."""

import json
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.case import Case
from benchmarks.data import input_file, source_of
from benchmarks.policies import write_policy
from sfumato.papers.measure import COPY, SFUMATO, Measured, measure, middle

_SMALL, _WARM = 100_000, 1_000_000


@dataclass
class Bench:
    """Where inputs are kept, how often small cases are repeated, when to stop, and the yardsticks so far."""

    folder: Path
    repeat: int = 3
    timeout: float = 900
    warm: bool = True
    copies: dict[Path, float | None] = field(default_factory=dict)

    def run(self, case: Case) -> dict[str, Any]:
        """The figures of a case, as they are kept."""
        times = self.repeat if case.rows <= _SMALL else 1
        if not case.data:
            return _figures(case, middle(lambda: measure([*SFUMATO, "--help"]), times))
        source = self._input(case)
        with tempfile.TemporaryDirectory(prefix="sfumato-bench-") as work:
            policy = write_policy(case, source, Path(work, "policy.toml"))
            cold = middle(lambda: self._anonymize(policy), times)
            warm = None if cold.failed or case.rows > _WARM or not self.warm else self._warm(policy)
            lost = self._published(case, source, policy) if not cold.failed else {}
        rest = {"source": source_of(source), "warm": warm, "copy": self._copy(source)}
        return _figures(case, cold) | lost | rest

    def _input(self, case: Case) -> Path:
        path = input_file(case.data, case.rows, case.format, self.folder)
        if not path.exists():
            made = measure([*_script("data"), case.data, str(case.rows), path])
            if made.failed:
                raise RuntimeError(f"the input of {case.name} cannot be made: {made.errors}")
        return path

    def _anonymize(self, policy: Path) -> Measured:
        release = policy.with_name("release")
        shutil.rmtree(release, ignore_errors=True)  # the one before: replacing it would be measured as well
        return measure([*SFUMATO, "anonymize", policy, "--out", release, "--json"], timeout=self.timeout)

    def _published(self, case: Case, source: Path, policy: Path) -> dict[str, float]:
        """The loss of the published file as another command measures it, for labels that are each class's own."""
        if not case.method.local or case.rows > _SMALL:
            return {}
        release = policy.with_name("release")
        said = measure([*SFUMATO, "utility", release, "--original", source, "--json"], timeout=self.timeout)
        if said.failed:
            print(f"  {case.name}: {said.errors.strip()}", file=sys.stderr)
            return {}
        return {"published": float(json.loads(said.output)["ncp"])}

    def _warm(self, policy: Path) -> float | None:
        with tempfile.TemporaryDirectory(dir=policy.parent) as folder:
            twice = measure([*_script("warm"), policy, folder], timeout=self.timeout)
        return None if twice.failed else float(json.loads(twice.output)["second"])

    def _copy(self, source: Path) -> float | None:
        if source not in self.copies:
            with tempfile.TemporaryDirectory() as folder:
                command: list[str | Path] = [*COPY, source, Path(folder, source.name)]
                done = middle(lambda: measure(command), self.repeat)
            self.copies[source] = None if done.failed else done.seconds
        return self.copies[source]


def _script(name: str) -> list[str | Path]:
    """A fresh interpreter on one of our files, which finds installed packages only."""
    return [sys.executable, "-P", Path(__file__).with_name(f"{name}.py")]


def _figures(case: Case, measured: Measured) -> dict[str, Any]:
    figures: dict[str, Any] = {"case": case.name, "rows": case.rows, "code": measured.code}
    if measured.failed:
        print(f"  {case.name}: {measured.errors.strip()}", file=sys.stderr)
        return figures
    figures |= {"seconds": measured.seconds, "cpu": measured.cpu, "megabytes": measured.megabytes}
    return figures | (_quality(json.loads(measured.output)) if case.data else {})


def _quality(said: dict[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {key: said[key] for key in ("suppressed", "classes", "levels", "seconds") if key in said}
    return {"loss": said["utility"]["ncp"], "phases": kept.pop("seconds"), **kept}
