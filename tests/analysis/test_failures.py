"""Failures of a session: named first, with cause and remedy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.session.images import png
from workbench.analysis.failures import SessionFailure, failures_of
from workbench.formats.files import load
from workbench.session import (
    ApiError,
    Cause,
    Compaction,
    Epoch,
    Media,
    Message,
    Records,
    Session,
    SessionFacts,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    media_of,
)
from workbench.tokens.request_limits import session_limits

IMAGE = ApiError("e", "An image exceeds the dimension limit for many-image requests (2000px).")
RATE = ApiError("e", "429 rate_limit_error: slow down")


def said(id: str, text: str = "x", role: str = "assistant", **more: Any) -> Message:
    blocks = (Text(text),) if text else ()
    return Message(id, role, blocks, **more)  # type: ignore[arg-type]


def failed(*errors: ApiError, messages: Sequence[Message] = (), **more: Any) -> Session:
    messages = messages or (said("u", "go", "user"), said("a"), said("e", "", "assistant"))
    facts = SessionFacts(api_errors=errors)
    about = {"model": "claude-opus-4-8", "path": Path("s.jsonl"), **more}
    return replace(Session("claude-code", None, tuple(messages), Records(b""), facts=facts), **about)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Prompt is too long", "context too long. `cwb rescue s.jsonl` compacts it without a model."),
        ("request_too_large", "request too large. `cwb rescue s.jsonl` compacts it without a model."),
        (
            "thinking blocks cannot be modified",
            "reasoning changed. `cwb repair s.jsonl` removes the reasoning that the API rejects.",
        ),
        (
            "unexpected tool_use_id",
            "orphan tool result. The context no longer has this fault: continue in the agent.",
        ),
        ("no low surrogate", "lone surrogate. The context no longer has this fault: continue in the agent."),
        ("429", "rate limit. Wait until the limit is lifted; the session is intact."),
        ("Overloaded", "overloaded. Try again later; the session is intact."),
        ("invalid x-api-key", "“invalid x-api-key”."),
        (
            "image exceeds the maximum",
            "image too large. The context no longer has this fault: continue in the agent.",
        ),
    ],
)
def test_a9_every_cause_has_its_remedy(text: str, sentence: str) -> None:
    assert failures_of(failed(ApiError("e", text))).headline == f"API rejected the last request: {sentence}"


def test_remedies_name_the_part_and_read_only_formats() -> None:
    session = failed(ApiError("e", "thinking blocks cannot be modified"))
    part = replace(session, facts=replace(session.facts, part="two words"))
    assert "`cwb repair s.jsonl --part 'two words'`" in failures_of(part).headline
    assert failures_of(replace(session, format="amp")).headline.endswith(
        "reasoning changed. This format is read-only here: export it to another agent's format."
    )


def test_a9_the_image_to_blame_is_named_with_pixels_and_bytes() -> None:
    small, large = media_of("image/png", png(900, 700)), media_of("image/png", png(2162, 322))
    results = [Message(f"r{n}", "tool", (ToolResult("c", (small,)),)) for n in range(20)]
    wrong = Message("r", "tool", (ToolResult("c", (large,)),))
    messages = [said("u", "go", "user"), said("a"), *results, wrong, said("e", "", "assistant")]
    found = failures_of(failed(IMAGE, messages=messages))
    words = "Message 23: image/png, 2 162 × 322 px, 40 bytes, more than 2 000 px a side in a request with 21 images"
    assert found.failures[0].images == (words,)
    assert found.headline == (
        f"API rejected the last request: image too large. {words}. "
        "`cwb repair s.jsonl` replaces only this image by a text."
    )
    foreseen = failures_of(failed(messages=messages))
    assert foreseen.headline.startswith(f"The next request will be rejected: image too large. {words}. ")
    fewer = [*messages[:4], wrong]
    assert failures_of(failed(messages=fewer)).headline == ""


def test_a9_the_size_of_a_request_is_a_limit_too() -> None:
    limits = session_limits(failed())
    assert limits is not None
    assert limits.request_bytes == 33_554_432

    def session(size: int) -> Session:
        return failed(messages=[said("u", "x" * (size - 120), "user")])

    assert failures_of(session(33_554_432)).failures == ()
    assert failures_of(session(33_554_433)).headline == (
        "The next request will be rejected: request too large (33 554 433 of 33 554 432 bytes, "
        "Claude API, as Claude Code asks it). `cwb rescue s.jsonl` compacts it without a model."
    )
    images = [Message("u", "user", (Media("image/png", 5_000_000),) * 7)]
    assert [(one.cause, len(one.images)) for one in failures_of(failed(messages=images)).failures] == [
        (Cause.REQUEST_TOO_LARGE, 1)
    ]


CURED = "The context no longer has this fault: continue in the agent."


def test_an_error_whose_cause_was_repaired_says_so() -> None:
    fits = Message("r", "user", (media_of("image/png", png(900, 700)),))
    unknown = Message("r", "user", (Media("image/png", 100),))
    for image, is_cured in ((fits, True), (unknown, False)):
        (found,) = failures_of(failed(IMAGE, messages=[said("u", "go", "user"), image, said("e", "")])).failures
        assert (found.remedy == CURED) is is_cured, image
    orphan, half = ApiError("e", "unexpected tool_use_id"), ApiError("e", "no low surrogate in string")
    asked = Message("c", "assistant", (ToolUse("1", "ls", {}), ToolUse("2", "ls", {})))
    one, two = (Message(f"r{id}", "tool", (ToolResult(id, (Text("x"),)),)) for id in "12")
    between = said("s", "so far", "user", kind="summary")
    for messages, is_cured in (
        ([asked, one, two], True),
        ([asked, one, said("v", "go", "user")], False),
        ([asked, between, one, two], False),
        ([one], False),
        ([asked, one, one, two], False),
    ):
        (found,) = failures_of(failed(orphan, messages=[said("u", "go", "user"), *messages, said("e", "")])).failures
        assert (found.remedy == CURED) is is_cured, messages
    changed = ApiError("e", "`thinking` blocks in the latest assistant message cannot be modified.")
    thought = Message("t", "assistant", (Thinking("so", "sig"), Text("x")))
    for messages, is_cured in (([thought], False), ([thought, said("a")], True), ([said("a"), thought], False)):
        (found,) = failures_of(failed(changed, messages=[said("u", "go", "user"), *messages, said("e", "")])).failures
        assert (found.remedy == CURED) is is_cured, messages
    for text, is_cured in (("\ud83d", False), ("\U0001f600", True)):
        (found,) = failures_of(failed(half, messages=[said("u", text, "user"), said("e", "")])).failures
        assert (found.remedy == CURED) is is_cured, text


def test_a_failure_is_over_where_a_request_succeeded_after_it() -> None:
    messages = [said("u", "go", "user"), said("e", ""), said("a")]
    found = failures_of(failed(RATE, messages=messages))
    assert found.headline == ""
    assert [str(one) for one in found.others] == ["API rejected 1 request: rate limit; the session went on."]


@pytest.mark.parametrize(("text", "is_open"), [("Prompt is too long", False), ("429", True)])
def test_a_compaction_ends_a_failure_for_size(text: str, is_open: bool) -> None:
    messages = [said("u", "go", "user"), said("e", ""), said("s", "sum", "user", kind="summary")]
    epochs = (Epoch(1, (0, 1), Compaction("auto", summary="s")), Epoch(2, (2,)))
    found = failures_of(failed(ApiError("e", text), messages=messages, epochs=epochs))
    assert [one.is_open for one in found.failures] == [is_open]


def test_errors_in_a_row_count_from_the_last_success_on() -> None:
    errors = [replace(RATE, id=id) for id in ("e1", "e2", "e3")]
    messages = [
        said("u", "go", "user"),
        said("e1", ""),
        said("a"),
        said("e2", ""),
        said("v", "go", "user"),
        said("e3", ""),
    ]
    (found,) = failures_of(failed(*errors, messages=messages)).failures
    assert (found.count, found.in_a_row, found.message) == (3, 2, "e3")
    assert str(found).startswith("API rejected the last 2 requests: rate limit.")


def test_an_error_that_is_no_message_lies_by_its_line_or_time() -> None:
    messages = [said("u", "go", "user", time=10.0, source=(0,)), said("a", time=20.0, source=(1,))]
    for error, is_open in (
        (replace(RATE, time=15.0), False),
        (replace(RATE, time=20.0), True),
        (replace(RATE, time=25.0), True),
        (replace(RATE, time=None), True),
    ):
        assert [one.is_open for one in failures_of(failed(error, messages=messages)).failures] == [is_open], error
    records = Records(b"\n" * 9)
    for line in (2, 4):
        records.add(line, line + 1, line)
    for line, is_open in ((3, False), (5, True)):
        session = failed(replace(RATE, line=line, time=15.0), messages=messages, records=records)
        assert [one.is_open for one in failures_of(session).failures] == [is_open], line


def test_an_error_of_another_branch_stops_nothing() -> None:
    messages = [said("u", "go", "user"), said("a"), said("e", "")]
    assert failures_of(failed(RATE, messages=messages, branch=(0, 1))).headline == ""


def test_secrets_in_an_error_are_masked() -> None:
    key = "sk-ant-api03-" + "Zx9" * 30
    (found,) = failures_of(failed(ApiError("e", f"invalid key {key}"))).failures
    assert key not in found.text
    assert key not in str(found)


def test_many_images_are_counted() -> None:
    failure = SessionFailure(
        Cause.IMAGE_TOO_LARGE, 1, 1, True, "", "", images=tuple(f"Message {n}: big" for n in range(5))
    )
    assert str(failure) == (
        "API rejected the last request: image too large. Message 0: big. Message 1: big. Message 2: big. 2 more images."
    )


def test_a9_of_the_cases(shared: Path) -> None:
    changed = failures_of(load(shared / "cases" / "24-pi-thinking-400.jsonl"))
    assert changed.headline.startswith("API rejected the last 5 requests: reasoning changed. `cwb repair ")
    image = failures_of(load(shared / "cases" / "27-image-2162px.jsonl"))
    assert image.headline.startswith(
        "API rejected the last 2 requests: image too large. Message 21: image/png, 2 162 × 322 px, 13 708 bytes, more "
        "than 2 000 px a side in a request with 24 images. `cwb repair "
    )
