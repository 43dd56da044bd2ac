"""Text that a hook adds to the agent's context: what was lost, quoted, within a number of tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from workbench.base.figures import grouped
from workbench.base.text import clip, counted
from workbench.hook.lost import LostWork

TOKENS = 600
"""Default limit. A rule takes about 50 tokens, so that six rules fit next to a request and a list of files."""

INTRODUCTION = "The compaction of this conversation left out the following."
QUOTATIONS = (
    "Lines that begin with “>” are quoted from what the user wrote earlier in this session and still hold; they are no "
    "new request."
)
"""Sentence after the introduction if the user is quoted."""

REQUEST_SHARE = 0.5
"""Largest share of the room for the open request. A longer one is cut at the end; the rest is for everything else."""

NOTE_TOKENS = 40
"""Tokens kept free for the note on what is left out."""


class Injection(Struct, frozen=True):
    """Text to inject, "" if nothing is lost or nothing fits. `shown` counts what it has, for the log."""

    text: str = ""
    shown: str = ""


class _Section(Struct, frozen=True):
    """Lines under a heading, oldest first; `noun` names one of them."""

    heading: str
    noun: str
    lines: tuple[str, ...]


def injection(lost: LostWork, limit: int = TOKENS) -> Injection:
    """Return the text with what was lost: rules, open request, running and open tasks, changed files, in this order.
    Under each heading are the newest entries that fit; the others are counted at the end."""
    introduction = f"{INTRODUCTION} {QUOTATIONS}" if lost.rules or lost.request else INTRODUCTION
    left = limit - estimated_tokens(introduction) - NOTE_TOKENS
    request = _clipped(lost.request, int(max(left, 0) * REQUEST_SHARE))
    left -= estimated_tokens(_quoted(request))
    parts, shown, left_out = [introduction], list[str](), list[str]()
    for section in _sections(lost, request):
        if not section.lines:
            continue
        left -= estimated_tokens(section.heading) + 1
        lines = section.lines if section.noun == "request" else _newest_that_fit(section.lines, left)
        left -= sum(estimated_tokens(line) + 1 for line in lines if section.noun != "request")
        if lines:
            parts.append("\n".join((section.heading, *lines)))
            shown.append(counted(len(lines), section.noun))
        if more := len(section.lines) - len(lines):
            left_out.append(counted(more, section.noun))
    if not shown:
        return Injection()
    note = [f"Left out within {grouped(limit)} tokens: {', '.join(left_out)}."] if left_out else []
    return Injection("\n\n".join((*parts, *note)), ", ".join(shown))


def _sections(lost: LostWork, request: str) -> Iterator[_Section]:
    """Yield what is lost by kind. A rule that stands in the quoted request is not repeated."""
    rules = lost.rules
    yield _Section("Rules of the user:", "rule", tuple(_quoted(rule) for rule in rules if rule not in request))
    yield _Section("Open request of the user:", "request", (_quoted(request),) if request else ())
    yield _Section("Running in the background:", "background task", _items(lost.running))
    yield _Section("Open tasks:", "open task", _items(lost.tasks))
    yield _Section("Files changed since the compaction before:", "changed file", _items(lost.files))


def _newest_that_fit(lines: Sequence[str], tokens: int) -> list[str]:
    """Return the newest lines within a number of tokens, in their order."""
    found: list[str] = []
    for line in reversed(lines):
        tokens -= estimated_tokens(line) + 1
        if tokens < 0:
            break
        found.insert(0, line)
    return found


def estimated_tokens(text: str) -> int:
    """Return an upper limit of the tokens of a text: one token per three bytes of letters or spaces, and three tokens
    per four digits or signs. English letters take fewer; Chinese text and the digits of identifiers reach the limit."""
    signs = len(_SIGN.findall(text))
    return -(-(4 * len(text.encode()) + 5 * signs) // 12)


_SIGN = re.compile(r"[!-@\[-`{-~]")
"""A digit or sign of ASCII."""


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.splitlines())


def _items(several: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"- {clip(' '.join(one.split()), LONGEST_ITEM)}" for one in several)


LONGEST_ITEM = 200
"""Characters shown of a task or command."""


def _clipped(text: str, tokens: int) -> str:
    """Return a text within a number of tokens, with the number of characters that were cut off."""
    if estimated_tokens(_quoted(text)) <= tokens:
        return text
    length = len(text)
    while length and estimated_tokens(_quoted(text[:length])) > tokens - CUT_TOKENS:
        length = length * 9 // 10
    return f"{text[:length].rstrip()} [… {grouped(len(text) - length)} more characters]" if length else ""


CUT_TOKENS = 12
"""Tokens of the note on what is cut off."""
