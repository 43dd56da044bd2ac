"""Reading: Codex rollout."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from sys import intern
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.stamps import seconds_of
from workbench.base.text import are, counted
from workbench.formats.absurd import exceeds, impossible
from workbench.formats.agent_texts import with_user_text
from workbench.formats.codex.base import is_alone, with_base
from workbench.formats.codex.items import SUMMARY_PREFIX, Side, blocks_of, role_and_kind, side_of
from workbench.formats.codex.signature import ID, is_traes
from workbench.formats.format import Progress, ReadLines
from workbench.formats.kit import zstd
from workbench.formats.kit.api_errors import api_error
from workbench.formats.kit.chat import tools_of
from workbench.formats.kit.json_spans import array_items, object_items
from workbench.formats.kit.jsonl import Lines, lines_of, objects_of
from workbench.formats.kit.magic import ZSTD
from workbench.formats.kit.titles import first_words
from workbench.formats.kit.values import count_of, dict_of, text_of
from workbench.formats.kit.window import RecordedWindow
from workbench.session import ApiError
from workbench.session.message import Block, Kind, Message, Opaque, Role, Text, ToolUse, Usage
from workbench.session.session import Compaction, Epoch, LoadWarning, Records, Session, SessionFacts

_OTHERS = ("event_msg", "turn_context", "world_state", "rollout_reference", "token_usage_record")
_AGENTS: tuple[Role, ...] = ("assistant", "tool")
_KEPT_TEXT = 80_000
"""Characters of user texts that a compaction without a list of items keeps: 20,000 tokens at four each."""


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read a rollout. Raises BadInput when it holds no message, or is compressed and cannot be unpacked."""
    if data.startswith(ZSTD):
        data = zstd.unpack(path, data)
    data, base, note = with_base(path, data)
    return read_lines(path, lines_of(data), progress, [LoadWarning(note)] if note else [], base)


def by_line(first: bytes) -> ReadLines | None:
    return read_lines if is_alone(first) else None


def read_lines(
    path: Path, lines: Lines, progress: Progress, warnings: Sequence[LoadWarning] = (), base: int = 0
) -> Session:
    """The same of a rollout's own lines, behind the `base` bytes of the one that it goes on from; `warnings` are of
    what was before them."""
    reading = Reading(lines.records, base=base, warnings=[*warnings])
    for value, index, _ in objects_of(lines.found, lines.size, lines.records, reading.warnings, progress):
        take(reading, value, index)
    if not any(draft.kind != "boundary" for draft in reading.drafts):
        raise BadInput(f"{path} is a Codex rollout without messages; open another session.")
    return session_of(path, reading)


@dataclass(slots=True)
class Draft:
    """A message while its items come in."""

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
"""A fork begins with the history of its parent, which is stamped with the time at which it was copied."""


@dataclass(slots=True)
class Fork:
    """A session that begins with another one's history. Its own turns have later ids than itself; where turns have no
    id, what is stamped `FORK_SECONDS` after the first line is its own."""

    id: str
    since: float
    by_turn: bool = False
    replays: bool = True

    def see(self, turn: Any, time: float | None) -> None:
        """Take a record's turn id and time."""
        if isinstance(turn, str) and turn:
            self.by_turn, self.replays = True, turn < self.id
        elif not self.by_turn and time is not None and time > self.since + FORK_SECONDS:
            self.replays = False


@dataclass(slots=True)
class Reading:
    """What has been read so far. `history` numbers the drafts that the model would be sent now, `copies` those of them
    that the newest compaction wrote down again.

    `side` is that of the newest draft while it may still grow. `early` says whether token records stand before the
    response they count (0.40) or after its items (0.104 and later); None until the first one. The calls of the first
    `base` bytes and those that a `fork` begins with were made in another session.
    """

    records: Records
    base: int = 0
    fork: Fork | None = None
    drafts: list[Draft] = field(default_factory=list)
    history: list[int] = field(default_factory=list)
    copies: frozenset[int] = frozenset()
    epochs: list[Epoch] = field(default_factory=list)
    gone: set[int] = field(default_factory=set)
    warnings: list[LoadWarning] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)
    meta: dict[str, Any] = field(default_factory=dict)
    cwd: str | None = None
    model: str | None = None
    window: RecordedWindow = field(default_factory=RecordedWindow)
    side: Side = ""
    early: bool | None = None
    waiting: Usage | None = None
    billed: Draft | None = None
    totals: Any = None
    errors: list[ApiError] = field(default_factory=list)


def take(reading: Reading, value: dict[str, Any], index: int) -> None:
    kind, payload, stamp = value.get("type"), value.get("payload"), value.get("timestamp")
    if reading.fork is not None:
        reading.fork.see(dict_of(payload).get("turn_id"), seconds_of(stamp))
    if not isinstance(payload, dict):
        _take_bare(reading, value, index, stamp)
    elif kind == "response_item":
        _item(reading, payload, index, stamp)
    elif kind == "event_msg":
        _event(reading, payload, index, stamp)
    elif kind == "turn_context":
        _context(reading, payload)
    elif kind == "compacted":
        _compacted(reading, payload, index, stamp)
    elif kind == "session_meta":
        if not reading.meta:
            reading.meta = payload
            _context(reading, payload)
            if payload.get("forked_from_id"):
                reading.fork = Fork(text_of(payload.get("id")), seconds_of(stamp) or 0.0)
    elif kind == "inter_agent_communication":
        said = Draft(f"item-{index + 1}", "user", "meta", [Opaque(kind, payload)], [index], seconds_of(stamp))
        add(reading, said, "request")
    elif kind not in _OTHERS:
        reading.unknown[str(kind)] += 1


def _take_bare(reading: Reading, value: dict[str, Any], index: int, stamp: Any) -> None:
    """A line of Codex before 0.32: the first says what the session is, the others are items."""
    if isinstance(value.get("type"), str):
        _item(reading, value, index, stamp)
    elif "id" in value and not reading.meta:
        reading.meta = value
    elif "record_type" not in value:
        reading.unknown["without a type"] += 1


def _item(reading: Reading, item: dict[str, Any], index: int, stamp: Any) -> None:
    """`stamp` is the time as the line has it: that of many an item is never asked for."""
    side = side_of(item)
    if not side:
        if not isinstance(item.get("type"), str):
            reading.unknown["of a response item without a type"] += 1
        return
    blocks = blocks_of(item)
    if side != "request" and side == reading.side:
        draft = reading.drafts[-1]
        draft.blocks += map(_interned, blocks)
        draft.source.append(index)
        return
    role, kind = role_and_kind(item, blocks)
    model = reading.model if role == "assistant" else None
    own = [_interned(block) for block in blocks]
    draft = Draft(f"item-{index + 1}", role, kind, own, [index], seconds_of(stamp), model)
    if role == "assistant":
        draft.usage, reading.waiting = reading.waiting, None
        reading.billed = draft
    add(reading, draft, side)


def add(reading: Reading, draft: Draft, side: Side) -> None:
    reading.history.append(len(reading.drafts))
    reading.drafts.append(draft)
    reading.side = side


def _interned(block: Block) -> Block:
    return ToolUse(block.id, intern(block.name), block.input) if isinstance(block, ToolUse) else block


def _context(reading: Reading, payload: dict[str, Any]) -> None:
    reading.side = ""
    if isinstance(payload.get("cwd"), str):
        reading.cwd = payload["cwd"]
    if isinstance(payload.get("model"), str):
        reading.model = intern(payload["model"])


def _event(reading: Reading, payload: dict[str, Any], index: int, stamp: Any) -> None:
    kind, line = payload.get("type"), reading.records.lines[index]
    if kind == "token_count":
        reading.side = ""
        if isinstance(payload.get("info"), dict):
            reading.window.read(payload["info"].get("model_context_window"), line, reading.warnings)
            _tokens(reading, payload["info"], index)
    elif kind == "task_started":
        reading.window.read(payload.get("model_context_window"), line, reading.warnings)
    elif kind == "thread_rolled_back":
        turns = payload.get("num_turns")
        _roll_back(reading, turns if type(turns) is int else 0)
    elif kind in ("error", "stream_error"):
        said = {key: value for key, value in payload.items() if key != "type"}
        reading.errors.append(api_error(f"item-{index + 1}", said, seconds_of(stamp), line))


def _tokens(reading: Reading, info: dict[str, Any], index: int) -> None:
    """Usage of one response. The same totals twice are one record, repeated; a prompt far above the window is none."""
    total, last = info.get("total_token_usage"), info.get("last_token_usage")
    if not isinstance(last, dict):
        return
    sent = count_of(last.get("input_tokens"))
    if not sent and reading.epochs and reading.billed is None:
        _sized(reading, count_of(last.get("total_tokens")))
    if total == reading.totals:
        return
    reading.totals = total
    if exceeds(sent, reading.window.tokens):
        reading.warnings.append(LoadWarning(impossible(sent, reading.window.tokens), reading.records.lines[index]))
        return
    cached, written = (count_of(last.get(f"{name}_input_tokens")) for name in ("cached", "cache_write"))
    output, thought = count_of(last.get("output_tokens")), count_of(last.get("reasoning_output_tokens"))
    replayed = reading.records.starts[index] < reading.base or bool(reading.fork and reading.fork.replays)
    fresh = max(0, sent - cached - written)
    usage = Usage(fresh, output, cached, written, reasoning=thought, replayed=replayed)
    if reading.early is None:
        reading.early = reading.billed is None
    if reading.early:
        reading.waiting = usage
    elif reading.billed is not None:
        reading.billed.usage = usage


def _sized(reading: Reading, tokens: int) -> None:
    """What Codex takes the context for that a compaction has just left."""
    ended = reading.epochs[-1]
    if ended.ended_by and ended.ended_by.tokens_after is None:
        reading.epochs[-1] = replace(ended, ended_by=replace(ended.ended_by, tokens_after=tokens or None))


def _roll_back(reading: Reading, turns: int) -> None:
    """Drop the newest turns from the context: each begins with a message of the user's own."""
    reading.side = ""
    for _ in range(turns):
        starts = (
            place for place in range(len(reading.history) - 1, -1, -1) if _starts_turn(reading, reading.history[place])
        )
        start = next(starts, None)
        if start is None:
            return
        reading.gone.update(reading.history[start:])
        del reading.history[start:]


def _starts_turn(reading: Reading, number: int) -> bool:
    return reading.drafts[number].role == "user" and reading.drafts[number].kind == "normal"


def _compacted(reading: Reading, payload: dict[str, Any], index: int, stamp: Any) -> None:
    time = seconds_of(stamp)
    reading.drafts.append(Draft(f"item-{index + 1}", "system", "boundary", [], [index], time))
    before, copies, first = reading.history, reading.copies, len(reading.drafts)
    reading.side, reading.billed = "", None
    if before and _wrote(reading.drafts[before[-1]], payload.get("message")):
        before.pop()
    items = payload.get("replacement_history")
    reading.history = []
    if isinstance(items, list):
        _replace(reading, items, index, before, stamp)
    else:
        text = payload.get("message")
        reading.history = _user_texts(reading, before)
        if isinstance(text, str) and text:
            draft = Draft(f"item-{index + 1}-summary", "user", "summary", [Text(text)], [index], time)
            add(reading, draft, "")
    made = {number: reading.drafts[number] for number in reading.history if number >= first}
    reading.copies = frozenset(n for n, draft in made.items() if draft.kind == "normal" and draft.role in _AGENTS)
    summary = next((draft.id for draft in made.values() if draft.kind == "summary"), None)
    bills = (reading.drafts[number].usage for number in reversed(before))
    tokens = next((usage.context + usage.output for usage in bills if usage), None)
    kept = tuple(reading.drafts[number].id for number in reading.history if number < first)
    ended_by = Compaction(tokens_before=tokens, summary=summary, time=time, kept=kept)
    if before or reading.epochs:
        window = reading.window.tokens
        reading.epochs.append(Epoch(len(reading.epochs) + 1, array("q", before), ended_by, copies, window))


def _wrote(draft: Draft, message: Any) -> bool:
    """Whether a response is the summary that a compaction asked for: since 0.169 it stands in the rollout, too."""
    texts = [block.text for block in draft.blocks if isinstance(block, Text)]
    known = isinstance(message, str) and message.startswith(SUMMARY_PREFIX)
    return known and draft.role == "assistant" and bool(texts) and message.endswith(texts[-1])


def _replace(reading: Reading, items: list[Any], index: int, before: list[int], stamp: Any) -> None:
    known: dict[tuple[Role, Kind, tuple[Block, ...]], list[int]] = {}
    for number in before:
        draft = reading.drafts[number]
        if all(isinstance(block, Text) for block in draft.blocks):
            known.setdefault((draft.role, draft.kind, tuple(draft.blocks)), []).append(number)
    spans = _item_spans(reading, index)
    for place, item in enumerate(items):
        if not isinstance(item, dict):
            reading.warnings.append(
                LoadWarning("a compaction holds an item that is not an object", reading.records.lines[index])
            )
            continue
        if side_of(item) == "request":
            blocks = blocks_of(item)
            role, kind = role_and_kind(item, blocks)
            same = known.get((role, kind, blocks)) if all(isinstance(block, Text) for block in blocks) else None
            if same:
                reading.history.append(same.pop())
                reading.side = ""
                continue
        source = index
        if spans is not None:
            source = reading.records.add(*spans[place], reading.records.lines[index])
        _item(reading, item, source, stamp)
    reading.side = ""


def _item_spans(reading: Reading, index: int) -> list[tuple[int, int]] | None:
    """Where the items of a compaction lie in the file; None where its line is not strict JSON."""
    start = reading.records.starts[index]
    text = reading.records[index].decode("latin-1")
    try:
        outer = object_items(text)["payload"]
        inner = object_items(text[slice(*outer)])["replacement_history"]
        offset = start + outer[0] + inner[0]
        return [(a + offset, b + offset) for a, b in array_items(text[outer[0] + inner[0] : outer[0] + inner[1]])]
    except (ValueError, KeyError):
        return None


def _user_texts(reading: Reading, before: list[int]) -> list[int]:
    """What a compaction in clear keeps: the newest of the user's own messages, up to a size."""
    room = _KEPT_TEXT
    kept: list[int] = []
    for number in reversed(before):
        if not _starts_turn(reading, number):
            continue
        if room <= 0:
            break
        room -= sum(len(block.text) for block in reading.drafts[number].blocks if isinstance(block, Text))
        kept.append(number)
    return kept[::-1]


def session_of(path: Path, reading: Reading) -> Session:
    messages = with_user_text(draft.message() for draft in reading.drafts)
    window = reading.window.tokens
    newest = Epoch(len(reading.epochs) + 1, array("q", reading.history), copies=reading.copies, window=window)
    epochs = (*reading.epochs, newest)
    gone = reading.gone.difference(*(epoch.members for epoch in epochs))
    branch = [number for number in range(len(messages)) if number not in gone] if gone else range(len(messages))
    about = reading.meta
    instructions = about.get("base_instructions", about.get("instructions"))
    instructions = instructions.get("text") if isinstance(instructions, dict) else instructions
    warnings = [
        LoadWarning(f"{counted(n, 'record')} {what} {are(n)} kept in the file, not shown")
        for what, n in _unknown(reading)
    ]
    if is_traes(about):
        warnings.append(LoadWarning("written by Trae CLI in Codex's format; read as Codex", 1))
    id = about.get("id")
    return Session(
        format=ID,
        path=path,
        messages=messages,
        branch=branch,
        epochs=epochs,
        records=reading.records,
        id=text_of(id),
        title=first_words(messages[number] for number in branch),
        model=next((m.model for m in reversed(messages) if m.model), reading.model),
        cwd=reading.cwd,
        system=text_of(instructions),
        tools=tools_of(about.get("dynamic_tools")),
        warnings=tuple(reading.warnings + warnings),
        facts=SessionFacts(
            api_errors=tuple(reading.errors),
            version=text_of(about.get("cli_version")),
            git_branch=text_of(dict_of(about.get("git")).get("branch")),
        ),
    )


def _unknown(reading: Reading) -> list[tuple[str, int]]:
    return [
        (what if what.startswith(("of ", "without ")) else f"of unknown type {what!r}", count)
        for what, count in reading.unknown.items()
    ]
