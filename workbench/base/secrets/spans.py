"""Find words in a text fast."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator
from typing import NamedTuple

Span = tuple[int, int]
"""Start and end of a part of a text; the end is exclusive."""

SHORTEST = 6
"""Length of the shortest secret."""

LONGEST = 2_000
"""Maximum number of characters of a value."""


def places_of(word: str, text: str) -> Iterator[int]:
    """Yield the index of each occurrence of `word`. Faster than a pattern for rare words."""
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def searchable(text: str) -> str:
    """Return `text` with `?` for each character beyond ASCII: searching is several times as fast, and indexes are the
    same."""
    return text if text.isascii() else text.encode("ascii", "replace").decode("ascii")


def lowered(text: str) -> str:
    """Return `text` in lower case with the same indexes. A letter that would become two is left as it is."""
    small = text.lower()
    return small if len(small) == len(text) else "".join(x.lower() if len(x.lower()) == 1 else x for x in text)


_SMALL = {ord(sign): sign.lower() if sign in string.ascii_letters else " " for sign in map(chr, range(128))}


class IndexedText(NamedTuple):
    """A text, its `searchable` form, and its words in lower case."""

    text: str
    ascii_text: str
    words: frozenset[str]


def indexed(text: str) -> IndexedText:
    ascii_text = searchable(text)
    return IndexedText(text, ascii_text, frozenset(ascii_text.translate(_SMALL).split()))


def words_of(hint: str) -> frozenset[str]:
    """Return the words of `hint` in lower case, without the last of several if it may continue in the text."""
    words = re.findall("[a-z]+", hint.lower())
    return frozenset(words[: -1 if len(words) > 1 and hint[-1].isalpha() else None])


def by_word(hints: Iterable[str], **others: str) -> dict[str, list[str]]:
    """Group `hints` by a word that a text with the hint must contain. `others` gives the words for hints that may be
    only the beginning of a word in the text, such as `mysql` of `mysqldump`."""
    rules: dict[str, list[str]] = {}
    for hint in hints:
        words = others[hint].split() if hint in others else [min(words_of(hint), key=lambda word: (-len(word), word))]
        for word in words:
            rules.setdefault(word, []).append(hint)
    return rules


def hints_in(words: frozenset[str], rules: dict[str, list[str]]) -> list[str]:
    """Return the hints of `rules` that a text with these words may contain."""
    return list(dict.fromkeys(hint for word in words & rules.keys() for hint in rules[word]))
