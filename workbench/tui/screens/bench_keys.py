"""The keys of the bench: each with an id (by which it can be remapped) and a tooltip (for help and palette)."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from workbench.tui.details import TABS
from workbench.tui.screens import (
    bench_facts,
    bench_find,
    bench_follow,
    bench_live,
    bench_policy,
    bench_run,
    bench_shape,
    bench_text,
    bench_why,
)

PANES = {"rounds": "Rounds", **{name: name.capitalize() for name in TABS}, "policy": "Policy"}
"""Every pane by its name; on a narrow screen they share one place and the tabs choose."""

TAB_KEYS = {**{name: str(n) for n, name in enumerate(TABS, 1)}, "changes": "8,d", "theirs": "T"}
PANE_KEYS = {"rounds": "0", **{name: key[0] for name, key in TAB_KEYS.items()}, "policy": "9"}
"""The key that is shown beside a pane's title."""


_ACTIONS = (
    ("?,f1", "help", "Help", "Explain this screen and its keys."),
    ("p", "pin", "Pin", "Keep the message under the cursor verbatim, or let it go; on a round, its request."),
    ("[", "move_split(-1)", "Split up", "Move the split one unit towards the beginning: keep more."),
    ("]", "move_split(1)", "Split down", "Move the split one unit towards the end: compact more."),
    ("c", "split_here", "Here", "Compact up to here: everything above the cursor."),
    ("t", "unsplit", "Own", "Return to the strategy's own split."),
    ("r", "run", "Run", "Run the compaction offline, with the extractive summarizer."),
    ("e", "export", "Export", "Write the compacted session to a new file."),
    ("u", "undo", "Undo", "Undo the last change."),
    ("U,ctrl+r", "redo", "Redo", "Do again what was undone."),
    ("{", "epoch(-1)", "Epoch before", "One epoch back: the context as it stood before an earlier compaction."),
    ("}", "epoch(1)", "Next epoch", "One epoch forward."),
    ("escape", "leave", "Back", "Cancel what is running, or return to the rounds."),
    ("0", "pane('rounds')", "Rounds", "To the list of rounds."),
    *((TAB_KEYS[name], f"pane('{name}')", name.capitalize(), f"Show the {name} tab.") for name in TABS),
    ("9", "pane('policy')", "Policy", "To the policy's fields."),
    ("C", "compare", "Compare", "Compare strategies and presets on this session, side by side."),
    ("f5", "reread", "Read again", "Read the file again, with your pins, split and policy."),
    ("ctrl+o", "choose_file", "Open", "Choose another session to open."),
    ("q", "app.quit", "Quit", "Leave the workbench."),
)

_IN_FOOTER = {"pin", "move_split(-1)", "move_split(1)", "split_here", "run", "export", "undo", "compare", "help"}

BINDINGS: list[BindingType] = (
    [
        Binding(
            key,
            action,
            description,
            show=action in _IN_FOOTER,
            tooltip=tooltip,
            id="bench." + action.removeprefix("app.").replace("(", ".").rstrip(")").replace("'", ""),
        )
        for key, action, description, tooltip in _ACTIONS
    ]
    + bench_facts.BINDINGS
    + bench_find.BINDINGS
    + bench_follow.BINDINGS
    + bench_live.BINDINGS
    + bench_policy.BINDINGS
    + bench_run.BINDINGS
    + bench_shape.BINDINGS
    + bench_text.BINDINGS
    + bench_why.BINDINGS
)

MAY_BE_GREY = ("undo", "redo", "move_split", "unsplit", "pin", "run", "leave")
"""Actions that are not always possible; `BenchScreen.check_action` knows when."""
