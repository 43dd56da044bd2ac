"""Summary without a model: statements of the messages, selected, cut to size, and traceable line by line.

Deterministic and offline. It quotes, counts and pairs; it does not interpret.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from workbench.base.secrets import without_secrets
from workbench.compaction.memories import condense
from workbench.compaction.summary_request import Answer, Summary, SummaryFailed, SummaryRequest, TemplateMark
from workbench.summarizers.digest import Digest, digest
from workbench.summarizers.fitting import LineGroup, SummaryLine, fit_lines
from workbench.summarizers.labels import EN, TOPICS, ZH, SummaryLabels, Topic, labels_for
from workbench.summarizers.story import story_chapters, story_lines

DEFAULT_CHARS = 12_000
"""Length of a summary whose request sets no limit, in characters."""

SHARES: dict[Topic, float] = {
    "earlier": 4,
    "goal": 3,
    "instructions": 3.5,
    "requests": 4,
    "decisions": 3.5,
    "done": 2.5,
    "files": 2.5,
    "commands": 2,
    "errors": 2,
    "named": 1,
    "stack": 1,
    "last": 1.8,
    "open": 2.8,
}
"""Weights by which the topics share the room if not everything fits."""

_TITLE_WORDS: tuple[tuple[Topic, str], ...] = (
    ("open", r"\bopen\b|\bnext\b|todo|to do|pending|remaining|unfinished|未完成|待办|下一步|待处理"),
    ("errors", r"error|problem|fix|issue|trouble|pitfall|错误|问题|修复"),
    ("commands", r"command|shell|terminal|\bran\b|命令|终端"),
    ("files", r"file|artifact|code state|changes|文件|代码"),
    ("stack", r"stack|environment|technical context|tech|dependenc|技术|环境|依赖"),
    ("instructions", r"instruction|preference|constraint|\brules?\b|user's words|要求|约束|偏好|指令|规则"),
    ("decisions", r"decision|insight|learning|knowledge|discover|决定|决策|关键|洞察|发现"),
    ("done", r"milestone|completed|accomplish|\bdone\b|progress|work so far|完成|进展|里程碑"),
    ("requests", r"request|messages|conversation|history|asked|请求|对话|历史"),
    ("named", r"name|reference|identifier|details|numbers|名称|引用|细节|数字"),
    ("last", r"current|where|state|status|stopped|当前|现状|状态"),
    ("goal", r"goal|objective|intent|purpose|\btask\b|overview|primary|目标|意图|任务|目的|概述"),
    ("earlier", r"earlier|previous|archive|此前|之前|归档"),
)  # fmt: skip
_FALLBACK_TOPICS: dict[Topic, tuple[Topic, ...]] = {
    "earlier": ("goal", "requests", "done"),
    "instructions": ("decisions", "requests", "goal"),
    "decisions": ("instructions", "done"),
    "requests": ("done",),
    "done": ("requests",),
    "commands": ("done",),
    "errors": ("decisions",),
}
"""Topics whose title also takes the lines of the key, if the key has no title itself. Without an entry, the lines of a
topic without a title are omitted."""

_MORE = re.compile(r"^\s*- … (?:and|另有) (\d{1,7}) (?:more|条)$")


def extractive(request: SummaryRequest) -> Answer:
    """Summarize `request.masked` according to form, sections, marks, language, `max_chars` and an earlier summary.

    Lines of `previous` join the new ones under the same heading. Returns SummaryFailed("empty") if there is nothing to
    say. Memories are merged and the weightiest kept; a narrative is only the story.
    """
    if request.form == "memories":
        return _memories(request)
    labels = labels_for(request.language)
    if request.form == "narrative":
        return _story(request, labels)
    content = digest(request.masked, labels)
    if request.previous.strip():
        _add_earlier(content, without_secrets(request.previous), ())
    for message in request.masked:
        if message.kind == "summary" and message.text.strip():
            _add_earlier(content, message.text, (message.id,))
    if content.is_empty:
        return SummaryFailed("empty", "there is nothing in these messages to summarize")
    room = request.max_chars or DEFAULT_CHARS
    sections = _sections(content, request, labels) if request.form == "sections" else _groups_by_topic(content, labels)
    opening = [SummaryLine(mark.line()) for mark in request.marks if mark.how == "opening"]
    lines = fit_lines(sections, room - sum(len(line.text) + 1 for line in opening), labels.more)
    if not any(line.text.strip() for line in lines):
        return SummaryFailed("empty", f"nothing fits into {room} characters")
    lines = [*opening, *lines]
    text = "\n".join(line.text for line in lines)
    return Summary(text, model="extractive", origins=tuple(line.origins for line in lines))


def _story(request: SummaryRequest, labels: SummaryLabels) -> Answer:
    """Return the story, after the earlier one."""
    summaries = (message.text for message in request.masked if message.kind == "summary")
    earlier_chapters = story_chapters(request.masked, without_secrets(request.previous) or "\n".join(summaries), labels)
    lines = story_lines(earlier_chapters, request.max_chars or DEFAULT_CHARS, labels)
    if not lines:
        return SummaryFailed("empty", "there is no story in these messages")
    text = "\n".join(line.text for line in lines)
    return Summary(text, model="extractive", origins=tuple(line.origins for line in lines))


def _memories(request: SummaryRequest) -> Answer:
    ids = request.sources
    memories = condense([message.text for message in request.masked], request.max_lines or len(ids))
    if not memories:
        return SummaryFailed("empty", "there are no memories to rewrite")
    origins = tuple(tuple(ids[number] for number in memory.lines) for memory in memories)
    return Summary("\n".join(memory.text for memory in memories), model="extractive", origins=origins)


def _groups_by_topic(content: Digest, labels: SummaryLabels) -> list[LineGroup]:
    return [
        LineGroup(f"## {labels.titles[topic]}", content.of(topic), SHARES[topic], content.omitted[topic])
        for topic in TOPICS
    ]


def _sections(content: Digest, request: SummaryRequest, labels: SummaryLabels) -> list[LineGroup]:
    """Return all requested titles in order, each with the template's marks; a title without lines says so."""
    topics = topics_of_titles(request.sections)
    sections: list[LineGroup] = []
    for number, title in enumerate(request.sections):
        section_topics = [topic for topic in topics if topics[topic] == number]
        marks = [mark for mark in request.marks if _bare_title(mark.under) == _bare_title(title)]
        lines = _lines_under_marks(content, section_topics, marks, labels)
        omitted = sum(content.omitted[topic] for topic in section_topics)
        share = sum(SHARES[topic] for topic in section_topics) or 0.5
        heading = title if title.startswith("#") else f"## {title}"
        body = lines or (SummaryLine(labels.nothing, (), 1.0),)
        sections.append(LineGroup(heading, body, share, omitted, keep=True))
    return sections


def _bare_title(title: str) -> str:
    return title.lstrip("# ")


def _lines_under_marks(
    content: Digest, topics: Sequence[Topic], marks: Sequence[TemplateMark], labels: SummaryLabels
) -> tuple[SummaryLine, ...]:
    """Return the lines of these topics under the marks of their section. With labels, lines that no label requests are
    omitted, because the template has no place for them."""
    named = [mark for mark in marks if mark.how == "label"]
    lines = [line for topic in topics for line in content.of(topic)]
    if named:
        label_numbers = topics_of_titles(f"{mark.words}: {mark.of}" for mark in named)
        lines = []
        for number, mark in enumerate(named):
            lines += _lines_under_label(
                mark, [line for t in topics if label_numbers.get(t) == number for line in content.of(t)], labels
            )
    for mark in marks:
        if mark.how == "item":
            lines = [replace(line, text=mark.line(_ITEM.sub("", line.text))) if line.done else line for line in lines]
    notes = [SummaryLine(mark.line(), (), _TEMPLATE_RANK) for mark in marks if mark.how == "note"]
    return (*notes, *(lines or [SummaryLine(labels.nothing, (), 1.0)] if notes else lines))


def _lines_under_label(mark: TemplateMark, lines: Sequence[SummaryLine], labels: SummaryLabels) -> list[SummaryLine]:
    """Return a label with a single line next to it, or with several lines below it."""
    if len(lines) < 2:
        text, origins = (lines[0].text, lines[0].origins) if lines else (labels.nothing, ())
        return [SummaryLine(mark.line(_ITEM.sub("", text)), origins, _TEMPLATE_RANK)]
    return [SummaryLine(mark.line(), (), _TEMPLATE_RANK), *(replace(line, text=f"  {line.text}") for line in lines)]


_ITEM = re.compile(r"^\s*- (?:\[x\] )?")
_TEMPLATE_RANK = 1e9
"""Rank of the template's own text."""


def topics_of_titles(titles: Iterable[str]) -> dict[Topic, int]:
    """Return the index of the title for each topic, matched by words, or else that of a fallback topic. Topics without
    either are missing."""
    found: dict[Topic, int] = {}
    low = [title.lower() for title in titles]
    for topic, words in _TITLE_WORDS:
        number = next((n for n, title in enumerate(low) if re.search(words, title)), None)
        if number is not None:
            found[topic] = number
    direct = dict(found)
    for topic, others in _FALLBACK_TOPICS.items():
        if topic not in direct:
            other = next((o for o in others if o in direct), None)
            if other is not None:
                found[topic] = direct[other]
    return {topic: found[topic] for topic in (*TOPICS, "stack") if topic in found}


def _add_earlier(content: Digest, previous: str, origins: tuple[str, ...]) -> None:
    """Add an earlier summary's lines before the new ones, without duplicates."""
    topic: Topic = "earlier"
    earlier_lines: dict[Topic, list[SummaryLine]] = {}
    for raw in without_analysis(previous).split("\n"):
        line = raw.rstrip()
        if not line:
            continue
        heading = _topic_of_heading(line)
        if heading is not None:
            topic = heading
        elif more := _MORE.match(line):
            content.omitted[topic] += int(more[1])
        else:
            text = line if line.lstrip().startswith(("-", "*")) or topic == "earlier" else f"- {line.strip()}"
            earlier_lines.setdefault(topic, []).append(SummaryLine(text, origins, _EARLIER_RANK))
    if earlier_lines and content.of("goal"):
        # The first request after a compaction is a later request, not the goal.
        first = [replace(line, text=f"- “{line.text[2:]}”") for line in content.lines.pop("goal")]
        content.lines["requests"] = [*first, *content.of("requests")]
    if content.of("last"):
        earlier_lines.pop("last", None)
    if content.of("last") or content.of("open"):
        # A new plan includes earlier open work. Without one, earlier tasks are kept: they were not continued.
        has_plan = any(line.text.startswith("- [") for line in content.of("open"))
        tasks = [line for line in earlier_lines.pop("open", []) if line.text.startswith("- [") and not has_plan]
        earlier_lines["open"] = tasks
    for topic, lines in earlier_lines.items():
        existing = {line.text: line for line in content.of(topic)}
        earlier = {line.text: existing.get(line.text, line) for line in lines}
        content.lines[topic] = list((earlier | existing).values())


def without_analysis(summary: str) -> str:
    """Return a model's summary without its tags, and without the part from `Analysis:` to `Summary:`."""
    text = summary.replace("<summary>", "").replace("</summary>", "").strip()
    begins = text.find("Analysis:")
    if begins >= 0 and (answer := text.find("\nSummary:\n", begins)) >= 0:
        return (text[:begins] + text[answer:]).strip()
    return text


_EARLIER_RANK = 0.5
"""Rank of a line from an earlier summary: above agent lines of the older half, below user lines."""


def _topic_of_heading(line: str) -> Topic | None:
    if not line.startswith("## "):
        return None
    title = line[3:].strip()
    for labels in (EN, ZH):
        for topic, name in labels.titles.items():
            if name == title:
                return topic
    return None
