"""Text of a session made safe to print: secrets masked, control characters visible."""

from __future__ import annotations

import re

from workbench.base.secrets import masked
from workbench.base.text import clip, untagged

LINE_CHARS = 100
"""Characters of a block that is shown as one line, `…` included."""


def printable(text: str) -> str:
    """Return `text` with secrets masked and control and bidirectional characters as visible signs.

    Newlines and tabs stay; lone surrogates, which no stream can carry, become escapes.
    """
    return masked(_UNSAFE.sub(_visible_sign, text.replace("\r\n", "\n")))


def one_line(text: str, chars: int = LINE_CHARS) -> str:
    """Return the first line with content, printable, cut to `chars`; `…` replaces the rest."""
    body = text.strip()
    head = untagged(clip(body, 4 * chars)).lstrip()
    first, more, _ = head.partition("\n")
    line = printable(" ".join(first.split()))
    if len(line) > chars:
        return line[: chars - 1] + "…"
    if more or len(body) > 4 * chars:
        return line[: chars - 2] + " …"
    return line


_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def _visible_sign(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"\\u{code:04x}"
