"""What is a time and what is none, at the borders of the calendar."""

from __future__ import annotations

from datetime import timedelta, timezone
from math import inf, nan
from typing import Any

import pytest

from workbench.base.stamps import END, iso, seconds_of, shown, utc_datetime
from workbench.session import Message

BORDERS: list[tuple[Any, float | None]] = [
    (END, END / 1000),
    (1, 1.0),
    (0, None),
    (-1, None),
    (99_999_999_999, 99_999_999_999.0),
    (100_000_000_000, 100_000_000.0),
    (1_700_000_000_123, 1_700_000_000.123),
    (END * 1000 - 1, END - 0.001),
    (END * 1000, None),
    (1e20, None),
    (-1e20, None),
    (inf, None),
    (-inf, None),
    (nan, None),
    (10**400, None),
    (True, None),
    (None, None),
    ([], None),
    ("1970-01-01T00:00:00Z", 0.0),
    ("1969-12-31T23:59:59.999Z", None),
    ("1970-01-01T00:00:00+00:01", None),
    ("1970-01-01T01:00:00.5", 3600.5),
    ("9999-12-30T23:59:59Z", END - 1),
    ("9999-12-31T00:00:00Z", None),
    ("9999-12-31T23:59:59-14:00", None),
    ("0001-01-01T00:00:00+14:00", None),
    ("yesterday", None),
    ("", None),
]


@pytest.mark.parametrize(("stamp", "seconds"), BORDERS)
def test_a_stamp_is_a_time_or_none(stamp: Any, seconds: float | None) -> None:
    assert seconds_of(stamp) == seconds


NO_TIMES = [1e20, -1e20, inf, -inf, nan, END, -0.001]


@pytest.mark.parametrize("seconds", [*NO_TIMES, None])
def test_no_time_is_never_shown_and_written_as_now(seconds: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 86_400.25)
    assert shown(seconds) == ""
    assert iso(seconds) == iso() == "1970-01-02T00:00:00.250Z"
    assert Message("m", "user", (), time=seconds).time is None


@pytest.mark.parametrize("seconds", [0, 0.001, 1_700_000_000.123, END - 1, END - 0.001])
@pytest.mark.parametrize("hours", [-24, 0, 24])
def test_every_time_has_a_date_in_every_zone(seconds: float, hours: int) -> None:
    zone = timezone(timedelta(hours=hours) - timedelta(seconds=1 if hours > 0 else -1 if hours else 0))
    assert shown(seconds, "%Y", zone)
    assert Message("m", "user", (), time=seconds).time == seconds
    assert seconds_of(iso(seconds)) == pytest.approx(seconds, abs=0.0015)
    assert utc_datetime(seconds).timestamp() == pytest.approx(seconds, abs=1e-5)
