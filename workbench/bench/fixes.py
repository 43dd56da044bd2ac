"""What would keep a watched sentence that the compaction on the bench loses: its message pinned, or another number in
the policy. Each is tried, offline, before it is offered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from pydantic import ValidationError

from workbench.analysis.watched import HOLDS, Verdict, place
from workbench.base.errors import BadInput
from workbench.base.figures import grouped, short
from workbench.bench import Bench, RuleState, rule_states, set_policy, toggle_pin, with_watched_rules
from workbench.compaction.labels import label_of
from workbench.compaction.settings import Setting, settings_of

MAX_TRIES = 40
"""So many numbers are tried; one that keeps the sentence is then brought nearer to what it was, in `NEARER` more."""
NEARER_TRIES = 5

MAX_CHARS = 2_000_000
"""Of a context of more characters no number is tried: each would take seconds."""

GROUPS = ("split", "budget", "ladder", "summary")
"""Settings that say how much stays, or how much is told of what goes."""

GROWN, FROM_NOTHING = (1.5, 2, 4, 10, 0.5), {"tokens": (1_000, 10_000), "characters": (1_000, 10_000)}
"""A number is tried so many times as large; a 0 by its unit, else as one and as a few."""
FEW = (1, 4)


class RuleFix(Struct, frozen=True):
    """A change of the bench with which its compaction keeps the sentence: `words` name it, `tokens` are what the result
    has more, `option` says it to a command."""

    words: str
    tokens: int
    option: str
    bench: Bench

    @property
    def change(self) -> str:
        """The tokens that the result has more or less: `+24.6k`."""
        return f"{'+' if self.tokens >= 0 else '−'}{short(abs(self.tokens))}"

    def __str__(self) -> str:
        return f"{self.words}, {self.change}"


class RuleFixes(Struct, frozen=True):
    """What keeps `sentence`, which a compaction of `bench` loses."""

    bench: Bench
    sentence: str
    pin: RuleFix | None
    number: RuleFix | None


def find_fixes(bench: Bench, told: Sequence[RuleState], wanted: Callable[[], bool] = lambda: True) -> RuleFixes | None:
    """What keeps the first watched sentence that is lost, as it is `told`; None where none is."""
    sentence = first_lost_rule(told)
    if not sentence:
        return None
    few = bench.layout.shape.chars[-1] <= MAX_CHARS
    return RuleFixes(bench, sentence, pin_fix(bench, sentence), setting_fix(bench, sentence, wanted) if few else None)


def first_lost_rule(told: Sequence[RuleState]) -> str:
    """The first watched sentence that stands now and not when this is compacted; "" where none is lost."""
    return next((one.sentence for one in told if one.now in HOLDS and one.after not in (*HOLDS, "unknown", None)), "")


def pin_fix(bench: Bench, sentence: str) -> RuleFix | None:
    """The message in which it stands best, pinned."""
    at = place(sentence, bench.opened.shape)
    if at is None or bench.messages[at].id in bench.pins:
        return None
    pinned = toggle_pin(bench, bench.messages[at].id)
    return _rule_fix(bench, pinned, sentence, f"pins message {grouped(at + 1)}", f"--pin {at + 1}")


def setting_fix(bench: Bench, sentence: str, wanted: Callable[[], bool] = lambda: True) -> RuleFix | None:
    """A number of the policy with which it stays, near to what it was: the first found of `TRIES`, which stop where
    they are `wanted` no longer."""
    tries = 0
    for field in _number_settings(bench):
        for value in _values_to_try(field, field.of(bench.policy)):
            if tries >= MAX_TRIES or not wanted():
                return None
            tries += 1
            if _keeps_rule(other := _with_value(bench, field, value), sentence):
                nearest, other = _nearest_value(bench, field, value, other, sentence)
                words = f"“{label_of(field.path[-1])}” {grouped(nearest)} {field.unit}".rstrip()
                return _rule_fix(bench, other, sentence, words, f"--set {field.key}={nearest}")
    return None


def _number_settings(bench: Bench) -> list[Setting]:
    policy = bench.policy
    found = [one for one in settings_of(type(policy)) if one.kind in ("whole", "real") and one.group in GROUPS]
    return sorted((one for one in found if not one.why_off(policy)), key=lambda one: GROUPS.index(one.group))


def _values_to_try(field: Setting, now: float | None) -> Iterator[float]:
    grown = [now * times for times in GROWN] if now else FROM_NOTHING.get(field.unit, FEW)
    for value in grown:
        yield round(value) if field.kind == "whole" else float(value)


def _with_value(bench: Bench, field: Setting, value: float) -> Bench | None:
    """The bench with that number; None where the policy does not take it."""
    try:
        return set_policy(bench, bench.policy.with_(**field.changes(bench.policy, value)))
    except ValidationError:
        return None


def _keeps_rule(bench: Bench | None, sentence: str) -> bool:
    """Whether a compaction that makes it smaller keeps the sentence."""
    if bench is None:
        return False
    try:
        outcome = bench.offline.outcome
    except BadInput:
        return False
    return outcome.status == "compacted" and _state_after(bench, sentence) in HOLDS


def _state_after(bench: Bench, sentence: str) -> Verdict | None:
    return rule_states(with_watched_rules(bench, (sentence,)), bench.offline.outcome)[0].after


def _nearest_value(
    bench: Bench, field: Setting, value: float, kept: Bench | None, sentence: str
) -> tuple[float, Bench | None]:
    """Halfway to what it was, in round figures, as long as that keeps the sentence, too."""
    loses, keeps = field.of(bench.policy) or 0, value
    for _ in range(NEARER_TRIES):
        between = float(f"{(loses + keeps) / 2:.2g}")
        half: float = round(between) if field.kind == "whole" else between
        if half in (loses, keeps):
            break
        if _keeps_rule(other := _with_value(bench, field, half), sentence):
            keeps, kept = half, other
        else:
            loses = half
    return keeps, kept


def _rule_fix(bench: Bench, other: Bench | None, sentence: str, words: str, option: str) -> RuleFix | None:
    if other is None or not _keeps_rule(other, sentence):
        return None
    before, after = (each.context.outcome_size(each.offline.outcome).tokens for each in (bench, other))
    return RuleFix(words, after - before, option, other)
