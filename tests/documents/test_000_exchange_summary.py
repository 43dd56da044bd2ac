"""The rules of document 000: `exchange-summary`, `memories-rewrite`, how much of a session is shown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.courses import course_of_messages
from tests.documents.rules import rule
from workbench.analysis.replay import Replay, replay
from workbench.analysis.transcript import transcript
from workbench.compaction.context import Context
from workbench.compaction.exchange.cut import guarded_start, head_length, preprocess
from workbench.compaction.gauge import Gauge
from workbench.compaction.outcome import Fate, Outcome
from workbench.compaction.preset import load_preset
from workbench.compaction.strategies.exchange_summary import STRATEGY, ExchangeSummaryPolicy, disabled, triggers
from workbench.compaction.strategy import NOT_DUE, SummaryRequest
from workbench.conformance.building import agent, chat, context_of, loop, user
from workbench.conformance.strategies import Answered
from workbench.conformance.strategies import run as run_strategy
from workbench.session import Message


def policy(**changes: Any) -> ExchangeSummaryPolicy:
    return ExchangeSummaryPolicy.model_validate({"min_version": "3", "prompt": "Summarize.", **changes})


def run(context: Context, answer: Answered = "S", **changes: Any) -> tuple[Outcome, list[SummaryRequest]]:
    return run_strategy(STRATEGY, context, policy(**changes), answer)


def played(messages: list[Message], **changes: Any) -> Replay:
    preset = load_preset("augment-example")
    return replay(course_of_messages(messages), replace(preset, policy=preset.policy.with_(**changes)), None)


# --- 1 When it fires --------------------------------------------------------------------------------------------------


@rule("000-001")
def test_showing_less_changes_nothing_that_the_model_is_sent() -> None:
    context = context_of(loop("1", 2))
    shown = {verbosity: len(list(transcript(context.messages, verbosity))) for verbosity in ("default", "quiet")}
    assert shown == {"default": 6, "quiet": 1}
    assert context.gauge() == context_of(loop("1", 2)).gauge()


@rule("000-002", "000-095")
@pytest.mark.parametrize(("more", "call"), [(0, 3), (1, 4)])
def test_the_size_is_asked_before_every_call(more: int, call: int) -> None:
    messages = [one for n in range(5) for one in (user(f"u{n}", "x" * 5_000), agent(f"a{n}", "y" * 5_000))]
    asked = context_of(messages[:5]).gauge().chars  # two rounds and the third request
    found = played(messages, trigger_on_history_size_chars=asked + more, history_tail_size_chars_to_exclude=0)
    assert found.compacted[0].call == call


CACHE = {
    "simulate_cache_expiry": True,
    "trigger_on_history_size_chars_when_cache_expiring": 100,
    "cache_ttl_ms": 300_000,
    "buffer_time_before_cache_expiration_ms": 30_000,
}


@rule("000-003", "000-016")
@pytest.mark.parametrize(
    ("age", "fires", "note"),
    [
        (0, False, "due in 270 s"),
        (10_000, False, "due in 260 s"),
        (269_999, False, "due in 0.001 s"),
        (270_000, True, "the cache expires in 30 s"),
        (270_001, True, "the cache expires in 29.999 s"),
        (299_999, True, "the cache expires in 0.001 s"),
        (300_000, True, "due 30 s ago, the cache has expired since"),
        (600_000, True, "due 330 s ago, the cache has expired since"),
        (None, False, "due 270 s after the newest answer, if nothing is sent till then"),
    ],
)
def test_the_timer_goes_off_when_the_cache_is_about_to_expire(age: int | None, fires: bool, note: str) -> None:
    found = triggers(Gauge(meters={"history": 100}, cache_age_ms=age), policy(**CACHE))[1]
    assert (found.fires, found.note, found.timed) == (fires, note, True)
    assert not triggers(Gauge(meters={"history": 99}, cache_age_ms=age), policy(**CACHE))[1].fires


@rule("000-003")
def test_the_age_of_the_cache_comes_from_the_time_stamps_or_from_the_person() -> None:
    messages = [replace(one, time=at) for one, at in zip(chat(2)[:3], (100.0, 110.0, 150.0), strict=True)]
    for seen, given_age, age in ((messages, None, 40_000), (messages[:2], None, None), (messages, 5, 5)):
        fired = STRATEGY.triggered(context_of(seen), policy(**CACHE, cache_age_ms=given_age))[1]
        assert fired.note == triggers(Gauge(meters={"history": 1}, cache_age_ms=age), policy(**CACHE))[1].note
    assert STRATEGY.gauge(context_of(messages[:2]).with_(at=115.5), policy()).cache_age_ms == 5_500


@rule("000-003", "000-005")
@pytest.mark.parametrize(
    ("gap", "compacted"),
    [(10, []), (269.999, []), (270, [(3, 4, 4)]), (270.001, [(3, 4, 4)]), (600, [(3, 4, 4)])],
)
@pytest.mark.parametrize("size", [0, 10**6])
def test_a_replays_timer_goes_off_between_two_messages(
    gap: float, compacted: list[tuple[int, int, int]], size: int
) -> None:
    """Three rounds, the third begun `gap` seconds after the second answer: of the four messages before it, and not of
    it, the first two become one exchange of two."""
    messages: list[Message] = []
    for n, at in enumerate((0.0, 20.0, 30.0 + gap)):
        messages += [replace(user(f"u{n}", "x" * 9_000), time=at), replace(agent(f"a{n}", "y" * 9_000), time=at + 10)]
    thresholds = {
        "trigger_on_history_size_chars": size,
        "trigger_on_history_size_chars_when_cache_expiring": 30_000,
    }
    found = played(messages, simulate_cache_expiry=True, history_tail_size_chars_to_exclude=0, **thresholds)
    assert [(one.call, one.messages_before, one.messages_after) for one in found.compacted] == compacted
    assert {trigger.name for one in found.compacted for trigger in one.triggers} <= {"cache about to expire"}
    # What would have been sent had nothing been compacted: requests and answers of 2 251 tokens each.
    assert list(found.full) == [2_251, 3 * 2_251, 5 * 2_251]
    assert (found.sent[2] < found.full[2]) is bool(compacted)


@rule("000-004", "000-064")
@pytest.mark.parametrize("prompt", ["", "   \n"])
def test_without_a_prompt_nothing_is_summarized(prompt: str) -> None:
    outcome, requests = run(context_of([*loop("1", 2), *loop("2", 1)]), prompt=prompt)
    assert (outcome.status, outcome.reason, requests) == ("unchanged", "disabled: the prompt is empty (prompt)", [])


@rule("000-005")
@pytest.mark.parametrize(
    ("size", "expiring", "status"),
    [
        (8_000, 0, "compacted"),
        (0, 8_000, "compacted"),
        (50_000, 8_000, "compacted"),
        (8_000, 50_000, "compacted"),
        (50_000, 50_000, "unchanged"),
    ],
)
def test_the_split_asks_the_threshold_of_the_trigger_that_fired(size: int, expiring: int, status: str) -> None:
    """`size` and `expiring` are the two thresholds; the cache is about to expire, nobody runs it by hand."""
    cache = CACHE | {"trigger_on_history_size_chars_when_cache_expiring": expiring, "cache_age_ms": 270_000}
    context = context_of([message for n in range(4) for message in loop(str(n), 1, "x" * 2_000)], manual=False)
    assert 8_000 < context.gauge().chars < 50_000
    assert run(context, **cache, trigger_on_history_size_chars=size)[0].status == status


@rule("000-006", "000-015")
@pytest.mark.parametrize(
    ("size", "expiring", "fires"), [(0, 0, (False, False)), (1, 0, (True, False)), (0, 1, (False, True))]
)
def test_a_threshold_of_0_switches_its_trigger_off(size: int, expiring: int, fires: tuple[bool, bool]) -> None:
    cache = CACHE | {"trigger_on_history_size_chars_when_cache_expiring": expiring}
    now = Gauge(meters={"history": 10**9}, cache_age_ms=270_000)
    found = triggers(now, policy(**cache, trigger_on_history_size_chars=size))
    assert tuple(one.fires for one in found) == fires
    assert all(one.fires or one.note == "disabled: threshold 0" for one in found)


@rule("000-007", "000-008")
@pytest.mark.parametrize(("rounds", "left"), [(1, None), (2, 2), (3, 2)])
def test_one_exchange_stays_and_a_head_of_nothing_is_nothing_to_compact(rounds: int, left: int | None) -> None:
    outcome, _ = run(context_of(chat(rounds)), history_tail_size_chars_to_exclude=0)
    if left is None:
        assert outcome.reason == "nothing to compact: the head is empty"
    else:
        assert outcome.fate_counts[Fate.KEPT] == left


@pytest.mark.parametrize(
    "field",
    [
        pytest.param("trigger_on_history_size_chars", id="000-009"),
        pytest.param("trigger_on_history_size_chars_when_cache_expiring", id="000-010"),
        pytest.param("history_tail_size_chars_to_exclude", id="000-011"),
        pytest.param("cache_ttl_ms", id="000-012"),
        pytest.param("buffer_time_before_cache_expiration_ms", id="000-013"),
    ],
)
def test_numbers_that_are_off_by_default(field: str) -> None:
    assert getattr(ExchangeSummaryPolicy(), field) == 0


@rule("000-014", "000-015")
@pytest.mark.parametrize(
    ("changes", "why_not"),
    [
        ({}, ""),
        ({"bot_type": "0"}, ""),
        ({"min_version": ""}, "disabled: no minimum version is set (min_version)"),
        *(
            ({"bot_type": bot}, f"disabled: bot type {bot} is a code-review bot")
            for bot in ("1", "2", "CODE_REVIEW_BOT", "code_review_eval_bot")
        ),
        ({"prompt": ""}, "disabled: the prompt is empty (prompt)"),
    ],
)
def test_a_policy_says_why_it_would_never_summarize(changes: dict[str, Any], why_not: str) -> None:
    assert disabled(policy(**changes)) == why_not
    assert triggers(Gauge(meters={"history": 1}), policy(trigger_on_history_size_chars=1, **changes))[0].note == why_not
    outcome, requests = run(context_of([*loop("1", 2), *loop("2", 1)]), **changes)
    assert (outcome.status != "unchanged", len(requests)) == ((True, 1) if not why_not else (False, 0))


@rule("000-015")
def test_what_is_enabled_and_under_its_threshold_is_not_due() -> None:
    context = context_of(chat(3), manual=False)
    chars = context.gauge().chars
    assert run(context, trigger_on_history_size_chars=chars)[0].reason != NOT_DUE
    assert run(context, trigger_on_history_size_chars=chars + 1)[0].reason == NOT_DUE


@rule("000-016", "000-017")
@pytest.mark.parametrize(
    "never",
    [
        {"buffer_time_before_cache_expiration_ms": 300_000},
        {"trigger_on_history_size_chars_when_cache_expiring": 0},
        {"min_version": ""},
    ],
)
def test_no_timer_is_set_without_time_threshold_or_version(never: dict[str, Any]) -> None:
    found = triggers(Gauge(meters={"history": 100}, cache_age_ms=300_000), policy(**CACHE | never))[1]
    assert not found.fires
    assert found.note.startswith(("never", "disabled"))


@rule("000-018")
def test_nothing_looks_at_the_cache_unless_it_is_asked_for() -> None:
    late = Gauge(meters={"history": 10**9}, cache_age_ms=270_000)
    for chosen in (policy(), load_preset("augment-example").policy):
        assert [one.name for one in triggers(late, chosen)] == ["history size"]  # type: ignore[arg-type]


# --- 2 One level, with versions ---------------------------------------------------------------------------------------


@rule("000-026", "000-027", "000-028", "000-030")
def test_what_stands_before_the_newest_summary_goes_and_other_versions_do_too() -> None:
    mixed = [None, 2, None, 3, None, 2, None]
    assert preprocess(mixed, current=3, enabled=True) == (3, 4, 6)
    assert preprocess([3, None, None], current=3, enabled=True) == (0, 1, 2)
    assert preprocess([None, 2, None, None], current=3, enabled=True) == (0, 2, 3)
    assert preprocess(mixed, current=3, enabled=False) == (0, 2, 4, 6)


# --- 4 What is kept ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "tail_chars", "min_tail", "head"),
    [
        pytest.param([1_300] * 4 + [1_200] * 2 + [800] * 4, 3_000, 1, 7, id="000-042"),
        pytest.param([1_000] * 10, 3_000, 1, 8, id="000-038 a sum of just the limit is too much"),
        pytest.param([1_000] * 10, 3_001, 1, 7, id="000-038 a sum below the limit is not"),
        pytest.param([100, 9_000, 100], 1_000, 0, 2, id="000-038 the first that does not fit ends the tail"),
        pytest.param([500, 9_000], 3_000, 1, 1, id="000-040 the newest stays whatever its size"),
        pytest.param([9_000], 3_000, 1, 0, id="000-040 the only one"),
        pytest.param([500, 500, 500], 1_000, 0, 2, id="000-040 none need stay"),
        pytest.param([500, 500, 500], 0, 2, 1, id="000-040 two stay"),
    ],
)
def test_the_tail_is_below_its_limit(sizes: list[int], tail_chars: int, min_tail: int, head: int) -> None:
    assert head_length(sizes, tail_chars, min_tail) == head


@rule("000-038")
@given(st.lists(st.integers(1, 5_000), max_size=40), st.integers(0, 20_000), st.integers(0, 5))
def test_the_walk_agrees_with_the_documents_own_loop(sizes: list[int], tail_chars: int, min_tail: int) -> None:
    """It goes on after the first exchange of the head."""
    total, tail, head = 0, [], []
    for size in reversed(sizes):
        (tail if total + size < tail_chars or len(tail) < min_tail else head).append(size)
        total += size
    assert head_length(sizes, tail_chars, min_tail) == len(head)


@rule("000-039")
@pytest.mark.parametrize(("more", "status"), [(-1, "compacted"), (0, "compacted"), (1, "unchanged")])
def test_below_the_threshold_all_is_tail(more: int, status: str) -> None:
    context = context_of([message for n in range(4) for message in loop(str(n), 1, "x" * 2_000)], manual=False)
    assert run(context, trigger_on_history_size_chars=context.gauge().chars + more)[0].status == status


@rule("000-041")
def test_head_and_tail_are_told_with_their_sizes() -> None:
    context = context_of(chat(3))
    sizes = context.shape.exchange_sizes
    outcome, _ = run(context)
    words = f"head: 2 exchanges, {sum(sizes[:2])} characters; tail: 1 exchanges, {sizes[2]} characters"
    assert words in outcome.trace


@rule("000-043")
@pytest.mark.parametrize(("segments", "start"), [(3, 0), (4, 2), (5, 2), (6, 4), (7, 4)])
def test_from_four_segments_on_the_oldest_are_left_out(segments: int, start: int) -> None:
    """One exchange fills a segment of 800 000 / 3: two of them do not fit."""
    assert guarded_start([200_000] * segments, 800_000) == start


@rule("000-043")
def test_an_oversize_first_exchange_opens_an_empty_first_segment() -> None:
    # [], [300k], [200k], [200k] are four segments: the third begins at exchange 1.
    assert guarded_start([300_000, 200_000, 200_000], 800_000) == 1


@rule("000-043")
@pytest.mark.parametrize(("limit", "start"), [(1_199, 6), (1_200, 4), (1_201, 4)])
def test_a_segment_holds_a_third_of_the_limit_and_no_more(limit: int, start: int) -> None:
    """Two exchanges of 200 are a third of 1 200: four segments. Where they are over it, each is one of its own."""
    assert guarded_start([200] * 8, limit) == start


@rule("000-044", "000-045")
def test_the_summarizer_is_shown_what_the_guard_leaves() -> None:
    """Six exchanges of one segment each and the tail: the guard leaves out the first four, the abridged history has
    them, the newest exchange stays."""
    messages = [one for n in range(7) for one in (user(f"q{n}", f"<q{n}> " + "x" * 2_000), agent(f"a{n}", "done"))]
    size = max(context_of(messages).shape.exchange_sizes)
    outcome, (request,) = run(context_of(messages), guard_total_chars=3 * size + 3)
    assert [n for n in range(7) if f"<q{n}>" in request.text] == [4, 5]
    assert [n for n in range(7) if f"<q{n}>" in outcome.messages[0].text] == [0, 1, 2, 3, 4, 5]
    assert [outcome.fate_at(2 * n).fate for n in range(7)] == [*[Fate.ABRIDGED] * 4, *[Fate.SUMMARIZED] * 2, Fate.KEPT]
    assert outcome.messages[2:] == tuple(messages[12:])
