"""Two tables against Definition 1 written down naively: the join materialized, every bag counted in plain Python."""

import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

from sfumato.verifier import Finding, InputDistribution, Promise, verify, verify_table, verify_tables
from sfumato.verifier.counts import count_release
from sfumato.verifier.duckdb_tables import register_tables
from sfumato.verifier.join_bound import find_excesses
from sfumato.verifier.release_files import Layout

pytestmark = pytest.mark.slow

SEEDS = range(80)
ROLES = {"q": "quasi", "Q": "quasi", "who": "individual"}
VALUES = ("7", "12", "3", "", None)
ALPHAS = (0.2, 0.25, 0.3, 1 / 3, 0.4, 0.5, 0.6, 2 / 3, 0.75, 1.0)

Lines = list[dict[str, Any]]
Rule = dict[str, Any]
Excess = tuple[tuple[Any, Any], int, Fraction]


def random_tables(seed: int) -> tuple[Lines, Lines]:
    """NSS and SS of few classes: quasi-identifiers in several of them, NULLs everywhere, ids in any order."""
    draw = random.Random(seed)
    numbers = draw.sample(range(1, 99), draw.randint(1, 6))
    some, labels = (
        draw.sample(VALUES, draw.randint(1, 5)),
        draw.sample(["NULL", "*", "", None, "a'b"], draw.randint(1, 5)),
    )
    owner = [number for number in numbers for _ in range(draw.randint(1, 9))]
    nss = [
        {
            "who": draw.choice(["a", "b", "c", "d", None]),
            "q": draw.choice(labels),
            "Q": draw.choice("xy"),
            "class_id": id_,
        }
        for id_ in owner
    ]
    ss = [{"class_id": id_, "s": draw.choice(some), "t": draw.choice(["7", None])} for id_ in owner]
    draw.shuffle(nss)
    draw.shuffle(ss)
    return nss, ss


def table(lines: Lines) -> pa.Table:
    """Texts, and class ids as numbers."""
    kinds = {name: pa.int64() if name == "class_id" else pa.string() for name in lines[0]}
    return pa.Table.from_pylist(lines, schema=pa.schema(list(kinds.items())))


def check(nss: Lines, ss: Lines, rules: Sequence[Rule], promise: Promise | None = None) -> Sequence[Finding]:
    """What the verifier says of each requirement."""
    asked = promise or Promise(("q", "Q"), ("s", "t"), None, ())
    return verify_tables(table(nss), [table(ss)], replace(asked, requirements=tuple(rules)), "class_id").privacy


def sizes(nss: Lines) -> Counter[int]:
    """Lines of each class."""
    return Counter(line["class_id"] for line in nss)


def exact(alpha: float) -> Fraction:
    """The number that a policy means by these digits."""
    return Fraction(alpha).limit_denominator(1000)


def allowed(rule: Rule, size: int) -> Fraction:
    """The largest share in a class of so many lines."""
    most = exact(rule["alpha"]) * size
    return Fraction(math.ceil(most) if rule.get("refined") else most) / size


def bags(nss: Lines, ss: Lines, column: str) -> Iterator[tuple[tuple[Any, Any], set[int], Counter[Any]]]:
    """The join, line by line: for each q its classes, and the bag of values that it is linked to."""
    joined = [(one, other) for one in nss for other in ss if one["class_id"] == other["class_id"]]
    for q in {(line["q"], line["Q"]) for line in nss}:
        mine = [(one["class_id"], other[column]) for one, other in joined if (one["q"], one["Q"]) == q]
        yield q, {number for number, _ in mine}, Counter(value for _, value in mine)


def over_join(nss: Lines, ss: Lines, rule: Rule) -> dict[tuple[Any, Any], tuple[int, Fraction]]:
    """The q in several classes that the join gives a protected value too large a share: its classes, that share."""
    found: dict[tuple[Any, Any], tuple[int, Fraction]] = {}
    for column in rule["columns"]:
        for q, classes, bag in bags(nss, ss, column):
            protected = [n for value, n in bag.items() if "values" not in rule or value in rule["values"]]
            share = Fraction(max(protected, default=0), bag.total())
            most = max(allowed(rule, sizes(nss)[number]) for number in classes)
            if len(classes) > 1 and share > max(most, found.get(q, (0, Fraction(0)))[1]):
                found[q] = len(classes), share
    return found


def in_classes(nss: Lines, ss: Lines, rule: Rule) -> bool:
    """Whether the bag of every class is as it must be."""
    return all(
        Fraction(n, size) <= allowed(rule, size)
        for number, size in sizes(nss).items()
        for column in rule["columns"]
        for value, n in Counter(line[column] for line in ss if line["class_id"] == number).items()
        if "values" not in rule or value in rule["values"]
    )


def rules_of(seed: int) -> list[Rule]:
    """Requirements of all kinds, over one column or both."""
    draw = random.Random(seed)
    rule: Rule = {"model": "alpha-deassociation", "columns": draw.choice([["s"], ["t"], ["s", "t"]])}
    rule |= draw.choice([{}, {"values": ["7", ""]}, {"values": ["nowhere"]}])
    return [{**rule, "alpha": alpha, "refined": draw.random() < 0.5} for alpha in draw.sample(ALPHAS, 2)]


@pytest.mark.parametrize("part", range(4))
def test_alpha_is_that_of_the_materialized_join(part: int) -> None:
    """Hundreds of releases: a requirement holds if and only if it does for every class and over the join."""
    seen: Counter[tuple[bool, bool]] = Counter()
    for seed in SEEDS[part::4]:
        (nss, ss), rules = random_tables(seed), rules_of(seed)
        for rule, found in zip(rules, check(nss, ss, rules), strict=True):
            excess, alone = over_join(nss, ss, rule), in_classes(nss, ss, rule)
            said = [sentence for sentence in found.failures if "the join gives" in sentence]
            assert found.satisfied is (alone and not excess)
            assert len(said) == min(len(excess), 3)
            assert bool(len(excess) > 3) is any("more quasi-identifiers in several" in one for one in found.failures)
            seen[alone, not excess] += 1
    assert min(seen[True, True], seen[False, True], seen[False, False]) > 3
    assert not seen[True, False]  # a mixture is never above its largest part


@pytest.mark.parametrize("at_once", [4, 10**6])
def test_every_excess_over_the_join_is_found_with_its_share(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exactly the combinations of the naive count, with their classes and shares, in however many goes."""
    monkeypatch.setattr("sfumato.verifier.join_bound._AT_ONCE", at_once)
    number = 0
    for seed in range(10):
        nss, ss = random_tables(seed)
        tables = {"nss": table(nss), "ss": table(ss)}
        for rule in rules_of(seed):
            promise = Promise(("q", "Q"), ("s", "t"), None, (rule,))
            layout = Layout({name: tuple(one.column_names) for name, one in tables.items()}, "class_id")
            counts: Any = count_release(register_tables(tables, promise.needed_columns, ["class_id"]), promise, layout)
            found, failing = find_excesses(
                counts.connection, rule, [counts.pairs(one) for one in rule["columns"]], 10**6
            )
            naive = over_join(nss, ss, rule)
            words = [(f"q = {'NULL' if q is None else q}, Q = {Q}", *naive[q, Q]) for q, Q in naive]
            assert failing == len(found)
            assert sorted((counts.describe_quasi(one.q), one.classes, round(one.share, 9)) for one in found) == sorted(
                (name, classes, round(float(share), 9)) for name, classes, share in words
            )
            number += failing
            counts.connection.close()
    assert number > 10


def test_a_share_over_the_join_is_compared_in_whole_numbers() -> None:
    """A third is a third, over classes of different sizes too, and nine digits of it are a little less."""
    owner = [1] * 3 + [2] * 6
    nss = [{"q": "x", "Q": "y", "class_id": number} for number in owner]
    values = ["a", "b", "c", "a", "a", "b", "b", "c", "c"]
    ss = [{"class_id": number, "s": value, "t": "7"} for number, value in zip(owner, values, strict=True)]
    for alpha, holds in ((1 / 3, True), (0.3333333333333333, True), (0.333333333, False)):
        [found] = check(nss, ss, [{"model": "alpha-deassociation", "column": "s", "alpha": alpha}])
        assert found.satisfied is holds
        assert any("the join gives" in sentence for sentence in found.failures) is not holds


def test_the_refined_share_of_a_small_class_is_allowed_over_the_join() -> None:
    """One line of two may hold a value at alpha = 0.1; beside a class of ten that has too many, the half still may."""
    owner = [1] * 2 + [2] * 10
    nss = [{"q": "x", "Q": "y", "class_id": number} for number in owner]
    values = ["a", "b"] + ["a"] * 6 + list("cdef")
    ss = [{"class_id": number, "s": value, "t": "7"} for number, value in zip(owner, values, strict=True)]
    rule = {"model": "alpha-deassociation", "column": "s", "alpha": 0.1, "refined": True}
    [found] = check(nss, ss, [rule])
    assert found.failures[0] == "alpha-deassociation: class 2 has a share of 0.6 of a, above 0.1"
    assert found.failures[1] == (
        f"alpha-deassociation: the quasi-identifiers q = x, Q = y stand in 2 classes, and the join gives a "
        f"a share of {round((2 * 1 + 10 * 6) / (2 * 2 + 10 * 10), 4)}, above 0.5"
    )


EVERY: tuple[Rule, ...] = (
    {"model": "k-anonymity", "k": 3},
    {"model": "alpha-deassociation", "columns": ["s", "t"], "alpha": 0.5, "values": ["7"]},
    {"model": "alpha-k-anonymity", "column": "s", "alpha": 0.6, "k": 2, "refined": True},
    {"model": "distinct-l-diversity", "column": "s", "l": 2},
    {"model": "entropy-l-diversity", "column": "s", "l": 1.5},
    {"model": "recursive-l-diversity", "column": "s", "c": 2, "l": 2},
    *(
        {"model": "t-closeness", "column": "s", "t": 0.4, "distance": distance}
        for distance in ("variational", "kl", "emd-equal", "emd-ordered", "emd-hierarchical", "emd")
    ),
)
OF_PERSONS: tuple[Rule, ...] = (
    {"model": "identity-k-anonymity", "k": 2},
    {"model": "identity-kl-diversity", "column": "s", "k": 2, "l": 2, "linked_k": 1},
    {"model": "identity-alpha-beta", "column": "s", "alpha": 0.6, "beta": 0.5, "linked_k": 2},
)


@pytest.mark.parametrize("persons", [False, True])
@pytest.mark.parametrize("part", range(3))
def test_classes_by_number_are_classes_like_any_other(part: int, persons: bool) -> None:
    """Every model gives what it gives of one table whose only label is the class id."""
    tree = ((0, 0, 0), (1, 0, 0), (2, 1, 0), (3, 1, 0), (4, 2, 0))
    costs = {(a or "", b or ""): 1.0 + i for i, a in enumerate(VALUES) for b in VALUES[:i] if (a or "") != (b or "")}
    seen: Counter[bool] = Counter()
    for seed in range(part, 9, 3):
        nss, ss = random_tables(seed)
        totals = Counter(line["s"] for line in ss)
        needs = {"s": InputDistribution(VALUES, tuple(totals[value] + 1 for value in VALUES), (1, 2, 0, 3, 4), 5, tree)}
        who, rules = ("who", EVERY + OF_PERSONS) if persons else (None, EVERY)
        promise = Promise(("q", "Q"), ("s", "t"), who, rules, needs, {"s": costs})
        merged = [
            {"label": str(one["class_id"]), "who": one["who"], "s": other["s"], "t": other["t"]}
            for one, other in zip(
                *(sorted(lines, key=lambda line: line["class_id"]) for lines in (nss, ss)), strict=True
            )
        ]
        kinds = pa.schema([(name, pa.string()) for name in merged[0]])
        single = verify_table(pa.Table.from_pylist(merged, schema=kinds), replace(promise, quasi=("label",)))
        double = verify_tables(table(nss), [table(ss)], promise, "class_id")
        assert (double.rows, double.classes, double.problems) == (single.rows, single.classes, ())
        for one, two in zip(single.privacy, double.privacy, strict=True):
            assert (one.satisfied, one.achieved) == (two.satisfied, two.achieved)
            seen[one.satisfied] += 1
            alone = [sentence for sentence in two.failures if "quasi-identifiers" not in sentence]
            assert len(alone) == len(one.failures)
    assert min(seen[True], seen[False]) > 9


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_say_what_tables_in_memory_say(split: Any, kind: str) -> None:
    """Written and read again, with NULL, empty text and persons, each finding is the same."""
    rules = [rule for rule in EVERY + OF_PERSONS if rule.get("distance") in {None, "variational"}]
    for seed in range(6):
        nss, ss = random_tables(seed)
        release = split(nss, ss, roles=ROLES, kind=kind, promise=rules, folder=f"release {seed}")
        promise = Promise(("q", "Q"), ("s", "t"), "who", (), complete=True)
        verdict = verify(release.folder)
        assert verdict.problems == ()
        assert list(verdict.privacy) == list(check(nss, ss, rules, promise))
