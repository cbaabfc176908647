"""``sfumato attack homogeneity`` and ``skewness`` as somebody runs them."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def folder(saves: Any, people: Any, roles: Any, rules: Any) -> Path:
    """A release of forty people in classes by sex."""
    path: Path = saves(people, rules(roles, k=5, algorithm={"name": "optimal"}))
    return path


def test_homogeneity(runs: Any, folder: Path) -> None:
    """Success, baseline and what is assumed, from the public part alone."""
    shutil.rmtree(folder / "private")
    shown = runs("attack", "homogeneity", folder)
    assert shown.code == 0
    assert "right by the most frequent value of the table" in shown.out
    assert "No class has one value only." in shown.out
    assert "The adversary has the public files" in shown.out
    assert "the policy" not in shown.out  # there is none to say anything about


def test_skewness_of_two_tables(runs: Any, saves: Any, people: Any, roles: Any, rules: Any) -> None:
    """Classes of two tables have no labels to show."""
    path = saves(people, rules(roles, k=5, publish={"form": "lossy-join"}))
    shown = runs("attack", "skewness", path, "--threshold", "0.05")
    assert shown.code == 0
    assert "two tables: no labels" in " ".join(shown.out.split())


def test_json(runs: Any, folder: Path) -> None:
    """One object each, by column."""
    alike = json.loads(runs("attack", "homogeneity", folder, "--column", "illness", "--json").out)
    assert alike["columns"]["illness"]["rows"] == 40
    skewed = json.loads(runs("attack", "skewness", folder, "--threshold", "0.5", "--json").out)
    assert (skewed["columns"]["illness"]["threshold"], skewed["columns"]["illness"]["above"]) == (0.5, 0)
    assert skewed["assumes"] == alike["assumes"]


@pytest.mark.parametrize("attack", ["homogeneity", "skewness"])
def test_no_such_column(runs: Any, folder: Path, attack: str) -> None:
    """The sentence names what there is."""
    refused = runs("attack", attack, folder, "--column", "zip")
    assert refused.code == 2
    assert "'zip' is no sensitive column of" in refused.sentence
    assert "illness" in refused.sentence


def test_no_sensitive_column(runs: Any, saves: Any, people: Any, roles: Any, rules: Any) -> None:
    """Where nothing is sensitive there is nothing to tell."""
    path = saves(people, rules({**roles, "illness": "plain"}, k=5))
    refused = runs("attack", "homogeneity", path)
    assert (refused.code, "has no sensitive column" in refused.sentence) == (2, True)
