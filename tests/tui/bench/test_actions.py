"""Every action: its name in config.toml, and the sentence while it cannot be done, at the border of that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tests.paths import SAMPLES
from tests.tui.app import session_of, story
from tests.tui.bench.desk import Desk
from workbench.bench import steps
from workbench.compaction.preset import load_preset, read_preset
from workbench.formats.files import load
from workbench.tokens import Scale
from workbench.tui.bench import exact_counts, finding, other_screens, planning, policy, watched_rules
from workbench.tui.bench.actions import ACTIONS
from workbench.tui.bench.host import take_step

KEYS = """
help space,?,f1 | pin p | move_split.-1 [ | move_split.1 ] | split_here c | unsplit | run r | export e | rescue | repair
undo u | redo U | epoch.-1 { | epoch.1 } | leave escape | pane.rounds | pane.message 1
pane.request 2 | pane.summary 3 | pane.result 4 | pane.checks 5
pane.theirs 6 | pane.policy 9 | compare C | reread | choose_file ctrl+o,ctrl+t | quit q | kept X
questions | keep-by-pin i | keep-by-number b
rules W | find / | find-next.1 n | find-next.-1 N | jump : | filter f | sort z
follow | exact | runs | choose-preset P | edit-text E | window
reset-policy | paste-params | save-preset | copy-toml | copy-params | run-with R | drop x
shorten s | copy-text y | copy-instruction Y | open-text | write-text | verbosity | widen m | why O | replay | play
"""


MOST_KEYS = 41


def test_the_bench_has_no_more_keys_than_can_be_learned() -> None:
    assert sum(bool(action.key) for action in ACTIONS.values()) <= MOST_KEYS


def test_names_by_which_keys_are_remapped_stay() -> None:
    known = sorted(each for line in KEYS.strip().split("\n") for each in line.split(" | "))
    assert sorted(f"{action.id} {action.key}".strip() for action in ACTIONS.values()) == known


@pytest.fixture(autouse=True)
def an_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "true")


def why_not(desk: Desk) -> dict[str, str]:
    return {id: why for id, action in ACTIONS.items() if (why := action.why_not(desk.view))}


ONE_EPOCH = "No compaction is recorded in this session: it has only one epoch."
AT_FIRST = {
    **dict.fromkeys(("keep-by-pin", "keep-by-number"), "No rule is watched: W chooses one."),
    "pane.theirs": "This epoch does not end with a recorded compaction.",
    "repair": "This session was not read from a file: there is nothing to repair.",
    "unsplit": "The split is already the strategy's own.",
    "undo": "There is nothing to undo.",
    "redo": "There is nothing to redo.",
    "epoch.-1": ONE_EPOCH,
    "epoch.1": ONE_EPOCH,
    "find-next.1": "No search yet: / searches.",
    "find-next.-1": "No search yet: / searches.",
    "reset-policy": "No setting differs from the preset augment-example.",
}


def after(*does: str | Callable[[Desk], object]) -> Desk:
    desk = Desk(story())
    for do in does:
        desk.do(do) if isinstance(do, str) else do(desk)
        desk.rest()
    return desk


def without(*ids: str) -> dict[str, str]:
    return {id: why for id, why in AT_FIRST.items() if id not in ids}


search = partial(finding.search, settle=0)
window = partial(steps.with_window, tokens=5)
NO_HIT = "No listed message matches the search."
MOVABLE = "Context reset has no adjustable split. P chooses another strategy, augment-example for one."


@pytest.mark.parametrize(
    ("does", "why"),
    [
        ([], AT_FIRST),
        (["pin"], without("undo")),
        (["pin", "undo"], without("redo")),
        (["move_split.-1"], without("undo", "unsplit")),
        ([lambda desk: desk.spawn("find", search, desk, "token")], without("find-next.1", "find-next.-1")),
        (
            [lambda desk: desk.spawn("find", search, desk, "nowhere")],
            {**AT_FIRST, "find-next.1": NO_HIT, "find-next.-1": NO_HIT},
        ),
        (
            [lambda desk: policy.change_policy(desk, desk.bench.policy.with_(summary_char_limit=9), "x")],
            without("undo", "reset-policy"),
        ),
        (
            [lambda desk: desk.store.put(replace(desk.view, running="running"))],
            {**AT_FIRST, **dict.fromkeys(("run", "rescue", "play"), "A run is under way: escape cancels it.")},
        ),
        (
            [lambda desk: policy.choose(desk, load_preset("trim"))],
            {
                **without("undo"),
                "reset-policy": "No setting differs from the preset trim.",
                "copy-params": "No product has parameters for trim: copy the settings as TOML.",
            },
        ),
        (
            [lambda desk: policy.choose(desk, load_preset("context-reset"))],
            {
                **without("undo"),
                **dict.fromkeys(("move_split.-1", "move_split.1", "split_here", "unsplit"), MOVABLE),
                "reset-policy": "No setting differs from the preset context-reset.",
                "copy-params": "No product has parameters for context-reset: copy the settings as TOML.",
            },
        ),
    ],
    ids=["at first", "done", "undone", "split by hand", "found", "not found", "changed", "running", "trim", "no split"],
)
def test_why_not(does: list[str | Callable[[Desk], object]], why: dict[str, str]) -> None:
    assert why_not(after(*does)) == why


def test_what_is_still_being_planned_can_be_undone() -> None:
    desk = Desk(story())
    planning.plan_step(desk, window)
    assert why_not(desk) == without("undo")


def test_nothing_can_be_done_to_no_message() -> None:
    why = why_not(Desk(session_of([])))
    split = "This epoch has no messages, so there is nothing to split."
    assert why == {
        **AT_FIRST,
        **dict.fromkeys(("pin", "drop", "shorten", "copy-instruction"), "There is no message here."),
        **dict.fromkeys(("find", "jump", "filter", "sort"), "There is no message here."),
        **dict.fromkeys(("move_split.-1", "move_split.1", "split_here", "unsplit"), split),
        **dict.fromkeys(("run", "rescue", "play"), "This epoch holds no messages: there is nothing to compact."),
        **dict.fromkeys(("kept", "questions"), "This epoch holds no messages: there is nothing to lose."),
    }


@pytest.mark.parametrize(
    ("epoch", "why"),
    [
        (1, {"epoch.-1": "This is the first of 3 epochs."}),
        (2, {}),
        (3, {"epoch.1": "This is the last of 3 epochs."}),
    ],
)
def test_epochs_end_at_the_first_and_the_last(epoch: int, why: dict[str, str]) -> None:
    desk = Desk(load(SAMPLES / "codex-two-compactions.jsonl"), epoch=epoch)
    assert {id: said for id, said in why_not(desk).items() if id.startswith("epoch")} == why


def test_without_an_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EDITOR")
    assert why_not(Desk(story())) == {
        **AT_FIRST,
        "open-text": "No editor is known: set $EDITOR, for example EDITOR=nano.",
    }


def test_the_policy_is_copied_as_toml_and_as_params(tmp_path: Path) -> None:
    desk = after(lambda desk: policy.change_policy(desk, desk.bench.policy.with_(summary_char_limit=9), "x"))
    desk.do("copy-toml", "copy-params")
    (tmp_path / "copied.toml").write_text(desk.sent[0])
    assert read_preset(tmp_path / "copied.toml").policy == desk.bench.policy
    assert desk.bench.strategy.parameters.read(desk.sent[1]).policy == desk.bench.policy


def test_the_line_for_the_agents_compaction_is_copied() -> None:
    texts = ["Look at the tests. Never touch the generated files.", "Now move the parser into a package."]
    messages = story(2, texts=texts).messages
    desk = Desk(replace(session_of(messages[:-1]), format="pi"))
    desk.do("pin", "copy-instruction")
    desk.rest()
    (line,) = desk.sent
    assert line == desk.bench.instruction.line
    assert line.startswith("/compact Keep these quotations word for word. Rules: “Never touch the generated files.” ")
    assert desk.toasts == [f"Copied 1 rule, 1 pin, the open request: {desk.bench.instruction.tokens} tokens."]


def test_an_agent_whose_compaction_takes_no_instruction_gets_the_text_and_the_reason() -> None:
    texts = ["Look at the tests. Never touch the generated files."]
    desk = Desk(replace(session_of(story(1, texts=texts).messages), format="codex"))
    desk.do("copy-instruction")
    desk.rest()
    assert desk.sent == [desk.bench.instruction.text]
    assert desk.toasts[-1].endswith(
        " tokens. /compact of Codex takes no instruction: send this text as a message after the compaction."
    )


def test_nothing_is_copied_where_nothing_is_to_be_kept() -> None:
    desk = Desk(session_of(story(1, texts=["Look at the tests."]).messages))
    why = "No rule, pin or open request: nothing to copy."
    assert ACTIONS["copy-instruction"].why_not(desk.view) == ""
    desk.do("copy-instruction")
    desk.rest()
    assert (desk.sent, desk.toasts) == ([], [why])
    assert ACTIONS["copy-instruction"].why_not(desk.view) == why
    desk.do("pin")
    assert ACTIONS["copy-instruction"].why_not(desk.view) == ""


def test_that_nothing_is_to_be_kept_is_known_with_the_assessment() -> None:
    desk = Desk(session_of(story(1, texts=["Look at the tests."]).messages))
    desk.spawn("receipt", watched_rules.assess_shown, desk)
    desk.rest()
    assert ACTIONS["copy-instruction"].why_not(desk.view) == "No rule, pin or open request: nothing to copy."


# --- what other screens give back ---


@pytest.mark.parametrize(("epoch", "message", "found"), [(3, "of no context", None), (3, 2, 1), (2, 0, 1)])
def test_a_message_is_gone_to_in_the_nearest_epoch(epoch: int, message: int | str, found: int | None) -> None:
    desk = Desk(load(SAMPLES / "codex-two-compactions.jsonl"), epoch=epoch)
    first = desk.bench.session.context(1)
    id = first[message].id if isinstance(message, int) else message
    other_screens.go_to(desk, id)
    desk.rest()
    if found is None:
        assert desk.toasts == ["That message is in no context: the bench cannot show it."]
    else:
        assert desk.bench.epoch == other_screens.epoch_of(desk.bench, id)
        assert desk.bench.messages[desk.at[0]].id == id


def test_what_was_counted_exactly_stays_whatever_is_undone() -> None:
    desk = after("pin")
    exact_counts.calibrate(desk, Scale(2.0, source="an exact count"))
    desk.do("undo")
    assert desk.bench.scale is not None
    assert desk.bench.scale.value == 2.0


def test_a_run_of_another_screen_is_committed_with_its_pins() -> None:
    from workbench.tui.screens.run import RunScreenResult

    desk = Desk(story())
    other_screens.run_with(desk)
    (_, ran) = desk.asked.pop()
    ran(RunScreenResult("recorded:x"))
    assert (desk.bench.summarizer, desk.view.history.past, desk.bench.result) == ("recorded:x", (), None)
    run = desk.bench.offline
    ran(RunScreenResult("recorded:x", frozenset({"m0"}), run))
    assert (desk.bench.pins, desk.bench.result, desk.view.tab) == ({"m0"}, run, "summary")
    take_step(desk, window)
    assert desk.bench.result is None
