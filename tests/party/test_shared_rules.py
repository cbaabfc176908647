"""Association rules over the baskets of all parties."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.datasets import quest_baskets
from sfumato.errors import DataError, PolicyError, RunAborted
from sfumato.party import shared_rules
from sfumato.party.local_parties import local_sessions, run_parties
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable
from sfumato.party.secure_sum import secure_count
from sfumato.party.shared_rules import RulesTask, close_downwards, describe_rules, find_border
from sfumato.policy.section import Section
from sfumato.rules import Baskets, mine
from sfumato.rules.frequent_itemsets import mine_itemsets
from sfumato.rules.mining_thresholds import MiningThresholds

_BASKET = st.sets(st.sampled_from(["ale", "bread", "9", "10", "tea", "milk"]), max_size=6)


def _read(**settings: Any) -> RulesTask:
    content = {"min_support": "30%", "min_confidence": 0.5} | settings
    names = ("a", "b", "c")
    return RulesTask.read(Section.from_value(content, "task", RulesTask.keys), names, names)


def _part(task: RulesTask, own: Any) -> Callable[[PartySession], Any]:
    return lambda session: task.run(session, own)


def _baskets(task: RulesTask, table: PartyTable) -> Baskets:
    prepared = task.prepare("a", table)
    assert isinstance(prepared, Baskets)
    return prepared


def _run(task: RulesTask, parts: list[Any], sessions: Any = None) -> Any:
    found = run_parties(
        {name: _part(task, own) for name, own in zip("abc", parts, strict=True)},
        sessions,
    )
    assert found["a"] == found["b"] == found["c"]
    return found["a"]


@settings(max_examples=6, deadline=None)
@given(
    st.lists(st.lists(_BASKET, max_size=8), min_size=3, max_size=3).filter(any),
    st.sampled_from(["20%", 0.5, 3, "100%"]),
    st.booleans(),
    st.sampled_from([None, 2]),
)
def test_rules_are_those_of_all_baskets(
    parts: list[list[set[str]]], support: Any, hide: bool, size: int | None
) -> None:
    """Itemsets, supports and rules are those of mining the joined baskets, in the same order."""
    task = _read(min_support=support, hide_infrequent=hide, **({"max_size": size} if size else {}))
    result = _run(task, [Baskets.of(part) for part in parts])
    joined = mine([one for part in parts for one in part], min_support=support, min_confidence=0.5, max_size=size)
    assert result == joined.as_json()


@pytest.mark.slow
def test_quest_baskets_of_three_sites_of_different_size() -> None:
    """A thousand baskets after Quest, most of them at one site, are mined to the same rules as together."""
    baskets = quest_baskets(3000, items=60, patterns=30, seed=3)
    task = _read(min_support="8%", min_confidence=0.6, most_items=256)
    result = _run(task, [Baskets.of(part) for part in (baskets[:2400], baskets[2400:2900], baskets[2900:])])
    assert len(result["rules"]) > 100
    assert result == mine(baskets, min_support="8%", min_confidence=0.6).as_json()


def test_supports_of_infrequent_sets_are_not_opened() -> None:
    """What holders open has as many words as there are frequent sets, and no more."""
    from sfumato.party.wire_frame import HEADER_BYTES, step_digest

    sessions = local_sessions("a", "b", "c")
    frames: list[bytes] = []

    def keep(frame: bytes) -> bytes:
        frames.append(frame)
        return frame

    sessions["a"].channels["c"].tap = keep  # type: ignore[attr-defined]
    parts = [[["x"]] * 3 + [["y"]] * 2, [["x"]] * 4, [["x"]] * 4]
    result = _run(_read(), [Baskets.of(part) for part in parts], sessions)
    assert result["itemsets"] == [{"items": ["x"], "support": 11}]
    opened = [frame for frame in frames if step_digest("gate/rules/supports/open") in frame[:HEADER_BYTES]]
    assert [len(frame) - HEADER_BYTES for frame in opened] == [8]


@pytest.mark.parametrize("lie", [-3, 2**40, 2**62])
@pytest.mark.parametrize("hide", [True, False])
def test_numbers_that_no_baskets_add_up_to_end_the_run(lie: int, hide: bool) -> None:
    """A party that says to have no number of baskets, or more than anybody, is refused before anything is made of it.

    With as many as fit into memory nowhere, but are a number of baskets, the run goes on, and takes no memory for them.
    """

    def lying(session: PartySession, counts: Any, *, step: str, **keys: Any) -> Any:
        bent = counts + lie if step == "rules/baskets" and session.me == "b" else counts
        return secure_count(session, bent, step=step, **keys)

    parts = [Baskets.of([["x", "y"]] * 4) for _ in "abc"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared_rules, "secure_count", lying)
        if lie == 2**40:
            result = _run(_read(hide_infrequent=hide), parts)
            assert (result["transactions"], result["itemsets"]) == (2**40 + 12, [])
            return
        with pytest.raises(RunAborted, match="sent no counts, since their sum cannot be right"):
            _run(_read(hide_infrequent=hide), parts)


def test_supports_that_contradict_each_other_end_the_run() -> None:
    """A set that is frequent without a part of it, or in more baskets than that part, makes no rules."""
    sets = [np.array([[0], [1]], dtype=np.int32), np.array([[0, 1]], dtype=np.int32)]
    thresholds = _read().thresholds
    for supports, frequent in ([3, 0, 2], [1, 0, 1]), ([3, 2, 3], [1, 1, 1]):
        with pytest.raises(RunAborted, match="sent no counts"):
            describe_rules(("x", "y"), sets, np.array(supports), np.array(frequent, dtype=bool), 5, thresholds)
    right = describe_rules(("x", "y"), sets, np.array([3, 2, 2]), np.ones(3, dtype=bool), 5, thresholds)
    assert len(right["itemsets"]) == 3


def test_the_statement_says_who_learns_which_sets_are_frequent() -> None:
    """Parties that do not get the result learn which sets are frequent, but for hide_infrequent = false."""
    sentence = "All parties learn which of these sets are frequent among all baskets, whoever gets the result."
    assert sentence in _read().statement(("a", "b", "c")).learned
    assert sentence not in _read(hide_infrequent=False).statement(("a", "b", "c")).learned


def test_tables_become_baskets_as_they_do_for_one() -> None:
    """Wide tables have an item per cell, and long ones a row per item; names that are too long are refused."""
    wide = PartyTable(pa.table({"age": ["1", "2"], "ill": ["no", None]}), "t.csv")
    assert list(_baskets(_read(), wide)) == [("age=1", "ill=no"), ("age=2",)]
    long = PartyTable(pa.table({"id": ["1", "1", "2"], "what": ["tea", "ale", "tea"]}), "t.csv")
    assert list(_baskets(_read(long=["id", "what"]), long)) == [("ale", "tea"), ("tea",)]
    with pytest.raises(DataError, match="more than 4 bytes"):
        _read(longest=4).prepare("a", wide)


def test_borders_and_what_they_contain() -> None:
    """The border is the sets that no other contains, and all frequent sets are its subsets."""
    baskets = Baskets.of(quest_baskets(300, size=6, items=15, patterns=8, seed=1))
    table = mine_itemsets(baskets, 20)
    every = {tuple(row) for members in table.members for row in members.tolist()}
    border = {tuple(row) for sets in find_border(table) for row in sets.tolist()}
    assert border == {one for one in every if not any(set(one) < set(other) for other in every)}
    assert len(table.members) >= 3
    closed = {tuple(row) for sets in close_downwards(find_border(table), 15) for row in sets.tolist()}
    assert closed == every | {(item,) for item in range(15)}
    assert all(part in closed for one in border for size in range(1, len(one)) for part in combinations(one, size))


def test_a_set_that_is_none_ends_the_run() -> None:
    """What a party puts into the union that is no set of known items ends the run with a sentence."""
    task = _read()

    def cheat(session: Any) -> Any:
        class Odd(RulesTask):
            """A task that sends an item nobody has."""

            def _unite_sets(self, session: Any, border: Any, items: int) -> Any:
                return super()._unite_sets(session, [np.array([[items + 1]], dtype=np.int32)], items)

        return Odd(task.result_to, task.thresholds).run(session, Baskets.of([["x"]]))

    honest = lambda session: task.run(session, Baskets.of([["x"]]))  # noqa: E731 - a part, not a function of its own
    with pytest.raises(RunAborted, match="no set of items"):
        run_parties({"a": honest, "b": honest, "c": cheat})


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"min_support": 1.0}, "share or a count"),
        ({"min_confidence": 2}, "from 0 to 1"),
        ({"long": ["id"]}, "two columns"),
        ({"max_size": 21}, "from 1 to 20"),
    ],
)
def test_wrong_settings_name_their_key(settings: dict[str, Any], sentence: str) -> None:
    """What a task cannot mean is a policy error with the key in it."""
    with pytest.raises(PolicyError, match=sentence) as refused:
        _read(**settings)
    assert refused.value.key == f"task.{next(iter(settings))}"


def test_thresholds_and_baskets_must_be_there() -> None:
    """A task without a least support is refused, and a run without a basket ends."""
    with pytest.raises(PolicyError, match=r"task\.min_support: must be there"):
        RulesTask.read(Section({}, "task"), ("a", "b"), ("a", "b"))
    with pytest.raises(RunAborted, match="no party has a basket"):
        _run(_read(), [Baskets.of([])] * 3)
    assert _read().thresholds == MiningThresholds.read("30%", 0.5)
