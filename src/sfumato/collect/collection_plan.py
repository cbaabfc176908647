"""The plan of a collection: how private its noise keeps each column, and how exact the result will be."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.channels.additive_noise import AdditiveNoise
from sfumato.channels.category_noise import ResponseNoise, UnaryNoise
from sfumato.collect.basket_noise import FlipNoise
from sfumato.collect.noise import ColumnNoise, Noise, Unperturbed
from sfumato.collect.noise_filter import SpectralFilter, spectral_filter
from sfumato.collect.prior_knowledge import Prior, PriorKnowledge
from sfumato.collect.privacy_measures import ColumnPrivacy, explain_no_epsilon, measure_privacy
from sfumato.collect.proposed_noise import propose_noise
from sfumato.collect.reconstruction_error import HUMPS, ReconstructionError, expect_error, share_errors
from sfumato.errors import InputError, quote
from sfumato.page.display import Display, FigureTable, Shown
from sfumato.page.wording import percent

SIZES = (1_000, 10_000, 100_000)
"""Sample sizes whose accuracy is said in every plan."""
_MOST_ROWS = 10**12


@dataclass(frozen=True)
class ColumnPlan:
    """The plan of one column: its privacy, and the error to expect at several sample sizes.

    `privacy` is None for a column that is sent as it is. `at_rows` is the error at the number of rows that was asked
    for, None where none was.
    """

    column: str
    noise: ColumnNoise
    privacy: ColumnPrivacy | None
    at_rows: ReconstructionError | None
    sizes: tuple[ReconstructionError, ...]

    @property
    def errors(self) -> tuple[ReconstructionError, ...]:
        """The errors to expect, from few rows to many."""
        asked = () if self.at_rows is None else (self.at_rows,)
        return tuple(sorted((*asked, *self.sizes), key=lambda error: error.rows))

    @property
    def reference(self) -> str:
        """The distribution of true values for which the errors are stated."""
        if self.privacy is not None and self.privacy.known:
            return "as given"
        return HUMPS if isinstance(self.noise, AdditiveNoise) else "all equally likely"

    def sentences(self) -> tuple[str, ...]:
        """Say what is to be known of the column besides its figures."""
        if self.privacy is None:
            return (explain_no_epsilon(self.noise),)
        said = list(self.privacy.sentences())
        if isinstance(self.noise, FlipNoise):
            said.append(
                f"Figures are of one item, ε = {self.noise.item_epsilon:.4g}; the ε above is of a whole basket."
            )
        better = better_kind(self.noise)
        if better is not None:
            said.append(better)
        return tuple(said)

    def as_json(self) -> dict[str, Any]:
        """Give the figures by their names; those at the wanted number of rows stand beside those of privacy."""
        if self.privacy is None:
            nothing = ("interval95", "entropy_privacy", "mutual_information", "epsilon", "expected_error")
            return {"kind": self.noise.kind, **dict.fromkeys(nothing), "no_epsilon": explain_no_epsilon(self.noise)}
        asked = {} if self.at_rows is None else self.at_rows.as_json()
        wanted = ("expected_error", "standard_error", "cumulative_error")
        return {
            **self.privacy.as_json(),
            **{key: asked.get(key) for key in wanted},
            "reference": self.reference,
            "sizes": [one.as_json() for one in self.sizes],
        }


@dataclass(frozen=True, repr=False)
class CollectionPlan(Shown):
    """How private a collection is, column by column, and what comes out of it.

    `filtered` is what a filter over all columns of numbers recovers, where perturbed rows were given.
    """

    noise: Noise
    rows: int | None
    columns: Mapping[str, ColumnPlan]
    filtered: SpectralFilter | None = None

    def warnings(self) -> tuple[str, ...]:
        """Say what a filter recovers where that is much."""
        return () if self.filtered is None else self.filtered.warnings()

    def as_json(self) -> dict[str, Any]:
        """Give the object that ``--json`` prints."""
        whole = self.noise.epsilon
        document = {
            "rows": self.rows,
            "epsilon": whole if math.isfinite(whole) else None,
            "columns": {name: one.as_json() for name, one in self.columns.items()},
        }
        return document if self.filtered is None else document | {"filter": self.filtered.as_json()}

    def privacy_lines(self) -> list[list[str]]:
        """The figures of privacy, a line per column."""
        return [_privacy_line(one) for one in self.columns.values()]

    def accuracy_head(self) -> list[str]:
        """The head of `accuracy_lines`: numbers of rows."""
        some = next((one for one in self.columns.values() if one.errors), None)
        return ["error at", *(f"{error.rows:,}" for error in (() if some is None else some.errors))]

    def accuracy_lines(self) -> list[list[str]]:
        """The errors to expect, a line per column."""
        return [
            [one.column, *(percent(min(error.expected_error, 1.0)) for error in one.errors)]
            for one in self.columns.values()
            if one.errors
        ]

    def sentences(self) -> tuple[str, ...]:
        """Say of each column what its figures do not, and what an error is."""
        said = [f"{one.column}: {said}" for one in self.columns.values() for said in one.sentences()]
        if any(one.errors for one in self.columns.values()):
            said.append(_ERROR)
        if any(one.errors and one.reference == HUMPS for one in self.columns.values()):
            said.append(f"Errors of numbers are those of {HUMPS}.")
        return tuple(said)

    def display(self) -> Display:
        """Show privacy and accuracy, column by column."""
        tables = [
            FigureTable(PRIVACY_HEAD, self.privacy_lines()),
            FigureTable(self.accuracy_head(), self.accuracy_lines()),
        ]
        said = [*self.sentences(), *(f"Warning: {one}." for one in self.warnings())]
        if self.filtered is not None:
            tables += self.filtered.display().tables
        return Display("Plan of a collection", tables, said)


_ERROR = "An error is the share of people who would have to be moved to make the reconstructed shares true."
PRIVACY_HEAD = ("privacy", "kind", "95%", "2^h", "left", "bits", "lost", "ε", "guess")


def _privacy_line(one: ColumnPlan) -> list[str]:
    private = one.privacy
    if private is None:
        return [one.column, one.noise.kind, *["–"] * 6, "100%"]
    return [
        one.column,
        private.kind,
        "–" if private.interval95 is None else _three_digits(private.interval95),
        _three_digits(private.entropy_privacy),
        _three_digits(private.conditional_privacy),
        _three_digits(private.mutual_information),
        percent(private.privacy_loss),
        "none" if private.epsilon is None else _three_digits(private.epsilon),
        percent(private.best_guess),
    ]


def _three_digits(number: float) -> str:
    """Write three digits in little room, so that the table fits on a terminal of 80 columns.

    >>> _three_digits(179_720.0), _three_digits(0.99461), _three_digits(4321.0)
    ('180k', '0.995', '4.32k')
    """
    for unit, sign in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if unit <= number < 1e12:
            return f"{number / unit:.3g}{sign}"
    return f"{number:.3g}"


def plan(
    noise: Noise | Mapping[str, Any] | str | Path,
    rows: int | None = None,
    *,
    prior: Mapping[str, Prior] | None = None,
    reports: Any = None,
    sizes: Sequence[int] = SIZES,
) -> CollectionPlan:
    """Say how private a noise keeps each column, and how exact the reconstruction from `rows` answers will be.

    `prior` is what is known of columns beforehand: shares of equal bins, shares by answer, or a reconstruction. With
    perturbed rows as `reports`, it is said what a filter over all columns of numbers recovers.

    >>> outlook = plan({"format": "sfumato-noise/1", "columns": {
    ...     "vote": {"kind": "response", "values": ["a", "b", "c"], "keep": 0.6}}}, rows=2000, sizes=())
    >>> outlook
    Plan of a collection
    privacy  kind      95%  2^h   left  bits   lost   ε    guess
    vote     response  –    2.15  2.15  0.482  28.4%  1.7  73.3%
    error at  2,000
    vote      2.2%
    vote: From the domain alone a guess is right with chance 33.3%, with the report 73.3%.
    An error is the share of people who would have to be moved to make the reconstructed shares true.
    """
    noise = Noise.load(noise)
    for asked in (*sizes, *(() if rows is None else (rows,))):
        if isinstance(asked, bool) or not isinstance(asked, int) or not 1 <= asked <= _MOST_ROWS:
            raise InputError(f"rows must be a whole number of at least 1, not {quote(asked)}")
    known = dict(prior or {})
    for name in known:
        noise.column(name)
    columns = {name: _plan_column(name, one, rows, known.get(name), sizes) for name, one in noise.columns.items()}
    return CollectionPlan(noise, rows, columns, None if reports is None else spectral_filter(reports, noise))


def _plan_column(
    name: str, noise: ColumnNoise, rows: int | None, prior: Prior | None, sizes: Sequence[int]
) -> ColumnPlan:
    if isinstance(noise, Unperturbed):
        if prior is not None:
            PriorKnowledge.read(prior, noise, name)
        return ColumnPlan(name, noise, None, None, ())
    known = PriorKnowledge.read(prior, noise, name)
    try:
        at = None if rows is None else expect_error(noise, rows, known)
        steps = tuple(expect_error(noise, size, known) for size in sizes if size != rows)
    except InputError as error:
        raise InputError(f"column {quote(name)}: {error}") from None
    return ColumnPlan(name, noise, measure_privacy(noise, known, name), at, steps)


def better_kind(noise: ColumnNoise) -> str | None:
    """Say where another kind of noise of the same ε recovers the shares of equally likely answers better.

    >>> better_kind(ResponseNoise(tuple(map(str, range(100))), 0.0169))
    'At this ε unary encoding has 0.11 times the squared error of randomized response.'
    """
    if not isinstance(noise, ResponseNoise | UnaryNoise) or not 0 < noise.epsilon <= 50:
        return None
    if any("|" in value for value in noise.values):
        return None
    names = {"unary": "unary encoding", "response": "randomized response"}
    other = "unary" if isinstance(noise, ResponseNoise) else "response"
    rival = propose_noise(values=noise.values, epsilon=noise.epsilon, kind=other)
    ours, theirs = (expect_squared_error(one) for one in (noise, rival))
    if theirs > 0.8 * ours:
        return None
    return f"At this ε {names[other]} has {theirs / ours:.2g} times the squared error of {names[noise.kind]}."


def expect_squared_error(noise: ColumnNoise) -> float:
    """Give the mean squared error of an answer's share times the number of rows, where answers are equally likely.

    >>> hundred = [str(number) for number in range(100)]
    >>> unary, response = (propose_noise(values=hundred, epsilon=1.0, kind=kind) for kind in ("unary", "response"))
    >>> round(expect_squared_error(unary), 2), round(expect_squared_error(response), 2)
    (3.7, 34.69)
    """
    return float((share_errors(noise, PriorKnowledge.uniform(noise).shares, 1) ** 2).mean())
