"""(X, Y)-anonymity: Definition 3.1 of Wang and Fung 2006."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from sfumato.models.keys import WHOLE
from sfumato.models.linkage import Linkage


@dataclass(frozen=True)
class XYAnonymity(Linkage):
    """Each value on `x` is linked to at least `k` different values on `y`, over the join with earlier releases.

    Guards against a quasi-identifier that is made of columns of several releases. With the row key as `y` it counts
    rows; with a column, its different values. It does not bound how often one of them occurs: `xy-linkability` does.

    >>> XYAnonymity(x=["job", "zip"], y=["$row"], k=40).required
    {'x': ['job', 'zip'], 'y': ['$row'], 'k': 40}
    """

    name: ClassVar[str] = "xy-anonymity"
    threat: ClassVar[str] = "Someone joins this release with earlier ones and picks out a person by columns of both."

    k: Annotated[int, WHOLE, "the fewest different values on y for each value on x"]
