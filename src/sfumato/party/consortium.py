"""The consortium file: who takes part, where they listen, how they are known, and what they work out together.

::

    [consortium]
    name = "three-hospitals"
    parties = [
      { name = "a", address = "a.example:7001", certificate = "a.pem" },
      { name = "b", address = "b.example:7001", certificate = "b.pem" },
      { name = "c", address = "c.example:7001", certificate = "c.pem" },
    ]

    [task]
    kind = "sum"

All parties have the same file and the same certificates, byte for byte: its `digest` is the first thing that they
tell each other, and a run with different ones ends before anything else is said.
"""

import hashlib
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.core.regular_file import read_regular_file
from sfumato.errors import PolicyError, UnreadableFile, did_you_mean, quote
from sfumato.party.party_keys import PartyCertificate, check_party_name, read_certificate
from sfumato.party.party_task import PartyTask
from sfumato.party.task_kinds import task_class
from sfumato.policy.section import Section, join_choices, require_table
from sfumato.policy.toml_text import find_line

_LARGEST_FILE = 1 << 20
_LARGEST_TASK_FILE = 1 << 24
_MOST_PARTIES = 100
_MOST_SECONDS = 30 * 86_400
_SETTINGS = {"patience": 30.0, "wait": 120.0, "time_limit": 3600.0}
"""Seconds: of silence that a peer is forgiven, until all are connected, and of a run in all."""
_RUNS_PER_DAY = 20


@dataclass(frozen=True)
class ConsortiumParty:
    """A party: its name, where it listens, and the certificate by which it is known."""

    name: str
    host: str
    port: int
    certificate: PartyCertificate


@dataclass(frozen=True)
class Consortium:
    """A consortium file that was read and checked.

    `digest` is over the file, all certificates, and the files that the task names. `patience`, `wait` and `time_limit`
    are seconds: of silence after which a peer is taken for dead, until which all have to be connected, and after which
    a run is ended. `runs_per_day` is how many runs of this kind of task a party does with the same peer in a day.
    """

    name: str
    parties: tuple[ConsortiumParty, ...]
    task: PartyTask
    digest: bytes
    patience: float
    wait: float
    time_limit: float
    runs_per_day: int

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all parties, in the order of the file."""
        return tuple(party.name for party in self.parties)

    def party(self, name: str, option: str) -> ConsortiumParty:
        """Find a party by its name; `option` is where the name was given."""
        for party in self.parties:
            if party.name == name:
                return party
        hint = did_you_mean(name, self.names) or f"; choose {join_choices(self.names)}"
        raise PolicyError(f"the consortium has no party {quote(name)}{hint}", key=option)


@dataclass(frozen=True)
class StandIn:
    """Where a party listens and how it is known in a simulation, in place of what the file says."""

    host: str
    port: int
    certificate: PartyCertificate


def read_consortium(path: Path, stand_ins: Callable[[str], StandIn] | None = None) -> Consortium:
    """Read a consortium file, and the certificates beside it.

    `stand_ins` gives one for the name of each party, for simulations: the file's addresses and certificates are then
    not looked at.

    Raises:
        PolicyError: the file cannot be read, or says something that means nothing; names the key and the line.
    """
    try:
        content = read_regular_file(path, most=_LARGEST_FILE, what="a consortium file")
        text = content.decode("utf-8-sig")
        tables = tomllib.loads(text)
    except UnreadableFile as error:
        raise PolicyError(f"the consortium file {path} {error.reason}; name another") from None
    except UnicodeDecodeError:
        raise PolicyError(f"{path} is not UTF-8 text; save it as a TOML file in UTF-8") from None
    except ValueError as error:
        raise PolicyError(f"{path} is not valid TOML: {error}") from None
    except RecursionError:
        raise PolicyError(f"{path} is nested too deeply to be read") from None
    try:
        return _read(tables, content, path.parent, stand_ins)
    except PolicyError as error:
        line = find_line(text, error.key)
        with_line = PolicyError(f"{path}, line {line}: {error}" if line else f"{path}: {error}")
        with_line.key = error.key
        raise with_line from error


def _read(
    tables: Mapping[str, Any], content: bytes, folder: Path, stand_ins: Callable[[str], StandIn] | None
) -> Consortium:
    whole = _section(tables, "", ("consortium", "task"))
    consortium = _section(
        whole.table.get("consortium", {}), "consortium", ("name", "parties", *_SETTINGS, "runs_per_day")
    )
    name = consortium.text("name") or ""
    parties = _read_parties(consortium, folder, stand_ins)
    names = tuple(party.name for party in parties)
    if "task" not in whole.table:
        raise PolicyError('is missing; write what the parties are to work out, such as [task] kind = "sum"', key="task")
    given = Section(require_table(whole.table["task"], "task"), "task")
    kind = given.text("kind")
    if kind is None:
        raise PolicyError('is missing; write what is worked out, such as kind = "sum"', key="task.kind")
    known = task_class(kind)
    section = _section(given.table, "task", ("kind", "result_to", *known.keys))
    section, files = _find_files(section, known, folder)
    task = known.read(section, names, _read_result_to(section, names))
    seconds = {key: _read_seconds(consortium, key) for key in _SETTINGS}
    runs = consortium.whole_number("runs_per_day")
    if runs == 0:
        raise consortium.error("runs_per_day", "must be a whole number of at least 1")
    digest = hashlib.sha256(b"sfumato-consortium/1\0")
    for part in (content, *files, *(party.certificate.der for party in parties)):
        digest.update(hashlib.sha256(part).digest())
    return Consortium(
        name, parties, task, digest.digest(), **seconds, runs_per_day=_RUNS_PER_DAY if runs is None else runs
    )


def _read_parties(
    consortium: Section, folder: Path, stand_ins: Callable[[str], StandIn] | None
) -> tuple[ConsortiumParty, ...]:
    given = consortium.table.get("parties")
    example = 'parties = [ { name = "a", address = "a.example:7001", certificate = "a.pem" }, ... ]'
    if not isinstance(given, list):
        raise PolicyError(f"must be a list of parties; write {example}", key="consortium.parties")
    if not 2 <= len(given) <= _MOST_PARTIES:
        raise PolicyError(f"must be from 2 to {_MOST_PARTIES} parties, not {len(given)}", key="consortium.parties")
    parties: list[ConsortiumParty] = []
    for place, one in enumerate(given):
        section = _section(one, f"consortium.parties[{place}]", ("name", "address", "certificate"))
        texts = {name: section.text(name) for name in ("name", "address", "certificate")}
        for key, text in texts.items():
            if not text and (stand_ins is None or key == "name"):
                raise PolicyError(f"is missing; write {example}", key=section.path(key))
        name = check_party_name(texts["name"] or "", section.path("name"))
        if any(name == other.name for other in parties):
            raise PolicyError(f"is the name of another party as well: {name}", key=section.path("name"))
        if stand_ins is not None:
            stand_in = stand_ins(name)
            parties.append(ConsortiumParty(name, stand_in.host, stand_in.port, stand_in.certificate))
        else:
            host, port = read_address(texts["address"] or "", section.path("address"))
            certificate = read_certificate(folder / (texts["certificate"] or ""), section.path("certificate"))
            parties.append(ConsortiumParty(name, host, port, certificate))
        for other in parties[:-1]:
            if (other.host, other.port) == (parties[-1].host, parties[-1].port):
                raise PolicyError(f"is that of party {other.name} as well", key=section.path("address"))
            if other.certificate.der == parties[-1].certificate.der:
                raise PolicyError(f"is that of party {other.name} as well", key=section.path("certificate"))
    return tuple(parties)


def read_address(text: str, key: str) -> tuple[str, int]:
    """Read an address, host:port, where a host of IPv6 stands in brackets.

    >>> read_address("a.example:7001", "address"), read_address("[::1]:7001", "address")
    (('a.example', 7001), ('::1', 7001))
    >>> read_address("a.example", "address")
    Traceback (most recent call last):
    sfumato.errors.PolicyError: address: must be host:port such as a.example:7001, not 'a.example'
    >>> read_address("a..example:7001", "address")
    Traceback (most recent call last):
    sfumato.errors.PolicyError: address: must be host:port such as a.example:7001, not 'a..example:7001'
    """
    host, colon, port = text.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        host = ""
    if (
        not colon
        or not _may_be_host(host)
        or not port.isascii()
        or not port.isdigit()
        or not 0 < int(port[:6]) < 1 << 16
    ):
        raise PolicyError(f"must be host:port such as a.example:7001, not {quote(text)}", key=key)
    return host, int(port)


def _may_be_host(host: str) -> bool:
    """Tell whether a name can be looked up at all: one with an empty label, or a long one, cannot."""
    try:
        return bool(host.encode("idna"))
    except UnicodeError:
        return False


def _find_files(section: Section, known: type[PartyTask], folder: Path) -> tuple[Section, list[bytes]]:
    """Write the files that a task names as they lead from here, and read them."""
    paths: dict[str, str] = {}
    files = []
    for key in known.file_keys:
        text = section.text(key)
        if text is None:
            continue
        paths[key] = str(folder / text)
        try:
            files.append(read_regular_file(folder / text, most=_LARGEST_TASK_FILE, what="a file of a task"))
        except UnreadableFile as error:
            raise PolicyError(f"{text} {error.reason}; name another", key=section.path(key)) from None
    return Section({**section.table, **paths}, section.key), files


def _read_result_to(section: Section, names: tuple[str, ...]) -> tuple[str, ...]:
    """Read who gets the result, in the order of the consortium; all, if it is left out."""
    given = section.texts("result_to")
    if given is None:
        return names
    for name in given:
        if name not in names:
            hint = did_you_mean(name, names) or f"; choose {join_choices(names)}"
            raise PolicyError(f"there is no party {quote(name)}{hint}", key=section.path("result_to"))
    if not given:
        raise PolicyError("names nobody, so that nobody would get the result", key=section.path("result_to"))
    return tuple(name for name in names if name in given)


def _read_seconds(section: Section, key: str) -> float:
    seconds = section.number(key)
    if seconds is not None and not 1 <= seconds <= _MOST_SECONDS:
        raise section.error(key, f"must be seconds from 1 to {_MOST_SECONDS:,}")
    return _SETTINGS[key] if seconds is None else float(seconds)


def _section(value: object, key: str, names: tuple[str, ...]) -> Section:
    """Read a table that has no other keys than `names`."""
    section = Section(require_table(value, key), key)
    for name in section.table:
        if name not in names:
            hint = did_you_mean(name, names) or f"; choose {join_choices(names)}"
            raise PolicyError(f"is not a key of a consortium file{hint}", key=section.path(name))
    return section
