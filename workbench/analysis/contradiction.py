"""Contradictions: two sentences about the same thing that disagree, and the states that a sentence claims.

Sentences contradict each other by negation, order, value, name, or by combining words differently. States are those of
files, commands, errors and rules (deleted, passed, fixed); each agrees with some claimed states and denies others.
"""

from __future__ import annotations

import re
from typing import Literal

from workbench.analysis.sense import Sense, denials
from workbench.base.session_caches import session_cache
from workbench.facts.word_tables import bounded, pattern, table

LEAST_NEGATED = 0.3
"""Least share of the common words that only one of two opposite sentences negates."""


def contradicts(fact: Sense, text: Sense) -> bool:
    """True if a text with most words of a fact contradicts it."""
    return any(
        check(fact, text)
        for check in (is_negated, _is_reordered, _is_word_replaced, _recombines_parts, differs_in_value, _is_opposite)
    )


def is_negated(fact: Sense, text: Sense) -> bool:
    """True if one sentence negates the other."""
    agreed = _denied_in_both(fact, text)
    both = [(sign, text.signs[term]) for term, sign in fact.signs.items() if term in text.signs and term not in agreed]
    clear = [(one, other) for one, other in both if one and other]
    flips = {(one, other) for one, other in clear if one != other}
    if len(flips) == 2:
        return True
    return bool(clear) and sum(one != other for one, other in clear) >= LEAST_NEGATED * len(clear)


def _denied_in_both(fact: Sense, text: Sense) -> frozenset[str]:
    """Return the words of the parts of which the text negates a word, too: "use no cookies on the page" for "the page
    has to do without cookies"."""
    if denials(fact.text) != denials(text.text):
        return frozenset()
    denied = {term for term, sign in fact.signs.items() if sign == text.signs.get(term) == -1}
    return frozenset[str]().union(*(part for part in fact.parts if part & denied))


def differs_in_value(fact: Sense, text: Sense) -> bool:
    """True if a number, day, language or place of the fact differs in the text."""
    return _differs_in_number(fact, text) or _differs_in_kind(fact, text)


def _is_reordered(fact: Sense, text: Sense) -> bool:
    """True if the two sentences put the same steps in another order."""
    (named, when), (other, then) = fact.anchor, text.anchor
    if named and named == other and when != then:
        return True
    turned = len(fact.earlier & text.later) + len(fact.later & text.earlier)
    return turned > len(fact.earlier & text.earlier) + len(fact.later & text.later)


def _is_word_replaced(fact: Sense, text: Sense) -> bool:
    """True if one word of the fact is replaced by one or two, and one of them is a name."""
    missing = {term for term in fact.order if term not in text.signs}
    more = {term for term in text.order if term not in fact.signs}
    named = not fact.names.isdisjoint(missing) or not text.names.isdisjoint(more)
    return len(missing) == 1 and 0 < len(more) <= 2 and len(fact.order) > 2 and named


def _recombines_parts(fact: Sense, text: Sense) -> bool:
    """True if the text combines words of different parts of the fact: "keep the job, drop the queue" for "keep the
    queue, drop the job"."""
    for at, one in enumerate(fact.parts):
        for other in fact.parts[at + 1 :]:
            mine, yours = one - other, other - one
            if mine & fact.names & text.signs.keys() and any(
                part & mine and not part & mine & fact.names and part & yours and part & yours <= fact.names
                for part in text.parts
            ):
                return True  # "born in Ulm, raised in Bonn" for "born in Bonn, raised in Ulm"
            mixed = [part for part in text.parts if part & mine and part & yours]
            if (
                len(mixed) > 1
                and len(mine & frozenset().union(*mixed)) > 1
                and len(yours & frozenset().union(*mixed)) > 1
            ):
                return True
    return False


def _differs_in_kind(fact: Sense, text: Sense) -> bool:
    """True if a day, language, date format or rate differs, or a name after the same preposition."""
    for kind in fact.kinds.keys() & text.kinds.keys():
        if _lacks_one(fact.kinds[kind], text.kinds[kind]) and _lacks_one(text.kinds[kind], fact.kinds[kind]):
            return True
    for word, mine in fact.places.items():
        yours = text.places.get(word)
        if yours and mine.isdisjoint(text.order) and yours.isdisjoint(fact.order):
            return True
    turned = (("by", "for"), ("for", "by"), ("from", "to"), ("to", "from"))
    return any(fact.places.get(one, frozenset()) & text.places.get(other, frozenset()) for one, other in turned)


def _lacks_one(several: frozenset[str], others: frozenset[str]) -> bool:
    return any(not any(_is_same(one, other) for other in others) for one in several)


def _is_same(one: str, other: str) -> bool:
    """True for equal words, and for two times of day that may be the same."""
    if one == other or not (one[0].isdigit() and one[-3:] == other[-3:] and one[-3] == "h"):
        return one == other
    first, second = (int(time[:-3]) for time in (one, other))
    return (first - second) % 12 == 0 and (first == second or "0" not in (one[0], other[0]))


def _differs_in_number(fact: Sense, text: Sense) -> bool:
    """True if a number of the fact has another value in the text."""
    missing = [value for value in fact.values if not any(map(value.same, text.values))]
    more = [value for value in text.values if not any(map(value.same, fact.values))]
    return any(value.rivals(other) for value in missing for other in more)


_OPPOSITES = (("before", "after"), *zip(*[iter(table("en", "opposites"))] * 2, strict=True))
"""Pairs of opposites, by the names of their entries in the word tables, which are listed in pairs."""


def _is_opposite(fact: Sense, text: Sense) -> bool:
    """True if the fact has one of two opposites and the text only the other."""
    for names in _OPPOSITES:
        one, other = (pattern("opposites", name) for name in names)
        for mine, yours in ((one, other), (other, one)):
            alone = mine.search(fact.text) and not yours.search(fact.text)
            if alone and yours.search(text.text) and not mine.search(text.text):
                return True
    return False


State = Literal["", "deleted", "created", "modified", "reverted", "passed", "failed", "fixed", "open", "gone"]
"""Last state of the file, command, error or rule of a fact; "" if unknown. `gone`: a rule that a later one replaced."""

GONE = re.compile(rf"\[gone\]|{bounded('claims', 'gone')}", re.IGNORECASE)
"""Words that mark something as no longer valid."""

_SIGNS = {"passed": "|✓|✅", "failed": "|✗|❌"}

_CLAIMS = {
    state: re.compile(bounded("claims", state) + _SIGNS.get(state, ""))
    for state in ("deleted", "created", "modified", "reverted", "kept", "passed", "failed", "fixed", "open")
}

_NEGATED = re.compile(
    r"\b(?:not|never|no longer|isn't|wasn't|hasn't|doesn't|didn't|don't|nicht|kein\w*|pas|aucun\w*|"
    r"no|without|ohne|sans|sin|sem|без|не|0)\W+(?:\w+\W+){0,2}$"
)

_PLANNED = re.compile(r"\b(?:to be|should be|will be|must be|going to|plan\w*|todo|to) (?:\w+ )?$")

AGREES: dict[State, frozenset[str]] = {
    "deleted": frozenset({"deleted"}),
    "created": frozenset({"created", "modified"}),
    "modified": frozenset({"modified"}),
    "reverted": frozenset({"reverted"}),
    "passed": frozenset({"passed", "not failed"}),
    "failed": frozenset({"failed", "not passed"}),
    "fixed": frozenset({"fixed", "not open"}),
    "open": frozenset({"open", "not fixed"}),
    "gone": frozenset(),
}

DENIED: dict[State, frozenset[str]] = {
    "deleted": frozenset({"not deleted", "created", "modified", "kept", "reverted"}),
    "created": frozenset({"not created", "deleted", "reverted"}),
    "modified": frozenset({"not modified", "deleted", "reverted", "kept"}),
    "reverted": frozenset({"created", "modified", "not reverted"}),
    "passed": frozenset({"failed", "not passed"}),
    "failed": frozenset({"passed", "not failed"}),
    "fixed": frozenset({"open", "not fixed"}),
    "open": frozenset({"fixed", "not open"}),
    "gone": frozenset(),
}


@session_cache(1 << 12)
def claimed_states(unit: str) -> frozenset[str]:
    """Return the states that a sentence claims, as "not …" if negated. Planned work claims none."""
    low = unit.lower()
    found: set[str] = set()
    for state, words in _CLAIMS.items():
        for match in words.finditer(low):
            before = low[max(0, match.start() - 40) : match.start()]
            if _PLANNED.search(before):
                continue
            found.add(f"not {state}" if _NEGATED.search(before) else state)
    if "not fixed" in found:
        found.discard("fixed")
    return frozenset(found)


def claimed_states_of(name: str, unit: str) -> frozenset[str]:
    """Return the states that a sentence claims of `name`: "deleted `a.py`", "a.py was deleted", "a.py (new)". "a.py:
    removed a needless call" claims nothing of the file."""
    before, _, after = unit.lower().partition(name.lower())
    found: set[str] = set()
    for state, words in _CLAIMS.items():
        done = [match for match in words.finditer(before) if _ONLY_NAMES.fullmatch(before, match.end())]
        suffered = [
            match
            for match in words.finditer(after[:AFTER_CHARS])
            if _ONLY_GLUE.fullmatch(after, 0, match.start()) and not _OBJECT.match(after, match.end())
        ]
        for match, text in (*((one, before) for one in done[-1:]), *((one, after) for one in suffered[:1])):
            leading = text[max(0, match.start() - 40) : match.start()]
            if not _PLANNED.search(leading):
                found.add(f"not {state}" if _NEGATED.search(leading) else state)
    return frozenset(found)


AFTER_CHARS = 60

_ONLY_NAMES = re.compile(
    r"(?:[\s`*\"'(,:–-]|\b(?:the|a|file|files|module|and|of|for|to|in|it|change)\b|[\w/-]*[./][\w./-]*)*"
)

_ONLY_GLUE = re.compile(rf"(?:[\s`*\"'),:(–-]|{bounded('claims', 'between')}|\b\d+\b)*")

_OBJECT = re.compile(
    r"[\s`*]+(?!(?:in|by|with|as|on|at|after|before|and|but|because|from|again|now|too|also|to|for|twice|yet|tests?|checks?|cases?|specs?)\b)[\w`]"
)
