"""Random columns: words, numbers, dates and texts that break parsers; skewed, constant, missing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

from fuzz.case import Text, printed

NASTY = (
    *(
        "",
        " ",
        "=1+1",
        "-5",
        "-5 degrees",
        "+1",
        "@x",
        "\tx",
        "'=q",
        "'tis",
        "''",
        'a"b',
        '"',
        "a,b",
        "a;b",
        "line\nbreak",
    ),
    *(
        "a\r\nb",
        "ünï",
        "日本",
        "NULL",
        "null",
        "NA",
        "nan",
        "{a}",
        "{a, b}",
        "a, b",
        "\\",
        "a\\,b",
        "<b>",
        "&amp;",
        "1e5",
    ),
    *(
        "007",
        "True",
        "é",
        "e\u0301",
        "\u202e",
        "🙂",
        " lead",
        "trail ",
        "1-2",
        "35-39",
        "[1, 2)",
        "*",
        "$row",
        "x" * 200,
    ),
)
"""Texts that something may take for something else: formulas, quotes, separators, labels, keywords, missing values."""


@dataclass(frozen=True)
class Cells:
    """The cells of a column, their type, and the kind of value that decides which hierarchies fit."""

    values: list[Text]
    type: str
    kind: str

    @property
    def distinct(self) -> list[str]:
        """The different values that are not missing, in the order in which they come."""
        return [value for value in dict.fromkeys(self.values) if value is not None]


SIZES = ((0, 0), (1, 3), (4, 15), (16, 60), (61, 150), (151, 400), (401, 1500))
"""The fewest and the most rows of tables of each size."""


def random_rows(random: Random) -> int:
    """How many rows: mostly few, sometimes one or none, sometimes hundreds."""
    low, high = random.choices(SIZES, [1, 8, 32, 37, 14, 6, 2])[0]
    return random.randint(low, high)


def random_word(random: Random) -> str:
    """A word that stands nowhere else, so that its being in a file tells something."""
    return "".join(random.choices("bcdfghjklmnpqrstvwxz", k=8))


def random_cells(random: Random, kind: str, rows: int, *, typed: bool, missing: float | None = None) -> Cells:
    """Draw the cells of a column of a kind; `typed` columns come in their own type, others as text."""
    pool, type_name = _random_pool(random, kind)
    if typed and type_name != "string":
        pool = printed(_parsed(pool, type_name), type_name)
    weights = [random.choice([1.0, 1.0, 1.0, 5.0, 20.0]) for _ in pool]
    if random.random() < 0.3:
        weights = [1.0 for _ in pool]
    cells: list[Text] = list(random.choices(pool, weights, k=rows))
    share = random.choice([0.0, 0.0, 0.0, 0.05, 0.3, 0.9]) if missing is None else missing
    cells = [None if random.random() < share else cell for cell in cells]
    if typed and type_name == "string" and random.random() < 0.3:
        type_name = "category"
    return Cells(cells, type_name if typed else "string", kind)


def _parsed(pool: Sequence[Text], kind: str) -> list[object]:
    read: dict[str, Callable[[str], object]] = {
        "int64": int,
        "double": float,
        "date": date.fromisoformat,
        "bool": lambda text: text == "true",
    }
    return [read[kind](text) for text in pool if text is not None]


def _random_pool(random: Random, kind: str) -> tuple[list[Text], str]:
    """Draw the different values of a kind of column, and say which type they have."""
    size = random.choice([1, 2, 3, 4, 6, 9, 15, 15, 60])
    pool: list[Text]
    if kind == "nasty":
        return list(random.sample(NASTY, min(size + 1, len(NASTY)))), "string"
    if kind == "codes":
        letters = random.choice(["01", "0123456789", "ABab"])
        lengths = random.choice([[3], [5], [1, 2, 3, 5]])
        pool = ["".join(random.choices(letters, k=random.choice(lengths))) for _ in range(size + 2)]
        return list(dict.fromkeys(pool)), "string"
    if kind == "integers":
        low, high = random.choice([(0, 9), (0, 99), (-20, 20), (18, 95), (0, 10**6), (-(10**12), 10**12)])
        return list(dict.fromkeys(str(random.randint(low, high)) for _ in range(size * 2))), "int64"
    if kind == "spelled":  # one number, several spellings
        spellings = ("{}", "0{}", "+{}", "{}.0", "{}.50", "{}e1", "-{}")
        pool = [random.choice(spellings).format(random.randint(0, 30)) for _ in range(size * 2)]
        return list(dict.fromkeys(pool)), "string"
    if kind == "decimals":
        scale = random.choice([10, 100])
        numbers = [random.randint(-3 * scale, 40 * scale) / scale for _ in range(size * 2)]
        return list(dict.fromkeys(printed(numbers, "double"))), "double"
    if kind == "dates":
        days = random.choice([30, 400, 20000])
        first = date(1965, 3, 1) + timedelta(days=random.randint(0, 9000))
        pool = [(first + timedelta(days=random.randint(0, days))).isoformat() for _ in range(size * 2)]
        return list(dict.fromkeys(pool)), "date"
    if kind == "flags":
        return ["true", "false"], "bool"
    return [random_word(random) for _ in range(size)], "string"


def repeat_rows(random: Random, columns: dict[str, Cells], but: Sequence[str]) -> dict[str, Cells]:
    """Make some rows copies of others, in all columns but some."""
    rows = len(next(iter(columns.values())).values)
    if rows < 2 or random.random() < 0.6:
        return columns
    source = [random.randrange(rows) if random.random() < 0.5 else row for row in range(rows)]
    return {
        name: cells if name in but else Cells([cells.values[row] for row in source], cells.type, cells.kind)
        for name, cells in columns.items()
    }
