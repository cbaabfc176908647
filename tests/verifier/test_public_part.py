"""The public folder alone: what can be said of t-closeness without the private audit."""

import shutil
from typing import Any

import pyarrow as pa
import pytest

from sfumato.errors import InputError
from sfumato.verifier import RequestedPromise, verify
from sfumato.verifier.class_distances import numeric_ranks

COLUMNS = {
    "sex": {"role": "quasi", "hierarchy": "suppress"},
    "pay": {"role": "sensitive"},
    "job": {"role": "sensitive"},
}


def table() -> Any:
    """Ten rows in two classes; pay is a number with unequal digits, job is text."""
    pay = ["3000", "11000", "5000", "9000.5", "4000", "11000", "5000", "3000", "9000.5", "4000"]
    job = ["nurse", "clerk", None, "nurse", "clerk", "clerk", "nurse", None, "nurse", "clerk"]
    return pa.table({"sex": ["f", "m"] * 5, "pay": pay, "job": job})


def public_part(made: Any, suppression: float, *privacy: dict[str, Any]) -> Any:
    """A release whose private part stays with the data holder."""
    search = {"name": "optimal", "suppression": suppression}
    release = made(table(), columns=COLUMNS, privacy=list(privacy), algorithm=search)
    whole = verify(release.folder)
    assert whole.satisfied
    shutil.rmtree(release.folder / "private")
    return release, whole


@pytest.mark.slow
@pytest.mark.parametrize("distance", ["variational", "kl", "emd-equal", "emd-ordered"])
def test_where_no_row_can_be_missing_the_table_speaks_for_itself(made: Any, distance: str) -> None:
    """With a suppression limit of 0 the distances are those that the complete folder gives."""
    rule = {"model": "t-closeness", "column": "pay", "t": 1.0, "distance": distance}
    release, whole = public_part(made, 0.0, rule)
    for folder in (release.folder, release.public):
        verdict = verify(folder)
        assert verdict.complaints == ()
        assert dict(verdict.privacy[0].achieved) == pytest.approx(dict(whole.privacy[0].achieved))
    assert not verify(release.folder, asked=RequestedPromise([{**rule, "t": 0.0}])).satisfied


@pytest.mark.parametrize(("suppression", "column"), [(0.1, "pay"), (0.0, "job")])
def test_where_the_table_does_not_know_it_says_so(made: Any, suppression: float, column: str) -> None:
    """Rows may be missing, or texts have no order of their own: the audit is needed."""
    release, _ = public_part(made, suppression, {"model": "k-anonymity", "k": 2})
    rule = {"model": "t-closeness", "column": column, "t": 1.0, "distance": "emd-ordered"}
    with pytest.raises(InputError, match="verify the complete release folder"):
        verify(release.folder, asked=RequestedPromise([rule]))


def test_an_order_that_a_hierarchy_gives_is_not_guessed(made: Any) -> None:
    """Numbers of a column with a hierarchy may have places between them that no row holds."""
    rule = {"model": "t-closeness", "column": "pay", "t": 1.0, "distance": "emd-ordered"}
    release, _ = public_part(made, 0.0, rule)
    columns = [column | {"hierarchy": column["name"] == "pay"} for column in release.manifest["columns"]]
    release.rewrite(columns=columns)
    with pytest.raises(InputError, match="verify the complete release folder"):
        verify(release.folder)


@pytest.mark.parametrize("distance", ["emd", "emd-hierarchical"])
def test_costs_and_hierarchies_stay_with_the_data_holder(made: Any, distance: str) -> None:
    """They are not in the public folder, so distances that need them cannot be measured from it."""
    release, _ = public_part(made, 0.0, {"model": "k-anonymity", "k": 2})
    rule = {"model": "t-closeness", "column": "job", "t": 1.0, "distance": distance}
    with pytest.raises(InputError, match="verify the complete release folder"):
        verify(release.folder, asked=RequestedPromise([rule]))


@pytest.mark.parametrize(
    ("values", "ranks"),
    [(["2", "10", "1e1"], (0, 1, 2)), (["1", "x"], None), (["1", None], None), (["NaN"], None), ([], ())],
)
def test_numeric_ranks(values: list[str | None], ranks: tuple[int, ...] | None) -> None:
    """Numbers stand in their order; anything else has none."""
    assert numeric_ranks(values) == ranks
