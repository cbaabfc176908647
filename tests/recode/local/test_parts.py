"""Recoding in parts: every promise is kept, and it does not matter where, or in what order, parts are recoded."""

import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato import anonymize
from sfumato.core.worker_processes import VARIABLE
from sfumato.encode import encode
from sfumato.models import MODELS
from sfumato.policy import load
from sfumato.policy.options import LOCAL
from sfumato.recode.local import parts
from sfumato.recode.local.candidates import Candidate, Effort
from sfumato.recode.local.partition import SUPPRESSED, Partition
from sfumato.recode.local.parts import Part, PartRecoder, divide, recode_in_parts
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.start import choose_start, pose_problem
from sfumato.table import from_frame
from sfumato.testing import check_recoder
from sfumato.testing.random_tables import TableCase, random_case

Opens = Callable[[TableCase], Any]

EFFORT = Effort(lines=200_000, pairs=1_000_000)
ALGORITHMS = [name for name in LOCAL if name != "microaggregation"]
CASES = 10
SIZE = 4
"""Tuples of a part here, about."""


def in_order(recoder: PartRecoder, given: Sequence[Part], finished: Callable[[int], None]) -> list[Candidate]:
    """Recode the parts one after the other, in this process."""
    found = [recoder(part) for part in given]
    for place in range(len(given)):
        finished(place)
    return found


def elsewhere(recoder: PartRecoder, given: Sequence[Part], finished: Callable[[int], None]) -> list[Candidate]:
    """Recode the last part first, each as another process would: by copies that went through a pipe."""
    found: dict[int, Candidate] = {}
    for place in reversed(range(len(given))):
        there, part = pickle.loads(pickle.dumps((recoder, given[place])))  # noqa: S301 - our own
        found[place] = pickle.loads(pickle.dumps(there(part)))  # noqa: S301 - same
        finished(place)
    return [found[place] for place in range(len(given))]


def lines_of(partition: Partition) -> list[list[int]]:
    """All that a partition says, line by line."""
    lines = partition.combine_lines()
    return [part.tolist() for part in (lines.tuples, lines.rows, lines.group)]


def rows_of_tuples(problem: Problem, partition: Partition) -> list[float]:
    """Rows of each tuple, over all groups."""
    rows: list[float] = np.bincount(partition.tuples, partition.rows, len(problem.counts)).tolist()
    return rows


@pytest.mark.parametrize("model", MODELS)
def test_promises_are_kept_wherever_parts_are_recoded(model: str, opened: Opens) -> None:
    """Classes pass, no row is lost, no more rows are dropped than may be, and another place makes no difference."""
    random, divided = Random(f"parts {model}"), 0
    for number in range(10 * CASES):
        algorithm = ALGORITHMS[number % len(ALGORITHMS)]
        problem = choose_start(pose_problem(*opened(random_case(random, model, algorithm))))
        if problem is None:
            continue
        here, there = (
            recode_in_parts(problem, [algorithm], EFFORT, run=run, size=SIZE) for run in (in_order, elsewhere)
        )
        if here is None or there is None:
            assert here is there
            continue
        divided += 1
        best = here.partition
        assert problem.holds(best).all()
        assert rows_of_tuples(problem, best) == rows_of_tuples(problem, problem.start)
        assert best.rows[best.group == SUPPRESSED].sum() <= problem.requirement.limit
        assert lines_of(best) == lines_of(there.partition)
        if divided == CASES // 2:
            break
    assert divided == CASES // 2


@pytest.mark.parametrize("model", MODELS)
def test_every_part_passes_and_knows_the_whole_table(model: str, opened: Opens) -> None:
    """Each satisfies the whole requirement, has its least size, and counts shares of the table as the table does."""
    random = Random(f"whole {model}")
    for _ in range(CASES):
        problem = choose_start(pose_problem(*opened(random_case(random, model, "top-down"))))
        if problem is None or problem.start.groups > 1:
            continue
        pieces = divide(problem, 2)
        rows = int(problem.start.sizes.sum())
        assert sum(int(piece.rows.sum()) for piece in pieces) == rows
        assert [len(piece) for piece in pieces] == sorted((len(piece) for piece in pieces), reverse=True)
        recoder = PartRecoder.from_problem(problem, ["top-down"])
        made = list(parts._make_parts(problem, pieces, EFFORT))
        limit = problem.requirement.limit - int(problem.start.suppressed.rows.sum())
        assert sum(part.limit for part in made) <= limit
        for piece, part in zip(pieces, made, strict=True):
            posed = recoder._pose(part)
            assert posed.holds(posed.start).all()
            assert len(pieces) == 1 or int(piece.rows.sum()) >= rows // 4
            assert part.limit == limit * int(piece.rows.sum()) // rows
            ours, theirs = posed.count(posed.start), problem.count(Partition(piece.tuples, piece.rows, piece.group, 1))
            for name, histogram in theirs.sensitive.items():
                assert ours.sensitive[name].domain is histogram.domain
                assert ours.sensitive[name].count.tolist() == histogram.count.tolist()
            if theirs.individuals is not None and ours.individuals is not None:
                known = theirs.individuals.domain.totals[theirs.individuals.value]
                assert ours.individuals.count.tolist() == theirs.individuals.count.tolist()
                assert ours.individuals.domain.totals.tolist() == known.tolist()


def test_the_suppression_limit_is_never_exceeded_in_all() -> None:
    """What is left of it is shared out, rounded down, where rows were dropped before the table is cut."""
    problem = posed({"algorithm": {"name": "top-down", "suppression": 0.25}})
    rows, dropped = problem.counts, np.zeros(len(problem.counts), dtype=np.int64)
    dropped[:6] = 1
    lines = Partition(
        np.tile(np.arange(len(rows)), 2),
        np.concatenate([rows - dropped, dropped]),
        np.repeat([0, SUPPRESSED], len(rows)),
        1,
    )
    start = replace(problem, start=lines.select(lines.rows > 0))
    found = recode_in_parts(start, ["top-down"], EFFORT, run=in_order, size=5)
    assert found is not None
    best = found.partition
    assert start.holds(best).all()
    assert rows_of_tuples(start, best) == rows_of_tuples(start, start.start)
    assert 6 <= best.rows[best.group < 0].sum() <= start.requirement.limit == 15


@cache
def table(rows: int = 60) -> Any:
    """Codes with an illness, every other one HIV."""
    random = Random(3)
    codes = [f"{random.randrange(40):02}" for _ in range(rows)]
    towns = [random.choice(["Bern", "Thun", "Biel"]) for _ in range(rows)]
    illness = ["HIV" if row % 2 else random.choice(["flu", "cold"]) for row in range(rows)]
    return pa.table({"code": codes, "town": towns, "illness": illness})


def document(keys: dict[str, Any], *rules: dict[str, Any]) -> dict[str, Any]:
    """A policy for that table."""
    columns = {
        "code": {"role": "quasi", "hierarchy": {"mask": "right"}},
        "town": {"role": "quasi", "hierarchy": "suppress"},
        "illness": {"role": "sensitive"},
    }
    return {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}, *rules]} | keys


def posed(keys: dict[str, Any], *rules: dict[str, Any]) -> Problem:
    """The problem of that table."""
    policy = load(document(keys, *rules))
    return pose_problem(encode(from_frame(table(), policy), policy), policy)


def test_a_part_holds_codes_and_counts_alone() -> None:
    """What is sent grows with the part and not with the table; no name of a person and no plain cell is in it."""
    rows = 3000
    random = Random(5)
    people = [f"person-{row // 2}" for row in range(rows)]
    codes = [f"{random.randrange(10_000):04}" for _ in range(rows)]
    data = pa.table({"who": people, "code": codes, "note": [f"canary {row}" for row in range(rows)]})
    columns = {
        "who": {"role": "individual"},
        "code": {"role": "quasi", "hierarchy": {"mask": "right"}},
        "note": {"role": "plain"},
    }
    policy = load({"columns": columns, "privacy": [{"model": "identity-k-anonymity", "k": 2}]})
    problem = choose_start(pose_problem(encode(from_frame(data, policy), policy), policy))
    assert problem is not None
    recoder = PartRecoder.from_problem(problem, ["top-down"])
    made = list(parts._make_parts(problem, divide(problem, 10), EFFORT))
    sent = [pickle.dumps(recoder), *map(pickle.dumps, made)]
    assert len(made) >= 5
    assert max(map(len, sent[1:])) < 40 * max(len(part.counts) for part in made) + 4000
    assert not any(word in message for message in sent for word in (b"canary", b"person-"))


def test_processes_come_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release in parts is the same by one process and by three, and says how far it is all the way."""
    monkeypatch.setattr(parts, "_TUPLES", 8)
    found, told = [], list[int]()
    for count in ("1", "3"):
        monkeypatch.setenv(VARIABLE, count)
        release = anonymize(table(), document({}), progress=lambda done, _: told.append(done))
        found.append(sorted(map(str, release.table.to_pylist())))
    assert found[0] == found[1]
    alone, together = told[: len(told) // 2], told[len(told) // 2 :]
    assert len(alone) > 1
    assert alone == sorted(alone)
    assert together == sorted(together)
    assert alone[-1] == together[-1] == 60


def test_a_table_of_few_tuples_stays_in_one_piece(opened: Opens) -> None:
    """No process is started for it; nor is it cut where no cut passes, nor where it is not to be improved."""

    def refuse(*_: Any) -> list[Candidate]:
        raise AssertionError

    problem = posed({})
    assert recode_in_parts(problem, ["top-down"], EFFORT, run=refuse) is None
    assert recode_in_parts(problem, ["top-down"], None, run=refuse, size=5) is None
    uncut = posed({}, {"model": "distinct-l-diversity", "column": "illness", "l": 3}, {"model": "k-anonymity", "k": 60})
    assert recode_in_parts(uncut, ["top-down"], EFFORT, run=refuse, size=5) is None


def test_persons_who_are_linked_stay_in_one_piece() -> None:
    """Who shares all classes of a person is a question about the whole table."""
    people = pa.table({"who": [f"p{row // 2}" for row in range(60)], "code": table()["code"]})
    columns = {"who": {"role": "individual"}, "code": {"role": "quasi", "hierarchy": {"mask": "right"}}}
    for linked, pieces in [({}, True), ({"linked_k": 2}, False)]:
        policy = load({"columns": columns, "privacy": [{"model": "identity-k-anonymity", "k": 2, **linked}]})
        problem = pose_problem(encode(from_frame(people, policy), policy), policy)
        found = recode_in_parts(problem, ["top-down"], EFFORT, run=in_order, size=8)
        assert (found is not None) == pieces


def test_the_algorithm_of_most_rows_is_named(opened: Opens) -> None:
    """Parts may differ in which algorithm is the cheapest."""
    problem = posed({})
    found = recode_in_parts(problem, ["mondrian", "top-down"], EFFORT, run=in_order, size=8)
    assert found is not None
    assert found.algorithm in {"mondrian", "top-down"}
    assert found.improved


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["auto", "bottom-up"])
def test_the_contract_of_algorithms_holds_in_parts(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every release passes its definitions and the verifier, and does not depend on the order of rows."""
    monkeypatch.setenv(VARIABLE, "1")
    monkeypatch.setattr(parts, "_TUPLES", 3)
    check_recoder(algorithm)
