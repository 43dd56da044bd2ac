"""Kept runs: what is in them, what is not, and that a disk can do a run no harm."""

from __future__ import annotations

import asyncio
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.summarizers.fake_api import KEY, MODEL, answer, error, fake_api, stalling
from tests.summarizers.live_calls import QUICK, ask, client_talks_to, request
from workbench.compaction.strategy import Answer, Summary, SummaryFailed
from workbench.errors import BadInput
from workbench.session import Opaque, Usage
from workbench.summarizers.anthropic import live
from workbench.summarizers.live_events import LiveEvent, Wrote
from workbench.summarizers.recorded import recorded
from workbench.summarizers.runs import (
    Run,
    answers_of,
    call_record,
    delete,
    folder,
    keep,
    kept,
    load,
    new_id,
    path_of,
    read,
)
from workbench.summarizers.server_side import ServerSummary


def run_of(*answers: Answer, id: str = "", began: float = 1_000.0) -> Run:
    calls = tuple(call_record(request(f"history {number}"), got) for number, got in enumerate(answers))
    return Run(
        id=id or new_id(began), began=began, seconds=2.5, end="finished", strategy="exchange-summary", calls=calls
    )


def test_a_kept_run_comes_back_equal_and_answers_again() -> None:
    block = {"type": "compaction", "content": "B", "signature": "s"}
    given: tuple[Answer, ...] = (
        Summary("The parser was fixed.", MODEL, Usage(10, 2, 3, 4), 1.5),
        SummaryFailed("overflow", "too long"),
        ServerSummary("B", MODEL, Usage(1, 1), 0.5, block=Opaque("compaction", block)),
    )
    run = run_of(*given)
    assert keep(run) == ""
    assert load(run.id) == run
    again = recorded(load(run.id).answers)
    assert tuple(again(request(f"history {number}")) for number in range(3)) == given
    unknown = again(request("another history"))
    assert isinstance(unknown, SummaryFailed)
    assert run.usage == Usage(11, 3, 3, 4)


def test_only_the_owner_can_read_a_run() -> None:
    run = run_of(Summary("x"))
    keep(run)
    assert stat.S_IMODE(path_of(run.id).stat().st_mode) == 0o600
    assert [path.name for path in folder().iterdir()] == [f"{run.id}.run.json"]


async def test_a_live_run_is_kept_without_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = error(401, "authentication_error", f"x-api-key {KEY} is bad")
    async with fake_api(error(529, "overloaded_error", KEY), answer("Done."), refused) as api:
        client_talks_to(api, monkeypatch)
        calls = []
        for asked in (request("one " * 900), request("two " * 900)):
            got, events = await ask(asked)
            calls.append(call_record(asked, got, events))
    run = Run(id=new_id(), began=0, seconds=1, end="failed", strategy="s", calls=tuple(calls))
    keep(run)
    stored = path_of(run.id).read_text()
    assert KEY not in stored
    assert "authorization" not in stored.lower()
    assert calls[0].text == "Done."
    assert any("overloaded" in note for note in calls[0].notes)
    assert calls[1].failure == "error"


async def test_a_cancelled_call_keeps_what_had_come(monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_api(stalling("The parser ")) as api:
        client_talks_to(api, monkeypatch)
        events: list[LiveEvent] = []
        writing = asyncio.Event()

        def told(event: LiveEvent) -> None:
            events.append(event)
            if isinstance(event, Wrote):
                writing.set()

        asked = request()
        task = asyncio.ensure_future(live(MODEL, on_event=told, limits=QUICK)(asked))
        await asyncio.wait_for(writing.wait(), 10)
        task.cancel()
        await asyncio.wait([task])
    call = call_record(asked, None, events, seconds=0.2)
    assert (call.text, call.failure, call.detail) == ("The parser ", "error", "cancelled")
    assert call.usage is not None
    assert (call.usage.input, call.usage.final) == (1_000, False)


def test_a_run_that_exists_is_not_written_over() -> None:
    keep(run_of(Summary("first"), id="same"))
    assert "exists already" in keep(run_of(Summary("second"), id="same"))
    assert load("same").calls[0].text == "first"


def test_a_folder_that_cannot_be_made_costs_the_record_only(own_home: Path) -> None:
    folder().parent.mkdir(parents=True)
    folder().write_text("a file where the folder should be")
    assert keep(run_of(Summary("x"))).startswith("The run was not kept: ")
    assert kept() == kept(5)
    assert kept().runs == ()


def test_text_that_no_file_takes_is_kept_as_far_as_it_goes() -> None:
    run = run_of(Summary("half a pair: \ud83d."))
    assert keep(run) == ""
    assert load(run.id).calls[0].text == "half a pair: ?."


def test_the_newest_come_first_and_damage_is_named() -> None:
    for hour in range(3):
        keep(run_of(Summary("x"), began=hour * 3_600.0))
    (folder() / "19990101-000000-abc.run.json").write_bytes(b'{"version": 1')
    (folder() / "notes.txt").write_text("mine")
    listing = kept()
    assert [run.began for run in listing.runs] == [7_200, 3_600, 0]
    assert len(listing.troubles) == 1
    assert "19990101-000000-abc" in listing.troubles[0]
    assert [run.began for run in kept(1).runs] == [7_200]


@pytest.mark.parametrize("data", [b"", b"[]", b'{"id": 3}', b'{"surprise": true}', b"\xff\xfe"])
def test_what_is_no_run_is_refused_in_a_sentence(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.run.json"
    path.write_bytes(data)
    with pytest.raises(BadInput, match=r"x\.run\.json is not a kept run") as caught:
        read(path)
    assert "\n" not in str(caught.value)


def test_a_run_is_found_by_the_beginning_of_its_name() -> None:
    keep(run_of(Summary("x"), id="20260101-000000-aaa"))
    keep(run_of(Summary("y"), id="20260101-000000-bbb"))
    assert load("20260101-000000-b").calls[0].text == "y"
    with pytest.raises(BadInput, match="2 kept runs begin with"):
        load("2026")
    with pytest.raises(BadInput, match="There is no kept run"):
        load("nope")
    with pytest.raises(BadInput, match="There is no kept run"):
        load("")


def test_deleting_takes_the_whole_name() -> None:
    keep(run_of(Summary("x"), id="20260101-000000-aaa"))
    for wrong in ("2026", "../x", ""):
        with pytest.raises(BadInput):
            delete(wrong)
    delete("20260101-000000-aaa")
    assert kept().runs == ()


def test_of_two_answers_to_one_request_the_first_runs_counts() -> None:
    newer, older = run_of(Summary("new")), run_of(Summary("old"), Summary("only old"))
    answers = answers_of([newer, older])
    assert {got.text for got in answers.values() if isinstance(got, Summary)} == {"new", "only old"}


def test_many_may_keep_at_once() -> None:
    runs = [run_of(Summary(str(number))) for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(keep, runs)) == {""}
    assert {run.id for run in kept().runs} == {run.id for run in runs}
