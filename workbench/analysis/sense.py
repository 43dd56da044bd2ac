"""Meaning of a sentence, as words show it without a model: negated words and the order of steps.

A word's sign is +1 if stated, -1 if negated ("no tabs"; "Postgres instead of Redis" negates Redis), and 0 in a
condition ("before you push"). "Never push without asking" requires asking and leaves the push at 0. Each verb has its
own sign: "merge branches that are not reviewed" negates the review alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from msgspec import Struct

from workbench.analysis.concepts import content_terms, token_terms
from workbench.analysis.sentence_form import WORD_CLASSES, is_sentence
from workbench.base.session_caches import session_cache
from workbench.facts.amounts import Value, values_in
from workbench.facts.terms import (
    FUNCTION_WORDS,
    LANGUAGES_OF_STEMS,
    NUMBER_WORDS,
    TOKEN,
)
from workbench.facts.word_tables import SPACED, UNSPACED, alternatives, pattern, table


def _pattern(name: str) -> re.Pattern[str]:
    return pattern("sense", name)


_DENIES = _pattern("denies")
_LACKS = _pattern("lacks")
_CONTRAST = _pattern("contrast")
_PREFERS, _OVER = map(_pattern, ("prefers", "over"))
_MOVED, _SOURCE = map(_pattern, ("moved", "source"))
_CONDITION = _pattern("condition")
_REASON = _pattern("reason")
_DENIED_CLAUSE = _pattern("denied_clause")
"""Beginning of a clause that negates its own verb: "branches that are not reviewed"."""
_AND = re.compile(rf"\s(?:{alternatives('sense', 'and', SPACED)})\s|、|{alternatives('sense', 'and', UNSPACED)}")
_BARE_NOT = _pattern("bare_not")
"""Beginning of a clause that negates a phrase without a verb: "tabs and not spaces in the Makefile"."""
_CLAUSE = re.compile(r"[,;:()\[\]—–]\s|\s[-–—]\s|[，；：（）、](?!$)|,(?=\s)")
_SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<!/\.\.\.)(?<!\b(?i:dr|st|mr|ca|vs)\.)(?<!\b(?i:mrs|max|min)\.)(?<!\b(?i:incl)\.)(?<!\b(?i:approx)\.)"
    rf"(?:(?<!\d\.)|(?!\s+(?i:{alternatives('replaced', 'day')})\b))[\"')\]*`]*\s+|(?<=[。！？；])|(?<=;)\s+"
)
"""Ends of sentences; not "9. Mai"."""


class Sense(Struct, frozen=True):
    """Meaning of a sentence.

    `order` has the content words in order, `signs` the sign of each (of a repeated word the first that is not 0);
    `parts` has the words of each part of a clause. `names` are words written as names, `kinds` has days and times.
    `earlier` and `later` are the words of the first and the second step. `is_sentence` is False for lists of words.
    """

    order: tuple[str, ...]
    signs: dict[str, int]
    parts: tuple[frozenset[str], ...]
    names: frozenset[str]
    kinds: dict[str, frozenset[str]]
    earlier: frozenset[str]
    later: frozenset[str]
    values: tuple[Value, ...]
    text: str
    is_sentence: bool


@session_cache(1 << 13)
def sense_of(text: str, language: str) -> Sense:
    """Return the meaning of a sentence."""
    amounts = values_in(text.lower())
    low = normalized(text.lower(), language)
    order: list[str] = []
    parts: list[frozenset[str]] = []
    signs: dict[str, int] = {}
    for start, stop in _clauses(low):
        parts += _parts_of_clause(low[start:stop], language)
        for term, sign in _signed_terms(low[start:stop], language):
            order.append(term)
            signs[term] = signs.get(term) or sign
    earlier, later = _sequence(low, language)
    return Sense(
        order=tuple(order),
        signs=signs,
        parts=tuple(parts),
        names=frozenset(term for match in _NAME.finditer(text) for term in token_terms(match[0], language)),
        kinds=_kinds(low),
        earlier=earlier,
        later=later,
        values=amounts,
        text=low,
        is_sentence=is_sentence(low),
    )


@session_cache(1 << 13)
def content_words(text: str, language: str) -> frozenset[str]:
    """Return the words of `sense_of(text, language).order`, at a fraction of its cost."""
    return frozenset(content_terms(normalized(text.lower(), language), language))


def normalized(low: str, language: str) -> str:
    """Return a lower-case text with synonyms in one wording: "as it is" becomes "must not change", "€" becomes "euro",
    "no line may be longer than 100" becomes "line may be at most 100"."""
    low = _CONTRACTED.sub(r"\1", low.replace("’", "'")).replace("€", " euro ").replace("£", " pound ")
    if _BEFORE_LIMIT.search(low):
        for limit, denied, affirmed in _LIMITS:
            low = limit.sub(
                lambda match, no=denied, yes=affirmed: yes if match[1] is None else f"{match[1]}{no}",  # type: ignore[misc]
                low,
            )
    worded, normal = _wording_patterns(language)
    return worded.sub(lambda match: f" {normal[(match.lastindex or 1) - 1]} ", low)


_CONTRACTED = re.compile(r"\b(i|you|we|they|he|she|it|that|there)'(?:m|d|ll|ve|re|s)\b")
_NUMBER = rf"(?:\d|(?:{'|'.join(NUMBER_WORDS)})\b)"
_BEFORE_LIMIT = re.compile(rf"\b(?:than|over|above|under|below|after|exceed(?:s|ed|ing)?) {_NUMBER}")
_LIMITS = tuple(
    (
        re.compile(
            rf"(?:\b(?:no|not|never|nothing|\w+n't) (?P<between>(?:[^\s.,;:()]+ ){{0,8}}))?"
            rf"\b(?:{alternatives('sense', name)}) (?={_NUMBER})"
        ),
        denied,
        affirmed,
    )
    for name, denied, affirmed in (("beyond", "at most ", "more than "), ("short_of", "at least ", "less than "))
)
"""Limits, perhaps with a negation up to eight words before in the same clause; their wording with and without it."""


@cache
def _wording_patterns(language: str) -> tuple[re.Pattern[str], tuple[str, ...]]:
    """Return a pattern with a group per synonym of `language`, English and unspaced languages, and the normal wording
    of each group."""
    own = sorted({SPACED[LANGUAGES_OF_STEMS.index(language)], "en"})
    spaced = [(_NORMAL[name], some) for name in _NORMAL if (some := alternatives("sense", name, own))]
    spaced += [entry for one in own for entry in table(one, "phrases").items()]
    unspaced = [(_NORMAL[name], some) for name in _NORMAL if (some := alternatives("sense", name, UNSPACED))]
    grouped = ("|".join(f"({some})" for _, some in each) for each in (spaced, unspaced))
    return re.compile(r"(?<!\w)(?:{})(?!\w)|{}".format(*grouped)), tuple(normal for normal, _ in spaced + unspaced)


_NORMAL = {
    "hands_off": "do not touch",
    "no_more": "at most",
    "no_less": "at least",
    "as_is": "must not change",
    "twice": "two times",
}


def _parts_of_clause(clause: str, language: str) -> list[frozenset[str]]:
    """Return the words of each part of a clause that "and" joins."""
    edges = [0, *(match.end() for match in _AND.finditer(clause)), len(clause)]
    return [words for start, stop in pairwise(edges) if (words := _terms_in(clause[start:stop], language))]


def _kinds(low: str) -> dict[str, frozenset[str]]:
    """Return the days and months, and the times of day in a text."""
    return {
        kind: found
        for kind, pattern in _KINDS.items()
        if (found := frozenset(one.rstrip("s") for one in pattern.findall(low)))
    }


_KINDS = {"day": pattern("replaced", "day"), "time": re.compile(r"\b\d\d?h\d\d\b")}


def _class(sort: str) -> str:
    return "|".join(word for word, other in WORD_CLASSES.items() if other == sort)


_NAME = re.compile(
    rf"^[A-ZÀ-Þ][\w-]*[^\Ws](?= (?:{_class('verb')}|\w+s (?:{_class('article')}))\b)|"
    r"(?:(?<=[^\W\d_] )|(?<=[:,;] ))[A-ZÀ-ÞА-Я][\w-]+|(?<![\d ] )\b[A-Z]{2,}\b|\b[a-z]+[A-Z]\w*"
    r"|(?<![\w./:@-])(?!\d+(?:[.,:h]\d+)?[^\W\d_]*(?![\w./:@-]))(?=[\w./:@-]*(?:\d|[_./@-]\w))[\w./~@][\w./:@-]*\w"
)
"""Names: words with a capital inside a sentence, and with a digit or sign in them; no number with a unit."""
_THEN = re.compile(
    rf"\b(?:(?P<before>{alternatives('sense', 'before')})|(?P<after>{alternatives('sense', 'after')}))\b"
)


_THEN_WORDS = "|".join(alternatives("sense", name) for name in ("before", "after"))
_NOT_THEN = re.compile(rf",? (?:and )?(?:not|never|nicht|nie|pas|no|não|не) (?:{_THEN_WORDS})\b(?: it\b)?(?! \w)")
"""Redundant ends such as "not before" in "after the call, not before"."""


def _sequence(low: str, language: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of the earlier and of the later step; both empty unless exactly one word orders them."""
    low = _NOT_THEN.sub("", low)
    found = [*_THEN.finditer(low)]
    if len(found) == 1:
        when = found[0]
        end = _STOP.search(low, when.end())
        stop = end.start() if end else len(low)
        named = _terms_in(low[when.end() : stop], language)
        rest = _terms_in(f"{low[: when.start()]} {low[stop:]}", language) - named
        if named and rest:  # nothing separates the steps in "before each commit the linter is run"
            return (rest, named) if when["before"] else (named, rest)
    found = [*_NEXT.finditer(low)]
    if len(found) == 1:
        when = found[0]
        edges = [match.end() for cut in (_AND, _STOP) for match in cut.finditer(low, 0, when.start())]
        part = when.start() if low[when.end() :].strip(" .!。") else max(edges, default=0)
        earlier, later = _terms_in(low[:part], language), _terms_in(low[part:], language)
        return earlier - later, later - earlier
    return frozenset(), frozenset()


_NEXT = _pattern("then")
_STOP = re.compile(r"[,;:.、，；]")


def _terms_in(text: str, language: str) -> frozenset[str]:
    return frozenset(term for match in TOKEN.finditer(text) for term in token_terms(match[0], language))


def denials(text: str) -> int:
    """Return how often a lower-case text negates something."""
    return len(_DENIES.findall(text)) + len(_LACKS.findall(text))


def sentences_of(line: str) -> list[str]:
    """Return the sentences of a line."""
    return [one for part in _SENTENCE_END.split(line) if (one := part.strip())]


def _clauses(low: str) -> list[tuple[int, int]]:
    """Return the spans of clauses: split at punctuation, before a reason, and at "and" before a negation."""
    cuts = [match.end() for match in _CLAUSE.finditer(low)]
    cuts += [match.start() for match in _REASON.finditer(low)]
    cuts += [match.end() for match in _AND.finditer(low) if _DENIES.search(low, match.end(), match.end() + 24)]
    edges = [0, *sorted(set(cuts)), len(low)]
    return [(start, stop) for start, stop in pairwise(edges) if start < stop]


def _signed_terms(clause: str, language: str) -> Iterator[tuple[str, int]]:
    """Yield each content word of a clause with its sign."""
    contrasts = [_span_after(clause, match.end()) for match in _CONTRAST.finditer(clause)]
    for verb, preposition in ((_PREFERS, _OVER), (_MOVED, _SOURCE)):
        if verb.search(clause):
            contrasts += [_span_after(clause, match.end()) for match in preposition.finditer(clause)]
    if bare_not := _BARE_NOT.match(clause.lstrip()):
        contrasts.append(_span_after(clause, len(clause) - len(clause.lstrip()) + bare_not.end()))
    bare = _CONTRAST.sub(lambda match: " " * len(match[0]), clause)
    if bare_not:
        bare = bare.replace(bare_not[0], " " * len(bare_not[0]), 1)
    within = match.start() if (match := _DENIED_CLAUSE.search(bare)) else len(clause)
    bare = bare[:within]
    lacks, denied, condition = _LACKS.search(clause), _DENIES.search(bare), _CONDITION.search(bare)
    for match in TOKEN.finditer(clause):
        at = match.start()
        if at >= within or any(start <= at < stop for start, stop in contrasts):
            sign = -1
        elif lacks:
            inside = at > lacks.start()
            sign = (1 if inside else 0) if denied else (-1 if inside else 1)
        elif condition and at > condition.start():
            sign = 0
        else:
            sign = -1 if denied else 1
        yield from ((term, sign) for term in token_terms(match[0], language))


def _span_after(clause: str, start: int) -> tuple[int, int]:
    """Return the span of the phrase after `start`, the end of "instead of" or the like."""
    count, stop = 0, start
    for match in re.finditer(r"\S+", clause[start:]):
        word = match[0].strip(".,;:!?\"'`)")
        if count and word in FUNCTION_WORDS:
            break
        count += word not in FUNCTION_WORDS
        stop = start + match.end()
    return start, stop
