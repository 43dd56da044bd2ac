"""User-messages: Codex's shape, and the summary-only shape with restored files."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.building import METER, agent, call, context_of, result, user
from tests.compaction.holding import FAILED, assert_holds, assert_lives_on, chat, contexts, loop, run
from workbench.compaction.outcome import Fate
from workbench.compaction.strategies.user_messages import PREFIX, STRATEGY, UserMessagesPolicy
from workbench.compaction.strategy import SummaryFailed
from workbench.session import Message


def policy(**changes: Any) -> UserMessagesPolicy:
    return UserMessagesPolicy.model_validate(changes)


def reads(*files: tuple[str, str]) -> list[Message]:
    """One round that reads files, one after another."""
    out = [user("ru", "look around")]
    for number, (path, content) in enumerate(files):
        out += [
            agent(f"ra{number}", "", call(f"rc{number}", "Read", file_path=path)),
            result(f"rr{number}", (f"rc{number}", content)),
        ]
    return [*out, agent("rz", "seen")]


def test_the_users_words_stay_and_the_summary_is_last() -> None:
    messages = [*loop("1", 3), *loop("2", 3)]
    outcome, (request,) = run(STRATEGY, context_of(messages), policy(), "Half done.")
    assert outcome.messages[:2] == (messages[0], messages[8])
    (node,) = outcome.messages[2:]
    assert (node.role, node.kind, node.text) == ("user", "summary", f"{PREFIX}\n\nHalf done.")
    assert "request 1" in request.text
    assert outcome.fate_counts[Fate.SUMMARIZED] == 14
    assert outcome.fate_counts[Fate.KEPT] == 2


def test_the_newest_words_win_and_the_one_that_overflows_loses_its_middle() -> None:
    messages = [user("1", "a" * 400), agent("x", "ok"), user("2", "b" * 400), agent("y", "ok"), user("3", "c" * 400)]
    outcome, _ = run(STRATEGY, context_of(messages), policy(user_message_tokens=150))
    cut, whole, _ = outcome.messages
    assert whole is messages[4]
    assert cut.id == "2"
    assert cut.text[0] == cut.text[-1] == "b"
    assert "…" in cut.text
    assert METER.tokens(cut) <= 150 - METER.tokens(messages[4])
    assert [outcome.fate_at(i).fate for i in (0, 2, 4)] == [Fate.SUMMARIZED, Fate.COMPRESSED, Fate.KEPT]
    assert "user messages: 1 whole, the next one cut in the middle, 101 of 150 tokens" in outcome.trace


@pytest.mark.parametrize(
    ("room", "expected"),
    [(199, "392 cut, 396"), (200, "396, 396"), (201, "396, 396"), (100, "396"), (99, "392 cut")],
)
def test_what_just_fits_stays_whole_and_what_is_cut_fills_its_room(room: int, expected: str) -> None:
    """396 characters are 100 tokens, 392 are 99."""
    messages = [user("1", "a" * 396), agent("x", "ok"), user("2", "b" * 396)]
    outcome, _ = run(STRATEGY, context_of(messages), policy(user_message_tokens=room))
    left = [f"{len(m.text)}{'' if any(m is one for one in messages) else ' cut'}" for m in outcome.messages[:-1]]
    assert ", ".join(left) == expected


def test_injected_messages_and_old_summaries_are_not_the_users_words() -> None:
    first, _ = run(STRATEGY, context_of(chat(3)), policy(), "FIRST")
    messages = [*first.messages, user("m", "reminder", kind="meta"), *chat(2, "b")]
    second, (request,) = run(STRATEGY, context_of(messages), policy(), "SECOND")
    assert [m.id for m in second.messages] == ["u0", "u1", "u2", "bu0", "bu1", "summary-ba1"]
    assert "FIRST" in request.text
    assert "FIRST" not in "".join(m.text for m in second.messages)


def test_with_no_tokens_for_them_only_the_summary_is_left() -> None:
    outcome, _ = run(STRATEGY, context_of(loop("1", 3)), policy(user_message_tokens=0, reply="Noted."))
    assert [(m.role, m.kind) for m in outcome.messages] == [("user", "summary"), ("assistant", "summary")]


def test_the_newest_read_files_are_given_back_after_the_summary() -> None:
    messages = reads(("a.py", "A1"), ("b.py", "B"), ("a.py", "A2"), ("big.py", "z" * 4_000))
    chosen = policy(user_message_tokens=0, restore_files=3, restore_tokens_each=500)
    outcome, _ = run(STRATEGY, context_of(messages), chosen)
    _, *files = outcome.messages
    assert [m.text for m in files] == [
        "[File read earlier, not restored: too large] big.py",
        "[Restored file] a.py\nA2",
        "[Restored file] b.py\nB",
    ]
    assert [outcome.fate_at(i).fate for i in (2, 4, 6, 8)] == [
        Fate.SUMMARIZED,
        Fate.COMPRESSED,
        Fate.COMPRESSED,
        Fate.SUMMARIZED,
    ]
    assert outcome.provenance[2][0].start == 6


def test_a_restored_file_says_when_it_was_edited_later() -> None:
    edit = agent("e", "", call("ec", "Edit", file_path="a.py", old_string="A", new_string="B"))
    messages = [*reads(("a.py", "A")), user("u", "change it"), edit, result("er", ("ec", "ok")), agent("z", "done")]
    outcome, _ = run(STRATEGY, context_of(messages), policy(restore_files=5))
    assert outcome.messages[-1].text == "[Restored file] a.py (edited after it was read)\nA"


def test_restored_files_share_a_budget() -> None:
    messages = reads(*((f"{n}.py", "x" * 400) for n in range(9)))
    chosen = policy(user_message_tokens=0, restore_files=9, restore_tokens=250)
    outcome, _ = run(STRATEGY, context_of(messages), chosen)
    restored = [m for m in outcome.messages if m.text.startswith("[Restored file]")]
    assert len(restored) == 2


def test_first_messages_and_preamble_may_stay() -> None:
    injected = user("i", "AGENTS.md says …", kind="meta")
    messages = [injected, *loop("1", 3), *loop("2", 1)]
    outcome, _ = run(STRATEGY, context_of(messages), policy(keep_preamble=True))
    assert [m.id for m in outcome.messages] == ["i", "1u", "2u", "summary-2z"]
    outcome, _ = run(STRATEGY, context_of(messages), policy(keep_first=3, user_message_tokens=0))
    assert [m.id for m in outcome.messages] == ["i", "1u", "1a0", "1r0", "summary-2z"]


def test_the_summary_goes_first_where_the_agent_would() -> None:
    context = context_of(loop("1", 3), pins=frozenset({"1r1"}))
    outcome, _ = run(STRATEGY, context, policy(user_message_tokens=0))
    assert [m.id for m in outcome.messages] == ["summary-1z", "1a1", "1r1"]


def test_a_failed_summary_changes_nothing() -> None:
    outcome, _ = run(STRATEGY, context_of(loop("1", 3)), policy(), SummaryFailed("overflow"))
    assert (outcome.status, outcome.reason) == ("unchanged", "the summary failed (overflow)")


@pytest.mark.parametrize(("window", "fires"), [(100, True), (101, False), (None, False)])
def test_it_fires_at_a_share_of_the_window(window: int | None, fires: bool) -> None:
    context = context_of([user("u", "x" * 316), agent("a", "y" * 36)], manual=False, window=window)
    assert context.total.tokens == 90
    assert any(t.fires for t in STRATEGY.triggered(context, policy())) is fires


@pytest.mark.parametrize("choice", ["drop", "keep", "nest", "extend"])
def test_what_becomes_of_an_earlier_summary(choice: str) -> None:
    first, _ = run(STRATEGY, context_of(chat(3)), policy(user_message_tokens=0), "FIRST")
    context = context_of([*first.messages, *chat(3, "b")])
    chosen = policy(user_message_tokens=0, earlier_summary=choice)
    second, (request,) = run(STRATEGY, context, chosen, "SECOND")
    assert ("FIRST" in request.text) is (choice in ("nest", "extend"))
    texts = [m.text.removeprefix(PREFIX).strip() for m in second.messages]
    assert texts == {"keep": ["FIRST", "SECOND"], "extend": ["FIRST\n\nSECOND"]}.get(choice, ["SECOND"])


POLICIES = st.builds(
    policy,
    earlier_summary=st.sampled_from(["drop", "keep", "nest", "extend"]),
    user_message_tokens=st.integers(0, 60),
    keep_first=st.integers(0, 4),
    keep_preamble=st.booleans(),
    request_limit_chars=st.sampled_from([1_000, 1_000_000]),
    restore_files=st.integers(0, 3),
    restore_tokens=st.integers(0, 100),
    reply=st.sampled_from(["", "Ok."]),
)


@settings(max_examples=50, deadline=None)
@given(contexts(), POLICIES, st.sampled_from(["A summary.", FAILED]))
def test_what_always_holds(context: Any, chosen: UserMessagesPolicy, answer: str | SummaryFailed) -> None:
    assert_holds(STRATEGY, context, chosen, answer)


@settings(max_examples=15, deadline=None)
@given(contexts(manual=True, split_at=None), POLICIES)
def test_three_generations(context: Any, chosen: UserMessagesPolicy) -> None:
    assert_lives_on(STRATEGY, context, chosen)
