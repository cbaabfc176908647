"""The form of a collection: a title, a text, and questions with the noise that each answer gets before it is sent.

It is a TOML file. A question has a name (the column of its answers), a text that people read, and the keys of its
noise, as ``noise.json`` has them:

    title = "How do you work with the editor?"

    [[question]]
    name = "age"
    text = "How old are you?"
    kind = "laplace"
    scale = 20.0
    domain = [10, 90]
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.channels.additive_noise import AdditiveNoise
from sfumato.channels.category_noise import MatrixNoise, ResponseNoise, UnaryNoise
from sfumato.collect.basket_noise import FlipNoise
from sfumato.collect.noise import FORMAT, Noise, Unperturbed
from sfumato.core.regular_file import read_regular_file
from sfumato.errors import InputError, did_you_mean, quote, shorten
from sfumato.policy.section import describe_value
from sfumato.policy.toml_text import find_line

_LARGEST_FILE = 1 << 20
_LONGEST_TEXT = 5000
_MOST_QUESTIONS, _MOST_CHOICES = 100, 1000
_BINS, _MOST_BINS = 20, 200
_RESERVED = ("key", "day")
"""Columns that the store has besides the questions."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


QuestionNoise = AdditiveNoise | MatrixNoise | ResponseNoise | UnaryNoise | FlipNoise
"""All kinds that perturb."""


class FormError(InputError):
    """A form that does not say what to ask; `key` is the dotted path of the key that is wrong."""

    def __init__(self, message: str, *, key: str) -> None:
        self.key = key
        super().__init__(f"{key}: {message}")


@dataclass(frozen=True)
class Question:
    """A question: the column of its answers, what people read, their noise, and how many bars show its results."""

    name: str
    text: str
    noise: QuestionNoise
    bins: int = _BINS


@dataclass(frozen=True)
class CollectionForm:
    """What is asked, and how every answer is perturbed before it leaves.

    >>> form = CollectionForm.read({"title": "Editors", "question": [
    ...     {"name": "vote", "text": "Which one?", "kind": "response", "values": ["vi", "ed"], "keep": 0.5}]})
    >>> form.noise.columns["vote"].values
    ('vi', 'ed')
    >>> CollectionForm.read({"title": "Editors", "question": [{"name": "vote", "text": "Which?", "kind": "reponse"}]})
    Traceback (most recent call last):
    sfumato.collect.collection_form.FormError: question[0].kind: must be one of gaussian, uniform, laplace, response,
    matrix, unary, flip, not 'reponse'; did you mean response?
    """

    title: str
    text: str
    questions: tuple[Question, ...]

    @classmethod
    def load(cls, source: "CollectionForm | Mapping[str, Any] | str | Path") -> "CollectionForm":
        """Take a form, the tables of a file, or the path of one; an error in a file names the line."""
        if isinstance(source, CollectionForm):
            return source
        if isinstance(source, Mapping):
            return cls.read(source)
        path = Path(source)
        try:
            text = read_regular_file(path, most=_LARGEST_FILE, what="a form").decode("utf-8-sig")
            tables = tomllib.loads(text)
        except UnicodeDecodeError:
            raise InputError(f"{path.name} is not UTF-8 text; save the form as a TOML file in UTF-8") from None
        except ValueError as error:
            raise InputError(f"{path.name} is not valid TOML: {shorten(str(error))}; mend it there") from None
        except RecursionError:
            raise InputError(f"{path.name} is nested too deeply to be a form; write it as the guide shows") from None
        try:
            return cls.read(tables)
        except FormError as error:
            line = find_line(text, error.key)
            raise InputError(f"{path.name}{f', line {line}' if line else ''}: {error}") from None

    @classmethod
    def read(cls, tables: Mapping[str, Any]) -> "CollectionForm":
        """Check the content of a form, key by key."""
        for key in tables:
            if key not in ("title", "text", "question"):
                hint = did_you_mean(str(key), ("title", "text", "question"))
                raise FormError(f"is not a key of a form{hint or '; choose title, text or question'}", key=shorten(key))
        entries = tables.get("question")
        if not isinstance(entries, list) or not entries:
            raise FormError("is missing, and a form asks something; begin a question with [[question]]", key="question")
        if len(entries) > _MOST_QUESTIONS:
            raise FormError(f"stands {len(entries):,} times, and nobody answers more than 100", key="question")
        title = _read_text(tables, "title", "")
        text = _read_text(tables, "text", "") if "text" in tables else ""
        questions = tuple(_read_question(entry, f"question[{place}]") for place, entry in enumerate(entries))
        known: dict[str, int] = {}
        for place, question in enumerate(questions):
            # a column of a table is known by its name in small letters
            first = known.setdefault(question.name.lower(), place)
            if first != place:
                way = f"is that of question[{first}], but for capital letters; give each question a name of its own"
                raise FormError(way, key=f"question[{place}].name")
        return cls(title, text, questions)

    @property
    def noise(self) -> Noise:
        """The noise of every question, as it is published."""
        return Noise({question.name: question.noise for question in self.questions})

    def question(self, name: str) -> Question:
        """Find a question by its name."""
        return next(question for question in self.questions if question.name == name)


def noise_digest(noise: Noise) -> str:
    """Name a noise by the hash of its content: what clients send along, so that no answer gets noise that is not meant.

    >>> noise = Noise.read({"format": "sfumato-noise/1", "columns": {
    ...     "a": {"kind": "flip", "items": ["x"], "keep": 0.9}}})
    >>> noise_digest(noise) == noise_digest(Noise.read(noise.as_json())), len(noise_digest(noise))
    (True, 64)
    """
    text = json.dumps(noise.as_json(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _read_text(table: Mapping[str, Any], key: str, path: str) -> str:
    """Read a text that people will see."""
    where = f"{path}.{key}" if path else key
    if key not in table:
        raise FormError(f'is missing; write {key} = "…"', key=where)
    value = table[key]
    if not isinstance(value, str):
        raise FormError(f"must be text, not {describe_value(value)}", key=where)
    if not value.strip():
        raise FormError("is empty; say something that people can read", key=where)
    if len(value) > _LONGEST_TEXT:
        raise FormError(f"has {len(value):,} characters, and at most 5,000 are shown; shorten it", key=where)
    if _CONTROL.search(value):
        raise FormError("has a control character; leave it out", key=where)
    return value.strip()


def _read_question(entry: object, path: str) -> Question:
    """Read one question: our own keys here, and those of the noise by the reader of noise files."""
    if not isinstance(entry, Mapping):
        raise FormError("must be a table; begin a question with [[question]]", key=path)
    name, text = _read_text(entry, "name", path), _read_text(entry, "text", path)
    if name.lower() in _RESERVED or len(name) > 100:
        raise FormError(
            f"{quote(name)} cannot be the name of a question; choose another, such as age", key=f"{path}.name"
        )
    keys = {key: value for key, value in entry.items() if key not in ("name", "text", "bins")}
    noise = _read_noise(keys, path)
    choices = getattr(noise, "values", getattr(noise, "items", ()))
    if len(choices) > _MOST_CHOICES:
        raise FormError(f"has {len(choices):,} answers, and a page shows at most 1,000; leave some out", key=path)
    for choice in choices:
        if len(choice) > 200 or choice != choice.strip() or _CONTROL.search(choice):
            way = "an answer has at most 200 characters, none of them a control character, and no blanks around it"
            raise FormError(f"{quote(choice)} cannot be shown; {way}", key=path)
    return Question(name, text, noise, _read_bins(entry, noise, path))


def _read_noise(keys: Mapping[str, Any], path: str) -> QuestionNoise:
    kinds = ("gaussian", "uniform", "laplace", "response", "matrix", "unary", "flip")
    kind = keys.get("kind")
    if not isinstance(kind, str) or kind not in (*kinds, Unperturbed.kind):
        hint = did_you_mean(kind, kinds) if isinstance(kind, str) else ""
        raise FormError(f"must be one of {', '.join(kinds)}, not {describe_value(kind)}{hint}", key=f"{path}.kind")
    try:
        noise = Noise.read({"format": FORMAT, "columns": {"q": dict(keys)}}).columns["q"]
    except InputError as error:
        message = str(error).removeprefix("column 'q': ")
        word = message.removeprefix("the key ").partition(" ")[0].strip("'\"")
        raise FormError(message, key=f"{path}.{word}" if word in keys else path) from None
    if isinstance(noise, Unperturbed):
        way = "would send answers as they are, and a form perturbs them all; leave the question out"
        raise FormError(f"plain {way}", key=f"{path}.kind")
    return noise


def _read_bins(entry: Mapping[str, Any], noise: QuestionNoise, path: str) -> int:
    bins = entry.get("bins", _BINS)
    if "bins" in entry and not isinstance(noise, AdditiveNoise):
        raise FormError("is for questions about numbers; leave it out", key=f"{path}.bins")
    if isinstance(bins, bool) or not isinstance(bins, int) or not 2 <= bins <= _MOST_BINS:
        raise FormError(
            f"must be a whole number from 2 to {_MOST_BINS}, not {describe_value(bins)}", key=f"{path}.bins"
        )
    return bins
