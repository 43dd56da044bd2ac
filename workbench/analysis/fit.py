"""Is an outcome small enough, and in which order are outcomes over one context listed?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from workbench.base.figures import grouped
from workbench.compaction.checks import UNDER_THE_THRESHOLD, Check
from workbench.compaction.context import Context
from workbench.compaction.of_tool import of_its_time, tools_preset
from workbench.compaction.outcome import Status
from workbench.compaction.preset import load_preset
from workbench.compaction.strategies import strategy
from workbench.session import Session

Fit = Literal["fits", "too large", "unchanged"]
"""`fits`: compacted and below every limit that holds for it; `unchanged`: nothing was compacted."""

_FITS: tuple[Fit, ...] = get_args(Fit)


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The tokens at which a context has to be compacted, and in words what says so."""

    tokens: int
    source: str


def ceiling_of(session: Session, context: Context) -> Ceiling | None:
    """The lowest trigger in tokens of the session's own agent on this context, else the context window; None where
    neither is known."""
    if id := tools_preset(session):
        preset = of_its_time(load_preset(id), session)
        triggers = strategy(preset.strategy).triggered(context.with_(manual=False), preset.policy)
        limits = [one.limit for one in triggers if one.unit == "tokens" and one.limit > 0]
        if limits:
            return Ceiling(int(min(limits)), f"trigger of {preset.id}")
    return Ceiling(context.window, "context window") if context.window else None


def fit_of(status: Status, before: int, after: int, failed: Sequence[Check], ceiling: Ceiling | None) -> Fit:
    """Return "unchanged" for an outcome that compacted nothing, "fits" for one that is smaller than before, below the
    ceiling and its own policy's triggers, and fails no hard check; else "too large". `before` and `after` in tokens."""
    if status == "unchanged":
        return "unchanged"
    over = ceiling is not None and after >= ceiling.tokens
    return "too large" if over or _grave(failed) or after >= before else "fits"


def fit_words(fit: Fit, before: int, after: int, failed: Sequence[Check], ceiling: Ceiling | None) -> str:
    """The verdict with its figures."""
    if fit != "too large":
        return fit
    if ceiling is not None and after >= ceiling.tokens:
        return f"{grouped(after)} tokens, to be below {grouped(ceiling.tokens)} ({ceiling.source})"
    if after >= before:
        return f"not smaller: {grouped(after)} of {grouped(before)} tokens"
    return "; ".join(f"{check.name} failed" for check in _grave(failed))


def _grave(failed: Sequence[Check]) -> list[Check]:
    """The failed checks with which an outcome cannot be used."""
    return [check for check in failed if check.hard or check.name == UNDER_THE_THRESHOLD]


def rank(fit: Fit, kept_share: float | None, cost: float | None) -> tuple[int, float, float]:
    """The key by which outcomes over one context are ordered, the best first: what fits, by the share of facts that is
    kept and then by cost; then what is too large, then what is unchanged. An unknown cost counts as the highest."""
    return _FITS.index(fit), -(kept_share or 0.0), float("inf") if cost is None else cost
