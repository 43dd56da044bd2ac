"""What the policy panel says, without a screen."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.tui.app import story
from workbench.base import paths
from workbench.bench import Bench, choose_preset, open_bench, split_at
from workbench.compaction.preset import load_preset, preset_names
from workbench.compaction.strategies.exchange_summary import ExchangeSummaryPolicy
from workbench.compaction.strategies.ledger import LedgerPolicy
from workbench.compaction.strategies.user_messages import UserMessagesPolicy
from workbench.compaction.strategy import Trigger
from workbench.compaction.window.policy import MessageWindowPolicy
from workbench.tokens import CountCache, Counter
from workbench.tui.bench.actions import ACTIONS
from workbench.tui.fields import condition_words, fields_of, help_words
from workbench.tui.plan_words import split_words, trigger_words, unmovable_words


def bench(preset: str = "augment-example") -> Bench:
    return open_bench(story(), Counter(CountCache(paths.token_counts())), preset=preset)


@pytest.mark.parametrize(
    ("trigger", "words"),
    [
        (Trigger("rounds", 37, 200, "rounds", False), "· trigger 200 rounds: now 37, does not fire"),
        (
            Trigger("tokens", 300, 100, "tokens", True, "counted"),
            "✔ trigger 100 tokens: now 300, fires; counted",
        ),
        (Trigger("overflow", 1, 1, "errors", True), "✔ trigger 1 errors (overflow): now 1, fires"),
        (Trigger("events", 630, 0, "events", False, "off"), "· trigger events: now 630 events, does not fire; off"),
    ],
)
def test_a_trigger_is_named_as_commands_name_it(trigger: Trigger, words: str) -> None:
    assert trigger_words(trigger).replace("\u00a0", " ") == words


@pytest.mark.parametrize(
    ("preset", "unit"), [("augment-example", "exchange"), ("layered", "round"), ("trim", "message")]
)
def test_the_split_is_told_in_the_strategys_own_units(preset: str, unit: str) -> None:
    opened = bench(preset)
    opened = split_at(opened, opened.messages[16].id)
    assert opened.strategy.unit == unit
    starts = opened.context.unit_starts(unit)
    above = sum(start < opened.outcome.split for start in starts)
    words = split_words(opened)
    reset = re.escape("; moved by hand, ctrl+p Reset split resets it")
    assert re.fullmatch(rf"{above} {unit}s \w+ above · {len(starts) - above} {unit}s? kept below{reset}", words)
    assert ACTIONS["unsplit"].name == "Reset split"
    assert not ACTIONS["unsplit"].key  # the palette alone has it


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_says_what_it_splits_or_that_it_has_no_split(name: str) -> None:
    opened = choose_preset(bench(), load_preset(name))
    assert bool(unmovable_words(opened)) is not opened.strategy.movable
    words = split_words(opened)
    if opened.outcome.status == "unchanged":
        assert words.startswith("Nothing to compact: ")
    else:
        assert ("kept" in words) == opened.strategy.movable
        assert (words == "This strategy has no adjustable split.") != opened.strategy.movable


def test_help_has_range_unit_default_and_what_the_preset_says() -> None:
    field = next(f for f in fields_of(ExchangeSummaryPolicy) if f.key == "trigger_on_history_size_chars")
    plain = help_words(field).replace("\u00a0", " ")
    assert plain.endswith("(characters, allowed: at least 0, default 0 characters)")
    differs = help_words(field, 50_000, differs=True).replace("\u00a0", " ")
    assert differs.endswith("≠ preset: 50 000 characters; ctrl+z goes back to it.")
    assert "one of" in help_words(replace(field, choices=("a", "b")))


def test_help_tells_choices_in_words_with_their_ids_and_where_a_setting_counts() -> None:
    """Ids stand in brackets alone: they are what files hold, and nothing that a person knows."""
    place = next(one for one in fields_of(UserMessagesPolicy) if one.key == "preamble_place")
    assert help_words(place, "before_newest_request", differs=True).endswith(
        "(one of first, at the last request (before_newest_request), default “first”)"
        " Counts only where “Keep preamble” is on."
        " ≠ preset: “at the last request”; ctrl+z goes back to it."
    )
    cut = {one.key: condition_words(one) for one in fields_of(MessageWindowPolicy)}
    assert cut["keep_messages"] == "“Window end set by” is “newest messages kept” or “newest texts kept”"
    assert cut["request_cut"] == "“Request limit” is set and “Request form” is “one text”"
    assert condition_words(next(one for one in fields_of(LedgerPolicy) if one.key == "budget_tokens")) == (
        "“Budget in characters” is 0"
    )
