"""Nothing is published that the verifier has not counted itself."""

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfumato.verifier
from sfumato import anonymize
from sfumato.datasets import hospital, hospital_policy
from sfumato.errors import NotVerified
from sfumato.models import AlphaDeassociation, EntropyLDiversity, KAnonymity, TCloseness
from sfumato.release import prepare

ALLOWED = {"sfumato.errors", "pyarrow", "duckdb", "scipy", "numpy", "cryptography"}
LIARS = [
    (KAnonymity, {"model": "k-anonymity", "k": 60}),
    (EntropyLDiversity, {"model": "entropy-l-diversity", "column": "illness", "l": 3.999}),
    (AlphaDeassociation, {"model": "alpha-deassociation", "column": "illness", "alpha": 0.26}),
    (TCloseness, {"model": "t-closeness", "column": "illness", "t": 0.01, "distance": "kl"}),
]


def imported(path: Path) -> set[str]:
    """What a module imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(str(node.module))
    return found


def test_the_verifier_shares_no_code_with_what_it_checks() -> None:
    """Its modules import each other, errors, the libraries that count, and the standard library."""
    import sys

    for path in Path(str(sfumato.verifier.__file__)).parent.rglob("*.py"):
        for name in imported(path):
            own = name.startswith("sfumato.verifier")
            known = name in ALLOWED or name.split(".")[0] in (ALLOWED | set(sys.stdlib_module_names))
            assert own or known, f"{path.name} imports {name}"


@pytest.mark.slow
@pytest.mark.parametrize(("model", "rule"), LIARS, ids=lambda value: getattr(value, "name", ""))
def test_a_model_that_wrongly_says_yes_is_found_out(
    model: Any, rule: dict[str, Any], patients: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a broken model neither `anonymize` nor `save` lets a table out, and the disk stays as it was."""
    monkeypatch.setattr(model, "holds", lambda _, classes: np.ones(len(classes), dtype=np.bool_))
    table, columns = patients
    policy = {"columns": columns, "privacy": [rule], "algorithm": {"name": "optimal"}}
    with pytest.raises(NotVerified, match=rf"nothing was written: {rule['model']}: the class sex = .*, zip = "):
        anonymize(table, policy)
    for kind in ("csv", "parquet"):
        release = prepare(table, policy | {"publish": {"format": kind}})
        with pytest.raises(NotVerified, match="the verifier does not pass"):
            release.save(tmp_path / "release")
        with pytest.raises(NotVerified, match="the verifier does not pass"):
            _ = release.table
    assert list(tmp_path.iterdir()) == []


def test_accounts_that_say_what_was_not_found_never_appear(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The figures that are added to the manifest after the verdict are checked too, before the folder appears."""
    boast = [{"model": "k-anonymity", "required": {"k": 10}, "achieved": {"k": 999}, "satisfied": True}]
    monkeypatch.setattr("sfumato.publish.manifest.public_findings", lambda *_: boast)
    with pytest.raises(NotVerified, match="does not state one figure for each"):
        anonymize(hospital(300), hospital_policy()).save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
