"""A task: what the parties of a consortium work out together, as the ``[task]`` of their file says it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from sfumato.party.party_session import PartySession
from sfumato.party.protocol_statement import ProtocolStatement
from sfumato.policy.section import Section


@dataclass(frozen=True)
class PartyTable:
    """The table that a party brings: Arrow columns, and what it is called in sentences."""

    arrow: Any
    name: str


class PartyTask(ABC):
    """One kind of task with its settings, which all parties share; each kind is a frozen dataclass.

    A run has four steps. `read` checks the settings, which are the same at every party. `prepare` checks this party's
    own table, and is done before anything moves, so that bad input is an `InputError`. `run` is the protocol; it gives
    what this party is told, as JSON can hold it, or ``None`` where it is told nothing (``result_to``). `statement` says
    what is printed before.
    """

    kind: ClassVar[str]
    keys: ClassVar[tuple[str, ...]]
    """Keys of ``[task]`` besides ``kind`` and ``result_to``."""
    file_keys: ClassVar[tuple[str, ...]] = ()
    """Those of them that name a file, from the folder of the consortium file; `read` is given the path from where the
    program runs, and the bytes of the file are part of what all parties have to agree on."""
    writes_folder: ClassVar[bool] = False
    """Whether ``--out`` is a folder that the task writes itself, in `run`; it is told by `direct`. Such a task enters
    the folder into `PartySession.until_end`, so that it appears when all parties are done."""
    reads_baskets: ClassVar[bool] = False
    """Whether a file of lines, such as ``a.dat``, is read as baskets, and not as a table."""
    result_to: tuple[str, ...]

    @classmethod
    @abstractmethod
    def read(cls, section: Section, parties: tuple[str, ...], result_to: tuple[str, ...]) -> Self:
        """Read the settings of ``[task]``; wrong ones are a `PolicyError` that names the key."""

    @abstractmethod
    def statement(self, parties: tuple[str, ...]) -> ProtocolStatement:
        """Say what this task protects from whom, with these settings."""

    @abstractmethod
    def prepare(self, me: str, table: PartyTable) -> Any:
        """Check the table of party `me`, and take from it what the protocol needs."""

    def cautions(self, prepared: Any) -> tuple[str, ...]:
        """Say, to the holder of the table alone, what to know of it before the run; sentences that quote no cell."""
        del prepared
        return ()

    def direct(self, prepared: Any, out: Path | None, *, force: bool = False) -> Any:
        """Say which folder this party's output goes to, for a task that writes one; `force` replaces what is there."""
        del out, force
        return prepared

    @abstractmethod
    def run(self, session: PartySession, prepared: Any) -> Any:
        """Do the protocol with what `prepare` gave."""

    @classmethod
    def tabulate(cls, result: Any) -> list[dict[str, Any]]:
        """Write what `run` gave as lines of named cells, which a CSV file and a screen can hold.

        A list has a line for each of its parts, and whatever else is told is one line, unless a kind knows better.
        """
        parts = result if isinstance(result, list) else [result]
        return [part if isinstance(part, dict) else {cls.kind: part} for part in parts]
