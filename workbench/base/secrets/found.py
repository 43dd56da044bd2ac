"""Spans of the secrets in a text."""

from __future__ import annotations

from workbench.base.secrets import commands, names, places
from workbench.base.secrets.escapes import in_the_text, unescaped
from workbench.base.secrets.shapes import MARKED, TOKEN
from workbench.base.secrets.spans import Span

_HOLLOW = frozenset("xXyYzZ*.-_")
"""A placeholder such as `ghp_XXXX…` ends with these characters alone."""


def spans(text: str) -> list[Span]:
    """From the first to the last, none touching another."""
    plain = unescaped(text)
    found = [match.span() for match in TOKEN.finditer(plain) if not set(match[0][-12:]) <= _HOLLOW]
    for before, shape in MARKED:
        found += [(match.start() - before, match.end()) for match in shape.finditer(plain)]
    for way in (places.keys, places.cut, places.addresses, places.headers, places.logins, commands.spans, names.spans):
        found += way(plain)
    found.sort()
    joined: list[Span] = []
    for start, end in found:
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined if plain is text or not joined else list(in_the_text(joined, text))
