"""A second release of the same people under a ledger: it must keep its own promise, and the first one over the join."""

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from fuzz.case import FILES, FuzzCase, write_csv_text
from fuzz.definitions import XY, Context, broken_links
from fuzz.oracle import Finding, Oracle
from fuzz.published import PublishedFiles
from sfumato.errors import Infeasible, InputError
from sfumato.ledger import Ledger, make_recorded_release
from sfumato.policy import Policy

_MOST_ROWS = 60
"""The join is written out, so tables are small."""


def judge_ledger(case: FuzzCase, folder: Path) -> list[Finding]:
    """Record the release of a case, make another by a changed policy, and object to what that breaks."""
    linked = any(rule["model"] in XY for rule in case.rules)
    if case.way not in FILES or case.form != "generalized" or linked or len(case.rows) > _MOST_ROWS:
        return []
    books = Ledger.create(folder / "books")
    books.add(folder / "release", name="first")
    second = _change_policy(case)
    try:
        policy = Policy.read(second.document, folder=folder)
        made = make_recorded_release(books, policy, population=None, name="second")
        made.save(folder / "second")
    except (Infeasible, InputError):
        return _judge_books(books, 1)
    files = PublishedFiles(second, folder / "second" / "public")
    first = PublishedFiles(case, folder / "release" / "public")
    oracle = Oracle(second)
    found = [Finding("ledger: requirement broken", text) for text in oracle.broken(files.classes, files.first)]
    asked = earlier_promises(case, second)
    text = write_csv_text(list(first.first[0]), first.first, nulls=second.nulls)
    previous = [{"name": "first", "table": "first.csv"}]
    joined = replace(second.with_document(previous=previous), files={**second.files, "first.csv": text})
    broken = broken_links(files.first, Context(joined, joined.person), asked)
    return [
        *found,
        *(Finding("ledger: an earlier promise is broken", each) for each in broken),
        *_judge_books(books, 2),
    ]


def _judge_books(books: Ledger, releases: int) -> list[Finding]:
    check = books.check()
    sound = check.sound and len(books.entries()) == releases
    return [] if sound else [Finding("ledger: not sound", str(check))]


def _change_policy(case: FuzzCase) -> FuzzCase:
    """Leave a quasi-identifier out or not, lower k, and take an algorithm that looks at joins or does not."""
    random, columns = Random(case.seed), dict(case.document["columns"])
    quasi = case.names("quasi")
    if len(quasi) > 1 and random.random() < 0.7:
        columns[random.choice([name for name in quasi if columns[name].get("weight", 1) != 1] or quasi)] = {
            "role": "identifier"
        }
    if not any(columns[name].get("weight", 1) for name in quasi if columns[name]["role"] == "quasi"):
        columns = dict(case.document["columns"])
    rules = [{**rule, "k": max(1, rule["k"] - 1)} if "k" in rule else rule for rule in case.rules]
    levelled = all(Context(case, None).trees[name] is not None for name in quasi)
    names = ["auto", "auto", "tds", "mondrian", "optimal"] if levelled else ["auto", "mondrian"]
    algorithm = {"name": random.choice(names), "suppression": random.choice([0, 0, 0.2]), "seed": 1}
    document: dict[str, Any] = {**case.document, "columns": columns, "privacy": rules, "algorithm": algorithm}
    publish = {key: value for key, value in case.document.get("publish", {}).items() if key != "ranges"}
    data = {**case.document.get("data", {}), "source": f"table.{case.way}"}
    return replace(case, document={**document, "publish": publish, "data": data})


def earlier_promises(first: FuzzCase, second: FuzzCase) -> list[dict[str, Any]]:
    """What the promises of a release ask of its join with the next one, by the guide to series."""
    x = [*second.names("quasi"), *(f"first.{name}" for name in first.names("quasi"))]
    key = f"first.{first.person}" if first.person else "first.$row"
    asked: list[dict[str, Any]] = []
    for rule in first.rules:
        if "k" in rule:
            asked.append({"model": "xy-anonymity", "x": x, "y": [key], "k": rule["k"]})
        if rule["model"] in {"distinct-l-diversity", "identity-kl-diversity"}:
            asked.append({"model": "xy-anonymity", "x": x, "y": [f"first.{rule['column']}"], "k": rule["l"]})
        if rule["model"] in {"alpha-deassociation", "alpha-k-anonymity"} and not rule.get("refined"):
            for column in rule.get("columns") or [rule["column"]]:
                values = {"values": rule["values"]} if "values" in rule else {}
                asked.append(
                    {"model": "xy-linkability", "x": x, "y": [f"first.{column}"], "k": rule["alpha"], **values}
                )
        if rule["model"] == "identity-alpha-beta":
            asked.append({"model": "xy-linkability", "x": x, "y": [f"first.{rule['column']}"], "k": rule["beta"]})
    return asked
