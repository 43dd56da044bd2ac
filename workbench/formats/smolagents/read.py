"""Read smolagents steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from workbench.base.stamps import seconds_of
from workbench.formats.kit.blocks import arguments_of, as_text
from workbench.formats.kit.conversation import Document
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of, word_of
from workbench.formats.smolagents import ID, is_step
from workbench.session import Block, Media, Message, Session, Text, ToolResult, ToolUse, Usage
from workbench.session.images import media_of

Item = dict[str, Any]


class Reader(Document):
    format = ID
    needs = "is not a list of steps; save the result of an agent's memory.get_full_steps()"

    def session(self) -> Session:
        steps = self.items(self.document)
        if not any(map(is_step, steps)):
            raise self.lacking()
        messages: list[Message] = []
        for index, step in enumerate(steps):
            if is_step(step):
                messages += _messages(index, step)
            else:
                self.warn(f"step {index + 1} is not a task, plan or action; not shown")
        return self._session(messages, system=_system(steps))


def _system(steps: Sequence[Any]) -> str:
    """Return the system prompt of the newest action's request; plans have another one."""
    for step in map(dict_of, reversed(steps)):
        if word_of(step.get("system_prompt")):
            return str(step["system_prompt"])
        request = list_of(step.get("model_input_messages")) if "step_number" in step else []
        if request and dict_of(request[0]).get("role") == "system":
            return "\n".join(text_of(dict_of(part).get("text")) for part in _parts(dict_of(request[0]).get("content")))
    return ""


def _parts(content: Any) -> list[Any]:
    return [{"text": content}] if isinstance(content, str) else list_of(content)


def _messages(index: int, step: Item) -> Iterator[Message]:
    id, source = f"s{index + 1}", (index,)
    time = seconds_of(dict_of(step.get("timing")).get("end_time"))
    if "task" in step:
        images = _images(step.get("task_images"))
        task: tuple[Block, ...] = (Text("New task:\n", injected=True), Text(as_text(step["task"])), *images)
        yield Message(id, "user", task, source=source)
    elif "plan" in step:
        yield Message(id, "assistant", (Text(as_text(step["plan"])),), time=time, usage=_usage(step), source=source)
    elif "step_number" in step:
        calls = tuple(_calls(step, id))
        text = _output_text(step)
        blocks: tuple[Block, ...] = (*((Text(text),) if text else ()), *calls)
        if blocks:
            yield Message(id, "assistant", blocks, time=time, usage=_usage(step), source=source)
        yield from _observed(step, calls, f"{id}:seen", time, source)


def _images(images: Any) -> tuple[Media, ...]:
    return tuple(media_of("image", as_text(image)) for image in list_of(images))


def _output_text(step: Item) -> str:
    """Return the text of a model response, which may be text or message parts."""
    output = step.get("model_output")
    return "\n".join(text_of(dict_of(part).get("text")) for part in _parts(output)) if output is not None else ""


def _calls(step: Item, id: str) -> Iterator[ToolUse]:
    """Yield the calls that a step lists; of a step that failed before it listed any, those in the model's response."""
    answer = dict_of(step.get("model_output_message"))
    for number, call in enumerate(map(dict_of, list_of(step.get("tool_calls")) or list_of(answer.get("tool_calls")))):
        function = dict_of(call.get("function"))
        if isinstance(function.get("name"), str):
            yield ToolUse(
                word_of(call.get("id")) or f"{id}.{number}", function["name"], arguments_of(function.get("arguments"))
            )


def _observed(
    step: Item, calls: Sequence[ToolUse], id: str, time: float | None, source: tuple[int, ...]
) -> Iterator[Message]:
    """Yield the observation of a step. It is one for all calls, so it becomes the first call's result."""
    observation = step.get("observations")
    error = dict_of(step.get("error")).get("message")
    texts = [f"Observation:\n{as_text(observation)}"] if observation is not None else []
    texts += [f"Error:\n{as_text(error)}"] if error is not None else []
    parts: tuple[Text | Media, ...] = (*map(Text, texts), *_images(step.get("observations_images")))
    if calls and parts:
        first = ToolResult(calls[0].id, parts, error is not None)
        yield Message(id, "tool", (first, *(ToolResult(c.id, ()) for c in calls[1:])), time=time, source=source)
    elif parts:
        injected = tuple(Text(part.text, injected=True) if isinstance(part, Text) else part for part in parts)
        yield Message(id, "user", injected, "meta", time, source=source)


def _usage(step: Item) -> Usage | None:
    counts = dict_of(step.get("token_usage"))
    prompt = count_of(counts.get("input_tokens"))
    return Usage(prompt, count_of(counts.get("output_tokens"))) if prompt else None
