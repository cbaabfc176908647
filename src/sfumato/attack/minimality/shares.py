"""The figures where the shares of the classes are all that is told, or all that is known."""

from collections.abc import Collection, Mapping

import numpy as np

from sfumato.attack.bound import bounds
from sfumato.attack.homogeneity import homogeneity
from sfumato.attack.minimality.found import Betrayed, Beyond
from sfumato.attack.sensitive_columns import SensitiveColumn, SensitiveColumns
from sfumato.policy import Policy


def by_shares(told: Mapping[str, SensitiveColumn], policy: Policy, asked: Collection[str]) -> dict[str, Betrayed]:
    """What a guess by the most frequent value of the class gets right; `asked` columns have a requirement."""
    found = {}
    for name, one in homogeneity(told, bounds(policy, SensitiveColumns(told))).columns.items():
        share = _largest(told[name], one.protected)
        nobody = Beyond(0, None)
        found[name] = Betrayed(one.bound, share, share, nobody, one.blind, one.right, one.right, name in asked)
    return found


def _largest(told: SensitiveColumn, protected: tuple[str, ...] | None) -> float:
    """The largest share of a class that a protected value has."""
    bag = told.bag
    about = np.array([protected is None or text in protected for text in bag.domain.values], dtype=np.bool_)
    share = bag.count / told.sizes[bag.class_of]
    return float(share[about[bag.value]].max(initial=0.0))
