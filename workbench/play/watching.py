"""The rules that a story may follow, above all the user's, and where they are said."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.analysis.course import Course
from workbench.analysis.watched import HOLDS, judge_messages, sentence_to_watch
from workbench.base.errors import BadInput
from workbench.compaction.shape_facts import standing_of

MOST = 12
"""So many of the user's rules are looked at, to find one that is worth following."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A sentence, the id of the message that says it, and where that stands in the course."""

    text: str
    message: str
    index: int


def rules(course: Course) -> tuple[Watched, ...]:
    """The user's standing instructions that nothing replaced later, the oldest first."""
    found = (one for one in standing_of(course.layout.shape) if one.superseded_by is None)
    return tuple(Watched(one.fact.text, one.fact.message, one.fact.index) for one in found)[:MOST]


def named(course: Course, typed: str) -> Watched:
    """The first of the user's messages that says this, if not in these words, else the first of all. Raises BadInput
    where none does."""
    text = sentence_to_watch(typed, course.messages)
    said = [index for index, message in enumerate(course.messages) if judge_messages(text, [message]) in HOLDS]
    if not said:
        raise BadInput(f"No message says {text!r}; `cwb pins FILE --suggest` lists what the user set.")
    index = min(said, key=lambda index: (course.messages[index].role != "user", index))
    return Watched(text, course.messages[index].id, index)
