"""ATIF trajectories of Harbor: `{schema_version, session_id, agent, steps}`, since 1.7 with those of sub-agents inside.

A step of the agent holds its calls and what they gave, so it is two messages. A summarisation is a system step that
refers to the sub-agents which made it: a boundary. The user's step after it is the summary, and what stood before is no
longer sent. Step numbers count from 1 without gaps, so a kept step may get a new number. Kinds are noted in `extra`.

No usual place: harbor writes it to the trial folder that the user names.
"""

from __future__ import annotations

from workbench.formats.atif.signature import ID, KEYS, recognise
from workbench.formats.format import Codec, Format


def _codec() -> Codec:
    from workbench.formats.atif import read, rules, write
    from workbench.formats.kit.mark import CARRIED
    from workbench.formats.kit.note import in_document

    return Codec(
        read.Reader.read,
        write.write,
        rules.validate,
        sessions_in=read.Reader.sessions_in,
        read_part=read.Reader.read_part,
        note=in_document(CARRIED, ("extra",)),
    )


FORMAT = Format(ID, "ATIF trajectory", recognise, _codec, keys=KEYS)
