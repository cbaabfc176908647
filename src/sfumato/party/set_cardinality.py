"""Sizes of unions and intersections: parties learn how many items they share, and nobody sees one.

The protocol of Vaidya and Clifton ("Secure set intersection cardinality with application to association rule mining",
Journal of Computer Security 13(4), 2005), with points of ristretto255 for their commutative hashes. Items are hashed to
points, lists are padded with random points to the public size and go round, so that all encrypt and shuffle them; then
party j of the ring holds the list of party j + 1, and equal items are equal points that nobody can open. Vaidya and
Clifton let everybody compare all lists, which tells the size of every intersection of some of them. Here lists are
compared one after the other, from the last party to the first: each puts random points in the place of what its list
lacks (intersection) or has already (union), shuffles, and hands on. So a party sees one number.

Adversary: semi-honest. Beyond the result:

- Intersection: for parties 0, ..., n - 1 of the ring, party j with 0 < j < n - 1 learns how many items parties j + 1,
  ..., n - 1 and 0 share, all of them together. Of two parties nobody learns more than the result.
- Union: party j < n - 1 learns how many items of party j + 1 are among those of parties j + 2, ..., n - 1 and 0. The
  numbers of distinct items are then added by a secure sum, so that sizes of sets stay hidden. Of two parties, the first
  thereby learns the size of the intersection and of the other's set.
- Parties that collude compare all lists under the others' keys: they learn the size of every intersection of some of
  the sets, their own ones included. A colluder whose set is a single item learns whether the last party has it.

By group. Each party's list has as many blocks as there are groups, each padded to the public size, and an item is
hashed with the place of its group, so that nobody can see that the same person is in two of them. A party that has no
groups puts its items into every block. Where small counts are withheld, the last of the ring puts the blocks in a
secret order before they are compared. So the first, who counts, sees all counts and not of which group each is, but for
what the sizes of its own groups rule out; it tells the last one those that are large enough, and that one puts names to
them. Who counts therefore knows the small counts; where one group alone is withheld, it knows of which, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.core.randomness import Randomness
from sfumato.errors import DataError, PolicyError, RunAborted, quote
from sfumato.party.commutative_encryption import (
    CommutativeKey,
    PointLists,
    agree_size,
    encrypt_in_ring,
    random_rows,
    require_distinct,
    row_list,
    shuffle_rows,
)
from sfumato.party.identifiers import (
    count_rows,
    normalize_texts,
    read_identifier_keys,
    read_identifiers,
    read_texts,
    require_at_most,
    size_sentence,
)
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable, PartyTask
from sfumato.party.protocol_statement import SEMI_HONEST, ProtocolStatement
from sfumato.party.ristretto_group import POINT_BYTES, hash_to_point, points_array
from sfumato.party.secure_sum import check_counts, secure_sum
from sfumato.party.secure_union import secure_union
from sfumato.policy.section import Section, join_choices

_REFERENCE = "commutative encryption, Vaidya and Clifton, Journal of Computer Security 13(4), 2005, on ristretto255."


def intersection_size(
    session: PartySession,
    items: Sequence[bytes],
    *,
    step: str,
    most_items: int | None = None,
    min_count: int = 0,
    to: Sequence[str] | None = None,
) -> int | None:
    """Count the items that all parties have; those of `to` (all, if left out) get the number.

    A number below `min_count` is withheld, and ``None``; the first of `to`, who counts, could see it.

    >>> from sfumato.party.local_parties import run_parties
    >>> def part(*items):
    ...     return lambda session: intersection_size(session, items, step="t", most_items=3)
    >>> run_parties({"a": part(b"Anna", b"Bo"), "b": part(b"Bo", b"Jo", b"Anna"), "c": part(b"Bo", b"Li")})
    {'a': 1, 'b': 1, 'c': 1}
    """
    to = session.parties if to is None else tuple(to)
    sizes = _count_shared(session, [items], to, step=step, most_items=most_items, min_count=min_count, hides=False)
    return None if sizes is None else sizes[0]


def intersection_sizes(
    session: PartySession,
    groups: Sequence[Sequence[bytes]],
    *,
    step: str,
    most_items: int | None = None,
    min_count: int = 0,
    to: Sequence[str] | None = None,
) -> list[int | None] | None:
    """Count, for each group, the items that all parties have in it; those of `to` get the numbers.

    `groups` are this party's items of each group; all parties have the same groups in one order, and none has more than
    `most_items` in any. Numbers below `min_count` are withheld, and ``None``; with one above 1, who counts is not told
    which group a number is of.

    >>> from sfumato.party.local_parties import run_parties
    >>> def part(*groups):
    ...     return lambda session: intersection_sizes(session, groups, step="t", most_items=3, min_count=2)
    >>> run_parties({"a": part([b"Anna", b"Bo"], [b"Jo"]), "b": part([b"Bo", b"Anna"], [b"Jo"])})
    {'a': [2, None], 'b': [2, None]}
    """
    to = session.parties if to is None else tuple(to)
    hides = hides_groups(min_count)
    return _count_shared(session, groups, to, step=step, most_items=most_items, min_count=min_count, hides=hides)


def hides_groups(min_count: int) -> bool:
    """Say whether some counts are withheld, so that who counts must not know of which groups they are.

    >>> hides_groups(0), hides_groups(1), hides_groups(2)
    (False, True, True)
    """
    return min_count > 0


def _count_shared(  # noqa: PLR0913 - what the two functions above have settled
    session: PartySession,
    groups: Sequence[Sequence[bytes]],
    to: Sequence[str],
    *,
    step: str,
    most_items: int | None,
    min_count: int,
    hides: bool,
) -> list[int | None] | None:
    """Count what all parties share, group by group; see the module."""
    ring = counting_ring(session.parties, to, hides=hides)
    place, count, blocks = ring.index(session.me), len(ring), len(groups)
    size = agree_size(session, max(len(set(items)) for items in groups), most_items, step=step)
    key = CommutativeKey()
    listed = _hash_items(session, groups, size, step)
    if place > 0:
        listed = shuffle_rows(listed)  # of the first list alone anybody is told where its blocks are
    held = encrypt_in_ring(session, ring, listed, key, step=step, blocks=blocks)

    order = np.arange(blocks)  # the group that stands at each place of what is compared
    if place == count - 1:
        order = Randomness().permutation(blocks) if hides else order
        blocked = held.reshape(blocks, size, POINT_BYTES)[order].reshape(held.shape)
        session.channels[ring[place - 1]].send_array(f"{step}/compare", blocked)
    else:
        after = session.channels[ring[place + 1]]
        others = after.receive_array(f"{step}/compare", np.uint8, held.shape)
        require_distinct(others, after, f"{step}/compare")
        known = set(row_list(held))
        shared = np.array([row in known for row in row_list(others)], dtype=bool)
        if place > 0:
            passed = others.copy()
            passed[~shared] = random_rows(int((~shared).sum()))
            session.channels[ring[place - 1]].send_array(f"{step}/compare", shuffle_rows(passed, blocks))

    # The first counts. Where the order of groups is secret, the last alone can say whose the counts are.
    teller = ring[0]
    if place == 0:
        counts = shared.reshape(blocks, size).sum(axis=1, dtype=np.int64)
        counts[counts < min_count] = _WITHHELD
        if hides:
            session.channels[ring[-1]].send_array(f"{step}/counted", counts)
    if hides:
        teller = ring[-1]
        if session.me == teller:
            counts = np.empty(blocks, dtype=np.int64)
            counts[order] = _receive_counts(session, ring[0], f"{step}/counted", blocks, size)
    if session.me not in {teller, *to}:
        return None
    if session.me == teller:
        for peer in to:
            if peer != teller:
                session.channels[peer].send_array(f"{step}/counts", counts)
    else:
        counts = _receive_counts(session, teller, f"{step}/counts", blocks, size)
    return [None if number == _WITHHELD else number for number in counts.tolist()]


_WITHHELD = -1


def _receive_counts(session: PartySession, peer: str, step: str, groups: int, size: int) -> NDArray[np.int64]:
    counts = session.channels[peer].receive_array(step, np.int64, groups)
    if (counts < _WITHHELD).any() or (counts > size).any():
        raise session.channels[peer].refuse(step, "a count that cannot be right")
    return counts


def counting_ring(parties: Sequence[str], to: Sequence[str], *, hides: bool) -> tuple[str, ...]:
    """Order the parties so that who counts is the first, and who names the groups, where they are hidden, is the last.

    Who counts gets the result. Where groups are hidden, who names them gets the result, and who counts does, too, if
    two get it.

    >>> counting_ring(("a", "b", "c"), ("b",), hides=False), counting_ring(("a", "b", "c"), ("b",), hides=True)
    (('b', 'a', 'c'), ('a', 'c', 'b'))
    """
    first = (to[1] if len(to) > 1 else next(name for name in parties if name != to[0])) if hides else to[0]
    last = to[0] if hides else None
    middle = [name for name in parties if name not in {first, last}]
    return (first, *middle) if last is None else (first, *middle, last)


def union_size(
    session: PartySession,
    items: Sequence[bytes],
    *,
    step: str,
    most_items: int | None = None,
    to: Sequence[str] | None = None,
) -> int | None:
    """Count the items that at least one party has; those of `to` (all, if left out) get the number.

    >>> from sfumato.party.local_parties import run_parties
    >>> def part(*items):
    ...     return lambda session: union_size(session, items, step="t", most_items=3, to=["b"])
    >>> run_parties({"a": part(b"Anna", b"Bo"), "b": part(b"Bo", b"Jo", b"Anna"), "c": part(b"Bo", b"Li")})
    {'a': None, 'b': 4, 'c': None}
    """
    to = session.parties if to is None else tuple(to)
    ring = counting_ring(session.parties, to, hides=False)
    place, count = ring.index(session.me), len(ring)
    own = set(items)
    size = agree_size(session, len(own), most_items, step=step)
    merged = encrypt_in_ring(session, ring, _hash_items(session, [items], size, step), CommutativeKey(), step=step)
    repeated = 0
    if place < count - 1:
        after = session.channels[ring[place + 1]]
        others = after.receive_array(f"{step}/merge", np.uint8, ((count - 1 - place) * size, POINT_BYTES))
        require_distinct(others, after, f"{step}/merge")
        known = set(row_list(others))
        fresh = merged[[row not in known for row in row_list(merged)]]
        repeated = size - len(fresh)
        merged = shuffle_rows(np.concatenate([others, fresh, random_rows(repeated)]))
    if place > 0:
        session.channels[ring[place - 1]].send_array(f"{step}/merge", merged)
    # Every party counts its own set, less what it saw twice: the sum has every item once.
    total = secure_sum(session, np.array([len(own) - repeated], dtype=np.int64), step=f"{step}/distinct", to=to)
    if total is None:
        return None
    check_counts(total, len(own), count * size)
    return int(total[0])


def _hash_items(session: PartySession, groups: Sequence[Sequence[bytes]], size: int, step: str) -> PointLists:
    """Hash the items of each group to points, and pad each to `size` rows; uint8[groups * size, 32]."""
    rows = []
    for place, items in enumerate(groups):
        block, salt = place.to_bytes(4, "little"), session.session_id
        points = [hash_to_point(f"set-cardinality/{step}", salt, block, item) for item in sorted(set(items))]
        rows += [points_array(points), random_rows(size - len(points))]
    return np.concatenate(rows)


# The tasks

_LONGEST_LABEL = 78


@dataclass(frozen=True)
class PreparedGroups:
    """The identifiers of a party's table, and where it has groups, those of each group by its label.

    `spellings` has the label of each group as the party's own file writes it first.
    """

    items: tuple[bytes, ...]
    groups: dict[str, tuple[bytes, ...]] | None
    warnings: tuple[str, ...]
    spellings: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class IntersectionSizeTask(PartyTask):
    """Count the identifiers of a column that all parties have, in all or for each value of the column `by`.

    A party whose file has no column `by` counts in every group; one that has it counts where it says so. The labels of
    the groups are those of `groups`, or, left out, found by a secure union of the parties' labels.
    """

    kind: ClassVar[str] = "intersection-size"
    keys: ClassVar[tuple[str, ...]] = ("column", "normalize", "most_items", "by", "groups", "min_count")
    result_to: tuple[str, ...]
    column: str
    normalize: str = "text"
    most_items: int | None = None
    by: str | None = None
    groups: tuple[str, ...] | None = None
    min_count: int = 0

    @classmethod
    def read(cls, section: Section, parties: tuple[str, ...], result_to: tuple[str, ...]) -> Self:
        """Read the settings of ``[task]``."""
        del parties
        column, normalize, most_items = read_identifier_keys(section)
        by, groups = section.text("by"), section.texts("groups")
        if groups is not None and by is None:
            raise PolicyError("are those of by; write by = a column as well", key=section.path("groups"))
        if groups is not None and (not groups or None in (folded := normalize_texts(groups))):
            raise PolicyError("must name at least one group, and none that is blank", key=section.path("groups"))
        if groups is not None and len(set(folded)) < len(groups):
            raise PolicyError("must name each group once; case and blanks do not count", key=section.path("groups"))
        return cls(result_to, column, normalize, most_items, by, groups, section.whole_number("min_count") or 0)

    def statement(self, parties: tuple[str, ...]) -> ProtocolStatement:
        """Say what a size of an intersection protects from whom."""
        hides = self.by is not None and hides_groups(self.min_count)
        ring = counting_ring(parties, self.result_to, hides=hides)
        each = " for each group" if self.by is not None else ""
        learned = [
            f"party {ring[place]} learns how many identifiers {', '.join(ring[place + 1 :])} and {ring[0]} share{each}"
            + (", and not of which group a number is" if hides else "")
            for place in range(1, len(ring) - 1)
        ]
        if hides:
            learned.append(
                f"party {ring[0]}, who counts, learns all numbers, those below min_count = {self.min_count} included, "
                "and not of which group one is, but for what the sizes of its own groups rule out, and unless one "
                "group alone is withheld"
            )
        elif self.min_count:
            learned.append(f"party {ring[0]}, who counts, learns the number also where it is below min_count")
        if self.by is not None:
            learned.append(f"which parties have the column {quote(self.by)}")
            if self.groups is None:
                learned.append("the labels of all groups, and what a secure union of them tells")
        learned.append(size_sentence(self.most_items) + each)
        return ProtocolStatement(
            SEMI_HONEST,
            "there is one other party."
            if len(parties) == 2
            else "they learn how many identifiers any of their sets share with the last party's, and a colluder whose "
            "set is one identifier learns whether the last one has it.",
            "; ".join(learned) + ".",
            f"Size of an intersection by {_REFERENCE}",
        )

    def prepare(self, me: str, table: PartyTable) -> PreparedGroups:
        """Take this party's identifiers, and its groups where it has them."""
        del me
        found = read_identifiers(table, self.column, normalize=self.normalize)
        require_at_most(len(found.items), self.most_items, self.column, table.name)
        if self.by is None or self.by not in table.arrow.column_names:
            return PreparedGroups(found.items, None, found.warnings)
        # An identifier may be in several groups, by several rows; in each it counts once.
        written = read_texts(table, self.by)
        labels = normalize_texts(written)
        names = normalize_texts(read_texts(table, self.column), self.normalize)
        known = None if self.groups is None else set(normalize_texts(self.groups))
        groups: dict[str, dict[bytes, None]] = {}
        left_out = 0
        for label, name in zip(labels, names, strict=True):
            if label is None or name is None or (known is not None and label not in known):
                left_out += 1
            else:
                groups.setdefault(label, {})[name.encode()] = None
        if any(len(label.encode()) > _LONGEST_LABEL for label in groups):
            raise DataError(
                f"column {quote(self.by)} of {table.name} has labels of more than {_LONGEST_LABEL} bytes; name a "
                "column of groups"
            )
        warnings = found.warnings
        if left_out:
            which = "NULL" if self.groups is None else "NULL or no label of groups"
            said = f"{which} in {count_rows(left_out)}, and no group counts them"
            warnings += (f"column {quote(self.by)} of {table.name} has {said}",)
        spellings: dict[str, str] = {}
        for label, spelling in zip(labels, written, strict=True):
            if label is not None and spelling is not None:
                spellings.setdefault(label, spelling.strip())
        members = {label: tuple(items) for label, items in groups.items()}
        return PreparedGroups(found.items, members, warnings, spellings)

    def cautions(self, prepared: PreparedGroups) -> tuple[str, ...]:
        """Say which identifiers repeat, which can be guessed, and how many rows are in no group."""
        return prepared.warnings

    def run(self, session: PartySession, prepared: PreparedGroups) -> Any:
        """Count what all parties have."""
        if self.by is None:
            size = intersection_size(
                session,
                prepared.items,
                step="sizes",
                most_items=self.most_items,
                min_count=self.min_count,
                to=self.result_to,
            )
            return {"size": size} if session.me in self.result_to else None
        labels = self._agree_labels(session, prepared)
        own = prepared.groups
        groups = [prepared.items if own is None else own.get(label, ()) for label, _ in labels]
        sizes = intersection_sizes(
            session,
            groups,
            step="sizes",
            most_items=self.most_items,
            min_count=self.min_count,
            to=self.result_to,
        )
        if sizes is None:
            return None
        return {"by": self.by, "sizes": {shown: size for (_, shown), size in zip(labels, sizes, strict=True)}}

    @classmethod
    def tabulate(cls, result: Any) -> list[dict[str, Any]]:
        """Write a line for each group, or the one size.

        >>> IntersectionSizeTask.tabulate({"by": "ward", "sizes": {"north": 7, "south": None}})
        [{'ward': 'north', 'size': 7}, {'ward': 'south', 'size': None}]
        """
        if "by" not in result:
            return [result]
        # a column that is itself called size keeps its name, and stands in the place of nothing
        size = "size" if result["by"] != "size" else "shared"
        return [{result["by"]: label, size: number} for label, number in result["sizes"].items()]

    def _agree_labels(self, session: PartySession, prepared: PreparedGroups) -> list[tuple[str, str]]:
        """List the groups, as they are compared and as they are shown."""
        for peer in session.others:
            session.channels[peer].send_json("groups/has", prepared.groups is not None)
        has = {peer: session.channels[peer].receive_json("groups/has", most=5) for peer in session.others}
        for peer, told in has.items():
            if not isinstance(told, bool):
                raise session.channels[peer].refuse("groups/has", "neither true nor false")
        if not any(has.values()) and prepared.groups is None:
            raise RunAborted(f"no party has the column {quote(self.by)} that the task counts by; name another one")
        if self.groups is not None:
            return list(zip(map(str, normalize_texts(self.groups)), self.groups, strict=True))
        labels = [label.encode() for label in prepared.groups or ()]
        found = secure_union(session, labels, step="groups", longest=_LONGEST_LABEL) or []
        if not found:
            raise RunAborted(f"column {quote(self.by)} has no label at any party; name another one")
        try:
            compared = [label.decode() for label in found]
        except UnicodeDecodeError:
            raise RunAborted("a party has a label that is no UTF-8; find out whose program was changed") from None
        return [(label, prepared.spellings.get(label, label)) for label in compared]


@dataclass(frozen=True)
class UnionSizeTask(PartyTask):
    """Count the identifiers of a column that at least one party has."""

    kind: ClassVar[str] = "union-size"
    keys: ClassVar[tuple[str, ...]] = ("column", "normalize", "most_items")
    result_to: tuple[str, ...]
    column: str
    normalize: str = "text"
    most_items: int | None = None

    @classmethod
    def read(cls, section: Section, parties: tuple[str, ...], result_to: tuple[str, ...]) -> Self:
        """Read the settings of ``[task]``."""
        del parties
        return cls(result_to, *read_identifier_keys(section))

    def statement(self, parties: tuple[str, ...]) -> ProtocolStatement:
        """Say what a size of a union protects from whom."""
        ring = counting_ring(parties, self.result_to, hides=False)
        learned = [
            f"party {ring[place]} learns how many identifiers of {ring[place + 1]} are among those of "
            f"{join_choices([*ring[place + 2 :], ring[0]])}"
            for place in range(len(ring) - 1)
        ]
        if len(parties) == 2:
            learned.append(f"with the result, party {ring[0]} thereby learns the size of the other's set")
        learned.append(size_sentence(self.most_items))
        return ProtocolStatement(
            SEMI_HONEST,
            "there is one other party."
            if len(parties) == 2
            else "they learn how many identifiers the last party has, how many of them any of their sets share, and a "
            "colluder whose set is one identifier learns whether the last one has it.",
            "; ".join(learned) + ".",
            f"Size of a union by {_REFERENCE}",
        )

    def prepare(self, me: str, table: PartyTable) -> PreparedGroups:
        """Take this party's identifiers."""
        del me
        found = read_identifiers(table, self.column, normalize=self.normalize)
        require_at_most(len(found.items), self.most_items, self.column, table.name)
        return PreparedGroups(found.items, None, found.warnings)

    def cautions(self, prepared: PreparedGroups) -> tuple[str, ...]:
        """Say which identifiers repeat, and which can be guessed."""
        return prepared.warnings

    def run(self, session: PartySession, prepared: PreparedGroups) -> Any:
        """Count what any party has."""
        size = union_size(session, prepared.items, step="size", most_items=self.most_items, to=self.result_to)
        return None if size is None else {"size": size}
