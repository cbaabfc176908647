"""Columns of a release as queries know them: by their place, whatever they are called."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sfumato.errors import InputError, did_you_mean, listing

_HELP = (
    "ask about other columns; whoever publishes the table can tell by a hierarchy file of all its values, or by the "
    "domain of its numbers"
)

_SHOWN = 20


@dataclass(frozen=True)
class Column:
    """One column: what it is called, which table it stands in, and what is known of its cells.

    In SQL its values are ``c`` with its place. Where it is `coded`, its table holds numbers ``k`` in their place, and
    a dictionary ``d`` says which value each stands for. It is `uncertain` where a number stands for several values;
    then the dictionary has a line for each, and how many there are, ``z``. `sampled` says that these are points of
    ranges; `unclear` is a label of which nothing says what it stands for; `empty` says that all cells are NULL.
    """

    name: str
    place: int
    table: int = 0
    number: bool = False
    coded: bool = True
    uncertain: bool = False
    sampled: bool = False
    unclear: str | None = None
    empty: bool = False

    @property
    def value(self) -> str:
        """Its values in SQL."""
        return f"c{self.place}"

    @property
    def code(self) -> str:
        """Its codes in SQL."""
        return f"k{self.place}"

    @property
    def size(self) -> str:
        """How many values its label stands for, in SQL."""
        return f"z{self.place}"

    @property
    def dictionary(self) -> str:
        """The table that says what codes stand for."""
        return f"d{self.place}"

    def checked(self) -> "Column":
        """Itself, if a query can be asked about it."""
        if self.unclear is not None:
            raise InputError(
                f"column {self.name!r} holds {self.unclear!r}, and nothing in the release says what that stands for; "
                f"{_HELP}"
            )
        return self


def find(name: str, columns: Sequence[Column]) -> Column:
    """The column of this name: as it is written, or else the only one that differs in case alone.

    >>> find("AGE", [Column("age", 0)]).place
    0
    >>> find("salary", [Column("salary-class", 0)])
    Traceback (most recent call last):
    sfumato.errors.InputError: there is no column 'salary'; did you mean "salary-class"?
    """
    same = [column for column in columns if column.name == name]
    alike = same or [column for column in columns if column.name.casefold() == name.casefold()]
    if len(alike) == 1:
        return alike[0].checked()
    if alike:
        raise InputError(f"{name!r} may be any of {listing(each.name for each in alike)}; write it as one of them")
    raise _missing(name, {column.name: written(column.name) for column in columns})


def _missing(name: str, known: Mapping[str, str]) -> InputError:
    close = did_you_mean(name, known).removeprefix("; did you mean ").removesuffix("?")
    if close:
        return InputError(f"there is no column {name!r}; did you mean {known[close]}?")
    shown = [*known.values()][:_SHOWN] + (["…"] if len(known) > _SHOWN else [])
    listed = f"the columns are {', '.join(shown)}, and texts are written in single quotes, as in 'flu'"
    return InputError(f"there is no column {name!r}; {listed}")


def written(name: str) -> str:
    """A name as SQL writes it: in double quotes where it is not a plain word.

    >>> print(written("age"), written("salary-class"), written('a"b'))
    age "salary-class" "a""b"
    """
    plain = name.isascii() and name.isidentifier()
    return name if plain else '"' + name.replace('"', '""') + '"'
