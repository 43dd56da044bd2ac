"""A compaction that stands in several files is one: it counts where most came behind it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.auditing.written import Written, quay
from workbench.auditing.audit import audit_of
from workbench.auditing.columns import records
from workbench.auditing.groups import group_sessions
from workbench.auditing.rows import AuditFile, SessionRow, mark_copies
from workbench.auditing.survey import survey_file


def row_of(path: Path) -> SessionRow:
    found = survey_file(AuditFile(str(path), path.stat().st_size, path.stat().st_mtime))
    assert found.rows is not None
    return found.rows[0]


def forked(written: Written) -> Written:
    """The same session in another file, as a tool may write it that gives its copies names and times of their own."""
    for line in written.lines:
        line["sessionId"] = "fork"
        line["timestamp"] = line["timestamp"].replace("2026-05-04", "2026-05-05")
        for key in ("uuid", "parentUuid", "logicalParentUuid"):
            line[key] = f"f{line[key]}" if line.get(key) else line.get(key)
    return written


def test_a_fork_counts_where_most_came_behind(tmp_path: Path) -> None:
    first = row_of(quay().put(tmp_path / "a" / "first.jsonl"))
    again = row_of(forked(quay().said("On.").answered("Done.", prompt=700)).put(tmp_path / "b" / "fork.jsonl"))
    assert first.compactions[0].id == again.compactions[0].id
    for rows in ([first, again], [again, first]):
        told = audit_of(rows)
        assert {Path(row.path).name: [one.copy for one in row.compactions] for row in told.rows} == {
            "first.jsonl": [True],
            "fork.jsonl": [False],
        }
        (all,) = told.groups()
        assert (all.sessions, all.compacted, all.compactions, all.copies, all.instructions, all.lost) == (
            2,
            1,
            1,
            1,
            1,
            1,
        )
        assert {
            Path(str(line["file"])).name: (line["compactions"], line["copies"], line["lost_rules"])
            for line in records(told.rows, "sessions")
        } == {"first.jsonl": (0, 1, 0), "fork.jsonl": (1, 0, 1)}


def compacted(answer: str, summary: str, *, day: int = 4) -> Written:
    written = Written().said("List them.").answered(answer, prompt=900).compacted(summary, before=950)
    for line in written.lines:
        line["timestamp"] = line["timestamp"].replace("05-04", f"05-{day:02}")
    return written.said("Go on.").answered("Done.", prompt=400)


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (compacted("ANSE.", "One harbour.", day=9), True),
        (compacted("BREE.", "One harbour."), False),
        (compacted("ANSE.", "A harbour."), False),
    ],
    ids=["another day", "another answer", "another summary"],
)
def test_what_tells_one_from_another(tmp_path: Path, other: Written, same: bool) -> None:
    one = row_of(compacted("ANSE.", "One harbour.").put(tmp_path / "one.jsonl"))
    two = row_of(other.put(tmp_path / "two.jsonl"))
    assert (one.compactions[0].id == two.compactions[0].id) is same


@pytest.mark.parametrize(("day", "same"), [(4, True), (5, False)])
def test_without_a_summary_that_anybody_can_read_the_time_tells(tmp_path: Path, day: int, same: bool) -> None:
    one = row_of(compacted("ANSE.", "").put(tmp_path / "one.jsonl"))
    two = row_of(compacted("ANSE.", "", day=day).put(tmp_path / "two.jsonl"))
    assert len(one.compactions) == 1
    assert (one.compactions[0].id == two.compactions[0].id) is same


def test_two_of_one_session_are_two(tmp_path: Path) -> None:
    row = row_of(quay().put(tmp_path / "quay.jsonl"))
    twice = replace(row, compactions=row.compactions * 2)
    assert mark_copies([twice]) == (twice,)
    (all,) = group_sessions([twice], ())
    assert (all.compactions, all.copies) == (2, 0)


@pytest.mark.parametrize(
    ("shorter", "longer"),
    [
        ("sessions/codex/agentv-a60726a-2compacted.jsonl", "sessions-more/codex/agentv-6eaddfe-3compacted.jsonl"),
        (
            "sessions-more/claude-code/entire-a0e41fd-microcompact-only.jsonl",
            "sessions-more/claude-code/entire-dc55b3a-micro-and-full.jsonl",
        ),
    ],
    ids=["codex", "claude-code"],
)
def test_real_sessions_that_went_on_in_another_file(shared: Path, shorter: str, longer: str) -> None:
    before, after = ([one.id for one in row_of(shared / name).compactions] for name in (shorter, longer))
    assert before == after[: len(before)]
    assert len({*after}) == len(after) > len(before)
