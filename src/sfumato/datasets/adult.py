"""Adult, the census extract that the k-anonymity literature measures on: the real table, policies, and a made-up one.

The real rows are not part of the package and nothing is downloaded from here; `adult_folder` finds them on a machine
that has them. `synthetic_adult` makes people like them from nothing, and none of these exist.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

QUASI_IDENTIFIERS = (
    *("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"),
)
"""The eight quasi-identifiers of the (α, k) paper's Table 12, in its order; its ninth is the salary class."""
ARX_COLUMNS = (
    *("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"),
    "salary-class",
)
"""The nine columns of the table that ARX ships, in its order."""
UNUSED_COLUMNS = ("fnlwgt", "education-num", "relationship", "capital-gain", "capital-loss", "hours-per-week", "split")
"""The columns of the real table that no policy here publishes."""
AGE_HIERARCHY = {"intervals": [5, 10, 20], "domain": [17, 90]}
HIERARCHY_FILES = Path(__file__).parent / "adult_files"
SPECIALIZATION_TREES = Path(__file__).parent / "adult_tds_files"
"""The taxonomy trees of the top-down specialization papers (Fung, Wang, Yu 2005; Wang, Fung 2006), a file a column."""

_CHECKOUT = Path(__file__).parents[3]


# Where the real table is.


def adult_folder() -> Path | None:
    """Find the folder with ``adult.csv`` (45,222 complete rows) and ``hierarchies/``; None where it is not at hand.

    The variable SFUMATO_ADULT names it, and then nothing else is tried. Without it these are: the shared data beside
    the project, then what ``make adult`` has made, both as seen from where the program runs and from the checkout.

    >>> folder = adult_folder()
    >>> folder is None or (folder / "adult.csv").is_file()
    True
    """
    if named := os.environ.get("SFUMATO_ADULT"):
        candidates = [Path(named).absolute()]
    else:
        roots = (Path.cwd(), _CHECKOUT)
        candidates = [root.parent / "shared" / "data" / "adult" for root in roots]
        candidates += [root / "benchmarks" / "data" / "adult" for root in roots]
    complete = (
        folder for folder in candidates if (folder / "adult.csv").is_file() and (folder / "hierarchies").is_dir()
    )
    return next(complete, None)


def adult_arx_folder() -> Path | None:
    """Find its sibling ``adult-arx``: the 30,162 rows and the hierarchies that ARX ships; None where it is missing.

    >>> folder = adult_arx_folder()
    >>> folder is None or folder.name == "adult-arx"
    True
    """
    adult = adult_folder()
    folder = adult.with_name("adult-arx") if adult else None
    return folder if folder and (folder / "adult.csv").is_file() else None


# Policies for it, in the settings that papers and benchmarks use.


def adult_policy(
    folder: Path,
    *,
    k: int = 5,
    suppression: float = 0.0,
    also: Sequence[Mapping[str, Any]] = (),
    source: Path | None = None,
) -> dict[str, Any]:
    """Write a policy for the 45,222 rows in `folder`: eight quasi-identifiers, the salary class sensitive, no others.

    `also` are requirements besides `k`, and `source` is another file with the same columns.

    >>> adult_policy(Path("adult"))["columns"]["race"]
    {'role': 'quasi', 'hierarchy': 'adult/hierarchies/race.csv'}
    """
    columns = {
        **_quasi_identifiers(QUASI_IDENTIFIERS, folder / "hierarchies"),
        "salary-class": {"role": "sensitive"},
        **{name: {"role": "identifier"} for name in UNUSED_COLUMNS},
    }
    return _policy(columns, source or folder / "adult.csv", k, also, suppression)


def adult_arx_policy(  # noqa: PLR0913 - as many settings as a comparison has
    folder: Path,
    *,
    k: int = 5,
    suppression: float = 0.0,
    also: Sequence[Mapping[str, Any]] = (),
    source: Path | None = None,
    sensitive: str | None = None,
    plain: str | None = None,
) -> dict[str, Any]:
    """Write a policy for ARX's table and hierarchies in `folder`: all nine columns are quasi-identifiers.

    A column that is named as `sensitive` or `plain` gets that role instead.

    >>> policy = adult_arx_policy(Path("adult-arx"), sensitive="occupation")
    >>> policy["columns"]["occupation"], policy["columns"]["sex"]["hierarchy"]
    ({'role': 'sensitive'}, 'adult-arx/adult_hierarchy_sex.csv')
    """
    columns = {
        name: {"role": "quasi", "hierarchy": str(folder / f"adult_hierarchy_{name}.csv")} for name in ARX_COLUMNS
    }
    return _policy(columns | _other_roles(sensitive, plain), source or folder / "adult.csv", k, also, suppression)


def synthetic_adult_policy(
    *,
    k: int = 5,
    suppression: float = 0.0,
    also: Sequence[Mapping[str, Any]] = (),
    source: Path | None = None,
    sensitive: str | None = None,
    plain: str | None = None,
) -> dict[str, Any]:
    """Write a policy for `synthetic_adult` with hierarchies of the package: all nine columns are quasi-identifiers.

    A column that is named as `sensitive` or `plain` gets that role instead.

    >>> synthetic_adult_policy(plain="salary-class")["columns"]["age"]["hierarchy"]
    {'intervals': [5, 10, 20], 'domain': [17, 90]}
    """
    columns = _quasi_identifiers(ARX_COLUMNS, HIERARCHY_FILES) | _other_roles(sensitive, plain)
    return _policy(columns, source, k, also, suppression)


def _quasi_identifiers(names: Iterable[str], folder: Path) -> dict[str, Any]:
    """Give columns a role and a hierarchy: intervals of ages, and of the others a file in the folder."""
    return {
        name: {"role": "quasi", "hierarchy": AGE_HIERARCHY if name == "age" else str(folder / f"{name}.csv")}
        for name in names
    }


def _other_roles(sensitive: str | None, plain: str | None) -> dict[str, Any]:
    roles = {"sensitive": sensitive, "plain": plain}
    return {name: {"role": role} for role, name in roles.items() if name}


def _policy(
    columns: dict[str, Any], source: Path | None, k: int, also: Sequence[Mapping[str, Any]], suppression: float
) -> dict[str, Any]:
    return {
        **({"data": {"source": str(source)}} if source else {}),
        "columns": columns,
        "privacy": [{"model": "k-anonymity", "k": k}, *(dict(requirement) for requirement in also)],
        "algorithm": {"name": "optimal", "suppression": suppression},
    }


# A made-up table like it.


def synthetic_adult(rows: int = 45_222, *, seed: int = 1) -> Any:
    """Make an Arrow table with the nine columns that ARX's Adult has, and shares of values that resemble Adult's.

    A row is a person. Ages go from 17 to 90, most around 35; education depends on age, occupation on education, marital
    status on age, sex on marital status, country on race, and salary on all of them. What is drawn is an array of value
    numbers per attribute, with one entry per row. A policy for it is `synthetic_adult_policy`.

    >>> synthetic_adult(3).column_names[:5]
    ['sex', 'age', 'race', 'marital-status', 'education']
    """
    draw = np.random.default_rng(seed)
    ages = np.minimum(17 + draw.gamma(2.6, 8.3, rows), 90).astype(np.int64)  # those above 90 count as 90
    stage = np.digitize(ages, _LIFE_STAGES)
    education = _draw_values(stage, _EDUCATION_BY_STAGE, draw)
    marital = _draw_values(stage, _MARITAL_BY_STAGE, draw)
    sex = _draw_values(marital, _SEX_BY_MARITAL, draw)
    race = _draw_values(np.zeros(rows, np.int8), [_RACES.values()], draw)
    tier = np.array(_EDUCATION_TIER, dtype=np.int8)[education]
    occupation = _draw_values(tier, _OCCUPATION_BY_TIER, draw)
    country = _draw_values(race, _COUNTRY_BY_RACE, draw)
    workclass = _draw_values(stage, _WORKCLASS_BY_STAGE, draw)
    # More than 50K: likelier with age, education and a spouse, and as it was then, for men.
    spouse = np.isin(marital, (0, 1))
    odds = -6.2 + np.array(_SALARY_ODDS_BY_STAGE)[stage] + 0.95 * tier + 2.2 * spouse + 0.3 * sex
    salary = (draw.random(rows) < 1 / (1 + np.exp(-odds))).astype(np.int8)
    return pa.table(
        {
            "sex": _text(sex, _SEXES),
            "age": pa.array(ages),
            "race": _text(race, _RACES),
            "marital-status": _text(marital, _MARITAL_STATUSES),
            "education": _text(education, _EDUCATIONS),
            "native-country": _text(country, _COUNTRIES),
            "workclass": _text(workclass, _WORKCLASSES),
            "occupation": _text(occupation, _OCCUPATIONS),
            "salary-class": _text(salary, _SALARIES),
        }
    )


def _draw_values(group: NDArray[Any], shares: Sequence[Iterable[float]], draw: np.random.Generator) -> NDArray[np.int8]:
    """Draw the number of a value for each row, by the relative shares of the row's group."""
    codes = np.empty(len(group), dtype=np.int8)
    for number, values in enumerate(shares):
        rows = np.flatnonzero(group == number)
        weights = np.array(list(values), dtype=float)
        codes[rows] = draw.choice(len(weights), len(rows), p=weights / weights.sum())
    return codes


def _text(codes: NDArray[np.int8], values: Iterable[str]) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(list(values)))


# The values of Adult's attributes, and rounded shares of them. A line of shares belongs to a group (a stage of life, an
# education, a race); shares are relative.

_LIFE_STAGES = (25, 35, 50)
"""Ages at which a stage of life begins after the first: young, settling, settled, late."""

_EDUCATIONS = (
    *("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th"),
    *("HS-grad", "Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate"),
)
_EDUCATION_TIER = (0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 3, 3, 3, 3)
"""How far each education goes: 0 none finished, 1 high school, 2 some college, 3 a degree."""

_EDUCATION_BY_STAGE = (
    (1, 2, 8, 8, 14, 40, 90, 30, 320, 370, 30, 30, 95, 3, 1, 1),
    (1, 4, 10, 8, 14, 18, 25, 12, 330, 200, 50, 40, 225, 45, 14, 8),
    (2, 5, 9, 14, 13, 19, 22, 9, 320, 200, 55, 40, 180, 85, 24, 17),
    (3, 10, 15, 55, 22, 37, 28, 9, 345, 165, 32, 22, 135, 75, 25, 24),
)

_MARITAL_STATUSES = (
    *("Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent"),
    *("Separated", "Divorced", "Widowed", "Never-married"),
)
_MARITAL_BY_STAGE = (
    (115, 1, 6, 14, 20, 1, 843),
    (450, 1, 12, 33, 115, 4, 385),
    (585, 1, 15, 38, 205, 16, 140),
    (625, 1, 14, 27, 170, 105, 58),
)

_SEXES = ("Female", "Male")
_SEX_BY_MARITAL = ((11, 89), (50, 50), (46, 54), (62, 38), (59, 41), (81, 19), (44, 56))

_RACES = {"White": 860, "Black": 94, "Asian-Pac-Islander": 29, "Amer-Indian-Eskimo": 9, "Other": 8}

_AMERICAS = (
    {"United-States": 9130, "Mexico": 200, "Puerto-Rico": 39, "Canada": 36, "El-Salvador": 33, "Cuba": 29}
    | {"Jamaica": 23, "Dominican-Republic": 21, "Guatemala": 19, "Columbia": 18, "Haiti": 15, "Nicaragua": 11}
    | {"Peru": 10, "Ecuador": 10, "Trinadad&Tobago": 6, "Outlying-US(Guam-USVI-etc)": 5, "Honduras": 4}
)
_EUROPE = {"Germany": 43, "England": 26, "Italy": 22, "Poland": 18, "Portugal": 14, "Greece": 11, "Ireland": 8} | {
    "France": 8,
    "Yugoslavia": 5,
    "Scotland": 4,
    "Hungary": 4,
    "Holand-Netherlands": 1,
}
_ASIA = {"Philippines": 63, "India": 33, "China": 25, "South": 22, "Japan": 20, "Vietnam": 18, "Iran": 12} | {
    "Taiwan": 12,
    "Thailand": 6,
    "Hong": 6,
    "Cambodia": 6,
    "Laos": 5,
}
_COUNTRIES = (*_AMERICAS, *_EUROPE, *_ASIA)


def _country_shares(*, america: float, europe: float, asia: float) -> tuple[float, ...]:
    """Multiply the shares of all countries but the United States by a factor of their continent."""
    continents = ((_AMERICAS, america), (_EUROPE, europe), (_ASIA, asia))
    return tuple(
        share * (1 if name == "United-States" else factor)
        for countries, factor in continents
        for name, share in countries.items()
    )


_COUNTRY_BY_RACE = (
    _country_shares(america=0.9, europe=1.1, asia=0.1),
    _country_shares(america=1.2, europe=0.1, asia=0.1),
    _country_shares(america=0.1, europe=0.1, asia=95),
    _country_shares(america=0.5, europe=0.1, asia=0.5),
    _country_shares(america=15, europe=0.5, asia=3),
)

_WORKCLASSES = (
    *("Private", "Self-emp-not-inc", "Local-gov", "State-gov", "Self-emp-inc", "Federal-gov", "Without-pay"),
)
_WORKCLASS_BY_STAGE = (
    (885, 22, 33, 45, 7, 10, 1),
    (785, 66, 59, 41, 22, 27, 0.3),
    (690, 97, 87, 46, 44, 42, 0.2),
    (615, 152, 90, 42, 70, 40, 1.2),
)

_OCCUPATIONS = (
    *("Adm-clerical", "Exec-managerial", "Prof-specialty", "Sales", "Tech-support"),
    *("Craft-repair", "Farming-fishing", "Handlers-cleaners", "Machine-op-inspct", "Transport-moving"),
    *("Armed-Forces", "Other-service", "Priv-house-serv", "Protective-serv"),
)
_OCCUPATION_BY_TIER = (
    (50, 33, 13, 82, 6, 190, 75, 105, 145, 95, 0.2, 205, 18, 9),
    (140, 82, 24, 108, 18, 190, 40, 62, 102, 80, 0.4, 125, 5, 20),
    (165, 125, 85, 127, 60, 140, 24, 36, 45, 42, 0.3, 95, 3, 32),
    (73, 255, 385, 122, 30, 33, 14, 8, 12, 11, 0.2, 24, 1, 17),
)

_SALARIES = ("<=50K", ">50K")
_SALARY_ODDS_BY_STAGE = (0.0, 1.3, 2.0, 1.9)
