"""Cline CLI from npm, with the server's chat completions as its provider. It resumes only at a terminal."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote

from interop import typed
from interop.compare import Allowance
from interop.homes import Home, Package
from interop.server import Request
from interop.server.script import Call
from interop.tool import PLANS, Plan, Tool
from interop.units import Unit, Units

_TYPED = (sys.executable, typed.__file__, "Ask anything")
_OPTIONS = ("--compaction", "off")
"""It would compact a sample by itself; what the server says that a prompt took does not make it."""


def _read(path: str) -> Call:
    return Call("read_files", {"files": [{"path": path}]})


def _env(home: Home) -> Mapping[str, str]:
    return {"CLINE_NO_AUTO_UPDATE": "1", "TERM": "xterm-256color"}


def _configure(home: Home) -> None:
    settings = {
        "provider": "openai-compatible",
        "apiKey": "dummy",
        "model": "model",
        "baseUrl": f"{home.server.url}/v1",
    }
    provider = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    providers = {
        "version": 1,
        "lastUsedProvider": "openai-compatible",
        "modes": {},
        "providers": {"openai-compatible": provider},
    }
    home.write(".cline/data/settings/providers.json", json.dumps(providers))


def _make(home: Home, prompts: Sequence[str]) -> Path:
    home.run("cline", prompts[0])
    (path,) = (home.home / ".cline/data/sessions").glob("*/*.messages.json")
    for prompt in prompts[1:]:
        _again(home, path, prompt)
    return path


def _again(home: Home, path: Path, prompt: str) -> None:
    command = [*_TYPED, str(home.bin / "cline"), *_OPTIONS, "--id", path.parent.name]
    home.sh([" ".join(map(quote, command))], {"PROMPT": prompt})


def _is_turn(request: Request) -> bool:
    return bool(request.body.get("tools"))


def _unwrapped(units: Units) -> Units:
    """Without the tags in which it keeps what the person types."""
    return tuple(unit for unit in units if unit.text not in ('<user_input mode="act">', "</user_input>"))


def _of_texts(units: Units) -> Units:
    """Results that are sent as a list of texts, as these texts."""

    def joined(unit: Unit) -> Unit:
        if unit.kind != "result" or not unit.text.startswith('[{"type":"text"'):
            return unit
        return replace(unit, text="\n".join(part["text"] for part in json.loads(unit.text)))

    return tuple(map(joined, units))


def _in_a_list(units: Units) -> Units:
    """Results that are kept as one object each, in the list that is sent."""

    def listed(unit: Unit) -> Unit:
        kept = unit.kind == "result" and unit.text.startswith('{"query":')
        return replace(unit, text=f"[{unit.text}]") if kept else unit

    return tuple(map(listed, units))


_CUT = re.compile(r"(?:\\n|\s)*\.\.\.\[truncated \d+ chars[^]]*\]\.\.\.(?:\\n|\s)*")


def _cut(sent: Unit, shown: Unit) -> bool:
    """Whether a result was sent with both of its ends alone."""
    head, *tail = _CUT.split(sent.text)
    same = sent.kind == shown.kind == "result" and sent.call == shown.call
    return same and len(tail) == 1 and shown.text.startswith(head) and shown.text.endswith(tail[0])


TOOL = Tool(
    id="cline",
    title="Cline CLI",
    package=Package("npm", "cline", "3.0.65"),
    format="cline-sdk",
    read=_read,
    make=_make,
    again=_again,
    env=_env,
    configure=_configure,
    command="cline",
    launcher=f'exec {" ".join(map(quote, _TYPED))} "$TOOL" {" ".join(_OPTIONS)} "$@"',
    turn=_is_turn,
    plans=(*PLANS[1:3], Plan("cline", {"keep_tokens": 1_000})),
    allowances=(
        Allowance("tags", "What the person typed is kept in tags of its mode, which are not sent.", shown=_unwrapped),
        Allowance("results in a list", "Results of its own tools are sent as a list of one.", shown=_in_a_list),
        Allowance("texts in a list", "A result of several texts is sent as the list of them.", sent=_of_texts),
        Allowance("long results", "Of a result longer than 8 000 characters it sends both ends.", alike=_cut),
    ),
)
