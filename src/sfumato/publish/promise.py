"""What a policy promises of a release, as plain data: requirements, costs of distances, and the earlier releases.

The manifest states it, and the verifier gets it besides the files. Earlier releases come with the paths of all labels
up their taxonomies, so that whoever checks a join needs no hierarchy.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sfumato.core.arrays import IntArray, count_codes
from sfumato.hierarchy.hierarchy import Label
from sfumato.models import TCloseness
from sfumato.policy import Policy
from sfumato.recode import Recoding

if TYPE_CHECKING:
    from sfumato.previous import LinkedReleases


def state_requirements(policy: Policy) -> list[dict[str, Any]]:
    """The policy's [[privacy]] tables as plain data."""
    return [{"model": entry.name, **entry.required} for entry in policy.requirements]


def ground_distances(policy: Policy) -> dict[str, dict[tuple[str, str], float]]:
    """The costs of pairs of values that general earth mover's distances are made of, by column."""
    compared = [model for model in policy.privacy if isinstance(model, TCloseness)]
    return {model.column: dict(model.costs.pairs) for model in compared if model.costs is not None}


def describe_earlier_releases(linked: "LinkedReleases | None") -> list[dict[str, Any]]:
    """Each earlier release that the table is joined with: its file, and by what its records are matched."""
    if linked is None:
        return []
    # a rule of the policy between two releases is stated with the later one
    rules: dict[str, list[list[str]]] = {earlier.name: [] for earlier in linked.earlier}
    for rule in linked.rules:
        tables: list[str] = [side.reference.table for side in rule if side.reference.table is not None]
        latest = max(tables, key=linked.names.index)
        rules[latest].append([f"{side.reference}={side.value}" for side in rule])
    return [
        {
            "name": earlier.name,
            "table": earlier.path.name,
            "sha256": earlier.digest,
            "rows": earlier.rows,
            **({"csv": dict(earlier.csv)} if earlier.csv is not None else {}),
            "join": list(columns),
            "inconsistent": rules[earlier.name],
        }
        for earlier, columns in zip(linked.earlier, linked.join_columns, strict=True)
    ]


def published_taxonomies(linked: "LinkedReleases | None", recoding: Recoding) -> dict[str, list[list[Label]]]:
    """For every column with a hierarchy, the path of each label that is published now or was before.

    Other columns need none: their labels have nothing above them but the root. So no value of a column that the current
    table does not publish gets into its accounts.
    """
    if linked is None:
        return {}
    taxonomies = {}
    for name in linked.declared:
        labels: dict[Label, None] = {}
        if name in recoding.labels:
            labels |= _texts_of_rows(recoding.labels[name].texts, recoding.label_rows[name])
        elif name in linked.exact_columns:
            exact = linked.exact_columns[name]
            rows = recoding.count_published(exact.codes, count_codes(exact.codes, exact.width, recoding.counts))
            labels |= _texts_of_rows(exact.texts, rows)
        for place, earlier in enumerate(linked.earlier):
            if name in linked.matched_columns_of(place):
                labels |= dict.fromkeys(earlier.coded(name).texts)
        # a label that is at several levels of a branch is listed once
        taxonomies[name] = [list(dict.fromkeys(linked.taxonomies[name].path(label))) for label in labels]
    return taxonomies


def _texts_of_rows(texts: Sequence[Label], rows: IntArray) -> dict[Label, None]:
    """Those of the texts that some rows have: what only suppressed rows had stands in no account."""
    return dict.fromkeys(text for text, count in zip(texts, rows.tolist(), strict=True) if count)
