"""Sections of the private report on risk: who can be found, what classes tell, and what attacks found."""

from collections.abc import Callable
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from sfumato.attack.all_attacks import Attacks
from sfumato.attack.homogeneity import ClassMeasure, Disclosure, measure_disclosure
from sfumato.attack.result import AttackResult
from sfumato.attack.sensitive_columns import sensitive_columns_from_recoding
from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.page.charts import bar
from sfumato.page.html import Markup, html, join, name, note, paragraph, section, some_names, table, tag
from sfumato.page.wording import amount, chance, percent, plural, value
from sfumato.publish.publication import Publication
from sfumato.report.assessment import Assessment
from sfumato.report.column_bins import bin_class_sizes, name_size_bins
from sfumato.risk import DEFAULT_K, PersonRisk, ProsecutorRisk, measure_person_risk, required_k
from sfumato.risk.adversaries import WEIGHTED, Adversaries, adversaries_of
from sfumato.risk.measured_table import count_persons, sum_weights

if TYPE_CHECKING:
    from sfumato.attack.definetti import DefinettiFigures, DefinettiResult

# ---------------------------------------------------------------------------------------------------------------------
# Re-identification risk, before and after, and the sizes of classes behind it

SPLIT_RISK = (
    ": the right line of sensitive values. The line of quasi-identifiers is as easy to find as before, since they are "
    "published as they were."
)
REGISTER = (
    "No register of the population is at hand, so the table is taken for the whole population: the worst that "
    "journalist and marketer can do. Where people of the register are not in the table they do worse; sfumato risk "
    "measures it with a population table or a sampling fraction."
)
BY_WEIGHTS = (
    "Journalist and marketer look people up in the population, of which sampling weights say how many each row stands "
    "for: the individual risk of Benedetti and Franconi."
)


def risk_section(assessment: Assessment, raw: EquivalenceClasses | None, before: ProsecutorRisk | None) -> Markup:
    """Figures, then sizes; `raw` are the classes of the table as it came in, and `before` is their risk, if known."""
    publication = assessment.publication
    if raw is None or before is None:
        return _risk_after(assessment)
    unit = publication.protected_unit
    who = note(
        "Prosecutor risk: the chance that the adversary picks the right "
        f"{unit} for someone in the table. Before is the input as it came; after is what is published",
        SPLIT_RISK if publication.split else ".",
    )
    after, classes = assessment.risk, publication.recoding.classes
    alone = "Rows alone in their class" if unit == "row" else "Rows of a person alone in their class"
    lines = [
        ("Highest chance", chance(before.highest), chance(after.highest)),
        ("Average chance", percent(before.average), percent(after.average)),
        (alone, amount(before.uniques, raw.rows), amount(after.uniques, classes.rows)),
        ("Classes", f"{len(raw):,}", f"{len(classes):,}"),
        ("Rows per class, on average", *(f"{part.rows / len(part):,.1f}" for part in (raw, classes))),
    ]
    k = required_k(publication.policy.privacy)
    if k is not None:
        below = [amount(int(part.sizes[part.persons < k].sum()), part.rows) for part in (raw, classes)]
        lines.append((f"Rows in classes below k = {k:,}", below[0], below[1]))
    return section(
        "Risk, before and after",
        who,
        table(("", "Before", "After"), lines),
        *_three_adversaries(publication, raw),
        *_several_rows(assessment, raw),
        _class_sizes(raw, classes, "rows" if unit == "row" else "people"),
    )


def _risk_after(assessment: Assessment) -> Markup:
    """The same figures of what is published alone."""
    publication = assessment.publication
    after, classes = assessment.risk, publication.recoding.classes
    lines = [
        ("Highest chance", chance(after.highest)),
        ("Average chance", percent(after.average)),
        ("Rows alone in their class", amount(after.uniques, classes.rows)),
        ("Classes", f"{len(classes):,}"),
        ("Rows per class, on average", f"{classes.rows / len(classes):,.1f}"),
    ]
    k = required_k(publication.policy.privacy)
    if k is not None:
        below = amount(int(classes.sizes[classes.persons < k].sum()), classes.rows)
        lines.append((f"Rows in classes below k = {k:,}", below))
    who = note("Prosecutor risk: the chance that the adversary picks the right row for someone in the table.")
    why = paragraph("The risk before was not measured. ", publication.encoded.why_unmeasured or "")
    return section("Risk, after", who, why, table(("", "After"), lines))


def _three_adversaries(publication: Publication, raw: EquivalenceClasses) -> list[Markup]:
    """Who is sure of a person, who is content with anybody, and who is after as many as possible."""
    before, after = adversaries_of(raw), adversaries_of(publication.recoding.classes)
    if (weights := publication.encoded.line_weights) is not None and not publication.split:
        before, after = _weighted_adversaries(publication, weights)
    pairs = [
        ("Prosecutor", "highest chance for a person known to be in the table", "prosecutor", "highest"),
        ("Journalist", "highest chance for anybody, by way of a register", "journalist", "highest"),
        ("Marketer", f"share of {before.counts} tied right, if all are tied to somebody", "marketer", "average"),
        ("At risk", f"share of {before.counts} with a chance above {percent(before.threshold)}", "prosecutor", "above"),
    ]
    lines = [
        (join([title, tag("small", meaning)]), *(percent(getattr(getattr(side, who), key)) for side in (before, after)))
        for title, meaning, who, key in pairs
    ]
    how = note(BY_WEIGHTS if before.basis == WEIGHTED else REGISTER)
    return [tag("h3", "Three adversaries"), table(("", "Before", "After"), lines), how]


def _weighted_adversaries(publication: Publication, weights: FloatArray) -> tuple[Adversaries, Adversaries]:
    """Before and after, where sampling weights say how many people of the population each row stands for.

    weights: float[lines]; class_of: int[lines], of the table as it came in; published: those of its lines that are.
    """
    encoded, recoding = publication.encoded, publication.recoding
    columns = [attribute.column for attribute in encoded.quasi]
    packed = pack_tuples([column.codes for column in columns], [column.width for column in columns])
    persons = None if encoded.individual is None else encoded.individual.codes.astype(np.int64)
    class_of, every = number_tuples(packed)[0], np.arange(encoded.lines)
    published = every if recoding.published is None else np.flatnonzero(recoding.published)

    def measure(lines: IntArray, class_of: IntArray) -> Adversaries:
        counts = None if encoded.counts is None else encoded.counts.take(lines)
        classes = count_persons(class_of, None if persons is None else persons[lines], counts)
        return adversaries_of(classes, weights=sum_weights(weights[lines], class_of, classes))

    return measure(every, class_of), measure(published, recoding.class_of[published])


def _class_sizes(raw: EquivalenceClasses, classes: EquivalenceClasses, counted: str) -> Markup:
    """Two histograms over the same bins, back to back."""
    before, after = bin_class_sizes(raw), bin_class_sizes(classes)
    full = float(max(before.shares.max(), after.shares.max()))
    lines = [
        (label, percent(old), bar(old / full, kind="hollow", leftward=True), bar(new / full), percent(new))
        for label, old, new in zip(name_size_bins(), before.shares.tolist(), after.shares.tolist(), strict=True)
    ][: max(before.used, after.used)]
    title = tag("h3", f"Share of rows by the size of their class (in {counted})")
    return tag("figure", title, table(("Size", "Before", "", "", "After"), lines, "sizes"))


SEVERAL_ROWS = (
    "Several rows of one person fill a class without hiding anybody, and the pseudonym ties a person's rows together: "
    "whoever knows enough of them looks for the pseudonym that stands in all their classes. What hides a person then "
    "is the people who stand in exactly the same set of classes, the person among them."
)


def _several_rows(assessment: Assessment, raw: EquivalenceClasses) -> list[Markup]:
    """Persons and their links before and after, where a column names persons."""
    after, asked = assessment.persons, required_k(assessment.publication.policy.privacy)
    if after is None:
        return []
    how = (
        f" Measured with k = {DEFAULT_K}, since the policy names none."
        if asked is None
        else f" Measured with k = {asked:,}."
    )
    k, both = after.k, (measure_person_risk(raw, after.k), after)
    rows: dict[str, Callable[[PersonRisk], str]] = {
        "Rows per person (rpi)": lambda side: f"{side.rpi:,.4g}",
        f"Classes of {k:,} rows or more, but fewer than {k:,} people": lambda side: (
            f"{side.vulnerable:,} ({percent(side.vulnerable_share)})"
        ),
        "Classes of one person's rows": lambda side: f"{side.single:,} ({percent(side.single_share)})",
        f"People whose set of classes fewer than {k:,} share": lambda side: amount(side.linked, side.persons),
        "Fewest people who share their set of classes": lambda side: f"{side.linked_fewest:,}",
    }
    lines = [(label, *map(text, both)) for label, text in rows.items()]
    return [tag("h3", "Several rows per person"), note(SEVERAL_ROWS, how), table(("", "Before", "After"), lines)]


# ---------------------------------------------------------------------------------------------------------------------
# What classes tell of each sensitive column, asked for or not

MOST_SENSITIVE = 20
"""Of so many sensitive columns at most."""


def disclosure_by_column(publication: Publication) -> dict[str, Disclosure]:
    """What the classes tell of every sensitive column, in the policy's order, by the homogeneity attack's measures."""
    told = sensitive_columns_from_recoding(publication.encoded, publication.recoding, publication.policy)
    return {column: measure_disclosure(bag.bag, bag.sizes) for column, bag in told.items()}


def disclosure_section(publication: Publication) -> Markup:
    """A part for each sensitive column; nothing where there is none."""
    disclosures = disclosure_by_column(publication)
    if not disclosures:
        return section("What classes tell", paragraph("The policy names no sensitive column, so none was looked at."))
    how = note(
        "Shown whether the policy asks for it or not. “Whole” is the input as one class, the best any "
        "release can reach; “average” is over published rows; “worst” is the most telling class."
    )
    limited = {column for model in publication.policy.privacy for column in model.looks_at}
    parts = [
        tag(
            "article",
            tag("h3", name(column)),
            html("") if column in limited else _unlimited(),
            table(("", "Whole", "Average", "Worst"), _disclosure_lines(disclosure)),
            _worst_cases(disclosure),
        )
        for column, disclosure in list(disclosures.items())[:MOST_SENSITIVE]
    ]
    left = list(disclosures)[MOST_SENSITIVE:]
    more = [paragraph("Not shown, so that the page has an end: ", some_names(left), ".")] if left else []
    return section("What classes tell", how, *parts, *more)


def _unlimited() -> Markup:
    return paragraph(tag("strong", "No requirement looks at this column: "), "nothing limits what a class tells of it.")


def _disclosure_lines(disclosure: Disclosure) -> list[tuple[object, ...]]:
    def line(title: str, term: str, figure: ClassMeasure, text: Callable[[float], str]) -> tuple[object, ...]:
        label = join([title, tag("small", term)]) if term else title
        return (label, text(figure.whole), text(figure.average), text(figure.worst))

    return [
        line("Different values", "distinct l", disclosure.distinct, lambda figure: f"{figure:.3g}"),
        line("As uncertain as so many equal values", "entropy l", disclosure.entropy, lambda figure: f"{figure:.2f}"),
        line("Largest share of one value", "", disclosure.share, percent),
        line("Distance to the whole table", "variational", disclosure.distance, lambda figure: f"{figure:.3f}"),
        line(
            "Largest posterior gain",
            "share in class − share in table",
            disclosure.gain,
            lambda gain: f"{100 * gain:.1f} pp",
        ),
    ]


def _worst_cases(disclosure: Disclosure) -> Markup:
    """The worst cases in sentences."""
    most = disclosure.most
    gain = (
        f"The most is told of {value(most.value)}: {percent(most.before)} of the whole table hold it, "
        f"{percent(most.after)} of the class that tells most. "
    )
    share = f"The largest share of a class, {percent(disclosure.share.worst)}, is {value(disclosure.top)}. "
    certain = "No class has one value only."
    if disclosure.certain:
        rows = plural(disclosure.certain, "row stands", "rows stand")
        certain = f"{rows} in classes of a single value: who finds the class knows it for certain."
    return paragraph(gain, share, certain)


# ---------------------------------------------------------------------------------------------------------------------
# Attacks: what each assumes, how often it is right, and how often one is without the release

HOW_ATTACKED = (
    "Each is tried on what is published, with less effort than the command of its name takes (sfumato attack). Success "
    "is the share that the attack gets right, beside the share that one gets right who has not seen the release; the "
    "bound is what the policy promises of that share, where it promises anything. A promise on shares of a class binds "
    "what a class tells, and not what a learner or one who knows the algorithm makes of all classes."
)
MOST_LINES = 10
"""So many lines of one attack are shown."""


def attacks_section(attacks: Attacks) -> Markup:
    """A table of all, then what each assumes and found."""
    every = attacks.results
    by_attack = [list(results)[:MOST_LINES] for _, results in groupby(every, key=lambda result: result.attack)]
    lines = [
        (
            join([result.attack, tag("small", result.counts)]),
            _share(result.success, "not tried"),
            _share(result.baseline, "–"),
            _share(result.bound, "none" if result.success is not None else "–"),
        )
        for results in by_attack
        for result in results
    ]
    left = len(every) - len(lines)
    more = [note(f"{plural(left, 'line')} more, on further sensitive columns, in audit.json.")] if left else []
    head = ("Attack", "Success", "Without the release", "Promised bound")
    parts = [_attack_part(attacks, results) for results in by_attack]
    return section("Attacks that were tried", note(HOW_ATTACKED), table(head, lines, "figures attacks"), *more, *parts)


def _share(share: float | None, otherwise: str) -> str:
    return otherwise if share is None else percent(share)


def _attack_part(attacks: Attacks, results: list[AttackResult]) -> Markup:
    """What an attack assumes, its chart where it has one, and what it found."""
    title = results[0].attack
    assumed = list(dict.fromkeys(result.assumes for result in results))
    sentences = [paragraph(" ".join(result.says)) for result in results if result.says]
    if title == "definetti":
        sentences = [paragraph("It is told at length below.")]
    measured = any(result.success is not None for result in results)
    chart = [attacks.known.chart()] if title == "known" and measured else []
    return tag("article", tag("h3", title), note(" ".join(assumed)), *chart, *sentences)


# ---------------------------------------------------------------------------------------------------------------------
# The deFinetti attack on two tables

HOW_LEARNT = (
    "The adversary has the two tables, and knows a person's quasi-identifiers and that the person is in the table. A "
    "learner (naive Bayes) is trained on the tables themselves: it learns from all classes how sensitive values go "
    "with quasi-identifiers, and deals out the values of each class accordingly, over and over. The guess about a "
    "person is the value that the lines with their quasi-identifiers get most of. To see what it can do to people "
    "outside the table, it is trained without a part of the classes and guesses about the people in them."
)


def learner_section(result: "DefinettiResult") -> Markup:
    """The attack on each sensitive column: the bag bound, the attack, and the same learner outside the table."""
    from sfumato.attack.definetti import PROMISE  # noqa: PLC0415 - only two tables are attacked by a learner

    parts = [_learner_part(column, attacked) for column, attacked in result.columns.items()]
    again = "Two of five parts of the classes were held out. sfumato attack definetti measures all five, on more lines."
    return section("What a learner can guess", paragraph(HOW_LEARNT), *parts, paragraph(PROMISE), note(again))


def _learner_part(column: str, attacked: "DefinettiFigures") -> Markup:
    """Figures, then sentences."""
    from sfumato.attack.definetti import describe_figures, describe_sample  # noqa: PLC0415 - as above

    figures = [
        ("The bound that the policy sets", attacked.bound),
        ("The largest share of a class", attacked.largest_share),
        ("Most frequent value of the table", attacked.blind),
        ("A value drawn from the own bag", attacked.random),
        ("Most frequent value of the own bag", attacked.bag),
        ("The attack, in the table", attacked.attack),
        ("Its learner without the bag, in the table", attacked.without_bag),
        ("Its learner, outside the table", attacked.outside),
    ]
    lines = [(title, "none", "") if share is None else (title, percent(share), bar(share)) for title, share in figures]
    sentences = " ".join(filter(None, (*describe_figures(column, attacked), describe_sample(attacked))))
    return tag("article", tag("h3", name(column)), table(("", "Share", ""), lines, "losses"), paragraph(sentences))
