"""The attack on the worked example of the lossy-join paper, Tables 1 to 7."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from sfumato.attack.bound import Bound
from sfumato.attack.definetti import definetti, link_cells
from sfumato.attack.definetti_data import SampleLimits, draw_sample, merge_rare_values

TABLE_7 = [
    ("clerk 1975 4350", "HIV"),
    ("manager 1955 4350", "HIV"),
    ("clerk 1975 4350", "flu"),
    ("manager 1955 4350", "flu"),
    ("clerk 1955 5432", "flu"),
    ("factory worker 1955 5432", "flu"),
    ("clerk 1955 5432", "fever"),
    ("factory worker 1955 5432", "fever"),
    ("factory worker 1975 4350", "flu"),
    ("technical supporter 1940 4350", "flu"),
    ("factory worker 1975 4350", "fever"),
    ("technical supporter 1940 4350", "fever"),
]


def test_the_attack_begins_with_the_papers_join(paper: Any) -> None:
    """What lines are linked to at first is Table 7, each link with half a line."""
    tables, bag = paper.tables, merge_rare_values(paper.tables.bags["illness"])
    crowd = draw_sample(tables, SampleLimits.from_bag(100, 1000, 3, bag.merged), np.random.default_rng(1))
    join = link_cells(crowd, bag.merged, tables.sizes)
    texts = [[column.texts[code] for code in codes] for column, codes in zip(tables.quasi, crowd.codes, strict=True)]
    lines = [" ".join(parts) for parts in zip(*texts, strict=True)]
    values = bag.published.domain.values
    found = [(lines[join.profile[cell]], values[value]) for cell, value in zip(join.cell, join.value, strict=True)]
    assert Counter(found) == Counter(TABLE_7)
    assert join.even.tolist() == [0.5] * 12


def test_figures_of_the_paper(paper: Any) -> None:
    """The bag bound of 0.5 holds, and counting bags is right for one in two; six rows teach a learner little."""
    found = definetti(paper.tables, paper.original, {"illness": Bound(0.5)}).columns["illness"]
    assert (found.lines, found.sampled.trained, found.sampled.guessed, found.values) == (6, 6, 6, 3)
    assert (found.bound, found.largest_share, found.blind, found.random, found.bag) == (0.5,) * 5
    assert found.attack == pytest.approx(2 / 3)
    assert 0.5 < found.largest_posterior < 0.75
