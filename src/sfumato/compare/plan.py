"""The plan: every algorithm with every combination of settings, each a policy or the reason why it is none."""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from sfumato.compare.settings import Path, Setting
from sfumato.errors import InputError, PolicyError, did_you_mean
from sfumato.policy import Policy
from sfumato.policy.options import ALGORITHMS
from sfumato.policy.section import join_choices

_OWN = ("metric", "improve", "keep_together", "score", "class")
"""Keys of [algorithm] that some algorithms do without: these are left out for those, unless somebody varies them."""


@dataclass(frozen=True)
class Case:
    """One line of the comparison: an algorithm, the settings by name, and the policy that they make.

    Without a policy, `reason` says why there is none. `dropped` are the keys of [algorithm] that this algorithm has no
    use for, and that its policy therefore does without. `changes` are the settings by their place in the policy.
    """

    number: int
    algorithm: str
    settings: Mapping[str, object]
    changes: Mapping[Path, object]
    policy: Policy | None = None
    reason: str = ""
    dropped: tuple[str, ...] = ()


def planned(policy: Policy, algorithms: Sequence[str] | None, settings: Sequence[Setting]) -> tuple[Case, ...]:
    """All cases, numbered from 1; without `algorithms`, those that the policy can be met with, ``auto`` first.

    Then combinations that no policy allows, or that are the same as another, are left out, unless no algorithm at all
    goes with the settings: those are told once.
    """
    names = ALGORITHMS if algorithms is None else _known(algorithms)
    every = [_case(policy, name, chosen) for name in names for chosen in _combinations(settings)]
    cases = every if algorithms is not None else list(_applicable(every))
    return tuple(replace(case, number=number) for number, case in enumerate(cases, start=1))


def _known(names: Sequence[str]) -> list[str]:
    if not names:
        raise InputError(f"--algorithms names none; choose among {join_choices(ALGORITHMS)}")
    for name in names:
        if name not in ALGORITHMS:
            hint = did_you_mean(name, ALGORITHMS) or f"; choose among {join_choices(ALGORITHMS)}"
            raise InputError(f"{name!r} is not an algorithm{hint}")
    return list(dict.fromkeys(names))


def _combinations(settings: Sequence[Setting]) -> Iterator[list[tuple[Setting, object]]]:
    for values in product(*(one.values for one in settings)):
        yield list(zip(settings, values, strict=True))


def _case(policy: Policy, algorithm: str, chosen: Sequence[tuple[Setting, object]]) -> Case:
    named = {setting.name: value for setting, value in chosen}
    changes = {path: value for setting, value in chosen for path in setting.paths}
    case = Case(0, algorithm, named, changes)
    document = changed(policy.document, {**changes, ("algorithm", "name"): algorithm})
    while True:
        try:
            rules = Policy.read(document, folder=policy.folder, lenient=policy.lenient)
        except PolicyError as error:
            key = error.key.rpartition(".")[2]
            if not error.key.startswith("algorithm.") or key not in _OWN or not _drop(document, key, changes):
                return replace(case, reason=str(error))
            case = replace(case, dropped=(*case.dropped, key))
        else:
            # the source may be the command line's, whose paths start elsewhere
            return replace(case, policy=replace(rules, source=policy.source))


def _drop(document: dict[str, Any], key: str, changes: Mapping[Path, object]) -> bool:
    """Leave out a key that was not asked for; whether there was such a key."""
    return ("algorithm", key) not in changes and document["algorithm"].pop(key, None) is not None


def changed(document: Mapping[str, object], changes: Mapping[Path, object]) -> dict[str, Any]:
    """A copy of a policy's tables with these values at these places.

    >>> changed({"privacy": [{"k": 5}]}, {("privacy", 0, "k"): 2, ("algorithm", "name"): "tds"})
    {'privacy': [{'k': 2}], 'algorithm': {'name': 'tds'}}
    """
    copy: Any = deepcopy(dict(document))
    for (*outer, key), value in changes.items():
        table = copy
        for part in outer:
            table = table.setdefault(part, {}) if isinstance(table, dict) else table[part]
        table[key] = value
    return dict(copy)


def _applicable(cases: Sequence[Case]) -> Iterator[Case]:
    """Those that are policies, one of each; and where no algorithm goes with some settings, one that says so."""
    seen: list[tuple[object, object]] = []
    possible = [case.settings for case in cases if case.policy is not None]
    for case in cases:
        what = (case.settings, _effective(case.policy) if case.policy else None)
        if what in seen or (case.policy is None and case.settings in possible):
            continue
        seen.append(what)
        yield case


def _effective(policy: Policy) -> str:
    """What will really run: ``auto`` stands for the only one that can in places."""
    return "anatomy" if policy.publish.form == "anatomy" else policy.recoder
