"""python -m interop.loops [LOOP …]: runs them, each in the environment of its package, and says what went wrong.

The environments lie under `.interop/loops/`. Ends with 1 where something went wrong; what cannot be installed is
skipped with its reason.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from interop import server
from interop.homes import ROOT, Missing, environment
from interop.loops import LOOPS, SCRIPT, faults

BUDGETS = (1_200, 2_500, 12_000)
"""In tokens: of a result of 9 000 the first two hold a part, the third the whole."""
_REPO = Path(__file__).resolve().parents[2]


def main(names: list[str]) -> int:
    if unknown := [name for name in names if name not in LOOPS]:
        print(f"There is no loop {unknown[0]!r}; there are {', '.join(LOOPS)}.", file=sys.stderr)
        return 2
    bad = False
    for name in names or LOOPS:
        try:
            python = _environment(name)
        except Missing as reason:
            print(f"{LOOPS[name].title}: skipped, {reason}")
            continue
        for budget in BUDGETS:
            found = _tried(name, python, budget)
            bad = bad or bool(found)
            print(f"{LOOPS[name].title}, {budget} tokens: {'; '.join(found) or 'every result was sent'}", flush=True)
    return int(bad)


def _environment(name: str) -> Path:
    """The interpreter of an environment with the loop's packages and what the workbench needs."""
    folder = ROOT / "loops" / name
    python, stamp = folder / "bin/python", folder / ".installed"
    wanted = repr(LOOPS[name])
    if not stamp.is_file() or stamp.read_text() != wanted:
        environment(folder, sys.executable, *LOOPS[name].needs, str(_REPO))
        stamp.write_text(wanted)
    return python


def _tried(name: str, python: Path, budget: int) -> list[str]:
    """One loop in a process that knows nothing of this machine's user."""
    env = {"HOME": str(ROOT / "nobody"), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONPATH": str(_REPO)}
    env |= {"OPENAI_API_KEY": "dummy", "ANTHROPIC_API_KEY": "dummy", "OPENAI_AGENTS_DISABLE_TRACING": "1"}
    code = f"from interop.loops.{name} import loop; import sys; print(loop(sys.argv[1], int(sys.argv[2])))"
    with server.running() as here:
        here.script = list(SCRIPT)
        command = [str(python), "-c", code, here.url, str(budget)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
        if done.returncode:
            return [(done.stderr.strip() or "it failed without a word").splitlines()[-1][:200]]
        return list(faults(here.requests, done.stdout.strip().splitlines()[-1]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
