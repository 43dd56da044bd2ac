"""Read OpenTelemetry traces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.base.figures import whole_number
from workbench.base.stamps import seconds_of
from workbench.formats.kit.trace_messages import answer_of, decoded, messages_of
from workbench.formats.kit.traces import TracedCall, values
from workbench.formats.kit.values import count_of, dict_of, dollars_of, list_of, text_of
from workbench.session import LoadWarning, Message, Usage

_ENCLOSING = ("AGENT", "CHAIN", "invoke_agent", "create_agent", "execute_tool")
"""Kinds of spans that are skipped because they repeat the contents of the spans inside them."""


def spans(path: Path, data: bytes, warnings: list[LoadWarning]) -> Iterator[TracedCall]:
    """Yield the model calls in a file."""
    for value in values(path, data, warnings):
        for span in _spans(value):
            if (found := _call(span)) is not None:
                yield found


def _spans(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the spans of a value, however they are wrapped."""
    if isinstance(value, list):
        for item in value:
            yield from _spans(item)
    elif isinstance(value, Mapping):
        if "attributes" in value and not ("scopeSpans" in value or "scope_spans" in value):
            yield value
        for key in ("resourceSpans", "resource_spans", "scopeSpans", "scope_spans", "spans", "data"):
            if isinstance(value.get(key), list):
                yield from _spans(value[key])


def _call(span: Mapping[str, Any]) -> TracedCall | None:
    """Return the model call of a span; None for any other span."""
    attributes = tree(span.get("attributes"))
    gen_ai, llm = dict_of(attributes.get("gen_ai")), dict_of(attributes.get("llm"))
    if _leaf(dict_of(gen_ai.get("operation")).get("name")) in _ENCLOSING:
        return None
    if _leaf(dict_of(dict_of(attributes.get("openinference")).get("span")).get("kind")) in _ENCLOSING:
        return None
    events = [*map(dict_of, list_of(span.get("events")))]
    request = (
        _of_messages(gen_ai, "input") or _of_numbers(gen_ai.get("prompt")) or _of_llm(llm, "input_messages")
        or _of_events(events, answers=False) or _of_value(attributes.get("input"))
    )  # fmt: skip
    if not request:
        return None
    answers = (
        _of_messages(gen_ai, "output") or _of_numbers(gen_ai.get("completion")) or _of_llm(llm, "output_messages")
        or _of_events(events, answers=True) or _of_answer(attributes.get("output"))
    )  # fmt: skip
    context = dict_of(span.get("context"))
    trace = text_of(span.get("traceId")) or text_of(context.get("trace_id")) or text_of(span.get("trace_id"))
    conversation = _leaf(dict_of(gen_ai.get("conversation")).get("id")) or _leaf(
        dict_of(attributes.get("session")).get("id")
    )
    model = (
        _leaf(dict_of(gen_ai.get("response")).get("model")) or _leaf(dict_of(gen_ai.get("request")).get("model"))
        or _leaf(llm.get("model_name"))
    )  # fmt: skip
    return TracedCall(
        conversation or trace or "trace",
        text_of(span.get("spanId")) or text_of(context.get("span_id")) or text_of(span.get("span_id")),
        text_of(span.get("parentSpanId")) or text_of(span.get("parent_id")),
        _time(span),
        request,
        answers[0] if answers else None,
        _usage(gen_ai, llm),
        model or None,
        _tools(gen_ai, llm),
    )


_MOST_DOTS = 30
"""Number of dots at which a name is split; splitting at more would nest objects too deeply."""


def tree(attributes: Any) -> dict[str, Any]:
    """Return attributes with dotted names as nested objects. If a name continues in longer names (`a` and `a.b`), its
    own value is under the empty key.

    OTLP has a list of names and values with their type, others an object, and Phoenix objects that are nested already.
    """
    pairs = (
        ((text_of(one.get("key")), _plain(one.get("value"))) for one in map(dict_of, list_of(attributes)))
        if isinstance(attributes, list)
        else dict_of(attributes).items()
    )
    root: dict[str, Any] = {}
    for name, value in pairs:
        *steps, last = str(name).split(".", _MOST_DOTS)
        at = root
        for step in steps:
            inner = at.get(step)
            if not isinstance(inner, dict):
                inner = at[step] = {} if inner is None else {"": inner}
            at = inner
        if isinstance(at.get(last), dict) and not isinstance(value, dict):
            at[last][""] = value
        else:
            at[last] = value
    return root


def _plain(value: Any) -> Any:
    """Return the value that OTLP wraps in an object with its type."""
    for kind, inner in dict_of(value).items():
        if kind in ("intValue", "int_value") and isinstance(inner, str):
            number = whole_number(inner)
            return inner if number is None else number
        if kind in ("arrayValue", "array_value"):
            return [_plain(one) for one in list_of(dict_of(inner).get("values"))]
        if kind in ("kvlistValue", "kvlist_value"):
            return {
                text_of(one.get("key")): _plain(one.get("value"))
                for one in map(dict_of, list_of(dict_of(inner).get("values")))
            }
        return inner
    return None


def _leaf(value: Any) -> str:
    """Return a text from a `tree`, which may be under the empty key; "" for anything else."""
    return text_of(value.get("")) if isinstance(value, dict) else text_of(value)


def _numbered(value: Any) -> list[Any]:
    """Return the items of a list, or of an object with the keys 0, 1, 2, … in their order."""
    if isinstance(value, dict):
        numbers = {key: number for key in value if (number := whole_number(key)) is not None}
        return [value[key] for key in sorted(numbers, key=numbers.__getitem__)]
    return list_of(decoded(value))


def _nested(value: Any) -> Any:
    """Return a value in which every object with only numbers as keys is a list."""
    if isinstance(value, dict) and value and None not in map(whole_number, value):
        return [_nested(one) for one in _numbered(value)]
    if isinstance(value, dict):
        return {key: _nested(one) for key, one in value.items()}
    return [_nested(one) for one in value] if isinstance(value, list) else value


def _of_messages(gen_ai: Mapping[str, Any], direction: str) -> tuple[Message, ...]:
    system = messages_of({"messages": [], "system": gen_ai.get("system_instructions")}) if direction == "input" else ()
    role = "user" if direction == "input" else "assistant"
    messages = messages_of(dict_of(gen_ai.get(direction)).get("messages"), role)  # type: ignore[arg-type]
    return (*system, *messages) if messages else ()


def _of_numbers(value: Any) -> tuple[Message, ...]:
    return messages_of([_nested(one) for one in _numbered(value)])


def _of_llm(llm: Mapping[str, Any], name: str) -> tuple[Message, ...]:
    items = (_nested(one) for one in _numbered(llm.get(name)))
    messages = [
        {"content": item.get("contents"), **item} for one in items if (item := dict_of(one.get("message")) or one)
    ]
    return messages_of(messages)


_ROLES = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool", "choice": "assistant"}


def _of_events(events: list[dict[str, Any]], *, answers: bool) -> tuple[Message, ...]:
    """Return the messages in events such as `gen_ai.user.message`, or with `answers` those in `gen_ai.choice`."""
    items: list[Any] = []
    for event in events:
        name = text_of(event.get("name")).removeprefix("gen_ai.").removesuffix(".message")
        if name in _ROLES and (name == "choice") is answers:
            attributes = tree(event.get("attributes"))
            body = dict_of(decoded(attributes.get("message"))) or attributes
            id = body.get("tool_call_id") or body.get("id")
            items.append({"role": _ROLES[name], **_nested(body), **({"tool_call_id": id} if name == "tool" else {})})
    return messages_of(items)


def _of_value(value: Any) -> tuple[Message, ...]:
    """Return the messages of the request body that OpenInference records as `input.value`."""
    body = decoded(dict_of(value).get("value"))
    return messages_of(body) if isinstance(body, dict | list) else ()


def _of_answer(value: Any) -> tuple[Message, ...]:
    """Return the answer in the response body that OpenInference records as `output.value`; () without one."""
    found = answer_of(dict_of(decoded(dict_of(value).get("value"))))
    return () if found is None else (found,)


_NANO = re.compile(r"\d{1,20}")


def _time(span: Mapping[str, Any]) -> float:
    nano = span.get("startTimeUnixNano", span.get("start_time_unix_nano"))
    if _NANO.fullmatch(str(nano)):
        return int(nano) / 1e9
    return seconds_of(span.get("start_time", span.get("startTime"))) or 0.0


def _usage(gen_ai: Mapping[str, Any], llm: Mapping[str, Any]) -> Usage | None:
    """Return the usage of the call, None without prompt tokens. Both conventions (`gen_ai` and `llm`) include cached
    tokens in the prompt."""
    counts, count = dict_of(gen_ai.get("usage")), dict_of(llm.get("token_count"))
    details = dict_of(count.get("prompt_details"))
    prompt = (
        count_of(counts.get("input_tokens")) or count_of(counts.get("prompt_tokens")) or _count(count.get("prompt"))
    )
    output = count_of(counts.get("output_tokens")) or count_of(counts.get("completion_tokens"))
    read = count_of(dict_of(counts.get("cache_read")).get("input_tokens")) or count_of(
        counts.get("cache_read_input_tokens")
    )
    written = count_of(dict_of(counts.get("cache_creation")).get("input_tokens")) or count_of(
        counts.get("cache_creation_input_tokens")
    )
    read, written = read or count_of(details.get("cache_read")), written or count_of(details.get("cache_write"))
    if not prompt:
        return None
    fresh = prompt - read - written if prompt >= read + written else prompt
    cost = dict_of(llm.get("cost")).get("total", counts.get("cost"))
    return Usage(fresh, output or _count(count.get("completion")), read, written, cost=dollars_of(cost))


def _count(value: Any) -> int:
    return count_of(value.get("")) if isinstance(value, dict) else count_of(value)


def _tools(gen_ai: Mapping[str, Any], llm: Mapping[str, Any]) -> list[Any]:
    definitions = list_of(decoded(dict_of(gen_ai.get("tool")).get("definitions")))
    if definitions:
        return definitions
    schemas = (dict_of(one) for one in _numbered(llm.get("tools")))
    functions_found = [decoded(dict_of(one.get("tool")).get("json_schema")) for one in schemas]
    functions = _numbered(dict_of(llm.get("request")).get("functions"))
    return [one for one in functions_found if one] or [
        {**one, "parameters": decoded(one.get("parameters"))} for one in map(dict_of, functions)
    ]
