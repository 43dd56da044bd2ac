"""python -m interop.hooks [AGENT …]: the hooks inside the agents, against the server of `interop.server`.

The hook is installed into the agent's settings in a home of its own. The user states two rules; the agent compacts, and
the summary has one of them. The next request must have the lost rule verbatim and once, and the other rule once: in
the summary. Ends with 1 where it has not.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from interop import server
from interop.__main__ import APART, apart, every_tool
from interop.homes import Failed, Home, Missing, install
from interop.server import Server
from interop.tool import Tool
from interop.trial import prepared

LOST = "Never rename the sluice module."
KEPT = "Always write commit messages in British English."
SUMMARY = f"<summary>\nThe user asked for a review.\n{KEPT}\n</summary>"
ANALYSIS = f"<analysis>\nThe user said: {LOST}\n</analysis>\n\n"
"""Claude Code drops it; other agents keep all that is answered."""
_REPO = Path(__file__).resolve().parents[1]


def _at_command(tool: Tool, home: Home, path: Path) -> None:
    tool.compactions["/compact"](home, path)
    tool.again(home, path, "Go on.")


def _at_prompt(tool: Tool, home: Home, path: Path) -> None:
    limit = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "200000"}
    for prompt in ("Count. [[tokens 175000]] [[say Counted.]]", "Go on."):
        home.run("claude", "-p", prompt, "--resume", path.stem, "--model", "claude-sonnet-4-5", env=limit)


def _within_a_turn(tool: Tool, home: Home, path: Path) -> None:
    tool.compactions["over its limit"](home, path)


_CODEX = ("--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")


def _codex(tool: Tool, home: Home, path: Path) -> None:
    """Codex keeps the user's newest 20 000 tokens: only what is before a longer text is lost."""
    tool.again(home, path, "And the weir. " + "word " * 24_000)
    limit = ("-c", "model_auto_compact_token_limit=1000", "--dangerously-bypass-hook-trust")
    home.run("codex", "exec", "resume", path.stem[-36:], *_CODEX, *limit, "Go on.")


def _pi(tool: Tool, home: Home, path: Path) -> None:
    tool.again(home, path, "And the weir. " + "word " * 9_000)
    tool.compactions["near the window"](home, path)


Compact = Callable[[Tool, Home, Path], None]
"""Has an agent compact the session of a file, and go on."""

TRIALS: Mapping[str, Mapping[str, Compact]] = {
    "claude-code": {"/compact": _at_command, "at a prompt": _at_prompt, "within a turn": _within_a_turn},
    "codex": {"at a prompt": _codex},
    "pi": {"within a turn": _pi},
}
"""By agent and name. The last request is looked at."""


def main(names: list[str]) -> int:
    if unknown := [name for name in names if name not in TRIALS]:
        print(f"There is no trial of {unknown[0]!r}; there are {', '.join(TRIALS)}.", file=sys.stderr)
        return 2
    known, ready = every_tool(), list[str]()
    if APART in os.environ:
        return _try([known[name] for name in names])
    for name in names or TRIALS:
        try:
            install(name, known[name].package)
            ready.append(name)
        except Missing as reason:
            print(f"{known[name].title}: skipped, {reason}", file=sys.stderr)
    return apart("interop.hooks", ready) if ready else 0


def _try(tools: Sequence[Tool]) -> int:
    bad = False
    for tool in tools:
        for what, compact in TRIALS[tool.id].items():
            with server.running() as one:
                one.summary = ANALYSIS + SUMMARY if tool.id == "claude-code" else SUMMARY
                found = [*_faults(tool, prepared(tool, one), one, compact)]
            bad = bad or bool(found)
            print(f"{tool.title} {tool.package.version}, {what}: {'; '.join(found) or 'as it should be'}", flush=True)
    return int(bad)


def _faults(tool: Tool, home: Home, one: Server, compact: Compact) -> Iterator[str]:
    """What went wrong, one sentence each. The counts of both rules are printed."""
    home.run(sys.executable, "-m", "workbench", "hook", "install", tool.id, "--yes", env={"PYTHONPATH": str(_REPO)})
    try:
        path = tool.make(home, (f"Review the mill. {LOST} {KEPT}", "And the weir."))
        before = len(one.requests)
        compact(tool, home, path)
    except Failed as error:
        yield str(error)
        return
    sent = [request for request in one.requests[before:] if tool.turn(request)]
    texts = json.dumps(sent[-1].body, ensure_ascii=False)
    print(f"  last request: the lost rule {texts.count(LOST)} ×, the kept rule {texts.count(KEPT)} ×")
    if texts.count(LOST) != 1:
        yield f"the lost rule is there {texts.count(LOST)} times"
    if texts.count(KEPT) != 1:
        yield f"the kept rule is there {texts.count(KEPT)} times"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
