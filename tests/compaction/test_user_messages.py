"""`user-messages`: Codex's form, and the summary-only form with restored files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from workbench.compaction.outcome import Fate
from workbench.compaction.strategies.user_messages import STRATEGY, UserMessagesPolicy
from workbench.compaction.summary_template import strip_template
from workbench.conformance.building import agent, call, context_of, loop, result, user
from workbench.conformance.strategies import run
from workbench.formats.roles import GAP, Api
from workbench.session import Message, Text, Usage


def reads(*files: tuple[str, str]) -> list[Message]:
    """One round that reads files, one after another."""
    out = [user("ru", "look around")]
    for number, (path, content) in enumerate(files):
        out += [
            agent(f"ra{number}", "", call(f"rc{number}", "Read", file_path=path)),
            result(f"rr{number}", (f"rc{number}", content)),
        ]
    return [*out, agent("rz", "seen")]


@pytest.mark.parametrize(
    ("room", "expected"),
    [(199, "392 cut, 396"), (200, "396, 396"), (201, "396, 396"), (100, "396"), (99, "392 cut")],
)
def test_what_just_fits_stays_whole_and_what_is_cut_fills_its_room(room: int, expected: str) -> None:
    """396 characters are 100 tokens, 392 are 99."""
    messages = [user("1", "a" * 396), agent("x", "ok"), user("2", "b" * 396)]
    outcome, _ = run(STRATEGY, context_of(messages), UserMessagesPolicy(user_message_tokens=room, unread="summarize"))
    left = [f"{len(m.text)}{'' if any(m is one for one in messages) else ' cut'}" for m in outcome.messages[:-1]]
    assert ", ".join(left) == expected


def test_with_no_tokens_for_them_only_the_summary_is_left() -> None:
    outcome, _ = run(STRATEGY, context_of(loop("1", 3)), UserMessagesPolicy(user_message_tokens=0, reply="Noted."))
    assert [(m.role, m.kind) for m in outcome.messages] == [("user", "summary"), ("assistant", "summary")]


def test_the_newest_read_files_are_given_back_after_the_summary() -> None:
    messages = reads(("a.py", "A1"), ("b.py", "B"), ("a.py", "A2"), ("big.py", "z" * 4_000))
    chosen = UserMessagesPolicy(user_message_tokens=0, restore_files=3, restore_tokens_each=500)
    outcome, _ = run(STRATEGY, context_of(messages), chosen)
    _, *files = outcome.messages
    assert [m.text for m in files] == [
        "[File read earlier, not restored: too large] big.py",
        "[Restored file] a.py\nA2",
        "[Restored file] b.py\nB",
    ]
    assert [i for i in (2, 4, 6, 8) if outcome.fate_at(i).fate is Fate.COMPRESSED] == [4, 6]
    assert outcome.fate_at(2).fate is outcome.fate_at(8).fate is Fate.SUMMARIZED
    assert outcome.provenance[2][0].start == 6


def test_a_restored_file_says_when_it_was_edited_later() -> None:
    edit = agent("e", "", call("ec", "Edit", file_path="a.py", old_string="A", new_string="B"))
    messages = [*reads(("a.py", "A")), user("u", "change it"), edit, result("er", ("ec", "ok")), agent("z", "done")]
    outcome, _ = run(STRATEGY, context_of(messages), UserMessagesPolicy(restore_files=5))
    assert outcome.messages[-1].text == "[Restored file] a.py (edited after it was read)\nA"


@pytest.mark.parametrize(
    ("pins", "fields", "left"),
    [
        ("", {"keep_preamble": True}, "i 1u 2u summary-2z"),
        ("", {"keep_first": 3, "user_message_tokens": 0}, "i 1u 1a0 1r0 summary-2z"),
        ("1r1", {"user_message_tokens": 0}, "summary-2z 1a1 1r1"),
    ],
)
def test_first_messages_and_preamble_may_stay_and_the_summary_goes_first_where_the_agent_would(
    pins: str, fields: dict[str, Any], left: str
) -> None:
    messages = [user("i", "AGENTS.md says …", kind="meta"), *loop("1", 3), *loop("2", 1)]
    outcome, _ = run(STRATEGY, context_of(messages, pins=frozenset(pins.split())), UserMessagesPolicy(**fields))
    assert [m.id for m in outcome.messages] == left.split()


@pytest.mark.parametrize(
    ("api", "left"),
    [("openai-responses", "1u s i 2u summary-2z"), ("openai-chat", "s 1u i 2u summary-2z")],
)
def test_a_preamble_injected_anew_has_no_system_prompt_in_it(api: Api, left: str) -> None:
    messages = [
        Message("s", "system", (Text("Be brief."),)),
        user("i", "AGENTS.md says …", kind="meta"),
        *loop("1", 1),
        *loop("2", 1),
    ]
    policy = UserMessagesPolicy(keep_preamble=True, preamble_place="before_newest_request")
    outcome, _ = run(STRATEGY, replace(context_of(messages), api=api), policy)
    assert [m.id for m in outcome.messages] == left.split()


# --- what stands around the summary ---------------------------------------------------------------------------------

PLACES = "Before.\n\n{tools_used}{user_messages}Summary:\n{summary}\n\nEnd.{transcript}{kept}"


def test_what_an_earlier_compaction_put_in_a_gap_is_no_preamble() -> None:
    """It was moved as one, and a second one of the same name put into the gap that it left."""
    gap = Message("gap-a", "user", (Text(GAP),), "meta")
    messages = [gap, agent("a", "", call("c", "Read")), result("r", ("c", "x" * 400)), user("1", "go"), user("2", "on")]
    policy = UserMessagesPolicy(keep_preamble=True, preamble_place="before_newest_request", keep_first=3)
    context = context_of([*messages, agent("z", "done " * 200), user("now", "and now?")], api="gemini")
    outcome, _ = run(STRATEGY, context, policy)
    left = [message.id for message in outcome.messages if message.kind != "summary"]
    assert left == ["gap-a", "a", "r", "1", "2", "now"]


def node(messages: list[Message], **settings: Any) -> str:
    """The summary message, of a session that lies in a file."""
    policy = UserMessagesPolicy(user_message_tokens=0, summary_template=PLACES, **settings)
    outcome, _ = run(STRATEGY, context_of(messages, transcript="a.jsonl"), policy)
    return next(message.text for message in outcome.messages if message.kind == "summary")


def test_every_place_of_a_template_is_filled() -> None:
    calls = call("c", "Read"), call("d", "Bash")
    messages = [user("u", "go"), agent("a", "", *calls), result("r", ("c", "1"), ("d", "2"))]
    messages += [agent("b", "", call("e", "Edit")), result("s", ("e", "ok"))]
    assert node(messages, unread="keep") == (
        "Before.\n\nTools used before this summary: Bash, Read\n\n"
        "You were originally given instructions from a user over one or more turns. Here were the user messages:\n"
        "<user_message>\ngo\n</user_message>\n\nSummary:\nA summary.\n\nEnd."
        "\n\nShould an exact detail be missing, the whole transcript until here is in the session file a.jsonl"
        "\n\nBehind this summary stand the newest messages of that conversation, word for word. It was written without "
        "them: what it calls open may be done there."
    )


def test_what_there_is_none_of_is_not_told() -> None:
    policy = UserMessagesPolicy(user_message_tokens=0, summary_template=PLACES, unread="summarize")
    outcome, _ = run(STRATEGY, context_of([user("u", "", kind="meta"), agent("a", "hello " * 40)]), policy)
    assert outcome.messages[0].text == "Before.\n\nSummary:\nA summary.\n\nEnd."


def test_a_summary_is_taken_out_of_a_frame_with_places() -> None:
    text = node([*loop("1", 2), user("now", "next")], unread="keep")
    assert strip_template(text, PLACES) == "A summary."


ROUND = [user("u", "go"), agent("a", "", call("c")), result("r", ("c", "1"))]


@pytest.mark.parametrize(
    ("unread", "messages", "left"),
    [
        ("answer", [*ROUND, agent("z", "done")], "z"),
        ("answer", ROUND, "a r"),
        ("answer", [*ROUND, agent("z", "done"), user("v", "next")], "v"),
        ("keep", [*ROUND, agent("z", "done")], ""),
        ("keep", ROUND, "a r"),
        ("summarize", ROUND, ""),
        ("summarize", [*ROUND, agent("z", "done"), user("v", "next")], ""),
    ],
)
def test_what_stays_behind_the_summary(unread: str, messages: list[Message], left: str) -> None:
    policy = UserMessagesPolicy.model_validate({"user_message_tokens": 0, "unread": unread})
    outcome, _ = run(STRATEGY, context_of(messages), policy)
    assert [m.id for m in outcome.messages if m.kind == "normal"] == left.split()


def test_a_file_that_stays_read_is_not_counted_among_those_given_back() -> None:
    messages = [
        *reads(("a.py", "A"), ("b.py", "B")),
        user("v", "again"),
        agent("x", "", call("xc", "Read", file_path="b.py")),
    ]
    messages += [result("xr", ("xc", "B2"))]
    policy = UserMessagesPolicy(user_message_tokens=0, restore_files=1, unread="keep")
    outcome, _ = run(STRATEGY, context_of(messages), policy)
    assert [m.text for m in outcome.messages if m.kind == "meta"] == ["[Restored file] a.py\nA"]


def thought(id: str, tokens: int) -> Message:
    return replace(agent(id, "ok"), usage=Usage(10, 5 + tokens, reasoning=tokens))


@pytest.mark.parametrize(
    ("counted", "limit", "fires"),
    [(True, 51, True), (True, 52, True), (True, 53, False), (False, 22, True), (False, 23, False)],
)
def test_the_reasoning_of_earlier_rounds_counts_towards_the_trigger(counted: bool, limit: int, fires: bool) -> None:
    """The context has 22 tokens; 30 were thought in the two rounds before the newest, which thought 500."""
    messages = [user("1", "a"), thought("x", 10), user("2", "b"), thought("y", 20)]
    messages += [user("3", "c" * 64), thought("z", 500)]
    context = context_of(messages)
    chosen = UserMessagesPolicy(trigger_window_percent=0, trigger_tokens=limit, trigger_on_reasoning=counted)
    (trigger,) = STRATEGY.read_triggers(context, chosen)
    assert (trigger.value, trigger.fires) == (52 if counted else 22, fires)
    assert trigger.note == ("context 22 + 30 of earlier reasoning" if counted else "")
