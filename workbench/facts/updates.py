"""Updates: sentences of the user that give another value for what an earlier sentence says.

An update repeats the earlier sentence with another value in the same place ("A ticket costs nine pounds." after "A
ticket costs seven pounds."). Or it announces a change ("actually", "no longer", "make that"), has another value of the
same kind, and shares a word that few sentences have: "Actually, the movers may charge 13,500 francs." Sentences of one
message do not update each other. Most cues, dates and orders are English.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from math import log

from msgspec import Struct

from workbench.base.session_caches import session_cache
from workbench.facts.amounts import units, values_in, with_digits
from workbench.facts.terms import FUNCTION_WORDS, MODIFIERS, NUMBER_WORDS, content_terms, language_of
from workbench.facts.topics import topic_of

RARE, FEW = 0.05, 3
"""Most sentences with a rare word: a share of all, but `FEW` where that is less."""
MOST_RARE = 0.25
"""Most sentences with a rare word in a short session, as a share of all."""
COMPARED = 30
"""Most sentences with which one is compared for the same word, or for the same beginning or end."""


@session_cache(16)
def updates(sentences: tuple[str, ...], messages: tuple[int, ...]) -> tuple[int | None, ...]:
    """Return for each sentence the index of the newest later one that updates it, or None. `messages`: number of each
    sentence's message. Nearly linear: a sentence is compared with at most `COMPARED` that share a word, or a beginning
    or end."""
    language = language_of(" ".join(sentences))
    ones = [_read(text, language) for text in sentences]
    found: list[int | None] = [None] * len(ones)
    exchanged = {(old, new) for old, new in _exchanged_values(ones) if messages[old] != messages[new]}
    times = Counter(at for pair in exchanged for at in pair)
    for old, new in exchanged:
        if times[old] == times[new] == 1:  # three of one form are a list
            found[old] = new
    spread: dict[str, list[int]] = defaultdict(list)
    for at, one in enumerate(ones):
        for term in one.terms:
            spread[term].append(at)
    most = min(max(FEW, RARE * len(ones)), MOST_RARE * len(ones), COMPARED)
    for new, one in enumerate(ones):
        if not one.announces:
            continue
        scores: dict[int, float] = defaultdict(float)
        for term in one.terms:
            if len(spread[term]) <= most:
                for old in spread[term]:
                    if old < new and messages[old] != messages[new] and found[old] is None and _differs(ones[old], one):
                        scores[old] += log((len(ones) + 1) / len(spread[term]))
        highest = max(scores.values(), default=0.0)
        best = [old for old, score in scores.items() if score == highest]
        if len(best) == 1:
            found[best[0]] = new
    return tuple(found)


class _Sentence(Struct, frozen=True):
    """A sentence as compared: its words; its content terms without values; its values by kind."""

    words: tuple[str, ...]
    terms: frozenset[str]
    values: Mapping[str, frozenset[str]]
    announces: bool


def _read(text: str, language: str) -> _Sentence:
    values = values_by_kind(text)
    terms = frozenset(content_terms(_VALUE.sub(" ", text), language)) - units(language)
    terms |= {f"month {day.partition('.')[2]}" for day in values.get("date", ())}
    topic = topic_of(text, language)
    announces = not topic.marks.isdisjoint(("revises", "leans")) or _ANNOUNCES.search(text) is not None
    return _Sentence(tuple(_WORD.findall(text)), terms, values, announces)


_WORD = re.compile(r"[^\s,;!?()\"“”]*[^\s,;.!?()\"“”:]")


def _differs(old: _Sentence, new: _Sentence) -> bool:
    """Return whether `new` has a value of a kind that `old` has, and not the same one. Another name counts only
    beside a shared name or two shared words, because most sentences have names."""
    for kind, several in new.values.items():
        if kind not in old.values:
            continue
        if kind != "name":
            if not old.values[kind] & several:
                return True
        elif several - old.values[kind]:
            named = {word for name in old.values[kind] for word in name.split()}
            if not named.isdisjoint(new.words) or len(old.terms & new.terms) > 1:
                return True
    return False


# --- the same words with another value --------------------------------------------------------------------------------

MOST_EXCHANGED = 5
"""Most words of a value."""
FEWEST_SHARED = 3
"""Fewest words that both sentences share, one of them a content word."""


def _exchanged_values(ones: Sequence[_Sentence]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of an older and a newer sentence that differ in one value only."""
    frames: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for at, one in enumerate(ones):
        for key in {one.words[:2], one.words[-2:]}:
            for old in frames[key][-COMPARED:]:
                if _exchanges(ones[old], one):
                    yield old, at
            frames[key].append(at)


def _exchanges(old: _Sentence, new: _Sentence) -> bool:
    first, second = old.words, new.words
    start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))
    room = min(len(first), len(second)) - start
    back = zip(reversed(first), reversed(second), strict=False)
    end = min(room, sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], back)))
    was, now = first[start : len(first) - end], second[start : len(second) - end]
    alike = old.terms & new.terms and start + end >= FEWEST_SHARED and set(was).isdisjoint(now)
    if not (was and now and alike) or max(len(was), len(now)) > MOST_EXCHANGED or _ORDER.match(first[0]):
        return False
    behind_noun = start and first[start - 1].lower() not in FUNCTION_WORDS
    before, after = values_by_kind(" ".join(was)), values_by_kind(" ".join(now))
    if any(kind in before and before[kind] != several for kind, several in after.items() if kind != "name"):
        # "part 2" names a part, "2 parts" counts them
        counts = end > 0 and first[len(first) - end].lower() not in FUNCTION_WORDS | MODIFIERS
        return counts or not (behind_noun and was[0].isdigit())
    shared = {word.lower() for word in (*first[:start], *first[len(first) - end :])}
    # "my brother Tom" may be another brother
    return _is_name(was) and _is_name(now) and not behind_noun and not shared.isdisjoint(_DEFINITE)


_DEFINITE = frozenset(["the", "our", "my", "his", "her", "their"])


def _is_name(words: Sequence[str]) -> bool:
    return all(
        word[0].isupper() and not word.endswith("ly") and word.lower() not in FUNCTION_WORDS
        for word in words
        if word != "&"
    )


_ORDER = re.compile(
    r"(?:add|build|check|commit|create|delete|explain|fix|implement|look|merge|move|open|read|refactor|remove|rename|"
    r"review|run|see|show|test|update|write)\Z",
    re.IGNORECASE,
)
"""First word of an order: two of one form may both hold."""


# --- values -----------------------------------------------------------------------------------------------------------

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth", "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth",
    "twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first",
]  # fmt: skip
_MONTH = rf"({'|'.join(_MONTHS)})[a-z]*\.?"
_DAY = rf"({'|'.join(reversed(_DAYS))}|\d{{1,2}}(?=\D|\Z))(?:st|nd|rd|th)?"
_DATE = re.compile(
    rf"\b(?:{_DAY} (?:of )?{_MONTH}|{_MONTH} {_DAY}"
    r"|\d{4}-(\d\d)-(\d\d)|(\d{1,2})\.(\d{1,2})\.(?:\d{4})?)(?!\w)",
    re.IGNORECASE,
)
_TIME = re.compile(r"\b\d{1,2}(?::\d\d(?: ?[ap]m)?| ?[ap]m)\b", re.IGNORECASE)
_WEEKDAY = re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b", re.IGNORECASE)
_CODE = re.compile(r"`[^`\n]+`|(?<!\S)(?:[./~#@-]{1,2}(?=[a-zA-Z])|\w[\w.-]*[/\\:@_.](?=[\w/\\]))[^\s,;]*[^\s,;.!?:)]")
_NAME = re.compile(
    r"(?<=[\w,;:)] )[A-ZÀ-ÞА-Я][\w'’-]+(?: [A-ZÀ-ÞА-Я][\w'’-]+)*|\A[A-ZÀ-Þ][\w-]{2,}(?: [A-ZÀ-Þ][\w-]+)*(?= [a-z]+s )"
)
_VALUE = re.compile("|".join(one.pattern for one in (_DATE, _TIME, _WEEKDAY, _CODE)), re.IGNORECASE)
_ANNOUNCES = re.compile(
    r"\b(?:make that|no longer|(?:has |have |is |are )?(?:moved|switched) to|instead(?! of)|change of plans?)\b",
    re.IGNORECASE,
)
_MONEY = ("euro", "dollar", "pound", "franc", "yen")


def values_by_kind(text: str) -> dict[str, frozenset[str]]:
    """Return the values of a sentence by kind: date, time, weekday, money, a unit or counted thing, code, name."""
    found: dict[str, set[str]] = defaultdict(set)

    def take(kind: str, pattern: re.Pattern[str], rest: str) -> str:
        for match in pattern.finditer(rest):
            found[kind].add(_date(match) if kind == "date" else match[0].lower())
        return pattern.sub(" ", rest)

    rest = text
    for kind, pattern in (("date", _DATE), ("time", _TIME), ("weekday", _WEEKDAY), ("code", _CODE)):
        rest = take(kind, pattern, rest)
    for value in values_in(with_digits(rest).lower()):
        kind = "money" if value.unit in _MONEY else f"number {value.unit}".rstrip()
        found[kind].add(f"{value.amount:g}")
    for match in _NAME.finditer(rest):
        low = match[0].lower()
        is_word = low in FUNCTION_WORDS or low in NUMBER_WORDS or low in units("english")
        if not is_word and low[:3] not in _MONTHS:
            found["name"].add(match[0])
    return {kind: frozenset(several) for kind, several in found.items()}


def _date(match: re.Match[str]) -> str:
    """Return a date as day and month; a year is no difference."""
    day, month = next(pair for pair in _places(match) if all(pair))
    number = _DAYS.index(day) + 1 if day in _DAYS else int(day)
    return f"{number}.{int(month) if month.isdigit() else _MONTHS.index(month) + 1}"


def _places(match: re.Match[str]) -> Iterator[tuple[str, str]]:
    groups = [(group or "").lower() for group in match.groups()]
    yield from ((groups[0], groups[1]), (groups[3], groups[2]), (groups[5], groups[4]), (groups[6], groups[7]))
