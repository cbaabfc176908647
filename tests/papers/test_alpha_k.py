"""The worked examples of Wong, Li, Fu and Wang: Tables 1 to 8, with the hierarchies of Figure 1."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from sfumato import anonymize
from sfumato.encode import encode
from sfumato.policy import Policy, load
from sfumato.recode.evaluation import Evaluator
from sfumato.recode.incognito import incognito
from sfumato.recode.metrics import METRICS
from sfumato.recode.requirement import Requirement
from sfumato.recode.samarati import samarati
from sfumato.table import from_frame

ROWS_1 = [
    ("Cat1", "1975", "4350", "HIV"),
    ("Cat1", "1955", "4350", "HIV"),
    ("Cat1", "1955", "5432", "flu"),
    ("Cat1", "1955", "5432", "fever"),
    ("Cat2", "1975", "4350", "flu"),
    ("Cat2", "1975", "4350", "fever"),
]
ROWS_4 = [
    ("*", "*", "4350", "HIV"),
    ("*", "*", "4350", "HIV"),
    ("*", "*", "5432", "flu"),
    ("*", "*", "5432", "fever"),
    ("*", "*", "4350", "flu"),
    ("*", "*", "4350", "fever"),
]
ROWS_5 = [
    ("male", "May 1965", "4351", "n"),
    ("male", "Jun 1965", "4351", "c"),
    ("male", "Jul 1965", "4361", "n"),
    ("male", "Aug 1965", "4362", "n"),
]
ROWS_8 = [
    ("male", "May 1965", "4351", "n"),
    ("male", "Jun 1965", "4351", "c"),
    ("male", "Jul 1965", "4351", "n"),
    ("male", "Aug 1965", "4352", "n"),
]
MEDICAL = ("job", "birth", "postcode", "illness")
PEOPLE = ("gender", "birth", "postcode", "sens")
BY_YEAR = {"dates": ["year"], "format": "%b %Y"}  # Figure 1 (b): month, year, *


def table(names: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Any:
    """Rows as an Arrow table."""
    return pa.table({name: list(cells) for name, cells in zip(names, zip(*rows, strict=True), strict=True)})


def policy(names: tuple[str, ...], value: str, birth: object, *, algorithm: str = "optimal") -> Policy:
    """(0.5, 2)-anonymity for one sensitive value, and the paper's hierarchies."""
    first, _, _, sensitive = names
    rule = {"model": "alpha-k-anonymity", "column": sensitive, "values": [value], "alpha": 0.5, "k": 2}
    return load(
        {
            "columns": {
                first: {"role": "quasi", "hierarchy": "suppress"},
                "birth": {"role": "quasi", "hierarchy": birth},
                "postcode": {"role": "quasi", "hierarchy": {"mask": "right"}},
                sensitive: {"role": "sensitive"},
            },
            "privacy": [rule],
            "algorithm": {"name": algorithm, "metric": "distortion"},
        }
    )


MEDICAL_POLICY = policy(MEDICAL, "HIV", "suppress")
PEOPLE_POLICY = policy(PEOPLE, "c", BY_YEAR)


def evaluator(names: tuple[str, ...], rows: Sequence[tuple[str, ...]], rules: Policy) -> Evaluator:
    """An evaluator of the table's nodes."""
    encoded = encode(from_frame(table(names, rows), rules), rules)
    return Evaluator(
        encoded,
        Requirement.from_share(rules.privacy, encoded.rows, rules.search.suppression),
        METRICS["distortion"](encoded),
    )


def published(release: Any, names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The rows of a release, in order."""
    return sorted(tuple(row[name] for name in names) for row in release.table.to_pylist())


@pytest.mark.parametrize("algorithm", ["optimal", "samarati"])
def test_table_4_is_the_full_domain_answer_to_table_1(algorithm: str) -> None:
    """Of all full-domain generalizations of Table 1 that are (0.5, 2)-anonymous, Table 4 distorts the least."""
    release = anonymize(table(MEDICAL, ROWS_1), policy(MEDICAL, "HIV", "suppress", algorithm=algorithm))
    assert release.levels == {"job": 1, "birth": 1, "postcode": 0}
    assert published(release, MEDICAL) == sorted(ROWS_4)
    assert release.privacy[0]["achieved"] == {"alpha": 0.5, "k": 2}


def test_minimal_nodes_of_table_1() -> None:
    """Besides Table 4 only hiding the postcode altogether, with job or birth, is minimal."""
    search = evaluator(MEDICAL, ROWS_1, MEDICAL_POLICY)
    assert {one.node for one in incognito(search)} == {(1, 1, 0), (1, 0, 4), (0, 1, 4)}
    assert [one.node for one in samarati(search)] == [(1, 1, 0)]


def test_hiding_the_birth_alone_discloses_hiv() -> None:
    """As in Table 2: two rows of one class, and both have HIV."""
    grouped, passing, _ = evaluator(MEDICAL, ROWS_1, MEDICAL_POLICY).judge((0, 1, 0))
    assert sorted(grouped.classes.sizes.tolist()) == [2, 2, 2]
    assert sorted(passing.tolist()) == [False, True, True]


def test_distortion_ratio_of_table_4() -> None:
    """Each row climbed 1 + 1 + 0 levels of 1 + 1 + 4: the ratio is a third."""
    release = anonymize(table(MEDICAL, ROWS_1), MEDICAL_POLICY)
    assert release.utility.distortion_ratio == pytest.approx(2 / 6)
    assert [release.utility.attributes[name].distortion for name in MEDICAL[:3]] == [1.0, 1.0, 0.0]


def test_heights_of_figure_1() -> None:
    """Gender has height 1, birth 2 and postcode 4."""
    assert evaluator(PEOPLE, ROWS_5, PEOPLE_POLICY).lattice.heights == (1, 2, 4)


def test_extended_incognito_on_table_5() -> None:
    """<G0, B1, P1> is the one minimal node, and Table 6 (a) what it publishes."""
    assert [one.node for one in incognito(evaluator(PEOPLE, ROWS_5, PEOPLE_POLICY))] == [(0, 1, 1)]
    release = anonymize(table(PEOPLE, ROWS_5), policy(PEOPLE, "c", BY_YEAR, algorithm="incognito"))
    assert release.levels == {"gender": 0, "birth": 1, "postcode": 1}
    table_6a = [("male", "1965", "435*", sens) for sens in "nc"] + [("male", "1965", "436*", "n")] * 2
    assert published(release, PEOPLE) == sorted(table_6a)
    assert release.utility.distortion_ratio == pytest.approx((0 + 1 + 1) / (1 + 2 + 4))


def test_generalization_property() -> None:
    """Lemma 2 on Table 6: every generalization of <G0, B1, P1>, <G0, B1, P2> among them, passes as well."""
    search = evaluator(PEOPLE, ROWS_5, PEOPLE_POLICY)
    above = [(g, b, p) for g in (0, 1) for b in (1, 2) for p in (1, 2, 3, 4)]
    assert all(search.evaluate(node).passes for node in above)
    below = [(0, 0, 1), (0, 1, 0), (0, 0, 0), (0, 0, 4)]
    assert not any(search.evaluate(node).passes for node in below)


@pytest.mark.parametrize(
    ("attributes", "node", "sizes"),
    [
        ((0,), (0,), [4]),
        ((0, 1), (0, 1), [4]),
        ((1, 2), (1, 1), [2, 2]),
        ((0, 2), (0, 1), [2, 2]),
        ((2,), (1,), [2, 2]),
    ],
)
def test_subset_property(attributes: tuple[int, ...], node: tuple[int, ...], sizes: list[int]) -> None:
    """Lemma 3 on Table 7: <G0>, <G0, B1>, <B1, P1> and the other projections of <G0, B1, P1> pass."""
    grouped, passing, _ = evaluator(PEOPLE, ROWS_5, PEOPLE_POLICY).project(attributes).judge(node)
    assert grouped.classes.sizes.tolist() == sizes
    assert passing.all()


def test_table_8() -> None:
    """The full-domain answer to Table 8 (a) is Table 8 (b): one class, where local recoding would keep two."""
    release = anonymize(table(PEOPLE, ROWS_8), PEOPLE_POLICY)
    assert release.levels == {"gender": 0, "birth": 1, "postcode": 1}
    assert published(release, PEOPLE) == sorted([("male", "1965", "435*", sens) for sens in "ncnn"])
