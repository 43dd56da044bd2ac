"""Comparison of outcomes of one context: is each small enough, which is best, and which messages does each keep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from msgspec import Struct

from workbench.base.figures import grouped, short
from workbench.compaction.checks import UNDER_THE_THRESHOLD, Check
from workbench.compaction.context import Context
from workbench.compaction.language import NAMES, Language, language_of
from workbench.compaction.outcome import Fate, KeptSpan, NewMessage, Outcome, Status
from workbench.compaction.preset import agent_preset_id, load_preset, preset_for_version
from workbench.compaction.strategies import strategy
from workbench.session import Session

Fit = Literal["fits", "too large", "not usable", "unchanged"]
"""Fits, best first. `fits`: smaller and below every limit; `too large`: not smaller, or at or above a limit;
`not usable`: a required check failed; `unchanged`: nothing was compacted."""

_FITS: tuple[Fit, ...] = get_args(Fit)


class Ceiling(Struct, frozen=True):
    """Tokens at which a context must be compacted, and the source of the figure."""

    tokens: int
    source: str


def ceiling_of(session: Session, context: Context) -> Ceiling | None:
    """Return the lowest token trigger of the session's own agent on this context, else the context window; None if
    neither is known."""
    if id := agent_preset_id(session):
        preset = preset_for_version(load_preset(id), session)
        triggers = strategy(preset.strategy).read_triggers(context.with_(manual=False), preset.policy)
        limits = [one.limit for one in triggers if one.unit == "tokens" and one.limit > 0]
        if limits:
            return Ceiling(int(min(limits)), f"trigger of {preset.id}")
    return Ceiling(context.window, "context window") if context.window else None


def fit_of(status: Status, before: int, after: int, failed: Sequence[Check], ceiling: Ceiling | None) -> Fit:
    """Return "unchanged" for an outcome that compacted nothing; "not usable" if a required check failed; "fits" if it
    is smaller than before and below the ceiling and its own policy's triggers; else "too large". `before` and `after`
    in tokens."""
    if status == "unchanged":
        return "unchanged"
    if any(check.hard for check in failed):
        return "not usable"
    over = ceiling is not None and after >= ceiling.tokens
    return "too large" if over or after >= before or _fires_again(failed) else "fits"


def fit_words(fit: Fit, before: int, after: int, failed: Sequence[Check], ceiling: Ceiling | None) -> str:
    """Return the verdict with its figures, as a predicate after the variant's name."""
    if fit == "fits":
        return fit
    if fit == "unchanged":
        return "frees nothing"
    if fit == "not usable":
        return f"is not usable: {', '.join(check.name for check in failed if check.hard)} failed"
    if after >= before:
        return f"does not shrink: {grouped(after)} of {grouped(before)} tokens remain"
    if ceiling is not None and after >= ceiling.tokens:
        written = short if short(after) != short(ceiling.tokens) else grouped
        return f"does not shrink enough: {written(after)} left, {ceiling.source} {written(ceiling.tokens)}"
    return "does not shrink enough: its own trigger fires again"


def _fires_again(failed: Sequence[Check]) -> bool:
    return any(check.name == UNDER_THE_THRESHOLD for check in failed)


def language_note(summary: Language | None, context: Context) -> str:
    """Return a note if a summary is in another language than the user's; "" otherwise, or if unknown."""
    if summary is None:
        return ""
    languages = Counter(
        language_of(message.user_text[:LANGUAGE_CHARS]) for message in context.messages if message.role == "user"
    )
    del languages[None]
    own = max(languages, key=lambda one: languages[one], default=None)
    if own is None or own == summary:
        return ""
    return f"writes its summary in {NAMES[summary]}, the session is in {NAMES[own]}"


LANGUAGE_CHARS = 1_000
"""Characters of a message that are read to detect its language."""


def rank(fit: Fit, facts_share: float | None, cost: float | None, *, foreign: bool = False) -> tuple[float, ...]:
    """Return a sort key that puts the best outcome first: by fit, share of facts kept, language (`foreign` last) and
    cost. An unknown share counts as 0, an unknown cost as the highest."""
    return _FITS.index(fit), -(facts_share or 0.0), foreign, float("inf") if cost is None else cost


ComparedFate = Literal["gone", "shortened", "kept"]

_FATES: tuple[ComparedFate, ...] = ("gone", "shortened", "kept")


@dataclass(frozen=True, slots=True)
class FatePair:
    """Messages `start` to `stop` of the input with the same fate in the first outcome, and in the second."""

    start: int
    stop: int
    first: ComparedFate
    second: ComparedFate

    def __len__(self) -> int:
        return self.stop - self.start


def compare_fates(first: Outcome, second: Outcome) -> Iterator[FatePair]:
    """Yield all messages as runs with the same pair of fates. Both outcomes must be of the same messages. Linear."""
    one, other = _fates(first), _fates(second)
    start = 0
    for at in range(1, len(one) + 1):
        if at == len(one) or (one[at], other[at]) != (one[start], other[start]):
            yield FatePair(start, at, _FATES[one[start]], _FATES[other[start]])
            start = at


def shortened_messages(outcome: Outcome) -> dict[int, NewMessage]:
    """Return shortened replacements of single messages, by index of the original."""
    found = {}
    for piece in outcome.pieces:
        if isinstance(piece, NewMessage) and (index := _shortened_index(outcome, piece)) is not None:
            found[index] = piece
    return found


def added_messages(outcome: Outcome) -> tuple[NewMessage, ...]:
    """Return the new messages: summaries and others that replace several messages or none."""
    new = (piece for piece in outcome.pieces if isinstance(piece, NewMessage))
    return tuple(piece for piece in new if _shortened_index(outcome, piece) is None)


def _shortened_index(outcome: Outcome, piece: NewMessage) -> int | None:
    """Return the index of the message that a new message shortens; None if it is no shortened message."""
    spans = piece.replaces
    if len(spans) != 1 or len(spans[0]) != 1 or outcome.fate_at(spans[0].start).fate is not Fate.COMPRESSED:
        return None
    return spans[0].start


def _fates(outcome: Outcome) -> bytearray:
    """Return for each message the index of its fate in `_FATES`."""
    cells = bytearray(len(outcome.source))
    for piece in outcome.pieces:
        if isinstance(piece, KeptSpan):
            cells[piece.start : piece.stop] = b"\2" * (piece.stop - piece.start)
    for index in shortened_messages(outcome):
        cells[index] = 1
    return cells
