"""Defects of the ledger found in real sessions, each reduced to a small case."""

from __future__ import annotations

import json
from collections import Counter as Counted
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.compaction.test_ledger_on_files import compacted, entries_of
from tests.paths import SAMPLES
from tests.products import mostly_full
from workbench.analysis.retention import retention
from workbench.base.figures import grouped
from workbench.compaction.context import Context
from workbench.compaction.ledger.entries import LedgerEntry
from workbench.compaction.ledger.gather import ledger_entries
from workbench.compaction.ledger.lost import lost_from
from workbench.compaction.ledger.queue import ASKED_CHARS, Priority, queue_of
from workbench.compaction.ledger.shorter import ENDLESS, clipped, longest_text, shortened
from workbench.compaction.ledger.text import Ledger, read_ledger, written
from workbench.compaction.opening import context_at
from workbench.compaction.outcome import Fate, FateSpan, KeptSpan, Lost, NewMessage, Outcome
from workbench.compaction.shape import Shape
from workbench.compaction.summary_extras import Original, original_of
from workbench.conformance.building import agent, call, chat, context_of, loop, result, summary, user
from workbench.formats.files import load
from workbench.session import Media, Message, Opaque, Span, Text, ToolResult, ToolUse
from workbench.session.bounded import LONGEST, MOST_VALUES
from workbench.tokens import Counter


def takes(context: Context, outcome: Outcome) -> int:
    return context.outcome_size(outcome).tokens


def test_what_an_editor_put_before_a_request_fills_no_ledger(tmp_path: Path) -> None:
    """The tabs that were open stood in each of the requests, and took more than half of a ledger."""
    tabs = "\n".join(f"- weir{n}.py: river/gates/weir{n}.py" for n in range(60))
    context = f"# Context from my IDE setup:\n\n## Active file: river/sluice.py\n\n## Open tabs:\n{tabs}\n\n"
    lines = [{"type": "session_meta", "payload": {"id": "s", "timestamp": "2026-03-04T05:06:07.000Z", "cwd": "/w"}}]
    for n in range(6):
        asked = f"{context}## My request for Codex:\nOil gate {n} before noon.\n"
        for role, part, text in (("user", "input_text", asked), ("assistant", "output_text", f"Raised {n}. " * 60)):
            said = {"type": "message", "role": role, "content": [{"type": part, "text": text}]}
            lines.append({"type": "response_item", "payload": said})
    path = tmp_path / "rollout-2026-03-04T05-06-07-s.jsonl"
    path.write_text("".join(json.dumps({"timestamp": "2026-03-04T05:06:07.000Z"} | one) + "\n" for one in lines))
    outcome = compacted(context_at(load(path), 1, Counter()), 900)
    requests = [one.text for one in entries_of(outcome) if one.kind == "user"]
    assert "Oil gate 0 before noon." in requests
    assert all(text.startswith("Oil gate ") and len(text) < 40 for text in requests)


@pytest.mark.parametrize("budget", [150, 250, 400, 2_000])
def test_a_summary_whose_answer_calls_a_tool_stays_with_its_result(budget: int) -> None:
    """Its agent took the first call that it kept over into the answer to its summary; the result stood alone."""
    answer = Message("k", "assistant", (Text("I go on."), call("c", file_path="a.py")), kind="summary")
    talk = [summary("s", "We mended the weir."), answer, result("r", ("c", "gate\n" * 400)), *loop("l", 4)]
    outcome = compacted(context_of(talk), budget)
    there = {one.id for one in outcome.messages}
    assert ("k" in there) is ("r" in there)
    unread = compacted(context_of(talk[:3]), budget)
    assert [one.id for one in unread.messages[-2:]] == ["k", "r"]


def test_media_are_never_short() -> None:
    """An image counted as short, and one of 1 500 tokens was there whatever else had to go."""
    image = Media("image/png", 90_000)
    shown = Message("r", "tool", (ToolResult("c", (image,)),))
    assert longest_text(Message("i", "user", (Text("What is this?"), image))) == longest_text(shown) == ENDLESS
    assert shortened(shown, 200, "en").results[0].content == (Text(image.placeholder),)
    assert longest_text(user("u", "What is this?")) == 13


@pytest.mark.parametrize(("budget", "there"), [(900, False), (2_400, True)])
def test_a_summary_that_nobody_can_read_stays_where_half_of_the_budget_holds_it(budget: int, there: bool) -> None:
    sealed = Message("s", "user", (Opaque("compaction", {"encrypted_content": "x" * 4_000}),), kind="summary")
    context = context_of([sealed, *loop("l", 30)])
    outcome = compacted(context, budget)
    assert (sealed in outcome.messages) is there
    assert takes(context, outcome) <= budget


def test_what_earlier_summaries_tell_has_the_room_that_nothing_else_wants() -> None:
    told = "The north gate was oiled, and the miller was glad of it. " * 400
    context = context_of([summary("s", told), *chat(3, "c")])
    for budget in (1_000, 2_000, 4_000):
        assert 0.9 * budget <= takes(context, compacted(context, budget)) <= budget


def test_a_file_is_told_that_the_command_in_the_tail_does_not_name() -> None:
    """The command stood whole in the tail, so nothing said which files it had moved."""
    moved = "mv river/{north,south}.py weir/"
    talk = [*loop("l", 30), user("u", "Move them."), agent("b", "", call("c", command=moved)), result("r", ("c", "")),
            agent("z", "Moved.")]  # fmt: skip
    outcome = compacted(context_of(talk), 500)
    assert {"command": moved} in [one.input for message in outcome.messages for one in message.calls]
    files = {(one.state, one.text) for one in entries_of(outcome) if one.state in ("created", "deleted")}
    places = (("deleted", "river"), ("created", "weir"))
    assert files == {(state, f"{folder}/{name}.py") for state, folder in places for name in ("north", "south")}


@pytest.mark.parametrize("budget", range(250, 1_050, 100))
def test_a_request_in_a_refusal_is_told_whole_though_the_refusal_is_shortened(budget: int) -> None:
    """The user's words in a refused call were in the middle that the tail had cut out."""
    asked = "Oil the north gate first, for the south gate has rusted through and the miller is away until Sunday."
    refusal = f"{'The call was refused. ' * 30}The user said:\n{asked}\n{'Wait for them. ' * 30}"
    refused = Message("r", "tool", (ToolResult("c", (Text(refusal),), True, user_text=asked),))
    talk = [*loop("l", 20), user("u", "Move the gates."), agent("a", "", call("c", command="./move")), refused,
            agent("z", "I wait."), *loop("m", 2)]  # fmt: skip
    outcome = compacted(context_of(talk), budget)
    said = "\n".join([*(one.text for one in outcome.messages), *(r.text for m in outcome.messages for r in m.results)])
    assert asked in said


def test_one_line_that_a_person_pasted_fills_a_large_budget() -> None:
    """All of a paste on one line went, and of a budget of 40 000 tokens 500 were used."""
    line = '{"rows":[' + ",".join(f'{{"gate":{n},"open":false}}' for n in range(4_000)) + "]}"
    context = context_of([user("u", f"Which gate is open?\n{line}\nTell me the number alone.")])
    outcome = compacted(context, 10_000)
    assert takes(context, outcome) >= 9_000
    assert outcome.fate_at(0).fate is Fate.COMPRESSED
    assert outcome.messages[0].text.startswith("Which gate is open?\n{")
    assert outcome.messages[0].text.endswith("Tell me the number alone.")


def test_a_long_command_is_told_by_its_beginning_before_what_came_of_it() -> None:
    line = f"make gates NORTH=1 SOUTH=1 {' '.join(f'WEIR{n}=on' for n in range(60))}"
    talk = [
        user("u", "Go."),
        agent("a", "", call("c", command=line)),
        result("r", ("c", "41 gates made")),
        *loop("l", 30),
    ]
    entries = [one for budget in (300, 1_400) for one in entries_of(compacted(context_of(talk), budget))]
    short, whole = (one for one in entries if one.kind == "command" and one.text.startswith("make gates"))
    assert (short.text, short.detail) == (f"{line[:120]} [… {len(line) - 120} more]", "")
    assert (whole.text, whole.detail) == (line, "41 gates made")


def test_what_an_editor_put_before_the_open_request_gives_way_to_it() -> None:
    """The request stood twice, in the ledger and behind its editor's words in the tail, which had its room."""
    asked = "Raise the north gate by one notch, and say when. " * 8
    talk = [*loop("l", 30), Message("u", "user", (Text("# Open tabs\n" * 200, injected=True), Text(asked.strip()))),
            agent("z", "Which notch?")]  # fmt: skip
    outcome = compacted(context_of(talk), 300)
    (there,) = [one for one in outcome.messages if one.id == "u"]
    assert there.text.endswith(asked.strip()[-300:])
    assert there.text.count("Open tabs") <= 20
    assert [one for one in entries_of(outcome) if one.kind == "user" and one.state == "open"] == []


def test_what_stands_word_for_word_in_a_result_is_not_lost() -> None:
    """Lines that end in a little word ("before you go on") and commands were taken for heaps of words, and what they
    say for lost."""
    session, counter = load(SAMPLES / "claude-code-overflow.jsonl"), Counter()
    counter.count_all(session.context(1), lambda done, total: None, lambda: False)
    context = context_at(session, 1, counter)
    outcome = compacted(context, 50_000)
    told = [" ".join(one.text.split()) for one in entries_of(outcome)]
    lost = [fact.text for fact in retention(context, outcome).lost]
    assert [text for text in lost if text.count(" ") >= 5 and any(text in one for one in told)] == []


def test_several_texts_of_an_editor_come_one_after_another() -> None:
    """All of them came at once, at more than was left, and half of a small budget stayed empty."""
    beside = [Text(f"# Tabs {n}\n" + "- gate\n" * 90, injected=True) for n in range(9)]
    talk = [summary("s", "We mended the weir. " * 60), Message("u", "user", (*beside, Text("Raise the north gate."))),
            agent("a", "", call("c", command="./raise")), result("r", ("c", "raised"))]  # fmt: skip
    context = context_of(talk)
    for budget in range(200, 700, 40):
        assert 0.9 * budget <= takes(context, compacted(context, budget)) <= budget, budget


def test_a_command_that_was_run_again_is_told_before_those_that_were_not() -> None:
    """Each was worth the same, and what looks as much as what checks."""
    lines = [f"cd /w && ./raise gate{n}" for n in range(20)]
    lines[3:3] = lines[9:9] = ["cd /w && make weir 2>&1 | tail -3"]
    lines[5:5] = [f"ls gates/{n}" for n in range(20)]
    runs = [one for n, line in enumerate(lines)
            for one in (agent(f"a{n}", "", call(f"c{n}", command=line)), result(f"r{n}", (f"c{n}", "")))]  # fmt: skip
    outcome = compacted(context_of([user("u", "Raise them."), *runs, *loop("l", 30)]), 260)
    told = [one.text for one in entries_of(outcome) if one.kind == "command" and one.text in " ".join(lines)]
    assert any("make weir" in one for one in told)
    assert not any(one.startswith("ls ") for one in told)


def test_a_file_is_told_once_with_as_much_of_its_path_as_was_said() -> None:
    """Its name alone and half of its path were told beside it."""
    whole = "/w/river/gates/weir.py"
    talk = [user("u", "Mend weir.py and gates/weir.py."), agent("a", "", call("c", "Edit", file_path=whole)),
            result("r", ("c", f"{whole} was changed; gates/weir.py compiles")), *loop("l", 30)]  # fmt: skip
    told = [
        one.text for one in entries_of(compacted(context_of(talk), 500)) if "weir" in one.text and one.kind == "file"
    ]
    assert told == [whole]


def test_what_is_an_instruction_and_a_request_is_told_once() -> None:
    rule = "Never raise the gate by more than two notches."
    talk = [
        user("u", "Start."),
        agent("a", "Yes."),
        user("v", rule),
        *loop("l", 30),
        user("w", "Go on."),
        agent("z", "Ok."),
    ]
    outcome = compacted(context_of(talk), 500)
    assert [one.kind for one in entries_of(outcome) if one.text == rule] == ["instruction"]
    assert "left out" not in "".join(outcome.trace)


def test_an_error_is_quoted_with_the_blanks_that_it_has() -> None:
    """The last line of an output lost its double blanks, and was no quotation any more."""
    said = "41 gates made\n\u2009LIFECYCLE\u2009 Raising  failed.  See above"
    talk = [user("u", "Go."), agent("a", "", call("c", command="make test")),
            Message("r", "tool", (ToolResult("c", (Text(said),), True),)), *loop("l", 30)]  # fmt: skip
    assert "LIFECYCLE\u2009 Raising  failed.  See above" in [
        one.text for one in entries_of(compacted(context_of(talk), 500)) if one.kind == "error"
    ]


def test_what_says_that_a_paste_is_gone_is_not_cut_through() -> None:
    """A second cut left half of it, which nobody had said."""
    text = "a" * 100 + " [… 394 characters of code, #14] " + "b" * 100
    ends = {clipped(text, chars, "en").rpartition("\n")[2].lstrip(" ") for chars in range(40, 172)}
    begins = {clipped(text, chars, "en").partition("\n")[0].rstrip(" ") for chars in range(40, 172)}
    assert {one.strip("b") for one in ends} | {one.strip("a") for one in begins} == {""}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_f11_a_cut_counts_what_earlier_cuts_took(language: Any) -> None:
    text = "a" * 200 + "\n[… 1 234 characters left out …]\n" + "b" * 400
    once = clipped(text, 100, language)
    assert grouped(1234 + 600 - 100) in once
    again = clipped(f"{once}{'c' * 400}", 60, language)
    assert grouped(1234 + 600 + 400 - 60) in again
    assert again.count("[…") == 1
    theirs = clipped("a" * 200 + "\n[… 1 234 lines left out …]\n" + "b" * 400, 100, language)
    assert grouped(600 + len("\n[… 1 234 lines left out …]\n") - 100) in theirs, "lines are no characters"


@pytest.mark.parametrize("chars", [LONGEST, LONGEST + 1, 3 * LONGEST])
def test_f11_of_a_huge_text_all_that_is_cut_is_counted(chars: int) -> None:
    words = "word " * (chars // 5) + "." * (chars % 5)
    cut = shortened(Message("m", "assistant", (Text(words),)), 200, "en").text
    assert cut == f"{words[:100]}\n[… {grouped(chars - 200)} characters cut …]\n{words[-100:]}"


def test_f11_of_a_huge_input_the_entries_left_out_are_counted() -> None:
    given = {f"key{number}": number for number in range(3 * MOST_VALUES)} | {"last": "x" * 10_000}
    cut = shortened(Message("m", "assistant", (ToolUse("1", "put", {"a": "y" * 1000, **given}),)), 200, "en")
    (call,) = cut.calls
    assert call.input["…"] == f"[… {grouped(3 * MOST_VALUES + 2 - (MOST_VALUES - 1))} entries left out …]"


def test_a_path_is_told_though_the_tail_has_the_files_name() -> None:
    """A message with only a file's name was taken to contain its whole path."""
    seen = agent("a", "I look at river/gates/weir.py.")
    talk = [user("u", "Look."), seen, *loop("l", 30), user("w", "Go on with weir.py."), agent("z", "Ok.")]
    for budget in (300, 500, 900):
        outcome = compacted(context_of(talk), budget)
        told = [one.text for one in outcome.messages]
        assert any("river/gates/weir.py" in text for text in told), budget


def talk(rounds: int) -> list[Message]:
    """Talk without tools: of 200 characters a round is a person's fifth, the rest is the agent's."""
    said = [(user(f"u{n}", f"Guest {n} of ours, Tom{n}, eats no gluten, and the table by window {n} is his on Friday."),
             agent(f"a{n}", "What a lovely evening that will be. " * 9)) for n in range(rounds)]  # fmt: skip
    return [*(one for pair in said for one in pair), user("now", "What shall we cook for all of them together?")]


@pytest.mark.parametrize("rounds", [1, 2, 4, 8])
def test_a_small_talk_keeps_to_its_budget(rounds: int) -> None:
    """The ledger's fixed words and the agent's newest words took more than 27 of 278 tokens can hold."""
    context = context_of(talk(rounds))
    whole = context.upto(len(context)).tokens
    for budget in range(40, whole, 7):
        assert takes(context, compacted(context, budget)) <= budget, budget


def test_a_small_ledger_of_a_talk_holds_every_word_of_the_persons() -> None:
    """At 30 % of 900 tokens, where the person's words are 22 %, some gave way to the agent's."""
    messages = talk(9)
    context = context_of(messages)
    outcome = compacted(context, context.upto(len(context)).tokens * 3 // 10)
    texts = [one.text for one in outcome.messages] + [one.text for one in entries_of(outcome)]
    assert [one.text for one in messages if one.role == "user" and one.text not in texts] == []
    assert any(one.role == "assistant" for one in outcome.messages), "the agent's newest words, in part"


FOLDERS = """
kettle anchor barge quay lantern harbor pulley rudder galley mast keel oar sail rope hull deck buoy tide wharf crane
winch cable hatch bilge cleat fender jib spar stern bow
"""
RULES = [f"Never touch the {word} folder." for word in FOLDERS.split()]


def with_a_huge_request(newest: Message) -> list[Message]:
    """A session in whose middle the user states thirty rules, with edits around them, and which ends with `newest`."""
    messages = [user("first", "Build the harbor."), agent("a", "I begin.")]
    for n, rule in enumerate(RULES):
        edit = agent(f"e{n}", "", call(f"c{n}", "Edit", file_path=f"src/part{n}.py"))
        messages += [user(f"u{n}", rule), edit, result(f"r{n}", (f"c{n}", "done " * 500)), agent(f"d{n}", "Done.")]
    return [*messages, newest]


@pytest.mark.parametrize(
    "case", mostly_full(product([2, 5, 10], [True, False]), [(2, True), (5, False), (10, True)]), ids=str
)
def test_a1_a_huge_newest_request_leaves_every_rule_and_is_shortened(case: tuple[int, bool]) -> None:
    """The rest of the newest request came before the rules: one longer than the budget left a ledger of no entries."""
    percent, paste = case
    huge = "\n".join(
        f"2026-03-04 10:11:{n % 60:02} WARN kettle {n} boiled over" if paste else f"the kettle hums in row {n};"
        for n in range(3_000)
    )
    context = context_of(with_a_huge_request(user("now", f"What went wrong here?\n{huge}\nTell me the cause.")))
    budget = context.total.tokens * percent // 100
    assert budget < len(huge) // 4, "the request alone is larger"
    outcome = compacted(context, budget)
    entries = entries_of(outcome)
    assert {one.text for one in entries if one.kind == "instruction"} == set(RULES)
    assert [one.text for one in entries if one.state == "first"] == ["Build the harbor."]
    newest = outcome.messages[-1]
    assert (newest.id, outcome.fate_at(len(context) - 1).fate) == ("now", Fate.COMPRESSED)
    assert newest.text.startswith("What went wrong here?\n")
    assert newest.text.endswith("Tell me the cause.")
    assert 0.9 * budget <= takes(context, outcome) <= budget
    assert outcome.lost == ()
    changed = {one.text for one in entries if one.kind == "file"}
    assert changed == {f"src/part{n}.py" for n in range(30)} or budget < ASKED_CHARS // 4 + 1_500


@pytest.mark.parametrize(
    ("more", "room", "whole", "files"),
    [(0, 300, False, False), (0, 420, True, True), (3_000, 300, False, False), (3_000, 600, False, True)],
)
def test_a1_an_unanswered_request_comes_before_the_files_up_to_a_limit(
    more: int, room: int, whole: bool, files: bool
) -> None:
    """Up to `ASKED_CHARS` it has the room that the rules leave; what is longer waits for what is worth more."""
    asked = user("now", ("fold the sails " * 2_000)[: ASKED_CHARS + more])
    outcome = compacted(context_of(with_a_huge_request(asked)), ASKED_CHARS // 4 + room)
    kinds = Counted(one.kind for one in entries_of(outcome))
    assert (outcome.messages[-1] is asked) == whole
    assert kinds["instruction"] == 30
    assert (kinds["file"] > 0) == files


def test_a1_rules_are_there_even_over_the_budget() -> None:
    context = context_of([*with_a_huge_request(agent("z", "All done. " * 400)), user("now", "And now?")])
    outcome = compacted(context, 60)
    assert {one.text for one in entries_of(outcome) if one.kind == "instruction"} == set(RULES)
    assert any("over the budget:" in line for line in outcome.trace)


def test_a1_what_a_result_lacks_of_rules_and_request_is_named() -> None:
    long = "Never lower the " + "rusty " * 100 + "anchor by night."
    messages = [user("u1", RULES[0]), user("u2", long), agent("a", "x" * 4_000), user("now", "What of this?")]
    context = context_of([*messages, agent("b", "I look.")])
    whole = compacted(context, 300)
    assert lost_from(context, whole) == ()
    told = [LedgerEntry("instruction", RULES[0], 1), LedgerEntry("instruction", clipped(long, 200, "en"), 2)]
    for entries, newest, lost in (
        (told, 3, ()),
        (told[:1], 3, (Lost("u2", long),)),
        ([], 3, (Lost("u1", RULES[0]), Lost("u2", long))),
        ([replace(told[0], state="gone"), told[1]], 3, (Lost("u1", RULES[0]),)),
        ([replace(told[0], kind="user"), told[1]], 3, (Lost("u1", RULES[0]),)),
        (told, 4, (Lost("now", "What of this?"),)),
        ([*told, LedgerEntry("user", "What of this?", 4, "open")], 4, ()),
        ([*told, LedgerEntry("user", "What of", 4, "open")], 4, (Lost("now", "What of this?"),)),
    ):
        ledger = Message("n", "user", (Text(written(Ledger(3, (), tuple(entries)))),), kind="summary")
        pieces = (NewMessage(ledger, (Span(0, newest),)), KeptSpan(newest, 5))
        fates = (FateSpan(0, newest, Fate.ABRIDGED), FateSpan(newest, 5, Fate.KEPT))
        assert lost_from(context, Outcome("compacted", "", context.messages, pieces, fates)) == lost


def test_c_a_rule_that_was_replaced_binds_no_longer() -> None:
    """In no room at all the rules in force are there, and none that a later word replaced."""
    talk = [
        user("u1", "From now on answer in French."),
        agent("a1", "Oui. " * 300),
        user("u2", "From now on answer in German."),
        agent("a2", "Ja. " * 300),
        user("u3", "Never push to main."),
        agent("a3", "Gut. " * 300),
        user("now", "Go on."),
    ]
    context = context_of(talk)
    outcome = compacted(context, 1)
    rules = [(one.text, one.state) for one in entries_of(outcome) if one.kind == "instruction"]
    assert rules == [("From now on answer in German.", ""), ("Never push to main.", "")]
    queue = queue_of(context)
    lines = ((queue.lines[step.thing].entry, step.rank.priority) for step in queue.steps if step.is_line)
    priority = {entry.text: one for entry, one in lines if entry.kind == "instruction"}
    assert priority["From now on answer in French."] is Priority.WORTH
    assert priority["From now on answer in German."] is Priority.RULE
    assert outcome.lost == ()


OF_AGENT = summary("agents", "The user wants a loaf; nothing is baked yet.")
BEGUN = Shape((user("first", "Bake a loaf."), agent("a", "I begin.")))


def requests_of(messages: Sequence[Message], begun: Shape | None) -> list[tuple[str, str, int]]:
    entries = (
        one.entry for one in ledger_entries(context_of(messages, first_context=begun)) if one.entry.kind == "user"
    )
    return [(entry.state, entry.text, entry.source) for entry in entries]


@pytest.mark.parametrize(
    ("before", "begun", "first"),
    [
        ([], None, ("first", "Add rye.", 1)),
        ([user("first", "Bake a loaf."), agent("a", "I begin.")], None, ("first", "Bake a loaf.", 1)),
        ([OF_AGENT], None, None),
        ([user("mark", "", "boundary")], None, None),
        ([OF_AGENT], BEGUN, ("first", "Bake a loaf.", 1)),
        ([OF_AGENT], Shape((OF_AGENT, *BEGUN.messages)), None),
        ([OF_AGENT, user("copy", "Bake a loaf.")], BEGUN, ("first", "Bake a loaf.", 2)),
    ],
    ids=["whole", "whole with more", "cut file", "boundary", "compacted", "compacted from a cut file", "copied"],
)
def test_only_the_sessions_own_first_request_is_called_the_first(
    before: list[Message], begun: Shape | None, first: tuple[str, str, int] | None
) -> None:
    """The oldest request behind an agent's compaction was called the first, and the real one was in no ledger."""
    later = [user("u1", "Add rye."), agent("a1", "Added."), user("u2", "And salt."), agent("a2", "Salted.")]
    found = requests_of([*before, *later], begun)
    number = len(before) + 1
    others = [("", "Add rye.", number)] if first is None or first[1] != "Add rye." else []
    assert found == [("open", "And salt.", number + 2), *([first] if first else []), *others]


def test_the_first_request_alone_is_not_open_where_only_the_first_context_holds_it() -> None:
    assert requests_of([OF_AGENT, agent("a1", "Still baking.")], BEGUN) == [("first", "Bake a loaf.", 1)]


def test_the_first_request_of_a_session_lasts_through_an_agents_compaction_and_two_of_ours() -> None:
    messages = [OF_AGENT, *loop("x", 20), user("u1", "Add rye."), agent("a1", "Added.")]
    for begun in (BEGUN, None):  # then as a session of its own, whose beginning is the first ledger
        outcome = compacted(context_of(messages, first_context=begun), 400)
        assert [one.text for one in entries_of(outcome) if one.state == "first"] == ["Bake a loaf."]
        messages = [*outcome.messages, *loop("y", 20), user("u2", "And salt."), agent("a2", "Salted.")]


@pytest.mark.parametrize(
    ("requests", "first"),
    [
        ([("first", "Bake."), ("open", "Add rye.")], "Bake."),
        ([("open", "Bake.")], "Bake."),
        ([("", "a"), ("open", "b")], None),
        ([], None),
    ],
)
def test_a_ledger_gives_the_first_request_where_the_session_begins_with_it(
    requests: list[tuple[str, str]], first: str | None
) -> None:
    entries = tuple(LedgerEntry("user", text, number, state) for number, (state, text) in enumerate(requests, 3))
    message = user("l", written(Ledger(40, (), entries)))
    original = original_of(context_of([message, user("u", "Go on.")]))
    assert original == (Original(first, number=3) if first else None)


def users(outcome: Outcome) -> list[tuple[str, str]]:
    return [(one.state, one.text) for one in entries_of(outcome) if one.kind == "user"]


SAID = [f"The {name} sluice feeds pond {number}." for number, name in enumerate(("north", "oak", "mill", "elder"), 1)]


def talk_of_work(sentences: Sequence[str]) -> list[Message]:
    """Sentences of the user, each followed by work on files, and a newest request."""
    rounds = [
        [user(f"s{n}", text), agent(f"b{n}", "", call(f"k{n}", "Read", file_path=f"river/gates/weir{n}.py")),
         result(f"q{n}", (f"k{n}", "gate\n" * 300)), agent(f"e{n}", "Seen.")]
        for n, text in enumerate(sentences)
    ]  # fmt: skip
    return [*(one for several in rounds for one in several), *loop("l", 30), user("now", "Go on."), agent("z", "Ok.")]


@pytest.mark.parametrize("budget", [230, 400, 1_000])
def test_every_sentence_of_the_user_is_there_in_order_before_the_files(budget: int) -> None:
    """A request of two sentences was as expensive as both, so that short and empty ones came first."""
    outcome = compacted(context_of(talk_of_work([" ".join(SAID[:2]), *SAID[2:]])), budget)
    said = [("first", SAID[0]), ("first", SAID[1]), ("", SAID[2]), ("", SAID[3]), ("", "request l")]
    assert users(outcome) == said


def test_a_sentence_that_leans_on_the_one_before_takes_it_along() -> None:
    cap = "The cap for the north mill is what we said."
    lean = "It is $878 for Ines Ruiz and $912 for Tom Weir in March."
    filler = [f"Gate {n} of pond {n} was painted by Ada Oak on 1{n % 10} May." for n in range(30)]
    for budget in range(220, 700, 30):
        told = [text for _, text in users(compacted(context_of(talk_of_work([*filler, f"{cap} {lean}"])), budget))]
        assert (cap in told) or (lean not in told), budget


def test_a_sentence_that_is_corrected_is_gone_and_an_order_of_the_same_form_is_not() -> None:
    said = ["The release is on 4 May.", "Oil gate 1 before noon.", "Actually, the release is on 9 May.",
            "Oil gate 2 before noon."]  # fmt: skip
    talk = [one for n, text in enumerate(said) for one in (user(f"u{n}", text), agent(f"a{n}", "Fine."))]
    states = {one.entry.text: one.entry.state for one in ledger_entries(context_of(talk)) if one.entry.kind == "user"}
    assert states == {said[0]: "gone", said[1]: "", said[2]: "", said[3]: "open"}


def test_ledgers_of_earlier_versions_are_read_by_sentence() -> None:
    text = (
        '<ledger upto="9">\nVerbatim from earlier messages, by number.\n\n## Requests of the user\n'
        "- #1 [first] Fix the weir. It leaks.\n\n## Stated by the user\n- #7 My sister lives in Lund.\n</ledger>"
    )
    ledger = read_ledger(text)
    assert ledger is not None
    assert ledger.entries == (
        LedgerEntry("user", "Fix the weir.", 1, "first"),
        LedgerEntry("user", "It leaks.", 1, "first"),
        LedgerEntry("user", "My sister lives in Lund.", 7),
    )
    assert "- #1 [first] Fix the weir. It leaks.\n- #7 My sister lives in Lund." in written(ledger)


def test_an_agent_that_works_with_tools_talks_little_in_its_ledger() -> None:
    """Its narration took the room of its files and commands."""
    notes = [f"I look at the {name} weir before the pump." for name in ("north", "south", "mill", "oak", "elder")]
    work = [one for n, text in enumerate(notes)
            for one in (agent(f"n{n}", text, call(f"m{n}", "Edit", file_path=f"w/{n}.py")),
                        result(f"o{n}", (f"m{n}", "ok")))]  # fmt: skip
    small = entries_of(compacted(context_of([user("u", "Go."), *work, *loop("l", 30)]), 260))
    assert sum(one.kind == "file" for one in small) >= 5
    assert [one for one in small if one.kind == "agent" and one.text in notes] == []


def test_what_was_pasted_stays_pasted_in_the_next_ledger() -> None:
    """The sentences of a pasted plan took the share of the user's own words after the second compaction."""
    plan = "# Plan\n\n" + "\n".join(f"## Part {n}\n\n- Oil the hinges of gate {n}.\n" for n in range(120))
    talk = [user("p", f"Implement the following plan:\n\n{plan}\n"), agent("a", "I begin.")]
    for n in range(40):
        talk += [user(f"u{n}", f"Paint the keeper's boat {n} in colour {n}."), agent(f"a{n}", "painting " * 60)]
    outcome = compacted(context_of(talk), 4_000)
    again = context_of([*outcome.messages, user("n", "Go on."), agent("o", "I do.")])
    kinds = Counted(one.entry.kind for one in ledger_entries(again) if one.entry.source == 1)
    assert kinds["document"] > 20
    assert kinds["user"] == 2
    order = [queue_of(again).lines[step.thing].entry for step in queue_of(again).steps if step.is_line]
    competing = [one for one in order if one.is_from_user and one.state not in ("first", "open")]
    assert [one.is_pasted for one in competing[:20]] == [False] * 20
    small = compacted(again, 700)
    kept = [one for one in entries_of(small) if one.is_from_user and one.state == ""]
    assert kept
    assert not any(one.is_pasted for one in kept)


def test_an_answer_that_the_user_typed_is_one_entry_with_its_question() -> None:
    """It stood twice in the ledger: as the user's sentence, and as a decision with the question."""
    talk = [
        user("a", "Repair the weir at the old mill."),
        agent("b", "The left gate is bent. Should I replace the gate with the spare one?"),
        user("c", "na, let's try to straighten it"),
        agent("d", "hammering " * 300),
        *(one for n in range(8) for one in (user(f"u{n}", f"And gate {n}?"), agent(f"g{n}", "hammering " * 300))),
    ]
    outcome = compacted(context_of(talk), 700)
    answers = [one for one in entries_of(outcome) if one.text == "na, let's try to straighten it"]
    question = "Should I replace the gate with the spare one?"
    assert answers == [LedgerEntry("user", "na, let's try to straighten it", 3, "", question)]
    again = context_of([*outcome.messages, user("n", "Go on."), agent("o", "hammering " * 300)])
    assert answers[0] in [one.entry for one in ledger_entries(again)]
