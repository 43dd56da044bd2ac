"""A whole session, every token counted, as a course to be played: what `why`, `replay` and `sweep` start from."""

from __future__ import annotations

from pathlib import Path

from workbench.analysis.course import Course, course_of, uncounted
from workbench.base import paths
from workbench.bench import Bench, counted, open_bench
from workbench.cli.loading import Watched, part_asked
from workbench.formats.files import load
from workbench.remembered import with_kept_scale
from workbench.session import Session
from workbench.tokens import Counter
from workbench.tokens.cache import CountCache


def whole_session(file: Path) -> tuple[Session, Counter]:
    """Load and count all epochs. Raises BadInput for a file that is no session."""
    counter = Counter(CountCache(paths.token_counts()))
    with Watched() as watched:
        session = load(file, watched.bytes_read, part_asked())
        counter.count_all(uncounted(session), watched.messages_counted, lambda: False)
    return session, counter


def bench_and_course(session: Session, counter: Counter, epoch: int, window: int | None) -> tuple[Bench, Course]:
    """One epoch on the bench, and the session from there on. Raises BadInput for an epoch that does not exist."""
    bench = with_kept_scale(open_bench(session, counter, epoch=epoch, window=window))
    return counted(bench, counter), course_of(session, counter, first=epoch, scale=bench.scale)
