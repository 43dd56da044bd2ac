"""Failures of a session: API errors, recorded and foreseen for the next request, with remedies, and compaction loops.

A failure is open, and the session stuck, if no request succeeded after it. In a compaction loop the agent compacts
repeatedly without progress: at least `LEAST` automatic compactions followed the newest step, which is a user request
with new words, or a tool call with a new input; the agent's texts are no steps. A session that ends with an answer is
in a loop only if the next compaction is certain (`Loop.goes_on`).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Hashable, Iterator, Sequence

from msgspec import Struct

from workbench.base.figures import grouped, short
from workbench.base.printable import printable
from workbench.base.text import clip_at_word, counted
from workbench.base.values import json_text
from workbench.formats.registry import by_id
from workbench.session import ApiError, Cause, Epoch, Message, Session, Thinking
from workbench.tokens.request_limits import (
    ExcessImage,
    Limit,
    excess_images,
    images_of,
    request_bytes,
    session_limits,
)
from workbench.tokens.visible import visible_parts

SHOWN_IMAGES = 3
"""Most images that are named; the others are counted."""

WORDS = 160
"""Characters of an error's text that are shown."""


class SessionFailure(Struct, frozen=True):
    """API errors of one cause: `count` recorded ones, `in_a_row` of them after the last success. A failure that is
    foreseen for the next request has a count of 0 and is open.

    `text` is the newest error; `message` (id), `time` and `line` locate it; `images` name the images that cause it.
    Secrets in texts are masked.
    """

    cause: Cause
    count: int
    in_a_row: int
    is_open: bool
    text: str
    remedy: str
    message: str | None = None
    time: float | None = None
    line: int | None = None
    images: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The failure in a sentence or two, with its remedy."""
        cause = f"“{self.text}”" if self.cause is Cause.OTHER else str(self.cause)
        if not self.count:
            what = f"The next request will be rejected: {cause}" + (f" ({self.text})" if self.text else "")
        elif self.is_open:
            last = "the last request" if self.in_a_row == 1 else f"the last {grouped(self.in_a_row)} requests"
            what = f"API rejected {last}: {cause}"
        else:
            what = f"API rejected {counted(self.count, 'request')}: {cause}; the session went on"
        shown = [f"{image}." for image in self.images[:SHOWN_IMAGES]]
        if more := self.images[SHOWN_IMAGES:]:
            shown.append(f"{counted(len(more), 'more image')}.")
        return " ".join([f"{what}.", *shown, *([self.remedy] if self.is_open and self.remedy else [])])


class SessionFailures(Struct, frozen=True):
    """The failures of a session, the newest first, and the compaction loop with which it ends."""

    failures: tuple[SessionFailure, ...]
    loop: Loop | None

    @property
    def headline(self) -> str:
        """Sentence on the compaction loop and on the first open failure; "" without either."""
        return " ".join(str(one) for one in (self.loop, self._first) if one)

    @property
    def others(self) -> tuple[SessionFailure, ...]:
        """The failures that the headline does not name."""
        return tuple(failure for failure in self.failures if failure is not self._first)

    @property
    def _first(self) -> SessionFailure | None:
        return next((failure for failure in self.failures if failure.is_open), None)


def failures_of(session: Session) -> SessionFailures:
    """Return the recorded API errors of a session by cause, and the foreseen errors of its next request.

    Raises BadInput for a broken table of models."""
    places = [_messages_before(session, error) for error in session.facts.api_errors]
    last = _last_success(session)
    live = set(session.branch)
    found: list[tuple[int, SessionFailure]] = []
    images = _excess_images(session)
    for cause in dict.fromkeys(error.cause for error in session.facts.api_errors):
        ours = [(at, error) for at, error in zip(places, session.facts.api_errors, strict=True) if error.cause is cause]
        at, newest = ours[-1]
        since = max(last, _last_compaction(session)) if cause in _CURED else last
        after = [one for one in ours if _is_after(session, one[1], one[0], since, live)]
        named = _excess_of_cause(images, cause) if after else ()
        words = tuple(map(_image_words, named))
        is_cured = bool(after) and not _is_cause_present(session, newest, named)
        failure = SessionFailure(
            cause,
            len(ours),
            len(after),
            bool(after),
            clip_at_word(printable(newest.text), WORDS),
            _CURED_REMEDY if is_cured else _remedy(session, cause, len(named)),
            _message_of(session, newest, at),
            newest.time,
            newest.line,
            words,
        )
        found.append((at, failure))
    ordered = [failure for _, failure in sorted(found, key=lambda one: one[0], reverse=True)]
    open_causes = {failure.cause for failure in ordered if failure.is_open}
    foreseen = [one for one in _foreseen_failures(session, images) if one.cause not in open_causes]
    return SessionFailures((*foreseen, *ordered) if not open_causes else (*ordered, *foreseen), loop_of(session))


def _messages_before(session: Session, error: ApiError) -> int:
    """Return the number of messages before an error: by its id, else by its line, else by its time."""
    for index, message in enumerate(session.messages):
        if message.id == error.id:
            return index
    lines = session.records.lines
    if error.line is not None and len(lines):
        return sum(bool(one.source) and lines[one.source[0]] < error.line for one in session.messages)
    if error.time is not None:
        return sum(one.time is not None and one.time <= error.time for one in session.messages)
    return len(session.messages)


def _last_success(session: Session) -> int:
    """Return the index of the newest answer of the model on the live branch, -1 without one."""
    failed = {error.id for error in session.facts.api_errors}
    for index in reversed(session.branch):
        message = session.messages[index]
        if message.role == "assistant" and message.kind == "normal" and message.blocks and message.id not in failed:
            return index
    return -1


_CURED = (Cause.CONTEXT_TOO_LONG, Cause.REQUEST_TOO_LARGE, Cause.IMAGE_TOO_LARGE)
"""Causes that a compaction removes."""


def _last_compaction(session: Session) -> int:
    """Return the largest index of a message in the epoch before the newest one, -1 for a single epoch."""
    before = session.epochs[-2].members if len(session.epochs) > 1 else ()
    return max(before, default=-1)


def _is_after(session: Session, error: ApiError, at: int, last: int, live: set[int]) -> bool:
    is_message = at < len(session.messages) and session.messages[at].id == error.id
    return at > last and (not is_message or at in live)


_CURED_REMEDY = "The context no longer has this fault: continue in the agent."


def _is_cause_present(session: Session, error: ApiError, named: Sequence[ExcessImage]) -> bool:
    """False if the context no longer has the fault that caused an error, as after a repair."""
    context = session.context()
    match error.cause:
        case Cause.IMAGE_TOO_LARGE:
            known = all(image.media.pixels for image in images_of(context))
            return bool(named) or not known or session_limits(session) is None
        case Cause.ORPHAN_RESULT:
            return not _is_paired(context)
        case Cause.REASONING_CHANGED if "latest assistant message" in error.text:
            answers = (one for one in reversed(context) if one.role == "assistant" and one.blocks)
            return any(isinstance(block, Thinking) for block in next((one.blocks for one in answers), ()))
        case Cause.LONE_SURROGATE:
            texts = (part for message in context for part in visible_parts(message) if isinstance(part, str))
            return any(_SURROGATE.search(text) for text in texts)
    return True


_SURROGATE = re.compile("[\ud800-\udfff]")


def _is_paired(context: Sequence[Message]) -> bool:
    """True if every result directly follows the response with its call, and every call but the newest has one."""
    calls: set[str] = set()
    for message in context:
        if message.kind == "boundary":
            continue
        if message.results:
            answered = {result.call_id for result in message.results}
            if not answered <= calls:
                return False
            calls -= answered
        elif calls:
            return False
        else:
            calls = {call.id for call in message.calls}
    return True


def _message_of(session: Session, error: ApiError, at: int) -> str | None:
    """Return the id of the error's own message, else of the newest one before it."""
    if at < len(session.messages) and session.messages[at].id == error.id:
        return error.id
    return session.messages[at - 1].id if at else None


def _excess_images(session: Session) -> tuple[ExcessImage, ...]:
    limits = session_limits(session)
    if limits is None:
        return ()
    context = session.context()
    unseen = len(session.system.encode(errors="replace")) + sum(len(tool.schema) for tool in session.tools)
    return excess_images(context, limits, unseen_bytes=unseen)


def _excess_of_cause(images: Sequence[ExcessImage], cause: Cause) -> tuple[ExcessImage, ...]:
    """Return the images above the limits that errors of this cause report."""
    if cause is Cause.IMAGE_TOO_LARGE:
        return tuple(one for one in images if one.limit is not Limit.REQUEST)
    return tuple(one for one in images if one.limit is Limit.REQUEST) if cause is Cause.REQUEST_TOO_LARGE else ()


def _image_words(image: ExcessImage) -> str:
    return f"Message {image.message + 1}: {image}, {image.reason}"


def _foreseen_failures(session: Session, images: Sequence[ExcessImage]) -> list[SessionFailure]:
    """Return failures of the next request that no error records yet: images and bytes above the API's limits."""
    found = []
    for cause in (Cause.IMAGE_TOO_LARGE, Cause.REQUEST_TOO_LARGE):
        if blamed := _excess_of_cause(images, cause):
            text = "" if cause is Cause.IMAGE_TOO_LARGE else _size_words(session)
            words = tuple(map(_image_words, blamed))
            found.append(SessionFailure(cause, 0, 0, True, text, _remedy(session, cause, len(blamed)), images=words))
    if not found and (text := _size_words(session)):
        found.append(
            SessionFailure(Cause.REQUEST_TOO_LARGE, 0, 0, True, text, _remedy(session, Cause.REQUEST_TOO_LARGE, 0))
        )
    return found


def _size_words(session: Session) -> str:
    """Return size and limit of the next request in bytes if it is too large; else ""."""
    limits = session_limits(session)
    most = limits.request_bytes if limits else None
    if limits is None or most is None or 0 < session.records.size <= most // 4:
        return ""
    size = request_bytes(session.context()) + len(session.system) + sum(len(tool.schema) for tool in session.tools)
    return f"{grouped(size)} of {grouped(most)} bytes, {limits.api}" if size > most else ""


def _remedy(session: Session, cause: Cause, images: int) -> str:
    """Return a sentence that says how to go on, with its command; "" for a cause without a remedy. `images` counts the
    images to blame."""
    file = shlex.quote(str(session.path)) if session.path else "FILE"
    if session.facts.part:
        file += f" --part {shlex.quote(session.facts.part)}"
    repairs = f"`cwb repair {file}`"
    if by_id(session.format).codec.write is None:
        repairs = ""
    match cause:
        case Cause.CONTEXT_TOO_LONG:
            return f"`cwb rescue {file}` compacts it without a model."
        case Cause.IMAGE_TOO_LARGE if not images:
            return "No image in the file exceeds a known limit: drop the newest images, or start before them."
        case Cause.REQUEST_TOO_LARGE if not images:
            return f"`cwb rescue {file}` compacts it without a model."
        case Cause.IMAGE_TOO_LARGE | Cause.REQUEST_TOO_LARGE:
            does = f"replaces only {'this image' if images == 1 else 'these images'} by a text"
        case Cause.REASONING_CHANGED:
            does = "removes the reasoning that the API rejects"
        case Cause.ORPHAN_RESULT:
            does = "gives every call its result and every result its call"
        case Cause.LONE_SURROGATE:
            does = "replaces the half character"
        case Cause.RATE_LIMIT:
            return "Wait until the limit is lifted; the session is intact."
        case Cause.OVERLOADED:
            return "Try again later; the session is intact."
        case _:
            return ""
    return f"{repairs} {does}." if repairs else "This format is read-only here: export it to another agent's format."


LEAST = 3
"""Fewest compactions without a new step that make a loop; two in a row happen if a summary is too long."""


class Loop(Struct, frozen=True):
    """Loop of `compactions` without a new step since call `since` (from 1, 0 before any); `empty` of them removed
    nothing.

    `smallest` is the smallest context after one of them, `trigger` the smallest context before one, both in tokens; the
    agent's trigger is at most the latter. None if not recorded.
    """

    compactions: int
    since: int
    empty: int
    smallest: int | None
    trigger: int | None

    def __str__(self) -> str:
        """`Compaction loop: 9 compactions, no new step since call 120; the minimum context of 154k is above …`"""
        since = f"no new step since call {self.since}" if self.since else "no step at all"
        return f"Compaction loop: {counted(self.compactions, 'compaction')}, {since}{self._why}."

    @property
    def goes_on(self) -> bool:
        """True if the next compaction is certain: all of them removed nothing, or none left less than `trigger`."""
        too_large = self.smallest is not None and self.trigger is not None and self.smallest >= self.trigger
        return too_large or self.empty == self.compactions

    @property
    def _why(self) -> str:
        if self.empty == self.compactions:
            return "; they removed nothing"
        if self.smallest is None or self.trigger is None:
            return f"; {self.empty} of them removed nothing" if self.empty else ""
        if self.smallest >= self.trigger:
            where = "above" if self.smallest > self.trigger else "at"
            return f"; the minimum context of {short(self.smallest)} is {where} the trigger"
        return f"; each time the context grows back from {short(self.smallest)} to {short(self.trigger)} or more"


def loop_of(session: Session) -> Loop | None:
    """Return the loop at the end of the session; None if fewer than `LEAST` automatic compactions followed its newest
    step, or if it ends with an answer and the next compaction is not certain. O(messages)."""
    if sum(_is_automatic(epoch) for epoch in session.epochs) < LEAST:
        return None
    seen: set[int] = set()
    steps: set[Hashable] = set()
    calls, since, newest = 0, 0, 0
    for epoch in session.epochs:
        for index in epoch.members:
            if index in seen:
                continue
            seen.add(index)
            message = session.messages[index]
            if message.role == "assistant" and message.kind == "normal" and index not in epoch.copies:
                calls += 1
            own_steps = set(_steps_of(message))
            if not own_steps <= steps:
                steps |= own_steps
                since, newest = calls, epoch.number
    within = [epoch for epoch in session.epochs if epoch.number >= newest and _is_automatic(epoch)]
    if len(within) < LEAST:
        return None
    left = [size for epoch in within if (size := _tokens_after(session, epoch)) is not None]
    sizes = [size for epoch in within if (size := _tokens_before(session, epoch)) is not None]
    empty = sum(epoch.ended_by is not None and epoch.ended_by.way == "empty" for epoch in within)
    found = Loop(len(within), since, empty, min(left, default=None), min(sizes, default=None))
    return None if _ends_with_answer(session) and not found.goes_on else found


def _steps_of(message: Message) -> Iterator[Hashable]:
    if message.starts_round:
        yield " ".join(message.user_text.split())
    for call in message.calls:
        yield call.name, call.input if isinstance(call.input, str) else json_text(call.input)


def _is_automatic(epoch: Epoch) -> bool:
    """True for a compaction that the user did not request."""
    return epoch.ended_by is not None and epoch.ended_by.trigger != "manual"


def _ends_with_answer(session: Session) -> bool:
    """True if the newest message is a model's text without calls."""
    newest = next((session.messages[index] for index in reversed(session.epochs[-1].members)), None)
    is_answer = newest is not None and newest.role == "assistant" and newest.kind == "normal"
    return newest is not None and is_answer and bool(newest.text.strip()) and not newest.calls


def _tokens_after(session: Session, epoch: Epoch) -> int | None:
    """Return the tokens after a compaction: the recorded size, else the usage of the next call; None if unknown."""
    if epoch.ended_by is not None and epoch.ended_by.tokens_after:
        return epoch.ended_by.tokens_after
    following = session.epochs[epoch.number] if epoch.number < len(session.epochs) else None
    fresh = (index for index in following.members if index not in epoch.members) if following else iter(())
    return next((bill for index in fresh if (bill := session.messages[index].bill)), None)


def _tokens_before(session: Session, epoch: Epoch) -> int | None:
    """Return the tokens before a compaction: the recorded size, else the epoch's newest prompt; None if unknown."""
    if epoch.ended_by is not None and epoch.ended_by.tokens_before:
        return epoch.ended_by.tokens_before
    return next((bill for index in reversed(epoch.members) if (bill := session.messages[index].bill)), None)
