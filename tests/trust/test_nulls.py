"""Tables with NULLs, for every kind of hierarchy and every algorithm: TRUST.md 2 and 4.

Where k-anonymity alone is asked for, the table as one class under ``*`` meets it as soon as there are k rows. So there
is a release, always, and what is counted is what is printed: rows whose cells read the same are one class.
"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import HierarchyError, Infeasible
from sfumato.policy.options import CUTS, FULL_DOMAIN, LOCAL, UNLEVELLED

Rules = Callable[..., dict[str, Any]]

JOBS = "nurse,health,at work,*\nphysician,health,at work,*\nteacher,school,at work,*\nretired,*\nstudent,*\n"


class Kind(NamedTuple):
    """A hierarchy as a policy declares it, what cells it takes, and the algorithms that take it."""

    hierarchy: Any
    cell: Callable[[Random], str]
    algorithms: tuple[str, ...] = ("auto", *FULL_DOMAIN, *LOCAL, *CUTS)


def _number(draw: Random) -> str:
    return str(draw.randint(-30, 90))


def _decimal(draw: Random) -> str:
    return f"{draw.gauss(0, 9):.2f}"


def _code(draw: Random) -> str:
    return draw.choice(["4", "43", "4310", "4315", "4321", "5120", "51200"])


def _job(draw: Random) -> str:
    return draw.choice(["nurse", "physician", "teacher", "retired", "student"])


def _day(draw: Random) -> str:
    return f"{draw.randint(1930, 2009)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"


RANGED = (*UNLEVELLED, *CUTS)
KINDS = {
    "file": Kind("job.csv", _job),
    "file with a line for NULL": Kind("null.csv", _job),
    "file with NULL in a group": Kind("group.csv", _job),
    "intervals": Kind({"intervals": [5, 10, 40]}, _number),
    "intervals with a domain": Kind({"intervals": [5, 10], "domain": [-30, 90], "bottom": -10, "top": 65}, _number),
    "intervals of decimals": Kind({"intervals": [0.5, 5], "top": 9}, _decimal),
    "mask": Kind({"mask": "right"}, _code),
    "mask from the left": Kind({"mask": "left"}, _code),
    "mask with a length": Kind({"mask": "right", "length": 6}, _code),
    "dates": Kind({"dates": ["month", "year", "decade"]}, _day),
    "suppress": Kind("suppress", _job),
    "ranges": Kind({"ranges": True}, _number, RANGED),
    "ranges of decimals": Kind({"ranges": True}, _decimal, RANGED),
    "ranges with a domain": Kind({"ranges": True, "domain": [-30, 120]}, _number, RANGED),
    "sets": Kind("sets", _job, UNLEVELLED),
}
CASES = [(kind, algorithm) for kind in KINDS for algorithm in KINDS[kind].algorithms]


def _table(draw: Random, kind: str, rows: int) -> pa.Table:
    """Three columns of a kind with few, many or all cells missing, and one that is hard to generalize."""

    def column(share: float) -> list[str | None]:
        return [None if draw.random() < share else KINDS[kind].cell(draw) for _ in range(rows)]

    shares = [draw.choice([0.0, 0.02, 0.1, 0.1, 0.5, 1.0]) for _ in range(2)]
    cells = {f"q{number}": column(share) for number, share in enumerate([0.1, *shares])}
    return pa.table(
        {
            **{name: pa.array(cell, pa.string()) for name, cell in cells.items()},
            "town": pa.array([draw.choice(["Bern", "Thun", None]) for _ in range(rows)], pa.string()),
            "illness": [draw.choice(["flu", "cold", "HIV"]) for _ in range(rows)],
        }
    )


def _check_release(folder: Path, release: sf.Release, k: int) -> None:
    """Hold the published rows against the classes that were counted, and the files against the verifier."""
    names = ["q0", "q1", "q2", "town"]
    columns = [release.table.column(name).to_pylist() for name in names]
    printed = Counter(zip(*columns, strict=True))
    assert min(printed.values()) >= k
    assert sorted(printed.values()) == sorted(release.recoding.classes.sizes.tolist())
    for labels in release.recoding.labels.values():
        assert len(set(labels.texts)) == len(labels.texts)
    if len(columns[0]) > 100:  # all of them passed the verifier; files are written of the large ones
        assert sf.verify(release.save(folder, force=True)).satisfied


def _policy(rules: Rules, folder: Path, kind: str, algorithm: str, **tables: Any) -> dict[str, Any]:
    (folder / "job.csv").write_text(JOBS)
    (folder / "null.csv").write_text(JOBS + ",unknown,*\n")
    (folder / "group.csv").write_text(JOBS + ",,at work,*\n")
    hierarchy = KINDS[kind].hierarchy
    if str(hierarchy).endswith(".csv"):
        hierarchy = str(folder / hierarchy)
    roles: dict[str, Any] = {name: {"role": "quasi", "hierarchy": hierarchy} for name in ("q0", "q1", "q2")}
    search = {"name": algorithm, "seed": 1}
    return rules({**roles, "town": "quasi", "illness": "sensitive"}, algorithm=search, **tables)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["partition", "boxes", "means"])
def test_trust_04_numbers_and_null_together_read_as_all_numbers_do(form: str, rules: Rules, tmp_path: Path) -> None:
    """A range that takes NULL in and the range of all numbers are both ``*``, and rows under them are one class."""
    draw = Random(form)
    for rows, k in ((40, 8), (300, 60), (2500, 300)):
        table = _table(draw, "ranges", rows)
        policy = _policy(rules, tmp_path, "ranges", "mondrian", k=k, publish={"ranges": form})
        _check_release(tmp_path / "release", sf.anonymize(table, policy), k)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "algorithm"), CASES, ids=str)
def test_trust_02_tables_with_nulls(kind: str, algorithm: str, rules: Rules, tmp_path: Path) -> None:
    """Of every table with k rows there is a verified release, whose classes are those that its cells print."""
    draw = Random(f"{kind} {algorithm}")
    for rows in (1, 5, 30, 700):
        k = draw.choice([1, 2, 5, rows // 10 or 1, rows // 3 or 1, rows, rows + 1])
        publish = {"ranges": draw.choice(["partition", "boxes"])} if kind.startswith("ranges") else {}
        policy = _policy(rules, tmp_path, kind, algorithm, k=k, publish=publish)
        table = _table(draw, kind, rows)
        if k > rows:
            with pytest.raises(Infeasible):
                sf.anonymize(table, policy)
        else:
            _check_release(tmp_path / "release", sf.anonymize(table, policy), k)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", RANGED)
def test_trust_02_many_rows_with_nulls_under_other_models(algorithm: str, rules: Rules, tmp_path: Path) -> None:
    """Models that a union of classes may break, too, are met by what is printed."""
    draw = Random(algorithm)
    strict = {"model": "alpha-deassociation", "column": "illness", "alpha": 0.5, "refined": True}
    close = {"model": "t-closeness", "column": "illness", "t": 0.15, "distance": "variational"}
    for rows in (300, 2500):
        for model in (strict, close):
            privacy = [{"model": "k-anonymity", "k": rows // 12}, model]
            policy = _policy(rules, tmp_path, "ranges", algorithm, privacy=privacy)
            table = _table(draw, "ranges", rows)
            _check_release(tmp_path / "release", sf.anonymize(table, policy), rows // 12)


@pytest.mark.parametrize("algorithm", [*LOCAL, *CUTS])
def test_trust_02_a_name_on_two_levels_is_refused_where_levels_are_mixed(
    algorithm: str, rules: Rules, tmp_path: Path
) -> None:
    """A leaf called as another branch would print like that branch: it would be counted apart and read as one."""
    (tmp_path / "job.csv").write_text("a,A,*\nb,A,*\nA,B,*\nc,B,*\nd,B,*\n")
    table = pa.table({"job": ["a", "b", "A", "A", "c", "c", "d", "d"], "town": ["Bern"] * 8})
    roles = {"job": {"role": "quasi", "hierarchy": str(tmp_path / "job.csv")}, "town": "quasi"}
    with pytest.raises(HierarchyError, match=r"on different levels: 'A'; local recoding and tds mix levels"):
        sf.anonymize(table, rules(roles, algorithm={"name": algorithm}))
