"""The data dictionary of a release: the manifest's entry of each column, which says what the column's labels cover.

Whoever answers a query from a release, or looks somebody up in it, has to know which values ``white-collar`` or ``*``
may stand for. An entry says it as the policy declares it; nothing depends on the rows, except that labels which are not
published are left out, and with them the leaves of a file that no published row holds: a hierarchy file may have been
made from the table, and a value that only a suppressed row had is nobody's business. A column of `public_domain` has
all leaves listed. These keys are about labels:

========================  =============================================================================
``integers``, ``domain``  labels are ranges of whole numbers or not, within a domain
``dates, date_format``    labels are units of the calendar, and dates are written in a format
``mask``                  labels are texts with characters starred out: ``side``, ``length``
``form``                  labels are ``sets``, ranges in some form, or ``means``, ``medians``, ``modes`` of classes
``covers``                the leaves of a hierarchy file under each label that is not a leaf itself
``different_leaves``      how many leaves there are, where they are too many to be listed
``least``                 the lowest level that is published; leaves below it are not listed
========================  =============================================================================

Where an entry says nothing, each label is a value.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from sfumato.hierarchy import Dates, File, Intervals, Mask, Ranges, Sets
from sfumato.hierarchy.hierarchy import ROOT, Label
from sfumato.policy import Column, Policy
from sfumato.policy.class_aggregates import AGGREGATE_FORMS

Entry = Mapping[str, Any]

VALUES, NUMBERS, DATES, MASKS = "values", "numbers", "dates", "masks"

_LISTED_LEAVES = 10_000
"""A hierarchy file whose labels cover more leaves than this, all in all, is described by the number of its leaves."""


def label_kind(entry: Entry) -> str:
    """Tell what the labels of a column are: numbers and ranges, dates, masked texts, or values and sets of them.

    >>> label_kind({"integers": True}), label_kind({"form": "sets"}), label_kind({})
    ('numbers', 'values', 'values')
    """
    keys = {"integers": NUMBERS, "dates": DATES, "mask": MASKS}
    return next((kind for key, kind in keys.items() if key in entry), VALUES)


def is_aggregate(entry: Entry) -> bool:
    """Tell whether labels are means, medians or modes of classes, which do not say what values they stand for.

    >>> is_aggregate({"integers": True, "form": "means"}), is_aggregate({"form": "sets"})
    (True, False)
    """
    return entry.get("form") in AGGREGATE_FORMS.values()


def describe_labels(
    column: Column,
    labels: Iterable[Label],
    *,
    level: int | None = None,
    nulls: Sequence[str] = ("",),
    public: bool = True,
    held: Collection[Label] | None = None,
) -> dict[str, Any]:
    """Write the part of a column's entry that says what its published labels cover.

    `level` is that of all labels, where they have one; `nulls` are the texts that the policy reads as NULL. A `public`
    entry lists no leaf more exactly than the policy's `least` allows, and no leaves at all where there are many. `held`
    are the values that published rows have: of a hierarchy file only these are listed, or all leaves without it.

    >>> from sfumato.policy import Role
    >>> describe_labels(Column("age", Role.QUASI, Intervals([5, 10], domain=[0, 119])), ["35-39"])
    {'integers': True, 'domain': [0, 119]}
    >>> describe_labels(Column("zip", Role.QUASI, Mask("right")), ["435*"])
    {'mask': {'side': 'right'}}
    """
    match column.hierarchy:
        case File() as file:
            lines = file.lines if held is None else file.lines_of(held, nulls)
            leaves = _leaves_of_labels(lines, level, nulls, least=column.least, leaf=column.least if public else 0)
            if None in (held or ()) and None not in leaves.get(ROOT, [None]):
                leaves[ROOT].append(None)  # a file without a line for NULL leaves it NULL, up to the root
            # A label that is a leaf itself needs no explanation.
            covers = {
                label: under
                for label in labels
                if label is not None and (under := leaves.get(label, [label])) != [label]
            }
            if public and sum(map(len, covers.values())) > _LISTED_LEAVES:
                return {"different_leaves": len(leaves[ROOT])}
            return {"covers": covers} if covers else {}
        case Intervals() | Ranges() as numbers:
            return {"integers": numbers.is_whole} | ({"domain": list(numbers.domain)} if numbers.domain else {})
        case Dates() as dates:
            return {"dates": list(dates.dates)} | ({"date_format": dates.format} if dates.format else {})
        case Mask() as mask:
            return {"mask": {"side": mask.mask} | ({"length": mask.length} if mask.length else {})}
    return {}


def _leaves_of_labels(
    lines: Sequence[Sequence[str]], level: int | None, nulls: Sequence[str], *, least: int, leaf: int
) -> dict[str, list[Label]]:
    """List the leaves under each label of a file's lines, from the level `least` on; those of level `leaf` are leaves.

    A text on several levels covers what it does on the lowest, unless `level` says which is published.
    """
    leaves: dict[str, list[Label]] = {}
    top = len(lines[0]) - 1 if lines else least - 1
    for height in range(least, top + 1) if level is None else (level, top):
        here: dict[str, dict[Label, None]] = {}
        for cells in lines:
            null = all(cell in nulls for cell in cells[: leaf + 1])
            here.setdefault(cells[height], {})[None if null else cells[leaf]] = None
        leaves = {label: list(under) for label, under in here.items()} | leaves
    return leaves


def entry_from_policy(policy: Policy, name: str, labels: Iterable[Label], *, level: int | None = None) -> Entry:
    """Write the entry of a quasi-identifier for somebody who has the policy itself, so that every label is explained.

    >>> k = {"model": "k-anonymity", "k": 2}
    >>> policy = Policy.read({"columns": {"town": {"role": "quasi", "hierarchy": "sets"}}, "privacy": [k]})
    >>> entry_from_policy(policy, "town", ["{Bern, Thun}"])
    {'form': 'sets'}
    """
    column = policy.columns[name]
    form = {"form": "sets"} if isinstance(column.hierarchy, Sets) else {}
    return form | describe_labels(column, labels, level=level, nulls=policy.source.null, public=False)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")


def _is_list(value: Any, is_item: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and bool(value) and all(map(is_item, value))


def _is_leaf(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _is_mask(value: Any) -> bool:
    length = value.get("length", 1) if isinstance(value, dict) else None
    return isinstance(length, int) and length > 0 and value.get("side") in {"left", "right"}


_FORMS: dict[str, Callable[[Any], bool]] = {
    "name": _is_text,
    "role": _is_text,
    "type": _is_text,
    "form": _is_text,
    "table": _is_text,
    "covers": lambda value: isinstance(value, dict) and all(_is_list(leaves, _is_leaf) for leaves in value.values()),
    "integers": lambda value: isinstance(value, bool),
    "domain": lambda value: _is_list(value, _is_number) and len(value) == 2 and value[0] <= value[1],
    "dates": lambda value: _is_list(value, _is_text),
    "date_format": _is_text,
    "mask": _is_mask,
    "least": lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0,
}


def is_valid_entry(entry: Any) -> bool:
    """Whether an entry has a name, and all keys that mean something have the right form; anybody may have changed it.

    >>> is_valid_entry({"name": "age", "domain": [0, 119]}), is_valid_entry({"name": "age", "domain": "0-119"})
    (True, False)
    """
    if not isinstance(entry, dict) or "name" not in entry:
        return False
    return all(has_form(entry[key]) for key, has_form in _FORMS.items() if key in entry)
