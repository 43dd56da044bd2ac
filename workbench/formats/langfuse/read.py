"""Read Langfuse traces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.base.stamps import seconds_of
from workbench.formats.kit.trace_messages import answer_of, decoded, messages_of
from workbench.formats.kit.traces import TracedCall, values
from workbench.formats.kit.values import count_of, dict_of, dollars_of, list_of, text_of, word_of
from workbench.formats.langfuse import GENERATION
from workbench.session import LoadWarning, Message, Text, Usage


def spans(path: Path, data: bytes, warnings: list[LoadWarning]) -> Iterator[TracedCall]:
    """Yield the generations in a file."""
    for value in values(path, data, warnings):
        for trace, observation in _observations(value):
            if observation.get("type") == GENERATION:
                yield _generation(trace, observation)


def _observations(value: Any) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Yield each observation with its trace, {} if the file lacks it."""
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


def _generation(trace: Mapping[str, Any], observation: Mapping[str, Any]) -> TracedCall:
    request, response = decoded(observation.get("input")), decoded(observation.get("output"))
    return TracedCall(
        _either(trace, "sessionId") or _either(observation, "sessionId") or _either(observation, "traceId")
        or text_of(trace.get("id")) or "trace",
        text_of(observation.get("id")),
        _either(observation, "parentObservationId"),
        seconds_of(observation.get("startTime", observation.get("start_time"))) or 0.0,
        (*_instructions(response), *messages_of(request)),
        answer_of(response),
        _usage(observation),
        word_of(observation.get("model")) or word_of(observation.get("providedModelName")),
        list_of(dict_of(request).get("tools")) or list_of(dict_of(response).get("tools")),
    )  # fmt: skip


def _either(fields: Mapping[str, Any], name: str) -> str:
    """Return the text under a name in the API's or in the Python client's spelling."""
    snake = "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in name)
    return text_of(fields.get(name)) or text_of(fields.get(snake))


def _instructions(response: Any) -> tuple[Message, ...]:
    """Return the system prompt that a response of the Responses API repeats."""
    text = text_of(dict_of(response).get("instructions"))
    return (Message("system", "system", (Text(text),)),) if text else ()


def _usage(observation: Mapping[str, Any]) -> Usage | None:
    """Return the usage. `input` includes cached tokens if input and output alone add up to `total`."""
    usage = dict_of(observation.get("usageDetails", observation.get("usage_details"))) or dict_of(
        observation.get("usage")
    )
    prompt = count_of(usage.get("input")) or count_of(usage.get("promptTokens")) or count_of(usage.get("prompt_tokens"))
    output = count_of(usage.get("output")) or count_of(usage.get("completionTokens"))
    output = output or count_of(usage.get("completion_tokens"))
    read = next((n for key in _READ if (n := count_of(usage.get(key)))), 0)
    written = count_of(usage.get("input_cache_creation")) or count_of(usage.get("cache_creation_input_tokens"))
    total = count_of(usage.get("total"))
    within = total and prompt + output == total and prompt >= read + written
    if not prompt + read + written:
        return None
    costs = dict_of(observation.get("costDetails", observation.get("cost_details")))
    cost = costs.get("total", observation.get("calculatedTotalCost", observation.get("totalCost")))
    return Usage(prompt - read - written if within else prompt, output, read, written, cost=dollars_of(cost))


_READ = ("input_cached_tokens", "input_cache_read", "cache_read_input_tokens", "cacheRead")
