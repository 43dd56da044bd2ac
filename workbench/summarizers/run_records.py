"""What is kept of a run of a compaction, failed and cancelled ones too; `workbench.summarizers.run_history` keeps it.

A record holds what was asked and answered, never a key or a header: it is built from the run's own values, not from the
client's. It answers its own requests again, offline.
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
"""`failed`: a request had no summary, and the strategy fell back; `cancelled`: a person stopped it,
or it was broken off."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TokenRecord(_Record):
    """A usage, as billed."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    final: bool = True

    @property
    def billed(self) -> Usage:
        return Usage(self.input, self.output, self.cache_read, self.cache_write, self.final)


class CallRecord(_Record):
    """One request and its answer: `text` on success, `failure` and `detail` otherwise (then `text` is what had come).

    `request` is the whole text, `prompt` what of it was asked for. `key` is the request's hash, by which a replay finds
    the answer. `notes` are the call's retries and cuts, in words.
    `block` is a server's compaction block, untouched.
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
    """What a check of the outcome found."""

    name: str
    hard: bool
    passed: bool
    detail: str = ""


class RunRecord(_Record):
    """A kept run. `session` is the session's fingerprint and `file` its path; times are UTC seconds.

    `summarizer` is the name by which it was chosen. `dollars` is what it cost, None where that is not known.
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
        """All calls together."""
        return sum_usage(call.usage.billed for call in self.calls if call.usage)

    @property
    def answers(self) -> dict[str, Answer]:
        """By request key, for `recorded`: the run again, without asking anybody."""
        return {call.key: call.answer for call in self.calls}


def new_run_id(now: float | None = None) -> str:
    """Sorts by time, names a file, and differs between processes."""
    return f"{utc_datetime(now):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def call_record(
    request: SummaryRequest, answer: Answer | None, events: Iterable[LiveEvent] = (), seconds: float = 0.0
) -> CallRecord:
    """The record of one request; `answer` None for one that was cancelled, of which `events` tell what had come. Of a
    live call they tell what every try has billed, those that broke off included."""
    events = [event for event in events if event.key == request.key]
    notes = tuple(filter(None, map(describe_event, events)))
    tries = usage_by_attempt(events)
    asked = {
        "key": request.key,
        "purpose": request.purpose,
        "request": valid_unicode(request.shown),
        "prompt": valid_unicode(request.prompt),
        "notes": notes,
    }
    if isinstance(answer, Summary):
        block = answer.block.raw if isinstance(answer, ServerSummary) else None
        usage = sum_usage(tries) if tries else answer.usage
        text, took = valid_unicode(answer.text), answer.seconds or seconds
        billed = usage and token_record(usage)
        return CallRecord(**asked, text=text, model=answer.model, usage=billed, seconds=took, block=block)
    failure = answer or SummaryFailed("error", "cancelled")
    return CallRecord(
        **asked,
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


def sum_usage(several: Iterable[Usage]) -> Usage:
    """All of them together."""
    every = tuple(several)
    return Usage(
        sum(usage.input for usage in every),
        sum(usage.output for usage in every),
        sum(usage.cache_read for usage in every),
        sum(usage.cache_write for usage in every),
        all(usage.output_final for usage in every),
    )


class RunRecorder:
    """Told what the driver tells (`told`) and what live calls tell (`heard`), both on the event loop. `id` is the run's
    in the journal, however often it is kept."""

    def __init__(self) -> None:
        self.id = new_run_id()
        self.events: list[LiveEvent] = []
        self._by_key: defaultdict[str, list[LiveEvent]] = defaultdict(list)
        self._requests: list[SummaryRequest] = []
        self._answers: dict[int, Answer] = {}
        self._seconds: dict[str, float] = {}

    def told(self, event: RunEvent) -> None:
        match event:
            case RequestsStarted(requests, _):
                self._requests.extend(requests)
            case RequestAnswered(number, _, summary):
                self._answers[number] = summary
            case RequestFailed(number, _, failure):
                self._answers[number] = failure
            case _:
                pass

    def took(self, requests: Sequence[SummaryRequest], answers: Sequence[Answer]) -> None:
        """What nobody watched: all requests of a run and their answers."""
        self._requests.extend(requests)
        self._answers.update(enumerate(answers))

    def heard(self, event: LiveEvent) -> None:
        self.events.append(event)
        self._by_key[event.key].append(event)
        if isinstance(event, CallEnded):
            self._seconds[event.key] = event.seconds

    def calls(self) -> tuple[CallRecord, ...]:
        """The record of every request so far; those without an answer count as cancelled.

        Renders and hashes the requests: not for the event loop.
        """
        return tuple(map(self.call, range(len(self._requests))))

    def call(self, number: int) -> CallRecord:
        """That of one of them."""
        request = self._requests[number]
        events, seconds = self._by_key.get(request.key, ()), self._seconds.get(request.key, 0.0)
        return call_record(request, self._answers.get(number), events, seconds)

    def bills_of(self, number: int) -> tuple[Usage, ...]:
        """What each attempt at one of them has billed."""
        return usage_by_attempt(self._by_key.get(self._requests[number].key, ()))

    @property
    def failed(self) -> bool:
        """Whether a request has ended without a summary."""
        return any(isinstance(answer, SummaryFailed) for answer in self._answers.values())

    @property
    def bills(self) -> tuple[Usage, ...]:
        """What each attempt of live calls has billed so far, those that failed included."""
        return usage_by_attempt(self.events)

    @property
    def misbilled(self) -> str:
        """Why what was billed is not known, "" where nothing impossible was told."""
        return next((describe_event(event) for event in self.events if isinstance(event, UsageRejected)), "")

    def cost(self, model: str) -> Cost:
        """What all attempts cost together; unknown where the usage of one was left out. Raises BadInput for a broken
        table of the user's."""
        return Cost(model, note=self.misbilled) if self.misbilled else actual_of_all(self.bills, model)

    @property
    def usage(self) -> Usage:
        """All of that together."""
        return sum_usage(self.bills)
