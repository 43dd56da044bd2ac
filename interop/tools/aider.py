"""aider, which restores the whole chat history that lies in its folder."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from interop.compare import Allowance
from interop.homes import Home, Package
from interop.library import DUMMY, Script
from interop.server.script import Call, Turn
from interop.tool import PLANS, Plan, Tool
from interop.units import Unit, Units
from workbench.formats.kit.blocks import SUMMARY_LABEL
from workbench.formats.kit.settle import NO_RESULT, SYSTEM_LABEL

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
max-chat-history-tokens: {limit}
"""
_LIMIT = 300
"""Tokens over which it compacts what it restores."""
_TAIL = 80
"""Of them less than half stays; it counts some tokens more for each message than its texts have."""


def _env(home: Home) -> Mapping[str, str]:
    return {**DUMMY, "OPENAI_API_BASE": f"{home.server.url}/v1"}


def _configure(home: Home, limit: int = 10_000_000) -> None:
    home.write(".aider.conf.yml", _SETTINGS.format(limit=limit))


def _make(home: Home, prompts: Sequence[str]) -> Path:
    """The person pastes a long file into the first: no call reads one."""
    first, *rest = prompts
    for prompt in (f"{first}\n\n{(home.project / 'long.txt').read_text()}", *rest):
        _again(home, home.project, prompt)
    return home.project / ".aider.chat.history.md"


def _again(home: Home, path: Path, prompt: str) -> None:
    home.run("aider", "--restore-chat-history", "--message", prompt)


def _compact(home: Home, path: Path) -> Path:
    """It compacts when it restores, before it sends the next prompt, and asks for the summary first."""
    _configure(home, _LIMIT)
    bare = home.server.summary.removeprefix("<summary>").removesuffix("</summary>").strip()  # it sends tags, too
    home.server.script.append(Turn(bare))
    return path


_CALLED = re.compile(r"\[called (\S+): (\{.*\})\]")
_RAW = re.compile(r'\A\{"raw": (".*")\}\Z')
_ADDED = re.compile(
    rf"(?:{re.escape(SYSTEM_LABEL)}|{re.escape(SUMMARY_LABEL)}|\[result\]\s+{re.escape(NO_RESULT)})\s*(?:\n|\Z)"
)


def _in_one(units: Units) -> Units:
    """What each speaker says at a time as one text, with a space where there are spaces and line breaks; calls and
    results as the exports write them."""
    made: list[Unit] = []
    for unit in units:
        speaker = "assistant" if unit.role == "assistant" else "user"
        if not (said := " ".join(_as_text(unit).split())):
            continue
        if made and made[-1].role == speaker:
            said = f"{made.pop().text} {said}"
        made.append(Unit(speaker, "text", said))
    return tuple(made)


def _as_text(unit: Unit) -> str:
    match unit.kind:
        case "call":
            name, _, given = unit.text.partition(" ")
            return f"[called {name}: {_RAW.sub(_unwrapped, given)}]"
        case "result":
            return f"[result]\n{unit.text}"
        case "text":
            return _CALLED.sub(_sorted, _ADDED.sub("", unit.text))
        case _:
            return ""


def _unwrapped(arguments: re.Match[str]) -> str:
    """Arguments that are no object are text as they are."""
    return str(json.loads(arguments[1]))


def _sorted(call: re.Match[str]) -> str:
    """A call that was written as text, with its arguments as units have them."""
    with suppress(ValueError):
        given = json.dumps(json.loads(call[2]), sort_keys=True, ensure_ascii=False)
        return f"[called {call[1]}: {given}]"
    return call[0]


_WORDS = ("I am not sharing any files that you can edit yet.", "Ok.")


def _own(unit: Unit) -> bool:
    return unit.role == "system" or unit.text in _WORDS


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
    compactions={"over its history's limit": _compact},
    foretold=Plan("aider", {"trigger_tokens": _LIMIT + 1, "keep_tokens": _TAIL}),
    command="aider",
    launcher='exec "$TOOL" "$@" --message "$PROMPT"',
    each=_SCRIPT.each,
    plans=(*PLANS[:3], Plan("aider", {"keep_tokens": 200})),  # no results to clear
    words=(*_WORDS, "I spoke to you previously about a number of things."),
    allowances=(
        Allowance("reminders", "Each run sends its own instructions about files and the form of changes.", beside=_own),
        Allowance(
            "one text",
            "Its Markdown has only texts: calls and results are texts, consecutive texts of one speaker are one, spaces"
            " around lines and reasoning are left out.",
            sent=_in_one,
            shown=_in_one,
        ),
    ),
)
