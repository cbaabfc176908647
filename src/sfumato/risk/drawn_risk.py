"""The risk of drawn rows: how near they are to people's rows, and what attacks by another program make of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.condense.half_draw import cells_of
from sfumato.errors import InputError
from sfumato.page.display import Display, FigureTable, Shown
from sfumato.page.wording import percent
from sfumato.policy import Policy
from sfumato.reading.drawn_table import draw_again, published_kinds, read_drawn_cells, read_same_columns
from sfumato.risk.anonymeter_attacks import AttackedRows, JudgedAttack, run_anonymeter
from sfumato.risk.closest_rows import NEAR, ClosestRows, measure_closest_rows

OF_HALF = "rows drawn anew from half of the original, with the other half as control"
OF_RELEASE = "the published rows, with the hold-out as control"


@dataclass(frozen=True)
class AttackOptions:
    """Whether anonymeter attacks drawn rows, how often, with which control group, and in which Python.

    `hold_out` is a table of people who had no part in the release, a path or a frame.
    """

    run: bool = False
    hold_out: Any = None
    python: str | Path | None = None
    guesses: int = 500

    def __post_init__(self) -> None:
        if not self.run and (self.hold_out is not None or self.python is not None):
            raise InputError("--hold-out and --anonymeter go with --attacks; add it, or leave them out")


@dataclass(frozen=True, repr=False)
class DrawnRisk(Shown):
    """How near drawn rows are to those they come from, and what came of attacks on them (`attacked` says on which)."""

    closest: ClosestRows | None
    attacks: tuple[JudgedAttack, ...] | None = None
    attacked: str | None = None

    def closest_lines(self) -> list[tuple[str, str]]:
        """The distances in words."""
        if self.closest is None:
            return []
        one = self.closest
        return [
            ("nearest row that had a part", f"{one.original:.3f} away, at the median"),
            ("nearest row that had none", f"{one.hold_out:.3f} away, at the median"),
            ("ratio", f"{one.ratio:.2f}" + (f", which is below {NEAR:g}" if one.near else "")),
            ("equal to a row that had a part", percent(one.copies)),
            ("equal to one that had none", percent(one.hold_out_copies)),
        ]

    def attack_lines(self) -> list[tuple[str, ...]]:
        """The attacks in words: what was attacked, the risk, and how often guesses were right."""
        lines: list[tuple[str, ...]] = []
        for one in self.attacks or ():
            title = f"{one.attack}: {one.columns[0]}" if one.attack == "inference" else one.attack
            if one.risk is None or one.interval is None:
                lines.append((title, f"not run: {one.failed}", "", "", ""))
                continue
            low, high = one.interval
            shares = (percent(share) for share in (one.success, one.control, one.baseline) if share is not None)
            lines.append((title, f"{one.risk:.3f} ({low:.3f} to {high:.3f})", *shares))
        return lines

    def display(self) -> Display:
        """Show distances and attacks."""
        tables = [FigureTable(("how near to the original", ""), self.closest_lines())]
        if self.attacks is not None:
            head = ("attack by anonymeter", "risk", "right", "of control", "at random")
            tables.append(FigureTable(head, self.attack_lines()))
        return Display("Risk of drawn rows", tables, [] if self.closest else [TOO_FEW])

    def as_json(self) -> dict[str, Any]:
        """Return one object, as ``sfumato risk --json`` prints it."""
        content: dict[str, Any] = {"closest_rows": None if self.closest is None else self.closest.as_json()}
        if self.attacks is None:
            return content
        return content | {"attacked": self.attacked, "attacks": [one.as_json() for one in self.attacks]}


TOO_FEW = "There are too few rows to draw from one half and compare with the other."


def measure_drawn_risk(
    public: Path, manifest: Mapping[str, Any], original: Any, *, policy: Policy, asked: AttackOptions
) -> DrawnRisk:
    """Measure the risk of a release of drawn rows beside its original, a path or a frame.

    How near rows are is measured with rows that are drawn anew from half of the original. So are attacks, unless there
    is a hold-out: then they are on the published rows themselves.
    """
    kinds = published_kinds(manifest)
    table = read_same_columns(original, policy, list(kinds))
    half = draw_again(table, policy)[1]
    closest = None if half is None else measure_closest_rows(half)
    if not asked.run:
        return DrawnRisk(closest)
    if asked.hold_out is not None:
        control = read_same_columns(asked.hold_out, policy, list(kinds))
        parts = [
            {name: table.arrow.column(name) for name in kinds},
            read_drawn_cells(public, manifest, table),
            {name: control.arrow.column(name) for name in kinds},
        ]
    elif half is None:
        raise InputError(
            "there are too few rows to draw from one half and attack with the other as control; name a table of people "
            "who had no part in the release with --hold-out"
        )
    else:
        parts = [cells_of(part) for part in half.parts]
    rows = AttackedRows.from_cells(parts, kinds, policy.columns)
    found = run_anonymeter(rows, asked.python, asked.guesses)
    return DrawnRisk(closest, tuple(found), OF_HALF if asked.hold_out is None else OF_RELEASE)
