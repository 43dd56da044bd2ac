"""Stored history before a context, when a compaction repeated some of its messages."""

from __future__ import annotations

from dataclasses import replace

from tests.formats.claude_code_build import assistant, call, line, read, result, text, user
from workbench.compaction.shape import Shape
from workbench.compaction.stored_history import StoredHistory, stored_history_of

CLEARED = {"trigger": "auto", "preTokens": 9, "tokensSaved": 4, "compactedToolIds": ["t1"]}
SESSION = read(
    user("u1", None, "Read it."),
    assistant("a1", "u1", "m1", call("t1")),
    result("r1", "a1", "t1", "All of it."),
    assistant("a2", "r1", "m2", text("Read.")),
    line("system", "c1", "a2", subtype="microcompact_boundary", microcompactMetadata=CLEARED, content="Cleared"),
    user("u2", "c1", "Go on."),
    assistant("a3", "u2", "m3", text("Done.")),
)


def retold(past: StoredHistory, shape: Shape) -> list[str]:
    """Ids of all messages before the context's last one, oldest first."""
    return [where.messages[at].id for where, at in past.backwards(shape, len(shape.messages) - 1)][::-1]


def test_a_result_that_was_cleared_is_retold_once_and_as_it_was() -> None:
    context = Shape(SESSION.context())
    assert [message.id for message in context.messages] == ["u1", "a1", "r1~cleared", "a2", "u2", "a3"]
    past = stored_history_of(SESSION, 2)
    assert [message.id for message in past.shape.messages] == ["u1", "a1", "r1", "a2"]
    assert retold(past, context) == ["u1", "a1", "r1", "a2", "u2"]


def test_so_it_is_after_one_more_compaction() -> None:
    further = StoredHistory(stored_history_of(SESSION, 2), SESSION.context(), 0)
    assert [message.id for message in further.shape.messages] == ["u1", "a1", "r1", "a2", "u2", "a3"]
    newer = Shape([*SESSION.context(), replace(SESSION.context()[-1], id="a4")])
    assert retold(further, newer) == ["u1", "a1", "r1", "a2", "u2", "a3"]
