"""Diagnosis: what filled the context, waste, and counterfactuals, by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from tests.analysis.courses import counter_of, course_of_messages, session_of
from tests.paths import SAMPLES
from workbench.analysis.course import Point, course_of
from workbench.analysis.replay import replay
from workbench.analysis.usage_check import Gap
from workbench.analysis.why import breakdown, waste
from workbench.analysis.why.diagnosis import Diagnosis, MessageFix, diagnose, fix_for, limit_of
from workbench.analysis.why.findings import Finding, _spot_findings, findings
from workbench.analysis.why.overflow import (
    TOO_LONG,
    Crossing,
    Delay,
    RejectedRequest,
    delay_without,
    overflowed_epoch,
    rejected_requests,
)
from workbench.analysis.why.tables import KEYS, tables
from workbench.base.figures import grouped
from workbench.bench import open_bench, with_counts
from workbench.compaction.preset import load_preset
from workbench.conformance.building import agent, call, context_of, result, summary, user
from workbench.conformance.drawn import conversations
from workbench.formats.files import load
from workbench.session import ApiError, Compaction, Epoch, Message, Session, SessionFacts, Text, Usage
from workbench.tokens.sizes import Basis

WORDINGS = (
    "prompt is too long: 207112 tokens > 200000 maximum",
    "Prompt is too long",
    "input length and `max_tokens` exceed context limit: 199999 + 8192 > 200000",
    "Input is too long for requested model.",
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130042 tokens.",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "Error code: 400 - {'error': {'code': 'context_length_exceeded'}}",
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
    "prompt token count of 131072 exceeds the limit of 128000",
    "the request exceeds the available context size, try increasing it",
    "Please reduce the length of the messages or completion.",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "Prompt contains 40960 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    "litellm.ContextWindowExceededError: litellm.BadRequestError",
    "tokens to keep from the initial prompt is greater than the context length",
)
ORDINARY = ("the response took too long", "the token count is 12", "I read the prompt", "a window of context lines")


@pytest.mark.parametrize("text", WORDINGS)
def test_a_refusal_in_many_wordings(text: str) -> None:
    assert TOO_LONG.search(text)


@pytest.mark.parametrize("text", ORDINARY)
def test_what_is_no_refusal(text: str) -> None:
    assert not TOO_LONG.search(text)


def test_a_refusal_stands_alone_and_is_neither_the_users_nor_a_tools() -> None:
    messages = [
        user("u1", "why do I get 'prompt is too long'?"),
        agent("a1", "Prompt is too long"),
        result("r1", ("x", "prompt is too long")),
        agent("a2", "Prompt is too long, says the log. " + "It says so because " * 60),
        user("m", "API Error: prompt is too long: 3 tokens > 2 maximum", "meta"),
    ]
    assert [(one.message, one.member) for one in rejected_requests(session_of(messages))] == [("a1", 1), ("m", 4)]


@pytest.mark.parametrize(
    ("message", "is_one"),
    [
        (agent("a", "prompt is too long" + "." * 782), True),
        (agent("a", "prompt is too long" + "." * 783), False),
        (agent("a", "." * 282 + "prompt is too long"), True),
        (agent("a", "." * 283 + "prompt is too long"), False),
        (agent("a", "prompt is too long", call("c")), False),
        (result("a", ("c", "prompt is too long")), False),
        (Message("a", "assistant", (Text("prompt is too long"),), usage=Usage(1)), False),
        (summary("a", "prompt is too long"), False),
        (Message("a", "system", (Text("prompt is too long"),)), True),
    ],
)
def test_what_an_error_alone_looks_like(message: Message, is_one: bool) -> None:
    assert [one.message for one in rejected_requests(session_of([message]))] == ["a"] * is_one


def test_an_error_that_is_no_message_lies_at_the_newest_message_before_it() -> None:
    messages = [replace(user(f"u{n}", "x"), time=time) for n, time in enumerate((10.0, None, 20.0, 30.0))]
    said = (("", "too\n long", 20.0), ("u3", "known", 5.0), ("else", "early", 9.0), ("", "whenever", None))
    errors = tuple(ApiError(*one, kind="context_length_exceeded") for one in said)
    session = replace(session_of(messages), facts=SessionFacts(api_errors=errors, exit_status="exit_context"))
    assert rejected_requests(session) == (
        RejectedRequest("too long", "u2", 2, 20.0),
        RejectedRequest("known", "u3", 3, 5.0),
        RejectedRequest("exit status exit_context", "u3", 3, None),
        RejectedRequest("early", None, None, 9.0),
        RejectedRequest("whenever", None, None, None),
    )


def read(n: int, path: str, chars: int, **more: Any) -> list[Message]:
    return [
        agent(f"c{n}", "", call(f"t{n}", "Read", file_path=path, **more)),
        result(f"r{n}", (f"t{n}", "q " * (chars // 2))),
    ]


@pytest.fixture
def reading() -> list[Message]:
    """Three rounds: a file read whole twice and in part once, another file once."""
    return [
        user("u1", "look"), *read(1, "/a.py", 400), *read(2, "/b.py", 4_000), agent("a1", "seen"),
        user("u2", "again"), *read(3, "/a.py", 800, offset=3), agent("a2", "seen"),
        user("u3", "and again"), *read(4, "/a.py", 400), agent("a3", "seen"), user("u4", "now"), agent("a4", "done"),
    ]  # fmt: skip


def test_shares_by_tool_and_file_by_hand(reading: list[Message]) -> None:
    context = context_of(reading)
    calls = [context.size(i, i + 1).tokens for i, m in enumerate(reading) if m.calls]
    results = [101, 1001, 201, 101]  # a quarter of the characters, and one
    (tool,) = breakdown.by_tool(context)
    assert (tool.name, tool.tokens, tool.count) == ("Read", sum(calls) + sum(results), 4)
    assert tool.messages == ("r1", "r2", "r3", "r4")
    files = {share.name: share.tokens for share in breakdown.by_file(context)}
    assert files == {"/b.py": calls[1] + 1001, "/a.py": calls[0] + calls[2] + calls[3] + 403}
    assert breakdown.largest(context, 2)[0].message == "r2"
    assert breakdown.largest(context, 2)[0].what == "result of Read"


@given(conversations())
def test_rounds_and_shares_never_exceed_the_context(messages: tuple[Message, ...]) -> None:
    context = context_of(messages)
    total = context.total.tokens
    rounds = breakdown.by_round(context)
    assert sum(one.tokens for one in rounds) <= total
    assert all(one.upto <= total for one in rounds)
    assert sum(share.tokens for share in breakdown.by_tool(context)) <= total
    for spots in (waste.unused(context), waste.base64_spots(context), waste.log_spots(context)):
        assert sum(spot.tokens for spot in spots) <= total


def test_a_read_is_needless_when_a_later_one_shows_it_again(reading: list[Message]) -> None:
    (one,) = waste.rereads(context_of(reading))
    assert one.path == "/a.py"
    # r1 is asked for again by r4; of r3, a part, r4 shows the whole file; r4 is the newest.
    assert [(r.message, r.tokens, r.by) for r in one.reads] == [("r1", 101, 12), ("r3", 201, 12), ("r4", 101, None)]
    assert [r.message for r in one.repeated] == ["r1", "r3"]


def test_the_delay_is_computed_on_the_session_itself(reading: list[Message]) -> None:
    course = course_of_messages(reading)
    limit = course.plain[3]  # the prompt of call c3, in round 2
    found = delay_without(course, {4: (1_000, 5)}, limit)
    assert found.before == Crossing(4, "c3", 2)
    assert (found.after, found.rounds, found.calls) == (None, 2, None)
    assert "avoided the overflow for the remaining 2 rounds" in str(found)
    ends = f"{grouped(found.last_after)} tokens instead of {grouped(found.last)} without a compaction"
    assert str(found).endswith(f", the last call at {ends}"), "where the card's own figure comes from"
    later = delay_without(course, {4: (10, 5)}, limit)
    assert later.after == Crossing(5, "a2", 2)
    assert (later.rounds, later.calls) == (0, 1)
    assert str(later) == "would have delayed the overflow by 1 call (in the same round)"
    assert "not have delayed" in str(delay_without(course, {0: (0, 0)}, limit))
    never = delay_without(course, {4: (10, 5)}, 10**9)
    assert (never.before, never.rounds) == (None, None)
    assert "left the last call at" in str(never)
    assert delay_without(course_of_messages(reading[:1]), {}, 9) == Delay(9, None, None, 0, 0, 0)


def test_findings_stand_by_size_and_what_the_policy_would_have_done_last(reading: list[Message]) -> None:
    """Differences from the bills are causes as others are; those that are not named one by one count together."""
    context, course = context_of(reading), course_of_messages(reading)
    played = replay(course, load_preset("trim"), context.limit)
    gaps = [Gap(n, n, 1, "a2", tokens) for n, tokens in enumerate((-50, 900, 40, -30, 20), 1)]
    found = findings(
        context, course, None, (), waste.find_waste(context), (), played, (), (), breakdown.largest(context), gaps, ()
    )
    assert [(one.kind, one.tokens) for one in found[:-1]] == [
        ("message", 1_001), ("bill", 900), ("reread", 403), ("bill", 50), ("bill", 50), ("bill", 40),
    ]  # fmt: skip
    assert found[4].text.startswith("2 calls with smaller differences, 50 tokens together; `cwb inspect")
    assert found[-1].kind == "strategy"


def test_results_that_nothing_refers_to() -> None:
    words = "alpha_one beta_two gamma_three delta_four " * 40
    other = "omega_one psi_two chi_three " * 60
    messages = [user("u", "go")]
    for n, text in enumerate((words, other, "short_word other_word third_word")):
        messages += [agent(f"c{n}", "", call(f"t{n}", command="ls")), result(f"r{n}", (f"t{n}", text))]
    messages += [agent("a1", "it is in gamma_three"), agent("a2", "so be it"), agent("a3", "fine")]
    # r0 is referred to, r2 is too short to matter, and of r1 nobody speaks.
    assert [spot.message for spot in waste.unused(context_of(messages))] == ["r1"]
    # With fewer than three answers after it, it is too early to tell.
    assert waste.unused(context_of(messages[:5])) == ()


@pytest.mark.parametrize(
    ("lines", "logged", "found"), [(40, 24, True), (39, 39, False), (50, 30, True), (50, 29, False)]
)
def test_a_log_has_forty_lines_most_of_which_say_when(lines: int, logged: int, found: bool) -> None:
    text = "\n".join(["10:00:00 " + "x" * 30] * logged + ["y" * 40] * (lines - logged))
    (spot,) = waste.log_spots(context_of([result("r", ("t", text))])) or (None,)
    assert (spot is not None) is found
    assert spot is None or spot == waste.Spot("r", 0, len(text) // 4 + 1, f"{logged} lines of log")


@pytest.mark.parametrize(("again", "whole"), [
    ({}, True), ({"command": "view", "type": "file"}, True), ({"offset": 3}, False), ({"limit": 3}, False),
])  # fmt: skip
def test_a_view_that_asks_for_nothing_else_shows_the_whole_file(again: dict[str, Any], whole: bool) -> None:
    (one,) = waste.rereads(context_of([*read(1, "/a.py", 400, offset=9), *read(2, "/a.py", 400, **again)]))
    assert [read.by for read in one.reads] == [3 if whole else None, None]


def test_base64_logs_and_cut_results() -> None:
    encoded = "iVBORw0KGgoAAAANSUhEUgAAAAUA9bZq" * 20
    log = "\n".join(f"2026-01-02 10:00:{n:02} INFO started worker {n}" for n in range(50))
    answers = (
        ("t1", f"data:image/png;base64,{encoded}"),
        ("t2", log),
        ("t3", "line\n" * 200 + "\n... [120 lines truncated] ..."),
        ("t4", "a" * 300 + "if result.truncated:\n" * 80),
        ("t6", "line\n" * 100 + "[7 lines omitted]\n" + "line\n" * 100),
        ("t5", "f" * 400),
    )
    messages = [user("u", "go")]
    for id, text in answers:
        messages += [agent(f"c-{id}", "", call(id, command=id)), result(f"r-{id}", (id, text))]
    context = context_of(messages)
    # 640 of the 662 characters, of 166 tokens.
    assert waste.base64_spots(context) == (waste.Spot("r-t1", 2, 160, "640 characters of base64"),)
    assert [(spot.message, spot.note) for spot in waste.log_spots(context)] == [("r-t2", "50 lines of log")]
    assert [(spot.message, spot.note) for spot in waste.cut_spots(context)] == [
        ("r-t3", "it says: 120 lines truncated"),
        ("r-t6", "it says: [7 lines omitted"),
    ]


def test_results_that_end_at_the_same_length_were_cut_silently() -> None:
    for length, texts in ((3_000, "abc"), (2_000, "abc"), (1_999, "abc"), (3_000, "aac")):
        messages = [user("u", "go")]
        for n, letter in enumerate(texts):
            text = letter * (length - (letter == "c"))
            messages += [agent(f"c{n}", "", call(f"t{n}", command="cat")), result(f"r{n}", (f"t{n}", text))]
        note = f"cut silently: 2 results of Bash have just {length} characters"
        cut = length >= 2_000 and texts == "abc"
        spots = (waste.Spot("r0", 2, length // 4 + 1, note), waste.Spot("r1", 4, length // 4 + 1, note))
        assert waste.cut_spots(context_of(messages)) == spots * cut


def test_the_newest_epoch_that_overflowed_is_looked_at() -> None:
    messages = [user("u", "x"), agent("a", "y"), summary("s", "z"), user("v", "x"), agent("b", "y")]
    session = session_of(messages, [0, 1], [2, 3, 4])
    assert overflowed_epoch(session) == 2
    ended = replace(session, epochs=(Epoch(1, [0, 1], Compaction("auto")), session.epochs[1]))
    assert overflowed_epoch(ended) == 1
    refused = replace(ended, messages=(*messages[:4], Message("b", "assistant", (Text("Prompt is too long"),))))
    assert overflowed_epoch(refused) == 2


@pytest.mark.parametrize(("billed", "epoch"), [(999, 1), (1_000, 1), (1_001, 2)])
def test_an_epoch_whose_prompt_grew_beyond_the_window_overflowed(billed: int, epoch: int) -> None:
    messages = [user("u", "x"), agent("a", "y"), user("v", "x" * 9_000), agent("b", "y")]
    messages[3] = replace(messages[3], usage=Usage(billed))
    session = session_of(messages, [0, 1], [0, 1, 2, 3])
    ended = Epoch(1, [0, 1], Compaction("auto"))
    assert overflowed_epoch(replace(session, epochs=(ended, replace(session.epochs[1], window=1_000)))) == epoch


def diagnosed(path: Path, epoch: int | None = None) -> Diagnosis:
    session = load(path)
    return diagnosed_session(session, epoch or overflowed_epoch(session))


def diagnosed_session(session: Session, number: int) -> Diagnosis:
    counter = counter_of(session)
    bench = with_counts(open_bench(session, counter, epoch=number), counter)
    return diagnose(bench.context, course_of(session, counter, first=number), number, load_preset("claude-code"))


@pytest.mark.parametrize("messages", [[], [Message("m0", "user", ())]], ids=["no message", "a message without content"])
def test_f9_an_empty_context_has_no_shares(messages: list[Message]) -> None:
    found = diagnosed_session(session_of(messages), 1)
    assert [(one.kind, one.text, one.messages) for one in found.findings] == [
        ("strategy", "claude-code would not have compacted the session at all.", tuple(one.id for one in messages))
    ]


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.*")), ids=lambda path: path.name)
def test_every_format_is_diagnosed(path: Path) -> None:
    if path.name == "README.md":
        pytest.skip("no session")
    found = diagnosed(path)
    assert found.findings
    # Each leads somewhere: what lies in no message to the layers, where it stands.
    assert all(one.messages for one in found.findings if one.kind != "overhead")
    # The plot, the crossing and the total are of one measure, billed or not.
    counted_here = [p.tokens for p in found.points if p.epoch == found.epoch and p.basis is Basis.ESTIMATE]
    assert max(counted_here, default=0) <= found.total.tokens
    assert sum(layer.tokens for layer in found.layers) == found.total.tokens
    assert len(found.largest) == min(10, found.total.messages)


@pytest.mark.parametrize(
    ("recorded", "crossing"), [(29_999, Crossing(1, "a", 1)), (30_000, Crossing(1, "a", 1)), (30_001, None)]
)
def test_a_compaction_after_the_last_call_is_no_limit_that_was_never_reached(
    recorded: int, crossing: Crossing | None
) -> None:
    messages = [user("u", "x"), agent("a", "y"), summary("s", "z"), user("v", "x")]
    messages[1] = replace(messages[1], usage=Usage(30_000))
    session = session_of(messages, [0, 1], [2, 3])
    epochs = (Epoch(1, [0, 1], Compaction("auto", recorded)), session.epochs[1])
    found = diagnosed_session(replace(session, epochs=epochs), 1)
    assert found.limit is not None
    assert (found.limit.ended, found.crossing, found.rounds_left) == (True, crossing, None)
    assert found.findings[-1].text == (
        "claude-code would not have compacted the session at all. "
        "The file records that the agent itself compacted before call 2 "
        f"(recorded: {grouped(max(recorded, 30_000))} tokens). "
        "Compared epoch by epoch, the claude-code preset compacts the same in 0 of 1; "
        "in epoch 1 it would not: the model's window is unknown."
    )
    assert found.findings[-1].tokens == 0  # nothing was freed: there is no figure beside it and no bar


@pytest.mark.parametrize(
    ("recorded", "limit"),
    [
        (None, (30_000, "the agent compacted after a prompt of this size (epoch 1)")),
        (30_000, (30_000, "the agent compacted after a prompt of this size (epoch 1)")),
        (30_001, (30_001, "the agent recorded this size when it compacted (epoch 1)")),
    ],
)
def test_the_limit_is_the_size_that_the_agent_recorded_where_that_is_more(
    recorded: int | None, limit: tuple[int, str]
) -> None:
    messages = [user("u", "x"), agent("a", "y"), summary("s", "z"), user("v", "x")]
    session = session_of(messages, [0, 1], [2, 3])
    ended = replace(session, epochs=(Epoch(1, [0, 1], Compaction("auto", recorded)), session.epochs[1]))
    points = (Point(1, 1, 30_000, Basis.EXACT, False), Point(3, 2, 90_000, Basis.EXACT, True))
    found = limit_of(context_of(messages[:2]), ended, 1, points, ())
    assert found is not None
    assert (found.tokens, found.why) == limit


@pytest.mark.parametrize(
    ("window", "limit"),
    [
        (None, (300, "refusal")),
        (299, (300, "refusal")),  # the window of the table is less than what was accepted
        (300, (300, "window")),
        (1_499, (1_499, "window")),
        (1_500, (300, "refusal")),  # the request had no more than the window, but an answer was to follow
        (3_000, (300, "refusal")),
        (3_001, (3_001, "window")),  # it had less than half of it: something else was too long
    ],
)
def test_a13_the_limit_after_a_refusal_is_the_window_where_the_refused_request_was_larger(
    window: int | None, limit: tuple[int, str]
) -> None:
    """A prompt of 300 tokens was accepted; the next one had 1 500 with a result of 1 000."""
    messages = [user("u", "x" * 1_196), agent("a", "x" * 796), user("v", "x" * 3_996)]
    refused = (RejectedRequest("Prompt is too long", time=5.0),)
    context = context_of(messages, window=window, overflow_error_seen=True)
    assert context.total.tokens == 1_500
    points = (Point(1, 1, 300, Basis.EXACT, False),)
    found = limit_of(context, session_of(messages), 1, points, refused)
    assert found is not None
    assert (found.tokens, found.by) == limit
    if limit == (1_499, "window"):
        assert found.why == (
            "the model's window, set for this session; it rejected a request of about 1 500 tokens "
            "after a prompt of 300"
        )


def test_a13_the_refused_request_are_the_messages_before_the_error() -> None:
    said = [user("u", "x" * 1_200), agent("a", "x" * 800), user("v", "x" * 4_000), user("w", "x" * 39_996)]
    messages = [replace(message, time=float(n)) for n, message in enumerate(said)]
    context = context_of(messages, window=2_000, overflow_error_seen=True)
    points = (Point(1, 1, 300, Basis.EXACT, False),)
    for time, by in ((2.0, "refusal"), (3.0, "window")):
        refused = (RejectedRequest("Prompt is too long", time=time),)
        found = limit_of(context, session_of(messages), 1, points, refused)
        assert found is not None
        assert found.by == by


@pytest.mark.parametrize(("billed", "due"), [(166_999, False), (167_000, True)])
def test_d_a_trigger_that_fires_now_fires_before_the_next_call(billed: int, due: bool) -> None:
    """The sentence about the policy agrees with the line about its trigger."""
    messages = [user("u", "x"), replace(agent("a", "y"), usage=Usage(billed - 1))]
    session = replace(session_of(messages), model="claude-opus-4-5", format="claude-code")
    messages[1] = replace(messages[1], model="claude-opus-4-5", usage=Usage(billed - 1, 1))
    found = diagnosed_session(replace(session, messages=tuple(messages)), 1)
    assert [trigger.fires for trigger in found.triggers] == [due]
    text = found.findings[-1].text
    if due:
        assert text == f"claude-code would compact the session before its next call: {found.triggers[0]}."
    else:
        assert text == "claude-code would not have compacted the session at all."


@pytest.mark.parametrize(("tokens", "is_reported"), [(99, False), (100, True), (101, True)])
def test_waste_is_reported_from_a_number_of_tokens_on(reading: list[Message], tokens: int, is_reported: bool) -> None:
    course = course_of_messages(reading)
    spots = [waste.Spot("small", 1, 40, ""), waste.Spot("large", 3, tokens - 40, "")]
    found = _spot_findings(course, None, 100, "base64", spots, "2 messages", "removing the base64")
    text = f"2 messages: {tokens} tokens."
    assert found == ([Finding("base64", text, tokens, ("large", "small"))] if is_reported else [])
    assert _spot_findings(course, None, 0, "base64", [], "0 messages", "removing the base64") == []


@pytest.mark.parametrize("kind", ["base64", "logs", "unused"])
def test_only_encoded_files_are_removed_at_once(reading: list[Message], kind: str) -> None:
    """Other waste is of use until `ANSWERS` answers have followed it."""
    course = course_of_messages(reading)
    since = 2 if kind == "base64" else course.answers[waste.ANSWERS] + 1
    for tokens, saved in ((11, 0), (12, 0), (13, 1), (100, 88)):
        (found,) = _spot_findings(
            course, course.plain[3], 0, kind, [waste.Spot("r1", 2, tokens, "")], "1 result", "gone"
        )
        assert found.delay == delay_without(course, {2: (saved, since)}, course.plain[3])
        assert found.text == f"1 result: {tokens} tokens; gone {found.delay}."


def test_tables_are_named_by_their_keys_though_they_are_empty(reading: list[Message]) -> None:
    course = course_of_messages(reading[:1])
    bench = open_bench(course.session, course.counter)
    found = tables(diagnose(bench.context, course, 1, load_preset("claude-code")))
    assert [table.key for table in found.values()] == [*found] == [*KEYS]
    assert [table.title for table in found.values()] == [
        "By layer", "By tool", "By file", "Largest rounds", "Largest messages", "Files read more than once",
        "Results never referred to later", "Encoded files, logs, cut results", "Rework after compactions",
        "Written to the cache again",
    ]  # fmt: skip
    notes = {key: table.note for key, table in found.items() if not table.rows}
    assert notes.pop("unused").startswith("No tool result was left unused in this epoch. ")
    assert notes == {
        "tools": "No tool was called in this epoch.",
        "files": "No call of this epoch views or changes a file.",
        "rounds": "In the newest rounds the context grew by 0 tokens each.",
        "rereads": "No file was read more than once in this epoch.",
        "others": "No encoded files, logs or cut results in this epoch.",
        "rework": "No compaction is recorded from this epoch on: no rework is possible.",
        "cache": "The recorded usage has no cache figures.",
    }


def test_the_rounds_that_are_left_before_the_limit(reading: list[Message]) -> None:
    found = diagnosed_session(replace(session_of(reading), model="claude-sonnet-4-5"), 1)
    assert found.limit is not None
    left = found.limit.tokens - found.total.tokens
    assert found.crossing is None
    assert found.rounds_left is not None
    assert found.rounds_left * found.growth_per_round >= left > (found.rounds_left - 1) * found.growth_per_round > 0


@pytest.mark.parametrize(
    ("kind", "fix"),
    [
        ("unused", MessageFix("drop", "drop them", ("m1",))),
        ("base64", MessageFix("shorten", "shorten them", ("m2",))),
        ("logs", MessageFix("shorten", "shorten them", ("m3",))),
        ("message", MessageFix("shorten", "shorten it", ("m4",))),
        ("rework", None),
        ("none of these", None),
    ],
)
def test_a_fix_changes_the_messages_of_its_finding_that_are_here(kind: str, fix: MessageFix | None) -> None:
    unused, encoded, logs = (tuple(waste.Spot(f"{where}{n}", n, 1, "") for where in "mx") for n in (1, 2, 3))
    found = diagnosed_session(session_of([Message("m0", "user", ())]), 1)
    found = replace(found, waste=waste.Waste((), unused, encoded, logs, ()))
    finding = Finding(kind, "", 0, ("m4", "x4"))
    assert fix_for(found, finding, {"m0", "m1", "m2", "m3", "m4"}) == fix
    assert fix_for(found, finding, {"m0"}) is None


def test_reads_and_rework_are_fixed_where_they_are_here() -> None:
    reads = tuple(waste.FileView(f"m{n}", n, 9, 3 if n < 3 else None) for n in (1, 2, 3))
    found = diagnosed_session(session_of([Message("m0", "user", ())]), 1)
    found = replace(found, waste=waste.Waste((waste.Reread("a.py", reads),), (), (), (), ()))
    here = {"m1", "m2", "m3"}
    for kind in ("reread", "rereads"):
        assert fix_for(found, Finding(kind, "", 0, ("m2", "m3")), here) == MessageFix(
            "drop", "drop the older reads", ("m2",)
        )
    assert fix_for(found, Finding("rule_files", "", 0, ("m3", "m1", "m3", "x")), here) == MessageFix(
        "pin", "pin the message with the file", ("m3", "m1")
    )
    assert fix_for(found, Finding("clear", "", 0, ("m1",)), here) is None


@pytest.mark.parametrize(("chars", "found"), [(255, []), (256, ["m0"])])
def test_base64_from_256_characters_on(chars: int, found: list[str]) -> None:
    text = ("iVBORw0KGgoAAAANSUhEUgAAAAUA9bZq" * 8)[:chars]
    assert [spot.message for spot in waste.base64_spots(context_of([user("m0", text)]))] == found


@pytest.mark.parametrize("over", [0, 1])
def test_the_newest_epoch_with_a_call_above_the_window_overflowed(over: int) -> None:
    billed = replace(agent("a", "y"), usage=Usage(200_000 + over), model="claude-sonnet-4-5")
    messages = [user("u", "x"), billed, user("v", "x"), user("w", "x")]
    session = replace(session_of(messages, [0, 1], [2], [3]), model="claude-sonnet-4-5")
    assert overflowed_epoch(session) == (1 if over else 3)
