"""A story tells what the replay says: scenes, figures and fates come from what the strategies really did."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby, pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from tests.analysis.courses import course_of_messages
from tests.commands import document
from tests.paths import SAMPLES
from tests.play.told import LIMIT, demo, sample
from workbench.analysis.replay import replay
from workbench.base.errors import BadInput
from workbench.compaction.preset import load_preset
from workbench.conformance.building import agent, call, result, user
from workbench.play.frames import Frame, Story
from workbench.play.lanes import FollowedRule, RulePlace, replay_lanes
from workbench.play.story import _worth_following, sample_presets, sample_story, story
from workbench.session import Message
from workbench.summarizers.extractive import extractive
from workbench.tokens.window import Window


def scenes(told: Story) -> list[str]:
    return [title for title, _ in groupby(told.frames, key=lambda frame: frame.title)]


def told(messages: list[Message], *names: str, limit: Window | None = None, **more: Any) -> Story:
    course = course_of_messages(messages, 100)
    return story(course, [load_preset(name) for name in names], limit, note="a note", **more)


def talk(rounds: int, first: str = "Do step 0.") -> list[Message]:
    out: list[Message] = []
    for n in range(rounds):
        out += [user(f"u{n}", first if n == 0 else f"Do step {n}."), agent(f"c{n}", "", call(f"t{n}", command="ls"))]
        out += [result(f"r{n}", (f"t{n}", "x " * 200)), agent(f"a{n}", f"Step {n} is done.")]
    return out


def test_the_demonstration_tells_its_scenes_in_about_a_minute() -> None:
    assert scenes(demo()) == [
        "COMPACTION",
        "THE CONTEXT FILLS",
        "THE TRIGGER FIRES",
        "INTO ONE SUMMARY",
        "THE RULE SURVIVES",
        "THE CONTEXT FILLS",
        "THE TRIGGER FIRES",
        "INTO ONE SUMMARY",
        "THE RULE IS GONE",
        "PIN IT",
        "WITH THE PIN",
        "THE PIN KEEPS IT",
        "SIDE BY SIDE",
    ]
    assert 50 <= demo().seconds <= 75
    assert demo().note.startswith("Rehearsed, offline: invented session")


def test_every_figure_is_the_replays() -> None:
    """Of the frames without a pin and outside of compactions: what the lane adds up to is what the call is sent."""
    replay_lanes = [replay(sample(), one, LIMIT, extractive) for one in sample_presets()]
    by_name = {one.name: one for one in replay_lanes}
    shown = [lane for frame in demo().frames for lane in frame.lanes if lane.call and lane.name in by_name]
    between = [lane for lane in shown if all(part.kind != "going" for part in lane.parts)]
    assert len(between) > 100
    assert [lane.tokens for lane in between] == [by_name[lane.name].sent[lane.call - 1] for lane in between]
    at_compactions = {(lane.name, lane.call, lane.tokens) for lane in shown if lane not in between}
    first = replay_lanes[0]
    assert at_compactions == {(first.name, one.call, one.before) for one in first.compacted[:2]}
    assert {frame.fall.after for frame in demo().frames if frame.fall and frame.lanes[0].name == first.name} == {
        frame.lanes[0].parts for frame in demo().frames if frame.title in ("THE RULE SURVIVES", "THE RULE IS GONE")
    }


def test_what_is_worked_out_does_not_look_recorded() -> None:
    """A call stood with 178 181 tokens where the file records 156 699; characters are counted, and no estimate."""
    by_tokens = story(sample(), [load_preset("claude-code")], LIMIT, note="")
    frames = [*demo().frames, *by_tokens.frames]
    said = re.sub(r"(?<=\d)\s(?=\d{3})", "", " ".join(words for frame in frames for words in frame.says))
    sizes = re.findall(r"\S+(?= of \d+ tokens| tokens became| tokens, kept)", said)
    assert sizes
    assert [size for size in sizes if not size.startswith("~")] == []
    assert "~" not in "".join(re.findall(r"\S+ of \d+ characters", said)) != ""


def test_the_rule_is_judged_after_each_compaction() -> None:
    fates = [(lane.compactions, lane.rule.state) for frame in demo().frames[:-41] for lane in frame.lanes if lane.rule]
    assert [one for one, _ in groupby(fates)] == [
        (0, "unsaid"),
        (0, "verbatim"),
        (1, "verbatim"),
        (2, "gone"),
        (0, "unsaid"),  # with the pin, from the beginning
        (0, "verbatim"),
        (1, "verbatim"),
        (2, "verbatim"),
    ]
    pinned = [lane.rule.pinned for frame in demo().frames for lane in frame.lanes if lane.rule]
    assert sum(1 for before, after in pairwise(pinned) if before != after) == 2


def test_a_pin_holds_in_a_replay() -> None:
    rule = "Never sell the goat."
    told_of = talk(40, f"Do step 0. {rule}")
    with_pin: list[bool] = []
    for pins in ((), ("u0",)):
        left: list[bool] = []
        replay(
            course_of_messages(told_of, 100),
            load_preset("trim"),
            Window(3_000, "given"),
            extractive,
            pins=pins,
            on_outcome=lambda _, outcome, left=left: left.append(any(one.id == "u0" for one in outcome.messages)),
        )
        assert left
        with_pin.append(all(left))
    assert with_pin[1]


def test_a_policy_that_never_compacts_says_so() -> None:
    found = told(talk(2), "trim", limit=Window(200_000, "given"))
    assert scenes(found) == ["COMPACTION", "THE CONTEXT FILLS", "IT ALL FITS"]
    assert found.frames[-1].says[0] == "trim: nothing fires."


def test_without_a_rule_none_is_told_of() -> None:
    found = told(talk(40), "trim", limit=Window(5_000, "given"))
    assert {lane.rule for frame in found.frames for lane in frame.lanes} == {None}
    assert scenes(found)[:5] == [
        "COMPACTION",
        "THE CONTEXT FILLS",
        "THE TRIGGER FIRES",
        "THE OLD PART GOES",
        "ROOM AGAIN",
    ]


def test_a_named_sentence_is_followed() -> None:
    found = told(talk(4, "The goat is called Ida. Do step 0."), "trim", watched=["the goat is called  Ida"])
    assert {lane.rule.text for frame in found.frames for lane in frame.lanes if lane.rule} == {"the goat is called Ida"}


def test_what_an_agent_or_a_tool_says_can_be_followed() -> None:
    found = told([*talk(2), agent("z", "The goat ate the map."), *talk(1)], "trim", watched=["The goat ate the map."])
    states = [lane.rule.state for frame in found.frames for lane in frame.lanes if lane.rule]
    assert [state for state, _ in groupby(states)] == ["unsaid", "verbatim"]


def test_a_rule_stands_at_every_call_as_the_messages_sent_say_it() -> None:
    """In other words before it is compacted, gone after, and there again when it is said again."""
    rule = "Never log the refresh token."
    messages = [*talk(1), *talk(40, "The refresh token must never be logged."), user("again", rule), *talk(2)]
    course = course_of_messages([replace(one, id=f"{n}") for n, one in enumerate(messages)], 100)
    one = replay_lanes(course, load_preset("trim"), Window(4_000, "given"), [FollowedRule(rule, RulePlace("4", 4))])
    sent = [(call, sum(step.compacted.call <= call for step in one.steps)) for call in range(len(course.calls) + 1)]
    states = [one.state(0, call, done) for call, done in sent]
    assert [state for state, _ in groupby(states)] == ["unsaid", "paraphrased", "gone", "verbatim"]


def test_what_cannot_be_told_is_refused() -> None:
    with pytest.raises(BadInput, match="there is no call to play"):
        told([user("u0", "Hello?")], "trim")
    with pytest.raises(BadInput, match="no word to watch"):
        told(talk(2), "trim", watched=["…"])


def test_a_sentence_that_nobody_says_is_gone_as_everywhere() -> None:
    found = told(talk(40), "trim", limit=Window(4_000, "given"), watched=["A cow is on the roof."])
    rules = [lane.rule for frame in found.frames for lane in frame.lanes if lane.rule]
    assert {(rule.text, rule.state, rule.stated) for rule in rules} == {("A cow is on the roof.", "gone", False)}
    assert "No message says the sentence that is watched." in [words for frame in found.frames for words in frame.says]
    assert not any("PIN" in frame.title or "RULE" in frame.title for frame in found.frames)


def test_of_several_sentences_the_first_that_is_said_is_followed() -> None:
    found = told(talk(4, "The goat is called Ida. Do step 0."), "trim", watched=["A cow.", "The goat is called Ida."])
    assert {lane.rule.text for frame in found.frames for lane in frame.lanes if lane.rule} == {
        "The goat is called Ida."
    }


@pytest.mark.parametrize("name", ["aider", "message-window", "clear-tool-results"])
def test_however_often_a_policy_compacts_the_story_is_short(name: str) -> None:
    found = story(sample(), [load_preset(name)], LIMIT, note="")
    assert len(found.frames) < 120
    assert found.seconds < 75


def test_the_same_session_gives_the_same_frames() -> None:
    assert sample_story(sample(), LIMIT) == demo()


def test_words_of_the_session_are_harmless_and_without_secrets() -> None:
    found = told(talk(2, "Use sk-ant-REDACTED\x1b[31m now."), "trim")
    quoted = [frame.says[1] for frame in found.frames if frame.title == "THE CONTEXT FILLS"]
    assert quoted[0] == "“Use [masked]␛[31m now.”"


def test_no_sentence_of_a_frame_is_empty() -> None:
    def blank(frame: Frame) -> bool:
        return any(not sentence for sentence in frame.says)

    assert [frame.title for frame in demo().frames if blank(frame)] == []


def test_the_frames_are_data() -> None:
    found = document("demo", SAMPLES / "sharegpt-pass.json", "--preset", "trim")
    assert [frame["title"] for frame in found["frames"]] == ["COMPACTION", *["THE CONTEXT FILLS"] * 2, "IT ALL FITS"]
    assert found["frames"][2]["lanes"][0]["parts"] == [
        {"kind": "overhead", "tokens": 11},
        {"kind": "talk", "tokens": 31},
    ]
    assert (found["calls"], found["window_tokens"]) == (2, None)


@pytest.mark.parametrize(
    ("rules", "followed"),
    [
        ((("gone", "gone"), ("verbatim", "gone")), 1),
        ((("verbatim", "gone"), ("gone", "gone")), 0),
        ((("verbatim", "verbatim"), ("gone", "gone")), 1),
        ((("unsaid", "gone"), ("verbatim", "gone")), 1),
        ((("unsaid", "verbatim"), ("verbatim", "verbatim")), 1),
        ((), None),
    ],
)
def test_c_the_rule_that_is_held_first_and_lost_later_is_followed(
    rules: tuple[tuple[str, ...], ...], followed: int | None
) -> None:
    """One that is lost at once tells less: nothing is seen of how it goes."""
    steps = [SimpleNamespace(compacted=SimpleNamespace(call=call)) for call in (1, 2)]
    lane: Any = SimpleNamespace(watched=rules, steps=steps, state=lambda rule, call, done: rules[rule][done - 1])
    assert _worth_following(lane) == followed
