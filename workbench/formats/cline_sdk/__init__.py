"""Cline SDK and CLI sessions: `~/.cline/data/sessions/<id>/<id>.messages.json` (formats.md §2.9).

A compaction rewrites the file, so there is one epoch; what the file still says of it stands in `Session.meta`
("compactions"). The basic one leaves a notice in the user's own messages, the agentic one a summary. Files that a
message carries are sent as text.
"""

from __future__ import annotations

from workbench.formats.cline_sdk.read import read, read_folder, recognise, recognise_folder
from workbench.formats.cline_sdk.rules import validate
from workbench.formats.cline_sdk.write import ID, write
from workbench.formats.format import Format

FORMAT = Format(
    ID,
    "Cline SDK session",
    recognise,
    read,
    write,
    validate,
    recognise_folder=recognise_folder,
    read_folder=read_folder,
)
