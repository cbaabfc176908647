"""A case: a job that is measured, what others take for it, and what we want it to take."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.arx import Arx
from benchmarks.peers import Peer

OCCUPATION = "occupation"


@dataclass(frozen=True)
class Target:
    """Upper limits: seconds, peak megabytes, seconds as a multiple of `copy`'s, seconds of search alone, and loss."""

    seconds: float | None = None
    megabytes: float | None = None
    copies: float | None = None
    search: float | None = None
    loss: float | None = None


@dataclass(frozen=True)
class Method:
    """How a release is sought: `sets` has age as ranges and the rest as sets of values, in place of hierarchies.

    `plain` is a column that is published as it is, `left_out` one that is not published.
    """

    algorithm: str = "optimal"
    k: int = 5
    improve: bool = True
    plain: str | None = None
    left_out: str | None = None
    sets: bool = False

    @property
    def local(self) -> bool:
        """Whether classes have labels of their own."""
        return self.algorithm != "optimal"


@dataclass(frozen=True)
class Case:
    """A job: `data` is ``adult`` (45,222 rows), ``arx`` (30,162), ``like`` (`rows` of them) or empty for --help.

    `bound` is a loss that nothing can be below.
    """

    name: str
    group: str
    data: str
    rows: int
    suppression: float = 0.0
    format: str = "csv"
    also: tuple[Mapping[str, Any], ...] = ()
    arx: Arx | None = None
    target: Target = Target()
    method: Method = Method()
    peer: Peer | None = None
    bound: float | None = None

    @property
    def sensitive(self) -> str | None:
        """The column that is no quasi-identifier, if there is one."""
        return OCCUPATION if self.also else None

    def with_rows(self, rows: int) -> "Case":
        """The same job on another number of Adult-like rows, which nobody else's figures are about."""
        if self.data != "like" or rows == self.rows:
            return self
        return replace(self, rows=rows, arx=None, peer=None, bound=None, target=Target())
