"""`progressive`: triggers, the ladder, what is retained."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from workbench.compaction.checks import check, failures
from workbench.compaction.context import Context
from workbench.compaction.gauge import Gauge
from workbench.compaction.lint import lint_summary_prompt
from workbench.compaction.outcome import Fate, Outcome
from workbench.compaction.preset import BUNDLED, default_preset
from workbench.compaction.progressive.rungs import incremental
from workbench.compaction.prompts import load_prompt
from workbench.compaction.strategies.progressive import STRATEGY, ProgressivePolicy, triggers
from workbench.compaction.strategy import Summary, SummaryFailed, SummaryRequest
from workbench.conformance.building import agent, call, context_of, result, summary, user
from workbench.conformance.drawn import contexts, policies
from workbench.conformance.strategies import Answered
from workbench.conformance.strategies import run as by_hand
from workbench.formats.files import load
from workbench.session import Message, Text, pairs_of

LADDER = {"manual_runs": "ladder"}
FAILED = SummaryFailed("timeout", "no answer within 120 s")


def policy(**changes: Any) -> ProgressivePolicy:
    return ProgressivePolicy.model_validate(changes)


def run(context: Context, chosen: ProgressivePolicy, answer: Answered = "S") -> tuple[Outcome, list[SummaryRequest]]:
    return by_hand(STRATEGY, context, chosen, answer)


def talk(rounds: int, size: int = 400, first: int = 1) -> list[Message]:
    """Rounds of one question and one answer, the answer of `size` characters."""
    return [
        message
        for n in range(first, first + rounds)
        for message in (user(f"u{n}", f"question {n}"), agent(f"a{n}", f"answer {n} " + "x" * size))
    ]


def coding(steps: int, size: int = 2_000) -> list[Message]:
    """One request and a loop of edits, each with its result."""
    out = [user("u1", "fix the parser")]
    for n in range(steps):
        out += [
            agent(
                f"a{n}",
                "",
                call(f"c{n}", "Edit", file_path=f"/p/f{n}.py", old_string="a", new_string="b\n" + "c" * size),
            ),
            result(f"r{n}", (f"c{n}", "ok")),
        ]
    return [*out, agent("z", "done")]


def short_of(context: Context, remaining: float) -> Context:
    """The context in a window of which `remaining` percent are left."""
    return context.with_(window=int(context.total.tokens / (1 - remaining / 100)))


def names(outcome: Outcome) -> list[str]:
    return [rung.name for rung in outcome.rungs]


# Triggers


@pytest.mark.parametrize(("tokens", "fires"), [(150_000, False), (150_001, True), (149_999, False)])
def test_fewer_than_a_quarter_of_the_window_remaining_fires(tokens: int, fires: bool) -> None:
    trigger = triggers(Gauge(tokens=tokens, window=200_000), policy())[0]
    assert trigger.fires is fires
    assert (trigger.distance <= 0) is fires
    assert trigger.limit == 150_001
    assert not triggers(Gauge(tokens=tokens, window=200_000), policy(trigger_on_remaining_tokens=False))[0].fires


def test_an_unknown_window_does_not_fire_and_says_so() -> None:
    trigger = triggers(Gauge(tokens=10**9), policy())[0]
    assert not trigger.fires
    assert "window is not known" in trigger.note


def test_the_marker_counts_in_an_assistant_message_alone() -> None:
    asked = [user("u", "please write !!!SUMMARY!!!"), agent("a", "no")]
    assert not context_of(asked).gauge().marker_seen
    said = context_of([user("u", "hi"), agent("a", "so long. !!!SUMMARY!!!"), user("v", "and?")])
    assert said.layout.shape.marker == 1
    assert triggers(said.gauge(), policy())[2].fires
    assert not triggers(said.gauge(), policy(trigger_on_marker=False))[2].fires


def test_the_command_is_a_trigger_and_manual_runs_says_where_it_leads() -> None:
    (*_, command) = triggers(Gauge(manual=True), policy())
    assert command.fires
    context = context_of(talk(30))
    assert names(run(context, policy())[0]) == ["full summary"]
    assert names(run(context, policy(**LADDER))[0])[0] == "sliding window"


@pytest.mark.parametrize("why", ["rounds", "marker"])
def test_rounds_and_marker_go_to_the_full_summary_at_once(why: str) -> None:
    messages = talk(12)
    if why == "marker":
        messages.append(agent("m", "!!!SUMMARY!!!"))
    context = short_of(context_of(messages, manual=False), 10)
    outcome, _ = run(context, policy(conversation_turn_threshold=12 if why == "rounds" else 200))
    assert names(outcome) == ["full summary"]
    assert why in outcome.rungs[0].note


def test_the_window_must_be_odd_so_that_the_roles_alternate() -> None:
    with pytest.raises(ValidationError, match="odd"):
        policy(sliding_window_size=8)
    assert policy().sliding_window_size == 9


# The chains


def asked_for(names: Sequence[str]) -> Answered:
    """Fails the requests whose purpose names one of `names`."""
    return lambda request: FAILED if any(name in request.purpose for name in names) else Summary("S")


@pytest.mark.parametrize(
    ("kind", "second", "third"),
    [
        ("code", "key events", "incremental"),
        ("analysis", "importance", "incremental"),
        ("mixed", "incremental", "importance"),
    ],
)
def test_a_chain_goes_on_until_a_rung_changes_something(kind: str, second: str, third: str) -> None:
    context = short_of(context_of(talk(45), manual=False), 20)
    base = policy(task_type=kind, incremental_summary_chunk_size=20)
    failing = {"sliding window": "older than the window", "key events": "no key event", "importance": "less important"}
    failing["incremental"] = "chunk"
    outcome, _ = run(context, base, asked_for([failing["sliding window"]]))
    assert names(outcome)[:2] == ["sliding window", second]
    assert outcome.status == "fallback"
    outcome, _ = run(context, base, asked_for([failing["sliding window"], failing[second]]))
    assert names(outcome)[:3] == ["sliding window", second, third]


def test_the_first_rung_that_changes_something_ends_the_chain_when_it_is_enough() -> None:
    context = short_of(context_of(talk(30), manual=False), 20)
    outcome, requests = run(context, policy())
    assert names(outcome) == ["sliding window"]
    assert outcome.rungs[0].after < outcome.rungs[0].before
    assert "enough" in outcome.rungs[0].note
    assert [request.exact for request in requests] == [True]
    assert outcome.status == "compacted"


def test_still_under_the_threshold_means_sliding_window_then_importance_then_everything() -> None:
    messages = [user("u0", "start"), *talk(14, size=4_000)[1:]]
    context = context_of(messages, manual=False)
    context = context.with_(window=context.total.tokens // 4)
    outcome, requests = run(context, policy(task_type="conversation"))
    assert names(outcome) == ["sliding window", "sliding window", "importance", "full summary"]
    assert "still under 25 %" in outcome.rungs[0].note
    assert "nothing to summarize" in outcome.rungs[1].note
    assert "full summary next" in outcome.rungs[2].note
    assert [request.exact for request in requests] == [True, False, False][: len(requests)]
    assert [r.before for r in outcome.rungs[1:]] == [r.after for r in outcome.rungs[:-1]]
    assert sum(outcome.fate_counts.values()) == len(messages)


def test_a_chain_whose_every_rung_failed_leads_to_the_fallback_order() -> None:
    context = short_of(context_of(talk(5), manual=False), 20)
    outcome, _ = run(context, policy(task_type="code"), FAILED)
    chain = ["sliding window", "key events", "incremental"]
    assert names(outcome) == [*chain, "sliding window", "importance", "key events", "incremental", "full summary"]
    assert outcome.status == "unchanged"
    assert "timeout" in outcome.reason
    assert tuple(outcome.messages) == tuple(context.messages)
    assert "fallback order next" in outcome.rungs[2].note


def test_a_rung_that_would_not_be_smaller_is_taken_back() -> None:
    context = short_of(context_of(talk(8, size=20), manual=False), 20)
    outcome, _ = run(context, policy(task_type="conversation"), "long " * 2_000)
    assert "taken back" in outcome.rungs[0].note
    assert names(outcome)[-1] == "full summary"
    assert outcome.status == "not_smaller"


def test_a_rung_of_the_same_size_is_taken_back_and_one_a_token_smaller_stands() -> None:
    context = short_of(context_of(talk(12), manual=False), 20)
    (rung, *_) = run(context, policy(), "x" * 400)[0].rungs
    same = 400 + 4 * (rung.before - rung.after)
    for length, after, stands in ((same, rung.before, False), (same - 4, rung.before - 1, True)):
        (first, *_) = run(context, policy(), "x" * length)[0].rungs
        assert (first.name, first.after, "taken back" not in first.note) == ("sliding window", after, stands)


def test_what_lighter_rungs_did_stands_when_the_full_summary_fails() -> None:
    context = context_of(talk(14, size=4_000), manual=False)
    context = context.with_(window=context.total.tokens // 4)
    outcome, _ = run(context, policy(), asked_for(["whole"]))
    assert outcome.status == "fallback"
    assert "timeout" in outcome.reason
    assert "done by sliding window" in outcome.reason
    assert any(message.kind == "summary" for message in outcome.messages)


def test_a_failed_full_summary_at_command_gives_the_input_back() -> None:
    context = context_of(talk(14))
    outcome, _ = run(context, policy(), FAILED)
    assert (outcome.status, tuple(outcome.messages)) == ("unchanged", tuple(context.messages))
    assert "timeout" in outcome.reason


# The rungs


def test_the_sliding_window_keeps_the_last_nine_messages() -> None:
    messages = talk(20)
    outcome, (request,) = run(context_of(messages), policy(**LADDER))
    first, made, *tail = outcome.messages
    assert first is messages[0]
    assert (made.role, made.kind) == ("user", "summary")
    assert tail == messages[-9:]
    assert [m.role for m in tail] == ["assistant", "user"] * 4 + ["assistant"]
    assert request.sources == tuple(m.id for m in messages[1:-9])


def test_the_window_widens_to_keep_a_tool_pair_whole() -> None:
    messages = [*talk(10), user("q", "run it")]
    for n in range(6):
        calls = [call(f"c{n}-{k}", command="x" * 300) for k in range(2)]
        messages += [agent(f"t{n}", "", *calls), *(result(f"t{n}-{k}", (f"c{n}-{k}", "y" * 300)) for k in range(2))]
    outcome, _ = run(context_of(messages), policy(sliding_window_size=7, task_type="unknown", **LADDER))
    assert [m.id for m in outcome.messages[-9:]] == [m.id for m in messages[-9:]], "7 would cut the third pair"
    assert {p.id for p in pairs_of(outcome.messages) if p.call is None or p.result is None} == set()
    assert any("2 more to keep tool pairs whole" in rung.note for rung in outcome.rungs)


def test_41_rounds_are_chunks_of_20_20_and_1() -> None:
    messages = talk(41)
    outcome, requests = run(
        context_of(messages), policy(task_type="mixed", **LADDER), asked_for(["older than the window"])
    )
    assert "41 rounds in chunks of 20: 20, 20, 1" in outcome.rungs[1].note
    assert [request.purpose for request in requests[1:]] == ["summary of chunk 1 of 3", "summary of chunk 2 of 3"]
    assert requests[1].sources == tuple(m.id for m in messages[1:40])
    assert requests[2].sources == tuple(m.id for m in messages[40:80])
    assert [m.kind for m in outcome.messages] == ["normal", "summary", "summary", "normal", "normal"]
    assert outcome.messages[-2:] == tuple(messages[-2:])


def test_the_first_chunk_has_what_stands_before_the_first_round() -> None:
    messages = [user("m", "injected", kind="meta"), *talk(3)]
    cut = incremental(context_of(messages), frozenset(), 1)
    assert [group.indexes for group in cut.groups] == [(0, 1, 2), (3, 4)]


def test_a_chunk_whose_summary_fails_stays_whole() -> None:
    messages = talk(41)
    outcome, _ = run(
        context_of(messages), policy(task_type="mixed", **LADDER), asked_for(["older than the window", "chunk 1"])
    )
    assert outcome.messages[:40] == tuple(messages[:40])
    assert outcome.messages[40].kind == "summary"
    assert any("chunk 1 of 3: its" in line and "the summary failed" in line for line in outcome.trace)


def test_importance_keeps_high_scores_and_the_newest_five_of_the_rest() -> None:
    messages = [
        user("u1", "go"),
        *(agent(f"a{n}", f"step {n} " + "y" * 200) for n in range(20)),
        user("u2", "Never log tokens."),
    ]
    messages += [agent(f"b{n}", "and " + "z" * 200) for n in range(3)]
    only = dict.fromkeys(("length", "recency", "reuse", "decision"), 0)
    outcome, _ = run(
        context_of(messages),
        policy(task_type="unknown", importance_weights=only, **LADDER),
        asked_for(["older than the window"]),
    )
    kept = [m.id for m in outcome.messages if m.kind != "summary"]
    assert kept == ["u1", "a18", "a19", "u2", "b0", "b1", "b2"]
    assert "2 of 25 messages (8 %) score 3 or more" in outcome.rungs[1].note


def test_key_events_keep_what_changed_something_and_the_newest_five() -> None:
    messages = [user("u1", "look, then fix")]
    for n in range(12):
        name = "Edit" if n in (2, 5) else "Read"
        messages += [
            agent(f"a{n}", "", call(f"c{n}", name, file_path=f"/p/{n}.py")),
            result(f"r{n}", (f"c{n}", "x" * 500)),
        ]
    outcome, _ = run(context_of(messages), policy(task_type="code", **LADDER), asked_for(["older than the window"]))
    kept = [m.id for m in outcome.messages if m.kind != "summary"]
    assert kept == ["u1", "a2", "r2", "a5", "r5", "a9", "r9", "a10", "r10", "a11", "r11"], "five, and a9 for its result"


def test_the_full_summary_takes_everything_and_the_counter_restarts() -> None:
    messages = [Message("s", "system", (Text("You are an agent."),)), *talk(30)]
    outcome, (request,) = run(context_of(messages), policy())
    system, made = outcome.messages
    assert system is messages[0]
    assert (made.role, made.kind) == ("user", "summary")
    assert request.sources == tuple(m.id for m in messages[1:])
    assert outcome.provenance[1][0].start == 1
    assert outcome.provenance[1][0].stop == len(messages)
    assert "rounds: 30 → 0" in outcome.trace


def test_the_current_input_and_open_calls_are_not_history() -> None:
    asked = [*talk(12), user("now", "what next?")]
    assert run(context_of(asked), policy())[0].messages[-1] is asked[-1]
    calling = [*talk(12), user("now", "run"), agent("open", "", call("c1"), call("c2")), result("half", ("c1", "ok"))]
    outcome, _ = run(context_of(calling), policy())
    assert outcome.messages[-2:] == tuple(calling[-2:])
    assert run(context_of(asked[-1:]), policy())[0].status == "unchanged"


# What is retained


def busy() -> list[Message]:
    """A session with everything that is retained."""
    todo = [{"content": "parse", "status": "completed"}, {"content": "write", "status": "in_progress"}]
    return [
        Message("sys", "system", (Text("You are an agent."),)),
        user("first", "Build the\nparser."),
        agent("e", "", call("c1", "Edit", file_path="/p/a.py", old_string="one\ntwo", new_string="one\n2\n3")),
        result("er", ("c1", "ok")),
        agent("w", "", call("c2", "Write", file_path="/p/b.py", content="x\ny\n")),
        result("wr", ("c2", "ok")),
        agent("f", "", call("c3", "Edit", file_path="/p/a.py", old_string="q", new_string="r")),
        result("fr", ("c3", "no such text"), error=True),
        user("pin", "By the way: <Pin>never touch main</Pin>, ok?"),
        agent("t", "", call("c4", "TodoWrite", todos=todo)),
        result("tr", ("c4", "updated")),
        agent("t2", "fine " + "z" * 900),
        *talk(15),
    ]


def test_a_light_rung_keeps_the_messages() -> None:
    messages = busy()
    outcome, _ = run(context_of(messages), policy(**LADDER))
    assert names(outcome) == ["sliding window"]
    ids = [m.id for m in outcome.messages]
    assert ids[:2] == ["sys", "first"]
    assert {"pin", "t", "tr"} <= set(ids)
    text = next(m.text for m in outcome.messages if m.kind == "summary")
    assert "<changes>\n/p/a.py +2 −1 (1×)\n/p/b.py +2 −0 (1×)\n</changes>" in text
    assert "<original_request>" not in text
    assert "<tasks>" not in text


def test_the_full_summary_carries_it_as_text_the_first_request_first() -> None:
    memories = "\n".join(f"memory {n}" for n in range(1, 13))
    outcome, _ = run(context_of(busy(), memories=memories), policy(), "The parser is half done.")
    text = outcome.messages[1].text
    kept = "\n".join(f"memory {n}" for n in range(3, 13))
    assert (
        "<summary>\nThe parser is half done.\n</summary>\n\nKept word for word beside the summary:\n"
        "<original_request>\nBuild the\nparser.\n</original_request>\n"
        "<pinned>\nnever touch main\n</pinned>\n"
        f"<recent_memories>\n{kept}\n</recent_memories>\n"
        "<tasks>\n[x] parse\n[~] write\n</tasks>\n"
        "<changes>\n/p/a.py +2 −1 (1×)\n/p/b.py +2 −0 (1×)\n</changes>\n" in text
    )
    assert any("10 of 12 memories, 2 tasks, the changes of 2 files, +4 −1 lines" in line for line in outcome.trace)
    assert "memory 3\n" not in run(context_of(busy(), memories=memories), policy(recent_memories=2))[0].messages[1].text


def test_pins_stay_as_messages_with_their_pairs_whatever_rung_runs() -> None:
    messages = busy()
    for chosen in (policy(), policy(**LADDER)):
        outcome, _ = run(context_of(messages, pins=frozenset({"er"})), chosen)
        assert messages[2] in outcome.messages
        assert messages[3] in outcome.messages
        assert [outcome.fate_at(i).fate for i in (2, 3)] == [Fate.PINNED, Fate.PINNED]


def test_without_a_user_at_hand_the_whole_requirement_is_pinned() -> None:
    messages = [user("r1", "Do A."), user("r2", "And B."), *talk(12)]
    outcome, _ = run(context_of(messages), policy(non_interactive=True))
    assert [m.id for m in outcome.messages[:3]] == ["r1", "r2", "u1"]
    assert outcome.fate_at(0).fate is Fate.PINNED
    assert "<original_request>" not in outcome.messages[3].text


def test_what_is_retained_lasts_through_generations() -> None:
    context = context_of(busy(), memories="m")
    for generation in range(3):
        outcome, _ = run(context, policy(), f"generation {generation}")
        assert outcome.status == "compacted"
        after = context.from_outcome(outcome).messages
        context = context_of([*after, *talk(20, first=100 * (generation + 1))], memories="m")
    (text,) = [m.text for m in after if m.kind == "summary"]
    assert "generation 2" in text
    assert "<original_request>\nBuild the\nparser.\n</original_request>" in text
    assert "<pinned>\nnever touch main\n</pinned>" in text
    assert "/p/a.py +2 −1 (1×)" in text
    assert "[~] write" in text


def test_a_light_rung_after_a_full_summary_carries_its_texts_on() -> None:
    first, _ = run(context_of(busy()), policy())
    more = [*first.messages, *talk(20, first=50)]
    outcome, _ = run(context_of(more), policy(**LADDER), "LIGHT")
    (text,) = [m.text for m in outcome.messages if m.kind == "summary"]
    assert "LIGHT" in text
    assert "<original_request>\nBuild the\nparser." in text
    assert "[~] write" in text


# Earlier summaries


@pytest.mark.parametrize("choice", ["drop", "keep", "nest", "extend"])
@pytest.mark.parametrize("runs", ["full", "ladder"])
def test_what_becomes_of_an_earlier_summary(choice: str, runs: str) -> None:
    messages = [summary("s", "<summary>\nOLD TEXT\n</summary>"), *talk(14)]
    outcome, (request, *_) = run(context_of(messages), policy(earlier_summary=choice, manual_runs=runs), "NEW TEXT")
    assert ("OLD TEXT" in request.text) is (choice in ("nest", "extend"))
    assert (messages[0] in outcome.messages) is (choice == "keep")
    made = next(m.text for m in outcome.messages if "NEW TEXT" in m.text)
    assert ("OLD TEXT" in made) is (choice == "extend")
    assert outcome.fate_at(0).fate is {"drop": Fate.DROPPED, "keep": Fate.KEPT}.get(choice, Fate.SUMMARIZED)


def test_nest_is_the_default_and_a_summary_of_this_run_is_never_dropped() -> None:
    assert policy().earlier_summary == "nest"
    context = context_of(talk(14, size=4_000), manual=False)
    context = context.with_(window=context.total.tokens // 4)
    outcome, requests = run(context, policy(earlier_summary="drop"), "RUNG TEXT")
    assert names(outcome)[-1] == "full summary"
    assert "RUNG TEXT" in requests[-1].text


def test_an_earlier_summary_alone_is_nothing_to_compact() -> None:
    outcome, requests = run(context_of([summary("s", "old")]), policy())
    assert (outcome.status, requests) == ("unchanged", [])
    assert outcome.reason.startswith("nothing to compact")


def test_a_call_that_an_earlier_summary_holds_stays_with_its_result() -> None:
    node = [summary("s:request", "old"), agent("s:response", "Ok.", call("c1"), kind="summary")]
    messages = [*node, result("r", ("c1", "x")), *talk(14)]
    for chosen in (policy(), policy(**LADDER)):
        outcome, _ = run(context_of(messages, pins=frozenset({"r"})), chosen)
        assert {"s:response", "r"} <= {m.id for m in outcome.messages}
        assert {"s:response", "r"}.isdisjoint(m.id for m in run(context_of(messages), chosen)[0].messages)
    for chosen in (policy(earlier_summary="keep"), policy(earlier_summary="keep", **LADDER)):
        outcome, _ = run(context_of(messages), chosen)
        assert {"s:request", "s:response", "r"} <= {m.id for m in outcome.messages}


# Requests and wording


def test_summaries_are_cut_and_the_trace_says_so() -> None:
    outcome, _ = run(context_of(talk(14)), policy(summary_char_limit=40), "One. " * 40)
    assert "full summary: the summary's 199 characters were cut to 40" in outcome.trace
    assert any(line.startswith("full summary: 28 of 28") and "fired by command" in line for line in outcome.trace)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_prompts_and_nodes_of_both_languages(language: str) -> None:
    for name in ("rung", "full"):
        assert lint_summary_prompt(load_prompt(f"progressive-{name}.{language}.md").text) == ()
        node = load_prompt(f"progressive-{name}-node.{language}.md")
        assert node.placeholders == ("summary", "retained")
    outcome, (request,) = run(context_of(talk(14)), policy(language=language))
    assert request.language == language
    assert ("摘要" in request.text) is (language == "zh")
    assert ("摘要" in outcome.messages[0].text) is (language == "zh")
    _, (asked,) = run(context_of(talk(14)), policy(full_prompt="Mine."))
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
    everything = ["older than", "no key event", "less important", "chunk"]
    for spared in (*everything, "whole"):
        chosen = policy(task_type="code", incremental_summary_chunk_size=1)
        answer = asked_for([word for word in everything if word != spared])
        outcome, requests = run(short_of(context, 1), chosen, answer)
        assert failures(check(context, outcome, STRATEGY, chosen)) == ()
        assert outcome.status in ("compacted", "fallback")
        assert spared in requests[-1].purpose


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
    context = context.with_(window=max(1, int(context.total.tokens * share)), memories="a\n\nb")
    number = count()
    outcome, _ = run(context, chosen, lambda request: FAILED if next(number) in fails else Summary("A summary."))
    assert failures(check(context, outcome, STRATEGY, chosen)) == ()
    if outcome.status in ("compacted", "fallback"):
        assert context.outcome_size(outcome).tokens < context.total.tokens
    if outcome.rungs and outcome.status != "unchanged":
        assert outcome.rungs[0].before == context.total.tokens
    first = next((m for m in context.messages if m.starts_round), None)
    if first is not None and outcome.status != "unchanged":
        assert first in outcome.messages or any(first.text in m.text for m in outcome.messages if m.kind == "summary")
