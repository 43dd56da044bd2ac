"""A session at a glance: the facts that lists show before the session is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.formats.kit.names import first_words
from workbench.session import Message, Session


@dataclass(frozen=True, slots=True)
class SessionGlance:
    """A session at a glance. `format` is its id, `tool` the agent's name; `time` is that of the last change, in seconds
    since 1970.

    `part` is its id among several in one file. `tokens`: context and response of the last recorded call, None if
    unknown; `window`: the model's context window if recorded. `compactions` counts recorded ones, a lower bound unless
    `complete`. `whole` is the session itself if the file is so short that all of it was read. Unknown texts are "".
    """

    path: Path
    bytes: int
    time: float
    format: str
    tool: str
    title: str = ""
    request: str = ""
    folder: str = ""
    model: str = ""
    part: str = ""
    tokens: int | None = None
    window: int | None = None
    compactions: int = 0
    complete: bool = False
    whole: Session | None = None

    def matches(self, query: str) -> bool:
        """Return True if every word of `query` occurs in one of the texts."""
        known = (self.tool, self.title, self.request, self.folder, self.model, str(self.path), self.part)
        haystack = "\n".join(known).casefold()
        return all(word in haystack for word in query.casefold().split())


def with_session_facts(
    found: SessionGlance, session: Session, *, is_whole: bool, shows_newest: bool = True
) -> SessionGlance:
    """Return `found` with texts and figures of a session read from parts of its file, or all of it if `is_whole`.

    `shows_newest`: the newest call is in `session`, so that its usage is that of the context.
    """
    return replace(
        found,
        title=session.title,
        request=first_words(session.messages),
        folder=session.cwd or "",
        model=session.model or "",
        tokens=_tokens(session) if shows_newest else None,
        window=session.epochs[-1].window,
        compactions=sum(epoch.ended_by is not None for epoch in session.epochs),
        complete=is_whole,
        whole=session if is_whole else None,
    )


def _tokens(session: Session) -> int | None:
    """Return the tokens of the last recorded call and its response; None after a compaction without a later call."""
    now = session.facts.tokens_now
    if now and now > 0:
        return now
    ended = session.epochs[-2].ended_by if len(session.epochs) > 1 else None
    return _last_context(session.context(), (ended.time if ended else None) or 0.0)


def _last_context(messages: Sequence[Message], since: float) -> int | None:
    for message in reversed(messages):
        usage = message.usage
        if usage is not None and message.bill:
            return message.bill + usage.output if message.time is None or message.time >= since else None
    return None
