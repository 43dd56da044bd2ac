"""Recognise Codex rollouts."""

from __future__ import annotations

from typing import Any

from workbench.formats.kit.values import dict_of, text_of
from workbench.formats.look import Look

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
