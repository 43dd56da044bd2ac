"""Recorded calls as conversations: what goes on, what was compacted, what is another conversation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.formats.format import RecordedRequest
from workbench.formats.kit.calls import RecordedCall, RecordedConversation, conversations, requests
from workbench.session import (
    Block,
    Compaction,
    Media,
    Message,
    Records,
    Session,
    SessionFacts,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Usage,
)

PROMPT = "You are the baker of a small village.\nBake what is asked for."
SUMMARY = "The user wants a rye loaf.\nThe dough is made and rests in the cellar."


def said(role: str, text: str, *, injected: bool = False, usage: Usage | None = None) -> Message:
    return Message("", role, (Text(text, injected),), usage=usage)  # type: ignore[arg-type]


def system(text: str = PROMPT) -> Message:
    return said("system", text)


def user(text: str) -> Message:
    return said("user", text)


def answer(text: str) -> Message:
    return said("assistant", text)


def asks(id: str) -> Message:
    return Message("", "assistant", (ToolUse(id, "look", {"a": 1, "b": 2}),))


def result(id: str, text: str) -> Message:
    return Message("", "tool", (ToolResult(id, (Text(text),)),))


def told(conversation: RecordedConversation) -> list[list[str]]:
    """Each epoch as the ids and first words of its messages."""
    return [
        [f"{m.id} {(m.text or '+'.join(r.text for r in m.results) or m.calls[0].id)[:12]}" for m in members]
        for epoch in conversation.epochs
        for members in [[conversation.messages[at] for at in epoch.members]]
    ]


def one(calls: Sequence[RecordedCall]) -> RecordedConversation:
    (conversation,) = conversations(calls)
    return conversation


def test_what_goes_on_is_one_epoch() -> None:
    usage = Usage(10, 2)
    first = said("assistant", "Which flour?", usage=usage)
    conversation = one(
        [
            RecordedCall((system(), user("Bake.")), first),
            RecordedCall((system(), user("Bake."), answer(" Which flour?\n"), user("Rye.")), answer("Done.")),
        ]
    )
    assert told(conversation) == [["m1 You are the ", "m2 Bake.", "m3 Which flour?", "m4 Rye.", "m5 Done."]]
    assert conversation.messages[2].usage == usage
    assert (conversation.branch, conversation.calls) == ((0, 1, 2, 3, 4), (0, 1))
    assert [(sent.answer, len(sent.messages)) for sent in conversation.sent] == [("m3", 2), ("m5", 4)]


def test_the_arguments_of_a_call_have_no_order() -> None:
    again = Message("", "assistant", (ToolUse("t", "look", {"b": 2, "a": 1}),))
    conversation = one(
        [
            RecordedCall((user("Bake."),), asks("t")),
            RecordedCall((user("Bake."), again, result("t", "hot")), answer("Done.")),
        ]
    )
    assert len(conversation.messages) == 4


def test_a_prompt_that_tells_another_date_is_the_newest() -> None:
    conversation = one(
        [
            RecordedCall((system(f"{PROMPT}\nToday is Monday, the 1st."), user("Bake.")), answer("Yes.")),
            RecordedCall(
                (system(f"{PROMPT}\nToday is Tuesday, the 2nd."), user("Bake."), answer("Yes."), user("Now."))
            ),
        ]
    )
    assert told(conversation) == [["m4 You are the ", "m2 Bake.", "m3 Yes.", "m5 Now."]]
    assert conversation.branch == (1, 2, 3, 4)
    assert conversation.sent[1].answer == ""


def test_a_summary_that_was_asked_for_ends_an_epoch() -> None:
    begun = (system(), user("Bake."), answer("Yes."))
    conversation = one(
        [
            RecordedCall(begun[:2], begun[2]),
            RecordedCall((*begun, user("Sum it up.")), answer(SUMMARY)),
            RecordedCall((system(), user(f"So far:\n{SUMMARY}"), user("Go on.")), answer("Done.")),
        ]
    )
    assert told(conversation) == [
        ["m1 You are the ", "m2 Bake.", "m3 Yes."],
        ["m1 You are the ", "m6 So far:\nThe ", "m7 Go on.", "m8 Done."],
    ]
    ended = conversation.epochs[0].ended_by
    assert ended is not None
    assert (ended.way, ended.summary, ended.kept_ids) == ("summary", "m6", ())
    assert conversation.messages[5].kind == "summary"


def test_an_epoch_keeps_the_prompt_that_it_was_sent() -> None:
    monday, tuesday = (system(f"{PROMPT}\nToday is {day}, as the calendar has it.") for day in ("Monday", "Tuesday"))
    begun = (user("Bake."), answer("Yes."), user("Rye."), answer("Of course."))
    conversation = one(
        [RecordedCall((monday, *begun[:3]), begun[3]), RecordedCall((tuesday, *begun[1:], user("Now.")))]
    )
    prompts = [conversation.messages[epoch.members[0]] for epoch in conversation.epochs]
    assert [prompt.text for prompt in prompts] == [monday.text, tuesday.text]


def test_attempts_that_share_more_than_their_beginning_are_not_taken_back() -> None:
    """A message that comes again later than where the requests part says that they are two conversations."""
    begun = (user("Bake."), answer("Yes."), user("Rye."), answer("One."), user("More."), answer("Two."))
    other = (*begun[:2], user("No, wheat."), answer("One."), user("Salt."))
    found = conversations([RecordedCall(begun[:5], begun[5]), RecordedCall(other, answer("Three."))])
    assert [conversation.calls for conversation in found] == [(0,), (1,)]


@pytest.mark.parametrize(("shared", "count"), [(1, 2), (2, 1)])
def test_under_another_prompt_two_messages_in_common_are_one_conversation(shared: int, count: int) -> None:
    begun = (user("Bake."), answer("Yes."))
    prompts = (system(PROMPT), system("Now you are the one who sells the bread."))
    calls = [
        RecordedCall((prompts[0], begun[0]), begun[1]),
        RecordedCall((prompts[1], *begun[:shared], user("How much is it?"))),
    ]
    assert len(conversations(calls)) == count


def test_a_summary_that_another_model_wrote() -> None:
    begun = (user("Bake."), answer("Yes."), user("Rye."))
    found = conversations(
        [
            RecordedCall(begun, answer("Of course.")),
            RecordedCall(
                (system("You write summaries of what bakers did."), user("<Bake. Yes. Rye.>")), answer(SUMMARY)
            ),
            RecordedCall((user(SUMMARY), user("Rye.")), answer("Done.")),
        ]
    )
    assert [told(conversation) for conversation in found] == [
        [["m1 Bake.", "m2 Yes.", "m3 Rye.", "m4 Of course."], ["m5 The user wan", "m3 Rye.", "m6 Done."]],
        [["m1 You write su", "m2 <Bake. Yes. ", "m3 The user wan"]],
    ]
    ended = found[0].epochs[0].ended_by
    assert ended is not None
    assert (ended.summary, ended.kept_ids) == ("m5", ("m3",))


def test_results_that_were_cleared_and_messages_that_were_left_out() -> None:
    begun = (user("Bake."), asks("a"), result("a", "a long list"), answer("Yes."))
    cleared = (user("Bake."), asks("a"), result("a", "[cleared]"), answer("Yes."), user("Go on."))
    conversation = one(
        [
            RecordedCall(begun[:3], begun[3]),
            RecordedCall(cleared, answer("Done.")),
            RecordedCall((cleared[0], *cleared[3:], answer("Done."), user("More.")), answer("No.")),
        ]
    )
    assert told(conversation) == [
        ["m1 Bake.", "m2 a", "m3 a long list", "m4 Yes."],
        ["m1 Bake.", "m2 a", "m5 [cleared]", "m4 Yes.", "m6 Go on.", "m7 Done."],
        ["m1 Bake.", "m4 Yes.", "m6 Go on.", "m7 Done.", "m8 More.", "m9 No."],
    ]
    assert [epoch.ended_by and epoch.ended_by.way for epoch in conversation.epochs] == ["clearing", "removal", None]


def test_what_was_taken_back_leaves_the_branch() -> None:
    begun = (user("Bake."), answer("Yes."), user("Rye."))
    again = (*begun[:2], user("No, wheat."))
    conversation = one(
        [
            RecordedCall(begun, answer("Rye it is.")),
            RecordedCall(again, answer("Wheat.")),
            RecordedCall(again, answer("Fine.")),
        ]
    )
    assert told(conversation) == [["m1 Bake.", "m2 Yes.", "m5 No, wheat.", "m7 Fine."]]
    assert conversation.branch == (0, 1, 4, 6)


def test_other_conversations() -> None:
    """A title of the first words, a sub-agent of the same prompt, a second attempt."""
    found = conversations(
        [
            RecordedCall((system("Write a title of five words for this."), user("Bake.")), answer("Baking")),
            RecordedCall((system(), said("user", "It is Monday.", injected=True), user("Bake.")), asks("a")),
            RecordedCall(
                (system(), said("user", "It is Tuesday.", injected=True), user("Fetch flour.")), answer("Here.")
            ),
            RecordedCall(
                (system(), said("user", "It is Monday.", injected=True), user("Bake.")), answer("Ten loaves.")
            ),
        ]
    )
    assert [conversation.calls for conversation in found] == [(0,), (1, 3), (2,)]


def test_reminders_that_change_are_the_same_message() -> None:
    def asked(time: str) -> Message:
        return Message("", "user", (Text(time, injected=True), Text("Bake.")))

    conversation = one(
        [RecordedCall((asked("1 h"),), answer("Yes.")), RecordedCall((asked("2 h"), answer("Yes."), user("Now.")))]
    )
    assert told(conversation) == [["m1 1 h\nBake.", "m2 Yes.", "m3 Now."]]


LONG = "The rye loaf takes two hours."
"""A line that is long enough to be compared."""


def ways(conversation: RecordedConversation) -> list[str | None]:
    return [epoch.ended_by.way if epoch.ended_by else None for epoch in conversation.epochs]


@pytest.mark.parametrize(
    ("lines", "shared", "count"),
    [(2, 1, 1), (3, 1, 2), (3, 2, 1), (4, 2, 1), (5, 2, 2)],
)
def test_prompts_that_share_half_of_their_long_lines_are_the_same(lines: int, shared: int, count: int) -> None:
    text = [f"Rule {number}: bake what is asked for." for number in range(lines)]
    other = [*text[:shared], *(f"Law {number}: sell what was baked." for number in range(lines - shared))]
    calls = [
        RecordedCall((system("\n".join(text)), user("Bake.")), answer("Yes.")),
        RecordedCall((system("\n".join(other)), user("Bake.")), answer("No.")),
    ]
    assert len(conversations(calls)) == count


@pytest.mark.parametrize(("letters", "count"), [(19, 2), (20, 1)])
def test_only_lines_of_twenty_letters_are_compared(letters: int, count: int) -> None:
    calls = [
        RecordedCall((system("x" * letters + "\n" + "Monday is baking day."), user("Bake.")), answer("Yes.")),
        RecordedCall((system(" " + "x" * letters + "\n" + "Sunday is resting day."), user("Bake.")), answer("No.")),
    ]
    assert len(conversations(calls)) == count


@pytest.mark.parametrize(("kept", "way"), [(1, "removal"), (2, "summary"), (4, "summary"), (0, "removal")])
def test_a_message_that_holds_half_of_an_earlier_answer_is_its_summary(kept: int, way: str) -> None:
    lines = [f"Loaf {number} is of rye and took two hours." for number in range(4)]
    begun = (user("Bake."), answer("\n".join(lines)), user("And then?"), answer("Salt."))
    after = (user("\n".join(["Before:", *lines[:kept]])), *begun[2:], user("More."))
    conversation = one([RecordedCall(begun[:1], begun[1]), RecordedCall(begun[:3], begun[3]), RecordedCall(after)])
    assert ways(conversation) == [way, None]
    assert told(conversation)[1] == [f"m5 {after[0].text[:12]}", "m3 And then?", "m4 Salt.", "m6 More."]
    assert conversation.messages[4].kind == ("summary" if way == "summary" else "normal")


@pytest.mark.parametrize(
    ("role", "kind", "way"),
    [
        ("user", "normal", "summary"),
        ("system", "normal", "summary"),
        ("assistant", "normal", "removal"),
        ("user", "meta", "removal"),
    ],
)
def test_a_summary_is_said_to_the_model(role: str, kind: str, way: str) -> None:
    begun = (user("Bake."), answer(LONG), user("And then?"), answer("Salt."))
    new = Message("", role, (Text(f"Before: \n{LONG}"),), kind)  # type: ignore[arg-type]
    after = (user("Go on."), new, *begun[2:], user("More."))
    conversation = one([RecordedCall(begun[:1], begun[1]), RecordedCall(begun[:3], begun[3]), RecordedCall(after)])
    assert ways(conversation) == [way, None]


def test_the_usage_of_a_summary_by_the_api_is_the_size_before() -> None:
    """Such a summary is the answer of a call, and the first message of the next request."""
    short = Message("", "assistant", (Text("In short."),), "summary", usage=Usage(90, 3))
    begun = (system(), user("Bake."), answer("Yes."), user("Rye."))
    conversation = one(
        [
            RecordedCall(begun[:2], begun[2]),
            RecordedCall(begun, short),
            RecordedCall((system(), short, user("Go on.")), answer("Done.")),
        ]
    )
    assert told(conversation) == [
        ["m1 You are the ", "m2 Bake.", "m3 Yes.", "m4 Rye."],
        ["m1 You are the ", "m5 In short.", "m6 Go on.", "m7 Done."],
    ]
    ended = conversation.epochs[0].ended_by
    assert ended == Compaction("", 90, "m5", None, "summary")
    assert conversation.messages[4].usage is None
    assert [sent.answer for sent in conversation.sent] == ["m3", "", "m7"]


def test_an_epoch_ends_when_the_call_after_it_was_answered() -> None:
    begun = (user("Bake."), asks("a"), result("a", "a long list"), answer("Yes."))
    done = Message("", "assistant", (Text("Done."),), time=50.0)
    cleared = (*begun[:2], result("a", "[cleared]"), begun[3], user("Go on."))
    conversation = one([RecordedCall(begun[:3], begun[3]), RecordedCall(cleared, done)])
    ended = conversation.epochs[0].ended_by
    assert ended == Compaction("", None, None, 50.0, "clearing", kept_ids=("m1", "m2", "m4"))
    assert [sent.messages for sent in conversation.sent] == [
        tuple(conversation.messages[at] for at in members) for members in ((0, 1, 2), (0, 1, 4, 3, 5))
    ]


def test_equal_messages_of_a_context_keep_their_order() -> None:
    begun = (user("Go."), answer("A."), user("Go."), answer("B."), user("Go."))
    after = (user("Go."), answer("B."), user("Go."), answer("C."), user("Stop."))
    conversation = one([RecordedCall(begun, answer("C.")), RecordedCall(after)])
    assert told(conversation)[1] == ["m1 Go.", "m4 B.", "m3 Go.", "m6 C.", "m7 Stop."]
    assert ways(conversation) == ["removal", None]


def test_a_call_without_an_answer_may_be_sent_again() -> None:
    conversation = one([RecordedCall((user("Bake."),)), RecordedCall((user("Bake."),), answer("Yes."))])
    assert told(conversation) == [["m1 Bake.", "m2 Yes."]]
    assert [(sent.answer, len(sent.messages)) for sent in conversation.sent] == [("", 1), ("m2", 1)]


def test_of_conversations_that_a_request_may_continue_the_nearest_is_continued() -> None:
    first = (user("Bake."), answer("Yes."), user("Rye."), answer("Fine."))
    found = conversations(
        [
            RecordedCall(first[:1], first[1]),
            RecordedCall((user("Sell."),), answer("No.")),
            RecordedCall((*first[:3],), first[3]),
            RecordedCall((user("Sell."), answer("No."), user("Why?")), answer("Shut.")),
        ]
    )
    assert [conversation.calls for conversation in found] == [(0, 2), (1, 3)]


def test_calls_without_a_message_are_no_conversation() -> None:
    assert conversations([]) == []
    assert conversations([RecordedCall(())]) == []


def test_the_requests_of_a_session_are_those_of_its_calls() -> None:
    session = Session("f", Path("x"), (), Records(b""))
    sent = (RecordedRequest("m1", ()),)
    assert [*requests(replace(session, facts=SessionFacts(own=sent)))] == [*sent]
    assert [*requests(session)] == []


@pytest.mark.parametrize(("block", "messages"), [(Thinking("So."), 4), (Media("image/png", 3), 5)])
def test_reasoning_does_not_make_another_message_and_an_image_does(block: Block, messages: int) -> None:
    begun = (user("Bake."), answer("Yes."))
    again = Message("", "user", (Text("Bake."), block))
    conversation = one([RecordedCall(begun[:1], begun[1]), RecordedCall((again, begun[1], user("Go.")), answer("No."))])
    assert len(conversation.messages) == messages


SUMMARIST = "You write summaries of what bakers did."


@pytest.mark.parametrize(
    ("prompt", "role", "text", "count"),
    [
        (PROMPT, "user", f"So far:\n{SUMMARY}", 1),
        (PROMPT, "user", "So far:\nThe user wants a rye loaf.", 1),
        (PROMPT, "user", "So far nothing was baked at all.", 2),
        (PROMPT, "tool", f"So far:\n{SUMMARY}", 2),
        ("You sell bread to those who come.", "user", f"So far:\n{SUMMARY}", 2),
    ],
)
def test_a_summary_asked_for_under_a_prompt_of_its_own(prompt: str, role: str, text: str, count: int) -> None:
    begun = (user("Bake."), answer("Yes."))
    found = conversations(
        [
            RecordedCall((system(), begun[0]), begun[1]),
            RecordedCall((system(SUMMARIST), *begun, user("Sum it up.")), answer(SUMMARY)),
            RecordedCall((system(prompt), said(role, text)), answer("Done.")),
        ]
    )
    assert len(found) == count
    if count == 1:
        assert [epoch.number for epoch in found[0].epochs] == [1, 2]
        assert told(found[0]) == [
            ["m1 You are the ", "m2 Bake.", "m3 Yes."],
            ["m1 You are the ", f"m7 {text[:12]}", "m8 Done."],
        ]


def test_an_answer_repeated_without_the_prompt_is_another_conversation() -> None:
    calls = [RecordedCall((system(), user("Bake.")), answer(LONG)), RecordedCall((user(f"Rate:\n{LONG}"),))]
    assert [conversation.calls for conversation in conversations(calls)] == [(0,), (1,)]


def test_a_request_whose_last_call_has_no_answer_repeats_none() -> None:
    calls = [
        RecordedCall((system(), user("Bake.")), answer(LONG)),
        RecordedCall((system(SUMMARIST), user("Bake."), answer(LONG), user("Sum it up."))),
        RecordedCall((system(), user(f"So far:\n{LONG}")), answer("Done.")),
    ]
    assert [conversation.calls for conversation in conversations(calls)] == [(0, 1), (2,)]


def test_the_newest_answer_may_be_recorded_in_any_form_and_an_older_one_not() -> None:
    begun = (user("Bake."), answer("Yes."), user("Rye."))
    calls = [RecordedCall(begun[:1], begun[1]), RecordedCall((begun[0], answer("Yes!"), begun[2]), answer("Fine."))]
    assert told(one(calls)) == [["m1 Bake.", "m2 Yes.", "m3 Rye.", "m4 Fine."]]
    changed = (begun[0], answer("No."), begun[2], answer("Fine."), user("More."))
    conversation = one([*calls, RecordedCall(changed)])
    assert told(conversation)[1] == ["m1 Bake.", "m5 No.", "m3 Rye.", "m4 Fine.", "m6 More."]
    assert ways(conversation) == ["removal", None]


def test_a_request_that_begins_with_the_last_answer_is_a_removal() -> None:
    conversation = one([RecordedCall((user("Bake."),), answer("Yes.")), RecordedCall((answer("Yes."), user("Go.")))])
    assert (told(conversation)[1], ways(conversation)) == (["m2 Yes.", "m3 Go."], ["removal", None])


def test_a_message_marked_as_a_summary_is_one_whatever_it_holds() -> None:
    begun = (user("Bake."), answer("Yes."), user("And then?"), answer("Salt."))
    short = Message("", "user", (Text("All is baked."),), "summary")
    conversation = one([RecordedCall(begun[:3], begun[3]), RecordedCall((short, *begun[2:], user("More.")))])
    assert (told(conversation)[1][0], ways(conversation)) == ("m5 All is baked", ["summary", None])


@pytest.mark.parametrize("new", [(), (Message("", "user", (Text("In short."),), "summary"),)])
@pytest.mark.parametrize("nearest", [0, 1])
def test_of_two_compacted_conversations_that_with_more_in_common_goes_on(
    nearest: int, new: tuple[Message, ...]
) -> None:
    parts = [
        (user("Bake."), answer("Yes."), user("Rye."), answer("Fine.")),
        (user("Sell."), answer("No."), user("Why?"), answer("Shut.")),
    ]
    request = (*new, parts[1 - nearest][3], *parts[nearest][2:], user("More."))
    found = conversations([*(RecordedCall(part[:3], part[3]) for part in parts), RecordedCall(request)])
    assert [conversation.calls for conversation in found] == ([(0, 2), (1,)] if nearest == 0 else [(0,), (1, 2)])


def test_a_summary_by_the_api_belongs_to_the_conversation_that_it_ends() -> None:
    short = Message("", "assistant", (Text("In short."),), "summary")
    other = (user("Sell."), answer("No."), user("Why?"), answer("Shut."))
    calls = [RecordedCall((user("Bake."),), short), RecordedCall(other[:3], other[3])]
    found = conversations([*calls, RecordedCall((short, other[3], user("Go.")))])
    assert [conversation.calls for conversation in found] == [(0, 2), (1,)]


@pytest.mark.parametrize(("name", "value", "epochs"), [("look", 1, 1), ("look", 2, 2), ("list", 1, 2)])
def test_a_call_is_the_same_by_its_id_name_and_arguments(name: str, value: int, epochs: int) -> None:
    first = Message("", "assistant", (ToolUse("a", "look", {"n": 1}),))
    again = Message("", "assistant", (ToolUse("a", name, {"n": value}),))
    begun = (user("Bake."), first, result("a", "hot"), answer("Yes."))
    conversation = one(
        [
            RecordedCall(begun[:1], begun[1]),
            RecordedCall(begun[:3], begun[3]),
            RecordedCall((begun[0], again, *begun[2:], user("Go.")), answer("Done.")),
        ]
    )
    assert len(conversation.epochs) == epochs
