"""Messages without their secrets: what of one is masked, what stays the same object, how often a text is looked at."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.base.secrets import MASK, masking
from workbench.session import Block, Media, Message, Opaque, Text, Thinking, ToolResult, ToolUse
from workbench.session.masked import cut_blocks, masked_message, without_rests

KEY = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
NAMED = "correct-Horse-7"


def message(*blocks: Block) -> Message:
    return Message("m", "user", blocks, time=1.0, source=(3,))


@pytest.mark.parametrize(
    ("block", "clean"),
    [
        (Text(f"The token is {KEY} now", injected=True), Text(f"The token is {MASK} now", injected=True)),
        (Thinking(KEY, "signed"), Thinking(MASK, "signed")),
        (ToolUse("t", "put", {"password": NAMED}), ToolUse("t", "put", {"password": MASK})),
        (ToolUse("t", "put", {"a": [{"password": NAMED}, 5]}), ToolUse("t", "put", {"a": [{"password": MASK}, 5]})),
        (ToolUse("t", "put", f"export TOKEN={KEY}"), ToolUse("t", "put", f"export TOKEN={MASK}")),
        (ToolUse("t", "put", {KEY: "x"}), ToolUse("t", "put", {MASK: "x"})),
        (Opaque("odd", {"password": NAMED}), Opaque("odd", {"password": MASK})),
        (ToolResult("t", (Text(KEY), Media("a/b", 5))), ToolResult("t", (Text(MASK), Media("a/b", 5)))),
        (ToolResult("t", (), True, f"use {KEY}"), ToolResult("t", (), True, f"use {MASK}")),
    ],
)
def test_f02_a_secret_is_masked_in_every_sort_of_block(block: Block, clean: Block) -> None:
    plain = Text("nothing")
    made = masked_message(message(plain, block))
    assert made == message(plain, clean)
    assert made.blocks[0] is plain


def test_f02_a_message_without_secrets_is_itself() -> None:
    given = {"path": "src/a.py", "lines": [1, 2.5, None, True], "ids": ["x" * 30]}
    blocks = (
        Text("password: <password>"),
        ToolUse("t", "Read", given),
        ToolResult("t", (Text("ok"),)),
        Media("a/b", 5),
    )
    one = message(*blocks)
    assert masked_message(one) is one


def test_f02_what_only_tells_who_somebody_is_stays() -> None:
    """It is masked where it is shown: a ledger that is exported names files by their folders."""
    one = message(Text("/home/bob/a.py of bob@example.org"))
    with masking("home", "mail"):
        assert masked_message(one) is one


def test_f02_an_input_that_nests_deeper_than_python_calls_is_one_text() -> None:
    value: Any = KEY
    for _ in range(50_000):
        value = [value]
    clean = masked_message(message(ToolUse("t", "put", {"deep": value}))).calls[0].input
    assert isinstance(clean, str)
    assert KEY not in clean
    value = "nothing"
    for _ in range(50_000):
        value = [value]
    deep = message(ToolUse("t", "put", {"deep": value}))
    assert masked_message(deep) is deep


def test_f02_what_is_cut_is_cut_from_the_masked_text_and_what_is_not_stays_whole() -> None:
    def cut(block: Block) -> Block | None:
        if isinstance(block, Media):
            return None
        return Text(block.text[:30]) if isinstance(block, Text) and len(block.text) > 30 else block

    short, long = Text(f"x {KEY[:24]}"), Text(f"password='{NAMED}' and more of that")
    assert cut_blocks(message(short, long, Media("a/b", 5)), cut) == (short, Text(f"password='{MASK}' and more o"))
    assert cut_blocks(message(short), cut)[0] is short


@pytest.mark.parametrize(
    ("shown", "clean"),
    [
        (f"TOKEN={KEY[:4]}...", f"TOKEN={MASK}..."),
        (f"TOKEN={KEY[:3]}...", f"TOKEN={KEY[:3]}..."),
        (f"TOKEN={KEY[:30]}\n\n... [gone] ...\n\n{KEY[-4:]} is it", f"TOKEN={MASK}\n\n... [gone] ...\n\n{MASK} is it"),
        (f"a…{KEY[-3:]} is it", f"a…{KEY[-3:]} is it"),
        (f"…ssword='{NAMED}'", f"…ssword='{MASK}'"),
        (f"{KEY[:9]}{KEY[:9]}...", f"{KEY[:9]}{MASK}..."),
        (f"{NAMED} far from a cut", f"{NAMED} far from a cut"),
        ("...", "..."),
    ],
)
def test_f06_what_a_cut_has_left_of_a_secret_is_not_shown(shown: str, clean: str) -> None:
    messages = [
        message(Text(f"TOKEN={KEY} is it")),
        message(ToolUse("t", "put", {"password": NAMED})),
        message(Text("x")),
    ]
    assert without_rests(shown, messages, map(masked_message, messages)) == clean
    assert without_rests(shown, messages[2:], messages[2:]) == shown
