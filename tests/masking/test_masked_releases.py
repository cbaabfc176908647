"""Masked columns in releases: every form and algorithm, what is told of them, and what the verifier sees."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest
from pyarrow import parquet as pq

import sfumato as sf
from sfumato.errors import Infeasible, InputError, NotVerified, PolicyError
from sfumato.policy import schema
from sfumato.policy.options import FULL_DOMAIN, LOCAL
from sfumato.release.verification import asked_by_policy
from sfumato.verifier import verify

Rules = Callable[..., dict[str, Any]]
Saves = Callable[..., Path]
Runs = Callable[..., Any]

COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "hierarchy": {"intervals": [10, 20, 40], "domain": [0, 119]}, "top": 80, "bottom": 20},
    "sex": {"role": "quasi", "hierarchy": "suppress", "pram": 0.9},
    "pay": {"role": "plain", "noise": 0.3},
    "hours": {"role": "sensitive", "swap": 0.1, "round": 5},
    "job": {"role": "sensitive", "pram": 0.7},
    "since": {"role": "plain", "noise": 0.3, "top": "2019-12-31"},
}
DIVERSE = [{"model": "k-anonymity", "k": 3}, {"model": "distinct-l-diversity", "column": "job", "l": 2}]


def policy(**more: Any) -> dict[str, Any]:
    """The policy of the masked columns, with what is given in place of or besides its tables."""
    return {"columns": COLUMNS, "privacy": DIVERSE, "algorithm": {"suppression": 0.3, "seed": 1}} | more


@pytest.fixture(scope="module")
def released(staff: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of the masked columns, which nobody changes."""
    return sf.anonymize(staff, policy()).save(tmp_path_factory.mktemp("masked") / "release")


@pytest.fixture(scope="module")
def stepped(staff: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release whose columns have steps and bounds that can be seen in every cell."""
    columns = {
        "age": {"role": "quasi", "hierarchy": {"intervals": [10, 20, 40]}},
        "sex": {"role": "quasi", "hierarchy": "suppress"},
        "pay": {"role": "plain", "round": 100},
        "hours": {"role": "plain", "top": 50, "bottom": 20},
        "job": {"role": "plain"},
        "since": {"role": "plain", "top": "2019-12-31"},
    }
    rules = policy(columns=columns, privacy=DIVERSE[:1])
    return sf.anonymize(staff, rules).save(tmp_path_factory.mktemp("stepped") / "release")


def manifest_of(folder: Path) -> dict[str, Any]:
    """The public account."""
    content: dict[str, Any] = json.loads((folder / "public" / "manifest.json").read_text())
    return content


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", [*FULL_DOMAIN, *LOCAL, "tds", "auto"])
def test_masks_go_with_every_algorithm(staff: Any, algorithm: str) -> None:
    """The verifier passes the release, whatever recoded it, and masks are as they were asked for."""
    release = sf.anonymize(staff, policy(algorithm={"name": algorithm, "suppression": 0.5, "seed": 1}))
    published = release.table
    assert release.verdict.satisfied
    assert all(hours % 5 == 0 for hours in published["hours"].to_pylist())
    assert max(published["since"].to_pylist()).year <= 2019
    assert set(published["pay"].to_pylist()) != set(staff["pay"].to_pylist())
    assert list(release.masked.columns) == list(COLUMNS)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["lossy-join", "anatomy"])
@pytest.mark.parametrize("ss", ["together", "apart"])
def test_masks_go_with_two_tables(staff: Any, saves: Saves, form: str, ss: str) -> None:
    """Quasi-identifiers and sensitive values are masked alike where no label hides them."""
    rules = policy(publish={"form": form, "ss": ss}, privacy=DIVERSE[1:] if form == "anatomy" else DIVERSE)
    folder = saves(staff, rules)
    verdict = verify(folder)
    assert verdict.satisfied
    ages = pc.read_csv(folder / "public" / "nss.csv")["age"].to_pylist()
    assert (min(ages), max(ages)) == (20, 80)
    assert any("cannot be told from published values" in note for note in verdict.notes)


def test_masks_go_with_drawn_rows(staff: Any, saves: Saves) -> None:
    """Groups are of masked values: the verifier passes what was drawn from these, and all accounts say so."""
    columns = {
        name: {key: value for key, value in entry.items() if key != "hierarchy"} for name, entry in COLUMNS.items()
    }
    rules = policy(
        columns=columns,
        privacy=DIVERSE[:1],
        algorithm={"name": "condensation", "seed": 1},
        publish={"form": "synthetic"},
    )
    folder = saves(staff, rules)
    verdict = verify(folder)
    assert verdict.satisfied
    assert any("masked before rows were drawn" in note for note in verdict.notes)
    manifest = manifest_of(folder)
    assert "Masked before rows were put into groups: 'age' (top 80, bottom 20)" in manifest["protects"]
    assert next(one for one in manifest["columns"] if one["name"] == "pay")["masked"][0]["method"] == "noise"
    audit = json.loads((folder / "private" / "audit.json").read_text())
    assert set(audit["masked"]) == set(COLUMNS)
    assert "Masked columns</h2>" in (folder / "private" / "report.html").read_text()
    truth, likeness = np.array(staff["age"]), audit["utility"]["columns"]["age"]
    assert likeness["distance"] > (truth > 80).mean() / 2  # beside the true ages, not the coded ones


def test_the_manifest_states_methods_and_no_figure_of_the_truth(released: Path) -> None:
    """Every masked column has its methods with parameters; the text says what they promise, and what they do not."""
    manifest = manifest_of(released)
    entries = {column["name"]: column for column in manifest["columns"]}
    assert entries["pay"]["masked"] == [{"method": "noise", "share": 0.3, "correlated": True}]
    assert [method["method"] for method in entries["hours"]["masked"]] == ["rank swapping", "rounding"]
    assert entries["age"]["generalized"] is True
    assert "'job': a value is kept with chance 0.7" in manifest["protects"]
    assert "Masking by itself promises none of the definitions" in manifest["protects"]
    text = json.dumps(manifest)
    audit = json.loads((released / "private" / "audit.json").read_text())
    for name in ("pay", "since"):
        assert audit["masked"][name]["noise_deviation"] > 0
        assert f"{audit['masked'][name]['noise_deviation']:.6g}"[:5] not in text
    assert "seed" not in text


def test_the_odds_are_those_of_published_values(released: Path) -> None:
    """With four jobs kept with chance 0.7: 1 + 0.7 · 4 / 0.3 times."""
    manifest = manifest_of(released)
    assert "10.3 times (ε = 2.34) if the 4 that are published are all" in manifest["protects"]
    assert "(ε = 2.34)" in manifest["protects"]


def test_of_several_masks_each_promises_of_what_it_was_given(released: Path) -> None:
    """A value that was swapped and rounded, or coded and then changed, is not within so much of the true one."""
    protects = manifest_of(released)["protects"]
    hours, since = (protects[protects.index(f"'{name}': ") :].partition(". ")[0] for name in ("hours", "since"))
    assert "what each was before this step is within 2.5 of it" in hours
    assert "count as 2019-12-31" in since
    assert "the true" not in hours + since


def test_report_and_summary_tell_of_masks(released: Path) -> None:
    """A section for the data holder, and a line for each column for readers."""
    report = (released / "private" / "report.html").read_text()
    summary = (released / "public" / "summary.html").read_text()
    assert "Masked columns</h2>" in report
    assert "What can be recovered of noise" in report
    assert "masked by noise (share = 0.3, correlated = yes)" in summary
    assert "Masked columns" in summary


def test_true_values_of_a_column_with_noise_are_in_no_public_byte(rules: Rules, saves: Saves, tmp_path: Path) -> None:
    """Numbers of nine digits, which no noise hits again: not in the tables, the accounts, the page or the report."""
    draw = np.random.default_rng(7)
    secret = draw.integers(10**8, 10**9, 60)
    table = pa.table({"sex": ["f", "m"] * 30, "pay": secret, "gain": np.round(secret / 7, 3)})
    for form in ("csv", "parquet"):
        folder = saves(
            table,
            rules(
                {"sex": "quasi", "pay": {"role": "plain", "noise": 0.2}, "gain": {"role": "sensitive", "noise": 0.2}},
                publish={"format": form},
            ),
        )
        content = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
        if form == "parquet":
            published = pq.read_table(folder / "public" / "table.parquet")
            content += published.to_pandas().to_csv().encode()
        for value, other in zip(table["pay"].to_pylist(), table["gain"].to_pylist(), strict=True):
            assert str(value).encode() not in content
            assert str(other).encode() not in content


def _tamper(folder: Path, column: str, change: Callable[[str], str]) -> None:
    """Change one cell of a published CSV, and cover the tracks in the manifest."""
    path = folder / "public" / "table.csv"
    lines = path.read_text().splitlines()
    place = lines[0].split(",").index(column)
    cells = lines[1].split(",")
    cells[place] = change(cells[place])
    path.write_text("\n".join([lines[0], ",".join(cells), *lines[2:]]) + "\n")
    manifest = manifest_of(folder)
    content = path.read_bytes()
    manifest["files"]["table.csv"] = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    (folder / "public" / "manifest.json").write_text(json.dumps(manifest))
    for private in (folder / "private").iterdir():
        private.unlink()


@pytest.mark.parametrize(
    ("column", "cell", "said"),
    [
        ("pay", "1001", "column 'pay' has a value that is no multiple of 100"),
        ("pay", "60000.0000001", "no multiple of 100"),
        ("pay", "much", "no multiple of 100"),
        ("hours", "51.5", "column 'hours' has 1 value above 50, or none at all"),
        ("hours", "-5", "column 'hours' has 1 value below 20, or none at all"),
        ("since", "2020-01-01", "column 'since' has 1 value above 2019-12-31, or none at all"),
    ],
)
def test_the_verifier_finds_a_cell_that_was_not_masked(
    stepped: Path, tmp_path: Path, column: str, cell: str, said: str
) -> None:
    """Steps and bounds are checked in every cell of the written file, by other code."""
    folder = Path(shutil.copytree(stepped, tmp_path / "release"))
    assert verify(folder).satisfied
    _tamper(folder, column, lambda _: cell)
    assert any(said in problem for problem in verify(folder).problems)


def test_a_manifest_that_states_other_masks_is_refused(released: Path, tmp_path: Path) -> None:
    """The audit has the policy, which has the masks; and a mask that is none is no proper manifest."""
    folder = Path(shutil.copytree(released, tmp_path / "release"))
    path, manifest = folder / "public" / "manifest.json", manifest_of(folder)
    entry = next(column for column in manifest["columns"] if column["name"] == "pay")
    entry["masked"] = [{"method": "noise", "share": 0.1, "correlated": True}]
    path.write_text(json.dumps(manifest))
    assert any("does not mask 'pay' as the policy" in problem for problem in verify(folder).problems)
    for wrong in ([{"method": "magic"}], "noise", [{"method": "rounding", "step": 0}], [{"method": "rounding"}] * 2):
        entry["masked"] = wrong
        path.write_text(json.dumps(manifest))
        with pytest.raises(NotVerified, match="describes column 'pay' in no proper way"):
            verify(folder)


def test_a_policy_with_other_masks_is_not_that_of_the_release(released: Path) -> None:
    """`verify --policy` says which columns differ."""
    assert verify(released, asked=asked_by_policy(sf.load_policy(policy()))).satisfied
    other = COLUMNS | {"pay": {"role": "plain", "round": 100}}
    found = verify(released, asked=asked_by_policy(sf.load_policy(policy(columns=other))))
    assert any("the policy masks 'pay' in another way" in problem for problem in found.problems)


@pytest.mark.slow
def test_the_command_prints_a_line_for_each_masked_column(staff: Any, runs: Runs, tmp_path: Path) -> None:
    """On a terminal as a table, with --json under the key masked; what is recovered much of is warned of."""
    pc.write_csv(staff, tmp_path / "staff.csv")
    sf.Policy(**policy(data={"source": "staff.csv"})).save(tmp_path / "policy.toml")
    shown = runs("anonymize", "policy.toml", "--out", "one")
    assert shown.code == 0
    assert "noise 0.3" in shown.out
    assert "of cells" in shown.out
    found = json.loads(runs("anonymize", "policy.toml", "--out", "two", "--json").out)
    assert set(found["masked"]) == set(COLUMNS)
    assert {"changed", "mean", "standard_deviation", "correlation", "ks", "rank_displacement", "recovery"} <= set(
        found["masked"]["pay"]
    )
    assert any(sentence.startswith("noise on 'pay', 'since' hides") for sentence in found["warnings"])
    told = json.loads(runs("verify", "two", "--json").out)
    assert len(told["notes"]) == 2


def test_text_of_a_file_keeps_its_shape(runs: Runs, tmp_path: Path, cells: Any) -> None:
    """Prices of a CSV keep two decimals, whole numbers none, and missing cells stay missing."""
    rows = [f"{'fm'[row % 2]},{row * 7 % 40}.{row % 90 + 10},{row if row % 5 else ''}" for row in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["sex,price,visits", *rows]) + "\n")
    (tmp_path / "p.toml").write_text(
        '[data]\nsource = "t.csv"\n[columns]\nsex = { role = "quasi", hierarchy = "suppress" }\n'
        'price = { role = "plain", noise = 0.2 }\nvisits = { role = "plain", noise = 0.2, bottom = 0 }\n'
        '[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
    )
    assert runs("anonymize", "p.toml", "--out", "r").code == 0
    published = cells(tmp_path / "r" / "public" / "table.csv")
    assert all(len(row["price"].partition(".")[2]) == 2 for row in published)
    assert sum(row["visits"] == "" for row in published) == 12
    assert all(row["visits"] == "" or (row["visits"].isdigit() and int(row["visits"]) >= 0) for row in published)


def test_the_error_of_an_average_has_the_noise(staff: Any, saves: Saves) -> None:
    """± of an average is the noise's deviation over the root of the rows; of a sum, times the root."""
    columns = COLUMNS | {"sex": {"role": "quasi", "hierarchy": "suppress"}}
    folder = saves(staff, policy(columns=columns))
    audit = json.loads((folder / "private" / "audit.json").read_text())
    deviation, rows = audit["masked"]["pay"]["noise_deviation"], manifest_of(folder)["rows"]
    average, total, count = sf.query(folder, "select avg(pay), sum(pay), count(*)")[0].values.values()
    assert average.standard_error == pytest.approx(deviation / np.sqrt(rows), rel=0.15)
    assert total.standard_error == pytest.approx(deviation * np.sqrt(rows), rel=0.15)
    assert count.standard_error == 0
    (double,) = sf.query(folder, "select avg(2 * pay + 7)")[0].values.values()
    assert double.standard_error == pytest.approx(2 * float(average.standard_error or 0))
    rounded = sf.query(folder, "select avg(hours)")[0].values["avg(hours)"]
    assert rounded.standard_error == pytest.approx(5 / np.sqrt(12 * rows))


@pytest.mark.slow
def test_the_error_of_an_average_holds_the_truth(staff: Any, rules: Rules, saves: Saves) -> None:
    """Over twenty releases, the true mean is within two standard errors of nearly all answers."""
    truth = float(np.mean(staff["pay"].to_pylist()))
    table, hits = staff.select(["sex", "pay"]), 0
    for seed in range(20):
        entry = {"role": "plain", "noise": 0.5}
        folder = saves(table, rules({"sex": "quasi", "pay": entry}, algorithm={"seed": seed}))
        found = sf.query(folder, "select avg(pay)")[0].values["avg(pay)"]
        hits += abs(found.estimate - truth) <= 2 * found.standard_error  # type: ignore[operator]
    assert hits >= 17


def test_answers_say_what_is_masked(released: Path) -> None:
    """In words, for what a standard error cannot have; and nothing of columns that the query is not about."""
    found = sf.query(released, "select job, count(*) where since > '2000-01-01' group by job")
    assert len(found.masked) == 2
    assert any("(count - rows * 0.3 / 4) / 0.7 takes that back" in one for one in found.masked)
    assert "masked" in found.as_json()
    assert sf.query(released, "select count(*)").masked == ()
    assert "masked" not in sf.query(released, "select count(*)").as_json()


@pytest.mark.slow
@pytest.mark.parametrize("form", ["generalized", "lossy-join"])
def test_utility_compares_with_true_values(staff: Any, saves: Saves, form: str) -> None:
    """Published distributions beside the true ones; without a seed what was drawn cannot be had again, and is said."""
    rules = policy(algorithm={"suppression": 0.0}, publish={"form": form})
    folder = saves(staff, rules)
    found = sf.utility(folder, staff)
    assert found.masked["pay"].mean is not None
    assert found.masked["pay"].mean[0] == pytest.approx(np.mean(staff["pay"].to_pylist()))
    assert found.masked["hours"].distance is not None
    assert found.queries is not None
    assert found.queries.sensitive == "job"
    assert ("age" in found.masked) is (form == "lossy-join")
    noisy = COLUMNS | {"age": {"role": "quasi", "hierarchy": {"intervals": [10, 20, 40]}, "noise": 0.1}}
    folder = saves(staff, rules | {"columns": noisy})
    with pytest.raises(InputError, match="noise made other values of those of 'age'"):
        sf.utility(folder, staff)
    again = saves(staff, rules | {"columns": noisy, "algorithm": {"seed": 3}})
    assert sf.utility(again, staff).losses.ncp == pytest.approx(
        json.loads((again / "private" / "audit.json").read_text())["utility"]["ncp"]
    )


@pytest.mark.slow
def test_attacks_look_people_up_by_true_values(staff: Any, saves: Saves) -> None:
    """They say that rows need not have these; an attack that has to make the release again says why it cannot."""
    folder = saves(staff, policy(algorithm={"suppression": 0.3}))
    found = sf.attack.known(folder, staff)
    assert any("looked up by true values" in note for note in found.notes)
    linked = sf.attack.link(folder, staff, ["age", "sex"])
    assert any("looked up by true values" in note for note in linked.notes)
    with pytest.raises(InputError, match="masked at random, which nobody can do in the same way again"):
        sf.attack.minimality(folder, staff)
    seeded = saves(staff, policy())
    assert sf.attack.minimality(seeded, staff).columns


@pytest.mark.slow
def test_further_rows_are_masked_as_those_before(staff: Any, saves: Saves, tmp_path: Path) -> None:
    """Under the same bounds and steps, with noise of the same size; too few to swap among are refused."""
    rules = policy(algorithm={"suppression": 0.3}, apply={"promise": "together", "suppression": 0.9})
    folder = saves(staff.slice(0, 400), rules)
    before = json.loads((folder / "private" / "audit.json").read_text())["masking"]
    later = staff.slice(400)
    extended = sf.apply(folder, later)
    assert extended.verdict.satisfied
    published = extended.table
    assert all(hours % 5 == 0 for hours in published["hours"].to_pylist())
    hit = set(published["pay"].to_pylist()) & set(later["pay"].to_pylist())
    assert len(hit) < published.num_rows / 4  # by chance, now and then
    place = before["noise"]["columns"].index("pay")
    assert extended.masked.columns["pay"].applied.deviation == before["noise"]["deviations"][place]
    out = extended.save(tmp_path / "further")
    assert verify(out).satisfied
    with pytest.raises(sf.DataError, match=r"swap = 0.1 of the ranks is less than one"):
        sf.apply(folder, later.slice(0, 3))
    audit = json.loads((folder / "private" / "audit.json").read_text())
    del audit["masking"]
    (folder / "private" / "audit.json").write_text(json.dumps(audit))
    with pytest.raises(sf.DataError, match="does not say how columns were masked"):
        sf.apply(folder, later)


def test_a_comparison_masks_once(staff: Any) -> None:
    """Lines of a comparison differ by their algorithm, and not by what was drawn."""
    rules = policy(algorithm={"suppression": 0.5})
    found = sf.compare(staff, rules, algorithms=["mondrian", "mondrian"], settings={"k": [3, 3]})
    ncps = {line.figures.ncp for line in found.outcomes if line.figures}
    assert len(ncps) == 1


def test_several_rows_of_a_person_are_warned_of(staff: Any, rules: Rules) -> None:
    """Each row is masked by itself, so that the mean of a person's rows tells."""
    table = staff.append_column("who", pa.array([f"p{row // 3}" for row in range(600)])).select(["sex", "pay", "who"])
    entry = {"role": "plain", "noise": 0.3}
    release = sf.anonymize(table, rules({"sex": "quasi", "pay": entry, "who": "individual"}))
    assert any("each row is masked by itself" in sentence for sentence in release.warnings)
    once = sf.anonymize(table.select(["sex", "pay"]), rules({"sex": "quasi", "pay": entry}))
    assert not any("each row is masked by itself" in sentence for sentence in once.warnings)


@pytest.mark.slow
def test_diversity_of_noisy_values_is_warned_of(staff: Any) -> None:
    """Noise makes different values of any, and a count of them promises little; rounded ones are not."""
    l_diverse = [{"model": "distinct-l-diversity", "column": "pay", "l": 2}]
    for entry, warned in (({"noise": 0.1}, True), ({"noise": 0.1, "round": 10_000}, False)):
        columns = COLUMNS | {"pay": {"role": "sensitive", **entry}}
        release = sf.anonymize(staff, policy(columns=columns, privacy=l_diverse))
        assert any("counts different values of 'pay'" in sentence for sentence in release.warnings) is warned


@pytest.mark.slow
def test_a_ledger_says_that_noise_averages_out(staff: Any, rules: Rules, tmp_path: Path) -> None:
    """A second release of a column that is masked at random, about the same people."""
    from sfumato.ledger import Ledger, make_recorded_release
    from sfumato.policy import load

    # so large that no two draws of the noise are equal: records are matched by equal values of what both releases tell
    pay = pa.array(staff["pay"].to_numpy() * 1_000_003)
    pc.write_csv(staff.select(["sex"]).append_column("pay", pay), tmp_path / "staff.csv")
    ledger = Ledger.create(tmp_path / "ledger")
    noisy = rules(
        {"sex": "quasi", "pay": {"role": "plain", "noise": 0.3}}, data={"source": str(tmp_path / "staff.csv")}
    )
    for number in (1, 2):
        made = make_recorded_release(ledger, load(noisy), population="staff", name=f"r{number}")
        made.save(tmp_path / f"r{number}")
        warned = any("averages it out over the releases" in sentence for sentence in made.warnings)
        assert warned is (number == 2)


def test_policies_in_code_and_in_files_are_the_same(tmp_path: Path) -> None:
    """`sf.quasi`, `sf.sensitive` and `sf.plain` write the keys of a policy file, and it is read back equal."""
    built = sf.Policy(
        columns={
            "age": sf.quasi(intervals=[5, 10], top=100, noise=0.1, top_code=90, bottom_code=16),
            "pay": sf.sensitive(noise={"share": 0.1, "correlated": False}, round=100, bottom=0),
            "wage": sf.sensitive(swap=0.05),
            "job": sf.plain(pram={"keep": 0.8, "invariant": True}),
            "born": sf.plain(top="1999-12-31"),
        },
        privacy=[sf.KAnonymity(2)],
    )
    assert built.columns["age"].masks.top == 90
    assert built.columns["age"].hierarchy.top == 100  # type: ignore[union-attr]
    again = sf.load_policy(built.save(tmp_path / "policy.toml"))
    assert again == built
    assert [column.name for column in again.masked] == ["age", "pay", "wage", "job", "born"]
    assert "masked by" in str(built.display().as_text())
    plain = sf.Policy(columns={"age": sf.quasi("suppress"), "pay": sf.plain()}, privacy=[sf.KAnonymity(2)])
    assert plain != sf.Policy(
        columns={"age": sf.quasi("suppress"), "pay": sf.plain(noise=1)}, privacy=[sf.KAnonymity(2)]
    )


BAD = [
    ({"role": "identifier", "noise": 0.1}, "columns.x.noise: a column of role identifier is never published"),
    ({"role": "individual", "round": 5}, "columns.x.round: persons are published as pseudonyms"),
    ({"role": "weight", "swap": 0.1}, "columns.x.swap: a sampling weight can be rounded"),
    ({"role": "plain", "noise": 0}, "must be a number from 0.001 to 10"),
    ({"role": "plain", "noise": "much"}, "must be a number from 0.001 to 10"),
    ({"role": "plain", "noise": True}, "must be a number from 0.001 to 10"),
    ({"role": "plain", "noise": {"correlated": True}}, "columns.x.noise.share: is missing"),
    ({"role": "plain", "noise": {"share": 0.1, "correlated": 1}}, "must be true or false"),
    ({"role": "plain", "noise": {"share": 0.1, "corelated": True}}, "did you mean correlated"),
    ({"role": "plain", "swap": 0}, "must be a number above 0 and up to 1"),
    ({"role": "plain", "swap": 1.5}, "must be a number above 0 and up to 1"),
    ({"role": "plain", "pram": 1}, "must be a number from 0 and below 1"),
    ({"role": "plain", "pram": {"invariant": True}}, "columns.x.pram.keep: is missing"),
    ({"role": "plain", "round": 0}, "must be a number above 0"),
    ({"role": "plain", "round": -5}, "must be a number of at least 0"),
    ({"role": "plain", "top": "high"}, "must be a number, or a date such as 1979-05-27"),
]


@pytest.mark.parametrize(("entry", "said"), BAD)
def test_keys_that_mean_nothing_are_refused(entry: dict[str, Any], said: str, rules: Rules) -> None:
    """By a sentence that names the key; the schema refuses them, too."""
    import jsonschema

    document = rules({"q": "quasi", "x": entry})
    with pytest.raises(PolicyError) as caught:
        sf.load_policy(document)
    assert said in str(caught.value)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema()).validate(document)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"role": "plain", "top": 5, "bottom": 5}, "columns.x.top: must be above bottom, which is 5, and is 5"),
        ({"role": "plain", "top": 5, "bottom": "2020-01-01"}, "is a date where the other bound is a number"),
        ({"role": "plain", "top": "2020-01-01", "round": 5}, "dates have no multiples"),
        ({"role": "plain", "top": 95, "round": 10}, "is 95, which is no multiple of round = 10"),
        ({"role": "plain", "noise": 0.1, "pram": 0.5}, "leave pram or noise out"),
        (
            {"role": "quasi", "hierarchy": {"lines": [["1", "*"]]}, "noise": 0.1},
            "a hierarchy file knows certain values alone",
        ),
        ({"role": "quasi", "hierarchy": {"mask": "right"}, "noise": 0.1}, "digits that are masked are a code"),
        (
            {"role": "quasi", "hierarchy": lambda value: [str(value)], "noise": 0.1},
            "a function is asked for the labels",
        ),
    ],
)
def test_keys_that_do_not_go_together_are_refused(entry: dict[str, Any], said: str, rules: Rules) -> None:
    """What one mask, or the hierarchy, makes of the other."""
    with pytest.raises(PolicyError) as caught:
        sf.load_policy(rules({"q": "quasi", "x": entry}))
    assert said in str(caught.value)


@pytest.mark.slow
def test_frames_come_back_as_they_came(rules: Rules) -> None:
    """Pandas and polars keep their types, also where a column is masked."""
    import pandas as pd
    import polars as pl

    table = {"sex": ["f", "m"] * 20, "pay": list(range(1000, 1040)), "job": ["cook", "smith"] * 20}
    entries = {"sex": "quasi", "pay": {"role": "plain", "noise": 0.2}, "job": {"role": "plain", "pram": 0.5}}
    frame = pd.DataFrame(table).astype({"job": "category", "pay": "Int32"})
    published = sf.anonymize(frame, rules(entries)).table
    assert published.dtypes["pay"] == "Int32"
    assert set(published["job"].cat.categories) <= {"cook", "smith"}
    other = pl.DataFrame(table, schema_overrides={"pay": pl.UInt16, "job": pl.Categorical})
    published = sf.anonymize(other, rules(entries)).table
    assert published.schema["pay"] == pl.UInt16
    with pytest.raises(sf.DataError, match="holds categories"):
        sf.anonymize(frame.astype({"pay": "category"}), rules(entries))


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_all_types_are_masked_written_and_verified(rules: Rules, saves: Saves, form: str) -> None:
    """Dates, timestamps, decimals, narrow floats and wide integers, with every mask that they take."""
    draw = np.random.default_rng(1)
    days, hours = draw.integers(10_000, 19_000, 40), draw.integers(0, 90_000, 40) * 3_600_000
    table = pa.table(
        {
            "sex": ["f", "m"] * 20,
            "day": pa.array(days.astype(np.int32)).cast(pa.date32()),
            "hour": pa.array(hours + 946_684_800_000).cast(pa.timestamp("ms")),
            "price": pa.array([f"{value / 100:.2f}" for value in draw.integers(0, 90_000, 40)]).cast(
                pa.decimal128(10, 2)
            ),
            "narrow": pa.array(draw.normal(0, 1, 40).astype(np.float32)),
            "wide": pa.array([2**63 + int(value) for value in draw.integers(0, 10**6, 40)], pa.uint64()),
            "flag": pa.array(draw.random(40) > 0.5),
        }
    )
    entries = {
        "sex": "quasi",
        "day": {"role": "plain", "noise": 0.1, "top": "2015-06-30", "swap": 0.2},
        "hour": {"role": "plain", "noise": 0.1, "bottom": "2003-01-01", "top": "2009-01-01"},
        "price": {"role": "plain", "noise": 0.1, "round": 0.25},
        "narrow": {"role": "plain", "noise": 0.1, "round": 0.1},
        "wide": {"role": "plain", "noise": 0.5, "round": 1000},
        "flag": {"role": "plain", "pram": 0.5},
    }
    folder = saves(table, rules(entries, publish={"format": form}))
    assert verify(folder).satisfied
    assert sf.anonymize(table, rules(entries)).table.schema.types == table.schema.types


def test_nothing_is_left_behind_where_a_column_cannot_be_masked(runs: Runs, staff: Any, tmp_path: Path) -> None:
    """One sentence, exit code 2, no folder."""
    pc.write_csv(staff, tmp_path / "staff.csv")
    columns = COLUMNS | {"job": {"role": "sensitive", "noise": 0.5}}
    sf.Policy(**policy(columns=columns, privacy=DIVERSE[:1], data={"source": "staff.csv"})).save(tmp_path / "p.toml")
    ended = runs("anonymize", "p.toml", "--out", "r")
    assert ended.code == 2
    assert ended.sentence.startswith("column 'job' has noise, and 4 of its different values are neither numbers")
    assert not (tmp_path / "r").exists()


def test_what_is_promised_is_promised_of_masked_values(rules: Rules) -> None:
    """Two values that rounding makes one are one class; a requirement that needs two fails."""
    table = pa.table({"x": [11, 12, 13, 14], "y": ["a", "b", "a", "b"]})
    entry = {"role": "quasi", "hierarchy": "suppress", "round": 10}
    release = sf.anonymize(table, rules({"x": entry, "y": "sensitive"}, k=4))
    assert release.table["x"].to_pylist() == [10] * 4
    assert release.utility.ncp == 0
    with pytest.raises(Infeasible):
        sf.anonymize(table, rules({"x": entry, "y": "sensitive"}, k=5))
