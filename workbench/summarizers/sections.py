"""Sections of a summary, found by the requested titles or by headings; and rewriting of one section.

Headings, numbered titles, bold titles and tags are recognized; a summary without them is one section. Sections cover
the text without gap or overlap.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from workbench.compaction.prompts import fill, load_prompt
from workbench.compaction.summary_request import MessagesBody, RequestBody, SummaryRequest, TextBody
from workbench.compaction.summary_template import without_summary_tags
from workbench.facts.fact import FactKind
from workbench.facts.fences import fences
from workbench.summarizers.extractive import topics_of_titles
from workbench.summarizers.labels import Topic


@dataclass(frozen=True, slots=True)
class SummarySection:
    """Section `text[start:stop]`: a title up to `body`, its text `text[body:end]`, and its closing part.

    `title` is "" for text before the first title, or for a summary without titles.
    """

    title: str
    start: int
    body: int
    end: int
    stop: int


_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(?P<title>\S[^\n]*)\n?", re.MULTILINE)
_NUMBERED = re.compile(
    r"^ {0,3}\*{0,2}(?P<number>\d{1,2})[.)][ \t]+(?P<title>[^\s*][^\n]{0,80}?)(?::\*{0,2}|\*\*:?)[ \t]*(?:\n|$)",
    re.MULTILINE,
)
_BOLD = re.compile(r"^ {0,3}\*\*(?P<title>[^*\n]{2,80})\*\*:?[ \t]*(?:\n|$)", re.MULTILINE)
_TAG = re.compile(r"^[ \t]*<(?P<title>[A-Za-z][\w-]{1,40})>[ \t]*\n?", re.MULTILINE)
_CLOSING = re.compile(r"\s*(?:</[A-Za-z][\w-]{1,40}>\s*)*\Z")
"""Closing tags and white space that end a section without belonging to its text."""

_EDGES = re.compile(r"^[\W\d_]+|[\W_]+$")


def bare_title(title: str) -> str:
    """Return the words of a title: `### 🧠 Key Insights:` and `key insights` are equal."""
    return _EDGES.sub("", title).casefold()


def sections_of(text: str, titles: Sequence[str] = ()) -> tuple[SummarySection, ...]:
    """Return the sections of a summary that was requested with `titles`; at least one."""
    marks = _requested_titles(text, titles) or _headings(text) or _numbered(text) or _bold(text)
    if marks:
        return tuple(_sections_between(text, marks))
    return tuple(_tagged_sections(text)) or (_section(text, "", 0, 0, len(text)),)


def missing_titles(text: str, titles: Sequence[str]) -> tuple[str, ...]:
    """Return the requested titles without a section in the text."""
    existing = {bare_title(section.title) for section in sections_of(text, titles)}
    return tuple(title for title in titles if bare_title(title) not in existing)


def section_at(sections: Sequence[SummarySection], place: int) -> int:
    """Return the number of the section at a position of the text."""
    return max((n for n, section in enumerate(sections) if section.start <= place), default=0)


def replace_section(text: str, section: SummarySection, words: str) -> str:
    """Replace the text of one section; its title and closing part are kept."""
    gap = "" if section.body == 0 or text[section.body - 1] == "\n" else "\n"
    return text[: section.body] + gap + words.strip("\n") + text[section.end :]


def add_line(text: str, section: SummarySection, line: str) -> str:
    """Add a line at the end of a section."""
    words = text[section.body : section.end]
    return replace_section(text, section, f"{words}\n{line}" if words.strip() else line)


_TOPICS: dict[FactKind, Topic] = {
    "instruction": "instructions",
    "stated": "requests",
    "error": "errors",
    "path": "files",
    "command": "commands",
    "identifier": "named",
    "number": "named",
    "decision": "decisions",
    "request": "requests",
    "url": "named",
}


def section_for(kind: FactKind, sections: Sequence[SummarySection]) -> int:
    """Return the number of the section for a fact, by titles; the last one if none fits."""
    topics = topics_of_titles(section.title for section in sections)
    return topics.get(_TOPICS[kind], len(sections) - 1)


_Mark = tuple[int, int, str]
"""Start of a title's line, start of its text, and the title."""


def _requested_titles(text: str, titles: Sequence[str]) -> list[_Mark]:
    """Return the lines that are requested titles in any markup, and all other headings, so that no section hides
    another."""
    requested = {bare_title(title) for title in titles} - {""}
    if not requested:
        return []
    found = {start: (start, stop, line) for start, stop, line in _lines(text) if bare_title(line) in requested}
    if found:
        found.update({mark[0]: mark for mark in _headings(text)})
    return [(start, stop, _title(line)) for start, (_, stop, line) in sorted(found.items())]


def _lines(text: str) -> Iterator[_Mark]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, start + len(line), line
        start += len(line)


def _title(line: str) -> str:
    return line.strip().strip("#*").strip().rstrip(":").strip()


def _headings(text: str) -> list[_Mark]:
    return _find_titles(text, _HEADING)


def _bold(text: str) -> list[_Mark]:
    found = _find_titles(text, _BOLD)
    return found if len(found) > 1 else []


def _numbered(text: str) -> list[_Mark]:
    """Return titles numbered from 1. A list within a section starts again and is no title."""
    marks: list[_Mark] = []
    for found in _NUMBERED.finditer(text):
        if int(found["number"]) == len(marks) + 1:
            marks.append((found.start(), found.end(), found["title"].strip()))
    return marks if len(marks) > 1 else []


def _find_titles(text: str, pattern: re.Pattern[str]) -> list[_Mark]:
    code = list(fences(text))
    return [
        (found.start(), found.end(), _title(found["title"]))
        for found in pattern.finditer(text)
        if not any(fence.start <= found.start() < fence.stop for fence in code)
    ]


def _sections_between(text: str, marks: Sequence[_Mark]) -> Iterator[SummarySection]:
    first = marks[0][0]
    # A tag around the complete text is no section.
    if _TAG.sub("", text[:first]).strip():
        yield _section(text, "", 0, 0, first)
        start = first
    else:
        start = 0
    for number, (_, body, title) in enumerate(marks):
        stop = marks[number + 1][0] if number + 1 < len(marks) else len(text)
        yield _section(text, title, start, body, stop)
        start = stop


def _tagged_sections(text: str) -> Iterator[SummarySection]:
    """Yield innermost pairs of tags as sections; text around a pair belongs to it."""
    pairs = []
    for found in _TAG.finditer(text):
        closing = re.compile(rf"\s*</{found['title']}>\s*").search(text, found.end())
        if closing and not _TAG.search(text, found.end(), closing.start()):
            pairs.append((found, closing))
    for number, (found, closing) in enumerate(pairs):
        last = number + 1 == len(pairs)
        start = 0 if number == 0 else pairs[number - 1][1].end()
        name = found["title"].replace("_", " ")
        yield SummarySection(name, start, found.end(), closing.start(), len(text) if last else closing.end())


def _section(text: str, title: str, start: int, body: int, stop: int) -> SummarySection:
    closing = _CLOSING.search(text, body, stop)
    return SummarySection(title, start, body, closing.start() if closing else stop, stop)


WHOLE_DRAFT = "(the whole draft)"
"""Title of a draft without sections."""


def regeneration_request(
    request: SummaryRequest, draft: str, section: SummarySection, instruction: str
) -> SummaryRequest:
    """Return the request for new text of a section: the original request with draft and instruction after it, so that
    it is shortened the same way. Raises BadInput for a prompt of the user that cannot be filled."""
    language = "zh" if request.language.startswith("zh") else "en"
    title = section.title or WHOLE_DRAFT
    values = {"title": title, "instruction": instruction.strip(), "draft": draft.strip()}
    instruction_text = fill(load_prompt(f"regenerate-section.{language}.md").text, values)
    return replace(
        request,
        purpose=f"section “{title}” again",
        body=_with_instruction(request.body, instruction_text),
        form="sections" if section.title else request.form,
        sections=(section.title,) if section.title else request.sections,
    )


def _with_instruction(body: RequestBody, instruction_text: str) -> RequestBody:
    if isinstance(body, MessagesBody):
        return replace(body, last=f"{body.last}\n\n{instruction_text}")
    return TextBody(lambda: f"{body.text}\n\n{instruction_text}")


def insert_regenerated(draft: str, section: SummarySection, answer: str) -> str:
    """Return the draft with the section's new text, whether or not the answer repeats titles or other sections."""
    text = without_summary_tags(answer)
    if section.title:
        own = next(
            (s for s in sections_of(text, (section.title,)) if bare_title(s.title) == bare_title(section.title)), None
        )
        text = text[own.body : own.end] if own else text
    return replace_section(draft, section, text)
