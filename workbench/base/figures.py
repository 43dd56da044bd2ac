"""Numbers as text for people."""

import re
from math import floor, log10

IN_A_FIGURE = re.compile(r"(?<=\d) (?=\d{3}(?!\d))|(?<=\d) (?=%)")
"""Space between groups of digits, or before `%`: no line may be broken there."""


_DIGITS = re.compile(r"-?[0-9]{1,18}")


def whole_number(text: str) -> int | None:
    """Parse 1 to 18 ASCII digits, with or without a minus; None for any other text. `int` also accepts other digits,
    spaces, underscores and longer numbers."""
    return int(text) if _DIGITS.fullmatch(text) else None


def grouped(number: float) -> str:
    """Format a whole number with separated thousands: `12 345`."""
    return f"{number:,.0f}".replace(",", " ")


def unbroken(text: str) -> str:
    """Put non-breaking spaces into the figures of a sentence (`161 204`)."""
    return IN_A_FIGURE.sub("\u00a0", text)


def ordinal(number: int) -> str:
    """Format an ordinal number: `1st`, `12th`, `23rd`."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def percent(share: float | None) -> str:
    """Format a share in percent, "" for None: `72 %`. A share below 1 is never `100 %`, one above 0 never `0 %`. A
    share from 10 on is written as a factor: `46 ×`."""
    if share is None:
        return ""
    size, sign = abs(share), "−" if share < 0 else ""
    if size >= 10:
        return f"{sign}{grouped(size)} ×"
    if round(100 * size) in (0, 100) and size not in (0, 1):
        return f"{sign}{min(max(100 * size, 0.1), 99.9) if size < 1 else 100 * size:.1f} %"
    return f"{sign}{100 * size:.0f} %"


def interval(share: float, low: float, high: float) -> str:
    """Format a share with its interval: `72 % (58–84 %)`."""
    return f"{percent(share)} ({percent(low).removesuffix(' %')}–{percent(high)})"


def points(difference: float) -> str:
    """Format a difference of two shares in percentage points, with its sign: `+1.2`, `−12.0`, `0.0`."""
    size = f"{100 * abs(difference):.1f}"
    sign = "" if size == "0.0" else "−" if difference < 0 else "+"
    return sign + size


def change(before: float, after: float) -> str:
    """Format the relative change of an amount: `−60 %`, `+3 %`; a factor, `46 ×`, from ten times on; "" if `before` is
    0."""
    if not before:
        return ""
    if after >= 10 * before:
        return percent(after / before)
    share = percent(after / before - 1)
    return share if share.startswith("−") else f"+{share}"


def dollars(amount: float) -> str:
    """Format US dollars with cents: `$1 234.50`, `−$0.12`. An amount below one cent has three decimals, `$0.004`; one
    below $0.0005 is `<$0.001`."""
    size, sign = abs(amount), "−" if amount < 0 else ""
    if 0 < size < 0.0005:
        return "<$0.001" if amount > 0 else ">−$0.001"
    return f"{sign}${size:,.2f}".replace(",", " ") if size >= 0.0095 or not size else f"{sign}${size:.3f}"


def exact_dollars(amount: float) -> str:
    """Format US dollars as `dollars` does; an amount below $0.001 has up to two significant digits, `$0.00043`, so that
    two such amounts can be compared."""
    if not 0 < abs(amount) < 0.001:
        return dollars(amount)
    digits = 1 - floor(log10(abs(amount)))
    size = f"{abs(amount):.{digits}f}".rstrip("0")
    return f"{'−' if amount < 0 else ''}${size}"


def short(number: float) -> str:
    """Format a number that is not negative: `962`, `18.3k`, `141k`, `1.2M`; at most five characters below 99.95
    million."""
    if number < 1_000:
        return f"{number:.0f}"
    if number < 99_950:
        return f"{number / 1_000:.1f}k"
    return f"{number / 1_000:.0f}k" if number < 999_500 else f"{number / 1_000_000:.1f}M"
