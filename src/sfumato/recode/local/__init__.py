"""Local recoding: a label of its own for each class, so that only as much is told less exactly as has to be.

Algorithms go from a `Problem` to `Parts`: which rows of which tuples stand together. `settled` makes classes of them,
all passing; `improved` lowers what they cost; `applied` gives every row its labels.
"""

from sfumato.recode.local.apply import applied
from sfumato.recode.local.parts import Parts
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.run import ALGORITHMS, local

__all__ = ["ALGORITHMS", "Parts", "Problem", "applied", "local"]
