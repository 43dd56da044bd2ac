"""OpenHands conversations: a list of events in one file, a conversation's folder, or an evaluation's output.

Events are append-only: a condensation is an event that names forgotten events, and gives a summary with its offset in
the remaining ones. V0 sends only the newest summary, V1 each that is not forgotten itself. V1 events that name their
parents form a tree; the branch whose head `base_state.json` names is sent. Events without content for the model are
kept in the file but are no messages. A folder is read as the list of its events, ordered by file name.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.format import Codec, Format, TriggerSetting
from workbench.formats.machine import Machine, Place, Program
from workbench.formats.openhands.signature import ID, KEYS, recognise, recognise_folder


def _codec() -> Codec:
    from workbench.formats.openhands import folder, glance, note, read, rules, write

    return Codec(
        read.read,
        write.write,
        rules.validate,
        read_folder=read.read_folder,
        folder=folder.folder,
        sessions_in=read.sessions_in,
        read_part=read.read_part,
        note=note.NOTE,
        glance=glance.glance,
    )


def _places(machine: Machine) -> Iterator[Place]:
    home = machine.first("OPENHANDS_PERSISTENCE_DIR", otherwise=machine.home / ".openhands")
    conversations = machine.first("OPENHANDS_CONVERSATIONS_DIR", otherwise=home / "conversations")
    yield Place("OpenHands", ID, conversations, ("*/base_state.json",))
    store = machine.first("FILE_STORE_PATH", otherwise=home)
    for folder in dict.fromkeys((store, machine.home / ".openhands-state")):
        yield Place("OpenHands", ID, folder / "sessions", ("*/events/0.json",))


def _setting(trigger: int, window: int) -> str:
    return f"set max_tokens = {trigger} of its condenser"


FORMAT = Format(
    ID,
    "OpenHands conversation",
    recognise,
    _codec,
    recognise_folder,
    keys=KEYS,
    preset="openhands",
    places=_places,
    marks=("base_state.json", "events/0.json"),
    trigger_setting=TriggerSetting(_setting, in_tokens=True),
    program=Program("openhands", "openhands", ("condenser/prompts/summarizing_system.j2",), kind="whole"),
)
