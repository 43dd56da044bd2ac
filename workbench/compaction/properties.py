"""Compare presets by nine properties beyond their numbers, which document 000 lists."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from workbench.compaction.context import Gauge
from workbench.compaction.preset import Preset, load_preset, preset_names
from workbench.compaction.settings import settings_of
from workbench.compaction.strategies import all_strategies, strategy
from workbench.tokens.window import Window


@dataclass(frozen=True, slots=True)
class Properties:
    """Row of the table. Facts about the product take precedence over those about its strategy.

    `trigger`: triggers that are on. `levels`: lighter methods are tried before the full one. `abridged`: there is also
    an abridged history, made without a model. `versions`: a summary of another version is ignored. `cache`: the prompt
    cache influences when it fires. `tool_calls`: open calls move into the summary. `settings`: number of settings.
    `default_on`: it compacts without setup, None if unknown.
    """

    preset: str
    strategy: str
    trigger: str
    method: str
    levels: bool
    abridged: bool
    versions: bool
    cache: bool
    tool_calls: bool
    settings: int
    default_on: bool | None


HEADS = (
    "preset",
    "strategy",
    "fires on",
    "how",
    "levels",
    "abridged",
    "versions",
    "cache",
    "tool calls",
    "settings",
    "by default",
)


def cells(one: Properties) -> tuple[str, ...]:
    """Cells of a row, under `HEADS`."""
    known = (one.levels, one.abridged, one.versions, one.cache, one.tool_calls)
    words = {True: "yes", False: "no", None: "?"}
    own = (one.preset, one.strategy, one.trigger or "nothing", one.method)
    return (*own, *map(words.__getitem__, known), str(one.settings), words[one.default_on])


def all_properties() -> list[Properties]:
    """Properties of every preset, in the order of the strategies; each strategy's own preset comes first."""
    presets = list(map(load_preset, preset_names()))
    return [
        properties_of(preset)
        for one in all_strategies()
        for preset in sorted(presets, key=lambda each: each.id not in (one.id, one.default_preset))
        if preset.strategy == one.id
    ]


def properties_of(preset: Preset) -> Properties:
    """Properties of one preset."""
    one = strategy(preset.strategy)
    empty = Gauge(limit=Window(10**9, "given"), meters=defaultdict(int))
    on = [trigger.name for trigger in one.triggers(empty, preset.policy) if trigger.limit > 0]
    defaults = one.policy_type()
    fires = not one.idle(defaults) and any(trigger.limit > 0 for trigger in one.triggers(empty, defaults))
    return Properties(
        preset=preset.id,
        strategy=one.id,
        trigger=", ".join(on),
        method=one.traits.method,
        levels=bool(one.rungs),
        abridged=one.view.abridged is not None,
        versions=one.traits.versions,
        cache=preset.product.get("cache", one.traits.cache),
        tool_calls=one.traits.tool_calls,
        settings=len(settings_of(one.policy_type)),
        default_on=preset.product.get("default_on", fires if preset.id == one.id else None),
    )
