"""Novelty of a speaker's sentences: a score of how much new content each has.

The score is a sum. Each different word of the sentence adds its rarity among the speaker's sentences, halved for each
earlier sentence with the same word. Each number, name or quoted word adds `VALUE`, up to four of them, even if it was
mentioned before. Questions and courtesies get a part of the sum.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import log

from workbench.facts.requests import is_courtesy
from workbench.facts.statements import count_specifics
from workbench.facts.terms import FUNCTION_WORDS
from workbench.facts.wording import is_question

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2}|[^\W_]+(?:['’][^\W_]+)?")
_ROOT = 6
"""Number of first letters of a word that are compared, so that most inflected forms count as the same word."""

REPEATED = 0.5
"""Factor of a word's rarity for each earlier sentence that has the word."""

VALUE = 3.0
"""Score of a number, name or quoted word. For comparison: the rarity of a word is the natural logarithm of (sentences +
1) / (sentences with the word)."""

QUESTION, COURTESY = 0.4, 0.02
"""Factors by which the score of a question and of a courtesy is multiplied; 1 for other sentences."""


def novelty(sentences: Sequence[str]) -> list[float]:
    """Return the novelty of each sentence of one speaker, 0 or more, in the given order (the order of the session)."""
    words = [_words(one) for one in sentences]
    spread = Counter(word for several in words for word in set(several))
    earlier: Counter[str] = Counter()
    found: list[float] = []
    for sentence, several in zip(sentences, words, strict=True):
        rarity = sum(log((len(words) + 1) / spread[word]) * REPEATED ** earlier[word] for word in {*several})
        earlier.update({*several})
        weight = COURTESY if is_courtesy(sentence) else QUESTION if is_question(sentence) else 1.0
        found.append(weight * (rarity + VALUE * min(count_specifics(sentence), 4)))
    return found


def _words(sentence: str) -> list[str]:
    return [word[:_ROOT] for word in _WORD.findall(sentence.lower()) if word not in FUNCTION_WORDS]
