"""The workbench as Python calls. Names, units and errors are documented in docs/api.md; `workbench` itself offers them.

Messages are given as an agent has them: dicts in the style of OpenAI's chat or of Anthropic's Messages API, or what
their SDKs answered with; a whole request body does as well. They come back as plain dicts in the same style, those that
were kept unchanged to the last key.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from workbench.analysis.compare import Column, candidates
from workbench.analysis.compare import compare as columns_of
from workbench.analysis.course import Course, course_of, uncounted
from workbench.analysis.recorded import following
from workbench.analysis.replay import Replay, replays
from workbench.analysis.retention import Retention
from workbench.analysis.retention import retention as retention_of
from workbench.analysis.suggested_pins import SuggestedPin, suggest
from workbench.analysis.why import Diagnosis, diagnose
from workbench.analysis.why.refusals import overflowed
from workbench.base.errors import BadInput
from workbench.base.secrets import error_line
from workbench.bench import tools_preset
from workbench.compaction.checks import Check, check, failures
from workbench.compaction.context import Context
from workbench.compaction.ledger.entries import Entry
from workbench.compaction.ledger.text import read_ledger
from workbench.compaction.opening import context_at, epoch_of
from workbench.compaction.outcome import Fate, Made, Outcome, Status
from workbench.compaction.policy import explain
from workbench.compaction.preset import default_preset, load_preset
from workbench.compaction.strategies import DEFAULT
from workbench.compaction.strategies import strategy as strategy_by_id
from workbench.compaction.strategy import Answer, Summary, SummaryFailed, SummaryRequest
from workbench.formats import export as exporting
from workbench.formats import files, registry
from workbench.formats.format import no_progress
from workbench.session import Message, Session
from workbench.summarizers.driver import drive
from workbench.summarizers.extractive import extractive
from workbench.summarizers.summarizer import Answerer
from workbench.tokens import Counter
from workbench.tokens.sizes import Size

__all__ = [
    "BadInput",
    "Column",
    "Compacted",
    "Context",
    "Diagnosis",
    "Replay",
    "Report",
    "Retention",
    "Session",
    "SuggestedPin",
    "compact",
    "compare",
    "context",
    "load",
    "replay",
    "retention",
    "save",
    "suggest_pins",
    "why",
]

Messages = Sequence[Any] | Mapping[str, Any]
"""Messages in order, each a dict or an SDK's object, or a dict that holds such objects; or the body of a whole request,
with its model, system prompt and tools."""
Names = str | Sequence[str]
"""One name, or several."""
Summarize = Callable[[str], str]
"""Gets a prompt as it is to be sent, gives the model's text. What it raises counts as a failed summary."""


@dataclass(frozen=True)
class Report:
    """What a compaction did and why. Ids of messages are the session's, and `m1`, `m2`, … for plain dicts."""

    status: Status
    """`compacted`; `fallback`: a summary failed and the strategy did without; `unchanged`: there was nothing to do;
    `not_smaller`: the result would have been as large, and the old context stays."""
    reason: str
    """Why the status is what it is, in one sentence."""
    before: Size
    """Of the old context: messages, characters as a model reads them, tokens with what is sent beside the messages."""
    after: Size
    """Of the new one, by the same measure."""
    trace: tuple[str, ...]
    """What was decided in order, in plain sentences with figures."""
    checks: tuple[Check, ...]
    """Everything that was looked at, passed or not, hard checks first."""
    fates: Mapping[str, Fate]
    """What became of each message of the old context, by its id and in its order."""
    entries: tuple[Entry, ...] = ()
    """What the ledger keeps, in the order of its text; empty under another strategy."""
    left_out: tuple[tuple[str, int], ...] = ()
    """What the ledger had no room for, as (group, number of entries), the least important first."""

    @property
    def failed(self) -> tuple[Check, ...]:
        """The hard checks that failed: a result with any must not be sent."""
        return failures(self.checks)


@dataclass(frozen=True)
class Compacted:
    """The new context, in the style in which the old one was given, and the report on it."""

    messages: list[dict[str, Any]]
    """Plain dicts in the style in which the messages were given, without the system prompt that a body holds apart; of
    a session, and in a style that is only read, in that of Anthropic's Messages API."""
    report: Report
    session: Session
    """The source as it was read."""
    context: Context
    """The old context, with its pins."""
    outcome: Outcome
    """The result as the workbench's own messages, each with the input messages it stands for."""
    epoch: int = 1
    """The epoch of the session that the old context is, from 1."""


def load(path: str | Path, part: str = "") -> Session:
    """A session file of any format the workbench reads; its oddities are in `warnings`, each with its line.

    `part` is the id of one conversation, for a file that holds several. Raises BadInput for what cannot be read or is
    of no known format.
    """
    return files.load(Path(path), part=part)


def context(
    source: Session | Messages,
    *,
    epoch: int | None = None,
    pins: str | Collection[str] = (),
    window: int | None = None,
) -> Context:
    """What the model would see: of a session's epoch (from 1; default: the newest), or of plain messages.

    Every message's tokens are counted, offline. `pins` are ids of messages that stay as they are (`m1`, `m2`, … for
    plain dicts); `window` is the context window in tokens, by default what session or table tell. `len` of the result
    is its number of messages, `total` its size, `size(start, stop)` that of some of them. Raises BadInput for messages
    of no known style and for an epoch or an id that is not there.
    """
    session, counter = _session_of(source), Counter()
    counter.count_all(session.context(epoch_of(session, epoch)), no_progress, lambda: False)
    found = context_at(session, epoch, counter, window=window)
    pinned = frozenset((pins,) if isinstance(pins, str) else pins)
    if unknown := sorted(pinned - found.shape.index_of.keys()):
        raise BadInput(f"There is no message {unknown[0]!r} to pin; there are {', '.join(_ends(found))}.")
    return found.with_(pins=pinned)


def compact(
    source: Session | Messages,
    strategy: str = DEFAULT,
    *,
    preset: str = "",
    budget_tokens: int | None = None,
    budget_chars: int | None = None,
    pins: str | Collection[str] = (),
    epoch: int | None = None,
    window: int | None = None,
    summarize: Summarize | None = None,
    **fields: Any,
) -> Compacted:
    """Compact now, whatever the triggers say. The source is left as it is; the same arguments give the same result.

    `preset` names numbers for a strategy, and with it the strategy; `fields` change single fields of the policy, as the
    budgets do (`budget_tokens`, `budget_chars`: what the whole result may have). Without `summarize` no model is asked:
    the ledger does without a narrative, any other strategy gets an extractive summary. `epoch`, `pins` and `window` are
    those of `context`. Raises BadInput for what is unknown or out of range, never for what the compaction came to: that
    is the report's `status`, `reason` and `failed`.
    """
    session = _session_of(source)
    given = context(session, epoch=epoch, pins=pins, window=window)
    budgets = {"budget_tokens": budget_tokens, "budget_chars": budget_chars}
    changes = {name: value for name, value in {**fields, **budgets}.items() if value is not None}
    chosen = load_preset(preset) if preset else default_preset(strategy)
    one = strategy_by_id(chosen.strategy)
    if summarize is None:
        changes = {**one.unasked, **changes}
    try:
        policy = chosen.policy.with_(**changes)
    except ValidationError as error:
        raise BadInput(f"{chosen.strategy}: {explain(error)}") from None
    outcome = drive(one.compact(given, policy), _answered_by(summarize) if summarize else extractive).outcome
    report = _report(given, outcome, check(given, outcome, one, policy))
    number = len(session.epochs) if epoch is None else epoch
    return Compacted(_as_dicts(session, _in_force(given, outcome)), report, session, given, outcome, number)


def compare(
    source: Session | Messages,
    strategies: Names = (),
    presets: Names = (),
    *,
    epoch: int | None = None,
    pins: str | Collection[str] = (),
    window: int | None = None,
    summarize: Summarize | None = None,
) -> tuple[Column, ...]:
    """The same context compacted in several ways: a column for each preset named, then for each strategy, in the order
    given; one for every strategy where nothing is named.

    `epoch`, `pins` and `window` are those of `context`, `summarize` that of `compact`. Raises BadInput as they do, and
    for a name that does not exist.
    """
    chosen = candidates(_several(strategies), _several(presets))
    given = context(source, epoch=epoch, pins=pins, window=window)
    return tuple(columns_of(given, chosen, _answered_by(summarize) if summarize else extractive))


def retention(compacted: Compacted, later: Sequence[Message] | None = None) -> Retention:
    """Which facts of what went the new context still holds, by kind.

    `later` are messages that came after: what they use again weighs more. By default those of the session's later
    epochs.
    """
    if later is None:
        later = following(compacted.session, compacted.epoch)
    return retention_of(compacted.context, compacted.outcome, later)


def suggest_pins(source: Session | Messages, *, epoch: int | None = None) -> tuple[SuggestedPin, ...]:
    """The user's standing instructions and answers to questions in the order in which they were given, each with why it
    is one and the tokens that pinning its message costs. Raises BadInput as `context` does."""
    return suggest(context(source, epoch=epoch))


def why(
    source: Session | Messages, preset: str | None = None, *, epoch: int | None = None, window: int | None = None
) -> Diagnosis:
    """Why the context overflowed, or how near it is to it: who filled it, and what would have helped.

    Of an epoch (from 1), by default the newest that overflowed; the triggers of the preset, by default the tool's own
    or claude-code, are looked at, and the session is played under it. Raises BadInput as `context` does, and for a
    preset that does not exist.
    """
    session = _session_of(source)
    number = overflowed(session) if epoch is None else epoch
    given, course = _played_from(session, number, window)
    return diagnose(given, course, number, load_preset(preset or tools_preset(session) or "claude-code"))


def replay(
    source: Session | Messages,
    strategies: Names = (),
    presets: Names = (),
    *,
    epoch: int = 1,
    window: int | None = None,
) -> tuple[Replay, ...]:
    """The session from an epoch on (from 1), played under each preset named, then under each strategy, in the order
    given; under every strategy where nothing is named.

    When each would have compacted, from what to what, at what cost; the agent's answers are taken to be the same, and
    summaries only take their room. Raises BadInput as `context` does, and for a name that does not exist.
    """
    session = _session_of(source)
    given, course = _played_from(session, epoch, window)
    return tuple(replays(course, candidates(_several(strategies), _several(presets)), given.limit))


def _played_from(session: Session, epoch: int, window: int | None) -> tuple[Context, Course]:
    counter = Counter()
    counter.count_all(uncounted(session), no_progress, lambda: False)
    return context_at(session, epoch, counter, window=window), course_of(session, counter, first=epoch)


def save(compacted: Compacted, path: str | Path, format: str = "", *, overwrite: bool = False) -> Path:
    """Write the new context as a session file: in the source's own format, or in the one named by its id.

    `path` is a file, or a folder that gets a file named as its tool expects; returns where. Raises BadInput when a hard
    check failed, when the format's own rules refuse the file, when what was written does not hold the new context as
    its reader finds it (there is no file then), and when one is there and `overwrite` is not set.
    """
    if failed := compacted.report.failed:
        raise BadInput(f"The result is not whole and is not written: {failed[0].name}: {failed[0].detail}.")
    given, outcome = compacted.context, compacted.outcome
    left = given if outcome.status == "not_smaller" else given.from_outcome(outcome)
    made = exporting.export(
        compacted.session, _in_force(given, outcome), format or None, outcome.memories, carried=left.carried
    )
    if made.problems:
        raise BadInput(f"{made.format.title} could not load this and it is not written: {made.verdict}")
    return exporting.save(made, Path(path), overwrite=overwrite).where


def _several(names: Names) -> Sequence[str]:
    return (names,) if isinstance(names, str) else names


def _session_of(source: Session | Messages) -> Session:
    if isinstance(source, Session):
        return source
    try:
        data = orjson.dumps(source if isinstance(source, Mapping) else list(source), default=_as_sent)
    except TypeError as error:
        raise BadInput(
            f"The messages are no plain JSON values: {error}; give dicts of strings, numbers, lists, or SDK objects."
        ) from None
    return files.load_bytes(_GIVEN, data)


_GIVEN = Path("messages")


def _as_sent(value: Any) -> Any:
    """An SDK's object (of Anthropic, OpenAI, LangChain: pydantic models all) as the JSON that it stands for, without
    the fields that it does not use."""
    if isinstance(value, Mapping):
        return dict(value)
    if callable(dump := getattr(value, "model_dump", None)):
        return dump(mode="json", exclude_none=True)
    raise TypeError(f"{type(value).__name__} is not JSON serializable")


_STYLES = {
    "anthropic-messages": "messages",
    "openai-chat": "messages",
    "openai-responses": "input",
    "langchain": "messages",
}
"""The formats whose messages an agent sends as they are, and where a body has them."""


def _in_force(given: Context, outcome: Outcome) -> Sequence[Message]:
    """The context to go on with: the old one where the result would have been as large."""
    return given.messages if outcome.status == "not_smaller" else outcome.messages


def _as_dicts(session: Session, messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Messages in the source's own style, kept ones byte for byte."""
    style = session.format if session.path == _GIVEN and session.format in _STYLES else "anthropic-messages"
    body = orjson.loads(registry.target(style).write(session, messages).data)
    return list(body if isinstance(body, list) else body[_STYLES[style]])


def _answered_by(summarize: Summarize) -> Answerer:
    def answer(request: SummaryRequest) -> Answer:
        try:
            return Summary(summarize(request.text))
        except Exception as error:  # whatever the caller's function raises, the strategy hears of it and falls back
            return SummaryFailed("error", error_line(str(error)) or type(error).__name__)

    return answer


def _report(given: Context, outcome: Outcome, checks: tuple[Check, ...]) -> Report:
    made = (piece.message.text for piece in outcome.pieces if isinstance(piece, Made))
    ledger = next(filter(None, map(read_ledger, made)), None)
    return Report(
        outcome.status,
        outcome.reason,
        given.total,
        given.outcome_size(outcome),
        outcome.trace,
        checks,
        {given.messages[i].id: span.fate for span in outcome.fates for i in range(span.start, span.stop)},
        ledger.entries if ledger else (),
        ledger.left_out if ledger else (),
    )


def _ends(found: Context) -> tuple[str, ...]:
    ids = [message.id for message in found.messages]
    return (*ids[:2], "…", ids[-1]) if len(ids) > 3 else tuple(ids)
