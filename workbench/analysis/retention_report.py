"""Kept facts as shown: one line on a compaction, and tables by kind, of lost facts, of variants and of generations.

The line is shown above the bars of a plan and in `cwb compact`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.analysis.compaction_cost import paid_back
from workbench.analysis.generations import Generation, Generations
from workbench.analysis.needed_items import LaterUse
from workbench.analysis.retention import KINDS, FactCounts, Retention, TrackedFact
from workbench.analysis.watched_rules import sentence_columns
from workbench.base.figures import grouped, percent
from workbench.base.printable import one_line
from workbench.base.tables import Column, Row, Table, Value, columns
from workbench.base.text import counted

UNREADABLE = "its summary cannot be read"


def receipt(rules: tuple[int, int], facts: FactCounts, cost: str, calls: int | None) -> tuple[str, ...]:
    """Return the parts of the line, most important first: rules and facts kept, facts lost, cost, and calls until paid
    back. `rules`: number of the user's rules that are kept, and of all. `facts`: of the whole context, tail included.
    `cost`: price of the summaries in words, "" for none. `calls`: until that price is paid back, None for never."""
    parts = [f"keeps {_of_rules(*rules)}"] if rules[1] else []
    if facts.unknown:
        parts.append(UNREADABLE)
    elif facts.share is not None:
        lost = f" ({grouped(facts.lost)} lost)" if facts.lost else ""
        parts.append(f"{'' if parts else 'keeps '}{percent(facts.share)} of {counted(facts.facts, 'fact')}{lost}")
    return (*parts, (f"summary {cost}, " if cost else "") + paid_back(calls))


def brief_receipt(rules: tuple[int, int], facts: FactCounts, cost: str, calls: int | None) -> tuple[str, ...]:
    """Return the parts of `receipt` in fewer words, for a narrow screen."""
    parts = [_of_rules(*rules)] if rules[1] else []
    if facts.unknown:
        parts.append(UNREADABLE)
    elif facts.share is not None:
        parts.append(f"{grouped(facts.lost)} of {counted(facts.facts, 'fact')} lost")
    return (*parts, *([cost] if cost else []), paid_back(calls))


def _of_rules(present: int, rules: int) -> str:
    return f"{grouped(present)} of {counted(rules, 'rule')}"


WORDS = 140
"""Characters of a fact that are shown."""

SHARES = columns("kept_share:share:kept correct_share:share:correct weighted_share:share:weighted")
"""Columns of shares. Kept: still in the context; correct: kept and not contradicted; weighted: facts that are used
again count four times."""


def kinds_table(retention: Retention) -> Table:
    """Return a row per kind of the facts of the head, and a row for all kinds."""
    spec = columns(
        "kind facts:count kept_fully:count:full kept_partly:count:part lost:count wrong:count stale:count used:count"
    )
    rows = [_kind(kind, share) for kind, share in retention.kinds.items()]
    return Table("kinds", "", (*spec, *SHARES), (*rows, _kind("all", retention.overall)))


def _kind(name: str, one: FactCounts) -> Row:
    counts = (one.facts, one.full, one.part, one.lost, one.wrong, one.stale, one.used)
    return Row((name, *counts, *shares_of(one)))


def shares_of(one: FactCounts) -> tuple[Value, ...]:
    """Return the values of `SHARES`; "unknown" if the summary cannot be read."""
    return ("unknown",) * 3 if one.unknown else (one.share, one.right, one.weighted)


def lacking_table(retention: Retention) -> Table:
    """Return a row per fact that is lost, wrong or kept only in part, gravest first."""
    spec = "number:count:message pin_tokens:tokens:pin_+tokens kind state used:flag text:text:fact reason:text:why"
    return Table("lost", "Lost or wrong, most important first", columns(spec), tuple(map(_fact, retention.lacking)))


def _fact(fact: TrackedFact) -> Row:
    words = one_line(fact.text, WORDS), one_line(fact.why, 60)
    return Row((fact.index + 1, fact.pin_tokens or None, fact.kind, fact.state, fact.used, *words), fact.message)


def variants_table(several: Iterable[tuple[str, Retention, LaterUse | None]], *, goes_on: bool) -> Table:
    """Return the share of all facts of the context that each variant keeps. `goes_on`: the session continues, so a
    column has the share of items needed later."""
    needed = columns("later_use:share:needed_later") if goes_on else ()
    kinds = (Column(kind, kind, "share") for kind in KINDS)
    rows = (_variant(name, retention, later, goes_on=goes_on) for name, retention, later in several)
    return Table("kept", "Facts kept", (*columns("preset"), *SHARES, *needed, *kinds), tuple(rows))


def _variant(name: str, retention: Retention, later: LaterUse | None, *, goes_on: bool) -> Row:
    needed: tuple[Value, ...] = (later.share if later else "unknown",) if goes_on else ()
    found = retention.whole_kinds
    kinds = (shares_of(found[kind])[0] if kind in found else None for kind in KINDS)
    return Row((name, *shares_of(retention.whole), *needed, *kinds))


def generations_table(found: Generations, watched: Sequence[str]) -> Table:
    """One row for each of several successive compactions: sizes in tokens, share of the original facts kept, watched
    rules."""
    spec = columns(
        "number:count:generation new_messages:count:messages_added tokens_before:tokens:before "
        "tokens_after:tokens:after summary_tokens:tokens:summary"
    )
    kinds = [Column(kind, kind, "share") for kind in found.survival]
    rows = (_generation(step, [one.key for one in kinds]) for step in found.steps)
    repeated = [str(step.number) for step in found.steps if step.replayed]
    note = f"The session has no more messages: generations {', '.join(repeated)} repeat its tail." if repeated else ""
    return Table("generations", "", (*spec, *kinds, *SHARES, *sentence_columns(watched)), tuple(rows), note)


def _generation(step: Generation, kinds: Sequence[str]) -> Row:
    shares = {str(kind): share for kind, share in step.retention.kinds.items()}
    sizes = (step.number, step.grown, step.before, step.after, step.summary)
    by_kind = (shares_of(shares[kind])[0] for kind in kinds)
    return Row((*sizes, *by_kind, *shares_of(step.retention.overall), *step.watched))
