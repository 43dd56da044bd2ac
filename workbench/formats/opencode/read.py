"""Reading: opencode."""

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
from workbench.formats.kit.ids import unique_id
from workbench.formats.kit.magic import SQLITE
from workbench.formats.kit.several import newest, one_of
from workbench.formats.kit.titles import first_words
from workbench.formats.kit.usage import replayed_before
from workbench.formats.kit.values import dict_of, dollars_of, list_of, text_of
from workbench.formats.look import Look
from workbench.formats.opencode import store
from workbench.formats.opencode.parts import (
    block_of,
    cleared_at,
    is_bookkeeping,
    is_spent,
    noted_kind,
    tool_blocks,
    uncleared,
)
from workbench.formats.opencode.signature import ID, is_session_file
from workbench.session.api_errors import ApiError
from workbench.session.message import Block, Kind, Message, Opaque, Thinking, ToolResult, Usage
from workbench.session.session import Compaction, Epoch, LoadWarning, Records, Session, SessionFacts


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read an export, the newest session of a database, or one by its file in the storage folder. Raises BadInput."""
    if data.startswith(SQLITE):
        return newest(path, sessions_in(path, data), "session", lambda id: read_part(path, data, id, progress))
    if is_session_file(Look.of(data).document):
        return _session(path, store.from_files(path, data), progress)
    return _session(path, store.exported(path, data), progress)


def sessions_in(path: Path, data: bytes) -> tuple[Part, ...]:
    """The sessions of a database, the newest first; none for an export, which is one. Raises BadInput."""
    return store.sessions_in(path, data) if data.startswith(SQLITE) else ()


def read_part(path: Path, data: bytes, part_id: str, progress: Progress) -> Session:
    """Read one session of a database. Raises BadInput when there is no such session."""
    if not data.startswith(SQLITE):
        return read(path, data, progress)
    return _session(path, store.from_database(path, data, part_id), progress)


def read_folder(path: Path, progress: Progress) -> Session:
    """Read the session of a storage folder that was changed last. Raises BadInput when there is none."""
    files = store.session_files(path)
    if not files:
        raise BadInput(f"{path} holds no session; open opencode's storage folder.")
    session = read(files[0], read_file(files[0]), progress)
    last = f"the most recently used one; each is opened by its file, as {files[0]}"
    return one_of(len(files), "session", session, last)


def _session(path: Path, export: store.Export, progress: Progress) -> Session:
    """Raises BadInput where there is no list of messages."""
    data, document, warnings = export
    progress(0, len(data))
    items = document.get("messages") if isinstance(document, dict) else None
    if not isinstance(items, list):
        raise BadInput(f"{path}: has no list of messages; open what `opencode export` writes.")
    info = dict_of(document.get("info"))
    reading = _Reading(_finished_compactions(items), warnings, _starts(items))
    undone = dict_of(info.get("revert")).get("messageID")
    for index, item in enumerate(items):
        record = dict_of(item)
        id = dict_of(record.get("info")).get("id")
        if undone is not None and id == undone:
            reading.live = False
            last = counted(len(items) - index, "message")
            warnings.append(LoadWarning(f"undone and no longer sent: the last {last}"))
        parts = list_of(record.get("parts"))
        _clear(reading, index)
        _take(reading, index, item, dict_of(record.get("info")), parts)
        if any(map(is_spent, parts)):
            reading.messages = [replace(message, usage=None) for message in reading.messages]
    _clear(reading, len(items))
    reading.end(None, reading.current)
    progress(len(data), len(data))
    # A fork has its parent's messages under new ids, with the times that they had there.
    messages = with_user_text(replayed_before(reading.messages, seconds_of(dict_of(info.get("time")).get("created"))))
    costs = any(message.usage and message.usage.cost for message in messages)
    newest = next((m.model for m in reversed(messages) if m.model and m.role == "assistant"), None)
    users = [dict_of(dict_of(item).get("info")) for item in items]
    system = next((as_text(user["system"]) for user in reversed(users) if user.get("system")), "")
    return Session(
        format=ID,
        path=path,
        messages=messages,
        branch=reading.branch if len(reading.branch) < len(messages) else range(len(messages)),
        epochs=tuple(reading.epochs),
        records=Records(data),
        id=as_text(info.get("id") or ""),
        title=_title(info) or first_words(messages),
        model=newest,
        cwd=info["directory"] if isinstance(info.get("directory"), str) else None,
        system=system,
        warnings=tuple(warnings),
        facts=SessionFacts(
            api_errors=tuple(reading.errors),
            version=text_of(info.get("version")),
            provider=next((id for user in reversed(users) if (id := text_of(user.get("providerID")))), ""),
            cost=None if costs else dollars_of(info.get("cost")),
        ),
    )


@dataclass(slots=True)
class _Reading:
    """A session as it grows. `current` is the context so far; `compactions` finds the answer to a compaction's request
    by the request's id, and `requests` the place of the request. `starts` says when each record was made, `records`
    of which record each message is. `cleared` has, by the place before which results were cleared, the number of the
    message as it was and that of the one that is sent from there on; `copies` are those of the latter in this epoch."""

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
        """Take a message in; returns its number. `record` is the place of what it was read from."""
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
    """Where the finished, error-free summary for a request stands, by the request's id: the last one of several."""
    asked = {
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
        if info.get("role") == "assistant" and finished and as_text(info.get("parentID")) in asked:
            found[info["parentID"]] = index
    return found


def _starts(items: list[Any]) -> list[float]:
    """When each record was made, never before the one before it."""
    found: list[float] = []
    for item in items:
        time = _created(dict_of(dict_of(item).get("info"))) or 0
        found.append(max(time, found[-1]) if found else time)
    return found


def _take(reading: _Reading, index: int, item: Any, info: dict[str, Any], parts: list[Any]) -> None:
    role = info.get("role")
    if role == "user":
        _take_user(reading, index, info, parts)
    elif role == "assistant":
        parent = as_text(info.get("parentID"))
        if reading.compactions.get(parent) == index and parent in reading.requests:
            _take_summary(reading, index, info, parts)
        else:
            _take_answer(reading, index, info, parts)
    else:
        reading.warnings.append(
            LoadWarning(f"message {index + 1} is neither a user nor an assistant message; kept, not sent")
        )
        reading.add(
            Message(reading.free_id(info.get("id"), index), "user", (Opaque("record", item),), "meta", source=(index,)),
            index,
            sent=False,
        )


def _take_user(reading: _Reading, index: int, info: dict[str, Any], parts: list[Any]) -> None:
    request = next((part for part in parts if dict_of(part).get("type") == "compaction"), None)
    if request is not None and as_text(info.get("id")) in reading.compactions:
        tail = _tail(reading, as_text(request.get("tail_start_id") or ""))
        reading.requests[info["id"]] = (index, request, tail)
        return
    sent = [part for part in parts if not is_bookkeeping(part)]
    blocks = tuple(block for part in sent for block in block_of(part))
    texts = [part for part in sent if dict_of(part).get("type") == "text"]
    kind: Kind = "normal"
    if noted := _noted(texts):
        kind = noted
    elif texts and is_summary(as_text(texts[0].get("text"))):
        kind = "summary"
    elif all(dict_of(part).get("synthetic") or dict_of(part).get("type") == "compaction" for part in sent):
        kind = "meta"
    id = reading.free_id(info.get("id"), index)
    reading.add(Message(id, "user", blocks, kind, time=_created(info), source=(index,)), index, sent=True)


def _noted(parts: list[Any]) -> Kind | None:
    return next((kind for part in parts if (kind := noted_kind(part))), None)


def _tail(reading: _Reading, first: str) -> list[int]:
    """The messages of the context that a compaction keeps: from the one with the id `first` on."""
    at = next((n for n, i in enumerate(reading.current) if reading.messages[i].id == first), None)
    if first and at is None:
        reading.warnings.append(
            LoadWarning(f"a compaction keeps messages from {first} on, which is not in the context")
        )
    return [] if at is None else reading.current[at:]


def _take_summary(reading: _Reading, index: int, info: dict[str, Any], parts: list[Any]) -> None:
    """Begin a new epoch: the summary, the tail it kept, and what came between request and answer."""
    asked, request, tail = reading.requests[info["parentID"]]
    between = [i for i in reading.current if reading.records[i] > asked]
    blocks = tuple(block for part in parts if dict_of(part).get("type") == "text" for block in block_of(part))
    id = reading.free_id(info.get("id"), index)
    time, usage = _created(info), _usage(info)
    if reading.live and reading.current:
        trigger = "auto" if request.get("auto") else "manual"
        tokens = usage.context if usage else None
        kept = tuple(reading.messages[number].id for number in tail)
        by = Compaction("overflow" if request.get("overflow") else trigger, tokens, id, time, kept=kept)
        reading.end(by, [i for i in reading.current if i not in between])
    if reading.live:
        reading.current = []
    made = Message(id, "user", blocks, "summary", time=time, model=_model(info), source=(asked, index))
    reading.add(made, index, sent=True)
    if reading.live:
        reading.current += [*tail, *(i for i in between if i not in tail)]
        reading.copies = reading.copies.intersection(reading.current)


def _take_answer(reading: _Reading, index: int, info: dict[str, Any], parts: list[Any]) -> None:
    id = reading.free_id(info.get("id"), index)
    error = dict_of(info.get("error"))
    aborted = error.get("name") == "MessageAbortedError" and any(
        dict_of(part).get("type") not in ("step-start", "reasoning") for part in parts
    )
    sent = not error or aborted
    if error and error.get("name") != "MessageAbortedError":
        reading.errors.append(api_error(id, error, _created(info)))
    steps = list(_steps(parts))
    time, source = _created(info), (index,)
    for number, step in enumerate(steps, 1):
        blocks, results = _spoken([uncleared(part) if cleared_at(part) is not None else part for part in step])
        kind: Kind = _noted(step) or "normal"
        name = id if number == 1 else f"{id}:{number}"
        recorded = next((part for part in map(dict_of, step) if part.get("type") == "step-finish"), {})
        usage = None if error else _usage(info if len(steps) == 1 else recorded)
        if blocks or not results:
            answer = Message(name, "assistant", blocks, kind, time=time, usage=usage, model=_model(info), source=source)
            reading.add(answer, index, sent=sent)
        if results:
            _take_results(
                reading, index, Message(f"{name}:results", "tool", results, time=time, source=source), step, sent
            )


def _take_results(reading: _Reading, index: int, whole: Message, step: list[Any], sent: bool) -> None:
    """Take in a step's results as they were sent at first, and as they are after each clearing of some of them."""
    if all(cleared_at(part) is None for part in step):
        reading.add(whole, index, sent=sent)
        return
    parts = [part for part in step if tool_blocks(part)]
    times = {n: time for n, part in enumerate(parts) if (time := cleared_at(part)) is not None}
    places = {n: max(bisect(reading.starts, time), index + 1) for n, time in times.items()}
    at = reading.add(whole, index, sent=sent)
    for count, place in enumerate(sorted(set(places.values())), 1):
        shown = [uncleared(part) if places.get(n, 0) > place else part for n, part in enumerate(parts)]
        blocks = tuple(pair[1] for part in shown if (pair := tool_blocks(part)))
        time = min(time for n, time in times.items() if places[n] == place)
        form = Message(f"{whole.id}~cleared{'' if count == 1 else count}", "tool", blocks, time=time)
        reading.messages.append(form)
        reading.records.append(index)
        reading.cleared.setdefault(place, {})[at] = at = len(reading.messages) - 1


def _clear(reading: _Reading, place: int) -> None:
    """What opencode cleared before the record at `place` ends an epoch, where the context has any of it."""
    cleared = reading.cleared.get(place)
    if not cleared:  # as before most records: the whole context is not walked for each
        return
    found = [cleared[number] for number in reading.current if number in cleared]
    if not found or not reading.live:
        return
    usages = (reading.messages[number].usage for number in reversed(reading.current))
    last = next((usage for usage in usages if usage), None)
    tokens = last.context + last.output if last else None
    time = min(reading.messages[number].time or 0 for number in found)
    reading.end(Compaction("prune", tokens, time=time, way="clearing"), reading.current)
    reading.current = [cleared.get(number, number) for number in reading.current]
    reading.copies = reading.copies | frozenset(found)


def _steps(parts: list[Any]) -> Iterator[list[Any]]:
    """The parts of each call to the model: one begins at a `step-start` that follows tools."""
    step: list[Any] = []
    for part in parts:
        kind = dict_of(part).get("type")
        if kind == "step-start" and any(dict_of(before).get("type") == "tool" for before in step):
            yield step
            step = []
        step.append(part)
    yield step


def _spoken(step: list[Any]) -> tuple[tuple[Block, ...], tuple[ToolResult, ...]]:
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
    """Reasoning in several parts has its opaque half beside each, and is sent as one item, with it once."""
    if not isinstance(block, Thinking) or not block.signature:
        return block
    again = block.signature in signed
    signed.add(block.signature)
    return replace(block, signature="") if again else block


def _usage(about: dict[str, Any]) -> Usage | None:
    """Tokens and dollars of a call, None for the zeros that opencode begins an answer with. It counts neither cache
    among `input` nor reasoning among `output`."""
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
    """The session's title, "" where opencode has not yet given it one of its own."""
    title = as_text(info.get("title") or "")
    return "" if title.startswith(("New session - ", "Child session - ")) else title
