"""`layered`."""

from __future__ import annotations

import tomllib
from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.paths import ROOT
from workbench.compaction.assembled.tool_results import Limits, compressed
from workbench.compaction.checks import check, failures
from workbench.compaction.context import Context
from workbench.compaction.gauge import Gauge
from workbench.compaction.layered.archive import MARKS, SECTIONS, TITLE
from workbench.compaction.layout import Layout
from workbench.compaction.outcome import Fate, Outcome
from workbench.compaction.preset import default_preset
from workbench.compaction.prompts import load_prompt
from workbench.compaction.shape import Shape
from workbench.compaction.strategies.layered import STRATEGY, LayeredPolicy, triggers
from workbench.compaction.strategy import SummaryFailed, SummaryRequest
from workbench.conformance.building import METER, agent, call, context_of, result, summary, user
from workbench.conformance.drawn import contexts, policies
from workbench.conformance.strategies import Answered, assert_holds
from workbench.conformance.strategies import run as by_hand
from workbench.session import Message, Text, Usage
from workbench.summarizers.estimate import estimate
from workbench.summarizers.extractive import extractive
from workbench.tokens.sizes import Basis, Sizes

ANSWER = "\n\n".join(f"{title}\n* something" for title in SECTIONS)


def policy(**changes: Any) -> LayeredPolicy:
    return LayeredPolicy.model_validate(changes)


def run(context: Context, chosen: LayeredPolicy, answer: Answered = ANSWER) -> tuple[Outcome, list[SummaryRequest]]:
    return by_hand(STRATEGY, context, chosen, answer)


def one_round(name: str, calls: int = 1, text: str = "x" * 40) -> list[Message]:
    out = [user(f"{name}u", f"request {name}")]
    for n in range(calls):
        out += [
            agent(f"{name}a{n}", "", call(f"{name}c{n}", command="make")),
            result(f"{name}r{n}", (f"{name}c{n}", text)),
        ]
    return [*out, agent(f"{name}z", f"answer {name}")]


def rounds(count: int, calls: int = 1, text: str = "x" * 40) -> list[Message]:
    return [message for n in range(1, count + 1) for message in one_round(f"{n}.", calls, text)]


NOISE = "\n".join(f"compiling unit {n}" for n in range(300))


# --- trigger ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("chars", "fires"), [(2, False), (3, True), (5, True)])
def test_vector_usage_and_input_reach_the_threshold(chars: int, fires: bool) -> None:
    (trigger,) = triggers(Gauge(messages=3, last_usage=159_999, input_chars=chars), policy())
    assert trigger.fires is fires
    assert (trigger.value, trigger.limit) == (159_999 + chars // 3, 160_000)
    assert trigger.note == ""


def test_under_three_messages_and_inside_a_round_nothing_fires() -> None:
    (few,) = triggers(Gauge(messages=2, last_usage=190_000, input_chars=30), policy())
    (inside,) = triggers(Gauge(messages=9, last_usage=190_000, input_chars=0), policy())
    assert not few.fires
    assert "at least 3" in few.note
    assert not inside.fires
    assert "inside a round" in inside.note


def test_the_window_is_the_policys_or_the_sessions() -> None:
    now = Gauge(messages=9, last_usage=100_000, input_chars=30, window=100_000)
    assert triggers(now, policy())[0].limit == 160_000
    assert triggers(now, policy(context_window=0))[0].limit == 80_000
    assert triggers(replace(now, window=None), policy(context_window=0))[0].limit == 160_000
    assert triggers(now, policy(context_window=1_000_000, trigger_window_percent=50))[0].limit == 500_000


def test_without_usage_the_counted_size_stands_in_and_is_called_so() -> None:
    context = context_of([*rounds(2), user("new", "y" * 90)], manual=False)
    (trigger,) = STRATEGY.triggered(context, policy(context_window=90))
    assert trigger.value == context.total.tokens - METER.tokens(context.messages[-1]) + 90 // 3
    assert trigger.fires
    assert trigger.note.startswith("counted")


def anchored(messages: Sequence[Message], until: int) -> Context:
    tokens = array("q", map(METER.tokens, messages))
    return Context(Layout(Shape(tuple(messages)), Sizes(tokens, Basis.CALIBRATED, 0, Basis.CALIBRATED, until, METER)))


def test_usage_is_that_of_the_last_call_and_is_not_believed_after_a_compaction() -> None:
    billed = replace(agent("z", "done"), usage=Usage(input=5, cache_read=150_000, cache_write=9_000, output=994))
    error = replace(agent("e", "API error"), usage=Usage())
    context = anchored([*rounds(11), user("u", "go"), billed, error, user("new", "y" * 3)], 46)
    assert context.gauge().last_usage == 159_999
    assert STRATEGY.triggered(context, policy())[0].fires
    after = context.from_outcome(run(context, policy(min_tail_rounds=1))[0])
    assert any(message is billed for message in after.messages)
    assert after.gauge().last_usage is None


# --- split ------------------------------------------------------------------------------------------------------------


def test_vector_eleven_rounds_archive_the_first_and_ten_nothing() -> None:
    messages = rounds(11)
    outcome, (request,) = run(context_of(messages), policy())
    assert request.sources == tuple(message.id for message in messages[:4])
    archive, *tail = outcome.messages
    assert (archive.role, archive.kind, archive.id) == ("system", "summary", "summary-1.z")
    assert all(new is old for new, old in zip(tail, messages[4:], strict=True))
    assert outcome.split == 4

    outcome, requests = run(context_of(rounds(10)), policy())
    assert (outcome.status, requests) == ("unchanged", [])
    assert outcome.reason == "nothing to compact: 10 finished rounds, at least 10 stay"


def test_the_open_round_and_the_current_input_stay_besides() -> None:
    open_round = one_round("open")[:-1]
    outcome, (request,) = run(context_of([*rounds(11), *open_round]), policy())
    assert len(request.sources) == 4
    assert outcome.split == 4
    outcome, (request,) = run(context_of([*rounds(11), user("new", "next")]), policy())
    assert len(request.sources) == 4
    assert run(context_of([*rounds(10), *open_round]), policy())[1] == []


def test_a_context_that_begins_inside_a_round_is_open_until_it_is_answered() -> None:
    inside = [summary("s", "old"), *one_round("1.", text=NOISE)[1:]]
    chosen = policy(compress_results="finished")
    assert run(context_of(inside[:-1]), chosen)[0].status == "unchanged"
    assert run(context_of(inside), chosen)[0].fate_counts[Fate.COMPRESSED] == 1


@pytest.mark.parametrize(("at", "archived"), [("1.u", 0), ("2.r0", 4), ("3.u", 8), ("3.z", 8), ("new", 12)])
def test_a_split_by_hand_falls_on_the_start_of_its_round(at: str, archived: int) -> None:
    messages = [*rounds(3), user("new", "next")]
    outcome, requests = run(context_of(messages, split_at=at), policy())
    assert sum(len(request.sources) for request in requests) == archived
    assert (outcome.status == "unchanged") is (archived == 0)


def test_a_result_in_a_later_round_moves_the_cut_back() -> None:
    late = [
        user("u1", "start it"),
        agent("a1", "", call("c1", command="serve")),
        user("u2", "meanwhile"),
        agent("a2", "yes"),
        result("r1", ("c1", "x" * 900)),
        agent("a3", "it runs"),
    ]
    context = context_of([*one_round("0."), *late, *rounds(2)])
    outcome, (request,) = run(context, policy(min_tail_rounds=3))
    assert request.sources == ("0.u", "0.a0", "0.r0", "0.z")
    assert any("moved back by 1 round" in line for line in outcome.trace)


# --- the archive ------------------------------------------------------------------------------------------------------


def test_the_request_has_the_template_and_the_limits_of_the_policy() -> None:
    _, (request,) = run(context_of(rounds(11)), policy(timeout_s=30))
    assert (request.form, request.sections, request.timeout_s) == ("sections", SECTIONS, 30)
    assert LayeredPolicy().timeout_s == 120
    assert request.text.startswith(LayeredPolicy().prompt.strip())
    assert "request 1." in request.text
    assert "request 2." not in request.text


@pytest.mark.parametrize(("choice", "stays"), [("nest", True), ("extend", True), ("keep", True), ("drop", False)])
def test_an_earlier_summary_stays_after_a_time_out_unless_it_is_to_be_dropped(choice: str, stays: bool) -> None:
    context = context_of([summary("old", "what came before"), *rounds(11)])
    outcome, _ = run(context, policy(earlier_summary=choice), SummaryFailed("timeout", "no answer"))
    assert outcome.status == "fallback"
    assert [message.id for message in outcome.messages if message.kind == "summary"] == ["old"] * stays


@pytest.mark.parametrize("name", ["layered-summary.en.md", "layered-summary.zh.md"])
def test_both_prompts_hold_the_template_with_its_titles_in_order(name: str) -> None:
    text = load_prompt(name).text
    places = [text.index(title) for title in (TITLE, *SECTIONS)]
    assert places == sorted(places)
    assert "*(Contains context from [Start Time] to [Cutoff Time])*" in text
    assert STRATEGY.lint(policy(prompt=text)) == ()


def test_a_prompt_without_the_template_is_doubtful() -> None:
    assert len(STRATEGY.lint(policy(prompt="Summarize, with headings."))) == 5


def test_the_archive_has_title_dates_and_sections_in_the_templates_order() -> None:
    messages = [replace(message, time=1_700_000_000.0 + n) for n, message in enumerate(rounds(11))]
    shuffled = "\n".join(["I begin.", "## Key Insights & Decisions", "* **Decisions**: sqlite", SECTIONS[0], "* goal"])
    outcome, _ = run(context_of(messages), policy(), f"<summary>\n{TITLE}\n{shuffled}\n</summary>")
    assert outcome.messages[0].text == "\n\n".join(
        [
            f"{TITLE}\n*(Contains context from 2023-11-14 22:13 UTC to 2023-11-14 22:13 UTC)*",
            "I begin.",
            f"{SECTIONS[0]}\n* goal",
            f"{SECTIONS[1]}\n* **Stack**: (nothing recorded)\n* **Environment**: (nothing recorded)",
            f"{SECTIONS[2]}\n(nothing recorded)",
            f"{SECTIONS[3]}\n* **Decisions**: sqlite",
            f"{SECTIONS[4]}\n*(Modified files in this archive segment)*\n(nothing recorded)",
        ]
    )
    left_out = [line for line in outcome.trace if line.startswith("the answer left out")]
    assert [title for title in SECTIONS if title[4:] in "".join(left_out)] == [SECTIONS[1], SECTIONS[2], SECTIONS[4]]
    assert outcome.messages[0].time == messages[3].time


WHOLE = "\n\n".join([SECTIONS[0], *(f"{mark.under}\n{mark.line('x')}" for mark in MARKS)])


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (WHOLE, []),
        ("\n".join(SECTIONS), []),
        (WHOLE.replace("**Stack**", "**stack:**"), []),
        (WHOLE.replace("Learnings", "Lessons"), [f"“Learnings” is missing under “{SECTIONS[3][4:]}”"]),
        (WHOLE.replace("[✓]", "[x]"), [f"“[✓]” is missing under “{SECTIONS[2][4:]}”"]),
        ("Just prose.", ["the summary has none of the template's sections and stands as it came"]),
        *(
            (f"{WHOLE}\n{line}", [f"the summary states progress: “{line}”"])
            for line in (
                "* It is in progress",
                "Next steps: x",
                "* [ ] write docs",
                "下一步：部署",
                "正在修复登录",
            )
        ),
        (f"{WHOLE}\n* “what are the next steps?”, `git log --grep 'in progress'`", []),
    ],
)
def test_the_checks_warn_of_missing_labels_and_of_progress(answer: str, found: list[str]) -> None:
    context = context_of(rounds(11, text=NOISE))
    outcome, _ = run(context, policy(), answer)
    (seen,) = (one for one in check(context, outcome, STRATEGY, policy()) if one.name == "summary in its form")
    assert (seen.detail.split("; ") if seen.detail else [], seen.passed, seen.hard) == (found, not found, False)
    assert seen.messages == (("summary-1.z",) if found else ())


@pytest.mark.parametrize("summarizer", [extractive, estimate])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_summary_without_a_model_fills_the_template(language: str, summarizer: Any) -> None:
    context = context_of(rounds(12, text=NOISE))
    outcome, _ = run(context, policy(language=language), summarizer)
    assert not [line for line in outcome.trace if "no section" in line]
    assert [one.detail for one in check(context, outcome, STRATEGY, policy()) if not one.passed] == []
    lines = outcome.messages[0].text.split("\n")
    assert [title for title in lines if title.startswith("### ")] == list(SECTIONS)
    assert [mark.words for mark in MARKS for line in lines if mark.line() in line] == [mark.words for mark in MARKS]


# --- earlier summaries, pins ------------------------------------------------------------------------------------------


def test_archives_are_only_added_to_through_generations() -> None:
    context = context_of(rounds(3, text="x" * 4_000))
    for generation in range(2, 5):
        first, (request,) = run(context, policy(min_tail_rounds=1), f"{ANSWER}\n* archive {generation}")
        assert first.status == "compacted"
        assert "archive" not in request.text.partition("<conversation>")[2]
        more = [message for n in range(2) for message in one_round(f"{generation}-{n}.", text="x" * 4_000)]
        context = context_of([*first.messages, *more])
    archives = [message for message in context.messages if message.kind == "summary"]
    assert [archive.text[-9:] for archive in archives] == ["archive 2", "archive 3", "archive 4"]
    assert context.messages[: len(archives)] == tuple(archives)


def test_a_kept_summary_with_calls_keeps_their_results() -> None:
    bridge = Message("b", "assistant", (Text("Ok."), call("c0", command="ls")), kind="summary")
    messages = [summary("s", "old"), bridge, result("r", ("c0", "files")), agent("a", "go on"), *rounds(3)]
    context = context_of(messages)
    outcome, _ = run(context, policy(min_tail_rounds=1))
    assert failures(check(context, outcome, STRATEGY, policy(min_tail_rounds=1))) == ()
    assert [message.id for message in outcome.messages[:4]] == ["s", "b", "summary-2.z", "r"]


def test_pins_stand_between_archive_and_tail_and_are_never_compressed() -> None:
    messages = rounds(3, text=NOISE)
    context = context_of(messages, pins=frozenset({"1.r0", "3.r0"}))
    outcome, _ = run(context, policy(min_tail_rounds=2, compress_results="finished"))
    assert [message.id for message in outcome.messages[:4]] == ["summary-1.z", "1.a0", "1.r0", "2.u"]
    assert outcome.fate_at(2).fate is outcome.fate_at(10).fate is Fate.PINNED
    assert outcome.fate_at(6).fate is Fate.COMPRESSED


# --- tool results -----------------------------------------------------------------------------------------------------


def test_head_compresses_what_the_summarizer_reads_and_off_does_not() -> None:
    context = context_of(rounds(11, text=NOISE))
    outcome, (request,) = run(context, policy(compress_results="head"))
    assert "compiling unit 299" in request.text
    assert "compiling unit 150" not in request.text
    assert request.messages[2] is context.messages[2]
    assert request.seen is not None
    seen, of = request.seen(2)
    assert (seen < 400, of) == (True, len(NOISE))
    assert [outcome.fate_at(i).saw for i in range(4)] == ["all", "all", "part", "all"]
    assert outcome.fate_counts[Fate.COMPRESSED] == 0

    outcome, (whole,) = run(context, policy(compress_results="off"))
    assert "compiling unit 150" in whole.text
    assert outcome.fate_at(2).saw == "all"


def test_finished_compresses_the_kept_rounds_too_but_not_the_open_one() -> None:
    messages = [*rounds(11, text=NOISE), *one_round("open", text=NOISE)[:-1]]
    context = context_of(messages)
    outcome, _ = run(context, policy(compress_results="finished"))
    assert outcome.fate_counts[Fate.COMPRESSED] == 10
    by_id = {message.id: message for message in outcome.messages}
    assert "truncated" in by_id["2.r0"].results[0].text
    assert by_id["openr0"] is messages[-1]
    assert by_id["2.r0"].results[0].call_id == "2.c0"
    assert [rung.name for rung in outcome.rungs] == ["compress tool results", "archive the oldest rounds"]
    assert outcome.rungs[0].before > outcome.rungs[0].after == outcome.rungs[1].before > outcome.rungs[1].after
    assert failures(check(context, outcome, STRATEGY, policy())) == ()


def test_finished_compresses_even_where_no_round_can_be_archived() -> None:
    context = context_of(rounds(3, text=NOISE))
    outcome, requests = run(context, policy(compress_results="finished"))
    assert (outcome.status, requests) == ("compacted", [])
    assert outcome.fate_counts[Fate.COMPRESSED] == 3
    assert "nothing to compact" in outcome.reason
    again, _ = run(context.from_outcome(outcome), policy(compress_results="finished"))
    assert again.status == "unchanged"


def test_the_compressed_view_outlives_a_recount() -> None:
    layout = context_of(rounds(3, text=NOISE)).layout
    (index,) = [i for i in range(3) if layout.messages[i].results]
    first = compressed(layout.shape, Limits())(index)
    assert first is not layout.messages[index]
    assert compressed(Layout(layout.shape, layout.sizes).shape, Limits())(index) is first
    assert compressed(layout.shape, Limits(stdout_lines=3))(index) != first


def test_over_the_hard_limit_the_two_ends_are_shown_and_the_middle_is_dropped() -> None:
    context = context_of(rounds(40, text="y" * 400))
    outcome, (request,) = run(context, policy(request_char_limit=4_000, compress_results="off"))
    assert len(request.text) <= 4_000
    whole = run(context, policy(request_char_limit=10**9, compress_results="off"))[1][0].text
    start, end = request.text.split("…")
    assert whole.startswith(start)
    assert whole.endswith(end)
    assert outcome.fate_counts[Fate.DROPPED] > 0
    assert any("are not shown" in line for line in outcome.trace)


# --- failures ---------------------------------------------------------------------------------------------------------


def test_the_preset_is_the_documents_policy() -> None:
    table = tomllib.loads((ROOT / "workbench/compaction/presets/layered.toml").read_text("utf-8"))
    assert policy(**table["policy"]) == LayeredPolicy()
    assert set(table["basis"]) == set(LayeredPolicy.model_fields)


# --- what always holds ------------------------------------------------------------------------------------------------


@given(contexts(split_at=None), policies(default_preset(STRATEGY.id).policy), st.booleans())
def test_the_cut_falls_on_the_start_of_a_round(context: Context, chosen: LayeredPolicy, noisy: bool) -> None:
    """Whatever the results hold, and whether they are compressed or not."""
    if noisy:
        context = context_of([_with_noise(message) for message in context.messages], manual=context.manual)
    outcome = assert_holds(STRATEGY, context, chosen)
    if outcome.status == "compacted" and not context.pins:
        starts = {*context.shape.round_starts, context.shape.rounds.current_input.start, context.shape.lead}
        assert outcome.split in starts or context.shape.own_system


def _with_noise(message: Message) -> Message:
    if not message.results:
        return message
    return replace(message, blocks=tuple(replace(block, content=(Text(NOISE),)) for block in message.results))
