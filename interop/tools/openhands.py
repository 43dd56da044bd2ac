"""The OpenHands SDK: a conversation in the folder in which it keeps it.

Its command line is a package of its own, which opens `~/.openhands/conversations/ID` by the same SDK: a stand-in for it
does that without a screen. A list of events, which no command takes, is given to a new conversation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from interop.compare import Allowance, without
from interop.homes import Home, Package
from interop.library import INSIDE, Script, library
from interop.server.script import Call
from interop.units import Unit

_CONVERSATIONS = ".openhands/conversations"
_LONGEST = 50_000
_SCRIPT = Script("openhands_turns", f"{_CONVERSATIONS}/11111111222243338444555555555555")
_without_reasoning = without(lambda unit: unit.kind == "reasoning")


def _read(path: str) -> Call:
    return Call("terminal", {"command": f"cat {path}"})


def _env(home: Home) -> Mapping[str, str]:
    return {**_SCRIPT.env(home), "SERVER": home.server.url}


def _resume(home: Home, path: Path, steps: tuple[str, ...], prompts: Sequence[str]) -> None:
    if path.is_dir():
        home.follow(steps, prompts)
    else:
        _SCRIPT.resume(home, path, steps, prompts)


def _is_cut(sent: Unit, shown: Unit) -> bool:
    alike = (sent.role, sent.kind, sent.call) == ("tool", shown.kind, shown.call)
    return alike and len(shown.text) > _LONGEST and sent.text[:1000] == shown.text[:1000]


TOOL = replace(
    library(
        _SCRIPT,
        id="openhands",
        title="OpenHands SDK",
        package=Package("PyPI", "openhands-sdk", "1.58.0", ("openhands-tools==1.58.0",), python="3.12"),
        format="openhands",
        read=_read,
        compaction="LLMSummarizingCondenser",
        allowances=(
            Allowance(
                "reasoning",
                "Reasoning is sent only to models that require it.",
                sent=_without_reasoning,
                shown=_without_reasoning,
            ),
            Allowance(
                "long results",
                f"Results over {_LONGEST} characters are sent without their middle.",
                alike=_is_cut,
            ),
        ),
    ),
    env=_env,
    command="openhands",
    launcher=f"""[ "$1" = --resume ]
exec "${{TOOL%/*}}/python" "{INSIDE}/openhands_turns.py" "$HOME/{_CONVERSATIONS}/$2" "$PROMPT\"""",
    resume=_resume,
    words=(
        "[The command completed with exit code 0.]",
        "[Current working directory: /home/ada/mill]",
        "[Python interpreter: /usr/bin/python]",
        "[Command finished with exit code 0]",
    ),
)
