"""Set up .venv and say how far it is: what `make` runs before anything is installed.

`python scripts/set_up.py run` installs what running needs, `python scripts/set_up.py dev` what tests and checks need
besides, and the package itself. Nothing but Python is needed for it, and what is there already is left as it is.
"""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path

VENV = Path(".venv")
PYTHON = VENV / "bin" / "python"
OFTEN_S = 0.2
KEPT = 40
"""Lines of pip's that are shown when it fails."""

_FOUND = re.compile(r"Collecting ([A-Za-z0-9._-]+)")
_FETCHED = re.compile(r"Downloading \S+ \(([\d.]+) ([kKMG]?)B\)")
_SCALES = {"": 1e-6, "k": 1e-3, "K": 1e-3, "M": 1.0, "G": 1e3}


class Progress:
    """One line on a terminal that is written anew; elsewhere only what is finished, a line each."""

    def __init__(self) -> None:
        self.live = sys.stderr.isatty()
        self.began = time.monotonic()

    def now(self, text: str) -> None:
        if self.live:
            sys.stderr.write(f"\r\033[K{text[:100]}")
            sys.stderr.flush()

    def done(self, text: str) -> None:
        self.now("")
        sys.stderr.write(f"{text}  {time.monotonic() - self.began:.0f} s\n")
        sys.stderr.flush()


def main() -> int:
    if sys.argv[1:] not in (["run"], ["dev"]):
        sys.stderr.write(__doc__ or "")
        return 2
    kind = sys.argv[1]
    progress = Progress()
    version = ".".join(map(str, sys.version_info[:3]))
    # Without pip, too: then making it was broken off.
    if not PYTHON.exists() or not any(VENV.glob("lib/python*/site-packages/pip-*")):
        progress.now(f"1/3 Making {VENV} with Python {version}")
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
        progress.done(f"1/3 Made {VENV} with Python {version}")
    return installed(needed(kind), progress)


def needed(kind: str) -> list[str]:
    """What pip is to install: for running without the package, which is run from where it lies."""
    if kind == "dev":
        return ["-e", ".[dev]"]
    with open("pyproject.toml", "rb") as file:
        return list(tomllib.load(file)["project"]["dependencies"])


class Heard:
    """What pip's lines say: the packages it looked at, what it fetched, and how many it is about to install."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.megabytes = 0.0
        self.coming = 0

    def hear(self, line: str) -> None:
        if found := _FOUND.match(line):
            self.names.append(found[1])
        elif fetched := _FETCHED.search(line):
            self.megabytes += float(fetched[1]) * _SCALES[fetched[2]]
        elif line.startswith("Installing collected packages:"):
            self.coming = line.count(",") + 1

    def __str__(self) -> str:
        last = f"  {self.names[-1]}" if self.names else ""
        return f"2/3 Fetching: {len(self.names)} packages, {self.megabytes:.0f} MB{last}"


def installed(wanted: list[str], progress: Progress) -> int:
    """Install by pip; its exit code."""
    pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "install", "--no-compile", "--progress-bar", "off"]
    command = [*pip, "--no-warn-script-location", "-c", "constraints.txt", *wanted]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    assert run.stdout is not None
    heard, lines = Heard(), list[str]()
    for line in run.stdout:
        lines = [*lines[1 - KEPT :], line]
        heard.hear(line)
        if heard.coming and line.startswith("Installing"):
            progress.done(f"2/3 Fetched {heard.coming} packages, {heard.megabytes:.0f} MB")
            watch(run, heard.coming, progress)
        elif not heard.coming:
            progress.now(str(heard))
    code = run.wait()
    if code:
        progress.done("Setting up failed; what pip said last:")
        sys.stderr.writelines(lines)
        return code
    progress.done(f"3/3 Installed; {len(packages())} packages are in {VENV}")
    return 0


def watch(run: subprocess.Popen[str], coming: int, progress: Progress) -> None:
    """Say how many are installed, in a thread, until pip is done, which says nothing of it."""
    before = len(packages())

    def look() -> None:
        while run.poll() is None:
            there = min(coming, max(0, len(packages()) - before))
            progress.now(f"3/3 Installing: {there} of {coming} packages")
            time.sleep(OFTEN_S)

    threading.Thread(target=look, daemon=True).start()


def packages() -> list[Path]:
    return list(VENV.glob("lib/python*/site-packages/*.dist-info"))


if __name__ == "__main__":
    sys.exit(main())
