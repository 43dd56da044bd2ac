"""Rewrite a sentence so that one meaning has one wording: numbers in digits, times and dates in one form, "nobody but"
as "only", "not before" as "only after", "not unless" as "only if". Word tables hold the words of each language."""

from __future__ import annotations

import re
from functools import cache

from workbench.base.session_caches import session_cache
from workbench.facts.amounts import with_digits
from workbench.facts.terms import NUMBER_WORDS
from workbench.facts.word_tables import SPACED, alternatives, pattern, table


@session_cache(1 << 13)
def plain_form(text: str) -> str:
    """Return a sentence with numbers in digits and negated exceptions as "only". Other words keep their case."""
    text = _counted().sub(lambda match: NUMBER_WORDS[match[0].lower()], with_digits(text))
    text = _with_times(text)
    if _EXCEPTS.search(text):
        text = _NOT_UNLESS.sub(_affirmed, _NOBODY_BUT.sub("only", text))
    return text


_IGNORED = re.IGNORECASE
_EXCEPTS = re.compile(pattern("sense", "nobody_but", "unless", "until", "except_for").pattern, _IGNORED)
_NOBODY_BUT = re.compile(rf"\b(?:{alternatives('sense', 'nobody_but')})(?!\w)", _IGNORED)
_NOT_UNLESS = re.compile(
    rf"\b(?P<no>{alternatives('sense', 'not_until')})(?P<between>(?: [^\s.;:!?]+){{1,10}}?) "
    rf"(?:(?P<if>{alternatives('sense', 'unless')})|(?P<after>{alternatives('sense', 'until')})"
    rf"|{alternatives('sense', 'except_for')})(?!\w)",
    _IGNORED,
)
_FORGOTTEN = pattern("sense", "forgotten")
"""Verbs that a negation turns into a duty: "don't forget to test before a release" is no "only after"."""


def _affirmed(match: re.Match[str]) -> str:
    """Return "push only if" for "do not push unless", "push only after" for "do not push before", and "push only" for
    "do not push except"."""
    between = match["between"].rstrip(",")
    if _FORGOTTEN.search(between.lower()):
        return match[0]
    return f"{between.lstrip()} only{' if' if match['if'] else ' after' if match['after'] else ''}"


_WORDS = {word: int(number) for word, number in NUMBER_WORDS.items() if number.isdigit() and int(number) <= 12}
_ORDINALS = {word: at for at, word in enumerate(table("en", "compared")["ordinals"].split(), 1)}


@cache
def _counted() -> re.Pattern[str]:
    """Return a pattern of the small numbers before a unit, and of ordinals."""
    named = alternatives("replaced", "measure", SPACED), alternatives("replaced", "currency", SPACED)
    ordinals = "|".join(word for word in _ORDINALS if word in NUMBER_WORDS)
    return re.compile(rf"\b(?:{'|'.join(_WORDS)})(?= (?:{'|'.join(named)})\b)|\b(?:{ordinals})\b", _IGNORED)


# --- times, dates and frequencies -------------------------------------------------------------------------------------


def _with_times(text: str) -> str:
    """Return a text with times as "18h30", dates as "9 june", and rates as "per minute"."""
    if not _timed().search(text):
        return text
    for name, minutes in _times():
        text = name.sub(lambda match, more=minutes: _clock(match, more), text)  # type: ignore[misc]
    for name in _dates():
        text = name.sub(lambda match: f"{_day(match['day'])} {_months()[match['month'].lower()]}", text)
    for name, normal in _OTHERS:
        text = name.sub(normal, text)
    return text


_HOUR = rf"(?P<hour>\d{{1,2}}|{'|'.join(_WORDS)})"
_HALF = r"(?P<half>[ap]m\b|[ap]\.m\.|(?:o'clock )?(?:in the (?:morning|afternoon|evening)|at night))"
_END = r"(?=[,.;:!?)]|$| (?:on|and|every|in|or|for|each|if|when)\b)"


@cache
def _times() -> tuple[tuple[re.Pattern[str], int], ...]:
    """Return patterns of times of day, each with the minutes to add to the hour."""
    several = (
        (rf"\bhalf past {_HOUR}\b", 30),
        (rf"\bquarter past {_HOUR}\b", 15),
        (rf"\bquarter to {_HOUR}\b", -15),
        (rf"\bhalb {_HOUR}\b", -30),
        (rf"\b{_HOUR}(?:[:.](?P<minute>[0-5]\d))? ?{_HALF}", 0),
        (r"(?<![\d:.])(?P<hour>\d{1,2})(?::| ?h ?)(?P<minute>[0-5]\d)(?![\d:])(?: (?:uhr|h)\b)?", 0),
        (rf"\b(?P<lead>at|until|till|after|before|by) {_HOUR}{_END}", 0),
    )
    return tuple((re.compile(one, _IGNORED), minutes) for one, minutes in several)


def _clock(match: re.Match[str], more: int) -> str:
    """Return a time as "18h30". A leading zero marks an hour that is surely before noon."""
    found = match.groupdict()
    hour, half = found["hour"], (found.get("half") or "").lower()
    at = 60 * int(_WORDS.get(hour.lower(), hour)) + int(found.get("minute") or 0) + more
    if re.match(r"p|.*(?:noon|evening|night)", half):
        at += 720 * (at < 720)
    early = "0" if at < 600 and (re.match(r"a|.*morning", half) or hour[0] == "0") else ""
    lead = f"{found['lead']} " if "lead" in found else ""
    return f"{lead}{early}{at // 60}h{at % 60:02}"


def _day(written: str) -> int:
    return _ORDINALS[written.lower()] if written[0].isalpha() else int(re.match(r"\d+", written)[0])  # type: ignore[index]


@cache
def _months() -> dict[str, str]:
    """Return the English name of each month by its name in each language, complete or cut to three or four letters."""
    names = table("en", "sense")["months"].split()
    return {
        word[:length]: name
        for one in SPACED
        for word, name in zip(table(one, "sense").get("months", "").split(), names, strict=False)
        for length in (3, 4, len(word))
    }


@cache
def _dates() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns of a day before and after its month."""
    month = rf"(?P<month>{'|'.join(sorted(_months(), key=len, reverse=True))})\b"
    day = rf"(?P<day>\d{{1,2}}|{'|'.join(_ORDINALS)})(?:st|nd|rd|th|er|\.)?"
    return (
        re.compile(rf"\b(?:the )?{day} (?:of |de )?{month}", _IGNORED),
        re.compile(rf"\b{month}\.? (?:the )?{day}\b(?!:)", _IGNORED),
    )


_OTHERS = (
    (re.compile(r"\bnightly\b", _IGNORED), "every night"),
    (re.compile(r"/ ?min\b", _IGNORED), " per minute"),
    (re.compile(r"/ ?(?=(?:h|hour|s|sec|second|night|day|week|month|year|person)\b)", _IGNORED), " per "),
    (re.compile(r"\bv(?=\d)", _IGNORED), "version "),
)


@cache
def _timed() -> re.Pattern[str]:
    """Return a quick test for a time, a date or a rate."""
    return re.compile(rf"\d|\b(?:{'|'.join([*_WORDS, *_ORDINALS])}|nightly)\b|/ ?\w", _IGNORED)
