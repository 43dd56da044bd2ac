"""Write Cline SDK sessions as the SDK's agentic compaction leaves them.

Kept answers keep their metrics, as in the SDK. A mark in the newest one shows this program's reader that they are
stale.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workbench.base.stamps import iso
from workbench.formats.agent_texts import kind_of
from workbench.formats.cline_sdk import ID
from workbench.formats.format import Written
from workbench.formats.kit.blocks import from_anthropic, to_anthropic
from workbench.formats.kit.document import elements, render, splice
from workbench.formats.kit.folder import agent_home, expand_home, folder_of
from workbench.formats.kit.json_spans import field_of, replace_fields
from workbench.formats.kit.jsonl import loads
from workbench.formats.kit.marks import MARK, STALE_USAGE
from workbench.formats.kit.settle import as_user_text, settled, system_prompt
from workbench.formats.kit.values import dict_of, list_of
from workbench.formats.loss import Loss, Losses, LossKind, loss_of
from workbench.session import Block, Message, Opaque, Session, Text, Thinking

SUMMARY = "compaction_summary"

_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"
_READERS, _EDITORS = ("read_files",), ("editor", "apply_patch")


def write(session: Session, messages: Sequence[Message]) -> Written:
    """Write the session's document under a new id. Never raises."""
    native = session.format == ID
    id = f"{time.time_ns() // 1_000_000}_{''.join(secrets.choice(_ALPHABET) for _ in range(5))}"
    losses: Losses = []
    system = session.system
    messages = [message for message in messages if message.kind != "boundary" and message.blocks]
    if not native:
        system, rest = system_prompt(session, messages)
        messages, more = settled(rest, "anthropic-messages")
        losses.extend(more)
        if session.tools:
            losses.append(Loss(LossKind.TOOL_DEFINITIONS, len(session.tools), ("the SDK",)))
    pieces: list[int | bytes] = []
    raws = elements(session.records.data, "messages") if native else []
    changed = native and messages != [m for m in session.context() if m.blocks]
    newest_kept = next((m.id for m in reversed(messages) if m.role == "assistant" and m.source), "") if changed else ""
    names = {call.id: call.name for message in (*session.messages, *messages) for call in message.calls}
    for index, message in enumerate(messages):
        if native and message.source:
            raw = raws[message.source[0]]
            if index and message.kind == "summary":
                pieces.append(_without_summary_flag(raw, message))
            else:
                pieces.append(_with_stale_mark(raw) if message.id == newest_kept else message.source[0])
        elif item := _new_item(session, message, losses, native=native, opens=index == 0, names=names):
            pieces.append(render(item))
    changes = {"sessionId": render(id), "updated_at": render(iso())}
    if native:
        data = replace_fields(splice(session.records.data, "messages", pieces).removeprefix(b"\xef\xbb\xbf"), changes)
    else:
        head = {"version": 1, "updated_at": iso(), "agent": "lead", "sessionId": id}
        document = render(head | ({"system_prompt": system} if system else {}))
        items = b",".join(piece for piece in pieces if isinstance(piece, bytes))
        data = replace_fields(document, {"messages": b"[" + items + b"]"})
    return addressed(session, data, id, losses)


def addressed(session: Session, data: bytes, id: str, losses: Sequence[Loss]) -> Written:
    name = f"{id}.messages.json"
    home = f"{_sessions_folder()}/{id}/{name}"
    manifest = _manifest(session, id, expand_home(home))
    sidecar = (f"{id}.json", render(manifest))
    return Written(data, name, id, home, manifest["cwd"], (("cline", "--id", id),), losses=losses, sidecar=sidecar)


def _sessions_folder() -> str:
    data = agent_home("CLINE_DATA_DIR", otherwise=f"{agent_home('CLINE_DIR', otherwise='~/.cline')}/data")
    return agent_home("CLINE_SESSION_DATA_DIR", otherwise=f"{data}/sessions")


def _manifest(session: Session, id: str, path: str) -> dict[str, Any]:
    """Return the manifest by which Cline finds a session: without it, or with another id or path, it opens an empty
    one."""
    recorded = session.facts.own if session.format == ID else None
    cwd = folder_of(session)
    default = {
        "version": 1,
        "source": "cli",
        "pid": 0,
        "started_at": iso(next((m.time for m in session.messages if m.time), None)),
        "status": "completed",
        "interactive": False,
        "provider": "cline",
        "model": session.model or "unknown",
        "cwd": cwd,
        "workspace_root": cwd,
        "enable_tools": True,
        "enable_spawn": True,
        "enable_teams": True,
    }
    # Cline would write its next compaction to the recorded path.
    recorded = {key: value for key, value in dict_of(recorded).items() if key != "compaction_path"}
    return {**default, **recorded, "cwd": cwd, "session_id": id, "messages_path": path}


def _with_stale_mark(raw: bytes) -> bytes:
    metadata = field_of(raw, "metadata") or b"{}"
    return replace_fields(
        raw, {"metadata": replace_fields(metadata if metadata.startswith(b"{") else b"{}", {STALE_USAGE: b"true"})}
    )


def _without_summary_flag(raw: bytes, message: Message) -> bytes:
    """Unflag a summary that is not the first message: the SDK's next compaction would drop everything before it."""
    metadata = loads(raw).get("metadata")
    if not isinstance(metadata, dict) or metadata.get("kind") != SUMMARY:
        return raw
    old = field_of(raw, "metadata") or b"{}"
    return replace_fields(raw, {"metadata": replace_fields(old, {"kind": b'"kept"', MARK: render(message.kind)})})


def _new_item(
    session: Session, message: Message, losses: Losses, *, native: bool, opens: bool, names: Mapping[str, str]
) -> dict[str, Any] | None:
    role = "assistant" if message.role == "assistant" else "user"
    if message.role == "system":
        content = [{"type": "text", "text": as_user_text(message)}]
    else:
        content = [block for block in (_block(block, losses, native=native) for block in message.blocks) if block]
        for block in content:
            if block.get("type") == "tool_result":  # without a name Cline 3.0.65 sends nothing more
                block["name"] = names.get(block.get("tool_use_id", ""), "unknown")
    if not content:
        losses.append(Loss(LossKind.EMPTY_MESSAGES))
        return None
    item: dict[str, Any] = {
        "id": f"msg_{''.join(secrets.choice(_ALPHABET) for _ in range(10))}",
        "role": role,
        "content": content,
    }
    now = time.time()
    if opens and message.kind == "summary" and role == "user":
        usage = next((m.usage for m in reversed(session.context()) if m.usage is not None), None)
        return item | {
            "metadata": {
                "kind": SUMMARY,
                "summary": message.text,
                "details": {key: sorted(set(paths)) for key, paths in _files(session).items()},
                "tokensBefore": usage.context if usage else 0,
                "generatedAt": round(now * 1000),
            }
        }
    item["ts"] = round((now if message.time is None else message.time) * 1000)
    if role == "assistant":
        item["modelInfo"] = {"id": message.model or session.model or "unknown", "provider": "cline"}
    if kind_of(role, from_anthropic(content)) != message.kind:
        item["metadata"] = {MARK: message.kind}
    return item


def _block(block: Block, losses: Losses, *, native: bool) -> dict[str, Any] | None:
    match block:
        case Text(text):
            return {"type": "text", "text": text} if text else None
        case Thinking() | Opaque() if not native:
            losses.append(loss_of(block))
            return None
    return to_anthropic(block, losses)


def _files(session: Session) -> dict[str, list[str]]:
    """Return the files that calls read and changed: the SDK copies them from summary to summary."""
    paths_by_key: dict[str, list[str]] = {"readFiles": [], "modifiedFiles": []}
    for message in session.messages:
        for call in message.calls:
            if call.name in _READERS:
                paths_by_key["readFiles"] += _paths(call.input)
            elif call.name in _EDITORS:
                paths_by_key["modifiedFiles"] += _paths(call.input)
    for raw in elements(session.records.data, "messages") if session.format == ID else ():
        metadata = dict_of(dict_of(loads(raw)).get("metadata"))
        if metadata.get("kind") in (SUMMARY, "compaction"):
            for key, paths in paths_by_key.items():
                paths += [path for path in list_of(dict_of(metadata.get("details")).get(key)) if isinstance(path, str)]
    return paths_by_key


def _paths(input: Any) -> Iterator[str]:
    if isinstance(input, dict):
        if isinstance(input.get("path"), str):
            yield input["path"]
        files = input.get("files")
        for item in list_of(files):
            yield from _paths(item)
