"""aider, which restores the whole chat history that lies in its folder."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from interop.compare import Allowance, by_unit
from interop.homes import Home, Package
from interop.library import DUMMY, Script
from interop.server.script import Call
from interop.tool import PLANS, Plan, Tool
from interop.units import Unit

_SCRIPT = Script("aider_turns")
_SETTINGS = """model: openai/gpt-4o
check-update: false
show-release-notes: false
analytics-disable: true
stream: false
yes-always: true
auto-commits: false
gitignore: false
show-model-warnings: false
map-tokens: 0
detect-urls: false
suggest-shell-commands: false
pretty: false
fancy-input: false
max-chat-history-tokens: 10000000
"""


def _env(home: Home) -> Mapping[str, str]:
    return {**DUMMY, "OPENAI_API_BASE": f"{home.server.url}/v1"}


def _configure(home: Home) -> None:
    home.write(".aider.conf.yml", _SETTINGS)


def _make(home: Home, prompts: Sequence[str]) -> Path:
    for prompt in prompts:
        _again(home, home.project, prompt)
    return home.project / ".aider.chat.history.md"


def _again(home: Home, path: Path, prompt: str) -> None:
    home.run("aider", "--restore-chat-history", "--message", prompt)


def _stripped(unit: Unit) -> Unit:
    return replace(unit, text=re.sub(r"[ \t]*\n", "\n", unit.text).strip())


def _own(unit: Unit) -> bool:
    return unit.role == "system" or unit.text in ("I am not sharing any files that you can edit yet.", "Ok.")


TOOL = Tool(
    id="aider",
    title="aider",
    package=Package("PyPI", "aider-chat", "0.86.2"),
    format="aider",
    read=lambda path: Call("none", {}),
    make=_make,
    again=_again,
    env=_env,
    configure=_configure,
    command="aider",
    launcher='exec "$TOOL" "$@" --message "$PROMPT"',
    each=_SCRIPT.each,
    plans=(*PLANS, Plan("aider", {"keep_tokens": 200})),
    allowances=(
        Allowance(
            "line ends",
            "Spaces and line breaks at the ends of lines and texts belong to its Markdown.",
            sent=by_unit(_stripped),
            shown=by_unit(_stripped),
        ),
        Allowance("reminders", "A run sends its own words about files and about the form of changes.", beside=_own),
    ),
)
