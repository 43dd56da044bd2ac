"""Load the named session and one epoch with counted tokens, for commands that plan no compaction."""

from __future__ import annotations

import click
from msgspec import Struct

from workbench.analysis.why.overflow import epoch_named
from workbench.base import paths
from workbench.base.figures import percent
from workbench.cli.output import on_a_terminal, over_line, warn
from workbench.cli.selection import Selection
from workbench.compaction.context import Context
from workbench.compaction.opening import context_at
from workbench.formats import load_cache
from workbench.formats.files import load
from workbench.formats.masked import load_masked
from workbench.session import Session
from workbench.tokens import Counter, scales, to_weigh, weights
from workbench.tokens.cache import CountCache


class OpenedEpoch(Struct, frozen=True):
    session: Session
    epoch: int
    context: Context


def open_epoch(chosen: Selection, *, forget_scale: bool = False) -> OpenedEpoch:
    """Return the session with the chosen epoch. With `forget_scale`, the scale from exact counts is deleted and a note
    printed on stderr. Raises BadInput for a file that is no session, and for a missing epoch."""
    counter = Counter(CountCache(paths.token_counts()))
    with LoadProgress() as progress:
        session = load_session(chosen, counter, progress)
        epoch = epoch_named(session, chosen.epoch)
        counter.count_all(to_weigh(session, epoch), progress.messages_counted, lambda: False)
        cache_session(session, counter)
    scale = None if forget_scale else scales.recall(session)
    if forget_scale:
        scale_before = scales.forget(session)
        forgotten = (
            f"forgotten: × {scale_before.value:.2f} from {scale_before.source}"
            if scale_before
            else "there was nothing to forget"
        )
        warn(f"{forgotten}; figures follow the session's recorded usage.")
    return OpenedEpoch(session, epoch, context_at(session, epoch, counter, window=chosen.window, scale=scale))


def epoch_words(session: Session, epoch: int) -> str:
    """Return the number of the epoch and the reason for choosing it; "" in a session with one epoch."""
    last = len(session.epochs)
    if epoch < last and epoch == epoch_named(session, None):
        return f"{epoch} of {last}, the newest that overflowed or was compacted; --epoch last for the newest"
    return f"{epoch} of {last}" if last > 1 else ""


def load_session(chosen: Selection, counter: Counter, progress: LoadProgress) -> Session:
    """Load the session, with secrets masked if requested, and its cached token counts into `counter`. Raises BadInput
    for a file that is no session, and for one that cannot be masked because it is not text."""
    read = load_masked if chosen.mask else load
    session = read(chosen.file, progress.bytes_read, chosen.part)
    weights.recall(session, counter)
    return session


def cache_session(session: Session, counter: Counter) -> None:
    """Cache a large session and its token counts for the next command."""
    load_cache.store(session)
    weights.keep(session, counter)


class LoadProgress:
    """Progress line on stderr, only on a terminal; cleared at the end."""

    def __enter__(self) -> LoadProgress:
        self._is_shown = on_a_terminal()
        return self

    def __exit__(self, *_: object) -> None:
        self._say("")

    def bytes_read(self, done: int, total: int) -> None:
        self._say(f"Reading, {percent(done / max(1, total))}")

    def messages_counted(self, done: int, total: int) -> None:
        self._say(f"Counting tokens, {percent(done / max(1, total))}")

    def _say(self, text: str) -> None:
        if self._is_shown:
            click.echo(over_line(text), nl=False, err=True)
