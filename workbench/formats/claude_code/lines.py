"""Decode the lines of a Claude Code session, one at a time, into messages, chain links and session facts.

An API message is spread over lines of one block each that share `message.id`; they are collected in one draft, at the
position of the first. `toolUseResult` next to a message is a copy that is never sent, and is ignored.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from sys import intern
from typing import Any

from msgspec import Struct

from workbench.base.stamps import seconds_of
from workbench.formats.agent_texts import split_user_text
from workbench.formats.claude_code import attachments, events
from workbench.formats.claude_code.events import Event
from workbench.formats.claude_code.stream import PrintedOutput
from workbench.formats.claude_code.tree import Tree
from workbench.formats.kit.api_errors import api_error
from workbench.formats.kit.blocks import from_anthropic
from workbench.formats.kit.document import render
from workbench.formats.kit.marks import STALE_USAGE
from workbench.formats.kit.usage import anthropic_cache_life, anthropic_counts
from workbench.formats.kit.user_text import is_injected
from workbench.formats.kit.values import dict_of, list_of, text_of
from workbench.session import ApiError
from workbench.session.message import Block, Kind, Message, Opaque, Role, Text, ToolResult, Usage
from workbench.session.session import LoadWarning, Records, Tool

TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
"""The title key of each line type with a title, highest priority first."""

_SILENT = {
    "file-history-snapshot", "file-history-delta", "queue-operation", "last-prompt", "mode", "permission-mode",
    "pr-link", "tag", "attribution-snapshot", "atis-latch", "tools-used", "bridge-session",
    "worktree-state", "agent-name", "api-request",
}  # fmt: skip
"""Line types without conversation content. The records keep them like all others."""

NOTIFICATION = "<task-notification>"
"""Prefix of a background task's message. Claude Code wraps it in text of its own before it sends it."""

_INJECTED = (
    "<command-name>", "<command-message>", "<command-args>", "<local-command-stdout>", "<local-command-stderr>",
    "<local-command-caveat>", "<bash-input>", "<bash-stdout>", "<bash-stderr>", NOTIFICATION,
    "[Request interrupted by user", "Caveat: The messages below were generated",
)  # fmt: skip
"""Prefixes of user texts that Claude Code wrote."""

_COMMAND_WITH_ARGUMENTS = re.compile(r"\s*<command-message>.*<command-args>[^<]*[^<\s]", re.DOTALL)
"""A command that goes to the model with arguments from the user. A command that Claude Code runs itself begins with
`<command-name>` instead."""

_FACTS = ("sessionId", "cwd", "version", "gitBranch", "slug", "agentId")


def _common_values(value: dict[str, Any]) -> tuple[Any, ...]:
    get = value.get
    return get("sessionId"), get("cwd"), get("version"), get("gitBranch"), get("slug"), get("agentId")


_KNOWN_BLOCKS = {"text", "thinking", "tool_use", "tool_result", "image", "document"}
"""Known block types: an Opaque of such a type had an invalid shape."""


@dataclass(slots=True)
class MessageDraft:
    """A message while its lines are read.

    `bill`: recorded tokens so far (input, output, cache read, cache write); `bill_final` once a line has a stop reason.
    `sent`: Claude Code would send it to the model. `replayed`: copied from the session that this one was forked from.
    `cache_life` as in `Usage`.
    """

    id: str
    role: Role
    kind: Kind
    blocks: list[Block]
    source: list[int]
    time: float | None
    sidechain: bool
    bill: tuple[int, int, int, int] | None = None
    bill_final: bool = False
    model: str | None = None
    sent: bool = True
    replayed: bool = False
    cache_life: int = 0

    def message(self) -> Message:
        return Message(
            self.id,
            self.role,
            tuple(self.blocks),
            self.kind,
            self.time,
            self._usage(),
            self.model,
            tuple(self.source),
        )

    def _usage(self) -> Usage | None:
        if self.bill is None:
            return None
        return Usage(*self.bill, self.bill_final, replayed=self.replayed, cache_life=self.cache_life)


class LoadedFile(Struct, frozen=True):
    """Facts that a written file needs from the loaded one: the session's slug, and whether the lines come from a web
    export or printed output, not from a session file (`rewritten`)."""

    slug: str = ""
    rewritten: bool = False


class Prompt(Struct, frozen=True):
    """The system prompt and tools, sent before all messages."""

    system: str = ""
    tools: tuple[Tool, ...] = ()


@dataclass(slots=True)
class Reading:
    """The state of one file while it is read.

    `facts`: newest value of each common key; `newest_common`: these values in the newest line.
    `events`: compactions by the number of the draft that records each; `loose_events`: record index and event of those
      without a draft.
    `prompts`: newest prompt of the session (False) and of its sub-agents (True).
    `notices`: texts of recorded requests with a task's complete notification; its session line holds only a part.
    `stale_until`: newest record with this program's stale-usage mark, -1 for none; usage up to it counts an older
      context.
    """

    records: Records
    tree: Tree = field(default_factory=Tree)
    drafts: list[MessageDraft] = field(default_factory=list)
    warnings: list[LoadWarning] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    newest_common: tuple[Any, ...] = ()
    titles: dict[str, str] = field(default_factory=dict)
    titled_leaves: list[tuple[str, str]] = field(default_factory=list)
    events: dict[int, Event] = field(default_factory=dict)
    loose_events: list[tuple[int, Event]] = field(default_factory=list)
    prompts: dict[bool, Prompt] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    printed: PrintedOutput = field(default_factory=PrintedOutput)
    cost: float | None = None
    stale_until: int = -1
    api_errors: list[tuple[MessageDraft, int, dict[str, Any]]] = field(default_factory=list)
    retried: list[ApiError] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)
    by_api_id: dict[tuple[str, bool], int] = field(default_factory=dict)
    by_uuid: dict[str, int] = field(default_factory=dict)

    def warn(self, line: int, text: str) -> None:
        self.warnings.append(LoadWarning(text, line))


def add_record(reading: Reading, value: dict[str, Any], index: int, line: int) -> None:
    """Add the decoded record `index`, found on line number `line`."""
    type = value.get("type")
    read_line = _READERS.get(type) if isinstance(type, str) else None
    if read_line is None and type != "progress":
        _add_other(reading, value, type, index)
        return
    if value.get(STALE_USAGE) is True:
        reading.stale_until = index
    sidechain = value.get("isSidechain") is True
    recorded = value.get("uuid")
    uuid = recorded if isinstance(recorded, str) and recorded else f"record-{index + 1}"
    if uuid in reading.by_uuid:
        first = reading.by_uuid[uuid]
        first_line = reading.records.lines[first]
        if reading.records[first] == reading.records[index]:
            reading.warn(line, f"duplicates line {first_line}; counted once")
            return
        reading.warn(line, f"has the uuid of line {first_line}; both are kept")
        uuid = f"{uuid}#{index + 1}"
    reading.by_uuid[uuid] = index
    at = read_line(reading, value, uuid, index, line) if read_line else None
    draft = None if at is None else reading.drafts[at]
    if reading.events and at is not None and (event := reading.events.get(at)) and event.preserved.anchor:
        tails = event.preserved.uuids[-1:] or [event.preserved.tail]
        reading.tree.anchors.update(dict.fromkeys(tails, event.preserved.anchor))
    parent = value.get("logicalParentUuid") if draft is not None and draft.kind == "boundary" else None
    if parent:
        reading.tree.logical.add(len(reading.tree.parents))
    parent = parent or value.get("parentUuid")
    # A line without a uuid is still a link: the line after it may bridge to it.
    reading.tree.add(
        recorded if isinstance(recorded, str) else uuid,
        parent if isinstance(parent, str) else None,
        at,
        index,
        line,
        sidechain=sidechain,
        turn=draft is not None and type in ("user", "assistant") and bool(draft.blocks),
    )
    if not sidechain or not reading.facts:
        common = _common_values(value)
        if common != reading.newest_common:  # most lines repeat the values of the line before
            reading.newest_common = common
            reading.facts.update({key: fact for key, fact in zip(_FACTS, common, strict=True) if isinstance(fact, str)})


def time_of(stamp: Any) -> float | None:
    """Return an ISO time as seconds since 1970, None for anything else. A time without a zone is UTC."""
    return seconds_of(stamp) if isinstance(stamp, str) else None


def _add_other(reading: Reading, value: dict[str, Any], type: Any, index: int) -> None:
    if type == "cost-state":
        cost = value.get("totalCostUSD")
        reading.cost = float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else reading.cost
        return
    if type == "content-replacement":
        if event := events.event_of_replacement(value):
            reading.loose_events.append((index, event))
        return
    if type == "api-request-blob":
        blocks = from_anthropic(dict_of(value.get("message")).get("content"))
        block_texts = (block.text for block in blocks if isinstance(block, Text))
        reading.notices += [text for text in block_texts if NOTIFICATION in text]
        return
    if type == "api-request-shape":
        shape = dict_of(value.get("shape"))
        texts = [text_of(dict_of(one).get("text")) for one in list_of(shape.get("system"))]
        _set_prompt(reading, texts, list_of(shape.get("tools")), sidechain=bool(value.get("agentId")))
        return
    key = TITLES.get(type) if isinstance(type, str) else None
    title = value.get(key) if key else None
    if not isinstance(title, str) or not title:
        if key is None and str(type) not in _SILENT:
            reading.unknown[str(type)] += 1
    elif type == "summary":
        reading.titled_leaves.append((str(value.get("leafUuid")), title))
    else:
        reading.titles[type] = title


def _set_prompt(reading: Reading, texts: list[str], tools: list[Any], *, sidechain: bool) -> None:
    """Set the system prompt and tools from here on; an empty part keeps its earlier value."""
    before = reading.prompts.get(sidechain, Prompt())
    definitions = [dict_of(dict_of(tool).get("schema")) or dict_of(tool) for tool in tools]
    known = tuple(Tool(text_of(one.get("name")), render(one).decode()) for one in definitions if one.get("name"))
    system = "\n\n".join(text for text in texts if isinstance(text, str) and text)
    reading.prompts[sidechain] = Prompt(system or before.system, known or before.tools)


def _begin(reading: Reading, value: dict[str, Any], id: str, index: int, role: Role, blocks: list[Block]) -> int:
    sidechain = value.get("isSidechain") is True
    drafts, time = reading.drafts, time_of(value.get("timestamp"))
    drafts.append(MessageDraft(id, role, "normal", blocks, [index], time, sidechain, None, False, None, bool(blocks)))
    return len(drafts) - 1


def _user(reading: Reading, value: dict[str, Any], id: str, index: int, line: int) -> int:
    blocks = _blocks(reading, value, line)
    results = ToolResult in map(type, blocks)
    at = _begin(reading, value, id, index, "tool" if results else "user", blocks)
    if value.get("isCompactSummary") is True:
        reading.drafts[at].kind = "summary"
    elif not results and (value.get("isMeta") is True or _is_injected(blocks)):
        reading.drafts[at].kind = "meta"
    return at


def _assistant(reading: Reading, value: dict[str, Any], id: str, index: int, line: int) -> int:
    body = dict_of(value.get("message"))
    api_id, model = body.get("id"), body.get("model")
    key = (api_id if isinstance(api_id, str) and api_id else id, value.get("isSidechain") is True)
    blocks = _blocks(reading, value, line)
    at = reading.by_api_id.get(key)
    if at is None:
        at = reading.by_api_id[key] = _begin(reading, value, id, index, "assistant", blocks)
        draft = reading.drafts[at]
        draft.model = intern(model) if isinstance(model, str) else None
        draft.replayed = isinstance(value.get("forkedFrom"), dict)
        if model == "<synthetic>":
            draft.kind = "meta"
        elif value.get("isCompactSummary") is True:
            draft.kind = "summary"
    else:
        draft = reading.drafts[at]
        draft.blocks += blocks
        draft.source.append(index)
        draft.sent = draft.sent or bool(blocks)
    if value.get("isApiErrorMessage") is True:
        draft.kind, draft.sent = "meta", False
        reading.api_errors.append((draft, line, value))
    if draft.kind != "meta":
        _add_usage(draft, body)
        if "context_management" in body and (event := events.event_of_answer(body, draft.time)):
            reading.events[at] = event
    return at


def _system(reading: Reading, value: dict[str, Any], id: str, index: int, line: int) -> int | None:
    subtype, content = value.get("subtype"), value.get("content")
    if subtype in ("api_error", "error") and value.get("error"):
        reading.retried.append(api_error(id, value["error"], time_of(value.get("timestamp")), line))
        return None
    blocks: list[Block] = [Text(content)] if isinstance(content, str) and content else []
    if subtype == "local_command" and blocks:
        at = _begin(reading, value, id, index, "user", blocks)
        reading.drafts[at].kind = "meta"
        return at
    event = events.event_of_system_line(value, time_of(value.get("timestamp")))
    if event is None:
        return None
    at = _begin(reading, value, id, index, "system", blocks)
    reading.drafts[at].kind = "boundary"
    reading.events[at] = event
    return at


def _attachment(reading: Reading, value: dict[str, Any], id: str, index: int, line: int) -> int | None:
    attachment = dict_of(value.get("attachment"))
    if attachment.get("type") == attachments.SNAPSHOT:
        texts, tools = list_of(attachment.get("systemPrompt")), list_of(attachment.get("tools"))
        _set_prompt(reading, texts, tools, sidechain=value.get("isSidechain") is True)
    kind, blocks = attachments.kind_and_blocks(value)
    if not blocks:
        return None
    at = _begin(reading, value, id, index, "user", blocks)
    reading.drafts[at].kind = kind
    return at


_READERS: dict[str, Callable[[Reading, dict[str, Any], str, int, int], int | None]] = {
    "user": _user,
    "assistant": _assistant,
    "system": _system,
    "attachment": _attachment,
}


def _blocks(reading: Reading, value: dict[str, Any], line: int) -> list[Block]:
    """Return the blocks of a line's message. Invalid content adds a warning and, where possible, an Opaque."""
    body = value.get("message")
    if not isinstance(body, dict):
        reading.warn(line, "its message is not an object; kept in the file, never sent")
        return []
    content = body.get("content")
    if not isinstance(content, str | list):
        reading.warn(line, "its message has no content; kept in the file, never sent")
        return []
    blocks = [*from_anthropic(content)]
    for block in blocks:
        if isinstance(block, Opaque) and (block.type in _KNOWN_BLOCKS or not isinstance(block.raw, dict)):
            reading.warn(line, f"holds a block ({block.type}) of an invalid shape; kept unchanged")
    if isinstance(content, list) and str in map(type, content):
        reading.warn(line, "holds a plain string instead of a block; read as text")
    return blocks


def _is_injected(blocks: list[Block]) -> bool:
    return bool(blocks) and all(
        isinstance(block, Text)
        and not _COMMAND_WITH_ARGUMENTS.match(block.text)
        and (block.text.lstrip().startswith(_INJECTED) or is_injected(split_user_text(block.text)))
        for block in blocks
    )


def _add_usage(draft: MessageDraft, body: dict[str, Any]) -> None:
    """Add the usage of another line of the message: the newest counts and the largest output apply. Empty usage is
    ignored.

    Counts are final once a line has a stop reason; before that they may be those at the start of the stream.
    """
    counts, before = anthropic_counts(body.get("usage")), draft.bill
    if counts is None:
        return
    draft.cache_life = anthropic_cache_life(body.get("usage")) or draft.cache_life
    draft.bill_final = draft.bill_final or body.get("stop_reason") is not None
    draft.bill = (counts[0], before[1], *counts[2:]) if before and before[1] > counts[1] else counts
