"""The official OpenAI client, opened for one call and closed after it: of an extra, imported when it is used.

A connection with an address of its own gets nothing of the environment: no key and no header of OpenAI's goes to a
server that they are not for.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import orjson

from workbench.base.errors import BadInput
from workbench.session import Usage
from workbench.summarizers.connections import Connection, headers_in, key_of, secrets_in
from workbench.summarizers.troubles import Server, trouble_of

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_NO_KEY = "none"
"""What a server without keys is sent as one: the client goes nowhere without."""

_HEADERS = "OPENAI_CUSTOM_HEADERS"
_OWN_HEADERS = ("OpenAI-Organization", "OpenAI-Project")


async def opened(connection: Connection, timeout_s: float) -> AsyncOpenAI:
    """A client that neither retries, follows nor waits longer than `timeout_s` seconds for any byte; use it as a
    context. Opened in a thread: the import takes seconds. Raises BadInput without the package or a key."""
    return await asyncio.to_thread(_open, connection, timeout_s)


def _open(connection: Connection, timeout_s: float) -> AsyncOpenAI:
    key = key_of(connection) or _NO_KEY
    try:
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Omit
    except ImportError:
        raise BadInput(
            f"{connection.name} speaks OpenAI's protocol, which needs a package; pip install "
            "'compaction-workbench[openai]'."
        ) from None
    foreign = () if connection.own else (*_OWN_HEADERS, *headers_in(_HEADERS))
    headers: Any = {**{name: Omit() for name in foreign}, **connection.headers}
    try:
        # A redirect would carry the session to a host that nobody named.
        http = DefaultAsyncHttpxClient(follow_redirects=False)
        return AsyncOpenAI(
            api_key=key,
            base_url=connection.base_url or None,
            default_headers=headers or None,
            max_retries=0,
            timeout=timeout_s,
            http_client=http,
        )
    except Exception as error:
        # Proxies, certificates, addresses: the client and its transport raise whatever they like while they start.
        why = trouble_of(error, Server(secrets=(key,), address_from=connection.address_from)).sentence
        raise BadInput(f"The OpenAI client cannot start: {why}.") from None


def server_of(client: AsyncOpenAI, connection: Connection) -> Server:
    """Whom it talks to, and every secret that it could send and the server could echo."""
    url = client.base_url
    known = (client.api_key, url.password, *secrets_in(headers_in(_HEADERS)))
    secrets = tuple(secret for secret in dict.fromkeys(known) if secret and secret != _NO_KEY)
    address = str(url.copy_with(username=None, password=None, query=None)).rstrip("/")
    return Server(address, secrets, connection.address_from, connection.key_from, adds_v1=False)


def document_of(data: bytes) -> dict[str, Any]:
    """An answer that came in one piece, as the server wrote it: many servers leave out what the client's models demand.
    Empty where it is no JSON object."""
    try:
        document = orjson.loads(data)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def usage_of(billed: object, took: str, wrote: str, details: str) -> Usage:
    """The client's usage as ours: `took` and `wrote` are its fields for tokens in and out, `details` that for what of
    the former the cache gave. Tokens of thinking are among those that were written."""
    cached = _figure(getattr(billed, details, None), "cached_tokens")
    return Usage(input=max(0, _figure(billed, took) - cached), output=_figure(billed, wrote), cache_read=cached)


def _figure(of: object, name: str) -> int:
    value = getattr(of, name, None)
    return value if isinstance(value, int) and value > 0 else 0
