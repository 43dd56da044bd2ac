"""smolagents' memory as JSON: the list returned by `agent.memory.get_full_steps()` or `get_succinct_steps()`.

Steps are a task, a plan, or an action with its calls and observations. A full step holds its request, from which the
system prompt is taken. smolagents sends calls and observations as texts with a heading; here they are calls and
results. Read only.

No usual place: the program that saves its memory chooses the file.
"""

from __future__ import annotations

from workbench.formats.format import Codec, Format
from workbench.formats.smolagents.signature import ID, KEYS, recognise


def _codec() -> Codec:
    from workbench.formats.smolagents import read

    return Codec(read.Reader.read)


FORMAT = Format(ID, "smolagents steps", recognise, _codec, keys=KEYS)
