"""Interface of a strategy: a generator that turns a context and a policy into an outcome.

Preview, live run, replay and comparison use the same generator with different summarizers, so a preview plans as the
run does. A strategy does no I/O, has no state and does not depend on a screen.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from msgspec import Struct

from workbench.base.figures import grouped
from workbench.compaction.context import Context, Gauge, RunningMeter, add_messages
from workbench.compaction.layers import Layer, layers
from workbench.compaction.outcome import Outcome, unchanged
from workbench.compaction.policy import Policy
from workbench.compaction.prompt_parts import PromptPart, prompt_parts
from workbench.compaction.shape import Shape, per_shape
from workbench.compaction.summary_request import Answer, Requests
from workbench.session import Span
from workbench.tokens.sizes import Sizes


class Trigger(Struct, frozen=True):
    """Reason to compact. `value` and `limit` are in `unit`; `fires` decides (some triggers are only yes or no).

    `timed`: checked while nothing is sent. Other triggers are checked before each call of the model.
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
        """Limit minus value: 0 or less once the limit is reached."""
        return self.limit - self.value

    def __str__(self) -> str:
        verdict = ("fires" if self.fires else "does not fire") + (f"; {self.note}" if self.note else "")
        if not self.limit:
            return f"trigger {self.name}: now {grouped(self.value)} {self.unit}, {verdict}"
        name = "" if self.name == self.unit else f" ({self.name})"
        return f"trigger {grouped(self.limit)} {self.unit}{name}: now {grouped(self.value)}, {verdict}"


class ProgressStep(Struct, frozen=True):
    """A rung that needs no model. Yielded so that a screen can show it."""

    name: str
    detail: str = ""


Compacting = Generator[ProgressStep | Requests, tuple[Answer, ...] | None, Outcome]
"""Yields a `ProgressStep` (receives None) or a tuple of requests that may be answered in parallel (receives as many
answers)."""

P = TypeVar("P", bound=Policy)

NOT_DUE = "no trigger fires"


def _none(*_: object) -> tuple[()]:
    return ()


def _no_reason(_: Policy) -> str:
    return ""


class StrategyNote(Struct, frozen=True):
    """Note next to a message. `warns`: something may be wrong."""

    text: str
    warns: bool = False


class AbridgedHistory(Struct, frozen=True):
    """History abridged without a model. `entries`: messages of the context with the text for them, oldest first, at
    most `limit` characters. `whole`: false if older entries did not fit. An entry for a time before the context has no
    messages in the context."""

    entries: tuple[tuple[tuple[Span, ...], str], ...]
    limit: int
    whole: bool


def _no_notes(*_: object) -> tuple[()]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyView(Generic[P]):
    """Views that a screen shows of a strategy's contexts. Every field has a default that suits any strategy."""

    layers: Callable[[Context, Outcome], tuple[Layer, ...]] = layers
    """Parts of a context by size."""
    prompt_parts: Callable[[Context, P], tuple[PromptPart, ...]] = lambda context, policy: prompt_parts(context)
    """Text of the whole next prompt, part by part."""
    notes: Callable[[Shape, P, int], Iterable[StrategyNote]] = _no_notes
    """Notes on the message at an index."""
    remark: Callable[[Shape, P], str] | None = None
    """Sentence about the whole session; may take a second to compute."""
    abridged: Callable[[Context, P, int], AbridgedHistory] | None = None
    """Abridged history before the message at an index; None if the strategy has no such history."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """Properties of a strategy that its settings do not show; see `workbench.compaction.properties`."""

    method: str = "a model's summary"
    versions: bool = False
    cache: bool = False
    tool_calls: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy(Generic[P]):
    """One way to compact. Outside `workbench.compaction`, no code names a strategy.

    The first six fields are required. The others describe optional features.
    """

    id: str
    title: str
    about: str
    policy_type: type[P]
    triggers: Callable[[Gauge, P], tuple[Trigger, ...]]
    """Triggers of a policy, read from a gauge; a compaction is due when any of them fires."""
    compact: Callable[[Context, P, list[str]], Compacting]
    """Compact a context, due or not. The list is the trace: the strategy appends one sentence per step."""

    idle: Callable[[P], str] = _no_reason
    """Reason why a policy would never compact, "" if it would."""
    meters: Mapping[str, Callable[[Context, P], RunningMeter]] = field(default_factory=dict)
    """Own running sums, by name; `triggers` reads them in `Gauge.meters`."""
    unit: str = "message"
    """Unit between which it cuts: message, round or exchange."""
    movable: bool = True
    """True if the user may move the split."""
    budget: Callable[[Context, P], ResultBudget] | None = None
    """Limit of the whole result, which a check compares; None without a limit."""
    rungs: tuple[RungKind, ...] = ()
    """Rungs that it chooses from, if it climbs a ladder."""
    default_preset: str = ""
    """Id of the preset that it opens with; "" for the preset named like the strategy."""
    prompts: Mapping[str, str] = field(default_factory=dict)
    """Ids of its prompts, each with the policy field that may hold another prompt; "" if there is no such field."""
    lint: Callable[[P], tuple[str, ...]] = _none
    """Problems of a policy's prompts, one sentence each."""
    faults: Callable[[P, str], Iterable[str]] | None = None
    """Faults in the text of a summary message, one sentence each, if it must follow a template."""
    parameters: ProductParameters[P] | None = None
    """The product's own parameter object for this policy, to be pasted and copied."""
    remedy: Callable[[int], Remedy] | None = None
    """Function that returns a policy which keeps a context within a number of tokens without a model."""
    offline_settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings by field with which it needs no model."""
    traits: Traits = Traits()
    view: StrategyView[P] = field(default_factory=StrategyView)
    """Layers, notes and remarks for a screen."""

    def prompt_problems(self, policy: P) -> tuple[str, ...]:
        """Problems of a policy's prompts, and its texts that are not sent, one sentence each."""
        return (*policy.unsent_texts(), *self.lint(policy))

    def gauge(self, context: Context, policy: P) -> Gauge:
        """How full a context is, with this strategy's own meters read over all its messages; cached per context."""
        now = context.gauge()
        if not self.meters:
            return now
        return now._replace(meters={name: _meter_value(context, start, policy) for name, start in self.meters.items()})

    def read_triggers(self, context: Context, policy: P) -> tuple[Trigger, ...]:
        """Every trigger of the policy, read for this context."""
        return self.triggers(self.gauge(context, policy), policy)

    def run(self, context: Context, policy: P, read: tuple[Trigger, ...] | None = None) -> Compacting:
        """Compact if a trigger fires or the context is `manual`; else return it unchanged.

        `read`: triggers already read for this context, by a replay from running sums for example.
        """
        triggers = self.read_triggers(context, policy) if read is None else read
        trace = [str(trigger) for trigger in triggers]
        due = context.manual or any(trigger.fires for trigger in triggers)
        if why_not := self.idle(policy) or ("" if due else NOT_DUE):
            return unchanged(context.messages, why_not, trace)
        return (yield from self.compact(context, policy, trace))


class ResultBudget(Struct, frozen=True):
    """Most that the messages of a result may have; system prompt and tools are not counted."""

    most: int
    unit: Literal["tokens", "characters"]


@dataclass(frozen=True, slots=True)
class RungKind:
    """A rung that a strategy may take: how much it removes, which messages it keeps, and which sessions it suits."""

    name: str
    strength: Literal["light", "medium", "heavy"]
    keeps: str
    suits: str


SHOWN_NAMES = 12
"""Names listed in a sentence; the rest is counted."""


@dataclass(frozen=True, slots=True)
class ParsedPolicy(Generic[P]):
    """Policy read from a product's parameters. `accepted`: keys of the settings that were set. `ignored`: unknown
    names."""

    policy: P
    accepted: tuple[str, ...]
    ignored: tuple[str, ...]

    @property
    def note(self) -> str:
        """Sentence about the ignored names, "" without any."""
        if not self.ignored:
            return ""
        more = f" and {len(self.ignored) - SHOWN_NAMES} more" if len(self.ignored) > SHOWN_NAMES else ""
        return f"ignored unknown settings: {', '.join(self.ignored[:SHOWN_NAMES])}{more}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductParameters(Generic[P]):
    """A product's parameter object as text. `read` parses it to a policy, `write` writes a policy as one.

    `read` raises BadInput in a sentence.
    """

    name: str
    about: str
    read: Callable[[str], ParsedPolicy[P]]
    write: Callable[[P], str]


class Remedy(Struct, frozen=True):
    """Policy that keeps a context small without a model. `does`: beginning of a sentence about it. `kind`: its name
    among the fixes of a diagnosis."""

    kind: str
    does: str
    policy: Policy


def _meter_value(context: Context, start: Callable[[Context, P], RunningMeter], policy: P) -> int:
    """Value of a meter over a whole context. Computed once for all policies whose meters start equal."""
    known, sizes, inputs = _cached_values(context.shape), context.layout.sizes, (policy, context.summary_versions)
    found = known.get(start)
    if found is not None and found.sizes is sizes and (found.inputs == inputs or found.begun == start(context, policy)):
        return found.value
    meter = start(context, policy)
    add_messages([meter], context.layout, 0, len(context))
    known[start] = _CachedValue(sizes, inputs, start(context, policy), meter.value)
    return meter.value


class _CachedValue(Struct, frozen=True):
    """Cached value over a whole context of a meter that started as `begun`."""

    sizes: Sizes
    inputs: tuple[Policy, Mapping[str, int]]
    begun: RunningMeter
    value: int


@per_shape
def _cached_values(shape: Shape) -> dict[object, _CachedValue]:
    return {}
