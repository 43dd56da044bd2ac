"""Tools that are libraries: a script of `interop/inside/` drives the package from within its environment."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import dropwhile
from pathlib import Path

from interop.compare import Allowance, Change
from interop.homes import Home, Package
from interop.server.script import Call
from interop.tool import PLANS, Plan, Tool
from interop.units import Unit, Units

INSIDE = Path(__file__).resolve().parent / "inside"


def _without_prompt(units: Units) -> Units:
    return tuple(dropwhile(lambda unit: unit.role == "system", units))


def since_last(opens: Callable[[Unit], bool]) -> Change:
    """What leaves out all that stands before the last unit that `opens`, as if no call had been made there."""

    def since(units: Units) -> Units:
        last = max((at for at, unit in enumerate(units) if opens(unit)), default=0)
        gone = sum(unit.kind == "call" for unit in units[:last])
        return tuple(replace(unit, call=max(unit.call - gone, 0)) for unit in units[last:])

    return since


SYSTEM_PROMPT = Allowance(
    "system prompt",
    "System messages at the start of a context are its system prompt, which is not part of the conversation.",
    sent=_without_prompt,
    shown=_without_prompt,
)
DUMMY = {"OPENAI_API_KEY": "dummy", "ANTHROPIC_API_KEY": "dummy", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}


@dataclass(frozen=True, slots=True)
class Script:
    """`interop/inside/<name>.py`, as the functions of a Tool: it makes its session in `file` of the home."""

    name: str
    file: str = "session.json"
    told: Mapping[str, str] = field(default_factory=dict)
    """What it is told in its environment beside the server and dummy keys."""

    def env(self, home: Home) -> Mapping[str, str]:
        return {**DUMMY, **self.told}

    def make(self, home: Home, prompts: Sequence[str]) -> Path:
        self.run(home, home.home / self.file, *prompts)
        return home.home / self.file

    def again(self, home: Home, path: Path, prompt: str) -> None:
        self.run(home, path, prompt)

    def resume(self, home: Home, path: Path, steps: Sequence[str], prompts: Sequence[str]) -> None:
        """The printed steps are a comment: no command goes on with such a file."""
        for prompt in prompts:
            self.run(home, path, prompt)

    def compact(self, home: Home, path: Path) -> Path:
        """Goes on in the session, told to compact it."""
        self.run(home, path, "Go on with less.", COMPACT="yes")
        return path

    def each(self, home: Home, files: Sequence[Path], prompt: str) -> Mapping[Path, str]:
        lines = self.run(home, "--each", prompt, *files).splitlines()
        told = [json.loads(line) for line in lines if line.startswith('{"file": ')]
        return {Path(one["file"]): one["error"] for one in told}

    def run(self, home: Home, *words: str | Path, **more: str) -> str:
        """What it prints. Raises Failed where the package raises."""
        env = {**self.env(home), "SERVER": home.server.url, **more}
        return home.run("python", str(INSIDE / f"{self.name}.py"), *map(str, words), env=env)


def reads(path: str) -> Call:
    """The call of the one tool that the scripts' agents have (`inside/turns.py`)."""
    return Call("read_file", {"path": path})


def library(
    script: Script,
    *,
    id: str,
    title: str,
    package: Package,
    format: str,
    read: Callable[[str], Call] = reads,
    compaction: str = "",
    plans: tuple[Plan, ...] = PLANS,
    allowances: tuple[Allowance, ...] = (),
) -> Tool:
    """The tool that the script drives and does all of; `compaction` names what the package itself compacts with."""
    return Tool(
        id=id,
        title=title,
        package=package,
        format=format,
        read=read,
        make=script.make,
        again=script.again,
        env=script.env,
        compactions={compaction: script.compact} if compaction else {},
        resume=script.resume,
        each=script.each,
        plans=plans,
        allowances=(SYSTEM_PROMPT, *allowances),
    )
