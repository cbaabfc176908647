"""Further rows under the labels of a release: held against the definition, by code that shares nothing with ours."""

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import DataError, Infeasible, InputError, PolicyError
from sfumato.release import Release
from sfumato.verifier import Promise, StatedExtension, verify, verify_extension

ILLNESSES = ["flu", "cold", "HIV", "gout", None]
JOBS = {"cook": "service", "porter": "service", "nurse": "health", "doctor": "health", "smith": "craft"}
LEVELLED = {"age": {"intervals": [5, 10, 20]}, "zip": {"mask": "right"}, "job": "suppress"}
"""Hierarchies that every algorithm takes."""
RANGES = {"age": {"ranges": True, "integers": True}, "zip": {"mask": "right"}, "job": "suppress"}
OPEN = {"age": {"ranges": True, "integers": True}, "zip": "sets", "job": "sets"}
FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "optimal": ("optimal", LEVELLED),
    "samarati": ("samarati", LEVELLED),
    "tds": ("tds", LEVELLED),
    "tds ranges": ("tds", RANGES),
    "top-down": ("top-down", LEVELLED),
    "bottom-up": ("bottom-up", LEVELLED),
    "progressive": ("progressive", LEVELLED),
    "mondrian": ("mondrian", OPEN),
    "mondrian-relaxed": ("mondrian-relaxed", OPEN),
    "auto": ("auto", LEVELLED),
    "auto open": ("auto", OPEN),
}


def people(number: int, seed: int, *, oldest: int = 79) -> pd.DataFrame:
    """Made-up people, with a missing value here and there."""
    random = Random(seed)
    return pd.DataFrame(
        {
            "age": [str(random.randint(0, oldest)) for _ in range(number)],
            "zip": [random.choice(["4350", "4351", "4360", "5000", "5001"]) for _ in range(number)],
            "job": [random.choice([*JOBS, None]) for _ in range(number)],
            "illness": [random.choice(ILLNESSES) for _ in range(number)],
            "visits": [str(random.randint(0, 3)) for _ in range(number)],
        }
    )


def rules(family: str = "optimal", *, privacy: Any = None, apply: Any = None, **tables: Any) -> dict[str, Any]:
    """A policy for these people, by one of the families."""
    name, hierarchies = FAMILIES[family]
    columns = {column: {"role": "quasi", "hierarchy": hierarchy} for column, hierarchy in hierarchies.items()}
    return {
        "columns": {**columns, "illness": {"role": "sensitive"}, "visits": {"role": "plain"}},
        "privacy": privacy
        or [{"model": "k-anonymity", "k": 3}, {"model": "distinct-l-diversity", "column": "illness", "l": 2}],
        "algorithm": {"name": name},
        "apply": {"suppression": 0.99} | (apply or {}),
        **tables,
    }


# The definition once more: what a label covers, and what classes hold.


def covers(label: str | None, value: str | None, column: str) -> bool:
    """Whether a label, as it is written, covers a value; by its text alone."""
    if label == "*":
        return True
    if value is None or label is None:
        return label == value or (label is not None and "NULL" in label and value is None)
    if label == value:
        return True
    if column == "age":
        return _in_range(label, int(value))
    if label.startswith("{"):
        return value in label[1:-1].split(", ")
    return column == "zip" and label.endswith("*") and len(label) == len(value) and value.startswith(label.rstrip("*"))


def _in_range(label: str, age: int) -> bool:
    if found := re.fullmatch(r"(\d+)-(\d+)", label):
        return int(found[1]) <= age <= int(found[2])
    if found := re.fullmatch(r"<(\d+)", label):
        return age < int(found[1])
    if found := re.fullmatch(r"(\d+)\+", label):
        return age >= int(found[1])
    return False


QUASI = ("age", "zip", "job")


def cells(frame: Any, columns: Iterable[str] = QUASI) -> list[tuple[Any, ...]]:
    """The rows of a frame, NULL as None."""
    plain = frame.astype(object).where(frame.notna(), None)
    return list(plain[list(columns)].itertuples(index=False, name=None))


def classes_of(frame: Any) -> dict[tuple[Any, ...], list[Any]]:
    """The sensitive values of each class."""
    found = defaultdict(list)
    for labels, illness in zip(cells(frame), cells(frame, ["illness"]), strict=True):
        found[labels].append(illness[0])
    return found


def labelled_rows(release: Release) -> list[tuple[dict[str, Any], tuple[Any, ...] | None]]:
    """Each row that was encoded with the labels that it is published under, or None."""
    publication = release.publication
    rows = publication.source.arrow.to_pylist()
    texts = {name: [labels.texts[code] for code in labels.codes] for name, labels in release.recoding.labels.items()}
    published = release.recoding.published
    return [
        (row, tuple(texts[name][i] for name in QUASI) if published is None or published[i] else None)
        for i, row in enumerate(rows)
    ]


def check_by_definition(old: Release, new: Release, *, alone: bool = True, k: int = 3, diverse: int = 2) -> None:
    """Everything that is promised of further rows, counted by hand."""
    before, added = classes_of(old.table), classes_of(new.table)
    assert set(added) <= set(before)
    for labels, values in added.items():
        for bag in [values, values + before[labels]] if alone else [values + before[labels]]:
            assert len(bag) >= k
            assert len(set(bag)) >= diverse
    dropped = 0
    for row, shown in labelled_rows(new):
        fitting = [one for one in before if all(covers(one[i], row[name], name) for i, name in enumerate(QUASI))]
        if shown is None:
            dropped += 1
            assert fitting or new.left_out.uncovered
        else:
            assert shown in fitting
    uncovered = sum(
        not any(all(covers(one[i], row[name], name) for i, name in enumerate(QUASI)) for one in before)
        for row, _ in labelled_rows(new)
    )
    left_out = new.left_out
    assert left_out.uncovered == uncovered
    assert left_out.rows == dropped + sum(left_out.unknown.values())


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_gives_labels_of_a_class_that_covers_the_row(family: str) -> None:
    """Whatever algorithm found the recoding, further rows get labels that cover them and keep the promise."""
    old = sf.anonymize(people(300, 1), rules(family))
    new = sf.apply(old, people(300, 2, oldest=95))
    check_by_definition(old, new)
    assert new.recoding.algorithm == old.recoding.algorithm
    assert new.rows >= 10


@pytest.mark.slow
@pytest.mark.parametrize("family", ["optimal", "tds ranges", "top-down", "mondrian"])
def test_the_folder_is_a_release_like_any_other(family: str, tmp_path: Path) -> None:
    """It is written whole, verified from its files alone and together with the rows before, and can be extended."""
    old = sf.anonymize(people(300, 1), rules(family))
    old.save(tmp_path / "old")
    new = sf.apply(tmp_path / "old", people(250, 2))
    new.save(tmp_path / "new")
    verdict = verify(tmp_path / "new")
    assert verdict.satisfied
    assert verdict.together is not None
    assert verdict.together.rows == old.rows + new.rows
    third = sf.apply(tmp_path / "new", people(250, 3))
    third.save(tmp_path / "third")
    verdict = verify(tmp_path / "third")
    assert verdict.satisfied
    assert verdict.together is not None
    assert verdict.together.rows == old.rows + new.rows + third.rows
    files = {path.name for path in (tmp_path / "third" / "private").iterdir()}
    assert files == {"audit.json", "recoding.json", "report.html"}
    saved = [(tmp_path / name / "private" / "recoding.json").read_bytes() for name in ("old", "third")]
    assert saved[0] == saved[1]


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(sorted(FAMILIES)),
    st.integers(0, 10**6),
    st.integers(20, 90),
    st.integers(1, 90),
    st.sampled_from(["alone", "together"]),
    st.integers(1, 4),
)
def test_any_rows_keep_the_promise_or_are_refused(
    family: str, seed: int, before: int, after: int, promise: str, k: int
) -> None:
    """On generated tables the definition holds of what is published, or nothing is and the reasons add up."""
    privacy = [{"model": "k-anonymity", "k": k}, {"model": "distinct-l-diversity", "column": "illness", "l": 2}]
    try:
        old = sf.anonymize(people(before, seed), rules(family, privacy=privacy, apply={"promise": promise}))
    except Infeasible:
        return
    try:
        new = sf.apply(old, people(after, seed + 1, oldest=99))
    except Infeasible as error:
        assert f"of {after:,} rows cannot be published" in str(error)  # noqa: PT017 - one of two outcomes
        return
    check_by_definition(old, new, alone=promise == "alone", k=k)


@pytest.mark.parametrize("family", ["optimal", "tds", "tds ranges"])
def test_the_same_rows_get_the_same_labels(family: str) -> None:
    """Where each value has one label, applying a recoding to the rows that it came from gives the same table."""
    table = people(300, 4)
    old = sf.anonymize(table, rules(family))
    new = sf.apply(old, table)
    assert new.suppressed == 0
    assert Counter(cells(new.table, table.columns)) == Counter(cells(old.table, table.columns))


@pytest.mark.slow
@pytest.mark.parametrize("family", ["top-down", "mondrian", "auto open"])
def test_every_old_row_is_covered_where_labels_overlap(family: str) -> None:
    """A row that was published under some class fits one at least, and more telling ones are preferred."""
    table = people(300, 5)
    old = sf.anonymize(table, rules(family))
    new = sf.apply(old, table)
    assert new.left_out.uncovered == 0
    check_by_definition(old, new)


@pytest.mark.slow
def test_sets_may_name_values_that_no_new_row_holds(tmp_path: Path) -> None:
    """A set costs what its members cost, whether or not a new row holds them; a star covers what is new."""
    policy = rules("mondrian", apply={"promise": "together"})
    old = sf.anonymize(people(300, 1), policy)
    old.save(tmp_path / "old")
    table = people(150, 2)
    table["zip"] = ["4350" if place % 2 else "9999" for place in range(150)]
    new = sf.apply(tmp_path / "old", table)
    check_by_definition(old, new, alone=False)
    stars = sum("*" in labels[1] for labels in classes_of(old.table) if labels[1] == "*")
    assert (new.left_out.uncovered >= 75) == (stars == 0)
    loss = new.utility.attributes["zip"]
    assert 0 < loss.ncp <= 1
    assert loss.exact_cells == sum(label == "4350" for label in new.table["zip"])
    new.save(tmp_path / "new")
    assert verify(tmp_path / "new").satisfied


def test_columns_may_stand_in_another_order() -> None:
    """Columns are known by their names."""
    old = sf.anonymize(people(300, 1), rules("top-down"))
    table = people(150, 2)
    new = sf.apply(old, table[["illness", "job", "visits", "zip", "age"]])
    assert list(new.table.columns) == ["illness", "job", "visits", "zip", "age"]
    check_by_definition(old, new)


# What no class takes


def test_values_that_a_hierarchy_does_not_know_are_counted(tmp_path: Path) -> None:
    """Rows with an unknown value are dropped, counted by column and never quoted; by default none may be dropped."""
    (tmp_path / "job.csv").write_text("".join(f"{job},{kind},*\n" for job, kind in JOBS.items()))
    policy = rules("optimal")
    policy["columns"]["job"]["hierarchy"] = str(tmp_path / "job.csv")
    old = sf.anonymize(people(300, 1), policy)
    table = people(100, 2)
    table.loc[:4, "job"] = "spy-canary"
    table.loc[3:9, "age"] = "old-canary"
    new = sf.apply(old, table)
    left_out = new.left_out
    assert left_out.unknown == {"age": 7, "job": 3}
    assert new.publication.input_rows == 100
    assert new.suppressed == left_out.rows
    assert not new.table.astype(str).apply(lambda column: column.str.contains("canary")).to_numpy().any()
    del policy["apply"]
    with pytest.raises(
        Infeasible, match=r"none may be dropped: 7 hold a value of 'age' that .*; 3 hold .* 'job'"
    ) as no:
        sf.apply(sf.anonymize(people(300, 1), policy), table)
    assert "canary" not in str(no.value)


def test_a_value_outside_of_the_domain_is_unknown() -> None:
    """A declared domain holds for further rows as it held for the first ones."""
    policy = rules("mondrian")
    policy["columns"]["age"]["hierarchy"] = {"ranges": True, "domain": [0, 80]}
    old = sf.anonymize(people(300, 1), policy)
    table = people(100, 2)
    table.loc[:2, "age"] = "81"
    assert sf.apply(old, table).left_out.unknown == {"age": 3}


def test_rows_all_of_which_are_unknown_are_refused() -> None:
    """Nothing is published of nothing."""
    old = sf.anonymize(people(300, 1), rules("optimal"))
    table = people(10, 2)
    table["age"] = "unknown"
    with pytest.raises(Infeasible, match="10 of 10 rows cannot be published under the labels of the release"):
        sf.apply(old, table)


def test_a_class_that_was_suppressed_is_not_published() -> None:
    """What was dropped from the release is in no published class, and stays unpublished however many come."""
    table = people(300, 1)
    table.loc[:1, "zip"] = "9999"
    policy = rules("optimal", privacy=[{"model": "k-anonymity", "k": 3}])
    policy["algorithm"]["suppression"] = 0.01
    policy["columns"]["age"]["hierarchy"] = "suppress"
    policy["columns"]["job"]["hierarchy"] = "suppress"
    policy["columns"]["job"]["least"] = policy["columns"]["age"]["least"] = 1
    old = sf.anonymize(table, policy)
    assert old.suppressed == 2
    more = people(50, 2)
    more.loc[:9, "zip"] = "9999"
    new = sf.apply(old, more)
    assert new.left_out.uncovered == 10
    assert "9999" not in set(new.table["zip"])


def test_the_policy_bounds_what_may_be_dropped() -> None:
    """The share of [apply] counts, or that of [algorithm] where it is left out."""
    table = people(40, 2)
    for apply, algorithm, may in ((0.0, 0.9, False), (0.9, 0.0, True), (None, 0.9, True), (None, 0.0, False)):
        policy = rules("top-down") | {"algorithm": {"name": "top-down", "suppression": algorithm}}
        policy["apply"] = {} if apply is None else {"suppression": apply}
        old = sf.anonymize(people(300, 1), policy)
        if may:
            assert sf.apply(old, table).suppressed > 0
        else:
            with pytest.raises(Infeasible, match="none may be dropped"):
                sf.apply(old, table)


# Alone and together


def homogeneous() -> tuple[pd.DataFrame, pd.DataFrame, dict[str, Any]]:
    """An old table of mixed illnesses, and new rows of one: fine together, and not by themselves."""
    old = pd.DataFrame({"age": ["30"] * 8, "zip": "4350", "job": "cook", "visits": "0", "illness": ["flu", "HIV"] * 4})
    new = pd.DataFrame({"age": ["30"] * 3, "zip": "4350", "job": "cook", "visits": "0", "illness": ["HIV"] * 3})
    return old, new, rules("optimal", apply={"suppression": 0})


def test_whoever_knows_that_a_person_is_new_learns_nothing_more() -> None:
    """New rows of one illness keep the promise with those before, but not by themselves, and so are refused."""
    old, new, policy = homogeneous()
    with pytest.raises(Infeasible, match=r"3 would break distinct-l-diversity \(l = 2\) in the new table alone"):
        sf.apply(sf.anonymize(old, policy), new)


@pytest.mark.slow
def test_together_says_what_it_does_not_promise(tmp_path: Path) -> None:
    """A policy may have the tables keep the promise together; the attack on the new one alone shows what that means."""
    old, new, policy = homogeneous()
    policy["apply"]["promise"] = "together"
    sf.anonymize(old, policy).save(tmp_path / "old")
    release = sf.apply(tmp_path / "old", new)
    release.save(tmp_path / "new")
    found = release.attacks.homogeneity.results()[0]
    assert found.success == 1.0  # three persons of the new table, of whom one illness is left
    assert any("3 of 3 rows are in classes that keep the promise together" in one for one in release.warnings)
    verdict = verify(tmp_path / "new")
    assert verdict.satisfied
    assert verdict.privacy[0].achieved == {"k": 11}
    manifest = json.loads((tmp_path / "new" / "public" / "manifest.json").read_text())
    assert "whoever knows that somebody is in this one may learn more" in manifest["protects"]
    (tmp_path / "old").rename(tmp_path / "moved")
    with pytest.raises(InputError, match="together with the releases that it extends; name their folders with --base"):
        verify(tmp_path / "new" / "public")
    assert verify(tmp_path / "new" / "public", bases=[tmp_path / "moved"]).satisfied


def test_a_share_may_rise_above_its_bound_together() -> None:
    """The refined share of two classes that keep it can break it when they are one, and that is looked at, too."""
    ages = {"age": "30", "zip": "4350", "job": "cook", "visits": "0"}
    old = pd.DataFrame({**{name: [value] * 3 for name, value in ages.items()}, "illness": ["HIV", "HIV", "flu"]})
    privacy = [{"model": "alpha-deassociation", "column": "illness", "alpha": 0.5, "values": ["HIV"], "refined": True}]
    with pytest.raises(Infeasible, match="in the rows before and these"):
        sf.apply(sf.anonymize(old, rules("optimal", privacy=privacy, apply={"suppression": 0})), old.copy())


@pytest.mark.slow
def test_t_closeness_is_measured_by_all_that_came_in(tmp_path: Path) -> None:
    """Each table is compared with its own rows, and both with those of both; the verifier finds the same."""
    privacy = [{"model": "t-closeness", "column": "visits", "t": 0.35, "distance": "emd-ordered"}]
    policy = rules("optimal", privacy=privacy) | {"algorithm": {"name": "optimal", "suppression": 0.05}}
    policy["columns"]["visits"] = {"role": "sensitive"}
    sf.anonymize(people(300, 1), policy).save(tmp_path / "old")
    new = sf.apply(tmp_path / "old", people(200, 2))
    new.save(tmp_path / "new")
    verdict = verify(tmp_path / "new")
    assert verdict.satisfied
    both = pd.concat([people(300, 1), people(200, 2)])["visits"].astype(int)
    whole = both.value_counts(normalize=True).sort_index()
    united = pd.concat([sf.anonymize(people(300, 1), policy).table, new.table])
    worst = 0.0
    for _, rows in united.groupby(list(QUASI), dropna=False):
        shares = rows["visits"].astype(int).value_counts(normalize=True).reindex(whole.index, fill_value=0.0)
        worst = max(worst, float((shares - whole).cumsum().abs().sum()) / (len(whole) - 1))
    assert verdict.together is not None
    assert math.isclose(float(verdict.together.privacy[0].achieved["t"]), worst, abs_tol=1e-6)
    manifest = json.loads((tmp_path / "new" / "public" / "manifest.json").read_text())
    assert "achieved" not in manifest["extends"]["privacy"][0]  # it tells of rows that were dropped


# What cannot be extended


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"publish": {"form": "lossy-join"}}, "lossy-join has class numbers and not labels"),
        ({"publish": {"form": "anatomy"}}, "anatomy has buckets and not labels"),
        ({"publish": {"ranges": "means"}}, "the mean of a class is not that of further rows"),
        ({"person": True}, "'visits' names persons, whom k and l count"),
    ],
)
def test_what_cannot_be_extended_says_why(change: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    """Two tables, means and persons are refused in one sentence, in memory and from the folder, and in a policy."""
    policy = rules("mondrian")
    if change.pop("person", False):
        policy["columns"]["visits"] = {"role": "individual"}
    policy |= change
    if policy.get("publish", {}).get("form") == "anatomy":
        policy["columns"] |= {name: {"role": "quasi"} for name in QUASI}
        policy["algorithm"] = {}
        policy["privacy"] = policy["privacy"][1:]
    with pytest.raises(PolicyError, match=f"apply: .*{sentence}.*; leave it out"):
        sf.anonymize(people(120, 1), policy)
    del policy["apply"]
    table = people(120, 1).dropna()
    old = sf.anonymize(table, policy)
    with pytest.raises(InputError, match=sentence):
        sf.apply(old, people(20, 2))
    old.save(tmp_path / "old")
    with pytest.raises(InputError, match=sentence):
        sf.apply(tmp_path / "old", people(20, 2))


def test_tables_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    """Other columns, other types and the table of the release itself are named, with what to do."""
    table = people(300, 1)
    table.to_csv(tmp_path / "old.csv", index=False)
    sf.anonymize(tmp_path / "old.csv", rules("optimal")).save(tmp_path / "old")
    with pytest.raises(
        InputError, match=r"old.csv is the table that .*old was made of, so that its rows are out already"
    ):
        sf.apply(tmp_path / "old", tmp_path / "old.csv")
    with pytest.raises(DataError, match="columns of the policy are not in the table: 'illness'"):
        sf.apply(tmp_path / "old", table.drop(columns="illness"))
    with pytest.raises(DataError, match="columns without a role: 'height'"):
        sf.apply(tmp_path / "old", table.assign(height=1))
    with pytest.raises(DataError, match="column 'illness' holds double here and string in"):
        sf.apply(tmp_path / "old", table.assign(illness=0.5))
    with pytest.raises(DataError, match="the table has no rows"):
        sf.apply(tmp_path / "old", table.iloc[:0])


FRAMES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "arrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_frames_and_numbers_come_back_as_they_came(kind: str, form: str, tmp_path: Path) -> None:
    """Whole numbers, floating numbers and dates of a frame are compared with those of the files before."""

    def typed(number: int, seed: int) -> Any:
        frame = people(number, seed).drop(columns="job")
        frame["age"] = frame["age"].astype(int) // 20 + 0.5
        frame["zip"] = frame["zip"].astype(int)
        frame["visits"] = frame["visits"].astype(float) / 2
        return FRAMES[kind](frame)

    policy = rules("optimal") | {"publish": {"format": form}}
    del policy["columns"]["job"]
    policy["columns"]["visits"] = {"role": "sensitive"}
    policy["columns"]["age"]["hierarchy"] = "suppress"
    sf.anonymize(typed(300, 1), policy).save(tmp_path / "old")
    new = sf.apply(tmp_path / "old", typed(150, 2))
    assert type(new.table) is type(typed(1, 1))
    new.save(tmp_path / "new")
    verdict = verify(tmp_path / "new")
    assert verdict.satisfied
    assert verdict.together is not None
    assert verdict.together.rows == 300 + new.rows


# Files that were changed


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    """An old release and one that extends it, side by side."""
    sf.anonymize(people(300, 1), rules("optimal")).save(tmp_path / "old")
    sf.apply(tmp_path / "old", people(150, 2)).save(tmp_path / "new")
    return tmp_path


def test_a_recoding_that_was_changed_is_refused(chain: Path) -> None:
    """The audit has its hash; without the file, or the private part, it is said what is missing."""
    path = chain / "old" / "private" / "recoding.json"
    text = path.read_text()
    path.write_text(text.replace("[0, 0, 0]", "[0, 0, 1]"))
    with pytest.raises(DataError, match=r"recoding.json is not the file that was written: its SHA-256 differs"):
        sf.apply(chain / "old", people(20, 3))
    path.unlink()
    with pytest.raises(InputError, match=r"recoding.json of the release does not exist; restore it from a copy"):
        sf.apply(chain / "old", people(20, 3))
    audit = chain / "old" / "private" / "audit.json"
    audit.write_text(
        json.dumps({key: value for key, value in json.loads(audit.read_text()).items() if key != "recoding"})
    )
    with pytest.raises(InputError, match="made by a version that saved no recoding"):
        sf.apply(chain / "old", people(20, 3))
    audit.unlink()
    with pytest.raises(InputError, match="has no private part, and the recoding stands there"):
        sf.apply(chain / "old", people(20, 3))


def test_the_verifier_notices_rows_outside_of_what_is_extended(chain: Path) -> None:
    """A class that no release before has, and a base that was changed, are found from the files."""
    promise = Promise(QUASI, ("illness",), None, ({"model": "k-anonymity", "k": 1},))
    new = pa.table({"age": ["nowhere"], "zip": ["*"], "job": ["*"], "illness": ["flu"], "visits": ["1"]})
    verdict = verify_extension(new, promise, StatedExtension(False, ()), [chain / "old" / "public"])
    assert verdict.problems == ("1 classes of the table are in no release that it extends",)
    manifest = chain / "old" / "public" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"rows"', '"rows" '))
    verdict = verify(chain / "new")
    assert verdict.satisfied  # by itself it is as it was
    assert verdict.together is None
    assert "was not checked" in verdict.notes[0]
    with pytest.raises(InputError, match="is no release that this one extends"):
        verify(chain / "new", bases=[chain / "old"])
    with pytest.raises(InputError, match="extends other releases, of which not all are where they were"):
        sf.apply(chain / "new", people(20, 3))


def test_a_table_before_that_was_changed_is_noticed(chain: Path) -> None:
    """The manifest of the extension has the hash of the table that it extends."""
    table = chain / "old" / "public" / "table.csv"
    lines = table.read_text().splitlines()
    table.write_text("\n".join([*lines, lines[1]]) + "\n")
    verdict = verify(chain / "new")
    assert not verdict.satisfied
    said = "table.csv of a release that it extends is not the file that was published"
    assert any(said in complaint for complaint in verdict.complaints), verdict.complaints


def test_a_hierarchy_file_may_grow_and_not_change(tmp_path: Path) -> None:
    """New leaves make new values known; a leaf that goes elsewhere would give old labels another meaning."""
    file = tmp_path / "job.csv"
    lines = [f"{job},{kind},*\n" for job, kind in JOBS.items()]
    file.write_text("".join(lines))
    policy = rules("optimal") | {"apply": {"suppression": 0.6}}
    policy["columns"]["job"] = {"role": "quasi", "hierarchy": str(file), "least": 1}
    sf.anonymize(people(300, 1), policy).save(tmp_path / "old")
    table = people(100, 2)
    table.loc[:9, "job"] = "waiter"
    assert sf.apply(tmp_path / "old", table).left_out.unknown == {"job": 10}
    file.write_text("".join([*lines, "waiter,service,*\n"]))
    assert sf.apply(tmp_path / "old", table).left_out.unknown == {}
    file.write_text("".join(lines).replace("cook,service", "cook,health"))
    with pytest.raises(InputError, match=r"job.csv does not say any more what it said of 1 values of 'job'"):
        sf.apply(tmp_path / "old", table)
    file.unlink()
    with pytest.raises(
        InputError, match=r"the policy of .*old cannot be read any more: .*name the policy where it is now"
    ):
        sf.apply(tmp_path / "old", table)


def test_a_policy_besides_has_to_be_the_same(tmp_path: Path) -> None:
    """It may say what [apply] and [data] say; what decides the labels and the promise is as it was."""
    policy = rules("top-down", apply={"suppression": 0})
    sf.anonymize(people(300, 1), policy).save(tmp_path / "old")
    with pytest.raises(Infeasible, match="none may be dropped"):
        sf.apply(tmp_path / "old", people(40, 2))
    lenient = {**policy, "apply": {"suppression": 0.9}}
    assert sf.apply(tmp_path / "old", people(40, 2), policy=lenient).suppressed > 0
    other = json.loads(json.dumps(policy))
    other["columns"]["age"]["hierarchy"] = {"intervals": [10]}
    with pytest.raises(InputError, match=r"\[columns\] of the policy is not that of .*old"):
        sf.apply(tmp_path / "old", people(40, 2), policy=other)
    with pytest.raises(InputError, match=r"\[\[privacy\]\] of the policy is not what .*old promises"):
        sf.apply(tmp_path / "old", people(40, 2), policy={**policy, "privacy": [{"model": "k-anonymity", "k": 2}]})


@pytest.mark.slow
def test_an_unsaved_release_is_saved_first(tmp_path: Path) -> None:
    """Further rows of a release in memory can be had, and are written only once it has been."""
    old = sf.anonymize(people(300, 1), rules("optimal"))
    new = sf.apply(old, people(150, 2))
    assert len(new.table) == new.rows
    with pytest.raises(InputError, match="has no folder yet; save that, and apply it again"):
        new.save(tmp_path / "new")
    old.save(tmp_path / "old")
    sf.apply(old, people(150, 2)).save(tmp_path / "new")
    assert verify(tmp_path / "new").satisfied


def test_nothing_private_gets_into_public_files(tmp_path: Path) -> None:
    """Canaries in identifiers, in rows that are dropped, and in the seed's audit are in no public byte."""
    policy = rules("optimal")
    policy["columns"]["name"] = {"role": "identifier"}
    sf.anonymize(people(300, 1).assign(name="ann"), policy).save(tmp_path / "old")
    table = people(150, 2).assign(name="identifier-canary")
    table.loc[:5, "age"] = "value-canary"
    table.loc[:5, "illness"] = "illness-canary"
    sf.apply(tmp_path / "old", table).save(tmp_path / "new")
    for path in (tmp_path / "new").rglob("*.*"):
        assert b"canary" not in path.read_bytes(), path


@pytest.mark.slow
def test_a_requirement_on_a_join_holds_of_further_rows(tmp_path: Path) -> None:
    """Where the release promises something of the join with an earlier table, so do the rows that are added."""
    people(300, 1)[["zip", "visits"]].rename(columns={"visits": "test"}).to_csv(tmp_path / "earlier.csv", index=False)
    policy = rules("tds") | {"previous": [{"name": "earlier", "table": str(tmp_path / "earlier.csv")}]}
    join = {"model": "xy-anonymity", "x": ["zip", "earlier.zip"], "y": ["$row"], "k": 4}
    policy["privacy"] = [{"model": "k-anonymity", "k": 3}, join]
    sf.anonymize(people(300, 1), policy).save(tmp_path / "old")
    new = sf.apply(tmp_path / "old", people(150, 2))
    new.save(tmp_path / "new")
    verdict = verify(tmp_path / "new")
    assert verdict.satisfied
    assert [finding.model for finding in verdict.privacy] == ["k-anonymity", "xy-anonymity"]
    few = people(300, 1).iloc[:3].assign(age="30", job="cook", zip="4350", illness=["flu", "cold", "flu"])
    with pytest.raises(
        Infeasible, match=r"break what is promised of the join: .* fewer than 4; make a release of them"
    ):
        sf.apply(tmp_path / "old", few)


def test_exact_shares_are_rounded_down() -> None:
    """A tenth of ten rows is one row, and no more may be dropped."""
    old = sf.anonymize(people(300, 1), rules("optimal", apply={"suppression": 0.1}))
    table = people(300, 1).iloc[:10].copy()
    table.loc[table.index[:2], "age"] = "?"
    with pytest.raises(Infeasible, match="and 1 may be dropped"):
        sf.apply(old, table)


def test_packed_tables_are_counted_together(tmp_path: Path) -> None:
    """Where both tables are CSV packed by gzip, the verifier reads them together as it reads each."""
    policy = rules(publish={"format": "csv.gz"})
    sf.anonymize(people(200, 1), policy).save(tmp_path / "base")
    sf.apply(tmp_path / "base", people(60, 2)).save(tmp_path / "more")
    verdict = verify(tmp_path / "more")
    assert verdict.satisfied
    assert verdict.together is not None
