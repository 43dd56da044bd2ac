"""Tables of a replay: presets, compactions of one preset, watched rules."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.analysis.compaction_cost import back_after
from workbench.analysis.pictures import sign_of
from workbench.analysis.replay import Replay, ReplayedCompaction
from workbench.analysis.session_cost import session_cost
from workbench.analysis.watched_rules import RuleTrail, sentence_columns
from workbench.base.figures import dollars, grouped
from workbench.base.tables import Row, Table, columns
from workbench.session import Session
from workbench.tokens.cost import Rates


def replays_table(played: Sequence[Replay]) -> Table:
    """Return a row per preset; `sign` is its letter in the plot."""
    rates = played[0].rates.kind if played else "money"
    spec = (
        "sign:text:_ preset compactions:count first:count:first_at_call mean_tokens_after:tokens:mean_after "
        "peak_tokens:tokens:peak last_tokens:tokens:last calls_over_window:count summaries:count "
        f"rebilled_tokens:tokens:billed_again cost:{rates} paid_back strategy"
    )
    rows = (_replay(sign_of(place), one) for place, one in enumerate(played))
    return Table("replays", "", columns(spec), tuple(rows))


def _replay(sign: str, one: Replay) -> Row:
    return Row(
        (
            sign,
            one.name,
            len(one.compacted),
            one.compacted[0].call if one.compacted else None,
            one.mean_after,
            one.peak,
            one.last,
            one.over_window,
            sum(each.requests for each in one.compacted),
            one.rebilled,
            one.cost,
            paid_back_words(one.compacted),
            one.preset.strategy,
        )
    )


def compactions_table(one: Replay) -> Table:
    """Return a row per compaction of one preset, with the states of watched rules."""
    spec = (
        "call:count round:count tokens_before:tokens:before tokens_after:tokens:after "
        "unchanged_tokens:tokens:stays_cached rebilled_tokens:tokens:billed_again "
        "request_tokens:tokens:summary_input summary_tokens:tokens:summary_output "
        f"cost:{one.rates.kind} paid_back_at_call:count"
    )
    sentences = sentence_columns(trail.sentence for trail in one.watched)
    rows = (_compaction(one, number, each) for number, each in enumerate(one.compacted))
    return Table("compactions", "", (*columns(spec), *sentences, *columns("trigger")), tuple(rows))


def _compaction(one: Replay, number: int, compaction: ReplayedCompaction) -> Row:
    return Row(
        (
            compaction.call,
            compaction.round,
            compaction.before,
            compaction.after,
            compaction.cache.first_changed,
            compaction.cache.rebilled,
            compaction.request_tokens,
            compaction.summary_tokens,
            compaction.summary_cost + compaction.cache_cost,
            compaction.pays_off_at,
            *(f"{change.before} → {change.after}" for change in (trail.passed[number] for trail in one.watched)),
            ", ".join(trigger.name for trigger in compaction.triggers),
        ),
        compaction.message,
    )


def watched_table(played: Sequence[Replay], sentences: Sequence[str]) -> Table:
    """Return the state of each watched rule at the end of the session, and the call that lost it."""
    spec = (*columns("sign:text:_ preset"), *sentence_columns(sentences))
    rows = (Row((sign_of(place), one.name, *map(trail_words, one.watched))) for place, one in enumerate(played))
    return Table("watched", "Watched rules at the end of the session", spec, tuple(rows))


def trail_words(trail: RuleTrail) -> str:
    """Return the fate of a watched rule: `gone, lost at call 812`."""
    if trail.lost is not None:
        return f"{trail.last}, lost at call {grouped(trail.lost)}"
    if trail.last == "unknown" and trail.unread is not None:
        return f"unknown from call {grouped(trail.unread)} on"
    return "never there" if trail.last == "gone" else trail.last


def cost_basis(rates: Rates) -> str:
    """Explain the column `cost`."""
    if rates.known:
        return f"Cost: all prompts and summaries at the prices of {rates.by}, unchanged prefixes read from the cache."
    return (
        "Cost: in input-token equivalents, because the model's cache prices are unknown "
        f"(cache read × {rates.read:g}, write × {rates.write:g}, output × {rates.output:g})."
    )


def cost_recorded(session: Session) -> str:
    """Return a sentence that compares the session's recorded cost with a replay's; "" if nothing is recorded."""
    cost = session_cost(session)
    if cost is None:
        return ""
    missed = f", which missed {dollars(cost.missed)} here" if cost.missed else ""
    return f"The session itself cost {cost}. A replay excludes the answers and assumes a perfect cache{missed}."


def paid_back_words(compacted: tuple[ReplayedCompaction, ...]) -> str:
    """Return the median number of calls until a compaction is paid back, and the number of compactions that are not
    paid back before the next one."""
    after = sorted(
        one.pays_off_after for one in compacted if one.pays_off_at is not None and one.pays_off_after is not None
    )
    never = len(compacted) - len(after)
    if not after:
        return "never" if never else ""
    words = back_after(after[len(after) // 2])
    return f"{words}; {grouped(never)} of {grouped(len(compacted))} never" if never else words
