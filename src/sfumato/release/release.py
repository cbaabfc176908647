"""Release: a verified publication, in memory or in a folder; and `anonymize`, the way through the house."""

import json
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from sfumato.encode import Encoded, encode
from sfumato.errors import NotVerified, PolicyError
from sfumato.policy import Policy, load
from sfumato.recode import Recoding, recode
from sfumato.release import manifest as accounts
from sfumato.release.folder import staged
from sfumato.release.published import Drawn, Published, publish_rows
from sfumato.release.shuffle import Randomness
from sfumato.risk import Risk, risk_of
from sfumato.table import Table, from_frame, read
from sfumato.table.read import digest
from sfumato.utility import Utility, measure
from sfumato.verifier import Verdict, verify, verify_accounts, verify_table

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Release:
    """What is published of a table, and the account of it.

    `table` is of the kind that came in. Nobody gets to see it before the verifier has passed it.
    """

    policy: Policy
    source: Table
    encoded: Encoded
    recoding: Recoding
    published: Published
    input_digest: str | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    @cached_property
    def table(self) -> Any:
        """The published table, as the kind that came in."""
        self.verdict  # noqa: B018 - the verifier speaks first, or raises
        return self.published.native()

    @cached_property
    def verdict(self) -> Verdict:
        """What the verifier found in the published table."""
        promise = accounts.promise(self.encoded, self.policy)
        return _passed(verify_table(self.published.arrow, promise))

    @property
    def privacy(self) -> list[dict[str, Any]]:
        """Each requirement with what holds, as the verifier found it."""
        return [finding.as_json() for finding in self.verdict.privacy]

    @cached_property
    def utility(self) -> Utility:
        """What it cost."""
        return measure(self.encoded, self.recoding)

    @cached_property
    def risk(self) -> Risk:
        """The re-identification risk that is left."""
        return risk_of(self.recoding.classes)

    @property
    def rows(self) -> int:
        """Published rows."""
        return self.published.rows

    @property
    def suppressed(self) -> int:
        """Rows that are not published."""
        return self.recoding.suppressed

    @property
    def levels(self) -> Mapping[str, int] | None:
        """The level of each quasi-identifier, where the algorithm is a full-domain one."""
        return self.recoding.levels

    def save(self, folder: str | Path, *, force: bool = False) -> Path:
        """Write the release folder: whole and verified, or not at all."""
        target = Path(folder)
        with staged(target, force=force) as stage:
            self._write(stage)
        return target

    def _write(self, stage: Path) -> None:
        """Table and accounts, the verdict on them, and the accounts again with the verdict's figures."""
        public, private = stage / "public", stage / "private"
        public.mkdir()
        private.mkdir(mode=0o700)
        with _timed(self.seconds, "write"):
            path = self._write_table(public)
            account = accounts.draft(self.published, self.recoding, self.policy, {path.name: path})
            record = accounts.audit(
                self.encoded, self.recoding, self.policy, utility=self.utility, input_digest=self.input_digest
            )
            _write_json(public / "manifest.json", account)
            _write_json(private / "audit.json", record)
        with _timed(self.seconds, "verify"):
            self.__dict__["verdict"] = _passed(verify(stage))
        with _timed(self.seconds, "write"):
            self._conclude(public, private, account, record)
        _passed(verify_accounts(stage, self.verdict))

    def _conclude(self, public: Path, private: Path, account: dict[str, Any], record: dict[str, Any]) -> None:
        """Add what the verifier found to the accounts, and write the report."""
        from sfumato.release.report import report  # noqa: PLC0415 - not needed before a release is written

        account["privacy"] = accounts.public_findings(self.verdict, self.recoding)
        record |= {"privacy": self.privacy, "risk": self.risk.as_json(), "seconds": dict(self.seconds)}
        _write_json(public / "manifest.json", account)
        _write_json(private / "audit.json", record | {"manifest_sha256": digest(public / "manifest.json")})
        (private / "report.html").write_text(report(self), encoding="utf-8")
        for path in private.iterdir():
            path.chmod(0o600)  # so that a copy of a file alone stays private too

    def _write_table(self, public: Path) -> Path:
        if self.policy.publish.format == "parquet":
            from sfumato.release.parquet_file import write_parquet  # noqa: PLC0415 - only for Parquet

            write_parquet(self.published, public / "table.parquet")
            return public / "table.parquet"
        from sfumato.release.csv_file import write_csv  # noqa: PLC0415 - only for CSV

        write_csv(self.published, public / "table.csv", null=accounts.written_null(self.policy))
        return public / "table.csv"


def anonymize(
    data: Any, policy: "str | Path | Mapping[str, Any] | Policy", *, progress: Progress | None = None
) -> Release:
    """Make a release of a table under a policy.

    `data` is a pandas or polars frame, an Arrow table, a DuckDB relation, a path, or ``None`` for the policy's
    own source. Raises `Infeasible` where no release can meet the policy, an `InputError` where something is wrong
    with the table, the policy or a hierarchy; returns nothing that the verifier has not passed.
    """
    release = prepare(data, policy, progress=progress)
    release.verdict  # noqa: B018 - raises where the verifier does not pass it
    return release


def prepare(
    data: Any, policy: "str | Path | Mapping[str, Any] | Policy", *, progress: Progress | None = None
) -> Release:
    """A release that has yet to be verified: `Release.save` does it on the files, `Release.table` in memory."""
    rules = load(policy)
    seconds: dict[str, float] = {}
    with _timed(seconds, "read"):
        table = _table(data, rules)
        encoded = encode(table, rules)
    # rows are shuffled and the input is hashed while the search runs: they need no lock of Python's
    with _timed(seconds, "search"), ThreadPoolExecutor(1) as pool:
        drawn = pool.submit(Drawn.for_table, encoded, Randomness(rules.search.seed))
        hashed = pool.submit(digest, table.path) if table.path else None
        recoding = recode(encoded, rules, progress)
    with _timed(seconds, "recode"):
        published = publish_rows(table, encoded, recoding, rules, drawn.result())
    input_digest = hashed.result() if hashed else None
    return Release(rules, table, encoded, recoding, published, input_digest, seconds)


def _table(data: Any, policy: Policy) -> Table:
    if data is not None and not isinstance(data, str | Path):
        return from_frame(data, policy)
    path = Path(data) if data is not None else policy.source.path
    if path is None:
        raise PolicyError("is missing; say where the table is, here or with --data", key="data.source")
    return read(path, policy)


def _passed(verdict: Verdict) -> Verdict:
    """A verdict that is good, or a refusal: this is the gate."""
    if not verdict.satisfied:
        raise NotVerified(
            f"the verifier does not pass the release, so nothing was written: {'; '.join(verdict.complaints)}"
        )
    return verdict


class _timed:  # noqa: N801 - reads like the verb it is
    """Add the seconds of a block to an entry."""

    def __init__(self, seconds: dict[str, float], name: str) -> None:
        self.seconds, self.name = seconds, name

    def __enter__(self) -> None:
        self.start = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.seconds[self.name] = self.seconds.get(self.name, 0.0) + time.perf_counter() - self.start


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
