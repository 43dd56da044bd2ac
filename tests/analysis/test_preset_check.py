"""Recorded compactions against a preset's own: the call, sooner or later, and the messages kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.analysis.courses import counter_of, session_of
from workbench.analysis.course import course_of
from workbench.analysis.preset_check import (
    PresetCheck,
    check_preset,
    preset_report,
    why_call_differs,
    why_messages_differ,
)
from workbench.analysis.recorded_compactions import (
    RecordedCompaction,
    recorded_compactions,
    recorded_compactions_report,
    recorded_outcome,
)
from workbench.bench import choose_preset, open_bench
from workbench.compaction.outcome import Fate, FateSpan
from workbench.compaction.preset import Preset, load_preset, preset_for_version
from workbench.compaction.strategy import Trigger
from workbench.compaction.window.policy import MessageWindowPolicy
from workbench.conformance.building import chat, context_of, summary, user
from workbench.session import Compaction, Epoch, Session, SessionFacts
from workbench.tokens import Counter

KEEPS_TWO = MessageWindowPolicy(
    trigger_messages=8, cut="newest_messages", keep_messages=2, min_tail_messages=0, safe_end="whole_pairs"
)
"""Before each call stand 1, 3, 5, … messages: due before the fifth, and after four."""


def compacted(calls: int, kept: int, trigger: str = "auto") -> Session:
    """A session of `calls` rounds that was then compacted to a summary and the newest `kept` messages."""
    messages = [*chat(calls), summary("s", "they talked")]
    end = 2 * calls
    session = session_of(messages, range(end), (end, *range(end - kept, end)))
    return replace(session, epochs=(replace(session.epochs[0], ended_by=Compaction(trigger)), session.epochs[1]))


def beside(session: Session, policy: MessageWindowPolicy = KEEPS_TWO) -> PresetCheck:
    (found,) = check_preset(session, counter_of(session), Preset("", "message-window", "", "", policy))
    return found


@pytest.mark.parametrize(("calls", "fires", "same"), [(3, None, False), (4, 5, True), (5, 5, True), (6, 5, False)])
def test_the_recorded_call_and_its_neighbours(calls: int, fires: int | None, same: bool) -> None:
    found = beside(compacted(calls, 2))
    assert (found.call, found.fires, found.same_call, found.agrees) == (calls + 1, fires, same, same)
    verdict = "fires" if fires else "does not fire"
    assert found.difference == ("" if same else f"trigger 8 messages: now {2 * calls}, {verdict}")


@pytest.mark.parametrize(("kept", "difference"), [
    (1, "keeps 1 message more than the agent did"),
    (2, ""),
    (4, "drops 2 messages that the agent kept"),
])  # fmt: skip
def test_kept_messages_are_compared_one_by_one(kept: int, difference: str) -> None:
    found = beside(compacted(5, kept))
    assert (found.kept_by_preset, len(found.kept_by_agent)) == ({"u4", "a4"}, kept)
    assert (found.same_messages, found.difference) == (not difference, difference)


@pytest.mark.parametrize(
    ("format", "preset", "version", "reserve"),
    [
        ("claude-code", "claude-code", "2.1.7", 45_000),
        ("claude-code", "claude-code", "2.1.330", 33_000),
        ("claude-code", "claude-code", "", 33_000),
        ("pi", "claude-code", "0.73.1", 33_000),
        ("nobody's", "claude-code", "1.0", 33_000),
    ],
)
def test_a_tools_own_preset_is_judged_as_its_version_did_it(
    format: str, preset: str, version: str, reserve: int
) -> None:
    session = replace(compacted(3, 2), format=format, facts=SessionFacts(version=version))
    policy = preset_for_version(load_preset(preset), session).policy
    assert policy.trigger_reserve_tokens + policy.trigger_answer_tokens == reserve  # type: ignore[attr-defined]


def test_the_bench_has_the_numbers_of_the_version_that_wrote_the_session() -> None:
    """However a preset comes on it; a session of today, and another tool's preset, are as they are."""
    old = replace(compacted(3, 2), format="claude-code", facts=SessionFacts(version="2.1.7"))
    bench = open_bench(old, Counter())
    back = choose_preset(choose_preset(bench, load_preset("trim")), load_preset("claude-code"))
    for one in (bench, back):
        assert (one.preset, one.as_preset.name) == ("claude-code", "claude-code as of 2.1.7")
        assert one.policy.trigger_answer_tokens == 32_000  # type: ignore[attr-defined]
    assert choose_preset(bench, load_preset("codex")).as_preset.name == "codex"
    by_hand = load_preset("claude-code")
    by_hand = by_hand.with_values(by_hand.policy.with_(trigger_answer_tokens=7), {"trigger_answer_tokens": "--set"})
    assert choose_preset(bench, by_hand).policy.trigger_answer_tokens == 7  # type: ignore[attr-defined]
    new = replace(old, facts=SessionFacts(version="2.1.330"))
    assert open_bench(new, Counter()).as_preset.name == "claude-code"


def test_a_manual_compaction_is_judged_by_its_kept_messages() -> None:
    found = beside(compacted(2, 2, "manual"))
    assert (found.cause, found.fires, found.agrees) == ("manual", None, True)
    assert not beside(compacted(2, 1, "manual")).agrees
    assert (beside(compacted(2, 2, "")).cause, beside(compacted(2, 2, "")).agrees) == ("not said", False)


def test_each_epoch_is_replayed_from_its_recorded_context() -> None:
    """The second begins with the summary and two messages: due before its third call."""
    messages = [*chat(5), summary("s", "they talked"), *chat(8)[10:], summary("t", "and talked")]
    epochs = (
        Epoch(1, range(10), Compaction("auto")),
        Epoch(2, (10, 8, 9, *range(11, 17)), Compaction("auto")),
        Epoch(3, (17, 15, 16)),
    )
    session = replace(session_of(messages), epochs=epochs)
    first, second = check_preset(session, counter_of(session), Preset("", "message-window", "", "", KEEPS_TWO))
    assert (first.epoch, first.call, first.fires, first.agrees) == (1, 6, 5, True)
    assert (second.epoch, second.call, second.fires, second.agrees) == (2, 4, 3, True)


def test_a_compaction_without_its_removed_messages_is_not_checked() -> None:
    """As Roo Code writes it: what the summary stands for is not there any more."""
    messages = [summary("s", "they talked"), *chat(3)]
    session = session_of(messages, range(1, 3), range(7))
    epochs = (replace(session.epochs[0], ended_by=Compaction()), session.epochs[1])
    judged = check_preset(
        replace(session, epochs=epochs), counter_of(session), Preset("", "message-window", "", "", KEEPS_TWO)
    )
    assert list(judged) == []


def test_where_recorded_compactions_lie_among_the_calls() -> None:
    """Played from its start, and from the second epoch on, where two kept messages come first."""
    messages = [*chat(5), summary("s", "they talked"), *chat(8)[10:], summary("t", "and talked"), *chat(9)[16:]]
    epochs = (
        Epoch(1, range(10), Compaction("auto", 90_000)),
        Epoch(2, (10, 8, 9, *range(11, 17)), Compaction("auto", way="removal")),
        Epoch(3, (17, 15, 16, 18, 19)),
    )
    session = replace(session_of(messages), epochs=epochs)
    from_start, from_second = (course_of(session, counter_of(session), first=first) for first in (1, 2))
    assert [(one.epoch, one.call, one.way) for one in recorded_compactions(from_start)] == [
        (1, 6, "summary"),
        (2, 9, "removal"),
    ]
    assert [(one.epoch, one.call) for one in recorded_compactions(from_second)] == [(2, 5)]
    assert recorded_compactions_report(recorded_compactions(from_start)) == (
        "The file records that the agent itself compacted before call 6 (recorded: 90 000 tokens), and 1 time more."
    )
    assert recorded_compactions_report(()) == ""
    assert (
        str(RecordedCompaction(1, 6, "clearing", True, 0)) == "cleared old contents at the user's request before call 6"
    )


def test_messages_rewritten_by_a_compaction_are_kept() -> None:
    """The copies are messages of their own, and one of them holds what were two."""
    said = chat(4)
    both = replace(said[6], id="both", role="assistant", blocks=(*said[5].blocks, *said[7].blocks))
    session = session_of([*said, summary("s", "they talked"), said[6], both], range(8), range(8, 11))
    first, second = session.epochs
    epochs = replace(first, ended_by=Compaction()), replace(second, copies=frozenset({9, 10}))
    found = recorded_outcome(replace(session, epochs=epochs), 1)
    assert found.fates == (FateSpan(0, 5, Fate.SUMMARIZED), FateSpan(5, 8, Fate.KEPT))
    alike = [*said, summary("s", "they talked"), replace(said[7], id="again")]
    unmarked = session_of(alike, range(8), (8, 9))
    first = replace(unmarked.epochs[0], ended_by=Compaction())
    found = recorded_outcome(replace(unmarked, epochs=(first, unmarked.epochs[1])), 1)
    assert found.fates == (FateSpan(0, 8, Fate.SUMMARIZED),), "what is said again later was not kept"


LIMIT = 2_000


def due(tokens: int, before: int | None, trigger: str = "", *, fires: int | None = None) -> PresetCheck:
    """Compacted before its tenth call with so many tokens of a trigger's 2 000, so many by the agent's own count."""
    reads = Trigger("tokens", tokens, LIMIT, "tokens", tokens >= LIMIT)
    return PresetCheck(1, Compaction(trigger, before), 10, fires, (reads,), frozenset(), frozenset())


BY_HAND = "a manual compaction or a lower limit, not recorded in the file"


@pytest.mark.parametrize(("found", "why"), [
    (due(1_999, 2_000), "0 tokens over its trigger of 2 000 by the agent's count, "
                        "1 token below its trigger of 2 000 by ours"),
    (due(1_000, 1_999), f"1 000 tokens below its trigger of 2 000 by our count: {BY_HAND}"),
    (due(1_990, None), "10 tokens below its trigger of 2 000 by our count, within its error"),
    (due(1_989, None), f"11 tokens below its trigger of 2 000 by our count: {BY_HAND}"),
    (due(1_989, None, "auto"), ""),
    (due(1_990, None, "auto"), "10 tokens below its trigger of 2 000 by our count, within its error"),
    (due(1_989, None, "manual"), "at the user's request, 11 tokens below its trigger of 2 000"),
    (due(2_500, 2_500, fires=9), ""),
    (due(2_500, 2_500, fires=8), ""),
])  # fmt: skip
def test_by_how_much_and_why_it_was_another_call(found: PresetCheck, why: str) -> None:
    assert why_call_differs(found, (), ()) == why
    assert (found.verdict == "agrees") is (found.cause == "manual" or found.fires == 9)
    explained = replace(found, why_call=why)
    if not found.agrees:
        assert explained.verdict == ("explained" if why else "unexplained")
        assert replace(explained, kept_by_agent=frozenset("x")).verdict == "unexplained", "what stayed has no reason"


@pytest.mark.parametrize(("refused", "untrue", "why"), [
    ((10,), (), "the agent went on for 3 calls over its trigger, until the API rejected a request"),
    ((9,), (), "the agent went on for 3 calls over its trigger, until the API rejected a request"),
    ((8,), (), ""),
    ((), (7,), "due before call 7 by usage, but 1 later usage record cannot be correct"),
    ((), (7, 9, 10), "due before call 7 by usage, but 2 later usage records cannot be correct"),
    ((), (6, 10), ""),
])  # fmt: skip
def test_why_it_went_on_over_its_trigger(refused: tuple[int, ...], untrue: tuple[int, ...], why: str) -> None:
    assert why_call_differs(due(2_500, None, fires=7), refused, untrue) == why


def keeping(theirs: str, keeps: str, trigger: str = "", **ended: Any) -> PresetCheck:
    return PresetCheck(1, Compaction(trigger, **ended), 10, 10, (), frozenset(theirs.split()), frozenset(keeps.split()))


OPENED = [replace(user("pre", "rules"), kind="meta"), *chat(2), summary("s", "old"), user("open", "go on")]


@pytest.mark.parametrize(("found", "anew", "refused", "why"), [
    (keeping("u0", "u0"), (), False, ""),
    (keeping("", "pre"), (), False, ""),
    (keeping("", "pre"), ("x",), False, "the agent replaced 1 message that it injects"),
    (keeping("", "pre u0"), ("x",), False, ""),
    (keeping("u0 a0", "", "manual", kept_ids=("u0", "a0")), (), False,
     "at the user's request the agent kept 2 messages that the file lists"),
    (keeping("u0 a0", "", "auto", kept_ids=("u0", "a0")), (), False, ""),
    (keeping("u0", "a0", "manual", kept_ids=("u0",)), (), False, ""),
    (keeping("", "open"), (), False, "the agent summarized 1 unanswered message"),
    (keeping("", "open", background=True), (), False, "the agent summarized 1 unanswered message; it compacted "
     "in the background and kept the messages that arrived meanwhile"),
    (keeping("", "open a1"), (), False, ""),
    (keeping("", "open"), (), True, "the agent treated 1 rejected request as answered"),
    (keeping("", "s"), (), False, "the agent summarized only its earlier summary, which is kept unchanged here"),
])  # fmt: skip
def test_why_other_messages_stayed(found: PresetCheck, anew: tuple[str, ...], refused: bool, why: str) -> None:
    following = [replace(user(id, "new rules"), kind="meta") for id in anew]
    assert why_messages_differ(found, context_of(OPENED), following, refused) == why


def test_one_in_the_background_is_judged_where_it_began() -> None:
    """Of twelve messages the newest two came while it worked: begun before the sixth call, when one was due."""
    session = compacted(6, 2)
    ended = Compaction("", kept_ids=("u5", "a5"), background=True)
    here = replace(session, epochs=(replace(session.epochs[0], ended_by=ended), session.epochs[1]))
    found = beside(here)
    assert (found.call, found.fires, found.kept_by_agent, found.same_call) == (6, 5, frozenset(), True)
    assert beside(session).call == 7


def test_the_report_of_a_preset_check() -> None:
    preset = load_preset("pi")
    same, differs = keeping("a", "a"), keeping("", "a")
    assert preset_report(preset, ()) == ""
    assert preset_report(preset, (same, same)) == "Compared epoch by epoch, the pi preset compacts the same."
    assert preset_report(preset, (same, replace(differs, why_messages="of the moon"))) == (
        "Compared epoch by epoch, the pi preset compacts the same in 1 of 2; in epoch 1 it would not: of the moon."
    )
    assert preset_report(preset, [differs] * 4) == (
        "Compared epoch by epoch, the pi preset compacts the same in 0 of 4"
        + "; in epoch 1 it would not: keeps 1 message more than the agent did" * 3
        + "; 1 more differ."
    )
