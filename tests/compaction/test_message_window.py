"""`message-window`, beyond the rules in `tests/documents/test_003_message_window.py`."""

from __future__ import annotations

from array import array
from typing import Any

import pytest
from hypothesis import given

from workbench.compaction.context import Context, Layout
from workbench.compaction.outcome import Fate
from workbench.compaction.preset import default_preset
from workbench.compaction.prompts import load_prompt
from workbench.compaction.render import LABELS, PartLimits, labelled, tagged
from workbench.compaction.shape import Shape, api_chars
from workbench.compaction.strategies.message_window import STRATEGY, prompt_of
from workbench.compaction.summary_request import (
    ASK,
    Answer,
    MessagesBody,
    Summary,
    SummaryFailed,
    SummaryRequest,
    TextBody,
)
from workbench.compaction.window.ends import safe_end, window_end
from workbench.compaction.window.policy import BEGUN, MessageWindowPolicy
from workbench.conformance.building import METER, agent, call, chat, context_of, loop, result, summary, user
from workbench.conformance.drawn import contexts, policies
from workbench.conformance.strategies import FAILED, run
from workbench.session import Message, Text, Thinking
from workbench.tokens.sizes import Basis, Sizes


def test_safe_ends() -> None:
    tools = [
        user("1", "do"),
        agent("2", "yes"),
        agent("3", "", call("c")),
        result("4", ("c", "r")),
        user("5", "thanks"),
    ]
    assert safe_end(context_of(tools).layout.shape, 0, 4, "whole_pairs") == 4
    assert safe_end(context_of(tools).layout.shape, 0, 4, "user_message") == 4
    assert safe_end(context_of(tools).layout.shape, 0, 3, "user_message") == 0
    assert safe_end(context_of(tools).layout.shape, 0, 2, "user_message", forward_to=5) == 4
    assert safe_end(context_of([*tools, agent("6", "ok")]).layout.shape, 0, 5, "user_message", forward_to=6) == 6


def test_the_transcript_tells_how_much_it_shows() -> None:
    text = labelled(user("1", "X" * 1_000), LABELS["zh"], PartLimits(500, 0, 200), 1_000)
    assert (text.seen, text.of) == (500, 1_000)


def test_the_transcript_may_be_cut_at_its_start() -> None:
    messages = [user(str(n), f"{n:02} " + "y" * 497) for n in range(40)]
    newest, _ = run(STRATEGY, context_of(messages), MessageWindowPolicy(request_cut="start"))
    assert newest.fate_at(0).fate is Fate.DROPPED
    assert newest.fate_at(29).saw == "all"


def test_the_prompt_asks_for_its_limit_in_its_language() -> None:
    assert "不超过 1500 字符" in prompt_of(MessageWindowPolicy())
    assert "no more than 900 characters" in prompt_of(MessageWindowPolicy(language="en", summary_char_limit=900))


def test_a_failure_may_also_leave_everything_as_it_is() -> None:
    outcome, _ = run(
        STRATEGY, context_of(chat(40)), MessageWindowPolicy(fallback_messages=0), SummaryFailed("timeout", "120 s")
    )
    assert (outcome.status, outcome.reason) == ("unchanged", "the summarizer failed (timeout): 120 s")


SPOKEN = {"cut": "newest_spoken", "keep_messages": 2, "safe_end": "whole_pairs", "min_tail_messages": 0}
FIRST = {"keep_first": 2, "summary_role": "user", "reply": "Ok."}


@pytest.mark.parametrize(
    ("messages", "split_at", "fields", "left"),
    [
        (chat(5), None, {}, "u0 a0 u1 a1 u2 a2 u3 a3 u4 a4"),
        (chat(8), None, {}, "summary-a2 u3 a3 u4 a4 u5 a5 u6 a6 u7 a7"),
        (loop("1", 5), "1r2", {}, "summary-1r1 1a2 1r2 1a3 1r3 1a4 1r4 1z"),
        (loop("1", 5), None, SPOKEN, "summary-1r3 1a4 1r4 1z"),
        (chat(4), None, SPOKEN | {"keep_messages": 3}, "summary-u2 a2 u3 a3"),
        ([*loop("1", 3), *chat(20)], None, FIRST, "1u summary-a10 summary-a10:reply u11"),
        ([*loop("1", 3), *chat(20)], None, {"keep_first": 3}, "1u 1a0 1r0"),
    ],
)
def test_what_stays(messages: list[Message], split_at: str | None, fields: dict[str, Any], left: str) -> None:
    """The newest ten, or from a split by hand moved back to a whole pair; and the first."""
    outcome, _ = run(STRATEGY, context_of(messages, split_at=split_at), MessageWindowPolicy(**fields))
    assert [m.id for m in outcome.messages][: len(left.split()) if "keep_first" in fields else None] == left.split()


@pytest.mark.parametrize(
    ("fields", "left", "trace"),
    [
        ({"fallback_messages": 18}, 18, "58 → 56 tokens"),
        ({"fallback_messages": 6}, 6, "58 → 20 tokens"),
        ({"fallback_messages": 5}, 4, "58 → 14 tokens"),  # an answer would open; with a marker they are six
        ({"fallback_messages": 6, "earlier_summary": "keep"}, 6, "58 → 19 tokens"),
    ],
)
def test_a_hard_trim_says_what_it_left(fields: dict[str, Any], left: int, trace: str) -> None:
    messages = [Message("s", "system", (Text("rule"),)), summary("old", "before"), *chat(9)]
    outcome, _ = run(STRATEGY, context_of(messages), MessageWindowPolicy(**fields), SummaryFailed("timeout", "120 s"))
    spared = ["s", "old"] if "earlier_summary" in fields else ["s"]
    newest = [message.id for message in messages][len(messages) + len(spared) - 1 - left :]
    assert [message.id for message in outcome.messages] == spared + newest
    assert (outcome.status, outcome.reason) == (
        "fallback", f"the summarizer failed (timeout): 120 s; hard trim: {trace}",
    )  # fmt: skip
    limit = fields["fallback_messages"]
    assert outcome.trace[2:] == (f"hard trim: 19 messages → {left}, limit {limit}", trace)


@given(contexts(), policies(default_preset(STRATEGY.id).policy))
def test_a_hard_trim_leaves_no_more_than_its_number_but_for_what_is_spared(
    context: Any, chosen: MessageWindowPolicy
) -> None:
    """And for what the user is made to say between spared messages that the API would refuse side by side."""
    outcome, _ = run(STRATEGY, context, chosen, FAILED)
    if outcome.status == "fallback":
        spared = [i for i in range(len(context)) if outcome.fate_at(i).fate in (Fate.PINNED, Fate.KEPT)]
        left = [message for message in outcome.messages if not message.id.startswith("gap-")]
        assert len(left) <= max(chosen.fallback_messages, len(spared) + 1)


SIZED = [user("u", "x" * 8), agent("a", "y" * 8), user("v", "x" * 9), agent("b", "y" * 12), user("w", "x" * 8)]
"""By a quarter of the characters, rounded up, 2, 2, 3, 3 and 2 tokens."""


@pytest.mark.parametrize(
    ("keep_at", "tokens", "left"),
    [
        ("most", 4, 1),
        ("most", 5, 2),
        ("most", 7, 2),
        ("most", 8, 3),
        ("least", 2, 1),
        ("least", 3, 2),
        ("least", 5, 2),
        ("least", 6, 3),
    ],
)
def test_the_newest_tokens_at_most_or_at_least(keep_at: str, tokens: int, left: int) -> None:
    fields = {"cut": "newest_tokens", "tokens_as": "text", "min_tail_messages": 0, "safe_end": "whole_pairs"}
    policy = MessageWindowPolicy(**fields, keep_at=keep_at, keep_tokens=tokens)
    outcome, _ = run(STRATEGY, context_of(SIZED), policy)
    assert [m.id for m in outcome.messages[1:]] == [m.id for m in SIZED[-left:]]


@pytest.mark.parametrize(("tokens", "left"), [(3, 1), (4, 2), (5, 2), (6, 3)])
def test_a_quarter_of_the_characters_is_rounded_up_for_each_message(tokens: int, left: int) -> None:
    """Two tokens for five characters, and six for three times five."""
    fields = {"cut": "newest_tokens", "tokens_as": "text", "min_tail_messages": 0, "safe_end": "whole_pairs"}
    messages = [agent(str(n), "x" * 5) for n in range(5)]
    outcome, _ = run(STRATEGY, context_of(messages), MessageWindowPolicy(**fields, keep_tokens=tokens))
    assert len(outcome.messages) == 1 + left


@pytest.mark.parametrize(("limit", "saw"), [(8, "part"), (9, "all")])
def test_thinking_that_is_shown_counts_as_seen(limit: int, saw: str) -> None:
    told = [user("u", "q"), Message("a", "assistant", (Thinking("hm, three"), Text("3"))), *chat(20)]
    outcome, _ = run(STRATEGY, context_of(told), MessageWindowPolicy(thinking_char_limit=limit))
    assert outcome.fate_at(1).saw == saw


@pytest.mark.parametrize("more", [-1, 0])
def test_tokens_as_a_quarter_of_the_json(more: int) -> None:
    """The newest two messages have 36 characters of content and the JSON around it."""
    json = sum(map(api_chars, SIZED[-2:]))
    assert json > 2 * 36
    fields = {"cut": "newest_tokens", "tokens_as": "json", "min_tail_messages": 0, "safe_end": "whole_pairs"}
    outcome, _ = run(STRATEGY, context_of(SIZED), MessageWindowPolicy(**fields, keep_tokens=-(-json // 4) + more))
    assert len(outcome.messages) == 3 + more


STEPS = [
    user("u", "do"),
    agent("a", "", call("c1"), call("c2")),
    result("r", ("c1", "1"), ("c2", "2")),
    *chat(4),
]
"""Of 11 messages 13 events, the system prompt not counted: two calls and two results in one message each."""


@pytest.mark.parametrize(("limit", "fires"), [(13, True), (14, True), (15, False)])
def test_events_are_what_triggers_count(limit: int, fires: bool) -> None:
    policy = MessageWindowPolicy(messages_as="events", trigger_messages=limit)
    (trigger,) = STRATEGY.read_triggers(context_of(STEPS), policy)
    assert (trigger.fires, trigger.value, trigger.name) == (fires, 14, "events")
    with_system = [Message("s", "system", (Text("be good"),)), *STEPS]
    assert STRATEGY.read_triggers(context_of(with_system), policy)[0].value == 14


@pytest.mark.parametrize(
    ("keep_first", "left"),
    [(1, ""), (2, "u"), (3, "u a r"), (4, "u a r"), (6, "u a r"), (7, "u a r u0")],
)
def test_the_first_events_to_the_next_safe_place(keep_first: int, left: str) -> None:
    fields = {"messages_as": "events", "cut": "newest_messages", "keep_messages": 2, "min_tail_messages": 0}
    policy = MessageWindowPolicy(**fields, keep_first=keep_first, search="forward", safe_end="whole_pairs")
    outcome, _ = run(STRATEGY, context_of(STEPS), policy)
    assert [m.id for m in outcome.messages if m.kind == "normal"] == [*left.split(), "u3", "a3"]


@pytest.mark.parametrize(("limit", "left"), [(8, 2), (9, 2), (10, 3), (11, 3), (12, 3), (40, 3)])
def test_half_of_the_limit_or_of_what_there_is(limit: int, left: int) -> None:
    """With 11 messages: half of the limit, less the first one and the summary; half of 11 if the limit is not
    reached."""
    policy = MessageWindowPolicy(trigger_messages=limit, cut="half", keep_first=1, min_tail_messages=0)
    outcome, _ = run(STRATEGY, context_of(STEPS), policy.with_(safe_end="whole_pairs", search="forward"))
    assert [m.id for m in outcome.messages if m.kind == "normal"][1:] == [m.id for m in STEPS[-left:]]


def test_first_messages_stay_and_are_not_in_the_request() -> None:
    _, (request,) = run(STRATEGY, context_of(chat(20)), MessageWindowPolicy(keep_first=2))
    assert "request 0" not in request.text
    assert "request 1" in request.text


@pytest.mark.parametrize(
    ("old", "now"),
    [
        ({"fallback": "unchanged"}, {"fallback_messages": 0}),
        ({"fallback": "hard_trim"}, {"fallback_messages": 50}),
        ({"first_in_request": True}, {}),
        ({"request_from": "user_message"}, {"request_cut": "before_user_message"}),
        ({"request_from": "anywhere"}, {"request_cut": "end"}),
    ],
)
def test_settings_that_are_one_now_are_read_by_their_old_names(old: dict[str, object], now: dict[str, object]) -> None:
    assert MessageWindowPolicy.model_validate(old) == MessageWindowPolicy.model_validate(now)


HALVES = [*chat(8), user("x", "more"), *(agent(f"h{n}", "y" * 27) for n in range(3))]
"""Counted with ten tokens a message."""


@pytest.mark.parametrize(
    ("limit", "manual", "left"),
    [
        (201, False, 9),  # not reached: half of those that there are, as where nothing fires
        (200, False, 9),
        (200, True, 9),
        (100, False, 4),
        (100, True, 4),
        (60, False, 2),
    ],
)
def test_half_of_the_tokens_is_left_where_there_are_too_many(limit: int, manual: bool, left: int) -> None:
    """Twenty messages of ten tokens: what goes is more than what is over half of the limit."""
    policy = MessageWindowPolicy(
        trigger_messages=0, trigger_tokens=limit, cut="half", min_tail_messages=0, safe_end="whole_pairs"
    )
    sizes = Sizes(array("q", [10] * 20), Basis.CALIBRATED, 0, Basis.CALIBRATED, 0, METER)
    context = Context(Layout(Shape(tuple(HALVES)), sizes), manual=manual)
    trace: list[str] = []
    assert 20 - window_end(context, policy, trace) == left


@pytest.mark.parametrize(("keep_first", "goes"), [(18, 2), (19, 1), (20, 0), (21, 0), (99, 0)])
def test_half_of_the_tokens_where_hardly_anything_may_go(keep_first: int, goes: int) -> None:
    """Twenty messages of ten tokens over a limit of ten, of which the first stay."""
    policy = MessageWindowPolicy(
        trigger_messages=0,
        trigger_tokens=10,
        cut="half",
        keep_first=keep_first,
        min_tail_messages=0,
        safe_end="whole_pairs",
    )
    sizes = Sizes(array("q", [10] * 20), Basis.CALIBRATED, 0, Basis.CALIBRATED, 0, METER)
    outcome, _ = run(STRATEGY, Context(Layout(Shape(tuple(HALVES)), sizes)), policy)
    assert sum(len(one) for one in outcome.fates if one.fate == Fate.SUMMARIZED) == goes


SPLIT = [*chat(2), user("q", "the request"), agent("b", "began"), agent("c", "went on"), agent("d", "ended")]


@pytest.mark.parametrize(
    ("keep", "asked"),
    [
        (1, [["request 0", "answer 1"], ["the request", "went on"]]),
        (3, [["request 0", "answer 1"], ["the request"]]),
        (4, [["request 0", "answer 1"]]),
        (5, [["request 0"], ["request 1"]]),
        (7, [["request 0"]]),
    ],
)
def test_the_beginning_of_a_round_that_is_split_is_told_by_itself(keep: int, asked: list[list[str]]) -> None:
    """The window's end before each message: within the newest round, before it, within the one before."""
    policy = MessageWindowPolicy(
        cut="newest_messages", keep_messages=keep, min_tail_messages=0, safe_end="whole_pairs", language="en"
    )
    outcome, requests = run(STRATEGY, context_of(SPLIT), policy.with_(split_round=True), "S")
    assert len(requests) == len(asked)
    for request, words in zip(requests, asked, strict=True):
        assert all(word in request.text for word in words)
    (made,) = [message.text for message in outcome.messages if message.kind == "summary"]
    apart = BEGUN["en"].join(["S", "S"])
    assert made.endswith(apart if len(asked) == 2 else "S")
    assert (BEGUN["en"] in made) is (len(asked) == 2)
    _, alone = run(STRATEGY, context_of(SPLIT), policy, "S")
    assert len(alone) == 1, "only where it is asked for"


def test_where_nothing_is_before_the_split_round_only_its_beginning_is_told() -> None:
    policy = MessageWindowPolicy(
        cut="newest_messages", keep_messages=1, min_tail_messages=0, safe_end="whole_pairs", split_round=True
    )
    outcome, (request,) = run(STRATEGY, context_of(SPLIT[4:]), policy.with_(language="en"), "S")
    assert "the request" in request.text
    assert load_prompt("split-round.en.md").text.strip() in request.text
    assert [outcome.fate_at(index).fate for index in range(4)] == [Fate.SUMMARIZED] * 3 + [Fate.KEPT]


ENDS = [*chat(6), user("p", "p" * 40), agent("q", "q" * 40), *chat(2, "z")]
"""The window of the first 14 ends with entries of 17, 21, 48 and 53 characters, two between each and the next."""
LAST = f"[user]: {'p' * 40}\n\n[assistant]: {'q' * 40}"


@pytest.mark.parametrize(
    ("limit", "shown"),
    [
        (102, f"...[cut]{LAST[1:]}"),
        (103, LAST),
        (104, LAST),
        (128, LAST),
        (129, f"...[cut]5\n\n[assistant]: answer 5\n\n{LAST}"),
    ],
)
def test_a_request_that_begins_with_the_user(limit: int, shown: str) -> None:
    """The message at which the limit is met is shown in part if it is the user's; an answer there is left out."""
    ends = {"window_messages": 14, "min_tail_messages": 0, "safe_end": "whole_pairs"}
    asks = {"request_cut": "before_user_message", "request_char_limit": limit, "language": "en"}
    _, (request,) = run(STRATEGY, context_of(ENDS), MessageWindowPolicy(**ends, **asks))
    assert request.text.partition("---\n")[2].removesuffix("\n---\n") == shown


def test_a_request_in_which_the_user_says_nothing_is_not_asked() -> None:
    messages = [*chat(1), *(agent(f"b{n}", "y" * 50) for n in range(50))]
    policy = MessageWindowPolicy(request_cut="before_user_message", request_char_limit=500, fallback_messages=0)
    outcome, requests = run(STRATEGY, context_of(messages), policy)
    assert (outcome.status, requests) == ("unchanged", [])
    assert outcome.reason == "no user message fits within the request limit"


@pytest.mark.parametrize(
    ("messages", "left"),
    [
        (chat(8), "summary u6 a6 u7 a7"),
        ([*chat(8), user("now", "next")], "summary a6 u7 a7 now"),
        ([*chat(8), user("v", "and"), user("now", "next"), user("w", "or"), user("x", "x")], "summary reply v now w x"),
    ],
)
def test_a_reply_at_the_end_of_what_is_done(messages: list[Message], left: str) -> None:
    ends = {"cut": "newest_messages", "keep_messages": 4, "min_tail_messages": 0, "safe_end": "whole_pairs"}
    policy = MessageWindowPolicy(**ends, summary_role="user", reply="Ok.", reply_at="end")
    outcome, _ = run(STRATEGY, context_of(messages), policy)
    names = {"user": "summary", "assistant": "reply"}
    assert [names[m.role] if m.kind == "summary" else m.id for m in outcome.messages] == left.split()


def test_a_window_that_ends_behind_an_answer() -> None:
    messages = [user("1", "a"), user("2", "b"), agent("3", "c"), user("4", "d"), agent("5", "", call("x"))]
    messages += [result("6", ("x", "r")), agent("7", "e"), user("8", "f")]
    shape = context_of(messages).layout.shape
    assert [safe_end(shape, 0, at, "answer") for at in range(9)] == [0, 0, 0, 3, 3, 3, 3, 7, 7]
    unanswered = context_of([user("1", "a"), agent("2", "", call("x")), user("3", "b")]).layout.shape
    assert safe_end(unanswered, 0, 2, "answer") == 0


def test_a_summary_in_the_agents_role_is_carried_on_and_its_reply_is_not() -> None:
    policy = MessageWindowPolicy(earlier_summary="nest", summary_role="assistant", summary_template="{summary}")
    told = Message("s", "assistant", (Text("they met"),), kind="summary")
    _, (request,) = run(STRATEGY, context_of([told, *chat(25)]), policy)
    assert request.previous == "they met"
    answered = [summary("s", "they met"), Message("t", "assistant", (Text("Ok."),), kind="summary"), *chat(25)]
    assert run(STRATEGY, context_of(answered), policy)[1][0].previous == "they met"


SECOND = load_prompt("second-look.en.md").text.strip()


def looked_at_twice(shape: str, second: Answer) -> tuple[list[SummaryRequest], list[str]]:
    """The requests, and the texts of the summary and of what tells of the second look."""
    policy = MessageWindowPolicy.model_validate(
        {
            "window_messages": 4,
            "min_tail_messages": 0,
            "language": "en",
            "prompt": "Sum up.",
            "request_shape": shape,
            "second_look": True,
            "summary_template": "<state_snapshot>\n{summary}\n</state_snapshot>",
            "summary_role": "user",
        }
    )
    answers = iter([Summary("First."), second])
    outcome, requests = run(STRATEGY, context_of(chat(4)), policy, lambda request: next(answers))
    return requests, [outcome.messages[0].text, *(line for line in outcome.trace if "second check" in line)]


def test_what_a_second_look_writes_counts() -> None:
    (first, second), told = looked_at_twice("text", Summary("Second."))
    assert told == ["<state_snapshot>\nSecond.\n</state_snapshot>"]
    assert isinstance(first.body, TextBody)
    assert second.text == f"{first.text}\n\n<summary>\nFirst.\n</summary>\n\n{SECOND}"
    assert (first.exact, second.exact) == (True, False)
    assert [m.id for m in second.messages] == [m.id for m in first.messages]


def test_in_a_conversation_the_first_summary_is_the_agents_answer() -> None:
    (first, second), _ = looked_at_twice("messages_under_prompt", Summary("Second."))
    assert isinstance(first.body, MessagesBody)
    assert isinstance(second.body, MessagesBody)
    assert (second.body.system, second.body.last) == ("Sum up.", SECOND)
    added = second.body.messages[len(first.body.messages) :]
    assert [(m.role, m.text) for m in added] == [("user", ASK["en"]), ("assistant", "First.")]


def test_a_second_look_that_fails_leaves_the_first() -> None:
    _, told = looked_at_twice("text", SummaryFailed("timeout", "120 s"))
    assert told == [
        "<state_snapshot>\nFirst.\n</state_snapshot>",
        "the second check failed, the first summary is used: the summarizer failed (timeout): 120 s",
    ]


def test_a_summary_that_brings_its_frame_along_is_not_framed_again() -> None:
    own = "<scratchpad>x</scratchpad>\n<state_snapshot>\nSecond.\n</state_snapshot>"
    assert looked_at_twice("text", Summary(own))[1] == [own]


def test_only_what_nobody_typed_in_the_users_place_is_injected() -> None:
    said = (Text("x"),)
    assert tagged(Message("m", "user", said, kind="meta"), ()) == "<user>\n<injected>\nx\n</injected>\n</user>"
    assert tagged(Message("m", "user", said), ()) == "<user>\nx\n</user>"
    assert tagged(Message("m", "assistant", said, kind="meta"), ()) == "<agent>\nx\n</agent>"
