"""Attacks on drawn rows by a judge that is not ours: anonymeter (Giomi, Boenisch, Wehmeyer and Tasnádi 2023).

It makes guesses from synthetic rows, and counts how often they are right of people who had a part in these rows, and of
people who had none, the control. What it reports as a risk is how much more often they are right of the former, as a
share of what was left to gain: at 0 the rows tell of those in them what they tell of anybody.

- *Singling out*: a combination of values that only one synthetic row has, and, it is hoped, only one person. Of one
  column, and of several.
- *Linkability*: somebody knows some columns of a person from one place and others from another, and ties them by the
  synthetic rows nearest to each.
- *Inference*: somebody knows all columns of a person but one, and takes the missing one from the nearest synthetic row.

anonymeter runs in a process of its own (`anonymeter_judge`), since it asks for older versions of numpy and pyarrow than
we do: in the same Python where it is installed there, or else in one that the caller names. What it gets are rows with
columns and categories numbered, through a pipe: no file has them, and none is left should somebody be killed.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.errors import InputError, SfumatoError, quote
from sfumato.policy import Column, Role
from sfumato.reading.drawn_table import read_cell_numbers

INSTALL = "python -m venv judge && judge/bin/pip install anonymeter"
"""What gives anonymeter a Python of its own."""
JUDGE_VARIABLE = "SFUMATO_ANONYMETER"
"""The environment variable that names the Python that has anonymeter."""
_COLUMNS, _NEIGHBOURS, _ATTEMPTS, _SEED, _MOST_SECRETS = 4, 10, 100_000, 1, 8
_PEOPLE = 20_000
"""So many people are linked and inferred about, or all: of a thousand, chance is as large as most risks."""
_SECONDS = 3600.0


@dataclass(frozen=True)
class JudgedAttack:
    """One attack: how often guesses were right of those who had a part, of a control group, and at random.

    `risk` is what the control does not explain of the first, from 0 to 1, with its 95% `interval`. `columns` are what
    was singled out by, linked or inferred. `failed` says why an attack could not be run.
    """

    attack: str
    columns: tuple[str, ...]
    risk: float | None = None
    interval: tuple[float, float] | None = None
    success: float | None = None
    control: float | None = None
    baseline: float | None = None
    attacks: int = 0
    failed: str | None = None

    def as_json(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        return asdict(self)


@dataclass(frozen=True, eq=False, repr=False)
class AttackedRows:
    """Rows that had a part in drawn ones, the drawn ones, and rows that had none: the cells of each, by column.

    Numbers and dates are floats, NaN where there is none; categories are texts such as v3, none where there is none.
    `secrets` are the columns that are inferred.
    """

    own: dict[str, Any]
    drawn: dict[str, Any]
    hold_out: dict[str, Any]
    secrets: tuple[str, ...]

    @classmethod
    def from_cells(
        cls, parts: Sequence[Mapping[str, Any]], kinds: Mapping[str, str], rules: Mapping[str, Column]
    ) -> "AttackedRows":
        """Make them of three sets of columns, Arrow arrays each: those of own rows, of drawn ones and of the hold-out.

        Sensitive columns are the secrets; where there is none, all columns are.
        """
        found: list[dict[str, Any]] = [{}, {}, {}]
        for name, kind in kinds.items():
            own, drawn, hold_out = (part[name] for part in parts)
            if kind == "category":
                texts = [_texts(values) for values in (own, drawn, hold_out)]
                place = {
                    text: f"v{number}"
                    for number, text in enumerate(dict.fromkeys(text for part in texts for text in part))
                }
                cells: list[Any] = [[None if text is None else place[text] for text in part] for part in texts]
            else:
                cells = [read_cell_numbers(name, values, kind, rules.get(name)) for values in (own, drawn, hold_out)]
            for side, values in zip(found, cells, strict=True):
                side[name] = values
        sensitive = tuple(name for name in kinds if name in rules and rules[name].role is Role.SENSITIVE)
        return cls(found[0], found[1], found[2], (sensitive or tuple(kinds))[:_MOST_SECRETS])

    @property
    def names(self) -> list[str]:
        """The columns."""
        return list(self.own)


def run_anonymeter(
    rows: AttackedRows, python: str | Path | None = None, attacks: int = 500, *, people: int = _PEOPLE
) -> list[JudgedAttack]:
    """Let anonymeter make so many guesses at who can be singled out, and link and infer about so many people, or all.

    The people are the same ones for other rows that were drawn from the same table, and for each attack.
    `python` is the Python that it is installed for; without one, what `SFUMATO_ANONYMETER` names, or else our own.

    Raises:
        InputError: anonymeter is not installed there, or there is no such Python.
    """
    chosen = str(python or os.environ.get(JUDGE_VARIABLE) or sys.executable)
    number = {name: f"c{place}" for place, name in enumerate(rows.names)}
    request = {
        "seed": _SEED,
        "attacks": attacks,
        "attempts": _ATTEMPTS,
        "people": people,
        "columns": _COLUMNS,
        "neighbours": _NEIGHBOURS,
        "known": list(number.values()),
        "secrets": [number[name] for name in rows.secrets],
    }
    import pyarrow.parquet as pq  # noqa: PLC0415 - only where attacks are run

    files = []
    for part in (rows.own, rows.drawn, rows.hold_out):
        table = pa.table({number[name]: pa.array(values, from_pandas=True) for name, values in part.items()})
        written = pa.BufferOutputStream()
        pq.write_table(table, written)
        files.append(written.getvalue().to_pybytes())
    head = json.dumps(request | {"sizes": [len(file) for file in files]}) + "\n"
    answer = _ask(chosen, b"".join([head.encode(), *files]))
    named = {short: name for name, short in number.items()}
    return [_read_attack(line, named) for line in answer["attacks"]]


def _ask(python: str, sent: bytes) -> dict[str, Any]:
    """Run the judge over a request and its rows, and read what it says."""
    script = Path(__file__).with_name("anonymeter_judge.py")
    settings = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [python, "-I", str(script)]
    try:
        run = subprocess.run(  # noqa: S603 - the Python that the user names
            command, input=sent, capture_output=True, timeout=_SECONDS, env=settings, check=False
        )
    except OSError:
        raise InputError(f"{quote(python)} cannot be run; name the Python that anonymeter is installed for") from None
    except subprocess.TimeoutExpired:
        raise SfumatoError("anonymeter took more than an hour, and was stopped; give it fewer rows") from None
    try:
        answer = json.loads(run.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        last = (run.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"])[-1]
        raise SfumatoError(f"anonymeter could not be run by {quote(python)}: {last[:200]}") from None
    if "missing" in answer:
        raise InputError(
            f"anonymeter is not installed for {quote(python)}; it needs a Python of its own, since it asks for older "
            f"packages than sfumato: {INSTALL}, and then --anonymeter judge/bin/python, or {JUDGE_VARIABLE} in the "
            "environment"
        )
    return dict(answer)


def _read_attack(line: Mapping[str, Any], named: Mapping[str, str]) -> JudgedAttack:
    columns = tuple(named[short] for short in line["columns"])
    if "failed" in line:
        return JudgedAttack(line["attack"], columns, failed=line["failed"])
    low, high = line["interval"]
    figures = {key: line[key] for key in ("risk", "success", "control", "baseline", "attacks")}
    return JudgedAttack(line["attack"], columns, interval=(low, high), **figures)


def _texts(values: Any) -> list[str | None]:
    whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    texts: list[str | None] = whole.cast(pa.string()).to_pylist()
    return texts
