"""Repair the records of a Claude Code session: links, tool pairs, usage, reasoning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.base.stamps import seconds_of
from workbench.formats.fixes import Fault
from workbench.formats.kit.links import Links, link
from workbench.formats.kit.record_repairs import (
    SPARE_TOKENS,
    Pairing,
    chars_of,
    no_negative_counts,
    pair,
    refused_reasoning,
    sum_of,
    with_results,
)
from workbench.formats.kit.settle import NO_RESULT, ORPHAN
from workbench.formats.kit.sheet import Path, RepairSheet, SheetEntry
from workbench.formats.kit.values import dict_of, list_of, text_of
from workbench.formats.roles import GAP
from workbench.session import Session

_COUNTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
_NOTHING = dict.fromkeys(_COUNTS, 0)
_CONTENT: Path = ("message", "content")
_USAGE: Path = ("message", "usage")
_COPIED = (
    "isSidechain", "userType", "cwd", "sessionId", "version", "gitBranch", "slug", "entrypoint", "timestamp",
)  # fmt: skip
"""Keys that a new line copies from the line it belongs to."""


def _is_linked(entry: SheetEntry) -> bool:
    value = entry.object
    return (
        not value.get("isSidechain")
        and "parentUuid" in value
        and value.get("type") in ("user", "assistant", "system", "attachment", "progress")
    )


def _is_message(entry: SheetEntry) -> bool:
    return entry.object.get("type") in ("user", "assistant")


LINKS = Links(
    "uuid",
    "parentUuid",
    linked=_is_linked,
    is_message=_is_message,
    restarts=lambda entry: entry.object.get("subtype") == "compact_boundary",
    is_result=lambda entry: any(map(_is_result, _content(entry))),
)


def records(sheet: RepairSheet) -> None:
    """Repair single records: links, session id, token counts."""
    link(sheet, LINKS)
    _one_session(sheet)
    for entry in sheet.entries:
        if isinstance(dict_of(entry.object.get("message")).get("usage"), dict):
            no_negative_counts(sheet, entry, _USAGE)


def _one_session(sheet: RepairSheet) -> None:
    """Give all lines one session id: the file's name if it is among the ids, else the newest."""
    found = [id for entry in sheet.entries if (id := text_of(entry.object.get("sessionId")))]
    if not found:
        return
    stem = sheet.name.partition(".")[0]
    session = stem if stem in found else found[-1]
    for entry in sheet.entries:
        id = text_of(entry.object.get("sessionId"))
        if id == session or not (id or _is_linked(entry)):
            continue
        entry.put(("sessionId",), session)
        if id:
            sheet.fixed(Fault.SEVERAL_SESSIONS, entry, session)
        else:
            sheet.fixed(Fault.MISSING_FIELD, entry, "sessionId")


def context(sheet: RepairSheet, sent: Sequence[SheetEntry], session: Session) -> None:
    """Repair the records that are sent: tool pairs, reasoning, usage."""
    pair(sheet, with_results(sheet, sent, session, PAIRING), PAIRING)
    chain = [entry for entry in sheet.entries if _is_linked(entry)]
    refused_reasoning(sheet, chain, _error, _reasoning, PAIRING.response)
    changed = [entry for entry in chain if entry.changed and _is_message(entry)]
    empty = dict.fromkeys(entry for entry in changed if not dict_of(entry.object.get("message")).get("content"))
    for entry in empty:
        LINKS.remove(sheet, entry)
    sent = [entry for entry in sent if entry not in empty]
    _insert_first_user_message(sheet, sent)
    if any(_is_linked(entry) for entry in sent):  # a sub-agent's file is never resumed
        _usage(sheet, sent)


def _insert_first_user_message(sheet: RepairSheet, sent: Sequence[SheetEntry]) -> None:
    """Insert a user message at the start if it is missing: the Messages API requires one."""
    first = next((entry for entry in sent if _is_message(entry)), None)
    if first is not None and first.object.get("type") == "assistant" and _is_linked(first):
        common = {key: first.object[key] for key in _COPIED if key in first.object}
        body = {"role": "user", "content": GAP}
        value = {"parentUuid": None, **common, "type": "user", "message": body, "isMeta": True}
        LINKS.insert_before(sheet, first, LINKS.new_record(value, first.place))
        sheet.fixed(Fault.NO_FIRST_MESSAGE, first, repr(GAP))


def _calls(entry: SheetEntry) -> list[str]:
    return [text_of(block.get("id")) for block in _blocks(entry) if block.get("type") == "tool_use"]


def _results(entry: SheetEntry) -> list[str]:
    return [text_of(block.get("tool_use_id")) for block in _blocks(entry) if block.get("type") == "tool_result"]


def _response(entry: SheetEntry) -> str:
    if entry.object.get("type") != "assistant" or entry.object.get("isApiErrorMessage"):
        return ""
    return text_of(dict_of(entry.object.get("message")).get("id")) or LINKS.id_of(entry)


def _as_text(entry: SheetEntry, nth: int) -> None:
    at = [number for number, block in enumerate(_content(entry)) if _is_result(block)][nth]
    entry.put((*_CONTENT, at), {"type": "text", "text": f"{ORPHAN}\n{_text_of(_content(entry)[at])}"})
    if "toolUseResult" in entry.object and not _results(entry):
        entry.put(("toolUseResult",), None)


def _answers(entry: SheetEntry, ids: Sequence[str]) -> list[SheetEntry]:
    content = [{"type": "tool_result", "tool_use_id": id, "content": NO_RESULT, "is_error": True} for id in ids]
    common = {key: entry.object[key] for key in _COPIED if key in entry.object}
    value = {"parentUuid": None, **common, "type": "user", "message": {"role": "user", "content": content}}
    return [LINKS.new_record(value, entry.place)]


PAIRING = Pairing(_calls, _results, _response, _as_text, _answers, put_before=LINKS.insert_before, detach=LINKS.remove)


def _content(entry: SheetEntry) -> list[Any]:
    return list_of(dict_of(entry.object.get("message")).get("content"))


def _blocks(entry: SheetEntry) -> list[dict[str, Any]]:
    return [block for block in _content(entry) if isinstance(block, dict)]


def _is_result(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_result"


def _text_of(result: dict[str, Any]) -> str:
    content = result.get("content")
    if isinstance(content, str):
        return content
    parts = [part for part in list_of(content) if isinstance(part, dict)]
    return "\n".join(text_of(part.get("text")) or f"[{text_of(part.get('type'))}]" for part in parts)


def _error(entry: SheetEntry) -> str:
    if not entry.object.get("isApiErrorMessage"):
        return ""
    return "\n".join(text_of(block.get("text")) for block in _blocks(entry))


def _reasoning(entry: SheetEntry) -> tuple[Path, list[int]] | None:
    content = _content(entry)
    found = [
        number
        for number, block in enumerate(content)
        if isinstance(block, dict) and block.get("type") in ("thinking", "redacted_thinking")
    ]
    return (_CONTENT, found) if found and entry.object.get("type") == "assistant" else None


def _usage(sheet: RepairSheet, sent: Sequence[SheetEntry]) -> None:
    """Set the newest usage to 0 if it is from before the boundary or exceeds what is sent: Claude Code compacts by
    it."""
    ends = [place for place, one in enumerate(sheet.entries) if one.object.get("subtype") == "compact_boundary"]
    since = {*sheet.entries[ends[-1] if ends else 0 :]}
    for entry in reversed(sent):
        body = dict_of(entry.object.get("message"))
        if entry not in since or entry.object.get("type") != "assistant" or body.get("model") == "<synthetic>":
            continue
        if not body.get("usage"):
            continue
        tokens = sum_of(body["usage"], _COUNTS)
        stale = tokens > 0 and bool(ends) and _is_before(entry, sheet.entries[ends[-1]])
        if stale or tokens > chars_of(one.object.get("message") for one in sent) + SPARE_TOKENS:
            for key in _COUNTS:
                if dict_of(body["usage"]).get(key):
                    entry.put((*_USAGE, key), 0)
            sheet.fixed(Fault.STALE_USAGE, entry, tokens)
        return


def _is_before(entry: SheetEntry, other: SheetEntry) -> bool:
    recorded, then = (seconds_of(one.object.get("timestamp")) for one in (entry, other))
    return recorded is not None and then is not None and recorded < then
