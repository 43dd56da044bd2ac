"""List of a server's models with their context windows, cached on disk for a day per server."""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.figures import grouped
from workbench.base.files import make_folder, write_atomically
from workbench.base.values import json_of
from workbench.summarizers.bounds import OutOfBounds
from workbench.summarizers.client_errors import classify_error
from workbench.summarizers.connections import DEFAULT, Connection, connection_named
from workbench.summarizers.live import PROTOCOLS
from workbench.summarizers.protocols.usage import MAX_TOKENS
from workbench.tokens import ModelInfo, find_model

FRESH_S = 86_400
"""Age up to which a cached list is used, in seconds."""

TIMEOUT_S = 30.0

MOST_MODELS = 10_000


class OfferedModel(BaseModel):
    """A model offered by the server. Windows in tokens; None if neither server nor table has them."""

    model_config = ConfigDict(frozen=True)

    id: str
    title: str = ""
    window: int | None = None
    max_output: int | None = None


class ModelList(BaseModel):
    """List of models, fetched at `time` (seconds since 1970, UTC)."""

    model_config = ConfigDict(frozen=True)

    time: float
    models: tuple[OfferedModel, ...]


@dataclass(frozen=True, slots=True)
class ModelChoices:
    """Models to choose from, the age of the list in seconds, and why it could not be renewed ("" if it could)."""

    models: tuple[OfferedModel, ...]
    age_s: float | None
    trouble: str = ""


async def model_choices(connection: Connection | None = None) -> ModelChoices:
    """Return the server's models from a fresh cache, else from the API. A missing server is no error: the result has
    the reason, and the user may type a model."""
    cached = cached_models(connection)
    if cached is not None and 0 <= time.time() - cached.time < FRESH_S:
        return ModelChoices(cached.models, time.time() - cached.time)
    try:
        fresh = await fetch_models(connection)
    except BadInput as error:
        old = time.time() - cached.time if cached else None
        return ModelChoices(cached.models if cached else (), old, str(error))
    return ModelChoices(fresh.models, 0.0)


def cached_models(connection: Connection | None = None) -> ModelList | None:
    """Return the cached list of any age; None if it is missing or damaged."""
    try:
        return ModelList.model_validate_json(cache_path(connection).read_bytes())
    except (OSError, ValidationError):
        return None


async def fetch_models(connection: Connection | None = None) -> ModelList:
    """Fetch the server's list, by default Anthropic's, and cache it. Raises BadInput with one sentence if that fails.

    A list that cannot be cached is still returned.
    """
    connection_used = connection or connection_named(DEFAULT)
    protocol = PROTOCOLS[connection_used.protocol]
    async with await protocol.connect(connection_used, TIMEOUT_S) as client:
        try:
            listed = client.models.list(limit=1000) if connection_used.protocol == "messages" else client.models.list()
            offered = list[OfferedModel]()
            async for entry in listed:  # page by page, as many as the server has
                if len(offered) == MOST_MODELS:
                    raise OutOfBounds(f"a list of more than {grouped(MOST_MODELS)} models")
                offered.append(_offered_model(entry))
        except Exception as error:
            # Any client error becomes one sentence, and the cached list stays.
            trouble = classify_error(error, protocol.server_of(client, connection_used))
            raise BadInput(f"The list of models failed: {trouble.sentence}.") from None
    found = ModelList(time=time.time(), models=tuple(offered))
    with suppress(BadInput):
        save_models(found, connection_used)
    return found


def save_models(found: ModelList, connection: Connection | None = None) -> None:
    """Cache a list. Raises BadInput if that fails."""
    path = cache_path(connection)
    make_folder(path.parent)
    write_atomically(path, json_of(found), overwrite=True)


def cache_path(connection: Connection | None = None) -> Path:
    """Return the cache file of a server. Its address is hashed, because it may hold a password."""
    connection_used = connection or connection_named(DEFAULT)
    server = connection_used.base_url or os.environ.get(connection_used.address_source, "")
    server = server if connection_used.name == DEFAULT else f"{connection_used.name} {server}"
    name = hashlib.blake2b(server.encode(), digest_size=6).hexdigest()
    return paths.cache() / f"models-{name}.json"


def _offered_model(entry: Any) -> OfferedModel:
    """Return a model with the server's figures, completed from the dated table."""
    info: ModelInfo | None = find_model(str(entry.id))
    return OfferedModel(
        id=str(entry.id),
        title=str(getattr(entry, "display_name", None) or (info.title if info else entry.id)),
        window=_positive_count(entry, *_WINDOWS) or (info.window if info else None),
        max_output=_positive_count(entry, "max_tokens") or (info.max_output if info else None),
    )


_WINDOWS = ("max_input_tokens", "context_length", "max_model_len", "context_window")
"""Fields with a model's window, at Anthropic, OpenRouter, vLLM and Groq."""


def _positive_count(entry: Any, *names: str) -> int | None:
    values = (getattr(entry, name, None) for name in names)
    return next((value for value in values if type(value) is int and 0 < value <= MAX_TOKENS), None)
