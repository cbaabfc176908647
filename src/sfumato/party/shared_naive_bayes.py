"""Naive Bayes over the data of all parties, from counts and sums alone (chapter, 20.5).

A naive Bayes classifier is made of how many rows each class has, how many of these have each value of a category, and
the mean and variance of each number within each class. All of these follow from sums over rows. Where parties hold
different rows, a single secure sum makes the model: numbers are added as whole steps above their lower bound, and so
are their squares, exactly, so that the model is that of the joined rows to the last bit (Kantarcioglu and Vaidya 2003,
for horizontally partitioned data). Where two parties hold different columns of the same rows, `vertical_naive_bayes`
makes it.

Adversary: semi-honest. The model is what all learn; with it n - 1 of n parties learn the counts and sums of the last.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError, PolicyError, RunAborted, quote
from sfumato.party.agreed_values import agree_on_values
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable, PartyTask
from sfumato.party.protocol_statement import SEMI_HONEST, ProtocolStatement
from sfumato.party.public_domains import (
    HeldValues,
    NumberBounds,
    ValueList,
    read_columns,
    read_domains,
    stated_domains,
)
from sfumato.party.row_linkage import (
    LINKAGE_KEYS,
    LinkedRows,
    RowLinkage,
    read_divided_columns,
    read_partition,
)
from sfumato.party.secure_sum import LARGEST_SUM, check_counts, secure_count
from sfumato.party.vertical_naive_bayes import add_by_other_classes, number_columns, number_limits
from sfumato.policy.section import Section

_LOW = (1 << 32) - 1
_LARGE_STEPS = 1 << 16  # below, no two billion squares leave 63 bits


@dataclass(frozen=True)
class CategoryCounts:
    """How many rows of each class have each value: int64[classes, values]."""

    column: str
    values: tuple[str, ...]
    counts: NDArray[np.int64]


@dataclass(frozen=True)
class NumberMoments:
    """Mean and variance of a number within each class, and over all rows."""

    column: str
    means: tuple[float, ...]
    variances: tuple[float, ...]
    variance: float


@dataclass(frozen=True)
class NaiveBayesModel:
    """A naive Bayes classifier, as it is told to the parties, with categories and numbers side by side.

    >>> model = NaiveBayesModel("ill", ("no", "yes"), (6, 3), (
    ...     CategoryCounts("sex", ("f", "m"), np.array([[5, 1], [0, 3]])),))
    >>> model.predict({"sex": ["f", "m"]})
    ['no', 'yes']
    >>> NaiveBayesModel.from_json(model.as_json()).predict({"sex": ["m"]})
    ['yes']
    """

    target: str
    classes: tuple[str, ...]
    class_counts: tuple[int, ...]
    columns: tuple[CategoryCounts | NumberMoments, ...]

    def joint_log_likelihood(
        self, rows: Mapping[str, Sequence[Any]], *, alpha: float = 1.0, var_smoothing: float = 1e-9
    ) -> NDArray[np.float64]:
        """Give the logarithm of the chance of each row together with each class, float64[n, classes].

        Categories are smoothed by `alpha`, and every variance is raised by `var_smoothing` times the largest variance
        of a column, as `CategoricalNB` and `GaussianNB` of scikit-learn do. A class without rows has no chance.
        """
        sizes = np.array(self.class_counts, dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            prior = np.log(sizes) - np.log(sizes.sum())
        numbers = [column for column in self.columns if isinstance(column, NumberMoments)]
        smoothing = var_smoothing * max((column.variance for column in numbers), default=0.0)
        found: NDArray[np.float64] = prior[None, :]
        for column in self.columns:
            if column.column not in rows:
                raise DataError(f"the rows have no column {quote(column.column)}, which the model is made of")
            cells = rows[column.column]
            if isinstance(column, CategoryCounts):
                place = {value: number for number, value in enumerate(column.values)}
                unknown = next((number for number, cell in enumerate(cells) if str(cell) not in place), None)
                if unknown is not None:
                    raise DataError(f"{quote(column.column)} of row {unknown + 1:,} is no value that the model knows")
                chances = np.log(column.counts + alpha) - np.log(
                    column.counts.sum(axis=1, keepdims=True) + alpha * len(column.values)
                )
                found = found + chances.T[np.array([place[str(cell)] for cell in cells], dtype=np.int64)]
            else:
                variances = np.array(column.variances) + smoothing
                offsets = np.asarray(cells, dtype=np.float64)[:, None] - np.array(column.means)
                with np.errstate(divide="ignore", invalid="ignore"):
                    found = found - 0.5 * (np.log(2 * np.pi * variances) + offsets**2 / variances)
        return np.where(sizes > 0, found, -np.inf)

    def predict(
        self, rows: Mapping[str, Sequence[Any]], *, alpha: float = 1.0, var_smoothing: float = 1e-9
    ) -> list[str]:
        """Give the likeliest class of each row; `rows` has the columns by name."""
        chances = self.joint_log_likelihood(rows, alpha=alpha, var_smoothing=var_smoothing)
        return [self.classes[place] for place in chances.argmax(axis=1).tolist()]

    def as_json(self) -> dict[str, Any]:
        """Give the model as JSON can hold it."""
        return {
            "class": self.target,
            "classes": list(self.classes),
            "class_counts": list(self.class_counts),
            "columns": [
                {"column": column.column, "values": list(column.values), "counts": column.counts.tolist()}
                if isinstance(column, CategoryCounts)
                else {
                    "column": column.column,
                    "means": list(column.means),
                    "variances": list(column.variances),
                    "variance": column.variance,
                }
                for column in self.columns
            ],
        }

    def as_table(self) -> list[dict[str, Any]]:
        """Give every number of the model by a line of its own: of which class, column and value, what, and how much.

        A ``count`` is of rows, ``mean`` and ``variance`` are those of a number; the variance over all rows has no
        class.
        """

        def line(name: str | None, column: str, value: str | None, number: str, amount: float) -> dict[str, Any]:
            return {"class": name, "column": column, "value": value, "number": number, "is": amount}

        lines = [
            line(name, self.target, name, "count", count)
            for name, count in zip(self.classes, self.class_counts, strict=True)
        ]
        for one in self.columns:
            if isinstance(one, CategoryCounts):
                lines += [
                    line(name, one.column, value, "count", count)
                    for name, counts in zip(self.classes, one.counts.tolist(), strict=True)
                    for value, count in zip(one.values, counts, strict=True)
                ]
                continue
            for number, amounts in (("mean", one.means), ("variance", one.variances)):
                lines += [
                    line(name, one.column, None, number, amount)
                    for name, amount in zip(self.classes, amounts, strict=True)
                ]
            lines.append(line(None, one.column, None, "variance", one.variance))
        return lines

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """Read a model back from the result of a task."""
        return cls(
            content["class"],
            tuple(content["classes"]),
            tuple(content["class_counts"]),
            tuple(
                CategoryCounts(one["column"], tuple(one["values"]), np.array(one["counts"], dtype=np.int64))
                if "values" in one
                else NumberMoments(one["column"], tuple(one["means"]), tuple(one["variances"]), one["variance"])
                for one in content["columns"]
            ),
        )


@dataclass(frozen=True)
class NaiveBayesTask(PartyTask):
    """Learn a naive Bayes classifier for `target` from `domains`, categories and numbers, over all parties' rows."""

    kind: ClassVar[str] = "naive-bayes"
    keys: ClassVar[tuple[str, ...]] = (
        *("class", "columns", "values", "bounds", "decimals", "partition", *LINKAGE_KEYS),
    )
    result_to: tuple[str, ...]
    target: ValueList
    domains: tuple[ValueList | NumberBounds, ...]
    most_items: int | None = None
    divided: Mapping[str, tuple[str, ...]] | None = None
    linkage: RowLinkage | None = None

    @classmethod
    def read(cls, section: Section, parties: tuple[str, ...], result_to: tuple[str, ...]) -> Self:
        """Read the settings of ``[task]``."""
        target, divided, linkage = section.text("class"), None, None
        if target is None:
            raise PolicyError("must name the column that is to be foretold", key=section.path("class"))
        if read_partition(section, tuple(name for name in LINKAGE_KEYS if name != "most_items")):
            divided, linkage = read_divided_columns(section, parties), RowLinkage.read(section, parties)
            columns = tuple(column for own in divided.values() for column in own)
            if target not in columns:
                raise PolicyError("must be one of the columns of the party that has it", key=section.path("class"))
            columns = tuple(column for column in columns if column != target)
        else:
            columns = read_columns(section)
            if target in columns:
                raise PolicyError("is one of columns, too; leave it out there", key=section.path("class"))
        first, *domains = read_domains(section, (target, *columns))
        if not isinstance(first, ValueList):
            raise PolicyError("has bounds, and classes are values; list them in values", key=section.path("class"))
        return cls(result_to, first, tuple(domains), section.whole_number("most_items"), divided, linkage)

    def statement(self, parties: tuple[str, ...]) -> ProtocolStatement:
        """Say what the sums protect from whom."""
        if self.linkage is not None:
            large = any(isinstance(one, NumberBounds) and one.steps >= _LARGE_STEPS for one in self.domains)
            return ProtocolStatement(
                SEMI_HONEST,
                "the other of the two parties learns what stands below, and nothing else.",
                f"{self.linkage.sentence()} The model is made of counts, sums and sums of squares, and small ones are "
                "in it as they are; both parties learn it, and which values occur."
                + (" Where a sum of squares may leave 63 bits, they learn it as two, of halves." if large else ""),
                "Vaidya and Clifton, Privacy preserving naive Bayes classifier for vertically partitioned data, SDM "
                "2004, over scalar products by oblivious transfer (Gilboa, CRYPTO 1999)",
            )
        learned = stated_domains((self.target, *self.domains), parties, self.most_items)
        return ProtocolStatement(
            SEMI_HONEST,
            "they learn the last party's counts, sums and sums of squares, since the model less their own is that.",
            f"{learned} The model is made of counts, and small ones are in it as they are.".strip(),
            "secure sum by pairwise masks (Bonawitz et al., CCS 2017); naive Bayes from sums as Kantarcioglu and "
            "Vaidya, Privacy preserving naive Bayes classifier for horizontally partitioned data, 2003",
        )

    def prepare(self, me: str, table: PartyTable) -> "HeldColumns":
        """Take this party's columns."""
        own = [one for one in (self.target, *self.domains) if self.divided is None or one.column in self.divided[me]]
        columns = {domain.column: domain.hold(table) for domain in own}
        return HeldColumns(columns, None if self.linkage is None else self.linkage.hold(table))

    def cautions(self, prepared: "HeldColumns") -> tuple[str, ...]:
        """Say what this party should know of its identifiers."""
        return () if prepared.linked is None else prepared.linked.warnings

    def run(self, session: PartySession, prepared: "HeldColumns") -> Any:
        """Add up what the model is made of, and make it."""
        if self.linkage is not None and prepared.linked is not None:
            rows = self.linkage.link(session, prepared.linked, step="bayes")
            known, total = self._add_vertically(session, prepared.take(rows), len(rows))
        else:
            known, total = self._add_horizontally(session, prepared)
        if total is None or session.me not in self.result_to:
            return None
        return make_model(self.target.column, known[self.target.column], self.domains, known, total).as_json()

    @classmethod
    def tabulate(cls, result: Any) -> list[dict[str, Any]]:
        """Write a line for each number of the model.

        >>> ages = NumberMoments("age", (30.0, 50.5), (4.0, 9.0), 7.5)
        >>> model = NaiveBayesModel("ill", ("no", "yes"), (6, 3), (ages,))
        >>> NaiveBayesTask.tabulate(model.as_json())[1:4]  # doctest: +NORMALIZE_WHITESPACE
        [{'class': 'yes', 'column': 'ill', 'value': 'yes', 'number': 'count', 'is': 3},
         {'class': 'no', 'column': 'age', 'value': None, 'number': 'mean', 'is': 30.0},
         {'class': 'yes', 'column': 'age', 'value': None, 'number': 'mean', 'is': 50.5}]
        """
        return NaiveBayesModel.from_json(result).as_table()

    def _add_horizontally(
        self, session: PartySession, prepared: "HeldColumns"
    ) -> tuple[dict[str, tuple[str, ...]], NDArray[np.int64] | None]:
        """Add up the counts and sums of all parties' rows."""
        categories = [domain for domain in (self.target, *self.domains) if isinstance(domain, ValueList)]
        values = agree_on_values(
            session,
            categories,
            [prepared.values(domain.column) for domain in categories],
            step="bayes",
            most_items=self.most_items,
        )
        known = {domain.column: own for domain, own in zip(categories, values, strict=True)}
        classes = known[self.target.column]
        target = prepared.values(self.target.column).codes_among(classes)
        parts = [np.bincount(target, minlength=len(classes))[:, None]]
        parts += [_count_by_class(target, len(classes), prepared, domain, known) for domain in self.domains]
        # all that is added up is none or more
        total = secure_count(session, np.concatenate(parts, axis=1), step="bayes", to=self.result_to, most=LARGEST_SUM)
        if total is not None:
            check_counts(total[:, 0], 0)
        return known, total

    def _add_vertically(
        self, session: PartySession, prepared: "HeldColumns", rows: int
    ) -> tuple[dict[str, tuple[str, ...]], NDArray[np.int64] | None]:
        """Add up this party's columns and the other's by class; both learn the sums.

        Values that no task lists are told by their holder, since the model tells them in any case.
        """
        (peer,) = session.others
        channel = session.channels[peer]
        known = {
            one.column: one.values for one in (self.target, *self.domains) if isinstance(one, ValueList) and one.values
        }
        told = {
            name: sorted(held.texts)
            for name, held in prepared.columns.items()
            if isinstance(held, HeldValues) and name not in known
        }
        channel.send_json("bayes/values", told)
        heard = channel.receive_json("bayes/values")
        due = (
            {one.column for one in (*self.domains, self.target) if isinstance(one, ValueList)} - set(known) - set(told)
        )
        if not isinstance(heard, dict) or set(heard) != due or not all(map(_is_text_list, heard.values())):
            raise channel.refuse("bayes/values", "other columns than those that it has")
        known |= {name: tuple(own) for name, own in (told | heard).items()}
        classes = known[self.target.column]
        parts: list[NDArray[np.int64]] = []
        if self.target.column in prepared.columns:
            target = prepared.values(self.target.column).codes_among(classes)
            sizes = np.bincount(target, minlength=len(classes))[:, None]
            counted = {
                domain.column: _count_by_class(target, len(classes), prepared, domain, known)
                for domain in self.domains
                if domain.column in prepared.columns
            }
            channel.send_array("bayes/own", np.concatenate([sizes, *counted.values()], axis=1))
        else:
            target = None
            widths = [
                len(known[one.column]) if isinstance(one, ValueList) else 3
                for one in self.domains
                if one.column not in prepared.columns
            ]
            own = channel.receive_array("bayes/own", np.int64, (len(classes), 1 + sum(widths)))
            sizes, *others = np.split(own, np.cumsum([1, *widths])[:-1], axis=1)
            names = [one.column for one in self.domains if one.column not in prepared.columns]
            counted = dict(zip(names, others, strict=True))
        parts = [sizes]
        for domain in self.domains:
            if domain.column in counted:
                parts.append(counted[domain.column])
                continue
            if isinstance(domain, ValueList):
                limits: tuple[int, ...] = (1,) * len(known[domain.column])
            else:
                limits = number_limits(domain.steps, rows)
            columns = None
            if target is None:
                columns = _write_columns(prepared.columns[domain.column], known.get(domain.column, ()), len(limits))
            sums = add_by_other_classes(
                session, columns, target, width=len(classes), limits=limits, step=f"bayes/{domain.column}"
            )
            # of a number three sums are due, the last the upper half of the squares, unless they fit into a word
            missing = 0 if isinstance(domain, ValueList) else 3 - len(limits)
            parts.append(np.pad(sums, ((0, 0), (0, missing))))
        return known, np.concatenate(parts, axis=1)


@dataclass(frozen=True)
class HeldColumns:
    """A party's columns by name, categories as texts and numbers as steps, and what links its rows with another's."""

    columns: Mapping[str, HeldValues | NDArray[np.int64]]
    linked: LinkedRows | None = None

    def values(self, name: str) -> HeldValues:
        """Give a column of categories."""
        held = self.columns[name]
        if not isinstance(held, HeldValues):
            raise TypeError(f"{name} holds numbers")  # a bug of ours
        return held

    def take(self, rows: NDArray[np.int64]) -> Self:
        """Give some rows, in this order."""
        taken = {
            name: HeldValues(held.texts, held.codes[rows]).used() if isinstance(held, HeldValues) else held[rows]
            for name, held in self.columns.items()
        }
        return type(self)(taken, self.linked)


def _count_by_class(
    target: NDArray[np.int64],
    classes: int,
    prepared: HeldColumns,
    domain: ValueList | NumberBounds,
    known: Mapping[str, tuple[str, ...]],
) -> NDArray[np.int64]:
    """Count the values of a column by class, int64[classes, values], or add up its numbers, int64[classes, 3]."""
    held = prepared.columns[domain.column]
    if not isinstance(held, HeldValues):
        return add_moments(target, held, classes)
    width = len(known[domain.column])
    cells = target * width + held.codes_among(known[domain.column])
    return np.bincount(cells, minlength=classes * width).reshape(classes, width)


def _write_columns(held: HeldValues | NDArray[np.int64], values: tuple[str, ...], width: int) -> NDArray[np.uint64]:
    """Write a column as what is added up of it: zeros and ones for each value, or a number and its square."""
    if isinstance(held, HeldValues):
        flags: NDArray[np.uint64] = (held.codes_among(values)[:, None] == np.arange(width)).astype(np.uint64)
        return flags
    return number_columns(held, width)


def _is_text_list(value: Any) -> bool:
    """Whether this is a list of texts, none twice and at least one, since there are rows."""
    return isinstance(value, list) and all(isinstance(one, str) for one in value) and 0 < len(set(value)) == len(value)


def add_moments(target: NDArray[np.int64], steps: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    """Add up numbers by class, int64[classes, 3]: steps, and the lower and upper 32 bits of their squares, apart.

    Steps are below 2^31, so squares are below 2^62, and no sum over four billion rows leaves 64 bits.
    """
    squares = steps * steps
    sums = np.zeros((classes, 3), dtype=np.int64)
    for place, column in enumerate((steps, squares & _LOW, squares >> 32)):
        np.add.at(sums[:, place], target, column)
    sums[:, 2] += sums[:, 1] >> 32  # so that the two tell the sum of squares, and not what its halves add up to
    sums[:, 1] &= _LOW
    return sums


def make_model(
    target: str,
    classes: tuple[str, ...],
    domains: Sequence[ValueList | NumberBounds],
    known: Mapping[str, tuple[str, ...]],
    total: NDArray[np.int64],
) -> NaiveBayesModel:
    """Make the model of sums int64[classes, width]: rows, then for each column its counts, or its three sums."""
    sizes = [int(size) for size in total[:, 0]]
    if not sum(sizes):
        raise RunAborted("no party has a row, so that there is nothing to learn from; name other files")
    columns: list[CategoryCounts | NumberMoments] = []
    start = 1
    for domain in domains:
        if isinstance(domain, ValueList):
            values = known[domain.column]
            columns.append(CategoryCounts(domain.column, values, total[:, start : start + len(values)]))
            start += len(values)
            continue
        sums = [(int(one), int(low) + (int(high) << 32)) for one, low, high in total[:, start : start + 3]]
        start += 3
        moments = [_moments(*both, size) for both, size in zip(sums, sizes, strict=True)]
        _, variance = _moments(sum(one for one, _ in sums), sum(two for _, two in sums), sum(sizes))
        unit = 10**domain.decimals
        columns.append(
            NumberMoments(
                domain.column,
                tuple(domain.in_units(mean) for mean, _ in moments),
                tuple(float(spread / unit**2) for _, spread in moments),
                float(variance / unit**2),
            )
        )
    return NaiveBayesModel(target, classes, tuple(sizes), tuple(columns))


def _moments(total: int, squares: int, size: int) -> tuple[Fraction, Fraction]:
    """Give mean and variance, exactly; 0 and 0 of no rows."""
    if not size:
        return Fraction(0), Fraction(0)
    mean = Fraction(total, size)
    return mean, Fraction(squares, size) - mean * mean
