"""Utility of a release is its definitions, per attribute and in total."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from sfumato.encode import encode
from sfumato.errors import Infeasible
from sfumato.recode import Recoding, recode
from sfumato.table import from_frame
from sfumato.testing import TableCase, random_case
from sfumato.testing.exhaustive_search import compute_loss, evaluate_node
from sfumato.utility import Utility, measure


def measured(folder: Path, number: int) -> Iterator[tuple[TableCase, Recoding, Utility]]:
    """Random cases that can be met, and what they cost."""
    for seed in range(number):
        case = random_case(Random(f"utility {seed}"))
        rules = case.policy(folder)
        encoded = encode(from_frame(case.arrow(), rules), rules)
        try:
            recoding = recode(encoded, rules)
        except Infeasible:
            continue
        yield case, recoding, measure(encoded, recoding)


@pytest.mark.slow
def test_totals_are_their_definitions(tmp_path: Path) -> None:
    """Distortion ratio, NCP, precision, entropy, discernibility and class size, with suppressed rows counted in."""
    suppressing = 0
    for case, recoding, found in measured(tmp_path, 150):
        assert recoding.levels is not None
        node = tuple(recoding.levels[name] for name in case.quasi)
        published, rows = evaluate_node(case, node).published, len(case.rows)
        kept = sum(map(len, published.values()))
        assert found.ncp == pytest.approx(compute_loss(case, node, published, "ncp"))
        assert found.distortion_ratio == pytest.approx(compute_loss(case, node, published, "distortion"))
        assert 1 - found.precision == pytest.approx(compute_loss(case, node, published, "precision"))
        assert found.entropy == pytest.approx(compute_loss(case, node, published, "entropy"))
        assert found.discernibility == round(compute_loss(case, node, published, "discernibility") * rows**2)
        assert found.average_class_size == pytest.approx(kept / len(published))
        assert found.suppressed_rows == rows - kept
        suppressing += found.suppressed_rows > 0
    assert suppressing > 10


@pytest.mark.slow
def test_parts_make_the_whole(tmp_path: Path) -> None:
    """The losses of attributes, by weight, are the loss of the table; cells that show nothing add up."""
    compared = 0
    for case, _, found in measured(tmp_path, 40):
        weights = [case.weight(name) for name in case.quasi]
        parts = [found.attributes[name].ncp for name in case.quasi]
        assert found.ncp * sum(weights) == pytest.approx(sum(w * part for w, part in zip(weights, parts, strict=True)))
        assert found.suppressed_cells == sum(part.suppressed_cells for part in found.attributes.values())
        assert all(part.suppressed_cells >= found.suppressed_rows for part in found.attributes.values())
        assert found.as_json()["attributes"].keys() == set(case.quasi)
        compared += 1
    assert compared > 10


@pytest.mark.slow
def test_stars_are_suppressed_cells(tmp_path: Path) -> None:
    """A cell counts as suppressed where its row is gone or its label covers the whole domain."""
    for case, recoding, found in measured(tmp_path, 40):
        for name, part in found.attributes.items():
            labels = recoding.labels[name]
            assert recoding.levels is not None
            if recoding.levels[name] == case.height(name):
                assert part.suppressed_cells == len(case.rows)
            elif not (labels.loss >= 1).any():
                assert part.suppressed_cells == found.suppressed_rows
