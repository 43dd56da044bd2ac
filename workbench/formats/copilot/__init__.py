"""Copilot CLI events: `~/.copilot/session-state/<id>/events.jsonl`.

The model is sent the user messages as Copilot transformed them (`transformedContent`), notifications, the model's
responses and the results of their calls. A compaction runs in the background: its summary replaces the messages that
existed when it began; later ones are kept. Events of sub-agents are in the file view, not in the context. The system
prompt is the newest one in the file.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.format import Codec, CompactCommand, Format, RecordRepair, TriggerSetting
from workbench.formats.look import Look
from workbench.formats.machine import Machine, Place, Program

ID = "copilot"
KEYS = frozenset(["data", "id", "parentId", "timestamp", "type"])

_TYPES = ("session.", "user.message", "assistant.", "tool.execution_", "system.", "hook.")


def recognise(look: Look) -> str:
    for record in look.records[:5]:
        value = record.value
        if not isinstance(value, dict) or not isinstance(value.get("data"), dict):
            continue
        if value.get("type") == "session.start" and value["data"].get("producer") == "copilot-agent":
            return f"line {record.line} is the session.start event of Copilot CLI"
        if "parentId" in value and "timestamp" in value and str(value.get("type")).startswith(_TYPES):
            return f"line {record.line} is a {value['type']} event of Copilot CLI"
    return ""


def _codec() -> Codec:
    from workbench.formats.copilot import rules, write
    from workbench.formats.copilot.read import Reader, request_texts
    from workbench.formats.kit.marks import EXPORT_NOTE, in_first_line

    return Codec(
        Reader.read,
        write.write,
        rules.validate,
        addressed=write.addressed,
        note=in_first_line(EXPORT_NOTE, "data"),
        repair=_repair,
        request_texts=request_texts,
    )


def _repair() -> RecordRepair:
    """Return the repair of this format's records; its modules are imported on the first call."""
    from workbench.formats.copilot import repair

    return RecordRepair(repair.records, repair.context)


def _places(machine: Machine) -> Iterator[Place]:
    copilot = machine.first("COPILOT_HOME", otherwise=machine.home / ".copilot")
    yield Place("Copilot CLI", ID, copilot / "session-state", ("*/events.jsonl", "*.jsonl"))


def _setting(trigger: int, window: int) -> str:
    share = f"{trigger / window:.2f}"
    return f"set backgroundCompactionThreshold to {share} when run from its SDK; the CLI has no setting for that"


FORMAT = Format(
    ID,
    "Copilot CLI events",
    recognise,
    _codec,
    keys=KEYS,
    preset="copilot",
    places=_places,
    trigger_setting=TriggerSetting(_setting),
    compact_command=CompactCommand("Copilot CLI", takes_instruction=True),
    program=Program("copilot", sealed="Copilot CLI's program is compiled"),
)
