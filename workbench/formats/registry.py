"""The formats this program knows, in the order in which they are tried. A new one is one module and one line here."""

from __future__ import annotations

from pathlib import Path

from workbench.base.errors import BadInput
from workbench.formats import (
    adk,
    aider,
    anthropic_messages,
    atif,
    augment,
    claude_code,
    cline_sdk,
    codex,
    copilot,
    gemini,
    goose,
    inspect_log,
    langchain,
    mini_swe_agent,
    openai_chat,
    openai_responses,
    opencode,
    openhands,
    pi,
    roo_cline,
    swe_agent,
    tau_bench,
)
from workbench.formats.format import Format, Way

HEAD = 64 * 1024
"""How much of a file detection looks at, in bytes (formats.md §1)."""

FORMATS: tuple[Format, ...] = (
    claude_code.FORMAT,
    codex.FORMAT,
    gemini.FORMAT,
    pi.FORMAT,
    copilot.FORMAT,
    goose.FORMAT,
    augment.FORMAT,
    opencode.FORMAT,
    cline_sdk.FORMAT,
    mini_swe_agent.FORMAT,
    swe_agent.FORMAT,
    atif.FORMAT,
    inspect_log.FORMAT,
    adk.FORMAT,
    langchain.FORMAT,
    tau_bench.FORMAT,
    openhands.FORMAT,
    roo_cline.FORMAT,
    openai_responses.FORMAT,
    anthropic_messages.FORMAT,
    openai_chat.FORMAT,
    aider.FORMAT,
)


def by_id(id: str) -> Format:
    """The format called `id`. Raises BadInput with the known ids."""
    for known in FORMATS:
        if known.id == id:
            return known
    raise BadInput(f"There is no format {id!r}; choose one of {', '.join(known.id for known in FORMATS)}.")


def target(id: str) -> tuple[Format, Way | None]:
    """What an export is written as: a format's id, or a format and one of its ways as `codex:appended`.

    Raises BadInput with the known ids.
    """
    name, _, way = id.partition(":")
    known = by_id(name)
    if not way:
        return known, None
    for one in known.ways:
        if one.id == way:
            return known, one
    ways = " or ".join([known.id, *(f"{known.id}:{one.id}" for one in known.ways)])
    raise BadInput(f"{known.title} is not written in a way {way!r}; choose {ways}.")


def targets() -> tuple[tuple[str, str], ...]:
    """Title and id of everything that an export can be written as, in the order of the formats."""
    return tuple(
        pair
        for known in FORMATS
        for pair in (
            (known.title, known.id),
            *((f"{known.title}: {way.title}", f"{known.id}:{way.id}") for way in known.ways),
        )
    )


def detect(head: bytes) -> tuple[Format, str]:
    """The format of a file by its first bytes, and why. Raises BadInput naming what was tried."""
    for known in FORMATS:
        if reason := known.recognise(head):
            return known, reason
    tried = ", ".join(known.title for known in FORMATS)
    raise BadInput(f"This is not a session file of a kind known here; tried {tried}.")


def detect_folder(path: Path) -> tuple[Format, str]:
    """The format of a session that is kept as a folder, and why. Raises BadInput."""
    for known in FORMATS:
        if known.recognise_folder is not None and (reason := known.recognise_folder(path)):
            return known, reason
    raise BadInput(f"{path} is a folder and no session of a kind known here; name a session file in it.")


def folder_of(path: Path) -> Path | None:
    """The folder of the session that a file is only a part of, None where it lies in none."""
    for folder in list(path.absolute().parents)[:2]:
        try:
            detect_folder(folder)
        except (BadInput, OSError, ValueError):
            continue
        return folder
    return None
