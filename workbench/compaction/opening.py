"""Open an epoch of a session as the context that a model would get, without any strategy, policy or plan."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from workbench.base.errors import BadInput
from workbench.compaction.context import Context, Layout
from workbench.compaction.shape import Shape
from workbench.compaction.stored_history import first_context_of, stored_history_of
from workbench.formats.registry import by_id
from workbench.formats.roles import Api
from workbench.session import Session
from workbench.tokens import Counter, Scale, session_sizes
from workbench.tokens.models import plain_name
from workbench.tokens.window import window_of

RULES = "code_law.md"
RULES_CHARS = 200_000
_MAKERS: dict[str, Api] = {
    "claude": "anthropic-messages",
    "gemini": "gemini",
    "gpt": "openai-chat",
    "o1": "openai-chat",
    "o3": "openai-chat",
    "o4": "openai-chat",
}


def context_at(
    session: Session, epoch: int | None, counter: Counter, *, window: int | None = None, scale: Scale | None = None
) -> Context:
    """Return the context of an epoch (from 1; None for the newest). Its sizes use what `counter` has counted so far,
    multiplied by `scale` if an exact count gave one. `window`: context window set by the user, in tokens.

    Raises BadInput for an epoch that the session does not have.
    """
    number = epoch_of(session, epoch)
    messages = session.context(number)
    return Context(
        Layout(Shape(messages), session_sizes(session, number, counter, scale)),
        limit=window_of(session, number, window),
        model=session.model,
        system=session.system,
        tools=session.tools,
        memories=session.memories,
        rules=_project_rules(session.cwd),
        transcript=transcript_of(session),
        summary_versions=session.facts.summary_versions,
        stored_history=stored_history_of(session, number),
        first_context=first_context_of(session, number),
        overflow_error_seen=_overflowed(session, number),
        api=api_of(session),
    )


def transcript_of(session: Session) -> str:
    """Name of the session's own file without its folder, "" if it has none; an agent can look it up in its own folder.
    Undecodable bytes become U+FFFD, because a request cannot contain them."""
    return os.fsencode(session.path.name).decode("utf-8", "replace") if session.path else ""


def api_of(session: Session) -> Api | None:
    """API of a session: its format's, else that of the maker of its model; None if neither is known."""
    with suppress(BadInput):
        if api := by_id(session.format).api:
            return api
    name = plain_name(session.model or "")
    return next((api for start, api in _MAKERS.items() if name.startswith(start)), None)


def epoch_of(session: Session, epoch: int | None) -> int:
    """Number of an epoch, None for the newest. Raises BadInput if there is no such epoch."""
    last = len(session.epochs)
    if epoch is not None and not 1 <= epoch <= last:
        raise BadInput(f"{session.path}: epoch {epoch} does not exist; choose 1 to {last}.")
    return last if epoch is None else epoch


def recounted(context: Context, session: Session, epoch: int, counter: Counter, scale: Scale | None = None) -> Context:
    """Return `context`, which is epoch `epoch` of `session`, with sizes that use what `counter` has counted so far."""
    sizes = session_sizes(session, epoch, counter, scale)
    return context.with_(layout=Layout(context.shape, sizes))


def _overflowed(session: Session, epoch: int) -> bool:
    """True if an error "prompt is too long" was recorded while this epoch was the context."""
    errors = [error.time for error in session.facts.overflow_errors if error.time is not None]
    times = [message.time for message in session.context(epoch) if message.time is not None]
    last = epoch == len(session.epochs)
    return any(times and times[0] <= error and (last or error <= times[-1]) for error in errors)


def _project_rules(cwd: str | None) -> str:
    """First `RULES_CHARS` characters of CODE_LAW.md (any case) in the session's project directory, "" without one."""
    if not cwd:
        return ""
    try:
        found = sorted(path for path in Path(cwd).iterdir() if path.name.lower() == RULES and path.is_file())
        return found[0].read_text("utf-8", "replace")[:RULES_CHARS] if found else ""
    except (OSError, ValueError):  # a session's folder may be any string, even with a NUL
        return ""
