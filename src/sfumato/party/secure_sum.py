"""Secure sum: the parties learn the sum of their vectors, and nobody another's vector (chapter, 20.5).

Every two parties agree on a key, and stretch it to a vector of random words, the mask of that pair. The one adds it to
its vector, the other takes it off. So every vector that is sent is uniformly random to whoever lacks one of its masks,
and in the sum of all the masks vanish. This is the first step of secure aggregation (Bonawitz et al., CCS 2017),
without its recovery: where a party is missing, the masks do not vanish, and the run ends.

Adversary: semi-honest. Whoever colludes learns the sum of the others' vectors, which follows from the result, and
nothing else: n - 1 of n parties learn the vector of the last, as they would from the sum alone. Among two parties each
learns the other's vector, since it is the sum less its own.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from sfumato.core.arrow import numpy_numbers
from sfumato.core.numbers import read_decimal
from sfumato.core.segments import sort_by_group
from sfumato.errors import DataError, PolicyError, RunAborted, did_you_mean, listing, quote
from sfumato.party.identifiers import require_at_most
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable, PartyTask
from sfumato.party.protocol_statement import SEMI_HONEST, ProtocolStatement
from sfumato.policy.section import Section
from sfumato.table.number_scale import is_text

_BLOCK = 1 << 20
"""Words of a mask at a time: it is added to what it masks while it is in the processor's cache."""
LARGEST_COUNT = 1 << 46
LARGEST_SUM = (1 << 63) - 1
"""No count of rows of all parties is larger, and no sum of numbers."""


def secure_sum(
    session: PartySession, values: NDArray[np.int64], *, step: str, to: Sequence[str] | None = None
) -> NDArray[np.int64] | None:
    """Add up the parties' vectors; those of `to` (all, if left out) get the sum, and the others nothing.

    Vectors have one length, which all know. Sums are modulo 2^64, so they are exact where they fit into 64 bits. `step`
    names this sum among those of a run, and no two have the same name.

    >>> from sfumato.party.local_parties import run_parties
    >>> def part(values):
    ...     return lambda session: secure_sum(session, np.array(values), step="beds", to=["a", "b"])
    >>> run_parties({"a": part([1, 5]), "b": part([2, 0]), "c": part([-4, 7])})
    {'a': array([-1, 12]), 'b': array([-1, 12]), 'c': None}
    """
    to = session.parties if to is None else tuple(to)
    session.agree_keys()
    masked = np.array(values, dtype=np.int64, order="C").view(np.uint64)  # in C's order, for masks go along its memory
    for peer in session.others:
        add_mask(masked, session.agreed_key(peer, f"sum/{step}"), session.parties.index(peer) > session.place)
    collector = to[0]
    if session.me != collector:
        session.channels[collector].send_array(f"sum/{step}/masked", masked)
        if session.me not in to:
            return None
        total = session.channels[collector].receive_array(f"sum/{step}/total", np.uint64, masked.shape)
        return total.view(np.int64)
    for peer in session.others:
        masked += session.channels[peer].receive_array(f"sum/{step}/masked", np.uint64, masked.shape)
    for peer in to[1:]:
        session.channels[peer].send_array(f"sum/{step}/total", masked)
    return masked.view(np.int64)


def secure_count(
    session: PartySession,
    counts: NDArray[np.int64],
    *,
    step: str,
    to: Sequence[str] | None = None,
    most: int = LARGEST_COUNT,
) -> NDArray[np.int64] | None:
    """Add up the parties' counts, as `secure_sum` does; what cannot be a sum of counts ends the run.

    Nobody has fewer than none, so that a sum is no less than this party's own count, and no more than `most`. This
    keeps a peer that sends nonsense from making tables of a size that nobody has, and is no proof that the sum is
    right.

    >>> from sfumato.party.local_parties import run_parties
    >>> def part(*counts):
    ...     return lambda session: secure_count(session, np.array(counts), step="beds").tolist()
    >>> run_parties({"a": part(1, 5), "b": part(2, 0)})["b"]
    [3, 5]
    >>> run_parties({"a": part(1, 5), "b": part(2, -4)})
    Traceback (most recent call last):
    sfumato.errors.RunAborted: a party sent no counts, since their sum cannot be right; start all parties of this run
    anew
    """
    total = secure_sum(session, counts, step=step, to=to)
    if total is not None:
        check_counts(total, counts, most)
    return total


def check_counts(total: NDArray[np.int64], least: "NDArray[np.int64] | int", most: int = LARGEST_COUNT) -> None:
    """End the run where sums of counts are less than they can be, or more."""
    if (total < least).any() or (total > most).any():
        raise RunAborted("a party sent no counts, since their sum cannot be right; start all parties of this run anew")


def add_mask(values: NDArray[np.uint64], key: bytes, adds: bool) -> None:
    """Add the mask that a key stands for to uint64[n], or take it off: AES-256 in counter mode, from a counter of 0.

    A key is for one sum of one session (`PartySession.agreed_key` gives it once), so a stream of words is never used
    twice.
    """
    stream = Cipher(algorithms.AES256(key), modes.CTR(bytes(16))).encryptor()
    zeros = bytes(8 * min(_BLOCK, values.size))
    flat = values.reshape(-1)
    for start in range(0, flat.size, _BLOCK):
        part = flat[start : start + _BLOCK]
        mask = np.frombuffer(stream.update(memoryview(zeros)[: 8 * part.size]), dtype="<u8")
        if adds:
            part += mask
        else:
            part -= mask


# The task: totals of columns, over the rows of all parties.

_DECIMALS = 6
_MOST_DECIMALS = 15
_CODE = re.compile(r"\s*[+-]?0\d")
_LONGEST_KEY = 77
"""Bytes of a value of a key that is found by a union: with a sign for NULL they go into three points."""
_REFERENCE = "pairwise masks, the first step of Bonawitz et al., Practical Secure Aggregation, CCS 2017"


@dataclass(frozen=True)
class PreparedSums:
    """What a party brings to a sum: for each cell, key by key and column by column, its total and its count of rows."""

    columns: tuple[str, ...]
    keys: tuple[str | None, ...]
    totals: NDArray[np.int64]
    counts: NDArray[np.int64]


@dataclass(frozen=True)
class SumTask(PartyTask):
    """Add up numeric columns over the rows of all parties, in all or for each value of a key column.

    Numbers are added exactly, as whole multiples of ``10 ** -decimals``. Without `columns`, all numeric columns of the
    parties' files are added, and must be the same ones everywhere. `values` are the values of `key`, where they are
    public; left out, they are found by a secure union, of at most `most_items` values of each party. Where fewer rows
    than `min_count` have a number, of all parties together, the total is withheld: counts are added first, and totals
    of the other cells alone.
    """

    kind: ClassVar[str] = "sum"
    keys: ClassVar[tuple[str, ...]] = ("columns", "key", "values", "most_items", "decimals", "min_count")
    result_to: tuple[str, ...]
    parties: int
    columns: tuple[str, ...] | None = None
    key: str | None = None
    values: tuple[str, ...] | None = None
    most_items: int | None = None
    decimals: int = _DECIMALS
    min_count: int = 0

    @classmethod
    def read(cls, section: Section, parties: tuple[str, ...], result_to: tuple[str, ...]) -> Self:
        """Read the settings of ``[task]``."""
        columns, key, values = section.texts("columns"), section.text("key"), section.texts("values")
        decimals, min_count = section.whole_number("decimals"), section.whole_number("min_count")
        for name, given in (("columns", columns), ("values", values)):
            if given is not None and (not given or len(set(given)) < len(given)):
                raise PolicyError("must name at least one, and each once", key=section.path(name))
        if columns is not None and key in columns:
            raise PolicyError("names a column that is added up; leave it out of columns", key=section.path("key"))
        if values is not None and key is None:
            raise PolicyError("are those of a key; write key = a column as well", key=section.path("values"))
        most_items = section.whole_number("most_items")
        if most_items is not None and (key is None or values is not None or not most_items):
            raise PolicyError(
                "bounds the values of a key that are not listed, and is at least 1; leave it out otherwise",
                key=section.path("most_items"),
            )
        if decimals is not None and decimals > _MOST_DECIMALS:
            raise section.error("decimals", f"must be at most {_MOST_DECIMALS}")
        return cls(
            result_to,
            len(parties),
            columns,
            key,
            None if values is None else tuple(sorted(values)),
            most_items,
            _DECIMALS if decimals is None else decimals,
            min_count or 0,
        )

    def statement(self, parties: tuple[str, ...]) -> ProtocolStatement:
        """Say what the sum protects from whom."""
        colluders = "they learn the totals of the one left, which the result less their own tells them."
        learned = []
        if len(parties) == 2:
            learned.append("each of the two parties learns the other's totals, as the result less its own")
        if self.columns is None:
            learned.append("whether all parties have the same numeric columns, whose names a peer may guess at")
        if self.key is not None and self.values is None:
            sizes = "" if self.most_items is not None else "how many each party has, rounded up to a power of two; "
            learned.append(
                f"which values of {self.key} some party has, also where their total is withheld; {sizes}and how "
                "many of these some parties have in common, as a secure union tells"
            )
        if self.min_count:
            learned.append("how many rows of all parties together have a number in each cell, withheld ones included")
        sentence = "; ".join(learned) if learned else "nothing"
        union = "" if self.key is None or self.values is not None else "; keys by secure union (see union)"
        return ProtocolStatement(SEMI_HONEST, colluders, f"{sentence}.", f"secure sum by {_REFERENCE}{union}.")

    def prepare(self, me: str, table: PartyTable) -> PreparedSums:
        """Add up this party's own rows, and check that they can be added exactly."""
        del me
        arrow = table.arrow
        for name in (*(self.columns or ()), *([self.key] if self.key is not None else [])):
            if name not in arrow.column_names:
                hint = did_you_mean(name, arrow.column_names) or f"; it has {listing(arrow.column_names)}"
                raise DataError(f"{table.name} has no column {quote(name)}{hint}")
        columns = self.columns or tuple(
            sorted(name for name in arrow.column_names if name != self.key and _is_numeric(arrow[name]))
        )
        if not columns:
            raise DataError(f"{table.name} has no column of numbers to add up; name another file")
        keys, group = self._group_rows(table)
        totals = np.zeros((len(keys), len(columns)), dtype=np.int64)
        counts = np.zeros_like(totals)
        most = (2**63 - 1) // self.parties  # so that no total of all parties leaves 64 bits
        for place, name in enumerate(columns):
            numbers, there = self._read_numbers(arrow[name], name, table.name)
            sums = _add_by_group(numbers, group, len(keys))
            if max(map(abs, sums)) > most:
                raise DataError(
                    f"column {quote(name)} of {table.name} adds up to more than 64 bits hold at {self.decimals} "
                    "decimals; write fewer decimals in [task], if its numbers have no more"
                )
            totals[:, place] = sums
            counts[:, place] = np.bincount(group[there], minlength=len(keys))
        return PreparedSums(columns, keys, totals, counts)

    def _group_rows(self, table: PartyTable) -> tuple[tuple[str | None, ...], NDArray[np.int64]]:
        """List the values of the key column, sorted, and give the place of each row's among them: int64[rows]."""
        if self.key is None:
            return (None,), np.zeros(table.arrow.num_rows, dtype=np.int64)
        coded = table.arrow[self.key].combine_chunks().cast(pa.string()).dictionary_encode(null_encoding="encode")
        texts: list[str | None] = coded.dictionary.to_pylist()
        found = numpy_numbers(coded.indices.cast(pa.int64()))
        keys: tuple[str | None, ...] = self.values or tuple(sorted(texts, key=lambda text: (text is None, text or "")))
        place_of = {text: place for place, text in enumerate(keys)}
        places = np.array([place_of.get(text, -1) for text in texts], dtype=np.int64)[found]
        if self.values is None:
            overlong = max(len((text or "").encode()) for text in keys)
            if overlong > _LONGEST_KEY:
                raise DataError(
                    f"column {quote(self.key)} of {table.name} has values of more than {_LONGEST_KEY} bytes; list "
                    "values in [task], or name a column of shorter ones"
                )
            require_at_most(len(keys), self.most_items, self.key, table.name)
        if (places < 0).any():
            row = int(np.flatnonzero(places < 0)[0]) + 1
            raise DataError(
                f"row {row:,} of {table.name} has a {quote(self.key)} that is not among values of [task]; add it to "
                "them, or leave the row out"
            )
        return keys, places

    def _read_numbers(self, column: Any, name: str, where: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Read a column as multiples of ``10 ** -decimals``, 0 where a cell is NULL, and say where there is one."""
        coded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        scale = 10**self.decimals
        scaled = []
        for value in coded.dictionary.to_pylist():
            ratio = (0, 1) if value is None else _read_ratio(value)
            if ratio is None:
                raise DataError(
                    f"column {quote(name)} of {where} holds text that is no number; mend it, or leave it out"
                )
            whole, rest = divmod(ratio[0] * scale, ratio[1])
            if rest:
                raise DataError(
                    f"column {quote(name)} of {where} has numbers with more than {self.decimals} decimals; round them, "
                    f"or write more decimals in [task], {_MOST_DECIMALS} at most"
                )
            if abs(whole) >= 2**63:
                raise DataError(
                    f"column {quote(name)} of {where} holds numbers beyond 64 bits at {self.decimals} decimals; write "
                    "fewer decimals in [task]"
                )
            scaled.append(whole)
        places = numpy_numbers(coded.indices.cast(pa.int64()))
        there = np.array([value is not None for value in coded.dictionary.to_pylist()], dtype=bool)
        return np.array(scaled, dtype=np.int64)[places], there[places]

    def run(self, session: PartySession, prepared: PreparedSums) -> Any:
        """Add up the parties' totals: with `min_count`, those of cells alone that enough rows have a number of."""
        self._check_columns(session, prepared.columns)
        if self.key is not None and self.values is None:
            prepared = self._unite_keys(session, prepared)
        shown = np.ones(prepared.totals.size, dtype=bool)
        if self.min_count:
            counts = secure_count(session, prepared.counts.reshape(-1), step="counts", to=self.result_to)
            if counts is None:
                shown = session.channels[self.result_to[0]].receive_array("sum/shown", np.bool_, shown.shape)
            else:
                shown = counts >= self.min_count
            if session.me == self.result_to[0]:
                for peer in session.parties:
                    if peer not in self.result_to:
                        session.channels[peer].send_array("sum/shown", shown)
        added = secure_sum(session, prepared.totals.reshape(-1)[shown], step="totals", to=self.result_to)
        if added is None:
            return None
        numbers = iter(added.tolist())
        cells = [_write_total(next(numbers), self.decimals) if one else None for one in shown.tolist()]
        width = len(prepared.columns)
        lines = [
            dict(zip(prepared.columns, cells[start : start + width], strict=True))
            for start in range(0, len(cells), width)
        ]
        if self.key is None:
            return lines[0]
        return [{self.key: key} | line for key, line in zip(prepared.keys, lines, strict=True)]

    def _check_columns(self, session: PartySession, mine: Sequence[str]) -> None:
        """End the run where a party has other numeric columns, unless the task says which are added."""
        peer = None
        if self.columns is None:
            peer = session.find_disagreement("sum/columns", json.dumps(mine).encode())
        if peer is not None:
            raise RunAborted(
                f"party {quote(peer)} has other numeric columns than this one; agree on them, and write columns = "
                "[...] in [task]",
                peer=peer,
            )

    def _unite_keys(self, session: PartySession, prepared: PreparedSums) -> PreparedSums:
        """Put this party's cells into the lines of the values that any party has; 0 where it has none."""
        from sfumato.party.secure_union import secure_union  # noqa: PLC0415 - where values are public it is not needed

        items = {_write_key(key): place for place, key in enumerate(prepared.keys)}
        union = secure_union(
            session, list(items), step="sum/keys", longest=_LONGEST_KEY + 1, most_items=self.most_items
        )
        assert union is not None  # noqa: S101 - everybody gets it; this tells the type checker
        keys = [_read_key(item) for item in union]
        order = sorted(range(len(keys)), key=lambda place: (keys[place] is None, keys[place] or ""))
        totals = np.zeros((len(keys), len(prepared.columns)), dtype=np.int64)
        counts = np.zeros_like(totals)
        for line, place in enumerate(order):
            mine = items.get(union[place])
            if mine is not None:
                totals[line], counts[line] = prepared.totals[mine], prepared.counts[mine]
        return PreparedSums(prepared.columns, tuple(keys[place] for place in order), totals, counts)


def _write_key(key: str | None) -> bytes:
    """Write a value of the key column for a union; NULL is one of its own."""
    return b"" if key is None else b"=" + key.encode()


def _read_key(item: bytes) -> str | None:
    return None if not item else item[1:].decode("utf-8", "replace")


def _is_numeric(column: Any) -> bool:
    """Tell whether a column holds numbers: texts that start with a zero and a digit are codes, and none.

    >>> [_is_numeric(pa.chunked_array([cells])) for cells in (["1", None], ["1", "x"], ["043", "11"])]
    [True, False, False]
    """
    values = [value for value in pc.unique(column.combine_chunks()).to_pylist() if value is not None]
    if is_text(column.type) and any(_CODE.match(value) for value in values):
        return False
    return bool(values) and all(_read_ratio(value) is not None for value in values)


def _read_ratio(value: Any) -> tuple[int, int] | None:
    """Read a cell as numerator and denominator; a float as the digits that it is written with."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value, 1
    if isinstance(value, Decimal):
        return value.as_integer_ratio() if value.is_finite() else None
    if isinstance(value, float):
        return read_decimal(repr(value))
    return read_decimal(value.strip()) if isinstance(value, str) else None


def _add_by_group(numbers: NDArray[np.int64], group: NDArray[np.int64], groups: int) -> list[int]:
    """Add up int64[rows] by group, exactly: the upper and the lower 32 bits apart, which no number of rows fills."""
    order, runs = sort_by_group(group, groups)
    high, low = numbers[order] >> 32, numbers[order] & 0xFFFFFFFF
    return [
        (int(high[start : start + length].sum()) << 32) + int(low[start : start + length].sum())
        for start, length in zip(runs.starts.tolist(), runs.lengths.tolist(), strict=True)
    ]


def _write_total(total: int, decimals: int) -> int | float:
    """Write a total as JSON has numbers: whole where it is whole, else the float nearest to its digits.

    >>> _write_total(1500, 3), _write_total(1_250_000, 6), _write_total(-3, 0)
    (1.5, 1.25, -3)
    """
    whole, rest = divmod(total, 10**decimals)
    return whole if not rest else float(Decimal(total).scaleb(-decimals))
