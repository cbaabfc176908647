"""Mining where two parties hold different columns of the same people."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.datasets import synthetic_adult
from sfumato.errors import DataError, PolicyError, RunAborted
from sfumato.party import vertical_rules
from sfumato.party.cluster_frame import nearest_centres
from sfumato.party.local_parties import local_sessions, run_parties
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable, PartyTask
from sfumato.party.shared_k_means import KMeansTask
from sfumato.party.shared_naive_bayes import NaiveBayesModel, NaiveBayesTask
from sfumato.party.shared_rules import RulesTask
from sfumato.party.vertical_naive_bayes import add_by_other_classes
from sfumato.party.wire_frame import HEADER_BYTES, step_digest
from sfumato.policy.section import Section
from sfumato.rules import mine

_ROW = st.tuples(*[st.sampled_from(["x", "y", None])] * 4)
_PERSON = st.tuples(
    st.sampled_from(["no", "yes"]),
    st.sampled_from("fm"),
    st.integers(0, 99),
    st.sampled_from("uvw"),
    st.integers(-9, 99),
)


def _read(kind: type[PartyTask], **settings: Any) -> Any:
    parties = tuple(settings.pop("parties", "ab"))
    content = {"partition": "vertical"} | settings
    return kind.read(Section.from_value(content, "task", kind.keys), parties, parties)


def _part(task: PartyTask, own: Any) -> Callable[[PartySession], Any]:
    return lambda session: task.run(session, own)


def _run(task: PartyTask, one: pa.Table, other: pa.Table, sessions: Any = None) -> dict[str, Any]:
    held = {name: task.prepare(name, PartyTable(table, f"{name}.csv")) for name, table in (("a", one), ("b", other))}
    return run_parties({name: _part(task, own) for name, own in held.items()}, sessions)


@settings(max_examples=4, deadline=None)
@given(
    st.lists(_ROW, min_size=1, max_size=12), st.sampled_from(["20%", 0.5, 2, "100%", 99]), st.sampled_from([None, 3])
)
def test_rules_are_those_of_the_joined_table(
    rows: list[tuple[str | None, ...]], support: Any, size: int | None
) -> None:
    """Itemsets of either and of both parties, supports and rules are those of mining all columns together."""
    table = pa.table(
        {name: pa.array(column, pa.string()) for name, column in zip("qrst", zip(*rows, strict=True), strict=True)}
    )
    task = _read(RulesTask, min_support=support, min_confidence=0.4, **({"max_size": size} if size else {}))
    found = _run(task, table.select(["q", "s"]), table.select(["r", "t"]))
    assert found["a"] == found["b"]
    assert found["a"] == mine(table, min_support=support, min_confidence=0.4, max_size=size).as_json()


@settings(max_examples=6, deadline=None)
@given(st.lists(_PERSON, min_size=2, max_size=20), st.booleans())
def test_the_model_is_that_of_the_joined_table(people: list[tuple[Any, ...]], at_first: bool) -> None:
    """Counts, means and variances are those that three parties with rows would have got, wherever the classes are."""
    columns = dict(zip(["ill", "sex", "age", "job", "pay"], zip(*people, strict=True), strict=True))
    table = pa.table({name: pa.array(column) for name, column in columns.items()})
    given_settings = {
        "class": "ill",
        "values": {"ill": ["no", "yes"], "job": ["w", "v", "u"]},
        "bounds": {"age": [0, 99], "pay": [-9.5, 99]},
        "decimals": {"pay": 1},
    }
    halves = [["ill", "sex", "age"], ["job", "pay"]]
    divided = dict(zip("ab" if at_first else "ba", halves, strict=True))
    task = _read(NaiveBayesTask, columns=divided, **given_settings)
    found = _run(task, *(table.select(divided[name]) for name in "ab"))
    assert found["a"] == found["b"]
    order = [column for name in "ab" for column in divided[name] if column != "ill"]
    by_rows = NaiveBayesTask.read(
        Section.from_value({"columns": order} | given_settings, "task", NaiveBayesTask.keys), ("a", "b"), ("a", "b")
    )
    assert found["a"] == _run(by_rows, table.slice(0, 1), table.slice(1))["b"]
    assert NaiveBayesModel.from_json(found["a"]).class_counts[1] == columns["ill"].count("yes")


@settings(max_examples=5, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60)), min_size=1, max_size=20))
def test_clusters_are_those_of_the_joined_table(rows: list[tuple[int, int, int]]) -> None:
    """Each party gets its coordinates of the centres that Lloyd's algorithm finds on all columns, and the sizes."""
    table = pa.table({name: list(column) for name, column in zip("xyz", zip(*rows, strict=True), strict=True)})
    bounds = {name: [0, 60] for name in "xyz"}
    task = _read(KMeansTask, columns={"a": ["z", "x"], "b": ["y"]}, bounds=bounds, k=3, seed=2, starts=2)
    found = _run(task, table.select(["x", "z"]), table.select(["y"]))
    assert found["a"]["start"] == found["b"]["start"]
    points = np.array([(z, x, y) for x, y, z in rows], float)
    outcomes = []
    for start in task.starts:
        centres, before = np.array(start), None
        while before is None or (centres != before).any():
            nearest, before = nearest_centres(points, centres), centres
            centres = np.array(
                [points[nearest == k].mean(axis=0) if (nearest == k).any() else before[k] for k in range(3)]
            )
        outcomes.append((((points - centres[nearest]) ** 2).sum(), centres, np.bincount(nearest, minlength=3)))
    cost, centres, sizes = outcomes[found["a"]["start"]]
    assert cost <= min(one for one, _, _ in outcomes) + 1e-6
    both = [one | other for one, other in zip(found["a"]["centres"], found["b"]["centres"], strict=True)]
    np.testing.assert_allclose([[one["z"], one["x"], one["y"]] for one in both], centres, atol=1e-9)
    assert found["a"]["sizes"] == found["b"]["sizes"] == sizes.tolist()


def test_rows_are_linked_by_a_private_intersection() -> None:
    """People whom only one party has are left out, in whatever order the files are, and rules are of the others."""
    people = synthetic_adult(200).append_column("id", pa.array([f"p{number}" for number in range(200)]))
    shuffled = people.take(pa.array(np.random.default_rng(1).permutation(200)[:150]))
    one, other = people.slice(20).select(["id", "sex", "race"]), shuffled.select(["salary-class", "id"])
    common = [number for number in range(20, 200) if f"p{number}" in set(other["id"].to_pylist())]
    task = _read(RulesTask, min_support="10%", min_confidence=0.6, link_on="id", most_items=200)
    joined = people.take(pa.array(common)).select(["sex", "race", "salary-class"])
    expected = mine(joined, min_support="10%", min_confidence=0.6).as_json()
    assert _run(task, one, other)["b"] == expected
    assert expected["transactions"] == len(common)
    assert any(len(rule["if"]) == 2 for rule in expected["rules"])


def test_long_tables_are_linked_by_their_transactions() -> None:
    """Two shops with a row per product link receipts, and find what goes together over both."""
    one = pa.table({"receipt": ["1", "2", "2", "3", "9"], "product": ["ale", "ale", "tea", "tea", "ale"]})
    other = pa.table({"receipt": ["2", "1", "3"], "product": ["ring", "ring", "hat"]})
    task = _read(RulesTask, min_support=2, min_confidence=1, long=["receipt", "product"])
    found = _run(task, one, other)["a"]
    assert found["transactions"] == 3
    assert {"items": ["ale", "ring"], "support": 2} in found["itemsets"]
    assert {tuple(rule["if"]) for rule in found["rules"]} == {("ale",), ("ring",)}


def test_supports_of_infrequent_sets_stay_hidden() -> None:
    """Of the candidates of a level, shares are opened for those alone that are frequent: one word each."""
    sessions = local_sessions("a", "b")
    frames: list[bytes] = []

    def keep(frame: bytes) -> bytes:
        frames.append(frame)
        return frame

    sessions["b"].channels["a"].tap = keep  # type: ignore[attr-defined]
    one = pa.table({"q": ["x", "x", "x", "y", "y", "y"]})
    other = pa.table({"r": ["u", "u", "u", "u", "w", "w"]})
    found = _run(_read(RulesTask, min_support=2, min_confidence=0.5), one, other, sessions)["a"]
    assert [frame for frame in frames if step_digest("rules/2/0/open") in frame[:HEADER_BYTES]] != []
    mixed = [sorted(one["items"]) for one in found["itemsets"] if len(one["items"]) == 2]
    assert mixed == [["q=x", "r=u"], ["q=y", "r=w"]]  # of four candidates
    opened = [len(frame) - HEADER_BYTES for frame in frames if step_digest("rules/2/0/open") in frame[:HEADER_BYTES]]
    assert opened == [16]


@pytest.mark.parametrize(("most", "columns"), [(300, 2), (2_000_000_000, 3)])
def test_sums_of_numbers_are_opened_and_not_those_of_their_bits(most: int, columns: int) -> None:
    """Of a number, what both open has a sum and one of squares for each class, two where these may leave 63 bits."""
    sessions = local_sessions("a", "b")
    opened: list[bytes] = []

    def keep(frame: bytes) -> bytes:
        if step_digest("bayes/pay/open") in frame[:HEADER_BYTES]:
            opened.append(frame[HEADER_BYTES:])
        return frame

    for name, peer in ("ab", "ba"):
        sessions[name].channels[peer].tap = keep  # type: ignore[attr-defined]
    task = _read(NaiveBayesTask, **{"class": "ill"}, columns={"a": ["ill"], "b": ["pay"]}, bounds={"pay": [0, most]})
    pay = [most, 7, most - 1, 12]
    found = _run(task, pa.table({"ill": ["n", "y", "n", "y"]}), pa.table({"pay": pay}), sessions)["b"]
    assert [len(payload) for payload in opened] == [2 * columns * 8] * 2  # classes, columns, bytes of a word
    means, variances = found["columns"][0]["means"], found["columns"][0]["variances"]
    assert (means, variances) == ([most - 0.5, 9.5], [0.25, 6.25])


def test_sums_that_cannot_be_end_the_run() -> None:
    """A peer with more columns than are due, with sums beyond their limit, or with no class at all is refused."""
    classes, ones = np.array([0, 1]), np.ones((2, 1), dtype=np.uint64)
    for column, sentence in ((np.repeat(ones, 2, axis=1), "number of columns"), (ones * 17, "a sum that cannot be")):

        def part(session: PartySession, column: Any = column) -> Any:
            own = (None, classes) if session.me == "a" else (column, None)
            limits = (8,) * (1 if session.me == "a" else column.shape[1])
            return add_by_other_classes(session, *own, width=2, limits=limits, step="t")

        with pytest.raises(RunAborted, match=sentence):
            run_parties({"a": part, "b": part})
    task = _read(NaiveBayesTask, **{"class": "ill"}, columns={"a": ["ill"], "b": ["job"]})
    held = task.prepare("b", PartyTable(pa.table({"job": ["u"]}), "b.csv"))

    def cheat(session: PartySession) -> None:
        channel = session.channels["b"]
        channel.send_json("bayes/rows", 1)
        channel.receive_json("bayes/rows")
        channel.send_json("bayes/values", {"ill": []})
        channel.receive_json("bayes/values")

    with pytest.raises(RunAborted, match="other columns than those that it has"):
        run_parties({"a": cheat, "b": lambda session: task.run(session, held)})


@pytest.mark.parametrize("kind", [RulesTask, KMeansTask, NaiveBayesTask])
def test_what_is_sent_is_as_long_whatever_the_other_columns_hold(kind: type[PartyTask]) -> None:
    """Two inputs of a party with the same result make messages of the same lengths, so lengths tell nothing more."""
    every: dict[str, dict[str, Any]] = {
        "rules": {"min_support": 4, "min_confidence": 0.5},
        "k-means": {
            "columns": {"a": ["n"], "b": ["m"]},
            "bounds": {"n": [0, 9], "m": [0, 9]},
            "start": [[1, 1], [8, 8]],
        },
        "naive-bayes": {"class": "n", "columns": {"a": ["n"], "b": ["m"]}, "bounds": {"m": [0, 9]}},
    }
    lengths = []
    for cells in (["1", "8", "1", "8"], ["8", "1", "8", "1"]):
        sessions = local_sessions("a", "b")
        sizes: list[int] = []

        def keep(frame: bytes, sizes: list[int] = sizes) -> bytes:
            sizes.append(len(frame))
            return frame

        sessions["b"].channels["a"].tap = keep  # type: ignore[attr-defined]
        task = _read(kind, **every[kind.kind])
        _run(task, pa.table({"n": ["2", "2", "7", "7"]}), pa.table({"m": cells}), sessions)
        lengths.append(sizes)
    assert lengths[0] == lengths[1]


def test_frequent_sets_that_are_none_end_the_run() -> None:
    """A peer's list with a support that cannot be, a set that is too large or one without its parts is refused."""
    task = _read(RulesTask, min_support=2, min_confidence=0.5, max_size=3)
    held = task.prepare("a", PartyTable(pa.table({"q": ["x", "x", "x"]}), "a.csv"))
    some = [[[item], 3] for item in "stuv"]
    pairs = [[list(pair), 2] for pair in combinations("stuv", 2)]
    triples = [[list(triple), 2] for triple in combinations("stuv", 3)]
    for lie in (
        *([[["r=u"], 4]], [[["r=u", "r=v"], 2]], [["r=u", 2]], [[["r=u"], True]], 7, [[[["r"]], 2]], [[[], 2]]),
        *([[["\ud800"], 2]], [[["s"], 1]], [[["s"], "2"], [["t"], 2], [["s", "t"], 2]]),
        [*some, *pairs[1:], triples[0]],  # a part of the triple is missing
        [[["s"], 2], *some[1:], [["s", "t"], 3]],  # more rows hold the set than its part
        [*some, [["s", "t"], 2], [["t", "s"], 2]],
        [*some, *pairs, *triples, [list("stuv"), 2]],  # four items
    ):

        def cheat(session: Any, lie: Any = lie) -> None:
            channel = session.channels["a"]
            channel.send_json("rules/rows", 3)
            channel.receive_json("rules/rows")
            channel.send_json("rules/own", lie)
            channel.receive_json("rules/own")

        with pytest.raises(RunAborted, match="no list of frequent sets"):
            run_parties({"a": lambda session: task.run(session, held), "b": cheat})


def test_more_sets_than_a_message_holds_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A party whose own frequent sets are too many to tell says so, and what to change."""
    monkeypatch.setattr(vertical_rules, "_LARGEST_JSON", 40)
    one = pa.table({name: ["x", "x"] for name in "lmnop"})
    with pytest.raises(RunAborted, match=r"alone has 31 sets .* ask for a higher min_support"):
        _run(_read(RulesTask, min_support=2, min_confidence=0.5), one, pa.table({"r": ["u", "u"]}))


def test_supports_that_cannot_be_end_the_run() -> None:
    """A peer that opens another share than it has, so that a support is more than there are rows, is refused."""
    sessions = local_sessions("a", "b")

    def lie(frame: bytes) -> bytes:
        if step_digest("rules/2/0/open") not in frame[:HEADER_BYTES]:
            return frame
        share = int.from_bytes(frame[HEADER_BYTES:], "little") + 1
        return frame[:HEADER_BYTES] + (share % 2**64).to_bytes(8, "little")

    sessions["b"].channels["a"].tap = lie  # type: ignore[attr-defined]
    task = _read(RulesTask, min_support=2, min_confidence=0.5)
    with pytest.raises(RunAborted, match="a support that cannot be right"):
        _run(task, pa.table({"q": ["x", "x"]}), pa.table({"r": ["u", "u"]}), sessions)


def test_files_that_cannot_be_linked_end_the_run() -> None:
    """Other numbers of rows, nobody in common, and an identifier in two rows are said in a sentence."""
    task = _read(RulesTask, min_support=1, min_confidence=0.5)
    with pytest.raises(RunAborted, match="another number of rows"):
        _run(task, pa.table({"q": ["x"]}), pa.table({"r": ["u", "u"]}))
    with pytest.raises(RunAborted, match="item of the same name"):
        _run(task, pa.table({"q": ["x"]}), pa.table({"q": ["x"]}))
    linked = _read(RulesTask, min_support=1, min_confidence=0.5, link_on="id")
    with pytest.raises(RunAborted, match="no 'id' of this party"):
        _run(linked, pa.table({"id": ["1"], "q": ["x"]}), pa.table({"id": ["2"], "r": ["x"]}))
    with pytest.raises(DataError, match="in two rows"):
        linked.prepare("a", PartyTable(pa.table({"id": ["1", "1"], "q": ["x", "y"]}), "a.csv"))
    dates = pa.table({"id": [f"2001-01-0{day}" for day in range(1, 10)], "q": ["x"] * 9})
    assert "dates" in linked.cautions(linked.prepare("a", PartyTable(dates, "a.csv")))[0]
    with pytest.raises(DataError, match="two columns make the same item"):
        task.prepare("a", PartyTable(pa.table({"q": ["=x"], "q=": ["x"]}), "a.csv"))


@pytest.mark.parametrize(
    ("kind", "settings", "sentence"),
    [
        (RulesTask, {"hide_infrequent": True}, "horizontal"),
        (RulesTask, {"partition": "horizontal", "link_on": "id"}, "vertical"),
        (RulesTask, {"normalize": "digits"}, "goes with link_on"),
        (RulesTask, {"long": ["id", "what"], "link_on": "what"}, "first of long"),
        (RulesTask, {"long": ["id", "what"], "columns": {}}, "leave one out"),
        (RulesTask, {"columns": {"a": ["x"], "b": ["x"]}}, "twice"),
        (RulesTask, {"columns": {"a": ["x"], "b": ["y"], "c": ["z"]}}, "no party"),
        (KMeansTask, {"columns": ["x"]}, "must be a table such as"),
        (KMeansTask, {"columns": {"a": ["x"], "b": []}}, "list of columns"),
        (KMeansTask, {"min_count": 3}, "horizontal"),
        (NaiveBayesTask, {"class": "z", "columns": {"a": ["x"], "b": ["y"]}}, "of the party that has it"),
    ],
)
def test_wrong_settings_name_their_key(kind: type[PartyTask], settings: dict[str, Any], sentence: str) -> None:
    """What goes with the other partition, or with two parties that do not have it, is refused by its key."""
    needed = {"min_support": 1, "min_confidence": 0} if kind is RulesTask else {}
    with pytest.raises(PolicyError, match=sentence):
        _read(kind, **(needed | settings))
    with pytest.raises(PolicyError, match="for two parties"):
        _read(RulesTask, parties="abc", min_support=1, min_confidence=0)


def test_statements_name_what_linking_discloses() -> None:
    """A vertical task says that common identifiers become known, and what of the mining does."""
    bounds = {"x": [0, 1], "y": [0, 1]}
    shared = {"columns": {"a": ["x"], "b": ["y"]}, "link_on": "id"}
    for task in (
        _read(RulesTask, min_support=1, min_confidence=0, link_on="id"),
        _read(KMeansTask, bounds=bounds, k=2, **shared),
        _read(NaiveBayesTask, **{"class": "x"}, bounds={"y": [0, 1]}, **shared),
    ):
        learned = task.statement(("a", "b")).learned
        assert "their own values of 'id' the other has" in learned
        assert "power of two" in learned
