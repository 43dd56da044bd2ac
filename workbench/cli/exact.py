"""Exact token counts from the API, for commands."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from workbench.base.errors import BadInput
from workbench.cli.output import only, plain, warn
from workbench.compaction.context import Context
from workbench.compaction.outcome import Outcome
from workbench.session import Message, Session
from workbench.summarizers.by_name import parse_model
from workbench.summarizers.exact_counts import ExactCount, count_exactly, no_scale_reason, scale_from
from workbench.tokens import Scale, scales


class ExactSizes(Struct, frozen=True):
    before: ExactCount
    after: ExactCount
    scale: Scale | None = None

    def words(self) -> str:
        words = f"{self.before.model}\nbefore: {self.before}\nafter: {self.after}"
        return words + (f"\nfrom now on this session's figures are × {self.scale.value:.2f}" if self.scale else "")


@plain.register
def _(exact: ExactCount) -> dict[str, Any]:
    return {
        **only(exact, "model", "tokens", "local_tokens=local", "difference_tokens=difference"),
        "ratio": round(exact.ratio, 4),
    }


@plain.register
def _(scale: Scale) -> dict[str, Any]:
    return {"value": round(scale.value, 4), "source": scale.source}


def count_now(session: Session, context: Context, model: str) -> ExactCount:
    """Return the exact count of the context, and save the scale that it gives the session. Raises BadInput if the API
    does not count."""
    (exact,) = asyncio.run(_counts(session, context, [context.messages], model))
    _save_scale(session, context, exact)
    return exact


def counted_exactly(session: Session, context: Context, outcome: Outcome, model: str) -> ExactSizes | None:
    """Return the exact counts before and after; None with a note on stderr if the API does not count."""
    try:
        before, after = asyncio.run(_counts(session, context, [context.messages, outcome.messages], model))
    except BadInput as error:
        warn(str(error))
        return None
    return ExactSizes(before, after, _save_scale(session, context, before))


def _save_scale(session: Session, context: Context, exact: ExactCount) -> Scale | None:
    meter = context.layout.sizes.meter
    scale = scale_from(meter, exact, session.model)
    if scale:
        scales.keep(session, scale)
    else:
        warn(f"{no_scale_reason(meter, exact, session.model)}.")
    return scale


async def _counts(session: Session, context: Context, several: list[Sequence[Message]], model: str) -> list[ExactCount]:
    meter = context.layout.sizes.meter
    name = parse_model(model)
    warn(f"the whole context goes to {name.connection.address}, where {name.model} counts it.")
    return [await count_exactly(session, messages, meter, model) for messages in several]
