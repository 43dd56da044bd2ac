"""What messages weigh, from one opening to the next."""

from pathlib import Path

import pytest

from tests.formats.claude_code_build import jsonl, small
from tests.tokens.sessions import Letters
from tests.tokens.test_counting import never, no_engine, quiet
from workbench.base import disk_cache
from workbench.formats.files import load
from workbench.session import Session
from workbench.session.session import digest_of
from workbench.tokens import Counter, session_sizes, weights


@pytest.fixture
def session(tmp_path: Path) -> Session:
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl(*small()))
    read = load(path)
    read.records.let_go(path, read.records.size, digest_of(read.records.data))
    return read


def counted(session: Session) -> Counter:
    counter = Counter(engine=Letters)
    counter.count_all(session.messages, quiet, never)
    return counter


def recalled(session: Session) -> Counter:
    counter = Counter(engine=no_engine)
    weights.recall(session, counter)
    return counter


def test_nothing_is_counted_twice(session: Session) -> None:
    counter = counted(session)
    weights.keep(session, counter)
    again = recalled(session)
    assert [again.known(one) for one in session.messages] == [counter.weigh(one) for one in session.messages]
    assert (
        session_sizes(session, len(session.epochs), again).tokens
        == session_sizes(session, len(session.epochs), counter).tokens
    )


def test_what_was_not_counted_is_not_known(session: Session) -> None:
    counter = Counter(engine=Letters)
    counter.count_all(session.messages[:2], quiet, never)
    counter.glance(session.messages[2])
    weights.keep(session, counter)
    again = recalled(session)
    assert [again.known(one) is not None for one in session.messages] == [
        number < 2 for number in range(len(session.messages))
    ]


def test_what_is_counted_later_is_kept_too(session: Session) -> None:
    counter = Counter(engine=Letters)
    counter.count_all(session.messages[:2], quiet, never)
    weights.keep(session, counter)
    weights.keep(session, counted(session))
    weights.keep(session, Counter(engine=Letters))
    assert all(recalled(session).known(one) for one in session.messages)


def test_figures_of_something_else_are_not_taken(session: Session) -> None:
    weights.keep(session, counted(session))
    assert session.path is not None
    place = disk_cache.cache_file(session.path, "weights")
    whole = place.read_bytes()
    for wrong in (whole[:-8], whole + bytes(8), whole[:-1], whole.replace(b"o200k", b"o100k", 1)):
        place.write_bytes(wrong)
        assert recalled(session).known(session.messages[0]) is None
    place.write_bytes(whole)
    assert recalled(session).known(session.messages[0]) is not None


def test_a_small_session_is_counted_each_time(session: Session) -> None:
    assert session.path is not None
    again = load(session.path)
    weights.keep(again, counted(again))
    assert not disk_cache.cache_file(session.path, "weights").exists()
