"""Kept runs and their journal: what is in them, what is not, and that a disk can do a run no harm."""

from __future__ import annotations

import resource
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing, suppress
from dataclasses import asdict

import pytest

from tests.paths import ROOT
from tests.summarizers.fake_api import MODEL
from tests.summarizers.live_calls import request
from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.compaction.summary_request import Answer, Summary, SummaryFailed
from workbench.session import Opaque, Usage
from workbench.summarizers.live_events import PromptSent, RetryScheduled, UsageReported
from workbench.summarizers.recorded_answers import recorded_summarizer
from workbench.summarizers.run_history import delete_runs, list_runs, load_run, save_call, save_run
from workbench.summarizers.run_records import RunRecord, TokenRecord, call_record, new_run_id
from workbench.summarizers.server_endpoints import ServerSummary


def run_of(*answers: Answer, id: str = "", began: float = 1_000.0) -> RunRecord:
    calls = tuple(call_record(request(f"history {number}"), got) for number, got in enumerate(answers))
    return RunRecord(
        id=id or new_run_id(began), began=began, seconds=2.5, end="finished", strategy="exchange-summary", calls=calls
    )


def test_a_kept_run_comes_back_equal_and_answers_again() -> None:
    block = {"type": "compaction", "content": "B", "signature": "s"}
    given: tuple[Answer, ...] = (
        Summary("The parser was fixed.", MODEL, Usage(10, 2, 3, 4), 1.5),
        SummaryFailed("overflow", "too long"),
        ServerSummary("B", MODEL, Usage(1, 1), 0.5, block=Opaque("compaction", block)),
    )
    run = run_of(*given)
    assert save_run(run) == ""
    assert load_run(run.id) == run
    again = recorded_summarizer(load_run(run.id).answers)
    assert tuple(again(request(f"history {number}")) for number in range(3)) == given
    unknown = again(request("another history"))
    assert isinstance(unknown, SummaryFailed)
    assert run.usage == Usage(11, 3, 3, 4)


def test_a_call_is_kept_with_what_each_of_its_tries_has_billed() -> None:
    """One that broke off at 1 000 in and 1 out, and the one that was answered: as many tokens as are paid for."""
    asked, other = request("the history"), request("another")
    broken = [
        PromptSent(asked.key, MODEL, 1, 9),
        UsageReported(asked.key, Usage(1_000, 1, output_final=False)),
        UsageReported(other.key, Usage(7, 7)),
        RetryScheduled(asked.key, 1, 0.1, "the connection failed"),
    ]
    again = [
        PromptSent(asked.key, MODEL, 2, 9),
        UsageReported(asked.key, Usage(1_000, 1)),
        UsageReported(asked.key, Usage(1_000, 241)),
    ]
    answer = Summary("x", MODEL, Usage(1_000, 241), 0.5)
    assert call_record(asked, answer, [*broken, *again]).usage == TokenRecord(input=2_000, output=242, final=False)
    assert call_record(asked, answer, again).usage == TokenRecord(input=1_000, output=241)
    assert call_record(asked, None, broken).usage == TokenRecord(input=1_000, output=1, final=False)
    assert call_record(asked, None, broken[:1]).usage is None


def test_only_the_owner_can_read_the_journal() -> None:
    save_run(run_of(Summary("x")))
    with closing(sqlite3.connect(paths.runs())) as reader:
        reader.execute("BEGIN").execute("SELECT count(*) FROM runs").fetchone()
        save_run(run_of(Summary("y")))
        files = list(paths.runs().parent.iterdir())
        assert len(files) == 3
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_the_journal_is_read_on_a_full_disk() -> None:
    """SQLite wants a file of its own beside it even to read; one that another program writes to is left alone."""
    save_run(run_of(Summary("x"), id="kept"))
    log = paths.runs().with_name(f"{paths.runs().name}-wal")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for there, found in ((b"", ["kept"]), (b"what another program is writing", None)):
        log.write_bytes(there)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
        try:
            if found is not None:
                assert [entry.id for entry in list_runs()] == found
                assert "cannot be used" in save_run(run_of(Summary("y")))
            else:
                with pytest.raises(BadInput, match="cannot be used"):
                    list_runs()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_run_that_exists_is_not_written_over() -> None:
    save_run(run_of(Summary("first"), id="same"))
    assert "already" in save_run(run_of(Summary("second"), id="same"))
    assert load_run("same").calls[0].text == "first"


def test_what_is_kept_of_a_run_before_its_end_gives_way_to_more_of_it() -> None:
    for text, end in (("fir", "cancelled"), ("first", "cancelled"), ("first, second", "finished")):
        assert save_run(run_of(Summary(text), id="same").model_copy(update={"end": end})) == ""
        assert [(entry.id, entry.end) for entry in list_runs()] == [("same", end)]
        assert load_run("same").calls[0].text == text
    assert "already" in save_run(run_of(Summary("late"), id="same").model_copy(update={"end": "cancelled"}))
    assert load_run("same").calls[0].text == "first, second"


def under_way(id: str, *texts: str) -> RunRecord:
    """A run as far as it has come: begun, and each answer put down by itself, the last one first."""
    begun = run_of(id=id).model_copy(update={"end": "cancelled", "dollars": 0.25})
    calls = run_of(*(Summary(text, MODEL, Usage(7, 2, 1)) for text in texts)).calls
    for number, call in reversed([*enumerate(calls)]):
        save_call(begun.model_copy(update={"seconds": 9.0 - number}), number, call)
    return begun.model_copy(update={"calls": calls, "seconds": 9.0, "dollars": 0.25 * len(calls)})


def test_answers_that_are_put_down_one_by_one_are_a_run_that_was_broken_off() -> None:
    run = under_way("some", "first", "second", "third")
    assert load_run("some").model_copy(update={"seconds": 9.0, "dollars": 0.75}) == run
    (entry,) = list_runs()
    assert (entry.end, entry.calls, entry.input, entry.output) == ("cancelled", 3, 24, 6)
    assert (entry.seconds, entry.dollars) == (9.0, 0.75)


def test_what_a_call_cost_stays_unknown_beside_one_that_is_known() -> None:
    run = under_way("some", "first")
    save_call(run.model_copy(update={"calls": (), "dollars": None}), 1, run.calls[0])
    assert [entry.dollars for entry in list_runs()] == [None]


@pytest.mark.parametrize("end", ["finished", "cancelled"])
def test_the_end_of_a_run_takes_the_place_of_its_answers(end: str) -> None:
    under_way("some", "first", "second")
    whole = run_of(Summary("all of it"), id="some").model_copy(update={"end": end})
    assert save_run(whole) == ""
    under_way("some", "one that was written down late")
    assert load_run("some") == whole
    assert [(entry.end, entry.calls) for entry in list_runs()] == [(end, 1)]


def test_nothing_is_left_of_a_deleted_run_that_was_broken_off() -> None:
    under_way("some", "a word that is only here")
    delete_runs(["some"])
    assert list_runs() == ()
    under_way("some", "anew")
    assert [call.text for call in load_run("some").calls] == ["anew"]


def test_secrets_are_masked_in_what_is_put_down_by_itself() -> None:
    under_way("some", "the key is sk-ant-api03-Zk3vQ9xLm2Rt7Yb5")
    assert "Zk3vQ9xLm2Rt7Yb5" not in load_run("some").calls[0].text


def test_a_journal_of_an_earlier_version_is_read_and_added_to() -> None:
    save_run(run_of(Summary("x"), id="old"))
    with closing(sqlite3.connect(paths.runs())) as base:
        base.execute("DROP TABLE calls")
    assert load_run("old").calls[0].text == "x"
    under_way("new", "y")
    assert load_run("new").calls[0].text == "y"


def test_a_folder_that_cannot_be_made_costs_the_record_only() -> None:
    paths.runs().parent.parent.mkdir(parents=True)
    paths.runs().parent.write_text("a file where the folder should be")
    run = run_of(Summary("x"))
    assert save_run(run).startswith("The run was not saved: ")
    assert save_call(run, 0, run.calls[0]).startswith("The answer was not saved: ")


_ON_A_FULL_DISK = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
import random
from workbench.summarizers.run_history import save_run
from workbench.summarizers.run_records import RunRecord
noise = random.Random(1).randbytes(500_000).hex()
print(save_run(RunRecord(id="big", began=2, seconds=1, end="finished", strategy="s", reason=noise)))
"""


def test_a_full_disk_costs_the_record_only() -> None:
    save_run(run_of(Summary("x"), id="first"))
    run = subprocess.run([sys.executable, "-c", _ON_A_FULL_DISK], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.startswith("The run was not saved: ")
    assert "make room" in run.stdout
    assert [entry.id for entry in list_runs()] == ["first"]
    assert save_run(run_of(Summary("y"))) == ""


def test_text_that_no_file_takes_is_kept_as_far_as_it_goes() -> None:
    run = run_of(Summary("half a pair: \ud83d.")).model_copy(
        update={"file": "b\udcff", "policy": {"prompt": "\ud83d."}}
    )
    assert save_run(run) == ""
    assert load_run(run.id).calls[0].text == "half a pair: \ufffd."
    assert (load_run(run.id).file, load_run(run.id).policy, list_runs()[0].file) == (
        "b\ufffd",
        {"prompt": "\ufffd."},
        "b\ufffd",
    )


def test_the_newest_come_first() -> None:
    for hour in range(3):
        save_run(run_of(Summary("x", usage=Usage(7, 2, 1)), began=hour * 3_600.0))
    assert [entry.began for entry in list_runs()] == [7_200, 3_600, 0]
    assert [entry.began for entry in list_runs(1)] == [7_200]
    assert (list_runs()[0].input, list_runs()[0].output, list_runs()[0].calls) == (8, 2, 1)


@pytest.mark.parametrize("data", [b"not a database, " * 500, b"SQLite format 3\0" + b"\xff" * 5_000])
def test_a_damaged_journal_is_named_and_costs_no_run(data: bytes) -> None:
    paths.runs().parent.mkdir(parents=True)
    paths.runs().write_bytes(data)
    for use in (list_runs, lambda: load_run("x"), lambda: delete_runs(["x"])):
        with pytest.raises(BadInput, match=r"runs\.sqlite is not a run history or is damaged") as caught:
            use()
        assert "\n" not in str(caught.value)
    assert save_run(run_of(Summary("x"))).startswith("The run was not saved: ")
    assert paths.runs().read_bytes() == data


@pytest.mark.parametrize("odd", [b"\xff", "x", 2**62, 1.5])
def test_what_another_program_wrote_into_a_run_is_read_as_what_it_should_be_or_as_none(odd: object) -> None:
    save_run(run_of(Summary("x"), id="some"))
    (sound,) = list_runs()
    for column, value in asdict(sound).items():
        with closing(sqlite3.connect(paths.runs())) as base, base:
            base.execute(f"UPDATE runs SET {column} = ?", (odd,))
        for entry in list_runs():
            read = getattr(entry, column)
            assert isinstance(read, str) if isinstance(value, str) else isinstance(read, int | float | None)
        for id in ("so", "nobody"):
            with suppress(BadInput):
                load_run(id)
        with closing(sqlite3.connect(paths.runs())) as base, base:
            base.execute(f"UPDATE runs SET {column} = ?", (value,))
    assert list_runs() == (sound,)


@pytest.mark.parametrize("document", [b"", b"junk", 3, "text", b"x\x9cK\xcb\xcf\x07\x00"])
def test_a_damaged_run_costs_itself_only(document: object) -> None:
    save_run(run_of(Summary("x"), id="good"))
    save_run(run_of(Summary("y"), id="bad"))
    with closing(sqlite3.connect(paths.runs())) as base:
        base.execute("UPDATE runs SET document = ? WHERE id = 'bad'", (document,))
        base.commit()
    with pytest.raises(BadInput, match="run bad is damaged"):
        load_run("bad")
    assert load_run("good").calls[0].text == "x"
    delete_runs(["bad"])
    assert [entry.id for entry in list_runs()] == ["good"]


def test_nothing_is_made_by_looking() -> None:
    assert list_runs() == ()
    with pytest.raises(BadInput, match="There is no run"):
        load_run("x")
    assert not paths.runs().exists()


def test_a_run_is_found_by_the_beginning_of_its_name() -> None:
    save_run(run_of(Summary("x"), id="20260101-000000-aaa"))
    save_run(run_of(Summary("y"), id="20260101-000000-bbb"))
    assert load_run("20260101-000000-b").calls[0].text == "y"
    with pytest.raises(BadInput, match="2 runs begin with"):
        load_run("2026")
    with pytest.raises(BadInput, match="There is no run"):
        load_run("nope")
    with pytest.raises(BadInput, match="There is no run"):
        load_run("")


def test_deleting_takes_whole_names_and_all_or_none() -> None:
    for id in ("20260101-000000-aaa", "20260101-000000-bbb"):
        save_run(run_of(Summary(f"secret of {id}"), id=id))
    for wrong in ("2026", "../x", ""):
        with pytest.raises(BadInput):
            delete_runs(["20260101-000000-aaa", wrong])
    assert len(list_runs()) == 2
    delete_runs(["20260101-000000-aaa"])
    assert [entry.id for entry in list_runs()] == ["20260101-000000-bbb"]


_WRITER = """
import sys
from workbench.summarizers.run_history import save_run
from workbench.summarizers.run_records import RunRecord
for number in range(20):
    id = f"{sys.argv[1]}-{number}"
    trouble = save_run(RunRecord(id=id, began=number, seconds=1, end="finished", strategy="s", reason="x" * 50_000))
    if trouble:
        sys.exit(trouble)
"""


def test_two_processes_may_keep_at_once() -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, name], cwd=ROOT, stderr=subprocess.PIPE, text=True)
        for name in ("a", "b")
    ]
    assert [(writer.communicate()[1], writer.returncode) for writer in writers] == [("", 0)] * 2
    assert {entry.id for entry in list_runs()} == {f"{name}-{number}" for name in "ab" for number in range(20)}
