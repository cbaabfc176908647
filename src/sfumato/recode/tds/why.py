"""Why a requirement on the join cannot be met, and what would help."""

from collections.abc import Sequence

import numpy as np

from sfumato.models import XYAnonymity
from sfumato.recode.tds.link_view import LinkView


def unreachable(views: Sequence[LinkView]) -> str:
    """A sentence for each requirement that the most general table fails, and the nearest that it meets."""
    return "; ".join(map(_sentence, views))


def _sentence(view: LinkView) -> str:
    entry, figure, names = view.asked.entry, view.figures["y"], ", ".join(view.matching.star.names)
    joined = f"joined with {names}" if names else "the table itself"
    x, y = ", ".join(entry.x), ", ".join(entry.y)
    if isinstance(entry, XYAnonymity):
        return (
            f"xy-anonymity (x = {x}; y = {y}; k = {entry.k}) cannot be met: with every quasi-identifier fully "
            f"generalized, {joined}, some value on x is linked to {figure:,.0f} different values on y; lower k to "
            f"that{_or_leave(view)}"
        )
    bound = np.ceil(figure * 1e4) / 1e4
    return (
        f"xy-linkability (x = {x}; y = {y}) cannot be met: with every quasi-identifier fully generalized, {joined}, "
        f"some value on x implies a protected value on y with a confidence of {figure:.4f}; raise k to {bound:.4f}, "
        f"or leave that value out of values{_or_leave(view)}"
    )


def _or_leave(view: LinkView) -> str:
    """The columns of x that generalizing does not reach, where leaving them out would help.

    Those of the current table that are not quasi-identifiers; those of earlier releases, unless y is of the current
    table alone: then they neither help nor hurt.
    """
    quasi = {attribute.name for attribute in view.matching.star.encoded.quasi}
    own = [name for name in view.asked.x if name not in quasi]
    earlier = [] if view.judge.antimonotone else [name for name in view.asked.entry.x if name not in {*quasi, *own}]
    return f", or leave {', '.join([*own, *earlier])} out of x" if own or earlier else ""
