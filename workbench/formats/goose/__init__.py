"""goose sessions: its `sessions.db`, an exported session as JSON, and the JSONL of earlier versions (formats.md §2.12).

goose compacts by visibility: older messages stay, but the agent does not see them; the context is every message that it
sees. A database becomes records like those of an export, one for each message of the chosen session.
"""

from __future__ import annotations

from workbench.formats.format import Format
from workbench.formats.goose.read import ID, read, read_part, recognise, sessions_in
from workbench.formats.goose.rules import validate
from workbench.formats.goose.write import write

FORMAT = Format(ID, "goose", recognise, read, write, validate, sessions_in=sessions_in, read_part=read_part)
