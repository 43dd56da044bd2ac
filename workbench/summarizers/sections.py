"""The sections of a summary: found by the titles that were asked for, or by what its text looks like.

Headings, numbered titles, bold titles and tags are recognised; a summary with none of them is one section. The sections
cover the text without gap or overlap.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workbench.facts.fact import FactKind
from workbench.facts.fences import fences
from workbench.summarizers.extractive import topics_of_titles
from workbench.summarizers.labels import Topic


@dataclass(frozen=True, slots=True)
class Section:
    """`text[start:stop]`: a title (its heading or tag ends at `body`), its words `text[body:end]`, and what closes it.

    `title` "" is what stands before the first title, or a summary without any.
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
"""What ends a section without belonging to its words: closing tags of what is around it, and white space."""

_EDGES = re.compile(r"^[\W\d_]+|[\W_]+$")


def bare(title: str) -> str:
    """A title by its words alone: `### 🧠 Key Insights:` and `key insights` are the same."""
    return _EDGES.sub("", title).casefold()


def sections_of(text: str, titles: Sequence[str] = ()) -> tuple[Section, ...]:
    """The sections of a summary that was asked to have `titles`; never none."""
    marks = _asked_for(text, titles) or _headings(text) or _numbered(text) or _bold(text)
    if marks:
        return tuple(_between(text, marks))
    return tuple(_tagged(text)) or (_section(text, "", 0, 0, len(text)),)


def missing_titles(text: str, titles: Sequence[str]) -> tuple[str, ...]:
    """Those of the titles asked for under which the text has no section."""
    there = {bare(section.title) for section in sections_of(text, titles)}
    return tuple(title for title in titles if bare(title) not in there)


def section_at(sections: Sequence[Section], place: int) -> int:
    """The number of the section in which a place of the text lies."""
    return max((n for n, section in enumerate(sections) if section.start <= place), default=0)


def with_words(text: str, section: Section, words: str) -> str:
    """The text with other words in one section; its title and what closes it stay."""
    gap = "" if section.body == 0 or text[section.body - 1] == "\n" else "\n"
    return text[: section.body] + gap + words.strip("\n") + text[section.end :]


def with_line(text: str, section: Section, line: str) -> str:
    """The text with one more line at the end of a section."""
    words = text[section.body : section.end]
    return with_words(text, section, f"{words}\n{line}" if words.strip() else line)


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


def place_for(kind: FactKind, sections: Sequence[Section]) -> int:
    """The number of the section into which a fact belongs, by the sections' titles; the last where none is about it."""
    topics = topics_of_titles(section.title for section in sections)
    return topics.get(_TOPICS[kind], len(sections) - 1)


_Mark = tuple[int, int, str]
"""Where a title's line begins, where its words begin, and the title."""


def _asked_for(text: str, titles: Sequence[str]) -> list[_Mark]:
    """Lines that say one of the titles, however they are marked; with every other heading, so that no section hides
    another."""
    wanted = {bare(title) for title in titles} - {""}
    if not wanted:
        return []
    found = {start: (start, stop, line) for start, stop, line in _lines(text) if bare(line) in wanted}
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
    return _found(text, _HEADING)


def _bold(text: str) -> list[_Mark]:
    found = _found(text, _BOLD)
    return found if len(found) > 1 else []


def _numbered(text: str) -> list[_Mark]:
    """Titles that count from 1: a list within a section begins anew and so is none of them."""
    marks: list[_Mark] = []
    for found in _NUMBERED.finditer(text):
        if int(found["number"]) == len(marks) + 1:
            marks.append((found.start(), found.end(), found["title"].strip()))
    return marks if len(marks) > 1 else []


def _found(text: str, pattern: re.Pattern[str]) -> list[_Mark]:
    code = list(fences(text))
    return [
        (found.start(), found.end(), _title(found["title"]))
        for found in pattern.finditer(text)
        if not any(fence.start <= found.start() < fence.stop for fence in code)
    ]


def _between(text: str, marks: Sequence[_Mark]) -> Iterator[Section]:
    first = marks[0][0]
    # A tag around it all is no section of its own.
    if _TAG.sub("", text[:first]).strip():
        yield _section(text, "", 0, 0, first)
        start = first
    else:
        start = 0
    for number, (_, body, title) in enumerate(marks):
        stop = marks[number + 1][0] if number + 1 < len(marks) else len(text)
        yield _section(text, title, start, body, stop)
        start = stop


def _tagged(text: str) -> Iterator[Section]:
    """Pairs of tags that hold no other pair; what stands around a pair belongs to it."""
    pairs = []
    for found in _TAG.finditer(text):
        closing = re.compile(rf"\s*</{found['title']}>\s*").search(text, found.end())
        if closing and not _TAG.search(text, found.end(), closing.start()):
            pairs.append((found, closing))
    for number, (found, closing) in enumerate(pairs):
        last = number + 1 == len(pairs)
        start = 0 if number == 0 else pairs[number - 1][1].end()
        name = found["title"].replace("_", " ")
        yield Section(name, start, found.end(), closing.start(), len(text) if last else closing.end())


def _section(text: str, title: str, start: int, body: int, stop: int) -> Section:
    closing = _CLOSING.search(text, body, stop)
    return Section(title, start, body, closing.start() if closing else stop, stop)
