"""The section of the private report on masked columns: what masking changed, and what can be taken off again."""

from sfumato.masking import MaskedColumn, MaskingFigures
from sfumato.masking.mask_promises import OF_MASKED_VALUES, promise_sentences
from sfumato.masking.masking_figures import NumberChanges
from sfumato.page.html import Markup, name, note, paragraph, section, table, tag
from sfumato.page.wording import percent
from sfumato.policy.column_masks import describe_masks

HOW = (
    "Masks change values before anything else is done with them. All other figures on this page, and the promise, are "
    "of masked values: an adversary of the attacks below is taken to know these, which is more than anybody does who "
    "knows the true ones."
)
HOW_DRAWN = (
    "Masks change values before rows are put into groups. Groups are of masked values; what is drawn from them is "
    "compared with the true ones below, and need not be a multiple, or within a bound."
)
CHANGES = (
    "Compared row by row, all that came in. KS is Kolmogorov and Smirnov's distance between the distributions; ranks "
    "are how far a value moved among them on average; frequencies are the share of rows that would have to change for "
    "the frequencies of values to be as they were."
)
RECOVERY = (
    "Mean squared errors of guesses of the true value, as shares of the variance of the column: of somebody who takes "
    "the masked value for it, of a filter over all columns with noise, of Bayes' rule with the distribution that the "
    "masked values tell, and of somebody who knows one of the other true values besides (as predicted). What is "
    "recovered is what the best of the first three leaves of the variance. Quasi-identifiers are taken as masked, "
    "before they are generalized."
)


def masking_section(figures: MaskingFigures, *, drawn: bool = False) -> Markup:
    """Show what each mask promises, what it changed, and what of the noise is recovered; of `drawn` rows, before."""
    masks = {column: one.applied.masks for column, one in figures.columns.items()}
    values = {column: one.applied.values or 0 for column, one in figures.columns.items()}
    promises = [tag("li", sentence) for sentence in promise_sentences(masks, values, published=False)]
    distances = table(
        ("Column", "Cells changed", "Correlation", "KS", "Ranks", "Frequencies", "ε"),
        [_distances(column, one) for column, one in figures.columns.items()],
        "figures",
    )
    numbers = {column: one.numbers for column, one in figures.columns.items() if one.numbers is not None}
    parts = [paragraph(HOW_DRAWN if drawn else HOW), tag("ul", *promises, class_="limits")]
    parts += [distances] if drawn else [paragraph(OF_MASKED_VALUES), distances]
    if numbers:
        moments = [_moments(column, one) for column, one in numbers.items()]
        parts.append(table(("Column", "Mean", "Standard deviation"), moments, "figures"))
    parts.append(note(CHANGES))
    if figures.recovery:
        lines = [
            (
                name(one.column),
                *(
                    "" if error is None else f"{error:.3g}"
                    for error in (one.masked, one.filtered, one.bayes, one.informed)
                ),
                percent(one.recovered),
            )
            for one in figures.recovery
        ]
        errors = ("Noise on", "Masked value", "Filter", "Bayes", "Knowing another", "Recovered")
        parts += [tag("h3", "What can be recovered of noise"), table(errors, lines, "figures"), note(RECOVERY)]
    return section("Masked columns", *parts)


def _distances(column: str, found: MaskedColumn) -> tuple[object, ...]:
    """How far values are from what they were; figures of numbers are empty where there are none."""
    title = tag("span", name(column), tag("small", describe_masks(found.applied.masks)))
    figures = ["", "", ""]
    if found.numbers is not None:
        correlation = found.numbers.correlation
        figures = ["" if correlation is None else f"{correlation:.3f}", f"{found.numbers.distance:.3f}"]
        figures.append(percent(found.numbers.displacement))
    epsilon = "" if found.applied.epsilon is None else f"{found.applied.epsilon:.2f}"
    return title, percent(found.changed), *figures, percent(found.frequencies), epsilon


def _moments(column: str, found: NumberChanges) -> tuple[object, ...]:
    """Mean and standard deviation, before and after."""
    means = [mean if isinstance(mean, str) else f"{mean:.4g}" for mean in found.mean]
    return name(column), " → ".join(means), " → ".join(f"{deviation:.4g}" for deviation in found.deviation)
