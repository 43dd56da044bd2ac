"""Preparation of messages for export to another format: valid pairs of calls and results, unique ids, accepted roles.

Formats permit results two messages after their call, unanswered calls, repeated ids, and a response as the first
message; APIs do not. Each change is a `Loss`. Role rules of the APIs are in `formats/roles.py`; for an agent that uses
several APIs, the strictest applies: the Messages API.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace

from workbench.formats.kit.blocks import SUMMARY_LABEL, holds_compaction, named
from workbench.formats.loss import Loss, Losses, LossKind, loss_of
from workbench.formats.roles import GAP, KNOWN, Api
from workbench.session import (
    Block,
    Kind,
    Media,
    Message,
    Opaque,
    Session,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    leading_system,
)

NO_RESULT = "No result was recorded for this call."
ORPHAN = "[Result of a tool call that is not part of this session]"
SYSTEM_LABEL = "[System message]"
_SENT = Media | ToolUse | ToolResult
"""Non-text blocks that can be carried to another format."""
_NOT_IN_ID = re.compile(r"[^a-zA-Z0-9_-]")


def settled(messages: Sequence[Message], api: Api | None) -> tuple[list[Message], Losses]:
    """Return the messages with every result in one tool message directly after its call, in roles that the API accepts;
    and the losses. `api` is None for records that are not continued, and for agents that accept any roles.

    Valid messages are returned equal. Boundaries, which are never sent, are omitted; open calls of the last message
    stay open.
    """
    paired, losses = _paired([message for message in messages if message.kind != "boundary"])
    if api is None:
        return paired, losses
    accepted, role_losses = in_roles(paired, api)
    return accepted, [*losses, *role_losses]


def in_roles(messages: Sequence[Message], api: Api) -> tuple[list[Message], Losses]:
    """Return the messages in roles that the API accepts, and the losses.

    System messages between turns become user messages for APIs that take them only in front. Adjacent responses are
    joined where the API allows only one. A user message is inserted where the API requires one. Messages without
    content that can be sent are left as they are.
    """
    roles = KNOWN[api]
    turns: list[Message] = []
    before: Message | None = None
    losses: Losses = []
    for message in messages:
        if roles.apart and message.role == "system" and (message.kind == "summary" or before) and has_content(message):
            message = as_user_message(message)
        if not has_content(message) or not roles.is_turn(message):
            turns.append(message)
            continue
        if roles.why_not(before, message) and not is_from_the_server(message):
            if before is not None and before is turns[-1] and before.kind == message.kind:
                turns.pop()
                message = replace(before, blocks=(*before.blocks, *message.blocks), source=())
                losses.append(Loss(LossKind.ANSWERS_JOINED))
            else:
                turns.append(Message(f"gap-{message.id}", "user", (Text(GAP),), "meta", message.time))
                losses.append(Loss(LossKind.USER_INSERTED, 1, ("the API allows no assistant message there",), GAP))
        turns.append(message)
        before = message
    return turns, losses


def has_content(message: Message) -> bool:
    """Return True if the message has content for another format: APIs reject empty messages."""
    is_sendable = (
        block.text.strip() if isinstance(block, Text) else isinstance(block, _SENT) for block in message.blocks
    )
    return is_from_the_server(message) or any(is_sendable)


def is_from_the_server(message: Message) -> bool:
    """Return True for a new summary that begins with an API's own compaction block. It is the first message."""
    if message.kind != "summary" or message.source:
        return False
    first = next(iter(message.blocks), None)
    return isinstance(first, Opaque) and holds_compaction(first.raw)


def as_user_message(message: Message) -> Message:
    """Return a system message as a user message."""
    kind: Kind = "summary" if message.kind == "summary" else "meta"
    return replace(message, role="user", kind=kind, blocks=(Text(as_user_text(message)),))


def _paired(messages: list[Message]) -> tuple[list[Message], Losses]:
    answers, orphans = _match(messages)
    used: set[str] = set()
    renamed = unanswered = moved = 0
    out: list[Message] = []
    losses: Losses = []
    for index, message in enumerate(messages):
        if message.role == "system" and not _is_text(message):
            message = _as_text_only(message, losses)
            if not message.blocks:
                continue
        if message.role != "assistant":
            rest = tuple(_unmatched(index, message, orphans))
            if rest == message.blocks:
                out.append(message)
            elif rest:
                if message.role == "tool" and not any(isinstance(block, ToolResult) for block in rest):
                    message = replace(message, role="user", kind="meta")
                out.append(replace(message, blocks=rest, source=()))
            continue
        blocks: list[Block] = []
        results: list[tuple[ToolResult, float | None]] = []
        for place, block in enumerate(message.blocks):
            if not isinstance(block, ToolUse):
                if results and isinstance(block, Text) and block.text.strip():  # the response goes on
                    out += _with_results(message, blocks, results)
                    message, blocks, results = replace(message, id=f"{message.id}:{place}", usage=None), [], []
                blocks.append(block)
                continue
            id = _free_id(block.id, used)
            renamed += id != block.id
            blocks.append(block if id == block.id else replace(block, id=id))
            at, result = answers.get((index, place), (index, None))
            moved += not all(between.results for between in messages[index + 1 : at])
            time = messages[at].time
            if result is None and index < len(messages) - 1:
                unanswered += 1
                result = ToolResult(id, (Text(NO_RESULT),), is_error=True)
            if result is not None:
                results.append((replace(result, call_id=id), time))
        out += _with_results(message, blocks, results)
    counts = {
        LossKind.IDS_RENAMED: renamed,
        LossKind.RESULTS_MOVED: moved,
        LossKind.UNANSWERED_CALLS: unanswered,
        LossKind.ORPHAN_RESULTS: len(orphans),
    }
    return out, [*(Loss(kind, count) for kind, count in counts.items() if count), *losses]


def system_prompt(session: Session, messages: Sequence[Message]) -> tuple[str, Sequence[Message]]:
    """Return the system prompt for a format that stores it outside the messages, and the remaining messages.

    The prompt is the session's own, plus the texts of the system messages in front.
    """
    leading = leading_system(messages)
    texts = [session.system, *(message.text for message in messages[:leading])]
    hidden = [message for message in messages[:leading] if not _is_text(message)]
    return "\n\n".join(filter(None, texts)), [*(_without_text(one) for one in hidden), *messages[leading:]]


def _is_text(message: Message) -> bool:
    return all(isinstance(block, Text) for block in message.blocks)


def _as_text_only(message: Message, losses: Losses) -> Message:
    """Return a system message as text: attachments become the lines that name them, other blocks are losses."""
    blocks: list[Block] = []
    for block in message.blocks:
        match block:
            case Text():
                blocks.append(block)
            case Media():
                blocks.append(Text(named(block, losses)))
            case Thinking() | Opaque():
                losses.append(loss_of(block))
            case _:
                pass
    return replace(message, blocks=tuple(blocks))


def _without_text(message: Message) -> Message:
    return replace(message, blocks=tuple(block for block in message.blocks if not isinstance(block, Text)))


def adopted(session: Session, messages: Sequence[Message], agent: str, api: Api) -> tuple[list[Message], Losses]:
    """Return the messages settled for an agent that sends its own system prompt, and the losses."""
    _, rest = system_prompt(session, messages)
    accepted, losses = settled(rest, api)
    prompts = Loss(LossKind.SYSTEM_MESSAGES, sum(bool(m.text) for m in messages[: leading_system(messages)]), (agent,))
    own_prompt = [Loss(LossKind.SYSTEM_PROMPT, 1, (agent,))] if session.system else []
    return accepted, [*own_prompt, *([prompts] if prompts.count else []), *losses]


def as_user_text(message: Message) -> str:
    """Return a system message's text, labelled for formats whose messages cannot have that role."""
    return f"{SUMMARY_LABEL if message.kind == 'summary' else SYSTEM_LABEL}\n{message.text}"


def _with_results(
    message: Message, blocks: Sequence[Block], results: Sequence[tuple[ToolResult, float | None]]
) -> Iterator[Message]:
    """Yield the message with the calls, then one message with their results. It has the time of the newest result, or
    else of the calls: writers replace a missing time by the current one."""
    yield replace(message, blocks=tuple(blocks))
    if results:
        time = max((time for _, time in results if time is not None), default=message.time)
        yield Message(f"{message.id}:results", "tool", tuple(result for result, _ in results), time=time)


Place = tuple[int, int]
"""Position of a block: index of its message, and index in the message."""


def _match(messages: Sequence[Message]) -> tuple[dict[Place, tuple[int, ToolResult]], set[Place]]:
    """Return the result of each call with the index of its message, by position of the call; and the positions of
    results without a call before them."""
    waiting: dict[str, deque[Place]] = {}
    answers: dict[Place, tuple[int, ToolResult]] = {}
    orphans: set[Place] = set()
    for index, message in enumerate(messages):
        for place, block in enumerate(message.blocks):
            if isinstance(block, ToolUse) and message.role == "assistant":
                waiting.setdefault(block.id, deque()).append((index, place))
            elif isinstance(block, ToolResult):
                calls = waiting.get(block.call_id)
                if calls:
                    answers[calls.popleft()] = index, block
                else:
                    orphans.add((index, place))
    return answers, orphans


def _unmatched(index: int, message: Message, orphans: set[Place]) -> list[Block]:
    """Return the blocks of a message without the results that moved to their calls; orphans become text."""
    rest: list[Block] = []
    for place, block in enumerate(message.blocks):
        if not isinstance(block, ToolResult):
            rest.append(block)
        elif (index, place) in orphans:
            rest.append(Text(f"{ORPHAN}\n{block.text}"))
    return rest


def _free_id(id: str, used: set[str]) -> str:
    """Return `id` in the characters that every API accepts, with a number if an earlier call has that id."""
    base = _NOT_IN_ID.sub("_", id) or "call"
    free, number = base, 1
    while free in used:
        number += 1
        free = f"{base}-{number}"
    used.add(free)
    return free
