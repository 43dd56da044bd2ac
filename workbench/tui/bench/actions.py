"""Table of the bench's actions in groups; keys, help, palette with its synonyms, and footer are made from it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from textual.binding import Binding, BindingType

from workbench.tui.bench import edits, finding, following, middle_text, other_screens, planning, policy, watched_rules
from workbench.tui.bench.host import Action, Host
from workbench.tui.bench.store import BenchView
from workbench.tui.fields import changed_fields
from workbench.tui.middle.tabs import TABS
from workbench.tui.sheet import SheetAction

PANES = {"rounds": "Rounds", **{name: name.capitalize() for name in TABS}, "theirs": "Recorded", "policy": "Settings"}
"""Title of every pane. On a narrow screen the panes share one place, and tabs select one."""

_TAB_KEYS = {**{name: str(n) for n, name in enumerate(TABS, 1)}, "theirs": "6"}


def _of_app(action: str) -> Callable[[Host], Awaitable[object]]:
    return lambda host: host.app.run_action(action)


def do(host: Host, id: str) -> None:
    """Do an action, or say why it is off."""
    if why := ACTIONS[id].why_not(host.store.view):
        host.show_toast(why, is_warning=True)
    else:
        host.call_later(ACTIONS[id].run, host)


def rows_of(view: BenchView) -> tuple[SheetAction, ...]:
    """Rows below the settings, with their present values."""
    limit, scale = view.bench.original.limit, view.bench.scale
    changed = len(changed_fields(view.bench.policy, view.preset.policy))
    values = {
        "window": str(limit or "unknown"),
        "exact": f"× {scale.value:.2f}" if scale else "",
        "reset-policy": f"{changed} changed" if changed else "",
    }
    actions = (ACTIONS[id] for id in ROWS)
    return tuple(SheetAction(one.id, one.name, one.help, values.get(one.id, ""), one.why_not(view)) for one in actions)


def _pane(name: str) -> Callable[[Host], None]:
    return lambda host: host.show_pane(name)


TAB_HELP = {
    "message": "The message under the cursor, as the session records it.",
    "request": "The next prompt, the request to the summarizer exactly as sent, and the abridged history.",
    "summary": "The new messages that replace the head: the summary, with the text around it.",
    "result": "The complete context after the compaction, and what changes: removed, new, shortened, kept.",
    "checks": "Checks of the compacted session, and the steps that led to this result.",
    "theirs": "The agent's own compaction at this point, as the file records it.",
}
"""Content of each tab, for help, palette and tooltip."""


def not_recorded(view: BenchView) -> str:
    """Reason why there is no recorded compaction to show, "" if there is one."""
    bench = view.bench
    return (
        "" if bench.session.epochs[bench.epoch - 1].ended_by else "This epoch does not end with a recorded compaction."
    )


def _all(why_not: Callable[[BenchView], str] = lambda view: "") -> Callable[[BenchView], str]:
    """Wrap `why_not` for actions that are off while only the end of the session is read."""
    return lambda view: planning.END_ONLY if view.bench.session.begins_at else why_not(view)


# fmt: off
_LOOK = (
    Action("pane.rounds", "", "Rounds", "To the list of rounds.", _pane("rounds")),
    *(Action(f"pane.{name}", _TAB_KEYS[name], PANES[name], TAB_HELP[name], _pane(name),
             not_recorded if name == "theirs" else lambda view: "") for name in TABS),
    Action("find", "/", "Find", "Search all text of the context; /…/ searches for a regular expression.",
           finding.find, edits.no_message),
    Action("find-next.1", "n", "Next match", "To the next message that matches the search.",
           partial(finding.find_next, direction=1), finding.no_hit),
    Action("find-next.-1", "N", "Previous match", "To the previous message that matches the search.",
           partial(finding.find_next, direction=-1), finding.no_hit),
    Action("jump", ":", "Go to", "Go to a message by its number, or to a round: r12.", finding.jump,
           edits.no_message),
    Action("epoch.-1", "{", "Previous epoch", "One epoch back: the context before an earlier compaction.",
           partial(planning.change_epoch, by=-1), _all(partial(planning.no_epoch, by=-1))),
    Action("epoch.1", "}", "Next epoch", "One epoch forward.", partial(planning.change_epoch, by=1),
           _all(partial(planning.no_epoch, by=1))),
    Action("filter", "f", "Filter",
           "Show only some messages: by role, tool, fate, size, errors, pins.", finding.change_filter,
           edits.no_message),
    Action("sort", "z", "Sort", "The largest rounds and messages first; again: by time.",
           finding.toggle_sort, edits.no_message),
    Action("verbosity", "", "Verbosity",
           "Show the message, its round with one line for each call, or only the answer.",
           middle_text.next_verbosity),
    Action("widen", "m", "Wide", "Show the text on the whole screen; again: in its pane.",
           lambda host: host.widen()),
    Action("copy-text", "y", "Copy", "Copy the text of the tab to the clipboard.", middle_text.copy_text),
    Action("open-text", "", "Editor",
           "Open a copy of the tab's text in $VISUAL or $EDITOR; changes have no effect.", middle_text.open_text,
           middle_text.no_editor),
    Action("write-text", "", "Write", "Write the text of the tab to a file.", middle_text.write_text),
    Action("follow", "", "Follow", "Follow the file while its agent writes it: new messages appear. Again: stop.",
           following.toggle_follow, _all()),
)
_SHAPE = (
    Action("pin", "p", "Pin",
           "Pin the message under the cursor (on a round: its request), so that it is kept verbatim. Again: unpin.",
           edits.toggle_pin, edits.no_message),
    Action("rules", "W", "Rules",
           "Rules of the session and your own: which of them a compaction keeps. Watch them or pin them.",
           other_screens.show_rules),
    Action("keep-by-pin", "i", "Keep with a pin", "Keep a watched rule that would be lost: pin its message.",
           watched_rules.keep_by_pin, watched_rules.no_pin),
    Action("keep-by-number", "b", "Keep with a setting",
           "Keep a watched rule that would be lost: change one number of the settings.",
           watched_rules.keep_by_number, watched_rules.no_number),
    Action("drop", "x", "Drop",
           "Drop the message or round under the cursor, with its calls and results. Again: restore it.", edits.drop,
           edits.no_message),
    Action("shorten", "s", "Shorten", "Cut long texts and results under the cursor in the middle. Again: complete.",
           edits.shorten, edits.no_message),
    Action("move_split.-1", "[", "Split up", "Move the split one unit towards the beginning: keep more.",
           partial(planning.move_split, by=-1), edits.no_split),
    Action("move_split.1", "]", "Split down", "Move the split one unit towards the end: compact more.",
           partial(planning.move_split, by=1), edits.no_split),
    Action("split_here", "c", "Split here",
           "Move the split to the cursor: everything above is compacted. Again: the strategy's own split.",
           edits.split_here, edits.no_split),
    Action("unsplit", "", "Reset split", "Return to the strategy's own split.", edits.unsplit, edits.no_own_split),
    Action("undo", "u", "Undo", "Undo the last change.", edits.undo, edits.nothing_to_undo),
    Action("redo", "U", "Redo", "Redo the last undone change.", edits.redo, edits.nothing_to_redo),
)
_TUNE = (
    Action("pane.policy", "9", "Settings", "The settings: the preset, every number, the window, copy, paste and save.",
           _pane("policy")),
    Action("choose-preset", "P", "Strategy, preset",
           "Choose a strategy and a preset from the list, each with a description.", policy.choose_preset, _all()),
    Action("edit-text", "E", "Prompt",
           "Edit the prompts of the settings next to the request that they make; browse all prompts, edit a copy.",
           partial(policy.edit_text, run_with=other_screens.run_with), _all()),
    Action("window", "", "Window", "Set the model's context window, in tokens.", policy.set_window),
    Action("reset-policy", "", "Reset settings", "Reset every setting to the preset's value.", policy.reset,
           policy.as_preset),
    Action("paste-params", "", "Paste params",
           "Paste a product's parameters: JSON, one flag's string, or all its flags.", policy.paste_params, _all()),
    Action("save-preset", "", "Save preset", "Save the settings as a preset of your own.", policy.save),
    Action("copy-toml", "", "Copy TOML", "Copy the settings to the clipboard as a preset file.", policy.copy_toml),
    Action("copy-params", "", "Copy params", "Copy the settings to the clipboard as the product's parameters.",
           policy.copy_params, policy.no_params),
)
_RUN = (
    Action("run", "r", "Run", "Run the compaction offline, with the extractive summarizer.", planning.run,
           planning.cannot_run),
    Action("run-with", "R", "Run with",
           "Run with a model, by hand, or rehearse a failure: read the draft, edit it, then commit.",
           other_screens.run_with, _all()),
    Action("runs", "", "Runs", "Run history: look at live runs, compare and delete them.",
           partial(other_screens.run_with, history=True), _all()),
    Action("exact", "", "Exact counts", "Let the provider count the context before and after, exactly.",
           other_screens.count_exactly, _all()),
)
_MEASURE = (
    Action("why", "O", "Why", "Why the context is so large: its growth, its largest parts, what would have helped.",
           other_screens.show_why, _all()),
    Action("kept", "X", "Kept",
           "Facts that the compaction keeps and loses, what several in a row leave, and repeated work.",
           other_screens.show_retention, _all(other_screens.nothing_to_lose)),
    Action("questions", "", "Questions",
           "What can still be answered after the compaction: questions with exact answers, made from the session.",
           partial(other_screens.show_retention, tab="questions"), _all(other_screens.nothing_to_lose)),
    Action("compare", "C", "Compare", "Compare presets, numbers, prompts and models on this session.",
           other_screens.compare, _all()),
    Action("replay", "", "Simulate",
           "Simulate the session under each variant: when it compacts, at what cost, and where it loses a rule.",
           partial(other_screens.compare, on_plot=True), _all()),
    Action("play", "", "Play", "The session as a story of one minute: it fills, is compacted, keeps or loses a rule.",
           other_screens.play, planning.cannot_run),
)
_TAKE_AWAY = (
    Action("copy-instruction", "Y", "Copy /compact",
           "Copy the line for the agent's own compaction: rules, pins and the open request, word for word.",
           watched_rules.copy_instruction, _all(watched_rules.no_instruction)),
    Action("export", "e", "Export", "Write the compacted session to a new file.", other_screens.export, _all()),
    Action("rescue", "", "Rescue",
           "Compact a session that its agent cannot compact any more, offline, and put it where the agent resumes it.",
           other_screens.rescue, planning.cannot_run),
    Action("repair", "", "Repair", "Find damage in the session's file, list the repairs, and write a repaired copy.",
           other_screens.repair, other_screens.no_file),
)
_WORKBENCH = (
    Action("help", "space,?,f1", "Help",
           "Every key of this screen, in groups: the next key does it. Below, the screen explained.",
           _of_app("explain")),
    Action("choose_file", "ctrl+o,ctrl+t", "Sessions",
           "Every session on this machine, with what compactions did to it: open another one.",
           other_screens.choose_file),
    Action("reread", "", "Read again", "Read the file again; pins, split and settings stay.", following.reread),
    Action("leave", "escape", "Back", "Cancel the run in progress, or return to the list.", lambda host: host.leave()),
    Action("quit", "q", "Quit", "Quit the workbench.", _of_app("quit")),
)
# fmt: on

GROUPS = {
    "Look": _LOOK, "Shape": _SHAPE, "Tune": _TUNE, "Run": _RUN, "Measure": _MEASURE, "Take away": _TAKE_AWAY,
    "Workbench": _WORKBENCH,
}  # fmt: skip
"""Groups in the order of the help."""

ACTIONS = {action.id: action for group in GROUPS.values() for action in group}
"""Every action by its id."""

_SHARED = {
    "leave": "cancel", "drop": "remove", "copy-text": "copy", "find-next.1": "find.next",
    "find-next.-1": "find.previous", "epoch.1": "epoch.next", "epoch.-1": "epoch.previous", "pane.policy": "tab.9",
    **{f"pane.{name}": f"tab.{key}" for name, key in _TAB_KEYS.items()},
}  # fmt: skip
"""Key ids of actions whose keys other screens have as well."""


def key_id(id: str) -> str:
    """Id by which config.toml remaps an action's key."""
    return _SHARED.get(id, id)


TYPED = frozenset(("find", "jump", "rules", "choose-preset"))
"""Actions that open a line for typing; they are done before the next key is dispatched. Otherwise letters of the line
would act as keys of the list."""

NEEDS_NO_PLAN = frozenset(action.id for action in (*_LOOK, *_WORKBENCH)) - {"filter"}
"""Actions that can be done before the first plan is made; every other one waits for it."""

ROWS = ("window", "exact", "save-preset", "paste-params", "copy-toml", "copy-params", "reset-policy")
"""Actions that are rows of the settings, below every number."""

FOOTER = ("leave", "run", "why", "compare", "pin", "move_split.-1", "move_split.1", "export", "help")
"""Actions whose keys are in the footer, the most important first."""

SPLIT = Binding.Group("Split")
"""Group of the keys that move the split: the footer shows them as one."""

BINDINGS: list[BindingType] = [
    Binding(
        one.key,
        f"act('{one.id}')",
        one.name,
        show=one.id in FOOTER,
        priority=one.id in TYPED,
        tooltip=one.help,
        id=key_id(one.id),
        group=SPLIT if one.id.startswith("move_split") else None,
    )
    for one in sorted(ACTIONS.values(), key=lambda one: FOOTER.index(one.id) if one.id in FOOTER else len(FOOTER))
    if one.key
]
"""Keys of the bench, those of the footer first."""

KEY_GROUPS: dict[str, list[str]] = {
    name: [key_id(one.id) for one in group if one.key] for name, group in GROUPS.items()
}
"""Key ids in the groups of the help."""

SYNONYMS = {
    "pane.rounds": "list turns steps",
    "pane.message": "text words content raw body",
    "pane.request": "prompt sent input abridged history short transcript log",
    "pane.summary": "node made output memory memories",
    "pane.result": "compacted after preview outcome changes before diff delta",
    "pane.checks": "valid validate validation errors problems failed broken integrity reason explain steps trace debug",
    "pane.theirs": "theirs tool original actual agent",
    "find": "grep regex regular look search where ctrl f",
    "jump": "goto jump number line index navigate",
    "epoch.-1": "history before earlier compactions",
    "epoch.1": "later newer compactions",
    "filter": "hide only errors tool role show",
    "sort": "biggest largest order top size heaviest",
    "verbosity": "detail fold collapse expand compact",
    "widen": "zoom maximize fullscreen bigger full-screen",
    "copy-text": "yank clipboard",
    "open-text": "vim nano external",
    "write-text": "save dump",
    "follow": "watch live growing tail auto monitor stream",
    "pin": "rule keep protect important never always remember star hold lock preserve favorite favourite bookmark"
    " sticky forget",
    "keep-by-pin": "hold rule survive survives save protect mend fix",
    "keep-by-number": "hold number rule survive survives tune threshold mend fix",
    "rules": "watch suggested pins keep instructions suggestions important always never recommend guidelines rule"
    " survive instruction track observe remember guard follow sentence",
    "drop": "remove delete hide exclude skip discard clear",
    "shorten": "truncate smaller trim cut crop prune shrink reduce tool output make",
    "move_split.-1": "boundary tail head divide move less cut",
    "move_split.1": "boundary tail head divide move",
    "split_here": "boundary cut divide",
    "unsplit": "boundary default automatic own",
    "undo": "revert back mistake oops restore go cancel change",
    "redo": "again repeat forward",
    "pane.policy": "thresholds trigger limit budget tail policy numbers options config configuration parameters"
    " tune"
    " percent preferences values fields change adjust set knobs dials",
    "choose-preset": "method policy algorithm technique approach switch mode",
    "edit-text": "instruction wording template edit system prompts templates instructions library",
    "window": "context size limit tokens max maximum length",
    "reset-policy": "default defaults original preset",
    "paste-params": "import flags json parameters yaml",
    "save-preset": "keep store own name",
    "copy-toml": "share export config yaml",
    "copy-params": "share export flags json parameters",
    "run": "compact now try summarize summarise summarization compaction execute go apply start squeeze condense"
    " compress",
    "run-with": "model live draft llm gpt claude anthropic openai gemini ollama local api key provider stream write"
    " summarizer rehearse edit cloud ai assistant",
    "runs": "history journal past log earlier kept results cost costs spent spending",
    "exact": "tokens precise tokenizer calibrate accurate",
    "why": "full cause overflow overflowed biggest large tokens history growth usage reason diagnose expensive"
    " exceeded"
    " chart graph timeline statistics stats bloat bloated waste wasted heavy explain",
    "kept": "lost retention rework forgotten forget forgets missing rules survive loss lose loses facts gone"
    " remembers held generations twice again second dropped disappeared vanished",
    "questions": "probes quiz test recall remember remembers knowledge ask exam evaluate evaluation",
    "compare": "which best worst cheapest rank ranking versus benchmark table all strategies cost price money"
    " evaluate sparkline alternatives better ab prompts models experiment test two",
    "replay": "replay simulation if thresholds history cost price money sweep plot chart graph timeline when over time",
    "play": "demo tour tutorial intro learn begin show animation film cast svg presentation gif movie"
    " video record present room slideshow",
    "copy-instruction": "compact compress instruction slash command clipboard agent rules pins",
    "export": "save resume share out download output continue file send publish handoff",
    "rescue": "resume full stuck recover continue save",
    "repair": "fix damaged broken corrupt cut orphan invalid restore heal",
    "help": "menu commands shortcuts actions hotkeys keyboard bindings all how explain manual docs documentation"
    " about ?",
    "choose_file": "load open recent sample browse session file start folder directory files switch another audit"
    " machine statistics stats report everything all history projects batch usage total totals overview",
    "reread": "refresh reload update sync",
    "leave": "stop cancel abort escape",
    "quit": "exit close bye end leave",
}
"""Words by which the palette finds an action. They score more than words of its help: a word that several helps contain
is listed for the action that is usually meant."""
