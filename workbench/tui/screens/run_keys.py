"""The keys of the run screen: each with an id (by which it can be remapped) and a tooltip (for help and palette)."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from workbench.tui.keys import HELP_KEY

PANES = {"left": "1 Steps", "centre": "2 Text", "right": "3 Lost"}
"""The panes, and how they are called where they share one place."""

_KEYS = (
    ("enter", "send", "Send", True, "Begin: answer the requests. Only then is anything sent."),
    ("ctrl+s,ctrl+enter", "go", "Commit", True, "Take the drafts as they stand: the bench shows the result."),
    ("m", "summarizer", "Summarizer", True, "Choose who writes the summary; remembered with the session."),
    (
        "H",
        "history",
        "Run history",
        True,
        "List former runs: look at one, compare, play again. Again: close.",
    ),
    ("escape,q", "leave", "Cancel, back", True, "Cancel what is running; else go back to the bench, nothing changed."),
    ("f8", "accept", "Accept", True, "Accept the section at the cursor (a failed call's text: as it is), to the next."),
    ("ctrl+g", "again", "Section again", True, "Have this section written anew, with an instruction; one more call."),
    ("f9", "as_written", "As written", False, "Give this section the words back that it came with."),
    ("ctrl+r", "retry", "Run again", True, "Ask again what failed; accepted and edited drafts stay."),
    ("p,f2", "pin_fact", "Pin", True, "Keep the message word for word in which the marked fact stands."),
    ("i,f3", "insert_fact", "Insert", True, "Put the marked fact into the draft, in the section where it belongs."),
    ("f4", "outside", "$EDITOR", False, "Edit the draft in $VISUAL or $EDITOR."),
    ("f6", "next_pane", "Next pane", False, "To the next pane: steps, text, what was lost."),
    ("1", "pane('left')", "Steps", False, "To the steps and sections."),
    ("2", "pane('centre')", "Text", False, "To the request, the text as it comes, or the draft."),
    ("3", "pane('right')", "Lost", False, "To what the draft lost and what is not in the head."),
)

BINDINGS: list[BindingType] = [
    *(
        Binding(
            key,
            action,
            name,
            show=shown,
            tooltip=tooltip,
            # An editor would select a line with F6.
            priority=key == "f6",
            id="run." + action.replace("_", "-").replace("('", ".").removesuffix("')"),
        )
        for key, action, name, shown, tooltip in _KEYS
    ),
    HELP_KEY,
]

HELP = """\
A compaction run by hand. First you see what will be sent, exactly, with its size and its price: nothing leaves this \
machine before you press enter. While it runs, the steps show each rung and call with its state and time, and the text \
comes as it is written; esc cancels at once and changes nothing.

Then the summary is a draft, and yours: edit it, accept it section by section, have a section written anew with an \
instruction. What is underlined is not found in the head that the summary stands for; the list beside it says what the \
head has and the draft lost: p keeps the message itself, i puts the fact into the draft. Checks, sizes, both lists \
and how watched sentences (W on the bench) stand follow while you type. Ctrl+S commits: the bench shows the result, \
and undo takes it back.

A call that failed says how: timeout, overflow, empty, truncated, refused, inflated, error. What the strategy falls \
back to then is the last of the steps. Runs of models are kept, failed and cancelled ones too: H lists them (`cwb list \
runs`)."""
