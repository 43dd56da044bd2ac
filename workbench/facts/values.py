"""Values in a sentence by kind: dates, times, days, languages, paces, money, amounts, code and names. Most dates are
English."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache

from workbench.facts.amounts import units, values_in, with_digits
from workbench.facts.terms import FUNCTION_WORDS, NUMBER_WORDS
from workbench.facts.word_tables import alternatives, pattern

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth", "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth",
    "twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first",
]  # fmt: skip
_MONTH = rf"({'|'.join(_MONTHS)})(?:r?uary|ch|il|[ey]|ust|t|t?ember|ober)?(?![a-z])\.?"
_IS_MONTH = re.compile(_MONTH)
_DAY = rf"({'|'.join(reversed(_DAYS))}|\d{{1,2}}(?=\D|\Z))(?:st|nd|rd|th)?"
DATE = re.compile(
    rf"\b(?:{_DAY} (?:of )?{_MONTH}|{_MONTH} {_DAY}"
    r"|\d{4}-(\d\d)-(\d\d)|(\d{1,2})\.(\d{1,2})\.(?:\d{4})?)(?!\w)",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\b\d{1,2}(?::\d\d(?: ?[ap]m)?|(?:\.\d\d)? ?[ap]m)\b|\b(?:half|quarter) (?:past|to) \w+|\b(?:noon|midnight)\b",
    re.IGNORECASE,
)
_WEEKDAY = r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b"
_CODE = re.compile(
    r"`[^`\n]+`|#[\da-fA-F]{6}\b|(?<!\S)(?:[./~#@-]{1,2}(?=[a-zA-Z])|\w[\w.-]*[/\\:@_.](?=[\w/\\]))[^\s,;]*[^\s,;.!?:)]"
)
_NAME = re.compile(
    r"(?<=[\w.,;:)] )[A-ZÀ-ÞА-Я][\w'’-]+(?: [A-ZÀ-ÞА-Я][\w'’-]+)*|\A[A-ZÀ-Þ][\w-]{2,}(?: [A-ZÀ-Þ][\w-]+)*(?= [a-z]+s )"
)
_KINDS = (
    dict.fromkeys(("euro", "dollar", "pound", "franc", "yen"), "money")
    | dict.fromkeys(("week", "weeks", "month", "year", "fortni"), "number second")
    | {"place in a row": "date"}
)
"""Kind of a value by its unit. Other values with a unit have the kind "number" and the unit."""


@cache
def _patterns(languages: tuple[str, ...]) -> Mapping[str, re.Pattern[str]]:
    """Return the patterns of the values other than numbers and names; a later one sees the text without the earlier
    ones."""

    def listed(name: str, among: tuple[str, ...] = languages, *more: str) -> re.Pattern[str]:
        return re.compile("|".join((*more, pattern("replaced", name, languages=among).pattern)), re.IGNORECASE)

    found = {
        "date": DATE,
        "time": _TIME,
        "mask": listed("mask"),
        "code": _CODE,
        # English: only Monday to Sunday, because "the night" or "this weekend" is no alternative to Monday
        "weekday": listed("day", tuple(one for one in languages if one != "en"), _WEEKDAY),
        "tongue": listed("tongue"),
        "pace": listed("pace"),
    }
    if alternatives("replaced", "number", languages):
        found["number"] = listed("number", languages, r"(?<![A-Za-z\d_./\\-])\d+(?!\w*\.\w)")
    return found


def without_values(text: str, languages: tuple[str, ...]) -> str:
    """Return a text without its values; numbers and names stay."""
    for one in _patterns(languages).values():
        text = one.sub(" ", text)
    return text


def values_by_kind(text: str, languages: tuple[str, ...] = ("en",)) -> dict[str, frozenset[str]]:
    """Return the values of a sentence by kind: date, time, mask (HH:MM), code, weekday, tongue, pace, money, number
    (with its unit or the counted thing), name."""
    found: dict[str, set[str]] = defaultdict(set)
    rest = text
    for kind, one in _patterns(languages).items():
        for match in one.finditer(rest):
            found[kind].add(_date(match) if kind == "date" else match[0].lower())
        rest = one.sub(" ", rest)
    for value in values_in(with_digits(rest).lower()):
        kind = _KINDS.get(value.unit, f"number {value.unit}".rstrip())
        found[kind].add(f"{value.amount:g}")
    for match in _NAME.finditer(rest):
        low = match[0].lower()
        is_word = low in FUNCTION_WORDS or low in NUMBER_WORDS or low in units("english")
        if not is_word and not _IS_MONTH.match(low):
            found["name"].add(match[0])
    return {kind: frozenset(several) for kind, several in found.items()}


def _date(match: re.Match[str]) -> str:
    """Return a date as day and month, without its year."""
    day, month = next(pair for pair in _places(match) if all(pair))
    number = _DAYS.index(day) + 1 if day in _DAYS else int(day)
    return f"{number}.{int(month) if month.isdigit() else _MONTHS.index(month) + 1}"


def _places(match: re.Match[str]) -> Iterator[tuple[str, str]]:
    groups = [(group or "").lower() for group in match.groups()]
    yield from ((groups[0], groups[1]), (groups[3], groups[2]), (groups[5], groups[4]), (groups[6], groups[7]))
