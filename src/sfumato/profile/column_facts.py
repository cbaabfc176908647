"""What a column holds: its values, their type, what its name says, and what its values look like.

The type is guessed from a sample and believed only after all values were looked at: one text among five thousand
numbers makes a column of categories. A name is believed as far as the values allow: a race of a hundred different
numbers is run, and nobody's origin.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean

from sfumato.policy import Role
from sfumato.profile.column_values import ColumnValues
from sfumato.profile.vocabulary import AnswerWords, Concept, NameMeaning, interpret_answers, interpret_name
from sfumato.profile.written_dates import WrittenDates, find_date_formats
from sfumato.profile.written_numbers import WrittenNumbers, read_numbers


class ColumnKind(StrEnum):
    """The kinds of columns; ``empty`` is one without a value."""

    EMPTY = "empty"
    INTEGER = "integer"
    DECIMAL = "decimal"
    DATE = "date"
    CODE = "code"
    CATEGORY = "category"
    TEXT = "text"


@dataclass(frozen=True, eq=False, repr=False)
class ColumnType:
    """The kind of a column, with its numbers or its dates where it has such; `mixed` says that most are numbers."""

    kind: ColumnKind
    numbers: WrittenNumbers | None = None
    dates: WrittenDates | None = None
    mixed: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class ColumnFacts:
    """One column: its values, their type, what its name says, and what its values look like.

    `readable` is false of a column whose type nobody can look at; it has no values then. `contradiction` says why the
    name is not believed, where the values are not what it says; `name_meaning` is nothing then, and `doubted` the key
    of the concept. `answers` are there where the values tell of health, justice or opinion.
    """

    name: str
    values: ColumnValues
    type: ColumnType
    name_meaning: NameMeaning
    format: "ValueFormat | None"
    readable: bool = True
    contradiction: str = ""
    doubted: str = ""
    answers: AnswerWords | None = None

    @property
    def kind(self) -> ColumnKind:
        """Integers, decimals, dates, codes, categories, text, or nothing."""
        return self.type.kind

    @property
    def concept(self) -> str:
        """The key of the concept that the name is about; empty where it says nothing."""
        return self.name_meaning.concept.key if self.name_meaning.concept else ""

    @property
    def said_concept(self) -> str:
        """The key of the concept that the name says, be it believed or not: for rules that forbid something."""
        return self.concept or self.doubted


def describe_column(name: str, values: ColumnValues) -> ColumnFacts:
    """Look at the name and the values of a column."""
    column_type = infer_type(values)
    is_measured = column_type.kind in {ColumnKind.DATE, ColumnKind.DECIMAL}
    value_format = None if is_measured else recognize_format(values.sample)
    meaning, contradiction, doubted = interpret_name(name), "", ""
    concept = meaning.concept
    if concept is not None and (concept.role is Role.QUASI or concept.whole) and values.distinct:
        fault = find_contradiction(concept, column_type, values)
        if fault:
            meaning = NameMeaning()
        if fault and not concept.whole:  # words such as y say too little for a doubt to be worth a remark
            contradiction, doubted = f"the name says {concept.description}, but {fault}", concept.key
    answers = None
    if column_type.kind in {ColumnKind.CATEGORY, ColumnKind.CODE} and values.distinct <= _MOST_ANSWERS:
        answers = interpret_answers(dict(zip(values.to_list(), values.counts.tolist(), strict=True)))
    return ColumnFacts(
        name,
        values,
        column_type,
        meaning,
        value_format,
        contradiction=contradiction,
        doubted=doubted,
        answers=answers,
    )


def describe_unreadable_column(name: str, rows: int) -> ColumnFacts:
    """Describe a column of a type that cannot be looked at."""
    none = ColumnValues.from_counts({}, missing=rows)
    return ColumnFacts(name, none, ColumnType(ColumnKind.EMPTY), interpret_name(name), None, readable=False)


# Whether values can be what the name says.

_MOST_ANSWERS = 200
_TWO, _SEXES, _ORIGINS, _DAYS, _OUTCOMES = 2, 8, 100, 366, 12
_YES_OR_NO = r"^(?i:y|yes|n|no|t|true|f|false|ja|j|nein|nee|oui|non|s[ií]|sim|n[aã]o|0|1)(\.0)?$"
_POINTS_OF_TIME_AND_SPACE = {"time", "birth", "postal", "latitude", "longitude"}
"""What no yes or no answers."""

_CODE_OF_PLACE = "[^ ]{3,}"
_BEYOND = 0.05
"""Numbers, by their share of the rows, that may lie beyond what a name allows, as slips."""

_BOUNDS = {"age": (0.0, 125.0), "birth": (1800.0, 2200.0), "latitude": (-90.0, 90.0), "longitude": (-180.0, 180.0)}
_KINDS_OF_THINGS = {"origin", "country", "region", "town", "family", "school", "institution", "outcome"}
"""What has names or codes; a measure with decimals is something else."""


def find_contradiction(concept: Concept, column_type: "ColumnType", values: ColumnValues) -> str:
    """Say why a column cannot be what its name says; nothing where it can.

    >>> race = ColumnValues.from_counts({f"{distance / 10}": 1 for distance in range(50)})
    >>> find_contradiction(interpret_name("race").concept, infer_type(race), race)
    'it holds measures with decimals'
    """
    key, kind, numbers, distinct = concept.key, column_type.kind, column_type.numbers, values.distinct
    is_broken = numbers is not None and bool((numbers.values % 1 != 0).any())  # 20.0 is whole
    low, high = (0.0, 0.0) if numbers is None else numbers.within(_BEYOND)
    lowest, highest = _BOUNDS.get(key, (low, high))
    is_year = _BOUNDS["birth"][0] <= low and high <= _BOUNDS["birth"][1]
    origins = _ORIGINS if numbers is None else _ORIGINS // 3
    too_many = {"sex": _SEXES, "origin": origins, "outcome": _OUTCOMES}.get(key, distinct)
    faults = (
        (key in _KINDS_OF_THINGS and is_broken, "it holds measures with decimals"),
        (key in _KINDS_OF_THINGS and kind is ColumnKind.DATE, "it holds dates"),
        (distinct > too_many, f"it has {distinct:,} different values"),
        (key == "age" and numbers is not None and distinct == _TWO < values.present, "two values tell no ages apart"),
        (key == "origin" and numbers is None and _are_competitions(values), "its values are of competitions"),
        (key in _POINTS_OF_TIME_AND_SPACE and values.all_match(_YES_OR_NO), "its values are yes and no"),
        (key == "postal" and (is_broken or not values.any_match(_CODE_OF_PLACE)), "its values are no codes of places"),
        (numbers is not None and not (lowest <= low and high <= highest), "its numbers are not of that kind"),
        (key in {"latitude", "longitude"} and numbers is None, "it holds no numbers"),
        (key == "time" and (is_broken or (high > _DAYS and not is_year)), "its numbers are no dates"),
    )
    return next((fault for applies, fault in faults if applies), "")


_COMPETITION = re.compile(
    r"(?i)\d ?(k|km|m|mi|miles?|meters?|metres?)\b|marathon|triathlon|sprint|relay|\brun\b|\brace\b"
)


def _are_competitions(values: ColumnValues) -> bool:
    """Tell whether half of the values are distances, or names of what is run: 5k, half marathon."""
    sample = values.sample
    return sum(bool(_COMPETITION.search(text)) for text in sample) >= 0.5 * len(sample)


# The type of a column.

_CODE = re.compile(r"(?=.*\d)[A-Za-z]{0,4}[-. /_]?[A-Za-z0-9]{1,6}([-. /_]?[A-Za-z0-9]{1,6}){0,3}")
_RANGE = re.compile(r"\s*\d+\s*(-|–|to|bis|à|a)\s*\d+\s*|[<>≤≥].*|\d+\s*\+")
_NUMERIC = re.compile(r"\s*[+-]?(0|[1-9]\d*)([.,]\d+)*\s*")
_LEADING_ZERO = r"^0[0-9]"
_SENTENCE = 4
"""So many words make a sentence."""

_FEW_VALUES = 20
"""Among so few values, sentences may repeat by chance."""


def infer_type(values: ColumnValues) -> ColumnType:
    """Find the type of a column's values.

    >>> [str(infer_type(ColumnValues.from_counts(dict.fromkeys(texts, 1))).kind) for texts in (
    ...     ["7", "12"], ["0.5", "1"], ["2020-01-31"], ["0070", "1234"], ["I21.0", "E11"], ["nurse", "cook"], [])]
    ['integer', 'decimal', 'date', 'code', 'code', 'category', 'empty']
    """
    if not values.distinct:
        return ColumnType(ColumnKind.EMPTY)
    numbers = read_numbers(values)
    dates = find_date_formats(values) if numbers is None or _may_be_compact_dates(numbers) else None
    if dates is not None:
        return ColumnType(ColumnKind.DATE, dates=dates)
    if numbers is not None:
        return ColumnType(ColumnKind.INTEGER if numbers.whole else ColumnKind.DECIMAL, numbers=numbers)
    sample = values.sample
    sentences = fmean(len(text.split()) >= _SENTENCE or "\n" in text or len(text) > 60 for text in sample)
    fewest = 0.1 if values.distinct > _FEW_VALUES else 0.5
    if sentences > 0.3 and values.distinct > values.present * fewest:  # and hardly ever the same
        return ColumnType(ColumnKind.TEXT)
    numeric = fmean(bool(_NUMERIC.fullmatch(text)) for text in sample)
    if numeric >= 0.5 and not values.any_match(_LEADING_ZERO):  # numbers, but not all of them
        return ColumnType(ColumnKind.CATEGORY, mixed=True)
    ranges = fmean(bool(_RANGE.fullmatch(text)) for text in sample)
    is_code = all(_CODE.fullmatch(text) for text in sample) and ranges < 0.5
    return ColumnType(ColumnKind.CODE if is_code else ColumnKind.CATEGORY)


def _may_be_compact_dates(numbers: WrittenNumbers) -> bool:
    """Tell whether whole numbers could be dates such as 20201231; of few values nobody can tell."""
    return numbers.whole and numbers.low >= 18_000_101 and numbers.high <= 21_991_231 and len(numbers.values) > 4


# What values look like: e-mail addresses, telephone numbers, numbers of the state, codes of illnesses.

_MOST = 0.8
"""The share of values that has to look like it; the rest may be slips."""


@dataclass(frozen=True)
class ValueFormat:
    """A way to write something: the role it suggests, a pattern and, where there is one, a check digit.

    `person` ranks formats that name a person, 1 the best; 0 for all others.
    """

    key: str
    role: Role
    description: str
    pattern: str
    check: Callable[[str], bool] | None = None
    person: int = 0

    def fits(self, text: str) -> bool:
        """Tell whether a value is written so."""
        return bool(re.fullmatch(self.pattern, text)) and (self.check is None or self.check(text))


def recognize_format(sample: list[str]) -> ValueFormat | None:
    """Find the format that most values have, the particular ones tried first.

    >>> recognize_format(["a@example.org", "b@example.com"]).key, recognize_format(["red", "blue"])
    ('email', None)
    >>> recognize_format(["GB82 WEST 1234 5698 7654 32"]).key, recognize_format(["GB82 WEST 1234 5698 7654 33"])
    ('iban', None)
    """
    trimmed = [text.strip() for text in sample]
    for form in VALUE_FORMATS:
        if trimmed and sum(form.fits(text) for text in trimmed) >= _MOST * len(trimmed):
            return form
    return None


def is_iban(text: str) -> bool:
    """Tell whether the two check digits are right (ISO 13616)."""
    compact = text.replace(" ", "")
    digits = "".join(str(int(letter, 36)) for letter in compact[4:] + compact[:4])
    return int(digits) % 97 == 1


def is_luhn(text: str) -> bool:
    """Tell whether the last digit of a card number is right (Luhn's formula).

    >>> is_luhn("4111 1111 1111 1111"), is_luhn("4111 1111 1111 1112")
    (True, False)
    """
    digits = [int(character) for character in reversed(text) if character.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def _has_digits(least: int) -> Callable[[str], bool]:
    return lambda text: sum(character.isdigit() for character in text) >= least


def _identifier(
    key: str, description: str, pattern: str, *, check: Callable[[str], bool] | None = None, person: int = 0
) -> ValueFormat:
    return ValueFormat(key, Role.IDENTIFIER, description, pattern, check, person)


VALUE_FORMATS = (
    _identifier("email", "e-mail addresses", r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}", person=4),
    _identifier("url", "web addresses", r"(https?://|www\.)\S+"),
    _identifier("uuid", "UUIDs", r"[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}", person=8),
    _identifier("ip", "IP addresses", r"(\d{1,3}\.){3}\d{1,3}|([0-9a-fA-F]{0,4}:){3,7}[0-9a-fA-F]{0,4}"),
    _identifier("mac", "MAC addresses", r"([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}"),
    _identifier("iban", "IBANs", r"[A-Z]{2}\d{2}[A-Z0-9 ]{11,35}", check=is_iban, person=6),
    _identifier("ssn", "social security numbers", r"\d{3}-\d{2}-\d{4}|\d{3}-\d{3}-\d{4}", person=2),
    _identifier("ahv", "Swiss social security numbers", r"756[.-]?\d{4}[.-]?\d{4}[.-]?\d{2}", person=2),
    _identifier(
        "nir",
        "French social security numbers",
        r"[12] ?\d{2} ?(0[1-9]|1[0-2])( ?[\dAB]{2,3}){2} ?\d{3}( ?\d{2})?",
        check=_has_digits(12),
        person=2,
    ),
    _identifier("fiscal", "Italian tax codes", r"[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]", person=2),
    _identifier("dni", "Spanish identity numbers", r"\d{8}-?[A-Z]|[XYZ]-?\d{7}-?[A-Z]", person=2),
    _identifier("cpf", "Brazilian tax numbers", r"\d{3}\.\d{3}\.\d{3}-\d{2}", person=2),
    _identifier("nino", "British insurance numbers", r"[A-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]", person=2),
    _identifier("card", "card numbers", r"\d{4}([ -]?\d{4}){2}[ -]?\d{1,7}", check=is_luhn, person=6),
    _identifier(
        "phone",
        "telephone numbers",
        r"(\+|00|\(|0\d)[\d ()/.-]{6,}\d|\d{3}[ -]\d{3}[ -]\d{2}[ -]?\d{2}",
        check=_has_digits(8),
        person=5,
    ),
    ValueFormat("icd", Role.SENSITIVE, "codes of illnesses (ICD-10)", r"[A-TV-Z]\d[0-9AB](\.[0-9A-Z]{1,4})?"),
)
"""From the particular to the common: a number of the state comes before a telephone number."""
