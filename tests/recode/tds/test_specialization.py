"""Top-down specialization with the models of classes: cuts that pass, and that cannot be told more exactly."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random

import pytest

from sfumato.errors import Infeasible
from sfumato.models import MODELS
from sfumato.release import prepare
from sfumato.testing import TableCase, check_recoder, random_case
from sfumato.testing.model_definitions import Row, class_passes, links_pass
from sfumato.testing.recoder_contract import group_by_labels

CASES = 12
Cuts = Mapping[str, Mapping[str | None, str | None]]


def whole(model: str, number: int) -> Iterator[TableCase]:
    """Random cases of a model in which no row may go."""
    random = Random(model)
    for _ in range(number):
        yield random_case(random, model, "tds").with_algorithm(suppression=0)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_releases_keep_the_contract(model: str) -> None:
    """Whatever the model: what is published passes the verifier and the naive definitions."""
    assert check_recoder("tds", model, tables=4, seed=7).total() == 4


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_published_labels_are_a_cut_that_cannot_be_told_more_exactly(model: str, tmp_path: Path) -> None:
    """Each value has one label, none stands above another, and no label can be specialized alone and still pass."""
    released = 0
    for case in whole(model, CASES):
        try:
            rows = prepare(case.arrow(), case.policy(tmp_path)).tables["table"].arrow.to_pylist()
        except Infeasible:
            assert not good(case, [dict(row) | dict.fromkeys(case.quasi, "*") for row in case.rows])
            continue
        cuts = {name: cut(case, name, rows) for name in case.quasi}
        assert not [told for told in finer(case, cuts) if good(case, told)]
        released += 1
    assert released


def cut(case: TableCase, name: str, rows: list[Row]) -> dict[str | None, str | None]:
    """The label of each value of a column."""
    originals = {row["visits"]: row[name] for row in case.rows}
    pairs = {(originals[row["visits"]], row[name]) for row in rows}
    labels = {label for _, label in pairs}
    assert len(pairs) == len({value for value, _ in pairs})
    if name in case.trees:
        paths = [case.path(name, value) for value, _ in pairs]
        assert all(label in case.path(name, value) for value, label in pairs)
        assert all(len(labels & set(path)) == 1 for path in paths)
    return dict(pairs)


def finer(case: TableCase, cuts: Cuts) -> Iterator[list[dict[str, str | None]]]:
    """The rows with one label of one column with levels told more exactly, wherever it stands."""
    for name in (name for name in case.quasi if name in case.trees):
        for label in set(cuts[name].values()):
            told = {value: below(case, name, value, own) if own == label else own for value, own in cuts[name].items()}
            if told != cuts[name]:
                every: Cuts = {**cuts, name: told}
                yield [dict(row) | {column: every[column][row[column]] for column in case.quasi} for row in case.rows]


def below(case: TableCase, name: str, value: str | None, label: str | None) -> str | None:
    """The next label on the way down to a value."""
    path = case.path(name, value)
    return path[max(path.index(label) - 1, 0)]


def good(case: TableCase, rows: list[dict[str, str | None]]) -> bool:
    """Whether all classes pass by the naive definitions, and persons share their classes as far as is asked."""
    rules, classes = case.document["privacy"], group_by_labels(case, rows)
    return all(class_passes(rules, members, case.context) for members in classes) and links_pass(
        rules, classes, case.context
    )
