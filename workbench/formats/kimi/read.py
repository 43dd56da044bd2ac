"""Reading: Kimi Code's journal, record by record as its own loader folds it into the context."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.stamps import seconds_of
from workbench.formats.agent_texts import with_user_text
from workbench.formats.format import Progress
from workbench.formats.kimi.context import read_context
from workbench.formats.kimi.parts import blocks_of, result_of
from workbench.formats.kimi.signature import ID, is_context
from workbench.formats.kimi.survivors import ELIDED, Survivor, survivors_of
from workbench.formats.kit.document import beside
from workbench.formats.kit.ids import unique_id
from workbench.formats.kit.jsonl import left_out, objects_of, records_of
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of
from workbench.formats.look import Look
from workbench.session import (
    Block,
    Compaction,
    Epoch,
    Kind,
    LoadWarning,
    Message,
    Records,
    Session,
    SessionFacts,
    Text,
    Tool,
    ToolResult,
    ToolUse,
    Usage,
)

_INTERRUPTED = (
    "Tool execution was interrupted before its result was recorded. Do not assume the tool completed successfully."
)
_GOES_ON = (
    "<system-reminder>\nContext compaction is complete — continue the work that was in progress when it began.\n"
    "</system-reminder>"
)
"""What the tool puts behind a summary; it is sent, and recorded nowhere."""


@dataclass(slots=True)
class _Step:
    """An answer while its parts come in. `place` is where it stands in the context."""

    id: str
    place: int
    blocks: list[Block] = field(default_factory=list)
    source: list[int] = field(default_factory=list)
    time: float | None = None


@dataclass(slots=True)
class _Reading:
    """What has been read so far. `context` are the numbers of the messages that the model would be sent now; `origins`
    says of each message who wrote it."""

    records: Records
    messages: list[Message] = field(default_factory=list)
    ids: dict[str, int] = field(default_factory=dict)
    origins: list[dict[str, Any]] = field(default_factory=list)
    context: list[int] = field(default_factory=list)
    undone: set[int] = field(default_factory=set)
    epochs: list[Epoch] = field(default_factory=list)
    warnings: list[LoadWarning] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)
    step: _Step | None = None
    pending: dict[str, str] = field(default_factory=dict)
    waiting: list[tuple[Message, dict[str, Any]]] = field(default_factory=list)
    trigger: str = ""
    model: str | None = None
    system: str = ""
    tools: tuple[Tool, ...] = ()
    tokens: int | None = None

    def add(self, message: Message, origin: dict[str, Any]) -> int:
        self.messages.append(replace(message, id=unique_id(message.id, self.ids)))
        self.origins.append(origin)
        self.context.append(len(self.messages) - 1)
        return self.context[-1]


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read the journal of one agent, or the context that Kimi CLI kept. Raises BadInput when it holds no message."""
    if is_context(Look.of(data)):
        return read_context(path, data, progress)
    reading = _Reading(Records(data))
    for value, index, line in objects_of(records_of(data), len(data), reading.records, reading.warnings, progress):
        _take(reading, value, index, line)
    if not reading.messages:
        raise BadInput(f"{path} is a journal of Kimi Code without messages; open another session's wire.jsonl.")
    _settle(reading)
    for message, origin in reading.waiting:
        reading.add(message, origin)
    reading.warnings += left_out("records", reading.unknown)
    members = array("q", reading.context)
    about = beside(path.absolute().parent.parent.parent / "state.json")
    return Session(
        ID,
        path,
        with_user_text(reading.messages),
        reading.records,
        [number for number in range(len(reading.messages)) if number not in reading.undone],
        (*reading.epochs, Epoch(len(reading.epochs) + 1, members)),
        id=_id(path),
        title=text_of(about.get("title")),
        model=reading.model,
        cwd=text_of(about.get("cwd") or about.get("workDir")) or None,
        system=reading.system,
        tools=reading.tools,
        warnings=tuple(reading.warnings),
        facts=SessionFacts(tokens_now=reading.tokens, agent="" if path.parent.name == "main" else path.parent.name),
    )


def _take(reading: _Reading, value: dict[str, Any], index: int, line: int) -> None:
    kind = text_of(value.get("type"))
    time = seconds_of(value.get("time"))
    match kind:
        case "context.append_message":
            _message(reading, dict_of(value.get("message")), index, time)
        case "context.append_loop_event":
            _event(reading, dict_of(value.get("event")), index, time)
        case "context.apply_compaction":
            _compaction(reading, value, index, line, time)
        case "context.clear":
            _close(reading)
            _end(reading, Compaction("clear", reading.tokens, None, time, way="removal"))
        case "context.undo":
            _undo(reading, count_of(value.get("count")))
        case "full_compaction.begin":
            reading.trigger = text_of(value.get("source"))
        case "profile.bind" | "config.update":
            reading.system = text_of(value.get("systemPrompt")) or reading.system
        case "llm.tools_snapshot":
            tools = [dict_of(tool) for tool in list_of(value.get("tools"))]
            reading.tools = tuple(Tool(text_of(tool.get("name")), _compact(tool)) for tool in tools)
        case "llm.request":
            reading.model = text_of(value.get("model")) or reading.model
        case "token_counting.measured" | "token_counting.rebased":
            reading.tokens = count_of(value.get("tokens")) or reading.tokens
        case _ if not kind.startswith(_SILENT):
            reading.unknown[kind or "?"] += 1


_SILENT = (
    "metadata", "runtime.", "permission.", "agent.", "turn.", "prompt.", "plugin.", "usage.", "token_counting.",
    "full_compaction.", "tools.", "goal.", "background.", "task.", "session.", "todo.", "mcp.", "hook.", "plan", "llm.",
    "context.spliced", "context.undone", "cron", "swarm", "skill",
)  # fmt: skip
"""Records that say nothing about the conversation, or say again what another record says, begin so."""


def _message(reading: _Reading, body: dict[str, Any], index: int, time: float | None) -> None:
    origin = dict_of(body.get("origin"))
    role = body.get("role")
    blocks = blocks_of(body.get("content"))
    if not blocks or role not in ("user", "assistant", "tool", "system"):
        return
    id = text_of(body.get("id")) or f"record-{index + 1}"
    kind: Kind = "normal"
    if role == "user" and text_of(origin.get("kind")) not in _OWN:
        kind = "meta"
        blocks = tuple(Text(one.text, injected=True) if isinstance(one, Text) else one for one in blocks)
    if role == "assistant" and _is_copy(reading, blocks):
        return
    message = Message(id, role, blocks, kind, time, source=(index,))
    if reading.pending:
        reading.waiting.append((message, origin))
    else:
        reading.add(message, origin)


_OWN = ("", "user", "skill_activation", "plugin_command")
"""Who writes a message for the person: she, or a command of hers. Everything else is put in by the tool."""


def _is_copy(reading: _Reading, blocks: Sequence[Block]) -> bool:
    """Journals of protocol 1.1 write an answer down once more when its step has ended."""
    last = reading.messages[reading.context[-1]] if reading.context else None
    return last is not None and last.role == "assistant" and tuple(last.blocks) == tuple(blocks)


def _event(reading: _Reading, event: dict[str, Any], index: int, time: float | None) -> None:
    match event.get("type"):
        case "step.begin":
            _settle(reading)
            id = text_of(event.get("uuid")) or f"record-{index + 1}"
            number = reading.add(Message(id, "assistant", (), time=time), {})
            reading.step = _Step(id, number, source=[index], time=time)
        case "content.part" if _is_open(reading, event):
            _say(reading, blocks_of([event.get("part")]), index)
        case "tool.call" if _is_open(reading, event):
            call = text_of(event.get("toolCallId"))
            given = event.get("args")
            arguments = given if isinstance(given, dict) else "" if given is None else _compact(given)
            _say(reading, (ToolUse(call, text_of(event.get("name")), arguments),), index)
            reading.pending[call] = text_of(event.get("name"))
        case "tool.result":
            _result(reading, event, index, time)
        case "step.end" if event.get("finishReason") not in ("interrupted", "error"):
            _settle(reading, _usage(event.get("usage")))


def _is_open(reading: _Reading, event: dict[str, Any]) -> bool:
    return reading.step is not None and event.get("stepUuid") in (None, reading.step.id)


def _say(reading: _Reading, blocks: Sequence[Block], index: int) -> None:
    step = reading.step
    assert step is not None
    step.blocks += blocks
    step.source.append(index)
    _draw(reading, step)


def _draw(reading: _Reading, step: _Step, usage: Usage | None = None) -> None:
    made = reading.messages[step.place]
    blocks, source = tuple(step.blocks), tuple(step.source)
    reading.messages[step.place] = replace(made, blocks=blocks, usage=usage, model=reading.model, source=source)


def _result(reading: _Reading, event: dict[str, Any], index: int, time: float | None) -> None:
    call = text_of(event.get("toolCallId"))
    if call not in reading.pending:
        return
    result = result_of(call, reading.pending.pop(call), dict_of(event.get("result")))
    reading.add(Message(f"{call}:{index + 1}", "tool", (result,), time=time, source=(index,)), {})
    _flush(reading)


def _settle(reading: _Reading, usage: Usage | None = None) -> None:
    """Close the open step as the loader does: calls that got no result are answered so, an empty answer is dropped."""
    _close(reading)
    step, reading.step = reading.step, None
    if step is None:
        return
    if any(not isinstance(block, Text) or block.text.strip() for block in step.blocks):
        _draw(reading, step, usage)
    elif step.place in reading.context:
        reading.context.remove(step.place)


def _close(reading: _Reading) -> None:
    for call in reading.pending:
        result = ToolResult(call, (Text(_INTERRUPTED),), is_error=True)
        reading.add(Message(f"{call}:interrupted", "tool", (result,)), {})
    reading.pending.clear()
    _flush(reading)


def _flush(reading: _Reading) -> None:
    if not reading.pending:
        for message, origin in reading.waiting:
            reading.add(message, origin)
        reading.waiting.clear()


def _compaction(reading: _Reading, value: dict[str, Any], index: int, line: int, time: float | None) -> None:
    """The person's own messages stay, word for word, before the summary. In old journals the newest messages stay
    behind it instead."""
    given = value.get("contextSummary") or value.get("summary")
    summary = tuple(blocks_of(dict_of(given).get("content") if isinstance(given, dict) else given))
    if not summary:
        reading.warnings.append(LoadWarning("holds a compaction without a summary; left out", line))
        return
    _settle(reading)
    kept = value.get("keptUserMessageCount")
    cut = count_of(value.get("compactedCount") or value.get("count"))
    id = f"compaction-{index + 1}"
    before, after = count_of(value.get("tokensBefore")) or reading.tokens, count_of(value.get("tokensAfter")) or None
    held = list(reading.context)
    own = [number for number in held if _is_own(reading, number)]
    survivors = survivors_of([reading.messages[number] for number in own])
    keeps_own = type(kept) is int and value.get("legacyTail") is not True
    whole = [own[place] for place, text in (*survivors.head, *survivors.tail) if text is None]
    names = tuple(reading.messages[number].id for number in (whole if keeps_own else held[cut:]))
    _end(reading, Compaction(reading.trigger, before, id, time, tokens_after=after, kept=names))
    told = Message(id, "user", summary, "summary", time, source=(index,))
    if not keeps_own:
        reading.add(told, {"kind": "compaction_summary"})
        reading.context += held[cut:]
        return
    _keep(reading, own, survivors.head)
    if survivors.omitted is not None:
        note = Text(ELIDED.format(survivors.omitted), injected=True)
        reading.add(Message(f"{id}:omitted", "user", (note,), "meta"), {"kind": "injection"})
    _keep(reading, own, survivors.tail)
    reading.add(told, {"kind": "compaction_summary"})
    reading.add(Message(f"{id}:next", "user", (Text(_GOES_ON, injected=True),), "meta"), {"kind": "injection"})


def _keep(reading: _Reading, own: Sequence[int], survivors: Sequence[Survivor]) -> None:
    """Put the messages that stay into the new context; one that was cut is a message of its own there."""
    for place, text in survivors:
        whole = reading.messages[own[place]]
        if text is None:
            reading.context.append(own[place])
        else:
            cut = Message(f"{whole.id}~cut-{len(reading.messages)}", "user", (Text(text),), time=whole.time)
            reading.add(cut, reading.origins[own[place]])


def _is_own(reading: _Reading, number: int) -> bool:
    origin = reading.origins[number]
    kind = text_of(origin.get("kind"))
    by_command = kind in ("skill_activation", "plugin_command") and origin.get("trigger") == "user-slash"
    return reading.messages[number].role == "user" and (kind in ("", "user") or by_command)


def _end(reading: _Reading, ended_by: Compaction) -> None:
    reading.epochs.append(Epoch(len(reading.epochs) + 1, array("q", reading.context), ended_by))
    reading.context, reading.trigger, reading.tokens = [], "", None


def _undo(reading: _Reading, count: int) -> None:
    """Take back the newest `count` requests and everything since; not across a compaction."""
    _close(reading)
    cut = None
    for place in range(len(reading.context) - 1, -1, -1):
        number = reading.context[place]
        if count <= 0 or reading.messages[number].kind == "summary":
            break
        if _is_own(reading, number):
            cut, count = place, count - 1
    if cut is not None and count == 0:
        reading.undone.update(reading.context[cut:])
        del reading.context[cut:]
        reading.step = None


def _usage(given: Any) -> Usage | None:
    if not isinstance(given, dict):
        return None
    fresh, output, read, written = (
        count_of(given.get(key)) for key in ("inputOther", "output", "inputCacheRead", "inputCacheCreation")
    )
    return Usage(fresh, output, read, written)


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _id(path: Path) -> str:
    """The session's folder bears its id: `<session>/agents/<agent>/wire.jsonl`."""
    folders = path.absolute().parents
    return folders[2].name if len(folders) > 2 and folders[1].name == "agents" else path.stem
