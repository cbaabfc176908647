"""Policy: everything about a publication, built in code or read from a TOML file or a dict, checked, and frozen.

`Policy` is the value, `load` makes it from a path, a dict or a policy; errors in a file say the line. However it is
made, its tables are copied into what JSON can hold and read by the same reader, so that what is checked is what the
audit will show.
"""

import dataclasses
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, time
from math import isfinite
from numbers import Integral
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any, Self

from sfumato import models
from sfumato.core.regular_file import read_regular_file
from sfumato.errors import PolicyError, UnreadableFile
from sfumato.hierarchy import File, LabelFunction, Ranges
from sfumato.page.display import Display, FigureTable, Shown
from sfumato.page.wording import keys as write_keys
from sfumato.page.wording import percent, plural
from sfumato.policy.class_aggregates import AGGREGATE_FORMS, MICROAGGREGATION, aggregate_of, check_microaggregation
from sfumato.policy.column_masks import describe_masks
from sfumato.policy.column_patterns import is_pattern, match_columns
from sfumato.policy.columns import Column, Role, check_key_file, columns_with_role, read_columns
from sfumato.policy.options import (
    AlgorithmOptions,
    ApplyOptions,
    DataSource,
    PublishOptions,
    check_target_apart,
    fitting_options,
    read_algorithm_options,
    read_apply_options,
    read_data_source,
    read_publish_options,
)
from sfumato.policy.policy_file import move_paths, save_policy_file
from sfumato.policy.previous_releases import PreviousRelease, read_previous_releases
from sfumato.policy.requirements import (
    check_apply,
    check_columns,
    check_drawn,
    check_form,
    check_idle_keys,
    check_join_algorithm,
    check_levels,
    check_linkage,
    check_models,
    check_persons_and_weights,
    check_specialization,
    find_anatomy_column,
    read_requirements,
)
from sfumato.policy.section import Section, describe_value, require_table
from sfumato.policy.toml_text import dotted_key, find_line, write_toml, write_value

POLICY_KEYS = ("data", "columns", "privacy", "previous", "algorithm", "publish", "apply")


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Policy(Shown):
    """What is published of which table, and what is promised to the people in it.

    `columns` has for each column, or pattern of columns, what `sf.quasi`, `sf.sensitive` and the others make, or a
    table as in a policy file. `privacy` are models, such as ``sf.KAnonymity(5)``, or tables. `algorithm` is a name or a
    table, `publish`, `data` and `previous` are tables as in a policy file. Paths start at `folder`, or where the
    program runs. Two policies are equal that ask for the same, however they were made.

    A policy that exists is one that makes sense: its parts are checked against each other when it is
    made. `requirements` are all promises: `privacy` those on classes, `linkage` those on the join with the earlier
    releases, which are `previous`. Where it is `lenient`, these are checked of whatever algorithm the policy names, and
    not looked at by its search. `apply` is about further rows under the labels of a release. `document` holds the
    tables it was read from, as JSON could, for the audit; `folder` is where its paths start. Where `columns` has
    patterns, `for_table` gives the policy of a table: it is `settled`, and `matched` says which columns each pattern
    became.

    >>> policy = Policy.read(
    ...     {
    ...         "columns": {"sex": {"role": "quasi", "hierarchy": "suppress"}, "visits": {"role": "plain"}},
    ...         "privacy": [{"model": "k-anonymity", "k": 5}],
    ...     }
    ... )
    >>> [column.name for column in policy.quasi], policy.individual, policy.search.name
    (['sex'], None, 'auto')
    >>> policy.replace(algorithm="optimal", seed=1).document["algorithm"]
    {'name': 'optimal', 'seed': 1}
    """

    source: DataSource
    columns: Mapping[str, Column]
    requirements: tuple[models.AnyModel, ...]
    search: AlgorithmOptions
    publish: PublishOptions
    document: Mapping[str, object]
    folder: Path = Path()
    previous: tuple[PreviousRelease, ...] = ()
    lenient: bool = False
    apply: ApplyOptions = field(default_factory=ApplyOptions)
    matched: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    settled: bool = False

    def __init__(  # noqa: PLR0913 - a policy has as many tables
        self,
        columns: Mapping[str, Any],
        privacy: Any = (),
        *,
        algorithm: str | Mapping[str, Any] | None = None,
        publish: Any = None,
        data: Any = None,
        previous: Any = None,
        apply: Any = None,
        folder: str | os.PathLike[str] | None = None,
        **parts: Any,
    ) -> None:
        if "document" not in parts:
            written = {
                "data": {"source": data} if isinstance(data, str | PurePath) else data,
                "columns": columns,
                "privacy": _write_requirements(privacy),
                "previous": previous,
                "algorithm": {"name": algorithm} if isinstance(algorithm, str) else algorithm,
                "publish": publish,
                "apply": apply,
            }
            tables = {name: table for name, table in written.items() if table is not None}
            parts = _read_parts(tables, Path() if folder is None else Path(folder), **parts)
        else:  # dataclasses.replace gives every part by its name
            parts |= {"columns": columns, "publish": publish, "previous": previous, "apply": apply, "folder": folder}
        for each in dataclasses.fields(self):
            default = each.default_factory() if callable(each.default_factory) else each.default
            object.__setattr__(self, each.name, parts.pop(each.name, default))
        if parts:
            raise TypeError(f"Policy() got an unexpected keyword argument '{next(iter(parts))}'")
        self._check()

    @classmethod
    def read(cls, policy: Mapping[str, object], *, folder: Path | None = None, lenient: bool = False) -> Self:
        """Read a policy from its tables; paths start at `folder`, or where the program runs."""
        return cls(**_read_parts(policy, folder or Path(), lenient=lenient))

    def _check(self) -> None:
        columns = self._checked_columns()
        check_target_apart(self.source, self.publish.to)
        check_drawn(columns, self.requirements, self.document)
        if self.publish.drawn:
            check_persons_and_weights(columns)
            check_models(columns, self.requirements, self.document.get("privacy"))
            check_linkage(columns, self.requirements, self.previous)
            check_apply(columns, self.publish, self.document)
            return
        check_columns(columns)
        check_levels(columns, self.recoder, joined=bool(self.linkage))
        check_models(columns, self.requirements, self.document.get("privacy"))
        check_form(columns, self.privacy, self.document)
        check_idle_keys(columns, self.recoder, self.document)
        check_linkage(columns, self.requirements, self.previous)
        if self.linkage and not self.lenient:
            check_join_algorithm(self.document)
        check_specialization(columns, self.recoder, self.document)
        check_microaggregation(columns, self.recoder, self.requirements, self.document)
        check_apply(columns, self.publish, self.document)

    def _checked_columns(self) -> Mapping[str, Column]:
        """The columns as far as they are known: of a pattern those that the policy mentions elsewhere, else itself."""
        if not self.patterns:
            return self.columns
        mentioned = [name for model in self.privacy for name in model.looks_at]
        mentioned += [name for entry in self.linkage for name in (*entry.x, *entry.y)]
        mentioned += [*([self.search.class_column] if self.search.class_column else []), *self.search.strata]
        known, became = match_columns(self.columns, list(dict.fromkeys(mentioned)), whole=False)
        return known | {name: self.columns[name] for name, matched in became.items() if not matched}

    def __repr__(self) -> str:
        """In one line, with names of columns and models alone."""
        roles = (f"{len(columns)} {role}" for role in Role if (columns := self.with_role(role)))
        promises = ", ".join(write_requirement(entry) for entry in self.requirements)
        return f"<Policy: {', '.join(roles)}; {promises}; {self.search.name}>"

    def display(self) -> Display:
        """Show the role of each column, how it is generalized, and what is promised."""
        written = require_table(self.document.get("columns", {}), "columns")
        columns, masked = [], []
        for name, column in self.columns.items():
            entry: Any = written.get(name, {})
            how = entry.get("hierarchy", "") if isinstance(entry, Mapping) else ""
            if isinstance(column.hierarchy, File) and column.hierarchy.written is not None:
                how = plural(len(column.hierarchy.codes), "line")
            elif isinstance(column.hierarchy, LabelFunction):
                how = f"the function {column.hierarchy.name}"
            columns.append((name, str(column.role), how if isinstance(how, str) else write_value(how)))
            if column.masks:
                masked.append((name, describe_masks(column.masks)))
        promises = [(entry.name, write_keys(entry.required)) for entry in self.requirements]
        tables = [FigureTable(("column", "role", "generalized by"), columns), FigureTable(("promise", ""), promises)]
        tables += [FigureTable(("column", "masked by"), masked)] if masked else []
        drop = (
            f", at most {percent(float(self.search.suppression))} of the rows dropped"
            if self.search.suppression
            else ""
        )
        return Display("policy", tables, (f"algorithm {self.search.name}{drop}; published {self.publish.form}",))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Policy) and self._meaning() == other._meaning()

    def __hash__(self) -> int:
        return hash((frozenset(self.columns), self.search))

    def _meaning(self) -> tuple[object, ...]:
        """All that a policy says, paths as they lead from anywhere."""

        def place(path: Path | None) -> str | None:
            return None if path is None else os.path.abspath(path)  # noqa: PTH100 - a link stays what it is

        columns = {name: dataclasses.replace(one, key=None) for name, one in self.columns.items()}
        keys = {name: place(one.key) for name, one in self.columns.items()}
        earlier = [(dataclasses.replace(one, path=Path()), place(one.path)) for one in self.previous]
        target, url = self.publish.to, self.source.url
        to = None if target is None else (target.table, target.url.kind, place(target.url.file) or target.url.text)
        publish = (dataclasses.replace(self.publish, sign=None, to=None), place(self.publish.sign), to)
        where = place(self.source.path) or (None if url is None else url.text)
        source = (dataclasses.replace(self.source, path=None, url=None), where)
        promises = [(entry.name, entry.required | _costs_of(entry)) for entry in self.requirements]
        return source, columns, keys, promises, self.search, publish, self.apply, earlier, self.lenient

    @property
    def patterns(self) -> tuple[str, ...]:
        """The names among `columns` that may be patterns; none in the policy of a table."""
        return () if self.settled else tuple(name for name in self.columns if is_pattern(name))

    @property
    def functions(self) -> tuple[Column, ...]:
        """The columns whose hierarchy is a function of Python, which is lines as soon as a table is known."""
        return tuple(column for column in self.columns.values() if isinstance(column.hierarchy, LabelFunction))

    def for_table(self, names: Sequence[str], *, whole: bool = True) -> Self:
        """Give the policy of a table with these columns: each pattern is replaced by the columns that it matches.

        Where `names` are not the `whole` table, as of a release without its identifiers, a pattern may match nothing.

        >>> k = {"model": "k-anonymity", "k": 2}
        >>> columns = {"lab_*": {"role": "plain"}, "age": {"role": "quasi", "hierarchy": "suppress"}}
        >>> list(Policy.read({"columns": columns, "privacy": [k]}).for_table(["age", "lab_na"]).columns)
        ['lab_na', 'age']
        """
        if not self.patterns:
            return self
        columns, matched = match_columns(self.columns, names, whole=whole)
        became = {name: pattern for pattern, found in matched.items() for name in found}
        written = require_table(self.document["columns"], "columns")
        tables = {name: written[became.get(name, name)] for name in columns}
        return dataclasses.replace(
            self,
            columns=MappingProxyType(columns),
            document={**self.document, "columns": tables},
            matched=MappingProxyType(matched),
            settled=True,
        )

    @property
    def stated(self) -> tuple[models.AnyModel, ...]:
        """The same as `requirements`, by its earlier name."""
        return self.requirements

    @property
    def privacy(self) -> tuple[models.Model, ...]:
        """The requirements on every class of the published table."""
        others = (models.Linkage, models.ExpectedAnonymity)
        return tuple(entry for entry in self.requirements if not isinstance(entry, others))

    @property
    def linkage(self) -> tuple[models.Linkage, ...]:
        """The requirements on the join with earlier releases."""
        return tuple(entry for entry in self.requirements if isinstance(entry, models.Linkage))

    @property
    def recoder(self) -> str:
        """The algorithm by name; ``auto`` means ``tds`` where a join is looked at, and where rows are drawn theirs."""
        if self.publish.drawn:
            return "condensation" if self.publish.form == "synthetic" else "densities"
        return "tds" if self.search.name == "auto" and self.linkage and not self.lenient else self.search.name

    def aggregate(self, name: str) -> str | None:
        """What is published of a quasi-identifier for each class, where the algorithm aggregates: mean, …, ancestor.

        In a stratum, all rows have one value, which is its own ancestor.
        """
        if self.recoder != MICROAGGREGATION or self.publish.split:
            return None
        return "ancestor" if name in self.search.strata else aggregate_of(self.columns[name])

    def aggregate_form(self, name: str) -> str | None:
        """How labels of a quasi-identifier are made, where they do not say what they cover: means, medians or modes.

        >>> columns = {"age": {"role": "quasi", "hierarchy": {"intervals": [5]}}}
        >>> policy = Policy(columns, [{"model": "k-anonymity", "k": 3}], algorithm="microaggregation")
        >>> policy.aggregate_form("age")
        'means'
        """
        if (aggregate := self.aggregate(name)) is not None:
            return AGGREGATE_FORMS.get(aggregate)
        means = self.publish.ranges == "means" and isinstance(self.columns[name].hierarchy, Ranges)
        return "means" if means else None

    def with_role(self, role: Role) -> tuple[Column, ...]:
        """List the columns of this role, in the order of the policy."""
        return columns_with_role(self.columns, role)

    @property
    def identifiers(self) -> tuple[Column, ...]:
        """The columns that are never published."""
        return self.with_role(Role.IDENTIFIER)

    @property
    def individual(self) -> Column | None:
        """The column that says which rows are the same person's, if any does."""
        return next(iter(self.with_role(Role.INDIVIDUAL)), None)

    @property
    def quasi(self) -> tuple[Column, ...]:
        """The columns that are generalized."""
        return self.with_role(Role.QUASI)

    @property
    def sensitive(self) -> tuple[Column, ...]:
        """The columns that nobody may learn of a person."""
        return self.with_role(Role.SENSITIVE)

    @property
    def plain(self) -> tuple[Column, ...]:
        """The columns that are published as they are."""
        return self.with_role(Role.PLAIN)

    @property
    def sampling_weight(self) -> Column | None:
        """The column of sampling weights, if there is one."""
        return next(iter(self.with_role(Role.WEIGHT)), None)

    @property
    def ungeneralized(self) -> tuple[Column, ...]:
        """The columns that are published in every row by itself: plain ones, and sampling weights."""
        return tuple(column for column in self.columns.values() if column.role in {Role.PLAIN, Role.WEIGHT})

    @property
    def masked(self) -> tuple[Column, ...]:
        """The columns whose values are masked before anything else is done with them."""
        return tuple(column for column in self.columns.values() if column.masks)

    @property
    def anatomized(self) -> str:
        """The sensitive column whose values the buckets of Anatomy are made of."""
        return find_anatomy_column(self.columns, self.privacy)

    def with_lines(self, lines: Mapping[str, Sequence[Sequence[str]]]) -> Self:
        """Replace the hierarchies of columns by these lines, as a hierarchy file has them."""
        written = require_table(self.document["columns"], "columns")
        tables = {name: {**require_table(written[name], name), "hierarchy": {"lines": lines[name]}} for name in lines}
        trees = {
            name: dataclasses.replace(self.columns[name], hierarchy=File.from_lines(every))
            for name, every in lines.items()
        }
        return dataclasses.replace(
            self,
            columns=MappingProxyType({**self.columns, **trees}),
            document={**self.document, "columns": {**written, **tables}},
        )

    def to_toml(self) -> str:
        """Write the policy as the text of its file; `load_policy` of that file, in the same folder, is an equal policy.

        >>> k = {"model": "k-anonymity", "k": 2}
        >>> print(Policy(columns={"sex": {"role": "quasi", "hierarchy": "suppress"}}, privacy=[k]).to_toml())
        [columns]
        sex = { role = "quasi", hierarchy = "suppress" }
        <BLANKLINE>
        [[privacy]]
        model = "k-anonymity"
        k = 2
        <BLANKLINE>
        """
        for column in self.functions:
            assert isinstance(column.hierarchy, LabelFunction)  # noqa: S101 - this tells the type checker
            raise PolicyError(column.hierarchy.unsettled().message, key=dotted_key("columns", column.name, "hierarchy"))
        return write_toml(self.document)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the policy to a file, and hierarchies that are in no file yet into a folder beside it.

        Relative paths are written as they lead from there. What is there is not replaced, unless `force` says so.
        """
        self.to_toml()  # says what cannot be written before anything is
        target = Path(path)
        document = move_paths(self.document, self.folder, target.parent)
        lines = {
            name: column.hierarchy.written
            for name, column in self.columns.items()
            if isinstance(column.hierarchy, File) and column.hierarchy.written is not None
        }
        save_policy_file(target, document, lines, force=force)
        return target

    def replace(
        self,
        *,
        source: str | Path | None = None,
        algorithm: str | None = None,
        seed: int | None = None,
        time_limit: float | None = None,
        sign: str | Path | None = None,
    ) -> Self:
        """Replace what the command line overrides; a relative `source` or `sign` starts where the program runs.

        With another `source`, keys of [data] that are of another kind of table go: a query, for one that is a file.
        """
        document = _override(self.document, "data", source=source)
        if source is not None:
            document["data"] = fitting_options(require_table(document["data"], "data"), source)
        document = _override(document, "publish", sign=sign)
        document = _override(document, "algorithm", name=algorithm, seed=seed, time_limit=time_limit)
        # Paths of the policy itself started at its own folder, so they are not read a second time.
        return dataclasses.replace(
            self,
            source=self.source if source is None else read_data_source(document["data"], folder=Path()),
            search=read_algorithm_options(document.get("algorithm", {})),
            publish=self.publish if sign is None else dataclasses.replace(self.publish, sign=Path(sign)),
            document=document,
        )


def _override(document: Mapping[str, object], key: str, **changes: object) -> dict[str, object]:
    """Copy the document with changes to one of its tables; a change to None is none."""
    values = {name: _plain_value(value, f"{key}.{name}") for name, value in changes.items() if value is not None}
    table = {**require_table(document.get(key, {}), key), **values}
    return {**document, key: table} if values else dict(document)


def _read_parts(policy: Mapping[str, object], folder: Path, *, lenient: bool = False) -> dict[str, Any]:
    """Read the parts of a policy from its tables: the one way in which every policy is read."""
    document = plain_tables(policy)
    Section.from_value(document, "", POLICY_KEYS)
    publish = read_publish_options(document.get("publish", {}), folder=folder)
    return {
        "source": read_data_source(document.get("data", {}), folder=folder),
        "columns": read_columns(
            document.get("columns"), folder=folder, levels=publish.form != "anatomy", drawn=publish.drawn
        ),
        "requirements": read_requirements(document.get("privacy"), folder=folder),
        "previous": read_previous_releases(document.get("previous"), folder=folder),
        "search": read_algorithm_options(document.get("algorithm", {})),
        "publish": publish,
        "apply": read_apply_options(document.get("apply", {})),
        "document": document,
        "folder": folder,
        "lenient": lenient,
    }


def _write_requirements(privacy: Any) -> object:
    """Write models as [[privacy]] tables; tables stay as they are."""
    if isinstance(privacy, Mapping) or hasattr(privacy, "required"):
        privacy = [privacy]
    if isinstance(privacy, str) or not isinstance(privacy, Iterable):
        return privacy  # the reader says what is wrong with it
    return [{"model": one.name, **one.required} if hasattr(one, "required") else one for one in privacy]


def _costs_of(entry: models.AnyModel) -> dict[str, object]:
    """The costs of a distance by what they are, in place of the name of their file."""
    costs = getattr(entry, "costs", None)
    return {} if costs is None else {"costs": dict(costs.pairs)}


def write_requirement(entry: models.AnyModel) -> str:
    """Write a requirement in a few words.

    >>> write_requirement(models.KAnonymity(5))
    'k-anonymity (k = 5)'
    """
    return f"{entry.name} ({write_keys(entry.required)})"


def load(policy: str | os.PathLike[str] | Mapping[str, object] | Policy) -> Policy:
    """Load the policy of a TOML file, or of a dict of the same shape; a policy is returned as it is.

    Paths in a file are relative to the file, those in a dict to where the program runs.

    Raises:
        PolicyError: the file cannot be read, or says something that means nothing; names the key and,
            of a file, the line.

    >>> load({"columns": {"age": {"role": "quasi"}}})
    Traceback (most recent call last):
    sfumato.errors.PolicyError: columns.age.hierarchy: is missing, and a quasi-identifier needs one;
    write hierarchy = "suppress" as the simplest, or of numbers { intervals = [5, 10, 20] }
    """
    match policy:
        case Policy():
            return policy
        case Mapping():
            return Policy.read(policy)
        case str() | os.PathLike():
            return _load_file(Path(policy))
    type_name = type(policy).__name__  # not its text: whoever swaps arguments hands in a table of people
    raise PolicyError(f"a policy is the path of a TOML file or a dict of its tables, not {type_name}")


_LARGEST_FILE = 1 << 24


def _load_file(path: Path) -> Policy:
    text = _read_text(path)
    try:
        tables = tomllib.loads(text)
    except ValueError as error:  # tomllib's own, with the line, or Python's of a number with too many digits
        raise PolicyError(f"{path} is not valid TOML: {error}") from None
    except RecursionError:
        raise PolicyError(f"{path} is nested too deeply to be read") from None
    if not tables:
        raise PolicyError(f"{path} is empty; a policy says at least [columns] and [[privacy]]")
    try:
        policy = Policy.read(tables, folder=path.parent)
        check_key_file(policy.columns, path, "the policy itself")
    except PolicyError as error:
        line = find_line(text, error.key)
        with_line = PolicyError(f"{path}, line {line}: {error}" if line else f"{path}: {error}")
        with_line.key = error.key
        raise with_line from error
    return policy


def read_policy_file(path: Path) -> bytes:
    """Read the bytes of a policy file; what is none is an error that says what it is."""
    try:
        return read_regular_file(path, most=_LARGEST_FILE, what="a policy")
    except UnreadableFile as error:
        match error.fault:
            case "missing":
                raise PolicyError(f"there is no policy file {path}") from None
            case "folder":
                raise PolicyError(f"{path} is a folder; give the policy file in it") from None
        raise PolicyError(f"the policy file {describe_value(str(path))} {error.reason}; name another") from None


def _read_text(path: Path) -> str:
    try:
        text = read_policy_file(path).decode("utf-8-sig")  # some editors begin a file with a byte order mark
    except UnicodeDecodeError:
        raise PolicyError(f"{path} is not UTF-8 text; save the policy as a TOML file in UTF-8") from None
    if "\0" in text:
        raise PolicyError(f"{path} is a binary file; a policy is a TOML file in UTF-8")
    return text


# TOML promises 64 bits. Python would read more, and then refuse to print what it has read.
_LARGEST_INTEGER = 2**63 - 1


def plain_tables(policy: Mapping[str, object]) -> dict[str, object]:
    """Copy the tables of a policy into text, numbers, booleans, lists and tables alone; dates become ISO text.

    >>> plain_tables({"data": {"null": (date(1979, 5, 27), 3)}})
    {'data': {'null': ['1979-05-27', 3]}}
    >>> plain_tables({"algorithm": {"seed": float("nan")}})
    Traceback (most recent call last):
    sfumato.errors.PolicyError: algorithm.seed: must be a finite number, not nan
    """
    try:
        return _plain_table(policy, "")
    except RecursionError:
        raise PolicyError("the policy is nested too deeply to be read") from None


def _plain_table(table: Mapping[str, object], key: str) -> dict[str, object]:
    plain: dict[str, object] = {}
    for name, value in table.items():
        if not isinstance(name, str):
            raise PolicyError(f"must have text as its keys, not {type(name).__name__}", key=key)
        part = dotted_key(str(name))
        if name == "hierarchy" and (callable(value) or isinstance(value, LabelFunction)):
            plain[name] = value if isinstance(value, LabelFunction) else LabelFunction(value)
            continue
        plain[str.__str__(name)] = _plain_value(value, f"{key}.{part}" if key else part)
    return plain


def _plain_value(value: object, key: str) -> object:
    if callable(to_list := getattr(value, "tolist", None)):  # an array of numpy, or one of its numbers
        value = to_list()
    match value:
        case Mapping():
            return _plain_table(value, key)
        case list() | tuple():
            return [_plain_value(item, f"{key}[{place}]") for place, item in enumerate(value)]
        case bool():
            return value
        case str():
            # No file can be named so, and no cell of a text file holds it: systems end a text there.
            if "\0" in value:
                raise PolicyError("must not hold the character NUL", key=key)
            return str.__str__(value)  # a member of any text enum becomes its value
        case Integral():
            if abs(int(value)) > _LARGEST_INTEGER:
                raise PolicyError(f"must be a whole number of at most {_LARGEST_INTEGER}", key=key)
            return int(value)
        case float():
            if not isfinite(value):
                raise PolicyError(f"must be a finite number, not {float(value)}", key=key)
            return float(value)
        case date() | time():
            return value.isoformat()
        case PurePath():
            return str(value)
    raise PolicyError(f"must be text, a number, a list or a table, not {type(value).__name__}", key=key)
