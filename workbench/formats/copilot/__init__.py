"""Copilot CLI events: `~/.copilot/session-state/<id>/events.jsonl` (formats.md §2.6).

The model is sent user messages as they were transformed, notifications, responses, and the results of their calls. A
compaction runs in the background: its summary stands for what was there when it began, and what came meanwhile stays.
Events of sub-agents are in the file view only. The system prompt stands beside the messages, its newest text.
"""

from __future__ import annotations

from workbench.formats.copilot.read import ID, read, recognise
from workbench.formats.copilot.rules import validate
from workbench.formats.copilot.write import write
from workbench.formats.format import Format

FORMAT = Format(ID, "Copilot CLI events", recognise, read, write, validate)
