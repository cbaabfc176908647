"""Anonymize together: one full-domain recoding for the union of several parties' rows, which nobody shows.

The parties hold rows of the same schema and have one policy. All of them run the same search in lockstep: which node
of the lattice is looked at next follows from sums that all of them have, and a look is a secure sum of the counts of
its classes (`summed_nodes`). So the node that is chosen is the one that the search would choose for one table with all
rows, and a party with few rows is protected by the crowd of the others: its rows count in classes of the union.

`optimal` goes from general nodes to special ones (`optimal_from_above`), since counts of nodes that fail tell more;
`samarati` and `incognito` look at nodes in their own order.

Adversary: semi-honest. All parties learn the summed counts of every node that is looked at, failing ones included, and
no party's part of a sum; n - 1 colluders learn the counts of the last one at these nodes. With two parties each learns
the other's counts from the sums, so two are refused unless the task accepts that.

The protocol is secure sum (`secure_sum`; Bonawitz et al. 2017) of the frequency sets of LeFevre et al. 2005, as the
chapter (20.5) adds up supports for rules over horizontally partitioned data; values of columns without a declared
domain are found by the chapter's secure union.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._version import __version__
from sfumato.core.arrays import IntArray
from sfumato.core.arrow import arrow_texts
from sfumato.core.classes import EquivalenceClasses, Histogram
from sfumato.encode import EncodedTable, QuasiIdentifier
from sfumato.errors import InputError, PolicyError, RunAborted, quote
from sfumato.hierarchy import File
from sfumato.hierarchy.hierarchy import Label
from sfumato.party.joint_domains import LONGEST_ITEM, OwnColumns, check_hierarchies, public_values, read_items
from sfumato.party.joint_release import JointRecoding, order_sensitive, publish_whole, write_part, write_whole
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable, PartyTask
from sfumato.party.protocol_statement import SEMI_HONEST, ProtocolStatement
from sfumato.party.secure_sum import LARGEST_COUNT, LARGEST_SUM, check_counts, secure_count
from sfumato.party.summed_nodes import SummedEvaluator, SummedNodes, sum_metric
from sfumato.policy import Policy, Role, load
from sfumato.policy.options import FULL_DOMAIN
from sfumato.policy.section import Section, join_choices, require_table
from sfumato.publish.promise import ground_distances
from sfumato.recode.algorithms import check_whole, explain_infeasible
from sfumato.recode.evaluation import Evaluation
from sfumato.recode.full_domain import ALGORITHMS
from sfumato.recode.lattice import check_size
from sfumato.recode.metrics import METRICS, Metric
from sfumato.recode.optimal import optimal_from_above
from sfumato.recode.requirement import Requirement
from sfumato.release.folder import check_target
from sfumato.settled_policy import settle_columns
from sfumato.table import table_from

PARTS, WHOLE_TABLE = "parts", "whole"
_FEWEST_PARTIES = 3
_ENTROPY = "entropy"
_OTHER_POLICY = "has another policy, other hierarchies or another order of columns than this one; agree on them"
_OTHER_RECODING = "chose another recoding from the same sums; both sides need the same versions of sfumato and numpy"


@dataclass(frozen=True, eq=False, repr=False)
class PreparedRows:
    """A party's rows, checked and coded, and the folder that its release is written to."""

    columns: OwnColumns
    out: Path | None = None
    force: bool = False


@dataclass(frozen=True)
class AnonymizeTask(PartyTask):
    """Publish the union of the parties' rows under one policy: each party its part, or the whole table at once.

    `policy` is the one that all parties have, its ``[data]`` left aside. `publish` is ``parts`` or ``whole``. `values`
    are the values that columns can have, where no hierarchy says it; what is in neither is found by a secure union, of
    at most `most_items` values where that is given.
    """

    kind: ClassVar[str] = "anonymize"
    keys: ClassVar[tuple[str, ...]] = ("policy", "publish", "values", "most_items", "two_parties")
    file_keys: ClassVar[tuple[str, ...]] = ("policy",)
    writes_folder: ClassVar[bool] = True
    result_to: tuple[str, ...]
    policy: Policy
    publish: str = PARTS
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    most_items: int | None = None

    @classmethod
    def read(cls, section: Section, parties: tuple[str, ...], result_to: tuple[str, ...]) -> Self:
        """Read the settings of ``[task]``, and the policy that they name."""
        path = section.text("policy")
        if path is None:
            raise PolicyError("is missing; name the policy file of the release", key=section.path("policy"))
        publish = section.choice("publish", (PARTS, WHOLE_TABLE)) or PARTS
        accepted = section.choice("two_parties", ("accept",)) is not None
        if len(parties) < _FEWEST_PARTIES and not accepted:
            raise PolicyError(
                "of two parties each learns the other's counts, as the sums less its own; bring a third, or write "
                'two_parties = "accept"',
                key=section.path("kind"),
            )
        if publish == PARTS and set(result_to) != set(parties):
            raise PolicyError(
                'must name all parties where each publishes its part; publish = "whole" lets some write one table',
                key=section.path("result_to"),
            )
        policy = load(path)
        _check_policy(policy, whole=publish == WHOLE_TABLE)
        stated = require_table(section.table.get("values", {}), section.path("values"))
        lists = Section(stated, section.path("values"))
        values = {name: tuple(lists.texts(name) or ()) for name in stated}
        for name, listed in values.items():
            if name not in {column.name for column in (*policy.quasi, *policy.sensitive)} or not listed:
                raise PolicyError(
                    "must list the values of a quasi-identifier or a sensitive column of the policy",
                    key=lists.path(name),
                )
        return cls(result_to, _with_public_domains(policy), publish, values, section.whole_number("most_items"))

    def statement(self, parties: tuple[str, ...]) -> ProtocolStatement:
        """Say what is learned of the rows besides what is published."""
        looks = (
            "how many rows all parties have together; of every generalization that the search looks at, those that "
            "fail included, how many rows of all parties together each class has and, unless sizes rule it out, which "
            "sensitive values (the private audit lists them); how many rows lack each quasi-identifier"
        )
        learned = [looks]
        counted = self._counted()
        sought = [
            column.name
            for column in (*self.policy.quasi, *self.policy.sensitive)
            if (column.role is Role.QUASI or column.name in counted)
            and public_values(column, self.policy.source.null, self.values.get(column.name)) is None
        ]
        if sought:
            named = ", ".join(map(quote, sought))
            sizes = "" if self.most_items is not None else ", how many each party has, rounded up to a power of two,"
            learned.append(
                f"which values of {named} some party has, and not who{sizes} and how many of them some parties have in "
                "common, as a secure union tells"
            )
        if self.policy.search.metric == _ENTROPY:
            learned.append("how many rows of all parties together have each value of each quasi-identifier")
        if self.publish == PARTS:
            learned.append(
                "and whoever gets a part sees that party's own counts of each published class: the promise is of all "
                "parts together, and not of a part to somebody who knows from which party a row comes "
                '(publish = "whole" does not tell)'
            )
        elif set(self.result_to) != set(parties):
            learned.append(self._learned_by_others())
        colluders = "they learn the counts of the one left at every generalization that was looked at."
        if len(parties) < _FEWEST_PARTIES:
            learned.append("of two parties, each learns the other's counts, as the sums less its own")
        paper = (
            "secure sums (Bonawitz et al. 2017) of frequency sets (LeFevre et al. 2005); values by secure union "
            "(chapter, 20.5)."
        )
        return ProtocolStatement(SEMI_HONEST, colluders, f"{'; '.join(learned)}.", paper)

    def _learned_by_others(self) -> str:
        """Say what parties that do not write the whole table learn of it."""
        names, looked_at = (
            order_sensitive(self.policy),
            {name for model in self.policy.privacy for name in model.looks_at},
        )
        if not names or (len(names) == 1 and names[0] in looked_at):
            return (
                "parties that are not in result_to learn all rows of the published table as well, and do not write it"
            )
        return (
            f"parties that are not in result_to learn all rows of the published table as well, but for the column "
            f"{quote(names[-1])}"
        )

    def _counted(self) -> set[str]:
        """The sensitive columns whose values are counted together."""
        if self.publish == WHOLE_TABLE:
            return {column.name for column in self.policy.sensitive}
        return {name for model in self.policy.privacy for name in model.looks_at}

    def prepare(self, me: str, table: PartyTable) -> PreparedRows:
        """Check this party's rows against the policy; a value that is in no domain is refused here."""
        del me
        arrow = _without_null_texts(table.arrow, self.policy.source.null)
        policy = settle_columns(self.policy, arrow)
        rows = table_from(arrow, policy)
        if not rows.rows:
            raise InputError(f"{table.name} has no rows; a party without rows need not take part")
        published = [name for name in rows.arrow.column_names if policy.columns[name].role is not Role.IDENTIFIER]
        rows = replace(rows, arrow=rows.arrow.select(published))
        return PreparedRows(OwnColumns.from_table(rows, policy, self.values, self._counted()))

    def direct(self, prepared: PreparedRows, out: Path | None, *, force: bool = False) -> PreparedRows:
        """Say which folder this party's release is written to; one that cannot be is refused before anything moves."""
        if out is not None:
            check_target(out, force=force)
        return replace(prepared, out=out, force=force)

    def run(self, session: PartySession, prepared: PreparedRows) -> Any:
        """Choose the recoding together, write what is published, and verify it; it appears at the end of the run."""
        writes = session.me in self.result_to
        if writes and prepared.out is None:
            raise InputError("--out is missing; name the folder of the release that this party publishes")
        joint, sums = self._recode(session, prepared.columns)
        verdict = None
        if self.publish == PARTS:
            assert prepared.out is not None  # noqa: S101 - all parties write; this tells the type checker
            verdict = write_part(session, joint, sums, prepared.out, force=prepared.force)
        else:
            publication = publish_whole(joint, sums, self.result_to)
            if publication is not None and prepared.out is not None:
                verdict = write_whole(session, joint, publication, prepared.out, force=prepared.force)
        if verdict is None:
            return None
        return {
            "levels": joint.levels,
            "rows": joint.rows,
            "suppressed": joint.suppressed,
            "classes": len(joint.classes),
            "privacy": [finding.as_json() for finding in verdict.privacy],
            "utility": dict(joint.utility),
            "nodes": joint.nodes,
        }

    def _recode(self, session: PartySession, columns: OwnColumns) -> tuple[JointRecoding, SummedNodes]:
        """Agree on domains, count the whole, and search the lattice with all parties."""
        policy = columns.policy
        self._agree(session, "policy", self._digest(columns), _OTHER_POLICY)
        counts = _add_up(session, np.array([columns.table.rows, *columns.missing]), "rows")
        check_counts(counts, 0, min(int(counts[0]), LARGEST_COUNT))
        rows, domains = int(counts[0]), self._agree_on_domains(session, columns, counts[1:])
        totals: dict[str, IntArray] = {}
        for name in sorted({name for model in policy.privacy for name in model.looks_at}):
            code, own = {text: i for i, text in enumerate(domains[name])}, columns.coded[name]
            mine = np.zeros(len(code), dtype=np.int64)
            mine[[code[text] for text in own.texts]] = np.bincount(own.codes, minlength=own.width)
            total = _add_up(session, mine, f"totals/{name}")
            check_counts(total, 0, rows)
            held = np.flatnonzero(total)
            domains[name] = tuple(domains[name][place] for place in held.tolist())
            totals[name] = total[held]
        encoded = columns.encode(domains, totals)
        permitted = encoded.permitted
        check_size([attribute.hierarchy.height for attribute in permitted.quasi])
        whole = _one_class(permitted, rows)
        check_whole(whole, policy)
        requirement = Requirement.from_share(policy.privacy, rows, policy.search.suppression)
        if requirement.rules_out(float((whole.sizes * requirement.doomed(whole)).sum())):
            raise explain_infeasible(whole, policy)
        sums = SummedNodes(session, permitted, rows)
        sums.know_top(whole)
        evaluator = SummedEvaluator(sums, requirement, _union_metric(session, policy.search.metric, permitted, rows))
        best = self._search(evaluator, session)
        if best is None:
            raise explain_infeasible(whole, policy)
        grouped, passing, doomed = evaluator.judge(best.node)
        self._agree(session, "node", repr((best.node, passing.tolist())).encode(), _OTHER_RECODING)
        utility = {policy.search.metric: best.loss}
        if "ncp" not in utility:
            ncp = _union_metric(session, "ncp", permitted, rows)
            utility["ncp"] = ncp.price(best.node, grouped, passing, doomed).loss
        joint = JointRecoding(
            policy,
            columns.table,
            encoded,
            policy.recoder,
            best.node,
            grouped.labels(passing),
            grouped.classes.select(passing),
            grouped.labels(~passing),
            rows,
            utility,
            sums.looks,
            len({look.node for look in sums.looks}),
        )
        return joint, sums

    @staticmethod
    def _agree(session: PartySession, what: str, content: bytes, otherwise: str) -> None:
        """End the run where another party has something else here."""
        peer = session.find_disagreement(f"anonymize/{what}", content)
        if peer is not None:
            raise RunAborted(f"party {quote(peer)} {otherwise}", peer=peer)

    def _search(self, evaluator: SummedEvaluator, session: PartySession) -> Evaluation | None:
        name = self.policy.recoder
        search = optimal_from_above if name == "optimal" else ALGORITHMS[name]
        return search(evaluator, session.progress)

    def _agree_on_domains(
        self, session: PartySession, columns: OwnColumns, missing: IntArray
    ) -> dict[str, tuple[Label, ...]]:
        """Give the values of every column that is counted, as all parties have them.

        NULL is a value of a quasi-identifier where somebody lacks it. Of sensitive columns it is always one here; what
        nobody has is left out later, by the totals.
        """
        domains: dict[str, tuple[Label, ...]] = {}
        lacking = dict(zip([column.name for column in columns.policy.quasi], missing.tolist(), strict=True))
        for name, values in columns.known.items():
            domains[name] = (*values, *([None] if lacking.get(name, 1) else []))
        if columns.sought:
            from sfumato.party.secure_union import secure_union  # noqa: PLC0415 - not where all domains are declared

            for name in columns.sought:
                found = secure_union(
                    session,
                    columns.items(name),
                    step=f"anonymize/values/{name}",
                    longest=LONGEST_ITEM,
                    most_items=self.most_items,
                )
                assert found is not None  # noqa: S101 - everybody gets it; this tells the type checker
                domains[name] = read_items(found, columns.policy.source.null)
        return domains

    def _digest(self, columns: OwnColumns) -> bytes:
        """Hash all that the parties must agree on: policy, hierarchies, costs, and the order of the columns."""
        policy = columns.policy
        document = {key: value for key, value in policy.document.items() if key != "data"}
        specs = {
            column.name: column.hierarchy.digest if isinstance(column.hierarchy, File) else repr(column.hierarchy)
            for column in policy.columns.values()
        }
        costs = {
            name: sorted([*pair, cost] for pair, cost in pairs.items())
            for name, pairs in ground_distances(policy).items()
        }
        content = [__version__, document, specs, costs, list(policy.source.null), columns.table.arrow.column_names]
        settings = [self.publish, self.most_items, {name: list(values) for name, values in self.values.items()}]
        return hashlib.sha256(json.dumps([content, settings], sort_keys=True, default=str).encode()).digest()


def _check_policy(policy: Policy, *, whole: bool) -> None:
    """Refuse what parties cannot do together in this version; keys are those of the policy."""
    if policy.recoder not in FULL_DOMAIN:
        raise PolicyError(
            f"must be {join_choices(FULL_DOMAIN)} where parties publish together, not {policy.recoder}: local "
            "algorithms look at rows",
            key="algorithm.name",
        )
    if policy.search.time_limit is not None:
        raise PolicyError(
            "is for one holder's search: parties who publish together take the same steps, however long each of them "
            "takes; leave it out",
            key="algorithm.time_limit",
        )
    if policy.publish.form != "generalized":
        raise PolicyError("must be generalized where parties publish together", key="publish.form")
    if policy.individual is not None:
        raise PolicyError(
            f"column {quote(policy.individual.name)} names persons, and parties who publish together count rows; give "
            "it the role identifier, if each person has one row",
            key="columns",
        )
    if policy.previous or policy.linkage:
        raise PolicyError("are not joined where parties publish together; leave them out", key="previous")
    if policy.masked or policy.sampling_weight is not None:
        raise PolicyError("cannot be masked, or weights, where parties publish together", key="columns")
    for name, given in (("to", policy.publish.to), ("sign", policy.publish.sign)):
        if given is not None:
            raise PolicyError("is not for parties who publish together; leave it out", key=f"publish.{name}")
    plain = [column.name for column in policy.with_role(Role.PLAIN)]
    if whole and plain:
        raise PolicyError(
            f'column {quote(plain[0])} is plain, and publish = "whole" has counts of quasi-identifiers and sensitive '
            "columns alone; give it another role",
            key="columns",
        )
    check_hierarchies(policy)


def _with_public_domains(policy: Policy) -> Policy:
    """Say that the leaves of hierarchy files are public, as they are to all parties: all are listed, or none."""
    columns = {
        name: replace(column, public_domain=True)
        if column.role is Role.QUASI and isinstance(column.hierarchy, File)
        else column
        for name, column in policy.columns.items()
    }
    return replace(policy, columns=columns)


def _without_null_texts(arrow: Any, nulls: Sequence[str]) -> Any:
    """Read the texts that the policy calls NULL as NULL, in columns of text."""
    columns = {}
    for name in arrow.column_names:
        column = arrow.column(name)
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            null = pc.is_in(column, value_set=arrow_texts(nulls).cast(column.type))
            column = pc.if_else(null, pa.nulls(1, column.type)[0], column)
        columns[name] = column
    return pa.table(columns)


def _add_up(session: PartySession, values: IntArray, step: str) -> IntArray:
    total = secure_count(session, values.astype(np.int64), step=f"anonymize/{step}", most=LARGEST_SUM)
    assert total is not None  # noqa: S101 - everybody gets it; this tells the type checker
    return total


def _one_class(encoded: EncodedTable, rows: int) -> EquivalenceClasses:
    """The rows of all parties as one class, by the totals of their sensitive values."""
    sensitive = {
        name: Histogram(
            np.zeros(len(domain.values), dtype=np.int64), np.arange(len(domain.values)), domain.totals, domain
        )
        for name, domain in encoded.domains.items()
    }
    return EquivalenceClasses(np.array([rows]), sensitive)


@dataclass(frozen=True, eq=False)
class _CountedColumn(QuasiIdentifier):
    """A quasi-identifier whose values were counted over the rows of all parties."""

    totals: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @cached_property
    def frequencies(self) -> IntArray:
        """Rows of all parties per value."""
        return self.totals


def _union_metric(session: PartySession, name: str, encoded: EncodedTable, rows: int) -> Metric:
    """Make a metric for the rows of all parties: of what each loses, or of how many rows have each value."""
    if name != _ENTROPY:
        return sum_metric(METRICS[name](encoded), rows, lambda words: _add_up(session, words, f"losses/{name}"))
    quasi = tuple(
        _CountedColumn(
            attribute.column,
            attribute.hierarchy,
            attribute.weight,
            attribute.spec,
            attribute.least,
            totals=_add_up(session, attribute.frequencies, f"entropy/{attribute.name}"),
        )
        for attribute in encoded.quasi
    )
    return METRICS[name](replace(encoded, rows=rows, quasi=quasi))
