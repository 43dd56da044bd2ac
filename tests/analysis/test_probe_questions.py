"""Questions about what was done and said, whole; and the requests of an exam, whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest

from tests.analysis.courses import session_of
from tests.analysis.test_probes import TALK, wrote
from tests.facts.talk import agent, answered, call, ran, result, user
from workbench.analysis.mentions import words_of
from workbench.analysis.needed_items import Item
from workbench.analysis.probes.cloze import (
    ProbeCandidate,
    ProbedContext,
    _agent_sentences,
    _in_place,
    _letters,
    _rules_and_decisions,
    by_beginning,
    is_file,
    is_unique,
    is_worth_asking,
    with_blank,
)
from workbench.analysis.probes.exam import Arm, ArmContext, Exam
from workbench.analysis.probes.generation import (
    _check_line,
    _commands,
    _continuations,
    _edited_files,
    _in_turn,
    _says_the_same,
    _user_answers,
)
from workbench.analysis.probes.later import _is_file, _is_sentence, _name_parts, _prose_lines
from workbench.analysis.probes.lookup import Lookup
from workbench.analysis.probes.probe import BLANK, Probe, ProbeKind
from workbench.compaction.prompts import load_prompt
from workbench.compaction.shape import Shape
from workbench.compaction.shape_calls import calls_of
from workbench.compaction.summary_request import MessagesBody, Summary
from workbench.session import Message

Row = tuple[str, str, str, tuple[str, ...], bool, str, int, float]


def rows(made: Callable[[ProbedContext], Iterator[ProbeCandidate]], *talk: Message) -> list[Row]:
    """Kind, question, answer, other answers, prose, sentence, message and rank."""
    found = list(made(ProbedContext(Shape(talk), "")))
    assert [one.probe.source for one in found] == [talk[one.index].id for one in found]
    probes = ((one, one.probe) for one in found)
    return [(p.kind, p.question, p.answer, p.accept, p.prose, p.says, one.index, one.rank) for one, p in probes]


def test_the_state_of_the_work() -> None:
    first = "The weir opens at a level of 412 cm and the sluice follows an hour later. "
    first += "Please write the controller for the lock keeper."
    last = "Now draw the timetable for the ferries of Sunday."
    check = "pytest -q tests/canal"
    begun = "What did the user say first, at the beginning of the session?"
    changed = "the file that was changed last is src/gates.py"
    ran_last = "Which command did the agent run last to test, build or lint?"
    passed = "How many tests passed when the agent ran its tests for the last time?"
    assert rows(_continuations, *TALK) == [
        ("continuation", "What did the user say last?", last, (), True, last, 8, 9),
        ("continuation", begun, first, (), True, first, 0, 8),
        ("continuation", "Which file did the agent change last?", "src/gates.py", ("gates.py",), False, changed, 2, 7),
        ("continuation", ran_last, check, (), False, f"the check that was run last is {check}", 4, 6.5),
        ("continuation", passed, "7", (), False, f"{check}: 7 passed", 5, 6.2),
    ]


def test_the_tasks_that_are_next() -> None:
    tasks = (("Oil the gate", "in_progress"), ("Paint the gate", "pending"), ("Ring the bell", "pending"))
    used = call("TodoWrite", {"todos": [{"content": text, "status": status} for text, status in tasks]})
    working, waiting = "Which task of its own list is the agent working on?", "Which task on the agent's list is the "
    assert rows(_continuations, agent("", used), result(used, "ok")) == [
        ("continuation", working, "Oil the gate", (), True, "Oil the gate", 0, 8),
        ("continuation", f"{waiting}first one not started?", "Paint the gate", (), True, "Paint the gate", 0, 6),
    ]


def test_the_files_that_define_or_use_a_name() -> None:
    edit = call("Edit", {"file_path": "src/locks.py", "old_string": "a", "new_string": "x = follow_sluice(1)"})
    talk = (*wrote("src/gates.py", "def read_gauge(a):\n    return use_barge()"), agent("", edit), result(edit, "ok"))
    defined, used = "In which file did the agent define `", "Into which of its edited files did the agent write `"
    gates, locks = "`read_gauge` is in src/gates.py", "`follow_sluice` is in src/locks.py"
    assert rows(_edited_files, *talk) == [
        ("artifact", f"{defined}read_gauge`?", "src/gates.py", ("gates.py",), False, gates, 0, 3.0),
        ("artifact", f"{used}follow_sluice`?", "src/locks.py", ("locks.py",), False, locks, 2, 1.2),
    ]


@pytest.mark.parametrize(
    ("line", "purpose", "asked"),
    [
        ("canal-sim run --basin upper-7", "Simulate the  ferry harbour", True),
        ("canal-sim run --basin upper-7", "Simulate harbour", False),
        ("canal-sim upper-7", "Simulate the ferry harbour", False),
        ("git push canal-upper", "Simulate the ferry harbour", False),
        ("simulate ferry harbour", "Simulate the ferry harbour", False),
        ("canal-sim run --basin " + "x" * 78, "Simulate the ferry harbour", True),
        ("canal-sim run --basin " + "x" * 79, "Simulate the ferry harbour", False),
    ],
)
def test_the_command_of_a_purpose(line: str, purpose: str, asked: bool) -> None:
    used = call("Bash", {"command": line, "description": purpose})
    plain = " ".join(purpose.split())
    question = f'Which command did the agent run to do this: "{plain}"'
    row = ("recall", question, line, (), False, f"{plain}: {line}", 0, 1.5)
    assert rows(_commands, agent("", used), result(used, "ok")) == ([row] if asked else [])


@pytest.mark.parametrize(
    ("reply", "prose"),
    [
        ("northern near Utrecht", False),
        ("that one of Utrecht, by barge", False),
        ("that one of Utrecht, by barge again", True),
        ("yes", None),
        ("Yes, northern", None),
        ("yes, after 12 bells", False),
        ("canal", None),
    ],
)
def test_an_answer_of_the_user(reply: str, prose: bool | None) -> None:
    asked = "Which gate of the canal comes first?"
    used = call("AskUserQuestion", {"questions": [{"question": asked}]})
    question = f'The agent asked: "{asked}" What did the user answer?'
    row = ("decision", question, reply, (), prose, f"{asked} {reply}", 1, 7)
    assert rows(_user_answers, agent("", used), answered(used, reply)) == ([] if prose is None else [row])


def test_rules_come_before_decisions_of_the_user_and_of_the_agent() -> None:
    talk = (
        user("From now on, never empty the upper basin before the keeper has rung."),
        user("Let's go with the long wooden gates instead of the iron ones for the harbour."),
        agent("I'll use the old timetable instead of the printed one because the harbour has no printer."),
    )
    found = [(row[0], row[1].split(" that begins")[0], row[6], row[7]) for row in rows(_rules_and_decisions, *talk)]
    assert [row for row in found if row[1].startswith("The ")] == [
        ("instruction", "The user gave a rule", 0, 5),
        ("decision", "The user made a decision", 1, 4),
        ("decision", "The agent made a decision", 2, 2),
    ]


@pytest.mark.parametrize(
    ("line", "core"),
    [
        ("make x", "make x"),
        ("tox", ""),
        ("pytest " + "x" * 93, "pytest " + "x" * 93),
        ("pytest " + "x" * 94, ""),
        ("ls -la", ""),
    ],
)
def test_the_line_of_a_check(line: str, core: str) -> None:
    (called,) = calls_of(Shape(ran(line, "ok")))
    assert _check_line(called) == core


def candidate(kind: ProbeKind, answer: str) -> ProbeCandidate:
    return ProbeCandidate(Probe(kind, "?", answer), 0, 1)


def test_each_kind_has_its_turn() -> None:
    several = [
        candidate("decision", "a"),
        candidate("recall", "b"),
        candidate("recall", "c"),
        candidate("control", "d"),
    ]
    assert [one.probe.answer for one in _in_turn(several)] == ["b", "a", "d", "c"]


@pytest.mark.parametrize(
    ("other", "alike"),
    [("barge canal weir lock gate bell rope moor dike polder", True),
     ("barge canal weir lock gate bell rope x1 x2 x3 sand turf clay", True),
     ("barge canal weir lock gate bell sand turf clay silt", False),
     ("barge canal sand", False), ("barge canal weir", True)],
)  # fmt: skip
def test_answers_that_say_the_same_share_seven_tenths_of_their_words(other: str, alike: bool) -> None:
    words = "barge canal weir lock gate bell rope moor dike polder"
    assert _says_the_same(candidate("recall", words), candidate("recall", other)) is alike


@pytest.mark.parametrize(
    ("before", "after", "text", "found"),
    [
        ("opens at ", " cm", "it opens at 412 cm, opens at 7 m cm", ["412", "7 m"]),
        ("opens at ", "", "it opens at 412 cm", ["412"]),
        ("", " cm", "at 412 cm and 7 cm", ["at 412", " and 7"]),
        ("", " cm", "x" * 90 + " cm", ["x" * 80]),
        ("at ", " cm", "at " + "x" * 80 + " cm", ["x" * 80]),
        ("at ", " cm", "at " + "x" * 81 + " cm", []),
    ],
)
def test_texts_in_the_place_of_a_blank(before: str, after: str, text: str, found: list[str]) -> None:
    assert list(_in_place(before, after, text)) == found


def test_a_blank_fits_one_term() -> None:
    frame = f"It opens at {BLANK} cm."
    assert is_unique(frame, "412", "It opens at 412 cm. It opens at `412` cm.")
    assert not is_unique(frame, "412", "It opens at 412 cm. It opens at 413 cm.")
    assert not is_unique(frame, "412", "It opens at about 412 cm.")


@pytest.mark.parametrize(
    ("sentence", "term", "frame"),
    [
        ("Barges carry turf near harbour 412", "412", f"Barges carry turf near harbour {BLANK}"),
        ("Barges carry turf of harbour 412", "412", None),
        ("Barges carry turf near harbour 1999", "1999", None),
        ("Barges carry turf near harbour 4", "4", None),
        ("Barges carry turf near harbour ice", "ice", None),
        ("Barges carry turf near harbour Tolk", "Tolk", f"Barges carry turf near harbour {BLANK}"),
        ("Barges carry turf near harbour main", "main", None),
        ("Barges carry turf near harbour a.py:7", "a.py:7", None),
        ("Barges 412 carry turf near harbour 412", "412", None),
        ("Barges carry turf near harbour line 412", "412", None),
        ("Barges carry turf near harbour (412", "412", f"Barges carry turf near harbour ({BLANK}"),
        ("Barges carry turf near harbour x(412", "412", None),
        ("Barges carry turf near harbour 100%", "100", None),
        ("Barges carry turf to gate_keeper near gates of harbour", "gate_keeper", None),
        ("Barges carry turf near harbour to keepLock at lock", "keepLock", None),
        ("Barges TKH (turf keeper harbour) carry sand near moors", "TKH", None),
        ("Barges TKHX (turf keeper harbour) carry sand near moors", "TKHX",
         f"Barges {BLANK} (turf keeper harbour) carry sand near moors"),
    ],
)  # fmt: skip
def test_a_sentence_with_a_blank(sentence: str, term: str, frame: str | None) -> None:
    assert with_blank(sentence, term) == frame


@pytest.mark.parametrize(
    ("sentence", "others", "begins"),
    [
        ("barge canal weir lock gate bell", [], "barge canal weir"),
        ("barge canal weir lock gate", [], None),
        ("barge canal weir lock gate bell", ["barge canal weir x", "barge canal weir"], None),
        ("barge canal weir lock gate bell rope moor", ["barge canal weir x", "barge canal weir"],
         "barge canal weir lock"),
        ("it is so dark gate bell rope moor", [], "it is so dark"),
        ("barge canal weir it is gate bell", [], None),
    ],
)  # fmt: skip
def test_a_sentence_is_asked_for_by_its_first_words(sentence: str, others: list[str], begins: str | None) -> None:
    source = ProbedContext(Shape([user(sentence)]), "")
    found = list(by_beginning(source, "recall", "He wrote a text", "text", sentence, 0, others, 2))
    question = f'He wrote a text that begins "{begins} …". What is the whole text?'
    made = [Probe("recall", question, sentence, (), True, source.messages[0].id, sentence)]
    assert [(one.probe, one.index, one.rank) for one in found] == ([] if begins is None else [(made[0], 0, 2)])


def test_files_and_products() -> None:
    assert [is_file(name) for name in ("src/gates.py", "gates.js", "Node.js", "gates")] == [True, True, False, False]
    item = Item("path", "src/gates.py")
    paths = ("src/gates.py", "gates.py", "a/src/gates.py", "a/gates.py", "ates.py", "xsrc/gates.py")
    assert [_is_file(path, item) for path in paths] == [True, True, True, False, False, False]


def test_parts_of_a_name() -> None:
    assert _name_parts("follow_sluiceGate_of7x_a") == ("follo", "sluic", "gate", "of7x")
    assert _name_parts("HTTPServer") == ("serve",)


@pytest.mark.parametrize(
    ("line", "prose"),
    [
        ("  12\t# Soundings of the basin are taken on Sundays.", "Soundings of the basin are taken on Sundays."),
        ("Soundings of basin taken Sunda", "Soundings of basin taken Sunda"),
        ("Soundings of basin taken Sund", ""),
        ("Soundings of basin on all days", ""),
        ("Soundings of basin taken Sundays" + "x" * 78, "Soundings of basin taken Sundays" + "x" * 78),
        ("Soundings of basin taken Sundays" + "x" * 79, ""),
        ('Soundings of the "basin" are taken on Sundays', ""),
        ("Soundings of the basin = taken on Sundays", ""),
    ],
)
def test_lines_of_prose_in_a_file(line: str, prose: str) -> None:
    assert list(_prose_lines(f"x = 1\n{line}\n")) == ([prose] if prose else [])


@pytest.mark.parametrize(
    ("line", "prose"),
    [("open the lock", True), ("open -x the lock", False), ("open the a/b", False), ("open lock", False)],
)
def test_a_line_with_only_words_is_no_command(line: str, prose: bool) -> None:
    assert _is_sentence(line) is prose


# --- exam


def exam(*arms: Sequence[Message]) -> Exam:
    probes = (Probe("recall", "How high is <it>?", "41 & 2"), Probe("recall", "Who keeps it?", "Anneke", prose=True))
    contexts = tuple(ArmContext(Arm(f"arm {at}", 9), tuple(messages)) for at, messages in enumerate(arms))
    return Exam(session_of(TALK), probes, contexts, 3)


def test_the_requests_of_an_exam_are_exactly_these() -> None:
    one = exam(TALK, ())
    prompt = load_prompt("probe.md").text
    order = one.batches[0]
    asked = [f"{place}: {one.probes[number].question}" for place, number in enumerate(order, 1)]
    last = "\n".join([prompt, "", *asked])
    full, nothing = one.question_batches
    assert (full.arm, full.numbers, nothing.arm, nothing.numbers) == (0, order, 1, order)
    assert full.request.body == MessagesBody("messages_without_tools", one.session.system, (), tuple(TALK), last)
    assert nothing.request.text == last
    assert [batch.request.purpose for batch in (full, nothing)] == ["questions to arm 0", "questions to arm 1"]
    for request in (full.request, nothing.request):
        assert (request.messages, request.prompt, request.chars) == ((), prompt, len(last) + 8 * 120)
        assert (request.temperature, request.timeout_s, request.max_output_tokens) == (0.0, 300.0, 120)


def test_the_requests_to_the_judge_are_exactly_these() -> None:
    one = exam()
    (request,) = one.judge_requests([(1, "An & Co"), (0, "high")])
    prompt = load_prompt("probe-judge.md").text
    assert request.text == (
        f'{prompt}\n\n<items>\n<item number="1"><question>Who keeps it?</question><right>Anneke</right>'
        f'<given>An &amp; Co</given></item>\n<item number="2"><question>How high is &lt;it&gt;?</question>'
        f"<right>41 &amp; 2</right><given>high</given></item>\n</items>"
    )
    assert (request.purpose, request.messages, request.prompt) == ("judgement of answers", (), prompt)
    assert (request.chars, request.temperature, request.max_output_tokens) == (len(request.text), 0.0, 120)
    assert [r.max_output_tokens for r in one.judge_requests([(1, str(n)) for n in range(41)])] == [2_400, 60]


def test_replies_are_read_by_their_numbers() -> None:
    one = exam(TALK, ())
    first, second = (batch.request.key for batch in one.question_batches)
    order = one.batches[0]
    found = one.replies({first: Summary("0: no\n1: one \n**2)** two\n3: no"), second: Summary("2 - late")})
    replies = [dict(zip(order, row, strict=True)) for row in (("one", "** two"), (None, "late"))]
    assert found == tuple(tuple(row[number] for number in range(2)) for row in replies)
    assert one.replies({}) == ((None, None), (None, None))


def test_doubtful_replies_are_prose_that_code_finds_wrong() -> None:
    one = exam(TALK, ())
    replies = [["wrong", " Jan "], ["wrong", "Jan"], [None, None], ["x", "Anneke"], ["x", "not known"], ["x", "Piet"]]
    assert sorted(one.doubtful_replies(replies)) == [(1, "Jan"), (1, "Piet")]
    asked = next(exam(TALK, ()).most_judgements())
    (request,) = asked
    assert [request.text.count(f"{arm} word" * 60) for arm in (0, 1, 2)] == [1, 1, 0]
    assert request.text.count("<question>Who keeps it?") == 2


def test_blanks_letters_and_lines() -> None:
    assert not is_worth_asking("The weir of the canal opens\nand the sluice follows.", agents=False)
    assert _letters("T-K1h") == "tkh"
    assert is_unique(f"at {BLANK} of ____ cm", "412", "at 412 of ____ cm")
    assert not is_unique(f"at {BLANK} of ____ cm", "412", "at 413 of ____ cm")
    assert with_blank("Barges carry turf near harbour x7", "x7") == f"Barges carry turf near harbour {BLANK}"
    assert with_blank("Barges carry turf near harbour to keepLock, keep it", "keepLock") is None
    talk = (user("The northern weir opens at a level of 4120 cm and the sluice follows later."),)
    assert list(_agent_sentences(ProbedContext(Shape(talk), ""))) == []


def test_the_nearest_line_has_most_of_the_words() -> None:
    told = ("barge canal", "barge canal weir lock gate", "barge canal weir", "barge canal weir lock")
    lookup = Lookup([user(line) for line in told])
    probe = Probe("recall", "?", "412", says="barge canal weir lock gate")
    assert lookup._near(probe, words_of(probe.says)) == [1, 3, 2]
