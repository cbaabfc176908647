"""Outliers in perturbed rows: not offered, and why."""

from typing import Any, NoReturn

from sfumato.errors import InputError


def detect_outliers(*_data: Any, **_options: Any) -> NoReturn:
    """Refuse to look for outliers in perturbed rows, whatever is given.

    The chapter (section 20.2.2): what is recovered are distributions, and an outlier is a single row; whoever could
    point at one would have the private value that the noise is there to hide.

    >>> detect_outliers([[17.0], [90.0]])
    Traceback (most recent call last):
    sfumato.errors.InputError: outliers cannot be found in perturbed rows: they are single rows, only distributions of
    many are recovered, and an outlier that could be named would give a person's value away; look at the tails of a
    column with collect.reconstruct instead
    """
    raise InputError(
        "outliers cannot be found in perturbed rows: they are single rows, only distributions of many are recovered, "
        "and an outlier that could be named would give a person's value away; look at the tails of a column with "
        "collect.reconstruct instead"
    )
