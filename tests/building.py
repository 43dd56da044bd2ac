"""Small sessions for tests: messages in one line each, and contexts that count without a tokenizer."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from workbench.compaction.context import Context
from workbench.compaction.layout import Layout
from workbench.compaction.shape import Shape
from workbench.session import Block, Kind, Media, Message, Text, Thinking, ToolResult, ToolUse
from workbench.tokens.sizes import Basis, Sizes, visible_chars


@dataclass(frozen=True, slots=True)
class QuarterMeter:
    """A token is four characters, so that tests can say what they expect."""

    method: str = "characters / 4"
    basis: Basis = Basis.CALIBRATED

    def tokens(self, message: Message) -> int:
        return visible_chars(message) // 4 + 1

    def text_tokens(self, text: str) -> int:
        return len(text) // 4


METER = QuarterMeter()


def user(id: str, text: str, kind: Kind = "normal") -> Message:
    return Message(id, "user", (Text(text),), kind=kind)


def agent(id: str, text: str = "", *calls: ToolUse, kind: Kind = "normal") -> Message:
    blocks: tuple[Block, ...] = (*((Text(text),) if text else ()), *calls)
    return Message(id, "assistant", blocks, kind=kind)


def call(id: str, name: str = "Bash", **given: Any) -> ToolUse:
    return ToolUse(id, name, given)


def result(id: str, *answers: tuple[str, str], error: bool = False) -> Message:
    return Message(id, "tool", tuple(ToolResult(of, (Text(text),), error) for of, text in answers))


def summary(id: str, text: str) -> Message:
    return Message(id, "user", (Text(text),), kind="summary")


def context_of(messages: Sequence[Message], **wishes: Any) -> Context:
    tokens = array("q", map(METER.tokens, messages))
    sizes = Sizes(tokens, Basis.CALIBRATED, 0, Basis.CALIBRATED, 0, METER)
    return Context(Layout(Shape(tuple(messages)), sizes), **wishes)


TEXTS = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=60)


@st.composite
def conversations(draw: st.DrawFn, max_rounds: int = 6) -> tuple[Message, ...]:
    """Whole conversations: rounds with tool loops, parallel calls, thinking, media, an earlier summary now and then,
    sometimes a current input at the end."""
    out: list[Message] = []
    number = 0

    def next_id() -> str:
        nonlocal number
        number += 1
        return f"m{number}"

    if draw(st.booleans()):
        out.append(Message(next_id(), "system", (Text(draw(TEXTS)),)))
    if draw(st.booleans()):
        out.append(summary(next_id(), draw(TEXTS)))
    for _ in range(draw(st.integers(0, max_rounds))):
        out.append(user(next_id(), draw(TEXTS)))
        for _ in range(draw(st.integers(0, 4))):
            calls = [call(f"c{number}-{n}", command=draw(TEXTS)) for n in range(draw(st.integers(1, 3)))]
            thought = (Thinking(draw(TEXTS), "sig"),) if draw(st.booleans()) else ()
            out.append(Message(next_id(), "assistant", (*thought, *calls)))
            if draw(st.booleans()):
                out.extend(result(next_id(), (one.id, draw(TEXTS))) for one in calls)
            else:
                out.append(result(next_id(), *((one.id, draw(TEXTS)) for one in calls)))
        if draw(st.integers(0, 9)):
            out.append(agent(next_id(), draw(TEXTS)))
        elif draw(st.booleans()):
            out.append(Message(next_id(), "assistant", (Media("image/png", 4_000), Text(draw(TEXTS)))))
    if draw(st.booleans()):
        out.append(user(next_id(), draw(TEXTS)))
    return tuple(out)
