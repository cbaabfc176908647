"""Forms: what is right is read, and what is wrong is said with its key, its line and a way out."""

from pathlib import Path
from typing import Any

import pytest

from sfumato.collect import CollectionForm
from sfumato.collect.noise import Noise
from sfumato.errors import InputError

RIGHT = """title = "T"
[[question]]
name = "age"
text = "How old are you?"
kind = "laplace"
scale = 20.0
domain = [10, 90]
"""


def test_a_form_is_its_noise_and_its_words(form: CollectionForm) -> None:
    """Every kind of noise that perturbs can stand in a form, and the published noise reads back as the same."""
    assert [question.noise.kind for question in form.questions] == [
        *("laplace", "gaussian", "uniform", "response", "matrix", "unary", "flip")
    ]
    assert Noise.read(form.noise.as_json()) == form.noise
    assert form.question("sex").text == "Which one are you?"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('title = "T"\n', "", "title: is missing"),
        ('title = "T"', "title = 3", "line 1: title: must be text, not 3"),
        ('title = "T"', 'title = "T"\ntitel = "T"', "line 2: titel: is not a key of a form; did you mean title?"),
        ("scale = 20.0", "scale = 0.0", "line 6: question[0].scale: scale must be a number above 0"),
        ("scale = 20.0", "scale = nan", "line 6: question[0].scale: scale must be a number above 0"),
        ("scale = 20.0\n", "", "the key 'scale' is missing"),
        ("scale = 20.0", "sigma = 20.0", "'sigma' is not a key of the kind laplace"),
        ('kind = "laplace"', 'kind = "laplase"', "line 5: question[0].kind: must be one of gaussian"),
        ('kind = "laplace"', 'kind = "plain"', "is not a key of the kind plain"),
        ("domain = [10, 90]", "domain = [90, 10]", "line 7: question[0].domain: domain must be two numbers"),
        ("domain = [10, 90]", "domain = [10, 90]\nbins = 1", "line 8: question[0].bins: must be a whole number from 2"),
        ('name = "age"', 'name = "Day"', "'Day' cannot be the name of a question"),
        ('name = "age"', 'name = ""', "line 3: question[0].name: is empty"),
        ('text = "How old are you?"\n', "", "question[0].text: is missing"),
        (RIGHT, 'title = "T"\n', "question: is missing, and a form asks something"),
        (RIGHT, 'title = "T"\nquestion = [3]\n', "must be a table; begin a question with [[question]]"),
        (RIGHT, "title = ", "is not valid TOML"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, old: str, new: str, said: str) -> None:
    """An error names the file, the line where it is known, the key, and what to do."""
    path = tmp_path / "form.toml"
    path.write_text(RIGHT.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError) as error:
        CollectionForm.load(path)
    assert said in str(error.value)
    assert str(error.value).startswith("form.toml")


def test_two_questions_have_two_names() -> None:
    """Names that differ in capital letters alone would be one column of the store."""
    question: dict[str, Any] = {"text": "?", "kind": "flip", "items": ["a"], "keep": 0.9}
    with pytest.raises(InputError, match=r"question\[1\]\.name: is that of question\[0\]"):
        CollectionForm.read({"title": "T", "question": [question | {"name": "A"}, question | {"name": "a"}]})


def test_plain_answers_are_not_asked_for() -> None:
    """A form that would send something as it is is refused with the reason."""
    with pytest.raises(InputError, match="plain would send answers as they are"):
        CollectionForm.read({"title": "T", "question": [{"name": "a", "text": "?", "kind": "plain"}]})
