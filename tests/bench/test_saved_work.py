"""Work on a session, from one day to the next: what still exists comes back, what does not is counted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tui.app import story
from workbench.base.errors import BadInput
from workbench.bench import Bench, open_bench, steps
from workbench.bench.saved_work import SavedWork, load_work, restore_work, save_work, work_of
from workbench.compaction.preset import load_preset
from workbench.session import Epoch, Session, fingerprint
from workbench.tokens import CountCache, Counter

FIELD = "history_tail_size_chars_to_exclude"


@pytest.fixture
def counter(tmp_path: Path) -> Counter:
    return Counter(CountCache(tmp_path / "counts.sqlite"))


def named(rounds: int = 4) -> Session:
    return replace(story(rounds), id="session-1")


def worked_on(counter: Counter) -> Bench:
    bench = open_bench(named(), counter)
    bench = steps.toggle_pin(steps.toggle_pin(bench, "m20"), "m3")
    bench = steps.toggle_shortened(steps.toggle_dropped(bench, ["m7"]), ["m4", "m10"])
    bench = steps.set_policy(bench, bench.policy.with_(**{FIELD: 12_345}))
    return steps.split_at(bench, "m16")


def test_work_comes_back_as_it_was(counter: Counter, tmp_path: Path) -> None:
    bench = worked_on(counter)
    save_work(bench.session, work_of(bench), tmp_path)
    work = load_work(named(), tmp_path)
    assert work is not None
    carried = restore_work(work, open_bench(named(), counter), counter)
    again = carried.bench
    assert (again.pins, again.split_at, again.policy) == (bench.pins, "m16", bench.policy)
    assert (again.dropped, again.shortened) == (bench.dropped, bench.shortened)
    assert carried.restored == ("1 policy field", "2 pins", "1 dropped message", "2 shortened messages", "the split")
    assert carried.note.startswith("carried over: 1 policy field, 2 pins, ")
    assert work_of(again) == work


def test_a_sentence_that_no_file_takes_is_kept_as_far_as_it_goes(tmp_path: Path) -> None:
    save_work(named(), SavedWork(watched=("half a pair: \ud83d.",)), tmp_path)
    assert load_work(named(), tmp_path) == SavedWork(watched=("half a pair: \ufffd.",))


def test_nothing_done_is_nothing_to_carry(counter: Counter) -> None:
    bench = open_bench(named(), counter)
    carried = restore_work(work_of(bench), bench, counter)
    assert (carried.bench, carried.note) == (bench, "")


def test_fields_come_back_by_the_names_that_they_had(counter: Counter) -> None:
    work = SavedWork(preset="trim", changed={"earlier_summary": "drop", "target_percent": 40.0})
    carried = restore_work(work, open_bench(named(), counter), counter)
    assert carried.bench.policy == load_preset("trim").policy.with_(keep_summaries=False, target_percent=40.0)
    assert (carried.restored, carried.missing) == (("the preset trim", "2 policy fields"), ())


def test_what_no_longer_exists_is_let_go_and_counted(counter: Counter) -> None:
    work = SavedWork(
        epoch=7,
        preset="augment-example",
        changed={FIELD: 9_999, "no_such_field": 1},
        pins=("m3", "gone-1", "gone-2"),
        split_at="gone-3",
    )
    carried = restore_work(work, open_bench(named(), counter), counter)
    assert carried.bench.pins == {"m3"}
    assert carried.bench.split_at is None
    assert carried.restored == ("1 policy field", "1 pin")
    assert carried.missing == ("epoch 7", "1 policy field", "2 pins", "the split")


def test_a_preset_that_is_gone_leaves_the_one_of_the_bench(counter: Counter) -> None:
    bench = open_bench(named(), counter)
    carried = restore_work(SavedWork(preset="no-such-preset", changed={FIELD: 5}), bench, counter)
    assert carried.bench.policy == bench.policy
    assert carried.missing == ("the preset no-such-preset",)


def test_another_strategy_comes_back_with_its_fields(counter: Counter) -> None:
    bench = steps.choose_preset(open_bench(named(), counter), load_preset("progressive"))
    carried = restore_work(work_of(bench), open_bench(named(), counter), counter)
    assert (carried.bench.strategy.id, carried.bench.policy) == (bench.strategy.id, bench.policy)
    kept = restore_work(work_of(bench), open_bench(named(), counter), counter, keep_policy=True)
    assert kept.bench.strategy.id == "exchange-summary"


def test_the_last_epoch_stays_the_last_when_another_is_added(counter: Counter) -> None:
    session = named()
    two = replace(session, epochs=(Epoch(1, range(16)), Epoch(2, range(32))))
    first = steps.at_epoch(open_bench(two, counter), 1, counter)
    assert work_of(first).epoch == 1
    assert restore_work(work_of(first), open_bench(two, counter), counter).bench.epoch == 1
    last = work_of(open_bench(session, counter))
    assert restore_work(last, open_bench(two, counter), counter).bench.epoch == 2


def test_an_epoch_comes_back_with_its_pins_edits_and_split(counter: Counter) -> None:
    two = replace(named(), epochs=(Epoch(1, range(16)), Epoch(2, range(8, 32))))
    start = open_bench(two, counter, epoch=2)
    new, shared = start.messages[20].id, start.messages[2].id
    edited = steps.toggle_dropped(steps.with_pins(start, frozenset((new, shared))), [start.messages[12].id])
    second = steps.split_at(edited, start.messages[16].id)
    first = steps.at_epoch(second, 1, counter)
    assert (first.pins, first.dropped, first.split_at) == ({shared}, frozenset(), None)
    again = steps.at_epoch(steps.with_pins(first, frozenset()), 2, counter)
    assert (again.pins, again.dropped, again.split_at) == (second.pins, second.dropped, second.split_at)
    assert steps.at_epoch(again, 1, counter).pins == frozenset()
    trimmed = steps.choose_preset(first, load_preset("clear-tool-results"))
    assert steps.at_epoch(trimmed, 2, counter).split_at is None, "that strategy has no split"


def test_a_session_is_known_again_when_it_has_grown_and_when_it_was_moved() -> None:
    short, long = named(2), named(4)
    assert fingerprint(short) == fingerprint(long) == fingerprint(replace(long, path=Path("elsewhere.jsonl")))
    assert fingerprint(short) != fingerprint(replace(short, id="session-2"))
    assert fingerprint(short) != fingerprint(replace(short, format="openai-chat"))


def test_a_session_without_a_name_is_not_remembered(counter: Counter, tmp_path: Path) -> None:
    bench = open_bench(story(), counter)
    save_work(bench.session, work_of(bench), tmp_path / "never-made")
    assert not (tmp_path / "never-made").exists()
    assert load_work(bench.session, tmp_path) is None


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"pins": 7}', "\x00"])
def test_a_damaged_file_is_named_and_nothing_is_carried(text: str, tmp_path: Path) -> None:
    (tmp_path / f"{fingerprint(named())}.json").write_text(text)
    with pytest.raises(BadInput, match="is damaged"):
        load_work(named(), tmp_path)


def test_a_folder_that_cannot_be_made_is_one_sentence(counter: Counter, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    bench = worked_on(counter)
    with pytest.raises(BadInput, match="cannot be made"):
        save_work(bench.session, work_of(bench), tmp_path / "file" / "sessions")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pins=st.sets(st.integers(0, 40)), split=st.none() | st.integers(0, 40), chars=st.integers(0, 10**6))
def test_any_work_is_split_into_kept_and_lost(counter: Counter, pins: set[int], split: int | None, chars: int) -> None:
    ids = tuple(f"m{number}" for number in sorted(pins))
    work = SavedWork(
        preset="augment-example", changed={FIELD: chars}, pins=ids, split_at=None if split is None else f"m{split}"
    )
    carried = restore_work(work, open_bench(named(), counter), counter)
    assert carried.bench.pins == {id for id in ids if int(id[1:]) < 32}
    assert carried.bench.split_at == (f"m{split}" if split is not None and split < 32 else None)
    once_more = restore_work(work_of(carried.bench), open_bench(named(), counter), counter)
    assert not once_more.missing
    assert (once_more.bench.pins, once_more.bench.policy) == (carried.bench.pins, carried.bench.policy)


def test_watched_sentences_come_back_behind_those_named_now(counter: Counter) -> None:
    left = steps.with_watched_rules(open_bench(named(), counter), ("Keep it short.", "Ask  first."))
    work = work_of(left)
    assert work.watched == ("Keep it short.", "Ask first.")
    here = steps.with_watched_rules(open_bench(named(), counter), ("Ask first.", "No tabs."))
    carried = restore_work(work, here, counter)
    assert carried.bench.watched == ("Ask first.", "No tabs.", "Keep it short.")
    assert carried.restored == ("2 watched sentences",)


def test_a_watched_sentence_that_cannot_be_watched_is_let_go(counter: Counter) -> None:
    carried = restore_work(SavedWork(preset="trim", watched=("…", "No tabs.")), open_bench(named(), counter), counter)
    assert (carried.bench.watched, carried.missing) == (("No tabs.",), ("1 watched sentence",))
