"""Copilot CLI from npm, offline with a provider of its own, which the server answers as Anthropic's API."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from interop.compare import Allowance
from interop.homes import Home, Package
from interop.server.script import Call
from interop.tool import Tool, compact_with_instruction
from interop.units import Unit, Units


def _read(path: str) -> Call:
    """What is longer than this it would put away into a file."""
    return Call("bash", {"command": f"head -c 15000 {path}", "description": "Read a file"})


def _env(home: Home) -> Mapping[str, str]:
    return {
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_PROVIDER_BASE_URL": home.server.url,
        "COPILOT_PROVIDER_TYPE": "anthropic",
        "COPILOT_PROVIDER_API_KEY": "dummy",
        "COPILOT_MODEL": "claude-opus-4.6-1m",
        "COPILOT_PROVIDER_MAX_PROMPT_TOKENS": "1000000",
    }


def _make(home: Home, prompts: Sequence[str]) -> Path:
    home.run("copilot", "--allow-all", "-p", prompts[0])
    path = home.only(".copilot/session-state/*/events.jsonl")
    for prompt in prompts[1:]:
        _again(home, path, prompt)
    return path


def _again(home: Home, path: Path, prompt: str) -> None:
    home.run("copilot", "--allow-all", f"--resume={path.parent.name}", "-p", prompt)


def _compact_with_instruction(home: Home, path: Path) -> Path:
    return compact_with_instruction(home, path, _again)


def _compact(home: Home, path: Path) -> Path:
    _again(home, path, "/compact")
    return path


_WORDS = (
    "Some of the conversation history has been summarized to free up context.",
    "You were originally given instructions from a user over one or more turns. Here were the user messages:",
    "Here is a summary of the prior context:",
)
_TIME = re.compile(r"(<current_datetime>[^<]*</current_datetime>\n\n)(.+)", re.DOTALL)


def _parted(units: Units) -> Units:
    """The time before a request as a text of its own."""
    found = ((unit, _TIME.fullmatch(unit.text) if unit.kind == "text" else None) for unit in units)
    return tuple(part for unit, said in found for part in (_parts(unit, said) if said else (unit,)))


def _parts(unit: Unit, said: re.Match[str]) -> Units:
    return tuple(replace(unit, text=text) for text in said.groups())


TOOL = Tool(
    id="copilot",
    title="Copilot CLI",
    package=Package("npm", "@github/copilot", "1.0.102"),
    format="copilot",
    read=_read,
    make=_make,
    again=_again,
    env=_env,
    compactions={"/compact": _compact, "/compact with our instruction": _compact_with_instruction},
    allowances=(
        Allowance(
            "time",
            "The time of a request is sent in one text with the request.",
            sent=_parted,
            beside=lambda unit: unit.text.startswith("<current_datetime>"),
        ),
    ),
    command="copilot",
    words=_WORDS,
    launcher='exec "$TOOL" --allow-all "$@" -p "$PROMPT"',
)
