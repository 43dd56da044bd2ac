"""`cwb list strategies` and `cwb list presets`: strategies and presets with every setting that `--set` takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from typing import Any

import click

from workbench.base.printable import one_line
from workbench.base.tables import Row, Table, columns
from workbench.cli.output import (
    csv_option,
    json_option,
    only,
    plain,
    write_csv,
    write_fields,
    write_json,
    write_tables,
)
from workbench.compaction.preset import Preset, default_preset, load_preset, preset_names
from workbench.compaction.properties import HEADS, all_properties, cells
from workbench.compaction.settings import Setting, settings_of
from workbench.compaction.strategies import all_strategies, strategy, unusable
from workbench.compaction.strategy import Strategy

LONG_TEXT = 60


@click.command("presets")
@click.argument("name", required=False)
@click.option("--properties", is_flag=True, help="Features of each preset (levels, versions, cache …) as one table.")
@json_option
@csv_option("presets")
def presets(name: str | None, properties: bool, as_json: bool, as_csv: str | None) -> None:
    """List the presets by strategy; with a NAME, every setting with its value and source."""
    if name and properties:
        raise click.UsageError("--properties shows every preset; leave NAME out.")
    every = [load_preset(one) for one in preset_names()]
    if properties:
        _write(_properties(), {"properties": all_properties()}, as_json=as_json, as_csv=as_csv)
    elif name:
        _write(*_sources(name), as_json=as_json, as_csv=as_csv)
    else:
        width = None if as_csv else LONG_TEXT
        rows = (Row((one.id, one.strategy, one_line(one.about, width or len(one.about)))) for one in every)
        table = Table("presets", "", columns("id:text:preset strategy description:text:about"), tuple(rows))
        _write(table, {"presets": every}, as_json=as_json, as_csv=as_csv)


@click.command("strategies")
@click.argument("id", required=False)
@click.option("--sources", is_flag=True, hidden=True, help="As `cwb list presets ID`.")
@click.option("--properties", is_flag=True, hidden=True, help="As `cwb list presets --properties`.")
@json_option
@csv_option("strategies")
def command(id: str | None, sources: bool, properties: bool, as_json: bool, as_csv: str | None) -> None:
    """List the strategies and their presets, one line each; with an ID, every setting.

    An environment variable CWB_STRATEGY_FIELD, in capitals and with _ for - and . (CWB_TRIM_TARGET_PERCENT), takes
    precedence over the preset; --params, --set and changes on the screen take precedence over it.
    """
    if properties:
        if id is not None or sources:
            raise click.UsageError("--properties shows every preset; leave out the rest.")
        _write(_properties(), {"properties": all_properties()}, as_json=as_json, as_csv=as_csv)
        return
    if sources:
        if id is None:
            raise click.UsageError("--sources shows one preset or strategy; name it.")
        _write(*_sources(id), as_json=as_json, as_csv=as_csv)
        return
    shown = (strategy(id),) if id else all_strategies()
    names = {one.id for one in shown}
    known = [preset for name in preset_names() if (preset := load_preset(name)).strategy in names]
    if as_csv:
        write_csv({"strategies": _settings(shown[0]) if id else _strategies(shown)}, as_csv)
    elif as_json:
        write_json({"strategies": shown, "presets": known})
    elif id:
        click.secho(f"{shown[0].id}: {shown[0].about}", bold=True)
        _write_presets(known)
        if rungs := shown[0].rungs:
            spec = columns("rung strength keeps:text:keeps_whole suits")
            write_tables([Table("rungs", "", spec, tuple(Row(astuple(one)) for one in rungs))])
            click.echo()
        write_fields([(field.key, _words(field)) for field in settings_of(shown[0].policy_type)])
    else:
        write_fields([(one.id, one.about) for one in shown])
        click.echo()
        _write_presets(known)
        for sentence in unusable():
            click.echo(sentence, err=True)


def _strategies(shown: Sequence[Strategy[Any]]) -> Table:
    rows = (Row((one.id, one.title, one.unit, one.about)) for one in shown)
    return Table("strategies", "", columns("id:text:strategy title unit description"), tuple(rows))


def _settings(one: Strategy[Any]) -> Table:
    """Return a table of every setting of a strategy, with its default."""
    spec = columns("setting default allowed unit applies_when help")
    every = settings_of(one.policy_type)
    rows = (
        Row((each.key, str(each.default), _allowed(each), each.unit, each.counts_where, each.help)) for each in every
    )
    return Table("strategies", "", spec, tuple(rows))


def _write(table: Table, document: Mapping[str, Any], *, as_json: bool, as_csv: str | None = None) -> None:
    if as_json:
        write_json(document)
    elif as_csv:
        write_csv({as_csv: table}, as_csv)
    else:
        write_tables([table])


def _properties() -> Table:
    heads = columns(" ".join(f"{head.replace(' ', '_')}:text:{head.replace(' ', '_')}" for head in HEADS))
    return Table("properties", "", heads, tuple(Row(cells(one)) for one in all_properties()))


def _sources(name: str) -> tuple[Table, Mapping[str, Any]]:
    """Return a table of each setting of a preset, or of a strategy's default preset, with its value and source."""
    preset = load_preset(name) if name in preset_names() else default_preset(name)
    found = {
        one.key: {"value": one.of(preset.policy), "source": preset.source_of(one)}
        for one in settings_of(type(preset.policy))
    }
    rows = (Row((key, str(one["source"]), _value(one["value"]))) for key, one in found.items())
    shown = columns("setting source:text:from value")
    table = Table("presets", "", shown, tuple(rows), note=f"{preset.id}: {preset.about}")
    return table, {**only(preset, "id", "strategy"), "settings": found}


def _write_presets(presets: list[Preset]) -> None:
    write_fields([(f"preset {preset.id}", f"({preset.strategy}) {preset.about}") for preset in presets])


@plain.register(Strategy)
def _(one: Strategy[Any]) -> dict[str, Any]:
    about = only(one, "id", "title", "description=about", "unit", "rungs")
    return {**about, "settings": list(settings_of(one.policy_type))}


@plain.register
def _(preset: Preset) -> dict[str, Any]:
    settings = preset.policy.model_dump(mode="json")
    about = only(preset, "id", "strategy", "description=about", "source")
    return {**about, "settings": settings, "evidence": preset.basis}


@plain.register
def _(one: Setting) -> dict[str, Any]:
    named = {"name": one.key, "default": one.default, "allowed": _allowed(one), "unit": one.unit, "help": one.help}
    return {**named, "applies_when": one.counts_where, "former_names": one.old}


def _value(value: object) -> str:
    if isinstance(value, str) and len(value) > LONG_TEXT:
        return f"{len(value)} characters of text"
    return repr(value)


def _words(one: Setting) -> str:
    default = _value(one.default)
    counts = f"counts only where {one.counts_where}" if one.needs else ""
    facts = (f"default {default}", _allowed(one), one.unit, counts)
    return f"{one.help}\n({', '.join(fact for fact in facts if fact)})"


def _allowed(one: Setting) -> str:
    """Return the allowed values of a setting in words; "" if any text is allowed."""
    match one.kind:
        case "choice":
            return " | ".join(one.choices)
        case "switch":
            return "true | false"
        case "whole" | "real":
            kind = "a whole number" if one.kind == "whole" else "a number"
            named = (("from", one.range.low), ("above", one.range.above), ("to", one.range.high))
            bounds = (*named, ("below", one.range.below))
            return " ".join([kind, *(f"{word} {bound}" for word, bound in bounds if bound is not None)])
        case _:
            return ""
