"""What the package `genai-prices` knows of models: windows and prices that its keepers hold current, checked against
the makers' pages.

It is asked once for each of its versions, for it takes a fifth of a second to import; what it said is kept in the
cache. It could renew itself over the network and is never told to.
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
"""Who makes models and sells them: theirs are the prices and windows. Of resellers' the first word is the maker's."""

_PRICES = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cache_read": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
}


@dataclass(frozen=True, slots=True)
class Packaged:
    """The package's `version`, "" where it is not installed, and its models by id: fields as in models.toml."""

    version: str = ""
    models: Mapping[str, dict[str, Any]] = field(default_factory=dict)


@cache
def packaged() -> Packaged:
    """What the installed package says. Read once per process."""
    return packaged_by(paths.packaged_models())


def packaged_by(kept: Path) -> Packaged:
    """What the installed package says; `kept` is the file in which that is kept."""
    spec = find_spec(NAME.replace("-", "_"))
    if spec is None or spec.origin is None:
        return Packaged()
    data = (Path(spec.origin).parent / "data.py").stat()
    stamp = f"{data.st_mtime_ns}-{data.st_size}"
    try:
        known = json.loads(kept.read_bytes())
        if known["stamp"] == stamp:
            return Packaged(known["version"], known["models"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    found = _asked()
    with suppress(BadInput):  # it is asked again the next time
        keep(kept, stamp, found)
    return found


def keep(kept: Path, stamp: str, found: Packaged) -> None:
    """Raises BadInput where it cannot be. `stamp` stands for the package as it lies here."""
    make_folder(kept.parent)
    document = {"stamp": stamp, "version": found.version, "models": found.models}
    write_atomically(kept, json.dumps(document).encode(), overwrite=True)


def _asked() -> Packaged:
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
    price = _now(model)
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


def _now(model: ModelInfo) -> ModelPrice | None:
    """The prices of today; those of certain hours are nobody's usual ones."""
    prices = model.prices
    if not isinstance(prices, list):
        return prices
    today = datetime.now(UTC).date()
    for one in reversed(prices):
        since = getattr(one.constraint, "start_date", None)
        if one.constraint is None or (since is not None and since <= today):
            return one.prices
    return prices[0].prices if prices else None
