"""The commands by group, each with its line of help, and the names that commands had before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

GROUPS: Mapping[str, Mapping[str, str]] = {
    "Look": {
        "open": "Open a session on the screen; `cwb FILE` does, too.",
        "inspect": "Show what a session holds and where its tokens are.",
        "why": "Say why the context overflowed and what would have helped.",
        "report": "Write one page about a session, for a bug report.",
    },
    "Compact": {
        "compact": "Compact a session, check the result and export it.",
        "rescue": "Compact this folder's newest session without a model.",
        "repair": "Write a repaired copy of a damaged session.",
        "resume": "Print the steps that resume a session in its agent.",
    },
    "Measure": {
        "compare": "Compact a session by many strategies, in one table.",
        "replay": "Simulate a session from its start under many presets.",
        "sweep": "Replay sessions over a grid of one or two numbers.",
        "retention": "Say which facts survive a compaction, or several.",
        "rework": "Say what was done again after each recorded compaction.",
        "probe": "Ask what is still known after a compaction.",
        "pins": "List the user's rules and the cost of pinning each.",
        "ab": "Compare two prompts or two models on the same messages.",
    },
    "All sessions": {
        "sessions": "List the sessions that agents keep on this machine.",
        "audit": "Say what compactions did to every session.",
    },
    "Set up": {
        "strategies": "List the strategies and presets.",
        "models": "List the models that a server offers.",
        "runs": "List, show, compare and delete live runs.",
        "prompts": "Show a prompt, copy it, or adopt the one of an agent.",
        "play": "Play a session as a story of about a minute.",
        "demo": "Play a sample as a story of a minute, offline.",
    },
}
"""Here so that `cwb --help` need not import any command."""

COMMANDS: Mapping[str, str] = {name: line for group in GROUPS.values() for name, line in group.items()}


@dataclass(frozen=True, slots=True)
class Former:
    """What a former name of a command stands for: the arguments in its place, and how they are shown."""

    args: tuple[str, ...]
    shown: str = ""

    def __str__(self) -> str:
        return f"cwb {self.shown or ' '.join(self.args)}"


FORMER: Mapping[str, Former] = {"doctor": Former(("inspect", "--health"))}
"""Names that are understood for one more release."""
