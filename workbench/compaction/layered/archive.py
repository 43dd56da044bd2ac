"""The fixed template of an archived summary: its titles, its dates, and whether an answer fills it.

Titles and their order are those of the design that the strategy follows (docs/strategies.md, Sources).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from workbench.base.stamps import shown
from workbench.compaction.shape import Shape, per_shape
from workbench.session import Span

TITLE = "## 📌 Archived Session Summary"
SECTIONS = (
    "### 🎯 Objectives & Status",
    "### 🏗️ Technical Context (Static)",
    '### ✅ Completed Milestones (The "Done" Pile)',
    "### 🧠 Key Insights & Decisions (Persistent Memory)",
    "### 📂 File System State (Snapshot)",
)
NOTHING = {"en": "(nothing recorded)", "zh": "（无记录）"}

_NAMES = ("objectives", "technical context", "completed milestones", "key insights", "file system state")
_HEADING = re.compile(r"^#{1,6}\s")
_OWN_TITLE = re.compile(r"^#{1,6}.*archived session summary|^\W*contains context from ", re.IGNORECASE)
_PROGRESS = re.compile(
    r"\b(?:in progress|work in progress|currently (?:working|implementing|fixing|debugging|writing|investigating)"
    r"|next steps?|up next|remaining (?:work|tasks?|steps?|items?)|still (?:to do|needs? to|has to|have to|open)"
    r"|not (?:yet )?(?:done|finished|complete|answered) yet|no answer yet|current task|about to)\b"
    r"|^\s*[-*]\s*\[[ ~/-]\]|进行中|正在|下一步|待办|待完成|待处理|尚未|接下来|剩余|当前任务",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Filled:
    """The summary under the template, and what is doubtful about it, one sentence each."""

    text: str
    warnings: tuple[str, ...]


def filled(answer: str, start: float | None, cutoff: float | None, language: str = "en") -> Filled:
    """A summarizer's answer put under the template: sections in its order, the dates from the session and not from the
    model, an empty section saying so. Text under no title of the template stays where it was said.

    Warns of a missing section and of a line that states the current task's progress, which an archive must not hold.
    """
    before, found = _sections(answer)
    warnings = [f"the summary has no section “{title[4:]}”" for title in SECTIONS if title not in found]
    nothing = NOTHING.get(language, NOTHING["en"])
    parts = [f"{TITLE}\n*(Contains context from {when(start)} to {when(cutoff)})*", *filter(None, [before])]
    if found:
        parts += [f"{title}\n{found.get(title) or nothing}" for title in SECTIONS]
    else:
        warnings = ["the summary has none of the template's sections and stands as it came"]
    warnings += [f"the summary states progress: “{line.strip()[:120]}”" for line in _progress(answer)]
    return Filled("\n\n".join(parts), tuple(warnings))


def _sections(answer: str) -> tuple[str, dict[str, str]]:
    """What stands before the first title, and the text under each."""
    before: list[str] = []
    found: dict[str, list[str]] = {}
    here = before
    for line in answer.split("\n"):
        title = _title(line)
        if title is not None:
            here = found.setdefault(title, [])
        elif not _OWN_TITLE.match(line):
            here.append(line)
    return "\n".join(before).strip(), {title: "\n".join(lines).strip() for title, lines in found.items()}


def _title(line: str) -> str | None:
    if not _HEADING.match(line):
        return None
    low = line.lower()
    return next((title for name, title in zip(_NAMES, SECTIONS, strict=True) if name in low), None)


def _progress(answer: str) -> list[str]:
    return [line for line in answer.split("\n") if not _HEADING.match(line) and _PROGRESS.search(line)]


def when(time: float | None) -> str:
    """A session's time stamp (seconds, UTC) as people write it."""
    if time is None:
        return "(time not recorded)"
    return shown(time, "%Y-%m-%d %H:%M UTC") or "(time not readable)"


def dates(shape: Shape, spans: Iterable[Span]) -> tuple[float | None, float | None]:
    """The earliest and the latest time stamp of these messages, None where none has one."""
    every = _times(shape)
    times = [time for span in spans for time in every[span.start : span.stop] if time is not None]
    return (min(times), max(times)) if times else (None, None)


@per_shape
def _times(shape: Shape) -> list[float | None]:
    return [message.time for message in shape.messages]


def lacking(prompt: str) -> tuple[str, ...]:
    """What a prompt for this template fails to name, one sentence for each section."""
    low = prompt.lower()
    return tuple(
        f"The prompt does not name the section “{title[4:]}”: the summary will lack it."
        for name, title in zip(_NAMES, SECTIONS, strict=True)
        if name not in low
    )
