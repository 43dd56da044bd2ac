"""Apply all rules to a text."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.base.secrets import calls, commands, places, printed
from workbench.base.secrets.escapes import original_spans, unescaped
from workbench.base.secrets.names import named
from workbench.base.secrets.shapes import MARKED, TOKEN
from workbench.base.secrets.spans import Span, indexed, places_of
from workbench.base.secrets.values import is_drawn, is_strong

MOST_REPEATED = 32
"""Maximum number of distinct secrets whose other occurrences in the text are searched for."""
_HOLLOW = frozenset("xXyYzZ*.-_")
"""Characters at the end of a placeholder such as `ghp_XXXX…`."""


def spans(text: str) -> list[Span]:
    """Return the spans of the secrets in `text`, sorted and disjoint."""
    plain = unescaped(text)
    found = [match.span() for match in TOKEN.finditer(plain) if not set(match[0][-12:]) <= _HOLLOW]
    for before, shape in MARKED:
        found += [(match.start() - before, match.end()) for match in shape.finditer(plain)]
    source = indexed(plain)
    names = list(named(source))
    found += [*places.keys(plain), *places.addresses(plain), *places.headers(source), *calls.spans(source)]
    found += [*commands.spans(source), *printed.spans(source)]
    if names:
        # Their 90 expressions take 15 ms to compile, and most texts name no secret.
        from workbench.base.secrets import assignments, near, tables

        found += [*assignments.spans(plain, names), *near.spans(plain, names), *tables.spans(source, names)]
    found += [*_repeated(plain, found), *places.cut(plain)]
    found.sort()
    joined: list[Span] = []
    for start, end in found:
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined if plain is text or not joined else list(original_spans(joined, text))


def _repeated(text: str, found: list[Span]) -> Iterator[Span]:
    """Yield the other occurrences of the secrets that were found."""
    secrets = dict.fromkeys(text[start:end] for start, end in found if 12 <= end - start <= 400)
    for secret in [secret for secret in secrets if is_drawn(secret, 12) or is_strong(secret)][:MOST_REPEATED]:
        for at in places_of(secret, text):
            yield at, at + len(secret)
