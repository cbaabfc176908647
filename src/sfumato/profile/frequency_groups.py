"""Groups of categories that nobody has a tree for: by how many rows have them, with labels that say what they cover.

Values of very few rows come together first, then the next frequent ones until each group has enough rows; where values
have numbers in them, as age groups do, those that follow each other. A label names the first members of its group and
counts the others: ``cook, nurse and 3 others``. No label names a value of very few rows. What the groups mean only
somebody who knows the values can say: the file is there to be edited.
"""

import re
from collections.abc import Collection, Sequence
from itertools import accumulate

_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")
_NUMBERED = 0.8
"""The share of values with a number in them from which on they follow each other."""

_NAMED = 3
_LONGEST_NAME = 30
_SHARES = (12, 4)
"""After groups of enough rows, groups of about so many parts of all rows."""

Lines = tuple[tuple[str, ...], ...]
"""The lines of a hierarchy file: value, groups and root."""


def group_lines(counts: dict[str, int], few: int, enough: int) -> Lines:
    """Write the lines of the file: value, groups and root; without levels that would change nothing.

    Values of fewer than `few` rows come together on the first level. On the next ones values come together in the order
    of their frequency, or of their numbers, until each group has `enough` rows, and then a twelfth and a fourth of all.

    >>> counts = {"cook": 30, "nurse": 40, "smith": 3, "tailor": 8, "usher": 20, "vet": 14, "wright": 12}
    >>> for line in group_lines(counts, 10, 15):
    ...     print(*line, sep=" < ")
    nurse < nurse < nurse < nurse < *
    cook < cook < cook < cook, usher < *
    usher < usher < usher < cook, usher < *
    vet < vet < vet, wright and 2 others < vet, wright and 2 others < *
    wright < wright < vet, wright and 2 others < vet, wright and 2 others < *
    smith < rare values < vet, wright and 2 others < vet, wright and 2 others < *
    tailor < rare values < vet, wright and 2 others < vet, wright and 2 others < *
    """
    rare = find_rare_values(counts, few)
    frequent = sorted((value for value in counts if value not in rare), key=lambda value: (-counts[value], value))
    numbers = {value: float(found[0]) for value in frequent if (found := _NUMBER.search(value))}
    if len(numbers) > _NUMBERED * len(frequent):
        frequent.sort(key=lambda value: (numbers.get(value, float("inf")), value[:1].isdigit(), value))
    groups: list[tuple[str, ...]] = [(value,) for value in frequent]
    if rare:
        groups.append(tuple(sorted(rare)))
    order = [value for group in groups for value in group]
    total = sum(counts.values())
    levels: list[dict[str, str]] = []
    labels = len(counts)
    for target in (0, enough, *(max(enough, -(-total // share)) for share in _SHARES)):
        groups = _merge(groups, counts, target)
        if 1 < len(groups) < labels:  # fewer labels than the level before, and more than the root
            levels.append(_name_groups(groups, counts, rare))
            labels = len(groups)
    if not levels:
        return ()
    return separate_labels(tuple((value, *(level[value] for level in levels), "*") for value in order))


def find_rare_values(counts: dict[str, int], enough: int) -> dict[str, int]:
    """Find the values with too few rows, and the next ones until they have enough together; none if all are frequent.

    A single rare value, in the end, is none: there is nothing to put it together with.

    >>> find_rare_values({"cook": 30, "smith": 3, "vet": 14}, 10)
    {'smith': 3, 'vet': 14}
    """
    order = sorted(counts, key=lambda value: (counts[value], value))
    rows_before = accumulate((counts[value] for value in order), initial=0)
    rare = {
        value: counts[value]
        for value, before in zip(order, rows_before, strict=False)
        if counts[value] < enough or 0 < before < enough
    }
    return rare if len(rare) > 1 else {}


def _merge(groups: Sequence[tuple[str, ...]], counts: dict[str, int], target: int) -> list[tuple[str, ...]]:
    """Put neighbours together until each group has so many rows; what is left over goes to the last one."""
    merged: list[tuple[str, ...]] = []
    current: tuple[str, ...] = ()
    rows = 0
    for group in groups:
        current += group
        rows += sum(counts[value] for value in group)
        if rows >= target:
            merged.append(current)
            current, rows = (), 0
    if current:
        merged[-1:] = [merged[-1] + current] if merged else [current]
    return merged


def _name_groups(groups: Sequence[tuple[str, ...]], values: Collection[str], rare: Collection[str]) -> dict[str, str]:
    """Give each value the label of its group; no two groups have one, and none of several values is called like one."""
    label_of: dict[str, str] = {}
    taken = set(values)
    for group in groups:
        label = base = _label(group, rare)
        number = 2
        while len(group) > 1 and label in taken:
            label, number = f"{base} ({number})", number + 1
        taken.add(label)
        label_of |= dict.fromkeys(group, label)
    return label_of


def _label(group: tuple[str, ...], rare: Collection[str]) -> str:
    """Name a group by its first members, none of them rare, and count the others."""
    frequent = [value for value in group if value not in rare]
    if not frequent:
        return "rare values"
    if len(group) == 1:
        return group[0]
    named = [value if len(value) <= _LONGEST_NAME else value[: _LONGEST_NAME - 1] + "…" for value in frequent[:_NAMED]]
    others = len(group) - len(named)
    return ", ".join(named) + (f" and {others} other{'s' if others > 1 else ''}" if others else "")


def separate_labels(lines: Lines, start: int = 0) -> Lines:
    """Change labels that stand for other values on another level, or are a value of their own, until none does.

    Local recoding mixes levels: whoever reads ``other`` has to know which values it covers. A label that covers the
    same values on several levels stays. Levels below `start` are never published and do not count.

    >>> separate_labels((("rare", "rare", "*"), ("a", "a", "*"), ("c", "rare", "*")))
    (('rare', 'rare (level 1)', '*'), ('a', 'a', '*'), ('c', 'rare (level 1)', '*'))
    """
    if not lines:
        return lines
    columns = [[line[level] for line in lines] for level in range(len(lines[0]))]
    every_text = {text for column in columns for text in column}
    covered: dict[str, tuple[int, ...]] = {}
    for level in range(start, len(columns) - 1):
        members: dict[str, list[int]] = {}
        for place, text in enumerate(columns[level]):
            members.setdefault(text, []).append(place)
        for text, places in members.items():
            name, number = text, level
            while level and (name == "*" or covered.get(name, tuple(places)) != tuple(places)):
                name, number = f"{text} (level {number})", number + 1
                while name in every_text:  # a value of the column may be called like that
                    name, number = f"{text} (level {number})", number + 1
            covered[name] = tuple(places)
            if name != text:
                every_text.add(name)
                for place in places:
                    columns[level][place] = name
    return tuple(zip(*columns, strict=True))
