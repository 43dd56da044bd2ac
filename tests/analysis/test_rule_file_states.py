"""State of the rules of recorded rule files after recorded compactions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.analysis.rule_file_states import (
    FileRule,
    RuleFileState,
    lost_file_rules,
    rule_file_states,
    sentences_to_watch,
)
from workbench.analysis.why.diagnosis import MessageFix, fix_for
from workbench.api import why
from workbench.base.errors import BadInput
from workbench.session import Compaction, Epoch, Message, Records, Session, Text, ToolResult, ToolUse

PUSH, NAME = "Never push to main.", "Always name the ticket."
SENT = f"# AGENTS.md instructions for /shop\n\n<INSTRUCTIONS>\n- {PUSH}\n- {NAME}\n</INSTRUCTIONS>"


def sent(id: str, text: str = SENT) -> Message:
    return Message(id, "user", (Text(text, injected=True),), "meta")


def typed(id: str, text: str) -> Message:
    return Message(id, "user", (Text(text),))


def summary(id: str, text: str) -> Message:
    return Message(id, "user", (Text(text),), "summary")


def read(id: str, path: str, text: str = f"- {PUSH}\n- {NAME}") -> list[Message]:
    return [
        Message(f"{id}a", "assistant", (ToolUse(id, "read", {"path": path}),)),
        Message(f"{id}r", "tool", (ToolResult(id, (Text(text),)),)),
    ]


def session(
    messages: Sequence[Message], *epochs: Sequence[int], format: str = "codex", cwd: str | None = "/shop"
) -> Session:
    last = len(epochs)
    numbered = tuple(
        Epoch(number, each, Compaction() if number < last else None) for number, each in enumerate(epochs, 1)
    )
    return Session(format, None, tuple(messages), Records(b""), epochs=numbered, cwd=cwd)


def states(one: Session, epoch: int) -> dict[str, tuple[FileRule, ...]]:
    return {file.path: file.rules for file in rule_file_states(one, epoch)}


GO, ON = typed("u1", "Go."), typed("u2", "Go on.")


def test_a_file_that_the_compaction_keeps_is_in_force() -> None:
    one = session([sent("m1"), GO, summary("s1", "Went."), ON], [0, 1], [0, 2, 3])
    in_force = (FileRule(PUSH, "in force"), FileRule(NAME, "in force"))
    assert [states(one, epoch) for epoch in (1, 2)] == [{"AGENTS.md": in_force}] * 2


def test_rules_that_no_message_states_any_more_are_gone_and_those_of_the_summary_are_in_force() -> None:
    one = session([sent("m1"), GO, summary("s1", "Went. You must never push to main."), ON], [0, 1], [2, 3])
    assert states(one, 1)["AGENTS.md"] == (FileRule(PUSH, "in force"), FileRule(NAME, "gone", gone_since=1))


def test_a_summary_that_contradicts_a_rule_does_not_keep_it() -> None:
    one = session([sent("m1"), GO, summary("s1", "Went. Push to main."), ON], [0, 1], [2, 3])
    assert [rule.state for rule in states(one, 1)["AGENTS.md"]] == ["gone", "gone"]


def test_a_file_that_the_agent_sends_anew_is_injected_again() -> None:
    one = session([sent("m1"), GO, summary("s1", "Went."), sent("m2"), ON], [0, 1], [2, 3, 4])
    again = (FileRule(PUSH, "injected again", "m2"), FileRule(NAME, "injected again", "m2"))
    assert [states(one, epoch) for epoch in (1, 2)] == [{"AGENTS.md": again}] * 2


def test_a_newer_version_of_the_file_replaces_the_older() -> None:
    newer = sent("m2", SENT.replace(NAME, "Prefer named exports."))
    one = session([sent("m1"), GO, summary("s1", "Went."), newer, ON], [0, 1], [2, 3, 4])
    assert [(rule.text, rule.state) for rule in states(one, 2)["AGENTS.md"]] == [
        (PUSH, "injected again"),
        ("Prefer named exports.", "in force"),
    ]


def test_a_file_that_the_agent_reads_once_more_is_read_again() -> None:
    messages = [*read("c1", "AGENTS.md"), GO, summary("s1", "Went."), ON, *read("c2", "/shop/AGENTS.md", f"- {PUSH}")]
    one = session(messages, [0, 1, 2], [3, 4, 5, 6])
    assert states(one, 1) == {"AGENTS.md": (FileRule(PUSH, "read again", "c2r"), FileRule(NAME, "gone", gone_since=1))}


def test_parts_of_a_file_that_were_read_one_by_one_add_up() -> None:
    messages = [*read("c1", "AGENTS.md", f"- {PUSH}"), *read("c2", "AGENTS.md", f"- {NAME}")]
    assert states(session(messages, range(4)), 1) == {
        "AGENTS.md": (FileRule(PUSH, "in force"), FileRule(NAME, "in force"))
    }


def test_a_rule_that_is_gone_twice_is_gone_since_the_first_time() -> None:
    messages = [sent("m1"), GO, summary("s1", "Went."), ON, summary("s2", "Went on."), sent("m2")]
    one = session(messages, [0, 1], [2, 3], [4], [4, 5])
    since = [[rule.gone_since for rule in states(one, epoch)["AGENTS.md"]] for epoch in (1, 2, 3, 4)]
    assert since == [[1, 1], [1, 1], [None, None], [None, None]]


def test_each_lost_rule_counts_at_the_compaction_that_removed_it() -> None:
    messages = [sent("m1"), GO, summary("s1", PUSH), ON, summary("s2", "Went on."), *read("c1", "../pier/AGENTS.md")]
    one = session(messages, [0, 1, 5, 6], [2, 3], [4])
    assert lost_file_rules(one) == {1: 1, 2: 1, 3: 0}


def test_an_encrypted_summary_leaves_the_state_unknown() -> None:
    one = session([sent("m1"), GO, summary("s1", ""), ON], [0, 1], [2, 3])
    assert [rule.state for rule in states(one, 1)["AGENTS.md"]] == ["unknown", "unknown"]


def test_the_system_prompt_is_sent_with_every_call() -> None:
    negated = "Honesty about a defect is necessary, not sufficient."
    rules = f"{PUSH}\n\n**Disclosed-but-wrong does not clear review.** {negated}"
    prompt = f"<custom_instruction>\n{rules}\n</custom_instruction>"
    one = replace(session([GO, summary("s1", "Went."), ON], [0], [1, 2], format="copilot"), system=prompt)
    (file,) = rule_file_states(one, 1)
    in_force = tuple(FileRule(rule, "in force") for rule in (PUSH, negated))
    assert file == RuleFileState("custom_instruction", None, True, True, True, in_force)


@pytest.mark.parametrize(
    ("format", "cwd", "path", "in_force", "in_project"),
    [
        ("claude-code", "/shop", "/shop/CLAUDE.md", True, True),
        ("claude-code", "/shop", "CLAUDE.md", True, True),
        ("claude-code", "/shop/api", "/shop/CLAUDE.md", True, False),
        ("claude-code", "/shop/api", "../CLAUDE.md", True, False),
        ("claude-code", None, "/shop/CLAUDE.md", True, False),
        ("claude-code", "C:\\git\\shop", "C:\\git\\shop\\CLAUDE.md", True, True),
        ("claude-code", "/shop", "/shop/api/CLAUDE.md", False, True),
        ("claude-code", "/shop", "../pier/CLAUDE.md", False, False),
        ("claude-code", "/shop", "/shop-two/CLAUDE.md", False, False),
        ("claude-code", "/shop-two", "/shop/CLAUDE.md", False, False),
        ("claude-code", "/shop", "AGENTS.md", False, True),
        ("gemini", "/shop", "AGENTS.md", False, True),
        ("gemini", "/shop", "GEMINI.md", True, True),
        ("codex", "/shop", "AGENTS.md", False, True),
    ],
)
def test_a_file_that_the_agent_sends_unrecorded_is_not_gone(
    format: str, cwd: str | None, path: str, in_force: bool, in_project: bool
) -> None:
    messages = [*read("c1", path), GO, summary("s1", "Went."), ON]
    (file,) = rule_file_states(session(messages, [0, 1, 2], [3, 4], format=format, cwd=cwd), 1)
    assert ({rule.state for rule in file.rules}, file.sent_with_calls, file.in_project) == (
        {"in force" if in_force else "gone"},
        in_force,
        in_project,
    )


def test_the_states_are_counted_in_words() -> None:
    one = session([sent("m1"), GO, summary("s1", "Went. You must never push to main."), ON], [0, 1], [2, 3])
    assert [str(file) for file in rule_file_states(one, 1)] == ["AGENTS.md: 2 rules, 1 in force, 1 gone"]


def test_a_rule_files_name_stands_for_its_rules(tmp_path: Path) -> None:
    recorded = session([sent("m1"), GO], [0, 1])
    bare = session([GO], [0], cwd=str(tmp_path))
    (tmp_path / "CLAUDE.md").write_text("- Prefer named exports.\n- Never push to main.\n", encoding="utf-8")
    assert sentences_to_watch(["AGENTS.md", PUSH, "Read AGENTS.md"], recorded) == (PUSH, NAME, "Read AGENTS.md")
    assert sentences_to_watch(["shop/AGENTS.md"], session([sent("m1")], [0], cwd="/pier")) == (PUSH, NAME)
    assert sentences_to_watch(["CLAUDE.md"], bare) == ("Prefer named exports.", PUSH)
    assert sentences_to_watch(["Read docs/AGENTS.md"], bare) == ("Read docs/AGENTS.md",)
    with pytest.raises(BadInput, match=r"has rules of GEMINI\.md"):
        sentences_to_watch(["GEMINI.md"], bare)


def test_why_says_which_rules_are_gone_since_when() -> None:
    messages = [sent("m1"), GO, Message("a1", "assistant", (Text("Went."),)), summary("s1", PUSH), ON]
    one = session(messages, [0, 1, 2], [3, 4])
    found = {epoch: [each for each in why(one, epoch=epoch).findings if each.kind == "rule_files"] for epoch in (1, 2)}
    assert [[(each.text, each.messages) for each in found[epoch]] for epoch in (1, 2)] == [
        [("1 of 2 rules of AGENTS.md is gone since the compaction before call 2.", ("m1",))],
        [("1 of 2 rules of AGENTS.md is gone since the compaction that ended epoch 1.", ("m1",))],
    ]
    fix = fix_for(why(one, epoch=1), found[1][0], {"m1"})
    assert fix == MessageFix("pin", "pin the message with the file", ("m1",))


@pytest.mark.parametrize("path", ["../pier/AGENTS.md", "/pier/AGENTS.md"])
def test_why_leaves_out_the_files_of_other_projects(path: str) -> None:
    one = session([*read("c1", path), GO, summary("s1", "Went."), ON], [0, 1, 2], [3, 4])
    assert [rule.state for rule in states(one, 1)[path]] == ["gone", "gone"]
    assert not [each for each in why(one, epoch=1).findings if each.kind == "rule_files"]
