"""Implied requirements: what the promises of earlier releases ask of a new one, that they still hold over the join.

Whoever knows a person's quasi-identifiers in both releases finds a class in each, and is left with those records of the
one that match a record of the other. So what an earlier release promised of its classes is asked of these: as many
rows, as many different values, no larger share. In the words of Wang and Fung 2006 that is an (X, Y)-requirement, where
X are the quasi-identifiers of both releases, and Y is what the earlier promise was about.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sfumato.errors import Infeasible, InputError, PolicyError, listing, quote
from sfumato.hierarchy import Sets
from sfumato.ledger.entries import Entry
from sfumato.policy import Policy

Rule = dict[str, Any]
"""A requirement as a [[privacy]] table."""

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

_OTHER_SEARCHES = frozenset({"metric", "improve", "keep_together", "suppression"})
"""Keys of [algorithm] that are about other searches than top-down specialization."""


def implied_requirements(policy: Policy, entry: Entry) -> list[Rule]:
    """Derive the requirements on the join with an earlier release from its promise."""
    columns = {column["name"]: column["role"] for column in entry.manifest["columns"]}
    rules = [
        _over_join(policy, entry.name, columns, required)
        for rule in entry.promise
        for required in _class_promise(rule, columns)
    ]
    return [rule for place, rule in enumerate(rules) if rule not in rules[:place]]


def weakened_requirements(entry: Entry) -> list[str]:
    """Name the earlier requirements of which the join is asked less than they say, or nothing."""
    names = [rule["model"] for rule in entry.promise if rule["model"] in _WEAKER or rule.get("refined")]
    names += [f"linked_k of {rule['model']}" for rule in entry.promise if rule.get("linked_k")]
    return list(dict.fromkeys(names))


def promised_values(rule: Mapping[str, Any]) -> int:
    """Give how many different values a class has at least by a requirement on its diversity; 0 by any other."""
    return 0 if rule.get("l") is None else math.ceil(rule["l"] - 1e-9)


def _class_promise(rule: Mapping[str, Any], columns: Mapping[str, str]) -> Iterator[Rule]:
    """Say what a requirement asks of a class as y and k: so many different values, or so large a share."""
    person = next((name for name, role in columns.items() if role == "individual"), None)
    model = rule["model"]
    if rule.get("k") is not None and not model.startswith("xy-"):
        yield {"model": "xy-anonymity", "y": [person or "$row"], "k": rule["k"]}
    if rule.get("l") is not None:
        yield {"model": "xy-anonymity", "y": [rule["column"]], "k": promised_values(rule)}
    share = rule.get("beta") if model == "identity-alpha-beta" else rule.get("alpha")
    if share is not None and not rule.get("refined"):
        for column in rule.get("columns") or [rule["column"]]:
            values = {"values": rule["values"]} if rule.get("values") else {}
            yield {"model": "xy-linkability", "y": [column], "k": share, **values}


def _over_join(policy: Policy, name: str, columns: Mapping[str, str], required: Rule) -> Rule:
    """Give a requirement the quasi-identifiers of both releases as x, on both sides where they share a column."""
    y = [f"{name}.{column}" for column in required["y"]]
    mine = [column.name for column in policy.quasi]
    theirs = [column for column, role in columns.items() if role == "quasi"]
    # Records are matched by the shared columns, except those whose hierarchy has no levels, and aggregates.
    published = (*policy.quasi, *policy.sensitive, *policy.ungeneralized)
    matched = [
        column.name
        for column in published
        if column.hierarchy is None or (column.hierarchy.levelled and policy.aggregate_form(column.name) is None)
    ]
    shared = [column for column in matched if column in columns]
    x = [*mine, *(column for column in shared if column in theirs and column not in mine)]
    x += [f"{name}.{column}" for column in theirs]
    x += [f"{name}.{column}" for column in shared if column in mine and column not in theirs]
    return {**required, "x": [column for column in dict.fromkeys(x) if column not in y], "y": y, "releases": [name]}


@dataclass(frozen=True)
class JoinRequirements:
    """A policy as it was given, with the earlier releases and what they imply, as tables of a policy file."""

    policy: Policy
    previous: tuple[Mapping[str, Any], ...]
    rules: tuple[Mapping[str, Any], ...]

    @classmethod
    def from_entries(cls, policy: Policy, entries: tuple[Entry, ...]) -> "JoinRequirements | None":
        """Collect what the entries imply; ``None`` where that is nothing, as where two tables are published."""
        previous: list[Mapping[str, Any]] = []
        rules: list[Mapping[str, Any]] = []
        for entry in entries:
            _check_names(policy, entry)
            joined = entry.one_table and entry.holds_alone and not policy.publish.split
            implied = implied_requirements(policy, entry) if joined else []
            previous += [{"name": entry.name, "table": str(entry.paths[0].resolve())}] if implied else []
            rules += implied
        return cls(policy, tuple(previous), tuple(rules)) if rules else None

    @property
    def names(self) -> list[str]:
        """The names of the earlier releases."""
        return [release["name"] for release in self.previous]

    @property
    def notes(self) -> tuple[str, ...]:
        """What top-down specialization does not do although the policy allows it."""
        if not self.policy.search.suppression:
            return ()
        return ("no row was suppressed, although the policy allows it: the join is kept by generalizing alone",)

    def lenient_policy(self) -> Policy:
        """Add the requirements to the policy with its own algorithm, to be checked of what that algorithm makes."""
        return self._extend(self.policy.document, lenient=True)

    def tds_policy(self, broken: str) -> Policy:
        """Add the requirements to the policy with top-down specialization, which searches with the join in view.

        `broken` says what is broken without the join in view, for the error where it cannot be used.
        """
        search = self.policy.document.get("algorithm", {})
        keys = search if isinstance(search, Mapping) else {}
        kept = {key: value for key, value in keys.items() if key not in _OTHER_SEARCHES}
        try:
            return self._extend({**self.policy.document, "algorithm": {**kept, "name": "tds"}}, lenient=False)
        except PolicyError as error:
            sets = [column.name for column in self.policy.quasi if isinstance(column.hierarchy, Sets)]
            why = str(error)
            if sets:  # whoever left the algorithm to us has chosen none that they could change
                why = f"it needs levels, and {listing(sets)} {'is' if len(sets) == 1 else 'are'} published as sets"
                why += '; give a file, a mask or "suppress" instead, or leave the column out'
            raise Infeasible(f"{broken}; tds, which could keep it, cannot be used here: {why}") from None

    def _extend(self, document: Mapping[str, object], *, lenient: bool) -> Policy:
        previous, privacy = (
            value if isinstance(value, list) else [] for value in (document.get("previous"), document.get("privacy"))
        )
        tables = {**document, "previous": [*previous, *self.previous], "privacy": [*privacy, *self.rules]}
        policy = Policy.read(tables, folder=self.policy.folder, lenient=lenient)
        # The paths that the command line names start where it runs; they are not resolved a second time.
        return replace(policy, source=self.policy.source, publish=self.policy.publish)


def _check_names(policy: Policy, entry: Entry) -> None:
    """Raise where a name of the policy could be taken for one of the entry."""
    if entry.name in {release.name for release in policy.previous}:
        raise InputError(
            f"the ledger has a release {quote(entry.name)}, and so has the policy under [[previous]]; leave it out "
            "there, since the ledger's are looked at by themselves"
        )
    for name in policy.columns:
        if name.startswith(f"{entry.name}.") or name == "$row":
            raise InputError(
                f"the column {quote(name)} reads like one of the ledger's release {quote(entry.name)}; rename it, or "
                "publish without --ledger and look at the join yourself"
            )
