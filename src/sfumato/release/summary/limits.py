"""What the release does not protect against, as far as its manifest tells which of it applies."""

from collections.abc import Iterator, Mapping
from typing import Any

from sfumato.page.markup import Markup, join, names, paragraph, section, some, tag
from sfumato.release.threats import (
    ALGORITHM,
    APART,
    BESIDE,
    DOWNCODING,
    DRAWN,
    EXACT,
    HOMOGENEOUS,
    KNOWLEDGE,
    LEARNER,
    MEMBERSHIP,
    PATTERNS,
    PEOPLE,
    SHOWN,
)

Manifest = Mapping[str, Any]
Limit = tuple[str, object]

OPENING = (
    "The release is protected against the adversary of the promise, as far as that goes, and against nobody else. Call "
    "it anonymous only together with what it is anonymous against. What remains:"
)
OTHERS = (
    "Other releases about the same people may tell more together with this one than each by itself. None was taken "
    "into account."
)
EARLIER = "Taken into account, as far as the requirements on their join go: {}. Others were not."


def limits(manifest: Manifest) -> Markup:
    """A list of threats that remain."""
    items = [tag("li", tag("strong", title, ". "), said) for title, said in _limits(manifest)]
    return section("What it does not protect against", paragraph(OPENING), tag("ul", *items, class_="limits"))


def _limits(manifest: Manifest) -> Iterator[Limit]:
    split = "class_id" in manifest
    yield from _plain(manifest, split=split)
    yield from _unlimited(manifest)
    if _with(manifest, "individual"):
        yield "Rows tied by a pseudonym", PEOPLE
    yield "Other releases", _others(manifest)
    yield "Knowing the algorithm", DRAWN if manifest["algorithm"] == "anatomy" else ALGORITHM + (EXACT if split else "")
    yield "Knowing more", KNOWLEDGE
    yield "Patterns across classes", LEARNER if split else PATTERNS
    if not split:
        yield "Downcoding", DOWNCODING
    for told in manifest.get("chosen_labels", ()):
        yield "Chosen labels", join([names(told["columns"]), ". ", told["reveals"]])
    if "together" in manifest:
        yield "Sensitive columns together", manifest["together"]
    yield "Being in the table", SHOWN if split else MEMBERSHIP


def _with(manifest: Manifest, role: str) -> list[str]:
    return [entry["name"] for entry in manifest["columns"] if entry["role"] == role]


def _plain(manifest: Manifest, *, split: bool) -> Iterator[Limit]:
    plain = _with(manifest, "plain")
    if plain:
        yield "Plain columns", join(["Published as they are: ", some(plain), ".", BESIDE if split else APART])


def _unlimited(manifest: Manifest) -> Iterator[Limit]:
    """Sensitive columns that no requirement names."""
    asked = {
        column
        for rule in manifest["promise"]
        for column in (rule.get("column"), *rule.get("columns", ()), *rule.get("y", ()))
    }
    left = [name for name in _with(manifest, "sensitive") if name not in asked]
    if left:
        yield "Sensitive columns without a requirement", join(["No requirement limits ", some(left), HOMOGENEOUS])


def _others(manifest: Manifest) -> str:
    earlier = [one["name"] for one in manifest.get("previous", ())]
    return EARLIER.format(", ".join(earlier)) if earlier else OTHERS
