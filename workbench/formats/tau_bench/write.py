"""Write tau-bench results."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.formats.format import Written
from workbench.formats.kit.document import Item, elements, new_name, render, splice
from workbench.formats.kit.json_spans import replace_fields
from workbench.formats.kit.marks import MARK
from workbench.formats.kit.settle import settled
from workbench.formats.openai_chat.embedded import pieces
from workbench.formats.tau_bench import ID
from workbench.formats.tau_bench.read import kinds
from workbench.session import Kind, Message, Session

_BY_HAND = "tau-bench results are a record: no agent resumes them"


def write(session: Session, messages: Sequence[Message]) -> Written:
    """Write a list with one entry: the loaded entry with its messages replaced, or, from another format, a new entry
    with reward 0. Unchanged messages give the loaded bytes."""
    name = new_name(session.path)
    if session.format == ID:
        data, id = session.records.data, session.id
        if list(messages) == list(session.context()):
            return Written(data, name, id, by_hand=_BY_HAND)
        entry = elements(data, None)[0]
        found, losses = pieces(elements(entry, "traj"), messages, _unchanged, kinds, _with_kind)
    else:
        settled_messages, role_losses = settled(messages, None)
        id = session.id or "session"
        entry = render({"task_id": id, "reward": 0.0, "info": {}, "traj": []})
        found, losses = pieces([], settled_messages, _unchanged, kinds, _with_kind)
        if session.system:
            found.insert(0, render({"role": "system", "content": session.system}))
        losses.extend(role_losses)
        data = b"[]"
    return Written(splice(data, None, [splice(entry, "traj", found)]), name, id, by_hand=_BY_HAND, losses=losses)


def _unchanged(item: Item) -> Item:
    return item


def _with_kind(raw: bytes, kind: Kind) -> bytes:
    return replace_fields(raw, {MARK: render(kind)})
