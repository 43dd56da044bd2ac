"""Reading: Augment CLI session."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

from workbench.base.stamps import seconds_of
from workbench.formats.agent_texts import is_summary, with_user_text
from workbench.formats.augment.nodes import (
    STRAY,
    is_summary_node,
    nodes_of,
    request_blocks,
    response_blocks,
    summary_blocks,
    token_usage,
    unlabelled,
    usage_of,
)
from workbench.formats.augment.signature import ID
from workbench.formats.augment.summaries import Recorded, current_version, epochs_of
from workbench.formats.augment.texts import RESUMED, is_supervisors
from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.conversation import Document
from workbench.formats.kit.ids import unique_id
from workbench.formats.kit.mark import COPY, SPENT
from workbench.formats.kit.values import dict_of
from workbench.session.message import Block, Kind, Message, Opaque, Role, Text, ToolResult
from workbench.session.session import LoadWarning, Session, SessionFacts

_FALL_TOKENS, _FALL_SHARE = 5_000, 2 / 3
"""A fall of the history sent that calls for an explanation: by so many tokens, and to less than this share."""


class Reader(Document):
    """What the summaries of a history make of it; exchanges that did not complete are in the file view alone."""

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
        spent = 0
        recorded: list[Recorded] = []
        keys: dict[str, int] = {}
        for index, entry in enumerate(entries):
            found = list(_messages(index, entry, _key(index, entry, keys), self.warnings))
            here = range(len(messages), len(messages) + len(found))
            time = seconds_of(dict_of(entry).get("finishedAt"))
            messages += found
            # A copy was not there when the summary before it was made, whatever its time.
            times += [None if dict_of(entry).get(COPY) else time] * len(found)
            spent = len(messages) if dict_of(entry).get(SPENT) else spent
            if not (isinstance(entry, dict) and entry.get("completed") is False):
                completed += here
                if found and found[0].kind == "summary" and _replaces_history(entry):
                    stop = next((at for at in here if messages[at].kind != "summary"), here.stop)
                    recorded.append(Recorded(here.start, stop, _version(entry), time))
        messages[:spent] = [replace(message, usage=None) for message in messages[:spent]]
        self.warnings += [*_silent_drops(entries), *_left_out(messages, recorded)]
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


def _key(index: int, entry: Any, taken: dict[str, int]) -> str:
    """What the ids of an entry's messages begin with: its request id, its number where that is missing or taken."""
    named = (_exchange(entry) or {}).get("request_id")
    return unique_id(named if isinstance(named, str) and named and named not in taken else f"e{index + 1}", taken)


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
        yield Message(f"{key}:request", role, tuple(_own_and_put(exchange, request, kind)), kind, source=source)
    if response or counts:
        said = next((block.text for block in response if isinstance(block, Text)), "")
        resumed = flagged or ((kind == "summary" or not request) and said.startswith(RESUMED))
        yield Message(
            f"{key}:response",
            "assistant",
            response,
            "summary" if resumed else "normal",
            time=seconds_of(entry.get("finishedAt")),
            usage=usage_of(counts),
            source=source,
        )


def _own_and_put(exchange: dict[str, Any], blocks: tuple[Block, ...], kind: Kind) -> Iterator[Block]:
    """A request's blocks: a text node that `request_message`, what the person typed, does not hold was put there by the
    editor or the agent."""
    typed = exchange.get("request_message")
    for block in map(unlabelled, blocks):
        if kind == "normal" and isinstance(typed, str) and isinstance(block, Text) and block.text.strip() not in typed:
            yield Text(block.text, injected=True)
        else:
            yield block


def _request_kind(exchange: dict[str, Any], blocks: tuple[Any, ...]) -> Kind:
    """A request is the user's when `request_message` says so: text nodes alone were put there by the agent."""
    if any(isinstance(block, ToolResult) for block in blocks):
        return "normal"
    text = next((block.text for block in blocks if isinstance(block, Text)), "")
    if is_summary(text):
        return "summary"
    return "normal" if exchange.get("request_message") else "meta"


def _version(entry: Any) -> int | None:
    """The version of an entry that is flagged as a summary, 0 where it has none; None for one that is not flagged."""
    if not isinstance(entry, dict) or entry.get("isHistorySummary") is not True:
        return None
    version = entry.get("historySummaryVersion")
    return version if type(version) is int and version > 0 else 0


def _replaces_history(entry: Any) -> bool:
    """Whether the client sends nothing that stands before this entry, which holds a summary."""
    request = nodes_of(_exchange(entry), "request_nodes")
    if _version(entry) is not None or any(map(is_summary_node, request)):
        return True
    text = next((block.text for block in request_blocks(_exchange(entry) or {}) if isinstance(block, Text)), "")
    return is_supervisors(text)


def _left_out(messages: list[Message], recorded: list[Recorded]) -> Iterator[LoadWarning]:
    """A newest summary that the client sends no more, because it is of an older version."""
    newest = recorded[-1].version if recorded else None
    current = current_version(one.version for one in recorded if one.version is not None)
    if newest is not None and newest != current:
        entry = messages[recorded[-1].start].source[0] + 1
        yield LoadWarning(
            f"the summary in entry {entry} has version {newest}, which a client of version {current} ignores:"
            " the messages that it replaced are in the context again"
        )


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
                f"between exchanges {before} and {after} the history sent fell from {had} to {has} tokens"
                " without a summary: auggie dropped the oldest part without a record"
            )
