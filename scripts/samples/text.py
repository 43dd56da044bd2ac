"""Small things every story needs: sizes, ids, clocks. Nothing here reads the time or the system's randomness."""

from __future__ import annotations

import base64
import re
from datetime import UTC, datetime, timedelta
from random import Random

_PIECES = re.compile(r"[A-Za-z]+|\d+|[^\x00-\x7f]|[^\sA-Za-z\d\x80-\U0010ffff]+|\n[ \t]*|[ \t]{2,}")


def approximate_tokens(text: str) -> int:
    """About what a byte-pair tokenizer counts, within a few per cent on code, logs and prose (checked by a test)."""
    total = 0.0
    for piece in _PIECES.findall(text):
        first = piece[0]
        if first.isascii() and first.isalpha():
            total += 1 if len(piece) <= 8 else len(piece) / 6
        elif first.isdigit():
            total += (len(piece) + 2) // 3
        elif first.isspace() or not first.isascii():
            total += 0.93
        else:
            total += 0.8 if len(piece) <= 3 else len(piece) / 4
    return round(total)


class Ids:
    """Identifiers that look like the real ones and are the same on every run."""

    _ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789"

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def uuid(self) -> str:
        digits = f"{self._random.getrandbits(128):032x}"
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"

    def named(self, prefix: str, length: int = 22) -> str:
        return prefix + "".join(self._random.choice(self._ALPHABET) for _ in range(length))

    def blob(self, size: int) -> str:
        """`size` random bytes as base64: stands for an encrypted signature, and decrypts to nothing."""
        return base64.b64encode(self._random.randbytes(size)).decode()


class Clock:
    """A clock that moves only when the story says so."""

    def __init__(self, start: str) -> None:
        self.now = datetime.fromisoformat(start).replace(tzinfo=UTC)

    def wait(self, seconds: float) -> str:
        self.now += timedelta(milliseconds=round(seconds * 1000))
        return self.stamp()

    def stamp(self) -> str:
        return self.now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.now.microsecond // 1000:03d}Z"
