"""Reading: Langfuse trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.base.stamps import seconds_of
from workbench.formats.kit.loose import answer_of, decoded, messages_of
from workbench.formats.kit.traced import TracedCall, values
from workbench.formats.kit.values import count_of, dict_of, dollars_of, list_of, text_of, word_of
from workbench.formats.langfuse.signature import GENERATION
from workbench.session import LoadWarning, Message, Text, Usage


def spans(path: Path, data: bytes, warnings: list[LoadWarning]) -> Iterator[TracedCall]:
    """The generations in a file."""
    for value in values(path, data, warnings):
        for trace, observation in _observations(value):
            if observation.get("type") == GENERATION:
                yield _generation(trace, observation)


def _observations(value: Any) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Each observation with its trace, {} where the file does not hold that."""
    if isinstance(value, list):
        for item in value:
            yield from _observations(item)
    elif isinstance(value, dict) and isinstance(value.get("observations"), list):
        trace = dict_of(value.get("trace")) or value
        yield from ((trace, dict_of(one)) for one in value["observations"])
    elif isinstance(value, dict) and isinstance(value.get("data"), list):
        yield from _observations(value["data"])
    elif isinstance(value, dict):
        yield {}, value


def _generation(trace: Mapping[str, Any], given: Mapping[str, Any]) -> TracedCall:
    asked, came = decoded(given.get("input")), decoded(given.get("output"))
    return TracedCall(
        _either(trace, "sessionId") or _either(given, "sessionId") or _either(given, "traceId")
        or text_of(trace.get("id")) or "trace",
        text_of(given.get("id")),
        _either(given, "parentObservationId"),
        seconds_of(given.get("startTime", given.get("start_time"))) or 0.0,
        (*_instructions(came), *messages_of(asked)),
        answer_of(came),
        _usage(given),
        word_of(given.get("model")) or word_of(given.get("providedModelName")),
        list_of(dict_of(asked).get("tools")) or list_of(dict_of(came).get("tools")),
    )  # fmt: skip


def _either(given: Mapping[str, Any], name: str) -> str:
    """A text under its name in the API or in the Python client."""
    snake = "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in name)
    return text_of(given.get(name)) or text_of(given.get(snake))


def _instructions(response: Any) -> tuple[Message, ...]:
    """The system prompt that a response of the Responses API repeats."""
    text = text_of(dict_of(response).get("instructions"))
    return (Message("system", "system", (Text(text),)),) if text else ()


def _usage(given: Mapping[str, Any]) -> Usage | None:
    """The bill: `input` with the tokens from the cache, where the parts add up to more than the `total` otherwise."""
    told = dict_of(given.get("usageDetails", given.get("usage_details"))) or dict_of(given.get("usage"))
    sent = count_of(told.get("input")) or count_of(told.get("promptTokens")) or count_of(told.get("prompt_tokens"))
    output = count_of(told.get("output")) or count_of(told.get("completionTokens"))
    output = output or count_of(told.get("completion_tokens"))
    read = next((n for key in _READ if (n := count_of(told.get(key)))), 0)
    written = count_of(told.get("input_cache_creation")) or count_of(told.get("cache_creation_input_tokens"))
    total = count_of(told.get("total"))
    within = total and sent + output == total and sent >= read + written
    if not sent + read + written:
        return None
    costs = dict_of(given.get("costDetails", given.get("cost_details")))
    cost = costs.get("total", given.get("calculatedTotalCost", given.get("totalCost")))
    return Usage(sent - read - written if within else sent, output, read, written, cost=dollars_of(cost))


_READ = ("input_cached_tokens", "input_cache_read", "cache_read_input_tokens", "cacheRead")
