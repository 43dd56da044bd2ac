"""Sums of a layout, messages that may open a context, and outcomes that are not smaller."""

from __future__ import annotations

from array import array
from dataclasses import replace

import pytest

from workbench.compaction.context import Layout
from workbench.compaction.invariants import may_open, with_verdict
from workbench.compaction.opening import context_at, recounted
from workbench.compaction.outcome import Fate, FateSpan, KeptSpan, NewMessage, Outcome, Status
from workbench.compaction.shape import Shape
from workbench.conformance.building import METER, agent, context_of, loop, session_of, summary, user
from workbench.session import Epoch, Message, Role, Span, Text, Usage
from workbench.tokens import Counter, session_sizes
from workbench.tokens.sizes import Basis, Sizes


def billed(id: str, context: int) -> Message:
    return replace(agent(id, "ok"), usage=Usage(context, 7))


@pytest.mark.parametrize(("anchored", "usage"), [(0, None), (1, 107), (2, 107), (3, 307), (4, 307), (5, 307), (9, 307)])
def test_the_last_usage_is_that_of_a_call_on_which_the_sizes_stand(anchored: int, usage: int | None) -> None:
    """A call after the anchor was billed for messages that a compaction has replaced."""
    messages = (user("u", "go"), billed("a", 100), user("v", "on"), billed("b", 300), agent("c", "unbilled"))
    sizes = Sizes(array("q", [1] * 5), Basis.CALIBRATED, 0, Basis.CALIBRATED, anchored, METER)
    assert Layout(Shape(messages), sizes).last_usage == usage


def test_a_recounted_context_is_the_same_with_other_figures() -> None:
    """Counted as glances say before, and exactly afterwards."""
    session = session_of([user("u", "word " * 40), agent("a", "ok")], epochs=(Epoch(1, [0, 1]),))
    counter = Counter()
    context = context_at(session, None, counter, window=9)
    counter.count_all(session.messages, lambda done, total: None, lambda: False)
    again = recounted(context, session, 1, counter)
    assert again.shape is context.shape
    assert (again.window, list(again.layout.sizes.tokens)) == (
        9,
        list(session_sizes(session, 1, counter).tokens),
    )


def test_a_strategy_cuts_between_exchanges_rounds_or_messages() -> None:
    context = context_of([Message("s", "system", (Text("x"),)), *loop("1", 2), *loop("2", 1)])
    assert [list(context.unit_starts(unit)) for unit in ("exchange", "round", "message")] == [
        list(context.shape.exchange_starts), [1, 7], list(range(11)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("roles", "chosen", "opens"),
    [
        ("user assistant", (0, 1), True),
        ("user assistant", (1,), False),
        ("user tool", (1,), False),
        ("user summary assistant", (1, 2), True),
        ("user system assistant", (1, 2), False),
        ("system assistant user", (0, 1), True),
        ("system user assistant", (0, 2), False),
        ("user assistant", (), True),
    ],
)
def test_a_context_opens_with_the_user_unless_the_session_does_not(
    roles: str, chosen: tuple[int, ...], opens: bool
) -> None:
    """A summary in the system's role may open; the session's own system messages say nothing."""

    def made(index: int, role: str) -> Message:
        spoken: Role = "system" if role == "summary" else role  # type: ignore[assignment]
        return Message(str(index), spoken, (Text("x"),), "summary" if role == "summary" else "normal")

    context = context_of([made(index, role) for index, role in enumerate(roles.split())])
    assert may_open(context, chosen) is opens


@pytest.mark.parametrize(
    ("chars", "draft", "status"),
    [
        (84, "compacted", "not_smaller"),
        (80, "compacted", "not_smaller"),
        (79, "compacted", "compacted"),
        (80, "fallback", "fallback"),
    ],
)
def test_what_is_not_smaller_is_no_success(chars: int, draft: Status, status: Status) -> None:
    """Two messages of 40 characters are 22 tokens; a summary of 80 characters is 21 and stands beside one of 1."""
    context = context_of([user("u", "x" * 40), agent("a", "x" * 40), user("v", "y")])
    pieces = (NewMessage(summary("s", "z" * (chars + 4)), (Span(0, 2),)), KeptSpan(2, 3))
    fates = (FateSpan(0, 2, Fate.SUMMARIZED, "all"), FateSpan(2, 3, Fate.KEPT))
    outcome = with_verdict(context, Outcome(draft, "", context.messages, pieces, fates))
    sizes = f"23 → {(chars + 4) // 4 + 2} tokens"
    assert (outcome.status, outcome.reason.removeprefix("not smaller: ")) == (status, sizes)
