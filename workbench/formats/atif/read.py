"""Read ATIF trajectories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from workbench.base.stamps import seconds_of
from workbench.formats.agent_texts import kind_of, with_user_text
from workbench.formats.atif import ID
from workbench.formats.format import Part
from workbench.formats.kit.blocks import as_text, from_anthropic, in_result, input_of
from workbench.formats.kit.chat import tools_of
from workbench.formats.kit.conversation import MultiSessionDocument
from workbench.formats.kit.document import Item, render
from workbench.formats.kit.marks import STALE_USAGE, marked, without_stale_usage
from workbench.formats.kit.names import first_words
from workbench.formats.kit.usage import usage_of_prompt
from workbench.formats.kit.values import count_of, dict_of, dollars_of, list_of, word_of
from workbench.session import (
    Block,
    Compaction,
    Epoch,
    Kind,
    LoadWarning,
    Message,
    Opaque,
    Role,
    Session,
    SessionFacts,
    Thinking,
    ToolResult,
    ToolUse,
    Usage,
)
from workbench.session.images import media_of

_ROLES: dict[Any, Role] = {"user": "user", "agent": "assistant", "system": "system"}


class Reader(MultiSessionDocument):
    """Reader of a trajectory and of those of sub-agents inside it."""

    format = ID
    needs = "has no list of steps; open an ATIF trajectory"
    what = "trajectory"

    def trajectories(self) -> list[tuple[str, Item]]:
        """Return (id, trajectory) of each, the outer one first."""
        return [(_id(one) or str(n), one) for n, one in enumerate([self.body, *_nested_trajectories(self.body)])]

    def parts(self) -> list[Part]:
        described = ((id, word_of(dict_of(one.get("agent")).get("name")) or "", one) for id, one in self.trajectories())
        return [Part(id, name, len(list_of(one.get("steps")))) for id, name, one in described]

    def session(self) -> Session:
        """Read the outer trajectory."""
        session = self.trajectory(self.body)
        inside = len(_nested_trajectories(self.body))
        if not inside:
            return session
        warning = LoadWarning(f"holds {inside + 1} trajectories, including sub-agents; shown: the outer one")
        return replace(session, warnings=(warning, *session.warnings))

    def part(self, id: str) -> Session:
        body = next(one for trajectory_id, one in self.trajectories() if trajectory_id == id)
        if body is not self.body:
            self.data = render(body)
        return self.trajectory(body)

    def trajectory(self, body: Item) -> Session:
        steps = self.items(body.get("steps"))
        messages: list[Message] = []
        for index, step in enumerate(steps):
            after = bool(messages) and messages[-1].kind == "boundary"
            messages += _messages(index, step, after, self.warnings)
        epochs = _epochs(messages)
        marked_steps = {
            n for n, step in enumerate(steps) if dict_of(dict_of(step).get("extra")).get(STALE_USAGE) is True
        }
        stale_until = max((n for n, message in enumerate(messages) if message.source[0] in marked_steps), default=-1)
        agent = dict_of(body.get("agent"))
        cost = dict_of(body.get("final_metrics")).get("total_cost_usd")
        return self._session(
            with_user_text(without_stale_usage(messages, epochs[-1].members, stale_until)),
            first_words(messages),
            epochs=epochs,
            id=_id(body),
            model=word_of(agent.get("model_name")) or next((m.model for m in messages if m.model), None),
            tools=tools_of(agent.get("tool_definitions")),
            facts=SessionFacts(cost=dollars_of(cost)),
        )


def _nested_trajectories(body: Item) -> list[Item]:
    return [one for one in list_of(body.get("subagent_trajectories")) if isinstance(one, dict)]


def _id(body: Item) -> str:
    """Return a trajectory's id; before 1.7 it has only its session's, which sub-agents share."""
    return word_of(body.get("trajectory_id")) or word_of(body.get("session_id")) or ""


def _epochs(messages: Sequence[Message]) -> tuple[Epoch, ...]:
    epochs: list[Epoch] = []
    start = 0
    for index, message in enumerate(messages):
        if message.kind == "boundary":
            if index > start:
                after = messages[index + 1] if index + 1 < len(messages) else None
                summary = after.id if after and after.kind == "summary" else None
                end = Compaction(summary=summary, time=message.time)
                epochs.append(Epoch(len(epochs) + 1, range(start, index), end))
            start = index + 1
    return (*epochs, Epoch(len(epochs) + 1, range(start, len(messages))))


def _messages(index: int, step: Any, after_boundary: bool, warnings: list[LoadWarning]) -> Iterator[Message]:
    id, source = f"s{index + 1}", (index,)
    if not isinstance(step, dict):
        warnings.append(LoadWarning(f"step {index + 1} is not an object; shown unchanged"))
        yield Message(id, "user", (Opaque(type(step).__name__, step),), "meta", source=source)
        return
    role = _ROLES.get(step.get("source")) if isinstance(step.get("source"), str) else None
    if role is None:
        warnings.append(LoadWarning(f"step {index + 1} has no known source; read as user"))
        role = "user"
    time = seconds_of(step.get("timestamp"))
    results = [dict_of(result) for result in list_of(dict_of(step.get("observation")).get("results"))]
    blocks = tuple(_blocks(step))
    recorded_kind = marked(dict_of(step.get("extra")))
    if role == "system" and _is_summarisation(step, results):
        yield Message(id, "system", blocks, "boundary", time, source=source)
        return
    kind: Kind = recorded_kind or ("summary" if after_boundary and role == "user" else kind_of(role, blocks))
    if blocks or not results:
        model = word_of(step.get("model_name"))
        yield Message(id, role, blocks, kind, time, _usage(step), model, source)
    if results:
        calls = [block.id for block in blocks if isinstance(block, ToolUse)]
        answers = tuple(_result(result, calls) for result in results)
        yield Message(f"{id}:results", "tool", answers, time=time, source=source)


def _is_summarisation(step: Item, results: Sequence[Item]) -> bool:
    delegated = any(result.get("subagent_trajectory_ref") for result in results)
    return delegated and "summar" in as_text(step.get("message") or "").lower()


def _usage(step: Item) -> Usage | None:
    """Return a step's usage; None for a step copied from another trajectory, and for the sum of several calls, which
    says nothing about one context."""
    metrics = dict_of(step.get("metrics"))
    prompt = count_of(metrics.get("prompt_tokens"))
    if step.get("is_copied_context") is True or count_of(step.get("llm_call_count")) > 1:
        return None
    output, cached = count_of(metrics.get("completion_tokens")), count_of(metrics.get("cached_tokens"))
    return usage_of_prompt(prompt, output, cached, cost=dollars_of(metrics.get("cost_usd")))


def _blocks(step: Item) -> Iterator[Block]:
    if word_of(step.get("reasoning_content")):
        yield Thinking(step["reasoning_content"])
    yield from _parts(step.get("message"))
    for call in list_of(step.get("tool_calls")):
        if isinstance(call, dict) and isinstance(call.get("function_name"), str):
            id = as_text(call.get("tool_call_id") or "")
            yield ToolUse(id, call["function_name"], input_of(call.get("arguments")))
        else:
            yield Opaque("tool_call", call)


def _parts(content: Any) -> Iterator[Block]:
    for part in list_of(content):
        source = dict_of(dict_of(part).get("source"))
        kind = dict_of(part).get("type")
        if kind in ("image", "audio") and source:
            yield media_of(word_of(source.get("media_type")) or str(kind), as_text(source.get("data") or ""))
        else:
            yield from_anthropic([part])[0]
    if not isinstance(content, list):
        yield from from_anthropic(content)


def _result(result: Item, calls: list[str]) -> ToolResult:
    """Return a result; without a call id it answers the first unanswered call of its step."""
    recorded_id = word_of(result.get("source_call_id"))
    call_id = recorded_id or (calls[0] if calls else "")
    if call_id in calls:
        calls.remove(call_id)
    content = result.get("content")
    if content is None and result.get("subagent_trajectory_ref") is not None:
        content = as_text(result["subagent_trajectory_ref"])
    parts = _parts(content)
    return ToolResult(call_id, tuple(in_result(p, content) for p in parts))
