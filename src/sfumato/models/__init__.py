"""Privacy models: what must hold in every class of a published table, or over its join with earlier releases.

One model, or one family of them, per file. To add one, write its file and add a line to `MODELS`; keys, schema,
validation and the contracts in `sfumato.testing` follow from its annotated fields.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from sfumato.errors import PolicyError, did_you_mean, quote
from sfumato.models.alpha_deassociation import AlphaDeassociation
from sfumato.models.alpha_k_anonymity import AlphaKAnonymity
from sfumato.models.distinct_l_diversity import DistinctLDiversity
from sfumato.models.earth_mover import Costs
from sfumato.models.entropy_l_diversity import EntropyLDiversity
from sfumato.models.expected_anonymity import ExpectedAnonymity
from sfumato.models.identity_reserved import IdentityAlphaBeta, IdentityKAnonymity, IdentityKLDiversity
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.model import Model, entry_schema
from sfumato.models.policy_keys import model_keys
from sfumato.models.recursive_l_diversity import RecursiveLDiversity
from sfumato.models.t_closeness import TCloseness
from sfumato.models.xy_privacy import ROW, Linkage, XYAnonymity, XYLinkability, is_row

__all__ = [
    "DENSITY",
    "LINKAGE",
    "MODELS",
    "ROW",
    "SCHEMA",
    "AlphaDeassociation",
    "AlphaKAnonymity",
    "AnyModel",
    "Costs",
    "DistinctLDiversity",
    "EntropyLDiversity",
    "ExpectedAnonymity",
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

DENSITY: dict[str, type] = {"expected-anonymity": ExpectedAnonymity}
"""Those that judge records which are published as densities."""

AnyModel = Model | Linkage | ExpectedAnonymity
"""A requirement of whatever kind."""

SCHEMA: dict[str, object] = entry_schema(MODELS | LINKAGE | DENSITY)


def build(table: Mapping[str, object], *, key: str, folder: Path) -> AnyModel:
    """Build the model that a [[privacy]] entry asks for.

    Args:
        table: The entry as TOML gives it.
        key: The key of the entry in the policy, for error messages.
        folder: The folder of the policy; files are named relative to it.

    Raises:
        PolicyError: The entry does not make a model; names the key.

    >>> build({"model": "k-anonymity", "k": 3}, key="privacy[0]", folder=Path())
    KAnonymity(k=3)
    >>> build({"model": "k-anonimity", "k": 3}, key="privacy[0]", folder=Path())
    Traceback (most recent call last):
    sfumato.errors.PolicyError: privacy[0].model: 'k-anonimity' is not a model; did you mean k-anonymity?
    """
    try:
        model = _find_model(table.get("model"))
        return cast("AnyModel", model(**_read_arguments(model, table, folder)))
    except PolicyError as error:
        raise PolicyError(error.message, key=f"{key}.{error.key}") from None


def _find_model(name: object) -> type:
    models = MODELS | LINKAGE | DENSITY
    if isinstance(name, str) and name in models:
        return models[name]
    if name is None:
        raise PolicyError(f"is missing; name one of {', '.join(models)}", key="model")
    raise PolicyError(f"{quote(name)} is not a model{did_you_mean(str(name), models)}", key="model")


def _read_arguments(model: type, table: Mapping[str, object], folder: Path) -> dict[str, object]:
    """Check the keys of an entry, and replace the names of files by what is in them."""
    keys, entries = model_keys(model), {name: value for name, value in table.items() if name != "model"}
    for name in entries:
        if name not in keys:
            raise PolicyError(f"is not a key of {table['model']}{did_you_mean(name, keys)}", key=name)
    for name, key in keys.items():
        if key.required and name not in entries:
            raise PolicyError(f"is missing: {key.description}", key=name)
    arguments: dict[str, object] = {}
    for name, value in entries.items():
        key_type = keys[name].key_type
        if key_type.load_file is None:
            arguments[name] = key_type.read(value, key=name)
        elif isinstance(value, str) and value:
            arguments[name] = key_type.load_file(value, folder)
        else:
            raise PolicyError(f"must be the name of {key_type.phrase}, not {quote(value)}", key=name)
    return arguments
