"""What the bags of a person's classes have in common."""

from collections.abc import Callable
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from sfumato.release import Release, anonymize
from sfumato.split import common

Rules = Callable[..., dict[str, Any]]


def _expected(release: Release) -> tuple[int, int]:
    """The same by plain loops over the published tables."""
    bags: dict[int, set[str]] = {}
    for row in release.ss.to_pylist():
        bags.setdefault(row["class_id"], set()).add(row["s"])
    classes: dict[str, set[int]] = {}
    for row in release.nss.to_pylist():
        classes.setdefault(row["who"], set()).add(row["class_id"])
    several = [places for places in classes.values() if len(places) > 1]
    return len(several), sum(len(set.intersection(*(bags[place] for place in places))) == 1 for places in several)


@pytest.mark.parametrize("form", ["lossy-join", "anatomy"])
def test_like_plain_loops(rules: Rules, form: str) -> None:
    """Persons in several classes, and those whose bags share one value alone, on random tables."""
    seen = 0
    for seed in range(8):
        random = Random(seed)
        rows = 60
        table = pa.table(
            {
                "who": [str(random.randrange(25)) for _ in range(rows)],
                "q": [random.choice("abcdef") for _ in range(rows)],
                "s": [random.choice("uvwxyz") for _ in range(rows)],
            }
        )
        privacy = [{"model": "alpha-deassociation", "column": "s", "alpha": 0.5}]
        roles = {"who": "individual", "q": "quasi", "s": "sensitive"}
        release = anonymize(table, rules(roles, privacy=privacy, suppression=0.3, publish={"form": form}))
        found = common(release.encoded, release.recoding)["s"]
        assert (found.several, found.one) == _expected(release)
        seen += found.one or 0
    assert seen


def test_nothing_where_rows_name_nobody(rules: Rules) -> None:
    """Without a column of persons there is nobody to follow through the classes."""
    table = pa.table({"q": ["a", "a"], "s": ["x", "y"]})
    release = anonymize(table, rules({"q": "quasi", "s": "sensitive"}, publish={"form": "lossy-join"}))
    assert common(release.encoded, release.recoding) == {}
