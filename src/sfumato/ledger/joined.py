"""A policy together with all earlier releases about the same people, and what their promises ask of the join."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sfumato.errors import Infeasible, InputError, PolicyError
from sfumato.ledger.entry import Entry
from sfumato.ledger.implied import implied
from sfumato.policy import Policy

_OTHERS = frozenset({"metric", "improve", "keep_together", "suppression"})
"""Keys of [algorithm] that are about other searches than top-down specialization."""


@dataclass(frozen=True)
class Joined:
    """The policy as it was given, with the earlier releases and requirements as tables of a policy file."""

    policy: Policy
    previous: tuple[Mapping[str, Any], ...]
    rules: tuple[Mapping[str, Any], ...]

    @classmethod
    def of(cls, policy: Policy, entries: tuple[Entry, ...]) -> "Joined | None":
        """With the releases whose promises ask something; nothing where none does, or two tables are published."""
        previous: list[Mapping[str, Any]] = []
        rules: list[Mapping[str, Any]] = []
        for entry in entries:
            _check_name(policy, entry)
            found = implied(policy, entry) if is_one_table(entry) and not policy.publish.split else []
            previous += [{"name": entry.name, "table": str(entry.paths[0].resolve())}] if found else []
            rules += found
        return cls(policy, tuple(previous), tuple(rules)) if rules else None

    @property
    def names(self) -> list[str]:
        """The names of the earlier releases."""
        return [each["name"] for each in self.previous]

    @property
    def checked(self) -> Policy:
        """The policy with its own algorithm, and the earlier promises to be checked of what it makes."""
        return self._read(self.policy.document, lenient=True)

    def specializing(self) -> Policy:
        """The policy for top-down specialization with the join in view."""
        given = self.policy.document.get("algorithm", {})
        kept = {key: value for key, value in _table(given).items() if key not in _OTHERS}
        try:
            return self._read({**self.policy.document, "algorithm": {**kept, "name": "tds"}}, lenient=False)
        except PolicyError as error:
            raise Infeasible(
                f"an earlier promise would be broken, and tds, which could keep it, cannot be used here: {error}"
            ) from None

    @property
    def notes(self) -> tuple[str, ...]:
        """What was not done that the policy allows."""
        if not self.policy.search.suppression:
            return ()
        return ("no row was suppressed, although the policy allows it: the join is kept by generalizing alone",)

    def _read(self, document: Mapping[str, object], *, lenient: bool) -> Policy:
        own, stated = (list(_list(document.get(key))) for key in ("previous", "privacy"))
        tables = {**document, "previous": [*own, *self.previous], "privacy": [*stated, *self.rules]}
        read = Policy.read(tables, folder=self.policy.folder, lenient=lenient)
        # a source that the command line names starts where it runs, and is not sought a second time
        return replace(read, source=self.policy.source)


def is_one_table(entry: Entry) -> bool:
    """Whether a release is one table, and not two."""
    return bool(entry.manifest.get("form", "generalized") == "generalized")


def _check_name(policy: Policy, entry: Entry) -> None:
    if entry.name in {each.name for each in policy.previous}:
        raise InputError(
            f"the ledger has a release '{entry.name}', and so has the policy under [[previous]]; leave it out there, "
            "since the ledger's are looked at by themselves"
        )
    for name in policy.columns:
        if name.startswith(f"{entry.name}.") or name == "$row":
            raise InputError(
                f"the column '{name}' reads like one of the ledger's release '{entry.name}'; rename it, or publish "
                "without --ledger and look at the join yourself"
            )


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
