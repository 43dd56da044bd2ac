"""What comes of one attempt at an answer, piece by piece, by whatever protocol; and what every protocol offers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from workbench.compaction.summary_request import SummaryRequest
from workbench.session import Session, Usage
from workbench.summarizers.connections import Connection
from workbench.summarizers.protocols.usage import ImpossibleUsage
from workbench.summarizers.troubles import Server, Trouble
from workbench.summarizers.wire import Sending


class Words(Struct, frozen=True):
    """More of the answer."""

    text: str


class Thought(Struct, frozen=True):
    """More of what the model thinks before it answers: no part of the answer."""

    text: str


class Billed(Struct, frozen=True):
    """Tokens billed so far; figures are cumulative."""

    usage: Usage


class Misbilled(Struct, frozen=True):
    """A figure of the usage that no call can have, as `ImpossibleUsage` names it: what was billed is not known."""

    why: str


class By(Struct, frozen=True):
    """The model that answers, as the server names it."""

    model: str


class Stopped(Struct, frozen=True):
    """The answer is whole, or ends for `reason`: "refusal", "max_tokens", "model_context_window_exceeded" and
    "tool_use" are no summary; any other is. `why` are the server's own words."""

    reason: str
    why: str = ""


Came = Words | Thought | Billed | Misbilled | By | Stopped


def billed_by(usage: Callable[[], Usage]) -> Billed | Misbilled:
    """The usage that is read, or why it cannot be."""
    try:
        return Billed(usage())
    except ImpossibleUsage as impossible:
        return Misbilled(str(impossible))


class Failed(Exception):
    """An attempt that a protocol itself sees to be lost."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.sentence)
        self.trouble = trouble


@dataclass(frozen=True)
class Spoken:
    """A protocol: how its client is opened (a context that closes it; BadInput without a key), whom that talks to, what
    is sent for a request, and how one answer is heard. `without` are the fields that a server refused; `optional` those
    that can be left out."""

    connect: Callable[[Connection, float], Awaitable[AbstractAsyncContextManager[Any]]]
    server_of: Callable[[Any, Connection], Server]
    sending: Callable[[SummaryRequest, Session | None], Sending]
    body: Callable[[SummaryRequest, str, Sending, int, Collection[str]], dict[str, Any]]
    heard: Callable[[Any, dict[str, Any], Server], AsyncIterator[Came]]
    optional: frozenset[str]


def check_kind(kind: str, server: Server) -> None:
    """Raises Failed for an answer that is a web page, as a proxy's sign-in is."""
    if "html" in kind:
        page = f"{server.address} answers with a web page instead of a model's response; check {server.address_from}"
        raise Failed(Trouble("error", page))
