"""Every privacy model as a sentence: what a requirement promises, and what it does not stop.

What it stops is the model's own `threat`. The sentences are short forms of those of the guide to the models.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sfumato.page.wording import percent

Entry = Mapping[str, Any]


@dataclass(frozen=True)
class ModelSentences:
    """A model for people: a short title, its promise with the keys of an entry, and what it does not stop.

    `first` are the keys that a new requirement begins with; where the model looks at a column, that comes besides.
    """

    title: str
    promise: Callable[[Entry], str]
    does_not_stop: str
    first: Mapping[str, object]
    looks_at_column: bool = True
    needs_person: bool = False


def _number(entry: Entry, key: str) -> str:
    value = entry.get(key)
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else "?"


def _share(entry: Entry, key: str) -> str:
    value = entry.get(key)
    return percent(float(value)) if isinstance(value, int | float) and not isinstance(value, bool) else "?"


def _column(entry: Entry) -> str:
    if entry.get("columns"):
        return ", ".join(map(str, entry["columns"]))
    return str(entry.get("column") or "?")


def _values(entry: Entry) -> str:
    values = entry.get("values")
    return f"each of {len(values)} protected values" if isinstance(values, list) and values else "any value"


SENTENCES: Mapping[str, ModelSentences] = {
    "k-anonymity": ModelSentences(
        "Nobody stands out",
        lambda entry: (
            f"Everybody looks like at least {_number(entry, 'k')} people of the table, by the columns that others know."
        ),
        "learning a secret that all who look alike share: pair it with a requirement on each secret column.",
        {"k": 5},
        looks_at_column=False,
    ),
    "alpha-deassociation": ModelSentences(
        "No secret is nearly sure",
        lambda entry: (
            f"Among those who look alike, {_values(entry)} of {_column(entry)} is that of at most "
            f"{_share(entry, 'alpha')}."
        ),
        "learning a value that is not protected, or that somebody has one of several. It says nothing of how many look "
        "alike.",
        {"alpha": 0.5},
    ),
    "alpha-k-anonymity": ModelSentences(
        "Nobody stands out, and no secret is nearly sure",
        lambda entry: (
            f"Everybody looks like at least {_number(entry, 'k')} people, and among these {_values(entry)} "
            f"of {_column(entry)} is that of at most {_share(entry, 'alpha')}."
        ),
        "learning a value that is not protected, or that somebody has one of several.",
        {"k": 5, "alpha": 0.5},
    ),
    "distinct-l-diversity": ModelSentences(
        "Several different secrets",
        lambda entry: (
            f"Among those who look alike there are at least {_number(entry, 'l')} different values of {_column(entry)}."
        ),
        "a good guess: 99 of 100 may agree.",
        {"l": 3},
    ),
    "entropy-l-diversity": ModelSentences(
        "As uncertain as several secrets",
        lambda entry: (
            f"Among those who look alike, {_column(entry)} is as uncertain as {_number(entry, 'l')} values "
            "that are equally frequent."
        ),
        "learning that a rare value is among them.",
        {"l": 2},
    ),
    "recursive-l-diversity": ModelSentences(
        "No secret outweighs the rest",
        lambda entry: (
            f"Among those who look alike, the most frequent value of {_column(entry)} has fewer rows than "
            f"{_number(entry, 'c')} times all from the {_number(entry, 'l')}. on together."
        ),
        "learning that a rare value is among them, or a guess by somebody who can rule out many values.",
        {"c": 2.0, "l": 2},
    ),
    "t-closeness": ModelSentences(
        "A class tells no more than the table",
        lambda entry: (
            f"Among those who look alike, {_column(entry)} is distributed nearly as in the whole table: at a "
            f"distance of at most {_number(entry, 't')}, by {entry.get('distance', '?')}."
        ),
        "singling out a row, nor what the whole table tells by itself.",
        {"t": 0.3, "distance": "emd-equal"},
    ),
    "identity-k-anonymity": ModelSentences(
        "Nobody stands out, however many rows they have",
        lambda entry: (
            f"Everybody looks like at least {_number(entry, 'k')} different people"
            + (
                f", and at least {_number(entry, 'linked_k')} share all classes of a person."
                if entry.get("linked_k")
                else "."
            )
        ),
        "a class that is mostly one person's. It says nothing of secrets.",
        {"k": 5},
        looks_at_column=False,
        needs_person=True,
    ),
    "identity-kl-diversity": ModelSentences(
        "Several people, several secrets",
        lambda entry: (
            f"Those who look alike are at least {_number(entry, 'k')} people, with at least "
            f"{_number(entry, 'l')} different values of {_column(entry)}."
        ),
        "shares: one person or one value may have nearly all rows.",
        {"k": 5, "l": 2},
        needs_person=True,
    ),
    "identity-alpha-beta": ModelSentences(
        "Nobody and no secret dominates",
        lambda entry: (
            f"Among the rows that look alike, at most {_share(entry, 'alpha')} are one person's, and at most "
            f"{_share(entry, 'beta')} have one value of {_column(entry)}."
        ),
        "learning that a rare value is among them, or that somebody has one of several.",
        {"alpha": 0.3, "beta": 0.5},
        needs_person=True,
    ),
}
"""The models that judge classes, in the order in which they are offered."""
