"""Codex from npm, with a provider of its own that is the server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from interop.homes import Home, Package
from interop.server.script import Call
from interop.tool import Tool

_OPTIONS = ("--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")


def _read(path: str) -> Call:
    return Call("exec_command", {"cmd": f"cat {path}"})


def _env(home: Home) -> Mapping[str, str]:
    return {"INTEROP_KEY": "dummy"}


def _configure(home: Home) -> None:
    home.write(
        ".codex/config.toml",
        f"""model = "gpt-5.5"
model_provider = "interop"
check_for_update_on_startup = false
[model_providers.interop]
name = "interop"
base_url = "{home.server.url}/v1"
wire_api = "responses"
env_key = "INTEROP_KEY"
[analytics]
enabled = false
""",
    )


def _make(home: Home, prompts: Sequence[str]) -> Path:
    home.run("codex", "exec", *_OPTIONS, prompts[0])
    (path,) = (home.home / ".codex/sessions").rglob("rollout-*.jsonl")
    for prompt in prompts[1:]:
        _again(home, path, prompt)
    return path


def _again(home: Home, path: Path, prompt: str) -> None:
    home.run("codex", "exec", "resume", path.stem[-36:], *_OPTIONS, prompt)


TOOL = Tool(
    id="codex",
    title="Codex",
    package=Package("npm", "@openai/codex", "0.169.0"),
    format="codex",
    read=_read,
    make=_make,
    again=_again,
    env=_env,
    configure=_configure,
    command="codex",
    launcher=f'exec "$TOOL" exec "$@" {" ".join(_OPTIONS)} "$PROMPT"',
)
