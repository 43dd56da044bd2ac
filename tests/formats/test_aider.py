"""aider histories: several sessions, console lines that are never sent, marks that keep kinds and neighbours apart."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.paths import SAMPLES
from workbench.base.errors import BadInput
from workbench.conformance.building import session_of
from workbench.conformance.formats import assert_exact, compacted, read
from workbench.formats import openai_chat
from workbench.formats.aider import FORMAT
from workbench.formats.aider.read import read_part, sessions_in
from workbench.formats.format import no_progress
from workbench.formats.look import Look
from workbench.formats.loss import Loss, LossKind
from workbench.formats.read_back import shape
from workbench.session import Message, Text

SAMPLE = (SAMPLES / "aider-two-days.md").read_bytes()


def test_console_lines_are_not_sent() -> None:
    parts = sessions_in(Path("x"), SAMPLE)
    assert [(part.id, part.messages) for part in parts] == [("1", 4), ("2", 6)]
    assert parts[0].title.startswith("2026-02-11 07:12:09  Convert the recipes")
    session = read(FORMAT, SAMPLE)
    assert str(session.warnings[0]) == (
        "holds 2 sessions, shown as aider restores them; aider may summarize the part above its "
        "history limit; the file does not record that"
    )
    second = read_part(Path("x"), SAMPLE, "2", no_progress)
    assert shape(second.context()) == shape(session.context())  # it says that it restored the first
    assert [(m.role, m.text) for m in session.context()] == [
        ("user", "Convert the recipes from cups to grams. Sugar is 200 g a cup, flour 120 g.\nNever round below 5 g."),
        ("assistant", "I'll add `to_grams` to `galley/units.py` with both figures, rounding to 5 g."),
        ("user", "Add honey, 340 g a cup."),
        ("assistant", "Honey stands in the table now, 340 g a cup. All tests pass."),
        ("user", "Good. Then release it."),
        ("assistant", "The version is 0.4.0 now and the change log names honey."),
    ]
    assert any("FAILED" in m.text for m in session.messages)
    for part in parts:
        one = read_part(Path("x"), SAMPLE, part.id, no_progress)
        assert FORMAT.codec.write(one, one.context()).data in SAMPLE
        for outcome in compacted(one):
            assert_exact(FORMAT, one, outcome)
        assert_exact(FORMAT, one, one.context()[1:])
    with pytest.raises(BadInput, match="1 to 2"):
        read_part(Path("x"), SAMPLE, "3", no_progress)


def test_a_session_that_restored_nothing_is_sent_alone() -> None:
    fresh = SAMPLE.replace(b"> Restored previous conversation history.\n", b"")
    assert next(m.text for m in read_part(Path("x"), fresh, "2", no_progress).context()) == "Add honey, 340 g a cup."
    assert len(read(FORMAT, fresh).context()) == 6  # aider, started again, restores both


def test_a_line_of_an_answer_that_begins_like_a_heading_is_not_sent() -> None:
    data = b"# aider chat started at x\n\n#### go\n\none\n# two\nthree\n\n# four\n"
    session = read(FORMAT, data)
    assert [m.text for m in session.context()] == ["go", "one\nthree"]
    assert FORMAT.codec.write(session, session.context()).data == data


def test_a_history_may_begin_without_a_heading() -> None:
    data = b"> half a console line\n\n#### hello\n\nyes\n" + SAMPLE
    parts = sessions_in(Path("x"), data)
    assert [part.messages for part in parts] == [3, 4, 6]
    assert parts[0].title == "began before this file  hello"


@pytest.mark.parametrize("kind", ["normal", "summary", "meta"])
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_every_kind_is_read_again(role: Any, kind: Any) -> None:
    session = read_part(Path("x"), SAMPLE, "2", no_progress)
    new_message = Message("n", role, (Text("old\n\nthings\n#### in it" if role == "user" else "old\n\nthings"),), kind)
    user, answer = session.context()[:2]
    for messages in (
        (new_message, user, answer),
        (new_message, answer, user),
        (user, answer, new_message),
        (user, new_message, answer),
    ):
        assert_exact(FORMAT, session, messages)


def test_a_line_that_looks_like_a_mark_is_indented() -> None:
    messages = [Message("u", "user", (Text("x"),)), Message("a", "assistant", (Text("# head\n> quoted\nplain"),))]
    written = FORMAT.codec.write(session_of(messages), messages)
    assert [m.text for m in read(FORMAT, written.data).context()] == ["x", " # head\n > quoted\nplain"]
    assert written.losses == (Loss(LossKind.MARKS_INDENTED),)


@pytest.mark.parametrize(
    ("data", "faults"),
    [
        (b"#### x", ["No line says when the chat started."]),
        (b"# aider chat started at x\n> y", ["There is no message."]),
    ],
)
def test_the_validator_finds(data: bytes, faults: list[str]) -> None:
    assert FORMAT.codec.validate(data) == faults


@given(st.lists(st.sampled_from([b"#### x", b"> y", b"z", b"", b"# aider chat started at 2026", b"\xff# ", b"####"])))
def test_any_lines_are_read_or_refused(lines: list[bytes]) -> None:
    raw = b"\n".join(lines)
    FORMAT.recognise(Look.of(raw))
    FORMAT.codec.validate(raw)
    try:
        session = read(FORMAT, raw)
    except BadInput:
        return
    assert FORMAT.codec.write(session, session.context()).data in raw
    if b"\xff" not in raw:
        again = read(FORMAT, FORMAT.codec.write(session, session.context()[1:] or session.context()).data)
        assert shape(again.context()) == shape(session.context()[1:] or session.context())
    openai_chat.FORMAT.codec.write(session, session.messages)


ENDS = ["\r", "\r\n", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029"]
"""Where aider's loader parts lines besides "\\n": universal newlines, then `splitlines`."""


@pytest.mark.parametrize("end", ENDS, ids=ascii)
def test_no_line_end_of_aider_changes_the_speaker(end: str) -> None:
    messages = [
        Message("u", "user", (Text(f"10%{end}# 20%{end}{end}done{end}"),)),
        Message("a", "assistant", (Text(f"one{end}# two{end}#### three{end}> four"),)),
        Message("v", "user", (Text("on"),)),
    ]
    written = FORMAT.codec.write(session_of(messages), messages)
    lines = written.data.decode().splitlines()
    assert [line for line in lines if line.startswith("# ")] == lines[:1]
    assert [line.removesuffix("  ") for line in lines if line.startswith("#### ")] == [
        "#### 10%",
        "#### # 20%",
        "#### ",
        "#### done",
        "#### ",
        "#### on",
    ]
    end = "\n" if "\r" in end else end
    assert [m.text for m in read(FORMAT, written.data).context()] == [
        f"10%{end}# 20%{end}{end}done{end}",
        f"one{end} # two{end} #### three{end} > four",
        "on",
    ]


@pytest.mark.parametrize("end", ENDS, ids=ascii)
def test_a_history_is_split_into_lines_as_by_aider(end: str) -> None:
    data = f"# aider chat started at x\n\n#### go\n\none{end}#### and on\n".encode()
    session = read(FORMAT, data)
    assert [(m.role, m.text.strip()) for m in session.context()] == [
        ("user", "go"),
        ("assistant", "one"),
        ("user", "and on"),
    ]
    assert FORMAT.codec.write(session, session.context()).data == data
