"""Sizes of contexts without a recorded call: the unrecorded overhead from before, and what an agent recorded."""

from dataclasses import replace

import pytest

from tests.tokens.sessions import answer, counted, user
from workbench.session import Epoch, ExportNote, Message, Records, Session, SessionFacts
from workbench.tokens import Basis, Counter, Scale, Sizes, session_sizes, to_weigh

OPUS = "claude-opus-4-6"
SUMMARY = Message("s", "user", user("s", "s" * 100).blocks, "summary")
MESSAGES = (
    user("u1", "u" * 100),  # 110 tokens
    answer("a1", "a" * 100, 10_110),
    user("u2", "u" * 100),
    answer("a2", "a" * 100, 40_000),  # 30 000 more than is shown: a file that was attached
    SUMMARY,
    user("u3", "u" * 100),
    answer("a3", "a" * 100, 12_220),
)
COMPACTED = (Epoch(1, [0, 1, 2, 3]), Epoch(2, [4]))


def session(*epochs: Epoch, facts: SessionFacts | None = None, model: str = OPUS) -> Session:
    return Session("pi", None, MESSAGES, Records(b""), epochs=epochs, model=model, facts=facts or SessionFacts())


def sized(of: Session, epoch: int | None = None, scale: Scale | None = None) -> Sizes:
    return session_sizes(of, epoch or len(of.epochs), counted([*of.messages]), scale)


def test_a4_unrecorded_overhead_survives_a_compaction_until_the_next_call() -> None:
    after = sized(session(*COMPACTED))
    assert (after.overhead, after.overhead_basis, list(after.tokens)) == (10_000, Basis.CALIBRATED, [110])
    called = sized(session(COMPACTED[0], Epoch(2, [4, 5, 6])))  # 12 220 billed for 220 tokens of messages
    assert (called.overhead, list(called.tokens)) == (12_000, [110, 110, 118])


def test_a4_it_is_that_of_the_newest_epoch_with_a_call() -> None:
    three = session(Epoch(1, [0, 1, 2, 3]), Epoch(2, [4, 5, 6]), Epoch(3, [4]), Epoch(4, [4, 5]))
    assert [sized(three, number).overhead for number in (3, 4)] == [12_000, 12_000]


def test_a4_without_an_earlier_call_nothing_is_known_of_it() -> None:
    assert sized(session(Epoch(1, [0]), Epoch(2, [4]))).overhead == 0
    assert sized(session(Epoch(1, [4]), Epoch(2, [0, 1]))).overhead == 10_000  # a later call says nothing of epoch 1
    assert sized(session(Epoch(1, [4]), Epoch(2, [0, 1])), 1).overhead == 0


def test_a4_an_exact_count_of_the_messages_leaves_it_as_it_was_billed() -> None:
    twice = sized(session(*COMPACTED), scale=Scale(2, 1, "an exact count"))
    assert (twice.overhead, list(twice.tokens)) == (10_000, [220])


@pytest.mark.parametrize(
    ("facts", "overhead"),
    [
        (SessionFacts(overhead=7), 7),
        (SessionFacts(export_note=ExportNote(OPUS, None, 8, 1.0)), 8),
        (SessionFacts(tokens_now=9_110), 9_000),
    ],
)
def test_a4_what_the_file_says_of_the_context_itself_comes_first(facts: SessionFacts, overhead: int) -> None:
    assert sized(session(*COMPACTED, facts=facts)).overhead == overhead


def test_a4_the_messages_before_the_call_that_shows_it_are_weighed() -> None:
    of = session(*COMPACTED)
    assert [one.id for one in to_weigh(of, 2)] == ["s", "u1"]
    assert [one.id for one in to_weigh(of, 1)] == ["u1", "a1", "u2", "a2"]
    for facts, more in ((SessionFacts(), []), (SessionFacts(tokens_now=9_110), ["u1"])):
        later = session(Epoch(1, [4]), Epoch(2, [0]), facts=facts)
        assert [one.id for one in to_weigh(later, 1)] == ["s", *more]
        assert [one.id for one in to_weigh(later, 2)] == ["u1"]
    counter = Counter()
    assert session_sizes(of, 2, counter).overhead == pytest.approx(10_050, abs=50)  # by characters meanwhile


SILENT = tuple(replace(message, usage=None) for message in MESSAGES)


@pytest.mark.parametrize(
    ("recorded", "overhead", "tokens"),
    [
        (1_000, 772, [110, 118, 110]),  # of the request and its answer; what follows is counted
        (228, 0, [110, 118, 110]),
        (114, 0, [55, 59, 110]),
    ],
)
def test_a17_a21_the_size_that_the_agent_records_is_that_of_the_context_up_to_its_newest_answer(
    recorded: int, overhead: int, tokens: list[int]
) -> None:
    facts = SessionFacts(tokens_now=recorded)
    one = Session("goose", None, SILENT[:3], Records(b""), model=OPUS, facts=facts)
    found = sized(one)
    assert (found.overhead, list(found.tokens), found.overhead_basis) == (overhead, tokens, Basis.CALIBRATED)


def test_a17_a21_its_unrecorded_overhead_is_every_epochs_and_a_recorded_call_comes_before_it() -> None:
    facts = SessionFacts(tokens_now=5_000)
    two = replace(session(Epoch(1, [0, 1]), Epoch(2, [2, 3]), facts=facts), messages=SILENT)
    assert [sized(two, number).overhead for number in (1, 2)] == [4_772, 4_772]
    assert [list(sized(two, number).tokens) for number in (1, 2)] == [[110, 118], [110, 118]]
    assert sized(session(Epoch(1, [0, 1]), facts=facts)).overhead == 10_000


def test_a17_a21_a_size_far_below_the_text_is_that_of_another_context() -> None:
    long = (user("u", "u" * 10_000), replace(answer("a", "a"), usage=None))
    of = Session("goose", None, long, Records(b""), model=OPUS, facts=SessionFacts(tokens_now=2_500))
    assert (sized(of).overhead, sized(of).tokens[0]) == (0, 11_000)
