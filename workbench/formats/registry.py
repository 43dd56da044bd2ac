"""The formats this program knows. A new one is one package and one line here.

A format is imported when a file is compared with it, or when it is named: no command needs them all.

Other distributions offer formats as entry points of the group `compaction_workbench.formats`, each a `Format` under its
id. They are tried after all others, and only then imported; one is imported alone when it is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from workbench.base import plugins
from workbench.base.errors import BadInput
from workbench.formats.format import Format, Validator, Writer
from workbench.formats.look import Look, Unread
from workbench.formats.machine import Machine, Place
from workbench.formats.refusal import explain_refusal

GROUP = "compaction_workbench.formats"
T = TypeVar("T")
R = TypeVar("R")

PACKAGES = {
    "claude-code": "claude_code",
    "codex": "codex",
    "gemini": "gemini",
    "qwen-code": "qwen_code",
    "pi": "pi",
    "copilot": "copilot",
    "kimi": "kimi",
    "droid": "droid",
    "goose": "goose",
    "zed": "zed",
    "cursor": "cursor",
    "augment": "augment",
    "opencode": "opencode",
    "crush": "crush",
    "cline-sdk": "cline_sdk",
    "mini-swe-agent": "mini_swe_agent",
    "swe-agent": "swe_agent",
    "atif": "atif",
    "inspect": "inspect_log",
    "adk": "adk",
    "amp": "amp",
    "capture": "capture",
    "sharegpt": "sharegpt",
    "openai-jsonl": "openai_jsonl",
    "chat-jsonl": "chat_jsonl",
    "langchain": "langchain",
    "tau-bench": "tau_bench",
    "letta": "letta",
    "smolagents": "smolagents",
    "autogen": "autogen",
    "openhands": "openhands",
    "roo-cline": "roo_cline",
    "codex-exec": "codex_exec",
    "bedrock": "bedrock",
    "ai-sdk": "ai_sdk",
    "pydantic-ai": "pydantic_ai",
    "gemini-body": "gemini_body",
    "otel": "otel",
    "langfuse": "langfuse",
    "langsmith": "langsmith",
    "openai-responses": "openai_responses",
    "anthropic-messages": "anthropic_messages",
    "openai-chat": "openai_chat",
    "aider": "aider",
}
"""Package by id, in the order in which they are tried."""


def formats() -> Iterator[Format]:
    """The program's own formats in their order, each imported when it is asked for."""
    return map(_own, PACKAGES)


def _own(id: str) -> Format:
    own: Format = import_module(f"workbench.formats.{PACKAGES[id]}").FORMAT
    return own


def by_id(id: str) -> Format:
    """The format called `id`. Raises BadInput with the known ids, or with what is wrong with that plug-in."""
    if id in PACKAGES:
        return _own(id)
    if id in _plugged_in():
        return _sound(id)
    ids = [*PACKAGES, *_plugged_in()]
    raise BadInput(f"There is no format {id!r}; choose one of {', '.join(ids)}.")


class Target(Struct, frozen=True):
    """What an export can be written as: a format as its id, or a format and one of its ways as `codex:appended`."""

    id: str
    title: str
    format: Format
    write: Writer
    validate: Validator | None


def target(id: str) -> Target:
    """Raises BadInput with the known ids, and for a format that is read only."""
    known = by_id(id.partition(":")[0])
    ways = _targets(known)
    for one in ways:
        if one.id == id:
            return one
    if not ways:
        raise BadInput(
            f"{known.title} can be read but not written; choose another format for the export, such as openai-chat."
        )
    names = " or ".join(one.id for one in ways)
    raise BadInput(f"{known.title} has no variant {id.partition(':')[2]!r}; choose {names}.")


def targets() -> tuple[Target, ...]:
    """Everything that an export can be written as, in the order of the formats."""
    return tuple(one for known in every([]) for one in _targets(known))


def _targets(known: Format) -> list[Target]:
    codec = known.codec
    if codec.write is None:
        return []
    plain = Target(known.id, known.title, known, codec.write, codec.validate)
    return [plain] + [
        Target(f"{known.id}:{way.id}", f"{known.title}: {way.title}", known, way.write, way.validate or codec.validate)
        for way in codec.ways
    ]


def detect(look: Look) -> tuple[Format, str]:
    """The format of a file, and why it is that. Raises BadInput saying what the file looks like instead."""
    failed: list[str] = []
    if found := _taker(lambda known: known.recognise(look), failed):
        return found
    raise BadInput(" ".join([explain_refusal(look, every([])), *failed]))


def detect_folder(path: Path) -> tuple[Format, str]:
    """The format of a session that is kept as a folder, and why. Raises BadInput."""
    failed: list[str] = []
    if found := _taker(lambda known: known.recognise_folder(path) if known.recognise_folder else "", failed):
        return found
    refusal = f"{path} is a folder, not a known session format; open a session file in it."
    raise BadInput(" ".join([refusal, *failed]))


def _taker(asked: Callable[[Format], str], failed: list[str]) -> tuple[Format, str] | None:
    """The first format with a reason to take what is asked about. A plug-in that fails at it is passed over. Raises
    Unread."""
    for known in every(failed):
        try:
            reason = asked(known)
        except Unread:
            raise
        except BadInput as error:
            failed.append(str(error))
            continue
        if reason:
            return known, reason
    return None


def places(machine: Machine | None = None) -> tuple[Place, ...]:
    """Every place of every agent on a machine, this one by default. A plug-in that fails at it has none."""
    found: list[Place] = []
    for known in every([]):
        with suppress(BadInput):
            found += known.places(machine or Machine()) if known.places else ()
    return tuple(found)


def folder_of(path: Path) -> Path | None:
    """The folder of the session that a file is only a part of, None where it lies in none."""
    for folder in list(path.absolute().parents)[:2]:
        try:
            detect_folder(folder)
        except (BadInput, OSError, ValueError):
            continue
        return folder
    return None


def every(failed: list[str]) -> Iterator[Format]:
    """All formats in their order. A plug-in that cannot be used is passed over, and `failed` says why."""
    yield from formats()
    for name in _plugged_in():
        try:
            yield _sound(name)
        except BadInput as error:
            failed.append(str(error))


@cache
def _plugged_in() -> tuple[str, ...]:
    return tuple(name for name in plugins.offered(GROUP) if name not in PACKAGES)


def _sound(name: str) -> Format:
    found = _loaded(name)
    if isinstance(found, BadInput):
        raise found
    return found


@cache
def _loaded(name: str) -> Format | BadInput:
    """Kept, whatever it is: what cannot be imported is not tried anew for every file."""
    try:
        found = plugins.load(GROUP, name, Format)
    except BadInput as error:
        return error
    return replace(
        found,
        recognise=_careful(name, found.recognise),
        recognise_folder=found.recognise_folder and _careful(name, found.recognise_folder),
        places=_careful(name, _listed(found.places)) if found.places else None,
    )


def _listed(places: Callable[[Machine], Iterable[Place]]) -> Callable[[Machine], Iterable[Place]]:
    return lambda machine: list(places(machine))


def _careful(name: str, ask: Callable[[T], R]) -> Callable[[T], R]:
    """A function of a plug-in that is called for files of other formats, too: it raises nothing but BadInput, which
    names the plug-in."""

    def asked(what: T) -> R:
        try:
            return ask(what)
        except Exception as error:
            raise plugins.failed(GROUP, name, "cannot tell its own files", error) from error

    return asked
