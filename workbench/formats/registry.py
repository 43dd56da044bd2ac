"""The formats this program knows, in the order in which they are tried. A new one is one package and one line here.

Other distributions offer formats as entry points of the group `compaction_workbench.formats`, each a `Format` under its
id. They are tried after all others, and only then imported; one is imported alone when it is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TypeVar

from workbench.base import plugins
from workbench.base.errors import BadInput
from workbench.formats import (
    adk,
    ai_sdk,
    aider,
    amp,
    anthropic_messages,
    atif,
    augment,
    autogen,
    bedrock,
    capture,
    chat_jsonl,
    claude_code,
    cline_sdk,
    codex,
    codex_exec,
    copilot,
    crush,
    cursor,
    droid,
    gemini,
    gemini_body,
    goose,
    inspect_log,
    kimi,
    langchain,
    langfuse,
    langsmith,
    letta,
    mini_swe_agent,
    openai_chat,
    openai_jsonl,
    openai_responses,
    opencode,
    openhands,
    otel,
    pi,
    pydantic_ai,
    qwen_code,
    roo_cline,
    sharegpt,
    smolagents,
    swe_agent,
    tau_bench,
    zed,
)
from workbench.formats.format import Format, Validator, Writer
from workbench.formats.look import Look, Unread
from workbench.formats.machine import Machine, Place
from workbench.formats.refusal import refused

GROUP = "compaction_workbench.formats"
T = TypeVar("T")
R = TypeVar("R")

FORMATS: tuple[Format, ...] = (
    claude_code.FORMAT,
    codex.FORMAT,
    gemini.FORMAT,
    qwen_code.FORMAT,
    pi.FORMAT,
    copilot.FORMAT,
    kimi.FORMAT,
    droid.FORMAT,
    goose.FORMAT,
    zed.FORMAT,
    cursor.FORMAT,
    augment.FORMAT,
    opencode.FORMAT,
    crush.FORMAT,
    cline_sdk.FORMAT,
    mini_swe_agent.FORMAT,
    swe_agent.FORMAT,
    atif.FORMAT,
    inspect_log.FORMAT,
    adk.FORMAT,
    amp.FORMAT,
    capture.FORMAT,
    sharegpt.FORMAT,
    openai_jsonl.FORMAT,
    chat_jsonl.FORMAT,
    langchain.FORMAT,
    tau_bench.FORMAT,
    letta.FORMAT,
    smolagents.FORMAT,
    autogen.FORMAT,
    openhands.FORMAT,
    roo_cline.FORMAT,
    codex_exec.FORMAT,
    bedrock.FORMAT,
    ai_sdk.FORMAT,
    pydantic_ai.FORMAT,
    gemini_body.FORMAT,
    otel.FORMAT,
    langfuse.FORMAT,
    langsmith.FORMAT,
    openai_responses.FORMAT,
    anthropic_messages.FORMAT,
    openai_chat.FORMAT,
    aider.FORMAT,
)


def by_id(id: str) -> Format:
    """The format called `id`. Raises BadInput with the known ids, or with what is wrong with that plug-in."""
    for known in FORMATS:
        if known.id == id:
            return known
    if id in _plugged_in():
        return _sound(id)
    ids = [*(known.id for known in FORMATS), *_plugged_in()]
    raise BadInput(f"There is no format {id!r}; choose one of {', '.join(ids)}.")


@dataclass(frozen=True, slots=True)
class Target:
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
    raise BadInput(" ".join([refused(look, every([])), *failed]))


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
    yield from FORMATS
    for name in _plugged_in():
        try:
            yield _sound(name)
        except BadInput as error:
            failed.append(str(error))


@cache
def _plugged_in() -> tuple[str, ...]:
    own = {known.id for known in FORMATS}
    return tuple(name for name in plugins.offered(GROUP) if name not in own)


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
