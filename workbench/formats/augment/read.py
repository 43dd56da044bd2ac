"""Read Augment CLI sessions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

from workbench.base.stamps import seconds_of
from workbench.formats.agent_texts import SUMMARY_ANSWERS, is_augments_summary, is_summary, with_user_text
from workbench.formats.augment import ID
from workbench.formats.augment.nodes import (
    STRAY,
    is_summary_node,
    nodes_of,
    remove_label,
    request_blocks,
    response_blocks,
    summary_blocks,
    token_usage,
    usage_of,
)
from workbench.formats.augment.summaries import RecordedSummary, current_version, epochs_of
from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.conversation import Document
from workbench.formats.kit.marks import COPY, STALE_USAGE
from workbench.formats.kit.names import unique_id
from workbench.formats.kit.values import dict_of
from workbench.session.message import Block, Kind, Message, Opaque, Role, Text, ToolResult
from workbench.session.session import LoadWarning, Session, SessionFacts

_DROP_TOKENS, _DROP_SHARE = 5_000, 2 / 3
"""Decrease of the history sent that needs a warning: by at least this many tokens, to at most this share."""


class Reader(Document):
    """Reader of a history and its summaries; exchanges that did not complete are only in the file view."""

    format = ID
    needs = "has no chatHistory list; open a session file of the Augment CLI"

    def session(self) -> Session:
        document = self.body
        entries = self.items(document.get("chatHistory"))
        for key in ("sessionId", "created", "modified"):
            if not document.get(key):
                self.warn(f"{key} is missing; auggie will not load this file")
        messages: list[Message] = []
        completed: list[int] = []
        times: list[float | None] = []
        stale_until = 0
        recorded: list[RecordedSummary] = []
        used_prefixes: dict[str, int] = {}
        for index, entry in enumerate(entries):
            entry_messages = list(_messages(index, entry, _message_prefix(index, entry, used_prefixes), self.warnings))
            places = range(len(messages), len(messages) + len(entry_messages))
            time = seconds_of(dict_of(entry).get("finishedAt"))
            messages += entry_messages
            # A copy has the time of its original, but was made after the summary before it.
            times += [None if dict_of(entry).get(COPY) else time] * len(entry_messages)
            stale_until = len(messages) if dict_of(entry).get(STALE_USAGE) else stale_until
            if not (isinstance(entry, dict) and entry.get("completed") is False):
                completed += places
                if entry_messages and entry_messages[0].kind == "summary" and _replaces_history(entry):
                    stop = next((at for at in places if messages[at].kind != "summary"), places.stop)
                    recorded.append(RecordedSummary(places.start, stop, _version(entry), time))
        messages[:stale_until] = [replace(message, usage=None) for message in messages[:stale_until]]
        self.warnings += [*_silent_drops(entries), *_ignored_summary(messages, recorded)]
        state = dict_of(document.get("agentState"))
        guidelines = (state.get(key) for key in ("userGuidelines", "workspaceGuidelines"))
        return self._session(
            with_user_text(messages, also=("supervisor",)),
            as_text(document.get("customTitle") or document.get("title") or ""),
            epochs=epochs_of(messages, completed, times, recorded),
            id=as_text(document.get("sessionId") or ""),
            model=state["modelId"] if isinstance(state.get("modelId"), str) else None,
            system="\n\n".join(text for text in guidelines if isinstance(text, str) and text),
            memories=as_text(state.get("agentMemories") or ""),
            facts=SessionFacts(
                summary_versions={
                    messages[at].id: one.version for one in recorded if one.version for at in range(one.start, one.stop)
                }
            ),
        )


def _exchange(entry: Any) -> dict[str, Any] | None:
    exchange = entry.get("exchange") if isinstance(entry, dict) else None
    return exchange if isinstance(exchange, dict) else None


def _message_prefix(index: int, entry: Any, used: dict[str, int]) -> str:
    """Return the prefix of an entry's message ids: its request id, or its number if that is missing or used."""
    request_id = (_exchange(entry) or {}).get("request_id")
    return unique_id(
        request_id if isinstance(request_id, str) and request_id and request_id not in used else f"e{index + 1}", used
    )


def _messages(index: int, entry: Any, key: str, warnings: list[LoadWarning]) -> Iterator[Message]:
    source = (index,)
    exchange = _exchange(entry)
    if exchange is None:
        warnings.append(LoadWarning(f"entry {index + 1} of chatHistory has no exchange; shown unchanged"))
        yield Message(f"{key}:request", "user", (Opaque(STRAY, entry),), "meta", source=source)
        return
    flagged = _version(entry) is not None
    summary, request, response = summary_blocks(exchange), request_blocks(exchange), response_blocks(exchange)
    counts = token_usage(exchange)
    if summary:
        yield Message(f"{key}:summary", "user", summary, "summary", source=source)
    kind: Kind = "summary" if flagged else _request_kind(exchange, request)
    if request or not (summary or response or counts):
        role: Role = "tool" if any(isinstance(block, ToolResult) for block in request) else "user"
        yield Message(f"{key}:request", role, tuple(_mark_added_text(exchange, request, kind)), kind, source=source)
    if response or counts:
        text = next((block.text for block in response if isinstance(block, Text)), "")
        resumed = flagged or ((kind == "summary" or not request) and text.startswith(SUMMARY_ANSWERS))
        yield Message(
            f"{key}:response",
            "assistant",
            response,
            "summary" if resumed else "normal",
            time=seconds_of(entry.get("finishedAt")),
            usage=usage_of(counts),
            source=source,
        )


def _mark_added_text(exchange: dict[str, Any], blocks: tuple[Block, ...], kind: Kind) -> Iterator[Block]:
    """Yield a request's blocks; texts that are not in `request_message`, which the user typed, are marked as added by
    the editor or the agent."""
    typed = exchange.get("request_message")
    for block in map(remove_label, blocks):
        if kind == "normal" and isinstance(typed, str) and isinstance(block, Text) and block.text.strip() not in typed:
            yield Text(block.text, injected=True)
        else:
            yield block


def _request_kind(exchange: dict[str, Any], blocks: tuple[Any, ...]) -> Kind:
    """Return the kind of a request: text nodes without a `request_message` come from the agent."""
    if any(isinstance(block, ToolResult) for block in blocks):
        return "normal"
    text = next((block.text for block in blocks if isinstance(block, Text)), "")
    if is_summary(text):
        return "summary"
    return "normal" if exchange.get("request_message") else "meta"


def _version(entry: Any) -> int | None:
    """Return the version of an entry flagged as a summary, 0 without a version; None for an entry without the flag."""
    if not isinstance(entry, dict) or entry.get("isHistorySummary") is not True:
        return None
    version = entry.get("historySummaryVersion")
    return version if type(version) is int and version > 0 else 0


def _replaces_history(entry: Any) -> bool:
    """True for an entry whose summary replaces all earlier entries in requests."""
    request = nodes_of(_exchange(entry), "request_nodes")
    if _version(entry) is not None or any(map(is_summary_node, request)):
        return True
    text = next((block.text for block in request_blocks(_exchange(entry) or {}) if isinstance(block, Text)), "")
    return is_augments_summary(text)


def _ignored_summary(messages: list[Message], recorded: list[RecordedSummary]) -> Iterator[LoadWarning]:
    """Warn when the client ignores the newest summary because its version is older."""
    newest = recorded[-1].version if recorded else None
    current = current_version(one.version for one in recorded if one.version is not None)
    if newest is not None and newest != current:
        entry = messages[recorded[-1].start].source[0] + 1
        yield LoadWarning(
            f"the summary in entry {entry} has version {newest}, which a client of version {current} ignores:"
            " the messages that it replaced are in the context again"
        )


def _silent_drops(entries: list[Any]) -> Iterator[LoadWarning]:
    """Warn where auggie sent much less history than before without a recorded reason."""
    recorded = [
        (number, counts["chat_history_tokens"])
        for number, entry in enumerate(entries, 1)
        if "chat_history_tokens" in (counts := token_usage(_exchange(entry) or {}))
    ]
    for (before, had), (after, has) in pairwise(recorded):
        if had - has < _DROP_TOKENS or has > had * _DROP_SHARE:
            continue
        since = (message for number in range(before, after) for message in _messages(number, entries[number], "", []))
        if not any(message.kind == "summary" for message in since):
            yield LoadWarning(
                f"between exchanges {before} and {after} the history sent fell from {had} to {has} tokens"
                " without a summary: auggie dropped the oldest part without a record"
            )
