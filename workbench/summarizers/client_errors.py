"""What a model's client raises, as what to do about it and one sentence without secrets.

The clients' classes are not imported here: errors are judged by status, type and text, which also holds for the errors
that servers other than Anthropic's send, for those inside a stream (status 200), and for older clients.
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
    """Whom a client talks to: its address as it may be shown, what it could echo and nobody may see, and where a person
    sets its address and key."""

    address: str = "the server"
    secrets: tuple[str, ...] = ()
    address_from: str = "ANTHROPIC_BASE_URL"
    key_from: str = "ANTHROPIC_API_KEY or the client's sign-in"
    adds_v1: bool = True


class CallFailure(Struct, frozen=True):
    """`remedy` says what may be tried; `kind` and `sentence` are the failure if nothing helps.

    `wait_s` is what the server asked for, None if it did not; `field` the parameter to leave out (remedy "adapt");
    `room` the share of the prompt that the server's own figures leave (remedy "shrink"), None if it gave none. `broke`:
    the server did not refuse, but was heard no more, so that it may bill what it did all the same.
    """

    kind: FailureKind
    sentence: str
    remedy: Remedy = "none"
    wait_s: float | None = None
    field: str = ""
    room: float | None = None
    broke: bool = False


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
"""Parameters that some models refuse and that a summary can do without, as refusals name them: a gateway translates
"thinking" for other servers, and names its translation; who wants `max_completion_tokens` refuses `max_tokens`."""

_PERMANENT = frozenset(["insufficient_quota", "billing_hard_limit_reached"])
"""What is told with a status of passing trouble and does not pass."""

_TRANSIENT_TYPES = frozenset(
    ["overloaded_error", "api_error", "rate_limit_error", "timeout_error", "server_error", "rate_limit_exceeded"]
)


SHORTEST_KEY = 8
"""Characters below which a key is blacked out as a word alone: where a server asks for none, any word stands for it,
and `x` is in many others."""

_BEFORE_CONNECTING = frozenset(["ConnectError", "ConnectTimeout", "PoolTimeout"])
"""What a transport raises before anything is sent."""


_UNREADABLE = (AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What the clients, and the code here that reads what they give, raise for JSON of another shape."""


def classify_error(error: Exception, server: Server = Server()) -> CallFailure:
    """What to do about an error of the client. Secrets are blacked out wherever the server echoes them."""
    if bound := next((one for one in _chain(error) if isinstance(one, OutOfBounds)), None):
        return _bounds_failure(bound, server)
    status = getattr(error, "status_code", None)
    body = _error_object(getattr(error, "body", None))
    code = str(body.get("code") or "")
    kind = code if code in _PERMANENT else str(body.get("type") or getattr(error, "type", None) or code)
    said = _without_secrets(str(body.get("message") or getattr(error, "message", None) or error), server.secrets)
    if isinstance(status, int):
        return _status_failure(status, kind, said, getattr(getattr(error, "response", None), "headers", {}), server)
    if _is_connection_error(error):
        return _connection_failure(error, server)
    if body:  # a stream that tells of an error has no status
        return stream_failure(kind, said, server)
    if isinstance(error, _UNREADABLE):
        why = f"{server.address} sends a response its client cannot read ({type(error).__name__}: {said})"
        return CallFailure("error", f"{_without_secrets(why, server.secrets)}; check {server.address_from}", broke=True)
    return CallFailure("error", _without_secrets(f"{type(error).__name__}: {said}", server.secrets))


def stream_failure(kind: str, said: str, server: Server) -> CallFailure:
    """What to do about an error that a stream tells of."""
    return _status_failure(200, kind, _without_secrets(said, server.secrets), {}, server)


def _bounds_failure(bound: OutOfBounds, server: Server) -> CallFailure:
    """An answer that is read no further. The status of an error still says what to do about it."""
    what = _without_secrets(bound.what, server.secrets)
    if bound.status >= 300:
        return _status_failure(bound.status, "", f"{what}; stopped reading", bound.headers, server)
    sentence = f"{server.address} sends {what}; stopped reading; check {server.address_from}"
    return CallFailure("error", sentence, broke=True)


def _connection_failure(error: Exception, server: Server) -> CallFailure:
    """A broken connection is worth another try; one that cannot be made is told at once."""
    chain = _chain(error)
    system = [one for one in chain if isinstance(one, OSError) and one.strerror]
    told = (
        system[-1].strerror if system else next((str(one) for one in reversed(chain) if _is_transport_error(one)), "")
    )
    why = _without_secrets(told or type(error).__name__, server.secrets)
    if any(map(_is_permanent, chain)):
        return _unreachable(why, server)
    broke = not any(type(one).__name__ in _BEFORE_CONNECTING for one in chain)
    return CallFailure("error", f"the connection to {server.address} failed ({why})", "retry", broke=broke)


def _unreachable(why: str, server: Server) -> CallFailure:
    remedy = f"check {server.address_from}, the network and its proxy"
    return CallFailure("error", f"{server.address} cannot be reached ({why}); {remedy}")


def _chain(error: BaseException) -> list[BaseException]:
    """The error, and what it came from: a client tells no cause in its own words."""
    found = [error]
    while (cause := found[-1].__cause__ or found[-1].__context__) is not None and cause not in found:
        found.append(cause)
    return found


def _is_permanent(error: BaseException) -> bool:
    """Whether another try would meet the same: no such host, nobody who listens, no such protocol, a bad header."""
    if isinstance(error, socket.gaierror):
        return error.errno != socket.EAI_AGAIN
    if isinstance(error, ConnectionRefusedError | ssl.SSLCertVerificationError):
        return True
    return type(error).__name__ in ("UnsupportedProtocol", "LocalProtocolError", "ProxyError", "InvalidURL")


def _status_failure(status: int, kind: str, said: str, headers: Mapping[str, str], server: Server) -> CallFailure:
    if 300 <= status < 400:
        there = _without_secrets(urlsplit(headers.get("location", "")).netloc.rpartition("@")[2], server.secrets)
        return CallFailure(
            "error",
            f"{server.address} sends calls on to {there or 'another address'} ({status}); nothing was sent there: "
            f"name it in {server.address_from} if it is to have the session",
        )
    if status == 407:  # of a proxy for http; one for https breaks the connection instead
        return _unreachable("407 Proxy Authentication Required", server)
    where = f"{status} {kind}".strip() if status != 200 else kind or "error in the stream"
    if status == 413 or (status in (400, 422, 200, 500) and _TOO_LONG.search(f"{kind} {said}")):
        return CallFailure(
            "overflow", f"the prompt is too long for the model ({where}: {said})", "shrink", room=_share_that_fits(said)
        )
    if status in (400, 422):
        for field, names in _OPTIONAL.items():
            if any(name in said.lower() for name in names):
                return CallFailure("error", f"the server refused {field} ({where}: {said})", "adapt", field=field)
    if status in (401, 403):
        remedy = f"check {server.key_from}"
        return CallFailure("error", f"the server refused the credentials ({where}: {said}); {remedy}")
    if status == 404:
        remedy = "choose another model"
        if server.address.endswith("/v1") and server.adds_v1:
            remedy = f"{server.address_from} ends with /v1, which the client adds itself"
        return CallFailure("error", f"the server does not know this model or address ({where}: {said}); {remedy}")
    wait = retry_after(headers)
    wish = str(headers.get("x-should-retry", "")).lower()
    transient = status in (408, 409, 429) or status >= 500 or (status == 200 and kind in _TRANSIENT_TYPES)
    if kind not in _PERMANENT and (wish == "true" or (transient and wish != "false")):
        return CallFailure("error", f"{_transient_reason(status, kind)} ({where}: {said})", "retry", wait_s=wait)
    return CallFailure("error", f"the server refused the request ({where}: {said})")


def _transient_reason(status: int, kind: str) -> str:
    if status == 429 or kind == "rate_limit_error":
        return "the rate limit is reached"
    if status == 529 or kind == "overloaded_error":
        return "the server is overloaded"
    return "the server failed"


def _share_that_fits(said: str) -> float | None:
    """The share of the prompt that would fit, by the figures in the server's own words."""
    if figures := _FIGURES.search(said):
        return _number(figures["most"]) / _number(figures["had"])
    if figures := _SUM.search(said):
        return max(0.0, _number(figures["most"]) - _number(figures["answer"])) / _number(figures["had"])
    if asked := _LENGTH_FIGURES.search(said):
        answer = _COMPLETION.search(said)
        written = _number(answer["answer"]) if answer else 0
        return max(0.0, _number(asked["most"]) - written) / max(1, _number(asked["had"]) - written)
    return None


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that `retry-after-ms` or `retry-after` (seconds or a date) ask for, never negative; None without one."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers[name]) / unit)
        except (KeyError, ValueError):
            continue
    date = email.utils.parsedate_tz(headers.get("retry-after"))
    return max(0.0, email.utils.mktime_tz(date) - time.time()) if date else None


def _is_connection_error(error: Exception) -> bool:
    """Whether the network failed: the client's own class, or its transport's (httpx, under whatever name)."""
    names = {cls.__name__ for cls in type(error).__mro__}
    return _is_transport_error(error) or bool(names & {"APIConnectionError", "ConnectionError"})


def _is_transport_error(error: BaseException) -> bool:
    return any(cls.__module__.split(".")[0].startswith(("httpx", "httpcore")) for cls in type(error).__mro__)


def _error_object(body: object) -> dict[str, object]:
    """The `error` object of an API error's body, in either of the two depths that clients give."""
    if not isinstance(body, dict):
        return {}
    inner = body.get("error")
    return inner if isinstance(inner, dict) else body


def _without_secrets(text: str, secrets: Collection[str]) -> str:
    for secret in secrets:
        word = re.escape(secret) if len(secret) >= SHORTEST_KEY else rf"(?<!\w){re.escape(secret)}(?!\w)"
        text = re.sub(word, MASK, text)
    return error_line(text).rstrip(". ")
