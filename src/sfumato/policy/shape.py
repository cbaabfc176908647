"""The shape of a policy file as a JSON schema: what editors complete and underline by."""

from sfumato import hierarchy, models
from sfumato.policy.columns import Role
from sfumato.policy.search import ALGORITHMS, FORMATS, FORMS, METRICS, RANGES, SCORES, TOGETHER

Json = dict[str, object]


def schema() -> Json:
    """The JSON schema (draft 2020-12) of the whole file.

    It refuses what can be told from one table alone; what tables ask of one another, `load` checks.

    >>> sorted(schema()["properties"])
    ['algorithm', 'columns', 'data', 'previous', 'privacy', 'publish']
    """
    about = "What is published of which table, and what is promised to the people in it."
    parts: Json = {
        "data": _data(),
        "columns": _columns(),
        "privacy": _privacy(),
        "previous": _previous(),
        "algorithm": _algorithm(),
        "publish": _publish(),
    }
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "sfumato policy"}
    return {**head, **_table(about, parts), "required": ["columns", "privacy"], **_levels()}


def _levels() -> Json:
    """A hierarchy for every quasi-identifier, unless the form is one that generalizes nothing."""
    form = {"properties": {"form": {"const": "anatomy"}}, "required": ["form"]}
    column = _when(Role.QUASI, {"required": ["hierarchy"]})
    return {
        "if": {"properties": {"publish": form}, "required": ["publish"]},
        "else": {"properties": {"columns": {"additionalProperties": column}}},
    }


def _table(description: str, properties: Json) -> Json:
    return {
        "description": description,
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }


def _text(description: str, **more: object) -> Json:
    return {"description": description, "type": "string", **more}


def _data() -> Json:
    source = "The file of rows, relative to the policy file; left out, the caller hands the table in."
    reading = _reading("an empty cell without quotes", "UTF-8", {"default": [""]}, {"default": "utf-8"})
    parts: Json = {"source": _text(source, minLength=1, **{"not": {"pattern": "://"}}), **reading}
    return _table("Where the rows come from and how they are read.", parts)


def _reading(nulls: str, encoding: str, *defaults: Json) -> Json:
    """How a file is read, with what is meant where it is left out."""
    null: Json = {"description": f"Cell texts read as missing; left out, {nulls}.", "type": "array"}
    first, second = defaults or ({}, {})
    return {
        "separator": _text("What stands between two cells of a CSV; left out, it is found.", pattern='^[^"\\r\\n]$'),
        "null": {**null, "items": {"type": "string"}, **first},
        "encoding": _text(f"The encoding of a CSV, such as latin-1; left out, {encoding}.", **second),
    }


def _columns() -> Json:
    about = "A role for every column of the source; a column that is not listed is an error."
    return {"description": about, "type": "object", "minProperties": 1, "additionalProperties": _column()}


def _column() -> Json:
    role = "identifier: never published; individual: whose row it is, published as a pseudonym; quasi: "
    role += "known to others, generalized; sensitive: what nobody may learn; plain: published as it is."
    least = "The lowest level of the hierarchy that may be published, however many rows share a value."
    weight = "What the precision of this quasi-identifier is worth, relative to that of the others."
    key = "A file kept apart, under whose key a person has the same pseudonym in every release; left out, a random one."
    parts: Json = {
        "role": {"description": role, "enum": [str(name) for name in Role]},
        "hierarchy": hierarchy.SCHEMA,
        "least": {"description": least, "type": "integer", "minimum": 0, "default": 0},
        "weight": {"description": weight, "type": "number", "minimum": 0, "default": 1},
        "key": _text(key, minLength=1),
    }
    rules = [_when(role, _asked_of(role)) for role in Role]
    return {**_table("What the column is.", parts), "required": ["role"], "allOf": rules}


def _asked_of(role: Role) -> Json:
    may = {Role.QUASI: {"hierarchy", "least", "weight"}, Role.SENSITIVE: {"hierarchy"}, Role.INDIVIDUAL: {"key"}}
    never = [key for key in ("hierarchy", "least", "weight", "key") if key not in may.get(role, set())]
    return {"properties": dict.fromkeys(never, False)}


def _when(role: Role, then: Json) -> Json:
    return {"if": {"properties": {"role": {"const": str(role)}}, "required": ["role"]}, "then": then}


def _privacy() -> Json:
    about = "What is promised; all of them must hold."
    return {"description": about, "type": "array", "minItems": 1, "items": models.SCHEMA}


def _previous() -> Json:
    rule = {"type": "array", "items": {"type": "string", "pattern": "="}, "minItems": 2, "maxItems": 2}
    parts: Json = {
        "name": _text("What its columns are written with, as in tax.sex.", pattern="^[A-Za-z0-9_-]+$"),
        "table": _text("The file of its table, as it was published.", minLength=1),
        "inconsistent": {
            "description": "Pairs of values that cannot be one person's, as in sex=Male and tax.test=Pregnancy.",
            "type": "array",
            "items": rule,
        },
        **_reading("what it is in the current table", "that of the current table"),
    }
    about = "Earlier releases about the same people, which an adversary joins with this one."
    return {
        "description": about,
        "type": "array",
        "items": {**_table("An earlier release.", parts), "required": ["name", "table"]},
    }


def _algorithm() -> Json:
    suppression = "The largest share of rows that may be dropped."
    seed = "For tests and papers, to get the same release again; left out, randomness is fresh."
    parts: Json = {
        "name": _choice("How the release is sought; auto takes the best that a person would wait for.", ALGORITHMS),
        "suppression": {
            "description": suppression,
            "type": "number",
            "minimum": 0,
            "maximum": 1,
            "default": 0,
        },
        "seed": {"description": seed, "type": "integer", "minimum": 0, "maximum": 2**63 - 1},
        "metric": _choice("The loss that is minimized.", METRICS),
        "improve": {
            "description": "Whether a local algorithm is followed by an improvement pass.",
            "type": "boolean",
            "default": True,
        },
        "keep_together": {
            "description": "Whether a person's rows with equal quasi-identifiers always land in one class.",
            "type": "boolean",
            "default": True,
        },
        "score": _choice("What top-down specialization goes by.", SCORES),
        "class": _text("The column that the score classification is to tell apart.", minLength=1),
    }
    return _table("How the release is sought.", parts)


def _publish() -> Json:
    parts: Json = {
        "form": _choice("What is published: one table of generalized rows, or two tables tied by class.", FORMS),
        "format": _choice("The format of the published table.", FORMATS),
        "ranges": _choice("What is published of columns with ranges.", RANGES),
        "ss": _choice(
            "Of two tables: sensitive columns together in one, or each apart in a table of its own.", TOGETHER
        ),
    }
    return _table("What the release looks like.", parts)


def _choice(description: str, names: tuple[str, ...]) -> Json:
    """One of the names, of which the first is the default."""
    return {"description": description, "enum": list(names), "default": names[0]}
