"""A recorded release: one that keeps the promises of all before it, and appears together with its entry.

Requirements on the join look at the new release and one earlier one at a time. Three releases can tell together what no
two of them do. So before a release appears, the intersection attack is tried on it and all before it, for every person
of the current table: whoever is left with fewer sensitive values than some of the releases has promised stops it.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sfumato.attack.intersect import intersect
from sfumato.errors import Infeasible, InputError, OutputError, SfumatoError, listing, quote
from sfumato.extend.apply_recoding import publish_further
from sfumato.extend.base_release import BaseRelease, read_extended
from sfumato.ledger.entries import Entry, PopulationSnapshot
from sfumato.ledger.implied_requirements import JoinRequirements, promised_values, weakened_requirements
from sfumato.ledger.join_cost import describe_cheapest_column, describe_join_cost
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.same_release import entries_publish_the_same, publishes_the_same
from sfumato.ledger.stored_copies import file_sha256
from sfumato.policy import Policy, Role
from sfumato.previous import link_releases
from sfumato.publish.promise import state_requirements
from sfumato.publish.signing_key import SigningKey
from sfumato.release import Release, prepare
from sfumato.release.verification import promise_of
from sfumato.settled_policy import settle_policy
from sfumato.verifier import Verdict, verify_table

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False, repr=False)
class RecordedRelease:
    """A release that is to be recorded: the ledger, what it had when the release was made, and its name there.

    `joined` are the entries that may be about the same people: all that there were, where it is ``None``.
    """

    ledger: Ledger
    snapshot: PopulationSnapshot
    name: str
    release: Release
    notes: tuple[str, ...] = ()
    joined: tuple[Entry, ...] | None = None

    @property
    def same_people(self) -> tuple[Entry, ...]:
        """The entries that an adversary may join it with."""
        return self.snapshot.entries if self.joined is None else self.joined

    @property
    def warnings(self) -> list[str]:
        """What the data holder should know, of the release and of what could not be asked of the join."""
        again = mask_warnings(self.release, self.same_people)
        return [*self.release.warnings, *join_warnings(self.same_people), *again, *self.notes]

    def save(self, folder: Path, *, force: bool = False, sign: str | Path | SigningKey | None = None) -> Entry:
        """Write the release folder and record it: neither without the other, whatever happens in between.

        An entry is withdrawn where the folder certainly did not appear, and only there. Where the folder is out and the
        ledger cannot be told so, the entry goes on counting as published, and the release has a mishap more. A release
        whose files are byte for byte those of an entry is that entry, and gets no other. `sign` is the private key, or
        its file, to sign it with, in place of the policy's.
        """
        found: list[Entry] = []
        reserved: list[Entry] = []

        def reserve(stage: Path) -> None:
            check_intersection(self.release, stage, self.same_people)
            if same := self.ledger.find_same_files(stage, self.snapshot.population):
                found.append(same)
            else:
                reserved.append(self.ledger.reserve(stage, self.snapshot, name=self.name))

        try:
            self.release.save(folder, force=force, before=reserve, sign=sign)
        except BaseException as error:
            if reserved and not self.release.is_out:
                self._withdraw(reserved[0], error)
            raise
        (entry,) = found + reserved
        try:
            return self.ledger.finish(entry.number)
        except SfumatoError as error:
            why = str(error).partition(";")[0]
            self.release.mishaps.append(
                f"the release is out, but the ledger may not say yet that it appeared ({why}); it counts as published "
                f"there: see sfumato ledger check {self.ledger.folder}, and finish it with sfumato ledger add "
                f"{self.ledger.folder} {folder}"
            )
            return entry

    def _withdraw(self, entry: Entry, error: BaseException) -> None:
        """Take a reservation back; where the ledger refuses, the error that stopped the release says so as well."""
        try:
            self.ledger.withdraw(entry.number)
        except SfumatoError as refusal:
            if isinstance(error, Exception):
                raise OutputError(
                    f"{error}; besides, the ledger could not take back {entry.title}, which counts as published there "
                    f"although it is not ({refusal})"
                ) from None


def join_warnings(entries: Sequence[Entry]) -> list[str]:
    """Say of which earlier releases the join was asked for less than they promised, a sentence for all that are alike.

    Nothing is said of what was asked in full.
    """
    apart = [entry for entry in entries if not entry.one_table]
    added = [entry for entry in entries if entry.one_table and not entry.holds_alone]
    weaker = defaultdict[str, list[Entry]](list)
    for entry in entries:
        if entry.one_table and entry.holds_alone and (names := weakened_requirements(entry)):
            weaker[", ".join(names)].append(entry)
    warnings = [
        f"of the promise of {_titles(some)}, the join was asked for less than {names} says"
        for names, some in weaker.items()
    ]
    if added:
        keeps = "keeps its promise only together with the rows that it was added to, and was not joined by itself"
        warnings.append(f"{_titles(added)} {keeps}; sfumato attack intersect measures what the releases tell together")
    if apart:
        told = "was not joined; sfumato attack intersect measures what both releases tell together"
        if len(apart) > 1:
            told = "none of them was joined; sfumato attack intersect measures what all releases tell together"
        warnings.insert(0, f"{_titles(apart)} is of two tables, and {told}")
    return warnings


_DRAWN = frozenset({"noise", "rank swapping", "post-randomization"})
"""Methods of a manifest by which columns are masked anew in every release."""


def mask_warnings(release: Release, entries: Sequence[Entry]) -> list[str]:
    """Say which columns are masked at random here or in earlier releases about the same people, and in both of them.

    Noise that is drawn again and again can be averaged out by whoever knows which rows are of one person; and a column
    that is published as it is tells what it was masked for before.
    """
    here = {name for name, masks in release.publication.masks.items() if masks.is_random}
    shown = {column.name for column in release.policy.columns.values() if column.role is not Role.IDENTIFIER}
    several: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        for column in entry.manifest["columns"]:
            drawn = any(method["method"] in _DRAWN for method in column.get("masked", ()))
            if column["name"] in here or (drawn and column["name"] in shown):
                several[column["name"]].append(entry)
    alike: defaultdict[tuple[int, ...], list[str]] = defaultdict(list)
    for name, some in several.items():
        alike[tuple(entry.number for entry in some)].append(name)
    return [
        f"{listing(names)} stands in {_titles(several[names[0]])} as well, and is masked at random in one of them or "
        "in both: who can tell which rows are of one person averages it out over the releases; publish it once"
        for names in alike.values()
    ]


def _titles(entries: Sequence[Entry]) -> str:
    """Name one release by its title, or count several."""
    first, last = entries[0], entries[-1]
    return first.title if len(entries) == 1 else f"each of {len(entries):,} releases ({first.title}, to {last.title})"


def make_recorded_release(
    ledger: Ledger, policy: Policy, *, population: str | None, name: str, progress: Progress | None = None
) -> RecordedRelease:
    """Make a release of a policy's table that keeps the promises of all earlier ones about the same people.

    The policy's own algorithm is tried first. Where the join breaks an earlier promise, ``auto`` and ``tds`` go on to
    specialize with the join in view, and it is said what that costs; other algorithms cannot, and the release is
    refused. A release that is out already
    is the same release when it is made again of the same table: it is published as it was (`same_release`).
    """
    ledger.check_name(name)
    policy = settle_policy(policy, policy.source.path)  # what earlier promises ask for names columns
    snapshot = ledger.snapshot(population)
    made = _make_again(policy, snapshot.entries, progress) or _make_release(policy, snapshot.entries, progress)
    return RecordedRelease(ledger, snapshot, name, made.release, made.notes, () if made.repeated else None)


def make_recorded_extension(
    ledger: Ledger, base: BaseRelease, data: Any, *, population: str | None, name: str
) -> RecordedRelease:
    """Publish further rows under the labels of a recorded release, beside all that is out under these labels.

    Those releases are taken to be about other people, and the promise is kept together with them. Of all others of the
    population it is kept over the join, as for any release. The population is that of the release, unless another is
    named: then the rows are about people of whom the releases of that one tell.
    """
    ledger.check_name(name)
    entries = ledger.entries()
    recorded = next((entry for entry in entries if entry.manifest_sha256 == base.releases[-1].sha256), None)
    if recorded is None:
        raise InputError(
            f"the ledger has no entry of {base.name}, which the rows are added to; record it first with sfumato ledger "
            f"add {ledger.folder} {base.name}"
        )
    snapshot = ledger.snapshot(recorded.population if population is None else population)
    if base.policy.apply.promise == "together" and snapshot.population != recorded.population:
        raise InputError(
            f"{recorded.title} is of the population {quote(recorded.population)}, and rows that keep its promise "
            "together with it are of the same; leave out --population"
        )
    family = [entry for entry in entries if entry.family == recorded.family]
    copies = [read_extended(entry.folder / "public") for entry in family]
    release = Release(publish_further(base.with_releases(copies), data))
    named = {previous.name for previous in release.policy.previous}  # the promise speaks of these already
    others = tuple(
        entry
        for entry in snapshot.entries
        if entry not in family and not any(entries_publish_the_same(entry, one) for one in family)
    )
    join = JoinRequirements.from_entries(release.policy, tuple(one for one in others if one.name not in named))
    if join is not None:
        release, verdict = _promise_join(release, join.lenient_policy())
        if not verdict.satisfied:
            way = "publish these rows by sfumato anonymize, which can take the join into account"
            raise Infeasible(f"{_broken_promise(verdict, snapshot.entries)}; {way}")
    return RecordedRelease(ledger, snapshot, name, release, joined=others)


@dataclass(frozen=True, eq=False, repr=False)
class _Made:
    """A release, what to say of it, and whether it is one that is out already."""

    release: Release
    notes: tuple[str, ...] = ()
    repeated: bool = False


def _make_again(policy: Policy, entries: tuple[Entry, ...], progress: Progress | None) -> _Made | None:
    """Make the release of an entry again, where its table is that of the policy, and return it if it is the same.

    It was made with those before it in view, so that is how it is made again.
    """
    path = policy.source.path
    digest = None if path is None else file_sha256(path)
    for place, entry in enumerate(entries):
        if digest is None or entry.input_sha256 != digest or not _has_same_columns(policy, entry):
            continue
        try:
            made = _make_release(policy, entries[:place], progress)
        except Infeasible:
            continue
        if publishes_the_same(made.release, entry):
            return _Made(made.release, (_repeated_note(entry),), repeated=True)
    return None


def _has_same_columns(policy: Policy, entry: Entry) -> bool:
    """Tell whether an entry was made under these columns and requirements; a ledger may have added some."""
    columns, privacy = policy.document.get("columns"), policy.document.get("privacy")
    theirs = entry.policy or {}
    promised = theirs.get("privacy")
    if not isinstance(privacy, list) or not isinstance(promised, list):
        return False
    return theirs.get("columns") == columns and promised[: len(privacy)] == privacy


def _repeated_note(entry: Entry) -> str:
    return f"it has the same rows as {entry.title}, so that it tells nothing that is not out already"


def _make_release(policy: Policy, entries: tuple[Entry, ...], progress: Progress | None) -> _Made:
    """Make a release that keeps the promises of these entries over the join with each of them."""
    join = JoinRequirements.from_entries(policy, entries)
    if join is None:
        return _Made(prepare(None, policy, progress=progress))
    own = prepare(None, policy, progress=progress)
    for entry in entries:
        if publishes_the_same(own, entry):
            return _Made(own, (_repeated_note(entry),), repeated=True)
    release, verdict = _promise_join(own, join.lenient_policy())
    if verdict.satisfied:
        return _Made(release)
    broken = _broken_promise(verdict, entries)
    if policy.recoder not in {"auto", "tds"}:
        way = "leave [algorithm] name out, or write tds, so that the join is taken into account"
        raise Infeasible(f"{broken}{describe_cheapest_column(release)}; {way}")
    rules = join.tds_policy(broken)
    try:
        made = prepare(None, rules, progress=progress)
    except Infeasible as error:
        raise Infeasible(
            f"with the promises of {', '.join(join.names)} kept over the join, no release was found: {error}; "
            "publish fewer columns, or coarser ones"
        ) from None
    why = f"a search without the join in view breaks an earlier promise ({broken})"
    advice = f"{why}; {describe_join_cost(release, made)}"
    same = next((entry for entry in entries if _has_same_columns(policy, entry)), None)
    if same is not None:
        advice += f"; rows that came after {same.title}, could be added to it with sfumato apply instead"
    return _Made(made, (*join.notes, advice))


def _promise_join(release: Release, policy: Policy) -> tuple[Release, Verdict]:
    """Let a release promise what the policy with the join requires; say whether it does so as it is."""
    linked = link_releases(release.encoded, policy)
    promising = replace(release.publication, policy=policy, linked_releases=linked)
    return Release(promising), verify_table(promising.tables["table"].arrow, promise_of(promising))


def _broken_promise(verdict: Verdict, entries: tuple[Entry, ...]) -> str:
    """Say which earlier release and promise an adversary breaks by joining."""
    failing = next(finding for finding in verdict.privacy if not finding.satisfied)
    names = failing.required.get("releases", ())
    titles = ", ".join(entry.title for entry in entries if entry.name in names) or "earlier releases"
    return f"joined with {titles}, the release breaks what was promised then: {failing.failures[0]}"


def check_intersection(release: Release, stage: Path, entries: Sequence[Entry]) -> None:
    """Raise where all releases together leave somebody fewer values of a column than one of them has promised."""
    if not entries:
        return
    for column, least in _promised_diversity(release, entries).items():
        folders = [stage, *(entry.folder for entry in entries)]
        left = intersect(folders, release.source, column=column, threshold=least).left[column]
        below = int(((left >= 0) & (left < least)).sum())
        if below:
            titles = ", ".join(entry.title for entry in entries)
            raise Infeasible(
                f"together with {titles}, the release leaves {below:,} persons with fewer than the {least} values of "
                f"'{column}' that were promised, {int(left[left >= 0].min())} at the least (the intersection attack; "
                "see sfumato attack intersect); publish fewer or coarser quasi-identifiers, or promise less"
            )


def _promised_diversity(release: Release, entries: Sequence[Entry]) -> dict[str, int]:
    """Find the largest number of values that any release has promised, of sensitive columns that two of them share."""
    sensitive = [{column.name for column in release.policy.sensitive}]
    sensitive += [
        {column["name"] for column in entry.manifest["columns"] if column["role"] == "sensitive"} for entry in entries
    ]
    largest: dict[str, int] = {}
    for rules in (state_requirements(release.policy), *(entry.promise for entry in entries)):
        for rule in rules:
            column, least = rule.get("column"), promised_values(rule)
            if least >= 2 and sum(column in columns for columns in sensitive) >= 2:
                largest[str(column)] = max(largest.get(str(column), 0), least)
    return largest
