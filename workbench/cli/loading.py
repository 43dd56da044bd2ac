"""A session file on the bench, every token counted: what the commands that answer in one go start from."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.base import paths
from workbench.bench import Bench, counted, open_bench
from workbench.cli.output import on_a_terminal
from workbench.formats.files import load
from workbench.remembered import with_kept_scale
from workbench.tokens import Counter
from workbench.tokens.cache import CountCache

_PART = "workbench.part"


def _note_part(context: click.Context, _: click.Parameter, value: str) -> None:
    context.meta[_PART] = value


part_option = click.option(
    "--part",
    default="",
    metavar="ID",
    expose_value=False,
    callback=_note_part,
    help="The session of this id, of several in FILE; `cwb sessions FILE` lists them.",
)
"""For every command that opens FILE by `on_bench`, which then opens that part of it."""


def part_asked() -> str:
    """The part of FILE that the running command was asked for, "" for none."""
    context = click.get_current_context(silent=True)
    return context.meta.get(_PART, "") if context else ""


def on_bench(file: Path, *, epoch: int | None, window: int | None) -> Bench:
    """Load and count. Raises BadInput for a file that is no session and for an epoch that it does not have."""
    part = part_asked()
    counter = Counter(CountCache(paths.token_counts()))
    with Watched() as watched:
        session = load(file, watched.bytes_read, part)
        bench = with_kept_scale(open_bench(session, counter, epoch=epoch, window=window))
        counter.count_all(bench.messages, watched.messages_counted, lambda: False)
    return counted(bench, counter)


class Watched:
    """One line on a terminal's stderr that says how far the work is, and is gone afterwards."""

    def __enter__(self) -> Watched:
        self._seen = on_a_terminal()
        return self

    def __exit__(self, *_: object) -> None:
        self._say("")

    def bytes_read(self, done: int, total: int) -> None:
        self._say(f"Reading, {100 * done // max(1, total)} %")

    def messages_counted(self, done: int, total: int) -> None:
        self._say(f"Counting tokens, {100 * done // max(1, total)} %")

    def _say(self, text: str) -> None:
        if self._seen:
            click.echo(f"\r\033[K{text}", nl=False, err=True)
