"""What a column holds, numbers or texts, and its cells as such in SQL."""

from sfumato.labels.covered_values import PLAIN_NUMBER, WHOLE_NUMBER
from sfumato.labels.data_dictionary import Entry
from sfumato.queries.files import Raw

_WHOLE = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"})
_REAL = frozenset({"FLOAT", "DOUBLE", "UBIGINT", "HUGEINT", "UHUGEINT"})
_TYPED = ("int", "uint", "halffloat", "float", "double", "decimal")
"""How types of numbers begin in the data dictionary."""


def kind_of(raw: Raw, cells: str, entry: Entry) -> str:
    """The type of a column's values in DuckDB, where `cells` is a table of its different cells ``r``.

    A text is a number where all of the column are, in their plain form: 4350 is one, 04350 and 1e5 are codes. Where
    the data dictionary says that the column was one of numbers, any form will do. Dates are texts in ISO form.
    """
    found = raw.type_of(entry["name"])
    if found != "VARCHAR":
        real = found in _REAL or found.startswith("DECIMAL")
        return "BIGINT" if found in _WHOLE else "DOUBLE" if real else "VARCHAR"
    if entry.get("role") == "individual":
        return "VARCHAR"
    whole, plain, read = raw.connection.execute(
        f"SELECT bool_and(regexp_full_match(r, '{WHOLE_NUMBER}')), bool_and(regexp_full_match(r, '{PLAIN_NUMBER}')), "
        f"bool_and(TRY_CAST(r AS DOUBLE) IS NOT NULL) FROM {cells} WHERE r IS NOT NULL"
    ).fetchone()
    typed = entry.get("type", "").startswith(_TYPED) and read is not False
    return "BIGINT" if whole else "DOUBLE" if plain or typed else "VARCHAR"


def converted(cell: str, kind: str, *, guarded: bool) -> str:
    """A cell as a value of its kind; what is no finite number is NULL, and the formula rule is taken back.

    >>> print(converted("r", "BIGINT", guarded=True))
    CAST(r AS BIGINT)
    """
    if kind == "DOUBLE":
        return f"CASE WHEN isfinite(CAST({cell} AS DOUBLE)) THEN CAST({cell} AS DOUBLE) END"
    if kind == "VARCHAR" and guarded:
        return f"CASE WHEN regexp_matches({cell}, '^''+[=+\\-@\\t\\r\\x00]') THEN substr({cell}, 2) ELSE {cell} END"
    return f"CAST({cell} AS {kind})"
