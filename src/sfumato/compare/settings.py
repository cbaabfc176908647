"""Settings of a comparison: keys of a policy that are varied, and the runs that their values make.

A key is written as in the policy: ``privacy.k`` is the k of every requirement that has one, ``privacy[0].k`` that of
the first alone, ``algorithm.suppression`` and ``publish.form`` what they say. The part before the dot may be left out
where only one part of the policy has such a key. Every algorithm with every combination of values is a run: a policy,
or the reason why there is no such policy.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from sfumato.errors import InputError, PolicyError, did_you_mean, quote
from sfumato.models import DENSITY, LINKAGE, MODELS
from sfumato.models.policy_keys import KeyType, model_keys
from sfumato.policy import Policy
from sfumato.policy.options import (
    ALGORITHM_KEYS,
    ALGORITHMS,
    CLUSTERING_KEYS,
    PUBLISH_KEYS,
    SPECIALIZATION_KEYS,
)
from sfumato.policy.section import join_choices

KeyPath = tuple[str | int, ...]
"""The place of a key in the policy's tables, as ``("privacy", 0, "k")``."""

_SUCH_AS = "write it as k=2,5,10"
_OPTIONAL = ("metric", "improve", "keep_together", *SPECIALIZATION_KEYS, *CLUSTERING_KEYS)
"""Keys of [algorithm] that some algorithms do without: these are left out for those, unless somebody varies them."""


@dataclass(frozen=True)
class Setting:
    """A key of the policy by the name it was given, the places where it is, and the values to try."""

    name: str
    paths: tuple[KeyPath, ...]
    values: tuple[object, ...]


def parse_setting(text: str) -> tuple[str, tuple[object, ...]]:
    """Read a key and its values from the text of ``--set``: TOML values with commas, or plain words.

    >>> parse_setting("k=2,5"), parse_setting('values=["HIV"],["HIV","flu"]')
    (('k', (2, 5)), ('values', (['HIV'], ['HIV', 'flu'])))
    >>> parse_setting("form = lossy-join, anatomy")
    ('form', ('lossy-join', 'anatomy'))
    """
    key, equals, values = (part.strip() for part in text.partition("="))
    if not equals or not key or not values:
        raise InputError(f"--set {quote(text)} does not name a key and its values; {_SUCH_AS}")
    try:
        return key, tuple(tomllib.loads(f"it = [{values}]")["it"])
    except ValueError:  # words without quotes are no TOML
        return key, tuple(_parse_word(part.strip()) for part in values.split(","))


def _parse_word(text: str) -> object:
    try:
        return tomllib.loads(f"it = {text}")["it"]
    except ValueError:
        return text


def find_settings(policy: Policy, given: Mapping[str, Sequence[object]]) -> tuple[Setting, ...]:
    """Find the keys of the policy by their names; a value that is given twice is tried once.

    >>> from sfumato.policy import load
    >>> columns = {"sex": {"role": "quasi", "hierarchy": "suppress"}}
    >>> policy = load({"columns": columns, "privacy": [{"model": "k-anonymity", "k": 5}]})
    >>> [setting.paths for setting in find_settings(policy, {"k": [2, 5], "suppression": [0, 0.1]})]
    [(('privacy', 0, 'k'),), (('algorithm', 'suppression'),)]
    """
    settings = tuple(_find_setting(policy, name, values) for name, values in given.items())
    for place, setting in enumerate(settings):
        for other in settings[:place]:
            if set(setting.paths) & set(other.paths):
                raise InputError(
                    f"--set {setting.name} and --set {other.name} change the same key; leave one of them out"
                )
    return settings


def _find_setting(policy: Policy, name: str, values: Sequence[object]) -> Setting:
    if isinstance(values, str) or not values:
        raise InputError(f"--set {name} has no values to try; {_SUCH_AS}")
    if name in {"name", "algorithm", "algorithm.name"}:
        raise InputError("algorithms are not a setting; name them with --algorithms a,b,c")
    types = _key_types(policy)
    paths = [path for path in types if name in _key_names(path)]
    if not paths:
        known = sorted({str(path[-1]) for path in types})
        hint = did_you_mean(name, [*known, *(each for path in types for each in _key_names(path))])
        hint = hint or f"; it has {', '.join(known)}"
        raise InputError(f"{quote(name)} is no key of this policy that can be set{hint}")
    # A name means one thing: in one part of the policy, and of one type in all requirements.
    phrases = {key_type.phrase for path in paths if (key_type := types[path])}
    if len({path[0] for path in paths}) > 1 or len(phrases) > 1:
        ways = " or ".join(_key_names(path)[0] for path in paths)
        raise InputError(f"--set {name} may mean several keys; write {ways}")
    different = [value for place, value in enumerate(values) if value not in values[:place]]
    return Setting(name, tuple(paths), tuple(different))


def _key_types(policy: Policy) -> dict[KeyPath, KeyType | None]:
    """List every key that can be set, with its type where a model declares one."""
    types: dict[KeyPath, KeyType | None] = {}
    for place, entry in enumerate(policy.requirements):
        for key, model_key in model_keys((MODELS | LINKAGE | DENSITY)[entry.name]).items():
            types["privacy", place, key] = model_key.key_type
    for section, keys in {"algorithm": ALGORITHM_KEYS, "publish": PUBLISH_KEYS}.items():
        types |= {(section, key): None for key in keys if key != "name"}
    return types


def _key_names(path: KeyPath) -> list[str]:
    """List what a key may be called, the fullest name first."""
    *outer, key = path
    if outer[0] != "privacy":
        return [f"{outer[0]}.{key}", str(key)]
    return [f"privacy[{outer[1]}].{key}", f"privacy.{key}", str(key)]


@dataclass(frozen=True)
class RunConfiguration:
    """One run of a comparison: an algorithm, the settings by name, and the policy that they make.

    Without a policy, `reason` says why there is none. `dropped` are the keys of [algorithm] that this algorithm has no
    use for, and that its policy therefore does without. `changes` are the settings by their place in the policy.
    """

    number: int
    algorithm: str
    settings: Mapping[str, object]
    changes: Mapping[KeyPath, object]
    policy: Policy | None = None
    reason: str = ""
    dropped: tuple[str, ...] = ()


def plan_runs(
    policy: Policy, algorithms: Sequence[str] | None, settings: Sequence[Setting]
) -> tuple[RunConfiguration, ...]:
    """Combine algorithms with settings, numbered from 1; without `algorithms`, those that the policy can be met with.

    In that case, combinations that no policy allows, or that are the same as another, are left out, except that
    settings that go with no algorithm at all are listed once.
    """
    names = ALGORITHMS if algorithms is None else _check_algorithms(algorithms)
    combinations = [
        list(zip(settings, values, strict=True)) for values in product(*(setting.values for setting in settings))
    ]
    runs = [_configure(policy, name, chosen) for name in names for chosen in combinations]
    if algorithms is None:
        runs = list(_applicable(runs))
    return tuple(replace(run, number=number) for number, run in enumerate(runs, start=1))


def _check_algorithms(names: Sequence[str]) -> list[str]:
    if not names:
        raise InputError(f"--algorithms names none; choose among {join_choices(ALGORITHMS)}")
    for name in names:
        if name not in ALGORITHMS:
            hint = did_you_mean(name, ALGORITHMS) or f"; choose among {join_choices(ALGORITHMS)}"
            raise InputError(f"{quote(name)} is not an algorithm{hint}")
    return list(dict.fromkeys(names))


def _configure(policy: Policy, algorithm: str, chosen: Sequence[tuple[Setting, object]]) -> RunConfiguration:
    """Make the policy of a run; a key that the algorithm objects to and nobody asked for is left out."""
    changes = {path: value for setting, value in chosen for path in setting.paths}
    run = RunConfiguration(0, algorithm, {setting.name: value for setting, value in chosen}, changes)
    document = change_document(policy.document, {**changes, ("algorithm", "name"): algorithm})
    while True:
        try:
            rules = Policy.read(document, folder=policy.folder, lenient=policy.lenient)
        except PolicyError as error:
            key = error.key.rpartition(".")[2]
            if error.key.startswith("columns.") and key == "aggregate" and _drop_aggregates(document):
                run = replace(run, dropped=(*run.dropped, key))
                continue
            droppable = error.key.startswith("algorithm.") and key in _OPTIONAL and ("algorithm", key) not in changes
            if not droppable or document["algorithm"].pop(key, None) is None:
                return replace(run, reason=str(error))
            run = replace(run, dropped=(*run.dropped, key))
        else:
            # The source may be the command line's, whose path starts elsewhere.
            return replace(run, policy=replace(rules, source=policy.source))


def _drop_aggregates(document: dict[str, Any]) -> bool:
    """Leave out what microaggregation publishes of each column, for other algorithms; say whether there was any."""
    columns = document["columns"]
    written = [name for name, entry in columns.items() if "aggregate" in entry]
    for name in written:
        columns[name] = {key: value for key, value in columns[name].items() if key != "aggregate"}
    return bool(written)


def change_document(document: Mapping[str, object], changes: Mapping[KeyPath, object]) -> dict[str, Any]:
    """Copy a policy's tables, with these values at these places.

    >>> change_document({"privacy": [{"k": 5}]}, {("privacy", 0, "k"): 2, ("algorithm", "name"): "tds"})
    {'privacy': [{'k': 2}], 'algorithm': {'name': 'tds'}}
    """
    copy: Any = deepcopy(dict(document))
    for (*outer, key), value in changes.items():
        table = copy
        for part in outer:
            table = table.setdefault(part, {}) if isinstance(table, dict) else table[part]
        table[key] = value
    return dict(copy)


def _applicable(runs: Sequence[RunConfiguration]) -> Iterator[RunConfiguration]:
    """Select those that are policies, one of each; and where no algorithm goes with some settings, one that says so."""
    selected: list[tuple[object, object]] = []
    possible = [run.settings for run in runs if run.policy is not None]
    for run in runs:
        # ``auto`` may stand for the only algorithm that can run; then that one is the same run.
        search = None
        if run.policy is not None:
            search = "anatomy" if run.policy.publish.form == "anatomy" else run.policy.recoder
        if (run.settings, search) in selected or (run.policy is None and run.settings in possible):
            continue
        selected.append((run.settings, search))
        yield run
