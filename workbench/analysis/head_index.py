"""Word index of a head, for fast lookups of the claims of a summary.

The head is divided into `PARTS` parts; each word has a bit mask of the parts in which it occurs. A phrase is searched
for only in parts with all of its words, which makes lookups cheap even on 100 MB.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain

from workbench.base.values import words_in
from workbench.facts.wording import prose
from workbench.session import Message, Opaque, Text, Thinking, ToolResult, ToolUse

PARTS = 256
"""Number of parts of a head. More parts make lookups faster and the index larger."""

LONGEST_WORD = 64
"""Longest indexed word. Longer words are encoded data; phrases with one are searched for in all parts."""

_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
WORD = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+")
"""Word: letters, digits and underscores in a row, or one Chinese, Japanese or Korean character."""

_ASCII_WORD = re.compile(r"[a-z0-9_]+")
"""The same for ASCII text, several times as fast."""

_ELLIPSIS = re.compile(r"\s*(?:…|\.\.\.)\s*")
_WITH_UNIT = re.compile(r"v?(\d+)(?=[^\W\d_]{1,3}$)|v(\d+)$")
_SLASHES = re.compile(r"[\\/]+")


class HeadIndex:
    """Index of a head. Built once; lookups are thread-safe."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._masks: dict[str, int] = {}
        self._parts: list[list[str]] = []
        step, masks = max(1, -(-len(messages) // PARTS)), self._masks
        for part in range(0, len(messages), step):
            bit = 1 << len(self._parts)
            words: set[str] = set()
            texts: list[str] = []
            for message in messages[part : part + step]:
                for text in texts_of(message):
                    texts.append(text)
                    words.update((_ASCII_WORD if text.isascii() else WORD).findall(text.lower()))
                if bare := bare_words(message):
                    texts.append(bare)
            self._parts.append(texts)
            words.update([found[1] or found[2] for word in words if (found := _WITH_UNIT.match(word))])
            for word in words:
                if len(word) <= LONGEST_WORD:
                    masks[word] = masks.get(word, 0) | bit
        self._search = lru_cache(maxsize=8_192)(self._is_found)

    def __contains__(self, word: str) -> bool:
        """True if a lower-case word occurs in the head."""
        return word in self._masks

    def has(self, text: str) -> bool:
        """True if `text` occurs in the head, whatever the white space. Pieces between `…` are searched for one by
        one."""
        for piece, cut in _pieces(text):
            parts = piece.split()
            if not self._search(r"\s+".join(map(re.escape, parts)), _words(piece, cut), max(parts, key=len)):
                return False
        return True

    def has_path(self, path: str) -> bool:
        """True if a path occurs in the head, with slashes of either kind; `a/b` is found in `/x/a/b`. A path that ends
        with `…` may continue."""
        whole = path.removesuffix("…")
        parts = [part for part in _SLASHES.split(whole) if part and part != "."]
        pattern = r"[\\/]+(?:\.[\\/])?".join(map(re.escape, parts))
        return self._search(pattern, _words(whole, (False, whole != path)), max(parts, key=len, default=""))

    def has_number(self, number: str) -> bool:
        """True if a number occurs in the head as written, not as part of a longer one."""
        return self._search(rf"(?<![\d.]){re.escape(number)}(?!\d)", _words(number, (False, False)), number)

    def says(self, text: str) -> bool:
        """True if the words of `text` occur in a row, whatever the case and punctuation; pieces between `…` one by
        one."""
        for piece, cut in _pieces(text):
            words = WORD.findall(piece.lower())
            if not self._search(r"[\W_]{0,64}".join(map(re.escape, words)), _words(piece, cut), None):
                return False
        return True

    def _is_found(self, pattern: str, words: tuple[str, ...], literal: str | None) -> bool:
        """True if `pattern` matches a text in a part with all `words`. `literal` is a part of the pattern that is
        searched for first; without it the texts are searched in lower case."""
        mask = -1
        for word in words:
            mask &= self._masks.get(word, 0) if len(word) <= LONGEST_WORD else -1
            if not mask:
                return False
        # Search for words first: this is far cheaper than a pattern, and the rarest word rules out most texts.
        search = re.compile(pattern).search
        if literal is not None:
            return any(literal in text and search(text) for text in self._texts(mask))
        rarest = sorted(words, key=lambda word: (self._masks.get(word, -1).bit_count(), -len(word)))[:3]
        lowered = (text.lower() for text in self._texts(mask))
        return any(all(word in text for word in rarest) and search(text) for text in lowered)

    def _texts(self, mask: int) -> Iterator[str]:
        return chain.from_iterable(texts for part, texts in enumerate(self._parts) if mask >> part & 1)


def _pieces(text: str) -> Iterator[tuple[str, tuple[bool, bool]]]:
    """Yield the pieces between ellipses, each with two flags: its first word may be cut, its last word may be cut."""
    pieces = _ELLIPSIS.split(text)
    for number, piece in enumerate(pieces):
        if piece:
            yield piece, (number > 0, number < len(pieces) - 1)


def _words(piece: str, cut: tuple[bool, bool]) -> tuple[str, ...]:
    """Return the words of a piece to look up, without those that an ellipsis may have cut."""
    words = WORD.findall(piece.lower())
    return tuple(words[cut[0] : len(words) - cut[1]])


def texts_of(message: Message) -> Iterator[str]:
    """Yield every text of a message that a summary may quote; arguments of calls one by one."""
    if message.kind == "boundary":
        return
    for block in message.blocks:
        match block:
            case Text(text) | Thinking(text):
                yield text
            case ToolUse(_, name, given):
                yield name
                yield from words_in(given)
            case ToolResult():
                yield from (part.text for part in block.content if isinstance(part, Text))
            case Opaque(_, raw):
                yield from words_in(raw)


def bare_words(message: Message) -> str:
    """Return the text of user or agent without fenced code and injected passages, because a quotation may omit them; ""
    if there are none."""
    texts = [block for block in message.blocks if isinstance(block, Text)]
    own = "\n".join(block.text for block in texts if not block.injected)
    return prose(own) if len(texts) > 1 or "```" in own else ""


def stems(text: str, without: Iterable[str] = ()) -> frozenset[str]:
    """Return the stems of the meaningful words of `text`, to compare different wordings."""
    skip = _LITTLE.union(without)
    words = (word for word in WORD.findall(text.lower().replace("'", "").replace("’", "")) if word not in skip)
    return frozenset(filter(None, (_ENDING.sub("", word) if len(word) > 4 else word for word in words)))


_ENDING = re.compile(r"(?:ing|ied|ies|ed|es|ly|s|e)$")
_WITHOUT_MEANING = (
    "a an and any are as at be been but by can could did do does for from had has have he her his how i if in into is "
    "it its just like may me more most my no not of on one or our out please she should so some than that the their "
    "them then there these they this to too up us use was we were what when where which who will with would you your "
    "all also about after before being only other same such very make made get let now need want wants asked said "
    "的 了 是 在 和 也 就 都 我 你 他 们 这 那 有 不 要 会 请 把 对 为 与 用 户"
)
_LITTLE = frozenset(_WITHOUT_MEANING.split())
