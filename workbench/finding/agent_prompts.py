"""Agents' summary prompts on this machine: in recorded requests, and in the agents' programs. The workbench includes
none of them.

A program (`Format.program`) is read, never run (`literals.py`), even if it is packed into one binary.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path

from workbench.base.errors import BadInput
from workbench.base.reading import open_file
from workbench.finding.literals import (
    FoundText,
    instructed_literal,
    python_constant,
    requests_summary,
    tagged_literal,
    template_literal,
    whole_text,
)
from workbench.formats import files, registry
from workbench.formats.machine import Program
from workbench.formats.request_checks import last_text
from workbench.session import Session


@dataclass(frozen=True, slots=True)
class AgentPrompt:
    """A prompt with its file and its place in the file. `left_out` are inserted parts that its text lacks."""

    text: str
    file: Path
    place: str
    left_out: tuple[str, ...] = ()


# --- recorded requests ----------------------------------------------------------------------------------------------

_BODIES = ("anthropic-messages", "openai-chat", "openai-responses", "gemini-body", "bedrock")


def recorded_prompts(path: Path) -> list[AgentPrompt]:
    """Return the summary prompts at the end of recorded requests, each once, last first: in a capture (HAR,
    claude-trace), in a request body, or in a session whose agent records its requests. Raises BadInput as a load
    does."""
    found: dict[str, AgentPrompt] = {}
    for number, last in enumerate(_last_texts(path), 1):
        if requests_summary(last):
            found.pop(last, None)
            found[last] = AgentPrompt(last, path, f"request {number}")
    return [*reversed(found.values())]


def _last_texts(path: Path) -> Iterator[str]:
    """Yield the text at the end of each request; "" for one that does not end with a user's text."""
    parts = [part.id for part in files.parts_of(path)] or [""]
    for part in parts:
        session: Session = files.load(path, part=part)
        codec = registry.by_id(session.format).codec
        if session.format in _BODIES:
            yield last_text(session.messages)
        elif codec.request_texts is not None:
            yield from codec.request_texts(session)
        elif codec.requests is not None:
            yield from (last_text(one.messages) for one in codec.requests(session))


# --- installed packages ---------------------------------------------------------------------------------------------


_READ: dict[str, Callable[[str, str], FoundText | None]] = {
    "constant": python_constant,
    "template": template_literal,
    "tagged": tagged_literal,
    "instructed": instructed_literal,
    "whole": whole_text,
}


def program_of(preset: str) -> Program | None:
    """Return the program whose prompt a preset sends; None if no format knows one."""
    programs = (known.program for known in registry.all_formats([]))
    return next((one for one in programs if one and one.preset == preset), None)


def installed_prompts(preset: str, folders: Sequence[Path] = ()) -> list[AgentPrompt]:
    """Return the prompts in the packages in these folders, or by default in those of the command on PATH and of the
    active virtual environment."""
    program = program_of(preset)
    if program is None or program.sealed:
        return []
    files = (file for folder in folders or package_folders(program) for file in _files(folder, program))
    found = [one for file in files for one in _prompts_in_file(file, program)]
    return [one for at, one in enumerate(found) if one.text not in {other.text for other in found[:at]}]


def _files(folder: Path, program: Program) -> list[Path]:
    """Return the files in a package that may hold the prompt, or the program itself if it is a single binary."""
    return [folder] if folder.is_file() else [one for pattern in program.files for one in sorted(folder.rglob(pattern))]


def _prompts_in_file(file: Path, program: Program) -> list[AgentPrompt]:
    """Return the prompt in a file; none if there is no unique match."""
    found = {read for text in _texts_around(file, program.name) if (read := _READ[program.kind](text, program.name))}
    read = next(iter(found)) if len(found) == 1 else None
    where = " ".join(program.name.split()) or "the whole text"
    return [AgentPrompt(_without_trailing_space(read[0]), file, where, read[1])] if read else []


def package_folders(program: Program) -> tuple[Path, ...]:
    """Return the folders in which a program's package would be on this machine, or its single binary."""
    found: list[Path] = []
    command = shutil.which(program.command) if program.command else None
    if command:
        start = Path(command).resolve()
        found += [one for one in start.parents if (one / "package.json").is_file()][:1] or [start]
        found += sorted(start.parent.parent.glob("lib/python*/site-packages"))
    if active := os.environ.get("VIRTUAL_ENV"):
        found += sorted(Path(active).glob("lib/python*/site-packages"))
    return tuple(dict.fromkeys(found))


_WHOLE = 20_000_000
"""Largest program, in bytes, that is read entirely: larger than any JavaScript bundle."""
_REACH = 40_000
"""Bytes read on both sides of a name in a larger program."""


def _texts_around(file: Path, name: str) -> Iterator[str]:
    """Yield the text of a program that contains a name, or the parts around each occurrence in a large one."""
    try:
        with open_file(file) as opened, mmap(opened.fileno(), 0, access=ACCESS_READ) as data:
            if len(data) <= _WHOLE:
                yield data[:].decode("utf-8", "replace") if data.find(name.encode()) >= 0 else ""
                return
            at = data.find(name.encode())
            while at >= 0:
                stop = at + _REACH
                while 0 <= (more := data.find(name.encode(), at + 1)) < stop:
                    at, stop = more, more + _REACH
                yield data[max(0, at - 2 * _REACH) : stop].decode("utf-8", "replace")
                at = more
    except (OSError, ValueError):
        return


def _without_trailing_space(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().split("\n"))


def searched_folders(preset: str) -> str:
    """List the folders that `installed_prompts` searches by default; "" if no package of the agent can be read."""
    program = program_of(preset)
    if program is None or program.sealed:
        return ""
    return ", ".join(map(str, package_folders(program))) or "the program on PATH"


def prompts_in(preset: str, source: Path) -> list[AgentPrompt]:
    """Return prompts in a capture, a request body, a session, a text file, an agent's program, or a folder with any of
    these except texts. Raises BadInput for an unreadable file."""
    if source.suffix in (".md", ".txt") and source.is_file():
        text = _without_trailing_space(source.read_text("utf-8", "replace"))
        return [AgentPrompt(text, source, "the whole text")] if text else []
    if not source.is_dir():
        program = program_of(preset)
        is_program = program is not None and not program.sealed and source.is_file()
        return (_prompts_in_file(source, program) if program and is_program else []) or recorded_prompts(source)
    found: list[AgentPrompt] = []
    for file in sorted(one for one in source.iterdir() if one.suffix in (".har", ".json", ".jsonl") and one.is_file()):
        try:
            found += recorded_prompts(file)
        except BadInput:
            continue
    return found or installed_prompts(preset, [source])
