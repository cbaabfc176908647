"""What top-down specialization asks of the rest of a policy: a class column to score by, and no key in vain."""

from collections.abc import Mapping

from sfumato.errors import PolicyError, did_you_mean
from sfumato.policy.columns import Column, Role
from sfumato.policy.rules import table_of
from sfumato.policy.search import CLASSIFYING, CUTS

_CLASS = "name the column whose values are to be told apart; it is published as it is, so sensitive or plain"


def check_cuts(columns: Mapping[str, Column], algorithm: str, document: Mapping[str, object]) -> None:
    """A class where there is to be classified, and the keys of scores with the algorithm that has them.

    >>> check_cuts({}, "tds", {"algorithm": {"score": "classification"}})
    Traceback (most recent call last):
    sfumato.errors.PolicyError: algorithm.class: is missing, and the score classification needs it: name the
    column whose values are to be told apart; it is published as it is, so sensitive or plain
    """
    search, publish = table_of(document, "algorithm"), table_of(document, "publish")
    if algorithm not in CUTS:
        for key in ("score", "class"):
            if key in search:
                raise PolicyError(f"is for tds, and the algorithm is {algorithm}; leave it out", key=f"algorithm.{key}")
        return
    if "metric" in search:
        raise PolicyError("tds goes by its score; leave it out, or write score", key="algorithm.metric")
    if publish.get("ranges") == "means":
        why = "tds publishes the ranges that it has cut, not means; write partition or boxes"
        raise PolicyError(why, key="publish.ranges")
    _check_class(columns, search)


def _check_class(columns: Mapping[str, Column], search: Mapping[str, object]) -> None:
    label, score = search.get("class"), search.get("score")
    if label is None:
        if score in CLASSIFYING:
            raise PolicyError(f"is missing, and the score {score} needs it: {_CLASS}", key="algorithm.class")
        return
    if score is not None and score not in CLASSIFYING:
        why = f"a class is for the scores classification and conditional, and the score is {score}; leave it out"
        raise PolicyError(why, key="algorithm.class")
    if label not in columns:
        hint = did_you_mean(str(label), columns) or f"; {_CLASS}"
        raise PolicyError(f"{label!r} is not one of [columns]{hint}", key="algorithm.class")
    if (role := columns[str(label)].role) not in {Role.SENSITIVE, Role.PLAIN}:
        raise PolicyError(f"{label!r} is of role {role}; {_CLASS}", key="algorithm.class")
