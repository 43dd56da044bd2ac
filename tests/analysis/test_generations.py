"""Several compactions in a row: facts that survive, growth of the summary, source of new messages."""

from __future__ import annotations

from dataclasses import replace

from tests.facts.talk import agent, call, ran, result, user
from workbench.analysis.generations import Compact, _nth, generations
from workbench.compaction.context import Context
from workbench.compaction.outcome import Fate, FateSpan, KeptSpan, NewMessage, Outcome, unchanged
from workbench.compaction.strategies import strategy
from workbench.conformance.building import METER, context_of
from workbench.session import Message, Span, Text
from workbench.summarizers.driver import drive
from workbench.summarizers.extractive import extractive

FACTS = "Never push to main. The port is 8080 and the file is src/server.py, ticket ABC-12."
MESSAGES: tuple[Message, ...] = (
    user(FACTS + " " + "x" * 400),
    *ran("pytest -q", "41 passed"),
    agent("Done. " + "y" * 300),
    user("And now the second part, please."),
    agent("Fine."),
)


def forgetful(*texts: str) -> Compact:
    """Replaces all but the last two messages by the next of `texts`."""
    summaries = iter(texts)

    def compact(context: Context) -> Outcome:
        text, stop = next(summaries), len(context) - 2
        made = Message(f"summary of {stop}: {text}", "user", (Text(text),), kind="summary")
        fates = (FateSpan(0, stop, Fate.SUMMARIZED), FateSpan(stop, len(context), Fate.KEPT))
        pieces = (NewMessage(made, (Span(0, stop),)), KeptSpan(stop, len(context)))
        return Outcome("compacted", "", context.messages, pieces, fates)

    return compact


def test_an_unreadable_summary_makes_its_generation_and_later_ones_unknown() -> None:
    context = context_of(MESSAGES)
    found = generations(context, forgetful(FACTS, "", "more words"), [], 3)
    assert found.overall[0] is not None
    assert (found.overall[1:], found.right[1:], found.weighted[1:]) == ((None, None), (None, None), (None, None))
    assert found.survival["instruction"] == (1.0, None, None)


def test_survival_and_growth_are_series() -> None:
    context = context_of(MESSAGES)
    texts = (FACTS + " `pytest -q`", FACTS + " and a bit more", "Never push to main.")
    found = generations(context, forgetful(*texts), [user("Next."), agent("z" * 2000)], 3)
    assert [step.number for step in found.steps] == [1, 2, 3]
    assert found.survival["instruction"] == (1.0, 1.0, 1.0)
    assert found.survival["identifier"] == (1.0, 1.0, 0.0)
    assert found.survival["command"] == (1.0, 0.0, 0.0)
    assert found.overall[0] > found.overall[1] > found.overall[2] > 0
    assert found.summary_tokens == tuple(len(text) // 4 + 1 for text in texts)


def test_the_session_goes_on_and_then_its_tail_is_repeated() -> None:
    context = context_of(MESSAGES)
    following = [user("Next."), *ran("make", "ok"), agent("z" * 900), agent("z" * 300)]
    found = generations(context, forgetful("a", "b", "c"), following, 3)
    first, second, third = found.steps
    assert (first.grown, second.grown) == (0, 4)  # as large as before, the last message is left for the next
    assert (second.replayed, third.replayed) == (False, True)
    assert second.before >= first.before
    assert third.before >= first.before


def test_the_last_round_is_repeated_when_the_session_ends() -> None:
    """Of a tail of rules, a picture of an answer and an error; laps and generations are told apart by their marks."""
    seen: list[Context] = []
    failed = call("Bash", {"command": "x"}, "k")
    said = (
        user("a" * 800),
        agent("b"),
        user("go"),
        agent("", failed),
        result(failed, "no", is_error=True),
        agent("so"),
    )
    rule = Message("rule", "system", (Text("rule"),))
    note = replace(user("note"), kind="meta")
    context = context_of((*said, rule, note), split_at=said[0].id)
    compact = forgetful("one", "two", "three")

    def watched(context: Context) -> Outcome:
        seen.append(context)
        return compact(context)

    found = generations(context, watched, (), 3)
    spoken = [message.id for message in said[2:]]
    second, third = ([message.id for message in one.messages] for one in seen[1:])
    laps = -(-found.steps[1].grown // len(spoken))
    marks = [f"{id}~2.{lap}" for lap in range(1, laps + 1) for id in spoken]
    assert second == ["summary of 6: one", "rule", note.id, *marks[: found.steps[1].grown]]
    assert third[3:5] == [f"{spoken[0]}~3.1", f"{spoken[1]}~3.1"]
    assert [one.split_at for one in seen] == [said[0].id, None, None]
    (answer,) = seen[1].messages[5].results
    assert (answer.call_id, answer.is_error) == ("k~2.1", True)
    assert [step.replayed for step in found.steps] == [False, True, True]
    # As large as before, to the message.
    assert seen[1].total.tokens >= context.total.tokens
    assert seen[1].total.tokens - seen[1].size(len(seen[1]) - 1, len(seen[1])).tokens < context.total.tokens


def test_repeated_messages_are_other_messages() -> None:
    seen: list[Context] = []
    reset = strategy("context-reset")

    def compact(context: Context) -> Outcome:
        seen.append(context)
        return drive(reset.run(context, reset.policy_type()), extractive).outcome

    generations(context_of([*MESSAGES, *ran("ls", "a b")]), compact, (), 4)
    for context in seen:
        ids = [message.id for message in context.messages]
        calls = [call.id for message in context.messages for call in message.calls]
        answers = [answer.call_id for message in context.messages for answer in message.results]
        assert len(set(ids)) == len(ids)
        assert len(set(calls)) == len(calls)
        assert set(answers) <= set(calls)


def test_it_ends_where_nothing_is_compacted() -> None:
    found = generations(context_of(MESSAGES), lambda context: unchanged(context.messages, "no"), (), 5)
    assert [step.status for step in found.steps] == ["unchanged"]
    assert found.survival == {}


def test_a_generation_is_named_by_its_ordinal() -> None:
    told = {1: "first", 5: "fifth", 6: "6th", 11: "11th", 13: "13th", 21: "21st", 22: "22nd", 23: "23rd", 100: "100th"}
    assert {number: _nth(number) for number in told} == told


def test_c_growth_keeps_tool_pairs_complete() -> None:
    """The calls alone fill the room that the first compaction made; their results come along, and nothing more."""
    seen: list[Context] = []
    compact = forgetful("a", "b")

    def watched(context: Context) -> Outcome:
        seen.append(context)
        return compact(context)

    context = context_of(MESSAGES)
    room = context.total.tokens - context.from_outcome(forgetful("a")(context)).total.tokens
    several = [call("Read", {"path": "y" * (room * 2)}, f"k{n}") for n in range(2)]
    following = [agent("", *several), *(result(one, "ok") for one in several), agent("Both are read."), user("Next.")]
    found = generations(context, watched, following, 2)
    assert METER.tokens(following[0]) >= room
    assert found.steps[1].grown == 3
    assert [one.id for one in seen[1].messages[-3:]] == [one.id for one in following[:3]]
    calls = {one.id for message in seen[1].messages for one in message.calls}
    assert {"k0", "k1"} <= calls == {one.call_id for message in seen[1].messages for one in message.results}
