"""Anthropic content blocks, there and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.formats.agent_texts import CONTINUATION, kind_of
from workbench.formats.kit.blocks import SUMMARY_LABEL, as_text, content_of, from_anthropic, to_anthropic, writable
from workbench.formats.loss import Loss, Losses, LossKind
from workbench.session import Media, Opaque, Text, Thinking, ToolResult, ToolUse

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
_KEYS = ("text", "thinking", "signature", "id", "name", "input", "tool_use_id", "content", "source")
typed = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "thinking", "tool_use", "tool_result", "image", "document", "compaction", 3])},
    optional=dict.fromkeys(_KEYS, json_values),
)


def test_every_known_block() -> None:
    content = [
        {"type": "text", "text": "a"},
        {"type": "thinking", "thinking": "t", "signature": "s"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "tool_use", "id": "1", "name": "n", "input": {"k": 1}},
        {"type": "tool_result", "tool_use_id": "1", "content": "r", "is_error": True},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}},
    ]
    blocks = from_anthropic(content)
    assert blocks == (
        Text("a"),
        Thinking("t", "s"),
        Opaque("redacted_thinking", content[2]),
        ToolUse("1", "n", {"k": 1}),
        ToolResult("1", (Text("r"),), is_error=True),
        Media("image/png", 4),
    )
    losses: Losses = []
    assert [to_anthropic(block, losses) for block in blocks[:5]] == content[:5]
    assert losses == []
    assert to_anthropic(blocks[5], losses) == {"type": "text", "text": "[image/png, 4 bytes]"}


def test_result_of_several_parts() -> None:
    raw = {
        "type": "tool_result",
        "tool_use_id": "1",
        "content": [
            {"type": "text", "text": "a"},
            {"type": "image", "source": {"data": "12"}},
            {"type": "tool_reference", "tool_name": "t"},
        ],
    }
    (block,) = from_anthropic([raw])
    assert isinstance(block, ToolResult)
    assert block.content == (Text("a"), Media("image", 2), Text('{"type":"tool_reference","tool_name":"t"}'))
    losses: Losses = []
    assert [part["type"] for part in to_anthropic(block, losses)["content"]] == ["text", "text", "text"]
    assert losses == [Loss(LossKind.MEDIA)]


@pytest.mark.parametrize(
    ("content", "blocks"),
    [
        ("hello", (Text("hello"),)),
        ("", ()),
        (None, ()),
        (["loose"], (Text("loose"),)),
        (7, (Opaque("int", 7),)),
        ([None, {"no": "type"}], (Opaque("NoneType", None), Opaque("", {"no": "type"}))),
        ({"type": "text", "text": "single"}, (Text("single"),)),
        ([{"type": "text", "text": 5}], (Opaque("text", {"type": "text", "text": 5}),)),
        ([{"type": "tool_use", "id": "1", "name": "n", "input": "raw{"}], (ToolUse("1", "n", "raw{"),)),
        ([{"type": "tool_result", "tool_use_id": "1"}], (ToolResult("1", ()),)),
    ],
)
def test_odd_content(content: object, blocks: tuple[object, ...]) -> None:
    assert from_anthropic(content) == blocks


@given(st.lists(typed | json_values) | json_values)
def test_nothing_raises_and_every_block_goes_back(content: object) -> None:
    blocks = from_anthropic(content)
    assert all(isinstance(to_anthropic(block, []), dict) for block in blocks)
    if isinstance(content, list):
        assert len(blocks) == len(content)


def test_kinds() -> None:
    reminder = Text("<system-reminder>\nnote\n</system-reminder>\n")
    assert kind_of("user", (reminder, reminder)) == "meta"
    assert kind_of("user", (reminder, Text("do it"))) == "normal"
    assert (
        kind_of("user", (Text("<system-reminder>a</system-reminder> and mine <system-reminder>b</system-reminder>"),))
        == "normal"
    )
    assert kind_of("user", (reminder, Text(f"{CONTINUATION}. The conversation…"))) == "summary"
    assert kind_of("user", (Text(f"{SUMMARY_LABEL}\nold"),)) == "summary"
    assert kind_of("user", (Text("<supervisor>\nx <summary>\ny</summary></supervisor>"),)) == "summary"
    assert kind_of("user", (Text("<supervisor> without one"),)) == "normal"
    for filled, kind in (({"encrypted_content": "x"}, "summary"), ({"content": "old"}, "summary"), ({}, "normal")):
        block = Opaque("compaction", {"type": "compaction"} | filled)
        assert kind_of("assistant", (block, Text("a"))) == kind
    assert kind_of("user", ()) == "normal"


def test_f10_a_value_that_is_nested_too_deeply_is_told_as_such() -> None:
    assert as_text([[[1]]]) == "[[[1]]]"
    deep: object = 1
    for _ in range(5_000):
        deep = [deep]
    assert as_text(deep) == "[nested too deeply]"


def test_a_writer_gets_images_as_text_and_only_the_blocks_that_it_keeps() -> None:
    losses: Losses = []
    blocks = (Text("a"), Text(""), Media("image/png", 9), Thinking("b", "sealed"), Thinking("c"), Opaque("x", {}))
    found = list(writable(blocks, losses, lambda block: isinstance(block, Thinking) and bool(block.signature)))
    assert found == [Text("a"), Text(Media("image/png", 9).placeholder), Thinking("b", "sealed")]
    assert [loss.kind for loss in losses] == [LossKind.MEDIA, LossKind.REASONING, LossKind.UNKNOWN_BLOCKS]


def test_the_only_text_of_a_result_stands_alone_and_several_are_parts() -> None:
    one, two = ToolResult("c", (Text("a"),)), ToolResult("c", (Text("a"), Text(""), Text("b")))
    assert content_of(one, []) == "a"
    assert content_of(two, [], "input_text") == [{"type": "input_text", "text": text} for text in "ab"]
    assert content_of(ToolResult("c", ()), []) == ""
