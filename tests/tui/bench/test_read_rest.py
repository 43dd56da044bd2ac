"""A large session of which the end is on the bench before the rest is read, without a terminal: nothing is told of it
that is not true of the whole, and what is done meanwhile stays."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.formats.claude_code_build import jsonl
from tests.formats.test_claude_code_newest import compacted, conversation, part
from tests.tui.bench.desk import Desk
from workbench.analysis.why.overflow import overflowed_epoch
from workbench.bench.saved_work import work_of
from workbench.formats import files
from workbench.formats.files import load, load_newest
from workbench.session import Session
from workbench.tui.bench.actions import ACTIONS
from workbench.tui.bench.counting import count
from workbench.tui.bench.following import AllRead, check_file, read_rest
from workbench.tui.bench.planning import END_ONLY, start_preview
from workbench.tui.bench.saving import save_now
from workbench.tui.bench.store import to_count
from workbench.tui.plan_words import title_end, title_text
from workbench.tui.screens.loading import Opening, open_on_bench


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Five epochs, of which the fourth is opened."""
    monkeypatch.setattr(files, "LARGE", 1)
    (path := tmp_path / "long.jsonl").write_bytes(lines())
    return path


def lines(*more: dict[str, Any]) -> bytes:
    first, *rest = conversation()
    begun = [*part("z", None, 20), *compacted("c", "z19-a3")]
    return jsonl(*begun, first | {"parentUuid": "c-s"}, *rest, *more)


@pytest.fixture
def desk(path: Path) -> Desk:
    desk = Desk(load_newest(path))
    assert desk.bench.session.begins_at
    return desk


def told(desk: Desk) -> str:
    return "  ".join(
        (title_text(desk.bench).plain, title_end(desk.bench, desk.view.preset, None, desk.view.reading).plain)
    )


def put_whole_session(desk: Desk) -> None:
    desk.spawn("rest", read_rest, desk)
    desk.rest()


def test_a_share_that_comes_behind_the_whole_session_is_not_told(desk: Desk) -> None:
    late = list[Callable[[], object]]()
    desk.call_later = lambda callback, *args: bool(late.append(partial(callback, *args))) or True  # type: ignore[method-assign]
    put_whole_session(desk)
    assert not desk.bench.session.begins_at
    reading = desk.view.reading
    for share in late:
        share()
    assert (len(late) > 0, desk.view.reading) == (True, reading)


def test_nothing_is_told_that_is_not_true_of_the_whole(desk: Desk, path: Path) -> None:
    whole = Desk(load(path))
    for one in (desk, whole):
        count(one)
        one.rest()
    assert "epoch before the newest" in told(desk)
    assert "reading earlier epochs: 0\u00a0%" in told(desk)
    assert "· epoch 4 of 5 ·" in told(whole)
    view, bench = desk.view, desk.bench
    assert (view.epochs, view.verdict, view.usage_check) == ((), "", None)
    assert bench.context.outcome_size(bench.plan.outcome) == whole.bench.context.outcome_size(whole.bench.plan.outcome)
    assert (bench.plan.before, bench.plan.triggers) == (whole.bench.plan.before, whole.bench.plan.triggers)
    assert [one.id for one in bench.messages] == [one.id for one in whole.bench.messages]


OF_ALL = {
    *("epoch.-1", "epoch.1", "follow", "choose-preset", "edit-text", "paste-params"),
    *("run", "run-with", "runs", "exact"),
    *("why", "kept", "questions", "compare", "replay", "play", "export", "rescue", "copy-instruction"),
}


def test_what_needs_the_whole_says_so_until_it_is_read(desk: Desk) -> None:
    assert {id for id, action in ACTIONS.items() if action.why_not(desk.view) == END_ONLY} == OF_ALL
    desk.do("why", "pin")
    assert (desk.toasts, desk.asked, len(desk.bench.pins)) == ([END_ONLY], [], 1)
    put_whole_session(desk)
    assert not any(action.why_not(desk.view) == END_ONLY for action in ACTIONS.values())


def test_what_is_done_meanwhile_stays_and_can_be_undone(desk: Desk, path: Path) -> None:
    desk.do("pin")
    desk.at = (3, False)
    desk.do("drop")
    desk.rest()
    pins, dropped, steps = desk.bench.pins, desk.bench.dropped, len(desk.view.history.past)
    assert (len(pins), bool(dropped), steps) == (1, True, 2)
    put_whole_session(desk)
    bench, whole = desk.bench, load(path)
    assert (bench.session.begins_at, bench.epoch, len(bench.session.epochs)) == (0, overflowed_epoch(whole), 5)
    assert (bench.pins, bench.dropped, len(desk.view.history.past)) == (pins, dropped, steps)
    assert {one.epoch for one in desk.view.history.past} == {4}
    assert "· epoch 4 of 5 ·" in told(desk)
    assert [one.number for one in desk.view.epochs] == [1, 2, 3, 4, 5]
    assert isinstance(desk.sent[-1], AllRead)
    assert desk.toasts == []
    desk.do("undo", "undo")
    assert desk.bench.pins == frozenset()


def test_how_far_it_is_read_is_told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float | None] = []
    desk.store.subscribe(lambda was, now: seen.append(now.reading))
    put_whole_session(desk)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_it_waits_while_another_screen_works_with_the_session(desk: Desk) -> None:
    desk.is_active = False
    put_whole_session(desk)
    check_file(desk)
    assert (desk.view.whole is not None, desk.work) == (True, {})
    assert desk.bench.session.begins_at
    desk.is_active = True
    desk.do("pin")
    check_file(desk)
    desk.rest()
    assert (desk.bench.session.begins_at, desk.view.whole, len(desk.bench.pins)) == (0, None, 1)


def test_a_file_that_is_gone_is_told_of(desk: Desk, path: Path) -> None:
    path.unlink()
    put_whole_session(desk)
    assert desk.toasts == [f"{path} does not exist; check the name. Read again (ctrl+p) tries again."]
    assert "epoch before the newest" in told(desk)
    assert "earlier epochs unreadable" in told(desk)
    assert ACTIONS["export"].why_not(desk.view) == END_ONLY


@pytest.mark.parametrize("compacts", [False, True], ids=["a round more", "a compaction more"])
def test_a_file_that_has_grown_meanwhile(desk: Desk, path: Path, compacts: bool) -> None:
    last = "d0-a3"
    more = [*compacted("c3", last), *part("e", "c3-s", 1)] if compacts else part("e", last, 1)
    path.write_bytes(lines(*more))
    desk.do("pin")
    put_whole_session(desk)
    assert (desk.bench.session.begins_at, len(desk.bench.session.epochs)) == (0, 6 if compacts else 5)
    known = desk.bench.layout.shape.index_of
    assert all(id in known for id in desk.bench.pins)
    assert len(desk.bench.pins) == (0 if compacts else 1)


def test_work_is_written_down_for_the_epoch_that_is_opened(desk: Desk, path: Path, tmp_path: Path) -> None:
    desk.memory = tmp_path / "memory"
    untouched = desk.view.saved
    assert untouched == work_of(desk.bench)
    desk.do("pin")
    assert save_now(desk) == ""
    again = open_on_bench(Opening(path, memory=desk.memory), lambda done, total: None, lambda: None)
    assert (again.bench.session.begins_at, again.bench.epoch, again.bench.pins) == (0, 4, desk.bench.pins)


def test_what_was_left_as_it_was_is_not_written_when_the_rest_is_read(desk: Desk) -> None:
    put_whole_session(desk)
    assert desk.view.saved == work_of(desk.bench)


Asked = Callable[[Path], Opening]


@pytest.mark.parametrize(
    ("asked", "whole"),
    [
        (Opening, False),
        (lambda path: Opening(path, window=100_000, watched=("Do part a0.",)), False),
        (lambda path: Opening(path, epoch=2), True),
        (lambda path: Opening(path, preset="augment-example"), True),
        (lambda path: Opening(path, follow=True), True),
        (lambda path: Opening(load(path)), True),
    ],
    ids=["nothing", "a window", "an epoch", "a preset", "to follow", "a session"],
)
def test_the_end_is_shown_first_unless_something_is_asked_for_that_needs_all(
    path: Path, asked: Asked, whole: bool
) -> None:
    ready = open_on_bench(asked(path), lambda done, total: None, lambda: None)
    assert (ready.bench.session.begins_at == 0) == whole


def test_an_epoch_without_a_compaction_names_no_others(desk: Desk, path: Path) -> None:
    from workbench.bench import at_epoch
    from workbench.tui.bench.store import first_view
    from workbench.tui.middle.recorded import recorded_parts
    from workbench.tui.rows import Groups

    def words(session: Session) -> str:
        bench = at_epoch(Desk(session).bench, len(session.epochs), desk.counter)
        return "".join(one.text for one in recorded_parts(first_view(bench, Groups(bench.layout))))

    assert "Epochs with one: 1, 2, 3, 4" in words(load(path))
    assert "Epochs that do" not in words(desk.bench.session)


def test_what_is_counted_stays_counted_and_is_held_once(desk: Desk) -> None:
    count(desk)
    desk.rest()
    first, tokens = desk.bench.messages[0], list(desk.bench.layout.sizes.tokens)
    desk.spawn("rest", read_rest, desk)
    asyncio.run(desk.work.pop("rest")())
    assert to_count(desk.bench) is None
    assert list(desk.bench.layout.sizes.tokens) == tokens
    assert desk.bench.messages[0] is not first
    assert (desk.counter.known(first), desk.counter.known(desk.bench.messages[0]) is None) == (None, False)


def test_nothing_is_run_offline_before_all_is_read(desk: Desk) -> None:
    desk.store.put(replace(desk.view, counting=None))
    start_preview(desk, None, desk.view)
    assert desk.work == {}
    put_whole_session(desk)
    desk.store.put(replace(desk.view, counting=None))
    start_preview(desk, None, desk.view)
    assert list(desk.work) == ["try"]
