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
from workbench.analysis.sentence_form import is_sentence
from workbench.base.session_caches import session_cache
from workbench.facts.amounts import Value, values_in
from workbench.facts.terms import (
    FUNCTION_WORDS,
    LANGUAGES_OF_STEMS,
    MODIFIERS,
    NUMBER_WORDS,
    TOKEN,
)
from workbench.facts.word_tables import SPACED, UNSPACED, alternatives, pattern, table


def _pattern(name: str) -> re.Pattern[str]:
    return pattern("sense", name)


_DENIES = _pattern("denies")
_LACKS = _pattern("lacks")
_CONTRAST = _pattern("contrast")
_CONTRAST_BEFORE = _pattern("contrast_before")
"""Words that negate the word before them."""
_PREFERS, _PREFERRED_TO, _OVER = map(_pattern, ("prefers", "preferred_to", "over"))
_MOVED, _SOURCE = map(_pattern, ("moved", "source"))
_REPLACED = re.compile(
    r"(?P<before>\S[^,;:]{0,60}?) (?:was|were|is|are|been|being|got|gets) (?:\w+ )?replaced (?:with|by)\b"
    r"|\breplac\w+\b(?P<old>.{1,60}?)\b(?:with|by)\b"
)
_CONDITION = _pattern("condition")
_DENIED_CLAUSE = _pattern("denied_clause")
"""Beginning of a clause that negates its own verb: "branches that are not reviewed"."""
_CONDITION_BEHIND, _LACKS_BEHIND = map(_pattern, ("condition_behind", "lacks_behind"))
"""Conditions and negations that follow what they refer to."""
_AND = re.compile(rf"\s(?:{alternatives('sense', 'and', SPACED)})\s|、|{alternatives('sense', 'and', UNSPACED)}")
_WHEN = _pattern("while")
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

    `order` has the content words in order, `signs` the sign of each (the clearest if one occurs twice). `contrasted`
    are rejected words ("Redis" in "Postgres instead of Redis"); `parts` has the words of each part of a clause. `names`
    are words written as names, `places` maps a preposition to the names after it, `kinds` has days, languages, date
    formats and rates. `anchor` is the word after "before" or "after", with that word; `earlier` and `later` are the
    words of the first and the second step. `words_and_negations` has all content and negating words in order.
    `is_sentence` is False for lists of words.
    """

    order: tuple[str, ...]
    signs: dict[str, int]
    contrasted: frozenset[str]
    parts: tuple[frozenset[str], ...]
    names: frozenset[str]
    places: dict[str, frozenset[str]]
    kinds: dict[str, frozenset[str]]
    anchor: tuple[str, str]
    earlier: frozenset[str]
    later: frozenset[str]
    values: tuple[Value, ...]
    words_and_negations: tuple[str, ...]
    text: str
    is_sentence: bool


@session_cache(1 << 13)
def sense_of(text: str, language: str) -> Sense:
    """Return the meaning of a sentence."""
    amounts = values_in(text.lower())
    low = normalized(text.lower(), language)
    order: list[str] = []
    parts: list[frozenset[str]] = []
    chosen: set[str] = set()
    signs: dict[str, int] = {}
    contrasted: set[str] = set()
    for start, stop in _clauses(low):
        signed = _signed_terms(low[start:stop], language)
        parts += _parts_of_clause(low[start:stop], language)
        chosen.update(term for term, sign, contrast in signed if sign > 0 and not contrast)
        for term, sign, contrast in signed:
            order.append(term)
            if contrast:
                contrasted.add(term)
            if term not in signs or signs[term] == 0 or contrast:
                signs[term] = sign
    signs |= dict.fromkeys(chosen & contrasted, 0)
    names = frozenset(term for match in _NAME.finditer(text) for term in token_terms(match[0], language))
    earlier, later = _sequence(low, language)
    return Sense(
        order=tuple(order),
        signs=signs,
        contrasted=frozenset(contrasted),
        parts=tuple(parts),
        names=names,
        places=_places(text, language),
        kinds=_kinds(low),
        anchor=_anchor(low, language),
        earlier=earlier,
        later=later,
        values=amounts,
        words_and_negations=tuple(
            term
            for match in TOKEN.finditer(low)
            for term in token_terms(match[0], language) or _negation_words(match[0])
        ),
        text=low,
        is_sentence=is_sentence(low),
    )


@session_cache(1 << 13)
def content_words(text: str, language: str) -> frozenset[str]:
    """Return the words of `sense_of(text, language).order`, at a fraction of its cost."""
    low = normalized(text.lower(), language)
    return frozenset(term for start, stop in _clauses(low) for term in content_terms(low[start:stop], language))


def normalized(low: str, language: str) -> str:
    """Return a lower-case text with synonyms in one wording: "as it is" becomes "must not change", "€" becomes "euro",
    "no line may be longer than 100" becomes "line may be at most 100"."""
    low = _CONTRACTED.sub(r"\1", low.replace("’", "'")).replace("€", " euro ").replace("£", " pound ")
    if _BEFORE_LIMIT.search(low):
        low = _normalized_limits(low)
    worded, normal = _wording_patterns(language)
    return worded.sub(lambda match: f" {normal[(match.lastindex or 1) - 1]} ", low)


_CONTRACTED = re.compile(r"\b(i|you|we|they|he|she|it|that|there)'(?:m|d|ll|ve|re|s)\b")
_NUMBER = rf"(?:\d|(?:{'|'.join(NUMBER_WORDS)})\b)"
_BEFORE_LIMIT = re.compile(rf"\b(?:than|over|above|under|below|after|exceed(?:s|ed|ing)?) {_NUMBER}")
_LIMITS = tuple(
    (re.compile(rf"\b(?:{alternatives('sense', name)}) (?={_NUMBER})"), denied, affirmed)
    for name, denied, affirmed in (("beyond", "at most ", "more than "), ("short_of", "at least ", "less than "))
)
_NO_LIMIT = re.compile(r"\b(?:no|not|never|nothing|\w+n't)(?= (?:[^\s.,;:()]+ ){0,8}\Z)")
"""Negation of a limit, up to eight words before it in the same clause."""


def _normalized_limits(low: str) -> str:
    """Replace a negated limit by the opposite limit: no longer than 100 is at most 100."""
    for limit, denied, affirmed in _LIMITS:
        normal, at = "", 0
        for match in limit.finditer(low):
            before = low[at : match.start()]
            no = _NO_LIMIT.search(before)
            normal += f"{before[: no.start()]}{before[no.end() :].lstrip()}{denied}" if no else f"{before}{affirmed}"
            at = match.end()
        low = normal + low[at:]
    return low


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
    "approval": "approval",
    "as_is": "must not change",
    "stays": "not be removed",
    "keeps_name": "must not change the name",
    "renamed": "change name",
    "twice": "two times",
}


def _negation_words(token: str) -> tuple[str, ...]:
    return (token,) if token in MODIFIERS else ()


def _parts_of_clause(clause: str, language: str) -> list[frozenset[str]]:
    """Return the words of each part of a clause that "and" joins."""
    edges = [0, *(match.end() for match in _AND.finditer(clause)), len(clause)]
    return [words for start, stop in pairwise(edges) if (words := _terms_in(clause[start:stop], language))]


def _places(text: str, language: str) -> dict[str, frozenset[str]]:
    """Return the names after each preposition: {"in": {"lyon"}} for "in Lyon"."""
    found: dict[str, frozenset[str]] = {}
    for match in _PLACED.finditer(text):
        found[match[1].lower()] = found.get(match[1].lower(), frozenset()) | frozenset(token_terms(match[2], language))
    return found


_PLACED = re.compile(rf"\b({alternatives('sense', 'place')}) ([A-ZÀ-ÞА-Я][\w-]+)")


def _kinds(low: str) -> dict[str, frozenset[str]]:
    """Return the days and months, languages, date formats and rates in a text, by kind."""
    return {
        kind: found
        for kind, pattern in _KINDS.items()
        if (found := frozenset(one.rstrip("s") for one in pattern.findall(low)))
    }


_KINDS = {kind: pattern("replaced", kind) for kind in ("day", "tongue", "mask")} | {
    "time": re.compile(r"\b\d\d?h\d\d\b"),
    "date": re.compile(rf"\b\d\d? (?:{table('en', 'sense')['months'].replace(' ', '|')})\b"),
    "rate": re.compile(rf"(?:\b(?:{alternatives('sense', 'per')})|/) ?({alternatives('sense', 'period')})\b"),
}


_NAME = re.compile(r"(?<=[^\W_] )[A-Z][\w-]+|\b[A-Z]{2,}\b|\b[a-z]\w*(?:[_.]\w+)+\b|\b[a-z]+[A-Z]\w*")
_THEN = re.compile(
    rf"\b(?:(?P<before>{alternatives('sense', 'before')})|(?P<after>{alternatives('sense', 'after')}))\b"
)


_THEN_WORDS = "|".join(alternatives("sense", name) for name in ("before", "after"))
_NOT_THEN = re.compile(rf",? (?:and )?(?:not|never|nicht|nie|pas|no|não|не) (?:{_THEN_WORDS})\b(?: it\b)?(?! \w)")
"""Redundant ends such as "not before" in "after the call, not before"."""


def _anchor(low: str, language: str) -> tuple[str, str]:
    """Return the content word after the only "before" or "after" of a sentence, and "before" or "after"; ("", "") if
    there is none or several."""
    found = list(_THEN.finditer(_NOT_THEN.sub("", low)))
    if len(found) != 1:
        return "", ""
    behind = (term for match in TOKEN.finditer(low, found[0].end()) for term in token_terms(match[0], language))
    return next(behind, ""), "before" if found[0]["before"] else "after"


def _sequence(low: str, language: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of the earlier and of the later step; both empty unless exactly one word orders them."""
    for split in (_split_before_after, _split_postposition, _split_then):
        if (found := split(low, language)) is not None:
            return found
    return frozenset(), frozenset()


_Steps = tuple[frozenset[str], frozenset[str]]


def _split_before_after(low: str, language: str) -> _Steps | None:
    """Split by "before" and "after"."""
    found = list(_THEN.finditer(low))
    if len(found) != 1:
        return None
    (when,) = found
    end = _STOP.search(low, when.end())
    stop = end.start() if end else len(low)
    named = _terms_in(low[when.end() : stop], language)
    rest = _terms_in(f"{low[: when.start()]} {low[stop:]}", language) - named
    if not named or not rest:  # nothing separates the steps in "before each commit the linter is run"
        return None
    return (rest, named) if when["before"] else (named, rest)


def _split_postposition(low: str, language: str) -> _Steps | None:
    """Split by a "before" or "after" that follows its step, as "…前に" does."""
    found = list(_THEN_BEHIND.finditer(low))
    if len(found) != 1:
        return None
    (when,) = found
    named, rest = (_terms_in(part, language) for part in (low[: when.start()], low[when.end() :]))
    if not rest:
        runs = [*_RUN.finditer(low, 0, when.start())]
        if len(runs) < 2:
            return None
        named, rest = _terms_in(runs[-1][0], language), _terms_in(low[: runs[-1].start()], language)
    return (rest - named, named) if when["before"] else (named, rest - named)


def _split_then(low: str, language: str) -> _Steps | None:
    """Split by "then" and "afterwards"."""
    found = list(_NEXT.finditer(low))
    if len(found) != 1:
        return None
    (when,) = found
    edges = [match.end() for cut in (_AND, _STOP) for match in cut.finditer(low, 0, when.start())]
    begin, behind = max(edges, default=0), low[when.end() :].strip(" .!。")
    part = when.start() if behind and not _STOP.match(behind) else begin
    earlier, later = _terms_in(low[:part], language), _terms_in(low[part:], language)
    return (earlier - later, later - earlier) if earlier and later else None


_NEXT = _pattern("then")
_THEN_BEHIND = re.compile(
    rf"(?P<before>{alternatives('sense', 'before_behind')})|(?P<after>{alternatives('sense', 'after_behind')})"
)
_RUN = re.compile(r"[^\s的在于要写把先、，にをはがで]+")
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
    """Return the spans of clauses: split at punctuation, and at "and" before a negation."""
    cuts = [match.end() for match in _CLAUSE.finditer(low)]
    cuts += [match.end() for match in _AND.finditer(low) if _DENIES.search(low, match.end(), match.end() + 24)]
    edges = [0, *sorted(set(cuts)), len(low)]
    return [(start, stop) for start, stop in pairwise(edges) if start < stop]


def _signed_terms(clause: str, language: str) -> list[tuple[str, int, bool]]:
    """Return each content word of a clause with its sign, and True if another word is preferred to it."""
    spans = [(match.start(), term) for match in TOKEN.finditer(clause) for term in token_terms(match[0], language)]
    lacks = _LACKS.search(clause)
    contrasts = [span for match in _CONTRAST.finditer(clause) if (span := _span_after(clause, match.end()))]
    contrasts += [_span_before(clause, match.start()) for match in _CONTRAST_BEFORE.finditer(clause)]
    if _PREFERS.search(clause):
        contrasts += [_span_after(clause, match.end()) for match in _PREFERRED_TO.finditer(clause)]
        contrasts += [_span_after(clause, match.end()) for match in _OVER.finditer(clause)]
    if _MOVED.search(clause):
        contrasts += [_span_after(clause, match.end()) for match in _SOURCE.finditer(clause)]
    if bare_not := _BARE_NOT.match(clause.lstrip()):
        contrasts.append(_span_after(clause, len(clause) - len(clause.lstrip()) + bare_not.end()))
    contrasts += [match.span(match.lastgroup or 0) for match in _REPLACED.finditer(clause)]
    bare = _CONTRAST.sub(lambda match: " " * len(match[0]), clause)
    bare = _CONTRAST_BEFORE.sub(lambda match: " " * len(match[0]), bare)
    if bare_not:
        bare = bare.replace(bare_not[0], " " * len(bare_not[0]), 1)
    within = [*_denied_clauses(bare)]
    for start, stop in within:
        bare = f"{bare[:start]}{' ' * (stop - start)}{bare[stop:]}"
    condition = _CONDITION.search(bare)
    if denial := _DENIES.search(bare):
        condition = condition or _WHEN.search(bare, denial.end())
    denied = denial is not None
    found: list[tuple[str, int, bool]] = []
    for at, term in spans:
        if any(start <= at < stop for start, stop in contrasts):
            found.append((term, -1, True))
        elif any(start <= at < stop for start, stop in within):
            found.append((term, -1, False))
        elif lacks and _LACKS_BEHIND.search(clause):
            found.append((term, 1 if at >= lacks.start() else 0, False))
        elif lacks:
            inside = at > lacks.start()
            found.append((term, (1 if inside else 0) if denied else (-1 if inside else 1), False))
        elif condition and _CONDITION_BEHIND.match(bare, condition.start()):
            found.append((term, 0 if at < condition.start() else (-1 if denied else 1), False))
        elif condition and at > condition.start():
            found.append((term, 0, False))
        else:
            found.append((term, -1 if denied else 1, False))
    return found


def _denied_clauses(clause: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of clauses that negate their own verb."""
    for match in _DENIED_CLAUSE.finditer(clause):
        yield match.start(), len(clause)


def _span_after(clause: str, start: int) -> tuple[int, int]:
    """Return the span of the phrase after `start`, the end of "instead of" or the like: at most `_MOST_NAMED` content
    words."""
    count, stop = 0, start
    for match in re.finditer(r"\S+", clause[start:]):
        word = match[0].strip(".,;:!?\"'`)")
        if count and (word in FUNCTION_WORDS or not word):
            break
        count += word not in FUNCTION_WORDS
        stop = start + match.end()
        if count == _MOST_NAMED:
            break
    if stop == start:
        return start, len(clause)
    return start, stop


_MOST_NAMED = 4


def _span_before(clause: str, stop: int) -> tuple[int, int]:
    """Return the span of the one word before `stop`."""
    before = [match for match in TOKEN.finditer(clause[:stop]) if not "\u3040" <= match[0][0] <= "\u309f"]
    return (before[-1].start(), stop) if before else (stop, stop)
