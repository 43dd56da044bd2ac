"""What a live call tells while it runs, so that a screen shows it and a record keeps it.

Every event names the request it belongs to by `SummaryRequest.key`: several may be answered at once. No event holds a
credential, a header or an address. Text comes as it arrives, many times a second; whoever draws it decides how often.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from workbench.base.figures import grouped
from workbench.session import Usage


class PromptSent(Struct, frozen=True):
    """A prompt of `chars` characters is on its way; `attempt` counts from 1 over retries and shrunk prompts alike."""

    key: str
    model: str
    attempt: int
    chars: int


class UsageReported(Struct, frozen=True):
    """Tokens billed so far. `output_final` is false until the server has told the final figure."""

    key: str
    usage: Usage


class UsageRejected(Struct, frozen=True):
    """The usage of this attempt has a figure that no call can have (`why`): what it was billed is not known."""

    key: str
    why: str


class TextReceived(Struct, frozen=True):
    """More of the answer."""

    key: str
    text: str


class ThinkingReceived(Struct, frozen=True):
    """More of what the model thinks before it answers; no part of the answer, and kept by nobody."""

    key: str
    text: str


class RetryScheduled(Struct, frozen=True):
    """The attempt failed and the same prompt is sent again after `wait_s` seconds. The text so far is void."""

    key: str
    attempt: int
    wait_s: float
    why: str


class PromptShortened(Struct, frozen=True):
    """The prompt was too long: of `before` characters `after` are left, cut as `how` says. The text so far is void."""

    key: str
    number: int
    before: int
    after: int
    why: str
    how: str = "the middle was cut"


class FieldDropped(Struct, frozen=True):
    """The model does not take `field` ("temperature", "thinking", …); the request goes on without it."""

    key: str
    field: str
    why: str


class CallEnded(Struct, frozen=True):
    """The call is over: `how` is the server's stop reason or the kind of the failure."""

    key: str
    how: str
    seconds: float
    usage: Usage | None = None


LiveEvent = (
    PromptSent
    | UsageReported
    | UsageRejected
    | TextReceived
    | ThinkingReceived
    | RetryScheduled
    | PromptShortened
    | FieldDropped
    | CallEnded
)
OnLiveEvent = Callable[[LiveEvent], None]


def ignore_event(event: LiveEvent) -> None:
    """For calls that nobody watches."""


def partial_text(events: Iterable[LiveEvent], key: str) -> str:
    """The text of one request as far as it has come, without what retries made void: a failed run's partial answer."""
    parts: list[str] = []
    for event in events:
        if event.key != key:
            continue
        if isinstance(event, TextReceived):
            parts.append(event.text)
        elif isinstance(event, RetryScheduled | PromptShortened):
            parts.clear()
    return "".join(parts)


def describe_event(event: LiveEvent) -> str:
    """An event in words for a log or a trace; "" for text and token figures."""
    match event:
        case PromptSent(_, model, attempt, chars):
            again = f" (attempt {attempt})" if attempt > 1 else ""
            return f"sent {grouped(chars)} characters to {model}{again}"
        case RetryScheduled(_, _, wait_s, why):
            return f"{why}; trying again in {wait_s:.1f} s"
        case UsageRejected(_, why):
            return f"the server's usage is ignored: {why}, impossible for one call"
        case PromptShortened(_, _, before, after, why, how):
            return f"{why}; {how}: {grouped(before)} → {grouped(after)} characters"
        case FieldDropped(_, field, why):
            return f"{why}; sent without {field}"
        case CallEnded(_, how, seconds, _):
            return f"ended ({how}) after {seconds:.1f} s"
    return ""


def usage_by_attempt(events: Iterable[LiveEvent]) -> tuple[Usage, ...]:
    """The tokens of every attempt: the last figure of each, since figures within one attempt are cumulative. None of an
    attempt with an impossible figure."""
    last: dict[str, Usage] = {}
    done: list[Usage] = []
    for event in events:
        if isinstance(event, UsageReported):
            last[event.key] = event.usage
        elif isinstance(event, UsageRejected):
            last.pop(event.key, None)
        elif isinstance(event, PromptSent) and event.key in last:
            done.append(last.pop(event.key))
    return (*done, *last.values())
