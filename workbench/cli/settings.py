"""Policy from command-line options: a preset, changed by the environment, a parameter object and single settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from workbench.base.errors import BadInput
from workbench.base.reading import read_text
from workbench.cli.output import warn
from workbench.compaction.policy import explain
from workbench.compaction.preset import Preset, default_preset, load_preset
from workbench.compaction.product_parameters import parse_with_best
from workbench.compaction.settings import setting_named, with_settings
from workbench.compaction.strategies import all_strategies, strategy

T = TypeVar("T")


def preset_from_options(
    strategy_id: str | None, preset_id: str | None, params: Path | None, fields: Sequence[str], otherwise: str = ""
) -> Preset:
    """Return the preset that the options name, with its changed policy.

    A parameter object (`params`, or `@FILE` in `fields`) replaces the policy; `name=value` settings then change it, in
    order. Without a named strategy or preset, the parameter object decides the strategy, else the preset is
    `otherwise`. Raises BadInput in one sentence, also if nothing decides.
    """
    files = [*([params] if params else []), *(Path(field[1:]) for field in fields if field.startswith("@"))]
    if strategy_id is None and preset_id is None:
        preset = _preset_of(files[0], otherwise) if files else _preset(None, otherwise or None)
    else:
        preset = _preset(strategy_id, preset_id)
    for file in files:
        preset = _with_parameters(preset, file)
    return _with_fields(preset, [field for field in fields if not field.startswith("@")])


def _preset_of(file: Path, otherwise: str) -> Preset:
    """Return the preset `otherwise` if the parameter object of a file fits its strategy, else the default preset of the
    strategy that knows most of the parameters."""
    known = load_preset(otherwise) if otherwise else None
    first = (strategy(known.strategy),) if known else ()
    found, _ = _read(file, lambda text: parse_with_best((*first, *all_strategies()), text))
    return known if known and known.strategy == found.id else default_preset(found.id)


def _read(file: Path, read: Callable[[str], T]) -> T:
    """Return the result of `read` for a file's text. Raises BadInput that names the file."""
    try:
        return read(read_text(file, "utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise BadInput(f"{file} cannot be read: {reason}; name a file with a JSON object.") from None
    except BadInput as error:
        raise BadInput(f"{file}: {error}") from None


def _preset(strategy_id: str | None, preset_id: str | None) -> Preset:
    if preset_id is not None:
        preset = load_preset(preset_id)
        if strategy_id is not None and preset.strategy != strategy(strategy_id).id:
            raise BadInput(
                f"Preset {preset_id!r} is for {preset.strategy}, not for {strategy_id}; leave one of them out."
            )
        return preset
    if strategy_id is None:
        raise BadInput("Name a strategy with --strategy or a preset with --preset; `cwb list strategies` lists both.")
    return default_preset(strategy_id)


def _with_parameters(preset: Preset, file: Path) -> Preset:
    """Return the preset with the policy from a parameter object, in the form of the agent's own configuration."""
    params = strategy(preset.strategy).parameters
    if params is None:
        raise BadInput(f"{file} sets a product's parameters, but there are none for {preset.strategy}.")
    read = _read(file, params.read)
    others = {one.parameters.name: one.id for one in all_strategies() if one.parameters}
    for name in read.ignored:
        if name in others:
            warn(f"{file}: {name} sets {others[name]} and is not used here; add --strategy {others[name]} for it.")
    rest = replace(read, ignored=tuple(name for name in read.ignored if name not in others))
    if rest.note:
        warn(f"{file}: {rest.note}.")
    if not read.accepted:
        warn(f"{file}: sets nothing; the defaults of {params.name} are used.")
    # Values that follow from the agent's defaults count as set by --params, too.
    pasted = replace(preset, policy=read.policy, basis={}, sources={})
    return replace(pasted, sources=dict.fromkeys((*read.accepted, *pasted.changed_sources), "--params"))


def _with_fields(preset: Preset, fields: Sequence[str]) -> Preset:
    """Return the preset with the `name=value` settings; `group.name` changes a setting in a group. Raises BadInput."""
    policy = type(preset.policy)
    values: dict[str, Any] = {}
    for assignment in fields:
        name, equals, text = assignment.partition("=")
        if not equals or not name.strip():
            raise BadInput(f"--set takes FIELD=VALUE or @FILE, not {assignment!r}.")
        today = policy.today(name.strip())
        if today.name:
            setting = setting_named(policy, today.name)
            values[setting.key] = today.value(setting.read(text))
    try:
        return preset.with_values(with_settings(preset.policy, values), dict.fromkeys(values, "--set"))
    except ValidationError as error:
        raise BadInput(f"--set {explain(error)}") from None
