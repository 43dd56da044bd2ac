"""Run records: requests, answers, cost and checks of a run, also of failed and cancelled ones.

A record never holds a key or a header, because it is built from the run's own values and not from the client's. It can
answer its own requests again, offline. `workbench.summarizers.run_history` saves records.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from workbench.base.stamps import utc_datetime
from workbench.base.text import valid_unicode
from workbench.compaction.summary_request import Answer, FailureKind, Summary, SummaryFailed, SummaryRequest
from workbench.session import Usage
from workbench.summarizers.driver import RequestAnswered, RequestFailed, RequestsStarted, RunEvent
from workbench.summarizers.live_events import (
    CallEnded,
    LiveEvent,
    UsageRejected,
    describe_event,
    partial_text,
    usage_by_attempt,
)
from workbench.summarizers.server_endpoints import ServerSummary, compaction_block
from workbench.tokens.cost import Cost, actual_of_all

VERSION = 1

RunEnd = Literal["finished", "failed", "cancelled"]
"""End of a run. `failed`: a request had no summary, and the strategy fell back; `cancelled`: the user stopped it, or it
was interrupted."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TokenRecord(_Record):
    """Recorded usage."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    final: bool = True

    @property
    def billed(self) -> Usage:
        return Usage(self.input, self.output, self.cache_read, self.cache_write, self.final)


class CallRecord(_Record):
    """One request and its answer: `text` on success, else `failure` and `detail` (then `text` is the received part).

    `request` is the complete text, `prompt` its instruction. `key` is the request's hash, by which a repeated run finds
    the answer. `notes` describe retries and cuts. `block` is a server's compaction block, unchanged.
    """

    key: str
    purpose: str
    request: str
    prompt: str = ""
    text: str = ""
    failure: FailureKind | None = None
    detail: str = ""
    model: str = ""
    usage: TokenRecord | None = None
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    block: Any = None

    @property
    def answer(self) -> Answer:
        if self.failure is not None:
            return SummaryFailed(self.failure, self.detail)
        usage = self.usage.billed if self.usage else None
        if self.block is not None:
            return ServerSummary(self.text, self.model, usage, self.seconds, block=compaction_block(self.block))
        return Summary(self.text, self.model, usage, self.seconds)


class CheckRecord(_Record):
    """Result of one check of the outcome."""

    name: str
    hard: bool
    passed: bool
    detail: str = ""


class RunRecord(_Record):
    """A run record. `session` is the session's fingerprint and `file` its path; times are UTC seconds.

    `summarizer` is the chosen name. `dollars` is the cost, None if unknown.
    """

    version: int = VERSION
    id: str
    began: float
    seconds: float
    end: RunEnd
    strategy: str
    policy: dict[str, Any] = Field(default_factory=dict)
    preset: str = ""
    summarizer: str = ""
    model: str = ""
    session: str = ""
    file: str = ""
    status: str = ""
    reason: str = ""
    before: int = 0
    after: int = 0
    dollars: float | None = None
    checks: tuple[CheckRecord, ...] = ()
    calls: tuple[CallRecord, ...] = ()

    @property
    def usage(self) -> Usage:
        """Usage of all calls together."""
        return sum_usage(call.usage.billed for call in self.calls if call.usage)

    @property
    def answers(self) -> dict[str, Answer]:
        """Answers by request key, for `recorded_answers.recorded_summarizer`."""
        return {call.key: call.answer for call in self.calls}


def new_run_id(now: float | None = None) -> str:
    """Return a new id that sorts by time, is a valid file name, and is unique across processes."""
    return f"{utc_datetime(now):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def call_record(
    request: SummaryRequest, answer: Answer | None, events: Iterable[LiveEvent] = (), seconds: float = 0.0
) -> CallRecord:
    """Return the record of one request. `answer` is None if it was cancelled; `events` then hold the received part.
    Usage includes the attempts that failed."""
    events = [event for event in events if event.key == request.key]
    notes = tuple(filter(None, map(describe_event, events)))
    tries = usage_by_attempt(events)
    request_fields = {
        "key": request.key,
        "purpose": request.purpose,
        "request": valid_unicode(request.shown),
        "prompt": valid_unicode(request.prompt),
        "notes": notes,
    }
    if isinstance(answer, Summary):
        block = answer.block.raw if isinstance(answer, ServerSummary) else None
        usage = sum_usage(tries) if tries else answer.usage
        text, duration = valid_unicode(answer.text), answer.seconds or seconds
        billed = usage and token_record(usage)
        return CallRecord(**request_fields, text=text, model=answer.model, usage=billed, seconds=duration, block=block)
    failure = answer or SummaryFailed("error", "cancelled")
    return CallRecord(
        **request_fields,
        text=partial_text(events, request.key),
        failure=failure.kind,
        detail=failure.detail,
        usage=token_record(sum_usage(tries)) if tries else None,
        seconds=seconds,
    )


def token_record(usage: Usage) -> TokenRecord:
    return TokenRecord(
        input=usage.input,
        output=usage.output,
        cache_read=usage.cache_read,
        cache_write=usage.cache_write,
        final=usage.output_final,
    )


def sum_usage(usages: Iterable[Usage]) -> Usage:
    """Sum up usage."""
    all_usages = tuple(usages)
    return Usage(
        sum(usage.input for usage in all_usages),
        sum(usage.output for usage in all_usages),
        sum(usage.cache_read for usage in all_usages),
        sum(usage.cache_write for usage in all_usages),
        all(usage.output_final for usage in all_usages),
    )


class RunRecorder:
    """Collects the events of the driver and of live calls, so that a run can be saved however it ends. Call it on the
    event loop. `id` is the run's id in the run history."""

    def __init__(self) -> None:
        self.id = new_run_id()
        self.events: list[LiveEvent] = []
        self._by_key: defaultdict[str, list[LiveEvent]] = defaultdict(list)
        self._requests: list[SummaryRequest] = []
        self._answers: dict[int, Answer] = {}
        self._seconds: dict[str, float] = {}

    def on_run_event(self, event: RunEvent) -> None:
        match event:
            case RequestsStarted(requests, _):
                self._requests.extend(requests)
            case RequestAnswered(number, _, summary):
                self._answers[number] = summary
            case RequestFailed(number, _, failure):
                self._answers[number] = failure
            case _:
                pass

    def add_answers(self, requests: Sequence[SummaryRequest], answers: Sequence[Answer]) -> None:
        """Add all requests and answers of a run that reported no events."""
        self._requests.extend(requests)
        self._answers.update(enumerate(answers))

    def on_live_event(self, event: LiveEvent) -> None:
        self.events.append(event)
        self._by_key[event.key].append(event)
        if isinstance(event, CallEnded):
            self._seconds[event.key] = event.seconds

    def calls(self) -> tuple[CallRecord, ...]:
        """Return the record of every request so far; requests without an answer are cancelled.

        Renders and hashes the requests: not for the event loop.
        """
        return tuple(map(self.call, range(len(self._requests))))

    def call(self, number: int) -> CallRecord:
        """Return the record of request `number`."""
        request = self._requests[number]
        events, seconds = self._by_key.get(request.key, ()), self._seconds.get(request.key, 0.0)
        return call_record(request, self._answers.get(number), events, seconds)

    def attempt_usages_of(self, number: int) -> tuple[Usage, ...]:
        """Return the usage of each attempt at request `number`."""
        return usage_by_attempt(self._by_key.get(self._requests[number].key, ()))

    @property
    def failed(self) -> bool:
        """True if a request ended without a summary."""
        return any(isinstance(answer, SummaryFailed) for answer in self._answers.values())

    @property
    def attempt_usages(self) -> tuple[Usage, ...]:
        """Usage of each attempt of live calls so far, failed ones included."""
        return usage_by_attempt(self.events)

    @property
    def usage_problem(self) -> str:
        """Description of an impossible usage figure, or ""."""
        return next((describe_event(event) for event in self.events if isinstance(event, UsageRejected)), "")

    def cost(self, model: str) -> Cost:
        """Return the cost of all attempts; unknown if the usage of one was rejected. Raises BadInput for a broken price
        table of the user."""
        return Cost(model, note=self.usage_problem) if self.usage_problem else actual_of_all(self.attempt_usages, model)

    @property
    def usage(self) -> Usage:
        """Usage of all attempts together."""
        return sum_usage(self.attempt_usages)
