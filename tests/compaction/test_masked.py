"""Everything that is derived from a session's messages is made of them without their secrets, found out once; what
stays and what a model is sent is as it was."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.analysis.probes.made import probes_of
from workbench.analysis.retention import retention
from workbench.base.secrets import MASK, found
from workbench.compaction.assembled.react import react
from workbench.compaction.carried import Texts, carried_of
from workbench.compaction.context import Context
from workbench.compaction.edits import Edits, edited
from workbench.compaction.ledger.gather import noted
from workbench.compaction.ledger.lost import lost_from
from workbench.compaction.outcome import Kept, Made, Outcome
from workbench.compaction.progressive.retained import passages_of
from workbench.compaction.shape_calls import calls_of
from workbench.compaction.shape_facts import facts_of
from workbench.compaction.strategies.ledger import STRATEGY, LedgerPolicy
from workbench.compaction.strategy import SummaryRequest
from workbench.conformance.building import agent, call, context_of, loop, result, summary, user
from workbench.session import Message, Span, Text
from workbench.session.masked import masked_message
from workbench.summarizers.driver import drive
from workbench.summarizers.extractive import extractive

SECRET = "Fwo9GZXIvYXdzEJr9kQ2mVt7"
RULE = f"Always run `export AWS_SESSION_TOKEN={SECRET}` in the staging shell before the deploy of the billing service."
CLEAN = RULE.replace(SECRET, MASK)


def work() -> list[Message]:
    return [
        user("u1", RULE),
        agent(
            "a1", "I decided to go with the vault instead of the file.", call("c1", command=f"export TOKEN={SECRET}")
        ),
        result("r1", ("c1", f"TOKEN={SECRET}")),
        *loop("l", 6),
        user("u2", f"Now connect with psycopg2.connect(host='db', password='{SECRET}') again."),
        agent("a2", "The connection works."),
        user("u3", "Write the runbook."),
    ]


def compacted(context: Context, budget: int, narrative: float = 0.0) -> Outcome:
    policy = LedgerPolicy(budget_tokens=budget, narrative_percent=narrative)
    return drive(STRATEGY.compact(context, policy), extractive).outcome


def test_f02_facts_calls_and_entries_tell_no_secret() -> None:
    context = context_of(work())
    told = (facts_of(context.shape), calls_of(context.shape), noted(context))
    assert SECRET not in repr(told)
    assert MASK in repr(facts_of(context.shape))
    assert CLEAN in {one.entry.text for one in noted(context) if one.entry.kind == "instruction"}


@pytest.mark.parametrize("budget", [90, 150, 250, 400])
def test_f02_a_ledger_tells_no_secret_and_what_stays_is_the_session_s_own(budget: int) -> None:
    context = context_of(work())
    outcome = compacted(context, budget)
    made = [piece.message for piece in outcome.pieces if isinstance(piece, Made)]
    assert made
    assert SECRET not in repr(made)
    kept = [index for piece in outcome.pieces if isinstance(piece, Kept) for index in range(piece.start, piece.stop)]
    there = {id(message) for message in outcome.messages}
    assert all(id(context.messages[index]) in there for index in kept)


def test_f02_a_model_is_sent_what_the_session_says() -> None:
    asked: list[SummaryRequest] = []

    def answers(request: SummaryRequest) -> Any:
        asked.append(request)
        return extractive(request)

    context = context_of([*work(), *loop("m", 30)])
    drive(STRATEGY.compact(context, LedgerPolicy(budget_tokens=900, narrative_percent=50.0)), answers)
    assert any(SECRET in request.text for request in asked)
    assert all(SECRET not in repr(request.masked) for request in asked)


def test_f02_a_rule_that_holds_a_secret_is_found_in_what_is_left() -> None:
    context = context_of(work())
    ledger = compacted(context, 250)
    assert any(CLEAN in message.text for message in ledger.messages)
    assert lost_from(context, ledger) == ()
    by_text = {fact.text: fact.state for fact in retention(context, ledger).facts if fact.kind == "instruction"}
    assert by_text[CLEAN] == "full"


@pytest.mark.parametrize(("said", "state"), [(RULE, "full"), (CLEAN, "full"), ("Nothing.", "none")])
def test_f02_a_summary_with_the_secret_or_without_it_holds_the_rule(said: str, state: str) -> None:
    context = context_of(work())
    made = Made(summary("s", said), (Span(0, 3),))
    outcome = Outcome("compacted", "", context.messages, (made, Kept(3, len(context))), (), tail=3)
    facts = {fact.text: fact.state for fact in retention(context, outcome).facts if fact.kind == "instruction"}
    assert facts[CLEAN] == state


def test_f02_no_question_asks_for_a_secret_or_tells_one() -> None:
    rule = "Never publish the `billing_report_v2` table before the auditors of the finance team have signed it."
    probes = probes_of(context_of([*work(), user("u4", rule)]).shape, most=1_000)
    assert "billing_report_v2" in {probe.answer for probe in probes}
    assert SECRET not in repr(probes)
    assert not any(MASK in probe.question or MASK in probe.answer for probe in probes)


@pytest.mark.parametrize("before", [*range(420, 520, 7)])
def test_f02_wherever_a_text_is_cut_nothing_of_a_secret_is_left(before: int) -> None:
    text = "x " * (before // 2) + f"password='{SECRET}' " + "y " * 600
    context = context_of([user("u", text), agent("a", "Done.")])
    short = edited(context, Edits(shortened=frozenset({"u"}))).messages[0].text
    assert len(short) < len(text)
    assert not any(SECRET[at : at + 4] in short for at in range(len(SECRET) - 3))


def test_f02_a_text_is_searched_for_secrets_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Facts, names, calls and what is looked for in an outcome share what was found."""
    seen: list[str] = []
    real = found.spans
    monkeypatch.setattr(found, "spans", lambda text: seen.append(text) or real(text))
    context = context_of([*work(), *loop("m", 30)])
    facts_of(context.shape)
    once = sum(map(len, seen))
    outcome = compacted(context, 300)
    made = sum(len(piece.message.text) for piece in outcome.pieces if isinstance(piece, Made))
    retention(context, outcome)
    assert sum(map(len, seen)) - once <= 3 * made
    assert context.from_outcome(outcome).shape.masked
    assert sum(map(len, seen)) - once <= 4 * made


def test_f02_masking_one_message_looks_at_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    real = found.spans
    monkeypatch.setattr(found, "spans", lambda text: seen.append(text) or real(text))
    shape = context_of(work()).shape
    assert shape.masked_at(0) == masked_message(Message("u1", "user", (Text(RULE),)))
    assert set(seen) == {RULE}
    assert shape.masked_at(4) is shape.messages[4]


@pytest.mark.parametrize("budget", range(200, 420, 20))
def test_f02_a_message_that_a_ledger_shortens_shows_no_rest_of_a_secret(budget: int) -> None:
    long = "".join(f"word {n} password='{SECRET}' " for n in range(80))
    context = context_of([user("u", "Read it."), agent("a", "", call("c", command="cat x")), result("r", ("c", long))])
    made = [piece.message for piece in compacted(context, budget).pieces if isinstance(piece, Made)]
    assert made
    assert not any(SECRET[at : at + 6] in repr(made) for at in range(len(SECRET) - 5))


def test_f02_a_command_that_a_summary_tells_with_its_secret_is_found() -> None:
    context = context_of(work())
    made = Made(summary("s", f"It ran `export TOKEN={SECRET}` twice."), (Span(0, 3),))
    outcome = Outcome("compacted", "", context.messages, (made, Kept(3, len(context))), (), tail=3)
    states = {fact.text: fact.state for fact in retention(context, outcome).facts if fact.kind == "command"}
    assert states[f"export TOKEN={MASK}"] == "full"


def test_f02_texts_that_a_summary_s_message_carries_are_masked() -> None:
    passage = f"The staging password='{SECRET}' holds."
    shape = context_of([user("u", f"Go on. <Pin>{passage}</Pin>"), agent("a", "Yes.")]).shape
    assert passages_of(shape) == {0: (passage.replace(SECRET, MASK),)}
    carrying = Texts(request=f"Use password='{SECRET}' now", passages=(passage,))
    told = f"{carrying.front}\n\n<summary>It began.</summary>\n{carrying.behind}"
    assert SECRET not in repr(carried_of(context_of([summary("s", told), user("u", "Go on.")]).shape))


def test_f06_react_form_is_masked_before_it_is_json() -> None:
    """`\\n` before a key is a letter before it."""
    messages = [user("u", "Go."), agent("a", "", call("c", command=f"true\npassword='{SECRET}'"))]
    told = "\n".join(react(context_of([*messages, result("r", ("c", f"x\npassword='{SECRET}'"))]).shape))
    assert SECRET not in told
    assert told.count(MASK) == 2
