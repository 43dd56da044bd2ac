"""Agents with hooks: the events that store a snapshot, hold a summary, or may add to the context, and what is missing.

Measured with Claude Code 2.1.150 to 2.1.332, at /compact and at automatic compactions at a prompt and within a turn:
PreCompact, SubagentStop (`agent_type` "", its last message is the summary), SessionStart (`compact`), and only then
PostCompact and the transcript. The very next request has what SessionStart added.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple


class Agent(NamedTuple):
    """An agent and its events. A named tuple, because msgspec takes longer to import than most events to answer.

    package: package of its format in `workbench.formats`. before: event that comes before a compaction.
    summary: event that may hold the summary, and the key of its text. adds: events whose output is added to the context
    of the next request, each with the `source` that it must have ("" for any).
    rule_files: files that the agent sends with every call, in the project's folder, those above it, and `folder`.
    folder: the agent's folder in the user's home and in a project; `folder_variable` names another for the user's.
    user_file, project_file: settings file in it. timeout: a hook's time limit, 30 seconds in the agent's unit.
    missing: what the agent cannot do, one sentence; "" for an agent that can be installed.
    """

    id: str
    title: str
    package: str = ""
    before: str = ""
    summary: tuple[str, str] = ("", "")
    adds: Mapping[str, str] = MappingProxyType({})
    rule_files: tuple[str, ...] = ()
    folder: str = ""
    folder_variable: str = ""
    user_file: str = ""
    project_file: str = ""
    timeout: int = 30
    missing: str = ""

    def home(self, environ: Mapping[str, str]) -> Path:
        """The agent's folder of the user."""
        moved = environ.get(self.folder_variable) if self.folder_variable else None
        return Path(moved) if moved else Path.home() / self.folder

    @property
    def events(self) -> dict[str, str]:
        """Events to be called for, each with its matcher ("" for none)."""
        names = (self.before, self.summary[0], *self.adds)
        return {name: self.adds.get(name, "") for name in names if name}


AGENTS: Mapping[str, Agent] = {
    one.id: one
    for one in (
        Agent(
            "claude-code",
            "Claude Code",
            "claude_code",
            "PreCompact",
            ("SubagentStop", "last_assistant_message"),
            {"SessionStart": "compact"},
            ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md"),
            ".claude",
            "CLAUDE_CONFIG_DIR",
            "settings.json",
            "settings.local.json",
        ),
        Agent(
            "codex",
            "Codex",
            "codex",
            "PreCompact",
            adds={"SessionStart": "compact"},
            rule_files=("AGENTS.md", "AGENTS.override.md"),
            folder=".codex",
            folder_variable="CODEX_HOME",
            user_file="hooks.json",
            project_file="hooks.json",
        ),
    )
}
