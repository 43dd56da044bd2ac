"""The protocol every strategy speaks: a generator that yields requests for summaries and receives them.

Preview, live run, replay and comparison drive the same generator with a different summarizer, so a preview cannot
disagree with the run. A strategy does no I/O, holds no state and knows no screen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar

from msgspec import Struct

from workbench.base.figures import grouped
from workbench.base.secrets import masked
from workbench.compaction.context import Context
from workbench.compaction.conversation import RequestBody
from workbench.compaction.gauge import Gauge, RunningMeter, read_on
from workbench.compaction.language import Language
from workbench.compaction.layers import Layer, layers
from workbench.compaction.marks import TemplateMark
from workbench.compaction.outcome import Outcome, unchanged
from workbench.compaction.policy import Policy
from workbench.compaction.prompt_parts import PromptPart, prompt_parts
from workbench.compaction.roles import insert_gaps
from workbench.compaction.shape import Shape, per_shape
from workbench.session import Message, Span, Tool, Usage
from workbench.session.bounded import bounded_message
from workbench.session.masked import searched_message, without_rests
from workbench.tokens.sizes import Sizes


class Trigger(Struct, frozen=True):
    """A reason to compact. `value` and `limit` share `unit`; `fires` is authoritative (some triggers are yes or no).

    One that is `timed` is looked at while nothing is sent, each other one before the model is called.
    """

    name: str
    value: float
    limit: float
    unit: str
    fires: bool
    note: str = ""
    timed: bool = False

    @property
    def distance(self) -> float:
        """How far the value is below the limit; 0 or less when it is reached."""
        return self.limit - self.value

    def __str__(self) -> str:
        verdict = ("fires" if self.fires else "does not fire") + (f"; {self.note}" if self.note else "")
        if not self.limit:
            return f"trigger {self.name}: now {grouped(self.value)} {self.unit}, {verdict}"
        name = "" if self.name == self.unit else f" ({self.name})"
        return f"trigger {grouped(self.limit)} {self.unit}{name}: now {grouped(self.value)}, {verdict}"


class ProgressStep(Struct, frozen=True):
    """A rung that needs no model, for the screen's sake."""

    name: str
    detail: str = ""


Form = Literal["prose", "sections", "memories", "narrative"]
"""`narrative`: flowing text that tells why and how, beside entries that hold the rest word for word."""


@dataclass(frozen=True, kw_only=True)
class RequestSettings:
    """What a strategy asks of a summarizer beside the words. `max_chars` and `max_lines` 0: no limit. `sections` are
    the titles that a `form="sections"` answer must have, in order; in `form="memories"` each message is a memory, and
    so is each line of the answer; `marks`, the fixed words that it must hold; `tools`, the definitions that are sent
    with one text. `timeout_s` and `max_output_tokens` None: as long and as much as whoever is asked allows."""

    form: Form = "prose"
    sections: tuple[str, ...] = ()
    marks: tuple[TemplateMark, ...] = ()
    language: Language = "en"
    max_chars: int = 0
    max_lines: int = 0
    temperature: float | None = None
    timeout_s: float | None = None
    max_output_tokens: int | None = None
    tools: tuple[Tool, ...] = ()


@dataclass(frozen=True)
class SummaryRequest(RequestSettings):
    """One call of a summarizer.

    `messages` are the input messages of which it shows something, `prompt` is what is asked, and `body` is what would
    be sent, prompt included: one text, or a conversation, which may hold more messages than are to be summarized.
    `previous` is an earlier summary given as context (policy `earlier_summary`: nest or extend).
    `chars` is about how much there is to summarize, for estimates that must not render the text.
    `exact` is false when the request depends on an answer that was only estimated.
    `seen(i)` says how many of the characters of `messages[i]` the summarizer sees: (seen, of). `masking` gives a
    message without its secrets, which whoever asks may have found already.
    """

    purpose: str
    messages: Sequence[Message]
    prompt: str
    body: RequestBody
    previous: str = ""
    chars: int = 0
    exact: bool = True
    seen: Callable[[int], tuple[int, int]] | None = None
    masking: Callable[[Message], Message] = searched_message

    @cached_property
    def masked(self) -> tuple[Message, ...]:
        """The messages without their secrets: what is made of them that no model writes."""
        return tuple(map(self.masking, self.messages))

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(message.id for message in self.messages)

    @cached_property
    def text(self) -> str:
        """The request as text: just what would be sent of one text, a conversation with its messages in tags."""
        return self.body.text

    @cached_property
    def shown(self) -> str:
        """The request as it is shown and kept: without what its cuts have left of secrets."""
        return without_rests(self.text, map(bounded_message, self.messages), self.masked)

    @cached_property
    def key(self) -> str:
        """A hash of what would be sent: a recorded answer is found by it, not by order."""
        sent = "\n".join([self.text, *(tool.schema for tool in self.tools)])
        return hashlib.blake2b(sent.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Summary:
    """A summarizer's answer. `origins` gives, for an answer that can be traced, the message ids behind each line."""

    text: str
    model: str = ""
    usage: Usage | None = None
    seconds: float = 0.0
    origins: tuple[tuple[str, ...], ...] = ()


FailureKind = Literal["timeout", "overflow", "empty", "truncated", "refused", "inflated", "error"]


@dataclass(frozen=True, slots=True)
class SummaryFailed:
    """Why there is no summary. Secrets in `detail` are masked: it may quote a server, and is shown and kept."""

    kind: FailureKind
    detail: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "detail", masked(self.detail))

    def __str__(self) -> str:
        return f"the summarizer failed ({self.kind})" + (f": {self.detail}" if self.detail else "")


Answer = Summary | SummaryFailed
Requests = tuple[SummaryRequest, ...]
Compacting = Generator[ProgressStep | Requests, tuple[Answer, ...] | None, Outcome]
"""Yields a `ProgressStep` (receives None) or a tuple of requests that may be answered in parallel (receives as many
answers)."""


P = TypeVar("P", bound=Policy)


class MessageNote(Struct, frozen=True):
    """What a strategy says of one message, beside it; `warns` of something that may be wrong."""

    text: str
    warns: bool = False


SHOWN_NAMES = 12
"""So many names stand in a sentence."""


@dataclass(frozen=True, slots=True)
class ParsedPolicy(Generic[P]):
    """A policy as it was pasted: `taken` are the settings that stood there, `ignored` the names that no setting has."""

    policy: P
    taken: tuple[str, ...]
    ignored: tuple[str, ...]

    @property
    def note(self) -> str:
        """What was passed over, in words; "" for nothing."""
        if not self.ignored:
            return ""
        more = f" and {len(self.ignored) - SHOWN_NAMES} more" if len(self.ignored) > SHOWN_NAMES else ""
        return f"ignored unknown settings: {', '.join(self.ignored[:SHOWN_NAMES])}{more}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductParameters(Generic[P]):
    """The parameter object of a product that a policy stands for: `read` its text, `write` a policy as one.

    `read` raises BadInput in a sentence.
    """

    name: str
    about: str
    read: Callable[[str], ParsedPolicy[P]]
    write: Callable[[P], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What a strategy is, beside its numbers; see `workbench.compaction.properties`."""

    method: str = "a model's summary"
    versions: bool = False
    cache: bool = False
    tool_calls: bool = False


class ResultBudget(Struct, frozen=True):
    """What the messages of a result may have at most, what is sent beside them not counted."""

    most: int
    unit: Literal["tokens", "characters"]


class Remedy(Struct, frozen=True):
    """A policy under which a context would have stayed small without a model: `does` begins a sentence about it, `kind`
    is its name among what a diagnosis finds."""

    kind: str
    does: str
    policy: Policy


class AbridgedHistory(Struct, frozen=True):
    """A history retold without a model: messages of the context and the words for them, oldest first, `limit`
    characters at most; `whole` unless older ones did not fit. What is retold of the time before the context has no
    messages there."""

    entries: tuple[tuple[tuple[Span, ...], str], ...]
    limit: int
    whole: bool


@dataclass(frozen=True, slots=True)
class RungKind:
    """One rung that a strategy may take: how much it takes away, what of the messages stays whole, and what it is for.
    All are shown side by side."""

    name: str
    strength: Literal["light", "medium", "heavy"]
    keeps: str
    suits: str


NOT_DUE = "no trigger fires"


def _none(*_: object) -> tuple[()]:
    return ()


def _no_reason(_: Policy) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy(Generic[P]):
    """One way to compact, and all that is known of it: nothing outside `workbench.compaction` names a strategy."""

    id: str
    title: str
    about: str
    policy_type: type[P]
    triggers: Callable[[Gauge, P], tuple[Trigger, ...]]
    when_due: Callable[[Context, P, list[str]], Compacting]
    """What it does with a context that is to be compacted; the list is the trace, to which it tells what it did."""
    idle: Callable[[P], str] = _no_reason
    """Why a policy would never compact, "" if it would."""
    meters: Mapping[str, Callable[[Context, P], RunningMeter]] = field(default_factory=dict)
    """Sums of its own, which the triggers read in `Gauge.meters` beside what every context tells."""
    default_preset: str = ""
    """The preset that it opens with, where that is not named like it."""
    unit: str = "message"
    """The word for what it cuts between."""
    movable: bool = True
    """Whether a person may move the split."""
    rungs: tuple[RungKind, ...] = ()
    """The rungs that it chooses from, if it climbs a ladder."""
    prompts: Mapping[str, str] = field(default_factory=dict)
    """The ids of the prompts that it uses, each with the policy's field that may hold another; "" where none may."""
    lint: Callable[[P], tuple[str, ...]] = _none
    """What is doubtful about a policy's prompts, one sentence each."""
    faults: Callable[[P, str], Iterable[str]] | None = None
    """What the form that it gives a summary message finds wrong with its text, one sentence each; the checks tell."""
    layers: Callable[[Context, Outcome], tuple[Layer, ...]] = layers
    """The parts of a context, in the strategy's own words."""
    prompt: Callable[[Context, P], tuple[PromptPart, ...]] = lambda context, policy: prompt_parts(context)
    """The whole next prompt of a context, part by part, in the strategy's own words."""
    notes: Callable[[Shape, P, int], Iterable[MessageNote]] = _none
    """What is to be said beside the message at an index."""
    remark: Callable[[Shape, P], str] | None = None
    """What is to be said of the whole session; it may take a second to find."""
    abridged: Callable[[Context, P, int], AbridgedHistory] | None = None
    """What of the messages before an index goes beside the summary, retold without a model."""
    pasted: ProductParameters[P] | None = None
    budget: Callable[[Context, P], ResultBudget] | None = None
    """What the whole result may have, where a policy says so; a check tells of what is over it."""
    remedy: Callable[[int], Remedy] | None = None
    """For a context that holds so many tokens at most."""
    traits: Traits = Traits()
    unasked: Mapping[str, Any] = field(default_factory=dict)
    """The fields, with their values, at which it does without a model."""

    def doubts(self, policy: P) -> tuple[str, ...]:
        """What is doubtful about a policy, and what of it is not sent, one sentence each."""
        return (*policy.unsaid(), *self.lint(policy))

    def gauge(self, context: Context, policy: P) -> Gauge:
        """How full a context is, with this strategy's own meters read over all its messages; remembered with it."""
        now = context.gauge()
        if not self.meters:
            return now
        return now._replace(meters={name: metered(context, start, policy) for name, start in self.meters.items()})

    def triggered(self, context: Context, policy: P) -> tuple[Trigger, ...]:
        """Every trigger of the policy, as it stands in this context."""
        return self.triggers(self.gauge(context, policy), policy)

    def compact(self, context: Context, policy: P, read: tuple[Trigger, ...] | None = None) -> Compacting:
        """Compact where a trigger fires, or at the user's command: a manual run is a trigger of its own. `read` are the
        triggers as they stand in this context, where somebody has read them; a replay has, from its running sums."""
        fired = self.triggered(context, policy) if read is None else read
        trace = [str(trigger) for trigger in fired]
        due = context.manual or any(trigger.fires for trigger in fired)
        if why_not := self.idle(policy) or ("" if due else NOT_DUE):
            return unchanged(context.messages, why_not, trace)
        return (yield from self.when_due(context, policy, trace))


def metered(context: Context, start: Callable[[Context, P], RunningMeter], policy: P) -> int:
    """What a meter says of a whole context; read once for a policy, and for those under which it begins alike."""
    known, sizes, given = _metered(context.shape), context.layout.sizes, (policy, context.summary_versions)
    found = known.get(start)
    if found is not None and found.sizes is sizes and (found.given == given or found.begun == start(context, policy)):
        return found.value
    meter = start(context, policy)
    read_on([meter], context.layout, 0, len(context))
    known[start] = _Metered(sizes, given, start(context, policy), meter.value)
    return meter.value


class _Metered(Struct, frozen=True):
    """What a meter that began as `begun` said of a whole context."""

    sizes: Sizes
    given: tuple[Policy, Mapping[str, int]]
    begun: RunningMeter
    value: int


@per_shape
def _metered(shape: Shape) -> dict[object, _Metered]:
    return {}


def with_verdict(context: Context, draft: Outcome) -> Outcome:
    """The draft as its API takes it, with its verdict: an outcome that is not smaller in tokens is reported, not called
    a success. Every strategy's outcome that changes something passes here."""
    draft = insert_gaps(draft, context.api)
    before, after = context.total, context.outcome_size(draft)
    line = f"{grouped(before.tokens)} → {grouped(after.tokens)} tokens"
    trace = (*draft.trace, line)
    if draft.status == "compacted" and after.tokens >= before.tokens:
        return replace(draft, status="not_smaller", reason=f"not smaller: {line}", trace=trace)
    return replace(draft, reason=f"{draft.reason}: {line}" if draft.reason else line, trace=trace)
