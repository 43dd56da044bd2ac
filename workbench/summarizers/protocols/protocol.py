"""Interface of a protocol, and the parts of an answer that every protocol streams."""

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
    """More text of the answer."""

    text: str


class ThinkingDelta(Struct, frozen=True):
    """More thinking before the answer; not part of the answer."""

    text: str


class UsageSoFar(Struct, frozen=True):
    """Usage so far; figures are cumulative."""

    usage: Usage


class BadUsage(Struct, frozen=True):
    """The server's usage has an impossible figure, so the usage is unknown. `why` is the text of `ImpossibleUsage`."""

    why: str


class AnsweringModel(Struct, frozen=True):
    """Model that answers, as the server names it."""

    model: str


class AnswerEnd(Struct, frozen=True):
    """End of the answer. After the reasons "refusal", "max_tokens", "model_context_window_exceeded" and "tool_use" the
    answer is not used as a summary. `why`: the server's explanation."""

    reason: str
    why: str = ""


StreamPart = TextDelta | ThinkingDelta | UsageSoFar | BadUsage | AnsweringModel | AnswerEnd


def read_usage(usage: Callable[[], Usage]) -> UsageSoFar | BadUsage:
    """Call `usage` and return its result, or the reason why it is impossible."""
    try:
        return UsageSoFar(usage())
    except ImpossibleUsage as impossible:
        return BadUsage(str(impossible))


class AttemptFailed(Exception):
    """Raised by a protocol for an attempt that cannot succeed."""

    def __init__(self, trouble: CallFailure) -> None:
        super().__init__(trouble.sentence)
        self.trouble = trouble


@dataclass(frozen=True)
class ApiProtocol:
    """Functions of a protocol. `connect` returns a context with the client, which closes it (BadInput without a key);
    `server_of` returns the client's server; `prompt_of` and `body` build a request; `stream` yields the parts of one
    answer. `optional_fields` are fields that a server may refuse; `body` gets those refused and leaves them out."""

    connect: Callable[[Connection, float], Awaitable[AbstractAsyncContextManager[Any]]]
    server_of: Callable[[Any, Connection], Server]
    prompt_of: Callable[[SummaryRequest, Session | None], WirePrompt]
    body: Callable[[SummaryRequest, str, WirePrompt, int, Collection[str]], dict[str, Any]]
    stream: Callable[[Any, dict[str, Any], Server], AsyncIterator[StreamPart]]
    optional_fields: frozenset[str]


def check_content_type(kind: str, server: Server) -> None:
    """Raise AttemptFailed for an answer that is a web page, such as a proxy's sign-in."""
    if "html" in kind:
        page = f"{server.address} answers with a web page instead of a model's response; check {server.address_source}"
        raise AttemptFailed(CallFailure("error", page))
