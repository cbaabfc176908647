"""Privacy models: what must hold in every class of a published table.

One model per file. To add one, write its file and add a line to `MODELS`; keys, schema, validation and
the contracts in `sfumato.checks` follow from its annotated fields.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from sfumato.errors import PolicyError, did_you_mean
from sfumato.models.alpha_deassociation import AlphaDeassociation
from sfumato.models.alpha_k_anonymity import AlphaKAnonymity
from sfumato.models.base import Model
from sfumato.models.distances import Costs
from sfumato.models.distinct_l_diversity import DistinctLDiversity
from sfumato.models.entropy_l_diversity import EntropyLDiversity
from sfumato.models.identity_alpha_beta import IdentityAlphaBeta
from sfumato.models.identity_k_anonymity import IdentityKAnonymity
from sfumato.models.identity_kl_diversity import IdentityKLDiversity
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.keys import keys_of
from sfumato.models.linkage import ROW, Linkage, is_row
from sfumato.models.recursive_l_diversity import RecursiveLDiversity
from sfumato.models.schema import schema
from sfumato.models.t_closeness import TCloseness
from sfumato.models.xy_anonymity import XYAnonymity
from sfumato.models.xy_linkability import XYLinkability

__all__ = [
    "LINKAGE",
    "MODELS",
    "ROW",
    "SCHEMA",
    "AlphaDeassociation",
    "AlphaKAnonymity",
    "Costs",
    "DistinctLDiversity",
    "EntropyLDiversity",
    "IdentityAlphaBeta",
    "IdentityKAnonymity",
    "IdentityKLDiversity",
    "KAnonymity",
    "Linkage",
    "Model",
    "RecursiveLDiversity",
    "TCloseness",
    "XYAnonymity",
    "XYLinkability",
    "build",
    "is_row",
]

MODELS: dict[str, type] = {
    "k-anonymity": KAnonymity,
    "alpha-deassociation": AlphaDeassociation,
    "alpha-k-anonymity": AlphaKAnonymity,
    "distinct-l-diversity": DistinctLDiversity,
    "entropy-l-diversity": EntropyLDiversity,
    "recursive-l-diversity": RecursiveLDiversity,
    "t-closeness": TCloseness,
    "identity-k-anonymity": IdentityKAnonymity,
    "identity-kl-diversity": IdentityKLDiversity,
    "identity-alpha-beta": IdentityAlphaBeta,
}
"""Those that judge the classes of the published table."""

LINKAGE: dict[str, type] = {"xy-anonymity": XYAnonymity, "xy-linkability": XYLinkability}
"""Those that judge its join with earlier releases."""

SCHEMA: dict[str, object] = schema(MODELS | LINKAGE)


def build(table: Mapping[str, object], *, key: str, folder: Path) -> Model | Linkage:
    """The model that a [[privacy]] entry asks for.

    Args:
        table: The entry as TOML gives it.
        key: Where it stands, for error messages.
        folder: Where the policy stands; files are named relative to it.

    Raises:
        PolicyError: The entry does not make a model; names the key.

    >>> build({"model": "k-anonymity", "k": 3}, key="privacy[0]", folder=Path())
    KAnonymity(k=3)
    >>> build({"model": "k-anonimity", "k": 3}, key="privacy[0]", folder=Path())
    Traceback (most recent call last):
    sfumato.errors.PolicyError: privacy[0].model: 'k-anonimity' is not a model; did you mean k-anonymity?
    """
    try:
        model = _model(table.get("model"))
        return cast("Model | Linkage", model(**_arguments(model, table, folder)))
    except PolicyError as error:
        raise PolicyError(error.message, key=f"{key}.{error.key}") from None


def _model(name: object) -> type:
    known = MODELS | LINKAGE
    if isinstance(name, str) and name in known:
        return known[name]
    if name is None:
        raise PolicyError(f"is missing; name one of {', '.join(known)}", key="model")
    raise PolicyError(f"{name!r} is not a model{did_you_mean(str(name), known)}", key="model")


def _arguments(model: type, table: Mapping[str, object], folder: Path) -> dict[str, object]:
    keys, given = keys_of(model), {name: value for name, value in table.items() if name != "model"}
    for name in [name for name in given if name not in keys][:1]:
        raise PolicyError(f"is not a key of {table['model']}{did_you_mean(name, keys)}", key=name)
    for name, key in keys.items():
        if key.needed and name not in given:
            raise PolicyError(f"is missing: {key.meaning}", key=name)
    return {name: _loaded(value, model, name, folder) for name, value in given.items()}


def _loaded(value: object, model: type, name: str, folder: Path) -> object:
    """The value, or what the file holds that it names."""
    kind = keys_of(model)[name].kind
    if kind.load is None:
        return kind.read(value, key=name)
    if not isinstance(value, str) or not value:
        raise PolicyError(f"must be the name of {kind.sentence}, not {value!r}", key=name)
    return kind.load(value, folder)
