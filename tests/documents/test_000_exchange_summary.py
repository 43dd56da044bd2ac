"""The rules of document 000: `exchange-summary`, `memories-rewrite`, how much of a session is shown."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.courses import course_of_messages
from tests.commands import cwb, document
from tests.documents.rules import rule
from tests.paths import SAMPLES
from workbench.analysis.replay import Replay, replay
from workbench.analysis.transcript import Verbosity, transcript
from workbench.base.errors import BadInput
from workbench.compaction.context import Context
from workbench.compaction.exchange.cut import guarded_start, head_length, preprocess
from workbench.compaction.gauge import Gauge
from workbench.compaction.lint import lint_summary_prompt
from workbench.compaction.outcome import Fate, Outcome
from workbench.compaction.preset import load_preset, save_preset
from workbench.compaction.strategies import strategy
from workbench.compaction.strategies.exchange_summary import STRATEGY, ExchangeSummaryPolicy, disabled, triggers
from workbench.compaction.strategy import NOT_DUE, SHOWN_NAMES, Read, SummaryRequest
from workbench.conformance.building import agent, call, chat, context_of, loop, result, summary, user
from workbench.conformance.strategies import Answered
from workbench.conformance.strategies import run as run_strategy
from workbench.session import Message, Opaque, Thinking, rounds_of


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


def pasted(given: object) -> Read[ExchangeSummaryPolicy]:
    assert STRATEGY.pasted is not None
    return STRATEGY.pasted.read(given if isinstance(given, str) else json.dumps(given))


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
    assert disabled(read.policy) == ("" if version else "disabled: no minimum version is set (min_version)")


@rule("000-023")
def test_no_prompt_is_built_in() -> None:
    assert ExchangeSummaryPolicy().prompt == pasted({"history_summary_params": "{}"}).policy.prompt == ""


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


# --- 6 Prompts --------------------------------------------------------------------------------------------------------


@rule("000-081")
def test_the_memories_parameters_come_as_a_flag() -> None:
    params = {
        "compression_prompt": "Fewer.",
        "compression_target": 60,
        "num_recent_memories_to_keep": 12,
        "recent_memories_subprompt": "Keep these.",
    }
    rewriting = strategy("memories-rewrite")
    assert rewriting.pasted is not None
    for text in (params, {"feature_flags": {"memories_params": params}}, {"memoriesParams": json.dumps(params)}):
        read = rewriting.pasted.read(json.dumps(text))
        found = read.policy.model_dump(include={"prompt", *params})
        assert found == {"prompt": "Fewer.", **{key: params[key] for key in params if key != "compression_prompt"}}
        assert read.ignored == ()
    # Without a prompt the product compresses nothing.
    assert rewriting.idle(rewriting.pasted.read('{"compression_target": 60}').policy) == "skipped: there is no prompt"


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
    assert document("prompts", "show", tmp_path / "mine.md")["doubts"] == list(DOUBTS)
    tried = document("ab", file, "--prompt", tmp_path / "mine.md", "--prompt", "exchange-summary")
    assert [side["doubts"] for side in tried["sides"]] == [list(DOUBTS), []]


@rule("000-093")
@pytest.mark.parametrize(
    ("command", "named"),
    [
        (("compact", "--summarizer", "anthropic:claude-sonnet-4-5", "--strategy", "exchange-summary"), ""),
        (("ab", "--model", "claude-sonnet-4-5", "--summarizer", "extractive"), "anthropic:claude-sonnet-4-5: "),
    ],
)
def test_the_checklist_is_said_before_a_model_is_paid(command: tuple[str, ...], named: str) -> None:
    """There is no key here, so that nothing is sent."""
    vague = replace(load_preset("augment-example"), id="vague", policy=policy(prompt=VAGUE))
    save_preset(vague)
    found = cwb(*command, SAMPLES / "openai-chat-tools.json", "--preset", "vague")
    assert found.exit_code == 2
    assert found.stderr.splitlines()[:3] == [f"Note: {named}{doubt}" for doubt in DOUBTS]


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
    assert read.note == f"ignored, because no setting is called that: {', '.join(read.ignored)}"
    many = pasted({f"new_{n:02}": n for n in range(SHOWN_NAMES + 1)})
    assert many.note.endswith("new_10, new_11 and 1 more")


@rule("000-103")
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("{nope", "no JSON .line 1"),
        ("[1]", "no JSON object"),
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
    assert any("refused" in line for line in outcome.trace)


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


@rule("000-109")
@pytest.mark.parametrize("verbosity", ["compact", "quiet"])
def test_the_flags_are_those_of_the_client(verbosity: str) -> None:
    file = SAMPLES / "openai-chat-tools.json"
    found = cwb("inspect", file, f"--{verbosity}")
    assert found.exit_code == 0
    assert found.stdout == cwb("inspect", file, "--verbosity", verbosity).stdout
    assert found.stdout != cwb("inspect", file, "--verbosity", "default").stdout
