"""The identity-reserved models and `linked_k` against their definitions, written out in plain Python.

Every table is checked as one table whose labels make the classes and as two tables with class ids, and the library's
own models must say the same.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

from sfumato.core.classes import EquivalenceClasses
from sfumato.core.linked_persons import linked_persons
from sfumato.errors import InputError
from sfumato.models import MODELS
from sfumato.verifier import Finding, Promise, Verdict, verify_table, verify_tables

SEEDS = range(24)
VALUES = ("7", "12", "", "NULL", None)
K, KL, AB = "identity-k-anonymity", "identity-kl-diversity", "identity-alpha-beta"

Rows = list[dict[str, Any]]
Rule = dict[str, Any]


def random_rows(seed: int) -> Rows:
    """Persons, one of them without a name, whose rows stand in one of a few sets of classes, some rows doubled."""
    draw = random.Random(seed)
    classes = draw.sample([("a'b", "x"), ("*", "x"), ("*", "y"), (None, "y"), ("", "x")], draw.randint(1, 5))
    sets = [classes, *(draw.sample(classes, draw.randint(1, len(classes))) for _ in range(draw.randint(0, 2)))]
    persons = draw.sample(["", "NULL", None, "Ann", "ann", *"bcdefghijkl"], draw.randint(1, 16))
    some = draw.sample(VALUES, draw.randint(1, 5))
    rows = [
        {"who": who, "q": q, "Q": other, "s": draw.choice(some)}
        for who in persons
        for q, other in draw.choices(sets, [4, 1, 1][: len(sets)])[0]
        for _ in range(draw.choice([1, 1, 2, 3]))
    ]
    draw.shuffle(rows)
    return rows


def of_row(row: dict[str, Any]) -> tuple[Any, Any]:
    """The labels that make the class of a row."""
    return row["q"], row["Q"]


def classes_of(rows: Rows) -> list[Rows]:
    """Rows that share their labels."""
    return [[row for row in rows if of_row(row) == labels] for labels in {of_row(row) for row in rows}]


def sharing(rows: Rows) -> list[int]:
    """For each person, how many persons have rows in exactly the same classes."""
    sets = [{of_row(row) for row in rows if row["who"] == who} for who in {row["who"] for row in rows}]
    return [sum(other == one for other in sets) for one in sets]


def largest(rows: Rows, column: str) -> Fraction:
    """The largest share that one entry of a column has of a class."""
    return max(Fraction(max(Counter(row[column] for row in part).values()), len(part)) for part in classes_of(rows))


def fewest(rows: Rows, column: str) -> int:
    """The fewest different entries of a column in a class."""
    return min(len({row[column] for row in part}) for part in classes_of(rows))


def one_table(rows: Rows, rules: Sequence[Rule]) -> Verdict:
    """The verdict on one table whose labels make the classes."""
    table = pa.Table.from_pylist(rows, schema=pa.schema([(name, pa.string()) for name in rows[0]]))
    return verify_table(table, Promise(("q", "Q"), ("s",), "who", tuple(rules)))


def two_tables(rows: Rows, rules: Sequence[Rule]) -> Verdict:
    """The verdict on two tables of the same classes, in which nobody shares their quasi-identifiers."""
    numbers = {labels: 7 + 3 * i for i, labels in enumerate({of_row(row): 0 for row in rows})}
    ids = [numbers[of_row(row)] for row in rows]
    nss = pa.table({"who": pa.array([row["who"] for row in rows]), "q": [str(i) for i in range(len(rows))]})
    shuffled = sorted(zip(ids, rows, strict=True), key=lambda pair: (pair[0], str(pair[1]["s"])))
    ss = pa.table({"id": [number for number, _ in shuffled], "s": pa.array([row["s"] for _, row in shuffled])})
    schema = pa.schema([("who", pa.string()), ("q", pa.string())])
    promise = Promise(("q",), ("s",), "who", tuple(rules))
    values = ss.set_column(1, "s", ss.column("s").cast(pa.string()))
    return verify_tables(nss.cast(schema).append_column("id", pa.array(ids)), [values], promise, "id")


def library(rows: Rows, rule: Rule) -> tuple[bool, dict[str, Any]]:
    """What the library's own model says, of the classes and of the whole table."""
    labels = [str(of_row(row)) for row in rows]
    people = ["without a name" if row["who"] is None else row["who"] for row in rows]
    classes = EquivalenceClasses.of(labels, individuals=people, s=[row["s"] for row in rows])
    keys = {key: value for key, value in rule.items() if key != "model"}
    model = MODELS[rule["model"]](**keys)
    holds = bool(model.holds(classes).all()) and linked_persons(classes).fewest >= rule.get("linked_k", 1)
    return holds, dict(model.achieved(classes))


def agreed(rows: Rows, rules: Sequence[Rule]) -> Iterator[tuple[Rule, Finding]]:
    """Each rule with its finding, once one table, two tables and the library have been found to agree on it."""
    one, two = one_table(rows, rules), two_tables(rows, rules)
    assert (one.problems, two.problems) == ((), ())
    assert (one.rows, one.classes) == (two.rows, two.classes)
    for rule, first, second in zip(rules, one.privacy, two.privacy, strict=True):
        assert (first.satisfied, first.achieved, first.required) == (second.satisfied, second.achieved, second.required)
        satisfied, achieved = library(rows, rule)
        assert first.satisfied is satisfied
        assert dict(first.achieved) == pytest.approx(achieved, rel=1e-9)
        assert bool(first.failures) is bool(second.failures) is not satisfied
        yield rule, first


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_identity_k_anonymity(seed: int) -> None:
    """Definition 2: every class has k different individuals, rows without a name being those of one."""
    rows = random_rows(seed)
    least = fewest(rows, "who")
    for rule, found in agreed(rows, [{"model": K, "k": k} for k in (1, least, least + 1)]):
        assert found.satisfied is (rule["k"] <= least)
        assert found.achieved == {"k": least}


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_identity_kl_diversity(seed: int) -> None:
    """Definition 3: k individuals, and l different values in the rows of the class, even where one person has all."""
    rows = random_rows(seed)
    persons, values = fewest(rows, "who"), fewest(rows, "s")
    bounds = [(k, other) for k in (persons, persons + 1) for other in (values, values + 1)]
    rules = [{"model": KL, "column": "s", "k": k, "l": other} for k, other in bounds]
    findings = [found for _, found in agreed(rows, rules)]
    assert [found.satisfied for found in findings] == [True, False, False, False]
    assert all(found.achieved == {"k": persons, "l": values} for found in findings)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_identity_alpha_beta(seed: int) -> None:
    """Definition 4: no individual has a larger share of a class than alpha, and no value than beta, exactly."""
    rows = random_rows(seed)
    person, value = largest(rows, "who"), largest(rows, "s")
    shares = [0.1, 0.25, 1 / 3, 0.5, 1.0, float(person), float(value)]
    meant = [Fraction(share).limit_denominator(100) for share in shares]
    draw = random.Random(seed)
    cases = [(shares.index(float(person)), shares.index(float(value)))]
    cases += [(draw.randrange(7), draw.randrange(7)) for _ in range(6)]
    rules = [{"model": AB, "column": "s", "alpha": shares[i], "beta": shares[j]} for i, j in cases]
    for (i, j), (_, found) in zip(cases, agreed(rows, rules), strict=True):
        assert found.satisfied is (person <= meant[i] and value <= meant[j])
        assert dict(found.achieved) == pytest.approx({"alpha": float(person), "beta": float(value)})


def linking(rows: Rows, k: int) -> list[Rule]:
    """Each model, satisfied but for what it asks of the classes of a person."""
    return [
        {"model": K, "k": 1, "linked_k": k},
        {"model": KL, "column": "s", "k": fewest(rows, "who"), "l": 1, "linked_k": k},
        {"model": AB, "column": "s", "alpha": 1, "beta": 1.0, "linked_k": k},
    ]


@pytest.mark.slow
def test_linked_k_is_the_fewest_persons_with_the_same_set_of_classes() -> None:
    """Whoever asks for more is told how many persons share theirs with fewer."""
    seen: Counter[tuple[bool, bool]] = Counter()
    for seed in SEEDS:
        rows = random_rows(seed)
        found = sharing(rows)
        rules = [rule for k in {2, min(found) + 1} for rule in linking(rows, k)]
        for rule, each in agreed(rows, rules):
            k = rule["linked_k"]
            below = sum(number < k for number in found)
            who = "1 person stands" if below == 1 else f"{below} persons stand"
            sentence = f"{rule['model']}: {who} in a set of classes that fewer than {k} persons share"
            assert each.satisfied is (min(found) >= k)
            assert each.achieved["linked_k"] == min(found)
            assert each.failures == ((sentence,) if below else ())
            seen[below > 0, fewest(rows, "who") >= k] += 1
    assert min(seen[False, True], seen[True, True], seen[True, False]) > 9
    assert not seen[False, False]  # who shares a person's classes stands in each of them


@pytest.mark.parametrize("verified", [one_table, two_tables])
@pytest.mark.parametrize(("share", "holds"), [(1 / 3, True), (0.3333333333333333, True), (0.333333333, False)])
@pytest.mark.parametrize("key", ["alpha", "beta"])
def test_shares_are_read_from_their_digits(verified: Any, share: float, holds: bool, key: str) -> None:
    """A third is a third, and nine digits of it are a little less, for persons as for values."""
    rows = [{"who": str(i), "q": "x", "Q": "y", "s": str(i)} for i in range(3)]
    [found] = verified(rows, [{"model": AB, "column": "s", "alpha": 0.5, "beta": 0.5, key: share}]).privacy
    assert found.satisfied is holds
    assert found.achieved == {"alpha": pytest.approx(1 / 3), "beta": pytest.approx(1 / 3)}


def test_failures_say_what_is_wrong_and_never_who() -> None:
    """The class and the figure are named; the pseudonym is not."""
    rows = [{"who": who, "q": "x", "Q": "y", "s": "flu"} for who in ("p1", "p1", "p1", "p2")]
    rules: list[Rule] = [
        {"model": K, "k": 3},
        {"model": KL, "column": "s", "k": 2, "l": 2},
        {"model": AB, "column": "s", "alpha": 0.5, "beta": 0.9, "linked_k": 3},
    ]
    assert one_table(rows, rules).complaints == (
        "identity-k-anonymity: the class q = x, Q = y has 2 persons, fewer than 3",
        "identity-kl-diversity: the class q = x, Q = y has 1 different sensitive values, fewer than 2",
        "identity-alpha-beta: the class q = x, Q = y has a person with a share of 0.75 of its rows, above 0.5",
        "identity-alpha-beta: the class q = x, Q = y has a share of 1.0 of flu, above 0.9",
        "identity-alpha-beta: 2 persons stand in a set of classes that fewer than 3 persons share",
    )


def test_beta_is_checked_over_the_join_and_alpha_is_not() -> None:
    """What the classes of the same quasi-identifiers mix are values; whose lines they are stands beside them anyway."""
    nss = pa.table({"who": list("abcd"), "q": ["x"] * 4, "id": [1, 1, 2, 2]})
    ss = pa.table({"id": [1, 1, 2, 2], "s": ["flu", "flu", "flu", "cold"]})
    rule = {"model": AB, "column": "s", "alpha": 0.3, "beta": 0.6}
    verdict = verify_tables(nss, [ss], Promise(("q",), ("s",), "who", (rule,)), "id")
    join = "the quasi-identifiers q = x stand in 2 classes, and the join gives flu a share of 0.75, above 0.6"
    assert verdict.complaints == (
        "identity-alpha-beta: class 1 has a person with a share of 0.5 of its rows, above 0.3",
        "identity-alpha-beta: class 2 has a person with a share of 0.5 of its rows, above 0.3",
        "identity-alpha-beta: class 1 has a share of 1.0 of flu, above 0.6",
        f"identity-alpha-beta: {join}",
    )


def test_keys_without_a_value_ask_for_nothing() -> None:
    """A key that is null in a manifest is one that is not there, whatever model it would belong to."""
    nss = pa.table({"who": list("abcd"), "q": ["x"] * 4, "id": [1, 1, 2, 2]})
    ss = pa.table({"id": [1, 1, 2, 2], "s": ["flu", "cold", "flu", "cold"]})
    nothing = dict.fromkeys(["alpha", "beta", "linked_k"])
    rules = ({**nothing, "model": K, "k": 2}, {**nothing, "model": "distinct-l-diversity", "column": "s", "l": 2})
    verdict = verify_tables(nss, [ss], Promise(("q",), ("s",), "who", rules), "id")
    assert verdict.complaints == ()
    assert [found.achieved for found in verdict.privacy] == [{"k": 2}, {"l": 2}]


@pytest.mark.parametrize("rule", [{"model": K, "k": 1}, {"model": AB, "column": "s", "alpha": 1, "beta": 1}], ids=str)
def test_individuals_need_a_column_that_names_them(rule: Rule) -> None:
    """A table in memory whose promise names no individual column cannot be asked for individuals."""
    table = pa.table({"q": ["x"], "s": ["flu"]})
    with pytest.raises(InputError, match="counts individuals, and the release has no column of the role individual"):
        verify_table(table, Promise(("q",), ("s",), None, (rule,)))


@pytest.mark.parametrize("rule", linking([{"who": "a", "q": "x", "Q": "y", "s": "flu"}], 1), ids=str)
def test_a_table_without_rows_reaches_nothing(rule: Rule) -> None:
    """There is nobody, so figures are 0 and the table is no release."""
    table = pa.table({name: pa.array([], pa.string()) for name in ("who", "q", "Q", "s")})
    verdict = verify_table(table, Promise(("q", "Q"), ("s",), "who", (rule,)))
    assert verdict.complaints == ("the table has no rows",)
    assert set(verdict.privacy[0].achieved.values()) == {0}
