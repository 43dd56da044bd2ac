"""Read Letta agent files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from workbench.base.stamps import seconds_of
from workbench.formats.format import Part
from workbench.formats.kit.blocks import arguments_of, as_text, parts_of
from workbench.formats.kit.conversation import MultiSessionDocument
from workbench.formats.kit.jsonl import loads_text
from workbench.formats.kit.several import one_of
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of, word_of
from workbench.formats.letta import ID
from workbench.session import (
    Block,
    Compaction,
    Epoch,
    Kind,
    Media,
    Message,
    Opaque,
    Role,
    Session,
    Text,
    Thinking,
    Tool,
    ToolResult,
    ToolUse,
)
from workbench.session.images import media_of

Item = dict[str, Any]

_ROLES: dict[Any, Role] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
_HIDDEN = ("prior messages", "have been hidden")
"""Phrases in the preamble of a summary."""


class Reader(MultiSessionDocument):
    format = ID
    needs = "has no agent with messages; export an agent of Letta again"
    what = "agent"

    def __init__(self, path: Path, data: bytes) -> None:
        super().__init__(path, data)
        agents = list_of(self.body.get("agents")) if "agents" in self.body else [self.body]
        self.agents = [a for a in agents if isinstance(a, dict) and isinstance(a.get("messages"), list)]

    def parts(self) -> list[Part]:
        found = enumerate(self.agents)
        return [Part(_id(one, n), text_of(one.get("name")), len(list_of(one.get("messages")))) for n, one in found]

    def session(self) -> Session:
        """Read the first agent."""
        if not self.agents:
            raise self.lacking()
        return one_of(len(self.agents), "agent", self.part(_id(self.agents[0], 0)))

    def part(self, id: str) -> Session:
        agent = next(one for n, one in enumerate(self.agents) if _id(one, n) == id)
        items = [dict_of(item) for item in list_of(agent.get("messages"))]
        messages = tuple(_message(n, item, self.unique_id(_own_id(item, n))) for n, item in enumerate(items))
        current = _in_context(agent, items)
        model = dict_of(agent.get("llm_config"))
        window = count_of(model.get("context_window")) or None
        return self._session(
            messages,
            word_of(agent.get("name")),
            epochs=_epochs(messages, current, window),
            id=_id(agent, self.agents.index(agent)),
            model=word_of(model.get("model")),
            system="" if any(messages[n].role == "system" for n in current) else text_of(agent.get("system")),
            tools=tuple(_tools(self.body, agent)),
        )


def _id(agent: Item, number: int) -> str:
    return word_of(agent.get("id")) or f"agent-{number}"


def _own_id(item: Item, number: int) -> str:
    return word_of(item.get("id")) or f"message-{number}"


def _in_context(agent: Item, items: Sequence[Item]) -> list[int]:
    """Return the indexes of the context's messages, in its order: recorded by ids, in older versions by indexes, in the
    first by a flag of each."""
    everything = range(len(items))
    ids = agent.get("in_context_message_ids", agent.get("message_ids"))
    if isinstance(ids, list):
        places = {_own_id(item, n): n for n, item in enumerate(items)}
        return list(dict.fromkeys(places[id] for id in ids if isinstance(id, str) and id in places))
    indices = agent.get("in_context_message_indices")
    if isinstance(indices, list):
        return list(dict.fromkeys(n for n in indices if type(n) is int and n in everything))
    flagged = any("in_context" in item for item in items)
    current = [n for n in everything if not flagged or items[n].get("in_context") is True]
    return sorted(current, key=lambda n: items[n].get("role") != "system")


def _epochs(messages: Sequence[Message], current: Sequence[int], window: int | None) -> tuple[Epoch, ...]:
    """Return the context, and an epoch before it with all removed messages, because the time of removal is not
    recorded. Older versions of the system prompt are in neither."""
    members = [n for n in current if messages[n].blocks]
    removed = [n for n in range(len(messages)) if n not in set(current) and messages[n].role != "system"]
    removed = [n for n in removed if messages[n].kind != "summary" and messages[n].blocks]
    if not removed:
        return (Epoch(1, members, window=window),)
    summary = next((messages[n] for n in current if messages[n].kind == "summary"), None)
    prompt = [n for n in members if messages[n].role == "system"]
    earlier = (n for n in range(removed[-1] + 1) if messages[n].role != "system" and messages[n].kind != "summary")
    before = [*prompt, *(n for n in earlier if messages[n].blocks)]
    ended = Compaction(summary=summary.id, time=summary.time) if summary is not None else Compaction(way="removal")
    return Epoch(1, before, ended, window=window), Epoch(2, members, window=window)


def _message(number: int, item: Item, id: str) -> Message:
    role = _ROLES.get(item.get("role")) if isinstance(item.get("role"), str) else None
    time, source = seconds_of(item.get("created_at")), (number,)
    if role is None:
        return Message(id, "user", (Opaque(as_text(item.get("role") or ""), item),), "meta", time, source=source)
    content = parts_of(item.get("content"), _part)
    calls = tuple(_calls(item))
    kind: Kind = "normal"
    if role == "tool":
        content, results = (), tuple(_results(item, content))
        return Message(id, "tool", results, time=time, source=source)
    if role == "user" and len(content) == 1 and isinstance(content[0], Text):
        content, kind = _unpacked(content[0].text)
    model = word_of(item.get("model")) if role == "assistant" else None
    return Message(id, role, (*content, *calls), kind, time, model=model, source=source)


def _part(part: Any) -> Block:
    item = dict_of(part)
    match item.get("type"):
        case "text":
            return Text(text_of(item.get("text")))
        case "reasoning" | "redacted_reasoning" | "omitted_reasoning" | "summarized_reasoning":
            summary = "\n".join(text_of(dict_of(one).get("text")) for one in list_of(item.get("summary")))
            sealed = item.get("signature") or item.get("data") or item.get("encrypted_content")
            return Thinking(text_of(item.get("reasoning")) or summary, text_of(sealed))
        case "image":
            source = dict_of(item.get("source"))
            return media_of(word_of(source.get("media_type")) or "image", text_of(source.get("data")))
    return Opaque(text_of(item.get("type")), part)


def _calls(item: Item) -> Iterator[ToolUse]:
    for call in map(dict_of, list_of(item.get("tool_calls"))):
        function = dict_of(call.get("function"))
        if isinstance(function.get("name"), str):
            yield ToolUse(as_text(call.get("id") or ""), function["name"], arguments_of(function.get("arguments")))


def _results(item: Item, content: Sequence[Block]) -> Iterator[ToolResult]:
    """Yield the result of a call, or of several that ran in parallel."""
    several = [dict_of(one) for one in list_of(item.get("tool_returns"))]
    if len(several) > 1:
        for one in several:
            text = as_text(one.get("func_response") or "")
            yield ToolResult(text_of(one.get("tool_call_id")), (Text(text),), one.get("status") == "error")
        return
    parts = tuple(part for part in content if isinstance(part, Text | Media))
    failed = dict_of(_decoded("".join(p.text for p in parts if isinstance(p, Text)))).get("status") in _FAILED
    yield ToolResult(text_of(item.get("tool_call_id")), parts, failed)


_FAILED = ("Failed", "error")


def _unpacked(text: str) -> tuple[tuple[Block, ...], Kind]:
    """Return the content of a user message: the user's words in an envelope, or a message of the server to the
    agent."""
    envelope = dict_of(_decoded(text))
    message, kind = envelope.get("message"), envelope.get("type")
    if not isinstance(kind, str):
        return (Text(text),), "normal"
    if kind == "user_message" and isinstance(message, str) and message.strip():
        quoted = json.dumps(message, ensure_ascii=False)[1:-1]
        before, _, after = text.partition(quoted if quoted in text else json.dumps(message)[1:-1])
        return (Text(before, injected=True), Text(message), Text(after, injected=True)), "normal"
    if all(mark in text_of(message) for mark in _HIDDEN):
        return (Text(text),), "summary"
    return (Text(text, injected=True),), "meta"


def _decoded(text: str) -> Any:
    try:
        return loads_text(text) if text.lstrip().startswith("{") else None
    except ValueError:
        return None


def _tools(body: Item, agent: Item) -> Iterator[Tool]:
    """Yield the agent's tools: listed by ids, in older versions inside the agent."""
    ids = {id for id in list_of(agent.get("tool_ids")) if isinstance(id, str)}
    named = [tool for tool in map(dict_of, list_of(body.get("tools"))) if word_of(tool.get("id")) in ids]
    for tool in named or map(dict_of, list_of(agent.get("tools"))):
        if word_of(tool.get("name")):
            yield Tool(tool["name"], as_text(tool.get("json_schema") or {}))
