"""Values that show themselves: as text on a terminal, as a small piece of HTML in a notebook.

A value says once what there is to show, a title, tables of figures and sentences, and both are made of it. The HTML is
escaped, has no script, loads nothing and takes the style of the notebook. What is shown are figures and what is
published anyway, never a row that is not.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.page.html import html, paragraph, table, tag

_WIDEST = 80
"""Characters of a cell that are shown on a terminal."""


@dataclass(frozen=True)
class FigureTable:
    """A table of figures: the first cell of a line names it.

    >>> print(FigureTable(["model", "holds"], [["k-anonymity", "k = 5"]]).as_text())
    model        holds
    k-anonymity  k = 5
    """

    head: Sequence[str]
    lines: Sequence[Sequence[str]]

    def as_text(self) -> str:
        """Write it in columns."""
        cells = [[_printable(cell) for cell in line] for line in (self.head, *self.lines)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        padded = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in cells)
        return "\n".join(line.rstrip() for line in padded)


@dataclass(frozen=True)
class Display:
    """What a value shows of itself: a title, tables, and sentences below them.

    >>> print(Display("Risk", sentences=("1 < 2",)).as_html())
    <div class="sfumato"><p><strong>Risk</strong></p><p>1 &lt; 2</p></div>
    """

    title: str
    tables: Sequence[FigureTable] = ()
    sentences: Sequence[str] = ()

    def as_text(self) -> str:
        """Write it for a terminal."""
        parts = [one.as_text() for one in self.tables if one.lines]
        return "\n".join([_printable(self.title, None), *parts, *(_printable(one, None) for one in self.sentences)])

    def as_html(self) -> str:
        """Write it for a notebook."""
        tables = [table(one.head, one.lines) for one in self.tables if one.lines]
        said = [paragraph(sentence) for sentence in self.sentences]
        return str(html(tag("div", paragraph(tag("strong", self.title)), *tables, *said, class_="sfumato")))


class Shown:
    """A value that shows itself; `display` says what there is to show."""

    def display(self) -> Display:
        """Say what there is to show."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.display().as_text()

    def __str__(self) -> str:
        return self.display().as_text()

    def _repr_html_(self) -> str:
        return self.display().as_html()


def _printable(text: str, most: int | None = _WIDEST) -> str:
    """Leave out what would move the cursor of a terminal, and cut what is long."""
    plain = "".join(sign if sign.isprintable() else "�" for sign in text)
    return plain if most is None or len(plain) <= most else f"{plain[: most - 1]}…"
