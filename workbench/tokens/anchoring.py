"""Token figures for the messages of a context, anchored on the provider's usage (docs/tokens.md).

A recorded API call states exactly how many tokens came before it. The messages between two calls therefore have an
exact total, which is divided among them in proportion to their calibrated weights. Weights alone are used before the
first call, after the last, and where a call was sent more or less than the recorded messages.

A message has two figures that differ a little: its share in `Sizes`, which adds up to the usage, and `Meter.tokens`,
the same function for every message, recorded or new. Compare sizes before and after a compaction with the meter on both
sides.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate

from msgspec import Struct

from workbench.base.text import counted
from workbench.session import ExportNote, Message, Session, leading_system
from workbench.tokens.calibration import Family, Scale, calibrate, family_of
from workbench.tokens.counting import Counter, guess
from workbench.tokens.engine import estimate_tokens
from workbench.tokens.fitting import Figures, MeasuredCall, calls_of, consistent_intervals, first_call, unexplained
from workbench.tokens.sizes import Basis, Sizes

COMPACTED = "the session that was compacted"
"""Source of an export's scale."""


class SessionMeter(Struct, frozen=True):
    """`Meter` of one session: o200k counts × the family's coefficients × the session's own scale.

    While counting is not finished (`counted` false), every message is estimated from its characters, so that
    comparisons use one method.
    """

    counter: Counter
    family: Family
    scale: Scale
    counted: bool

    @property
    def basis(self) -> Basis:
        return Basis.CALIBRATED if self.counted and (self.family.known or self.scale.source) else Basis.ESTIMATE

    @property
    def method(self) -> str:
        if not self.counted:
            return f"characters × {self.family.id} coefficients (still counting)"
        if not self.family.known:
            words = "o200k tokens, raw: the model's tokenizer is not known"
        elif self.family.assistant == self.family.other == 1:
            words = f"o200k + {self.family.message:g} per message ({self.family.id})"
        else:
            words = f"o200k × {self.family.id} coefficients"
        if self.scale.source:
            return f"{words} × {self.scale.value:.2f} from {self.scale.source}"
        if not self.scale.calls:
            return words
        return f"{words} × {self.scale.value:.2f} from {counted(self.scale.calls, 'call')}"

    def tokens(self, message: Message) -> int:
        weight = self.counter.weigh(message) if self.counted else guess(message)
        return round(self.scale.value * self.family.tokens(message.role, weight))

    def text_tokens(self, text: str) -> int:
        """Tokens of a text that the model did not write: a prompt, a file, a rule."""
        tokens = self.counter.text(text) if self.counted else estimate_tokens(text)
        return round(self.scale.value * self.family.other * tokens)


def sizes_of(
    messages: Sequence[Message],
    model: str | None,
    counter: Counter,
    overhead_texts: Iterable[str] = (),
    overhead_hint: int | None = None,
    export_note: ExportNote | None = None,
    earlier: int | None = None,
    recorded: int | None = None,
) -> Sizes:
    """Return the sizes of a context from the counts so far; call it again when more has been counted.

    Messages that `counter` has not counted yet are estimated. If the context records no API call, the unrecorded
    overhead comes from the first of these that is known: `export_note` of an export by this program; `overhead_hint`,
    the agent's own count; the rest of `recorded`, the agent's figure for the context up to its newest answer;
    `earlier`, the overhead of a call before the compaction; the tokens of `overhead_texts` (system prompt, tool
    definitions).
    """
    calls = calls_of(messages, model)
    family = family_of(model) if model or not calls else calls[-1].family
    weights = [counter.glance(message) for message in messages]
    of = family.tokens
    base = [of(message.role, weight) for message, weight in zip(messages, weights, strict=True)]
    counted = all(weight.counted for weight in weights)
    export_note = None if calls else export_note
    scale = calibrate(consistent_intervals(calls, base)) if counted else Scale()
    if export_note:
        scale = Scale(export_note.scale, source=COMPACTED)
    meter = SessionMeter(counter, family, scale, counted)
    figures = Figures([round(scale.value * figure) for figure in base], weights, family)
    if calls:
        figures.anchor(calls)
    elif export_note:
        figures.overhead = max(0, export_note.prompt - sum(figures.tokens[: leading_system(messages)]))
        figures.overhead_basis = Basis.CALIBRATED
    elif overhead_hint is not None:
        figures.overhead, figures.overhead_basis = overhead_hint, Basis.CALIBRATED
    elif recorded is not None and figures.fit_recorded(recorded, _newest_answer(messages)):
        pass
    elif earlier is not None:
        figures.overhead, figures.overhead_basis = earlier, Basis.CALIBRATED
    elif texts := [text for text in overhead_texts if text]:
        figures.overhead, figures.overhead_basis = sum(map(meter.text_tokens, texts)), meter.basis
    return figures.sizes(meter)


def session_sizes(session: Session, epoch: int, counter: Counter, scale: Scale | None = None) -> Sizes:
    """Return the sizes of epoch number `epoch`: by the session's model, with its system prompt and tool definitions,
    scaled by `scale` from an exact count if there was one. Every display of an epoch's tokens uses these figures."""
    messages, facts = session.context(epoch), session.facts
    texts = (session.system, *(tool.schema for tool in session.tools))
    now = facts.tokens_now if epoch == len(session.epochs) else None
    earlier = overhead_before(session, epoch, counter)
    if earlier is None and _is_sized_later(session, epoch):
        earlier = session_sizes(session, len(session.epochs), counter).overhead
    sizes = sizes_of(messages, session.model, counter, texts, facts.overhead, facts.export_note, earlier, now)
    if scale is None:
        return sizes
    scaled = rescaled(sizes, scale)
    is_from_before = earlier is not None and not sizes.anchored_until
    return replace(scaled, overhead=sizes.overhead) if is_from_before else scaled


def overhead_before(session: Session, epoch: int, counter: Counter) -> int | None:
    """Unrecorded overhead at the first call of the newest epoch before `epoch` that records a call; None without one.
    The first call is used because only system prompt and tools are still sent after a compaction; later calls may
    include more (attached files)."""
    opening = _opening_before(session, epoch)
    if opening is None:
        return None
    first, known = opening
    tokens = first.family.tokens
    return unexplained(first, [round(tokens(one.role, counter.glance(one))) for one in known])


def to_weigh(session: Session, epoch: int) -> tuple[Message, ...]:
    """Messages whose weights `session_sizes` needs for an epoch: its own and, if it records no call, those of the other
    epoch that shows its unrecorded overhead."""
    messages = session.context(epoch)
    if first_call(messages, session.model):
        return messages
    opening = _opening_before(session, epoch)
    more = opening[1] if opening else session.context() if _is_sized_later(session, epoch) else ()
    return (*messages, *more)


def _is_sized_later(session: Session, epoch: int) -> bool:
    """True if the newest epoch comes after `epoch`, records no call, and has a context size recorded by the agent, from
    which the unrecorded overhead follows."""
    is_later = epoch < len(session.epochs) and bool(session.facts.tokens_now)
    return is_later and first_call(session.context(), session.model) is None


def _opening_before(session: Session, epoch: int) -> tuple[MeasuredCall, tuple[Message, ...]] | None:
    """First call of the newest epoch before `epoch` that records a call, and the messages before it; None without
    one."""
    for before in range(epoch - 1, 0, -1):
        messages = session.context(before)
        if first := first_call(messages, session.model):
            return first, messages[: first.index]
    return None


def _newest_answer(messages: Sequence[Message]) -> int:
    """Number of messages up to and including the newest answer; the number of all messages without an answer."""
    answers = (index for index in range(len(messages), 0, -1) if messages[index - 1].role == "assistant")
    return next(answers, len(messages))


def export_note_of(sizes: Sizes, messages: Sequence[Message], model: str | None, window: int | None) -> ExportNote:
    """Return the note that makes an export show these sizes when it is reopened."""
    lead = leading_system(messages)
    shown, counts = sum(sizes.tokens[lead:]), sum(map(sizes.meter.tokens, messages[lead:]))
    factor = sizes.meter.scale.value if isinstance(sizes.meter, SessionMeter) else 1.0
    scale = factor * shown / counts if shown > 0 and counts else factor
    return ExportNote(model, window, sizes.overhead + sum(sizes.tokens[:lead]), scale)


def billed_beyond(messages: Sequence[Message], model: str | None, sizes: Sizes) -> array[int]:
    """For each message, tokens billed in addition to the messages before it, by the newest usage up to it, else by the
    first usage after it; the overhead if no usage is recorded."""
    before = array("q", accumulate(sizes.tokens, initial=0))
    beyond = {call.index: call.context - before[call.index] for call in calls_of(messages, model)}
    now = next(iter(beyond.values()), sizes.overhead)
    out = array("q")
    for index in range(len(messages)):
        now = beyond.get(index, now)
        out.append(now)
    return out


def rescaled(sizes: Sizes, scale: Scale) -> Sizes:
    """Sizes with another scale, from an exact count. Figures anchored on usage are kept. While messages are still being
    counted, the sizes are returned unchanged."""
    meter = sizes.meter
    if not isinstance(meter, SessionMeter) or not meter.counted:
        return sizes
    factor, start = scale.value / meter.scale.value, sizes.anchored_until
    tokens = array("q", sizes.tokens)
    for index in range(start, len(tokens)):
        tokens[index] = round(tokens[index] * factor)
    basis = sizes.basis
    if not meter.family.known:
        after = (Basis.CALIBRATED,) * (len(tokens) - start)
        basis = (*(sizes.basis_of(index) for index in range(start)), *after) if start else Basis.CALIBRATED
    return Sizes(
        tokens,
        basis,
        sizes.overhead if start else round(sizes.overhead * factor),
        sizes.overhead_basis if start else Basis.CALIBRATED,
        start,
        SessionMeter(meter.counter, meter.family, scale, counted=True),
    )


def span_basis(sizes: Sizes, billed: dict[int, int], start: int, stop: int) -> Basis:
    """Basis of the sum of messages `start`..`stop`. `billed`: from `billed_points`."""
    if start in billed and billed[start] == billed.get(stop):
        return Basis.EXACT
    if isinstance(sizes.basis, Basis):
        return sizes.basis
    return Basis.ESTIMATE if Basis.ESTIMATE in sizes.basis[start:stop] else Basis.CALIBRATED


def billed_points(sizes: Sizes, messages: Sequence[Message]) -> dict[int, int]:
    """Places between messages at which usage is known, each with the tokens billed in addition to the messages before
    it.

    The messages between two places with the same value have an exact sum: the difference of two usages.
    """
    points: dict[int, int] = {}
    before = array("q", accumulate(sizes.tokens, initial=0))
    for call in calls_of(messages):
        points[call.index] = call.context - before[call.index]
        usage = messages[call.index].usage
        if usage is not None and usage.output_final and usage.output > 0:
            points.setdefault(call.index + 1, call.context + usage.output - before[call.index + 1])
    return points
