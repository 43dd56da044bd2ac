"""The abridged history: what was asked and done, one entry a request, without a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from workbench.base.text import clip_middle
from workbench.compaction.context import Context
from workbench.compaction.past import Past, Place
from workbench.compaction.prompts import PromptFile, file_of, filled, load_prompt
from workbench.compaction.shape_calls import actions_at
from workbench.compaction.spans import spans_of
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
    """One user request and what the agent did about it, rendered as `text`.

    `spans` are its messages in the context; what is older than the context, or a summary between, is not among them.
    """

    spans: tuple[Span, ...]
    text: str


@dataclass(frozen=True, slots=True)
class AbridgedEntries:
    """A history retold, oldest first; `whole` unless older requests did not fit."""

    entries: tuple[AbridgedEntry, ...]
    whole: bool

    @property
    def text(self) -> str:
        return "\n".join(entry.text for entry in self.entries)


def abridge(context: Context, before: int, params: AbridgedHistoryParams) -> AbridgedEntries:
    """Entries for what was said before message `before` of the context (the start of the tail), oldest first.

    Told is the stored history, with what earlier summaries replaced and without these summaries. Collected from the
    newest back; the first entry that would exceed `total_chars_limit` ends the walk.
    """
    entries: list[AbridgedEntry] = []
    template, total = load_prompt(TEMPLATE), 0
    goes_on = bool(context.shape.open_across[before])
    for request in _requests_backwards(context.past.backwards(context.shape, before)):
        text = _told(context.past, template, request, continues=goes_on and not entries, params=params)
        if total + len(text) > params.total_chars_limit:
            return AbridgedEntries(tuple(reversed(entries)), whole=False)
        here = [index for shape, index in request if shape is context.shape]
        entries.append(AbridgedEntry(tuple(spans_of(here)), text))
        total += len(text)
    return AbridgedEntries(tuple(reversed(entries)), whole=True)


def _requests_backwards(said: Iterable[Place]) -> Iterator[list[Place]]:
    """The messages of one user request and of all exchanges up to the next request, oldest first; the newest first of
    these. `said` comes newest first."""
    request: list[Place] = []
    asked = False
    for shape, index in said:
        message = shape.messages[index]
        if asked and message.role == "assistant":  # it ends the exchange before the one in which the user asked
            yield request[::-1]
            request, asked = [], False
        request.append((shape, index))
        asked = asked or message.starts_round
    if request:
        yield request[::-1]


def _told(
    past: Past, template: PromptFile, request: Sequence[Place], *, continues: bool, params: AbridgedHistoryParams
) -> str:
    """One entry's text, made once for the messages of a stored history: each compaction of a long session tells most of
    what the one before it told."""
    messages = [shape.masked_at(index) for shape, index in request]
    key = (template.text, continues, params, *map(id, messages))
    if key not in past.abridged_texts:
        past.abridged_texts[key] = messages, _entry(template, request, messages, continues=continues, params=params)
    return past.abridged_texts[key][1]


def _entry(
    template: PromptFile,
    request: Sequence[Place],
    messages: Sequence[Message],
    *,
    continues: bool,
    params: AbridgedHistoryParams,
) -> str:
    """One entry's text, of the request's `messages` without their secrets. It answered when its last message is the
    agent's and calls no tool; else it continues in the tail when its open calls are answered there; else it was
    interrupted."""
    asked = "\n".join(message.said for message in messages if message.said)
    done: dict[str, dict[str, None]] = {}
    for shape, index in request:
        for action in actions_at(shape, index):
            done.setdefault(action.kind, {})[clip_middle(action.target, params.action_chars_limit)] = None
    last = messages[-1]
    answered = last.role == "assistant" and not last.calls and bool(last.text)
    values = {
        "user_message": clip_middle(asked, params.user_message_chars_limit),
        "has_actions": bool(done),
        "files_modified": _first(done.get("modified"), params.num_files_modified_limit),
        "files_created": _first(done.get("created"), params.num_files_created_limit),
        "files_deleted": _first(done.get("deleted"), params.num_files_deleted_limit),
        "files_viewed": _first(done.get("viewed"), params.num_files_viewed_limit),
        "terminal_commands": _first(done.get("command"), params.num_terminal_commands_limit),
        "agent_response": clip_middle(last.text, params.agent_response_chars_limit) if answered else "",
        "was_interrupted": not continues,
        "continues": continues,
    }
    return filled(file_of(TEMPLATE), template, values).rstrip("\n")


def _first(targets: Iterable[str] | None, limit: int) -> Sequence[str]:
    return list(targets or ())[:limit]
