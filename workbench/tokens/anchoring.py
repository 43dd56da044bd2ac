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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

from msgspec import Struct

from workbench.base.text import counted
from workbench.session import ExportNote, Message, Session, leading_system
from workbench.tokens.calibration import Family, Scale, calibrate, family_of
from workbench.tokens.counting import Counter, Weight, guess
from workbench.tokens.engine import estimate_tokens
from workbench.tokens.sizes import Basis, Sizes

ABSURD_RATIO = 4
"""Factor by which usage and predicted tokens of the messages between two calls must differ, in either direction, to be
inconsistent: something unrecorded was sent, or something recorded was not."""

COMPACTED = "the session that was compacted"
"""Source of an export's scale."""

ABSURD_TOKENS = 4_000
"""Difference in tokens that must also be exceeded: between calls close together, reminders that no file records make a
large ratio."""


class Call(Struct, frozen=True):
    """A recorded API call: message `index` answered a prompt of `context` tokens with `output`, None if unknown."""

    index: int
    context: int
    output: int | None
    family: Family


def calls_of(messages: Sequence[Message], model: str | None = None) -> list[Call]:
    """Return the API calls that a context records, in order. A message without a model of its own counts as `model`'s.

    A call that is older than a summary or a replaced message before it is omitted: it was billed for the context before
    that compaction.
    """
    return list(_calls(messages, model))


def first_call(messages: Sequence[Message], model: str | None = None) -> Call | None:
    """First call of `calls_of`, None without one."""
    return next(_calls(messages, model), None)


def _calls(messages: Sequence[Message], model: str | None) -> Iterator[Call]:
    replaced = float("-inf")
    for index, message in enumerate(messages):
        time, usage = message.time, message.usage
        if time is not None:
            if message.kind == "summary" or not message.source:
                replaced = max(replaced, time)
            if time < replaced:
                continue
        if usage is None or message.role != "assistant" or not (bill := message.bill):
            continue
        family = family_of(message.model or model)
        output = usage.output if usage.output_final and usage.output > 0 and family.output_stays else None
        yield Call(index, bill, output, family)


def overhead_at(first: Call, messages: Sequence[Message], model: str | None) -> int:
    """Return the tokens that the first call was billed for in addition to the messages before it, estimated from
    characters. Equals the overhead that `sizes_of` returns for a context that ends with this call while nothing is
    counted."""
    family = family_of(model) if model else first.family
    before = messages[: first.index]
    return _unsaid(first, [round(family.tokens(message.role, guess(message))) for message in before])


def _unsaid(first: Call, before: Sequence[int]) -> int:
    return max(0, first.context - sum(before))


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
    scale = calibrate(_ordinary_stretches(calls, base)) if counted else Scale()
    if export_note:
        scale = Scale(export_note.scale, source=COMPACTED)
    meter = SessionMeter(counter, family, scale, counted)
    plan = _Plan([round(scale.value * figure) for figure in base], weights, family)
    if calls:
        plan.anchor(calls)
    elif export_note:
        plan.overhead = max(0, export_note.prompt - sum(plan.tokens[: leading_system(messages)]))
        plan.overhead_basis = Basis.CALIBRATED
    elif overhead_hint is not None:
        plan.overhead, plan.overhead_basis = overhead_hint, Basis.CALIBRATED
    elif recorded is not None and plan.fit_recorded(recorded, _newest_answer(messages)):
        pass
    elif earlier is not None:
        plan.overhead, plan.overhead_basis = earlier, Basis.CALIBRATED
    elif texts := [text for text in overhead_texts if text]:
        plan.overhead, plan.overhead_basis = sum(map(meter.text_tokens, texts)), meter.basis
    return plan.sizes(meter)


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
    return _unsaid(first, [round(tokens(one.role, counter.glance(one))) for one in known])


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


def _opening_before(session: Session, epoch: int) -> tuple[Call, tuple[Message, ...]] | None:
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
    told, counts = sum(sizes.tokens[lead:]), sum(map(sizes.meter.tokens, messages[lead:]))
    factor = sizes.meter.scale.value if isinstance(sizes.meter, SessionMeter) else 1.0
    scale = factor * told / counts if told > 0 and counts else factor
    return ExportNote(model, window, sizes.overhead + sum(sizes.tokens[:lead]), scale)


def billed_beyond(messages: Sequence[Message], model: str | None, sizes: Sizes) -> array[int]:
    """For each message, tokens billed in addition to the messages before it, by the newest usage up to it, else by the
    first usage after it; the overhead if no usage is recorded."""
    before = array("q", accumulate(sizes.tokens, initial=0))
    bills = {call.index: call.context - before[call.index] for call in calls_of(messages, model)}
    now = next(iter(bills.values()), sizes.overhead)
    out = array("q")
    for index in range(len(messages)):
        now = bills.get(index, now)
        out.append(now)
    return out


def rescaled(sizes: Sizes, scale: Scale) -> Sizes:
    """Sizes with another scale, from an exact count. Figures anchored on usage stay. While messages are still being
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


def share(total: int, weights: Sequence[int]) -> list[int]:
    """Split `total` in proportion to `weights` (≥ 0) into parts that add up to it exactly; each differs by less than 1
    from its exact share. If all weights are 0, the first part gets everything."""
    whole = sum(weights)
    if not whole:
        return [total, *([0] * (len(weights) - 1))] if weights else []
    uptos = [(2 * total * running + whole) // (2 * whole) for running in accumulate(weights, initial=0)]
    return [upto - before for before, upto in pairwise(uptos)]


def _ordinary_stretches(calls: Sequence[Call], base: Sequence[float]) -> list[tuple[int, float]]:
    """(billed, predicted) tokens between two calls, for each pair of calls that a session's scale can be learnt
    from."""
    found: list[tuple[int, float]] = []
    for call, after in pairwise(calls):
        billed, predicted = after.context - call.context, sum(base[call.index : after.index])
        if call.family is after.family and billed > 0 and not _absurd(billed, predicted):
            found.append((billed, predicted))
    return found


def _absurd(billed: int, predicted: float) -> bool:
    far = billed * ABSURD_RATIO < predicted or billed > predicted * ABSURD_RATIO
    return far and abs(billed - predicted) > ABSURD_TOKENS


class _Plan:
    """Figures under construction: initially calibrated weights; `anchor` fits them to the usage."""

    def __init__(self, tokens: list[int], weights: Sequence[Weight], family: Family) -> None:
        self.tokens = tokens
        self.basis = [Basis.CALIBRATED if w.exact and family.known else Basis.ESTIMATE for w in weights]
        self.overhead = 0
        self.overhead_basis = Basis.ESTIMATE
        self.anchored_until = 0
        self._restart: tuple[int, int] | None = None

    def sizes(self, meter: SessionMeter) -> Sizes:
        alike = len(set(self.basis)) <= 1
        basis = (self.basis[0] if self.basis else meter.basis) if alike else tuple(self.basis)
        return Sizes(array("q", self.tokens), basis, self.overhead, self.overhead_basis, self.anchored_until, meter)

    def anchor(self, calls: Sequence[Call]) -> None:
        first = calls[0]
        self._open_with(first)
        for call, after in pairwise(calls):
            self._fit_stretch(call, after)
        self._apply_restart()
        last = calls[-1]
        self.anchored_until = last.index
        if last.output is not None:
            self._bill(last.index, last.index + 1, last.output)
            self.anchored_until = last.index + 1

    def fit_recorded(self, total: int, stop: int) -> bool:
        """Fit the messages before `stop` and the overhead to a size that the agent recorded. False, and nothing is
        changed, if the messages are so much larger that the size must belong to another context."""
        known = self.tokens[:stop]
        if _absurd(total, sum(known)) and total < sum(known):
            return False
        self.overhead, self.overhead_basis = max(0, total - sum(known)), Basis.CALIBRATED
        if not self.overhead:
            self.tokens[:stop] = share(total, known)
        return True

    def _open_with(self, first: Call) -> None:
        """Set the overhead (system prompt and tools) to the tokens that the first call was billed for in addition to
        the messages before it."""
        known = self.tokens[: first.index]
        self.overhead = _unsaid(first, known)
        guessed = Basis.ESTIMATE in self.basis[: first.index]
        self.overhead_basis = Basis.ESTIMATE if guessed else Basis.CALIBRATED
        if not self.overhead:
            self.tokens[: first.index] = share(first.context, known)

    def _fit_stretch(self, call: Call, after: Call) -> None:
        start, stop = call.index, after.index
        billed = after.context - call.context
        rest = sum(self.tokens[start + 1 : stop])
        said = call.output if call.output is not None and call.output * 2 >= self.tokens[start] else None
        predicted = rest + (self.tokens[start] if said is None else said)
        if call.family is not after.family or billed <= 0 or (billed < predicted and _absurd(billed, predicted)):
            self._start_over(call, after, predicted)
        elif _absurd(billed, predicted):
            # Far more was billed than the messages hold: attachments, reminders, new tools. Count the rest as overhead.
            self.overhead += billed - predicted
            if said is not None:
                self.tokens[start] = said
        elif said is not None and said < billed and rest and not _absurd(billed - said, rest):
            self._bill(start, start + 1, said)
            self._bill(start + 1, stop, billed - said)
        else:
            self._bill(start, stop, billed)

    def _start_over(self, call: Call, after: Call, predicted: int) -> None:
        """Fit all messages before `after` to its usage again, because the context shrank or the tokenizer changed."""
        if call.family is not after.family or after.context <= self.overhead:
            self.overhead = after.context * self.overhead // (call.context + predicted)
        # Only the last restart determines the figures; fitting at each one would take quadratic time.
        self._restart = after.index, after.context - self.overhead

    def _apply_restart(self) -> None:
        if self._restart is None:
            return
        stop, total = self._restart
        self.tokens[:stop] = share(total, self.tokens[:stop])
        self.basis[:stop] = [Basis.CALIBRATED if basis is Basis.EXACT else basis for basis in self.basis[:stop]]

    def _bill(self, start: int, stop: int, total: int) -> None:
        """Fit messages `start`..`stop` to their usage. A single message gets an exact figure; several get shares of an
        exact sum."""
        if stop - start == 1:
            self.tokens[start] = total
            self.basis[start] = Basis.EXACT
        else:
            self.tokens[start:stop] = share(total, self.tokens[start:stop])
