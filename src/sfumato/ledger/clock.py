"""The time, as a ledger writes it."""

from datetime import UTC, datetime


def now() -> str:
    """This second, in UTC."""
    return datetime.now(tz=UTC).isoformat(timespec="seconds")
