"""Find recorded usage that cannot be right: too small for the text of the context, or too large for any prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.session import Epoch, LoadWarning, Media, Message, Opaque, Session, Text, Thinking, ToolResult, ToolUse

CHARACTERS_PER_TOKEN = 16
"""Upper limit of the average characters per token of any tokenizer; four are usual, six are many."""

WINDOWS = 2
"""Upper limit of a prompt, in recorded windows: Codex records its window minus a reserve, and GitHub Copilot counts
part of some prompts twice."""

UNRECORDED = 1_000_000
"""Upper limit of a prompt's tokens outside the messages: the window of the largest models in use."""

TOKENS_PER_CHARACTER = 4
"""Upper limit of tokens per character: its bytes in UTF-8."""

LEAP, TIMES = 200_000, 4
"""A prompt over `TIMES` the prompt before and larger by over `LEAP` tokens is a leap: it needs messages that
explain it, or a next prompt of a similar size."""


MOST = 10**15
"""Upper limit of any token count; a larger one is damaged, and too large for calculations."""


def check_usage(session: Session) -> Session:
    """Drop usage that is too large and mark usage that is too small, with warnings. Causes: test placeholders, counts
    without cached tokens, a context that was cut but is recorded completely. A call is checked in its first epoch."""
    return drop_too_large_usage(_mark_small_usage(_drop_damaged_usage(_drop_damaged_sizes(session))))


def _drop_damaged_usage(session: Session) -> Session:
    """Drop usage of `MOST` tokens or more, with a warning at the first call."""
    wrong = [
        at
        for at, one in enumerate(session.messages)
        if (usage := one.usage) and max(usage.input, usage.output, usage.cache_read, usage.cache_write) >= MOST
    ]
    if not wrong:
        return session
    place = next(iter(session.messages[wrong[0]].source), len(session.records))
    text = f"usage of {counted(len(wrong), 'call')} is impossibly large; ignored"
    warning = LoadWarning(text, session.records.lines[place] if place < len(session.records) else None)
    damaged = set(wrong)
    messages = tuple(replace(one, usage=None) if at in damaged else one for at, one in enumerate(session.messages))
    return replace(session, messages=messages, warnings=(*session.warnings, warning))


def _drop_damaged_sizes(session: Session) -> Session:
    """Drop windows and compaction sizes of `MOST` tokens or more, with a warning."""

    def bounded(tokens: int | None) -> int | None:
        return tokens if tokens is None or tokens < MOST else None

    def bounded_epoch(epoch: Epoch) -> Epoch:
        end = epoch.ended_by
        if end is not None:
            end = replace(end, tokens_before=bounded(end.tokens_before), tokens_after=bounded(end.tokens_after))
        return replace(epoch, window=bounded(epoch.window), ended_by=end)

    facts = replace(session.facts, tokens_now=bounded(session.facts.tokens_now))
    epochs = tuple(map(bounded_epoch, session.epochs))
    if facts == session.facts and epochs == session.epochs:
        return session
    warning = LoadWarning("sizes recorded by the agent are impossibly large; ignored")
    return replace(session, facts=facts, epochs=epochs, warnings=(*session.warnings, warning))


def drop_too_large_usage(session: Session, *, is_complete: bool = True) -> Session:
    """Drop usage that is larger than any prompt can be, with a warning at the first call. `is_complete`: False if only
    the two ends of a file were read, between which a prompt may have grown by any amount."""
    found = dict(_too_large(session, is_complete=is_complete))
    now = session.facts.tokens_now
    window = session.epochs[-1].window
    if now is not None and exceeds(now, window):
        warning = LoadWarning(impossible_usage_warning(now, window))
        facts = replace(session.facts, tokens_now=None)
        session = replace(session, facts=facts, warnings=(*session.warnings, warning))
    if not found:
        return session
    first, window = next(iter(found.items()))
    text = impossible_usage_warning(_prompt(session.messages[first]), window)
    if len(found) > 1:
        text += f", and {counted(len(found) - 1, 'other')} like it"
    messages = tuple(replace(one, usage=None) if i in found else one for i, one in enumerate(session.messages))
    warning = LoadWarning(text, _line(session, session.messages[first]))
    return replace(session, messages=messages, warnings=(*session.warnings, warning))


def may_be_too_large(prompts: Sequence[int]) -> bool:
    """Return True if `drop_too_large_usage` may drop the usage of one of these prompts (tokens per call, in
    order). Sizes alone are not sufficient: `drop_too_large_usage` also reads the messages."""
    leaps = any(_is_leap(before, tokens) for before, tokens in pairwise(prompts))
    return leaps or max(prompts, default=0) > UNRECORDED


def exceeds(tokens: int, window: int | None) -> bool:
    """Return True if `tokens` is more than `WINDOWS` times the recorded window; False without a recorded window."""
    return window is not None and tokens > WINDOWS * window


def impossible_usage_warning(tokens: int, window: int | None) -> str:
    """Return the warning about a recorded size that is ignored."""
    limit = f"a window of {grouped(window)}" if exceeds(tokens, window) and window else "the messages before it"
    return f"a usage of {grouped(tokens)} tokens was recorded, more than {limit}; ignored"


def _too_large(session: Session, *, is_complete: bool) -> Iterator[tuple[int, int | None]]:
    """Yield the number of each message with too large usage, and the window (tokens) that its epoch records."""
    seen: set[int] = set()
    for epoch in session.epochs:
        calls = [(place, _prompt(session.messages[member])) for place, member in enumerate(epoch.members)]
        calls = [(place, tokens) for place, tokens in calls if tokens]
        suspects = {place for place, tokens in calls if exceeds(tokens, epoch.window)}
        suspects |= _above_all(session, epoch, calls)
        if is_complete:
            suspects |= _leaps(session, epoch, [one for one in calls if one[0] not in suspects])
        for place in sorted(suspects):
            if (member := epoch.members[place]) not in seen:
                yield member, epoch.window
        seen.update(epoch.members)


def _above_all(session: Session, epoch: Epoch, calls: list[tuple[int, int]]) -> set[int]:
    """Return the places of calls that record more tokens than all text before them can have, plus `UNRECORDED`."""
    large = [(place, tokens - UNRECORDED) for place, tokens in calls if tokens > UNRECORDED]
    if not large:
        return set()
    characters = (all_characters(session.messages[member]) for member in epoch.members)
    before = list(accumulate(characters, initial=0))
    return {place for place, tokens in large if tokens > TOKENS_PER_CHARACTER * before[place]}


def _leaps(session: Session, epoch: Epoch, calls: list[tuple[int, int]]) -> set[int]:
    """Return the places of calls that leap without a message that explains it, and that neither the next call nor a
    compaction confirms."""
    found: set[int] = set()
    after = dict(pairwise(calls))
    before: tuple[int, int] | None = None
    for call in calls:
        place, tokens = call
        if before is not None and _is_leap(before[1], tokens):
            between = range(before[0], place)
            following = after.get(call)
            confirmed = following[1] * 2 >= tokens if following else epoch.ended_by is not None
            grown = TOKENS_PER_CHARACTER * _characters_between(session, epoch, between)
            if not confirmed and not _has_media(session, epoch, between) and tokens - before[1] > LEAP + grown:
                found.add(place)
                continue
        before = call
    return found


def _is_leap(before: int, tokens: int) -> bool:
    return tokens > max(LEAP + before, TIMES * before)


def _characters_between(session: Session, epoch: Epoch, places: range) -> int:
    """Return the characters of the messages at these places of an epoch."""
    return sum(all_characters(session.messages[epoch.members[at]]) for at in places)


def _has_media(session: Session, epoch: Epoch, places: range) -> bool:
    blocks = (block for at in places for block in session.messages[epoch.members[at]].blocks)
    return any(isinstance(block, Media | Opaque) for block in blocks)


def _prompt(message: Message) -> int:
    return message.bill if message.role == "assistant" else 0


def all_characters(message: Message) -> int:
    """Return the characters of all content that a message may add to a prompt; media count their bytes."""
    total = _characters(message)
    for block in message.blocks:
        if isinstance(block, Thinking):
            total += len(block.text) + len(block.signature)
        elif isinstance(block, ToolUse):
            total += len(block.name) + len(str(block.input))
        elif isinstance(block, Media):
            total += block.size
        elif isinstance(block, Opaque):
            total += len(str(block.raw))
    return total


def _mark_small_usage(session: Session) -> Session:
    """Mark usage that is too small for the text before it, with one warning at the first call."""
    absurd: dict[int, int] = {}
    seen: set[int] = set()
    calls = 0
    for epoch in session.epochs:
        characters = len(session.system)
        for member in epoch.members:
            message = session.messages[member]
            if message.role == "assistant" and message.bill and member not in seen:
                calls += 1
                if characters > message.bill * CHARACTERS_PER_TOKEN:
                    absurd[member] = characters
            characters += _characters(message)
        seen.update(epoch.members)
    if not absurd:
        return session
    first, before = next(iter(absurd.items()))
    message = session.messages[first]
    text = (
        f"{grouped(len(absurd))} of {counted(calls, 'call')} report too few tokens for the text before them, "
        f"the first with {grouped(message.bill)} tokens for {grouped(before)} characters; "
        "their usage is ignored"
    )
    warning = LoadWarning(text, _line(session, message))
    messages = tuple(_mark_absurd(one) if i in absurd else one for i, one in enumerate(session.messages))
    return replace(session, messages=messages, warnings=(*session.warnings, warning))


def _line(session: Session, message: Message) -> int | None:
    place = message.source[0] if message.source else len(session.records)
    return session.records.lines[place] if place < len(session.records) else None


def _mark_absurd(message: Message) -> Message:
    return replace(message, usage=replace(message.usage, absurd=True)) if message.usage else message


def _characters(message: Message) -> int:
    """Return the characters of a message's texts and tool results, which are always sent."""
    total = 0
    for block in message.blocks:
        if isinstance(block, Text):
            total += len(block.text)
        elif isinstance(block, ToolResult):
            for part in block.content:
                total += len(part.text) if isinstance(part, Text) else 0
    return total
