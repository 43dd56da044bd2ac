"""Sweeps: axes, cells, the best setting, the journal, and the same on a Dask scheduler."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.analysis.courses import counted_from
from tests.paths import SAMPLES
from workbench.analysis.course import course_of
from workbench.analysis.replay import replay
from workbench.analysis.sweep.cells import (
    Journal,
    SweepCell,
    cell_fields,
    cell_from,
    cell_of_replay,
    finished_cells,
    spread,
    stamp_of,
    sweep_file,
    sweep_key,
    work_of,
)
from workbench.analysis.sweep.plan import Axis, SweepPlan, as_preset, parse_axis, plan_of, varying_fields
from workbench.analysis.sweep.rows import CRITERIA, SweepRow, best, rows_of
from workbench.base.errors import BadInput
from workbench.compaction.preset import load_preset, read_preset, save_preset
from workbench.compaction.strategies import all_strategies
from workbench.session import Session
from workbench.summarizers.extractive import extractive
from workbench.tokens.cost import Rates
from workbench.tokens.window import Window

TRIM = load_preset("trim")
CHAT = str(SAMPLES / "openai-chat-tools.json")
BOATS = str(SAMPLES / "augment-with-summary.json")
VARY = ("window=2k..6k:2k", "target_percent=30,60")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("window=100k..200k:50k", (100_000, 150_000, 200_000)),
        ("trigger_messages=3..6", (3, 4, 5, 6)),
        ("trigger_messages=10..13:2", (10, 12)),
        ("target_percent=0.1..0.4:0.1", (0.1, 0.2, 0.3, 0.4)),
        ("target_percent=10..20", (10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)),
        ("window=5k, 7_000,5000", (5_000, 7_000)),
        ("window=1m", (1_000_000,)),
        ("window=1..10000", tuple(range(1, 10_001))),
    ],
)
def test_values_of_an_axis(text: str, values: tuple[float, ...]) -> None:
    axis = parse_axis(text, TRIM.policy)
    assert axis.values == values
    whole = axis.field in ("window", "trigger_messages")
    assert {type(value) for value in axis.values} == {int if whole else float}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("window", "A,B,C, not"),
        ("window=1=2", "'1=2' does not list whole numbers"),
        ("window=1..10001", "more than 10000 values"),
        ("=3", "A,B,C, not"),
        ("window=a..b", "does not list whole numbers"),
        ("window=1.5", "does not list whole numbers"),
        ("window=1..5:0", "does not list"),
        ("window=9..1", "holds no value"),
        ("window=1..9m:1", "more than 10000 values"),
        ("windw=1", "did you mean 'window'?"),
        ("marker_text=1", "There is no number 'marker_text' to vary"),
        ("target=1", "There is no number"),
        ("window=inf", "does not list"),
    ],
)
def test_an_invalid_axis_is_refused_in_a_sentence(text: str, says: str) -> None:
    with pytest.raises(BadInput, match=says.replace("?", r"\?")):
        parse_axis(text, TRIM.policy)


def test_the_numbers_of_every_policy_may_vary() -> None:
    for strategy in all_strategies():
        policy = strategy.policy_type()
        for name in varying_fields(policy):
            if name != "window":
                plan = SweepPlan(replace(TRIM, strategy=strategy.id, policy=policy), (Axis(name, (1,)),))
                assert plan.settings == ((1,),)
    assert "abridged_history_params.total_chars_limit" in varying_fields(load_preset("augment-example").policy)


def test_a_grid_is_checked_before_anything_runs() -> None:
    for vary, says in (
        ((), "one or two"),
        ((*VARY, "trigger_messages=3"), "one or two"),
        (("window=1", "window=2"), "both axes"),
        (("window=1..200", "trigger_messages=1..200"), "more than 10000 settings"),
        (("target_percent=50,101",), "target_percent"),
    ):
        with pytest.raises(BadInput, match=says):
            plan_of(TRIM, vary, None, retained=False)


@pytest.fixture(scope="module")
def plan() -> SweepPlan:
    return plan_of(TRIM, VARY, None, retained=False)


@pytest.fixture(scope="module")
def cells(plan: SweepPlan) -> tuple[SweepCell, ...]:
    return tuple(cell for file in (CHAT, BOATS) for cell in sweep_file(file, plan, plan.settings))


def test_a_cell_equals_its_replay(plan: SweepPlan, cells: tuple[SweepCell, ...]) -> None:
    course = course_of(*counted_from(Path(CHAT)))
    for cell in [cell for cell in cells if cell.file == CHAT]:
        window, percent = cell.setting
        preset = replace(TRIM, policy=TRIM.policy.with_(target_percent=percent))
        assert cell == cell_of_replay(CHAT, cell.setting, replay(course, preset, Window(int(window), "given")))


@pytest.mark.parametrize("known", [True, False])
def test_a_replay_as_a_cell(known: bool) -> None:
    played = replay(course_of(*counted_from(Path(CHAT))), TRIM, Window(3_000, "given"), extractive)
    rates = Rates(2.0, 8.0, 0.2, 2.5, known=known)
    (one, *_) = played.compacted
    both = replace(played, rates=rates, compacted=[replace(one, requests=2), replace(one, requests=3)])
    cell = cell_of_replay("f", (3_000,), both, [0.25, 0.75])
    assert cell == SweepCell(
        "f", (3_000,), len(played.sent), 2, both.mean_after, played.peak, played.last, played.over_window,
        sum(played.sent), both.rebilled, 5, both.cost / 2, both.cost if known else None, 0.5,
    )  # fmt: skip
    free = replace(both, rates=replace(rates, input=0.0))
    assert cell_of_replay("f", (), free).units == free.cost
    assert cell_of_replay("f", (), both).retention is None


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (BadInput("a.jsonl:  no\n session."), "a.jsonl: no session."),
        (ValueError("no  number: "), "ValueError: no number"),
        (MemoryError(), "MemoryError"),
    ],
)
def test_why_a_cell_holds_nothing(plan: SweepPlan, error: Exception, says: str) -> None:
    def fails(session: Session) -> None:
        raise error

    assert sweep_file(CHAT, plan, ((1, 2),), fails) == (SweepCell(CHAT, (1, 2), error=says),)
    course_fails = sweep_file(CHAT, plan, ((2_000, 101),))
    assert [(cell.file, cell.setting) for cell in course_fails] == [(CHAT, (2_000, 101))]
    assert course_fails[0].error.startswith("--vary target_percent = 101")


@pytest.mark.parametrize(
    ("vary", "given", "own", "window"),
    [
        ("window=5k,6k", 7_000, Window(9_000, "recorded"), Window(6_000, "given")),
        ("target_percent=30", 7_000, Window(9_000, "recorded"), Window(7_000, "given")),
        ("target_percent=30", None, Window(9_000, "recorded"), Window(9_000, "recorded")),
    ],
)
def test_the_window_is_the_one_that_varies_else_the_given_one_else_the_sessions(
    vary: str, given: int | None, own: Window, window: Window
) -> None:
    assert plan_of(TRIM, [vary], given, retained=False).window_of((6_000,), own) == window


def test_a_models_own_window_is_known_to_every_cell() -> None:
    """The overflow sample's model holds 200,000 tokens, of which a share is kept."""
    path = str(SAMPLES / "claude-code-overflow.jsonl")
    small = plan_of(load_preset("claude-code"), ("trigger_window_percent=5",), None, retained=False)
    given = replace(small, window=200_000)
    (cell,) = sweep_file(path, small, small.settings)
    assert cell.compactions
    assert (cell,) == sweep_file(path, given, given.settings)


def test_a_file_that_fails_is_a_cell_with_its_reason(tmp_path: Path, plan: SweepPlan) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text("no session\n")
    for file in (str(broken), str(tmp_path / "gone.jsonl")):
        found = sweep_file(file, plan, plan.settings[:2])
        assert [cell.setting for cell in found] == list(plan.settings[:2])
        assert all(cell.error and file in cell.error for cell in found)
    rows = rows_of(plan, [*sweep_file(str(broken), plan, plan.settings), *sweep_file(CHAT, plan, plan.settings)])
    assert {(row.files, row.failed) for row in rows} == {(1, 1)}


def test_rows_are_means_over_files(plan: SweepPlan, cells: tuple[SweepCell, ...]) -> None:
    assert [row.setting for row in rows_of(plan, cells)] == list(plan.settings)
    at = plan.settings[1]
    one = SweepCell("a", at, 9, 2, 300, 900, 50, 1, 4_000, 70, 2, 3.0, 0.5, 0.25)
    two = SweepCell("b", at, 9, 4, 100, 700, 50, 2, 2_000, 30, 2, 5.0, 1.5, 0.75)
    bare, failed = SweepCell("c", at, units=4.0), SweepCell("d", at, error="no")
    assert rows_of(plan, (one, failed, two)) == (SweepRow(at, 2, 1, 3, 200, 900, 3, 3_000, 50, 1.0, True, 0.5),)
    assert rows_of(plan, (one, bare)) == (SweepRow(at, 2, 0, 1, 300, 900, 1, 2_000, 35, 3.5, False, 0.25),)
    assert rows_of(plan, (failed,)) == (SweepRow(at, 0, 1, 0, None, 0, 0, 0, 0, 0, False, None),)


def test_the_best_is_the_least_that_stays_within_the_window() -> None:
    row = SweepRow((1,), 1, 0, 5.0, 100.0, 10, 0, 50.0, 7.0, 3.0, True, 0.5)
    cheap = replace(row, setting=(2,), cost=1.0, over=4)
    small = replace(row, setting=(3,), after=50.0, cost=4.0, retention=0.9)
    none = replace(row, setting=(4,), after=None, compactions=0.0, retention=None, cost=9.0)
    rows = (row, cheap, small, none)
    by = {one.name: best(rows, one) for one in CRITERIA}
    assert (by["cost"], by["after"], by["compactions"], by["retention"]) == (row, small, none, small)
    assert best((replace(cheap, over=5), cheap), CRITERIA[0]) is cheap
    assert best((replace(row, files=0),), CRITERIA[0]) is None


def test_the_cheapest_of_those_that_keep_watched_rules_is_best() -> None:
    plan = plan_of(TRIM, ("window=1,2,3,4",), None, retained=False, watched=("One.", "Two.", "Three."))
    kept = ("verbatim", "paraphrased", None)
    cells = [
        *(SweepCell("a", (n,), units=cost, watched=(first, second, None)) for n, cost, first, second in [
            (1, 1.0, "verbatim", "gone"), (2, 9.0, *kept[:2]), (3, 8.0, *kept[:2]), (4, 2.0, "unknown", "contradicted"),
        ]),
        *(SweepCell("b", (n,), watched=("verbatim", None, None)) for n in (1, 2, 3, 4)),
        SweepCell("c", (1,), error="no"),
    ]  # fmt: skip
    rows = rows_of(plan, cells)
    assert [[*map(str, row.rule_counts)] for row in rows] == [
        ["2 of 2", "0 of 1", "–"], ["2 of 2", "1 of 1", "–"], ["2 of 2", "1 of 1", "–"], ["1 of 2", "0 of 1", "–"],
    ]  # fmt: skip
    assert [row.watched for row in rows] == [2 / 3, 1.0, 1.0, 1 / 3]
    watched = next(one for one in CRITERIA if one.name == "watched")
    assert best(rows, watched) is rows[2]
    assert best(rows_of(replace(plan, watched=()), cells), watched) is None


def test_watched_sentences_are_judged_in_summaries_that_can_be_read() -> None:
    path, rule = str(SAMPLES / "claude-code-overflow.jsonl"), "Don't touch the legacy/ folder."
    plan = plan_of(
        load_preset("message-window"), ("trigger_messages=60,600",), None, retained=False, watched=(rule, "Use tabs.")
    )
    cells = sweep_file(path, plan, plan.settings)
    assert [(cell.compactions > 0, cell.watched) for cell in cells] == [
        (True, ("gone", None)),
        (False, ("verbatim", None)),
    ]
    assert tuple(cell_from(json.loads(json.dumps(cell_fields(cell)))) for cell in cells) == cells
    assert sweep_key(plan) != sweep_key(replace(plan, watched=(rule,))) != sweep_key(replace(plan, watched=()))


def test_the_best_goes_to_the_bench_as_a_preset(plan: SweepPlan, tmp_path: Path) -> None:
    found = as_preset(plan, (4_000, 30.0), "mine")
    assert found.policy == TRIM.policy.with_(target_percent=30.0)
    assert "target_percent = 30" in found.about
    saved = save_preset(found)
    assert read_preset(saved).policy == found.policy


def test_an_interrupted_sweep_goes_on_from_its_journal(
    tmp_path: Path, plan: SweepPlan, cells: tuple[SweepCell, ...]
) -> None:
    path = tmp_path / "deep" / "sweep.jsonl"
    assert finished_cells(path, plan) == ()
    journal = Journal(path, plan)
    failed = SweepCell(CHAT, plan.settings[3], error="out of memory")
    journal.note((*cells[:3], failed))
    journal.close()
    whole = {**cell_fields(cells[4]), "stamp": stamp_of(cells[4].file)}
    odd = [{**whole, name: value} for name in whole for value in ([[]], {"a": 1})]
    lines = "".join(json.dumps(line) + "\n" for line in odd)
    torn = path.read_bytes() + lines.encode() + b'{"file": "half a li'
    path.write_bytes(torn)
    assert finished_cells(path, plan) == cells[:3]
    again = Journal(path, plan)
    again.note(cells[3:4])
    again.close()
    assert finished_cells(path, plan) == cells[:4]
    known = {(cell.file, cell.setting) for cell in finished_cells(path, plan)}
    work = work_of([CHAT, BOATS], plan, known, 1)
    assert work == [(CHAT, plan.settings[4:]), (BOATS, plan.settings)]
    assert work_of([CHAT], plan, (), 4) == [(CHAT, plan.settings[n : n + 2]) for n in (0, 2, 4)]
    # A wider grid is the same sweep; another target is not.
    assert finished_cells(path, plan_of(TRIM, ("window=2k..9k:1k", VARY[1]), None, retained=False)) == cells[:4]
    with pytest.raises(BadInput, match="another sweep"):
        finished_cells(path, plan_of(TRIM, VARY, None, retained=True))
    for text in ("a letter\n", "[1]\n", '{"other": 1}\n'):
        path.write_text(text)
        with pytest.raises(BadInput) as refused:
            finished_cells(path, plan)
        assert str(refused.value) == f"{path} is not the journal of a sweep; name a new file instead."


def test_a_journal_identifies_its_sweep_and_refuses_bad_paths(tmp_path: Path, plan: SweepPlan) -> None:
    path = tmp_path / "much" / "deeper" / "sweep.jsonl"
    Journal(path, plan).close()
    assert json.loads(path.read_bytes()) == {"sweep": sweep_key(plan), "strategy": "trim"}
    grouped = plan_of(
        load_preset("augment-example"), ("abridged_history_params.total_chars_limit=1,2",), 9, retained=False
    )
    wider = plan_of(load_preset("augment-example"), ("abridged_history_params.total_chars_limit=3",), 9, retained=False)
    keys = [
        sweep_key(one)
        for one in (grouped, replace(grouped, window=8), replace(grouped, part="2"), replace(plan, window=8))
    ]
    assert [sweep_key(wider), len({*keys, sweep_key(plan)}), keys[3]] == [keys[0], 4, sweep_key(plan)]
    assert stamp_of(str(tmp_path / "gone")) == (0, 0)
    (tmp_path / "in the way").write_text("")
    for act, at, says in (
        (finished_cells, tmp_path / "in the way" / "j", "cannot be read (Not a directory)"),
        (Journal, tmp_path / "in the way" / "j", "cannot be written (File exists)"),
    ):
        with pytest.raises(BadInput, match=re.escape(f"{at} {says}; name another journal.")):
            act(at, plan)  # type: ignore[operator]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device here")
def test_a_journal_on_a_full_disk_is_one_sentence(plan: SweepPlan) -> None:
    with pytest.raises(
        BadInput, match=re.escape("/dev/full cannot be written (No space left on device); free some space")
    ):
        Journal(Path("/dev/full"), plan)


def test_a_file_with_an_undecodable_name_is_done_once(tmp_path: Path, plan: SweepPlan) -> None:
    file = tmp_path / os.fsdecode(b"b\xff.json")
    file.write_bytes(Path(CHAT).read_bytes())
    cells = sweep_file(str(file), plan, plan.settings[:1])
    journal = Journal(tmp_path / "sweep.jsonl", plan)
    journal.note(cells)
    journal.close()
    assert finished_cells(tmp_path / "sweep.jsonl", plan) == tuple(cells)


def test_a_file_that_changed_is_done_again(tmp_path: Path, plan: SweepPlan) -> None:
    file = tmp_path / "session.json"
    file.write_bytes(Path(CHAT).read_bytes())
    path = tmp_path / "sweep.jsonl"
    journal = Journal(path, plan)
    journal.note(sweep_file(str(file), plan, plan.settings[:1]))
    journal.close()
    assert len(finished_cells(path, plan)) == 1
    file.write_bytes(Path(CHAT).read_bytes() + b"\n")
    assert finished_cells(path, plan) == ()


def test_retention_comes_from_the_outcomes() -> None:
    plan = plan_of(load_preset("message-window"), ("trigger_messages=20,40",), None, retained=True)
    found = sweep_file(BOATS, plan, plan.settings)
    assert all(cell.compactions and cell.retention is not None and 0 < cell.retention <= 1 for cell in found)


def in_order(cells: Iterable[SweepCell]) -> list[SweepCell]:
    return sorted(cells, key=lambda cell: (cell.file, cell.setting))


def test_one_piece_of_work_is_done_here(plan: SweepPlan, cells: tuple[SweepCell, ...]) -> None:
    assert list(spread([(CHAT, plan.settings[1:3])], plan)) == [cells[1:3]]
    assert list(spread([], plan)) == []


@pytest.mark.usefixtures("two_cores")
def test_all_cores_give_the_same_cells(plan: SweepPlan, cells: tuple[SweepCell, ...]) -> None:
    work = work_of([CHAT, BOATS], plan, (), 2)
    assert in_order(cell for made in spread(work, plan) for cell in made) == in_order(cells)


def test_a_dask_scheduler_gives_the_same_cells(plan: SweepPlan, cells: tuple[SweepCell, ...]) -> None:
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, protocol="tcp://", host="127.0.0.1", dashboard_address=None
    )
    with cluster:
        several = spread(work_of([CHAT, BOATS], plan, (), 2), plan, cluster.scheduler_address)
        assert in_order(cell for made in several for cell in made) == in_order(cells)


def test_a_scheduler_that_is_not_there_is_one_sentence(plan: SweepPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("workbench.base.parallel.CONNECT_S", 0.2)
    with pytest.raises(BadInput, match=r"No Dask scheduler answers at tcp://127\.0\.0\.1:1 "):
        list(spread([(CHAT, plan.settings)], plan, "tcp://127.0.0.1:1"))
    with pytest.raises(BadInput, match="No Dask scheduler answers at nonsense"):
        list(spread([(CHAT, plan.settings)], plan, "nonsense"))


def test_a_worker_that_dies_is_one_sentence(plan: SweepPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*args: object) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr("workbench.analysis.sweep.cells.sweep_file", killed)
    with pytest.raises(BadInput, match="A worker ended before its work was done"):
        list(spread([(CHAT, plan.settings)], plan))
