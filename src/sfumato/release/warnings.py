"""What a data holder should know before a release leaves the house: sentences that stop nothing.

They are for the data holder alone, and name columns and numbers but never a value.
"""

from collections.abc import Iterator

import numpy as np

from sfumato.core.sampling_weights import count_rare_weights, read_weights
from sfumato.errors import listing, quote
from sfumato.masking import MaskingFigures
from sfumato.models.model import count_distinct_values
from sfumato.page.wording import ratio
from sfumato.publish.pseudonyms import key_warnings
from sfumato.publish.publication import Publication
from sfumato.publish.published_table import togetherness_warning
from sfumato.risk import DEFAULT_K, PersonRisk, required_k

_COUNT_PERSONS = frozenset(
    {
        "k-anonymity",
        "alpha-k-anonymity",
        "distinct-l-diversity",
        "entropy-l-diversity",
        "recursive-l-diversity",
    }
)
"""Requirements that count persons where a column names them, the identity-reserved ones aside."""


def release_warnings(publication: Publication, persons: PersonRisk | None, masking: MaskingFigures) -> list[str]:
    """All warnings; each is said once.

    `persons` is the risk by person, where a column names persons, and `masking` what masked columns lost.
    """
    return [
        *publication.source.warnings,
        *_two_tables(publication),
        *_repeated_identifiers(publication),
        *(() if persons is None else _several_rows(publication, persons)),
        *key_warnings(publication.policy),
        *_nothing_required(publication),
        *_unlimited_columns(publication),
        *_rare_weights(publication),
        *masking.warnings(),
        *_masked_columns(publication, persons),
        *_earlier_releases(publication),
        *_further_rows(publication),
        *_seed(publication),
        *_ended_early(publication),
        *_not_measured(publication),
    ]


def _ended_early(publication: Publication) -> Iterator[str]:
    if publication.recoding.early:
        limit = publication.policy.search.time_limit
        yield f"the search ended after {limit:g} s, before it was through: with more time less may be lost"


def _not_measured(publication: Publication) -> Iterator[str]:
    if publication.encoded.coarse:
        yield (
            "the different rows were too many for the driver, so that some figures are left out, such as the risk "
            "before and the minimality attack: the audit lists them"
        )


def _two_tables(publication: Publication) -> Iterator[str]:
    together = togetherness_warning(publication.policy)
    if together:
        yield together
    alone = int((publication.recoding.classes.sizes == 1).sum())
    if publication.split and alone:
        why = f"{alone:,} classes have one line, so that the two tables tell whose value it is"
        yield f"{why}; the policy allows that: add k-anonymity, or do without refined"


def _repeated_identifiers(publication: Publication) -> Iterator[str]:
    """Identifiers that repeat, where no column is said to name persons."""
    if publication.repeated_identifiers:
        repeated = ", ".join(
            f"{quote(name)} ({ratio(rows)} rows for each value on average)"
            for name, rows in publication.repeated_identifiers.items()
        )
        yield (
            f"several rows have the same value in identifiers: {repeated}; rows are counted as if each were another "
            'person\'s, and where such a column names persons, role = "individual" counts persons'
        )


def _several_rows(publication: Publication, persons: PersonRisk) -> Iterator[str]:
    """What is not limited where a person has several rows."""
    column = publication.encoded.individual
    if column is not None and None in column.texts:
        nameless = column.codes == column.texts.index(None)
        counts = publication.encoded.counts
        rows = int(nameless.sum() if counts is None else counts[nameless].sum())
        yield f"{rows:,} rows have no value in '{column.name}': they count as one person's, who gets one pseudonym"
    linked = _linked_persons(publication, persons)
    if persons.rpi > 1 and not any(model.identity for model in publication.policy.privacy):
        yield _no_identity_requirement(publication, persons, linked=linked is not None)
    if linked:
        yield linked


def _no_identity_requirement(publication: Publication, persons: PersonRisk, *, linked: bool) -> str:
    """No identity-reserved requirement is asked for; `linked` says that another sentence is about links."""
    policy = publication.policy
    assert policy.individual is not None  # noqa: S101 - whoever knows persons has it
    repeated = f"column '{policy.individual.name}' has {ratio(persons.rpi)} rows per person (rpi)"
    if not any(model.name in _COUNT_PERSONS for model in policy.privacy):
        return f"{repeated}, and no requirement counts persons: a class may be one person's; add identity-k-anonymity"
    counted = f"{repeated}: k and l count persons here, but no requirement bounds how much of a class one person has"
    if linked:
        return f"{counted}; identity-alpha-beta does"
    return f"{counted}, or how far pseudonyms link rows; identity-alpha-beta and linked_k do"


def _linked_persons(publication: Publication, persons: PersonRisk) -> str | None:
    """Persons whom their pseudonym singles out among fewer than k, where nothing bounds it or rows were parted."""
    policy, why_parted = publication.policy, publication.why_rows_part
    bounded = any(model.linked > 1 for model in policy.privacy)
    narrower = persons.linked_fewest < int(publication.recoding.classes.persons.min(initial=persons.persons))
    worth_saying = why_parted or (not bounded and (narrower or required_k(policy.privacy)))
    if not persons.linked or not worth_saying:
        return None
    who = f"fewer than {persons.k:,} persons share the classes of {persons.linked:,} of {persons.persons:,} persons"
    why = "whoever knows enough of them finds the person among so few"
    if publication.split:
        why = "what the bags of all their classes have in common is told of so few"
    bound = f"linked_k = {persons.k} in an identity-reserved requirement bounds it, as does one row per person"
    return f"{who}: a pseudonym ties a person's rows together, and {why}; {why_parted or bound}"


def _nothing_required(publication: Publication) -> Iterator[str]:
    """Requirements on the join alone promise nothing of the table itself."""
    if publication.policy.privacy:
        return
    alone = int((publication.recoding.classes.sizes == 1).sum())
    if alone:
        yield (
            f"no requirement is about the table by itself, and {alone:,} rows are alone in their class: whoever knows "
            "their quasi-identifiers picks them out without any join; add k-anonymity, or see sfumato risk"
        )


_MOST_UNLIMITED = 8
"""So many sensitive columns without a requirement are named, those with the most certain rows first."""


def _unlimited_columns(publication: Publication) -> Iterator[str]:
    """Sensitive columns that no requirement looks at, with the rows whose value their class tells for certain."""
    certain = count_certain_rows(publication)
    if not certain:
        return
    way = "ask for distinct-l-diversity, alpha-deassociation or t-closeness of it, or leave it out as an identifier"
    if len(certain) == 1:
        ((name, rows),) = certain.items()
        told = "no class has one value alone, but nothing keeps it so"
        if rows:
            stand = f"{rows:,} of {publication.rows:,} published rows {'stands' if rows == 1 else 'stand'}"
            told = f"{stand} in classes of one value, and whoever finds such a class knows it for certain"
        yield f"no requirement looks at the sensitive column {quote(name)}: {told}; {way}"
        return
    worst = sorted(certain.items(), key=lambda item: -item[1])
    named = ", ".join(f"{quote(name)} ({rows:,})" for name, rows in worst[:_MOST_UNLIMITED])
    left = len(worst) - _MOST_UNLIMITED
    yield (
        f"no requirement looks at {len(certain)} sensitive columns: {named}{f' and {left} more' if left > 0 else ''}; "
        f"in brackets are the rows, of {publication.rows:,}, that stand in classes of one value of the column, so that "
        f"whoever finds such a class knows it for certain; for each, {way}"
    )


def count_certain_rows(publication: Publication) -> dict[str, int]:
    """Count, for each sensitive column that no requirement looks at, the published rows in classes of one value."""
    policy = publication.policy
    looked_at = {name for model in policy.privacy for name in model.looks_at}
    looked_at |= {name for model in policy.linkage for name in model.y}
    unlimited = [column.name for column in policy.sensitive if column.name not in looked_at]
    if not unlimited:
        return {}
    from sfumato.attack.sensitive_columns import sensitive_columns_from_recoding  # noqa: PLC0415 - where there are any

    told = sensitive_columns_from_recoding(publication.encoded, publication.recoding, policy)
    certain = {}
    for name in unlimited:
        bag, sizes = told[name].bag, told[name].sizes
        certain[name] = int(sizes[count_distinct_values(bag, len(sizes)) == 1].sum())
    return certain


def _rare_weights(publication: Publication) -> Iterator[str]:
    """Sampling weights that few published rows have: they tell how somebody was drawn, and tie releases together."""
    column = publication.policy.sampling_weight
    if column is None:
        return
    fewest = required_k(publication.policy.privacy) or DEFAULT_K
    encoded, recoding = publication.encoded, publication.recoding
    weights = read_weights(encoded.plain[column.name], column.name, encoded.counts)
    rows = slice(None) if recoding.published is None else recoding.published
    rare = count_rare_weights(weights[rows], fewest, None if recoding.counts is None else recoding.counts[rows])
    if not rare:
        return
    steps = (step * 10.0**power for power in range(-3, 10) for step in (1, 2, 5))
    coarse = (step for step in steps if step > (column.round or 0) and not _are_rare(publication, step, fewest))
    way = "publish it rounded more coarsely, or not at all"
    if (step := next(coarse, None)) is not None:
        way = f"round = {step:g} would leave none"
    yield (
        f"the sampling weight {quote(column.name)} is one that fewer than {fewest:,} rows have in {rare:,} of "
        f"{publication.rows:,} published rows: who knows how people were drawn, or has another release with the same "
        f"weights, picks them out by it; {way}"
    )


def _are_rare(publication: Publication, step: float, fewest: int) -> bool:
    """Whether some published row would have a rare weight if they were rounded to this step."""
    weights = publication.encoded.weights
    assert weights is not None  # noqa: S101 - whoever calls has such a column; this tells the type checker
    recoding = publication.recoding
    rows = slice(None) if recoding.published is None else recoding.published
    rounded = np.maximum(np.round(weights[rows] / step), weights[rows] > 0)
    return count_rare_weights(rounded, fewest, None if recoding.counts is None else recoding.counts[rows]) > 0


_COUNT_VALUES = frozenset(
    {"distinct-l-diversity", "entropy-l-diversity", "recursive-l-diversity", "identity-kl-diversity"}
)
"""Requirements that ask for different values, which noise makes of any."""


def _masked_columns(publication: Publication, persons: PersonRisk | None) -> Iterator[str]:
    """What masks do to a promise, to the rows of a person, and to the join with earlier releases."""
    masks = publication.masks
    noisy = [name for name, one in masks.items() if one.noise is not None]
    for model in publication.policy.privacy:
        counted = [name for name in model.looks_at if name in noisy]
        if counted and model.name in _COUNT_VALUES and not all(masks[name].round for name in counted):
            yield (
                f"{model.name} counts different values of {listing(counted)}, and noise makes different values of ones "
                "that were alike or nearly so: it promises little; round the column as well, or ask for t-closeness"
            )
    drawn = [name for name, one in masks.items() if one.is_random]
    if drawn and persons is not None and persons.rpi > 1:
        yield (
            f"a person has {ratio(persons.rpi)} rows on average, and each row is masked by itself: what is the same in "
            f"all rows of a person shows as their mean or their most frequent value in {listing(drawn)}, since k rows "
            "take all but 1/√k of the noise off; mask columns of which a person has one value in another way, as by "
            "rounding"
        )
    linked = publication.linked_releases
    if linked is not None:
        matched = [name for name in linked.matched_columns if name in drawn]
        if matched:
            yield (
                f"records are matched with earlier releases by {listing(matched)}, which are masked at random here: "
                "the requirements on the join hold of masked values, and who knows the true ones may match "
                "records otherwise"
            )


def _earlier_releases(publication: Publication) -> Iterator[str]:
    """How well the table matches earlier releases."""
    linked, rows, unmatched = publication.linked_releases, publication.encoded.rows, publication.recoding.unmatched
    if linked is None or not linked.earlier:
        return
    for name in linked.unmatched_columns:
        tables = [earlier.name for earlier in linked.earlier if name in earlier.columns]
        yield (
            f"'{name}' stands in {', '.join(tables)} as well, but has no taxonomy here: records are not matched by it, "
            "and an adversary may; give it intervals in place of ranges to have it taken into account"
        )
    for place in range(len(linked.earlier)):
        if not linked.matched_columns_of(place):
            yield f"{linked.names[place]} shares no column with the table: every record matches every record of it"
    if unmatched == rows:
        by = ", ".join(linked.matched_columns)
        yield (
            f"no row matches any record of {', '.join(linked.names)}, so that the (X, Y)-requirements say nothing; "
            f"compare how values are written there in {by}: spelling, encoding, missing values"
        )
    elif unmatched:
        yield (
            f"{unmatched:,} of {rows:,} rows match no record of {', '.join(linked.names)}: they are not about the same "
            "people, as the (X, Y)-requirements assume, and no promise on the join covers these rows"
        )


def _further_rows(publication: Publication) -> Iterator[str]:
    """What is taken for granted of rows that are added to releases, and what is not promised of them."""
    extension = publication.extension
    if extension is None:
        return
    several = "the release that they are added to"
    if len(extension.releases) > 1:
        several = f"the {len(extension.releases):,} releases that they are added to"
    measured = "of somebody who is in both, sfumato attack intersect measures what the tables tell together"
    if extension.same_people is None:
        yield f"the rows are taken to be about other people than {several}, and that could not be checked: {measured}"
    repeated = {name: rows for name, rows in (extension.same_people or {}).items() if rows}
    if repeated:
        most = max(repeated, key=repeated.__getitem__)
        others = "".join(f", {rows:,} of {quote(name)}" for name, rows in repeated.items() if name != most)
        yield (
            f"{repeated[most]:,} of {publication.input_rows:,} rows have a value of {quote(most)}{others} that stands "
            f"in a table before, and the rows are taken to be about other people than {several}: {measured}; leave "
            "those rows out, or publish them by sfumato anonymize with a ledger"
        )
    if extension.promise == "together" and extension.failing_alone:
        yield (
            f"{extension.failing_alone:,} of {publication.rows:,} rows are in classes that keep the promise together "
            "with the rows before, and not by themselves: whoever knows that a person is among the new rows may learn "
            'more than is promised; [apply] promise = "alone" rules that out'
        )
    if rows := extension.left_out.rows:
        yield (
            f"{rows:,} of {publication.input_rows:,} rows were dropped: {'; '.join(extension.left_out.sentences())}; "
            "what is published is no fair sample of what came in"
        )


def _seed(publication: Publication) -> Iterator[str]:
    if publication.policy.search.seed is not None:
        yield "a seed was used, so whoever guesses it can undo the shuffling: for tests and papers, not to publish"
