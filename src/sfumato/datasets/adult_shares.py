"""The values of Adult's attributes and rounded shares of them, by which made-up people are drawn.

A line of shares belongs to a group (a stage of life, an education, a race); shares are relative.
"""

STAGES = (25, 35, 50)
"""Ages at which a stage of life begins: young, settling, settled, late."""

EDUCATIONS = (
    *("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th"),
    *("HS-grad", "Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate"),
)
TIER = (0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 3, 3, 3, 3)
EDUCATION = (
    (1, 2, 8, 8, 14, 40, 90, 30, 320, 370, 30, 30, 95, 3, 1, 1),
    (1, 4, 10, 8, 14, 18, 25, 12, 330, 200, 50, 40, 225, 45, 14, 8),
    (2, 5, 9, 14, 13, 19, 22, 9, 320, 200, 55, 40, 180, 85, 24, 17),
    (3, 10, 15, 55, 22, 37, 28, 9, 345, 165, 32, 22, 135, 75, 25, 24),
)

MARITAL_STATUSES = (
    *("Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent"),
    *("Separated", "Divorced", "Widowed", "Never-married"),
)
MARITAL = (
    (115, 1, 6, 14, 20, 1, 843),
    (450, 1, 12, 33, 115, 4, 385),
    (585, 1, 15, 38, 205, 16, 140),
    (625, 1, 14, 27, 170, 105, 58),
)

SEXES = ("Female", "Male")
SEX = ((11, 89), (50, 50), (46, 54), (62, 38), (59, 41), (81, 19), (44, 56))

RACE = {"White": 860, "Black": 94, "Asian-Pac-Islander": 29, "Amer-Indian-Eskimo": 9, "Other": 8}

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
COUNTRIES = (*_AMERICAS, *_EUROPE, *_ASIA)


def _countries(*, america: float, europe: float, asia: float) -> tuple[float, ...]:
    """Shares of all countries with some continents counted more; the United States are counted once."""
    parts = ((_AMERICAS, america), (_EUROPE, europe), (_ASIA, asia))
    return tuple(
        share * (1 if name == "United-States" else more) for part, more in parts for name, share in part.items()
    )


COUNTRY = (
    _countries(america=0.9, europe=1.1, asia=0.1),
    _countries(america=1.2, europe=0.1, asia=0.1),
    _countries(america=0.1, europe=0.1, asia=95),
    _countries(america=0.5, europe=0.1, asia=0.5),
    _countries(america=15, europe=0.5, asia=3),
)

WORKCLASSES = (
    *("Private", "Self-emp-not-inc", "Local-gov", "State-gov", "Self-emp-inc", "Federal-gov", "Without-pay"),
)
WORKCLASS = (
    (885, 22, 33, 45, 7, 10, 1),
    (785, 66, 59, 41, 22, 27, 0.3),
    (690, 97, 87, 46, 44, 42, 0.2),
    (615, 152, 90, 42, 70, 40, 1.2),
)

OCCUPATIONS = (
    *("Adm-clerical", "Exec-managerial", "Prof-specialty", "Sales", "Tech-support"),
    *("Craft-repair", "Farming-fishing", "Handlers-cleaners", "Machine-op-inspct", "Transport-moving"),
    *("Armed-Forces", "Other-service", "Priv-house-serv", "Protective-serv"),
)
OCCUPATION = (
    (50, 33, 13, 82, 6, 190, 75, 105, 145, 95, 0.2, 205, 18, 9),
    (140, 82, 24, 108, 18, 190, 40, 62, 102, 80, 0.4, 125, 5, 20),
    (165, 125, 85, 127, 60, 140, 24, 36, 45, 42, 0.3, 95, 3, 32),
    (73, 255, 385, 122, 30, 33, 14, 8, 12, 11, 0.2, 24, 1, 17),
)

SALARIES = ("<=50K", ">50K")
STAGE_ODDS = (0.0, 1.3, 2.0, 1.9)
