"""What was decided, by whom, and to which question."""

from __future__ import annotations

import pytest

from tests.facts.talk import agent, answered, call, injecting, user
from workbench.facts.all_facts import find_facts
from workbench.facts.decisions import ECHO_CHARS, REPLY_CHARS, is_decision, is_users_decision
from workbench.session import Message


def decided(messages: list[Message]) -> list[tuple[str, str, str]]:
    return [(fact.text, fact.detail, fact.by) for fact in find_facts(messages) if fact.kind == "decision"]


LIST = "Left to do:\n1. Rename the port\n2. **Cache** the plan\n3. Docs\n\n"


@pytest.mark.parametrize(
    ("said", "reply", "found"),
    [
        ("Shall I rename it?", "yes", [("yes", "Shall I rename it?", "user")]),
        ("Shall I rename it?", "No, leave it.", [("No, leave it.", "Shall I rename it?", "user")]),
        ("Done. Shall I rename it? I could.", "yes please", [("yes please", "Shall I rename it?", "user")]),
        ("Is it red? Shall I rename it? Is it?", "yes", [("yes", "Shall I rename it?", "user")]),
        ("Is it red? Is it?", "yes", []),
        ("Red or blue?", "the second", [("the second", "Red or blue?", "user")]),
        ("I renamed it.", "yes", []),
        ("Shall I rename it?", "yes? why", []),
        ("Shall I rename it?", "What is it called now?", []),
        ("Want me to mend the test?", "mend it", [("mend it", "Want me to mend the test?", "user")]),
        ("Want me to mend the test?", "show me the log", []),
        ("Which is the test?", "mend the test", []),
        ("Soll ich umbenennen?", "Ja, mach das.", [("Ja, mach das.", "Soll ich umbenennen?", "user")]),
        ("要我重命名吗？", "好的", [("好的", "要我重命名吗？", "user")]),
        (
            f"{LIST}Which?",
            "do 1+2 next",
            [("do 1+2 next", "Which? → 1. Rename the port; 2. **Cache** the plan", "user")],
        ),
        (f"{LIST}I would go on.", "ok, 3", [("ok, 3", "3. Docs", "user")]),
        ("Left: #1 (rename it) and #2 (the docs).", "ok, 2", [("ok, 2", "2. the docs", "user")]),
        (f"{LIST}Which?", "4", [("4", "Which?", "user")]),
        (f"{LIST}I would go on.", "4", []),
        (
            "Shall I?",
            "yes. Let's use TOML, too",
            [("yes.", "Shall I?", "user"), ("Let's use TOML, too", "", "user")],
        ),
    ],
)
def test_an_answer_in_words_is_a_decision(said: str, reply: str, found: list[tuple[str, str, str]]) -> None:
    assert decided([user("Go on"), agent(said), user(reply)]) == found


@pytest.mark.parametrize(("chars", "found"), [(REPLY_CHARS, 1), (REPLY_CHARS + 1, 0)])
def test_what_answers_is_short(chars: int, found: int) -> None:
    assert len(decided([user("Go on"), agent("Shall I?"), user("yes " + "x" * (chars - 4))])) == found


@pytest.mark.parametrize(("chars", "found"), [(ECHO_CHARS, 1), (ECHO_CHARS + 1, 0)])
def test_what_takes_up_an_offer_is_shorter(chars: int, found: int) -> None:
    reply = "mend " + "x" * (chars - 5)
    assert len(decided([user("Go on"), agent("Shall I mend the test?"), user(reply)])) == found


def test_a_question_is_the_agents_newest_and_not_one_that_was_answered_before() -> None:
    asking = agent("Shall I?", call("Bash", {"command": "ls"}))
    assert decided([user("a"), asking, agent("I did."), user("yes")]) == []
    assert decided([user("a"), agent("Shall I?"), user("wait"), user("yes")]) == []
    assert decided([user("a"), agent("Shall I?"), injecting("yes", "Now read it.")]) == []
    used = call("AskUserQuestion", {"question": "Which?", "options": ["A", "B"]})
    assert decided([user("a"), agent("", used), answered(used, "B")]) == [("B", "Which?", "user")]


@pytest.mark.parametrize(
    "sentence",
    [
        "We decided to keep the old format.",
        "But since nothing calls it, I'll delete the helper.",
        "I dropped the cache because it was stale.",
        "That isn’t available, so I’m switching to the other harness.",
        "The fix: read the header once and hand it down.",
        "Take theirs, it has the guard.",
        '**Labels**: Use "Ext" instead of "Extension".',
        "Let's try a different approach and add the toggle to the list instead of the page.",
        "Locked: a live server and one page.",
        "Wir haben uns für SQLite entschieden.",
        "Dann nehmen wir TOML.",
        "Lass uns bei TOML bleiben.",
        "On part sur SQLite.",
        "Nous avons choisi le port 8080.",
        "Hemos decidido usar SQLite.",
        "Vamos a usar TOML.",
        "Decidimos usar SQLite.",
        "Vamos ficar com TOML.",
        "Мы решили оставить SQLite.",
        "Давай возьмём TOML.",
        "我们决定使用 SQLite。",
        "SQLiteにしましょう。",
        "TOML로 하자.",
    ],
)
def test_who_works_decides_in_these_words(sentence: str) -> None:
    assert is_decision(sentence)
    assert decided([user("Go on"), agent(sentence)]) == [(sentence, "", "agent")]


@pytest.mark.parametrize(
    "sentence",
    [
        "Should we keep the old format?",
        "Let me check since when it fails.",
        "The fix: now.",
        "The logs went to the old file instead of the new one.",
        "Let's try a different test.",
        "I will read the header.",
        "Lass uns das ansehen.",
        "On regarde le port.",
        "Vamos a ver.",
        "Давай посмотрим.",
        "看看日志。",
    ],
)
def test_what_decides_nothing(sentence: str) -> None:
    assert not is_decision(sentence)


@pytest.mark.parametrize(
    ("sentence", "decides"),
    [
        ("nah let's roll back", True),
        ("let's do this as a separate PR", True),
        ("yeah let's update the guide", True),
        ("I think let's have one per branch", True),
        ("we'll use the second port", True),
        ("let's do that", True),
        ("let's look at the log", False),
        ("yeah let's see", False),
        ("we'll use it when?", False),
    ],
)
def test_a_user_decides_in_these_words(sentence: str, decides: bool) -> None:
    assert is_users_decision(sentence) is decides


@pytest.mark.parametrize(
    ("said", "decides"),
    [
        ("We will keep the charts on paper but copy them nightly.", True),
        ("We should start with the harbour.", True),
        ("I want the small lamp variant on my pier.", True),
        ("read the page. i want the small lamp", True),
        ("All orders should go straight to the crew instead of through the mate.", True),
        ("Wir werden die Karten auf Papier behalten.", True),
        ("vamos a mantener el faro", True),
        ("我想要小的那个", True),
        ("작은 등으로 할게", True),
        ("We will see.", False),
        ("We will need more rope.", False),
        ("We should look at the log.", False),
        ("I want you to mend it.", False),
        ("I want to know why.", False),
        ("ich möchte wissen, warum", False),
        ("If we will ever sail, tell me.", False),
        ("Will we keep the charts on paper?", False),
        ("way too big", False),
    ],
)
def test_a_plan_or_a_choice_is_a_decision_of_the_users(said: str, decides: bool) -> None:
    assert is_users_decision(said) is decides


@pytest.mark.parametrize(
    ("said", "decides"),
    [
        ("Let me strip it all back to the simplest working sail.", True),
        ("Need to revert the dynamic rope back to a static one.", True),
        ("Let me trace through the code.", False),
        ("Let me go back over the log.", False),
        ("Let me also check that the sails are set first.", False),
    ],
)
def test_a_change_of_course_is_a_decision_of_the_agents(said: str, decides: bool) -> None:
    assert is_decision(said) is decides


@pytest.mark.parametrize(
    ("sentence", "agents", "users"),
    [
        ("I’m going to raise the quay for the ferries rather than dredging.", True, True),
        ("I'm going to raise this with the harbour rather than guess.", False, True),
        ("Boats moor by name, so I’ll check in by name instead.", False, False),
        ("Boats moor by name, so I’ll sort them by name instead.", True, True),
        ("I’m keeping the buoys as marks, not as moorings.", True, True),
        ("I’m painting the mast and keeping the hull in place.", True, True),
        ("Let me moor by hand instead of waiting for the pilot.", True, True),
        ("Let me look at the chart instead of guessing.", False, False),
        ("Rather than dredging, I'm raising the quay.", True, True),
        ("I went with one mast because two were heavy.", True, True),
        ("ok, let's try something else", False, True),
        ("ok, let's see", False, False),
        ("yes, add a second mast", False, True),
        ("yes, why does it lean", False, False),
        ("Then make it two sails, not three.", False, True),
        ("fine, but we skip the flags", False, True),
    ],
)
def test_who_speaks_of_keeping_and_changing_course_decides(sentence: str, agents: bool, users: bool) -> None:
    assert (is_decision(sentence), is_users_decision(sentence)) == (agents, users)
