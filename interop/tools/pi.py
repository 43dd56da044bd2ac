"""pi from npm, with a provider of its own that is the server's chat completions.

The package's name changed with 0.74; `pi_0_73.py` tries the last one of the old name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from interop.compare import Allowance, by_unit, without
from interop.homes import Home, Package
from interop.server.script import Call
from interop.tool import PLANS, Plan, Tool, with_tools
from interop.units import Unit


def _read(path: str) -> Call:
    return Call("read", {"path": path})


def _env(home: Home) -> Mapping[str, str]:
    return {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0"}


def _configure(home: Home) -> None:
    model = {"id": "model", "contextWindow": 200_000, "maxTokens": 8_000, "reasoning": True}
    provider = {
        "baseUrl": f"{home.server.url}/v1",
        "api": "openai-completions",
        "apiKey": "dummy",
        "compat": {"supportsDeveloperRole": False},
        "models": [model],
    }
    home.write(".pi/agent/models.json", json.dumps({"providers": {"interop": provider}}))
    settings = {"defaultProvider": "interop", "defaultModel": "model", "compaction": {"keepRecentTokens": 2_000}}
    home.write(".pi/agent/settings.json", json.dumps(settings))


def _make(home: Home, prompts: Sequence[str]) -> Path:
    home.run("pi", "-p", prompts[0])
    path = home.only(".pi/agent/sessions/*/*.jsonl")
    for prompt in prompts[1:]:
        _again(home, path, prompt)
    return path


def _again(home: Home, path: Path, prompt: str) -> None:
    home.run("pi", "--session", str(path), "-p", prompt)


def _compact(home: Home, path: Path) -> Path:
    """It compacts behind an answer that took the window but for 16 384 tokens, before the next one."""
    _again(home, path, f"Once more. {_read('notes.md')} [[tokens 195000]] [[then]] [[say Unknown.]]")
    return path


_WORDS = "The conversation history before this point was compacted into the following summary:"
_FRAME = f"{_WORDS}\n\n<summary>\n"


def _unframed(unit: Unit) -> Unit:
    """A summary without pi's words around it."""
    return replace(unit, text=unit.text.removeprefix(_FRAME).removesuffix("\n</summary>"))


def _empty(sent: Unit, shown: Unit) -> bool:
    said = ("(no tool output)", "(see attached image)")
    return sent.kind == shown.kind == "result" and shown.text == "" and sent.text in said


def _is_system(unit: Unit) -> bool:
    return unit.role == "system"


TOOL = Tool(
    id="pi",
    title="pi",
    package=Package("npm", "@earendil-works/pi-coding-agent", "1.6.0"),
    format="pi",
    read=_read,
    make=_make,
    again=_again,
    env=_env,
    configure=_configure,
    compactions={"near the window": _compact},
    command="pi",
    launcher='exec "$TOOL" "$@" -p "$PROMPT"',
    turn=with_tools,
    allowances=(
        Allowance(
            "system prompt",
            "System messages are its prompt: most models get one at the start that includes all changes.",
            sent=without(_is_system),
            shown=without(_is_system),
        ),
        Allowance(
            "frame",
            "Fixed words are sent around the summary of a compaction entry.",
            sent=by_unit(_unframed),
            shown=by_unit(_unframed),
        ),
        Allowance(
            "empty results",
            "Empty results are sent as “(no tool output)”, one as “(see attached image)”.",
            alike=_empty,
        ),
    ),
    words=(_WORDS,),
    plans=(*PLANS, Plan("pi", {"keep_tokens": 2_000})),
)
