"""Is an outcome small enough, and in which order are outcomes over one context listed?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, get_args

from msgspec import Struct

from workbench.base.figures import grouped, short
from workbench.compaction.agent_preset import agent_preset_id, preset_for_version
from workbench.compaction.checks import UNDER_THE_THRESHOLD, Check
from workbench.compaction.context import Context
from workbench.compaction.language import NAMES, Language, language_of
from workbench.compaction.outcome import Status
from workbench.compaction.preset import load_preset
from workbench.compaction.strategies import strategy
from workbench.session import Session

Fit = Literal["fits", "too large", "not usable", "unchanged"]
"""In the order of a ranking. `fits`: compacted and below every limit that holds for it; `not usable`: a hard check
failed; `unchanged`: nothing was compacted."""

_FITS: tuple[Fit, ...] = get_args(Fit)


class Ceiling(Struct, frozen=True):
    """The tokens at which a context has to be compacted, and in words what says so."""

    tokens: int
    source: str


def ceiling_of(session: Session, context: Context) -> Ceiling | None:
    """The lowest trigger in tokens of the session's own agent on this context, else the context window; None where
    neither is known."""
    if id := agent_preset_id(session):
        preset = preset_for_version(load_preset(id), session)
        triggers = strategy(preset.strategy).read_triggers(context.with_(manual=False), preset.policy)
        limits = [one.limit for one in triggers if one.unit == "tokens" and one.limit > 0]
        if limits:
            return Ceiling(int(min(limits)), f"trigger of {preset.id}")
    return Ceiling(context.window, "context window") if context.window else None


def fit_of(status: Status, before: int, after: int, failed: Sequence[Check], ceiling: Ceiling | None) -> Fit:
    """Return "unchanged" for an outcome that compacted nothing, "fits" for one that is smaller than before, below the
    ceiling and its own policy's triggers; else "too large", and "not usable" where a hard check failed. `before` and
    `after` in tokens."""
    if status == "unchanged":
        return "unchanged"
    if any(check.hard for check in failed):
        return "not usable"
    over = ceiling is not None and after >= ceiling.tokens
    return "too large" if over or after >= before or _fires_again(failed) else "fits"


def fit_words(fit: Fit, before: int, after: int, failed: Sequence[Check], ceiling: Ceiling | None) -> str:
    """The verdict with its figures, to be read after the variant's name."""
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
    """Says that a summary is written in another language than the user's; "" where it is not, or nobody can tell."""
    if summary is None:
        return ""
    told = Counter(language_of(message.said[:SAID]) for message in context.messages if message.role == "user")
    del told[None]
    own = max(told, key=lambda one: told[one], default=None)
    if own is None or own == summary:
        return ""
    return f"writes its summary in {NAMES[summary]}, the session is in {NAMES[own]}"


SAID = 1_000
"""Characters of a message that are read to tell its language."""


def rank(fit: Fit, kept_share: float | None, cost: float | None, *, foreign: bool = False) -> tuple[float, ...]:
    """The key by which outcomes over one context are ordered, the best first: what fits, by the share of facts that is
    kept, then those not in a `foreign` language, then by cost; then what is too large, not usable, unchanged. An
    unknown cost counts as the highest."""
    return _FITS.index(fit), -(kept_share or 0.0), foreign, float("inf") if cost is None else cost
