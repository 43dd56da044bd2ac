"""Calls of an exam: which are asked, in which order, and what follows from known answers."""

from __future__ import annotations

import pytest

from tests.analysis.courses import session_of
from tests.analysis.test_probes import TALK
from tests.facts.talk import agent, user
from workbench.analysis.probes.cloze import ProbedContext, _agent_sentences
from workbench.analysis.probes.exam import FULL, NOTHING, Arm, ArmContext, Exam, arm_contexts
from workbench.analysis.probes.probe import Probe
from workbench.compaction.outcome import unchanged
from workbench.compaction.shape import Shape
from workbench.compaction.summary_request import Summary
from workbench.conformance import building

PROBES = (Probe("recall", "How high is it?", "412"), Probe("recall", "Who keeps it?", "Anneke", prose=True))


def exam_of(*names: str) -> Exam:
    """The last arm has no context; the others differ by a message."""
    arms = [ArmContext(Arm(name, 9), (user(f"It is {name}."),)) for name in names]
    return Exam(session_of(TALK), PROBES, (*arms, ArmContext(Arm(NOTHING, 0), ())), 3)


def test_every_question_is_asked_and_doubtful_answers_are_judged() -> None:
    exam = exam_of("high", "low")
    running = exam.asking({})
    asked = next(running)
    assert [request.key for request in asked] == [batch.request.key for batch in exam.question_batches]
    place = exam.batches[0].index(1) + 1
    replies = [Summary(f"{place}: {name}") for name in ("Jan", "Piet", "Anneke")]
    judged = running.send(replies)
    answers = dict(zip([request.key for request in asked], replies, strict=True))
    doubtful = exam.doubtful_replies(exam.replies(answers))
    assert sorted(doubtful) == [(1, "Jan"), (1, "Piet")]
    assert [request.text for request in judged] == [request.text for request in exam.judge_requests(doubtful)]
    with pytest.raises(StopIteration) as ended:
        running.send([Summary("1: yes")])
    assert ended.value.value == unchanged((), "questions change nothing")


def test_known_answers_are_not_asked_for_again() -> None:
    exam = exam_of("high", "low")
    first, second, third = (batch.request for batch in exam.question_batches)
    place = exam.batches[0].index(1) + 1
    known = {first.key: Summary(f"{place}: Jan"), second.key: Summary(f"{place}: Anneke")}
    running = exam.asking(known)
    assert [request.key for request in next(running)] == [third.key]
    (judgement,) = running.send([Summary(f"{place}: Anneke")])
    known |= {third.key: Summary(f"{place}: Anneke"), judgement.key: Summary("1: yes")}
    with pytest.raises(StopIteration) as ended:
        next(exam.asking(known))
    assert ended.value.value == unchanged((), "questions change nothing")


def test_the_most_judgements_are_asked_at_once() -> None:
    running = exam_of("high", "low").most_judgements()
    (request,) = next(running)
    assert [request.text.count(f"<given>{f'{arm} word' * 60}</given>") for arm in range(4)] == [1, 1, 1, 0]
    with pytest.raises(StopIteration) as ended:
        running.send(None)
    assert ended.value.value == unchanged((), "questions change nothing")


def test_the_arms_of_an_exam() -> None:
    context = building.context_of([building.user("u", "x" * 400), building.agent("a", "y" * 400)])
    outcome = unchanged(context.messages[:1], "made for this")
    full, between, nothing = arm_contexts(context, [("trim", outcome)])
    masking = context.shape.masking
    assert full == ArmContext(Arm(FULL, context.total.tokens), tuple(context.messages), masking=masking)
    assert between == ArmContext(
        Arm("trim", context.outcome_size(outcome).tokens), tuple(outcome.messages), outcome, masking
    )
    assert nothing == ArmContext(Arm(NOTHING, 0), ())


@pytest.mark.parametrize(("begins", "asked"), [("The northern weir opens", 1), ("Now the northern weir opens", 0)])
def test_an_agent_that_narrates_is_not_asked_about(begins: str, asked: int) -> None:
    talk = (agent(f"{begins} at a level of 4120 cm and the sluice follows later."),)
    found = list(_agent_sentences(ProbedContext(Shape(talk), "")))
    assert [one.probe.answer for one in found] == ["4120"] * asked
