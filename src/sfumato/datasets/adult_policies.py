"""Policies for the Adult table, real or made up, in the settings that papers and benchmarks use."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

QUASI = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")
"""The eight quasi-identifiers of the (α, k) paper's Table 12, in its order; its ninth is the salary class."""
NINE = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
)
"""The nine columns of the table that ARX ships, in its order."""
LEFT_OUT = ("fnlwgt", "education-num", "relationship", "capital-gain", "capital-loss", "hours-per-week", "split")
AGES = {"intervals": [5, 10, 20], "domain": [17, 90]}
FILES = Path(__file__).parent / "adult_files"

Requirement = Mapping[str, Any]
Hierarchy = Callable[[str], Any]


def adult_policy(
    folder: Path, *, k: int = 5, suppression: float = 0.0, also: Sequence[Requirement] = (), source: Path | None = None
) -> dict[str, Any]:
    """For the 45,222 rows in `folder`: eight quasi-identifiers, the salary class sensitive, the rest left out.

    `also` are requirements besides `k`, and `source` is another file with the same columns.

    >>> adult_policy(Path("adult"))["columns"]["race"]
    {'role': 'quasi', 'hierarchy': 'adult/hierarchies/race.csv'}
    """
    quasi = _columns(QUASI, _by_file(folder / "hierarchies", "{}.csv"))
    dropped = {name: {"role": "identifier"} for name in LEFT_OUT}
    columns = {**quasi, "salary-class": {"role": "sensitive"}, **dropped}
    return _policy(columns, source or folder / "adult.csv", [_k(k), *also], suppression)


def adult_arx_policy(  # noqa: PLR0913 - as many settings as a comparison has
    folder: Path,
    *,
    k: int = 5,
    suppression: float = 0.0,
    also: Sequence[Requirement] = (),
    source: Path | None = None,
    sensitive: str | None = None,
    plain: str | None = None,
) -> dict[str, Any]:
    """For ARX's table and hierarchies in `folder`: all nine columns quasi-identifiers but one that is named.

    >>> policy = adult_arx_policy(Path("adult-arx"), sensitive="occupation")
    >>> policy["columns"]["occupation"], policy["columns"]["sex"]["hierarchy"]
    ({'role': 'sensitive'}, 'adult-arx/adult_hierarchy_sex.csv')
    """
    quasi = _columns(NINE, lambda name: str(folder / f"adult_hierarchy_{name}.csv"))
    columns = quasi | _others(sensitive, plain)
    return _policy(columns, source or folder / "adult.csv", [_k(k), *also], suppression)


def synthetic_adult_policy(
    *,
    k: int = 5,
    suppression: float = 0.0,
    also: Sequence[Requirement] = (),
    source: Path | None = None,
    sensitive: str | None = None,
    plain: str | None = None,
) -> dict[str, Any]:
    """For `synthetic_adult`, with hierarchies of the package: nine quasi-identifiers but one that is named.

    >>> synthetic_adult_policy(plain="salary-class")["columns"]["age"]["hierarchy"]
    {'intervals': [5, 10, 20], 'domain': [17, 90]}
    """
    columns = _columns(NINE, _by_file(FILES, "{}.csv")) | _others(sensitive, plain)
    return _policy(columns, source, [_k(k), *also], suppression)


def _by_file(folder: Path, pattern: str) -> Hierarchy:
    return lambda name: AGES if name == "age" else str(folder / pattern.format(name))


def _columns(names: Sequence[str], hierarchy: Hierarchy) -> dict[str, Any]:
    return {name: {"role": "quasi", "hierarchy": hierarchy(name)} for name in names}


def _others(sensitive: str | None, plain: str | None) -> dict[str, Any]:
    roles = {"sensitive": sensitive, "plain": plain}
    return {name: {"role": role} for role, name in roles.items() if name}


def _k(k: int) -> Requirement:
    return {"model": "k-anonymity", "k": k}


def _policy(
    columns: dict[str, Any], source: Path | None, privacy: Sequence[Requirement], suppression: float
) -> dict[str, Any]:
    return {
        **({"data": {"source": str(source)}} if source else {}),
        "columns": columns,
        "privacy": [dict(requirement) for requirement in privacy],
        "algorithm": {"name": "optimal", "suppression": suppression},
    }
