"""State of a watched rule in a text, in messages and after a compaction."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.analysis.courses import session_of
from workbench.analysis.labelled import labelled_pairs
from workbench.analysis.rule_text import RuleVerdict, judge_text
from workbench.analysis.watched_rules import (
    LONGEST_SENTENCE,
    RuleWatcher,
    judge_context,
    judge_messages,
    judge_outcome,
    judge_recorded,
    judge_remaining,
    sentence_to_watch,
)
from workbench.base.errors import BadInput
from workbench.compaction.outcome import Fate, FateSpan, NewMessage, Outcome
from workbench.compaction.shape import Shape
from workbench.session import Compaction, Epoch, Message, Span, Text, ToolResult, ToolUse

RULE = "Never log the refresh token."


@pytest.mark.parametrize(
    ("sentence", "text", "verdict"),
    [
        (RULE, "He said: Never log the refresh token. Then he left.", "verbatim"),
        (RULE, "- Never  log\n  the refresh\ttoken.", "verbatim"),
        (RULE, "never log the refresh token.", "paraphrased"),
        (RULE, "The refresh token must never be logged.", "paraphrased"),
        (RULE, "Log the refresh token.", "contradicted"),
        (RULE, "The login was mended.", "gone"),
        (RULE, "", "gone"),
        ("use pnpm", "It was decided: use pnpm", "verbatim"),
        ("use pnpm", "Do not use pnpm", "contradicted"),
        ("Wait 30 s before you retry.", "Before a retry, wait 30 s.", "paraphrased"),
        ("Wait 30 s before you retry.", "Before a retry, wait 31 s.", "contradicted"),
        ("Run the migration before the deploy.", "Run the migration after the deploy.", "contradicted"),
        ("Verwende niemals npm in der Werft.", "In der Werft nie npm verwenden.", "paraphrased"),
        ("src/keel.py", "see `src/keel.py` for it", "verbatim"),
        ("src/keel.py", "see src/keel.pyx", "gone"),
        ("…", "…", "gone"),
    ],
)
def test_state_in_a_text(sentence: str, text: str, verdict: RuleVerdict) -> None:
    assert judge_text(sentence, text) == verdict


def test_it_agrees_with_the_labels_of_sentences() -> None:
    several = [one for one in labelled_pairs() if one.kind in ("instruction", "stated", "decision") and not one.detail]
    several = [one for one in several if one.query.state != "gone"]
    said = {"=": {"verbatim", "paraphrased"}, "!": {"contradicted"}, "-": {"gone"}}
    agreed = [judge_text(one.fact, one.text) in said[one.label] for one in several]
    assert len(several) > 150
    assert sum(agreed) / len(agreed) >= 0.93


def message(id: str, text: str, role: str = "user", kind: str = "normal") -> Message:
    return Message(id, role, (Text(text),), kind=kind)  # type: ignore[arg-type]


RETOLD = "The refresh token must never be logged."


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        (message("1", RULE), "verbatim"),
        (message("1", RETOLD), "paraphrased"),
        (message("1", RETOLD, "system"), "paraphrased"),
        (message("1", RETOLD, "assistant", "summary"), "paraphrased"),
        (message("1", RETOLD, "assistant"), "gone"),  # what the agent says of its work is no rule
        (message("1", RULE, "assistant"), "verbatim"),
        (Message("1", "assistant", (ToolUse("c", "Bash", {"command": f"echo {RULE}"}),)), "verbatim"),
        (Message("1", "user", (ToolResult("c", (Text(f"# House rules\n{RULE}"),)),)), "verbatim"),
        (Message("1", "user", (ToolResult("c", (Text(RETOLD),)),)), "gone"),
    ],
)
def test_state_in_a_message(said: Message, verdict: RuleVerdict) -> None:
    assert judge_messages(RULE, [message("0", "Hello."), said]) == verdict


def test_the_best_place_counts() -> None:
    wrong, right = message("1", "Log the refresh token."), message("2", RETOLD)
    assert judge_messages(RULE, [wrong]) == "contradicted"
    assert judge_messages(RULE, [wrong, right]) == judge_messages(RULE, [right, wrong]) == "paraphrased"
    assert judge_messages(RULE, []) == "gone"


def outcome(made: str) -> Outcome:
    source = (message("1", RULE),)
    pieces = (NewMessage(message("s", made, kind="summary"), (Span(0, 1),)),)
    return Outcome("compacted", "", source, pieces, (FateSpan(0, 1, Fate.SUMMARIZED),))


@pytest.mark.parametrize(("made", "verdict"), [(RULE, "verbatim"), ("Hello.", "gone"), ("", "unknown")])
def test_an_unreadable_summary_makes_the_state_unknown(made: str, verdict: RuleVerdict) -> None:
    left = outcome(made)
    assert judge_outcome(RULE, Shape(left.source), left) == verdict


@pytest.mark.parametrize(("stays", "verdict"), [(b"\x01\x00", "verbatim"), (b"\x00\x01", "contradicted")])
def test_kept_messages_of_a_context_count(stays: bytes, verdict: RuleVerdict) -> None:
    shape = Shape((message("1", RULE), message("2", "Log the refresh token.")))
    assert judge_context(RULE, shape) == "verbatim"
    assert judge_remaining(RULE, shape, stays, ()) == judge_remaining(RULE, shape, stays, None) == verdict
    assert judge_remaining(RULE, shape, stays, (message("s", RULE, kind="summary"),)) == "verbatim"
    assert judge_remaining(RULE, shape, b"\x00\x00", ()) == "gone"
    assert judge_remaining(RULE, shape, b"\x00\x00", None) == "unknown"


def test_what_the_system_prompt_says_no_compaction_takes() -> None:
    shape, system = Shape([message("u", RULE)]), f"Be brief. {RULE}"
    assert judge_context(RULE, Shape([message("u", "Hello.")]), system) == "verbatim"
    assert (
        judge_remaining(RULE, shape, b"\x00", (), system)
        == judge_remaining(RULE, shape, b"\x00", None, system)
        == "verbatim"
    )
    assert judge_remaining(RULE, shape, b"\x00", (), "Be brief.") == "gone"
    assert RuleWatcher(RULE, Shape([message("u", "Hello.")]), system).trail().last == "verbatim"


def test_an_eye_reads_anew_what_a_compaction_made() -> None:
    """Also what bears the id of a message that it shortened; and what it cannot read stays so until it is said."""
    shape = Shape([message("1", RULE), message("2", "Hello."), message("3", "Log the refresh token.")])
    eye = RuleWatcher(RULE, shape)
    eye.compact(3, 0, [], unread=False)  # it has not been said by then, and is not lost
    eye.compact(4, 1, [message("1", "…")], unread=False)
    eye.compact(5, 1, [message("1", RETOLD)], unread=True)
    eye.compact(6, 2, [message("1", "…")], unread=False)
    assert eye.advance(2) == "unknown"
    passed = [(one.at, one.before, one.after) for one in eye.trail().passed[1:]]
    assert passed == [(4, "verbatim", "gone"), (5, "gone", "paraphrased"), (6, "paraphrased", "unknown")]
    assert (eye.trail().last, eye.trail().lost, eye.trail().unread) == ("contradicted", 4, 6)


def test_what_once_could_not_be_read_is_unknown_until_it_is_said_again() -> None:
    """By the file's own record: kept, then in a summary that nobody can read, then said again, then gone."""
    told = [message(str(n), words) for n, words in enumerate((RULE, "Hello.", RULE, "Bye."))]
    hidden, plain = message("s1", "", kind="summary"), message("s2", "They met.", kind="summary")
    messages = (told[0], told[1], hidden, told[2], plain, told[3])
    ends = Compaction(summary="s1"), Compaction(summary="s1"), Compaction(summary="s2"), None
    members = ([0], [2, 1], [2, 1, 3], [4, 5])
    epochs = tuple(Epoch(n, list(those), end) for n, (those, end) in enumerate(zip(members, ends, strict=True), 1))
    trail = judge_recorded(RULE, replace(session_of(messages), epochs=epochs))
    assert [(one.at, one.before, one.after) for one in trail.passed] == [
        (1, "verbatim", "unknown"), (2, "unknown", "unknown"), (3, "verbatim", "gone"),
    ]  # fmt: skip
    assert (trail.last, trail.lost, trail.unread) == ("gone", 3, 1)


@pytest.mark.parametrize(
    ("typed", "said", "watched"),
    [
        ("commit to main", ["Hello. Never commit to main. Ask me."], "Never commit to main."),
        ("Commit to main.", ["Never commit to main."], "Commit to main."),
        ("commit to main", ["Never commit to main.", "Now commit to main."], "commit to main"),
        ("commit to main", ["Now commit to the main branch."], "commit to main"),
        ("main", ["Never commit to main."], "main"),
        ("use pnpm", ["We use npm; do not use  pnpm in the yard."], "We use npm; do not use pnpm in the yard."),
        ("log it", ["Never log it, " + "and never say so, " * 60 + "ever."], "log it"),
    ],
)
def test_part_of_a_rule_that_forbids_it_stands_for_the_rule(typed: str, said: list[str], watched: str) -> None:
    """It was gone where it stood word for word, and contradicted by the summary that kept the rule."""
    agents = message("a", "I commit to main and use pnpm.", "assistant")
    messages = [agents, *(message(f"u{n}", words) for n, words in enumerate(said))]
    assert sentence_to_watch(typed, messages) == watched
    assert sentence_to_watch(watched, messages) == watched
    assert sentence_to_watch(typed, [agents]) == sentence_to_watch(typed) == typed


def test_what_cannot_be_watched_is_refused() -> None:
    assert sentence_to_watch("  Keep\n it. ") == "Keep it."
    assert len(sentence_to_watch("a" * LONGEST_SENTENCE)) == LONGEST_SENTENCE
    with pytest.raises(BadInput, match="too long"):
        sentence_to_watch("a" * (LONGEST_SENTENCE + 1))
    with pytest.raises(BadInput, match="no word"):
        sentence_to_watch(" … ")
