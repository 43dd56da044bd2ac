"""Rules of the APIs for the roles of a conversation's messages.

Tool results are the user's turn in the first two APIs below; the session's own system messages are no turn in any.

    Anthropic Messages  system messages are in front, the user opens, adjacent messages of one role are joined, and
                        results come first in the turn after their calls: https://docs.anthropic.com/en/api/messages
    Gemini              system messages are in front, the user opens, a call comes directly after the user or results,
                        and results directly after calls: https://ai.google.dev/gemini-api/docs/function-calling
    OpenAI Chat         only results come between calls and their last result, otherwise any order:
                        https://platform.openai.com/docs/api-reference/chat
    OpenAI Responses    any order
    unknown             the user or a system message opens
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Literal, NamedTuple

from msgspec import Struct

from workbench.session import Message

Api = Literal["anthropic-messages", "openai-chat", "openai-responses", "gemini"]
"""Conversation API, which determines the rules for roles."""

GAP = "[…]"
"""Text of a user message inserted where an API requires one; the same in any language."""


def is_gap(message: Message) -> bool:
    return message.kind == "meta" and message.text == GAP


class Roles(Struct, frozen=True):
    """Role rules of an API. `apart`: system messages are no turns but come before all. `opens`: roles of the first
    message. `joins`: adjacent messages of one role become one turn. `results_next`: only results may follow calls.
    `calls_answer`: a call comes after the user or results, never after a response."""

    title: str
    apart: bool = False
    opens: tuple[str, ...] = ("user", "system", "assistant")
    joins: bool = False
    results_next: bool = False
    calls_answer: bool = False

    def is_turn(self, message: Message) -> bool:
        """Return True for a message among the turns of the conversation."""
        return not message.is_own_system and not (self.apart and message.role == "system")

    def why_not(self, before: Message | None, message: Message) -> str:
        """Return the reason why a turn may not follow the one before it, or open; "" if it may."""
        if before is None:
            return (
                "" if message.role in self.opens else f"opens the conversation, which the {message.role} role may not"
            )
        if self.calls_answer and message.calls and before.role == "assistant":
            return "has a call right after an answer"
        return ""


KNOWN: dict[Api | None, Roles] = {
    "anthropic-messages": Roles("Anthropic Messages", apart=True, opens=("user",), joins=True, results_next=True),
    "gemini": Roles("Gemini", apart=True, opens=("user",), results_next=True, calls_answer=True),
    "openai-chat": Roles("OpenAI Chat", results_next=True),
    "openai-responses": Roles("OpenAI Responses"),
    None: Roles("Unknown API", opens=("user", "system")),
}


class RoleRefusal(NamedTuple):
    """A message, by its id, and the reason why an API would reject it."""

    id: str
    why: str


def role_refusals(messages: Iterable[Message], api: Api | None) -> Iterator[RoleRefusal]:
    """Yield the messages that the API would reject, in order."""
    roles = KNOWN[api]
    before: Message | None = None
    called: set[str] = set()
    waiting: set[str] = set()
    between = False
    for message in filter(roles.is_turn, messages):
        if why_not := roles.why_not(before, message):
            yield RoleRefusal(message.id, why_not)
        if message.role == "tool":
            answered = {result.call_id for result in message.results} & called
            if roles.results_next and answered and (between or not answered <= waiting):
                yield RoleRefusal(message.id, "has a result that is not right after its call")
        elif message.role == "assistant":
            joined = roles.joins and before is not None and before.role == "assistant"
            calls = {call.id for call in message.calls}
            called |= calls
            waiting = calls | (waiting if joined else set())
            between = False
        else:
            between = True
        before = message


def joined_turns(messages: Iterable[Message]) -> int:
    """Count the messages that follow one of the same role; tool results count as the user's."""
    roles = ["assistant" if message.role == "assistant" else "user" for message in messages if message.role != "system"]
    return sum(one == next for one, next in pairwise(roles))
