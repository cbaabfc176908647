"""What a policy promises, as plain data: all that the verifier is told besides the files."""

from typing import TYPE_CHECKING, Any

from sfumato.encode import EncodedTable
from sfumato.models import TCloseness
from sfumato.policy import Policy
from sfumato.recode import Recoding
from sfumato.release.previous import earlier_releases, taxonomies
from sfumato.verifier import InputDistribution, Promise, RequestedPromise

if TYPE_CHECKING:
    from sfumato.previous import LinkedReleases


def requirements(policy: Policy) -> list[dict[str, Any]]:
    """The policy's [[privacy]] tables as plain data."""
    return [{"model": entry.name, **entry.required} for entry in policy.requirements]


def asked(policy: Policy) -> RequestedPromise:
    """A policy as the verifier takes it, to check a release against."""
    roles = {name: str(column.role) for name, column in policy.columns.items()}
    return RequestedPromise(tuple(requirements(policy)), roles, costs(policy))


def costs(policy: Policy) -> dict[str, dict[tuple[str, str], float]]:
    """The ground distances of general earth mover's distances, by column."""
    compared = [model for model in policy.privacy if isinstance(model, TCloseness)]
    return {model.column: dict(model.costs.pairs) for model in compared if model.costs is not None}


def promise(encoded: EncodedTable, policy: Policy, recoding: Recoding, star: "LinkedReleases | None" = None) -> Promise:
    """What the verifier has to check, with what it needs to know of the whole input and of earlier releases."""
    compared = [model for model in policy.privacy if isinstance(model, TCloseness)]
    needs = {model.column: _needs(encoded, model.column) for model in compared}
    return Promise(
        encoded.names,
        tuple(encoded.sensitive),
        encoded.individual.name if encoded.individual else None,
        tuple(requirements(policy)),
        needs,
        costs(policy),
        previous=earlier_releases(star),
        taxonomies=taxonomies(star, recoding),
    )


def _needs(encoded: EncodedTable, name: str) -> InputDistribution:
    domain = encoded.domains[name]
    return InputDistribution(
        domain.values,
        tuple(domain.totals.tolist()),
        None if domain.ranks is None else tuple(domain.ranks.tolist()),
        domain.places,
        None if domain.ancestors is None else tuple(tuple(line) for line in domain.ancestors.tolist()),
    )
