"""The only place where time stamps are read and written: as agents write them, and as a person reads them.

A time is a number of seconds since the epoch, UTC, that lies in the calendar; what else a file calls a time is none.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, tzinfo
from typing import Any

END = 253_402_214_400
"""Seconds at which the last day of the year 9999 begins: a day early, so that every zone still has a date for it."""

_MILLISECONDS = 100_000_000_000
"""A number of seconds this large would lie in the year 5138: it is milliseconds."""


def is_time(seconds: float) -> bool:
    """Whether a calendar has it: from 1970 on, before `END`. NaN and the infinite have none."""
    return 0 <= seconds < END


def seconds_of(stamp: Any) -> float | None:
    """Seconds since the epoch of an ISO text (UTC where it names no zone), of seconds or of milliseconds.

    None for what is no time, and for 0 and less as a number: some agents write that where they know none.
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
    """The time in UTC; now for None and for what no calendar has."""
    if seconds is None or not is_time(seconds):
        seconds = time.time()
    return datetime.fromtimestamp(seconds, UTC)


def iso(seconds: float | None = None) -> str:
    """An ISO time in UTC with milliseconds and `Z`; now for None and for what no calendar has."""
    return utc_datetime(seconds).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def shown(seconds: float | None, form: str = "%Y-%m-%d %H:%M", zone: tzinfo | None = UTC) -> str:
    """A time by `strftime`'s `form`, in local time for `zone` None; "" where there is none that a calendar has."""
    if seconds is None or not is_time(seconds):
        return ""
    return datetime.fromtimestamp(seconds, zone).strftime(form)
