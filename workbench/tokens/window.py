"""Context window of an epoch, and where the number comes from. Only this module ranks the sources.

Some agents give a model a smaller window than its API. These are in the dated table `agents.toml` in this folder.
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
    """Entry of the table: the window in tokens that an agent gives to some models.

    `agent`: id of its format. `models`: beginnings of model names. `stated_by`: source of the number. `provider`: the
    only provider that the entry is for, as the agent names it; "" for any. `answer`: tokens reserved for an answer;
    None: the model's longest answer.
    """

    agent: str
    models: tuple[str, ...]
    window: int
    stated_by: str
    provider: str = ""
    answer: int | None = None


def allowed(agent: str, model: str | None, provider: str = "") -> Allowance | None:
    """Return the table's entry for a model at a provider, None without one. If several match, the one with the longest
    beginning of the name. A beginning matches up to "-", "." or the end of the name."""
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
    """Return all entries of the table."""
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
    "given": "set for this session",
    "recorded": "recorded by the session",
    "agent": "set by the agent",
    "table": "by the table of models",
    "settings": "by your settings",
}


class Window(Struct, frozen=True):
    """Context window.

    `tokens`: its size, above 0. `source`: `given`: set by the user for this session. `recorded`: in the session file.
    `agent`: the agent's own window for the model. `table`: table of models. `settings`: the user's setting for unknown
    models. `stated_by`: source in more detail, "" if unknown. `answer`: tokens of the longest answer, None if unknown.
    """

    tokens: int
    source: Source
    stated_by: str = ""
    answer: int | None = None

    @property
    def origin(self) -> str:
        """Source as text for people."""
        return self.stated_by or _WORDS[self.source]

    def __str__(self) -> str:
        return f"{grouped(self.tokens)} tokens, {self.origin}"


def known_window(
    set_by_user: int | None, recorded: int | None, agent: str, model: str | None, provider: str = ""
) -> Window | None:
    """Return the first known window: set by the user, recorded, of the agent for this model and provider, or of the
    table of models. None if all are unknown. `agent`: id of its format. Raises BadInput for a broken table."""
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
    """Return the window of an epoch (from 1), by the order of `known_window` with the epoch's recorded window and last
    model. None if unknown. Raises BadInput for a broken table of models."""
    found = session.epochs[epoch - 1]
    return known_window(set_by_user, found.window, session.format, _model_of(session, epoch), session.facts.provider)


def _model_of(session: Session, epoch: int) -> str | None:
    """Return the session's model for the newest epoch; for an earlier one, the model of its newest message that has
    one, else the session's."""
    if epoch == len(session.epochs):
        return session.model
    members = (session.messages[number] for number in reversed(session.epochs[epoch - 1].members))
    return next((one.model for one in members if one.model and one.kind != "meta"), session.model)


def still(old: Window | None, found: Window | None) -> Window | None:
    """Return the window after a change of epoch or after reading the file again: `old` if the user set it, or if it
    comes from the settings and `found` is None; else `found`."""
    if old is not None and (old.source == "given" or (old.source == "settings" and found is None)):
        return old
    return found


def glanced_window(found: SessionGlance) -> Window | None:
    """Return the window of the newest epoch by `known_window`, without a provider. None if unknown."""
    return known_window(None, found.window, found.format, found.model)


def fullness(found: SessionGlance) -> float | None:
    """Return the share of the window that the last recorded call and its response take (0 to 1, or more); None if
    tokens or window are unknown."""
    window = glanced_window(found)
    return found.tokens / window.tokens if found.tokens and window else None
