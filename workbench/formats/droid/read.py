"""Reading: Droid, line by line."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.stamps import seconds_of
from workbench.formats.agent_texts import with_user_text
from workbench.formats.droid.signature import ID
from workbench.formats.format import Progress
from workbench.formats.kit.blocks import from_anthropic
from workbench.formats.kit.document import beside
from workbench.formats.kit.ids import unique_id
from workbench.formats.kit.jsonl import left_out, objects_of, records_of
from workbench.formats.kit.values import count_of, dict_of, text_of
from workbench.session import (
    Compaction,
    Epoch,
    Kind,
    LoadWarning,
    Message,
    Records,
    Role,
    Session,
    SessionFacts,
    Text,
    ToolResult,
)

_SUMMARY = (
    "A previous instance of Droid has summarized the conversation thus far as follows:\n\n<summary>\n{}\n</summary>\n\n"
    "IMPORTANT: This summary was created by a previous instance of Droid. Files referenced in the summary may not be "
    "available until you explicitly view them again."
)
"""How a summary is sent."""

_SILENT = ("session_start", "todo_state", "session_settings", "agent_turn_outcome")


@dataclass(slots=True)
class _Reading:
    records: Records
    messages: list[Message] = field(default_factory=list)
    ids: dict[str, int] = field(default_factory=dict)
    context: list[int] = field(default_factory=list)
    epochs: list[Epoch] = field(default_factory=list)
    warnings: list[LoadWarning] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)
    start: dict[str, Any] = field(default_factory=dict)
    model: str | None = None


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read a session. Raises BadInput when it holds no message."""
    reading = _Reading(Records(data))
    for value, index, line in objects_of(records_of(data), len(data), reading.records, reading.warnings, progress):
        _take(reading, value, index, line)
    if not reading.messages:
        raise BadInput(f"{path} is a session of Droid without messages; open another session.")
    reading.warnings += left_out("lines", reading.unknown)
    settings = beside(path.with_suffix(".settings.json"))
    last = dict_of(settings.get("lastCallTokenUsage"))
    sent = sum(count_of(last.get(key)) for key in ("inputTokens", "cacheReadTokens", "cacheCreationTokens"))
    return Session(
        ID,
        path,
        with_user_text(reading.messages),
        reading.records,
        epochs=(*reading.epochs, Epoch(len(reading.epochs) + 1, array("q", reading.context))),
        id=text_of(reading.start.get("id")) or path.stem,
        title=text_of(reading.start.get("title")),
        model=reading.model or text_of(settings.get("model")) or None,
        cwd=text_of(reading.start.get("cwd")) or None,
        warnings=tuple(reading.warnings),
        facts=SessionFacts(tokens_now=sent or None),
    )


def _take(reading: _Reading, value: dict[str, Any], index: int, line: int) -> None:
    kind = text_of(value.get("type"))
    if kind == "message":
        _message(reading, value, index)
    elif kind == "compaction_state":
        _compaction(reading, value, index, line)
    elif kind == "session_start":
        reading.start = value
    elif kind not in _SILENT:
        reading.unknown[kind or "?"] += 1


def _message(reading: _Reading, value: dict[str, Any], index: int) -> None:
    """A record of a hook has no content, and what only the person sees is never sent."""
    body = dict_of(value.get("message"))
    visibility = body.get("visibility") or value.get("visibility")
    blocks = from_anthropic(body.get("content"))
    if not blocks:
        return
    role: Role = "assistant" if body.get("role") == "assistant" else "user"
    kind: Kind = "normal"
    if role == "user" and any(isinstance(block, ToolResult) for block in blocks):
        role = "tool"
    elif role == "user" and visibility == "llm_only":
        kind = "meta"
        blocks = tuple(replace(block, injected=True) if isinstance(block, Text) else block for block in blocks)
    model = text_of(body.get("modelId")) or None
    reading.model = model or reading.model
    id = unique_id(text_of(value.get("id")) or f"record-{index + 1}", reading.ids)
    time = seconds_of(value.get("timestamp"))
    reading.messages.append(Message(id, role, blocks, kind, time, model=model, source=(index,)))
    if visibility != "user_only":
        reading.context.append(len(reading.messages) - 1)


def _compaction(reading: _Reading, value: dict[str, Any], index: int, line: int) -> None:
    """What stands behind the anchor stays behind the summary; without an anchor nothing does."""
    text = text_of(value.get("summaryText")) or text_of(dict_of(value.get("summary")).get("body"))
    if not text:
        reading.warnings.append(LoadWarning("holds a compaction without a summary; left out", line))
        return
    id = unique_id(text_of(value.get("id")) or f"record-{index + 1}", reading.ids)
    time = seconds_of(value.get("timestamp"))
    anchor = text_of(dict_of(value.get("anchorMessage")).get("id"))
    places = [place for place, number in enumerate(reading.context) if reading.messages[number].id == anchor]
    stay = reading.context[places[-1] + 1 :] if places else []
    if anchor and not places:
        reading.warnings.append(LoadWarning("its anchor is not an earlier message; nothing is kept", line))
    if reading.context:
        kept = tuple(reading.messages[number].id for number in stay)
        ended = Compaction("", None, id, time, kept=kept)
        reading.epochs.append(Epoch(len(reading.epochs) + 1, array("q", reading.context), ended))
    about = text_of(value.get("systemInfoText"))
    blocks = (Text(_SUMMARY.format(text)), *([Text(about, injected=True)] if about else []))
    reading.messages.append(Message(id, "user", blocks, "summary", time, source=(index,)))
    reading.context = [len(reading.messages) - 1, *stay]
