"""What is on the bench, without a terminal: steps, undo, what is still being planned, epochs, counts, runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event

import pytest

from tests.analysis.billed import right
from tests.analysis.billed import session as billed
from tests.paths import SAMPLES
from tests.tui.app import session_of, story, story_file
from tests.tui.bench.desk import Desk
from tests.tui.test_shape import compacted_story
from workbench.analysis.usage_check import UsageCheck, check_usage
from workbench.base.errors import BadInput
from workbench.bench import Bench, steps
from workbench.compaction.outcome import Fate
from workbench.compaction.preset import load_preset
from workbench.formats.files import load
from workbench.session import Epoch, Message, Session, Span, Text
from workbench.tokens import Counter, Scale
from workbench.tui.bench import counting, edits, planning, policy
from workbench.tui.bench.host import take_step
from workbench.tui.bench.saving import save_in_thread, save_now
from workbench.tui.bench.store import AT_ONCE, BenchView, Store
from workbench.tui.plain import percent
from workbench.tui.rows import Groups


def long(count: int) -> Desk:
    roles = ("user", "assistant")
    return Desk(session_of([Message(f"m{n}", roles[n % 2], (Text(f"word {n}"),)) for n in range(count)]))


def test_what_a_listener_changes_is_told_when_all_have_heard_of_what_came_before() -> None:
    store, told = Store(Desk(story()).view), list[tuple[str, str, str]]()

    def first(was: BenchView | None, now: BenchView) -> None:
        told.append(("first", was.note if was else "-", now.note))
        if now.note == "one":
            store.put(replace(now, note="two"))

    store.subscribe(first)
    store.subscribe(lambda was, now: told.append(("second", was.note if was else "-", now.note)))
    store.put(replace(store.view, note="one"))
    assert told == [
        ("first", "-", ""),
        ("second", "-", ""),
        ("first", "", "one"),
        ("second", "", "one"),
        ("first", "one", "two"),
        ("second", "one", "two"),
    ]


# --- steps and undo ---


@pytest.mark.parametrize(
    ("at", "pinned"), [((3, False), "m3"), ((8, True), "m8")], ids=["a message", "a round: its request"]
)
def test_pins(at: tuple[int, bool], pinned: str) -> None:
    desk = Desk(story())
    desk.at = at
    desk.do("pin")
    assert desk.bench.pins == {pinned}
    assert desk.view.note == f"pinned message {int(pinned[1:]) + 1}"
    desk.do("undo")
    assert (desk.bench.pins, desk.view.note) == (frozenset(), "")
    desk.do("redo", "pin")
    assert (desk.bench.pins, desk.view.note) == (frozenset(), f"unpinned message {int(pinned[1:]) + 1}")


def test_the_split_moves_by_units_in_one_step_and_goes_back_to_its_own() -> None:
    desk = Desk(story())
    own = desk.bench.outcome.split
    desk.do("move_split.-1", "move_split.-1")
    up = desk.bench.outcome.split
    desk.do("move_split.1", "move_split.1", "move_split.1")
    assert up < own < desk.bench.outcome.split
    assert len(desk.view.history.past) == 1
    desk.do("unsplit")
    assert (desk.bench.split_at, desk.bench.outcome.split) == (None, own)
    desk.do("undo", "undo")
    assert (desk.bench.split_at, desk.view.history.past) == (None, ())


def test_everything_above_the_cursor_is_compacted() -> None:
    desk = Desk(story())
    desk.at = (16, True)
    desk.do("split_here")
    assert desk.bench.outcome.split == 16
    assert [desk.bench.outcome.fate_at(i).fate for i in (15, 16)] == [Fate.SUMMARIZED, Fate.KEPT]
    desk.do("split_here")
    assert desk.bench.split_at is None, "pressed again at the same place"


def test_a_refused_step_is_told_and_changes_nothing() -> None:
    desk = Desk(story())
    before = desk.view
    take_step(desk, partial(steps.toggle_pin, id="nobody"))
    assert desk.view is before
    assert desk.toasts == ["There is no message 'nobody' in epoch 1; `cwb inspect` lists the ids."]


@pytest.mark.parametrize(
    ("action", "at", "fates", "said"),
    [
        ("drop", (28, False), {26: "kept", 27: "dropped", 28: "dropped", 29: "kept"}, "dropped messages 28–29: "),
        ("shorten", (24, True), {25: "kept", 26: "compressed", 28: "compressed", 30: "compressed"}, "shortened "),
    ],
)
def test_edits(action: str, at: tuple[int, bool], fates: dict[int, str], said: str) -> None:
    desk = Desk(story())
    desk.at = (24, True)
    desk.do("split_here")
    desk.at = at
    desk.do(action)
    desk.rest()
    assert {i: desk.bench.outcome.fate_at(i).fate.value for i in fates} == fates
    assert desk.view.note.startswith(said)
    desk.do("run")
    desk.rest()
    assert desk.bench.result is not None
    assert {i: desk.bench.outcome.fate_at(i).fate.value for i in fates} == fates, "a run keeps to it"
    desk.do(action)
    desk.rest()
    assert not desk.bench.edits
    assert " as before: " in desk.view.note


def test_a_pinned_message_stays_though_it_is_dropped() -> None:
    desk = Desk(story())
    desk.at = (3, False)
    desk.do("pin", "drop")
    desk.rest()
    assert desk.bench.outcome.fate_at(3).fate is Fate.PINNED
    assert desk.view.note == "message 4 is kept: a pin has priority"


# --- what is still being planned ---


@pytest.mark.parametrize(("count", "at_once"), [(AT_ONCE, True), (AT_ONCE + 1, False)])
def test_a_long_session_is_drawn_when_its_plan_is_there(count: int, at_once: bool) -> None:
    desk = long(count)
    before = desk.bench
    assert desk.view.shown is before
    desk.do("pin")
    assert desk.bench.pins == {"m0"}
    assert (desk.view.shown is desk.bench) is at_once
    assert (desk.view.shown is before) is not at_once
    desk.rest()
    assert desk.view.shown is desk.bench


def test_moves_of_a_split_that_is_not_known_yet_are_owed() -> None:
    desk = long(AT_ONCE + 2)
    starts, split = list(desk.bench.context.unit_starts(desk.bench.strategy.unit)), desk.bench.outcome.split
    desk.do("pin", "undo", "pin", "move_split.-1", "move_split.-1", "move_split.-1")
    assert desk.view.pending_split == -3
    desk.rest()
    assert (desk.view.pending_split, desk.bench.outcome.split) == (0, starts[starts.index(split) - 3])


def window(size: int) -> partial[Bench]:
    return partial(steps.with_window, tokens=size)


def test_a_change_made_meanwhile_is_not_lost() -> None:
    desk = Desk(story())
    planning.plan_step(desk, window(55_555), note="a window")
    desk.do("pin")
    planning.plan_step(desk, lambda bench: replace(bench, preset="mine"), note="a name")
    assert (desk.bench.window, len(desk.view.pending)) == (200_000, 2)
    desk.rest()
    assert (desk.bench.window, desk.bench.preset, desk.bench.pins) == (55_555, "mine", {"m0"})
    assert (desk.view.note, desk.view.pending, len(desk.view.history.past)) == ("a name", (), 3)


def test_of_changes_with_one_key_only_the_last_is_planned() -> None:
    desk, plan_and_measure = Desk(story()), list[int]()
    for size in (5_000, 50_000, 500_000):
        planning.plan_step(
            desk, lambda bench, size=size: plan_and_measure.append(size) or steps.with_window(bench, size), "window"
        )  # type: ignore[misc,func-returns-value]
    desk.rest()
    assert plan_and_measure == [500_000]
    assert (desk.bench.window, len(desk.view.history.past)) == (500_000, 1)


@pytest.mark.parametrize("action", ["undo", "redo"])
def test_undo_and_redo_let_go_of_what_is_still_being_planned(action: str) -> None:
    desk = Desk(story())
    desk.do("pin", "sort", "move_split.-1", "undo")
    before = desk.bench
    planning.plan_step(desk, window(55_555))
    desk.do(action)
    desk.rest()
    assert desk.view.pending == ()
    assert desk.bench.window == 200_000
    assert (desk.bench is before) is (action == "undo")


def test_of_two_changes_that_are_being_planned_undo_lets_go_of_the_last() -> None:
    desk = Desk(story())
    planning.plan_step(desk, window(55_555))
    planning.plan_step(desk, window(66_666))
    desk.do("undo")
    desk.rest()
    assert (desk.bench.window, len(desk.view.history.past)) == (55_555, 1)


def test_what_is_let_go_while_a_thread_plans_it_does_not_land() -> None:
    desk = Desk(story())

    def meanwhile(bench: Bench) -> Bench:
        edits.undo(desk)
        return steps.with_window(bench, 55_555)

    planning.plan_step(desk, meanwhile)
    desk.rest()
    assert (desk.bench.window, desk.view.history.past) == (200_000, ())


def test_a_step_taken_while_a_thread_plans_has_the_change_made_anew() -> None:
    desk, seen = Desk(story()), list[frozenset[str]]()

    def meanwhile(bench: Bench) -> Bench:
        seen.append(bench.pins)
        if not desk.bench.pins:
            desk.do("pin")
        return steps.with_window(bench, 55_555)

    planning.plan_step(desk, meanwhile)
    desk.rest()
    assert seen == [frozenset(), {"m0"}]
    assert (desk.bench.window, desk.bench.pins) == (55_555, {"m0"})


def refused(bench: Bench) -> Bench:
    raise BadInput("Not so.")


def test_a_change_that_is_refused_is_told_and_the_next_is_made() -> None:
    desk = Desk(story())
    planning.plan_step(desk, refused)
    planning.plan_step(desk, window(55_555))
    desk.rest()
    assert (desk.toasts, desk.bench.window, desk.view.pending) == (["Not so."], 55_555, ())


def test_a_change_that_fails_does_not_stand_in_the_way_of_the_next() -> None:
    desk = Desk(story())
    planning.plan_step(desk, lambda bench: 1 / 0)  # type: ignore[arg-type,return-value]
    with pytest.raises(ZeroDivisionError):
        desk.rest()
    desk.work.clear()
    planning.plan_step(desk, window(55_555))
    desk.rest()
    assert desk.bench.window == 55_555


# --- the policy ---


def test_a_preset_brings_strategy_and_numbers_and_what_they_are_measured_by() -> None:
    desk = Desk(story())
    policy.choose(desk, load_preset("trim"))
    desk.rest()
    assert (desk.bench.strategy.id, desk.view.preset.id, desk.view.note) == ("trim", "trim", "preset trim")
    desk.do("undo")
    assert (desk.bench.strategy.id, desk.view.preset.id) == ("exchange-summary", "augment-example")


def test_as_the_preset_again_says_how_many_fields() -> None:
    desk = Desk(story())
    policy.change_policy(desk, desk.bench.policy.with_(summary_char_limit=9), "summary_char_limit")
    policy.change_policy(desk, desk.bench.policy.with_(summary_char_limit=99), "summary_char_limit")
    desk.rest()
    assert (desk.bench.policy.model_dump()["summary_char_limit"], len(desk.view.history.past)) == (99, 1)
    desk.do("reset-policy")
    desk.rest()
    assert desk.bench.policy == desk.view.preset.policy
    assert desk.view.note == "1 field as in augment-example again"


# --- counts, epochs, runs ---


def test_counts_reach_every_step_and_make_no_step() -> None:
    desk = Desk(story())
    desk.do("pin")
    counting.count(desk)
    desk.rest()
    known = Counter()
    known.count_all(desk.bench.messages, lambda done, of: None, lambda: False)
    exact_counts = steps.with_counts(desk.bench, known).layout.tokens
    assert [list(one.layout.tokens) for one in (desk.bench, *desk.view.history.past)] == [list(exact_counts)] * 2
    assert (desk.view.counting, desk.view.note, is_sized(desk)) == (None, "pinned message 1", True)


def is_sized(desk: Desk) -> bool:
    """Whether the line of the epochs has the size that the bars have."""
    return desk.view.epochs[0].tokens == desk.bench.context.total.tokens > 0


def test_what_was_counted_before_it_is_opened_is_not_laid_out_again() -> None:
    known, session = Counter(), story()
    known.count_all(session.context(), lambda done, of: None, lambda: False)
    desk = Desk(session, counter=known)
    layout = desk.bench.layout
    assert desk.view.counting is None
    counting.count(desk)
    desk.rest()
    assert desk.bench.layout is layout
    assert (desk.view.counting, is_sized(desk), bool(desk.view.verdict)) == (None, True, True)


def test_nothing_is_said_of_what_is_still_being_counted() -> None:
    desk = Desk(story())
    desk.store.subscribe(partial(planning.start_preview, desk))
    desk.store.subscribe(partial(planning.start_checks, desk))
    assert (desk.view.counting is not None, [*desk.work]) == (True, [])
    counting.show_epochs(desk)
    desk.rest()
    assert (desk.view.checks, is_sized(desk), desk.view.verdict) == (None, True, "")
    counting.count(desk)
    desk.rest()
    assert desk.view.checks
    assert desk.view.verdict


def test_the_bills_of_every_epoch_are_judged_when_all_is_counted() -> None:
    one = billed(right(8), epochs=(Epoch(1, range(9)), Epoch(2, range(9, 17))))
    desk = Desk(one)
    assert desk.view.usage_check is None
    counting.count(desk)
    desk.rest()
    found = desk.view.usage_check
    assert found == check_usage(one, Counter())
    assert found is not None
    assert (found.judged, len(found.gaps_in(1)) > 0, found.gaps_in(3)) == (7, True, ())


def test_counts_of_another_epoch_draw_nothing() -> None:
    desk = Desk(story())
    desk.store.put(replace(desk.view, checks=()))
    before, layout = desk.view, desk.bench.layout
    desk.store.counted(2, layout, Groups(layout), 3, 10)
    now = desk.view
    assert (now.shown, now.groups, now.checks, now.counting) == (before.shown, before.groups, (), (3, 10))


class Stuck(Counter):
    """Counts what is on the screen, and then goes on until it is given up."""

    def count_all(self, messages: Sequence[Message], progress: object, cancelled: Callable[[], bool]) -> bool:
        while messages and not cancelled():
            pass
        return not messages


def counting_for_ever() -> tuple[Desk, list[Callable[[], None]], Event]:
    """A desk whose count never ends, its callbacks, which the test runs when it wants, and an event for the first."""
    desk, late, told = Desk(story()), list[Callable[[], None]](), Event()
    desk.counter = Stuck()

    def later(callback: Callable[..., None], *args: object) -> bool:
        late.append(partial(callback, *args))
        told.set()
        return True

    desk.call_later = later  # type: ignore[method-assign]
    return desk, late, told


def test_figures_that_come_after_counting_was_stopped_are_not_drawn() -> None:
    desk, late, told = counting_for_ever()

    async def stopped() -> None:
        task = asyncio.create_task(counting.count_from(desk, Span(0, 0)))
        await asyncio.to_thread(told.wait)
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(stopped())
    counting.stop_counting(desk)
    for land in late:
        land()
    assert (len(late), desk.view.counting) == (1, None)


def test_counting_ends_where_all_was_counted_meanwhile() -> None:
    """The view said 0 of 11 for good: between what it said and the count, another thread had counted them."""
    known, session = Counter(), story()
    known.count_all(session.context(), lambda done, of: None, lambda: False)
    desk = Desk(session, counter=known)
    desk.store.put(replace(desk.view, counting=(0, 11)))
    counting.count(desk)
    desk.rest()
    assert desk.view.counting is None


def test_figures_of_a_session_that_another_took_the_place_of_are_not_drawn() -> None:
    desk, late, told = counting_for_ever()

    async def replaced() -> BenchView:
        task = asyncio.create_task(counting.count_from(desk, Span(0, 0)))
        await asyncio.to_thread(told.wait)
        desk.store.put(replace(Desk(story(5)).view, counting=(0, 5)))
        view = desk.view
        for land in late:
            land()
        task.cancel()
        await asyncio.wait([task])
        return view

    assert asyncio.run(replaced()) is desk.view
    assert len(late) == 1


def test_another_epoch_is_a_step_and_lets_go_what_it_does_not_hold() -> None:
    desk = Desk(load(SAMPLES / "codex-two-compactions.jsonl"), epoch=1)
    desk.do("pin", "epoch.1")
    desk.rest()
    assert (desk.bench.epoch, desk.view.shown.epoch, desk.view.groups.layout) == (2, 2, desk.bench.layout)
    desk.do("undo")
    assert (desk.bench.epoch, len(desk.bench.pins)) == (1, 1)


def test_a_run_stands_until_something_changes_and_shows_what_it_made() -> None:
    desk = Desk(story())
    running = list[str]()
    desk.store.subscribe(lambda was, now: running.append(now.running))
    desk.do("run")
    desk.rest()
    told = [words for words in running if words]
    assert told[0] == "running"
    shares = [words.rpartition(" · ")[2] for words in told if " · " in words]
    assert shares[-1] == percent(0.8), "of all the work; then the summary is put together"
    assert len(shares) == len(set(shares)) > 5
    assert (desk.view.running, desk.view.tab) == ("", "summary")
    assert "Never log the token" in desk.bench.outcome.messages[0].text
    desk.do("pin")
    assert desk.bench.result is None
    desk.do("undo")
    assert desk.bench.result is not None


def test_a_cancelled_run_changes_nothing() -> None:
    desk = Desk(story())
    before = desk.bench

    async def cancelled() -> None:
        task = asyncio.create_task(planning.run_offline(desk))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert (desk.bench, desk.view.running, desk.view.note) == (before, "", "cancelled; nothing was changed")


def test_work_is_written_down_when_there_is_some_and_only_once(tmp_path: Path) -> None:
    desk = Desk(load(story_file(tmp_path)))
    desk.memory = tmp_path
    work = tmp_path / "sessions"
    for write in (partial(asyncio.run, save_in_thread(desk)), partial(save_now, desk)):
        write()
        assert not work.exists()
    desk.do("pin")
    asyncio.run(save_in_thread(desk))
    (kept,) = work.iterdir()
    kept.unlink()
    save_now(desk)
    assert not list(work.iterdir()), "it is written down already"


@pytest.mark.parametrize("messages", [40, AT_ONCE + 1])
def test_what_is_taken_back_before_it_rested_is_checked_again(messages: int) -> None:
    """One bench is drawn at once, the other only when it is planned: what stood before is still the one on show."""
    desk = long(messages)
    desk.store.subscribe(partial(planning.start_preview, desk))
    desk.store.subscribe(partial(planning.start_checks, desk))
    desk.store.counted(1, desk.bench.layout, desk.view.groups, 1, 1)
    desk.rest()
    first = desk.bench
    assert desk.view.checks is not None
    take_step(desk, partial(steps.choose_preset, preset=load_preset("codex")))
    assert (desk.view.shown is first) == (messages > AT_ONCE)
    desk.do("undo")
    assert (desk.bench, desk.view.checks) == (first, None)
    desk.rest()
    assert desk.view.checks is not None
    assert desk.view.previewed is first


def test_sizes_of_epochs_counted_meanwhile_are_not_replaced_by_older_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(compacted_story())

    def older(session: Session, counter: Counter, scale: Scale | None) -> tuple[int, ...]:
        counted_meanwhile = tuple(replace(one, tokens=7) for one in desk.view.epochs)
        desk.store.put(replace(desk.view, usage_check=UsageCheck((), ()), epochs=counted_meanwhile))
        return tuple(5 for _ in desk.view.epochs)

    monkeypatch.setattr(counting, "sizes_at_end", older)
    asyncio.run(counting._compute_epochs(desk))
    assert [one.tokens for one in desk.view.epochs] == [7, 7]
