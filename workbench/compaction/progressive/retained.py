"""Messages and texts that `progressive` retains on every rung."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice, takewhile

from workbench.compaction.context import Context
from workbench.compaction.invariants import must_stay, pinned_with_pairs
from workbench.compaction.shape import Shape, newest_per_shape, per_shape
from workbench.compaction.shape_calls import calls_of
from workbench.compaction.summary_extras import (
    Original,
    SummaryExtras,
    extras_of,
    merge_extras,
    opening_request,
    original_of,
)
from workbench.facts.diffstat import FileChange, diffstat, diffstat_text, file_changes
from workbench.facts.tasks import Status, tasks_of
from workbench.session import Message, Span, Text
from workbench.session.masked import searched_message

_PIN = re.compile(r"<Pin>(.*?)</Pin>", re.DOTALL | re.IGNORECASE)
_MARKS: dict[Status, str] = {"completed": "x", "in_progress": "~", "cancelled": "-", "pending": " "}


@per_shape
def changes_of(shape: Shape) -> Mapping[int, tuple[FileChange, ...]]:
    """File changes by each message's calls, by index."""
    found: dict[int, tuple[FileChange, ...]] = {}
    for index, change in file_changes(calls_of(shape)):
        found[index] = (*found.get(index, ()), change)
    return found


@per_shape
def all_changes_of(shape: Shape) -> tuple[FileChange, ...]:
    """Diff statistic of all changes, including those that earlier summaries carry."""
    carried = merge_extras(extras_of(shape).values()).changes
    return diffstat((*carried, *(change for several in changes_of(shape).values() for change in several)))


@per_shape
def passages_of(shape: Shape) -> Mapping[int, tuple[str, ...]]:
    """The `<Pin>…</Pin>` passages in the user's own words, by index."""
    found: dict[int, tuple[str, ...]] = {}
    for index, message in enumerate(shape.masked):
        if passages := tuple(text for passage in _PIN.findall(message.user_text) if (text := passage.strip())):
            found[index] = passages
    return found


def first_request_index(context: Context) -> int | None:
    """Index of the session's first request; None if no message of the context has it, because an earlier summary
    carries it as text, a compaction removed it, or it is unknown."""
    original = original_of(context)
    return None if original is None else _index_of(context.shape, original)


@newest_per_shape
def _index_of(shape: Shape, original: Original) -> int | None:
    """Index of the original request's message, or of one with the same words, because a compaction may copy it."""
    if any(texts.request == original.text for texts in extras_of(shape).values() if texts.request):
        return None
    if original.id in shape.index_of:
        return shape.index_of[original.id]
    own = (index for index, message in enumerate(shape.messages) if message.starts_round)
    same = (index for index in own if shape.masked_at(index).user_text == original.text)
    return next(same, None) if original.text else None


@per_shape
def _requirement_after(opening: Shape) -> tuple[Message, ...]:
    """The user's own messages between the first request of a session's first context and the first answer."""
    original = opening_request(opening)
    if original is None or not original.id:
        return ()
    since = islice(opening.messages, opening.index_of[original.id] + 1, None)
    unanswered = takewhile(lambda message: message.role != "assistant" or message.kind != "normal", since)
    return tuple(searched_message(message) for message in unanswered if message.starts_round)


@per_shape
def unfinished_of(shape: Shape) -> Span:
    """Unfinished messages at the end: the current input, or an answer with open calls."""
    messages = shape.messages
    current = shape.rounds.current_input
    if len(current):
        return current
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].role == "assistant":
            answered = {result.call_id for message in messages[index:] for result in message.results}
            is_open = any(call.id not in answered for call in messages[index].calls)
            return Span(index if is_open else len(messages), len(messages))
    return Span(len(messages), len(messages))


def never_summarized(context: Context) -> frozenset[int]:
    """Messages that stay on every rung, with complete tool pairs: pins, the session's own system messages, unfinished
    messages, and a first request that is more than text."""
    shape = context.shape
    request, unfinished = first_request_index(context), unfinished_of(shape)
    more_than_text = request is not None and any(not isinstance(b, Text) for b in shape.messages[request].blocks)
    more = [request] if request is not None and more_than_text else []
    return must_stay(context, [*more, *range(unfinished.start, unfinished.stop)])


@per_shape
def task_lines(shape: Shape) -> tuple[str, ...]:
    """State of the task list, one task a line; from an earlier summary if no later call changed it."""
    if tasks := tasks_of(calls_of(shape)):
        return tuple(f"[{_MARKS[task.status]}] {task.text}" for task in tasks)
    return merge_extras(extras_of(shape).values()).tasks


def extras_for(
    context: Context,
    summarized: Sequence[int],
    consumed: Sequence[int],
    more: SummaryExtras,
    *,
    oldest: bool = True,
    non_interactive: bool = False,
) -> SummaryExtras:
    """Extras for the summary of the messages `summarized` and of the earlier summaries `consumed`, both ascending.

    They are the request, the passages and the changes in these messages, the extras of those summaries, and `more`
    (memories and tasks). The `oldest` of several summaries also carries extras that no message of the context has. In a
    non-interactive session the whole requirement is a passage.
    """
    shape = context.shape
    carried, changed, going = extras_of(shape), changes_of(shape), frozenset(summarized)
    earlier = merge_extras(carried[index] for index in consumed if index in carried)
    passages = [passage for index, texts in passages_of(shape).items() if index in going for passage in texts]
    if non_interactive:
        passages = _requirement(context, going, oldest=oldest) + passages
    now = SummaryExtras(
        passages=tuple(passages),
        memories=more.memories,
        tasks=more.tasks,
        changes=_changes_without(
            shape, [change for index, changes in changed.items() if index not in going for change in changes]
        ),
    )
    request = _request_text(context, going, consumed, oldest=oldest)
    return replace(merge_extras((earlier, now)), request=request)


def _request_text(context: Context, going: Collection[int], consumed: Collection[int], *, oldest: bool) -> str:
    """The session's first request if this summary carries it; else ""."""
    original = original_of(context)
    if original is None:
        return ""
    at = first_request_index(context)
    if at is not None:
        return context.shape.masked_at(at).user_text if at in going else ""
    carriers = [i for i, texts in extras_of(context.shape).items() if texts.request == original.text]
    carries = carriers[0] in consumed if carriers else oldest
    return original.text if carries else ""


def _requirement(context: Context, going: Collection[int], *, oldest: bool) -> list[str]:
    """Texts of the user's messages between the first request and its answer that this summary carries."""
    index_of = context.shape.index_of
    places = [(message.user_text, index_of.get(message.id)) for message in _requirement_after(context.opening)]
    return [text for text, at in places if (at in going if at is not None else oldest)]


@per_shape
def _own_changes_of(shape: Shape) -> tuple[FileChange, ...]:
    """Diff statistic of the context's own messages."""
    return diffstat(change for several in changes_of(shape).values() for change in several)


def _changes_without(shape: Shape, staying: Sequence[FileChange]) -> tuple[FileChange, ...]:
    """Diff statistic without the few changes `staying`: files in the order of their first change."""
    less = {one.path: one for one in diffstat(staying)}
    if not less:
        return _own_changes_of(shape)
    left = []
    for one in _own_changes_of(shape):
        if (minus := less.get(one.path)) is None:
            left.append(one)
        elif one.edits > minus.edits:
            rest = one.added - minus.added, one.removed - minus.removed, one.edits - minus.edits
            left.append(FileChange(one.path, *rest))
    return tuple(left)


def retained_in_words(context: Context, more: SummaryExtras) -> str:
    """Retained messages and texts in one line with figures."""
    shape = context.shape
    carried = merge_extras(extras_of(shape).values())
    parts = [
        "the first request" if original_of(context) else "no first request found",
        f"{len(pinned_with_pairs(context))} pinned messages",
        f"{sum(map(len, passages_of(shape).values())) + len(carried.passages)} <Pin> passages",
        f"{len(more.memories)} of {len(context.memory_lines)} memories",
        f"{len(more.tasks)} tasks",
        f"file changes: {diffstat_text(all_changes_of(shape))}",
    ]
    return "retained: " + ", ".join(parts)
