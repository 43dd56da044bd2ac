"""Read pi sessions."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import fsum
from pathlib import Path
from sys import intern
from typing import Any

from workbench.base.stamps import seconds_of
from workbench.base.text import are, counted
from workbench.formats.agent_texts import kind_of, with_user_text
from workbench.formats.kit.blocks import as_text, in_result, parts_of
from workbench.formats.kit.document import render
from workbench.formats.kit.jsonl import loads
from workbench.formats.kit.marks import STALE_USAGE, marked, without_stale_usage
from workbench.formats.kit.names import first_words
from workbench.formats.kit.transcript import Transcript
from workbench.formats.kit.usage import replayed_before
from workbench.formats.kit.values import dict_of, dollars_of, list_of, text_of
from workbench.formats.pi import ID
from workbench.formats.pi.append import WRAPPED
from workbench.formats.pi.contexts import EntryTree, PathContexts, TreeEntry
from workbench.session import (
    ApiError,
    Block,
    Kind,
    Message,
    Opaque,
    Records,
    Role,
    Session,
    SessionFacts,
    Text,
    Thinking,
    Tool,
    ToolResult,
    ToolUse,
    Usage,
)
from workbench.session.images import media_of

_BRANCH_SUMMARY = (
    "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n{}</summary>"
)

_SILENT = ("model_change", "thinking_level_change", "custom", "label", "session_info", "context_edit", "usage")
"""Known types of entries that hold no message."""

_CUSTOM = ("custom", "hookMessage")
"""Roles of messages that an extension added to the context; the second is version 2's name."""


_EDITABLE = ("user", "assistant", "toolResult", *_CUSTOM)
"""Roles of messages whose content a context edit may replace."""


_TAGS = ("file", "skill")
"""Tags that pi puts before the user's words: files named with `@`, and the skill that was called."""


class Reader(Transcript):
    """Reader of the entries in file order. `places`: entry ids by position in the file; version 1 refers to entries by
    position. `last`: id of the newest entry. `last_stale`: number of the last message with stale usage, -1 for none.
    `other_costs`: dollars of calls without a response in the conversation: summaries, calls within tools, cache
    warming."""

    empty = "a pi session without messages; open another file"

    def __init__(self, path: Path, records: Records) -> None:
        super().__init__(path, records)
        self.header: Mapping[str, Any] = {}
        self.entries: dict[str, TreeEntry] = {}
        self.places: list[str] = []
        self.last: str | None = None
        self.last_stale = -1
        self.other_costs: list[float] = []

    def take(self, value: dict[str, Any], index: int, line: int) -> None:
        if value.get("type") == "session":
            self.header = self.header or value
            self.places.append("")
            return
        recorded_id = value.get("id")
        id = (
            recorded_id
            if isinstance(recorded_id, str) and recorded_id and recorded_id not in self.entries
            else f"entry-{index + 1}"
        )
        if isinstance(recorded_id, str) and recorded_id in self.entries:
            self.warn(f"has the id {recorded_id!r} of an earlier entry; both kept", line)
        parent = value.get("parentId")
        linked = "parentId" in value
        entry = TreeEntry((parent if isinstance(parent, str) else None) if linked else self.last, index)
        if linked and isinstance(parent, str) and parent not in self.entries:
            self.warn("its parent is missing; linked to the previous entry", line)
            entry.parent = self.last
        if cost := _other_cost(value):
            self.other_costs.append(cost)
        above = self.entries.get(entry.parent) if entry.parent is not None else None
        entry.prompted = above is not None and above.prompted
        if value.get("type") in ("compaction", "context_edit"):
            entry.value = value
        checkpoint = _checkpoint(value, id, index)
        if value.get("type") == "compaction":
            entry.prompted = checkpoint is not None
        if checkpoint is not None:
            entry.checkpoint = self.add(checkpoint)
        message, entry.sent = self._message(value, id, index, first_prompt=not entry.prompted)
        if message is not None:
            entry.message = self.add(message)
            self.last_stale = entry.message if value.get(STALE_USAGE) is True else self.last_stale
            entry.prompted = entry.prompted or (message.role == "system" and bool(message.blocks))
        if error := _failure_of(value, id, line):
            entry.failed = error.text
            self.errors.append(error)
        self.entries[id] = entry
        self.places.append(id)
        self.last = id

    def _message(
        self, value: dict[str, Any], id: str, index: int, *, first_prompt: bool
    ) -> tuple[Message | None, bool]:
        """Return the message of an entry (None without one), and True if it is sent to the model. `first_prompt`: no
        system message is in force yet, so a system message here is a complete prompt, not a change of one."""
        kind, time = value.get("type"), seconds_of(value.get("timestamp"))
        if kind == "message" and isinstance(body := value.get("message"), dict):
            if body.get("role") == "system":
                text = prompt_text(body) if first_prompt else update_text(body)
                time = seconds_of(body.get("timestamp")) or time
                return Message(id, "system", (Text(text),) if text else (), time=time, source=(index,)), True
            return _conversation_message(body, value, id, time, index)
        if kind == "compaction":
            text = WRAPPED.format(as_text(value.get("summary", "")))
            return Message(id, "user", (Text(text),), "summary", time, source=(index,)), True
        if kind == "branch_summary" and value.get("summary"):
            text = _BRANCH_SUMMARY.format(as_text(value["summary"]))
            return Message(id, "user", (Text(text),), "meta", time, source=(index,)), True
        if kind == "custom_message":
            return Message(id, "user", parts_of(value.get("content"), _block), "meta", time, source=(index,)), True
        if kind == "session_info" and isinstance(value.get("name"), str):
            self.title = value["name"]
        elif kind not in _SILENT and kind != "branch_summary":
            self.unknown[str(kind)] += 1
        return None, False

    def _edited(self, target: TreeEntry, edit: TreeEntry) -> Message | None:
        """Return the message that pi sends in place of an edited one; None for a role that cannot be edited."""
        value = loads(self.records[target.index])
        body = value.get("message") if value.get("type") == "message" else None
        content = dict_of(edit.value["replacement"]).get("content")
        id, time = f"{self.messages[target.message].id}~edited", seconds_of(edit.value.get("timestamp"))
        if value.get("type") == "custom_message":
            return Message(id, "user", parts_of(content, _block), "meta", time)
        if not isinstance(body, dict) or body.get("role") not in _EDITABLE:
            return None
        message, _ = _conversation_message({**body, "content": content}, value, id, None, target.index)
        return replace(message, time=time, usage=None, source=())

    def session(self) -> Session:
        path = self._path()
        found = PathContexts.of(
            EntryTree(self.entries, path, self.messages, self.records.lines, self._first_retained, self._edited)
        )
        self.warnings += found.warnings
        for kind, n in self.unknown.items():
            self.warn(f"{counted(n, 'entry')} of unknown type {kind!r} {are(n)} kept in the file, not shown")
        header = self.header
        forked = seconds_of(header.get("timestamp")) if header.get("parentSession") else None
        own = replayed_before(found.messages, forked)
        found.messages = [*without_stale_usage(own, found.epochs[-1].members, self.last_stale)]
        ordered, place = found.in_order()
        messages = with_user_text(ordered, _TAGS)
        entries = [self.entries[id] for id in path]
        numbers = [number for entry in entries for number in (entry.checkpoint, entry.message) if number >= 0]
        branch = [place[number] for number in numbers]
        on_branch = [messages[number] for number in branch]
        self.epochs = [
            replace(
                epoch,
                members=array("q", (place[number] for number in epoch.members)),
                copies=frozenset(place[number] for number in epoch.copies),
            )
            for epoch in found.epochs
        ]
        return self._session(
            ID,
            messages,
            branch=branch if len(branch) < len(messages) else range(len(messages)),
            id=text_of(header.get("id")),
            title=self.title or first_words(on_branch),
            model=next((m.model for m in reversed(on_branch) if m.model), None),
            cwd=header["cwd"] if isinstance(header.get("cwd"), str) else None,
            tools=declared_tools(self._system_messages(entries)),
            facts=SessionFacts(cost=self._cost(), api_errors=tuple(self.errors)),
        )

    def _cost(self) -> float | None:
        """Return the dollars of all calls; None if the usage of messages holds every cost."""
        answers = (message.usage.cost or 0.0 for message in self.messages if message.usage)
        return fsum([*answers, *self.other_costs]) if self.other_costs else None

    def _system_messages(self, entries: Sequence[TreeEntry]) -> Iterator[dict[str, Any]]:
        """Yield the recorded system messages in force: the one in the newest compaction and those after it; all of them
        without a compaction."""
        newest = max((at for at, entry in enumerate(entries) if entry.is_compaction), default=-1)
        for entry in entries[max(newest, 0) :]:
            if entry.checkpoint >= 0:
                yield dict_of(entry.value.get("systemMessage"))
            elif entry.message >= 0 and self.messages[entry.message].role == "system":
                yield dict_of(loads(self.records[entry.index]).get("message"))

    def _path(self) -> list[str]:
        """Return the entry ids of the active branch, from the root to the newest entry."""
        found: list[str] = []
        seen: set[str] = set()
        at = self.last
        while at is not None and at not in seen and at in self.entries:
            seen.add(at)
            found.append(at)
            at = self.entries[at].parent
        return found[::-1]

    def _first_retained(self, entry: TreeEntry) -> str:
        """Return the id of the first entry that a compaction keeps, "" if none is recorded; version 1 records its
        position in the file."""
        index = entry.value.get("firstKeptEntryIndex")
        if "version" not in self.header and type(index) is int and 0 <= index < len(self.places):
            return self.places[index]
        return text_of(entry.value.get("firstKeptEntryId"))


def _failure_of(entry: dict[str, Any], id: str, line: int) -> ApiError | None:
    """Return the API error of an entry; None if it is no failed response. A response that the user aborted has not
    failed."""
    body = dict_of(entry.get("message"))
    if body.get("role") != "assistant" or body.get("stopReason") != "error":
        return None
    time = seconds_of(body.get("timestamp")) or seconds_of(entry.get("timestamp"))
    return ApiError(id, text_of(body.get("errorMessage")) or "without a message", time, line)


def _other_cost(value: dict[str, Any]) -> float | None:
    """Return the dollars recorded in an entry; None for a response in the conversation, and if none are recorded."""
    body = dict_of(value.get("message"))
    holder = value if value.get("type") in ("usage", "compaction", "branch_summary") else body
    if body.get("role") == "assistant":
        return None
    return dollars_of(dict_of(dict_of(holder.get("usage")).get("cost")).get("total"))


def _checkpoint(value: dict[str, Any], id: str, index: int) -> Message | None:
    """Return the system message inside a compaction, None without one."""
    system = value.get("systemMessage") if value.get("type") == "compaction" else None
    if not isinstance(system, dict):
        return None
    time, text = seconds_of(value.get("timestamp")), prompt_text(system)
    return Message(f"{id}:system", "system", (Text(text),) if text else (), time=time, source=(index,))


def _conversation_message(
    body: dict[str, Any], entry: Mapping[str, Any], id: str, time: float | None, index: int
) -> tuple[Message, bool]:
    """Return the message with content `body`, and True if it is sent to the model. `time`, in seconds, is used if the
    body records none."""
    role = body.get("role")
    time = seconds_of(body.get("timestamp")) or time
    source = (index,)
    if role == "assistant":
        blocks = parts_of(body.get("content"), _block)
        failed = body.get("stopReason") in ("aborted", "error")
        usage = None if failed else _usage(body.get("usage"))
        model = body.get("model")
        name = intern(model) if isinstance(model, str) else None
        kind: Kind = marked(entry) or "normal"
        return Message(id, "assistant", blocks, kind, time, usage, name, source), not failed
    if role == "toolResult":
        content = tuple(
            in_result(block, block.raw if isinstance(block, Opaque) else "")
            for block in parts_of(body.get("content"), _block)
        )
        result = ToolResult(as_text(body.get("toolCallId", "")), content, body.get("isError") is True)
        return Message(id, "tool", (result,), time=time, source=source), True
    if role == "bashExecution":
        text = Text(_executed(body))
        return Message(id, "user", (text,), "meta", time, source=source), body.get("excludeFromContext") is not True
    user_role: Role = "user"
    blocks = parts_of(body.get("content"), _block)
    meta = role in _CUSTOM or role != "user"
    kind = marked(entry) or ("meta" if meta else kind_of("user", blocks))
    return Message(id, user_role, blocks, kind, time, source=source), True


def _block(part: Any) -> Block:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind == "text" and isinstance(part.get("text"), str):
        return Text(part["text"])
    if kind == "thinking" and isinstance(part.get("thinking"), str):
        signature = part.get("thinkingSignature")
        return Thinking(part["thinking"], text_of(signature))
    if kind == "toolCall" and isinstance(part.get("id"), str) and isinstance(part.get("name"), str):
        arguments = part.get("arguments")
        arguments = arguments if isinstance(arguments, dict) else "" if arguments is None else as_text(arguments)
        return ToolUse(part["id"], intern(part["name"]), arguments)
    if kind == "image":
        return media_of(as_text(part.get("mimeType") or "image"), as_text(part.get("data", "")))
    return Opaque(kind if isinstance(kind, str) else type(part).__name__, part)


def _executed(body: Mapping[str, Any]) -> str:
    """Return the text that pi sends to the model for a command that the user ran."""
    output, code = body.get("output"), body.get("exitCode")
    text = f"Ran `{as_text(body.get('command', ''))}`\n" + (f"```\n{as_text(output)}\n```" if output else "(no output)")
    if body.get("cancelled") is True:
        text += "\n\n(command cancelled)"
    elif type(code) is int and code:
        text += f"\n\nCommand exited with code {code}"
    if body.get("truncated") is True and body.get("fullOutputPath"):
        text += f"\n\n[Output truncated. Full output: {as_text(body['fullOutputPath'])}]"
    return text


def _usage(recorded: Any) -> Usage | None:
    """Return the tokens and dollars of a call; None if no prompt tokens are recorded."""
    if not isinstance(recorded, dict):
        return None
    counts = [recorded.get(key) for key in ("input", "output", "cacheRead", "cacheWrite")]
    prompt, output, read, written = (count if type(count) is int and count > 0 else 0 for count in counts)
    usage = Usage(prompt, output, read, written, cost=dollars_of(dict_of(recorded.get("cost")).get("total")))
    return usage if usage.context else None


def prompt_text(message: Mapping[str, Any]) -> str:
    """Return the text of a system message as a complete prompt."""
    sections = (value for _, value in _sections(message) if value)
    return "\n\n".join(filter(None, (_content(message), *sections)))


def update_text(message: Mapping[str, Any]) -> str:
    """Return the text of a later system message: its content, and a paragraph for each section that it changes or
    removes."""
    changes = (
        f'Removed system prompt section "{name}".'
        if value is None
        else f'Updated system prompt section "{name}":\n\n{value}'
        for name, value in _sections(message)
    )
    return "\n\n".join(filter(None, (_content(message), *changes)))


def replayed(messages: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return one system message, without a timestamp, that holds the prompt and tools in force after all of these.

    The first message declares the complete prompt and every tool; each later one declares changes. Source of the rule:
    pi-ai, `utils/transcript.js` and `utils/text.js`.
    """
    content: list[str] = []
    sections: dict[str, str] = {}
    tools: dict[str, Any] = {}
    for message in messages:
        content += filter(None, [_content(message)])
        for name, value in _sections(message):
            if value is None:
                sections.pop(name, None)
            else:
                sections[name] = value
        for tool in list_of(message.get("toolsRemoved")):
            tools.pop(text_of(dict_of(tool).get("name")), None)
        for tool in list_of(message.get("toolsAdded")):
            tools[text_of(dict_of(tool).get("name"))] = tool
    merged: dict[str, Any] = {"role": "system", "content": "\n\n".join(content)}
    merged |= {"sections": sections} if sections else {}
    return merged | ({"toolsAdded": [*tools.values()]} if tools else {})


def declared_tools(messages: Iterable[Mapping[str, Any]]) -> tuple[Tool, ...]:
    """Return the tools in force after all of these system messages."""
    tools = map(dict_of, list_of(replayed(messages).get("toolsAdded")))
    return tuple(Tool(text_of(tool.get("name")), render(tool).decode()) for tool in tools if tool.get("name"))


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    parts = (part for part in map(dict_of, list_of(content)) if part.get("type") == "text")
    return content if isinstance(content, str) else "\n".join(text_of(part.get("text")) for part in parts)


def _sections(message: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
    for name, value in dict_of(message.get("sections")).items():
        if value is None or isinstance(value, str):
            yield name, value
