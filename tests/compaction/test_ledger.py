"""The ledger: its text, its entries, its budget, and ten generations of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.base.figures import grouped
from workbench.compaction.checks import Check, check
from workbench.compaction.context import Context
from workbench.compaction.ledger.entries import KINDS, LedgerEntry
from workbench.compaction.ledger.gather import ledger_entries
from workbench.compaction.ledger.names import names_in
from workbench.compaction.ledger.plan import ledger_text
from workbench.compaction.ledger.queue import WHOLE, queue_of
from workbench.compaction.ledger.shorter import DEEPEST, LEAST_CHARS, shortened
from workbench.compaction.ledger.task import LedgerTask, in_characters
from workbench.compaction.ledger.text import WORDS, Ledger, read_ledger, written
from workbench.compaction.outcome import Fate, Outcome
from workbench.compaction.strategies.ledger import STRATEGY, LedgerPolicy
from workbench.conformance.building import METER, agent, call, chat, context_of, loop, result, summary, user
from workbench.conformance.strategies import FAILED, assert_holds, run
from workbench.session import Message, Text, ToolUse
from workbench.tokens.sizes import visible_chars
from workbench.tokens.visible import visible_parts

LINES = st.text(alphabet="ab|#[]-→ \n`</>", min_size=1, max_size=40)
ENTRIES = st.builds(
    LedgerEntry,
    st.sampled_from(KINDS),
    LINES,
    st.integers(1, 9_999),
    st.sampled_from(["", "open", "gone", "ok"]),
    LINES.map(lambda text: " ".join(text.split())),
)


def divided(entry: LedgerEntry) -> LedgerEntry:
    """Entry as readable text: sentences stand on one line each and are not empty."""
    return replace(entry, text=" ".join(entry.text.split()) or "a") if entry.is_sentence else entry


def by_kind(entries: list[LedgerEntry]) -> list[LedgerEntry]:
    return sorted(map(divided, entries), key=lambda entry: KINDS.index(entry.kind))


@given(entries=st.lists(ENTRIES, max_size=8), narrative=st.text(alphabet="ab\n# ", max_size=60).map(str.strip))
def test_a_ledger_is_read_as_it_was_written(entries: list[LedgerEntry], narrative: str) -> None:
    ledger = Ledger(214, (12, 57), tuple(by_kind(entries)), narrative, (("addresses", 3), ("viewed files", 12)))
    assert read_ledger(written(ledger)) == ledger


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        '<ledger upto="x">\n</ledger>',
        '<ledger upto="3">\ncut off',
        "<ledger>",
    ],
)
def test_what_is_no_ledger_is_not_read_as_one(text: str) -> None:
    assert read_ledger(text) is None


MUTEX = "I decided to use a mutex because two refreshes race."


def work() -> list[Message]:
    """A rule, a failing test that is mended, an edit, a decision, and much output."""
    return [
        user("u1", "Fix the token refresh in src/auth/session.ts. Never log the token."),
        agent("a1", "I look.", call("c1", "Read", file_path="src/auth/session.ts")),
        result("r1", ("c1", "const AUTH_TTL = 300\n" * 200)),
        agent("a2", "", call("c2", "Bash", command="npm test")),
        result("r2", ("c2", "x" * 3_000 + "\nTypeError: AUTH_TTL is undefined"), error=True),
        agent("a3", MUTEX, call("c3", "Edit", file_path="src/auth/lock.ts")),
        result("r3", ("c3", "ok")),
        agent("a4", "", call("c4", "Bash", command="npm test")),
        result("r4", ("c4", "42 tests passed")),
        agent("a5", "All 42 tests pass."),
        user("u2", "Now write the changelog."),
        agent("a6", "", call("c5", "Read", file_path="CHANGELOG.md")),
        result("r5", ("c5", "y" * 6_000)),
        agent("a7", "Written."),
        user("u3", "Why does CI fail?"),
        agent("a8", "I check."),
    ]  # fmt: skip


def compacted(context: Context, answer: Any = "It raced.", **fields: Any) -> tuple[Outcome, Ledger]:
    policy = LedgerPolicy(**fields)
    outcome = assert_holds(STRATEGY, context, policy, answer)
    made = next(message for message in outcome.messages if read_ledger(message.text))
    ledger = read_ledger(made.text)
    assert ledger is not None
    return outcome, ledger


def told(ledger: Ledger) -> set[tuple[str, str, str, int]]:
    return {(entry.kind, entry.state, entry.text, entry.source) for entry in ledger.entries}


def test_everything_that_matters_is_kept_with_its_state_and_source() -> None:
    outcome, ledger = compacted(context_of(work()), budget_tokens=600)
    assert outcome.status == "compacted"
    for expected in (
        ("instruction", "", "Never log the token.", 1),
        ("user", "first", "Fix the token refresh in src/auth/session.ts.", 1),
        ("user", "", "Now write the changelog.", 11),
        ("decision", "", MUTEX, 6),
        ("error", "fixed", "TypeError: AUTH_TTL is undefined", 5),
        ("file", "viewed", "src/auth/session.ts", 2),
        ("file", "modified", "src/auth/lock.ts", 6),
        ("command", "ok", "npm test", 8),
    ):
        assert expected in told(ledger), expected
    assert ledger.narrative == "It raced."
    assert ledger.left_out == ()


def test_sources_are_abridged_the_rest_was_shown_to_the_model_or_dropped() -> None:
    outcome, _ = compacted(context_of(work()), budget_tokens=600, narrative_percent=0)
    fates = {message.id: outcome.fate_at(index).fate for index, message in enumerate(outcome.source)}
    assert fates["u1"] is Fate.ABRIDGED
    assert fates["a1"] is Fate.ABRIDGED, "it viewed the file"
    assert fates["r1"] is Fate.DROPPED
    assert fates["u3"] is Fate.KEPT
    shown, _ = compacted(context_of(work()), budget_tokens=600)
    assert shown.fate_counts[Fate.SUMMARIZED] > 0


@pytest.mark.parametrize("unit", ["budget_tokens", "budget_chars"])
@pytest.mark.parametrize("narrative", [0.0, 30.0])
@given(budget=st.integers(200, 2_500), long=st.booleans())
def test_the_result_keeps_to_its_budget(unit: str, narrative: float, budget: int, long: bool) -> None:
    budget = budget * (4 if unit == "budget_chars" else 1)
    context = context_of([*work(), *(loop("l", 30, "z" * 300) if long else chat(30, "c"))])
    outcome = assert_holds(STRATEGY, context, LedgerPolicy(**{unit: budget}, narrative_percent=narrative))
    size = context.measure(outcome.messages)
    assert (size.chars if unit == "budget_chars" else size.tokens) <= budget


def test_what_has_no_room_is_named_least_important_first() -> None:
    outcome, ledger = compacted(context_of(work()), budget_tokens=150, narrative_percent=0)
    groups = [group for group, _ in ledger.left_out]
    assert ledger.left_out
    assert any("omitted, over the budget" in line for line in outcome.trace)
    assert "Never log the token." in [entry.text for entry in ledger.entries]
    order = ["viewed files", "mended errors", "commands", "changed files", "decisions"]
    assert [group for group in groups if group in order] == [group for group in order if group in groups]


def test_pins_over_the_budget_are_kept_and_told() -> None:
    outcome = assert_holds(STRATEGY, context_of(work(), pins=frozenset(["r5"])), LedgerPolicy(budget_tokens=100))
    assert any("over the budget:" in line for line in outcome.trace)


def test_one_large_pin_leaves_what_the_user_wants_and_a_check_tells_of_the_budget() -> None:
    """A pin of 3 000 tokens in a budget of 400: before, no entry was left and nothing was said."""
    large = [*work(), agent("p", "", call("p1", "Read", file_path="/p/big.py")), result("pin", ("p1", "w" * 12_000))]
    policy = LedgerPolicy(budget_tokens=400, narrative_percent=0)
    context = context_of([*large, agent("last", "seen")], pins=frozenset(["pin"]))
    outcome = assert_holds(STRATEGY, context, policy)
    ledger = read_ledger(outcome.messages[0].text)
    assert ledger is not None
    assert {(one.kind, one.state) for one in ledger.entries} == {("instruction", ""), ("user", "first")}
    assert [one.text for one in outcome.messages if one.id == "u3"] == ["Why does CI fail?"], "the open request"
    within = budget_check(context, outcome, policy)
    assert (within.hard, within.passed) == (False, False)
    assert within.detail.endswith(" of 400 tokens; largest: pins 3 009, the open request 5")
    assert within.messages == ("u3", "p", "pin")


def budget_check(context: Context, outcome: Outcome, policy: LedgerPolicy) -> Check:
    (found,) = [one for one in check(context, outcome, STRATEGY, policy) if one.name == "within budget"]
    return found


@pytest.mark.parametrize(("budget", "passed"), [(-1, False), (0, True), (1, True)])
def test_the_budget_is_kept_to_the_last_token(budget: int, passed: bool) -> None:
    """Only system, pin and the newest answer stay, in addition to an empty ledger."""
    context = context_of([user("u", "x" * 4_000), agent("a", "y" * 400)], pins=frozenset(["a"]))
    outcome, _ = run(STRATEGY, context, LedgerPolicy(budget_tokens=300, narrative_percent=0))
    taken = context.outcome_size(outcome).tokens
    policy = LedgerPolicy(budget_tokens=taken + budget, narrative_percent=0)
    assert budget_check(context, outcome, policy).passed == passed


READING = [
    user("u", "Read both. Never log the token."),
    agent("c", "", call("k1", "Read", file_path="a.py"), call("k2", "Read", file_path="b.py")),
    result("r1", ("k1", "\n".join(f"a, line {n}" for n in range(200)))),
    result("r2", ("k2", "\n".join(f"b, line {n}" for n in range(600)))),
]


@pytest.mark.parametrize("more", [[], chat(20, "old")])
def test_results_that_are_not_read_yet_are_shortened_to_the_budget_and_told(more: list[Message]) -> None:
    """Results of 9 090 and 2 490 characters keep the same number, as many as fit; neither loses its end."""
    context = context_of([*more, *READING])
    outcome = assert_holds(STRATEGY, context, LedgerPolicy(budget_tokens=1_000, narrative_percent=0))
    calls, first, second = outcome.messages[-3:]
    assert calls is READING[1]
    texts = [one.text for message in (first, second) for one in message.results]
    for text, letter, last in zip(texts, "ab", (199, 599), strict=True):
        assert text.startswith(f"{letter}, line 0\n")
        assert text.endswith(f"\n{letter}, line {last}")
        assert "characters cut …]" in text
    assert abs(len(texts[0]) - len(texts[1])) < 5
    assert [outcome.fate_at(len(more) + n).fate for n in range(1, 4)] == [Fate.KEPT, Fate.COMPRESSED, Fate.COMPRESSED]
    taken = context.outcome_size(outcome).tokens
    assert 800 < taken <= 1_000
    assert any(line.endswith("2 of them shortened") for line in outcome.trace)
    assert budget_check(context, outcome, LedgerPolicy(budget_tokens=1_000)).passed


def test_of_what_is_not_read_yet_beginning_and_end_stay_whatever_the_budget() -> None:
    outcome = assert_holds(STRATEGY, context_of(READING), LedgerPolicy(budget_tokens=1, narrative_percent=0))
    text, whole = (one.results[0].text for one in (outcome.messages[-1], READING[-1]))
    half = LEAST_CHARS // 2
    gone = f"{len(whole) - LEAST_CHARS:,}".replace(",", " ")
    said = f"[… {gone} characters cut …]"
    assert text == f"{whole[:half]}\n{said}\n{whole[-half:]}"
    assert not budget_check(context_of(READING), outcome, LedgerPolicy(budget_tokens=1)).passed


def test_a_running_request_alone_is_shortened_without_a_ledger() -> None:
    context = context_of([user("u", "begin " + "x" * 8_000 + " end")])
    outcome = assert_holds(STRATEGY, context, LedgerPolicy(budget_tokens=200, narrative_percent=0))
    (only,) = outcome.messages
    assert (only.id, outcome.fate_at(0).fate) == ("u", Fate.COMPRESSED)
    assert only.text.startswith("begin x")
    assert only.text.endswith("x end")
    assert context.outcome_size(outcome).tokens <= 200


def test_a_large_pin_does_not_shorten_what_the_user_asks_now() -> None:
    """The request of 250 tokens has the room of a budget of 400, though a pin of 3 000 leaves none."""
    large = [*work(), agent("p", "", call("p1", "Read", file_path="/p/big.py")), result("pin", ("p1", "w" * 12_000))]
    asked = user("now", "Write it. " + "Be careful. " * 80)
    for budget, whole in ((400, True), (250, False)):
        context = context_of([*large, agent("seen", "seen"), asked], pins=frozenset(["pin"]))
        outcome = assert_holds(STRATEGY, context, LedgerPolicy(budget_tokens=budget, narrative_percent=0))
        assert (outcome.messages[-1] is asked) == whole


def test_a_pin_that_is_not_read_yet_stays_as_it_is() -> None:
    outcome = assert_holds(
        STRATEGY, context_of(READING, pins=frozenset(["r2"])), LedgerPolicy(budget_tokens=500, narrative_percent=0)
    )
    assert outcome.messages[-1] is READING[3]


def test_without_a_model_an_earlier_summary_is_carried_on() -> None:
    context = context_of([summary("s", "We chose port 8080 for a reason."), *work()])
    _, ledger = compacted(context, budget_tokens=700, narrative_percent=0)
    assert ledger.narrative == "We chose port 8080 for a reason."


def test_pins_stay_as_they_are_and_are_numbered() -> None:
    context = context_of(work(), pins=frozenset(["r1"]))
    outcome, ledger = compacted(context, budget_tokens=1_800)
    assert ledger.pinned == (2, 3), "the result, and its call"
    assert [message.id for message in outcome.messages][1:3] == ["a1", "r1"]


def test_a_narrative_that_fails_is_done_without() -> None:
    outcome, ledger = compacted(context_of(work()), FAILED, budget_tokens=600)
    assert outcome.status == "fallback"
    assert "no connection" in outcome.reason
    assert ledger.narrative == ""
    assert ledger.entries


def test_a_call_that_waits_for_its_result_stays() -> None:
    context = context_of([*work(), agent("open", "", call("c9", "Bash", command="sleep 9"))])
    outcome, _ = compacted(context, budget_tokens=150, narrative_percent=0)
    assert outcome.messages[-1].id == "open"


def test_ten_generations_lose_nothing_that_there_is_room_for() -> None:
    """Each generation brings a rule, an edit and a command; after ten all of them are there, each with the number of
    the message that it came from, however often it was carried on."""
    messages: list[Message] = []
    expected: set[tuple[str, str, str, int]] = set()
    count = 0
    for turn in range(10):
        new = [
            user(f"u{turn}", f"Never touch file{turn}.py again."),
            agent(f"a{turn}", "", call(f"e{turn}", "Edit", file_path=f"src/part{turn}.py")),
            result(f"r{turn}", (f"e{turn}", "done " * 2_000)),
            agent(f"b{turn}", "", call(f"t{turn}", "Bash", command=f"pytest tests/test_{turn}.py")),
            result(f"s{turn}", (f"t{turn}", "y" * 900 + "\n3 passed")),
            agent(f"z{turn}", "Done."),
        ]
        expected |= {
            ("instruction", "", f"Never touch file{turn}.py again.", count + 1),
            ("file", "modified", f"src/part{turn}.py", count + 2),
            ("command", "ok", f"pytest tests/test_{turn}.py", count + 4),
        }
        count += len(new)
        messages = [*messages, *new]
        # As an agent would have it that does not record which of its messages is a summary.
        outcome, ledger = compacted(context_of(messages), budget_tokens=2_500, narrative_percent=0)
        messages = [
            Message(message.id, message.role, message.blocks, "normal") if message.kind == "summary" else message
            for message in outcome.messages
        ]
        in_tail = {one for one in expected if one[3] > ledger.upto or one[3] in ledger.pinned}
        assert expected - in_tail <= told(ledger), turn
        assert context_of(messages).total.tokens <= 2_500
        assert sum(read_ledger(message.text) is not None for message in messages) == 1


def test_of_instructions_that_contradict_each_other_the_latest_holds() -> None:
    before = Ledger(
        40, (), (LedgerEntry("instruction", "Answer in French.", 7), LedgerEntry("instruction", "Never push.", 9))
    )
    rules = context_of(
        [
            Message("s", "user", (Text(written(before)),), "summary"),
            user("u", "From now on answer in German."),
            agent("a", "x" * 2_000),
            user("v", "Use tabs, please. And always use four spaces instead of tabs."),
            agent("b", "y" * 2_000),
            user("w", "good"),
        ]
    )
    entries = {one.entry.text: one.entry for one in ledger_entries(rules) if one.entry.kind == "instruction"}
    french = entries["Answer in French."]
    assert (french.state, french.source, french.detail) == ("gone", 7, "superseded by #41")
    assert (entries["Never push."].state, entries["Never push."].source) == ("", 9)
    assert entries["From now on answer in German."].state == ""
    _, ledger = compacted(rules, budget_tokens=700, narrative_percent=0)
    assert ("instruction", "", "Never push.", 9) in told(ledger)
    assert ("instruction", "", "Answer in French.", 7) not in told(ledger)


def test_a_command_that_succeeds_later_mends_an_error_of_an_earlier_ledger() -> None:
    before = Ledger(40, (), (LedgerEntry("error", "E   assert 1 == 2", 12, "open", "`pytest -q`"),))
    context = context_of(
        [
            Message("s", "user", (Text(written(before)),), "summary"),
            user("u", "again"),
            agent("a", "", call("c", "Bash", command="pytest -q")),
            result("r", ("c", "1 passed")),
            agent("z", "x" * 2_000),
            user("v", "good"),
        ]
    )
    [error] = [one.entry for one in ledger_entries(context) if one.entry.kind == "error"]
    assert (error.state, error.source) == ("fixed", 12)
    assert error.detail == "`pytest -q`; succeeded in #42"


def test_the_model_is_asked_for_what_its_share_holds_and_is_told_the_earlier_narrative() -> None:
    before = Ledger(40, (), (), "It began with a race.")
    context = context_of([Message("s", "user", (Text(written(before)),), "summary"), *work()])
    _, [request] = run(STRATEGY, context, LedgerPolicy(budget_tokens=600, narrative_percent=20))
    assert 0 < request.max_chars < 600 * 4 // 5
    assert str(request.max_chars) in request.prompt
    assert request.previous == "It began with a race."
    assert METER.text_tokens(request.text) > 0


def test_a_ledger_as_text_and_back() -> None:
    entries = (
        LedgerEntry("instruction", "Never.\n\n    [Indented] at all.", 12, "gone", "superseded by #30"),
        LedgerEntry("error", "[odd] text", 7),
        LedgerEntry("url", "https://example.org", 9),
    )
    ledger = Ledger(214, (12, 57), entries, "Told\n\nfreely.", (("standing instructions", 3), ("addresses", 12)))
    text = (
        '<ledger upto="214" pinned="12 57">\n'
        f"{WORDS['en'].about}{WORDS['en'].holds}\n\n"
        "## Standing instructions\n- #12 [gone] Never.\n    \n        [Indented] at all.\n  → superseded by #30\n\n"
        "## Errors\n- #7 [] [odd] text\n\n"
        "## Addresses\n- #9 https://example.org\n\n"
        "Left out: 3 standing instructions, 12 addresses\n\n"
        "## Narrative\nTold\n\nfreely.\n</ledger>"
    )
    assert written(ledger) == text
    assert read_ledger(f"{text}\n ") == ledger
    assert read_ledger(text.replace("</ledger>", "")) is None
    assert read_ledger(text.replace("12 57", "9" * 5_000)) is None
    uncounted = read_ledger(text.replace("12 addresses", f"{'9' * 5_000} addresses"))
    assert uncounted is not None
    assert uncounted.left_out == (("standing instructions", 3),)


def test_what_is_said_again_keeps_its_first_source_unless_it_changes() -> None:
    """An address and a decision stand where they were first said; a command has its last run."""
    said = (
        "The limit is 4096 KB, see https://example.org/spec and ABC-12. We decided to use a mutex because it is safe."
    )
    again = [agent("a1", said), agent("a2", said)]
    ran = [agent("b1", "", call("c1", command="make")), result("r1", ("c1", "ok"))]
    once = [agent("b2", "", call("c2", command="make")), result("r2", ("c2", "ok"))]
    context = context_of([user("u", "go on"), *again, *ran, *once])
    found = {one.entry.kind: one.entry.source for one in ledger_entries(context)}
    assert found == {"user": 1, "agent": 2, "url": 2, "decision": 2, "command": 6}


@pytest.mark.parametrize(
    ("steps", "state"),
    [
        ("Write", "created"),
        ("Read", "viewed"),
        ("Edit", "modified"),
        ("Write Edit", "created"),
        ("Write Read", "created"),
        ("Write Edit Read", "created"),
        ("Edit Read", "modified"),
        ("Read Edit", "modified"),
        ("Edit delete_file", "deleted"),
        ("Write delete_file Read", "viewed"),
    ],
)
def test_a_file_has_its_newest_state(steps: str, state: str) -> None:
    messages = [user("u", "go")]
    for n, name in enumerate(steps.split()):
        messages += [
            agent(f"a{n}", "", call(f"c{n}", name, path="/p/a.py", content="x")),
            result(f"r{n}", (f"c{n}", "ok")),
        ]
    (file,) = [one.entry for one in ledger_entries(context_of(messages)) if one.entry.kind == "file"]
    assert file.state == state


# --- room -------------------------------------------------------------------------------------------------------------

WORDS_OF = st.sampled_from(["alpha", "beta", "src/a.py", "src/b.py", "retry_limit", "8080", "ABC-12", "x" * 30])
SAID = st.builds(
    lambda words, times: " ".join(words * times), st.lists(WORDS_OF, min_size=1, max_size=4), st.integers(1, 90)
)


@st.composite
def sessions(draw: st.DrawFn) -> list[Message]:
    """Requests, rules, runs and reads of all sizes."""
    made: list[Message] = []
    for turn in range(draw(st.integers(3, 7))):
        rule = draw(st.sampled_from(["", f" Never touch file{turn}.py again."]))
        made.append(user(f"u{turn}", f"Do step {turn}: {draw(SAID)}.{rule}"))
        for step in range(draw(st.integers(0, 4))):
            id = f"{turn}-{step}"
            tool = draw(st.sampled_from([{"command": f"make part{id}"}, {"file_path": f"src/part{id}.py"}]))
            made.append(agent(f"a{id}", draw(st.sampled_from(["", "I look."])), call(f"c{id}", "Run", **tool)))
            made.append(result(f"r{id}", (f"c{id}", draw(SAID) * 4)))
        if draw(st.booleans()):
            made.append(agent(f"z{turn}", draw(SAID)))
    return made


def without_model(context: Context, budget: int) -> Outcome:
    return assert_holds(STRATEGY, context, LedgerPolicy(budget_tokens=budget, narrative_percent=0))


def everything_in(outcome: Outcome) -> str:
    """Every text of the result, and what its ledger's lines come to when they are read."""
    texts = [part for one in outcome.messages for part in visible_parts(one) if isinstance(part, str)]
    return "\n".join([*texts, *(one.text for one in entries_of(outcome))])


def entries_of(outcome: Outcome) -> tuple[LedgerEntry, ...]:
    return next((ledger.entries for one in outcome.messages if (ledger := read_ledger(one.text))), ())


def chars_by_id(outcome: Outcome) -> dict[str, int]:
    return {one.id: visible_chars(one) for one in outcome.messages if one.kind != "summary"}


STEP = 220
"""Tokens that the first step of a few calls with their results takes."""
LEAST = 1_000
"""Tokens in which a ledger's frame, what the user wants and the least tail of these sessions have room."""


def test_a_token_more_takes_nothing_away() -> None:
    """Parts come to a little more together than apart: what the last of them has is cut by as much, not given back."""
    words = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx retry_limit " * 140
    messages = [user("u0", f"Do step 0: {words.strip()}.")]
    for step in range(3):
        messages.append(agent(f"a{step}", "I look.", call(f"c{step}", "Run", command=f"make part{step}")))
        messages.append(result(f"r{step}", (f"c{step}", "alpha " * 800)))
    messages += [agent("z0", "Done."), user("u1", "Do step 1: " + "retry_limit 8080 " * 64), agent("z1", "Well.")]
    messages += [user("u2", "Do step 2: alpha. Never touch file2.py again."), agent("z2", "ABC-12")]
    messages += [user("u3", "Do step 3: alpha."), agent("z3", "Fine."), user("u4", "Do step 4: " + "alpha beta " * 190)]
    context, before = context_of([*messages, user("u5", "And now?")]), 0
    for budget in range(1_290, 1_350):
        outcome = without_model(context, budget)
        there = sum(len(one.text) for one in entries_of(outcome)) + sum(chars_by_id(outcome).values())
        assert there >= before, budget
        before = there


@given(messages=sessions(), less=st.integers(LEAST, 4_000), more=st.integers(0, 2_000))
def test_a_larger_budget_keeps_what_a_smaller_one_keeps(messages: list[Message], less: int, more: int) -> None:
    context = context_of(messages)
    small, large = without_model(context, less), without_model(context, less + more)
    text = everything_in(large)
    for entry in entries_of(small):
        for part in entry.text.split("\n"):
            assert part in text or part.startswith("[…"), entry
    sizes = chars_by_id(large)
    assert all(sizes.get(id, -1) >= chars for id, chars in chars_by_id(small).items())


@given(messages=sessions(), budget=st.integers(LEAST, 5_000))
def test_a_budget_is_used_and_not_exceeded(messages: list[Message], budget: int) -> None:
    context = context_of(messages)
    taken = context.outcome_size(without_model(context, budget)).tokens
    assert min(0.9 * budget, budget - STEP, context.total.tokens) <= taken <= budget


@given(messages=sessions(), budget=st.integers(1, 3_000), data=st.data())
def test_the_open_request_is_there_whatever_the_budget_and_the_pins(
    messages: list[Message], budget: int, data: st.DataObject
) -> None:
    pins = frozenset(data.draw(st.lists(st.sampled_from([one.id for one in messages]), max_size=3)))
    outcome = without_model(context_of(messages, pins=pins), budget)
    newest = max(one.id for one in messages if one.starts_round)
    assert f"Do step {newest[1:]}: " in everything_in(outcome)


def one_huge(role: str) -> list[Message]:
    """A short talk that ends with one message of 40 000 tokens."""
    wall = "the kettle hums in row {n}; "
    text = "".join(wall.format(n=n) for n in range(6_000))
    newest = user("h", f"What of this? {text}") if role == "user" else agent("h", text)
    return [*chat(6, "c"), user("ask", "Read the rows."), newest]


@pytest.mark.parametrize("role", ["user", "agent"])
@pytest.mark.parametrize("budget", [1_000, 20_000])
def test_one_huge_message_is_shortened_and_never_left_out(role: str, budget: int) -> None:
    """A tail that took whole messages alone was empty here, and a budget of 262 144 tokens held 2 897."""
    context = context_of(one_huge(role))
    outcome = without_model(context, budget)
    huge = outcome.messages[-1]
    assert (huge.id, outcome.fate_at(len(context) - 1).fate) == ("h", Fate.COMPRESSED)
    assert huge.text.endswith("row 5999; ")
    assert 0.9 * budget <= context.outcome_size(outcome).tokens <= budget


def test_the_users_words_around_a_paste_stay_and_the_paste_says_where_it_is() -> None:
    log = "\n".join(f"2026-03-04 10:11:{n % 60:02} WARN kettle {n} boiled over" for n in range(900))
    end = "Lower the flame to 3, and tell me why it does that."
    asked = user("p", f"The kettle boils over, see:\n{log}\n{end}")
    later = [one for n in range(12) for one in (user(f"u{n}", f"And row {n}?"), agent(f"a{n}", "boiling " * 300))]
    outcome = without_model(context_of([asked, agent("a", "I look."), *later]), 1_500)
    first = [one.text for one in entries_of(outcome) if one.source == 1]
    paste = f"{' '.join(log.split())[:120]} [… {grouped(len(log) + 1)} characters of output]"
    assert first == ["The kettle boils over, see:", paste, end]


def test_what_the_tail_says_whole_is_no_entry() -> None:
    context = context_of(work())
    for budget in (300, 600, 1_200):
        outcome = without_model(context, budget)
        whole = {
            index + 1 for index, one in enumerate(context.messages) if any(one is there for there in outcome.messages)
        }
        assert [one for one in entries_of(outcome) if one.kind == "user" and one.source in whole] == []


def test_files_of_one_folder_and_state_share_a_line() -> None:
    viewed = [("src/a.py", 3), ("src/b.py", 4), ("src/c.py", 4)]
    files = [LedgerEntry("file", path, source, "viewed") for path, source in viewed]
    files += [
        LedgerEntry("file", "src/d.py", 5, "created"),
        LedgerEntry("file", "e.py", 6, "named"),
        LedgerEntry("file", "f.py", 6, "named"),
    ]
    files += [LedgerEntry("file", "src/my notes.py", 7, "viewed"), LedgerEntry("file", "g,h.py", 8, "viewed")]
    ledger = Ledger(20, (), tuple(files))
    text = written(ledger)
    assert text.partition("## Files\n")[2] == (
        "- [viewed] src/: #3 a.py, #4 b.py, c.py\n"
        "- #5 [created] src/d.py\n"
        "- [named] #6 e.py, f.py\n"
        "- #7 [viewed] src/my notes.py\n"
        "- #8 [viewed] g,h.py\n</ledger>"
    )
    assert read_ledger(text) == ledger


def test_names_of_one_message_share_a_line() -> None:
    entries = (
        LedgerEntry("file", "src/a.py", 3, "viewed"),
        LedgerEntry("file", "src/b.py", 7, "named"),
        LedgerEntry("file", "src/c.py", 7, "named"),
        LedgerEntry("identifier", "retry_limit", 7),
        LedgerEntry("identifier", "TTL_MS", 7),
        LedgerEntry("identifier", "parse_row", 9),
        LedgerEntry("number", "port 8080", 9),
    )
    ledger = Ledger(20, (), entries)
    text = written(ledger)
    assert "- [named] src/: #7 b.py, c.py\n" in text
    assert "- #7 retry_limit, TTL_MS\n- #9 parse_row\n" in text
    assert read_ledger(text) == ledger


def test_a_call_that_is_done_is_shortened_with_its_input_and_an_open_one_is_not() -> None:
    long = "k" * 9_000
    done = [agent("d", "", call("c1", "Write", file_path="a.py", content=long)), result("r", ("c1", "ok"))]
    waiting = agent("w", "", call("c2", "Write", file_path="b.py", content=long))
    outcome = without_model(context_of([user("u", "Write both."), *done, agent("m", "One is there."), waiting]), 3_000)
    by_id = {one.id: one for one in outcome.messages}
    assert by_id["w"] is waiting
    assert "d" not in by_id or len(str(by_id["d"].calls[0].input)) < 3_000


@pytest.mark.parametrize(("depth", "cut"), [(DEEPEST - 1, True), (DEEPEST, False), (500, False)])
def test_an_input_that_nests_too_deep_stays_as_it_is(depth: int, cut: bool) -> None:
    given: Any = "k" * 9_000
    for _ in range(depth):
        given = [given]
    made = Message("d", "assistant", (ToolUse("c1", "Write", given),))
    assert (shortened(made, 800, "en") is not made) is cut
    context = context_of([user("u", "Write it."), made, result("r", ("c1", "ok")), *loop("l", 9)])
    assert without_model(context, 400).status == "compacted"


def test_a_statement_is_no_entry_beside_the_request_that_holds_it() -> None:
    said = "My sister Ilse lives in Porto, room 267."
    talk = [user("u", f"{said} What do you think?"), agent("a", "Nice. " * 300), *chat(3, "c")]
    large, small = (entries_of(without_model(context_of(talk), budget)) for budget in (450, 220))
    assert [one.kind for one in large if said in one.text] == ["user"]
    assert [one.text for one in small if one.text == said] == [said]


def test_of_two_statements_of_one_subject_the_later_counts_over_generations() -> None:
    before = Ledger(40, (), (LedgerEntry("user", "My flight to Lund is on 4 May.", 7),))
    talk = [Message("s", "user", (Text(written(before)),), "summary"), user("u", "My flight to Lund is on 9 May.")]
    entries = [one.entry for one in ledger_entries(context_of(talk)) if one.entry.kind == "user"]
    by_text = {one.text: (one.state, one.source) for one in entries}
    assert by_text["My flight to Lund is on 9 May."] == ("open", 41)
    assert by_text["My flight to Lund is on 4 May."] in (("first", 7), ("gone", 7)), "when unsure both stay"


def test_a_cause_that_the_agent_names_is_kept_among_the_decisions_and_mere_talk_is_not() -> None:
    told = "The root cause is that the kettle has no lid."
    talk = [user("u", "Why?"), agent("a", f"I look at the kettle. {told}"), *loop("l", 3), user("v", "And now?")]
    found = [one.entry for one in ledger_entries(context_of(talk)) if one.entry.kind == "decision"]
    assert [(one.text, one.source) for one in found] == [(told, 2)]


def test_a_name_that_is_used_again_after_a_ledger_is_told_with_its_new_source() -> None:
    before = Ledger(40, (), (LedgerEntry("identifier", "retry_limit", 7), LedgerEntry("identifier", "parse_row", 9)))
    talk = [
        Message("s", "user", (Text(written(before)),), "summary"),
        agent("a", "I set retry_limit."),
        user("v", "ok"),
    ]
    names = {line.entry.text: line.entry.source for line in queue_of(context_of(talk)).lines if line.entry.in_passing}
    assert names == {"retry_limit": 41, "parse_row": 9}


def test_a_text_alone_tells_what_is_not_read_yet_too() -> None:
    text = ledger_text(context_of([*work(), user("now", "Write the release notes.")]), 600)
    assert "[open] Write the release notes." in text
    assert "[first] Fix the token refresh" in text


def test_a_tools_environment_is_whole_or_not_there_and_stands_before_the_ledger() -> None:
    talk = [
        message
        for n in range(4)
        for message in (
            agent(f"a{n}", "", call(f"c{n}", path=f"src/a{n}.py")),
            result(f"r{n}", (f"c{n}", "line\n" * 900)),
        )
    ]
    messages = [
        user("env", "The folder is /srv. " + "It holds files. " * 60, "meta"),
        user("u", "Read all of it."),
        *talk,
        agent("z", "Read."),
    ]
    placed = set()
    for budget in range(500, 4_800, 250):
        outcome = assert_holds(STRATEGY, context_of(messages), LedgerPolicy(budget_tokens=budget, narrative_percent=0))
        kinds = [message.kind for message in outcome.messages]
        placed.add(("meta" in kinds, *kinds[:2]))
        assert "meta" not in kinds or outcome.messages[0] is messages[0]
    assert placed == {(False, "summary", "normal"), (True, "meta", "summary")}


def test_names_stand_in_the_order_in_which_they_were_said() -> None:
    """In that of a set they would stand in another order, and take other tokens, each time the program is started."""
    said = [f"src/{folder}/routes.py" for folder in ("quay", "barge", "lock", "ferry", "anchor", "mast", "keel", "oar")]
    assert [key for key, _, _ in names_in(" and ".join([*said, *said]))] == said


def test_a_number_is_told_with_up_to_two_words_before_it() -> None:
    assert [*names_in("the retry limit is 1536 rows")] == [("1536", "limit is 1536 rows", "number")]


def test_a_file_with_an_entry_is_no_mere_name_in_a_shorter_form() -> None:
    messages = [
        user("u", "Read it."),
        agent("a", "", call("c1", "Read", file_path="src/gates/weir.py")),
        result("r", ("c1", "x")),
        agent("z", "Read gates/weir.py; sluice.py is next."),
    ]
    files = [one.entry.text for one in queue_of(context_of(messages)).lines if one.entry.kind == "file"]
    assert files == ["src/gates/weir.py", "sluice.py"]


def test_files_that_share_a_line_are_measured_as_they_are_written_in_it() -> None:
    read = [call("c1", "Read", file_path="src/a.py"), call("c2", "Read", file_path="src/weir.py")]
    messages = [
        user("u", "Read both."),
        agent("a", "", *read),
        result("r", ("c1", "x"), ("c2", "y")),
        agent("z", "Yes."),
    ]
    context = context_of(messages)
    task = LedgerTask(context, in_characters(context), frozenset(), "en")
    lines = [task.line(number, WHOLE) for number, one in enumerate(task.queue.lines) if one.entry.kind == "file"]
    text = written(Ledger(4, (), tuple(one.entry for one in lines), ""))
    assert "\n- [viewed] src/: #2 a.py, weir.py\n" in text
    assert {one.entry.text: one.cost for one in lines} == {
        "src/a.py": len(" #2 a.py,"),
        "src/weir.py": len(" #2 weir.py,"),
    }
    assert {one.shared for one in lines} == {len("- [viewed] src/: ")}
