"""What a policy promises, and what its parts ask of one another.

The [[privacy]] tables are read here. The other functions are checks across tables: each takes the parts it is about,
and raises a `PolicyError` that names the key, the reason and a way out. `Policy` runs them all when it is made, in an
order that names the simplest fault first:

- `check_columns`, `check_levels`: columns that can be generalized, by the algorithm of the policy;
- `check_models`: models look at columns that are there and are sensitive;
- `check_form`: two tables have a sensitive column to keep apart;
- `check_idle_keys`: no key that would change nothing;
- `check_linkage`, `check_join_algorithm`: (X, Y)-models name columns and releases that are there, and have an
  algorithm that looks at joins;
- `check_specialization`: top-down specialization has a class column where its score needs one;
- `check_apply`: the release is of a kind that further rows can be added to, where the policy speaks of them;
- `check_drawn`: where rows are drawn, all that is said is about drawing, and nowhere else.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from sfumato import models
from sfumato.errors import PolicyError, did_you_mean, listing, quote
from sfumato.hierarchy import Intervals, Ranges
from sfumato.policy.class_aggregates import AGGREGATE_FORMS, MICROAGGREGATION, aggregate_of
from sfumato.policy.columns import DRAWN_KEYS, Column, Role, columns_with_role
from sfumato.policy.options import (
    CLASSIFYING,
    CLUSTERING_KEYS,
    CUTS,
    DENSITY_KEYS,
    DRAWING_KEYS,
    DRAWN_FORMS,
    FULL_DOMAIN,
    SPECIALIZATION_KEYS,
    UNLEVELLED,
    PublishOptions,
)
from sfumato.policy.previous_releases import ColumnReference, PreviousRelease, read_reference
from sfumato.policy.section import describe_value, require_table
from sfumato.policy.toml_text import dotted_key

ColumnsByName = Mapping[str, Column]
PolicyDocument = Mapping[str, object]
"""The tables of a policy as they were written."""

_PRIVACY_EXAMPLE = '[[privacy]] with model = "k-anonymity" and k = 5'


def read_requirements(value: object, *, folder: Path) -> tuple[models.AnyModel, ...]:
    """Read the [[privacy]] tables: all models that must hold, in the order of the policy.

    Files that they name are sought from `folder`.

    >>> read_requirements([{"model": "k-anonymity", "k": 5}], folder=Path())[0].name
    'k-anonymity'
    """
    if value is None or value == []:
        raise PolicyError(f"no privacy model: write {_PRIVACY_EXAMPLE} as the simplest", key="privacy")
    if not isinstance(value, list):
        message = f"must be a list of tables, as {_PRIVACY_EXAMPLE}, not {describe_value(value)}"
        raise PolicyError(message, key="privacy")
    keys = [f"privacy[{place}]" for place in range(len(value))]
    entries = zip(value, keys, strict=True)
    return tuple(models.build(require_table(table, key), key=key, folder=folder) for table, key in entries)


def check_columns(columns: ColumnsByName) -> None:
    """Ask for at least one quasi-identifier, of which one matters, and at most one column of persons and of weights.

    >>> check_columns({"visits": Column("visits", Role.PLAIN)})
    Traceback (most recent call last):
    sfumato.errors.PolicyError: columns: no quasi-identifier: give the columns that others may know
    role = "quasi" and a hierarchy
    """
    quasi = columns_with_role(columns, Role.QUASI)
    if not quasi:
        way = 'give the columns that others may know role = "quasi" and a hierarchy'
        raise PolicyError(f"no quasi-identifier: {way}", key="columns")
    if not any(column.weight for column in quasi):
        weight = dotted_key("columns", quasi[0].name, "weight")
        raise PolicyError("every quasi-identifier has weight 0; give one of them more", key=weight)
    check_persons_and_weights(columns)


def check_persons_and_weights(columns: ColumnsByName) -> None:
    """Refuse more than one column that names persons, and more than one of sampling weights.

    >>> check_persons_and_weights({"who": Column("who", Role.INDIVIDUAL)})
    """
    individuals = columns_with_role(columns, Role.INDIVIDUAL)
    if len(individuals) > 1:
        message = f"at most one column may be individual, and {quote(individuals[0].name)} is"
        raise PolicyError(message, key=dotted_key("columns", individuals[1].name, "role"))
    weights = columns_with_role(columns, Role.WEIGHT)
    if len(weights) > 1:
        message = f"at most one column may be of role weight, and {quote(weights[0].name)} is; make the other plain"
        raise PolicyError(message, key=dotted_key("columns", weights[1].name, "role"))


def check_levels(columns: ColumnsByName, algorithm: str, *, joined: bool = False) -> None:
    """Refuse ranges and sets where they mean nothing: with Anatomy, and sets where tables are `joined`.

    Algorithms that choose no ranges or sets (all but those in `UNLEVELLED`) publish such a column as the value or
    ``*``.

    >>> from sfumato.hierarchy import Sets
    >>> check_levels({"town": Column("town", Role.QUASI, Sets())}, "optimal")
    >>> check_levels({"town": Column("town", Role.QUASI, Sets())}, "tds", joined=True)
    Traceback (most recent call last):
    sfumato.errors.PolicyError: columns.town.hierarchy: has no levels, which tds needs over a join; give levels, as in
    a file or "suppress"
    """
    for column in columns_with_role(columns, Role.QUASI):
        if column.hierarchy is None or column.hierarchy.levelled:
            continue
        if algorithm == "anatomy":
            why = "has no levels, and Anatomy publishes values as they are; leave the hierarchy out"
            raise PolicyError(why, key=dotted_key("columns", column.name, "hierarchy"))
        if joined and algorithm in CUTS and not isinstance(column.hierarchy, Ranges):
            why = f'has no levels, which {algorithm} needs over a join; give levels, as in a file or "suppress"'
            raise PolicyError(why, key=dotted_key("columns", column.name, "hierarchy"))


def check_models(columns: ColumnsByName, requirements: Sequence[models.AnyModel], tables: object) -> None:
    """Ask that columns which models look at are there and sensitive, and for persons where a model counts them.

    `tables` are the [[privacy]] tables that the models were read from, to find the key that names the column.

    >>> check_models({}, [], None)
    """
    entries = tables if isinstance(tables, list) else [{}] * len(requirements)
    for place, (model, table) in enumerate(zip(requirements, entries, strict=True)):
        if isinstance(model, models.Linkage | models.ExpectedAnonymity):
            continue
        for name in model.looks_at:
            _check_sensitive(name, columns, f"privacy[{place}]{_naming_key(table, name)}")
        if model.identity and not columns_with_role(columns, Role.INDIVIDUAL):
            way = 'give the column that says whose row it is role = "individual"'
            raise PolicyError(
                f"{model.name} counts individuals, and no column names them: {way}", key=f"privacy[{place}].model"
            )
    files: dict[object, object] = {}  # one column has one file of costs, since the audit keeps them by column
    for place, table in enumerate(entries):
        first = files.setdefault(table.get("column"), table["costs"]) if table.get("costs") else None
        if first is not None and first != table["costs"]:
            raise PolicyError(
                f"{quote(table['column'])} has the costs {quote(first)} already", key=f"privacy[{place}].costs"
            )


def _check_sensitive(name: str, columns: ColumnsByName, key: str) -> None:
    if name not in columns:
        hint = did_you_mean(name, [column.name for column in columns_with_role(columns, Role.SENSITIVE)])
        raise PolicyError(f"{quote(name)} is not one of [columns]{hint or '; list it there'}", key=key)
    if (role := columns[name].role) is not Role.SENSITIVE:
        way = 'name a sensitive column, or give it role = "sensitive"'
        raise PolicyError(f"{quote(name)} is of role {role}; {way}", key=key)


def _naming_key(table: Mapping[str, object], name: str) -> str:
    """Find the key of a [[privacy]] table that names a column."""
    several = table.get("columns")
    if isinstance(several, list) and name in several:
        return f".columns[{several.index(name)}]"
    return ".column" if table.get("column") == name else ""


def check_form(columns: ColumnsByName, privacy: Sequence[models.Model], document: PolicyDocument) -> None:
    """Ask of two tables that there is something to keep apart, and refuse keys that are not for the form.

    >>> check_form({}, (), {"publish": {"form": "lossy-join"}})
    Traceback (most recent call last):
    sfumato.errors.PolicyError: publish.form: lossy-join puts sensitive values into a table of their own, and no
    column is sensitive; give one role = "sensitive", or publish generalized
    """
    publish = _table(document, "publish")
    form, sensitive = publish.get("form", "generalized"), columns_with_role(columns, Role.SENSITIVE)
    _check_anatomy_algorithm(form, _table(document, "algorithm"))
    if form == "generalized":
        if "ss" in publish:
            why = "a generalized release is one table; leave it out, or choose form lossy-join or anatomy"
            raise PolicyError(why, key="publish.ss")
        return
    if not sensitive:
        why = f"{form} puts sensitive values into a table of their own, and no column is sensitive"
        raise PolicyError(f'{why}; give one role = "sensitive", or publish generalized', key="publish.form")
    if "ranges" in publish:
        raise PolicyError(f"{form} publishes values as they are, not ranges; leave it out", key="publish.ranges")
    if publish.get("numeric", "label") != "label":
        raise PolicyError(f"{form} publishes numbers as they are, without labels; leave it out", key="publish.numeric")
    if "ss" in publish and len(sensitive) == 1:
        why = "there is one sensitive column, and nothing to put together or apart; leave it out"
        raise PolicyError(why, key="publish.ss")
    for column in columns_with_role(columns, Role.QUASI):
        if column.least:
            why = f"{form} publishes quasi-identifiers as they are; leave it out, or publish generalized"
            raise PolicyError(why, key=dotted_key("columns", column.name, "least"))
    if form == "anatomy":
        find_anatomy_column(columns, privacy)  # raises where there are several


def _check_anatomy_algorithm(form: object, algorithm: Mapping[str, object]) -> None:
    """Ask that the algorithm and the form of that name go together, and refuse other keys of the algorithm."""
    name = algorithm.get("name", "auto")
    if name == "anatomy" and form != "anatomy":
        raise PolicyError('anatomy publishes two tables; write [publish] form = "anatomy"', key="algorithm.name")
    if form != "anatomy":
        return
    if name not in {"auto", "anatomy"}:
        way = f'leave it out, or write [publish] form = "lossy-join" for the classes that {name} makes'
        raise PolicyError(f"the form anatomy makes buckets of its own; {way}", key="algorithm.name")
    for key in ("metric", "improve"):
        if key in algorithm:
            why = "anatomy minimizes no loss of the quasi-identifiers; leave it out"
            raise PolicyError(why, key=f"algorithm.{key}")
    if "time_limit" in algorithm:
        why = "anatomy makes its buckets in one go, and has none to show before; leave it out"
        raise PolicyError(why, key="algorithm.time_limit")


def find_anatomy_column(columns: ColumnsByName, privacy: Sequence[models.Model]) -> str:
    """Find the one sensitive column that the requirements look at, or the only one there is."""
    required = list(dict.fromkeys(name for model in privacy for name in model.looks_at))
    names = required or [column.name for column in columns_with_role(columns, Role.SENSITIVE)]
    if len(names) > 1:
        why = f"anatomy makes its buckets of one sensitive column, and here are {listing(names)}"
        raise PolicyError(f"{why}; let the requirements look at one, or choose lossy-join", key="publish.form")
    return names[0]


def check_idle_keys(columns: ColumnsByName, algorithm: str, document: PolicyDocument) -> None:
    """Refuse keys that would change nothing: on ranges or persons where there are none, on improving one cut or level.

    >>> check_idle_keys({}, "optimal", {"algorithm": {"improve": True}})
    Traceback (most recent call last):
    sfumato.errors.PolicyError: algorithm.improve: optimal is not improved, since all values of a column keep one level;
    leave it out, or choose auto
    """
    options, publish = _table(document, "algorithm"), _table(document, "publish")
    if "ranges" in publish and not any(isinstance(column.hierarchy, Ranges) for column in columns.values()):
        way = "leave it out, or give a column hierarchy = { ranges = true }"
        raise PolicyError(f"no column is published as ranges; {way}", key="publish.ranges")
    if "ranges" in publish and algorithm == MICROAGGREGATION:
        way = "leave it out, and write aggregate for a column"
        raise PolicyError(f"microaggregation publishes numbers, not ranges; {way}", key="publish.ranges")
    if "ranges" in publish and algorithm not in {*UNLEVELLED, *CUTS, "anatomy"}:
        fault = f"{algorithm} chooses no ranges, and publishes the number or *"
        raise PolicyError(f"{fault}; leave it out, or choose auto or mondrian", key="publish.ranges")
    if publish.get("numeric", "label") != "label":
        numbers = [one for one in columns.values() if isinstance(one.hierarchy, Intervals | Ranges)]
        quasi = [one for one in numbers if one.role is Role.QUASI]
        if not quasi:
            way = "leave it out, or give a quasi-identifier intervals or ranges"
            raise PolicyError(f"no column is published as ranges of numbers; {way}", key="publish.numeric")
        if publish.get("ranges") == "means" and all(isinstance(one.hierarchy, Ranges) for one in quasi):
            raise PolicyError("means are numbers already; leave it out", key="publish.numeric")
        if algorithm == MICROAGGREGATION and all(aggregate_of(one) != "ancestor" for one in quasi):
            raise PolicyError("means, medians and modes are numbers already; leave it out", key="publish.numeric")
    global_recoding = algorithm in {*FULL_DOMAIN, *CUTS}
    if options.get("improve") is True and global_recoding:
        unit = "one level" if algorithm in FULL_DOMAIN else "one cut"
        message = f"{algorithm} is not improved, since all values of a column keep {unit}"
        raise PolicyError(f"{message}; leave it out, or choose auto", key="algorithm.improve")
    keep_together = options.get("keep_together")
    if keep_together is None:
        return
    why = None
    if not columns_with_role(columns, Role.INDIVIDUAL):
        why = 'it is about the rows of a person; leave it out, or give the column that names them role = "individual"'
    elif keep_together is False and global_recoding:
        why = f"{algorithm} keeps all rows with equal quasi-identifiers together; leave it out"
    elif keep_together is True and publish.get("form") == "anatomy":
        why = 'anatomy deals rows out one by one; leave it out, or write [publish] form = "lossy-join"'
    if why:
        raise PolicyError(why, key="algorithm.keep_together")


_X_ROLES = {Role.QUASI, Role.SENSITIVE, Role.PLAIN}
_X_WAY = "name a column that is published, and not one that names persons"
_Y_ROLES = {Role.SENSITIVE, Role.PLAIN, Role.INDIVIDUAL}
_Y_WAY = "y is what x is measured against and stays as it is: name a sensitive or plain column, or $row"


def check_linkage(
    columns: ColumnsByName, requirements: Sequence[models.AnyModel], previous: Sequence[PreviousRelease]
) -> None:
    """Ask of (X, Y)-models and rules that their columns are there and may be where they are, and that releases matter.

    >>> check_linkage({}, [], [])
    """
    linkage = {place: entry for place, entry in enumerate(requirements) if isinstance(entry, models.Linkage)}
    names = [release.name for release in previous]
    for place, entry in linkage.items():
        _check_releases(entry, names, f"privacy[{place}]")
        for key, roles, way in (("x", _X_ROLES, _X_WAY), ("y", _Y_ROLES, _Y_WAY)):
            for reference in (read_reference(name, names) for name in getattr(entry, key)):
                if str(reference) != models.ROW:
                    _find_column(reference, columns, names, f"privacy[{place}].{key}", roles, way)
    if previous and not linkage:
        why = "no requirement looks at earlier releases"
        raise PolicyError(f"{why}; add one of xy-anonymity or xy-linkability, or leave it out", key="previous")
    for place, release in enumerate(previous):
        for condition in (side for pair in release.inconsistent for side in pair):
            # A rule is about a column that is published, and whose values are in a taxonomy.
            key = f"previous[{place}].inconsistent"
            column = _find_column(condition.reference, columns, names, key, _X_ROLES, _X_WAY)
            if column is not None and column.hierarchy is not None and not column.hierarchy.levelled:
                message = f"{quote(column.name)} is published as ranges or sets, which a rule cannot be about"
                raise PolicyError(message, key=key)


def _check_releases(entry: models.Linkage, names: Sequence[str], key: str) -> None:
    """Ask that the releases of an entry are there, and that its columns are of those alone."""
    if entry.releases is None:
        return
    for name in entry.releases:
        if name not in names:
            hint = did_you_mean(name, names) or "; name those of [[previous]]"
            raise PolicyError(f"{quote(name)} is no earlier release{hint}", key=f"{key}.releases")
    for side in ("x", "y"):
        for reference in (read_reference(name, names) for name in getattr(entry, side)):
            if reference.table is not None and reference.table not in entry.releases:
                why = f"{quote(str(reference))} is of a release that is not joined"
                raise PolicyError(f"{why}; add {quote(reference.table)} to releases", key=f"{key}.{side}")


def _find_column(
    reference: ColumnReference, columns: ColumnsByName, names: Sequence[str], key: str, roles: set[Role], way: str
) -> Column | None:
    """Find a column of the current table that has one of these roles; None for a column of an earlier release."""
    if reference.table is not None:
        return None
    name = reference.column
    if name not in columns:
        alike = [*columns, *(f"{release}.{name.rpartition('.')[2]}" for release in names), models.ROW]
        hint = did_you_mean(name, alike) or "; columns of an earlier release are written name.column"
        raise PolicyError(f"{quote(name)} is not one of [columns]{hint}", key=key)
    if (role := columns[name].role) not in roles:
        raise PolicyError(f"{quote(name)} is of role {role}; {way}", key=key)
    return columns[name]


def check_join_algorithm(document: PolicyDocument) -> None:
    """Ask for an algorithm, and a form, that can take a join with earlier releases into account; auto chooses tds then.

    >>> check_join_algorithm({"algorithm": {"name": "mondrian"}})
    Traceback (most recent call last):
    sfumato.errors.PolicyError: algorithm.name: mondrian does not look at joins; write tds, or leave it out
    """
    algorithm, publish = _table(document, "algorithm"), _table(document, "publish")
    if algorithm.get("name", "auto") not in {"auto", "tds"}:
        why = f"{algorithm['name']} does not look at joins; write tds, or leave it out"
        raise PolicyError(why, key="algorithm.name")
    if algorithm.get("suppression"):
        why = "the (X, Y)-models are met by generalizing; leave it out, or take rows away before"
        raise PolicyError(why, key="algorithm.suppression")
    if publish.get("form", "generalized") != "generalized":
        why = f"{publish['form']} publishes values as they are, and an (X, Y)-model needs them generalized"
        raise PolicyError(f'{why}; write form = "generalized"', key="publish.form")


def check_specialization(columns: ColumnsByName, algorithm: str, document: PolicyDocument) -> None:
    """Ask for a class column where the score needs one, and refuse the keys of scores with other algorithms.

    >>> check_specialization({}, "tds", {"algorithm": {"score": "classification"}})
    Traceback (most recent call last):
    sfumato.errors.PolicyError: algorithm.class: is missing, and the score classification needs it: name the
    column whose values are to be told apart; it is published as it is, so sensitive or plain
    """
    options, publish = _table(document, "algorithm"), _table(document, "publish")
    if algorithm not in CUTS:
        for key in SPECIALIZATION_KEYS:
            if key in options:
                raise PolicyError(f"is for tds, and the algorithm is {algorithm}; leave it out", key=f"algorithm.{key}")
        return
    if "metric" in options:
        raise PolicyError("tds goes by its score; leave it out, or write score", key="algorithm.metric")
    if publish.get("ranges") == "means":
        why = "tds publishes the ranges that it has cut, not means; write partition or boxes"
        raise PolicyError(why, key="publish.ranges")
    fault = _find_class_fault(columns, options.get("class"), options.get("score"))
    if fault:
        raise PolicyError(fault, key="algorithm.class")


def _find_class_fault(columns: ColumnsByName, name: object, score: object) -> str | None:
    """Say what is wrong with the class column of a specialization, given its score, if anything is."""
    way = "name the column whose values are to be told apart; it is published as it is, so sensitive or plain"
    if name is None:
        return f"is missing, and the score {score} needs it: {way}" if score in CLASSIFYING else None
    if score is not None and score not in CLASSIFYING:
        return f"a class is for the scores classification and conditional, and the score is {score}; leave it out"
    if name not in columns:
        return f"{quote(name)} is not one of [columns]{did_you_mean(str(name), columns) or f'; {way}'}"
    if (role := columns[str(name)].role) not in {Role.SENSITIVE, Role.PLAIN}:
        return f"{quote(name)} is of role {role}; {way}"
    return None


def check_apply(columns: ColumnsByName, publish: PublishOptions, document: PolicyDocument) -> None:
    """Refuse to speak of further rows where none can be added.

    >>> check_apply({}, PublishOptions("anatomy"), {"apply": {"suppression": 0.1}})
    Traceback (most recent call last):
    sfumato.errors.PolicyError: apply: a release of the form anatomy has buckets and not labels that further rows could
    be given; make a release of all rows with sfumato anonymize; leave it out
    """
    algorithm = str(_table(document, "algorithm").get("name", "auto"))
    obstacle = find_apply_obstacle(columns, publish, algorithm)
    if "apply" in document and obstacle:
        raise PolicyError(f"{obstacle}; leave it out", key="apply")


def find_apply_obstacle(columns: ColumnsByName, publish: PublishOptions, algorithm: str) -> str | None:
    """Say why further rows cannot be published under the labels of such a release, and what to do, if they cannot."""
    way = "make a release of all rows with sfumato anonymize"
    individual = next(iter(columns_with_role(columns, Role.INDIVIDUAL)), None)
    if publish.drawn:
        return f"a release of the form {publish.form} has no labels that further rows could be given; {way}"
    if publish.split:
        what = "buckets" if publish.form == "anatomy" else "class numbers"
        return f"a release of the form {publish.form} has {what} and not labels that further rows could be given; {way}"
    if individual is not None:
        why = "a person may have rows among the old and among the new ones, under two pseudonyms"
        return f"{quote(individual.name)} names persons, whom k and l count, and {why}; {way}"
    if algorithm == MICROAGGREGATION:
        aggregates = {aggregate_of(column) for column in columns_with_role(columns, Role.QUASI)} - {"ancestor"}
        if aggregates:
            one = next(name for name in AGGREGATE_FORMS if name in aggregates)
            return (
                f"the {one} of a class is not that of further rows, and does not say which values it stands for; {way}"
            )
    if publish.ranges == "means" and any(isinstance(column.hierarchy, Ranges) for column in columns.values()):
        return f"the mean of a class is not that of further rows, and does not say which numbers it stands for; {way}"
    return None


_DRAWN_MODELS = ("k-anonymity", "identity-k-anonymity")
_IDLE_WHERE_DRAWN = {
    "algorithm": ("time_limit", "metric", "improve", "keep_together", *SPECIALIZATION_KEYS),
    "publish": ("ranges", "numeric", "ss"),
}


def check_drawn(columns: ColumnsByName, requirements: Sequence[models.AnyModel], document: PolicyDocument) -> None:
    """Ask of a release of drawn rows that its policy says nothing that is about rows of people, and the reverse.

    >>> check_drawn({}, (), {"algorithm": {"multiple": 3}})
    Traceback (most recent call last):
    sfumato.errors.PolicyError: algorithm.multiple: is for condensation, which [publish] form = "synthetic" asks for;
    leave it out
    """
    algorithm, publish = _table(document, "algorithm"), _table(document, "publish")
    form, name = publish.get("form", "generalized"), algorithm.get("name", "auto")
    if form == "uncertain":
        _check_uncertain(columns, requirements, document)
        return
    _refuse_densities(requirements, publish)
    if form not in DRAWN_FORMS:
        _refuse_drawing(algorithm, _table(document, "columns"))
        return
    if name not in {"auto", "condensation"}:
        way = "leave it out, or publish generalized"
        raise PolicyError(f"the form {form} comes of condensation; {way}", key="algorithm.name")
    if algorithm.get("suppression"):
        why = "no row is dropped where all give their part to what is drawn; leave it out"
        raise PolicyError(why, key="algorithm.suppression")
    for table, keys in _IDLE_WHERE_DRAWN.items():
        for key in keys:
            if key in _table(document, table):
                raise PolicyError(f"is not for the form {form}; leave it out", key=f"{table}.{key}")
    for place, model in enumerate(requirements):
        if model.name not in _DRAWN_MODELS:
            why = f"the form {form} promises how many each drawn row stands for, and nothing of single values"
            raise PolicyError(f"{why}; ask for {' or '.join(_DRAWN_MODELS)}", key=f"privacy[{place}].model")
    _check_drawn_columns(columns, algorithm, document)


def _refuse_drawing(algorithm: Mapping[str, object], columns: Mapping[str, object]) -> None:
    """Refuse what is about drawn rows, where rows of people are published."""
    if algorithm.get("name") == "condensation":
        why = "condensation publishes rows that are nobody's"
        raise PolicyError(f'{why}; write [publish] form = "synthetic"', key="algorithm.name")
    for key in DRAWING_KEYS:
        if key in algorithm:
            why = 'is for condensation, which [publish] form = "synthetic" asks for; leave it out'
            raise PolicyError(why, key=f"algorithm.{key}")
    for key in CLUSTERING_KEYS:
        if key in algorithm and algorithm.get("name") != MICROAGGREGATION:
            why = 'is for microaggregation, and for condensation, which [publish] form = "synthetic" asks for'
            raise PolicyError(f"{why}; leave it out", key=f"algorithm.{key}")
    for column, entry in columns.items():
        for key in DRAWN_KEYS:
            if isinstance(entry, Mapping) and key in entry:
                why = 'is for values that are drawn, as [publish] form = "synthetic" asks for; leave it out'
                raise PolicyError(why, key=dotted_key("columns", column, key))


def _check_drawn_columns(columns: ColumnsByName, algorithm: Mapping[str, object], document: PolicyDocument) -> None:
    """Refuse what is said of a column that is not drawn, and strata that are none."""
    published = [column for column in columns.values() if column.role not in {Role.IDENTIFIER, Role.INDIVIDUAL}]
    if not published:
        raise PolicyError("no column is left to be drawn; give one another role than identifier", key="columns")
    written = _table(document, "columns")
    for column in columns.values():
        entry = written.get(column.name)
        given = entry if isinstance(entry, Mapping) else {}
        for key in ("least", "weight", "public_domain", "aggregate", "key"):
            if key in given:
                why = "is about values that are told, and these are drawn; leave it out"
                raise PolicyError(why, key=dotted_key("columns", column.name, key))
        for key in DRAWN_KEYS:
            if key in given and column not in published:
                why = f"a column of role {column.role} is not drawn; leave it out"
                raise PolicyError(why, key=dotted_key("columns", column.name, key))
            if key in {"bounds", "atoms"} and key in given and column.kind == "category":
                raise PolicyError("a category has none; leave it out", key=dotted_key("columns", column.name, key))
    _check_strata(columns, algorithm)


def _check_strata(columns: ColumnsByName, algorithm: Mapping[str, object]) -> None:
    """Ask that strata are published columns."""
    strata = algorithm.get("strata")
    for name in strata if isinstance(strata, list) else []:
        if name not in columns:
            hint = did_you_mean(str(name), columns) or "; name columns of the table"
            raise PolicyError(f"{quote(name)} is not one of [columns]{hint}", key="algorithm.strata")
        if columns[name].role in {Role.IDENTIFIER, Role.INDIVIDUAL}:
            why = f"{quote(name)} is of role {columns[name].role}, and is not published; name another column"
            raise PolicyError(why, key="algorithm.strata")


_IDLE_WHERE_UNCERTAIN = {
    "algorithm": (
        *("time_limit", "metric", "improve", "keep_together"),
        *SPECIALIZATION_KEYS,
        "clustering",
        *DRAWING_KEYS,
    ),
    "publish": ("ranges", "numeric", "ss"),
}


def _refuse_densities(requirements: Sequence[models.AnyModel], publish: Mapping[str, object]) -> None:
    """Refuse what is about densities, where rows are published."""
    for place, model in enumerate(requirements):
        if isinstance(model, models.ExpectedAnonymity):
            why = 'is of records that are published as densities; write [publish] form = "uncertain", or ask for '
            raise PolicyError(f"expected-anonymity {why}k-anonymity", key=f"privacy[{place}].model")
    for key in DENSITY_KEYS:
        if key in publish:
            why = 'is for records that are published as densities, [publish] form = "uncertain"; leave it out'
            raise PolicyError(why, key=f"publish.{key}")


def _check_uncertain(columns: ColumnsByName, requirements: Sequence[models.AnyModel], document: PolicyDocument) -> None:
    """Ask of a release of densities that it promises what densities can keep, and says nothing of anything else.

    >>> _check_uncertain({}, [models.KAnonymity(5)], {})
    Traceback (most recent call last):
    sfumato.errors.PolicyError: privacy[0].model: a density may be matched with its own record alone, however wide it
    is; what the form uncertain promises is an average: write model = "expected-anonymity"
    """
    algorithm, written = _table(document, "algorithm"), _table(document, "columns")
    for place, model in enumerate(requirements):
        if not isinstance(model, models.ExpectedAnonymity):
            why = "a density may be matched with its own record alone, however wide it is; what the form uncertain "
            why += 'promises is an average: write model = "expected-anonymity"'
            raise PolicyError(why, key=f"privacy[{place}].model")
    if algorithm.get("name", "auto") != "auto":
        way = "leave it out, or publish generalized"
        raise PolicyError(f"the form uncertain finds spreads by itself; {way}", key="algorithm.name")
    if algorithm.get("suppression"):
        raise PolicyError("no row is dropped where all are densities; leave it out", key="algorithm.suppression")
    for table, keys in _IDLE_WHERE_UNCERTAIN.items():
        for key in keys:
            if key in _table(document, table):
                raise PolicyError("is not for the form uncertain; leave it out", key=f"{table}.{key}")
    _check_strata(columns, algorithm)
    strata = algorithm.get("strata")
    told = strata if isinstance(strata, list) else []
    if not any(column.role is Role.QUASI and column.name not in told for column in columns.values()):
        way = 'give columns of numbers or dates that others may know role = "quasi"'
        raise PolicyError(f"no column is left to be a density; {way}", key="columns")
    for column in columns.values():
        if column.role in {Role.INDIVIDUAL, Role.WEIGHT}:
            why = {
                Role.INDIVIDUAL: "expected anonymity counts rows, and rows of one person hide nobody; publish one row "
                "for each person, or rows that are drawn (synthetic), of which people are counted",
                Role.WEIGHT: "sampling weights are told exactly, and would tell records apart; make them plain where "
                "they do not, or leave them out as identifier",
            }[column.role]
            raise PolicyError(why, key=dotted_key("columns", column.name, "role"))
        entry = written.get(column.name)
        given = entry if isinstance(entry, Mapping) else {}
        uncertain = column.role is Role.QUASI and column.name not in told
        for key in ("least", "weight", "public_domain", "key", *(() if uncertain else DRAWN_KEYS)):
            if key in given:
                why = "is about labels, and here are none" if uncertain else "this column is published as it is"
                raise PolicyError(f"{why}; leave it out", key=dotted_key("columns", column.name, key))
        if given.get("kind") == "category" and uncertain:
            why = "a density is of numbers or dates; name the column in [algorithm] strata, so that records are matched"
            raise PolicyError(f"{why} within each of its values", key=dotted_key("columns", column.name, "kind"))


def _table(document: PolicyDocument, name: str) -> Mapping[str, object]:
    """Look up a table of the document as it was written, or an empty one."""
    table = document.get(name)
    return table if isinstance(table, Mapping) else {}
