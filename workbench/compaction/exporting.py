"""Export a compacted context, and report if the exported file shows another size than planned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.compaction.context import Context
from workbench.compaction.opening import context_at
from workbench.formats.export import Export, export
from workbench.formats.format import no_progress
from workbench.formats.kit.settle import as_user_message
from workbench.formats.loss import Loss, LossKind, count_losses
from workbench.session import Message, Session
from workbench.tokens.anchoring import SessionMeter
from workbench.tokens.sizes import Size

TOLERATED_PERCENT = 2
"""Largest difference in size, in percent, between plan and reopened export that is not reported."""


def export_compacted(
    session: Session, left: Context, messages: Sequence[Message], format_id: str | None = None
) -> Export:
    """Export `messages` of `session`: the context `left` as far as the format can hold it, with its memories.

    A pinned system message becomes a user's text if the format's agent sends only its own system prompt. A loss is
    added if the reopened file has another number of tokens than `left`, because the format cannot hold everything or
    adds something. Raises BadInput as `export` does.
    """
    memories = left.memories if left.memories != session.memories else None
    result = export(session, messages, format_id, memories, export_note=left.export_note)
    pinned = [at for at in range(left.shape.lead) if left.messages[at].id in left.pins]
    if pinned and count_losses(result.written.losses, LossKind.SYSTEM_MESSAGES):
        ids = {left.messages[at].id for at in pinned}
        prompt = left.export_note.prompt - sum(left.layout.sizes.tokens[at] for at in pinned)
        texts = [as_user_message(message) if message.id in ids else message for message in messages]
        result = export(session, texts, format_id, memories, export_note=replace(left.export_note, prompt=prompt))
    promised, shown = left.total, _exported_size(result, left)
    if shown is None or abs(shown.tokens - promised.tokens) * 100 <= TOLERATED_PERCENT * promised.tokens:
        return result
    loss = Loss(LossKind.OTHER_SIZE, 1, (str(shown), str(promised)))
    return replace(result, written=replace(result.written, losses=(*result.written.losses, loss)))


def _exported_size(result: Export, left: Context) -> Size | None:
    """Size that the export will have; None while its session is still being counted, and if it has no size."""
    meter, found = left.layout.sizes.meter, result.found
    if isinstance(found, str) or not isinstance(meter, SessionMeter) or not meter.counted:
        return None
    meter.counter.count_all(found.context(), no_progress, lambda: False)
    return context_at(found, None, meter.counter).total
