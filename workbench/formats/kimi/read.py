"""Read Kimi Code's journal, record by record as its loader replays it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workbench.base.stamps import seconds_of
from workbench.formats.agent_texts import with_user_text
from workbench.formats.format import Progress
from workbench.formats.kimi import ID, is_context
from workbench.formats.kimi.context import blocks_of, read_context, result_of
from workbench.formats.kimi.survivors import ELIDED, Survivor, survivors_of
from workbench.formats.kit.document import read_sidecar
from workbench.formats.kit.jsonl import left_out
from workbench.formats.kit.transcript import Transcript
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of
from workbench.formats.look import Look
from workbench.session import (
    Block,
    Compaction,
    Kind,
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

_CONTINUE = (
    "<system-reminder>\nContext compaction is complete — continue the work that was in progress when it began.\n"
    "</system-reminder>"
)
"""Text that Kimi Code sends after a summary and does not record."""


@dataclass(slots=True)
class _OpenStep:
    """An answer whose parts are still being read. `place` is its message index."""

    id: str
    place: int
    blocks: list[Block] = field(default_factory=list)
    source: list[int] = field(default_factory=list)
    time: float | None = None


_SILENT = (
    "metadata", "runtime.", "permission.", "agent.", "turn.", "prompt.", "plugin.", "usage.", "token_counting.",
    "full_compaction.", "tools.", "goal.", "background.", "task.", "session.", "todo.", "mcp.", "hook.", "plan", "llm.",
    "context.spliced", "context.undone", "cron", "swarm", "skill",
)  # fmt: skip
"""Beginnings of record types that are ignored: not about the conversation, or repeated by other records."""

_USER_ORIGINS = ("", "user", "skill_activation", "plugin_command")
"""Origins of messages by the user or by a command of the user; all others are injected by Kimi Code."""


class Reader(Transcript):
    """Reader of records. `origins`: origin of each message. `pending`: tool names of calls without a result, by id.
    `waiting`: messages recorded before those results."""

    empty = "a journal of Kimi Code without messages; open another session's wire.jsonl"

    def __init__(self, path: Path, records: Records) -> None:
        super().__init__(path, records)
        self.origins: list[dict[str, Any]] = []
        self.undone: set[int] = set()
        self.step: _OpenStep | None = None
        self.pending: dict[str, str] = {}
        self.waiting: list[tuple[Message, dict[str, Any]]] = []
        self.trigger = self.system = ""
        self.tools: tuple[Tool, ...] = ()
        self.tokens: int | None = None

    def take(self, value: dict[str, Any], index: int, line: int) -> None:
        kind = text_of(value.get("type"))
        time = seconds_of(value.get("time"))
        match kind:
            case "context.append_message":
                self._message(dict_of(value.get("message")), index, time)
            case "context.append_loop_event":
                self._event(dict_of(value.get("event")), index, time)
            case "context.apply_compaction":
                self._compaction(value, index, line, time)
            case "context.clear":
                self._answer_pending()
                self._end(Compaction("clear", self.tokens, None, time, way="removal"))
            case "context.undo":
                self._undo(count_of(value.get("count")))
            case "full_compaction.begin":
                self.trigger = text_of(value.get("source"))
            case "profile.bind" | "config.update":
                self.system = text_of(value.get("systemPrompt")) or self.system
            case "llm.tools_snapshot":
                tools = [dict_of(tool) for tool in list_of(value.get("tools"))]
                self.tools = tuple(Tool(text_of(tool.get("name")), _compact_json(tool)) for tool in tools)
            case "llm.request":
                self.model = text_of(value.get("model")) or self.model
            case "token_counting.measured" | "token_counting.rebased":
                self.tokens = count_of(value.get("tokens")) or self.tokens
            case _ if not kind.startswith(_SILENT):
                self.unknown[kind or "?"] += 1

    def finish(self) -> None:
        self._close_step()
        self.warnings += left_out("records", self.unknown)
        self.end_epoch()

    def session(self) -> Session:
        state, agent = read_sidecar(self.path.absolute().parent.parent.parent / "state.json"), self.path.parent.name
        return self._session(
            ID,
            with_user_text(self.messages),
            branch=self.branch_without(self.undone),
            id=_id(self.path),
            title=text_of(state.get("title")),
            model=self.model,
            cwd=text_of(state.get("cwd") or state.get("workDir")) or None,
            system=self.system,
            tools=self.tools,
            facts=SessionFacts(tokens_now=self.tokens, agent="" if agent == "main" else agent),
        )

    def _send(self, message: Message, origin: dict[str, Any]) -> int:
        self.origins.append(origin)
        self.sent.append(self.add(replace(message, id=self.unique_id(message.id))))
        return self.sent[-1]

    def _message(self, body: dict[str, Any], index: int, time: float | None) -> None:
        origin = dict_of(body.get("origin"))
        role = body.get("role")
        blocks = blocks_of(body.get("content"))
        if not blocks or role not in ("user", "assistant", "tool", "system"):
            return
        id = text_of(body.get("id")) or f"record-{index + 1}"
        kind: Kind = "normal"
        if role == "user" and text_of(origin.get("kind")) not in _USER_ORIGINS:
            kind = "meta"
            blocks = tuple(Text(one.text, injected=True) if isinstance(one, Text) else one for one in blocks)
        if role == "assistant" and self._is_copy(blocks):
            return
        message = Message(id, role, blocks, kind, time, source=(index,))
        if self.pending:
            self.waiting.append((message, origin))
        else:
            self._send(message, origin)

    def _is_copy(self, blocks: Sequence[Block]) -> bool:
        """True for an answer that protocol 1.1 repeats when its step has ended."""
        last = self.messages[self.sent[-1]] if self.sent else None
        return last is not None and last.role == "assistant" and tuple(last.blocks) == tuple(blocks)

    def _event(self, event: dict[str, Any], index: int, time: float | None) -> None:
        match event.get("type"):
            case "step.begin":
                self._close_step()
                id = text_of(event.get("uuid")) or f"record-{index + 1}"
                number = self._send(Message(id, "assistant", (), time=time), {})
                self.step = _OpenStep(id, number, source=[index], time=time)
            case "content.part" if self._is_open(event):
                self._add_blocks(blocks_of([event.get("part")]), index)
            case "tool.call" if self._is_open(event):
                call = text_of(event.get("toolCallId"))
                args = event.get("args")
                arguments = args if isinstance(args, dict) else "" if args is None else _compact_json(args)
                self._add_blocks((ToolUse(call, text_of(event.get("name")), arguments),), index)
                self.pending[call] = text_of(event.get("name"))
            case "tool.result":
                self._result(event, index, time)
            case "step.end" if event.get("finishReason") not in ("interrupted", "error"):
                self._close_step(_usage(event.get("usage")))

    def _is_open(self, event: dict[str, Any]) -> bool:
        return self.step is not None and event.get("stepUuid") in (None, self.step.id)

    def _add_blocks(self, blocks: Sequence[Block], index: int) -> None:
        step = self.step
        assert step is not None
        step.blocks += blocks
        step.source.append(index)
        self._update_message(step)

    def _update_message(self, step: _OpenStep, usage: Usage | None = None) -> None:
        message = self.messages[step.place]
        blocks, source = tuple(step.blocks), tuple(step.source)
        self.messages[step.place] = replace(message, blocks=blocks, usage=usage, model=self.model, source=source)

    def _result(self, event: dict[str, Any], index: int, time: float | None) -> None:
        call = text_of(event.get("toolCallId"))
        if call not in self.pending:
            return
        result = result_of(call, self.pending.pop(call), dict_of(event.get("result")))
        self._send(Message(f"{call}:{index + 1}", "tool", (result,), time=time, source=(index,)), {})
        self._flush()

    def _close_step(self, usage: Usage | None = None) -> None:
        """Close the open step as the loader does: answer calls without a result, and drop an empty answer."""
        self._answer_pending()
        step, self.step = self.step, None
        if step is None:
            return
        if any(not isinstance(block, Text) or block.text.strip() for block in step.blocks):
            self._update_message(step, usage)
        elif step.place in self.sent:
            self.sent.remove(step.place)

    def _answer_pending(self) -> None:
        for call in self.pending:
            result = ToolResult(call, (Text(_INTERRUPTED),), is_error=True)
            self._send(Message(f"{call}:interrupted", "tool", (result,)), {})
        self.pending.clear()
        self._flush()

    def _flush(self) -> None:
        if not self.pending:
            for message, origin in self.waiting:
                self._send(message, origin)
            self.waiting.clear()

    def _compaction(self, value: dict[str, Any], index: int, line: int, time: float | None) -> None:
        """End the epoch. The user's messages are kept before the summary; if they are long, those in between are cut or
        omitted (`survivors`). In old journals, the newest messages are kept after the summary instead."""
        recorded = value.get("contextSummary") or value.get("summary")
        summary = tuple(blocks_of(dict_of(recorded).get("content") if isinstance(recorded, dict) else recorded))
        if not summary:
            self.warn("holds a compaction without a summary; left out", line)
            return
        self._close_step()
        recorded_count = value.get("keptUserMessageCount")
        cut = count_of(value.get("compactedCount") or value.get("count"))
        id = f"compaction-{index + 1}"
        before, after = count_of(value.get("tokensBefore")) or self.tokens, count_of(value.get("tokensAfter")) or None
        old_context = list(self.sent)
        user_messages = [number for number in old_context if self._is_user_message(number)]
        survivors = survivors_of([self.messages[number] for number in user_messages])
        keeps_own = type(recorded_count) is int and value.get("legacyTail") is not True
        unchanged = [user_messages[place] for place, text in (*survivors.head, *survivors.tail) if text is None]
        kept_ids = tuple(self.messages[number].id for number in (unchanged if keeps_own else old_context[cut:]))
        self._end(Compaction(self.trigger, before, id, time, tokens_after=after, kept_ids=kept_ids))
        summary_message = Message(id, "user", summary, "summary", time, source=(index,))
        if not keeps_own:
            self._send(summary_message, {"kind": "compaction_summary"})
            self.sent += old_context[cut:]
            return
        self._add_survivors(user_messages, survivors.head)
        if survivors.omitted is not None:
            note = Text(ELIDED.format(survivors.omitted), injected=True)
            self._send(Message(f"{id}:omitted", "user", (note,), "meta"), {"kind": "injection"})
        self._add_survivors(user_messages, survivors.tail)
        self._send(summary_message, {"kind": "compaction_summary"})
        self._send(Message(f"{id}:next", "user", (Text(_CONTINUE, injected=True),), "meta"), {"kind": "injection"})

    def _add_survivors(self, user_messages: Sequence[int], survivors: Sequence[Survivor]) -> None:
        """Add kept messages to the new context; a shortened one becomes a new message."""
        for place, text in survivors:
            message = self.messages[user_messages[place]]
            if text is None:
                self.sent.append(user_messages[place])
            else:
                cut = Message(f"{message.id}~cut-{len(self.messages)}", "user", (Text(text),), time=message.time)
                self._send(cut, self.origins[user_messages[place]])

    def _is_user_message(self, number: int) -> bool:
        origin = self.origins[number]
        kind = text_of(origin.get("kind"))
        by_command = kind in ("skill_activation", "plugin_command") and origin.get("trigger") == "user-slash"
        return self.messages[number].role == "user" and (kind in ("", "user") or by_command)

    def _end(self, ended_by: Compaction) -> None:
        self.end_epoch(ended_by)
        self.sent, self.trigger, self.tokens = [], "", None

    def _undo(self, count: int) -> None:
        """Remove the newest `count` requests and everything since. Remove nothing if there are fewer since the last
        compaction."""
        self._answer_pending()
        cut = None
        for place in range(len(self.sent) - 1, -1, -1):
            number = self.sent[place]
            if count <= 0 or self.messages[number].kind == "summary":
                break
            if self._is_user_message(number):
                cut, count = place, count - 1
        if cut is not None and count == 0:
            self.undone.update(self.sent[cut:])
            del self.sent[cut:]
            self.step = None


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read the journal of one agent, or a context file of Kimi CLI. Raises BadInput when it holds no message."""
    return (read_context if is_context(Look.of(data)) else Reader.read)(path, data, progress)


def _usage(recorded: Any) -> Usage | None:
    if not isinstance(recorded, dict):
        return None
    fresh, output, read, written = (
        count_of(recorded.get(key)) for key in ("inputOther", "output", "inputCacheRead", "inputCacheCreation")
    )
    return Usage(fresh, output, read, written)


def _compact_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _id(path: Path) -> str:
    """Return the session's id, which is the name of its folder: `<session>/agents/<agent>/wire.jsonl`."""
    folders = path.absolute().parents
    return folders[2].name if len(folders) > 2 and folders[1].name == "agents" else path.stem
