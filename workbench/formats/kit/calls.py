"""Recorded calls of a model, each a whole request with what came back, as the conversations they belong to.

A trace or a capture has no conversation, only its requests. A request that begins with the context as it stood
continues it; one that holds it in part was compacted before; one that has nothing of it is another conversation: a
title, a sub-agent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from workbench.formats.format import Sent
from workbench.session import Block, Compaction, Epoch, Message, Session, Text, Thinking, ToolResult, ToolUse
from workbench.session.session import Way
from workbench.session.structure import leading_system


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A request's messages, a system prompt first among them, and the message that came back, with its usage, model and
    time; None where none did."""

    asked: tuple[Message, ...]
    answer: Message | None = None


@dataclass(frozen=True, slots=True)
class RecordedConversation:
    """`messages` are numbered `m1`, `m2`, … as they first appear; `branch` leaves out what was taken back. `calls` are
    the indexes of its calls, `sent` what each of them held."""

    messages: tuple[Message, ...]
    branch: tuple[int, ...]
    epochs: tuple[Epoch, ...]
    calls: tuple[int, ...]
    sent: tuple[Sent, ...]


def conversations(calls: Iterable[RecordedCall]) -> list[RecordedConversation]:
    """The conversations among `calls`, which are in the order in which they were made; each in the order of its
    first."""
    threads: list[_Thread] = []
    answers: list[frozenset[str]] = []
    for index, call in enumerate(calls):
        request = _Request(call.asked)
        steps = [(step, thread) for thread in threads if (step := _step(thread, request, answers))]
        step, thread = max(steps, key=lambda found: found[0].nearness, default=(_Step(None), _Thread()))
        if not steps:
            threads.append(thread)
        thread.take(index, step, request, call.answer)
        if call.answer:
            answers.append(_lines(call.answer.text))
    return [thread.conversation() for thread in threads if thread.messages]


def requests(session: Session) -> Iterator[Sent]:
    """What went out in a session made of one of them: `SessionFacts.own` is its `sent`."""
    if isinstance(session.facts.own, tuple):
        yield from session.facts.own


class _Request:
    """A request in its two parts, the system prompt and the rest, each message with its key."""

    def __init__(self, messages: Sequence[Message]) -> None:
        leading = leading_system(messages)
        self.prompt, self.rest = messages[:leading], messages[leading:]
        self.keys = [*map(_key, self.rest)]


@dataclass(frozen=True, slots=True)
class _Step:
    """How a request follows a conversation: by a compaction, or going on behind the first `kept` messages of its
    context. `shared` is how many of them it holds, `summary` the place in it of a summary that came in."""

    compacted: Way | None
    kept: int = 0
    shared: int = 0
    summary: int | None = None

    @property
    def nearness(self) -> tuple[bool, int]:
        return self.compacted is None, self.kept or self.shared


@dataclass(slots=True)
class _Thread:
    """A conversation as far as it is read. `prompt` and `context` are the indexes of what the model saw last, its
    answer at the end; the first `asked` of the context were sent to it. `former` is the prompt of the call before."""

    messages: list[Message] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    prompt: list[int] = field(default_factory=list)
    former: list[int] = field(default_factory=list)
    context: list[int] = field(default_factory=list)
    asked: int = 0
    taken_back: set[int] = field(default_factory=set)
    epochs: list[Epoch] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)

    def take(self, index: int, step: _Step, request: _Request, answer: Message | None) -> None:
        former = [*self.prompt]
        if step.compacted is not None:
            self._end(step.compacted, step, request, answer.time if answer else None)
        else:
            self._set_prompt(request.prompt)
            self.taken_back |= {*self.context[step.kept :]}
            del self.context[step.kept :]
            for message, key in zip(request.rest[step.kept :], request.keys[step.kept :], strict=True):
                self.context.append(self._add(message, key))
        self.former = former
        self.asked = len(self.context)
        given = tuple(self.messages[at] for at in (*self.prompt, *self.context))
        if answer is not None:
            self.context.append(self._add(answer, _key(answer)))
        self.calls.append(index)
        continues = answer is not None and answer.kind != "summary"
        self.sent.append(Sent(self.messages[self.context[-1]].id if continues else "", given))

    def _add(self, message: Message, key: str) -> int:
        self.messages.append(replace(message, id=f"m{len(self.messages) + 1}"))
        self.keys.append(key)
        return len(self.messages) - 1

    def _set_prompt(self, prompt: Sequence[Message]) -> None:
        """The prompt of the newest request, which may tell another date than the one before."""
        keys = [*map(_key, prompt)]
        if keys != [self.keys[at] for at in self.prompt]:
            self.taken_back |= {*self.prompt}
            self.prompt = [self._add(message, key) for message, key in zip(prompt, keys, strict=True)]

    def _end(self, way: Way, step: _Step, request: _Request, time: float | None) -> None:
        """End the epoch, and begin one with the messages of the request: the old ones where they are the same."""
        if step.summary is not None and self._asked_for(request.rest[step.summary]):
            del self.context[-2:]
            self.prompt = self.former or self.prompt
        old: dict[str, list[int]] = {}
        for at in reversed(self.context):
            old.setdefault(self.keys[at], []).append(at)
        if step.summary is not None and self.context and self.messages[self.context[-1]].kind == "summary":
            del self.context[-1]  # the API compacted on its own account: nothing was asked for in the conversation
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
            tokens = summary.usage.context if summary.usage else None  # of the call that wrote it, for another context
            self.messages[place] = replace(summary, usage=None)
        kept = tuple(self.messages[at].id for at in self.context if at in before)
        ended = Compaction("", tokens, summary.id if summary else None, time, way, kept=kept)
        self.epochs.append(Epoch(len(self.epochs) + 1, before, ended))

    def _asked_for(self, summary: Message) -> bool:
        """Whether the newest call was the one that asked for the summary. Its question and its answer were no part of
        the conversation that went on."""
        newest = [self.messages[at] for at in self.context[-2:]]
        if newest and newest[-1].kind == "summary":
            return False
        return [message.role for message in newest] == ["user", "assistant"] and _holds(summary, _lines(newest[1].text))

    def conversation(self) -> RecordedConversation:
        epochs = (*self.epochs, Epoch(len(self.epochs) + 1, (*self.prompt, *self.context)))
        gone = self.taken_back.difference(*(epoch.members for epoch in epochs))
        return RecordedConversation(
            tuple(self.messages),
            tuple(at for at in range(len(self.messages)) if at not in gone),
            epochs,
            tuple(self.calls),
            tuple(self.sent),
        )


def _step(thread: _Thread, request: _Request, answers: Sequence[frozenset[str]]) -> _Step | None:
    """How the request follows the conversation; None where it does not."""
    context = [thread.messages[at] for at in thread.context]
    keys = [thread.keys[at] for at in thread.context]
    kept = _beginning(thread, request)
    shared = len({*keys} & {*request.keys})
    goes_on = shared > 1 or _same_prompt(thread, thread.prompt, request)
    former = len(thread.calls) > 1 and _same_prompt(thread, thread.former, request)
    if not goes_on and not (former and _holds_last(context, request)):
        return None
    if kept == len(keys) or (kept and kept == thread.asked):
        return _Step(None, kept)
    if request.rest and request.rest[0].kind == "summary" and request.keys[0] == keys[-1]:
        return _Step("summary", 0, shared, 0)
    new = [place for place, key in enumerate(request.keys) if key not in keys]
    summary = next((place for place in new if _is_summary(request.rest[place], answers)), None)
    if summary is not None:
        return _Step("summary", 0, shared, summary)
    if {*keys[-2:]} & {*request.keys}:  # what is newest stays
        cleared = any(map(_cleared, context, request.rest))
        return _Step("clearing" if cleared else "removal", 0, shared)
    if shared == kept and any(message.role == "assistant" for message in context[:kept]):
        return _Step(None, kept)  # what came after was taken back
    return None


def _beginning(thread: _Thread, request: _Request) -> int:
    """How many messages of the context the request begins with. An answer may have been written down otherwise."""
    for place, (at, key, message) in enumerate(zip(thread.context, request.keys, request.rest, strict=False)):
        answer = place == thread.asked and message.role == "assistant"
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
    """Return True if a user message of the request holds the last answer: a summary may be requested under its own
    system prompt. A request under a prompt that the conversation never had belongs to another agent."""
    last = context[-1] if context and context[-1].role == "assistant" else None
    return last is not None and any(one.role == "user" and _holds(one, _lines(last.text)) for one in request.rest)


def _is_summary(message: Message, answers: Sequence[frozenset[str]]) -> bool:
    """Whether a message that no context had stands for older ones: it says so, or holds what a model was asked for."""
    if message.role not in ("user", "system") or message.kind == "meta":
        return False
    return message.kind == "summary" or any(_holds(message, answer) for answer in reversed(answers))


def _holds(message: Message, lines: frozenset[str]) -> bool:
    """Whether most lines of an answer stand in the message; those that are too short tell nothing."""
    return bool(lines) and len(lines & _lines(message.text)) >= SHARED_LINES * len(lines)


def _cleared(before: Message, now: Message) -> bool:
    """Whether results stand there with other contents."""
    asked = [result.call_id for result in before.results]
    return bool(asked) and asked == [result.call_id for result in now.results] and _key(before) != _key(now)


def _key(message: Message) -> str:
    """What is the same in a message however it is written down: not the reasoning, which later requests leave out, nor
    what a tool puts in anew each time."""
    return json.dumps([message.role, *filter(None, map(_part, message.blocks))], default=repr)


def _part(block: Block) -> object:
    match block:
        case Text(text, injected):
            return "" if injected else text.strip()
        case Thinking():
            return ""
        case ToolUse(id, name, given):
            return [id, name, json.dumps(given, sort_keys=True, default=repr)]
        case ToolResult(id):
            return [id, block.text.strip()]
    return repr(block)


SHARED_LINES = 0.5
"""Of the lines of two system prompts, the share in common from which they are one; of the lines of an answer, the share
that a later message holds when it is the summary that was asked for."""

_LINE = 20
"""A line of fewer characters tells nothing."""


def _lines(text: str) -> frozenset[str]:
    return frozenset(line for part in text.splitlines() if len(line := part.strip()) >= _LINE)
