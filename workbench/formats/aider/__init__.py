"""aider's chat history in Markdown: `#### ` marks the user, `> ` the console, everything else is the assistant.

One file holds every session of a folder, each under its `# aider chat started at` line. aider restores all of them; a
session that did so records it. Console lines are shown but not part of the context: aider does not send them again.
aider never writes its summaries. A line of an answer that begins like a mark cannot be distinguished from one. The kind
of a message is recorded in a console line.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.aider.signature import ID, recognise
from workbench.formats.format import Codec, Format
from workbench.formats.machine import Machine, Place, Program


def _codec() -> Codec:
    from workbench.formats.aider import read, rules, write
    from workbench.formats.kit.mark import EXPORT_NOTE
    from workbench.formats.kit.note import in_quoted_line

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
