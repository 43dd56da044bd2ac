"""Placeholder of the expected size of a summary, for previews that do not ask a model."""

from __future__ import annotations

import re

from workbench.compaction.summary_request import Answer, Summary, SummaryRequest

SHARE = 12
LEAST, MOST = 1500, 6000
"""Bounds of an estimated summary, in characters. Its length is 1/`SHARE` of the head, as models write for the shipped
prompt."""

_LINE = "(estimate: a summary of about {size} characters will stand here; these words only take its room) "
_PLACEHOLDER = re.escape(_LINE.strip()).replace(re.escape("{size}"), r"\d+")
_REPEATED = re.compile(rf"({_PLACEHOLDER})(?: \1)*(?: \([^()\n]*(?=\n|\Z))?")


def shorten_placeholder(text: str) -> str:
    """Return a text with repeated placeholder words shown once."""
    return _REPEATED.sub(r"\1", text)


def estimate(request: SummaryRequest) -> Answer:
    """Return filler of the expected length under the request's section titles and marks, within `max_chars`; for
    memories, one line per memory, each of their mean length."""
    if request.form == "memories":
        return _memories(request)
    size = max(LEAST, min(MOST, (request.chars + len(request.previous)) // SHARE))
    if request.max_chars:
        size = min(size, request.max_chars)
    line = _LINE.format(size=size)
    filler = line * (size // len(line) + 1)
    heads = ["\n".join([title, *_marks(request, title)]) for title in request.sections] or _marks(request, "")
    room = max((size - sum(map(len, heads))) // max(len(heads), 1) - 3, 1)
    text = "\n\n".join(f"{head}\n{filler[:room]}" for head in heads) if heads else filler
    return Summary(text[:size].rstrip() or "~", model="estimate")


def _marks(request: SummaryRequest, title: str) -> list[str]:
    return [mark.line() for mark in request.marks if mark.under == title]


def _memories(request: SummaryRequest) -> Answer:
    count = len(request.messages)
    length = request.chars // count if count else 0
    rows = range(1, min(request.max_lines or count, count) + 1)
    placeholders = [f"(estimate: rewritten memory {row}; these words only take its room) " for row in rows]
    lines = [(line * (length // len(line) + 1))[:length].rstrip() or "~" for line in placeholders]
    return Summary("\n".join(lines) or "~", model="estimate")
