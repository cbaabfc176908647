"""Policy: everything about a publication, read and checked."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sfumato import models
from sfumato.policy.columns import Column, Role, read_columns
from sfumato.policy.cuts import check_cuts
from sfumato.policy.forms import anatomized, check_form
from sfumato.policy.linkage import check_joining, check_linkage
from sfumato.policy.plain import plain, tables
from sfumato.policy.previous import Previous, read_previous
from sfumato.policy.privacy import check_privacy, read_privacy
from sfumato.policy.rules import check_columns, check_levels, check_meant, with_role
from sfumato.policy.search import Publish, Search, read_publish, read_search
from sfumato.policy.section import Section, as_table
from sfumato.policy.source import Source, read_source

KEYS = ("data", "columns", "privacy", "previous", "algorithm", "publish")


@dataclass(frozen=True)
class Policy:
    """What is published of which table, and what is promised to the people in it.

    A policy that exists is one that makes sense: its parts are checked against each other when it is
    made. `stated` are all requirements: `privacy` those on classes, `linkage` those on the join with the earlier
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

    source: Source
    columns: Mapping[str, Column]
    stated: tuple[models.Model | models.Linkage, ...]
    search: Search
    publish: Publish
    document: Mapping[str, object]
    folder: Path = Path()
    previous: tuple[Previous, ...] = ()
    lenient: bool = False

    @classmethod
    def read(cls, policy: Mapping[str, object], *, folder: Path | None = None, lenient: bool = False) -> Self:
        """The policy that these tables say; paths start at `folder`, or where the program runs."""
        document, folder = tables(policy), folder or Path()
        Section.of(document, "", KEYS)
        publish = read_publish(document.get("publish", {}))
        return cls(
            source=read_source(document.get("data", {}), folder=folder),
            columns=read_columns(document.get("columns"), folder=folder, levels=publish.form != "anatomy"),
            stated=read_privacy(document.get("privacy"), folder=folder),
            previous=read_previous(document.get("previous"), folder=folder),
            search=read_search(document.get("algorithm", {})),
            publish=publish,
            document=document,
            folder=folder,
            lenient=lenient,
        )

    def __post_init__(self) -> None:
        check_columns(self.columns)
        check_levels(self.columns, self.recoder)
        check_privacy(self.columns, self.stated, self.document.get("privacy"))
        check_form(self.columns, self.privacy, self.document)
        check_meant(self.columns, self.recoder, self.document)
        check_linkage(self.columns, self.stated, self.previous)
        if self.linkage and not self.lenient:
            check_joining(self.document)
        check_cuts(self.columns, self.recoder, self.document)

    @property
    def privacy(self) -> tuple[models.Model, ...]:
        """The requirements on every class of the published table."""
        return tuple(entry for entry in self.stated if not isinstance(entry, models.Linkage))

    @property
    def linkage(self) -> tuple[models.Linkage, ...]:
        """The requirements on the join with earlier releases."""
        return tuple(entry for entry in self.stated if isinstance(entry, models.Linkage))

    @property
    def recoder(self) -> str:
        """The algorithm by name; ``auto`` means ``tds`` where a join has to be looked at."""
        return "tds" if self.search.name == "auto" and self.linkage and not self.lenient else self.search.name

    def with_role(self, role: Role) -> tuple[Column, ...]:
        """The columns of this role, in the order of the policy."""
        return with_role(self.columns, role)

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
    def anatomized(self) -> str:
        """The sensitive column whose values the buckets of Anatomy are made of."""
        return anatomized(self.columns, self.privacy)

    def replace(
        self, *, source: str | Path | None = None, algorithm: str | None = None, seed: int | None = None
    ) -> Self:
        """The policy with what the command line overrides; a relative `source` starts where it runs."""
        document = _override(self.document, "data", source=source)
        document = _override(document, "algorithm", name=algorithm, seed=seed)
        # The path of the policy itself started at its own folder, so it is not read a second time.
        return dataclasses.replace(
            self,
            source=self.source if source is None else read_source(document["data"], folder=Path()),
            search=read_search(document.get("algorithm", {})),
            document=document,
        )


def _override(document: Mapping[str, object], key: str, **changes: object) -> dict[str, object]:
    """The document with those changes to one of its tables that are given at all."""
    asked = {name: plain(value, f"{key}.{name}") for name, value in changes.items() if value is not None}
    table = {**as_table(document.get(key, {}), key), **asked}
    return {**document, key: table} if asked else dict(document)
