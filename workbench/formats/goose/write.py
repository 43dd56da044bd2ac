"""Write goose sessions as the JSON that goose exports and imports, never its database.

Dropped messages stay visible to the user only, and summaries to the agent only, as after goose's own compaction. The
recorded token counts are cleared, because goose compacts by them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from workbench.base.stamps import iso, seconds_of, utc_datetime
from workbench.formats.format import FILE, Written
from workbench.formats.goose.content import StoredSession, render_content
from workbench.formats.kit.document import elements, render
from workbench.formats.kit.folder import folder_of
from workbench.formats.kit.json_spans import field_of, replace_fields
from workbench.formats.kit.jsonl import loads, loads_bounded
from workbench.formats.kit.marks import MARK
from workbench.formats.kit.settle import adopted, as_user_text
from workbench.formats.kit.values import dict_of
from workbench.formats.loss import Loss, Losses, LossKind
from workbench.session import Message, Session

_COUNTS = ("total_tokens", "input_tokens", "output_tokens")
_SUMS = tuple(f"accumulated_{count}" for count in _COUNTS)
_VISIBLE_TO_BOTH = b'{"userVisible":true,"agentVisible":true}'


def write(session: Session, messages: Sequence[Message]) -> Written:
    """Write the messages as a session to import. If nothing changed, return a loaded export (JSON or JSON lines) as it
    is. Never raises."""
    own = session.format == "goose"
    stored = session.facts.own
    form, session_fields = (stored.form, stored.session_fields) if isinstance(stored, StoredSession) else ("", {})
    same = own and list(messages) == list(session.context())
    if same and form in ("document", "lines"):
        ending = "json" if form == "document" else "jsonl"
        name = f"{session.id or 'session'}.{ending}"
        return replace(addressed(session, session.records.data, session.id, [Loss(LossKind.UNCHANGED)]), name=name)
    losses: Losses = []
    if not own:
        messages, more = adopted(session, messages, "goose", "anthropic-messages")
        losses += more
    messages = [message for message in messages if message.kind != "boundary"]
    raws: Sequence[bytes] = ()
    if own:
        raws = elements(session.records.data, "conversation") if form == "document" else list(session.records)
    kept_ids = {message.id for message in messages if message.source}
    entries = [_hide_from_agent(raws[m.source[0]]) for m in session.messages if m.id not in kept_ids] if own else []
    for message in messages:
        raw = (
            _show_to_agent(raws[message.source[0]], message)
            if own and message.source
            else _render_message(message, losses, own=own)
        )
        entries += [raw] if raw is not None else []
    now = datetime.now(UTC)
    id = f"{now:%Y%m%d}_{uuid4().hex[:6]}"
    data = _document(session, form, session_fields, id, entries)
    return addressed(session, data, id, losses)


def addressed(session: Session, data: bytes, id: str, losses: Sequence[Loss]) -> Written:
    """Add the commands that resume: by id for a session in goose's database, else by importing the file, which gets a
    new id and becomes the newest session."""
    resume = ("goose", "session", "--resume")
    is_in_database = session.path is not None and session.path.suffix == ".db" and id == session.id
    commands = ((*resume, "--session-id", id),) if is_in_database else (("goose", "session", "import", FILE), resume)
    return Written(data, f"{id}.json", id, folder=folder_of(session), commands=commands, losses=losses)


def _hide_from_agent(raw: bytes) -> bytes:
    """Return a message that the user still sees and the agent does not."""
    raw = _with_metadata(raw)
    metadata = field_of(raw, "metadata") or b"{}"
    metadata = metadata if metadata.startswith(b"{") else _VISIBLE_TO_BOTH
    return replace_fields(raw, {"metadata": replace_fields(metadata, {"agentVisible": b"false"})})


def _show_to_agent(raw: bytes, message: Message) -> bytes:
    """Return a kept message, visible to the agent even if an earlier compaction had hidden it."""
    raw = _with_metadata(raw)
    value = loads(raw)
    changes: dict[str, bytes] = {}
    if value["metadata"].get("agentVisible") is False:
        changes["metadata"] = replace_fields(field_of(raw, "metadata") or b"{}", {"agentVisible": b"true"})
    if message.kind == "summary" and MARK not in value:  # the answer that identifies it may be dropped
        changes[MARK] = render(message.kind)
    return replace_fields(raw, changes)


def _with_metadata(raw: bytes) -> bytes:
    """Return a message with the fields that goose's import requires; earlier versions had no metadata."""
    value = loads(raw)
    changes: dict[str, bytes] = {}
    if not isinstance(value.get("metadata"), dict):
        changes["metadata"] = _VISIBLE_TO_BOTH
    if type(value.get("created")) is not int:
        changes["created"] = b"0"
    return replace_fields(raw, changes)


def _render_message(message: Message, losses: Losses, *, own: bool) -> bytes | None:
    content = render_content(message, losses, own=own)
    if message.role == "system":
        text = message.text if message.kind == "summary" else as_user_text(message)
        content = [{"type": "text", "text": text}] if text else []
    if not content:
        losses.append(Loss(LossKind.EMPTY_MESSAGES))
        return None
    summary = message.kind == "summary"
    entry = {
        "id": f"msg_{uuid4()}",
        "role": "assistant" if message.role == "assistant" else "user",
        "created": int(utc_datetime(message.time).timestamp()),
        "content": content,
        "metadata": {"userVisible": not summary, "agentVisible": True},
    }
    if message.kind != "normal":
        entry[MARK] = message.kind
    return render(entry)


def _document(
    session: Session, form: str, session_fields: Mapping[str, Any], id: str, entries: Sequence[bytes]
) -> bytes:
    """Return an exported session with the messages. Columns of the database have the names of an export's keys."""
    name = session_fields.get("name") or session_fields.get("description") or session.title
    fields: dict[str, Any] = {
        **(session_fields if form == "document" else {}),
        "id": id,
        "working_dir": folder_of(session),
        "name": name if isinstance(name, str) else session.title,
        "user_set_name": session_fields.get("user_set_name") in (True, 1),
        "session_type": session_fields.get("session_type") or "user",
        "created_at": _moment(session_fields.get("created_at")),
        "updated_at": iso(),
        "extension_data": _json_object(session_fields.get("extension_data")),
        **dict.fromkeys(_COUNTS),
        **{key: session_fields.get(key) for key in _SUMS},
        "schedule_id": session_fields.get("schedule_id"),
        "recipe": session_fields.get("recipe") or _json_object(session_fields.get("recipe_json")) or None,
        "user_recipe_values": session_fields.get("user_recipe_values")
        or _json_object(session_fields.get("user_recipe_values_json"))
        or None,
        "message_count": len(entries),
    }
    fields.pop("description", None)
    head = b",".join(b"%s:%s" % (render(key), render(value)) for key, value in fields.items())
    return b'{%s,"conversation":[%s]}\n' % (head, b",\n".join(entries))


def _moment(stamp: Any) -> str:
    """Return a time in the form of an export; the database writes it with a blank and without a zone."""
    seconds = seconds_of(stamp)
    return iso(seconds)


def _json_object(value: Any) -> dict[str, Any]:
    """Return a value of an export as an object: the database stores it as JSON text."""
    if isinstance(value, str):
        try:
            value = loads_bounded(value.encode(errors="replace"))
        except ValueError:
            value = None
    return dict_of(value)
