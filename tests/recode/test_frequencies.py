"""Frequency sets: rolled up, they are what counting from scratch gives."""

from collections import Counter
from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from sfumato.checks.exhaustive import classes, every_outcome
from sfumato.checks.tables import Case, random_case
from sfumato.recode.evaluate import Evaluator
from sfumato.recode.frequencies import Frequencies
from sfumato.recode.subsets import grow, join, nothing, survivors
from sfumato.recode.witness import Witnesses

Evaluating = Callable[[Case], Evaluator]


def as_counter(found: Frequencies) -> Counter[tuple[int, ...]]:
    """The tuples of a set and their counts."""
    codes = [column.tolist() for column in found.columns]
    return Counter(dict(zip(zip(*codes, strict=True), found.counts.tolist(), strict=True)))


@pytest.mark.parametrize("seed", range(15))
def test_rolling_up_is_counting_from_scratch(seed: int, evaluator: Evaluating) -> None:
    """By whatever way a node is reached, its classes hold the rows that share its labels."""
    case = random_case(Random(f"frequencies {seed}"))
    fresh, used = evaluator(case), evaluator(case)
    nodes = used.lattice.nodes(np.ones(used.lattice.shape, dtype=np.bool_))
    for node in nodes:
        counted = classes(case, node)
        grouped = used.roller.group(used.frequencies(node))
        assert sorted(grouped.classes.sizes.tolist()) == sorted(map(len, counted.values()))
        assert as_counter(used.frequencies(node)) == as_counter(fresh.roller.roll_up(fresh.roller.base(), node))
        _same_labels(case, node, used)


def _same_labels(case: Case, node: tuple[int, ...], evaluator: Evaluator) -> None:
    """Each class has the rows of the labels that stand for it, and their sensitive values."""
    grouped = evaluator.roller.group(evaluator.frequencies(node))
    codes = grouped.labels(np.ones(len(grouped.classes), dtype=np.bool_))[: len(node)]
    named = [
        tuple(evaluator.roller.hierarchies[i].labels[level][code] for code in codes[i]) for i, level in enumerate(node)
    ]
    counted = classes(case, node)
    for number, labels in enumerate(zip(*named, strict=True)):
        assert grouped.classes.sizes[number] == len(counted[labels])
        for column, lines in grouped.classes.sensitive.items():
            here = lines.class_of == number
            found = {
                lines.domain.values[value]: n for value, n in zip(lines.value[here], lines.count[here], strict=True)
            }
            assert found == Counter(row[column] for row in counted[labels])
    persons = [
        len({row["person"] for row in members}) if "person" in case.columns else len(members)
        for members in counted.values()
    ]
    assert sorted(grouped.classes.persons.tolist()) == sorted(persons)


@pytest.mark.parametrize("seed", range(40))
def test_subsets_rule_out_no_node_that_passes(seed: int, evaluator: Evaluating) -> None:
    """What is left after looking at subsets, and what is joined from them, has every passing node in it."""
    case = random_case(Random(f"subsets {seed}"))
    search = evaluator(case)
    viable = nothing()
    for size in range(1, len(case.quasi)):
        viable = dict(grow(search, size, viable))
    joined = join(tuple(range(len(case.quasi))), viable, search.lattice.shape)
    for largest in (1, 3):
        left = survivors(search, largest)
        for node, one in every_outcome(case).items():
            assert not one.passes or (left[node] and joined[node])


@pytest.mark.parametrize("seed", range(15))
def test_a_node_that_is_not_viable_rules_out_what_lies_below(seed: int, evaluator: Evaluating) -> None:
    """No specialization of a node that is not viable passes, and none suppresses fewer rows than are doomed."""
    case = random_case(Random(f"viable {seed}"))
    search, outcomes = evaluator(case), every_outcome(case)
    for node, one in outcomes.items():
        grouped, _, doomed = search.judge(node)
        lost = float((grouped.classes.sizes * doomed).sum())
        viable = search.evaluate(node).viable
        for other, specialized in outcomes.items():
            if all(low <= high for low, high in zip(other, node, strict=True)):
                assert specialized.suppressed >= lost - 1e-9
                assert viable or not specialized.passes
        assert search.evaluate(node).suppressed == one.suppressed


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
            assert sizes[node] == len(classes(case, node)[labels])
