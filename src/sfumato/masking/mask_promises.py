"""What each mask promises, in words, and what none of them does.

The sentences are for the manifest as well as for the report. So they are made of the policy and of what is published,
and of no figure of the true values.
"""

import math
from collections.abc import Mapping

from sfumato.errors import listing, quote
from sfumato.policy.column_masks import ColumnMasks, describe_masks

OF_MASKED_VALUES = (
    "Masking by itself promises none of the definitions under 'promise', which hold of the masked values: a class is "
    "one of masked quasi-identifiers, and sensitive values are counted as they are published."
)
"""What goes with every table that has a masked column."""

_NORMAL95 = 1.96


def promise_sentences(
    masks: Mapping[str, ColumnMasks], values: Mapping[str, int], *, published: bool = True
) -> list[str]:
    """Say of each masked column what its masks promise, in their order; of several, each of what it was given.

    `values` has, for columns with post-randomization, how many different values there are: those that are `published`,
    which may be fewer than were drawn among, or else these.

    >>> print(*promise_sentences({"pay": ColumnMasks(round=100)}, {}))
    'pay': values are rounded to multiples of 100; the true one is within 50 of it.
    >>> print(*promise_sentences({"age": ColumnMasks(top=90, round=5)}, {}))
    'age': all values above 90 count as 90, and look alike; values are rounded to multiples of 5; what each was before
    this step is within 2.5 of it.
    >>> from sfumato.policy.column_masks import PostRandomization
    >>> drawn = {"job": ColumnMasks(pram=PostRandomization(0.5))}
    >>> print(*promise_sentences(drawn, {"job": 2}))
    'job': a value is kept with chance 0.5 and else drawn, each value as likely; with m values to draw among, one is at
    most 1 + 1 m times likelier to be seen where it is true than where another is: 3 times (ε = 1.10) if the 2 that are
    published are all, and more if there were others.
    >>> print(*promise_sentences(drawn, {"job": 2}, published=False))
    'job': a value is kept with chance 0.5 and else drawn, each value as likely; with 2 values to draw among, one is at
    most 3 times likelier to be seen where it is true than where another is (ε = 1.10).
    """
    return [
        f"{quote(name)}: {'; '.join(_parts(one, values.get(name, 0), published=published))}."
        for name, one in masks.items()
    ]


def _parts(masks: ColumnMasks, values: int, *, published: bool) -> list[str]:
    coded = masks.top is not None or masks.bottom is not None
    steps = coded + sum(one is not None for one in (masks.noise, masks.swap, masks.round, masks.pram))
    true_value = "the true value" if steps == 1 else "what each was before this step"
    become = "are published as" if steps == 1 else "count as"
    parts = []
    if masks.top is not None:
        parts.append(f"all values above {masks.top} {become} {masks.top}, and look alike")
    if masks.bottom is not None:
        parts.append(f"all values below {masks.bottom} {become} {masks.bottom}, and look alike")
    if masks.noise is not None:
        share = masks.noise.share
        together = ", correlated as the columns with noise are" if masks.noise.correlated else ""
        after = "the published one" if steps == 1 else "what it is then"
        parts.append(
            f"normal noise is added, with {share:g} of the column's standard deviation{together}; {true_value} is "
            f"within {_NORMAL95 * share:.3g} standard deviations of {after} with chance 95%"
        )
    if masks.swap is not None:
        parts.append(
            "values change places by rank swapping; each is that of somebody whose rank is within "
            f"{100 * masks.swap:g}% of all ranks"
        )
    if masks.round is not None:
        half = masks.round / 2
        shown = f"{int(half)}" if half == int(half) else f"{half:g}"
        before = "the true one" if steps == 1 else true_value
        parts.append(f"values are rounded to multiples of {masks.round:g}; {before} is within {shown} of it")
    if masks.pram is not None and masks.pram.invariant:
        seen = "true" if steps == 1 else "what it was before this step"
        parts.append(
            f"a value is kept with chance {masks.pram.keep:g} and else drawn, by how frequent values are, so that "
            f"frequencies stay on average; one that is seen is {seen} with at least that chance"
        )
    elif masks.pram is not None:
        parts.append(f"a value is kept with chance {masks.pram.keep:g} and else drawn, each value as likely")
        parts += _state_odds(masks.pram.keep, values, published=published)
    return parts


def _state_odds(keep: float, values: int, *, published: bool) -> list[str]:
    """Say how much likelier a value is seen where it is true, with so many values; nothing of one value."""
    if values < 2:
        return []
    odds = even_odds(keep, values)
    likelier = "times likelier to be seen where it is true than where another is"
    if not published:
        return [
            f"with {values:,} values to draw among, one is at most {odds:.3g} {likelier} (ε = {math.log(odds):.2f})"
        ]
    bound = f"with m values to draw among, one is at most 1 + {keep / (1 - keep):.3g} m {likelier}"
    here = f"{odds:.3g} times (ε = {math.log(odds):.2f}) if the {values:,} that are published are all"
    return [f"{bound}: {here}, and more if there were others"]


def drawn_masking_statement(masks: Mapping[str, ColumnMasks]) -> str:
    """Say the same of rows that are drawn: masks changed what they were drawn from, and not what they hold.

    >>> print(drawn_masking_statement({"pay": ColumnMasks(round=100)}))
    Masked before rows were put into groups: 'pay' (round 100). Groups are of masked values, and what is published was
    drawn from these: it need not be a multiple, or within a bound.
    """
    named = ", ".join(f"{quote(name)} ({describe_masks(one)})" for name, one in masks.items())
    return (
        f"Masked before rows were put into groups: {named}. Groups are of masked values, and what is published was "
        "drawn from these: it need not be a multiple, or within a bound."
    )


def even_odds(keep: float, values: int) -> float:
    """How much likelier a value is seen where it is true than where another is, where `values` are drawn evenly.

    >>> even_odds(0.5, 2)
    3.0
    """
    return 1 + keep * values / (1 - keep)


def masking_statement(masks: Mapping[str, ColumnMasks], published: Mapping[str, int]) -> str:
    """Say in a paragraph which columns are masked, what that promises, and what it does not; nothing where none is."""
    if not masks:
        return ""
    return " ".join(
        [
            f"Masked before anything else: {listing(masks)}.",
            *promise_sentences(masks, published),
            OF_MASKED_VALUES,
        ]
    )
