"""The context window of a session's epoch, and its source; the only place that ranks the sources.

Windows that agents give to models are in the dated table `agents.toml` in this folder.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Literal

from msgspec import Struct

from workbench.base.figures import grouped
from workbench.formats.glance import SessionGlance
from workbench.session import Session
from workbench.tokens.models import find, plain_name

TABLE = Path(__file__).resolve().parent / "agents.toml"


class Allowance(Struct, frozen=True):
    """Window in tokens that an agent (id of its format) gives to models whose names have certain beginnings, according
    to `stated_by`.

    `provider`: the only provider that it applies to, in the agent's words; "" for any. `answer`: tokens that the agent
    reserves for an answer, None for the model's longest answer.
    """

    agent: str
    models: tuple[str, ...]
    window: int
    stated_by: str
    provider: str = ""
    answer: int | None = None


def allowed(agent: str, model: str | None, provider: str = "") -> Allowance | None:
    """Return the entry for a model at a provider with the longest matching beginning of its name; None without one."""
    name = plain_name(model or "")
    fitting = [
        (len(beginning), one)
        for one in allowances()
        if one.agent == agent and one.provider in ("", provider)
        for beginning in one.models
        if name == beginning or name.startswith((f"{beginning}-", f"{beginning}."))
    ]
    return max(fitting, key=lambda pair: pair[0])[1] if fitting else None


@cache
def allowances() -> tuple[Allowance, ...]:
    """Every entry of the table."""
    entries = tomllib.loads(TABLE.read_text(encoding="utf-8"))["window"]
    return tuple(
        Allowance(
            entry["agent"],
            tuple(entry["models"]),
            entry["window"],
            entry["told"],
            entry.get("provider", ""),
            entry.get("answer"),
        )
        for entry in entries
    )


Source = Literal["given", "recorded", "agent", "table", "settings"]

_WORDS: dict[Source, str] = {
    "given": "as given",
    "recorded": "recorded by the session",
    "agent": "as the agent gives it",
    "table": "by the table of models",
    "settings": "by your settings",
}


class Window(Struct, frozen=True):
    """Context window in tokens, above 0. `source`: `given` by the user for this session; `recorded` in the session;
    `agent`, if it gives its model less than the API accepts; `table` of models; or the user's `settings` for unknown
    models. `stated_by`: the source in more detail, if known. `answer`: tokens that the agent reserves for the longest
    answer, None if unknown."""

    tokens: int
    source: Source
    stated_by: str = ""
    answer: int | None = None

    @property
    def origin(self) -> str:
        """Source in words."""
        return self.stated_by or _WORDS[self.source]

    def __str__(self) -> str:
        return f"{grouped(self.tokens)} tokens, {self.origin}"


def known_window(
    set_by_user: int | None, recorded: int | None, agent: str, model: str | None, provider: str = ""
) -> Window | None:
    """Return the first window that is known: the user's, the recorded one, the one that the agent (id of its format)
    gives the model at that provider, the table's; None if unknown. Raises BadInput for a broken table."""
    info = find(model) if model else None
    answer = info.max_output if info else None
    if set_by_user:
        return Window(set_by_user, "given", answer=answer)
    if recorded:
        return Window(recorded, "recorded", answer=answer)
    if allowance := allowed(agent, model, provider):
        return Window(allowance.window, "agent", allowance.stated_by, allowance.answer or answer)
    return Window(info.window, "table", answer=answer) if info else None


def window_of(session: Session, epoch: int, set_by_user: int | None = None) -> Window | None:
    """Return the window of an epoch (from 1): the one recorded for its calls, else that of its last model. Raises
    BadInput for a broken table."""
    found = session.epochs[epoch - 1]
    return known_window(set_by_user, found.window, session.format, _model_of(session, epoch), session.facts.provider)


def _model_of(session: Session, epoch: int) -> str | None:
    """Model of the session; for an earlier epoch, the model of its newest message that names one."""
    if epoch == len(session.epochs):
        return session.model
    members = (session.messages[number] for number in reversed(session.epochs[epoch - 1].members))
    return next((one.model for one in members if one.model and one.kind != "meta"), session.model)


def still(old: Window | None, found: Window | None) -> Window | None:
    """Return the window after a change of epoch or a new reading. The old one is kept if the user set it, or if it
    comes from the settings and no other is known; else `found` is returned."""
    if old is not None and (old.source == "given" or (old.source == "settings" and found is None)):
        return old
    return found


def glanced_window(found: SessionGlance) -> Window | None:
    """Return the context window of the newest epoch, as recorded or from the table of models."""
    return known_window(None, found.window, found.format, found.model)


def fullness(found: SessionGlance) -> float | None:
    """Return the share of its window that the last recorded call took; None if tokens or window are unknown."""
    window = glanced_window(found)
    return found.tokens / window.tokens if found.tokens and window else None
