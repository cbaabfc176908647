"""Requirements that are proposed can be met."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import Infeasible
from sfumato.profile.presets import NO_PRESET, PRESETS
from sfumato.profile.proposed_requirements import bound_share, choose_k


def test_k_is_never_more_than_there_are() -> None:
    """A usual k suits the table; that of a preset is its point, and more than there are is refused."""
    assert all(choose_k(NO_PRESET, people) <= people for people in range(1, 200))
    for preset in PRESETS.values():
        if preset.k is not None:
            assert choose_k(preset, preset.k) == preset.k
            with pytest.raises(Infeasible, match=f"{preset.name} asks for {preset.k}"):
                choose_k(preset, preset.k - 1)


@given(st.floats(0.001, 1), st.sampled_from([0.4, 0.5, 0.9]))
def test_bounds_can_be_met(largest: float, strictest: float) -> None:
    """A bound on shares is never below the share that the most frequent value has in the whole table."""
    bound = bound_share(largest, strictest)
    assert bound is None or (bound >= largest and bound >= strictest)
