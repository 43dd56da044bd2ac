"""Anthropic content blocks, there and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.formats.agent_texts import CONTINUATION, kind_of
from workbench.formats.kit.blocks import (
    SUMMARY_LABEL,
    arguments_of,
    as_object,
    as_text,
    compacted,
    content_of,
    from_anthropic,
    holds_compaction,
    in_result,
    input_of,
    is_compaction,
    parts_of,
    to_anthropic,
    writable,
)
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


IMAGE = Media("image/png", 9)
NAMED = "[image/png, 9 bytes]"


@pytest.mark.parametrize(
    ("item", "block"),
    [
        ({"type": "image", "source": {"media_type": "image/png", "data": "abc"}}, Media("image/png", 3)),
        ({"type": "document", "source": {"media_type": "a/b", "data": "abc"}}, Media("a/b", 3)),
        ({"type": "document", "source": {"media_type": 7, "data": 8}}, Media("document", 0)),
        ({"type": "image", "source": "x"}, Media("image", 0)),
        ({"type": "image"}, Media("image", 0)),
        ({"type": "tool_use", "id": "1", "name": "n"}, ToolUse("1", "n", "")),
        ({"type": "tool_use", "id": "1", "name": "n", "input": [1]}, ToolUse("1", "n", "[1]")),
        ({"type": "tool_use", "id": 1, "name": "n"}, Opaque("tool_use", {"type": "tool_use", "id": 1, "name": "n"})),
        ({"type": "tool_use", "id": "1"}, Opaque("tool_use", {"type": "tool_use", "id": "1"})),
        ({"type": "tool_result"}, Opaque("tool_result", {"type": "tool_result"})),
        ({"type": "tool_result", "tool_use_id": "1", "content": ""}, ToolResult("1", ())),
        ({"type": "tool_result", "tool_use_id": "1", "content": {"a": 1}}, ToolResult("1", (Text('{"a":1}'),))),
        ({"type": "tool_result", "tool_use_id": "1", "is_error": 1}, ToolResult("1", ())),
        ({"type": "tool_result", "tool_use_id": "1", "content": ["a"]}, ToolResult("1", (Text("a"),))),
        ({"type": "thinking", "thinking": "t"}, Thinking("t")),
        ({"type": "thinking", "thinking": "t", "signature": 5}, Thinking("t")),
        ({"type": "thinking"}, Opaque("thinking", {"type": "thinking"})),
        ({"type": 5}, Opaque("", {"type": 5})),
    ],
)
def test_a_block_of_the_messages_api(item: object, block: object) -> None:
    assert from_anthropic([item]) == (block,)


@pytest.mark.parametrize(
    ("block", "item", "losses"),
    [
        (Text("a"), {"type": "text", "text": "a"}, []),
        (Thinking("t"), {"type": "thinking", "thinking": "t", "signature": ""}, []),
        (ToolUse("1", "n", "raw{"), {"type": "tool_use", "id": "1", "name": "n", "input": {"raw": "raw{"}}, []),
        (ToolResult("1", ()), {"type": "tool_result", "tool_use_id": "1", "content": ""}, []),
        (
            ToolResult("1", (Text("a"),), is_error=True),
            {"type": "tool_result", "tool_use_id": "1", "content": "a", "is_error": True},
            [],
        ),
        (
            ToolResult("1", (IMAGE,)),
            {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": NAMED}]},
            [Loss(LossKind.MEDIA)],
        ),
        (
            ToolResult("1", (Text("a"), Text(""), Text("b"))),
            {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": text} for text in "ab"]},
            [],
        ),
        (IMAGE, {"type": "text", "text": NAMED}, [Loss(LossKind.MEDIA)]),
        (Opaque("x", {"type": "x"}), {"type": "x"}, []),
        (Opaque("x", [1]), {"type": "text", "text": "[1]"}, []),
        (Opaque("x", "raw"), {"type": "text", "text": "raw"}, []),
    ],
)
def test_a_block_in_the_form_of_the_messages_api(block: object, item: object, losses: Losses) -> None:
    found: Losses = []
    assert (to_anthropic(block, found), found) == (item, losses)  # type: ignore[arg-type]


def test_content_for_openai_names_images() -> None:
    losses: Losses = []
    assert content_of(ToolResult("c", (IMAGE,)), losses) == NAMED
    assert content_of(ToolResult("c", (Text("a"), IMAGE)), losses) == [
        {"type": "text", "text": "a"},
        {"type": "text", "text": NAMED},
    ]
    assert content_of(ToolResult("c", (Text(""),)), losses) == ""
    assert content_of(ToolResult("c", (Text(""), Text(""))), losses) == ""
    assert losses == [Loss(LossKind.MEDIA)] * 2


def test_by_default_no_reasoning_is_writable() -> None:
    losses: Losses = []
    blocks = (ToolUse("1", "n", {}), Thinking("a", "sealed"), ToolResult("1", ()))
    assert [*writable(blocks, losses)] == [blocks[0], blocks[2]]
    assert losses == [Loss(LossKind.REASONING)]


@pytest.mark.parametrize(
    ("raw", "is_one", "block"),
    [
        ({"type": "compaction", "content": "old"}, True, Text("old")),
        ({"type": "compaction", "encrypted_content": "x"}, True, Opaque),
        ({"type": "compaction", "content": "", "encrypted_content": "x"}, True, Opaque),
        ({"type": "compaction", "content": ["old"]}, True, Opaque),
        ({"type": "compaction", "content": ""}, False, Opaque),
        ({"type": "compaction"}, False, Opaque),
        ({"type": "text", "content": "old"}, False, Text("old")),
    ],
)
def test_a_compaction_block_has_content(raw: dict[str, object], is_one: bool, block: object) -> None:
    assert compacted(raw) == (Opaque("compaction", raw) if block is Opaque else block)
    assert (is_compaction(raw), holds_compaction(raw)) == (is_one, is_one)
    assert holds_compaction([{"type": "text"}, raw]) is is_one
    assert not is_compaction([raw])
    assert not holds_compaction([[raw]])


@pytest.mark.parametrize("value", ["compaction", None, 7, []])
def test_other_values_are_no_compaction(value: object) -> None:
    assert not is_compaction(value)
    assert not holds_compaction(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "a"),
        ("", ""),
        ({"é": [1, None]}, '{"é":[1,null]}'),
        (None, "null"),
        (7, "7"),
        ({"a": {1}}, '{"a":"{1}"}'),
    ],
)
def test_any_value_as_text(value: object, text: str) -> None:
    assert as_text(value) == text


@pytest.mark.parametrize(
    ("value", "sent_as_object", "sent_as_text"),
    [
        ({"a": 1}, {"a": 1}, {"a": 1}),
        (None, "", ""),
        ("", "", ""),
        ('{"a": 1}', '{"a": 1}', {"a": 1}),
        ("[1]", "[1]", "[1]"),
        ("{cut", "{cut", "{cut"),
        ([1], "[1]", "[1]"),
        (7, "7", "7"),
    ],
)
def test_arguments_of_apis_that_send_objects_or_text(
    value: object, sent_as_object: object, sent_as_text: object
) -> None:
    assert input_of(value) == sent_as_object
    assert arguments_of(value) == sent_as_text
    assert as_object(arguments_of(value)) == (sent_as_text if isinstance(sent_as_text, dict) else {"raw": sent_as_text})


@pytest.mark.parametrize(
    ("content", "blocks"),
    [
        ("a", (Text("a"),)),
        ("", ()),
        (None, ()),
        ([], ()),
        ([1, 2], (Text("<1>"), Text("<2>"))),
        ({"a": 1}, (Opaque("content", {"a": 1}),)),
        (0, (Opaque("content", 0),)),
    ],
)
def test_content_of_parts(content: object, blocks: tuple[object, ...]) -> None:
    assert parts_of(content, lambda part: Text(f"<{part}>")) == blocks


def test_a_part_of_a_result_is_text_or_media() -> None:
    assert in_result(Text("a"), 7) == Text("a")
    assert in_result(IMAGE, 7) == IMAGE
    assert in_result(Thinking("t"), {"a": 1}) == Text('{"a":1}')
    assert in_result(None, "raw") == Text("raw")
