"""Repair the records of a Codex rollout: header, token counts, tool pairs, reasoning."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from workbench.base.stamps import iso
from workbench.formats.fixes import Fault
from workbench.formats.kit.links import drop_copies
from workbench.formats.kit.record_repairs import (
    REFUSED_REASONING,
    SPARE_TOKENS,
    Pairing,
    chars_of,
    no_negative_counts,
    pair,
)
from workbench.formats.kit.settle import NO_RESULT, ORPHAN
from workbench.formats.kit.sheet import RepairSheet, SheetEntry, new_entry
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of
from workbench.session import Session

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_VERSION = "0.50.0"
IMPOSSIBLE = 2
"""Number of context windows that a call cannot exceed: the prompt fills at most one, the answer less than one."""


def records(sheet: RepairSheet) -> None:
    """Repair the header and the token counts."""
    drop_copies(sheet, sheet.entries)
    _repair_header(sheet)
    for entry in sheet.entries:
        info = dict_of(_payload(entry).get("info"))
        if _event(entry) != "token_count" or not info:
            continue
        no_negative_counts(sheet, entry, ("payload", "info"))
        window, tokens = count_of(info.get("model_context_window")), _last_tokens(entry)
        if window and tokens > IMPOSSIBLE * window:
            entry.put(("payload", "info"), None)
            sheet.fixed(Fault.IMPOSSIBLE_USAGE, entry, tokens)


def _payload(entry: SheetEntry) -> dict[str, Any]:
    return dict_of(entry.object.get("payload"))


def _event(entry: SheetEntry) -> str:
    return text_of(_payload(entry).get("type")) if entry.object.get("type") == "event_msg" else ""


def _last_tokens(entry: SheetEntry) -> int:
    last = dict_of(dict_of(_payload(entry).get("info")).get("last_token_usage"))
    return max(count_of(last.get("total_tokens")), count_of(last.get("input_tokens")))


def _repair_header(sheet: RepairSheet) -> None:
    first = sheet.entries[0] if sheet.entries else None
    if first is None or first.object.get("type") == "session_meta" or not text_of(first.object.get("type")):
        return
    metas = [entry for entry in sheet.entries if entry.object.get("type") == "session_meta"]
    if metas:
        sheet.move_header(metas[0])
        return
    named = _ID.search(sheet.name)
    turn = next((_payload(entry) for entry in sheet.entries if entry.object.get("type") == "turn_context"), {})
    stamp = text_of(first.object.get("timestamp")) or iso()
    payload = {
        "id": named[0] if named else str(uuid4()),
        "timestamp": stamp,
        "cwd": text_of(turn.get("cwd")),
        "originator": "codex_cli_rs",
        "cli_version": _VERSION,
        "source": "cli",
    }
    sheet.entries.insert(0, new_entry({"timestamp": stamp, "type": "session_meta", "payload": payload}, 1))
    sheet.fixed(Fault.MISSING_HEADER, first, "session_meta")


def context(sheet: RepairSheet, sent: Sequence[SheetEntry], session: Session) -> None:
    """Repair the records that are sent: tool pairs, reasoning, the newest token count; renumber the ordinals."""
    items = [entry for entry in sent if entry.object.get("type") == "response_item"]
    responses = _responses(items)
    pair(sheet, items, Pairing(_calls, _results, lambda item: responses.get(item, ""), _as_text, _answers))
    _remove_refused_reasoning(sheet, sent)
    _reset_stale_count(sheet, sent)
    if any("ordinal" in entry.object for entry in sheet.entries):
        base = dict_of(_payload(sheet.entries[0]).get("history_base"))  # a fork continues its ordinals
        for number, entry in enumerate(sheet.entries, count_of(base.get("end_ordinal_exclusive"))):
            if entry.object.get("ordinal") != number:
                entry.put(("ordinal",), number)


def _responses(items: Sequence[SheetEntry]) -> dict[SheetEntry, str]:
    """Return the response that each item is part of. A response ends with its calls, or before any other item."""
    found: dict[SheetEntry, str] = {}
    number, called, before = 0, False, False
    for item in items:
        is_call = _is_call(item)
        if not _is_response(item):
            before = called = False
            continue
        number += not before or (called and not is_call)
        before, called = True, is_call
        found[item] = f"response {number}"
    return found


def _is_call(entry: SheetEntry) -> bool:
    return text_of(_payload(entry).get("type")).endswith("_call")


def _is_response(entry: SheetEntry) -> bool:
    item = _payload(entry)
    if entry.object.get("type") != "response_item":
        return False
    return _is_call(entry) or item.get("type") == "reasoning" or item.get("role") == "assistant"


def _calls(entry: SheetEntry) -> list[str]:
    item = _payload(entry)
    return [text_of(item.get("call_id"))] if _is_call(entry) and "call_id" in item else []


def _results(entry: SheetEntry) -> list[str]:
    item = _payload(entry)
    return [text_of(item.get("call_id"))] if text_of(item.get("type")).endswith("_output") else []


def _as_text(entry: SheetEntry, nth: int) -> None:
    output = _payload(entry).get("output")
    text = output if isinstance(output, str) else _text_of(output)
    content = [{"type": "input_text", "text": f"{ORPHAN}\n{text}"}]
    entry.put(("payload",), {"type": "message", "role": "user", "content": content})


def _answers(entry: SheetEntry, ids: Sequence[str]) -> list[SheetEntry]:
    kind = text_of(_payload(entry).get("type"))
    answer = "custom_tool_call_output" if kind == "custom_tool_call" else "function_call_output"
    return [
        new_entry(
            {
                "timestamp": entry.object.get("timestamp"),
                "type": "response_item",
                "payload": {"type": answer, "call_id": id, "output": NO_RESULT},
            },
            entry.place,
        )
        for id in ids
    ]


def _text_of(output: Any) -> str:
    parts = output.get("content") if isinstance(output, dict) else output
    if isinstance(parts, str):
        return parts
    return "\n".join(text_of(dict_of(part).get("text")) for part in list_of(parts))


def _remove_refused_reasoning(sheet: RepairSheet, sent: Sequence[SheetEntry]) -> None:
    """Remove the reasoning that the API rejected, if no response followed."""
    for entry in reversed(sheet.entries):
        text = text_of(_payload(entry).get("message")) if _event(entry) == "error" else ""
        if REFUSED_REASONING.search(text):
            refused = {one for one in sent if _payload(one).get("type") == "reasoning"}
            for one in refused:
                sheet.fixed(Fault.REFUSED_REASONING, one, 1)
            sheet.entries = [one for one in sheet.entries if one not in refused]
            return
        if _is_response(entry):
            return


def _reset_stale_count(sheet: RepairSheet, sent: Sequence[SheetEntry]) -> None:
    """Reset the newest token count if it dates from before the newest compaction or exceeds what is sent: Codex
    compacts by it. If all totals add up from the first count on, nothing was cut, and the counts are correct."""
    counts = [entry for entry in sheet.entries if _event(entry) == "token_count" and _payload(entry).get("info")]
    order = {entry: place for place, entry in enumerate(sheet.entries)}
    compacted = max((order[one] for one in sheet.entries if one.object.get("type") == "compacted"), default=-1)
    if counts and order[counts[-1]] < compacted and _last_tokens(counts[-1]):
        sheet.fixed(Fault.STALE_USAGE, counts[-1], _last_tokens(counts[-1]))
        last = dict_of(dict_of(_payload(counts[-1]).get("info")).get("last_token_usage"))
        counts[-1].put(("payload", "info", "last_token_usage"), dict.fromkeys(last, 0))
        return
    so_far = 0
    for entry in counts:
        total = count_of(dict_of(dict_of(_payload(entry).get("info")).get("total_token_usage")).get("total_tokens"))
        if total not in (so_far, so_far + _last_tokens(entry)):
            break
        so_far = total
    else:
        return
    items: list[Any] = []
    for entry in sent:
        replaced = _payload(entry).get("replacement_history")
        items += replaced if isinstance(replaced, list) else [_payload(entry)]
    if _last_tokens(counts[-1]) > chars_of(items) + SPARE_TOKENS:
        sheet.fixed(Fault.STALE_USAGE, counts[-1], _last_tokens(counts[-1]))
        counts[-1].put(("payload", "info"), None)
        _reset_stale_count(sheet, sent)
