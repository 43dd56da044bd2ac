"""Replay of a session under a preset, as the lanes of a story: the parts of every prompt, and the state of the followed
rule at every call.

The strategy plans every compaction as in any replay. The offline summarizer writes the summaries from sentences of the
session.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from workbench.analysis.course import Course
from workbench.analysis.replay import Replay, ReplayedCompaction, replay
from workbench.analysis.rule_text import RuleVerdict
from workbench.analysis.watched_rules import KEPT_STATES, judge_added, judge_messages, judge_prompt, sentence_to_watch
from workbench.compaction.context import Context, prompted
from workbench.compaction.outcome import Fate, KeptSpan, Outcome
from workbench.compaction.preset import Preset
from workbench.compaction.shape_facts import standing_of
from workbench.play.frames import TRAIL, BarPart, Kind, Lane, Rule, State
from workbench.summarizers.extractive import extractive
from workbench.tokens.window import Window

MAX_RULES = 12
"""Maximum number of the user's rules from which a story chooses one to follow."""


@dataclass(frozen=True, slots=True)
class RulePlace:
    """A message by its id, and its index in the course."""

    message: str
    index: int


@dataclass(frozen=True, slots=True)
class FollowedRule:
    """A rule, and the message that states it; None if no message does."""

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
    stating = [index for index, message in enumerate(course.messages) if judge_messages(text, [message]) in KEPT_STATES]
    index = min(stating, key=lambda index: (course.messages[index].role != "user", index), default=None)
    return FollowedRule(text, None if index is None else RulePlace(course.messages[index].id, index))


@dataclass(frozen=True, slots=True)
class CompactionStep:
    """One compaction: the parts of the context before and after it, and the state of each watched rule after it."""

    compacted: ReplayedCompaction
    before: tuple[BarPart, ...]
    after: tuple[BarPart, ...]
    states: tuple[RuleVerdict, ...]


@dataclass(frozen=True)
class LaneReplay:
    course: Course
    replay: Replay
    steps: tuple[CompactionStep, ...]
    watched: tuple[FollowedRule, ...]
    pins: frozenset[str]

    @property
    def name(self) -> str:
        return self.replay.name + (", with the pin" if self.pins else "")

    @cached_property
    def _at(self) -> list[int]:
        return [step.compacted.call for step in self.steps]

    def before(self, number: int, rule: int | None) -> Lane:
        """Lane directly before compaction `number`, from 0. `rule` is the index of the rule to show."""
        step = self.steps[number]
        call = step.compacted.call
        return self._lane(call, step.before, number, rule, call - 1)

    def after(self, number: int, rule: int | None) -> Lane:
        """Lane directly after compaction `number`, from 0."""
        step = self.steps[number]
        return self._lane(step.compacted.call, step.after, number + 1, rule, step.compacted.call)

    def at(self, call: int, rule: int | None, *, cost: str = "") -> Lane:
        """Lane at call number `call`, from 1; an empty one for 0. `cost` is the final cost in words, "" before."""
        done = bisect_right(self._at, call)
        return self._lane(call, self._parts(call, done), done, rule, call, cost)

    def state(self, rule: int, call: int, done: int) -> State:
        """State of a rule at a call. `done` is the number of compactions before the call."""
        watched, course = self.watched[rule], self.course
        shape, stop = course.layout.shape, course.calls[call - 1] if call else 0
        if done:
            start, before = course.calls[self.steps[done - 1].compacted.call - 1], self.steps[done - 1].states[rule]
        else:
            prompt = prompted(course.session.system, course.session.memories)
            start, before = 0, judge_prompt(watched.text, prompt)
        verdict = judge_added(watched.text, shape, start, stop, before)
        is_unstated = watched.place is not None and stop <= watched.place.index
        return "unsaid" if is_unstated and verdict not in KEPT_STATES else verdict

    def _parts(self, call: int, done: int) -> tuple[BarPart, ...]:
        if call == 0:
            return ()
        sent, course = self.replay.sent[call - 1], self.course
        if done:
            left = self.steps[done - 1].after
            return _parts(*left, BarPart("talk", sent - sum(part.tokens for part in left)))
        beyond = course.beyond[min(course.calls[call - 1], len(course.messages) - 1)]
        overhead = min(max(0, beyond), sent)
        return _parts(BarPart("overhead", overhead), BarPart("talk", sent - overhead))

    def _lane(
        self, call: int, parts: tuple[BarPart, ...], done: int, rule: int | None, seen: int, cost: str = ""
    ) -> Lane:
        fires = self.steps[done].compacted.before if done < len(self.steps) else None
        lane_rule = None
        if rule is not None:
            watched, state = self.watched[rule], self.state(rule, call, done)
            pinned = watched.place is not None and watched.place.message in self.pins
            lane_rule = Rule(watched.text, state, pinned, watched.place is not None)
        return Lane(self.name, call, parts, self._trail(seen), done, fires, lane_rule, cost)

    def _trail(self, seen: int) -> tuple[int, ...]:
        full = self.replay.full
        edges = [number * len(full) // TRAIL for number in range(TRAIL + 1)]
        stretches = ((start, max(start + 1, stop)) for start, stop in pairwise(edges))
        return tuple(max(full[start:stop]) for start, stop in stretches if stop <= seen)


def replay_lanes(
    course: Course,
    preset: Preset,
    limit: Window | None,
    watched: Sequence[FollowedRule] = (),
    pins: Collection[str] = (),
) -> LaneReplay:
    """Replay the course under a preset, and collect parts and rule states. Raises BadInput if the table of models is
    invalid."""
    seen: list[tuple[tuple[BarPart, ...], tuple[BarPart, ...]]] = []

    def add_parts(context: Context, outcome: Outcome) -> None:
        seen.append((_before(context, outcome), _after(context, outcome)))

    sentences = [one.text for one in watched]
    found = replay(course, preset, limit, extractive, pins=pins, watched=sentences, on_outcome=add_parts)
    states = [tuple(trail.passed[number].after for trail in found.watched) for number in range(len(seen))]
    steps = tuple(
        CompactionStep(one, *bars, state) for one, bars, state in zip(found.compacted, seen, states, strict=True)
    )
    return LaneReplay(course, found, steps, tuple(watched), frozenset(pins))


def _parts(*parts: BarPart) -> tuple[BarPart, ...]:
    return tuple(part for part in parts if part.tokens > 0)


def _before(context: Context, outcome: Outcome) -> tuple[BarPart, ...]:
    """Return the parts before a compaction in the order of the bar: the replaced messages are left of the kept ones."""
    pinned, kept = _kept_tokens(context, outcome)
    overhead = context.layout.sizes.overhead
    going = context.total.tokens - overhead - pinned - kept
    return _parts(
        BarPart("overhead", overhead), BarPart("going", going), BarPart("pinned", pinned), BarPart("kept", kept)
    )


def _after(context: Context, outcome: Outcome) -> tuple[BarPart, ...]:
    pinned, kept = _kept_tokens(context, outcome)
    overhead = context.layout.sizes.overhead
    new = context.outcome_size(outcome).tokens - overhead - pinned - kept
    kind: Kind = "summary" if outcome.summarizes else "kept"
    return _parts(BarPart("overhead", overhead), BarPart(kind, new), BarPart("pinned", pinned), BarPart("kept", kept))


def _kept_tokens(context: Context, outcome: Outcome) -> tuple[int, int]:
    """Return the tokens of the pinned messages and of the other kept ones."""
    tokens = context.layout.tokens
    kept = sum(tokens[piece.stop] - tokens[piece.start] for piece in outcome.pieces if isinstance(piece, KeptSpan))
    pinned = sum(tokens[span.stop] - tokens[span.start] for span in outcome.fates if span.fate is Fate.PINNED)
    return pinned, kept - pinned
