"""What is found of people by B known values."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sfumato.attack.tried import Tried

if TYPE_CHECKING:
    from sfumato.page.markup import Markup


@dataclass(frozen=True)
class Point:
    """What so many known values do, over so many `sets` of columns.

    `only` is the share of targets whom one row fits and no other, `chance` the average chance of picking a target's row
    among those that fit, and `none` the share whom no row fits.
    """

    known: int
    only: float
    chance: float
    none: float
    sets: int


@dataclass(frozen=True)
class Over:
    """Success over the number of known values, all of them of some `columns`; `exact` says that every set was tried."""

    label: str
    columns: tuple[str, ...]
    exact: bool
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Known:
    """The attack on a table: its `rows`, how many `targets` were looked for, and success over B.

    `baseline` is the chance of picking the right row without knowing anything. `notes` say what was left out.
    """

    table: str
    rows: int
    targets: int
    released: bool
    seed: int
    baseline: float
    assumes: str
    series: tuple[Over, ...]
    notes: tuple[str, ...] = ()

    def tried(self) -> tuple[Tried, ...]:
        """The attack in lines for reports: for each series, what all of its values together tell."""
        from sfumato.attack.known.words import tried  # noqa: PLC0415 - it builds on this module

        return tried(self)

    def chart(self) -> "Markup":
        """Success over B as a chart."""
        from sfumato.attack.known.words import chart  # noqa: PLC0415 - as above

        return chart(self)

    def as_json(self) -> dict[str, Any]:
        """Fit for JSON."""
        return asdict(self) | {"tried": [one.as_json() for one in self.tried()]}
