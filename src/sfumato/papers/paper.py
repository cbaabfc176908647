"""A paper whose experiments can be run again: how they are run, what is stated of them, and the page on them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.papers.claims import Claim, Run
from sfumato.papers.plots import Panel
from sfumato.papers.rows import Rows

Tell = Callable[[int, int, str], None]
"""Called with how much is done, of how much, and what was found last."""


@dataclass(frozen=True)
class Paper:
    """`name` is that of the command line; `needs` are libraries that do not come with sfumato.

    `run` takes the rows, whether to be quick, and whom to tell; `plots` are the panels of each picture, by the name
    under which the page has it; `terms` says what short names in claims stand for.
    """

    name: str
    title: str
    section: str
    needs: tuple[str, ...]
    run: Callable[[Rows, bool, Tell], dict[str, Any]]
    claims: Callable[[Run], list[Claim]]
    page: Callable[[Run], str]
    plots: Callable[[Run], Mapping[str, Sequence[Panel]]]
    terms: str = ""


def told(
    cases: Iterable[dict[str, Any]], every: int, tell: Tell, words: Callable[[Mapping[str, Any]], str]
) -> Iterator[dict[str, Any]]:
    """The cases as they come, `every` of them, each told in words.

    >>> list(told([{"k": 2}], 1, print, lambda one: f"k = {one['k']}"))
    0 1
    1 1 k = 2
    [{'k': 2}]
    """
    tell(0, every, "")
    for done, one in enumerate(cases, 1):
        tell(done, every, words(one))
        yield one
