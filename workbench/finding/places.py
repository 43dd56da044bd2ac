"""Where the tools keep their sessions: folders by platform, moved by the variables that each tool itself reads.

Facts of the tools' documentation and of their code. What has no usual place stands in `NOWHERE`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Place:
    """A folder in which a tool keeps its sessions.

    A session is a file that matches one of `patterns` below `folder`: names with `*`, joined by `/`. Where the tool
    keeps a session as a folder, it is the folder of that file. `format` is the id of the format that is tried first.
    """

    tool: str
    format: str
    folder: Path
    patterns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Machine:
    """What the places depend on. `system` is `sys.platform`; `here` the project from which one looks."""

    system: str = sys.platform
    home: Path = field(default_factory=Path.home)
    variables: Mapping[str, str] = field(default_factory=lambda: os.environ)
    here: Path = field(default_factory=Path.cwd)

    def named(self, variable: str) -> Path | None:
        """The folder that a variable names, None where it is not set or not absolute once `~` stands for the home."""
        text = self.variables.get(variable, "").strip()
        if not text or "\0" in text:
            return None
        path = self.home / text[2:] if text.startswith(("~/", "~\\")) else self.home if text == "~" else Path(text)
        return path if path.is_absolute() else None

    def first(self, *variables: str, otherwise: Path) -> Path:
        """The folder of the first variable that names one."""
        return next((path for name in variables if (path := self.named(name))), otherwise)

    @property
    def data(self) -> Path:
        """Where tools that follow XDG keep data, on every platform."""
        return self.first("XDG_DATA_HOME", otherwise=self.home / ".local/share")

    @property
    def settings(self) -> Path:
        """Where editors and Python tools keep settings: by the platform's custom."""
        if self.system == "win32":
            return self.first("APPDATA", otherwise=self.home / "AppData/Roaming")
        if self.system == "darwin":
            return self.home / "Library/Application Support"
        return self.first("XDG_CONFIG_HOME", otherwise=self.home / ".config")


EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")
"""VS Code and its kin, as their settings folders are called."""

SERVERS = (".vscode-server", ".vscode-server-insiders", ".cursor-server", ".windsurf-server")
"""The same on the far side of a remote connection."""

EXTENSIONS = (
    ("Cline", "saoudrizwan.claude-dev"),
    ("Roo Code", "rooveterinaryinc.roo-cline"),
    ("Kilo Code", "kilocode.kilo-code"),
)

NOWHERE = {
    "adk": "the application that runs the agents chooses the database or folder",
    "anthropic-messages": "request bodies are stored wherever a proxy or program logs them",
    "openai-chat": "request bodies are stored wherever a proxy or program logs them",
    "gemini-body": "request bodies are stored wherever a proxy or program logs them",
    "openai-responses": "request bodies are stored wherever a proxy or program logs them",
    "capture": "a browser, a proxy or claude-trace writes it to the folder it was started in",
    "chat-jsonl": "the program that logs its messages chooses the file",
    "openai-jsonl": "the author of the examples or the batch chooses the file",
    "sharegpt": "the author of the data set chooses the file",
    "langchain": "the program that dumps messages chooses the file",
    "atif": "Harbor writes it to the trial folder that the user names",
    "bedrock": "the program that calls the API stores it",
    "ai-sdk": "the application stores it",
    "pydantic-ai": "the program that runs the agent stores it",
    "codex-exec": "it is printed; the user stores it",
    "letta": "the user chooses where an agent is exported to",
    "smolagents": "the program that saves its memory chooses the file",
    "autogen": "the program that saves its state chooses the file",
    "otel": "the collector or backend chooses where a trace is stored",
    "langfuse": "a trace is fetched from the server",
    "langsmith": "runs are fetched from the server",
    "tau-bench": "the benchmark writes to the folder that the user names",
}
"""Formats without a usual place, by id, and why. `cwb audit --quick DIR` finds them where they are."""


def places(machine: Machine | None = None) -> tuple[Place, ...]:
    """Every place of every tool on a machine, this one by default; whether it exists is not looked at."""
    return tuple(_places(machine or Machine()))


def _places(machine: Machine) -> Iterator[Place]:
    home = machine.home
    moved = machine.named("CLAUDE_CONFIG_DIR")
    config = machine.first("XDG_CONFIG_HOME", otherwise=home / ".config")
    for folder in [moved] if moved else [home / ".claude", config / "claude"]:
        yield Place("Claude Code", "claude-code", folder / "projects", ("*/*.jsonl",))
    codex = machine.first("CODEX_HOME", otherwise=home / ".codex")
    rollouts = ("rollout-*.jsonl", "rollout-*.jsonl.zst")
    yield Place("Codex", "codex", codex / "sessions", tuple(f"*/*/*/{name}" for name in rollouts))
    yield Place("Codex", "codex", codex / "archived_sessions", rollouts)
    gemini = machine.first("GEMINI_CLI_HOME", otherwise=home) / ".gemini/tmp"
    yield Place("Gemini CLI", "gemini", gemini, ("*/chats/session-*.json", "*/chats/session-*.jsonl"))
    qwen = machine.first("QWEN_RUNTIME_DIR", "QWEN_HOME", otherwise=home / ".qwen")
    yield Place("Qwen Code", "qwen-code", qwen / "projects", ("*/chats/*.jsonl",))
    copilot = machine.first("COPILOT_HOME", otherwise=home / ".copilot")
    yield Place("Copilot CLI", "copilot", copilot / "session-state", ("*/events.jsonl", "*.jsonl"))
    pi = machine.first("PI_CODING_AGENT_DIR", otherwise=home / ".pi/agent")
    yield Place("pi", "pi", pi / "sessions", ("*/*.jsonl",))
    yield Place("Amp", "amp", machine.data / "amp/threads", ("T-*.json",))
    kimi = machine.first("KIMI_CODE_HOME", otherwise=home / ".kimi-code")
    yield Place("Kimi Code", "kimi", kimi / "sessions", ("*/*/agents/main/wire.jsonl",))
    kimi_cli = machine.first("KIMI_SHARE_DIR", otherwise=home / ".kimi")
    yield Place("Kimi CLI", "kimi", kimi_cli / "sessions", ("*/*/context.jsonl",))
    yield Place("Droid", "droid", home / ".factory/sessions", ("*/*.jsonl",))
    zed = machine.settings / "Zed" if machine.system in ("darwin", "win32") else machine.data / "zed"
    yield Place("Zed", "zed", zed / "threads", ("threads.db",))
    cursor = machine.settings / "Cursor/User/globalStorage"
    yield Place("Cursor", "cursor", cursor, ("state.vscdb",))
    yield Place("Cursor", "cursor", home / ".cursor/projects", ("*/agent-transcripts/*/*.jsonl",))
    augment = machine.first("AUGMENT_CACHE_DIR", otherwise=home / ".augment")
    yield Place("Augment CLI", "augment", augment / "sessions", ("*.json",))
    opencode = machine.data / "opencode"
    yield Place("opencode", "opencode", opencode, ("opencode*.db", "storage/session/*/ses_*.json"))
    yield from _goose(machine)
    yield from _cline(machine)
    yield from _openhands(machine)
    yield from _in_projects(machine)


def _goose(machine: Machine) -> Iterator[Place]:
    if root := machine.named("GOOSE_PATH_ROOT"):
        folders = [root / "data/sessions"]
    elif machine.system == "win32":
        folders = [machine.settings / "Block/goose/data/sessions", machine.settings / "Block/goose/sessions"]
    else:
        folders = [machine.data / "goose/sessions", machine.home / ".goose/sessions"]
    for folder in folders:
        yield Place("goose", "goose", folder, ("sessions.db", "*.jsonl"))


def _cline(machine: Machine) -> Iterator[Place]:
    users = [machine.settings / editor / "User" for editor in EDITORS]
    users += [machine.home / server / "data/User" for server in SERVERS]
    if portable := machine.named("VSCODE_PORTABLE"):
        users.insert(0, portable / "user-data/User")
    for user in users:
        for tool, extension in EXTENSIONS:
            tasks = user / "globalStorage" / extension / "tasks"
            yield Place(tool, "roo-cline", tasks, ("*/api_conversation_history.json",))
    cline = machine.first("CLINE_DIR", otherwise=machine.home / ".cline")
    data = machine.first("CLINE_DATA_DIR", otherwise=cline / "data")
    yield Place("Cline", "roo-cline", data / "tasks", ("*/api_conversation_history.json",))
    sessions = machine.first("CLINE_SESSION_DATA_DIR", otherwise=data / "sessions")
    yield Place("Cline SDK", "cline-sdk", sessions, ("*/*.messages.json",))


def _openhands(machine: Machine) -> Iterator[Place]:
    kept = machine.first("OPENHANDS_PERSISTENCE_DIR", otherwise=machine.home / ".openhands")
    conversations = machine.first("OPENHANDS_CONVERSATIONS_DIR", otherwise=kept / "conversations")
    yield Place("OpenHands", "openhands", conversations, ("*/base_state.json",))
    store = machine.first("FILE_STORE_PATH", otherwise=kept)
    for folder in dict.fromkeys((store, machine.home / ".openhands-state")):
        yield Place("OpenHands", "openhands", folder / "sessions", ("*/events/0.json",))


def _in_projects(machine: Machine) -> Iterator[Place]:
    """Tools that write into the project in which they run: here, or at the top of its repository."""
    here = machine.here
    top = next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)
    history = machine.named("AIDER_CHAT_HISTORY_FILE")
    if history:
        yield Place("aider", "aider", history.parent, (history.name,))
    for folder in dict.fromkeys((here, top)):
        yield Place("aider", "aider", folder, (".aider.chat.history.md",))
        yield Place("Crush", "crush", folder / ".crush", ("crush.db",))
    swe = machine.first("SWE_AGENT_TRAJECTORY_DIR", otherwise=here / "trajectories")
    yield Place("SWE-agent", "swe-agent", swe, tuple("*/" * depth + "*.traj" for depth in range(1, 4)))
    mini = machine.first("MSWEA_GLOBAL_CONFIG_DIR", otherwise=machine.settings / "mini-swe-agent")
    yield Place("mini-swe-agent", "mini-swe-agent", mini, ("*.traj.json",))
    logs = machine.first("INSPECT_LOG_DIR", otherwise=here / "logs")
    yield Place("Inspect", "inspect", logs, ("*.eval", "*.json"))
