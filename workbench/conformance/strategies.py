"""Checks of a strategy. Whatever its policy, every message has a fate, tool pairs stay together, the input is not
changed, and new messages replace existing ones.

Call each of `CHECKS` with the strategy and a policy that compacts a conversation of thirty short messages. A strategy
need not use a model, support earlier summaries, or have a preset.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.compaction.checks import check, failures
from workbench.compaction.context import Context
from workbench.compaction.outcome import Fate, NewMessage, Outcome
from workbench.compaction.policy import Policy
from workbench.compaction.settings import settings_of
from workbench.compaction.strategy import ProgressStep, Strategy
from workbench.compaction.summary_request import Answer, FailureKind, Summary, SummaryFailed, SummaryRequest
from workbench.conformance.building import agent, call, chat, context_of, loop, result, summary, user
from workbench.conformance.drawn import contexts, policies
from workbench.session import Message, Text, pairs_of
from workbench.summarizers.driver import drive
from workbench.summarizers.estimate import estimate

FAILED = SummaryFailed("error", "no connection")
Answered = str | SummaryFailed | Callable[[SummaryRequest], Answer]


def run(
    strategy: Strategy[Any],
    context: Context,
    policy: Policy,
    answer: Answered = "A summary.",
    on_step: Callable[[ProgressStep], object] = lambda step: None,
) -> tuple[Outcome, list[SummaryRequest]]:
    """Run a strategy and return its outcome and requests. Each request gets `answer`, or what `answer` returns for it.
    `on_step` is called with each progress step."""
    generator = strategy.run(context, policy)
    requests: list[SummaryRequest] = []
    received: tuple[Answer, ...] | None = None
    while True:
        try:
            event = generator.send(received)
        except StopIteration as stop:
            return stop.value, requests
        received = None
        if isinstance(event, ProgressStep):
            on_step(event)
        else:
            requests.extend(event)
            answers = [answer(request) if callable(answer) else answer for request in event]
            received = tuple(Summary(one) if isinstance(one, str) else one for one in answers)


def assert_holds(
    strategy: Strategy[Any], context: Context, policy: Policy, answer: str | SummaryFailed = "A summary."
) -> Outcome:
    """Run a strategy twice, assert what must hold after every run, and return the outcome."""
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
    new = {id(piece.message) for piece in outcome.pieces if isinstance(piece, NewMessage)}
    there = {id(message) for message in outcome.messages} - new
    assert all(id(message) in there for message in before if message.id in context.pins), "a pin stays as it is"
    for index, message in enumerate(before):
        kept = outcome.fate_at(index).fate in (Fate.KEPT, Fate.PINNED)
        assert kept == (id(message) in there), (index, outcome.fate_at(index))
    for piece in outcome.pieces:
        if isinstance(piece, NewMessage):
            assert piece.replaces, piece.message
            assert all(0 <= span.start < span.stop <= len(before) for span in piece.replaces)
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


def assert_lives_on(strategy: Strategy[Any], context: Context, policy: Policy) -> None:
    """Compact three times in succession, with a new round after each compaction."""
    for generation in range(3):
        outcome = assert_holds(strategy, context, policy, f"Summary {generation}.")
        after = context.from_outcome(outcome)
        assert after.total.tokens == context.outcome_size(outcome).tokens
        grown = [*after.messages, *loop(f"g{generation}-", 2)]
        wishes = {"pins": after.pins, "limit": context.limit, "manual": context.manual}
        context = context_of(grown, **wishes)


def talk() -> Context:
    """Return a context with an earlier summary, rounds with tool loops, a system message in the middle, a current input
    and memories."""
    messages = [
        Message("sys", "system", (Text("be brief"),)),
        summary("old", "<summary>\nthe words of an earlier summary\n</summary>"),
        *loop("1", 3),
        Message("own", "system", (Text("a rule of the session's own"),)),
        *chat(3, "2"),
        *loop("3", 3),
        user("now", "and now?"),
    ]
    return context_of(messages, memories="\n".join(f"memory {n}" for n in range(60)))


def _summarized(strategy: Strategy[Any], policy: Policy) -> tuple[Context, Outcome, list[SummaryRequest]]:
    """Run a strategy on `talk`. Return context, outcome and requests. Skips the check if nothing is summarized."""
    context = talk()
    outcome, requests = run(strategy, context, policy)
    if not outcome.fate_counts[Fate.SUMMARIZED]:
        pytest.skip("nothing is summarized")
    return context, outcome, requests


# --- the checks -----------------------------------------------------------------------------------------------------


def everything_is_accounted_for(strategy: Strategy[Any], policy: Policy) -> None:
    """Everything in `assert_holds`, for any context and policy, and for failed summaries as well."""

    @settings(deadline=None)
    @given(contexts(), policies(policy), st.sampled_from(["A summary.", FAILED, SummaryFailed("timeout", "120 s")]))
    def holds(context: Context, drawn: Policy, answer: str | SummaryFailed) -> None:
        assert_holds(strategy, context, drawn, answer)

    holds()


def what_the_agent_has_not_read_stays(strategy: Strategy[Any], policy: Policy) -> None:
    """Unanswered results and requests at the end are kept whatever the budget: complete, or at least their beginning
    and end. The setting `unread`, if the policy has it, is set to "keep"."""
    fixed = {"unread": "keep"} if "unread" in type(policy).model_fields else {}

    @settings(deadline=None)
    @given(contexts(), policies(policy), st.lists(st.integers(0, 3_000), max_size=3), st.integers(0, 3_000))
    def holds(context: Context, drawn: Policy, sizes: list[int], request: int) -> None:
        texts = [f"begin-{n} {'x ' * size}end-{n}" for n, size in enumerate(sizes)]
        newest_request = f"begin-asked {'y ' * request}end-asked"
        calls = [call(f"new-{n}", command="ls") for n in range(len(texts))]
        results = [result(f"got-{n}", (f"new-{n}", text)) for n, text in enumerate(texts)]
        newest = [agent("calls", "", *calls), *results] if calls else [user("asked", newest_request)]
        whole = context_of([*context.messages, *newest]).layout
        outcome = assert_holds(strategy, context.with_(layout=whole), drawn.with_(**fixed))
        there = "\n".join(text for m in outcome.messages for text in (m.text, *(one.text for one in m.results)))
        for text in texts or [newest_request]:
            assert text in there or all(end in there for end in (text[:9], text[-7:])), text[:20]

    holds()


def generations_follow_one_another(strategy: Strategy[Any], policy: Policy) -> None:
    """Everything in `assert_lives_on`, for any context and policy."""

    @settings(max_examples=min(15, settings().max_examples), deadline=None)
    @given(contexts(manual=True, split_at=None), policies(policy))
    def holds(context: Context, drawn: Policy) -> None:
        assert_lives_on(strategy, context, drawn)

    holds()


def an_earlier_summary_is_treated_as_the_policy_says(strategy: Strategy[Any], policy: Policy) -> None:
    """It is dropped, kept next to the new one, given to the summarizer (nest), or also put before the new one
    (extend)."""
    context, _, _ = _summarized(strategy, policy)
    if "earlier_summary" not in type(policy).model_fields:
        pytest.skip("the policy has no such choice")
    fates = {"drop": Fate.DROPPED, "keep": Fate.KEPT, "nest": Fate.SUMMARIZED, "extend": Fate.SUMMARIZED}
    for choice, fate in fates.items():
        outcome, requests = run(strategy, context, policy.with_(earlier_summary=choice))
        assert outcome.status == "compacted"
        carried = any("the words of an earlier summary" in request.previous for request in requests)
        assert carried == (choice in ("nest", "extend")), choice
        assert ("old" in [message.id for message in outcome.messages]) == (choice == "keep"), choice
        there = any("the words of an earlier summary" in message.text for message in outcome.messages)
        assert there == (choice in ("keep", "extend")), choice
        assert outcome.fate_at(context.shape.index_of["old"]).fate is fate


def summarized_means_that_some_of_it_reached_a_request(strategy: Strategy[Any], policy: Policy) -> None:
    context, outcome, requests = _summarized(strategy, policy)
    shown = seen_in(requests)
    assert all(seen or not of for seen, of in shown.values()), "a request is about what it shows"
    for index, message in enumerate(context.messages):
        fate = outcome.fate_at(index)
        if fate.fate is Fate.SUMMARIZED and message.id != "old":
            seen, of = shown[message.id]
            assert fate.saw == ("all" if seen == of else "part"), message.id
        elif fate.fate in (Fate.ABRIDGED, Fate.DROPPED):
            assert message.id not in shown
            assert fate.saw == "nothing"


def seen_in(requests: list[SummaryRequest]) -> dict[str, tuple[int, int]]:
    """Return by message id how much of it the summarizer sees: (characters seen, all characters)."""
    return {
        message.id: request.seen(position)
        for request in requests
        for position, message in enumerate(request.messages)
        if request.seen is not None
    }


def a_summary_stands_for_all_that_was_summarized(strategy: Strategy[Any], policy: Policy) -> None:
    context, outcome, _ = _summarized(strategy, policy)
    summaries = [piece for piece in outcome.pieces if isinstance(piece, NewMessage) and "summary-" in piece.message.id]
    behind = {i for piece in summaries for span in piece.replaces for i in range(span.start, span.stop)}
    assert {i for i in range(len(context)) if outcome.fate_at(i).fate is Fate.SUMMARIZED} <= behind
    assert {piece.message.kind for piece in summaries} == {"summary"}, "whatever its role"


def a_failed_summary_never_loses_the_session(strategy: Strategy[Any], policy: Policy) -> None:
    context, _, _ = _summarized(strategy, policy)
    for kind in get_args(FailureKind):
        outcome = assert_holds(strategy, context, policy, SummaryFailed(kind, "why"))
        assert outcome.status in ("unchanged", "fallback"), kind
        assert kind in outcome.reason or "timed out" in outcome.reason
        if outcome.status == "unchanged":
            assert outcome.messages == tuple(context.messages)


def an_answer_of_tags_alone_is_no_summary(strategy: Strategy[Any], policy: Policy) -> None:
    context, _, _ = _summarized(strategy, policy)
    outcome = assert_holds(strategy, context, policy, "<summary>\n</summary>")
    assert outcome.status in ("unchanged", "fallback")
    assert "empty" in outcome.reason


def a_summary_over_its_limit_is_cut_and_the_trace_says_so(strategy: Strategy[Any], policy: Policy) -> None:
    context, _, _ = _summarized(strategy, policy)
    if "summary_char_limit" not in type(policy).model_fields:
        pytest.skip("the policy has no such limit")
    outcome, _ = run(strategy, context, policy.with_(summary_char_limit=40), "A sentence of some length. " * 9)
    assert any("cut to 40" in line for line in outcome.trace)


def cancelled_is_not_failed(strategy: Strategy[Any], policy: Policy) -> None:
    """Closing the generator at its first request, as a cancelled run does, changes nothing."""
    context = talk()
    before = tuple(context.messages)
    generator = strategy.run(context, policy)
    for step in generator:
        if isinstance(step, tuple):
            assert step, "nothing is asked for with no request"
            generator.close()
    assert tuple(context.messages) == before


def what_is_not_smaller_says_so(strategy: Strategy[Any], policy: Policy) -> None:
    context = context_of([*chat(3, "1"), *loop("2", 3, "z"), *chat(2, "3")], memories="\n".join("abcdefghijklmnop"))
    outcome, _ = run(strategy, context, policy, "A summary of many words. " * 400)
    if outcome.memories is None:
        smaller = context.outcome_size(outcome).tokens < context.total.tokens
        assert smaller == (outcome.status == "compacted")
    if outcome.status == "not_smaller":
        assert "not smaller" in outcome.reason


def planning_needs_no_model_and_shows_the_request_as_it_would_be_sent(strategy: Strategy[Any], policy: Policy) -> None:
    context = talk()
    planned = drive(strategy.run(context, policy), estimate)
    _, requests = run(strategy, context, policy)
    assert planned.outcome.status != "unchanged"
    if requests:
        assert (planned.requests[0].text, planned.requests[0].exact) == (requests[0].text, True)


def a_manual_run_compacts_whatever_the_thresholds_say(strategy: Strategy[Any], policy: Policy) -> None:
    assert run(strategy, talk(), policy)[0].status != "unchanged"
    short = context_of([user("u", "hello"), agent("a", "hello")]).with_(manual=False)
    outcome, requests = run(strategy, short, policy)
    assert (outcome.status, requests) == ("unchanged", [])
    assert outcome.reason


def a_split_by_hand_is_obeyed_where_it_may_be_moved(strategy: Strategy[Any], policy: Policy) -> None:
    context = context_of([*chat(12, "1"), *loop("2", 2), *chat(2, "3")])
    for at in ("1u3", "1u9"):
        outcome, _ = run(strategy, context.with_(split_at=at), policy)
        if strategy.movable:
            assert outcome.split == context.shape.index_of[at]
        else:
            assert outcome.messages == run(strategy, context, policy)[0].messages


def every_field_has_a_help_and_a_place_and_every_number_a_range(strategy: Strategy[Any], policy: Policy) -> None:
    assert isinstance(policy, strategy.policy_type)
    found = settings_of(type(policy))
    assert {one.path[0] for one in found} == set(type(policy).model_fields)
    for one in found:
        assert one.help, one.key
        assert one.group, one.key
        if one.kind in ("whole", "real"):
            assert (one.range.low, one.range.above) != (None, None), one.key


CHECKS = (
    everything_is_accounted_for,
    what_the_agent_has_not_read_stays,
    generations_follow_one_another,
    an_earlier_summary_is_treated_as_the_policy_says,
    summarized_means_that_some_of_it_reached_a_request,
    a_summary_stands_for_all_that_was_summarized,
    a_failed_summary_never_loses_the_session,
    an_answer_of_tags_alone_is_no_summary,
    a_summary_over_its_limit_is_cut_and_the_trace_says_so,
    cancelled_is_not_failed,
    what_is_not_smaller_says_so,
    planning_needs_no_model_and_shows_the_request_as_it_would_be_sent,
    a_manual_run_compacts_whatever_the_thresholds_say,
    a_split_by_hand_is_obeyed_where_it_may_be_moved,
    every_field_has_a_help_and_a_place_and_every_number_a_range,
)
