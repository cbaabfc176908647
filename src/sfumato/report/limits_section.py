"""The section of the private report on what the release does not protect against, in plain words."""

from collections.abc import Iterator

import numpy as np

from sfumato.attack.minimality import MinimalityResult
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.page.html import Markup, join, name, names, paragraph, section, some_names, tag
from sfumato.page.wording import amount, percent, plural, ratio
from sfumato.policy.class_aggregates import MICROAGGREGATION
from sfumato.publish.extension import Extension
from sfumato.publish.manifest import find_chosen_labels
from sfumato.publish.pseudonyms import KEYED_WARNING, is_keyed
from sfumato.publish.publication import Publication
from sfumato.publish.published_table import togetherness_warning
from sfumato.report.assessment import Assessment
from sfumato.report.threats import (
    ALGORITHM,
    APART,
    DOWNCODING,
    DRAWN,
    DRAWN_BY_WEIGHT,
    EXACT,
    HOMOGENEOUS,
    KNOWLEDGE,
    LEARNER,
    MEMBERSHIP,
    PATTERNS,
    PEOPLE,
    PERTURBED,
    SHOWN,
    TIGHT,
)
from sfumato.split import common_values

_Threat = tuple[str, object]
"""What remains, and what it means here."""

OPENING = (
    "The release is protected against the adversary named above, as far as the promise goes, and against nobody "
    "else. Call it anonymous only together with what it is anonymous against. What remains:"
)
NO_OTHER_RELEASES = (
    "Earlier or other releases about the same people were not taken into account. Two releases, each safe by "
    "itself, can expose people together: compare before you publish a second one, or keep a ledger."
)

FURTHER_PEOPLE = (
    "They are taken to be about other people: of somebody who is in several of the tables, what their classes have in "
    "common is told. Other releases were looked at only as far as requirements on a join name them."
)


def limits_section(assessment: Assessment, minimality: MinimalityResult) -> Markup:
    """A list of threats that remain; `minimality` is what one who knows the algorithm was found to learn."""
    threats = _remaining_threats(assessment, minimality)
    items = [tag("li", tag("strong", title, ". "), text) for title, text in threats]
    return section("What it does not protect against", paragraph(OPENING), tag("ul", *items, class_="limits"))


def _remaining_threats(assessment: Assessment, minimality: MinimalityResult) -> Iterator[_Threat]:
    publication = assessment.publication
    policy = publication.policy
    plain = [column.name for column in policy.plain]
    if plain:
        how = "Published as they are, or masked," if {*plain} & {*publication.masks} else "Published as they are,"
        published = f"{how} and counted by no figure of risk here: "
        yield "Plain columns", join([published, some_names(plain), ".", APART])
    if publication.masks:
        yield "Masked columns", join([some_names(list(publication.masks)), PERTURBED])
    if policy.sampling_weight is not None:
        yield "Sampling weights", join([name(policy.sampling_weight.name), DRAWN_BY_WEIGHT])
    limited = {column for model in policy.privacy for column in model.looks_at}
    unlimited = [column.name for column in policy.sensitive if column.name not in limited]
    if unlimited:
        yield (
            "Sensitive columns without a requirement",
            join(["No requirement limits ", some_names(unlimited), HOMOGENEOUS]),
        )
    yield from _rows_or_people(assessment)
    yield "Other releases", _other_releases(publication) + (f" {KEYED_WARNING}" if is_keyed(policy) else "")
    yield "Knowing the algorithm", _knowing_the_algorithm(publication, minimality)
    yield "Knowing more", KNOWLEDGE
    if publication.split:
        yield "Patterns across classes", f"{LEARNER} It was tried: see above."
        yield from _two_tables(publication)
        return
    yield "Downcoding", DOWNCODING + (TIGHT if publication.recoding.local else "")
    for chosen in find_chosen_labels(publication.recoding, policy):
        title = "Sets" if chosen.form == "sets" else f"Ranges (published as {chosen.form})"
        if publication.recoding.algorithm == MICROAGGREGATION:
            title = f"{chosen.form.capitalize()} of classes"
        yield title, join([names(chosen.columns), ". ", chosen.reveals])
    yield "Patterns across classes", PATTERNS
    yield "Being in the table", MEMBERSHIP


def _other_releases(publication: Publication) -> str:
    """Which other releases were looked at, and that others were not."""
    linked = publication.linked_releases
    if publication.extension is not None:
        return f"{_extended_releases(publication.extension)} {FURTHER_PEOPLE}"
    if linked is None or not linked.earlier:
        return NO_OTHER_RELEASES
    return (
        f"Taken into account, as far as the (X, Y)-requirements go: {', '.join(linked.names)}. Records are matched by "
        "the columns that the tables share and by the rules of the policy; an adversary who can match them better, or "
        "who has other releases about the same people, was not looked at."
    )


def _extended_releases(extension: Extension) -> str:
    """Which releases the rows are added to, and what keeps the promise."""
    added = f"The rows are added to {plural(len(extension.releases), 'release')} under the same labels."
    if extension.promise == "alone":
        return f"{added} The promise holds of them by themselves and of all rows together."
    failing = plural(extension.failing_alone, "row is", "rows are")
    return (
        f"{added} The promise holds of all rows together, for somebody who does not know in which table a person is. "
        f"{failing} in classes that do not keep it in this table by itself: whoever knows that a person is new may "
        "learn more."
    )


def _knowing_the_algorithm(publication: Publication, minimality: MinimalityResult) -> object:
    """How sure an adversary is who knows the algorithm, by column, beside the promised bound; or why it is unknown."""
    if publication.recoding.algorithm == "anatomy":
        return DRAWN
    parts: list[object] = [ALGORITHM, EXACT if publication.split else ""]
    if not minimality.columns:
        parts.append(" There is no sensitive column here of which it could be measured.")
    elif minimality.why is not None:
        parts.append(f" How much could not be measured: {minimality.why}.")
    else:
        for column, betrayed in minimality.columns.items():
            promised = "no bound is promised"
            if betrayed.bound is not None:
                promised = f"the promised bound is {percent(betrayed.bound)}"
            posterior, share = percent(betrayed.largest_posterior), percent(betrayed.largest_share)
            beyond = plural(betrayed.beyond_bound.rows, "row is", "rows are")
            surest = f": {posterior} at the surest, where the largest share of a class is {share} and {promised}"
            parts += [" Measured of ", name(column), f"{surest}; {beyond} beyond that."]
    return join(parts)


# ---------------------------------------------------------------------------------------------------------------------
# Several rows of a person

ONLY_ROWS = (
    "What is protected is a row. If one person can have several rows, they count as several people, and the promise "
    'is weaker than it looks: give the column that names the person role = "individual".'
)
FEW_PSEUDONYMS = (
    "Whoever knows enough rows of such a person finds the few pseudonyms that stand in all their classes, and with "
    "them everything that is published of these people. "
)
COMMON_BAGS = (
    "The exact quasi-identifiers tell whose lines they are; what the bags of all these classes have in common is then "
    "told of so few. "
)
ROWS_IN_A_CLASS = (
    " How many rows somebody has in a class is not counted: whoever knows that number may narrow it down further."
)


def _rows_or_people(assessment: Assessment) -> Iterator[_Threat]:
    """What is protected, and how far pseudonyms narrow people down."""
    publication, persons = assessment.publication, assessment.persons
    if persons is None:  # identifiers that repeat make it likely that a person has several rows
        repeated = [
            join([name(column), f" ({ratio(rpi)} rows for each value)"])
            for column, rpi in publication.repeated_identifiers.items()
        ]
        more = [" Identifiers that repeat here: ", join(repeated, ", "), "."] if repeated else []
        yield "Rows or people", join([ONLY_ROWS, *more])
        return
    yield "Rows or people", PEOPLE
    fewest = plural(persons.linked_fewest, "person", "people")
    linked = f"Everybody's set of classes is that of {fewest} or more, they themselves among them. "
    if persons.linked:
        few = amount(persons.linked, persons.persons)
        linked = f"Fewer than {persons.k:,} people share the set of classes of {few} people; the fewest: {fewest}. "
        linked += COMMON_BAGS if publication.split else FEW_PSEUDONYMS
    required = max((model.linked for model in publication.policy.privacy), default=1)
    bound = "No requirement bounds that; linked_k in an identity-reserved requirement would."
    if required > 1:
        bound = f"The policy bounds that: linked_k = {required:,}."
    elif publication.policy.publish.form == "anatomy":
        bound = "No requirement bounds that."
    why = publication.why_rows_part
    yield "Rows tied by a pseudonym", f"{linked}{bound}{f' And {why}.' if why else ''}{ROWS_IN_A_CLASS}"


# ---------------------------------------------------------------------------------------------------------------------
# Two tables in place of one

GENERALIZE = " Where being in the table is itself a secret, publish generalized."
PLAIN_BESIDE = (
    "Plain columns stand beside exact quasi-identifiers: whoever finds a person's line reads them. Give a column that "
    "nobody may learn the role sensitive."
)
BAGS = (
    "All rows of a person carry one pseudonym beside exact quasi-identifiers: whoever finds one finds the bags of all. "
    "Where a value stays the same for a person, it is one that all those bags hold. No requirement limits that; leave "
    "the column of persons out as an identifier, or publish one row per person."
)
ALONE = (
    "There the two tables tell whose value it is, as the original does. The policy allows it: ask for k-anonymity, or "
    "for a share of α that is not refined."
)
SEVERAL_CLASSES = (
    "Equal quasi-identifiers may stand in several classes. The person is then somebody on one of those lines, and the "
    "chance of a value is that over all of them together, which is never above that of the class that tells most."
)


def _two_tables(publication: Publication) -> Iterator[_Threat]:
    """What two tables tell besides what one generalized table would."""
    yield "Being in the table", SHOWN + GENERALIZE
    if publication.policy.plain:
        yield "Beside the quasi-identifiers", PLAIN_BESIDE
    together = togetherness_warning(publication.policy)
    if together:
        yield "Sensitive columns together", together
    for column, common in common_values(publication.encoded, publication.recoding).items():
        if common.several_classes:
            people = plural(common.several_classes, "person has", "people have")
            single = common.single_value
            left = "" if single is None else f", and for {single:,} of them these have one value in common"
            text = f"{people} rows in several classes, each with its bag{left}. {BAGS}"
            yield "A person's bags together", join([name(column), ". ", text])
    alone = int((publication.recoding.classes.sizes == 1).sum())
    if alone:
        yield "Classes of one line", f"{plural(alone, 'class has', 'classes have')} one line. {ALONE}"
    spread, rows = _count_rows_in_several_classes(publication)
    if spread:
        yield "In several classes", f"{amount(spread, rows)} of the published rows. {SEVERAL_CLASSES}"


def _count_rows_in_several_classes(publication: Publication) -> tuple[int, int]:
    """Count published rows whose quasi-identifiers are in several classes, and all published rows."""
    if not publication.recoding.local:  # a value has one label, and so equal rows one class
        return 0, publication.rows
    class_of = publication.recoding.class_of
    kept = np.flatnonzero(class_of >= 0)
    columns = [attribute.column for attribute in publication.encoded.quasi]
    packed = pack_tuples([column.codes.take(kept) for column in columns], [column.width for column in columns])
    tuple_of, tuples = number_tuples(packed)
    lowest, highest = np.full(tuples, np.iinfo(np.int64).max), np.full(tuples, -1)
    np.minimum.at(lowest, tuple_of, class_of[kept])
    np.maximum.at(highest, tuple_of, class_of[kept])
    several, counts = (lowest < highest).take(tuple_of), publication.recoding.counts
    if counts is None:
        return int(several.sum()), len(kept)
    return int(counts[kept[several]].sum()), int(counts[kept].sum())
