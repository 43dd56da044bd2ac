"""Courses for tests: messages in one line, counted as a quarter of their characters."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path

from workbench.analysis.course import Course, CourseTokens, course_messages
from workbench.conformance.building import METER
from workbench.formats.files import load
from workbench.session import Epoch, Message, Records, Session
from workbench.tokens import Counter
from workbench.tokens.sizes import Basis, Sizes


def session_of(messages: Sequence[Message], *epochs: Sequence[int]) -> Session:
    members = epochs or (range(len(messages)),)
    numbered = tuple(Epoch(number, each) for number, each in enumerate(members, 1))
    return Session("claude-code", None, tuple(messages), Records(b""), epochs=numbered)


def counted_from(file: Path) -> tuple[Session, Counter]:
    """A session of a file, all its messages counted."""
    session = load(file)
    return session, counter_of(session)


def counter_of(session: Session) -> Counter:
    """All messages of a session counted."""
    counter = Counter(None)
    counter.count_all(course_messages(session), lambda done, total: None, lambda: False)
    return counter


def course_of_messages(messages: Sequence[Message], overhead: int = 0) -> Course:
    """One epoch without bills."""
    tokens = array("q", map(METER.tokens, messages))
    sizes = Sizes(tokens, Basis.CALIBRATED, overhead, Basis.CALIBRATED, 0, METER)
    count = len(messages)
    beyond = array("q", [overhead] * count)
    members = array("q", range(count))
    figures = CourseTokens(sizes, beyond, beyond)
    return Course(session_of(messages), tuple(messages), members, (1,), (0,), count, Counter(), lambda: figures)
