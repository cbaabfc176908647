"""Local recoding: a label of its own for each class, so that no row is generalized further than it has to be.

Algorithms go from a `Problem` to a `Partition`: which rows of which tuples are in a group. `settle` makes classes of
the groups, all passing; `improve` lowers what they cost; `apply_partition` gives every row its labels.
"""

from sfumato.recode.local.candidates import ALGORITHMS
from sfumato.recode.local.local_recoding import apply_partition, recode_locally
from sfumato.recode.local.partition import Partition
from sfumato.recode.local.parts import Part, PartRecoder, PartRunner
from sfumato.recode.local.problem import Problem

__all__ = [
    "ALGORITHMS",
    "Part",
    "PartRecoder",
    "PartRunner",
    "Partition",
    "Problem",
    "apply_partition",
    "recode_locally",
]
