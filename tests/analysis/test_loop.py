"""Compaction loop: just below, at and above the number of compactions that makes one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.facts.talk import agent, call, ran, result, user
from workbench.analysis.failures import LEAST, Loop, loop_of
from workbench.formats.files import load
from workbench.session import Compaction, Epoch, Message, Records, Session, Usage, Way


def session_of(*stretches: tuple[Sequence[Message], Compaction | None]) -> Session:
    """Messages of each epoch, with what ended it. Nothing of an epoch stays in the next."""
    messages: list[Message] = []
    epochs = []
    for number, (own, ended) in enumerate(stretches, 1):
        epochs.append(Epoch(number, range(len(messages), len(messages) + len(own)), ended))
        messages += own
    return Session("claude-code", None, tuple(messages), Records(b""), epochs=tuple(epochs))


def compaction(before: int | None = None, after: int | None = None, trigger: str = "auto") -> Compaction:
    return Compaction(trigger, before, "s", tokens_after=after)


def looping(times: int, before: int = 160_000, after: int = 154_000, last: Sequence[Message] = ()) -> Session:
    """A request and two calls, compacted; then the second call again and again, compacted each time."""
    first = [user("fix it"), *ran("ls", "a"), *ran("cat a", "b")]
    again = [(list(ran("cat a", "b")), compaction(before, after)) for _ in range(times - 1)]
    return session_of((first, compaction(before, after)), *again, ([*ran("cat a", "b"), *last], None))


@pytest.mark.parametrize(("times", "is_loop"), [(LEAST - 1, False), (LEAST, True), (LEAST + 1, True)])
def test_a_loop_needs_enough_compactions_without_a_new_step(times: int, is_loop: bool) -> None:
    found = loop_of(looping(times))
    assert found == (Loop(times, 2, 0, 154_000, 160_000) if is_loop else None)


@pytest.mark.parametrize(
    ("last", "is_loop"),
    [
        ([user("fix it")], True),
        ([user("fix  it")], True),
        ([user("Stop.", "meta")], True),
        ([user("stop")], False),
        (ran("ls", "other"), True),
        (ran("ls -l", "a"), False),
        ([agent("", call("Read", {"command": "ls"}))], False),
        ([agent("", call("Bash", '{"command": "ls"}'))], False),
        ([agent("done")], False),
        ([agent("I read a again.", call("Bash", {"command": "ls"}))], True),
    ],
)
def test_a_step_is_a_request_or_a_call_that_was_not_there_before(last: Sequence[Message], is_loop: bool) -> None:
    assert (loop_of(looping(LEAST, last=last)) is not None) is is_loop


@pytest.mark.parametrize(
    ("after", "before", "words"),
    [
        (154_000, 153_999, "; the minimum context of 154k is above the trigger."),
        (154_000, 154_000, "; the minimum context of 154k is at the trigger."),
        (154_000, 154_001, "; each time the context grows back from 154k to 154k or more."),
        (20_000, 154_001, "; each time the context grows back from 20.0k to 154k or more."),
    ],
)
def test_the_minimum_context_is_held_against_the_trigger(after: int, before: int, words: str) -> None:
    assert str(loop_of(looping(9, before, after))) == f"Compaction loop: 9 compactions, no new step since call 2{words}"


def test_certain_compactions_are_a_loop_even_after_an_answer() -> None:
    assert loop_of(looping(9, 150_000, 154_000, last=[agent("I go on.")])) is not None


def test_sizes_are_those_of_calls_where_the_agent_records_none() -> None:
    def billed(tokens: int) -> list[Message]:
        asked, answered = ran("cat a", "b")
        return [replace(asked, usage=Usage(tokens)), answered]

    first = ([user("fix it"), *billed(90_000)], compaction())
    again = [(billed(tokens), compaction()) for tokens in (88_000, 89_000)]
    assert loop_of(session_of(first, *again, (billed(87_000), None))) == Loop(3, 1, 0, 87_000, 88_000)
    unbilled = session_of(*[(list(ran("cat a", "b")), compaction())] * 3, (list(ran("cat a", "b")), None))
    assert str(loop_of(unbilled)) == "Compaction loop: 3 compactions, no new step since call 1."


def test_compactions_at_the_users_command_do_not_count() -> None:
    session = looping(LEAST)
    manual = replace(session.epochs[1], ended_by=compaction(trigger="manual"))
    assert loop_of(replace(session, epochs=(session.epochs[0], manual, *session.epochs[2:]))) is None


def test_a12_compactions_that_remove_nothing_are_a_loop() -> None:
    asked, seen = ran("cat a", "b")
    messages = (user("fix it"), asked, seen)
    ended = Compaction("request", way="empty")

    def session(times: int) -> Session:
        epochs = [Epoch(number, range(3), ended) for number in range(1, times + 1)]
        return Session("openhands", None, messages, Records(b""), epochs=(*epochs, Epoch(times + 1, range(3))))

    assert loop_of(session(2)) is None
    assert str(loop_of(session(12))) == (
        "Compaction loop: 12 compactions, no new step since call 1; they removed nothing."
    )


def test_of_several_compactions_some_may_remove_nothing() -> None:
    messages = (user("fix it"), *ran("cat a", "b"), result(call("Bash", {}), "c"))
    stretches: list[tuple[range, Way]] = [(range(4), "empty"), (range(4), "removal"), (range(3), "empty")]
    epochs = [Epoch(n, each, Compaction("request", way=way)) for n, (each, way) in enumerate(stretches, 1)]
    session = Session("openhands", None, messages, Records(b""), epochs=(*epochs, Epoch(4, range(3))))
    assert str(loop_of(session)) == (
        "Compaction loop: 3 compactions, no new step since call 1; 2 of them removed nothing."
    )


def test_a12_of_the_case(shared: Path) -> None:
    found = loop_of(load(shared / "cases" / "37-openhands-empty-condensations.json"))
    assert found == Loop(12, 4, 12, None, None)
