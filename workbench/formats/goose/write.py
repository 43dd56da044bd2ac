"""Writing a goose session: the JSON that goose itself exports and imports, never its database.

What the agent shall no longer see stays in the session for the person, as after goose's own compaction; summaries are
for the agent alone. The size that the session claims is left open: goose compacts by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from workbench.base.stamps import iso, moment, seconds_of
from workbench.formats.format import FILE, Written
from workbench.formats.goose.content import Own, rendered
from workbench.formats.kit.document import elements, render
from workbench.formats.kit.folder import folder_of
from workbench.formats.kit.json_spans import field_of, replace_fields
from workbench.formats.kit.jsonl import loads, loads_bounded
from workbench.formats.kit.mark import MARK
from workbench.formats.kit.settle import adopted, as_user_text
from workbench.formats.kit.values import dict_of
from workbench.formats.loss import Loss, Losses, LossKind
from workbench.session import Message, Session

_COUNTS = ("total_tokens", "input_tokens", "output_tokens")
_SUMS = tuple(f"accumulated_{count}" for count in _COUNTS)
_SEEN = b'{"userVisible":true,"agentVisible":true}'


def write(session: Session, messages: Sequence[Message]) -> Written:
    """The messages as a session to import; a loaded text if nothing changed. Never raises."""
    own = session.format == "goose"
    stored = session.facts.own
    form, about = (stored.form, stored.about) if isinstance(stored, Own) else ("", {})
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
    kept = {message.id for message in messages if message.source}
    entries = [_hidden(raws[m.source[0]]) for m in session.messages if m.id not in kept] if own else []
    for message in messages:
        raw = _shown(raws[message.source[0]], message) if own and message.source else _made(message, losses, own=own)
        entries += [raw] if raw is not None else []
    now = datetime.now(UTC)
    id = f"{now:%Y%m%d}_{uuid4().hex[:6]}"
    data = _document(session, form, about, id, entries)
    return addressed(session, data, id, losses)


def addressed(session: Session, data: bytes, id: str, losses: Sequence[Loss]) -> Written:
    """goose takes a file in under an id of its own, and without one goes on with the newest; what lies in its database
    it knows by its id."""
    resume = ("goose", "session", "--resume")
    is_kept = session.path is not None and session.path.suffix == ".db" and id == session.id
    commands = ((*resume, "--session-id", id),) if is_kept else (("goose", "session", "import", FILE), resume)
    return Written(data, f"{id}.json", id, folder=folder_of(session), commands=commands, losses=losses)


def _hidden(raw: bytes) -> bytes:
    """A message as the person still sees it and the agent does not."""
    raw = _with_metadata(raw)
    metadata = field_of(raw, "metadata") or b"{}"
    metadata = metadata if metadata.startswith(b"{") else _SEEN
    return replace_fields(raw, {"metadata": replace_fields(metadata, {"agentVisible": b"false"})})


def _shown(raw: bytes, message: Message) -> bytes:
    """A kept message as the agent sees it; one that an earlier compaction had hidden is seen again."""
    raw = _with_metadata(raw)
    value = loads(raw)
    changes: dict[str, bytes] = {}
    if value["metadata"].get("agentVisible") is False:
        changes["metadata"] = replace_fields(field_of(raw, "metadata") or b"{}", {"agentVisible": b"true"})
    if message.kind == "summary" and MARK not in value:  # its answer, by which it is known, may be gone
        changes[MARK] = render(message.kind)
    return replace_fields(raw, changes)


def _with_metadata(raw: bytes) -> bytes:
    """A message with the fields that goose's import demands; one of an earlier version has no metadata."""
    value = loads(raw)
    changes: dict[str, bytes] = {}
    if not isinstance(value.get("metadata"), dict):
        changes["metadata"] = _SEEN
    if type(value.get("created")) is not int:
        changes["created"] = b"0"
    return replace_fields(raw, changes)


def _made(message: Message, losses: Losses, *, own: bool) -> bytes | None:
    content = rendered(message, losses, own=own)
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
        "created": int(moment(message.time).timestamp()),
        "content": content,
        "metadata": {"userVisible": not summary, "agentVisible": True},
    }
    if message.kind != "normal":
        entry[MARK] = message.kind
    return render(entry)


def _document(session: Session, form: str, about: Mapping[str, Any], id: str, entries: Sequence[bytes]) -> bytes:
    """An exported session around the messages. Columns of the database have the names that an export gives them."""
    name = about.get("name") or about.get("description") or session.title
    fields: dict[str, Any] = {
        **(about if form == "document" else {}),
        "id": id,
        "working_dir": folder_of(session),
        "name": name if isinstance(name, str) else session.title,
        "user_set_name": about.get("user_set_name") in (True, 1),
        "session_type": about.get("session_type") or "user",
        "created_at": _moment(about.get("created_at")),
        "updated_at": iso(),
        "extension_data": _decoded(about.get("extension_data")),
        **dict.fromkeys(_COUNTS),
        **{key: about.get(key) for key in _SUMS},
        "schedule_id": about.get("schedule_id"),
        "recipe": about.get("recipe") or _decoded(about.get("recipe_json")) or None,
        "user_recipe_values": about.get("user_recipe_values") or _decoded(about.get("user_recipe_values_json")) or None,
        "message_count": len(entries),
    }
    fields.pop("description", None)
    head = b",".join(b"%s:%s" % (render(key), render(value)) for key, value in fields.items())
    return b'{%s,"conversation":[%s]}\n' % (head, b",\n".join(entries))


def _moment(stamp: Any) -> str:
    """A time as an export has it; the database writes it with a blank and without a zone."""
    seconds = seconds_of(stamp)
    return iso(seconds)


def _decoded(value: Any) -> dict[str, Any]:
    """What the database holds as JSON text stands in an export as it is."""
    if isinstance(value, str):
        try:
            value = loads_bounded(value.encode(errors="replace"))
        except ValueError:
            value = None
    return dict_of(value)
