"""What was promised of the release, and what the verifier found in it."""

from collections.abc import Mapping
from typing import Any

from sfumato.models import LINKAGE, MODELS
from sfumato.page.markup import Markup, facts, note, paragraph, section, tag
from sfumato.page.words import keys

_THREATS: dict[str, Any] = {name: vars(model)["threat"] for name, model in {**MODELS, **LINKAGE}.items()}

VERIFIED = (
    "Found in the published files by a second implementation, which shares no code with the one that made them; "
    "sfumato verify does it again. Figures that would compare with rows that are not published are left out."
)


def promise(manifest: Mapping[str, Any]) -> Markup:
    """Whom the release is protected against, requirement by requirement."""
    found = [_finding(finding) for finding in manifest["privacy"]]
    return section("Promise and verdict", paragraph(manifest["protects"]), *found, note(VERIFIED))


def _finding(finding: Mapping[str, Any]) -> Markup:
    word = tag("span", "✓ holds" if finding["satisfied"] else "✗ does not hold", class_="mark")
    said: list[tuple[object, object]] = [
        ("Threat", _THREATS[finding["model"]]),
        ("Promised", keys(finding["required"])),
        *([("Found", keys(finding["achieved"]))] if finding.get("achieved") else []),
    ]
    return tag("article", tag("h3", finding["model"], " ", word), facts(said))
