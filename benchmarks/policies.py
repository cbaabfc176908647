"""The policy file of a case."""

from pathlib import Path
from typing import Any

from benchmarks.case import Case, Method
from benchmarks.data import source_of
from sfumato.datasets import adult_arx_folder, adult_arx_policy, adult_folder, adult_policy, synthetic_adult_policy
from sfumato.datasets.adult import AGE_HIERARCHY
from sfumato.policy.toml_text import write_toml


def write_policy(case: Case, source: Path, path: Path) -> Path:
    """Write it as TOML."""
    policy = _applied(case.method, _policy(case, source)) | {"publish": {"format": case.format}}
    path.write_text(write_toml(policy), encoding="utf-8")
    return path


def _policy(case: Case, source: Path) -> dict[str, Any]:
    shared: dict[str, Any] = {"k": case.method.k, "suppression": case.suppression, "also": case.also, "source": source}
    if source_of(source) == "synthetic":
        sensitive = "salary-class" if case.data == "adult" else case.sensitive
        return synthetic_adult_policy(**shared, sensitive=sensitive)
    if case.data == "adult":
        return adult_policy(_there(adult_folder()), **shared)
    return adult_arx_policy(_there(adult_arx_folder()), **shared, sensitive=case.sensitive)


def _applied(method: Method, policy: dict[str, Any]) -> dict[str, Any]:
    """The policy with the algorithm of a method, and the columns as it has them."""
    columns = dict(policy["columns"])
    for role, name in (("plain", method.plain), ("identifier", method.left_out)):
        if name:
            columns[name] = {"role": role}
    if method.sets:
        quasi = [name for name, column in columns.items() if column["role"] == "quasi"]
        columns |= {name: {"role": "quasi", "hierarchy": _open(name)} for name in quasi}
    search = policy["algorithm"] | {"name": method.algorithm}
    return policy | {"columns": columns, "algorithm": search if method.improve else search | {"improve": False}}


def _open(name: str) -> Any:
    return {"ranges": True, "domain": AGE_HIERARCHY["domain"]} if name == "age" else "sets"


def _there(folder: Path | None) -> Path:
    if folder is None:
        raise RuntimeError("the Adult table was at hand a moment ago and is not any more")
    return folder
