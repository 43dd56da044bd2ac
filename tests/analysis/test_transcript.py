"""The transcript at its three verbosities, without control characters."""

from hypothesis import given
from hypothesis import strategies as st

from workbench.analysis.transcript import last_answers, transcript
from workbench.base.printable import LINE_CHARS, one_line, printable
from workbench.conformance.building import agent, result
from workbench.conformance.drawn import conversations
from workbench.session import Media, Message, Text, Thinking, ToolResult, ToolUse

PICTURE = Media("image/png", 3)
ODD = (
    Message("r", "tool", (Text("told by a tool"), ToolResult("c", ())), time=1.0),
    Message("a", "assistant", (PICTURE, Text("see\r\nit\x07\x1b\x7f\x80\u202e\ud800"), Thinking("", "signed"))),
    Message("b", "user", (Text("a boundary"),), kind="boundary"),
    agent("c", "", ToolUse("d", "Say", "as it is"), ToolUse("e", "Count", {"n": 2**70}), ToolUse("f", "Odd", "\ud800")),
    Message("s", "system", (Text(""), Text("rule")), kind="normal"),
    result("e", ("f", "no"), error=True),
)


def test_every_kind_of_block_has_its_voice_and_words() -> None:
    assert [f"{entry.index} {entry.voice}: {entry.text}" for entry in transcript(ODD)] == [
        "0 result: told by a tool",
        "0 result: (empty)",
        f"1 assistant: {PICTURE.placeholder}",
        "1 assistant: see\nit␇␛␡\\u0080\\u202e\\ud800",
        "1 thinking: [reasoning not shown, 6 characters signed]",
        "3 call: Say as it is",
        f'3 call: Count {{"n":{2**70}}}',
        "3 call: Odd \\ud800",
        "4 system: rule",
        "5 error: no",
    ]
    assert list(transcript(ODD, "quiet")) == [entry for entry in transcript(ODD) if entry.voice == "assistant"]


@given(conversations())
def test_quiet_is_part_of_compact_is_part_of_default(talk: tuple[Message, ...]) -> None:
    quiet, compact, default = (
        [(entry.index, entry.voice) for entry in transcript(talk, verbosity)]
        for verbosity in ("quiet", "compact", "default")
    )
    assert set(quiet) <= set(compact) <= set(default)
    assert {index for index, _ in quiet} <= {*last_answers(talk)[-1:]}


@given(st.text())
def test_printable_text_can_be_sent_and_commands_nothing(text: str) -> None:
    shown = printable(text)
    shown.encode()
    assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 for char in shown if char not in "\n\t")
    assert printable(shown) == shown


@given(st.text(), st.integers(10, 80))
def test_one_line_is_one_line_of_at_most_its_length(text: str, chars: int) -> None:
    line = one_line(text, chars)
    assert len(line) <= chars
    assert len(line.splitlines()) <= 1


def test_text_that_one_line_leaves_out_is_noted() -> None:
    assert one_line("whole") == "whole"
    assert one_line("one\ntwo") == "one …"
    assert one_line("x" * 500) == "x" * (LINE_CHARS - 1) + "…"
    assert one_line("x" * 99 + "\nmore") == "x" * 98 + " …"
