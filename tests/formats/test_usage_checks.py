"""Bills that cannot be those of the text before them are named when a file is opened."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.conformance.building import agent, session_of, user
from workbench.formats import usage_checks
from workbench.formats.files import load
from workbench.formats.usage_checks import MOST, check_usage
from workbench.session import (
    Compaction,
    Epoch,
    Media,
    Message,
    Records,
    Session,
    SessionFacts,
    Text,
    ToolResult,
    ToolUse,
    Usage,
)


def said(id: str, characters: int) -> Message:
    return Message(id, "user", (Text("x" * characters),))


def answer(id: str, bill: int, *, cached: int = 0) -> Message:
    return Message(id, "assistant", (ToolUse(id, "run", {}),), usage=Usage(bill, cache_read=cached))


def result(id: str, characters: int) -> Message:
    return Message(f"r{id}", "tool", (ToolResult(id, (Text("x" * characters),)),))


def of(*messages: Message, epochs: tuple[Epoch, ...] = (), system: str = "") -> Session:
    return Session("atif", None, messages, Records(b""), epochs=epochs, system=system)


def told(count: str, tokens: int, characters: str) -> str:
    return (
        f"{count} report too few tokens for the text before them, the first with {tokens} tokens for {characters}"
        " characters; their usage is ignored"
    )


@pytest.mark.parametrize(
    ("session", "warned"),
    [
        (of(said("u", 1_600), answer("a", 100)), []),
        (of(said("u", 1_601), answer("a", 100)), [told("1 of 1 call", 100, "1 601")]),
        (of(said("u", 1_000), answer("a", 100), system="s" * 601), [told("1 of 1 call", 100, "1 601")]),
        (of(said("u", 1_601), answer("a", 60, cached=41)), []),
        (of(said("u", 1_601), answer("a", 0)), []),  # nothing was billed: nothing is absurd
        (
            of(
                said("u", 9), answer("a", 1), result("a", 1_600), answer("b", 100), result("b", 1_000), answer("c", 120)
            ),
            [told("2 of 3 calls", 100, "1 609")],
        ),
        (  # a later epoch begins anew, and what it keeps was billed in the first
            of(
                *(said("u", 1_600), answer("a", 100), said("v", 99), answer("b", 6)),
                epochs=(Epoch(1, [0, 1]), Epoch(2, [2, 1, 3])),
            ),
            [told("1 of 2 calls", 6, "99")],
        ),
    ],
)
def test_a_bill_below_one_token_for_16_characters_is_absurd(session: Session, warned: list[str]) -> None:
    assert [str(warning) for warning in check_usage(session).warnings] == warned


def test_they_are_named_wherever_a_file_is_opened(tmp_path: Path) -> None:
    usage = {"input_tokens": 100, "output_tokens": 20}
    user = {"type": "user", "uuid": "u", "parentUuid": None, "message": {"role": "user", "content": "x" * 13_321}}
    body = {"id": "m", "role": "assistant", "content": [{"type": "text", "text": "y"}], "usage": usage, "model": "m"}
    lines = [user, {"type": "assistant", "uuid": "a", "parentUuid": "u", "message": body}]
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps({"sessionId": "s", **line}) + "\n" for line in lines))
    assert [str(warning) for warning in load(path).warnings] == ["line 2: " + told("1 of 1 call", 100, "13 321")]
    task = tmp_path / "task"
    task.mkdir()
    history = [{"role": role, "content": "x" * 900, "ts": ts} for role, ts in (("user", 5), ("assistant", 9))]
    (task / "api_conversation_history.json").write_text(json.dumps(history))
    request = {"ts": 4, "type": "say", "say": "api_req_started", "text": json.dumps({"tokensIn": 7})}
    (task / "ui_messages.json").write_text(json.dumps([request]))
    assert [str(warning) for warning in load(task).warnings] == [told("1 of 1 call", 7, "900")]


def grown(*bills: int, between: int = 4, window: int | None = None, ended: bool = False) -> Session:
    """A session of one epoch whose calls have these bills, with results of so many characters between."""
    messages = [said("u", 4)]
    for number, bill in enumerate(bills):
        messages += [answer(f"a{number}", bill), result(f"a{number}", between)]
    end = Compaction() if ended else None
    return of(*messages, epochs=(Epoch(1, range(len(messages)), end, window=window),))


def believed_bills(session: Session) -> list[int]:
    return [one.bill for one in check_usage(session).messages if one.role == "assistant"]


@pytest.mark.parametrize(
    ("session", "bills"),
    [
        (grown(10, 2_000, window=1_000), [10, 2_000]),  # a record of the window less a reserve, a prompt counted twice
        (grown(10, 2_001, window=1_000), [10, 0]),
        (grown(1_000_016), [1_000_016]),  # four characters and a million tokens in no message
        (grown(1_000_017), [0]),
        (grown(1_020_000, between=5_000), [0]),
        (grown(50_000, 250_032), [50_000, 250_032]),  # a step of 200 000 tokens beyond what stands between
        (grown(50_000, 250_060), [50_000, 0]),
        (grown(50_000, 250_060, 250_070), [50_000, 250_060, 250_070]),  # the next call confirms it
        (grown(50_000, 900_000, 60_000), [50_000, 0, 60_000]),
        (grown(50_000, 900_000, ended=True), [50_000, 900_000]),  # the agent compacted there
        (grown(70_000, 279_000), [70_000, 279_000]),  # less than four times the prompt before
        (grown(50_000, 300_000, between=12_600), [50_000, 300_000]),  # as many tokens as what stands between can be
    ],
)
def test_a3_usage_that_no_prompt_can_have_had_is_left_out(session: Session, bills: list[int]) -> None:
    assert believed_bills(session) == bills


def test_a3_what_media_add_is_not_known() -> None:
    """An image by reference has no bytes in the file."""
    photo = Message("m", "user", (Media("application/pdf", 0),))
    messages = (said("u", 4), answer("a", 50_000), photo, answer("b", 300_000))
    assert believed_bills(of(*messages)) == [50_000, 300_000]


def test_a3_the_warning_names_the_first_of_them() -> None:
    assert [str(one) for one in check_usage(grown(10, 2_001, 30, 4_280_000, window=1_000)).warnings] == [
        "a usage of 2 001 tokens was recorded, more than a window of 1 000; ignored, and 1 other like it"
    ]
    assert [str(one) for one in check_usage(grown(1_000_017)).warnings] == [
        "a usage of 1 000 017 tokens was recorded, more than the messages before it; ignored"
    ]


def test_large_prompts_cost_no_more_than_reading_each_message_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The messages before every one of 60 000 calls took minutes."""
    measured: list[str] = []
    measure = usage_checks.all_characters
    monkeypatch.setattr(usage_checks, "all_characters", lambda one: measured.append(one.id) or measure(one))
    session = grown(*[2_000_000] * 40, between=260_000)
    assert believed_bills(session) == [0, *[2_000_000] * 39]
    assert 0 < len(measured) <= 2 * len(session.messages)


def test_a3_a_recorded_size_of_the_whole_is_held_to_the_window_too() -> None:
    for now, kept in ((2_000, 2_000), (2_001, None)):
        session = replace(grown(10, window=1_000), facts=SessionFacts(tokens_now=now))
        assert check_usage(session).facts.tokens_now == kept


@pytest.mark.parametrize(("tokens", "counts"), [(MOST - 1, True), (MOST, False), (10**309, False)])
def test_f8_a_recorded_size_beyond_all_bounds_is_dropped_with_a_warning(tokens: int, counts: bool) -> None:
    """Of a compaction, before and after it, and of a window: none can be put into words, for that takes a float."""
    session = session_of([user("u", "Go."), agent("a", "Yes.")])
    ends = (Compaction(tokens_before=tokens), Compaction(tokens_after=tokens), None)
    for number, end in enumerate(ends):
        epoch = replace(session.epochs[0], ended_by=end, window=None if number < 2 else tokens)
        found = check_usage(replace(session, epochs=(epoch,)))
        assert (found.epochs[0] == epoch) is counts
        assert len(found.warnings) == (not counts)


@pytest.mark.parametrize(("tokens", "counts"), [(MOST - 1, True), (MOST, False), (10**309, False)])
def test_f8_usage_beyond_all_bounds_is_dropped_with_a_warning(tokens: int, counts: bool) -> None:
    """Its cost could not be reckoned: it is larger than any number with a point."""
    answer = replace(agent("a", "Yes."), usage=Usage(10, tokens))
    session = check_usage(session_of([user("u", "Go."), answer]))
    assert (session.messages[1].usage is None) is not counts
    told = ["usage of 1 call is impossibly large; ignored"]
    assert [str(warning) for warning in session.warnings] == ([] if counts else told)
