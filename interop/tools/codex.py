"""Codex from npm, with a provider of its own that is the server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path

from interop.compare import Allowance, by_unit, texts_in_one
from interop.homes import Home, Package
from interop.server.script import Call
from interop.tool import Tool
from interop.units import Unit, Units

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
    path = home.only(".codex/sessions/*/*/*/rollout-*.jsonl")
    for prompt in prompts[1:]:
        _again(home, path, prompt)
    return path


def _again(home: Home, path: Path, prompt: str) -> None:
    home.run("codex", "exec", "resume", path.stem[-36:], *_OPTIONS, prompt)


def _compact(home: Home, path: Path, *options: str) -> Path:
    """The next prompt comes to a context that is over the limit, so that Codex compacts before it."""
    limit = ("-c", "model_auto_compact_token_limit=1000", *options)
    home.run("codex", "exec", "resume", path.stem[-36:], *_OPTIONS, *limit, "Go on after the compaction.")
    return path


def _compact_remotely(home: Home, path: Path) -> Path:
    """With a provider of this name Codex has the server compact."""
    return _compact(home, path, "-c", 'model_providers.interop.name="OpenAI"')


def _without_prompt(units: Units) -> Units:
    """What Codex injects stands in tags, the prompt does not."""
    prompt = units and units[0].role == "system" and not units[0].text.startswith("<")
    return units[1:] if prompt else units


_INJECTED = (
    "<skills_instructions>",
    "<permissions instructions>",
    "<tools>",
    "<environment_context>",
    "<collaboration_mode>",
    "<model_switch>",
    "# AGENTS.md instructions",
)


def _is_injected(unit: Unit) -> bool:
    return unit.role in ("system", "user") and unit.text.startswith(_INJECTED)


_ROOM = 48_000
"""Bytes of a result that Codex sends: 12 000 tokens of four bytes, for the model that is set here."""


def _cut(unit: Unit) -> Unit:
    """A result as Codex cuts it when it is longer."""
    data = unit.text.encode()
    if unit.kind != "result" or len(data) <= _ROOM:
        return unit
    head, tail = data[: _ROOM // 2].decode(errors="ignore"), data[-_ROOM // 2 :].decode(errors="ignore")
    return replace(unit, text=f"{head}…{ceil((len(data) - _ROOM) / 4)} tokens truncated…{tail}")


_ALLOWED = (
    Allowance(
        "long results",
        f"Results over {_ROOM} bytes are sent without their middle.",
        shown=by_unit(_cut),
    ),
    Allowance("prompt", "The system prompt is sent as the first developer message.", sent=_without_prompt),
    Allowance(
        "preamble",
        "Each run sends permissions, skills and environment before the new prompt.",
        beside=_is_injected,
    ),
    Allowance(
        "aborted",
        "A call without a result gets one that says so.",
        beside=lambda unit: unit.kind == "result" and unit.text == "aborted",
    ),
    Allowance(
        "texts in one",
        "Text that an editor puts before the user's words is shown separately, and sent in one text with them.",
        sent=texts_in_one,
        shown=texts_in_one,
    ),
)

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
    compactions={"by itself": _compact, "by the server": _compact_remotely},
    allowances=_ALLOWED,
    command="codex",
    launcher=f'exec "$TOOL" exec "$@" {" ".join(_OPTIONS)} "$PROMPT"',
)
