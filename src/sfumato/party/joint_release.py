"""What parties publish together: each its part of the union, or any of them the whole table, made of sums alone.

A *part* is a party's own rows under the labels that were chosen for the union. The promise holds of the union of all
parts, and somebody who knows from which party a row comes looks for it in one part alone, where a class may be small.
The *whole* table needs nobody's rows: what is published is how many rows of each class have which sensitive values, and
just that was summed. So whoever has the sums can write every row of it, and no row tells whose it was. The last of
these sums is for those alone who write the table.

Adversary: semi-honest; that of `secure_sum` (Bonawitz et al. 2017): n - 1 colluders learn the counts of the last. Rows
are counted, and not people: somebody of whom two parties have a row is two rows.

Nothing appears before all parties have verified and the run has ended. A part is counted by the verifier's own code
from its written file; these counts are summed in secret, and the verifier holds the sums against its own definitions. A
whole table is verified as any release is.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato._version import __version__
from sfumato.core.arrays import IntArray, narrow_codes
from sfumato.core.arrow import arrow_texts
from sfumato.core.classes import EquivalenceClasses
from sfumato.core.keys import match_tuples, pack_tuples
from sfumato.core.randomness import Randomness
from sfumato.encode import CodedColumn, EncodedTable, QuasiIdentifier
from sfumato.errors import RunAborted
from sfumato.hierarchy.hierarchy import Label
from sfumato.party.party_session import PartySession
from sfumato.party.summed_nodes import NodeLook, SummedNodes
from sfumato.policy import Policy
from sfumato.publish.manifest import PROTECTS, draft_manifest
from sfumato.publish.numeric_columns import add_numeric_columns
from sfumato.publish.promise import ground_distances
from sfumato.publish.publication import Publication
from sfumato.publish.published_table import RandomDraws, publish_tables
from sfumato.publish.table_writer import write_table
from sfumato.reading.release_reader import MANIFEST
from sfumato.recode.lattice import Node
from sfumato.recode.recoding import Recoding, labels_at, shift_levels
from sfumato.release.folder import Stage, staged
from sfumato.release.verification import needs_of, promise_of, require_passed
from sfumato.release.write_release import write_json, write_summary
from sfumato.table import Table
from sfumato.table.files import file_digest
from sfumato.verifier import Verdict, verify
from sfumato.verifier.joint_parts import PartCounts, count_part, judge_sums
from sfumato.verifier.release_files import SUMMARY, table_paths

OF_UNION = (
    "This table is one part of a release that the parties under 'part_of' published together, each its own rows under "
    "the same labels. In all parts together each row shares its quasi-identifier values with the other rows of its "
    "class, and each class meets every requirement under 'promise'; in this part by itself classes may be smaller. "
    "Rows are counted, and not people: somebody of whom several parties have a row is several rows of a class. The "
    "adversary is assumed to know that a person is in one of the parts and that person's quasi-identifiers, and not "
    "with which party: whoever knows that looks in that party's part alone. Not covered: columns of role plain, "
    "knowledge of sensitive values from elsewhere, other releases about the same people."
)
"""What a part protects."""

WHOLE = (
    f"{PROTECTS} This table was made by several parties together: it has the rows of all of them, and does not tell "
    "which row comes from which. Rows are counted, and not people: somebody of whom several parties have a row is "
    "several rows of a class."
)
"""What a whole table protects."""


@dataclass(frozen=True, eq=False)
class JointRecoding:
    """The recoding that the parties chose for the union of their rows, and all that they know of it.

    `node` is that of `permitted`, this party's rows generalized to the lowest levels that may be published; `encoded`
    has them as they came. `labels` are the label codes of the published classes, one array per quasi-identifier, and
    `classes` their counts. `failing` are the labels of the classes that are suppressed.
    """

    policy: Policy
    table: Table
    encoded: EncodedTable
    algorithm: str
    node: Node
    labels: Sequence[IntArray]
    classes: EquivalenceClasses
    failing: Sequence[IntArray]
    rows: int
    utility: Mapping[str, float]
    looks: Sequence[NodeLook]
    nodes: int

    @property
    def permitted(self) -> EncodedTable:
        """This party's rows, generalized to the lowest levels that may be published."""
        return self.encoded.permitted

    @property
    def suppressed(self) -> int:
        """Rows of all parties that are not published."""
        return self.rows - self.classes.rows

    @property
    def levels(self) -> dict[str, int]:
        """The level of each quasi-identifier, counted from the values."""
        return dict(zip(self.encoded.names, self.levels_of(self.node), strict=True))

    def levels_of(self, node: Node) -> list[int]:
        """Count the levels of a node from the values, those included that may not be published."""
        return [level + attribute.least for attribute, level in zip(self.encoded.quasi, node, strict=True)]

    def label_texts(self) -> list[tuple[Label, ...]]:
        """The labels of each published class, as they are written."""
        columns = [
            [attribute.hierarchy.labels[level][code] for code in codes.tolist()]
            for attribute, level, codes in zip(self.permitted.quasi, self.node, self.labels, strict=True)
        ]
        return list(zip(*columns, strict=True))


# ---------------------------------------------------------------------------------------------------------------------
# What is published


def publish_part(joint: JointRecoding) -> Publication:
    """Publish this party's rows under the labels of the union, but for those of classes that fail in the union."""
    permitted = joint.permitted
    labels = {
        attribute.name: labels_at(attribute, level)
        for attribute, level in zip(permitted.quasi, joint.node, strict=True)
    }
    published = None
    if len(joint.failing[0]):
        rows = [each.codes for each in labels.values()]
        published = ~match_tuples(rows, joint.failing, [len(each.texts) for each in labels.values()])
    levels = dict(zip(permitted.names, joint.node, strict=True))
    recoding = Recoding(joint.algorithm, labels, published, joint.classes, levels)
    class_of = recoding.class_of
    own = EquivalenceClasses(np.bincount(class_of[class_of >= 0]))
    recoding = shift_levels(replace(recoding, classes=own), joint.encoded)
    return _publish(joint, joint.table, joint.encoded, recoding)


def order_sensitive(policy: Policy) -> list[str]:
    """Name the sensitive columns as a whole table adds them up: those that requirements look at come first.

    The values of the last one are summed for those who write the table, so it is best one that nobody knows yet.
    """
    known = {name for model in policy.privacy for name in model.looks_at}
    return sorted((column.name for column in policy.sensitive), key=lambda name: name not in known)


def publish_whole(joint: JointRecoding, sums: SummedNodes, to: Sequence[str]) -> Publication | None:
    """Publish the rows of all parties, made of how many rows of each class hold which sensitive values.

    The parties of `to` get the table, and the others nothing.

    A row is a class and a value of each sensitive column, in an order that was drawn; where its quasi-identifiers came
    from nobody knows, so any value under a label stands for it here, and none of them is published.
    """
    permitted, policy = joint.permitted, joint.policy
    rows = [
        narrow_codes(attribute.hierarchy.matrix[:, level], len(attribute.hierarchy.labels[level])).take(
            attribute.column.codes
        )
        for attribute, level in zip(permitted.quasi, joint.node, strict=True)
    ]
    widths = [
        len(attribute.hierarchy.labels[level]) for attribute, level in zip(permitted.quasi, joint.node, strict=True)
    ]
    both = [np.concatenate([label, row]) for label, row in zip(joint.labels, rows, strict=True)]
    keys = pack_tuples(both, widths).keys
    known, own = keys[: len(joint.classes)], keys[len(joint.classes) :]
    class_of = np.searchsorted(known, own)
    class_of = np.where(known.take(class_of, mode="clip") == own, class_of, -1)
    names = order_sensitive(policy)
    columns = [(joint.encoded.sensitive[name].codes, joint.encoded.sensitive[name].width) for name in names]
    counted = sums.count_joint(class_of, len(joint.classes), columns, to)
    if counted is None or sums.session.me not in to:
        return None
    found, counts = counted
    class_of, *values = (np.repeat(column, counts) for column in found)
    quasi = []
    for attribute, level, label in zip(permitted.quasi, joint.node, joint.labels, strict=True):
        first = np.zeros(len(attribute.hierarchy.labels[level]), dtype=np.int64)  # a value under each label
        first[attribute.hierarchy.matrix[::-1, level]] = np.arange(len(attribute.hierarchy.matrix))[::-1]
        texts = attribute.column.texts
        column = CodedColumn(attribute.name, first[label][class_of], texts, arrow_texts(texts))
        quasi.append(QuasiIdentifier(column, attribute.hierarchy, attribute.weight, attribute.spec))
    sensitive = {}
    for name in (one.name for one in policy.sensitive):
        texts = joint.encoded.sensitive[name].texts
        sensitive[name] = CodedColumn(name, values[names.index(name)], texts, arrow_texts(texts))
    encoded = replace(
        joint.encoded, rows=len(class_of), quasi=tuple(quasi), sensitive=sensitive, plain={}, tuples=permitted.tuples
    )
    labels = {attribute.name: labels_at(attribute, level) for attribute, level in zip(quasi, joint.node, strict=True)}
    levels = dict(zip(permitted.names, joint.node, strict=True))
    recoding = shift_levels(Recoding(joint.algorithm, labels, None, joint.classes, levels), joint.encoded)
    named = {name: arrow_texts([]) for name in joint.table.arrow.column_names}
    return _publish(joint, Table(pa.table(named)), encoded, recoding)


def _publish(joint: JointRecoding, source: Table, encoded: EncodedTable, recoding: Recoding) -> Publication:
    draws = RandomDraws.for_tables(encoded, Randomness(joint.policy.search.seed), 1)
    tables = publish_tables(source, encoded, recoding, joint.policy, draws)
    tables = {name: add_numeric_columns(one, joint.policy) for name, one in tables.items()}
    return Publication(joint.policy, source, encoded, recoding, tables)


# ---------------------------------------------------------------------------------------------------------------------
# Writing, and verifying together


def write_part(
    session: PartySession, joint: JointRecoding, sums: SummedNodes, target: Path, *, force: bool = False
) -> Verdict:
    """Write this party's part, and verify the union of all parts by sums of what is in the files.

    The folder appears at the end of the run, when all parties have verified.
    """
    publication = publish_part(joint)
    stage = session.until_end.enter_context(staged(target, force=force))
    account, record = _write_accounts(stage, joint, publication, OF_UNION)
    release = hashlib.sha256(b"sfumato-joint-release\0" + session.session_id).hexdigest()[:32]
    account["part_of"] = {"release": release, "parties": list(session.parties), "party": session.me}
    record |= {"all_rows": {"rows": joint.rows}, "all_suppressed": {"rows": joint.suppressed}}
    paths = table_paths(stage.path / "public", account, account["table"])
    promise = promise_of(publication)
    own = count_part(paths, account, promise)
    verdict = require_passed(judge_sums(promise, _sum_counts(joint, sums, own)))
    account["privacy"] = _public_findings(verdict, joint)
    _finish_accounts(stage, account, record, verdict)
    return verdict


def write_whole(
    session: PartySession, joint: JointRecoding, publication: Publication, target: Path, *, force: bool = False
) -> Verdict:
    """Write the whole table, and verify it as any release is; it appears at the end of the run."""
    stage = session.until_end.enter_context(staged(target, force=force))
    account, record = _write_accounts(stage, joint, publication, WHOLE)
    record |= {"input": {"rows": joint.rows}, "suppressed": {"rows": joint.suppressed}}
    _finish_accounts(stage, account, record, None)
    verdict = require_passed(verify(stage.path))
    account["privacy"] = _public_findings(verdict, joint)
    account["summary"] = write_summary(publication.tables, stage.path / "public" / SUMMARY, account)
    _finish_accounts(stage, account, record, verdict)
    return require_passed(verify(stage.path))


def _sum_counts(joint: JointRecoding, sums: SummedNodes, own: PartCounts) -> PartCounts:
    """Add up what the verifier counted in the parts, class by class; a class that nobody chose is refused.

    Counts are in the order of the published classes, and of the values of each sensitive column, with one cell more
    for what is in neither: it is summed as well, so that nobody sees in whose part it was.
    """
    classes = joint.label_texts()
    place = {labels: i for i, labels in enumerate(classes)}
    strange = len(classes)
    counts = np.zeros(strange + 1, dtype=np.int64)
    for labels, rows in own.classes.items():
        counts[place.get(labels, strange)] += rows
    total = sums.add_up(counts, "anonymize/verify/classes")
    if total[strange] or (total[:-1] != joint.classes.sizes).any():
        raise RunAborted("the written parts do not have the classes that were chosen; nothing was published")
    values: dict[str, dict[tuple[tuple[Label, ...], str | None], int]] = {}
    for name, pairs in own.values.items():
        domain = joint.encoded.domains[name].values
        code, width = {value: i for i, value in enumerate(domain)}, len(domain)
        counts = np.zeros(strange * width + 1, dtype=np.int64)
        for (labels, value), rows in pairs.items():
            known = labels in place and value in code
            counts[place[labels] * width + code[value] if known else -1] += rows
        summed = sums.add_up(counts, f"anonymize/verify/{name}")
        if summed[-1]:
            raise RunAborted("the written parts hold values that were not counted; nothing was published")
        values[name] = {
            (classes[cell // width], domain[cell % width]): int(summed[cell])
            for cell in np.flatnonzero(summed).tolist()
        }
    return PartCounts(dict(zip(classes, total[:-1].tolist(), strict=True)), values)


def _write_accounts(
    stage: Stage, joint: JointRecoding, publication: Publication, protects: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Write the table; draft the manifest and the private audit."""
    public, private = stage.path / "public", stage.path / "private"
    public.mkdir()
    private.mkdir(mode=0o700)
    policy = joint.policy
    files = {name: write_table(table, public / name, policy) for name, table in publication.tables.items()}
    account = draft_manifest(publication, files)
    account["protects"] = protects
    needs, costs = needs_of(joint.encoded.domains, policy), ground_distances(policy)
    record: dict[str, Any] = {
        "sfumato": __version__,
        "written": datetime.now(tz=UTC).isoformat(timespec="seconds"),
        "policy": policy.document,
        "folder": str(policy.folder.resolve()),
        "input": {"rows": joint.encoded.rows},
        "suppressed": {"rows": joint.encoded.rows - publication.rows},
        "seed": policy.search.seed,
        "algorithm": joint.algorithm,
        "levels": joint.levels,
        "utility": dict(joint.utility),
        "needs": {name: column.as_json() for name, column in needs.items()},
        "costs": {name: [[a, b, cost] for (a, b), cost in pairs.items()] for name, pairs in costs.items()},
        "nodes": joint.nodes,
        "looks": [
            {
                "levels": joint.levels_of(look.node),
                "summed": look.summed,
                "cells": look.cells,
                "ruled_out": look.ruled_out,
            }
            for look in joint.looks
        ],
    }
    return account, record


def _finish_accounts(stage: Stage, account: dict[str, Any], record: dict[str, Any], verdict: Verdict | None) -> None:
    """Write manifest and audit; the audit has the hash of the manifest, and both are flushed with the folder."""
    public, private = stage.path / "public", stage.path / "private"
    write_json(public / MANIFEST, account)
    found = {} if verdict is None else {"privacy": [finding.as_json() for finding in verdict.privacy]}
    write_json(private / "audit.json", record | found | {"manifest_sha256": file_digest(public / MANIFEST)})
    (private / "audit.json").chmod(0o600)


def _public_findings(verdict: Verdict, joint: JointRecoding) -> list[dict[str, Any]]:
    """What the verifier found, without figures that compare with rows that were suppressed."""
    return [
        {key: value for key, value in finding.as_json().items() if key != "achieved"}
        if joint.suppressed and finding.model == "t-closeness"
        else finding.as_json()
        for finding in verdict.privacy
    ]
