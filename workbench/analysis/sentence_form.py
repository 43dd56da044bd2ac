"""Distinguish sentences from word lists and shuffled sentences.

A sentence has function words and punctuation between its content words, each where grammar allows it; two sentences of
the same meaning have most words in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from workbench.analysis.concepts import token_terms
from workbench.base.session_caches import session_cache
from workbench.facts.terms import FUNCTION_WORDS, MODIFIERS, TOKEN
from workbench.facts.word_tables import words as listed

WORD_CLASSES: dict[str, str] = {
    word: sort
    for sort in ("article", "preposition", "link", "verb", "person", "denial")
    for word in listed("sense", sort)
    if word != "as"  # a Portuguese article
} | {"to": "to"}
_LITTLE = FUNCTION_WORDS | listed("sense", "particle")
_SIGNS = re.compile(r"[,;:()\"'`“”«»→=/]|\s[-–—]\s|\.(?=\s)")
_LATIN = re.compile(r"[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+(?:['.-][^\W_]+)*")
LEAST_GLUE = 0.16
"""Least share of function words and punctuation in a sentence."""

LIST_WORDS = 5
"""Fewest words of a text that can be a word list; shorter texts may be notes."""


@session_cache(1 << 13)
def is_sentence(low: str) -> bool:
    """True if a text has function words or punctuation between its words, as sentences have. Always True for short
    texts and scripts without spaces."""
    found = _LATIN.findall(low)
    if len(found) < LIST_WORDS:
        return True
    items = [part.split() for part in low.split(",")]
    if len(items) >= LIST_WORDS and sum(len(item) <= 2 for item in items) >= 0.8 * len(items):
        return False
    signs = len(_SIGNS.findall(low))
    if not signs and low[-1:] != "." and not any(word in WORD_CLASSES or word in MODIFIERS for word in found):
        return False
    little = sum(1.0 if word in _LITTLE else 0.5 * (word in MODIFIERS) for word in found)
    return little + signs >= max(1, LEAST_GLUE * len(found))


def order_agreement(fact: Sequence[str], text: Sequence[str]) -> float:
    """Return the agreement in the order of common words, 0 to 1: the mean of two shares, of all pairs in the same order
    and of neighbours that are at most two words apart. 1 without a pair."""
    place: dict[str, int] = {}
    for at, term in enumerate(text):
        place.setdefault(term, at)
    found = [place[term] for term in dict.fromkeys(fact) if term in place]
    pairs = [(one, other) for at, one in enumerate(found) for other in found[at + 1 :]]
    if not pairs:
        return 1.0
    near = sum(0 < other - one <= 2 for one, other in pairwise(found)) / (len(found) - 1)
    return (sum(one < other for one, other in pairs) / len(pairs) + near) / 2


def is_scrambled(fact: str, text: str, language: str) -> bool:
    """True if a text has words of a fact in the same forms but out of order, and no function word that the fact lacks.
    Both texts are in lower case. False for scripts without spaces."""
    if _UNSPACED.search(fact) or _NOTE.search(text):
        return False
    own, there = _words_and_forms(fact, language), _words_and_forms(text, language)
    known, forms = {word for word, _ in own}, {form for _, form in own}
    shared = sum(word in known for word, _ in there)
    if shared < SCRAMBLED_FROM + 2 * (language == "german"):  # a participle moves far there
        return False
    if any(
        form not in forms and (word in known or form in FUNCTION_WORDS or form in MODIFIERS) for word, form in there
    ):
        return False
    order = [word for word, _ in own]
    behind = {pair for step in (1, 2) for pair in zip(order, order[step:], strict=False)}
    near = sum(pair in behind for pair in pairwise(word for word, _ in there))
    return near < ORDER_KEPT * (shared - 1)


_NOTE = re.compile(r"\w[,:] \w")
"""Separators of a note, whose parts have any order."""
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
SCRAMBLED_FROM, ORDER_KEPT = 3, 0.5
"""Fewest common words that have an order; share of neighbours that stay in place if a clause is moved."""


@session_cache(20_000)
def _words_and_forms(low: str, language: str) -> tuple[tuple[str, str], ...]:
    """Return (compared form, written form) of each word; function words are compared as written."""
    return tuple(
        [(one, match[0]) for match in TOKEN.finditer(low) for one in token_terms(match[0], language) or (match[0],)]
    )
