"""Gemini CLI from npm, which the server answers as Gemini's API."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import dropwhile
from pathlib import Path

from interop.compare import Allowance
from interop.homes import Home, Package
from interop.server.script import Call
from interop.tool import Tool
from interop.units import Unit, Units

_OPTIONS = ("--approval-mode", "yolo")
_SETTINGS = {
    "telemetry": {"enabled": False},
    "privacy": {"usageStatisticsEnabled": False},
    # A run that resumes a session leaves an empty one under its id, in a file named by the minute; the next run deletes
    # that with every file of this id.
    "general": {"enableAutoUpdate": False, "sessionRetention": {"enabled": False}},
    "security": {"auth": {"selectedType": "gemini-api-key"}},
}


def _read(path: str) -> Call:
    return Call("read_file", {"file_path": path})


def _env(home: Home) -> Mapping[str, str]:
    return {
        "GEMINI_API_KEY": "dummy",
        "GOOGLE_GEMINI_BASE_URL": home.server.url,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GEMINI_MODEL": "gemini-2.5-pro",
    }


def _configure(home: Home) -> None:
    home.write(".gemini/settings.json", json.dumps(_SETTINGS))


def _make(home: Home, prompts: Sequence[str]) -> Path:
    home.run("gemini", *_OPTIONS, "-p", prompts[0])
    path = home.only(".gemini/tmp/*/chats/session-*.jsonl")
    for prompt in prompts[1:]:
        _again(home, path, prompt)
    return path


def _again(home: Home, path: Path, prompt: str) -> None:
    with path.open(encoding="utf-8") as lines:
        id = json.loads(next(lines))["sessionId"]
    home.run("gemini", *_OPTIONS, "--resume", id, "-p", prompt)


def _compact(home: Home, path: Path) -> Path:
    """It compresses before a request, where the one before it, of the same run, took half of the window."""
    _again(home, path, f"Once more. {_read('notes.md')} [[tokens 600000]] [[then]] [[say Still 8443.]]")
    return path


def _once(units: Units) -> Units:
    """Without results that answer a call again."""
    first = {unit.call: at for at, unit in reversed(list(enumerate(units))) if unit.kind == "result"}
    return tuple(unit for at, unit in enumerate(units) if unit.kind != "result" or first[unit.call] == at)


def _behind_the_first(units: Units) -> Units:
    """Without what the person says before the first answer, where there are results that are masked, or so many."""
    results = [unit.text for unit in units if unit.kind == "result"]
    masked = any(text.startswith(_MASK) for text in results) or sum(map(len, results)) > 200_000
    return tuple(dropwhile(lambda unit: masked and unit.role == "user", units))


_MASK = "<tool_output_masked>"


def _masked(sent: Unit, shown: Unit) -> bool:
    return sent.text.startswith(_MASK) and (sent.kind, sent.call) == (shown.kind, shown.call)


TOOL = Tool(
    id="gemini",
    title="Gemini CLI",
    package=Package("npm", "@google/gemini-cli", "0.61.0"),
    format="gemini",
    read=_read,
    make=_make,
    again=_again,
    env=_env,
    configure=_configure,
    compactions={"past half of the window": _compact},
    command="gemini",
    launcher=f'exec "$TOOL" {" ".join(_OPTIONS)} "$@" -p "$PROMPT"',
    allowances=(
        Allowance(
            "environment",
            "Each run sends date, system and folders first.",
            beside=lambda unit: unit.text.startswith("<session_context>"),
        ),
        Allowance(
            "results twice",
            "The agent records each result twice, next to its call and as a message; after a resume it sends both.",
            sent=_once,
        ),
        Allowance(
            "masked",
            "Results beyond the newest 50 000 tokens are sent as a note; the text is in files.",
            alike=_masked,
        ),
        Allowance(
            "first request lost",
            "After masking results, the agent stores the first request with the environment, and loses both when it "
            "resumes. This also happens in its own sessions.",
            sent=_behind_the_first,
            shown=_behind_the_first,
        ),
    ),
)
