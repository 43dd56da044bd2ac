"""Decode escapes of JSON before matching, and map spans back.

A session holds text in JSON, and JSON within that text. Without decoding, a rule would see the `n` of `\\n` before a
secret, or a backslash where it expects a quote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.base.secrets.spans import Span

_ESCAPE = re.compile(r"(?<!\\)\\++(?!(?<=[\s\"'=]\\\\)[\w.-]{1,60}\\\w)(?:[nrt\"']|u00(?:2[267]|3[cde]))")
"""An escape with any number of backslashes, which nested JSON doubles. A network path such as `\\\\nas\\share` is
none."""


class _Signs(dict[str, str]):
    """Cache of the character that each escape stands for."""

    def __missing__(self, escape: str) -> str:
        kind = escape.lstrip("\\")
        meant = chr(int(kind[1:], 16)) if kind[0] == "u" else {"n": "\n", "r": "\r", "t": "\t"}.get(kind, kind)
        if kind == "n" and (len(escape) - 1) % 3 == 0:  # JSON of `\` at the end of a line: the command continues
            meant = "\\\n"
        self[escape] = meant
        return meant


_signs = _Signs()


def unescaped(text: str) -> str:
    """Return `text` with each escape replaced by its character. In a Windows path this may drop the first letter of a
    folder (`C:\\new`), which no rule needs."""
    if "\\" not in text:
        return text
    if "\\\\" in text or "\\u00" in text:
        return _ESCAPE.sub(lambda found: _signs[found[0]], text)
    for escape, sign in (("\\n", "\n"), ("\\t", "\t"), ("\\r", "\r"), ('\\"', '"'), ("\\'", "'")):  # much faster
        text = text.replace(escape, sign)
    return text


def original_spans(spans: list[Span], text: str) -> Iterator[Span]:
    """Yield `spans` of `unescaped(text)` as spans of `text`. The spans are sorted and disjoint."""
    escapes = _ESCAPE.finditer(text)
    escape = next(escapes, None)
    shorter = 0  # characters that decoding has saved so far
    for start, end in spans:
        edges = []
        for edge in (start, end):
            while escape is not None and escape.start() - shorter < edge:
                shorter += len(escape[0]) - len(_signs[escape[0]])
                escape = next(escapes, None)
            edges.append(edge + shorter)
        yield edges[0], edges[1]
