"""`cwb list models`: models of a server, with windows and prices."""

from __future__ import annotations

import asyncio
from typing import Any

import click

from workbench.base import paths
from workbench.base.tables import Row, Table, columns
from workbench.cli.output import USD_PER_MILLION, csv_option, only, plain, warn, write_csv, write_json, write_tables
from workbench.summarizers.connections import DEFAULT, Connection, connection_named, connections
from workbench.summarizers.model_list import ModelChoices, OfferedModel, fetch_models, model_choices
from workbench.tokens import find_model
from workbench.tokens.models import BUNDLED, Prices, sources

MODELS = (
    "id:text:model window_tokens:tokens:window max_output_tokens:tokens:longest_output "
    "input_usd_per_million:number:$/M_in output_usd_per_million:number:$/M_out"
)
CONNECTIONS = "name:text:connection protocol address key"


@click.command("models")
@click.option("--connection", "name", metavar="NAME", default=DEFAULT, show_default=True, help="List its models.")
@click.option("--refresh", is_flag=True, help="Ask the server now instead of using a list up to a day old.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of a table.")
@csv_option("models", "connections")
def command(name: str, refresh: bool, as_json: bool, as_csv: str | None) -> None:
    """List the models that a server offers, with context windows and prices, and the connections to servers.

    The list comes from the API and is cached for a day. Prices, in dollars per million tokens, come from the package
    genai-prices and a dated table; a file of your own corrects them (`cwb list models --json` names it). Models that
    are not listed can be named, too.
    """
    there = connections()
    connection = connection_named(name)
    choice = asyncio.run(_choice(connection, refresh))
    tables = {
        "models": Table("models", "", columns(MODELS), tuple(map(_row, choice.models))),
        "connections": Table("connections", "", columns(CONNECTIONS), tuple(map(_connection_row, there.values()))),
    }
    if as_csv:
        write_csv(tables, as_csv)
        return
    if as_json:
        age = None if choice.age_s is None else round(choice.age_s)
        table = {"source": sources(), "bundled_file": BUNDLED, "own_file": paths.models()}
        found = {"connection": name, "age_seconds": age, "error": choice.trouble or None, "price_table": table}
        write_json({**found, "models": choice.models, "connections": list(there.values())})
        return
    if choice.trouble:
        old = "the list is an old one" if choice.models else "there is no list; you can still type a model name"
        warn(f"{choice.trouble} Until then {old}.")
    if choice.models:
        write_tables([tables["models"]])
        click.echo()
    write_tables([tables["connections"]])
    how = "Ask one as --summarizer CONNECTION:MODEL or --model CONNECTION/MODEL"
    click.echo(f"\n{how}; [connections.NAME] in {paths.settings()} adds one.")
    click.echo(f"Windows and prices: {sources()}.")


async def _choice(connection: Connection, refresh: bool) -> ModelChoices:
    return ModelChoices((await fetch_models(connection)).models, 0.0) if refresh else await model_choices(connection)


def _connection_row(one: Connection) -> Row:
    key = "in the keyring" if one.keyring else one.key_env or "none"
    return Row((one.name, one.protocol, one.address, key))


def _row(one: OfferedModel) -> Row:
    prices = _prices(one)
    dollars = (prices.input, prices.output) if prices else (None, None)
    return Row((one.id, one.window or None, one.max_output or None, *dollars))


def _prices(one: OfferedModel) -> Prices | None:
    info = find_model(one.id)
    return info.prices if info else None


@plain.register
def _(one: Connection) -> dict[str, Any]:
    return {**only(one, "name", "protocol", "address"), "key_env": one.key_env or None, "key_in_keyring": one.keyring}


@plain.register
def _(one: OfferedModel) -> dict[str, Any]:
    prices = _prices(one)
    sizes = only(one, "id", "title", "window_tokens=window", "max_output_tokens=max_output")
    usd = prices and {"input": prices.input, "output": prices.output, "unit": USD_PER_MILLION}
    return {**sizes, "prices": usd}
