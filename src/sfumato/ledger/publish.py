"""Make a release that keeps the promises of all before it, and record it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sfumato.errors import Infeasible, InputError
from sfumato.ledger.asked import Earlier
from sfumato.ledger.entry import Entry
from sfumato.ledger.implied import implied, unstated
from sfumato.ledger.ledger import Ledger
from sfumato.policy import Policy
from sfumato.previous import star_of
from sfumato.release import Release, prepare
from sfumato.release.previous import earlier_releases, taxonomies
from sfumato.release.promised import promise
from sfumato.verifier import Verdict, verify_table

_OTHERS = frozenset({"metric", "improve", "keep_together", "suppression"})
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False, repr=False)
class Publication:
    """A release that is to be recorded: the ledger, what it had when the release was made, and its name there."""

    ledger: Ledger
    seen: Earlier
    name: str
    release: Release

    @property
    def warnings(self) -> list[str]:
        """What the data holder should know, of the release and of what could not be asked of the join."""
        return [*self.release.warnings, *_told(self.seen.entries)]

    def save(self, folder: Path, *, force: bool = False) -> Entry:
        """Write the release folder and record it: neither without the other, whatever happens in between."""
        held: list[Entry] = []
        try:
            self.release.save(
                folder,
                force=force,
                before=lambda stage: held.append(self.ledger.reserve(stage, self.seen, name=self.name)),
            )
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
    joined = _joined(policy, seen.entries)
    if joined is None:
        return Publication(ledger, seen, name, prepare(None, policy, progress=progress))
    if policy.recoder == "tds":
        return Publication(ledger, seen, name, _specialized(joined, progress))
    release = prepare(None, policy, progress=progress)
    verdict = _verdict(release, joined)
    if verdict.satisfied:
        return Publication(ledger, seen, name, release)
    if policy.search.name != "auto":
        way = "leave [algorithm] name out, or write tds, so that the join is taken into account"
        raise Infeasible(f"{_broken(verdict, seen.entries)}; {way}")
    return Publication(ledger, seen, name, _specialized(joined, progress))


def _joined(policy: Policy, entries: tuple[Entry, ...]) -> Policy | None:
    """The policy with all earlier releases and what their promises ask of the join; nothing where they ask nothing."""
    document = dict(policy.document)
    own = document.get("previous", [])
    assert isinstance(own, list)  # noqa: S101 - the policy has checked it; this tells the type checker
    names = {each.name for each in policy.previous}
    added: list[Mapping[str, Any]] = []
    rules: list[Mapping[str, Any]] = []
    for entry in entries:
        if entry.name in names:
            raise InputError(
                f"the ledger has a release '{entry.name}', and so has the policy under [[previous]]; leave it out "
                "there, since the ledger's are looked at by themselves"
            )
        if found := implied(policy, entry) if _is_one_table(entry) else []:
            added.append({"name": entry.name, "table": str(entry.paths[0].resolve())})
            rules += found
    if not rules:
        return None
    stated = document.get("privacy", [])
    assert isinstance(stated, list)  # noqa: S101 - same
    search = {"algorithm": _search(document.get("algorithm", {}))}
    return Policy.read(
        document | search | {"previous": [*own, *added], "privacy": [*stated, *rules]}, folder=policy.folder
    )


def _search(search: object) -> dict[str, Any]:
    """[algorithm] as top-down specialization takes it: without the keys that are about other searches."""
    kept = dict(search) if isinstance(search, Mapping) else {}
    return {key: value for key, value in kept.items() if key not in _OTHERS} | {"name": "tds"}


def _is_one_table(entry: Entry) -> bool:
    return bool(entry.manifest.get("form", "generalized") == "generalized")


def _verdict(release: Release, joined: Policy) -> Verdict:
    """What the verifier finds of a release, joined with the earlier ones."""
    star = star_of(release.encoded, joined)
    asked = replace(
        promise(release.encoded, joined, release.recoding),
        previous=earlier_releases(star),
        taxonomies=taxonomies(star, release.recoding),
    )
    return verify_table(release.tables["table"].arrow, asked)


def _specialized(joined: Policy, progress: Progress | None) -> Release:
    try:
        return prepare(None, joined, progress=progress)
    except Infeasible as error:
        raise Infeasible(f"an earlier promise would be broken: {error}") from None


def _broken(verdict: Verdict, entries: tuple[Entry, ...]) -> str:
    """Which earlier release and promise an adversary breaks by joining, in words."""
    failing = [finding for finding in verdict.privacy if not finding.satisfied and finding.required.get("releases")]
    names = list(dict.fromkeys(name for finding in failing for name in finding.required["releases"]))
    called = ", ".join(entry.called for entry in entries if entry.name in names)
    words = failing[0].failures[0] if failing else "; ".join(verdict.complaints)
    return f"joined with {called}, the release breaks what was promised then: {words}"


def _told(entries: tuple[Entry, ...]) -> list[str]:
    found = []
    for entry in entries:
        if not _is_one_table(entry):
            found.append(
                f"{entry.called} is of two tables, and was not joined; sfumato attack intersect measures what both "
                "releases tell together"
            )
        elif left := unstated(entry):
            found.append(f"of the promise of {entry.called}, the join was asked for less than {', '.join(left)} says")
    return found
