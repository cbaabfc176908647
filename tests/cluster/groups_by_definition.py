"""MDAV, V-MDAV and the best groups on a line, written from their definitions in exact numbers, a row at a time."""

from collections.abc import Sequence
from fractions import Fraction

Row = tuple[int, ...]


def mdav_by_definition(rows: Sequence[Row], k: int) -> list[list[Row]]:
    """MDAV's groups in the order of their forming; of rows at equal distances the smaller comes first."""
    left, groups = sorted(rows), list[list[Row]]()

    def take(centre: Row) -> None:
        nearest = sorted(range(len(left)), key=lambda i: (_square(left[i], centre), left[i]))[:k]
        groups.append([left[i] for i in nearest])
        for i in sorted(nearest, reverse=True):
            del left[i]

    def farthest(centre: Sequence[Fraction | int]) -> Row:
        return min(left, key=lambda row: (-_square(row, centre), row))

    while len(left) >= 3 * k:
        edge = farthest(_mean(left))
        take(edge)
        take(farthest(edge))
    if len(left) >= 2 * k:
        take(farthest(_mean(left)))
    if left:
        groups.append(left)
    return groups


def v_mdav_by_definition(rows: Sequence[Row], k: int, gamma: Fraction) -> list[list[Row]]:
    """V-MDAV's groups; a group grows only while at least k other rows are left."""
    left, groups = sorted(rows), list[list[Row]]()
    middle = _mean(left)
    while len(left) >= k:
        edge = min(left, key=lambda row: (-_square(row, middle), row))
        group = sorted(left, key=lambda row: (_square(row, edge), row))[:k]
        for row in group:
            left.remove(row)
        while len(group) < 2 * k - 1 and len(left) > k:
            nearest = min(left, key=lambda row: (min(_square(row, member) for member in group), row))
            to_group = min(_square(nearest, member) for member in group)
            others = list(left)
            others.remove(nearest)
            if not to_group < gamma**2 * min(_square(nearest, other) for other in others):
                break
            left.remove(nearest)
            group.append(nearest)
        groups.append(group)
    assigned = [(row, number) for number, group in enumerate(groups) for row in group]
    for row in left:
        room = [(_square(row, other), other, number) for other, number in assigned if len(groups[number]) < 2 * k - 1]
        groups[min(room)[2]].append(row)
    return groups


def best_on_a_line(numbers: Sequence[float], k: int) -> float:
    """The least sum of squares of groups of at least k numbers: groups are runs, found one number after the other."""
    ordered = sorted(numbers)
    best = [0.0] + [float("inf")] * len(ordered)
    for end in range(k, len(ordered) + 1):
        for start in range(max(0, end - 2 * k + 1), end - k + 1):
            run = ordered[start:end]
            mean = sum(run) / len(run)
            best[end] = min(best[end], best[start] + sum((number - mean) ** 2 for number in run))
    return best[-1]


def _square(row: Sequence[Fraction | int], other: Sequence[Fraction | int]) -> Fraction | int:
    return sum((a - b) ** 2 for a, b in zip(row, other, strict=True))


def _mean(rows: Sequence[Row]) -> list[Fraction]:
    return [Fraction(sum(column), len(rows)) for column in zip(*rows, strict=True)]
