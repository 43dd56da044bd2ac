"""The rules of document 003: `message-window`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.commands import cwb, session_lines, write_lines
from tests.documents.rules import rule
from workbench.compaction.checks import check
from workbench.compaction.dropping import Marker, Oldest, drop_oldest
from workbench.compaction.outcome import Fate
from workbench.compaction.preset import default_preset
from workbench.compaction.render import LABELS, PartLimits, labelled
from workbench.compaction.shape import Shape
from workbench.compaction.strategies.message_window import STRATEGY, faults
from workbench.compaction.summary_request import SummaryFailed
from workbench.compaction.window.ends import safe_end
from workbench.compaction.window.policy import MessageWindowPolicy
from workbench.conformance.building import agent, call, chat, context_of, loop, result, user
from workbench.conformance.strategies import FAILED, run
from workbench.session import Message, Text, pairs_of
from workbench.summarizers.driver import drive
from workbench.summarizers.extractive import extractive
from workbench.tokens.sizes import visible_chars

PROMPT = """请将以下对话历史压缩成简洁摘要（不超过 1500 字符）。
保留：用户的核心需求、重要决策、已解决的问题、关键信息（路径/命令/配置）。
忽略：闲聊、重复内容、工具执行的详细输出。
用中文输出，以「对话摘要：」开头。"""


def policy(**changes: Any) -> MessageWindowPolicy:
    return default_preset(STRATEGY.id).policy.model_copy(update=changes)  # type: ignore[return-value]


def system(id: str, text: str) -> Message:
    return Message(id, "system", (Text(text),))


@rule("003-001", "003-034")
def test_thirty_eight_messages_are_left_alone() -> None:
    context = context_of(chat(19), manual=False)
    outcome, requests = run(STRATEGY, context, policy())
    assert (outcome.status, outcome.reason, requests) == ("unchanged", "no trigger fires", [])
    assert outcome.messages == tuple(context.messages)


@rule("003-002", "003-003", "003-004", "003-008", "003-009", "003-016", "003-017", "003-035", "003-037", "003-043")
def test_forty_become_one_and_ten() -> None:
    messages = chat(20)
    outcome, (request,) = run(STRATEGY, context_of(messages, manual=False), policy(), "对话摘要：很多问题。")
    first, *rest = outcome.messages
    assert first.text == "[对话摘要 - 早期上下文]\n对话摘要：很多问题。"
    assert (first.role, first.kind, first.id) == ("system", "summary", "summary-a14")
    assert len(rest) == 10
    assert all(a is b for a, b in zip(rest, messages[30:], strict=True))
    assert request.sources == tuple(message.id for message in messages[:30])
    assert (request.temperature, request.tools, request.max_chars) == (0.3, (), 1_500)


@rule("003-002")
def test_forty_are_counted_without_the_leading_system_messages() -> None:
    rules = [system("s1", "one"), system("s2", "two")]
    assert run(STRATEGY, context_of([*rules, *chat(19)], manual=False), policy())[0].status == "unchanged"
    outcome, (request,) = run(STRATEGY, context_of([*rules, *chat(20)], manual=False), policy())
    assert outcome.messages[:2] == tuple(rules)
    assert len(outcome.messages) == 2 + 1 + 10
    assert "one" not in request.text.split("---")[1]


@rule("003-005")
@pytest.mark.parametrize(("length", "left"), [(1_500, 1_500), (1_501, 1_500), (3_000, 1_500)])
def test_a_summary_has_at_most_1500_characters(length: int, left: int) -> None:
    outcome, _ = run(STRATEGY, context_of(chat(20)), policy(), "字" * length)
    assert len(outcome.messages[0].text.removeprefix("[对话摘要 - 早期上下文]\n")) <= left


@rule("003-006", "003-010", "003-011", "003-036")
@pytest.mark.parametrize("answer", ["", FAILED, SummaryFailed("empty")], ids=["no text", "failed", "empty"])
def test_without_a_summary_the_newest_fifty_are_left(answer: str | SummaryFailed) -> None:
    assert len(run(STRATEGY, context_of(chat(25)), policy(), answer)[0].messages) == 50
    outcome, _ = run(STRATEGY, context_of(chat(40)), policy(), answer)
    assert outcome.status == "fallback"
    assert [m.id for m in outcome.messages] == [m.id for m in chat(40)[30:]]


@rule("003-012")
def test_a_transcript_of_more_than_12000_characters_is_cut_at_its_end() -> None:
    messages = [user(str(n), f"{n:02} " + "y" * 497) for n in range(40)]
    outcome, (request,) = run(STRATEGY, context_of(messages), policy())
    transcript = request.text.split("---\n")[1]
    assert transcript.startswith("[用户]: 00 ")
    assert transcript.endswith("...[已截断]\n")
    assert len(transcript) == 12_000 + len("...[已截断]\n")
    assert request.seen is not None
    assert request.seen(0) == (500, 500)
    assert "29" not in request.sources
    assert outcome.fate_at(0).saw == "all"
    assert outcome.fate_at(29).fate is Fate.DROPPED
    assert {span.saw for span in outcome.fates if span.fate is Fate.SUMMARIZED} == {"all", "part"}


@rule("003-013", "003-014", "003-015")
def test_the_request_is_the_documents_prompt_and_the_transcript_between_two_lines() -> None:
    _, (request,) = run(STRATEGY, context_of([*chat(1), *chat(20, "b")]), policy(window_messages=2))
    assert request.text == f"{PROMPT}\n\n---\n[用户]: request 0\n\n[助手]: answer 0\n---\n"


@rule("003-018")
@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("zh", "[对话摘要 - 早期上下文]\n对话摘要：一。", []),
        ("zh", "[对话摘要 - 早期上下文]\n摘要：一。", ["the summary does not begin with “对话摘要：”"]),
        ("en", "[Conversation summary - earlier context]\nConversation summary: one.", []),
        ("en", "one.", ["the summary does not begin with “Conversation summary:”"]),
    ],
)
def test_a_summary_that_does_not_begin_as_asked_is_pointed_out(language: str, text: str, found: list[str]) -> None:
    chosen = MessageWindowPolicy(language=language)
    assert list(faults(chosen, text)) == found
    own = MessageWindowPolicy(prompt="Summarize in the format you like.")
    assert list(faults(own, text)) == []


@rule("003-018")
def test_the_checks_warn_of_it_and_the_summary_without_a_model_begins_with_it() -> None:
    context = context_of([*loop("1", 18), *chat(3)])
    chosen = policy(safe_end="whole_pairs")
    outcome = drive(STRATEGY.run(context, chosen), extractive).outcome
    assert outcome.messages[0].text.startswith("[对话摘要 - 早期上下文]\n对话摘要：\n## ")
    assert [one.name for one in check(context, outcome, STRATEGY, chosen) if not one.passed] == []
    outcome, _ = run(STRATEGY, context, chosen, "摘要。")
    assert [(one.name, one.hard) for one in check(context, outcome, STRATEGY, chosen) if not one.passed] == [
        ("summary follows its template", False)
    ]


TOOLS = [
    user("1", "do"),
    agent("2", "yes"),
    agent("3", "", call("c")),
    result("4", ("c", "r")),
    user("5", "thanks"),
]


@pytest.mark.parametrize(
    ("messages", "wanted", "end"),
    [
        pytest.param(TOOLS, 3, 2, id="003-019 003-038"),
        pytest.param([user(str(n), f"msg {n}") for n in range(5)], 3, 3, id="003-039"),
        pytest.param(TOOLS[2:], 2, 0, id="003-020"),
    ],
)
def test_the_window_ends_behind_a_plain_message(messages: list[Message], wanted: int, end: int) -> None:
    assert safe_end(Shape(messages), 0, wanted, "plain_chat") == end


@rule("003-020")
def test_where_no_plain_message_is_nothing_is_compacted() -> None:
    outcome, requests = run(STRATEGY, context_of(loop("1", 30)[1:]), policy())
    assert (outcome.status, requests) == ("unchanged", [])
    assert "nothing to compact" in outcome.reason


@rule("003-021", "003-040", "003-044")
def test_system_messages_are_not_in_the_transcript_an_earlier_summary_among_them() -> None:
    once, _ = run(STRATEGY, context_of(chat(20)), policy(), "对话摘要：旧的。")
    _, (request,) = run(STRATEGY, context_of([system("s", "系统 prompt"), *once.messages, *chat(20, "b")]), policy())
    transcript = request.text.removeprefix(PROMPT)
    assert "系统 prompt" not in transcript
    assert "旧的" not in transcript
    assert transcript.startswith("\n\n---\n[用户]: request 15\n\n[助手]: answer 15\n\n")


@pytest.mark.parametrize(
    ("message", "text"),
    [
        pytest.param(user("1", "X" * 500), "[用户]: " + "X" * 500, id="003-022 003-023 a text of 500"),
        pytest.param(user("1", "X" * 501), "[用户]: " + "X" * 500 + "...", id="003-023 one more"),
        pytest.param(user("1", "X" * 1_000), "[用户]: " + "X" * 500 + "...", id="003-041"),
        pytest.param(user("1", "汉" * 501), "[用户]: " + "汉" * 500 + "...", id="003-027 characters, not bytes"),
        pytest.param(result("1", ("a", "r" * 200)), "[工具结果]: " + "r" * 200, id="003-022 003-024 a result of 200"),
        pytest.param(result("1", ("a", "r" * 201)), "[工具结果]: " + "r" * 200 + "...", id="003-024 one more"),
        pytest.param(
            agent("1", "我来执行", call("a", "shell", command="ls"), call("b", "read")),
            "[助手]: 我来执行\n[工具调用]: shell, read",
            id="003-022 003-025 003-026 003-042",
        ),
    ],
)
def test_the_transcripts_labels_and_limits(message: Message, text: str) -> None:
    assert labelled(message, LABELS["zh"], PartLimits(500, 0, 200), visible_chars(message)).text == text


@rule("003-028", "003-029")
def test_the_trace_tells_the_trigger_the_window_and_the_summarys_length() -> None:
    context = context_of(chat(20, "x" * 9), manual=False)
    outcome, _ = run(STRATEGY, context, policy(), "对话摘要：很多问题。")
    assert outcome.trace == (
        "trigger 40 messages: now 40, fires",
        "window: 30 messages of 30 wanted; tail: 10 messages",
        "the summary has 10 characters",
        f"{context.total.tokens} → {context.outcome_size(outcome).tokens} tokens",
    )


@rule("003-030")
def test_a_report_tells_how_many_messages_became_how_many(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "session.jsonl", session_lines(10))
    found = cwb("compact", file, "--preset", "message-window", "--set", "safe_end=whole_pairs")
    assert re.findall(r"^(before|after) +(\d+) messages", found.stdout, re.MULTILINE) == [
        ("before", "40"),
        ("after", "13"),
    ]


@rule("003-031")
def test_the_trace_tells_that_the_summary_failed_and_what_was_trimmed() -> None:
    outcome, _ = run(STRATEGY, context_of(chat(40)), policy(), FAILED)
    assert outcome.reason.startswith("the summarizer failed (error): no connection; hard trim")
    assert "hard trim: 80 messages → 50, limit 50" in outcome.trace


@rule("003-045")
@pytest.mark.parametrize(
    ("answer", "changes", "status", "left"),
    [
        ("S", {}, "compacted", 82),
        ("S", {"window_messages": 5}, "compacted", 82),
        (FAILED, {}, "fallback", 49),
        (FAILED, {"fallback_messages": 49}, "fallback", 49),
    ],
)
def test_no_result_is_left_without_its_call(
    answer: str | SummaryFailed, changes: dict[str, int], status: str, left: int
) -> None:
    """The window ends after the one plain answer, also where the user spoke between a call and its result; the trim
    leaves a marker and 24 pairs."""
    asked, *rest = loop("1", 40)
    context = context_of([user("u", "go"), agent("x", "yes " * 40), asked, rest[0], user("w", "wait"), *rest[1:-1]])
    outcome, _ = run(STRATEGY, context, policy(**changes), answer)
    assert (outcome.status, len(outcome.messages)) == (status, left)
    assert {pair.id for pair in pairs_of(outcome.messages) if pair.call is None or pair.result is None} == set()


@rule("003-046")
def test_trimming_keeps_the_newest_and_knows_nothing_of_summaries() -> None:
    old = Oldest(context_of(chat(30)), ())
    draft = drop_oldest(old, old.whole_cut(old.first_cut(old.messages_left, 50)), Marker("dropped", always=False))
    assert [m.id for m in draft.messages] == [m.id for m in chat(30)[10:]]
