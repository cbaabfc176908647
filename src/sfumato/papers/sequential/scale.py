"""Time and memory of the whole command on both tables enlarged as in the paper, beside the copy of T1's file."""

import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.datasets import enlarge
from sfumato.papers.measure import COPY, SFUMATO, Measured, measure, middle
from sfumato.papers.sequential.points import LINK, XY, Point
from sfumato.papers.sequential.runs import Experiment
from sfumato.papers.sequential.sets import CLASS, EARLIER, IMMIGRATION, SET_A, People, write
from sfumato.policy.toml_text import write_toml

SIZES = (200_000, 400_000, 600_000, 800_000, 1_000_000, 2_000_000, 5_000_000)
POINTS = {"anonymity": Point("A", XY, 6, 40), "linkability": Point("A", LINK, 1, 0.9)}
CHANGED = 2
"""The paper's q: how many attributes of X a variation of a record has redrawn."""
_OFTEN = 1_000_000


@dataclass(frozen=True)
class Scale:
    """How large tables get, how often those of up to a million rows are timed, and when to stop."""

    people: People
    sizes: Sequence[int] = SIZES
    repeat: int = 3
    timeout: float = 1800

    def cases(self) -> Iterator[dict[str, Any]]:
        """The figures of both requirements at every size."""
        for rows in self.sizes:
            for kind, point in POINTS.items():
                with tempfile.TemporaryDirectory(prefix="sfumato-") as folder:
                    yield {"kind": kind, "rows": rows, **self._measured(point, rows, Path(folder))}

    def _measured(self, point: Point, rows: int, work: Path) -> dict[str, Any]:
        source, policy = self._inputs(point, rows, work)
        times = self.repeat if rows <= _OFTEN else 1
        copy = middle(lambda: measure([*COPY, source, work / "copy.csv"], timeout=self.timeout), times)
        done = middle(lambda: self._anonymize(policy), times)
        if done.failed:
            return {"code": done.code, "errors": done.errors.strip()}
        said = json.loads(done.output)
        figures = {"seconds": done.seconds, "cpu": done.cpu, "megabytes": done.megabytes, "copy": copy.seconds}
        kept = {"classes": said["classes"], "phases": said["seconds"], "achieved": said["privacy"][0]["achieved"]}
        return {"code": 0, **figures, **kept}

    def _anonymize(self, policy: Path) -> Measured:
        release = policy.with_name("release")
        shutil.rmtree(release, ignore_errors=True)  # the one before: replacing it would be measured as well
        return measure([*SFUMATO, "anonymize", policy, "--out", release, "--json"], timeout=self.timeout)

    def _inputs(self, point: Point, rows: int, work: Path) -> tuple[Path, Path]:
        """T1, T2 and the policy as files."""
        ours, theirs = enlarged(self.people, point, rows)
        source, earlier = write(ours, work / "taxation.csv"), write(theirs, work / f"{EARLIER}.csv")
        document = Experiment(self.people, earlier).document(point) | {"data": {"source": str(source)}}
        document["columns"] = {name: one for name, one in document["columns"].items() if name in ours.column_names}
        (policy := work / "policy.toml").write_text(write_toml(document), encoding="utf-8")
        return source, policy


def enlarged(people: People, point: Point, rows: int) -> tuple[Any, Any]:
    """T1 and T2 with so many rows: the original ones, then variations of them with a few attributes of X redrawn.

    A variation keeps what is not in X, the values of Y among it.
    """
    mine = people.frame.select([*SET_A.attributes, CLASS])
    theirs = [name.partition(".")[2] for name in point.x if name.startswith(f"{EARLIER}.")]
    return varied(mine, point.quasi, rows, seed=1), varied(people.frame.select(IMMIGRATION), theirs, rows, seed=2)


def varied(table: Any, columns: Sequence[str], rows: int, *, seed: int) -> Any:
    """The rows of a table, then variations of them in turn: the values of `CHANGED` of the columns are drawn anew.

    >>> small = pa.table({"sex": ["f", "m"], "job": ["cook", "clerk"], "class": ["a", "b"]})
    >>> varied(small, ["sex", "job"], 5, seed=1)["class"].to_pylist()
    ['a', 'b', 'a', 'b', 'a']
    """
    more = rows - table.num_rows
    if more <= 0:
        return table.slice(0, rows)
    drawn = enlarge(table.select(list(columns)), more, seed=seed, changed=min(CHANGED, len(columns)))
    rest = [name for name in table.column_names if name not in columns]
    if rest:
        same = enlarge(table.select(rest), more, changed=0)
        drawn = pa.table(dict(zip((*columns, *rest), (*drawn.columns, *same.columns), strict=True)))
    return pa.concat_tables([table, drawn.select(table.column_names).cast(table.schema)])
