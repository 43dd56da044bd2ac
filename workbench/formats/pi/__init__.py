"""pi sessions, versions 1 to 3: `~/.pi/agent/sessions/--<cwd>--/<time>_<id>.jsonl` (formats.md §2.8).

Entries form a tree whose newest entry is the leaf; version 1 has no links and is a line. The context is the path to the
leaf: the newest compaction's summary, then everything from its first kept entry on. Responses that were aborted or
failed, and commands that the person kept to herself, are in the file view and the branch but in no epoch.
"""

from __future__ import annotations

from workbench.formats.format import Format, Way
from workbench.formats.pi.append import append
from workbench.formats.pi.read import read, recognise
from workbench.formats.pi.rules import validate
from workbench.formats.pi.write import ID, write

FORMAT = Format(
    ID,
    "pi",
    recognise,
    read,
    write,
    validate,
    ways=(Way("appended", "a compaction entry behind the loaded session", append),),
)
