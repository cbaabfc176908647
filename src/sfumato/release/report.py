"""The private report: promise and verdict, risk, cost; one file that needs no network."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sfumato.release.release import Release


def report(release: "Release") -> str:
    """The report as one HTML page."""
    return f"<html>{release.rows}</html>"
