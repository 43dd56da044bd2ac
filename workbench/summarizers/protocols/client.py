"""An official client, opened for one call: what Anthropic's and OpenAI's have in common.

A connection with an address of its own gets nothing of the environment: no key and no header goes to a server that they
are not for.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from workbench.base.errors import BadInput
from workbench.summarizers.bounds import ENCODING, bound_response
from workbench.summarizers.client_errors import Server, classify_error
from workbench.summarizers.connections import BAD_ADDRESS, Connection, is_address

NO_KEY = "none"
"""What a server without keys is sent as one: the clients go nowhere without."""


def start_client(
    sdk: ModuleType, kind: str, connection: Connection, key: str | None, foreign: Iterable[str],
    secrets: tuple[str, ...], timeout_s: float,
) -> Any:  # fmt: skip
    """The client `kind` of the package `sdk`, which neither retries nor waits longer than `timeout_s` seconds for any
    byte, nor reads more of an answer than its bounds. With `key` None it looks for one itself; of the `foreign` headers
    none goes to an address of the connection's own. Raises BadInput, without `secrets`, where it cannot start."""
    if not is_address(connection.url):  # the client would say so with half of it, which may be half of a password
        raise BadInput(f"The client of {connection.name} cannot start: {connection.address_from} {BAD_ADDRESS}.")
    headers: Any = {
        "Accept-Encoding": ENCODING,
        **({} if connection.own else {name: sdk.Omit() for name in foreign}),
        **connection.headers,
    }
    try:
        return getattr(sdk, kind)(
            api_key=key,
            base_url=connection.base_url or None,
            default_headers=headers,
            max_retries=0,
            timeout=timeout_s,
            # A redirect would carry the session to a host that nobody named.
            http_client=sdk.DefaultAsyncHttpxClient(follow_redirects=False, event_hooks={"response": [bound_response]}),
        )
    except Exception as error:
        # Proxies, certificates, addresses: the client and its transport raise whatever they like while they start.
        why = classify_error(error, Server(secrets=secrets, address_from=connection.address_from)).sentence
        if isinstance(error, OSError) and (file := os.environ.get("SSL_CERT_FILE")):  # which the error does not name
            why = f"SSL_CERT_FILE names {file}, whose certificates cannot be read ({error.strerror})"
        raise BadInput(f"The client of {connection.name} cannot start: {why}.") from None


def json_document(data: bytes) -> dict[str, Any]:
    """An answer that came in one piece, as the server wrote it: many servers leave out what the client's models demand.
    Empty where it is no JSON object."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def server_info(client: Any, connection: Connection, known: Iterable[str | None], *, adds_v1: bool) -> Server:
    """Whom a client talks to; `known` are the secrets that it could send and the server could echo."""
    url = client.base_url
    secrets = tuple(one for one in dict.fromkeys((*known, url.password)) if one and one != NO_KEY)
    address = str(url.copy_with(username=None, password=None, query=None)).rstrip("/")
    return Server(address, secrets, connection.address_from, connection.key_from, adds_v1)
