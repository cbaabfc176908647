"""The result of an attack, in the form that the report, the audit and ``--json`` share.

Every attack has figures of its own (`link.LinkageResult`, `homogeneity.Homogeneity`, ...). Their method ``results()``
reduces them to lines of this form, so that attacks can be listed side by side: what is assumed, how often the adversary
is right, and how often somebody without the release would be. Sentences are written here and by the attacks, once, for
the terminal and the report alike; they say what an adversary can do, and never that somebody is safe.
"""

from dataclasses import asdict, dataclass
from typing import Any

from sfumato.page.display import Display, FigureTable, Shown
from sfumato.page.wording import percent


class ShownAttack(Shown):
    """What an attack found, which shows itself by its `results`: figures and sentences, and nobody by name."""

    def results(self) -> "tuple[AttackResult, ...]":
        """Reduce the findings to lines."""
        raise NotImplementedError

    def display(self) -> Display:
        """Show the lines of all results, what they say, and what is assumed, each once."""
        return display_results(self.results())


@dataclass(frozen=True)
class AttackResult:
    """One line on an attack: its assumptions, its success, and the baseline without the release.

    `assumes` says in a sentence what the adversary is taken to know. `counts` says what `success` and `baseline` are
    shares of; `baseline` is the share that somebody gets right without the release. `bound` is the largest share that
    the policy allows, or ``None`` where it promises nothing about it. `says` are sentences on the findings. For an
    attack that was not run, `success` is ``None`` and `says` gives the reason: unknown is not safe.

    >>> result = AttackResult("link", "The adversary has a voter roll.", "persons tied to one row", 0.02, 0.0)
    >>> result.as_json()["success"]
    0.02
    """

    attack: str
    assumes: str
    counts: str
    success: float | None
    baseline: float | None
    bound: float | None = None
    says: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Convert to the object that ``--json`` prints and the audit keeps."""
        return asdict(self)

    def _repr_html_(self) -> str:
        return display_results((self,)).as_html()


def display_results(results: "tuple[AttackResult, ...]") -> Display:
    """Show results side by side: how often the adversary is right, and somebody without the release.

    >>> found = AttackResult("link", "They have a voter roll.", "persons tied to one row", 0.02, 0.0, says=("2 are.",))
    >>> print(display_results((found,)).as_text())
    attack link
    what is counted          with the release  without  allowed
    persons tied to one row  2.0%              0%       –
    2 are.
    They have a voter roll.
    """
    lines = [
        [one.counts, *("–" if share is None else percent(share) for share in (one.success, one.baseline, one.bound))]
        for one in results
    ]
    said = [sentence for one in results for sentence in one.says] + [one.assumes for one in results]
    names = ", ".join(dict.fromkeys(one.attack for one in results))
    head = ("what is counted", "with the release", "without", "allowed")
    return Display(f"attack {names}", [FigureTable(head, lines)], list(dict.fromkeys(filter(None, said))))
