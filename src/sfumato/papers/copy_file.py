"""The yardstick: DuckDB reads a file and writes it again in the same format (`python copy_file.py FROM TO`)."""

import sys

import duckdb


def main(source: str, target: str) -> None:
    """Copy a table as a table."""
    with duckdb.connect() as connection:
        connection.execute(f"COPY (FROM {_text(source)}) TO {_text(target)}")


def _text(path: str) -> str:
    return "'" + path.replace("'", "''") + "'"


if __name__ == "__main__":
    main(*sys.argv[1:])
