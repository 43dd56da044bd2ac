"""Output of the analysis without secrets: a line, an answer or a quotation shows no secret, not even without the name
next to it."""

from __future__ import annotations

import pytest

from tests.analysis.courses import session_of
from tests.analysis.test_rework import CUT, answer, reworked, shell
from tests.analysis.test_rework import user as asking
from tests.facts.talk import agent, answered, call, ran, user
from workbench.analysis.grounding import SummaryChecker, run_grounding
from workbench.analysis.probes import Exam, Probe, arm_contexts, looked_up
from workbench.analysis.probes.results import graded
from workbench.analysis.recorded_claims import recorded_claims
from workbench.analysis.retention import retention
from workbench.analysis.suggested_pins import suggest
from workbench.analysis.transcript import transcript
from workbench.analysis.watched_rules import judge_messages, sentence_to_watch
from workbench.analysis.why.breakdown import block_tokens
from workbench.auditing.survey import _reason
from workbench.base.secrets import MASK, without_secrets
from workbench.compaction.outcome import KeptSpan, NewMessage, Outcome
from workbench.compaction.summary_request import Summary, SummaryRequest, TextBody
from workbench.conformance.building import context_of, summary
from workbench.session import Compaction, Epoch, Message, Records, Session, Span, Text
from workbench.summarizers.driver import Run

SECRET = "brass-Heron-77"
SET = f"DB_PASSWORD={SECRET}"
QUERY = f"mysql --password={SECRET} -e 'select 1' tariffs"


def tells(made: object) -> bool:
    """Whether a run of eight characters of the secret stands in what was made."""
    return any(SECRET[at : at + 8] in repr(made) for at in range(len(SECRET) - 7))


def test_f02_a_secret_is_shown_by_its_name_alone() -> None:
    assert without_secrets(SET) == f"DB_PASSWORD={MASK}"
    assert without_secrets(SECRET) == SECRET


TALK = (
    user(f"The weir opens at a level of 412 cm with {SET} and the sluice follows an hour later."),
    agent("I read the plans of the canal."),
    user("Now draw the timetable for the ferries of Sunday."),
)
PROBES = (
    Probe("recall", "At which level does the weir open?", "412 cm", source=TALK[0].id, says=TALK[0].user_text),
    Probe("recall", "Who opens the weir, with the sluice an hour later?", "the lock keeper", says=TALK[0].user_text),
)


def exam() -> Exam:
    context = context_of(TALK)
    outcome = Outcome("unchanged", "", context.messages, (), (), tail=0)
    return Exam(session_of(TALK), PROBES, arm_contexts(context, [("none", outcome)]))


def test_f02_lines_that_answer_a_question_tell_no_secret() -> None:
    probing = looked_up(exam())
    assert MASK in repr(probing.answers[0])
    assert not tells(probing.answers)


def test_f02_lines_next_to_a_model_s_answers_have_no_secret() -> None:
    context = context_of(TALK)
    outcome = Outcome("compacted", "", context.messages, (KeptSpan(0, 3),), (), tail=0)
    sources = arm_contexts(context, [("all", outcome)])
    probing = graded(Exam(session_of(TALK), PROBES, sources), {}, "somebody")
    assert MASK in repr(probing.answers[1])
    assert not tells(probing.answers)


def test_f02_a_suggested_pin_has_no_secret() -> None:
    asked = call("Ask", {"question": "Which account?", "options": [{"label": SET}, {"label": "none"}]})
    (pin,) = suggest(context_of((user("Bake it."), agent("", asked), answered(asked, SET))))
    assert MASK in repr(pin)
    assert not tells(pin)


def test_f02_a_repeated_command_has_no_secret() -> None:
    command = f"{SET} ./deploy.sh --stage billing"
    made = reworked(
        asking("Deploy it."), shell(command, "done"), CUT, asking("Go on."), shell(command, "done"), answer("x")
    )
    items = [item for one in made for item in one.items]
    assert items
    assert not tells(items)


def test_f02_a_repeated_request_has_no_secret() -> None:
    said = f"Always set {SET} before you deploy the billing service to the staging cluster."
    made = reworked(asking(said), answer("Yes."), CUT, asking(said), answer("Yes."))
    items = [item for one in made for item in one.items]
    assert items
    assert not tells(items)


@pytest.mark.parametrize("verbosity", ["default", "compact"])
def test_f02_an_input_is_masked_before_it_is_json(verbosity: str) -> None:
    """`\\n` before a name is a letter before it."""
    entries = [*transcript([agent("", call("Bash", {"command": f"true\n{SET}"}))], verbosity)]  # type: ignore[arg-type]
    assert MASK in repr(entries)
    assert not tells(entries)


def test_f02_a_text_is_masked_before_the_tag_that_names_its_secret_is_left_out() -> None:
    secret = SET.partition("=")[2]
    entries = [*transcript([agent(f"<password>\n{secret}\n</password>"), agent("Done.")], "compact")]
    assert (entries[0].text, tells(entries)) == (f"{MASK} …", False)


def test_f02_a_watched_sentence_completed_from_its_part_has_no_secret() -> None:
    rule = f"Never deploy the billing service to staging with {SET} set."
    watched = sentence_to_watch("deploy the billing service to staging", [user(rule)])
    assert watched.startswith("Never")
    assert not tells(watched)


def test_a_rule_watched_without_its_secret_is_found_in_its_message() -> None:
    rule = f"Never deploy the billing service to staging with {SET} set."
    watched = sentence_to_watch("deploy the billing service to staging", [user(rule)])
    assert judge_messages(watched, [user(rule)]) == "verbatim"


def test_a_command_with_a_secret_that_is_run_again_afterwards_is_used() -> None:
    context = context_of((user("Deploy it."), *ran(QUERY, "done"), agent("Done."), user("Now rest.")))
    outcome = Outcome("compacted", "", context.messages, (KeptSpan(3, 5),), (), tail=3)
    used = [
        {fact.text: fact.used for fact in retention(context, outcome, later).facts if fact.kind == "command"}
        for later in ((), (agent("Again.", call("Bash", {"command": QUERY})),))
    ]
    assert [*used[0].values(), *used[1].values()] == [False, True]


def test_text_with_a_secret_is_no_claim() -> None:
    found = SummaryChecker([user("Deploy it.")]).check(
        f"It ran `{SET} ./deploy.sh --stage billing` with ./stages.toml twice."
    )
    assert [one.text for one in found.unsupported] == ["./stages.toml"]


@pytest.mark.parametrize("earlier", [False, True])
def test_a_command_without_its_secret_has_its_ground_in_the_one_with_it(earlier: bool) -> None:
    """The summarizer that needs no model writes it so."""
    ran_it = f"It ran `{SET} ./deploy.sh --stage billing` twice."
    request = SummaryRequest(
        "summary",
        () if earlier else (agent(ran_it),),
        "Sum up.",
        TextBody(lambda: ran_it),
        previous=ran_it if earlier else "",
    )
    said = without_secrets(ran_it)
    outcome = Outcome("compacted", "", request.messages, (NewMessage(summary("s", said), (Span(0, 1),)),), (), tail=0)
    found = run_grounding(Run(outcome, (request,), (Summary(said),), (), 0.0))
    assert found is not None
    assert (found.claims, found.unsupported) == (1, ())


def test_a_recorded_claim_without_its_secret_has_its_ground_in_the_message_with_it() -> None:
    words = Message("s", "user", (Text(f"It ran `{without_secrets(QUERY)}` twice."),), "summary")
    epochs = (Epoch(1, range(1), Compaction("auto", summary="s")), Epoch(2, (1,)))
    session = Session("claude-code", None, (user(f"Run `{QUERY}` twice."), words), Records(b""), epochs=epochs)
    found = recorded_claims(session, 1)
    assert found is not None
    assert (found.claims, found.not_found) == (1, 0)


def test_a_block_is_measured_unmasked() -> None:
    asked = call("Bash", {"command": " ".join([SET] * 20)})
    context = context_of((user("Go."), agent("I look at it. " * 9, asked), *ran("ls", "a")))
    (clean,) = context.shape.masked_at(1).calls
    assert clean != asked
    assert block_tokens(context, 1, clean) == block_tokens(context, 1, asked)


def test_why_a_file_could_not_be_read_is_kept_without_secrets() -> None:
    assert _reason(KeyError(SET)) == f"KeyError: 'DB_PASSWORD={MASK}'"
