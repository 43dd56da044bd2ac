"""Context windows that agents give to models, from the dated table `agents.toml` in this folder."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from msgspec import Struct

from workbench.tokens.models import plain_name

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
