"""Summarizer that fails on purpose, to show how each strategy reacts and what would be lost.

No model is asked and nothing waits: the failure is the one that a live call would end with.
"""

from __future__ import annotations

import asyncio

from workbench.base.errors import BadInput
from workbench.compaction.summary_request import Answer, FailureKind, Summary, SummaryFailed, SummaryRequest
from workbench.summarizers.call_limits import limits_of
from workbench.summarizers.connections import Connection
from workbench.summarizers.live_events import CallEnded, OnLiveEvent, PromptSent, TextReceived, ignore_event
from workbench.summarizers.summarizer import Summarizer

MODEL = "rehearsal"

_DEFAULT_LIMITS = limits_of(Connection(name="rehearsed", protocol="messages"))
"""Limits of a connection with default settings."""

FAILURES: dict[str, tuple[FailureKind, str]] = {
    "timeout": ("timeout", f"no first token within {_DEFAULT_LIMITS.first_token_s:g} s"),
    "rate-limit": ("error", f"too many requests (429); stopped after {_DEFAULT_LIMITS.tries} tries"),
    "overflow": (
        "overflow",
        f"the prompt is too long for the model; cutting it {_DEFAULT_LIMITS.shrinks} times did not help",
    ),
    "empty": ("empty", "the answer has no text (stop reason end_turn)"),
    "truncated": ("truncated", "the answer reached the limit of output tokens"),
    "refused": ("refused", "the model refused"),
    "inflated": ("inflated", "the answer is longer than the text it summarizes"),
}
"""Failure and message of a live call by kind."""

FAILURE_KINDS = (*FAILURES, "garbage")
"""All kinds. `garbage` is a complete answer that says nothing about the session, and no detectable failure."""

GARBAGE = "Sure! Here is the summary you asked for. The weather in Lisbon is mild in March. "

_TRUNCATED_TEXT = "The user asked for"
"""Text of a truncated answer."""


def rehearsal_summarizer(kind: str, on_event: OnLiveEvent | None = None) -> Summarizer:
    """Return a summarizer that answers every request with the same failure. Raises BadInput for an unknown kind."""
    if kind not in FAILURE_KINDS:
        raise BadInput(f"There is no failure {kind!r} to rehearse; there are {', '.join(FAILURE_KINDS)}.")
    report = on_event or ignore_event

    async def summarize(request: SummaryRequest) -> Answer:
        # Rendering and hashing megabytes would freeze a screen.
        key = await asyncio.to_thread(lambda: request.key)
        answer = _answer(kind, request)
        report(PromptSent(key, MODEL, 1, len(request.text)))
        if kind == "truncated":
            report(TextReceived(key, _TRUNCATED_TEXT))
        report(CallEnded(key, "end_turn" if isinstance(answer, Summary) else answer.kind, 0.0))
        return answer

    return summarize


def _answer(kind: str, request: SummaryRequest) -> Answer:
    if kind in FAILURES:
        failure, detail = FAILURES[kind]
        return SummaryFailed(failure, f"{detail} (rehearsed)")
    room = min(900, request.max_chars or 900, request.chars or 900)
    return Summary((GARBAGE * (room // len(GARBAGE) + 1))[: max(room, len(_TRUNCATED_TEXT))].strip(), model=MODEL)
