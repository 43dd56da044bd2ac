"""What would keep a watched sentence that a compaction loses: each way is tried before it is offered."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tui.app import session_of, story
from workbench.analysis.watched_rules import KEPT_STATES
from workbench.bench import (
    Bench,
    RuleState,
    fixes,
    open_bench,
    rule_states,
    set_policy,
    toggle_pin,
    with_counts,
    with_watched_rules,
)
from workbench.compaction.context import Context
from workbench.compaction.outcome import Status
from workbench.compaction.policy import Policy
from workbench.compaction.strategy import Compacting
from workbench.tokens import Counter

RULE = "Never log the token."


def bench(preset: str = "trim", rounds: int = 8) -> Bench:
    """The rule stands in the fourth request alone, of which nothing is kept."""
    counter = Counter()
    texts = [*["Look at it."] * 3, f"Now this. {RULE}", *["Go on."] * 6]
    opened = open_bench(session_of(story(rounds, texts=texts).messages), counter, preset=preset, window=3_000)
    return with_watched_rules(with_counts(opened, counter), (RULE,))


def after(one: Bench) -> RuleState:
    return rule_states(one, one.offline.outcome)[0]


def test_a_pin_and_a_number_keep_it_each_near_to_what_stands() -> None:
    lost = bench()
    assert (after(lost).now, after(lost).after) == ("verbatim", "gone")
    ways = fixes.find_fixes(lost, [after(lost)])
    assert ways is not None
    assert ways.pin is not None
    assert ways.setting is not None
    assert {after(each.bench).after for each in (ways.pin, ways.setting)} <= KEPT_STATES
    assert {each.bench.offline.outcome.status for each in (ways.pin, ways.setting)} == {"compacted"}
    assert ways.pin.bench == toggle_pin(lost, lost.messages[24].id)
    assert (ways.pin.words, ways.pin.option) == ("pins message 25", "--pin 25")
    every = (lost, ways.pin.bench, ways.setting.bench)
    sizes = [each.context.outcome_size(each.offline.outcome).tokens for each in every]
    assert [ways.pin.tokens, ways.setting.tokens] == [size - sizes[0] for size in sizes[1:]]
    name, _, value = ways.setting.option.removeprefix("--set ").partition("=")
    assert getattr(ways.setting.bench.policy, name) == float(value) != getattr(lost.policy, name)


def test_the_number_is_nearer_to_what_it_was_than_the_first_that_kept_it() -> None:
    """A tenth nearer no longer keeps it."""
    lost = bench()
    number = fixes.setting_fix(lost, RULE)
    assert number is not None
    name, _, value = number.option.removeprefix("--set ").partition("=")
    was = float(getattr(lost.policy, name))
    nearer = set_policy(lost, lost.policy.with_(**{name: was + (float(value) - was) * 0.9}))
    assert after(nearer).after not in KEPT_STATES


def test_what_is_pinned_already_or_stands_nowhere_has_no_pin_and_what_nobody_waits_for_no_number() -> None:
    lost = bench()
    pinned = toggle_pin(lost, lost.messages[24].id)
    assert fixes.pin_fix(pinned, RULE) is None
    assert fixes.pin_fix(lost, "The quokka naps at noon.") is None
    assert fixes.setting_fix(lost, RULE, lambda: False) is None


def test_of_so_many_tries_none_is_made_more(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []
    monkeypatch.setattr(fixes, "_keeps_rule", lambda other, sentence: tried.append(other))
    assert fixes.setting_fix(bench("message-window"), RULE) is None
    assert len(tried) <= fixes.MAX_TRIES
    tried.clear()
    monkeypatch.setattr(fixes, "MAX_TRIES", 2)
    assert fixes.setting_fix(bench("message-window"), RULE) is None
    assert len(tried) == 2


@pytest.mark.parametrize(
    ("now", "then", "lost"),
    [
        ("verbatim", "gone", True),
        ("paraphrased", "contradicted", True),
        ("verbatim", "paraphrased", False),
        ("verbatim", "unknown", False),
        ("verbatim", None, False),
        ("gone", "gone", False),
        ("contradicted", "gone", False),
    ],
)
def test_lost_is_what_stood_and_stands_no_longer(now: str, then: str | None, lost: bool) -> None:
    told = [RuleState("Kept.", "verbatim", "verbatim"), RuleState(RULE, now, then)]  # type: ignore[arg-type]
    assert fixes.first_lost_rule(told) == (RULE if lost else "")


def test_a_long_context_is_offered_the_pin_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = bench()
    monkeypatch.setattr(fixes, "MAX_CHARS", lost.layout.shape.chars[-1] - 1)
    ways = fixes.find_fixes(lost, [after(lost)])
    assert ways is not None
    assert (ways.pin is not None, ways.setting) == (True, None)


@pytest.mark.parametrize(("status", "offered"), [("compacted", True), ("fallback", False), ("not_smaller", False)])
def test_c_nothing_is_offered_with_which_the_compaction_only_falls_back(status: Status, offered: bool) -> None:
    """With the pin, or with another number, the sentence stays; but the summary failed, or nothing became smaller."""
    lost = bench()
    trim = lost.strategy

    def compact(context: Context, policy: Policy, trace: list[str]) -> Compacting:
        outcome = yield from trim.compact(context, policy, trace)
        return replace(outcome, status=status)

    other = replace(lost, strategy=replace(trim, compact=compact))
    assert after(other).after == "gone"
    ways = fixes.find_fixes(other, [after(other)])
    assert ways is not None
    assert (ways.pin is not None, ways.setting is not None) == (offered, offered)
