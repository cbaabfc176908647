"""Releases beside earlier ones that somebody changed: a sentence, never a traceback, never a proof of nothing."""

import copy
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sfumato.errors import InputError, NotVerified
from sfumato.verifier import PriorRelease, Promise, RequestedPromise, verify, verify_table, verify_tables
from sfumato.verifier.stated_promise import objection

CURRENT = [{"sex": "m", "race": "a", "pay": "1"}, {"sex": "f", "race": "b", "pay": "2"}]
OLD = [{"sex": "m", "test": "HIV"}, {"sex": "f", "test": "flu"}]
RULE: dict[str, Any] = {"model": "xy-anonymity", "x": ["sex", "old.sex"], "y": ["$row"], "k": 1}
LINK: dict[str, Any] = {"model": "xy-linkability", "x": ["race"], "y": ["old.test"], "k": 1}
TREES = {"sex": [["m", "*"], ["f", "*"]]}
JUNK: tuple[Any, ...] = (None, True, -1, 1.5, "x", [], {}, [[]], [None], {"a": 1}, [{"name": 1}], 10**400)


@pytest.fixture
def release(joined: Any) -> Any:
    """A small release with one earlier one."""
    found = joined(CURRENT, {"old": OLD}, promise=[RULE, LINK], taxonomies=TREES, roles={"pay": "sensitive"})
    assert verify(found.folder).complaints == ()
    return found


def refusal(folder: Path) -> str:
    """Why a release is not verified, raised or reported; empty if it is."""
    try:
        return "; ".join(verify(folder).complaints)
    except (NotVerified, InputError) as error:
        return str(error)


def test_another_earlier_file_is_refused(release: Any) -> None:
    """One changed cell, and it is not what the release was made with."""
    path = release.earlier["old"]
    path.write_text(path.read_text().replace("flu", "HIV"))
    with pytest.raises(
        NotVerified, match=r"old\.csv is not the earlier release 'old' that this one was made with: its"
    ):
        verify(release.folder)
    with pytest.raises(NotVerified, match="--previous old=FILE"):
        verify(release.folder, previous={"old": path})


@pytest.mark.parametrize("path", ["nowhere/old.csv", "", ".", "a\0b", "/dev/zero"])
def test_an_earlier_file_that_is_not_there_is_asked_for(release: Any, path: str) -> None:
    """No file, a folder, no path at all: what is needed is said."""
    release.written.rewrite("private/audit.json", previous=[{"name": "old", "path": path}])
    with pytest.raises(InputError, match="name the file with --previous old=FILE"):
        verify(release.folder)
    with pytest.raises(InputError, match="name the file with --previous old=FILE"):
        verify(release.folder, previous={"old": path or "."})


def test_numbers_of_rows_have_to_agree(release: Any) -> None:
    """The maker read as many rows as the verifier does, or one of them has not read the file."""
    release.change_previous(rows=3)
    with pytest.raises(NotVerified, match="the earlier release 'old' has 2 rows where 3 are stated"):
        verify(release.folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"join": ["sex", "colour"]}, "'old' cannot be joined on columns that not both tables have: 'colour'"),
        ({"join": ["test"]}, "'old' cannot be joined on columns that not both tables have: 'test'"),
        ({"inconsistent": [["sex=m", "old.colour=red"]]}, "about 'old.colour', which neither"),
        ({"inconsistent": [["sex=m", "race=a"]]}, "is about one table"),
        ({"inconsistent": [["$row=m", "old.sex=a"]]}, "is about rows; a rule is about a column"),
        ({"csv": {"separator": ";", "null": [""]}}, "columns that not both tables have: 'sex'"),
        ({"csv": None}, "cannot be read"),
    ],
    ids=str,
)
def test_joins_that_do_not_fit_the_tables_are_a_sentence(release: Any, change: dict[str, Any], told: str) -> None:
    """Columns that are not there, rules about one table or about rows, another separator, another format."""
    release.change_previous(**change)
    with pytest.raises((NotVerified, InputError), match=told):
        verify(release.folder)


@pytest.mark.slow
@pytest.mark.parametrize("key", ["name", "table", "sha256", "rows", "csv", "join", "inconsistent"])
def test_entries_of_earlier_releases_that_are_junk_are_a_sentence(release: Any, key: str) -> None:
    """Whatever a key holds, the reason is one sentence, and no file is taken for the earlier one."""
    whole = release.written.manifest["previous"][0]
    for junk in JUNK:
        release.change_previous(**{key: junk})
        refused = refusal(release.folder)
        assert "\n" not in refused
        assert refused or (key, junk) in (("table", "x"), ("inconsistent", []), ("join", [])) or junk == whole[key]
    release.change(previous=[{name: value for name, value in whole.items() if name != key}])
    if key not in {"rows", "csv", "inconsistent"}:
        with pytest.raises(NotVerified, match=r"manifest\.json has no proper 'previous'"):
            verify(release.folder)


@pytest.mark.parametrize("key", ["previous", "taxonomies"])
def test_junk_in_place_of_all_of_it_is_a_sentence(release: Any, key: str) -> None:
    """Without earlier releases a requirement that names one is about nothing; without taxonomies labels are alone."""
    for junk in JUNK:
        release.change(**{key: junk})
        if (key, junk) == ("taxonomies", {}):
            assert verify(release.folder).complaints == ()
            continue
        with pytest.raises((NotVerified, InputError)):
            verify(release.folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    "paths",
    [
        [["m", "f"]],
        [["m"]],
        [[]],
        ["m*"],
        [["m", None, "*"]],
        [["m", "m", "*"]],
        [["m", 1, "*"]],
        [[["m"], "*"]],
        [["m", "x", "*"], ["m", "*"]],
        [["m", "x", "*"], ["x", "y", "*"]],
        [["m", "x", "*"], ["f", "x", "y", "*"]],
    ],
    ids=str,
)
def test_taxonomies_that_are_no_trees_are_refused(release: Any, paths: Any) -> None:
    """Each label has one way to the root, wherever it stands."""
    release.change(taxonomies={"sex": paths})
    with pytest.raises(NotVerified, match=r"manifest\.json has no proper 'taxonomies'"):
        verify(release.folder)
    promise = Promise(("sex",), (), None, ({**RULE, "x": ["sex"]},), taxonomies={"sex": paths})
    with pytest.raises(InputError, match="taxonomies that are trees"):
        verify_table(pa.Table.from_pylist(CURRENT), promise)


@pytest.mark.parametrize(
    "audit", [1, {"old": "x"}, [1], [{"name": "old"}], [{"name": "old", "path": 1}], [{"path": ""}]]
)
def test_an_audit_that_does_not_say_where_is_a_sentence(release: Any, audit: Any) -> None:
    """Names and paths are texts."""
    release.written.rewrite("private/audit.json", previous=audit)
    with pytest.raises(NotVerified, match=r"audit\.json does not say properly where earlier releases are"):
        verify(release.folder)


@pytest.mark.slow
def test_a_manifest_that_forgets_what_the_policy_said_is_found_out(release: Any) -> None:
    """An earlier release, a rule or a column to join on that is in the policy of the audit and not in the manifest."""
    columns: dict[str, Any] = {
        "sex": {"role": "quasi", "hierarchy": "suppress"},
        "race": {"role": "quasi", "hierarchy": "suppress"},
        "pay": {"role": "sensitive"},
    }
    pair = ["sex=m", "old.test=flu"]
    meant: dict[str, Any] = {
        "privacy": [RULE, LINK],
        "columns": columns,
        "previous": [{"name": "old", "table": "old.csv", "inconsistent": [pair]}],
    }

    def problems(**change: Any) -> tuple[str, ...]:
        release.written.rewrite("private/audit.json", policy=meant | change)
        return verify(release.folder).problems

    assert problems() == ("the manifest does not rule out the matches that the policy in the audit rules out",)
    release.change_previous(inconsistent=[pair])
    assert problems() == ()
    assert problems(previous=[*meant["previous"], {"name": "older"}]) == (
        "the manifest does not name the earlier releases of the policy in the audit",
    )
    release.change_previous(join=[])
    assert problems() == ("earlier release 'old' is not joined on columns that it shares: 'sex'",)
    for hierarchy in ("sets", {"ranges": True}):
        assert problems(columns=columns | {"sex": {"role": "quasi", "hierarchy": hierarchy}}) == ()
    for junk in (None, 1, "x", [None], {"a": 1}):
        assert problems(previous=junk, columns=junk)
        assert problems(previous=[{"name": "old", "inconsistent": junk}])


@pytest.mark.slow
def test_the_figure_in_the_manifest_has_to_be_that_of_the_join(release: Any) -> None:
    """What is stated is compared with what is counted, x and y with those of the promise."""
    stated = [finding.as_json() for finding in verify(release.folder).privacy]
    release.change(privacy=stated)
    assert verify(release.folder).complaints == ()
    for place, key, value in ((0, "achieved", {"k": 2}), (1, "required", {**LINK, "x": ["sex"]})):
        changed = copy.deepcopy(stated)
        changed[place][key] = value
        release.change(privacy=changed)
        assert verify(release.folder).complaints == (
            f"what the manifest states of {stated[place]['model']} is not what the table holds",
        )


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"x": []}, "x of xy-linkability cannot be []"),
        ({"x": "sex"}, "x of xy-linkability cannot be 'sex'"),
        ({"x": None}, "xy-linkability lacks its x"),
        ({"x": ["a", "a"]}, "xy-linkability has 'a' twice in its x"),
        ({"x": ["a", "s"]}, "xy-linkability has 's' in both x and y"),
        ({"x": ["old.$row"]}, "xy-linkability has 'old.$row' in x, and a row key links each row to itself"),
        ({"k": None}, "xy-linkability lacks its k"),
        ({"k": 0}, "k of xy-linkability cannot be 0"),
        ({"k": 1.1}, "k of xy-linkability cannot be 1.1"),
        ({"k": None, "values": ["HIV"]}, "xy-linkability lacks its k"),
        ({"k": None, "values": {"HIV": 0.5}}, None),
        ({"values": {}}, "values of xy-linkability cannot be {}"),
        ({"values": {"HIV": 2}}, "values of xy-linkability cannot be {'HIV': 2}"),
        ({"values": [1]}, "values of xy-linkability cannot be [1]"),
        ({"values": [["HIV"]]}, "values of xy-linkability do not fit its y: give texts for one column"),
        ({"y": ["s", "t"], "values": ["HIV"]}, "values of xy-linkability do not fit its y"),
        ({"y": ["s", "t"], "values": [["HIV"]]}, "values of xy-linkability do not fit its y"),
        ({"y": ["s", "t"], "values": [["HIV", "x"]]}, None),
        ({"y": ["s", "t"], "values": {"HIV": 0.5}}, "xy-linkability has a threshold for each value, which needs one"),
        ({"y": ["$row"], "values": ["1"]}, "xy-linkability names values of a row key, which has none to name"),
        ({"unless": "Tuesday"}, "'unless' is not a key of xy-linkability that this version can verify"),
        ({"model": "xy-anonymity", "k": 0.5}, "k of xy-anonymity cannot be 0.5"),
        ({"model": "xy-anonymity", "values": ["a"]}, "'values' is not a key of xy-anonymity"),
    ],
    ids=str,
)
def test_requirements_that_mean_nothing(change: dict[str, Any], told: str | None) -> None:
    """Every key is looked at before anything is counted."""
    found = objection({"model": "xy-linkability", "x": ["a"], "y": ["s"], "k": 0.5} | change)
    assert found is None if told is None else str(found).startswith(told)


def test_names_that_may_mean_two_things_are_refused(joined: Any) -> None:
    """A column called like one of an earlier release, or like the row key."""
    current = [{"sex": "m", "old.sex": "f", "$row": "1"}]
    release = joined(current, {"old": [{"sex": "m"}]}, promise=[{**RULE, "x": ["sex"]}])
    for name in ("old.sex", "$row"):
        with pytest.raises(InputError, match=r"which may be one of 2 columns; rename one"):
            verify(release.folder, asked=RequestedPromise([{**RULE, "x": ["sex"], "y": [name]}]))
    with pytest.raises(InputError, match="which neither the release nor an earlier one has"):
        verify(release.folder, asked=RequestedPromise([{**RULE, "x": ["colour"], "y": ["old.$row"]}]))


def test_a_column_that_stands_twice_is_no_column_to_join_on(release: Any, tmp_path: Path) -> None:
    """Nobody can say which one is meant."""
    path = tmp_path / "twice.csv"
    path.write_text("sex,sex,test\nm,m,HIV\n")
    release.change_previous(sha256=None)
    old = PriorRelease("old", path, csv={"separator": ",", "null": [""]}, join=("sex",))
    release.change(previous=[])
    with pytest.raises(NotVerified, match="earlier release 'old' has these columns more than once: 'sex'"):
        verify(release.folder, asked=RequestedPromise([{**LINK, "x": ["race"]}], previous=[old]))


@pytest.mark.parametrize("rule", [RULE, {**RULE, "x": ["race"]}, LINK], ids=lambda rule: str(rule["x"]))
def test_a_join_that_is_too_large_proves_nothing(release: Any, rule: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The size and the limit are said, and that there is no proof."""
    monkeypatch.setattr("sfumato.verifier.linkage.pivot_join.MOST_PAIRS", 1)
    with pytest.raises(NotVerified, match=r"has 2 pairs of groups, more than the 1 that .* nothing was proved"):
        verify(release.folder, asked=RequestedPromise([rule]))
    monkeypatch.setattr("sfumato.verifier.linkage.record_matching.MOST_MATCHES", 1)
    with pytest.raises(
        NotVerified, match=r"has over 1 combinations of labels .* than the 1 that .* nothing was proved"
    ):
        verify(release.folder, asked=RequestedPromise([rule]))


@pytest.mark.slow
def test_numbers_beyond_128_bits_are_refused(tmp_path: Path) -> None:
    """Many tables, and a threshold of many digits: refused in words, and exact with fewer."""
    csv = {"separator": ",", "null": [""]}
    earlier = []
    for place in range(5):
        path = tmp_path / f"t{place}.csv"
        path.write_text("v\n" + "a\n" * 10**5)
        earlier.append(PriorRelease(f"t{place}", path, csv=csv, join=("v",)))
    table = pa.table({"v": ["a"] * 4, "s": ["x", "x", "y", "z"]})

    def check(share: float, tables: int = 5) -> Any:
        rule = {"model": "xy-linkability", "x": ["v"], "y": ["s"], "k": share}
        return verify_table(table, Promise(("v",), ("s",), None, (rule,), previous=tuple(earlier[:tables])))

    assert check(0.5).satisfied
    assert not check(0.4999).satisfied
    with pytest.raises(NotVerified, match="more lines than can be counted exactly; nothing was proved"):
        check(0.4999999999999999)
    assert not check(0.4999999999999999, 4).satisfied


def test_two_tables_are_not_joined_with_earlier_ones() -> None:
    """Such a requirement is of one generalized table."""
    nss, ss = pa.table({"sex": ["m"], "id": [1]}), pa.table({"id": [1], "test": ["HIV"]})
    rule = {**RULE, "x": ["sex"], "y": ["test"]}
    with pytest.raises(InputError, match="are checked of a single generalized table"):
        verify_tables(nss, [ss], Promise(("sex",), ("test",), None, (rule,)), "id")
