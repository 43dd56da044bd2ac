"""Registry of formats. A new one is one package and one line here.

A format is imported when a file is compared with it, or when it is named: no command needs them all.

Other distributions offer formats as entry points of the group `compaction_workbench.formats`, each a `Format` under its
id. They are tried after all others, and imported only then, or when named.
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
"""Package by id, in the order of recognition."""


def formats() -> Iterator[Format]:
    """Yield the program's own formats in order, each imported on demand."""
    return map(_builtin, PACKAGES)


def _builtin(id: str) -> Format:
    own: Format = import_module(f"workbench.formats.{PACKAGES[id]}").FORMAT
    return own


def by_id(id: str) -> Format:
    """Return the format called `id`. Raises BadInput with the known ids, or with the error of that plug-in."""
    if id in PACKAGES:
        return _builtin(id)
    if id in _plugin_ids():
        return _load_plugin(id)
    ids = [*PACKAGES, *_plugin_ids()]
    raise BadInput(f"There is no format {id!r}; choose one of {', '.join(ids)}.")


class Target(Struct, frozen=True):
    """Target of an export: a format by its id, or a variant of one as `codex:appended`."""

    id: str
    title: str
    format: Format
    write: Writer
    validate: Validator | None


def target(id: str) -> Target:
    """Return the target called `id`. Raises BadInput with the known ids, and for a read-only format."""
    known = by_id(id.partition(":")[0])
    variants = _targets(known)
    for one in variants:
        if one.id == id:
            return one
    if not variants:
        raise BadInput(
            f"{known.title} can be read but not written; choose another format for the export, such as openai-chat."
        )
    names = " or ".join(one.id for one in variants)
    raise BadInput(f"{known.title} has no variant {id.partition(':')[2]!r}; choose {names}.")


def targets() -> tuple[Target, ...]:
    """Return all targets of exports, in the order of the formats."""
    return tuple(one for known in all_formats([]) for one in _targets(known))


def _targets(known: Format) -> list[Target]:
    codec = known.codec
    if codec.write is None:
        return []
    plain = Target(known.id, known.title, known, codec.write, codec.validate)
    return [plain] + [
        Target(
            f"{known.id}:{form.id}", f"{known.title}: {form.title}", known, form.write, form.validate or codec.validate
        )
        for form in codec.forms
    ]


def detect(look: Look) -> tuple[Format, str]:
    """Return the format of a file, and the reason. Raises BadInput with a description of an unknown file."""
    failed: list[str] = []
    if found := _first_recognising(lambda known: known.recognise(look), failed):
        return found
    raise BadInput(" ".join([explain_refusal(look, all_formats([])), *failed]))


def detect_folder(path: Path) -> tuple[Format, str]:
    """Return the format of a session folder, and the reason. Raises BadInput."""
    failed: list[str] = []
    if found := _first_recognising(
        lambda known: known.recognise_folder(path) if known.recognise_folder else "", failed
    ):
        return found
    refusal = f"{path} is a folder, not a known session format; open a session file in it."
    raise BadInput(" ".join([refusal, *failed]))


def _first_recognising(recognise: Callable[[Format], str], failed: list[str]) -> tuple[Format, str] | None:
    """Return the first format for which `recognise` gives a reason. A plug-in that fails is skipped. Raises Unread."""
    for known in all_formats(failed):
        try:
            reason = recognise(known)
        except Unread:
            raise
        except BadInput as error:
            failed.append(str(error))
            continue
        if reason:
            return known, reason
    return None


def places(machine: Machine | None = None) -> tuple[Place, ...]:
    """Return every agent's session places on a machine, by default this one. A plug-in that fails has none."""
    found: list[Place] = []
    for known in all_formats([]):
        with suppress(BadInput):
            found += known.places(machine or Machine()) if known.places else ()
    return tuple(found)


def folder_of(path: Path) -> Path | None:
    """Return the session folder that contains a file as a part, None if there is none."""
    for folder in list(path.absolute().parents)[:2]:
        try:
            detect_folder(folder)
        except (BadInput, OSError, ValueError):
            continue
        return folder
    return None


def all_formats(failed: list[str]) -> Iterator[Format]:
    """Yield all formats in order. An unusable plug-in is skipped, and its error added to `failed`."""
    yield from formats()
    for name in _plugin_ids():
        try:
            yield _load_plugin(name)
        except BadInput as error:
            failed.append(str(error))


@cache
def _plugin_ids() -> tuple[str, ...]:
    return tuple(name for name in plugins.plugin_names(GROUP) if name not in PACKAGES)


def _load_plugin(name: str) -> Format:
    found = _loaded_or_error(name)
    if isinstance(found, BadInput):
        raise found
    return found


@cache
def _loaded_or_error(name: str) -> Format | BadInput:
    """Load a plug-in once; an import error is returned, not retried for every file."""
    try:
        found = plugins.load(GROUP, name, Format)
    except BadInput as error:
        return error
    return replace(
        found,
        recognise=_guarded(name, found.recognise),
        recognise_folder=found.recognise_folder and _guarded(name, found.recognise_folder),
        places=_guarded(name, _as_list(found.places)) if found.places else None,
    )


def _as_list(places: Callable[[Machine], Iterable[Place]]) -> Callable[[Machine], Iterable[Place]]:
    return lambda machine: list(places(machine))


def _guarded(name: str, function: Callable[[T], R]) -> Callable[[T], R]:
    """Wrap a plug-in's function: any error becomes BadInput naming the plug-in, whose functions are called for files
    of other formats, too."""

    def guarded(what: T) -> R:
        try:
            return function(what)
        except Exception as error:
            raise plugins.plugin_error(GROUP, name, "cannot recognise its own files", error) from error

    return guarded
