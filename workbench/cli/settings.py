"""From flags to a policy: a preset, then a pasted parameter object, then single fields."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from workbench.base.errors import BadInput
from workbench.cli.output import warn
from workbench.compaction.policy import Policy, explain
from workbench.compaction.preset import Preset, default_preset, load_preset
from workbench.compaction.settings import Setting, setting_named
from workbench.compaction.strategies import strategy


def chosen(strategy_id: str | None, preset_id: str | None, params: Path | None, fields: Sequence[str]) -> Preset:
    """The preset that the flags name, with its policy changed as they say.

    A parameter object replaces the preset's policy; `name=value` settings then change fields of it, in order. Raises
    BadInput in one sentence.
    """
    preset = _preset(strategy_id, preset_id)
    files = [*([params] if params else []), *(Path(field[1:]) for field in fields if field.startswith("@"))]
    for file in files:
        preset = replace(preset, policy=_pasted(preset, file))
    return replace(preset, policy=_with_fields(preset.policy, [field for field in fields if not field.startswith("@")]))


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


def _pasted(preset: Preset, file: Path) -> Policy:
    """A policy from a parameter object as the agent's own configuration holds it."""
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
    policy: Policy = read.policy
    return policy


def _with_fields(policy: Policy, fields: Sequence[str]) -> Policy:
    """A dot reaches into a group of fields. A value is read as JSON where it is JSON, else it is the text itself."""
    values = policy.model_dump()
    for given in fields:
        name, equals, text = given.partition("=")
        if not equals or not name.strip():
            raise BadInput(f"--set takes FIELD=VALUE or @FILE, and {given!r} is neither.")
        today = type(policy).today(name.strip())
        if not today.name:
            continue
        setting = setting_named(type(policy), today.name)
        inner = values if len(setting.path) == 1 else values[setting.path[0]]
        inner[setting.path[-1]] = today.value(_value(text, setting))
    try:
        return type(policy).model_validate(values)
    except ValidationError as error:
        raise BadInput(f"--set {explain(error)}") from None


def _value(text: str, setting: Setting) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    # For a text field `"7"` and `7` both mean the text 7.
    return text if setting.kind in ("text", "lines") and not isinstance(value, str) else value
