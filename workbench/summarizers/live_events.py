"""Events of a live call, for the screen and for the run record.

Each event has the key of its request (`SummaryRequest.key`), because several run in parallel. No event holds a
credential, a header or an address. Text arrives many times a second; the receiver decides how often to draw it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from workbench.base.figures import grouped
from workbench.session import Usage


class PromptSent(Struct, frozen=True):
    """A prompt of `chars` characters is being sent; `attempt` counts from 1 over retries and cut prompts."""

    key: str
    model: str
    attempt: int
    chars: int


class UsageReported(Struct, frozen=True):
    """Usage so far. `output_final` is False until the server reports the final figure."""

    key: str
    usage: Usage


class UsageRejected(Struct, frozen=True):
    """The usage of this attempt has an impossible figure (`why`), so its cost is unknown."""

    key: str
    why: str


class TextReceived(Struct, frozen=True):
    """More text of the answer."""

    key: str
    text: str


class ThinkingReceived(Struct, frozen=True):
    """More thinking before the answer; not part of the answer, and not saved."""

    key: str
    text: str


class RetryScheduled(Struct, frozen=True):
    """The attempt failed; the same prompt is sent again after `wait_s` seconds. Text received so far is void."""

    key: str
    attempt: int
    wait_s: float
    why: str


class PromptShortened(Struct, frozen=True):
    """The prompt was too long: of `before` characters `after` are left, cut as `how` says. Text received so far is
    void."""

    key: str
    number: int
    before: int
    after: int
    why: str
    how: str = "the middle was cut"


class FieldDropped(Struct, frozen=True):
    """The model refuses `field` ("temperature", "thinking", …); the request continues without it."""

    key: str
    field: str
    why: str


class CallEnded(Struct, frozen=True):
    """The call has ended; `how` is the server's stop reason or the kind of the failure."""

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
    """Ignore an event."""


def partial_text(events: Iterable[LiveEvent], key: str) -> str:
    """Return the text of one request received so far, without text made void by retries."""
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
    """Describe an event for a log or trace; "" for text and usage."""
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
    """Return the usage of every attempt: the last figure of each, because figures are cumulative. Attempts with an
    impossible figure have none."""
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
