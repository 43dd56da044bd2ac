"""A session's file that changes on disk, without a terminal: noticed, read again, followed."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from pathlib import Path

import pytest

from tests.finding.test_discover import session_at
from tests.tui.app import story
from tests.tui.bench.desk import Desk
from workbench.finding.following import file_mark
from workbench.formats.files import load
from workbench.tui.bench.following import TRIES, Following, GrownBench, ReadAgain, check_file, fits, follow


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return session_at(tmp_path / "live.jsonl", "go on", 1_000, filler=8)


@pytest.fixture
def desk(path: Path) -> Desk:
    """The session as it was loaded: its mark is known, it is not followed."""
    desk = Desk(load(path))
    desk.store.put(replace(desk.view, following=Following(mark=file_mark(path))))
    return desk


CHANGED = "live.jsonl has changed on disk; Read again (ctrl+p) reads it and keeps your work."
GONE = "live.jsonl was moved or deleted; your work is kept. Put it back to read it again."


def test_a_changed_file_is_told_of_once(desk: Desk, path: Path) -> None:
    check_file(desk)
    assert desk.toasts == []
    session_at(path, "go on", 2_000, filler=12)
    desk.app.app_focus = False
    check_file(desk)
    assert desk.toasts == []
    desk.app.app_focus = True
    check_file(desk)
    check_file(desk)
    assert (desk.toasts, desk.work) == ([CHANGED], {})


def test_it_is_read_again_with_the_work(desk: Desk, path: Path) -> None:
    desk.do("pin", "reread")
    (sent,) = desk.sent
    assert isinstance(sent, ReadAgain)
    assert (sent.path, sent.window, sent.part) == (path, None, "")  # a window that nobody gave is found anew
    assert len(sent.work.pins) == 1


@pytest.mark.parametrize("action", ["follow", "reread"])
def test_what_was_not_read_from_a_file_is_not_read_again(action: str) -> None:
    desk = Desk(story())
    desk.do(action)
    assert len(desk.toasts) == 1
    assert desk.toasts[0].startswith("This session was not read from a file")
    assert not desk.view.following.is_on


def test_a_followed_file_is_read_when_it_has_changed_and_may_be(desk: Desk, path: Path) -> None:
    follow(desk)
    check_file(desk, math.inf)
    assert desk.work == {}
    session_at(path, "go on", 2_000, filler=12)
    desk.is_active = False
    check_file(desk, math.inf)
    desk.is_active = True
    desk.store.put(replace(desk.view, running="running"))
    check_file(desk, math.inf)
    desk.store.put(replace(desk.view, running="", following=replace(desk.view.following, not_before=5.0)))
    check_file(desk, 4.9)
    assert desk.work == {}
    check_file(desk, 5.0)
    assert list(desk.work) == ["follow"]
    check_file(desk, 6.0)  # it is being read
    before = len(desk.bench.messages)
    desk.rest()
    assert len(desk.bench.messages) > before
    assert desk.view.following.not_before > 5.0


def test_following_is_stopped_and_begun_again(desk: Desk, path: Path) -> None:
    desk.do("follow")
    desk.rest()
    desk.do("follow")
    session_at(path, "go on", 2_000, filler=12)
    check_file(desk, math.inf)
    desk.do("follow")
    assert desk.toasts == [
        "Following live.jsonl: new messages appear as they are written.",
        "No longer followed.",
        CHANGED,
        "Following live.jsonl: new messages appear as they are written.",
    ]
    assert list(desk.work) == ["follow"], "a change that was told of before is read now"


@pytest.mark.parametrize("is_on", [False, True])
def test_a_file_that_is_gone_is_told_of_once_and_again_when_it_went_twice(desk: Desk, path: Path, is_on: bool) -> None:
    if is_on:
        follow(desk)
        desk.store.put(replace(desk.view, following=replace(desk.view.following, mark=file_mark(path))))
    aside = path.rename(path.with_name("aside"))
    desk.do("pin")
    pins = desk.bench.pins
    for _ in range(2):
        check_file(desk, math.inf)
    assert (desk.toasts, desk.work, desk.bench.pins) == ([GONE], {}, pins)
    aside.rename(path)
    check_file(desk, math.inf)
    path.unlink()
    check_file(desk, math.inf)
    assert (desk.toasts, desk.work) == ([GONE, GONE], {})


def test_a_file_that_is_gone_is_not_followed(desk: Desk, path: Path) -> None:
    path.unlink()
    desk.do("follow")
    assert (desk.toasts, desk.view.following.is_on) == ([GONE], False)


def test_of_a_large_file_that_is_gone_an_export_is_told_to_need_it(desk: Desk, path: Path) -> None:
    desk.bench.session.records.let_go(path, path.stat().st_size, b"digest")
    path.unlink()
    check_file(desk)
    assert desk.toasts == [GONE.replace("read it again", "export or read it again")]


def test_a_followed_file_that_stays_unreadable_is_told_of(desk: Desk, path: Path) -> None:
    """It does not change again: the readings that failed are repeated, and end when it was told."""
    follow(desk)
    path.write_text("")
    for _ in range(TRIES + 1):
        check_file(desk, math.inf)
        desk.rest()
    assert (desk.toasts, desk.view.following.failed) == ([f"{path} is empty; open a file with a session."], TRIES)


@pytest.mark.parametrize("tries", [TRIES - 1, TRIES, TRIES + 1])
def test_readings_that_fail_are_told_once(desk: Desk, path: Path, tries: int) -> None:
    follow(desk)
    for number in range(tries):
        path.write_text("nothing of the kind" + "!" * number)
        check_file(desk, math.inf)
        desk.rest()
    assert (len(desk.toasts), desk.view.following.failed) == (int(tries >= TRIES), tries)


def test_what_was_read_for_one_bench_fits_another_with_the_same_session_and_epoch(desk: Desk) -> None:
    before = desk.bench
    grow_bench = GrownBench(before, desk.view.groups, lambda bench: bench, 1)
    afresh = replace(grow_bench, change=None)
    desk.do("pin")
    present = desk.bench
    assert [fits(one, before, now) for one in (grow_bench, afresh) for now in (before, present)] == [
        True,
        True,
        True,
        False,
    ]
    assert not fits(grow_bench, before, replace(present, session=replace(present.session)))


def test_c_a_result_that_was_committed_is_not_read_over(desk: Desk, path: Path) -> None:
    """It is of the session as it was. The file is read when the result is undone."""
    desk.do("run")
    desk.rest()
    assert desk.bench.result is not None
    follow(desk)
    session_at(path, "go on", 2_000, filler=12)
    check_file(desk, math.inf)
    assert desk.work == {}
    desk.do("undo")
    assert desk.bench.result is None
    check_file(desk, math.inf)
    assert list(desk.work) == ["follow"]


def test_c_what_was_read_while_a_result_was_committed_is_not_put_on(desk: Desk, path: Path) -> None:
    follow(desk)
    session_at(path, "go on", 2_000, filler=12)
    check_file(desk, math.inf)
    read = desk.work.pop("follow")
    desk.do("run")
    desk.rest()
    result, messages = desk.bench.result, len(desk.bench.messages)
    asyncio.run(read())
    assert result is not None
    assert (desk.bench.result, len(desk.bench.messages)) == (result, messages)
    assert desk.view.following.mark is None, "it is read again afterwards"
