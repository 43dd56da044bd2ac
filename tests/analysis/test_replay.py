"""Replays: running sums agree with the strategies, figures add up, costs match those worked out by hand."""

from __future__ import annotations

from array import array
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.courses import counted_from, course_of_messages, session_of
from tests.commands import cwb, document
from tests.paths import SAMPLES
from tests.products import mostly_full
from workbench.analysis import replay as replaying
from workbench.analysis.compaction_cost import CacheLoss, cache_loss
from workbench.analysis.course import Course, course_of, sizes_without
from workbench.analysis.pictures import replay_picture
from workbench.analysis.replay import Replay, replay
from workbench.analysis.replay_table import cost_basis, paid_back_words, replays_table
from workbench.analysis.running_context import RunningContext
from workbench.analysis.watched_rules import judge_messages
from workbench.compaction.context import Context
from workbench.compaction.outcome import Fate, FateSpan, KeptSpan, NewMessage, Outcome
from workbench.compaction.preset import Preset, default_preset, load_preset, preset_names, save_preset
from workbench.compaction.shape import SUMMARY_MARKER
from workbench.compaction.strategies import all_strategies
from workbench.compaction.strategies import strategy as strategy_of
from workbench.compaction.strategy import Strategy, Trigger
from workbench.compaction.summary_request import Summary
from workbench.conformance.building import agent, call, context_of, result, summary, user
from workbench.conformance.drawn import conversations
from workbench.formats.files import load
from workbench.session import Message, Text
from workbench.summarizers.driver import drive
from workbench.summarizers.estimate import estimate
from workbench.summarizers.summarizer import PureSummarizer
from workbench.tokens import Counter
from workbench.tokens.cost import Rates, rates_of
from workbench.tokens.sizes import Basis
from workbench.tokens.window import Window

NEVER = {"trigger_messages": 0, "trigger_window_percent": 0}


def changed(name: str, **changes: Any) -> Preset:
    preset = load_preset(name)
    return replace(preset, policy=preset.policy.with_(**changes))


def loaded(path: Path) -> Course:
    return course_of(*counted_from(path))


@pytest.fixture(scope="module")
def overflow() -> Course:
    return loaded(SAMPLES / "claude-code-overflow.jsonl")


def talk(rounds: int, words: int = 400) -> list[Message]:
    """Rounds of four messages: request, call, result of `words` characters, answer."""
    out: list[Message] = []
    for n in range(rounds):
        out += [user(f"u{n}", f"step {n}"), agent(f"c{n}", "", call(f"t{n}", command=f"ls {n}"))]
        out += [result(f"r{n}", (f"t{n}", "x" * words)), agent(f"a{n}", f"step {n} done")]
    return out


@pytest.mark.parametrize("limit", [Window(900, "recorded"), Window(900, "table"), None])
def test_a_replay_has_the_source_of_its_window(limit: Window | None) -> None:
    running = RunningContext(course_of_messages(talk(2), 100), strategy_of("trim"), load_preset("trim").policy, limit)
    assert (running.context().limit, running.gauge().limit) == (limit, limit)


@given(conversations(max_rounds=4), st.sampled_from(all_strategies()), st.integers(0, 30))
def test_the_running_gauge_equals_the_strategys(messages: tuple[Message, ...], strategy: Strategy, cut: int) -> None:
    policy = default_preset(strategy.id).policy
    running = RunningContext(course_of_messages(messages, 100), strategy, policy, Window(1_000, "given"))
    for index in range(len(messages)):
        running.advance(running.stop + 1)
        context = running.context()
        assert running.gauge() == strategy.gauge(context, policy)
        assert running.tokens == context.total.tokens
        if index == cut:
            outcome = drive(strategy.run(context.with_(manual=True), policy), estimate).outcome
            running.replace_base(context.from_outcome(outcome))
            assert running.gauge() == strategy.gauge(running.context(), policy)


STRIDES = st.lists(st.tuples(st.integers(0, 6), st.booleans()), max_size=6)


@given(conversations(max_rounds=4), st.sampled_from(all_strategies()), STRIDES)
def test_several_messages_at_once_are_the_same_as_one_after_another(
    messages: tuple[Message, ...], strategy: Strategy, strides: list[tuple[int, bool]]
) -> None:
    policy = default_preset(strategy.id).policy
    course = course_of_messages([*messages, agent("m", SUMMARY_MARKER), user("last", "More?")], 100)
    running = RunningContext(course, strategy, policy, Window(1_000, "given"))
    for stride, compacts in (*strides, (len(course.messages), False)):
        running.advance(min(running.stop + stride, len(course.messages)))
        context = running.context()
        assert running.gauge() == strategy.gauge(context, policy)
        if compacts:
            outcome = drive(strategy.run(context.with_(manual=True), policy), estimate).outcome
            running.replace_base(context.from_outcome(outcome))


def test_triggers_that_are_read_already_are_not_read_again() -> None:
    strategy, policy = strategy_of("trim"), changed("trim", **NEVER, trigger_tokens=300).policy
    context = context_of(talk(4), manual=False)
    fires, rests = (Trigger("tokens", value, 300, "tokens", value == 300) for value in (300, 299))
    assert strategy.read_triggers(context, policy) != (fires,)
    outcomes = [drive(strategy.run(context, policy, (read,)), estimate).outcome for read in (fires, rests)]
    assert [(one.status, one.trace[0]) for one in outcomes] == [("compacted", str(fires)), ("unchanged", str(rests))]


@pytest.mark.parametrize("beyond", [-1, 0, 1])
def test_a_trigger_fires_at_the_call_that_reaches_its_limit(beyond: int) -> None:
    course = course_of_messages(talk(4), 100)
    fifth, sixth = course.plain[4:6]
    played = replay(course, changed("trim", **NEVER, trigger_tokens=fifth + beyond), None)
    assert course.plain[3] < fifth - 1
    assert fifth + 1 < sixth
    first = played.compacted[0]
    assert (first.call, first.before) == ((6, sixth) if beyond > 0 else (5, fifth))
    assert [str(one) for one in first.triggers if one.fires] == [
        f"trigger {fifth + beyond:,} tokens: now {first.before:,}, fires"
    ]


@pytest.mark.parametrize("strategy", all_strategies(), ids=[one.id for one in all_strategies()])
def test_a_system_message_after_the_first_words_does_not_lead(strategy: Strategy) -> None:
    rules = [Message(f"s{n}", "system", (Text("a rule"),)) for n in range(3)]
    policy = default_preset(strategy.id).policy
    running = RunningContext(course_of_messages([*rules[:2], *talk(1), rules[2], *talk(1)]), strategy, policy, None)
    for _ in range(11):
        running.advance(running.stop + 1)
        assert running.gauge() == strategy.gauge(running.context(), policy)


@pytest.mark.parametrize("strategy", all_strategies(), ids=[one.id for one in all_strategies()])
def test_times_usage_and_errors_are_read_alike(overflow: Course, strategy: Strategy) -> None:
    policy = default_preset(strategy.id).policy
    running = RunningContext(overflow, strategy, policy, Window(200_000, "given"))
    seen = set()
    for index in range(len(overflow.messages)):
        running.advance(running.stop + 1)
        if index % 60 in (0, 1) or index >= 469:
            now = running.gauge()
            assert now == strategy.gauge(running.context(), policy)
            seen |= {name for name in ("last_usage", "cache_age_ms") if getattr(now, name)}
    assert seen == {"last_usage", "cache_age_ms"}


def test_a_marker_is_seen_until_it_is_compacted_away() -> None:
    messages = [*talk(2, words=9_000), agent("m", f"it is time: {SUMMARY_MARKER}"), *talk(3)]
    course = course_of_messages([replace(message, id=f"{n}") for n, message in enumerate(messages)])
    played = replay(course, changed("progressive", trigger_on_rounds=False), None)
    assert [(one.call, [trigger.name for trigger in one.triggers if trigger.fires]) for one in played.compacted] == [
        (6, ["marker"])
    ]


@given(
    conversations(), st.sampled_from(("message-window", "trim", "clear-tool-results", "codex")), st.integers(20, 300)
)
def test_sizes_add_up_whatever_fires(messages: tuple[Message, ...], name: str, window: int) -> None:
    course = course_of_messages(messages, 10)
    played = replay(course, load_preset(name), window and Window(window, "given"))
    assert len(played.sent) == len(played.full) == len(course.calls)
    at = {one.call: one for one in played.compacted}
    for number, (full, sent) in enumerate(zip(played.full, played.sent, strict=True), 1):
        one = at.get(number)
        assert (full, sent) == ((one.before, one.after) if one else (full, full))
        assert sent <= full
        if number > 1:
            before, now = course.calls[number - 2], course.calls[number - 1]
            assert full == played.sent[number - 2] + sum(course.sizes.tokens[before:now])
    for one in played.compacted:
        assert one.cache.first_changed + one.cache.rebilled == one.after
        assert 0 <= one.cache.first_changed <= one.before
    assert played.over_window == sum(1 for tokens in played.sent if tokens > window)


@given(
    conversations(),
    st.sampled_from(("message-window", "trim", "clear-tool-results", "codex", "progressive")),
    st.integers(20, 300),
    st.data(),
)
def test_a_watched_sentence_is_followed_as_each_whole_context_is_judged(
    messages: tuple[Message, ...], name: str, window: int, data: st.DataObject
) -> None:
    course = course_of_messages(messages, 10)
    texts = [one.text for one in messages if any(map(str.isalnum, one.text))]
    sentence = data.draw(st.sampled_from(texts)) if texts else "Never log the refresh token."
    judged: list[tuple[str, str]] = []

    def look(context: Context, outcome: Outcome) -> None:
        judged.append((judge_messages(sentence, context.messages), judge_messages(sentence, outcome.messages)))

    played = replay(course, load_preset(name), Window(window, "given"), watched=[sentence], on_outcome=look)
    (trail,) = played.watched
    assert [(one.before, one.after) for one in trail.passed] == judged
    assert [one.at for one in trail.passed] == [one.call for one in played.compacted]


RULE = "Never log the refresh token."


@pytest.mark.parametrize(
    ("name", "answer", "again", "last", "lost", "unread"),
    [
        ("context-reset", None, (), "verbatim", None, None),  # its summary quotes the rule
        ("context-reset", estimate, (), "unknown", None, 0),  # nobody can say what stands in filler
        ("message-window", None, (), "gone", 1, None),  # the second summary has no room for it
        ("message-window", None, (RULE,), "verbatim", 1, None),
        ("message-window", estimate, (), "unknown", None, 0),
        ("message-window", estimate, (f"Not so: {RULE[6:]}",), "contradicted", None, 0),
        ("trim", estimate, (), "verbatim", None, None),
    ],
)
def test_where_a_watched_sentence_was_lost(
    name: str, answer: PureSummarizer | None, again: tuple[str, ...], last: str, lost: int | None, unread: int | None
) -> None:
    told_again = [user(f"again{n}", words) for n, words in enumerate(again)]
    course = course_of_messages([user("rule", RULE), agent("ok", "Yes."), *talk(19), *told_again])
    played = replay(course, load_preset(name), Window(3_000, "given"), answer, watched=[RULE])
    calls = [one.call for one in played.compacted]
    (trail,) = played.watched
    at = (None if lost is None else calls[lost], None if unread is None else calls[unread])
    assert (trail.last, trail.lost, trail.unread) == (last, *at)


@given(conversations())
def test_a_trigger_that_never_fires_leaves_the_plain_growth(messages: tuple[Message, ...]) -> None:
    course = course_of(session_of(messages), Counter())
    played = replay(course, changed("trim", **NEVER), Window(10, "given"))
    assert played.compacted == played.missed == ()
    assert list(played.sent) == list(course.plain)
    assert list(played.sent) == [point.tokens for point in course.growth]


@pytest.mark.parametrize("count", [1, 51, 52, 53, 55, 70])
def test_a28_every_policy_has_a_row_a_line_and_a_sign_of_its_own(count: int) -> None:
    trim = load_preset("trim")
    names = [f"mine-{number}" for number in range(count)]
    for name in names:
        save_preset(replace(trim, id=name))
    file = SAMPLES / "chat-wind.jsonl"
    command = (
        "compare",
        "--over-session",
        file,
        "--preset",
        ",".join(names),
        "--watch",
        "Always in knots, never in metres.",
    )
    assert [one["preset"] for one in document(*command)["replays"]] == names
    printed = cwb(*command, "--no-plot").stdout
    rows, watched = printed.split("\nWatched rules at the end of the session\n")
    in_table = [line.split()[:2] for line in rows.splitlines() if " mine-" in line]
    told = [(line.split()[0], line.split()[1]) for line in watched.splitlines() if " mine-" in line]
    assert [tuple(cells) for cells in in_table] == told[:count]
    assert [name for _, name in told] == names
    assert len({sign for sign, _ in told}) == count
    course = course_of(load(file), Counter())
    picture = replay_picture(course, [replay(course, load_preset(name), None) for name in names], None)
    assert [line.sign for line in picture.lines[1:]] == [sign for sign, _ in told]
    assert [name for _, name in picture.legend[1 : count + 1]] == names


def test_a_replay_sends_the_recorded_usage(overflow: Course) -> None:
    played = replay(overflow, changed("trim", **NEVER), None)
    sent = {overflow.members[index]: tokens for index, tokens in zip(overflow.answers, played.sent, strict=False)}
    billed = [p for p in overflow.growth if p.basis is Basis.EXACT]
    assert len(billed) > 100
    assert [sent[point.message] for point in billed] == [point.tokens for point in billed]


def test_a_window_of_messages_is_compacted_again_and_again() -> None:
    """Before call k stand 2k − 1 messages: 41 before call 21. Thirty of them would part a call from its result, so 29
    go and 12 stay behind the summary, led in by the user, for a call begins them; 13 calls later there are 40."""
    played = replay(course_of_messages(talk(30)), changed("message-window", safe_end="whole_pairs"), None)
    first, second = played.compacted[:2]
    assert (first.call, first.messages_before, first.messages_after, first.calls_after) == (21, 41, 14, 13)
    assert (second.call, second.messages_before, second.round) == (34, 40, 17)
    assert first.message == "c10"


OF_A_STRATEGY = {load_preset(name).strategy: name for name in reversed(preset_names())}.values()
"""A preset of each strategy."""


@pytest.mark.parametrize("name", mostly_full(preset_names(), OF_A_STRATEGY))
def test_every_preset_plays_a_real_shaped_session(overflow: Course, name: str) -> None:
    played = replay(overflow, load_preset(name), Window(100_000, "given"))
    assert len(played.sent) == len(overflow.calls)
    assert played.peak <= max(overflow.plain)
    assert played.compacted or played.missed or not any(trigger.fires for trigger in played.triggers)
    assert played.cost > 0


@pytest.mark.parametrize(
    "path",  # the largest one is played above
    mostly_full(sorted(SAMPLES.glob("*.*")), {*SAMPLES.glob("*.*")} - {SAMPLES / "claude-code-overflow.jsonl"}),
    ids=lambda path: path.name,
)
def test_every_format_is_played(path: Path) -> None:
    if path.suffix == ".md" and path.name == "README.md":
        pytest.skip("no session")
    course = loaded(path)
    ids = [message.id for message in course.messages]
    assert len(set(course.members)) == len(course.members) == len(ids)
    for strategy in all_strategies():
        played = replay(course, default_preset(strategy.id), Window(2_000, "given"))
        assert len(played.sent) == len(course.calls)


def test_recorded_summaries_are_not_replayed() -> None:
    course = loaded(SAMPLES / "codex-two-compactions.jsonl")
    assert course.numbers == (1, 2, 3)
    assert not any(message.kind == "summary" for message in course.messages[course.starts[1] :])
    assert course.starts[0] == 0 < course.starts[1] < course.starts[2]


def test_attempts_in_vain_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replaying, "FUTILE_MESSAGES", 200)
    messages = [user("u", "go")]
    for n in range(400):
        messages += [agent(f"c{n}", "", call(f"t{n}", command="ls")), result(f"r{n}", (f"t{n}", "x" * 40))]
    course = course_of_messages(messages)
    # In one round of tool calls neither finds a place to cut.
    for preset in (changed("message-window", safe_end="plain_chat"), changed("trim", trigger_messages=10)):
        played = replay(course, preset, None)
        looked_at = [2 * one.call - 1 for one in played.missed]
        assert len(looked_at) > 5
        assert played.compacted == ()
        assert sum(looked_at[:-1]) <= 200 + len(messages)
        assert sum(looked_at) > 400


# By hand: a prompt of 100 000 tokens of which 2 000 are fresh becomes 30 000, the first 10 000 of them unchanged.
LOSS = CacheLoss(before=100_000, after=30_000, first_changed=10_000)
USUAL = Rates()


def test_the_cache_loss_by_hand() -> None:
    assert (LOSS.rebilled, LOSS.saved) == (20_000, 70_000)
    # 0.1 × 10 000 + 1.25 × 20 000 − (0.1 × 98 000 + 1.25 × 2 000) = 26 000 − 12 300
    assert LOSS.extra(2_000, USUAL) == pytest.approx(13_700)
    # Each later call saves 0.1 × 70 000 = 7 000: after one it is still 6 700 behind, after two 300 ahead.
    assert LOSS.pays_off_after(2_000, USUAL) == 2
    # A summary of 3 000 tokens written from 60 000: 60 000 + 5 × 3 000 = 75 000 more, 88 700 / 7 000 → 13.
    assert LOSS.pays_off_after(2_000, USUAL, 75_000) == 13


def test_when_it_never_or_at_once_pays_off() -> None:
    assert CacheLoss(50_000, 50_000, 10_000).pays_off_after(0, USUAL) is None
    assert CacheLoss(50_000, 60_000, 10_000).pays_off_after(0, USUAL) is None
    # Nothing cached yet: writing 10 000 is cheaper than writing 50 000.
    assert CacheLoss(50_000, 10_000, 0).pays_off_after(50_000, USUAL) == 0


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.floats(0, 1), st.floats(0, 1), st.integers(0, 10**6))
def test_a_compaction_pays_off_at_the_first_call_of_equal_cost(
    before: int, after: int, share: float, new: float, summary_cost: int
) -> None:
    loss, fresh = CacheLoss(before, after, int(min(before, after) * share)), int(before * new)
    extra, turn = loss.extra(fresh, USUAL, summary_cost), loss.pays_off_after(fresh, USUAL, summary_cost)
    if turn is None:
        assert extra > 0
        assert loss.saved <= 0
    else:
        gain = USUAL.read * loss.saved
        assert extra - turn * gain <= 1e-6
        assert turn == 0 or extra - (turn - 1) * gain > -1e-6


def test_the_unchanged_prefix() -> None:
    messages = [user("u", "a" * 40), agent("a", "b" * 80), user("v", "c" * 120), agent("b", "d" * 160)]
    context = context_of(messages)
    node = NewMessage(summary("s", "e" * 20))
    fates = (FateSpan(0, 1, Fate.KEPT), FateSpan(1, 3, Fate.SUMMARIZED), FateSpan(3, 4, Fate.KEPT))
    outcome = Outcome("compacted", "", messages, (KeptSpan(0, 1), node, KeptSpan(3, 4)), fates)
    # 11 tokens stay; then 6 of the summary and 41 of the tail are written.
    assert cache_loss(context, outcome) == CacheLoss(before=11 + 21 + 31 + 41, after=58, first_changed=11)
    at_front = Outcome("compacted", "", messages, (node, KeptSpan(3, 4)), fates)
    assert cache_loss(context, at_front).first_changed == 0


def by_hand() -> Replay:
    """Messages of 396 characters are 100 tokens each, and 100 more go with every call. Before the third call five are
    there: the first stays, a summary of 156 characters (40 tokens) takes the place of three, the newest stays.

    call   sent                     read (× 0.1)                written (× 1.25)
    1      100 + 100         = 200  -                           200
    2      100 + 3 × 100     = 400  200                         200
    3      100 + 240         = 340  200 (overhead, the first)   140 (the summary, the newest)
    4      340 + 2 × 100     = 540  340                         200

    The request shows the three messages with their labels and two gaps, 3 × 396 + 8 + 2 × 13 + 2 × 2 = 1 226
    characters; of the context 1 980 are 500 tokens, so these are 310, and the prompt's 40 are 10. 320 tokens are read
    (× 1) and the 39 of the answer written (× 5).
    """
    said = [one for n in range(4) for one in (user(f"u{n}", "u" * 396), agent(f"a{n}", "a" * 396))]
    fields = {"cut": "newest_messages", "keep_messages": 1, "min_tail_messages": 1, "keep_first": 1}
    words = {"language": "en", "prompt": "p" * 40, "summary_template": "{summary}", "summary_role": "user"}
    shown = {"trigger_messages": 0, "trigger_tokens": 600, "safe_end": "whole_pairs", "text_char_limit": 400}
    asked = changed("message-window", **fields, **words, **shown)
    return replay(course_of_messages(said, 100), asked, None, lambda request: Summary("s" * 156))


def test_a_replay_with_one_compaction_costs_what_is_worked_out_by_hand() -> None:
    played = by_hand()
    assert (list(played.sent), list(played.full)) == ([200, 400, 340, 540], [200, 400, 600, 540])
    (one,) = played.compacted
    assert one.cache == CacheLoss(before=600, after=340, first_changed=200)
    assert not played.rates.known
    assert (one.request_tokens, one.summary_tokens) == (320, 39)
    assert one.summary_cost == pytest.approx((320 + 39 * 5) / 1e6)
    read, written = 200 + 200 + 340, 200 + 200 + 140 + 200
    assert played.cost == pytest.approx((0.1 * read + 1.25 * written + 320 + 39 * 5) / 1e6)
    # Without it the call had read 400 and written 200: 0.1 × 200 + 1.25 × 140 − (0.1 × 400 + 1.25 × 200) = −95.
    assert one.cache_cost == pytest.approx(-95 / 1e6)
    # With the summary's 515 it is 420 behind; each later call saves 0.1 × 260 = 26: even after 17, and two came.
    assert (one.pays_off_after, one.calls_after, one.pays_off_at) == (17, 2, None)
    # The cache holds no more than was sent before, and a prompt reads no more than it is long.
    for sent, first_changed, cost in (
        ((400,), {1: 300}, 500),
        ((100, 400), {2: 300}, 125 + 10 + 375),
        ((100, 50), {}, 125 + 5),
    ):
        changes = tuple(replace(one, call=n, cache=CacheLoss(0, 0, at)) for n, at in first_changed.items())
        played = replace(played, sent=array("q", sent), compacted=changes)
        assert played.cost == pytest.approx((cost + 515 * len(changes)) / 1e6), sent


def test_prices_are_the_models_where_they_are_known() -> None:
    assert rates_of("claude-sonnet-4-5") == Rates(3, 15, 0.3, 3.75, known=True, by="genai-prices")
    assert rates_of("gpt-4o") == Rates(2.5, 10, 1.25, 2.5, known=True, by="genai-prices")
    assert rates_of("no such model") == rates_of(None) == Rates()


def test_without_some_messages_the_growth_is_smaller_from_there_on() -> None:
    course = course_of_messages(talk(3))
    plain = list(course.plain)
    less = sizes_without(course, {2: (50, 4)})
    assert [a - b for a, b in zip(plain, less, strict=True)] == [0, 0, 50, 50, 50, 50]


def test_the_row_of_a_replay() -> None:
    played = by_hand()
    several = (played, replace(played, window=400), replace(played, window=340), replace(played, compacted=()))
    table = replays_table(several)
    first, *others = map(table.cells, table.rows)
    figures = ("1", "3", "340", "540", "540", "0", "1", "140", "1 514 in", "never")
    assert first == ("A", "message-window", *figures, "message-window")
    assert [cells[7] for cells in others] == ["1", "2", "0"]
    assert others[-1][2:9] == ("0", "", "", "540", "540", "0", "0")
    assert played.series == [(1, 200), (2, 400), (3, 600), (3, 340), (4, 540)]
    assert cost_basis(played.rates) == (
        "Cost: in input-token equivalents, because the model's cache prices are unknown "
        "(cache read × 0.1, write × 1.25, output × 5)."
    )
    known = cost_basis(rates_of("gpt-4o"))
    assert known.startswith("Cost: all prompts and summaries at the prices of genai-prices")
    assert known.endswith(", unchanged prefixes read from the cache.")


@pytest.mark.parametrize(
    ("after", "words"),
    [
        ([], ""),
        ([(1, 2)], "after 1 call"),
        ([(0, 1)], "at once"),
        ([(2, 2)], "never"),
        ([(None, 9)], "never"),
        ([(7, 9), (1, 9), (3, 9)], "after 3 calls"),
        ([(7, 9), (1, 9)], "after 7 calls"),
        ([(7, 9), (1, 9), (9, 9), (None, 9)], "after 7 calls; 2 of 4 never"),
    ],
)
def test_b13_the_median_after_which_compactions_are_paid_back(after: list[tuple[int | None, int]], words: str) -> None:
    (one,) = by_hand().compacted
    assert (
        paid_back_words(tuple(replace(one, pays_off_after=turns, calls_after=calls) for turns, calls in after)) == words
    )


@pytest.mark.parametrize(("pause", "compacts"), [(299.0, False), (300.0, True), (400.0, True)])
def test_c_the_curve_shows_what_a_timers_compaction_saved(pause: float, compacts: bool) -> None:
    """The timer goes off before the call, while nothing is sent: the call is sent the less, and the curve falls there
    by what was taken away."""
    at, messages = 0.0, []
    for message in talk(6, 8_000):
        at += pause if message.role == "user" else 1
        messages.append(replace(message, time=at))
    timer = changed(
        "augment-example",
        trigger_on_history_size_chars=0,
        history_tail_size_chars_to_exclude=1,
        min_tail_exchanges=1,
        simulate_cache_expiry=True,
        trigger_on_history_size_chars_when_cache_expiring=1,
        cache_ttl_ms=300_000,
        buffer_time_before_cache_expiration_ms=0,
    )
    played = replay(course_of_messages(messages, 100), timer, None)
    assert bool(played.compacted) == compacts
    fallen = {n: full - sent for n, (full, sent) in enumerate(zip(played.full, played.sent, strict=True), 1)}
    taken = {one.call: one.before - one.after for one in played.compacted}
    assert fallen == {n: taken.get(n, 0) for n in fallen}
    for one in played.compacted:
        points = [tokens for call, tokens in played.series if call == one.call]
        assert points == [played.sent[one.call - 1] + one.before - one.after, played.sent[one.call - 1]]
