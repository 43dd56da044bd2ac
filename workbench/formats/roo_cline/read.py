"""Read Cline and Roo tasks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.reading import read_file
from workbench.base.stamps import seconds_of
from workbench.formats.agent_texts import with_user_text
from workbench.formats.format import Progress
from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.document import parse
from workbench.formats.kit.marks import STALE_USAGE, marked
from workbench.formats.kit.names import first_words
from workbench.formats.kit.values import dict_of
from workbench.formats.roo_cline import HISTORY, ID
from workbench.formats.roo_cline.blocks import blocks_of, kind_of, with_own_words
from workbench.formats.roo_cline.chat import Chat, Condensation, chat_of, with_usage
from workbench.formats.roo_cline.edits import ContextEdit, clines_epochs, edits_of
from workbench.formats.roo_cline.falls import at_falls
from workbench.session import (
    Compaction,
    Epoch,
    Kind,
    LoadWarning,
    Message,
    Opaque,
    Records,
    Role,
    Session,
    SessionFacts,
    Usage,
    Way,
)

_LIMIT = 256 << 20
_TAGS = (
    "explicit_instructions",
    "folder_content",
    "git_commit",
    "git_working_state",
    "slash_command",
    "terminal_output",
    "url_content",
    "workspace_diagnostics",
)
"""Tags of text that the extension adds for a mention (`@file`, `@problems`) or a command of the user."""
_CWD = re.compile(r"# Current (?:Workspace|Working) Directory \(([^)\n]{1,500})\)")
_MODEL = re.compile(r"<model>([^<\n]{1,200})</model>")


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read a history alone, without its folder."""
    return _session(path, data, progress, _TaskFolder())


def read_folder(path: Path, progress: Progress) -> Session:
    """Read a task folder: its history, and the compactions recorded in other files. The session's path is the folder,
    so that reading it again includes these files."""
    data = _bytes(path / HISTORY)
    if data is None:
        raise BadInput(f"{path / HISTORY} cannot be read; open a task folder of Cline or Roo.")
    folder = _TaskFolder(id=path.name, system=_bytes(path / "system_prompt.txt") or b"")
    folder.chat = chat_of(_json(path / "ui_messages.json"))
    for index in (path / "history_item.json", *(parent / "state/taskHistory.json" for parent in path.parents[1:2])):
        found = _json(index)
        for item in found if isinstance(found, list) else [found]:
            if isinstance(item, dict) and item.get("id") == path.name:
                folder.deleted = _range(item.get("conversationHistoryDeletedRange"))
                folder.title = folder.title or as_text(item.get("task") or "")
                folder.cwd = item["workspace"] if isinstance(item.get("workspace"), str) else folder.cwd
    folder.edits = edits_of(_json(path / "context_history.json"))
    return replace(_session(path / HISTORY, data, progress, folder), path=path)


@dataclass(slots=True)
class _TaskFolder:
    """Facts from the files around a history. `deleted`: messages that Cline no longer sends, as a half-open range;
    `edits`: texts that it sends in another form."""

    id: str = ""
    title: str = ""
    cwd: str | None = None
    system: bytes = b""
    chat: Chat = field(default_factory=Chat)
    deleted: tuple[int, int] | None = None
    edits: tuple[ContextEdit, ...] = ()


def _bytes(path: Path) -> bytes | None:
    try:
        return read_file(path) if path.is_file() and path.stat().st_size <= _LIMIT else None
    except OSError:
        return None


def _json(path: Path) -> Any:
    data = _bytes(path)
    try:
        return None if data is None else parse(path, data)[0]
    except BadInput:
        return None


def _range(value: Any) -> tuple[int, int] | None:
    """Return Cline's range, which is inclusive at both ends, as a half-open one."""
    if (
        isinstance(value, list)
        and len(value) == 2
        and all(type(end) is int for end in value)
        and 0 <= value[0] <= value[1]
    ):
        return value[0], value[1] + 1
    return None


def _session(path: Path, data: bytes, progress: Progress, folder: _TaskFolder) -> Session:
    progress(0, len(data))
    items, warnings = parse(path, data)
    if not isinstance(items, list):
        raise BadInput(f"{path}: is not a list of messages; open the api_conversation_history.json of a task.")
    messages: list[Message] = []
    waiting: tuple[str, ...] = ()
    for index, item in enumerate(items):
        message = _message(index, item, waiting, warnings)
        waiting = tuple(call.id for call in message.calls)
        messages.append(message)
    records = [dict_of(item) for item in items]
    last_stale = max((index for index, record in enumerate(records) if record.get(STALE_USAGE) is True), default=-1)
    messages = [
        replace(message, usage=None) if index <= last_stale else message
        for index, message in enumerate(with_usage(messages, folder.chat.requests))
    ]
    condensed = {index: folder.chat.condensed.get(m.text) for index, m in enumerate(messages) if m.kind == "summary"}
    for index, found in condensed.items():
        if found and found.time is not None:  # in the history, a summary has the time of the message after it
            messages[index] = replace(messages[index], time=found.time)
            if not _has_originals(records, index):
                for number in _older(messages, records, index, found.time):
                    messages[number] = _unexplained(messages[number])
    epochs, edited = _epochs(messages, records, condensed), list[Message]()
    if folder.deleted or folder.edits:
        last, edited = clines_epochs(epochs[-1], messages, records, folder.deleted, folder.edits, folder.chat.requests)
        epochs = (*epochs[:-1], *last)
    elif len(epochs) == 1:
        fallen, fall_warnings = at_falls(epochs[0], messages)
        epochs, warnings = tuple(fallen), [*warnings, *fall_warnings]
    progress(len(data), len(data))
    newest = next((m.model for m in reversed(messages) if m.model), None)
    return Session(
        format=ID,
        path=path,
        messages=with_user_text([*messages, *edited], also=_TAGS),
        branch=range(len(messages)),
        epochs=epochs,
        records=Records(data),
        id=folder.id,
        title=" ".join(folder.title.split())[:80] or first_words(messages, after="<task>"),
        model=newest or _last_detail(messages, _MODEL),
        cwd=folder.cwd or _last_detail(messages, _CWD),
        system=folder.system.decode(errors="replace"),
        warnings=tuple(warnings),
        # The history alone lacks the folder's facts.
        facts=SessionFacts(own=True if folder.deleted or folder.edits else None),
    )


def _message(index: int, item: Any, waiting: Sequence[str], warnings: list[LoadWarning]) -> Message:
    id, source = f"m{index + 1}", (index,)
    if not isinstance(item, dict) or item.get("role") not in ("user", "assistant"):
        warnings.append(LoadWarning(f"message {index + 1} is neither a user nor an assistant message; shown unchanged"))
        return Message(id, "user", (Opaque("record", item),), "meta", source=source)
    role: Role = item["role"]
    blocks = blocks_of(item, waiting if role == "user" else ())
    if item.get("isSummary") is not True:
        blocks = with_own_words(role, blocks)
    kind: Kind = kind_of(role, blocks)
    if item.get("isSummary") is True:
        kind = "summary"
    elif item.get("isTruncationMarker") is True:
        kind = "meta"
    else:
        kind = marked(item) or kind
    info = item.get("modelInfo")
    model = info.get("modelId", info.get("id")) if isinstance(info, dict) else None
    metrics = item.get("metrics")
    message = Message(id, role, blocks, kind, time=seconds_of(item.get("ts")), source=source)
    if message.results:
        message = replace(message, role="tool")
    if role == "assistant":
        usage = _usage(metrics.get("tokens") if isinstance(metrics, dict) else None)
        return replace(message, model=model if isinstance(model, str) else None, usage=usage)
    return message


def _usage(tokens: Any) -> Usage | None:
    if not isinstance(tokens, dict):
        return None
    counts = {key: value for key, value in tokens.items() if type(value) is int and value > 0}
    cached = counts.get("cached", 0)
    return Usage(max(counts.get("prompt", 0) - cached, 0), counts.get("completion", 0), cache_read=cached)


def _last_detail(messages: Sequence[Message], pattern: re.Pattern[str]) -> str | None:
    """Return the match in the newest environment details, None without one. The extension repeats them at the end of
    each request; files in tool results may contain the same words."""
    for message in reversed(messages):
        _, tag, details = f"\n{message.text}".rpartition("\n<environment_details>")
        if tag and message.role != "assistant" and (found := pattern.findall(details)):
            return str(found[-1])
    return None


def _epochs(
    messages: Sequence[Message],
    items: Sequence[dict[str, Any]],
    condensed: Mapping[int, Condensation | None],
) -> tuple[Epoch, ...]:
    """Return an epoch before each summary and each sliding-window marker, and the current one.

    The history does not record the messages from which a summary was made: those before it are taken, and those after
    it that are older than the time of the condensation in the chat, if recorded.
    """
    epochs: list[Epoch] = []
    for index, item in enumerate(items):
        if item.get("isSummary") is not True and item.get("isTruncationMarker") is not True:
            continue
        message = messages[index]
        members = _effective(messages, items, index)
        about = condensed.get(index) or Condensation(None, None)
        if about.time is not None:
            members += _older(messages, items, index, about.time)
        is_summary = message.kind == "summary"
        trigger, summary = ("condense", message.id) if is_summary else ("sliding window", None)
        way: Way = "summary" if is_summary else "removal"
        if members:
            ended_by = Compaction(trigger, about.tokens, summary, message.time, way)
            epochs.append(Epoch(len(epochs) + 1, members, ended_by))
    return (*epochs, Epoch(len(epochs) + 1, _effective(messages, items, len(items))))


def _has_originals(items: Sequence[dict[str, Any]], index: int) -> bool:
    """Return True if the messages that a summary replaced are still in the history: older versions removed them."""
    id = items[index].get("condenseId")
    return bool(id) and any(item.get("condenseParent") == id for item in items)


def _unexplained(message: Message) -> Message:
    """Return an answer whose usage counts removed messages: its cost stays, but its tokens are not used."""
    return replace(message, usage=replace(message.usage, absurd=True)) if message.usage else message


def _older(messages: Sequence[Message], items: Sequence[dict[str, Any]], index: int, time: float) -> list[int]:
    """Return the indexes of the messages after the summary `index` that a condensation at `time` kept."""
    older: list[int] = []
    for number in range(index + 1, len(messages)):
        stamp = messages[number].time
        if stamp is None or stamp > time or items[number].get("isSummary") is True:
            break
        if messages[number].blocks:
            older.append(number)
    return older


def _effective(messages: Sequence[Message], items: Sequence[dict[str, Any]], end: int) -> list[int]:
    """Return the indexes of those of the first `end` messages that Roo sends."""
    newest = next((index for index in range(end - 1, -1, -1) if items[index].get("isSummary") is True), None)
    if newest is None:
        members = list(range(end))
    elif messages[newest].role == "assistant" and newest > 0 and messages[0].role == "user":
        members = [0, *range(newest, end)]
    else:
        members = list(range(newest, end))
    markers = (items[index] for index in members if items[index].get("isTruncationMarker") is True)
    hidden = {id for item in markers if isinstance(id := item.get("truncationId"), str)}
    calls = {call.id for index in members for call in messages[index].calls}
    return [
        index
        for index in members
        if messages[index].blocks
        and as_text(items[index].get("truncationParent")) not in hidden
        and not (newest is not None and _is_orphan(messages[index], calls))
    ]


def _is_orphan(message: Message, calls: set[str]) -> bool:
    """Return True if a message holds only results, and all their calls are gone: Roo omits these."""
    return (
        bool(message.results)
        and len(message.results) == len(message.blocks)
        and not any(result.call_id in calls for result in message.results)
    )
