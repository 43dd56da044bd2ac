"""API errors that a session records, and what caused each, by the words and status codes of many providers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Cause(StrEnum):
    """Cause of an API error, in words."""

    CONTEXT_TOO_LONG = "context too long"
    IMAGE_TOO_LARGE = "image too large"
    REQUEST_TOO_LARGE = "request too large"
    REASONING_CHANGED = "reasoning changed"
    ORPHAN_RESULT = "orphan tool result"
    LONE_SURROGATE = "lone surrogate"
    RATE_LIMIT = "rate limit"
    OVERLOADED = "overloaded"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ApiError:
    """An API error. `id` is that of its message or record, `time` in seconds since 1970, `line` 1-based, `status`
    the HTTP status and `kind` the provider's or the agent's name of it, where they are recorded."""

    id: str
    text: str
    time: float | None = None
    line: int | None = None
    status: int | None = None
    kind: str = ""

    @property
    def cause(self) -> Cause:
        """Cause by its text, status and kind."""
        return cause_of(self.text, self.status, self.kind)


TOO_LONG = re.compile(
    r"(?:prompt|input|request|context) (?:is|was) too (?:long|large)"  # Anthropic, Bedrock, Claude Code
    r"|input length and `?max_tokens`? exceed"
    r"|exceeds? (?:the |this model's |your )?(?:maximum |available |model's )?(?:context|input token|prompt)"
    r"|(?:input|prompt) token count.{0,40} exceeds|maximum number of tokens allowed"  # Gemini, Copilot
    r"|maximum context (?:length|window)|context[ _](?:length|window)[ _](?:exceeded|overflow)"  # OpenAI
    r"|context_length_exceeded|exceed_context_size|model_context_window_exceeded|request_too_large|prompt_too_long"
    r"|maximum prompt length is|reduce the length of the (?:messages|prompt|input)"  # xAI, Groq
    r"|greater than the context length|too large for model with \d+ maximum|ContextWindowExceeded"  # local, Mistral
    r"|exit_context|(?:too many|ran out of) (?:input )?tokens|out of context|LimitsExceeded",
    re.IGNORECASE,
)
"""Words of a refusal for size, wherever they stand."""

_STATUS = re.compile(r"^\W*(?:[\w -]{0,40}\berror:? ?\(?)?(?P<status>[45]\d\d)\b", re.IGNORECASE)
"""A status code in front of an error's text: `400 messages.27…`, `API Error: 529 …`, `OpenAI API error (413): …`."""

_BY_STATUS = {413: Cause.REQUEST_TOO_LARGE, 429: Cause.RATE_LIMIT, 503: Cause.OVERLOADED, 529: Cause.OVERLOADED}

_BY_WORDS: tuple[tuple[Cause, re.Pattern[str]], ...] = tuple(
    (cause, re.compile(words, re.IGNORECASE))
    for cause, words in (
        (
            Cause.RATE_LIMIT,
            r"rate[ _-]?limit|too many requests|usage[ _]limit|insufficient_quota|exceeded your current quota"
            r"|throttl|resource_exhausted|(?:session|weekly|5-hour) limit (?:reached|exceeded)",
        ),
        (Cause.OVERLOADED, r"overloaded|at capacity|service[ _]unavailable|server is (?:busy|currently unavailable)"),
        (
            Cause.IMAGE_TOO_LARGE,
            r"image.{0,80}(?:exceed|too (?:large|big)|dimension)|many-image requests?|too many images",
        ),
        (
            Cause.REASONING_CHANGED,
            r"thinking`?(?: or `?redacted_thinking`?)? blocks?.{0,60}(?:cannot be modified|must remain|be the same)"
            r"|expected `?(?:redacted_)?thinking`?|invalid `?signature`? in `?thinking"
            r"|of type .reasoning. was provided without|without its required .{0,20}reasoning"
            r"|invalid_encrypted_content|encrypted content.{0,60}(?:not be|not) (?:verified|decrypted)"
            r"|thought[_ ]signature",
        ),
        (
            Cause.ORPHAN_RESULT,
            r"tool_use_id|tool_use`? ids? were found without|corresponding `?tool_(?:use|result)"
            r"|no tool (?:call|output) found for|tool_call_ids did not have response|tool_calls.{0,40}must be followed"
            r"|role .tool. must be a response|function response parts|function call turn comes immediately"
            r"|toolresult blocks|unexpected `?tool_result",
        ),
        (
            Cause.LONE_SURROGATE,
            r"surrogate|unexpected end of hex escape|invalid unicode|invalid (?:\w+ )?escape sequence"
            r"|not valid (?:utf-?8|unicode)|invalid utf-?8",
        ),
        (
            Cause.REQUEST_TOO_LARGE,
            r"request_too_large|(?:request|payload|request body|content) (?:entity )?too large"
            r"|exceeds the maximum (?:allowed )?(?:number of bytes|size|request size)|request size (?:exceeds|limit)"
            r"|\d bytes? exceeds|payload size exceeds",
        ),
        (Cause.CONTEXT_TOO_LONG, TOO_LONG.pattern),
        (
            Cause.CONTEXT_TOO_LONG,
            r"prompt too long|context[ _]?(?:length|window|limit|overflow|size)|maximum allowed input length"
            r"|longer than the model'?s context|range of input length should be|token limit exceeded"
            r"|exceeded model token limit|prompt exceeds max length|autocompact is thrashing",
        ),
    )
)
"""Words of each cause; the first that fits holds. Those of a rate limit come first: "too many tokens, please wait"."""

LOOKED_AT = 4_000
"""Characters of an error's text that are searched for its cause: the rest is the request or a page of HTML."""


def cause_of(text: str, status: int | None = None, kind: str = "") -> Cause:
    """Cause of an API error by its text, its HTTP status and its name; `OTHER` if they do not name one."""
    line = f"{kind} {' '.join(text[:LOOKED_AT].split())}"
    for cause, words in _BY_WORDS:
        if words.search(line):
            return cause
    code = status or (int(found["status"]) if (found := _STATUS.match(text)) else None)
    return _BY_STATUS.get(code or 0, Cause.OTHER)
