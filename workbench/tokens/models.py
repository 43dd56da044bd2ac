"""Context windows, output limits and prices of models.

They come from the package `genai-prices` (`packaged.py`), overridden by the bundled table `models.toml` and that by a
file of the same name in the user's settings folder, field by field. A model in none of them is unknown.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from os.path import isfile
from pathlib import Path
from typing import Any

from msgspec import Struct

from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.tokens.packaged import NAME, Packaged, packaged

_NO_PACKAGE = Packaged()

BUNDLED = Path(__file__).resolve().parent / "models.toml"


class Prices(Struct, frozen=True):
    """US dollars per million tokens; None if unknown. `cache_write`: cached for 5 minutes."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """One model. `window`: context window in tokens, prompt and output together. `max_output`: tokens of the longest
    answer. `source`: source of the prices.

    `long_window`: larger window that must be requested ("[1m]"). `long_prices`: prices of all tokens of a request whose
    prompt is longer than `long_from` tokens.
    """

    id: str
    title: str
    window: int
    max_output: int | None = None
    prices: Prices | None = None
    long_window: int | None = None
    long_from: int | None = None
    long_prices: Prices | None = None
    aliases: tuple[str, ...] = ()
    source: str = "the table of models"


_PROVIDER = re.compile(r"^(?:[a-z-]+\.)*(?:anthropic|openai|google|amazon)\.")
_VARIANT = re.compile(r"(?::[a-z0-9]+|\[[a-z0-9]+\]|-v\d+:\d+)+$")
_DATED = re.compile(r"(?:-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest|exp|preview(?:-\d{2}-\d{2,4})?|00\d|v\d|thinking|fast))*")
"""Suffixes of an id that do not make it a different model. A version number would."""


_UNDATED = re.compile(r"-(?:latest|preview|0)$")
"""Endings of the package's ids that the table omits."""


def plain_name(model: str) -> str:
    """Name of a model without the provider's prefix and variant suffix: "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
    and "openrouter/anthropic/claude-sonnet-4.5:beta" both begin with "claude-sonnet-4"."""
    name = model.strip().lower().rpartition("/")[2]
    return _VARIANT.sub("", _PROVIDER.sub("", name)).replace("@", "-")


def find(model: str | None) -> ModelInfo | None:
    """Return a model by any name that a provider uses for it, None if unknown.

    A name ending in "[1m]" gets the entry with its long window. Raises BadInput for a broken user table.
    """
    return _found(model or "", tables())


def tables() -> tuple[Path, ...]:
    """Files of the tables in force."""
    return _tables(paths.models())


@lru_cache(maxsize=1_024)
def _found(model: str, tables: tuple[Path, ...]) -> ModelInfo | None:
    info = _named(_key(plain_name(model)), _known(tables))
    return _lengthened(info) if info and model.lower().rstrip().endswith("[1m]") else info


def all_models() -> tuple[ModelInfo, ...]:
    """Every model of the table, the user's included, in its order. Raises BadInput for a broken user table."""
    return read_table(*tables(), package=packaged())


def sources() -> str:
    """Sources of windows and prices in words: the package with its version, the table with its date."""
    dated = BUNDLED.read_text(encoding="utf-8").partition("As of ")[2][:10]
    return f"{NAME} {packaged().version}, and a table of {dated} for what that lacks"


def read_table(*paths: Path, package: Packaged = _NO_PACKAGE) -> tuple[ModelInfo, ...]:
    """Merge tables and package by field, later tables over earlier ones and over the package. Raises BadInput with file
    and field."""
    packaged = {_UNDATED.sub("", _key(id)): entry for id, entry in package.models.items()}
    merged: dict[str, dict[str, Any]] = {}
    sources: dict[str, str] = {}
    for path in paths:
        for number, entry in enumerate(_entries(path), 1):
            id = entry.get("id")
            if not isinstance(id, str) or not id:
                raise BadInput(f'{path}: [[model]] number {number} has no id; give it one, such as "claude-opus-5-5".')
            under = merged.get(id)
            if under is None:
                names = map(_key, (id, *_texts(entry.get("aliases"))))
                under = next((packaged[name] for name in names if name in packaged), {})
                sources[id] = NAME if "prices" in under else "nobody"
            if "prices" in entry:
                sources[id] = "the table of models" if path == BUNDLED else "your table of models"
            whole = {"title": id, **under, **entry}
            if path == BUNDLED and "window" not in whole:
                continue  # the window came from the package, which no longer has the model
            merged[id] = _checked(whole, path)
    return tuple(replace(_info(entry), source=sources[id]) for id, entry in merged.items())


@cache
def _known(tables: tuple[Path, ...]) -> Mapping[str, ModelInfo]:
    """Models by id and alias, with hyphens for dots: those of the tables, and those that only the package has. Read
    once per process."""
    package = packaged()
    known = {_key(name): info for info in read_table(*tables, package=package) for name in (*info.aliases, info.id)}
    for id, entry in package.models.items():
        if "window" in entry and "prices" in entry and _named(_key(id), known) is None:
            known[_key(id)] = replace(_info({"id": id, **entry}), source=NAME)
    return known


def _named(name: str, known: Mapping[str, ModelInfo]) -> ModelInfo | None:
    """Model whose id is `name`, or the beginning of `name` before a suffix that does not make it a different model;
    None without one."""
    ends = (end for end in range(len(name), 0, -1) if end == len(name) or name[end] == "-")
    return next((known[name[:end]] for end in ends if name[:end] in known and _DATED.fullmatch(name, end)), None)


def _tables(user: Path) -> tuple[Path, ...]:
    return (BUNDLED, user) if isfile(user) else (BUNDLED,)


def _key(name: str) -> str:
    return name.lower().replace(".", "-")


def _texts(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _entries(path: Path) -> Iterable[Mapping[str, Any]]:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"{path}: the table of models cannot be read ({error}); correct or remove it.") from error
    entries = document.get("model", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise BadInput(f"{path}: `model` must be a list of tables; write each as [[model]].")
    return entries


_COUNTS = ("window", "max_output", "long_window", "long_from")
_PRICES = ("prices", "long_prices")
_PRICE_FIELDS = ("input", "output", "cache_read", "cache_write")


def _checked(entry: dict[str, Any], path: Path) -> dict[str, Any]:
    def refuse(field: str, remedy: str) -> BadInput:
        return BadInput(f"{path}: model {entry['id']!r}: `{field}` {remedy}.")

    known = {"id", "title", "aliases", *_COUNTS, *_PRICES}
    for field, value in entry.items():
        if field not in known:
            raise refuse(field, f"is not a field; the fields are {', '.join(sorted(known))}")
        if field in _COUNTS and (type(value) is not int or value <= 0):
            raise refuse(field, "must be a whole number of tokens above 0")
        if field == "title" and not isinstance(value, str):
            raise refuse(field, "must be a text")
        if field == "aliases" and not (isinstance(value, list) and all(isinstance(name, str) for name in value)):
            raise refuse(field, "must be a list of texts")
        if field in _PRICES:
            if not isinstance(value, dict) or not {"input", "output"} <= value.keys():
                raise refuse(field, "must be a table with at least input and output, in dollars per million tokens")
            for name, price in value.items():
                if name not in _PRICE_FIELDS:
                    raise refuse(f"{field}.{name}", f"is not a price; the prices are {', '.join(_PRICE_FIELDS)}")
                if type(price) not in (int, float) or not 0 <= price < 1e6:
                    raise refuse(f"{field}.{name}", "must be a number of dollars, 0 or more")
    if "window" not in entry:
        raise refuse("window", "is missing; give the context window in tokens")
    return entry


def _info(entry: Mapping[str, Any]) -> ModelInfo:
    fields = dict(entry)
    fields["aliases"] = tuple(fields.get("aliases", ()))
    for name in _PRICES:
        if name in fields:
            fields[name] = Prices(**{key: float(value) for key, value in fields[name].items()})
    return ModelInfo(**fields)


def _lengthened(info: ModelInfo) -> ModelInfo:
    return replace(info, window=info.long_window) if info.long_window else info
