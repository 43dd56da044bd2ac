"""Compare each strategy's outcome of one small session, in many situations, with a stored text: messages, fates, trace,
layers, notes and checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.compaction.test_conformance import SMALL
from tests.told import assert_told
from workbench.compaction.checks import check
from workbench.compaction.context import Context
from workbench.compaction.layers import layers
from workbench.compaction.outcome import FateSpan, KeptSpan, NewMessage, Outcome
from workbench.compaction.preset import default_preset
from workbench.compaction.shape import Shape
from workbench.compaction.strategies import OWN, strategy
from workbench.compaction.strategy import ProgressStep, Strategy
from workbench.compaction.summary_request import SummaryFailed, SummaryRequest
from workbench.conformance.building import agent, call, context_of, result, summary, user
from workbench.conformance.strategies import FAILED, run
from workbench.session import Message, Text, Tool

OUTCOMES = Path(__file__).parent / "whole_outcomes"
LONG = "\n".join(f"line {n} of a long output" for n in range(6))
TODO = [{"content": "parse", "status": "completed"}, {"content": "write", "status": "in_progress"}]


def work() -> list[Message]:
    """Four rounds: a look, a failing test and its fix, an answer at once, a current input."""
    messages = [
        Message("sys", "system", (Text("You are an agent."),)),
        summary("old", "<summary>\nThe parser was begun.\n</summary>"),
        user("u1", "Fix the token refresh in src/session.py, ticket ABC-12. Never log the token."),
        agent("a1", "I look.", call("c1", "Read", file_path="src/session.py"), call("c2", "Grep", pattern="ttl")),
        result("r1", ("c1", LONG)),
        result("r2", ("c2", "src/session.py:3:ttl = 300")),
        agent("a2", "", call("c3", "Bash", command="pytest -q")),
        result("r3", ("c3", f"{LONG}\nE   ValueError: bad ttl\n1 failed, 3 passed"), error=True),
        agent(
            "a3", "I decided to use a mutex because two refreshes race.", call("c4", "Edit", file_path="src/lock.py")
        ),
        result("r4", ("c4", "ok")),
        agent("a4", "", call("c5", "Bash", command="pytest -q"), call("c6", "TodoWrite", todos=TODO)),
        result("r5", ("c5", "4 passed in 30 seconds"), ("c6", "updated")),
        agent("a5", "All tests pass."),
        user("u2", "Use port 8080 from now on. See https://example.org/spec."),
        agent("a6", "Done: port 8080."),
        Message("rule", "system", (Text("Be brief."),)),
        user("u3", "Why does CI fail?"),
        agent("a7", "", call("c7", "Bash", command="gh run view")),
        result("r6", ("c7", LONG)),
        agent("a8", "It lacks a key."),
        user("u4", "And now?"),
    ]
    return [replace(message, time=1_000.0 + 60 * n) for n, message in enumerate(messages)]


MEMORIES = "\n".join(f"memory {n} of the agent" for n in range(60))
SITUATIONS: dict[str, dict[str, Any]] = {
    "by hand": {},
    "not due": {"manual": False, "window": 10**6},
    "due": {"manual": False, "window": 400},
    "a failed summary": {"answer": FAILED},
    "a time-out": {"answer": SummaryFailed("timeout", "no answer within 120 s")},
    "a summary that is too long": {"answer": "A sentence that says little. " * 60},
    "a split before u2": {"split_at": "u2"},
    "two pins": {"pins": frozenset({"r3", "u2"})},
    "a summary cut to 30": {
        "fields": {"summary_char_limit": 30},
        "answer": "One sentence. Another sentence. A third one.",
    },
    **{
        f"an earlier summary: {one}": {"fields": {"earlier_summary": one}} for one in ("drop", "keep", "nest", "extend")
    },
}


def told(strategy: Strategy[Any], situation: str) -> str:
    given = dict(SITUATIONS[situation])
    answer = given.pop("answer", "The token is refreshed under a mutex.")
    fields = {**SMALL.get(strategy.id, {}), **given.pop("fields", {})}
    policy = default_preset(strategy.id).policy
    known = type(policy).model_fields
    policy = policy.with_(**{name: value for name, value in fields.items() if type(policy).today(name).name in known})
    begun = Shape([message for message in work() if message.kind != "summary"])
    context = context_of(work(), memories=MEMORIES, tools=(Tool("Bash", "{}"),), first_context=begun, **given)
    steps: list[ProgressStep] = []
    outcome, requests = run(strategy, context, policy, answer, steps.append)
    whole = situation == "by hand"
    lines = [f"step {one.name}: {one.detail}" for one in steps]
    lines += [*_outcome(context, outcome), *_requests(requests, whole=whole)]
    return "\n".join([*lines, *_view_and_checks(strategy, policy, context, outcome)] if whole else lines)


def _view_and_checks(strategy: Strategy[Any], policy: Any, context: Context, outcome: Outcome) -> Iterator[str]:
    """Layers, notes, remark and checks of an outcome, one line each."""
    for one in (*strategy.view.layers(context, outcome), *layers(context)):
        yield f"layer {one.glyph} {one.name}: {one.basis.value}{one.tokens}"
    for index in range(len(context)):
        yield from (
            f"note on {index}: {note.text}{'!' * note.warns}"
            for note in strategy.view.notes(context.shape, policy, index)
        )
    if strategy.view.remark is not None:
        yield f"remark: {strategy.view.remark(context.shape, policy)}"
    yield from (f"check {one.name}, {one.passed}: {one.detail}" for one in check(context, outcome, strategy, policy))


def _outcome(context: Context, outcome: Outcome) -> Iterator[str]:
    yield f"{outcome.status}: {outcome.reason}; {context.outcome_size(outcome)} tokens"
    yield from (f"  {line}" for line in outcome.trace)
    yield from (f"rung {one.name}: {one.before} → {one.after}; {one.note}" for one in outcome.rungs)
    yield "fates " + ", ".join(map(_fate, outcome.fates))
    for piece in outcome.pieces:
        if isinstance(piece, KeptSpan):
            yield f"keeps {piece.start}–{piece.stop}"
        else:
            yield from _new_message(piece)
    if outcome.memories is not None:
        yield f"memories\n{outcome.memories}"


def _fate(span: FateSpan) -> str:
    saw = "" if span.saw == "nothing" else f" ({span.saw})"
    return f"{span.start}–{span.stop} {span.fate.value}{saw}"


def _new_message(piece: NewMessage) -> Iterator[str]:
    message, spans = piece.message, ", ".join(f"{span.start}–{span.stop}" for span in piece.replaces)
    blocks = " ".join(type(block).__name__ for block in message.blocks)
    yield f"makes {message.id}, {message.role} {message.kind}, {blocks}, at {message.time}, for {spans}"
    yield from (
        f"  | {line}" for block in message.blocks for line in (getattr(block, "text", "") or str(block)).split("\n")
    )


def _requests(requests: list[SummaryRequest], *, whole: bool) -> Iterator[str]:
    for one in requests:
        patience = f"{one.timeout_s:g} s" if one.timeout_s else "as long as it may"
        yield (
            f"asks for {one.purpose}, {one.form} in {one.language}, {one.max_chars} characters, "
            f"about {one.chars}, exact {one.exact}, {patience}, of {', '.join(one.sources)}"
        )
        seen = [one.seen(at) for at in range(len(one.messages))] if one.seen is not None else []
        yield f"  shows {' '.join(f'{some}/{of}' for some, of in seen)}"
        yield f"  previous {one.previous!r}"
        if whole:
            yield from (f"  | {line}" for line in one.text.replace(one.prompt, "PROMPT").split("\n"))


@pytest.mark.parametrize("id", OWN)
def test_what_a_strategy_makes_of_a_session(id: str, request: pytest.FixtureRequest) -> None:
    parts: dict[str, str] = {}
    for situation in SITUATIONS:
        text = told(strategy(id), situation)
        same = next((f"as {other}" for other, earlier in parts.items() if earlier == text), text)
        parts[situation] = same
    assert_told(OUTCOMES / f"{id}.txt", "".join(f"## {one}\n\n{text}\n\n" for one, text in parts.items()), request)
