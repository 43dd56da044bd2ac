"""Read Cline SDK sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.reading import read_file
from workbench.base.stamps import seconds_of
from workbench.formats.agent_texts import kind_of, with_user_text
from workbench.formats.cline_sdk import ID, main_file
from workbench.formats.cline_sdk.write import SUMMARY
from workbench.formats.format import Progress
from workbench.formats.kit.blocks import as_text, from_anthropic
from workbench.formats.kit.document import parse, read_sidecar
from workbench.formats.kit.marks import STALE_USAGE, marked, without_stale_usage
from workbench.formats.kit.names import first_words, unique_id
from workbench.formats.kit.values import dict_of, dollars_of, list_of, word_of
from workbench.session.images import media_of
from workbench.session.message import Block, Kind, Message, Opaque, Role, Text, ToolResult, Usage
from workbench.session.session import Compaction, Epoch, LoadWarning, Records, Session, SessionFacts

_TAGS = ("SYSTEM_NOTICE",)
"""Tags that the SDK's compaction appends to the user's text."""


@dataclass(frozen=True, slots=True)
class _RecordedCompaction:
    """The SDK's compaction in the sidecar file: `items` replace the first `sources` messages. `time` is in seconds
    since 1970, UTC."""

    items: tuple[dict[str, Any], ...]
    sources: int
    time: float | None


def read_folder(path: Path, progress: Progress) -> Session:
    """Read the lead agent's messages in a session's folder. The session's path is the folder. Raises BadInput."""
    file = main_file(path)
    if file is None:
        raise BadInput(f"{path} does not have exactly one .messages.json; open the session's file in it.")
    try:
        return replace(read(file, read_file(file), progress), path=path)
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}; check its permissions.") from None


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read a file of messages with its sidecar files: manifest and compaction. Raises BadInput."""
    progress(0, len(data))
    document, warnings = parse(path, data)
    items = document.get("messages") if isinstance(document, dict) else None
    if not isinstance(items, list):
        raise BadInput(f"{path}: has no list of messages; open a .messages.json of the Cline SDK.")
    ids: dict[str, int] = {}
    messages = [_message(index, item, ids, warnings) for index, item in enumerate(items)]
    not_display_only = [
        n for n, item in enumerate(items) if dict_of(dict_of(item).get("metadata")).get("displayOnly") is not True
    ]
    sent = [n for n in not_display_only if messages[n].blocks]
    messages = [*without_stale_usage(messages, sent, _stale_until(items, messages))]
    epochs = [Epoch(1, sent)]
    if compaction := _recorded_compaction(path, [dict_of(items[n]) for n in not_display_only], warnings):
        first = not_display_only[compaction.sources] if compaction.sources < len(not_display_only) else len(items)
        before, after = [n for n in sent if n < first], [n for n in sent if n >= first]
        epochs = _epochs_around(compaction, [*map(dict_of, items)], messages, before, after, ids)
    progress(len(data), len(data))
    shown = with_user_text(messages, _TAGS)
    manifest = read_sidecar(_sidecar_path(path, ".json"))
    title, cwd = dict_of(manifest.get("metadata")).get("title"), manifest.get("cwd")
    return Session(
        format=ID,
        path=path,
        messages=shown,
        epochs=tuple(epochs),
        records=Records(data),
        id=as_text(document.get("sessionId") or ""),
        title=as_text(title or first_words(shown)),
        cwd=cwd if isinstance(cwd, str) else None,
        model=next((m.model for m in reversed(messages) if m.model), None),
        system=as_text(document.get("system_prompt") or ""),
        warnings=tuple(warnings),
        facts=SessionFacts(own=manifest),
    )


def _sidecar_path(path: Path, suffix: str) -> Path:
    """Return the path of a sidecar file with the session's id."""
    return path.with_name(path.name.removesuffix(".messages.json") + suffix)


def _recorded_compaction(
    path: Path, items: Sequence[dict[str, Any]], warnings: list[LoadWarning]
) -> _RecordedCompaction | None:
    """Return the compaction in `<id>.compaction.json`, None if there is none or it belongs to other messages. Cline
    recognises its messages by a hash; this compares the number of messages and the key of the last one."""
    state = read_sidecar(_sidecar_path(path, ".compaction.json"))
    count, replacements = state.get("source_message_count"), tuple(map(dict_of, list_of(state.get("messages"))))
    if not replacements or type(count) is not int:
        return None
    last = items[count - 1] if 0 < count <= len(items) else {}
    key = f"id:{last['id']}" if last.get("id") else f"ts:{last.get('role')}:{last.get('ts')}"
    if state.get("source_last_message_key") != key:
        warnings.append(LoadWarning("ignored a compaction that belongs to other messages, as Cline does"))
        return None
    return _RecordedCompaction(replacements, count, seconds_of(state.get("updated_at")))


def _epochs_around(
    compaction: _RecordedCompaction,
    items: Sequence[dict[str, Any]],
    messages: list[Message],
    before: list[int],
    after: list[int],
    ids: dict[str, int],
) -> list[Epoch]:
    """Return two epochs: the messages `before` the compaction; then their replacements and the messages `after` it.
    Replacements that differ from the messages in the file are appended to `messages`, without usage."""
    places = {word_of(items[n].get("id")): n for n in before}
    members: list[int] = []
    for item in compaction.items:
        place = places.get(word_of(item.get("id")))
        if place is None or item.get("content") != items[place].get("content"):
            place = len(messages)
            messages.append(replace(_message(place, item, ids, []), usage=None, source=()))
        members.append(place)
    new = [messages[n] for n in members if n >= len(items)]
    summary = next((message for message in new if message.kind == "summary"), None)
    metadata = next((dict_of(item.get("metadata")) for item in compaction.items if _is_summary(item)), {})
    ended_by = Compaction(
        tokens_before=metadata.get("tokensBefore") if type(metadata.get("tokensBefore")) is int else None,
        summary=summary.id if summary else None,
        time=compaction.time,
        way="summary" if summary else "removal",
        kept_ids=tuple(messages[n].id for n in members if n < len(items)),
    )
    copies = frozenset(n for n in members if n >= len(items) and messages[n] is not summary)
    return [Epoch(1, before, ended_by), Epoch(2, [*members, *after], copies=copies)]


def _is_summary(item: dict[str, Any]) -> bool:
    return dict_of(item.get("metadata")).get("kind") == SUMMARY


def _stale_until(items: list[Any], messages: list[Message]) -> int:
    """Return the index of the last message with stale usage; -1 for none.

    Usage is stale if this program marked it so, or if the message is older than the summary: at a compaction the SDK
    rewrites its file and leaves the old metrics in it.
    """
    all_metadata = [dict_of(dict_of(item).get("metadata")) for item in items]
    marked_messages = [number for number, metadata in enumerate(all_metadata) if metadata.get(STALE_USAGE) is True]
    summary_time = max(
        (seconds_of(metadata.get("generatedAt")) or 0 for metadata in all_metadata if metadata.get("kind") == SUMMARY),
        default=0,
    )
    older = [n for n, message in enumerate(messages) if message.time is not None and message.time < summary_time]
    return max(marked_messages + older, default=-1)


def _message(index: int, item: Any, ids: dict[str, int], warnings: list[LoadWarning]) -> Message:
    recorded_id = item.get("id") if isinstance(item, dict) else None
    id = unique_id(recorded_id if isinstance(recorded_id, str) and recorded_id else f"m{index + 1}", ids)
    if not isinstance(item, dict) or item.get("role") not in ("user", "assistant"):
        warnings.append(LoadWarning(f"message {index + 1} is neither a user nor an assistant message; shown unchanged"))
        return Message(id, "user", (Opaque("record", item),), "meta", source=(index,))
    role: Role = item["role"]
    content = item.get("content")
    all_blocks = map(_block, content) if isinstance(content, list) else from_anthropic(content)
    blocks = tuple(block for block in all_blocks if not (isinstance(block, Text) and not block.text))
    metadata = dict_of(dict_of(item).get("metadata"))
    kind: Kind = "summary" if metadata.get("kind") == SUMMARY else marked(metadata) or kind_of(role, blocks)
    if role == "user" and any(isinstance(block, ToolResult) for block in blocks):
        role = "tool"
    info = item.get("modelInfo")
    model = info.get("id") if isinstance(info, dict) else None
    return Message(
        id,
        role,
        blocks,
        kind,
        time=seconds_of(item.get("ts")) or seconds_of(metadata.get("generatedAt")),
        usage=_usage(item.get("metrics")) if role == "assistant" else None,
        model=model if isinstance(model, str) else None,
        source=(index,),
    )


def _block(raw: Any) -> Block:
    """Convert a block. Files and images have the SDK's own form, all other blocks Anthropic's."""
    kind = raw.get("type") if isinstance(raw, dict) else None
    if kind == "file" and isinstance(raw.get("content"), str):
        return Text(f'<file path="{as_text(raw.get("path", ""))}">\n{raw["content"]}\n</file>', injected=True)
    if kind == "image" and "mediaType" in raw:
        return media_of(as_text(raw["mediaType"] or "image"), as_text(raw.get("data") or ""))
    return from_anthropic([raw])[0]


def _usage(metrics: Any) -> Usage | None:
    """Return tokens and dollars of a call, None if its prompt has no tokens. The SDK includes cached tokens in
    `inputTokens`."""
    if not isinstance(metrics, dict):
        return None
    counts = {key: value for key, value in metrics.items() if type(value) is int and value > 0}
    read, written = counts.get("cacheReadTokens", 0), counts.get("cacheWriteTokens", 0)
    fresh, cost = max(counts.get("inputTokens", 0) - read - written, 0), dollars_of(metrics.get("cost"))
    usage = Usage(fresh, counts.get("outputTokens", 0), read, written, cost=cost)
    return usage if usage.context else None
