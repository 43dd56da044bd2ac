"""opencode sessions as `opencode export` writes them: `{info, messages: [{info, parts}]}`.

opencode's database and its older folder of files are read as the export that it would write of them.

opencode does not send everything in the file: it omits bookkeeping parts, and responses with an error other than an
interruption. A call that never ended is answered "[Tool execution was interrupted]". A pruned output is sent as
"[Old tool result content cleared]" from the time in `state.time.compacted` on, and an epoch ends there. An assistant's
record holds calls *and* results, so each of its steps becomes an assistant message and a tool message with the same
source.

A recorded compaction is a user record that asks "What did we do so far?" and an assistant record that answers. Both are
one message here, with the user role as summaries have in other formats, so that every strategy treats them alike.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.format import Codec, Format, TriggerSetting
from workbench.formats.machine import Machine, Place, Program
from workbench.formats.opencode.signature import ID, KEYS, recognise, recognise_folder


def _codec() -> Codec:
    from workbench.formats.kit.mark import EXPORT_NOTE
    from workbench.formats.kit.note import in_document
    from workbench.formats.opencode import read, rules, sessions, write

    return Codec(
        read.read,
        write.write,
        rules.validate,
        addressed=write.addressed,
        read_folder=read.read_folder,
        sessions_in=read.sessions_in,
        read_part=read.read_part,
        note=in_document(EXPORT_NOTE, ()),
        glance=sessions.glance,
        list_sessions=sessions.list_sessions,
    )


def _places(machine: Machine) -> Iterator[Place]:
    yield Place("opencode", ID, machine.data / "opencode", ("opencode*.db", "storage/session/*/ses_*.json"))


_RESERVED = 32_000
"""Tokens reserved for the response."""


def _setting(trigger: int, window: int) -> str:
    limit = f'set "limit": {{"context": {min(window, trigger + _RESERVED)}}} of the model in opencode.json'
    return f"{limit}, which reserves 32 000 for its answer"


FORMAT = Format(
    ID,
    "opencode",
    recognise,
    _codec,
    recognise_folder,
    keys=KEYS,
    preset="opencode",
    places=_places,
    suffixes=(".db",),
    trigger_setting=TriggerSetting(_setting, lambda window: window - _RESERVED),
    program=Program("opencode", "opencode", ("opencode", "opencode.exe"), "<template>\n", "instructed"),
)
