"""A comparison: one policy run with several algorithms and settings, each a verified release in memory, and measured.

`compare` runs the lines one after the other; stopped, it keeps those that are done. Every line is a point of loss and
risk; the Pareto front of these points and its knee are what a data holder chooses from.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any

from sfumato.compare.interruption import run_until_stopped
from sfumato.compare.pareto_front import front, knee
from sfumato.compare.settings import RunConfiguration, find_settings, plan_runs
from sfumato.encode import EncodedTable, encode
from sfumato.errors import InputError, PolicyError, SfumatoError, is_lack_of_memory, quote
from sfumato.masking import MaskedTable, mask_table
from sfumato.page.display import Display, FigureTable, Shown
from sfumato.page.wording import percent
from sfumato.policy import Policy, load
from sfumato.policy.column_masks import ColumnMasks
from sfumato.release import prepare
from sfumato.release.pipeline import Progress
from sfumato.settled_policy import settle_policy
from sfumato.split import Tie
from sfumato.table import Table, from_frame, read_table

Watch = Callable[[int, int, str], Progress | None]
"""Told how many lines are done, how many there are and which comes next; may give what that one reports to."""

_CONDENSATION = "condensation"
_RISKS = ("highest", "average")
_MEASURES = ("ncp", "tie")


@dataclass(frozen=True)
class RunFigures:
    """The figures of a release.

    `tie_lost` is there for two tables: what is lost of the tie between rows and sensitive values, from 0 (each row gets
    its own value back) to 1 (no better than over the whole table), on average over the sensitive columns; these tables
    generalize nothing, so that their `ncp` is what suppressed rows cost. `highest` and `average` are prosecutor risks;
    `search` and `total` are seconds, reading left out.
    """

    found_by: str
    rows: int
    suppressed: int
    classes: int
    ncp: float
    distortion_ratio: float
    discernibility: int
    average_class_size: float
    tie_lost: float | None
    highest: float
    average: float
    search: float
    total: float
    privacy: tuple[Mapping[str, Any], ...]

    @property
    def measure(self) -> str:
        """What loss is measured by: ``ncp``, or ``tie`` for two tables."""
        return "ncp" if self.tie_lost is None else "tie"

    @property
    def loss(self) -> float:
        """The loss by that measure."""
        return self.ncp if self.tie_lost is None else self.tie_lost

    def as_json(self) -> dict[str, Any]:
        """For ``--json`` and ``compare.json``."""
        return {**asdict(self), "privacy": list(self.privacy), "measure": self.measure, "loss": self.loss}


@dataclass(frozen=True)
class RunOutcome:
    """A line: the algorithm and settings that were asked for, and its figures, or the `reason` why it has none."""

    number: int
    algorithm: str
    settings: Mapping[str, object]
    dropped: tuple[str, ...] = ()
    figures: RunFigures | None = None
    reason: str = ""

    @property
    def settings_text(self) -> str:
        """The settings in a few words.

        >>> RunOutcome(1, "auto", {"k": 5, "refined": True, "form": "lossy-join"}).settings_text
        'k = 5, refined = true, form = lossy-join'
        """
        return ", ".join(f"{name} = {setting_text(value)}" for name, value in self.settings.items())

    def point(self, risk: str) -> tuple[float, float]:
        """Give the loss and the risk of a line that came to a release."""
        assert self.figures is not None  # noqa: S101 - only such lines are compared
        return self.figures.loss, float(getattr(self.figures, risk))

    def as_json(self) -> dict[str, Any]:
        """For ``--json`` and ``compare.json``."""
        content = {"line": self.number, "algorithm": self.algorithm, "settings": dict(self.settings)}
        content |= {"dropped": list(self.dropped)} if self.dropped else {}
        return content | (self.figures.as_json() if self.figures else {"reason": self.reason})


def setting_text(value: object) -> str:
    """Write the value of a setting as a policy has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class ParetoFront:
    """The lines of one measure of loss that no other line beats in both loss and risk, the least loss first.

    `knee` is the number of the line where the front bends most, if it bends.
    """

    measure: str
    risk: str
    lines: tuple[RunOutcome, ...]
    knee: int | None

    @property
    def suggestion(self) -> int | None:
        """The knee, or the only line there is on the front."""
        return self.lines[0].number if len(self.lines) == 1 else self.knee

    @property
    def summary(self) -> str:
        """What the front tells, in one or two sentences."""
        first, last = self.lines[0], self.lines[-1]
        if len(self.lines) == 1:
            return f"Line {first.number} has the least loss and the least risk: no other line is better in either."
        ends = f"line {first.number} has the least loss, line {last.number} the least risk"
        if self.knee is not None:
            how = "up to it risk falls fast for little loss, beyond it loss grows fast for little risk"
            return f"The knee is line {self.knee}: {how} ({ends})."
        why = f"only {len(self.lines)} lines stand on the front" if len(self.lines) < 3 else "the front does not bend"
        return f"There is no knee, since {why}: {ends}; the choice is yours."


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Shown):
    """What was run of what was planned; `risk` is the figure that the fronts go by, ``highest`` or ``average``.

    `stopped` says that somebody stopped it; `read` are the seconds for reading and encoding, once for all lines.
    """

    policy: Policy
    outcomes: tuple[RunOutcome, ...]
    planned: int
    rows: int
    risk: str = "highest"
    read: float = 0.0
    stopped: bool = False

    def display(self) -> Display:
        """Show a line for each run, those on the front and at its knee marked, and what could not be met."""
        on_front = {line.number for front in self.fronts for line in front.lines}
        knees = {front.knee for front in self.fronts}
        lines = []
        for line in self.outcomes:
            mark = "◆" if line.number in knees else "•" if line.number in on_front else ""
            figures = line.figures
            cells = ["–"] * 3 if figures is None else [percent(figures.loss), percent(figures.highest)]
            cells += [] if figures is None else [f"{figures.total:.2f}"]
            lines.append([f"{line.number}{mark}", line.algorithm, line.settings_text, *cells])
        head = ("line", "algorithm", "settings", "loss", "highest risk", "seconds")
        failed = [f"no release: {', '.join(map(str, few))}: {reason}" for reason, few in self.failures.items()]
        said = [*(front.summary for front in self.fronts), *failed]
        title = f"comparison of {len(self.outcomes)} of {self.planned} lines over {self.rows:,} rows"
        return Display(title, [FigureTable(head, lines)], said)

    @cached_property
    def fronts(self) -> tuple[ParetoFront, ...]:
        """One for each measure of loss that there is: losses of different kinds cannot be compared."""
        fronts = []
        for measure in _MEASURES:
            lines = [line for line in self.measured if line.figures and line.figures.measure == measure]
            if not lines:
                continue
            points = [line.point(self.risk) for line in lines]
            places = front(points)
            bend = knee([points[place] for place in places])
            number = None if bend is None else lines[places[bend]].number
            fronts.append(ParetoFront(measure, self.risk, tuple(lines[place] for place in places), number))
        return tuple(fronts)

    @cached_property
    def overtaken(self) -> dict[int, int]:
        """The lines that another of the same algorithm beats although more is asked of it, by their numbers.

        What the other found meets the requirements of the line as well, with less loss: the search did not find it
        where more was allowed. Such a line says more of the search than of its settings.
        """
        overtaken = {}
        for line in self.measured:
            better = [other for other in self.measured if other.algorithm == line.algorithm and _overtakes(other, line)]
            if better:
                overtaken[line.number] = min(better, key=lambda other: other.point(self.risk)).number
        return overtaken

    @property
    def notes(self) -> dict[int, str]:
        """What is to be known of lines that a stricter line overtakes, by their numbers, a sentence each."""
        by_number = {line.number: line for line in self.outcomes}
        return {
            number: f"Line {number} loses more than line {other}, which asks for more and whose release meets the "
            f"requirements of line {number} as well: {by_number[number].algorithm} takes one best step after "
            "the other, and where more steps are allowed, early ones can block better ones; take line "
            f"{other} in its place, or another algorithm."
            for number, other in self.overtaken.items()
        }

    @property
    def measured(self) -> tuple[RunOutcome, ...]:
        """The lines that came to a release."""
        return tuple(line for line in self.outcomes if line.figures)

    @property
    def failures(self) -> dict[str, list[int]]:
        """The lines that came to none, by the reason."""
        failures: dict[str, list[int]] = {}
        for line in self.outcomes:
            if not line.figures:
                failures.setdefault(line.reason, []).append(line.number)
        return failures

    def line(self, choice: int | None = None) -> RunOutcome:
        """Give the line of this number, or the one that is suggested; raise `InputError` where there is none."""
        number = self._suggestion() if choice is None else choice
        line = next((line for line in self.outcomes if line.number == number), None)
        if line is None:
            done = f"{len(self.outcomes)} of {self.planned}"
            raise InputError(f"There is no line {number} among the {done} that were run")
        if not line.figures:
            raise InputError(f"Line {number} came to no release: {line.reason}")
        return line

    def _suggestion(self) -> int:
        if not self.fronts:
            raise InputError("No line came to a release")
        if len(self.fronts) > 1:
            raise InputError("One table and two tables lose different things, so that no line is the best of both")
        if (number := self.fronts[0].suggestion) is None:
            raise InputError(self.fronts[0].summary.rstrip("."))
        return number

    def as_json(self) -> dict[str, Any]:
        """For ``--json`` and ``compare.json``."""
        return {
            "private": True,
            "rows": self.rows,
            "planned": self.planned,
            "done": len(self.outcomes),
            "stopped": self.stopped,
            "risk": self.risk,
            "seconds": {"read": round(self.read, 4)},
            "lines": [
                line.as_json()
                | ({"overtaken_by": self.overtaken[line.number]} if line.number in self.overtaken else {})
                for line in self.outcomes
            ],
            "fronts": [
                {
                    "measure": front.measure,
                    "lines": [line.number for line in front.lines],
                    "knee": front.knee,
                    "says": front.summary,
                }
                for front in self.fronts
            ],
        }


_MORE_IS_STRICTER = {"k": True, "l": True, "linked_k": True, "alpha": False, "beta": False, "t": False, "c": False}
"""Keys of models that are bounds: whether a larger figure meets a smaller bound, or the other way round."""
_NOTICED = 0.001
"""Losses that differ by less are the same."""


def _overtakes(other: RunOutcome, line: RunOutcome) -> bool:
    """Whether what was found for another line meets the requirements of a line, and loses less."""
    theirs, own = other.figures, line.figures
    if theirs is None or own is None or theirs.measure != own.measure or theirs.loss > own.loss - _NOTICED:
        return False
    if theirs.suppressed > own.suppressed or len(theirs.privacy) != len(own.privacy):
        return False
    return all(_meets(found, asked) for found, asked in zip(theirs.privacy, own.privacy, strict=True))


def _meets(found: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    """Whether what holds of one release is what is asked of another, by the same model.

    >>> k = {"model": "k-anonymity", "required": {"k": 20}, "achieved": {"k": 22}}
    >>> _meets(k, {**k, "required": {"k": 5}}), _meets(k, {**k, "required": {"k": 25}})
    (True, False)
    """
    achieved, required = found["achieved"], asked["required"]
    if found["model"] != asked["model"] or found["required"].keys() != required.keys():
        return False
    for key, bound in required.items():
        if key not in _MORE_IS_STRICTER or key not in achieved:
            if found["required"][key] != bound:  # such as the column, or the values that are protected
                return False
        elif key == "c":  # which has to be above what is found
            if not achieved[key] < bound:
                return False
        elif not (achieved[key] >= bound if _MORE_IS_STRICTER[key] else achieved[key] <= bound):
            return False
    return True


def compare(  # noqa: PLR0913 - as many as there are things to vary, by keyword
    policy: "str | Path | Mapping[str, Any] | Policy",
    data: Any = None,
    *,
    algorithms: Sequence[str] | None = None,
    settings: Mapping[str, Sequence[object]] | None = None,
    seed: int | None = None,
    risk: str = "highest",
    watch: Watch | None = None,
) -> Comparison:
    """Run a policy with every algorithm and every combination of settings, and measure each.

    `settings` are values by key, as in ``{"k": [2, 5, 10], "suppression": [0, 0.02]}``; without `algorithms` all that
    the policy can be met with are run. `data` is as for `anonymize`. What cannot be met, or does not go together, is a
    line with the reason. A KeyboardInterrupt ends it early: what was done until then is returned, and `stopped` is set.

    >>> import pyarrow
    >>> columns = {"zip": {"role": "quasi", "hierarchy": {"mask": "right"}}}
    >>> policy = {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}]}
    >>> table = pyarrow.table({"zip": ["4350", "4351", "4352", "4353"]})
    >>> comparison = compare(policy, table, algorithms=["optimal"], settings={"k": [1, 2, 5]})
    >>> [line.figures.ncp if line.figures else line.reason for line in comparison.outcomes]
    [0.0, 1.0, 'k-anonymity (k = 5) cannot be met: k can be at most 4']
    """
    if risk not in _RISKS:
        raise InputError(f"the risk {quote(risk)} is not measured; choose {' or '.join(_RISKS)}")
    rules = load(policy).replace(source=data if isinstance(data, str | Path) else None, seed=seed)
    if rules.publish.drawn:
        raise InputError(_no_classes(rules.publish.form))
    rules = settle_policy(rules, rules.source.place if data is None or isinstance(data, str | Path) else data)
    runs = tuple(
        replace(run, reason=_no_classes("synthetic")) if run.algorithm == _CONDENSATION and run.policy is None else run
        for run in plan_runs(rules, algorithms, find_settings(rules, settings or {}))
    )
    if all(run.policy is None for run in runs):
        raise PolicyError(f"no line of the comparison is a policy: {runs[0].reason}")
    cache = EncodingCache.from_data(data, next(run.policy for run in runs if run.policy is not None))
    outcomes, stopped = run_until_stopped(_run_all(runs, cache, watch), sure=lambda line: line.figures is not None)
    return Comparison(rules, tuple(outcomes), len(runs), cache.table.rows, risk, cache.seconds, stopped)


def _no_classes(form: str) -> str:
    """Why rows of a form that is drawn are not compared, and what to do instead."""
    figures = "correlation_of_correlations, worst_ks and worst_tv of utility" if form == "synthetic" else "utility"
    return (
        f"rows of the form {quote(form)} are in no classes, so there is no NCP and no chance of being found to hold "
        f"against other lines; run anonymize with each setting, and compare {figures} and risk in its --json"
    )


def _run_all(runs: Sequence[RunConfiguration], cache: "EncodingCache", watch: Watch | None) -> Iterator[RunOutcome]:
    for place, run in enumerate(runs):
        progress = watch(place, len(runs), run.algorithm) if watch else None
        line = RunOutcome(run.number, run.algorithm, run.settings, run.dropped, reason=run.reason)
        if run.policy is not None:
            try:
                encoded = cache.encoded(run.policy)
                figures = measure_run(cache.table, run.policy, encoded, progress, masked=cache.masked(run.policy))
                line = replace(line, figures=figures)
            except SfumatoError as error:
                line = replace(line, reason=str(error))
            except Exception as error:
                if not is_lack_of_memory(error):
                    raise
                line = replace(line, reason="it does not fit into memory; run it on a larger machine")
        yield line


@dataclass(frozen=True, eq=False)
class EncodingCache:
    """The table, read once, and masked and encoded once for all policies that see the same of it.

    Masks are drawn once, so that lines differ by their settings and not by chance. `seconds` are those for reading,
    masking and encoding the first time.
    """

    table: Table
    seconds: float
    by_view: dict[object, EncodedTable] = field(default_factory=dict)
    by_masks: dict[object, MaskedTable] = field(default_factory=dict)

    @classmethod
    def from_data(cls, data: Any, policy: Policy) -> "EncodingCache":
        """Read and encode the table, so that what is wrong with the table itself is said at once."""
        start = time.perf_counter()
        if data is not None and not isinstance(data, str | Path):
            table = data if isinstance(data, Table) else from_frame(data, policy)
        elif policy.source.place is None:
            raise PolicyError("is missing; say where the table is, here or with --data", key="data.source")
        else:  # without its place: neither its hash nor its identifiers are of interest here
            table = replace(read_table(policy.source.place, policy), place=None)
        cache = cls(table, 0.0)
        cache.encoded(policy)
        return replace(cache, seconds=time.perf_counter() - start)

    def encoded(self, policy: Policy) -> EncodedTable:
        """Encode the table as this policy sees it."""
        if policy.publish.drawn:
            raise InputError(_no_classes(policy.publish.form))
        looked_at = frozenset(name for model in policy.privacy for name in model.looks_at)
        view = (policy.publish.form == "anatomy", looked_at, policy.search.seed, _masks_of(policy))
        if view not in self.by_view:
            self.by_view[view] = encode(self.masked(policy).table, policy)
        return self.by_view[view]

    def masked(self, policy: Policy) -> MaskedTable:
        """Mask the table as this policy does."""
        masks = (_masks_of(policy), policy.search.seed)
        if masks not in self.by_masks:
            self.by_masks[masks] = mask_table(self.table, policy)
        return self.by_masks[masks]


def _masks_of(policy: Policy) -> tuple[tuple[str, ColumnMasks], ...]:
    return tuple((column.name, column.masks) for column in policy.masked)


def measure_run(
    table: Table,
    policy: Policy,
    encoded: EncodedTable,
    progress: Progress | None = None,
    *,
    masked: MaskedTable | None = None,
) -> RunFigures:
    """Make a release under the policy, and measure it once the verifier has passed it.

    `masked` is the table with its columns masked, which was encoded, where some are.
    """
    start = time.perf_counter()
    release = prepare(table, policy, progress=progress, encoded=encoded, masked=masked)
    privacy = tuple(release.privacy)  # what the verifier found; raises where it does not pass the release
    total = time.perf_counter() - start
    utility, risk = release.utility, release.risk
    return RunFigures(
        found_by=release.recoding.algorithm,
        rows=release.rows,
        suppressed=release.suppressed,
        classes=len(release.recoding.classes),
        ncp=utility.ncp,
        distortion_ratio=utility.distortion_ratio,
        discernibility=utility.discernibility,
        average_class_size=utility.average_class_size,
        tie_lost=_tie_lost(release.ties) if release.policy.publish.split else None,
        highest=risk.highest,
        average=risk.average,
        search=round(release.seconds["search"], 4),
        total=round(total, 4),
        privacy=privacy,
    )


def _tie_lost(ties: Mapping[str, Tie]) -> float:
    """Average the share of the tie that is lost; nothing can be lost of a column that has one value."""
    return fmean(1 - (tie.kept - tie.chance) / (1 - tie.chance) if tie.chance < 1 else 0.0 for tie in ties.values())
