"""Names of columns in one text, as an option of the command line has them."""

import csv


def split_names(text: str) -> list[str]:
    """Split names at commas; one that has a comma stands in double quotes, as in a line of CSV.

    >>> split_names('pay, "rent, warm"'), split_names("a,,b"), split_names(" ")
    (['pay', 'rent, warm'], ['a', '', 'b'], [])
    """
    if not text.strip():
        return []
    line = next(csv.reader([text.replace("\n", " ")], skipinitialspace=True))
    return [name.strip() for name in line]
