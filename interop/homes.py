"""Where a tool lives while it is tried: its package, a home and a project folder of its own, and an empty environment.

Everything lies under `.interop/`, which git ignores: packages are kept from one run to the next, homes are not. A tool
sees nothing of this machine's settings, and no network but the server's.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from interop.server import Server

ROOT = Path(__file__).resolve().parents[1] / ".interop"
NODE = "24"
"""The major version of Node.js that the agents from npm run on: some want a newer one than machines have."""
FOLDER = "a.b_c é😀 (2)"
"""The project's: with signs after which tools name folders of their own, each in its way."""
PATIENCE = 120
"""Seconds that one command of a tool may take."""


class Missing(Exception):
    """A tool that cannot be had; why, in a sentence."""


class Failed(Exception):
    """A command of a tool that did not go well; how, in a sentence."""


@dataclass(frozen=True, slots=True)
class Package:
    """What is installed: a package of npm or PyPI at a version, with others that it needs (`name==1.2` or `name@1.2`),
    and the oldest Python it runs on where that is newer than this one (`3.12`)."""

    registry: Literal["npm", "PyPI"]
    name: str
    version: str
    beside: tuple[str, ...] = ()
    python: str = ""


@dataclass(frozen=True)
class Home:
    """The place of one trial. `root` holds package/, home/, project/, exports/, bin/ and log.txt; `env` is all that the
    tool is told beside HOME and PATH."""

    root: Path
    server: Server
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.root / FOLDER

    @property
    def exports(self) -> Path:
        return self.root / "exports"

    @property
    def bin(self) -> Path:
        """Where the package's own commands are."""
        return self.root / "package" / ("node_modules/.bin" if (self.root / "package/node_modules").exists() else "bin")

    def write(self, name: str, text: str) -> Path:
        """A file of settings in the home."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def only(self, pattern: str) -> Path:
        """The one file of the home that matches. Raises Failed where there is none, or several."""
        found = list(self.home.glob(pattern))
        if len(found) != 1:
            raise Failed(f"{len(found)} files are ~/{pattern}, and one was to be there")
        return found[0]

    def run(self, *command: str, stdin: str = "", env: Mapping[str, str] | None = None, check: bool = True) -> str:
        """What one of the package's commands prints, run in the project folder. Raises Failed when it ends badly, which
        `check` may forgive, or does not end."""
        return self._run([str(self.bin / command[0]), *command[1:]], stdin, self._env(env or {}), check)

    def sh(self, steps: Sequence[str], env: Mapping[str, str]) -> str:
        """The steps as `sh` runs them one after the other, with the stand-ins of `launch` before everything on PATH."""
        told = self._env(env)
        told["PATH"] = f"{self.root / 'bin'}:{told['PATH']}"
        return self._run(["sh", "-ec", "\n".join(steps)], "", told, True)

    def follow(self, steps: Sequence[str], prompts: Sequence[str]) -> None:
        """The steps as printed, with the first prompt; for the second only the last, which opens the session that lies
        there by now."""
        for prompt, these in zip(prompts, (steps, steps[-1:]), strict=True):
            self.sh(these, {"PROMPT": prompt})

    def launch(self, command: str, body: str) -> None:
        """A stand-in for `command` in printed steps: a shell script in which $TOOL is the command itself."""
        script = self.root / "bin" / command
        script.parent.mkdir(exist_ok=True)
        script.write_text(f"#!/bin/sh\nTOOL={self.bin / command}\n{body}\n")
        script.chmod(0o755)

    def _env(self, more: Mapping[str, str]) -> dict[str, str]:
        path = f"{self.bin}:{ROOT / 'node' / 'node_modules/node/bin'}:/usr/local/bin:/usr/bin:/bin"
        always = {"HOME": str(self.home), "PATH": path, "LANG": "C.UTF-8", "TERM": "dumb", "TMPDIR": str(self.home)}
        return {**always, **self.env, **more}

    def _run(self, command: list[str], stdin: str, env: dict[str, str], check: bool) -> str:
        try:
            done = subprocess.run(
                command, input=stdin, env=env, cwd=self.project, capture_output=True, text=True, timeout=PATIENCE
            )
        except subprocess.TimeoutExpired:
            raise Failed(f"`{Path(command[0]).name}` did not end within {PATIENCE} seconds") from None
        with (self.root / "log.txt").open("a", encoding="utf-8") as log:
            log.write(f"$ {' '.join(command)}\n{done.stdout}{done.stderr}[{done.returncode}]\n")
        if check and done.returncode:
            said = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()[-1]
            raise Failed(f"`{Path(command[0]).name}` ended with {done.returncode}: {said[:300]}")
        return done.stdout


def fresh(id: str, server: Server) -> Home:
    """A home with nothing in it but the package, and the project folder with its files."""
    root = ROOT / id
    for name in ("home", FOLDER, "exports", "bin"):
        shutil.rmtree(root / name, ignore_errors=True)
        (root / name).mkdir(parents=True)
    (root / "log.txt").unlink(missing_ok=True)
    for name, text in PROJECT.items():
        (root / FOLDER / name).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=root / FOLDER, check=True)
    return Home(root, server)


PROJECT = {
    "notes.md": "# Notes\n\nThe mill listens on port 8443. Never touch weir.cfg.\n",
    "odd.txt": 'tab\there, "quotes", \\back\\slash, <b>&amp;</b> ${HOME} `x`, é ü 漢字 🌾\u200b, and [[brackets]]\n',
    "long.txt": "".join(
        f"{line}: the wheel turns, the stone turns, sack {line * 7} is full\n" for line in range(1, 400)
    ),
    "weir.cfg": "[weir]\nheight = 3\ngates = 4\n",
}
"""The files of the project folder, which the scene's calls read."""


def install(id: str, package: Package) -> None:
    """Puts the package where the tool's home has it, once for each version. Raises Missing with the reason."""
    folder = ROOT / id / "package"
    stamp, wanted = folder / ".installed", repr(package)
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if package.registry == "npm":
        _npm(ROOT / "node", f"node@{NODE}")
        _npm(folder, f"{package.name}@{package.version}", *package.beside)
    else:
        _pip(folder, package)
    stamp.write_text(wanted)


def _npm(folder: Path, *packages: str) -> None:
    if (folder / "node_modules").is_dir():
        return
    if not (npm := shutil.which("npm")):
        raise Missing("npm is not on this machine")
    settings = os.environ.get("NPM_CONFIG_USERCONFIG") or os.path.expanduser("~/.npmrc")
    home = ROOT / "npm"
    home.mkdir(exist_ok=True)
    env = {**os.environ, "HOME": str(home), "NPM_CONFIG_USERCONFIG": settings, "npm_config_cache": str(home / "cache")}
    _get([npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", *packages], env, packages[0])


def _pip(folder: Path, package: Package) -> None:
    python = shutil.which(f"python{package.python}") if package.python else sys.executable
    if not python:
        raise Missing(f"{package.name} needs Python {package.python}, which is not on this machine")
    environment(folder, python, f"{package.name}=={package.version}", *package.beside)


def environment(folder: Path, python: str, *packages: str) -> None:
    """A virtual environment with these packages of PyPI's, or folders that are some. Raises Missing, which tells of the
    first."""
    env = {**os.environ, "PIP_CACHE_DIR": str(ROOT / "pip"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    _get([python, "-m", "venv", str(folder)], env, "a virtual environment")
    _get([str(folder / "bin/python"), "-m", "pip", "install", "-q", *packages], env, packages[0])


def _get(command: list[str], env: Mapping[str, str], what: str) -> None:
    """Runs what installs something. Raises Missing with the last that it said."""
    done = subprocess.run(command, env=dict(env), capture_output=True, text=True)
    if done.returncode:
        raise Missing(f"{what} cannot be installed here: {_reason(done.stderr)}")


def _reason(said: str) -> str:
    """The line of an installer's that says what is wrong, without addresses: npm's first, pip's last."""
    lines = [line for line in said.splitlines() if not re.search(r"npm (warn|notice)|error code|log of this run", line)]
    npm = [line for line in lines if line.startswith("npm error")]
    return re.sub(r"https?://\S+", "…", (npm[:1] or lines[-1:] or ["it does not say why"])[0])[:200]
