"""How attacks are shown on a terminal: tables of figures, then what they mean in sentences."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

_FRAME = 3
"""What a column of a table takes besides its text."""


def print_findings(*parts: "str | Table") -> None:
    """Print tables and sentences one below the other; sentences are wrapped by the terminal."""
    from sfumato.cli.printing import console_of

    console = console_of()
    for part in parts:
        console.print(part, soft_wrap=isinstance(part, str))


def figure_tables(title: str, columns: Mapping[str, Mapping[str, str]], width: int | None = None) -> "Iterator[Table]":
    """Lay out the figures of sensitive columns side by side, in as many tables as the terminal's width asks for.

    `columns` has the figures of each by their titles, as text; empty where there is no such figure. A line that no
    column has a figure for is left out.

    >>> from rich.console import Console
    >>> figures = {"illness": {"right": "50%"}, "salary": {"right": "100%"}}
    >>> Console(width=20).print(*figure_tables("attack", figures, width=20))
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

    from sfumato.cli.printing import console_of

    first = next(iter(columns.values()))
    lines = [line for line in first if any(figures[line] for figures in columns.values())]
    room = (width or console_of().width) - max(map(len, [title, *lines])) - _FRAME - 1
    for names in _fit(columns, room):
        table = Table(title, *names)
        for line in lines:
            table.add_row(line, *(columns[name][line] for name in names))
        yield table


def _fit(columns: Mapping[str, Mapping[str, str]], room: int) -> Iterator[list[str]]:
    """Put as many columns together as fit into the room, and one at least."""
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


def text_or_blank(figure: Any, as_text: Callable[[Any], str]) -> str:
    """Write a figure as text; nothing where there is none.

    >>> text_or_blank(1234, "{:,}".format), text_or_blank(None, str)
    ('1,234', '')
    """
    return "" if figure is None else as_text(figure)
