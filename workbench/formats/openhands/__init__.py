"""OpenHands conversations: a list of events in one file, a conversation's folder, or an evaluation's output.

The events are append-only: a condensation is one more event, which names those that are forgotten and gives a summary
that stands at an offset in what is left. V0 sends the newest summary alone, V1 each that is not forgotten itself. Since
V1's events name their parents the conversation is a tree, of which the branch is sent that `base_state.json` names the
head of. Events that say nothing to the model are kept in the file and are no messages. A folder is read as the list of
its events, in the order of their file names.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.format import Codec, Format, TriggerSetting
from workbench.formats.machine import Machine, Place, Program
from workbench.formats.openhands.signature import ID, KEYS, recognise, recognise_folder


def _codec() -> Codec:
    from workbench.formats.openhands import carried, folder, glance, read, rules, write

    return Codec(
        read.read,
        write.write,
        rules.validate,
        read_folder=read.read_folder,
        folder=folder.folder,
        sessions_in=read.sessions_in,
        read_part=read.read_part,
        note=carried.NOTE,
        glance=glance.glance,
    )


def _places(machine: Machine) -> Iterator[Place]:
    kept = machine.first("OPENHANDS_PERSISTENCE_DIR", otherwise=machine.home / ".openhands")
    conversations = machine.first("OPENHANDS_CONVERSATIONS_DIR", otherwise=kept / "conversations")
    yield Place("OpenHands", ID, conversations, ("*/base_state.json",))
    store = machine.first("FILE_STORE_PATH", otherwise=kept)
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
