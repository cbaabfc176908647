"""The figures of the report, on tables small enough to count by hand."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.attack.homogeneity import measure_disclosure
from sfumato.core.classes import EquivalenceClasses
from sfumato.models import AlphaDeassociation, EntropyLDiversity, TCloseness
from sfumato.recode.frequency_sets import FrequencyCounter
from sfumato.release import Release, prepare
from sfumato.report.before_after import raw_classes
from sfumato.report.column_bins import bin_class_sizes
from sfumato.report.risk_sections import disclosure_by_column

from .conftest import report

Releases = Callable[..., Release]
Pages = Callable[[str], Any]

SUPPRESS = {"role": "quasi", "hierarchy": "suppress"}
PERSONS = {"person": {"role": "individual"}, "town": SUPPRESS, "illness": {"role": "sensitive"}}
VISITS = {
    "person": ["ann", "ann", "ann", "bob", "cid", "dan", "dan", "eve"],
    "town": ["Bern", "Bern", "Bern", "Bern", "Thun", "Thun", "Thun", "Thun"],
    "illness": ["flu", "HIV", "flu", "flu", "flu", "HIV", "flu", "flu"],
}


def test_risk_before_and_after(release: Releases, page: Pages) -> None:
    """Six unique people become two classes of three: certainty becomes one in three."""
    text = page(report(release())).text
    assert "Highest chance certain (100%) 1 in 3 (33.3%)" in text
    assert "Rows alone in their class 6 (100%) 0 (0%)" in text
    assert "Classes 6 2" in text
    assert "Rows in classes below k = 3 6 (100%) 0 (0%)" in text


def test_sizes_before_and_after(release: Releases, page: Pages) -> None:
    """All rows stood alone and all stand in classes of two to four now; no larger bin is drawn."""
    text = page(report(release())).text
    assert "Size Before After 1 100% 0% 2–4 0% 100% What classes tell" in text


def test_verdict_says_promise_finding_and_threat(release: Releases, page: Pages) -> None:
    """A requirement is told with the threat that it answers, in the model's own words."""
    text = page(report(release({"model": "k-anonymity", "k": 2}))).text
    assert "k-anonymity ✓ holds Threat Someone who knows a person's quasi-identifiers picks out" in text
    assert "Promised k = 2 Found k = 3" in text


def test_suppressed_rows_and_why(page: Pages) -> None:
    """A row that no class takes is counted, with the reason and the limit."""
    rows = {"town": ["Bern"] * 4 + ["Thun"]}
    policy = {
        "columns": {"town": SUPPRESS},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "algorithm": {"name": "optimal", "suppression": 0.2},
    }
    text = page(report(prepare(pa.table(rows), policy))).text
    assert "Came in 5 Published 4 (80.0%), in 1 class Suppressed 1 (20.0%): rows of classes that did not meet" in text
    assert "the policy allows 20.0%" in text


def test_what_classes_tell(release: Releases) -> None:
    """Distinct and entropy l, largest share, distance and gain, against a count by hand."""
    found = disclosure_by_column(release().publication)["illness"]
    share = np.array([2, 1]) / 3
    entropy = float(np.exp(-(share * np.log(share)).sum()))
    assert (found.distinct.whole, found.distinct.average, found.distinct.worst) == (3, 2.0, 2)
    assert found.entropy.worst == pytest.approx(entropy)
    assert found.share.worst == pytest.approx(2 / 3)
    assert (found.top, found.most.value) == ("flu", "HIV")
    assert found.distance.worst == pytest.approx(1 / 6)
    assert found.gain.worst == pytest.approx(1 / 6)
    assert (found.most.before, found.most.after) == pytest.approx((1 / 6, 1 / 3))
    assert found.certain == 0


def test_asked_or_not_is_the_same(release: Releases) -> None:
    """A column that no requirement looks at has the measures it would have if one did."""
    unasked = release()
    asked = release({"model": "k-anonymity", "k": 3}, {"model": "distinct-l-diversity", "column": "illness", "l": 1})
    assert not unasked.recoding.classes.sensitive
    assert disclosure_by_column(unasked.publication) == disclosure_by_column(asked.publication)


def test_unasked_columns_are_told(release: Releases, page: Pages) -> None:
    """A sensitive column without a requirement is named as such, where it is measured and among the limits."""
    text = page(report(release())).text
    assert "No requirement looks at this column" in text
    assert "No requirement limits illness" in text


def test_homogeneous_class_is_told(page: Pages) -> None:
    """Rows of a class with a single value are counted, and that it is certain is said."""
    rows = {"town": ["Bern", "Bern", "Thun", "Thun"], "illness": ["HIV", "HIV", "flu", None]}
    policy = {
        "columns": {"town": SUPPRESS, "illness": {"role": "sensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    text = page(report(prepare(pa.table(rows), policy))).text
    assert "2 rows stand in classes of a single value" in text


def test_missing_values(page: Pages) -> None:
    """NULL is a label and a value like any other, and is shown as missing."""
    rows = {"town": [None, None, "Thun", "Thun"], "illness": [None, None, "flu", "HIV"]}
    policy = {
        "columns": {"town": SUPPRESS, "illness": {"role": "sensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    text = page(report(prepare(pa.table(rows), policy))).text
    assert "The most is told of missing (NULL): 50.0% of the whole table hold it, 100%" in text


def test_people_are_counted(page: Pages) -> None:
    """With an individual column, risk and sizes are in people, and what pseudonyms allow is said."""
    policy = {"columns": PERSONS, "privacy": [{"model": "k-anonymity", "k": 2}]}
    made = prepare(pa.table(VISITS), policy)
    text = page(report(made)).text
    assert "2 people in the smallest class" in text
    assert "People 5, by person" in text
    assert "The protected unit is a person." in text
    assert "all rows of a person carry one pseudonym" in text
    assert raw_classes(made.encoded).persons.tolist() == [2, 3]


def test_one_class_without_sensitive_column(page: Pages) -> None:
    """A table that becomes one class, and a policy without sensitive column, are reported like any other."""
    policy = {"columns": {"town": SUPPRESS}, "privacy": [{"model": "k-anonymity", "k": 3}]}
    policy |= {"algorithm": {"name": "optimal"}}
    text = page(report(prepare(pa.table({"town": ["Bern", "Thun", "Spiez"]}), policy))).text
    assert "The policy names no sensitive column" in text
    assert "in 1 class" in text
    assert "town level 1 of 1, 3 values → 1 label 100% 3" in text


def test_t_closeness(release: Releases, page: Pages) -> None:
    """The distance of the verifier and the one the report measures by itself agree."""
    model = {"model": "t-closeness", "column": "illness", "t": 0.5, "distance": "variational"}
    made = release({"model": "k-anonymity", "k": 3}, model)
    illness = disclosure_by_column(made.publication)["illness"]
    assert made.privacy[1]["achieved"]["t"] == pytest.approx(illness.distance.worst)
    assert "t-closeness ✓ holds" in page(report(made)).text


@pytest.mark.parametrize("looked_at", [[], ["illness"]])
@pytest.mark.parametrize("persons", [True, False])
def test_raw_classes_are_those_of_the_roller(looked_at: list[str], persons: bool) -> None:
    """Runs of equal tuples give what grouping gives, on a random table."""
    draw = np.random.default_rng(5)
    rows = {name: draw.choice(list("abc"), 300).tolist() for name in ("person", "town", "job", "illness")}
    columns = PERSONS | {"job": SUPPRESS, "person": {"role": "individual" if persons else "plain"}}
    models = [{"model": "distinct-l-diversity", "column": name, "l": 1} for name in looked_at]
    encoded = prepare(
        pa.table(rows), {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 1}, *models]}
    ).encoded
    roller = FrequencyCounter(encoded)
    expected = roller.group(roller.at_bottom()).classes
    found = raw_classes(encoded)
    assert found.sizes.tolist() == expected.sizes.tolist()
    assert found.persons.tolist() == expected.persons.tolist()


def test_bins_hold_every_row() -> None:
    """Rows of the largest classes are in the last bin, and nothing is lost."""
    sizes = bin_class_sizes(EquivalenceClasses(sizes=np.array([1, 999, 1000, 4000])))
    assert sizes.shares.tolist() == pytest.approx([1 / 6000, *[0] * 7, 999 / 6000, 5000 / 6000])


@pytest.mark.parametrize("block", [7, 1 << 14])
def test_measures_equal_the_models(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    """Entropy, share and distance agree with the privacy models that ask for them, in blocks or at once."""
    monkeypatch.setattr("sfumato.attack.homogeneity._BLOCK", block)
    draw = np.random.default_rng(3)
    classes = EquivalenceClasses.of(draw.integers(0, 40, 500), illness=draw.choice(list("abcdef"), 500).tolist())
    found = measure_disclosure(classes.sensitive["illness"], classes.sizes)
    assert EntropyLDiversity("illness", l=1).achieved(classes)["l"] == pytest.approx(found.entropy.worst)
    assert AlphaDeassociation(alpha=1, column="illness").achieved(classes)["alpha"] == pytest.approx(found.share.worst)
    apart = TCloseness("illness", t=1, distance="variational").achieved(classes)["t"]
    assert apart == pytest.approx(found.distance.worst)
