"""What earlier promises ask of a new release: that they still hold when the two are joined.

Whoever knows a person's quasi-identifiers in both releases finds a class in each, and is left with those records of the
one that match a record of the other. So what an earlier release promised of its classes is asked of these: as many
rows, as many different values, no larger share. In the words of Wang and Fung 2006 that is an (X, Y)-requirement, where
X are the quasi-identifiers of both releases, and Y is what the earlier promise was about.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sfumato.ledger.entry import Entry
from sfumato.policy import Policy

Rule = dict[str, Any]
_WEAKER = frozenset(
    {
        "entropy-l-diversity",
        "recursive-l-diversity",
        "t-closeness",
        "identity-alpha-beta",
        "xy-anonymity",
        "xy-linkability",
    }
)
"""Requirements that are not, or not wholly, asked of the join."""


def implied(policy: Policy, entry: Entry) -> list[Rule]:
    """The requirements on the join with an earlier release that its promise makes, as [[privacy]] tables."""
    columns = {column["name"]: column["role"] for column in entry.manifest["columns"]}
    found = [_rule(policy, entry.name, columns, each) for rule in entry.promise for each in _kept(rule, columns)]
    return [rule for place, rule in enumerate(found) if rule not in found[:place]]


def unstated(entry: Entry) -> list[str]:
    """Earlier requirements of which the join is asked less than they say, or nothing."""
    found = [rule["model"] for rule in entry.promise if rule["model"] in _WEAKER or rule.get("refined")]
    found += [f"linked_k of {rule['model']}" for rule in entry.promise if rule.get("linked_k")]
    return list(dict.fromkeys(found))


def _kept(rule: Mapping[str, Any], columns: Mapping[str, str]) -> Iterator[Rule]:
    """What a requirement asks of a class, as y and k: of different values, or of a share."""
    person = next((name for name, role in columns.items() if role == "individual"), None)
    model = rule["model"]
    if rule.get("k") is not None and not model.startswith("xy-"):
        yield {"model": "xy-anonymity", "y": [person or "$row"], "k": rule["k"]}
    if rule.get("l") is not None:
        yield {"model": "xy-anonymity", "y": [rule["column"]], "k": math.ceil(rule["l"] - 1e-9)}
    share = rule.get("beta") if model == "identity-alpha-beta" else rule.get("alpha")
    if share is not None and not rule.get("refined"):
        for column in rule.get("columns") or [rule["column"]]:
            values = {"values": rule["values"]} if rule.get("values") else {}
            yield {"model": "xy-linkability", "y": [column], "k": share, **values}


def _rule(policy: Policy, name: str, columns: Mapping[str, str], kept: Rule) -> Rule:
    """The requirement with the quasi-identifiers of both releases as x, shared ones on both sides."""
    y = [f"{name}.{column}" for column in kept["y"]]
    mine = [column.name for column in policy.quasi]
    theirs = [column for column, role in columns.items() if role == "quasi"]
    shared = [column.name for column in _matched(policy) if column.name in columns]
    x = [*mine, *(column for column in shared if column in theirs and column not in mine)]
    x += [f"{name}.{column}" for column in theirs]
    x += [f"{name}.{column}" for column in shared if column in mine and column not in theirs]
    return {**kept, "x": [each for each in dict.fromkeys(x) if each not in y], "y": y, "releases": [name]}


def _matched(policy: Policy) -> Sequence[Any]:
    """The columns that records are matched by, if the other table has them."""
    published = (*policy.quasi, *policy.sensitive, *policy.plain)
    return [column for column in published if column.hierarchy is None or column.hierarchy.levelled]
