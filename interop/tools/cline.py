"""Cline CLI from npm, with the server's chat completions as its provider. It resumes only at a terminal."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from shlex import quote

from interop import typed
from interop.compare import Allowance, by_unit, without
from interop.homes import PROJECT, Home, Package
from interop.server.script import Call
from interop.tool import PLANS, Plan, Tool, with_tools
from interop.units import Unit

_TYPED = (sys.executable, typed.__file__, "Ask anything")
_OPTIONS = ("--compaction", "off")
"""It would compact a sample by itself; what the server says that a prompt took does not make it."""
_NARROW = 9_000
"""Tokens."""


def _read(path: str) -> Call:
    return Call("read_files", {"files": [{"path": path}]})


def _env(home: Home) -> Mapping[str, str]:
    return {"CLINE_NO_AUTO_UPDATE": "1", "TERM": "xterm-256color"}


def _configure(home: Home, **more: int) -> None:
    settings = {
        "provider": "openai-compatible",
        "apiKey": "dummy",
        "model": "model",
        "baseUrl": f"{home.server.url}/v1",
        **more,
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
    path = home.only(".cline/data/sessions/*/*.messages.json")
    for prompt in prompts[1:]:
        _again(home, path, prompt)
    return path


def _again(home: Home, path: Path, prompt: str) -> None:
    _type(home, path, prompt, *_OPTIONS)


def _type(home: Home, path: Path, prompt: str, *options: str) -> None:
    command = [*_TYPED, str(home.bin / "cline"), *options, "--id", path.parent.name]
    home.sh([" ".join(map(quote, command))], {"PROMPT": prompt})


def _compact(home: Home, path: Path) -> Path:
    _type(home, path, "/compact")
    return path


def _compact_by_itself(home: Home, path: Path) -> Path:
    """The next prompt comes to a model whose window is full by now."""
    _configure(home, contextWindow=_NARROW)
    _type(home, path, "Go on in a narrow window.")
    _configure(home)
    return path


def _is_tag(unit: Unit) -> bool:
    """One of those in which it keeps what the person types."""
    return unit.text in ('<user_input mode="act">', "</user_input>")


def _of_texts(unit: Unit) -> Unit:
    """A result that is sent as a list of texts, as these texts."""
    if unit.kind != "result" or not unit.text.startswith('[{"type":"text"'):
        return unit
    return replace(unit, text="\n".join(part["text"] for part in json.loads(unit.text)))


def _in_a_list(unit: Unit) -> Unit:
    """A result that is kept as one object, in the list that is sent. One that was shortened is a text and no object."""
    if unit.kind == "result" and unit.text.startswith('{"query":'):
        with suppress(ValueError):
            json.loads(unit.text)
            return replace(unit, text=f"[{unit.text}]")
    return unit


_CUT = re.compile(r"(?:\\n|\s)*\.\.\.\[truncated \d+ chars[^]]*\]\.\.\.(?:\\n|\s)*")


def _cut(sent: Unit, shown: Unit) -> bool:
    """Whether a result was sent with both of its ends alone."""
    head, *tail = _CUT.split(sent.text)
    same = sent.kind == shown.kind == "result" and sent.call == shown.call
    return same and len(tail) == 1 and shown.text.startswith(head) and shown.text.endswith(tail[0])


def _numbered(text: str) -> str:
    """A file as it reads one."""
    lines = text.removesuffix("\n").split("\n")
    return "\n".join(f"{number:>{len(str(len(lines)))}} | {line}" for number, line in enumerate(lines, 1))


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
    compactions={"/compact": _compact, "near the window": _compact_by_itself},
    command="cline",
    launcher=f'exec {" ".join(map(quote, _TYPED))} "$TOOL" {" ".join(_OPTIONS)} "$@"',
    turn=with_tools,
    beside=lambda path: path.with_name(path.name.replace(".messages.json", ".compaction.json")),
    words=tuple(map(_numbered, PROJECT.values())),
    plans=(*PLANS[1:3], Plan("cline", {"keep_tokens": 1_000})),
    allowances=(
        Allowance(
            "tags", "The file keeps typed text in tags of the mode; the tags are not sent.", shown=without(_is_tag)
        ),
        Allowance(
            "results in a list",
            "Results of the agent's own tools are sent as a list with one entry.",
            shown=by_unit(_in_a_list),
        ),
        Allowance("texts in a list", "A result with several texts is sent as a list.", sent=by_unit(_of_texts)),
        Allowance("long results", "Results over 8 000 characters are sent without their middle.", alike=_cut),
    ),
)
