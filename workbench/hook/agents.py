"""Agents with hooks: the events that store a snapshot, hold a summary, or may add to the context, and what is missing.

Order of events in Claude Code 2.1.150 to 2.1.332, measured at /compact and at automatic compactions at a prompt and
within a turn: PreCompact, SubagentStop (`agent_type` "", its last message is the summary), SessionStart (`compact`);
PostCompact and the record in the transcript follow these. Codex 0.169 and pi 1.6 record the compaction before
SessionStart and `session_compact`. In all of them, the next request contains what SessionStart or `sendMessage` added.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple


class Agent(NamedTuple):
    """An agent and its events. A named tuple, because importing msgspec takes longer than handling most events.

    reader: function that reads its sessions, in `workbench.formats`, as "module:name".
    before: event that comes before a compaction.
    summary: event that may hold the summary, and the key of its text. adds: events whose output is added to the context
    of the next request, each with the `source` that it must have ("" for any).
    rule_files: names of the files with rules that the agent sends with every call. It looks for them in the project's
    folder, the folders above it, and `folder`.
    folder: the agent's folder in the user's home; the variable `folder_variable` names another.
    user_file: settings file in `folder`. project_file: settings file in a project's folder. plugin: file of `plugins/`
    that is written there, for an agent without hooks in settings. note: what the user has to do after the installation.
    missing: what the agent cannot do, one sentence; "" for an agent that can be installed.
    """

    id: str
    title: str
    reader: str = ""
    before: str = ""
    summary: tuple[str, str] = ("", "")
    adds: Mapping[str, str] = MappingProxyType({})
    rule_files: tuple[str, ...] = ()
    folder: str = ""
    folder_variable: str = ""
    user_file: str = ""
    project_file: str = ""
    plugin: str = ""
    note: str = ""
    missing: str = ""

    def home(self, environ: Mapping[str, str]) -> Path:
        """The agent's folder: the one that `folder_variable` names in `environ`, else `folder` in the user's home."""
        moved = environ.get(self.folder_variable) if self.folder_variable else None
        return Path(moved) if moved else Path.home() / self.folder

    @property
    def events(self) -> dict[str, str]:
        """Events for which the agent must call the hook, each with its matcher ("" for none)."""
        names = (self.before, self.summary[0], *self.adds)
        return {name: self.adds.get(name, "") for name in names if name}


AGENTS: Mapping[str, Agent] = {
    one.id: one
    for one in (
        Agent(
            "claude-code",
            "Claude Code",
            "claude_code.read:read",
            "PreCompact",
            ("SubagentStop", "last_assistant_message"),
            {"SessionStart": "compact"},
            ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md"),
            ".claude",
            "CLAUDE_CONFIG_DIR",
            "settings.json",
            ".claude/settings.local.json",
        ),
        Agent(
            "codex",
            "Codex",
            "codex.read:read",
            "PreCompact",
            adds={"SessionStart": "compact"},
            rule_files=("AGENTS.md", "AGENTS.override.md"),
            folder=".codex",
            folder_variable="CODEX_HOME",
            user_file="hooks.json",
            project_file=".codex/hooks.json",
            note="Codex runs it after you have trusted it there: start codex, and accept the new hooks.",
        ),
        Agent(
            "pi",
            "pi",
            "pi.read:Reader.read",
            "session_before_compact",
            adds={"session_compact": ""},
            rule_files=("AGENTS.md", "CLAUDE.md"),
            folder=".pi/agent",
            folder_variable="PI_CODING_AGENT_DIR",
            user_file="extensions/cwb-hook.js",
            project_file=".pi/extensions/cwb-hook.js",
            plugin="pi.js",
        ),
        Agent(
            "gemini-cli",
            "Gemini CLI",
            missing="Gemini CLI cannot use the hook: it calls PreCompress before every request, whether it compresses "
            "or not, and nothing afterwards (0.61.0).",
        ),
        Agent(
            "cline",
            "Cline",
            missing="Cline cannot use the hook: it knows a hook file PreCompact, but runs it at no event (3.0.65).",
        ),
        Agent(
            "opencode",
            "opencode",
            missing="opencode cannot use the hook: a plug-in may add to the prompt for the summary, and is not given "
            "the summary afterwards (1.18.33).",
        ),
    )
}
