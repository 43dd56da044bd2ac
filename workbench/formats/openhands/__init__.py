"""OpenHands conversations: a list of events in one file, a conversation's folder, or an evaluation's output (formats.md
§2.10).

The events are append-only: a condensation is one more event, which names those that are forgotten and gives a summary
that stands at an offset in what is left. Only the newest summary is sent. Events that say nothing to the model are kept
in the file and are no messages. A folder is read as the list of its events, in the order of their file names.
"""

from __future__ import annotations

from workbench.formats.format import Format
from workbench.formats.openhands.read import read, read_folder, read_part, recognise, sessions_in
from workbench.formats.openhands.rules import validate
from workbench.formats.openhands.stores import recognise_folder
from workbench.formats.openhands.write import ID, write

FORMAT = Format(
    ID,
    "OpenHands conversation",
    recognise,
    read,
    write,
    validate,
    recognise_folder=recognise_folder,
    read_folder=read_folder,
    sessions_in=sessions_in,
    read_part=read_part,
)
