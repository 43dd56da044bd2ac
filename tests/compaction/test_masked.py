"""Everything derived from a session's messages is masked, and computed once; kept messages and requests are
unchanged."""

from __future__ import annotations

from inspect import unwrap
from typing import Any

import pytest

from workbench.analysis.probes.generation import probes_of
from workbench.analysis.retention import retention
from workbench.base import secrets
from workbench.base.secrets import MASK, found, without_secrets
from workbench.base.text import clip_middle
from workbench.compaction.assembled.notes import notes_of
from workbench.compaction.assembled.prompt import react
from workbench.compaction.assembled.tool_results import ResultLimits, compressor
from workbench.compaction.checks import _text_elsewhere
from workbench.compaction.context import Context
from workbench.compaction.edits import Edits, apply_edits
from workbench.compaction.exchange.abridge import AbridgedHistoryParams, abridge
from workbench.compaction.ledger.entries import LedgerEntry
from workbench.compaction.ledger.gather import FoundEntry, _agent_sentences, _reasons, ledger_entries, numbering
from workbench.compaction.ledger.lost import lost_from
from workbench.compaction.ledger.names import names_of
from workbench.compaction.ledger.plan import ledger_text
from workbench.compaction.ledger.queue import Priority, QueueStep, Rank, _unnamed
from workbench.compaction.ledger.room import LedgerSelection
from workbench.compaction.ledger.shorter import shortened
from workbench.compaction.ledger.task import LedgerTask, in_characters
from workbench.compaction.ledger.text import Ledger, written
from workbench.compaction.outcome import KeptSpan, NewMessage, Outcome
from workbench.compaction.progressive.key_events import _instructions
from workbench.compaction.progressive.retained import _index_of, _request_text, _requirement_after, passages_of
from workbench.compaction.prompt_parts import prompt_parts
from workbench.compaction.request import RequestPrompt, cut_at_sentence
from workbench.compaction.shape_calls import actions_at, calls_of
from workbench.compaction.shape_facts import facts_of, sentence_states_of
from workbench.compaction.strategies.ledger import STRATEGY, LedgerPolicy
from workbench.compaction.strategies.message_window import STRATEGY as MESSAGE_WINDOW
from workbench.compaction.strategies.user_messages import _shortened
from workbench.compaction.summary_extras import Original, SummaryExtras, extras_of, opening_request
from workbench.compaction.summary_request import SummaryRequest, TextBody
from workbench.compaction.window.policy import MessageWindowPolicy
from workbench.conformance.building import agent, call, context_of, loop, result, summary, user
from workbench.session import Message, Span, Text
from workbench.session.masked import masked_message
from workbench.summarizers.driver import drive
from workbench.summarizers.extractive import extractive
from workbench.summarizers.run_records import call_record

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
    return drive(STRATEGY.run(context, policy), extractive).outcome


def test_f02_facts_calls_and_entries_tell_no_secret() -> None:
    context = context_of(work())
    told = (facts_of(context.shape), calls_of(context.shape), ledger_entries(context))
    assert SECRET not in repr(told)
    assert MASK in repr(facts_of(context.shape))
    assert CLEAN in {one.entry.text for one in ledger_entries(context) if one.entry.kind == "instruction"}


@pytest.mark.parametrize("budget", [90, 150, 250, 400])
def test_f02_a_ledger_tells_no_secret_and_what_stays_is_the_session_s_own(budget: int) -> None:
    context = context_of(work())
    outcome = compacted(context, budget)
    made = [piece.message for piece in outcome.pieces if isinstance(piece, NewMessage)]
    assert made
    assert SECRET not in repr(made)
    kept = [
        index for piece in outcome.pieces if isinstance(piece, KeptSpan) for index in range(piece.start, piece.stop)
    ]
    there = {id(message) for message in outcome.messages}
    assert all(id(context.messages[index]) in there for index in kept)


def test_f02_a_model_is_sent_what_the_session_says() -> None:
    asked: list[SummaryRequest] = []

    def answers(request: SummaryRequest) -> Any:
        asked.append(request)
        return extractive(request)

    context = context_of([*work(), *loop("m", 30)])
    drive(STRATEGY.run(context, LedgerPolicy(budget_tokens=900, narrative_percent=50.0)), answers)
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
    made = NewMessage(summary("s", said), (Span(0, 3),))
    outcome = Outcome("compacted", "", context.messages, (made, KeptSpan(3, len(context))), (), tail=3)
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
    short = apply_edits(context, Edits(shortened=frozenset({"u"}))).messages[0].text
    assert len(short) < len(text)
    assert not any(SECRET[at : at + 4] in short for at in range(len(SECRET) - 3))


def searched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the texts that are searched for secrets from now on, as in a new process."""
    seen: list[str] = []
    real = found.spans
    secrets._mask_short_text.cache_clear()
    monkeypatch.setattr(secrets, "_mask_secrets", unwrap(secrets._mask_secrets))
    monkeypatch.setattr(found, "spans", lambda text: seen.append(text) or real(text))
    return seen


def test_f02_a_text_is_searched_for_secrets_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Facts, names, calls and what is looked for in an outcome share what was found."""
    seen = searched(monkeypatch)
    context = context_of([*work(), *loop("m", 30)])
    facts_of(context.shape)
    once = sum(map(len, seen))
    outcome = compacted(context, 300)
    made = sum(len(piece.message.text) for piece in outcome.pieces if isinstance(piece, NewMessage))
    retention(context, outcome)
    assert sum(map(len, seen)) - once <= 3 * made
    assert context.from_outcome(outcome).shape.masked
    assert sum(map(len, seen)) - once <= 4 * made


def test_f02_masking_one_message_looks_at_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = searched(monkeypatch)
    shape = context_of(work()).shape
    assert shape.masked_at(0) == masked_message(Message("u1", "user", (Text(RULE),)))
    assert set(seen) == {RULE}
    assert shape.masked_at(4) is shape.messages[4]


@pytest.mark.parametrize("budget", range(200, 420, 20))
def test_f02_a_message_that_a_ledger_shortens_shows_no_rest_of_a_secret(budget: int) -> None:
    long = "".join(f"word {n} password='{SECRET}' " for n in range(80))
    context = context_of([user("u", "Read it."), agent("a", "", call("c", command="cat x")), result("r", ("c", long))])
    made = [piece.message for piece in compacted(context, budget).pieces if isinstance(piece, NewMessage)]
    assert made
    assert not any(SECRET[at : at + 6] in repr(made) for at in range(len(SECRET) - 5))


def test_f02_a_command_that_a_summary_tells_with_its_secret_is_found() -> None:
    context = context_of(work())
    made = NewMessage(summary("s", f"It ran `export TOKEN={SECRET}` twice."), (Span(0, 3),))
    outcome = Outcome("compacted", "", context.messages, (made, KeptSpan(3, len(context))), (), tail=3)
    states = {fact.text: fact.state for fact in retention(context, outcome).facts if fact.kind == "command"}
    assert states[f"export TOKEN={MASK}"] == "full"


def test_f02_texts_that_a_summary_s_message_carries_are_masked() -> None:
    passage = f"The staging password='{SECRET}' holds."
    shape = context_of([user("u", f"Go on. <Pin>{passage}</Pin>"), agent("a", "Yes.")]).shape
    assert passages_of(shape) == {0: (passage.replace(SECRET, MASK),)}
    carrying = SummaryExtras(request=f"Use password='{SECRET}' now", passages=(passage,))
    told = f"{carrying.front}\n\n<summary>It began.</summary>\n{carrying.back}"
    assert SECRET not in repr(extras_of(context_of([summary("s", told), user("u", "Go on.")]).shape))


def test_f06_react_form_is_masked_before_it_is_json() -> None:
    """`\\n` before a key is a letter before it."""
    messages = [user("u", "Go."), agent("a", "", call("c", command=f"true\npassword='{SECRET}'"))]
    told = "\n".join(react(context_of([*messages, result("r", ("c", f"x\npassword='{SECRET}'"))]).shape))
    assert SECRET not in told
    assert told.count(MASK) == 2


# --- a secret that its name alone tells: what is cut from it bears none

NAMED = "brass-Heron-77"
SET = f"DB_PASSWORD={NAMED}"


def has_part_of_secret(made: object) -> bool:
    """True if eight consecutive characters of the secret occur in a value."""
    return any(NAMED[at : at + 8] in repr(made) for at in range(len(NAMED) - 7))


def test_f02_an_open_request_that_is_lost_is_told_without_its_secret() -> None:
    context = context_of([*loop("l", 3), user("u", f"Now connect with {SET} again.")])
    nothing = Outcome(
        "compacted", "", context.messages, (NewMessage(summary("s", "Nothing."), (Span(0, 8),)),), (), tail=0
    )
    assert [lost.message for lost in lost_from(context, nothing)] == ["u"]
    assert MASK in repr(lost_from(context, nothing))
    assert not has_part_of_secret(lost_from(context, nothing))


@pytest.mark.parametrize("most", range(40, 160, 8))
def test_f06_an_abridged_history_is_cut_from_masked_texts(most: int) -> None:
    said = f"{'word ' * 20}{SET}{' word' * 4}"
    context = context_of([user("u", said), agent("a", said), user("u2", "Go on.")])
    params = AbridgedHistoryParams(user_message_chars_limit=most, agent_response_chars_limit=most)
    assert not has_part_of_secret(abridge(context, 2, params).text)


@pytest.mark.parametrize("before", range(20, 120, 5))
def test_f06_a_run_keeps_a_request_without_what_its_cuts_left_of_a_secret(before: int) -> None:
    text = f"{'x ' * (before // 2)}{SET} {'y ' * 200}"
    sent = f"{clip_middle(text, 160)} {text[: before + 20]}... {text[before + 20 :]}"
    request = SummaryRequest("summary", (user("u", text),), "Sum up.", TextBody(lambda: sent))
    assert has_part_of_secret(without_secrets(sent))
    assert not has_part_of_secret(without_secrets(call_record(request, None).request))


def test_f02_what_a_summary_carries_and_how_a_session_began_bear_no_secret() -> None:
    began = context_of([user("u", f"Connect with {SET} now."), agent("a", "Yes.")]).shape
    assert opening_request(began) == Original(f"Connect with DB_PASSWORD={MASK} now.", "u", 1)
    ledger = compacted(context_of([user("u", f"Never print {SET}."), *loop("l", 9)]), 90)
    assert not has_part_of_secret(opening_request(context_of(ledger.messages).shape))
    assert not has_part_of_secret(ledger_entries(context_of(ledger.messages)))


def test_f02_names_turns_and_key_events_bear_no_secret() -> None:
    said = f"I decided to use {SET} instead of the vault, because it is down."
    shape = context_of([user("u", f"Always use {SET} here."), agent("a", said, call("c", command=SET))]).shape
    made = (
        names_of(shape),
        [*_reasons(shape, numbering(shape))],
        [*_agent_sentences(shape, numbering(shape))],
        _instructions(shape),
        calls_of(shape),
    )
    assert MASK in repr([*made[1]])
    assert not any(has_part_of_secret([*one]) for one in made)


def test_f02_the_requirement_behind_the_first_request_bears_no_secret() -> None:
    context = context_of([user("u", "Build it."), user("v", f"Use {SET}."), agent("a", "Yes.")])
    assert MASK in repr(_requirement_after(context.shape))
    assert not has_part_of_secret(_requirement_after(context.shape))


def test_f02_the_parts_of_a_prompt_are_masked_before_inputs_are_json() -> None:
    context = context_of([user("u", "Go."), agent("a", "", call("c", command=f"true\n{SET}"))])
    assert not has_part_of_secret(prompt_parts(context))


@pytest.mark.parametrize("room", range(8, 40, 3))
def test_f06_words_of_the_user_are_cut_from_the_masked_text(room: int) -> None:
    context = context_of([user("u", f"{'word ' * 6}{SET} {'word ' * 40}"), agent("a", "Yes.")])
    made = _shortened(context, context.messages[0], room)
    assert not has_part_of_secret(made)


def test_f02_a_call_that_a_result_answers_bears_no_secret() -> None:
    messages = [user("u", "Go."), agent("a", "", call("c", command=SET)), result("r", ("c", "done"))]
    shape = context_of(messages).shape
    assert not has_part_of_secret(shape.call_of(2, "c"))
    assert not has_part_of_secret(actions_at(shape, 1))


@pytest.mark.parametrize("before", range(40))
def test_f06_a_compressed_result_is_cut_from_the_masked_text(before: int) -> None:
    said = f"{'x' * before} {SET} {'y' * 400}"
    context = context_of([user("u", "Go."), agent("a", "", call("c", command="ls")), result("r", ("c", said))])
    made = compressor(context.shape, ResultLimits(stdout_lines=1, line_chars=60))(2)
    assert made is not context.messages[2]
    assert not has_part_of_secret(made)


def earlier_ledger(*entries: LedgerEntry, narrative: str = "") -> Message:
    """A ledger as an earlier program may have written it, with its secrets."""
    return summary("s", written(Ledger(2, (), entries, narrative)))


def test_f02_what_an_earlier_ledger_says_is_read_without_secrets() -> None:
    ledger = earlier_ledger(
        LedgerEntry("user", f"Connect with {SET} now.", 1), LedgerEntry("instruction", f"Never print {SET}.", 2)
    )
    shape = context_of(
        [ledger, user("u", f"Always set {SET} before you deploy the billing service."), agent("a", "Yes.")]
    ).shape
    before = numbering(shape).before
    made = before, opening_request(shape), ledger_entries(context_of(shape.messages))
    assert all(MASK in repr(one) for one in made)
    assert not any(map(has_part_of_secret, made))


@pytest.mark.parametrize("budget", range(20, 200, 3))
def test_f06_what_an_earlier_narrative_told_is_cut_from_the_masked_text(budget: int) -> None:
    told = f"{'word ' * 4}{SET}{' word' * 90}"
    context = context_of([summary("s", told), *loop("l", 6), user("u", "Go on.")])
    assert not has_part_of_secret(ledger_text(context, budget))
    assert not has_part_of_secret(
        [piece for piece in compacted(context, 2 * budget).pieces if isinstance(piece, NewMessage)]
    )


def test_f02_an_unread_message_is_there_where_a_summary_tells_it_without_its_secret() -> None:
    message = user("u", f"Set {SET} now.")
    told = NewMessage(summary("s", f"Set DB_PASSWORD={MASK} now."), (Span(0, 1),))
    assert _text_elsewhere(message, Outcome("compacted", "", (message,), (told,), (), tail=0))


def test_f02_a_secret_that_looks_like_the_name_of_a_file_is_no_name() -> None:
    said = "password='(brass/Heron_77.py' opens src/weir_gate.py"
    shape = context_of([user("u", said), agent("a", said)]).shape
    assert "weir_gate" in repr(names_of(shape))
    assert "Heron" not in repr(names_of(shape))


def test_f02_the_request_that_a_summary_carries_bears_no_secret_and_is_found_by_its_masked_words() -> None:
    context = context_of([user("u", f"Connect with {SET} now."), agent("a", "Yes."), user("v", "Go on.")])
    assert _index_of(context.shape, Original(f"Connect with DB_PASSWORD={MASK} now.", "another", 1)) == 0
    assert _request_text(context, {0}, (), oldest=True) == f"Connect with DB_PASSWORD={MASK} now."


def test_f02_an_earlier_summary_is_carried_on_without_its_secrets() -> None:
    assert not has_part_of_secret(RequestPrompt("summary", "Sum up.", SET, carry_on=True).with_previous("It went on."))


@pytest.mark.parametrize("limit", range(10, 60, 2))
def test_f06_a_summary_is_cut_from_the_masked_text(limit: int) -> None:
    assert not has_part_of_secret(cut_at_sentence(f"It set {SET} and then deployed the service to staging.", limit))


def test_f02_what_the_user_states_bears_no_secret() -> None:
    context = context_of([user("u", f"The depot at Harlow takes 40 crates a day and {SET}."), agent("a", "Yes.")])
    assert not has_part_of_secret(sentence_states_of(context.shape))


@pytest.mark.parametrize("chars", range(90, 150))
def test_f06_a_message_is_shortened_from_its_masked_text(chars: int) -> None:
    assert not has_part_of_secret(shortened(user("u", f"{'word ' * 8}{SET}{' word' * 200}"), chars, "en"))


def test_f02_a_file_that_only_a_secret_seems_to_mention_makes_no_note() -> None:
    assert notes_of(context_of([user("u", "password='x @brass/Heron-77'"), agent("a", "Yes.")]).shape) == ()


CHECKED = f"I checked that {SET} works because the vault is down."


@pytest.mark.parametrize(
    ("form", "messages"),
    [
        ("prose", [user("u", f"Build it with {SET}."), agent("a", CHECKED)]),
        ("prose", [summary("s", f"## Decisions\n- {SET}\n"), user("u", "Go on."), agent("a", "Yes.")]),
        ("narrative", [user("u", f"Build it with {SET}."), agent("a", CHECKED)]),
        ("narrative", [summary("s", f"We decided to keep {SET} here."), user("u", "Go on."), agent("a", "Yes.")]),
        ("memories", [user("u", f"Build it with {SET}."), agent("a", CHECKED)]),
    ],
)
def test_f02_an_extractive_summary_is_made_of_masked_messages(form: Any, messages: list[Message]) -> None:
    request = SummaryRequest("summary", messages, "Sum up.", TextBody(lambda: ""), form=form)
    assert MASK in repr(extractive(request))
    assert not has_part_of_secret(extractive(request))


@pytest.mark.parametrize("form", ["prose", "narrative"])
def test_f02_an_extractive_summary_carries_an_earlier_one_on_without_its_secrets(form: Any) -> None:
    said, earlier = (user("u", "Build it."), agent("a", "Yes.")), f"## Decisions\n- We keep {SET} here.\n"
    request = SummaryRequest("summary", said, "Sum up.", TextBody(lambda: ""), previous=earlier, form=form)
    assert MASK in repr(extractive(request))
    assert not has_part_of_secret(extractive(request))


def test_f02_a_file_that_stands_only_in_a_secret_is_not_named_by_its_message() -> None:
    shape = context_of([user("u", "Set DB_PASSWORD=brass/Heron_77.py and export API=src/weir.py now.")]).shape
    lines = [FoundEntry(LedgerEntry("file", path, 1), 0, 0) for path in ("/srv/brass/Heron_77.py", "/srv/src/weir.py")]
    assert [*_unnamed(shape, lines)] == [0]


OPEN = [user("u", "Go."), *loop("l", 3), user("v", f"Set {SET} now, then restart both services."), agent("a", "Yes.")]


def request_of(context: Context) -> tuple[LedgerTask, int]:
    """The ground of a ledger, and the line of the request that has a secret."""
    ground = LedgerTask(context, in_characters(context), frozenset(), "en")
    (line,) = (
        number
        for number, one in enumerate(ground.queue.lines)
        if one.entry.kind == "user" and one.entry.text.startswith("Set ")
    )
    return ground, line


def test_f02_the_tail_says_a_request_whose_secret_its_line_does_not_have() -> None:
    ground, line = request_of(context_of(OPEN))
    assert LedgerSelection(ground)._unit_has(line, 40, 60)


def test_f02_more_of_a_request_with_a_secret_is_told_in_its_message_alone() -> None:
    ground, line = request_of(context_of(OPEN))
    selection = LedgerSelection(ground)
    unit = ground.queue.unit_of[ground.queue.lines[line].last]
    selection.units[unit] = 20
    step = selection._grown_in_tail(QueueStep(Rank(Priority.WORTH, 1.0), True, line, 0, 500))
    assert (step.is_line, step.thing, step.chars) == (False, unit, len(ground.queue.lines[line].entry.text))


def test_f02_before_a_split_round_an_earlier_summary_stands_without_its_secrets() -> None:
    ends = {"keep_messages": 1, "min_tail_messages": 0, "safe_end": "whole_pairs"}
    policy = MessageWindowPolicy(cut="newest_messages", split_round=True, earlier_summary="nest", **ends)
    said = [
        summary("s", f"We keep {SET} here."),
        user("u", "Build it."),
        agent("a", "It began."),
        agent("b", "It ended."),
    ]
    made = drive(MESSAGE_WINDOW.run(context_of(said), policy), extractive).outcome.pieces[0]
    assert MASK in repr(made)
    assert not has_part_of_secret(made)
