"""Facts of a head that an outcome keeps: in kept messages, in new ones, and how each is weighed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from tests.analysis.courses import session_of
from tests.facts.talk import agent, call, edited, ran, result, user
from tests.paths import ROOT
from workbench.analysis.fact_check import MOST_CANDIDATES, SearchedText, fact_query
from workbench.analysis.needed_items import later_use, messages_after, needed_after, project_folder
from workbench.analysis.recorded_compactions import following, recorded_outcome
from workbench.analysis.retention import UNUSED, USED, Retention, TrackedFact, importance, retention, state_of
from workbench.analysis.retention_report import kinds_table, variants_table
from workbench.compaction.context import Context
from workbench.compaction.outcome import Fate, FateSpan, KeptSpan, NewMessage, Outcome, unchanged
from workbench.compaction.preset import default_preset
from workbench.compaction.strategies import strategy
from workbench.conformance.building import context_of, summary
from workbench.facts.all_facts import find_facts
from workbench.facts.distinct import DistinctFact, distinct_facts
from workbench.facts.fact import ErrorState, Fact, FactKind
from workbench.formats.files import load
from workbench.session import Compaction, Message, Session, Span, Text
from workbench.summarizers.driver import drive
from workbench.summarizers.extractive import extractive

READ = call("Read", {"file_path": "/repo/src/lexer.py"})
HEAD: tuple[Message, ...] = (
    user("Fix the parser in src/parse.py for ticket ABC-12. Never touch the generated grammar files."),
    agent("", READ),
    result(READ, "def lex(): ..."),
    agent("We decided to keep the recursive descent parser because it is fast."),
    *ran("cd /repo && pytest -q tests/test_parse.py", "E   ValueError: bad token\n1 failed, 41 passed"),
    *edited("/repo/src/walk.py"),
    agent("The limit is 1536 tokens. See https://example.org/spec for commit 4f2a91c."),
)
TAIL: tuple[Message, ...] = (user("Now look at walk.py again"), agent("I use ABC-12 in walk.py."))
CONTEXT = context_of((*HEAD, *TAIL))


def summarized(text: str, *, keep: tuple[int, ...] = (), context: Context = CONTEXT, head: int = len(HEAD)) -> Outcome:
    """The head replaced by one summary, some of its messages kept in front of it."""
    stays = [KeptSpan(index, index + 1) for index in keep]
    gone = NewMessage(Message("s", "user", (Text(text),), kind="summary"), (Span(0, head),))
    fates = [FateSpan(i, i + 1, Fate.PINNED if i in keep else Fate.SUMMARIZED) for i in range(head)]
    fates.append(FateSpan(head, len(context), Fate.KEPT))
    return Outcome("compacted", "", context.messages, (*stays, gone, KeptSpan(head, len(context))), tuple(fates))


def fact(held: Retention, kind: FactKind, text: str) -> TrackedFact:
    (found,) = [one for one in held.facts if one.kind == kind and text in one.text]
    return found


def test_an_empty_summary_holds_nothing_but_what_the_tail_uses() -> None:
    held = retention(CONTEXT, summarized("Some work was done."))
    assert held.head == len(HEAD)
    assert fact(held, "identifier", "ABC-12").presence == "full"  # the tail says it
    assert {one.kind for one in held.facts if one.presence != "none"} == {"identifier", "path"}
    assert fact(held, "path", "walk.py").presence == "full"
    assert fact(held, "path", "lexer.py").presence == "none"
    assert held.kinds["instruction"].share == 0.0
    assert held.lost[0].kind == "instruction"


def test_facts_in_a_summary_are_kept_in_full_or_in_part() -> None:
    text = (
        "The user: Never touch the generated grammar files.\n"
        "Decided: keep recursive descent, the parser is fast enough\n"
        "Read `lexer.py` only; ran `pytest -q tests/test_parse.py`; limit of 1536 tokens.\n"
        "Spec at example.org/spec; commit 4f2a91c; ValueError: bad token"
    )
    held = retention(CONTEXT, summarized(text))
    assert fact(held, "instruction", "Never").presence == "full"
    assert fact(held, "decision", "decided").presence == "full"
    assert fact(held, "path", "lexer.py").presence == "part"
    assert fact(held, "command", "pytest").presence == "full"
    assert fact(held, "error", "bad token").presence == "full"
    assert fact(held, "number", "1536").presence == "full"
    assert fact(held, "url", "example").presence == "part"
    assert fact(held, "identifier", "4f2a91c").presence == "full"


def test_a_number_with_other_words_is_another_number() -> None:
    number = fact_query("number", "12 tests", "the parser has 12 tests by now")
    assert number is not None
    assert SearchedText(["12 tests of the parser"]).judge(number).presence == "full"
    assert SearchedText(["I ran 12 tests in the morning"]).judge(number).presence == "part"
    assert SearchedText(["112 tests of the parser"]).judge(number).presence == "none"


@pytest.mark.parametrize(
    ("kind", "text", "said", "held"),
    [
        ("path", "/repo/src/walk.py", "see src/walk.py", "full"),
        ("path", "/repo/src/walk.py", "see walk.py", "part"),
        ("path", "/walk.py", "see /walk.py", "full"),
        ("path", "walk.py", "see walk.py", "full"),
        ("path", "/repo/src/walk.py", "see sidewalk.py, then walk.py", "part"),
        ("path", "/repo/src/walk.py", "see sidewalk.py", "none"),
        ("path", "src/", "see src/", "full"),
        ("url", "https://example.org/a/?b#c", "example.org/a", "part"),
        ("url", "https://example.org/a?q=https://b.org", "at example.org/a", "part"),
        ("url", "https://example.org/a#b", "at example.org/a", "part"),
        ("url", "https://example.org/a/", "at https://example.org/a/", "full"),
        ("url", "https://example.org/a/b", "at example.org/a", "none"),
        ("number", "the limit of 1536", "limit 1536", "full"),
        ("number", "12 tests", "12 tests", "full"),
        ("identifier", "ABC-12", "XABC-12 and ABC-12", "full"),
        ("identifier", "AB", "AAB, AB", "full"),
        ("identifier", "AA", "XAAA", "none"),
        ("identifier", "two words", "two\n  words", "full"),
        ("decision", "x", "x", "full"),
        ("decision", "–", "–", "none"),
    ],
)
def test_a_name_occurs_as_it_is_or_not_at_all(kind: FactKind, text: str, said: str, held: str) -> None:
    one = fact_query(kind, text)
    assert (SearchedText([said]).judge(one).presence if one is not None else "none") == held


def test_a_kept_message_holds_its_facts_and_costs_nothing_to_pin() -> None:
    held = retention(CONTEXT, summarized("Some work was done.", keep=(0,)))
    instruction, lexer = fact(held, "instruction", "Never"), fact(held, "path", "lexer.py")
    assert (instruction.presence, instruction.pin_tokens) == ("full", 0)
    assert (lexer.message, lexer.index) == (HEAD[1].id, 1)
    assert lexer.pin_tokens == CONTEXT.size(1, 3).tokens  # with its result


def test_facts_needed_later_weigh_more() -> None:
    outcome = summarized("Some work was done.")
    held = retention(CONTEXT, outcome)
    assert [fact(held, kind, "").used for kind in ("instruction", "error", "url")] == [True, False, False]
    assert not fact(held, "path", "lexer.py").used
    lexer = call("Grep", {"pattern": "x", "path": "src/lexer.py"})
    later = retention(CONTEXT, outcome, [agent("", lexer), agent("see https://example.org/spec")])
    assert fact(later, "path", "lexer.py").used
    assert fact(later, "url", "").used
    weights = [one.weight for one in held.facts]
    assert set(weights) == {USED, UNUSED}
    kept = sum(one.weight for one in held.facts if one.presence == "full")
    assert held.overall.weighted == pytest.approx(kept / sum(weights))


def test_an_address_that_the_tail_says_again_is_held_and_used() -> None:
    context = context_of([user("See https://example.org/a now."), agent("Ok."), user("https://example.org/a please")])
    held = retention(context, summarized("Nothing.", context=context, head=2))
    assert [(one.presence, one.used, one.index) for one in held.facts if one.kind == "url"] == [("full", True, 0)]


def test_a_superseded_instruction_is_no_longer_needed() -> None:
    context = context_of([user("Answer in French."), agent("Oui."), user("Answer in English."), agent("Yes."), *TAIL])
    held = retention(context, summarized("Nothing.", context=context, head=4))
    assert [(one.used, one.why) for one in held.facts if one.kind == "instruction"] == [
        (False, "superseded"),
        (True, "a standing instruction"),
    ]


def test_an_outcome_that_changes_nothing_has_no_head() -> None:
    held = retention(CONTEXT, unchanged(CONTEXT.messages, "nothing to do"))
    assert (held.head, held.facts, held.overall.share, held.of_context) == (0, (), None, 1.0)


def test_outcomes_with_other_heads_are_compared_by_the_whole_context() -> None:
    small, large = summarized("Nothing.", head=2), summarized("Nothing.")
    assert retention(CONTEXT, small).of_context > retention(CONTEXT, large).of_context  # type: ignore[operator]


def test_results_compressed_all_over_are_read() -> None:
    """No split: the head is everything up to the last change."""
    short = replace(result(READ, "def lex()"), id=HEAD[2].id)
    fates = (FateSpan(0, 2, Fate.KEPT), FateSpan(2, 3, Fate.COMPRESSED), FateSpan(3, len(CONTEXT), Fate.KEPT))
    pieces = (KeptSpan(0, 2), NewMessage(short, (Span(2, 3),)), KeptSpan(3, len(CONTEXT)))
    held = retention(CONTEXT, Outcome("compacted", "", CONTEXT.messages, pieces, fates))
    assert held.head == 3
    assert held.overall.share == 1.0


def test_messages_shortened_in_the_tail_are_judged_too() -> None:
    """A summary of the first message, and a command that failed in the tail cut to nothing: both may be lost."""
    said = NewMessage(Message("s", "user", (Text("Nothing."),), kind="summary"), (Span(0, 1),))
    cut = NewMessage(replace(HEAD[5], blocks=result(READ, "…").blocks), (Span(5, 6),))
    fates = (
        FateSpan(0, 1, Fate.SUMMARIZED),
        FateSpan(1, 5, Fate.KEPT),
        FateSpan(5, 6, Fate.COMPRESSED),
        FateSpan(6, len(CONTEXT), Fate.KEPT),
    )
    pieces = (said, KeptSpan(1, 5), cut, KeptSpan(6, len(CONTEXT)))
    outcome = Outcome("compacted", "", CONTEXT.messages, pieces, fates, tail=1)
    assert outcome.split == 1
    held = retention(CONTEXT, outcome)
    assert held.head == 6
    assert fact(held, "error", "bad token").presence == "none"


def test_a_recorded_compaction_keeps_what_the_next_epoch_has() -> None:
    rule, first = Message("s", "system", (Text("rule"),)), summary("z", "before")
    said = [rule, *(user(f"{n}") for n in range(5)), first, user("new"), summary("y", "later"), user("end")]
    epochs = [[0, 1, 2, 3, 4, 5], [0, 6, 4, 5, 7], [0, 8, 7, 9]]
    members = session_of(said, *epochs).epochs
    ended = tuple(replace(one, ended_by=Compaction("auto")) if one.number < 3 else one for one in members)
    session = replace(session_of(said), epochs=ended)
    outcome = recorded_outcome(session, 1)
    assert (outcome.status, outcome.reason, outcome.source) == ("compacted", "recorded", tuple(said[:6]))
    assert outcome.pieces == (KeptSpan(0, 1), NewMessage(first, (Span(1, 4),)), KeptSpan(4, 6))
    spans = FateSpan(0, 1, Fate.KEPT), FateSpan(1, 4, Fate.SUMMARIZED), FateSpan(4, 6, Fate.KEPT)
    assert outcome.fates == spans
    assert following(session, 1) == (said[7], said[9])
    assert following(session, 2) == (said[9],)
    removed = replace(ended[0], ended_by=Compaction("auto", way="removal"))
    dropped = replace(session, epochs=(removed, replace(ended[1], members=[0, 4, 5, 7]), ended[2]))
    assert recorded_outcome(dropped, 1).fates == (spans[0], FateSpan(1, 4, Fate.DROPPED), spans[2])
    same = replace(session, epochs=(ended[0], replace(ended[1], members=[*epochs[0], 7]), ended[2]))
    assert recorded_outcome(same, 1) == unchanged(tuple(said[:6]), "nothing was removed")
    for epoch in (0, 3):
        with pytest.raises(KeyError, match=str(epoch)):
            recorded_outcome(session, epoch)


def test_a_recorded_compaction_is_judged_by_later_messages(shared: Path) -> None:
    session = load(shared / "sessions/claude-code/entire-cd95add-3compactions.jsonl")
    outcome, later = recorded_outcome(session, 1), following(session, 1)
    held = retention(context_of(session.context(1)), outcome, later)
    assert (outcome.split, len(outcome.messages)) == (len(session.context(1)), 1)
    assert held.kinds["request"].share == 1.0  # Claude Code's summary lists all user messages
    assert held.kinds["error"].share == 0.0
    assert 0 < held.overall.used < held.overall.facts
    assert held.overall.weighted > held.overall.share  # type: ignore[operator]
    pi = load(shared / "sessions/pi/pimono-before-compaction.jsonl")
    outcome = recorded_outcome(pi, 1)
    assert 0 < outcome.split < len(outcome.source)
    assert outcome.messages[0].kind == "summary"
    assert outcome.messages[1:] == tuple(outcome.source[outcome.split :])


def test_unreadable_facts_are_unknown_and_never_zero() -> None:
    held = retention(CONTEXT, summarized(""))
    overall = held.overall
    assert (overall.share, overall.right, overall.weighted, held.of_context) == (None, None, None, None)
    assert (held.lost, held.lacking, overall.lost) == ((), (), 0)
    assert overall.unknown == sum(fact.presence == "unknown" for fact in held.facts) == overall.facts - overall.full
    assert fact(held, "identifier", "ABC-12").presence == "full"  # the tail says it
    assert variants_table([("none", held, None)], goes_on=False).rows[0].values[1:4] == ("unknown",) * 3
    assert {row.values[-1] for row in kinds_table(held).rows} >= {"unknown"}


@pytest.mark.parametrize(
    ("said", "right", "stale"),
    [
        ("Never touch the generated grammar files.", True, False),
        ("The generated grammar files must not be touched.", True, False),
        ("Touch the generated grammar files.", False, False),
    ],
)
def test_a_fact_stated_wrongly_is_present_and_not_right(said: str, right: bool, stale: bool) -> None:
    one = fact(held := retention(CONTEXT, summarized(said)), "instruction", "Never")
    assert (one.presence, one.right, one.stale) == ("full", right, stale)
    instructions = held.kinds["instruction"]
    assert (instructions.share, instructions.right, instructions.wrong) == (1.0, float(right), int(not right))
    assert (one in held.lacking) is not right


def test_a_superseded_rule_stated_as_binding_is_stale_in_an_outcome() -> None:
    context = context_of([user("Answer in French."), agent("Oui."), user("Answer in English."), agent("Yes."), *TAIL])
    told = "The user wants answers in French.\nThe user wants answers in English."
    held = retention(context, summarized(told, context=context, head=4))
    assert [(one.text, one.right, one.stale) for one in held.facts if one.kind == "instruction"] == [
        ("Answer in French.", False, True),
        ("Answer in English.", True, False),
    ]


def test_all_of_a_contexts_facts_are_compared_and_the_tail_keeps_its_own() -> None:
    held = retention(CONTEXT, summarized("Some work was done."))
    assert held.whole.facts == len(held.facts) + held.in_tail
    assert held.whole.full == held.overall.full + held.in_tail
    assert held.of_context == held.whole.share == pytest.approx(held.whole.full / held.whole.facts)
    everything = retention(CONTEXT, unchanged(CONTEXT.messages, ""))
    assert (everything.overall.facts, everything.whole.facts) == (0, held.whole.facts)
    assert everything.of_context == 1.0


def test_items_needed_again_are_kept_or_lost() -> None:
    session = load(ROOT / "sample_sessions" / "augment-with-summary.json")
    needed = needed_after(session, 2)
    assert [(item.kind, item.text) for item in needed] == [
        ("command", "pytest -q"),
        ("path", "tidewatch/stations.py"),
        ("path", "tidewatch/feed.py"),
        ("path", "tidewatch/forecast.py"),
    ]
    found = later_use(needed, recorded_outcome(session, 2), project_folder(session))
    assert found is not None
    assert (found.kinds, found.share) == ({"path": (1, 3), "command": (1, 1)}, 0.5)
    assert [item.text for item in found.lost] == ["tidewatch/feed.py", "tidewatch/forecast.py"]
    assert needed_after(session, len(session.epochs)) == ()
    assert later_use((), recorded_outcome(session, 2), "") is None


def test_of_an_encrypted_summary_later_use_is_not_known() -> None:
    session = load(ROOT / "sample_sessions" / "codex-two-compactions.jsonl")
    needed = needed_after(session, 2)
    assert [item.text for item in needed] == ["migrations/2024_11_times.py"]
    assert later_use(needed, recorded_outcome(session, 2), project_folder(session)) is None


WORDS = ["parser", "lexer", "grammar", "module", "folder", "window", "column", "border", "header", "footer"]


@pytest.mark.parametrize(
    ("kind", "wanted", "said", "held"),
    [
        # Ten words in one sentence: 72 of a hundred hold it; three words and no others state a part.
        *(("decision", [10], [count], held) for count, held in ((10, "full"), (8, "full"), (7, "part"), (3, "part"))),
        *(("decision", [10], [count], "none") for count in (2, 0)),
        ("decision", [10], [2, 2], "none"),
        # A request is held in full only where each of its sentences is.
        ("request", [5, 5], [5, 5], "full"),
        ("request", [5, 5], [5, 4], "full"),
        ("request", [5, 5], [5, 3], "part"),
        ("request", [5, 5], [5, 0], "part"),
        ("request", [5, 5], [0, 3], "part"),
        ("request", [5, 5], [2, 2], "none"),
    ],
)
def test_a_sentence_is_held_by_the_share_of_its_words_in_one_line(
    kind: FactKind, wanted: list[int], said: list[int], held: str
) -> None:
    starts = [0, wanted[0]]
    one = fact_query(kind, " ".join(f"{' '.join(WORDS[at : at + n])}." for at, n in zip(starts, wanted, strict=False)))
    assert one is not None
    lines = [" and ".join(WORDS[at : at + n]) for at, n in zip([0, 5], said, strict=False)]
    assert SearchedText(lines).judge(one).presence == held


@pytest.mark.parametrize(("answered", "used"), [(True, [True, False, False]), (False, [True, False, True])])
def test_the_first_request_and_an_unanswered_last_one_are_in_force(answered: bool, used: list[bool]) -> None:
    asked = [user(f"Please write {what} documentation.") for what in ("parser", "lexer", "grammar")]
    head = [asked[0], agent("Done."), asked[1], agent("Done."), asked[2], *([agent("Done.")] if answered else [])]
    context = context_of(head)
    held = retention(context, summarized("Nothing.", context=context, head=len(head)))
    assert [one.used for one in held.facts if one.kind == "request"] == used


@pytest.mark.parametrize(
    ("kind", "said", "rank", "why"),
    [
        ("instruction", [("", None)], 10.0, "a standing instruction"),
        ("request", [("", False)], 9.0, "not answered"),
        ("request", [("", True)], 5.0, "answered"),
        ("decision", [("", None)], 7.0, "a decision"),
        ("path", [("created", True), ("viewed", True)], 6.0, "created"),
        ("path", [("modified", True), ("deleted", None)], 6.0, "deleted"),
        ("path", [("modified", False), ("viewed", True)], 2.0, "read"),
        ("path", [("mentioned", None)], 1.0, "not opened"),
        ("command", [("x", False)], 5.0, "failed"),
        ("command", [("x", True)], 4.0, "ran once"),
        ("command", [("x", False), ("x", True)], 4.0, "ran 2 times"),
        *(("identifier", [(f"{sort} ×3", None)], 3.5, f"{sort} ×3") for sort in ("ticket", "uuid", "hash")),
        ("identifier", [("name ×3", None)], 1.5, "name ×3"),
        ("number", [("the words", None)], 1.0, "the words"),
    ],
)
def test_rank_of_a_fact(kind: FactKind, said: list[tuple[str, bool | None]], rank: float, why: str) -> None:
    facts = [Fact(kind, "pytest -q", str(n), n, detail, ok) for n, (detail, ok) in enumerate(said)]
    assert importance(facts) == (rank, why)


@pytest.mark.parametrize(
    ("state", "rank", "why"),
    [("open", 8.0, "not fixed"), ("unknown", 5.0, "not seen fixed"), ("resolved", 3.0, "fixed")],
)
def test_rank_of_an_error(state: ErrorState, rank: float, why: str) -> None:
    assert importance([Fact("error", "no", "m", 0, state=state)]) == (rank, why)


def test_of_sentences_alike_the_same_are_looked_at_in_every_run() -> None:
    """A set has another order in each run: here the two orders that two words can have."""
    said = SearchedText([f"The {word} went to shelf {at}." for word in ("lantern", "anchor") for at in range(20)])
    one, other = (said._near(words, "english", 1) for words in (("lantern", "anchor"), ("anchor", "lantern")))
    assert one == other == list(range(MOST_CANDIDATES))


def test_a2_figures_do_not_depend_on_who_asks_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second thread that asked while the first one looked for the facts left two sets of them: the first request was
    found in one, looked for in the other, and counted as not used, for as long as the session was open."""
    talk = (user("Mend the lamp in the hall."), agent("It is mended."), user("Paint the door."), agent("It is green."))
    alone, again = context_of(talk), context_of(talk)
    outcome = summarized("Some work was done.", context=alone, head=2)
    found: list[Retention] = []

    def known_meanwhile(facts: Sequence[Fact]) -> tuple[DistinctFact, ...]:
        if not found:
            monkeypatch.setattr("workbench.analysis.retention.distinct_facts", distinct_facts)
            thread = Thread(target=lambda: found.append(retention(alone, outcome)))
            thread.start()
            thread.join()
        return distinct_facts(facts)

    monkeypatch.setattr("workbench.analysis.retention.distinct_facts", known_meanwhile)
    found.append(retention(alone, outcome))
    found.append(retention(alone, outcome))
    expected = retention(again, summarized("Some work was done.", context=again, head=2))
    assert fact(expected, "request", "Mend the lamp").used
    assert found == [expected] * 3


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Never touch the generated grammar files.", (1, 1)),
        ("Touch the generated grammar files.", (0, 1)),
        ("Some work was done.", (0, 1)),
    ],
)
def test_c_a_rule_stated_wrongly_is_not_kept(said: str, kept: tuple[int, int]) -> None:
    assert retention(CONTEXT, summarized(said)).rule_counts == kept


def test_c_a_rule_that_was_replaced_is_no_rule_to_keep() -> None:
    context = context_of([user("Answer in French."), agent("Oui."), user("Answer in English."), agent("Yes."), *TAIL])
    told = summarized("The user wants answers in English.", context=context, head=4)
    assert retention(context, told).rule_counts == (1, 1)


def test_c_messages_added_by_the_compaction_are_not_later_messages() -> None:
    """A file that was given back with the summary is part of what the compaction kept: the agent needed it all the
    same."""
    work = (user("Look at the sluice."), *edited("/repo/src/sluice.py"), agent("It is dry."))
    made = (summary("s", "Work went on."), replace(user("Read before: src/sluice.py, it is dry."), kind="meta"))
    again = edited("/repo/src/sluice.py")
    messages = (*work, *made, user("Once more."), *again)
    session = session_of(messages, range(len(work)), range(len(work), len(messages)))
    ended = replace(session.epochs[0], ended_by=Compaction("auto", 9_000, "s"))
    session = replace(session, epochs=(ended, session.epochs[1]), cwd="/repo")
    assert messages_after(session, 1, following(session, 1)) == [*messages[len(work) + 2 :]]
    assert [(item.kind, item.text) for item in needed_after(session, 1)] == [("path", "src/sluice.py")]
    typed = replace(session, messages=(*work, *made, user("Once more in src/sluice.py."), *again))
    assert needed_after(typed, 1) == (), "what the user says later is told later"


SHARED = [("augment-with-summary.json", 2), ("roo-window.json", 1)]


def compacted(session: Session, epoch: int) -> tuple[Context, list[Outcome]]:
    """An epoch's context, and what three presets and the agent itself made of it."""
    context = context_of(session.context(epoch), manual=True)
    presets = [default_preset(id) for id in ("user-messages", "clear-tool-results", "ledger")]
    runs = [drive(strategy(one.strategy).run(context, one.policy), extractive) for one in presets]
    return context, [*(run.outcome for run in runs), recorded_outcome(session, epoch)]


@pytest.mark.parametrize(("sample", "epoch"), SHARED)
def test_outcomes_of_one_context_share_facts_and_change_no_verdict(
    sample: str, epoch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = load(ROOT / "sample_sessions" / sample)
    later = following(session, epoch)
    context, outcomes = compacted(session, epoch)
    alone = [retention(context_of(session.context(epoch)), one, later) for one in outcomes]
    searched: list[int] = []

    def counted(messages: Sequence[Message]) -> tuple[Fact, ...]:
        searched.append(len(messages))
        return find_facts(messages)

    monkeypatch.setattr("workbench.analysis.retention.find_facts", counted)
    assert [retention(context, one, following(session, epoch)) for one in outcomes] == alone
    assert searched == [len(later)], "facts of the later messages are found once"
    assert [retention(context, one) for one in outcomes] == [
        retention(context_of(session.context(epoch)), one) for one in outcomes
    ], "without later messages other facts count as used"
    assert alone[-1].overall.used > retention(context, outcomes[-1]).overall.used


@pytest.mark.parametrize(
    ("kind", "ends", "state"),
    [
        ("command", [(False, ""), (True, "")], "passed"),
        ("command", [(True, ""), (False, "")], "failed"),
        ("command", [(True, ""), (None, "")], ""),
        ("path", [(True, "created"), (False, "deleted"), (True, "viewed")], "created"),
        ("path", [(True, "created"), (True, "modified"), (None, "deleted")], "deleted"),
        ("path", [(True, "viewed")], ""),
        ("url", [(True, "")], ""),
    ],
)
def test_the_last_state_of_a_fact(kind: FactKind, ends: list[tuple[bool | None, str]], state: str) -> None:
    mentions = (Fact(kind, "x", f"m{at}", at, detail, ok=ok) for at, (ok, detail) in enumerate(ends))
    assert state_of(DistinctFact(tuple(mentions))) == state
