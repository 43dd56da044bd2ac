"""Claims of a recorded summary, checked against the context that it replaced.

All claims are looked up (`grounding`). Most of those not found are harmless: names for planned things, added paths,
quotations with corrected spelling. Only quotations and attributed user statements that no message of the context
resembles (`NEAR`) count as unsupported, because an invented order misleads the agent from then on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from workbench.analysis.grounding import Grounding, SummaryChecker, UnsupportedClaim
from workbench.analysis.head_index import stems, texts_of
from workbench.base.text import clip_at_word, counted
from workbench.base.values import json_value
from workbench.compaction.summary_template import summary_inside
from workbench.session import Message, Session
from workbench.session.masked import searched_message

NEAR = 0.4
"""Least share of a claim's words in a message that supports it, in any wording."""

LEAST_WORDS = 4
"""Fewest meaningful words of a claim that is judged."""

_ASKING = re.compile(
    r"\bsummar(?:y|i[sz]e|i[sz]ing)\b.{0,40}\b(?:conversation|transcript|session|context|history|discussion)\b",
    re.IGNORECASE,
)
"""Mention of the request for the summary itself, which is in no message of the context."""

SHOWN, WORDS = 3, 120
"""Most claims that are quoted, and characters of each."""


class RecordedClaims(Struct, frozen=True):
    """Claims of message `message`, the summary that ended `epoch`. `claims` were checked, `not_found` of them do not
    occur in the context, and no message resembles those in `unsupported`."""

    epoch: int
    message: str
    claims: int
    not_found: int
    unsupported: tuple[UnsupportedClaim, ...]

    def __str__(self) -> str:
        """`The summary recorded after epoch 1 makes 1 unsupported claim: “Standing order: keep going …”.`"""
        quoted = [f"“{clip_at_word(one.text, WORDS)}”" for one in self.unsupported[:SHOWN]]
        more = f" and {len(self.unsupported) - SHOWN} more" if len(self.unsupported) > SHOWN else ""
        found = counted(len(self.unsupported), "unsupported claim")
        of = f"The summary recorded after epoch {self.epoch} makes"
        return f"{of} {found}: {', '.join(quoted)}{more}." if quoted else f"{of} no unsupported claim."


def recorded_claims(session: Session, epoch: int) -> RecordedClaims | None:
    """Return the claims of the summary that ended `epoch`; None without a readable one."""
    ended = session.epochs[epoch - 1].ended_by if 1 <= epoch <= len(session.epochs) else None
    if ended is None or ended.summary is None:
        return None
    summary = next((message for message in session.messages if message.id == ended.summary), None)
    text = _summary_text(summary) if summary else ""
    if summary is None or not text.strip():
        return None
    context = tuple(map(searched_message, session.context(epoch)))
    system = "\n".join(filter(None, (session.system, session.memories)))
    grounding = SummaryChecker(context, system).check(text)
    unsupported = _unsupported_statements(grounding, context)
    return RecordedClaims(epoch, summary.id, grounding.claims, len(grounding.unsupported), unsupported)


def _summary_text(summary: Message) -> str:
    """Return a summary without the tags or object around it (Letta: `{"type": …, "message": …}`)."""
    inside = summary_inside(summary.text)
    wrapped = json_value(inside) if inside.startswith("{") else None
    text = wrapped.get("message") if isinstance(wrapped, dict) else None
    return text if isinstance(text, str) else inside


def _unsupported_statements(grounding: Grounding, context: Sequence[Message]) -> tuple[UnsupportedClaim, ...]:
    """Return quotations and attributions that no message resembles, each once."""
    statements = {one.text: one for one in grounding.unsupported if one.kind in ("quotation", "attribution")}
    words = {
        text: found for text in statements if len(found := stems(text)) >= LEAST_WORDS and not _ASKING.search(text)
    }
    if not words:
        return ()
    contents = [stems("\n".join(texts_of(message))) for message in context]
    return tuple(
        statements[text]
        for text, claimed in words.items()
        if max((len(claimed & own) for own in contents), default=0) < NEAR * len(claimed)
    )
