"""The official Anthropic client, opened for one call and closed after it.

The client finds its key itself: ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, or its own configuration; ANTHROPIC_BASE_URL
leads it to another server that speaks the same API. This program never asks for a key, keeps none and shows none.
"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from workbench.base.errors import BadInput
from workbench.summarizers.anthropic_errors import Server, trouble_of

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

NO_KEY = (
    "There is no key for the Anthropic API; set ANTHROPIC_API_KEY (or sign in with the client's own configuration) "
    "and try again."
)
_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")


async def connect(timeout_s: float) -> AsyncAnthropic:
    """A client that neither retries nor waits longer than `timeout_s` seconds for any byte; use it as a context.

    Opened in a thread: the import takes seconds and reads certificates. Raises BadInput without credentials.
    """
    return await asyncio.to_thread(_open, timeout_s)


def _open(timeout_s: float) -> AsyncAnthropic:
    from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient

    try:
        # A redirect would carry the session to a host that nobody named.
        http = DefaultAsyncHttpxClient(follow_redirects=False)
        client = AsyncAnthropic(max_retries=0, timeout=timeout_s, http_client=http)
    except Exception as error:
        # Proxies, certificates, addresses: the client and its transport raise whatever they like while they start.
        why = trouble_of(error, Server(secrets=_in_environment())).sentence
        raise BadInput(f"The Anthropic client cannot start: {why}.") from None
    if not (client.api_key or client.auth_token or getattr(client, "credentials", None)):
        raise BadInput(NO_KEY)
    return client


def server_of(client: AsyncAnthropic) -> Server:
    """Whom it talks to, and every secret that it could send and the server could echo."""
    url = client.base_url
    known = (client.api_key, client.auth_token, url.password, *_in_environment())
    address = str(url.copy_with(username=None, password=None, query=None)).rstrip("/")
    return Server(address, tuple(secret for secret in dict.fromkeys(known) if secret))


def _in_environment() -> tuple[str, ...]:
    """Keys, and the values of headers that the user has the client send, where they are long enough to be secrets."""
    lines = os.environ.get("ANTHROPIC_CUSTOM_HEADERS", "").splitlines()
    values = [os.environ.get(name, "") for name in _KEYS]
    values += [value for line in lines if len(value := line.partition(":")[2].strip()) >= 8]
    return tuple(filter(None, values))
