"""From flags to a policy: a preset, then a pasted parameter object, then single fields."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from workbench.base.errors import BadInput
from workbench.compaction.exchange.params import policy_from_params
from workbench.compaction.policy import Policy, explain
from workbench.compaction.preset import Preset, default_preset, load_preset
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


def inner_model(model: type[BaseModel], name: str) -> type[BaseModel] | None:
    """The model of a group of fields, None where `name` is a single field or none."""
    field = model.model_fields.get(name)
    inner = field.annotation if field else None
    return inner if isinstance(inner, type) and issubclass(inner, BaseModel) else None


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
    if preset.strategy != "exchange-summary":
        raise BadInput(f"{file} would set exchange-summary's parameters, and the strategy is {preset.strategy}.")
    try:
        return policy_from_params(file.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise BadInput(f"{file} cannot be read: {reason}; name a file with a JSON object.") from None
    except BadInput as error:
        raise BadInput(f"{file}: {error}") from None


def _with_fields(policy: Policy, settings: Sequence[str]) -> Policy:
    """A dot reaches into a group of fields. A value is read as JSON where it is JSON, else it is the text itself."""
    values = policy.model_dump()
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals or not name.strip():
            raise BadInput(f"--set takes FIELD=VALUE or @FILE, and {setting!r} is neither.")
        _put(values, type(policy), name.strip(), text)
    try:
        return type(policy).model_validate(values)
    except ValidationError as error:
        raise BadInput(f"--set {explain(error)}") from None


def _put(values: dict[str, Any], model: type[BaseModel], name: str, text: str) -> None:
    *groups, last = name.split(".")
    for group in groups:
        inner = inner_model(model, group)
        if inner is None:
            raise BadInput(_no_such_field(group, model))
        model, values = inner, values[group]
    if last not in model.model_fields:
        raise BadInput(_no_such_field(last, model))
    values[last] = _value(text, model.model_fields[last].annotation)


def _value(text: str, wanted: Any) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    # For a text field `"7"` and `7` both mean the text 7.
    return text if wanted is str and not isinstance(value, str) else value


def _no_such_field(name: str, model: type[BaseModel]) -> str:
    known = list(model.model_fields)
    close = difflib.get_close_matches(name, known, 1, 0.4)
    if name in known:
        return f"{name} is a single field, not a group of fields."
    if close:
        return f"There is no field {name!r}; did you mean {close[0]!r}?"
    return f"There is no field {name!r}; there are {', '.join(known)}."
