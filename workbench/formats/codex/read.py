"""Read Codex rollouts."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, replace
from pathlib import Path
from sys import intern
from typing import Any

from workbench.base.stamps import seconds_of
from workbench.base.text import are, counted
from workbench.formats.agent_texts import with_user_text
from workbench.formats.codex import ID, is_traes
from workbench.formats.codex.base import is_alone, with_base
from workbench.formats.codex.items import SUMMARY_PREFIX, ItemGroup, blocks_of, group_of, role_and_kind
from workbench.formats.format import Progress, ReadLines
from workbench.formats.kit.api_errors import api_error
from workbench.formats.kit.chat import tools_of
from workbench.formats.kit.compressed import ZSTD, unpack_zstd
from workbench.formats.kit.json_spans import array_items, object_items
from workbench.formats.kit.jsonl import lines_of
from workbench.formats.kit.names import first_words
from workbench.formats.kit.transcript import Transcript
from workbench.formats.kit.values import count_of, dict_of, text_of
from workbench.formats.usage_checks import exceeds, impossible_usage_warning
from workbench.session.message import Block, Kind, Message, Opaque, Role, Text, ToolUse, Usage
from workbench.session.session import Compaction, Epoch, Records, Session, SessionFacts

_IGNORED = ("event_msg", "turn_context", "world_state", "rollout_reference", "token_usage_record")

_AGENT_ROLES: tuple[Role, ...] = ("assistant", "tool")

_KEPT_TEXT = 80_000
"""Characters of user text that a compaction without a list of items keeps: 20 000 tokens of 4 characters."""


@dataclass(slots=True)
class ItemDraft:
    """A message while its items are read."""

    id: str
    role: Role
    kind: Kind
    blocks: list[Block]
    source: list[int]
    time: float | None
    model: str | None = None
    usage: Usage | None = None

    def message(self) -> Message:
        blocks, source = tuple(self.blocks), tuple(self.source)
        return Message(self.id, self.role, blocks, self.kind, self.time, self.usage, self.model, source)


FORK_SECONDS = 2.0
"""Seconds after a fork's first line in which lines of its parent's history are copied; they have the time of the
copy."""


@dataclass(slots=True)
class Fork:
    """A session that begins with a copy of another session's history. Its own turns have later ids than the session;
    without turn ids, lines stamped more than `FORK_SECONDS` after the first line are its own. `replays`: True while
    lines are copies."""

    id: str
    since: float
    by_turn: bool = False
    replays: bool = True

    def see(self, turn: Any, time: float | None) -> None:
        """Update `replays` from a record's turn id and time."""
        if isinstance(turn, str) and turn:
            self.by_turn, self.replays = True, turn < self.id
        elif not self.by_turn and time is not None and time > self.since + FORK_SECONDS:
            self.replays = False


class Reader(Transcript):
    """The state of a rollout while it is read.

    `group`: group of the newest draft while items may still be added to it, else "". `usage_first`: True if token
    records come before the response they count (0.40), not after its items (0.104 and later); None until the first
    record. `pending_usage`: usage of the next response; `billed`: the newest response. `base`: number of leading bytes
    that come from another rollout. Their calls, and those copied by a `fork`, were made in another session.
    `rolled_back`: numbers of dropped drafts.
    """

    empty = "a Codex rollout without messages; open another session"

    def __init__(self, path: Path, records: Records, base: int = 0) -> None:
        super().__init__(path, records)
        self.base = base
        self.fork: Fork | None = None
        self.drafts: list[ItemDraft] = []
        self.rolled_back: set[int] = set()
        self.meta: dict[str, Any] = {}
        self.cwd: str | None = None
        self.group: ItemGroup = ""
        self.usage_first: bool | None = None
        self.pending_usage: Usage | None = None
        self.billed: ItemDraft | None = None
        self.totals: Any = None

    def take(self, value: dict[str, Any], index: int, line: int) -> None:
        kind, payload, stamp = value.get("type"), value.get("payload"), value.get("timestamp")
        if self.fork is not None:
            self.fork.see(dict_of(payload).get("turn_id"), seconds_of(stamp))
        if not isinstance(payload, dict):
            self._take_bare(value, index, stamp)
        elif kind == "response_item":
            self._item(payload, index, stamp)
        elif kind == "event_msg":
            self._event(payload, index, stamp)
        elif kind == "turn_context":
            self._context(payload)
        elif kind == "compacted":
            self._compacted(payload, index, stamp)
        elif kind == "session_meta":
            if not self.meta:
                self.meta = payload
                self._context(payload)
                if payload.get("forked_from_id"):
                    self.fork = Fork(text_of(payload.get("id")), seconds_of(stamp) or 0.0)
        elif kind == "inter_agent_communication":
            blocks: list[Block] = [Opaque(kind, payload)]
            draft = ItemDraft(f"item-{index + 1}", "user", "meta", blocks, [index], seconds_of(stamp))
            self.begin(draft, "request")
        elif kind not in _IGNORED:
            self.unknown[str(kind)] += 1

    def _take_bare(self, value: dict[str, Any], index: int, stamp: Any) -> None:
        """Add a line of Codex before 0.32: first the session's header, then items."""
        if isinstance(value.get("type"), str):
            self._item(value, index, stamp)
        elif "id" in value and not self.meta:
            self.meta = value
        elif "record_type" not in value:
            self.unknown["without a type"] += 1

    def _item(self, item: dict[str, Any], index: int, stamp: Any) -> None:
        """Add an item. `stamp` is the line's undecoded time, because many items need no time."""
        group = group_of(item)
        if not group:
            if not isinstance(item.get("type"), str):
                self.unknown["of a response item without a type"] += 1
            return
        blocks = blocks_of(item)
        if group != "request" and group == self.group:
            draft = self.drafts[-1]
            draft.blocks += map(_interned, blocks)
            draft.source.append(index)
            return
        role, kind = role_and_kind(item, blocks)
        model = self.model if role == "assistant" else None
        own = [_interned(block) for block in blocks]
        draft = ItemDraft(f"item-{index + 1}", role, kind, own, [index], seconds_of(stamp), model)
        if role == "assistant":
            draft.usage, self.pending_usage = self.pending_usage, None
            self.billed = draft
        self.begin(draft, group)

    def begin(self, draft: ItemDraft, group: ItemGroup) -> None:
        """Add a draft to the context; following items of the same `group` are added to it."""
        self.sent.append(len(self.drafts))
        self.drafts.append(draft)
        self.group = group

    def _context(self, payload: dict[str, Any]) -> None:
        self.group = ""
        if isinstance(payload.get("cwd"), str):
            self.cwd = payload["cwd"]
        if isinstance(payload.get("model"), str):
            self.model = intern(payload["model"])

    def _event(self, payload: dict[str, Any], index: int, stamp: Any) -> None:
        kind, line = payload.get("type"), self.records.lines[index]
        if kind == "token_count":
            self.group = ""
            if isinstance(payload.get("info"), dict):
                self.window.read(payload["info"].get("model_context_window"), line, self.warnings)
                self._tokens(payload["info"], index)
        elif kind == "task_started":
            self.window.read(payload.get("model_context_window"), line, self.warnings)
        elif kind == "thread_rolled_back":
            turns = payload.get("num_turns")
            self._roll_back(turns if type(turns) is int else 0)
        elif kind in ("error", "stream_error"):
            details = {key: value for key, value in payload.items() if key != "type"}
            self.errors.append(api_error(f"item-{index + 1}", details, seconds_of(stamp), line))

    def _tokens(self, info: dict[str, Any], index: int) -> None:
        """Add the usage of one response. Ignore a record that repeats the totals, or a prompt far above the window."""
        total, last = info.get("total_token_usage"), info.get("last_token_usage")
        if not isinstance(last, dict):
            return
        sent = count_of(last.get("input_tokens"))
        if not sent and self.epochs and self.billed is None:
            self._set_size_after(count_of(last.get("total_tokens")))
        if total == self.totals:
            return
        self.totals = total
        if exceeds(sent, self.window.tokens):
            self.warn(impossible_usage_warning(sent, self.window.tokens), self.records.lines[index])
            return
        cached, written = (count_of(last.get(f"{name}_input_tokens")) for name in ("cached", "cache_write"))
        output, thought = count_of(last.get("output_tokens")), count_of(last.get("reasoning_output_tokens"))
        replayed = self.records.starts[index] < self.base or bool(self.fork and self.fork.replays)
        fresh = max(0, sent - cached - written)
        usage = Usage(fresh, output, cached, written, reasoning=thought, replayed=replayed)
        if self.usage_first is None:
            self.usage_first = self.billed is None
        if self.usage_first:
            self.pending_usage = usage
        elif self.billed is not None:
            self.billed.usage = usage

    def _set_size_after(self, tokens: int) -> None:
        """Record the context size after a compaction, as Codex estimates it."""
        ended = self.epochs[-1]
        if ended.ended_by and ended.ended_by.tokens_after is None:
            self.epochs[-1] = replace(ended, ended_by=replace(ended.ended_by, tokens_after=tokens or None))

    def _roll_back(self, turns: int) -> None:
        """Drop the newest turns from the context; each begins with a user message."""
        self.group = ""
        for _ in range(turns):
            starts = (place for place in range(len(self.sent) - 1, -1, -1) if self._starts_turn(self.sent[place]))
            start = next(starts, None)
            if start is None:
                return
            self.rolled_back.update(self.sent[start:])
            del self.sent[start:]

    def _starts_turn(self, number: int) -> bool:
        return self.drafts[number].role == "user" and self.drafts[number].kind == "normal"

    def _compacted(self, payload: dict[str, Any], index: int, stamp: Any) -> None:
        time = seconds_of(stamp)
        self.drafts.append(ItemDraft(f"item-{index + 1}", "system", "boundary", [], [index], time))
        before, copies, first = self.sent, self.copies, len(self.drafts)
        self.group, self.billed = "", None
        if before and _is_requested_summary(self.drafts[before[-1]], payload.get("message")):
            before.pop()
        items = payload.get("replacement_history")
        self.sent = []
        if isinstance(items, list):
            self._replace(items, index, before, stamp)
        else:
            text = payload.get("message")
            self.sent = self._user_texts(before)
            if isinstance(text, str) and text:
                draft = ItemDraft(f"item-{index + 1}-summary", "user", "summary", [Text(text)], [index], time)
                self.begin(draft, "")
        new = {number: self.drafts[number] for number in self.sent if number >= first}
        self.copies = frozenset(n for n, draft in new.items() if draft.kind == "normal" and draft.role in _AGENT_ROLES)
        summary = next((draft.id for draft in new.values() if draft.kind == "summary"), None)
        bills = (self.drafts[number].usage for number in reversed(before))
        tokens = next((usage.context + usage.output for usage in bills if usage), None)
        kept_ids = tuple(self.drafts[number].id for number in self.sent if number < first)
        ended_by = Compaction(tokens_before=tokens, summary=summary, time=time, kept_ids=kept_ids)
        if before or self.epochs:
            window = self.window.tokens
            self.epochs.append(Epoch(len(self.epochs) + 1, array("q", before), ended_by, copies, window))

    def _replace(self, items: list[Any], index: int, before: list[int], stamp: Any) -> None:
        known: dict[tuple[Role, Kind, tuple[Block, ...]], list[int]] = {}
        for number in before:
            draft = self.drafts[number]
            if all(isinstance(block, Text) for block in draft.blocks):
                known.setdefault((draft.role, draft.kind, tuple(draft.blocks)), []).append(number)
        spans = self._item_spans(index)
        for place, item in enumerate(items):
            if not isinstance(item, dict):
                self.warn("a compaction holds an item that is not an object", self.records.lines[index])
                continue
            if group_of(item) == "request":
                blocks = blocks_of(item)
                role, kind = role_and_kind(item, blocks)
                same = known.get((role, kind, blocks)) if all(isinstance(block, Text) for block in blocks) else None
                if same:
                    self.sent.append(same.pop())
                    self.group = ""
                    continue
            source = index
            if spans is not None:
                source = self.records.add(*spans[place], self.records.lines[index])
            self._item(item, source, stamp)
        self.group = ""

    def _item_spans(self, index: int) -> list[tuple[int, int]] | None:
        """Return start and stop of a compaction's items in the file; None if its line is not strict JSON."""
        start = self.records.starts[index]
        text = self.records[index].decode("latin-1")
        try:
            outer = object_items(text)["payload"]
            inner = object_items(text[slice(*outer)])["replacement_history"]
            offset = start + outer[0] + inner[0]
            return [(a + offset, b + offset) for a, b in array_items(text[outer[0] + inner[0] : outer[0] + inner[1]])]
        except (ValueError, KeyError):
            return None

    def _user_texts(self, before: list[int]) -> list[int]:
        """Return the messages that a compaction without items keeps: the newest user messages, up to `_KEPT_TEXT`."""
        room = _KEPT_TEXT
        numbers: list[int] = []
        for number in reversed(before):
            if not self._starts_turn(number):
                continue
            if room <= 0:
                break
            room -= sum(len(block.text) for block in self.drafts[number].blocks if isinstance(block, Text))
            numbers.append(number)
        return numbers[::-1]

    def finish(self) -> None:
        if any(draft.kind != "boundary" for draft in self.drafts):
            self.messages = [draft.message() for draft in self.drafts]
        self.end_epoch()

    def session(self) -> Session:
        messages, meta = with_user_text(self.messages), self.meta
        branch = self.branch_without(self.rolled_back.difference(*(epoch.members for epoch in self.epochs)))
        instructions = meta.get("base_instructions", meta.get("instructions"))
        instructions = instructions.get("text") if isinstance(instructions, dict) else instructions
        for kind, n in self.unknown.items():
            of = kind if kind.startswith(("of ", "without ")) else f"of unknown type {kind!r}"
            self.warn(f"{counted(n, 'record')} {of} {are(n)} kept in the file, not shown")
        if is_traes(meta):
            self.warn("written by Trae CLI in Codex's format; read as Codex", 1)
        return self._session(
            ID,
            messages,
            branch=branch,
            id=text_of(meta.get("id")),
            title=first_words(messages[number] for number in branch),
            model=next((m.model for m in reversed(messages) if m.model), self.model),
            cwd=self.cwd,
            system=text_of(instructions),
            tools=tools_of(meta.get("dynamic_tools")),
            facts=SessionFacts(
                api_errors=tuple(self.errors),
                version=text_of(meta.get("cli_version")),
                git_branch=text_of(dict_of(meta.get("git")).get("branch")),
            ),
        )


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read a rollout. Raises BadInput when it has no message or cannot be decompressed."""
    if data.startswith(ZSTD):
        data = unpack_zstd(path, data)
    data, base, note = with_base(path, data)
    lines = lines_of(data)
    reader = Reader(path, lines.records, base)
    if note:
        reader.warn(note)
    return reader.follow(lines, progress)


def by_line(first: bytes) -> ReadLines | None:
    """Return the reader of lines, None for a rollout that continues another one."""
    return Reader.read_lines if is_alone(first) else None


def _interned(block: Block) -> Block:
    return ToolUse(block.id, intern(block.name), block.input) if isinstance(block, ToolUse) else block


def _is_requested_summary(draft: ItemDraft, message: Any) -> bool:
    """Return True if a response is the summary that a compaction requested; since 0.169 the rollout records it too."""
    texts = [block.text for block in draft.blocks if isinstance(block, Text)]
    known = isinstance(message, str) and message.startswith(SUMMARY_PREFIX)
    return known and draft.role == "assistant" and bool(texts) and message.endswith(texts[-1])
