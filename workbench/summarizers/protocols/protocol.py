"""What comes of one attempt at an answer, piece by piece, by whatever protocol; and what every protocol offers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from workbench.compaction.summary_request import SummaryRequest
from workbench.session import Session, Usage
from workbench.summarizers.client_errors import CallFailure, Server
from workbench.summarizers.connections import Connection
from workbench.summarizers.protocols.usage import ImpossibleUsage
from workbench.summarizers.wire import WirePrompt


class TextDelta(Struct, frozen=True):
    """More of the answer."""

    text: str


class ThinkingDelta(Struct, frozen=True):
    """More of what the model thinks before it answers: no part of the answer."""

    text: str


class UsageSoFar(Struct, frozen=True):
    """Tokens billed so far; figures are cumulative."""

    usage: Usage


class BadUsage(Struct, frozen=True):
    """A figure of the usage that no call can have, as `ImpossibleUsage` names it: what was billed is not known."""

    why: str


class AnsweringModel(Struct, frozen=True):
    """The model that answers, as the server names it."""

    model: str


class AnswerEnd(Struct, frozen=True):
    """The answer is whole, or ends for `reason`: "refusal", "max_tokens", "model_context_window_exceeded" and
    "tool_use" are no summary; any other is. `why` are the server's own words."""

    reason: str
    why: str = ""


StreamPart = TextDelta | ThinkingDelta | UsageSoFar | BadUsage | AnsweringModel | AnswerEnd


def read_usage(usage: Callable[[], Usage]) -> UsageSoFar | BadUsage:
    """The usage that is read, or why it cannot be."""
    try:
        return UsageSoFar(usage())
    except ImpossibleUsage as impossible:
        return BadUsage(str(impossible))


class AttemptFailed(Exception):
    """An attempt that a protocol itself sees to be lost."""

    def __init__(self, trouble: CallFailure) -> None:
        super().__init__(trouble.sentence)
        self.trouble = trouble


@dataclass(frozen=True)
class ApiProtocol:
    """A protocol: how its client is opened (a context that closes it; BadInput without a key), whom that talks to, what
    is sent for a request, and how one answer is heard. `without` are the fields that a server refused; `optional` those
    that can be left out."""

    connect: Callable[[Connection, float], Awaitable[AbstractAsyncContextManager[Any]]]
    server_of: Callable[[Any, Connection], Server]
    sending: Callable[[SummaryRequest, Session | None], WirePrompt]
    body: Callable[[SummaryRequest, str, WirePrompt, int, Collection[str]], dict[str, Any]]
    heard: Callable[[Any, dict[str, Any], Server], AsyncIterator[StreamPart]]
    optional: frozenset[str]


def check_content_type(kind: str, server: Server) -> None:
    """Raises Failed for an answer that is a web page, as a proxy's sign-in is."""
    if "html" in kind:
        page = f"{server.address} answers with a web page instead of a model's response; check {server.address_from}"
        raise AttemptFailed(CallFailure("error", page))
