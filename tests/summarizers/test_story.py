"""The causal story: what is told, in which order, and how it fits its room."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.facts.talk import agent, call, ran, result, user
from workbench.compaction.summary_request import Summary, SummaryFailed, SummaryRequest, TextBody
from workbench.session import Message
from workbench.summarizers.extractive import extractive
from workbench.summarizers.labels import EN
from workbench.summarizers.story import story_chapters, story_lines

EDIT = call("Edit", {"file_path": "/p/boat.py", "old_string": "a", "new_string": "b"})
LOOK = call("Bash", {"command": "ls"})
MESSAGES: list[Message] = [
    user("Mend the leaking boat model, it loses water in every test"),
    agent("Let me look at the hull. The problem is that the seam is rounded twice.", LOOK),
    result(LOOK, "hull.py"),
    agent("Now let me run the tests.", LOOK),
    *ran("pytest -q", "1 failed", is_error=True),
    agent("Hmm, the keel test wants whole litres.", EDIT),
    result(EDIT, "The user doesn't want to proceed with this tool use.", is_error=True),
    agent("Understood, the keel stays as it is.", LOOK),
    agent("I decided to round once in `seam()`. The hull is tight now."),
    user("And the sail?"),
    agent("The sail is not started. Shall I begin?"),
]


def told(messages: list[Message], room: int, previous: str = "") -> list[str]:
    return [line.text for line in story_lines(story_chapters(messages, previous, EN), room, EN)]


WHOLE = [
    "On “Mend the leaking boat model, it loses water in every test”: The problem is that the seam is rounded twice. "
    "Hmm, the keel test wants whole litres. (Turned back: Edit `/p/boat.py`.) Understood, the keel stays as it is. "
    "The hull is tight now.",
    "On “And the sail?”: The sail is not started. Shall I begin?",
]


def test_findings_reactions_to_setbacks_and_endings_are_told_in_order_and_decisions_left_to_the_ledger() -> None:
    assert told(MESSAGES, 1_000) == WHOLE


def test_every_line_names_its_messages() -> None:
    lines = story_lines(story_chapters(MESSAGES, "", EN), 1_000, EN)
    ids = [message.id for message in MESSAGES]
    assert [[ids.index(one) for one in line.origins] for line in lines] == [[0, 1, 6, 7, 8, 9], [10, 11]]


NEED = sum(len(line) + 1 for line in WHOLE)


@pytest.mark.parametrize(
    ("room", "lines"),
    [
        (NEED, WHOLE),
        (
            NEED - 1,
            [
                "On “Mend the leaking boat model, it loses water in every test”: "
                "The problem is that the seam is rounded twice. Hmm, the keel test wants whole litres. "
                "(Turned back: Edit `/p/boat.py`.) Understood, the keel stays as it is. …",
                WHOLE[1],
            ],
        ),
        (len(WHOLE[1]) + 19, ["[… 1 more …]", WHOLE[1]]),
        (len(WHOLE[1]) - 3, ["The sail is not started. Shall I begin?"]),
        (49, ["The sail is not started. Shall I begin?"]),
        (48, []),
    ],
)
def test_where_room_is_short_the_weightiest_stays_and_the_gap_is_told(room: int, lines: list[str]) -> None:
    assert told(MESSAGES, room) == lines
    assert sum(len(line) + 1 for line in lines) <= room


def test_more_room_never_tells_fewer_events() -> None:
    counts = [
        sum(line.count(".") for line in told(MESSAGES, room) if "more …" not in line) for room in range(60, 500, 20)
    ]
    assert counts == sorted(counts)


def test_an_earlier_story_comes_first() -> None:
    assert told(MESSAGES[10:], 1_000, "On “a”: The mast was too short.\n[… 2 more …]\n") == [
        "On “a”: The mast was too short.",
        WHOLE[1],
    ]


def test_of_an_earlier_summary_what_tells_of_causes_and_of_what_is_left_stays_longest() -> None:
    earlier = "\n".join(
        [
            "This session is being continued from an earlier one.",
            "1. Primary request:",
            "The boats are painted in four colours.",
            "The root cause was a rounded seam.",
            "```",
            "seam = 1",
            "```",
            "The masts are all of the same wood.",
            "Still need to mend the rudder.",
            "Please continue the conversation from where we left it.",
        ]
    )
    whole = [
        "The boats are painted in four colours.",
        "The root cause was a rounded seam.",
        "The masts are all of the same wood.",
        "Still need to mend the rudder.",
        WHOLE[1],
    ]
    assert told(MESSAGES[10:], 1_000, earlier) == whole
    assert told(MESSAGES[10:], 160, earlier) == [whole[1], whole[3], "[… 2 more …]", whole[4]]


REQUEST = SummaryRequest("narrative", MESSAGES, "", TextBody(str), form="narrative")


def test_the_offline_summarizer_answers_a_narrative_with_the_story_alone() -> None:
    answer = extractive(replace(REQUEST, max_chars=NEED))
    assert isinstance(answer, Summary)
    assert answer.text.split("\n") == WHOLE
    failed = extractive(replace(REQUEST, messages=[user("hello there")]))
    assert isinstance(failed, SummaryFailed)
    assert failed.kind == "empty"
