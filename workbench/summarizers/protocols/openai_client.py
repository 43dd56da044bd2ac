"""The official OpenAI client, opened for one call. It is an optional dependency, imported when used."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from workbench.base.errors import BadInput
from workbench.session import Usage
from workbench.summarizers.client_errors import Server
from workbench.summarizers.connections import Connection, headers_in, key_of, secrets_in
from workbench.summarizers.protocols.client import NO_KEY, server_info, start_client
from workbench.summarizers.protocols.usage import field_of, token_figure

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_HEADERS = "OPENAI_CUSTOM_HEADERS"
_OWN_HEADERS = ("OpenAI-Organization", "OpenAI-Project")


async def open_client(connection: Connection, timeout_s: float) -> AsyncOpenAI:
    """Open a client without retries and redirects, with `timeout_s` seconds for any byte; use it as a context. Opened
    in a thread, because the import takes seconds. Raises BadInput without the package or a key."""
    return await asyncio.to_thread(_open, connection, timeout_s)


def _open(connection: Connection, timeout_s: float) -> AsyncOpenAI:
    key = key_of(connection) or NO_KEY
    try:
        import openai
    except ImportError:
        raise BadInput(
            f"{connection.name} speaks OpenAI's protocol, which needs a package; pip install "
            "'compaction-workbench[openai]'."
        ) from None
    client: AsyncOpenAI = start_client(
        openai, "AsyncOpenAI", connection, key, (*_OWN_HEADERS, *headers_in(_HEADERS)), (key,), timeout_s
    )
    return client


def server_of(client: AsyncOpenAI, connection: Connection) -> Server:
    """Return the client's server, with all secrets that it could echo."""
    return server_info(client, connection, (client.api_key, *secrets_in(headers_in(_HEADERS))), adds_v1=False)


def usage_of(billed: object, input_field: str, output_field: str, details: str) -> Usage:
    """Convert the client's usage. `input_field` and `output_field` name its fields for tokens in and out, `details` the
    field for cached input tokens. Output includes thinking. Raises ImpossibleUsage."""
    cached = token_figure(field_of(billed, details), "cached_tokens") or 0
    return Usage(
        input=max(0, (token_figure(billed, input_field) or 0) - cached),
        output=token_figure(billed, output_field) or 0,
        cache_read=cached,
    )
