"""The keys of the bench: each with an id (by which it can be remapped) and a tooltip (for help and palette)."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from workbench.tui.details import TABS

PANES = {"rounds": "Rounds", **{name: name.capitalize() for name in TABS}, "policy": "Policy"}
"""Every pane by its name; on a narrow screen they share one place and the tabs choose."""

_SPLIT = Binding.Group("Split", compact=True)

_ACTIONS = (
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
    *((str(n), f"pane('{name}')", name.capitalize(), f"Show the {name} tab.") for n, name in enumerate(TABS, 1)),
    ("9", "pane('policy')", "Policy", "To the policy's fields."),
    ("?", "help", "Help", "Explain this screen and its keys."),
    ("q", "app.quit", "Quit", "Leave the workbench."),
)

_IN_FOOTER = {
    "pin",
    "move_split(-1)",
    "move_split(1)",
    "split_here",
    "unsplit",
    "run",
    "export",
    "undo",
    "leave",
    "help",
}

BINDINGS: list[BindingType] = [
    Binding(
        key,
        action,
        description,
        show=action in _IN_FOOTER or key in "?q",
        tooltip=tooltip,
        id="bench." + action.removeprefix("app.").replace("(", ".").rstrip(")").replace("'", ""),
        group=_SPLIT if action.startswith("move_split") else None,
    )
    for key, action, description, tooltip in _ACTIONS
]

MAY_BE_GREY = ("undo", "redo", "move_split", "unsplit", "pin", "run", "leave")
"""Actions that are not always possible; `BenchScreen.check_action` knows when."""

_NAMES = {"pagedown": "pgdn", "pageup": "pgup", "escape": "esc", "down": "↓", "up": "↑", "left": "←", "right": "→"}


def explained(*bindings: BindingType) -> list[tuple[str, str]]:
    """Keys as they are shown, and what each does."""
    return [
        (" ".join(_NAMES.get(key, key) for key in binding.key.split(",")), binding.tooltip)
        for binding in bindings
        if isinstance(binding, Binding) and binding.tooltip
    ]
