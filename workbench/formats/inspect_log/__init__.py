"""Inspect logs: `.json`, and `.eval`, a zip of the same with a file for each sample (formats.md §2.13).

A log has many samples; each is a session, opened as the log with that one sample in it. Long texts stand in
`attachments`. The messages are the state at the end: what Inspect itself compacted away is told, and not in the list.
"""

from __future__ import annotations

from workbench.formats.format import Format
from workbench.formats.inspect_log.read import ID, read, read_part, recognise, sessions_in
from workbench.formats.inspect_log.rules import validate
from workbench.formats.inspect_log.write import write

FORMAT = Format(ID, "Inspect log", recognise, read, write, validate, sessions_in=sessions_in, read_part=read_part)
