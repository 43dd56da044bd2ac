"""The abridged history: what was asked and done, one entry a request, without a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from workbench.base.text import clip_middle
from workbench.compaction.prompts import Prompt, file_of, filled, load_prompt
from workbench.compaction.shape import Shape
from workbench.compaction.shape_facts import actions_at
from workbench.session import Span

TEMPLATE = "abridged-entry.jinja"


class AbridgedHistoryParams(BaseModel):
    """Limits of the abridged history, with the names and defaults of Augment's server."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    total_chars_limit: int = Field(
        10_000, ge=0, description="Characters of the whole abridged history, newest entries first."
    )
    user_message_chars_limit: int = Field(
        1_000, ge=0, description="Characters of a user's text; longer ones lose the middle."
    )
    agent_response_chars_limit: int = Field(2_000, ge=0, description="Characters of the agent's answer.")
    action_chars_limit: int = Field(200, ge=0, description="Characters of one path or command.")
    num_files_modified_limit: int = Field(10, ge=0, description="Modified files listed in an entry.")
    num_files_created_limit: int = Field(10, ge=0, description="Created files listed in an entry.")
    num_files_deleted_limit: int = Field(10, ge=0, description="Deleted files listed in an entry.")
    num_files_viewed_limit: int = Field(10, ge=0, description="Viewed files listed in an entry.")
    num_terminal_commands_limit: int = Field(10, ge=0, description="Commands listed in an entry.")


@dataclass(frozen=True, slots=True)
class Entry:
    """One user request and what the agent did about it: messages `span`, rendered as `text`."""

    span: Span
    text: str


def abridge(shape: Shape, before: int, params: AbridgedHistoryParams) -> tuple[Entry, ...]:
    """Entries for the messages before index `before` (the start of the tail), oldest first.

    Collected from the newest back; the first entry that would exceed `total_chars_limit` ends the walk. Summaries are
    skipped, and what an earlier summary replaced is included.
    """
    entries: list[Entry] = []
    template, total = load_prompt(TEMPLATE), 0
    for span in _requests_backwards(shape, before):
        text = _entry(template, shape, span, continues=span.stop == before, params=params)
        if total + len(text) > params.total_chars_limit:
            break
        if text:
            entries.append(Entry(span, text))
            total += len(text)
    return tuple(reversed(entries))


def abridged_text(entries: Iterable[Entry]) -> str:
    return "\n".join(entry.text for entry in entries)


def _requests_backwards(shape: Shape, before: int) -> Iterable[Span]:
    """Spans of consecutive exchanges of one user request, newest first, without summaries."""
    messages, exchanges = shape.messages, shape.exchanges
    stop = before
    for span in reversed(exchanges[: shape.exchange_index(before)]):
        request = messages[span.start : span.stop]
        if request and request[0].kind == "summary":
            if span.stop < stop:
                yield Span(span.stop, stop)
            stop = span.start
        elif any(message.starts_round for message in request):
            yield Span(span.start, stop)
            stop = span.start
    first = shape.exchanges[0].start if shape.exchanges else 0
    if first < stop:
        yield Span(first, stop)


def _entry(template: Prompt, shape: Shape, span: Span, *, continues: bool, params: AbridgedHistoryParams) -> str:
    """One entry's text. It answered when its last message is the agent's and calls no tool; else it continues in the
    tail when its open calls are answered there; else it was interrupted."""
    messages = shape.messages[span.start : span.stop]
    asked = "\n".join(message.text for message in messages if message.starts_round)
    done: dict[str, dict[str, None]] = {}
    for index in range(span.start, span.stop):
        for action in actions_at(shape, index):
            done.setdefault(action.kind, {})[clip_middle(action.target, params.action_chars_limit)] = None
    last = messages[-1]
    answered = last.role == "assistant" and not last.calls and bool(last.text)
    goes_on = continues and bool(shape.open_across[span.stop])
    values = {
        "user_message": clip_middle(asked, params.user_message_chars_limit),
        "has_actions": bool(done),
        "files_modified": _first(done.get("modified"), params.num_files_modified_limit),
        "files_created": _first(done.get("created"), params.num_files_created_limit),
        "files_deleted": _first(done.get("deleted"), params.num_files_deleted_limit),
        "files_viewed": _first(done.get("viewed"), params.num_files_viewed_limit),
        "terminal_commands": _first(done.get("command"), params.num_terminal_commands_limit),
        "agent_response": clip_middle(last.text, params.agent_response_chars_limit) if answered else "",
        "was_interrupted": not goes_on,
        "continues": goes_on,
    }
    return filled(file_of(TEMPLATE), template, values).rstrip("\n")


def _first(targets: Iterable[str] | None, limit: int) -> Sequence[str]:
    return list(targets or ())[:limit]
