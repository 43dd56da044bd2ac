"""Augment CLI (auggie) sessions: `chatHistory` in one JSON document.

Checked against the description of the format only, not against a real file.

Each entry becomes up to three messages that share its record: the summary in its request, the request, the response. A
recorded summary ends an epoch and begins the next; the versions of summaries are in the session's facts.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.augment.signature import ID, KEYS, recognise
from workbench.formats.format import Codec, ExportForm, Format
from workbench.formats.machine import Machine, Place


def _codec() -> Codec:
    from workbench.formats.augment import read, rules, write
    from workbench.formats.kit.mark import EXPORT_NOTE
    from workbench.formats.kit.note import in_document

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
