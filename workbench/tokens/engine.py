"""Count the o200k_base tokens of any text, offline.

Counts are exact, except where the tokenizer fails or a long text has no place for a cut (`pieces`). Two engines give
the same counts: tiktoken is always installed; splintr is several times as fast, but has no wheel for some platforms.
Special tokens in a text count as ordinary text (docs/tokens.md).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from struct import iter_unpack
from typing import NamedTuple, Protocol

from workbench.base.text import valid_unicode
from workbench.tokens.encoding import o200k

FAMILY = b"o200k_base/1"
"""Key of cached counts, at most 16 bytes, for both engines. Change it whenever counts change."""

WINDOW = 64 * 1024
"""Most characters encoded in one call. A longer call blocks other threads; at a million the tokenizer fails."""

LOOK_BACK = 4 * 1024
"""Number of characters at the end of a window that are searched for a place to cut."""

SPECIAL_BEGINS = "<|"
"""Beginning of every special token that a tokenizer knows for o200k_base."""

_BOUNDARY = re.compile(r"(?<=\S)(?= [A-Za-z])|(?<=\n)(?=[A-Za-z0-9])")
"""Places where o200k's pattern always begins a new word, so that a cut there changes no count."""


class Count(NamedTuple):
    """Number of tokens. `exact`: False if the tokenizer failed on a part of the text and that part is estimated."""

    tokens: int
    exact: bool = True


class Engine(Protocol):
    """Counter of o200k tokens. Every engine gives the same counts. `name`: for display. `quick`: counting is faster
    than a look-up of the count on disk."""

    @property
    def name(self) -> str: ...

    @property
    def quick(self) -> bool: ...

    def count(self, text: str) -> Count: ...

    def counts(self, texts: Sequence[str]) -> Iterable[Count]:
        """Yield the count of each text, in order."""
        ...


@dataclass(frozen=True, slots=True)
class Ordinary:
    """Engine that encodes one text at a time. `encode` treats special tokens as ordinary text."""

    name: str
    encode: Callable[[str], Sequence[int]]
    window: int = WINDOW
    quick: bool = False

    def count(self, text: str) -> Count:
        """Return the count of any `str`, without raising. Lone surrogates count as the replacement character."""
        if len(text) <= self.window:
            return count_piece(self.encode, valid_unicode(text))
        tokens, exact = 0, True
        for piece in pieces(text, self.window):
            part = count_piece(self.encode, valid_unicode(piece))
            tokens += part.tokens
            exact = exact and part.exact
        return Count(tokens, exact)

    def counts(self, texts: Sequence[str]) -> Iterable[Count]:
        return map(self.count, texts)


@dataclass(frozen=True, slots=True)
class Together:
    """Engine that encodes many texts in one call, on all cores and without blocking other threads.

    `encode` returns the tokens of all texts, and n + 1 offsets for n texts: text i is tokens `[offset i, offset i + 1)`
    (8 bytes each, little-endian). It encodes special tokens as such, so `alone` counts texts that may contain one.
    `alone` also counts texts longer than its window.
    """

    alone: Ordinary
    encode: Callable[[list[str]], tuple[bytes, bytes]]

    @property
    def name(self) -> str:
        return self.alone.name

    @property
    def quick(self) -> bool:
        return self.alone.quick

    def count(self, text: str) -> Count:
        return self.alone.count(text)

    def counts(self, texts: Sequence[str]) -> Iterable[Count]:
        plain = [valid_unicode(text) for text in texts if len(text) <= self.alone.window and SPECIAL_BEGINS not in text]
        try:
            _, offsets = self.encode(plain)
        except BaseException as panic:
            if not _is_panic(panic):
                raise
            return map(self.count, texts)
        if len(plain) == len(texts):
            return _between(offsets)
        counted = dict(zip(plain, _between(offsets), strict=True))
        return (counted.get(valid_unicode(text)) or self.count(text) for text in texts)


def _between(offsets: bytes) -> Iterator[Count]:
    return (Count(stop - start) for (start,), (stop,) in pairwise(iter_unpack("<Q", offsets)))


def count_piece(encode: Callable[[str], Sequence[int]], piece: str) -> Count:
    try:
        return Count(len(encode(piece)))
    except BaseException as panic:
        if not _is_panic(panic):
            raise
        return Count(estimate_tokens(piece), exact=False)


def _is_panic(error: BaseException) -> bool:
    """True for a panic of the Rust library, which derives from BaseException."""
    return type(error).__name__ == "PanicException"


def pieces(text: str, window: int = WINDOW) -> Iterator[str]:
    """Yield the parts of a text, each of at most `window` characters, cut at places that change no count.

    If the last `LOOK_BACK` characters of a window have no such place, the cut is at its end, which may add a few
    tokens.
    """
    start = 0
    while len(text) - start > window:
        end = start + window
        places = deque(_BOUNDARY.finditer(text, max(start + 1, end - LOOK_BACK), end), maxlen=1)
        stop = places[0].start() if places else end
        yield text[start:stop]
        start = stop
    yield text[start:]


@cache
def tiktoken_engine() -> Engine:
    """Return tiktoken's engine. Raises BadInput if the bundled ranks are damaged."""
    return Ordinary("tiktoken", o200k().encode_ordinary)


_PROBE = "naïve 日本語テキスト <|endoftext|> <|think|>\r\n\tx = 0x1F  # don't\u00a0stop 12345   \n\n ٣٤ 👩‍👩‍👧"
_PROBE_TOKENS = 47
_PROBES = (_PROBE.replace("<|", "< |"), "", "it's 12,345 km")


@cache
def splintr_engine() -> Engine | None:
    """Return splintr's engine; None if it is not installed or miscounts a probe text. If only its batch encoding
    miscounts, the engine encodes one text at a time."""
    try:
        from splintr import Tokenizer
    except ImportError:
        return None
    tokenizer = Tokenizer.from_pretrained("o200k_base")
    alone = Ordinary("splintr", tokenizer.encode_ordinary, quick=True)
    if alone.count(_PROBE).tokens != _PROBE_TOKENS:
        return None
    together = Together(alone, tokenizer.encode_batch_flat) if hasattr(tokenizer, "encode_batch_flat") else alone
    return together if [*together.counts(_PROBES)] == [*alone.counts(_PROBES)] else alone


def load_engine() -> Engine:
    """Return the fastest installed engine, built once per process. Raises BadInput as `tiktoken_engine`."""
    return splintr_engine() or tiktoken_engine()


ASCII_CHARS_PER_TOKEN = 3.6
WIDE_CHARS_PER_TOKEN = 1.5
OTHER_CHARS_PER_TOKEN = 2.5
_ENCODED = 1 << 20
"""Characters that `estimate_tokens` encodes to UTF-8 at a time."""
_NARROW_BYTES = bytes(range(0xE0))


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text without a tokenizer, for figures marked `~`: about 1 GB/s, instant for ASCII.

    Characters per token: ASCII 3.6 (real sessions: prose 4.4, code 3.9, logs 2.0), CJK and other wide characters 1.5,
    other letters 2.5.
    """
    chars = len(text)
    if text.isascii():
        return round(chars / ASCII_CHARS_PER_TOKEN)
    wide = other = 0
    for start in range(0, chars, _ENCODED):
        piece = text[start : start + _ENCODED]
        data = piece.encode("utf-8", "surrogatepass")
        # A lead byte of 0xE0 and above begins a character of three or four bytes; the rest are two-byte letters.
        lead = data.translate(None, _NARROW_BYTES)
        astral = sum(map(lead.count, range(0xF0, 0xF8))) if lead else 0
        wide += len(lead)
        other += len(data) - len(piece) - 2 * len(lead) - astral
    return round(
        wide / WIDE_CHARS_PER_TOKEN + other / OTHER_CHARS_PER_TOKEN + (chars - wide - other) / ASCII_CHARS_PER_TOKEN
    )
