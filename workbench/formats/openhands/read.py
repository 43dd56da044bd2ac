"""Read OpenHands conversations."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.stamps import seconds_of
from workbench.formats.agent_texts import with_user_text
from workbench.formats.format import Part, Progress, no_progress
from workbench.formats.glance import SessionGlance, with_session_facts
from workbench.formats.kit.api_errors import api_error
from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.document import parse
from workbench.formats.kit.file_ends import ends_of
from workbench.formats.kit.names import first_words
from workbench.formats.kit.several import one_of
from workbench.formats.kit.transcript import Transcript
from workbench.formats.kit.values import count_of, dict_of, dollars_of, list_of, word_of
from workbench.formats.look import Look
from workbench.formats.openhands import ID, is_lines, is_output, is_v1, stores
from workbench.formats.openhands.events import (
    Event,
    EventContent,
    begins_loop,
    content_of,
    continues_loop,
    forgetting_of,
    is_counted,
    key_of,
)
from workbench.formats.openhands.stores import state_of
from workbench.formats.openhands.v1 import OpenHandsFacts, abandoned_events, is_side_event
from workbench.session import (
    Compaction,
    LoadWarning,
    Message,
    Records,
    Session,
    SessionFacts,
    Text,
    Tool,
    Usage,
    Way,
)


class Reader(Transcript):
    """Reader of the events in order. Events and messages are referred to by index.

    view: events that are sent, in order; a condensation stands for its summary. message_of: message of an event.
    batches: first message of a response, by (is sent, response id). joined: further events of a response, by its first
    message. call_of, result_of: id of the call that an event makes, or answers. others: events on abandoned branches.
    parents: ids of events that are the parent of another. billed: usage by response id. loops: tool loops of V1. loop:
    the unfinished one. requested_by: reason of the condensation request that is not yet carried out.
    """

    empty = "a conversation of OpenHands without messages; open another one"

    def __init__(self, path: Path, data: bytes, state: Event) -> None:
        super().__init__(path, Records(data))
        self.state = state
        events, self.warnings = parse(path, data)
        if not isinstance(events, list):
            raise BadInput(f"{path}: is not a list of events; open a trajectory of OpenHands.")
        self.events: list[Any] = events
        self.others = abandoned_events(events, state, self.warnings)
        self.parents = frozenset(as_text(dict_of(event).get("parent_id") or "") for event in events) - {""}
        self.billed = _billed(state)
        self.view: list[int] = []
        self.message_of: dict[int, int] = {}
        self.batches: dict[tuple[bool, str], int] = {}
        self.call_of: dict[int, str] = {}
        self.result_of: dict[int, str] = {}
        self.calls: dict[str, str] = {}
        self.joined: dict[int, list[tuple[EventContent, int]]] = {}
        self.loops: list[set[int]] = []
        self.loop: set[int] | None = None
        self.requested_by = ""

    def finish(self) -> None:
        for place, more in self.joined.items():
            self.messages[place] = _joined(self.messages[place], more)
        self.sent = self.members()
        self.end_epoch()
        metrics = dict_of(dict_of(dict_of(self.state.get("stats")).get("usage_to_metrics")).get("agent"))
        usage = dict_of(metrics.get("accumulated_token_usage"))
        self.window.read(usage.get("context_window") or None, None, self.warnings)  # 0 if unknown
        self.epochs = [replace(epoch, window=self.window.tokens) for epoch in self.epochs]

    def session(self) -> Session:
        llm = dict_of(dict_of(self.state.get("agent")).get("llm"))
        workspace = dict_of(self.state.get("workspace")).get("working_dir")
        newest = next((m.model for m in reversed(self.messages) if m.model), None)
        others = self.others
        return self._session(
            ID,
            with_user_text(self.messages),
            id=as_text(self.state.get("id") or ""),
            title=first_words(self.messages),
            model=llm["model"] if isinstance(llm.get("model"), str) else newest,
            cwd=workspace if isinstance(workspace, str) else None,
            branch=self._branch(),
            tools=_tools([event for n, event in enumerate(self.events) if n not in others]),
            facts=SessionFacts(api_errors=tuple(self.errors), own=OpenHandsFacts(others, any(map(is_v1, self.events)))),
        )

    def members(self) -> list[int]:
        """Return the messages of the view. A message of several events has the position of the first one."""
        found = dict.fromkeys(self.message_of[event] for event in self._paired() if event in self.message_of)
        return [message for message in found if self.messages[message].blocks]

    def _paired(self) -> list[int]:
        """Return the view without what V1 does not send: calls without a result, and results without a call. Unfinished
        calls at the end are kept. A response with several calls, or a tool loop, is sent completely or not at all."""
        view = self.view
        while True:
            shown, ends = set(view), {self.result_of[n] for n in view if n in self.result_of}
            newest = next((n for n in reversed(view) if n not in self.result_of), None)
            running = self.message_of[newest] if newest in self.call_of else None
            broken = {
                self.message_of[n]
                for n, call in self.call_of.items()
                if n not in shown or (call not in ends and self.message_of[n] != running)
            }
            begun = {"", *(call for n, call in self.call_of.items() if self.message_of[n] not in broken)}
            torn = {n for loop in self.loops if not loop <= shown for n in loop}
            left = [n for n in view if self.message_of.get(n) not in broken and self.result_of.get(n, "") in begun]
            left = [n for n in left if n not in torn]
            if len(left) == len(view):
                return left
            view = left

    def _branch(self) -> Sequence[int]:
        """Return the messages that have an event on the active branch."""
        others = self.others
        return self.branch_without({n for n, one in enumerate(self.messages) if others.issuperset(one.source)})

    def take(self, event: Event, index: int, line: int) -> None:
        sent = index not in self.others
        if sent:
            self._follow_loop(index, event)
        if not sent and forgetting_of(event) is not None:
            return
        if event.get("kind") == "ConversationErrorEvent":
            id = as_text(event.get("id") or f"event-{index + 1}")
            self.errors.append(api_error(id, event, seconds_of(event.get("timestamp"))))
            return
        if event.get("kind") == "CondensationRequest" or event.get("action") == "condensation_request":
            self.requested_by = as_text(event.get("reason") or "request")
            return
        if forgetting_of(event) is not None:
            self._condense(index, event)
            return
        if sent and is_counted(event):
            self.view.append(index)
        content = content_of(event, self.calls)
        if content is None:
            return
        if sent and is_v1(event) and content.call:
            (self.call_of if content.role == "assistant" else self.result_of)[index] = content.call
        batch = (sent, content.batch)
        earlier = self.batches.get(batch) if content.batch else None
        if earlier is not None and content.role == "assistant":
            self.message_of[index] = earlier
            self.joined.setdefault(earlier, []).append((content, index))
            return
        if content.batch:
            self.batches[batch] = len(self.messages)
            content = replace(content, usage=content.usage or self.billed.get(content.batch))
        self._add_message(index, event, content)

    def _follow_loop(self, index: int, event: Event) -> None:
        """Add the event to the unfinished tool loop, or begin or end one. A state update that is no event's parent in
        the tree does not end a loop."""
        if begins_loop(event):
            self.loop = set()
            self.loops.append(self.loop)
        elif not continues_loop(event):
            hangs = is_side_event(event) and self.parents and key_of(event) not in self.parents
            self.loop = self.loop if hangs else None
            return
        if self.loop is not None:
            self.loop.add(index)

    def _add_message(self, index: int, event: Event, content: EventContent) -> None:
        id = self.unique_id(key_of(event) or f"e{index + 1}")
        time = seconds_of(event.get("timestamp"))
        message = Message(
            id, content.role, content.blocks, content.kind, time, content.usage, content.model, source=(index,)
        )
        self.message_of[index] = self.add(message)

    def _condense(self, index: int, event: Event) -> None:
        """Apply a condensation to the view, and begin an epoch."""
        forgetting = forgetting_of(event)
        assert forgetting is not None
        before = self.members()
        summary = None
        v1 = is_v1(event)
        view = [e for e in self.view if _key_in_view(self.events[e]) not in forgetting.forgotten]
        # V1 omits a summary without an offset, and keeps an older one that is not forgotten; V0 has only one.
        if forgetting.summary and (forgetting.offset is not None or not v1):
            view = view if v1 else [e for e in view if forgetting_of(self.events[e]) is None]
            offset = len(view) if forgetting.offset is None else max(0, min(forgetting.offset, len(view)))
            view.insert(offset, index)
            self._add_message(index, event, EventContent("user", (Text(forgetting.summary),), "summary"))
            summary = self.messages[-1].id
        if before:
            self.sent = before
            way: Way = "summary" if summary else "removal"
            ended_by = Compaction(self.requested_by or "auto", None, summary, seconds_of(event.get("timestamp")), way)
            self.end_epoch(ended_by)
        self.view, self.requested_by = view, ""


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read a list of events, or the first run in the output of an evaluation. Raises BadInput if there is none."""
    look = Look.of(data)
    if is_lines(look):
        events, warnings = stores.listed(data)
        session = _session(path, events, progress, {})
        return replace(session, warnings=(*warnings, *session.warnings))
    if not is_output(look):
        return _session(path, data, progress, {})
    runs = sessions_in(path, data)
    if not runs:
        raise BadInput(f"{path}: no line of this evaluation has a history; open one that has.")
    return one_of(len(runs), "run", read_part(path, data, runs[0].id, progress))


def sessions_in(path: Path, data: bytes) -> tuple[Part, ...]:
    """Return the runs of an evaluation's output; empty for a list of events, which is one conversation."""
    return stores.runs_in(data) if is_output(Look.of(data)) else ()


def read_part(path: Path, data: bytes, part_id: str, progress: Progress) -> Session:
    """Read one run of an evaluation's output. Raises BadInput if there is no such run."""
    events, about = stores.run_of(path, data, part_id)
    session = _session(path, events, progress, {"id": stores.name_of(about)})
    facts = replace(session.facts, cost=session.facts.cost or stores.cost_of(about))
    return replace(session, model=session.model or stores.model_of(about), facts=facts)


def read_folder(path: Path, progress: Progress) -> Session:
    """Read a conversation of V0 or V1. Its events become one list, the session's records. Raises BadInput."""
    events, state = stores.events_of(path), stores.state_of(path)
    session = _session(path, events, progress, {"id": path.name, **(state or {})})
    if state is not None:
        own = replace(session.facts.own, state=state) if isinstance(session.facts.own, OpenHandsFacts) else None
        return replace(session, facts=replace(session.facts, own=own))
    warning = LoadWarning("base_state.json cannot be read: model and working folder are unknown")
    return replace(session, warnings=(warning, *session.warnings))


def _session(path: Path, data: bytes, progress: Progress, state: Event) -> Session:
    progress(0, len(data))
    reader = Reader(path, data, state)
    for index, event in enumerate(reader.events):
        if isinstance(event, dict):
            reader.take(event, index, index + 1)
        else:
            reader.warn(f"event {index + 1} is not an object; kept in the file, not shown")
    reader.finish()
    progress(len(data), len(data))
    return reader.session()


def _billed(state: Event) -> dict[str, Usage]:
    """Return the usage in base_state.json by response id. The file lists costs separately, in the same order."""
    billed: dict[str, Usage] = {}
    for metrics in map(dict_of, dict_of(dict_of(state.get("stats")).get("usage_to_metrics")).values()):
        usages, costs = list_of(metrics.get("token_usages")), list_of(metrics.get("costs"))
        dollars = [dict_of(cost).get("cost") for cost in costs] if len(costs) == len(usages) else [None] * len(usages)
        for usage, cost in zip(map(dict_of, usages), dollars, strict=True):
            prompt, read, written, output = (
                count_of(usage.get(f"{key}_tokens")) for key in ("prompt", "cache_read", "cache_write", "completion")
            )
            id = word_of(usage.get("response_id"))
            if id and prompt:
                billed[id] = Usage(max(prompt - read - written, 0), output, read, written, cost=dollars_of(cost))
    return billed


def _joined(message: Message, more: list[tuple[EventContent, int]]) -> Message:
    """Return a response with the calls of its further events. Their texts are left out, because V0 repeats the
    response's text in each."""
    calls = (block for content, _ in more for block in content.blocks if not isinstance(block, Text))
    source = (*message.source, *(index for _, index in more))
    return replace(message, blocks=(*message.blocks, *calls), source=source)


def _key_in_view(event: Event) -> str:
    """Return the id under which a condensation lists an event as forgotten. An earlier V1 condensation is listed under
    the id of its summary."""
    return f"{key_of(event)}-summary" if is_v1(event) and forgetting_of(event) is not None else key_of(event)


def _tools(events: list[Any]) -> tuple[Tool, ...]:
    """Return the tool definitions sent with the newest system prompt."""
    for event in reversed(events):
        defined = dict_of(event).get("tools") or dict_of(dict_of(event).get("args")).get("tools")
        if isinstance(defined, list):
            named = [tool for tool in defined if isinstance(tool, dict)]
            return tuple(Tool(_tool_name(tool), as_text(tool)) for tool in named)
    return ()


def _tool_name(tool: Event) -> str:
    return as_text(tool.get("title") or tool.get("name") or dict_of(tool.get("function")).get("name") or "")


_EVENTS = 20
"""Events read at each end."""


def glance(path: Path) -> SessionGlance | None:
    """Return the conversation in a folder; None for a file. Raises BadInput for one without events; OSError."""
    if not path.is_dir():
        return None
    with os.scandir(path / "events") as entries:
        names = (entry.name for entry in entries if entry.name.endswith(".json"))
        events = sorted(names, key=lambda name: (len(name), name))  # numbers, with zeros before them or without
    chosen = events if len(events) <= 2 * _EVENTS else [*events[:_EVENTS], *events[-_EVENTS:]]
    ends = [ends_of(path / "events" / name) for name in chosen]
    if not ends:
        raise BadInput("This conversation has no events yet.")
    is_whole = len(chosen) == len(events) and all(one.is_whole for one in ends)
    parts = [(one.head + one.tail).strip() for one in ends if one.is_whole]
    size = sum(one.size for one in ends) * len(events) // len(chosen)
    found = SessionGlance(path, size, max(one.time for one in ends), ID, "OpenHands conversation")
    session = read(path, b"[\n" + b",\n".join(parts) + b"\n]\n", no_progress)
    found = with_session_facts(found, session, is_whole=is_whole)
    workspace = dict_of(dict_of(state_of(path)).get("workspace")).get("working_dir")
    return replace(found, folder=word_of(workspace) or found.folder)
