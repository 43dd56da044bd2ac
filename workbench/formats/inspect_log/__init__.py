"""Inspect logs: `.json`, and `.eval`, a zip of the same data with a file per sample.

Each sample of a log is a session, opened as the log with only that sample. Long texts are in `attachments`. `messages`
is the state at the end; each call's event records what was sent, from which the epochs follow. An export replaces the
list of messages and marks that the events belong to the earlier run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.formats.format import Codec, Format
from workbench.formats.kit.values import dict_of
from workbench.formats.look import Look
from workbench.formats.machine import Machine, Place

ID = "inspect"
KEYS = frozenset(["eval", "plan", "results", "samples", "stats", "status", "version"])

_ENTRY = re.compile(r"header\.json|_journal/start\.json|_journal/summaries/.*|samples/.+_epoch_\d+\.json")


def recognise(look: Look) -> str:
    if look.members:
        return "a zip of Inspect samples" if any(map(_ENTRY.fullmatch, look.members)) else ""
    body = dict_of(look.document)
    log = isinstance(body.get("eval"), dict) and body.keys() & {"status", "plan", "samples"}
    return "eval with status, plan or samples" if log else ""


def _codec() -> Codec:
    from workbench.formats.inspect_log import read, rules, write
    from workbench.formats.kit.marks import EXPORT_NOTE, in_document

    return Codec(
        read.Reader.read,
        write.write,
        rules.validate,
        sessions_in=read.Reader.sessions_in,
        read_part=read.Reader.read_part,
        requests=read.requests,
        note=in_document(EXPORT_NOTE, ("samples", 0, "metadata")),
    )


def _places(machine: Machine) -> Iterator[Place]:
    yield Place("Inspect", ID, machine.first("INSPECT_LOG_DIR", otherwise=machine.here / "logs"), ("*.eval", "*.json"))


FORMAT = Format(ID, "Inspect log", recognise, _codec, keys=KEYS, places=_places, suffixes=(".eval",))
