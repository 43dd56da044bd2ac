"""What every strategy's test does: run its generator by hand, and look whether what always holds, holds."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from tests.building import agent, call, context_of, conversations, result, user
from workbench.compaction.checks import check, failures
from workbench.compaction.context import Context
from workbench.compaction.outcome import Fate, Made, Outcome
from workbench.compaction.policy import Policy
from workbench.compaction.preset import default_preset
from workbench.compaction.strategy import Answer, Step, Strategy, Summary, SummaryFailed, SummaryRequest
from workbench.session import Message, Text, pairs_of

FAILED = SummaryFailed("error", "no connection")


def run(
    strategy: Strategy, context: Context, policy: Policy, answer: str | SummaryFailed = "A summary."
) -> tuple[Outcome, list[SummaryRequest]]:
    """Drive the generator by hand, every request with the same answer."""
    generator = strategy.compact(context, policy)
    requests: list[SummaryRequest] = []
    given: tuple[Answer, ...] | None = None
    while True:
        try:
            asked = generator.send(given)
        except StopIteration as stop:
            return stop.value, requests
        given = None
        if not isinstance(asked, Step):
            requests.extend(asked)
            given = tuple(Summary(answer) if isinstance(answer, str) else answer for _ in asked)


def chat(rounds: int, prefix: str = "") -> list[Message]:
    """Rounds of one request and one plain answer."""
    out: list[Message] = []
    for n in range(rounds):
        out += [user(f"{prefix}u{n}", f"request {prefix}{n}"), agent(f"{prefix}a{n}", f"answer {prefix}{n}")]
    return out


def loop(prefix: str, count: int, text: str = "x" * 200, name: str = "Bash") -> list[Message]:
    """One round with a tool loop of `count` calls."""
    out = [user(f"{prefix}u", f"request {prefix}")]
    for n in range(count):
        out += [
            agent(f"{prefix}a{n}", "", call(f"{prefix}c{n}", name, command="ls", file_path=f"{prefix}{n}.py")),
            result(f"{prefix}r{n}", (f"{prefix}c{n}", text)),
        ]
    return [*out, agent(f"{prefix}z", f"answer {prefix}")]


def later(messages: tuple[Message, ...], index: int) -> tuple[Message, ...]:
    """The message at `index` moved behind the next answer: a result that came late."""
    message = messages[index]
    rest = (*messages[:index], *messages[index + 1 :])
    answer = next((i for i in range(index, len(rest)) if rest[i].role == "assistant"), None)
    return messages if answer is None else (*rest[: answer + 1], message, *rest[answer + 1 :])


@st.composite
def contexts(draw: st.DrawFn, **wishes: Any) -> Context:
    """Any context, with pins anywhere, a split now and then, fired by hand or not. Now and then a system message stands
    in the middle, or a result comes late."""
    messages = draw(conversations())
    results = [index for index, message in enumerate(messages) if message.role == "tool"]
    if results and draw(st.booleans()):
        messages = later(messages, draw(st.sampled_from(results)))
    if messages and draw(st.booleans()):
        at = draw(st.integers(0, len(messages)))
        messages = (*messages[:at], Message("own", "system", (Text("a rule"),)), *messages[at:])
    ids = [message.id for message in messages]
    pins = draw(st.sets(st.sampled_from(ids), max_size=5)) if ids else set()
    split = draw(st.none() | st.sampled_from(ids)) if ids else None
    window = draw(st.none() | st.integers(1, 2_000))
    given = {"pins": frozenset(pins), "split_at": split, "window": window, "manual": draw(st.booleans()), **wishes}
    return context_of(messages, **given)


@st.composite
def policies(draw: st.DrawFn, strategy: Strategy[Any]) -> Policy:
    """Any policy of a strategy: its preset with any of its fields changed, numbers to such as a short conversation
    meets. What is no number, choice, switch or short text stays."""
    base = default_preset(strategy.id).policy
    drawn = {name: draw(one) for name, one in _changes(type(base)).items() if draw(st.booleans())}
    try:
        return base.with_(**drawn)
    except ValidationError:  # numbers that do not go together
        return base


def _changes(model: type[BaseModel]) -> dict[str, st.SearchStrategy[Any]]:
    found: dict[str, st.SearchStrategy[Any]] = {}
    for name, field in model.model_fields.items():
        kind = field.annotation
        if get_origin(kind) is Literal:
            found[name] = st.sampled_from(get_args(kind))
        elif kind is bool:
            found[name] = st.booleans()
        elif kind is str and not field.default:
            found[name] = st.sampled_from(["", "Ok."])
        elif kind in (int, float):
            bounds = {type(one): getattr(one, type(one).__name__.lower()) for one in field.metadata}
            low, high = bounds.get(Ge, bounds.get(Gt, 0)), bounds.get(Le, 10**6)
            near = {kind(low + more) for more in (0, 1, 3, 12, 40, 250)} | {kind(high / 2), field.default}
            found[name] = st.sampled_from(sorted(n for n in near if low <= n <= high and n != bounds.get(Gt)))
    return found


def assert_holds(
    strategy: Strategy, context: Context, policy: Policy, answer: str | SummaryFailed = "A summary."
) -> Outcome:
    """Spec/strategies.md, "What holds for every strategy", for one run; gives the outcome."""
    before = tuple(context.messages)
    outcome, requests = run(strategy, context, policy, answer)
    assert tuple(context.messages) == before, "the input never changes"
    bad = failures(check(context, outcome, strategy, policy))
    assert bad == (), [f"{one.name}: {one.detail}" for one in bad]
    assert sum(outcome.fate_counts.values()) == len(before), "fates add up"
    assert len(outcome.provenance) == len(outcome.messages)
    assert len({message.id for message in outcome.messages}) == len(outcome.messages), "ids are unique"
    open_before = {pair.id for pair in pairs_of(before) if pair.result is None}
    assert {pair.id for pair in pairs_of(outcome.messages) if pair.result is None} <= open_before
    made = {id(piece.message) for piece in outcome.pieces if isinstance(piece, Made)}
    there = {id(message) for message in outcome.messages} - made
    for index, message in enumerate(before):
        kept = outcome.fate_at(index).fate in (Fate.KEPT, Fate.PINNED)
        assert kept == (id(message) in there), (index, outcome.fate_at(index))
    for piece in outcome.pieces:
        if isinstance(piece, Made):
            assert piece.stands_for, piece.message
            assert all(0 <= span.start < span.stop <= len(before) for span in piece.stands_for)
            assert not piece.message.source
    for request in requests:
        assert request.text
        assert request.seen is not None
        for position in range(len(request.messages)):
            seen, of = request.seen(position)
            assert 0 <= seen <= of
    if outcome.status == "unchanged":
        assert outcome.messages == before
        assert outcome.reason
    again, _ = run(strategy, context, policy, answer)
    assert (again.messages, again.fates, again.trace) == (outcome.messages, outcome.fates, outcome.trace)
    return outcome


def assert_lives_on(strategy: Strategy, context: Context, policy: Policy) -> None:
    """Three generations: each works on what the one before left, with a new round between."""
    for generation in range(3):
        outcome = assert_holds(strategy, context, policy, f"Summary {generation}.")
        after = context.from_outcome(outcome)
        assert after.total.tokens == context.outcome_size(outcome).tokens
        grown = [*after.messages, *loop(f"g{generation}-", 2)]
        wishes = {"pins": after.pins, "window": context.window, "manual": context.manual}
        context = context_of(grown, **wishes)
