"""Read Qwen Code sessions, record by record as Qwen Code rebuilds its history on resume."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.base.stamps import seconds_of
from workbench.formats.agent_texts import kind_of, with_user_text
from workbench.formats.gemini.parts import ACKNOWLEDGED, split_injected
from workbench.formats.kit.google_parts import Calls, model_block, parts_of, user_block
from workbench.formats.kit.names import first_words
from workbench.formats.kit.transcript import Transcript
from workbench.formats.kit.usage import usage_of_prompt
from workbench.formats.kit.user_text import is_injected
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of
from workbench.formats.qwen_code import ID
from workbench.session import (
    Block,
    Compaction,
    Kind,
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
"""Texts that replace old results and images."""

_NOTICES = ("cron", "notification")
"""Subtypes of user records written by a timer or a background command."""

_NEVER_SENT = "realtime_message"


class Reader(Transcript):
    """Reader of the record tree. `lines` are the records by uuid, each with its index in the file; `parents` the uuids
    they follow."""

    empty = "a Qwen Code session without messages; open another file"

    def __init__(self, path: Path, records: Records) -> None:
        super().__init__(path, records)
        self.lines: dict[str, tuple[dict[str, Any], int]] = {}
        self.parents: dict[str, str | None] = {}
        self.last: str | None = None
        self.live: set[str] = set()
        self.abandoned: set[int] = set()
        self.calls = Calls()

    def take(self, value: dict[str, Any], index: int, line: int) -> None:
        uuid, parent = value.get("uuid"), value.get("parentUuid")
        if not isinstance(uuid, str) or uuid in self.lines:
            self.warn("has no uuid; kept in the file, not shown", line)
            return
        self.lines[uuid] = (value, index)
        known = parent is None or (isinstance(parent, str) and parent in self.lines)
        if not known:
            self.warn("its parent is missing; linked to the previous record", line)
        self.parents[uuid] = parent if known else self.last
        self.last = uuid

    def finish(self) -> None:
        """Find the branch that ends with the newest record, then read the messages."""
        self.live = self._branch(self.last)
        for uuid, (value, index) in self.lines.items():
            first = len(self.messages)
            self._record(value, index, live=uuid in self.live)
            self.abandoned.update(() if uuid in self.live else range(first, len(self.messages)))
        self.end_epoch()

    def session(self) -> Session:
        messages = with_user_text(self.messages)
        about = next((value for uuid, (value, _) in reversed(self.lines.items()) if uuid in self.live), {})
        return self._session(
            ID,
            messages,
            branch=self.branch_without(self.abandoned),
            id=text_of(about.get("sessionId")),
            title=self.title or first_words(messages),
            model=next((message.model for message in reversed(messages) if message.model), None),
            cwd=text_of(about.get("cwd")) or None,
            facts=SessionFacts(version=text_of(about.get("version")), git_branch=text_of(about.get("gitBranch"))),
        )

    def _branch(self, last: str | None) -> set[str]:
        """Return the records on the path from `last` to the first; rewound records are not on it."""
        found: set[str] = set()
        while last is not None and last not in found:
            found.add(last)
            last = self.parents[last]
        return found

    def _record(self, value: dict[str, Any], index: int, *, live: bool) -> None:
        kind, subtype = value.get("type"), value.get("subtype")
        if kind in ("user", "assistant", "tool_result"):
            body = value.get("message")
            if isinstance(body, dict):
                number = self.add(self._message(value, body, text_of(value.get("uuid")), index))
                if live:
                    self.window.read(value.get("contextWindowSize"), None, self.warnings)
                if live and subtype != _NEVER_SENT and self.messages[number].blocks:
                    self.sent.append(number)
        elif subtype == "chat_compression" and isinstance(history := _payload(value).get("compressedHistory"), list):
            self._compress(value, history, index, live=live)
        elif subtype == "slash_command" and live:
            self._remove_local_command(_payload(value))
        elif subtype == "custom_title":
            self.title = text_of(_payload(value).get("customTitle")) or self.title

    def _message(
        self, value: Mapping[str, Any], body: Mapping[str, Any], id: str, index: int, *, again: bool = False
    ) -> Message:
        """Return the message of a record; `again` for one of a compressed history, which has no usage."""
        id = self.unique_id(id)
        time, parts, source = seconds_of(value.get("timestamp")), parts_of(body.get("parts")), (index,)
        if body.get("role") == "model":
            blocks = tuple(_model_block(part, id, place, self.calls) for place, part in enumerate(parts))
            kind: Kind = "summary" if again and blocks == (Text(ACKNOWLEDGED),) else "normal"
            usage = None if again else _usage(dict_of(value.get("usageMetadata")))
            return Message(id, "assistant", blocks, kind, time, usage, text_of(value.get("model")) or None, source)
        blocks = tuple(user_block(part, self.calls) for part in parts)
        if any(isinstance(block, ToolResult) for block in blocks):
            return Message(id, "tool", blocks, time=time, source=source)
        if again and _is_snapshot(blocks):
            return Message(id, "user", blocks, "summary", time, source=source)
        blocks = split_injected(blocks)
        meta = value.get("subtype") in _NOTICES or is_injected(blocks)
        return Message(id, "user", blocks, "meta" if meta else kind_of("user", blocks), time, source=source)

    def _compress(self, value: Mapping[str, Any], history: list[Any], index: int, *, live: bool) -> None:
        """Replace the context by the recorded history, followed by the messages that were waiting to be sent."""
        about = dict_of(_payload(value).get("info"))
        uuid = text_of(value.get("uuid"))
        history_numbers = [
            self.add(self._message(value, dict_of(body), f"{uuid}:{place + 1}", index, again=True))
            for place, body in enumerate(history)
        ]
        if not live:
            return
        messages = self.messages
        trigger = text_of(about.get("triggerReason"))
        waiting = [] if trigger == "manual" else self._waiting(history_numbers)
        summary = next((messages[number].id for number in history_numbers if messages[number].kind == "summary"), None)
        by = Compaction(
            trigger,
            count_of(about.get("originalTokenCount")) or None,
            summary,
            seconds_of(value.get("timestamp")),
            "summary" if summary else _way(messages, history_numbers),
            count_of(about.get("newTokenCount")) or None,
        )
        self.end_epoch(by)
        self.sent = [*(number for number in history_numbers if messages[number].blocks), *waiting]
        self.copies = frozenset(
            n for n in history_numbers if messages[n].kind == "normal" and messages[n].role != "user"
        )

    def _waiting(self, history_numbers: list[int]) -> list[int]:
        """Return the request that did not fit: the messages after the newest response that are not in the history."""
        answers = [place for place, n in enumerate(self.sent) if self.messages[n].role == "assistant"]
        following = self.sent[answers[-1] + 1 :] if answers else self.sent
        history_blocks = [self.messages[number].blocks for number in history_numbers]
        return [number for number in following if self.messages[number].blocks not in history_blocks]

    def _remove_local_command(self, payload: Mapping[str, Any]) -> None:
        """Remove a command that Qwen Code answered itself; it is recorded as a request, but is not in the history."""
        items = list_of(payload.get("outputHistoryItems"))
        answered = items and all(dict_of(item).get("type") == "assistant" for item in items)
        if payload.get("phase") != "result" or payload.get("sentToModel") is True or not answered or not self.sent:
            return
        last = self.messages[self.sent[-1]]
        if last.role == "user" and last.text == payload.get("rawCommand"):
            self.sent.pop()


def _payload(value: Mapping[str, Any]) -> dict[str, Any]:
    return dict_of(value.get("systemPayload"))


def _model_block(part: Any, id: str, place: int, calls: Calls) -> Block:
    if isinstance(part, dict) and part.get("thought") is True and isinstance(part.get("text"), str):
        return Thinking(part["text"], text_of(part.get("thoughtSignature")))
    return model_block(part, id, place, calls)


def _is_snapshot(blocks: tuple[Block, ...]) -> bool:
    return any(_SNAPSHOT in block.text for block in blocks if isinstance(block, Text))


def _usage(counts: Mapping[str, Any]) -> Usage | None:
    """Return the tokens of a call: `promptTokenCount` includes cached tokens, the total all output."""
    prompt, cached = count_of(counts.get("promptTokenCount")), count_of(counts.get("cachedContentTokenCount"))
    output = count_of(counts.get("totalTokenCount")) - prompt
    if output <= 0:
        output = count_of(counts.get("candidatesTokenCount")) + count_of(counts.get("thoughtsTokenCount"))
    return usage_of_prompt(prompt, output, cached)


def _way(messages: list[Message], numbers: list[int]) -> Way:
    texts = (result.text for number in numbers for result in messages[number].results)
    return "clearing" if any(text.startswith(_CLEARED) for text in texts) else "removal"
