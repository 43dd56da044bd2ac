"""The command line `cwb`. Each command is a module of this room, imported only when it is called.

Input: a frozen `Selection` of session, policy and edits, and the command's own options. Output: plain text or one JSON
document on stdout, notes on stderr, the named files, and an exit code: 0 done; 1 nothing to compact, not triggered, or
not smaller; 2 bad input or usage; 3 a required check failed; 4 the summarizer failed; 5 it could cost more than the
spend limit. Other rooms compute all results. None of them may import this one, which uses the screen only to open it.
"""

from __future__ import annotations

import builtins
import difflib
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from workbench.base.crashes import mask_logs, mask_tracebacks
from workbench.base.environment import use_environment, variables
from workbench.base.errors import BadInput
from workbench.base.secrets import masking, personal_in
from workbench.base.text import clip
from workbench.base.version import __version__
from workbench.cli.names import ALONE, COMMANDS, FORMER, GROUPS, MODULES
from workbench.cli.output import INTERRUPTED, has_a_screen, takes_escapes

NO_OUTPUT = 74
"""Exit code if output cannot be written, EX_IOERR of sysexits."""

NAME_SHOWN = 80
"""Characters shown of the name of a file that cannot be used."""

MASK_TOO = "CWB_MASK"
"""Environment variable that names what is masked in addition to secrets: `home`, `mail`, or both."""

BROKEN_PIPE = 141
"""Exit code in shells for a program whose output pipe was closed."""


class InputError(click.ClickException):
    """`BadInput` as an error of click: one sentence on stderr and exit code 2."""

    exit_code = 2


class Commands(click.Group):
    """Commands by name. Without a command name, `open` runs with the arguments."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"workbench.cli.{MODULES.get(cmd_name, cmd_name)}").command
        mask_logs()
        return command

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), line) for name, line in group.items()])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args in (["--json"], ["--csv"]) or not (args or has_a_screen()):
            args = [*ALONE, *args]
        return super().parse_args(ctx, ["open", *args] if _means_open(ctx, args) else _with_new_name(args))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BadInput as refused:
            raise InputError(" ".join(str(refused).split())) from refused
        except BrokenPipeError:
            # click would exit with 1, which means "nothing to compact" here.
            _discard_output()
            raise click.exceptions.Exit(BROKEN_PIPE) from None


def _means_open(ctx: click.Context, args: list[str]) -> bool:
    """Return True if no command is named. Raises UsageError for a mistyped command that is no file."""
    first = next((arg for arg in args if not arg.startswith("-")), None)
    if first is None:
        return not {"--help", "-h", "--version"} & set(args)
    known = {*COMMANDS, *FORMER}
    meant = difflib.get_close_matches(first, sorted(known), 1, 0.7)
    if meant and first not in known and not Path(first).exists():
        now = str(FORMER[meant[0]]).removeprefix("cwb ") if meant[0] in FORMER else meant[0]
        raise click.UsageError(f"There is no command {first!r}; did you mean {now!r}?", ctx)
    return first not in known


def _with_new_name(args: list[str]) -> list[str]:
    """Return the arguments with a former command name replaced, and report the new name on stderr."""
    if not args or args[0] not in FORMER:
        return args
    now = FORMER[args[0]]
    click.echo(f"`cwb {args[0]}` is now `{now}`.", err=True)
    return [*now.args, *args[1:]]


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    options_metavar="[--version | --help]",
    subcommand_metavar="[FILE | COMMAND] [OPTIONS]...",
    epilog="`cwb` alone lists your sessions; `cwb COMMAND --help` says more.",
)
@click.version_option(__version__, prog_name="cwb")
@click.pass_context
def commands(ctx: click.Context) -> None:
    """See, tune and run what compaction does to an agent's session."""
    ctx.with_resource(use_environment(os.environ))
    if not takes_escapes():
        ctx.color = False
    try:
        ctx.with_resource(masking(*personal_in(variables().get(MASK_TOO, ""))))
    except ValueError as unknown:
        raise InputError(f"The variable {MASK_TOO}: {unknown}.") from None


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the parent process
            # Stays open until the process ends. `builtins.open`, because the command module `open` hides the name here.
            setattr(sys, name, builtins.open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            # Files and pipes get UTF-8, which JSON requires; a terminal keeps its own encoding.
            stream.reconfigure(errors="backslashreplace", encoding=None if stream.isatty() else "utf-8")
    mask_tracebacks()
    try:
        code = commands.main(args, prog_name="cwb", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as refused:
        refused.show()
        code = refused.exit_code
    except BrokenPipeError:
        _discard_output()
        code = BROKEN_PIPE
    except OSError as error:
        # Readers report errors of session files themselves. This one comes from the output or an impossible file name.
        _discard_output()
        target = clip(str(error.filename), NAME_SHOWN) if error.filename else "the output"
        click.echo(f"Error: {target} cannot be used: {error.strerror or error}.", err=True)
        code = NO_OUTPUT
    except (click.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    sys.exit(code if isinstance(code, int) else 0)


def _discard_output() -> None:
    """Redirect stdout to the null device: Python flushes it at exit, which would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
