"""Epochs at summaries, compactions that removed nothing, and responses with a compaction by the API."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from workbench.formats.kit.epochs import epochs_at, mark_empty_compactions, split_at_compactions
from workbench.session import Block, Compaction, Epoch, Message, Opaque, Text, Usage

MESSAGES = [Message(f"m{number}", "user", ()) for number in range(6)]
SUMMARY = Opaque("compaction", {"type": "compaction", "content": "In short."})
SEALED = Opaque("compaction", {"type": "compaction", "encrypted_content": "x"})
FAILED = Opaque("compaction", {"type": "compaction", "content": ""})


def spans(*summaries: int, lasting: tuple[int, ...] = ()) -> list[tuple[int, list[int], str | None]]:
    """Each epoch's number, messages, and the summary that ends it."""
    return [
        (one.number, [*one.members], one.ended_by.summary if one.ended_by else None)
        for one in epochs_at(MESSAGES, summaries, lasting=lasting)
    ]


def test_each_summary_begins_an_epoch() -> None:
    assert spans() == [(1, [0, 1, 2, 3, 4, 5], None)]
    assert spans(2, 4) == [(1, [0, 1], "m2"), (2, [2, 3], "m4"), (3, [4, 5], None)]
    assert spans(0) == [(1, [0, 1, 2, 3, 4, 5], None)]
    assert spans(1, 2) == [(1, [0], "m1"), (2, [1], "m2"), (3, [2, 3, 4, 5], None)]
    assert spans(0, 5) == [(1, [0, 1, 2, 3, 4], "m5"), (2, [5], None)]


def test_lasting_messages_are_in_each_later_epoch() -> None:
    assert spans(2, 4, lasting=(0, 2)) == [(1, [0, 1], "m2"), (2, [0, 2, 3], "m4"), (3, [0, 2, 4, 5], None)]


def test_an_epoch_ends_by_the_given_trigger() -> None:
    first, last = epochs_at(MESSAGES, [3], "auto")
    assert (first.ended_by, last.ended_by) == (Compaction("auto", summary="m3"), None)


@pytest.mark.parametrize(
    ("way", "before", "after", "found"),
    [
        ("removal", [0, 1], [0, 1, 2], "empty"),
        ("removal", [0, 1], [1, 2], "removal"),
        ("removal", [0], [0], "empty"),
        ("clearing", [0, 1], [0, 1, 2], "clearing"),
        ("summary", [0, 1], [0, 1, 2], "summary"),
    ],
)
def test_a_removal_that_removed_nothing_is_empty(way: Any, before: list[int], after: list[int], found: Any) -> None:
    ended = Compaction("t", 5, way=way)
    epochs = [Epoch(1, before, ended), Epoch(2, after, Compaction("u")), Epoch(3, [0])]
    assert mark_empty_compactions(epochs) == (replace(epochs[0], ended_by=replace(ended, way=found)), *epochs[1:])
    assert mark_empty_compactions([]) == ()


def parts(*blocks: Block, role: Any = "assistant") -> tuple[list[tuple[str, str, tuple[Block, ...], bool]], list[int]]:
    """The id, kind and blocks of each part, and whether it has the usage; and the indexes of summaries."""
    messages = [Message("u", "user", (Text("Go."),)), Message("a", role, blocks, usage=Usage(7))]
    found, summaries = split_at_compactions(messages)
    assert found[0] == messages[0]
    return [(one.id, one.kind, one.blocks, one.usage is not None) for one in found[1:]], summaries


A, B = Text("a"), Text("b")


def test_a_response_is_split_at_its_compaction() -> None:
    assert parts(A, B) == ([("a", "normal", (A, B), True)], [])
    assert parts(A, SUMMARY, B) == (
        [
            ("a", "normal", (A,), False),
            ("a.2", "summary", (Text("In short."),), False),
            ("a.3", "normal", (B,), True),
        ],
        [2],
    )
    assert parts(SUMMARY, A, B) == (
        [("a", "summary", (Text("In short."),), False), ("a.2", "normal", (A, B), True)],
        [1],
    )
    assert parts(SEALED) == ([("a", "summary", (SEALED,), False)], [1])
    assert parts(A, SUMMARY, SEALED) == (
        [("a", "normal", (A,), False), ("a.2", "summary", (Text("In short."), SEALED), False)],
        [2],
    )
    assert parts(SUMMARY, A, SUMMARY) == (
        [
            ("a", "summary", (Text("In short."),), False),
            ("a.2", "normal", (A,), False),
            ("a.3", "summary", (Text("In short."),), False),
        ],
        [1, 3],
    )


def test_a_failed_compaction_and_one_in_a_request_split_nothing() -> None:
    assert parts(A, FAILED, B) == ([("a", "normal", (A, FAILED, B), True)], [])
    assert parts(A, SUMMARY, role="user") == ([("a", "normal", (A, SUMMARY), True)], [])
