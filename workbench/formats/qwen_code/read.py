"""Reading: Qwen Code, record by record as it rebuilds its own history when it resumes a session."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.stamps import seconds_of
from workbench.formats.agent_texts import kind_of, with_user_text
from workbench.formats.format import Progress
from workbench.formats.gemini.injected import own_and_injected
from workbench.formats.gemini.parts import ACKNOWLEDGED
from workbench.formats.kit.contents import Calls, model_block, parts_of, user_block
from workbench.formats.kit.ids import unique_id
from workbench.formats.kit.jsonl import objects_of, records_of
from workbench.formats.kit.titles import first_words
from workbench.formats.kit.usage import usage_of_prompt
from workbench.formats.kit.user_text import is_injected
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of
from workbench.formats.kit.window import RecordedWindow
from workbench.formats.qwen_code.signature import ID
from workbench.session import (
    Block,
    Compaction,
    Epoch,
    Kind,
    LoadWarning,
    Message,
    Records,
    Session,
    SessionFacts,
    Text,
    Thinking,
    ToolResult,
    Usage,
)
from workbench.session.session import Way

_SNAPSHOT = "<state_snapshot>"
_CLEARED = ("[Old tool result content cleared]", "[Old inline media cleared:")
"""What Qwen Code puts in place of old results and images."""

_NOTICES = ("cron", "notification")
"""Subtypes of a user's records that a timer or a command in the background wrote."""

_NEVER_SENT = "realtime_message"


@dataclass(slots=True)
class _Reading:
    """What has been read so far. `lines` are the records by their uuids, each with its place; `members` number the
    messages that would be sent now."""

    records: Records
    lines: dict[str, tuple[dict[str, Any], int]] = field(default_factory=dict)
    parents: dict[str, str | None] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
    ids: dict[str, int] = field(default_factory=dict)
    calls: Calls = field(default_factory=Calls)
    members: list[int] = field(default_factory=list)
    copies: frozenset[int] = frozenset()
    epochs: list[Epoch] = field(default_factory=list)
    window: RecordedWindow = field(default_factory=RecordedWindow)
    title: str = ""
    warnings: list[LoadWarning] = field(default_factory=list)

    def add(self, message: Message) -> int:
        self.messages.append(message)
        return len(self.messages) - 1


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read a session: the branch that ends with the newest record. Raises BadInput when it has no message."""
    reading = _Reading(Records(data))
    last: str | None = None
    for value, index, line in objects_of(records_of(data), len(data), reading.records, reading.warnings, progress):
        uuid = value.get("uuid")
        if not isinstance(uuid, str) or uuid in reading.lines:
            reading.warnings.append(LoadWarning("has no uuid; kept in the file, not shown", line))
            continue
        reading.lines[uuid] = (value, index)
        parent = value.get("parentUuid")
        known = parent is None or (isinstance(parent, str) and parent in reading.lines)
        if not known:
            reading.warnings.append(LoadWarning("its parent is missing; linked to the previous record", line))
        reading.parents[uuid] = parent if known else last
        last = uuid
    live = _branch(reading, last)
    branch: list[int] = []
    for uuid, (value, index) in reading.lines.items():
        first = len(reading.messages)
        _take(reading, value, index, live=uuid in live)
        branch += range(first, len(reading.messages)) if uuid in live else ()
    if not reading.messages:
        raise BadInput(f"{path} is a Qwen Code session without messages; open another file.")
    reading.epochs.append(_epoch(reading, None))
    messages = with_user_text(reading.messages)
    about = next((value for uuid, (value, _) in reversed(reading.lines.items()) if uuid in live), {})
    return Session(
        ID,
        path,
        messages,
        reading.records,
        branch if len(branch) < len(messages) else range(len(messages)),
        tuple(reading.epochs),
        id=text_of(about.get("sessionId")),
        title=reading.title or first_words(messages),
        model=next((message.model for message in reversed(messages) if message.model), None),
        cwd=text_of(about.get("cwd")) or None,
        warnings=tuple(reading.warnings),
        facts=SessionFacts(version=text_of(about.get("version")), git_branch=text_of(about.get("gitBranch"))),
    )


def _branch(reading: _Reading, last: str | None) -> set[str]:
    """The records on the way from the newest one to the first: what a rewind left is on none."""
    found: set[str] = set()
    while last is not None and last not in found:
        found.add(last)
        last = reading.parents[last]
    return found


def _take(reading: _Reading, value: dict[str, Any], index: int, *, live: bool) -> None:
    kind, subtype = value.get("type"), value.get("subtype")
    if kind in ("user", "assistant", "tool_result"):
        body = value.get("message")
        if isinstance(body, dict):
            number = reading.add(_message(reading, value, body, text_of(value.get("uuid")), index))
            if live:
                reading.window.read(value.get("contextWindowSize"), None, reading.warnings)
            if live and subtype != _NEVER_SENT and reading.messages[number].blocks:
                reading.members.append(number)
    elif subtype == "chat_compression" and isinstance(history := _payload(value).get("compressedHistory"), list):
        _compress(reading, value, history, index, live=live)
    elif subtype == "slash_command" and live:
        _forget_command(reading, _payload(value))
    elif subtype == "custom_title":
        reading.title = text_of(_payload(value).get("customTitle")) or reading.title


def _payload(value: Mapping[str, Any]) -> dict[str, Any]:
    return dict_of(value.get("systemPayload"))


def _message(
    reading: _Reading, value: Mapping[str, Any], body: Mapping[str, Any], id: str, index: int, *, again: bool = False
) -> Message:
    """The message that a record holds; `again` for one of a compressed history, which no call gave."""
    id = unique_id(id, reading.ids)
    time, parts, source = seconds_of(value.get("timestamp")), parts_of(body.get("parts")), (index,)
    if body.get("role") == "model":
        blocks = tuple(_model_block(part, id, place, reading.calls) for place, part in enumerate(parts))
        kind: Kind = "summary" if again and blocks == (Text(ACKNOWLEDGED),) else "normal"
        usage = None if again else _usage(dict_of(value.get("usageMetadata")))
        return Message(id, "assistant", blocks, kind, time, usage, text_of(value.get("model")) or None, source)
    blocks = tuple(user_block(part, reading.calls) for part in parts)
    if any(isinstance(block, ToolResult) for block in blocks):
        return Message(id, "tool", blocks, time=time, source=source)
    if again and _is_snapshot(blocks):
        return Message(id, "user", blocks, "summary", time, source=source)
    blocks = own_and_injected(blocks)
    meta = value.get("subtype") in _NOTICES or is_injected(blocks)
    return Message(id, "user", blocks, "meta" if meta else kind_of("user", blocks), time, source=source)


def _model_block(part: Any, id: str, place: int, calls: Calls) -> Block:
    if isinstance(part, dict) and part.get("thought") is True and isinstance(part.get("text"), str):
        return Thinking(part["text"], text_of(part.get("thoughtSignature")))
    return model_block(part, id, place, calls)


def _is_snapshot(blocks: tuple[Block, ...]) -> bool:
    return any(_SNAPSHOT in block.text for block in blocks if isinstance(block, Text))


def _usage(counts: Mapping[str, Any]) -> Usage | None:
    """Tokens of a call: `promptTokenCount` holds what came from the cache, the total all that was made."""
    prompt, cached = count_of(counts.get("promptTokenCount")), count_of(counts.get("cachedContentTokenCount"))
    made = count_of(counts.get("totalTokenCount")) - prompt
    if made <= 0:
        made = count_of(counts.get("candidatesTokenCount")) + count_of(counts.get("thoughtsTokenCount"))
    return usage_of_prompt(prompt, made, cached)


def _compress(reading: _Reading, value: Mapping[str, Any], history: list[Any], index: int, *, live: bool) -> None:
    """Put the recorded history in place of the present one, and behind it what was waiting to be sent."""
    about = dict_of(_payload(value).get("info"))
    uuid = text_of(value.get("uuid"))
    made = [
        reading.add(_message(reading, value, dict_of(body), f"{uuid}:{place + 1}", index, again=True))
        for place, body in enumerate(history)
    ]
    if not live:
        return
    messages = reading.messages
    trigger = text_of(about.get("triggerReason"))
    waiting = [] if trigger == "manual" else _waiting(reading, made)
    summary = next((messages[number].id for number in made if messages[number].kind == "summary"), None)
    by = Compaction(
        trigger,
        count_of(about.get("originalTokenCount")) or None,
        summary,
        seconds_of(value.get("timestamp")),
        "summary" if summary else _way(messages, made),
        count_of(about.get("newTokenCount")) or None,
    )
    reading.epochs.append(_epoch(reading, by))
    reading.members = [*(number for number in made if messages[number].blocks), *waiting]
    reading.copies = frozenset(n for n in made if messages[n].kind == "normal" and messages[n].role != "user")


def _waiting(reading: _Reading, made: list[int]) -> list[int]:
    """The request for which there was no room: what stands behind the newest answer, where the history has it not."""
    answers = [place for place, n in enumerate(reading.members) if reading.messages[n].role == "assistant"]
    behind = reading.members[answers[-1] + 1 :] if answers else reading.members
    held = [reading.messages[number].blocks for number in made]
    return [number for number in behind if reading.messages[number].blocks not in held]


def _way(messages: list[Message], made: list[int]) -> Way:
    texts = (result.text for number in made for result in messages[number].results)
    return "clearing" if any(text.startswith(_CLEARED) for text in texts) else "removal"


def _epoch(reading: _Reading, by: Compaction | None) -> Epoch:
    return Epoch(len(reading.epochs) + 1, array("q", reading.members), by, reading.copies, reading.window.tokens)


def _forget_command(reading: _Reading, payload: Mapping[str, Any]) -> None:
    """A command that Qwen Code answered itself is no part of the history, though it stands there as a request."""
    items = list_of(payload.get("outputHistoryItems"))
    answered = items and all(dict_of(item).get("type") == "assistant" for item in items)
    if payload.get("phase") != "result" or payload.get("sentToModel") is True or not answered or not reading.members:
        return
    last = reading.messages[reading.members[-1]]
    if last.role == "user" and last.text == payload.get("rawCommand"):
        reading.members.pop()
