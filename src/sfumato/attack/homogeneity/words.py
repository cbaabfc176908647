"""The figures of the two attacks in sentences, for commands and report alike."""

from typing import TYPE_CHECKING

from sfumato.page.words import amount, percent, plural, value

if TYPE_CHECKING:
    from sfumato.attack.homogeneity.disclosure import Gain
    from sfumato.attack.homogeneity.found import Homogeneous, Skewed

FINDS = (
    "The adversary has the public files, knows a person's quasi-identifiers and that the person is in the table, and "
    "so finds the person's class; without the release the adversary knows how frequent each value is in the whole "
    "table."
)


def homogeneity(found: "Homogeneous") -> tuple[str, ...]:
    """What the figures of a column mean, sentence by sentence."""
    guess = (
        f"The most frequent value of the own class is right for {percent(found.right)} of the rows, the most frequent "
        f"value of the table for {percent(found.blind)}."
    )
    every = (_certain(found), _similar(found), guess, _largest(found))
    return tuple(filter(None, every))


def _certain(found: "Homogeneous") -> str:
    if not found.certain:
        return "No class has one value only."
    rows = f"{amount(found.certain, found.rows)} of {plural(found.rows, 'row')}"
    persons = "" if found.certain_persons is None else f", of {plural(found.certain_persons, 'person')}"
    where = plural(found.certain_classes, "class", "classes")
    return f"{rows} stand in {where} of one value{persons}: who finds the class knows it for certain."


def _similar(found: "Homogeneous") -> str:
    if found.similar is None:
        return ""
    if not found.similar:
        return "No class has values that all lie under one inner node of the hierarchy."
    rows = amount(found.similar, found.rows)
    return f"{rows} stand in classes whose values all lie under one inner node of the hierarchy: their kind is certain."


def _largest(found: "Homogeneous") -> str:
    share = f"The largest share of a class is {percent(found.largest_share)}, of {value(found.value)}"
    if found.bound is None:
        return f"{share}."
    of = "" if found.protected is None else " of the values that it protects"
    return f"{share}; the policy allows {percent(found.bound)}{of}."


def skewness(found: "Skewed") -> tuple[str, ...]:
    """What the figures of a column mean, sentence by sentence."""
    after = found.gain.after - found.gain.before
    gain = f"The largest gain is {100 * after:.1f} points: {_shares(found.gain)}."
    ratio = f"The largest ratio is {times(found.ratio)}: {_shares(found.ratio)}."
    above = (
        f"{amount(found.above, found.rows)} of {plural(found.rows, 'row')} stand in classes that tell more than "
        f"{100 * found.threshold:.3g} points of some value."
    )
    return (gain, ratio, above, *_promised(found))


def _shares(gain: "Gain") -> str:
    return f"{percent(gain.before)} of the table hold {value(gain.value)}, {percent(gain.after)} of some class"


def times(gain: "Gain") -> str:
    """How many times as sure of a value one is in the class as in the table."""
    ratio = gain.after / gain.before
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"


def _promised(found: "Skewed") -> tuple[str, ...]:
    if found.bound is None:
        return ()
    return (f"The policy allows a distance of {found.bound:.3g} to the table, and no value gains more than that.",)
