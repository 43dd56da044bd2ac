"""Limits in pixels, bytes and images: just below, at and just above each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.session.images import png
from workbench.formats.files import load
from workbench.session import (
    ApiError,
    Media,
    Message,
    Records,
    Session,
    SessionFacts,
    Text,
    ToolResult,
    media_of,
)
from workbench.tokens.request_limits import (
    ExcessImage,
    Limit,
    RequestLimits,
    excess_images,
    images_of,
    limits_of,
    request_bytes,
    session_limits,
)

LIMITS = RequestLimits("test", "here", image_side=80, many_images=3, many_side=20, image_bytes=1_000)


def shown(*sizes: tuple[int, int], more: int = 0) -> list[Message]:
    """A context of results, each with one image."""
    return [
        Message(str(n), "tool", (ToolResult("c", (Text("seen"), media_of("image/png", png(*size, more)))),))
        for n, size in enumerate(sizes)
    ]


@pytest.mark.parametrize(
    ("sizes", "over"),
    [
        ([(80, 80)], []),
        ([(81, 80)], [0]),
        ([(80, 81)], [0]),
        ([(20, 20), (21, 20), (80, 80)], []),
        ([(20, 20), (21, 20), (20, 21), (20, 20)], [1, 2]),
        ([(20, 20), (20, 20), (20, 20), (20, 20)], []),
    ],
)
def test_a9_an_image_may_have_fewer_pixels_among_many(sizes: list[tuple[int, int]], over: list[int]) -> None:
    assert [image.message for image in excess_images(shown(*sizes), LIMITS)] == over


@pytest.mark.parametrize(("size", "over"), [(999, False), (1_000, False), (1_001, True)])
def test_a9_an_image_may_have_so_many_bytes(size: int, over: bool) -> None:
    context = [Message("1", "user", (Text("look"), Media("image/jpeg", size)))]
    expected = (ExcessImage(0, 1, None, Media("image/jpeg", size), Limit.BYTES, 1_000, 1),) if over else ()
    assert excess_images(context, LIMITS) == expected


def test_a_document_is_no_image() -> None:
    assert excess_images([Message("1", "user", (Media("application/pdf", 5_000),))], LIMITS) == ()


def test_of_too_many_images_the_oldest_are_named() -> None:
    limits = replace(LIMITS, images=3)
    assert excess_images(shown(*[(9, 9)] * 3), limits) == ()
    assert [(one.message, one.limit) for one in excess_images(shown(*[(9, 9)] * 5), limits)] == [
        (0, Limit.COUNT),
        (1, Limit.COUNT),
    ]


def test_a9_of_a_request_with_too_many_bytes_the_largest_images_are_named() -> None:
    context = [Message("1", "user", tuple(Media("image/png", size) for size in (500, 900, 700)))]
    whole = request_bytes(context)
    assert whole == 2_100 + 4 * 60
    for most, unseen, named in (
        (whole, 0, []),
        (whole - 1, 0, [1]),
        (whole - 900, 0, [1]),
        (whole - 901, 0, [1, 2]),
        (whole, 1, [1]),
        (0, 0, [0, 1, 2]),
    ):
        found = excess_images(context, replace(LIMITS, request_bytes=most), unseen_bytes=unseen)
        assert [one.block for one in found] == named, (most, unseen)
        assert {one.limit for one in found} <= {Limit.REQUEST}


def test_bytes_that_go_for_another_reason_make_room() -> None:
    context = [Message("1", "user", (Media("image/png", 1_100), Media("image/png", 500)))]
    limits = replace(LIMITS, request_bytes=request_bytes(context) - 1_100)
    assert [(one.block, one.limit) for one in excess_images(context, limits)] == [(0, Limit.BYTES)]


def test_the_size_of_a_request_is_that_of_its_json() -> None:
    texts = ['a\n"b"\\', "é"]
    assert [request_bytes([Message("1", "user", (Text(text),))]) - 120 for text in texts] == [10, 2]
    assert request_bytes([Message("1", "system", (Text("gone"),), kind="boundary")]) == 0


def test_an_image_is_told_with_its_pixels_and_bytes() -> None:
    image = media_of("image/png", png(2162, 322))
    (found,) = excess_images([Message("1", "user", (image,))], replace(LIMITS, image_side=2_000))
    assert str(found) == "image/png, 2 162 × 322 px, 40 bytes"
    assert found.reason == "more than 2 000 px a side in a request with 1 image"


@pytest.mark.parametrize(
    ("error", "changed"),
    [
        ("exceeds the dimension limit for many-image requests (2000px). Run /compact", {"many_side": 2_000}),
        ("dimensions exceed max allowed size for many-image requests: 2000 pixels", {"many_side": 2_000}),
        ("At least one of the image dimensions exceed max allowed size: 8000 pixels", {"image_side": 8_000}),
        ("image exceeds 5 MB maximum: 6283304 bytes > 5242880 bytes", {"image_bytes": 5_242_880}),
        ("image exceeds 5 MB maximum: 6,283,304 bytes > 5,242,880 bytes", {"image_bytes": 5_242_880}),
        ("Prompt is too long", {}),
    ],
)
def test_a_recorded_error_states_its_limit(error: str, changed: dict[str, int]) -> None:
    assert LIMITS.as_stated(error) == replace(LIMITS, **changed)


@pytest.mark.parametrize(
    ("model", "provider", "api", "image_bytes", "images"),
    [
        ("claude-opus-4-5-20251101", "", "Claude API", 10_485_760, 100),
        ("claude-opus-4-8", "anthropic", "Claude API", 10_485_760, 600),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "", "Claude on Amazon Bedrock", 5_242_880, 600),
        ("claude-sonnet-4-5@20250929", "google-vertex-anthropic", "Claude on Google Cloud", 5_242_880, 600),
        ("gpt-5.1-codex", "openai", "OpenAI API", None, 1_500),
        ("gemini-3-pro-preview", "", "Gemini API", None, 3_600),
    ],
)
def test_limits_go_by_model_and_provider(
    model: str, provider: str, api: str, image_bytes: int | None, images: int
) -> None:
    found = limits_of(model, provider)
    assert found is not None
    assert (found.api, found.image_bytes, found.images) == (api, image_bytes, images)
    assert found.source


def test_limits_of_a_session_go_by_its_agent_and_its_errors() -> None:
    errors = (ApiError("1", "many-image requests (1500px)"), ApiError("2", "Overloaded"))
    session = Session("claude-code", None, (), Records(b""), model="claude-opus-4-8")
    limits = session_limits(session)
    assert limits is not None
    assert (limits.many_side, limits.image_bytes) == (2_000, 5_242_880)
    stated = session_limits(replace(session, facts=SessionFacts(api_errors=errors)))
    assert stated == replace(limits, many_side=1_500)
    assert session_limits(replace(session, model="llama-4")) is None


def test_nothing_is_known_of_other_models() -> None:
    assert limits_of("llama-4") is None
    assert limits_of(None) is None


def test_a9_one_image_of_24_is_named(shared: Path) -> None:
    session = load(shared / "cases" / "27-image-2162px.jsonl")
    limits = limits_of(session.model)
    assert limits is not None
    (found,) = excess_images(session.context(), limits)
    assert len(images_of(session.context())) == 24
    assert str(found) == "image/png, 2 162 × 322 px, 13 708 bytes"
