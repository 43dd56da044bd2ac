"""Diagnosis of a session file: reason for its format, completeness of the context, and changes that an export makes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from workbench.base.figures import grouped
from workbench.base.text import are, counted
from workbench.formats import registry
from workbench.formats.export import export
from workbench.formats.files import look_at
from workbench.formats.kit.document import render
from workbench.formats.kit.json_spans import array_items, object_items
from workbench.formats.kit.jsonl import loads_text, object_of
from workbench.formats.request_checks import compare_requests
from workbench.session import Compaction, Epoch, Message, Opaque, Session, leading_system, pairs_of

# -- Format


@dataclass(frozen=True, slots=True)
class Recognition:
    """Format of a file. `why` is the reason; `others` are (title, reason) of other formats that accept the file."""

    format: str
    title: str
    why: str
    others: tuple[tuple[str, str], ...]


def recognition(path: Path) -> Recognition:
    """Recognise a file or folder as `files.load` does. Raises BadInput."""
    if path.is_dir():
        found, why = registry.detect_folder(path)
        folders = ((known, known.recognise_folder(path)) for known in registry.formats() if known.recognise_folder)
        others = [(known.title, reason) for known, reason in folders if reason and known is not found]
    else:
        look = look_at(path)
        found, why = registry.detect(look)
        rest = ((known, known.recognise(look)) for known in registry.formats() if known is not found)
        others = [(known.title, reason) for known, reason in rest if reason]
    return Recognition(found.id, found.title, why, tuple(others))


# -- Completeness of the context

Level = Literal["complete", "note", "missing"]


@dataclass(frozen=True, slots=True)
class ContextFinding:
    """One fact about the context. `what` names its subject. `missing`: the model saw more or less than can be shown."""

    level: Level
    what: str
    text: str


def findings(session: Session) -> list[ContextFinding]:
    """List what the file holds of the newest request to the model, and what it lacks or may lack."""
    context = session.context()
    return [
        _system_prompt(session, context),
        _tools(session),
        *_views(session),
        *_pairs(session, context),
        *_opaque(session, context),
        _usage(session, context),
        *_requests(session),
    ]


def place_of(session: Session, message: Message) -> str:
    """Return a message's place in words: its line, its entry in a file without lines, or its id if it has no source."""
    first = message.source[0] if message.source else None
    if first is not None and first < len(session.records) and len(session.records):
        return f"line {session.records.lines[first]}"
    return f"entry {first + 1}" if first is not None else f"message {message.id}"


def _system_prompt(session: Session, context: Sequence[Message]) -> ContextFinding:
    size = len(session.system) + sum(len(m.text) for m in context[: leading_system(context)])
    if size:
        return ContextFinding("complete", "system prompt", f"{grouped(size)} characters")
    return ContextFinding("missing", "system prompt", "not in the file: it was sent and billed, but not recorded")


def _tools(session: Session) -> ContextFinding:
    if session.tools and all((object_of(tool.schema.encode()) or {}).keys() == {"name"} for tool in session.tools):
        return ContextFinding("missing", "tool definitions", f"only the names of {counted(len(session.tools), 'tool')}")
    if session.tools:
        return ContextFinding("complete", "tool definitions", counted(len(session.tools), "tool"))
    used = {call.name for message in session.messages for call in message.calls}
    if used:
        return ContextFinding(
            "missing", "tool definitions", f"not in the file, although {counted(len(used), 'tool')} were called"
        )
    return ContextFinding("note", "tool definitions", "none in the file, and no tool was called")


def _views(session: Session) -> Iterator[ContextFinding]:
    """Yield findings on messages outside all epochs and the active branch, on recorded compactions, and on messages of
    the active branch outside the context."""
    everything, live, sent = len(session.messages), len(session.branch), len(session.epochs[-1].members)
    shown = set(session.branch).union(*(epoch.members for epoch in session.epochs))
    if len(shown) < everything:
        apart = everything - len(shown)
        of_all = counted(everything, "message")
        text = f"{apart} of {of_all} {are(apart)} rewound, cut off or a sub-agent's: not loaded on resume"
        yield ContextFinding("note", "apart", text)
    for is_empty, run in groupby(session.epochs[:-1], key=_ended_empty):
        epochs = [*run]
        if is_empty and len(epochs) > 1:
            text = f"{len(epochs)} recorded compactions in a row that removed nothing"
            yield ContextFinding("note", f"epochs {epochs[0].number} to {epochs[-1].number}", text)
            continue
        for epoch in epochs:
            if epoch.ended_by is not None:
                yield ContextFinding(
                    "note", f"epoch {epoch.number}", f"ended by a recorded {_describe_compaction(epoch.ended_by)}"
                )
    if len(session.epochs) == 1 and sent < live:
        yield ContextFinding(
            "note", "not sent", f"{counted(live - sent, 'message')} of the active branch are outside the context"
        )


def _ended_empty(epoch: Epoch) -> bool:
    return epoch.ended_by is not None and epoch.ended_by.way == "empty"


def _describe_compaction(end: Compaction) -> str:
    """Describe a recorded compaction by its own figures."""
    before, after = (grouped(tokens) if tokens else "" for tokens in (end.tokens_before, end.tokens_after))
    tokens = f" from {before} to {after} tokens" if before and after else f" from {before} tokens" if before else ""
    match end.way:
        case "clearing":
            return f"clearing{tokens}: contents were removed, messages kept"
        case "empty":
            return f"compaction{tokens} that removed nothing"
        case "removal":
            return f"removal{tokens}: messages removed without a replacement"
    retained = f", and {counted(len(end.kept_ids), 'earlier message')} kept" if end.kept_ids else ""
    return f"compaction{tokens}, {'with a summary' if end.summary else 'without a recorded summary'}{retained}"


def _pairs(session: Session, context: Sequence[Message]) -> Iterator[ContextFinding]:
    pairs = pairs_of(context)
    last = len(context) - 1
    open_calls = [context[pair.call] for pair in pairs if pair.result is None and pair.call is not None]
    waiting = sum(message is context[last] for message in open_calls)
    lost = [message for message in open_calls if message is not context[last]]
    orphans = [context[pair.result] for pair in pairs if pair.call is None and pair.result is not None]
    if waiting:
        yield ContextFinding("note", "open calls", f"{waiting} in the last message, waiting for results")
    if lost:
        yield ContextFinding("missing", "open calls", f"{len(lost)} without a result: {_places(session, lost)}")
    if orphans:
        yield ContextFinding("missing", "orphan results", f"{len(orphans)} without a call: {_places(session, orphans)}")
    if not (open_calls or orphans):
        text = f"{counted(len(pairs), 'call')}, all with results" if pairs else "none in the context"
        yield ContextFinding("complete" if pairs else "note", "calls", text)


def _places(session: Session, messages: Sequence[Message]) -> str:
    """List messages of the newest context by number, as `--drop` and `--pin` take it, with their places in the file."""
    numbers = {message.id: number for number, message in enumerate(session.context(), 1)}
    places = list(dict.fromkeys(f"message {numbers[one.id]} ({place_of(session, one)})" for one in messages))
    return ", ".join(places[:8]) + (f" and {len(places) - 8} more" if len(places) > 8 else "")


def _opaque(session: Session, context: Sequence[Message]) -> Iterator[ContextFinding]:
    hidden = [
        message
        for message in context
        if message.kind == "summary" and any(isinstance(block, Opaque) for block in message.blocks)
    ]
    if hidden:
        yield ContextFinding("missing", "encrypted", f"an encrypted summary: {_places(session, hidden)}")
    types = Counter(block.type for m in context for block in m.blocks if isinstance(block, Opaque) and m not in hidden)
    if types:
        listed = ", ".join(f"{count} {type or 'without a type'}" for type, count in types.most_common(6))
        yield ContextFinding("note", "unknown blocks", f"kept unchanged: {listed}")


def _usage(session: Session, context: Sequence[Message]) -> ContextFinding:
    members, copies = session.epochs[-1].members, session.epochs[-1].copies
    originals = [message for member, message in zip(members, context, strict=True) if member not in copies]
    answers = [message for message in originals if message.role == "assistant" and message.kind == "normal"]
    billed = sum(message.usage is not None for message in answers)
    if not answers:
        return ContextFinding("note", "usage", "no assistant message in the context yet")
    if not billed and session.facts.overhead:
        text = f"none per call; the agent counts {grouped(session.facts.overhead)} tokens for system prompt and tools"
        return ContextFinding("note", "usage", text)
    if not billed:
        return ContextFinding(
            "missing", "usage", "none recorded: all figures are counted and leave out unrecorded tokens"
        )
    level: Level = "complete" if billed == len(answers) else "note"
    return ContextFinding(level, "usage", f"recorded for {grouped(billed)} of {counted(len(answers), 'answer')}")


def _requests(session: Session) -> Iterator[ContextFinding]:
    """Yield one finding: how recorded requests differ from the contexts of all epochs; none if no request is
    recorded."""
    requests = registry.by_id(session.format).codec.requests
    comparisons = list(compare_requests(session, requests(session))) if requests else []
    different = [one for one in comparisons if one.difference]
    if not comparisons:
        return
    if not different:
        yield ContextFinding("complete", "sent", f"equal to {_of_requests(len(comparisons))} recorded in the file")
        return
    answers = {message.id: message for message in session.messages}
    more = f"; {grouped(different[0].more)} more characters were sent" if different[0].more else ""
    text = f"{len(different)} of {_of_requests(len(comparisons))} recorded in the file differ"
    where = place_of(session, answers[different[0].answer])
    yield ContextFinding("missing", "sent", f"{text}, the first before {where}: {different[0].difference}{more}")


def _of_requests(count: int) -> str:
    return counted(count, "request")


# -- Related sessions


def relatives(session: Session) -> list[tuple[str, str]]:
    """List sub-agents and branches of a session, by id and description."""
    codec = registry.by_id(session.format).codec
    return codec.relatives(session) if codec.relatives else []


# -- Changes by an export


@dataclass(frozen=True, slots=True)
class ExportChange:
    """Effect of an export on the records of a file: its lines, or the elements of its list of messages.

    `unchanged`, `changed`, `added` and `left_out` are numbers of records. `keys` are those whose values differ in
    changed records, the most frequent first. `bytes` is the size of the export. `notes` are its losses, `problems` the
    validator's objections.
    """

    target: str
    title: str
    unchanged: int
    changed: int
    added: int
    left_out: int
    keys: tuple[str, ...]
    bytes: int
    notes: tuple[str, ...]
    problems: tuple[str, ...]


class Originals:
    """Records of a session's file with their counts, to be compared with several exports. Essences are cached."""

    def __init__(self, session: Session) -> None:
        self.records = Counter(records_in(session.records.data))
        self._essences: dict[bytes, bytes | None] = {}

    def essence(self, raw: bytes) -> bytes | None:
        """Return a record without the values that exports replace; None for invalid JSON."""
        if raw not in self._essences:
            value = _decoded(raw)
            self._essences[raw] = None if value is None else _essence(value)
        return self._essences[raw]


def compare_export(
    session: Session, messages: Sequence[Message], target: str, originals: Originals | None = None
) -> ExportChange:
    """Export the messages into memory and compare their records with the file's; `originals` are read from the session
    if None. Raises BadInput as `export` does."""
    exported = export(session, messages, target)
    originals = originals or Originals(session)
    after = Counter(records_in(exported.written.data))
    unchanged = originals.records & after
    old_records, new_records = list((originals.records - unchanged).elements()), list((after - unchanged).elements())
    old: dict[bytes, list[bytes]] = {}
    for raw in old_records:
        if (essence := originals.essence(raw)) is not None:
            old.setdefault(essence, []).append(raw)
    changed = 0
    keys: Counter[str] = Counter()
    for raw in new_records:
        value = _decoded(raw)
        same = old.get(_essence(value)) if value is not None else None
        if same:
            keys.update(_different_keys(_decoded(same.pop()), value))
            changed += 1
    return ExportChange(
        target,
        registry.target(target).title,
        unchanged=sum(unchanged.values()),
        changed=changed,
        added=len(new_records) - changed,
        left_out=len(old_records) - changed,
        keys=tuple(sorted(keys, key=lambda key: (-keys[key], key))),
        bytes=len(exported.written.data),
        notes=tuple(exported.written.notes),
        problems=exported.problems,
    )


_VOLATILE = frozenset(
    ["sessionId", "session_id", "sessionID", "uuid", "parentUuid", "logicalParentUuid", "id", "parentId", "parentID",
     "messageID", "timestamp", "usage", "tokens", "metadata", "isSidechain", "sequenceId", "isHistorySummary",
     "historySummaryVersion", "condenseId", "condenseParent", "info", "agentVisible", "cause", "ts", "time",
     "workbench_kind", "workbench_call", "workbench_spent"]
)  # fmt: skip
"""Keys whose values an export may replace without a change of content: links, ids, times, usage."""


def _essence(value: Any) -> bytes:
    return render(_without_volatile_keys(value))


def _without_volatile_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_volatile_keys(inner) for key, inner in sorted(value.items()) if key not in _VOLATILE}
    return [_without_volatile_keys(inner) for inner in value] if isinstance(value, list) else value


def _different_keys(old: Any, new: Any) -> set[str]:
    """Return the keys at which two objects differ; for nested objects, the inner keys. Empty for other values."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return set()
    found: set[str] = set()
    for key in old.keys() | new.keys():
        before, after = old.get(key), new.get(key)
        if before == after:
            continue
        inner = _different_keys(before, after)
        found |= inner or {key}
    return found


def _decoded(raw: bytes) -> Any:
    try:
        return loads_text(raw.decode("utf-8", "replace"))  # never too deep to compare
    except ValueError:
        return None


_LISTS = ("messages", "chatHistory", "conversation", "loglines", "history", "steps", "samples", "events", "input")
"""Keys under which formats store their list of messages."""


def records_in(data: bytes) -> list[bytes]:
    """Return a file's records: the elements of its list of messages if it is one JSON document, else its lines."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    lines = [line for line in re.findall(rb"[^\n]+", data) if line.strip()]
    if len(lines) > 1 and _decoded(lines[0]) is not None:
        return lines
    try:
        return [span.encode("latin-1") for span in _elements(data.decode("latin-1"))]  # one character per byte
    except (ValueError, KeyError):
        return lines


def _elements(text: str) -> list[str]:
    if text.lstrip().startswith("["):
        return [text[start:stop] for start, stop in array_items(text)]
    lists = {key: text[start:stop] for key, (start, stop) in object_items(text).items() if text[start] == "["}
    if not lists:
        raise ValueError("an object without a list is one line")
    named = next((lists[key] for key in _LISTS if key in lists), "") or max(lists.values(), key=len)
    found = [named[start:stop] for start, stop in array_items(named)]
    # A list of one sample holds the messages one level further down.
    return _elements(found[0]) if len(found) == 1 and '"messages"' in found[0][:100_000] else found
