"""A ledger of a whole context as a text alone, for whoever keeps and sends messages by other means."""

from __future__ import annotations

from workbench.compaction.context import Context
from workbench.compaction.language import Language
from workbench.compaction.ledger.draft import Draft
from workbench.compaction.ledger.gather import narratives_of, noted
from workbench.compaction.ledger.room import CARRIED_PERCENT, Plan, fitting, shares_of
from workbench.compaction.ledger.ruler import in_tokens
from workbench.compaction.ledger.unread import Unread
from workbench.session import Span


def text_of(context: Context, budget_tokens: int, language: Language = "en") -> str:
    """What a ledger tells of the whole context, in at most so many tokens; earlier summaries are its narrative."""
    whole, ruler = len(context), in_tokens(context)
    shares = shares_of(context, ruler, budget_tokens, (), 100, CARRIED_PERCENT if context.shape.summaries else 0)
    chosen, _ = fitting(noted(context.shape), ruler, shares.ledger, shares.binding)
    plan = Plan(whole, chosen, Unread(frozenset(), {}, 0), squeezed=False)
    made, _, _ = Draft(context, shares, plan, (), 0, (Span(0, whole),), language).made(
        narratives_of(context, context.shape.summaries)
    )
    return made.message.text
