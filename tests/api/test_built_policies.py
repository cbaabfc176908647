"""Policies built in code: equal to their file and back, checked by the one reader, with errors that name the key."""

import dataclasses
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.policy.toml_text import write_toml

AGE = {"age": sf.quasi(intervals=[5, 10])}


def test_the_example_of_the_guide_is_its_toml() -> None:
    """Every kind of column, and models of every family, come out as the policy file that one would write."""
    policy = sf.Policy(
        columns={
            "ssn": sf.identifier(),
            "age": sf.quasi(intervals=[5, 10], domain=[0, 119], top=90, least=1),
            "zip": sf.quasi(mask="right", length=5),
            "born": sf.quasi(dates=["month", "year"]),
            "height": sf.quasi(ranges=True, weight=0.5),
            "town": sf.quasi("sets"),
            "sex": sf.quasi("suppress"),
            "illness": sf.sensitive(),
            "visits": sf.plain(),
        },
        privacy=[sf.KAnonymity(5), sf.AlphaDeassociation("illness", 0.3)],  # type: ignore[arg-type]  # either order
        algorithm={"name": "mondrian", "suppression": 0.01},
        publish={"format": "parquet"},
        data="people.csv",
    )
    assert tomllib.loads(policy.to_toml()) == {
        "data": {"source": "people.csv"},
        "columns": {
            "ssn": {"role": "identifier"},
            "age": {
                "role": "quasi",
                "hierarchy": {"intervals": [5, 10], "domain": [0, 119], "top": 90},
                "least": 1,
            },
            "zip": {"role": "quasi", "hierarchy": {"mask": "right", "length": 5}},
            "born": {"role": "quasi", "hierarchy": {"dates": ["month", "year"]}},
            "height": {"role": "quasi", "hierarchy": {"ranges": True}, "weight": 0.5},
            "town": {"role": "quasi", "hierarchy": "sets"},
            "sex": {"role": "quasi", "hierarchy": "suppress"},
            "illness": {"role": "sensitive"},
            "visits": {"role": "plain"},
        },
        "privacy": [
            {"model": "k-anonymity", "k": 5},
            {"model": "alpha-deassociation", "alpha": 0.3, "column": "illness"},
        ],
        "algorithm": {"name": "mondrian", "suppression": 0.01},
        "publish": {"format": "parquet"},
    }


MODELS: list[Any] = [
    sf.KAnonymity(3),
    sf.AlphaDeassociation(alpha=0.5, column="illness", values=["HIV"], refined=True),
    sf.AlphaKAnonymity(alpha=0.5, k=3, columns=["illness", "income"]),
    sf.DistinctLDiversity("illness", 2),
    sf.EntropyLDiversity("illness", 1.5),
    sf.RecursiveLDiversity("illness", c=2.5, l=2),
    sf.TCloseness("income", t=0.2, distance="emd-ordered"),
    sf.IdentityKAnonymity(3, linked_k=2),
    sf.IdentityKLDiversity("illness", k=3, l=2),
    sf.IdentityAlphaBeta("illness", alpha=0.2, beta=0.4),
]
names = st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1, max_size=8)
widths = st.sampled_from([[5, 10], [1], [0.5, 1, 2], [10, 20, 100]])
hierarchies = st.one_of(
    st.sampled_from(["suppress", "sets"]).map(lambda word: {"hierarchy": word}),
    widths.map(lambda steps: {"intervals": steps}),
    st.builds(
        lambda side, length: {"mask": side, "length": length}, st.sampled_from(["left", "right"]), st.integers(1, 9)
    ),
    st.just({"ranges": True, "domain": [0, 100]}),
    st.just({"dates": ["day", "month", "decade"], "format": "%d.%m.%Y"}),
    st.lists(names.filter(lambda name: name != "*"), min_size=1, max_size=5, unique=True).map(
        lambda leaves: {"hierarchy": [[leaf, "group of many"] for leaf in leaves if leaf != "group of many"] or "sets"}
    ),
)
entries = st.one_of(
    st.builds(lambda kind, weight: sf.quasi(**kind, weight=weight), hierarchies, st.none() | st.floats(0.1, 9)),
    st.sampled_from([sf.plain(), sf.identifier(), sf.sensitive()]),
)


@st.composite
def policies(draw: st.DrawFn) -> sf.Policy:
    """A policy with columns of any names, some models, and options."""
    columns = draw(st.dictionaries(names, entries, max_size=5))
    fixed = AGE | {"illness": sf.sensitive(), "income": sf.sensitive(), "person": sf.individual()}
    options = st.fixed_dictionaries({}, optional={"suppression": st.floats(0, 1), "seed": st.integers(0, 2**63 - 1)})
    return sf.Policy(
        columns=columns | fixed,
        privacy=draw(st.lists(st.sampled_from(MODELS), min_size=1, max_size=4)),
        algorithm=draw(st.none() | st.sampled_from(["auto", "mondrian"]) | options),
        publish=draw(st.none() | st.sampled_from([{"format": "parquet"}, {"format": "csv"}])),
        data=draw(st.none() | st.just("people.csv") | st.just({"source": "people.csv", "null": ["", "?"]})),
    )


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(policies())
def test_a_policy_is_equal_to_its_file_and_back(policy: sf.Policy) -> None:
    """Its text, read, is an equal policy; so is the file that it saves, elsewhere and with files of hierarchies."""
    assert sf.Policy.read(tomllib.loads(policy.to_toml())) == policy
    with TemporaryDirectory() as folder:
        saved = sf.load_policy(policy.save(Path(folder) / "policy.toml"))
        assert saved == policy
        assert saved.to_toml() == Path(folder, "policy.toml").read_text(encoding="utf-8")


@settings(max_examples=50, deadline=None)
@given(policies(), policies())
def test_policies_that_differ_are_not_equal(one: sf.Policy, other: sf.Policy) -> None:
    """Two policies are equal only if they have the same tables, up to what is left out at its default."""
    assert (one == other) <= (one.requirements == other.requirements)
    assert (one == other) <= (dict(one.columns) == dict(other.columns))
    assert (one == other) <= (hash(one) == hash(other))
    assert one != one.replace(algorithm="mondrian-relaxed")


def test_defaults_that_are_written_out_change_nothing() -> None:
    """A policy that says what would be so anyway is the same policy; one with another k is not."""
    short = sf.Policy(columns=AGE, privacy=[sf.KAnonymity(2)])
    long = sf.Policy(
        columns={"age": sf.quasi(intervals=[5, 10], origin=0, least=0, weight=1)},
        privacy=[{"model": "k-anonymity", "k": 2}],
        algorithm={"name": "auto", "suppression": 0},
        publish={"form": "generalized", "format": "csv"},
    )
    assert short == long
    assert short != sf.Policy(columns=AGE, privacy=[sf.KAnonymity(3)])
    both = {"sex": sf.quasi("suppress"), "person": sf.individual("person.key")}
    one, other = (sf.Policy(columns=order, privacy=[sf.KAnonymity(2)]) for order in (AGE | both, both | AGE))
    assert one == other
    assert hash(one) == hash(other)
    assert short != "a policy"


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: sf.Policy(columns=AGE, privacy=[]), "privacy: no privacy model"),
        (lambda: sf.Policy(columns=AGE), "privacy: no privacy model"),
        (lambda: sf.Policy(columns=AGE, privacy="k-anonymity"), "privacy: must be a list"),
        (lambda: sf.Policy(columns={"age": sf.plain()}, privacy=[sf.KAnonymity(2)]), "columns: no quasi-identifier"),
        (lambda: sf.Policy(columns={"age": 5}, privacy=[sf.KAnonymity(2)]), "columns.age: must be a table"),
        (
            lambda: sf.Policy(columns={"age": sf.quasi()}, privacy=[sf.KAnonymity(2)]),
            "columns.age.hierarchy: is missing",
        ),
        (
            lambda: sf.Policy(columns=AGE, privacy=[sf.DistinctLDiversity("ill", 2)]),
            r"privacy\[0\].column: 'ill' is not",
        ),
        (lambda: sf.Policy(columns=AGE, privacy=[sf.KAnonymity(2)], algorithm="best"), "algorithm.name: must be"),
        (lambda: sf.Policy(columns=AGE, privacy=[sf.KAnonymity(2)], publish={"from": 1}), "publish.from: is not a key"),
        (lambda: sf.quasi(intervals=[5], mask="right"), "in one way, and here are intervals and mask"),
        (lambda: sf.quasi(top=90), "top goes with intervals, mask, dates or ranges"),
        (
            lambda: sf.Policy(columns={"age": sf.quasi(intervals=[5], tip=9)}, privacy=[sf.KAnonymity(2)]),
            "columns.age.hierarchy.tip: unknown key; did you mean top",
        ),
    ],
)
def test_errors_name_the_key(build: Any, sentence: str) -> None:
    """Whatever is wrong is said by the reader of files, with the key that it has in one."""
    with pytest.raises(sf.PolicyError, match=sentence):
        build()


def test_an_unknown_argument_is_an_error_of_python() -> None:
    """A keyword that no policy has is refused as any function refuses it."""
    with pytest.raises(TypeError, match="unexpected keyword argument 'private'"):
        sf.Policy(columns=AGE, privacy=[sf.KAnonymity(2)], private=True)


def test_numbers_of_numpy_are_numbers() -> None:
    """What comes from np.arange or a column of a frame is written as any number is."""
    plain = sf.Policy(columns={"age": sf.quasi(intervals=[5, 10], domain=[0, 99])}, privacy=[sf.KAnonymity(5)])
    widths: Any = np.array([5, 10])
    least: Any = np.int64(5)
    ends = (np.int64(0), np.int64(99))
    built = sf.Policy(columns={"age": sf.quasi(intervals=widths, domain=ends)}, privacy=[sf.KAnonymity(least)])
    assert built == plain
    assert built.to_toml() == plain.to_toml()
    with pytest.raises(sf.PolicyError, match="k: must be a whole number"):
        sf.KAnonymity(np.bool_(True))  # type: ignore[arg-type]


def test_parts_can_be_replaced_and_are_checked_again() -> None:
    """`dataclasses.replace` works on a policy, and cannot make one that means nothing."""
    policy = sf.Policy(columns=AGE, privacy=[sf.KAnonymity(2)])
    assert dataclasses.replace(policy, lenient=True) != policy
    with pytest.raises(sf.PolicyError, match="no quasi-identifier"):
        dataclasses.replace(policy, columns={})


def test_costs_of_a_model_are_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A general earth mover's distance names its file, from where the program runs; it is found from elsewhere too."""
    monkeypatch.chdir(tmp_path)
    Path("costs.csv").write_text("flu,HIV,1\nflu,cold,0.5\nHIV,cold,1\n", encoding="utf-8")
    model = sf.TCloseness("illness", t=0.5, distance="emd", costs="costs.csv")  # type: ignore[arg-type]  # it is read
    policy = sf.Policy(columns=AGE | {"illness": sf.sensitive()}, privacy=model)
    Path("deep").mkdir()
    assert sf.load_policy(policy.save("deep/policy.toml")) == policy
    assert tomllib.loads(Path("deep/policy.toml").read_text())["privacy"][0]["costs"] == "../costs.csv"


def test_a_saved_policy_is_not_replaced_unless_asked(tmp_path: Path) -> None:
    """Neither the policy nor its hierarchies are overwritten by accident, and a place that is none is a sentence."""
    policy = sf.Policy(columns={"job": sf.quasi({"cook": "service"})}, privacy=[sf.KAnonymity(2)])
    target = policy.save(tmp_path / "policy.toml")
    with pytest.raises(sf.OutputError, match="exists already"):
        policy.save(target)
    assert policy.save(target, force=True) == target
    with pytest.raises(sf.OutputError, match="cannot write"):
        policy.save(tmp_path / "policy.toml" / "inside.toml")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["policy-hierarchies", "policy.toml"]


def test_a_release_by_a_built_policy_is_that_by_its_file(tmp_path: Path) -> None:
    """The audit has the policy as a file would, with lines for a tree, and the release verifies."""
    towns = {"Bern": "Switzerland", "Thun": "Switzerland", "Lyon": "France", "Nice": "France"}
    policy = sf.Policy(columns={"town": sf.quasi(towns)}, privacy=[sf.KAnonymity(2)], algorithm="optimal")
    table = pa.table({"town": ["Bern", "Thun", "Lyon", "Nice"]})
    release = sf.anonymize(table, policy)
    assert sorted(release.table.column("town").to_pylist()) == ["France", "France", "Switzerland", "Switzerland"]
    folder = release.save(tmp_path / "release")
    assert sf.verify(folder).satisfied
    assert sf.utility(folder, table).losses.ncp == release.utility.ncp  # by the policy in the audit
    assert sf.anonymize(table, tomllib.loads(write_toml(policy.document))).utility.ncp == release.utility.ncp
