"""Frequency sets rolled up are what counting from scratch gives, and nodes that are ruled out do not pass."""

from collections import Counter
from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from sfumato.recode import frequency_sets
from sfumato.recode.evaluation import Evaluator
from sfumato.recode.frequency_sets import FrequencySet
from sfumato.testing.exhaustive_search import classes_at, evaluate_every_node
from sfumato.testing.random_tables import TableCase, random_case

Evaluating = Callable[[TableCase], Evaluator]


def as_counter(found: FrequencySet) -> Counter[tuple[int, ...]]:
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
        counted = classes_at(case, node)
        grouped = used.counter.group(used.frequencies(node))
        assert sorted(grouped.classes.sizes.tolist()) == sorted(map(len, counted.values()))
        assert as_counter(used.frequencies(node)) == as_counter(fresh.counter.roll_up(fresh.counter.at_bottom(), node))
        _same_labels(case, node, used)


@pytest.mark.parametrize(("limit", "size"), [("_LARGEST_DIGIT", 1), ("_LARGEST_DIGIT", 12), ("LARGEST_SPAN", 1)])
@pytest.mark.parametrize("seed", range(5))
def test_digits_of_any_size_roll_up_alike(
    limit: str, size: int, seed: int, evaluator: Evaluating, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many columns make a digit, and where keys are too wide for digits, the same tuples are counted."""
    search = evaluator(random_case(Random(f"digits {seed}")))
    nodes = search.lattice.nodes(np.ones(search.lattice.shape, dtype=np.bool_))
    expected = [as_counter(search.counter.roll_up(search.counter.at_bottom(), node)) for node in nodes]
    monkeypatch.setattr(frequency_sets, limit, size)
    assert [as_counter(search.counter.roll_up(search.counter.at_bottom(), node)) for node in nodes] == expected


def _same_labels(case: TableCase, node: tuple[int, ...], evaluator: Evaluator) -> None:
    """Each class has the rows of the labels that stand for it, and their sensitive values."""
    grouped = evaluator.counter.group(evaluator.frequencies(node))
    codes = grouped.labels(np.ones(len(grouped.classes), dtype=np.bool_))[: len(node)]
    named = [
        tuple(evaluator.counter.hierarchies[i].labels[level][code] for code in codes[i]) for i, level in enumerate(node)
    ]
    counted = classes_at(case, node)
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


@pytest.mark.parametrize("seed", range(15))
def test_a_node_that_is_not_viable_rules_out_what_lies_below(seed: int, evaluator: Evaluating) -> None:
    """No specialization of a node that is not viable passes, and none suppresses fewer rows than are doomed."""
    case = random_case(Random(f"viable {seed}"))
    search, outcomes = evaluator(case), evaluate_every_node(case)
    for node, one in outcomes.items():
        grouped, _, doomed = search.judge(node)
        lost = float((grouped.classes.sizes * doomed).sum())
        viable = search.evaluate(node).viable
        for other, specialized in outcomes.items():
            if all(low <= high for low, high in zip(other, node, strict=True)):
                assert specialized.suppressed >= lost - 1e-9
                assert viable or not specialized.passes
        assert search.evaluate(node).suppressed == one.suppressed
