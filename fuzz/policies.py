"""Random policies over random tables: roles, hierarchies of every kind, requirements, algorithms, forms.

What is drawn keeps the rules of the guide to policies, so that a refusal is a finding, too.
"""

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random
from typing import Any

from fuzz.case import FuzzCase, Text, write_csv_text
from fuzz.definitions import Context, broken_rules
from fuzz.generalizations import levels_of
from fuzz.tables import Cells, random_cells, random_rows, random_word, repeat_rows

WAYS = ("csv", "csv", "csv", "csv", "parquet", "feather", "jsonl", "arrow", "pandas", "polars", "duckdb")
FULL_DOMAIN = ("optimal", "samarati", "incognito")
LOCAL = ("progressive", "top-down", "bottom-up", "mondrian", "mondrian-relaxed")
METRICS = ("ncp", "distortion", "height", "precision", "discernibility", "average-class-size", "entropy")
KINDS = ("words", "words", "codes", "integers", "integers", "decimals", "dates", "flags", "nasty")


def random_case(seed: int) -> FuzzCase:
    """Draw a case; the same seed gives the same case."""
    return _Draft(Random(seed)).case(seed)


@dataclass
class _Draft:
    """A case while it is being drawn."""

    random: Random
    way: str = "csv"
    nulls: list[str] = field(default_factory=lambda: [""])
    columns: dict[str, Cells] = field(default_factory=dict)
    roles: dict[str, dict[str, Any]] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    known: dict[str, list[Text]] = field(default_factory=dict)
    document: dict[str, Any] = field(default_factory=dict)

    def chance(self, share: float) -> bool:
        """Say yes with this probability."""
        return self.random.random() < share

    def case(self, seed: int) -> FuzzCase:
        random = self.random
        self.way = random.choice(WAYS)
        self.nulls = random.choice([[""], [""], [""], ["", "?"], ["NA"], ["missing", ""]])
        if self.way != "csv":
            self.nulls = [""] if self.chance(0.7) else self.nulls
        linked = self.chance(0.12)
        self._draw_columns(linked=linked)
        algorithm = "tds" if linked and self.chance(0.5) else "auto" if linked else self._draw_algorithm()
        form = "generalized" if linked else self._draw_form()
        if form == "anatomy" and algorithm not in {"auto", "anatomy"}:
            algorithm = "auto"
        self._draw_hierarchies(algorithm, form, linked=linked)
        self.document["columns"] = self._shuffled_roles()
        self.document["privacy"] = self._draw_rules(form)
        if linked:
            self._draw_previous()
        self.document["algorithm"] = self._draw_options(algorithm, form, linked=linked)
        self.document["publish"] = self._draw_publish(algorithm, form, linked=linked)
        if self.nulls != [""]:
            self.document["data"] = {"null": self.nulls}
        if self.way == "csv" and self.chance(0.2):
            self.document.setdefault("data", {})["separator"] = random.choice([";", "\t", "|"])
        names = list(self.document["columns"])
        return FuzzCase(
            seed,
            {name: self.columns[name].values for name in names},
            {name: self.columns[name].type for name in names},
            self.document,
            self.files,
            self.way,
            self.known,
        )

    # The table

    def _draw_columns(self, *, linked: bool) -> None:
        random = self.random
        rows = random.randint(2, 22) if linked else random_rows(random)
        quasi = random.choice([1, 1, 2, 2, 2, 3, 3, 4, 5])
        for i in range(quasi):
            self._add(f"q{i}", "quasi", random.choice([*KINDS, "spelled"]), rows)
        for i in range(random.choice([0, 1, 1, 1, 2, 2])):
            kind = random.choice(["words", "words", "words", "integers", "decimals", "flags", "nasty"])
            self._add(f"s{i}", "sensitive", kind, rows)
        for i in range(random.choice([0, 0, 1, 2])):
            self._add(f"p{i}", "plain", random.choice(KINDS), rows)
        if self.chance(0.4):
            self._add("ident", "identifier", "words", rows)
            words = [f"{random_word(random)}{row}" for row in range(rows)]
            self.columns["ident"] = Cells([*words], "string", "words")
        if self.chance(0.3):
            self._add_persons(rows)
        self.columns = repeat_rows(random, self.columns, ["ident", "person"]) if rows else self.columns
        if self.chance(0.65):  # tells which row was published, so that every label can be held against its value
            self.roles["tag"] = {"role": "plain"}
            words = [f"{random_word(random)}{row}" for row in range(rows)]
            self.columns["tag"] = Cells([*words], "string", "words")
        if not linked and self.chance(0.1):
            self._rename()

    def _add(self, name: str, role: str, kind: str, rows: int) -> None:
        typed = self.way != "csv" and self.chance(0.8)
        self.columns[name] = random_cells(self.random, kind, rows, typed=typed)
        self.roles[name] = {"role": role}

    def _add_persons(self, rows: int) -> None:
        random = self.random
        people = [random_word(random) for _ in range(max(1, int(rows * random.choice([0.1, 0.4, 0.7, 1.0, 1.0]))))]
        cells: list[Text] = [*(random.choices(people, k=rows) if self.chance(0.6) else [*people, *people][:rows])]
        cells += random.choices(people, k=rows - len(cells))
        if self.chance(0.1):
            cells = [None if self.chance(0.2) else cell for cell in cells]
        self.columns["person"] = Cells(cells, "string", "words")
        self.roles["person"] = {"role": "individual"}
        if self.chance(0.15):
            self.files["person.key"] = "".join(random.choices("0123456789abcdef", k=64))
            self.roles["person"]["key"] = "person.key"
        if self.chance(0.6):  # rows of one visitor often look alike
            first = {person: row for row, person in reversed(list(enumerate(cells)))}
            for name in [name for name in self.columns if name.startswith("q") and self.chance(0.8)]:
                column = self.columns[name]
                same = [column.values[first[person]] if self.chance(0.8) else cell
                        for cell, person in zip(column.values, cells, strict=True)]  # fmt: skip
                self.columns[name] = Cells(same, column.type, column.kind)

    def _rename(self) -> None:
        """Give a column a name that something may stumble over."""
        old = self.random.choice([name for name in self.columns if name[0] in "qsp" and name != "person"])
        new = self.random.choice(
            ["=sum", "a b", "q.x", 'quo"te', "ünï", "class_id", "*", "-x", "a,b", "a\nb", "'", "NULL"]
        )
        self.columns = {new if name == old else name: cells for name, cells in self.columns.items()}
        self.roles = {new if name == old else name: role for name, role in self.roles.items()}

    def _shuffled_roles(self) -> dict[str, dict[str, Any]]:
        names = list(self.roles)
        if self.chance(0.3):
            self.random.shuffle(names)
        return {name: self.roles[name] for name in names}

    def _of_role(self, role: str) -> list[str]:
        return [name for name, entry in self.roles.items() if entry["role"] == role]

    # Hierarchies

    def _draw_algorithm(self) -> str:
        return self.random.choice(["auto", "auto", *FULL_DOMAIN, "optimal", *LOCAL, "tds", "tds"])

    def _draw_form(self) -> str:
        if not self._of_role("sensitive") or self.chance(0.75):
            return "generalized"
        return "anatomy" if self.chance(0.35) else "lossy-join"

    def _draw_hierarchies(self, algorithm: str, form: str, *, linked: bool) -> None:
        for name in self._of_role("quasi"):
            entry = self.roles[name]
            hierarchy, height = self._draw_hierarchy(name, algorithm, linked=linked, levelled=form == "anatomy")
            entry["hierarchy"] = hierarchy
            if height and form == "generalized" and self.chance(0.15):
                entry["least"] = self.random.randint(1, height)
            if isinstance(hierarchy, str) and hierarchy.endswith(".csv") and self.chance(0.1):
                entry["public_domain"] = True
            if self.chance(0.2):
                entry["weight"] = self.random.choice([0, 0.5, 2, 7])
        if not any(self.roles[name].get("weight", 1) for name in self._of_role("quasi")):
            del self.roles[self._of_role("quasi")[0]]["weight"]
        for name in self._of_role("sensitive"):
            if self.chance(0.4) and self.columns[name].values:
                hierarchy, height = self._draw_hierarchy(name, "optimal", linked=linked)
                if height:
                    self.roles[name]["hierarchy"] = hierarchy

    def _draw_hierarchy(self, name: str, algorithm: str, *, linked: bool, levelled: bool = False) -> tuple[Any, int]:
        """Draw a hierarchy that fits a column, and its height; 0 where it has no levels."""
        cells, random = self.columns[name], self.random
        choices: list[Callable[[], tuple[Any, int] | None]] = [lambda: ("suppress", 1)]
        numbers = cells.kind in {"integers", "decimals", "spelled"}
        if not any(text in self.nulls or text in {"*", ""} or text != text.strip("\r\n") for text in cells.distinct):
            choices += [lambda: self._draw_file(cells)] * (1 if numbers else 3)
        if numbers:
            choices += [lambda: self._draw_intervals(cells)] * 3
        if cells.kind == "dates":
            choices += [lambda: self._draw_dates(name, cells)] * 4
        if not any("*" in text for text in cells.distinct) and max([0, *map(len, cells.distinct)]) < 16:
            choices += [lambda: self._draw_mask(cells)] * (3 if cells.kind == "codes" else 1)
        if not linked and algorithm in {"auto", "mondrian", "mondrian-relaxed"} and not levelled:
            choices += [lambda: ("sets", 0)] * 2
            if numbers:
                choices += [lambda: self._draw_ranges(cells)] * 6
        if not linked and algorithm == "tds" and numbers:
            choices += [lambda: self._draw_ranges(cells)] * 2
        while True:
            drawn = random.choice(choices)()
            if drawn is not None:
                return drawn

    def _draw_file(self, cells: Cells) -> tuple[str, int]:
        """A tree over the values and some leaves that no row has, ragged sometimes, with a line for NULL sometimes."""
        random = self.random
        leaves = [*cells.distinct, *(random_word(random) for _ in range(random.choice([0, 0, 1, 3])))]
        if not leaves:
            leaves = [random_word(random)]
        random.shuffle(leaves)
        height = random.choice([1, 2, 2, 3, 4])
        paths: dict[str, list[str]] = {leaf: [leaf] for leaf in leaves}
        for level in range(1, height):
            groups = [f"{random_word(random)}{level}" for _ in range(random.randint(1, max(1, len(leaves) // level)))]
            parent = {label: random.choice(groups) for label in dict.fromkeys(path[-1] for path in paths.values())}
            for path in paths.values():
                path.append(parent[path[-1]])
        lines: list[list[str]] = []
        for path in paths.values():
            ragged = self.chance(0.1) and sum(other[-1] == path[-1] for other in paths.values()) == 1
            lines.append([path[0], "*"] if ragged else [*path, "*"])
        if not any(len(line) == height + 1 for line in lines):
            lines[0] = [*paths[lines[0][0]], "*"]
        if self.chance(0.2):
            null = random.choice(self.nulls)
            upper = random.choice([[], ["unknown"], [lines[0][1]] if height > 1 else []])
            lines.append([null, *upper, "*"] if len(upper) < height else [null, "*"])
            if len(lines[-1]) == 3 and upper != ["unknown"]:
                lines[-1] = [null, *lines[0][1:]]
        file, text = f"{len(self.files)}.csv", io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows(lines)
        self.files[file] = text.getvalue()
        return file, height

    def _draw_intervals(self, cells: Cells) -> tuple[Any, int] | None:
        random, numbers = self.random, [Fraction(text) for text in cells.distinct]
        whole = all(number.denominator == 1 for number in numbers)
        spread = float(max(numbers, default=Fraction(1)) - min(numbers, default=Fraction(0))) or 1.0
        unit = random.choice([1, 5, 10]) if whole and self.chance(0.8) else random.choice([0.5, 2.5, 0.1])
        while spread / unit > 200:
            unit *= 10
        widths = [unit]
        for _ in range(random.choice([0, 1, 2])):
            widths.append(widths[-1] * random.choice([2, 3, 5]))
        hierarchy: dict[str, Any] = {"intervals": [_plain(width) for width in widths]}
        if self.chance(0.3):
            hierarchy["origin"] = random.choice([1, 5, -3])
        low, high = int(min(numbers, default=0) // 1), int(max(numbers, default=1) // 1) + 1
        if self.chance(0.5):
            hierarchy["domain"] = [low - random.choice([0, 0, 7]), high + random.choice([0, 0, 30])]
        if self.chance(0.25):
            hierarchy["bottom"] = random.randint(low, high)
        if self.chance(0.25):
            hierarchy["top"] = random.randint(max(low, hierarchy.get("bottom", low)), high)
        if not whole or self.chance(0.1):
            hierarchy["integers"] = False
        return hierarchy, len(widths) + 1

    def _draw_dates(self, name: str, cells: Cells) -> tuple[Any, int]:
        random = self.random
        units = ["day", "month", "quarter", "year", "decade", "century"]
        chosen = [unit for unit in units if self.chance(0.45)] or ["year"]
        if self.chance(0.15):
            chosen = ["week"]
        hierarchy: dict[str, Any] = {"dates": chosen}
        if cells.type == "string" and self.chance(0.3):
            form = "%d.%m.%Y"
            texts = [text and ".".join(reversed(text.split("-"))) for text in cells.values]
            self.columns[name] = Cells(texts, cells.type, cells.kind)
            hierarchy["format"] = form
        del random
        return hierarchy, len(chosen) + 1

    def _draw_mask(self, cells: Cells) -> tuple[Any, int]:
        hierarchy: dict[str, Any] = {"mask": self.random.choice(["right", "left"])}
        longest = max([1, *map(len, cells.distinct)])
        if self.chance(0.5):
            hierarchy["length"] = longest + self.random.choice([0, 0, 2])
        return hierarchy, hierarchy.get("length", longest)

    def _draw_ranges(self, cells: Cells) -> tuple[Any, int]:
        hierarchy: dict[str, Any] = {"ranges": True}
        numbers = [Fraction(text) for text in cells.distinct]
        if self.chance(0.5):
            low, high = int(min(numbers, default=0) // 1), int(max(numbers, default=1) // 1) + 1
            hierarchy["domain"] = [low - self.random.choice([0, 4]), high + self.random.choice([0, 9])]
            if any(number.denominator > 1 for number in numbers):
                hierarchy["integers"] = False
        elif all(number.denominator == 1 for number in numbers) and self.chance(0.5):
            hierarchy["integers"] = True
        return hierarchy, 0

    # Requirements

    def _draw_rules(self, form: str) -> list[dict[str, Any]]:
        random, sensitive = self.random, self._of_role("sensitive")
        names = ["k-anonymity"] * (3 if self.chance(0.4) else 1)
        if form == "anatomy":  # its buckets are made of one sensitive column, which the requirements have to name
            names = names if len(sensitive) == 1 else []
            sensitive = sensitive[-1:]
        if sensitive:
            names += ["alpha-deassociation", "alpha-k-anonymity", "distinct-l-diversity", "entropy-l-diversity"]
            names += ["recursive-l-diversity", "t-closeness", "t-closeness"]
        if "person" in self.columns:
            names += ["identity-k-anonymity"] * 3 if names and names[0] == "k-anonymity" else []
            names += ["identity-kl-diversity", "identity-alpha-beta"] if sensitive else []
        rules: list[dict[str, Any]] = []
        for _ in range(8):  # most requirements should be such that the table as a whole can meet them
            rules = [self._draw_rule(random.choice(names), sensitive) for _ in range(random.choice([1, 1, 2, 3]))]
            if self.chance(0.1) or self._can_be_met(rules):
                break
        files: dict[str, str] = {}
        for rule in rules:  # one column has one file of costs
            if "costs" in rule:
                rule["costs"] = files.setdefault(rule["column"], rule["costs"])
        return rules

    def _can_be_met(self, rules: list[dict[str, Any]]) -> bool:
        cells = {name: column.values for name, column in self.columns.items()}
        case = FuzzCase(0, cells, {}, {"columns": self.roles, "data": {"null": self.nulls}}, self.files)
        return bool(case.rows) and not broken_rules([case.rows], Context(case, case.person), rules)

    def _draw_rule(self, model: str, sensitive: list[str]) -> dict[str, Any]:
        random = self.random
        rows = len(next(iter(self.columns.values())).values)
        rule: dict[str, Any] = {"model": model}
        column = random.choice(sensitive) if sensitive else ""
        if model.endswith("k-anonymity") or model == "identity-kl-diversity":
            rule["k"] = random.choice([1, 2, 2, 3, 3, 5, 8, max(1, rows // 3), max(1, rows), rows + 1])
        if model in {"alpha-deassociation", "alpha-k-anonymity"}:
            rule["alpha"] = random.choice([0.05, 0.2, 0.25, 1 / 3, 0.5, 0.6, 0.75, 0.9, 1])
            if len(sensitive) > 1 and self.chance(0.4):
                rule["columns"] = sensitive
            else:
                rule["column"] = column
            values = [value for name in rule.get("columns", [column]) for value in self.columns[name].distinct]
            if values and self.chance(0.5):
                rule["values"] = random.sample(values, random.randint(1, min(3, len(values))))
            if self.chance(0.4):
                rule["refined"] = True
        elif model not in {"k-anonymity", "identity-k-anonymity"}:
            rule["column"] = column
        if model in {"distinct-l-diversity", "identity-kl-diversity", "recursive-l-diversity"}:
            rule["l"] = random.choice([1, 2, 2, 3, 4])
        if model == "entropy-l-diversity":
            rule["l"] = random.choice([1, 1.3, 1.8, 2, 2.5, 3])
        if model == "recursive-l-diversity":
            rule["c"] = random.choice([0.5, 1, 1.5, 2, 4, 1 / 3])
        if model == "identity-alpha-beta":
            rule |= {
                "alpha": random.choice([0.2, 1 / 3, 0.5, 0.75, 1]),
                "beta": random.choice([0.3, 0.5, 0.75, 0.9, 1]),
            }
        if model == "t-closeness":
            rule |= self._draw_distance(column)
        if model.startswith("identity-") and self.chance(0.3):
            rule["linked_k"] = random.choice([1, 2, 2, 3])
        return rule

    def _draw_distance(self, column: str) -> dict[str, Any]:
        random, cells, entry = self.random, self.columns[column], self.roles[column]
        hierarchy = entry.get("hierarchy")
        names = ["variational", "kl", "emd-equal"]
        ordered = isinstance(hierarchy, dict) and ("intervals" in hierarchy or "dates" in hierarchy)
        in_file = isinstance(hierarchy, str) and hierarchy != "suppress"
        if (
            ordered
            or in_file
            or (hierarchy is None and cells.kind in {"integers", "decimals"} and None not in cells.values)
        ):
            names += ["emd-ordered"] * 2
        if hierarchy is not None:
            names += ["emd-hierarchical"] * 2
        if 1 < len(cells.distinct) <= 8 and "," not in "".join(cells.distinct) and cells.kind == "words":
            names += ["emd"] * 2
        distance = random.choice(names)
        rule: dict[str, Any] = {"distance": distance, "t": random.choice([0, 0.05, 0.2, 0.3, 0.4, 0.6, 0.8, 1.5])}
        if distance == "emd":
            rule["t"] *= 4
            rule["costs"] = self._draw_costs(cells)
        return rule

    def _draw_costs(self, cells: Cells) -> str:
        values, lines = [*cells.distinct, ""], []
        for i, one in enumerate(values):
            for other in values[:i]:
                lines.append(f"{other},{one},{self.random.randint(0, 7)}\n")
                if self.chance(0.2):
                    lines.append(f"{one},{other},{self.random.randint(0, 7)}\n")
        file = f"costs{len(self.files)}.csv"
        self.files[file] = "".join(lines)
        return file

    # Earlier releases

    def _draw_previous(self) -> None:
        """One or two earlier releases about the same people, told more or less exactly, and what must not be linked."""
        random = self.random
        previous = [self._draw_release(name) for name in random.choice([["old"], ["old"], ["old", "older"], []])]
        shared = [name for name in self._of_role("quasi") if name in self.known]
        rules = [self._draw_link(shared, previous) for _ in range(random.choice([1, 1, 2]))]
        self.document["privacy"] = [*rules, *(self.document["privacy"] if self.chance(0.4) else [])]
        if previous:
            self.document["previous"] = [
                {key: value for key, value in release.items() if key != "shared"} for release in previous
            ]

    def _draw_link(self, shared: list[str], previous: list[dict[str, Any]]) -> dict[str, Any]:
        """A requirement on the join: all columns that are matched by in x, or none of some."""
        random, rule = self.random, dict[str, Any]()
        joined = previous
        if len(previous) > 1 and self.chance(0.3):
            joined = previous[:1]
            rule["releases"] = [joined[0]["name"]]
        kept = [name for name in shared if self.chance(0.85)]
        x = [*kept, *(f"{release['name']}.{name}" for release in joined for name in kept if name in release["shared"])]
        x += [name for name in self._of_role("quasi") if name not in shared and self.chance(0.5)]
        x = x or [name for name in self._of_role("quasi") if name not in shared][:1] or [*shared[:1]]
        if x == shared[:1] and joined:
            x += [f"{release['name']}.{x[0]}" for release in joined if x[0] in release["shared"]]
        ys = [["$row"], *([f"{release['name']}.test"] for release in joined)]
        ys += [[f"{release['name']}.$row"] for release in joined]
        ys += [[name] for name in (*self._of_role("sensitive"), *self._of_role("plain"), *self._of_role("individual"))]
        ys += [["$row", f"{release['name']}.test"] for release in joined]
        y = random.choice(ys)
        rows = any(name.endswith("$row") for name in y) or y == ["person"]
        if rows or self.chance(0.5):
            return {"model": "xy-anonymity", "x": x, "y": y, "k": random.choice([1, 2, 2, 3, 5]), **rule}
        link = {"model": "xy-linkability", "x": x, "y": y, "k": random.choice([0.3, 0.5, 0.6, 0.8, 0.9, 1]), **rule}
        values = ["hiv", "flu", "cold"] if y[0].endswith(".test") else self.columns[y[0]].distinct
        if values and self.chance(0.5):
            chosen = random.sample(values, min(len(values), random.choice([1, 2])))
            link["values"] = random.choice([chosen, {value: random.choice([0.3, 0.5, 0.9]) for value in chosen}])
            if isinstance(link["values"], dict) and self.chance(0.4):
                del link["k"]
        return link

    def _draw_release(self, name: str) -> dict[str, Any]:
        random = self.random
        quasi = self._of_role("quasi")
        shared = [column for column in quasi if column in self.known] or [
            column for column in quasi if self.chance(0.6)
        ]
        rows = len(next(iter(self.columns.values())).values)
        people = [row for row in range(rows) if self.chance(0.9)] or [0]
        table: dict[str, list[Text]] = {}
        for column in shared:
            values = [self.columns[column].values[row] for row in people]
            self.known.setdefault(column, [])
            document = {"columns": self.roles, "data": {"null": self.nulls}}
            draft = FuzzCase(0, {column: self.columns[column].values}, {}, document, self.files)
            tree = levels_of(draft, column)
            top = tree.height if tree is not None else 0
            level = random.randint(0, top)
            labels: list[Text] = []
            for value in values:
                at = level if self.chance(0.8) else random.randint(0, top)
                labels.append(value if tree is None else tree.paths[value][at])
            table[column] = labels
        table["test"] = [random.choice(["hiv", "flu", "cold", None]) for _ in people]
        lines = [dict(zip(table, cells, strict=True)) for cells in zip(*table.values(), strict=True)]
        file = f"{name}.csv"
        self.files[file] = write_csv_text(list(table), lines, nulls=self.nulls)
        release: dict[str, Any] = {"name": name, "table": file, "shared": shared}
        sides = [f"{column}={value}" for column in shared for value in self.columns[column].distinct]
        if sides and self.chance(0.3):
            release["inconsistent"] = [[random.choice(sides), f"{name}.test={random.choice(['hiv', 'flu'])}"]]
        return release

    # Algorithm and publication

    def _draw_options(self, algorithm: str, form: str, *, linked: bool) -> dict[str, Any]:
        random, options = self.random, {"name": algorithm, "seed": self.random.randint(0, 99)}
        if form == "anatomy":
            options["name"] = random.choice(["auto", "anatomy"])
            options["suppression"] = random.choice([0, 0, 0.1, 0.5])
            return options
        if algorithm == "auto" and self.chance(0.3):
            del options["name"]
        if not linked:
            options["suppression"] = random.choice([0, 0, 0, 0.01, 0.05, 0.1, 0.3, 1])
        if algorithm == "tds":
            kept = [*self._of_role("sensitive"), *self._of_role("plain")]
            options |= random.choice([{}, {"score": "distortion"}, {"score": "discernibility"}])
            if kept and self.chance(0.4):
                options |= {"class": random.choice(kept), "score": random.choice(["classification", "conditional"])}
        elif not linked and self.chance(0.4):
            options["metric"] = random.choice(METRICS)
        if algorithm in LOCAL and self.chance(0.3):
            options["improve"] = random.choice([True, False])
        if "person" in self.columns and algorithm in {*LOCAL, "auto"} and not linked and self.chance(0.3):
            options["keep_together"] = random.choice([True, False])
        return options

    def _draw_publish(self, algorithm: str, form: str, *, linked: bool) -> dict[str, Any]:
        random, publish = self.random, {}
        if form != "generalized":
            publish["form"] = form
            if len(self._of_role("sensitive")) > 1 and self.chance(0.5):
                publish["ss"] = random.choice(["together", "apart"])
        elif any(isinstance(self.roles[name].get("hierarchy"), dict) and "ranges" in self.roles[name]["hierarchy"]
                 for name in self._of_role("quasi")):  # fmt: skip
            choices = ["partition", "boxes"] if algorithm == "tds" or linked else ["partition", "boxes", "means"]
            publish["ranges"] = random.choice(choices)
        if self.chance(0.35):
            publish["format"] = "parquet"
        return publish


def _plain(number: float) -> float:
    """A number as somebody would write it.

    >>> _plain(5.0), _plain(0.1 * 3)
    (5, 0.3)
    """
    rounded = round(number, 6)
    return int(rounded) if rounded == int(rounded) else rounded
