"""What attackers of statistical databases do, as scripts: they get nothing."""

from itertools import combinations

import numpy as np
import pytest

from .conftest import Ledgers

PEOPLE = 30


def people(seed: int) -> dict[str, list[object]]:
    """Thirty people: a number each, a sex and an age, and a pay that may be below 0."""
    rng = np.random.default_rng(seed)
    return {
        "id": list(range(PEOPLE)),
        "sex": [("f", "m")[n % 2] for n in range(PEOPLE)],
        "age": rng.integers(20, 30, PEOPLE).tolist(),
        "pay": rng.integers(-50, 900, PEOPLE).tolist(),
    }


def test_differencing_gets_nothing(ledgers: Ledgers) -> None:
    """Everybody, and everybody but one."""
    ledger = ledgers(people(1), "pay", "id")
    assert ledger.ask("select sum(pay)").answered
    for target in range(PEOPLE):
        assert not ledger.ask(f"select sum(pay) where id <> {target}").answered
        assert not ledger.ask(f"select avg(pay) where not (id = {target})").answered


def test_the_individual_tracker_gets_nothing(ledgers: Ledgers) -> None:
    """Schlörer's tracker: C = A and B is one person, T = A and not B; q(C) = q(A) - q(T)."""
    data = people(2)
    ledger = ledgers(data, "pay", "sex,age,id")
    for target in range(PEOPLE):
        sex, age = data["sex"][target], data["age"][target]
        a = ledger.ask(f"select sum(pay) where sex = '{sex}'")
        t = ledger.ask(f"select sum(pay) where sex = '{sex}' and not (age = {age} and id = {target})")
        assert not (a.answered and t.answered)


@pytest.mark.parametrize("size", [5, 10])
def test_the_general_tracker_gets_nothing(size: int, ledgers: Ledgers) -> None:
    """Denning's: T of between 2k and n - 2k rows; q(C) = q(C or T) + q(C or not T) - q(T) - q(not T)."""
    ledger = ledgers(people(3), "pay", "id,sex", min_size=None if size == 5 else 3)
    tracker = "sex = 'f'"
    for target in range(PEOPLE):
        padded = [f"(id = {target} or {tracker})", f"(id = {target} or not {tracker})", tracker, f"not {tracker}"]
        said = [ledger.ask(f"select sum(pay) where {condition}").answered for condition in padded]
        assert not all(said)


def test_pairs_and_cycles_get_nothing(ledgers: Ledgers) -> None:
    """Overlapping triples solve for everybody in the end: they are answered as long as they solve for nobody."""
    data = people(4)
    ledger = ledgers(data, "pay", "id")
    triples = [one for one in combinations(range(8), 3) if ledger.ask(f"select sum(pay) where id in {one}").answered]
    rows = [[float(n in triple) for n in range(PEOPLE)] for triple in triples]
    matrix = np.array(rows)
    rank = np.linalg.matrix_rank(matrix)
    assert len(rows) > 3
    for target in range(8):
        unit = np.eye(PEOPLE)[target]
        assert np.linalg.matrix_rank(np.vstack([matrix, unit])) == rank + 1


def test_maxima_of_nested_sets_get_nothing(ledgers: Ledgers) -> None:
    """Whoever has the highest pay would show when the maximum of all but them is lower."""
    ledger = ledgers(people(5), "pay", "id")
    assert ledger.ask("select max(pay)").answered
    answered = [n for n in range(PEOPLE) if ledger.ask(f"select max(pay) where id <> {n}").answered]
    for n in answered:
        assert ledger.ask(f"select max(pay) where id <> {n}").rows == ledger.ask("select max(pay)").rows
    assert not ledger.ask("select max(pay) where id = 3").answered
    assert not ledger.ask("select min(pay) where id in (3, 4)").answered


def test_comments_and_tautologies_change_nothing(ledgers: Ledgers) -> None:
    """What is asked counts, and not how it is written."""
    ledger = ledgers(people(6), "pay", "id")
    assert ledger.ask("select sum(pay) where 1=1 or id = 'x' -- all of them").outcome == "refused"
    assert ledger.ask("select sum(pay) where 1=1 or id = 3 -- all of them").answered
    for sql in (
        "select sum(pay) /* id = 3 */ where id <> 3",
        "select sum(pay) where id <> 3 and 1=1",
        "select sum(pay) where (id < 3 or id > 3) or 1=2",
        "select sum(pay) where not id in (3)",
    ):
        assert ledger.ask(sql).outcome == "denied"
