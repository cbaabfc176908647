"""What is asked: which releases, which sensitive columns they share, and which columns somebody is known by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.errors import DataError, InputError, did_you_mean, listing
from sfumato.matching.opened import audited
from sfumato.matching.outside import names_of, table_of
from sfumato.matching.people import People, people_known, people_released
from sfumato.matching.released import Released, promised_k
from sfumato.policy import Policy


@dataclass(frozen=True, eq=False)
class Asked:
    """Releases, the sensitive columns that two of them have at least, and the quasi-identifiers by some policy.

    `needed` is the k that each release should keep; `data` is how a file of known persons is read.
    """

    releases: Sequence[Released]
    sensitive: Sequence[str]
    quasi: Sequence[str]
    needed: Sequence[int | None]
    data: Mapping[str, Any]

    @classmethod
    def of(cls, releases: Sequence[Released], policy: Policy | None, column: str | None) -> "Asked":
        """Roles are those of the policy, or else of the one that the first release was made with.

        What is a quasi-identifier of another release and stands not in the latter is one all the same.
        """
        document = audited(releases[0].account) if policy is None else policy.document
        columns, data = (_part(document, key) for key in ("columns", "data"))
        roles = {name: one.get("role") for name, one in columns.items() if isinstance(one, dict)}
        published, unlisted = dict.fromkeys(name for one in releases for name in one.quasi), "" if policy else "quasi"
        quasi = [name for name in published if roles.get(name, unlisted) == "quasi"]
        needed = [one.k if policy is None else promised_k(_rules(policy)) for one in releases]
        return cls(releases, _sensitive(releases, column), quasi, needed, data)

    def people(self, known: Any) -> People:
        """The persons: rows of a table, or of the first release where there is none."""
        if known is None:
            first = self.releases[0]
            return people_released(first, [name for name in self.quasi if name in first.quasi] or list(first.quasi))
        names = names_of(known, self._options)
        quasi = [name for name in self.quasi if name in names]
        if not quasi:
            raise DataError(
                f"the table of known persons has no quasi-identifier of the releases, which are {listing(self.quasi)}; "
                "name one with columns that somebody may know"
            )
        sensitive = [name for name in self.sensitive if name in names]
        return people_known(table_of(known, [*quasi, *sensitive], self._options), quasi, sensitive)

    @property
    def _options(self) -> dict[str, Any]:
        """How a file is read: as the policy says, or with the text for NULL that the release has."""
        options = {key: value for key, value in self.data.items() if key != "source"}
        return options or {"null": list(dict.fromkeys([self.releases[0].account.null, ""]))}


def _part(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    part = document.get(key)
    return part if isinstance(part, dict) else {}


def _rules(policy: Policy) -> list[Any]:
    rules = policy.document.get("privacy")
    return rules if isinstance(rules, list) else []


def _sensitive(releases: Sequence[Released], column: str | None) -> list[str]:
    """The sensitive columns that two releases have, or the one that is asked of."""
    every = [name for one in releases for name in one.bags]
    shared = list(dict.fromkeys(name for name in every if every.count(name) > 1))
    if column is not None and column not in shared:
        hint = did_you_mean(column, shared) or (f"; they share {listing(shared)}" if shared else "")
        raise InputError(f"'{column}' is no sensitive column of two of the releases{hint}")
    if not shared:
        what = "; ".join(f"{one.name} has {listing(one.bags) or 'none'}" for one in releases)
        raise InputError(f"the releases share no sensitive column, so that there is nothing to intersect: {what}")
    return shared if column is None else [column]
