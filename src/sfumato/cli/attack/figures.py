"""Figures of sensitive columns side by side, as many as the terminal is wide enough for."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

Figures = Mapping[str, str]
"""Titles and what is shown beside them; nothing where there is no such figure."""

_FRAME = 3
"""What a column of a table takes besides its text."""


def print_figures(console: "Console", title: str, columns: Mapping[str, Figures]) -> None:
    """A table for all columns, or several where their names would be cut off; a line that none has a figure for is not.

    >>> from rich.console import Console
    >>> print_figures(Console(width=20), "attack", {"illness": {"right": "50%"}, "salary": {"right": "100%"}})
    ┏━━━━━━━━┳━━━━━━━━━┓
    ┃ attack ┃ illness ┃
    ┡━━━━━━━━╇━━━━━━━━━┩
    │ right  │ 50%     │
    └────────┴─────────┘
    ┏━━━━━━━━┳━━━━━━━━┓
    ┃ attack ┃ salary ┃
    ┡━━━━━━━━╇━━━━━━━━┩
    │ right  │ 100%   │
    └────────┴────────┘
    """
    from rich.table import Table

    titles = [one for one in next(iter(columns.values())) if any(each[one] for each in columns.values())]
    room = console.width - max(map(len, [title, *titles])) - _FRAME - 1
    for names in _fitting(columns, room):
        table = Table(title, *names)
        for one in titles:
            table.add_row(one, *(columns[name][one] for name in names))
        console.print(table)


def _fitting(columns: Mapping[str, Figures], room: int) -> Iterator[list[str]]:
    """Columns one after the other, as many together as there is room for, and one at least."""
    names: list[str] = []
    left = room
    for name, figures in columns.items():
        width = max(map(len, [name, *figures.values()])) + _FRAME
        if names and width > left:
            yield names
            names, left = [], room
        names.append(name)
        left -= width
    yield names
