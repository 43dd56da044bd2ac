"""The ledger's message, made to fit its budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.base.figures import grouped
from workbench.base.text import clip_at_sentence
from workbench.compaction.context import Context
from workbench.compaction.language import Language
from workbench.compaction.ledger.entries import counted_by_group
from workbench.compaction.ledger.gather import Noted, noted, numbering
from workbench.compaction.ledger.room import Plan, Shares, cost_of
from workbench.compaction.ledger.ruler import Ruler
from workbench.compaction.ledger.text import Ledger, written
from workbench.compaction.outcome import Made
from workbench.session import Message, Span, Text


@dataclass(frozen=True)
class Draft:
    """What the ledger's message is made from. `besides`: what the rest of the result takes."""

    context: Context
    shares: Shares
    plan: Plan
    staying: tuple[int, ...]
    besides: int
    stands_for: tuple[Span, ...]
    language: Language

    def made(self, narrative: str) -> tuple[Made, tuple[Noted, ...], tuple[str, ...]]:
        """The message, the entries it has, and lines for the trace. The narrative gives way before what is binding,
        and whole lines cost a little more or less than apart: what is over goes from the end. What is binding does not
        give way to pins and to what is not read yet."""
        ruler, cut, chosen = self.shares.ruler, self.plan.cut, self.plan.chosen
        said = [one for one in noted(self.context.shape) if one.first < cut]
        narrative = clip_at_sentence(narrative, self.shares.narrative_chars)
        while True:
            ledger = self._ledger(chosen, said, narrative)
            message = self._message(ledger)
            over = self.besides + ruler.of_message(message) - self.shares.budget
            if over <= 0 or not (chosen or narrative):
                break
            if self.plan.squeezed and not narrative and chosen[-1].entry.binding:
                break
            if narrative and (not chosen or chosen[-1].entry.binding):
                narrative = (
                    clip_at_sentence(narrative, max(len(narrative) - 4 * over, 0)) if over < len(narrative) else ""
                )
            else:
                chosen = _without_last(chosen, ruler, over)
        lines = [
            f"budget: {grouped(self.shares.budget)} {ruler.unit}; ledger {grouped(ruler.of_message(message))} with "
            f"{len(chosen)} of {len(said)} entries, tail {grouped(ruler.span(cut, len(self.context)))}"
        ]
        if ledger.left_out:
            counts = ", ".join(f"{count} {group}" for group, count in ledger.left_out)
            lines.append(f"left out for lack of room: {counts}")
        if over > 0:
            lines.append(
                f"over the budget by {grouped(over)} {ruler.unit}: what stays and what the user wants take that much"
            )
        return Made(message, self.stands_for), chosen, tuple(lines)

    def _ledger(self, chosen: Sequence[Noted], said: Sequence[Noted], narrative: str) -> Ledger:
        number = numbering(self.context.shape)
        there = {id(one) for one in chosen}
        left_out = counted_by_group((one.entry for one in said if id(one) not in there), self.language)
        entries = sorted((one.entry for one in chosen), key=lambda entry: entry.source)
        pinned, upto = number.after_cut(self.staying, self.plan.cut)
        return Ledger(upto, pinned, tuple(entries), narrative, left_out, self.language)

    def _message(self, ledger: Ledger) -> Message:
        newest = self.context.messages[self.stands_for[-1].stop - 1]
        return Message(f"summary-{newest.id}", "user", (Text(written(ledger)),), kind="summary", time=newest.time)


def _without_last(chosen: tuple[Noted, ...], ruler: Ruler, over: int) -> tuple[Noted, ...]:
    """Without as many of the least important as take `over`."""
    left = list(chosen)
    while left and over > 0:
        over -= cost_of(left.pop(), ruler)
    return tuple(left)
