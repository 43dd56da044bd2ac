"""Small made-up contexts for the tests of this room."""

from collections.abc import Iterable, Sequence

from hypothesis import strategies as st

from workbench.session import Message, Text, Thinking, ToolResult, ToolUse, Usage
from workbench.tokens import Count, Counter

MODELS = ("claude-opus-4-6", "claude-opus-4-6", "claude-opus-4-6", "claude-opus-5", "gpt-5", None)


class Letters:
    """An engine by which every character is a token: expected figures can be worked out by hand."""

    name = "letters"
    quick = False

    def count(self, text: str) -> Count:
        return Count(len(text))

    def counts(self, texts: Sequence[str]) -> Iterable[Count]:
        return map(self.count, texts)


def counted(messages: list[Message]) -> Counter:
    counter = Counter(engine=Letters)
    assert counter.count_all(messages, lambda done, total: None, lambda: False)
    return counter


def user(id: str, text: str) -> Message:
    return Message(id, "user", (Text(text),))


def answer(
    id: str,
    text: str,
    context: int = 0,
    output: int | None = None,
    model: str | None = "claude-opus-4-6",
    calls: int = 0,
) -> Message:
    usage = Usage(context, output or 0, output_final=output is not None) if context else None
    uses = tuple(ToolUse(f"{id}-{n}", "Run", {"n": n}) for n in range(calls))
    return Message(id, "assistant", (Text(text), *uses), usage=usage, model=model)


def result(id: str, call: str, text: str) -> Message:
    return Message(id, "tool", (ToolResult(call, (Text(text),)),))


@st.composite
def contexts(draw: st.DrawFn) -> list[Message]:
    """Contexts with any bills whatever: growing, shrinking, missing, by several models, with or without outputs."""
    messages: list[Message] = []
    for number in range(draw(st.integers(0, 14))):
        text = "x" * draw(st.integers(0, 3_000))
        match draw(st.sampled_from(["user", "answer", "answer", "result", "thinking", "boundary"])):
            case "user":
                messages.append(user(str(number), text))
            case "result":
                messages.append(result(str(number), "some", text))
            case "boundary":
                messages.append(Message(str(number), "user", (Text(text),), "boundary"))
            case "thinking":
                messages.append(Message(str(number), "assistant", (Thinking(text, "s" * 900),)))
            case _:
                messages.append(
                    answer(
                        str(number),
                        text,
                        draw(st.integers(0, 60_000)),
                        draw(st.none() | st.integers(0, 5_000)),
                        draw(st.sampled_from(MODELS)),
                        draw(st.integers(0, 2)),
                    )
                )
    return messages
