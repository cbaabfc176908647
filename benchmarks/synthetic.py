"""Condensation beside other programs that make synthetic rows: `python -m benchmarks.synthetic [--peers PYTHON]`.

On the six numeric columns of Adult, with the class of salary besides where classifiers are trained: what each program's
rows are worth, and what anonymeter, a judge that is not ours, finds in them. Rows are made of the training part of
Adult; its test part is what classifiers are tested on, and anonymeter's control.

SDV, DataSynthesizer and anonymeter ask for other versions of numpy than sfumato, so they run in a Python of their own
(``python -m venv peers && peers/bin/pip install sdv DataSynthesizer anonymeter``), which --peers names; what is not
installed there is said, and left out. The mixture model is scikit-learn's. Figures are reported, never asserted. With
--out they are kept.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import sfumato as sf
from sfumato.datasets.adult import adult_folder
from sfumato.papers.experiment import describe_run, write_run
from sfumato.papers.markdown_tables import markdown_table, setting_line
from sfumato.reading.drawn_table import read_cell_numbers
from sfumato.risk.anonymeter_attacks import AttackedRows, JudgedAttack, run_anonymeter
from sfumato.utility.likeness import ComparedColumn, measure_likeness

_NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
_CLASS = "salary-class"
_OURS = {"sfumato, k = 10": (10, 0.0, 1), "sfumato, k = 10, 40 neighbours": (10, 0.0, 40)}
"""The k, noise and neighbours that stand beside other programs; 40 were chosen before, by `benchmarks.inference`."""
_SDV = "SDV Gaussian copula"
_SWEEP = ((50, 0.0, 1), (100, 0.0, 1), (200, 0.0, 1), (10, 0.5, 1), (50, 0.5, 1))
"""The k, noise and neighbours by which people are singled out besides; `benchmarks.inference` has more of inference."""
_WORTH_HEAD = (
    *("program", "s", "CPU s", "correlations", "worst KS", "pairs KS"),
    *("tree", "grown tree", "neighbours"),
)
_RISK_HEAD = ("attack", "columns")


def main() -> None:
    """Make rows by every program, measure them, print, and keep where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", help="the Python that has sdv, DataSynthesizer and anonymeter")
    parser.add_argument("--attacks", type=int, default=1000, help="guesses at who can be singled out")
    parser.add_argument("--people", type=int, default=2000, help="people who are linked and inferred about")
    parser.add_argument("--rows", type=int, help="only so many rows of each part")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    folder = adult_folder()
    if folder is None:
        sys.exit("the Adult rows are not here: make adult fetches them")
    train, test = _read(folder, given.rows)
    made = list(_make(train, given.peers))
    worth = [_worth(one, train, test) for one in made]
    judge = Judge(given.peers, given.attacks, min(given.people, len(test)))
    risks = list(_judge(made, train, test, judge))
    sweep = list(_sweep(train, test, judge))
    case = {"worth": worth, "risks": risks, "sweep": sweep, "guesses": judge.attacks, "people": judge.people}
    run = describe_run([case], full=given.rows is None)
    page = _page(run, len(train), len(test))
    print(page)
    if given.out is not None:
        write_run(given.out, "synthetic", run, page)


def _read(folder: Path, rows: int | None) -> tuple[Any, Any]:
    table = pd.read_csv(folder / "adult.csv")
    parts = (table[table["split"] == split][[*_NUMBERS, _CLASS]] for split in ("train", "test"))
    train, test = (part.reset_index(drop=True)[:rows] for part in parts)
    return train, test


# ---------------------------------------------------------------------------------------------------------------------
# Programs


def _make(train: Any, python: str | None) -> Iterator[dict[str, Any]]:
    """Rows by every program: of the numbers alone, and with the class."""
    numbers = train[list(_NUMBERS)]
    for name, setting in _OURS.items():
        made = _timed(name, lambda setting=setting: _release(numbers, *setting).synthetic)
        yield made | {"classed": _release(train, *setting).synthetic}
    yield _timed("sklearn mixture", lambda: _mixture(numbers)) | {"classed": _by_class(train, _mixture)}
    if python is None:
        print("without --peers there is no SDV and no DataSynthesizer: they are left out")
        return
    plain, classed = _run_peers(numbers, python), _run_peers(train, python)
    for name, one in plain.items():
        if "missing" in one or "missing" in classed[name]:
            print(f"{name} is left out: {one.get('missing') or classed[name]['missing']}")
            continue
        yield one | {"name": name, "classed": classed[name]["rows"]}


def _timed(name: str, work: Any) -> dict[str, Any]:
    start, cpu = time.perf_counter(), time.process_time()
    rows = work()
    return {"name": name, "rows": rows, "seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu}


def _release(train: Any, k: int, noise: float = 0.0, neighbours: int = 1) -> Any:
    columns = {name: {"role": "sensitive" if name == _CLASS else "quasi"} for name in train}
    policy = {
        "columns": columns,
        "privacy": [{"model": "k-anonymity", "k": k}],
        "algorithm": {"name": "condensation", "clustering": "mdav", "noise": noise, "neighbours": neighbours},
        "publish": {"form": "synthetic"},
    }
    return sf.anonymize(train, policy)


def _mixture(numbers: Any) -> Any:
    """A mixture of twenty Gaussians over standardized columns, rounded to whole numbers within their range."""
    from sklearn.mixture import GaussianMixture  # noqa: PLC0415 - slow to import

    center, spread = numbers.mean(), numbers.std()
    model = GaussianMixture(20, random_state=1, reg_covar=1e-4).fit(((numbers - center) / spread).to_numpy())
    drawn = pd.DataFrame(model.sample(len(numbers))[0], columns=numbers.columns) * spread + center
    return drawn.round().clip(numbers.min(), numbers.max(), axis=1).astype(np.int64)


def _by_class(train: Any, draw: Any) -> Any:
    """Rows with a class, by a model that knows none: a model for each."""
    parts = [draw(part[list(_NUMBERS)]).assign(**{_CLASS: name}) for name, part in train.groupby(_CLASS)]
    return pd.concat(parts, ignore_index=True)


def _run_peers(rows: Any, python: str, *names: str) -> dict[str, Any]:
    """Let other programs, all or those that are named, draw as many rows as there are."""
    with tempfile.TemporaryDirectory(prefix="sfumato-peers-") as place:
        folder = Path(place)
        rows.astype({name: str for name in rows if name == _CLASS}).to_parquet(folder / "own.parquet", index=False)
        script = Path(__file__).with_name("synthetic_peers.py")
        subprocess.run([python, "-I", str(script), place, *names], check=True, capture_output=True)
        account: dict[str, Any] = json.loads((folder / "peers.json").read_text(encoding="utf-8"))
        for name, one in account.items():
            if "missing" not in one:
                one["rows"] = pd.read_parquet(folder / f"{name}.parquet")
        return account


# ---------------------------------------------------------------------------------------------------------------------
# What rows are worth


def _worth(made: dict[str, Any], train: Any, test: Any) -> dict[str, Any]:
    rows = made["rows"]
    columns = [
        ComparedColumn(name, "number", *(side[name].to_numpy(dtype=np.float64) for side in (train, rows)))
        for name in _NUMBERS
    ]
    like = measure_likeness(columns)
    figures = {
        "program": made["name"],
        "seconds": made["seconds"],
        "cpu": made["cpu"],
        "correlations": like.correlation_of_correlations,
        "worst_ks": like.worst_ks,
        "pairs": like.pair_distances,
    }
    return figures | {"original": _accuracy(train, train, test), "drawn": _accuracy(made["classed"], train, test)}


def _accuracy(rows: Any, train: Any, test: Any) -> dict[str, float]:
    """Classifiers that learn from rows, tested on the test part: shares that are right."""
    from sklearn.neighbors import KNeighborsClassifier  # noqa: PLC0415 - slow to import
    from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415 - same

    names = list(_NUMBERS)
    center, spread = train[names].mean(), train[names].std()
    (points, classes), (others, truth) = (
        (((part[names] - center) / spread).to_numpy(), part[_CLASS].astype(str).to_numpy()) for part in (rows, test)
    )
    grown = [DecisionTreeClassifier(random_state=seed).fit(points, classes).score(others, truth) for seed in range(3)]
    tree = DecisionTreeClassifier(max_depth=8, min_samples_leaf=5, random_state=1)
    return {
        "tree": float(tree.fit(points, classes).score(others, truth)),
        "grown tree": float(np.mean(grown)),
        "neighbours": float(KNeighborsClassifier(5).fit(points, classes).score(others, truth)),
    }


# ---------------------------------------------------------------------------------------------------------------------
# What rows hide


@dataclass(frozen=True)
class Judge:
    """The Python that has anonymeter, if any, how many guesses it makes, and of how many people."""

    python: str | None
    attacks: int
    people: int


def _attack(rows: Any, train: Any, test: Any, judge: Judge, secrets: tuple[str, ...] = _NUMBERS) -> list[JudgedAttack]:
    import pyarrow as pa  # noqa: PLC0415 - beside pandas

    parts = [
        {name: read_cell_numbers(name, pa.array(part[name]), "number") for name in _NUMBERS}
        for part in (train, rows, test)
    ]
    attacked = AttackedRows(parts[0], parts[1], parts[2], secrets)
    return run_anonymeter(attacked, judge.python, judge.attacks, people=judge.people)


def _judge(made: list[dict[str, Any]], train: Any, test: Any, judge: Judge) -> Iterator[Any]:
    if judge.python is None:
        print("without --peers there is no anonymeter: what rows hide is not measured")
        return
    for one in made:
        found = _attack(one["rows"], train, test, judge)
        yield {"program": one["name"], "attacks": [line.as_json() for line in found]}


def _sweep(train: Any, test: Any, judge: Judge) -> Iterator[dict[str, Any]]:
    """Condensation with other k, noise and neighbours: what it does to the figures, and to singling out."""
    numbers = train[list(_NUMBERS)]
    for setting in _SWEEP:
        made = {
            **_timed("", lambda setting=setting: _release(numbers, *setting).synthetic),
            "classed": _release(train, *setting).synthetic,
        }
        line = {**dict(zip(("k", "noise", "neighbours"), setting, strict=True)), **_worth(made, train, test)}
        if judge.python is not None:
            line["attacks"] = [one.as_json() for one in _attack(made["rows"], train, test, judge, secrets=())]
        yield line


# ---------------------------------------------------------------------------------------------------------------------
# Page


def _page(run: dict[str, Any], own: int, control: int) -> str:
    [case] = run["cases"]
    original = case["worth"][0]["original"]
    reached = ", ".join(f"{name} {share:.1%}" for name, share in original.items())
    what = (
        f"Six numeric columns of Adult: rows made of {own:,}, tested on and controlled by {control:,} others. "
        "Correlations is the correlation of correlations (aim: 0.995 or more); worst KS that of the worst column (aim: "
        "0.08 or less); pairs KS that of distances between rows. A tree of up to 8 levels, a fully grown one and the "
        "5 nearest neighbours learn the class of salary from synthetic rows, and are tested on real ones; in brackets "
        f"the points that are lost against original rows ({reached}; aim: 2 or fewer for the tree)."
    )
    table = markdown_table(_WORTH_HEAD, [(one["program"], *_worth_cells(one)) for one in case["worth"]])
    head = ["# Synthetic rows", setting_line(run), what, table]
    if case["risks"]:
        head += ["## What anonymeter finds", _risk_text(case), _risk_table(case["risks"]), _above_text(case)]
    head += [
        "## Other k, and noise",
        (
            "What larger groups, noise and neighbours do to condensation, and to singling out by it. The aim is the "
            "upper end of SDV's interval above."
        ),
        _sweep_table(case),
    ]
    return "\n\n".join(head) + "\n"


def _worth_cells(one: dict[str, Any]) -> tuple[str, ...]:
    learned = (
        f"{one['drawn'][name]:.1%} ({100 * (one['original'][name] - one['drawn'][name]):+.1f})"
        for name in ("tree", "grown tree", "neighbours")
    )
    figures = (f"{one['seconds']:.1f}", f"{one['cpu']:.1f}", f"{one['correlations']:.4f}", f"{one['worst_ks']:.3f}")
    return (*figures, f"{one['pairs']:.3f}", *learned)


def _risk_text(case: dict[str, Any]) -> str:
    return (
        f"{case['guesses']:,} guesses at who can be singled out; linked and inferred about are {case['people']:,} "
        "people of either part, the same for all programs. "
        "The risk with its interval of 95%: how much more often guesses are right of people who had a part in the rows "
        "than of the control, as a share of what was left to gain. A ✗ marks a risk of sfumato above the upper end of "
        "SDV's interval."
    )


def _above_text(case: dict[str, Any]) -> str:
    """Say in words which risks of condensation are above SDV's interval, and which settings lower singling out."""
    aims = _aims(case["risks"])
    if not aims:
        return "Without SDV in the run there is nothing to hold these against."
    said = []
    for one in case["risks"]:
        if one["program"] in _OURS:
            lines = one["attacks"]
            above = [_title(line) for line in lines if _missed(line, aims.get(_key(line)))]
            said.append(
                f"Of {one['program']}, {len(above)} of {len(lines)} risks are above the upper end of SDV's interval: "
                f"{'; '.join(above) or 'none'}."
            )
    tried = [
        (_setting(one), [_title(line) for line in one["attacks"] if _missed(line, aims.get(_key(line)))])
        for one in case["sweep"]
        if "attacks" in one
    ]
    if tried:
        within = [setting for setting, above in tried if not any("columns" in title for title in above)]
        said.append(
            f"Of {len(tried)} other settings, these bring singling out by several columns within it: "
            f"{'; '.join(within) or 'none'}."
        )
    said.append("Of so few people intervals are wide: a risk above one, or within it, may be there by chance.")
    kept = Path(__file__).with_name("results-inference.json")
    if kept.exists():
        said.append(_everybody_text(json.loads(kept.read_text(encoding="utf-8"))["cases"]))
    said.append("SDV's rows lose the dependence that inference lives on: its guesses are right less often of anybody.")
    return " ".join(said)


def _setting(one: dict[str, Any]) -> str:
    return f"k = {one['k']}, noise {one['noise']:g}, {one['neighbours']} neighbours"


def _everybody_text(cases: list[dict[str, Any]]) -> str:
    """Say what the kept page of inference of everybody has of the same k, by its own figures."""
    aims = {name: max(risk, 0.0) + 1.96 * off for name, (risk, off) in cases[0]["risks"].items()}
    said = []
    for setting in ("k = 10, noise 0", "k = 50, noise 0", "k = 10, noise 0, neighbours 40"):
        for one in cases:
            if one["rows"] == setting:
                above = [name for name, (risk, _) in one["risks"].items() if risk > aims[name]]
                said.append(f"with {setting} {len(above)} of {len(aims)} columns ({', '.join(above) or 'none'})")
    return (
        "[RESULTS-inference.md](RESULTS-inference.md) has inference about everybody, by code of ours. There, above "
        f"SDV's risk plus its interval are {'; '.join(said)}."
    )


def _title(line: dict[str, Any]) -> str:
    return f"inference of {line['columns'][0]}" if line["attack"] == "inference" else str(line["attack"])


def _risk_table(risks: list[dict[str, Any]]) -> str:
    programs, lines = [one["program"] for one in risks], []
    aims = _aims(risks)
    for place, first in enumerate(risks[0]["attacks"]):
        cells = []
        for one in risks:
            line = one["attacks"][place]
            mark = _missed(line, aims.get(_key(line))) if one["program"] in _OURS else ""
            cells.append(f"{_risk_cell(line)}{mark}")
        lines.append((first["attack"], first["columns"][0] if first["attack"] == "inference" else "", *cells))
    return markdown_table((*_RISK_HEAD, *programs), lines)


def _sweep_table(case: dict[str, Any]) -> str:
    aims = _aims(case["risks"])
    head, lines = ["k", "noise", "neighbours", *_WORTH_HEAD[3:]], []
    for one in case["sweep"]:
        cells = [str(one["k"]), f"{one['noise']:g}", str(one["neighbours"]), *_worth_cells(one)[2:]]
        cells += [f"{_risk_cell(line)}{_missed(line, aims.get(_key(line)))}" for line in one.get("attacks", ())]
        lines.append(tuple(cells))
    titles = case["sweep"][0].get("attacks", ())
    head += [line["attack"] for line in titles]
    return markdown_table(tuple(head), lines)


def _key(line: dict[str, Any]) -> tuple[str, ...]:
    return (line["attack"], *line["columns"])


def _aims(risks: list[dict[str, Any]]) -> dict[tuple[str, ...], float]:
    """The upper end of SDV's interval of each attack."""
    found = [line for one in risks if one["program"] == _SDV for line in one["attacks"]]
    return {_key(line): line["interval"][1] for line in found if line["interval"] is not None}


def _risk_cell(line: dict[str, Any]) -> str:
    if line["risk"] is None:
        return str(line["failed"])
    low, high = line["interval"]
    return f"{line['risk']:.3f} ({low:.3f}-{high:.3f})"


def _missed(line: dict[str, Any], aim: float | None) -> str:
    return " ✗" if aim is not None and line["risk"] is not None and line["risk"] > aim else ""


if __name__ == "__main__":
    main()
