"""Settings: which keys of a policy are varied, and the values that each takes in turn.

A key is written as in the policy: ``privacy.k`` is the k of every requirement that has one, ``privacy[0].k`` that of
the first alone, ``algorithm.suppression`` and ``publish.form`` what they say. The part before the dot may be left out
where only one part of the policy has such a key.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sfumato.errors import InputError, did_you_mean
from sfumato.models import LINKAGE, MODELS
from sfumato.models.policy_keys import KeyType, model_keys
from sfumato.policy import Policy
from sfumato.policy.options import ALGORITHM_KEYS, PUBLISH_KEYS

Path = tuple[str | int, ...]

_SUCH_AS = "write it as k=2,5,10"


@dataclass(frozen=True)
class Setting:
    """A key of the policy by the name it was given, the places where it stands, and the values to try."""

    name: str
    paths: tuple[Path, ...]
    values: tuple[object, ...]


def parsed(text: str) -> tuple[str, tuple[object, ...]]:
    """A key and its values from what stands behind ``--set``: TOML values with commas, or plain words.

    >>> parsed("k=2,5"), parsed("form = lossy-join, anatomy"), parsed('values=["HIV"],["HIV","flu"]')
    (('k', (2, 5)), ('form', ('lossy-join', 'anatomy')), ('values', (['HIV'], ['HIV', 'flu'])))
    """
    key, equals, values = (part.strip() for part in text.partition("="))
    if not equals or not key or not values:
        raise InputError(f"--set {text!r} does not name a key and its values; {_SUCH_AS}")
    try:
        return key, tuple(tomllib.loads(f"it = [{values}]")["it"])
    except ValueError:  # words without quotes are no TOML
        return key, tuple(_word(part.strip()) for part in values.split(","))


def _word(text: str) -> object:
    try:
        return tomllib.loads(f"it = {text}")["it"]
    except ValueError:
        return text


def settings_of(policy: Policy, given: Mapping[str, Sequence[object]]) -> tuple[Setting, ...]:
    """The settings by their names, found in the policy; a value that stands twice is tried once.

    >>> from sfumato.policy import load
    >>> columns = {"sex": {"role": "quasi", "hierarchy": "suppress"}}
    >>> policy = load({"columns": columns, "privacy": [{"model": "k-anonymity", "k": 5}]})
    >>> [one.paths for one in settings_of(policy, {"k": [2, 5], "suppression": [0, 0.1]})]
    [(('privacy', 0, 'k'),), (('algorithm', 'suppression'),)]
    """
    found = tuple(_setting(policy, name, values) for name, values in given.items())
    for place, one in enumerate(found):
        for other in found[:place]:
            if set(one.paths) & set(other.paths):
                raise InputError(f"--set {one.name} and --set {other.name} change the same key; leave one of them out")
    return found


def _setting(policy: Policy, name: str, values: Sequence[object]) -> Setting:
    if isinstance(values, str) or not values:
        raise InputError(f"--set {name} has no values to try; {_SUCH_AS}")
    if name in {"name", "algorithm", "algorithm.name"}:
        raise InputError("algorithms are not a setting; name them with --algorithms a,b,c")
    kinds = _kinds(policy)
    paths = [path for path in kinds if name in _names(path)]
    if not paths:
        known = sorted({str(path[-1]) for path in kinds})
        hint = did_you_mean(name, [*known, *(each for path in kinds for each in _names(path))])
        hint = hint or f"; it has {', '.join(known)}"
        raise InputError(f"{name!r} is no key of this policy that can be set{hint}")
    _check_one(name, {path: kinds[path] for path in paths})
    different = [value for place, value in enumerate(values) if value not in values[:place]]
    return Setting(name, tuple(paths), tuple(different))


def _check_one(name: str, kinds: Mapping[Path, KeyType | None]) -> None:
    """A name that means one thing: in one part of the policy, and of one kind in all requirements."""
    if len({path[0] for path in kinds}) > 1 or len({kind.phrase for kind in kinds.values() if kind}) > 1:
        ways = " or ".join(_names(path)[0] for path in kinds)
        raise InputError(f"--set {name} may mean several keys; write {ways}")


def _kinds(policy: Policy) -> dict[Path, KeyType | None]:
    """Every key that can be set, with what it may hold where a model says so."""
    return dict(_of_models(policy)) | dict.fromkeys(_of_sections())


def _of_models(policy: Policy) -> Iterator[tuple[Path, KeyType]]:
    for place, entry in enumerate(policy.requirements):
        for key, found in model_keys((MODELS | LINKAGE)[entry.name]).items():
            yield ("privacy", place, key), found.key_type


def _of_sections() -> list[Path]:
    sections = {"algorithm": ALGORITHM_KEYS, "publish": PUBLISH_KEYS}
    return [(section, key) for section, keys in sections.items() for key in keys if key != "name"]


def _names(path: Path) -> list[str]:
    """What a key may be called, the fullest name first."""
    *outer, key = path
    if outer[0] != "privacy":
        return [f"{outer[0]}.{key}", str(key)]
    return [f"privacy[{outer[1]}].{key}", f"privacy.{key}", str(key)]
