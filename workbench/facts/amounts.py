"""Amounts in a text: numbers with their units, comparisons of them, and spelled-out numbers in digits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from msgspec import Struct

from workbench.facts.terms import FUNCTION_WORDS, NUMBER_WORDS, token_terms
from workbench.facts.word_tables import SPACED, alternatives, table

_NUMBER = re.compile(
    r"(?<![\w.,/#-])([€$£¥]|(?:chf|eur|gbp|usd) ?)?(\d{1,3}(?:[,_ \u202f]\d{3})+|\d+)((?:[.,]\d+)?)"
    r"(?![\d\w-]*\d)\s?([^\W\d_]+|[%°€$])?"
)
_UNITS: dict[str, dict[float, str]] = {
    "second": {
        1e-9: "ns",
        1e-6: "µs us",
        1e-3: "ms msec millisecond milliseconds",
        1: "s sec secs second seconds sekunde sekunden seconde secondes segundos 秒 초",
        60: "m min mins minute minutes minuten minutos 分 分钟 분",
        3600: "h hr hour hours stunde stunden heures",
        86400: "d day days tag tage jours días dias 天 日",
        604800: "week weeks wk woche wochen semaine semaines semana semanas",
    },
    "month": {
        1: "month months monat monate monaten mois mes meses",
        12: "year years yr yrs jahr jahre jahren an ans año años ano anos",
    },
    "byte": {1: "b byte bytes", 1 << 10: "kb kib k", 1 << 20: "mb mib", 1 << 30: "gb gib", 1 << 40: "tb tib"},
    "percent": {1: "% percent prozent"},
    "euro": {1: "€ eur euro euros"},
    "dollar": {1: "$ usd dollar dollars buck bucks"},
    "pound": {1: "£ gbp pound pounds"},
    "franc": {1: "chf franc francs"},
    "yen": {1: "¥ jpy yen"},
    "metre": {1e-3: "mm", 0.01: "cm centimetre centimetres", 0.0254: "inch inches", 0.3048: "ft foot feet",
              1: "metre metres meter meters", 1e3: "km kilometre kilometres", 1609.344: "mile miles"},
    "kilogram": {1e-3: "g gram grams", 1: "kg kilo kilos kilogram kilograms", 1e3: "tonne tonnes"},
    "litre": {1e-3: "ml", 0.01: "cl", 1: "litre litres liter liters"},
    "gallon": {1: "gallon gallons"},  # US and imperial gallons differ
    "place in a row": {1: "st nd rd th"},
}  # fmt: skip
_SCALES = {
    unit: (base, factor)
    for base, several in _UNITS.items()
    for factor, units_ in several.items()
    for unit in units_.split()
}


@cache
def units(language: str) -> frozenset[str]:
    """Return the names of units as terms of a language (`workbench.facts.terms`)."""
    return frozenset(term for unit in _SCALES for term in (unit, *token_terms(unit, language)))


ROUNDED = 0.05
"""Largest relative difference of equal byte values, because a kilobyte has 1 000 or 1 024 bytes."""


class Value(Struct, frozen=True):
    """Number with its unit. `amount` is in `unit`: a known base unit (`second`, `byte`, `percent`), or the word after
    the number. `written` is the number as written."""

    amount: float
    unit: str
    written: float

    @property
    def measured(self) -> bool:
        """True for a known unit, false for counted things."""
        return self.unit in _BASES

    def same(self, other: Value) -> bool:
        """True for equal amounts. Byte values may differ by `ROUNDED`; without a unit on either side the written
        numbers must be equal."""
        if self.measured and other.measured and self.unit != other.unit:
            return False
        if self.measured != other.measured and self.unit and other.unit:
            return False
        if not self.unit or not other.unit:
            return self.written == other.written
        least = ROUNDED if self.unit == other.unit == "byte" else 1e-9
        return abs(self.amount - other.amount) <= least * max(abs(self.amount), abs(other.amount))

    def rivals(self, other: Value) -> bool:
        """True for a different amount that contradicts this one: in the same unit, without a unit, or if both units are
        known."""
        if self.same(other):
            return False
        return self.unit == other.unit or not other.unit or (self.measured and other.measured)


_BASES = frozenset(_UNITS)


def values_in(low: str) -> tuple[Value, ...]:
    """Return the numbers of a lower-case text with their units, spelled-out numbers included."""
    found = [_value(match) for match in _NUMBER.finditer(low)]
    for match in _SPELLED.finditer(low):
        number = float(_DIGITS[match[1]])
        base, factor = _unit(match[2] or "")
        if match[1] == "one" and not base:  # "one of them"
            continue
        found.append(Value(number * factor, base, number))
    return tuple(found)


def _value(match: re.Match[str]) -> Value:
    whole, fraction, unit = match[2], match[3], (match[1] or "").strip() or match[4] or ""
    amount = float(re.sub(r"[,_ \u202f]", "", whole) + fraction.replace(",", "."))
    base, factor = _unit(unit)
    return Value(amount * factor, base, amount)


def _unit(word: str) -> tuple[str, float]:
    if word in _SCALES:
        return _SCALES[word]
    return ("" if word in FUNCTION_WORDS else word.rstrip("s")[:6]), 1.0


_DIGITS = {word: int(number) for word, number in NUMBER_WORDS.items() if number.isdigit() and word != "once"}
_SPELLED = re.compile(rf"\b({'|'.join(_DIGITS)})\b(?:\s([^\W\d_]+))?")


# --- spelled-out numbers -------------------------------------------------------------------------------------------


def with_digits(text: str) -> str:
    """Return a text with spelled-out numbers over twelve, dozens, and parts of an hour or minute in digits: "200" for
    "two hundred", "30 min" for "half an hour"."""
    if not _NUMERAL.search(text):
        return text
    for name, digits in _FRACTIONS:
        text = name.sub(digits, text)
    return _SEVERAL.sub(_in_digits, text)


_FRACTIONS = tuple(
    (re.compile(rf"\b(?:{alternatives('sense', name)})(?!\w)", re.IGNORECASE), digits)
    for name, digits in (("half_hour", "30 min"), ("quarter_hour", "15 min"), ("half_minute", "30 s"), ("dozen", "12"))
)


def _numerals() -> Iterator[tuple[str, int]]:
    for language in SPACED:
        entries = table(language, "sense")
        yield from ((word, at) for at, word in enumerate(entries.get("teens", "").split(), 13))
        yield from ((word, 10 * at) for at, word in enumerate(entries.get("tens", "").split(), 2))
        yield from ((word, 100) for word in entries.get("hundred", "").split())
        yield from ((word, 1000) for word in entries.get("thousand", "").split())


_LARGE = dict(_numerals())
_SMALL = {word: int(number) for word, number in NUMBER_WORDS.items() if number.isdigit()}
_NUMERAL = re.compile(
    "|".join([rf"\b(?:{'|'.join(_LARGE)})\b", *(name.pattern for name, _ in _FRACTIONS)]), re.IGNORECASE
)
_NUMBER_WORD = "|".join(sorted({*_LARGE, *_SMALL}, key=len, reverse=True))
_SEVERAL = re.compile(
    rf"\b(?:a |an )?(?:{_NUMBER_WORD})(?:(?:-| and | y | e | et | )(?:{_NUMBER_WORD}))*\b", re.IGNORECASE
)


def _in_digits(match: re.Match[str]) -> str:
    """Return a spelled-out number in digits; a number up to twelve and a list of numbers stay as written."""
    words = re.findall(r"[^\W_]+", match[0].lower())
    whole = part = 0
    last = 0
    for word in words:
        value = _LARGE.get(word, _SMALL.get(word))
        if value is None:  # "a", "and"
            continue
        if value >= 100:
            part = max(part, 1) * value
            if value == 1000:
                whole, part = whole + part, 0
        elif last and value >= last:  # "one two": a list
            return match[0]
        else:
            part += value
        last = value if value < 100 else 0
    return match[0] if not any(word in _LARGE for word in words) else str(whole + part)
