"""How much of a huge message is searched."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from workbench.analysis.transcript import transcript
from workbench.base.figures import grouped
from workbench.base.secrets import without_secrets
from workbench.base.values import fields_in, strings_in
from workbench.compaction.shape import Shape
from workbench.compaction.shape_calls import calls_of
from workbench.compaction.shape_facts import facts_of, sentence_states_of, standing_of
from workbench.compaction.summary_request import SummaryRequest, TextBody
from workbench.session import Media, Message, Opaque, Text, Thinking, ToolResult, ToolUse, bounded, masked
from workbench.session.bounded import (
    DEEPEST,
    LEAST,
    LONGEST,
    LONGEST_WORD,
    MOST_CHARS,
    MOST_VALUES,
    bounded_message,
    bounded_text,
    bounded_value,
)

LOG = "2026-03-01T10:00:00Z ERROR app.db - cannot open src/app/table{}.py, port {} is taken\n"
PROSE = "Never change src/app/main{}.py without asking, the limit is {} requests.\n\n"


def of(pattern: str, chars: int) -> str:
    lines = [pattern.format(number, number) for number in range(chars // (len(pattern) - 4) + 1)]
    return "".join(lines)[:chars]


@pytest.mark.parametrize("chars", [0, LONGEST - 1, LONGEST])
def test_f11_a_text_up_to_the_bound_is_searched_whole(chars: int) -> None:
    text = of(PROSE, chars)
    assert bounded_text(text) is text


@pytest.mark.parametrize("chars", [LONGEST + 1, 2 * LONGEST, 4 * LONGEST])
@pytest.mark.parametrize("pattern", [LOG, PROSE])
def test_f11_of_a_longer_text_whole_lines_at_both_ends_are(pattern: str, chars: int) -> None:
    text = of(pattern, chars)
    shorter = bounded_text(text)
    head, mark, tail = re.split(r"\n(\[… .* …\])\n", shorter)
    assert mark == f"[… {grouped(len(text) - len(head) - len(tail))} characters left out …]"
    assert LONGEST - 2 * LONGEST_WORD <= len(head) + len(tail) <= LONGEST
    assert (shorter[:1000], shorter[-1000:]) == (text[:1000], text[-1000:])
    assert {*head.split("\n"), *tail.split("\n")} <= {*text.split("\n")}


@pytest.mark.parametrize("chars", [LONGEST + 1, 2 * LONGEST])
def test_f11_a_text_without_a_gap_is_cut_anywhere(chars: int) -> None:
    left_out = f"[… {grouped(chars - LONGEST)} characters left out …]"
    assert bounded_text("x" * chars) == f"{'x' * (LONGEST * 3 // 4)}\n{left_out}\n{'x' * (LONGEST // 4)}"


@pytest.mark.parametrize(("letters", "whole"), [(LONGEST_WORD - 1, True), (LONGEST_WORD, False)])
def test_f11_a_word_is_cut_only_where_it_is_a_very_long_one(letters: int, whole: bool) -> None:
    """The gaps lie so many characters before the one cut and behind the other."""
    head, tail = LONGEST - LONGEST // 4, LONGEST // 4
    text = "a" * (head - letters - 1) + " " + "m" * (2 * letters + LONGEST) + " " + "z" * (tail - letters - 1)
    assert ("m" not in bounded_text(text)) is whole


def block_of(kind: str, text: str) -> Any:
    return {
        "text": Text(text, injected=True),
        "thinking": Thinking(text, "sig"),
        "call": ToolUse("1", "Write", {"path": "a.py", "content": text}),
        "raw call": ToolUse("1", "Write", text),
        "result": ToolResult("1", (Text("first"), Media("image/png", 10), Text(text)), is_error=True),
        "said": ToolResult("1", (Text("first"),), user_text=text),
        "unknown": Opaque("new", {"deep": [{"text": text}]}),
    }[kind]


@pytest.mark.parametrize("kind", ["text", "thinking", "call", "raw call", "result", "said", "unknown"])
def test_f11_each_block_of_a_message_is_bounded(kind: str) -> None:
    beside = Text("beside")
    small = Message("m", "user", (beside, block_of(kind, of(PROSE, LONGEST))))
    assert bounded_message(small) is small
    text = of(PROSE, LONGEST + 1)
    bounded = bounded_message(Message("m", "user", (beside, block_of(kind, text))))
    assert bounded == Message("m", "user", (beside, block_of(kind, bounded_text(text))))
    assert bounded.blocks[0] is beside


@pytest.mark.parametrize("kind", ["text", "thinking", "call", "raw call", "result", "said", "unknown"])
def test_f11_behind_so_many_characters_of_a_message_texts_are_cut_short(kind: str) -> None:
    """Calls and results have texts of their own before theirs, which count."""
    first = tuple(Text("x" * (LONGEST - 50)) for _ in range(MOST_CHARS // LONGEST))
    for chars, is_cut in ((LEAST, False), (4 * LEAST, True), (LONGEST, True)):
        last = Message("m", "user", (*first, block_of(kind, of(PROSE, chars))))
        bounded = bounded_message(last)
        assert (bounded is not last) is is_cut
        assert all(one is same for one, same in zip(bounded.blocks, first, strict=False))
        if is_cut:
            assert "characters left out" in repr(bounded.blocks[-1])
            assert len(repr(bounded.blocks[-1])) < 2 * LEAST


def test_f11_each_input_of_a_message_has_its_own_values() -> None:
    """Else of two hundred calls the last would tell no file."""
    calls = tuple(ToolUse(str(at), "Write", {"path": "a.py", "rows": [0] * (MOST_VALUES - 10)}) for at in range(3))
    message = Message("m", "assistant", calls)
    assert bounded_message(message) is message


def test_f11_many_results_in_one_message_cost_as_much_as_the_first() -> None:
    results = tuple(ToolResult(str(at), (Text(of(LOG, LONGEST)),)) for at in range(200))
    bounded = bounded_message(Message("m", "user", results))
    kept = [len(result.text) for result in bounded.results]
    assert kept[:4] == [LONGEST] * 4
    assert max(kept[4:]) <= LEAST + len("\n[… 262 144 characters left out …]\n")
    assert min(kept[4:]) > 0


@pytest.mark.parametrize("make", [lambda several: {str(one): one for one in several}, list], ids=["keys", "items"])
@pytest.mark.parametrize("count", [MOST_VALUES - 2, MOST_VALUES - 1, MOST_VALUES, 4 * MOST_VALUES])
def test_f11_of_a_json_value_so_many_values_are_searched(make: Callable[[Any], Any], count: int) -> None:
    """The object itself is one of them."""
    value = make(range(count))
    bounded = bounded_value(value)
    assert (bounded is value) is (count < MOST_VALUES)
    if bounded is not value:
        left, said = count - (MOST_VALUES - 1), [*bounded.values()] if isinstance(bounded, dict) else bounded
        noun = "entry" if left == 1 else "entries"
        assert said == [*range(MOST_VALUES - 1), f"[… {grouped(left)} {noun} left out …]"]
        assert not isinstance(bounded, dict) or [*bounded] == [*map(str, range(MOST_VALUES - 1)), "…"]
    nested = bounded_value({"a": 1, "rows": [value], "z": 2})
    assert sum(1 for _ in fields_in(nested)) <= MOST_VALUES + 2
    assert nested["…"] == "[… 1 entry left out …]", "of the outer object the last"


@pytest.mark.parametrize("chars", [LEAST, LEAST + 1, LONGEST])
def test_f11_behind_so_many_characters_of_a_json_value_texts_are_cut_short(chars: int) -> None:
    first = {str(number): "x" * LONGEST for number in range(MOST_CHARS // LONGEST)}
    bounded = bounded_value({**first, "path": "a.py", "last": "y" * chars})
    assert {key: bounded[key] for key in first} == first
    assert bounded["path"] == "a.py"
    assert bounded["last"] == bounded_text("y" * chars, LEAST)
    assert (bounded["last"] == "y" * chars) is (chars <= LEAST)
    assert sum(map(len, strings_in(bounded_value(["z" * LONGEST] * 100)))) <= MOST_CHARS + 100 * (LEAST + 1)


@pytest.mark.parametrize(("levels", "bounded"), [(DEEPEST - 1, True), (DEEPEST, False), (50_000, False)])
def test_f11_what_lies_very_deep_is_left_whole(levels: int, bounded: bool) -> None:
    value: Any = "x" * (LONGEST + 1)
    for _ in range(levels):
        value = [value]
    assert (bounded_value(value) is not value) is bounded


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Characters of each text that is looked through for secrets, before it is for anything else."""
    sizes: list[int] = []

    def counted(text: str) -> str:
        sizes.append(len(text))
        return without_secrets(text)

    monkeypatch.setattr(masked, "without_secrets", counted)
    return sizes


@pytest.fixture
def sixteenth(monkeypatch: pytest.MonkeyPatch) -> int:
    """Facts of a text up to the bound take seconds, so the bounds are a sixteenth here; what grows with a text grows
    as much."""
    monkeypatch.setattr(bounded, "LONGEST", LONGEST // 16)
    monkeypatch.setattr(bounded, "MOST_CHARS", MOST_CHARS // 16)
    monkeypatch.setattr(bounded, "MOST_VALUES", MOST_VALUES // 16)
    return 16


def conversation(first: Any, role: Any = "user") -> Shape:
    messages = [Message("m1", role, (first,))]
    if isinstance(first, ToolResult):
        messages.insert(0, Message("m0", "assistant", (ToolUse("1", "Bash", {"command": "make"}),)))
    messages.append(Message("m2", "user", (Text("From now on never use tabs."),)))
    return Shape(messages)


@pytest.mark.parametrize("kind", ["text", "call", "result", "said"])
@pytest.mark.parametrize("pattern", [LOG, PROSE])
def test_f11_what_is_looked_at_of_a_huge_text_does_not_grow_with_it(
    kind: str, pattern: str, looked_at: list[int], sixteenth: int
) -> None:
    """The facts of a text four times as long are no more, and no more of it is read for them."""
    found, longest = [], LONGEST // sixteenth
    for times in (2, 8):
        looked_at.clear()
        shape = conversation(block_of(kind, of(pattern, times * longest)))
        facts = [one for one in facts_of(shape) if one.kind != "request"]
        found.append((len(facts), len(standing_of(shape)), len(sentence_states_of(shape)), len(calls_of(shape))))
        assert longest // 2 < sum(looked_at) <= longest + 1000
        assert any(one.text == "From now on never use tabs." for one in facts)
    for counts in zip(*found, strict=True):
        assert max(counts) <= 1.1 * counts[0] + 2


def test_f11_what_shows_a_text_has_it_whole() -> None:
    text = of(PROSE, 2 * LONGEST).strip()
    huge = Message("m", "user", (Text(text),))
    assert [entry.text for entry in transcript([huge])] == [text]
    assert masked.masked_message(huge) is huge


@pytest.mark.parametrize("times", [1, 2, 4])
def test_f11_a_request_shows_a_huge_text_that_holds_no_secret_as_it_is_sent(times: int) -> None:
    huge = Message("m", "user", (Text(of(PROSE, times * LONGEST)),))
    sent = f"{huge.text[:500]} … {huge.text[-500:]}"
    assert SummaryRequest("to test", (huge,), "", TextBody(lambda: sent)).shown == sent


def test_f11_what_is_looked_at_of_millions_of_keys_does_not_grow_with_them(
    looked_at: list[int], sixteenth: int
) -> None:
    most = MOST_VALUES // sixteenth
    for times in (2, 4, 8):
        looked_at.clear()
        rows = {f"key_{number}": f"value {number}" for number in range(times * most)}
        shape = conversation(ToolUse("1", "put", rows), "assistant")
        facts_of(shape)
        assert most // 2 < len(looked_at) <= most + 100
