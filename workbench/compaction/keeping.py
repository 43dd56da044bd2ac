"""What stays beside a summary, what of the head is new, and in which order an API will take it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.compaction.context import Context
from workbench.compaction.fates import pinned_with_pairs, without
from workbench.compaction.outcome import Kept, Made, Piece
from workbench.compaction.policy import EarlierSummary
from workbench.compaction.text import summary_inside
from workbench.session import Message, Role, Span, Text, leading_system


def with_pairs(context: Context, indexes: Iterable[int]) -> frozenset[int]:
    """These messages and every message at the other end of their tool pairs."""
    partners = context.layout.partners
    waiting, found = list(indexes), set[int]()
    while waiting:
        index = waiting.pop()
        if index not in found:
            found.add(index)
            waiting.extend(partners.get(index, ()))
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Head:
    """The messages before `stop`, sorted by what is to become of them. `lead` counts the leading system messages.

    `kept`: what stays of them whatever the strategy does (own system messages, earlier summaries if the policy keeps
    them, both with their pairs, and pins); `pins` are those of the whole context. `fresh`: what a summary is to be made
    of, pins included; `previous`: the earlier summary's text where the policy nests or extends it.
    """

    lead: int
    stop: int
    kept: frozenset[int]
    pins: frozenset[int]
    earlier: tuple[int, ...]
    fresh: tuple[Span, ...]
    previous: str
    carry_on: bool

    @property
    def indexes(self) -> list[int]:
        """The fresh messages' indexes, ascending."""
        return [index for span in self.fresh for index in range(span.start, span.stop)]

    @property
    def newest(self) -> int:
        """The last fresh message: summaries are named after it."""
        return self.fresh[-1].stop - 1

    def is_spent(self, kept: Iterable[int]) -> bool:
        """Whether nothing fresh would go: there is none, or all of it is kept."""
        return not without(self.fresh, kept)


def head_of(context: Context, stop: int, choice: EarlierSummary, template: str) -> Head:
    """The head before message `stop`. `template` is how this strategy frames its own summaries."""
    messages, layout = context.messages, context.layout
    lead = leading_system(messages)
    pins = pinned_with_pairs(context)
    earlier = tuple(index for index in layout.summaries if lead <= index < stop)
    own = [index for index in layout.own_system if lead <= index < stop]
    start = earlier[-1] + 1 if earlier and choice == "extend" else lead
    staying = with_pairs(context, [*own, *(earlier if choice == "keep" else ())])
    previous = ""
    if choice in ("nest", "extend"):
        texts = [messages[index].text for index in earlier if messages[index].role != "assistant"]
        previous = "\n\n".join(unframed(text, template) for text in texts)
    return Head(
        lead,
        stop,
        frozenset(index for index in pins | staying if lead <= index < stop),
        pins,
        earlier,
        tuple(without([Span(start, stop)], {*own, *earlier})) if start < stop else (),
        previous,
        carry_on=choice == "extend",
    )


def unframed(text: str, template: str) -> str:
    """An earlier summary's own words, without the template that this strategy put around them."""
    before, _, after = template.partition("{summary}")
    before, after = before.strip(), after.strip()
    bare = text.strip()
    if before and bare.startswith(before) and bare.endswith(after):
        return bare[len(before) : len(bare) - len(after)].strip()
    return summary_inside(text)


def summary_made(context: Context, head: Head, gone: Sequence[Span], role: Role, text: str, reply: str) -> list[Made]:
    """The summary message, named after the newest message that it stands for, and the agent's reply to it if any."""
    newest = context.messages[head.newest]
    name = f"summary-{newest.id}"
    made = [Made(Message(name, role, (Text(text),), kind="summary", time=newest.time), tuple(gone))]
    if reply:
        answer = Message(f"{name}:reply", "assistant", (Text(reply),), kind="summary", time=newest.time)
        made.append(Made(answer, tuple(gone)))
    return made


def run_of(start: int, stop: int) -> list[Kept]:
    """Messages `start`..`stop` as they are; nothing for none."""
    return [Kept(start, stop)] if start < stop else []


def in_order(
    context: Context, lead: int, before: Sequence[Piece], made: Sequence[Made], after: Sequence[Kept]
) -> tuple[Piece, ...]:
    """Leading system messages, `before`, the new messages, `after`.

    Where `before` would let the agent speak first, which an API refuses, the new messages go in front of it.
    """
    if before and not _may_begin(context, lead, before[0]):
        return (*run_of(0, lead), *made, *before, *after)
    return (*run_of(0, lead), *before, *made, *after)


def _may_begin(context: Context, lead: int, piece: Piece) -> bool:
    first = piece.message if isinstance(piece, Made) else context.messages[piece.start]
    return may_begin(first) or first is context.messages[lead]


def may_begin(message: Message) -> bool:
    """Whether a conversation may begin with this message."""
    return message.role in ("user", "system")
