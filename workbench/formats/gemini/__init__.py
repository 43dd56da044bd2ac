"""Gemini CLI sessions: one JSON document (2025), or JSONL that is only ever appended to (2026).

In JSONL a record replaces an earlier one with the same id, `$set.messages` replaces the entire history (so Gemini CLI
records compression and masking of old outputs), and `$rewindTo` removes a message and all later ones. Notices, thoughts
and records that Gemini CLI does not send again (slash commands, hook contexts) are in the file view and the branch, but
in no epoch; `<session_context>`, with which every request begins, is in the epochs. A resumed session holds results
twice, with their calls and in a record of their own. They are in the context once: Gemini CLI 0.61 would send both,
which the API refuses.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.format import Codec, CompactCommand, ExportForm, Format, RecordRepair, TriggerSetting
from workbench.formats.look import Look
from workbench.formats.machine import Machine, Place, Program

ID = "gemini"
KEYS = frozenset(["kind", "lastUpdated", "messages", "projectHash", "sessionId", "startTime"])


def recognise(look: Look) -> str:
    if not isinstance(look.first.get("sessionId"), str) or "projectHash" not in look.first:
        return ""
    return "sessionId and projectHash" + (
        " next to messages" if "messages" in look.first else " on line 1, as Gemini has"
    )


def _codec() -> Codec:
    from workbench.formats.gemini import read, rules, write
    from workbench.formats.kit.marks import EXPORT_NOTE, in_first_line

    return Codec(
        read.read,
        write.write,
        rules.validate,
        addressed=write.addressed,
        forms=(ExportForm("appended", "a $set.messages after the loaded history", write.append),),
        note=in_first_line(EXPORT_NOTE),
        repair=_repair,
    )


def _repair() -> RecordRepair:
    """Return the repair of this format's records; its modules are imported on the first call."""
    from workbench.formats.gemini import repair

    return RecordRepair(repair.records, is_headless=repair.is_headless)


def _places(machine: Machine) -> Iterator[Place]:
    folder = machine.first("GEMINI_CLI_HOME", otherwise=machine.home) / ".gemini/tmp"
    yield Place("Gemini CLI", ID, folder, ("*/chats/session-*.json", "*/chats/session-*.jsonl"))


def _setting(trigger: int, window: int) -> str:
    return f'set "model": {{"compressionThreshold": {trigger / window:.2f}}} in ~/.gemini/settings.json'


FORMAT = Format(
    ID,
    "Gemini CLI",
    recognise,
    _codec,
    api="gemini",
    keys=KEYS,
    preset="gemini-cli",
    places=_places,
    trigger_setting=TriggerSetting(_setting),
    compact_command=CompactCommand("Gemini CLI", "/compress"),
    program=Program("gemini-cli", "gemini", ("bundle/*.js", "prompts/snippets.js"), "getCompressionPrompt", "template"),
)
