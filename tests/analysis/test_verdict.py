"""Verdict on a context: its size, its limit, and its largest parts."""

from __future__ import annotations

from array import array
from dataclasses import replace
from textwrap import wrap

import pytest

from tests.analysis.courses import counted_from
from tests.paths import SAMPLES
from workbench.analysis.course import course_of
from workbench.analysis.why.breakdown import causes
from workbench.analysis.why.breakdown import verdict as verdict_of
from workbench.analysis.why.diagnosis import Diagnosis, diagnose
from workbench.analysis.why.overflow import OverflowLimit, overflowed_epoch
from workbench.bench import open_bench
from workbench.compaction.context import Context, Layout
from workbench.conformance.building import agent, call, context_of, result, user
from workbench.session import Message, Text


def found(name: str, window: int | None = None) -> Diagnosis:
    session, counter = counted_from(SAMPLES / name)
    bench = open_bench(session, counter, epoch=overflowed_epoch(session), window=window)
    course = course_of(session, counter, first=bench.epoch)
    return diagnose(bench.context, course, bench.epoch, bench.as_preset)


@pytest.mark.parametrize(
    ("name", "window", "said"),
    [
        ("claude-code-overflow.jsonl", None,
         "API rejected the request at 197k. Largest cause: 82 Read calls, 85.9k (43 %)."),
        ("codex-two-compactions.jsonl", None,
         "The agent compacted at 6.6k. Largest cause: system + tools, 5.9k (90 %)."),
        ("sharegpt-pass.json", 110, "50 % full: 55 of 110. Largest causes: round 1 “"),
        ("sharegpt-pass.json", 60, "92 % full: 55 of 60. Largest causes: round 1 “"),  # 91.7, rounded as on the bar
        ("sharegpt-pass.json", 55, "Over the window: 55 of 55. Largest causes: round 1 “"),
        ("sharegpt-pass.json", 56, "98 % full: 55 of 56. Largest causes: round 1 “"),
        ("sharegpt-pass.json", None, "55 tokens, window unknown. Largest causes: round 1 “"),
    ],
)  # fmt: skip
def test_it_begins_with_how_it_stands_to_the_limit(name: str, window: int | None, said: str) -> None:
    assert found(name, window).verdict.startswith(said)


def verdict(context: Context, limit: OverflowLimit | None) -> str:
    return verdict_of(context, limit, causes(context))


def test_what_the_verdict_names_in_messages_is_a_finding_in_the_same_words() -> None:
    diagnosis = found("claude-code-overflow.jsonl")
    card = next(one for one in diagnosis.findings if one.kind == "tool")
    assert diagnosis.verdict == f"API rejected the request at 197k. Largest cause: {card.text}"
    assert set(card.messages) <= {message.id for message in diagnosis.session.messages}
    context = context_of(rounds(400, 500, 300))
    assert [(one.kind, one.messages) for one in causes(context)] == [("round", ("u1",)), ("round", ("u0",))]


def rounds(*words: int, tools: bool = False) -> list[Message]:
    """One request for each, followed by a call and a result of so many words."""
    made: list[Message] = []
    for number, count in enumerate(words):
        made += [user(f"u{number}", f"Do part {number}"), agent(f"a{number}", "", call(f"c{number}", command="ls"))]
        made += [result(f"r{number}", (f"c{number}", "word " * count))]
    return made


def test_two_causes_at_most_the_largest_first_with_the_words_of_the_round() -> None:
    context = context_of(rounds(400, 500, 300))
    tokens = [context.size(3 * n, 3 * n + 3).tokens for n in range(3)]
    share = [f"{each} ({100 * each / context.total.tokens:.0f} %)" for each in tokens]
    named = [f"round {n + 1} “Do part {n}”, {share[n]} in 1 call" for n in (1, 0)]
    assert (
        verdict(context, OverflowLimit(9_900, "", "agent", 10_000))
        == f"The agent compacted at 10.0k. Largest causes: {'; '.join(named)}."
    )


@pytest.mark.parametrize(("count", "named"), [(6, "round "), (7, "7 Bash calls, ")])
def test_a_part_is_a_cause_from_fifteen_percent_on(count: int, named: str) -> None:
    """Of six rounds of one size each has 17 %; of seven each has 14 %, and the tool that filled them all is named."""
    assert f"{named}" in verdict(context_of(rounds(*[100] * count)), None)


def test_what_has_no_large_part_grew_evenly_and_what_is_empty_says_so() -> None:
    chat = [m for n in range(10) for m in (user(f"u{n}", "Why is that so?"), agent(f"a{n}", "Because."))]
    mean = context_of(chat).total.tokens // 10
    assert verdict(context_of(chat), None).endswith(f"It grew evenly over 10 rounds, {mean} each on average.")
    assert verdict(context_of([]), None) == "This context is empty."


def test_what_a_person_wrote_is_cut_at_a_word_and_harmless() -> None:
    request = user("u", "\x1b[31mred [bold] and much more than forty characters of it")
    said = verdict(context_of([request, agent("a", "So be it.")]), None)
    assert said.partition("“")[2].partition("”")[0] == "␛[31mred [bold] and much more than…"


def test_of_two_rounds_each_has_so_much_room_that_both_are_told_whole_on_two_lines_of_a_small_screen() -> None:
    said = "should we close the issue as resolved, and what of the others"
    messages = [replace(one, blocks=(Text(said),)) if one.role == "user" else one for one in rounds(300, 400)]
    for limit in (OverflowLimit(229_684, "", "agent"), OverflowLimit(10, "", "window")):
        words = verdict(context_of(messages), limit)
        assert words.count("“should we close…”") == 2
        assert len(wrap(words, 78)) == 2


def told(words: int, said: str) -> str:
    """Of one round whose two calls are texts, and what a command said to each, in a message of the user's."""
    said_by = [user("u", said), agent("a", "ls"), user("r", "word " * words, kind="meta"), agent("b", "ls")]
    return verdict(context_of([*said_by, user("s", "word " * words, kind="meta")]), None)


def test_of_a_single_round_it_says_what_fills_it() -> None:
    assert " %); 2 results, " in told(200, "Count them.")
    assert " in 1 call; 1 Bash call, " in verdict(context_of(rounds(200)), None)


@pytest.mark.parametrize(("first", "named"), [(89, False), (90, True)])
def test_a_round_is_the_whole_context_from_ninety_percent_on(first: int, named: bool) -> None:
    context = context_of(rounds(0, 0))
    sizes = replace(context.layout.sizes, tokens=array("q", (0, 0, first, 0, 0, 100 - first)))
    context = replace(context, layout=Layout(context.layout.shape, sizes))
    assert ("Bash call" in verdict(context, None)) == named


def test_a_tag_that_only_opens_a_template_is_not_what_was_asked() -> None:
    assert "round 1 “Count them.”, " in told(20, "<task>\nCount them.")
    assert "round 1 “<task>”, " in told(20, "<task>\n")
