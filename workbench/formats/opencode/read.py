"""Read opencode sessions."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.reading import read_file
from workbench.base.stamps import seconds_of
from workbench.base.text import counted
from workbench.formats.agent_texts import is_summary, with_user_text
from workbench.formats.format import Part, Progress
from workbench.formats.kit.api_errors import api_error
from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.database import SQLITE
from workbench.formats.kit.names import first_words, unique_id
from workbench.formats.kit.several import newest, one_of
from workbench.formats.kit.usage import replayed_before
from workbench.formats.kit.values import dict_of, dollars_of, list_of, text_of
from workbench.formats.look import Look
from workbench.formats.opencode import ID, is_session_file, store
from workbench.formats.opencode.parts import (
    block_of,
    cleared_at,
    has_stale_usage,
    is_bookkeeping,
    noted_kind,
    tool_blocks,
    uncleared,
)
from workbench.session.api_errors import ApiError
from workbench.session.message import Block, Kind, Message, Opaque, Thinking, ToolResult, Usage
from workbench.session.session import Compaction, Epoch, LoadWarning, Records, Session, SessionFacts


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read an export, the newest session of a database, or the session of a file in the storage folder. Raises
    BadInput."""
    if data.startswith(SQLITE):
        return newest(path, sessions_in(path, data), "session", lambda id: read_part(path, data, id, progress))
    if is_session_file(Look.of(data).document):
        return _session(path, store.from_files(path, data), progress)
    return _session(path, store.parse_export(path, data), progress)


def sessions_in(path: Path, data: bytes) -> tuple[Part, ...]:
    """Return the sessions of a database, newest first; empty for an export, which is one. Raises BadInput."""
    return store.sessions_in(path, data) if data.startswith(SQLITE) else ()


def read_part(path: Path, data: bytes, part_id: str, progress: Progress) -> Session:
    """Read one session of a database. Raises BadInput if there is no such session."""
    if not data.startswith(SQLITE):
        return read(path, data, progress)
    return _session(path, store.from_database(path, data, part_id), progress)


def read_folder(path: Path, progress: Progress) -> Session:
    """Read the session of a storage folder that was changed last. Raises BadInput if there is none."""
    files = store.session_files(path)
    if not files:
        raise BadInput(f"{path} holds no session; open opencode's storage folder.")
    session = read(files[0], read_file(files[0]), progress)
    last = f"the most recently used one; each is opened by its file, as {files[0]}"
    return one_of(len(files), "session", session, last)


def _session(path: Path, export: store.StoredExport, progress: Progress) -> Session:
    """Read a session. Raises BadInput if there is no list of messages."""
    data, document, warnings = export
    progress(0, len(data))
    items = document.get("messages") if isinstance(document, dict) else None
    if not isinstance(items, list):
        raise BadInput(f"{path}: has no list of messages; open what `opencode export` writes.")
    info = dict_of(document.get("info"))
    reader = _SessionReader(_finished_compactions(items), warnings, _starts(items))
    undone = dict_of(info.get("revert")).get("messageID")
    for index, item in enumerate(items):
        record = dict_of(item)
        id = dict_of(record.get("info")).get("id")
        if undone is not None and id == undone:
            reader.live = False
            last = counted(len(items) - index, "message")
            warnings.append(LoadWarning(f"undone and no longer sent: the last {last}"))
        parts = list_of(record.get("parts"))
        _clear(reader, index)
        _take(reader, index, item, dict_of(record.get("info")), parts)
        if any(map(has_stale_usage, parts)):
            reader.messages = [replace(message, usage=None) for message in reader.messages]
    _clear(reader, len(items))
    reader.end(None, reader.current)
    progress(len(data), len(data))
    # A fork has its parent's messages under new ids, with their original times.
    messages = with_user_text(replayed_before(reader.messages, seconds_of(dict_of(info.get("time")).get("created"))))
    costs = any(message.usage and message.usage.cost for message in messages)
    newest = next((m.model for m in reversed(messages) if m.model and m.role == "assistant"), None)
    users = [dict_of(dict_of(item).get("info")) for item in items]
    system = next((as_text(user["system"]) for user in reversed(users) if user.get("system")), "")
    return Session(
        format=ID,
        path=path,
        messages=messages,
        branch=reader.branch if len(reader.branch) < len(messages) else range(len(messages)),
        epochs=tuple(reader.epochs),
        records=Records(data),
        id=as_text(info.get("id") or ""),
        title=_title(info) or first_words(messages),
        model=newest,
        cwd=info["directory"] if isinstance(info.get("directory"), str) else None,
        system=system,
        warnings=tuple(warnings),
        facts=SessionFacts(
            api_errors=tuple(reader.errors),
            version=text_of(info.get("version")),
            provider=next((id for user in reversed(users) if (id := text_of(user.get("providerID")))), ""),
            cost=None if costs else dollars_of(info.get("cost")),
        ),
    )


@dataclass(slots=True)
class _SessionReader:
    """A session while it is read.

    `compactions`: record of the summary, by id of a compaction's request. `requests`: record of the request, its part,
    and the messages that the compaction keeps, by the same id. `starts`: creation time of each record. `records`:
    record of each message. `current`: the context so far, as message numbers. `cleared`: for each record
    before which results were cleared, the number of each cleared form by the number of its message. `copies`: cleared
    forms in this epoch. `live`: False for undone messages.
    """

    compactions: dict[str, int]
    warnings: list[LoadWarning]
    starts: list[float]
    messages: list[Message] = field(default_factory=list)
    records: list[int] = field(default_factory=list)
    cleared: dict[int, dict[int, int]] = field(default_factory=dict)
    copies: frozenset[int] = frozenset()
    branch: list[int] = field(default_factory=list)
    current: list[int] = field(default_factory=list)
    epochs: list[Epoch] = field(default_factory=list)
    requests: dict[str, tuple[int, dict[str, Any], list[int]]] = field(default_factory=dict)
    ids: dict[str, int] = field(default_factory=dict)
    errors: list[ApiError] = field(default_factory=list)
    live: bool = True

    def add(self, message: Message, record: int, *, sent: bool) -> int:
        """Add a message read from record `record`; return its number."""
        if self.live:
            self.branch.append(len(self.messages))
            if sent and message.blocks:
                self.current.append(len(self.messages))
        self.messages.append(message)
        self.records.append(record)
        return len(self.messages) - 1

    def end(self, by: Compaction | None, members: list[int]) -> None:
        self.epochs.append(Epoch(len(self.epochs) + 1, members, by, self.copies))

    def free_id(self, id: Any, index: int) -> str:
        return unique_id(id if isinstance(id, str) and id else f"m{index + 1}", self.ids)


def _finished_compactions(items: list[Any]) -> dict[str, int]:
    """Return the index of the finished, error-free summary for each request id; the last one if there are several."""
    request_ids = {
        info["id"]
        for item in items
        if (info := dict_of(dict_of(item).get("info"))).get("role") == "user"
        and isinstance(info.get("id"), str)
        and any(dict_of(part).get("type") == "compaction" for part in list_of(dict_of(item).get("parts")))
    }
    found: dict[str, int] = {}
    for index, item in enumerate(items):
        info = dict_of(dict_of(item).get("info"))
        finished = info.get("summary") and info.get("finish") and not info.get("error")
        if info.get("role") == "assistant" and finished and as_text(info.get("parentID")) in request_ids:
            found[info["parentID"]] = index
    return found


def _starts(items: list[Any]) -> list[float]:
    """Return the creation time of each record, never before that of the previous one."""
    found: list[float] = []
    for item in items:
        time = _created(dict_of(dict_of(item).get("info"))) or 0
        found.append(max(time, found[-1]) if found else time)
    return found


def _take(reader: _SessionReader, index: int, item: Any, info: dict[str, Any], parts: list[Any]) -> None:
    role = info.get("role")
    if role == "user":
        _take_user(reader, index, info, parts)
    elif role == "assistant":
        parent = as_text(info.get("parentID"))
        if reader.compactions.get(parent) == index and parent in reader.requests:
            _take_summary(reader, index, info, parts)
        else:
            _take_answer(reader, index, info, parts)
    else:
        reader.warnings.append(
            LoadWarning(f"message {index + 1} is neither a user nor an assistant message; kept, not sent")
        )
        reader.add(
            Message(reader.free_id(info.get("id"), index), "user", (Opaque("record", item),), "meta", source=(index,)),
            index,
            sent=False,
        )


def _take_user(reader: _SessionReader, index: int, info: dict[str, Any], parts: list[Any]) -> None:
    request = next((part for part in parts if dict_of(part).get("type") == "compaction"), None)
    if request is not None and as_text(info.get("id")) in reader.compactions:
        tail = _tail(reader, as_text(request.get("tail_start_id") or ""))
        reader.requests[info["id"]] = (index, request, tail)
        return
    sent = [part for part in parts if not is_bookkeeping(part)]
    blocks = tuple(block for part in sent for block in block_of(part))
    texts = [part for part in sent if dict_of(part).get("type") == "text"]
    kind: Kind = "normal"
    if noted := _noted_kind(texts):
        kind = noted
    elif texts and is_summary(as_text(texts[0].get("text"))):
        kind = "summary"
    elif all(dict_of(part).get("synthetic") or dict_of(part).get("type") == "compaction" for part in sent):
        kind = "meta"
    id = reader.free_id(info.get("id"), index)
    reader.add(Message(id, "user", blocks, kind, time=_created(info), source=(index,)), index, sent=True)


def _noted_kind(parts: list[Any]) -> Kind | None:
    return next((kind for part in parts if (kind := noted_kind(part))), None)


def _tail(reader: _SessionReader, first: str) -> list[int]:
    """Return the context messages that a compaction keeps: from the one with the id `first` on."""
    at = next((n for n, i in enumerate(reader.current) if reader.messages[i].id == first), None)
    if first and at is None:
        reader.warnings.append(LoadWarning(f"a compaction keeps messages from {first} on, which is not in the context"))
    return [] if at is None else reader.current[at:]


def _take_summary(reader: _SessionReader, index: int, info: dict[str, Any], parts: list[Any]) -> None:
    """Begin a new epoch: the summary, the tail it kept, and the messages between request and answer."""
    question, request, tail = reader.requests[info["parentID"]]
    between = [i for i in reader.current if reader.records[i] > question]
    blocks = tuple(block for part in parts if dict_of(part).get("type") == "text" for block in block_of(part))
    id = reader.free_id(info.get("id"), index)
    time, usage = _created(info), _usage(info)
    if reader.live and reader.current:
        trigger = "auto" if request.get("auto") else "manual"
        tokens = usage.context if usage else None
        retained_ids = tuple(reader.messages[number].id for number in tail)
        by = Compaction("overflow" if request.get("overflow") else trigger, tokens, id, time, kept_ids=retained_ids)
        reader.end(by, [i for i in reader.current if i not in between])
    if reader.live:
        reader.current = []
    summary = Message(id, "user", blocks, "summary", time=time, model=_model(info), source=(question, index))
    reader.add(summary, index, sent=True)
    if reader.live:
        reader.current += [*tail, *(i for i in between if i not in tail)]
        reader.copies = reader.copies.intersection(reader.current)


def _take_answer(reader: _SessionReader, index: int, info: dict[str, Any], parts: list[Any]) -> None:
    id = reader.free_id(info.get("id"), index)
    error = dict_of(info.get("error"))
    aborted = error.get("name") == "MessageAbortedError" and any(
        dict_of(part).get("type") not in ("step-start", "reasoning") for part in parts
    )
    sent = not error or aborted
    if error and error.get("name") != "MessageAbortedError":
        reader.errors.append(api_error(id, error, _created(info)))
    steps = list(_steps(parts))
    time, source = _created(info), (index,)
    for number, step in enumerate(steps, 1):
        blocks, results = _sent_blocks([uncleared(part) if cleared_at(part) is not None else part for part in step])
        kind: Kind = _noted_kind(step) or "normal"
        name = id if number == 1 else f"{id}:{number}"
        recorded = next((part for part in map(dict_of, step) if part.get("type") == "step-finish"), {})
        usage = None if error else _usage(info if len(steps) == 1 else recorded)
        if blocks or not results:
            answer = Message(name, "assistant", blocks, kind, time=time, usage=usage, model=_model(info), source=source)
            reader.add(answer, index, sent=sent)
        if results:
            _take_results(
                reader, index, Message(f"{name}:results", "tool", results, time=time, source=source), step, sent
            )


def _take_results(reader: _SessionReader, index: int, whole: Message, step: list[Any], sent: bool) -> None:
    """Add a step's results as first sent, and as they are after each clearing of some of them."""
    if all(cleared_at(part) is None for part in step):
        reader.add(whole, index, sent=sent)
        return
    parts = [part for part in step if tool_blocks(part)]
    times = {n: time for n, part in enumerate(parts) if (time := cleared_at(part)) is not None}
    places = {n: max(bisect(reader.starts, time), index + 1) for n, time in times.items()}
    at = reader.add(whole, index, sent=sent)
    for count, place in enumerate(sorted(set(places.values())), 1):
        shown = [uncleared(part) if places.get(n, 0) > place else part for n, part in enumerate(parts)]
        blocks = tuple(pair[1] for part in shown if (pair := tool_blocks(part)))
        time = min(time for n, time in times.items() if places[n] == place)
        form = Message(f"{whole.id}~cleared{'' if count == 1 else count}", "tool", blocks, time=time)
        reader.messages.append(form)
        reader.records.append(index)
        reader.cleared.setdefault(place, {})[at] = at = len(reader.messages) - 1


def _clear(reader: _SessionReader, place: int) -> None:
    """End the epoch at `place` if opencode cleared results of the context before that record."""
    cleared = reader.cleared.get(place)
    if not cleared:  # usual case; scanning the context for each record would be slow
        return
    found = [cleared[number] for number in reader.current if number in cleared]
    if not found or not reader.live:
        return
    usages = (reader.messages[number].usage for number in reversed(reader.current))
    last = next((usage for usage in usages if usage), None)
    tokens = last.context + last.output if last else None
    time = min(reader.messages[number].time or 0 for number in found)
    reader.end(Compaction("prune", tokens, time=time, way="clearing"), reader.current)
    reader.current = [cleared.get(number, number) for number in reader.current]
    reader.copies = reader.copies | frozenset(found)


def _steps(parts: list[Any]) -> Iterator[list[Any]]:
    """Yield the parts of each model call: one begins at a `step-start` that follows tools."""
    step: list[Any] = []
    for part in parts:
        kind = dict_of(part).get("type")
        if kind == "step-start" and any(dict_of(before).get("type") == "tool" for before in step):
            yield step
            step = []
        step.append(part)
    yield step


def _sent_blocks(step: list[Any]) -> tuple[tuple[Block, ...], tuple[ToolResult, ...]]:
    blocks: list[Block] = []
    results: list[ToolResult] = []
    signed: set[str] = set()
    for part in step:
        pair = tool_blocks(part)
        if pair is not None:
            blocks.append(pair[0])
            results.append(pair[1])
        elif not is_bookkeeping(part):
            blocks += (_signed_once(block, signed) for block in block_of(part))
    return tuple(blocks), tuple(results)


def _signed_once(block: Block, signed: set[str]) -> Block:
    """Remove a repeated signature: reasoning in several parts repeats it with each, and is sent as one item."""
    if not isinstance(block, Thinking) or not block.signature:
        return block
    again = block.signature in signed
    signed.add(block.signature)
    return replace(block, signature="") if again else block


def _usage(about: dict[str, Any]) -> Usage | None:
    """Return tokens and dollars of a call; None for the zeros of a started response. The recorded `input` excludes the
    cache, and `output` excludes reasoning."""
    tokens = dict_of(about.get("tokens"))
    cache, cost = dict_of(tokens.get("cache")), dollars_of(about.get("cost"))
    output = _count(tokens.get("output")) + _count(tokens.get("reasoning"))
    usage = Usage(_count(tokens.get("input")), output, _count(cache.get("read")), _count(cache.get("write")), cost=cost)
    return usage if usage.context else None


def _count(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and 0 < value < 1e15 else 0


def _created(info: dict[str, Any]) -> float | None:
    return seconds_of(dict_of(info.get("time")).get("created"))


def _model(info: dict[str, Any]) -> str | None:
    return info["modelID"] if isinstance(info.get("modelID"), str) else None


def _title(info: dict[str, Any]) -> str:
    """Return the session's title, "" until opencode has generated one."""
    title = as_text(info.get("title") or "")
    return "" if title.startswith(("New session - ", "Child session - ")) else title
