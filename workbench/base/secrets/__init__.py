"""Secrets out of what is shown to others: report, error, journal and screen all ask here.

A secret is told by its shape, by the name it is given, or by its place (an address, a header, a command). Where that is
in doubt it is taken for one, but not where code only speaks of it: `password = read_password()`,
`apiKey: process.env.API_KEY`, `postgres://{user}:{pw}@db`. Every pattern passes over a text once, however it is made.
"""

from __future__ import annotations

from workbench.base.text import clip

MASK = "[masked]"


def masked(text: str) -> str:
    """`text` with every secret that can be told by its shape, its name or its place replaced by `MASK`."""
    from workbench.base.secrets.found import spans

    if len(text) < 6:
        return text
    found = spans(text)
    if not found:
        return text
    parts, done = [], 0
    for start, end in found:
        parts += [text[done:start], MASK]
        done = end
    return "".join(parts) + text[done:]


def error_line(text: str, limit: int = 300) -> str:
    """The first line of an error's text, masked, at most `limit` characters."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return clip(masked(line[: 10 * limit]), limit)
