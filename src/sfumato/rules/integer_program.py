"""An integer program, solved by HiGHS within a time that holds.

HiGHS looks at its clock between steps, and a step of a large program may take minutes: one of 18,157 rows and 2.9
million entries, with 117 seconds left, came back after 1,099. So a large program is solved in a process of its own,
which is ended soon after the time.
"""

import io
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.core.arrays import FloatArray

_LARGE = 300_000
"""Entries from which on a program gets a process of its own, which takes half a second to start."""
_GRACE = 2.0
"""Seconds after the time, in which HiGHS may come to an end by itself and tell what it has."""
_CHILD = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from sfumato.rules.integer_program import answer_once
answer_once()
"""


@dataclass(frozen=True, eq=False)
class ProgramSolution:
    """What is known of a program: its columns' `values` or None, and no solution costs less than `bound`.

    infeasible: it is proved that there is no solution;  proved: that no solution costs less than this one
    """

    values: FloatArray | None
    infeasible: bool
    proved: bool
    bound: float


@dataclass(frozen=True, eq=False)
class IntegerProgram:
    """Minimize cost times columns, whole numbers from 0 to `limits`, with `low` <= entries times columns <= `high`.

    The entry `factor[i]` stands in row `row[i]` and column `column[i]`; low and high are of rows.

    >>> row, column, factor = np.array([0, 0]), np.array([0, 1]), np.array([1.0, 2.0])
    >>> limits, low, high = np.array([3.0, 2.0]), np.array([5.0]), np.array([9.0])
    >>> program = IntegerProgram(np.array([1.0, 1.5]), limits, row, column, factor, low, high)
    >>> program.solve(10).values.tolist(), program.solve(10, apart=True).bound
    ([1.0, 2.0], 4.0)
    """

    cost: FloatArray
    limits: FloatArray
    row: Any
    column: Any
    factor: FloatArray
    low: FloatArray
    high: FloatArray

    def solve(self, seconds: float, *, apart: bool | None = None) -> ProgramSolution:
        """Solve it within some seconds; `apart` says whether in a process of its own, else its size does."""
        if apart is None:
            apart = len(self.factor) > _LARGE
        if not apart or not sys.executable:
            return self._solve_here(seconds)
        sent = io.BytesIO()
        np.savez(sent, allow_pickle=False, seconds=seconds, **vars(self))
        command = [sys.executable, "-P", "-c", _CHILD, json.dumps(sys.path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603 - ourselves
            try:
                told, _ = process.communicate(sent.getvalue(), seconds + _GRACE)
            except subprocess.TimeoutExpired:
                return ProgramSolution(None, infeasible=False, proved=False, bound=0.0)
            finally:
                process.kill()
        if process.returncode:  # as where memory did not do
            return ProgramSolution(None, infeasible=False, proved=False, bound=0.0)
        found = _read_arrays(told)
        values = found["values"] if found["has_values"] else None
        return ProgramSolution(values, bool(found["infeasible"]), bool(found["proved"]), float(found["bound"]))

    def _solve_here(self, seconds: float) -> ProgramSolution:
        from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415 - it takes a while
        from scipy.sparse import coo_array  # noqa: PLC0415

        shape = (len(self.low), len(self.cost))
        matrix = coo_array((self.factor, (self.row, self.column)), shape=shape).tocsr()
        found = milp(
            self.cost,
            integrality=np.ones(len(self.cost), dtype=np.int64),
            bounds=Bounds(0, self.limits),
            constraints=LinearConstraint(matrix, self.low, self.high),
            options={"time_limit": seconds, "mip_rel_gap": 0.0},
        )
        dual = found.mip_dual_bound
        bound = float(dual) if dual is not None and np.isfinite(dual) else 0.0
        values = None if found.x is None else np.rint(found.x)
        return ProgramSolution(values, found.status == 2, found.status == 0, bound)


def answer_once() -> None:
    """Solve the program on standard input, and write what is known of it on standard output."""
    given = _read_arrays(sys.stdin.buffer.read())
    seconds = float(given.pop("seconds"))
    found = IntegerProgram(**given).solve(seconds, apart=False)
    values = np.zeros(0) if found.values is None else found.values
    told = io.BytesIO()
    known = {"has_values": found.values is not None, "infeasible": found.infeasible, "proved": found.proved}
    np.savez(told, allow_pickle=False, values=values, bound=found.bound, **known)
    sys.stdout.buffer.write(told.getvalue())


def _read_arrays(content: bytes) -> dict[str, Any]:
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        found: Mapping[str, Any] = arrays
        return dict(found)
