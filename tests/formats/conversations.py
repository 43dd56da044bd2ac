"""Generated conversations that any API would take, and a session that holds them, for tests of the writers."""

from __future__ import annotations

from itertools import groupby

from hypothesis import strategies as st

from workbench.formats.format import Format, no_progress
from workbench.session import Block, Epoch, Message, Records, Session, Text, ToolResult, ToolUse

words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30).map(lambda text: f"say {text}")
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | st.text(max_size=8), st.lists, max_leaves=3
)
inputs = st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), json_values, max_size=3)


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """Rounds of a request, batches of calls with all their results, and an answer."""
    messages: list[Message] = []
    calls = 0

    def add(role: str, *blocks: Block) -> None:
        messages.append(Message(f"made-{len(messages)}", role, blocks))  # type: ignore[arg-type]

    for _ in range(draw(st.integers(1, 4))):
        add("user", Text(draw(words)))
        for _ in range(draw(st.integers(0, 3))):
            batch = [
                ToolUse(f"call_{calls + n}", draw(st.sampled_from(["read", "bash"])), draw(inputs))
                for n in range(draw(st.integers(1, 3)))
            ]
            calls += len(batch)
            said = [Text(draw(words))] if draw(st.booleans()) else []
            add("assistant", *said, *batch)
            add("tool", *(ToolResult(call.id, (Text(draw(words)),)) for call in batch))
        add("assistant", Text(draw(words)))
    return messages


def session_of(messages: list[Message], format: str = "made", **fields: object) -> Session:
    everything = range(len(messages))
    return Session(format, None, tuple(messages), everything, (Epoch(1, everything),), Records(b""), **fields)  # type: ignore[arg-type]


def reread(format: Format, data: bytes) -> Session:
    from pathlib import Path

    return format.codec.read(Path("again.json"), data, no_progress)


def shape(messages: object) -> list[tuple[str, str, tuple[Block, ...]]]:
    """What must survive a way through a format: roles, kinds and blocks."""
    return [(message.role, message.kind, message.blocks) for message in messages]  # type: ignore[attr-defined]


def in_one(messages: object) -> list[tuple[str, str, tuple[Block, ...]]]:
    """The same with neighbouring results in one message: many formats have a record for each."""
    runs = groupby(messages, key=lambda m: (m.role, m.kind) if m.role == "tool" else id(m))  # type: ignore[call-overload]
    groups = [list(run) for _, run in runs]
    return [(run[0].role, run[0].kind, tuple(block for m in run for block in m.blocks)) for run in groups]
