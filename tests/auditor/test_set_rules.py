"""The rules on sets of rows, against their definitions."""

from typing import Any

import numpy as np
import pytest

from sfumato.auditor.column_audit import ColumnAudit, SetQuery, SetRules


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("rules", [SetRules(3, True), SetRules(1, False, 6), SetRules(5, True, 40)])
def test_sets_are_compared_as_the_rules_say(seed: int, rules: SetRules) -> None:
    """Seventy blocks of a few rows, of many, and of none that has a value; some are parted on the way."""
    rng = np.random.default_rng(seed)
    rows = rng.choice([0, 1, 1, 2, 9], 70)
    audit = ColumnAudit(rows, rules)
    answered: list[Any] = []
    base = rng.random(70) < 0.5
    for step in range(30):
        if step == 15:
            rows = np.r_[rows, rows[[3, 5]]]
            audit.change_blocks([[3, 5]], rows)
            answered = [np.r_[one, one[[3, 5]]] for one in answered]
            base = np.r_[base, base[[3, 5]]]
        asked = base ^ (rng.random(len(rows)) < rng.choice([0, 0.02, 0.1]))
        if step % 3 == 0:  # small sets, which overlap little
            asked &= rng.random(len(rows)) < 0.1

        few = any(
            0 < rows[one & ~other].sum() < rules.least_size
            for earlier in answered
            for one, other in ((asked, earlier), (earlier, asked))
        )
        many = rules.most_overlap is not None and any(
            rows[asked ^ earlier].sum() > 0 and rows[asked & earlier].sum() > rules.most_overlap for earlier in answered
        )
        wrong = rows[asked].sum() < rules.least_size or (rules.compared and few) or many
        assert (audit._object_to_sets([asked & (rows > 0)]) is not None) == wrong
        if not wrong or rng.random() < 0.2:
            audit._remember_set(asked & (rows > 0))
            answered.append(asked)
    query = SetQuery("x", "sum", base)
    assert audit.find_objection([query]) == ColumnAudit.from_arrays(audit.as_arrays(""), "", rules).find_objection(
        [query]
    )
