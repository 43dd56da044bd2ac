"""Exact token counts on the command line, beside the local figures."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from workbench.cli.output import warn
from workbench.compaction.context import Context
from workbench.compaction.outcome import Outcome
from workbench.errors import BadInput
from workbench.session import Message, Session
from workbench.summarizers.exact_counts import Exact, count


@dataclass(frozen=True, slots=True)
class ExactSizes:
    before: Exact
    after: Exact

    def words(self) -> str:
        return f"{self.before.model}\nbefore: {self.before}\nafter: {self.after}"

    def document(self) -> dict[str, Any]:
        return {"before": exact_fields(self.before), "after": exact_fields(self.after)}


def exact_fields(exact: Exact) -> dict[str, Any]:
    return {
        "model": exact.model,
        "tokens": exact.tokens,
        "local": exact.local,
        "difference": exact.difference,
        "ratio": round(exact.ratio, 4),
    }


def count_now(session: Session, context: Context, model: str) -> Exact:
    """Raises BadInput when the API does not count."""
    (exact,) = asyncio.run(_counts(session, context, [context.messages], model))
    return exact


def counted_exactly(session: Session, context: Context, outcome: Outcome, model: str) -> ExactSizes | None:
    """Both counts; None with a note on stderr when the API does not count: the compaction is done all the same."""
    try:
        before, after = asyncio.run(_counts(session, context, [context.messages, outcome.messages], model))
    except BadInput as error:
        warn(str(error))
        return None
    return ExactSizes(before, after)


async def _counts(session: Session, context: Context, several: list[Sequence[Message]], model: str) -> list[Exact]:
    meter = context.layout.sizes.meter
    return [await count(session, messages, meter, model) for messages in several]
