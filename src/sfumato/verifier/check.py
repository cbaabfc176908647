"""What a check of a requirement is: a query over the classes, and words for those that fail."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Rule = Mapping[str, Any]


@dataclass(frozen=True)
class Check:
    """Per class ``id``: is it ``ok``, and its ``figure``.

    `query` selects these; `achieved` maps a key of the model to an SQL aggregate over them; `words` is an SQL text
    that says what is wrong with a class, and `worst` the order in which the worst come first.
    """

    query: str
    achieved: Mapping[str, str]
    words: str
    worst: str = "figure DESC"
