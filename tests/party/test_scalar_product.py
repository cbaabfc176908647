"""Scalar products of two parties' vectors: exact, in shares that say nothing, by two methods."""

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sfumato.datasets import adult_folder
from sfumato.errors import DataError, InputError, PolicyError, RunAborted
from sfumato.party import scalar_product
from sfumato.party.local_parties import local_sessions, run_parties
from sfumato.party.paillier_encryption import CIPHERTEXT_BYTES, PaillierOwner, PaillierSums
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable
from sfumato.party.scalar_product import (
    ProductShare,
    ScalarProductTask,
    share_by_paillier,
    share_by_transfers,
    shared_products,
    shared_scalar_product,
)
from sfumato.party.task_kinds import task_class
from sfumato.party.whole_number_column import read_whole_numbers
from sfumato.policy.section import Section

RunPair = Callable[..., dict[str, Any]]


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_shares_of_all_pairs_of_columns_add_up(run_pair: RunPair, data: st.DataObject) -> None:
    """The shares of every pair of columns add up to the product modulo 2^64, or fewer bits, signed or not."""
    rows, mine, theirs = (data.draw(st.integers(least, 4)) for least in (0, 1, 1))
    bits = data.draw(st.sampled_from([1, 2, 9, 32, 64]))
    signed = bits > 1 and data.draw(st.booleans())
    share_bits = data.draw(st.sampled_from([64, 20]))
    entries = st.integers(-(1 << bits - 1), (1 << bits - 1) - 1) if signed else st.integers(0, (1 << bits) - 1)
    tables = [[[data.draw(entries) for _ in range(columns)] for _ in range(rows)] for columns in (mine, theirs)]
    arrays = [
        np.array([[entry % 2**64 for entry in row] for row in table], dtype=np.uint64).reshape(rows, columns)
        for table, columns in zip(tables, (mine, theirs), strict=True)
    ]

    def part(peer: str, columns: NDArray[np.uint64]) -> Callable[[PartySession], NDArray[np.uint64]]:
        return lambda session: shared_products(
            session, peer, columns, bits=bits, signed=signed, share_bits=share_bits, step="t"
        )

    shares = run_pair({"a": part("b", arrays[0]), "b": part("a", arrays[1])})
    modulus = 1 << share_bits
    total = (shares["a"].astype(object) + shares["b"].T.astype(object)) % modulus
    expected = [
        [sum(one[i] * other[j] for one, other in zip(*tables, strict=True)) % modulus for j in range(theirs)]
        for i in range(mine)
    ]
    assert total.tolist() == expected


def test_the_sender_may_have_words_where_the_other_has_bits(run_pair: RunPair) -> None:
    """With `sends`, entries of 64 bits are multiplied by bits, though their party has fewer columns."""
    words, flags = np.array([[2**62 + 5], [7]], dtype=np.uint64), np.array([[1, 0, 1], [0, 1, 1]], dtype=np.uint64)
    shares = run_pair(
        {
            "a": lambda session: shared_products(session, "b", words, bits=1, step="t", due=3, sends=True),
            "b": lambda session: shared_products(session, "a", flags, bits=1, step="t", due=1, sends=False),
        }
    )
    assert (shares["a"] + shares["b"].T).tolist() == [[2**62 + 5, 7, 2**62 + 12]]


@pytest.mark.parametrize(("columns", "due"), [(0, None), (-1, None), (1 << 17, None), (2, 3)])
def test_a_number_of_columns_that_cannot_be_is_refused(columns: int, due: int | None) -> None:
    """A peer that tells no columns, too many or others than are due ends the run."""
    own = np.ones((2, 1), dtype=np.uint64)

    def cheat(session: PartySession) -> None:
        session.channels["a"].send_array("t/shape", np.array([2, columns]))
        session.channels["a"].receive_array("t/shape", np.int64, 2)

    with pytest.raises(RunAborted, match="number of columns which cannot be right"):
        run_parties({"a": lambda session: shared_products(session, "b", own, bits=1, step="t", due=due), "b": cheat})


def test_batches_of_rows_add_up(run_pair: RunPair, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many small batches give what one gives, for shares of 64 bits and for exact products."""
    monkeypatch.setattr(scalar_product, "BATCH", 700)
    one, other = (np.frombuffer(os.urandom(2000), dtype=np.int16).astype(np.int64) for _ in range(2))

    def part(peer: str, values: NDArray[np.int64]) -> Callable[[PartySession], tuple[int, ProductShare]]:
        def run(session: PartySession) -> tuple[int, ProductShare]:
            columns = (values & 0xFFFF).astype(np.uint64)
            share = shared_scalar_product(session, peer, columns, bits=16, step="words")
            return share, share_by_transfers(session, peer, values, bits=16, step="exact")

        return run

    shares = run_pair({"a": part("b", one), "b": part("a", other)})
    assert (shares["a"][0] + shares["b"][0]) % 2**64 == int((one & 0xFFFF) @ (other & 0xFFFF))
    exact = [shares[name][1] for name in "ab"]
    assert sum(share.share for share in exact) % exact[0].modulus == int(one @ other) % exact[0].modulus


def _task(**settings: Any) -> ScalarProductTask:
    section = Section({"kind": "scalar-product", "column": "x"} | settings, "task")
    return ScalarProductTask.read(section, ("a", "b"), settings.get("result_to", ("a", "b")))


def _run(run: RunPair, task: ScalarProductTask, one: list[int], other: list[int]) -> dict[str, Any]:
    def part(values: list[int]) -> Callable[[PartySession], Any]:
        return lambda session: task.run(session, task.prepare(session.me, PartyTable(pa.table({"x": values}), "x.csv")))

    return run({"a": part(one), "b": part(other)})


@settings(max_examples=10, deadline=None)
@given(st.data())
def test_the_task_gives_the_exact_product(run_pair: RunPair, data: st.DataObject) -> None:
    """Both parties learn the product, exactly, also where it has more than 64 bits."""
    bits = data.draw(st.sampled_from([1, 2, 7, 32]))
    entries = st.integers(0, 1) if bits == 1 else st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)
    one, other = zip(*data.draw(st.lists(st.tuples(entries, entries), min_size=1, max_size=6)), strict=True)
    results = _run(run_pair, _task(bits=bits), list(one), list(other))
    expected = {"product": sum(x * y for x, y in zip(one, other, strict=True)), "rows": len(one)}
    assert results == {"a": expected, "b": expected}


def test_the_largest_products_are_exact(run_pair: RunPair) -> None:
    """The sum of a thousand squares of the least number of 32 bits, which has 72 bits, is right."""
    least = [-(2**31)] * 1000
    assert _run(run_pair, _task(), least, least)["a"]["product"] == 1000 * 2**62
    assert _run(run_pair, _task(), least, [2**31 - 1] * 1000)["b"]["product"] == -1000 * 2**31 * (2**31 - 1)


@pytest.mark.slow
def test_the_task_by_paillier(run_pair: RunPair) -> None:
    """Paillier's encryption gives the same, and only those who are told learn it."""
    results = _run(run_pair, _task(method="paillier", result_to=("b",)), [3, -4, 2**31 - 1], [-(2**31), 7, 2**31 - 1])
    expected = -3 * 2**31 - 28 + (2**31 - 1) ** 2
    assert results == {"a": None, "b": {"product": expected, "rows": 3}}


def test_a_share_alone_is_uniform(run_pair: RunPair) -> None:
    """The same vectors have another share each time, and neither party's alone says anything of the product."""
    values = np.array([1, 0, 1, 1], dtype=np.uint64)

    def part(peer: str) -> Callable[[PartySession], list[int]]:
        return lambda session: [
            shared_scalar_product(session, peer, values, bits=1, share_bits=8, step=f"t{turn}") for turn in range(300)
        ]

    shares = run_pair({"a": part("b"), "b": part("a")})
    for name in "ab":
        counts = np.bincount(np.array(shares[name]) // 32, minlength=8)
        assert ((counts - 37.5) ** 2 / 37.5).sum() < 50  # chi-square with 7 degrees of freedom: 50 is 1e-8


@pytest.mark.parametrize("method", ["ot", pytest.param("paillier", marks=pytest.mark.slow)])
def test_what_is_sent_has_the_same_length_whatever_the_entries_are(method: str) -> None:
    """Every message of either party is as long for zeros as for the largest numbers, and none is repeated."""
    lengths = []
    frames: list[bytes] = []
    for entries in ([0] * 12, [2**31 - 1] * 12):
        sessions = local_sessions("a", "b")
        seen: dict[str, list[int]] = {"a": [], "b": []}
        for name, peer in (("a", "b"), ("b", "a")):

            def keep(frame: bytes, sizes: list[int] = seen[name]) -> bytes:
                sizes.append(len(frame))
                frames.extend([frame[41:]] if len(frame) > 400 else [])
                return frame

            channel: Any = sessions[name].channels[peer]
            channel.tap = keep
        _run(partial(run_parties, sessions=sessions), _task(method=method), entries, entries)
        lengths.append(seen)
    assert lengths[0] == lengths[1]
    assert len(set(frames)) == len(frames)


def test_lengths_must_agree() -> None:
    """Files of different numbers of rows end the run in a sentence that says so."""
    with pytest.raises(RunAborted, match=r"party '[ab]' has [23] rows and this one [23]"):
        _run(run_parties, _task(), [1, 2, 3], [1, 2])


def _lie(step: str, content: bytes) -> Callable[[PartySession], None]:
    """Be a party that is one row long, and sends this in place of the message of a step."""

    def run(session: PartySession) -> None:
        channel = session.channels[session.others[0]]
        channel.send_array("t/shape", np.array([1, 1], dtype=np.int64))
        for name in ("key", "entry", "masked"):
            if name == step:
                channel.send(f"t/{name}", content)
                return
            channel.send(f"t/{name}", PaillierOwner().public_bytes)

    return run


@pytest.mark.slow
@pytest.mark.parametrize("content", [bytes(384), b"\xff" * 383 + b"\xfe"])
def test_a_key_that_is_none_ends_the_run(content: bytes) -> None:
    """A modulus of another length, or an even one, is refused."""
    one = np.ones(1, dtype=np.int64)
    with pytest.raises(RunAborted, match="party 'a' sent, at t/key, no key"):
        run_parties({"a": _lie("key", content), "b": lambda session: share_by_paillier(session, "a", one, step="t")})


@pytest.mark.slow
@pytest.mark.parametrize("content", [bytes(CIPHERTEXT_BYTES), b"\xff" * CIPHERTEXT_BYTES])
def test_a_ciphertext_that_is_none_ends_the_run(content: bytes) -> None:
    """Zero, and a number above the square of the key, are no ciphertexts, of entries or of the masked sum."""
    one = np.ones(1, dtype=np.int64)
    with pytest.raises(RunAborted, match="party 'a' sent, at t/entry, no ciphertext"):
        run_parties({"a": _lie("entry", content), "b": lambda session: share_by_paillier(session, "a", one, step="t")})

    def answers(session: PartySession) -> None:
        channel = session.channels["a"]
        channel.send_array("t/shape", np.array([1, 1], dtype=np.int64))
        channel.send("t/masked", content)

    with pytest.raises(RunAborted, match="party 'b' sent, at t/masked, no ciphertext"):
        run_parties({"a": lambda session: share_by_paillier(session, "b", one, step="t"), "b": answers})


@pytest.mark.slow
def test_a_multiple_of_a_prime_of_the_key_is_no_ciphertext() -> None:
    """A number that shares a factor with the key is refused; ciphertexts of one number differ each time."""
    owner = PaillierOwner()
    assert owner.encrypt([5]) != owner.encrypt([5])
    with pytest.raises(ValueError, match="no ciphertext"):
        owner.decrypt((3 * owner.modulus).to_bytes(CIPHERTEXT_BYTES, "big"))
    # the random factor of a ciphertext of zero is an n-th power, and so an encryption of zero
    assert owner.decrypt(owner.encrypt([0])) == 0
    sums = PaillierSums(owner.public_bytes)
    entries = owner.encrypt([7, -2])
    assert owner.decrypt(sums.weighted_sum(entries, [0, 0], mask=9)) == 9
    assert owner.decrypt(sums.weighted_sum(entries, [-3, 5], mask=owner.modulus - 1)) == owner.modulus - 32


@pytest.mark.parametrize(
    ("settings", "parties", "sentence"),
    [
        (
            {"kind": "scalar-product", "column": "x"},
            "abc",
            "task.kind: is a task of two parties, and the consortium has 3",
        ),
        ({"kind": "scalar-product"}, "ab", "task.column: is missing"),
        ({"kind": "scalar-product", "column": "x", "bits": 33}, "ab", "task.bits: must be from 1 to 32"),
        ({"kind": "scalar-product", "column": "x", "method": "magic"}, "ab", "task.method: must be ot or paillier"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], parties: str, sentence: str) -> None:
    """Each wrong setting is a sentence that names its key."""
    with pytest.raises(PolicyError, match=sentence):
        ScalarProductTask.read(Section(settings, "task"), tuple(parties), ("a",))


@pytest.mark.parametrize(
    ("cells", "bits", "sentence"),
    [
        (["1", "x"], 8, "row 2 of t.csv has no whole number in 'x'"),
        ([1, None], 8, "row 2 of t.csv has no whole number in 'x'"),
        ([1.0, 2.5], 8, "row 2 of t.csv has no whole number in 'x'"),
        ([1, 2, 300], 8, "row 3 of t.csv has a number in 'x' that is not from -128 to 127; write bits = 10 in"),
        ([0, 1, 2], 1, "row 3 of t.csv has a number in 'x' that is not from 0 to 1"),
    ],
)
def test_wrong_cells_are_refused_before_anything_is_sent(cells: list[Any], bits: int, sentence: str) -> None:
    """A cell that is no whole number within the bits is named by its row, and not quoted."""
    with pytest.raises(DataError, match=sentence):
        read_whole_numbers(PartyTable(pa.table({"x": cells}), "t.csv"), "x", bits)
    with pytest.raises(DataError, match=r"t\.csv has no column 'y'"):
        read_whole_numbers(PartyTable(pa.table({"x": cells}), "t.csv"), "y", bits)


def test_paillier_is_for_short_vectors() -> None:
    """More than a thousand rows are refused by paillier, with the way out."""
    with pytest.raises(DataError, match='write method = "ot"'):
        _task(method="paillier").prepare("a", PartyTable(pa.table({"x": [1] * 1001}), "t.csv"))


def test_progress_is_told(run_pair: RunPair) -> None:
    """A run tells how far it is, and ends at the whole."""
    told: list[tuple[int, int]] = []

    def part(session: PartySession) -> None:
        session.progress = (lambda done, of: told.append((done, of))) if session.me == "a" else None
        share_by_transfers(session, session.others[0], np.arange(50), bits=20, step="t")

    run_pair({"a": part, "b": part})
    assert told == sorted(told)
    assert told[-1] == (1000, 1000)


@pytest.mark.parametrize(("module", "name"), [("rbcl", "ristretto_group"), ("tno", "paillier_encryption")])
def test_a_missing_library_is_said_before_anything_is_sent(
    module: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the extra is not installed, the table is not even read, and the sentence says how to install it."""
    from sfumato.party import paillier_encryption, ristretto_group

    def missing(wanted: str) -> None:
        raise ModuleNotFoundError(f"No module named {module!r}", name=wanted.split(".", maxsplit=1)[0])

    for library in (paillier_encryption._library, ristretto_group._sodium):
        library.cache_clear()
    monkeypatch.setattr(f"sfumato.party.{name}.importlib.import_module", missing)
    method = "ot" if module == "rbcl" else "paillier"
    with pytest.raises(InputError, match=rf"needs the package {module}, .*pip install 'sfumato\[party\]'"):
        _task(method=method).prepare("a", PartyTable(pa.table({"x": [1]}), "t.csv"))


@pytest.mark.adult
def test_real_columns(run_pair: RunPair) -> None:
    """Ages at the one party and hours a week at the other, of Adult's rows: all tasks of two columns are right."""
    folder = adult_folder()
    if folder is None:
        pytest.skip("the rows of Adult are not at hand")
    read = pyarrow.csv.read_csv(folder / "adult.csv")
    ages, hours = (read[name].to_numpy() for name in ("age", "hours-per-week"))
    tables = {"a": pa.table({"x": ages}), "b": pa.table({"x": hours})}
    found = []
    for kind in ("scalar-product", "distance", "compare"):
        task = task_class(kind).read(Section({"kind": kind, "column": "x", "bits": 8}, "task"), ("a", "b"), ("a", "b"))

        def part(session: PartySession, task: Any = task) -> Any:
            return task.run(session, task.prepare(session.me, PartyTable(tables[session.me], "adult.csv")))

        results = run_pair({"a": part, "b": part})
        assert results["a"] == results["b"]
        found.append(results["a"])
    assert found[0]["product"] == int(ages @ hours)
    assert found[1]["squared_distance"] == int(((ages - hours) ** 2).sum())
    expected = np.where(ages < hours, "less", np.where(ages == hours, "equal", "greater"))
    assert found[2]["comparisons"] == expected.tolist()


def test_the_statement_warns_of_chosen_vectors() -> None:
    """The statement says what a vector of one's own choosing extracts, for both methods."""
    for method in ("ot", "paillier"):
        said = " ".join(_task(method=method).statement(("a", "b")).sentences())
        assert "zeros and a single one" in said
        assert "semi-honest" in said
