"""What agents give models of their windows, from a dated table, `agents.toml` beside this module."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from msgspec import Struct

from workbench.tokens.models import plain_name

TABLE = Path(__file__).resolve().parent / "agents.toml"


class Allowance(Struct, frozen=True):
    """The window in tokens that an agent, a format's id, gives to models whose names begin so; `told`: who says so.

    With a `provider` it is that one's, as the agent calls it. `answer` are the tokens that the agent leaves free for an
    answer, where that is not the model's longest one.
    """

    agent: str
    models: tuple[str, ...]
    window: int
    told: str
    provider: str = ""
    answer: int | None = None


def allowed(agent: str, model: str | None, provider: str = "") -> Allowance | None:
    """What the agent gives the model by that provider, by the longest beginning that fits its name; None where nothing
    is known."""
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
    return tuple(Allowance(**{**entry, "models": tuple(entry["models"])}) for entry in entries)
