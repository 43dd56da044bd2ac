"""Traces of model calls as sessions: one conversation for each trace or session id, ordered by time.

Traces are read only, because no agent resumes from one. Each response has the usage of its call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.formats.agent_texts import with_user_text
from workbench.formats.format import Codec, Part, Progress, no_progress
from workbench.formats.kit.calls import RecordedCall, RecordedConversation, conversations, requests
from workbench.formats.kit.chat import tools_of
from workbench.formats.kit.document import parse
from workbench.formats.kit.jsonl import objects_of, records_of
from workbench.formats.kit.names import first_words
from workbench.formats.kit.several import one_of
from workbench.session import LoadWarning, Message, Records, Session, SessionFacts, Usage


@dataclass(frozen=True, slots=True)
class TracedCall:
    """A recorded call. `group` is the id of its conversation, session or trace, `id` its own, `parent` that of the
    enclosing step. `time` is in seconds since 1970, UTC; `tools` are definitions in an API's form."""

    group: str
    id: str
    parent: str
    time: float
    request: tuple[Message, ...]
    answer: Message | None
    usage: Usage | None = None
    model: str | None = None
    tools: Sequence[Any] = ()


def values(path: Path, data: bytes, warnings: list[LoadWarning]) -> Iterator[Any]:
    """Yield the one JSON document of a file, or the object of each line. Raises BadInput for anything else."""
    problems: list[LoadWarning] = []
    lines = [value for value, _, _ in objects_of(records_of(data), len(data), Records(data), problems, no_progress)]
    if len(lines) > 1:
        warnings += problems
        yield from lines
        return
    document, problems = parse(path, data)
    warnings += problems
    yield document


Spans = Callable[[Path, bytes, list[LoadWarning]], Iterable[TracedCall]]
"""Returns the calls of a file in any order."""


@dataclass(frozen=True, slots=True)
class _TracedConversation:
    id: str
    conversation: RecordedConversation
    calls: tuple[TracedCall, ...]


def codec(format: str, spans: Spans) -> Codec:
    """Return the codec of a trace format; `spans` finds its calls."""

    def found_in(path: Path, data: bytes, warnings: list[LoadWarning]) -> list[_TracedConversation]:
        found = [*_conversations(spans(path, data, warnings))]
        if not found:
            raise BadInput(f"{path}: no call in it contains messages; make the trace record prompts and responses.")
        return found

    def read(path: Path, data: bytes, progress: Progress) -> Session:
        """Read the conversation with the most calls. Raises BadInput if no call has messages."""
        warnings: list[LoadWarning] = []
        progress(0, len(data))
        found = found_in(path, data, warnings)
        progress(len(data), len(data))
        session = _session(format, path, data, max(found, key=lambda one: len(one.calls)), warnings)
        return one_of(len(found), "conversation", session, "the one with the most calls")

    def sessions_in(path: Path, data: bytes) -> tuple[Part, ...]:
        listed = ((one.id, one.conversation.messages) for one in found_in(path, data, []))
        return tuple(Part(id, first_words(messages), len(messages)) for id, messages in listed)

    def read_part(path: Path, data: bytes, id: str, progress: Progress) -> Session:
        """Read one conversation. Raises BadInput if no conversation has this id."""
        warnings: list[LoadWarning] = []
        for one in found_in(path, data, warnings):
            if one.id == id:
                progress(len(data), len(data))
                return _session(format, path, data, one, warnings)
        raise BadInput(f"{path} has no conversation {id!r}; choose a listed one.")

    return Codec(read, sessions_in=sessions_in, read_part=read_part, requests=requests)


def _conversations(spans: Iterable[TracedCall]) -> Iterator[_TracedConversation]:
    groups: dict[str, list[TracedCall]] = {}
    for traced in sorted((one for one in spans if one.request), key=lambda one: one.time):
        groups.setdefault(traced.group, []).append(traced)
    for group, calls in groups.items():
        calls = _innermost(calls)
        found = conversations(RecordedCall(with_user_text(one.request), _answer(one)) for one in calls)
        found.sort(key=lambda one: -len(one.calls))
        for number, conversation in enumerate(found, 1):
            own = tuple(calls[index] for index in conversation.calls)
            yield _TracedConversation(group if number == 1 else f"{group}-{number}", conversation, own)


def _innermost(calls: list[TracedCall]) -> list[TracedCall]:
    """Remove steps that enclose another call: nested libraries record the same request repeatedly."""
    parents = {one.parent for one in calls}
    return [one for one in calls if one.id not in parents or not one.id]


def _answer(traced: TracedCall) -> Message | None:
    if traced.answer is None:
        return None
    return replace(traced.answer, role="assistant", usage=traced.usage, model=traced.model, time=traced.time or None)


def _session(
    format: str, path: Path, data: bytes, found: _TracedConversation, warnings: Sequence[LoadWarning]
) -> Session:
    conversation, last = found.conversation, found.calls[-1]
    return Session(
        format=format,
        path=path,
        messages=conversation.messages,
        records=Records(data),
        branch=conversation.branch,
        epochs=conversation.epochs,
        id=found.id,
        title=first_words(conversation.messages),
        model=next((one.model for one in reversed(found.calls) if one.model), None),
        tools=tools_of(last.tools),
        warnings=tuple(warnings),
        facts=SessionFacts(part=found.id, own=conversation.sent),
    )
