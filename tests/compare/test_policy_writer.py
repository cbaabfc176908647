"""The policy that is written: what it says, what it keeps, and that it does what was measured."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from sfumato.compare import chosen_policy, compare
from sfumato.compare.comparison import RunOutcome
from sfumato.policy import load
from sfumato.policy.policy_edits import edit_toml
from sfumato.policy.toml_text import write_toml
from sfumato.release import anonymize


def test_only_what_is_chosen_changes(project: Path) -> None:
    """Beside the policy, every other line and every comment stays as it was."""
    line = RunOutcome(3, "mondrian", {"k": 7, "suppression": 0.02})
    text = chosen_policy(project, line, project.with_name("chosen.toml"))
    before, after = project.read_text().splitlines(), text.splitlines()
    assert after[0] == "# Chosen by sfumato compare: line 3 (mondrian, k = 7, suppression = 0.02)."
    assert [one for one in after[1:] if one not in before] == [
        "k = 7         # two at least",
        "suppression = 0.02",
        'name = "mondrian"    # one level for a column',
    ]
    assert len(after) == len(before) + 2


def test_paths_lead_to_the_same_files_from_elsewhere(project: Path, tmp_path: Path) -> None:
    """Written into another folder, table and hierarchies are still found, and the release is the measured one."""
    target = tmp_path / "elsewhere" / "deep" / "chosen.toml"
    target.parent.mkdir(parents=True)
    found = compare(project, algorithms=["mondrian", "optimal"], settings={"k": [2, 4, 9]})
    line = found.line(2)
    target.write_text(chosen_policy(project, line, target))
    release = anonymize(None, target)
    assert line.figures is not None
    assert release.policy.search.name == "mondrian"
    assert release.policy.source.path is not None
    assert release.policy.source.path.samefile(project.parent / "data" / "visits.csv")
    assert (release.utility.ncp, release.risk.average) == (line.figures.ncp, line.figures.average)
    assert "# where they live" in target.read_text()


def test_keys_without_use_are_left_out(project: Path) -> None:
    """The policy of tds is written without the metric, which it could not be read with."""
    target = project.with_name("chosen.toml")
    target.write_text(chosen_policy(project, RunOutcome(1, "tds", {}), target))
    assert load(target).document["algorithm"] == {"name": "tds"}


def test_another_table_is_named(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table that was given in place of the policy's own stands in the written policy."""
    monkeypatch.chdir(tmp_path)
    other = Path("other.csv")
    other.write_bytes((project.parent / "data" / "visits.csv").read_bytes())
    target = project.with_name("chosen.toml")
    target.write_text(chosen_policy(project, RunOutcome(1, "optimal", {}), target, data=other))
    path = load(target).source.path
    assert path is not None
    assert path.samefile(other)


ODD = [
    '[algorithm]\r\nname = "auto"\r\n\r\n[publish]\r\nform = "generalized"\r\n',
    'algorithm.name = "auto"',
    'algorithm = { name = "auto", suppression = 0.1 }',
    "algorithm = { suppression = 0.1, name = 'auto' } # name = 'auto'",
    '[ algorithm ] # [algorithm]\n"name" = """auto"""\n',
    "",
    'title = "name = auto"\n[algorithm]\n# name = "auto"\nname="auto"#x\n',
]


@pytest.mark.parametrize("text", ODD)
@pytest.mark.parametrize("suppression", [None, 0.25])
def test_edits_say_what_they_should_or_are_not_made(text: str, suppression: float | None) -> None:
    """However the document is written, the edited one says exactly what is wanted; else it is written anew."""
    wanted: dict[str, Any] = tomllib.loads(text)
    search = {**wanted.get("algorithm", {}), "name": "tds"}
    search.pop("suppression", None)
    wanted["algorithm"] = search | ({} if suppression is None else {"suppression": suppression})
    found = edit_toml(text, wanted)
    if found is not None:
        assert tomllib.loads(found) == wanted
        assert [line for line in text.splitlines() if line.startswith("#")] == [
            line for line in found.splitlines() if line.startswith("#")
        ]
    plain = {name: table for name, table in wanted.items() if isinstance(table, dict)}
    assert tomllib.loads(write_toml(plain)) == plain


def test_common_ways_of_writing_are_edited_in_place() -> None:
    """Tables, inline tables and no table at all can all be edited without writing the document anew."""
    for text in (ODD[0], ODD[2], ODD[3], ODD[5], ODD[6]):
        wanted: dict[str, Any] = tomllib.loads(text)
        wanted["algorithm"] = {**wanted.get("algorithm", {}), "name": "tds"}
        assert edit_toml(text, wanted) is not None, text
