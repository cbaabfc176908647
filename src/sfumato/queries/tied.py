"""Factors of several tables, which a condition such as ``age > 60 OR illness = 'flu'`` ties together.

All combinations of lines of a class are looked at; lines that the part cannot tell apart are taken together.
"""

from sfumato.queries.expression import Expression
from sfumato.queries.factors import Factor, Tables, all_lines, products, subsets
from sfumato.queries.sql import EACH_TIME, ONCE, grouped, product, select, source, statement, where


class Tied(Factor):
    """A part of several tables under the name of the table that it becomes."""

    def tables(self) -> dict[str, str]:
        """Lines of each table, their combinations, sums of these over some tables, and this one with all sums."""
        sums = {f"{self.name}_{_number(some)}": self._sums(some) for some in subsets(self.part.pieces) if some}
        every = " UNION ALL BY NAME ".join(f"FROM {name}" for name in sums)
        names = [f"s{a}" for a in self.locals]
        names += [products(some, a, b) for some in subsets(self.part.pieces) if some for a, b in self.pairs]
        whole = select(self.keys, {name: f"sum({name})" for name in names}, f"({every})") + grouped(self.keys)
        lines = {name + ONCE: query for name, query in self._lines().items()}
        return lines | {f"{self.name}_all{EACH_TIME}": self._combinations()} | sums | {self.name: whole}

    def work(self) -> list[tuple[str, ...]]:
        """Statements that count the combinations: those of all lines, and those that can be told apart."""
        counts = [f"(SELECT class, count(*) AS m{t} FROM {self._name(t)} GROUP BY class)" for t in self.part.pieces]
        joined = " ".join([counts[0], *(f"JOIN {count} USING (class)" for count in counts[1:])])
        figure = " * ".join(f"CAST(m{table} AS DOUBLE)" for table in self.part.pieces)
        exact = statement(self._lines(), f"SELECT sum({figure}) FROM {joined}")
        return [(all_lines(len(self.part.pieces)), exact)]

    def _name(self, table: int) -> str:
        return f"{self.name}_t{table}"

    def _lines(self) -> dict[str, str]:
        """For each table the different lines that the part can tell apart, with a number ``i`` and a weight ``w``."""
        found = {}
        for table in self.part.pieces:
            used = self.used(table)
            keys = ["class", *(column.value for column in used)]
            figures = {f"w{table}": "count(*)", f"i{table}": "row_number() OVER ()"}
            rows = source(f"t{table}", used) + where(self._own(table))
            found[self._name(table)] = select(keys, figures, rows) + grouped(keys)
        return found

    def _own(self, table: int) -> list[Expression]:
        """The conditions that a table meets or not by itself."""
        places = {column.place for column in self.used(table)}
        return [one for one in self.part.conditions if one.columns and one.columns <= places]

    def _combinations(self) -> str:
        """The combinations of lines that meet the conditions, with what each contributes to each measure."""
        own = [one for table in self.part.pieces for one in self._own(table)]
        tying = [one for one in self.part.conditions if one not in own]
        first, *others = [self._name(table) for table in self.part.pieces]
        joined = " ".join([first, *(f"JOIN {other} USING (class)" for other in others)])
        numbers = [f"{sign}{table}" for table in self.part.pieces for sign in "iw"]
        return select([*self.keys, *numbers], {f"f{a}": self.amount(a) for a in self.locals}, joined + where(tying))

    def _sums(self, tables: Tables) -> str:
        """Products of sums over the lines of the other tables, summed over those of these."""
        own = [f"{sign}{table}" for table in tables for sign in "iw"]
        others = [f"w{table}" for table in self.part.pieces if table not in tables]
        weights = [f"w{table}" for table in tables]
        figures = {products(tables, a, b): f"sum({product(*weights, f'f{a}', f'f{b}')})" for a, b in self.pairs}
        if not others:
            figures |= {f"s{a}": f"sum({product(*weights, f'f{a}')})" for a in self.locals}
            return select(self.keys, figures, f"{self.name}_all") + grouped(self.keys)
        each = {f"f{a}": f"sum({product(*others, f'f{a}')})" for a in self.locals}
        inner = select([*self.keys, *own], each, f"{self.name}_all") + grouped([*self.keys, *own])
        return select(self.keys, figures, f"({inner})") + grouped(self.keys)


def _number(tables: Tables) -> str:
    return "x".join(map(str, tables))
