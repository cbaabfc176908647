"""What forms do, without a browser: presets, databases, the demo, copies of a release, and what a table cannot do."""

import json
import re
import sqlite3
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from sfumato.app.requirement_sentences import SENTENCES
from sfumato.models import MODELS
from sfumato.policy import load

pytestmark = pytest.mark.slow


@pytest.fixture
def released(served: Any) -> Any:
    """A server whose policy has been run."""
    cookie = served.enter()
    reply = served.post(cookie, "/run/start", policy="people.toml", version=served.version("people.toml"))
    assert reply[0] == 303
    run = served.bench.run_of("people.toml")
    assert run.over.wait(120)
    assert run.outcome == "done", run.sentence
    return served, cookie


def test_every_class_model_has_its_sentence() -> None:
    """A model that is added is offered with what it stops and does not stop."""
    assert set(SENTENCES) == set(MODELS)


def test_a_preset_replaces_roles_and_requirements(served: Any) -> None:
    """The policy is the one that sfumato init proposes after it, it runs, and undo takes it back."""
    cookie, before = served.enter(), (served.root / "people.toml").read_text()
    reply = served.post(
        cookie, "/requirements/preset", policy="people.toml", version=served.version("people.toml"), preset="cms"
    )
    assert reply[0] == 303
    rules = load(served.root / "people.toml")
    assert rules.privacy[0].required == {"k": 11}
    assert "CMS" in (served.root / "people.toml").read_text()
    served.post(cookie, "/undo", policy="people.toml", version=served.version("people.toml"), screen="requirements")
    assert (served.root / "people.toml").read_text() == before


def test_every_model_can_be_added_changed_and_taken_out(served: Any) -> None:
    """Each leaves a policy that holds together, or says why not; and the file as it was, in the end."""
    cookie, before = served.enter(), (served.root / "people.toml").read_text()
    for model, words in SENTENCES.items():
        if words.needs_person:
            continue
        reply = served.post(
            cookie,
            "/requirements/add",
            policy="people.toml",
            version=served.version("people.toml"),
            model=model,
            column="illness",
        )
        assert reply[0] == 303, reply[2]
        state = served.bench.desk("people.toml").read()
        assert state.fault == "", model
        page = served.get(cookie, "/requirements?policy=people.toml")[2].decode()
        assert words.title in page
        reply = served.post(cookie, "/requirements/remove", policy="people.toml", version=state.version, place="1")
        assert reply[0] == 303
    assert (served.root / "people.toml").read_text() == before


@pytest.mark.parametrize(
    ("key", "value"), [("key.k", "none"), ("key.k", "0"), ("key.k", "1e999"), ("place", "7"), ("place", "-1")]
)
def test_values_that_mean_nothing_are_refused(served: Any, key: str, value: str) -> None:
    """In a sentence, and the file stays as it was."""
    cookie, before = served.enter(), (served.root / "people.toml").read_text()
    fields = {"policy": "people.toml", "version": served.version("people.toml"), "place": "0", "key.k": "5", key: value}
    status, _, content = served.post(cookie, "/requirements/change", **fields)
    assert status in {409, 422}
    assert b"That was not done" in content
    assert (served.root / "people.toml").read_text() == before


def test_a_database_of_the_environment(served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is offered by its variable, one with a password is not, and the policy names its table."""
    with sqlite3.connect(served.root / "clinic.db") as database:
        database.execute("create table visits (age integer, job text)")
        database.executemany("insert into visits values (?, ?)", [(20 + i % 30, "ab"[i % 2]) for i in range(200)])
    database.close()
    monkeypatch.setenv("SFUMATO_DATABASE_CLINIC", f"sqlite:///{served.root / 'clinic.db'}")
    monkeypatch.setenv("SFUMATO_DATABASE_SECRET", "postgresql://me:swordfish@host/db")
    cookie = served.enter()
    page = served.get(cookie, "/open")[2].decode()
    assert "SFUMATO_DATABASE_CLINIC" in page
    assert "swordfish" not in page
    fields = {"variable": "SFUMATO_DATABASE_CLINIC", "table": "visits", "target": "visits.toml"}
    status, headers, content = served.post(cookie, "/open/database", **fields)
    assert (status, headers.get("location")) == (303, "/columns?policy=visits.toml"), content
    assert load(served.root / "visits.toml").source.table == "visits"
    assert served.get(cookie, "/columns?policy=visits.toml")[0] == 200
    assert served.post(cookie, "/open/database", **fields)[0] == 422  # a policy is never replaced


def test_the_report_may_do_nothing(released: Any) -> None:
    """It is shown in a sandbox: no script, no form, nothing from anywhere."""
    served, cookie = released
    status, headers, content = served.get(cookie, "/release/report?policy=people.toml")
    assert status == 200
    assert headers["content-security-policy"].startswith("sandbox; default-src 'none'; style-src 'unsafe-inline'")
    assert b"Release report" in content


def test_a_copy_of_a_release_is_whole(released: Any, runs: Any) -> None:
    """Under a name in the folder that is free; it verifies like the first."""
    served, cookie = released
    status, headers, _ = served.post(cookie, "/release/save", policy="people.toml", name="kept")
    assert status == 303
    assert b"A copy is kept as" in served.get(cookie, headers["location"])[2]
    assert runs("verify", served.root / "kept").code == 0
    first, second = (served.root / name / "public" / "table.csv" for name in ("people-release", "kept"))
    assert first.read_bytes() == second.read_bytes()
    before = sorted(served.root.rglob("*"))
    for name in ("kept", "people.csv", "../out", "/out"):
        assert served.post(cookie, "/release/save", policy="people.toml", name=name)[0] in {404, 422}, name
    assert sorted(served.root.rglob("*")) == before


def test_what_is_shown_of_a_release_is_of_that_release(released: Any, runs: Any) -> None:
    """Sampled classes are classes of the file; another release in its place has no view of this one."""
    served, cookie = released
    view = json.loads(served.bench.view_file("people.toml").read_text())
    rows = [line.split(",") for line in (served.root / "people-release/public/table.csv").read_text().splitlines()]
    place = {name: rows[0].index(name) for name in ("age", "sex", "job")}
    for one in view["classes"]:
        label = {name: one["labels"][name][0] for name in place}
        same = [row for row in rows[1:] if all(row[at] == label[name] for name, at in place.items())]
        assert len(same) == one["rows"]
    assert served.bench.view_file("people.toml").stat().st_mode & 0o077 == 0
    assert b"row by row" in served.get(cookie, "/release?policy=people.toml")[2]
    out = served.root / "people-release"
    assert runs("anonymize", served.root / "people.toml", "--out", out, "--force").code == 0
    page = served.get(cookie, "/release?policy=people.toml")[2]
    assert b"made elsewhere" in page
    assert b"row by row" not in page


def test_a_changed_policy_is_told_beside_its_release(released: Any) -> None:
    """What is shown is what was applied, and where it is another by now, that is said."""
    served, cookie = released
    assert b"was changed since" not in served.get(cookie, "/release?policy=people.toml")[2]
    fields = {"policy": "people.toml", "version": served.version("people.toml"), "place": "0", "key.k": "5"}
    served.post(cookie, "/requirements/change", **fields)
    assert b"was changed since this release was made" in served.get(cookie, "/release?policy=people.toml")[2]


def test_a_role_brings_its_hierarchy(served: Any) -> None:
    """Known to others again, a column gets one; a file that somebody edited is kept as it is."""
    cookie, tree = served.enter(), served.root / "people-hierarchies" / "job.csv"
    tree.write_text("cook,kitchen,*\nnurse,ward,*\nvet,ward,*\n")
    for role in ("plain", "quasi"):
        fields = {"policy": "people.toml", "version": served.version("people.toml"), "column": "3", "role": role}
        assert served.post(cookie, "/columns/role", **fields)[0] == 303
    state = served.bench.desk("people.toml").read()
    assert state.fault == ""
    assert state.columns["job"]["role"] == "quasi"
    if state.columns["job"].get("hierarchy") == "people-hierarchies/job.csv":
        assert tree.read_text() == "cook,kitchen,*\nnurse,ward,*\nvet,ward,*\n"


def test_no_cell_is_in_an_address_or_in_what_is_printed(released: Any, capfd: pytest.CaptureFixture[str]) -> None:
    """Links and forms name policies and places; nothing is logged."""
    served, cookie = released
    seen = ""
    for screen in ("open", "columns", "requirements", "run", "release"):
        content = served.get(cookie, f"/{screen}?policy=people.toml")[2].decode()
        seen += " ".join(re.findall(r'(?:href|action|hx-get|hx-post|src)="([^"]*)"', content))
    for cell in ("P001", "HIV", "nurse", quote("P001")):
        assert cell not in seen
    told = capfd.readouterr()
    assert (told.out, told.err) == ("", "")


def test_a_table_that_is_gone_is_a_sentence(served: Any) -> None:
    """Screens say what is missing, and go on when it is back."""
    cookie = served.enter()
    (served.root / "people.csv").rename(served.root / "moved.csv")
    status, _, content = served.get(cookie, "/columns?policy=people.toml")
    assert status == 422
    assert b"people.csv" in content
    assert served.get(cookie, "/run?policy=people.toml")[0] == 200
    Path(served.root / "moved.csv").rename(served.root / "people.csv")
    assert served.get(cookie, "/columns?policy=people.toml")[0] == 200


def test_a_role_brings_a_file_of_its_own(tmp_path: Path, serves: Any) -> None:
    """Where groups are proposed, they go into a file that no other column has, beside declared hierarchies."""
    folder = tmp_path / "desk"
    folder.mkdir()
    nouns, kinds = (
        ("cook", "nurse", "vet", "usher", "smith", "tailor"),
        ("old", "young", "town", "sea", "head", "night"),
    )
    jobs = [f"{kind} {noun}" for kind in kinds for noun in nouns]  # of few rows each, so that they are grouped
    rows = [f"{20 + i % 40},{jobs[int(36 * (i / 300) ** 3)]},{jobs[int(36 * (i / 300) ** 4)]}" for i in range(300)]
    (folder / "t.csv").write_text("age,job,trade\n" + "\n".join(rows) + "\n")
    (folder / "t.toml").write_text(
        '[data]\nsource = "t.csv"\n\n[columns]\nage = { role = "quasi", hierarchy = { intervals = [5] } }\n'
        'job = { role = "plain" }\ntrade = { role = "plain" }\n\n[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
    )
    served = serves(folder)
    cookie = served.enter()
    for column in ("1", "2"):
        fields = {"policy": "t.toml", "version": served.version("t.toml"), "column": column, "role": "quasi"}
        assert served.post(cookie, "/columns/role", **fields)[0] == 303
    files = [entry["hierarchy"] for entry in served.bench.desk("t.toml").read().columns.values()][1:]
    assert files == ["t-hierarchies/job.csv", "t-hierarchies/trade.csv"]
    assert all((folder / file).exists() for file in files)
