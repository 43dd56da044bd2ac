"""Recorded model calls, each a complete request with its response, grouped into conversations.

A trace or a capture stores requests, not conversations. A request that begins with the current context continues that
conversation; one that contains part of it follows a compaction; one that shares nothing starts another conversation: a
title, a sub-agent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from workbench.formats.format import RecordedRequest
from workbench.session import Block, Compaction, Epoch, Message, Session, Text, Thinking, ToolResult, ToolUse
from workbench.session.session import Way
from workbench.session.structure import leading_system


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A request's messages, system prompt first, and the response with its usage, model and time. `answer` is None for
    a call without a response."""

    request: tuple[Message, ...]
    answer: Message | None = None


@dataclass(frozen=True, slots=True)
class RecordedConversation:
    """A conversation assembled from calls. Messages are numbered `m1`, `m2`, … in order of first appearance; `branch`
    omits messages that were taken back. `calls` are the indexes of its calls, `sent` the request of each."""

    messages: tuple[Message, ...]
    branch: tuple[int, ...]
    epochs: tuple[Epoch, ...]
    calls: tuple[int, ...]
    sent: tuple[RecordedRequest, ...]


def conversations(calls: Iterable[RecordedCall]) -> list[RecordedConversation]:
    """Group `calls`, given in the order in which they were made, into conversations, in the order of their first
    calls."""
    threads: list[_Thread] = []
    answers: list[frozenset[str]] = []
    for index, call in enumerate(calls):
        request = _Request(call.request)
        steps = [(step, thread) for thread in threads if (step := _relation_to(thread, request, answers))]
        step, thread = max(steps, key=lambda found: found[0].nearness, default=(_Relation(None), _Thread()))
        if not steps:
            threads.append(thread)
        thread.take(index, step, request, call.answer)
        if call.answer:
            answers.append(_lines(call.answer.text))
    return [thread.conversation() for thread in threads if thread.messages]


def requests(session: Session) -> Iterator[RecordedRequest]:
    """Yield the requests of a session that was read from recorded calls: `SessionFacts.own` holds
    `RecordedConversation.sent`."""
    if isinstance(session.facts.own, tuple):
        yield from session.facts.own


class _Request:
    """A request split into system prompt and rest. `keys` identifies each message of the rest."""

    def __init__(self, messages: Sequence[Message]) -> None:
        leading = leading_system(messages)
        self.prompt, self.rest = messages[:leading], messages[leading:]
        self.keys = [*map(_key, self.rest)]


@dataclass(frozen=True, slots=True)
class _Relation:
    """Relation of a request to a conversation: a compaction, or a continuation after the first `retained` context
    messages. `shared` counts the context messages in the request; `summary` is the position of a new summary in it."""

    compacted: Way | None
    retained: int = 0
    shared: int = 0
    summary: int | None = None

    @property
    def nearness(self) -> tuple[bool, int]:
        return self.compacted is None, self.retained or self.shared


@dataclass(slots=True)
class _Thread:
    """A conversation while its calls are read. `prompt` and `context` index the messages of the newest call, its
    response last; `requested` counts the context messages that were in the request. `former` is the prompt of the call
    before."""

    messages: list[Message] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    prompt: list[int] = field(default_factory=list)
    former: list[int] = field(default_factory=list)
    context: list[int] = field(default_factory=list)
    requested: int = 0
    removed: set[int] = field(default_factory=set)
    epochs: list[Epoch] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    sent: list[RecordedRequest] = field(default_factory=list)

    def take(self, index: int, step: _Relation, request: _Request, answer: Message | None) -> None:
        former = [*self.prompt]
        if step.compacted is not None:
            self._end(step.compacted, step, request, answer.time if answer else None)
        else:
            self._set_prompt(request.prompt)
            self.removed |= {*self.context[step.retained :]}
            del self.context[step.retained :]
            for message, key in zip(request.rest[step.retained :], request.keys[step.retained :], strict=True):
                self.context.append(self._add(message, key))
        self.former = former
        self.requested = len(self.context)
        sent_messages = tuple(self.messages[at] for at in (*self.prompt, *self.context))
        if answer is not None:
            self.context.append(self._add(answer, _key(answer)))
        self.calls.append(index)
        continues = answer is not None and answer.kind != "summary"
        self.sent.append(RecordedRequest(self.messages[self.context[-1]].id if continues else "", sent_messages))

    def _add(self, message: Message, key: str) -> int:
        self.messages.append(replace(message, id=f"m{len(self.messages) + 1}"))
        self.keys.append(key)
        return len(self.messages) - 1

    def _set_prompt(self, prompt: Sequence[Message]) -> None:
        """Set the prompt of the newest request, which may differ from the one before, for example in its date."""
        keys = [*map(_key, prompt)]
        if keys != [self.keys[at] for at in self.prompt]:
            self.removed |= {*self.prompt}
            self.prompt = [self._add(message, key) for message, key in zip(prompt, keys, strict=True)]

    def _end(self, way: Way, step: _Relation, request: _Request, time: float | None) -> None:
        """End the epoch, and begin one with the messages of the request. Unchanged messages keep their index."""
        if step.summary is not None and self._was_requested(request.rest[step.summary]):
            del self.context[-2:]
            self.prompt = self.former or self.prompt
        old: dict[str, list[int]] = {}
        for at in reversed(self.context):
            old.setdefault(self.keys[at], []).append(at)
        if step.summary is not None and self.context and self.messages[self.context[-1]].kind == "summary":
            del self.context[-1]  # a compaction by the API: the conversation has no request for it
        before = (*self.prompt, *self.context)
        self._set_prompt(request.prompt)
        self.context = []
        for place, (message, key) in enumerate(zip(request.rest, request.keys, strict=True)):
            if place == step.summary:
                message = replace(message, kind="summary")
            known = old.get(key)
            self.context.append(known.pop() if known else self._add(message, key))
        summary, tokens = None, None
        if step.summary is not None:
            place = self.context[step.summary]
            summary = self.messages[place]
            # The usage counts the context of the call that wrote the summary.
            tokens = summary.usage.context if summary.usage else None
            self.messages[place] = replace(summary, usage=None)
        kept_ids = tuple(self.messages[at].id for at in self.context if at in before)
        ended = Compaction("", tokens, summary.id if summary else None, time, way, kept_ids=kept_ids)
        self.epochs.append(Epoch(len(self.epochs) + 1, before, ended))

    def _was_requested(self, summary: Message) -> bool:
        """Return True if the newest call requested the summary. Its question and response are not part of the
        conversation that continues."""
        newest = [self.messages[at] for at in self.context[-2:]]
        if newest and newest[-1].kind == "summary":
            return False
        return [message.role for message in newest] == ["user", "assistant"] and _holds(summary, _lines(newest[1].text))

    def conversation(self) -> RecordedConversation:
        epochs = (*self.epochs, Epoch(len(self.epochs) + 1, (*self.prompt, *self.context)))
        unsent = self.removed.difference(*(epoch.members for epoch in epochs))
        return RecordedConversation(
            tuple(self.messages),
            tuple(at for at in range(len(self.messages)) if at not in unsent),
            epochs,
            tuple(self.calls),
            tuple(self.sent),
        )


def _relation_to(thread: _Thread, request: _Request, answers: Sequence[frozenset[str]]) -> _Relation | None:
    """Return the relation of the request to the conversation; None if it belongs to another one."""
    context = [thread.messages[at] for at in thread.context]
    keys = [thread.keys[at] for at in thread.context]
    shared_start = _common_beginning(thread, request)
    shared = len({*keys} & {*request.keys})
    goes_on = shared > 1 or _same_prompt(thread, thread.prompt, request)
    former = len(thread.calls) > 1 and _same_prompt(thread, thread.former, request)
    if not goes_on and not (former and _holds_last(context, request)):
        return None
    if shared_start == len(keys) or (shared_start and shared_start == thread.requested):
        return _Relation(None, shared_start)
    if request.rest and request.rest[0].kind == "summary" and request.keys[0] == keys[-1]:
        return _Relation("summary", 0, shared, 0)
    new = [place for place, key in enumerate(request.keys) if key not in keys]
    summary = next((place for place in new if _is_summary(request.rest[place], answers)), None)
    if summary is not None:
        return _Relation("summary", 0, shared, summary)
    if {*keys[-2:]} & {*request.keys}:  # the newest messages are kept
        cleared = any(map(_cleared, context, request.rest))
        return _Relation("clearing" if cleared else "removal", 0, shared)
    if shared == shared_start and any(message.role == "assistant" for message in context[:shared_start]):
        return _Relation(None, shared_start)  # later messages were taken back
    return None


def _common_beginning(thread: _Thread, request: _Request) -> int:
    """Count the context messages with which the request begins. The newest response counts in any recorded form."""
    for place, (at, key, message) in enumerate(zip(thread.context, request.keys, request.rest, strict=False)):
        answer = place == thread.requested and message.role == "assistant"
        if thread.keys[at] != key and not answer:
            return place
    return min(len(thread.context), len(request.keys))


def _same_prompt(thread: _Thread, prompt: Sequence[int], request: _Request) -> bool:
    """Return True if `prompt`, a system prompt of the conversation, equals the request's, or if they share half of the
    lines of the longer one: the same prompt with another date, for example."""
    ours, theirs = (
        _lines("\n".join(message.text for message in part))
        for part in ([thread.messages[at] for at in prompt], request.prompt)
    )
    return ours == theirs or len(ours & theirs) >= SHARED_LINES * max(len(ours), len(theirs))


def _holds_last(context: Sequence[Message], request: _Request) -> bool:
    """Return True if a user message of the request contains the last response, as after a summary that was requested
    under its own system prompt. A request under a prompt that the conversation never had belongs to another agent."""
    last = context[-1] if context and context[-1].role == "assistant" else None
    return last is not None and any(one.role == "user" and _holds(one, _lines(last.text)) for one in request.rest)


def _is_summary(message: Message, answers: Sequence[frozenset[str]]) -> bool:
    """Return True if a message new to the context replaces older ones: it is marked as a summary, or contains an
    earlier response."""
    if message.role not in ("user", "system") or message.kind == "meta":
        return False
    return message.kind == "summary" or any(_holds(message, answer) for answer in reversed(answers))


def _holds(message: Message, lines: frozenset[str]) -> bool:
    """Return True if the message contains most lines of a response. Short lines are ignored."""
    return bool(lines) and len(lines & _lines(message.text)) >= SHARED_LINES * len(lines)


def _cleared(before: Message, now: Message) -> bool:
    """Return True if the same tool results have other contents now."""
    call_ids = [result.call_id for result in before.results]
    return bool(call_ids) and call_ids == [result.call_id for result in now.results] and _key(before) != _key(now)


def _key(message: Message) -> str:
    """Return the part of a message that is the same however it is recorded: without reasoning, which later requests
    omit, and without text that the agent injects each time."""
    return json.dumps([message.role, *filter(None, map(_part, message.blocks))], default=repr)


def _part(block: Block) -> object:
    match block:
        case Text(text, injected):
            return "" if injected else text.strip()
        case Thinking():
            return ""
        case ToolUse(id, name, arguments):
            return [id, name, json.dumps(arguments, sort_keys=True, default=repr)]
        case ToolResult(id):
            return [id, block.text.strip()]
    return repr(block)


SHARED_LINES = 0.5
"""Share of common lines from which two system prompts are the same prompt, and from which a message contains a
response."""

_LINE = 20
"""Shortest line, in characters, that is compared."""


def _lines(text: str) -> frozenset[str]:
    return frozenset(line for part in text.splitlines() if len(line := part.strip()) >= _LINE)
