"""The gate: what the verifier is told besides the files, and that nothing goes on which it does not pass."""

from collections.abc import Mapping

from sfumato.core.classes import SensitiveDomain
from sfumato.errors import NotVerified
from sfumato.models import TCloseness
from sfumato.policy import Policy
from sfumato.publish.numeric_columns import plan_numeric_columns
from sfumato.publish.promise import (
    describe_earlier_releases,
    ground_distances,
    published_taxonomies,
    state_requirements,
)
from sfumato.publish.publication import Publication
from sfumato.publish.published_table import class_id_column
from sfumato.verifier import (
    InputDistribution,
    PriorRelease,
    Promise,
    RequestedPromise,
    StatedBound,
    StatedExtension,
    StatedMasks,
    Verdict,
    verify_extension,
    verify_table,
    verify_tables,
)


def verify_publication(publication: Publication) -> Verdict:
    """Let the verifier look at published tables in memory.

    Raises:
        NotVerified: it does not pass them.
    """
    promise, extension, masks = promise_of(publication), publication.extension, _masks_of(publication)
    first, *others = (table.arrow for table in publication.tables.values())
    if extension is not None:
        needs = needs_of(extension.domains, publication.policy)
        tables = [release.table if release.public is None else release.public for release in extension.releases]
        stated = StatedExtension(extension.promise == "together", (), needs)
        return require_passed(verify_extension(first, promise, stated, tables, masks))
    if not others:
        return require_passed(verify_table(first, promise, masks))
    return require_passed(verify_tables(first, others, promise, class_id_column(publication.policy), masks))


def _masks_of(publication: Publication) -> list[StatedMasks]:
    """The masks that can be checked of published values, of columns that are not generalized."""
    recoded = {name for table in publication.tables.values() for name in table.recoded}
    every = [
        StatedMasks.from_methods(name, masks.methods())
        for name, masks in publication.masks.items()
        if name not in recoded
    ]
    return [masks for masks in every if masks.is_checkable]


def require_passed(verdict: Verdict) -> Verdict:
    """Return a verdict that is good, and raise `NotVerified` where it is not."""
    if not verdict.satisfied:
        raise NotVerified(
            f"the verifier does not pass the release, so nothing was written: {'; '.join(verdict.complaints)}"
        )
    return verdict


def promise_of(publication: Publication) -> Promise:
    """What the verifier has to check, with what it needs to know of the whole input and of earlier releases."""
    encoded, policy, linked = publication.encoded, publication.policy, publication.linked_releases
    entries = describe_earlier_releases(linked)
    paths = [] if linked is None else [str(earlier.path) for earlier in linked.earlier]
    return Promise(
        encoded.names,
        tuple(encoded.sensitive),
        encoded.individual.name if encoded.individual else None,
        tuple(state_requirements(policy)),
        needs_of(encoded.domains, policy),
        ground_distances(policy),
        previous=tuple(PriorRelease.from_json(entry, path) for entry, path in zip(entries, paths, strict=True)),
        taxonomies=published_taxonomies(linked, publication.recoding),
        bounds=tuple(
            StatedBound(column.name, column.of, column.bound, column.whole) for column in plan_numeric_columns(policy)
        ),
    )


def needs_of(domains: Mapping[str, SensitiveDomain], policy: Policy) -> dict[str, InputDistribution]:
    """What the verifier needs to know of the columns that t-closeness compares with the whole table."""
    needs = {}
    for model in policy.privacy:
        if isinstance(model, TCloseness):
            domain = domains[model.column]
            needs[model.column] = InputDistribution(
                domain.values,
                tuple(domain.totals.tolist()),
                None if domain.ranks is None else tuple(domain.ranks.tolist()),
                domain.places,
                None if domain.ancestors is None else tuple(tuple(line) for line in domain.ancestors.tolist()),
            )
    return needs


def asked_by_policy(policy: Policy) -> RequestedPromise:
    """A policy as the verifier takes it, to check somebody's release against."""
    roles = {name: str(column.role) for name, column in policy.columns.items()}
    masks = {column.name: column.masks.methods() for column in policy.masked}
    return RequestedPromise(tuple(state_requirements(policy)), roles, ground_distances(policy), masks=masks)
