"""What each column probably is to the people in the table, and why.

What names persons, or deals out a number to every row, is an identifier and left out. What tells of health, justice,
money or opinion is sensitive, by its name or by its values. A column of which nothing is known is a quasi-identifier:
it is told less exactly, but nothing is promised of what a class tells of it, so that the proposal names such columns.
No column is proposed as plain, since only its holder can know that nobody else knows it.
"""

import re
from dataclasses import dataclass, replace

from sfumato.errors import shorten
from sfumato.page.wording import percent
from sfumato.policy import Role
from sfumato.profile.caution import Caution
from sfumato.profile.column_facts import ColumnFacts, ColumnKind
from sfumato.profile.vocabulary import Concept, is_common_name, split_name

_SURE_RANK = 2
"""Ranks up to this are of columns that can be nothing but numbers of persons."""

_NAMING_CONCEPTS = {"name", "online", "national-id", "household"}
"""What names somebody even where it is a word, and there are few of them."""

_GENERALIZED_CONCEPTS = {"postal", "birth", "time", "town"}
"""What may have a value of its own in every row and is still to be generalized."""

_UNKNOWN = "nothing says what it is"


@dataclass(frozen=True)
class RoleGuess:
    """A role, the reason for it, how closely somebody should look at it, and how well the column names persons.

    `person` is 0 for columns that do not, and else smaller the better they do.
    """

    role: Role
    reason: str
    caution: Caution = Caution.NONE
    person: int = 0

    @property
    def is_unknown(self) -> bool:
        """Whether neither name nor values say what the column is."""
        return self.role is Role.QUASI and _UNKNOWN in self.reason


def guess_roles(columns: tuple[ColumnFacts, ...]) -> dict[str, RoleGuess]:
    """Guess a role for every column; of those that name persons in several rows, the best is the individual column."""
    guesses = {facts.name: guess_role(facts) for facts in columns}
    for name in [name for name, guess in guesses.items() if guess.role is Role.WEIGHT][1:]:
        guesses[name] = RoleGuess(
            Role.IDENTIFIER, "one more sampling weight, and rows count by one; left out", Caution.CHECK
        )
    guesses = _mark_once(guesses)
    repeated = [facts for facts in columns if _repeats_persons(facts, guesses[facts.name])]
    if not repeated:
        return guesses
    best = min(repeated, key=lambda facts: (guesses[facts.name].person, facts.values.missing))
    rows = best.values.present / best.values.distinct
    reason = f"{guesses[best.name].reason}, and has {rows:.1f} rows for each: the rows of one person"
    guesses[best.name] = replace(guesses[best.name], role=Role.INDIVIDUAL, reason=reason, caution=Caution.CHECK)
    for facts in repeated:
        if facts is not best:
            again = f"{guesses[facts.name].reason}; names the persons of '{shorten(best.name)}' once more"
            guesses[facts.name] = replace(guesses[facts.name], role=Role.IDENTIFIER, reason=again)
    return guesses


_ALIKE = 5
"""So many columns may be marked for the same reason; of more, the first one stands for all."""


def _mark_once(guesses: dict[str, RoleGuess]) -> dict[str, RoleGuess]:
    """Mark one of the many sensitive columns that have the same reason, as the questions of a survey have."""
    by_reason: dict[str, list[str]] = {}
    for name, guess in guesses.items():
        if guess.role is Role.SENSITIVE and guess.caution is Caution.CHECK:
            by_reason.setdefault(guess.reason, []).append(name)
    marked = dict(guesses)
    for reason, names in by_reason.items():
        if len(names) > _ALIKE:
            marked |= {name: replace(guesses[name], caution=Caution.NOTE) for name in names[1:]}
            also = f"{reason}; so are {len(names) - 1} further columns, and what is decided of this one is of them"
            marked[names[0]] = replace(guesses[names[0]], reason=also)
    return marked


def _repeats_persons(facts: ColumnFacts, guess: RoleGuess) -> bool:
    """Tell whether a column names persons in several rows each; few persons only where nothing else can be meant."""
    sure = guess.person <= _SURE_RANK or facts.format is not None
    return bool(guess.person) and _repeats(facts, sure=sure)


def guess_role(facts: ColumnFacts) -> RoleGuess:
    """Guess the role of one column by itself: by its name, by the look of its values, by how many there are."""
    if not facts.readable:
        return RoleGuess(Role.IDENTIFIER, "its type cannot be published; left out", Caution.NOTE)
    if facts.kind is ColumnKind.EMPTY:
        return RoleGuess(Role.IDENTIFIER, "it has no value; left out")
    if (index := _guess_index(facts)) is not None:
        return index
    if _is_sampling_weight(facts):
        return RoleGuess(
            Role.WEIGHT, "a sampling weight: how many people of the population a row stands for", Caution.CHECK
        )
    by_name, by_format = _guess_by_name(facts), _guess_by_format(facts)
    for guess in (by_name, by_format):
        if guess is not None and guess.role is Role.IDENTIFIER:
            return guess
    if facts.kind is ColumnKind.TEXT:
        return RoleGuess(Role.IDENTIFIER, "free text can say anything, names included; left out", Caution.NOTE)
    if _holds_names(facts):
        return RoleGuess(Role.IDENTIFIER, "the values look like names of persons", Caution.NOTE)
    by_values = _guess_by_frequencies(facts) or _guess_by_answers(facts, by_name)
    return by_values or by_name or by_format or _guess_unknown(facts)


def _guess_index(facts: ColumnFacts) -> RoleGuess | None:
    """Guess that a column without a name, or called row names, is an index: each row has its own, be it 1, 1.1, 1.2."""
    if _counts_rows(facts):
        return RoleGuess(Role.IDENTIFIER, "it has no name in the table and only counts the rows; left out")
    is_index = bool(_UNNAMED.fullmatch(facts.name)) or set(split_name(facts.name)) in _ROW_NAMES
    if is_index and facts.values.distinct == facts.values.rows > 1:
        return RoleGuess(Role.IDENTIFIER, "names of rows, of which each has its own; left out", Caution.NOTE)
    return None


def _guess_by_name(facts: ColumnFacts) -> RoleGuess | None:
    """Guess by what the name says, where the values do not contradict."""
    meaning = facts.name_meaning
    if meaning.names_persons and (meaning.is_number or not _is_flag(facts)):
        return RoleGuess(Role.IDENTIFIER, "the name says that it names persons", person=1)
    if split_name(facts.name) in _PARTS_OF_NAMES and facts.type.numbers is None and not _is_flag(facts):
        return RoleGuess(Role.IDENTIFIER, "the name says a part of somebody's name")
    if meaning.concept is not None:
        return _guess_by_concept(facts, meaning.concept)
    if not meaning.is_number or _is_measured(facts):
        return None
    # A number or key: of rows where all differ, of persons where they repeat and are many.
    is_key = _is_key(facts)
    if _names_rows(facts) or (is_key and facts.values.distinct == facts.values.present > 1):
        return RoleGuess(Role.IDENTIFIER, "the name says a number or key, and nearly every row has its own")
    if is_key and _repeats(facts):
        return RoleGuess(Role.IDENTIFIER, "the name says a number or key", Caution.NOTE, person=9)
    return None


def _guess_by_concept(facts: ColumnFacts, concept: Concept) -> RoleGuess:
    """Take the role of what the name is about, unless the values say otherwise."""
    role, reason = concept.role, f"the name says {concept.description}"
    if role is Role.IDENTIFIER and concept.key not in _NAMING_CONCEPTS and _has_few_words(facts):
        few = f"{reason}, but {facts.values.distinct} values in so many rows name nobody"
        return RoleGuess(Role.QUASI, few, Caution.CHECK)
    if role is Role.SENSITIVE and facts.kind is ColumnKind.DATE:
        return RoleGuess(Role.QUASI, f"{reason}, but it holds dates, which others may know", Caution.CHECK)
    if role is Role.SENSITIVE:
        caution = Caution.NOTE
        if concept.key == "laboratory":
            reason += ": nobody outside knows it, and it tells of health"
        elif concept.whole:
            caution = Caution.CHECK
        elif _names_rows(facts):
            caution = Caution.CHECK
            reason += "; nearly every row has its own value, so that whoever knows one finds the row"
        return RoleGuess(role, reason, caution)
    if concept.key == "name" and _repeats(facts):
        reason += ', and repeats: where it is one person\'s, role = "individual" counts persons'
        return RoleGuess(role, reason, Caution.NOTE)
    if role is Role.QUASI and _is_dealt_out(facts) and concept.key not in _GENERALIZED_CONCEPTS | {"age"}:
        reason += "; every row has a whole number of its own, as numbers of records have: is it a measure?"
        return RoleGuess(role, reason, Caution.DANGER)
    return RoleGuess(role, reason, person=concept.person)


def _guess_by_format(facts: ColumnFacts) -> RoleGuess | None:
    form = facts.format
    if form is None:
        return None
    caution = Caution.NOTE if form.role is Role.SENSITIVE else Caution.NONE
    return RoleGuess(form.role, f"the values look like {form.description}", caution, person=form.person)


def _guess_by_answers(facts: ColumnFacts, by_name: RoleGuess | None) -> RoleGuess | None:
    """Guess that values such as positive and negative are sensitive, where the name does not say so by itself."""
    answers = facts.answers
    if answers is None or (by_name is not None and (by_name.role is not Role.QUASI or answers.key == "finding")):
        return None
    reason = f"the values are {answers.description}, which nobody may learn of a person"
    if by_name is not None:
        return RoleGuess(Role.SENSITIVE, f"{by_name.reason}, but {reason}", Caution.DANGER)
    return RoleGuess(Role.SENSITIVE, reason, Caution.CHECK)


def _guess_by_frequencies(facts: ColumnFacts) -> RoleGuess | None:
    """Guess the role of a column in which nearly every row has a value of its own, or all the same."""
    values, concept, form = facts.values, facts.name_meaning.concept, facts.format
    is_constant = values.distinct == 1 and not values.missing
    if (concept is not None and concept.role is Role.SENSITIVE) or (form is not None and form.role is Role.SENSITIVE):
        if not is_constant:
            return None
        reason = (
            "sensitive and the same in every row: who is in the table has it, and no requirement can hide that; "
            "left out"
        )
        return RoleGuess(Role.IDENTIFIER, reason, Caution.NOTE)
    is_word = facts.kind in {ColumnKind.CATEGORY, ColumnKind.CODE} and facts.concept not in _GENERALIZED_CONCEPTS
    if is_word and _names_rows(facts):
        return RoleGuess(Role.IDENTIFIER, "nearly every row has a value of its own", Caution.NOTE)
    if concept is None and _is_dealt_out(facts):
        how = "as a count of rows" if _is_sequence(facts) else "as numbers of records are"
        return RoleGuess(Role.IDENTIFIER, f"whole numbers, a different one in nearly every row, {how}", Caution.NOTE)
    if is_constant:
        return RoleGuess(Role.QUASI, "the same in every row, so that it costs nothing")
    return None


def _guess_unknown(facts: ColumnFacts) -> RoleGuess:
    apart = f"others may know it, and it tells {percent(facts.values.separation)} of all pairs of rows apart"
    if facts.contradiction:
        return RoleGuess(Role.QUASI, f"{facts.contradiction}: {_UNKNOWN}; {apart}", Caution.CHECK)
    return RoleGuess(Role.QUASI, f"{_UNKNOWN}; {apart}")


# Signs in the values: whether they are few, all different, or repeat as persons do.

_FEW = 12
"""So few words in many rows are rather kinds of something than names of it."""

_FLAGS = 3
"""So few are answers: yes, no and unknown."""

_MANY_ROWS = 20
"""In fewer rows values may all differ by chance."""

_REPEATED = 1.05
"""Rows for each value from which on a column of persons is one with several rows per person."""

_UNNAMED = re.compile(r"column \d+_*|Unnamed: \d+")
"""What the reader, and pandas, call a column that has no name."""

# fmt: off
_KEY_WORDS = {
    "id", "number", "no", "nr", "num", "key", "nummer", "numero", "uid", "pk", "identifier", "identifiant", "pid",
    "idno", "seqn", "seqno", "caseid", "subjid", "usubjid", "respid", "ptid", "rowid", "serial", "persid", "mergeid",
    "lfdnr", "persnr", "rownames", "rowname",
}
# fmt: on
"""Names of columns that say nothing but that they number something."""

_ROW_NAMES = ({"rownames"}, {"rowname"}, {"row", "names"}, {"row", "name"})

_PARTS_OF_NAMES = {("first",), ("last",), ("middle",), ("given",), ("mi",)}
"""Names of columns that are whole only beside others: first, last."""

_COMMON_NAMES = 5
"""So many different frequent names are no chance: a street or a firm may be called after one."""

_TITLED = re.compile(r"\b(Mr|Mrs|Ms|Miss|Master|Mme|Mlle|Herr|Frau|Sra|Srta|Sig|Mevr)\b\.?")
_FULL_NAME = re.compile(r"[A-ZÀ-Þ][\w'’-]+,?( [A-ZÀ-Þ][\w'’-]*\.?){1,3}")


def _holds_names(facts: ColumnFacts) -> bool:
    """Tell whether the values are frequent names, have titles, or are words in capitals as of many families."""
    values = facts.values
    if facts.kind is not ColumnKind.CATEGORY or facts.name_meaning.concept is not None:
        return False
    common = sum(map(is_common_name, values.sample))
    if common >= _COMMON_NAMES and common > (0.2 if values.distinct >= _MANY_ROWS else 0.5) * len(values.sample):
        return True
    if values.distinct < _MANY_ROWS or values.distinct**2 < values.present:
        return False
    sample = values.sample
    if sum(bool(_TITLED.search(text)) for text in sample) > 0.5 * len(sample):
        return True
    full = [text.split() for text in sample if _FULL_NAME.fullmatch(text.strip())]
    if len(full) < 0.9 * len(sample):
        return False
    # Counties and departments end in the same words again and again, or begin with them.
    families, first_names = ({words[place] for words in full} for place in (-1, 0))
    return len(families) > max(10, 0.05 * len(full)) and len(first_names) > max(5, 0.02 * len(full))


def _has_few_words(facts: ColumnFacts, most: int = _FEW) -> bool:
    """Tell whether the values are a few words in many rows; numbers and addresses name somebody, however few."""
    values = facts.values
    if values.distinct > most or values.distinct**2 >= values.present:
        return False
    return values.distinct <= 2 or not values.any_match("[0-9@]")


def _is_flag(facts: ColumnFacts) -> bool:
    """Tell whether the values are answers, as to whether somebody is a student."""
    return _has_few_words(facts, _FLAGS)


def _names_rows(facts: ColumnFacts) -> bool:
    """Tell whether nearly every row has a value of its own, and not by chance."""
    values = facts.values
    return values.present >= _MANY_ROWS and values.distinct >= 0.9 * values.present


def _is_key(facts: ColumnFacts) -> bool:
    """Tell whether a column is called a key and its values are many, as persons are, not few, as departments are."""
    return facts.values.distinct**2 >= facts.values.present and _KEY_WORDS.issuperset(split_name(facts.name))


_WEIGHT_NAME = re.compile(
    r"fnl_?wgt|(final|sample|sampling|survey|person|design|base|main)_?(weight|wt|wgt)|[ph]w(t|gt|eight)|(per|hh|asec)wt"
    r"|wgh?t|(psp|pp|an)we?i?ght|(psp|d|p)wgh?t|pond|pond[eé]r.*|hochrechnung.*|fexp|factor_?(de_)?expansi[oó]n"
)
"""What sampling weights are called and nothing else is; `weight` alone may be that of a body."""


def _is_sampling_weight(facts: ColumnFacts) -> bool:
    """Tell whether a column is of sampling weights: by a name of these, or by one and by values that no body has."""
    numbers, name = facts.type.numbers, facts.name.strip().lower()
    if numbers is None or facts.values.missing or numbers.low < 0 or facts.values.distinct < 2:
        return False
    if _WEIGHT_NAME.fullmatch(name):
        return True
    scaled = not numbers.whole and numbers.low < 1 < numbers.high <= 100  # so that they are 1 on average
    wide = numbers.low > 0 and numbers.high > 1000 and numbers.high >= 50 * numbers.low
    return name in {"weight", "weights", "wt", "poids", "gewicht", "peso"} and (scaled or wide)


def _counts_rows(facts: ColumnFacts) -> bool:
    """Tell whether a column without a name in its file has 0, 1, 2 and on, or 1, 2, 3, a number for each row."""
    numbers, values = facts.type.numbers, facts.values
    if numbers is None or not numbers.whole or not _UNNAMED.fullmatch(facts.name):
        return False
    return values.distinct == values.rows and numbers.low in {0, 1} and numbers.high - numbers.low + 1 == values.rows


def _is_measured(facts: ColumnFacts) -> bool:
    """Tell whether a column holds numbers that are not all whole: measures, and not keys."""
    numbers = facts.type.numbers
    return numbers is not None and bool((numbers.values % 1 != 0).any())


def _is_dealt_out(facts: ColumnFacts) -> bool:
    """Tell whether the values are whole numbers of which each row has its own.

    All of them differ; or hardly any are equal although so many, drawn from so short a stretch, would often be. Of n
    numbers out of a stretch of m, n² / 2m pairs are equal by chance, at the least.
    """
    numbers, values = facts.type.numbers, facts.values
    if numbers is None or _is_measured(facts) or values.present < _MANY_ROWS:
        return False
    by_chance = values.present**2 / (2 * (numbers.high - numbers.low + 1))
    repeats = values.present - values.distinct
    return repeats == 0 or (by_chance >= 10 and repeats < 0.2 * by_chance and _names_rows(facts))


def _is_sequence(facts: ColumnFacts) -> bool:
    """Tell whether the numbers leave hardly a gap."""
    numbers = facts.type.numbers
    return numbers is not None and numbers.high - numbers.low < 1.5 * facts.values.distinct


def _repeats(facts: ColumnFacts, *, sure: bool = False) -> bool:
    """Tell whether values have several rows each and are many, as persons are; or few, where they are `sure` to be."""
    values = facts.values
    return values.present >= _REPEATED * values.distinct and (sure or values.distinct**2 >= values.present)
