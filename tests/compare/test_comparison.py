"""What is measured is what a release of that policy measures."""

import re
from pathlib import Path
from typing import Any

import pytest

import sfumato.compare.comparison as running
from sfumato.compare import Comparison, compare
from sfumato.compare.comparison import RunFigures, RunOutcome, _meets
from sfumato.compare.comparison_folder import comparison_page
from sfumato.errors import InputError, PolicyError
from sfumato.policy import load
from sfumato.release import anonymize


@pytest.fixture(scope="module")
def found(visits: Any, tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """Two algorithms, four values of k and two forms, some of which cannot be met."""
    columns = {
        "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
        "sex": {"role": "quasi", "hierarchy": "suppress"},
        "illness": {"role": "sensitive"},
        "note": {"role": "identifier"},
    }
    policy = {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}]}
    settings: dict[str, list[object]] = {"k": [2, 5, 10, 500], "form": ["generalized", "lossy-join"]}
    return compare(policy, visits, algorithms=["optimal", "mondrian", "anatomy"], settings=settings)


@pytest.mark.slow
def test_figures_are_those_of_the_release(found: Comparison, visits: Any) -> None:
    """Every line has the loss, risk, classes and findings that `anonymize` gives under the same policy."""
    checked = 0
    for line in found.measured:
        document = {
            **found.policy.document,
            "privacy": [{"model": "k-anonymity", "k": line.settings["k"]}],
            "algorithm": {"name": line.algorithm},
            "publish": {"form": line.settings["form"]},
        }
        release = anonymize(visits, load(document))
        one = line.figures
        assert one is not None
        assert (one.ncp, one.distortion_ratio) == (release.utility.ncp, release.utility.distortion_ratio)
        assert one.discernibility == release.utility.discernibility
        assert (one.highest, one.average) == (release.risk.highest, release.risk.average)
        assert (one.classes, one.suppressed) == (len(release.recoding.classes), release.suppressed)
        assert list(one.privacy) == release.privacy
        checked += 1
    assert checked == 12


def test_drawn_rows_are_compared_elsewhere(visits: Any) -> None:
    """Condensation beside other algorithms is a line that says what to compare; by itself it is an error that does."""
    columns: dict[str, Any] = {name: {"role": "identifier"} for name in ("sex", "illness", "note")}
    columns["zip"] = {"role": "quasi", "hierarchy": {"mask": "right"}}
    policy = {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}]}
    said = r"in no classes.*run anonymize with each setting, and compare correlation_of_correlations"
    condensed, other = compare(policy, visits, algorithms=["condensation", "optimal"]).outcomes
    assert condensed.figures is None
    assert re.search(said, condensed.reason)
    assert other.figures is not None
    with pytest.raises(PolicyError, match=said):
        compare(policy, visits, algorithms=["condensation"])
    drawn = policy | {"algorithm": {"name": "condensation"}, "publish": {"form": "synthetic"}}
    with pytest.raises(InputError, match=said):
        compare(drawn, visits)


def test_what_cannot_be_met_is_a_line(found: Comparison) -> None:
    """Too large a k and an algorithm without its form are lines with the reason, by which they are gathered."""
    reasons = {line.number: line.reason for line in found.outcomes if not line.figures}
    assert len(found.outcomes) == found.planned == 24
    assert reasons[7] == reasons[8] == "k-anonymity (k = 500) cannot be met: k can be at most 200"
    assert 'write [publish] form = "anatomy"' in reasons[17]
    assert sorted(line for lines in found.failures.values() for line in lines) == sorted(reasons)


def test_one_front_for_each_kind_of_loss(found: Comparison) -> None:
    """One table loses precision, two tables the tie: each has its own front, and none is chosen between them."""
    assert [front.measure for front in found.fronts] == ["ncp", "tie"]
    for front in found.fronts:
        assert {line.settings["form"] for line in front.lines} == {
            "generalized" if front.measure == "ncp" else "lossy-join"
        }
    with pytest.raises(InputError, match="lose different things"):
        found.line()


def test_the_tie_is_lost_as_far_as_values_are_dealt_out(found: Comparison, visits: Any) -> None:
    """The loss of two tables is one minus the tie that is left, of what chance leaves open, counted row by row."""
    line = next(each for each in found.measured if each.settings == {"k": 5, "form": "lossy-join"})
    document = {**found.policy.document, "privacy": [{"model": "k-anonymity", "k": 5}]}
    document |= {"algorithm": {"name": line.algorithm}, "publish": {"form": "lossy-join"}}
    release = anonymize(visits, load(document))
    bags: dict[int, list[str]] = {}
    for row in release.ss.to_pylist():
        bags.setdefault(row["class_id"], []).append(row["illness"])
    values = visits.column("illness").to_pylist()
    kept = sum(bag.count(value) / len(bag) for bag in bags.values() for value in bag) / len(values)
    chance = sum(values.count(value) for value in values) / len(values) ** 2
    assert line.figures is not None
    assert line.figures.loss == pytest.approx(1 - (kept - chance) / (1 - chance))


@pytest.mark.slow
def test_the_table_is_encoded_once(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines that see the same of the table share one reading and one encoding."""
    calls = {"read_table": 0, "encode": 0}
    for name in calls:
        original = getattr(running, name)

        def counted(*arguments: Any, name: str = name, original: Any = original) -> Any:
            calls[name] += 1
            return original(*arguments)

        monkeypatch.setattr(running, name, counted)
    found = compare(project, algorithms=["optimal", "mondrian"], settings={"k": [2, 3], "suppression": [0, 0.1]})
    assert len(found.measured) == 8
    assert calls == {"read_table": 1, "encode": 1}


@pytest.mark.slow
def test_average_risk_may_choose_another_front(project: Path) -> None:
    """Front and knee go by the risk that is asked for."""
    settings = {"k": [2, 3, 5, 8, 20]}
    for risk in ("highest", "average"):
        found = compare(project, algorithms=["mondrian", "optimal"], settings=settings, risk=risk)
        (front,) = found.fronts
        points = [(line.figures.loss, getattr(line.figures, risk)) for line in front.lines if line.figures]
        assert points == sorted(points)
        assert [y for _, y in points] == sorted((y for _, y in points), reverse=True)
        assert front.risk == risk


def test_a_single_best_line_is_suggested(project: Path) -> None:
    """Where one line is best in both there is no knee, and that line is named and chosen."""
    found = compare(project, algorithms=["mondrian"], settings={"k": [2]})
    assert found.fronts[0].knee is None
    assert found.fronts[0].summary.startswith("Line 1 has the least loss and the least risk")
    assert found.line().number == 1


def test_the_page_holds_every_line_and_no_row(found: Comparison, visits: Any) -> None:
    """The page names all lines, reasons and both kinds of loss, is one file, and holds no identifier."""
    text = comparison_page(found)
    for line in found.measured:
        assert f"{line.number}  {line.algorithm}" in text
    assert "k can be at most 200" in text
    assert "loss (tie to sensitive values)" in text
    assert "do not publish it" in text
    assert "<script" not in text
    assert "http" not in text.replace("http-equiv", "")
    assert "secret 1" not in text


@pytest.mark.slow
def test_many_algorithms_are_drawn_by_family(project: Path) -> None:
    """More algorithms than there are markers are drawn by family, so that no two look the same."""
    found = compare(project)
    text = comparison_page(found)
    assert len({line.algorithm for line in found.measured}) > 6
    assert "local (progressive, top-down" in text


def _line(number: int, k: int, found: int, loss: float, **more: Any) -> RunOutcome:
    """A line of tds that asked for k, found a release of so many rows a class, and lost so much."""
    finding = {"model": "k-anonymity", "required": {"k": k}, "achieved": {"k": found}, "satisfied": True}
    figures: dict[str, Any] = {
        "found_by": "tds", "rows": 90, "suppressed": 0, "classes": 3, "ncp": loss, "distortion_ratio": loss,
        "discernibility": 1, "average_class_size": 30.0, "tie_lost": None, "highest": 1 / found, "average": 1 / found,
        "search": 0.1, "total": 0.1, "privacy": (finding,),
    }  # fmt: skip
    return RunOutcome(number, more.pop("algorithm", "tds"), {"k": k}, figures=RunFigures(**(figures | more)))


def test_a_stricter_line_that_loses_less_is_told(project: Path) -> None:
    """Where a search loses more with k = 5 than with k = 20, table, page and JSON say so and name the better line."""
    lines = (_line(1, 5, 6, 0.21), _line(2, 20, 21, 0.04), _line(3, 50, 60, 0.3), _line(4, 5, 5, 0.2, algorithm="auto"))
    comparison = Comparison(load(project), lines, 4, 90)
    assert comparison.overtaken == {1: 2}
    assert comparison.notes[1].startswith("Line 1 loses more than line 2, which asks for more and whose release meets")
    assert comparison.as_json()["lines"][0]["overtaken_by"] == 2
    assert "overtaken_by" not in comparison.as_json()["lines"][1]
    assert "Line 1 loses more than line 2" in comparison_page(comparison)
    dropping = (_line(1, 5, 6, 0.21), _line(2, 20, 21, 0.04, suppressed=9))
    assert Comparison(load(project), dropping, 2, 90).overtaken == {}


def test_what_is_found_under_other_bounds_meets_these() -> None:
    """Bounds go either way, a strict one has to be above, and other keys have to be the same."""

    def meets(model: str, found: dict[str, Any], asked: dict[str, Any], achieved: dict[str, Any]) -> bool:
        one = {"model": model, "required": found, "achieved": achieved}
        return _meets(one, {"model": model, "required": asked, "achieved": {}})

    share = "alpha-deassociation"
    assert meets(share, {"column": "x", "alpha": 0.1}, {"column": "x", "alpha": 0.2}, {"alpha": 0.1})
    assert not meets(share, {"column": "x", "alpha": 0.5}, {"column": "x", "alpha": 0.2}, {"alpha": 0.4})
    assert not meets(share, {"column": "x", "alpha": 0.1}, {"column": "y", "alpha": 0.2}, {"alpha": 0.1})
    recursive = "recursive-l-diversity"
    keys = {"column": "x", "l": 2}
    assert meets(recursive, {**keys, "c": 2}, {**keys, "c": 1.5}, {"c": 1.0, "l": 2})
    assert not meets(recursive, {**keys, "c": 2}, {**keys, "c": 1}, {"c": 1.0, "l": 2})
