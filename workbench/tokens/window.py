"""The context window of a session's epoch, and who says so: the one place that knows which word weighs more."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from workbench.base.figures import grouped
from workbench.session import Session
from workbench.tokens.agents import allowed
from workbench.tokens.models import find

Source = Literal["given", "recorded", "agent", "table", "settings"]

_WORDS: dict[Source, str] = {
    "given": "as given",
    "recorded": "recorded by the session",
    "agent": "as the agent gives it",
    "table": "by the table of models",
    "settings": "by your settings",
}


class Window(Struct, frozen=True):
    """A context window in tokens, above 0, and its source: `given` by the person for this session, `recorded` by the
    session, the `agent` that gives its model less than the API takes, the `table` of models, or the person's `settings`
    for models that nobody knows. `told` is who says so where there is more to say than that. `answer` are the tokens of
    the longest answer for which an agent leaves room in it, None where that is not known."""

    tokens: int
    source: Source
    told: str = ""
    answer: int | None = None

    @property
    def origin(self) -> str:
        """The source in words."""
        return self.told or _WORDS[self.source]

    def __str__(self) -> str:
        return f"{grouped(self.tokens)} tokens, {self.origin}"


def known_window(
    given: int | None, recorded: int | None, agent: str, model: str | None, provider: str = ""
) -> Window | None:
    """What the person says, else what the session records, else what the agent (its format's id) gives the model by
    that provider, else what the table knows of it; None where nobody says anything. Raises BadInput for a broken
    table."""
    info = find(model) if model else None
    answer = info.max_output if info else None
    if given:
        return Window(given, "given", answer=answer)
    if recorded:
        return Window(recorded, "recorded", answer=answer)
    if given_by := allowed(agent, model, provider):
        return Window(given_by.window, "agent", given_by.told, given_by.answer or answer)
    return Window(info.window, "table", answer=answer) if info else None


def window_of(session: Session, epoch: int, given: int | None = None) -> Window | None:
    """The window of an epoch (from 1): what was recorded for its own calls, or, by the tables, that of the model which
    answered last in it. Raises BadInput for a broken table."""
    found = session.epochs[epoch - 1]
    return known_window(given, found.window, session.format, _model_of(session, epoch), session.facts.provider)


def _model_of(session: Session, epoch: int) -> str | None:
    """The session's model; in an earlier epoch the one that answered last there."""
    if epoch == len(session.epochs):
        return session.model
    members = (session.messages[number] for number in reversed(session.epochs[epoch - 1].members))
    return next((one.model for one in members if one.model and one.kind != "meta"), session.model)


def still(old: Window | None, found: Window | None) -> Window | None:
    """The window of another epoch, or of a newer reading, after one was in force: what the person gave stays in force,
    the settings do where nothing else is known."""
    if old is not None and (old.source == "given" or (old.source == "settings" and found is None)):
        return old
    return found
