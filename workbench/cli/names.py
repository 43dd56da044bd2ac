"""Commands by group with their help lines, and former command names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

GROUPS: Mapping[str, Mapping[str, str]] = {
    "Look": {
        "open": "Open a session on the screen; `cwb FILE` does, too.",
        "inspect": "Show what a session holds and where its tokens are.",
        "why": "Explain why the context overflowed, and suggest changes.",
        "report": "Write one page about a session, for a bug report.",
    },
    "Compact": {
        "compact": "Compact a session, check the result and export it.",
        "rescue": "Compact this folder's newest session without a model.",
        "repair": "Write a repaired copy of a damaged session.",
        "resume": "Print the steps that resume a session in its agent.",
    },
    "Measure": {
        "compare": "Compare strategies, presets, prompts, models or numbers.",
        "retention": "Show which facts and rules survive compactions.",
        "rules": "List the user's rules and the cost of pinning each.",
        "check": "Check requirements on compactions, for CI.",
    },
    "All sessions": {
        "audit": "Show the effects of compactions on every session.",
    },
    "Set up": {
        "list": "List strategies, presets, prompts, models or runs.",
        "prompts": "Show or copy a prompt, or adopt an agent's prompt.",
        "demo": "Show a demo of compaction, of a sample or your session.",
        "hook": "Give back to an agent what its compaction lost.",
    },
}
"""Help lines of the commands, kept here so that `cwb --help` imports no command."""

COMMANDS: Mapping[str, str] = {name: line for group in GROUPS.values() for name, line in group.items()}


@dataclass(frozen=True, slots=True)
class Former:
    """Arguments that replace a former command name; as text, the command to show."""

    args: tuple[str, ...]
    shown: str = ""

    def __str__(self) -> str:
        return f"cwb {self.shown or ' '.join(self.args)}"


ALONE = ("audit", "--list", "sessions", "--newest", "20")
"""Arguments that run for a bare `cwb` without a screen."""

MODULES: Mapping[str, str] = {"list": "listing"}
"""Modules with another name than their command."""

FORMER: Mapping[str, Former] = {
    "doctor": Former(("inspect", "--health")),
    "rework": Former(("why", "--rework")),
    "replay": Former(("compare", "--over-session")),
    "sweep": Former(("compare", "--sweep"), "compare --vary FIELD=A..B:STEP"),
    "ab": Former(("compare", "--two"), "compare --prompt A --prompt B` or `cwb compare --model A --model B"),
    "probe": Former(("retention", "--ask")),
    "pins": Former(("rules", "--marked"), "rules"),
    "play": Former(("demo",), "demo FILE"),
    "sessions": Former(("audit", "--quick")),
    "strategies": Former(("list", "strategies")),
    "models": Former(("list", "models")),
    "runs": Former(("list", "runs")),
}
"""Former command names, accepted for one more release."""
