"""What a column is, for a policy that is built in code: ``sf.quasi(intervals=[5, 10])``, ``sf.sensitive()``.

Each function makes the table that a policy file has of a column, and nothing more: `Policy` reads and checks all of
them in the same way, wherever they come from.

>>> quasi(mask="right", length=5)
{'role': 'quasi', 'hierarchy': {'mask': 'right', 'length': 5}}
"""

import os
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import PurePath
from typing import Any

from sfumato.api.trees import Tree, is_kind_of_hierarchy
from sfumato.errors import PolicyError

Entry = dict[str, Any]
"""What [columns] of a policy has of a column."""

Chance = float | Mapping[str, Any]
"""The share of `noise` or the chance of `pram`, or a table as in a policy file."""
Bound = float | str | date
"""A number, or a date."""


def quasi(  # noqa: PLR0913 - as many keys as a quasi-identifier may have
    hierarchy: Any = None,
    *,
    intervals: Sequence[float] | None = None,
    mask: str | None = None,
    dates: Sequence[str] | None = None,
    ranges: bool | None = None,
    least: int | None = None,
    weight: float | None = None,
    public_domain: bool | None = None,
    aggregate: str | None = None,
    noise: Chance | None = None,
    swap: float | None = None,
    pram: Chance | None = None,
    round: float | None = None,  # noqa: A002 - the key of the policy
    top_code: Bound | None = None,
    bottom_code: Bound | None = None,
    **options: Any,
) -> Entry:
    """A column that others may know of a person, and that is published generalized.

    How it is generalized is one of these: `intervals`, a list of widths; `mask`, left or right; `dates`, a list of
    units; `ranges`, which the algorithm chooses; or a `hierarchy`: the word ``"suppress"`` or ``"sets"``, the path of a
    hierarchy file, a `Tree`, or whatever a tree is made of (a dict, a list of paths, a frame, a function, a graph).
    `options` are the other keys of its kind, such as ``domain=[0, 120]``, ``top=90`` or ``length=5``. `least`,
    `weight`, `public_domain` and `aggregate` are as in a policy file.

    `noise`, `swap`, `pram` and `round` mask the values before they are generalized, as the keys of these names do in a
    policy file. So do `top_code` and `bottom_code`, which are its keys ``top`` and ``bottom`` of the column: ``top``
    alone is the label of intervals from which on values share one.

    >>> quasi(intervals=[5, 10], top=90)
    {'role': 'quasi', 'hierarchy': {'intervals': [5, 10], 'top': 90}}
    >>> quasi({"Bern": "Switzerland", "Lyon": "France"})["hierarchy"]["lines"][0]
    ['Bern', 'Switzerland', '*']
    """
    kinds = {"intervals": intervals, "mask": mask, "dates": dates, "ranges": ranges}
    given = {name: value for name, value in kinds.items() if value is not None}
    if (hierarchy is not None) + len(given) > 1:
        names = [*given, *(["hierarchy"] if hierarchy is not None else [])]
        raise PolicyError(f"a column is generalized in one way, and here are {' and '.join(names)}; leave one out")
    if options and not given:
        raise PolicyError(f"{next(iter(options))} goes with intervals, mask, dates or ranges; give one of them")
    written = given | options if given else _write_hierarchy(hierarchy)
    masks = {"top": top_code, "bottom": bottom_code, "noise": noise, "swap": swap, "pram": pram, "round": round}
    rules = {"least": least, "weight": weight, "public_domain": public_domain, "aggregate": aggregate}
    return _entry("quasi", hierarchy=written, **rules, **masks)


def sensitive(  # noqa: PLR0913 - as many masks as there are
    hierarchy: Any = None,
    *,
    noise: Chance | None = None,
    swap: float | None = None,
    pram: Chance | None = None,
    round: float | None = None,  # noqa: A002 - the key of the policy
    top: Bound | None = None,
    bottom: Bound | None = None,
) -> Entry:
    """A column that nobody may learn of a person; its hierarchy, if it has one, is for distances between values.

    The others mask its values, as the keys of these names do in a policy file.

    >>> sensitive(noise=0.1, bottom=0)
    {'role': 'sensitive', 'bottom': 0, 'noise': 0.1}
    """
    masks = {"top": top, "bottom": bottom, "noise": noise, "swap": swap, "pram": pram, "round": round}
    return _entry("sensitive", hierarchy=_write_hierarchy(hierarchy), **masks)


def identifier() -> Entry:
    """A column that names a person by itself, and is never published.

    >>> identifier()
    {'role': 'identifier'}
    """
    return _entry("identifier")


def individual(key: str | os.PathLike[str] | None = None) -> Entry:
    """The column that says which rows are the same person's, published as pseudonyms: random, or under a `key`.

    >>> individual("person.key")
    {'role': 'individual', 'key': 'person.key'}
    """
    return _entry("individual", key=None if key is None else os.fspath(key))


def plain(
    *,
    noise: Chance | None = None,
    swap: float | None = None,
    pram: Chance | None = None,
    round: float | None = None,  # noqa: A002 - the key of the policy
    top: Bound | None = None,
    bottom: Bound | None = None,
) -> Entry:
    """A column that is published as it is, or masked, as the keys of these names do in a policy file.

    >>> plain(pram={"keep": 0.8, "invariant": True})
    {'role': 'plain', 'pram': {'keep': 0.8, 'invariant': True}}
    """
    masks = {"top": top, "bottom": bottom, "noise": noise, "swap": swap, "pram": pram, "round": round}
    return _entry("plain", **masks)


def weight(*, round: float | None = None) -> Entry:  # noqa: A002 - the key of the policy
    """The column of sampling weights, published as they are or rounded to multiples of `round`.

    >>> weight(round=10)
    {'role': 'weight', 'round': 10}
    """
    return _entry("weight", round=round)


def _entry(role: str, **keys: Any) -> Entry:
    return {"role": role} | {name: value for name, value in keys.items() if value is not None}


def _write_hierarchy(hierarchy: Any) -> Any:
    """Write a hierarchy as a policy has it: a word, a path, a table of a kind, or the lines of a tree."""
    if hierarchy is None or isinstance(hierarchy, str | PurePath) or is_kind_of_hierarchy(hierarchy):
        return hierarchy
    if callable(hierarchy) and not isinstance(hierarchy, Tree):
        return hierarchy  # its lines are known when a table is
    return {"lines": [list(line) for line in Tree.of(hierarchy).lines]}
