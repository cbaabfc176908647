"""Answers to random COUNT queries, from the original and from releases, against counting by hand."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.encode import EncodedTable, encode
from sfumato.errors import DataError, Infeasible, InputError
from sfumato.policy import Policy, load
from sfumato.recode import recode
from sfumato.release import Release, anonymize
from sfumato.split import TwoTables, tables_from_recoding
from sfumato.table import from_frame
from sfumato.testing import TableCase, random_case
from sfumato.testing.label_definitions import covers
from sfumato.utility.query_error import (
    CountEstimator,
    CountQuery,
    QuerySample,
    Workload,
    draw_queries,
    estimator_from_labels,
    estimator_from_tables,
    measure_query_errors,
    tables_of_labels,
)

Row = dict[str, str | None]
Wanted = dict[str, set[str | None]]

TABLE_1 = pa.table(
    {
        "job": ["clerk", "manager", "clerk", "factory worker", "factory worker", "technical supporter"],
        "birth": ["1975", "1955", "1955", "1955", "1975", "1940"],
        "postcode": ["4350", "4350", "5432", "5432", "4350", "4350"],
        "illness": ["HIV", "flu", "flu", "fever", "flu", "fever"],
    }
)
TABLE_3 = {
    "job": ["white-collar", "white-collar", "*", "*", "blue-collar", "blue-collar"],
    "birth": ["*", "*", "1955", "1955", "*", "*"],
    "postcode": ["4350", "4350", "5432", "5432", "4350", "4350"],
}
JOBS = """\
clerk,white-collar,*
manager,white-collar,*
factory worker,blue-collar,*
technical supporter,blue-collar,*
"""


def said(query: CountQuery, encoded: EncodedTable, sensitive: str) -> Wanted:
    """A query in words: the wanted values of each asked column."""
    columns = [(encoded.quasi[place].column, wanted) for place, wanted in query.quasi]
    columns.append((encoded.sensitive[sensitive], query.sensitive))
    return {column.name: {column.texts[code] for code in np.flatnonzero(wanted)} for column, wanted in columns}


def true_count(rows: list[Row], wanted: Wanted) -> int:
    """Rows with a wanted value in every asked column."""
    return sum(all(row[name] in values for name, values in wanted.items()) for row in rows)


def by_hand_from_two_tables(wanted: Wanted, nss: list[Row], ss: list[Row], sensitive: str) -> tuple[Fraction, int]:
    """Both estimates, class by class, from the lines of the two tables."""
    asked, expected, paper = {name: wanted[name] for name in wanted if name != sensitive}, Fraction(0), 0
    for one, size in Counter(line["class_id"] for line in nss).items():
        mine = [line for line in nss if line["class_id"] == one]
        matching = true_count(mine, asked)
        values = sum(line["class_id"] == one and line[sensitive] in wanted[sensitive] for line in ss)
        expected += Fraction(matching * values, size)
        paper += values if matching else 0
    return expected, paper


def by_hand_from_labels(wanted: Wanted, table: list[Row], sensitive: str, case: TableCase) -> tuple[Fraction, int]:
    """Both estimates, row by row, from a generalized table: how much of each cell is wanted."""
    expected, paper = Fraction(0), 0
    for row in table:
        chance = Fraction(row[sensitive] in wanted[sensitive])
        for name in wanted.keys() - {sensitive}:
            under = {value for value in case.columns[name] if covers(case, name, row[name], value)}
            chance *= Fraction(len(under & wanted[name]), len(under))
        expected += chance
        paper += chance > 0
    return expected, paper


def drawn_from(case: TableCase, folder: Path, seed: int, **publish: Any) -> tuple[Release, QuerySample] | None:
    """A release of a case in a form, and queries on it; nothing where the case cannot be met."""
    document = case.document | {"publish": publish}
    try:
        release = anonymize(case.arrow(), TableCase(case.columns, case.trees, document).policy(folder))
    except Infeasible:
        return None
    random = Random(seed)
    work = Workload(8, random.randint(1, len(case.quasi)), random.choice([0.02, 0.1, 0.3, 1.0]), seed)
    return release, draw_queries(release.encoded, random.choice(["illness", "income"]), work)


def compared(
    release: Release, drawn: QuerySample, answers: CountEstimator, by_hand: Callable[[Wanted], tuple[Fraction, int]]
) -> int:
    """Assert that all estimates are those that were counted by hand; how many there were."""
    for query, actual in zip(drawn.queries, drawn.actual.tolist(), strict=True):
        wanted = said(query, release.encoded, drawn.sensitive)
        assert actual == true_count(release.source.arrow.to_pylist(), wanted) > 0
        expected, paper = by_hand(wanted)
        assert answers.estimates(query) == pytest.approx((float(expected), paper))
    return len(drawn.queries)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["optimal", "top-down", "progressive"])
def test_two_tables_by_hand(tmp_path: Path, algorithm: str) -> None:
    """Both estimates from two tables are those that plain Python counts in their lines, rows suppressed or not."""
    asked = suppressing = 0
    for seed in range(25):
        case = random_case(Random(f"queries {seed}"), algorithm=algorithm)
        if found := drawn_from(case, tmp_path, seed, form="lossy-join"):
            release, drawn = found
            nss, ss = (release.tables[name].arrow.to_pylist() for name in ("nss", "ss"))
            tables = tables_from_recoding(release.encoded, release.recoding)
            answers = estimator_from_tables(tables, release.encoded, drawn.sensitive)
            asked += compared(
                release, drawn, answers, partial(by_hand_from_two_tables, nss=nss, ss=ss, sensitive=drawn.sensitive)
            )
            suppressing += release.suppressed > 0
    assert asked > 100
    assert suppressing > 2


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["optimal", "top-down", "mondrian"])
def test_labels_by_hand(tmp_path: Path, algorithm: str) -> None:
    """Both estimates from generalized tables: levels, labels of mixed levels, ranges and sets, cell by cell."""
    asked, kinds = 0, Counter[str]()
    for seed in range(40):
        case = random_case(Random(f"labels {seed}"), algorithm=algorithm)
        form = case.document.get("publish", {}).get("ranges")
        if form == "means":
            continue
        if found := drawn_from(case, tmp_path, seed, **({"ranges": form} if form else {})):
            release, drawn = found
            rows = release.tables["table"].arrow.to_pylist()
            tables = tables_of_labels(release.encoded, release.recoding)
            answers = estimator_from_labels(tables, release.encoded, drawn.sensitive, levels=release.levels)
            asked += compared(
                release, drawn, answers, partial(by_hand_from_labels, table=rows, sensitive=drawn.sensitive, case=case)
            )
            kinds.update(
                str(column["hierarchy"]) for column in case.document["columns"].values() if "hierarchy" in column
            )
    assert asked > 100
    assert algorithm != "mondrian" or min(kinds["sets"], kinds["{'ranges': True}"]) > 3


def paper_tables(folder: Path) -> tuple[EncodedTable, Policy]:
    """Table 1 of the paper, with the hierarchy of its Figure 1."""
    (folder / "job.csv").write_text(JOBS, encoding="utf-8")
    quasi = {"role": "quasi", "hierarchy": "suppress"}
    columns = {"job": quasi | {"hierarchy": str(folder / "job.csv")}, "birth": quasi, "postcode": quasi}
    privacy = [{"model": "alpha-k-anonymity", "k": 2, "alpha": 0.5, "column": "illness"}]
    policy = load({"columns": columns | {"illness": {"role": "sensitive"}}, "privacy": privacy})
    return encode(from_frame(TABLE_1, policy), policy), policy


def asking(encoded: EncodedTable, illness: set[str], **wanted: set[str]) -> CountQuery:
    """A query by its values."""
    columns = [attribute.column for attribute in encoded.quasi]
    masks = [
        (place, np.array([text in wanted[column.name] for text in column.texts]))
        for place, column in enumerate(columns)
        if column.name in wanted
    ]
    return CountQuery(tuple(masks), np.array([text in illness for text in encoded.sensitive["illness"].texts]))


def test_paper_example(tmp_path: Path) -> None:
    """On the paper's Tables 5 and 6, and on its Table 3, estimates are those that one counts on paper."""
    encoded, _ = paper_tables(tmp_path)
    owner = np.array([0, 0, 1, 1, 2, 2])
    rows = of_recoding_by(encoded, owner)
    two = estimator_from_tables(rows, encoded, "illness")
    labelled = TwoTables(tuple(_coded(name, TABLE_3[name]) for name in TABLE_3), owner, rows.sizes, rows.bags)
    one = estimator_from_labels(labelled, encoded, "illness")
    clerks = asking(encoded, {"flu"}, job={"clerk"})
    assert two.estimates(clerks) == (1.0, 2.0)  # a clerk of two in classes 1 and 2, each with a flu of two
    assert one.estimates(clerks) == (0.75, 2.0)  # one of two white-collar jobs, one of all four
    born = asking(encoded, {"flu", "HIV"}, birth={"1975"}, postcode={"4350"})
    assert two.estimates(born) == (1.5, 3.0)
    assert one.estimates(born) == pytest.approx((1.0, 3.0))  # one of three years, of three people with such values
    nobody = asking(encoded, {"HIV"}, postcode={"5432"})
    assert two.estimates(nobody) == one.estimates(nobody) == (0.0, 0.0)


def of_recoding_by(encoded: EncodedTable, owner: Any) -> TwoTables:
    """Two tables whose classes are given."""
    from sfumato.recode import Recoding
    from sfumato.split.anatomy import count_classes

    return tables_from_recoding(encoded, Recoding("by hand", {}, None, count_classes(encoded, owner), group=owner))


def _coded(name: str, cells: list[str]) -> Any:
    from sfumato.encode import CodedColumn

    texts = sorted(set(cells))
    return CodedColumn(name, np.array([texts.index(cell) for cell in cells]), tuple(texts), None)


def drawn(policy: Policy, table: Any, **work: Any) -> tuple[EncodedTable, QuerySample]:
    """Queries on a table."""
    encoded = encode(from_frame(table, policy), policy)
    return encoded, draw_queries(encoded, "illness", Workload(**work))


def test_seeds_repeat(tmp_path: Path) -> None:
    """The same seed asks the same queries whatever the order of the rows, another seed others."""
    _, policy = paper_tables(tmp_path)

    def words(table: Any, seed: int) -> list[Wanted]:
        encoded, found = drawn(policy, table, queries=20, dimensions=2, selectivity=0.2, seed=seed)
        return [said(query, encoded, "illness") for query in found.queries]

    turned = TABLE_1.take(pa.array([3, 5, 0, 2, 1, 4]))
    assert words(TABLE_1, 1) == words(turned, 1) != words(TABLE_1, 2)


def test_shape_of_queries(tmp_path: Path) -> None:
    """Queries ask of as many quasi-identifiers as told, of each now and then, and want the right number of values."""
    encoded, found = drawn(paper_tables(tmp_path)[1], TABLE_1, queries=200, dimensions=2, selectivity=0.2)
    asked = Counter(place for query in found.queries for place, _ in query.quasi)
    assert {len(query.quasi) for query in found.queries} == {2}
    assert set(asked) == {0, 1, 2}
    for query in found.queries:
        for place, wanted in query.quasi:
            width = encoded.quasi[place].column.width
            assert wanted.sum() == {4: 3, 3: 2, 2: 2}[width] == Workload(1, 2, 0.2).value_count(width)
        assert query.sensitive.sum() == 2


def test_wanted_values_exactly() -> None:
    """As many values are wanted as |A|·s^(1/(qd+1)) rounded up says, where floats would round past it as well."""
    naive = 0
    for width in range(1, 60):
        for power in range(2, 8):
            for selectivity in ("0.001", "0.008", "0.05", "0.125", "0.00032", "0.3", "1", "1e-12"):
                b = Workload(1, power - 1, float(selectivity)).value_count(width)
                least = Fraction(selectivity) * width**power
                assert b**power >= least > (b - 1) ** power
                naive += b != int(np.ceil(width * float(selectivity) ** (1 / power)))
    assert naive > 0


def diagonal(size: int) -> tuple[Policy, Any]:
    """A table in which each value of one column goes with one value of the other."""
    values = [f"v{i:02}" for i in range(size)]
    columns = {"q": {"role": "quasi", "hierarchy": "suppress"}, "illness": {"role": "sensitive"}}
    policy = load({"columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}]})
    return policy, pa.table({"q": values, "illness": values})


def test_zero_counts_are_drawn_again() -> None:
    """A query that no row matches has no relative error: it is drawn again, and counted."""
    policy, table = diagonal(20)
    encoded, found = drawn(policy, table, queries=50, dimensions=1, selectivity=0.04)
    assert len(found.queries) == 50
    assert found.zero > 0
    rows = table.to_pylist()
    assert found.actual.tolist() == [true_count(rows, said(query, encoded, "illness")) for query in found.queries]
    assert (found.actual > 0).all()


def test_draws_end() -> None:
    """Where nearly no query has a row, there are ten draws a query and fewer queries, and the errors say so."""
    policy, table = diagonal(90)
    encoded, found = drawn(policy, table, queries=100, dimensions=1, selectivity=0.0001)
    assert 0 < len(found.queries) < 100
    assert len(found.queries) + found.zero == 1000
    answers = estimator_from_tables(of_recoding_by(encoded, np.arange(90) // 2), encoded, "illness")
    errors = measure_query_errors(found, answers)
    assert (errors.asked, errors.answered, errors.zero) == (100, len(found.queries), found.zero)
    assert errors.expected.average == pytest.approx(0.5)  # one of two people in the class holds the value


def test_no_query_at_all() -> None:
    """Where no query has a row there is no error to speak of, and none is made up."""
    policy, table = diagonal(99)
    found = next(
        found
        for seed in range(20)
        if not (found := drawn(policy, table, queries=1, dimensions=1, selectivity=0.0001, seed=seed)[1]).queries
    )
    encoded = encode(from_frame(table, policy), policy)
    errors = measure_query_errors(
        found, estimator_from_tables(of_recoding_by(encoded, np.arange(99) // 2), encoded, "illness")
    )
    assert errors.as_json()["expected"] == {"average": None, "median": None, "ninth_decile": None}
    assert (errors.answered, errors.zero) == (0, 10)


def test_errors_are_relative(tmp_path: Path) -> None:
    """Average, median and ninth decile of |actual - estimated| / actual, for each estimate on its own."""
    encoded, found = drawn(paper_tables(tmp_path)[1], TABLE_1, queries=30, dimensions=2, selectivity=0.3)
    answers = estimator_from_tables(of_recoding_by(encoded, np.array([0, 0, 1, 1, 2, 2])), encoded, "illness")
    errors = measure_query_errors(found, answers)
    for place, told in enumerate((errors.expected, errors.paper)):
        each = sorted(
            abs(answers.estimates(query)[place] - actual) / actual
            for query, actual in zip(found.queries, found.actual.tolist(), strict=True)
        )
        assert told.average == pytest.approx(sum(each) / 30)
        assert told.median == pytest.approx((each[14] + each[15]) / 2)
        assert told.ninth_decile == pytest.approx(each[26] + 0.1 * (each[27] - each[26]))


def test_progress_is_told(tmp_path: Path) -> None:
    """Drawing and asking each say what is done, up to the last query."""
    encoded, _ = paper_tables(tmp_path)
    told: list[tuple[int, int]] = []
    found = draw_queries(encoded, "illness", Workload(5, 2, 0.3), progress=lambda *step: told.append(step))
    assert told[-1] == (5, 5)
    told.clear()
    answers = estimator_from_tables(of_recoding_by(encoded, np.arange(6)), encoded, "illness")
    measure_query_errors(found, answers, progress=lambda *step: told.append(step))
    assert told == [(done, 5) for done in range(1, 6)]


def test_whole_table_is_exact(tmp_path: Path) -> None:
    """With a class for each row nothing is lost, and both estimates are the truth."""
    encoded, found = drawn(paper_tables(tmp_path)[1], TABLE_1, queries=30, dimensions=3, selectivity=0.3)
    errors = measure_query_errors(
        found, estimator_from_tables(of_recoding_by(encoded, np.arange(6)), encoded, "illness")
    )
    assert errors.expected.average == errors.paper.average == 0.0


def test_sparse_and_dense_bags(tmp_path: Path) -> None:
    """Counting wanted values by a table of classes and values, or line by line, comes to the same."""
    rng, size = np.random.default_rng(1), 400
    quasi = {"role": "quasi", "hierarchy": "suppress"}
    policy = load(
        {
            "columns": {"q": quasi, "illness": {"role": "sensitive"}},
            "privacy": [{"model": "k-anonymity", "k": 2}],
        }
    )
    for width, dense in ((3, True), (200, False)):
        table = pa.table(
            {"q": rng.integers(0, 9, size).astype(str), "illness": rng.integers(0, width, size).astype(str)}
        )
        encoded, found = drawn(policy, table, queries=20, dimensions=1, selectivity=0.3)
        owner = np.arange(size) // 4
        answers = estimator_from_tables(of_recoding_by(encoded, owner), encoded, "illness")
        assert (answers.bags._dense is not None) is dense
        illness = encoded.sensitive["illness"].codes
        for query in found.queries:
            by_class = np.bincount(owner, weights=query.sensitive[illness], minlength=100)
            assert answers.bags.count_wanted(query.sensitive).tolist() == by_class.tolist()


@pytest.mark.parametrize(
    ("work", "sentence"),
    [
        ({"queries": 0}, "queries must be at least 1, not 0"),
        ({"dimensions": 0}, "dimensions must be at least 1, not 0"),
        ({"seed": -1}, "seed must be at least 0, not -1"),
        ({"selectivity": 0.0}, "selectivity must be above 0 and at most 1, not 0.0"),
        ({"selectivity": 1.5}, "selectivity must be above 0 and at most 1, not 1.5"),
        ({"selectivity": float("nan")}, "selectivity must be above 0 and at most 1, not nan"),
    ],
)
def test_senseless_workloads(work: dict[str, Any], sentence: str) -> None:
    """What a workload cannot be is said in one sentence."""
    with pytest.raises(InputError) as refused:
        Workload(**work)
    assert str(refused.value) == sentence


def test_too_many_dimensions(tmp_path: Path) -> None:
    """A query cannot ask of more quasi-identifiers than there are."""
    with pytest.raises(InputError, match="there are 3 quasi-identifiers, and a query cannot ask of 4; give fewer"):
        drawn(paper_tables(tmp_path)[1], TABLE_1, dimensions=4)


def test_strange_labels(tmp_path: Path) -> None:
    """Labels and values that the original does not lead to are named, in levels, ranges and sets alike."""
    from sfumato.labels.covered_values import find_covered_codes

    table = pa.table({"q": ["1", "2"], "illness": ["a", "b"]})
    for hierarchy, label in (("suppress", "3"), ({"ranges": True}, "3-9"), ({"ranges": True}, "x"), ("sets", "{3, 4}")):
        columns = {"q": {"role": "quasi", "hierarchy": hierarchy}, "illness": {"role": "sensitive"}}
        policy = load({"columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}]})
        encoded = encode(from_frame(table, policy), policy)
        with pytest.raises(
            DataError, match="column 'q' of the release holds labels that the original does not lead to"
        ):
            find_covered_codes(encoded.quasi[0], ["*", label], None)


def test_recode_is_measured_as_lossy_and_as_labels(tmp_path: Path) -> None:
    """The classes of one recoding answer the same in both forms where no label is generalized."""
    encoded, found = drawn(paper_tables(tmp_path)[1], TABLE_1, queries=20, dimensions=2, selectivity=0.3)
    policy = load(
        {
            "columns": {name: {"role": "quasi", "hierarchy": "suppress"} for name in ("job", "birth", "postcode")}
            | {"illness": {"role": "sensitive"}},
            "privacy": [{"model": "k-anonymity", "k": 1}],
            "algorithm": {"name": "optimal"},
        }
    )
    tables = tables_of_labels(encoded, recode(encoded, policy))
    one, two = estimator_from_labels(tables, encoded, "illness"), estimator_from_tables(tables, encoded, "illness")
    assert [one.estimates(query) for query in found.queries] == [two.estimates(query) for query in found.queries]
