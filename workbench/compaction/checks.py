"""Check an outcome before it is sent. A failed hard check blocks an export unless the user confirms it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from msgspec import Struct

from workbench.base.figures import grouped
from workbench.base.secrets import masked
from workbench.base.text import clip, counted
from workbench.compaction.context import Context
from workbench.compaction.invariants import pinned_with_pairs
from workbench.compaction.outcome import Fate, NewMessage, Outcome
from workbench.compaction.policy import Policy
from workbench.compaction.strategy import Strategy
from workbench.formats.roles import KNOWN, joined_turns, role_refusals
from workbench.session import Message, Pair, Text, Thinking, pairs_of
from workbench.session.masked import masked_message

UNDER_THE_THRESHOLD = "under the threshold"
"""Name of the check that fails if the same policy would compact the new context again."""


class Check(Struct, frozen=True):
    """Result of one check. `hard`: an outcome that fails it must not be sent. `detail`: what is wrong, or what was
    found. `messages`: ids of messages that are wrong in the result or missing from it."""

    name: str
    hard: bool
    passed: bool
    detail: str = ""
    messages: tuple[str, ...] = ()


def check(context: Context, outcome: Outcome, strategy: Strategy[Any], policy: Policy) -> tuple[Check, ...]:
    """Run every check on an outcome, hard ones first. O(messages): for long sessions call it off the event loop."""
    after = pairs_of(outcome.messages)
    return (
        _pairs_complete(context, outcome, after),
        _batches_together(context, outcome, after),
        _role_order(context, outcome),
        _nothing_empty(outcome),
        _pins_identical(context, outcome),
        _system_untouched(context, outcome),
        _unchanged_in_order(outcome),
        _every_message_has_fate(outcome),
        _summary_not_empty(outcome),
        *_check_rules(outcome),
        *_follows_template(outcome, strategy, policy),
        _unanswered_present(context, outcome),
        *_within_budget(context, outcome, strategy, policy),
        _smaller(context, outcome),
        _fits_window(context, outcome),
        _stays_under_threshold(context, outcome, strategy, policy),
    )


def _pairs_complete(context: Context, outcome: Outcome, after: Sequence[Pair]) -> Check:
    """Find results without a call, and open calls that were not open in the source."""
    open_before = {pair.id for pair in context.shape.pairs if pair.result is None}
    orphans_before = {pair.id for pair in context.shape.pairs if pair.call is None}
    torn = []
    for pair in after:
        if pair.call is None and pair.result is not None and pair.id not in orphans_before:
            torn.append(outcome.messages[pair.result].id)
        elif pair.result is None and pair.call is not None and pair.id not in open_before:
            torn.append(outcome.messages[pair.call].id)
    detail = f"{counted(len(torn), 'tool pair')} split" if torn else "every call has its result"
    return Check("tool pairs complete", True, not torn, detail, tuple(torn))


def _batches_together(context: Context, outcome: Outcome, after: Sequence[Pair]) -> Check:
    """Check that a call's result comes before the next answer, so that parallel calls and their thinking stay one
    batch."""
    before = context.shape.pairs if outcome.source is context.messages else pairs_of(outcome.source)
    apart = _calls_apart_from_results(outcome.messages, after) - _calls_apart_from_results(outcome.source, before)
    detail = f"{counted(len(apart), 'call')} separated from the results" if apart else "results follow calls"
    return Check("call batches together", True, not apart, detail, tuple(sorted(apart)))


def _calls_apart_from_results(messages: Sequence[Message], pairs: Sequence[Pair]) -> set[str]:
    """Ids of messages whose calls are separated from a result by another answer."""
    answers = list(accumulate((message.role == "assistant" for message in messages), initial=0))
    return {
        messages[pair.call].id
        for pair in pairs
        if pair.call is not None and pair.result is not None and answers[pair.result] - answers[pair.call + 1] > 0
    }


def _role_order(context: Context, outcome: Outcome) -> Check:
    """Check the order of roles against the context's API; violations of the source do not count."""
    if not any(not message.is_own_system for message in outcome.messages):
        there = any(not message.is_own_system for message in outcome.source)
        return Check("role order valid", True, not there, "no messages remain")
    title = KNOWN[context.api].title
    before = {*role_refusals(outcome.source, context.api)}
    bad = [one for one in role_refusals(outcome.messages, context.api) if one not in before]
    if bad:
        detail = f"{title} would reject {counted(len(bad), 'message')}: {bad[0].id} {bad[0].why}"
        return Check("role order valid", True, False, detail, tuple(one.id for one in bad))
    return Check("role order valid", True, True, f"{title}: {_same_role_neighbours(context, outcome)}")


def _same_role_neighbours(context: Context, outcome: Outcome) -> str:
    again = joined_turns(outcome.messages)
    how = "will be merged" if KNOWN[context.api].joins else "accepted"
    return f"{counted(again, 'consecutive same-role message')} {how}" if again else "user and agent alternate"


def _nothing_empty(outcome: Outcome) -> Check:
    new = [piece.message for piece in outcome.pieces if isinstance(piece, NewMessage)]
    empty = tuple(message.id for message in new if not _has_content(message))
    return Check(
        "no empty messages", True, not empty, f"{counted(len(empty), 'new message')} empty" if empty else "", empty
    )


def _has_content(message: Message) -> bool:
    for block in message.blocks:
        if isinstance(block, Text) and block.text.strip():
            return True
        if not isinstance(block, Text | Thinking):
            return True
    return False


def _pins_identical(context: Context, outcome: Outcome) -> Check:
    out = {id(message) for message in outcome.messages}
    pins = sorted(pinned_with_pairs(context))
    lost = tuple(context.messages[i].id for i in pins if id(context.messages[i]) not in out)
    detail = f"{counted(len(lost), 'pinned message')} lost" if lost else f"{len(pins)} pinned messages"
    return Check("pinned messages unchanged", True, not lost, detail, lost)


def _system_untouched(context: Context, outcome: Outcome) -> Check:
    out = {id(message) for message in outcome.messages}
    system = [m for m in context.messages if m.is_own_system]
    lost = tuple(m.id for m in system if id(m) not in out)
    return Check(
        "system messages unchanged",
        True,
        not lost,
        f"{counted(len(lost), 'system message')} lost" if lost else "",
        lost,
    )


def _unchanged_in_order(outcome: Outcome) -> Check:
    """Check that every kept or pinned message is the same object, in its old order. Messages that nobody typed may
    move, because agents move their own instructions."""
    position = {id(message): at for at, message in enumerate(outcome.messages)}
    kept = [
        outcome.source[i]
        for span in outcome.fates
        if span.fate in (Fate.KEPT, Fate.PINNED)
        for i in range(span.start, span.stop)
    ]
    lost = tuple(message.id for message in kept if id(message) not in position)
    from_speakers = (message for message in kept if message.kind != "meta" and not message.is_own_system)
    places = [position[id(message)] for message in from_speakers if id(message) in position]
    ordered = places == sorted(places)
    seen = counted(len(kept), "kept message") if ordered else "kept messages are out of order"
    detail = f"{counted(len(lost), 'kept message')} missing" if lost else seen
    return Check("kept messages unchanged", True, not lost and ordered, detail, lost)


def _every_message_has_fate(outcome: Outcome) -> Check:
    at = 0
    for span in outcome.fates:
        if span.start != at or span.stop <= span.start:
            return Check("every message has a fate", True, False, f"fates have a gap or an overlap at message {at + 1}")
        at = span.stop
    whole = at == len(outcome.source)
    return Check("every message has a fate", True, whole, f"{at} of {len(outcome.source)} messages have a fate")


def _summary_not_empty(outcome: Outcome) -> Check:
    new = [p.message for p in outcome.pieces if isinstance(p, NewMessage) and p.message.kind == "summary"]
    passed = not outcome.summarizes or any(message.text.strip() for message in new)
    return Check("summary present", True, passed, "" if passed else "messages were summarized, but there is no summary")


FAULTS = 4
"""Number of faults that a check quotes; further ones are counted."""


SHOWN_CHARS = 80
"""Characters of a lost sentence that a check quotes."""


def _check_rules(outcome: Outcome) -> Iterator[Check]:
    """Check that the user's rules and open request are in the result, if the strategy guarantees them."""
    if outcome.lost is None:
        return
    lost = [clip(masked(one.text), SHOWN_CHARS) for one in outcome.lost]
    more = f" and {len(lost) - FAULTS} more" if len(lost) > FAULTS else ""
    detail = f"missing: {'; '.join(lost[:FAULTS])}{more}" if lost else "every rule and the open request are kept"
    ids = tuple(dict.fromkeys(one.message for one in outcome.lost))
    yield Check("rules and open request kept", True, not lost, detail, ids)


def _follows_template(outcome: Outcome, strategy: Strategy[Any], policy: Policy) -> Iterator[Check]:
    """Check that new summaries follow the strategy's template, if it has one."""
    if strategy.faults is None:
        return
    new = [piece.message for piece in outcome.pieces if isinstance(piece, NewMessage)]
    summaries = [message for message in new if message.kind == "summary" and message.role != "assistant"]
    found = {message.id: tuple(strategy.faults(policy, message.text)) for message in summaries}
    faults = [fault for one in found.values() for fault in one]
    more = [f"and {len(faults) - FAULTS} more"] if len(faults) > FAULTS else []
    detail = "; ".join([*faults[:FAULTS], *more])
    yield Check(
        "summary follows its template", False, not faults, detail, tuple(id for id, one in found.items() if one)
    )


def _unanswered_present(context: Context, outcome: Outcome) -> Check:
    """Check that every unanswered message is in the result: kept, shortened, or as text of another message."""
    unread = context.shape.unread
    elsewhere = [i for i in unread if outcome.fate_at(i).fate not in (Fate.KEPT, Fate.PINNED, Fate.COMPRESSED)]
    missing = [message for i in elsewhere if not _text_elsewhere(message := outcome.source[i], outcome)]
    detail = f"{counted(len(missing), 'unanswered message')} not kept; a summary may mention it"
    seen = f"{counted(len(unread), 'unanswered message')} kept" if unread else "no unanswered messages"
    return Check(
        "unanswered messages kept",
        False,
        not missing,
        detail if missing else seen,
        tuple(message.id for message in missing),
    )


def _text_elsewhere(message: Message, outcome: Outcome) -> bool:
    texts = {message.text, masked_message(message).text}
    return bool(message.text) and any(text in other.text for other in outcome.messages for text in texts)


def _within_budget(context: Context, outcome: Outcome, strategy: Strategy[Any], policy: Policy) -> Iterator[Check]:
    """Compare the result's messages with the strategy's budget, if it has one; name what cannot be removed."""
    if strategy.budget is None or outcome.status == "unchanged":
        return
    budget, size = strategy.budget(context, policy), context.outcome_size(outcome)
    size_used = size.chars if budget.unit == "characters" else size.tokens - context.layout.sizes.overhead
    detail = f"{grouped(size_used)} of {grouped(budget.most)} {budget.unit}"
    if size_used <= budget.most:
        yield Check("within budget", False, True, detail)
    else:
        named, ids = _irremovable_messages(context, outcome, budget.unit)
        of_these = f"; largest: {', '.join(named)}" if named else ""
        yield Check("within budget", False, False, detail + of_these, ids)


def _irremovable_messages(context: Context, outcome: Outcome, unit: str) -> tuple[list[str], tuple[str, ...]]:
    """Messages that no budget removes: each kind with its size, and the ids of all."""
    there = {message.id: message for message in outcome.messages}
    sorts = {
        "pins": pinned_with_pairs(context),
        "system messages": context.shape.own_system,
        "the open request": [i for i in range(len(context)) if context.messages[i].starts_round][-1:],
        "unanswered messages": context.shape.unread,
    }
    named, kept_ids = list[str](), set[str]()
    for sort, indexes in sorts.items():
        if ids := {context.messages[index].id for index in indexes}.intersection(there).difference(kept_ids):
            size = context.measure([there[id] for id in ids])
            named.append(f"{sort} {grouped(size.chars if unit == 'characters' else size.tokens)}")
            kept_ids |= ids
    return named, tuple(id for id in there if id in kept_ids)


def _smaller(context: Context, outcome: Outcome) -> Check:
    before, after = context.total.tokens, context.outcome_size(outcome).tokens
    if outcome.memories is not None:
        text_tokens = context.layout.sizes.meter.text_tokens
        before, after = before + text_tokens(context.memories), after + text_tokens(outcome.memories)
    fine = outcome.status == "unchanged" or after < before
    return Check("smaller", False, fine, f"{grouped(before)} → {grouped(after)} tokens")


def _fits_window(context: Context, outcome: Outcome) -> Check:
    after = context.outcome_size(outcome).tokens
    if context.limit is None:
        return Check("fits the window", False, True, "the model's window is unknown")
    detail = f"{grouped(after)} of {context.limit}"
    return Check("fits the window", False, after < context.limit.tokens, detail)


def _stays_under_threshold(context: Context, outcome: Outcome, strategy: Strategy[Any], policy: Policy) -> Check:
    """Check that the same policy would not compact the new context again at once."""
    after = context.from_outcome(outcome).with_(manual=False)
    again = [trigger for trigger in strategy.read_triggers(after, policy) if trigger.fires]
    return Check(UNDER_THE_THRESHOLD, False, not again, "; ".join(map(str, again)))


def export_check(valid: bool, verdict: str) -> Check:
    """Hard check from the verdict of a format's validator."""
    return Check("export valid", True, valid, verdict)


def failures(checks: Sequence[Check]) -> tuple[Check, ...]:
    """Hard checks that failed."""
    return tuple(check for check in checks if check.hard and not check.passed)
