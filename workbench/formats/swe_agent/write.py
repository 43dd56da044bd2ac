"""Write SWE-agent trajectories."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workbench.formats.format import Written
from workbench.formats.kit.document import elements, parse, render, splice
from workbench.formats.kit.json_spans import replace_fields
from workbench.formats.kit.marks import MARK, STALE_USAGE
from workbench.formats.kit.settle import settled
from workbench.formats.kit.values import dict_of
from workbench.formats.loss import Loss, Losses, LossKind
from workbench.formats.openai_chat.embedded import Item, pieces
from workbench.formats.swe_agent import ID
from workbench.formats.swe_agent.read import kinds_of
from workbench.session import Kind, Message, Session

_TYPES = {"system": "system_prompt", "assistant": "action"}
_BY_HAND = "a trajectory is a record: no agent resumes it"


def write(session: Session, messages: Sequence[Message]) -> Written:
    """Replace the history; the steps of the trajectory are kept. SWE-agent has no command that resumes."""
    native = session.format == ID
    losses: Losses = []
    messages = [message for message in messages if message.blocks]
    name = f"{session.path.name.split('.')[0] if session.path else 'session'}.compacted.traj"
    if native and messages == list(session.context()):
        return Written(session.records.data, name, by_hand=_BY_HAND)
    if native:
        data = replace_fields(session.records.data, {STALE_USAGE: b"true"})
        raws = elements(data, "history")
    else:
        messages, role_losses = settled(messages, "openai-chat")
        losses.extend(role_losses)
        if session.system:
            losses.append(Loss(LossKind.SYSTEM_PROMPT, details=("SWE-agent",)))
        data, raws = render({"environment": "", "trajectory": [], "history": [], "info": {}}), []
    agent = next((i["agent"] for i in _items(session) if isinstance(i.get("agent"), str)), "main") if native else "main"
    found, more_losses = pieces(raws, messages, lambda item: _history_item(item, agent), kinds_of, _with_kind)
    losses.extend(more_losses)
    if native:
        losses.append(Loss(LossKind.TRAJECTORY_KEPT))
    return Written(splice(data, "history", found), name, by_hand=_BY_HAND, losses=losses)


def _items(session: Session) -> list[Item]:
    document = parse(session.path or Path("session"), session.records.data)[0]
    return [dict_of(item) for item in document["history"]]


def _history_item(item: Item, agent: str) -> Item:
    """Return a chat item with SWE-agent's keys. Its content is never null."""
    role = item["role"]
    history_item = {
        **item,
        "content": item.get("content") or "",
        "agent": agent,
        "message_type": _TYPES.get(role, "observation"),
    }
    if role == "tool":
        history_item["tool_call_ids"] = [history_item.pop("tool_call_id")]
    if role == "assistant":
        history_item |= {
            "thought": history_item["content"] if isinstance(history_item["content"], str) else "",
            "action": "",
        }
    return history_item


def _with_kind(raw: bytes, kind: Kind) -> bytes:
    return replace_fields(raw, {MARK: render(kind)})
