from typing import Any

import pytest

from workbench.base.values import json_text
from workbench.session import Block, Kind, Media, Message, Opaque, Text, Thinking, ToolResult, ToolUse
from workbench.tokens import Basis, Size, visible_chars
from workbench.tokens.visible import visible_parts


def message(*blocks: Block, kind: Kind = "normal") -> Message:
    return Message("m", "assistant", blocks, kind)


@pytest.mark.parametrize(
    ("block", "chars"),
    [
        (Text("héllo"), 5),
        (Thinking("hm", signature="x" * 400), 2),
        (ToolUse("id", "Bash", {"command": "ls"}), len("Bash") + len('{"command":"ls"}')),
        (ToolUse("id", "Bash", "{broken"), len("Bash") + len("{broken")),
        (ToolResult("id", (Text("out"), Text("put"))), 6),
        (ToolResult("id", (Text("see"), Media("image/png", 9))), 3 + len("[image/png, 9 bytes]")),
        (Media("application/pdf", 12), len("[application/pdf, 12 bytes]")),
        (Opaque("new", {"type": "new", "é": 1}), len('{"type":"new","é":1}')),
    ],
)
def test_every_kind_of_block_counts_what_a_model_reads(block: Block, chars: int) -> None:
    assert visible_chars(message(block)) == chars
    assert visible_chars(message(block, block)) == 2 * chars


def test_a_boundary_is_never_sent() -> None:
    assert visible_chars(message(Text("Conversation compacted"), kind="boundary")) == 0


def test_parts_come_in_order_and_media_stay_what_they_are() -> None:
    image = Media("image/png", 1)
    parts = visible_parts(message(Text("a"), ToolUse("i", "N", {"k": 1}), ToolResult("i", (Text("r"), image))))
    assert parts == ["a", "N", '{"k":1}', "r", image]


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    ["\ud800", {"\udfff": "\ud800x"}, 2**80, {1: object()}, deep(500), deep(5_000), float("nan"), {"a": {1, 2}}],
    ids=["surrogate", "surrogate key", "huge", "object", "deep", "too deep", "nan", "set"],
)
def test_json_text_takes_whatever_a_file_may_hold(value: Any) -> None:
    text = json_text(value)
    assert text
    assert visible_chars(message(Opaque("odd", value))) == len(text)


def test_surrogates_in_a_call_keep_their_length() -> None:
    assert visible_chars(message(ToolUse("i", "n", {"a": "\ud83d"}))) == 1 + len('{"a":"x"}')


def test_a_size_shows_its_basis() -> None:
    assert str(Size(1, 1, 12345, Basis.EXACT)) == "12 345"
    assert str(Size(1, 1, 12345, Basis.CALIBRATED)) == "≈12 345"
    assert str(Size(1, 1, 12, Basis.ESTIMATE)) == "~12"
