"""A label on several levels stands for the same values on all of them, or it is refused where levels are mixed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import HierarchyError
from sfumato.hierarchy.hierarchy import ROOT, Hierarchy, build, refuse_ambiguous_labels


@st.composite
def trees(draw: st.DrawFn) -> Hierarchy:
    """A nested hierarchy whose labels take the same few names again and again, NULL and ``*`` among them."""
    names = st.sampled_from([*"abcdef", "*", None])
    levels = [draw(st.lists(names, unique=True, min_size=1, max_size=6))]
    groups = list(range(len(levels[0])))
    for _ in range(draw(st.integers(0, 3))):
        merged = [draw(st.integers(0, group)) for group in range(len(groups))]
        groups = [merged[group] for group in groups]
        texts = draw(st.lists(names, unique=True, min_size=len(groups), max_size=len(groups)))
        levels.append([texts[group] for group in groups])
    return build(levels)


def ambiguous(tree: Hierarchy) -> set[str | None]:
    """The labels that stand for different values on different levels, by looking at each of them."""
    covers: dict[str | None, set[bytes]] = {}
    for level, labels in enumerate(tree.labels):
        for code, label in enumerate(labels):
            covers.setdefault(label, set()).add(np.flatnonzero(tree.matrix[:, level] == code).tobytes())
    return {label for label, places in covers.items() if len(places) > 1 and label != ROOT}


@given(trees())
def test_what_is_refused(tree: Hierarchy) -> None:
    """Exactly the labels with different values under them are refused, and all of them are named."""
    wrong = ambiguous(tree)
    if not wrong:
        refuse_ambiguous_labels(tree, column="x")
        return
    with pytest.raises(HierarchyError) as caught:
        refuse_ambiguous_labels(tree, column="x")
    listed = str(caught.value).split("levels: ")[1].split(";")[0].split(", ")
    assert set(listed) == {"NULL" if label is None else repr(label) for label in wrong}


@pytest.mark.slow
def test_many_labels_that_stay_the_same() -> None:
    """Two hundred thousand leaves that repeat on three levels are looked at in one pass, not one by one."""
    leaves = [str(leaf) for leaf in range(200_000)]
    refuse_ambiguous_labels(build([leaves, leaves, leaves]), column="x")
