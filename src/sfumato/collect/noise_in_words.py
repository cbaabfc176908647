"""How sure anyone can be who sees a report, in words for the person who answers."""

import math

import numpy as np

from sfumato.channels.additive_noise import AdditiveNoise, UniformNoise
from sfumato.channels.category_noise import MatrixNoise, UnaryNoise
from sfumato.collect.basket_noise import FlipNoise
from sfumato.collect.noise import ColumnNoise, Noise, Unperturbed
from sfumato.page.wording import percent

_NO_BOUND = "No bound holds for every report (there is no local ε)"


def describe_noise(noise: ColumnNoise) -> str:
    """Say in a sentence what happens to an answer before it is sent.

    >>> from sfumato.channels.category_noise import ResponseNoise
    >>> describe_noise(ResponseNoise(("a", "b"), 0.6))
    'A die decides: with a chance of 60.0% your answer is sent, and else any of the 2 answers, each as likely.'
    """
    match noise:
        case AdditiveNoise():
            words = {
                "gaussian": f"drawn from a normal distribution of standard deviation {noise.spread:g}",
                "uniform": f"anywhere from {-noise.spread:g} to {noise.spread:g}, each as likely",
                "laplace": f"drawn from a Laplace distribution of scale {noise.spread:g}",
            }[noise.kind]
            return f"A random number is added to yours: {words}."
        case UnaryNoise():
            yours, others = percent(noise.keep), percent(noise.add)
            return f"A set of answers is sent: yours is in it with a chance of {yours}, each other one with {others}."
        case FlipNoise():
            kept = percent(noise.keep)
            return f"Each item is decided by itself: with a chance of {kept} it is sent as it is, else turned."
        case Unperturbed():
            return "Your answer is sent as it is."
    if isinstance(noise, MatrixNoise):
        return "A die decides which answer is sent, by the table of chances in noise.json for your answer."
    rest = f"and else any of the {len(noise.values)} answers, each as likely"
    return f"A die decides: with a chance of {percent(noise.keep)} your answer is sent, {rest}."


def describe_certainty(noise: ColumnNoise) -> str:
    """Say in a sentence or two how sure anyone can be of an answer who sees its report.

    >>> from sfumato.channels.additive_noise import LaplaceNoise
    >>> print(describe_certainty(LaplaceNoise(20.0, (10.0, 90.0))))
    Whoever sees what is sent can tell your number to within ±59.9 of it, 95 times in 100. Whatever is sent, it is at
    most 55 times as likely with your answer as with any other (local ε = 4).
    """
    match noise:
        case AdditiveNoise():
            half = float(noise.quantile(np.array([0.975]))[0])
            within = f"Whoever sees what is sent can tell your number to within ±{half:.3g} of it, 95 times in 100."
            if isinstance(noise, UniformNoise):
                edge = "what is sent from beyond the edge of the allowed numbers leaves few, and the outermost only one"
                return f"{within} {_NO_BOUND}: {edge}."
            return f"{within} {_ratio(noise.epsilon)}"
        case Unperturbed():
            return "Whoever sees it knows your answer."
        case FlipNoise():
            right = max(noise.keep, 1 - noise.keep)
            apart = f"local ε = {noise.item_epsilon:.3g} for each item, {noise.epsilon:.3g} for all of them"
            return (
                f"Of any one item, whoever sees what is sent is right with a chance of at most {percent(right)}, where "
                f"half would be guessing ({apart})."
            )
    count = len(noise.values)
    if isinstance(noise, UnaryNoise):
        odds = math.exp(noise.epsilon)
        best = odds / (odds + count - 1)
    else:
        chances = noise.transition
        seen = chances.sum(axis=0)
        best = float((chances.max(axis=0)[seen > 0] / seen[seen > 0]).max())
    guess = f"who holds all {count} answers for equally likely and sees what is sent"
    return (
        f"Somebody {guess} is right about yours with a chance of at most {percent(best)}; without it, "
        f"{percent(1 / count)}. {_ratio(noise.epsilon)}"
    )


def describe_form(noise: Noise) -> str:
    """Say what bound holds for all questions together."""
    if math.isinf(noise.epsilon):
        some = [name for name, one in noise.columns.items() if math.isinf(one.epsilon)]
        return f"There is no bound for all answers together, since there is none for {', '.join(some)}."
    return f"All questions together have a local ε of {noise.epsilon:.3g}."


def _ratio(epsilon: float) -> str:
    if math.isinf(epsilon):
        return f"{_NO_BOUND}: some are far likelier with your answer than with another."
    times = math.exp(epsilon) if epsilon < 30 else math.inf
    much = f"{times:.2g}" if times < 10 else f"{times:,.0f}"
    bound = f"at most {much} times as likely with your answer as with any other (local ε = {epsilon:.3g})"
    return f"Whatever is sent, it is {bound}."
