"""Augment CLI (auggie) sessions: `chatHistory` in one JSON document.

Checked against the description of the format only, not against a real file.

Each entry becomes up to three messages that share its record: the summary in its request, the request, the response. A
recorded summary ends an epoch and begins the next; the versions of summaries are in the session's facts.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.format import Codec, ExportForm, Format
from workbench.formats.look import Look
from workbench.formats.machine import Machine, Place

ID = "augment"
KEYS = frozenset(["agentState", "chatHistory", "sessionId"])


def recognise(look: Look) -> str:
    document = look.document
    history = document.get("chatHistory") if isinstance(document, dict) else None
    if not isinstance(history, list):
        return ""
    if any(isinstance(entry, dict) and "exchange" in entry for entry in history):
        return "chatHistory with exchanges"
    return "sessionId and chatHistory" if "sessionId" in document else ""


def _codec() -> Codec:
    from workbench.formats.augment import read, rules, write
    from workbench.formats.kit.marks import EXPORT_NOTE, in_document

    return Codec(
        read.Reader.read,
        write.write,
        rules.validate,
        addressed=write.addressed,
        forms=(
            ExportForm("flagged", "the summary flagged isHistorySummary", write.write_flagged),
            ExportForm("inserted", "the flagged summary in the loaded history", write.write_inserted),
        ),
        memories=True,
        note=in_document(EXPORT_NOTE, ()),
    )


def _places(machine: Machine) -> Iterator[Place]:
    augment = machine.first("AUGMENT_CACHE_DIR", otherwise=machine.home / ".augment")
    yield Place("Augment CLI", ID, augment / "sessions", ("*.json",))


FORMAT = Format(ID, "Augment CLI session", recognise, _codec, keys=KEYS, preset="augment-example", places=_places)
