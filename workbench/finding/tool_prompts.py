"""The prompts by which tools have a conversation summarized, where this machine has them: in recorded requests, and in
the tools' own packages. None of them comes with the workbench.

A package is read as text, never run: by the name of a file and of what in it holds the prompt, a constant of Python or
a template literal of JavaScript. Programs that are one binary (Claude Code, Codex, opencode) or whose names were taken
out (Copilot CLI) hold theirs where no name leads to it: there a recorded request is the way.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.base.errors import BadInput
from workbench.formats import files, registry
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

_CAPTURES = ("capture",)
_BODIES = ("anthropic-messages", "openai-chat", "openai-responses", "gemini-body", "bedrock")
_SHORTEST = 200
"""Characters: what a person types to have something summed up is mostly shorter, a tool's prompt is not."""
_SIGNS = (
    re.compile(r"summar|compact|snapshot|hand-?off|checkpoint", re.IGNORECASE),
    re.compile(r"conversation|context|history|session|messages", re.IGNORECASE),
)


def recorded(path: Path) -> list[ToolPrompt]:
    """The prompts with which requests end that ask for a summary of what stands before them, each once, the last
    first: in a capture (HAR, claude-trace), or in the body of one request. Raises BadInput as a load does."""
    found: dict[str, ToolPrompt] = {}
    for number, messages in enumerate(_requests(path), 1):
        if prompt := _asked(messages):
            found.pop(prompt, None)
            found[prompt] = ToolPrompt(prompt, path, f"request {number}")
    return [*reversed(found.values())]


def _requests(path: Path) -> Iterator[Sequence[Message]]:
    parts = [part.id for part in files.parts_of(path)] or [""]
    for part in parts:
        session: Session = files.load(path, part=part)
        sent = registry.by_id(session.format).codec.requests
        if sent is not None and session.format in _CAPTURES:
            yield from (one.messages for one in sent(session))
        elif session.format in _BODIES:
            yield session.messages


def _asked(messages: Sequence[Message]) -> str:
    """The last text of a request, where it asks for a summary; "" where it does not."""
    if len(messages) < 2 or messages[-1].role not in ("user", "tool"):
        return ""
    texts = [block.text for block in messages[-1].blocks if isinstance(block, Text)]
    last = texts[-1].strip() if texts else ""
    return last if len(last) >= _SHORTEST and all(sign.search(last) for sign in _SIGNS) else ""


# --- installed packages ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a package has its prompt: `command` leads to the package, `files` are patterns within it, `name` is that of
    what holds it, `read` how it is read there."""

    command: str
    files: tuple[str, ...]
    name: str
    read: Callable[[str, str], tuple[str, tuple[str, ...]] | None]


def installed(preset: str, folders: Sequence[Path] = ()) -> list[ToolPrompt]:
    """The prompts in the packages that lie in these folders, or, where none are named, in those of the command on PATH
    and of the virtual environment that is active."""
    place = _PLACES.get(preset)
    found: list[ToolPrompt] = []
    for folder in folders or (package_folders(preset) if place else ()):
        for file in (one for pattern in (place.files if place else ()) for one in sorted(folder.rglob(pattern))):
            text = _text_of(file)
            if place and place.name in text and (read := place.read(text, place.name)):
                found.append(ToolPrompt(_in_order(read[0]), file, place.name, read[1]))
    return [one for at, one in enumerate(found) if one.text not in {other.text for other in found[:at]}]


def package_folders(preset: str) -> tuple[Path, ...]:
    """Where the package of a preset's tool would lie on this machine."""
    place, found = _PLACES.get(preset), list[Path]()
    command = shutil.which(place.command) if place and place.command else None
    if command:
        start = Path(command).resolve()
        found += [one for one in start.parents if (one / "package.json").is_file()][:1]
        found += sorted(Path(command).resolve().parent.parent.glob("lib/python*/site-packages"))
    if active := os.environ.get("VIRTUAL_ENV"):
        found += sorted(Path(active).glob("lib/python*/site-packages"))
    return tuple(dict.fromkeys(found))


def _text_of(file: Path) -> str:
    try:
        return file.read_text("utf-8", "replace")
    except OSError:
        return ""


def _in_order(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().split("\n"))


_FILLED = re.compile(r"\{([A-Za-z_]\w*)\}")


def python_constant(source: str, name: str) -> tuple[str, tuple[str, ...]] | None:
    """A text that is given to a name in a module or a class, without what is filled into it."""
    try:
        nodes = [*ast.walk(ast.parse(source))]
    except (SyntaxError, ValueError, RecursionError):
        return None
    for node in nodes:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or not isinstance(node.value, ast.Constant):
            continue
        targets, text = node.targets if isinstance(node, ast.Assign) else [node.target], node.value.value
        if isinstance(text, str) and any(isinstance(one, ast.Name) and one.id == name for one in targets):
            return _FILLED.sub("", text), tuple(_FILLED.findall(text))
    return None


def template_literal(source: str, name: str) -> tuple[str, tuple[str, ...]] | None:
    """The template literal that a constant of JavaScript is, or that a function returns, without its expressions."""
    for opening in (rf"\b(?:const|var|let)\s+{name}\s*=\s*`", rf"\bfunction\s+{name}\s*\([^)]*\)\s*\{{"):
        if found := re.search(opening, source):
            start = found.end()
            if not found[0].endswith("`"):
                returned = re.compile(r"\breturn\s*`").search(source, start, start + 4_000)
                if returned is None:
                    return None
                start = returned.end()
            return _literal(source, start)
    return None


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\n": ""}


def _literal(source: str, at: int) -> tuple[str, tuple[str, ...]] | None:
    """What stands from `at` up to the next backtick that is not escaped."""
    said: list[str] = []
    left_out: list[str] = []
    while at < len(source):
        if source[at] == "`":
            return "".join(said), tuple(left_out)
        if source[at] == "\\" and at + 1 < len(source):
            said.append(_ESCAPES.get(source[at + 1], source[at + 1]))
            at += 2
        elif source.startswith("${", at):
            end = _behind(source, at + 2)
            left_out.append(source[at + 2 : end - 1].strip())
            at = end
        else:
            said.append(source[at])
            at += 1
    return None


def _behind(source: str, at: int) -> int:
    """Behind the brace that closes an expression."""
    depth = 1
    while at < len(source) and depth:
        depth += {"{": 1, "}": -1}.get(source[at], 0)
        at += 1
    return at


_PLACES = {
    "adk": _Place("adk", ("adk/apps/llm_event_summarizer.py",), "_DEFAULT_PROMPT_TEMPLATE", python_constant),
    "aider": _Place("aider", ("aider/prompts.py",), "summarize", python_constant),
    "gemini-cli": _Place("gemini", ("bundle/*.js", "prompts/snippets.js"), "getCompressionPrompt", template_literal),
    "langchain": _Place("", ("agents/middleware/summarization.py",), "DEFAULT_SUMMARY_PROMPT", python_constant),
    "pi": _Place("pi", ("core/compaction/compaction.js",), "SUMMARIZATION_PROMPT", template_literal),
    "qwen-code": _Place("qwen", ("chunks/*.js", "cli.js"), "getCompressionPrompt", template_literal),
}


def looked_for(preset: str) -> str:
    """Where `installed` looks by itself, in words; "" where no package of the tool can be read."""
    if preset not in _PLACES:
        return ""
    return ", ".join(map(str, package_folders(preset))) or "no package of it on PATH"


def found_in(preset: str, source: Path) -> list[ToolPrompt]:
    """What a capture, a request's body, or a folder with either or with the package holds. Raises BadInput for a file
    that cannot be read."""
    if not source.is_dir():
        return recorded(source)
    found: list[ToolPrompt] = []
    for file in sorted(one for one in source.iterdir() if one.suffix in (".har", ".json", ".jsonl") and one.is_file()):
        try:
            found += recorded(file)
        except BadInput:
            continue
    return found or installed(preset, [source])
