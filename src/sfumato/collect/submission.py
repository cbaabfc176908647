"""What a client sends: one report for each question, a random key, and which noise they were drawn from.

As JSON, with nothing else in it:

    {"format": "sfumato-answer/1", "key": "<32 hexadecimal digits>", "noise": "<hash of the noise>",
     "reports": {"age": 41.25, "vote": "a", "basket": ["bread", "milk"]}}

A number is a number on the grid of its noise, one of several answers is a text, and a set is a list of texts. Whoever
sends again, because no acknowledgement came, sends the same key: the collector keeps one of both. What the noise cannot
produce was not drawn from it, so it is refused.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.channels.additive_noise import AdditiveNoise
from sfumato.channels.category_noise import MatrixNoise, UnaryNoise
from sfumato.collect.basket_noise import FlipNoise
from sfumato.collect.noise import ColumnNoise, Noise, Unperturbed
from sfumato.errors import shorten
from sfumato.serving.refused_request import Refused

ANSWER_FORMAT = "sfumato-answer/1"
_KEY = re.compile(r"[0-9a-f]{32}")
_LONGEST_NUMBER = 40

Cell = float | str
"""What is stored of a report: a number, an answer, or the members of a set joined by ``|``."""


@dataclass(frozen=True)
class Submission:
    """A submission that was checked against the noise: its key, and a cell for each question in their order."""

    key: str
    cells: tuple[Cell, ...]


def write_submission(key: str, digest: str, reports: Mapping[str, Any]) -> bytes:
    """Write what is sent.

    >>> write_submission("0" * 32, "abc", {"age": 3.5})[-25:]
    b' "reports": {"age": 3.5}}'
    """
    content = {"format": ANSWER_FORMAT, "key": key, "noise": digest, "reports": dict(reports)}
    return json.dumps(content, allow_nan=False).encode()


def read_submission(body: bytes, noise: Noise, digest: str) -> Submission:
    """Read what came, and refuse what this noise cannot have produced.

    >>> noise = Noise.read({"format": "sfumato-noise/1", "columns": {
    ...     "age": {"kind": "uniform", "half_width": 5.0, "domain": [0, 90]}}})
    >>> read_submission(write_submission("0" * 32, "abc", {"age": 94.5}), noise, "abc").cells
    (94.5,)
    >>> read_submission(write_submission("0" * 32, "abc", {"age": 95.5}), noise, "abc")
    Traceback (most recent call last):
    sfumato.serving.refused_request.Refused: age: the noise cannot produce this report; send what it gave
    """
    try:
        content = json.loads(body, parse_constant=_refuse, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise Refused(
            "this is not JSON with each key once and every number finite; send what the guide shows", 400
        ) from None
    if not isinstance(content, dict) or content.keys() != {"format", "key", "noise", "reports"}:
        raise Refused("send an object with the keys format, key, noise and reports, and no other", 400)
    if content["format"] != ANSWER_FORMAT:
        raise Refused(f'format must be "{ANSWER_FORMAT}"', 400)
    key = content["key"]
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise Refused("key must be 32 hexadecimal digits in small letters, drawn at random for each submission", 400)
    if content["noise"] != digest:
        raise Refused(
            "the noise of this collection is another; fetch noise.json anew, perturb by it, and send that", 409
        )
    reports = content["reports"]
    if not isinstance(reports, dict) or reports.keys() != noise.columns.keys():
        names = ", ".join(map(shorten, noise.columns))
        raise Refused(f"reports must have one entry for each question, and no other: {shorten(names)}")
    return Submission(key, tuple(_read_report(name, reports[name], one) for name, one in noise.columns.items()))


def longest_submission(noise: Noise) -> int:
    """Give the bytes that no submission exceeds, however its texts are escaped."""
    parts = 0
    for name, one in noise.columns.items():
        texts = [name, *getattr(one, "values", getattr(one, "items", ()))]
        parts += sum(6 * len(text.encode("utf-16-le")) // 2 + 6 for text in texts) + _LONGEST_NUMBER
    return 400 + parts


def _read_report(name: str, report: object, noise: ColumnNoise) -> Cell:
    impossible = Refused(f"{shorten(name)}: the noise cannot produce this report; send what it gave")
    match noise:
        case AdditiveNoise():
            if isinstance(report, bool) or not isinstance(report, int | float) or abs(report) > 1e308:
                raise Refused(f"{shorten(name)}: send a number")
            number = np.array([float(report)])
            if not noise.admits(number)[0]:
                raise impossible
            # what differs from the grid by less than a rounding error is put onto it: no digit carries anything else
            return float(noise.from_steps(np.rint(number / noise.step))[0]) + 0.0
        case UnaryNoise() | FlipNoise():
            every = noise.values if isinstance(noise, UnaryNoise) else noise.items
            if not isinstance(report, list) or not all(isinstance(member, str) for member in report):
                raise Refused(f"{shorten(name)}: send a list of texts")
            members = set(report)
            if len(members) < len(report) or not members <= set(every):
                raise impossible
            return "|".join(member for member in every if member in members)
        case Unperturbed():
            raise Refused(f"{shorten(name)}: a collector takes perturbed answers alone")
    if not isinstance(report, str):
        raise Refused(f"{shorten(name)}: send a text")
    if report not in noise.values:
        raise impossible
    if isinstance(noise, MatrixNoise) and not any(row[noise.values.index(report)] for row in noise.matrix):
        raise impossible
    return report


def _refuse(name: str) -> float:
    raise ValueError(name)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a key twice")
    return content
