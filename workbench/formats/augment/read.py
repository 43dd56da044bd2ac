"""Reading: Augment CLI session."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.stamps import seconds_of
from workbench.formats.augment.nodes import (
    STRAY,
    request_blocks,
    response_blocks,
    summary_blocks,
    token_usage,
    usage_of,
)
from workbench.formats.augment.signature import ID
from workbench.formats.format import Progress
from workbench.formats.kit.blocks import RESUMED, as_text, is_summary
from workbench.formats.kit.document import parse
from workbench.formats.kit.ids import unique_id
from workbench.formats.kit.values import dict_of
from workbench.session.message import Kind, Message, Opaque, Role, Text, ToolResult
from workbench.session.session import Epoch, LoadWarning, Records, Session, SessionFacts

_FALL_TOKENS, _FALL_SHARE = 5_000, 2 / 3
"""A fall of the history sent that calls for an explanation: by so many tokens, and to less than this share."""


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """One epoch of everything completed; exchanges that did not complete are in the file view alone."""
    progress(0, len(data))
    document, warnings = parse(path, data)
    entries = document.get("chatHistory") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise BadInput(f"{path}: has no chatHistory list; open a session file of the Augment CLI.")
    warnings += [
        LoadWarning(f"{key} is missing; auggie will not load this file")
        for key in ("sessionId", "created", "modified")
        if not document.get(key)
    ]
    messages: list[Message] = []
    completed: list[int] = []
    keys: dict[str, int] = {}
    versions: dict[str, int] = {}
    for index, entry in enumerate(entries):
        for message in _messages(index, entry, _key(index, entry, keys), warnings):
            if not (isinstance(entry, dict) and entry.get("completed") is False):
                completed.append(len(messages))
            version = entry.get("historySummaryVersion") if isinstance(entry, dict) else None
            if message.kind == "summary" and type(version) is int and version > 0:
                versions[message.id] = version
            messages.append(message)
    progress(len(data), len(data))
    warnings += _silent_drops(entries)
    state = dict_of(document.get("agentState"))
    guidelines = (state.get(key) for key in ("userGuidelines", "workspaceGuidelines"))
    return Session(
        format=ID,
        path=path,
        messages=tuple(messages),
        epochs=(Epoch(1, completed),),
        records=Records(data),
        id=as_text(document.get("sessionId") or ""),
        title=as_text(document.get("customTitle") or document.get("title") or ""),
        model=state["modelId"] if isinstance(state.get("modelId"), str) else None,
        system="\n\n".join(text for text in guidelines if isinstance(text, str) and text),
        memories=as_text(state.get("agentMemories") or ""),
        warnings=tuple(warnings),
        facts=SessionFacts(summary_versions=versions),
    )


def _exchange(entry: Any) -> dict[str, Any] | None:
    exchange = entry.get("exchange") if isinstance(entry, dict) else None
    return exchange if isinstance(exchange, dict) else None


def _key(index: int, entry: Any, taken: dict[str, int]) -> str:
    """What the ids of an entry's messages begin with: its request id, its number where that is missing or taken."""
    named = (_exchange(entry) or {}).get("request_id")
    return unique_id(named if isinstance(named, str) and named and named not in taken else f"e{index + 1}", taken)


def _messages(index: int, entry: Any, key: str, warnings: list[LoadWarning]) -> Iterator[Message]:
    source = (index,)
    exchange = _exchange(entry)
    if exchange is None:
        warnings.append(LoadWarning(f"entry {index + 1} of chatHistory has no exchange; it is shown as it is"))
        yield Message(f"{key}:request", "user", (Opaque(STRAY, entry),), "meta", source=source)
        return
    flagged = entry.get("isHistorySummary") is True
    summary, request, response = summary_blocks(exchange), request_blocks(exchange), response_blocks(exchange)
    counts = token_usage(exchange)
    if summary:
        yield Message(f"{key}:summary", "user", summary, "summary", source=source)
    kind: Kind = "summary" if flagged else _request_kind(exchange, request)
    if request or not (summary or response or counts):
        role: Role = "tool" if any(isinstance(block, ToolResult) for block in request) else "user"
        yield Message(f"{key}:request", role, request, kind, source=source)
    if response or counts:
        said = next((block.text for block in response if isinstance(block, Text)), "")
        resumed = flagged or (kind == "summary" and said.startswith(RESUMED))
        yield Message(
            f"{key}:response",
            "assistant",
            response,
            "summary" if resumed else "normal",
            time=seconds_of(entry.get("finishedAt")),
            usage=usage_of(counts),
            source=source,
        )


def _request_kind(exchange: dict[str, Any], blocks: tuple[Any, ...]) -> Kind:
    """A request is the user's when `request_message` says so: text nodes alone were put there by the agent."""
    if any(isinstance(block, ToolResult) for block in blocks):
        return "normal"
    text = next((block.text for block in blocks if isinstance(block, Text)), "")
    if is_summary(text):
        return "summary"
    return "normal" if exchange.get("request_message") else "meta"


def _silent_drops(entries: list[Any]) -> Iterator[LoadWarning]:
    """Places where auggie sent much less history than before and the file does not say why."""
    recorded = [
        (number, counts["chat_history_tokens"])
        for number, entry in enumerate(entries, 1)
        if "chat_history_tokens" in (counts := token_usage(_exchange(entry) or {}))
    ]
    for (before, had), (after, has) in pairwise(recorded):
        if had - has < _FALL_TOKENS or has > had * _FALL_SHARE:
            continue
        since = (message for number in range(before, after) for message in _messages(number, entries[number], "", []))
        if not any(message.kind == "summary" for message in since):
            yield LoadWarning(
                f"between exchanges {before} and {after} the history sent fell from {had} to {has} tokens, and no"
                " summary says why: auggie dropped its oldest part silently"
            )
