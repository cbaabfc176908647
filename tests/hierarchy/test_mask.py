"""Masks from the right and the left, with and without a length."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import HierarchyError, PolicyError
from sfumato.hierarchy import Mask

codes = st.lists(st.text("ab01", max_size=5), unique=True)


def paths(spec: Mask, *values: str | None) -> list[list[str | None]]:
    """The labels of each value on all levels."""
    tree = spec.bind(values, column="zip")
    return [[tree.labels[level][code] for level, code in enumerate(row)] for row in tree.matrix.tolist()]


def test_the_example_of_the_policy() -> None:
    """4350 → 435* → 43** → 4*** → *, as the policy's documentation has it."""
    assert paths(Mask("right"), "4350") == [["4350", "435*", "43**", "4***", "*"]]


def test_left() -> None:
    """From the left the end of a value is kept."""
    assert paths(Mask("left"), "4350") == [["4350", "*350", "**50", "***0", "*"]]


def test_short_values_are_all_stars() -> None:
    """A value that is masked in full is the root at once, so that no label changes with the longest value."""
    assert paths(Mask("right"), "4350", "12", None)[1:] == [["12", "1*", "*", "*", "*"], [None] * 4 + ["*"]]


@given(codes, st.text("ab01", min_size=6, max_size=9), st.sampled_from(["left", "right"]))
def test_a_longer_value_changes_no_label(values: list[str], longer: str, side: str) -> None:
    """Below the root the labels of the others stay as they are."""
    before, after = paths(Mask(side), *values), paths(Mask(side), *values, longer)
    assert [path[:-1] for path in before] == [new[: len(old) - 1] for old, new in zip(before, after[:-1], strict=True)]


def test_length_lets_codes_meet() -> None:
    """With a length the short code is the beginning of the long one, from the left its end."""
    short, long = paths(Mask("right", length=5), "I21", "I21.0")
    assert short == ["I21", "I21*", "I21**", "I2***", "I****", "*"]
    assert long == ["I21.0", "I21.*", "I21**", "I2***", "I****", "*"]
    assert paths(Mask("left", length=3), "21", "321")[0] == ["21", "*21", "**1", "*"]


def test_too_long() -> None:
    """All values longer than the length are listed in one error."""
    with pytest.raises(HierarchyError, match=r"longer than the 2 characters of its mask: 'abc', 'abcd'; raise length"):
        Mask("right", length=2).bind(["abc", "ab", "abcd"], column="zip")


def test_stars_in_values() -> None:
    """A star in a value could not be told from a masked character, and is refused."""
    with pytest.raises(HierarchyError, match=r"column 'zip': has '\*' in: '4\*'"):
        Mask("right").bind(["4*", "42"], column="zip")


def test_loss_counts_bound_values() -> None:
    """The bound values are the leaves."""
    tree = Mask("right").bind(["11", "12", "21"], column="zip")
    assert [level.tolist() for level in tree.loss] == [[0, 0, 0], [0.5, 0], [1]]
    assert (tree.ranks, tree.places) == (None, 0)


def test_nothing_to_mask() -> None:
    """A column without values, of NULL or of the empty text has height 1."""
    assert Mask("right").bind([], column="zip").matrix.shape == (0, 2)
    assert paths(Mask("right"), None, "") == [[None, "*"], ["", "*"]]


@pytest.mark.parametrize(
    ("mask", "length", "key", "message"),
    [
        ("rigth", None, "mask", 'must be "right" or "left", not \'rigth\'; did you mean right?'),
        (["right"], None, "mask", 'must be "right" or "left"'),
        ("left", True, "length", "must be a whole number of at least 1, not True"),
        ("left", 0, "length", "must be a whole number of at least 1, not 0"),
        ("left", 2.5, "length", "must be a whole number of at least 1, not 2.5"),
    ],
)
def test_refusals(mask: str, length: int | None, key: str, message: str) -> None:
    """A declaration that means nothing is refused by its key."""
    with pytest.raises(PolicyError) as caught:
        Mask(mask, length)
    assert caught.value.key == key
    assert message in caught.value.message
