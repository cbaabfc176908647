"""What the adversary concludes from, and whether that can be measured."""

from sfumato.attack.minimality.found import Looked
from sfumato.attack.minimality.lots import countable
from sfumato.attack.minimality.situation import Situation
from sfumato.attack.minimality.words import WAYS
from sfumato.attack.minimality.world import Limits
from sfumato.policy import Policy


def basis_of(situation: Situation, limits: Limits) -> str:
    """What is known of the algorithm, by the name that `words.BASES` has for it."""
    recoding = situation.recoding
    if recoding.algorithm == "anatomy":
        return "drawn"
    if not situation.columns:
        return "nothing"
    if recoding.levels is None:
        return "cut" if recoding.cut and recoding.group is None else "class"
    if situation.requirement.limit:
        return "nodes below"
    return "all nodes" if countable(situation, limits) else "node"


def obstacle(situation: Situation, policy: Policy, basis: str) -> str | None:
    """Why what the adversary concludes cannot be measured, where it cannot."""
    if basis in {"drawn", "nothing"}:
        return None
    return next((why for why, stands in _obstacles(situation, policy, basis).items() if stands), None)


def _obstacles(situation: Situation, policy: Policy, basis: str) -> dict[str, bool]:
    """What may stand in the way, in words, and whether it does."""
    requirement, rows = situation.requirement, len(situation.rows)
    return {
        "every class has more rows than this effort looks at": not rows,
        "something finer may have failed by the join with earlier releases": bool(policy.linkage)
        and not policy.lenient,
        "something finer may have failed because too few persons share somebody's classes": basis != "class"
        and requirement.linked > 1,
        "cuts through hierarchies are measured only where no row may be suppressed": basis == "cut"
        and requirement.limit > 0,
        f"the table has more rows than the {rows:,} that this effort looks at": basis == "nodes below"
        and not situation.whole,
    }


def unknown(looked: Looked, basis: str) -> str | None:
    """Why nothing is known: too few worlds fit, or too few of the classes that go together were looked at."""
    tried = looked.counted + looked.drawn
    if looked.unfit and looked.unfit == tried:
        fit = round(looked.fitting * looked.worlds)
        return f"too few of {looked.worlds:,} {WAYS} fit ({fit:,})"
    part = looked.looked < looked.rows or tried < looked.open
    if basis in {"node", "cut"} and part and (looked.telling or looked.unfit):
        return "the classes stand and fall together, and are too many for all of them to be looked at with this effort"
    return None
