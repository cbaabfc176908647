"""The yardstick of times: DuckDB reads a file and writes it again in the same format (`python copy_file.py FROM TO`).

A script that `process_measurement` starts by its path.
"""

import sys

import duckdb


def main(source: str, target: str) -> None:
    """Copy a table as a table."""
    quoted = ["'" + path.replace("'", "''") + "'" for path in (source, target)]
    with duckdb.connect() as connection:
        connection.execute(f"COPY (FROM {quoted[0]}) TO {quoted[1]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
