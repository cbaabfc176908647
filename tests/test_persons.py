"""Names have no part in a release: not as values, and not by their order."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.core.randomness import Randomness
from sfumato.encode import CodedColumn, _dense_ranks, number_persons
from sfumato.errors import Infeasible
from sfumato.policy.options import LOCAL
from sfumato.release import anonymize
from sfumato.release.pipeline import prepare
from sfumato.testing.random_tables import TableCase, random_case


def by_row(case: TableCase, folder: Path) -> dict[str, tuple[Any, ...]] | None:
    """The labels of each published row, which its visits tell; nothing where there is no release."""
    try:
        table = prepare(case.arrow(), case.policy(folder)).tables["table"].arrow
    except Infeasible:
        return None
    return {row["visits"]: tuple(row[name] for name in case.quasi) for row in table.to_pylist()}


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["auto", *LOCAL])
def test_other_names_change_nothing(algorithm: str, tmp_path: Path) -> None:
    """Persons who are called something else, in another order, get the same labels in every row."""
    draw = random.Random(algorithm)
    released = 0
    for _ in range(12):
        model = draw.choice(["identity-k-anonymity", "identity-kl-diversity", "identity-alpha-beta"])
        case = random_case(draw, model, algorithm)
        known = sorted({str(name) for name in case.columns["person"]})
        other = dict(zip(known, draw.sample(range(100, 999), len(known)), strict=True))
        renamed = case.columns | {"person": [f"n{other[str(name)]}" for name in case.columns["person"]]}
        before, after = by_row(case, tmp_path), by_row(TableCase(renamed, case.trees, case.document), tmp_path)
        assert before == after
        released += before is not None
    assert released >= 3


def test_who_is_dropped_does_not_go_by_name() -> None:
    """Of patients who are alike in all that is published, those with early names are dropped no more than others."""
    names = [f"N{number:03}" for number in range(200)]
    table = pa.table({"who": names, "zip": ["1"] * 200, "illness": ["flu"] * 160 + ["a", "b", "c", "d"] * 10})
    columns = {
        "who": {"role": "individual"},
        "zip": {"role": "quasi", "hierarchy": "suppress"},
        "illness": {"role": "sensitive"},
    }
    rule = {"model": "identity-alpha-beta", "column": "illness", "alpha": 0.5, "beta": 0.5}
    policy: dict[str, Any] = {"columns": columns, "privacy": [rule], "algorithm": {"suppression": 0.7}}
    gone = [np.flatnonzero(prepare(table, policy).recoding.class_of < 0) for _ in range(6)]
    assert all(len(rows) == 120 and rows.max() < 160 for rows in gone)
    assert all(rows.max() > 130 for rows in gone)
    assert len({tuple(rows) for rows in gone}) > 1


def test_numbers_follow_what_is_published() -> None:
    """The number of a person depends on their rows alone, whatever they are called and in which order these come."""
    rows = np.array([[0, 5], [0, 6], [1, 5], [2, 7]])
    expected = None
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(4)
        person = CodedColumn("who", rows[order, 0], ("c", "a", "b"), pa.array(["c", "a", "b"]))
        found = number_persons(person, [rows[order, 1]], Randomness())
        names = tuple(found.texts[code] for code in found.codes[np.argsort(order)])
        assert names == ("c", "c", "a", "b")
        assert found.values.to_pylist() == list(found.texts)
        expected = expected or found.texts
        assert found.texts == expected


def test_ranks_of_every_kind() -> None:
    """Plain columns of all kinds count: dictionaries, truth values, nothing at all."""
    kinds = {
        "dictionary": pa.chunked_array([pa.array(["b", "a", None]).dictionary_encode()]),
        "bool": pa.chunked_array([pa.array([True, False, None])]),
        "null": pa.chunked_array([pa.array([None, None, None])]),
        "view": pa.chunked_array([pa.array(["b", "a", None], pa.string_view())]),
    }
    ranks = [_dense_ranks(column).tolist() for column in kinds.values()]
    assert ranks == [[2, 1, 3], [2, 1, 3], [1, 1, 1], [2, 1, 3]]


def test_nothing_prints_names() -> None:
    """A release that is printed or logged shows no row."""
    table = pa.table({"who": ["CANARY1", "CANARY2"], "zip": ["1", "1"], "note": ["CANARY3", "CANARY4"]})
    columns = {
        "who": {"role": "individual"},
        "zip": {"role": "quasi", "hierarchy": "suppress"},
        "note": {"role": "plain"},
    }
    release = anonymize(table, {"columns": columns, "privacy": [{"model": "identity-k-anonymity", "k": 2}]})
    shown = (release, release.source, release.encoded, release.encoded.individual, release.recoding, release.tables)
    assert "CANARY" not in " ".join(map(repr, shown))
    assert repr(release) == f"<Release of 2 rows in 1 classes by {release.recoding.algorithm}>"
