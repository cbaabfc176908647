"""Counted lines: whatever is decided and measured of them is what is decided and measured of their rows."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.encode import DividedLines, EncodedTable, assemble, count_lines, counted_columns, encode
from sfumato.errors import Infeasible
from sfumato.models import MODELS
from sfumato.policy import Policy
from sfumato.policy.options import RECODERS
from sfumato.recode import Recoding, recode
from sfumato.split import anatomy, lossy_join
from sfumato.table import from_frame
from sfumato.testing import TableCase, random_case
from sfumato.testing.two_table_contract import split_case

K_TWO = {"model": "k-anonymity", "k": 2}


def without_plain(case: TableCase) -> TableCase:
    """The same case without its plain column, which no two rows share."""
    columns = {name: cells for name, cells in case.columns.items() if name != "visits"}
    roles: Any = {name: case.document["columns"][name] for name in columns}
    return replace(case, columns=columns, document=case.document | {"columns": roles})


def encoded_case(case: TableCase, folder: Path) -> tuple[EncodedTable, Policy]:
    """The rows of a case, encoded; without its plain column."""
    case = without_plain(case)
    rules = case.policy(folder)
    return encode(from_frame(case.arrow(), rules), rules), rules


def repeated_case(case: TableCase, times: int) -> TableCase:
    """The same case with every row so many times: each line stands for many rows, and persons have many rows."""
    return replace(case, columns={name: cells * times for name, cells in case.columns.items()})


def search(encoded: EncodedTable, rules: Policy) -> tuple[EncodedTable, Recoding] | None:
    """The recoding of a table, with the table that it is of; nothing where there is none."""
    try:
        recoding = anatomy(encoded, rules) if rules.publish.form == "anatomy" else recode(encoded, rules)
    except Infeasible:
        return None
    if rules.publish.form == "lossy-join":
        recoding = lossy_join(encoded, recoding)
    return encoded.divide(recoding.divided), recoding


def published_rows(encoded: EncodedTable, recoding: Recoding) -> Counter[tuple[Any, ...]]:
    """How often each row is published: labels, sensitive values, person, class."""
    columns = [np.array(one.texts, dtype=object)[one.codes] for one in recoding.labels.values()]
    columns += [np.array(one.texts, dtype=object)[one.codes] for one in encoded.sensitive.values()]
    if encoded.individual is not None:
        columns.append(np.array(encoded.individual.texts, dtype=object)[encoded.individual.codes])
    if recoding.group is not None:
        columns.append(recoding.group)
    kept = np.ones(encoded.lines, dtype=bool) if recoding.published is None else recoding.published
    counts = np.ones(encoded.lines, dtype=int) if encoded.counts is None else encoded.counts
    rows: Counter[tuple[Any, ...]] = Counter()
    for cells, count, keep in zip(zip(*columns, strict=True), counts.tolist(), kept.tolist(), strict=True):
        if keep:
            rows[cells] += count
    return rows


def as_rows(lines: EncodedTable) -> EncodedTable:
    """The rows of counted lines, line after line."""
    assert lines.counts is not None
    line = np.repeat(np.arange(lines.lines), lines.counts)
    rows = lines.divide(DividedLines(line, np.ones_like(line), line))
    return replace(rows, quasi=tuple(replace(one, counts=None) for one in rows.quasi), counts=None)


def check_same(case: TableCase, folder: Path) -> int:
    """Rows and lines come to the same recoding; returns in how many entries more the lines were divided."""
    encoded, rules = encoded_case(case, folder)
    lines = count_lines(encoded, [name for name in counted_columns(rules) if name in encoded.plain])
    if rules.publish.form == "anatomy":  # which row goes where is random, and the same only if rows stand alike
        encoded = as_rows(lines)
    assert lines.counts is not None
    assert lines.rows == encoded.rows == lines.counts.sum()
    rows_found, found = search(encoded, rules), search(lines, rules)
    if rows_found is None or found is None:
        assert rows_found is found is None
        return 0
    (table, expected), (divided, recoding) = rows_found, found
    assert published_rows(divided, recoding) == published_rows(table, expected)
    assert recoding.levels == expected.levels
    assert recoding.suppressed == expected.suppressed
    assert np.array_equal(recoding.classes.sizes, expected.classes.sizes)
    for name in expected.labels:
        assert recoding.labels[name].texts == expected.labels[name].texts
        assert np.array_equal(recoding.label_rows[name], expected.label_rows[name])
    assert divided.counts is not None
    assert divided.counts.sum() == table.rows
    return divided.lines - lines.lines


@pytest.mark.parametrize("algorithm", RECODERS)
def test_recodings_are_the_same(algorithm: str, tmp_path: Path) -> None:
    """Every algorithm with every model recodes lines as it recodes rows, and local ones divide lines."""
    for place, model in enumerate(MODELS):
        random = Random(100 * place)
        case = random_case(random, model, algorithm)
        check_same(repeated_case(case, random.choice([1, 3, 7])), tmp_path)


def test_lines_are_divided(tmp_path: Path) -> None:
    """Rows of one line go different ways where rows of one tuple do."""
    divided = 0
    for seed in range(12):
        case = random_case(Random(seed), "identity-k-anonymity", "top-down").with_algorithm(keep_together=False)
        divided += check_same(repeated_case(case, 3), tmp_path) > 0
    assert divided > 1


@pytest.mark.parametrize("form", ["lossy-join", "anatomy"])
def test_two_tables_are_the_same(form: str, tmp_path: Path) -> None:
    """Both ways of publishing two tables work on lines as on rows that stand in the order of their lines."""
    divided = 0
    for seed in range(12):
        case = split_case(random_case(Random(seed), "distinct-l-diversity", "top-down"), form)
        case = replace(case, document=case.document | {"privacy": case.document["privacy"][:1]})
        divided += check_same(repeated_case(case, 1 if form == "anatomy" else 3), tmp_path) > 0
    assert divided > 1


def test_lines_are_assembled_in_any_order(tmp_path: Path) -> None:
    """Coded lines with counts, however they are ordered, come to what the rows do: tuples, domains, persons."""
    for seed in range(12):
        encoded, rules = encoded_case(random_case(Random(seed), "identity-k-anonymity"), tmp_path)
        lines = count_lines(encoded)
        order = np.random.default_rng(seed).permutation(lines.lines)
        named = {one.name: one.column for one in lines.quasi} | dict(lines.sensitive)
        person = lines.individual
        assert person is not None
        assert lines.counts is not None
        by_name = sorted(range(person.width), key=lambda code: person.texts[code] or "")
        place = np.empty(person.width, dtype=np.int64)
        place[by_name] = np.arange(person.width)
        named[person.name] = replace(
            person,
            codes=place[person.codes],
            texts=tuple(person.texts[code] for code in by_name),
            values=person.values.take(by_name),
        )
        coded = {name: replace(column, codes=column.codes[order]) for name, column in named.items()}
        made = assemble(encoded.rows, coded, {}, lines.counts[order], rules, list(coded))
        assert made.individual is not None
        assert made.individual.texts == person.texts
        assert np.array_equal(made.tuples.packed.keys, encoded.tuples.packed.keys)
        assert np.array_equal(made.tuples.counts, encoded.tuples.counts)
        for name, domain in encoded.domains.items():
            assert np.array_equal(made.domains[name].totals, domain.totals)
        for mine, its in zip(made.quasi, encoded.quasi, strict=True):
            assert np.array_equal(mine.frequencies, its.frequencies)


def test_tuples_share_the_lines(tmp_path: Path) -> None:
    """Where lines are the tuples, nothing is held twice."""
    case = random_case(Random(1), "k-anonymity")
    columns = {name: cells for name, cells in case.columns.items() if name.startswith("q")}
    roles: Any = {name: case.document["columns"][name] for name in columns}
    case = replace(case, columns=columns, document=case.document | {"columns": roles, "privacy": [K_TWO]})
    lines = count_lines(encoded_case(case, tmp_path)[0])
    assert lines.tuples.counts is lines.counts
    assert lines.tuples.quasi[0] is lines.quasi[0].column.codes


def people_of(encoded: EncodedTable) -> Counter[tuple[int, int, float]]:
    """The rows of each combination of two quasi-identifiers and a weight."""
    assert encoded.weights is not None
    assert encoded.counts is not None
    first, second = (one.column.codes.tolist() for one in encoded.quasi)
    people: Counter[tuple[int, int, float]] = Counter()
    for *key, rows in zip(first, second, encoded.weights.tolist(), encoded.counts.tolist(), strict=True):
        people[tuple(key)] += rows
    return people


def test_weights_and_class_columns(tmp_path: Path) -> None:
    """Sampling weights are those of single rows, and a plain column that a search looks at is counted by."""
    del tmp_path
    random = Random(3)
    rows = [(random.choice("ab"), random.choice("xyz"), random.choice(["1.5", "12", "13"])) for _ in range(60)]
    q, r, w = map(list, zip(*rows, strict=True))
    table = pa.table({"q": q, "r": r, "w": w, "p": ["u", "v"] * 30})
    quasi = {"role": "quasi", "hierarchy": "suppress"}
    columns = {"q": quasi, "r": quasi, "w": {"role": "weight", "round": 10}, "p": {"role": "plain"}}
    search = {"name": "tds", "class": "p"}
    rules = Policy.read({"columns": columns, "privacy": [K_TWO], "algorithm": search})
    assert counted_columns(rules) == ["q", "r", "w", "p"]
    encoded = encode(from_frame(table, rules), rules)
    lines = count_lines(encoded, ["w", "p"])
    assert lines.lines < 60
    assert encoded.weights is not None
    assert lines.line_weights is not None
    assert lines.line_weights.sum() == encoded.weights.sum()
    weights = as_rows(lines).weights
    assert weights is not None
    assert Counter(weights.tolist()) == Counter(encoded.weights.tolist())
    assert recode(lines, rules).label_rows.keys() == recode(encoded, rules).label_rows.keys()
    for name, rows_of in recode(encoded, rules).label_rows.items():
        assert np.array_equal(rows_of, recode(lines, rules).label_rows[name])
    exact = {**rules.document, "columns": {**columns, "w": {"role": "weight"}}}
    raw = count_lines(encode(from_frame(table, rules), Policy.read(exact)), ["w", "p"])
    coded = {one.name: one.column for one in raw.quasi} | {name: raw.coded(name) for name in ("w", "p")}
    assert raw.counts is not None
    made = assemble(60, coded, {}, raw.counts, rules, list(coded))
    assert people_of(made) == people_of(lines)
    assert set(made.coded("w").texts) == {"10"}


def test_whoever_has_the_rows_deals_them_out(tmp_path: Path) -> None:
    """Rows of a line, sorted by their plain cells, get the entries as they are dealt: the table is that of rows."""
    divided = 0
    for seed in range(40):
        case = repeated_case(random_case(Random(seed), "k-anonymity", ["top-down", "progressive"][seed % 2]), 3)
        rules = case.policy(tmp_path)
        encoded = encode(from_frame(case.arrow(), rules), rules)
        lines = count_lines(encoded)
        by_row, by_line = search(encoded, rules), search(lines, rules)
        if by_row is None or by_line is None:
            continue
        (table, expected), (_, recoding) = by_row, by_line
        columns = [*(one.column.codes for one in table.quasi), *(one.codes for one in table.sensitive.values())]
        if table.individual is not None:
            columns.append(table.individual.codes)
        # each row finds its line; the rows of a line are sorted by what was not counted
        its = [*(one.column.codes for one in lines.quasi), *(one.codes for one in lines.sensitive.values())]
        if lines.individual is not None:
            its.append(lines.individual.codes)
        line_at = {cells: line for line, cells in enumerate(zip(*(each.tolist() for each in its), strict=True))}
        line_of = [line_at[cells] for cells in zip(*(each.tolist() for each in columns), strict=True)]
        visits = case.columns["visits"]
        rows = sorted(range(table.rows), key=lambda row: (line_of[row], visits[row]))
        parts = recoding.divided
        entry_of_line: dict[int, list[int]] = {}
        for entry, line in enumerate(range(lines.lines) if parts is None else parts.line.tolist()):
            entry_of_line.setdefault(line, []).append(entry)
        dealt = iter([] if parts is None else parts.dealt.tolist())
        published: Counter[Any] = Counter()
        for row in rows:
            some = entry_of_line[line_of[row]]
            entry = some[0] if len(some) == 1 else next(dealt)
            if recoding.published is None or recoding.published[entry]:
                published[visits[row], *(one.texts[one.codes[entry]] for one in recoding.labels.values())] += 1
        assert next(dealt, None) is None
        by_rows: Counter[Any] = Counter()
        for row in range(table.rows):
            if expected.published is None or expected.published[row]:
                by_rows[visits[row], *(one.texts[one.codes[row]] for one in expected.labels.values())] += 1
        assert published == by_rows
        divided += parts is not None
    assert divided > 1
