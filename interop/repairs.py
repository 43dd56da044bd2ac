"""The column `repaired`: a session that the tool made is damaged in several ways, repaired by the workbench, and
resumed twice by the printed steps: what the tool sends is the context of the repaired copy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import workbench
from interop.homes import Failed, Home
from interop.tool import Tool
from interop.trial import Column, Verdict, scene, verdicts
from workbench.base.errors import BadInput
from workbench.formats import registry
from workbench.repairs.engine import repair
from workbench.repairs.result import save, steps_of
from workbench.session import Session

Damage = Callable[[bytes, Session], bytes]


def repaired(tool: Tool, home: Home) -> Column:
    """Each kind of damage to a session that the tool makes for it."""
    if not tool.command:
        return Column(not_tried="only of tools with a command")
    try:
        path = tool.make(home, scene(tool.read)[:3])
        session = workbench.load(path)
    except (BadInput, Failed) as error:
        return Column((Verdict("a session", str(error)),))
    if not path.is_file() or registry.by_id(session.format).codec.write is None:
        return Column(not_tried="no single file that is written")
    data = path.read_bytes()
    found = []
    for kind, damage in (_LINES if _is_lines(session) else _DOCUMENT).items():
        try:
            found += list(_goes_on(tool, home, path, kind, damage(data, session)))
        except (BadInput, Failed) as error:
            found.append(Verdict(kind, str(error)))
        finally:
            for left in path.parent.glob(f"{path.stem}*"):
                left.unlink()
            path.write_bytes(data)
    return Column(tuple(found))


def _goes_on(tool: Tool, home: Home, path: Path, kind: str, damaged: bytes) -> Iterator[Verdict]:
    prompts = (f"Go on after {kind}, for the first time.", f"Go on after {kind}, for the second time.")
    path.write_bytes(damaged)
    made = repair(path)
    if not made.fixes or made.left or made.session is None:
        left = made.left[0].objection if made.left else "no fault is seen"
        yield Verdict(kind, f"not repaired: {left}")
        return
    where = save(made)
    tool.forget(home, path)
    with home.server.mark() as requests:
        home.follow(steps_of(made, where), prompts)
    judged = list(verdicts(tool, kind, (where.name, made.data), requests, made.session.context(), prompts))
    yield next((one for one in judged if one.difference), judged[-1])


def _is_lines(session: Session) -> bool:
    return len(session.records) > 1


def _newest_result(session: Session) -> int:
    """The line, from 0, of the newest result of the context that an answer follows."""
    results = [one for one in session.context()[:-1] if one.results and one.source]
    if not results:
        raise BadInput("the session has no result of its own record")
    return session.records.lines[results[-1].source[0]] - 1


def _nul(data: bytes, session: Session) -> bytes:
    lines = data.split(b"\n")
    middle = len(lines) // 2
    return b"\n".join([*lines[:middle], b"\0" * 512, *lines[middle:]])


def _cut_and_glued(data: bytes, session: Session) -> bytes:
    lines = data.split(b"\n")
    at = _newest_result(session)
    return b"\n".join([*lines[:at], lines[at][: len(lines[at]) // 2] + lines[at], *lines[at + 1 :]])


def _without_result(data: bytes, session: Session) -> bytes:
    lines = data.split(b"\n")
    at = _newest_result(session)
    return b"\n".join([*lines[:at], *lines[at + 1 :]])


def _cut_end(data: bytes, session: Session) -> bytes:
    return data.rstrip()[:-20]


def _nul_end(data: bytes, session: Session) -> bytes:
    return data.rstrip() + b"\0" * 512


def _older_behind(data: bytes, session: Session) -> bytes:
    data = data.rstrip()
    return data + data[-200:]


_LINES: dict[str, Damage] = {
    "NUL padding": _nul,
    "a cut record glued before a complete one": _cut_and_glued,
    "a lost result": _without_result,
    "a cut last line": _cut_end,
}
_DOCUMENT: dict[str, Damage] = {
    "NUL padding": _nul_end,
    "an older document behind the new one": _older_behind,
    "a cut end": _cut_end,
}
