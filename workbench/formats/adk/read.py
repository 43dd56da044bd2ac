"""Read Google ADK sessions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.stamps import seconds_of
from workbench.formats.adk import ID, either
from workbench.formats.adk.view import (
    CALLS,
    AgentEvents,
    AgentView,
    compaction_of,
    events_sent_to,
    last_speaker,
    others_in,
    speaker_of,
)
from workbench.formats.agent_texts import kind_of, with_user_text
from workbench.formats.format import Part, Progress
from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.document import Item, parse
from workbench.formats.kit.marks import marked
from workbench.formats.kit.names import first_words, unique_id
from workbench.formats.kit.usage import usage_of_prompt
from workbench.formats.kit.values import count_of, dict_of, list_of, word_of
from workbench.session.images import media_of
from workbench.session.message import Block, Media, Message, Opaque, Role, Text, Thinking, ToolResult, ToolUse, Usage
from workbench.session.session import Compaction, Epoch, LoadWarning, Records, Session, SessionFacts


@dataclass(slots=True)
class Reader:
    """Reader of one agent's context: its messages read so far."""

    others: frozenset[int]
    """Indexes of events by agents other than the one whose context is read."""
    messages: list[Message] = field(default_factory=list)
    message_of: dict[int, int] = field(default_factory=dict)
    """Message index by event index."""
    open_calls: dict[str, list[str]] = field(default_factory=dict)
    """Ids of unanswered calls by the tool's name."""
    nameless: set[str] = field(default_factory=set)
    ids: dict[str, int] = field(default_factory=dict)

    def members(self, view: AgentEvents) -> list[int]:
        return [self.message_of[index] for index in view.order if index in self.message_of]

    def message(self, index: int, event: Item) -> Message | None:
        """Return the message of an event; None for an event without content, or with part of a stream."""
        compaction = compaction_of(event)
        content = dict_of(either(compaction, "compacted_content") if compaction else event.get("content"))
        parts = content.get("parts")
        if not isinstance(parts, list) or not parts or event.get("partial") is True:
            return None
        id = unique_id(word_of(event.get("id")) or f"event-{index + 1}", self.ids)
        time = seconds_of(event.get("timestamp"))
        if index in self.others:
            texts = tuple(_as_user_text(event, parts))
            return Message(id, "user", texts, "meta", time, source=(index,)) if len(texts) > 1 else None
        metadata = dict_of(either(event, "custom_metadata"))
        recorded_ids = (name for name in list_of(metadata.get(CALLS)) if isinstance(name, str))
        blocks = tuple(self.part(part, f"{id}.{n}", recorded_ids) for n, part in enumerate(parts))
        role: Role = "assistant" if content.get("role", "model") != "user" else "user"
        if not compaction and event.get("author") == "user":
            role = "user"
        if any(isinstance(block, ToolResult) for block in blocks):
            role = "tool"
        recorded_kind = marked(metadata)
        return Message(
            id,
            role,
            blocks,
            "summary" if compaction else recorded_kind or kind_of(role, blocks),
            time,
            _usage(dict_of(either(event, "usage_metadata"))),
            word_of(either(event, "model_version")),
            (index,),
        )

    def part(self, part: Any, id: str, recorded_ids: Iterator[str]) -> Block:
        if not isinstance(part, dict):
            return Opaque(type(part).__name__, part)
        if isinstance(part.get("text"), str):
            signature = word_of(either(part, "thought_signature")) or ""
            return Thinking(part["text"], signature) if part.get("thought") is True else Text(part["text"])
        call, response = either(part, "function_call"), either(part, "function_response")
        if isinstance(call, dict) and isinstance(call.get("name"), str):
            call_id = word_of(call.get("id")) or next(recorded_ids, f"{call['name']}-{id}")
            self.nameless.update(() if word_of(call.get("id")) else (call_id,))
            self.open_calls.setdefault(call["name"], []).append(call_id)
            input = call.get("args")
            return ToolUse(
                call_id, call["name"], input if isinstance(input, dict) else {} if input is None else as_text(input)
            )
        if isinstance(response, dict):
            open_calls = self.open_calls.get(as_text(response.get("name")), [])
            call_id = word_of(response.get("id")) or (
                open_calls[0] if open_calls else f"{as_text(response.get('name'))}-{id}"
            )
            self.nameless.update(() if word_of(response.get("id")) else (call_id,))
            if call_id in open_calls:
                open_calls.remove(call_id)
            return _result(call_id, response.get("response"))
        if media := _media(part):
            return media
        return Opaque(next((key for key in part if key not in ("thought", "thought_signature")), ""), part)


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read the context of the agent that spoke last. Raises BadInput when the session has no events."""
    return _session(path, data, "", progress)


def sessions_in(path: Path, data: bytes) -> tuple[Part, ...]:
    """Agents of a session with the number of their own events; empty unless several speak."""
    speakers = Counter(speaker for event in _events(path, data)[1] if (speaker := speaker_of(event)))
    titles = {agent: f"as sent to {agent}" for agent in speakers}
    return tuple(Part(agent, titles[agent], count) for agent, count in speakers.items()) if len(speakers) > 1 else ()


def read_part(path: Path, data: bytes, part_id: str, progress: Progress) -> Session:
    """Read the context of one agent. Raises BadInput when no agent of that name speaks."""
    if part_id not in {part.id for part in sessions_in(path, data)}:
        raise BadInput(f"{path} has no agent {part_id!r}; choose a listed one.")
    return _session(path, data, part_id, progress)


def _events(path: Path, data: bytes) -> tuple[Item, list[Any], list[LoadWarning]]:
    document, warnings = parse(path, data)
    body = dict_of(document)
    events = body.get("events")
    if not isinstance(events, list):
        raise BadInput(f"{path}: has no list of events; open a session that ADK saved.")
    return body, events, warnings


def _session(path: Path, data: bytes, agent: str, progress: Progress) -> Session:
    progress(0, len(data))
    body, events, warnings = _events(path, data)
    warnings += [
        LoadWarning(f"event {n} is not an object; it is not shown")
        for n, event in enumerate(events, 1)
        if not isinstance(event, dict)
    ]
    chosen = agent or last_speaker(events)
    reader = Reader(others_in(events, chosen))
    for index, event in enumerate(map(dict_of, events)):
        if message := reader.message(index, event):
            reader.message_of[index] = len(reader.messages)
            reader.messages.append(message)
    agents = sessions_in(path, data)
    if agents and not agent:
        text = f"{len(agents)} agents in the file; shown: the context of {chosen}, the last active one"
        warnings.append(LoadWarning(text))
    current = events_sent_to(chosen, events)
    epochs: list[Epoch] = []
    for index in current.compactions:
        before = reader.members(events_sent_to(chosen, events[:index]))
        message = reader.messages[reader.message_of[index]] if index in reader.message_of else None
        if before and message:
            epochs.append(Epoch(len(epochs) + 1, before, Compaction(summary=message.id, time=message.time)))
    progress(len(data), len(data))
    everything = range(len(reader.messages))
    branch = [reader.message_of[index] for index in sorted(current.live) if index in reader.message_of]
    return Session(
        format=ID,
        path=path,
        messages=with_user_text(reader.messages),
        branch=branch if len(branch) < len(everything) else everything,
        epochs=(*epochs, Epoch(len(epochs) + 1, reader.members(current))),
        records=Records(data),
        id=word_of(body.get("id")) or "",
        title=first_words(reader.messages),
        model=next((m.model for m in reversed(reader.messages) if m.model), None),
        warnings=tuple(warnings),
        facts=SessionFacts(
            unread=tuple(_unread(events, reader.messages)),
            own=AgentView(chosen, frozenset(reader.nameless), bool(agent)),
        ),
    )


def _unread(events: Sequence[Any], messages: Sequence[Message]) -> list[int]:
    """Indexes of events without a message, except rewinds: in a new list they have nothing left to rewind."""
    with_message = {index for message in messages for index in message.source}
    rewinds = "rewind_before_invocation_id"
    return [
        n
        for n, e in enumerate(events)
        if n not in with_message and not either(dict_of(dict_of(e).get("actions")), rewinds)
    ]


def _as_user_text(event: Item, parts: Sequence[Any]) -> Iterator[Text | Media]:
    """Yield another agent's texts and calls as ADK sends them to this agent: as user text, without thoughts."""
    author = as_text(event.get("author") or "")
    yield Text("For context:", injected=True)
    for part in map(dict_of, parts):
        call, response = dict_of(either(part, "function_call")), dict_of(either(part, "function_response"))
        if part.get("thought") is True:
            continue
        if isinstance(part.get("text"), str) and part["text"].strip():
            yield Text(f"[{author}] said: {part['text']}", injected=True)
        elif call:
            input = call.get("args")
            args = dict(sorted(input.items())) if isinstance(input, dict) else input
            yield Text(f"[{author}] called tool `{call.get('name')}` with parameters: {args}", injected=True)
        elif response:
            text = f"[{author}] `{response.get('name')}` tool returned result: {response.get('response')}"
            yield Text(text, injected=True)
        elif media := _media(part):
            yield media


def _media(part: Item) -> Media | None:
    for key in ("inline_data", "file_data"):
        holder = either(part, key)
        if isinstance(holder, dict):
            return media_of(word_of(either(holder, "mime_type")) or "file", as_text(holder.get("data") or ""))
    return None


def _usage(counts: Item) -> Usage | None:
    sent, cached, output, thought = (
        count_of(either(counts, key))
        for key in (
            "prompt_token_count",
            "cached_content_token_count",
            "candidates_token_count",
            "thoughts_token_count",
        )
    )
    return usage_of_prompt(sent, output + thought, cached)


def _result(call_id: str, response: Any) -> ToolResult:
    """Return a result: ADK wraps a value that is no object in `result`, and a tool's failure in `error`."""
    failed = isinstance(response, dict) and response.keys() == {"error"}
    if isinstance(response, dict) and len(response) == 1 and response.keys() <= {"result", "error"}:
        response = next(iter(response.values()))
    text = "" if response in (None, {}) else as_text(response)
    return ToolResult(call_id, (Text(text),) if text else (), failed)
