"""Windows and prices of models from the package `genai-prices`, whose maintainers check them against the makers' pages.

Importing it takes a fifth of a second, so its figures are cached, once per version. It could update itself over the
network; that is never used.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.files import make_folder, write_atomically

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice

NAME = "genai-prices"

MAKERS = (
    "anthropic", "openai", "google", "x-ai", "deepseek", "mistral", "moonshotai", "zai", "zhipuai", "minimax", "cohere",
    "meta",
)  # fmt: skip
"""Providers that make their models; only their windows and prices are used."""

_PRICES = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cache_read": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
}


@dataclass(frozen=True, slots=True)
class Packaged:
    """Models of the package by id, with fields as in models.toml. `version`: the package's, "" if it is not
    installed."""

    version: str = ""
    models: Mapping[str, dict[str, Any]] = field(default_factory=dict)


@cache
def packaged() -> Packaged:
    """Figures of the installed package, read once per process."""
    return packaged_by(paths.packaged_models())


def packaged_by(cache_file: Path) -> Packaged:
    """Figures of the installed package, cached in `cache_file`."""
    spec = find_spec(NAME.replace("-", "_"))
    if spec is None or spec.origin is None:
        return Packaged()
    data = (Path(spec.origin).parent / "data.py").stat()
    stamp = f"{data.st_mtime_ns}-{data.st_size}"
    try:
        known = json.loads(cache_file.read_bytes())
        if known["stamp"] == stamp:
            return Packaged(known["version"], known["models"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    found = _read_package()
    with suppress(BadInput):  # the package is read again the next time
        keep(cache_file, stamp, found)
    return found


def keep(cache_file: Path, stamp: str, found: Packaged) -> None:
    """Write the cache; `stamp` identifies the installed package. Raises BadInput if it cannot be written."""
    make_folder(cache_file.parent)
    document = {"stamp": stamp, "version": found.version, "models": found.models}
    write_atomically(cache_file, json.dumps(document).encode(), overwrite=True)


def _read_package() -> Packaged:
    from genai_prices import __version__
    from genai_prices.data_snapshot import get_snapshot

    makers = {provider.id: provider for provider in get_snapshot().providers}
    models: dict[str, dict[str, Any]] = {}
    for maker in MAKERS:
        for model in makers[maker].models if maker in makers else ():
            id = model.id.lower()
            models[id] = {**_entry(model), **models.get(id, {})}
    return Packaged(__version__, models)


def _entry(model: ModelInfo) -> dict[str, Any]:
    entry: dict[str, Any] = {"title": model.name or model.id}
    if model.context_window:
        entry["window"] = model.context_window
    price = _todays_price(model)
    if price is None:
        return entry
    usual, long, start = {}, {}, None
    for name, key in _PRICES.items():
        value = getattr(price, key, None)
        tiers = getattr(value, "tiers", None)
        if value is not None:
            usual[name] = float(value.base if tiers else value)
            long[name] = float(tiers[0].price) if tiers else usual[name]
            start = tiers[0].start if tiers else start
    if {"input", "output"} <= usual.keys():
        entry["prices"] = usual
        if start is not None:
            entry |= {"long_from": start, "long_prices": long}
    return entry


def _todays_price(model: ModelInfo) -> ModelPrice | None:
    """Today's prices of a model, None if it has none. Prices that are limited to certain hours are used only if no
    others apply."""
    prices = model.prices
    if not isinstance(prices, list):
        return prices
    today = datetime.now(UTC).date()
    for one in reversed(prices):
        since = getattr(one.constraint, "start_date", None)
        if one.constraint is None or (since is not None and since <= today):
            return one.prices
    return prices[0].prices if prices else None
