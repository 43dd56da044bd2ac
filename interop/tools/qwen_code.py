"""Qwen Code from npm, with the server's chat completions as its provider. Its sessions are only read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from interop.compare import Allowance
from interop.homes import Home, Package
from interop.server.script import Call
from interop.tool import Tool, compact_with_instruction, with_tools
from interop.units import Unit

_OPTIONS = ("--auth-type", "openai", "--approval-mode", "yolo")
_SETTINGS = {
    "telemetry": {"enabled": False},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"enableAutoUpdate": False},
    "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False},
    "$version": 4,
}


def _read(path: str) -> Call:
    return Call("run_shell_command", {"command": f"cat {path}", "is_background": False})


def _env(home: Home) -> Mapping[str, str]:
    return {
        "OPENAI_API_KEY": "dummy",
        "OPENAI_BASE_URL": f"{home.server.url}/v1",
        "OPENAI_MODEL": "model",
        "QWEN_TELEMETRY_ENABLED": "0",
    }


def _configure(home: Home) -> None:
    home.write(".qwen/settings.json", json.dumps(_SETTINGS))


def _make(home: Home, prompts: Sequence[str]) -> Path:
    home.run("qwen", *_OPTIONS, "-p", prompts[0])
    path = home.only(".qwen/projects/*/chats/*.jsonl")
    for prompt in prompts[1:]:
        _again(home, path, prompt)
    return path


def _again(home: Home, path: Path, prompt: str) -> None:
    home.run("qwen", *_OPTIONS, "--resume", path.stem, "-p", prompt)


def _compact_with_instruction(home: Home, path: Path) -> Path:
    return compact_with_instruction(home, path, _again)


def _compact(home: Home, path: Path) -> Path:
    _again(home, path, "/compress")
    return path


def _is_reminder(unit: Unit) -> bool:
    return unit.role == "user" and unit.text.startswith("<system-reminder>")


TOOL = Tool(
    id="qwen-code",
    title="Qwen Code",
    package=Package("npm", "@qwen-code/qwen-code", "0.24.4"),
    format="qwen-code",
    read=_read,
    make=_make,
    again=_again,
    env=_env,
    configure=_configure,
    compactions={"/compress": _compact, "/compress with our instruction": _compact_with_instruction},
    turn=with_tools,
    allowances=(Allowance("reminders", "Reminders before a request are sent but not recorded.", beside=_is_reminder),),
)
