"""aider's chat history, Markdown: `#### ` the user, `> ` the console, everything else the assistant (formats.md §2.13).

One file holds every session of a folder, each under its `# aider chat started at` line. Console lines are shown, but
no part of the context: aider does not send them again. Its own summaries are never written. What begins like a mark in
an answer cannot be told from one. Kinds are noted in console lines.
"""

from __future__ import annotations

from workbench.formats.aider.read import ID, read, read_part, recognise, sessions_in, write
from workbench.formats.aider.rules import validate
from workbench.formats.format import Format

FORMAT = Format(
    ID, "aider chat history", recognise, read, write, validate, sessions_in=sessions_in, read_part=read_part
)
