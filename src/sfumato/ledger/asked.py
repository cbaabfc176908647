"""Asked: the place in a ledger that a release is to have, and why it cannot have it."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sfumato.errors import InputError
from sfumato.ledger.candidate import Candidate
from sfumato.ledger.entry import Entry, check_name, check_population

DEFAULT = "default"
"""The population of releases that name none."""


@dataclass(frozen=True)
class Earlier:
    """What was published about a population at one moment; `version` is the number of its last entry."""

    population: str
    entries: tuple[Entry, ...]
    version: int


@dataclass(frozen=True)
class Asked:
    """A name, a population, and the last entry of the population that was taken into account, where one was."""

    name: str
    population: str = DEFAULT
    version: int | None = None

    def check(self, entries: Iterable[Entry], candidate: Candidate | None = None) -> None:
        """Raise where the ledger has no such place."""
        check_name(self.name)
        check_population(self.population)
        for entry in entries:
            if candidate is not None and entry.manifest_sha256 == candidate.sha256:
                raise recorded(entry)
            if entry.name == self.name:
                raise InputError(f"the ledger has a release '{self.name}' already; give another --name")
            if self.version is not None and entry.population == self.population and entry.number > self.version:
                raise InputError(
                    f"another release of the population '{self.population}' was recorded meanwhile "
                    f"({entry.called}), which this one does not take into account; run it again"
                )


def recorded(entry: Entry) -> InputError:
    """Why a release is not recorded twice."""
    return InputError(
        f"this release is recorded already: it is {entry.called}, of the population '{entry.population}'; "
        "there is nothing to add"
    )


def check_same(entry: Entry, name: str | None, population: str | None) -> None:
    """Raise where a recorded release is published already, or is asked for under another name or population."""
    if not entry.unfinished or name not in {None, entry.name} or population not in {None, entry.population}:
        raise recorded(entry)


def name_of(public: Path) -> str:
    """The name of a release that is given none: that of its folder."""
    folder = public.resolve()
    return folder.parent.name if folder.name == "public" else folder.name
