"""How often this party has run a kind of task with a peer: counted beside its key, and limited.

Every run tells a peer a little. Who may ask a hundred times for the size of an intersection, with other items each
time, learns who is in the set. So every run counts, when the peers are known and before anything of the data moves,
whether it then succeeds or not; and a party that has reached the limit of the consortium file ends the run. What is
counted is the peer's certificate, so that a consortium by another name is no way around it.

The ledger is one file, ``KEY.runs`` beside the key ``KEY``: a line for each run and peer, with the second, the kind of
task and the SHA-256 of the certificate. It is replaced whole, under a lock on the key's file.
"""

import contextlib
import fcntl
import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from sfumato.core.regular_file import read_regular_file
from sfumato.errors import InputError, RunAborted, UnreadableFile, quote
from sfumato.party.consortium import ConsortiumParty

_DAY = 86_400
_LARGEST_FILE = 1 << 24


class RunLimitReached(RunAborted):
    """A peer with which this party has done as many runs as it allows a day."""


def count_run(key: Path, kind: str, peers: Sequence[ConsortiumParty], most: int) -> None:
    """Count a run with these peers, or refuse it where one of them has had `most` of this kind within a day.

    Raises:
        RunLimitReached: the limit is reached.
        InputError: the ledger cannot be read or written.
    """
    ledger = key.with_name(f"{key.name}.runs")
    now = int(time.time())
    with _locked(key):
        runs = [run for run in _read_runs(ledger) if now - run[0] < _DAY]
        for peer in peers:
            fingerprint = hashlib.sha256(peer.certificate.der).hexdigest()
            before = [second for second, of, whose in runs if (of, whose) == (kind, fingerprint)]
            if len(before) >= most:
                hours = max(1, -(-(min(before) + _DAY - now) // 3600))
                raise RunLimitReached(
                    f"this party has done {len(before):,} runs of {kind} with party {quote(peer.name)} within a day, "
                    f"and the limit is {most:,}; wait {hours} hours, or agree with all parties on a higher "
                    "runs_per_day in [consortium]",
                    peer=peer.name,
                )
            runs.append((now, kind, fingerprint))
        _write_runs(ledger, runs)


@contextlib.contextmanager
def _locked(key: Path) -> Iterator[None]:
    try:
        descriptor = os.open(key, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise InputError(f"the key {key} cannot be read: {error.strerror}; name another file") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _read_runs(ledger: Path) -> list[tuple[int, str, str]]:
    try:
        lines = read_regular_file(ledger, most=_LARGEST_FILE, what="a ledger of runs").decode().splitlines()
        return [(int(second), kind, fingerprint) for second, kind, fingerprint in (line.split(" ") for line in lines)]
    except UnreadableFile as error:
        if error.fault == "missing":
            return []
        raise InputError(
            f"the ledger of runs {ledger} {error.reason}; move it away, and know that it counts anew"
        ) from None
    except ValueError:
        raise InputError(
            f"the ledger of runs {ledger} is damaged; move it away, and know that it counts anew"
        ) from None


def _write_runs(ledger: Path, runs: Sequence[tuple[int, str, str]]) -> None:
    stage = ledger.with_name(f".{ledger.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(stage, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
            file.writelines(f"{second} {kind} {fingerprint}\n" for second, kind, fingerprint in runs)
            file.flush()
            os.fsync(file.fileno())
        stage.replace(ledger)
    except OSError as error:
        raise InputError(
            f"runs cannot be counted in {ledger}: {error.strerror}; put the key into a folder that you may write"
        ) from None
    finally:
        with contextlib.suppress(OSError):
            stage.unlink()
