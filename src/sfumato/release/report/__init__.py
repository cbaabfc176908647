"""The private report: promise and verdict, risk, disclosure, cost and limits; one file that needs no network."""

from sfumato.release.report.page import report

__all__ = ["report"]
