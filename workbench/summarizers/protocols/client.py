"""Opening of an official client for one call, common to Anthropic's and OpenAI's.

A connection with an address of its own gets nothing from the environment: no key or header goes to a server it is not
for.
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
"""Key sent to a server without keys, because the clients require one."""


def start_client(
    sdk: ModuleType, kind: str, connection: Connection, key: str | None, foreign: Iterable[str],
    secrets: tuple[str, ...], timeout_s: float,
) -> Any:  # fmt: skip
    """Start the client class `kind` of the package `sdk`, without retries and with bounds on answers. `timeout_s`:
    seconds to wait for each byte. With `key` None the client finds one itself. `foreign`: headers
    not sent to a connection's own address. Raises BadInput, without `secrets`, if the client cannot start."""
    if not is_address(connection.url):  # the client's message would contain half of it, perhaps half of a password
        raise BadInput(f"The client of {connection.name} cannot start: {connection.address_source} {BAD_ADDRESS}.")
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
            # A redirect would send the session to a host that the user did not name.
            http_client=sdk.DefaultAsyncHttpxClient(follow_redirects=False, event_hooks={"response": [bound_response]}),
        )
    except Exception as error:
        # Proxies, certificates, addresses: clients and transports raise many errors while starting.
        why = classify_error(error, Server(secrets=secrets, address_source=connection.address_source)).sentence
        if isinstance(error, OSError) and (file := os.environ.get("SSL_CERT_FILE")):  # which the error does not name
            why = f"SSL_CERT_FILE names {file}, whose certificates cannot be read ({error.strerror})"
        raise BadInput(f"The client of {connection.name} cannot start: {why}.") from None


def json_document(data: bytes) -> dict[str, Any]:
    """Decode an answer that was not streamed. The client's models are not used, because many servers omit fields that
    these require. Empty if it is no JSON object."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def server_info(client: Any, connection: Connection, secrets_known: Iterable[str | None], *, adds_v1: bool) -> Server:
    """Return the server of a client; `secrets_known` are those that it could send and the server could echo."""
    url = client.base_url
    secrets = tuple(one for one in dict.fromkeys((*secrets_known, url.password)) if one and one != NO_KEY)
    address = str(url.copy_with(username=None, password=None, query=None)).rstrip("/")
    return Server(address, secrets, connection.address_source, connection.key_source, adds_v1)
