"""State of a watched rule in a context, outcome, generation or model's answer.

The states are those of `workbench.analysis.rule_text`. The best of several places counts.

Paraphrases count only in summaries, prompts and the user's messages. An agent's report that it ran the tests does not
state the rule to run them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from msgspec import Struct

from workbench.analysis.head_index import texts_of
from workbench.analysis.recorded_compactions import recorded_outcome
from workbench.analysis.retention import is_unreadable, new_messages, unchanged_marks
from workbench.analysis.rule_text import BEST_FIRST, RuleVerdict, judge_text, on_one_line, rule_pattern
from workbench.base.errors import BadInput
from workbench.base.printable import one_line
from workbench.base.session_caches import session_cache
from workbench.base.tables import Column
from workbench.compaction.context import prompted
from workbench.compaction.outcome import Outcome
from workbench.compaction.shape import Shape, per_shape
from workbench.facts.wording import sentences
from workbench.session import Message, Session
from workbench.session.masked import searched_message

HEAD_CHARS = 24
"""Characters of a rule in its column's heading."""


def sentence_columns(watched: Iterable[str]) -> tuple[Column, ...]:
    """Return table columns for the states of watched rules; each heading is the beginning of a rule."""
    return tuple(Column(head, head) for head in (f"“{one_line(one, HEAD_CHARS)}”" for one in watched))


LONGEST_SENTENCE = 1_000
"""Most characters of a watched rule."""


def judge_messages(sentence: str, messages: Iterable[Message]) -> RuleVerdict:
    """Return the state of a rule in messages; "gone" if there are none."""
    form = rule_pattern(on_one_line(sentence))
    return _best(form.in_message(message) for message in messages) if form.query else "gone"


def _best(verdicts: Iterable[RuleVerdict]) -> RuleVerdict:
    best: RuleVerdict = "gone"
    for verdict in verdicts:
        if verdict == "verbatim":
            return verdict
        best = min(best, verdict, key=BEST_FIRST.index)
    return best


def _places(sentence: str, shape: Shape) -> dict[int, RuleVerdict]:
    """Return the state of a rule by index of the messages that have it."""
    form, known = rule_pattern(on_one_line(sentence)), _known(shape)
    if form.flat not in known:
        judged = ((index, form.in_message(message)) for index, message in enumerate(shape.messages) if form.query)
        known[form.flat] = {index: verdict for index, verdict in judged if verdict != "gone"}
    return known[form.flat]


@per_shape
def _known(shape: Shape) -> dict[str, dict[int, RuleVerdict]]:
    return {}


@session_cache(256)
def judge_prompt(sentence: str, prompt: str) -> RuleVerdict:
    """Return the state of a rule in `prompt`, which is sent with every call. Cached."""
    return judge_text(sentence, prompt)


def judge_context(sentence: str, shape: Shape, prompt: str = "") -> RuleVerdict:
    """Return the better state of a rule in a context and in `prompt` (system prompt and memories). Cached per
    context."""
    return _best((*_places(sentence, shape).values(), judge_prompt(sentence, prompt)))


def judge_added(sentence: str, shape: Shape, start: int, stop: int, before: RuleVerdict) -> RuleVerdict:
    """Return the state of a rule after the messages from `start` to before `stop` were added; `before` is its state
    until then."""
    added = (verdict for index, verdict in _places(sentence, shape).items() if start <= index < stop)
    return _later_state(before, _best((before, *added)))


def best_place(sentence: str, shape: Shape) -> int | None:
    """Return the index of the message that states a rule best, the earliest of several; None if none does."""
    places = _places(sentence, shape)
    return min(places, key=lambda index: BEST_FIRST.index(places[index]), default=None)


def judge_outcome(sentence: str, shape: Shape, outcome: Outcome, prompt: str = "") -> RuleVerdict:
    """Return the state of a rule after a compaction of a context of this shape."""
    return judge_remaining(
        sentence, shape, unchanged_marks(outcome), None if is_unreadable(outcome) else new_messages(outcome), prompt
    )


def judge_remaining(
    sentence: str, shape: Shape, kept_marks: Sequence[int], new: Sequence[Message] | None, prompt: str = ""
) -> RuleVerdict:
    """Return the state of a rule if the messages marked in `kept_marks` stay and `new` ones replace the others.
    "unknown" if nothing readable has it and `new` is None (unreadable)."""
    there = (verdict for index, verdict in _places(sentence, shape).items() if kept_marks[index])
    kept = _best((*there, judge_prompt(sentence, prompt)))
    if new is None:
        return "unknown" if kept == "gone" else kept
    return _best((kept, judge_messages(sentence, new)))


class StateChange(Struct, frozen=True):
    """State of a rule before and after a compaction. `at` is the epoch that a recorded compaction ended, or in a replay
    the call before which it took place."""

    at: int
    before: RuleVerdict
    after: RuleVerdict


class RuleTrail(Struct, frozen=True):
    """States of a rule through consecutive compactions, and its last state."""

    sentence: str
    passed: tuple[StateChange, ...]
    last: RuleVerdict

    @property
    def lost(self) -> int | None:
        """The compaction that first lost the rule; None if none did."""
        return self._first_change("contradicted", "gone")

    @property
    def was_kept(self) -> bool:
        """True if the rule was in the context at some time."""
        return self.last in KEPT_STATES or any(KEPT_STATES & {one.before, one.after} for one in self.passed)

    @property
    def unread(self) -> int | None:
        """The first compaction after which the state cannot be read; None if there is none."""
        return self._first_change("unknown")

    def _first_change(self, *verdicts: RuleVerdict) -> int | None:
        return next((one.at for one in self.passed if one.before in KEPT_STATES and one.after in verdicts), None)


KEPT_STATES: frozenset[RuleVerdict] = frozenset({"verbatim", "paraphrased"})


def judge_recorded(sentence: str, session: Session) -> RuleTrail:
    """Return the states of a rule through every compaction that the session records."""
    system = judge_prompt(sentence, prompted(session.system, session.memories))
    found: list[StateChange] = []
    for epoch in session.epochs[:-1]:
        if epoch.ended_by is not None:
            outcome = recorded_outcome(session, epoch.number)
            before = _best((system, judge_messages(sentence, outcome.source)))
            before = _later_state(found[-1].after, before) if found else before
            after = _best((system, judge_messages(sentence, outcome.messages)))
            hidden = is_unreadable(outcome) or any(map(is_hidden, outcome.messages))
            found.append(StateChange(epoch.number, before, "unknown" if after == "gone" and hidden else after))
    last = found[-1].after if found else "gone"
    last = _later_state(last, _best((system, judge_messages(sentence, session.context(len(session.epochs))))))
    return RuleTrail(sentence, tuple(found), last)


def is_hidden(message: Message) -> bool:
    """True for a summary message whose text cannot be read."""
    return message.kind == "summary" and not message.text.strip()


def _later_state(before: RuleVerdict, now: RuleVerdict) -> RuleVerdict:
    """Return the state after more messages were added; "unknown" stays unless a new message states the rule."""
    return before if before == "unknown" and now == "gone" else now


class RuleWatcher:
    """Follow a rule through the messages of `shape` as they are added and compacted; `prompt` is sent with every call.

    Messages are judged once per shape; only those that a compaction created are judged again.
    """

    def __init__(self, sentence: str, shape: Shape, prompt: str = "") -> None:
        self.sentence, self.shape = sentence, shape
        self._pattern, self._places = rule_pattern(on_one_line(sentence)), _places(sentence, shape)
        self._pending = deque(sorted(self._places))
        self._now = judge_prompt(sentence, prompt)
        self._unread = False
        self._passed: list[StateChange] = []

    def advance(self, stop: int) -> RuleVerdict:
        """Return the state after the messages before `stop` were added."""
        while self._pending and self._pending[0] < stop:
            self._now = _best((self._now, self._places[self._pending.popleft()]))
        return self._now

    def compact(self, at: int, stop: int, remaining: Iterable[Message], prompt: str = "", *, unread: bool) -> None:
        """Record compaction `at`, which left `remaining` of the messages before `stop`. `unread`: its summary cannot be
        read, so later states are unknown wherever the rule is not found."""
        before = self.advance(stop)
        self._unread = self._unread or unread
        now = (
            _best((judge_prompt(self.sentence, prompt), *map(self._state_of, remaining)))
            if self._pattern.query
            else "gone"
        )
        self._now = "unknown" if self._unread and now == "gone" else now
        self._passed.append(StateChange(at, before, self._now))

    def _state_of(self, message: Message) -> RuleVerdict:
        index = self.shape.index_of.get(message.id)
        own = index is not None and self.shape.messages[index] is message
        return self._places.get(index, "gone") if own and index is not None else self._pattern.in_message(message)

    def trail(self) -> RuleTrail:
        """Add all remaining messages and return the states."""
        last = self.advance(len(self.shape.messages))
        return RuleTrail(self.sentence, tuple(self._passed), last)


def sentence_to_watch(typed: str, messages: Iterable[Message] = ()) -> str:
    """Return a typed or chosen rule on one line. If `messages` have the typed words only within a negated sentence,
    return that sentence: "commit to main" becomes "Never commit to main." Raises BadInput for a text without words or
    over `LONGEST_SENTENCE`."""
    sentence = on_one_line(typed)
    if not any(map(str.isalnum, sentence)):
        raise BadInput(f"{typed!r} has no word to watch; give a sentence.")
    if len(sentence) > LONGEST_SENTENCE:
        raise BadInput(
            f"A sentence of {len(sentence)} characters is too long to watch; the maximum is {LONGEST_SENTENCE}."
        )
    return _rule_of(sentence, messages)


def _rule_of(sentence: str, messages: Iterable[Message]) -> str:
    """Return the negated sentence that contains `sentence`, or `sentence` itself. The user's messages are searched
    first."""
    form, denied = rule_pattern(sentence), ""
    for message in sorted(messages, key=lambda message: message.role != "user"):
        if denied and message.role != "user":
            break
        for text in filter(form.may_occur, texts_of(searched_message(message))):
            if form.is_quoted(text):
                return sentence
            denied = denied or next(filter(form.occurs, map(on_one_line, sentences(text))), "")
    return denied if denied and len(denied) <= LONGEST_SENTENCE else sentence
