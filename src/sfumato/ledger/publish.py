"""Make a release that keeps the promises of all before it, and record it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from sfumato.errors import Infeasible
from sfumato.ledger.asked import Earlier
from sfumato.ledger.compose import check_together
from sfumato.ledger.entry import Entry
from sfumato.ledger.implied import unstated
from sfumato.ledger.joined import Joined, is_one_table
from sfumato.ledger.ledger import Ledger
from sfumato.policy import Policy
from sfumato.previous import link_releases
from sfumato.release import Release, prepare
from sfumato.release.promised import promise
from sfumato.verifier import Verdict, verify_table

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False, repr=False)
class Publication:
    """A release that is to be recorded: the ledger, what it had when the release was made, and its name there."""

    ledger: Ledger
    seen: Earlier
    name: str
    release: Release
    notes: tuple[str, ...] = ()

    @property
    def warnings(self) -> list[str]:
        """What the data holder should know, of the release and of what could not be asked of the join."""
        return [*self.release.warnings, *_told(self.seen.entries), *self.notes]

    def save(self, folder: Path, *, force: bool = False) -> Entry:
        """Write the release folder and record it: neither without the other, whatever happens in between."""
        held: list[Entry] = []

        def reserve(stage: Path) -> None:
            check_together(self.release, stage, self.seen.entries)
            held.append(self.ledger.reserve(stage, self.seen, name=self.name))

        try:
            self.release.save(folder, force=force, before=reserve)
        except BaseException:
            if held:  # its folder has not appeared
                self.ledger.withdraw(held[0].number)
            raise
        return self.ledger.finish(held[0].number)


def publication(
    ledger: Ledger, policy: Policy, *, population: str | None, name: str, progress: Progress | None = None
) -> Publication:
    """Make a release of a policy's table that keeps the promises of all earlier ones about the same people.

    The policy's own algorithm is tried first. Where the join breaks an earlier promise, ``auto`` and ``tds`` go on to
    specialize with the join in view; other algorithms cannot, and the release is refused.
    """
    ledger.check_name(name)
    seen = ledger.earlier(population)
    joined = Joined.of(policy, seen.entries)
    if joined is None:
        return Publication(ledger, seen, name, prepare(None, policy, progress=progress))
    if policy.recoder != "tds":
        kept, verdict = _tried(prepare(None, policy, progress=progress), joined.checked)
        if kept is not None:
            return Publication(ledger, seen, name, kept)
        if policy.search.name != "auto":
            way = "leave [algorithm] name out, or write tds, so that the join is taken into account"
            raise Infeasible(f"{_broken(verdict, seen.entries)}; {way}")
    return Publication(ledger, seen, name, _specialized(joined, progress), joined.notes)


def _tried(release: Release, joined: Policy) -> tuple[Release | None, Verdict]:
    """The release with the earlier promises as its own, where it keeps them as it is; and what the verifier found."""
    asked = replace(release, policy=joined, star=link_releases(release.encoded, joined))
    promised = promise(asked.encoded, joined, asked.recoding, asked.star)
    verdict = verify_table(asked.tables["table"].arrow, promised)
    return (asked if verdict.satisfied else None), verdict


def _broken(verdict: Verdict, entries: tuple[Entry, ...]) -> str:
    """Which earlier release and promise an adversary breaks by joining, in words."""
    failing = next(finding for finding in verdict.privacy if not finding.satisfied)
    names = failing.required.get("releases", ())
    called = ", ".join(entry.called for entry in entries if entry.name in names) or "earlier releases"
    return f"joined with {called}, the release breaks what was promised then: {failing.failures[0]}"


def _specialized(joined: Joined, progress: Progress | None) -> Release:
    try:
        return prepare(None, joined.specializing(), progress=progress)
    except Infeasible as error:
        raise Infeasible(
            f"with the promises of {', '.join(joined.names)} kept over the join, no release was found: {error}; "
            "publish fewer columns, or coarser ones"
        ) from None


def _told(entries: tuple[Entry, ...]) -> list[str]:
    found = []
    for entry in entries:
        if not is_one_table(entry):
            found.append(
                f"{entry.called} is of two tables, and was not joined; sfumato attack intersect measures what both "
                "releases tell together"
            )
        elif left := unstated(entry):
            found.append(f"of the promise of {entry.called}, the join was asked for less than {', '.join(left)} says")
    return found
