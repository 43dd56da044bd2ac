"""Instruction for an agent's own compaction command: quotations that its summary must keep, on one line.

    /compact Keep these quotations word for word. Rules: “…” “…” Pinned: “…” Open request: “…”

Quoted are the watched rules, the user's rules in force, the rules of rule files that the agent does not send again by
itself, the pinned messages and the open request.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from msgspec import Struct

from workbench.analysis.named_work import newest_request, typed_request
from workbench.analysis.rule_file_states import rule_file_states
from workbench.base.printable import printable
from workbench.base.text import counted
from workbench.compaction.context import Context
from workbench.compaction.shape_facts import facts_of, standing_of
from workbench.formats.format import CompactCommand
from workbench.formats.registry import by_id
from workbench.session import Message, Session
from workbench.tokens import Meter

LIMIT = 500
"""Default limit of the text, in tokens: about ten rules, and as much as Qwen Code reads (2 000 characters). The prompts
for summaries have 500 to 2 000 tokens; a longer instruction would compete with them."""

_LONGEST_TOKEN = 20
"""Most characters of a token. A text longer than `limit` such tokens cannot fit, so it is not counted."""

_Kind = Literal["Rules", "Pinned", "Open request"]
"""Heading of a group of quotations, in the order of the text."""

_HEAD = "Keep these quotations word for word."


class CompactInstruction(Struct, frozen=True):
    """Instruction with its figures.

    `text` is one line, "" if nothing is to be kept or nothing fits; `tokens` its size, at most `limit`. `rules` and
    `pins` are the quoted rules and messages, `left_out` the quotations that did not fit. `agent` is its name, or the
    format's title; `command` is None if the agent has no known compaction command.
    """

    text: str
    tokens: int
    limit: int
    rules: int
    pins: int
    has_request: bool
    left_out: int
    agent: str
    command: CompactCommand | None

    @property
    def line(self) -> str:
        """The line to enter in the agent: the command with the text, or the text alone (`remark` says why)."""
        accepts = self.text and self.command and self.command.takes_instruction
        return f"{self.command.name} {self.text}" if accepts and self.command else self.text

    @property
    def remark(self) -> str:
        """Sentence on an agent whose command takes no instruction; "" if it takes one."""
        if self.command is None:
            return f"{self.agent}: no compaction command is known. Send this text as a message after the compaction."
        if self.command.takes_instruction:
            return ""
        return (
            f"{self.command.name} of {self.agent} takes no instruction: send this text as a message after the "
            "compaction."
        )

    @property
    def words(self) -> str:
        """`3 rules, 1 pin, the open request: 212 tokens; 2 quotations over the limit of 500 tokens left out`."""
        over = f"{counted(self.left_out, 'quotation')} over the limit of {counted(self.limit, 'token')}"
        if not self.text:
            return f"Nothing fits: {over}" if self.left_out else "No rule, pin or open request"
        parts = [counted(number, noun) for number, noun in ((self.rules, "rule"), (self.pins, "pin")) if number]
        quoted = ", ".join([*parts, *(["the open request"] if self.has_request else [])])
        return f"{quoted}: {counted(self.tokens, 'token')}" + (f"; {over} left out" if self.left_out else "")


def compact_instruction(
    session: Session, epoch: int, context: Context, watched: Sequence[str] = (), limit: int = LIMIT
) -> CompactInstruction:
    """Return the instruction for a context of an epoch, with its pins and the watched rules, in at most `limit` tokens.
    Reads every message."""
    known = by_id(session.format)
    command = known.compact_command
    fitted = _Fitted(context.layout.sizes.meter, limit, command.most_characters if command else None)
    request = newest_request([fact for fact in facts_of(context.shape) if fact.kind == "request"])
    # The most important first.
    if request and not request.ok:
        fitted.add("Open request", typed_request(request.text))
    for rule in (*watched, *_rules_in_force(context), *_rules_not_sent_again(session, epoch)):
        fitted.add("Rules", rule)
    for message in context.messages:
        if message.id in context.pins:
            fitted.add("Pinned", _text_of(message))
    return CompactInstruction(
        fitted.text,
        fitted.tokens,
        limit,
        fitted.numbers["Rules"],
        fitted.numbers["Pinned"],
        bool(fitted.numbers["Open request"]),
        fitted.left_out,
        command.agent if command else known.title,
        command,
    )


def _rules_in_force(context: Context) -> Iterator[str]:
    return (one.fact.text for one in standing_of(context.shape) if one.superseded_by is None)


def _rules_not_sent_again(session: Session, epoch: int) -> Iterator[str]:
    """Yield the rules of the project's rule files that were in the context and that the agent does not send by
    itself."""
    for one in rule_file_states(session, epoch):
        if one.in_project and not (one.sent or one.sent_with_calls):
            for rule in one.rules:
                if rule.state in ("in force", "read again") or rule.gone_since == epoch:
                    yield rule.text


def _text_of(message: Message) -> str:
    return message.user_text or message.text or "\n".join(result.text for result in message.results)


@dataclass
class _Fitted:
    """Quotations that fit, by kind. `numbers` counts them, and pins that another one contains; `left_out` the rest."""

    meter: Meter
    limit: int
    most_characters: int | None
    quotations: dict[_Kind, list[str]] = field(default_factory=lambda: {kind: [] for kind in get_args(_Kind)})
    numbers: dict[_Kind, int] = field(default_factory=lambda: dict.fromkeys(get_args(_Kind), 0))
    left_out: int = 0
    text: str = ""
    tokens: int = 0

    def add(self, kind: _Kind, text: str) -> None:
        quotation = " ".join(printable(text).split())
        if not quotation:
            return
        if any(quotation in other for other in self._others(kind)):
            self.numbers[kind] += kind == "Pinned"
            return
        self.quotations[kind].append(quotation)
        line = _text(self.quotations)
        longest = min(self.limit * _LONGEST_TOKEN, self.most_characters or len(line))
        tokens = self.meter.text_tokens(line) if len(line) <= longest else self.limit + 1
        if tokens > self.limit:
            self.quotations[kind].pop()
            self.left_out += 1
        else:
            self.text, self.tokens = line, tokens
            self.numbers[kind] += 1

    def _others(self, kind: _Kind) -> Iterator[str]:
        """Yield the quotations that make one of this kind superfluous if they contain it. A rule is quoted as such,
        although the request may contain it."""
        for other, quotations in self.quotations.items():
            if kind == "Pinned" or other == kind:
                yield from quotations


def _text(quotations: dict[_Kind, list[str]]) -> str:
    groups: Sequence[str] = [
        f"{kind}: {' '.join(f'“{one}”' for one in texts)}" for kind, texts in quotations.items() if texts
    ]
    return " ".join([_HEAD, *groups])
