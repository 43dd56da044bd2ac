"""Load the named session and one epoch with counted tokens, for commands that plan no compaction."""

from __future__ import annotations

import click
from msgspec import Struct

from workbench.analysis.why.rejections import epoch_named
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


class Opened(Struct, frozen=True):
    session: Session
    epoch: int
    context: Context


def opened(chosen: Selection, *, forgetting: bool = False) -> Opened:
    """Return the session with the chosen epoch. With `forgetting`, the scale from exact counts is deleted and a note
    printed on stderr. Raises BadInput for a file that is no session, and for a missing epoch."""
    counter = Counter(CountCache(paths.token_counts()))
    with Watched() as watched:
        session = loaded(chosen, counter, watched)
        epoch = epoch_named(session, chosen.epoch)
        counter.count_all(to_weigh(session, epoch), watched.messages_counted, lambda: False)
        keep(session, counter)
    scale = None if forgetting else scales.recall(session)
    if forgetting:
        taught = scales.forget(session)
        forgotten = f"forgotten: × {taught.value:.2f} from {taught.source}" if taught else "there was nothing to forget"
        warn(f"{forgotten}; figures follow the session's recorded usage.")
    return Opened(session, epoch, context_at(session, epoch, counter, window=chosen.window, scale=scale))


def epoch_words(session: Session, epoch: int) -> str:
    """Return the number of the epoch and the reason for choosing it; "" in a session with one epoch."""
    last = len(session.epochs)
    if epoch < last and epoch == epoch_named(session, None):
        return f"{epoch} of {last}, the newest that overflowed or was compacted; --epoch last for the newest"
    return f"{epoch} of {last}" if last > 1 else ""


def loaded(chosen: Selection, counter: Counter, watched: Watched) -> Session:
    """Load the session, with secrets masked if requested, and its cached token counts into `counter`. Raises BadInput
    for a file that is no session, and for one that cannot be masked because it is not text."""
    read = load_masked if chosen.mask else load
    session = read(chosen.file, watched.bytes_read, chosen.part)
    weights.recall(session, counter)
    return session


def keep(session: Session, counter: Counter) -> None:
    """Cache a large session and its token counts for the next command."""
    load_cache.store(session)
    weights.keep(session, counter)


class Watched:
    """Progress line on stderr, only on a terminal; cleared at the end."""

    def __enter__(self) -> Watched:
        self._seen = on_a_terminal()
        return self

    def __exit__(self, *_: object) -> None:
        self._say("")

    def bytes_read(self, done: int, total: int) -> None:
        self._say(f"Reading, {percent(done / max(1, total))}")

    def messages_counted(self, done: int, total: int) -> None:
        self._say(f"Counting tokens, {percent(done / max(1, total))}")

    def _say(self, text: str) -> None:
        if self._seen:
            click.echo(over_line(text), nl=False, err=True)
