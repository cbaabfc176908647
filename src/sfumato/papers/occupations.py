"""Adult with the occupation sensitive and eight quasi-identifiers, as two of the papers have it."""

from dataclasses import dataclass
from typing import Any

from sfumato.datasets import adult_policy, synthetic_adult, synthetic_adult_policy
from sfumato.papers.rows import Rows
from sfumato.policy import load
from sfumato.table import read_table

SENSITIVE = "occupation"


@dataclass(frozen=True)
class Occupations:
    """The table, with a role for each column and a hierarchy for each quasi-identifier."""

    frame: Any
    columns: dict[str, Any]

    @classmethod
    def of(cls, rows: Rows) -> "Occupations":
        """The real rows from their file, or so many made-up ones."""
        if rows.folder is None:
            return cls(synthetic_adult(rows.made_up), synthetic_adult_policy(sensitive=SENSITIVE)["columns"])
        policy = adult_policy(rows.folder)
        salary = {"role": "quasi", "hierarchy": str(rows.folder / "hierarchies" / "salary-class.csv")}
        columns = policy["columns"] | {"salary-class": salary, SENSITIVE: {"role": "sensitive"}}
        frame = read_table(rows.folder / "adult.csv", load(policy | {"columns": columns})).arrow
        return cls(frame, {name: columns[name] for name in frame.column_names})
