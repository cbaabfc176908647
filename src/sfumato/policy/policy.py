"""Policy: everything about a publication, read from a TOML file or a dict, checked, and frozen.

`Policy` is the value, `load` makes it from a path, a dict or a policy; errors in a file say the line. Below them, the
tables of a policy are copied into what JSON can hold, so that what is checked is what the audit will show.
"""

import dataclasses
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, time
from math import isfinite
from numbers import Integral
from pathlib import Path, PurePath
from typing import Self

from sfumato import models
from sfumato.core.regular_file import read_regular_file
from sfumato.errors import PolicyError, UnreadableFile
from sfumato.policy.columns import Column, Role, check_key_file, columns_with_role, read_columns
from sfumato.policy.options import (
    AlgorithmOptions,
    DataSource,
    PublishOptions,
    read_algorithm_options,
    read_data_source,
    read_publish_options,
)
from sfumato.policy.previous_releases import PreviousRelease, read_previous_releases
from sfumato.policy.requirements import (
    check_columns,
    check_form,
    check_idle_keys,
    check_join_algorithm,
    check_levels,
    check_linkage,
    check_models,
    check_specialization,
    find_anatomy_column,
    read_requirements,
)
from sfumato.policy.section import Section, describe_value, require_table
from sfumato.policy.toml_text import dotted_key, find_line

POLICY_KEYS = ("data", "columns", "privacy", "previous", "algorithm", "publish")


@dataclass(frozen=True)
class Policy:
    """What is published of which table, and what is promised to the people in it.

    A policy that exists is one that makes sense: its parts are checked against each other when it is
    made. `requirements` are all promises: `privacy` those on classes, `linkage` those on the join with the earlier
    releases, which are `previous`. Where it is `lenient`, these are checked of whatever algorithm the policy names, and
    not looked at by its search. `document` holds the tables it was read from, as JSON could, for the audit; `folder`
    is where its paths start.

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
    requirements: tuple[models.Model | models.Linkage, ...]
    search: AlgorithmOptions
    publish: PublishOptions
    document: Mapping[str, object]
    folder: Path = Path()
    previous: tuple[PreviousRelease, ...] = ()
    lenient: bool = False

    @classmethod
    def read(cls, policy: Mapping[str, object], *, folder: Path | None = None, lenient: bool = False) -> Self:
        """Read a policy from its tables; paths start at `folder`, or where the program runs."""
        document, folder = plain_tables(policy), folder or Path()
        Section.from_value(document, "", POLICY_KEYS)
        publish = read_publish_options(document.get("publish", {}), folder=folder)
        return cls(
            source=read_data_source(document.get("data", {}), folder=folder),
            columns=read_columns(document.get("columns"), folder=folder, levels=publish.form != "anatomy"),
            requirements=read_requirements(document.get("privacy"), folder=folder),
            previous=read_previous_releases(document.get("previous"), folder=folder),
            search=read_algorithm_options(document.get("algorithm", {})),
            publish=publish,
            document=document,
            folder=folder,
            lenient=lenient,
        )

    def __post_init__(self) -> None:
        check_columns(self.columns)
        check_levels(self.columns, self.recoder)
        check_models(self.columns, self.requirements, self.document.get("privacy"))
        check_form(self.columns, self.privacy, self.document)
        check_idle_keys(self.columns, self.recoder, self.document)
        check_linkage(self.columns, self.requirements, self.previous)
        if self.linkage and not self.lenient:
            check_join_algorithm(self.document)
        check_specialization(self.columns, self.recoder, self.document)

    @property
    def stated(self) -> tuple[models.Model | models.Linkage, ...]:
        """The same as `requirements`, by its earlier name."""
        return self.requirements

    @property
    def privacy(self) -> tuple[models.Model, ...]:
        """The requirements on every class of the published table."""
        return tuple(entry for entry in self.requirements if not isinstance(entry, models.Linkage))

    @property
    def linkage(self) -> tuple[models.Linkage, ...]:
        """The requirements on the join with earlier releases."""
        return tuple(entry for entry in self.requirements if isinstance(entry, models.Linkage))

    @property
    def recoder(self) -> str:
        """The algorithm by name; ``auto`` means ``tds`` where a join has to be looked at."""
        return "tds" if self.search.name == "auto" and self.linkage and not self.lenient else self.search.name

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
    def anatomized(self) -> str:
        """The sensitive column whose values the buckets of Anatomy are made of."""
        return find_anatomy_column(self.columns, self.privacy)

    def replace(
        self,
        *,
        source: str | Path | None = None,
        algorithm: str | None = None,
        seed: int | None = None,
        sign: str | Path | None = None,
    ) -> Self:
        """Replace what the command line overrides; a relative `source` or `sign` starts where the program runs."""
        document = _override(self.document, "data", source=source)
        document = _override(document, "publish", sign=sign)
        document = _override(document, "algorithm", name=algorithm, seed=seed)
        # Paths of the policy itself started at its own folder, so they are not read a second time.
        return dataclasses.replace(
            self,
            source=self.source if source is None else read_data_source(document["data"], folder=Path()),
            search=read_algorithm_options(document.get("algorithm", {})),
            publish=self.publish if sign is None else read_publish_options(document["publish"]),
            document=document,
        )


def _override(document: Mapping[str, object], key: str, **changes: object) -> dict[str, object]:
    """Copy the document with changes to one of its tables; a change to None is none."""
    values = {name: _plain_value(value, f"{key}.{name}") for name, value in changes.items() if value is not None}
    table = {**require_table(document.get(key, {}), key), **values}
    return {**document, key: table} if values else dict(document)


def load(policy: str | os.PathLike[str] | Mapping[str, object] | Policy) -> Policy:
    """Load the policy of a TOML file, or of a dict of the same shape; a policy is returned as it is.

    Paths in a file are relative to the file, those in a dict to where the program runs.

    Raises:
        PolicyError: the file cannot be read, or says something that means nothing; names the key and,
            of a file, the line.

    >>> load({"columns": {"age": {"role": "quasi"}}})
    Traceback (most recent call last):
    sfumato.errors.PolicyError: columns.age.hierarchy: is missing, and a quasi-identifier needs one;
    write hierarchy = "suppress" as the simplest
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
    plain = {}
    for name, value in table.items():
        if not isinstance(name, str):
            raise PolicyError(f"must have text as its keys, not {type(name).__name__}", key=key)
        part = dotted_key(str(name))
        plain[str.__str__(name)] = _plain_value(value, f"{key}.{part}" if key else part)
    return plain


def _plain_value(value: object, key: str) -> object:
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
