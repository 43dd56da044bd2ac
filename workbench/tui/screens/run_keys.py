"""The keys of the run screen: each with an id (by which it can be remapped) and a tooltip (for help and palette)."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from workbench.tui.keys import HELP_KEY

PANES = {"left": "1 Steps", "centre": "2 Text", "right": "3 Lost"}
"""The panes, and how they are called where they share one place."""

_KEYS = (
    ("enter", "send", "Send", True, "Begin: answer the requests. Only then is anything sent."),
    ("ctrl+s,ctrl+enter", "go", "Commit", True, "Commit the drafts: the bench shows the result."),
    ("m", "summarizer", "Summarizer", True, "Choose who writes the summary; remembered with the session."),
    (
        "H",
        "history",
        "Run history",
        True,
        "List former runs: look at one, compare, play again. Again: close.",
    ),
    ("escape,q", "leave", "Cancel, back", True, "Cancel the run; otherwise go back to the bench, nothing changed."),
    ("f8", "accept", "Accept", True, "Accept the section at the cursor (a failed call's text: as it is), to the next."),
    ("ctrl+g", "again", "Section again", True, "Have this section rewritten, with an instruction; one more call."),
    ("f9", "as_written", "As written", False, "Restore this section as it was written."),
    ("ctrl+r", "retry", "Run again", True, "Ask again what failed; accepted and edited drafts stay."),
    ("p,f2", "pin_fact", "Pin", True, "Pin the message of the marked fact: it is kept verbatim."),
    ("i,f3", "insert_fact", "Insert", True, "Insert the marked fact into the section where it belongs."),
    ("f4", "outside", "$EDITOR", False, "Edit the draft in $VISUAL or $EDITOR."),
    ("f6", "next_pane", "Next pane", False, "To the next pane: steps, text, lost facts."),
    ("1", "pane('left')", "Steps", False, "To the steps and sections."),
    ("2", "pane('centre')", "Text", False, "To the request, the text as it comes, or the draft."),
    ("3", "pane('right')", "Lost", False, "To the lost and the unsupported facts."),
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
A compaction that you run and edit. First you see exactly what will be sent, with its size and its price: nothing \
leaves this machine before you press enter. While it runs, the list of steps shows each rung of the strategy and each \
call with its state and time, and the answer appears as it is written; esc cancels at once and changes nothing.

Then the summary is a draft for you to edit: accept it section by section, or have a section rewritten with an \
instruction. Underlined claims are not found in the replaced messages (the head). The list next to the draft has the \
facts of the head that the draft lost: p pins the message of one, i inserts the fact into the draft. Checks, sizes, \
both lists and the states of watched rules (W on the bench) follow while you type. Ctrl+S commits the draft: the bench \
shows the result, and undo takes it back.

A failed call names its kind: timeout, overflow, empty, truncated, refused, inflated, error. The last of the steps is \
the strategy's fallback. Runs of models are saved, failed and cancelled ones too: H lists them (`cwb list runs`)."""
