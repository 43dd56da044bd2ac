"""Times as agents write them: ISO texts, seconds or milliseconds since the epoch (formats.md §3.7)."""

from __future__ import annotations

from datetime import UTC, datetime
from math import isfinite
from typing import Any

_MILLISECONDS = 100_000_000_000
"""A number of seconds this large would lie in the year 5138: it is milliseconds."""


def seconds_of(stamp: Any) -> float | None:
    """Seconds since the epoch, UTC; a text without a zone is UTC. None for what is no time."""
    if isinstance(stamp, str):
        try:
            read = datetime.fromisoformat(stamp)
            return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    if type(stamp) not in (int, float) or not isfinite(stamp) or stamp <= 0:
        return None
    return stamp / 1000 if stamp >= _MILLISECONDS else float(stamp)


def iso(seconds: float | None = None) -> str:
    """An ISO time in UTC with milliseconds and `Z`; now for None and for a time outside the calendar."""
    try:
        moment = datetime.now(UTC) if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        moment = datetime.now(UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
