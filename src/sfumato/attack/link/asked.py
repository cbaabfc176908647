"""What is asked: which release, which outside table, and by which columns they are joined."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.encode import CodedColumn, encode_column
from sfumato.errors import InputError, did_you_mean, listing
from sfumato.matching.opened import folder_of, opened, outside_options
from sfumato.matching.outside import Options, check_names, names_of, table_of
from sfumato.matching.people import People, people_known
from sfumato.matching.released import Released
from sfumato.matching.shown import Shown
from sfumato.policy import Policy


@dataclass(frozen=True)
class Question:
    """The columns to join on, those to learn of people, and the one that names them."""

    on: Sequence[str]
    sensitive: Sequence[str] = ()
    policy: Policy | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        if not self.on:
            raise InputError("no column to join on; name columns that the release and the outside table share")
        twice = [one for one in self.on if list(self.on).count(one) > 1 or one in self.sensitive]
        if twice:
            way = "name it once, either to join on or as a sensitive one"
            raise InputError(f"column '{twice[0]}' is named twice; {way}")

    def learned(self, shown: Shown) -> list[str]:
        """The columns to learn of people: those asked of, or all sensitive ones that it is not joined on."""
        if not self.sensitive:
            known = [one.name for one in self.policy.sensitive] if self.policy else shown.with_role("sensitive")
            return [one for one in known if one not in self.on and (one in shown.columns or one in shown.bags)]
        wrong = [one for one in self.sensitive if shown.class_of is not None and one not in shown.bags]
        if wrong:
            hint = did_you_mean(wrong[0], shown.bags) or f"; it has {listing(shown.bags)}"
            raise InputError(f"'{wrong[0]}' is no sensitive column of the release{hint}")
        return list(self.sensitive)


@dataclass(frozen=True, eq=False)
class Outside:
    """The people of the outside table, what it is called, and their names where a column has them."""

    people: People
    title: str
    names: Sequence[str | None] | None

    @classmethod
    def read(cls, known: Any, question: Question, learned: Sequence[str], options: Options) -> "Outside":
        """The columns to join on, the sensitive ones that it has, and the names."""
        title = Path(known).name if isinstance(known, str | Path) else "the outside table"
        names, named = names_of(known, options), [question.name] if question.name else []
        check_names([*question.on, *named], names, title)
        truth = [column for column in learned if column in names]
        table = table_of(known, list(dict.fromkeys([*question.on, *truth, *named])), options)
        texts = [_names(encode_column(table, one)) for one in named]
        return cls(people_known(table, question.on, truth), title, texts[0] if texts else None)


@dataclass(frozen=True, eq=False)
class Asked:
    """A release by the columns that it is joined on, and the outside table.

    `explained` says that labels are read by a data dictionary or a policy. `whole` says that it is joined on all
    quasi-identifiers of one table, so that its promise bounds what the join tells.
    """

    released: Released
    outside: Outside
    explained: bool
    whole: bool

    @classmethod
    def of(cls, release: str | Path, known: Any, question: Question) -> "Asked":
        """Read both; a sentence where a column is not where it should be."""
        path, on, policy = Path(release), question.on, question.policy
        shown = opened(path, [*on, *question.sensitive], policy)
        learned, quasi = question.learned(shown), shown.with_role("quasi")
        outside = Outside.read(known, question, learned, outside_options(policy, shown.account))
        return cls(
            shown.released(on, learned),
            outside,
            explained=folder_of(path) is not None or policy is not None,
            whole=bool(quasi) and shown.class_of is None and set(on) <= set(quasi),
        )

    @property
    def bound(self) -> float | None:
        """The chance that the release promises to keep below, for somebody who knows quasi-identifiers alone."""
        k = self.released.k
        return 1 / k if k and self.whole else None


def _names(column: CodedColumn) -> list[str | None]:
    return [column.texts[one] for one in column.codes.tolist()]
