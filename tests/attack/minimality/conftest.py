"""Small releases, what the attack believes of their rows, and the same by trying every table that there could be."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.attack.minimality import THOROUGH, MinimalityCoverage, MinimalityEffort
from sfumato.attack.minimality.adversary_knowledge import AdversaryKnowledge
from sfumato.attack.minimality.minimality_attack import find_basis, gather_evidence
from sfumato.attack.minimality.possible_worlds import WorldLimits
from sfumato.attack.minimality.posterior import posterior
from sfumato.encode import EncodedTable, encode
from sfumato.policy import Policy, load
from sfumato.recode import Recoding, recode
from sfumato.table import Table

Rows = Mapping[str, Sequence[str | None]]
Beliefs = list[dict[str | None, float]]


@dataclass(frozen=True, eq=False)
class Made:
    """A table, its policy, and what the algorithm made of it."""

    rows: Rows
    policy: Policy
    encoded: EncodedTable
    recoding: Recoding

    @property
    def shown(self) -> list[object]:
        """What is published of each row in place of its values; nothing where it is suppressed."""
        every = [[one.texts[code] for code in one.codes.tolist()] for one in self.recoding.labels.values()]
        owner = self.recoding.class_of.tolist()
        return [label if there >= 0 else None for label, there in zip(zip(*every, strict=True), owner, strict=True)]

    def again(self, illness: list[str | None]) -> "Made":
        """What the algorithm makes of the same people with other illnesses."""
        encoded = encode(Table(pa.table({**self.rows, "illness": illness})), self.policy)
        return Made(self.rows, self.policy, encoded, recode(encoded, self.policy))

    def believed(self, effort: MinimalityEffort = THOROUGH) -> Beliefs:
        """How likely the attack holds each illness of each row to be; the shares of its class where nothing is told."""
        rng = np.random.default_rng(effort.seed)
        knowledge = AdversaryKnowledge.from_recoding(
            self.encoded, self.recoding, self.policy, most=effort.rows, rng=rng
        )
        limits = WorldLimits(effort.worlds, effort.slots, rng)
        coverage = MinimalityCoverage(len(knowledge.rows), len(knowledge.rows), knowledge.classes)
        evidence, _ = gather_evidence(knowledge, self.policy, find_basis(knowledge, limits), limits, coverage)
        values, bag = self.encoded.sensitive["illness"].texts, knowledge.bag("illness")
        found: Beliefs = [{} for _ in range(self.encoded.rows)]
        for place, row in enumerate(knowledge.rows.tolist()):
            mine = bag.class_of == knowledge.class_of[place]
            shares = bag.count[mine] / knowledge.sizes[knowledge.class_of[place]]
            found[row] = {values[v]: float(share) for v, share in zip(bag.value[mine].tolist(), shares, strict=True)}
            if evidence is not None and evidence.informative[knowledge.class_of[place]]:
                believed = posterior(evidence, bag, "illness")
                lines = believed.cell == evidence.cells.cell_of[place]
                known = zip(believed.value[lines].tolist(), believed.probability[lines].tolist(), strict=True)
                found[row] = {values[v]: likely for v, likely in known if likely > 1e-12}
        return found


def made(rows: Rows, columns: Mapping[str, Any], privacy: Any, **search: Any) -> Made:
    """Recode a table with one sensitive column, the illness."""
    document = {
        "columns": {**columns, "illness": {"role": "sensitive"}},
        "privacy": privacy if isinstance(privacy, list) else [privacy],
        "algorithm": search,
    }
    policy = load(document)
    encoded = encode(Table(pa.table(dict(rows))), policy)
    return Made(rows, policy, encoded, recode(encoded, policy))


def dealt(one: Made, only: int | None = None) -> list[list[str | None]]:
    """Every way to deal the illnesses of each published class, or of one, out to its rows; others keep theirs."""
    owner, illness = one.recoding.class_of.tolist(), list(one.rows["illness"])
    asked = sorted({*owner} - {-1}) if only is None else [only]
    classes = [[row for row, there in enumerate(owner) if there == each] for each in asked]
    ways = [_orders(Counter(illness[row] for row in rows)) for rows in classes]
    found = []
    for chosen in product(*ways):
        world = illness.copy()
        for rows, values in zip(classes, chosen, strict=True):
            for row, value in zip(rows, values, strict=True):
                world[row] = value
        found.append(world)
    return found


def _orders(bag: Counter[str | None]) -> list[tuple[str | None, ...]]:
    """All different orders of a bag."""
    if not bag:
        return [()]
    found = []
    for value in list(bag):
        rest = bag - Counter([value])
        found += [(value, *others) for others in _orders(rest)]
    return found


def counted(worlds: list[list[str | None]], rows: int) -> Beliefs:
    """How often each row has which illness, as a share of the worlds."""
    every = [Counter(world[row] for world in worlds) for row in range(rows)]
    return [{value: times / len(worlds) for value, times in each.items()} for each in every]


def same(found: Beliefs, expected: Beliefs, tolerance: float = 1e-9) -> bool:
    """Whether two beliefs agree on every value of every row."""
    return all(
        abs(one.get(value, 0.0) - other.get(value, 0.0)) <= tolerance
        for one, other in zip(found, expected, strict=True)
        for value in {*one, *other}
    )
