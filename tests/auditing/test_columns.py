"""Lines of a table, sorted and filtered, and the sums of many sessions, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.auditing.columns import COMPACTIONS, SESSIONS, TABLES, column, matching, records, sorted_by
from workbench.auditing.groups import SessionGroup, group_sessions
from workbench.auditing.rows import CompactionRow, SessionRow
from workbench.base.errors import BadInput

MADE = CompactionRow(1, 3, "summary", False, 5.0, 1_000, 300, False, 60.0, 0.5, 8, 3, 2, 1, 700, 2, 4, 1, "m")
ASKED = replace(MADE, epoch=2, manual=True, before=2_000, after=2_400, larger=True, seconds=None, cost=None, lost=None)
ROWS = (
    SessionRow("a", tool="Pier", model="m1", cost=1.0, overhead=10, compactions=(MADE, ASKED)),
    SessionRow("b", tool="Pier", model="m2", cost=None, overhead=20, calls=3),
    SessionRow("c", tool="Quay", model="m2", cost=0.25, calls=9),
    SessionRow("d", tool="Quay", error="It is empty."),
)


def test_what_many_sessions_come_to() -> None:
    pier, quay = group_sessions(ROWS, ("tool",))
    assert pier == SessionGroup(
        key=("Pier",),
        sessions=2,
        compacted=1,
        compactions=2,
        copies=0,
        manual=1,
        larger=1,
        before=1_500,
        after=1_350,
        seconds=60.0,
        compacting=0.5,
        cost=1.0,
        removed_messages=16,
        rework=2,
        rework_tokens=1_400,
        instructions=4,
        lost=1,
        unread=1,
        overhead=15,
    )
    assert (quay.key, quay.sessions, quay.compactions, quay.before, quay.overhead) == (("Quay",), 1, 0, None, None)


def test_finer_groups_and_none() -> None:
    assert [one.key for one in group_sessions(ROWS, ("tool", "model"))] == [
        ("Pier", "m1"),
        ("Pier", "m2"),
        ("Quay", "m2"),
    ]
    assert [(one.key, one.sessions) for one in group_sessions(ROWS, ())] == [((), 3)]
    assert group_sessions(ROWS[3:], ("tool",)) == ()


@pytest.mark.parametrize(
    ("gone", "of_session", "of_group"), [((3, 4), 7, 7), ((3, None), None, 3), ((None, None), None, None)]
)
def test_what_went_and_is_not_known_is_in_no_sum(
    gone: tuple[int | None, int | None], of_session: int | None, of_group: int | None
) -> None:
    row = replace(ROWS[0], compactions=tuple(replace(ROWS[0].compactions[0], removed_messages=one) for one in gone))
    assert [line["removed_messages"] for line in records([row], "sessions")] == [of_session]
    assert [line["removed_messages"] for line in records([row], "compactions")] == [*gone]
    assert [one.removed_messages for one in group_sessions([row], ())] == [of_group]


def test_every_table_has_its_columns_and_lines() -> None:
    for about, columns in TABLES.items():
        lines = list(records(ROWS, about))
        assert all(list(line) == [one.key for one in columns] for line in lines)
    assert [line["file"] for line in records(ROWS, "sessions")] == ["a", "b", "c"]
    assert [(line["file"], line["epoch"]) for line in records(ROWS, "compactions")] == [("a", 1), ("a", 2)]
    assert [line["error"] for line in records(ROWS, "unreadable")] == ["It is empty."]
    assert {one.key for one in SESSIONS} & {one.key for one in COMPACTIONS} >= {"agent", "file", "rework", "lost_rules"}


def test_a_session_sums_up_its_compactions() -> None:
    first = next(records(ROWS, "sessions"))
    assert {
        name: first[name]
        for name in ("compactions", "grown_compactions", "removed_messages", "rework", "rework_tokens", "lost_rules")
    } == {
        "compactions": 2,
        "grown_compactions": 1,
        "removed_messages": 16,
        "rework": 2,
        "rework_tokens": 1_400,
        "lost_rules": None,
    }


@pytest.mark.parametrize(
    ("name", "down", "paths"),
    [
        ("cost", True, "acb"),
        ("cost", False, "cab"),
        ("tool", False, "abc"),
        ("calls", True, "cba"),
        ("lost", True, "bca"),
    ],
)
def test_what_is_not_known_stands_last(name: str, down: bool, paths: str) -> None:
    lines = sorted_by(records(ROWS, "sessions"), column("sessions", name), down=down)
    assert "".join(str(line["file"]) for line in lines) == paths


@pytest.mark.parametrize(
    ("query", "paths"), [("", "abcd"), ("PIER", "ab"), ("pier m2", "b"), ("m3", ""), ("empty quay", "d")]
)
def test_every_word_must_occur(query: str, paths: str) -> None:
    assert "".join(row.path for row in matching(ROWS, query)) == paths


@pytest.mark.parametrize(
    ("name", "of_sessions", "of_compactions"),
    [
        ("larger", "grown_compactions", "grew"),
        ("cost", "usd", "usd"),
        ("lost", "lost_rules", "lost_rules"),
        ("gone", "removed_messages", "removed_messages"),
        ("path", "file", "file"),
        ("tool", "agent", "agent"),
    ],
)
def test_a_column_is_found_by_its_heading_and_by_its_former_name(
    name: str, of_sessions: str, of_compactions: str
) -> None:
    assert column("sessions", name).key == of_sessions
    assert column("compactions", name).key == of_compactions


def test_a_column_that_is_not_there() -> None:
    with pytest.raises(BadInput, match="There is no column 'way'; choose one of changed, agent"):
        column("sessions", "way")
