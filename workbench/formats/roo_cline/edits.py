"""Cline's changes to the messages that it sends: the edits in `context_history.json`, and the range that it deleted.

When the context nears the window, Cline first puts a note in place of each file that was read again later, and then
omits messages after the first two. The history keeps everything. `context_history.json` records each new text by the
indexes of its message and block, with the time of the previous request: `[[message, [type, [[block, [[ms, "text",
[text], metadata], …]], …]]], …]`. See https://github.com/cline/cline, `ContextManager`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbench.base.stamps import seconds_of
from workbench.formats.kit.values import dict_of, list_of
from workbench.formats.roo_cline.blocks import blocks_of, with_own_words
from workbench.formats.roo_cline.chat import Request
from workbench.session import Compaction, Epoch, Message

_NOTICE = 1
"""Type of an edit that replaces no file: it adds a note about omitted messages to the first answer."""


@dataclass(frozen=True, slots=True)
class ContextEdit:
    """Replacements made at one `time`, in seconds since 1970. `texts`: new texts by index of message and block.
    `truncates`: they include the note about omitted messages, so messages were omitted as well."""

    time: float
    texts: dict[tuple[int, int], str]
    truncates: bool


def edits_of(value: Any) -> tuple[ContextEdit, ...]:
    """Return the edits in order of time; values of another form are skipped."""
    texts: dict[float, dict[tuple[int, int], str]] = {}
    noted: set[float] = set()
    for message, about in _pairs(value):
        for kind, blocks in _pairs([about]):
            for block, changes in _pairs(blocks):
                for change in map(list_of, list_of(changes)):
                    time = seconds_of(change[0]) if change else None
                    new = list_of(change[2]) if len(change) > 2 and change[1] == "text" else []
                    if time is None or not new or not isinstance(new[0], str):
                        continue
                    if type(message) is int and type(block) is int:
                        texts.setdefault(time, {})[message, block] = new[0]
                        noted |= {time} if kind == _NOTICE else set()
    return tuple(ContextEdit(time, texts[time], time in noted) for time in sorted(texts))


def _pairs(value: Any) -> list[tuple[Any, Any]]:
    return [(one[0], one[1]) for one in list_of(value) if isinstance(one, list) and len(one) == 2]


def clines_epochs(
    whole: Epoch,
    messages: Sequence[Message],
    items: Sequence[dict[str, Any]],
    deleted: tuple[int, int] | None,
    edits: Sequence[ContextEdit],
    requests: Sequence[Request],
) -> tuple[list[Epoch], list[Message]]:
    """Return Cline's epochs, made from `whole` (the complete history as one epoch), and the edited messages, whose
    indexes in the epochs follow those of `messages`. Of several truncations Cline records only the last."""
    edited: list[Message] = []
    form: dict[int, int] = {}  # number of the newest edited message, by index of the original
    omitted = range(0)
    epochs: list[Epoch] = []

    def add(stop: int, ended_by: Compaction | None) -> None:
        members = [form.get(n, n) for n in whole.members if n < stop and n not in omitted]
        if members:
            copies = frozenset(n for n in members if n >= len(messages))
            epochs.append(Epoch(whole.number + len(epochs), members, ended_by, copies))

    for edit in edits:
        truncates = edit.truncates and deleted is not None and not omitted
        truncated = Compaction("truncation", time=edit.time, way="removal")
        cleared = Compaction("files read again", time=edit.time, way="clearing")
        add(_messages_at(edit.time, messages, requests), truncated if truncates else cleared)
        omitted = range(*deleted) if truncates and deleted is not None else omitted
        for place in sorted({place for place, _ in edit.texts}):
            if 0 <= place < len(items) and (new := _edited(place, items, messages, edits, edit.time)):
                form[place] = len(messages) + len(edited)
                edited.append(new)
    if deleted is not None and not omitted:
        add(deleted[1], Compaction("truncation", way="removal"))
        omitted = range(*deleted)
    add(len(messages), None)
    return epochs or [whole], edited


def _messages_at(time: float, messages: Sequence[Message], requests: Sequence[Request]) -> int:
    """Return the number of messages that existed at the first request after `time`."""
    after = next((request for request in requests if request.time > time), None)
    if after is None:
        return len(messages)
    if after.answer is not None:
        return after.answer
    return sum(message.time is None or message.time <= after.time for message in messages)


def _edited(
    place: int, items: Sequence[dict[str, Any]], messages: Sequence[Message], edits: Sequence[ContextEdit], time: float
) -> Message | None:
    """Return message `place` with all its replacements up to `time`; None if there are none."""
    content = [dict(block) if isinstance(block, dict) else block for block in list_of(items[place].get("content"))]
    changed = 0
    for edit in edits:
        for (message, block), text in edit.texts.items():
            applies = message == place and edit.time <= time and 0 <= block < len(content)
            if applies and dict_of(content[block]).get("type") == "text":
                content[block]["text"] = text
                changed += 1
    if not changed:
        return None
    old = messages[place]
    waiting = [call.id for call in messages[place - 1].calls] if place and old.role != "assistant" else []
    role = "assistant" if old.role == "assistant" else "user"
    blocks = with_own_words(role, blocks_of({**items[place], "content": content}, waiting))
    return replace(old, id=f"{old.id}~{changed}", blocks=blocks, usage=None, source=())
