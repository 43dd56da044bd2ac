"""Read LangSmith runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.base.stamps import seconds_of
from workbench.formats.kit.trace_messages import answer_of, messages_of
from workbench.formats.kit.traces import TracedCall, values
from workbench.formats.kit.usage import usage_of_prompt
from workbench.formats.kit.values import count_of, dict_of, dollars_of, list_of, text_of, word_of
from workbench.session import LoadWarning, Message, Usage

_MODELS = ("llm", "chat_model")
"""Types of model runs, on the server and before they are sent there."""

_THREAD = ("thread_id", "session_id", "conversation_id")


def spans(path: Path, data: bytes, warnings: list[LoadWarning]) -> Iterator[TracedCall]:
    """Yield the model runs in a file."""
    for value in values(path, data, warnings):
        for run, root in _runs(value, ""):
            if run.get("run_type") in _MODELS:
                yield _call(run, root)


def _runs(value: Any, root: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield each run with the id of its root run, as far as the file records it."""
    if isinstance(value, list):
        for item in value:
            yield from _runs(item, root)
    elif isinstance(value, dict) and "run_type" in value:
        root = text_of(value.get("trace_id")) or root or text_of(value.get("id"))
        yield value, root
        yield from _runs(list_of(value.get("child_runs")), root)
    elif isinstance(value, dict):
        yield from _runs(list_of(value.get("runs")), root)


def _call(run: Mapping[str, Any], root: str) -> TracedCall:
    inputs, outputs, extra = (dict_of(run.get(key)) for key in ("inputs", "outputs", "extra"))
    metadata, params = dict_of(extra.get("metadata")), dict_of(extra.get("invocation_params"))
    thread = next((name for key in _THREAD if (name := word_of(metadata.get(key)))), None)
    names = (metadata.get("ls_model_name"), params.get("model"), params.get("model_name"), inputs.get("model"))
    answer, usage = _answer(outputs)
    return TracedCall(
        thread or root or "run",
        text_of(run.get("id")),
        text_of(run.get("parent_run_id")),
        seconds_of(run.get("start_time")) or 0.0,
        messages_of(inputs) or messages_of(list_of(inputs.get("prompts"))),
        answer,
        _usage(run, usage),
        next((name for name in names if word_of(name)), None),
        list_of(params.get("tools")) or list_of(inputs.get("tools")),
    )


def _answer(outputs: Mapping[str, Any]) -> tuple[Message | None, Mapping[str, Any]]:
    """Return the response, and its token counts."""
    generations = list_of(outputs.get("generations"))
    first = generations[0] if generations else None
    first = dict_of(first[0] if isinstance(first, list) and first else first)
    choices = list_of(outputs.get("choices"))
    messages = list_of(outputs.get("messages"))
    item: Any = (
        first.get("message") or first.get("text") or (dict_of(choices[0]).get("message") if choices else None)
        or outputs.get("message") or (messages[-1] if messages else None) or outputs
    )  # fmt: skip
    message = dict_of(dict_of(item).get("kwargs")) or dict_of(item)
    usage = (
        dict_of(message.get("usage_metadata"))
        or dict_of(outputs.get("usage_metadata"))
        or dict_of(outputs.get("usage"))
    )
    return answer_of(item), usage


def _usage(run: Mapping[str, Any], counts: Mapping[str, Any]) -> Usage | None:
    """Return the usage in the response, or else in the run. Prompt tokens include cached ones."""
    details = dict_of(counts.get("input_token_details")) or dict_of(run.get("prompt_token_details"))
    prompt = (
        count_of(counts.get("input_tokens"))
        or count_of(counts.get("prompt_tokens"))
        or count_of(run.get("prompt_tokens"))
    )
    output = count_of(counts.get("output_tokens")) or count_of(counts.get("completion_tokens"))
    read, written = count_of(details.get("cache_read")), count_of(details.get("cache_creation"))
    output = output or count_of(run.get("completion_tokens"))
    return usage_of_prompt(prompt, output, read, written, dollars_of(run.get("total_cost")))
