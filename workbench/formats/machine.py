"""A machine, the folders on it in which agents keep sessions (`Format.places`), and agents' programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from msgspec import Struct


class Place(Struct, frozen=True):
    """A folder in which an agent keeps its sessions.

    A session is a file below `folder` that matches one of `patterns`: names with `*`, joined by `/`. Where the agent
    keeps a session as a folder, the pattern matches the file that marks it. Names that match `except_for` are skipped.
    `format` is the id of the format that is tried first.
    """

    agent: str
    format: str
    folder: Path
    patterns: tuple[str, ...]
    except_for: str = ""


@dataclass(frozen=True, slots=True)
class Machine:
    """Machine on which places are searched. `system` is `sys.platform`, `here` the project in which the user is."""

    system: str = sys.platform
    home: Path = field(default_factory=Path.home)
    variables: Mapping[str, str] = field(default_factory=lambda: os.environ)
    here: Path = field(default_factory=Path.cwd)

    def named(self, variable: str) -> Path | None:
        """Return the folder in a variable, `~` expanded; None if it is unset or not absolute."""
        text = self.variables.get(variable, "").strip()
        if not text or "\0" in text:
            return None
        path = self.home / text[2:] if text.startswith(("~/", "~\\")) else self.home if text == "~" else Path(text)
        return path if path.is_absolute() else None

    def first(self, *variables: str, otherwise: Path) -> Path:
        """Return the folder in the first of these variables that names one."""
        return next((path for name in variables if (path := self.named(name))), otherwise)

    @property
    def data(self) -> Path:
        """Data folder of agents that follow XDG on every platform."""
        return self.first("XDG_DATA_HOME", otherwise=self.home / ".local/share")

    @property
    def settings(self) -> Path:
        """Settings folder of editors and Python programs, by the platform's custom."""
        if self.system == "win32":
            return self.first("APPDATA", otherwise=self.home / "AppData/Roaming")
        if self.system == "darwin":
            return self.home / "Library/Application Support"
        return self.first("XDG_CONFIG_HOME", otherwise=self.home / ".config")

    @property
    def projects(self) -> tuple[Path, ...]:
        """The project, and the top of its repository if that is another folder."""
        top = next((one for one in (self.here, *self.here.parents) if (one / ".git").exists()), self.here)
        return (self.here,) if top == self.here else (self.here, top)


class Program(Struct, frozen=True):
    """An agent's program, which is read, never run, to find the prompt with which the agent requests summaries.

    `preset` is the id of the preset that sends this prompt. `command` leads to the package or binary, `files` are
    patterns within a package. `name` is the name of the literal with the prompt, or a tag in it; `kind` is the search
    method (`finding/literals.py`). `sealed` says why the prompt cannot be read, "" if it can.
    """

    preset: str
    command: str = ""
    files: tuple[str, ...] = ()
    name: str = ""
    kind: Literal["constant", "template", "tagged", "instructed", "whole"] = "constant"
    sealed: str = ""
