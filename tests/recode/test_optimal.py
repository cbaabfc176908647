"""What the optimal search rules out does not pass: by subsets of the attributes, and by single classes."""

from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from sfumato.recode.evaluation import Evaluator
from sfumato.recode.incognito import join_candidates, search_subsets, viable_without_attributes
from sfumato.recode.optimal import Witnesses, left_by_subsets, optimal, optimal_from_above
from sfumato.testing.exhaustive_search import classes_at, evaluate_every_node
from sfumato.testing.random_tables import TableCase, random_case

Evaluating = Callable[[TableCase], Evaluator]


@pytest.mark.parametrize("seed", range(40))
def test_subsets_rule_out_no_node_that_passes(seed: int, evaluator: Evaluating) -> None:
    """What is left after looking at subsets, and what is joined from them, has every passing node in it."""
    case = random_case(Random(f"subsets {seed}"))
    search = evaluator(case)
    viable = viable_without_attributes()
    for size in range(1, len(case.quasi)):
        viable = dict(search_subsets(search, size, viable))
    joined = join_candidates(tuple(range(len(case.quasi))), viable, search.lattice.shape)
    for largest in (1, 3):
        left = left_by_subsets(search, largest)
        for node, one in evaluate_every_node(case).items():
            assert not one.passes or (left[node] and joined[node])


@pytest.mark.parametrize("seed", range(60))
def test_from_above_the_same_node_is_found(seed: int, evaluator: Evaluating) -> None:
    """Looking at general nodes first finds the node that the usual search finds, or none where there is none."""
    case = random_case(Random(f"from above {seed}"))
    usual, above = optimal(evaluator(case)), optimal_from_above(evaluator(case))
    assert (usual and usual.node) == (above and above.node)


@pytest.mark.parametrize("seed", range(15))
def test_witnesses_know_their_class_at_every_node(seed: int, evaluator: Evaluating) -> None:
    """One pass over the tuples gives the size of one tuple's class at each node."""
    case = random_case(Random(f"witness {seed}"))
    search = evaluator(case)
    tuples = search.encoded.tuples
    witnesses = Witnesses(search.encoded, search.lattice, 3)
    for witness in range(0, len(tuples), 4):
        texts = [q.column.texts[codes[witness]] for q, codes in zip(search.encoded.quasi, tuples.quasi, strict=True)]
        sizes = witnesses.sizes(witness)
        for node in np.ndindex(*search.lattice.shape):
            labels = tuple(case.trees[name][v][i] for name, v, i in zip(case.quasi, texts, node, strict=True))
            assert sizes[node] == len(classes_at(case, node)[labels])
