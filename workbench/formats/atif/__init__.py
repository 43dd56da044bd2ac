"""ATIF trajectories of Harbor: `{schema_version, session_id, agent, steps}`; since 1.7 with those of sub-agents inside.

An agent step holds its calls and their results, so it becomes two messages. A summarisation is a system step that
refers to the sub-agents that wrote it: a boundary. The user step after it is the summary; earlier steps are no longer
sent. Steps are numbered from 1 without gaps, so a kept step may get a new number. The kind of a message goes into
`extra`.

No usual place: harbor writes it to the trial folder that the user names.
"""

from __future__ import annotations

from workbench.formats.format import Codec, Format
from workbench.formats.kit.values import dict_of
from workbench.formats.look import Look

ID = "atif"
KEYS = frozenset(["agent", "final_metrics", "schema_version", "session_id", "steps"])


def recognise(look: Look) -> str:
    version = dict_of(look.document).get("schema_version")
    return f"schema_version {version}" if isinstance(version, str) and version.startswith("ATIF-") else ""


def _codec() -> Codec:
    from workbench.formats.atif import read, rules, write
    from workbench.formats.kit.marks import EXPORT_NOTE, in_document

    return Codec(
        read.Reader.read,
        write.write,
        rules.validate,
        sessions_in=read.Reader.sessions_in,
        read_part=read.Reader.read_part,
        note=in_document(EXPORT_NOTE, ("extra",)),
    )


FORMAT = Format(ID, "ATIF trajectory", recognise, _codec, keys=KEYS)
