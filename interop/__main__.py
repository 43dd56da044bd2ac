"""python -m interop [--record] [TOOL …]: installs the tools named, or all, tries them, and writes docs/interop.md.

With --record what was equal becomes the fixtures of `tests/interop/`.

What is installed needs the network; what is tried gets none: this process then starts again in a network of its own,
with nothing in it but the loopback, where the system lets it. Ends with 1 when something differs.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime

from interop import server, table, tools
from interop.homes import ROOT, Missing, install
from interop.record import record_all
from interop.repairs import repaired
from interop.samples import every_sample
from interop.tool import Tool
from interop.trial import prepared, try_out

APART = "INTEROPAPART"


def every_tool() -> dict[str, Tool]:
    """By id: each module of `interop/tools/` has one, its TOOL."""
    modules = (importlib.import_module(f"interop.tools.{one.name}") for one in pkgutil.iter_modules(tools.__path__))
    found = [module.TOOL for module in modules]
    return {tool.id: tool for tool in sorted(found, key=lambda tool: tool.id)}


def main(names: list[str]) -> int:
    record, known = "--record" in names, every_tool()
    names = [name for name in names if name != "--record"]
    if unknown := [name for name in names if name not in known]:
        print(f"There is no tool {unknown[0]!r}; there are {', '.join(known)}.", file=sys.stderr)
        return 2
    chosen = [known[name] for name in names] or list(known.values())
    if APART in os.environ:
        return _try(chosen, record)
    day, ready = datetime.now(UTC).date().isoformat(), []
    for tool in chosen:
        try:
            print(f"{tool.title} {tool.package.version} …", file=sys.stderr)
            install(tool.id, tool.package)
            ready.append(tool.id)
        except Missing as reason:
            print(f"{tool.title}: skipped, {reason}", file=sys.stderr)
            table.update(tool, str(reason), day)
    return apart("interop", [*(["--record"] if record else []), *ready]) if ready else 0


def apart(module: str, arguments: list[str]) -> int:
    """Run a module in another process, which knows nothing of this machine's user, and has no network where `unshare`
    can take it away. Return its exit code; `APART` is set in its environment."""
    command = [sys.executable, "-m", module, *arguments]
    apart = ["unshare", "-rnp", "--fork", "--kill-child", "--mount-proc"]  # what a tool leaves running ends with it
    alone = [*apart, "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    if shutil.which("unshare") and subprocess.run([*alone, "true"], capture_output=True).returncode == 0:
        command = [*alone, *command]
    else:
        print("The network cannot be taken away here: the tools are tried with it.", file=sys.stderr)
    env = {"PATH": os.environ["PATH"], "HOME": str(ROOT / "nobody"), "LANG": "C.UTF-8", APART: "1"}
    return subprocess.run(command, env=env, cwd=ROOT.parent).returncode


def _try(chosen: list[Tool], record: bool) -> int:
    day, differs = datetime.now(UTC).date().isoformat(), False
    for tool in chosen:
        with server.running() as one:
            home = prepared(tool, one)
            trial = try_out(tool, home)
            if record:
                record_all(tool, trial, home)
            trial = replace(trial, samples=every_sample(tool, home))
        with server.running() as one:  # in a home of its own again, for it makes another session
            trial = replace(trial, repaired=repaired(tool, prepared(tool, one)))
        table.update(tool, trial, day)
        differs = differs or bool(trial.failed)
        for line in (f"{verdict.of}: {verdict.difference}" for verdict in trial.failed):
            print(f"{tool.title}: {line}", file=sys.stderr)
        print(f"{tool.title}: {'differs' if trial.failed else 'equal'}", flush=True)
    return int(differs)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
