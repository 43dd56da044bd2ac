"""What stands beside the messages of a session: files that a person mentions, files that changed under the agent, and
how far the to-do list is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from workbench.compaction.assembled.mentions import external_changes, mentioned, reminder
from workbench.compaction.assembled.recap import recap
from workbench.compaction.shape import Shape, per_shape
from workbench.facts.calls import calls_in
from workbench.facts.plan import changes_plan, plan_of


@dataclass(frozen=True, slots=True)
class Noted:
    """A note on the message at `index`. `text` is the reminder that a request would be sent with, what the result of
    the call `call_id` would bear, or the recap as the call at `index` leaves it; `files` are those that it names."""

    index: int
    kind: Literal["mention", "changed", "recap"]
    text: str
    files: tuple[str, ...] = ()
    call_id: str = ""


@per_shape
def notes_of(shape: Shape) -> tuple[Noted, ...]:
    """Every note, in the order of the messages. O(text of what was read)."""
    changes = external_changes(shape.messages)
    found = [Noted(change.index, "changed", str(change), (change.file,), change.call_id) for change in changes]
    for index, message in enumerate(shape.messages):
        if message.starts_round and (paths := mentioned(message.text)):
            found.append(Noted(index, "mention", reminder(paths), paths))
    calls = [called for called in calls_in(shape.messages) if changes_plan(called.call)]
    for number, called in enumerate(calls, 1):
        if words := recap(plan_of(calls[:number])):
            found.append(Noted(called.index, "recap", words))
    return tuple(sorted(found, key=lambda noted: noted.index))


@per_shape
def notes_at(shape: Shape) -> dict[int, tuple[Noted, ...]]:
    """The notes by the index of their message."""
    found: dict[int, tuple[Noted, ...]] = {}
    for noted in notes_of(shape):
        found[noted.index] = (*found.get(noted.index, ()), noted)
    return found
