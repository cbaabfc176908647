"""The figures in sentences: true to the figures, and never that anybody is safe."""

from dataclasses import replace

import pytest

from sfumato.attack.definetti import (
    PROMISE,
    DefinettiFigures,
    LinesBeyondBound,
    SampleSize,
    describe_figures,
    describe_sample,
)

FOUND = DefinettiFigures(
    lines=1000,
    sampled=SampleSize(1000, 1000),
    values=4,
    bound=0.5,
    largest_share=0.4567,
    blind=0.3,
    random=0.35,
    bag=0.4,
    attack=0.62,
    without_bag=0.5,
    outside=0.45,
    largest_posterior=0.99999,
    beyond_bound=LinesBeyondBound(250, 0.8),
)


def test_sentences_hold_the_figures() -> None:
    """The bag bound, the attack, the same learner outside and how sure it is: each in a sentence of its own."""
    bags, inside, outside, beyond = describe_figures("illness", FOUND)
    assert "value of 'illness' has of a class is 45.7%; the policy allows 50.0%" in bags
    assert "right for 62.0% of the people in the table" in inside
    assert "own bag is right for 40.0%, the most frequent value of the table for 30.0%" in inside
    assert "45.0% of people outside the table, so that being in the table costs people 17.0 points" in outside
    assert "surer than the bound of 250 of 1,000 people (>99.9% at most), and right about 80.0% of them" in beyond


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"outside": 0.61}, "nearly as many or more: what it guesses it has learned about everybody alike"),
        ({"outside": 0.7}, "nearly as many or more"),
        ({"outside": None}, "nobody could be held out"),
        ({"bound": None}, "sets no bound to it"),
        ({"bound": None}, "surer than the largest share of a class of 250"),
        ({"beyond_bound": LinesBeyondBound(0, None)}, "surer than the bound of nobody"),
    ],
)
def test_sentences_follow_the_figures(change: dict[str, object], words: str) -> None:
    """What the sentences say changes with what was found."""
    changed = describe_figures("illness", replace(FOUND, **change))  # type: ignore[arg-type]  # any figure may change
    assert words in " ".join(changed)
    assert words not in " ".join(describe_figures("illness", FOUND))


def test_a_sample_is_said() -> None:
    """Whoever reads a figure of a sample reads how large it was; nothing is said where all lines were looked at."""
    assert describe_sample(FOUND) == ""
    words = describe_sample(replace(FOUND, sampled=SampleSize(500, 200)))
    assert words == "Trained on 500 lines and guessed about 200, drawn at random from 1,000."


def test_nobody_is_called_safe() -> None:
    """No sentence reassures, whatever was found."""
    worst = replace(FOUND, attack=0.1, bag=0.1, outside=0.1, beyond_bound=LinesBeyondBound(0, None), bound=1.0)
    said = " ".join([*describe_figures("x", FOUND), *describe_figures("x", worst), PROMISE]).lower()
    assert not any(word in said for word in ("safe", "anonymous", "secure", "harmless", "no risk"))
