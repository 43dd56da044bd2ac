"""`cwb list`: lists of strategies, presets, prompts, models and runs, each a command of another module, imported when
it is called."""

from __future__ import annotations

import importlib

import click

LISTS = {
    "strategies": ("strategies", "command", "Strategies and their presets; with an ID, every setting."),
    "presets": ("strategies", "presets", "Presets and their features; with a NAME, the source of every value."),
    "prompts": ("prompts", "list_", "Prompts with their languages."),
    "models": ("models", "command", "Models that a server offers, and the connections to servers."),
    "runs": ("runs", "command", "Run history: list, spent, show, text, diff, delete."),
}
"""Module, name and help of the command for each list."""


class Lists(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*LISTS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in LISTS:
            return None
        module, name, _ = LISTS[cmd_name]
        command: click.Command = getattr(importlib.import_module(f"workbench.cli.{module}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Kinds"):
            formatter.write_dl([(name, line) for name, (_, _, line) in LISTS.items()])


@click.command("list", cls=Lists, options_metavar="", subcommand_metavar="KIND [OPTIONS]...")
def command() -> None:
    """List strategies, presets, prompts, models or runs: `cwb list presets`."""
