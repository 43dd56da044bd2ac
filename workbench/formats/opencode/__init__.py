"""opencode sessions as `opencode export` writes them: `{info, messages: [{info, parts}]}`.

The tool's own database and its older folder of files are read as the export that it would write of them.

What opencode sends and what it does not, where the file does not say: errors other than an interruption are not sent,
nor are parts of its own bookkeeping; a call that never ended is answered "[Tool execution was interrupted]". An output
that was pruned is sent as "[Old tool result content cleared]" from then on: `state.time.compacted` says since when, and
an epoch ends there. An assistant's record holds calls *and* results, so it gives an assistant's message and a tool's
that share it, once for each step.

A recorded compaction is a user's record that asks "What did we do so far?" and an assistant's that answers. Both are
one message here, of the user's role as summaries are in other formats, so that every strategy treats them alike.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.format import Codec, Format, TriggerSetting
from workbench.formats.machine import Machine, Place, Program
from workbench.formats.opencode.signature import ID, KEYS, recognise, recognise_folder


def _codec() -> Codec:
    from workbench.formats.kit.mark import CARRIED
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
        note=in_document(CARRIED, ()),
        glance=sessions.glance,
        list_sessions=sessions.list_sessions,
    )


def _places(machine: Machine) -> Iterator[Place]:
    yield Place("opencode", ID, machine.data / "opencode", ("opencode*.db", "storage/session/*/ses_*.json"))


_RESERVED = 32_000
"""Tokens that it reserves for its answer."""


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
