"""By what a file is known: Codex rollout."""

from __future__ import annotations

import re

from workbench.formats.format import HEAD
from workbench.formats.kit import zstd
from workbench.formats.kit.jsonl import first_records
from workbench.formats.kit.magic import ZSTD

ID = "codex"

_LINES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
_CUT_META = re.compile(rb'\{"timestamp"\s*:\s*"[^"]*"\s*,.{0,60}?"type"\s*:\s*"session_meta"\s*,\s*"payload"\s*:\s*\{')


def recognise(head: bytes) -> str:
    if head.startswith(ZSTD):
        why = recognise(zstd.glimpse(head, HEAD))
        return f"zstd-compressed, and inside {why}" if why else ""
    if _CUT_META.match(head.removeprefix(b"\xef\xbb\xbf").lstrip()):
        return "line 1 is a session_meta line of Codex"
    for number, record in enumerate(first_records(head)):
        value = record.value
        if not isinstance(value, dict):
            continue
        if value.get("type") in _LINES and isinstance(value.get("payload"), dict) and "timestamp" in value:
            return f"line {record.line} is a {value['type']} line of Codex"
        if number == 0 and {"id", "timestamp", "instructions"} <= value.keys() and "type" not in value:
            return "line 1 has id, timestamp and instructions, as Codex wrote before 0.32"
    return ""
