"""The prompts by which tools have a conversation summarized, where this machine has them: in recorded requests, and in
the tools' own programs. None of them comes with the workbench.

A program is read, never run (`literals.py`), also where it is packed into one binary. Codex and Copilot CLI have theirs
in compiled code, where nothing marks its beginning and end.
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
    Worded,
    asks,
    instructed_literal,
    python_constant,
    tagged_literal,
    template_literal,
    whole_text,
)
from workbench.formats import files, registry
from workbench.formats.kit.jsonl import object_of
from workbench.formats.kit.values import dict_of, list_of
from workbench.session import Message, Session, Text


@dataclass(frozen=True, slots=True)
class ToolPrompt:
    """A prompt as it was found: in which file, and where in it. `left_out` are parts that are filled in when it is sent
    and that its text goes without."""

    text: str
    file: Path
    place: str
    left_out: tuple[str, ...] = ()


# --- recorded requests ----------------------------------------------------------------------------------------------

_BODIES = ("anthropic-messages", "openai-chat", "openai-responses", "gemini-body", "bedrock")
_COMPACTING = "acompact"
"""How Claude Code names the sub-agent that it has a session compacted by."""


def recorded(path: Path) -> list[ToolPrompt]:
    """The prompts with which requests end that ask for a summary of what stands before them, each once, the last
    first: in a capture (HAR, claude-trace), in the body of one request, or in a session whose tool records its requests
    (Claude Code its sub-agent's, Copilot CLI what it sent). Raises BadInput as a load does."""
    found: dict[str, ToolPrompt] = {}
    for number, last in enumerate(_last_texts(path), 1):
        if asks(last):
            found.pop(last, None)
            found[last] = ToolPrompt(last, path, f"request {number}")
    return [*reversed(found.values())]


def _last_texts(path: Path) -> Iterator[str]:
    """What each request ends with, "" for one that does not end with a text that is no answer."""
    parts = [part.id for part in files.parts_of(path)] or [""]
    for part in parts:
        session: Session = files.load(path, part=part)
        sent = registry.by_id(session.format).codec.requests
        if session.format in _BODIES:
            yield _last_text(session.messages)
        elif session.facts.agent.startswith(_COMPACTING):
            answered = max((n for n, one in enumerate(session.messages) if one.role == "user"), default=-1)
            yield _last_text(session.messages[: answered + 1])
        elif session.format == "copilot":
            yield from map(_last_of_snapshot, session.records)
        elif sent is not None:
            yield from (_last_text(one.messages) for one in sent(session))


def _last_text(messages: Sequence[Message]) -> str:
    if len(messages) < 2 or messages[-1].role not in ("user", "tool"):
        return ""
    texts = [block.text for block in messages[-1].blocks if isinstance(block, Text)]
    return texts[-1].strip() if texts else ""


def _last_of_snapshot(record: bytes) -> str:
    """Copilot CLI keeps the messages of some requests, and what was answered, in events of their own."""
    event = object_of(record) if b'"model.messages_snapshot"' in record else None
    messages = [dict_of(one) for one in list_of(dict_of(dict_of(event).get("data")).get("messages"))]
    asked = [one.get("content") for one in messages[1:] if one.get("role") == "user"]
    return asked[-1].strip() if asked and isinstance(asked[-1], str) else ""


# --- installed packages ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a tool has its prompt: `command` leads to its package or binary, `files` are patterns within a package,
    `name` is that of what holds it, or a tag in it, `read` how it is read in a text with that name."""

    command: str
    files: tuple[str, ...]
    name: str
    read: Callable[[str, str], Worded | None]


def installed(preset: str, folders: Sequence[Path] = ()) -> list[ToolPrompt]:
    """The prompts in the packages that lie in these folders, or, where none are named, in those of the command on PATH
    and of the virtual environment that is active."""
    place = _PLACES.get(preset)
    if place is None:
        return []
    programs = (file for folder in folders or package_folders(preset) for file in _programs(folder, place))
    found = [one for file in programs for one in _held(file, place)]
    return [one for at, one in enumerate(found) if one.text not in {other.text for other in found[:at]}]


def _programs(folder: Path, place: _Place) -> list[Path]:
    """The files in a package that may hold the prompt; a binary that is installed alone is one itself."""
    return [folder] if folder.is_file() else [one for pattern in place.files for one in sorted(folder.rglob(pattern))]


def _held(file: Path, place: _Place) -> list[ToolPrompt]:
    """The prompt in a file, none where there is none or several are that could be meant."""
    found = {read for text in _around(file, place.name) if (read := place.read(text, place.name))}
    read = next(iter(found)) if len(found) == 1 else None
    where = " ".join(place.name.split()) or "the whole text"
    return [ToolPrompt(_in_order(read[0]), file, where, read[1])] if read else []


def package_folders(preset: str) -> tuple[Path, ...]:
    """Where the package of a preset's tool would lie on this machine, or its binary, where that lies alone."""
    place, found = _PLACES.get(preset), list[Path]()
    command = shutil.which(place.command) if place and place.command else None
    if command:
        start = Path(command).resolve()
        found += [one for one in start.parents if (one / "package.json").is_file()][:1] or [start]
        found += sorted(start.parent.parent.glob("lib/python*/site-packages"))
    if active := os.environ.get("VIRTUAL_ENV"):
        found += sorted(Path(active).glob("lib/python*/site-packages"))
    return tuple(dict.fromkeys(found))


_WHOLE = 20_000_000
"""Bytes up to which a program is read whole: no bundle of JavaScript is larger, but a binary that holds one is."""
_REACH = 40_000
"""Bytes on both sides of a name that are read of a larger one."""


def _around(file: Path, name: str) -> Iterator[str]:
    """The text of a program that holds a name, or, of a large one, the stretches around each."""
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


def _in_order(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().split("\n"))


_PLACES = {
    "adk": _Place("adk", ("adk/apps/llm_event_summarizer.py",), "_DEFAULT_PROMPT_TEMPLATE", python_constant),
    "aider": _Place("aider", ("aider/prompts.py",), "summarize", python_constant),
    "claude-code": _Place("claude", ("cli.js", "claude", "claude.exe"), "<example>\n<analysis>\n", tagged_literal),
    "cline": _Place("cline", ("core/dist/index.js", "bin/cline"), "\n\n## Goal\n", tagged_literal),
    "gemini-cli": _Place("gemini", ("bundle/*.js", "prompts/snippets.js"), "getCompressionPrompt", template_literal),
    "langchain": _Place("", ("agents/middleware/summarization.py",), "DEFAULT_SUMMARY_PROMPT", python_constant),
    "opencode": _Place("opencode", ("opencode", "opencode.exe"), "<template>\n", instructed_literal),
    "openhands": _Place("openhands", ("condenser/prompts/summarizing_system.j2",), "", whole_text),
    "pi": _Place("pi", ("core/compaction/compaction.js",), "SUMMARIZATION_PROMPT", template_literal),
    "qwen-code": _Place("qwen", ("chunks/*.js", "cli.js"), "getCompressionPrompt", template_literal),
}


def looked_for(preset: str) -> str:
    """Where `installed` looks by itself, in words; "" where no package of the tool can be read."""
    if preset not in _PLACES:
        return ""
    return ", ".join(map(str, package_folders(preset))) or "the program on PATH"


SEALED = {
    "codex": "Codex' program is compiled",
    "copilot": "Copilot CLI's program is compiled",
}
"""Whose prompt lies in the program where nothing marks its beginning and end."""


def found_in(preset: str, source: Path) -> list[ToolPrompt]:
    """What a capture, a request's body, a session or a text holds, or a tool's program, or a folder with any of these
    but texts. Raises BadInput for a file that cannot be read."""
    if source.suffix in (".md", ".txt") and source.is_file():
        text = _in_order(source.read_text("utf-8", "replace"))
        return [ToolPrompt(text, source, "the whole text")] if text else []
    if not source.is_dir():
        place = _PLACES.get(preset)
        return (_held(source, place) if place and source.is_file() else []) or recorded(source)
    found: list[ToolPrompt] = []
    for file in sorted(one for one in source.iterdir() if one.suffix in (".har", ".json", ".jsonl") and one.is_file()):
        try:
            found += recorded(file)
        except BadInput:
            continue
    return found or installed(preset, [source])
