"""Codex rollouts: `~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`, or `.jsonl.zst`.

The items of a response (reasoning, text, calls) form one message, and so do consecutive tool outputs; the token count
that Codex writes with each response, and the next turn's context, end both. Event lines repeat items and are not
messages. A recorded compaction replaces the context with its own items; an item equal to a message of the earlier
context is read as that message.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.formats.format import Codec, CompactCommand, ExportForm, Format, RecordRepair, TriggerSetting
from workbench.formats.kit.values import dict_of, text_of
from workbench.formats.look import Look
from workbench.formats.machine import Machine, Place, Program

ID = "codex"
KEYS = frozenset(["payload", "timestamp", "type"])

_LINES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")


def is_traes(meta: Any) -> bool:
    """Return True if the payload of a first line shows that Trae CLI wrote the file; it uses Codex's format."""
    prompt = text_of(dict_of(dict_of(meta).get("base_instructions")).get("text"))
    return dict_of(meta).get("model_provider") == "trae" or prompt.startswith("You are TRAE")


def recognise(look: Look) -> str:
    """Return why a file is a rollout, "" if it is not."""
    if look.unpacked is not None:
        why = recognise(look.unpacked)
        return f"zstd-compressed, and inside {why}" if why else ""
    for number, record in enumerate(look.records):
        value = record.value
        if not isinstance(value, dict):
            continue
        if value.get("type") in _LINES and isinstance(value.get("payload"), dict) and "timestamp" in value:
            by = ", also written by Trae CLI" if is_traes(value["payload"]) else ""
            return f"line {record.line} is a {value['type']} line of Codex{by}"
        if number == 0 and {"id", "timestamp", "instructions"} <= value.keys() and "type" not in value:
            return "line 1 has id, timestamp and instructions, as Codex before 0.32 wrote"
    return ""


def _codec() -> Codec:
    from workbench.formats.codex import base, read, rules, skim, write
    from workbench.formats.kit.marks import EXPORT_NOTE, in_first_line

    return Codec(
        read.read,
        write.write,
        rules.validate,
        addressed=write.addressed,
        forms=(ExportForm("appended", "a compaction after the loaded rollout", write.append),),
        note=in_first_line(EXPORT_NOTE, "payload"),
        skim=skim.skim,
        alone=base.is_alone,
        by_line=read.by_line,
        repair=_repair,
    )


def _repair() -> RecordRepair:
    """Return the repair of this format's records; its modules are imported on the first call."""
    from workbench.formats.codex import repair

    return RecordRepair(repair.records, repair.context)


def _places(machine: Machine) -> Iterator[Place]:
    codex = machine.first("CODEX_HOME", otherwise=machine.home / ".codex")
    rollouts = ("rollout-*.jsonl", "rollout-*.jsonl.zst")
    yield Place("Codex", ID, codex / "sessions", tuple(f"*/*/*/{name}" for name in rollouts))
    yield Place("Codex", ID, codex / "archived_sessions", rollouts)


def _setting(trigger: int, window: int) -> str:
    """Return the setting for a trigger in tokens, the same for every window."""
    return f"set model_auto_compact_token_limit = {trigger} in ~/.codex/config.toml"


def _highest(window: int) -> int:
    """Return the highest trigger: 90 % of the model's window, of which Codex records 95 % as `window`."""
    return window * 18 // 19


FORMAT = Format(
    ID,
    "Codex rollout",
    recognise,
    _codec,
    api="openai-responses",
    keys=KEYS,
    preset="codex",
    places=_places,
    suffixes=(".jsonl.zst",),
    trigger_setting=TriggerSetting(_setting, _highest, in_tokens=True),
    compact_command=CompactCommand("Codex"),
    program=Program("codex", sealed="Codex' program is compiled"),
)
