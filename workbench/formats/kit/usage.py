"""Recorded usage of a call in the forms of the APIs, and the recorded size of the context window."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from workbench.formats.kit.values import count_of, dict_of, dollars_of
from workbench.session import Message, Usage
from workbench.session.session import LoadWarning


def replayed_before(messages: Iterable[Message], since: float | None) -> tuple[Message, ...]:
    """Return the messages of a fork that began at `since`, with earlier usage marked as replayed; unchanged for
    None."""

    def marked(message: Message) -> Message:
        early = message.usage and since is not None and message.time is not None and message.time < since
        return replace(message, usage=replace(message.usage, replayed=True)) if message.usage and early else message

    return tuple(map(marked, messages))


def usage_of_prompt(
    prompt: int, output: int, read: int = 0, written: int = 0, cost: float | None = None
) -> Usage | None:
    """Return the usage for an API that counts cached tokens as part of the prompt; None for an empty prompt. The cache
    cannot supply more tokens than the prompt has."""
    if not prompt:
        return None
    return Usage(max(prompt - read - written, 0), output, min(read, prompt), written, cost=cost)


def openai_usage(usage: Any, cost: Any = None) -> Usage | None:
    """Return the usage in OpenAI's form, None for an empty prompt: Chat counts prompt and completion, Responses input
    and output."""
    counts = dict_of(usage)
    details = dict_of(counts.get("prompt_tokens_details")) or dict_of(counts.get("input_tokens_details"))
    prompt = count_of(counts.get("prompt_tokens")) or count_of(counts.get("input_tokens"))
    output = count_of(counts.get("completion_tokens")) or count_of(counts.get("output_tokens"))
    return usage_of_prompt(prompt, output, count_of(details.get("cached_tokens")), cost=dollars_of(cost))


def anthropic_usage(usage: Any) -> Usage | None:
    """Return the usage in the Messages API's form, which counts cached tokens separately; None without prompt
    tokens."""
    counts = anthropic_counts(usage)
    return Usage(*counts, cache_life=anthropic_cache_life(usage)) if counts else None


def anthropic_cache_life(usage: Any) -> int:
    """Return how long the Messages API caches what this call wrote if nothing reads it, in seconds; 0 without a
    write."""
    written = dict_of(dict_of(usage).get("cache_creation"))
    lives = ((3_600, "ephemeral_1h_input_tokens"), (300, "ephemeral_5m_input_tokens"))
    return next((life for life, key in lives if count_of(written.get(key))), 0)


def anthropic_counts(usage: Any) -> tuple[int, int, int, int] | None:
    """Return the counts of new prompt tokens, output, cache reads and cache writes; None without prompt tokens. Records
    may repeat them with each part of a response."""
    count = dict_of(usage).get
    fresh, output, read, written = [n if type(n) is int and n > 0 else 0 for n in map(count, _COUNTED)]
    return (fresh, output, read, written) if fresh or read or written else None


_COUNTED = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


@dataclass(slots=True)
class RecordedWindow:
    """Most recently recorded window in tokens; None before the first."""

    tokens: int | None = None
    has_warned: bool = False

    def read(self, value: Any, line: int | None, warnings: list[LoadWarning]) -> None:
        """Read a recorded value; None changes nothing. An impossible number is ignored, with one warning."""
        if type(value) is int and value > 0:
            self.tokens = value
        elif value is not None and not self.has_warned:
            self.has_warned = True
            shown = repr(value)[:40]
            text = f"an impossible context window of {shown} tokens is recorded; ignored"
            warnings.append(LoadWarning(text, line))
