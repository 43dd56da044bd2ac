"""aider's chat history in Markdown: `#### ` marks the user, `> ` the console, everything else is the assistant.

One file holds every session of a folder, each under its `# aider chat started at` line. aider restores all of them; a
session that did so records it. Console lines are shown but not part of the context: aider does not send them again.
aider never writes its summaries. A line of an answer that begins like a mark cannot be distinguished from one. The kind
of a message is recorded in a console line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.formats.format import Codec, Format
from workbench.formats.look import Look
from workbench.formats.machine import Machine, Place, Program

ID = "aider"

HEADING = re.compile(rb"^# aider chat started at ([^\n]*)\n?", re.MULTILINE)

NEWLINE = re.compile("\r\n?")
"""Line endings that aider reads as "\\n": it opens files in text mode."""

LINE_END = re.compile(rb"\r\n|[\n\r\v\f\x1c-\x1e]|\xc2\x85|\xe2\x80[\xa8\xa9]")
"""Line ends by `str.splitlines`, with which aider splits a history."""


def recognise(look: Look) -> str:
    if HEADING.search(look.head) and look.head.lstrip()[:1] not in (b"{", b"["):
        return "a line `# aider chat started at`"
    return ""


def _codec() -> Codec:
    from workbench.formats.aider import read, rules, write
    from workbench.formats.kit.marks import EXPORT_NOTE, in_quoted_line

    return Codec(
        read.read,
        write.write,
        rules.validate,
        addressed=write.addressed,
        sessions_in=read.sessions_in,
        read_part=read.read_part,
        note=in_quoted_line(EXPORT_NOTE),
    )


def _places(machine: Machine) -> Iterator[Place]:
    if history := machine.named("AIDER_CHAT_HISTORY_FILE"):
        yield Place("aider", ID, history.parent, (history.name,))
    for folder in machine.projects:
        yield Place("aider", ID, folder, (".aider.chat.history.md",))


FORMAT = Format(
    ID,
    "aider chat history",
    recognise,
    _codec,
    preset="aider",
    places=_places,
    suffixes=(".md",),
    program=Program("aider", "aider", ("aider/prompts.py",), "summarize"),
)
