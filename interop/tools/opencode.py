"""opencode from npm, with a provider of its own that is the server's chat completions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from interop.compare import Allowance
from interop.homes import Home, Package
from interop.server.script import Call
from interop.tool import PLANS, Plan, Tool, with_tools
from interop.units import Unit, Units


def _read(path: str) -> Call:
    return Call("read", {"filePath": path})


def _env(home: Home) -> Mapping[str, str]:
    return {
        "OPENCODE_DISABLE_AUTOUPDATE": "true",
        "OPENCODE_DISABLE_MODELS_FETCH": "true",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "true",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "true",
        "npm_config_offline": "true",
    }


def _configure(home: Home) -> None:
    model = {"name": "Interop", "limit": {"context": 1_000_000, "output": 8_000}, "tool_call": True}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{home.server.url}/v1", "apiKey": "dummy"},
        "models": {"model": model},
    }
    settings = {
        "autoupdate": False,
        "share": "disabled",
        "provider": {"interop": provider},
        "model": "interop/model",
        "small_model": "interop/model",
        "permission": "allow",
        "snapshot": False,
    }
    home.write(".config/opencode/opencode.json", json.dumps(settings))


def _make(home: Home, prompts: Sequence[str]) -> Path:
    home.run("opencode", "run", stdin=prompts[0])
    (session,) = json.loads(home.run("opencode", "session", "list", "--format", "json"))
    path = home.root / f"{session['id']}.json"
    for prompt in prompts[1:]:
        _again(home, path, prompt)
    return _exported(home, path)


def _again(home: Home, path: Path, prompt: str) -> None:
    home.run("opencode", "run", "--session", path.stem, stdin=prompt)


def _exported(home: Home, path: Path) -> Path:
    """The session as a file. What it prints into a pipe may be cut off at its end."""
    home.sh([f"opencode export {path.stem} > {path}"], {})
    return path


def _forget(home: Home, path: Path) -> None:
    home.run("opencode", "session", "delete", path.stem)


def _compact(home: Home, path: Path) -> Path:
    """It compacts behind an answer that took the window but for 8 000 tokens, and goes on by itself."""
    _again(home, path, f"Once more. {_read('notes.md')} [[tokens 995000]] [[then]] [[say Still 8443.]]")
    return _exported(home, path)


def _summary_asked(units: Units) -> Units:
    """A summary that answers a question of the tool's own, as the request that it stands for."""
    asked, found = False, list[Unit]()
    for unit in units:
        if unit == _QUESTION:
            asked = True
            continue
        found.append(replace(unit, role="user") if asked and unit.kind == "text" else unit)
        asked = False
    return tuple(found)


_QUESTION = Unit("user", "text", "What did we do so far?")


_LAUNCHER = """if [ "$1" != --session ]; then exec "$TOOL" "$@"; fi
printf %s "$PROMPT" | "$TOOL" run -m interop/model "$@"
"""
"""Its screen takes the model that is set where it does not have the session's own; `run` has to be told."""


TOOL = Tool(
    id="opencode",
    title="opencode",
    package=Package("npm", "opencode-ai", "1.18.33"),
    format="opencode",
    read=_read,
    make=_make,
    again=_again,
    env=_env,
    configure=_configure,
    compactions={"near the window": _compact},
    command="opencode",
    launcher=_LAUNCHER,
    turn=with_tools,
    allowances=(
        Allowance(
            "summary as an answer",
            "A summary is sent as the answer to “What did we do so far?”, and shown as a request.",
            sent=_summary_asked,
        ),
    ),
    words=(_QUESTION.text,),
    forget=_forget,
    plans=(*PLANS[1:], Plan("opencode", {"keep_tokens": 1000})),
)
