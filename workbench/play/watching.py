"""The rules that a story may follow, above all the user's, and where they are said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.analysis.course import Course
from workbench.analysis.watched_rules import KEPT_STATES, judge_messages, sentence_to_watch
from workbench.compaction.shape_facts import standing_of

MOST = 12
"""So many of the user's rules are looked at, to find one that is worth following."""


@dataclass(frozen=True, slots=True)
class Place:
    """A message by its id, and where that stands in the course."""

    message: str
    index: int


@dataclass(frozen=True, slots=True)
class Watched:
    """A sentence, and where it is said; None where no message says it."""

    text: str
    said: Place | None


def followed(course: Course, sentences: Sequence[str]) -> tuple[Watched, ...]:
    """Of sentences that are watched the first that a message says, else the first; of none the user's rules. Raises
    BadInput for what cannot be watched."""
    places = [_placed(course, one) for one in sentences]
    return tuple([one for one in places if one.said] or places)[:1] or rules(course)


def rules(course: Course) -> tuple[Watched, ...]:
    """The user's standing instructions that nothing replaced later, the oldest first."""
    found = (one for one in standing_of(course.layout.shape) if one.superseded_by is None)
    return tuple(Watched(one.fact.text, Place(one.fact.message, one.fact.index)) for one in found)[:MOST]


def _placed(course: Course, typed: str) -> Watched:
    """With the first of the user's messages that says this, if not in these words, else the first of all."""
    text = sentence_to_watch(typed, course.messages)
    said = [index for index, message in enumerate(course.messages) if judge_messages(text, [message]) in KEPT_STATES]
    index = min(said, key=lambda index: (course.messages[index].role != "user", index), default=None)
    return Watched(text, None if index is None else Place(course.messages[index].id, index))
