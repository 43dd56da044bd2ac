"""Probes on invented sessions: the questions generated, right answers, and the scores of arms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from tests.analysis.courses import counter_of, session_of
from tests.facts.talk import agent, call, ran, result, user
from workbench.analysis.needed_items import Item
from workbench.analysis.probes import (
    FULL,
    MOST,
    NOTHING,
    Exam,
    Probe,
    ProbeResults,
    ProbeTotals,
    arm_contexts,
    looked_up,
    probes_of,
    read_probes,
    write_probes,
)
from workbench.analysis.probes.cloze import (
    ProbedContext,
    _errors,
    is_unique,
    is_worth_asking,
    terms_of,
    with_blank,
)
from workbench.analysis.probes.exam import JUDGEMENTS_PER_CALL, Arm, ArmContext
from workbench.analysis.probes.later import used_questions
from workbench.analysis.probes.lookup import Lookup, with_sources
from workbench.analysis.probes.probe import BLANK, Mark, contains_term, mark_reply, probes_path, probes_toml
from workbench.analysis.probes.results import ProbeAnswer, graded, lead_of, share_of
from workbench.base.errors import BadInput
from workbench.bench import open_bench
from workbench.compaction.outcome import unchanged
from workbench.compaction.shape import Shape
from workbench.compaction.shape_facts import facts_of
from workbench.compaction.summary_request import Summary
from workbench.conformance import building
from workbench.session import Message, SessionFacts, Text


def wrote(path: str, content: str) -> tuple[Message, Message]:
    used = call("Write", {"file_path": path, "content": content})
    return agent("", used), result(used, "File created.")


WEIR = "The weir opens at a level of 412 cm and the sluice follows an hour later."
RULE = "From now on, never deploy the sluice controller without asking me first."
TALK = (
    user(f"{WEIR} Please write the controller for the lock keeper."),
    agent("I read the plans of the canal."),
    *wrote("src/gates.py", "def follow_sluice(level):\n    return level\n"),
    *ran("pytest -q tests/canal", "7 passed in 0.2s"),
    user(RULE),
    agent("I'll use DuckDB instead of Postgres for the soundings because the barge has no server."),
    user("Now draw the timetable for the ferries of Sunday."),
)


def asked(messages: Sequence[Message] = TALK, needed: Sequence[Item] = ()) -> dict[str, Probe]:
    return {probe.question: probe for probe in probes_of(Shape(messages), "", needed)}


class TestMade:
    def test_each_kind_is_asked_for_with_its_source(self) -> None:
        found = [(one.kind, one.answer, one.source, one.prose) for one in asked().values()]
        ids = [message.id for message in TALK]
        assert found == [
            ("recall", "412", ids[0], False),
            ("artifact", "src/gates.py", ids[2], False),
            ("continuation", f"{WEIR} Please write the controller for the lock keeper.", ids[0], True),
            ("continuation", "pytest -q tests/canal", ids[4], False),
            ("continuation", "7", ids[5], False),
            ("continuation", "Now draw the timetable for the ferries of Sunday.", ids[8], True),
            ("decision", "DuckDB", ids[7], False),
            ("instruction", RULE, ids[6], True),
            ("control", "", "", False),
            ("control", "", "", False),
        ]

    @pytest.mark.parametrize(
        ("opened", "edited", "source"),
        [
            ("[File: ferry/harbour.py]", "Replaced in the open file.", 1),
            ("It is open.", "[File: ferry/harbour.py] Replaced.", 3),
            ("It is open.", "Replaced.", 0),
        ],
    )
    def test_a_change_of_the_open_file_is_found_where_the_file_is_named(
        self, opened: str, edited: str, source: int
    ) -> None:
        """By the call's own message nobody could tell which: its question was failed with the whole context."""
        opens, edits = call("open", {"path": "ferry/harbour.py"}), call("edit", {"search": "None", "replace": "0"})
        talk = (agent("", opens), result(opens, opened), agent("", edits), result(edits, edited))
        shape = Shape([Message(f"m{at}", one.role, one.blocks) for at, one in enumerate(talk)])
        (found,) = [one for one in probes_of(shape) if one.question == "Which file did the agent change last?"]
        assert (found.answer, found.source) == ("ferry/harbour.py", f"m{source}")
        assert Lookup(shape.messages).answer(found)[0] == "ferry/harbour.py"

    def test_no_question_gives_away_another_answer(self) -> None:
        probes = [probe for probe in asked().values() if probe.answer and not probe.prose]
        for probe in probes:
            assert not [other for other in asked() if contains_term(probe.answer, other)], probe

    def test_facts_used_later_come_first(self) -> None:
        several = tuple(user(f"The {name} sluice of the canal opens at {n} cm of water.") for n, name in enumerate(
            ("upper", "lower", "outer", "inner"), 3_300))  # fmt: skip
        needed = [Item("number", "3302", ("3302", "3,302"))]
        (only,) = [one for one in probes_of(Shape(several), "", needed, 1) if one.kind != "control"]
        assert (only.answer, only.used) == ("3302", True)

    def test_superseded_statements_are_not_asked_about(self) -> None:
        talk = (
            user("Always indent the timetable files with 7 spaces."),
            user("Always indent the timetable files with 3 spaces."),
        )
        assert {one.answer for one in asked(talk).values()}.isdisjoint({"7"})

    def test_a_control_asks_in_the_sessions_words_about_nothing_that_is_there(self) -> None:
        talk = (
            user("The keeper of the canal reads the gauge. Close the sluice before the storm."),
            *wrote("src/gates.py", "def follow_sluice(level): return read_gauge(level)"),
        )
        (found,) = [one for one, probe in asked(talk).items() if probe.kind == "control"]
        first, last = found.removeprefix("In which file did the agent define `").removesuffix("`?").split("_")
        told = str(talk)
        assert first in told
        assert last in told
        assert f"{first}_{last}" not in told
        there = (*talk, agent(f"Next comes {first.title()}{last.title()}, or {first} {last}."))
        assert found not in asked(there)
        read = call("Read", {"file_path": "a"})
        unwritten = (talk[0], agent("", read), result(read, "follow_sluice read_gauge"))
        assert not [one for one, probe in asked(unwritten).items() if probe.kind == "control" and "define" in one]
        spoken = [one for one, probe in asked(talk[:1]).items() if probe.kind == "control"]
        assert spoken == ['Fill in the blank (from a user message): "Keep the keeper storm below ____."']

    @pytest.mark.parametrize(
        ("content", "other", "question"),
        [
            ("def follow_sluice(level): ...", "src/b.py", "In which file did the agent define `follow_sluice`?"),
            ("x = follow_sluice(1)", "src/b.py", "Into which of its edited files did the agent write `follow_sluice`?"),
            ("x = follow_sluice(1)", "src/follow_sluice.py", ""),
            ("x = follow(1)", "src/b.py", ""),
        ],
    )
    def test_the_one_file_that_defines_or_uses_a_name_is_asked_for(
        self, content: str, other: str, question: str
    ) -> None:
        """A use is not asked about if a path has the name: the answer could be guessed."""
        talk = (user("Write it."), *wrote("src/gates.py", content), *wrote(other, "y = 2"))
        found = {one.question: one.answer for one in asked(talk).values() if one.kind == "artifact"}
        assert found == ({question: "src/gates.py"} if question else {})

    def test_an_entry_that_was_chosen_from_a_list_is_no_question(self) -> None:
        talk = (
            user("What else of the canal could be done before Sunday, please?"),
            agent("Optional next steps:\n\n1. **Ferry timetable refresh**\n2. **Gauge calibration of the weir**"),
            user("yeah let's do 1"),
        )
        assert [one.detail for one in facts_of(Shape(talk)) if one.kind == "decision"] == [
            "1. **Ferry timetable refresh**"
        ]
        assert [one.kind for one in asked(talk).values() if one.kind == "decision"] == []

    def test_a_secret_is_not_asked_for(self) -> None:
        talk = (user("The token for the gauge of the upper weir is `sk-ant-REDACTED`, keep it."),)
        assert not [one for one in asked(talk).values() if "sk-ant" in one.answer]


NAMES = [f"{first}{second}rneke" for first in "BDFGHJKLMN" for second in "aeiou"]


def barges(count: int) -> tuple[Message, ...]:
    """Messages of the agent with as many facts."""
    loads = (f"The barge {name} carries turf to the harbour and draws" for name in NAMES[:count])
    return tuple(agent(f"{load} {400 + n} cm of water.") for n, load in enumerate(loads))


def draughts(count: int) -> list[Item]:
    return [Item("number", str(400 + n), (str(400 + n),)) for n in range(count)]


def questions_about(messages: Sequence[Message], needed: Sequence[Item] = (), most: int = MOST) -> list[Probe]:
    return [one for one in probes_of(Shape(messages), "", needed, most) if one.kind != "control"]


class TestBalance:
    @pytest.mark.parametrize(
        ("facts", "needed", "asked", "used"),
        [
            (19, 0, 19, 0),
            (20, 0, 20, 0),
            (21, 0, 21, 0),
            (46, 0, 40, 0),
            (19, 3, 19, 3),
            (20, 3, 20, 3),
            (21, 3, 20, 3),
            (46, 9, 20, 9),
            (46, 10, 20, 10),
            (46, 11, 22, 11),
            (46, 20, 40, 20),
            (46, 21, 40, 20),
            (20, 20, 20, 20),
        ],
    )
    def test_half_of_at_least_20_questions_are_about_what_was_needed_later(
        self, facts: int, needed: int, asked: int, used: int
    ) -> None:
        """Without a later use there are as many questions as facts, up to the limit."""
        found = questions_about(barges(facts), draughts(needed))
        assert (len(found), sum(one.used for one in found)) == (asked, used)

    @pytest.mark.parametrize(("most", "used"), [(1, 1), (4, 2), (5, 3)])
    def test_half_of_fewer_questions_too(self, most: int, used: int) -> None:
        found = questions_about(barges(30), draughts(15), most)
        assert (len(found), sum(one.used for one in found)) == (most, used)

    @pytest.mark.parametrize(
        ("rules", "needed", "asked", "size"), [(0, 0, 0, 40), (1, 0, 1, 40), (14, 0, 14, 40), (41, 0, 40, 40),
                                               (14, 5, 14, 20), (16, 5, 16, 21), (36, 5, 35, 40)],
    )  # fmt: skip
    def test_one_question_per_rule(self, rules: int, needed: int, asked: int, size: int) -> None:
        orders = [user(f"Never open the lock of the {name} before the {n} bells.") for n, name in
                  enumerate(NAMES[:rules], 700)]  # fmt: skip
        found = questions_about((*orders, *barges(46)), draughts(needed))
        assert sum(one.kind == "instruction" for one in found) == asked
        assert len(found) == size

    @pytest.mark.parametrize(("facts", "asked"), [(5, 20), (19, 20), (20, 20), (21, 21)])
    def test_files_that_were_only_read_are_asked_for_up_to_20_questions(self, facts: int, asked: int) -> None:
        read: list[Message] = []
        for name in NAMES[:30]:
            used = call("Read", {"file_path": f"src/{name}.py"})
            read += agent("", used), result(used, f"1\tdef sluice_{name[::-1]}_level(): ...")
        assert len(questions_about((*barges(facts), *read))) == asked

    def test_rules_fill_the_room_that_other_facts_leave(self) -> None:
        orders = [user(f"Never open the lock of the {name} before the {n} bells.") for n, name in
                  enumerate(NAMES[:16], 700)]  # fmt: skip
        assert sum(one.kind == "instruction" for one in questions_about(orders)) == 16

    def test_a_rule_and_a_decision_without_a_name_are_asked_for_by_their_beginning(self) -> None:
        talk = (
            user("From now on, never empty the upper basin before the keeper has rung."),
            agent("I'll use the old timetable instead of the printed one because the harbour has no printer."),
        )
        found = {one.kind: one for one in questions_about(talk)}
        assert found["instruction"].question == (
            'The user gave a rule that begins "From now on, never …". What is the whole rule?'
        )
        assert found["decision"].question == (
            'The agent made a decision that begins "I\'ll use the old timetable …". What is the whole decision?'
        )
        assert found["instruction"].prose
        assert found["decision"].prose

    def test_a_decision_that_is_told_twice_is_asked_for_once(self) -> None:
        told = "I'll use the old timetable instead of the printed one because the harbour has no printer"
        talk = (agent(f"{told}."), agent(f"So {told} yet."), agent(f"{told.replace('old', 'long wooden river')}."))
        assert [one.answer for one in questions_about(talk) if one.kind == "decision"] == [f"{told}."]


class TestNeeded:
    """What was needed later is asked for by what is said about it."""

    def test_a_file_by_the_name_that_only_it_defines(self) -> None:
        used = call("Read", {"file_path": "src/gates.py"})
        read = (agent("", used), result(used, "1\tdef follow_sluice(level):\n2\t    return level"))
        (found,) = [one for one in questions_about(read, [Item("path", "src/gates.py", ("src/gates.py",))]) if one.used]
        assert (found.question, found.answer) == ("In which file is `follow_sluice` defined?", "src/gates.py")

    def test_a_name_by_the_only_file_that_defines_it(self) -> None:
        used = call("Read", {"file_path": "src/gates.py"})
        read = (agent("", used), result(used, "1\tdef follow_sluice(level):\n2\t    return level"))
        other = call("Read", {"file_path": "src/locks.py"})
        twice = (*read, agent("", other), result(other, "1\tdef follow_sluice(level):\n2\t    return 7"))
        needed = [Item("name", "follow_sluice", ("follow_sluice",))]
        (found,) = [one for one in questions_about(read, needed) if one.used]
        assert (found.question, found.answer) == ("In which file is `follow_sluice` defined?", "src/gates.py")
        assert not [one for one in questions_about(twice, needed) if one.used]

    def test_a_name_by_the_sentence_that_has_it(self) -> None:
        talk = (agent("Only the method `follow_sluice` waits until the lower basin is completely empty."),)
        (found,) = [
            one for one in questions_about(talk, [Item("name", "follow_sluice", ("follow_sluice",))]) if one.used
        ]
        assert (found.kind, found.answer) == ("recall", "follow_sluice")

    def test_a_file_by_a_name_in_a_line_that_a_search_found(self) -> None:
        used = call("Bash", {"command": "grep -rn sluice src"})
        hits = "src/gates.py:12:def follow_sluice(level):\nsrc/locks.py:7:    follow_sluice(3)"
        gates = Item("path", "src/gates.py", ("src/gates.py",))
        found = questions_about((agent("", used), result(used, hits)), [gates])
        assert [(one.question, one.answer) for one in found if one.used] == [
            ("In which file is `follow_sluice` defined?", "src/gates.py")
        ]

    @pytest.mark.parametrize(
        ("line", "question"),
        [
            ("it('opens both doors at low water', () => {", 'Which file has the test "opens both doors at low water"?'),
            ("export const sluiceLevels = [3, 5]", "In which file is `sluiceLevels` defined?"),
            ("    const sluiceLevels = [3, 5]", ""),
        ],
    )
    def test_a_file_by_a_test_or_a_constant_at_the_beginning_of_a_line(self, line: str, question: str) -> None:
        used = call("Read", {"file_path": "src/gates.ts"})
        found = questions_about(
            (agent("", used), result(used, line)), [Item("path", "src/gates.ts", ("src/gates.ts",))]
        )
        assert [one.question for one in found if one.used] == ([question] if question else [])

    def test_a_line_of_a_message_is_no_command(self) -> None:
        line = "git commit -m 'Open the lock\n'\nthe keeper rules on the bells"
        assert not [one for one in questions_about(ran(line, "ok")) if "the keeper" in one.answer]

    def test_a_command_by_its_beginning_or_by_the_word_that_others_lack(self) -> None:
        line = "canal-sim run --basin upper-7 --bells 12"
        needed = [Item("command", line, (line,))]
        (found,) = [one for one in questions_about(ran(line, "ok"), needed) if one.used and one.kind == "recall"]
        assert found.question == 'The agent ran one command that begins "canal-sim …". What is the whole command?'
        both = (*ran(line, "ok"), *ran("canal-sim run --basin lower-3 --bells 9", "ok"))
        (found,) = [one for one in questions_about(both, needed) if one.used and one.kind == "recall"]
        assert (found.question, found.answer) == (
            'Fill in the blank (from a command that the agent ran): "canal-sim run --basin ____ --bells 12"',
            "upper-7",
        )

    def test_nothing_that_fits_two_files_or_two_commands_is_asked(self) -> None:
        line = "canal-sim run --basin upper-7 --bells 12"
        both = (*ran(line, "ok"), *ran(line.replace("upper-7", "lower-3"), "ok"))
        asked_for = questions_about(both, [Item("command", line, (line,))])
        assert not [one for one in asked_for if one.used and one.kind == "recall"]
        content = "def follow_sluice(level): ..."
        twice = (*wrote("src/gates.py", content), *wrote("src/locks.py", content))
        asked_for = questions_about(twice, [Item("path", "src/gates.py", ("src/gates.py",))])
        assert not [one for one in asked_for if "follow_sluice" in one.question]

    def test_a_file_without_a_name_of_its_own_by_a_line_that_only_it_has(self) -> None:
        shared, own = "The keeper rings before every lock is opened.", "Soundings of the basin are taken on Sundays."
        used, other = call("Read", {"file_path": "docs/gates.md"}), call("Read", {"file_path": "docs/locks.md"})
        talk = (
            agent("", used),
            result(used, f"1\t{shared}\n2\t{own}"),
            agent("", other),
            result(other, f"1\t{shared}"),
        )
        (found,) = [
            one for one in questions_about(talk, [Item("path", "docs/gates.md", ("docs/gates.md",))]) if one.used
        ]
        assert (found.question, found.answer) == (f'Which file has the line "{own}"?', "docs/gates.md")

    def test_a_command_that_anybody_would_guess_is_not_asked_for(self) -> None:
        line = "git push origin upper-7"
        assert not [one for one in questions_about(ran(line, "ok"), [Item("command", line, (line,))]) if one.used]

    def test_a_number_by_its_line_of_a_result(self) -> None:
        talk = ran("soundings", "  12→The deepest place of the basin is at 2731 cm below the quay")
        (found,) = [one for one in questions_about(talk, [Item("number", "2731", ("2731",))]) if one.used]
        assert found.question.startswith('Fill in the blank (from a tool result): "The deepest')
        assert found.answer == "2731"

    def test_an_item_gets_one_question(self) -> None:
        used = call("Read", {"file_path": "src/gates.py"})
        talk = (
            user("The keeper says that gates.py is too slow for the northern canal."),
            agent("", used),
            result(used, "1\tdef follow_sluice(level):\n2\t    return level"),
        )
        needed = [Item("path", "src/gates.py", ("src/gates.py",))]
        assert [one.question for one in questions_about(talk, needed) if one.answer.endswith("gates.py")] == [
            "In which file is `follow_sluice` defined?"
        ]


@pytest.mark.parametrize(
    ("others", "accept"),
    [
        ("lock.py", ("gates.py",)),
        ("gates.py", ("gates.py",)),
        ("docs/gates.py", ("src/gates.py",)),
        ("docs/src/gates.py", ("canal/src/gates.py",)),
        ("x/canal/src/gates.py", ()),
    ],
)
def test_a_short_file_name_is_accepted_only_if_no_other_file_has_it(others: str, accept: tuple[str, ...]) -> None:
    """A bare name of the same file is no other file."""
    talk = (*wrote("old/canal/src/gates.py", "def follow_sluice(level): ..."), agent(f"It reads `{others}` too."))
    (found,) = [one for one in questions_about(talk) if "follow_sluice" in one.question]
    assert (found.answer, found.accept) == ("old/canal/src/gates.py", accept)


@pytest.mark.parametrize(
    ("sentence", "agents", "asks"),
    [
        (WEIR, False, True),
        ("x" * 29, False, False),
        ("a weir " * 4 + "ab", False, True),
        ("a weir " * 46, False, False),
        ("Let me look at the weir of 412 cm and its sluice.", True, False),
        ("Let me look at the weir of 412 cm and its sluice.", False, True),
        ("Does the weir open at a level of 412 cm or later?", False, False),
        ("The log says 12:40:07 weir opened with a level of 412", False, False),
    ],
)
def test_sentences_worth_asking_about(sentence: str, agents: bool, asks: bool) -> None:
    assert is_worth_asking(sentence, agents=agents) is asks


@pytest.mark.parametrize(
    ("sentence", "term", "frame"),
    [
        (WEIR, "412", WEIR.replace("412", "____")),
        ("The weir opens at 412 cm, and 412 is its level for the sluice too.", "412", None),  # it stands there twice
        ("The weir opens at 412 cm now.", "412", None),  # too little beside it
        (
            "The controller of every sluice lives in controller.py for the keeper.",
            "controller.py",
            None,
        ),  # told by itself
        ("The keeper of the canal edits every sluice with sed after lunch.", "sed", None),
        ("The keeper of the canal pushes every sluice change to main after lunch.", "main", None),  # anybody's guess
        ("The keeper wrote a sluice-412 controller for the northern canal.", "412", None),  # part of a name
        ("The keeper's way of tide driven gates, TDG (Tide Driven Gates), is the best of ways.", "TDG", None),
        ("The barges keep to RFC 7231 in every message from the northern canal.", "7231", None),
        ("The sluice broke in line 412 of the northern canal controller.", "412", None),  # other after each edit
        ("The sluice of the northern canal broke at `lock.py:412` on Sunday.", "lock.py:412", None),
        ('The keeper of the canal resets the count of barges to `"0"` daily.', '"0"', None),
    ],
)
def test_where_a_blank_is_left(sentence: str, term: str, frame: str | None) -> None:
    assert with_blank(sentence, term) == frame


def test_the_most_telling_term_comes_first() -> None:
    said = 'Put "tide rows" of Sunday and 30 more into `docs/tide.md` for OPS-12'
    assert list(terms_of(said, agents=False)) == ["docs/tide.md", "OPS-12", "tide rows", "30", "Sunday"]
    assert "Sunday" not in list(terms_of(said, agents=True))


def test_a_number_ends_with_a_digit() -> None:
    assert list(terms_of("It was 12, then 1,234, 5_000 and 3.14.", agents=True)) == ["12", "1,234", "5_000", "3.14"]


def test_a_frame_that_occurs_with_another_term_is_rejected() -> None:
    frame = WEIR.replace("412", "____")
    assert is_unique(frame, "412", f"one {WEIR} two {WEIR}")
    assert not is_unique(frame, "412", f"one {WEIR} two {WEIR.replace('412', '390')}")


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("The weir is shut at night.", True),
        ("The weir is shut at night. The weir is shut at night.", True),
        ("It is said that the weir is shut at night.", False),
        ("x" * 90 + " is shut at night.", False),
        (" is shut at night.", True),
        ("nothing of it", True),
    ],
)
def test_a_blank_at_the_beginning_covers_everything_before(text: str, alone: bool) -> None:
    assert is_unique(f"{BLANK} is shut at night.", "The weir", text) == alone


FILE = Probe("artifact", "In which file is it?", "src/gates.py", ("gates.py",))
DEEP = Probe("artifact", "In which file is it?", "old/canal/src/gates.py", ("src/gates.py",))
LIMIT = Probe("recall", "How many?", "2,048")


@pytest.mark.parametrize(
    ("probe", "reply", "mark"),
    [
        (FILE, "src/gates.py", "exact"),
        (FILE, "`src/gates.py`.", "alike"),
        (FILE, "gates.py", "alike"),
        (FILE, "/home/me/canal/src/gates.py", "alike"),
        (FILE, "docs/gates.py", "wrong"),
        (FILE, "The file is docs/gates.py", "wrong"),
        (DEEP, "src/gates.py", "alike"),
        (DEEP, "gates.py", "wrong"),
        (DEEP, "canal/src/gates.py", "alike"),
        (FILE, "The file is src/gates.py", "alike"),
        (FILE, "src/gates.py or src/locks.py", "wrong"),
        (FILE, "not src/gates.py", "wrong"),
        (FILE, "src/mygates.py", "wrong"),
        (FILE, "one two three four five six seven eight src/gates.py", "alike"),
        (FILE, "one two three four five six seven eight nine src/gates.py", "wrong"),
        (FILE, "not known", "not known"),
        (FILE, "Not known.", "not known"),
        (FILE, "n/a", "not known"),
        (FILE, "N/A.", "not known"),
        (FILE, "na", "not known"),
        (FILE, "na, it was src/gates.py", "alike"),
        (Probe("decision", "Shall I?", "na, give it a try"), "na, give it a try", "exact"),
        (Probe("recall", "Which state?", "unknown host"), "Unknown host.", "alike"),
        (FILE, "", "unanswered"),
        (FILE, None, "unanswered"),
        (LIMIT, "2048", "alike"),
        (LIMIT, "2 048", "alike"),
        (LIMIT, "20480", "wrong"),
        (Probe("control", "What of the moon?", ""), "not known", "exact"),
        (Probe("control", "What of the moon?", ""), "src/moon.py", "wrong"),
    ],
)
def test_right_answers(probe: Probe, reply: str | None, mark: str) -> None:
    assert mark_reply(probe, reply) == mark


class TestLookup:
    probe = Probe("recall", 'Blank: "The weir opens at a level of ____ cm …"', "412", (), False, "gone", WEIR)

    @pytest.mark.parametrize(
        ("told", "answer"),
        [
            ("- The weir opens at 412 cm, an hour later follows the sluice of that level.", "412"),
            ("- The weir opens at 390 cm, an hour later follows the sluice of that level.", "not known"),
            (
                "- The weir does not open at a level of 412 cm and the sluice does not follow an hour later.",
                "not known",
            ),
            ("- 412 barges passed.", "not known"),
            ("- weir level 4125 cm opens sluice follows hour later", "not known"),
        ],
    )
    def test_a_summary_gives_it_only_in_the_right_sense(self, told: str, answer: str) -> None:
        assert Lookup((user(told),)).answer(self.probe)[0] == answer

    def test_a_path_may_have_slashes_of_either_kind(self) -> None:
        probe = Probe(
            "artifact", "Where is the sluice?", "C:/canal/gates.py", (), False, "gone", "sluice C:/canal/gates.py"
        )
        for told in (r"the sluice is in C:\canal\gates.py", r"the sluice is in C:\\canal\\gates.py"):
            assert Lookup((user(told),)).answer(probe)[0] == "C:/canal/gates.py"

    @pytest.mark.parametrize(
        ("told", "answer"), [("1\tdef follow_sluice(level): ...", "src/gates.py"), ("[cleared]", "not known")]
    )
    def test_a_result_is_of_the_file_that_its_call_names(self, told: str, answer: str) -> None:
        """The call alone does not say what is in the file."""
        used = call("Read", {"file_path": "src/gates.py"})
        read = result(used, told)
        says = "`follow_sluice` is in src/gates.py"
        probe = Probe(
            "artifact", "In which file is `follow_sluice` defined?", "src/gates.py", source=read.id, says=says
        )
        assert Lookup((agent("", used), read)).answer(probe)[0] == answer

    def test_everything_knows_all_and_nothing_knows_none(self) -> None:
        session = session_of(TALK)
        bench = open_bench(session, counter_of(session))
        probes = probes_of(Shape(bench.messages))
        found = looked_up(Exam(session, probes, arm_contexts(bench.context, ())))
        assert [arm.name for arm in found.arms] == [FULL, NOTHING]
        full, nothing = (found.share(arm) for arm in (0, 1))
        assert full is not None
        assert nothing is not None
        assert (full.right, full.of) == (8, 8)
        assert (nothing.right, nothing.of) == (0, 8)
        assert [found.invented_answers(arm) for arm in (0, 1)] == [(0, 2), (0, 2)]
        assert found.lead(0, 1) == (1.0, 1.0, 1.0)

    @pytest.mark.parametrize(
        ("told", "reply", "mark", "tells"),
        [
            (
                "- The weir opens at 412 cm, an hour later follows the sluice of that level.",
                "not known",
                "not known",
                True,
            ),
            ("- The weir opens at 390 cm, an hour later follows the sluice of that level.", "412", "exact", False),
        ],
    )
    def test_a_models_answer_has_the_line_that_states_it_or_comes_nearest(
        self, told: str, reply: str, mark: Mark, tells: bool
    ) -> None:
        source = ArmContext(Arm("a summary", 9), (user(told),), unchanged((), "made for this"))
        exam = Exam(session_of(TALK), (self.probe,), (source,))
        found = graded(exam, {exam.question_batches[0].request.key: Summary(f"1: {reply}")}, "a model")
        assert found.answers == ((ProbeAnswer(reply, mark, told, tells),),)


class TestSearchedQuestions:
    USERS = "We open the northern weir at a level of 412 cm and the sluice one hour later."
    AGENTS = "I decided to close the southern lock gate at night because otters sleep beneath it."

    @pytest.mark.parametrize(
        ("kind", "text", "asked"),
        [
            ("stated", USERS, ("recall", 'The user wrote a sentence that begins "We open the …".', USERS, "u")),
            (
                "decision",
                USERS.upper(),
                ("decision", 'The user wrote a sentence that begins "We open the …".', USERS, "u"),
            ),
            ("decision", AGENTS, ("decision", 'The agent wrote a sentence that begins "I decided to …".', AGENTS, "a")),
            ("stated", "We open no weir at any level.", None),
        ],
    )
    def test_a_sentence_is_asked_for_by_its_beginning(
        self, kind: Literal["stated", "decision"], text: str, asked: tuple[str, str, str, str] | None
    ) -> None:
        messages = [
            building.user("u", f"{self.USERS} Then oil it."),
            building.agent("a", self.AGENTS),
            building.user("v", "Go."),
        ]
        source = ProbedContext(building.context_of(messages).shape, "")
        found = [one.probe for one in used_questions(source, [Item(kind, text)])]
        end = " What is the whole sentence?"
        assert [(one.kind, one.question.removesuffix(end), one.answer, one.source) for one in found] == [asked][
            : bool(asked)
        ]
        assert all(one.used and one.prose and one.question.endswith(end) for one in found)

    @pytest.mark.parametrize(
        ("command", "answer"),
        [("python open_sluice.py", "gate_motor.cfg"), ("read gate_motor.cfg", "open_sluice.py")],
    )
    def test_an_error_is_asked_for_by_what_its_command_does_not_give_away(self, command: str, answer: str) -> None:
        error = "Error: open_sluice.py cannot lift the northern gate_motor.cfg of the weir above that level"
        tried = building.agent("a", "", building.call("b", "Bash", command=command))
        failed = building.result("r", ("b", error), error=True)
        messages = [building.user("u", "Go."), tried, failed, building.agent("z", "Hm.")]
        (found,) = _errors(ProbedContext(building.context_of(messages).shape, ""))
        assert f"(from an error message of `{command}`)" in found.probe.question
        assert found.probe.answer == answer


class TestJudge:
    @pytest.mark.parametrize(
        ("verdicts", "accepted"),
        [
            ("1: yes\n2: no", {0}),
            ("1. No\n2. YES", {1}),
            (f"0: yes\n3: yes\n{JUDGEMENTS_PER_CALL + 1}: yes", set()),
            ("yes", set()),
        ],
    )
    def test_verdicts_accept_the_replies_of_their_numbers(self, verdicts: str, accepted: set[int]) -> None:
        exam = Exam(session_of(TALK), (Probe("recall", "How high is it?", "412", prose=True),), ())
        doubtful = [(0, "high"), (0, "higher")]
        (request,) = exam.judge_requests(doubtful)
        found = exam.accepted_replies(doubtful, {request.key: Summary(verdicts)})
        assert found == {doubtful[number] for number in accepted}
        assert exam.accepted_replies(doubtful, {}) == set()


class TestBatches:
    @pytest.mark.parametrize(
        ("count", "sizes"),
        [(1, [1]), (12, [12]), (13, [12, 1]), (24, [12, 12])],
    )
    def test_questions_per_prompt(self, count: int, sizes: list[int]) -> None:
        probes = tuple(Probe("recall", f"How high is weir number {n}?", f"{n} fathoms") for n in range(count))
        exam = Exam(session_of(TALK), probes, ())
        assert [len(batch) for batch in exam.batches] == sizes
        assert sorted(number for batch in exam.batches for number in batch) == list(range(count))

    def test_the_seed_shuffles(self) -> None:
        probes = tuple(Probe("recall", f"How high is weir number {n}?", f"{n} fathoms") for n in range(9))
        one, same, other = (Exam(session_of(TALK), probes, (), seed).batches for seed in (1, 1, 2))
        assert one == same != other

    def test_no_question_gives_away_an_answer_of_its_batch(self) -> None:
        tells = Probe("recall", "What is beside the 412 cm?", "the gauge")
        asks = Probe("recall", "How high is it?", "412")
        assert len(Exam(session_of(TALK), (tells, asks), ()).batches) == 2


class TestShares:
    def test_by_hand(self) -> None:
        share = share_of([True] * 8 + [False] * 8)
        assert share is not None
        assert (share.right, share.of, share.value) == (8, 16, 0.5)
        assert 0.2 < share.low < 0.32  # 0.5 ± 1.96 · √(0.25 / 16)
        assert 0.68 < share.high < 0.8

    def test_the_same_questions_are_compared(self) -> None:
        one, other = [True, True, False, None], [True, False, False, True]
        lead = lead_of((one, other))
        assert lead is not None
        assert lead[0] == pytest.approx(1 / 3)
        assert lead_of(([None], [True])) is None
        assert share_of([None]) is None

    def test_equal_differences_have_no_interval(self) -> None:
        assert lead_of(([True] * 5, [False] * 5)) == (1.0, 1.0, 1.0)


class TestSums:
    def probing(self, name: str, full: str, compacted: str) -> ProbeResults:
        """A letter for each question: r right, w wrong, ? unanswered; the last one is a control."""
        marks: dict[str, Mark] = {"r": "exact", "w": "wrong", "?": "unanswered"}
        probes = (
            *(Probe("recall", f"Which {n}?", "it") for n in range(len(full) - 1)),
            Probe("control", "Which moon?", ""),
        )
        arms = (Arm(FULL, 100), Arm(name, 10), Arm(NOTHING, 0))
        rows = (full, compacted, "w" * (len(full) - 1) + "r")
        given = tuple(tuple(ProbeAnswer("it", marks[letter]) for letter in row) for row in rows)
        return ProbeResults(probes, arms, given, "a model")

    def test_by_hand(self) -> None:
        told = (("trim", "rrrr", "rwww"), ("trim", "rw?r", "rrrr"), ("keep", "rr", "rr"))
        found = ProbeTotals(tuple(self.probing(*one) for one in told))
        assert found.names == (FULL, "trim", "keep", NOTHING)
        assert [found.sessions(name) for name in found.names] == [3, 2, 1, 3]
        assert [found.tokens(name) for name in found.names] == [300, 20, 10, 0]
        shares = [found.share(name) for name in found.names]
        assert [(one.right, one.of) for one in shares if one] == [(5, 6), (4, 6), (1, 1), (0, 7)]
        assert [found.invented_answers(name) for name in found.names] == [(0, 3), (1, 2), (0, 1), (0, 3)]
        assert [found.unanswered(name) for name in found.names] == [1, 0, 0, 0]
        less = [found.lead_of_full(name) for name in found.names]
        # trim: 2 of 3 less in one session, 1 of the 2 that both answered more in the other.
        assert [one and round(one[0], 3) for one in less] == [0.0, 0.2, 0.0, 0.833]

    def test_sessions_are_drawn_and_not_questions_alone(self) -> None:
        knows, not_at_all = [True] * 50, [False] * 50
        alike, apart = share_of(knows + not_at_all), share_of(knows, not_at_all)
        assert alike is not None
        assert apart is not None
        assert (alike.right, alike.of) == (apart.right, apart.of) == (50, 100)
        assert alike.low > 0.35  # as if a hundred questions were independent
        assert (apart.low, apart.high) == (0.0, 1.0)  # two sessions say little of a third

    def test_a_session_that_gave_no_answer_counts_for_none(self) -> None:
        assert share_of([True, False], [None], []) == share_of([True, False])
        assert lead_of(([True], [False]), ([None], [True])) == (1.0, 1.0, 1.0)


GOOD = '[[probe]]\nkind = "recall"\nquestion = "How high?"\nanswer = "412"\n'


class TestStored:
    def test_written_probes_are_read_back(self, tmp_path: Path) -> None:
        path = tmp_path / "canal.probes.toml"
        odd = Probe("decision", 'Which "queue"?\n\tReally?', "a\\b ’ü", ("x", 'y"'), True, "m1", "…\u2028", True)
        control = Probe("control", "What of the moon?", "")
        write_probes(path, (odd, control))
        assert read_probes(path) == (odd, control)

    @pytest.mark.parametrize(
        ("file", "part", "name"),
        [("canal.jsonl", "", "canal.probes.toml"), ("canal.db", "ses_1/../x", "canal.ses_1-x.probes.toml")],
    )
    def test_probes_lie_next_to_the_session_under_their_own_name(self, file: str, part: str, name: str) -> None:
        session = replace(session_of(TALK), path=Path("/here") / file, facts=SessionFacts(part=part))
        assert probes_path(session) == Path("/here") / name
        assert probes_path(session_of(TALK)) is None

    def test_it_is_not_written_over(self, tmp_path: Path) -> None:
        path = tmp_path / "canal.probes.toml"
        path.write_text(GOOD)
        with pytest.raises(BadInput, match="exists; edit its questions"):
            write_probes(path, (LIMIT,))
        assert path.read_text() == GOOD

    def test_half_a_character_costs_only_itself(self) -> None:
        assert "a?b" in probes_toml((Probe("recall", "a\ud800b", "c"),))

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("[[probe]\n", "not valid TOML: .*line 1"),
            ("", "it has no question"),
            ("probe = 3\n", "it has no question"),
            ("x = 1\n" + GOOD, "line 1: 'x' is unknown"),
            (GOOD + "\n" + GOOD, "line 8: same question as line 3"),
            (GOOD + '\n[[probe]]\nkind = "guess"\n', "line 7: kind is one of recall, "),
            (GOOD + '\n[[probe]]\nkind = "recall"\nquestion = " "\n', "line 8: there is no question"),
            (GOOD + '\n[[probe]]\nkind = "recall"\nquestion = "Who?"\n', "line 6: there is no answer; write one"),
            (GOOD.replace("recall", "control"), "line 4: a control has no answer"),
            (GOOD + 'reason = "x"\n', "line 5: a probe has no 'reason'"),
            (GOOD.replace('"412"', "412"), "line 4: answer is a text"),
            (GOOD + "prose = 1\n", "line 5: prose is true or false"),
            (GOOD + 'accept = "a"\n', "line 5: accept is a list of texts"),
        ],
    )
    def test_a_bad_file_is_reported_in_a_sentence(self, text: str, told: str, tmp_path: Path) -> None:
        path = tmp_path / "canal.probes.toml"
        path.write_text(text)
        with pytest.raises(BadInput, match=told) as refused:
            read_probes(path)
        assert str(path) in str(refused.value)

    @pytest.mark.parametrize(
        "text",
        [
            'probe = [{kind = "guess", question = "Who?"}]\n',
            '[["probe"]]\n"kind" = "guess"\nquestion = "kind = 1"\n',
        ],
    )
    def test_a_line_number_is_found_however_the_key_is_written(self, text: str, tmp_path: Path) -> None:
        path = tmp_path / "canal.probes.toml"
        path.write_text(text)
        with pytest.raises(BadInput, match=r"line [12]: kind is one of"):
            read_probes(path)

    def test_no_utf8(self, tmp_path: Path) -> None:
        path = tmp_path / "canal.probes.toml"
        path.write_bytes(GOOD.encode() + b"\xff")
        with pytest.raises(BadInput, match="line 5: not UTF-8"):
            read_probes(path)


def test_a_question_by_hand_finds_its_source() -> None:
    said = (
        Message("m1", "user", (Text("The weir opens at 412 cm."),)),
        Message("m2", "assistant", (Text("Right. The barge *Anneke* pays 17 florins at every lock."),)),
    )
    by_hand = (
        Probe("recall", "How many florins does a barge pay?", "17"),
        Probe("recall", "How many guilders are due?", "17"),
        Probe("recall", "When does the weir open?", "412 cm", source="of mine"),
        Probe("instruction", "What opens?", "The weir opens at 412 cm.", prose=True, says="The weir opens at 412 cm."),
        Probe("control", "What pays the barge for the moon?", ""),
    )
    assert [one.source for one in with_sources(by_hand, said)] == ["m2", "", "of mine", "m1", ""]
