"""Compute the rows of one file: its sessions, and the effects of each recorded compaction.

Never raises: an unreadable file becomes a row with an error. No tokenizer is used: tokens are recorded usage, or
estimated from characters. Only a session that records a compaction is searched for rework and lost rules; only such a
one, or a long one, is replayed under its agent's preset at several triggers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from xxhash import xxh3_128_hexdigest

from workbench.analysis.broken_rules import broken_after_loss
from workbench.analysis.course import Course, Point, lazy_course
from workbench.analysis.fact_check import SearchedText, fact_query
from workbench.analysis.head_index import texts_of
from workbench.analysis.recorded_compactions import recorded_outcome
from workbench.analysis.replay import Replay, replay
from workbench.analysis.retention import head_end, is_unreadable, new_messages, unchanged_marks
from workbench.analysis.rework import Rework, rework
from workbench.analysis.rule_file_states import lost_file_rules
from workbench.analysis.session_cost import session_dollars
from workbench.auditing.rows import TRIGGERS, AuditFile, CompactionRow, FileRows, SessionRow, TriggerCost
from workbench.base.errors import BadInput
from workbench.base.secrets import without_secrets
from workbench.base.text import clip, clip_at_word
from workbench.compaction.outcome import Fate, Outcome
from workbench.compaction.preset import Preset, agent_preset_id, load_preset, preset_for_version
from workbench.facts.answers import typed_texts
from workbench.facts.standing import RuleFinder, rules_in_text, standing_rules
from workbench.formats import registry
from workbench.formats.files import bytes_of, gc_paused, load, load_bytes
from workbench.formats.format import Skimmed
from workbench.formats.look import Look
from workbench.session import Compaction, Message, Session
from workbench.tokens import Counter, estimate_tokens, first_call, overhead_at
from workbench.tokens.cost import MILLION, Rates, rates_of, spent_on
from workbench.tokens.models import tables
from workbench.tokens.window import Window, known_window, window_of

TITLE, REASON = 80, 300
"""Longest title and longest error, in characters."""

REMOVED = (Fate.SUMMARIZED, Fate.DROPPED, Fate.COMPRESSED)


def survey_file(work: AuditFile) -> FileRows:
    bare = SessionRow(work.path, bytes=work.bytes, time=work.time, tool=work.tool)
    digest: str | None = None
    try:
        path = Path(work.path)
        if path.is_dir():
            return FileRows(work.path, None, (row_of(load(path), bare, is_replayed=work.is_replayed),))
        data = bytes_of(path)
        digest = xxh3_128_hexdigest(data)
        if digest == work.known:
            return FileRows(work.path, digest, None)
        with gc_paused():
            return FileRows(work.path, digest, tuple(_rows(path, data, bare, is_replayed=work.is_replayed)))
    except Exception as error:
        # One broken file must not lose the rows of thousands of others.
        return FileRows(work.path, digest, (replace(bare, error=_reason(error)),))


def _rows(path: Path, data: bytes, bare: SessionRow, *, is_replayed: bool) -> Iterator[SessionRow]:
    codec = registry.detect(Look.of(data, path))[0].codec
    if codec.skim and (skimmed := codec.skim(path, data)) and not (is_replayed and _is_long(skimmed)):
        yield row_of_skimmed(skimmed, bare)
        return
    parts = [part.id for part in codec.sessions_in(path, data)] if codec.sessions_in else []
    for part in parts or [""]:
        try:
            session = load_bytes(path, data, part=part)
        except BadInput as error:
            if len(parts) < 2:
                raise
            yield replace(bare, part=part, error=_reason(error))
            continue
        yield row_of(session, replace(bare, part=part if len(parts) > 1 else ""), is_replayed=is_replayed)


def _is_long(skimmed: Skimmed) -> bool:
    """True if a session without compactions is long enough for a replay, which needs the complete session."""
    return max(_contexts(skimmed)) >= REPLAYED_FROM


def _contexts(skimmed: Skimmed) -> list[int]:
    return [fresh + read + written for _, fresh, _, read, written in skimmed.bills]


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    named = f"{type(error).__name__}: {text[: 10 * REASON]}".rstrip(": ")
    return text if isinstance(error, BadInput) else clip(without_secrets(named), REASON)


def row_of_skimmed(skimmed: Skimmed, bare: SessionRow) -> SessionRow:
    """Return the row of a session of which only the usage was read. `bare` has the fields of its file."""
    session, prompts = skimmed.begun, _contexts(skimmed)
    spent = spent_on(skimmed.bills, session.model) if session.facts.cost is None else None
    cost = session.facts.cost if spent is None else spent.prompts + spent.answers
    return _row(session, bare, prompts, cost)


def row_of(session: Session, bare: SessionRow, *, is_replayed: bool) -> SessionRow:
    """Return the row of a complete session. With `is_replayed` it is replayed under several triggers if it is long or
    records a compaction."""
    copies = frozenset[int]().union(*(epoch.copies for epoch in session.epochs))
    own = (one for number, one in enumerate(session.messages) if number not in copies)
    prompts = [one.bill for one in own if one.bill and not (one.usage and one.usage.replayed)]
    row = _row(session, bare, prompts, session_dollars(session))
    is_compacted = any(epoch.ended_by for epoch in session.epochs)
    if not is_compacted and prompts and (row.peak < REPLAYED_FROM or not is_replayed):
        return row
    course, rates = lazy_course(session, Counter()), rates_of(session.model)
    sizes = [point.tokens for point in course.growth] or [0]
    tokens, peak = row.tokens or sizes[-1], row.peak or max(sizes)
    compactions = tuple(_compactions(course, rates)) if is_compacted else ()
    costs = trigger_costs(course, rates) if prompts and is_replayed else ()
    return replace(row, tokens=tokens, peak=peak, compactions=compactions, tried=costs)


def _row(session: Session, bare: SessionRow, prompts: Sequence[int], cost: float | None) -> SessionRow:
    """Return the row without compactions. `prompts` are the recorded prompt tokens of its calls."""
    rates, window = _prices_and_window(
        session.format, session.model, session.facts.provider, session.epochs[-1].window, tables()
    )
    return SessionRow(
        path=bare.path,
        part=bare.part,
        bytes=bare.bytes,
        time=bare.time,
        format=session.format,
        tool=bare.tool or agent_names().get(session.format) or registry.by_id(session.format).title,
        version=_without_secrets(session.facts.version),
        model=_without_secrets(session.model or ""),
        project=_without_secrets(session.cwd or ""),
        title=_without_secrets(clip_at_word(session.title, TITLE)),
        calls=len(prompts),
        tokens=prompts[-1] if prompts else 0,
        peak=max(prompts, default=0),
        window=window.tokens if window else None,
        overhead=_overhead(session),
        cost=cost,
        price=rates.input if rates.known else None,
    )


@lru_cache(maxsize=256)
def _prices_and_window(
    format: str, model: str | None, provider: str, recorded: int | None, tables: tuple[Path, ...]
) -> tuple[Rates, Window | None]:
    """Return prices and window of a model. Cached: thousands of sessions use a few models."""
    return rates_of(model), known_window(None, recorded, format, model, provider)


@lru_cache(maxsize=1_024)
def _without_secrets(text: str) -> str:
    """Mask secrets in text that thousands of sessions share. Names that the user wants masked are masked when a row is
    shown: cached rows outlive that setting."""
    return without_secrets(text)


@cache
def agent_names() -> Mapping[str, str]:
    """Return the agent of each format that only one agent writes."""
    agents: dict[str, set[str]] = {}
    for place in registry.places():
        agents.setdefault(place.format, set()).add(place.agent)
    return {format: min(names) for format, names in agents.items() if len(names) == 1}


def _overhead(session: Session) -> int | None:
    """Return the tokens of the session's first call beyond the messages before it."""
    messages = session.context(1)
    first = first_call(messages, session.model)
    return session.facts.overhead if first is None else overhead_at(first, messages, session.model)


def _compactions(course: Course, rates: Rates) -> Iterator[CompactionRow]:
    points = course.growth_in
    rules_in, lost_of_files = cache(rules_in_text), lost_file_rules(course.session)
    broken = broken_after_loss(course.session)
    for again in rework(course, rules_in):
        number = again.compaction.epoch
        outcome = recorded_outcome(course.session, number)
        before, after = points.get(number, [])[-1:], points.get(number + 1, [])[:1]
        row = _compaction(course, again, outcome, before, after, rates, rules_in)
        yield replace(row, lost_file_rules=lost_of_files.get(number, 0), broken_rules=broken.get(number, 0))


def _compaction(
    course: Course,
    again: Rework,
    outcome: Outcome,
    before: Sequence[Point],
    after: Sequence[Point],
    rates: Rates,
    rules_in: RuleFinder,
) -> CompactionRow:
    recorded = again.compaction
    ended = course.session.epochs[recorded.epoch - 1].ended_by
    assert ended is not None
    size_before, size_after = _sizes(ended, before, after)
    # An agent may not record the messages that it replaced. Without any, the number is unknown, not 0.
    removed = [
        outcome.source[n] for span in outcome.fates if span.fate in REMOVED for n in range(span.start, span.stop)
    ]
    known, lost = count_lost_rules(outcome, rules_in)
    return CompactionRow(
        epoch=recorded.epoch,
        call=recorded.call,
        way=recorded.way,
        manual=recorded.manual,
        time=ended.time,
        before=size_before,
        after=size_after,
        larger=size_before is not None and size_after is not None and size_after > size_before,
        seconds=ended.seconds
        or (None if recorded.manual or ended.background else _seconds(outcome.source, ended.time)),
        cost=_cost(outcome, size_before, size_after, rates),
        removed_messages=len(removed) or None,
        removed_tool_results=sum(bool(message.results) for message in removed) if removed else None,
        removed_user_messages=sum(bool(message.user_text) for message in removed) if removed else None,
        rework=len(again.items),
        rework_tokens=again.tokens,
        resumed=again.resumed.calls,
        instructions=known,
        lost=lost if removed else None,
        id=identity(outcome, ended),
    )


def _sizes(ended: Compaction, before: Sequence[Point], after: Sequence[Point]) -> tuple[int | None, int | None]:
    """Return comparable sizes before and after: both as recorded; else the recorded size before a summary and the first
    prompt after it; else both prompts, because for a clearing an agent may count the messages alone."""
    if ended.tokens_before and ended.tokens_after:
        return ended.tokens_before, ended.tokens_after
    first, second = (points[0].tokens if points else None for points in (before, after))
    return (ended.tokens_before if ended.way == "summary" else None) or first, second


def _seconds(source: Sequence[Message], done: float | None) -> float | None:
    """Return the seconds from the newest message to the record of the compaction."""
    newest = next((message.time for message in reversed(source) if message.time is not None), None)
    return None if newest is None or done is None or done < newest else round(done - newest, 3)


def _cost(outcome: Outcome, before: int | None, after: int | None, rates: Rates) -> float | None:
    """Return the approximate dollars: the summary's call reads the context from the cache and writes the summary; the
    next call writes the new context to the cache. A clearing or removal takes no call."""
    if not rates.known or not before or not after:
        return None
    new = sum(estimate_tokens(text) for message in new_messages(outcome) for text in texts_of(message))
    summary = before * rates.read + new * rates.output if outcome.summarizes else 0.0
    return (summary + after * max(0.0, rates.write - rates.read)) / MILLION


def count_lost_rules(outcome: Outcome, rules_in: RuleFinder = rules_in_text) -> tuple[int, int | None]:
    """Count the user's rules in force before the tail, and those that the outcome lost or contradicts; None for
    an unreadable summary."""
    head, stays = head_end(outcome), unchanged_marks(outcome)
    if not any(index < head and any(rules_in(words)) for index, words in typed_texts(outcome.source)):
        return 0, 0
    places: dict[str, list[int]] = {}
    for one in standing_rules(outcome.source, rules_in):
        if one.superseded_by is None:
            places.setdefault(one.fact.text, []).append(one.fact.index)
    rules = {text: found for text, found in places.items() if found[0] < head}
    removed = [text for text, found in rules.items() if not any(stays[index] for index in found)]
    if not removed:
        return len(rules), 0
    if is_unreadable(outcome):
        return len(rules), None
    summaries = SearchedText(text for message in new_messages(outcome) for text in texts_of(message))
    queries = (fact_query("instruction", text) for text in removed)
    return len(rules), sum(query is not None and not summaries.judge(query).right for query in queries)


def identity(outcome: Outcome, compaction: Compaction) -> str:
    """Return a digest that identifies a compaction in every file that holds it. It covers the agent's last message
    before it, and its summary, or its time if no summary is readable. Ids and times of messages differ in some agents'
    copies."""
    newest = next((message for message in reversed(outcome.source) if message.role == "assistant"), None)
    summaries = [message.text for message in new_messages(outcome) if message.kind == "summary" and message.text]
    digest = hashlib.blake2b(compaction.way.encode(), digest_size=12)
    for part in (*_texts_and_call_ids(newest), *(summaries or [str(compaction.time)])):
        digest.update(b"\0" + part.strip().encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _texts_and_call_ids(message: Message | None) -> Iterator[str]:
    """Yield the texts of a message and the ids of its calls, which the API draws at random."""
    if message is not None:
        yield from texts_of(message)
        yield from (call.id for call in message.calls)


REPLAYED_FROM = 100_000
"""Tokens of the largest prompt from which a session without compactions is replayed: a trigger makes no difference to
shorter ones."""

WINDOW_FACTOR = 1.1
"""Smallest window of a replay, as a multiple of the trigger."""

_OTHER_TRIGGERS = ("trigger_reserve_tokens", "trigger_answer_tokens", "trigger_messages", "trigger_events")
"""Other triggers of a policy, switched off so that only the size decides."""


def trigger_costs(course: Course, rates: Rates) -> tuple[TriggerCost, ...]:
    """Replay the session at its agent's own trigger and at each of `TRIGGERS`. Return nothing for a session below the
    first of them, and for an agent without a preset whose trigger is a share of the window. All triggers above the
    session's peak cost the same, and are replayed once."""
    peak = max(course.plain, default=0)
    preset = _preset(course) if peak >= TRIGGERS[0] else None
    if preset is None:
        return ()
    own = window_of(course.session, len(course.session.epochs))
    found = [_trigger_cost(0, replay(course, preset, own), rates)]
    never: TriggerCost | None = None
    for trigger in TRIGGERS:
        if never is None or trigger <= peak:
            limit = Window(max(own.tokens if own else 0, round(WINDOW_FACTOR * max(trigger, peak))), "given")
            one = _trigger_cost(
                trigger, replay(course, _preset_with_trigger(preset, trigger, limit.tokens), limit), rates
            )
            found.append(one)
            never = one if trigger > peak else None
        else:
            found.append(replace(never, trigger=trigger))
    return tuple(found)


def _preset(course: Course) -> Preset | None:
    name = agent_preset_id(course.session)
    try:
        preset = preset_for_version(load_preset(name), course.session) if name else None
    except BadInput:
        return None
    return preset if preset and hasattr(preset.policy, "trigger_window_percent") else None


def _preset_with_trigger(preset: Preset, trigger: int, window: int) -> Preset:
    """Return the preset with `trigger` tokens of this window as its only trigger. It has no id: no agent uses it."""
    off: dict[str, Any] = {name: 0 for name in _OTHER_TRIGGERS if hasattr(preset.policy, name)}
    policy = preset.policy.model_copy(update={**off, "trigger_window_percent": 100 * trigger / window})
    return replace(preset, id="", policy=policy)


def _trigger_cost(trigger: int, replayed: Replay, rates: Rates) -> TriggerCost:
    return TriggerCost(trigger, round(replayed.cost / (rates.input or 1.0) * MILLION), len(replayed.compacted))
