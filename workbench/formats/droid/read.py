"""Read Droid sessions line by line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from workbench.base.stamps import seconds_of
from workbench.formats.agent_texts import with_user_text
from workbench.formats.droid import ID
from workbench.formats.kit.blocks import from_anthropic
from workbench.formats.kit.document import read_sidecar
from workbench.formats.kit.jsonl import left_out
from workbench.formats.kit.transcript import Transcript
from workbench.formats.kit.values import count_of, dict_of, text_of
from workbench.session import (
    Compaction,
    Kind,
    Message,
    Role,
    Session,
    SessionFacts,
    Text,
    ToolResult,
)

_SUMMARY = (
    "A previous instance of Droid has summarized the conversation thus far as follows:\n\n<summary>\n{}\n</summary>\n\n"
    "IMPORTANT: This summary was created by a previous instance of Droid. Files referenced in the summary may not be "
    "available until you explicitly view them again."
)
"""Text of a summary message."""

_SILENT = ("session_start", "todo_state", "session_settings", "agent_turn_outcome")


class Reader(Transcript):
    """Reader of the lines of a session."""

    empty = "a session of Droid without messages; open another session"
    start: Mapping[str, Any] = {}

    def take(self, value: dict[str, Any], index: int, line: int) -> None:
        kind = text_of(value.get("type"))
        if kind == "message":
            self._message(value, index)
        elif kind == "compaction_state":
            self._compaction(value, index, line)
        elif kind == "session_start":
            self.start = value
        elif kind not in _SILENT:
            self.unknown[kind or "?"] += 1

    def _message(self, value: dict[str, Any], index: int) -> None:
        """Add a message. A hook's record has no content; a message that only the user sees is never sent."""
        body = dict_of(value.get("message"))
        visibility = body.get("visibility") or value.get("visibility")
        blocks = from_anthropic(body.get("content"))
        if not blocks:
            return
        role: Role = "assistant" if body.get("role") == "assistant" else "user"
        kind: Kind = "normal"
        if role == "user" and any(isinstance(block, ToolResult) for block in blocks):
            role = "tool"
        elif role == "user" and visibility == "llm_only":
            kind = "meta"
            blocks = tuple(replace(block, injected=True) if isinstance(block, Text) else block for block in blocks)
        model = text_of(body.get("modelId")) or None
        self.model = model or self.model
        id = self.unique_id(text_of(value.get("id")) or f"record-{index + 1}")
        time = seconds_of(value.get("timestamp"))
        number = self.add(Message(id, role, blocks, kind, time, model=model, source=(index,)))
        if visibility != "user_only":
            self.sent.append(number)

    def _compaction(self, value: dict[str, Any], index: int, line: int) -> None:
        """End the epoch. Messages after the anchor follow the summary; without an anchor none are kept."""
        text = text_of(value.get("summaryText")) or text_of(dict_of(value.get("summary")).get("body"))
        if not text:
            self.warn("holds a compaction without a summary; left out", line)
            return
        id = self.unique_id(text_of(value.get("id")) or f"record-{index + 1}")
        time = seconds_of(value.get("timestamp"))
        anchor = text_of(dict_of(value.get("anchorMessage")).get("id"))
        places = [place for place, number in enumerate(self.sent) if self.messages[number].id == anchor]
        kept_messages = self.sent[places[-1] + 1 :] if places else []
        if anchor and not places:
            self.warn("the compaction's anchor is not an earlier message; no message is kept", line)
        if self.sent:
            kept_ids = tuple(self.messages[number].id for number in kept_messages)
            self.end_epoch(Compaction("", None, id, time, kept_ids=kept_ids))
        system_info = text_of(value.get("systemInfoText"))
        blocks = (Text(_SUMMARY.format(text)), *([Text(system_info, injected=True)] if system_info else []))
        self.sent = [self.add(Message(id, "user", blocks, "summary", time, source=(index,))), *kept_messages]

    def session(self) -> Session:
        self.warnings += left_out("lines", self.unknown)
        self.end_epoch()
        settings = read_sidecar(self.path.with_suffix(".settings.json"))
        last = dict_of(settings.get("lastCallTokenUsage"))
        tokens = sum(count_of(last.get(key)) for key in ("inputTokens", "cacheReadTokens", "cacheCreationTokens"))
        return self._session(
            ID,
            with_user_text(self.messages),
            id=text_of(self.start.get("id")) or self.path.stem,
            title=text_of(self.start.get("title")),
            model=self.model or text_of(settings.get("model")) or None,
            cwd=text_of(self.start.get("cwd")) or None,
            facts=SessionFacts(tokens_now=tokens or None),
        )
