"""Time stamps, as agents write them and as people read them. All times are read and written here.

A time is a number of seconds since 1970, UTC, before `END`; any other value in a file is no time.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, tzinfo
from typing import Any

END = 253_402_214_400
"""Start of the last day of the year 9999 in seconds; a day early, so that every time zone has a date for it."""

_MILLISECONDS = 100_000_000_000
"""From this number on, which would be the year 5138 in seconds, a stamp is in milliseconds."""


def is_time(seconds: float) -> bool:
    """True from 1970 until `END`; false for NaN and infinity."""
    return 0 <= seconds < END


def seconds_of(stamp: Any) -> float | None:
    """Parse an ISO text (UTC if it names no zone), seconds or milliseconds into seconds since 1970.

    None for anything else, and for numbers up to 0: some agents write those for an unknown time.
    """
    if isinstance(stamp, str):
        try:
            read = datetime.fromisoformat(stamp)
            seconds = (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
        return seconds if is_time(seconds) else None
    if type(stamp) not in (int, float) or not 0 < stamp < END * 1000:
        return None
    seconds = stamp / 1000 if stamp >= _MILLISECONDS else float(stamp)
    return seconds if is_time(seconds) else None


def utc_datetime(seconds: float | None = None) -> datetime:
    """Return the time in UTC; now for None and for an invalid time."""
    if seconds is None or not is_time(seconds):
        seconds = time.time()
    return datetime.fromtimestamp(seconds, UTC)


def iso(seconds: float | None = None) -> str:
    """Format an ISO time in UTC with milliseconds and `Z`; now for None and for an invalid time."""
    return utc_datetime(seconds).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def shown(seconds: float | None, form: str = "%Y-%m-%d %H:%M", zone: tzinfo | None = UTC) -> str:
    """Format a time by `strftime`'s `form`, in local time for `zone` None; "" for None and for an invalid time."""
    if seconds is None or not is_time(seconds):
        return ""
    return datetime.fromtimestamp(seconds, zone).strftime(form)
