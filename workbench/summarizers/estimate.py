"""A placeholder of the size a summary is likely to have, for previews that must not claim to know its words."""

from __future__ import annotations

from workbench.compaction.strategy import Answer, Summary, SummaryRequest
from workbench.tokens.sizes import visible_chars

SHARE = 12
LEAST, MOST = 1500, 6000
"""A twelfth of the head, within these bounds (characters): what models write for prompts like the shipped one."""

_LINE = "(estimate: a summary of about {size} characters will stand here; these words only take its room) "


def estimate(request: SummaryRequest) -> Answer:
    """Filler of the expected length, marked as an estimate; `max_chars` bounds it."""
    head = sum(visible_chars(message) for message in request.messages) + len(request.previous)
    size = max(LEAST, min(MOST, head // SHARE))
    if request.max_chars:
        size = min(size, request.max_chars)
    line = _LINE.format(size=size)
    return Summary((line * (size // len(line) + 1))[:size].rstrip() or "~", model="estimate")
