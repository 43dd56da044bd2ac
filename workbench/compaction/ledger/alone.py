"""Ledger of a whole context as one text: the only part of the ledger that the Python library uses directly."""

from __future__ import annotations

from workbench.base.secrets import without_secrets
from workbench.base.text import clip_at_sentence
from workbench.compaction.context import Context
from workbench.compaction.language import Language
from workbench.compaction.ledger.gather import narratives_of
from workbench.compaction.ledger.plan import planned
from workbench.compaction.ledger.room import LedgerTask
from workbench.compaction.ledger.ruler import in_tokens


def ledger_text(context: Context, budget_tokens: int, language: Language = "en") -> str:
    """Ledger of the whole context in at most `budget_tokens` tokens; the text of earlier summaries is its narrative."""
    narrative = clip_at_sentence(without_secrets(narratives_of(context, context.shape.summaries)), budget_tokens // 2)
    task = LedgerTask(context, in_tokens(context), frozenset(), language, first=len(context) + 1)
    return planned(task, budget_tokens, narrative).text
