"""A placeholder of the size a summary is likely to have, for previews that must not claim to know its words."""

from __future__ import annotations

from workbench.compaction.strategy import Answer, Summary, SummaryRequest

SHARE = 12
LEAST, MOST = 1500, 6000
"""A twelfth of the head, within these bounds (characters): what models write for prompts like the shipped one."""

_LINE = "(estimate: a summary of about {size} characters will stand here; these words only take its room) "


def estimate(request: SummaryRequest) -> Answer:
    """Filler of the expected length under the request's section titles; `max_chars` bounds it."""
    size = max(LEAST, min(MOST, (request.chars + len(request.previous)) // SHARE))
    if request.max_chars:
        size = min(size, request.max_chars)
    line = _LINE.format(size=size)
    filler = line * (size // len(line) + 1)
    if not request.sections:
        return Summary(filler[:size].rstrip() or "~", model="estimate")
    share = max(size // len(request.sections), 1)
    text = "\n\n".join(f"{title}\n{filler[: max(share - len(title) - 3, 1)]}" for title in request.sections)
    return Summary(text[:size].rstrip(), model="estimate")
