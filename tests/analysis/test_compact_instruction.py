"""The instruction for the agent's own compaction command: its quotations, its limits, and what it leaves out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.benches import bench_of
from tests.facts.talk import agent, call, result, user
from workbench.analysis.compact_instruction import LIMIT, CompactInstruction, compact_instruction
from workbench.bench import Bench, open_bench, with_watched_rules
from workbench.conformance.building import context_of
from workbench.session import Compaction, Epoch, Message
from workbench.tokens import Counter

RULE = "Never touch the generated files."
OPEN = "Now move the parser into a package."
TALK = (
    user(f"Build the server. {RULE} Answer in French."),
    agent("Oui."),
    user("From now on, answer in English."),
    agent("Yes. The port is\n8443."),
    user(OPEN),
)


def bench(messages: tuple[Message, ...] = TALK, *pins: Message, format: str = "claude-code") -> Bench:
    known = bench_of(context_of(messages, pins=frozenset(one.id for one in pins)))
    return replace(known, session=replace(known.session, format=format))


def within(one: Bench, limit: int = LIMIT) -> CompactInstruction:
    return compact_instruction(one.session, one.epoch, one.context, one.watched, limit)


def instruction(*pins: Message, format: str = "claude-code", limit: int = LIMIT) -> CompactInstruction:
    return within(bench(TALK, *pins, format=format), limit)


def test_it_quotes_rules_in_force_pins_and_the_open_request_on_one_line() -> None:
    found = instruction(TALK[3])
    assert found.line == (
        f"/compact Keep these quotations word for word. Rules: “{RULE}” “From now on, answer in English.” "
        f"Pinned: “Yes. The port is 8443.” Open request: “{OPEN}”"
    )
    assert (found.rules, found.pins, found.has_request, found.left_out) == (2, 1, True, 0)
    assert found.tokens == bench().layout.sizes.meter.text_tokens(found.text)
    assert found.remark == ""


def test_a_watched_rule_comes_first_and_once_though_the_context_has_lost_it() -> None:
    watched = with_watched_rules(bench(), ("Run the tests first.", RULE))
    found = within(watched)
    assert f"Rules: “Run the tests first.” “{RULE}” “From now on" in found.text
    assert (found.text.count(RULE), found.rules) == (1, 3)


def test_an_answered_request_is_not_open_and_an_agreement_stands_for_the_one_before() -> None:
    assert not within(bench((*TALK, agent("It is moved.")))).has_request
    agreed = within(bench((*TALK, user("yes, go ahead"))))
    assert f"Open request: “{OPEN}”" in agreed.text


def test_a_pinned_message_within_a_rule_or_the_request_is_quoted_once() -> None:
    found = instruction(TALK[2], TALK[4])
    assert (found.text.count("answer in English"), found.text.count(OPEN), found.pins) == (1, 1, 2)
    assert "Pinned" not in found.text


def test_a_pinned_result_is_quoted_with_its_text() -> None:
    read = call("Read", {"file_path": "notes.md"})
    talk = (*TALK, agent("", read), result(read, "The key is\tblue."))
    assert "Pinned: “The key is blue.”" in within(bench(talk, talk[-1])).text


def test_the_limit_leaves_out_what_does_not_fit_the_open_request_last() -> None:
    whole = instruction(TALK[3])
    exact = instruction(TALK[3], limit=whole.tokens)
    assert (exact.text, exact.left_out) == (whole.text, 0)
    less = instruction(TALK[3], limit=whole.tokens - 1)
    assert (less.pins, less.rules, less.left_out) == (0, 2, 1)
    assert less.tokens < whole.tokens
    assert OPEN in instruction(limit=30).text
    nothing = instruction(limit=1)
    assert (nothing.text, nothing.tokens, nothing.left_out) == ("", 0, 3)


def test_a_long_pin_does_not_keep_a_short_one_out() -> None:
    long, short = user("word " * 5_000), user("The short one.")
    found = within(bench((*TALK, long, agent("Yes."), short, agent("Yes.")), long, short))
    assert "The short one." in found.text
    assert (found.pins, found.left_out) == (1, 1)


def test_the_text_is_no_longer_than_the_agent_reads() -> None:
    long = user("word " * 450)
    talk = (*TALK, long, agent("Yes."))
    assert len(within(bench(talk, long), 1_000).text) > 2_000
    cut = within(bench(talk, long, format="qwen-code"), 1_000)
    assert len(cut.text) <= 2_000
    assert cut.line.startswith("/compress Keep")
    assert (cut.pins, cut.left_out) == (0, 1)


@pytest.mark.parametrize(
    ("format", "remark"),
    [
        ("claude-code", ""),
        ("pi", ""),
        ("codex", "/compact of Codex takes no instruction: send this text as a message after the compaction."),
        ("gemini", "/compress of Gemini CLI takes no instruction: send this text as a message after the compaction."),
        ("zed", "Zed: no compaction command is known. Send this text as a message after the compaction."),
    ],
)
def test_an_agent_without_instructions_gets_the_text_alone(format: str, remark: str) -> None:
    found = instruction(format=format)
    assert found.remark == remark
    assert found.line == (f"/compact {found.text}" if not remark else found.text)


def test_secrets_and_control_characters_are_not_in_it() -> None:
    secret = user("The key is sk-ant-api03-" + "aB3dE5fG7h" * 9 + " and \x1b[2J this.")
    text = within(bench((*TALK, secret, agent("Yes.")), secret)).text
    assert "aB3dE5fG7h" not in text
    assert "\x1b" not in text
    assert "Pinned: “The key is" in text


def test_nothing_is_to_be_kept() -> None:
    talk = (user("Build it."), agent("It is built."))
    found = within(bench(talk))
    assert (found.text, found.line, found.tokens, found.left_out) == ("", "", 0, 0)
    assert found.words == "No rule, pin or open request"


def test_its_words_count_what_it_quotes_and_what_it_leaves_out() -> None:
    found = instruction(TALK[3])
    assert found.words == f"2 rules, 1 pin, the open request: {found.tokens} tokens"
    less = instruction(TALK[3], limit=found.tokens - 1)
    left_out = f"1 quotation over the limit of {found.tokens - 1} tokens left out"
    assert less.words == f"2 rules, the open request: {less.tokens} tokens; {left_out}"


def rule_file_session(*messages: Message) -> CompactInstruction:
    return within(open_bench(replace(bench(messages).session, cwd="/repo"), Counter()))


def test_rules_of_a_file_that_the_agent_read_are_quoted_and_of_one_that_it_sends_again_not() -> None:
    read = call("Read", {"file_path": "/repo/web/CLAUDE.md"})
    found = rule_file_session(
        user("Look at it."), agent("", read), result(read, "1\t# Rules\n2\tAlways use pnpm."), agent("Done.")
    )
    assert (found.rules, "Always use pnpm." in found.text) == (1, True)
    own = call("Read", {"file_path": "/repo/CLAUDE.md"})
    sent = rule_file_session(
        user("Look at it."), agent("", own), result(own, "1\t# Rules\n2\tAlways use pnpm."), agent("Done.")
    )
    assert sent.text == ""


def test_a_rule_of_a_file_is_quoted_in_the_epoch_whose_compaction_lost_it_and_not_after() -> None:
    read = call("Read", {"file_path": "/repo/web/CLAUDE.md"})
    before = (user("Look at it."), agent("", read), result(read, "1\tAlways use pnpm."), agent("Done."))
    after = (user("They looked at the web folder.", "summary"), user("Go on."))
    epochs = (Epoch(1, range(4), Compaction()), Epoch(2, range(4, 6)))
    session = replace(bench((*before, *after)).session, epochs=epochs, cwd="/repo")
    found = [within(open_bench(session, Counter(), epoch=number)).text for number in (1, 2)]
    assert ["Always use pnpm." in text for text in found] == [True, False]
