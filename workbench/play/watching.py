"""The rule that a story follows, and the message that states it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.analysis.course import Course
from workbench.analysis.watched_rules import KEPT_STATES, judge_messages, sentence_to_watch
from workbench.compaction.shape_facts import standing_of

MAX_RULES = 12
"""Maximum number of the user's rules from which a story chooses one to follow."""


@dataclass(frozen=True, slots=True)
class RulePlace:
    """A message by its id, and its index in the course."""

    message: str
    index: int


@dataclass(frozen=True, slots=True)
class FollowedRule:
    """A rule, and the message that states it; None where no message does."""

    text: str
    place: RulePlace | None


def followed_rules(course: Course, sentences: Sequence[str]) -> tuple[FollowedRule, ...]:
    """Return the rules that a story may follow: the first of `sentences` that a message states, else the first of them.
    Without sentences, the user's rules. Raises BadInput for a sentence that cannot be watched."""
    places = [_locate(course, one) for one in sentences]
    return tuple([one for one in places if one.place] or places)[:1] or rules(course)


def rules(course: Course) -> tuple[FollowedRule, ...]:
    """Return the user's rules that are still in force, the oldest first."""
    found = (one for one in standing_of(course.layout.shape) if one.superseded_by is None)
    return tuple(FollowedRule(one.fact.text, RulePlace(one.fact.message, one.fact.index)) for one in found)[:MAX_RULES]


def _locate(course: Course, typed: str) -> FollowedRule:
    """Find the message that states the rule, verbatim or paraphrased: the user's first one, else anybody's first
    one."""
    text = sentence_to_watch(typed, course.messages)
    said = [index for index, message in enumerate(course.messages) if judge_messages(text, [message]) in KEPT_STATES]
    index = min(said, key=lambda index: (course.messages[index].role != "user", index), default=None)
    return FollowedRule(text, None if index is None else RulePlace(course.messages[index].id, index))
