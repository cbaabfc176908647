"""How the values of a column are masked before anything else is done with them: keys of a column of a policy.

Masks are the perturbative methods of statistical disclosure control: top and bottom coding, additive noise, rank
swapping, rounding and post-randomization. They are options of a column and go with every form of release; `masking`
applies them, in the order in which `ColumnMasks` has them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import date
from fractions import Fraction
from typing import Any

from sfumato.core.numbers import is_number
from sfumato.errors import PolicyError
from sfumato.hierarchy import File, LabelFunction, Mask, Spec
from sfumato.policy.section import Section

MASK_KEYS = ("top", "bottom", "noise", "swap", "round", "pram")
"""The keys of a column that mask it."""

LEAST_NOISE, MOST_NOISE = 0.001, 10.0
"""The share of a column's standard deviation that its noise may have."""

Bound = float | str
"""A number, or an ISO date as text."""


@dataclass(frozen=True)
class AddedNoise:
    """Normal noise, whose standard deviation is a `share` of the column's own.

    Where it is `correlated`, the noise of all such columns together has the covariance of the columns, scaled by their
    shares: so correlations stay (Kim 1986), and no filter tells noise from data by its direction.
    """

    share: float
    correlated: bool = True


@dataclass(frozen=True)
class PostRandomization:
    """Post-randomization (PRAM): a value is kept with chance `keep`, and else drawn anew among those of the column.

    It is drawn with the same chance for each value, or, where it is `invariant`, by how frequent they are, which leaves
    the expected frequencies as they were.
    """

    keep: float
    invariant: bool = False


@dataclass(frozen=True)
class ColumnMasks:
    """The masks of a column, in the order in which they are applied; it is false where there are none.

    `top` and `bottom` are what values beyond them become, `swap` the share of ranks within which values change places,
    `round` the step whose multiples values are rounded to.

    >>> masks = ColumnMasks(top=90, noise=AddedNoise(0.1))
    >>> bool(masks), bool(ColumnMasks()), masks.methods()[0]
    (True, False, {'method': 'top coding', 'top': 90})
    """

    top: Bound | None = None
    bottom: Bound | None = None
    noise: AddedNoise | None = None
    swap: float | None = None
    round: float | None = None
    pram: PostRandomization | None = None

    def __bool__(self) -> bool:
        return any(getattr(self, each.name) is not None for each in fields(self))

    @property
    def is_random(self) -> bool:
        """Whether the same table would be masked differently the next time."""
        return self.noise is not None or self.swap is not None or self.pram is not None

    @property
    def has_date_bounds(self) -> bool:
        """Whether values are coded beyond dates, and not beyond numbers."""
        return isinstance(self.top, str) or isinstance(self.bottom, str)

    def methods(self) -> list[dict[str, Any]]:
        """List the methods with their parameters in their order, as a manifest states them."""
        stated: list[dict[str, Any]] = []
        if self.top is not None:
            stated.append({"method": "top coding", "top": self.top})
        if self.bottom is not None:
            stated.append({"method": "bottom coding", "bottom": self.bottom})
        if self.noise is not None:
            stated.append({"method": "noise", "share": self.noise.share, "correlated": self.noise.correlated})
        if self.swap is not None:
            stated.append({"method": "rank swapping", "share": self.swap})
        if self.round is not None:
            stated.append({"method": "rounding", "step": self.round})
        if self.pram is not None:
            pram = {"keep": self.pram.keep, "invariant": self.pram.invariant}
            stated.append({"method": "post-randomization", **pram})
        return stated


NO_MASKS = ColumnMasks()
"""Those of a column that is published as it is."""


def read_masks(section: Section, hierarchy: Spec | None) -> ColumnMasks:
    """Read the keys that mask a column whose role allows it, and refuse what does not go together.

    >>> read_masks(Section({"noise": 0.1, "round": 100}, "columns.income"), None)
    ColumnMasks(top=None, bottom=None, noise=AddedNoise(share=0.1, correlated=True), swap=None, round=100, pram=None)
    >>> read_masks(Section({"top": 16, "bottom": 90}, "columns.age"), None)
    Traceback (most recent call last):
    sfumato.errors.PolicyError: columns.age.top: must be above bottom, which is 90, and is 16; raise it
    """
    masks = ColumnMasks(
        _read_bound(section, "top"),
        _read_bound(section, "bottom"),
        _read_noise(section),
        _read_share(section, "swap"),
        _read_step(section),
        _read_pram(section),
    )
    _check_bounds(section, masks)
    _check_together(section, masks, hierarchy)
    return masks


def given_mask_keys(section: Section) -> Iterator[str]:
    """List the keys of a column that would mask it."""
    return (key for key in MASK_KEYS if key in section.table)


def _read_bound(section: Section, key: str) -> Bound | None:
    """Read a number of any sign, or a date."""
    value: Any = section.table.get(key)
    if value is None or is_number(value):
        bound: Bound | None = value
        return bound
    if isinstance(value, str) and _is_iso_date(value):
        return value
    raise section.error(key, "must be a number, or a date such as 1979-05-27")


def _is_iso_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _read_noise(section: Section) -> AddedNoise | None:
    value = section.table.get("noise")
    if value is None:
        return None
    if not isinstance(value, Mapping):
        return AddedNoise(_noise_share(section, "noise"))
    inner = Section.from_value(value, section.path("noise"), ("share", "correlated"))
    if "share" not in value:
        raise PolicyError("is missing; write share = 0.1 as an example", key=inner.path("share"))
    return AddedNoise(_noise_share(inner, "share"), inner.flag("correlated", default=True))


def _noise_share(section: Section, key: str) -> float:
    value: Any = section.table[key]
    if is_number(value) and LEAST_NOISE <= value <= MOST_NOISE:
        return float(value)
    what = f"must be a number from {LEAST_NOISE:g} to {MOST_NOISE:g}, the share of the column's standard deviation"
    raise section.error(key, what)


def _read_share(section: Section, key: str) -> float | None:
    value: Any = section.table.get(key)
    if value is None:
        return None
    if is_number(value) and 0 < value <= 1:
        return float(value)
    raise section.error(key, "must be a number above 0 and up to 1, the share of ranks that a value may move by")


def _read_pram(section: Section) -> PostRandomization | None:
    value = section.table.get("pram")
    if value is None:
        return None
    if not isinstance(value, Mapping):
        return PostRandomization(_keep_chance(section, "pram"))
    inner = Section.from_value(value, section.path("pram"), ("keep", "invariant"))
    if "keep" not in value:
        raise PolicyError("is missing; write keep = 0.8 as an example", key=inner.path("keep"))
    return PostRandomization(_keep_chance(inner, "keep"), inner.flag("invariant", default=False))


def _keep_chance(section: Section, key: str) -> float:
    value: Any = section.table[key]
    if is_number(value) and 0 <= value < 1:
        return float(value)
    raise section.error(key, "must be a number from 0 and below 1, the chance that a value is kept")


def _read_step(section: Section) -> float | None:
    step = section.number("round")
    if step == 0:
        raise section.error("round", "must be a number above 0")
    return step


def _check_bounds(section: Section, masks: ColumnMasks) -> None:
    """Refuse bounds that are not in order, that are of two kinds, or that no multiple of the step is."""
    top, bottom = masks.top, masks.bottom
    if isinstance(top, str) and isinstance(bottom, str):
        ordered = bottom < top
    elif top is None or bottom is None:
        ordered = True
    elif isinstance(top, str) or isinstance(bottom, str):
        raise PolicyError("is a date where the other bound is a number; give two of a kind", key=section.path("bottom"))
    else:
        ordered = bottom < top
    if not ordered:
        raise PolicyError(f"must be above bottom, which is {bottom}, and is {top}; raise it", key=section.path("top"))
    if masks.round is None:
        return
    if masks.has_date_bounds:
        way = 'generalize it, as with hierarchy = { dates = ["month"] }, and leave round out'
        raise PolicyError(f"dates have no multiples; {way}", key=section.path("round"))
    for key, bound in (("top", top), ("bottom", bottom)):
        if bound is not None and (Fraction(str(bound)) / Fraction(str(masks.round))).denominator != 1:
            fault = f"is {bound}, which is no multiple of round = {masks.round}, so that it would be rounded again"
            raise PolicyError(f"{fault}; choose one that is", key=section.path(key))


def _check_together(section: Section, masks: ColumnMasks, hierarchy: Spec | None) -> None:
    """Refuse masks that undo one another, and noise where a hierarchy knows only certain values."""
    if masks.noise is not None and masks.pram is not None:
        fault = "noise makes nearly every value a different one, so that there is nothing to be drawn anew"
        raise PolicyError(f"{fault}; leave pram or noise out", key=section.path("pram"))
    if masks.noise is None or hierarchy is None:
        return
    if isinstance(hierarchy, LabelFunction):
        fault = "a function is asked for the labels of the values of a table, and noise makes others of them"
        raise PolicyError(
            f"{fault}; give intervals or ranges in place of it, or swap in place of noise", key=section.path("noise")
        )
    if isinstance(hierarchy, File):
        fault = "a hierarchy file knows certain values alone, and noise makes others of them"
        raise PolicyError(
            f"{fault}; give intervals or ranges in place of the file, or swap in place of noise",
            key=section.path("noise"),
        )
    if isinstance(hierarchy, Mask):
        fault = "digits that are masked are a code, and noise makes another code of them"
        raise PolicyError(f"{fault}; leave noise out, or use pram", key=section.path("noise"))


def refuse_masks(section: Section, role: str) -> None:
    """Refuse masks of a column whose role is never published with values of its own."""
    for key in given_mask_keys(section):
        if role == "weight":
            why = "a sampling weight can be rounded, and is masked in no other way"
        elif role == "identifier":
            why = "a column of role identifier is never published, so that there is nothing to mask"
        else:
            why = "persons are published as pseudonyms, so that there is nothing to mask"
        raise PolicyError(f"{why}; leave {key} out", key=section.path(key))


def describe_masks(masks: ColumnMasks) -> str:
    """Say in a few words how a column is masked.

    >>> describe_masks(ColumnMasks(top=90, noise=AddedNoise(0.1), round=5))
    'top 90, noise 0.1, round 5'
    """
    parts = []
    for key in MASK_KEYS:
        value = getattr(masks, key)
        if isinstance(value, AddedNoise):
            parts.append(f"noise {value.share:g}{'' if value.correlated else ' (independent)'}")
        elif isinstance(value, PostRandomization):
            parts.append(f"pram {value.keep:g}{' (invariant)' if value.invariant else ''}")
        elif value is not None:
            parts.append(f"{key} {value if isinstance(value, str) else format(value, 'g')}")
    return ", ".join(parts)
