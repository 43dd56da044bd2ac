"""Content of OpenHands events that the model receives, in both generations: V0 and V1.

V0 events have `action` or `observation`, numbers as ids, and name the call in `tool_call_metadata`, which repeats the
complete model response. V1 events have `kind` and UUIDs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbench.base.secrets import without_secrets
from workbench.base.stamps import utc_datetime
from workbench.formats.kit.blocks import arguments_of, as_text, from_anthropic
from workbench.formats.kit.marks import MARK, marked
from workbench.formats.kit.usage import usage_of_prompt
from workbench.formats.kit.values import dict_of, list_of, text_of
from workbench.formats.openhands import is_v1
from workbench.session import Block, Kind, Media, Role, Text, Thinking, ToolResult, ToolUse, Usage
from workbench.session.images import media_of_url

Event = dict[str, Any]

CALL = "workbench_call"
"""Key under which this program stores the id of a V0 call that had only its event's id."""

FAILED = "workbench_failed"
"""Key under which this program marks a V0 result as an error; V0's own error events add text."""

SENDER = "workbench/"
"""Prefix of a V1 message's `sender`, or of an action's `llm_response_id`, in which this program stores a message kind:
V1 rejects unknown keys."""

_NO_REASON = "User rejected the action"
"""V1's text for a rejection without a reason."""

_FAILED_V1 = "[An error occurred during execution.]\n"
"""V1's prefix of the content of a failed observation."""

_HIDDEN_V0 = ("change_agent_state", "agent_state_changed", "null", "condensation", "condensation_request")
_SENT_V1 = (
    "SystemPromptEvent",
    "MessageEvent",
    "ActionEvent",
    "ObservationEvent",
    "AgentErrorEvent",
    "UserRejectObservation",
)
_LOOPED = ("ActionEvent", "ObservationEvent", "AgentErrorEvent", "UserRejectObservation")

_PREVIEW = 200


@dataclass(frozen=True, slots=True)
class EventContent:
    """Content of an event for the model. Events of one `batch` are one response; `call` is the id of the call made or
    answered."""

    role: Role
    blocks: tuple[Block, ...]
    kind: Kind = "normal"
    batch: str = ""
    call: str = ""
    usage: Usage | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Forgetting:
    """A condensation: the ids of forgotten events, and the summary at `offset` in the remaining ones."""

    forgotten: frozenset[str]
    summary: str
    offset: int | None


def key_of(event: Event) -> str:
    """Return the id of an event of either generation as text."""
    return as_text(event.get("id"))


def is_counted(event: Event) -> bool:
    """Return True if an event counts in the view to which condensation offsets refer."""
    if is_v1(event):
        return event["kind"] in _SENT_V1
    return as_text(event.get("action", event.get("observation"))) not in _HIDDEN_V0


def begins_loop(event: Event) -> bool:
    """Return True if a V1 event begins a tool loop, that is, for an action with thinking. The actions and results
    directly after it belong to the loop, which the SDK sends completely or not at all."""
    return event.get("kind") == "ActionEvent" and bool(event.get("thinking_blocks"))


def continues_loop(event: Event) -> bool:
    return event.get("kind") in _LOOPED


def forgetting_of(event: Event) -> Forgetting | None:
    about = event if event.get("kind") == "Condensation" else event.get("args")
    if not isinstance(about, dict) or not (about is event or event.get("action") == "condensation"):
        return None
    ids = about.get("forgotten_event_ids")
    start, end = about.get("forgotten_events_start_id"), about.get("forgotten_events_end_id")
    forgotten = [as_text(id) for id in ids] if isinstance(ids, list) else []
    if not forgotten and type(start) is int and type(end) is int and 0 <= end - start < 10_000_000:
        forgotten = [str(id) for id in range(start, end + 1)]
    offset = about.get("summary_offset")
    summary = about.get("summary")
    return Forgetting(frozenset(forgotten), text_of(summary), offset if type(offset) is int else None)


def content_of(event: Event, calls: dict[str, str]) -> EventContent | None:
    """Return the content of an event for the model; None without any. `calls` maps ids of V0 actions to those of their
    calls; new ones are added."""
    return _content_v1(event) if is_v1(event) else _content_v0(event, calls)


# -- V1


def _content_v1(event: Event) -> EventContent | None:
    kind = event["kind"]
    if kind == "SystemPromptEvent":
        parts = (event.get("system_prompt"), event.get("dynamic_context"))
        return EventContent("system", tuple(block for part in parts if part for block in _texts([part])))
    if kind == "MessageEvent":
        return _message_v1(event)
    call = as_text(event.get("tool_call_id") or "")
    if kind == "ActionEvent":
        thought = (*_thinking(event), *_texts(event.get("thought")))
        tool_call = dict_of(event.get("tool_call"))
        use = ToolUse(
            call,
            as_text(tool_call.get("name") or event.get("tool_name") or ""),
            arguments_of(tool_call.get("arguments")),
        )
        batch = as_text(event.get("llm_response_id") or "")
        return EventContent("assistant", (*thought, use), _noted_v1(batch) or "normal", batch, call)
    if kind == "ObservationEvent":
        observation = dict_of(event.get("observation"))
        failed = observation.get("is_error") is True
        content = (
            *_texts(_FAILED_V1 if failed else ""),
            *_observed(observation),
            *_texts(event.get("extended_content")),
        )
        result = ToolResult(call, content, failed)
    elif kind == "AgentErrorEvent":
        result = ToolResult(call, _texts(event.get("error")), True)
    elif kind == "UserRejectObservation":
        reason = as_text(event.get("rejection_reason") or "")
        is_users = event.get("rejection_source", "user") == "user" and reason != _NO_REASON
        result = ToolResult(call, (Text(f"Action rejected: {reason}"),), user_text=reason if is_users else "")
    else:
        return None
    return EventContent("tool", (result,), call=call)


def _message_v1(event: Event) -> EventContent:
    message = dict_of(event.get("llm_message"))
    added = (replace(block, injected=True) for block in _texts(event.get("extended_content")) if type(block) is Text)
    blocks = (*_thinking(message), *_texts(message.get("content")), *added)
    role: Role = "assistant" if message.get("role") == "assistant" else "user"
    kind: Kind = "normal" if role == "assistant" or event.get("source") == "user" else "meta"
    return EventContent(
        role, blocks, _noted_v1(event.get("sender")) or kind, as_text(event.get("llm_response_id") or "")
    )


def _noted_v1(where: Any) -> Kind | None:
    """Return the kind that this program stored in a free-text name of V1."""
    if not isinstance(where, str) or not where.startswith(SENDER):
        return None
    return marked({MARK: where.removeprefix(SENDER).partition("/")[0]})


def _thinking(holder: Event) -> tuple[Block, ...]:
    blocks = from_anthropic(holder.get("thinking_blocks") or None)
    thought = tuple(block for block in blocks if isinstance(block, Thinking))
    reasoning = holder.get("reasoning_content")
    return thought or ((Thinking(reasoning),) if isinstance(reasoning, str) and reasoning else ())


def _texts(parts: Any) -> tuple[Text | Media, ...]:
    found: list[Text | Media] = []
    for part in parts if isinstance(parts, list) else [parts] if parts else []:
        if isinstance(part, dict) and isinstance(part.get("image_urls"), list):
            found += [_image(url) for url in part["image_urls"]]
        elif text := as_text(part.get("text", part) if isinstance(part, dict) else part):
            found.append(Text(text))
    return tuple(found)


def _image(url: Any) -> Media:
    return media_of_url(as_text(url), "image")


def _observed(observation: Event) -> tuple[Text | Media, ...]:
    """Return an observation's content; a terminal's includes its directory and exit code."""
    content = _texts(observation.get("content") or observation.get("output"))
    about = observation.get("metadata")
    if not isinstance(about, dict) or any(isinstance(part, Media) for part in content):
        return content
    text = "\n".join(part.text for part in content if isinstance(part, Text))
    text = _with_metadata(text, about)
    return (Text(text),) if text else ()


def _with_metadata(text: str, about: Event) -> str:
    """Return a terminal's output in the form that both versions send."""
    text = f"{as_text(about.get('prefix') or '')}{text}{as_text(about.get('suffix') or '')}"
    for key, what in (("working_dir", "Current working directory"), ("py_interpreter_path", "Python interpreter")):
        text += f"\n[{what}: {as_text(about[key])}]" if about.get(key) else ""
    code = about.get("exit_code")
    return text + (f"\n[Command finished with exit code {code}]" if type(code) is int and code != -1 else "")


# -- V0


def _content_v0(event: Event, calls: dict[str, str]) -> EventContent | None:
    action, observation = event.get("action"), event.get("observation")
    noted = marked(event)
    if observation is not None:
        return None if as_text(observation) in _HIDDEN_V0 else _observation_v0(event, calls, noted)
    if action is None or as_text(action) in _HIDDEN_V0 or action == "recall":
        return None
    args = dict_of(event.get("args"))
    if action == "system":
        return EventContent("system", _texts(args.get("content")), noted or "normal")
    if action == "message":
        urls = args.get("image_urls")
        blocks = (*_texts(args.get("content")), *map(_image, list_of(urls)))
        role: Role = "assistant" if event.get("source") == "agent" else "user"
        return EventContent(role, blocks, noted or "normal")
    meta = dict_of(event.get("tool_call_metadata"))
    response = dict_of(meta.get("model_response"))
    model = response["model"] if isinstance(response.get("model"), str) and response["model"] else None
    choices = response.get("choices")
    answer = dict_of(dict_of(choices[0]).get("message")) if isinstance(choices, list) and choices else {}
    thought = _texts(answer.get("content") or args.get("thought"))
    if action == "finish":
        text = _texts(args.get("final_thought")) or thought or _texts(event.get("message"))
        return EventContent("assistant", text, noted or "normal", usage=_usage(response.get("usage")), model=model)
    # Calls without ids were identified by their event's id, which an export may change.
    id = as_text(meta.get("tool_call_id") or event.get(CALL) or f"event-{key_of(event)}")
    calls[key_of(event)] = id
    use = _recorded_call(answer, id) or ToolUse(
        id, as_text(meta.get("function_name") or action), {k: v for k, v in args.items() if k != "thought"}
    )
    batch = as_text(response.get("id") or "")
    return EventContent(
        "assistant", (*thought, use), noted or "normal", batch, id, _usage(response.get("usage")), model
    )


def _recorded_call(answer: Event, id: str) -> ToolUse | None:
    calls = answer.get("tool_calls")
    for call in list_of(calls):
        function = dict_of(dict_of(call).get("function"))
        if dict_of(call).get("id") == id and isinstance(function.get("name"), str):
            return ToolUse(id, function["name"], arguments_of(function.get("arguments")))
    return None


def _observation_v0(event: Event, calls: dict[str, str], noted: Kind | None) -> EventContent | None:
    if event["observation"] == "recall":
        return None
    content = _observed_v0(event)
    meta = dict_of(event.get("tool_call_metadata"))
    call = as_text(meta.get("tool_call_id") or calls.get(as_text(event.get("cause")), ""))
    if not call:
        return EventContent("user", content, noted or "meta")
    failed = event["observation"] == "error" or event.get(FAILED) is True
    return EventContent("tool", (ToolResult(call, content, failed),), noted or "normal", call=call)


def _observed_v0(event: Event) -> tuple[Text | Media, ...]:
    """Return an observation's content, with the text that V0 adds before sending it."""
    content, extras = as_text(event.get("content") or ""), dict_of(event.get("extras"))
    about, code = extras.get("metadata"), extras.get("exit_code")
    match event["observation"]:
        case "run" if isinstance(about, dict):
            content = _with_metadata(content, about)
        case "run" if type(code) is int:  # before there were metadata
            content += f"\n[Command {as_text(extras.get('command_id'))} finished with exit code {code}]"
        case "error":
            content += "\n[Error occurred in processing last action]"
        case "user_rejected":
            content += "\n[Last action has been rejected by the user]"
    return _texts(content)


def _usage(usage: Any) -> Usage | None:
    counts = {key: value for key, value in dict_of(usage).items() if type(value) is int and value > 0}
    if "prompt_tokens" not in counts:
        return None
    read = dict_of(dict_of(usage).get("prompt_tokens_details")).get("cached_tokens")
    read = read if type(read) is int else counts.get("cache_read_input_tokens", 0)
    written = counts.get("cache_creation_input_tokens", 0)
    return usage_of_prompt(counts["prompt_tokens"], counts.get("completion_tokens", 0), read, written)


def unanswered_actions(events: Sequence[Event]) -> frozenset[int]:
    """Return the indexes of V1 actions without a result."""
    done = {str(event.get("action_id")) for event in events}
    failed = {str(event.get("tool_call_id")) for event in events if event.get("kind") == "AgentErrorEvent"}
    actions = [n for n, event in enumerate(events) if event.get("kind") == "ActionEvent" and event.get("action")]
    return frozenset(
        n for n in actions if key_of(events[n]) not in done and str(events[n].get("tool_call_id")) not in failed
    )


def stamp_of(seconds: float | None) -> str:
    """Return a time without a zone, as OpenHands writes it."""
    return utc_datetime(seconds).replace(tzinfo=None).isoformat()


def preview_of(text: str) -> str:
    """Return the preview text of a V0 event. Secrets are masked before the cut, because half a secret is not
    recognised."""
    return without_secrets(text[: 10 * _PREVIEW])[:_PREVIEW]
