"""A session file on the bench, every token counted: what the commands that answer in one go start from."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.bench import Bench, counted, open_bench
from workbench.cli.output import on_a_terminal
from workbench.formats.files import load
from workbench.tokens import Counter
from workbench.tokens.cache import CountCache, default_path


def on_bench(file: Path, *, epoch: int | None, window: int | None) -> Bench:
    """Load and count. Raises BadInput for a file that is no session and for an epoch that it does not have."""
    counter = Counter(CountCache(default_path()))
    with _Watched() as watched:
        session = load(file, watched.bytes_read)
        bench = open_bench(session, counter, epoch=epoch, window=window)
        counter.count_all(bench.messages, watched.messages_counted, lambda: False)
    return counted(bench, counter)


class _Watched:
    """One line on a terminal's stderr that says how far the work is, and is gone afterwards."""

    def __enter__(self) -> _Watched:
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
