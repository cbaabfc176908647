"""A policy's text comes to say something else, and keeps what people wrote beside it."""

import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sfumato.policy.policy_edits import edit_policy

TEXT = """# The clinic's policy.
[data]
source = "people.csv"   # of 2026

[columns]
# why age
age     = { role = "quasi", hierarchy = { intervals = [5, 10] } }  # as in the census
"the # name" = { role = "identifier" }
zip     = {role = 'quasi', hierarchy = "zip.csv"}  # four digits

# nobody stands out
[[privacy]]                # first
model = "k-anonymity"
k = 5                      # the office asks for it

# and no illness is sure
[[privacy]]
model = "alpha-deassociation"
column = "illness"
alpha = 0.5

[algorithm]
name = "auto"  # the best
"""
ENTRIES: list[dict[str, Any]] = [
    {"role": "identifier"},
    {"role": "quasi", "hierarchy": "suppress"},
    {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20], "domain": [0, 119]}, "least": 1},
    {"role": "sensitive", "hierarchy": 'a "b" # c.csv'},
]
REQUIREMENTS: list[dict[str, Any]] = [
    {"model": "k-anonymity", "k": 5},
    {"model": "k-anonymity", "k": 9},
    {"model": "alpha-deassociation", "column": "illness", "alpha": 0.5},
    {"model": "distinct-l-diversity", "column": "the # name", "l": 3},
]


@given(
    columns=st.fixed_dictionaries({name: st.sampled_from(ENTRIES) for name in ("age", "the # name", "zip")}),
    privacy=st.lists(st.sampled_from(REQUIREMENTS), max_size=4),
    suppression=st.sampled_from([None, 0.0, 0.02]),
)
def test_the_text_says_what_is_wanted(columns: Any, privacy: Any, suppression: float | None) -> None:
    """Whatever is asked for is what the new text reads as; what nobody touched stands as it was."""
    before = tomllib.loads(TEXT)
    search = {"name": "auto", **({} if suppression is None else {"suppression": suppression})}
    wanted = {**before, "columns": columns, "privacy": privacy, "algorithm": search}
    text = edit_policy(TEXT, wanted)
    assert tomllib.loads(text) == wanted
    if privacy:  # without requirements nothing says where the tables were
        for line in ("# The clinic's policy.", "# why age", "# as in the census", "# four digits", "# of 2026"):
            assert line in text
    assert edit_policy(text, wanted) == text


def test_a_requirement_goes_with_its_comment_and_others_keep_theirs() -> None:
    """Taking the second out leaves the first as it was written, byte for byte."""
    before = tomllib.loads(TEXT)
    text = edit_policy(TEXT, {**before, "privacy": before["privacy"][:1]})
    start, end = TEXT.index("# and no illness"), TEXT.index("[algorithm]")
    assert text == TEXT[:start] + TEXT[end:]


def test_a_new_requirement_stands_behind_the_others() -> None:
    """What was there stays as it was written."""
    before = tomllib.loads(TEXT)
    text = edit_policy(TEXT, {**before, "privacy": [*before["privacy"], REQUIREMENTS[3]]})
    added = '[[privacy]]\nmodel = "distinct-l-diversity"\ncolumn = "the # name"\nl = 3\n\n'
    assert text == TEXT.replace("[algorithm]", f"{added}[algorithm]")
