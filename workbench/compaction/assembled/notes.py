"""Notes on messages: files that the user mentions, files that changed outside the agent, and the state of the to-do
list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from workbench.compaction.assembled.mentions import ExternalChange, external_changes, mentioned, reminder
from workbench.compaction.assembled.recap import recap
from workbench.compaction.shape import Shape, per_shape
from workbench.compaction.shape_calls import calls_of
from workbench.facts.tasks import changes_tasks, tasks_of


@dataclass(frozen=True, slots=True)
class SessionNote:
    """Note on the message at `index`. `text`: reminder of a request, note on the result of the call `call_id`, or recap
    after the call at `index`. `files`: files named in the note."""

    index: int
    kind: Literal["mention", "changed", "recap"]
    text: str
    files: tuple[str, ...] = ()
    call_id: str = ""


def notes_of(shape: Shape) -> tuple[SessionNote, ...]:
    """Every note, in the order of the messages."""
    return tuple(noted for index in range(len(shape.messages)) for noted in notes_at(shape, index))


def notes_at(shape: Shape, index: int) -> Iterator[SessionNote]:
    """Notes on the message at `index`. Notes on results and lists are computed once for the whole shape, which takes
    seconds for 60 000 messages."""
    message = shape.masked_at(index)
    if message.starts_round and (paths := mentioned(message.said)):
        yield SessionNote(index, "mention", reminder(paths), paths)
    if message.results:
        for change in _changes(shape).get(index, ()):
            yield SessionNote(index, "changed", str(change), (change.file,), change.call_id)
    if any(map(changes_tasks, message.calls)) and (words := _recaps(shape).get(index)):
        yield SessionNote(index, "recap", words)


@per_shape
def _changes(shape: Shape) -> dict[int, tuple[ExternalChange, ...]]:
    found: dict[int, tuple[ExternalChange, ...]] = {}
    for change in external_changes(calls_of(shape)):
        found[change.index] = (*found.get(change.index, ()), change)
    return found


@per_shape
def _recaps(shape: Shape) -> dict[int, str]:
    calls = [called for called in calls_of(shape) if changes_tasks(called.call)]
    return {called.index: recap(tasks_of(calls[:number])) for number, called in enumerate(calls, 1)}
