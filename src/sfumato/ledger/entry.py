"""Entry: a release as the ledger has it."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sfumato.errors import InputError
from sfumato.ledger.chain import Event

PUBLISHED, PUBLISHING = "published", "publishing"
_HASH = re.compile("[0-9a-f]{64}")
_NAME = re.compile("[A-Za-z0-9_-]{1,100}")
_POPULATION = 200


@dataclass(frozen=True)
class Entry:
    """A recorded release: whose it is, what it promised, and where its copy is.

    `state` is ``publishing`` from the moment it was reserved until its folder had appeared; such a release counts as
    published. `previous` are the stored tables of the earlier releases that its promise speaks of.
    """

    number: int
    name: str
    population: str
    recorded: str
    manifest_sha256: str
    tables: Mapping[str, str]
    account_sha256: str | None
    rows: int
    promise: Sequence[Mapping[str, Any]]
    policy: Mapping[str, Any] | None
    previous: Mapping[str, Path]
    state: str
    chain: str
    folder: Path

    @property
    def paths(self) -> tuple[Path, ...]:
        """Its tables, with the manifest beside them."""
        return tuple(self.folder / "public" / name for name in self.tables)

    @property
    def manifest(self) -> dict[str, Any]:
        """Its manifest, from the stored copy."""
        try:
            found: dict[str, Any] = json.loads((self.folder / "public" / "manifest.json").read_bytes())
        except (OSError, ValueError):
            raise InputError(
                f"the ledger's copy of release '{self.name}' is damaged; see sfumato ledger check"
            ) from None
        return found

    @property
    def unfinished(self) -> bool:
        """Nobody has said yet that its folder appeared."""
        return self.state == PUBLISHING

    @property
    def called(self) -> str:
        """What a sentence calls it."""
        return f"release {self.number}, '{self.name}'"

    def as_json(self) -> dict[str, Any]:
        """As ``sfumato ledger list --json`` prints it."""
        kept = ("number", "name", "population", "recorded", "state", "rows", "promise", "policy", "tables")
        found = {key: getattr(self, key) for key in (*kept, "manifest_sha256", "chain")}
        return found | {"previous": list(self.previous), "folder": str(self.folder)}


def read_entries(events: Iterable[Event], objects: Path) -> dict[int, Entry]:
    """The entries that events leave, by number; withdrawn ones are gone."""
    found: dict[int, Entry] = {}
    opened = 0
    for event in events:
        kind, number = event.body.get("event"), event.body.get("number")
        known = found.get(number) if isinstance(number, int) else None
        if kind in {"recorded", "reserved"} and number == opened + 1:
            found[opened := number] = _opened(event, objects)
        elif kind == "published" and known is not None:
            found[known.number] = replace(known, state=PUBLISHED)
        elif kind == "withdrawn" and known is not None and known.unfinished:
            del found[known.number]
        else:
            raise _strange(event)
    return found


def check_name(name: str) -> str:
    """A name that columns of a later policy can be written with: ``name.column``.

    >>> check_name("spring.2026")
    Traceback (most recent call last):
    sfumato.errors.InputError: 'spring.2026' cannot name a release: use letters, digits, _ and -; give another --name
    """
    if not _NAME.fullmatch(name):
        raise InputError(f"{name!r} cannot name a release: use letters, digits, _ and -; give another --name")
    return name


def check_population(population: str) -> str:
    """A population in a line of text."""
    if not population.strip() or len(population) > _POPULATION or not population.isprintable():
        raise InputError(f"{population!r} cannot name a population: use a line of text; give another --population")
    return population


def _opened(event: Event, objects: Path) -> Entry:
    """The entry that an event opens."""
    body = event.body
    try:
        _check_places(body)
        return Entry(
            number=body["number"],
            name=body["name"],
            population=body["population"],
            recorded=body["time"],
            manifest_sha256=body["manifest_sha256"],
            tables=body["tables"],
            account_sha256=body["account_sha256"],
            rows=body["rows"],
            promise=body["promise"],
            policy=body["policy"],
            previous={name: objects.joinpath(*place) for name, place in body["previous"].items()},
            state=PUBLISHED if body["event"] == "recorded" else PUBLISHING,
            chain=event.chain,
            folder=objects / body["manifest_sha256"],
        )
    except (KeyError, TypeError, AttributeError):
        raise _strange(event) from None


def _check_places(body: Mapping[str, Any]) -> None:
    """Files are in the ledger and nowhere else, whoever wrote the line."""
    parts = [*body["tables"], *(part for place in body["previous"].values() for part in place)]
    if not _HASH.fullmatch(body["manifest_sha256"]) or any(not is_plain(part) for part in parts):
        raise KeyError


def is_plain(name: Any) -> bool:
    """Whether a text names a file in a folder itself, and nothing elsewhere."""
    return isinstance(name, str) and name not in {"", ".", ".."} and not any(sign in name for sign in "/\\\0")


def _strange(event: Event) -> InputError:
    return InputError(f"line {event.place} of the ledger says nothing that this version knows; restore it from a copy")
