"""`layered`."""

from __future__ import annotations

import tomllib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.documents.test_002_layered import ANSWER, NOISE, policy, rounds, run
from tests.paths import ROOT
from workbench.base.figures import grouped
from workbench.compaction.assembled.tool_results import ResultLimits, compressor
from workbench.compaction.checks import check, failures
from workbench.compaction.context import Context, Gauge, Layout
from workbench.compaction.outcome import Fate, Rung
from workbench.compaction.preset import default_preset
from workbench.compaction.strategies.layered import STRATEGY, LayeredPolicy, triggers
from workbench.compaction.strategy import ProgressStep
from workbench.compaction.summary_request import SummaryFailed
from workbench.conformance.building import agent, call, context_of, result, summary, user
from workbench.conformance.drawn import contexts, policies
from workbench.conformance.strategies import assert_holds
from workbench.conformance.strategies import run as by_hand
from workbench.session import Message, Text


def test_inside_a_round_nothing_fires() -> None:
    (inside,) = triggers(Gauge(messages=9, last_usage=190_000, input_chars=0), policy())
    assert (inside.fires, "inside a round" in inside.note) == (False, True)


@pytest.mark.parametrize(("at", "archived"), [("1.u", 0), ("2.r", 4), ("3.u", 8), ("3.z", 8), ("new", 12)])
def test_a_split_by_hand_falls_on_the_start_of_its_round(at: str, archived: int) -> None:
    _, requests = run(context_of([*rounds(3), user("new", "next")], split_at=at), policy())
    assert sum(len(request.sources) for request in requests) == archived


@pytest.mark.parametrize(("choice", "stays"), [("nest", True), ("extend", True), ("keep", True), ("drop", False)])
def test_an_earlier_summary_stays_after_a_time_out_unless_it_is_to_be_dropped(choice: str, stays: bool) -> None:
    context = context_of([summary("old", "what came before"), *rounds(11)])
    outcome, _ = run(context, policy(earlier_summary=choice), SummaryFailed("timeout", "no answer"))
    assert outcome.status == "fallback"
    assert [message.id for message in outcome.messages if message.kind == "summary"] == ["old"] * stays


def test_a_reply_to_a_summary_that_a_call_has_joined_is_a_step_of_the_agent() -> None:
    """It is archived with its result: kept beside the summary it would part from it, which an API refuses."""
    bridge = Message("b", "assistant", (Text("Ok."), call("c0", command="ls")), kind="summary")
    messages = [summary("s", "old"), bridge, result("r", ("c0", "files")), agent("a", "go on"), *rounds(3)]
    context = context_of(messages)
    outcome, _ = run(context, policy(min_tail_rounds=1))
    assert failures(check(context, outcome, STRATEGY, policy(min_tail_rounds=1))) == ()
    assert [message.id for message in outcome.messages[:3]] == ["s", "summary-2.z", "3.u"]


def test_pins_stand_between_archive_and_tail_and_are_never_compressed() -> None:
    context = context_of(rounds(3, NOISE), pins=frozenset({"1.r", "3.r"}))
    outcome, _ = run(context, policy(min_tail_rounds=2))
    assert [message.id for message in outcome.messages[:4]] == ["summary-1.z", "1.a", "1.r", "2.u"]
    assert outcome.messages[-2] is context.messages[10]
    assert [outcome.fate_at(at).fate for at in (2, 6, 10)] == [Fate.PINNED, Fate.COMPRESSED, Fate.PINNED]


def test_off_shows_the_summarizer_whole_results() -> None:
    outcome, (request,) = run(context_of(rounds(11, NOISE)), policy(compress_results="off"))
    assert "compiling unit 150" in request.text
    assert outcome.fate_at(2).saw == "all"


def test_compressing_is_a_rung_of_its_own() -> None:
    context = context_of(rounds(11, NOISE))
    outcome, _ = run(context, policy())
    by_id = {message.id: message for message in outcome.messages}
    assert by_id["2.r"].results[0].call_id == "2.c"
    assert [rung.name for rung in outcome.rungs] == ["compress tool results", "archive the oldest rounds"]
    assert outcome.rungs[0].before > outcome.rungs[0].after == outcome.rungs[1].before > outcome.rungs[1].after
    assert failures(check(context, outcome, STRATEGY, policy())) == ()


def test_finished_compresses_even_where_no_round_can_be_archived() -> None:
    context, steps = context_of(rounds(3, NOISE)), list[ProgressStep]()
    outcome, requests = by_hand(STRATEGY, context, policy(), ANSWER, steps.append)
    assert (outcome.status, requests) == ("compacted", [])
    before, after = context.total.tokens, context.outcome_size(outcome).tokens
    note = f"3 messages of the kept rounds, {grouped(before - after)} tokens less"
    assert outcome.rungs == (Rung("compress tool results", before, after, note),)
    assert steps == [ProgressStep("compress tool results", note)]
    assert outcome.fate_counts[Fate.COMPRESSED] == 3
    why = f"3 finished rounds; at least 10 are kept: {grouped(before)} → {grouped(after)} tokens"
    assert outcome.reason == f"tool results only: {why}"
    again, _ = run(context.from_outcome(outcome), policy())
    assert again.status == "unchanged"


def test_the_compressed_view_outlives_a_recount() -> None:
    layout = context_of(rounds(1, NOISE)).layout
    first = compressor(layout.shape, ResultLimits())(2)
    assert compressor(Layout(layout.shape, layout.sizes).shape, ResultLimits())(2) is first
    assert compressor(layout.shape, ResultLimits(stdout_lines=3))(2) != first


def test_over_the_hard_limit_the_two_ends_are_shown_and_the_middle_is_dropped() -> None:
    context = context_of(rounds(40, "y" * 400))
    outcome, (request,) = run(context, policy(request_char_limit=4_000, compress_results="off"))
    assert len(request.text) <= 4_000
    whole = run(context, policy(request_char_limit=10**9, compress_results="off"))[1][0].text
    start, end = request.text.split("…")
    assert whole.startswith(start)
    assert whole.endswith(end)
    assert outcome.fate_counts[Fate.DROPPED] > 0
    assert any("are not sent" in line for line in outcome.trace)


def test_the_preset_is_the_documents_policy() -> None:
    table = tomllib.loads((ROOT / "workbench/compaction/presets/layered.toml").read_text("utf-8"))
    assert policy(**table["policy"]) == LayeredPolicy()
    assert set(table["basis"]) == set(LayeredPolicy.model_fields)


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
