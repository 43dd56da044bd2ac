"""Scenes of a story, in order: the context fills, a compaction fires, the rule is kept or lost, a pin, two presets.

The scenes depend on the session: the pin is shown only if the rule is lost, a rule only if there is one. If the preset
never compacts, a scene says so. The story of `cwb demo` without a file is that of an invented session, under a preset
that loses a rule and one that keeps it. Its window and trigger are so low that both presets compact more than once; the
first preset's name shows its changed trigger.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rich.cells import cell_len

from workbench.analysis.course import Course
from workbench.base.errors import BadInput
from workbench.base.figures import change, grouped, percent
from workbench.base.printable import printable
from workbench.base.resources import SAMPLES
from workbench.base.text import clip_at_word, counted
from workbench.compaction.preset import Preset, load_preset
from workbench.compaction.strategy import Trigger
from workbench.play.frames import Fall, Frame, Lane, Rule, State, Story
from workbench.play.lanes import LaneReplay, RulePlace, followed_rules, replay_lanes
from workbench.tokens.window import Window

FIRST, AGAIN, PAIRED = 36, 14, 40
"""Maximum number of frames in which the context fills: up to the first compaction, after it, and under two presets."""

FILLS_S, FALLS_S, READ_S = 0.25, 0.18, 4.0
"""Seconds of a frame in which the context fills, in which it is compacted, and with a text to read."""

FALLING = 8
"""Number of frames of a compaction in progress."""

WIDEST = 88
"""Maximum number of characters of a quotation from the session."""


def story(
    course: Course,
    presets: Sequence[Preset],
    limit: Window | None,
    *,
    note: str,
    watched: Sequence[str] = (),
    ends: str = "",
) -> Story:
    """Return the story of a session under one or two presets.

    It follows one rule: a sentence of `watched`, by default one of the user's rules, if possible one that the first
    preset loses. `note` is shown on every frame, `ends` on the last one. Raises BadInput if the session has no call, a
    sentence cannot be watched, or the table of models is invalid.
    """
    if not course.calls:
        raise BadInput("No answer of a model is in this session: there is no call to play.")
    sentences = followed_rules(course, watched)
    lanes = [replay_lanes(course, preset, limit, sentences) for preset in presets[:2]]
    scenes = _Scenes(course, lanes, _worth_following(lanes[0]), limit, ends)
    frames = tuple(scenes.frames())
    window = limit.tokens if limit else None
    return Story(note, len(course.calls), _scale(frames, window), window, frames)


def offline(name: str) -> str:
    """Return the note of a story of any session: how it was made, and from what (`name`, such as a file's)."""
    return f"Played offline, code writes, no model, sizes (~) are estimates: {name}"


def _worth_following(one: LaneReplay) -> int | None:
    """Return the index of the rule to follow: one that is kept at first and lost later, else one that is lost, else one
    that is stated before the first compaction, else the first. None if there is no rule."""

    def worth(rule: int) -> tuple[bool, bool, bool]:
        states = [one.state(rule, step.compacted.call, done) for done, step in enumerate(one.steps, 1)]
        stated = [state for state in states if state != "unsaid"]
        lost = "gone" in stated
        return lost and stated[0] != "gone", lost, bool(stated) and stated == states

    return max(range(len(one.watched)), key=worth, default=None)


def _scale(frames: Sequence[Frame], window: int | None) -> int:
    """Return the tokens of a full bar: 110 % of the largest prompt; the window if that prompt exceeds 40 % of it, or
    the prompt itself if it exceeds the window."""
    most = max((lane.tokens for frame in frames for lane in frame.lanes), default=1)
    return max(window, most) if window and most > window * 0.4 else max(1, round(most * 1.1))


@dataclass(frozen=True)
class _Scenes:
    course: Course
    lanes: Sequence[LaneReplay]
    rule: int | None
    limit: Window | None
    ending: str

    @property
    def first(self) -> LaneReplay:
        return self.lanes[0]

    @property
    def rule_place(self) -> RulePlace | None:
        """Message that states the rule, or None."""
        return None if self.rule is None else self.first.watched[self.rule].place

    def frames(self) -> Iterator[Frame]:
        yield self._opening()
        shown = self._shown_compactions()
        if not shown:
            yield from self._fill(self.first, 1, len(self.course.calls), FIRST)
            yield self._no_compaction()
        call = 1
        for number in shown:
            upto = self.first.steps[number].compacted.call - 1
            yield from self._fill(self.first, call, upto, FIRST if number == 0 else AGAIN)
            yield from self._compaction(self.first, number)
            call = upto + 1
        if (pinned := self._with_pin) is not None:
            yield from self._pinned(pinned, shown[-1])
        if len(self.lanes) > 1:
            yield from self._side_by_side()
        elif shown:
            if self._with_pin is None:
                yield from self._fill(self.first, call, len(self.course.calls), AGAIN)
            yield self._last()

    def _shown_compactions(self) -> list[int]:
        """Return the compactions to show: the first, and the one that loses the rule, else the second."""
        steps = range(len(self.first.steps))
        return [number for number in steps if number in (0, self._first_loss if self._first_loss is not None else 1)]

    @cached_property
    def _first_loss(self) -> int | None:
        """Number, from 0, of the first compaction after which the rule is lost or wrong; None if there is none."""
        numbers = range(len(self.first.steps)) if self.rule_place is not None else ()
        return next((one for one in numbers if self._state(self.first, one) in ("gone", "contradicted")), None)

    def _state(self, one: LaneReplay, number: int) -> State:
        assert self.rule is not None
        return one.state(self.rule, one.steps[number].compacted.call, number + 1)

    # --- scenes -----------------------------------------------------------------------------------------------------

    def _opening(self) -> Frame:
        course = self.course
        what = f"{counted(len(course.messages), 'message')}, {counted(len(course.calls), 'call')} to the model"
        says = (_quoted(course.session.title) or "A session", f"{what}; by {self._names}.")
        return Frame("COMPACTION", says, self._lanes_at(self.first, 0), READ_S)

    @property
    def _names(self) -> str:
        return " · ".join(one.name for one in self.lanes)

    def _fill(self, one: LaneReplay, start: int, stop: int, most: int) -> Iterator[Frame]:
        for call in _sampled(start, stop, most):
            sent = f"Call {grouped(call)} of {grouped(len(self.course.calls))} sends it all again."
            says = (sent, request) if (request := self._request_at(call)) else (sent,)
            yield Frame("THE CONTEXT FILLS", says, self._lanes_at(one, call), FILLS_S)

    def _no_compaction(self) -> Frame:
        largest = f"The largest prompt has ~{grouped(self.first.replay.peak)} tokens"
        of = f", {percent(self.first.replay.peak / self.limit.tokens)} of the window." if self.limit else "."
        says = (f"{self.first.name}: nothing fires.", largest + of)
        return Frame("IT ALL FITS", says, self._lanes_at(self.first, len(self.course.calls)), READ_S)

    def _compaction(self, one: LaneReplay, number: int) -> Iterator[Frame]:
        step, lane = one.steps[number], one.before(number, self.rule)
        compacted = step.compacted
        summary = any(part.kind == "summary" for part in step.after)
        replaced = "become one summary" if summary else "are removed or shortened"
        fired = ", ".join(_fired(trigger) for trigger in compacted.triggers)
        says = (
            f"Before call {grouped(compacted.call)}: {fired}.",
            f"The marked messages {replaced}; the rest is kept.",
        )
        yield Frame("THE TRIGGER FIRES", says, (lane,), READ_S)
        for place in range(1, FALLING + 1):
            title = "INTO ONE SUMMARY" if summary else "THE OLD PART GOES"
            yield Frame(title, says, (lane,), FALLS_S, Fall(place / FALLING, step.after))
        yield self._after_compaction(one, number)

    def _after_compaction(self, one: LaneReplay, number: int) -> Frame:
        """Return the frame after a compaction, with the state of the rule as its title."""
        compacted = one.steps[number].compacted
        by = change(compacted.before, compacted.after)
        sizes = (
            f"~{grouped(compacted.before)} tokens became ~{grouped(compacted.after)} ({by}),"
            f" {counted(compacted.messages_before, 'message')} became {grouped(compacted.messages_after)}."
        )
        lane = one.after(number, self.rule)
        title, words = _verdict(lane.rule, number)
        return Frame(title, (sizes, words) if words else (sizes,), (lane,), READ_S + 1)

    @cached_property
    def _with_pin(self) -> LaneReplay | None:
        """The first preset with the rule's message pinned. None if no message states the rule or it is not lost."""
        if self.rule_place is None or self._first_loss is None:
            return None
        return replay_lanes(
            self.course, self.first.replay.preset, self.limit, self.first.watched, {self.rule_place.message}
        )

    def _pinned(self, one: LaneReplay, number: int) -> Iterator[Frame]:
        assert self.rule_place is not None
        tokens = self.course.sizes.tokens[self.rule_place.index]
        says = (f"Pin its message: ~{grouped(tokens)} tokens, kept word for word.", "The same session once more.")
        yield Frame("PIN IT", says, self._lanes_at(one, 0), READ_S)
        shown = one.steps[number : number + 1]
        stop = shown[0].compacted.call - 1 if shown else len(self.course.calls)
        for frame in self._fill(one, 1, stop, AGAIN):
            yield Frame("WITH THE PIN", frame.says, frame.lanes, frame.seconds)
        if shown:
            lane = one.before(number, self.rule)
            for place in range(1, FALLING + 1):
                fall = Fall(place / FALLING, shown[0].after)
                yield Frame("WITH THE PIN", says[:1], (lane,), FALLS_S, fall)
            yield self._after_compaction(one, number)

    def _side_by_side(self) -> Iterator[Frame]:
        calls = len(self.course.calls)
        for call in _sampled(1, calls, PAIRED):
            says = (self._names, f"Call {grouped(call)} of {grouped(calls)}")
            yield Frame("SIDE BY SIDE", says, self._lanes_of(call), FILLS_S)
        yield self._last()

    def _last(self) -> Frame:
        title = "SIDE BY SIDE" if len(self.lanes) > 1 else "THE END"
        says = (self._names, self.ending) if self.ending else (self._names,)
        return Frame(title, says, self._lanes_of(len(self.course.calls), cost=True), 2 * READ_S)

    # --- pieces -----------------------------------------------------------------------------------------------------

    def _lanes_at(self, one: LaneReplay, call: int) -> tuple[Lane, ...]:
        return (one.at(call, self.rule),)

    def _lanes_of(self, call: int, *, cost: bool = False) -> tuple[Lane, ...]:
        paid = (one.replay.rates.words(one.replay.cost) if cost else "" for one in self.lanes)
        return tuple(one.at(call, self.rule, cost=words) for one, words in zip(self.lanes, paid, strict=True))

    def _request_at(self, call: int) -> str:
        """Return the last request of the user before this call as a quotation, "" if there is none."""
        for index in range(self.course.calls[call - 1] - 1, -1, -1):
            message = self.course.messages[index]
            if message.starts_round and message.user_text.strip():
                return _quoted(message.user_text)
        return ""


def _verdict(rule: Rule | None, number: int) -> tuple[str, str]:
    """Return the title of the frame after compaction `number`, from 0, and a sentence about the rule, "" for none."""
    times = "one compaction" if number == 0 else f"{number + 1} compactions"
    if rule is None or rule.state == "unsaid":
        return "ROOM AGAIN", ""
    if not rule.stated and rule.state == "gone":
        return "ROOM AGAIN", "No message says the sentence that is watched."
    if rule.pinned and rule.state == "verbatim":
        return "THE PIN KEEPS IT", f"After {times} the rule is still in the context, word for word."
    match rule.state:
        case "gone":
            return "THE RULE IS GONE", f"After {times} nothing that the model reads says it."
        case "contradicted":
            return "THE RULE IS WRONG", f"After {times} the summary says something else."
        case "unknown":
            return "WHO KNOWS", "The summary cannot be read: nobody can say whether the rule is in it."
        case _:
            return "THE RULE SURVIVES", f"After {times} the model still reads it."


def _fired(trigger: Trigger) -> str:
    sign = "~" if trigger.unit == "tokens" else ""
    of = f" of {grouped(trigger.limit)}" if trigger.limit else ""
    return f"{trigger.name}, {sign}{grouped(trigger.value)}{of} {trigger.unit}"


def _sampled(start: int, stop: int, most: int) -> list[int]:
    """Return at most `most` evenly spaced numbers, from `start` to `stop` (both included)."""
    count = stop - start + 1
    if count <= most:
        return list(range(start, stop + 1))
    return [start + place * (count - 1) // (most - 1) for place in range(most)]


def _quoted(text: str) -> str:
    """Quote a text of the session on one line: cut, printable, with secrets masked. "" for an empty text."""
    line = clip_at_word(printable(text[:4_000]), WIDEST)
    return f"“{line}”" if line else ""


SAMPLE = SAMPLES / "claude-code-overflow.jsonl"
WINDOW, CHARS = 100_000, 200_000
"""Window in tokens, and size of the history in characters at which the first preset compacts."""

NOTE = "Rehearsed, offline: invented session, window of 100k; code writes, no model."
ENDS = "cwb demo FILE --preset A --preset B does the same with your session."


def sample_presets() -> tuple[Preset, Preset]:
    loses = load_preset("augment-example")
    policy = loses.policy.with_(trigger_on_history_size_chars=CHARS)
    return replace(loses, id=f"augment-example from {CHARS // 1_000}k characters", policy=policy), load_preset(
        "claude-code"
    )


def sample_story(course: Course, limit: Window | None) -> Story:
    """Return the story of the sample's course. Its Chinese request is left out, because not every audience can read
    it."""
    full = story(course, sample_presets(), limit, note=NOTE, ends=ENDS)
    frames = (replace(frame, says=tuple(filter(_is_latin, frame.says))) for frame in full.frames)
    return replace(full, frames=tuple(frames))


def _is_latin(words: str) -> bool:
    return cell_len(words) == len(words)
