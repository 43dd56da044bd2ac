"""What is kept of a run of a compaction, failed and cancelled ones too; `workbench.summarizers.journal` keeps it.

A record holds what was asked and answered, never a key or a header: it is built from the run's own values, not from the
client's. It answers its own requests again, offline.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from workbench.base.stamps import utc_datetime
from workbench.base.text import valid_unicode
from workbench.compaction.summary_request import Answer, FailureKind, Summary, SummaryFailed, SummaryRequest
from workbench.session import Usage
from workbench.summarizers.live_events import LiveEvent, bills, heard, sentence
from workbench.summarizers.server_forms import ServerSummary, block_of

VERSION = 1

End = Literal["finished", "failed", "cancelled"]
"""`failed`: a request had no summary, and the strategy fell back; `cancelled`: a person stopped it,
or it was broken off."""


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Tokens(_Kept):
    """A usage, as billed."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    final: bool = True

    @property
    def billed(self) -> Usage:
        return Usage(self.input, self.output, self.cache_read, self.cache_write, self.final)


class Call(_Kept):
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
    usage: Tokens | None = None
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    block: Any = None

    @property
    def answer(self) -> Answer:
        if self.failure is not None:
            return SummaryFailed(self.failure, self.detail)
        usage = self.usage.billed if self.usage else None
        if self.block is not None:
            return ServerSummary(self.text, self.model, usage, self.seconds, block=block_of(self.block))
        return Summary(self.text, self.model, usage, self.seconds)


class Checked(_Kept):
    """What a check of the outcome found."""

    name: str
    hard: bool
    passed: bool
    detail: str = ""


class Run(_Kept):
    """A kept run. `session` is the session's fingerprint and `file` its path; times are UTC seconds.

    `summarizer` is the name by which it was chosen. `dollars` is what it cost, None where that is not known.
    """

    version: int = VERSION
    id: str
    began: float
    seconds: float
    end: End
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
    checks: tuple[Checked, ...] = ()
    calls: tuple[Call, ...] = ()

    @property
    def usage(self) -> Usage:
        """All calls together."""
        return total(call.usage.billed for call in self.calls if call.usage)

    @property
    def answers(self) -> dict[str, Answer]:
        """By request key, for `recorded`: the run again, without asking anybody."""
        return {call.key: call.answer for call in self.calls}


def new_id(now: float | None = None) -> str:
    """Sorts by time, names a file, and differs between processes."""
    return f"{utc_datetime(now):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def call_record(
    request: SummaryRequest, answer: Answer | None, events: Iterable[LiveEvent] = (), seconds: float = 0.0
) -> Call:
    """The record of one request; `answer` None for one that was cancelled, of which `events` tell what had come. Of a
    live call they tell what every try has billed, those that broke off included."""
    events = [event for event in events if event.key == request.key]
    notes = tuple(filter(None, map(sentence, events)))
    tries = bills(events)
    asked = {
        "key": request.key,
        "purpose": request.purpose,
        "request": valid_unicode(request.shown),
        "prompt": valid_unicode(request.prompt),
        "notes": notes,
    }
    if isinstance(answer, Summary):
        block = answer.block.raw if isinstance(answer, ServerSummary) else None
        usage = total(tries) if tries else answer.usage
        text, took = valid_unicode(answer.text), answer.seconds or seconds
        billed = usage and tokens_of(usage)
        return Call(**asked, text=text, model=answer.model, usage=billed, seconds=took, block=block)
    failure = answer or SummaryFailed("error", "cancelled")
    return Call(
        **asked,
        text=heard(events, request.key),
        failure=failure.kind,
        detail=failure.detail,
        usage=tokens_of(total(tries)) if tries else None,
        seconds=seconds,
    )


def tokens_of(usage: Usage) -> Tokens:
    return Tokens(
        input=usage.input,
        output=usage.output,
        cache_read=usage.cache_read,
        cache_write=usage.cache_write,
        final=usage.output_final,
    )


def total(several: Iterable[Usage]) -> Usage:
    """All of them together."""
    every = tuple(several)
    return Usage(
        sum(usage.input for usage in every),
        sum(usage.output for usage in every),
        sum(usage.cache_read for usage in every),
        sum(usage.cache_write for usage in every),
        all(usage.output_final for usage in every),
    )
