"""Whatever is written, `load` gives a policy or an error of ours."""

import json
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import SfumatoError
from sfumato.policy import Policy, load

EXAMPLE = """\
[data]
source = "adult.csv"
null = ["", "?"]
[columns]
ssn = { role = "identifier" }
age = { role = "quasi", hierarchy = { intervals = [5, 10, 20] }, weight = 2 }
zip = { role = "quasi", hierarchy = { mask = "right" } }
born.role = "quasi"
born.hierarchy.dates = ["month", "year"]
[columns."illness"]
role = "sensitive"
[[privacy]]
model = "k-anonymity"
k = 5
[[privacy]]
model = "alpha-deassociation"
column = "illness"
alpha = 0.5
[algorithm]
name = "optimal"
suppression = 0.01
"""
WORDS = [
    *("data", "columns", "privacy", "algorithm", "publish", "previous", "source", "separator", "null"),
    *("encoding", "role", "hierarchy", "weight", "quasi", "sensitive", "identifier", "plain", "suppress"),
    *("sets", "ranges", "intervals", "mask", "dates", "right", "month", "model", "k", "l", "column", "alpha"),
    *(
        "values",
        "k-anonymity",
        "distinct-l-diversity",
        "t-closeness",
        "t",
        "distance",
        "costs",
        "name",
        "seed",
    ),
    *("suppression", "metric", "form", "format", "csv", "", ".", "..", "\0", "a/b", "a" * 300, "é", '"'),
]

words = st.sampled_from(WORDS) | st.text(max_size=5)
keys = st.sampled_from(WORDS) | st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=5)
scalars = words | st.integers() | st.floats() | st.booleans() | st.dates() | st.none() | st.just(1 << 200)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


def settle(policy: Any) -> None:
    """Loads what may be a policy; what comes out is a policy that JSON can hold, or an error in one line."""
    loaded = attempt(policy)
    if isinstance(loaded, Policy):
        json.dumps(loaded.document, allow_nan=False)
        assert load(loaded.document).columns.keys() == loaded.columns.keys()
    else:
        assert str(loaded)
        assert "\n" not in str(loaded)


def attempt(policy: Any) -> Policy | SfumatoError:
    """The policy or the error; anything else that is raised fails the test."""
    try:
        return load(policy)
    except SfumatoError as error:
        return error


@given(st.dictionaries(keys, values, max_size=5))
def test_any_dict(policy: dict[str, object]) -> None:
    """Any dict at all is a policy or an error of ours."""
    settle(policy)


@given(st.data())
def test_any_change_to_a_good_dict(data: st.DataObject) -> None:
    """Whatever replaces one value of a good policy, the answer is a policy or an error of ours."""
    policy: Any = tomllib.loads(EXAMPLE)
    table = policy
    while True:
        steps = sorted(table) if isinstance(table, dict) else range(len(table))
        key = data.draw(st.sampled_from(steps))
        if not (isinstance(table[key], dict | list) and table[key] and data.draw(st.booleans())):
            break
        table = table[key]
    table[key] = data.draw(values)
    settle(policy)


@settings(deadline=None)
@given(st.text(max_size=60) | st.binary(max_size=60))
def test_any_file(content: str | bytes) -> None:
    """Any file at all is a policy or an error of ours."""
    with written(content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content) as path:
        settle(path)


@settings(deadline=None)
@given(st.data())
def test_any_change_to_a_good_file(data: st.DataObject) -> None:
    """Whatever is cut from a good file or put into it, the answer is a policy or an error of ours."""
    start = data.draw(st.integers(0, len(EXAMPLE)))
    end = data.draw(st.integers(start, min(start + 20, len(EXAMPLE))))
    put = data.draw(st.sampled_from(["", "\n", "[", "]]", "=", '"', "0x" + "f" * 9999, "nan", "1979-05-27"]) | words)
    with written((EXAMPLE[:start] + put + EXAMPLE[end:]).encode("utf-8", "surrogatepass")) as path:
        settle(path)


@contextmanager
def written(content: bytes) -> Iterator[Path]:
    """A policy file of this content, for a while."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "policy.toml"
        path.write_bytes(content)
        yield path
