"""The lattice: slices of it are generalizations and specializations, and minimal nodes are minimal."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.recode.lattice import Lattice, generalizations, minimal, outer_sum, specializations

HEIGHTS = st.lists(st.integers(1, 3), min_size=1, max_size=4).map(tuple)


def below(low: tuple[int, ...], high: tuple[int, ...]) -> bool:
    """Whether a node is another one or a specialization of it."""
    return all(a <= b for a, b in zip(low, high, strict=True))


def every(lattice: Lattice) -> list[tuple[int, ...]]:
    """All nodes, one by one."""
    return list(itertools.product(*(range(levels) for levels in lattice.shape)))


@given(HEIGHTS, st.data())
def test_slices_are_the_nodes_above_and_below(heights: tuple[int, ...], data: st.DataObject) -> None:
    """Marking a slice marks the node and all that is more (or less) general, and nothing else."""
    lattice = Lattice(heights)
    node = data.draw(st.sampled_from(every(lattice)))
    up, down = np.zeros(lattice.shape, dtype=np.bool_), np.zeros(lattice.shape, dtype=np.bool_)
    up[generalizations(node)], down[specializations(node)] = True, True
    for other in every(lattice):
        assert up[other] == below(node, other)
        assert down[other] == below(other, node)


@given(HEIGHTS, st.integers(0, 10**9))
def test_minimal_is_its_definition(heights: tuple[int, ...], seed: int) -> None:
    """A marked node is minimal if no other marked node lies below it."""
    lattice = Lattice(heights)
    mask = np.random.default_rng(seed).random(lattice.shape) < 0.3
    marked = [node for node in every(lattice) if mask[node]]
    alone = [node for node in marked if not any(below(other, node) for other in marked if other != node)]
    assert sorted(lattice.nodes(minimal(mask))) == alone


@given(HEIGHTS)
def test_size_heights_parents_and_order(heights: tuple[int, ...]) -> None:
    """Nodes are counted, listed lowest first, and have one parent per attribute that can still climb."""
    lattice = Lattice(heights)
    nodes = lattice.nodes(np.ones(lattice.shape, dtype=np.bool_))
    assert len(nodes) == lattice.size
    assert (nodes[0], nodes[-1]) == (lattice.bottom, lattice.top)
    assert nodes == sorted(nodes, key=lambda node: (sum(node), node))
    for node in nodes:
        assert lattice.height[node] == sum(node)
        parents = list(lattice.parents(node))
        assert len(parents) == sum(level < top for level, top in zip(node, heights, strict=True))
        assert all(below(node, parent) and sum(parent) == sum(node) + 1 for parent in parents)


@given(st.lists(st.lists(st.integers(-9, 9), min_size=1, max_size=3), min_size=1, max_size=4))
def test_outer_sum(parts: list[list[int]]) -> None:
    """An entry is the sum of its levels' entries."""
    total = outer_sum([np.array(part) for part in parts])
    for node in np.ndindex(*total.shape):
        assert total[node] == sum(part[level] for part, level in zip(parts, node, strict=True))
