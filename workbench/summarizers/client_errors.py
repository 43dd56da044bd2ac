"""Errors of a model's client, classified: the remedy, and one sentence without secrets.

The clients' classes are not imported. Errors are judged by status, type and text, which also covers servers other than
Anthropic's, errors inside a stream (status 200), and older clients.
"""

from __future__ import annotations

import email.utils
import re
import socket
import ssl
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from workbench.base.secrets import MASK, error_line
from workbench.compaction.summary_request import FailureKind
from workbench.summarizers.bounds import OutOfBounds

Remedy = Literal["retry", "shrink", "adapt", "none"]


@dataclass(frozen=True, slots=True)
class Server:
    """Server of a client: displayed address, secrets that it could echo, and where the user sets address and key."""

    address: str = "the server"
    secrets: tuple[str, ...] = ()
    address_source: str = "ANTHROPIC_BASE_URL"
    key_source: str = "ANTHROPIC_API_KEY or the client's sign-in"
    adds_v1: bool = True


class CallFailure(Struct, frozen=True):
    """Failure of one attempt. `remedy` says what to try; `kind` and `sentence` are the failure if that does not help.

    `wait_s` is the wait that the server requested, or None; `field` the parameter to leave out (remedy "adapt"); `room`
    the share of the prompt that fits by the server's figures (remedy "shrink"), or None. `may_be_billed`: the server
    accepted the request before the connection broke.
    """

    kind: FailureKind
    sentence: str
    remedy: Remedy = "none"
    wait_s: float | None = None
    field: str = ""
    room: float | None = None
    may_be_billed: bool = False


_TOO_LONG = re.compile(
    r"prompt is too long|input is too long|too many tokens|exceeds? (?:the )?(?:maximum )?context|context limit"
    r"|maximum context length|context window|request_too_large|exceed_context_size|context_length_exceeded"
    r"|available context size",
    re.IGNORECASE,
)
_FIGURES = re.compile(r"(?P<had>\d[\d,]{2,17}) tokens? > (?P<most>\d[\d,]{2,17})")
_SUM = re.compile(r"(?P<had>\d[\d,]{2,17}) \+ (?P<answer>\d[\d,]{0,17}) > (?P<most>\d[\d,]{2,17})")
_LENGTH_FIGURES = re.compile(
    r"context length is (?P<most>\d[\d,]{1,17}) tokens.*?(?:resulted in|requested|has) (?P<had>\d[\d,]{1,17})",
    re.DOTALL,
)
_COMPLETION = re.compile(r"(?P<answer>\d[\d,]{0,17}) in the completion")
_OPTIONAL = {
    "temperature": ("temperature",),
    "thinking": ("thinking", "reasoning_effort"),
    "max_tokens": ("max_completion_tokens",),
    "stream_options": ("stream_options", "include_usage"),
    "cache_control": ("cache_control",),
    "store": ("'store'", '"store"', "store:"),
}
"""Optional parameters that some models refuse, with the names used in refusals. Gateways translate "thinking" and name
the translation; a server that requires `max_completion_tokens` refuses `max_tokens`."""

_PERMANENT = frozenset(["insufficient_quota", "billing_hard_limit_reached"])
"""Permanent failures that come with a transient status."""

_TRANSIENT_TYPES = frozenset(
    ["overloaded_error", "api_error", "rate_limit_error", "timeout_error", "server_error", "rate_limit_exceeded"]
)


SHORTEST_KEY = 8
"""Length below which a key is masked only as a whole word: servers without keys accept any word, and `x` occurs in many
others."""

_BEFORE_CONNECTING = frozenset(["ConnectError", "ConnectTimeout", "PoolTimeout"])
"""Transport errors raised before anything is sent."""


_UNREADABLE = (AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Errors that the clients and this room raise for JSON of an unexpected shape."""


def classify_error(error: Exception, server: Server = Server()) -> CallFailure:
    """Classify an error of the client. Secrets that the server echoes are masked."""
    if bound := next((one for one in _error_and_causes(error) if isinstance(one, OutOfBounds)), None):
        return _bounds_failure(bound, server)
    status = getattr(error, "status_code", None)
    body = _error_object(getattr(error, "body", None))
    code = str(body.get("code") or "")
    kind = code if code in _PERMANENT else str(body.get("type") or getattr(error, "type", None) or code)
    message = _without_secrets(str(body.get("message") or getattr(error, "message", None) or error), server.secrets)
    if isinstance(status, int):
        return _status_failure(status, kind, message, getattr(getattr(error, "response", None), "headers", {}), server)
    if _is_connection_error(error):
        return _connection_failure(error, server)
    if body:  # an error inside a stream has no status
        return stream_failure(kind, message, server)
    if isinstance(error, _UNREADABLE):
        why = f"{server.address} sends a response its client cannot read ({type(error).__name__}: {message})"
        return CallFailure(
            "error", f"{_without_secrets(why, server.secrets)}; check {server.address_source}", may_be_billed=True
        )
    return CallFailure("error", _without_secrets(f"{type(error).__name__}: {message}", server.secrets))


def stream_failure(kind: str, message: str, server: Server) -> CallFailure:
    """Classify an error inside a stream."""
    return _status_failure(200, kind, _without_secrets(message, server.secrets), {}, server)


def _bounds_failure(bound: OutOfBounds, server: Server) -> CallFailure:
    """Classify an answer that exceeds a bound. The status of an error still decides the remedy."""
    what = _without_secrets(bound.what, server.secrets)
    if bound.status >= 300:
        return _status_failure(bound.status, "", f"{what}; stopped reading", bound.headers, server)
    sentence = f"{server.address} sends {what}; stopped reading; check {server.address_source}"
    return CallFailure("error", sentence, may_be_billed=True)


def _connection_failure(error: Exception, server: Server) -> CallFailure:
    """Classify a connection error: a broken connection is retried, an impossible one is not."""
    chain = _error_and_causes(error)
    system = [one for one in chain if isinstance(one, OSError) and one.strerror]
    reason = (
        system[-1].strerror if system else next((str(one) for one in reversed(chain) if _is_transport_error(one)), "")
    )
    why = _without_secrets(reason or type(error).__name__, server.secrets)
    if any(map(_is_permanent, chain)):
        return _unreachable(why, server)
    may_be_billed = not any(type(one).__name__ in _BEFORE_CONNECTING for one in chain)
    return CallFailure(
        "error", f"the connection to {server.address} failed ({why})", "retry", may_be_billed=may_be_billed
    )


def _unreachable(why: str, server: Server) -> CallFailure:
    remedy = f"check {server.address_source}, the network and its proxy"
    return CallFailure("error", f"{server.address} cannot be reached ({why}); {remedy}")


def _error_and_causes(error: BaseException) -> list[BaseException]:
    """Return the error and its causes, because a client does not name the cause itself."""
    found = [error]
    while (cause := found[-1].__cause__ or found[-1].__context__) is not None and cause not in found:
        found.append(cause)
    return found


def _is_permanent(error: BaseException) -> bool:
    """Return whether a retry would fail the same way: unknown host, refused connection, bad certificate, protocol or
    header."""
    if isinstance(error, socket.gaierror):
        return error.errno != socket.EAI_AGAIN
    if isinstance(error, ConnectionRefusedError | ssl.SSLCertVerificationError):
        return True
    return type(error).__name__ in ("UnsupportedProtocol", "LocalProtocolError", "ProxyError", "InvalidURL")


def _status_failure(status: int, kind: str, message: str, headers: Mapping[str, str], server: Server) -> CallFailure:
    if 300 <= status < 400:
        target = _without_secrets(urlsplit(headers.get("location", "")).netloc.rpartition("@")[2], server.secrets)
        return CallFailure(
            "error",
            f"{server.address} sends calls on to {target or 'another address'} ({status}); nothing was sent there. "
            f"To send the session there, name it in {server.address_source}",
        )
    if status == 407:  # from a proxy for http; a proxy for https breaks the connection instead
        return _unreachable("407 Proxy Authentication Required", server)
    where = f"{status} {kind}".strip() if status != 200 else kind or "error in the stream"
    if status == 413 or (status in (400, 422, 200, 500) and _TOO_LONG.search(f"{kind} {message}")):
        return CallFailure(
            "overflow",
            f"the prompt is too long for the model ({where}: {message})",
            "shrink",
            room=_share_that_fits(message),
        )
    if status in (400, 422):
        for field, names in _OPTIONAL.items():
            if any(name in message.lower() for name in names):
                return CallFailure("error", f"the server refused {field} ({where}: {message})", "adapt", field=field)
    if status in (401, 403):
        remedy = f"check {server.key_source}"
        return CallFailure("error", f"the server refused the credentials ({where}: {message}); {remedy}")
    if status == 404:
        remedy = "choose another model"
        if server.address.endswith("/v1") and server.adds_v1:
            remedy = f"{server.address_source} ends with /v1, which the client adds itself"
        return CallFailure("error", f"the server does not know this model or address ({where}: {message}); {remedy}")
    wait = retry_after(headers)
    should_retry = str(headers.get("x-should-retry", "")).lower()
    transient = status in (408, 409, 429) or status >= 500 or (status == 200 and kind in _TRANSIENT_TYPES)
    if kind not in _PERMANENT and (should_retry == "true" or (transient and should_retry != "false")):
        return CallFailure("error", f"{_transient_reason(status, kind)} ({where}: {message})", "retry", wait_s=wait)
    return CallFailure("error", f"the server refused the request ({where}: {message})")


def _transient_reason(status: int, kind: str) -> str:
    if status == 429 or kind == "rate_limit_error":
        return "the rate limit is reached"
    if status == 529 or kind == "overloaded_error":
        return "the server is overloaded"
    return "the server failed"


def _share_that_fits(message: str) -> float | None:
    """Return the share of the prompt that fits, by the figures in the server's message, or None."""
    if figures := _FIGURES.search(message):
        return _parse_count(figures["most"]) / _parse_count(figures["had"])
    if figures := _SUM.search(message):
        return max(0.0, _parse_count(figures["most"]) - _parse_count(figures["answer"])) / _parse_count(figures["had"])
    if length := _LENGTH_FIGURES.search(message):
        answer = _COMPLETION.search(message)
        written = _parse_count(answer["answer"]) if answer else 0
        return max(0.0, _parse_count(length["most"]) - written) / max(1, _parse_count(length["had"]) - written)
    return None


def _parse_count(text: str) -> int:
    return int(text.replace(",", ""))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds requested by `retry-after-ms` or `retry-after` (seconds or a date), at least 0; None without
    them."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers[name]) / unit)
        except (KeyError, ValueError):
            continue
    date = email.utils.parsedate_tz(headers.get("retry-after"))
    return max(0.0, email.utils.mktime_tz(date) - time.time()) if date else None


def _is_connection_error(error: Exception) -> bool:
    """Return whether the network failed: a class of the client, or of its transport (httpx or a fork)."""
    names = {cls.__name__ for cls in type(error).__mro__}
    return _is_transport_error(error) or bool(names & {"APIConnectionError", "ConnectionError"})


def _is_transport_error(error: BaseException) -> bool:
    return any(cls.__module__.split(".")[0].startswith(("httpx", "httpcore")) for cls in type(error).__mro__)


def _error_object(body: object) -> dict[str, object]:
    """Return the error object of an API error's body: the value of `error`, else the body itself; empty without
    either."""
    if not isinstance(body, dict):
        return {}
    inner = body.get("error")
    return inner if isinstance(inner, dict) else body


def _without_secrets(text: str, secrets: Collection[str]) -> str:
    for secret in secrets:
        word = re.escape(secret) if len(secret) >= SHORTEST_KEY else rf"(?<!\w){re.escape(secret)}(?!\w)"
        text = re.sub(word, MASK, text)
    return error_line(text).rstrip(". ")
