"""Truncations of Cline's that only the falls of its bills show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.compaction.opening import context_at
from workbench.formats.files import load
from workbench.formats.roo_cline.falls import at_falls
from workbench.session import Epoch, Message, Session, Text, Usage
from workbench.tokens import Counter

OVERHEAD, STEP = 3_000, 2_000
"""Tokens before all messages, and of a request with its answer: 4 000 characters at 4 a token, twice."""


def task(folder: Path, turns: int, gone: dict[int, int]) -> Path:
    """A task of so many requests and answers. From turn k on the first `gone[k]` messages behind the first two are not
    sent."""
    folder.mkdir()
    history: list[dict[str, Any]] = []
    chat: list[dict[str, Any]] = []
    left_out = 0
    for turn in range(turns):
        left_out = gone.get(turn, left_out)
        sent = OVERHEAD + STEP // 2 * (2 * turn + 1 - left_out)
        for role in ("user", "assistant"):
            words, time = f"{role} {turn} ", 10_000 * turn + len(role)
            history.append({"role": role, "content": words + "x" * (4_000 - len(words)), "ts": time})
        billed = json.dumps({"tokensIn": sent})
        chat.append({"ts": 10_000 * turn + 8, "type": "say", "say": "api_req_started", "text": billed})
    (folder / "api_conversation_history.json").write_text(json.dumps(history))
    (folder / "ui_messages.json").write_text(json.dumps(chat))
    return folder


def members(session: Session) -> list[list[int]]:
    return [list(epoch.members) for epoch in session.epochs]


def test_a20_each_fall_of_the_billed_prompts_begins_an_epoch(tmp_path: Path) -> None:
    """Turns 0-9 are sent whole, from the tenth on messages 2-9 are not, from the fifteenth on messages 2-21."""
    session = load(task(tmp_path / "1700000000000", 20, {10: 8, 15: 20}))
    assert members(session) == [
        [*range(21)],
        [0, 1, *range(10, 31)],
        [0, 1, *range(22, 40)],
    ]
    ends = [epoch.ended_by for epoch in session.epochs[:-1]]
    assert [(one.trigger, one.way, one.tokens_before) for one in ends if one] == [
        ("truncation", "removal", 22_000),
        ("truncation", "removal", 24_000),
    ]
    assert [str(one) for one in session.warnings] == [
        "billed prompts shrink 2 times, first from 22 000 to 16 000 tokens: the agent dropped older messages "
        "without a record; which ones is inferred from usage"
    ]


def test_a20_every_figure_stands_on_a_bill_that_fits(tmp_path: Path) -> None:
    session = load(task(tmp_path / "1700000000000", 20, {10: 8, 15: 20}))
    assert not any(message.usage and message.usage.absurd for message in session.messages)
    assert context_at(session, None, Counter()).total.tokens == pytest.approx(22_000 + 1_000, abs=600)


def test_a20_prompts_that_grow_are_one_epoch(tmp_path: Path) -> None:
    session = load(task(tmp_path / "1700000000000", 20, {}))
    assert (members(session), session.warnings) == ([[*range(40)]], ())


@pytest.mark.parametrize(("fallen", "epochs"), [(15_000, 1), (14_999, 2)])
def test_a20_a_fall_is_to_less_than_three_quarters(fallen: int, epochs: int) -> None:
    assert len(fell(20_000, fallen)) == epochs


@pytest.mark.parametrize(("fallen", "epochs"), [(3_000, 1), (2_999, 2)])
def test_a20_a_fall_is_of_more_than_five_thousand_tokens(fallen: int, epochs: int) -> None:
    assert len(fell(8_000, fallen)) == epochs


def fell(first: int, second: int) -> list[Epoch]:
    """The epochs of four requests, of which the last two have these bills."""
    bills = (1_000, 2_000, first, second)
    messages = [one for n, bill in enumerate(bills) for one in said(n, bill)]
    return at_falls(Epoch(1, range(len(messages))), messages)[0]


def said(number: int, bill: int) -> tuple[Message, Message]:
    words = (Text("x" * 400),)
    return Message(f"u{number}", "user", words), Message(f"a{number}", "assistant", words, usage=Usage(bill))
