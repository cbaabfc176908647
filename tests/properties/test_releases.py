"""On any table: what is published satisfies the model by its plain definition, or nothing is published."""

from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato import Infeasible, anonymize
from sfumato.models import MODELS
from sfumato.policy.options import FULL_DOMAIN, LOCAL, RECODERS
from sfumato.testing import TableCase, check_recoder, random_case

pytestmark = pytest.mark.slow

EACH = 2 * len(RECODERS)
PARTS = 3  # and `make fuzz` for hours


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("model", MODELS)
def test_thousands_of_tables(model: str, part: int) -> None:
    """Verified, no row lost or invented, every cell an ancestor of the one it came from, never empty; or Infeasible."""
    random = Random(f"{model} {part}")
    cases = [random_case(random, model, RECODERS[i % len(RECODERS)]) for i in range(EACH)]
    seen = check_recoder("any", model, cases=cases)
    assert seen.total() == EACH
    assert seen["infeasible"] < EACH


CASES = st.builds(
    random_case, st.randoms(use_true_random=False), st.sampled_from([*MODELS, None]), st.sampled_from(RECODERS)
)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(case=CASES)
def test_tables_that_want_it_to_fail(case: TableCase) -> None:
    """The same for tables that Hypothesis chooses and makes small, whatever the algorithm."""
    assert check_recoder("any", cases=[case]).total() == 1


def policy(quasi: int, k: int = 2, **algorithm: Any) -> dict[str, Any]:
    """So many quasi-identifiers that can only be suppressed as a whole."""
    columns: dict[str, Any] = {f"q{i}": {"role": "quasi", "hierarchy": "suppress"} for i in range(quasi)}
    return {"columns": columns, "privacy": [{"model": "k-anonymity", "k": k}], "algorithm": algorithm}


@pytest.mark.parametrize("quasi", [1, 2, 5])
@pytest.mark.parametrize("algorithm", FULL_DOMAIN)
def test_a_row_of_nulls_is_a_class_of_its_own(quasi: int, algorithm: str) -> None:
    """A unique row of NULLs has k = 1: it is suppressed where that is allowed, and forces generalization where not."""
    rows: list[str | None] = ["x", "x", "x", None]
    table = pa.table({f"q{i}": pa.array(rows) for i in range(quasi)})
    whole = anonymize(table, policy(quasi, k=1, name=algorithm))
    assert whole.privacy[0]["achieved"] == {"k": 1}
    assert whole.table.to_pylist().count(dict.fromkeys(table.column_names)) == 1
    without = anonymize(table, policy(quasi, name=algorithm, suppression=0.25))
    assert (without.suppressed, without.rows) == (1, 3)
    assert None not in without.table.column("q0").to_pylist()
    general = anonymize(table, policy(quasi, name=algorithm))
    assert set(general.table.column("q0").to_pylist()) == {"*"}


@pytest.mark.parametrize("quasi", [1, 2, 5])
@pytest.mark.parametrize("algorithm", [*LOCAL, "auto"])
def test_a_row_of_nulls_is_never_alone(quasi: int, algorithm: str) -> None:
    """Locally, too, a unique row of NULLs has k = 1: at k = 2 it shares a star, or a mode, or is suppressed."""
    rows: list[str | None] = ["x", "x", "x", None]
    table = pa.table({f"q{i}": pa.array(rows) for i in range(quasi)})
    whole = anonymize(table, policy(quasi, k=1, name=algorithm))
    assert whole.privacy[0]["achieved"] == {"k": 1}
    assert whole.table.to_pylist().count(dict.fromkeys(table.column_names)) == 1
    for suppression in (0, 0.25):
        release = anonymize(table, policy(quasi, name=algorithm, suppression=suppression))
        cells = release.table.column("q0").to_pylist()
        assert None not in cells
        if algorithm == "microaggregation":  # the mode of the four
            assert cells == ["x"] * 4
            continue
        assert release.suppressed == 1 or "*" in cells


def test_one_null_in_one_of_many_columns() -> None:
    """One NULL makes a row unique although all its other cells are common."""
    table = pa.table({"q0": ["x"] * 6, "q1": ["y"] * 6, "q2": ["z", "z", "z", "z", "z", None]})
    release = anonymize(table, policy(3, name="optimal"))
    assert release.levels == {"q0": 0, "q1": 0, "q2": 1}
    assert anonymize(table, policy(3, k=1)).risk.as_json()["highest"] == 1


def test_two_rows_of_nulls_are_a_class_of_two() -> None:
    """NULL equals NULL: two such rows hide one another."""
    table = pa.table({"q0": ["x", "x", None, None], "q1": ["y", "y", None, None]})
    assert anonymize(table, policy(2, name="optimal")).levels == {"q0": 0, "q1": 0}


@pytest.mark.parametrize(
    "kind",
    [
        pa.int64(),
        pa.float64(),
        pa.string(),
        pa.dictionary(pa.int32(), pa.string()),
        pa.dictionary(pa.int8(), pa.string()),
    ],
)
def test_columns_of_other_types(kind: Any) -> None:
    """Numbers and dictionaries are labelled by their text; what is not generalized keeps its type."""
    cells = pa.array(["1", "1", "2", "2", "3"]).cast(pa.string() if pa.types.is_dictionary(kind) else kind)
    column = cells.dictionary_encode().cast(kind) if pa.types.is_dictionary(kind) else cells
    table = pa.table({"q0": column, "q1": column})
    release = anonymize(table, policy(2, name="optimal", suppression=0.2))
    assert release.levels == {"q0": 0, "q1": 0}
    assert release.table.schema.types == table.schema.types
    assert sorted(release.table.column("q0").to_pylist()) == sorted(column.to_pylist()[:4])


def test_infeasible_says_why_and_what_could_be_met() -> None:
    """More than the table has is refused with the nearest value that can be met."""
    table = pa.table({"q0": ["x", "y", "z"]})
    with pytest.raises(Infeasible, match="k can be at most 3") as caught:
        anonymize(table, policy(1, k=4))
    assert caught.value.nearest == {"k": 3.0}


def test_a_release_of_nothing_is_never_made(tmp_path: Path) -> None:
    """With every row allowed to go and none that can stay, the answer is no, and not an empty table."""
    table = pa.table({"q0": ["x", "y", "z"]})
    for algorithm in RECODERS:
        with pytest.raises(Infeasible):
            anonymize(table, policy(1, k=4, suppression=1, name=algorithm))
