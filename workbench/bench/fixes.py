"""Fixes for a watched rule that the compaction on the bench loses: pin its message, or change a setting.

Each is tried offline before it is offered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from pydantic import ValidationError

from workbench.analysis.rule_text import RuleVerdict
from workbench.analysis.watched_rules import KEPT_STATES, best_place
from workbench.base.errors import BadInput
from workbench.base.figures import grouped, short
from workbench.bench import Bench, RuleState, rule_states, set_policy, toggle_pin, with_watched_rules
from workbench.compaction.labels import label_of
from workbench.compaction.settings import Setting, settings_of

MAX_TRIES = 40
"""Values tried in search of a setting that keeps the rule."""
NEARER_TRIES = 5
"""Values tried between the one found and the present one."""

MAX_CHARS = 2_000_000
"""Longest context in which settings are tried: beyond it each would take seconds."""

GROUPS = ("split", "budget", "ladder", "summary")
"""Groups of settings that decide how much is kept, and how long its summary is."""

GROWN, FROM_NOTHING = (1.5, 2, 4, 10, 0.5), {"tokens": (1_000, 10_000), "characters": (1_000, 10_000)}
"""Factors by which a value is multiplied; a 0 is replaced by the values of its unit, or by `FEW`."""
FEW = (1, 4)


class RuleFix(Struct, frozen=True):
    """A changed bench whose compaction keeps the rule: `words` describe the change, `option` is its command line
    option, `tokens` the additional tokens of the result."""

    words: str
    tokens: int
    option: str
    bench: Bench

    @property
    def change(self) -> str:
        """Tokens that the result has more or less: `+24.6k`."""
        return f"{'+' if self.tokens >= 0 else '−'}{short(abs(self.tokens))}"

    def __str__(self) -> str:
        return f"{self.words}, {self.change}"


class RuleFixes(Struct, frozen=True):
    """Fixes that keep `sentence`, which a compaction of `bench` loses; None if there is none."""

    bench: Bench
    sentence: str
    pin: RuleFix | None
    setting: RuleFix | None


def find_fixes(
    bench: Bench, states: Sequence[RuleState], is_current: Callable[[], bool] = lambda: True
) -> RuleFixes | None:
    """Find fixes for the first lost rule; None if none is lost. The search stops once `is_current` is false."""
    sentence = first_lost_rule(states)
    if not sentence:
        return None
    is_fast = bench.layout.shape.chars[-1] <= MAX_CHARS
    setting = setting_fix(bench, sentence, is_current) if is_fast else None
    return RuleFixes(bench, sentence, pin_fix(bench, sentence), setting)


def first_lost_rule(states: Sequence[RuleState]) -> str:
    """Return the first watched rule that the context holds and the compaction loses; "" for none."""
    return next(
        (one.sentence for one in states if one.now in KEPT_STATES and one.after not in (*KEPT_STATES, "unknown", None)),
        "",
    )


def pin_fix(bench: Bench, sentence: str) -> RuleFix | None:
    """Pin the message that states the rule best; None if it is pinned already or the pin does not help."""
    at = best_place(sentence, bench.original.shape)
    if at is None or bench.messages[at].id in bench.pins:
        return None
    pinned = toggle_pin(bench, bench.messages[at].id)
    return _rule_fix(bench, pinned, sentence, f"pins message {grouped(at + 1)}", f"--pin {at + 1}")


def setting_fix(bench: Bench, sentence: str, is_current: Callable[[], bool] = lambda: True) -> RuleFix | None:
    """Find a setting that keeps the rule, with a value near the present one; None after `MAX_TRIES` values, and once
    `is_current` is false."""
    tries = 0
    for field in _number_settings(bench):
        for value in _values_to_try(field, field.of(bench.policy)):
            if tries >= MAX_TRIES or not is_current():
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
    """Return the bench with this value; None where the policy rejects it."""
    try:
        return set_policy(bench, bench.policy.with_(**field.changes(bench.policy, value)))
    except ValidationError:
        return None


def _keeps_rule(bench: Bench | None, sentence: str) -> bool:
    """True if the bench's compaction makes the context smaller and keeps the rule."""
    if bench is None:
        return False
    try:
        outcome = bench.offline.outcome
    except BadInput:
        return False
    return outcome.status == "compacted" and _state_after(bench, sentence) in KEPT_STATES


def _state_after(bench: Bench, sentence: str) -> RuleVerdict | None:
    return rule_states(with_watched_rules(bench, (sentence,)), bench.offline.outcome)[0].after


def _nearest_value(
    bench: Bench, field: Setting, value: float, nearest: Bench | None, sentence: str
) -> tuple[float, Bench | None]:
    """Bisect towards the present value, in round figures, while the rule is kept."""
    loses, keeps = field.of(bench.policy) or 0, value
    for _ in range(NEARER_TRIES):
        between = float(f"{(loses + keeps) / 2:.2g}")
        half: float = round(between) if field.kind == "whole" else between
        if half in (loses, keeps):
            break
        if _keeps_rule(other := _with_value(bench, field, half), sentence):
            keeps, nearest = half, other
        else:
            loses = half
    return keeps, nearest


def _rule_fix(bench: Bench, other: Bench | None, sentence: str, words: str, option: str) -> RuleFix | None:
    if other is None or not _keeps_rule(other, sentence):
        return None
    before, after = (each.context.outcome_size(each.offline.outcome).tokens for each in (bench, other))
    return RuleFix(words, after - before, option, other)
