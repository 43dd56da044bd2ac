"""`cwb hook`: the command that an agent calls before and after its compactions, and those that put it into the agent's
settings."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from workbench.base.errors import BadInput
from workbench.base.printable import printable
from workbench.base.version import __version__
from workbench.cli.output import json_option, plain, write_json
from workbench.hook import store
from workbench.hook.agents import AGENTS, Agent
from workbench.hook.injection import TOKENS
from workbench.hook.install import (
    Change,
    Scope,
    install_change,
    installable,
    is_installed,
    settings_file,
    uninstall_change,
)
from workbench.hook.run import is_typed, run

LOG_LINES = 5
"""Newest lines of the log that `status` shows."""

_tokens = click.option(
    "--tokens",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"Add at most N tokens to the context. Default: {TOKENS}.",
)
_yes = click.option("--yes", is_flag=True, help="Write the change without asking.")


def _scope(command: Any) -> Any:
    """Options for the settings to change, as the parameter `scope`."""
    project = click.option("--project", "scope", flag_value="project", help="In the settings of this folder's project.")
    user = click.option("--user", "scope", flag_value="user", default=True, help="In your own settings (default).")
    return user(project(command))


class _Agents(click.Group):
    """Group whose commands are also the agents, which call them with an event on stdin."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return super().get_command(ctx, cmd_name) or (_event_command(cmd_name) if cmd_name in AGENTS else None)


@click.group("hook", cls=_Agents)
def command() -> None:
    """Give back to an agent what its own compaction lost and what is still in force: rules of the user, the open
    request, running tasks, changed files.

    \b
    cwb hook install claude-code      # shows the change of the settings, and asks
    cwb hook status
    cwb hook uninstall claude-code

    The agent then calls `cwb hook claude-code` itself. Before a compaction it stores what is in force. Afterwards it
    adds what the new context lacks, quoted, and nothing else. On any failure it adds nothing and writes a log line.
    """


def _event_command(agent_id: str) -> click.Command:
    def answer(tokens: int | None) -> None:
        if missing := AGENTS[agent_id].missing:
            raise BadInput(missing)
        if is_typed():
            raise BadInput(f"{agent_id} calls this with an event; `cwb hook install {agent_id}` has it do so.")
        run(agent_id, tokens)

    about = "Answer an event of the agent: JSON on stdin, JSON on stdout. The agent calls this, not you."
    return click.Command(agent_id, callback=answer, params=_tokens_parameter(), help=about, hidden=True)


def _tokens_parameter() -> list[click.Parameter]:
    @_tokens
    def takes(tokens: int | None) -> None: ...

    return list(takes.__click_params__)  # type: ignore[attr-defined]


@command.command("install", short_help="Show the change that installs it, and write it if you agree.")
@click.argument("agent_id", metavar="AGENT")
@_scope
@_tokens
@_yes
def install(agent_id: str, scope: Scope, tokens: int | None, yes: bool) -> None:
    """Show the change of AGENT's settings that installs the hook, and write it with --yes or after a "y".

    AGENT is claude-code, codex or pi. Everything else in the file stays as it is, and `cwb hook uninstall` takes the
    hook out again.
    """
    agent = installable(agent_id)
    path = settings_file(agent, scope, Path.cwd())
    _write(install_change(agent, path, tokens), f"The hook is already in {path}.", yes=yes)
    if agent.note:
        click.echo(agent.note)


@command.command("uninstall", short_help="Show the change that removes it, and write it if you agree.")
@click.argument("agent_id", metavar="AGENT")
@_scope
@_yes
def uninstall(agent_id: str, scope: Scope, yes: bool) -> None:
    """Show the change of AGENT's settings that removes the hook, and write it with --yes or after a "y"."""
    agent = installable(agent_id)
    path = settings_file(agent, scope, Path.cwd())
    _write(uninstall_change(agent, path), f"The hook is not in {path}.", yes=yes)


def _write(change: Change, nothing: str, *, yes: bool) -> None:
    """Print the difference and write it if the user agrees; print `nothing` if there is none."""
    if change.is_empty:
        click.echo(printable(nothing))
        return
    for line in change.difference():
        click.echo(printable(line))
    if not yes and not (sys.stdin.isatty() and click.confirm("Write this change?")):
        click.echo("Nothing was written; --yes writes it.", err=True)
        raise click.exceptions.Exit(1)
    change.write()
    click.echo(printable(f"{'Removed' if change.after is None else 'Written'}: {change.path}"))


@command.command("status", short_help="Show where it is installed, and the newest log lines.")
@json_option
def status(as_json: bool) -> None:
    """Show where the hook is installed, its version, and the newest lines of its log."""
    agents = [one for one in AGENTS.values() if not one.missing]
    places = [_Place(agent, scope) for agent in agents for scope in ("user", "project")]
    lines = store.newest_lines(LOG_LINES)
    if as_json:
        write_json({"version": __version__, "places": places, "log_file": store.log_file(), "log": lines})
        return
    click.echo(f"version {__version__}")
    for one in places:
        click.echo(printable(f"{one.agent.title}: {one.state} in {one.path}"))
    for agent in AGENTS.values():
        if agent.missing:
            click.echo(printable(agent.missing))
    for line in lines:
        click.echo(printable(f"log: {line}"))


class _Place:
    """Settings file of an agent, and whether the hook is in it."""

    def __init__(self, agent: Agent, scope: Scope) -> None:
        self.agent, self.scope = agent, scope
        self.path = settings_file(agent, scope, Path.cwd())
        try:
            self.state = "installed" if is_installed(agent, self.path) else "not installed"
        except BadInput as refused:
            self.state = f"unknown ({refused})"


@plain.register
def _(one: _Place) -> dict[str, Any]:
    return {"agent": one.agent.id, "scope": one.scope, "settings": one.path, "state": one.state}
