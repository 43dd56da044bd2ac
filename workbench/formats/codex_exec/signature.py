"""Recognise captures of `codex exec --json`."""

from __future__ import annotations

from workbench.formats.kit.values import dict_of
from workbench.formats.look import Look

ID = "codex-exec"
KEYS = frozenset(["item", "thread_id", "type", "usage"])


def recognise(look: Look) -> str:
    for record in look.records:
        event = dict_of(record.value)
        kind = event.get("type")
        if kind == "thread.started" and isinstance(event.get("thread_id"), str):
            return f"line {record.line} is the thread.started event of codex exec --json"
        if kind in ("item.started", "item.completed") and {"id", "type"} <= dict_of(event.get("item")).keys():
            return f"line {record.line} is an {kind} event of codex exec --json"
    return ""
