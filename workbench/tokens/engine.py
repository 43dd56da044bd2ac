"""Count the tokens of a text with the o200k_base ranks: exactly and offline, for any text.

Two engines with the same counts: tiktoken, always there, and splintr, several times as fast, where it has a wheel.
Neither reads a special token out of a session's text: only their "ordinary" encoding is used (docs/tokens.md).
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
"""Names the counts, not the engine: both engines share it. At most 16 bytes; to be changed when counts change."""

WINDOW = 64 * 1024
"""Characters that are encoded in one go: longer texts stall other threads and, at a million, break the tokenizer."""

LOOK_BACK = 4 * 1024

SPECIAL_BEGINS = "<|"
"""How every special token of o200k_base begins that a tokenizer knows."""

_BOUNDARY = re.compile(r"(?<=\S)(?= [A-Za-z])|(?<=\n)(?=[A-Za-z0-9])")
"""Places where o200k's pattern begins a new word whatever stands around: a cut there changes no count."""


class Count(NamedTuple):
    """`exact` is false when the tokenizer broke on a piece and that piece was estimated."""

    tokens: int
    exact: bool = True


class Engine(Protocol):
    """Counts o200k tokens. `name` is for people: every engine gives the same counts. One that is `quick` counts texts
    in less time than it takes to look up on disk what they count."""

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
    """An engine around a function that encodes text without special tokens."""

    name: str
    encode: Callable[[str], Sequence[int]]
    window: int = WINDOW
    quick: bool = False

    def count(self, text: str) -> Count:
        """Never raises on any `str`: lone surrogates count as the replacement character."""
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
    """An engine that encodes many texts in one go, in which other threads run on, and each on every core.

    `encode` gives the ranks one behind the other, and where each text's begin: 8 bytes each, little end first, and one
    more for the end. It reads special tokens, so a text in which one may stand is left to `alone`, as is a long one.
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
    """Cut a text into parts of at most `window` characters at places that change no count.

    Where the last 4 Ki characters of a window have no such place the cut is hard; it costs at most a few tokens.
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
    """Always available. Raises BadInput when the bundled ranks are damaged."""
    return Ordinary("tiktoken", o200k().encode_ordinary)


_PROBE = "naïve 日本語テキスト <|endoftext|> <|think|>\r\n\tx = 0x1F  # don't\u00a0stop 12345   \n\n ٣٤ 👩‍👩‍👧"
_PROBE_TOKENS = 47
_PROBES = (_PROBE.replace("<|", "< |"), "", "it's 12,345 km")


@cache
def splintr_engine() -> Engine | None:
    """None when it is not installed, or when its version does not count as it should."""
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
    """The fastest engine installed; built once per process."""
    return splintr_engine() or tiktoken_engine()


ASCII_CHARS_PER_TOKEN = 3.6
WIDE_CHARS_PER_TOKEN = 1.5
OTHER_CHARS_PER_TOKEN = 2.5
_ENCODED = 1 << 20
"""Characters that are encoded in one go for that."""
_NARROW_BYTES = bytes(range(0xE0))


def estimate_tokens(text: str) -> int:
    """Tokens at a glance, for figures marked `~`: no tokenizer, about 1 GB/s, instant for ASCII.

    By script: ASCII 3.6 characters per token (real sessions: prose 4.4, code 3.9, logs 2.0), CJK and other wide
    characters 1.5, other letters 2.5.
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
