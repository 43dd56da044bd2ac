"""Every check can fail: each test breaks exactly one property."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from workbench.base.figures import grouped
from workbench.compaction.checks import Check, check, failures
from workbench.compaction.outcome import Fate, FateSpan, KeptSpan, Lost, NewMessage, Outcome, Piece, unchanged
from workbench.compaction.strategies.exchange_summary import STRATEGY, ExchangeSummaryPolicy
from workbench.conformance.building import agent, call, context_of, result, user
from workbench.session import Message, Span, Text
from workbench.session.bounded import bounded_text

MESSAGES = [
    Message("sys", "system", (Text("You are an agent."),)),
    user("u1", "do " * 50),
    agent("a1", "", call("c1"), call("c2")),
    result("r1", ("c1", "x" * 400)),
    result("r2", ("c2", "x")),
    agent("a2", "done"),
    user("u2", "more"),
    agent("a3", "done"),
]
NODE = NewMessage(Message("n", "user", (Text("what happened"),), kind="summary"), (Span(1, 6),))
FATES = (
    FateSpan(0, 1, Fate.KEPT),
    FateSpan(1, 6, Fate.SUMMARIZED, "all"),
    FateSpan(6, 8, Fate.KEPT),
)
POLICY = ExchangeSummaryPolicy(min_version="3", prompt="P", trigger_on_history_size_chars=100_000)


def outcome(*pieces: Piece, fates: tuple[FateSpan, ...] = FATES) -> Outcome:
    return Outcome("compacted", "", MESSAGES, pieces, fates)


def by_name(
    made: Outcome, *, pins: frozenset[str] = frozenset(), policy: ExchangeSummaryPolicy = POLICY
) -> dict[str, Check]:
    return {c.name: c for c in check(context_of(MESSAGES, pins=pins, window=1_000), made, STRATEGY, policy)}


def test_a_whole_outcome_passes_everything() -> None:
    checks = by_name(outcome(KeptSpan(0, 1), NODE, KeptSpan(6, 8)))
    assert [c.name for c in checks.values() if not c.passed] == []
    assert [c.name for c in by_name(unchanged(MESSAGES, "")).values() if c.hard and not c.passed] == []


READ = MESSAGES[:3]
NEWEST = [*READ, result("r1", ("c1", "x" * 400)), user("now", "go on")]


@pytest.mark.parametrize(
    ("pieces", "gone"),
    [
        ((KeptSpan(0, 5),), ()),
        ((KeptSpan(0, 3), NewMessage(result("r1", ("c1", "x")), (Span(3, 4),)), KeptSpan(4, 5)), ()),
        ((KeptSpan(0, 1), NewMessage(user("n", "go on, it said"), (Span(1, 5),))), ("r1",)),
        ((KeptSpan(0, 1), NewMessage(user("n", "it goes on"), (Span(1, 5),))), ("r1", "now")),
    ],
)
def test_what_the_agent_has_not_read_is_there_or_named(pieces: tuple[Piece, ...], gone: tuple[str, ...]) -> None:
    kept = [FateSpan(0, 3, Fate.KEPT), FateSpan(3, 4, Fate.COMPRESSED, "part"), FateSpan(4, 5, Fate.KEPT)]
    fates = (FateSpan(0, 1, Fate.KEPT), FateSpan(1, 5, Fate.SUMMARIZED, "all")) if gone else tuple(kept)
    made = Outcome("compacted", "", NEWEST, pieces, fates)
    found = {one.name: one for one in check(context_of(NEWEST), made, STRATEGY, POLICY)}["unanswered messages kept"]
    assert (found.hard, found.passed, found.messages) == (False, not gone, gone)


@pytest.mark.parametrize(("told", "is_there"), [(lambda text: text, True), (bounded_text, False)])
def test_the_two_ends_of_a_huge_request_are_not_the_request(told: Callable[[str], str], is_there: bool) -> None:
    huge = user("now", "go on " * 50_000)
    made = Outcome(
        "compacted",
        "",
        [*READ, huge],
        (KeptSpan(0, 3), NewMessage(user("n", f"Asked: {told(huge.text)}"), (Span(3, 4),))),
        (FateSpan(0, 3, Fate.KEPT), FateSpan(3, 4, Fate.SUMMARIZED, "all")),
    )
    found = {one.name: one for one in check(context_of([*READ, huge]), made, STRATEGY, POLICY)}[
        "unanswered messages kept"
    ]
    assert found.passed is is_there


EMPTY = NewMessage(Message("e", "assistant", (Text(" "),)))
UNKNOWN = "Unknown API would reject 1 message: a3 opens the conversation, which the assistant role may not"


@pytest.mark.parametrize(
    ("name", "made", "detail", "ids"),
    [
        ("tool pairs complete", outcome(KeptSpan(0, 1), NODE, KeptSpan(4, 8)), "1 tool pair split", ("r2",)),
        ("tool pairs complete", outcome(KeptSpan(0, 4), NODE, KeptSpan(6, 8)), "1 tool pair split", ("a1",)),
        ("tool pairs complete", outcome(KeptSpan(0, 3), NODE, KeptSpan(6, 8)), "2 tool pairs split", ("a1", "a1")),
        (
            "call batches together",
            outcome(KeptSpan(0, 4), KeptSpan(5, 6), KeptSpan(4, 5), NODE, KeptSpan(6, 8)),
            "1 call separated from the results",
            ("a1",),
        ),
        ("role order valid", outcome(KeptSpan(0, 1), KeptSpan(7, 8), NODE), UNKNOWN, ("a3",)),
        ("no empty messages", outcome(KeptSpan(0, 1), NODE, EMPTY, KeptSpan(6, 8)), "1 new message empty", ("e",)),
        ("system messages unchanged", outcome(NODE, KeptSpan(6, 8)), "1 system message lost", ("sys",)),
        ("kept messages unchanged", outcome(KeptSpan(0, 1), NODE, KeptSpan(7, 8)), "1 kept message missing", ("u2",)),
        (
            "kept messages unchanged",
            outcome(KeptSpan(0, 1), NODE, KeptSpan(7, 8), KeptSpan(6, 7)),
            "kept messages are out of order",
            (),
        ),
        (
            "every message has a fate",
            outcome(KeptSpan(0, 1), NODE, KeptSpan(6, 8), fates=FATES[:2]),
            "6 of 8 messages have a fate",
            (),
        ),
        (
            "every message has a fate",
            outcome(KeptSpan(0, 1), NODE, KeptSpan(6, 8), fates=(FATES[0], FATES[2])),
            "fates have a gap or an overlap at message 2",
            (),
        ),
        (
            "summary present",
            outcome(KeptSpan(0, 1), KeptSpan(6, 8)),
            "messages were summarized, but there is no summary",
            (),
        ),
    ],
)
def test_a_hard_check_fails(name: str, made: Outcome, detail: str, ids: tuple[str, ...]) -> None:
    found = by_name(made)[name]
    assert found == Check(name, True, False, detail, ids)
    assert found in failures(tuple(by_name(made).values()))


def test_a_lost_pin_fails() -> None:
    found = by_name(outcome(KeptSpan(0, 1), NODE, KeptSpan(6, 8)), pins=frozenset({"r1"}))["pinned messages unchanged"]
    assert found == Check("pinned messages unchanged", True, False, "3 pinned messages lost", ("a1", "r1", "r2"))


@pytest.mark.parametrize(
    ("lost", "detail", "ids"),
    [
        ((), "every rule and the open request are kept", ()),
        ((Lost("u1", "Never push."),), "missing: Never push.", ("u1",)),
        (
            (*(Lost(f"u{n}", f"Rule {n}.") for n in (1, 1, 2, 3)), Lost("u3", "Rule 4.")),
            "missing: Rule 1.; Rule 1.; Rule 2.; Rule 3. and 1 more",
            ("u1", "u2", "u3"),
        ),
        ((Lost("u2", "sk-ant-api03-" + "aB3x" * 24),), "missing: [masked]", ("u2",)),
    ],
)
def test_a1_a_lost_rule_fails_a_hard_check(lost: tuple[Lost, ...], detail: str, ids: tuple[str, ...]) -> None:
    made = replace(outcome(KeptSpan(0, 1), NODE, KeptSpan(6, 8)), lost=lost)
    found = by_name(made)["rules and open request kept"]
    assert found == Check("rules and open request kept", True, not lost, detail, ids)
    assert (found in failures(tuple(by_name(made).values()))) == bool(lost)


def test_a1_a_strategy_that_undertakes_nothing_has_no_such_check() -> None:
    assert "rules and open request kept" not in by_name(outcome(KeptSpan(0, 1), NODE, KeptSpan(6, 8)))


def test_soft_checks_fail_without_stopping_an_export() -> None:
    long = NewMessage(Message("n", "user", (Text("long " * 4_000),), kind="summary"), (Span(1, 6),))
    low = POLICY.model_copy(update={"trigger_on_history_size_chars": 50})
    checks = by_name(outcome(KeptSpan(0, 1), long, KeptSpan(6, 8)), policy=low)
    assert [check for check in checks.values() if not check.passed] == [
        Check("smaller", False, False, f"155 → {grouped(5_010)} tokens"),
        Check("fits the window", False, False, f"{grouped(5_010)} of {grouped(1_000)} tokens, set for this session"),
        Check(
            "under the threshold", False, False, f"trigger 50 characters (history size): now {grouped(20_172)}, fires"
        ),
    ]
    assert failures(tuple(checks.values())) == ()
