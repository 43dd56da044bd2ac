"""A fact: something stated in the messages that a summary should not lose."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

FactKind = Literal[
    "request", "instruction", "stated", "decision", "path", "command", "error", "identifier", "number", "url"
]


ErrorState = Literal["resolved", "open", "unknown"]
"""State of an error: `open` if it still failed at the end, `unknown` if no call shows its state."""


class Fact(Struct, frozen=True):
    """One fact and its source: `message` is the message's id, `index` its position in the searched messages.

    kind         text                          detail                                          ok
    request      the user's text, complete     ""                                              answered before the next?
    instruction  the sentence, verbatim        ""                                              None
    stated       the sentence, verbatim        ""                                              None
    decision     the sentence, verbatim        the agent's question that it answers, or ""     None
    path         the normalized path           viewed, created, modified, deleted, reverted,   did the call succeed?
                                               or mentioned
    command      the command line              last line of its output                         did it? None: unknown
    error        the line that names it        the failed call                                 None: see `state`
    identifier   the identifier                its sort and how often it is used               None
    number       the number with its unit      the words around it                             None
    url          the address                   ""                                              None
    """

    kind: FactKind
    text: str
    message: str
    index: int
    detail: str = ""
    ok: bool | None = None
    state: ErrorState | Literal[""] = ""
    """State of an error; "" for other kinds."""
    by: str = ""
    """Fix of an error, or `user` or `agent` who made a decision."""
