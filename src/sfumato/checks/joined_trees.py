"""Random taxonomies of every kind that has levels, written out as paths by hand: what policies say of them, besides."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from sfumato.checks.joined import Label, Path


@dataclass(frozen=True)
class Tree:
    """The leaves of a column with their paths, NULL last where it is one, and the hierarchy as a policy says it.

    A hierarchy without levels has leaves alone.
    """

    leaves: dict[Label, Path]
    hierarchy: Any
    levelled: bool = True

    @property
    def paths(self) -> dict[Label, Path]:
        """The path of every label, leaf or not.

        >>> Tree({"a": ("a", "ab", "*")}, "q.csv").paths["ab"]
        ('ab', '*')
        """
        return {path[i]: path[i:] for path in self.leaves.values() for i in reversed(range(len(path)))}


def random_tree(random: Random, column: str) -> Tree:
    """A tree with two to four leaves, sometimes with NULL as one more.

    >>> random_tree(Random(1), "q0").leaves
    {'q00': ('q00', '*'), 'q01': ('q01', '*'), 'q02': ('q02', '*'), 'q03': ('q03', '*')}
    """
    kind = random.choice(["file", "file", "file", "suppress", "intervals", "mask", "masked", "ranges"])
    return _KINDS[kind](random, column)


def _file(random: Random, column: str) -> Tree:
    """Up to two levels between leaves and root; where NULL has a line, it may stand under a group as others do."""
    leaves: list[Label] = [f"{column}{i}" for i in range(random.randint(2, 4))]
    leaves += [None] * (random.random() < 0.3)
    paths: dict[Label, Path] = {leaf: (leaf,) for leaf in leaves}
    for level in range(1, random.randint(1, 3)):
        groups = {path[-1]: f"{column}-{level}-{random.randint(0, 1)}" for path in paths.values()}
        paths = {leaf: (*path, groups[path[-1]]) for leaf, path in paths.items()}
    return Tree({leaf: (*path, "*") for leaf, path in paths.items()}, f"{column}.csv")


def _suppress(random: Random, column: str) -> Tree:
    return _tree(random, {f"{column}{i}": (f"{column}{i}", "*") for i in range(random.randint(2, 4))}, "suppress")


def _intervals(random: Random, _: str) -> Tree:
    widths = random.choice([[5], [5, 10], [2, 4, 12]])
    numbers = random.sample(range(24), random.randint(2, 4))
    paths: dict[Label, Path] = {str(n): (str(n), *(_bin(n, width) for width in widths), "*") for n in numbers}
    return _tree(random, paths, {"intervals": widths})


def _bin(number: int, width: int) -> str:
    first = number - number % width
    return f"{first}-{first + width - 1}"


def _mask(random: Random, _: str) -> Tree:
    """Codes of one to three characters: the last one that is masked leaves nothing."""
    codes = random.sample(["431", "432", "45", "4", "51", "512"], random.randint(2, 4))
    paths: dict[Label, Path] = {
        code: (code, *(code[:kept] + "*" * (len(code) - kept) for kept in range(len(code) - 1, 0, -1)), "*")
        for code in codes
    }
    return _tree(random, paths, {"mask": "right"})


def _masked(random: Random, _: str) -> Tree:
    """Codes of one length or shorter, as long as the longest: the masked characters say how far they were masked."""
    codes = random.sample(["abc", "abd", "ab", "xbc", "x"], random.randint(2, 4))
    paths: dict[Label, Path] = {
        code: (code, *(code[: 3 - stars] + "*" * stars for stars in (1, 2)), "*") for code in codes
    }
    return _tree(random, paths, {"mask": "right", "length": 3})


def _ranges(random: Random, _: str) -> Tree:
    numbers = [str(n) for n in random.sample(range(20), random.randint(2, 4))]
    return Tree({n: (n, "*") for n in numbers}, {"ranges": True}, levelled=False)


def _tree(random: Random, paths: dict[Label, Path], hierarchy: Any) -> Tree:
    """With NULL as a leaf under the root, sometimes."""
    return Tree(paths | ({None: (None, "*")} if random.random() < 0.2 else {}), hierarchy)


_KINDS: dict[str, Callable[[Random, str], Tree]] = {
    "file": _file,
    "suppress": _suppress,
    "intervals": _intervals,
    "mask": _mask,
    "masked": _masked,
    "ranges": _ranges,
}
