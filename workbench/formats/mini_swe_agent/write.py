"""Write mini-swe-agent trajectories."""

from __future__ import annotations

import time
from collections.abc import Sequence

from workbench.formats.format import Written
from workbench.formats.kit.document import elements, render, splice
from workbench.formats.kit.json_spans import field_of, replace_fields
from workbench.formats.kit.jsonl import loads
from workbench.formats.kit.marks import MARK
from workbench.formats.kit.settle import settled
from workbench.formats.kit.values import dict_of
from workbench.formats.loss import Loss, Losses, LossKind
from workbench.formats.mini_swe_agent import ID
from workbench.formats.mini_swe_agent.read import COMPACTED, VERSION, kinds_of
from workbench.formats.openai_chat.embedded import Item, pieces
from workbench.session import Kind, Message, Session

_BOM = b"\xef\xbb\xbf"
_BY_HAND = "a trajectory is a record: no agent resumes it"


def write(session: Session, messages: Sequence[Message]) -> Written:
    """Replace the messages of the trajectory. The agent has no command that resumes one."""
    native = session.format == ID
    losses: Losses = []
    messages = [message for message in messages if message.blocks]
    name = f"{session.path.name.split('.')[0] if session.path else 'session'}.compacted.traj.json"
    if native and messages == list(session.context()):
        return Written(session.records.data, name, session.id, by_hand=_BY_HAND)
    if not native:
        messages, role_losses = settled(messages, "openai-chat")
        losses.extend(role_losses)
        if session.system:
            losses.append(Loss(LossKind.SYSTEM_PROMPT, details=("mini-swe-agent",)))
    data = session.records.data.removeprefix(_BOM) if native else b"{}"
    bare = native and data.lstrip().startswith(b"[")
    raws = elements(data, None if bare else "messages") if native else []
    convert = _as_items if any(dict_of(loads(raw)).get("object") == "response" for raw in raws) else _unchanged
    found, more_losses = pieces(raws, messages, convert, kinds_of, _with_kind)
    losses.extend(more_losses)
    if bare:
        return Written(splice(data, None, found), name, by_hand=_BY_HAND, losses=losses)
    if not native:
        info = {"config": {"model": {"model_name": session.model or ""}}, "model_stats": {}, "exit_status": ""}
        data = render({"info": info, "messages": [], "trajectory_format": VERSION})
    data = splice(data, "messages", found)
    data = replace_fields(data, {COMPACTED: render(round(time.time(), 3))})
    return Written(data, name, session.id if native else "", by_hand=_BY_HAND, losses=losses)


def _unchanged(item: Item) -> Item:
    return item


def _as_items(item: Item) -> Item:
    """Return a message for an agent on the Responses API: calls in a response, a result as its output."""
    if item["role"] == "tool":
        parts = item["content"]
        output = parts if isinstance(parts, str) else "\n".join(part["text"] for part in parts)
        return {"type": "function_call_output", "call_id": item["tool_call_id"], "output": output}
    if not item.get("tool_calls"):
        return item
    text = item["content"] if isinstance(item["content"], str) else ""
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    calls = [{"type": "function_call", "call_id": call["id"], **call["function"]} for call in item["tool_calls"]]
    return {"object": "response", "output": [*([message] if text else []), *calls]}


def _with_kind(raw: bytes, kind: Kind) -> bytes:
    """Return an item with its kind in `extra`, the only key that is not sent."""
    old = field_of(raw, "extra") or b""
    extra = old if old.startswith(b"{") else b"{}"
    return replace_fields(raw, {"extra": replace_fields(extra, {MARK: render(kind)})})
