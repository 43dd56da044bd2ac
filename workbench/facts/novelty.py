"""Novelty of a speaker's sentences: how much each says that was not said before.

A sentence is worth the rare words and the values that it is the first to say. A word counts by its rarity among the
speaker's sentences, and half as much each time it is said again. Greetings, thanks and other courtesies say nothing; a
question says little.
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
"""Letters of a word that are compared, so that its endings do not matter."""

SAID_AGAIN = 0.5
"""Weight of a word for each time it was said before."""

VALUE = 3.0
"""Weight of a number, name or quoted word, relative to one unit of rarity."""

QUESTION, COURTESY = 0.4, 0.02
"""Weights of questions and courtesies relative to statements."""


def novelty(sentences: Sequence[str]) -> list[float]:
    """Novelty of each of a speaker's sentences, in the order in which they were said; 0 for one without content
    words."""
    words = [_words(one) for one in sentences]
    spread = Counter(word for several in words for word in set(several))
    said: Counter[str] = Counter()
    found: list[float] = []
    for sentence, several in zip(sentences, words, strict=True):
        rarity = sum(log((len(words) + 1) / spread[word]) * SAID_AGAIN ** said[word] for word in {*several})
        said.update({*several})
        weight = COURTESY if is_courtesy(sentence) else QUESTION if is_question(sentence) else 1.0
        found.append(weight * (rarity + VALUE * min(count_specifics(sentence), 4)))
    return found


def _words(sentence: str) -> list[str]:
    return [word[:_ROOT] for word in _WORD.findall(sentence.lower()) if word not in FUNCTION_WORDS]
