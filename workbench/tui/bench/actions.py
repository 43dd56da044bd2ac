"""Everything that can be done on the bench, by groups: the keys, the help, the palette, the footer and the list behind
the space bar come from here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from workbench.tui.bench import finding, following, planning, policy, reading, shaping, visiting, watching
from workbench.tui.bench.host import Action, Host
from workbench.tui.bench.store import View
from workbench.tui.middle.tabs import TABS

PANES = {"rounds": "Rounds", **{name: name.capitalize() for name in TABS}, "policy": "Policy"}
"""Every pane by its name; on a narrow screen they share one place and the tabs choose."""

_TAB_KEYS = {**{name: str(n) for n, name in enumerate(TABS, 1)}, "diff": "8,d", "theirs": "T"}


def _of_app(action: str) -> Callable[[Host], Awaitable[object]]:
    return lambda host: host.app.run_action(action)


def _see_keys(host: Host) -> None:
    """The table itself, as keys; what is chosen there is done, or why it cannot be is said."""
    from workbench.tui.screens.all_keys import AllKeysScreen, Entry

    keys = host.keys()

    def entry(action: Action) -> Entry:
        return Entry(action.id, tuple(keys.get(action.id, ())), action.name, not action.why_not(host.store.view))

    def do(id: str) -> None:
        if why := ACTIONS[id].why_not(host.store.view):
            host.tell(why, bad=True)
        else:
            host.call_later(ACTIONS[id].run, host)

    groups = {name: [entry(one) for one in group if one.id not in ("keys", "leave")] for name, group in GROUPS.items()}
    host.ask(AllKeysScreen(groups), do)


def _pane(name: str) -> Callable[[Host], None]:
    return lambda host: host.show_pane(name)


TAB_HELP = {
    "message": "The message under the cursor, as the session holds it.",
    "abridged": "What was done, a line for each step: what some strategies keep in place of the whole.",
    "request": "What the summarizer is asked, exactly as it would be sent.",
    "summary": "The new messages that stand for the head afterwards: the summary, with whatever is put around it.",
    "result": "The whole context after the compaction.",
    "trace": "Step by step why the compaction came out so.",
    "checks": "What must hold of a compacted session, and whether it does.",
    "diff": "What is gone, new, shortened and kept, message by message.",
    "theirs": "The compaction that the agent itself made here, as the file records it.",
}
"""What each tab shows, for help, palette and pointer."""


def _all(why_not: Callable[[View], str] = lambda view: "") -> Callable[[View], str]:
    """For what needs every epoch, or takes what is on the bench to where it does not grow."""
    return lambda view: planning.END_ALONE if view.bench.session.begins_at else why_not(view)


# fmt: off
_LOOK = (
    Action("pane.rounds", "0", "Rounds", "To the list of rounds.", _pane("rounds")),
    *(Action(f"pane.{name}", _TAB_KEYS[name], name.capitalize(), TAB_HELP[name], _pane(name))
      for name in TABS),
    Action("find", "/", "Find", "Search all text of the context; between slashes, by a regular expression.",
           finding.find, shaping.no_message),
    Action("find-next.1", "n", "Next hit", "To the next message that holds what was searched for.",
           partial(finding.find_next, way=1), finding.no_hit),
    Action("find-next.-1", "N", "Hit before", "To the message before that holds what was searched for.",
           partial(finding.find_next, way=-1), finding.no_hit),
    Action("jump", ":", "Go to", "Go to a message by its number, or to a round: r12.", finding.jump,
           shaping.no_message),
    Action("epoch.-1", "{", "Epoch before", "One epoch back: the context as it stood before an earlier compaction.",
           partial(planning.change_epoch, by=-1), _all(partial(planning.no_epoch, by=-1))),
    Action("epoch.1", "}", "Next epoch", "One epoch forward.", partial(planning.change_epoch, by=1),
           _all(partial(planning.no_epoch, by=1))),
    Action("filter", "f", "Filter",
           "Show only some messages: by role, tool, fate, size, errors, pins. Again: show all.", finding.toggle_filter,
           shaping.no_message),
    Action("change-filter", "F", "Change filter", "Change what the list is filtered by.", finding.change_filter,
           shaping.no_message),
    Action("sort", "z", "Sort", "The largest rounds and messages first, or in order of time again.",
           finding.toggle_sort, shaping.no_message),
    Action("verbosity", "v", "Verbosity", "Show the message, its round with a line a call, or only the round's answer.",
           reading.next_verbosity),
    Action("widen", "m", "Wide", "Give the middle the whole screen, or its own place again.",
           lambda host: host.widen()),
    Action("copy-text", "y", "Copy", "Copy what is in the middle to the clipboard.", reading.copy_text),
    Action("open-text", "o", "Editor",
           "Open a copy of what is in the middle in $VISUAL or $EDITOR; changes are not taken.", reading.open_text,
           reading.no_editor),
    Action("write-text", "w", "Write", "Write what is in the middle to a file.", reading.write_text),
    Action("follow", "L", "Follow", "Follow the file while its agent writes it: new messages appear; again: stop.",
           following.toggle_follow, _all()),
)
_SHAPE = (
    Action("pin", "p", "Pin", "Keep the message under the cursor verbatim, or let it go; on a round, its request.",
           shaping.toggle_pin, shaping.no_message),
    Action("rules", "W,S", "Rules",
           "The session's rules and your own: which of them a compaction keeps. Watch them or pin them.",
           visiting.see_rules),
    Action("keep-by-pin", "i", "Hold by a pin", "Pin the message of a watched sentence that would be lost.",
           watching.keep_by_pin, watching.no_pin),
    Action("keep-by-number", "b", "Hold by a number",
           "Take the number in the policy with which a watched sentence that would be lost is kept.",
           watching.keep_by_number, watching.no_number),
    Action("drop", "x", "Drop",
           "Leave the message or round under the cursor out, with its calls and results; again: back.", shaping.drop,
           shaping.no_message),
    Action("shorten", "s", "Shorten", "Cut the long texts and results under the cursor in the middle; again: whole.",
           shaping.shorten, shaping.no_message),
    Action("move_split.-1", "[", "Split up", "Move the split one unit towards the beginning: keep more.",
           partial(planning.move_split, by=-1), shaping.unmovable),
    Action("move_split.1", "]", "Split down", "Move the split one unit towards the end: compact more.",
           partial(planning.move_split, by=1), shaping.unmovable),
    Action("split_here", "c", "Split here", "Compact up to here: everything above the cursor.", shaping.split_here,
           shaping.unmovable),
    Action("unsplit", "t", "Own split", "Return to the strategy's own split.", shaping.unsplit, shaping.not_by_hand),
    Action("undo", "u", "Undo", "Undo the last change.", shaping.undo, shaping.nothing_to_undo),
    Action("redo", "U,ctrl+r", "Redo", "Do again what was undone.", shaping.redo, shaping.nothing_to_redo),
)
_TUNE = (
    Action("pane.policy", "9", "Policy", "To the policy: its preset, below it the fields.", _pane("policy")),
    Action("choose-preset", "P", "Strategy, preset",
           "Choose a strategy and a preset from the list, each with what it is about.", policy.choose_preset, _all()),
    Action("edit-text", "E", "Prompt", "Edit the policy's prompts and templates beside what would be sent.",
           partial(policy.edit_text, run_with=visiting.run_with), _all(policy.no_text)),
    Action("window", "ctrl+w", "Window", "Set the model's window, in tokens.", policy.set_window),
    Action("reset-policy", "D", "As preset", "Give every field the preset's value again.", policy.reset,
           policy.as_preset),
    Action("paste-params", "V", "Paste params",
           "Paste a product's parameters: JSON, the flag's string, or all its flags.", policy.paste_params, _all()),
    Action("save-preset", "ctrl+s", "Save preset", "Save the policy as a preset of your own.", policy.save),
    Action("copy-toml", "Y", "Copy TOML", "Copy the policy to the clipboard as a preset file.", policy.copy_toml),
    Action("copy-params", "ctrl+y", "Copy params", "Copy the policy to the clipboard as its product's parameters.",
           policy.copy_params, policy.no_params),
)
_RUN = (
    Action("run", "r", "Run", "Run the compaction offline, with the extractive summarizer.", planning.run,
           planning.cannot_run),
    Action("run-with", "R", "Run with", "Run with a model, by hand, or rehearse a failure: read, edit, then commit.",
           visiting.run_with, _all()),
    Action("ab", "B", "A/B", "Try two prompts or two models on the same head, side by side.", visiting.try_two,
           _all()),
    Action("runs", "H", "Runs", "The kept runs of live compactions: look at them, compare and delete them.",
           visiting.see_runs, _all()),
    Action("prompts", "M", "Prompts", "Browse the prompts, see them as they are sent for this session, edit a copy.",
           visiting.see_prompts, _all()),
    Action("exact", "equals_sign", "Exact counts", "Have the provider count the context before and after, exactly.",
           visiting.count_exactly, _all()),
)
_MEASURE = (
    Action("why", "O", "Why", "Why the context overflowed: its growth, who filled it, what would have helped.",
           visiting.see_why, _all()),
    Action("kept", "X", "Kept",
           "Facts that the compaction keeps and loses, what several in a row leave, and rework after recorded ones.",
           visiting.see_kept, _all(visiting.nothing_to_lose)),
    Action("questions", "Q", "Questions",
           "What can still be answered after the compaction: questions with exact answers, made from the session.",
           partial(visiting.see_kept, tab="questions"), _all(visiting.nothing_to_lose)),
    Action("compare", "C", "Compare", "Compare strategies and presets on this session, side by side.",
           visiting.compare, _all()),
    Action("replay", "A", "Replay", "Play the session again under many policies: when each compacts, at what cost.",
           visiting.replay, _all()),
    Action("play", "a", "Play", "The session as a story of a minute: it fills, is compacted, keeps or loses a rule.",
           visiting.play, planning.cannot_run),
    Action("audit", "ctrl+t", "All sessions", "What compactions did to every session on this machine, in one table.",
           _of_app("audit")),
)
_TAKE_AWAY = (
    Action("export", "e", "Export", "Write the compacted session to a new file.", visiting.export, _all()),
    Action("rescue", "!", "Rescue",
           "Compact what its tool can compact no longer, without a model, and put it where the tool goes on with it.",
           visiting.rescue, planning.cannot_run),
    Action("repair", "Z", "Repair", "Find damage in the session's file, list each fix, and write a repaired copy.",
           visiting.repair, visiting.no_file),
)
_WORKBENCH = (
    Action("keys", "space", "All keys", "All that can be done here, in groups; the next key does it.", _see_keys),
    Action("help", "?,f1", "Help", "Explain this screen and its keys.", _of_app("explain")),
    Action("choose_file", "ctrl+o", "Open", "Choose another session to open.", visiting.choose_file),
    Action("reread", "f5", "Read again", "Read the file again, with your pins, split and policy.", following.reread),
    Action("leave", "escape", "Back", "Cancel what is running, or return to the rounds.", lambda host: host.leave()),
    Action("quit", "q", "Quit", "Leave the workbench.", _of_app("quit")),
)
# fmt: on

GROUPS = {
    "Look": _LOOK, "Shape": _SHAPE, "Tune": _TUNE, "Run": _RUN, "Measure": _MEASURE, "Take away": _TAKE_AWAY,
    "Workbench": _WORKBENCH,
}  # fmt: skip
"""In the order of the help."""

ACTIONS = {action.id: action for group in GROUPS.values() for action in group}
"""Every action by its id."""

TYPED = frozenset(("find", "jump", "rules", "choose-preset", "window"))
"""Actions that lead to a line for typing, done before the next key is given to whatever has the focus. As keys of the
list its letters would pin messages."""

FOOTER = ("leave", "run", "why", "compare", "pin", "move_split.-1", "move_split.1", "export", "keys", "help")
"""Whose keys stand in the footer, the most wanted first."""
