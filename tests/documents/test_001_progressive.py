"""The rules of document 001: `progressive`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.courses import course_of_messages
from tests.commands import cwb, document, session_lines, write_lines
from tests.documents.rules import rule
from tests.paths import ROOT, SAMPLES
from workbench.analysis.replay import replay
from workbench.base.environment import use_environment
from workbench.compaction.checks import check
from workbench.compaction.context import Context, Gauge
from workbench.compaction.edits import Edits, context_after_edits, shortened_message
from workbench.compaction.opening import context_at
from workbench.compaction.outcome import Fate, Outcome
from workbench.compaction.preset import load_preset
from workbench.compaction.progressive.key_events import events_of
from workbench.compaction.progressive.rungs import RUNGS
from workbench.compaction.progressive.task_type import TaskCutoffs, evidence_of, task_type
from workbench.compaction.shape import Shape
from workbench.compaction.strategies.progressive import CHAINS, FALLBACK, STRATEGY, ProgressivePolicy, triggers
from workbench.compaction.summary_request import Summary, SummaryFailed, SummaryRequest
from workbench.conformance.building import agent, call, context_of, result, session_of, summary, user
from workbench.conformance.strategies import Answered
from workbench.conformance.strategies import run as by_hand
from workbench.formats.files import load
from workbench.session import Epoch, Media, Message, Text
from workbench.tokens import Counter
from workbench.tokens.window import Window

FAILED = SummaryFailed("timeout", "no answer within 120 s")
PURPOSES = {
    "sliding window": "before the window",
    "importance": "less important",
    "key events": "other messages",
    "incremental": "chunk",
    "full summary": "whole",
}


def policy(**changes: Any) -> ProgressivePolicy:
    return ProgressivePolicy.model_validate(changes)


def run(context: Context, chosen: ProgressivePolicy, answer: Answered = "S") -> tuple[Outcome, list[SummaryRequest]]:
    return by_hand(STRATEGY, context, chosen, answer)


def failing(*rungs: str) -> Answered:
    """Every summary for one of these rungs fails."""
    words = [PURPOSES[rung] for rung in rungs]
    return lambda request: FAILED if any(word in request.purpose for word in words) else Summary("S")


def talk(rounds: int, size: int = 400, first: int = 1) -> list[Message]:
    """Rounds of one question and one answer, the answer of `size` characters."""
    return [
        message
        for n in range(first, first + rounds)
        for message in (user(f"u{n}", f"question {n}"), agent(f"a{n}", f"answer {n} " + "x" * size))
    ]


def short_of(context: Context, remaining: float) -> Context:
    """The context in a window of which `remaining` percent are left, met by no command."""
    return context.with_(limit=Window(int(context.total.tokens / (1 - remaining / 100)), "given"), manual=False)


def names(outcome: Outcome) -> list[str]:
    return [rung.name for rung in outcome.rungs]


def ids(outcome: Outcome) -> list[str]:
    return ["summary" if message.kind == "summary" else message.id for message in outcome.messages]


# When it fires


@rule("001-001", "001-050", "001-053")
@pytest.mark.parametrize(("tokens", "fires"), [(150_000, False), (150_001, True), (149_999, False)])
def test_fewer_than_a_quarter_of_the_window_remaining_fires(tokens: int, fires: bool) -> None:
    """The threshold is computed from the window, and both figures are told."""
    trigger = triggers(Gauge(tokens=tokens, limit=Window(200_000, "given")), policy())[0]
    assert (trigger.fires, trigger.limit) == (fires, 150_001)
    remaining = f"{200_000 - tokens:,}".replace(",", " ")
    assert trigger.note.replace("\N{NARROW NO-BREAK SPACE}", " ") == (
        f"{remaining} of 200 000 tokens remain, threshold 50 000; window 200 000 tokens, set for this session"
    )
    off = policy(trigger_on_remaining_tokens=False)
    assert not triggers(Gauge(tokens=tokens, limit=Window(200_000, "given")), off)[0].fires
    assert triggers(Gauge(tokens=tokens, limit=Window(400_000, "given")), policy())[0].limit == 300_001


@rule("001-002")
def test_the_remaining_tokens_are_asked_before_each_call() -> None:
    """The first call that is sent more than three quarters of the window is the first before which it compacts."""
    course = course_of_messages(talk(12))
    window = 1_000
    played = replay(course, load_preset("progressive"), window and Window(window, "given"))
    first = next(number for number, tokens in enumerate(played.full, 1) if window - tokens < window / 4)
    assert played.compacted[0].call == first > 1


@rule("001-003")
@pytest.mark.parametrize(("rounds", "fires"), [(199, False), (200, True), (201, True)])
def test_two_hundred_rounds_fire(rounds: int, fires: bool) -> None:
    assert triggers(Gauge(rounds=rounds), policy())[1].fires is fires
    assert not triggers(Gauge(rounds=rounds), policy(trigger_on_rounds=False))[1].fires


@rule("001-004")
def test_the_marker_counts_in_an_assistant_message_alone() -> None:
    asked = [user("u", "please write !!!SUMMARY!!!"), agent("a", "no")]
    assert not context_of(asked).gauge().marker_seen
    said = context_of([user("u", "hi"), agent("a", "so long. !!!SUMMARY!!!"), user("v", "and?")])
    assert said.layout.shape.marker == 1
    assert triggers(said.gauge(), policy())[2].fires
    assert not triggers(said.gauge(), policy(trigger_on_marker=False))[2].fires


@rule("001-005", "001-052")
def test_the_users_command_fires_and_climbs_the_ladder_first() -> None:
    (*_, command) = triggers(Gauge(manual=True), policy())
    assert command.fires
    context = context_of(talk(30))
    assert names(run(context, policy())[0]) == ["sliding window"]
    assert names(run(context, policy(manual_runs="full"))[0]) == ["full summary"]
    assert load_preset("progressive").policy == policy()


# Stage 1


EDIT = ("Edit", {"file_path": "a", "old_string": "a", "new_string": "b"})
READ = ("Read", {"file_path": "a"})
GREP = ("Bash", {"command": "cd /p && rg foo | head"})
TEST = ("Bash", {"command": "make test"})
OTHER = ("Bash", {"command": "sleep 3"})


def steps(*calls: tuple[str, dict[str, Any]], failed: Sequence[int] = ()) -> list[Message]:
    out: list[Message] = []
    for n, (name, arguments) in enumerate(calls):
        answer = "error: boom" if n in failed else "ok"
        out += [
            agent(f"a{n}", "", call(f"c{n}", name, **arguments)),
            result(f"r{n}", (f"c{n}", answer), error=n in failed),
        ]
    return out


def kind_of(*messages: Message, **cutoffs: Any) -> str:
    return task_type(context_of(messages).shape, TaskCutoffs(**cutoffs)).kind


@rule("001-009", "001-010", "001-012", "001-013")
@pytest.mark.parametrize(
    ("calls", "kind"),
    [
        ([EDIT, READ, READ, READ, READ], "code"),
        ([EDIT, *[READ] * 5], "mixed"),
        ([TEST, READ, READ], "analysis"),
        ([TEST, TEST, READ], "code"),
        ([READ, GREP, OTHER], "analysis"),
        ([OTHER, OTHER], "unknown"),
        ([READ, OTHER, OTHER], "mixed"),
    ],
)
def test_the_type_of_a_task(calls: list[tuple[str, dict[str, Any]]], kind: str) -> None:
    assert kind_of(user("u", "go"), *steps(*calls), agent("z", "done")) == kind


@rule("001-011", "001-013")
def test_short_messages_and_hardly_a_tool_are_a_conversation() -> None:
    short = [m for n in range(4) for m in (user(f"u{n}", "hello"), agent(f"a{n}", "hi"))]
    assert kind_of(*short) == "conversation"
    assert kind_of(*short, *steps(READ, READ)) == "conversation"
    assert kind_of(*short, *steps(*[READ] * 3)) == "analysis"
    long = [m for n in range(4) for m in (user(f"u{n}", "hello " * 201), agent(f"a{n}", "hi"))]
    assert kind_of(*long, conversation_mean_chars=604) == "conversation"
    assert kind_of(*long) == "unknown"
    assert kind_of() == "unknown"


@rule("001-057")
def test_the_evidence_stands_beside_the_verdict_and_the_user_may_overrule_it() -> None:
    shape = context_of([user("u", "go"), *steps(EDIT, READ, GREP, TEST, OTHER), agent("z", "done")]).shape
    seen = evidence_of(shape)
    assert (seen.rounds, seen.edits, seen.checks, seen.lookups, seen.other, seen.calls) == (1, 1, 1, 2, 1, 5)
    found = task_type(shape, TaskCutoffs())
    assert str(found).startswith(
        "task type code: 50 % of 4 classified calls edit, build or test; 1 edits and writes, 1 builds"
    )
    overruled = task_type(shape, TaskCutoffs(), "analysis")
    assert (overruled.kind, overruled.overruled, overruled.evidence) == ("analysis", "code", seen)
    assert "set by the user; detected: code" in str(overruled)
    assert task_type(shape, TaskCutoffs(code_share=0.6)).kind == "mixed"


@pytest.mark.parametrize(
    ("kind", "second", "third"),
    [
        pytest.param("code", "key events", "incremental", id="001-006 001-014"),
        pytest.param("analysis", "importance", "incremental", id="001-015"),
        pytest.param("conversation", "importance", "incremental", id="001-016"),
        pytest.param("mixed", "incremental", "importance", id="001-017"),
        pytest.param("unknown", "importance", "incremental", id="001-018"),
    ],
)
def test_a_chain_goes_on_until_a_rung_changes_something(kind: str, second: str, third: str) -> None:
    context, chosen = short_of(context_of(talk(45)), 20), policy(task_type=kind)
    assert names(run(context, chosen)[0]) == ["sliding window"]
    outcome, _ = run(context, chosen, failing("sliding window"))
    assert names(outcome)[:2] == ["sliding window", second]
    assert outcome.status == "fallback"
    outcome, _ = run(context, chosen, failing("sliding window", second))
    assert names(outcome)[:3] == ["sliding window", second, third]


@rule("001-007", "001-026", "001-035", "001-036", "001-042", "001-043", "001-044")
def test_e6_while_it_is_short_every_light_rung_and_then_the_full_summary_follow_each_counted() -> None:
    """Both lists of the document: the window first, and no full summary before every light rung was tried."""
    context = short_of(context_of(talk(14, size=4_000)), -300)
    outcome, requests = run(context, policy(task_type="conversation"))
    light = ["sliding window", "importance", "key events", "incremental"]
    assert names(outcome) == ["sliding window", *light, "full summary"]
    first, second, *_, last, _ = outcome.rungs
    assert first.before == context.total.tokens > first.after
    assert [rung.before for rung in outcome.rungs[1:]] == [rung.after for rung in outcome.rungs[:-1]]
    assert "still under 25 %: next, sliding window" in first.note
    assert "nothing to summarize" in second.note
    assert "next, a full summary" in last.note
    assert [request.exact for request in requests] == [True, False, False][: len(requests)]
    assert sum(outcome.fate_counts.values()) == len(context)


@rule("001-008", "001-036", "001-055")
def test_a_chain_whose_every_rung_failed_leads_to_the_fallback_order_and_the_session_is_whole() -> None:
    context = short_of(context_of(talk(5)), 20)
    outcome, _ = run(context, policy(task_type="code"), FAILED)
    assert names(outcome) == [*CHAINS["code"], *FALLBACK, "full summary"]
    assert FALLBACK == ("sliding window", "importance", "key events", "incremental")
    assert "next, the fallback order" in outcome.rungs[2].note
    assert (outcome.status, outcome.messages) == ("unchanged", tuple(context.messages))
    assert "timeout" in outcome.reason


@rule("001-042", "001-051")
def test_every_box_of_the_chart_is_reached() -> None:
    """Enough tokens; a rung that is enough; rungs that fail; rungs that are not enough."""
    context = context_of(talk(45))
    whole = short_of(context, 60)
    assert run(whole, policy())[0].messages == tuple(whole.messages)
    enough, _ = run(short_of(context, 20), policy())
    assert (enough.status, names(enough)) == ("compacted", ["sliding window"])
    assert "tokens remain" in enough.rungs[0].note
    assert enough.rungs[0].note.endswith("enough")
    light = ("sliding window", "importance", "key events", "incremental")
    failed, _ = run(short_of(context, 20), policy(), failing(*light))
    assert (failed.status, names(failed)[-5:]) == ("fallback", [*light, "full summary"])
    heavy, _ = run(short_of(context, -2_000), policy())
    assert (heavy.status, names(heavy)[-1], len(heavy.messages)) == ("compacted", "full summary", 1)


# The light rungs


@rule("001-019", "001-020", "001-021")
def test_the_window_is_four_of_the_user_and_five_of_the_agent_behind_request_and_summary() -> None:
    messages = talk(20)
    outcome, (request,) = run(context_of(messages), policy())
    made, *tail = outcome.messages
    assert made.kind == "summary"
    assert tail == messages[-9:]
    assert [m.role for m in outcome.messages] == ["user", *["assistant", "user"] * 4, "assistant"]
    assert request.sources == tuple(m.id for m in messages[:-9])


@rule("001-019", "001-020")
def test_parallel_calls_and_their_results_count_as_one_message_of_each_side() -> None:
    """However many results a call of several has, and whether the calls stand in one message or in several."""
    messages = talk(3)
    for n in range(6):
        calls = [call(f"c{n}-{k}", command="x" * 300) for k in range(8)]
        answers = [result(f"r{n}-{k}", (one.id, "y" * 300)) for k, one in enumerate(calls)]
        messages += [agent(f"t{n}", "Both.", *calls[:4]), agent(f"tt{n}", "", *calls[4:]), *answers]
    outcome, _ = run(context_of([*messages, agent("z", "done")]), policy(task_type="unknown"))
    assert ids(outcome)[:3] == ["summary", "t2", "tt2"]
    assert len(outcome.messages) == 1 + 4 * 10 + 1


@rule("001-020")
def test_e4_roles_alternate_in_the_window_and_two_of_one_role_are_declared_where_they_meet() -> None:
    """Behind a full summary the current input follows at once; a request that is more than text stays before it."""
    said = user("now", "next?")
    roles = [m.role for m in run(context_of([*talk(20), said]), policy())[0].messages]
    assert all(one != two for one, two in pairwise(roles))
    context = context_of([*talk(20), said], api="anthropic-messages")
    outcome, _ = run(context, FULL)
    assert [(m.role, m.kind) for m in outcome.messages] == [("user", "summary"), ("user", "normal")]
    shown = Message("u0", "user", (Text("Like this."), Media("image/png", 4_000)))
    kept, _ = run(context_of([shown, *talk(20)]), policy())
    assert [(m.role, m.kind) for m in kept.messages][:3] == [
        ("user", "normal"),
        ("user", "summary"),
        ("assistant", "normal"),
    ]
    (legal,) = (one for one in check(context, outcome, STRATEGY, FULL) if one.name == "role order valid")
    assert legal.passed
    assert "will be merged" in legal.detail


@rule("001-019", "001-020")
@pytest.mark.parametrize("last", [user("now", "next?"), result("r", ("c", "y"))], ids=["an input", "a result"])
def test_what_the_model_is_about_to_be_sent_does_not_count(last: Message) -> None:
    before = [*talk(19), user("u20", "go"), agent("a20", "", call("c"))] if last.role == "tool" else talk(20)
    outcome, _ = run(context_of([*before, last]), policy())
    assert list(outcome.messages[1:]) == [*before[-9:], last]
    assert [m.role for m in outcome.messages[:2]] == ["user", "assistant"]


@rule("001-019")
@pytest.mark.parametrize(("size", "answers"), [(1, 1), (3, 2), (9, 5), (11, 6)])
def test_the_agent_has_one_more_than_the_user(size: int, answers: int) -> None:
    outcome, _ = run(context_of(talk(20)), policy(sliding_window_size=size))
    roles = [m.role for m in outcome.messages[1:]]
    assert (roles.count("assistant"), roles.count("user")) == (answers, answers - 1)


@rule("001-019", "001-021")
def test_a_request_alone_is_nothing_to_summarize() -> None:
    context = context_of([user("u1", "go"), *steps(*[READ] * 4), agent("z", "done")])
    first, *_ = run(context, policy())[0].rungs
    assert (first.name, first.after, "nothing to summarize" in first.note) == ("sliding window", first.before, True)


@rule("001-020", "001-045")
def test_the_window_must_be_odd() -> None:
    with pytest.raises(ValueError, match="odd"):
        policy(sliding_window_size=8)


@rule("001-022")
def test_importance_keeps_high_scores_and_the_newest_five_of_the_rest() -> None:
    messages = [
        user("u1", "go"),
        *(agent(f"a{n}", f"step {n} " + "y" * 200) for n in range(20)),
        user("u2", "Never log tokens."),
        *(agent(f"b{n}", "and " + "z" * 200) for n in range(3)),
    ]
    only = dict.fromkeys(("length", "recency", "reuse", "decision"), 0)
    chosen = policy(task_type="unknown", importance_weights=only)
    outcome, _ = run(context_of(messages), chosen, failing("sliding window"))
    assert ids(outcome) == ["summary", "a18", "a19", "u2", "b0", "b1", "b2"]
    assert "2 of 25 messages (8 %) score 3 or more" in outcome.rungs[-1].note


@rule("001-023", "001-024")
def test_key_events_keep_what_changed_something_and_the_newest_five() -> None:
    messages = [user("u1", "look, then fix")]
    for n in range(12):
        name = "Edit" if n in (2, 5) else "Read"
        messages += [
            agent(f"a{n}", "", call(f"c{n}", name, file_path=f"/p/{n}.py")),
            result(f"r{n}", (f"c{n}", "x" * 500)),
        ]
    outcome, _ = run(context_of(messages), policy(task_type="code"), failing("sliding window"))
    kept = ["a2", "r2", "a5", "r5", "a9", "r9", "a10", "r10", "a11", "r11"]
    assert ids(outcome) == ["summary", *kept], "five, and a9 for its result"


def events(messages: Sequence[Message]) -> dict[str, str]:
    """Why each key event is one, by the message's id."""
    return {messages[index].id: why for index, why in sorted(events_of(context_of(messages).shape).items())}


@rule("001-023")
def test_why_each_event_is_one() -> None:
    test = ("Bash", {"command": "pytest -q"})
    messages = [
        user("u", "Fix it. Never touch main."),
        *steps(
            ("Read", {"file_path": "a.py"}),
            test,
            ("Edit", {"file_path": "a.py", "old_string": "a", "new_string": "b"}),
            test,
            ("Bash", {"command": "git commit -am done"}),
            ("TodoWrite", {"todos": [{"content": "fix", "status": "completed"}]}),
            ("TodoWrite", {"todos": [{"content": "fix", "status": "completed"}]}),
            failed=[1],
        ),
        agent("z", "It works."),
        user("ok", "ok, thanks!"),
        user("v", "What about b.py?"),
    ]
    assert events(messages) == {
        "u": "rule: Never touch main.",
        "r1": "error, fixed later: error: boom",
        "a2": "change: modified a.py",
        "a3": "error fixed: error: boom",
        "a4": "change: ran git commit -am done",
        "a5": "task finished: fix",
        "z": "task finished: answer after 1 changes",
        "v": "the user's instruction",
    }


@rule("001-025", "001-047")
@pytest.mark.parametrize(
    ("rounds", "sizes"), [(20, ()), (21, (40,)), (40, (40,)), (41, (40, 40))], ids=["20", "21", "40", "41"]
)
def test_all_chunks_of_twenty_rounds_but_the_last_become_summaries(rounds: int, sizes: tuple[int, ...]) -> None:
    messages = talk(rounds)
    outcome, requests = run(
        context_of(messages, memories="remembered"),
        policy(task_type="mixed"),
        failing("sliding window", "importance", "full summary"),
    )
    chunks = [request for request in requests if "chunk" in request.purpose][: len(sizes)]
    assert tuple(len(request.sources) for request in chunks) == sizes
    if sizes:
        assert outcome.messages[len(sizes) :] == tuple(messages[sum(sizes) :])
        assert ids(outcome)[: len(sizes)] == ["summary"] * len(sizes)
        carrying = ["remembered" in message.text for message in outcome.messages[: len(sizes)]]
        assert carrying == [False] * (len(sizes) - 1) + [True]


# Stage 2


@rule("001-003", "001-004", "001-026", "001-035")
@pytest.mark.parametrize("why", ["rounds", "marker"])
def test_rounds_and_marker_go_to_the_full_summary_at_once(why: str) -> None:
    messages = talk(12)
    if why == "marker":
        messages.append(agent("m", "!!!SUMMARY!!!"))
    context = short_of(context_of(messages), 10)
    outcome, _ = run(context, policy(conversation_turn_threshold=12 if why == "rounds" else 200))
    assert names(outcome) == ["full summary"]
    assert why in outcome.rungs[0].note


@rule("001-027", "001-034", "001-040")
@pytest.mark.parametrize("runs", ["full", "ladder"])
def test_the_full_summary_takes_everything_but_the_system_and_the_counter_restarts(runs: str) -> None:
    messages = [Message("s", "system", (Text("You are an agent."),)), *talk(30)]
    answer = failing("sliding window", "importance", "incremental", "key events")
    outcome, requests = run(context_of(messages), policy(manual_runs=runs), answer)
    system, made = outcome.messages
    assert system is messages[0]
    assert (made.role, made.kind) == ("user", "summary")
    assert requests[-1].sources == tuple(m.id for m in messages[1:])
    assert [(span.start, span.stop) for span in outcome.provenance[1]] == [(1, len(messages))]
    assert "rounds: 30 → 0" in outcome.trace


@rule("001-055")
def test_what_lighter_rungs_did_stands_when_the_full_summary_fails() -> None:
    context = short_of(context_of(talk(14, size=4_000)), -300)
    outcome, _ = run(context, policy(), failing("full summary"))
    assert outcome.status == "fallback"
    assert "timeout" in outcome.reason
    assert "used instead: sliding window" in outcome.reason
    assert ids(outcome)[0] == "summary"


# What is always retained

LIGHT, FULL = policy(), policy(manual_runs="full")
EITHER = pytest.mark.parametrize("chosen", [LIGHT, FULL], ids=["light", "full"])


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


@rule("001-028", "001-029", "001-030", "001-031", "001-032", "001-033", "001-038", "001-040", "001-041")
@EITHER
def test_every_rung_carries_it_the_request_in_front_of_the_summary(chosen: ProgressivePolicy) -> None:
    memories = [f"memory {n}" for n in range(1, 13)]
    outcome, _ = run(context_of(busy(), memories="\n".join(memories)), chosen, "The parser is half done.")
    assert ids(outcome)[:2] == ["sys", "summary"]
    text = outcome.messages[1].text
    front, _, rest = text.partition("\n\n")
    assert front == "<original_request>\nBuild the\nparser.\n</original_request>"
    summary, _, behind = rest.partition("\n</summary>\n")
    assert summary.endswith("<summary>\nThe parser is half done.")
    assert (
        "<pinned>\nnever touch main\n</pinned>\n"
        "<recent_memories>\n" + "\n".join(memories[2:]) + "\n</recent_memories>\n"
        "<tasks>\n[x] parse\n[~] write\n</tasks>\n"
        "<changes>\n/p/a.py +2 −1 (1×)\n/p/b.py +2 −0 (1×)\n</changes>" in behind
    )
    assert any("10 of 12 memories, 2 tasks, file changes: 2 files, +4 −1 lines" in line for line in outcome.trace)
    none, _ = run(context_of(busy(), memories="memory 1"), chosen.with_(recent_memories=0))
    assert "memory" not in none.messages[1].text


@rule("001-028", "001-029", "001-041")
@EITHER
def test_what_is_retained_lasts_through_generations(chosen: ProgressivePolicy) -> None:
    context = context_of(busy(), memories="m")
    for generation in range(3):
        outcome, _ = run(context, chosen, f"generation {generation}")
        assert outcome.status == "compacted"
        after = context.from_outcome(outcome).messages
        context = context_of([*after, *talk(20, first=100 * (generation + 1))], memories="m")
    (text,) = [m.text for m in outcome.messages if m.kind == "summary"]
    assert text.startswith("<original_request>\nBuild the\nparser.\n</original_request>\n\n")
    assert text.count("<original_request>") == 1
    for kept in ("generation 2", "<pinned>\nnever touch main\n</pinned>", "/p/a.py +2 −1 (1×)", "[~] write"):
        assert kept in text


SUMMARY_OF_AGENT = summary("s", "The agent's own summary.")


def recorded(*messages: Message, later: Sequence[Message], **fields: Any) -> Context:
    """The context of a session's second epoch, as a recorded compaction left it: `later` behind the summary."""
    held = (*messages, SUMMARY_OF_AGENT, *later)
    places = {id(message): place for place, message in enumerate(held)}
    second = tuple(places[id(message)] for message in (SUMMARY_OF_AGENT, *later))
    epochs = (Epoch(1, range(len(messages))), Epoch(2, second))
    return context_at(session_of(held, epochs=epochs, **fields), 2, Counter())


def claimed(context: Context, chosen: ProgressivePolicy = FULL) -> list[str]:
    """The texts that the outcome's messages call the original request, where each stands: at the very front."""
    outcome, _ = run(context, chosen, "A summary.")
    assert outcome.status == "compacted"
    texts = [message.text for message in outcome.messages]
    found = [
        text.partition("\n</original_request>\n\n")[0] for text in texts if text.startswith("<original_request>\n")
    ]
    assert sum(text.count("<original_request>") for text in texts) == len(found)
    return [text.removeprefix("<original_request>\n") for text in found]


@rule("001-028", "001-029", "001-041")
@EITHER
def test_e1_the_first_request_of_the_whole_session_is_in_front_after_a_recorded_compaction(
    chosen: ProgressivePolicy,
) -> None:
    """The context's own oldest request is a later one, and nothing may call it the original."""
    first, later = [user("first", "Build the\nparser."), agent("a", "Built.")], talk(30)
    assert claimed(recorded(*first, later=later), chosen) == ["Build the\nparser."]
    kept = talk(1, first=0)
    assert claimed(recorded(*first, *kept, later=[*kept, *later]), chosen) == ["Build the\nparser."]


@rule("001-028", "001-029")
@EITHER
def test_e1_a_request_that_the_recorded_compaction_kept_or_copied_is_not_told_twice(chosen: ProgressivePolicy) -> None:
    first, copy = user("first", "Build the parser."), user("copy", "Build the parser.")
    for held in (first, copy):
        outcome, _ = run(recorded(first, agent("a", "Built."), later=[held, *talk(30)]), chosen)
        texts = [message.text for message in outcome.messages]
        assert sum("Build the parser." in text for text in texts) == 1
        assert texts[0].startswith("<original_request>\nBuild the parser.\n</original_request>\n\n")


@rule("001-028", "001-029")
def test_e1_of_several_new_summaries_the_oldest_carries_the_request() -> None:
    chosen = policy(task_type="mixed", incremental_summary_chunk_size=10, sliding_window_size=99)
    context = recorded(user("first", "Build it."), agent("a", "Built."), later=talk(35))
    outcome, requests = run(context, chosen)
    assert len(requests) == 3
    assert [text.startswith("<original_request>\nBuild it.\n") for text in (m.text for m in outcome.messages)][:4] == [
        True,
        False,
        False,
        False,
    ]


@rule("001-028", "001-029")
@EITHER
def test_e1_where_the_sessions_beginning_is_not_known_nothing_is_called_its_first_request(
    chosen: ProgressivePolicy,
) -> None:
    """The file begins behind a compaction, only its end is read, or the first request was dropped by hand."""
    later = talk(30)
    assert claimed(context_of([SUMMARY_OF_AGENT, *later]), chosen) == []
    assert claimed(context_of([user("kept", "A kept one."), SUMMARY_OF_AGENT, *later]), chosen) == []
    assert claimed(context_of([user("mark", "", "boundary"), *later]), chosen) == []
    assert claimed(recorded(SUMMARY_OF_AGENT, *talk(1, first=0), later=later), chosen) == []
    tail = recorded(user("first", "Build it."), agent("a", "Built."), later=later, begins_at=1)
    assert claimed(tail, chosen) == []
    edited = context_after_edits(context_of(later), Edits(dropped=frozenset({"u1"})))
    assert claimed(edited, chosen) == []
    outcome, _ = run(edited, chosen)
    assert any("retained: no first request found, " in line for line in outcome.trace)


@rule("001-028", "001-029")
def test_e1_what_an_earlier_summary_calls_the_request_counts_where_the_beginning_is_not_read_and_only_there() -> None:
    earlier = summary("ours", "<original_request>\nBuild it.\n</original_request>\n\n<summary>\nSo far.\n</summary>")
    assert claimed(context_of([earlier, *talk(30)])) == ["Build it."]
    assert claimed(context_of([earlier, *talk(30)], first_context=Shape(()))) == ["Build it."]
    known = Shape((user("first", "Bake a loaf."), agent("a", "Baked.")))
    assert claimed(context_of([earlier, *talk(30)], first_context=known)) == ["Bake a loaf."]


@rule("001-028")
def test_e1_a_first_request_that_was_shortened_by_hand_stays_short() -> None:
    long = user("first", "Build it. " + "x" * 5_000)
    edits = Edits(shortened=frozenset({"first"}))
    for context in (context_of([long, *talk(30)]), recorded(long, agent("a", "Built."), later=[long, *talk(30)])):
        for chosen in (FULL, policy(task_type="code")):
            (text,) = claimed(context_after_edits(short_of(context, -300), edits), chosen)
            assert text == shortened_message(long).text


SAMPLES_READ = sorted(path for path in SAMPLES.iterdir() if path.suffix != ".md" or path.name.startswith("aider"))


@rule("001-028", "001-029")
@pytest.mark.parametrize("path", SAMPLES_READ, ids=[path.name for path in SAMPLES_READ])
def test_e1_every_sample_is_told_its_own_first_request_or_none(path: Path) -> None:
    session = load(path)
    begun = session.context(1)
    first = next((message for message in begun if message.starts_round), None)
    known = first is not None and not any(message.is_summary for message in begun)
    if first is None or any(not isinstance(block, Text) for block in first.blocks):
        return
    outcome, _ = run(context_at(session, None, Counter()), FULL, "A summary.")
    fronts = [text for text in (m.text for m in outcome.messages) if text.startswith("<original_request>\n")]
    assert [text.startswith(f"<original_request>\n{first.user_text}\n</original_request>\n\n") for text in fronts] == (
        [True] if known else []
    )


@rule("001-039")
@EITHER
def test_e1_the_whole_requirement_outlasts_a_recorded_compaction(chosen: ProgressivePolicy) -> None:
    context = recorded(user("r1", "Do A."), user("r2", "And\nB."), agent("a", "Done."), later=talk(12))
    text = run(context, chosen.with_(non_interactive=True))[0].messages[0].text
    assert text.startswith("<original_request>\nDo A.\n</original_request>\n\n")
    assert text.count("<pinned>\nAnd\nB.\n</pinned>") == text.count("<pinned>") == 1
    assert "<pinned>" not in run(context, chosen)[0].messages[0].text


@rule("001-039")
@EITHER
def test_without_a_user_at_hand_the_whole_requirement_is_carried(chosen: ProgressivePolicy) -> None:
    messages = [user("r1", "Do A."), user("r2", "And\nB."), *talk(12)]
    text = run(context_of(messages), chosen.with_(non_interactive=True))[0].messages[0].text
    assert text.startswith("<original_request>\nDo A.\n</original_request>\n\n")
    assert "<pinned>\nAnd\nB.\n</pinned>\n<pinned>\nquestion 1\n</pinned>" in text
    assert text.count("Do A.") == 1
    assert "<pinned>" not in run(context_of(messages), chosen)[0].messages[0].text


@rule("001-038", "001-041")
@EITHER
def test_pinned_messages_stay_with_their_pairs(chosen: ProgressivePolicy) -> None:
    messages = busy()
    outcome, _ = run(context_of(messages, pins=frozenset({"er"})), chosen)
    assert messages[2] in outcome.messages
    assert messages[3] in outcome.messages
    assert [outcome.fate_at(i).fate for i in (2, 3)] == [Fate.PINNED, Fate.PINNED]


# The table, the parameters, the advice


@rule("001-037")
def test_the_rungs_side_by_side_are_those_of_the_docs_and_of_the_command() -> None:
    assert {(one.name, one.strength) for one in RUNGS} == {
        ("importance", "light"),
        ("key events", "medium"),
        ("incremental", "medium"),
        ("sliding window", "medium"),
        ("full summary", "heavy"),
    }
    rows = [f"| {one.name} | {one.strength} | {one.keeps} | {one.suits} |" for one in RUNGS]
    assert "\n".join(rows) in (ROOT / "docs/strategies.md").read_text("utf-8")
    printed = [" ".join(line.split()) for line in cwb("list", "strategies", "progressive").stdout.splitlines()]
    said = [f"{one.name} {one.strength} {one.keeps} {one.suits}" for one in RUNGS]
    assert [line for line in printed if line in said] == said
    (shown,) = document("list", "strategies", "progressive")["strategies"]
    assert [one["name"] for one in shown["rungs"]] == [one.name for one in RUNGS]


@pytest.mark.parametrize(
    ("field", "number"),
    [
        pytest.param("sliding_window_size", 9, id="001-045"),
        pytest.param("importance_score_threshold", 3.0, id="001-046"),
        pytest.param("incremental_summary_chunk_size", 20, id="001-047"),
        pytest.param("conversation_turn_threshold", 200, id="001-048"),
        pytest.param("summary_remaining_token_threshold", 25.0, id="001-050"),
        pytest.param("importance_newest", 5, id="001-022"),
        pytest.param("key_events_newest", 5, id="001-024"),
        pytest.param("recent_memories", 10, id="001-031"),
    ],
)
def test_default_numbers(field: str, number: float) -> None:
    assert getattr(ProgressivePolicy(), field) == number


@rule("001-054")
def test_the_file_of_the_session_is_never_written_over(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "session.jsonl", session_lines())
    before = file.read_bytes()
    done = cwb("compact", file, "--preset", "progressive", "-o", file, "--force")
    assert done.exit_code != 0
    assert file.read_bytes() == before


@rule("001-056")
def test_what_compacting_costs_is_weighed_against_what_it_saves() -> None:
    file = ROOT / "sample_sessions/claude-code-overflow.jsonl"
    (column,) = document("compare", file, "--presets", "progressive")["variants"]
    summaries, cache = column["summaries"], column["cache"]
    assert (summaries["calls"], summaries["input_tokens"] > 0) == (1, True)
    assert cache["rebilled_tokens"] + cache["unchanged_tokens"] == cache["tokens_after"]
    assert cache["paid_back_after_calls"] is not None


@rule("001-049")
@pytest.mark.parametrize(
    "setting",
    [
        "sliding_window_size",
        "importance_score_threshold",
        "incremental_summary_chunk_size",
        "conversation_turn_threshold",
    ],
)
def test_each_parameter_is_set_by_a_variable(setting: str) -> None:
    name = f"CWB_PROGRESSIVE_{setting.upper()}"
    with use_environment({name: "7"}):
        preset = load_preset("progressive")
    assert (getattr(preset.policy, setting), preset.sources[setting]) == (7, name)
