"""Role orders that each API refuses, the gaps that make it accept an outcome, and the check."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.compaction.checks import Check, check
from workbench.compaction.context import Context
from workbench.compaction.invariants import insert_gaps
from workbench.compaction.opening import api_of
from workbench.compaction.outcome import Fate, FateSpan, KeptSpan, NewMessage, Outcome, Piece
from workbench.compaction.strategies.message_window import STRATEGY as WINDOW
from workbench.compaction.strategies.trim import STRATEGY, TrimPolicy
from workbench.compaction.window.policy import MessageWindowPolicy
from workbench.conformance.building import context_of, session_of
from workbench.conformance.strategies import run
from workbench.formats.registry import formats
from workbench.formats.roles import GAP, KNOWN, Api, joined_turns, role_refusals
from workbench.session import Message, Role, Span, Text, ToolResult, ToolUse

ROLES: dict[str, Role] = {"S": "system", "s": "system", "u": "user", "a": "assistant", "c": "assistant", "r": "tool"}
ALL = (*KNOWN,)
ANTHROPIC, GEMINI, CHAT = "anthropic-messages", "gemini", "openai-chat"
STRICT = (ANTHROPIC, GEMINI)
OPENS_A, OPENS_T = (
    "opens the conversation, which the assistant role may not",
    "opens the conversation, which the tool role may not",
)
BEHIND, APART = "has a call right after an answer", "has a result that is not right after its call"


def said(words: str) -> list[Message]:
    """Messages by letters: S the session's system prompt, s a summary in the system's role, u, a, c1 the agent calling,
    r1 the result. The id of each is its place."""
    out = []
    for place, word in enumerate(words.split()):
        kind, ids = word[0], word[1:]
        blocks = {
            "c": tuple(ToolUse(id, "Bash", {}) for id in ids),
            "r": tuple(ToolResult(id, (Text("ok"),)) for id in ids),
        }.get(kind, (Text("words " * 40),))
        out.append(Message(str(place), ROLES[kind], blocks, "summary" if kind == "s" else "normal"))
    return out


@pytest.mark.parametrize(
    ("words", "refusing", "id", "why"),
    [
        ("S u a u a", (), "", ""),
        ("S a u", (*STRICT, None), "1", OPENS_A),
        ("s a u", STRICT, "1", OPENS_A),
        ("s u a", (), "", ""),
        ("u s a u", (), "", ""),
        ("r1 u", ALL, "0", OPENS_T),
        ("u u a a u", (), "", ""),
        ("u a c1 r1", (GEMINI,), "2", BEHIND),
        ("u c1 r1 c2 r2 a", (), "", ""),
        ("u a s c1 r1", (GEMINI,), "3", BEHIND),
        ("u a S c1 r1", (GEMINI,), "3", BEHIND),
        ("u c12 r1 r2 a", (), "", ""),
        ("u c12 r12 u", (), "", ""),
        ("u c12 r1 u r2", (ANTHROPIC, GEMINI, CHAT), "4", APART),
        ("u c1 u r1", (ANTHROPIC, GEMINI, CHAT), "3", APART),
        ("u c1 s r1", (CHAT,), "3", APART),
        ("u c1 u c2 r1 r2", (ANTHROPIC, GEMINI, CHAT), "4", APART),
        ("u c1 r1 u a", (), "", ""),
        ("u c1 a u c2 r2", (), "", ""),
    ],
)
def test_what_each_api_refuses(words: str, refusing: tuple[Api | None, ...], id: str, why: str) -> None:
    for api in ALL:
        expected = [(id, why)] if api in refusing else []
        assert [tuple(one) for one in role_refusals(said(words), api)] == expected, api


def test_calls_of_joined_messages_are_one_batch_for_anthropic_alone() -> None:
    messages = said("u c1 c2 r12")
    assert [*role_refusals(messages, ANTHROPIC)] == []
    assert [*role_refusals(messages, GEMINI)] == [("2", BEHIND), ("3", APART)]
    assert [*role_refusals(messages, CHAT)] == [("3", APART)]


def test_neighbours_of_one_side_are_counted_results_being_the_users() -> None:
    assert [joined_turns(said(words)) for words in ("u a u a", "S u s u a", "u c12 r1 r2 u a a")] == [0, 1, 3]


def moved(words: str, *pieces: Piece, api: Api | None) -> tuple[Context, Outcome]:
    """A context and an outcome that keeps these pieces and summarizes what is in none of them."""
    context = context_of(said(words), api=api)
    there = {i for piece in pieces if isinstance(piece, KeptSpan) for i in range(piece.start, piece.stop)}
    fates = [FateSpan(i, i + 1, Fate.KEPT if i in there else Fate.SUMMARIZED) for i in range(len(context))]
    return context, Outcome("compacted", "", context.messages, pieces, tuple(fates))


def made(role: Role, *spans: Span) -> NewMessage:
    return NewMessage(Message("made", role, (Text("what was"),), kind="summary"), spans)


def legal(context: Context, outcome: Outcome) -> Check:
    return next(one for one in check(context, outcome, STRATEGY, TrimPolicy()) if one.name == "role order valid")


@pytest.mark.parametrize("api", STRICT)
def test_an_answer_behind_a_summary_that_goes_to_the_front_is_led_in(api: Api) -> None:
    context, outcome = moved("S u a u a", KeptSpan(0, 1), made("system", Span(1, 4)), KeptSpan(4, 5), api=api)
    found = legal(context, outcome)
    assert (found.passed, found.messages) == (False, ("4",))
    assert found.detail == f"{KNOWN[api].title} would reject 1 message: 4 {OPENS_A}"
    whole = insert_gaps(outcome, api)
    assert [(m.id, m.role) for m in whole.messages][1:] == [("made", "system"), ("gap-4", "user"), ("4", "assistant")]
    assert (whole.messages[2].text, whole.provenance[2], whole.fates) == (GAP, (Span(1, 4),), outcome.fates)
    assert legal(context, whole).passed
    assert insert_gaps(outcome, CHAT) is outcome
    assert insert_gaps(outcome, None) is outcome


def test_an_answer_that_opens_behind_the_systems_own_words_is_led_in_within_its_piece() -> None:
    context, outcome = moved("u S a u a u", KeptSpan(1, 4), KeptSpan(5, 6), api=ANTHROPIC)
    whole = insert_gaps(outcome, ANTHROPIC)
    assert [m.id for m in whole.messages] == ["1", "gap-2", "2", "3", "5"]
    assert whole.provenance[1] == (Span(0, 1),)
    assert legal(context, whole).passed


def test_a_call_that_a_compaction_moves_behind_an_answer_is_led_in_for_gemini_alone() -> None:
    context, outcome = moved("u a u c1 r1 a", KeptSpan(0, 2), KeptSpan(3, 6), api=GEMINI)
    assert legal(context, outcome).detail == f"Gemini would reject 1 message: 3 {BEHIND}"
    whole = insert_gaps(outcome, GEMINI)
    assert [m.id for m in whole.messages] == ["0", "1", "gap-3", "3", "4", "5"]
    assert (whole.provenance[2], legal(context, whole).passed) == ((Span(2, 3),), True)
    assert insert_gaps(outcome, ANTHROPIC) is outcome
    reply = moved("u a u c1 r1 a", made("user", Span(0, 3)), made("assistant", Span(0, 3)), KeptSpan(3, 6), api=GEMINI)[
        1
    ]
    assert insert_gaps(reply, GEMINI).provenance[2] == (Span(0, 3),), "what the reply stands for"


def test_a_call_that_was_the_first_of_all_and_has_a_reply_put_before_it_is_led_in() -> None:
    """An earlier summary and a call that are pinned: all that is gone stood behind them."""
    pieces = (KeptSpan(0, 1), made("system", Span(3, 5)), made("assistant", Span(3, 5)), KeptSpan(1, 3), KeptSpan(5, 6))
    context, outcome = moved("u c1 r1 a u a", *pieces, api=GEMINI)
    assert legal(context, outcome).detail == f"Gemini would reject 1 message: 1 {BEHIND}"
    whole = insert_gaps(outcome, GEMINI)
    assert [(m.id, m.role) for m in whole.messages][2:5] == [
        ("made", "assistant"),
        ("gap-1", "user"),
        ("1", "assistant"),
    ]
    assert (whole.provenance[3], legal(context, whole).passed) == ((Span(3, 5),), True)


def test_what_an_api_would_have_refused_before_is_no_fault_of_the_outcome() -> None:
    context, outcome = moved("S a u a c1 r1", KeptSpan(0, 2), made("user", Span(2, 3)), KeptSpan(3, 6), api=GEMINI)
    assert insert_gaps(outcome, GEMINI) is outcome
    assert legal(context, outcome).passed
    context, outcome = moved("u a u a c1 r1", made("user", Span(0, 3)), KeptSpan(3, 4), KeptSpan(4, 6), api=GEMINI)
    assert insert_gaps(outcome, GEMINI) is outcome
    context, outcome = moved("S a u a", KeptSpan(0, 1), KeptSpan(3, 4), api=ANTHROPIC)
    assert legal(context, outcome).messages == ("3",)


def test_the_check_says_what_the_api_does_with_neighbours() -> None:
    pieces = (KeptSpan(0, 2), made("user", Span(2, 4)), KeptSpan(4, 6))
    details = {api: legal(*moved("S u a u u a", *pieces, api=api)).detail for api in ALL}
    assert details == {
        ANTHROPIC: "Anthropic Messages: 2 consecutive same-role messages will be merged",
        GEMINI: "Gemini: 2 consecutive same-role messages accepted",
        CHAT: "OpenAI Chat: 2 consecutive same-role messages accepted",
        "openai-responses": "OpenAI Responses: 2 consecutive same-role messages accepted",
        None: "Unknown API: 2 consecutive same-role messages accepted",
    }
    assert legal(*moved("S u a", KeptSpan(0, 1), api=ANTHROPIC)).detail == "no messages remain"
    assert (
        legal(*moved("S u a", KeptSpan(0, 3), api=ANTHROPIC)).detail == "Anthropic Messages: user and agent alternate"
    )


def test_every_strategys_outcome_passes_the_one_place() -> None:
    """The summary of message-window is in the system's role, and its tail may begin with an answer."""
    policy = MessageWindowPolicy(window_messages=5, min_tail_messages=1, safe_end="whole_pairs")
    context = context_of(said("S " + "u a " * 8))
    free, strict = (run(WINDOW, replace(context, api=api), policy)[0].messages for api in (CHAT, ANTHROPIC))
    assert [m.role for m in free[:3]] == ["system", "system", "assistant"]
    assert [m.id for m in strict] == [m.id for m in (*free[:2], *strict[2:3], *free[2:])]
    assert strict[2].text == GAP


@pytest.mark.parametrize(
    ("format", "model", "api"),
    [
        ("claude-code", "gpt-5", ANTHROPIC),
        ("gemini", "", GEMINI),
        ("codex", "", "openai-responses"),
        ("opencode", "anthropic/claude-sonnet-4-5", ANTHROPIC),
        ("opencode", "gemini-2.5-pro", GEMINI),
        ("goose", "gpt-4.1", CHAT),
        ("goose", "o3-mini", CHAT),
        ("goose", "llama-3", None),
        ("goose", None, None),
        ("made", "claude-opus-4-5", ANTHROPIC),
    ],
)
def test_the_api_is_that_of_the_format_else_of_the_models_maker(format: str, model: str, api: Api | None) -> None:
    assert api_of(session_of([], format, model=model)) == api


def test_every_api_of_a_format_is_known() -> None:
    assert {one.api for one in formats()} == set(KNOWN)
