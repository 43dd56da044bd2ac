"""Every room reads the person's own words, typed or said through a tool, and nothing that a tool put beside them."""

from __future__ import annotations

from workbench.analysis.fact_check import SearchedText, fact_query
from workbench.analysis.grounding import SummaryChecker, run_grounding
from workbench.analysis.retention import is_unreadable, retention
from workbench.analysis.suggested_pins import suggest
from workbench.analysis.transcript import transcript
from workbench.compaction.ledger.gather import ledger_entries
from workbench.compaction.ledger.text import line_of
from workbench.compaction.outcome import Fate, FateSpan, NewMessage, Outcome
from workbench.compaction.progressive.importance import values_of
from workbench.compaction.progressive.key_events import events_of
from workbench.compaction.progressive.retained import extras_for, passages_of
from workbench.compaction.render import LABELS, WHOLE, labelled, tagged
from workbench.compaction.summary_extras import SummaryExtras
from workbench.compaction.summary_request import Summary, SummaryRequest, TextBody
from workbench.conformance.building import context_of
from workbench.facts.tools import actions_of
from workbench.formats.kit.names import first_words as title_of
from workbench.session import Message, Opaque, Span, Text, ToolResult, ToolUse
from workbench.summarizers.driver import Run
from workbench.summarizers.extractive import extractive
from workbench.tui.middle.blocks import block_parts
from workbench.tui.rows import first_words

QUESTION = "Which flour shall the loaf have?"
CALL = ToolUse("c1", "AskUserQuestion", {"questions": [{"question": QUESTION, "options": ["Rye flour", "Oat"]}]})
ANSWERED = f'Your questions have been answered: "{QUESTION}"="Rye flour". You can now continue.'
REFUSED = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n"
RULE = "Always ask before the oven is opened."
PUT_IN = "<reminder>Never bake at night, see @night.md, <Pin>a pin</Pin></reminder>"

ASKED = Message("u1", "user", (Text(PUT_IN, injected=True), Text("Bake a loaf as in @loaf.md.")))
ANSWER = Message("t1", "tool", (ToolResult("c1", (Text(ANSWERED),), user_text="Rye flour"),))
REFUSAL = Message("t2", "tool", (ToolResult("c2", (Text(REFUSED + RULE),), is_error=True, user_text=RULE),))
TALK = (
    ASKED,
    Message("a1", "assistant", (CALL,)),
    ANSWER,
    Message("a2", "assistant", (ToolUse("c2", "open_oven", {"door": 1}),)),
    REFUSAL,
    Message("a3", "assistant", (Text("The loaf rests."),)),
)


def test_an_extractive_summary_tells_the_answers_and_nothing_put_in() -> None:
    made = extractive(SummaryRequest("k", TALK, "", TextBody(str)))
    assert isinstance(made, Summary)
    assert "- Bake a loaf as in @loaf.md." in made.text.split("\n")
    assert f"- Rye flour (asked: {QUESTION})" in made.text.split("\n")
    assert f"- {RULE}" in made.text.split("\n")
    assert "night" not in made.text


def test_a_ledger_has_the_answers() -> None:
    lines = [line_of(one.entry) for one in ledger_entries(context_of(TALK))]
    assert lines == [
        f"- #5 {RULE}",
        "- #1 [first] Bake a loaf as in @loaf.md.",
        f"- #3 [answer] Rye flour\n  → {QUESTION}",
        "- #6 The loaf rests.",
    ]


def test_pins_are_suggested_for_rules_and_answers() -> None:
    assert [(one.index, one.text, one.reason) for one in suggest(context_of(TALK))] == [
        (2, "Rye flour", "an answer to a question"),
        (4, RULE, "a rule"),
    ]


def outcome(text: str) -> Outcome:
    made = Message("s", "user", (Text(text),), "summary")
    return Outcome(
        status="compacted",
        reason="",
        source=TALK,
        pieces=(NewMessage(made, (Span(0, 6),)),),
        fates=(FateSpan(0, 6, Fate.SUMMARIZED),),
    )


def test_what_is_lost_of_the_answers() -> None:
    context = context_of(TALK)
    held = {(one.kind, one.text): one.presence for one in retention(context, outcome("The flour is rye.")).facts}
    assert held["decision", "Rye flour"] == "full"
    assert held["instruction", RULE] == "none"
    assert ("instruction", "Never bake at night") not in held
    lost = retention(context, outcome("Nothing.")).lost
    assert [(one.kind, one.text, one.why) for one in lost if one.kind == "decision"] == [
        ("decision", "Rye flour", "the user's answer")
    ]


def test_what_the_user_said_is_looked_up_in_the_users_words() -> None:
    assert SummaryChecker(TALK).check("The user asked to bake with rye flour.").unsupported == ()
    assert [one.kind for one in SummaryChecker(TALK).check("The user asked never to bake at night.").unsupported] == [
        "attribution"
    ]


def test_what_an_earlier_summary_says_is_in_the_head() -> None:
    request = SummaryRequest("k", TALK, "", TextBody(str), previous="The cellar is in `cellar_map.py`.")
    said = "The cellar is in `cellar_map.py`."
    run = Run(outcome(said), (request,), (Summary(said),), (), 0.0)
    found = run_grounding(run)
    assert found is not None
    assert found.unsupported == ()
    assert [one.text for one in SummaryChecker(TALK).check(said).unsupported] == ["cellar_map.py"]


def test_a_prompt_tells_the_answers_as_the_users() -> None:
    assert tagged(ASKED, ()) == f"<user>\n<injected>\n{PUT_IN}\n</injected>\nBake a loaf as in @loaf.md.\n</user>"
    assert tagged(ANSWER, ()) == (
        f"<tool_results>\n<tool_result>\n{ANSWERED}\n</tool_result>\n<user>\nRye flour\n</user>\n</tool_results>"
    )
    meta = Message("m", "user", (Text("It is Monday."),), "meta")
    assert tagged(meta, ()) == "<user>\n<injected>\nIt is Monday.\n</injected>\n</user>"
    assert labelled(meta, LABELS["zh"], WHOLE, 9).text == "[注入]: It is Monday."
    assert labelled(ASKED, LABELS["en"], WHOLE, 9).text == f"[injected]: {PUT_IN}\n[user]: Bake a loaf as in @loaf.md."
    assert labelled(ANSWER, LABELS["en"], WHOLE, 9).text == f"[tool result]: {ANSWERED}\n[user]: Rye flour"


def test_what_progressive_retains_and_weighs() -> None:
    context = context_of(TALK)
    shape = context.shape
    assert passages_of(shape) == {}
    assert extras_for(context, range(6), (), SummaryExtras()).request == "Bake a loaf as in @loaf.md."
    assert {index: why for index, why in events_of(shape).items() if index in (0, 2, 4)} == {
        0: "the user's instruction",
        2: "the user's instruction",
        4: f"rule: {RULE}",
    }
    assert [row[:2] for row in values_of(shape)] == [(1, 0), (0, 0), (1, 0), (0, 0), (1, 1), (0, 0)]


def test_the_screen_and_the_transcript_tell_them_apart() -> None:
    assert [(one.index, one.voice, one.text) for one in transcript(TALK[:3])] == [
        (0, "note", PUT_IN),
        (0, "user", "Bake a loaf as in @loaf.md."),
        (1, "call", f'AskUserQuestion {{"questions":[{{"question":"{QUESTION}","options":["Rye flour","Oat"]}}]}}'),
        (2, "user", "Rye flour"),
        (2, "result", ANSWERED),
    ]
    assert [*map(first_words, (ASKED, ANSWER, REFUSAL))] == ["Bake a loaf as in @loaf.md.", "✎ Rye flour", f"✎ {RULE}"]
    assert [(part.text, part.style) for part in block_parts(ASKED.blocks[0])][1:] == [(PUT_IN, "dim")]
    parts = [(part.text, part.style) for part in block_parts(ANSWER.blocks[0])]
    assert parts[1:3] == [("✎ user's words", "title"), ("Rye flour", "")]
    assert title_of(TALK) == "Bake a loaf as in @loaf.md."


def test_a_short_answer_is_held_beside_its_question() -> None:
    form = fact_query("decision", "Rye", QUESTION)
    assert form is not None
    told = ("The flour is Rye.", "Rye", "Wheat flour")
    assert [SearchedText([text]).judge(form).presence for text in told] == ["full", "none", "none"]
    assert fact_query("decision", "–") is None


def test_a_summary_that_nobody_can_read_is_told_from_none() -> None:
    secret = Message("s", "assistant", (Opaque("compaction", {"encrypted": "x"}),), "summary")
    whole = (FateSpan(0, 6, Fate.SUMMARIZED),)
    made = (NewMessage(secret, (Span(0, 6),)),)
    assert is_unreadable(Outcome("compacted", "", TALK, made, whole))
    assert is_unreadable(Outcome("compacted", "", TALK, (), whole))
    assert not is_unreadable(outcome("The loaf rests."))
    assert not is_unreadable(Outcome("compacted", "", TALK, (), (FateSpan(0, 6, Fate.DROPPED),)))


def test_a_comment_before_a_command_is_none() -> None:
    lines = ("# Look\nls", "  # a\n\n# b\nls -l # c", "# only\n", "#!/bin/sh\nmake")
    assert [[action.target for action in actions_of(ToolUse("c", "Bash", {"command": line}))] for line in lines] == [
        ["ls"],
        ["ls -l # c"],
        [],
        ["make"],
    ]
