"""Whether words are a sentence or only stand beside one another: lists of words, and sentences that were shuffled.

A sentence has little words and signs between the others, each where one may stand, and most of what it says stands in
one order whoever says it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from workbench.base.memory import remembered
from workbench.facts.terms import FUNCTION_WORDS, MODIFIERS, TOKEN, token_terms
from workbench.facts.word_tables import pattern
from workbench.facts.word_tables import words as listed

SORTS: dict[str, str] = {
    word: sort
    for sort in ("article", "preposition", "link", "verb", "person", "denial")
    for word in listed("sense", sort)
} | {"to": "to"}
_CAN_FOLLOW: dict[str, tuple[str, ...]] = {
    "article": ("",),
    "preposition": ("", "article", "person"),
    "link": ("", "article", "preposition", "verb", "denial", "person", "to"),
    "verb": ("", "article", "preposition", "denial", "verb", "person", "to"),
    "person": ("", "article", "preposition", "denial", "verb", "link", "to"),
    "denial": ("", "verb", "article", "preposition", "to"),
    "to": ("", "article", "person", "verb"),
}
"""What may come after each sort of little word; "" is any other word. None of the first four ends a sentence."""
_TORN = pattern("sense", "torn")
_SIGNS = re.compile(r"[,;:()\"'`“”«»→=/]|\s[-–—]\s|\.(?=\s)")
_PARTS = re.compile(r"[,;:()→=\[\]]|(?<=\w)/|\s[-–—]\s|[.!?](?=\s)")
"""Between these a clause stands. A slash that begins a path parts nothing: "in /src/a.py"."""
_LATIN = re.compile(r"[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+(?:['.-][^\W_]+)*")
BUILT = 0.16
"""So many of a sentence's words are little ones, or signs stand between them."""

LIST_WORDS = 5
"""Fewer words than this may be a note by themselves."""


@remembered(1 << 13)
def built(low: str) -> bool:
    """Whether what holds a sentence together is there: little words or signs between the others. Scripts without spaces
    have none to look for."""
    found = _LATIN.findall(low)
    if len(found) < LIST_WORDS:
        return True
    items = [part.split() for part in low.split(",")]
    if len(items) >= LIST_WORDS and sum(len(item) <= 2 for item in items) >= 0.8 * len(items):
        return False
    signs = len(_SIGNS.findall(low))
    if not signs and not any(word in SORTS or word in MODIFIERS for word in found):
        return False
    little = sum(1.0 if word in FUNCTION_WORDS else 0.5 * (word in MODIFIERS) for word in found)
    return little + signs >= max(1, BUILT * len(found)) and _breaks(low) <= len(found) // 20


def heap_of(low: str, known: frozenset[str], language: str) -> bool:
    """Whether words stand side by side that nothing holds together, and some of them are not known ones."""
    if language != "english" or _SIGNS.search(low):  # elsewhere verbs stand in rows: "é preciso pedir"
        return False
    foreign = run = 0
    for word in _LATIN.findall(low):
        if word in FUNCTION_WORDS or word in MODIFIERS:
            foreign = run = 0
            continue
        run += 1
        found = token_terms(word, language)
        foreign += bool(found) and known.isdisjoint(found)
        if run >= HEAPED and foreign >= FOREIGN:
            return True
    return False


HEAPED, FOREIGN = 3, 2
"""So many words in a row, so many of them of something else, are a list."""


def _breaks(low: str) -> int:
    """How often a little word stands where none can: "the of", "without" at the end."""
    count = 0
    for clause in _PARTS.split(re.sub(r"[\"`“”*_]", "", low)):
        sorts = [SORTS.get(word, "") for word in _LATIN.findall(clause)]
        count += sum(bool(one) and other not in _CAN_FOLLOW[one] for one, other in pairwise(sorts))
        count += bool(sorts) and sorts[-1] in ("article", "preposition", "link", "to")
        count += len(_TORN.findall(clause))
    return count


def in_order(fact: Sequence[str], text: Sequence[str]) -> float:
    """How far the words that both have stand alike in both, 0 to 1: the mean of the pairs in the same order and of the
    neighbours that are still within two words; 1 where there is no pair."""
    place: dict[str, int] = {}
    for at, term in enumerate(text):
        place.setdefault(term, at)
    found = [place[term] for term in dict.fromkeys(fact) if term in place]
    pairs = [(one, other) for at, one in enumerate(found) for other in found[at + 1 :]]
    if not pairs:
        return 1.0
    near = sum(0 < other - one <= 2 for one, other in pairwise(found)) / (len(found) - 1)
    return (sum(one < other for one, other in pairs) / len(pairs) + near) / 2


def scrambled(fact: str, text: str, language: str) -> bool:
    """Whether a text has the words of a fact as they are, little ones too, out of their order, and nothing of its own
    that holds them together: no little word, and none in another form. Both in lower case; in scripts where words run
    together nothing is."""
    if _TOGETHER.search(fact):
        return False
    own, there = _every_word(fact, language), _every_word(text, language)
    known, forms = {word for word, _ in own}, {form for _, form in own}
    shared = sum(word in known for word, _ in there)
    if shared < SCRAMBLED_FROM:
        return False
    if any(
        form not in forms and (word in known or form in FUNCTION_WORDS or form in MODIFIERS) for word, form in there
    ):
        return False
    order = [word for word, _ in own]
    behind = {pair for step in (1, 2) for pair in zip(order, order[step:], strict=False)}
    near = sum(pair in behind for pair in pairwise(word for word, _ in there))
    among_others = len(there) - shared >= OTHERS
    return near < KEEPS_TOGETHER * (shared - 1) or (among_others and near <= KEEPS_TOGETHER * (shared - 1))


_TOGETHER = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
SCRAMBLED_FROM, KEEPS_TOGETHER, OTHERS = 3, 0.5, 2
"""Fewer words than the first have no order to lose; a clause that is moved leaves that share of a sentence's words
behind the same ones, and more where so many words of something else stand among them."""


@remembered(20_000)
def _every_word(low: str, language: str) -> tuple[tuple[str, str], ...]:
    """Each word as what it is compared by, little ones as themselves, and as it stands there."""
    return tuple(
        [(one, match[0]) for match in TOKEN.finditer(low) for one in token_terms(match[0], language) or (match[0],)]
    )
