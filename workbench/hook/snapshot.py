"""Snapshot of what is in force in a session: the user's texts, the open request, running work, changed files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from operator import attrgetter
from pathlib import Path

from msgspec import Struct

from workbench.base.reading import read_file
from workbench.base.secrets import without_secrets
from workbench.facts.answers import typed_texts
from workbench.facts.calls import ToolCall, calls_in
from workbench.facts.diffstat import diffstat, file_changes
from workbench.facts.requests import request_facts
from workbench.facts.tasks import running_tasks, tasks_of
from workbench.session import Message, Session
from workbench.session.masked import masked_message

MOST_TEXTS = 2_000
"""Newest texts of the user that are kept."""


class NamedText(Struct, frozen=True):
    """A text to show, and the name by which another text may mention it."""

    name: str
    text: str


class Snapshot(Struct, frozen=True):
    """Work in force in a session, with secrets masked.

    texts: what the user typed in the session, oldest first; the last `unanswered` ones have no answer yet.
    requests: the texts that are requests, each with whether the agent answered it; oldest first.
    running: tasks in the background, by the agent's id. tasks: open items of the newest task list.
    files: files changed since the last compaction, by path. epochs: number of epochs, to see a later compaction.
    """

    texts: tuple[str, ...] = ()
    unanswered: int = 0
    requests: tuple[tuple[str, bool], ...] = ()
    running: tuple[NamedText, ...] = ()
    tasks: tuple[str, ...] = ()
    files: tuple[NamedText, ...] = ()
    epochs: int = 0
    cwd: str = ""


def read_session(reader: str, path: Path) -> Session:
    """Read a session with the function "module:name" of `workbench.formats`, without looking for its format. Raises
    BadInput and OSError."""
    from workbench.formats.format import no_progress

    module, _, name = reader.partition(":")
    read: Callable[..., Session] = attrgetter(name)(import_module(f"workbench.formats.{module}"))
    return read(path, read_file(path), no_progress)


def take_snapshot(session: Session) -> Snapshot:
    """Return what is in force at the end of a session."""
    messages = [_with_masked_words(session.messages[number]) for number in session.branch]
    typed = [*typed_texts(messages)][-MOST_TEXTS:]
    answered = max((at for at, one in enumerate(messages) if one.role == "assistant"), default=-1)
    requests = [*request_facts(messages)]
    calls = calls_in(messages)
    newest = max((fact.index for fact in requests), default=-1)
    return Snapshot(
        tuple(words for _, words in typed),
        sum(index > answered for index, _ in typed),
        tuple((fact.text, bool(fact.ok)) for fact in requests[-MOST_REQUESTS:]),
        tuple(NamedText(one.id, without_secrets(one.text)) for one in running_tasks(messages, calls)),
        _open_tasks(calls, newest),
        _changed_files(session, calls),
        len(session.epochs),
        session.cwd or "",
    )


MOST_REQUESTS = 10
"""Newest requests that are kept: several, because a mere agreement ("go on") refers to the request before it."""


def _with_masked_words(message: Message) -> Message:
    """Mask the user's own words in a message. Tool results are not masked: only their names are read."""
    return masked_message(message) if message.user_text else message


def _open_tasks(calls: Sequence[ToolCall], newest_request: int) -> tuple[str, ...]:
    """Return the open items of the newest task list, if it was written after the newest request."""
    tasks = tasks_of(calls)
    if max((task.index for task in tasks), default=-1) <= newest_request:
        return ()
    return tuple(without_secrets(task.text) for task in tasks if task.status in ("pending", "in_progress"))


def _changed_files(session: Session, calls: Sequence[ToolCall]) -> tuple[NamedText, ...]:
    """Return the files changed in the newest epoch with their lines, in the order of their last change."""
    current = set(session.epochs[-1].members) if session.epochs else set(session.branch)
    changes = [change for index, change in file_changes(calls) if session.branch[index] in current]
    last = {change.path: at for at, change in enumerate(changes)}
    found = sorted(diffstat(changes), key=lambda one: last[one.path])
    folder = f"{session.cwd}/" if session.cwd else ""
    plain = [without_secrets(one.path.removeprefix(folder)) for one in found]
    return tuple(NamedText(path, f"{path} +{one.added} −{one.removed}") for path, one in zip(plain, found, strict=True))
