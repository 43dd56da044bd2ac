"""The rules of document 000: `exchange-summary`, `memories-rewrite`, how much of a session is shown."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.courses import course_of_messages
from tests.commands import cwb, document
from tests.documents.rules import rule
from tests.formats.test_augment import document as augment_document
from tests.formats.test_augment import entry, text_node
from tests.paths import SAMPLES
from tests.products import mostly_full
from workbench.analysis.compaction_cost import summary_usage
from workbench.analysis.course import course_of
from workbench.analysis.generations import generations
from workbench.analysis.recorded_compactions import recorded_outcome
from workbench.analysis.replay import Replay, replay
from workbench.analysis.running_context import RunningContext
from workbench.analysis.transcript import Verbosity, transcript
from workbench.base.errors import BadInput
from workbench.compaction.context import Context, Gauge
from workbench.compaction.exchange.abridge import AbridgedHistoryParams, abridge
from workbench.compaction.exchange.cut import current_exchanges, guarded_start, head_length
from workbench.compaction.language import Language, language_of
from workbench.compaction.opening import context_at
from workbench.compaction.outcome import Fate, NewMessage, Outcome
from workbench.compaction.preset import load_preset, preset_names, save_preset
from workbench.compaction.progressive.importance import scores
from workbench.compaction.prompts import file_of, lint_summary_prompt, load_prompt, prompt_files, write_own
from workbench.compaction.properties import HEADS, all_properties, cells
from workbench.compaction.settings import settings_of
from workbench.compaction.shape import api_chars
from workbench.compaction.spans import merge_adjacent
from workbench.compaction.stored_history import StoredHistory
from workbench.compaction.strategies import all_strategies, strategy
from workbench.compaction.strategies.exchange_summary import STRATEGY, ExchangeSummaryPolicy, disabled, triggers
from workbench.compaction.strategy import NOT_DUE, SHOWN_NAMES, ParsedPolicy
from workbench.compaction.summary_request import Summary, SummaryRequest
from workbench.conformance.building import agent, call, chat, context_of, loop, result, session_of, summary, user
from workbench.conformance.formats import read
from workbench.conformance.strategies import Answered
from workbench.conformance.strategies import run as run_strategy
from workbench.formats.anthropic_messages import FORMAT as ANTHROPIC
from workbench.formats.augment import FORMAT as AUGMENT
from workbench.formats.augment.sequence import sequence_ids
from workbench.formats.augment.summaries import VERSION
from workbench.formats.export import export
from workbench.formats.files import load
from workbench.formats.loss import Loss, LossKind
from workbench.formats.read_back import shape
from workbench.session import Message, Opaque, Session, Span, Text, Thinking, Tool, ToolUse, rounds_of
from workbench.summarizers.driver import Run
from workbench.summarizers.extractive import extractive
from workbench.summarizers.wire import chat_prompt, messages_prompt, responses_prompt
from workbench.tokens import Counter
from workbench.tokens.window import Window

CONTINUES = "Ok. I will continue the conversation from this point."


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
    sent, gauge = shape(context.messages), context.gauge()
    shown = {verbosity: len(list(transcript(context.messages, verbosity))) for verbosity in ("default", "quiet")}
    assert shown == {"default": 6, "quiet": 1}
    assert (shape(context.messages), context.gauge()) == (sent, gauge)


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
        (300_000, True, "due 30 s ago; the cache has expired"),
        (600_000, True, "due 330 s ago; the cache has expired"),
        (None, False, "due 270 s after the newest answer, if nothing is sent before"),
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
        fired = STRATEGY.read_triggers(context_of(seen), policy(**CACHE, cache_age_ms=given_age))[1]
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


@rule("000-002", "000-003")
def test_a_timer_goes_off_once_and_the_size_waits_for_the_call() -> None:
    """Two requests come in a row, both long after the answer; every threshold is reached from the first round on."""
    asked = [replace(user(f"u{n}", "x" * 9_000), time=at) for n, at in ((0, 0.0), (1, 20.0), (2, 400.0), (3, 410.0))]
    answers = [replace(agent(f"a{n}", "y" * 9_000), time=at) for n, at in ((0, 10.0), (1, 30.0), (2, 420.0))]
    messages = [asked[0], answers[0], asked[1], answers[1], *asked[2:], answers[2]]
    always = {"trigger_on_history_size_chars_when_cache_expiring": 1, "history_tail_size_chars_to_exclude": 0}
    found = played(messages, simulate_cache_expiry=True, trigger_on_history_size_chars=0, **always)
    assert ([one.messages_before for one in found.compacted], found.missed) == ([4], ())
    by_size = played(
        messages, simulate_cache_expiry=True, trigger_on_history_size_chars=40_000, cache_age_ms=0, **always
    )
    assert [one.messages_before for one in by_size.compacted] == [6]


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


EXAMPLE = {
    "trigger_on_history_size_chars": 50_000,
    "trigger_on_history_size_chars_when_cache_expiring": 30_000,
    "history_tail_size_chars_to_exclude": 5_000,
    "prompt": "Summarize.",
    "cache_ttl_ms": 300_000,
    "buffer_time_before_cache_expiration_ms": 30_000,
    "abridged_history_params": {
        "total_chars_limit": 10_000,
        "user_message_chars_limit": 1_000,
        "agent_response_chars_limit": 2_000,
    },
}
CAMEL = {
    "triggerOnHistorySizeChars": 50_000,
    "triggerOnHistorySizeCharsWhenCacheExpiring": 30_000,
    "historyTailSizeCharsToExclude": 5_000,
    "prompt": "Summarize.",
    "cacheTTLMs": 300_000,
    "bufferTimeBeforeCacheExpirationMs": 30_000,
    "abridgedHistoryParams": {"totalCharsLimit": 10_000, "userMessageCharsLimit": 1_000, "numFilesViewedLimit": 10},
}


def pasted(given: object) -> ParsedPolicy[ExchangeSummaryPolicy]:
    assert STRATEGY.parameters is not None
    return STRATEGY.parameters.read(given if isinstance(given, str) else json.dumps(given))


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(EXAMPLE, id="000-019 the object"),
        pytest.param(json.dumps(json.dumps(EXAMPLE)), id="000-019 the string that the flag carries"),
        pytest.param({"history_summary_params": json.dumps(EXAMPLE)}, id="000-019 the flag by its name"),
        pytest.param(
            {"feature_flags": {"history_summary_min_version": "3", "history_summary_params": json.dumps(EXAMPLE)}},
            id="000-019 all flags",
        ),
        pytest.param(
            {"featureFlags": {"historySummaryMinVersion": "3", "historySummaryParams": json.dumps(EXAMPLE)}},
            id="000-021 as the client holds the flags",
        ),
        pytest.param(CAMEL, id="000-021 as the client holds the object"),
    ],
)
@rule("000-022")
def test_the_example_is_read_however_it_is_pasted(given: object) -> None:
    example = load_preset("augment-example").policy.with_(prompt="Summarize.")
    assert (pasted(given).policy, pasted(given).ignored) == (example, ())


@rule("000-020")
@pytest.mark.parametrize(
    ("flags", "version"),
    [
        ({"history_summary_min_version": ""}, ""),
        ({"historySummaryMinVersion": ""}, ""),
        ({"history_summary_min_version": "2"}, "2"),
        ({"history_summary_min_version": None}, "3"),
        ({}, "3"),
    ],
)
def test_off_stays_off(flags: dict[str, Any], version: str) -> None:
    read = pasted({"feature_flags": {**flags, "history_summary_params": json.dumps(EXAMPLE)}})
    assert read.policy.min_version == version
    assert pasted({**EXAMPLE, "min_version": version}).policy.min_version == version
    assert disabled(read.policy) == ("" if version else "disabled: no minimum version is set (min_version)")


@rule("000-023")
def test_no_prompt_is_built_in() -> None:
    assert ExchangeSummaryPolicy().prompt == pasted({"history_summary_params": "{}"}).policy.prompt == ""


# --- 2 One level, with versions ---------------------------------------------------------------------------------------


@rule("000-024")
@pytest.mark.parametrize("earlier", ["drop", "keep", "nest", "extend"])
def test_a_new_summary_replaces_the_old_one(earlier: str) -> None:
    """Only `drop`, which is the default, is the document's; the others are its own suggestions."""
    outcome, requests = run(context_of([summary("s", "OLD WORDS"), *chat(3)]), earlier_summary=earlier)
    assert ("OLD WORDS" in requests[0].text) is (earlier in ("nest", "extend"))
    assert ("OLD WORDS" in "".join(message.text for message in outcome.messages)) is (earlier in ("keep", "extend"))
    assert ExchangeSummaryPolicy().earlier_summary == "drop"


@rule("000-025")
def test_the_current_version_is_3() -> None:
    assert ExchangeSummaryPolicy().history_summary_version == VERSION == 3


@rule("000-026", "000-027", "000-028", "000-030")
def test_what_stands_before_the_newest_summary_goes_and_other_versions_do_too() -> None:
    mixed = [None, 2, None, 3, None, 2, None]
    assert current_exchanges(mixed, current=3, enabled=True) == (3, 4, 6)
    assert current_exchanges([3, None, None], current=3, enabled=True) == (0, 1, 2)
    assert current_exchanges([None, 2, None, None], current=3, enabled=True) == (0, 2, 3)
    assert current_exchanges(mixed, current=3, enabled=False) == (0, 2, 4, 6)


def history(*kinds: str) -> bytes:
    """An Augment session of exchanges e and summaries of versions, in order, each with its place: e0 s1 e2 …"""
    entries = []
    for place, kind in enumerate(kinds):
        version = {"isHistorySummary": True, "historySummaryVersion": int(kind[1:])} if kind[0] == "s" else {}
        said = [text_node(f"{kind[0]}{place}")]
        entries.append(entry(place, f"{kind[0]}{place}", said, CONTINUES if version else "ok", [], **version))
    return augment_document(entries)


def sent(session: Session, epoch: int | None = None) -> str:
    return " ".join(message.text for message in session.context(epoch) if message.role == "user")


@rule("000-029")
@pytest.mark.parametrize(
    ("kinds", "epochs", "warned"),
    [
        ("e e", ["e0 e1"], False),
        ("e s3 e e", ["e0", "s1 e2 e3"], False),
        ("s3 e", ["s0 e1"], False),
        ("e s2 e s3 e", ["e0", "s1 e2", "s3 e4"], False),
        ("e s3 e s2 e", ["e0", "s1 e2", "s1 e2 e4"], True),
        pytest.param("e s2 e e", ["e0", "e0 e2 e3"], True, id="000-030"),
        ("e s3 e s4 e", ["e0", "s1 e2", "s3 e4"], False),
    ],
)
def test_a_recorded_summary_ends_an_epoch_and_the_current_one_opens_what_is_sent(
    kinds: str, epochs: list[str], warned: bool
) -> None:
    session = read(AUGMENT, history(*kinds.split()))
    assert [sent(session, epoch.number) for epoch in session.epochs] == epochs
    assert [epoch.ended_by is not None for epoch in session.epochs] == [True] * (len(epochs) - 1) + [False]
    assert any("which a client of version 3 ignores" in str(warning) for warning in session.warnings) is warned


@rule("000-028", "000-030")
@pytest.mark.parametrize(
    ("kinds", "changes", "counted"),
    [
        ("e e s3 e e s3 e e", {}, (5, 6, 7)),
        ("e e s3 e e s3 e e", {"min_version": ""}, (0, 1, 3, 4, 6, 7)),
        ("e e s3 e e s3 e e", {"bot_type": "1"}, (0, 1, 3, 4, 6, 7)),
        ("e e s3 e e s3 e e", {"history_summary_version": 4}, (0, 1, 3, 4, 6, 7)),
        ("e e s3 e e s3 e e", {"history_summary_version": 4, "earlier_summary": "keep"}, (0, 1, 3, 4, 6, 7)),
        ("e e s3 e e s3 e e", {"earlier_summary": "keep"}, (5, 6, 7)),
        ("e e e e", {"min_version": ""}, (0, 1, 2, 3)),
        ("e e s2 e e", {}, (0, 1, 3, 4)),
    ],
)
def test_e5_where_no_summary_counts_the_whole_stored_history_does(
    kinds: str, changes: dict[str, Any], counted: tuple[int, ...]
) -> None:
    """The summaries are dropped, and with them goes what they stood for: what they replaced is history again."""
    session = read(AUGMENT, history(*kinds.split()))
    context = context_at(session, None, Counter())
    chosen = policy(**changes)
    size_of = {message.id: api_chars(message) for message in session.messages}
    by_place = [0] * len(kinds.split())
    for message in session.messages:
        by_place[message.source[0]] += size_of[message.id]
    found, *_ = triggers(STRATEGY.gauge(context, chosen), chosen)
    assert found.value == sum(by_place[place] for place in counted)


def timed(kinds: str) -> Session:
    """A session of exchanges e and summaries s, each with the minute at which it was finished: e1 s7 e2 …"""
    data = json.loads(history(*(kind[0] + "3" for kind in kinds.split())))
    for one, kind in zip(data["chatHistory"], kinds.split(), strict=True):
        one["finishedAt"] = f"2026-02-03T04:0{kind[1]}:00.000Z"
        if kind[0] == "e":
            one["exchange"]["response_nodes"] = [{"type": 10, "token_usage": {"input_tokens": int(kind[1])}}]
    return read(AUGMENT, json.dumps(data).encode())


@rule("000-029")
@pytest.mark.parametrize(
    ("kinds", "epochs", "tokens"),
    [
        ("e1 e2 s7 e3 e8", ["e0 e1 e3", "s2 e3 e4"], [3]),
        ("e1 s7 e2 s8 e3 e9", ["e0 e2 e4", "s1 e2 e4", "s3 e4 e5"], [3, None]),
        ("e1 s7 e2 s5 e9", ["e0 e2", "s1 e2", "s3 e4"], [2, None]),
        ("s7 e2 e8", ["s0 e1 e2"], []),
    ],
)
def test_what_stood_behind_the_summary_when_it_was_made_was_there_before_it(
    kinds: str, epochs: list[str], tokens: list[int | None]
) -> None:
    """The exchanges that stay are older than the summary in front of them. As many tokens as minutes were billed for
    each, but for another context than the one that a later summary opened."""
    session = timed(kinds)
    assert [sent(session, epoch.number) for epoch in session.epochs] == epochs
    assert [epoch.ended_by.tokens_before for epoch in session.epochs if epoch.ended_by] == tokens
    for epoch in session.epochs[:-1]:
        made = [piece for piece in recorded_outcome(session, epoch.number).pieces if isinstance(piece, NewMessage)]
        assert made[0].message.text == sent(session, epoch.number + 1).split()[0]


@rule("000-029")
def test_the_samples_newest_context_is_what_its_newest_summary_left() -> None:
    session = load(SAMPLES / "augment-with-summary.json")
    assert [len(session.context(epoch)) for epoch in (1, 2, 3)] == [6, 16, 52]
    ended = [epoch.ended_by.tokens_before for epoch in session.epochs if epoch.ended_by]
    assert ended == [16_335 + 54, 24_162 + 59]  # what was billed for the newest call before, and its answer


# --- 3 Summaries, one after another -----------------------------------------------------------------------------------


def retold(context: Context, before: int | None = None, **limits: int) -> str:
    return abridge(context, len(context) if before is None else before, AbridgedHistoryParams(**limits)).text


def asked(text: str) -> list[str]:
    return re.findall("<user>\n(.*?)\n</user>", text, re.DOTALL)


@rule("000-031", "000-036")
def test_summaries_are_not_retold_but_what_they_replaced_is_oldest_first() -> None:
    context = context_of([*chat(1), summary("s", "SUM"), agent("r", "Ok.", kind="summary"), *chat(1, "new ")])
    entries = ["<user>\nrequest 0\n</user>\n<agent_response>\nanswer 0\n</agent_response>"]
    entries.append(entries[0].replace("request ", "request new ").replace("answer ", "answer new "))
    assert retold(context) == "\n".join(entries)


@rule("000-032", "000-062")
def test_a_request_on_both_sides_of_a_summary_is_one_entry() -> None:
    """The summary carries the call that the newest exchange before it left open."""
    once = loop("1", 3)
    carried = Message("r", "assistant", (Text("Ok."), *once[3].calls), "summary")
    context = context_of([*once[:4], summary("s", "SUM"), carried, *once[4:]])
    assert retold(context) == retold(context_of(once))
    entries = abridge(context, 9, AbridgedHistoryParams()).entries
    assert [entry.spans for entry in entries] == [(Span(0, 4), Span(6, 9))]


@rule("000-032")
def test_nothing_in_the_sample_was_interrupted() -> None:
    context = context_at(load(SAMPLES / "augment-with-summary.json"), None, Counter())
    text = retold(context)
    assert [said[:10] for said in asked(text)] == [
        *(
            "tidewatch ",
            "Yes! On 20",
            "Good. Then",
            "Check the ",
            "Interestin",
            "Perfect. N",
            "Stop!! Tho",
            "OK. Then w",
        ),
        "Thank you.",
    ]
    assert (text.count("<agent_response>"), text.count("<agent_was_interrupted/>")) == (9, 0)
    assert "tidewatch/harmonics.py\n        tidewatch/stations.py" in text.split("</agent_actions>")[0]


@rule("000-033", "000-062")
def test_only_what_stands_before_the_tail_is_retold() -> None:
    messages = [*chat(1), *loop("1", 2, name="Read")]
    text = retold(context_of(messages), 4)
    assert asked(text) == ["request 0", "request 1"]
    assert (text.count("10.py"), text.count("11.py"), text.endswith("<agent_continues/>")) == (1, 0, True)


@rule("000-033", "000-034")
@pytest.mark.parametrize(
    ("before", "told", "spans"),
    [(2, ["e0", "e1"], []), (4, ["e0", "e1", "e3"], [Span(2, 4)]), (6, ["e0", "e1", "e3", "e4"], [Span(2, 6)])],
)
def test_what_stands_both_before_a_summary_and_behind_it_is_retold_once(
    before: int, told: list[str], spans: list[Span]
) -> None:
    """Message 2 is the request e3, which the summary left; 4 is e4, which came after it."""
    context = context_at(timed("e1 e2 s7 e3 e8"), None, Counter())
    found = abridge(context, before, AbridgedHistoryParams())
    assert asked(found.text) == told
    assert merge_adjacent(span for entry in found.entries for span in entry.spans) == spans
    after = context.from_outcome(run(context.with_(split_at=context.messages[4].id))[0])
    assert asked(retold(after)) == ["e0", "e1", "e3", "e4"]
    assert asked(retold(after, 2)) == ["e0", "e1", "e3"]
    assert asked(retold(after.from_outcome(run(after.with_(split_at=None))[0]))) == ["e0", "e1", "e3", "e4"]


def test_a_request_is_retold_as_it_stands_in_each_context_of_one_past() -> None:
    past, messages = StoredHistory(), loop("1", 2)
    goes_on, torn = context_of(messages, stored_history=past), context_of(messages[:2], stored_history=past)
    for _ in range(2):
        assert "<agent_continues/>" in retold(goes_on, 2)
        assert "<agent_continues/>" not in retold(torn, 2)


@rule("000-034")
def test_what_a_compaction_made_of_the_history_is_not_retold() -> None:
    """A pin makes the open calls of the head's last exchange a message of their own."""
    context = context_of(loop("1", 4), split_at="1r2", pins=frozenset({"1u"}))
    outcome, _ = run(context)
    assert any(message.id.endswith(":calls") for message in outcome.messages)
    after = context.from_outcome(outcome)
    grown = context_of([*after.messages, *chat(1)], stored_history=after.stored_history)
    assert retold(after) == retold(context)
    assert [message.id for message in StoredHistory(grown.stored_history, grown.messages).shape.messages] == [
        message.id for message in (*loop("1", 4), *chat(1))
    ]


@rule("000-034")
def test_a_replay_from_a_later_epoch_knows_what_was_before() -> None:
    running = RunningContext(course_of(timed("e1 s2 e3"), Counter(), first=2), STRATEGY, policy(), None)
    assert [message.text for message in running.context().stored_history.shape.messages] == ["e0", "ok"]


GENERATIONS = [chat(3, f"{name} ") for name in "abc"]
ALL = [f"request {name} {n}" for name in "abc" for n in range(3)][:-1]
"""What is asked in three generations, but for the tail of the last one."""


@rule("000-034")
@pytest.mark.parametrize("earlier", ["drop", "keep", "nest", "extend"])
def test_every_generation_retells_the_whole_stored_history(earlier: str) -> None:
    outcome, _ = run(here := context_of(GENERATIONS[0]), earlier_summary=earlier)
    for more in GENERATIONS[1:]:
        after = here.from_outcome(outcome)
        here = context_of([*after.messages, *more], stored_history=after.stored_history)
        outcome, _ = run(here, earlier_summary=earlier)
    assert asked(outcome.messages[0].text) == ALL


def grown(data: bytes, more: list[Message]) -> bytes:
    """An Augment session as its client goes on with it."""
    kept, new = (json.loads(one) for one in (data, AUGMENT.codec.write(session_of(more), more).data))
    last = kept["chatHistory"][-1]["sequenceId"]
    entries = [one | {"sequenceId": last + place} for place, one in enumerate(new["chatHistory"], 1)]
    return json.dumps(kept | {"chatHistory": kept["chatHistory"] + entries}).encode()


@rule("000-034", "000-058")
@pytest.mark.parametrize("earlier", ["drop", "keep", "nest", "extend"])
@pytest.mark.parametrize(("way", "known"), [("inserted", ALL), ("flagged", ALL[-3:]), ("", ALL[-3:])])
def test_what_is_written_is_read_and_compacted_again(earlier: str, way: str, known: list[str]) -> None:
    """Three generations by way of the file: the next compaction finds the summary of the one before. Only with the
    loaded history kept is that retold, too; else the tail is the oldest that there is."""
    session = read(AUGMENT, AUGMENT.codec.write(session_of(GENERATIONS[0]), GENERATIONS[0]).data)
    for generation, more in enumerate((*GENERATIONS[1:], []), 1):
        context = context_at(session, None, Counter())
        outcome, (request,) = run(context, f"SUMMARY {generation}", earlier_summary=earlier)
        found = [kind for kind in ("nest", "extend", "keep") if kind == earlier and generation > 1]
        assert (f"SUMMARY {generation - 1}" in request.text) is bool(found and earlier != "keep")
        kept = [message.text for message in outcome.messages[1:] if "SUMMARY" in message.text]
        assert len(kept) == (generation - 1 if earlier == "keep" else 0)
        made = export(session, outcome.messages, f"augment:{way}" if way else None)
        assert made.problems == ()
        session = read(AUGMENT, made.written.data)
        assert shape(session.context()) == shape(outcome.messages)
        session = read(AUGMENT, grown(made.written.data, more))
    assert asked(outcome.messages[0].text) == known


@rule("000-034", "000-058")
def test_e8_a_list_of_messages_holds_nothing_of_what_a_compaction_replaced() -> None:
    """The same session, written for an API: the next abridged history begins at the tail of the one before."""
    session = read(AUGMENT, AUGMENT.codec.write(session_of(GENERATIONS[0]), GENERATIONS[0]).data)
    outcome, _ = run(context_at(session, None, Counter()))
    written = export(session, outcome.messages, "anthropic-messages").written.data
    again = read(ANTHROPIC, written)
    assert asked(retold(context_at(again, None, Counter()))) == ["request a 2"]
    assert asked(retold(context_at(session, None, Counter()))) == ["request a 0", "request a 1", "request a 2"]


@rule("000-035", "000-036")
@pytest.mark.parametrize(("limit", "told"), [(140, [1, 2]), (141, [0, 1, 2]), (93, [2]), (46, [])])
def test_entries_are_gathered_from_the_newest_back_until_one_does_not_fit(limit: int, told: list[int]) -> None:
    """Each entry has 47 characters; the newline between two is not counted."""
    messages = [one for n in range(3) for one in (user(f"u{n}", str(n) * 7), agent(f"a{n}", ""))]
    assert [len(entry.text) for entry in abridge(context_of(messages), 6, AbridgedHistoryParams()).entries] == [47] * 3
    assert asked(retold(context_of(messages), total_chars_limit=limit)) == [str(n) * 7 for n in told]


@rule("000-035")
def test_an_entry_that_does_not_fit_ends_the_walk() -> None:
    messages = [
        one for n, text in enumerate(("short", "x" * 400, "new")) for one in (user(f"u{n}", text), agent(f"a{n}", "ok"))
    ]
    found = abridge(context_of(messages), 6, AbridgedHistoryParams(total_chars_limit=200))
    assert (asked(found.text), found.whole) == (["new"], False)


@rule("000-037")
def test_what_is_left_after_several_compactions_can_be_told() -> None:
    """The second summary forgets the port that the first one had."""
    summaries = iter(("Nothing listens but port 8080.", "It is done."))
    limits = {"abridged_history_params": AbridgedHistoryParams(total_chars_limit=0)}

    def compact(context: Context) -> Outcome:
        return run(context, next(summaries), **limits)[0]

    said = [user("u", "Never bind anything but port 8080."), agent("a", "ok"), *chat(2)]
    found = generations(context_of(said), compact, chat(6, "more "), 2)
    assert len(found.steps) == 2
    assert found.overall[0] > found.overall[1]


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
    words = f"head: 2 exchanges, {sum(sizes[:2])} characters; tail: 1 exchange, {sizes[2]} characters"
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


# --- 5 The summary as an exchange -------------------------------------------------------------------------------------


def node_of(way: str) -> dict[str, Any]:
    """The entry of the summary that stands for `loop("1", 4)` up to its third call, as a way of writing has it."""
    session = read(AUGMENT, AUGMENT.codec.write(session_of(loop("1", 4)), loop("1", 4)).data)
    context = context_at(session, None, Counter()).with_(split_at=session.messages[6].id)
    outcome, _ = run(context, "<summary>\nI did it.\n</summary>")
    history = json.loads(export(session, outcome.messages, way).written.data)["chatHistory"]
    return next(one for one in history if "I did it." in json.dumps(one))


@rule("000-046", "000-049", "000-050")
def test_the_node_carries_the_open_calls_of_the_last_head_exchange() -> None:
    messages = loop("1", 4)
    outcome, requests = run(context_of(messages, split_at="1r2"), "<summary>\nI did it.\n</summary>")
    node, answer, *tail = outcome.messages
    assert (node.role, node.kind, answer.role, answer.kind) == ("user", "summary", "assistant", "summary")
    assert len(node.blocks) == 1
    assert "<summary>\nI did it.\n</summary>" in node.text
    assert answer.blocks == (Text(CONTINUES), *messages[5].calls)
    assert all(a is b for a, b in zip(tail, messages[6:], strict=True))
    assert requests[0].sources == tuple(m.id for m in messages[:6])
    assert 'result="not in this part"' in requests[0].text


@rule("000-046", "000-047", "000-048", "000-049", "000-050", "000-051", "000-052")
@pytest.mark.parametrize("way", ["augment", "augment:flagged", "augment:inserted"])
def test_the_exchange_of_a_summary(way: str) -> None:
    entry = node_of(way)
    exchange = entry["exchange"]
    (request,), (said, call) = exchange["request_nodes"], exchange["response_nodes"]
    assert (request["id"], request["type"], list(request)) == (1, 0, ["id", "type", "text_node"])
    assert (said["type"], said["content"]) == (0, CONTINUES)
    assert (call["type"], call["tool_use"]["tool_use_id"]) == (5, "1c2")
    assert len({said["id"], call["id"]}) == 2
    flags = (entry.get("isHistorySummary"), entry.get("historySummaryVersion"))
    texts = (exchange["request_message"], exchange["response_text"])
    if way == "augment":
        assert (flags, texts) == ((None, None), (request["text_node"]["content"], CONTINUES))
    else:
        assert (flags, texts) == ((True, 3), ("", ""))


@pytest.mark.parametrize(
    ("existing", "ids"),
    [
        pytest.param([0.0, 1.0, 2.0, None, 3.0, 4.0], [0.0, 1.0, 2.0, 2.5, 3.0, 4.0], id="000-053"),
        pytest.param([None, 3.0, 4.0], [1.5, 3.0, 4.0], id="000-054"),
        pytest.param([1.0, None, 1.333333], [1.0, 1.166667, 1.333333], id="000-055"),
        pytest.param([1.0, None, 1.000001], [0.0, 1.0, 2.0], id="000-055 where no six decimals lie between, all anew"),
        pytest.param([1.0, 2.0, None], [1.0, 2.0, 3.0], id="000-056 one after 2"),
        pytest.param([0.0, 1.0, None], [0.0, 1.0, 2.0], id="000-056 the length"),
        pytest.param([0.0, None, None], [0.0, 1.0, 2.0], id="000-056 two"),
        pytest.param([7.0, None], [7.0, 8.0], id="000-056 never below the one before"),
        pytest.param([None, 0.0], [0.0, 1.0], id="000-057 none below 0"),
        pytest.param([5.0, 4.0], [0.0, 1.0], id="000-057 what does not rise"),
        pytest.param([], [], id="000-057 nothing"),
    ],
)
def test_sequence_ids(existing: list[float | None], ids: list[float]) -> None:
    assert sequence_ids(existing) == ids


@rule("000-057")
def test_thirty_insertions_in_one_gap_rise() -> None:
    at_once = sequence_ids([2.0, *[None] * 30, 3.0])
    one_by_one: list[float] = [2.0, 3.0]
    for count in range(30):
        one_by_one = sequence_ids([*one_by_one[:-1], None, one_by_one[-1]])
        assert len(one_by_one) == count + 3
        assert all(a < b for a, b in pairwise(one_by_one))
    assert all(a < b for a, b in pairwise(at_once))
    assert (at_once[0], at_once[-1]) == (2.0, 3.0)


@rule("000-057")
@given(st.lists(st.none() | st.floats(-1e6, 1e6) | st.integers(0, 50).map(float)))
def test_sequence_ids_always_rise(existing: list[float | None]) -> None:
    ids = sequence_ids(existing)
    assert len(ids) == len(existing)
    assert all(a < b for a, b in pairwise(ids))


@rule("000-053", "000-058")
@pytest.mark.parametrize("pins", [(), ("e1",)])
def test_the_older_exchanges_stay_in_the_file(pins: tuple[str, ...]) -> None:
    """Eight exchanges, the newest two stay: the summary is inserted before them. A pin is sent from behind it."""
    loaded = read(AUGMENT, history(*["e"] * 8))
    pinned = frozenset(one.id for one in loaded.messages if one.text in pins)
    context = context_at(loaded, None, Counter()).with_(split_at=loaded.messages[12].id, pins=pinned)
    outcome, _ = run(context)
    written = export(loaded, outcome.messages, "augment:inserted").written
    before, after = (json.loads(data)["chatHistory"] for data in (loaded.records.data, written.data))
    made = len(after) - 8
    assert made == 1 + len(pins)
    assert after[:6] + after[6 + made :] == before
    assert [one["sequenceId"] for one in after[6 : 6 + made]] == ([5.333333, 5.666666] if pins else [5.5])
    assert len({one["exchange"]["request_id"] for one in after}) == len(after)
    again = read(AUGMENT, written.data)
    assert shape(again.context()) == shape(outcome.messages)
    assert sent(again, 1) == sent(loaded)
    assert len(again.epochs) == 2


@rule("000-058")
@pytest.mark.parametrize("change", ["the end is gone", "something is said anew", "a summary of all in front"])
def test_whatever_becomes_of_a_context_with_a_summary_the_loaded_history_stays(change: str) -> None:
    loaded = timed("e1 s2 e3 e4")
    summed, taken, *others = loaded.context()
    new = replace(others[0], id="new", blocks=(Text("e2"), Text("anew")), source=())
    node = [summary("n", "<supervisor><summary>"), agent("r", CONTINUES, kind="summary")]
    messages = {
        "the end is gone": [summed, taken, *others[:2]],
        "something is said anew": [summed, taken, new, *others[1:]],
        "a summary of all in front": [*node, *loaded.context()],
    }[change]
    written = export(loaded, messages, "augment:inserted").written
    before, after = (json.loads(data)["chatHistory"] for data in (loaded.records.data, written.data))
    assert [one for one in after if one in before] == before
    again = read(AUGMENT, written.data)
    assert shape(again.context()) == shape(messages)
    assert [sent(again, epoch) for epoch in (1, 2)] == [sent(loaded, 1), sent(loaded)]


@rule("000-058")
def test_without_a_summary_in_front_older_exchanges_cannot_stay() -> None:
    loaded = read(AUGMENT, history(*["e"] * 4))
    written = export(loaded, loaded.messages[4:], "augment:inserted").written
    assert sent(read(AUGMENT, written.data)) == "e2 e3"
    assert Loss(LossKind.OLDER_EXCHANGES) in written.losses


@rule("000-059")
def test_the_template_of_the_node_is_the_documents() -> None:
    assert (
        load_prompt("summary-node.en.md").text
        == """\
<supervisor>
Conversation history between Agent(you) and the user and history of tool calls
was abridged and summarized to reduce context size.

Abridged conversation history:
<abridged_history>
{abridged_history}
</abridged_history>

Summary was generated by Agent(you) so 'I' in the summary represents Agent(you).
Here is the summary:
<summary>
{summary}
</summary>

Continue the conversation and finish the task given by the user from this point.
</supervisor>"""
    )


@rule("000-060")
def test_the_layout_of_an_entry() -> None:
    messages = [
        user("u1", "Fix the authentication bug in login.js"),
        agent("a1", "", call("c1", "view", path="/src/auth/login.js"), call("c2", "view", path="/src/utils/jwt.js")),
        result("r1", ("c1", "…"), ("c2", "…")),
        agent("a2", "", call("c3", "str-replace-editor", path="/src/auth/login.js", command="str_replace")),
        result("r2", ("c3", "ok")),
        agent("a3", "", call("c4", "save-file", path="/src/new.js"), call("c5", "remove-files", file_paths=["/o.js"])),
        result("r3", ("c4", "ok"), ("c5", "ok")),
        agent("a4", "", call("c6", "launch-process", command="npm test auth")),
        result("r4", ("c6", "12 passed")),
        agent("a5", "Fixed the token validation logic."),
    ]
    assert (
        retold(context_of(messages))
        == """\
<user>
Fix the authentication bug in login.js
</user>
<agent_actions>
    <files_modified>
        /src/auth/login.js
    </files_modified>
    <files_created>
        /src/new.js
    </files_created>
    <files_deleted>
        /o.js
    </files_deleted>
    <files_viewed>
        /src/auth/login.js
        /src/utils/jwt.js
    </files_viewed>
    <terminal_commands>
        npm test auth
    </terminal_commands>
</agent_actions>
<agent_response>
Fixed the token validation logic.
</agent_response>"""
    )


@rule("000-061")
def test_values_enter_the_template_as_they_are() -> None:
    raw = "{{ 7 * 7 }} {% raw %} {{{ }}} <b>&\"'amp;"
    text = retold(context_of([user("u1", raw), agent("a1", "{summary} </user>")]))
    assert text == f"<user>\n{raw}\n</user>\n<agent_response>\n{{summary}} </user>\n</agent_response>"


@rule("000-062")
def test_an_entry_ends_with_the_response_or_says_why_it_has_none() -> None:
    messages = [user("u1", "go on"), agent("a1", "", call("c1", command="ls")), result("r1", ("c1", "x"))]
    done = [*messages, agent("a2", "done")]
    ends = [
        (done, 4, "<agent_response>\ndone\n</agent_response>"),
        (done, 2, "<agent_continues/>"),  # the tail answers its call
        (messages, 3, "<agent_was_interrupted/>"),
        ([*messages[:2], user("u2", "stop"), agent("a3", "ok")], 2, "<agent_was_interrupted/>"),
    ]
    for said, before, end in ends:
        assert retold(context_of(said), before).endswith(end)
    waits = [user("u0", "wait"), agent("a0", "", call("c0", command="ls")), *messages]
    assert re.findall("<agent_[wc].*>", retold(context_of(waits), 4)) == [
        "<agent_was_interrupted/>",
        "<agent_continues/>",
    ]


@rule("000-063")
def test_an_entry_always_has_a_user_part() -> None:
    text = retold(context_of(loop("1", 1)[1:]))
    assert text.startswith("<user>\n\n</user>\n<agent_actions>\n")


# --- 6 Prompts --------------------------------------------------------------------------------------------------------


@rule("000-070")
@pytest.mark.parametrize(("length", "told"), [(960, 10), (961, 9)])
def test_ten_thousand_characters_are_retold(length: int, told: int) -> None:
    """An entry is 40 characters longer than what was asked."""
    messages = [one for n in range(12) for one in (user(f"u{n}", "x" * length), agent(f"a{n}", ""))]
    assert len(asked(retold(context_of(messages)))) == told


@pytest.mark.parametrize(
    ("part", "limit"),
    [
        pytest.param("user", 1_000, id="000-071"),
        pytest.param("agent_response", 2_000, id="000-072"),
        pytest.param("terminal_commands", 200, id="000-073"),
    ],
)
@rule("000-079")
def test_what_is_too_long_loses_its_middle(part: str, limit: int) -> None:
    for length in (limit - 1, limit, limit + 1):
        long = "a" + "x" * (length - 2) + "z"
        did = agent("a0", "", call("c", "launch-process", command=long if part == "terminal_commands" else "ls"))
        said = [user("u", long), did, result("r", ("c", "")), agent("a1", long)]
        text = retold(context_of(said))
        words = re.search(rf"<{part}>\s*(.*?)\s*</{part}>", text, re.DOTALL)
        assert words is not None
        assert len(words[1]) == min(length, limit)
        assert (words[1][0], words[1][-1], words[1] == long) == ("a", "z", length <= limit)


@pytest.mark.parametrize(
    ("part", "deed"),
    [
        pytest.param("files_modified", ("str-replace-editor", "path"), id="000-074"),
        pytest.param("files_created", ("save-file", "path"), id="000-075"),
        pytest.param("files_deleted", ("remove-files", "file_paths"), id="000-076"),
        pytest.param("files_viewed", ("view", "path"), id="000-077"),
        pytest.param("terminal_commands", ("launch-process", "command"), id="000-078"),
    ],
)
def test_ten_of_each_are_listed_without_repetition(part: str, deed: tuple[str, str]) -> None:
    tool, argument = deed
    for count in (9, 10, 11):
        names = [f"name-{n:02}" for n in range(count) for _ in range(2)]
        given = [[name] if argument == "file_paths" else name for name in names]
        calls = [ToolUse(f"c{n}", tool, {argument: one}) for n, one in enumerate(given)]
        said = [user("u", "do"), agent("a", "", *calls), result("r", *((one.id, "ok") for one in calls))]
        text = retold(context_of(said))
        assert re.findall(r"name-\d\d", text) == [f"name-{n:02}" for n in range(min(count, 10))]
        assert (f"<{part}>" in text, text.count("<agent_actions>")) == (True, 1)


@rule("000-065", "000-066")
def test_the_model_is_given_whole_exchanges_and_no_earlier_summary() -> None:
    messages = [summary("s", "OLD WORDS"), *loop("1", 2, "what it printed"), *loop("2", 1)]
    _, (request,) = run(context_of(messages, split_at="2u"))
    assert request.sources == tuple(message.id for message in messages[1:7])
    assert request.text.startswith("Summarize.\n\n<conversation>\n<user>\nrequest 1\n</user>")
    assert [request.text.count(words) for words in ("what it printed", '"command":', "OLD WORDS")] == [2, 2, 0]


@rule("000-067", "000-068")
@pytest.mark.parametrize(
    ("language", "asked"),
    [
        (
            "en",
            "first person|'I' is you|User requirements|Agent actions|Key decisions|Pending tasks|"
            "why rather than what|500 to 1000 words|heading per point|<summary></summary>|"
            "Prioritize recent and important\ninformation over old and trivial details",
        ),
        (
            "zh",
            "第一人称|用户|文件|决|待|500|1000|标题|<summary></summary>|近期且重要的信息优先于陈旧琐碎的细节",
        ),
    ],
)
def test_the_shipped_prompt_asks_for_what_the_document_wants(language: str, asked: str) -> None:
    """E3: among it that the recent and important comes before the old and trivial."""
    prompt = load_prompt(f"exchange-summary.{language}.md").text
    assert [words for words in asked.split("|") if words not in prompt] == []
    assert lint_summary_prompt(prompt) == ()


@rule("000-067", "000-069", "000-097")
def test_the_node_holds_the_abridged_history_and_the_summary_without_its_tags() -> None:
    context = context_of([*loop("1", 2), *loop("2", 1)], split_at="2u")
    outcome, _ = run(context, "<summary>\nI did it.\n</summary>", summary_template="{abridged_history}|{summary}")
    assert outcome.messages[0].text == "\n".join(
        [
            "<user>",
            "request 1",
            "</user>",
            "<agent_actions>",
            "    <terminal_commands>",
            "        ls",
            "    </terminal_commands>",
            "</agent_actions>",
            "<agent_response>",
            "answer 1",
            "</agent_response>|I did it.",
        ]
    )


@rule("000-081")
def test_the_memories_parameters_come_as_a_flag() -> None:
    params = {
        "compression_prompt": "Fewer.",
        "compression_target": 60,
        "num_recent_memories_to_keep": 12,
        "recent_memories_subprompt": "Keep these.",
    }
    rewriting = strategy("memories-rewrite")
    assert rewriting.parameters is not None
    for text in (params, {"feature_flags": {"memories_params": params}}, {"memoriesParams": json.dumps(params)}):
        read = rewriting.parameters.read(json.dumps(text))
        found = read.policy.model_dump(include={"prompt", *params})
        assert found == {"prompt": "Fewer.", **{key: params[key] for key in params if key != "compression_prompt"}}
        assert read.ignored == ()
    # Without a prompt the product compresses nothing.
    assert (
        rewriting.idle(rewriting.parameters.read('{"compression_target": 60}').policy) == "skipped: there is no prompt"
    )


@rule("000-094")
def test_every_prompt_is_a_setting_or_a_file_of_ones_own() -> None:
    for one in all_strategies():
        texts = {setting.key for setting in settings_of(one.policy_type) if setting.kind == "lines"}
        assert {field for field in one.prompts.values() if field} <= texts
    for file in prompt_files():
        write_own(file, file_of(file).read_text("utf-8") + "\nOf my own.", overwrite=False)
        assert load_prompt(file).text.endswith("\nOf my own.")


VAGUE = "Tell me what happened."
DOUBTS = lint_summary_prompt(VAGUE)


@rule("000-093")
def test_whoever_compacts_meets_the_checklist(tmp_path: Path) -> None:
    file = SAMPLES / "openai-chat-tools.json"
    compacted = cwb("compact", file, "--strategy", "exchange-summary", "--set", f"prompt={VAGUE}")
    assert len(DOUBTS) == 3
    assert all(doubt in compacted.stdout for doubt in DOUBTS)
    (tmp_path / "mine.md").write_text(f"---\nid: exchange-summary\nlanguage: en\nplaceholders:\n---\n{VAGUE}")
    for command in ("show", "render"):
        seen = cwb("prompts", command, tmp_path / "mine.md", file)
        assert (seen.stderr.count("Note: "), VAGUE in seen.stdout) == (3, True)
    assert document("prompts", "show", tmp_path / "mine.md")["prompt_problems"] == list(DOUBTS)
    tried = document("compare", file, "--prompt", tmp_path / "mine.md", "--prompt", "exchange-summary")
    assert [side["prompt_problems"] for side in tried["variants"]] == [list(DOUBTS), []]


@rule("000-093")
@pytest.mark.parametrize(
    ("command", "named"),
    [
        (("compact", "--summarizer", "anthropic:claude-sonnet-4-5", "--strategy", "exchange-summary"), ""),
        (("compare", "--model", "claude-sonnet-4-5", "--summarizer", "extractive"), "anthropic:claude-sonnet-4-5: "),
    ],
)
def test_the_checklist_is_said_before_a_model_is_paid(command: tuple[str, ...], named: str) -> None:
    """There is no key here, so that nothing is sent."""
    vague = replace(load_preset("augment-example"), id="vague", policy=policy(prompt=VAGUE))
    save_preset(vague)
    found = cwb(*command, SAMPLES / "openai-chat-tools.json", "--preset", "vague")
    assert found.exit_code == 2
    said = [line for line in found.stderr.splitlines() if " is asked at " not in line]
    assert said[:3] == [f"Note: {named}{doubt}" for doubt in DOUBTS]


# --- 7 One compaction, step by step -----------------------------------------------------------------------------------


@rule("000-096")
def test_the_abridged_history_is_made_before_the_model_is_asked() -> None:
    trace: list[str] = []
    going = STRATEGY.compact(context_of([*loop("1", 2), *loop("2", 1)], split_at="2u"), policy(), trace)
    assert isinstance(next(going), tuple)
    assert [line for line in trace if line.startswith("abridged history: 1 entry")] != []


@rule("000-098")
def test_a_placeholder_in_the_summarys_own_text_stays() -> None:
    outcome, _ = run(context_of(chat(2)), "see {abridged_history}", summary_template="{summary}|{abridged_history}")
    assert outcome.messages[0].text.startswith("see {abridged_history}|<user>")


READ = Tool("Read", json.dumps({"name": "Read", "description": "Reads.", "input_schema": {"type": "object"}}))


@rule("000-099")
@pytest.mark.parametrize(("offered", "tools"), [(False, ()), (True, (READ,))])
def test_the_tools_go_with_the_request_where_that_is_wanted(offered: bool, tools: tuple[Tool, ...]) -> None:
    _, (request,) = run(context_of(chat(2), tools=(READ,)), offer_tools=offered)
    assert request.tools == tools
    assert ExchangeSummaryPolicy().offer_tools is False
    assert load_preset("augment-example").policy.offer_tools is False


@rule("000-099")
def test_e2_the_request_that_is_shown_has_the_tools_that_are_sent_and_counted() -> None:
    session = load(SAMPLES / "openai-chat-tools.json")
    names = [tool.name for tool in session.tools]
    file = SAMPLES / "openai-chat-tools.json"
    compact = ("compact", file, "--preset", "augment-example", "--json", "--full")
    (shown,) = document(*compact, "--set", "offer_tools=true")["requests"]
    assert [tool["name"] for tool in shown["tools"]] == names != []
    (without,) = document(*compact)["requests"]
    assert (without["tools"], without["text"]) == ([], shown["text"])

    context = context_at(session, 1, Counter())
    example = load_preset("augment-example").policy
    (outcome, (asked,)), (plain, (bare,)) = (
        run_strategy(STRATEGY, context, example.with_(offer_tools=offered)) for offered in (True, False)
    )
    for sent, schema in (
        (messages_prompt(asked, None), "input_schema"),
        (chat_prompt(asked, None), "function"),
        (responses_prompt(asked, None), "parameters"),
    ):
        assert [tool.get("name") or tool["function"]["name"] for tool in sent.fields["tools"]] == names
        assert all(schema in tool for tool in sent.fields["tools"])
        assert sent.messages == [{"role": "user", "content": shown["text"]}]
    assert messages_prompt(bare, None).fields == {}
    assert asked.key != bare.key, "an answer that was recorded without tools is none to this"
    read = [
        summary_usage(context, Run(one, (request,), (), (), 0.0)).read
        for one, request in ((outcome, asked), (plain, bare))
    ]
    assert read[0] - read[1] == context.tool_tokens > 0


# --- 8 Parameters -----------------------------------------------------------------------------------------------------


@rule("000-100")
def test_template_and_response_of_the_node_are_parameters() -> None:
    theirs = {"summary_node_request_message_template": "T {summary}", "summaryNodeResponseMessage": "R"}
    read = pasted({"prompt": "Summarize.", **theirs})
    outcome, _ = run_strategy(STRATEGY, context_of([*loop("1", 2), *loop("2", 1)]), read.policy, "S")
    assert [message.text for message in outcome.messages[:2]] == ["T S", "R"]


@pytest.mark.parametrize(
    "given",
    [
        pytest.param("", id="000-101 nothing"),
        pytest.param('""', id="000-101 an empty string"),
        pytest.param({"history_summary_params": ""}, id="000-101 an empty flag"),
        pytest.param({"feature_flags": {"history_summary_params": None}}, id="000-101 a null"),
        pytest.param(dict.fromkeys(EXAMPLE), id="000-102 nulls"),
        pytest.param(dict.fromkeys(EXAMPLE, ""), id="000-102 empty values"),
        pytest.param({"abridged_history_params": {"total_chars_limit": None}}, id="000-102 a null in a group"),
    ],
)
def test_empty_means_the_default(given: object) -> None:
    assert pasted(given).policy == ExchangeSummaryPolicy(min_version="3")


@rule("000-103")
def test_unknown_keys_are_passed_over_and_told() -> None:
    params = EXAMPLE | {"of_a_newer_client": 1, "abridgedHistoryParams": {"totalCharsLimit": 9, "newLimit": 2}}
    read = pasted({"version": 7, "featureFlags": {"other": True, "historySummaryParams": params}})
    assert read.ignored == ("abridged_history_params.new_limit", "of_a_newer_client", "other", "version")
    assert read.policy.abridged_history_params.total_chars_limit == 9
    assert read.note == f"ignored unknown settings: {', '.join(read.ignored)}"
    many = pasted({f"new_{n:02}": n for n in range(SHOWN_NAMES + 1)})
    assert many.note.endswith("new_10, new_11 and 1 more")


@rule("000-103")
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("{nope", "not valid JSON .line 1"),
        ("[1]", "not a JSON object"),
        ({"trigger_on_history_size_chars": -1}, "trigger_on_history_size_chars = -1"),
    ],
)
def test_what_cannot_be_read_is_refused(given: object, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        pasted(given)


@rule("000-104")
def test_a_template_without_summary_is_reported_and_the_default_taken() -> None:
    read = pasted({"prompt": "Summarize.", "summary_node_request_message_template": "no place"})
    outcome, _ = run_strategy(STRATEGY, context_of([*loop("1", 2), *loop("2", 1)]), read.policy, "S")
    assert "<supervisor>" in outcome.messages[0].text
    assert any("the default template is used" in line for line in outcome.trace)


# --- 9 How much is shown ----------------------------------------------------------------------------------------------

LONG = "first line\n" + "and more\n" * 30
TALK = (
    summary("s", LONG),
    user("u1", LONG),
    Message("a0", "assistant", (Thinking("let me think", "sig"),)),
    agent("a1", LONG, call("c1", command="ls")),
    result("r1", ("c1", LONG)),
    agent("a2", LONG),
    user("u2", LONG),
    agent("a3", LONG),
    agent("a4", LONG),
    agent("a5", "", call("c5", command="ls")),
    user("u3", "reminder", kind="meta"),
    Message("o", "user", (Opaque("novelty", {"x": 1}),)),
)
"""A summary, a turn with a call, and one that ends in a call without words."""


def shown(verbosity: Verbosity) -> list[tuple[int, str, str]]:
    """Message, voice, and `whole`, `line` or the words themselves."""
    words = {LONG: "whole", "first line …": "line"}
    found = transcript(TALK, verbosity)
    return [(entry.index, entry.voice, words.get(entry.text, entry.text)) for entry in found]


@rule("000-105", "000-106")
def test_compact_keeps_each_turns_last_answer_whole_and_the_rest_to_a_line() -> None:
    called = 'Bash {"command":"ls"}'
    assert shown("compact") == [
        (0, "summary", "whole"),
        (1, "user", "whole"),
        (3, "assistant", "line"),
        (3, "call", called),
        (4, "result", "line"),
        (5, "assistant", "whole"),
        (6, "user", "whole"),
        (7, "assistant", "line"),
        (8, "assistant", "whole"),
        (9, "call", called),
        (10, "note", "reminder"),
        (11, "note", "[novelty]"),
    ]


@rule("000-106")
def test_the_screen_shows_a_round_as_the_command_does() -> None:
    rounds = rounds_of(TALK)
    one_by_one = [
        (span.start + entry.index, entry.text)
        for span in (*rounds.rounds, rounds.current_input)
        for entry in transcript(TALK[span.start : span.stop], "compact")
    ]
    assert one_by_one == [(entry.index, entry.text) for entry in transcript(TALK, "compact")][1:]


@rule("000-107")
def test_default_shows_every_block_whole() -> None:
    found = shown("default")
    voices = "summary user thinking assistant call result assistant user assistant assistant call note note"
    assert [voice for _, voice, _ in found] == voices.split()
    assert [words for _, _, words in found].count("whole") == 8


@rule("000-108")
def test_quiet_is_the_last_answer_alone() -> None:
    assert shown("quiet") == [(8, "assistant", "whole")]
    assert list(transcript(TALK[:2], "quiet")) == []
    last = Message("a", "assistant", (Thinking("let me think", "sig"), Text("Done."), call("c", command="ls")))
    assert [(entry.voice, entry.text) for entry in transcript((last,), "quiet")] == [("assistant", "Done.")]


@rule("000-109")
@pytest.mark.parametrize("verbosity", ["compact", "quiet"])
def test_the_flags_are_those_of_the_client(verbosity: str) -> None:
    file = SAMPLES / "openai-chat-tools.json"
    found = cwb("inspect", file, f"--{verbosity}")
    assert found.exit_code == 0
    assert found.stdout == cwb("inspect", file, "--verbosity", verbosity).stdout
    assert found.stdout != cwb("inspect", file, "--verbosity", "default").stdout


# --- language --------------------------------------------------------------------------------------------------------

NUMBERS = "1 2 3 " * 2_000
FIXED = "layered"
"""The titles of its archive, and the keys of its shortened results, are those of its document (002) in any language."""


def talk_of(request: str, answer: str) -> Context:
    """Sixty rounds, each with a call; all that is in a language there is these words."""
    messages: list[Message] = []
    for n in range(60):
        messages += [user(f"u{n}", f"{request} {n}"), agent(f"c{n}", "", call(f"c{n}", "Read", file_path=f"{n}.py"))]
        messages += [result(f"r{n}", (f"c{n}", NUMBERS)), agent(f"a{n}", f"{answer} {n}")]
    return context_of(messages, memories="\n".join(f"{n} = {n * n}" for n in range(99)), manual=True, window=20_000)


def fields_of(preset: str) -> set[str]:
    return set(type(load_preset(preset).policy).model_fields)


TOLD_IN = [(name, language) for name in preset_names() if "language" in fields_of(name) for language in ("en", "zh")]
FIRST = {load_preset(name).strategy: name for name in reversed(preset_names())}
"""A preset of each strategy."""


@rule("000-120")
@pytest.mark.parametrize(
    "asked",
    mostly_full(TOLD_IN, [one for one in TOLD_IN if one[1] == "zh" or one[0] in FIRST.values()]),
    ids=["-".join(one) for one in TOLD_IN],
)
def test_prompt_labels_and_summary_are_in_the_language_that_is_asked(asked: tuple[str, Language]) -> None:
    name, language = asked
    preset = load_preset(name)
    chosen, policy = strategy(preset.strategy), preset.policy.with_(language=language)
    outcome, requests = run_strategy(chosen, talk_of("§", "±"), policy, "42")
    assert outcome.status == "compacted", outcome.reason
    assert requests
    for request in requests:
        assert request.language == language
        assert language_of(request.prompt) == language
        assert language_of(request.text.replace(NUMBERS, "")) in (language, None if name == FIXED else language)
    made = [piece.message.text for piece in outcome.pieces if isinstance(piece, NewMessage)]
    assert {language_of(text) for text in made} <= {None, "en" if name == FIXED else language}
    assert policy.with_(language=preset.policy.model_dump()["language"]) == preset.policy, "nothing is lost by asking"

    _, requests = run_strategy(chosen, talk_of("Never touch file", "I created file"), policy, "42")
    written = [extractive(request) for request in requests]
    heads = [line for one in written if isinstance(one, Summary) for line in one.text.split("\n") if line[:2] == "##"]
    bare = all(request.form == "narrative" for request in requests) or preset.strategy == "memories-rewrite"
    assert bool(heads) != bare
    if name != FIXED:
        assert {bool(re.search("[\u4e00-\u9fff]", head)) for head in heads} <= {language == "zh"}


# --- 11 to 13 Memories, other products, what could be better ----------------------------------------------------------


@rule("000-110")
def test_the_history_is_replaced_in_part_and_memories_are_rewritten_whole() -> None:
    context = context_of([*loop("1", 2), *chat(3)], memories="one\ntwo\nthree")
    outcome, _ = run(context, history_tail_size_chars_to_exclude=200)
    assert outcome.memories is None
    assert outcome.messages[-2:] == tuple(context.messages[-2:])
    rewrite = strategy("memories-rewrite")
    chosen = load_preset("augment-memories").policy.with_(max_lines=1, num_recent_memories_to_keep=0)
    outcome, _ = run_strategy(rewrite, context, chosen, "all in one")
    assert outcome.memories == "all in one"
    assert outcome.messages == tuple(context.messages)


@pytest.mark.parametrize(
    ("name", "full", "spare", "requests"),
    [
        pytest.param("claude-code", 167_000, 166_999, 1, id="000-111 the window is nearly full, a model's summary"),
        pytest.param("cursor", 180_000, 179_999, 0, id="000-112 a window that slides, no model"),
        pytest.param("cody", 160_000, 159_999, 1, id="000-113 a threshold of tokens, a model's summary"),
    ],
)
def test_how_other_products_compact(name: str, full: int, spare: int, requests: int) -> None:
    preset = load_preset(name)
    product = strategy(preset.strategy)
    for tokens, due in ((full, True), (spare, False)):
        fired = product.triggers(Gauge(tokens=tokens, limit=Window(200_000, "given")), preset.policy)
        assert any(trigger.fires for trigger in fired) is due
    context = context_of([*loop("1", 800), *chat(4)], window=50_000, manual=False)
    outcome, asked = run_strategy(product, context, preset.policy)
    assert (outcome.status, len(asked)) == ("compacted", requests)
    assert ("summary" in {message.kind for message in outcome.messages}) is bool(requests)


@rule("000-114")
def test_the_products_compare_as_in_the_document() -> None:
    found = {row["preset"]: row for row in document("list", "presets", "--properties")["properties"]}
    names = ("levels", "abridged", "versions", "cache", "tool_calls", "default_on")
    assert {preset: tuple(found[preset][name] for name in names) for preset in PRODUCTS} == PRODUCTS
    assert {preset for preset in PRODUCTS if found[preset]["method"] != "a model's summary"} == {"cursor"}


PRODUCTS = {
    "augment-example": (False, True, True, True, True, False),
    "claude-code": (False, False, False, True, False, True),
    "cursor": (False, False, False, False, False, True),
    "cody": (False, False, False, False, False, True),
}
"""Levels, abridged history, versions, cache, tool nodes, on by default."""


@rule("000-114")
def test_the_command_prints_the_comparison_as_a_table() -> None:
    printed = [" ".join(line.split()) for line in cwb("list", "presets", "--properties").stdout.splitlines()]
    assert printed == [" ".join(row) for row in (HEADS, *map(cells, all_properties()))]


@rule("000-115")
def test_what_is_forgotten_over_two_generations_is_seen() -> None:
    """The instruction is in the first summary alone; the second is made without it."""
    said = [*chat(2), agent("x", "I decided to keep the recursive parser because it is fast."), *chat(8, "b")]
    answers = iter(["I decided to keep the recursive parser because it is fast.", "Then more was asked."])
    only_words = {"abridged_history_params": {"total_chars_limit": 0}, "history_tail_size_chars_to_exclude": 100}

    def compact(context: Context) -> Outcome:
        return run(context, next(answers), **only_words)[0]

    found = generations(context_of(said), compact, chat(20, "c"), 2)
    assert found.survival["decision"] == (1.0, 0.0)


EARLIER = [summary("s", "The old words."), *loop("1", 2), *chat(3)]


@pytest.mark.parametrize(
    ("way", "asked", "kept"),
    [
        pytest.param("drop", False, False, id="000-115 nothing is nested"),
        pytest.param("nest", True, False, id="000-116"),
        pytest.param("extend", True, True, id="000-117"),
    ],
)
def test_what_becomes_of_an_earlier_summary(way: str, asked: bool, kept: bool) -> None:
    context = context_of(EARLIER, summary_versions={"s": 3})
    outcome, (request,) = run(context, "New words.", earlier_summary=way, history_tail_size_chars_to_exclude=200)
    node = outcome.messages[0].text
    assert ("The old words." in request.text, "The old words." in node) == (asked, kept)
    assert "New words." in node
    assert "summary" not in {message.kind for message in request.messages}


@rule("000-118")
def test_exchanges_are_not_weighed_but_pinned() -> None:
    """The first request carries the weight; progressive's score keeps it, a pin does here."""
    messages = [user("rule", "Never log a token. This is important: always."), agent("ok", "Understood."), *chat(6)]
    assert run(context_of(messages))[0].fate_at(0).fate is Fate.SUMMARIZED
    assert run(context_of(messages, pins=frozenset({"rule"})))[0].fate_at(0).fate is Fate.PINNED
    weights = load_preset("progressive").policy.importance_weights  # type: ignore[attr-defined]
    weighed = scores(context_of(messages).shape, weights)
    assert weighed.index(max(weighed)) == 0


@rule("000-119")
def test_what_a_person_pins_is_not_summarized() -> None:
    messages = [user("u0", "rule"), agent("a0", "ok"), summary("s", "old"), *loop("1", 3), *loop("2", 1)]
    outcome, (request,) = run(context_of(messages, pins=frozenset({"u0"})))
    assert [outcome.fate_at(i).fate for i in (0, 2)] == [Fate.PINNED, Fate.DROPPED]
    assert outcome.messages[2] is messages[0]
    assert "u0" not in request.sources
