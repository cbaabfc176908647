"""Measure: a table in, success over the number of known values out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.attack.known.attempt import Attempt
from sfumato.attack.known.found import Known
from sfumato.attack.known.walk import Effort, Progress
from sfumato.encode import encode_column
from sfumato.errors import InputError
from sfumato.matching.opened import folder_of, opened, options_of, published
from sfumato.matching.outside import check_names, names_of, table_of
from sfumato.policy import Policy


def known(  # noqa: PLR0913 - as many settings as the question has
    data: str | Path,
    original: Any = None,
    *,
    policy: Policy | None = None,
    columns: Sequence[str] = (),
    most: int | None = None,
    effort: Effort | None = None,
    progress: Progress | None = None,
) -> Known:
    r"""Count how often B known values of a person lead to the person's row, for B from 1 to all, or to `most`.

    `data` is a raw table, whose own rows are the targets; or a release, folder or file, whose targets are rows of the
    `original` with their true values. Values are of the `columns` named, or of all that are published, by roles: those
    of the release, or of the `policy` of a file.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "items.csv"
    >>> _ = file.write_text("bread,milk\n1,0\n1,1\n0,1\n0,1\n")
    >>> [(one.known, one.only, one.chance) for one in known(file, columns=["bread", "milk"]).series[0].points]
    [(1, 0.125, 0.5), (2, 0.5, 0.75)]
    """
    _check(most, columns)
    path = Path(data)
    names = list(columns) or published(path, policy)
    attempt = Attempt(opened(path, names, policy), most, effort or Effort(), progress)
    if original is None:
        if folder_of(path) is not None:
            raise InputError(f"{path} is a release; name the table that it was made from (--original)")
        return attempt.within(names)
    options = options_of(policy, attempt.shown.account)
    title = Path(original).name if isinstance(original, str | Path) else "the original"
    check_names(names, names_of(original, options), title)
    table = table_of(original, names, options)
    return attempt.of_original({name: encode_column(table, name) for name in names}, np.arange(table.rows))


def _check(most: int | None, columns: Sequence[str]) -> None:
    if most is not None and most < 1:
        raise InputError(f"at least 1 value has to be known, not {most}")
    twice = [one for one in columns if list(columns).count(one) > 1]
    if twice:
        raise InputError(f"column '{twice[0]}' is named twice; name each column once")
