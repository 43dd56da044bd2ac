"""The rows of one file: every figure by hand, and every file a row, whatever is wrong with it."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from tests.auditing.written import RULE, Written, long, quay
from tests.paths import SAMPLES
from workbench.auditing.rows import TRIGGERS, AuditFile, CompactionRow, SessionRow, row_from
from workbench.auditing.survey import survey_file
from workbench.base.secrets import masking


def rows_of(path: Path) -> tuple[SessionRow, ...]:
    found = survey_file(AuditFile(str(path), path.stat().st_size, path.stat().st_mtime))
    assert found.rows is not None
    return found.rows


def test_a_session_with_a_compaction(tmp_path: Path) -> None:
    path = quay().put(tmp_path / "quay.jsonl")
    (row,) = rows_of(path)
    assert replace(row, compactions=(), overhead=0, cost=0.0) == SessionRow(
        path=str(path),
        bytes=path.stat().st_size,
        time=path.stat().st_mtime,
        format="claude-code",
        tool="Claude Code",
        version="2.1.330",
        model="claude-sonnet-4-5",
        project="/home/ada/quay",
        title="Never change the file lights.md. List the harbours of the bay.",
        calls=3,
        tokens=600,
        peak=1_200,
        window=200_000,
        overhead=0,
        cost=0.0,
        price=3.0,
    )
    # 1 000 + 1 200 + 600 tokens of input at $3 a million, 10 + 40 + 10 of output at $15.
    assert row.cost == pytest.approx((2_800 * 3 + 60 * 15) / 1_000_000)
    # The request before the first call has about twenty tokens; all else of its thousand stands nowhere in the file.
    assert row.overhead is not None
    assert 970 <= row.overhead < 1_000


def test_what_a_compaction_did(tmp_path: Path) -> None:
    (row,) = rows_of(quay().put(tmp_path / "quay.jsonl"))
    (made,) = row.compactions
    assert made.cost is not None
    # 1 300 read from the cache at $0.30, about six tokens of summary at $15, 600 written at $3.75 and not read.
    assert made.cost == pytest.approx((1_300 * 0.3 + 6 * 15 + 600 * 3.45) / 1_000_000, rel=0.03)
    assert len(made.id) == 24
    assert replace(made, cost=None, id="") == CompactionRow(
        epoch=1,
        call=3,
        way="summary",
        manual=False,
        time=made.time,
        before=1_300,
        after=600,
        larger=False,
        seconds=10.0,
        cost=None,
        removed_messages=4,
        removed_tool_results=0,
        removed_user_messages=2,
        rework=0,
        rework_tokens=0,
        resumed=0,
        instructions=1,
        lost=1,
        id="",
    )


def test_an_instruction_that_the_summary_repeats_is_not_lost(tmp_path: Path) -> None:
    told = Written().said(f"{RULE} List them.").answered("ANSE.", prompt=1_000)
    told.compacted(f"The user said: {RULE}", before=1_100).said("Go on.").answered("Done.", prompt=500)
    (row,) = rows_of(told.put(tmp_path / "told.jsonl"))
    assert [(one.instructions, one.lost) for one in row.compactions] == [(1, 0)]


@pytest.mark.parametrize("trigger", ["auto", "manual"])
def test_the_seconds_that_are_recorded_go_before_all(tmp_path: Path, trigger: str) -> None:
    written = Written().said("List them.").answered("ANSE.", prompt=900)
    written.compacted("One.", before=950, trigger=trigger, durationMs=61_500).said("Go on.").answered(
        "Done.", prompt=400
    )
    (row,) = rows_of(written.put(tmp_path / "took.jsonl"))
    assert [one.seconds for one in row.compactions] == [61.5]


def test_by_hand_it_took_no_seconds_that_anybody_knows(tmp_path: Path) -> None:
    written = Written().said("List them.").answered("ANSE.", prompt=900).compacted("One.", before=950, trigger="manual")
    (row,) = rows_of(written.said("Go on.").answered("Done.", prompt=400).put(tmp_path / "asked.jsonl"))
    assert [(one.manual, one.seconds) for one in row.compactions] == [(True, None)]


@pytest.mark.parametrize(("behind", "larger"), [(1_299, False), (1_300, False), (1_301, True)])
def test_larger_than_before(tmp_path: Path, behind: int, larger: bool) -> None:
    written = Written().said("List them.").answered("ANSE.", prompt=1_200).compacted("One.", before=1_300)
    (row,) = rows_of(written.said("Go on.").answered("Done.", prompt=behind).put(tmp_path / "grown.jsonl"))
    assert [(one.before, one.after, one.larger) for one in row.compactions] == [(1_300, behind, larger)]
    assert row.larger == larger


def test_both_figures_of_the_agents_go_before_a_bill(tmp_path: Path) -> None:
    written = (
        Written().said("List them.").answered("ANSE.", prompt=1_200).compacted("One.", before=1_300, postTokens=700)
    )
    (row,) = rows_of(written.said("Go on.").answered("Done.", prompt=1_400).put(tmp_path / "told.jsonl"))
    assert [(one.before, one.after, one.larger) for one in row.compactions] == [(1_300, 700, False)]


def test_nothing_behind_the_last_compaction(tmp_path: Path) -> None:
    written = Written().said("List them.").answered("ANSE.", prompt=1_200).compacted("One.", before=1_300)
    (row,) = rows_of(written.put(tmp_path / "ends.jsonl"))
    assert [(one.after, one.larger, one.cost) for one in row.compactions] == [(None, False, None)]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is empty"),
        (b"\x7fELF\x00\x01", "quay"),
        (b'{"type": "user"', "quay"),
        (b'{"a": 1}\n', "quay"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_row(tmp_path: Path, data: bytes, says: str) -> None:
    path = tmp_path / "quay.jsonl"
    path.write_bytes(data)
    (row,) = rows_of(path)
    assert (row.path, row.bytes, row.calls, row.compactions) == (str(path), len(data), 0, ())
    assert row.error
    assert says in f"{row.error} quay"
    assert "\n" not in row.error
    assert "Traceback" not in row.error


def test_what_went_is_not_known_where_the_file_does_not_have_it(tmp_path: Path) -> None:
    """A task of Roo's whose tool has forgotten what it replaced: the summary stands beside all that was there."""
    (folder := tmp_path / "task").mkdir()
    said = [("user", "Mow the weir."), ("assistant", "It is half mown."), ("user", "Go on."), ("assistant", "Done.")]
    history = [
        {"role": role, "content": [{"type": "text", "text": text}], "ts": n} for n, (role, text) in enumerate(said)
    ]
    history[1] |= {"isSummary": True}
    condensed = {"summary": said[1][1], "cost": 0.1, "prevContextTokens": 90_000, "newContextTokens": 9_000}
    made = {"ts": 2, "type": "say", "say": "condense_context", "contextCondense": condensed}
    (folder / "api_conversation_history.json").write_text(json.dumps(history))
    (folder / "ui_messages.json").write_text(json.dumps([made]))
    (row,) = survey_file(AuditFile(str(folder), 1, 1.0)).rows or ()
    (one,) = row.own
    assert (one.way, one.before) == ("summary", 90_000)
    assert (one.removed_messages, one.removed_tool_results, one.removed_user_messages, row.removed_messages) == (
        None,
        None,
        None,
        None,
    )
    assert (one.lost, row.lost) == (None, None)


def test_a_file_that_is_gone_is_a_row(tmp_path: Path) -> None:
    found = survey_file(AuditFile(str(tmp_path / "gone.jsonl"), 0, 0.0))
    assert found.rows is not None
    assert "does not exist" in found.rows[0].error


def test_every_session_of_a_file_is_a_row() -> None:
    rows = rows_of(SAMPLES / "tau-bench-two-sessions.json")
    assert [(row.part, row.format) for row in rows] == [("1", "tau-bench"), ("2", "tau-bench")]


@pytest.mark.parametrize("sample", sorted(one.name for one in SAMPLES.iterdir() if one.name != "README.md"))
def test_rows_go_through_json_and_back(sample: str) -> None:
    for row in rows_of(SAMPLES / sample):
        assert not row.error
        assert row_from(asdict(row)) == row


def test_secrets_are_masked(tmp_path: Path) -> None:
    key = "sk-ant-api03-" + "a1B2" * 10
    written = Written(cwd=f"/home/ada/{key}").said(f"Use {key} for the tides.").answered("Yes.", prompt=900)
    (row,) = rows_of(written.put(tmp_path / "key.jsonl"))
    assert key not in repr(row)
    assert "[masked]" in row.title
    assert "[masked]" in row.project


def test_a_row_is_the_same_whatever_else_is_masked(tmp_path: Path) -> None:
    """It is kept, and shown to who masks less or more; what was looked at once is not looked at again."""
    path = quay().said("Write to ada@example.com.").put(tmp_path / "one.jsonl")
    with masking("home", "mail"):
        while_masking = rows_of(path)
    assert while_masking == rows_of(path)
    assert while_masking[0].project == "/home/ada/quay"
    with masking("home"):
        assert rows_of(path) == while_masking


def test_a_short_session_without_a_compaction_is_not_replayed(tmp_path: Path) -> None:
    for peak, some in ((99_999, False), (100_000, True)):
        (row,) = rows_of(long([20_000, peak]).put(tmp_path / f"{peak}.jsonl"))
        assert bool(row.tried) == some, peak


def test_what_a_long_session_would_have_cost(tmp_path: Path) -> None:
    (row,) = rows_of(long([20_000, 40_000, 60_000, 80_000, 100_000, 120_000]).put(tmp_path / "long.jsonl"))
    assert [one.trigger for one in row.tried] == [0, *TRIGGERS]
    often = {one.trigger: one.summaries for one in row.tried}
    assert often[60_000] >= often[80_000] >= often[100_000] >= 1
    assert {often[trigger] for trigger in TRIGGERS if trigger > 120_000} == {0}
    # Without a compaction every prompt is read from the cache but for its newest 20 000, which are written.
    never = 0.1 * (20_000 + 40_000 + 60_000 + 80_000 + 100_000) + 1.25 * 6 * 20_000
    assert [one.cost for one in row.tried if one.trigger > 120_000] == [pytest.approx(never, abs=2)] * 6


def test_what_one_compaction_costs_by_hand(tmp_path: Path) -> None:
    """Every prompt is 20 000 longer; behind the compaction stand the newest 20 000 and a summary, A in all.

    At 100 000: four prompts read 0, 20 000, 40 000 and 60 000 from the cache and write 20 000 each; the fifth writes A;
    the sixth reads A and writes 20 000. The summary's request reads 80 000. At 80 000 all that comes a prompt earlier,
    so that one prompt more reads A and 20 000 and writes 20 000. The same summary is written, so A is all that is left:
    112 000 + 25 000 + 8 000 less 81 000 + 25 000 + 27 000 + 0.1 A + 6 000.
    """
    (row,) = rows_of(long([20_000, 40_000, 60_000, 80_000, 100_000, 120_000]).put(tmp_path / "long.jsonl"))
    cost = {one.trigger: one.cost for one in row.tried if one.summaries == 1}
    behind = 10 * (6_000 - (cost[100_000] - cost[80_000]))
    assert 21_000 < behind < 23_000
    # 1.25 A to write, 0.1 A to read again, and five for each token of the summary, which is A less the newest 20 000.
    written = cost[100_000] - (112_000 + 25_000 + 8_000 + 1.35 * behind)
    assert written == pytest.approx(5 * (behind - 20_000), rel=0.1)


def test_the_file_is_left_as_it_was(tmp_path: Path) -> None:
    path = quay().put(tmp_path / "quay.jsonl")
    before = path.read_bytes(), os.stat(path)
    rows_of(path)
    assert (path.read_bytes(), os.stat(path).st_mtime_ns) == (before[0], before[1].st_mtime_ns)


def test_deprecated_fields_of_a_compaction_are_read_under_their_new_names(tmp_path: Path) -> None:
    written = Written().said("List them.").answered("ANSE.", prompt=900)
    written.compacted("One.", before=950, trigger="manual").said("Go on.").answered("Done.", prompt=400)
    (row,) = rows_of(written.put(tmp_path / "old.jsonl"))
    (one,) = row.compactions
    with pytest.warns(DeprecationWarning, match=r"CompactionRow\.asked is now CompactionRow\.manual"):
        assert getattr(one, "asked") is True  # noqa: B009
    with pytest.warns(DeprecationWarning, match=r"CompactionRow\.gone is now CompactionRow\.removed_messages"):
        assert getattr(one, "gone") == one.removed_messages  # noqa: B009
    assert not hasattr(one, "other")
