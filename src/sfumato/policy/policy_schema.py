"""The form of a policy file as a JSON schema: what editors complete and underline by."""

from sfumato import hierarchy, models
from sfumato.policy.column_masks import LEAST_NOISE, MASK_KEYS, MOST_NOISE
from sfumato.policy.columns import AGGREGATES, DRAWN_KEYS, KINDS, Role
from sfumato.policy.database_url import DATABASE_FILES, SERVERS
from sfumato.policy.options import (
    ALGORITHMS,
    APPLIED_PROMISES,
    CLUSTERINGS,
    DENSITY_KINDS,
    DRAWN_FORMS,
    FEWEST_ROWS_PER_FILE,
    FORMATS,
    FORMS,
    METRICS,
    MOST_MULTIPLE,
    MOST_NEIGHBOURS,
    NUMERIC,
    RANGES,
    SCORES,
    SENSITIVE_TABLES,
    SPREADS,
    TARGETS,
)

JsonSchema = dict[str, object]


def schema() -> JsonSchema:
    """Describe the whole file as JSON schema (draft 2020-12).

    It refuses what can be decided from one table alone; what tables ask of one another, `load` checks.

    >>> sorted(schema()["properties"])
    ['algorithm', 'apply', 'columns', 'data', 'previous', 'privacy', 'publish']
    """
    tables: JsonSchema = {
        "data": _data(),
        "columns": _columns(),
        "privacy": {
            "description": "What is promised; all of them must hold.",
            "type": "array",
            "minItems": 1,
            "items": models.SCHEMA,
        },
        "previous": _previous(),
        "algorithm": _algorithm(),
        "publish": _publish(),
        "apply": _apply(),
    }
    # Every quasi-identifier has a hierarchy, unless the form is one that generalizes nothing.
    unlabelled = {"properties": {"form": {"enum": ["anatomy", *DRAWN_FORMS]}}, "required": ["form"]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "sfumato policy",
        **_table("What is published of which table, and what is promised to the people in it.", tables),
        "required": ["columns", "privacy"],
        "if": {"properties": {"publish": unlabelled}, "required": ["publish"]},
        "else": {
            "properties": {
                "columns": {"additionalProperties": _if_role(Role.QUASI, {"required": ["hierarchy"]})},
            }
        },
    }


def _data() -> JsonSchema:
    source = "The table: a file, a folder of Parquet files or a pattern, relative to the policy file, or the URL of a "
    source += "database without its password; left out, the caller hands the table in."
    kinds = "|".join(("postgres", "mariadb", *SERVERS, *DATABASE_FILES))
    no_other = f"^(?![A-Za-z][A-Za-z0-9+.-]+://)|^({kinds})://"
    properties: JsonSchema = {
        "source": _text(source, minLength=1, pattern=no_other, **{"not": {"pattern": _PASSWORD}}),
        "query": _text("What is read of a database: a SELECT.", pattern="\\S"),
        "table": _text("The table or view that is read of a database, in place of a query.", pattern="\\S"),
        "sheet": _text("The sheet that is read of a workbook; left out, the first.", pattern="\\S"),
        **_file_options("an empty cell without quotes", "UTF-8", {"default": [""]}, {"default": "utf-8"}),
    }
    is_server = {"properties": {"source": {"pattern": f"^({'|'.join(('postgres', 'mariadb', *SERVERS))})://"}}}
    asked: JsonSchema = {
        "not": {"required": ["query", "table"]},
        "if": {**is_server, "required": ["source"]},
        "then": {"anyOf": [{"required": ["query"]}, {"required": ["table"]}]},
    }
    return _table("Where the rows come from and how they are read.", properties) | asked


_PASSWORD = "^[^/?#]*//[^/?#@]*:[^/?#]*@|[?&](password|passwd|pwd|sslpassword)="  # noqa: S105 - a pattern of one


def _file_options(null: str, encoding: str, null_default: JsonSchema, encoding_default: JsonSchema) -> JsonSchema:
    """Describe how a file is read; the texts say what is meant where a key is left out."""
    return {
        "separator": _text("What stands between two cells of a CSV; left out, it is found.", pattern='^[^"\\r\\n]$'),
        "null": {
            "description": f"Cell texts read as missing; left out, {null}.",
            "type": "array",
            "items": {"type": "string"},
            **null_default,
        },
        "encoding": _text(f"The encoding of a CSV, such as latin-1; left out, {encoding}.", **encoding_default),
    }


def _columns() -> JsonSchema:
    role = "identifier: never published; individual: whose row it is, published as a pseudonym; quasi: "
    role += "known to others, generalized; sensitive: what nobody may learn; plain: published as it is; weight: the "
    role += "sampling weight of a survey, published as it is or rounded."
    least = "The lowest level of the hierarchy that may be published, however many rows share a value."
    public = "Whether all leaves of the hierarchy file are public, so that the manifest may list those that no row has."
    weight = "What the precision of this quasi-identifier is worth, relative to that of the others."
    aggregate = "What microaggregation publishes of the values of a class; left out, what suits the hierarchy."
    key = "A file kept apart, under whose key a person has the same pseudonym in every release; left out, a random one."
    properties: JsonSchema = {
        "role": {"description": role, "enum": [str(name) for name in Role]},
        "hierarchy": hierarchy.SCHEMA,
        "least": {"description": least, "type": "integer", "minimum": 0, "default": 0},
        "public_domain": {"description": public, "type": "boolean", "default": False},
        "weight": {"description": weight, "type": "number", "minimum": 0, "default": 1},
        "aggregate": {"description": aggregate, "enum": list(AGGREGATES)},
        "key": _text(key, minLength=1),
        **_masks(),
        **_drawing(),
    }
    quasi = {"hierarchy", "least", "public_domain", "weight", "aggregate", *MASK_KEYS, *DRAWN_KEYS}
    allowed = {
        Role.QUASI: quasi,
        Role.SENSITIVE: {"hierarchy", *MASK_KEYS, *DRAWN_KEYS},
        Role.PLAIN: {*MASK_KEYS, *DRAWN_KEYS},
        Role.INDIVIDUAL: {"key"},
        Role.WEIGHT: {"round"},
    }
    rules = []
    for name in Role:
        refused = [key for key in properties if key != "role" and key not in allowed.get(name, set())]
        rules.append(_if_role(name, {"properties": dict.fromkeys(refused, False)}))
    column = {**_table("What the column is.", properties), "required": ["role"], "allOf": rules}
    about = "A role for every column of the source, by its name or by a pattern such as lab_*; one without is an error."
    return {"description": about, "type": "object", "minProperties": 1, "additionalProperties": column}


def _masks() -> JsonSchema:
    """Describe the keys that mask a column."""
    share = {
        "description": "The standard deviation of the noise, as a share of the column's own.",
        "type": "number",
        "minimum": LEAST_NOISE,
        "maximum": MOST_NOISE,
    }
    keep = {
        "description": "The chance that a value is kept.",
        "type": "number",
        "minimum": 0,
        "exclusiveMaximum": 1,
    }
    correlated = "Whether the noise of all such columns has their covariance, so that correlations stay."
    noise = _table(
        "Normal noise.", {"share": share, "correlated": {"description": correlated, "type": "boolean", "default": True}}
    )
    invariant = "Whether values are drawn by their frequencies, which leaves these as they were on average."
    pram = _table(
        "Post-randomization.",
        {"keep": keep, "invariant": {"description": invariant, "type": "boolean", "default": False}},
    )
    bound = [{"type": "number"}, {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"}]
    return {
        "top": {"description": "Top coding: what values above it become, a number or a date.", "anyOf": bound},
        "bottom": {"description": "Bottom coding: what values below it become, a number or a date.", "anyOf": bound},
        "noise": {
            "description": "Normal noise is added, with this share of the column's standard deviation.",
            "anyOf": [share, {**noise, "required": ["share"]}],
        },
        "swap": {
            "description": "Rank swapping: values change places with one within this share of the ranks.",
            "type": "number",
            "exclusiveMinimum": 0,
            "maximum": 1,
        },
        "pram": {
            "description": "Post-randomization: a value is kept with this chance, and else drawn anew.",
            "anyOf": [keep, {**pram, "required": ["keep"]}],
        },
        "round": {
            "description": "The step whose multiples values, or sampling weights, are rounded to.",
            "type": "number",
            "exclusiveMinimum": 0,
        },
    }


def _drawing() -> JsonSchema:
    """Describe the keys that say what a column holds, where rows are drawn."""
    ends = [
        {"type": "array", "items": {"type": kind}, "minItems": 2, "maxItems": 2, "uniqueItems": True}
        for kind in ("number", "string")
    ]
    return {
        "kind": {"description": "What the column holds; left out, what its values are.", "enum": list(KINDS)},
        "bounds": {"description": "The lowest and the highest value that may be drawn.", "anyOf": ends},
        "atoms": {
            "description": "Numbers that many rows share and that stay as they are; left out, they are found.",
            "type": "array",
            "items": {"type": "number"},
        },
    }


def _previous() -> JsonSchema:
    pair = {"type": "array", "items": {"type": "string", "pattern": "="}, "minItems": 2, "maxItems": 2}
    properties: JsonSchema = {
        "name": _text("What its columns are written with, as in tax.sex.", pattern="^[A-Za-z0-9_-]+$"),
        "table": _text("The file of its table, as it was published.", minLength=1),
        "inconsistent": {
            "description": "Pairs of values that cannot be one person's, as in sex=Male and tax.test=Pregnancy.",
            "type": "array",
            "items": pair,
        },
        **_file_options("what it is in the current table", "that of the current table", {}, {}),
    }
    return {
        "description": "Earlier releases about the same people, which an adversary joins with this one.",
        "type": "array",
        "items": {**_table("An earlier release.", properties), "required": ["name", "table"]},
    }


def _algorithm() -> JsonSchema:
    seed = "For tests and papers, to get the same release again; left out, randomness is fresh."
    properties: JsonSchema = {
        "name": _choice("How the release is sought; auto takes the best that a person would wait for.", ALGORITHMS),
        "suppression": {
            "description": "The largest share of rows that may be dropped.",
            "type": "number",
            "minimum": 0,
            "maximum": 1,
            "default": 0,
        },
        "seed": {"description": seed, "type": "integer", "minimum": 0, "maximum": 2**63 - 1},
        "time_limit": {
            "description": "After so many seconds the search ends with the best release that it has found.",
            "type": "number",
            "minimum": 0,
        },
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
        "next_cut": {
            "description": "Whether tds tries the next best cut of a range where the best one fails.",
            "type": "boolean",
            "default": False,
        },
        "beneficial": {
            "description": "Whether tds leaves out steps that gain nothing by its score.",
            "type": "boolean",
            "default": False,
        },
        "clustering": _choice("How microaggregation and condensation put rows together.", CLUSTERINGS),
        "strata": {
            "description": "Columns whose values are not mixed in a group, for microaggregation and condensation.",
            "type": "array",
            "items": {"type": "string", "minLength": 1},
            "uniqueItems": True,
        },
        "multiple": {
            "description": "How many rows condensation draws for each.",
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_MULTIPLE,
            "default": 1,
        },
        "neighbours": {
            "description": "How many groups that lie near each other share their spread when condensation draws rows.",
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_NEIGHBOURS,
            "default": 1,
        },
        "noise": {
            "description": "Noise that condensation adds besides, in standard deviations of a column.",
            "type": "number",
            "minimum": 0,
            "maximum": 10,
            "default": 0,
        },
    }
    return _table("How the release is sought.", properties)


def _publish() -> JsonSchema:
    ss = "Of two tables: sensitive columns together in one, or each apart in a table of its own."
    properties: JsonSchema = {
        "form": _choice(
            "What is published: one table of generalized rows, two tables tied by class, drawn rows, or densities.",
            FORMS,
        ),
        "format": _choice("The format of the published table.", FORMATS),
        "rows_per_file": {
            "description": "Rows of each of a table's files, in place of one file of all rows.",
            "type": "integer",
            "minimum": FEWEST_ROWS_PER_FILE,
        },
        "ranges": _choice("What is published of columns with ranges.", RANGES),
        "numeric": _choice("What stands beside labels of numbers: nothing, their two ends, or their middle.", NUMERIC),
        "ss": _choice(ss, SENSITIVE_TABLES),
        "density": _choice("What a record is published as, where it is uncertain.", DENSITY_KINDS),
        "spread": _choice("Whether each density has its own spread, or all have that of the widest.", SPREADS),
        "sign": _text("The file of the private key that the release is signed with; left out, none.", minLength=1),
        "to": _target(),
        "title": _text("What the release is called, in the manifest and the summary.", minLength=1),
        "publisher": _text("Who publishes it.", minLength=1),
        "contact": _text("Whom to ask about it.", minLength=1),
        "purpose": _text("What it is published for.", minLength=1),
    }
    return _table("What the release looks like.", properties)


def _target() -> JsonSchema:
    """Describe the table of a database that a release is put into."""
    url = f"The database, as {', '.join(f'{name}://' for name in TARGETS)}, without its password."
    properties: JsonSchema = {
        "url": _text(url, pattern=f"^({'|'.join(('postgres', *TARGETS))})://", **{"not": {"pattern": _PASSWORD}}),
        "table": _text("The table that is made there, with its schema before a point.", pattern="\\S"),
    }
    about = "A table of a database that the release is put into besides; it appears with the folder."
    return {**_table(about, properties), "required": ["url", "table"]}


def _apply() -> JsonSchema:
    promise = (
        "alone: further rows keep the promise by themselves, too; together: with those that are published already."
    )
    properties: JsonSchema = {
        "suppression": {
            "description": "The largest share of further rows that may be dropped; left out, that of [algorithm].",
            "type": "number",
            "minimum": 0,
            "maximum": 1,
        },
        "promise": _choice(promise, APPLIED_PROMISES),
    }
    return _table("How further rows are published under the labels of a release.", properties)


def _table(description: str, properties: JsonSchema) -> JsonSchema:
    return {
        "description": description,
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }


def _text(description: str, **more: object) -> JsonSchema:
    return {"description": description, "type": "string", **more}


def _choice(description: str, names: tuple[str, ...]) -> JsonSchema:
    """Describe a key that holds one of the names, of which the first is the default."""
    return {"description": description, "enum": list(names), "default": names[0]}


def _if_role(role: Role, then: JsonSchema) -> JsonSchema:
    """Describe what holds of a column of this role."""
    return {"if": {"properties": {"role": {"const": str(role)}}, "required": ["role"]}, "then": then}
