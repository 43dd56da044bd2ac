"""Messages that presets keep and send, compared with those of the products' own code on the same session, each at its
version; see `scripts/product_vectors.py`."""

from __future__ import annotations

import json
import re
from array import array
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.courses import counter_of, session_of
from workbench.compaction.context import Context, Layout
from workbench.compaction.opening import context_at
from workbench.compaction.outcome import Fate, Outcome
from workbench.compaction.preset import load_preset
from workbench.compaction.shape import Shape
from workbench.compaction.strategies import strategy
from workbench.compaction.summary_request import SummaryRequest
from workbench.conformance.building import METER, call, context_of, result, user
from workbench.conformance.strategies import run
from workbench.session import Message, Text, Thinking
from workbench.tokens.sizes import Basis, Sizes
from workbench.tokens.window import Window

VECTORS = Path(__file__).resolve().parent.parent / "vectors" / "product_compactions.json"


@cache
def vectors() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(VECTORS.read_text("utf-8"))
    return found


def messages_of(rows: list[dict[str, Any]]) -> list[Message]:
    return [_message(number, row) for number, row in enumerate(rows)]


def _message(number: int, row: dict[str, Any]) -> Message:
    said = (f"m{number}. " * row["chars"])[: row["chars"]]
    if row["role"] == "user":
        return user(str(number), said)
    if row["role"] == "tool":
        return result(str(number), (row["answers"], said))
    calls = [call(id, "run", command=id) for id in row.get("calls", ())]
    thought = (f"m{number}. " * row.get("thinking", 0))[: row.get("thinking", 0)]
    blocks = (*([Thinking(thought)] if thought else []), *([Text(said)] if said else []), *calls)
    return Message(str(number), "assistant", blocks)


def compacted(name: str, context: Context) -> tuple[Outcome, SummaryRequest]:
    preset = load_preset(name)
    outcome, (request, *_) = run(strategy(preset.strategy), context, preset.policy, "S")
    return outcome, request


def kept(outcome: Outcome) -> list[int]:
    return [int(message.id) for message in outcome.messages if message.kind == "normal"]


def made(outcome: Outcome) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in outcome.messages if message.kind == "summary"]


def shown(outcome: Outcome) -> list[int]:
    """The messages with words of which the request shows something."""
    fates = ((index, outcome.fate_at(index)) for index in range(len(outcome.source)))
    return [i for i, fate in fates if fate.saw != "nothing" and (outcome.source[i].text or outcome.source[i].results)]


@pytest.mark.parametrize("name", ["adk", "langchain", "openhands", "pi"])
def test_what_stays_and_what_is_shown(name: str) -> None:
    outcome, _ = compacted(name, context_of(messages_of(vectors()["session"]), manual=name != "openhands"))
    expected = vectors()[name]
    words = {i for i, row in enumerate(vectors()["session"]) if row["chars"]}
    assert kept(outcome) == expected["kept"]
    assert shown(outcome) == [number for number in expected["shown"] if number in words]


def test_openhands_by_hand_leaves_half_of_what_there_is() -> None:
    rows = vectors()["session"]
    expected = vectors()["openhands"]["by hand"]
    stop = max(expected["kept"]) + 1
    outcome, request = compacted("openhands", context_of(messages_of(rows[:stop])))
    assert (kept(outcome), shown(outcome)) == (expected["kept"], expected["shown"])
    assert "m3. " in request.text
    assert "m0. " not in request.text


@pytest.mark.parametrize("over", ["over 20 000 tokens", "over 20 000 tokens and 80 events"])
def test_openhands_halves_the_tokens_where_they_are_too_many(over: str) -> None:
    """Characters stand for tokens, there as here; the system prompt has six of them."""
    expected = vectors()["openhands"][over]
    messages = messages_of(vectors()["session"])[: max(expected["kept"]) + 1]
    chars = array("q", [row["chars"] for row in vectors()["session"][: len(messages)]])
    sizes = Sizes(chars, Basis.CALIBRATED, 6, Basis.CALIBRATED, 0, METER)
    context = Context(Layout(Shape(tuple(messages)), sizes), limit=Window(20_000, "given"))
    outcome, _ = compacted("openhands", context.with_(manual=False))
    assert (kept(outcome), shown(outcome)) == (expected["kept"], expected["shown"])


def test_what_stands_there_for_what_went() -> None:
    talked = session_of(messages_of(vectors()["talk"]))
    tooled = context_of(messages_of(vectors()["session"]))
    assert made(compacted("langchain", tooled)[0]) == [("user", vectors()["langchain"]["made"][0][1])]
    assert vectors()["adk"]["made"] == [["model", "S"]]
    assert made(compacted("adk", tooled)[0])[-1:] == [("assistant", "S")]
    aider, _ = compacted("aider", context_at(talked, 1, counter_of(talked)))
    assert [list(one) for one in made(aider)] == vectors()["aider"]["made"]
    assert kept(aider) == vectors()["aider"]["kept"]
    assert shown(aider) == vectors()["aider"]["shown"]


def test_aider_ends_with_the_agent_where_the_user_would_have_the_last_word() -> None:
    """The newest message alone is more than stays: in aider as here nothing does."""
    rows = [*vectors()["talk"][:-1], {"role": "user", "chars": 40_000}, {"role": "assistant", "chars": 40_000}]
    outcome, _ = compacted("aider", context_of(messages_of(rows)))
    assert [list(one) for one in made(outcome)] == vectors()["aider"]["where nothing stays"]
    assert outcome.fate_at(0).fate is Fate.SUMMARIZED


@pytest.mark.parametrize("large", [4, 6])
def test_aiders_short_older_part_takes_all_with_it(large: int) -> None:
    rows = [{"role": ("user", "assistant")[n % 2], "chars": 9_000 if n < large else 200} for n in range(large + 2)]
    talked = session_of(messages_of(rows))
    outcome, _ = compacted("aider", context_at(talked, 1, counter_of(talked)))
    assert kept(outcome) == vectors()["aider"][f"kept of {large} large and 2 small"]


def test_pi_asks_by_itself_of_the_beginning_of_a_turn_that_it_splits() -> None:
    preset, expected = load_preset("pi"), vectors()["pi"]
    context = context_of(messages_of(vectors()["session"]))
    outcome, requests = run(strategy(preset.strategy), context, preset.policy, "S")
    assert expected["split turn"]
    told = [sorted({int(number) for number in re.findall(r"m(\d+)\. ", one.text)}) for one in requests]
    apart = expected["shown of the split turn"]
    assert told == [[number for number in expected["shown"] if number not in apart], apart]
    assert [text.count("S") for _, text in made(outcome)] == [2 + preset.policy.summary_template.count("S")]  # type: ignore[attr-defined]
