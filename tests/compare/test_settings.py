"""Which lines there are: keys, values, combinations and what goes together."""

from pathlib import Path
from typing import Any

import pytest

from sfumato.compare import compare
from sfumato.compare.settings import find_settings, parse_setting, plan_runs
from sfumato.errors import InputError, PolicyError
from sfumato.policy import load


def _plan(project: Path, algorithms: list[str] | None = None, **settings: list[Any]) -> list[tuple[Any, ...]]:
    policy = load(project)
    cases = plan_runs(policy, algorithms, find_settings(policy, settings))
    return [(case.algorithm, *case.settings.values(), case.policy is not None) for case in cases]


def test_every_combination_is_a_line(project: Path) -> None:
    """Algorithms and the values of all settings are combined, the last setting changing fastest."""
    found = _plan(project, ["optimal", "mondrian"], k=[2, 3], suppression=[0, 0.1])
    assert found == [(name, k, share, True) for name in ("optimal", "mondrian") for k in (2, 3) for share in (0, 0.1)]


def test_a_key_changes_every_requirement_that_has_it(project: Path) -> None:
    """`l` reaches the requirement that has one, under its short, full and numbered name, and no other."""
    policy = load(project)
    for name in ("l", "privacy.l", "privacy[1].l"):
        (case,) = plan_runs(policy, ["auto"], find_settings(policy, {name: [3]}))
        assert case.policy is not None
        assert [model.required for model in case.policy.privacy] == [{"k": 2}, {"column": "illness", "l": 3}]


def test_without_algorithms_those_that_apply(project: Path) -> None:
    """All recoders are run on one table, and for two tables of anatomy just one that stands for it."""
    names = [name for name, *_ in _plan(project)]
    assert names[0] == "auto"
    assert set(names) == {
        "auto", "samarati", "incognito", "optimal", "progressive", "top-down", "bottom-up", "mondrian",
        "mondrian-relaxed", "microaggregation", "tds",
    }  # fmt: skip
    assert [name for name, form, _ in _plan(project, form=["anatomy"])] == ["auto"]


def test_settings_that_go_with_nothing_are_told_once(project: Path) -> None:
    """A value that no algorithm allows is one line with the reason, not one for each algorithm."""
    found = _plan(project, None, suppression=[0, 7])
    assert [line for line in found if not line[-1]] == [("auto", 7, False)]


def test_keys_that_an_algorithm_has_no_use_for_are_left_out(project: Path) -> None:
    """The policy's metric is not for tds, which is run without it; one that is asked for is a reason."""
    policy = load(project)
    (case,) = plan_runs(policy, ["tds"], ())
    assert case.policy is not None
    assert case.dropped == ("metric",)
    (asked,) = plan_runs(policy, ["tds"], find_settings(policy, {"metric": ["ncp"]}))
    assert asked.policy is None
    assert "tds goes by its score" in asked.reason


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"kk": [1]}, "'kk' is no key of this policy that can be set; did you mean k?"),
        ({"zzz": [1]}, "'zzz' is no key of this policy that can be set; it has beneficial, class, clustering, column"),
        ({"alpha": [0.5]}, "'alpha' is no key of this policy"),
        ({"k": []}, "has no values to try"),
        ({"k": "25"}, "has no values to try"),
        ({"name": ["tds"]}, "name them with --algorithms"),
        ({"k": [1], "privacy[0].k": [2]}, "change the same key"),
    ],
)
def test_keys_that_are_not_there(project: Path, settings: dict[str, Any], says: str) -> None:
    """A key that the policy has not is an error that names those it has."""
    with pytest.raises(InputError) as caught:
        find_settings(load(project), settings)
    assert says in str(caught.value)


def test_a_key_that_means_two_things_is_asked_back(visits: Any) -> None:
    """The k of rows and the k of a confidence are told apart by the number of the requirement."""
    columns: dict[str, Any] = {name: {"role": "quasi", "hierarchy": "suppress"} for name in ("zip", "sex")}
    columns |= {"illness": {"role": "sensitive"}, "note": {"role": "identifier"}}
    both = [
        {"model": "k-anonymity", "k": 2},
        {"model": "xy-linkability", "x": ["zip"], "y": ["illness"], "k": 0.9},
    ]
    policy = load({"columns": columns, "privacy": both})
    with pytest.raises(InputError, match=r"write privacy\[0\].k or privacy\[1\].k"):
        find_settings(policy, {"k": [2]})
    assert find_settings(policy, {"privacy[1].k": [0.5]})[0].paths == (("privacy", 1, "k"),)


@pytest.mark.parametrize("text", ["k", "k=", "=5", ""])
def test_a_setting_needs_key_and_values(text: str) -> None:
    """What is not written key=values is refused with an example."""
    with pytest.raises(InputError, match="write it as k=2,5,10"):
        parse_setting(text)


def test_wrong_names_are_errors_at_once(project: Path, visits: Any) -> None:
    """An algorithm or a risk that does not exist ends it before anything runs, and so do settings that never fit."""
    with pytest.raises(InputError, match="did you mean mondrian"):
        compare(project, visits, algorithms=["mondrain"])
    with pytest.raises(InputError, match="choose highest or average"):
        compare(project, visits, risk="lowest")
    with pytest.raises(PolicyError, match="must be a whole number of at least 1"):
        compare(project, visits, settings={"k": [0]})
