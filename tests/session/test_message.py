"""The user's own words in a message."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.session import Compaction, Message, Text, ToolResult

_ANSWERED = ToolResult("q", (Text("User has answered your questions: Language = TypeScript"),), user_text="TypeScript")
_SILENT = ToolResult("r", (Text("total 8"),))


@pytest.mark.parametrize(
    ("message", "own"),
    [
        (Message("1", "user", (Text("Fix it."), Text("Now."))), "Fix it.\nNow."),
        (Message("2", "user", (Text("<date>", injected=True), Text("Fix it."))), "Fix it."),
        (Message("3", "user", (Text("Stop."),), kind="meta"), ""),
        (Message("4", "user", (Text("Earlier: fix it."),), kind="summary"), ""),
        (Message("5", "tool", (_SILENT, _ANSWERED)), "TypeScript"),
        (Message("6", "tool", (_SILENT,)), ""),
        (Message("7", "tool", (_ANSWERED, Text("and go on"))), "TypeScript"),
        (Message("8", "assistant", (Text("I'll fix it."),)), ""),
    ],
    ids=lambda value: value.id if isinstance(value, Message) else "",
)
def test_user_text_is_what_the_user_typed_or_answered(message: Message, own: str) -> None:
    assert message.user_text == own


@pytest.mark.parametrize(
    ("one", "former", "now"),
    [
        (_ANSWERED, "said", "user_text"),
        (Message("5", "tool", (_ANSWERED,)), "said", "user_text"),
        (Compaction(kept_ids=("a",)), "kept", "kept_ids"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_former_name_is_deprecated(one: Any, former: str, now: str) -> None:
    name = type(one).__name__
    with pytest.warns(DeprecationWarning, match=rf"{name}\.{former} is now {name}\.{now}"):
        assert getattr(one, former) == getattr(one, now)
