"""Abridged history: the user's requests and the agent's actions, one entry per request, without a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from workbench.base.text import clip_middle
from workbench.compaction.context import Context
from workbench.compaction.prompts import LoadedPrompt, file_of, filled, load_prompt
from workbench.compaction.shape_calls import actions_at
from workbench.compaction.spans import spans_of
from workbench.compaction.stored_history import Place, StoredHistory
from workbench.session import Message, Span

TEMPLATE = "abridged-entry.jinja"


class AbridgedHistoryParams(BaseModel):
    """Limits of the abridged history, with the names and defaults of Augment's server."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    total_chars_limit: int = Field(
        10_000, ge=0, description="Characters of the whole abridged history, newest entries first."
    )
    user_message_chars_limit: int = Field(
        1_000, ge=0, description="Characters of a user text; a longer text is cut in the middle."
    )
    agent_response_chars_limit: int = Field(2_000, ge=0, description="Characters of the agent's answer.")
    action_chars_limit: int = Field(200, ge=0, description="Characters of one path or command.")
    num_files_modified_limit: int = Field(10, ge=0, description="Modified files listed in an entry.")
    num_files_created_limit: int = Field(10, ge=0, description="Created files listed in an entry.")
    num_files_deleted_limit: int = Field(10, ge=0, description="Deleted files listed in an entry.")
    num_files_viewed_limit: int = Field(10, ge=0, description="Viewed files listed in an entry.")
    num_terminal_commands_limit: int = Field(10, ge=0, description="Commands listed in an entry.")


@dataclass(frozen=True, slots=True)
class AbridgedEntry:
    """User request and the agent's actions for it, rendered as `text`.

    `spans`: those of its messages that are still in the context, without summaries between them.
    """

    spans: tuple[Span, ...]
    text: str


@dataclass(frozen=True, slots=True)
class AbridgedEntries:
    """Entries, oldest first. `whole`: false if older requests did not fit."""

    entries: tuple[AbridgedEntry, ...]
    whole: bool

    @property
    def text(self) -> str:
        """All entries as one text."""
        return "\n".join(entry.text for entry in self.entries)


def abridge(context: Context, before: int, params: AbridgedHistoryParams) -> AbridgedEntries:
    """Entries for the messages before message `before` of the context (the start of the tail), oldest first.

    They cover the stored history: messages that earlier summaries replaced are included, the summaries are not. Entries
    are collected from the newest back and end before the first one that would exceed `total_chars_limit`.
    """
    entries: list[AbridgedEntry] = []
    template, total = load_prompt(TEMPLATE), 0
    goes_on = bool(context.shape.open_across[before])
    for request in _requests_backwards(context.stored_history.backwards(context.shape, before)):
        text = _entry_text(context.stored_history, template, request, continues=goes_on and not entries, params=params)
        if total + len(text) > params.total_chars_limit:
            return AbridgedEntries(tuple(reversed(entries)), whole=False)
        here = [index for shape, index in request if shape is context.shape]
        entries.append(AbridgedEntry(tuple(spans_of(here)), text))
        total += len(text)
    return AbridgedEntries(tuple(reversed(entries)), whole=True)


def _requests_backwards(messages: Iterable[Place]) -> Iterator[list[Place]]:
    """Yield each user request with all messages up to the next request, from the newest request back. `messages` are
    newest first; those of a request are yielded oldest first."""
    request: list[Place] = []
    has_request = False
    for shape, index in messages:
        message = shape.messages[index]
        if has_request and message.role == "assistant":  # it belongs to the exchange before the request
            yield request[::-1]
            request, has_request = [], False
        request.append((shape, index))
        has_request = has_request or message.starts_round
    if request:
        yield request[::-1]


def _entry_text(
    stored_history: StoredHistory,
    template: LoadedPrompt,
    request: Sequence[Place],
    *,
    continues: bool,
    params: AbridgedHistoryParams,
) -> str:
    """Text of one entry, cached with the stored history: in a long session, most entries are needed again by the next
    compaction."""
    messages = [shape.masked_at(index) for shape, index in request]
    key = (template.text, continues, params, *map(id, messages))
    if key not in stored_history.abridged_texts:
        stored_history.abridged_texts[key] = (
            messages,
            _entry(template, request, messages, continues=continues, params=params),
        )
    return stored_history.abridged_texts[key][1]


def _entry(
    template: LoadedPrompt,
    request: Sequence[Place],
    messages: Sequence[Message],
    *,
    continues: bool,
    params: AbridgedHistoryParams,
) -> str:
    """Text of one entry, from the request's masked `messages`. The request is answered if its last message is the
    agent's and calls no tool. It continues in the tail if the results of its open calls are there (`continues`); else
    it was interrupted."""
    user_text = "\n".join(message.user_text for message in messages if message.user_text)
    done: dict[str, dict[str, None]] = {}
    for shape, index in request:
        for action in actions_at(shape, index):
            done.setdefault(action.kind, {})[clip_middle(action.target, params.action_chars_limit)] = None
    last = messages[-1]
    answered = last.role == "assistant" and not last.calls and bool(last.text)
    values = {
        "user_message": clip_middle(user_text, params.user_message_chars_limit),
        "has_actions": bool(done),
        "files_modified": _first_targets(done.get("modified"), params.num_files_modified_limit),
        "files_created": _first_targets(done.get("created"), params.num_files_created_limit),
        "files_deleted": _first_targets(done.get("deleted"), params.num_files_deleted_limit),
        "files_viewed": _first_targets(done.get("viewed"), params.num_files_viewed_limit),
        "terminal_commands": _first_targets(done.get("command"), params.num_terminal_commands_limit),
        "agent_response": clip_middle(last.text, params.agent_response_chars_limit) if answered else "",
        "was_interrupted": not continues,
        "continues": continues,
    }
    return filled(file_of(TEMPLATE), template, values).rstrip("\n")


def _first_targets(targets: Iterable[str] | None, limit: int) -> Sequence[str]:
    return list(targets or ())[:limit]
