"""Progress of a run: its steps and calls as lines, each with state, time and text so far.

Pure but for the clock, so that tests send it events without a screen.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from workbench.base.figures import grouped
from workbench.compaction.outcome import Outcome
from workbench.compaction.summary_request import SummaryRequest
from workbench.session import Usage
from workbench.summarizers.driver import RequestAnswered, RequestFailed, RequestsStarted, RunEvent, StepFinished
from workbench.summarizers.live_events import (
    CallEnded,
    FieldDropped,
    LiveEvent,
    PromptSent,
    PromptShortened,
    RetryScheduled,
    TextReceived,
    UsageRejected,
    UsageReported,
    describe_event,
)
from workbench.summarizers.server_endpoints import ServerSummary

State = Literal["planned", "waiting", "sent", "writing", "retrying", "done", "failed", "cancelled", "fallback"]

SIGNS: dict[State, str] = {
    "planned": "○",
    "waiting": "·",
    "sent": "↑",
    "writing": "✎",
    "retrying": "↻",
    "done": "✔",
    "failed": "✘",
    "cancelled": "–",
    "fallback": "!",
}
"""Sign of each state."""

CHARS_PER_TOKEN = 4
"""Assumed for tokens still being written; a complete answer is counted, or the server reports its usage."""


@dataclass
class RunLine:
    """Line of the run: a step (`number` None) or a call. `notes` are retries, cuts and failures in words."""

    what: str
    state: State
    began: float
    number: int | None = None
    ended: float | None = None
    parts: list[str] = field(default_factory=list)
    chars: int = 0
    tokens: int = 0
    usage: Usage | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.parts)

    @property
    def is_active(self) -> bool:
        return self.state in ("waiting", "sent", "writing", "retrying")

    @property
    def written(self) -> int:
        """Tokens written: reported by the server, else counted, or estimated from characters until the answer is
        complete."""
        reported = self.usage.output if self.usage else 0
        return max(reported, self.tokens or self.chars // CHARS_PER_TOKEN)

    def seconds(self, now: float) -> float:
        return (self.ended if self.ended is not None else now) - self.began


class RunProgress:
    """Observer of a run: gets the driver's events (`on_run_event`) and those of live calls (`on_live_event`), both on
    the event loop. `count` counts the tokens of a text as everywhere else on the screen."""

    def __init__(
        self, clock: Callable[[], float] = time.perf_counter, count: Callable[[str], int] = lambda text: 0
    ) -> None:
        self.clock, self.count = clock, count
        self.began = self._mark = clock()
        self.lines: list[RunLine] = []
        self._calls: list[RunLine] = []
        self._requests: list[SummaryRequest] = []
        self._by_key: dict[str, RunLine] = {}

    @property
    def calls(self) -> list[RunLine]:
        return self._calls

    @property
    def active_calls(self) -> list[RunLine]:
        return [line for line in self._calls if line.is_active]

    @property
    def seconds(self) -> float:
        return self.clock() - self.began

    def request_sent(self, request: SummaryRequest, key: str) -> None:
        """Note that this request is sent next; live events refer to it by `key`."""
        for line, known in zip(self._calls, self._requests, strict=True):
            if known is request:
                self._by_key[key] = line

    def on_run_event(self, event: RunEvent) -> None:
        now = self.clock()
        match event:
            case StepFinished(step):
                notes = [step.detail] if step.detail else []
                self.lines.append(RunLine(step.name, "done", self._mark, ended=now, notes=notes))
            case RequestsStarted(requests, _):
                for request in requests:
                    line = RunLine(request.purpose, "waiting", now, number=len(self._calls))
                    self._calls.append(line)
                    self._requests.append(request)
                    self.lines.append(line)
            case RequestAnswered(number, _, summary):
                line = self._calls[number]
                line.state, line.ended = "done", now
                line.usage = summary.usage or line.usage
                if isinstance(summary, ServerSummary):
                    line.notes.append(f"the server's block: {summary.block_note}")
                line.chars, line.tokens = len(summary.text), self.count(summary.text)
            case RequestFailed(number, _, failure):
                line = self._calls[number]
                line.state, line.ended = "failed", now
                line.notes.append(f"{failure.kind}: {failure.detail}" if failure.detail else failure.kind)
        self._mark = now

    def on_live_event(self, event: LiveEvent) -> None:
        line = self._by_key.get(event.key)
        if line is None:
            return
        match event:
            case PromptSent():
                line.state = "sent"
                line.began = line.began if event.attempt > 1 else self.clock()
            case TextReceived(_, text):
                line.state = "writing"
                line.parts.append(text)
                line.chars += len(text)
            case UsageReported(_, usage):
                line.usage = usage
            case RetryScheduled() | PromptShortened():
                line.state = "retrying"
                line.parts.clear()
                line.chars = 0
                line.notes.append(describe_event(event))
            case FieldDropped() | UsageRejected():
                line.notes.append(describe_event(event))
            case CallEnded():
                pass

    def note_outcome(self, outcome: Outcome) -> None:
        """Note the outcome: steps with their sizes, and the fallback if there was one."""
        now = self.clock()
        for rung in outcome.rungs:
            sizes = f"{grouped(rung.before)} → {grouped(rung.after)} tokens"
            notes = [sizes, *([rung.note] if rung.note else [])]
            same = next((line for line in self.lines if line.number is None and line.what == rung.name), None)
            if same is None:
                self.lines.append(RunLine(rung.name, "done", now, ended=now, notes=notes))
            else:
                same.notes = notes
        if outcome.status != "compacted":
            word = outcome.status.replace("_", " ")
            self.lines.append(RunLine(word, "fallback", now, ended=now, notes=[outcome.reason]))

    def note_cancellation(self) -> None:
        for line in self.active_calls:
            line.state, line.ended = "cancelled", self.clock()

    def words(self, line: RunLine) -> tuple[str, str]:
        """Line's title, and below it state, time, tokens and last note."""
        facts: list[str] = [line.state]
        if line.state not in ("planned", "fallback"):
            facts.append(f"{line.seconds(self.clock()):.1f} s")
        if line.number is not None and line.written:
            exact = line.usage is not None and line.usage.output_final and line.state == "done"
            facts.append(f"{'' if exact else '~'}{grouped(line.written)} tokens")
        return f"{SIGNS[line.state]} {line.what}", " · ".join([*facts, *line.notes[-1:]])


def planned_lines(events: Iterator[RunEvent] | list[RunEvent]) -> list[RunLine]:
    """Lines of a run that has not begun, from the events of its preview."""
    progress = RunProgress(lambda: 0.0)
    for event in events:
        progress.on_run_event(event)
    return [replace(line, state="planned", usage=None, chars=0) for line in progress.lines]
