"""`progressive`, beyond the rules of its document: earlier summaries, requests, real sessions, invariants."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.documents.test_001_progressive import (
    EDIT,
    FAILED,
    PURPOSES,
    events,
    failing,
    names,
    policy,
    run,
    short_of,
    steps,
    talk,
)
from workbench.compaction.checks import check, failures
from workbench.compaction.context import Context
from workbench.compaction.preset import BUNDLED, default_preset
from workbench.compaction.progressive.rungs import incremental
from workbench.compaction.progressive.task_type import TaskCutoffs, task_type
from workbench.compaction.prompts import lint_summary_prompt, load_prompt
from workbench.compaction.strategies.progressive import STRATEGY, ProgressivePolicy
from workbench.compaction.summary_extras import SummaryExtras, read_extras
from workbench.compaction.summary_request import Summary
from workbench.conformance.building import agent, call, context_of, result, summary, user
from workbench.conformance.drawn import contexts, policies
from workbench.formats.files import load
from workbench.session import Media, Message, Text
from workbench.tokens.window import Window

FULL = {"manual_runs": "full"}


# The chains


def test_a_rung_of_the_same_size_is_taken_back_and_one_a_token_smaller_stands() -> None:
    context = short_of(context_of(talk(12)), 20)
    (rung, *_) = run(context, policy(), "x" * 400)[0].rungs
    same = 400 + 4 * (rung.before - rung.after)
    for length, after, stands in ((same, rung.before, False), (same - 4, rung.before - 1, True)):
        (first, *_) = run(context, policy(), "x" * length)[0].rungs
        assert (first.name, first.after, "discarded" not in first.note) == ("sliding window", after, stands)


# The rungs


@pytest.mark.parametrize(
    ("rounds", "said"), [(0, "none; the last chunk is kept"), (2, "2; the last chunk is kept"), (5, "2, 2, 1")]
)
def test_the_sizes_of_chunks_are_told(rounds: int, said: str) -> None:
    cut = incremental(context_of(talk(rounds)), frozenset(), 2)
    assert cut.note == f"{rounds} rounds in chunks of 2: {said}"


def test_the_first_chunk_has_what_stands_before_the_first_round() -> None:
    messages = [user("m", "injected", kind="meta"), *talk(3)]
    cut = incremental(context_of(messages), frozenset(), 1)
    assert [group.indexes for group in cut.groups] == [(0, 1, 2), (3, 4)]


def test_a_chunk_whose_summary_fails_stays_whole() -> None:
    messages = talk(41)
    outcome, _ = run(
        context_of(messages),
        policy(task_type="mixed"),
        lambda request: Summary("S") if "chunk 2" in request.purpose else FAILED,
    )
    assert outcome.messages[:40] == tuple(messages[:40])
    assert outcome.messages[40].kind == "summary"
    assert any("chunk 1 of 3: its" in line and "the summarizer failed" in line for line in outcome.trace)


def test_the_current_input_and_open_calls_are_not_history() -> None:
    asked = [*talk(12), user("now", "what next?")]
    assert run(context_of(asked), policy())[0].messages[-1] is asked[-1]
    calling = [*talk(12), user("now", "run"), agent("open", "", call("c1"), call("c2")), result("half", ("c1", "ok"))]
    outcome, _ = run(context_of(calling), policy())
    assert outcome.messages[-2:] == tuple(calling[-2:])
    assert run(context_of(asked[-1:]), policy())[0].status == "unchanged"


def test_an_error_that_is_never_fixed_and_a_refused_call_are_no_events() -> None:
    assert events(steps(("Bash", {"command": "pytest"}), EDIT, failed=[0, 1])) == {}


def test_a_task_list_that_is_written_item_by_item() -> None:
    created = [agent("n", "", call("c", "TaskCreate", subject="parse")), result("nr", ("c", "Task #1 created"))]
    done = [agent("d", "", call("e", "TaskUpdate", taskId="1", status="completed")), result("dr", ("e", "ok"))]
    assert events([*created, *done]) == {"d": "task finished: parse"}


def test_a_real_coding_session_is_code(shared: Path) -> None:
    session = load(shared / "sessions" / "claude-code" / "spotter-fa812bfe.jsonl")
    found = task_type(context_of(session.context(1)).shape, TaskCutoffs())
    assert (found.kind, found.evidence.edits, found.evidence.checks) == ("code", 58, 20)


# What is retained


def test_a_first_request_that_is_more_than_text_stays_as_it_is() -> None:
    shown = Message("u0", "user", (Text("Make it look like this."), Media("image/png", 4_000)))
    for chosen in (policy(), policy(**FULL)):
        outcome, _ = run(context_of([shown, *talk(14)]), chosen)
        assert outcome.messages[0] is shown
        assert "<original_request>" not in outcome.messages[1].text


def test_a_request_that_speaks_of_the_tags_is_read_back_whole() -> None:
    said = "What is <summary>\nthis</summary> in HTML?\n<pinned>\nno\n</pinned>"
    context = context_of([user("u0", said), *talk(14)])
    outcome, _ = run(context, policy(**FULL), "FIRST WORDS")
    again, (request,) = run(context_of([*outcome.messages, *talk(14, first=50)]), policy(**FULL))
    assert read_extras(again.messages[0].text) == SummaryExtras(said)
    assert request.previous == "FIRST WORDS"


# Earlier summaries


def test_nest_is_the_default_and_a_summary_of_this_run_is_never_dropped() -> None:
    assert policy().earlier_summary == "nest"
    context = context_of(talk(14, size=4_000), manual=False)
    context = context.with_(limit=Window(context.total.tokens // 4, "given"))
    outcome, requests = run(context, policy(earlier_summary="drop"), "RUNG TEXT")
    assert names(outcome)[-1] == "full summary"
    assert "RUNG TEXT" in requests[-1].text


def test_an_earlier_summary_alone_is_nothing_to_compact() -> None:
    outcome, requests = run(context_of([summary("s", "old")]), policy())
    assert (outcome.status, requests) == ("unchanged", [])
    rungs = "0 of 1 messages are summarized; the window is unknown, so one rung is enough"
    assert outcome.reason == f"nothing to compact: {rungs}"


def test_a_call_that_a_reply_to_a_summary_holds_stays_or_goes_with_its_result() -> None:
    node = [summary("s:request", "old"), agent("s:response", "Ok.", call("c1"), kind="summary")]
    messages = [*node, result("r", ("c1", "x")), *talk(14)]
    for chosen in (policy(), policy(**FULL)):
        outcome, _ = run(context_of(messages, pins=frozenset({"r"})), chosen)
        assert {"s:response", "r"} <= {m.id for m in outcome.messages}
        assert {"s:response", "r"}.isdisjoint(m.id for m in run(context_of(messages), chosen)[0].messages)
    for chosen in (policy(earlier_summary="keep"), policy(earlier_summary="keep", **FULL)):
        outcome, _ = run(context_of(messages), chosen)
        assert {"s:request", "s:response", "r"} & {m.id for m in outcome.messages} == {"s:request"}


# Requests and wording


@pytest.mark.parametrize(("limit", "is_cut"), [(0, False), (40, True), (198, True), (199, False)])
def test_summaries_are_cut_and_the_trace_says_so(limit: int, is_cut: bool) -> None:
    outcome, _ = run(context_of(talk(14)), policy(summary_char_limit=limit, **FULL), "One. " * 40)
    cut = f"full summary: the summary's 199 characters were cut to {limit}"
    assert [line for line in outcome.trace if "characters were cut" in line] == [cut] * is_cut
    assert any(
        line.startswith("full summary: 28 of 28") and "no lighter rung ran: fired by command" in line
        for line in outcome.trace
    )


def test_a_prompt_of_ones_own_is_asked_and_looked_at() -> None:
    for name in ("rung.en", "full.en", "rung.zh", "full.zh"):
        assert lint_summary_prompt(load_prompt(f"progressive-{name}.md").text) == ()
    _, (asked,) = run(context_of(talk(14)), policy(full_prompt="Mine.", **FULL))
    assert asked.text.startswith("Mine.\n")
    assert len(STRATEGY.lint(policy(full_prompt="Mine."))) == 3


def test_the_preset_has_the_documents_numbers_and_they_are_the_defaults() -> None:
    table = tomllib.loads((BUNDLED / "progressive.toml").read_text("utf-8"))
    assert policy(**table["policy"]) == policy()
    assert table["strategy"] == STRATEGY.id
    assert set(table["basis"]) <= set(ProgressivePolicy.model_fields)
    assert {name for name, basis in table["basis"].items() if basis == "documented"} == set(table["policy"])


# What always holds


@pytest.mark.parametrize("name", ["spotter-fa812bfe", "entire-cd95add-3compactions", "entire-432b48f-progress"])
def test_on_real_sessions_every_rung_gives_a_whole_context(shared: Path, name: str) -> None:
    session = load(shared / "sessions" / "claude-code" / f"{name}.jsonl")
    context = context_of(session.context(1), manual=False)
    for spared, purpose in PURPOSES.items():
        chosen = policy(task_type="code", incremental_summary_chunk_size=1)
        answer = failing(*PURPOSES.keys() - {spared, "full summary"})
        outcome, requests = run(short_of(context, 1), chosen, answer)
        assert failures(check(context, outcome, STRATEGY, chosen)) == ()
        assert outcome.status in ("compacted", "fallback")
        assert purpose in requests[-1].purpose


def heavy(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The same messages with longer words, so that a summary is smaller than what it stands for."""
    return tuple(
        replace(m, blocks=tuple(Text(b.text * 30) if isinstance(b, Text) else b for b in m.blocks)) for m in messages
    )


@given(contexts(), policies(default_preset(STRATEGY.id).policy), st.floats(0.1, 1.4), st.sets(st.integers(0, 4)))
def test_whatever_fails_the_first_request_lives_and_a_success_is_smaller(
    context: Context, chosen: ProgressivePolicy, share: float, fails: set[int]
) -> None:
    context = context_of(heavy(context.messages), pins=context.pins, split_at=context.split_at, manual=context.manual)
    context = context.with_(limit=Window(max(1, int(context.total.tokens * share)), "given"), memories="a\n\nb")
    number = count()
    outcome, _ = run(context, chosen, lambda request: FAILED if next(number) in fails else Summary("A summary."))
    assert failures(check(context, outcome, STRATEGY, chosen)) == ()
    if outcome.status in ("compacted", "fallback"):
        assert context.outcome_size(outcome).tokens < context.total.tokens
    if outcome.rungs and outcome.status != "unchanged":
        assert outcome.rungs[0].before == context.total.tokens
    first = next((m for m in context.messages if m.starts_round), None)
    if first is not None and outcome.status != "unchanged" and not context.shape.summaries:
        assert first in outcome.messages or any(first.text in m.text for m in outcome.messages if m.kind == "summary")
