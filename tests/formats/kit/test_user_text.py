"""Whose words: tags that tools put into a person's message, and answers that a person gave through a tool."""

from __future__ import annotations

import json

import pytest

from workbench.formats.agent_texts import TEXTS, split_user_text, with_user_text
from workbench.formats.kit.user_text import AgentTexts, Refusal, is_injected, merged, user_words_in
from workbench.formats.kit.user_text import split_user_text as split
from workbench.formats.kit.user_text import with_user_text as with_words
from workbench.session import Media, Message, Text, ToolResult, ToolUse

REMINDER = "<system-reminder>\nThe oven is on.\n</system-reminder>"

TRANSCRIPT = "\n\nIf you need specific details from before exiting plan mode (the oven's), read: /kitchen/a.jsonl"


def own(text: str) -> Text:
    return Text(text)


def put_in(text: str) -> Text:
    return Text(text, injected=True)


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("", [own("")]),
        ("Bake a < b", [own("Bake a < b")]),
        (REMINDER, [put_in(REMINDER)]),
        (f"Bake.\n\n{REMINDER}\n", [own("Bake."), put_in(f"\n\n{REMINDER}\n")]),
        (f"{REMINDER}\nBake.{REMINDER}", [put_in(f"{REMINDER}\n"), own(f"Bake.{REMINDER}")]),
        (f"{REMINDER}{REMINDER} Bake.", [put_in(f"{REMINDER}{REMINDER} "), own("Bake.")]),
        ("Why <system-reminder>x</system-reminder> here?", [own("Why <system-reminder>x</system-reminder> here?")]),
        ("<system-reminder>never closed", [own("<system-reminder>never closed")]),
        ("<user_info>\n<timestamp>\n<system-reminder>x</system-reminder>\n</user_info>Hi",
         [put_in("<user_info>\n<timestamp>\n<system-reminder>x</system-reminder>\n</user_info>"), own("Hi")]),
        ("<context>Mine.</context>", [own("<context>Mine.</context>")]),
        ('<file_content path="a">x</file_content>', [put_in('<file_content path="a">x</file_content>')]),
        (
            "<command-name>/bake</command-name>\n<command-args>a loaf</command-args>",
            [put_in("<command-name>/bake</command-name>\n<command-args>"), own("a loaf"), put_in("</command-args>")],
        ),
        (f"Bake.{TRANSCRIPT}", [own("Bake."), put_in(TRANSCRIPT)]),
        (f"Bake.\n{REMINDER}{TRANSCRIPT}", [own("Bake."), put_in(f"\n{REMINDER}{TRANSCRIPT}")]),
        (f"Bake.{TRANSCRIPT}\n\nThen eat.", [own(f"Bake.{TRANSCRIPT}\n\nThen eat.")]),
        (TRANSCRIPT.strip(), [own(TRANSCRIPT.strip())]),
        ("<user_query>\nBake.\n</user_query>", [put_in("<user_query>\n"), own("Bake."), put_in("\n</user_query>")]),
    ],
)  # fmt: skip
def test_a_persons_text_is_parted(text: str, blocks: list[Text]) -> None:
    assert [*split_user_text(text)] == blocks
    assert "".join(block.text for block in blocks) == text


def test_a_format_adds_tags_of_its_own() -> None:
    assert split_user_text("<skill>x</skill>\nBake.") == (own("<skill>x</skill>\nBake."),)
    assert split_user_text("<skill>x</skill>\nBake.", ("skill",)) == (put_in("<skill>x</skill>\n"), own("Bake."))


def test_what_is_a_round() -> None:
    said = (own("Bake."),)
    read = with_user_text(
        [
            Message("a", "user", (own(REMINDER),)),
            Message("b", "user", (own(REMINDER), *said)),
            Message("c", "user", (own(REMINDER), Media("image/png", 9))),
            Message("d", "user", ()),
            Message("e", "user", (own(REMINDER),), "summary"),
            Message("f", "assistant", (own(REMINDER),)),
        ]
    )
    assert read == (
        Message("a", "user", (put_in(REMINDER),), "meta"),
        Message("b", "user", (put_in(REMINDER), *said)),
        Message("c", "user", (put_in(REMINDER), Media("image/png", 9))),
        Message("d", "user", ()),
        Message("e", "user", (own(REMINDER),), "summary"),
        Message("f", "assistant", (own(REMINDER),)),
    )
    assert [message.user_text for message in read] == ["", "Bake.", "", "", "", ""]


ASKED = {"questions": [{"question": 'Which "flour"?'}, {"question": "How long?"}]}
REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, "
    "the user said:\n"
)
CLARIFY = f'{REFUSED}The user wants to clarify these questions.\n    Questions asked:\n- "How long?"\n  '


@pytest.mark.parametrize(
    ("tool", "given", "text", "said"),
    [
        ("AskUserQuestion", ASKED, 'Your questions have been answered: "Which "flour"?"="Rye", "How long?"="1 h". '
         "You can now continue with these answers in mind.", "Rye\n1 h"),
        ("AskUserQuestion", ASKED, 'Your questions have been answered: "How long?"="1 h" selected preview:\n60 "min". '
         "You can now continue with these answers in mind.", "1 h"),
        ("AskUserQuestion", ASKED, 'The user answered: "How long?"=(no option selected) notes: As long as it takes. '
         "Read the answers carefully — they may request clarification.", "As long as it takes"),
        ("question", ASKED, 'User has answered your questions: "Which "flour"?"="Unanswered", "How long?"="a, b". '
         "You can now continue with the user's answers in mind.", "a, b"),
        ("AskUserQuestion", ASKED, "Nothing of the kind", ""),
        ("AskUserQuestion", {}, 'Your questions have been answered: "How long?"="1 h".', ""),
        ("AskUserQuestion", ASKED, f"{CLARIFY}(No answer provided)", ""),
        ("AskUserQuestion", ASKED, f"{CLARIFY}Answer: 1 h", "1 h"),
        ("Edit", {}, f"{REFUSED}not that file", "not that file"),
        ("Read", {}, f"1→{REFUSED}quoted", ""),
        ("request_user_input", {}, json.dumps({"answers": {"q": {"answers": ["a", "user_note: b"]}}}), "a\nb"),
        ("request_user_input", {}, "[", ""),
        ("ask_user", {}, json.dumps({"answers": {"0": "Rye", "1": ["a", 7]}}), "Rye\na"),
        ("ask_user", {}, "User selected: Rye", "Rye"),
        ("ask_user", {}, "User responded: The user is not available to respond and will review later.", ""),
        ("ask_followup_question", {}, "[ask] Result:\n<answer>\nRye\n</answer>\n<feedback>", "Rye"),
        ("bash", {}, "User selected: Rye", ""),
    ],
)  # fmt: skip
def test_what_is_said_through_a_tool(tool: str, given: dict[str, object], text: str, said: str) -> None:
    result = ToolResult("t", (Text(text),))
    assert user_words_in(ToolUse("t", tool, given), result, TEXTS) == said
    asked = Message("a", "assistant", (ToolUse("t", tool, given),))
    (_, answered) = with_user_text([asked, Message("b", "tool", (result,))])
    assert answered.user_text == said
    assert answered.blocks == (ToolResult("t", (Text(text),), user_text=said),)


def test_what_a_format_marked_stays() -> None:
    marked = Message("b", "tool", (ToolResult("t", (Text(f"{REFUSED}no"),), user_text="never"),))
    assert with_user_text([marked]) == (marked,)


def test_the_texts_of_agents_are_merged_in_their_order() -> None:
    def first(given: object, text: str) -> list[str]:
        return ["first"] if "1" in text else []

    def second(given: object, text: str) -> list[str]:
        return [" ", "second "]

    no = Refusal("No", lambda text: text[3:] or None)
    never = Refusal("N", lambda text: "never")
    one = AgentTexts(("a",), ("w",), ("End",), {"ask": (first,), "say": (first,)}, (no,))
    two = AgentTexts(("b",), ("v",), ("Fin",), {"ask": (second,)}, (never,))
    both = merged(one, two)
    assert both == AgentTexts(
        ("a", "b"), ("w", "v"), ("End", "Fin"), {"ask": (first, second), "say": (first,)}, (no, never)
    )
    assert merged() == AgentTexts()

    def words(text: str, call: ToolUse | None = None) -> str:
        return user_words_in(call, ToolResult("t", (Text(text),)), both)

    ask = ToolUse("t", "ask", "raw")
    assert [words("1", ask), words("2", ask), words("2", ToolUse("t", "say", {})), words("1")] == [
        "first",
        "second",
        "",
        "",
    ]
    assert [words("No: why", ask), words("No:", ask), words("Na"), words("a No: why")] == [" why", "never", "never", ""]


KIT = AgentTexts(("note",), ("q",), ("Bye.*",))


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("<note>a</note>\n<note>b</note>", [put_in("<note>a</note>\n<note>b</note>")]),
        ("x\n <note a='1'>a</note>y", [own("x"), put_in("\n <note a='1'>a</note>"), own("y")]),
        ("<note>a\n<note>b</note>c</note>d", [put_in("<note>a\n<note>b</note>"), own("c</note>d")]),
        ("<note>a <q>b</q></note> <q>c</q>", [put_in("<note>a <q>b</q></note> <q>"), own("c"), put_in("</q>")]),
        ("<note>open <q>b</q>", [own("<note>open"), put_in(" <q>"), own("b"), put_in("</q>")]),
        ("<note>open\n<note>\n<q>b</q>", [own("<note>open\n<note>"), put_in("\n<q>"), own("b"), put_in("</q>")]),
        ("Hi\n\nBye now\n", [own("Hi"), put_in("\n\nBye now\n")]),
        ("Hi\n\nBye <q>now</q>", [own("Hi"), put_in("\n\nBye <q>now</q>")]),
        ("<q>Hi</q>\n\nBye", [put_in("<q>"), own("Hi"), put_in("</q>\n\nBye")]),
        ("Hi Bye", [own("Hi Bye")]),
        ("<notes>a</notes>", [own("<notes>a</notes>")]),
        ("a a<q> a</q>", [own("a a"), put_in("<q> "), own("a"), put_in("</q>")]),
        ("<q> </q>", [put_in("<q> </q>")]),
    ],
)
def test_tags_wrappers_and_closings_of_an_agent(text: str, blocks: list[Text]) -> None:
    assert [*split(text, KIT)] == blocks


def test_only_a_message_of_injected_texts_is_injected() -> None:
    assert is_injected((put_in("a"), put_in("b")))
    assert not is_injected((put_in("a"), own("b")))
    assert not is_injected((put_in("a"), Media("image/png", 1)))
    assert not is_injected(())


def test_results_get_the_users_words_from_their_own_calls() -> None:
    known = AgentTexts(answers={"ask": (lambda given, text: [f"{given.get('q')} {text}"],)})
    calls = Message(
        "a", "assistant", (ToolUse("1", "ask", {"q": "one"}), ToolUse("2", "run", {}), ToolUse("3", "ask", "x"))
    )
    results = tuple(ToolResult(id, (Text(f"r{id}"),)) for id in "1234")
    given = [calls, Message("b", "tool", (own("a"), *results)), Message("c", "tool", (ToolResult("1", ()),))]
    found = with_words(given, known)
    assert found[0] is calls
    assert found[1].blocks == (
        own("a"),
        ToolResult("1", results[0].content, user_text="one r1"),
        results[1],
        ToolResult("3", results[2].content, user_text="None r3"),
        results[3],
    )
    assert found[2].blocks == (ToolResult("1", (), user_text="one"),)
    for alone in (results[1], ToolResult("2", ()), ToolResult("9", ())):
        assert with_words([calls, Message("b", "tool", (alone,))], known)[1].blocks == (alone,)
