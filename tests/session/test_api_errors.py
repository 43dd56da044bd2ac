"""Causes of API errors, by the words of providers and agents."""

from __future__ import annotations

import pytest

from workbench.session import ApiError, Cause, SessionFacts
from workbench.session.api_errors import LOOKED_AT, cause_of

CORRESPONDING = "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."


@pytest.mark.parametrize(
    ("cause", "text"),
    [
        (Cause.CONTEXT_TOO_LONG, "Prompt is too long"),
        (Cause.CONTEXT_TOO_LONG, "prompt is too long: 213462 tokens > 200000 maximum"),
        (Cause.CONTEXT_TOO_LONG, "Your input exceeds the context window of this model."),
        (Cause.CONTEXT_TOO_LONG, '{"error": {"code": "context_length_exceeded"}}'),
        (Cause.CONTEXT_TOO_LONG, "The input token count (1196265) exceeds the maximum number of tokens allowed"),
        (Cause.CONTEXT_TOO_LONG, "ran out of room in the model's context window"),
        (Cause.CONTEXT_TOO_LONG, "Autocompact is thrashing: the context refilled to the limit within 3 turns"),
        (Cause.IMAGE_TOO_LARGE, "An image exceeds the dimension limit for many-image requests (2000px)."),
        (Cause.IMAGE_TOO_LARGE, "400 image.source.base64: image exceeds 5 MB maximum: 6 bytes > 5 bytes"),
        (Cause.IMAGE_TOO_LARGE, "At least one of the image dimensions exceed max allowed size: 8000 pixels"),
        (Cause.REQUEST_TOO_LARGE, '413 {"type":"error","error":{"type":"request_too_large"}}'),
        (Cause.REQUEST_TOO_LARGE, "Request too large (max 32MB). Try with a smaller file."),
        (Cause.REQUEST_TOO_LARGE, 'github-copilot API error (413): {"message":"failed to parse request"}'),
        (Cause.REASONING_CHANGED, "400 messages.27.content.19: `thinking` or `redacted_thinking` blocks in the latest "
                                  "assistant message cannot be modified."),
        (Cause.REASONING_CHANGED, "messages.1.content.0: Invalid `signature` in `thinking` block"),
        (Cause.REASONING_CHANGED, "Item 'rs_1' of type 'reasoning' was provided without its required following item."),
        (Cause.REASONING_CHANGED, "The encrypted content for item rs_1 could not be verified."),
        (Cause.ORPHAN_RESULT, f"400 messages.5: unexpected `tool_use_id` in `tool_result` blocks: t. {CORRESPONDING}"),
        (Cause.ORPHAN_RESULT, "400 No tool call found for function call output with call_id call_3."),
        (Cause.ORPHAN_RESULT, "messages.236: `tool_use` ids were found without `tool_result` blocks immediately after"),
        (Cause.ORPHAN_RESULT, "An assistant message with 'tool_calls' must be followed by tool messages"),
        (Cause.LONE_SURROGATE, "The request body is not valid JSON: no low surrogate in string: line 1 column 9"),
        (Cause.LONE_SURROGATE, "unexpected end of hex escape at line 1 column 120"),
        (Cause.RATE_LIMIT, "API Error: 429 rate_limit_error: too many tokens, please wait before trying again"),
        (Cause.RATE_LIMIT, "ThrottlingException: Too many tokens, please wait before trying again."),
        (Cause.RATE_LIMIT, "429"),
        (Cause.OVERLOADED, '529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'),
        (Cause.OVERLOADED, "API Error: 503"),
        (Cause.OTHER, "API Error: 500 Internal server error"),
        (Cause.OTHER, "invalid x-api-key"),
        (Cause.OTHER, "an image was shown, and the request failed"),
        (Cause.OTHER, "read 429 lines, then the socket was closed"),
        (Cause.OTHER, ""),
    ],
)  # fmt: skip
def test_a9_an_api_error_has_a_cause(cause: Cause, text: str) -> None:
    assert cause_of(text) is cause


def test_status_and_name_tell_where_the_text_does_not() -> None:
    assert cause_of("no", 413) is Cause.REQUEST_TOO_LARGE
    assert cause_of("no", 429) is Cause.RATE_LIMIT
    assert cause_of("no", 529) is Cause.OVERLOADED
    assert cause_of("no", 400) is Cause.OTHER
    assert cause_of("too long", kind="ContextOverflowError") is Cause.CONTEXT_TOO_LONG


def test_only_the_beginning_of_a_long_error_is_looked_at() -> None:
    words = "prompt is too long"
    assert cause_of("x" * (LOOKED_AT - len(words) - 1) + " " + words) is Cause.CONTEXT_TOO_LONG
    assert cause_of("x" * (LOOKED_AT - len(words)) + " " + words) is Cause.OTHER


def test_errors_of_length_are_those_that_say_so() -> None:
    long, other = ApiError("1", "Prompt is too long"), ApiError("2", "Overloaded")
    assert SessionFacts(api_errors=(long, other)).overflow_errors == (long,)
