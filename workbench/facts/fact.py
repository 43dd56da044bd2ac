"""What a fact is: something a stretch of messages says that a summary should not lose."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

FactKind = Literal[
    "request", "instruction", "stated", "decision", "path", "command", "error", "identifier", "number", "url"
]


ErrorState = Literal["resolved", "open", "unknown"]
"""How an error ended: `open` where it was seen failing to the end, `unknown` where nothing tells."""


class Fact(Struct, frozen=True):
    """One fact and the message it stands in: `message` is its id, `index` its place in the messages looked at.

    kind         text                       detail                                          ok
    request      the user's own words, whole  ""                                            answered before the next?
    instruction  the sentence, verbatim     ""                                              None
    stated       the sentence, verbatim     ""                                              None
    decision     the sentence, verbatim     the question of the agent's that it answers, or "" None
    path         the normalised path        viewed, created, modified, deleted, reverted,   did the call succeed?
                                            or mentioned
    command      the command line           last line of its output                         did it? None: unknown
    error        the line that names it     what it came from                               None: see `state`
    identifier   the identifier             its sort and how often it is used               None
    number       the number with its unit   the words around it                             None
    url          the address                ""                                              None
    """

    kind: FactKind
    text: str
    message: str
    index: int
    detail: str = ""
    ok: bool | None = None
    state: ErrorState | Literal[""] = ""
    """Of an error: how it ended."""
    by: str = ""
    """Of an error: what resolved it. Of a decision: who decided, `user` or `agent`."""
