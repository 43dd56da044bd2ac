"""Write ATIF trajectories: steps are renumbered, results go into the step of their calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from uuid import uuid4

from workbench.base.stamps import iso
from workbench.formats.agent_texts import kind_of
from workbench.formats.format import Written
from workbench.formats.kit.blocks import as_object, texts_of, writable
from workbench.formats.kit.document import Item, elements, new_name, render, splice
from workbench.formats.kit.json_spans import replace_fields
from workbench.formats.kit.jsonl import loads
from workbench.formats.kit.marks import MARK, STALE_USAGE, in_document
from workbench.formats.kit.settle import settled
from workbench.formats.kit.values import dict_of
from workbench.formats.loss import Loss, Losses, LossKind
from workbench.session import Message, Opaque, Session, Text, Thinking, ToolResult, ToolUse

_ID = "atif"
_NOT_RESUMABLE = "ATIF is a record: no agent resumes it"
_STALE_MARK = in_document(STALE_USAGE, ("extra",))


def write(session: Session, messages: Sequence[Message]) -> Written:
    """Replace the steps of the loaded trajectory; from another format, write a new one."""
    name = new_name(session.path)
    losses: Losses = []
    if session.format == _ID:
        data, id = session.records.data, session.id
        if list(messages) == list(session.context()):
            return Written(data, name, id, by_hand=_NOT_RESUMABLE)
    else:
        messages, more = settled(messages, None)
        losses.extend(more)
        id = session.id or str(uuid4())
        agent = {"name": session.format, "version": "unknown"}
        agent |= {"model_name": session.model} if session.model else {}
        data = render({"schema_version": "ATIF-v1.6", "session_id": id, "agent": agent, "steps": []})
        if session.system:
            messages = [Message("system", "system", (Text(session.system),)), *messages]
    steps = _steps(session, messages, elements(data, "steps"), losses)
    return Written(splice(data, "steps", steps), name, id, by_hand=_NOT_RESUMABLE, losses=losses)


def _steps(session: Session, messages: Sequence[Message], raws: Sequence[bytes], losses: Losses) -> list[bytes]:
    ids_by_source: dict[tuple[int, ...], list[str]] = {}
    for message in session.messages if raws else ():
        ids_by_source.setdefault(message.source, []).append(message.id)
    steps: list[bytes | Item] = []
    for source, run in groupby(messages, key=lambda message: message.source):
        group = list(run)
        if source and [message.id for message in group] == ids_by_source.get(source):
            steps.append(_with_summary_mark(raws[source[0]], group[0]))
            continue
        for message in group:
            if message.kind != "boundary":
                _add_message(steps, message, losses)
    with_usage = (n for n in range(len(steps) - 1, -1, -1) if _has_usage(steps[n]))
    if (newest := next(with_usage, None)) is not None and isinstance(raw := steps[newest], bytes):
        steps[newest] = _STALE_MARK.put(raw, b"true") or raw
    return [_number_step(step, number) for number, step in enumerate(steps, 1)]


def _has_usage(step: bytes | Item) -> bool:
    """True for a kept step with usage, which was billed for another context."""
    return isinstance(step, bytes) and b'"metrics"' in step and bool(dict_of(dict_of(loads(step)).get("metrics")))


def _number_step(step: bytes | Item, number: int) -> bytes:
    if not isinstance(step, bytes):
        return render({"step_id": number, **step})
    if not step.startswith(b"{") or dict_of(loads(step)).get("step_id") == number:
        return step
    return replace_fields(step, {"step_id": b"%d" % number})


def _with_summary_mark(raw: bytes, message: Message) -> bytes:
    """Return a kept step. A summary is marked as one, because the boundary that shows it may be dropped."""
    step = dict_of(loads(raw))
    extra = dict_of(step.get("extra"))
    if message.kind != "summary" or extra.get(MARK):
        return raw
    return replace_fields(raw, {"extra": render(extra | {MARK: message.kind})})


def _add_message(steps: list[bytes | Item], message: Message, losses: Losses) -> None:
    """Append the step of a message; results go into the step of their calls."""
    last = steps[-1] if steps else None
    if message.results and isinstance(last, dict) and last["source"] == "agent":
        observation = last.setdefault("observation", {"results": []})
        observation["results"] += [_result(result, losses) for result in message.results]
    elif message.results:
        text = "\n".join(result.text for result in message.results)
        losses.append(Loss(LossKind.ORPHAN_RESULTS, len(message.results)))
        steps.append({"source": "user", "message": text, "extra": {MARK: "meta"}})
    rest = tuple(block for block in message.blocks if not isinstance(block, ToolResult))
    if rest or not message.results:
        steps.append(_step(replace(message, blocks=rest), losses))


def _step(message: Message, losses: Losses) -> Item:
    source = {"assistant": "agent", "system": "system"}.get(message.role, "user")
    role = {"agent": "assistant", "system": "system"}.get(source, "user")
    step: Item = {"source": source}
    if message.time is not None:
        step["timestamp"] = iso(message.time)
    texts: list[str] = []

    def keeps(block: Thinking | Opaque) -> bool:
        return source == "agent" and isinstance(block, Thinking) and bool(block.text)

    for block in writable(message.blocks, losses, keeps):
        match block:
            case Thinking(text):
                step["reasoning_content"] = "\n".join(filter(None, (step.get("reasoning_content"), text)))
            case Text(text):
                texts.append(text)
            case ToolUse(id, name, input) if source == "agent":
                arguments = as_object(input)
                call = {"tool_call_id": id, "function_name": name, "arguments": arguments}
                step.setdefault("tool_calls", []).append(call)
    step["message"] = _content(texts)
    if message.kind != kind_of(role, tuple(map(Text, texts))):
        step["extra"] = {MARK: message.kind}
    return step


def _content(texts: list[str]) -> str | list[Item]:
    return "".join(texts) if len(texts) < 2 else [{"type": "text", "text": text} for text in texts]


def _result(result: ToolResult, losses: Losses) -> Item:
    if result.is_error:
        losses.append(Loss(LossKind.ERROR_MARKS, details=("ATIF",)))
    texts = texts_of(result, losses)
    return {"source_call_id": result.call_id, "content": _content(texts)}
