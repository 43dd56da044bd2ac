"""The newest version and name of every package that interop, gateways and loops try.

    python scripts/newest.py [WORD …]

Prints a line for each package whose name holds one of the words, or for all: package, tried on, newest, and a remark.
npm and pip are asked through their own commands. A package that was renamed says so at best in its deprecation; so one
without a release for 90 days is named, too: look whether it goes on under another name.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Literal

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from interop.__main__ import every_tool
from interop.gateways import GATEWAYS
from interop.loops import LOOPS

Registry = Literal["npm", "PyPI"]

RENAMED = {"@mariozechner/pi-coding-agent": "@earendil-works/pi-coding-agent"}
"""Packages that go on under another name and do not say so themselves."""

QUIET_DAYS = 90
"""Days without a release after which a package may have been renamed or given up."""


@dataclass(frozen=True, slots=True)
class Tracked:
    """A package by its registry and name, and the versions that are tried."""

    registry: Registry
    name: str
    tried: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Newest:
    """What a registry says of a package: the newest version, its day, and the text of its deprecation. `error` says why
    nothing is known."""

    version: str = ""
    released: date | None = None
    deprecated: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    package: str
    tried: str
    newest: str
    remarks: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.package}  {self.tried}  {self.newest}  {'; '.join(self.remarks)}".rstrip()


def tracked() -> list[Tracked]:
    """Every package of interop's tools, of the gateways and of the loops, once each."""
    found: dict[tuple[Registry, str], list[str]] = {}
    packages = [tool.package for tool in every_tool().values()] + [one.package for one in GATEWAYS.values()]
    named: list[tuple[Registry, str, str]] = [(one.registry, one.name, one.version) for one in packages]
    named += [("PyPI", *need.split("==")) for loop in LOOPS.values() for need in loop.needs]  # type: ignore[list-item]
    for registry, name, version in named:
        versions = found.setdefault((registry, name.partition("[")[0]), [])
        versions += [version] if version not in versions else []
    return [Tracked(registry, name, tuple(versions)) for (registry, name), versions in sorted(found.items())]


def rows(packages: Iterable[Tracked], ask: Callable[[Tracked], Newest], today: date) -> Iterator[Row]:
    """A row for each package; `ask` says what its registry has of it."""
    for package in packages:
        newest = ask(package)
        tried = ", ".join(package.tried)
        if newest.error:
            yield Row(package.name, tried, "?", [newest.error])
            continue
        remarks = ["newer"] if newest.version not in package.tried else []
        name = RENAMED.get(package.name) or _named(newest.deprecated, package.name)
        if name:
            remarks.append(f"renamed: {name}")
        if newest.deprecated:
            remarks.append(f"deprecated: {newest.deprecated}")
        quiet = (today - newest.released).days if newest.released else 0
        if quiet > QUIET_DAYS and not name:
            remarks.append(f"no release for {quiet} days: renamed?")
        yield Row(package.name, tried, newest.version, remarks)


def _named(deprecated: str, name: str) -> str:
    """Another package that a deprecation names, "" for none."""
    found = re.findall(r"@[\w.-]+/[\w.-]*\w|(?<=`)[\w.-]+(?=`)", deprecated)
    return next((one for one in found if one != name), "")


def of_npm(printed: str) -> Newest:
    """What `npm view NAME version deprecated time --json` printed."""
    try:
        said = json.loads(printed)
    except ValueError:
        return Newest(error="npm said nothing that can be read")
    if not isinstance(said, dict) or "version" not in said:
        error = said.get("error") if isinstance(said, dict) else None
        return Newest(error=f"not found: {error['code']}" if isinstance(error, dict) else "not found")
    version, times = str(said["version"]), said.get("time")
    stamp = times.get(version) if isinstance(times, dict) else None
    released = datetime.fromisoformat(stamp.replace("Z", "+00:00")).date() if isinstance(stamp, str) else None
    return Newest(version, released, str(said.get("deprecated") or ""))


def of_pip(printed: str) -> Newest:
    """What `pip index versions NAME` printed: `name (1.2.3)` on the first line."""
    found = re.match(r"\S+ \(([^)\s]+)\)", printed)
    return Newest(found[1]) if found else Newest(error="not found")


def ask_registry(package: Tracked) -> Newest:
    """Ask npm or pip on this machine."""
    npm = ["npm", "view", package.name, "version", "deprecated", "time", "--json"]
    pip = [sys.executable, "-m", "pip", "index", "versions", "--ignore-requires-python", package.name]
    try:
        done = subprocess.run(npm if package.registry == "npm" else pip, capture_output=True, text=True)
    except OSError as error:
        return Newest(error=f"{package.registry} cannot be asked: {error.strerror}")
    return of_npm(done.stdout) if package.registry == "npm" else of_pip(done.stdout)


def main(words: Sequence[str]) -> int:
    chosen = [one for one in tracked() if not words or any(word in one.name for word in words)]
    print("package  tried on  newest  remark")
    for row in rows(chosen, ask_registry, datetime.now(UTC).date()):
        print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
