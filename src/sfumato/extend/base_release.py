"""The release that further rows are added to: its recoding, its policy, and all tables that are out under its labels.

A release may extend another, which may extend another. The first of such a chain has the recoding; all of them have
rows of its classes, and all of them are counted.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sfumato.core.regular_file import LARGEST_MANIFEST, read_regular_file
from sfumato.errors import DataError, InputError, UnreadableFile, quote
from sfumato.extend.repeated_people import OriginalTable, find_original
from sfumato.masking import MaskingState
from sfumato.policy import Policy, load
from sfumato.policy.requirements import find_apply_obstacle
from sfumato.publish.extension import ExtendedRelease
from sfumato.reading.release_reader import AUDIT, MANIFEST, read_manifest
from sfumato.recode.saved_recoding import RECODING_FILE, SavedRecoding
from sfumato.release import Release

_LARGEST_RECODING = 1 << 30
_SAME_TABLES = ("columns", "publish")
"""The tables of a policy that decide what labels stand for and how they are written."""
_FREE_KEYS = {"publish": {"sign"}}
"""Keys of these that do not."""


@dataclass(frozen=True, eq=False, repr=False)
class BaseRelease:
    """A release that can be extended.

    `releases` are it and those that it extends, in the order in which they came out. `inputs` are the hashes of the
    files that these were made of, and `originals` the files, where they still are. `totals` are the rows that came in,
    by column and value, for requirements that compare with the whole table. `masking` is how the rows of the first of
    them were masked.
    """

    name: str
    policy: Policy
    recoding: SavedRecoding
    releases: tuple[ExtendedRelease, ...]
    types: Mapping[str, str]
    inputs: frozenset[str] = frozenset()
    originals: tuple[OriginalTable, ...] = ()
    totals: Mapping[str, Mapping[str | None, int]] = field(default_factory=dict)
    masking: MaskingState = field(default_factory=MaskingState)

    def with_releases(self, releases: Sequence[ExtendedRelease]) -> "BaseRelease":
        """Add others that are out under the same labels, as a ledger knows them."""
        known, copies = {release.sha256 for release in self.releases}, {release.sha256: release for release in releases}
        same = [
            copies.get(release.sha256, release) for release in self.releases
        ]  # a ledger's copies stay where they are
        added = [release for release in releases if release.sha256 not in known]
        totals = {name: Counter(counts) for name, counts in self.totals.items()}
        for release in added:
            for name, counts in _read_totals(_read_audit(release.public)).items():
                totals.setdefault(name, Counter()).update(counts)
        return replace(self, releases=(*same, *added), totals=totals)


def open_base(
    release: "str | Path | Release", policy: "str | Path | Mapping[str, Any] | Policy | None" = None
) -> BaseRelease:
    """Open a release folder, or take a release in memory, with its recoding.

    `policy` stands in place of the one in its audit, where files have moved or [apply] is to say something else; it has
    to be the same as far as it decides what is published.
    """
    if isinstance(release, Release):
        base = _base_in_memory(release) if release.folder is None else _base_from_folder(release.folder, policy)
    else:
        base = _base_from_folder(Path(release), policy)
    obstacle = find_apply_obstacle(base.policy.columns, base.policy.publish, base.policy.recoder)
    if obstacle:
        raise InputError(f"{base.name} cannot be extended: {obstacle}")
    base.recoding.check_hierarchies(base.policy)
    return base


def _base_in_memory(release: Release) -> BaseRelease:
    """Take a release that has not been written."""
    publication = release.publication
    obstacle = find_apply_obstacle(release.policy.columns, release.policy.publish, release.policy.recoder)
    if obstacle:
        raise InputError(f"the release cannot be extended: {obstacle}")
    table = release.tables["table"]
    _ = release.verdict  # nobody adds to what the verifier has not passed
    if publication.extension is not None:
        extended, recoding = publication.extension.releases, publication.extension.recoding
    else:
        extended, recoding = (), SavedRecoding.from_recoding(release.encoded, release.recoding, release.policy)
    domains = publication.extension.domains if publication.extension else release.encoded.domains
    return BaseRelease(
        "the release",
        release.policy,
        recoding,
        (*extended, ExtendedRelease(table=table.arrow)),
        {name: str(getattr(kind, "value_type", kind)) for name, kind in table.types.items()},
        frozenset([release.input_digest] if release.input_digest else []),
        totals={name: dict(zip(one.values, one.totals.tolist(), strict=True)) for name, one in domains.items()},
        masking=MaskingState() if publication.masked is None else publication.masked.state,
    )


def _base_from_folder(folder: Path, policy: "str | Path | Mapping[str, Any] | Policy | None") -> BaseRelease:
    """Read a release from its folder, with the private part of it."""
    stated = read_manifest(folder)  # checks the form, and that its tables are there
    public = stated.folder
    content = _read_account(public / MANIFEST, "a manifest")
    manifest = _parse(content, MANIFEST)
    private = public.parent / "private"
    if not (private / AUDIT).exists():
        raise InputError(
            f"{folder} has no private part, and the recoding stands there; name the whole folder that was written"
        )
    audit = _read_audit(public)
    rules = _read_policy(folder, audit, policy)
    if rules.publish.split:
        raise InputError(
            f"{folder} cannot be extended: {find_apply_obstacle(rules.columns, rules.publish, rules.recoder)}"
        )
    extended, audits = [], [audit]
    for place in _find_chain(audit):
        extended.append(read_extended(place))
        audits.append(_read_audit(place))
    inputs = [_part(one, "input").get("sha256") for one in audits]
    named = [release.get("manifest_sha256") for release in _part(manifest, "extends").get("releases", [])]
    if [release.sha256 for release in extended] != named:
        raise InputError(f"{folder} extends other releases, of which not all are where they were; put them back")
    return BaseRelease(
        str(folder),
        rules,
        _read_recoding(private, audit),
        (*extended, ExtendedRelease(manifest, hashlib.sha256(content).hexdigest(), public)),
        {entry["name"]: str(entry.get("type", "")) for entry in stated.columns},
        frozenset(digest for digest in inputs if isinstance(digest, str)),
        tuple(one for one in map(find_original, audits) if one is not None),
        _read_totals(_part(audit, "extends") or audit),
        _read_masking(audit, rules),
    )


def _read_masking(audit: Mapping[str, Any], policy: Policy) -> MaskingState:
    """Read how columns were masked; further rows are masked alike, or not published."""
    state = MaskingState.from_json(audit["masking"]) if "masking" in audit else MaskingState()
    noisy = {column.name for column in policy.masked if column.masks.noise is not None}
    drawn = {column.name for column in policy.masked if column.masks.pram is not None}
    known = set() if state.noise is None else {*state.noise.columns}
    if noisy != known or drawn != {*state.drawn}:
        raise DataError(f"{AUDIT} does not say how columns were masked; it was changed after it was written")
    return state


def _read_audit(public: Path | None) -> Mapping[str, Any]:
    """Read the audit beside a public folder; it is empty where there is none."""
    path = None if public is None else public.parent / "private" / AUDIT
    return {} if path is None or not path.exists() else _parse(_read_account(path, "an audit"), AUDIT)


def _read_totals(account: Mapping[str, Any]) -> dict[str, Mapping[str | None, int]]:
    """Read how many rows came in with each value, of columns that a requirement compares with the whole table."""
    try:
        return {
            name: dict(zip(need["values"], map(int, need["totals"]), strict=True))
            for name, need in _part(account, "needs").items()
        }
    except (KeyError, TypeError, ValueError):
        raise DataError(f"{AUDIT} does not describe the sensitive columns properly; it was changed") from None


def _find_chain(audit: Mapping[str, Any]) -> list[Path]:
    """Find the public folders of the releases that a release extends, in their order."""
    folders = _part(audit, "extends").get("folders", [])
    return [Path(folder) for folder in folders if (Path(folder) / MANIFEST).is_file()]


def read_extended(public: Path) -> ExtendedRelease:
    """Read a release that is out under the same labels, from its public folder."""
    content = _read_account(public / MANIFEST, "a manifest")
    return ExtendedRelease(_parse(content, MANIFEST), hashlib.sha256(content).hexdigest(), public)


def _read_recoding(private: Path, audit: Mapping[str, Any]) -> SavedRecoding:
    """Read the saved recoding; the audit has the hash that it must have."""
    stated = _part(audit, "recoding")
    if "sha256" not in stated:
        raise InputError(
            "the release was made by a version that saved no recoding; make it again from its table and policy"
        )
    try:
        text = read_regular_file(private / RECODING_FILE, most=_LARGEST_RECODING, what="a recoding")
    except UnreadableFile as error:
        raise InputError(f"{RECODING_FILE} of the release {error.reason}; restore it from a copy") from None
    if hashlib.sha256(text).hexdigest() != stated["sha256"]:
        raise DataError(f"{RECODING_FILE} is not the file that was written: its SHA-256 differs from the audit's")
    return SavedRecoding.from_text(text)


def _read_policy(
    folder: Path, audit: Mapping[str, Any], given: "str | Path | Mapping[str, Any] | Policy | None"
) -> Policy:
    """Read the policy in the audit; one that is given says where files are, how the table is read, and [apply].

    It is lenient, since nothing is searched: requirements on a join are checked of what comes out.
    """
    document, place = audit.get("policy"), audit.get("folder")
    if not isinstance(document, dict) or not isinstance(place, str):
        raise DataError(f"{AUDIT} of {folder} has no policy; it was changed after it was written")
    if given is None:
        try:
            return Policy.read(document, folder=Path(place), lenient=True)
        except InputError as error:
            raise InputError(
                f"the policy of {folder} cannot be read any more: {error}; put its files back, or name the policy "
                "where it is now with --policy"
            ) from None
    rules = load(given)
    for table in _SAME_TABLES:
        if _decisive(rules.document, table) != _decisive(document, table):
            raise InputError(
                f"[{table}] of the policy is not that of {folder}; name the policy that it was made with, or make a "
                "release of all rows with sfumato anonymize"
            )
    asked, promised = rules.document.get("privacy"), document.get("privacy")
    # a ledger may have added what earlier releases ask for
    if not isinstance(asked, list) or not isinstance(promised, list) or promised[: len(asked)] != asked:
        raise InputError(
            f"[[privacy]] of the policy is not what {folder} promises; further rows keep the promise of the rows before"
        )
    tables = {key: rules.document[key] for key in ("data", "apply") if key in rules.document}
    kept = {key: value for key, value in document.items() if key not in {"data", "apply"}}
    policy = Policy.read({**kept, **tables}, folder=rules.folder, lenient=True)
    return replace(policy, source=rules.source)


def _decisive(document: Mapping[str, Any], table: str) -> dict[str, Any]:
    content = document.get(table, {})
    free = _FREE_KEYS.get(table, set())
    return {key: value for key, value in content.items() if key not in free} if isinstance(content, Mapping) else {}


def _part(account: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Give a table of an account, empty where it has none of that name."""
    part = account.get(key)
    return part if isinstance(part, dict) else {}


def _read_account(path: Path, what: str) -> bytes:
    try:
        return read_regular_file(path, most=LARGEST_MANIFEST, what=what)
    except UnreadableFile as error:
        raise DataError(f"{path.name} {error.reason}; it was changed after it was written") from None


def _parse(content: bytes, name: str) -> dict[str, Any]:
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise DataError(f"{quote(name)} is not a JSON object; it was changed after it was written")
    return parsed
