"""`cwb strategies`: what there is to choose from, and every field that `--set` takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import click
from pydantic import BaseModel

from workbench.cli.output import only, plain, write_fields, write_json
from workbench.cli.settings import inner_model
from workbench.compaction.preset import Preset, load_preset, preset_names
from workbench.compaction.strategies import all_strategies, strategy, unusable
from workbench.compaction.strategy import Strategy

LONG_TEXT = 60


@dataclass(frozen=True, slots=True)
class SettableField:
    """A field by its dotted name. `allowed` is in words, "" where any text will do."""

    name: str
    default: Any
    allowed: str
    unit: str
    help: str

    def words(self) -> str:
        long = isinstance(self.default, str) and len(self.default) > LONG_TEXT
        default = f"{len(self.default)} characters of text" if long else repr(self.default)
        facts = (f"default {default}", self.allowed, self.unit)
        return f"{self.help}\n({', '.join(fact for fact in facts if fact)})"


@click.command("strategies")
@click.argument("id", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of text, with every field.")
def command(id: str | None, as_json: bool) -> None:
    """List the strategies and their presets, one line each; with an ID, every field of its policy."""
    shown = (strategy(id),) if id else all_strategies()
    names = {one.id for one in shown}
    presets = [preset for name in preset_names() if (preset := load_preset(name)).strategy in names]
    if as_json:
        write_json({"strategies": shown, "presets": presets})
    elif id:
        click.secho(f"{shown[0].id}: {shown[0].about}", bold=True)
        _write_presets(presets)
        write_fields([(field.name, field.words()) for field in fields_of(shown[0].policy_type)])
    else:
        write_fields([(one.id, one.about) for one in shown])
        click.echo()
        _write_presets(presets)
        for sentence in unusable():
            click.echo(sentence, err=True)


def _write_presets(presets: list[Preset]) -> None:
    write_fields([(f"preset {preset.id}", f"({preset.strategy}) {preset.about}") for preset in presets])


@plain.register(Strategy)
def _(one: Strategy[Any]) -> dict[str, Any]:
    return {**only(one, "id", "title", "about", "unit"), "fields": list(fields_of(one.policy_type))}


@plain.register
def _(preset: Preset) -> dict[str, Any]:
    policy = preset.policy.model_dump(mode="json")
    return {**only(preset, "id", "strategy", "about", "source"), "policy": policy, "basis": preset.basis}


def fields_of(model: type[BaseModel], prefix: str = "") -> Iterator[SettableField]:
    """Every settable field, groups opened to their fields."""
    schema = model.model_json_schema()
    for name, field in model.model_fields.items():
        if inner := inner_model(model, name):
            yield from fields_of(inner, f"{prefix}{name}.")
            continue
        extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
        default = field.get_default(call_default_factory=True)
        allowed = _allowed(schema["properties"][name])
        yield SettableField(prefix + name, default, allowed, str(extra.get("unit", "")), field.description or "")


def _allowed(schema: Mapping[str, Any]) -> str:
    for option in (schema, *schema.get("anyOf", ())):
        if "enum" in option:
            return " | ".join(str(value) for value in option["enum"])
        if option.get("type") in ("integer", "number"):
            return _range(option)
        if option.get("type") == "boolean":
            return "true | false"
    return ""


def _range(option: Mapping[str, Any]) -> str:
    kind = "a whole number" if option["type"] == "integer" else "a number"
    low, above = option.get("minimum"), option.get("exclusiveMinimum")
    high, below = option.get("maximum"), option.get("exclusiveMaximum")
    bounds = [
        f"from {low}" if low is not None else f"above {above}" if above is not None else "",
        f"to {high}" if high is not None else f"below {below}" if below is not None else "",
    ]
    return " ".join([kind, *(bound for bound in bounds if bound)])
