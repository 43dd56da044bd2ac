"""From flags to a policy: a preset with what the environment sets, a pasted parameter object, single fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from workbench.base.errors import BadInput
from workbench.cli.output import warn
from workbench.compaction.policy import explain
from workbench.compaction.preset import Preset, default_preset, load_preset
from workbench.compaction.settings import setting_named, with_settings
from workbench.compaction.strategies import strategy


def chosen(strategy_id: str | None, preset_id: str | None, params: Path | None, fields: Sequence[str]) -> Preset:
    """The preset that the flags name, with its policy changed as they say.

    A parameter object replaces the preset's policy; `name=value` settings then change fields of it, in order. Raises
    BadInput in one sentence.
    """
    preset = _preset(strategy_id, preset_id)
    files = [*([params] if params else []), *(Path(field[1:]) for field in fields if field.startswith("@"))]
    for file in files:
        preset = _pasted(preset, file)
    return _with_fields(preset, [field for field in fields if not field.startswith("@")])


def _preset(strategy_id: str | None, preset_id: str | None) -> Preset:
    if preset_id is not None:
        preset = load_preset(preset_id)
        if strategy_id is not None and preset.strategy != strategy(strategy_id).id:
            raise BadInput(
                f"Preset {preset_id!r} is for {preset.strategy}, not for {strategy_id}; leave one of them out."
            )
        return preset
    if strategy_id is None:
        raise BadInput("Name a strategy with --strategy or a preset with --preset; `cwb strategies` lists both.")
    return default_preset(strategy_id)


def _pasted(preset: Preset, file: Path) -> Preset:
    """The preset with the policy of a parameter object as the agent's own configuration holds it."""
    params = strategy(preset.strategy).pasted
    if params is None:
        raise BadInput(f"{file} would set a product's parameters, and there are none for {preset.strategy}.")
    try:
        read = params.read(file.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise BadInput(f"{file} cannot be read: {reason}; name a file with a JSON object.") from None
    except BadInput as error:
        raise BadInput(f"{file}: {error}") from None
    if read.note:
        warn(f"{file}: {read.note}.")
    # What the product's own defaults give is from there, too.
    pasted = replace(preset, policy=read.policy, basis={}, sources={})
    return replace(pasted, sources=dict.fromkeys((*read.taken, *pasted.told_sources), "--params"))


def _with_fields(preset: Preset, fields: Sequence[str]) -> Preset:
    """A dot reaches into a group of fields."""
    policy = type(preset.policy)
    values: dict[str, Any] = {}
    for given in fields:
        name, equals, text = given.partition("=")
        if not equals or not name.strip():
            raise BadInput(f"--set takes FIELD=VALUE or @FILE, and {given!r} is neither.")
        today = policy.today(name.strip())
        if today.name:
            setting = setting_named(policy, today.name)
            values[setting.key] = today.value(setting.read(text))
    try:
        return preset.with_values(with_settings(preset.policy, values), dict.fromkeys(values, "--set"))
    except ValidationError as error:
        raise BadInput(f"--set {explain(error)}") from None
