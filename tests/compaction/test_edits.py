"""Manual edits: pairs are edited together, pins win, fates add up, and the strategy works on the edited context."""

from __future__ import annotations

from array import array
from dataclasses import replace

import pytest
from hypothesis import given as over
from hypothesis import strategies as st

from workbench.base.figures import grouped
from workbench.compaction.checks import check
from workbench.compaction.context import Context, Layout
from workbench.compaction.edits import (
    SHORT_CHARS,
    UNEDITED,
    Edits,
    apply_edits,
    compacting,
    context_after_edits,
    named,
    nearest,
    shortened_message,
)
from workbench.compaction.invariants import with_pairs
from workbench.compaction.outcome import Fate, KeptSpan, NewMessage, Outcome, Rung, unchanged
from workbench.compaction.preset import load_preset
from workbench.compaction.strategies import strategy
from workbench.conformance.building import agent, call, context_of, loop, result, user
from workbench.conformance.drawn import contexts
from workbench.session import Message, Span, Text, Thinking, ToolResult
from workbench.summarizers.driver import drive
from workbench.summarizers.estimate import estimate

LONG = "x" * 3_000


def talk() -> list[Message]:
    """A round with two parallel calls and a long result, then two plain ones."""
    return [
        user("u0", "first"),
        agent("a1", "", call("c1"), call("c2")),
        result("r2", ("c1", LONG)),
        result("r3", ("c2", "short")),
        agent("a4", LONG),
        user("u5", "second"),
        agent("a6", "done"),
    ]


def done(context: Context, edits: Edits, preset: str = "augment-example", **changes: object) -> Outcome:
    chosen = load_preset(preset)
    policy = chosen.policy.with_(**changes)
    return drive(compacting(context, edits, strategy(chosen.strategy), policy), estimate).outcome


@pytest.mark.parametrize("id", ["a1", "r2", "r3"])
def test_dropping_either_end_drops_the_whole_batch(id: str) -> None:
    first = apply_edits(context_of(talk()), Edits(dropped=frozenset({id})))
    assert [m.id for m in first.messages] == ["u0", "a4", "u5", "a6"]
    assert [first.fate_at(i).fate for i in range(1, 4)] == [Fate.DROPPED] * 3


def test_a_pin_wins_over_dropping_either_end_and_over_shortening() -> None:
    context = context_of(talk(), pins=frozenset({"r3"}))
    first = apply_edits(context, Edits(frozenset({"a1"}), frozenset({"r2", "a4"})))
    assert first.messages[:4] == tuple(context.messages[:4])
    assert first.fate_at(1).fate is Fate.PINNED
    assert first.fate_at(4).fate is Fate.COMPRESSED
    # A thousand characters are cut, of 3,000: 750 tokens of the 751 become 250 of 251.
    said = "message 5 shortened"
    told = (f"manual edit: {said}: {grouped(1_514)} → {grouped(1_014)} tokens",)
    assert (first.status, first.reason, first.trace) == ("compacted", said, told)
    assert first.rungs == (Rung("manual edit", 1_514, 1_014, said),)


@pytest.mark.parametrize(
    ("indexes", "said"),
    [
        ([0], "message 1"),
        ([4, 3, 8], "messages 4–5, 9"),
        ([0, 2, 4, 6], "messages 1, 3, 5, 7"),
        ([0, 2, 4, 6, 8], "5 messages"),
        (range(0, 2_400, 2), f"{grouped(1_200)} messages"),
    ],
)
def test_messages_by_their_numbers(indexes: list[int], said: str) -> None:
    assert named(indexes) == said


@pytest.mark.parametrize(
    ("left", "id", "found"),
    [
        ("u0 a4 u5", None, None),
        ("u0 a4 u5", "u5", "u5"),
        ("u0 a4 u5", "elsewhere", "elsewhere"),
        ("u0 a4 u5", "r2", "a4"),
        ("u0 a1 u5", "a6", "u5"),
        ("u0 a1", "a6", "a1"),
        ("", "a6", None),
    ],
)
def test_the_nearest_is_the_next_that_is_left_else_the_last_before(
    left: str, id: str | None, found: str | None
) -> None:
    after = context_of([message for message in talk() if message.id in left.split()])
    assert nearest(context_of(talk()).shape, after.shape, id) == found


def test_a_shortened_message_keeps_id_and_shape_and_loses_its_middle() -> None:
    message = Message("m", "assistant", (Thinking(LONG, "s"), Text(LONG), call("c", command=LONG)), source=(3,))
    answer = replace(result("r", ("c", LONG)), source=(4,))
    context = context_of([user("u", "go"), message, answer])
    first = apply_edits(context, Edits(shortened=frozenset({"m", "r"})))
    _, short, cut = first.messages
    assert (short.id, short.source, cut.id) == ("m", (), "r")
    assert short.blocks[0] is message.blocks[0]
    assert short.blocks[2] is message.blocks[2]
    assert [len(short.text), len(cut.results[0].text)] == [SHORT_CHARS, SHORT_CHARS]
    assert "…" in short.text
    assert first.provenance[1:] == ((Span(1, 2),), (Span(2, 3),))
    assert isinstance(cut.blocks[0], ToolResult)
    exact = "x" * SHORT_CHARS
    for whole in (agent("m", exact, call("c", command=LONG)), result("r", ("c", exact))):
        assert shortened_message(whole) is whole


def test_without_an_effect_the_strategy_works_on_the_very_context() -> None:
    context = context_of(talk(), pins=frozenset({"u0"}))
    for edits in (UNEDITED, Edits(frozenset({"u0", "not there"}), frozenset({"u5"}))):
        assert context_after_edits(context, edits) is context
        assert done(context, edits) == done(context, UNEDITED)
        why = "the edits change nothing: their messages are pinned or already short"
        assert apply_edits(context, edits) == unchanged(context.messages, why)


def test_an_unchanged_outcome_still_shows_the_edits() -> None:
    context = context_of(talk(), split_at="u0")
    plain = done(context, UNEDITED)
    outcome = done(context, Edits(frozenset({"u5"}), frozenset({"a4"})))
    assert plain.status == "unchanged"
    assert outcome.status == "compacted"
    assert "message 6 dropped, message 5 shortened" in outcome.reason
    assert outcome.fate_counts[Fate.DROPPED] == 1
    assert outcome.fate_counts[Fate.COMPRESSED] == 1
    assert [rung.name for rung in outcome.rungs] == ["manual edit"]


def test_where_no_trigger_fires_edits_change_nothing_either() -> None:
    context = context_of(talk(), manual=False)
    outcome = done(context, Edits(dropped=frozenset({"u5"})))
    assert outcome.status == "unchanged"
    assert outcome.messages == tuple(context.messages)


def test_a_shortened_message_that_is_summarized_is_summarized_and_seen_in_part() -> None:
    context = context_of([*loop("a", 4, LONG), *loop("b", 4, LONG)], split_at="bu")
    outcome = done(context, Edits(frozenset({"ar1"}), frozenset({"ar0", "br0"})))
    fates = {context.messages[i].id: outcome.fate_at(i) for i in range(len(context))}
    assert (fates["ar0"].fate, fates["ar0"].saw) == (Fate.SUMMARIZED, "part")
    assert fates["ar1"].fate is fates["aa1"].fate is Fate.DROPPED
    assert fates["br0"].fate is Fate.COMPRESSED
    assert outcome.split == context.shape.index_of["bu"]


def test_the_tail_begins_at_the_split_though_a_message_in_it_is_dropped() -> None:
    context = context_of([*loop("a", 4), *loop("b", 4)], split_at="bu")
    assert done(context, Edits(dropped=frozenset({"br2"}))).split == context.shape.index_of["bu"]


def test_a_dropped_split_message_hands_the_split_to_the_next_one() -> None:
    context = context_of([*loop("a", 4), *loop("b", 4)], split_at="bu")
    left = context_after_edits(context, Edits(dropped=frozenset({"bu"})))
    assert left.split_at == "ba0"
    assert context_after_edits(context, Edits(dropped=frozenset({"au"}))).layout is not left.layout


def test_a_moved_split_shares_the_layout_that_the_edits_left() -> None:
    context = context_of([*loop("a", 4), *loop("b", 4)])
    edits = Edits(dropped=frozenset({"au"}))
    layout = context_after_edits(context, edits).layout
    assert context_after_edits(context.with_(split_at="bu"), edits).layout is layout
    counted = replace(context.layout.sizes, tokens=array("q", [9] * len(context)))
    again = context_after_edits(context.with_(layout=Layout(context.shape, counted)), edits).layout
    assert again.shape is layout.shape
    assert list(again.sizes.tokens) == [9] * (len(context) - 1)
    fresh = context_of(list(layout.messages)).layout
    assert (layout.shape.api_chars, layout.shape.chars) == (fresh.shape.api_chars, fresh.shape.chars)
    assert layout.tokens == fresh.tokens


def edits_of(context: Context) -> st.SearchStrategy[Edits]:
    ids = st.sets(st.sampled_from([m.id for m in context.messages]), max_size=6) if len(context) else st.just(set())
    return st.builds(Edits, ids.map(frozenset), ids.map(frozenset))


@pytest.mark.parametrize(
    "preset", ["augment-example", "trim", "progressive", "layered", "clear-tool-results", "claude-code"]
)
@over(st.data())
def test_pairs_are_whole_pins_identical_and_fates_add_up(preset: str, data: st.DataObject) -> None:
    long = data.draw(st.booleans())
    context = data.draw(contexts())
    if long:
        context = context.with_(layout=context_of([_longer(m) for m in context.messages]).layout)
    edits = data.draw(edits_of(context))
    chosen = load_preset(preset)
    outcome = done(context, edits, preset)
    verdicts = {c.name: c for c in check(context, outcome, strategy(chosen.strategy), chosen.policy)}
    for name in (
        "tool pairs complete",
        "call batches together",
        "pinned messages unchanged",
        "system messages unchanged",
        "kept messages unchanged",
        "every message has a fate",
        "no empty messages",
    ):
        assert verdicts[name].passed, verdicts[name]
    assert sum(outcome.fate_counts.values()) == len(context)
    assert len(outcome.provenance) == len(outcome.messages)
    left = {id(m) for m in outcome.messages}
    for index, message in enumerate(context.messages):
        assert (outcome.fate_at(index).fate in (Fate.KEPT, Fate.PINNED)) == (id(message) in left)
    for piece in outcome.pieces:
        if isinstance(piece, NewMessage):
            assert piece.replaces
        else:
            assert isinstance(piece, KeptSpan)
    if context.manual:
        pinned = with_pairs(context.shape, [context.shape.index_of[id] for id in context.pins])
        gone = with_pairs(context.shape, [context.shape.index_of[id] for id in edits.dropped])
        gone -= pinned | frozenset(context.shape.own_system)
        assert all(outcome.fate_at(i).fate is Fate.DROPPED for i in gone)


def _longer(message: Message) -> Message:
    def longer(block: object) -> object:
        match block:
            case Text(text):
                return Text(text * 60 + LONG)
            case ToolResult(of, content, error):
                return ToolResult(of, tuple(Text(LONG) if isinstance(p, Text) else p for p in content), error)
        return block

    return replace(message, blocks=tuple(map(longer, message.blocks)))  # type: ignore[arg-type]
