"""Open tasks, next steps and current work in a summary, found by section titles and labels.

The words match the titles that agents and the prompts of this package ask for ("Pending Tasks", "Current Work",
"Optional Next Step", `<next_steps>`, "In Progress"), in English and Chinese.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from workbench.summarizers.sections import SummarySection, sections_of

_OPEN = re.compile(
    r"\b(?:pending|next(?!\.js)|remaining|outstanding|unfinished|to-?do|in[ -]progress|still to|left to|"
    r"open (?:tasks?|items?|work|issues?|questions?|threads?|points?))\b|^\W*open\W*$|"
    r"待办|待处理|下一步|未完成|剩余|进行中",
    re.IGNORECASE,
)
"""Words in the title or label of open tasks and next steps."""

_CURRENT = re.compile(r"\b(?:current|state|status|active task|working on)\b|当前|状态", re.IGNORECASE)
"""Words in the title of a section with current work."""

_LABEL = re.compile(r"^[\W\d_]*(?P<title>[^:：\n]{2,40})[:：]\**[ \t]*(?P<rest>\S.*)$", re.MULTILINE)
_ITEM = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,2}[.)]|\[ \])[ \t]+(?P<text>\S.*)$", re.MULTILINE)
_NOTHING = re.compile(
    r"[\W_\d]*(?:none|nothing|n/a|no (?:\w+ )?(?:pending|open|next|further|remaining|more|outstanding|unfinished|"
    r"tasks?|steps?|items?|work))\b|[\W_\d]*(?:无|没有)",
    re.IGNORECASE,
)
"""Beginning of a line that says that nothing is open."""


_MENTION = re.compile(
    rf"{_OPEN.pattern}|\b(?:not yet|still|needs?|must|should|then|continu\w*|was about to|mid-\w+|in the middle of|"
    r"wait\w*|steps?|open|unanswered|asked|wants?|plan\w*|task|goal|begun|start\w*)\b|"
    r"\[ \]|⏳|需要|继续|尚未|还没|请求",
    re.IGNORECASE,
)
"""Words that may refer to open work in any text."""

_ANALYSIS_END = re.compile(r"^\**Summary:?\**[ \t]*$|</analysis>", re.MULTILINE)


class OpenWork(Struct, frozen=True):
    """Open work in a summary. `tasks`: texts of sections and labels with open tasks or next steps. `current`: texts of
    sections with current work. `is_mentioned`: any part of the text, an analysis included, may refer to open work."""

    tasks: tuple[str, ...]
    current: tuple[str, ...]
    is_mentioned: bool

    @property
    def is_empty(self) -> bool:
        """True if every line of `tasks` and `current` says "none" and, without `tasks`, `is_mentioned` is False."""
        lines = [line for text in (*self.tasks, *self.current) for line in text.splitlines() if line.strip()]
        return all(map(_NOTHING.match, lines)) and bool(self.tasks or not self.is_mentioned)

    @property
    def items(self) -> Iterator[str]:
        """List items in `tasks`, without their bullets."""
        return (found["text"] for text in self.tasks for found in _ITEM.finditer(text))


def open_work(text: str) -> OpenWork:
    """Return the open work in a summary. `tasks` and `current` leave out an analysis before the summary."""
    summary = _ANALYSIS_END.split(text)[-1]
    tasks: list[str] = []
    current: list[str] = []
    sections = sections_of(summary)
    for number, section in enumerate(sections):
        if _OPEN.search(section.title):
            tasks.append(summary[section.body : _end_with_subsections(summary, sections, number)])
        elif _CURRENT.search(section.title):
            current.append(summary[section.body : section.end])
        else:
            labels = _LABEL.finditer(summary, section.body, section.end)
            tasks += [label["rest"] for label in labels if _OPEN.search(label["title"])]
    return OpenWork(tuple(tasks), tuple(current), _MENTION.search(text) is not None)


def _end_with_subsections(summary: str, sections: Sequence[SummarySection], number: int) -> int:
    """Return the end of the last subsection of a section ("###" below "##"), or of the section itself."""
    level = _level(summary, sections[number])
    end = sections[number].end
    for section in sections[number + 1 :]:
        if not level or _level(summary, section) <= level:
            break
        end = section.end
    return end


def _level(summary: str, section: SummarySection) -> int:
    """Return the number of `#` in a section's heading, 0 for other titles."""
    title = summary[section.start : section.body].lstrip()
    return len(title) - len(title.lstrip("#"))
