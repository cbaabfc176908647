"""What is measured and told of a publication is the same of counted lines as of their rows, to rounding."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.encode import EncodedTable, count_lines, counted_columns, encode, why_not_counted
from sfumato.errors import Infeasible, InputError
from sfumato.models import MODELS
from sfumato.policy import Policy
from sfumato.publish.manifest import describe_columns, draft_manifest
from sfumato.publish.publication import Publication
from sfumato.publish.written_table import WrittenTable
from sfumato.recode.saved_recoding import SavedRecoding
from sfumato.release.audit import audit_findings, draft_audit
from sfumato.release.pipeline import publish
from sfumato.release.verification import verify_publication
from sfumato.release.warnings import release_warnings
from sfumato.report.assessment import Assessment
from sfumato.report.private_report import private_report
from sfumato.report.public_summary import public_summary
from sfumato.table import from_frame
from sfumato.testing import TableCase, random_case
from sfumato.testing.join_cases import random_join_case
from sfumato.testing.two_table_contract import split_case

from .test_counted_lines import as_rows, repeated_case, without_plain

NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:e-?\d+)?")


def near(found: Any, expected: Any) -> bool:
    """Whether two JSON values are alike but for rounding."""
    if isinstance(expected, Mapping):
        return found.keys() == expected.keys() and all(near(found[key], expected[key]) for key in expected)
    if isinstance(expected, list | tuple):
        return len(found) == len(expected) and all(near(a, b) for a, b in zip(found, expected, strict=True))
    if isinstance(expected, float) and isinstance(found, float):
        return bool(np.isclose(found, expected, rtol=1e-9, atol=1e-12))
    return bool(found == expected)


def publish_both(case: TableCase, folder: Path) -> tuple[Publication, Publication] | None:
    """Publish the rows of a case, in the order of their lines, and its lines; nothing where that cannot be."""
    rules = case.policy(folder)
    encoded = encode(from_frame(case.arrow(), rules), rules)
    lines = count_lines(encoded, [name for name in counted_columns(rules) if name in encoded.plain])
    try:
        return publish_encoded(case, rules, as_rows(lines)), publish_encoded(case, rules, lines)
    except Infeasible:
        return None


def publish_encoded(case: TableCase, rules: Policy, encoded: EncodedTable) -> Publication:
    """Publish a table that is encoded already."""
    return publish(case.arrow(), rules, encoded=encoded)


def accounts(publication: Publication) -> dict[str, Any]:
    """All that is measured of a publication, and told of it."""
    assessment, encoded = Assessment(publication), publication.encoded
    figures = assessment.figures
    columns = {name: describe_columns(table, publication) for name, table in publication.tables.items()}
    told: dict[str, Any] = {
        "rows": publication.rows,
        "input": publication.input_rows,
        "suppressed": publication.suppressed,
        "columns": columns,
        "audit": draft_audit(publication, assessment.utility),
        "attacks": assessment.attacks.as_json(),
        "bins": [
            (one.name, one.bins.names, one.rows_before.tolist(), one.rows_after.tolist()) for one in figures.columns
        ],
        "association": figures.association and (figures.association.before, figures.association.after),
        "errors": {name: errors.as_json() for name, errors in figures.query_errors.items()},
        "warnings": release_warnings(publication, assessment.persons, assessment.masking),
        "risk": assessment.risk.as_json(),
        "ties": {name: (tie.kept, tie.chance) for name, tie in assessment.ties.items()},
        "persons": assessment.persons and assessment.persons.as_json(),
        "frequencies": [attribute.frequencies.tolist() for attribute in encoded.quasi],
    }
    told["audit"].pop("written")
    if not publication.split:
        saved = SavedRecoding.from_recoding(encoded, publication.recoding, publication.policy)
        told["saved"] = saved.as_text().decode()
    return told


def check_accounts(case: TableCase, folder: Path) -> bool:
    """Hold the accounts of lines against those of rows; whether there was anything to publish."""
    both = publish_both(case, folder)
    if both is None:
        return False
    rows, lines = both
    expected, found = accounts(rows), accounts(lines)
    assert {name for name in expected if not near(found[name], expected[name])} == set()
    verdict = verify_publication(rows)
    pages = []
    for publication, told in ((rows, expected), (lines, found)):
        assessment = Assessment(publication)
        audit_findings(assessment, verdict, assessment.attacks, {})
        pages.append(private_report(assessment, verdict, assessment.attacks, told["warnings"]))
        pages.append(summary_of(publication, folder))
    texts = [NUMBER.split(page) for page in pages]
    assert texts[:2] == texts[2:]
    return True


def summary_of(publication: Publication, folder: Path) -> str:
    """The page for readers, of a manifest whose files were never written."""
    files = {}
    for name in publication.tables:
        path = folder / f"{name}.csv"
        path.touch()
        files[name] = WrittenTable(path, "")
    account = draft_manifest(publication, files) | {"privacy": []}
    return public_summary(
        account, dict(zip(account["files"], (t.columns for t in publication.tables.values()), strict=True))
    )


@pytest.mark.parametrize("algorithm", ["auto", "optimal", "top-down", "mondrian", "microaggregation", "tds"])
def test_accounts_are_the_same(algorithm: str, tmp_path: Path) -> None:
    """Utility, risk, attacks, report figures, data dictionary, audit, warnings and report, for every model."""
    published = 0
    for place, model in enumerate(MODELS):
        random = Random(100 * place)
        case = without_plain(random_case(random, model, algorithm))
        published += check_accounts(repeated_case(case, random.choice([1, 3])), tmp_path)
    assert published > 3


@pytest.mark.parametrize("form", ["lossy-join", "anatomy"])
def test_accounts_of_two_tables_are_the_same(form: str, tmp_path: Path) -> None:
    """The same of two tables, with what ties rows to their sensitive values and the learner that guesses them."""
    published = 0
    for seed in range(6):
        case = split_case(without_plain(random_case(Random(seed), "distinct-l-diversity", "top-down")), form)
        case = replace(case, document=case.document | {"privacy": case.document["privacy"][:1]})
        published += check_accounts(repeated_case(case, 2), tmp_path)
    assert published > 1


def weighted_case(seed: int, *, persons: bool) -> TableCase:
    """A case with a column of sampling weights, some of them rare."""
    random = Random(seed)
    case = without_plain(random_case(random, "identity-k-anonymity" if persons else "k-anonymity", "top-down"))
    weights = random.choices(["1.5", "12", "13", "40.25"], [6, 6, 6, 1], k=len(case.rows))
    roles = {**case.document["columns"], "weight": {"role": "weight", "round": random.choice([0.25, 10])}}
    columns: Any = {**case.columns, "weight": weights}
    document = case.document | {"columns": roles, "privacy": [{"model": "k-anonymity", "k": 2}]}
    return replace(case, columns=columns, document=document)


def test_lines_that_are_published_alike_are_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of very many lines attacks look at those that differ in print, and find the same."""
    monkeypatch.setattr("sfumato.reading.release_view.LARGE", 0)
    published = 0
    for seed in range(8):
        model = "identity-k-anonymity" if seed % 2 else "distinct-l-diversity"
        case = without_plain(random_case(Random(seed), model, ["optimal", "top-down"][seed // 4]))
        published += check_accounts(repeated_case(case, 3), tmp_path)
    assert published > 2


@pytest.mark.parametrize("persons", [False, True])
def test_sampling_weights_and_persons(tmp_path: Path, *, persons: bool) -> None:
    """A weight is that of each row of its line, and persons are counted once, however many rows they have."""
    published = 0
    for seed in range(4):
        published += check_accounts(repeated_case(weighted_case(seed, persons=persons), 3), tmp_path)
    assert published > 2


def test_rows_are_not_at_hand(tmp_path: Path) -> None:
    """A published table of lines knows its types, and that of columns that were never held; but no rows."""
    case = repeated_case(random_case(Random(1), "k-anonymity", "optimal"), 3)
    rules = case.policy(tmp_path)
    encoded = encode(from_frame(case.arrow(), rules), rules)
    rows, lines = (publish_encoded(case, rules, one) for one in (encoded, count_lines(encoded)))
    assert lines.tables["table"].types == rows.tables["table"].types
    assert describe_columns(lines.tables["table"], lines) == describe_columns(rows.tables["table"], rows)
    assert lines.rows == rows.rows
    with pytest.raises(InputError, match="never held in memory"):
        _ = lines.tables["table"].arrow
    assessment = Assessment(lines)
    page = private_report(assessment, verify_publication(rows), assessment.attacks, [])
    assert "were not held in memory, and are not shown" in page
    (note,) = assessment.attacks.known.notes
    assert "visits" in note


def test_what_needs_rows_is_refused() -> None:
    """Masked columns and drawn rows are refused in a sentence; all else is not."""
    quasi = {"role": "quasi", "hierarchy": {"intervals": [10]}}
    rules: Any = {"columns": {"age": quasi}, "privacy": [{"model": "k-anonymity", "k": 2}]}
    assert why_not_counted(Policy.read(rules)) is None
    masked = {"columns": {"age": quasi | {"round": 5}}}
    assert "age" in str(why_not_counted(Policy.read(rules | masked)))
    drawn = {"algorithm": {"name": "condensation"}, "publish": {"form": "synthetic"}}
    assert "synthetic" in str(why_not_counted(Policy.read(rules | drawn)))


def test_linked_releases_are_the_same(tmp_path: Path) -> None:
    """Joins with earlier releases count the rows of lines, whatever columns records are matched by."""
    released = 0
    for seed in range(24):
        case = random_join_case(seed)
        folder = tmp_path / str(seed)
        folder.mkdir()
        rules = case.policy(folder)
        table = pa.concat_tables([case.arrow()] * 3)
        encoded = encode(from_frame(table, rules), rules)
        lines = count_lines(encoded, [name for name in counted_columns(rules) if name in encoded.plain])
        try:
            rows = publish(table, rules, encoded=as_rows(lines))
        except Infeasible:
            with pytest.raises(Infeasible):
                publish(table, rules, encoded=lines)
            continue
        found = publish(table, rules, encoded=lines)
        released += 1
        assert found.recoding.unmatched == rows.recoding.unmatched
        assert found.suppressed == rows.suppressed
        expected, told = accounts(rows), accounts(found)
        assert {name for name in expected if not near(told[name], expected[name])} == set()
    assert released > 5
