"""Fixed template of an archive: its titles, labels and dates, and the faults of an answer that fills it.

Titles, labels and their order are those of the design that the strategy follows (docs/strategies.md, Sources).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from workbench.base.stamps import shown
from workbench.compaction.shape import Shape, per_shape
from workbench.compaction.summary_request import TemplateMark
from workbench.session import Span

TITLE = "## 📌 Archived Session Summary"
SECTIONS = (
    "### 🎯 Objectives & Status",
    "### 🏗️ Technical Context (Static)",
    '### ✅ Completed Milestones (The "Done" Pile)',
    "### 🧠 Key Insights & Decisions (Persistent Memory)",
    "### 📂 File System State (Snapshot)",
)
MARKS = (
    TemplateMark("Original Goal", "label", SECTIONS[0], "what the user first wanted"),
    TemplateMark("Stack", "label", SECTIONS[1], "language, framework, versions"),
    TemplateMark("Environment", "label", SECTIONS[1], "OS, shell, key environment variables"),
    TemplateMark("[✓]", "item", SECTIONS[2]),
    TemplateMark("Decisions", "label", SECTIONS[3], "technical choices made, alternatives given up"),
    TemplateMark("Learnings", "label", SECTIONS[3], "special configuration, API formats, pitfalls"),
    TemplateMark("User Preferences", "label", SECTIONS[3], "habits and rules that the user insisted on"),
    TemplateMark("(Modified files in this archive segment)", "note", SECTIONS[4]),
)
"""Labels in the sections."""
NOTHING = {"en": "(nothing recorded)", "zh": "（无记录）"}

_NAMES = ("objectives", "technical context", "completed milestones", "key insights", "file system state")
_HEADING = re.compile(r"^#{1,6}\s")
_OWN_TITLE = re.compile(r"^#{1,6}.*archived session summary|^\W*contains context from ", re.IGNORECASE)
_PROGRESS = re.compile(
    r"\b(?:(?:is|are|still|now|work) in progress"
    r"|currently (?:working|implementing|fixing|debugging|writing|investigating)"
    r"|next steps?|up next|remaining (?:work|tasks?|steps?|items?)|still (?:to do|needs? to|has to|have to|open)"
    r"|not (?:yet )?(?:done|finished|complete|answered) yet|no answer yet|current task|about to)\b"
    r"|(?:^|[:(])\W*in progress\b|^\s*[-*]\s*\[[ ~/-]\]"
    r"|进行中|正在|下一步|待办|待完成|待处理|尚未|接下来|剩余|当前任务",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"“[^”\n]*”|`[^`\n]*`")
"""Quotations, which are not the archive's own statements."""


@dataclass(frozen=True, slots=True)
class ArchiveText:
    """Summary in the template, and one sentence for each missing section."""

    text: str
    missing: tuple[str, ...]


def fill_archive(answer: str, start: float | None, cutoff: float | None, language: str = "en") -> ArchiveText:
    """Put a summarizer's answer into the template: sections in its order, dates from the session and not from the
    model, and a placeholder in empty sections. Text that is not under one of the template's titles stays in place.

    An answer without any of the titles is used unchanged; `faults` reports it.
    """
    before, found = _sections(answer)
    missing = [title for title in SECTIONS if title not in found]
    sentences = tuple(f"the answer omits “{title[4:]}”; the section stays empty" for title in missing)
    nothing = NOTHING.get(language, NOTHING["en"])
    parts = [f"{TITLE}\n*(Contains context from {when(start)} to {when(cutoff)})*", *filter(None, [before])]
    if not found:
        return ArchiveText("\n\n".join(parts), ())
    for title in SECTIONS:
        words = found.get(title, "")
        parts.append(f"{title}\n{_blank(title, nothing) if _is_blank(title, words) else words}")
    return ArchiveText("\n\n".join(parts), sentences)


def _blank(title: str, nothing: str) -> str:
    """Text of an empty section."""
    marks = [mark for mark in MARKS if mark.under == title]
    labels = [mark.line(nothing) for mark in marks if mark.how == "label"]
    return "\n".join([*(mark.line() for mark in marks if mark.how == "note"), *(labels or [nothing])])


def _is_blank(title: str, words: str) -> bool:
    return not words or any(words in (nothing, _blank(title, nothing)) for nothing in NOTHING.values())


def faults(text: str) -> Iterator[str]:
    """Sentences about missing sections and labels, and about lines on the progress of the current task, which an
    archive must not contain."""
    _, found = _sections(text)
    if not found:
        yield "the summary has none of the template's sections and is used unchanged"
    else:
        yield from (f"the summary lacks the section “{title[4:]}”" for title in SECTIONS if title not in found)
    for mark in MARKS:
        words = found.get(mark.under, "")
        if not _is_blank(mark.under, words) and mark.words.casefold() not in words.casefold():
            yield f"“{mark.words}” is missing under “{mark.under[4:]}”"
    yield from (f"the summary states progress: “{line.strip()[:120]}”" for line in _progress(text))


def _sections(answer: str) -> tuple[str, dict[str, str]]:
    """Text before the first title, and the text under each title."""
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
    return [line for line in answer.split("\n") if not _HEADING.match(line) and _PROGRESS.search(_QUOTED.sub("", line))]


def when(time: float | None) -> str:
    """Time stamp of a session (seconds, UTC) in words."""
    if time is None:
        return "(time not recorded)"
    return shown(time, "%Y-%m-%d %H:%M UTC") or "(time not readable)"


def dates(shape: Shape, spans: Iterable[Span]) -> tuple[float | None, float | None]:
    """Earliest and latest time stamp of these messages, None without any."""
    every = _times(shape)
    times = [time for span in spans for time in every[span.start : span.stop] if time is not None]
    return (min(times), max(times)) if times else (None, None)


@per_shape
def _times(shape: Shape) -> list[float | None]:
    return [message.time for message in shape.messages]


def prompt_problems(prompt: str) -> tuple[str, ...]:
    """Sentences about the sections that a prompt for this template does not name, and about unnamed labels of named
    sections."""
    low = prompt.lower()
    missing = [title for name, title in zip(_NAMES, SECTIONS, strict=True) if name not in low]
    unnamed = [mark for mark in MARKS if mark.under not in missing and mark.words.lower() not in low]
    return (
        *(f"The prompt does not ask for the section “{title[4:]}”; the summary will lack it." for title in missing),
        *(f"The prompt does not ask for “{mark.words}” under “{mark.under[4:]}”." for mark in unnamed),
    )
