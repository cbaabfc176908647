"""A naive Bayes classifier from the sums of all parties."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.datasets import synthetic_adult
from sfumato.errors import DataError, PolicyError, RunAborted
from sfumato.party.local_parties import run_parties
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable
from sfumato.party.shared_naive_bayes import NaiveBayesModel, NaiveBayesTask
from sfumato.policy.section import Section

_SETTINGS: dict[str, Any] = {
    "class": "ill",
    "columns": ["sex", "age"],
    "values": {"ill": ["no", "yes"], "sex": ["f", "m"]},
    "bounds": {"age": [-5, 2_000_000]},
    "decimals": {"age": 2},
}
_ROW = st.tuples(st.sampled_from(["no", "yes"]), st.sampled_from("fm"), st.integers(-500, 200_000_000))


def _read(**settings: Any) -> NaiveBayesTask:
    section = Section.from_value(_SETTINGS | settings, "task", NaiveBayesTask.keys)
    return NaiveBayesTask.read(section, ("a", "b", "c"), ("a", "b"))


def _part(task: NaiveBayesTask, own: Any) -> Callable[[PartySession], Any]:
    return lambda session: task.run(session, own)


def _run(task: NaiveBayesTask, tables: list[pa.Table]) -> NaiveBayesModel:
    prepared = [task.prepare("x", PartyTable(table, "t.csv")) for table in tables]
    found = run_parties({name: _part(task, own) for name, own in zip("abc", prepared, strict=False)})
    assert found["a"] == found["b"]
    return NaiveBayesModel.from_json(found["a"])


@settings(max_examples=12, deadline=None)
@given(st.lists(st.lists(_ROW, min_size=1, max_size=8), min_size=2, max_size=3))
def test_the_model_is_that_of_the_joined_rows(parts: list[list[tuple[str, str, int]]]) -> None:
    """Counts are exact, and means and variances those of exact arithmetic, for numbers whose squares fill 62 bits."""
    tables = [
        pa.table(
            {
                "ill": [ill for ill, _, _ in rows],
                "sex": [sex for _, sex, _ in rows],
                "age": [f"{cents / 100:.2f}" for _, _, cents in rows],
            }
        )
        for rows in parts
    ]
    model, rows = _run(_read(), tables), [row for part in parts for row in part]
    assert model.class_counts == tuple(sum(ill == one for ill, _, _ in rows) for one in ("no", "yes"))
    counts, numbers = model.columns
    assert counts.counts.tolist() == [  # type: ignore[union-attr]
        [sum((ill, sex) == (one, other) for ill, sex, _ in rows) for other in "fm"] for one in ("no", "yes")
    ]
    for place, one in enumerate(("no", "yes")):
        own = [cents for ill, _, cents in rows if ill == one]
        if own:
            mean = sum(own) / len(own)
            spread = (len(own) * sum(x * x for x in own) - sum(own) ** 2) / len(own) ** 2
            assert numbers.means[place] == pytest.approx(mean / 100, rel=1e-14)  # type: ignore[union-attr]
            assert numbers.variances[place] == pytest.approx(spread / 10_000, rel=1e-14)  # type: ignore[union-attr]


@pytest.mark.slow
def test_it_foretells_as_scikit_learn_does() -> None:
    """On Adult, split among three, chances are those of GaussianNB and CategoricalNB fitted on all rows."""
    sklearn = pytest.importorskip("sklearn.naive_bayes")
    hours = np.random.default_rng(1).integers(0, 1000, 3000) / 10
    table = synthetic_adult(3000).append_column("hours", pa.array(hours))
    columns, numbers = ["workclass", "sex"], ["age", "hours"]
    task = NaiveBayesTask.read(
        Section(
            {
                "class": "salary-class",
                "columns": columns + numbers,
                "bounds": {"age": [0, 120], "hours": [0, 168]},
                "decimals": {"hours": 1},
            },
            "task",
        ),
        ("a", "b", "c"),
        ("a", "b"),
    )
    model = _run(task, [table.slice(0, 1000), table.slice(1000, 500), table.slice(1500)])
    rows = {name: table[name].to_pylist() for name in table.column_names}
    categories = {one.column: one.values for one in model.columns if hasattr(one, "values")}
    coded = np.array([[categories[name].index(value) for value in rows[name]] for name in columns]).T
    measured = np.array([[float(value) for value in rows[name]] for name in numbers]).T
    classes = rows["salary-class"]
    gaussian = sklearn.GaussianNB().fit(measured, classes)
    categorical = sklearn.CategoricalNB(min_categories=[len(categories[name]) for name in columns]).fit(coded, classes)
    expected = (
        gaussian.predict_joint_log_proba(measured)
        + categorical.predict_joint_log_proba(coded)
        - np.log(gaussian.class_prior_)
    )
    np.testing.assert_allclose(model.joint_log_likelihood(rows), expected, rtol=1e-9)
    assert model.predict(rows) == [model.classes[place] for place in expected.argmax(axis=1)]


def test_wrong_cells_are_refused_before_anything_is_sent() -> None:
    """Numbers outside of the bounds, with too many decimals, or none at all are named by their row."""
    for cell, sentence in (("-6", "bounds"), ("1.001", "decimals"), ("old", "no number"), (None, "no value")):
        table = pa.table({"ill": ["no", "no"], "sex": ["f", "f"], "age": ["1", cell]})
        with pytest.raises(DataError, match=f"'age' of row 2 .*{sentence}"):
            _read().prepare("a", PartyTable(table, "t.csv"))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"class": None}, "must name the column"),
        ({"class": "sex"}, "leave it out"),
        ({"class": "ill", "values": {}, "bounds": {"ill": [0, 1]}, "decimals": {}}, "classes are values"),
        ({"bounds": {"age": [5, 5]}}, "lower and a higher"),
        ({"bounds": {"age": [0, 1e9]}, "decimals": 9}, "steps of the last decimal"),
        ({"bounds": {"age": [0.001, 1]}}, "more than 2 decimals"),
        ({"bounds": {}}, "has decimals and no bounds"),
        ({"decimals": {"age": 10}}, "from 0 to 9"),
    ],
)
def test_wrong_settings_name_their_key(settings: dict[str, Any], sentence: str) -> None:
    """What a task cannot mean is a policy error with the key in it."""
    with pytest.raises(PolicyError, match=sentence):
        _read(**settings)


def test_a_model_needs_a_row() -> None:
    """Where nobody has a row, the run ends with a sentence."""
    empty = pa.table({name: pa.array([], pa.string()) for name in ("ill", "sex", "age")})
    with pytest.raises(RunAborted, match="no party has a row"):
        _run(_read(), [empty, empty])


def test_rows_that_the_model_does_not_know_are_refused() -> None:
    """A row with a value that no row had, or without a column, cannot be foretold."""
    model = _run(_read(), [pa.table({"ill": ["no"], "sex": ["f"], "age": ["1"]})] * 2)
    assert model.predict({"sex": ["m"], "age": [3]}) == ["no"]
    with pytest.raises(DataError, match="'sex' of row 1"):
        model.predict({"sex": ["x"], "age": [3]})
    with pytest.raises(DataError, match="no column 'age'"):
        model.predict({"sex": ["f"]})
