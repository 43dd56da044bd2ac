"""Differences from "all replaced" give the same pieces, fates and sizes as a new computation."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from workbench.compaction.context import Context, Layout
from workbench.compaction.fates import Painting, Stroke, painted
from workbench.compaction.outcome import Fate
from workbench.compaction.spans import pieces_in_place, spans_of
from workbench.compaction.strategies.clear_tool_results import STRATEGY, ClearToolResultsPolicy, Replacements
from workbench.conformance.building import agent, context_of, loop, user
from workbench.conformance.drawn import contexts
from workbench.conformance.strategies import run
from workbench.session import Span
from workbench.tokens.sizes import Basis

COUNT = 12
indexes = st.sets(st.integers(0, COUNT - 1))
spans = st.lists(st.tuples(st.integers(0, COUNT), st.integers(0, 4)).map(lambda at: Span(at[0], min(COUNT, sum(at)))))
strokes = st.lists(st.builds(Stroke, st.sampled_from(Fate), spans, st.sampled_from(("all", "part", "nothing"))))


@given(strokes, strokes)
def test_painting_over_is_painting_all_of_it(first: list[Stroke], more: list[Stroke]) -> None:
    painting = Painting(COUNT, first)
    assert painting.fates == painted(COUNT, first)
    assert painting.over(more) == painted(COUNT, [*first, *more])
    assert painting.over([]) == painting.fates


@given(
    indexes, st.dictionaries(st.integers(0, COUNT - 1), st.booleans()), indexes, st.sampled_from(Basis), st.booleans()
)
def test_replaced_but_for_some_is_what_replacing_those_alone_gives(
    whole: set[int], but: dict[int, bool], pins: set[int], basis: Basis, mixed: bool
) -> None:
    made = [user(f"u{i}", "word " * 30) if i % 2 else agent(f"a{i}", "word " * 30) for i in range(COUNT)]
    plain = context_of(made)
    sizes = replace(plain.layout.sizes, basis=[basis, Basis.CALIBRATED] * (COUNT // 2) if mixed else basis)
    context = Context(Layout(plain.shape, sizes))
    new = {i: user(made[i].id, f"short {i}") for i in whole}
    other = {i: user(made[i].id, "between") if half else None for i, half in but.items() if i in whole}
    left = {i: instead for i, message in new.items() if (instead := other.get(i, message)) is not None}

    outcome = Replacements(COUNT, new).outcome(context, other, pins)
    assert outcome.pieces == tuple(pieces_in_place(Span(0, COUNT), left))
    kept = Stroke(Fate.KEPT, [Span(0, COUNT)])
    told = [kept, Stroke(Fate.COMPRESSED, spans_of(sorted(left))), Stroke(Fate.PINNED, spans_of(sorted(pins)))]
    assert outcome.fates == painted(COUNT, told)
    looked_at = Context(Layout(plain.shape, sizes))
    assert context.outcome_size(outcome) == looked_at.outcome_size(outcome)


@given(contexts(manual=True, split_at=None), st.data())
def test_a_plan_is_the_same_whatever_was_planned_before_it(context: Context, data: st.DataObject) -> None:
    messages = [*context.messages, *loop("late", 5)]
    context = context_of(messages, pins=context.pins)
    ids = st.sets(st.sampled_from([message.id for message in messages]), max_size=4)
    for _ in range(3):
        context = context.with_(pins=frozenset(data.draw(ids)))
        policy = ClearToolResultsPolicy(
            keep_tool_uses=data.draw(st.integers(0, 6)),
            exclude_tools=data.draw(st.sampled_from(("", "Read", "Bash"))),
            clear_tool_inputs=data.draw(st.booleans()),
            placeholder=data.draw(st.sampled_from(("[gone]", "[gone and longer]"))),
        )
        fresh = context_of(messages, pins=context.pins)
        again, anew = run(STRATEGY, context, policy)[0], run(STRATEGY, fresh, policy)[0]
        assert again == anew
        assert context.outcome_size(again) == fresh.outcome_size(anew)
