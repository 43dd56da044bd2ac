"""Where in a text something lies."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator
from typing import NamedTuple

Span = tuple[int, int]
"""The first character and the one behind the last."""

SHORTEST = 6
"""Characters of the shortest text that is taken for a secret, or could hold one."""


def places_of(word: str, text: str) -> Iterator[int]:
    """Where a word begins, each time. It is what finds a rare word the fastest."""
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def searchable(text: str) -> str:
    """Return `text` with a `?` for each sign beyond ASCII: at the same places, and words are found in it several times
    as fast."""
    return text if text.isascii() else text.encode("ascii", "replace").decode("ascii")


def lowered(text: str) -> str:
    """Return `text` in small letters, each at its place: a letter whose small one is two stays."""
    small = text.lower()
    return small if len(small) == len(text) else "".join(x.lower() if len(x.lower()) == 1 else x for x in text)


_SMALL = {ord(sign): sign.lower() if sign in string.ascii_letters else " " for sign in map(chr, range(128))}


class Read(NamedTuple):
    """A text to look for secrets in, as it is and `searchable`, and the words in it, of small letters alone."""

    text: str
    near: str
    words: frozenset[str]


def read(text: str) -> Read:
    near = searchable(text)
    return Read(text, near, frozenset(near.translate(_SMALL).split()))


def words_of(hint: str) -> frozenset[str]:
    """Return the words that are in each text with `hint`, without the last where it may go on."""
    words = re.findall("[a-z]+", hint.lower())
    return frozenset(words[: -1 if len(words) > 1 and hint[-1].isalpha() else None])


def by_word(hints: Iterable[str], **others: str) -> dict[str, list[str]]:
    """Return `hints` by a word that a text must have for each; `others` are the words of those that begin a word."""
    rules: dict[str, list[str]] = {}
    for hint in hints:
        words = others[hint].split() if hint in others else [min(words_of(hint), key=lambda word: (-len(word), word))]
        for word in words:
            rules.setdefault(word, []).append(hint)
    return rules


def hints_in(words: frozenset[str], rules: dict[str, list[str]]) -> list[str]:
    """Return the hints of `rules` that a text with these words may have."""
    return list(dict.fromkeys(hint for word in words & rules.keys() for hint in rules[word]))
